//! The HTTP/1 reader against the whole table of cases, cut in every way.
//!
//! The one property that matters: a verdict is a function of what the server sent, not of how the network cut it.

use engine::protocol::http1::cases::{Case, Expected, Then, cases};
use engine::protocol::http1::{Finished, HEAD_BYTES_MAX, KnownHead, Progress, Reply, ResponseFraming};
use engine::protocol::{Header, ResponseSink};
use measure::{Failure, Quirk};
use proptest::prelude::*;

/// What came of a request; the quirks as a list.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Verdict {
    Answered { status: u16, body_bytes: u64, reusable: bool, interims: u8, quirks: Vec<Quirk> },
    Failed(Failure),
    Unfinished,
}

impl Verdict {
    fn of(outcome: Result<Finished, Failure>) -> Self {
        match outcome {
            Ok(finished) => Self::Answered {
                status: finished.status,
                body_bytes: finished.body_bytes,
                reusable: finished.reusable,
                interims: finished.interims,
                // An empty line that turns out to begin a body or more bytes, when the next piece comes, was not one.
                quirks: (finished.quirks.iter())
                    .filter(|quirk| {
                        let more = [Quirk::BodyUnexpected, Quirk::ExtraData];
                        *quirk != Quirk::ExtraBlankLine || !more.iter().any(|more| finished.quirks.contains(*more))
                    })
                    .collect(),
            },
            Err(failure) => Self::Failed(failure),
        }
    }

    fn is(&self, expected: Expected) -> bool {
        match (self, expected) {
            (
                Self::Answered { status, body_bytes, reusable, quirks, .. },
                Expected::Answered { status: s, body_bytes: b, reusable: r, quirks: q },
            ) => (*status, *body_bytes, *reusable, quirks.as_slice()) == (s, b, r, q),
            (Self::Failed(failure), Expected::Failed(f)) => *failure == f,
            (Self::Unfinished, Expected::Unfinished) => true,
            _ => false,
        }
    }
}

/// What the pieces come to where the last heads are remembered.
fn read_knowing<'a>(framing: ResponseFraming, pieces: impl Iterator<Item = &'a [u8]>, then: Then, known: &mut KnownHead) -> Verdict {
    read_by(framing, pieces, then, &mut |reply, piece| reply.feed_knowing(piece, &mut (), Some(&mut *known)))
}

/// Feeds the pieces in turn; what comes after the end is judged as one piece.
fn read<'a>(framing: ResponseFraming, pieces: impl Iterator<Item = &'a [u8]>, then: Then, observer: &mut impl ResponseSink) -> Verdict {
    read_by(framing, pieces, then, &mut |reply, piece| reply.feed(piece, observer))
}

fn read_by<'a>(
    framing: ResponseFraming,
    pieces: impl Iterator<Item = &'a [u8]>,
    then: Then,
    feed: &mut dyn FnMut(&mut Reply, &[u8]) -> Progress,
) -> Verdict {
    let mut reply = Reply::new();
    reply.begin(framing);
    let mut pieces = pieces;
    while let Some(piece) = pieces.next() {
        match feed(&mut reply, piece) {
            Progress::More => {}
            Progress::Failed(failure) => return Verdict::Failed(failure),
            Progress::Done(finished) => {
                let consumed = finished.consumed;
                assert!(consumed <= piece.len());
                let mut rest = piece[consumed..].to_vec();
                rest.extend(pieces.flatten());
                return Verdict::of(finished.followed_by(&rest));
            }
        }
    }
    if then == Then::Closes { Verdict::of(reply.closed()) } else { Verdict::Unfinished }
}

fn verdict(case: &Case, cuts: &[usize]) -> Verdict {
    let mut pieces = Vec::new();
    let mut start = 0;
    for &cut in cuts {
        pieces.push(&case.sends[start..cut]);
        start = cut;
    }
    pieces.push(&case.sends[start..]);
    read(case.framing, pieces.into_iter(), case.then, &mut ())
}

fn shown(case: &Case) -> String {
    let sends = &case.sends[..case.sends.len().min(200)];
    format!("case {} ({}): {}", case.number, case.name, sends.escape_ascii())
}

#[test]
fn every_case_gets_its_verdict() {
    for case in cases() {
        let verdict = verdict(&case, &[]);
        assert!(verdict.is(case.expected), "{}\n got {verdict:?}\nwant {:?}", shown(&case), case.expected);
    }
}

#[test]
fn every_case_gets_its_verdict_cut_in_two_anywhere() {
    for case in cases() {
        // Long cases are long by repetition: their beginning and their end are cut everywhere, the rest here and there.
        let length = case.sends.len();
        let step = length / 500 + 1;
        let anywhere = (0..length.min(300)).chain((0..length).step_by(step)).chain(length.saturating_sub(100)..=length);
        for cut in anywhere {
            let verdict = verdict(&case, &[cut]);
            assert!(verdict.is(case.expected), "{}\ncut at {cut}: got {verdict:?}", shown(&case));
        }
    }
}

