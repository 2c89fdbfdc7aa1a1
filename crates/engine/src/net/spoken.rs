//! What is spoken on a connection, and what a TLS handshake came to, in OpenSSL's words.
//!
//! People compare reports of `ab` across years, and those name ciphers as OpenSSL does. rustls has other names for the same
//! things, so they are translated here; the size of the server's key is read from its certificate.

use plan::Nanos;
use rustls::{CipherSuite, ClientConnection, NamedGroup, ProtocolVersion};

/// What is spoken on a connection that was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.1, or 1.0.
    Http1,
    /// HTTP/2.
    Http2,
    /// HTTP/3.
    #[cfg(feature = "http3")]
    Http3(super::Quic),
    /// WebSocket.
    WebSocket {
        /// What the server sent right behind its agreement.
        early: Vec<u8>,
        /// How long the handshake took.
        handshake: Nanos,
        /// Whether messages may be packed (permessage-deflate).
        deflates: bool,
    },
}

/// What a TLS handshake came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// Such as `TLSv1.3`.
    pub protocol: String,
    /// Such as `TLS_AES_256_GCM_SHA384` or `ECDHE-RSA-AES128-GCM-SHA256`.
    pub cipher: String,
    /// Bits of the public key in the server's certificate; 0 if it cannot be told.
    pub key_bits: u32,
    /// Bits of the cipher's key.
    pub cipher_bits: u32,
    /// The key exchange, such as `X25519 253 bits`.
    pub exchange: Option<String>,
}

impl Spoken {
    pub(super) fn of(connection: &ClientConnection) -> Option<Self> {
        let protocol = match connection.protocol_version()? {
            ProtocolVersion::TLSv1_2 => "TLSv1.2".to_owned(),
            ProtocolVersion::TLSv1_3 => "TLSv1.3".to_owned(),
            other => format!("{other:?}"),
        };
        let suite = connection.negotiated_cipher_suite()?.suite();
        let exchange = connection.negotiated_key_exchange_group().map(|group| exchange(group.name()));
        let key_bits = connection.peer_certificates().and_then(|chain| chain.first()).and_then(|first| key_bits(first)).unwrap_or(0);
        Some(Self { protocol, cipher: cipher(suite), key_bits, cipher_bits: cipher_bits(suite), exchange })
    }
}

fn cipher(suite: CipherSuite) -> String {
    let name = format!("{suite:?}");
    if let Some(rest) = name.strip_prefix("TLS13_") {
        return format!("TLS_{rest}");
    }
    let name = name.trim_start_matches("TLS_").replace("_WITH_", "_").replace("AES_", "AES").replace("_POLY1305_SHA256", "_POLY1305");
    name.replace('_', "-")
}

fn cipher_bits(suite: CipherSuite) -> u32 {
    if format!("{suite:?}").contains("128") { 128 } else { 256 }
}

/// OpenSSL counts the order's bits: 253 for X25519.
fn exchange(group: NamedGroup) -> String {
    match group {
        NamedGroup::X25519 => "X25519 253 bits".to_owned(),
        NamedGroup::secp256r1 => "ECDH prime256v1 256 bits".to_owned(),
        NamedGroup::secp384r1 => "ECDH secp384r1 384 bits".to_owned(),
        NamedGroup::secp521r1 => "ECDH secp521r1 521 bits".to_owned(),
        other => format!("{other:?}"),
    }
}

/// The size of the public key of a certificate: the field subjectPublicKeyInfo of RFC 5280 §4.1.
fn key_bits(certificate: &[u8]) -> Option<u32> {
    /// RSA's object identifier, 1.2.840.113549.1.1.1.
    const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01];
    let (_, outer, _) = element(certificate)?;
    let (_, mut fields, _) = element(outer)?;
    // version [0] is optional; then serial number, signature, issuer, validity and subject come before the key.
    let (tag, _, rest) = element(fields)?;
    if tag == 0xa0 {
        fields = rest;
    }
    for _ in 0..5 {
        fields = element(fields)?.2;
    }
    let (_, info, _) = element(fields)?;
    let (_, algorithm, key) = element(info)?;
    let (_, identifier, parameters) = element(algorithm)?;
    let (_, bits, _) = element(key)?;
    if identifier == RSA {
        let (_, numbers, _) = element(bits.get(1..)?)?;
        let (_, modulus, _) = element(numbers)?;
        let modulus = modulus.strip_prefix(&[0]).unwrap_or(modulus);
        return Some(modulus.len() as u32 * 8 - modulus.first()?.leading_zeros());
    }
    match element(parameters).map(|(_, curve, _)| curve) {
        Some([0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07]) => Some(256),
        Some([0x2b, 0x81, 0x04, 0x00, 0x22]) => Some(384),
        Some([0x2b, 0x81, 0x04, 0x00, 0x23]) => Some(521),
        // Ed25519, as OpenSSL counts it.
        _ if identifier == [0x2b, 0x65, 0x70] => Some(256),
        _ => None,
    }
}

/// The next DER element: its tag, its content, and what follows.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let digits = usize::from(first & 0x7f);
        let length = rest.get(..digits.min(4))?.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
        (length, rest.get(digits..)?)
    };
    Some((tag, rest.get(..length)?, rest.get(length..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ciphers_have_the_names_openssl_gives_them() {
        for (suite, name, bits) in [
            (CipherSuite::TLS13_AES_256_GCM_SHA384, "TLS_AES_256_GCM_SHA384", 256),
            (CipherSuite::TLS13_CHACHA20_POLY1305_SHA256, "TLS_CHACHA20_POLY1305_SHA256", 256),
            (CipherSuite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, "ECDHE-RSA-AES128-GCM-SHA256", 128),
            (CipherSuite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, "ECDHE-ECDSA-CHACHA20-POLY1305", 256),
        ] {
            assert_eq!((cipher(suite).as_str(), cipher_bits(suite)), (name, bits));
        }
    }

    #[test]
    fn the_size_of_a_key_is_read_from_its_certificate() {
        let key = rcgen::generate_simple_self_signed(["a.test".to_owned()]).unwrap();
        assert_eq!(key_bits(key.cert.der()), Some(256));
        for cut in 0..key.cert.der().len() {
            let _ = key_bits(&key.cert.der()[..cut]);
        }
    }
}
