//! Digest authentication (RFC 7616).

use crate::answer::Headers;

/// A user and a password; printing shows neither.
#[derive(Clone)]
pub struct Account {}

impl Account {
    /// As the server knows them.
    pub fn new(_user: impl Into<String>, _password: impl Into<String>) -> Self {
        unimplemented!()
    }
}

/// What a 401 asks for: the strongest of its `Digest` challenges that can be answered.
#[derive(Debug, Clone)]
pub struct Challenge {}

impl Challenge {
    /// From the `WWW-Authenticate` headers of a 401.
    ///
    /// # Errors
    /// If there is none that can be answered, with what there is instead.
    pub fn of(_headers: Headers<'_>) -> Result<Self, Unanswerable> {
        unimplemented!()
    }

    /// Whether only the nonce was too old: the password is right, and the request is to be sent again.
    #[must_use]
    pub fn is_stale(&self) -> bool {
        unimplemented!()
    }
}

/// Why a challenge cannot be answered, in words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unanswerable(pub String);

/// One user's answers to one challenge: counts the requests, as the server does. Kept until the server challenges again.
#[derive(Clone)]
pub struct Digest {}

impl Digest {
    /// Begins at a nonce count of 1. `chance` are random bytes, for the client's nonce.
    #[must_use]
    pub fn new(_challenge: Challenge, _account: &Account, _chance: [u8; 16]) -> Self {
        unimplemented!()
    }

    /// The value of `Authorization` for the next request. `uri` is its target as sent: path and query.
    pub fn authorization(&mut self, _method: &str, _uri: &str, _body: &[u8]) -> String {
        unimplemented!()
    }
}
