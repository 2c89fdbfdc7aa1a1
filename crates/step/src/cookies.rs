//! One user's cookies (RFC 6265).

use crate::answer::Headers;
use crate::date::UnixSeconds;

/// Where a request goes, as far as cookies care.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    /// Without port; an IPv6 address without brackets. Case does not matter.
    pub host: &'a str,
    /// From the slash on; a query is not looked at.
    pub path: &'a str,
    /// Whether the request goes over TLS.
    pub secure: bool,
}

/// The cookies of one user. Empty, it is three words and no heap.
#[derive(Clone, Default)]
pub struct Jar {}

impl Jar {
    /// No cookies.
    #[must_use]
    pub const fn new() -> Self {
        unimplemented!()
    }

    /// Takes up every `Set-Cookie` of an answer from `place`. Gives how many of them were refused.
    pub fn take(&mut self, _headers: Headers<'_>, _place: Place<'_>, _now: UnixSeconds) -> usize {
        unimplemented!()
    }

    /// Writes the value of the `Cookie` header for a request to `place` at the end of `out`: `a=1; b=2`. Gives whether there
    /// was any; if not, nothing is written and no header is to be sent. Does not allocate if `out` has room.
    pub fn write(&self, _place: Place<'_>, _now: UnixSeconds, _out: &mut Vec<u8>) -> bool {
        unimplemented!()
    }

    /// The value of the cookie of this name that a request to `place` would carry first.
    #[must_use]
    pub fn value(&self, _name: &str, _place: Place<'_>, _now: UnixSeconds) -> Option<&[u8]> {
        unimplemented!()
    }

    /// Adds a cookie that the user's scenario gives, for this host alone and all its paths.
    /// Gives whether it was taken.
    pub fn put(&mut self, _name: &str, _value: &str, _host: &str) -> bool {
        unimplemented!()
    }

    /// Forgets every cookie.
    pub fn clear(&mut self) {
        unimplemented!()
    }

    /// How many cookies, expired ones that nobody asked for since included.
    #[must_use]
    pub fn len(&self) -> usize {
        unimplemented!()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The heap it holds, in bytes.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        unimplemented!()
    }
}
