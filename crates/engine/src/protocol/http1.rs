//! HTTP/1.x as a measuring client speaks it: requests serialised before the run, replies read without I/O.
//!
//! A load generator reads millions of replies it has no interest in, from servers it must not trust. So the usual
//! case, a whole small reply in one read, costs one pass over its head and a subtraction for its body; everything
//! else goes through a reader that looks at each byte a bounded number of times and stores at most one head. A
//! general HTTP client was the alternative: it allocates for every reply, hides what the server did wrong, and sets
//! no limit on interim answers.
//!
//! Invariants, for any bytes in any slices: a verdict does not depend on where the slices were cut; the work per
//! byte is bounded; memory is bounded by [`HEAD_BYTES_MAX`]; nothing panics; no byte of one reply is ever credited
//! to another.
//!
//! RFC 9112 is the arbiter. Where it leaves a choice, what curl and browsers read is read, and counted as a
//! [`measure::Quirk`]; what they refuse is refused, with a [`measure::Failure`] that says where it went wrong.

#[doc(hidden)]
pub mod cases;
pub(super) mod chunks;
mod connection;
pub(super) mod fields;
mod head;
mod known;
mod opening;
mod reply;
pub mod request;

pub(crate) use connection::{Connection, State};
pub use known::KnownHead;
pub use opening::Opening;
pub use reply::{Finished, Progress, Reply, ResponseFraming, is_blank};

/// The longest head of a reply, its empty line included. curl allows 300 KiB, nghttp2 64 KiB, wrk 80 KiB.
pub const HEAD_BYTES_MAX: usize = 64 * 1024;

/// The most header lines in one head. hyper allows 100, curl 5000.
pub const HEADERS_MAX: usize = 256;

/// The most interim (1xx) replies before the final one. hyper sets no limit, Go once allowed 5.
pub(crate) const INTERIMS_MAX: u8 = 8;

/// The most empty lines before a status line (RFC 9112 section 2.2 asks servers for one) and after a reply.
pub(crate) const BLANK_LINES_MAX: u8 = 2;

/// The most bytes of chunk extensions in one body. hyper allows 16 KiB.
pub(crate) const CHUNK_EXTENSION_BYTES_MAX: u16 = 8 * 1024;

/// The most bytes of trailers, the final empty line included. hyper allows 16 KiB.
pub(crate) const TRAILER_BYTES_MAX: u16 = 8 * 1024;

/// The most hexadecimal digits of a chunk size: those of a `u64`, as in curl.
pub(crate) const CHUNK_SIZE_DIGITS_MAX: u8 = 16;

/// Chunk framing may weigh this much more than [`CHUNK_OVERHEAD_RATIO`] times the data.
pub(crate) const CHUNK_OVERHEAD_BYTES: u64 = 16 * 1024;

/// Bytes of chunk framing allowed for each byte of data.
pub(crate) const CHUNK_OVERHEAD_RATIO: u64 = 4;

/// How many bytes the reader has looked at, counted only in tests: the proof that no byte is looked at too often.
mod work {
    #[cfg(test)]
    thread_local! {
        pub(super) static BYTES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    }

    #[inline(always)]
    pub(super) fn looked_at(_bytes: usize) {
        #[cfg(test)]
        BYTES.with(|bytes| bytes.set(bytes.get().saturating_add(_bytes)));
    }
}
