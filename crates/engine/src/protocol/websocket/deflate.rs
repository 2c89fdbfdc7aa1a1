//! Messages in the form of permessage-deflate (RFC 7692), where both sides agreed on it.
//!
//! It is agreed on without a memory from message to message, on either side. With it, as browsers have it, each connection would hold a window of
//! 32 KiB and more; so one packer and one unpacker of the worker serve all.

use std::cell::RefCell;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::reader::Violation;

/// What is offered in the handshake.
pub(super) const OFFER: &str = "permessage-deflate; server_no_context_takeover; client_no_context_takeover";

/// So long a message may be that has been packed, and so long what it stands for.
pub(super) const PACKED_BYTES_MAX: usize = 16 << 20;
const MESSAGE_BYTES_MAX: u64 = 64 << 20;

/// What every packed message ends with, and is left out (RFC 7692 §7.2.1).
const TAIL: [u8; 4] = [0, 0, 0xff, 0xff];

/// What a worker packs and unpacks with; made when it is needed first.
#[derive(Default)]
pub(super) struct Deflate(RefCell<Option<Box<Tools>>>);

struct Tools {
    packer: Compress,
    unpacker: Decompress,
    piece: Vec<u8>,
}

const PIECE_BYTES: usize = 16 << 10;

impl Default for Tools {
    fn default() -> Self {
        Self { packer: Compress::new(Compression::fast(), false), unpacker: Decompress::new(false), piece: Vec::with_capacity(PIECE_BYTES) }
    }
}

/// Whether the extensions that a server agreed to are the one that was offered, with nothing that was not.
pub(super) fn is_agreed(extensions: &str) -> bool {
    let mut words = extensions.split(';').map(str::trim);
    let is_it = words.next() == Some("permessage-deflate");
    let mut forgets = false;
    let all_known = words.all(|word| match word.split_once('=').map_or((word, None), |(name, value)| (name.trim(), Some(value.trim()))) {
        ("server_no_context_takeover", None) => {
            forgets = true;
            true
        }
        ("client_no_context_takeover", None) => true,
        // A smaller window is read with a larger one.
        ("server_max_window_bits", Some(bits)) => matches!(bits.trim_matches('"').parse(), Ok(8..=15)),
        _ => false,
    });
    is_it && all_known && forgets
}

impl Deflate {
    /// Appends a message in its packed form.
    pub(super) fn pack(&self, message: &[u8], out: &mut Vec<u8>) {
        let mut tools = self.0.borrow_mut();
        let Tools { packer, .. } = &mut **tools.get_or_insert_default();
        packer.reset();
        let from = out.len();
        loop {
            out.reserve(PIECE_BYTES);
            let taken = packer.total_in() as usize;
            let status = packer.compress_vec(&message[taken..], out, FlushCompress::Sync);
            // Packing bytes into memory that is there has no way to fail.
            let is_stuck = !matches!(status, Ok(Status::Ok));
            if is_stuck || packer.total_in() as usize == message.len() && out.len() < out.capacity() {
                break;
            }
        }
        if out[from..].ends_with(&TAIL) {
            out.truncate(out.len() - TAIL.len());
        }
    }

    /// Shows what a packed message stands for, piece by piece.
    ///
    /// # Errors
    /// If it is none, or more than 64 MiB.
    pub(super) fn unpack(&self, packed: &[u8], mut each: impl FnMut(&[u8]) -> Result<(), Violation>) -> Result<(), Violation> {
        let mut tools = self.0.borrow_mut();
        let Tools { unpacker, piece, .. } = &mut **tools.get_or_insert_default();
        unpacker.reset(false);
        for part in [packed, &TAIL] {
            let mut rest = part;
            loop {
                piece.clear();
                let before = unpacker.total_in();
                let status = unpacker.decompress_vec(rest, piece, FlushDecompress::Sync).map_err(|_| BROKEN)?;
                rest = &rest[(unpacker.total_in() - before) as usize..];
                if unpacker.total_out() > MESSAGE_BYTES_MAX {
                    return Err(TOO_LARGE);
                }
                each(piece)?;
                if matches!(status, Status::StreamEnd) || rest.is_empty() && piece.len() < piece.capacity() {
                    break;
                }
            }
        }
        Ok(())
    }
}

const BROKEN: Violation = Violation { what: "a packed message that cannot be unpacked", code: 1007 };

/// What is larger than loadline takes.
pub(super) const TOO_LARGE: Violation = Violation { what: "a packed message of more than 64 MiB", code: 1009 };

#[cfg(test)]
mod tests {
    use super::*;

    fn unpacked(packed: &[u8]) -> Result<Vec<u8>, Violation> {
        let mut message = Vec::new();
        Deflate::default().unpack(packed, |piece| {
            message.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(message)
    }

    #[test]
    fn the_messages_of_the_standard_are_unpacked() {
        // RFC 7692 §7.2.3.1, §7.2.3.3 and §7.2.3.4: one block, one that is not compressed, and one that ends its stream.
        for packed in [
            &[0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00][..],
            &[0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00],
            &[0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00],
        ] {
            assert_eq!(unpacked(packed), Ok(b"Hello".to_vec()), "{packed:x?}");
        }
        assert_eq!(unpacked(&[0xff, 0xff, 0xff]).map_err(|wrong| wrong.code), Err(1007));
    }

    #[test]
    fn what_is_packed_is_unpacked_again_whatever_its_length() {
        let deflate = Deflate::default();
        for length in [0, 1, 125, 20_000, 16 << 10, (16 << 10) + 1, 300_000] {
            let message: Vec<u8> = (0..length).map(|at: usize| (at * at / 7 % 251) as u8).collect();
            let mut packed = Vec::new();
            deflate.pack(&message, &mut packed);
            assert_eq!(unpacked(&packed).unwrap(), message, "{length}");
        }
        let mut packed = Vec::new();
        deflate.pack(&[b'x'; 100_000], &mut packed);
        assert!(packed.len() < 1_000, "{}", packed.len());
    }

    #[test]
    fn a_bomb_is_left_where_it_is_too_large() {
        let mut packed = Vec::new();
        Deflate::default().pack(&vec![0; (MESSAGE_BYTES_MAX + 1) as usize], &mut packed);
        assert!(packed.len() < 1 << 20);
        assert_eq!(unpacked(&packed), Err(TOO_LARGE));
    }

    #[test]
    fn only_what_was_offered_is_agreed_on() {
        for (extensions, expected) in [
            ("permessage-deflate; server_no_context_takeover; client_no_context_takeover", true),
            ("permessage-deflate;server_no_context_takeover", true),
            ("permessage-deflate; server_no_context_takeover; server_max_window_bits=\"10\"", true),
            ("permessage-deflate", false),
            ("permessage-deflate; client_no_context_takeover", false),
            ("permessage-deflate; server_no_context_takeover; client_max_window_bits=10", false),
            ("permessage-deflate; server_no_context_takeover; server_max_window_bits=16", false),
            ("x-webkit-deflate-frame", false),
            ("", false),
        ] {
            assert_eq!(is_agreed(extensions), expected, "{extensions}");
        }
    }
}
