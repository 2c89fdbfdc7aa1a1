//! AWS Signature Version 4.

use crate::date::UnixSeconds;

/// Keys and what they are for; printing shows no secret.
#[derive(Clone)]
pub struct Aws {}

impl Aws {
    /// `service` as in `execute-api`, `s3`, `es`; `token` of temporary credentials.
    pub fn new(_access_key: &str, _secret_key: &str, _token: Option<&str>, _region: &str, _service: &str) -> Self {
        unimplemented!()
    }

    /// The headers to be added to a request at this moment. Signs `host`, `x-amz-*`, `content-type`, and nothing a proxy may change.
    #[must_use]
    pub fn sign(&self, _request: &Signable<'_>, _now: UnixSeconds) -> Signature {
        unimplemented!()
    }
}

/// What of a request is signed.
#[derive(Debug, Clone, Copy)]
pub struct Signable<'a> {
    /// `GET`
    pub method: &'a str,
    /// As in the `Host` header, with a port that is not the scheme's.
    pub host: &'a str,
    /// As sent, percent-encoded.
    pub path_and_query: &'a str,
    /// Further headers of the request that are to be signed: name and value.
    pub headers: &'a [(&'a str, &'a str)],
    /// Its body.
    pub payload: Payload<'a>,
}

/// The body, as far as a signature covers it.
#[derive(Debug, Clone, Copy)]
pub enum Payload<'a> {
    /// Hashed.
    Bytes(&'a [u8]),
    /// `UNSIGNED-PAYLOAD`: over TLS, where S3 accepts it.
    Unsigned,
}

/// Headers to be added to a signed request.
#[derive(Clone, PartialEq, Eq)]
pub struct Signature {
    /// Names and values, in the order in which they are sent: `x-amz-date`, …, `Authorization` last.
    pub headers: Vec<(&'static str, String)>,
}
