//! What servers may say, without a connection: each has one meaning wherever it is cut.

use measure::Failure;
use proptest::prelude::*;

use super::control::OneWay;
use super::frame::{Breach, Code, write_frame_head, write_number};
use super::reply::{KnownHead, Reply, Wrong};
use crate::protocol::{Header, ResponseSink};

const DATA: u64 = 0;
const HEADERS: u64 = 1;
const SETTINGS: u64 = 4;
const PUSH_PROMISE: u64 = 5;
const GOAWAY: u64 = 7;

/// `:status: 200`, `:status: 100`, `:status: 404` and `:status: 204`, from the table.
const OK: &[u8] = &[0, 0, 0xd9];
const CONTINUE: &[u8] = &[0, 0, 0xff, 0];
const NOT_FOUND: &[u8] = &[0, 0, 0xdb];
const NO_CONTENT: &[u8] = &[0, 0, 0xff, 1];
/// `:status: 200` and `content-length: 5`.
const OK_OF_5: &[u8] = &[0, 0, 0xd9, 0x54, 1, b'5'];
/// `a: b`.
const TRAILERS: &[u8] = &[0, 0, 0x21, b'a', 1, b'b'];

fn frame(kind: u64, content: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    write_frame_head(&mut out, kind, content.len());
    out.extend_from_slice(content);
    out
}

/// What was seen of an answer.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    head: String,
    body: Vec<u8>,
}

