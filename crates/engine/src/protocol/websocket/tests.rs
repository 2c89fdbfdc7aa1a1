//! What a server may send and must not, in the order of the Autobahn test suite for clients: whole and cut at every byte.

use proptest::prelude::*;

use super::Received;

/// A frame as a server writes it.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![first];
    match payload.len() {
        length @ ..126 => bytes.push(length as u8),
        length @ ..0x1_0000 => {
            bytes.push(126);
            bytes.extend((length as u16).to_be_bytes());
        }
        length => {
            bytes.push(127);
            bytes.extend((length as u64).to_be_bytes());
        }
    }
    bytes.extend(payload);
    bytes
}

fn read(pieces: &[&[u8]]) -> Vec<Received> {
    super::read(pieces.iter().copied(), false)
}

/// The same whole, byte by byte, and cut at every place.
#[track_caller]
fn check(bytes: &[u8], expected: &[Received]) {
    assert_eq!(read(&[bytes]), expected, "whole");
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(read(&single), expected, "byte by byte");
    for at in 0..bytes.len().min(300) {
        assert_eq!(read(&[&bytes[..at], &bytes[at..]]), expected, "cut at {at}");
    }
}

fn wrong(code: u16) -> Received {
    Received::Wrong(code)
}

fn message(text: &[u8]) -> Received {
    Received::Message(text.to_vec())
}

#[test]
fn messages_of_every_length_come_whole() {
    for length in [0, 1, 125, 126, 127, 128, 65_535, 65_536] {
        let payload = vec![b'*'; length];
        for first in [0x81, 0x82] {
            assert_eq!(read(&[&frame(first, &payload)]), [message(&payload)], "{length}");
        }
    }
    check(&frame(0x81, &[b'*'; 126]), &[message(&[b'*'; 126])]);
}

#[test]
fn pings_and_pongs_come_in_between_and_carry_up_to_125_bytes() {
    check(&frame(0x89, b"Hello"), &[Received::Ping(b"Hello".to_vec())]);
    check(&frame(0x89, b"\x00\xff\xfe"), &[Received::Ping(b"\x00\xff\xfe".to_vec())]);
    check(&frame(0x89, &[0xfe; 125]), &[Received::Ping(vec![0xfe; 125])]);
    check(&frame(0x89, &[0xfe; 126]), &[wrong(1002)]);
    check(&frame(0x8a, b"unasked"), &[Received::Pong]);
    check(&[frame(0x8a, b""), frame(0x89, b"x")].concat(), &[Received::Pong, Received::Ping(b"x".to_vec())]);
}

#[test]
fn reserved_bits_and_kinds_of_frames_are_violations() {
    for first in [0xc1, 0xa1, 0x91, 0x83, 0x84, 0x87, 0x8b, 0x8f] {
        check(&[frame(0x81, b"ok"), frame(first, b"x")].concat(), &[message(b"ok"), wrong(1002)]);
    }
    // Masked by a server.
    check(&[0x81, 0x81, 1, 2, 3, 4, b'x' ^ 1], &[wrong(1002)]);
    check(&[0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0], &[wrong(1002)]);
}

#[test]
fn fragments_are_put_together_and_may_have_control_frames_in_between() {
    check(
        &[frame(0x01, b"a"), frame(0x89, b"p"), frame(0x00, b""), frame(0x80, b"bc")].concat(),
        &[Received::Ping(b"p".to_vec()), message(b"abc")],
    );
    check(&[frame(0x02, b""), frame(0x00, b""), frame(0x80, b"")].concat(), &[message(b"")]);
    // A control frame in parts, a continuation of nothing, and a message inside another.
    check(&frame(0x09, b"x"), &[wrong(1002)]);
    check(&frame(0x80, b"x"), &[wrong(1002)]);
    check(&[frame(0x01, b"x"), frame(0x81, b"y")].concat(), &[wrong(1002)]);
    check(&[frame(0x81, b"x"), frame(0x00, b"y")].concat(), &[message(b"x"), wrong(1002)]);
}

#[test]
fn text_is_utf_8_also_over_fragments_and_wrong_as_soon_as_that_is_seen() {
    let text = "κόσμε \u{10ffff}".as_bytes();
    check(&frame(0x81, text), &[message(text)]);
    for at in 0..text.len() {
        check(&[frame(0x01, &text[..at]), frame(0x80, &text[at..])].concat(), &[message(text)]);
    }
    // Surrogates, overlong forms, beyond U+10FFFF, lonely bytes, and a character that does not end.
    for bytes in [&b"\xed\xa0\x80"[..], b"\xc0\x80", b"\xf4\x90\x80\x80", b"\x80", b"\xff", b"\xce"] {
        check(&frame(0x81, bytes), &[wrong(1007)]);
    }
    // The frame says that more comes; that it is wrong is seen before.
    check(&frame(0x01, b"\xf4\x90"), &[wrong(1007)]);
    check(&frame(0x82, b"\xff\xfe"), &[message(b"\xff\xfe")]);
}

#[test]
fn a_close_has_a_code_that_may_be_sent_and_a_reason_in_utf_8() {
    check(&frame(0x88, b""), &[Received::Close(None, String::new())]);
    check(&frame(0x88, b"\x03"), &[wrong(1002)]);
    let close = |code: u16, reason: &[u8]| frame(0x88, &[&code.to_be_bytes()[..], reason].concat());
    check(&close(1001, "até já".as_bytes()), &[Received::Close(Some(1001), "até já".to_owned())]);
    check(&close(1000, b"\xff"), &[wrong(1007)]);
    for code in [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999] {
        check(&close(code, b""), &[Received::Close(Some(code), String::new())]);
    }
    for code in [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535] {
        check(&close(code, b""), &[wrong(1002)]);
    }
    check(&close(1000, &[b'x'; 124]), &[wrong(1002)]);
}

/// Bytes of which many are frames: their first bytes and lengths are right more often than chance would have it.
fn said() -> impl Strategy<Value = Vec<u8>> {
    let first = prop_oneof![4 => proptest::sample::select(&[0x01, 0x81, 0x82, 0x00, 0x80, 0x88, 0x89, 0x8a][..]), 1 => any::<u8>()];
    let one = (first, prop_oneof![3 => "[a-zé€𝄞]{0,40}".prop_map(String::into_bytes), 1 => proptest::collection::vec(any::<u8>(), 0..300)]);
    let frames =
        proptest::collection::vec(one.prop_map(|(first, payload)| frame(first, &payload)), 0..6).prop_map(|frames| frames.concat());
    prop_oneof![4 => frames, 1 => proptest::collection::vec(any::<u8>(), 0..200)]
}

proptest! {
    #[test]
    fn what_comes_means_the_same_wherever_it_is_cut(said in said(), cuts in proptest::collection::vec(1..40_usize, 1..20)) {
        let (mut pieces, mut rest) = (Vec::new(), &said[..]);
        for cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, after) = rest.split_at((*cut).min(rest.len()));
            pieces.push(piece);
            rest = after;
        }
        prop_assert_eq!(read(&pieces), read(&[&said]));
    }
}
