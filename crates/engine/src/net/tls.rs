//! TLS as the plan asks for it: whom to trust, who we are, and what a failed handshake means.
//!
//! Every handshake is a full one unless the plan says otherwise. With session resumption the first connections would pay for the rest,
//! and a server would look faster the longer it is measured; so it is off by itself, unlike in rustls. ALPN offers the version that the
//! plan names, or both and leaves the choice to the server.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use measure::Failure;
use plan::setting::{CACERT, CERT, INSECURE, KEY, SettingName};
use plan::{Contents, HttpVersion, Resumption, Tls, TlsVersion, Verification};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{self, ClientConfig, ResolvesClientCert, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::sign::CertifiedKey;
use rustls::version::{TLS12, TLS13};
use rustls::{AlertDescription, CertificateError, DigitallySignedStruct, InconsistentKeys, PeerMisbehaved, RootCertStore, SignatureScheme};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::sessions::Sessions;
use super::{DialFailed, Transport, words};
use crate::RunError;

/// HTTP/2 in ALPN (RFC 9113 §3.2).
pub(super) const H2: &[u8] = b"h2";

/// HTTP/3 in ALPN (RFC 9114 §3.1).
const H3: &[u8] = b"h3";

/// What handshakes are made with, once for all connections of a worker.
#[derive(Debug, Clone)]
pub(super) struct Handshakes {
    config: Arc<ClientConfig>,
    resumption: Resumption,
}

/// Whether certificates can be needed for the target itself, or only after a redirect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CertificateNeed {
    AtOnce,
    AfterRedirect,
}

impl Handshakes {
    /// From the plan's files, as they were read.
    ///
    /// # Errors
    /// All that is wrong with them.
    pub(super) fn new(tls: &Tls, http: HttpVersion, contents: &Contents, needed: CertificateNeed) -> Result<Self, Vec<RunError>> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let algorithms = provider.signature_verification_algorithms;
        let versions = match tls.version {
            Some(TlsVersion::V12) => &[&TLS12][..],
            Some(TlsVersion::V13) => &[&TLS13],
            None => &[&TLS13, &TLS12],
        };
        let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(versions)
            .expect("the ring provider has cipher suites for TLS 1.2 and 1.3");

        let mut errors = Vec::new();
        let builder = match tls.verification {
            Verification::Off => builder.dangerous().with_custom_certificate_verifier(Arc::new(Verifier { algorithms, trusted: None })),
            Verification::On => match trusted(tls.cacert.as_deref(), contents, needed, &provider) {
                Ok(Some(trusted)) => {
                    builder.dangerous().with_custom_certificate_verifier(Arc::new(Verifier { algorithms, trusted: Some(trusted) }))
                }
                Ok(None) => builder.with_root_certificates(RootCertStore::empty()),
                Err(error) => {
                    errors.push(error);
                    builder.with_root_certificates(RootCertStore::empty())
                }
            },
        };
        let mut config = match &tls.identity {
            None => builder.with_no_client_auth(),
            Some(identity) => match (certificates(CERT, &identity.cert, contents), private_key(&identity.key, contents)) {
                (Ok(chain), Ok(key)) => match builder.with_client_auth_cert(chain, key) {
                    Ok(config) => config,
                    Err(error) => {
                        errors.push(mismatch(identity, &error));
                        return Err(errors);
                    }
                },
                (chain, key) => {
                    errors.extend(chain.err());
                    errors.extend(key.err());
                    return Err(errors);
                }
            },
        };
        if !errors.is_empty() {
            return Err(errors);
        }
        config.resumption = match tls.resumption {
            Resumption::Off => client::Resumption::disabled(),
            Resumption::On => client::Resumption::store(Arc::new(Sessions::default())),
        };
        config.alpn_protocols = match http {
            HttpVersion::V1 => vec![b"http/1.1".to_vec()],
            HttpVersion::V2 => vec![H2.to_vec()],
            HttpVersion::V3 => vec![H3.to_vec()],
            HttpVersion::Auto => vec![H2.to_vec(), b"http/1.1".to_vec()],
        };
        Ok(Self { config: Arc::new(config), resumption: tls.resumption })
    }

    /// The same with something else.
    fn with(&self, change: impl FnOnce(&mut ClientConfig)) -> Self {
        let mut config = ClientConfig::clone(&self.config);
        change(&mut config);
        Self { config: Arc::new(config), resumption: self.resumption }
    }

    /// The same for connections that become WebSocket, which speak HTTP/1.1 before.
    pub(super) fn for_websocket(&self) -> Self {
        self.with(|config| config.alpn_protocols = vec![b"http/1.1".to_vec()])
    }

    /// The same for calls of gRPC, which speak HTTP/2 alone.
    pub(super) fn for_grpc(&self) -> Self {
        self.with(|config| config.alpn_protocols = vec![H2.to_vec()])
    }

    /// The same for connections of QUIC.
    ///
    /// # Errors
    /// If they are none that QUIC can be spoken with.
    #[cfg(feature = "http3")]
    pub(super) fn for_quic(&self) -> Result<quinn::ClientConfig, quinn::crypto::rustls::NoInitialCipherSuite> {
        let config = quinn::crypto::rustls::QuicClientConfig::try_from(Arc::clone(&self.config))?;
        Ok(quinn::ClientConfig::new(Arc::new(config)))
    }

    /// Makes the handshake, expecting a certificate for `name`. Has no time limit of its own.
    pub(super) async fn shake(&self, name: &ServerName<'static>, transport: Transport) -> Result<TlsStream<Transport>, DialFailed> {
        let handshake = TlsConnector::from(Arc::clone(&self.config)).connect(name.clone(), transport);
        handshake.into_fallible().await.map_err(|(error, transport)| failed(&error, name, transport.heard()))
    }

    /// The same with sessions of its own, if any are resumed.
    pub(super) fn of_another_worker(&self) -> Self {
        match self.resumption {
            Resumption::Off => self.clone(),
            Resumption::On => self.with(|config| config.resumption = client::Resumption::store(Arc::new(Sessions::default()))),
        }
    }

    /// The same without naming the host (SNI).
    pub(super) fn unnamed(&self) -> Self {
        self.with(|config| config.enable_sni = false)
    }

    /// The same, and whether the server asks for a client certificate that is not there.
    pub(super) fn noticing_requests(&self) -> (Self, Arc<CertificateRequest>) {
        let asked =
            Arc::new(CertificateRequest { ours: Arc::clone(&self.config.client_auth_cert_resolver), unmet: AtomicBool::new(false) });
        let noticing = self.with(|config| config.client_auth_cert_resolver = Arc::clone(&asked) as Arc<dyn ResolvesClientCert>);
        (noticing, asked)
    }
}

