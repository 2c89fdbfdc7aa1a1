//! Where messages of gRPC begin and end in the content of an answer, in whatever pieces it comes
//! (<https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md>).
//!
//! What a message says nobody here knows: it is bytes behind five others, which say how many.

/// What stands before each message: whether it is packed, and its length.
const PREFIX_BYTES: usize = 5;

/// A content as far as it has come.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    /// What of the next prefix has come, and how much.
    prefix: [u8; PREFIX_BYTES],
    prefixed: usize,
    /// What is missing of the message under way, in bytes.
    left: u32,
}

impl Messages {
    /// Takes a piece of the content, and tells of each message that begins whether it says that it is packed, 0 or 1, and its length in bytes. How
    /// many messages ended in the piece.
    ///
    /// # Errors
    /// As `begins` has it.
    pub(crate) fn take<E>(&mut self, mut bytes: &[u8], mut begins: impl FnMut(u8, u32) -> Result<(), E>) -> Result<u64, E> {
        let mut ended = 0;
        while !bytes.is_empty() {
            let taken;
            if self.left > 0 {
                taken = bytes.len().min(self.left as usize);
                self.left -= taken as u32;
                ended += u64::from(self.left == 0);
            } else {
                taken = bytes.len().min(PREFIX_BYTES - self.prefixed);
                self.prefix[self.prefixed..self.prefixed + taken].copy_from_slice(&bytes[..taken]);
                self.prefixed += taken;
                if self.prefixed == PREFIX_BYTES {
                    let [packed, length @ ..] = self.prefix;
                    (self.prefixed, self.left) = (0, u32::from_be_bytes(length));
                    begins(packed, self.left)?;
                    ended += u64::from(self.left == 0);
                }
            }
            bytes = &bytes[taken..];
        }
        Ok(ended)
    }

    /// Whether no message is under way.
    pub(crate) const fn is_between(&self) -> bool {
        self.left == 0 && self.prefixed == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_the_same_however_they_are_cut() {
        let content = [&[0, 0, 0, 0, 3][..], b"abc", &[1, 0, 0, 0, 0], &[0, 0, 0, 1, 0], &[7; 256]].concat();
        for size in 1..=content.len() {
            let (mut messages, mut begun, mut ended) = (Messages::default(), Vec::new(), 0);
            let mut note = |packed, length| {
                begun.push((packed, length));
                Ok::<_, ()>(())
            };
            for piece in content.chunks(size) {
                ended += messages.take(piece, &mut note).unwrap();
            }
            assert_eq!((&begun[..], ended, messages.is_between()), (&[(0, 3), (1, 0), (0, 256)][..], 3, true), "{size}");
        }
        for length in (1..content.len()).filter(|length| ![8, 13].contains(length)) {
            let mut messages = Messages::default();
            messages.take(&content[..length], |_, _| Ok::<_, ()>(())).unwrap();
            assert!(!messages.is_between(), "{length}");
        }
        assert_eq!(Messages::default().take(&content, |packed, _| if packed == 1 { Err("packed") } else { Ok(()) }), Err("packed"));
    }
}
