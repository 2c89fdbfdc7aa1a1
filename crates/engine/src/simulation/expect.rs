//! Bodies that wait for the server's word, at servers that say it, say nothing, say too much, or answer at once.

use std::time::Duration;

use measure::{AwaitedBodies, Failure, Quirk, Summary};
use plan::{Nanos, Plan};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::time::{sleep, timeout};

use super::told::{count, quirk};
use super::{Simulation, answer, given, plan, read_request};

const CONTINUE: &str = "HTTP/1.1 100 Continue\r\n\r\n";

/// Users who send a body of five letters.
fn load(users: &str, requests: &str) -> Plan {
    plan(|draft| {
        (draft.connections, draft.requests, draft.timeout) = (given(users), given(requests), given("10s"));
        (draft.data, draft.expect_continue) = (Some("hello".to_owned()), true);
    })
}

async fn say(stream: &mut DuplexStream, words: &str) {
    // A client that has hung up does not want to hear it.
    let _ = stream.write_all(words.as_bytes()).await;
}

/// The body, whole.
async fn body(stream: &mut DuplexStream) {
    let mut body = [0; 5];
    stream.read_exact(&mut body).await.unwrap();
    assert_eq!(&body, b"hello");
}

/// Whether nothing comes for this long.
async fn is_silent(stream: &mut DuplexStream, millis: u64) -> bool {
    timeout(Duration::from_millis(millis), stream.read(&mut [0])).await.is_err()
}

fn awaited(summary: &Summary) -> (u64, u64, u64) {
    let AwaitedBodies { continued, ran_out, answered_first } = summary.awaited;
    (continued, ran_out, answered_first)
}

#[test]
fn a_body_is_sent_when_the_server_says_so_and_not_before() {
    let server = Simulation::of(|mut stream, _| async move {
        while let Some(head) = read_request(&mut stream).await {
            assert!(head.contains("\r\nExpect: 100-continue\r\n") && head.contains("\r\nContent-Length: 5\r\n"), "{head}");
            assert!(is_silent(&mut stream, 40).await);
            say(&mut stream, CONTINUE).await;
            body(&mut stream).await;
            sleep(Duration::from_millis(2)).await;
            answer(&mut stream, 200, "ok").await;
        }
    });
    let summary = server.run(&load("2", "10"));
    assert_eq!((summary.requests.succeeded, awaited(&summary)), (10, (10, 0, 0)), "{:?}", summary.failures);
    let exactly = Some(Nanos::from_millis(42));
    assert_eq!((summary.response_time.min(), summary.response_time.max(), summary.ttfb.max()), (exactly, exactly, exactly));
    assert_eq!((summary.connections.opened, quirk(&summary, Quirk::Interim)), (2, 0));
}

#[test]
fn a_server_that_says_nothing_is_sent_the_body_after_a_second() {
    let server = Simulation::of(|mut stream, _| async move {
        while read_request(&mut stream).await.is_some() {
            assert!(is_silent(&mut stream, 999).await);
            body(&mut stream).await;
            answer(&mut stream, 200, "ok").await;
        }
    });
    let summary = server.run(&load("3", "9"));
    assert_eq!((summary.requests.succeeded, awaited(&summary)), (9, (0, 9, 0)), "{:?}", summary.failures);
    assert_eq!((summary.response_time.min(), summary.response_time.max()), (Some(Nanos::SECOND), Some(Nanos::SECOND)));
    assert_eq!((summary.connections.opened, summary.bytes.sent % 9), (3, 0));
}

#[test]
fn a_server_that_answers_at_once_is_not_sent_the_body_and_the_connection_ends() {
    for status in [417, 413, 401, 200] {
        let server = Simulation::of(move |mut stream, _| async move {
            assert!(read_request(&mut stream).await.is_some());
            sleep(Duration::from_millis(3)).await;
            answer(&mut stream, status, "no").await;
            assert_eq!(stream.read(&mut [0]).await.unwrap(), 0, "a body came");
        });
        let summary = server.run(&load("2", "6"));
        assert_eq!((summary.status.get(&status), awaited(&summary)), (Some(&6), (0, 0, 6)), "{:?}", summary.failures);
        assert_eq!((summary.response_time.max(), summary.connections.opened), (Some(Nanos::from_millis(3)), 6));
        assert_eq!(count(&summary, Failure::CheckStatus), if status == 200 { 0 } else { 6 });
        assert_eq!(quirk(&summary, Quirk::Interim), 0);
    }
}

#[test]
fn what_is_said_besides_is_odd_and_lets_no_body_go() {
    let hints = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    // What is said before the body, and behind it; what that comes to, and after which time.
    for (before, behind, came, millis) in [
        (CONTINUE.to_owned(), CONTINUE, (4, 0, 0), 5),
        (CONTINUE.repeat(2), "", (4, 0, 0), 5),
        (hints.to_owned() + CONTINUE, "", (4, 0, 0), 5),
        (hints.to_owned(), "", (0, 4, 0), 1_000),
        (hints.to_owned(), CONTINUE, (0, 4, 0), 1_000),
    ] {
        let server = Simulation::of(move |mut stream, _| {
            let before = before.clone();
            async move {
                while read_request(&mut stream).await.is_some() {
                    sleep(Duration::from_millis(5)).await;
                    say(&mut stream, &before).await;
                    body(&mut stream).await;
                    say(&mut stream, behind).await;
                    answer(&mut stream, 200, "ok").await;
                }
            }
        });
        let summary = server.run(&load("1", "4"));
        assert_eq!((summary.requests.succeeded, awaited(&summary)), (4, came), "{:?}", summary.failures);
        assert_eq!((summary.response_time.max(), quirk(&summary, Quirk::Interim)), (Some(Nanos::from_millis(millis)), 4));
    }
}

#[test]
fn a_wait_that_ends_with_its_request_is_in_no_count() {
    let ends = Simulation::of(|mut stream, _| async move {
        read_request(&mut stream).await;
    });
    let summary = ends.run(&load("1", "2"));
    assert_eq!((summary.requests.failed, awaited(&summary)), (2, (0, 0, 0)));
    let silent = Simulation::of(|mut stream, _| async move { while stream.read(&mut [0; 999]).await.is_ok_and(|read| read > 0) {} });
    let impatient = plan(|draft| {
        (draft.connections, draft.requests, draft.timeout) = (given("1"), given("2"), given("500ms"));
        (draft.data, draft.expect_continue) = (Some("hello".to_owned()), true);
    });
    let summary = silent.run(&impatient);
    assert_eq!((count(&summary, Failure::RecvIdleTimeout), awaited(&summary)), (2, (0, 0, 0)), "{:?}", summary.failures);
    assert_eq!(summary.response_time.max(), Some(Nanos::from_millis(500)));
}
