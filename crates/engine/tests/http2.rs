//! The HTTP/2 reader, fed random frames cut anywhere: what a server said has one meaning, and one answer.

use engine::protocol::http2::{Conversation, Verdict};
use measure::Failure;
use proptest::prelude::*;

/// An empty frame of settings, with which a server begins.
const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];

fn frame(kind: u8, flags: u8, stream: u8, content: &[u8]) -> Vec<u8> {
    [&[0, 0, content.len() as u8, kind, flags, 0, 0, 0, stream], content].concat()
}

/// What became of three requests, the last of which was given up, and what was said to the server.
fn read(pieces: &[&[u8]]) -> (Vec<Verdict>, Vec<u8>) {
    let mut conversation = Conversation::new(3);
    for piece in pieces {
        if !conversation.is_broken() {
            conversation.read(piece);
        }
    }
    (conversation.verdicts(), conversation.written().to_vec())
}

/// A frame as servers send it: mostly of a stream that was begun, its content often a head.
fn frames() -> impl Strategy<Value = Vec<u8>> {
    let heads = [&[0x88][..], &[0x48, 2, b'2', b'0', b'0'], &[0x40, 1, b'a', 1, b'b'], &[0x88, 0xbe], &[0x20, 0x88], &[0, 0, 0, 9]];
    let content = prop_oneof![3 => proptest::sample::select(heads.to_vec()).prop_map(<[u8]>::to_vec), 1 => any::<[u8; 8]>().prop_map(|bytes| bytes.to_vec()), 1 => proptest::collection::vec(any::<u8>(), 0..20)];
    let stream = prop_oneof![4 => proptest::sample::select(vec![1_u8, 3, 5]), 1 => 0_u8..9];
    let flags = proptest::sample::select(vec![0_u8, 1, 4, 5, 8, 12, 36, 45]);
    let frame = (0_u8..11, flags, stream, content).prop_map(|(kind, flags, stream, content)| frame(kind, flags, stream, &content));
    proptest::collection::vec(frame, 0..12).prop_map(|frames| [&SETTINGS[..], &frames.concat()].concat())
}

proptest! {
    #[test]
    fn frames_have_one_meaning_wherever_they_are_cut(said in frames(), cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..6)) {
        let mut places: Vec<usize> = cuts.iter().map(|cut| cut.index(said.len() + 1)).chain([0, said.len()]).collect();
        places.sort_unstable();
        let pieces: Vec<&[u8]> = places.windows(2).map(|pair| &said[pair[0]..pair[1]]).collect();
        let whole = read(&[&said]);
        prop_assert_eq!(read(&pieces), whole.clone());
        prop_assert_eq!(read(&said.chunks(1).collect::<Vec<_>>()), whole);
    }
}

#[test]
fn an_answer_to_each_request_is_told_apart_and_one_that_nobody_waits_for_is_passed_over() {
    let said = [
        SETTINGS.to_vec(),
        frame(1, 4, 3, &[0x48, 3, b'2', b'0', b'2']),
        frame(1, 4, 5, &[0xbe]),
        frame(0, 1, 5, b"late"),
        frame(1, 5, 1, &[0xbe]),
        frame(0, 1, 3, b"hi"),
    ];
    let (verdicts, _) = read(&said.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let of = |verdict: &Verdict| (verdict.status, verdict.content.clone(), verdict.ended);
    assert_eq!(of(&verdicts[0]), (202, Vec::new(), Some(Ok(()))));
    assert_eq!(of(&verdicts[1]), (202, b"hi".to_vec(), Some(Ok(()))));
    assert_eq!(verdicts[2].status, 0);
    let (verdicts, _) = read(&[&SETTINGS, &frame(6, 0, 0, b"1234567")]);
    assert_eq!(verdicts[0].ended, Some(Err(Failure::Http2Protocol)));
}
