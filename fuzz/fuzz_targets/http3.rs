//! What a server says on the streams of a connection of HTTP/3, in any pieces: answers with their frames and heads (QPACK), and what concerns
//! the whole connection.
//!
//! The first byte says how the rest is cut, the second how it is read: as bytes as they are, or as frames whose lengths are right. Whatever
//! the bytes: no panic, and what they mean does not depend on where they were cut.
#![no_main]

use engine::protocol::http3::{read_answer, read_control};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let [cut, shape, said @ ..] = bytes else { return };
    let mut all = Vec::new();
    let is_head = shape & 1 == 1;
    if shape & 2 == 0 { all.extend_from_slice(said) } else { frames(said, &mut all) }
    let answer = read_answer([&all[..]], is_head);
    if let Ok((_, content)) = &answer {
        assert!(content.len() <= all.len());
    }
    // A stream that begins with its kind: 0 is that of the connection.
    let control = [&[0], &all[..]].concat();
    let said = read_control([&control[..]]);
    for piece in [usize::from(*cut).max(1), 1] {
        assert_eq!(read_answer(all.chunks(piece), is_head), answer, "cut into pieces of {piece}");
        assert_eq!(read_control(control.chunks(piece)), said, "cut into pieces of {piece}");
    }
});

/// Each frame: its kind, how long it is, and so many bytes.
fn frames(mut rest: &[u8], into: &mut Vec<u8>) {
    while let [kind, length, after @ ..] = rest {
        let (content, after) = after.split_at(usize::from(*length).min(after.len()));
        into.extend_from_slice(&[kind % 14, 0x40, content.len() as u8]);
        into.extend_from_slice(content);
        rest = after;
    }
}