#[test]
fn every_case_gets_its_verdict_one_byte_at_a_time() {
    for case in cases() {
        let verdict = read(case.framing, case.sends.chunks(1), case.then, &mut ());
        assert!(verdict.is(case.expected), "{}\n got {verdict:?}", shown(&case));
    }
}

/// Every case, read with the head of the one before it and then with its own remembered, whole and cut.
#[test]
fn a_head_that_is_known_changes_no_verdict() {
    let mut known = KnownHead::default();
    for case in cases() {
        for cut in [0, 0, case.sends.len() / 2, case.sends.len().saturating_sub(1), 0] {
            let (first, second) = case.sends.split_at(cut);
            let pieces = [first, second].into_iter().filter(|piece| !piece.is_empty());
            let verdict = read_knowing(case.framing, pieces, case.then, &mut known);
            assert!(verdict.is(case.expected), "{}\ncut at {cut}: got {verdict:?}", shown(&case));
        }
    }
}

#[test]
fn one_reader_reads_every_case_one_after_the_other() {
    let mut reply = Reply::new();
    for case in cases() {
        for size in [case.sends.len().max(1), 7] {
            reply.begin(case.framing);
            let mut progress = Progress::More;
            for piece in case.sends.chunks(size) {
                progress = reply.feed(piece, &mut ());
                if progress != Progress::More {
                    break;
                }
            }
            let failed = matches!(case.expected, Expected::Failed(_)) && case.then == Then::Waits;
            if failed && size != 7 {
                assert!(matches!(progress, Progress::Failed(_)), "{}", shown(&case));
            }
        }
    }
    reply.begin(ResponseFraming::Other);
    let progress = reply.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", &mut ());
    assert!(matches!(progress, Progress::Done(finished) if finished.reusable && finished.quirks.is_empty()));
}

#[test]
fn a_tunnel_gets_the_bytes_that_follow_its_head() {
    let mut reply = Reply::new();
    reply.begin(ResponseFraming::Connect);
    let sends = b"HTTP/1.1 200 OK\r\n\r\ntunnelled";
    let Progress::Done(finished) = reply.feed(sends, &mut ()) else { panic!("not done") };
    assert_eq!(&sends[finished.consumed..], b"tunnelled");
}

#[test]
fn bytes_fed_after_the_end_are_our_own_mistake() {
    let mut reply = Reply::new();
    assert!(matches!(reply.feed(b"HTTP/1.1 204 X\r\n\r\n", &mut ()), Progress::Done(_)));
    assert!(reply.is_over());
    assert_eq!(reply.feed(b"x", &mut ()), Progress::Failed(Failure::ClientInternal));
    assert_eq!(reply.closed(), Err(Failure::ClientInternal));
}

type SeenHeader = (String, Vec<u8>);

/// Keeps everything it is shown.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    heads: Vec<(u16, Vec<SeenHeader>)>,
    body: Vec<u8>,
}