/// The name a certificate is expected for.
pub(super) fn server_name(name: &str) -> Option<ServerName<'static>> {
    ServerName::try_from(name.to_owned()).ok()
}

/// Whom the plan trusts; `None` for nobody.
fn trusted(
    cacert: Option<&str>,
    contents: &Contents,
    needed: CertificateNeed,
    provider: &Arc<CryptoProvider>,
) -> Result<Option<Trusted>, RunError> {
    let mut roots = RootCertStore::empty();
    let mut given = Vec::new();
    if let Some(file) = cacert {
        given = certificates(CACERT, file, contents)?;
        for certificate in &given {
            roots.add(certificate.clone()).map_err(|error| {
                RunError::input(
                    format!("{CACERT:#} {file} holds a certificate that cannot be trusted: {error}"),
                    "give the issuer's own certificate",
                )
            })?;
        }
    } else {
        let found = rustls_native_certs::load_native_certs();
        let (added, _) = roots.add_parsable_certificates(found.certs);
        if added == 0 && needed == CertificateNeed::AtOnce {
            let why = found.errors.first().map(|error| format!(" ({error})")).unwrap_or_default();
            return Err(RunError::input(
                format!("this machine has no trusted certificates{why}"),
                format!("install ca-certificates, give the server's issuer with {CACERT:#} FILE, or measure all the same with {INSECURE}"),
            ));
        }
    }
    let chains = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(provider)).build();
    Ok(chains.ok().map(|chains| Trusted { chains, given }))
}

/// Whom the plan trusts.
#[derive(Debug)]
struct Trusted {
    chains: Arc<WebPkiServerVerifier>,
    given: Vec<CertificateDer<'static>>,
}

/// Verifies chains up to a trusted issuer. A certificate that is itself given with `--cacert` is trusted too: that is
/// how most self-signed ones are made and used, and the chain rules alone would refuse an authority as a server.
///
/// Where nobody is to be trusted every certificate is accepted, but that the server holds its key is still checked: without that a
/// handshake would do less work than a real client's.
#[derive(Debug)]
struct Verifier {
    algorithms: WebPkiSupportedAlgorithms,
    trusted: Option<Trusted>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(Trusted { chains, given }) = &self.trusted else { return Ok(ServerCertVerified::assertion()) };
        match chains.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // Its time has been found valid by then; its name has not been looked at.
            Err(error) if is_authority(&error) && given.iter().any(|given| given == end_entity) => {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// webpki's name for an authority's own certificate where a server's is expected.
pub(super) const AUTHORITY: &str = "CaUsedAsEndEntity";

/// What is said of it.
pub(super) const OF_AN_AUTHORITY: &str = "invalid peer certificate: self-signed, or an issuer's own";

/// Whether a certificate was refused only because it is an authority's own. rustls hands webpki's error on by name.
fn is_authority(error: &rustls::Error) -> bool {
    matches!(error, rustls::Error::InvalidCertificate(CertificateError::Other(other)) if other.0.to_string() == AUTHORITY)
}

fn held<'a>(setting: SettingName, file: &str, contents: &'a Contents) -> Result<&'a [u8], RunError> {
    let unread =
        || RunError::input(format!("{setting:#} {file} was not read when the plan was made"), format!("give a PEM file with {setting}"));
    contents.get(file).map(|bytes| &bytes[..]).ok_or_else(unread)
}

