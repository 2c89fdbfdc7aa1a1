//! Answers that are packed: counted where the plan asks for such, by what they are packed with.

use measure::Summary;
use tokio::io::{AsyncWriteExt as _, DuplexStream};

use super::{Simulation, given, plan, read_request};

/// Packs in turn with each of these; of a path that ends so, it only says how it would.
async fn packing(mut stream: DuplexStream, _: u64) {
    let packings = ["Content-Encoding: gzip\r\n", "Content-Encoding: BR\r\n", "", "Content-Encoding: gzip, zstd\r\n"];
    for packing in packings.iter().cycle() {
        let Some(head) = read_request(&mut stream).await else { return };
        let body = if head.starts_with("HEAD") { "" } else { "abcd" };
        // A client that has hung up does not want the answer.
        let _ = stream.write_all(format!("HTTP/1.1 200 OK\r\n{packing}Content-Length: 4\r\n\r\n{body}").as_bytes()).await;
    }
}

fn run(adjust: impl Fn(&mut plan::Draft)) -> Summary {
    let load = plan(|draft| {
        (draft.connections, draft.requests) = (given("2"), given("16"));
        adjust(draft);
    });
    Simulation::of(packing).run(&load)
}

#[test]
fn answers_are_counted_by_what_they_are_packed_with() {
    for follow in [None, given("3")] {
        let summary = run(|draft| (draft.compressed, draft.follow) = (true, follow.clone()));
        let packed = summary.packed;
        assert_eq!((summary.requests.succeeded, packed.gzip, packed.br, packed.other, packed.answers()), (16, 4, 4, 4, 12));
        assert_eq!((packed.unpacked, packed.bytes_unpacked), (0, 0), "nobody looks into them");
    }
}

#[test]
fn nothing_is_counted_that_nobody_asked_for_or_that_has_no_body() {
    assert!(run(|draft| draft.header = vec!["Accept-Encoding: gzip".to_owned()]).packed.is_empty());
    assert!(run(|draft| (draft.compressed, draft.method) = (true, Some("HEAD".to_owned()))).packed.is_empty());
}
