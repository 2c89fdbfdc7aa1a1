//! What a server sends over WebSocket, in any pieces: frames, messages in parts, text in UTF-8, packed messages, closes.
//!
//! The first byte says how the rest is cut, the second how it is read: as bytes as they are, or as frames whose lengths are right, and whether
//! messages may be packed. Whatever the bytes: no panic, and what they mean does not depend on where they were cut.
#![no_main]

use engine::protocol::websocket::{Received, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let [cut, shape, said @ ..] = bytes else { return };
    let mut all = Vec::new();
    let may_be_packed = shape & 1 == 1;
    if shape & 2 == 0 { all.extend_from_slice(said) } else { frames(said, &mut all) }
    let whole = read([&all[..]], may_be_packed);
    for received in &whole {
        match received {
            Received::Ping(payload) => assert!(payload.len() <= 125),
            Received::Message(message) => assert!(may_be_packed || message.len() <= all.len()),
            Received::Pong | Received::Close(..) | Received::Wrong(_) => {}
        }
    }
    for piece in [usize::from(*cut).max(1), 1] {
        assert_eq!(read(all.chunks(piece), may_be_packed), whole, "cut into pieces of {piece}");
    }
});

/// Each frame: its first byte, how long it is, and so many bytes.
fn frames(mut rest: &[u8], into: &mut Vec<u8>) {
    while let [first, length, after @ ..] = rest {
        let (content, after) = after.split_at(usize::from(*length % 126).min(after.len()));
        into.extend_from_slice(&[*first, content.len() as u8]);
        into.extend_from_slice(content);
        rest = after;
    }
}
