//! The first bytes of a reply, kept to show what a failure looked like.
//!
//! An example is worth more than a class, but a copy of every reply's beginning would cost as much as reading it.
//! So nothing is kept of a reply that arrives whole: its example is the slice just read. Only when a read ends in
//! the middle of a reply are its first bytes set aside.

/// How much of a reply an example shows.
pub(crate) const OPENING_BYTES_MAX: usize = 256;

/// The beginning of the reply at hand, if it came in more than one piece.
#[derive(Debug, Default)]
pub struct Opening {
    bytes: Vec<u8>,
}

impl Opening {
    /// Nothing kept, nothing allocated.
    #[must_use]
    pub const fn new() -> Self {
        Self { bytes: Vec::new() }
    }

    /// A new reply begins. Memory is kept for the next time.
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    /// A read ended in the middle of the reply: sets its bytes aside, as far as there is room.
    pub fn keep(&mut self, fed: &[u8]) {
        let room = OPENING_BYTES_MAX.saturating_sub(self.bytes.len());
        self.bytes.extend(fed.iter().take(room));
    }

    /// The first bytes of the reply, of which `fed` came last.
    #[must_use]
    pub fn example(&self, fed: &[u8]) -> Vec<u8> {
        self.bytes.iter().chain(fed).take(OPENING_BYTES_MAX).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_is_the_beginning_however_it_was_cut() {
        let reply: Vec<u8> = (0..=255).chain(0..=255).collect();
        for cut in [0, 1, 100, 256, 300] {
            let (first, last) = reply.split_at(cut);
            let mut opening = Opening::new();
            opening.keep(first);
            assert_eq!(opening.example(last), reply[..OPENING_BYTES_MAX]);
        }
    }
}
