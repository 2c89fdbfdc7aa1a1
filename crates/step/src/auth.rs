//! How a request says who sends it.

mod aws;
mod digest;

pub use aws::{Aws, Payload, Signable, Signature};
pub use digest::{Account, Challenge, Digest, Unanswerable};

/// The value of `Authorization` for a user and a password (RFC 7617): `Basic dTpw`.
///
/// # Errors
/// If the user's name has a colon, which no server could tell from the one before the password.
pub fn basic(_user: &str, _password: &str) -> Result<String, String> {
    unimplemented!()
}

/// The value of `Authorization` for a token (RFC 6750): `Bearer …`.
///
/// # Errors
/// If it has bytes that no header may have.
pub fn bearer(_token: &str) -> Result<String, String> {
    unimplemented!()
}

/// Where an API key is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyPlace {
    /// In the header of this name.
    Header(String),
    /// In the parameter of this name.
    Query(String),
}

/// Adds `name=value`, percent-encoded, to the query of a path: `/a` → `/a?key=1`, `/a?b` → `/a?b&key=1`.
#[must_use]
pub fn with_parameter(_path_and_query: &str, _name: &str, _value: &str) -> String {
    unimplemented!()
}