impl ResponseSink for Seen {
    fn head(&mut self, status: u16, headers: &[Header<'_>]) {
        let headers = headers.iter().map(|header| (header.name.to_owned(), header.value.to_vec())).collect();
        self.heads.push((status, headers));
    }

    fn body(&mut self, bytes: &[u8]) {
        self.body.extend_from_slice(bytes);
    }
}

#[test]
fn an_observer_sees_the_final_head_and_the_content_however_they_are_cut() {
    let sends = b"HTTP/1.1 103 Hints\r\nX: y\r\n\r\nHTTP/1.1 200 OK\r\nSet-Cookie:  a=b \r\nTransfer-Encoding: chunked\r\n\
        Empty:\r\n\r\n3;x\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: t\r\n\r\n";
    let header = |name: &str, value: &str| (name.to_owned(), value.as_bytes().to_vec());
    let expected = Seen {
        heads: vec![(200, vec![header("Set-Cookie", "a=b"), header("Transfer-Encoding", "chunked"), header("Empty", "")])],
        body: b"abcde".to_vec(),
    };
    for size in 1..=sends.len() {
        let mut seen = Seen::default();
        read(ResponseFraming::Other, sends.chunks(size), Then::Waits, &mut seen);
        assert_eq!(seen, expected, "by {size}");
    }
}

#[test]
fn a_folded_header_is_seen_on_one_line() {
    let mut seen = Seen::default();
    let sends = b"HTTP/1.1 204 X\r\nA: b\r\n\tc\n d\r\n\r\n";
    read(ResponseFraming::Other, sends.chunks(3), Then::Waits, &mut seen);
    assert_eq!(seen.heads, [(204, vec![("A".to_owned(), b"b  \tc  d".to_vec())])]);
}

/// A case small enough to be cut and mutated thousands of times, and the pieces it comes in.
fn small_case() -> impl Strategy<Value = Case> {
    let small: Vec<Case> = cases().into_iter().filter(|case| case.sends.len() < 2000).collect();
    proptest::sample::select(small)
}

/// Where to cut, as fractions of 2¹⁶.
fn cuts() -> impl Strategy<Value = Vec<u16>> {
    proptest::collection::vec(any::<u16>(), 0..6)
}

fn places(cuts: &[u16], length: usize) -> Vec<usize> {
    let mut places: Vec<usize> = cuts.iter().map(|&cut| (usize::from(cut) * (length + 1)) >> 16).collect();
    places.sort_unstable();
    places
}

/// Bytes that mean something to a parser, more often than any others.
fn byte() -> impl Strategy<Value = u8> {
    prop_oneof![proptest::sample::select(b"\r\n\t :;,0159aAfFx-+\0\x7f\xffHTP/.".to_vec()), any::<u8>()]
}

/// A change to a case: what, where, which byte.
fn changes() -> impl Strategy<Value = Vec<(u8, u16, u8)>> {
    proptest::collection::vec((0..4_u8, any::<u16>(), byte()), 1..5)
}

fn change(bytes: &mut Vec<u8>, changes: &[(u8, u16, u8)]) {
    for &(what, place, byte) in changes {
        let at = (usize::from(place) * (bytes.len() + 1)) >> 16;
        match what {
            0 => bytes.insert(at, byte),
            1 if at < bytes.len() => bytes[at] = byte,
            2 if at < bytes.len() => drop(bytes.remove(at)),
            3 => {
                let copied: Vec<u8> = bytes.iter().skip(at).take(usize::from(byte)).copied().collect();
                bytes.splice(at..at, copied);
            }
            _ => {}
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_case_gets_its_verdict_cut_anywhere(case in small_case(), cuts in cuts()) {
        let verdict = verdict(&case, &places(&cuts, case.sends.len()));
        prop_assert!(verdict.is(case.expected), "{}: {verdict:?}", shown(&case));
    }

    #[test]
    fn a_mutated_case_gets_the_same_verdict_whole_cut_and_by_bytes(
        mut case in small_case(), changes in changes(), cuts in cuts(),
    ) {
        change(&mut case.sends, &changes);
        let mut seen_whole = Seen::default();
        let whole = read(case.framing, std::iter::once(&case.sends[..]), case.then, &mut seen_whole);
        let mut seen_bytes = Seen::default();
        let bytes = read(case.framing, case.sends.chunks(1), case.then, &mut seen_bytes);
        prop_assert_eq!(&whole, &verdict(&case, &places(&cuts, case.sends.len())), "{}", case.sends.escape_ascii());
        prop_assert_eq!(&whole, &bytes, "{}", case.sends.escape_ascii());
        prop_assert_eq!(seen_whole, seen_bytes, "{}", case.sends.escape_ascii());
    }

    #[test]
    fn random_bytes_get_a_verdict_and_the_same_one_cut(
        beginning in proptest::sample::select(vec![
            "", "H", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length:",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding:",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n",
        ]),
        random in proptest::collection::vec(byte(), 0..200),
        cuts in cuts(),
    ) {
        let sends = [beginning.as_bytes(), &random].concat();
        let (framing, then, expected) = (ResponseFraming::Other, Then::Closes, Expected::Unfinished);
        let case = Case { number: 0, name: "random", framing, sends, then, expected };
        let whole = verdict(&case, &[]);
        prop_assert_ne!(&whole, &Verdict::Unfinished, "a closed connection always has a verdict");
        prop_assert_eq!(whole, verdict(&case, &places(&cuts, case.sends.len())), "{}", case.sends.escape_ascii());
    }
}

#[test]
fn a_head_at_the_limit_gets_the_same_verdict_however_it_is_cut() {
    for length in HEAD_BYTES_MAX - 3..=HEAD_BYTES_MAX + 3 {
        let mut sends = b"HTTP/1.1 204 X\r\nX: ".to_vec();
        sends.resize(length - 4, b'x');
        sends.extend(b"\r\n\r\n");
        let whole = read(ResponseFraming::Other, std::iter::once(&sends[..]), Then::Waits, &mut ());
        let fits = length <= HEAD_BYTES_MAX;
        assert_eq!(matches!(whole, Verdict::Answered { .. }), fits, "{length}");
        for size in [1, 1000, HEAD_BYTES_MAX - 1, HEAD_BYTES_MAX, HEAD_BYTES_MAX + 1] {
            assert_eq!(read(ResponseFraming::Other, sends.chunks(size), Then::Waits, &mut ()), whole, "{length} by {size}");
        }
    }
}
