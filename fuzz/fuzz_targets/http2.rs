//! A connection of HTTP/2, fed any frames in any pieces: framing, heads (HPACK and its table), flow control, and what the server says of
//! the connection.
//!
//! The first byte says how the rest is cut, the second how it is read: as bytes as they are, or as frames whose lengths are right, so that
//! what is behind a frame's head is reached too. Whatever the bytes: no panic, and neither the verdicts on the requests nor what is said to
//! the server depend on where they were cut.
#![no_main]

use engine::protocol::http2::{Conversation, HEAD_BYTES_MAX, HEADERS_MAX, Verdict};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let [cut, shape, said @ ..] = bytes else { return };
    let mut all = if shape & 1 == 0 { Vec::new() } else { SETTINGS.to_vec() };
    if shape & 2 == 0 { all.extend_from_slice(said) } else { frames(said, &mut all) }
    let whole = read(&all, usize::MAX);
    for verdict in &whole.0 {
        assert!(verdict.headers <= HEADERS_MAX && verdict.content.len() <= all.len());
    }
    // Each frame may have an answer, and none a long one.
    assert!(whole.1.len() <= HEAD_BYTES_MAX + 4 * all.len(), "{} bytes are answered with {}", all.len(), whole.1.len());
    for piece in [usize::from(*cut).max(1), 1] {
        assert_eq!(read(&all, piece), whole, "cut into pieces of {piece}");
    }
});

/// An empty frame of settings, with which a server begins.
const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];

/// Each frame: its kind, its flags, its stream, how long it is, and so many bytes.
fn frames(mut rest: &[u8], into: &mut Vec<u8>) {
    while let [kind, flags, stream, length, after @ ..] = rest {
        let (content, after) = after.split_at(usize::from(*length).min(after.len()));
        into.extend_from_slice(&[0, 0, content.len() as u8, kind % 11, *flags, 0, 0, 0, stream % 8]);
        into.extend_from_slice(content);
        rest = after;
    }
}

fn read(said: &[u8], piece: usize) -> (Vec<Verdict>, Vec<u8>) {
    let mut conversation = Conversation::new(3);
    for slice in said.chunks(piece.min(said.len().max(1))) {
        if !conversation.is_broken() {
            conversation.read(slice);
        }
    }
    (conversation.verdicts(), conversation.written().to_vec())
}
