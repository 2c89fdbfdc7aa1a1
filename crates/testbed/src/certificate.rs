//! Certificates made at the start: good ones, and each kind of bad one.
//!
//! Certificates in files expire, and a test suite that dies on a date is a known disease. An authority is therefore made
//! for each server, in memory; a client trusts its PEM and nothing else. Client certificates come from the same authority.

use std::fmt;
use std::io;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose, date_time_ymd};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig, crypto};

/// How a server speaks TLS.
#[derive(Clone, Debug)]
pub struct Tls {
    authority: Arc<Authority>,
    certificate: ServerCertificate,
    client: ClientCertificate,
}

/// The certificate a server shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ServerCertificate {
    /// Valid for `localhost`, 127.0.0.1 and ::1, signed by the authority.
    #[default]
    Valid,
    /// The same, but it ended in 2001.
    Expired,
    /// The same, but it begins in 2999.
    NotYetValid,
    /// Valid, but for `wrong.example` only.
    WrongName,
    /// Signed by itself, not by the authority.
    SelfSigned,
}

/// Whether clients must show a certificate of the authority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClientCertificate {
    /// They are not asked.
    #[default]
    NotAsked,
    /// Without one the handshake fails.
    Required,
}

/// A certificate and its key, in PEM.
#[derive(Clone)]
pub struct Identity {
    /// The certificate.
    pub certificate_pem: String,
    /// Its private key, PKCS#8.
    pub key_pem: String,
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("certificate_pem", &self.certificate_pem).finish_non_exhaustive()
    }
}

impl Tls {
    /// TLS with an authority of its own, a valid certificate, and no question for client certificates.
    ///
    /// # Errors
    /// When the system gives no randomness for keys.
    pub fn new() -> io::Result<Tls> {
        Ok(Tls {
            authority: Arc::new(Authority::new().map_err(io::Error::other)?),
            certificate: ServerCertificate::Valid,
            client: ClientCertificate::NotAsked,
        })
    }

    /// Shows this certificate.
    pub fn certificate(mut self, certificate: ServerCertificate) -> Tls {
        self.certificate = certificate;
        self
    }

    /// Asks clients for a certificate, or does not.
    pub fn client(mut self, client: ClientCertificate) -> Tls {
        self.client = client;
        self
    }

    /// The certificate of the authority, which a client must trust.
    pub fn ca_pem(&self) -> &str {
        &self.authority.pem
    }

    /// A new client certificate of the authority.
    ///
    /// # Errors
    /// When the system gives no randomness for keys.
    pub fn client_identity(&self) -> io::Result<Identity> {
        let mut params = named("loadline-testbed client", Vec::new()).map_err(io::Error::other)?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        let (certificate, key) = self.authority.sign(&params).map_err(io::Error::other)?;
        Ok(Identity { certificate_pem: certificate.pem(), key_pem: key.serialize_pem() })
    }

    pub(crate) fn acceptor(&self) -> io::Result<TlsAcceptor> {
        let (certificate, key) = self.authority.for_server(self.certificate).map_err(io::Error::other)?;
        let provider = Arc::new(crypto::ring::default_provider());
        let builder =
            ServerConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions().map_err(io::Error::other)?;
        let builder = match self.client {
            ClientCertificate::NotAsked => builder.with_no_client_auth(),
            ClientCertificate::Required => {
                let mut roots = RootCertStore::empty();
                roots.add(self.authority.der.clone()).map_err(io::Error::other)?;
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().map_err(io::Error::other)?;
                builder.with_client_cert_verifier(verifier)
            }
        };
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let mut config = builder.with_single_cert(vec![certificate.der().clone()], key).map_err(io::Error::other)?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(TlsAcceptor::from(Arc::new(config)))
    }
}

struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
    der: CertificateDer<'static>,
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authority").field("pem", &self.pem).finish_non_exhaustive()
    }
}

impl Authority {
    fn new() -> Result<Authority, rcgen::Error> {
        let mut params = named("loadline-testbed authority", Vec::new())?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate()?;
        let certificate = params.self_signed(&key)?;
        Ok(Authority { pem: certificate.pem(), der: certificate.der().clone(), issuer: Issuer::new(params, key) })
    }

    fn sign(&self, params: &CertificateParams) -> Result<(rcgen::Certificate, KeyPair), rcgen::Error> {
        let key = KeyPair::generate()?;
        Ok((params.signed_by(&key, &self.issuer)?, key))
    }

    fn for_server(&self, kind: ServerCertificate) -> Result<(rcgen::Certificate, KeyPair), rcgen::Error> {
        let names = match kind {
            ServerCertificate::WrongName => vec!["wrong.example".to_owned()],
            _ => ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec(),
        };
        let mut params = named("loadline-testbed server", names)?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        match kind {
            ServerCertificate::Expired => params.not_after = date_time_ymd(2001, 1, 1),
            ServerCertificate::NotYetValid => params.not_before = date_time_ymd(2999, 1, 1),
            ServerCertificate::SelfSigned => {
                let key = KeyPair::generate()?;
                return Ok((params.self_signed(&key)?, key));
            }
            ServerCertificate::Valid | ServerCertificate::WrongName => {}
        }
        self.sign(&params)
    }
}

/// Valid from 2000 to 3000: the clock of a test machine may be anything.
fn named(name: &str, subject_names: Vec<String>) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(subject_names)?;
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = date_time_ymd(2000, 1, 1);
    params.not_after = date_time_ymd(3000, 1, 1);
    Ok(params)
}
