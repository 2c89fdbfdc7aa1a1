//! Where an answer goes: whoever wants to see its headers or its body passes a [`ResponseSink`].
//!
//! A load generator throws most answers away, so the sink is a type parameter of all that reads: `()` sees nothing and costs nothing.

use super::Header;
use crate::net::Spoken;

/// Sees what the reader passes over. Each method does nothing by default.
pub trait ResponseSink {
    /// Whether it looks at heads; if not, [`ResponseSink::head`] may be left out.
    #[inline]
    fn wants_head(&self) -> bool {
        true
    }

    /// What was just read, before any of it is judged.
    #[inline]
    fn received(&mut self, _bytes: &[u8]) {}

    /// The final head: its status and headers, values without whitespace around them.
    #[inline]
    fn head(&mut self, _status: u16, _headers: &[Header<'_>]) {}

    /// A piece of content, without chunk framing.
    #[inline]
    fn body(&mut self, _bytes: &[u8]) {}

    /// The reply is complete.
    #[inline]
    fn complete(&mut self) {}

    /// The reply is complete, and `tell` says what the TLS handshake of its connection came to.
    #[inline]
    fn spoken(&mut self, _tell: impl FnOnce() -> Option<Spoken>) {}
}

/// Sees nothing.
impl ResponseSink for () {
    #[inline]
    fn wants_head(&self) -> bool {
        false
    }
}

impl<O: ResponseSink> ResponseSink for &mut O {
    #[inline]
    fn wants_head(&self) -> bool {
        (**self).wants_head()
    }

    #[inline]
    fn received(&mut self, bytes: &[u8]) {
        (**self).received(bytes);
    }

    #[inline]
    fn head(&mut self, status: u16, headers: &[Header<'_>]) {
        (**self).head(status, headers);
    }

    #[inline]
    fn body(&mut self, bytes: &[u8]) {
        (**self).body(bytes);
    }

    #[inline]
    fn complete(&mut self) {
        (**self).complete();
    }
}