impl ResponseSink for Seen {
    fn head(&mut self, status: u16, headers: &[Header<'_>]) {
        self.head = status.to_string();
        headers.iter().for_each(|header| self.head += &format!(" {}={}", header.name, String::from_utf8_lossy(header.value)));
    }

    fn body(&mut self, bytes: &[u8]) {
        self.body.extend_from_slice(bytes);
    }
}

/// An answer that comes in these pieces, and then ends: its status and what was seen, or what is wrong with it. How much is seen before that depends on
/// the pieces.
fn answer(pieces: &[&[u8]], (is_head, looks): (bool, bool)) -> (Result<u16, Wrong>, Seen) {
    let (mut reply, mut seen) = (Reply::default(), Seen::default());
    reply.begin(is_head, looks);
    let mut known = KnownHead::default();
    let taken = pieces.iter().try_for_each(|piece| reply.take(piece, &mut known, &mut seen));
    let verdict = taken.and_then(|()| reply.end()).map(|()| reply.status);
    (verdict, if verdict.is_ok() { seen } else { Seen::default() })
}

/// A status, or a class of failure and whether it ends the connection.
type Judged = Result<u16, (Failure, bool)>;

#[test]
fn each_answer_is_judged_wherever_it_is_cut() {
    let ok = |status: u16| Ok(status);
    let of_it = |failure: Failure| Err((failure, false));
    let of_all = |failure: Failure| Err((failure, true));
    let many = vec![frame(HEADERS, CONTINUE); 9].concat();
    let large = frame(HEADERS, &[&[0, 0, 0xd9][..], &[0x21, b'a', 0x7f, 0xe1, 0xff, 3], &vec![b'x'; 65_600]].concat());
    let cases: [(&str, Vec<Vec<u8>>, Judged); 27] = [
        ("a head alone", vec![frame(HEADERS, OK)], ok(200)),
        ("a head and content", vec![frame(HEADERS, OK_OF_5), frame(DATA, b"hello")], ok(200)),
        (
            "content in pieces, one of them empty",
            vec![frame(HEADERS, OK_OF_5), frame(DATA, b"he"), frame(DATA, b""), frame(DATA, b"llo")],
            ok(200),
        ),
        ("trailers", vec![frame(HEADERS, OK), frame(DATA, b"hi"), frame(HEADERS, TRAILERS)], ok(200)),
        ("an interim head", vec![frame(HEADERS, CONTINUE), frame(HEADERS, NOT_FOUND)], ok(404)),
        ("a head that has no content", vec![frame(HEADERS, NO_CONTENT)], ok(204)),
        (
            "frames that nobody knows, anywhere",
            vec![frame(33, b"grease"), frame(HEADERS, OK), frame(64, b""), frame(DATA, b"x"), frame(33, b"")],
            ok(200),
        ),
        ("nothing", vec![], of_it(Failure::RecvEofBeforeResponse)),
        ("interim heads alone", vec![frame(HEADERS, CONTINUE)], of_it(Failure::RecvEofBeforeResponse)),
        ("too many interim heads", vec![many], of_it(Failure::LimitInterim)),
        ("less content than was said", vec![frame(HEADERS, OK_OF_5), frame(DATA, b"hell")], of_it(Failure::RecvEofInBody)),
        ("more content than was said", vec![frame(HEADERS, OK_OF_5), frame(DATA, b"hello!")], of_it(Failure::ProtoLength)),
        ("a head without a status", vec![frame(HEADERS, TRAILERS)], of_it(Failure::ProtoStatusLine)),
        ("status 101", vec![frame(HEADERS, &[0, 0, 0x5f, 9, 3, b'1', b'0', b'1'])], of_it(Failure::ProtoSwitch)),
        ("a name in large letters", vec![frame(HEADERS, &[0, 0, 0xd9, 0x21, b'A', 1, b'b'])], of_it(Failure::ProtoHeader)),
        (
            "a header of a connection",
            vec![frame(HEADERS, &[&[0, 0, 0xd9, 0x27, 0][..], b"upgrade", &[1, b'b']].concat())],
            of_it(Failure::ProtoHeader),
        ),
        ("two lengths", vec![frame(HEADERS, &[OK_OF_5, &[0x54, 1, b'6']].concat())], of_it(Failure::ProtoLength)),
        ("trailers with a status", vec![frame(HEADERS, OK), frame(HEADERS, OK)], of_it(Failure::Http3Protocol)),
        ("a head larger than is read", vec![large], of_it(Failure::LimitHeadBytes)),
        ("content before its head", vec![frame(DATA, b"x")], of_all(Failure::Http3Protocol)),
        ("content behind trailers", vec![frame(HEADERS, OK), frame(HEADERS, TRAILERS), frame(DATA, b"x")], of_all(Failure::Http3Protocol)),
        ("a head that needs a table", vec![frame(HEADERS, &[3, 0x81, 0x10])], of_all(Failure::Http3Protocol)),
        ("a promise of a push", vec![frame(PUSH_PROMISE, &[0])], of_all(Failure::Http3Protocol)),
        ("settings", vec![frame(HEADERS, OK), frame(SETTINGS, &[])], of_all(Failure::Http3Protocol)),
        ("a frame of HTTP/2", vec![frame(HEADERS, OK), frame(8, &[0; 4])], of_all(Failure::Http3Protocol)),
        ("an end within a frame", vec![frame(HEADERS, OK), vec![0, 5, b'h']], of_all(Failure::Http3Protocol)),
        ("an end within the head of a frame", vec![frame(HEADERS, OK), vec![0x40]], of_all(Failure::Http3Protocol)),
    ];
    for (name, frames, expected) in cases {
        let said = frames.concat();
        for looks in [false, true] {
            let judged = |pieces: &[&[u8]]| {
                let (verdict, seen) = answer(pieces, (false, looks));
                (verdict.map_err(|wrong| (wrong.failure, wrong.ends_all)), seen)
            };
            let whole = judged(&[&said]);
            assert_eq!(whole.0, expected, "{name}");
            for cut in (0..=said.len()).step_by(said.len() / 200 + 1) {
                assert_eq!(judged(&[&said[..cut], &said[cut..]]), whole, "{name}, cut at {cut}");
            }
            if said.len() < 100 {
                assert_eq!(judged(&said.chunks(1).collect::<Vec<_>>()), whole, "{name}, byte by byte");
            }
        }
    }
}

#[test]
fn who_looks_sees_head_and_content_and_a_head_alone_has_a_length_of_what_does_not_come() {
    let said =
        [frame(HEADERS, CONTINUE), frame(HEADERS, OK_OF_5), frame(DATA, b"he"), frame(DATA, b"llo"), frame(HEADERS, TRAILERS)].concat();
    let (verdict, seen) = answer(&[&said], (false, true));
    assert_eq!((verdict, seen), (Ok(200), Seen { head: "200 content-length=5".to_owned(), body: b"hello".to_vec() }));
    assert_eq!(answer(&[&said], (false, false)).1, Seen::default());
    assert_eq!(answer(&[&frame(HEADERS, OK_OF_5)], (true, false)).0, Ok(200));
}

#[test]
fn a_head_that_comes_again_is_judged_as_it_was() {
    let (mut reply, mut known) = (Reply::default(), KnownHead::default());
    for content in [&b"hello"[..], b"again", b"short"] {
        reply.begin(false, false);
        let said = [frame(HEADERS, OK_OF_5), frame(DATA, content)].concat();
        assert_eq!(reply.take(&said, &mut known, &mut ()), Ok(()));
        assert_eq!((reply.end(), reply.status), (Ok(()), 200));
    }
    reply.begin(false, false);
    assert_eq!(reply.take(&frame(HEADERS, OK_OF_5), &mut known, &mut ()), Ok(()));
    assert_eq!(reply.end().unwrap_err().failure, Failure::RecvEofInBody);
}

/// A stream of the server's that says this, and then ends.
fn one_way(pieces: &[&[u8]]) -> Result<Option<u64>, Breach> {
    let mut stream = OneWay::new();
    pieces.iter().try_for_each(|piece| stream.take(piece))?;
    Ok(if let OneWay::Control(control) = &stream { control.goes_away } else { None })
}

#[test]
fn what_a_server_says_of_a_connection_is_held_to_the_rules() {
    let control = |frames: &[Vec<u8>]| [&[0][..], &frames.concat()].concat();
    let settings = frame(SETTINGS, &[1, 0x40, 100, 33, 5]);
    for (name, said, expected) in [
        ("settings", control(std::slice::from_ref(&settings)), Ok(None)),
        ("it goes", control(&[settings.clone(), frame(GOAWAY, &[0x40, 8])]), Ok(Some(8))),
        ("it goes earlier", control(&[settings.clone(), frame(GOAWAY, &[12]), frame(33, b"x"), frame(GOAWAY, &[4])]), Ok(Some(4))),
        ("it goes later", control(&[settings.clone(), frame(GOAWAY, &[4]), frame(GOAWAY, &[8])]), Err(Code::ID_ERROR)),
        ("it goes at a stream of its own", control(&[settings.clone(), frame(GOAWAY, &[3])]), Err(Code::ID_ERROR)),
        ("settings twice", control(&[settings.clone(), settings.clone()]), Err(Code::FRAME_UNEXPECTED)),
        ("no settings", control(&[frame(GOAWAY, &[4])]), Err(Code::MISSING_SETTINGS)),
        ("half of a setting", control(&[frame(SETTINGS, &[1, 0x40])]), Err(Code::FRAME_ERROR)),
        ("a setting of HTTP/2", control(&[frame(SETTINGS, &[3, 40])]), Err(Code::SETTINGS_ERROR)),
        ("content", control(&[settings.clone(), frame(DATA, b"x")]), Err(Code::FRAME_UNEXPECTED)),
        ("a push", vec![1, 0], Err(Code::ID_ERROR)),
        ("a table", vec![2, 0x20], Ok(None)),
        ("what nobody knows", vec![0x40, 0x54, 1, 2, 3], Ok(None)),
    ] {
        let whole = one_way(&[&said]).map_err(|Breach(code, _)| code);
        assert_eq!(whole, expected, "{name}");
        assert_eq!(one_way(&said.chunks(1).collect::<Vec<_>>()).map_err(|Breach(code, _)| code), whole, "{name}, byte by byte");
    }
    let ended = |said: &[u8]| {
        let mut stream = OneWay::new();
        stream.take(said).unwrap();
        stream.end().map_err(|Breach(code, _)| code)
    };
    assert_eq!(ended(&control(&[settings])), Err(Code::CLOSED_CRITICAL_STREAM));
    assert_eq!(ended(&[2]), Err(Code::CLOSED_CRITICAL_STREAM));
    assert_eq!(ended(&[0x40, 0x54]), Ok(()));
}

/// A frame as servers send it, mostly.
fn frames() -> impl Strategy<Value = Vec<u8>> {
    let heads = proptest::sample::select(vec![OK, CONTINUE, NOT_FOUND, OK_OF_5, TRAILERS, &[0, 0, 0xff]]);
    let content = prop_oneof![3 => heads.prop_map(<[u8]>::to_vec), 2 => proptest::collection::vec(any::<u8>(), 0..12)];
    let kind = prop_oneof![6 => 0_u64..2, 1 => any::<u8>().prop_map(u64::from)];
    proptest::collection::vec((kind, content).prop_map(|(kind, content)| frame(kind, &content)), 0..8).prop_map(|frames| frames.concat())
}

proptest! {
    #[test]
    fn any_bytes_have_one_meaning_wherever_they_are_cut(
        said in prop_oneof![3 => frames(), 1 => proptest::collection::vec(any::<u8>(), 0..40)],
        looks in any::<bool>(),
        cut in any::<proptest::sample::Index>(),
    ) {
        let cut = cut.index(said.len() + 1);
        let whole = answer(&[&said], (false, looks));
        prop_assert_eq!(answer(&[&said[..cut], &said[cut..]], (false, looks)), whole);
        let mut number = Vec::new();
        write_number(&mut number, 0);
        let control = [&number[..], &said].concat();
        let whole = one_way(&[&control]);
        prop_assert_eq!(one_way(&[&control[..cut], &control[cut..]]), whole);
    }
}
