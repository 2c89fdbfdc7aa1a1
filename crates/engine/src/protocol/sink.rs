//! Where an answer goes: whoever wants to see its headers or its body passes a [`ResponseSink`].
//!
//! A load generator throws most answers away, so the sink is a type parameter of all that reads: `()` sees nothing and costs nothing.

use plan::Nanos;

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

    /// When the bytes were read that come next: told before they are passed on, where more than one read may be looked at.
    #[inline]
    fn read_at(&mut self, _at: Nanos) {}

    /// The final head: its status and headers, values without whitespace around them.
    #[inline]
    fn head(&mut self, _status: u16, _headers: &[Header<'_>]) {}

    /// A piece of content, without chunk framing.
    #[inline]
    fn body(&mut self, _bytes: &[u8]) {}

    /// Whether the message whose last piece has just come is the answer; if not, the next one may be. Only asked over WebSocket.
    #[inline]
    fn is_answer(&mut self) -> bool {
        true
    }

    /// Its time is over before it is complete: the status with which it is one all the same, because no more was wanted of it.
    #[inline]
    fn cut_off(&mut self) -> Option<u16> {
        None
    }

    /// The reply is complete.
    #[inline]
    fn complete(&mut self) {}

    /// If the reply was packed and this unpacked it: from so many bytes to so many.
    #[inline]
    fn unpacked(&self) -> Option<(u64, u64)> {
        None
    }

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
    fn read_at(&mut self, at: Nanos) {
        (**self).read_at(at);
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
    fn is_answer(&mut self) -> bool {
        (**self).is_answer()
    }

    #[inline]
    fn cut_off(&mut self) -> Option<u16> {
        (**self).cut_off()
    }

    #[inline]
    fn complete(&mut self) {
        (**self).complete();
    }

    #[inline]
    fn unpacked(&self) -> Option<(u64, u64)> {
        (**self).unpacked()
    }
}
