//! TLS handshakes, good and bad.

use std::io;
use std::sync::Arc;

use testbed::{ClientCertificate, Config, Identity, ServerCertificate, Testbed, Tls};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, crypto};

/// Fetches `/healthz` over TLS, trusting only the given authority.
fn fetch(testbed: &Testbed, ca_pem: &str, identity: Option<&Identity>) -> io::Result<String> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(ca_pem.as_bytes()).unwrap()).unwrap();
    let builder = ClientConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots);
    let config = match identity {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let certificate = CertificateDer::from_pem_slice(identity.certificate_pem.as_bytes()).unwrap();
            let key = PrivateKeyDer::from_pem_slice(identity.key_pem.as_bytes()).unwrap();
            builder.with_client_auth_cert(vec![certificate], key).unwrap()
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let tcp = tokio::net::TcpStream::connect(testbed.addr()).await?;
        let name = ServerName::try_from("127.0.0.1").unwrap();
        let mut tls = TlsConnector::from(Arc::new(config)).connect(name, tcp).await?;
        tls.write_all(b"GET /healthz HTTP/1.1\r\nHost: testbed\r\nConnection: close\r\n\r\n").await?;
        let mut reply = String::new();
        tls.read_to_string(&mut reply).await?;
        Ok(reply)
    })
}

fn showing(certificate: ServerCertificate) -> (Testbed, Tls) {
    let tls = Tls::new().unwrap().certificate(certificate);
    (Testbed::start(Config::new().tls(tls.clone())).unwrap(), tls)
}

#[test]
fn a_client_that_trusts_the_authority_is_served() {
    let (testbed, tls) = showing(ServerCertificate::Valid);
    let reply = fetch(&testbed, tls.ca_pem(), None).unwrap();
    assert!(reply.starts_with("HTTP/1.1 200") && reply.ends_with(r#"{"status":"ok"}"#), "{reply}");
    assert!(testbed.url("/").starts_with("https://127.0.0.1:"));
    assert_eq!(testbed.counts().path("/healthz"), 1);
}

#[test]
fn each_bad_certificate_is_bad_in_its_own_way() {
    for (certificate, reason) in [
        (ServerCertificate::Expired, "Expired"),
        (ServerCertificate::NotYetValid, "NotValidYet"),
        (ServerCertificate::WrongName, "NotValidForName"),
        (ServerCertificate::SelfSigned, "UnknownIssuer"),
    ] {
        let (testbed, tls) = showing(certificate);
        let error = format!("{:?}", fetch(&testbed, tls.ca_pem(), None).unwrap_err());
        assert!(error.contains(reason), "{certificate:?}: {error}");
        assert_eq!(testbed.counts().received, 0);
    }
}

#[test]
fn an_authority_of_another_server_is_not_trusted() {
    let (testbed, _) = showing(ServerCertificate::Valid);
    assert!(fetch(&testbed, Tls::new().unwrap().ca_pem(), None).is_err());
}

#[test]
fn a_required_client_certificate_must_be_shown() {
    let tls = Tls::new().unwrap().client(ClientCertificate::Required);
    let testbed = Testbed::start(Config::new().tls(tls.clone())).unwrap();
    assert!(fetch(&testbed, tls.ca_pem(), None).is_err());
    let stranger = Tls::new().unwrap().client_identity().unwrap();
    assert!(fetch(&testbed, tls.ca_pem(), Some(&stranger)).is_err());
    assert_eq!(testbed.counts().received, 0);
    let identity = tls.client_identity().unwrap();
    assert!(fetch(&testbed, tls.ca_pem(), Some(&identity)).unwrap().starts_with("HTTP/1.1 200"));
}
