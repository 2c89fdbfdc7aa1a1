//! Settings of a load that say how its steps go over the wire: packed answers, and bodies that wait for the server's word.

use super::*;

/// A price of 17 bytes in a frame of Brotli that packs nothing (RFC 7932 §9.2), so that it is text: 21 bytes.
const PACKED: &str = "\u{0}\u{1}\u{10}{\"price\":12.0000}\u{3}";

#[test]
fn packed_answers_are_asked_for_in_each_step_and_counted_and_those_that_are_looked_into_unpacked() {
    let packed = |after_ms| (after_ms, 200, "Content-Encoding: br\r\n".to_owned(), PACKED.to_owned());
    let (server, log) = serving(move |seen| if seen.line == "GET /plain" { plain(1, "{}") } else { packed(1) });
    let text = r"
load: {users: 1, requests: 8, compressed: true}
steps:
  - get: /price
    checks: [json $.price exists]
  - get: /unread
  - get: /plain
  - get: /own
    headers: {Accept-Encoding: br}
";
    let Collected { summary, .. } = run(&server, text);
    let packed = summary.packed;
    assert_eq!((packed.br, packed.answers(), packed.unpacked, packed.bytes_packed, packed.bytes_unpacked), (6, 6, 2, 2 * 21, 2 * 17));
    let step = &summary.scenario.as_ref().unwrap().steps[0];
    assert_eq!((step.checks[0].held, step.checks[0].failed), (2, 0));
    let asked: Vec<String> = log.borrow().iter().take(4).map(|seen| seen.header("accept-encoding").to_owned()).collect();
    assert_eq!(asked, ["gzip, br, zstd, deflate", "gzip, br, zstd, deflate", "gzip, br, zstd, deflate", "br"]);
}

#[test]
fn what_nobody_asked_for_is_unpacked_and_not_counted() {
    let (server, log) = serving(|_| (1, 200, "Content-Encoding: br\r\n".to_owned(), PACKED.to_owned()));
    let Collected { summary, .. } = run(&server, "load: {users: 1, requests: 3}\nsteps: [{get: /, checks: [json $.price exists]}]\n");
    assert!(summary.packed.is_empty());
    assert_eq!((summary.requests.succeeded, log.borrow()[0].header("accept-encoding")), (3, ""));
}

#[test]
fn bodies_of_steps_wait_for_the_servers_word() {
    // It never says it, and reads what comes.
    let (server, log) = serving(|_| plain(0, ""));
    let text = "
load: {users: 1, requests: 6, expect_continue: true}
steps:
  - get: /a
  - post: /b
    body: x=1
  - post: /c
    body: x=1
    headers: {Expect: nothing}
";
    let Collected { summary, .. } = run(&server, text);
    assert_eq!((summary.requests.succeeded, summary.awaited.ran_out, summary.awaited.continued), (6, 2, 0));
    let told: Vec<String> = log.borrow().iter().take(3).map(|seen| seen.header("expect").to_owned()).collect();
    assert_eq!(told, ["", "100-continue", "nothing"]);
    assert_eq!(summary.scenario.as_ref().unwrap().steps[1].response_time.max(), Some(Nanos::SECOND));
}
