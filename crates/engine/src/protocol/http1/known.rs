//! A head that came before, byte for byte, and what it came to.
//!
//! A server that is asked the same again and again answers with the same head, but for a date that changes once a second. Reading a head
//! is a third of the instructions that loadline spends on a plain request; comparing it with the last one is a hundredth. So a
//! worker remembers one whole head and what was decided of it, and where an answer begins with the very same bytes, that is decided again.
//! It is only for those who do not look at headers.
//!
//! Invariant: what is remembered is what reading the same bytes comes to; the decision follows from them alone, up to their empty line.

use measure::Quirks;

use super::reply::Ending;

/// A longer head is not remembered.
const BYTES_MAX: usize = 1024;

/// After so many heads in a row that were not the one remembered, only one in so many is remembered: a server whose heads all differ
/// costs no copies.
const MISSES_MAX: u32 = 32;

/// The last head of a worker's answers that was whole, in no way odd, and followed by content of a known length.
#[derive(Debug, Default)]
pub struct KnownHead {
    bytes: Vec<u8>,
    misses: u32,
    pub(super) decided: Decided,
}

/// What was decided of a head.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Decided {
    pub(super) status: u16,
    /// Bytes of content to come.
    pub(super) length: u64,
    pub(super) reusable: bool,
    pub(super) ending: Ending,
}

impl KnownHead {
    /// How long the head is, if these bytes begin with it.
    #[inline]
    pub(super) fn begins(&self, bytes: &[u8]) -> Option<usize> {
        (!self.bytes.is_empty() && bytes.starts_with(&self.bytes)).then_some(self.bytes.len())
    }

    /// A head that was not the one remembered was read, and came to this.
    #[inline]
    pub(super) fn remember(&mut self, head: &[u8], quirks: Quirks, decided: Decided) {
        self.misses = self.misses.wrapping_add(1);
        let is_turn = self.misses < MISSES_MAX || self.misses.is_multiple_of(MISSES_MAX);
        if is_turn && head.len() <= BYTES_MAX && quirks == Quirks::NONE {
            self.bytes.clear();
            self.bytes.extend_from_slice(head);
            self.decided = decided;
        }
    }

    /// It was the one remembered.
    #[inline]
    pub(super) fn hit(&mut self) {
        self.misses = 0;
    }
}
