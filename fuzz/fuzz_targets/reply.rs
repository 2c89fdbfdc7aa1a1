//! The HTTP/1 reader, fed anything in any pieces.
//!
//! The first byte says what was asked, the second how the rest is cut. Whatever the bytes: no panic, and the verdict on
//! the reply does not depend on where they were cut; but for bytes behind its end, which the reader sees only if they came
//! with its last ones. Later ones belong to whoever holds the connection.
#![no_main]

use engine::protocol::http1::{Finished, Progress, Reply, ResponseFraming};
use libfuzzer_sys::fuzz_target;
use measure::Failure;

fuzz_target!(|bytes: &[u8]| {
    let [framing, cut, reply @ ..] = bytes else { return };
    let framing = match framing % 3 {
        0 => ResponseFraming::Other,
        1 => ResponseFraming::Head,
        _ => ResponseFraming::Connect,
    };
    let whole = read(framing, reply, usize::MAX);
    let piece = usize::from(*cut).max(1);
    for piece in [piece, 1] {
        let cut = read(framing, reply, piece);
        assert!(alike(&cut, &whole, piece, reply.len()), "cut into pieces of {piece}: {cut:?}, and whole: {whole:?}");
    }
});

/// What was said about the reply, and how many bytes belong to it.
#[derive(Debug, PartialEq)]
enum Verdict {
    More,
    Done { status: u16, reusable: bool, interims: u8, body_bytes: u64, consumed: usize },
    Failed(Failure),
}

/// Whether both say the same, but for what stands behind the end and did not come with it: that breaks a reply, or its connection.
fn alike(cut: &Verdict, whole: &Verdict, piece: usize, bytes: usize) -> bool {
    let Verdict::Done { status, interims, body_bytes, consumed, .. } = *cut else { return cut == whole };
    let unseen = consumed.next_multiple_of(piece) < bytes;
    let closed = Verdict::Done { status, reusable: false, interims, body_bytes, consumed };
    cut == whole || (unseen && (*whole == closed || *whole == Verdict::Failed(Failure::ProtoExtraData)))
}

fn read(framing: ResponseFraming, reply: &[u8], piece: usize) -> Verdict {
    let mut reader = Reply::new();
    reader.begin(framing);
    let mut before = 0;
    for slice in reply.chunks(piece.min(reply.len().max(1))) {
        match reader.feed(slice, &mut ()) {
            Progress::More => before += slice.len(),
            Progress::Done(Finished { status, reusable, interims, body_bytes, consumed, .. }) => {
                assert!(consumed <= slice.len(), "more was consumed than given");
                return Verdict::Done { status, reusable, interims, body_bytes, consumed: before + consumed };
            }
            Progress::Failed(failure) => return Verdict::Failed(failure),
        }
    }
    Verdict::More
}