fn certificates(setting: SettingName, file: &str, contents: &Contents) -> Result<Vec<CertificateDer<'static>>, RunError> {
    let bytes = held(setting, file, contents)?;
    let help = "a PEM certificate starts with -----BEGIN CERTIFICATE-----; openssl x509 -inform der -in FILE makes one of a DER file";
    let found = CertificateDer::pem_slice_iter(bytes).collect::<Result<Vec<_>, pem::Error>>();
    match found {
        Ok(found) if found.is_empty() => Err(RunError::input(format!("{setting:#} {file} holds no PEM certificate"), help)),
        Ok(found) => Ok(found),
        Err(error) => Err(RunError::input(format!("{setting:#} {file} is not a PEM file: {error}"), help)),
    }
}

fn private_key(file: &str, contents: &Contents) -> Result<PrivateKeyDer<'static>, RunError> {
    let bytes = held(KEY, file, contents)?;
    PrivateKeyDer::from_pem_slice(bytes).map_err(|error| {
        let encrypted = bytes.windows(9).any(|window| window == b"ENCRYPTED");
        let (what, help) = match error {
            _ if encrypted => {
                ("is encrypted".to_owned(), format!("decrypt it: openssl pkey -in {file} -out plain.pem, then {KEY:#} plain.pem"))
            }
            pem::Error::NoItemsFound => {
                ("holds no PEM private key".to_owned(), "a PEM private key starts with -----BEGIN PRIVATE KEY-----".to_owned())
            }
            error => (format!("is not a PEM file: {error}"), "a PEM private key starts with -----BEGIN PRIVATE KEY-----".to_owned()),
        };
        RunError::input(format!("{KEY:#} {file} {what}"), help)
    })
}

fn mismatch(identity: &plan::Identity, error: &rustls::Error) -> RunError {
    let plan::Identity { cert, key } = identity;
    match error {
        rustls::Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => RunError::input(
            format!("{KEY:#} {key} is not the private key of {CERT:#} {cert}"),
            "give the key the certificate was made with; the server's own certificate stands first in its file",
        ),
        error => RunError::input(format!("{CERT:#} {cert} and {KEY:#} {key} cannot be used: {error}"), "give an RSA, ECDSA or Ed25519 key"),
    }
}

/// The class of a failed handshake. `heard` are the first bytes of the peer.
fn failed(error: &io::Error, name: &ServerName<'_>, heard: &[u8]) -> DialFailed {
    let name = name.to_str();
    if let Some(failed) = broken(error) {
        let text = if failed.failure == Failure::TlsProtocol && is_plain_http(heard) { PLAIN_HTTP.to_owned() } else { failed.text };
        return DialFailed { text: format!("{name}: {text}"), ..failed };
    }
    let failure = match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => Failure::TlsEof,
        _ => Failure::TlsProtocol,
    };
    let text =
        if error.kind() == io::ErrorKind::UnexpectedEof { "closed during the handshake".to_owned() } else { words(&error.to_string()) };
    DialFailed { failure, text: format!("{name}: {text}") }
}

/// Whether the first bytes are a status line or, as HTTP/0.9 answers what it does not understand, a page. Neither
/// begins a TLS record.
fn is_plain_http(heard: &[u8]) -> bool {
    heard == b"HTTP/" || heard.starts_with(b"<")
}

/// What stands in the text of a handshake that was answered in plain HTTP.
pub(super) const PLAIN_HTTP: &str = "answered in plain HTTP";

/// If a read or write failed for reasons of TLS, which. A TLS 1.3 server looks at the client's certificate only after
/// the client's side of the handshake is over, so its alert may come with the first read.
#[must_use]
pub fn broken(error: &io::Error) -> Option<DialFailed> {
    let error: &rustls::Error = error.get_ref()?.downcast_ref()?;
    let failure = match error {
        rustls::Error::InvalidCertificate(certificate) => match certificate {
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. } => Failure::TlsCertExpired,
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => Failure::TlsCertName,
            _ => Failure::TlsCertUntrusted,
        },
        rustls::Error::AlertReceived(AlertDescription::NoApplicationProtocol)
        | rustls::Error::PeerMisbehaved(PeerMisbehaved::SelectedUnofferedApplicationProtocol)
        | rustls::Error::NoApplicationProtocol => Failure::TlsAlpn,
        rustls::Error::AlertReceived(_) => Failure::TlsAlert,
        _ => Failure::TlsProtocol,
    };
    let text = if is_authority(error) { OF_AN_AUTHORITY.to_owned() } else { error.to_string() };
    Some(DialFailed { failure, text })
}

/// Notices that the server asks for a client certificate and gets none.
#[derive(Debug)]
pub(super) struct CertificateRequest {
    ours: Arc<dyn ResolvesClientCert>,
    unmet: AtomicBool,
}

impl CertificateRequest {
    pub(super) fn unmet(&self) -> bool {
        self.unmet.load(Ordering::Relaxed)
    }
}

impl ResolvesClientCert for CertificateRequest {
    fn resolve(&self, issuers: &[&[u8]], schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        let key = self.ours.resolve(issuers, schemes);
        self.unmet.store(key.is_none(), Ordering::Relaxed);
        key
    }

    fn has_certs(&self) -> bool {
        self.ours.has_certs()
    }
}
