//! WebSocket, against servers whose timing is known: what a message and its answer are, and what came besides.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use measure::{Failure, Summary, WebSocketCounts};
use plan::{Nanos, Plan};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::time::{Instant, sleep};

use super::told::{count, of};
use super::{Simulation, given, plan, read_request};
use crate::protocol::websocket::accept;

/// A server's end of a connection that was agreed on.
struct Talk(DuplexStream);

impl Talk {
    /// Agrees to a handshake; `None` when the client is gone.
    async fn begin(mut stream: DuplexStream) -> Option<Self> {
        let asked = read_request(&mut stream).await?;
        let key = asked.split_once("Sec-WebSocket-Key: ").expect("a key").1.split_once('\r').expect("a line").0;
        let mut talk = Self(stream);
        let packs = if asked.contains("permessage-deflate") {
            "Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover\r\n"
        } else {
            ""
        };
        let agreed = format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n{packs}Sec-WebSocket-Accept: {}\r\n\r\n",
            accept(key)
        );
        talk.say(agreed.as_bytes()).await;
        Some(talk)
    }

    async fn say(&mut self, bytes: &[u8]) {
        // A client that has hung up does not want it.
        let _ = self.0.write_all(bytes).await;
    }

    /// A short frame, unmasked.
    async fn frame(&mut self, first: u8, payload: &[u8]) {
        let head = [first, u8::try_from(payload.len()).expect("a short payload")];
        self.say(&[&head, payload].concat()).await;
    }

    /// The next short frame: its first byte and what it carries; `None` when the client is gone.
    async fn next(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut head = [0; 6];
        self.0.read_exact(&mut head).await.ok()?;
        let [first, length, mask @ ..] = head;
        assert!(length & 0x80 != 0, "a client masks");
        let mut payload = vec![0; usize::from(length & 0x7f)];
        self.0.read_exact(&mut payload).await.ok()?;
        payload.iter_mut().zip(mask.iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
        Some((first, payload))
    }

    /// The next message, whatever comes before it.
    async fn message(&mut self) -> Option<Vec<u8>> {
        loop {
            match self.next().await? {
                (0x81 | 0x82, payload) => return Some(payload),
                (0x88, _) => return None,
                _ => {}
            }
        }
    }
}

/// A server that sends back each message after so long.
fn echo(took: Duration) -> Simulation {
    Simulation::of(move |stream, _| async move {
        let Some(mut talk) = Talk::begin(stream).await else { return };
        while let Some(message) = talk.message().await {
            sleep(took).await;
            talk.frame(0x81, &message).await;
        }
    })
}

fn load(settings: impl FnOnce(&mut plan::Draft)) -> Plan {
    plan(|draft| {
        (draft.url, draft.message) = (Some("ws://simulated.test/chat".to_owned()), Some("hello".to_owned()));
        settings(draft);
    })
}

fn told(summary: &Summary) -> &WebSocketCounts {
    summary.websockets.as_deref().expect("connections of WebSocket")
}

fn millis(time: Option<Nanos>) -> f64 {
    time.expect("a time").as_millis_f64()
}

#[test]
fn a_message_and_its_answer_are_a_request() {
    let summary = echo(Duration::from_millis(10)).run(&load(|draft| (draft.connections, draft.duration) = (given("3"), given("1s"))));
    assert_eq!((summary.requests.due, summary.requests.succeeded, summary.requests.failed), (300, 300, 0));
    assert_eq!(summary.status.iter().map(|(status, count)| (*status, *count)).collect::<Vec<_>>(), [(101, 300)]);
    assert_eq!((millis(summary.response_time.min()), millis(summary.response_time.max())), (10.0, 10.0));
    // Six bytes before five, and two before five.
    assert_eq!((summary.bytes.sent, summary.bytes.received), (300 * 11, 300 * 7));
    assert_eq!((summary.connections.opened, summary.connections.websocket, told(&summary).handshake.count()), (3, 3, 3));
    assert!(told(&summary).unasked.is_nothing());
    let between = &told(&summary).between_messages;
    assert_eq!(
        (between.count(), millis(between.min()), millis(between.max())),
        (297, 10.0, 10.0),
        "each connection's first has none before it"
    );
}

#[test]
fn a_stalled_server_shows_as_over_http() {
    // The same arithmetic as over HTTP/1.1: a tenth of the messages falls into a stall, spread evenly over 0 to 200 ms.
    let begin: Rc<Cell<Option<Instant>>> = Rc::default();
    let stalling = Simulation::of(move |stream, _| {
        let begin = begin.clone();
        async move {
            let Some(mut talk) = Talk::begin(stream).await else { return };
            while let Some(message) = talk.message().await {
                let start = begin.get().unwrap_or_else(Instant::now);
                begin.set(Some(start));
                let into = start.elapsed().as_millis() as u64 % 2_000;
                if into < 200 {
                    sleep(Duration::from_millis(200 - into)).await;
                }
                talk.frame(0x81, &message).await;
            }
        }
    });
    let summary = stalling.run(&load(|draft| {
        (draft.rate, draft.duration, draft.connections) = (given("100/s"), given("60s"), given("100"));
    }));
    assert_eq!((summary.requests.succeeded, summary.requests.failed, summary.requests.unsent), (6000, 0, 0));
    for (quantile, expected) in [(0.95, 100.0), (0.99, 180.0)] {
        let seen = millis(summary.response_time.quantile(quantile));
        assert!((seen - expected).abs() <= 10.0 + expected * 0.02, "p{quantile}: {seen}");
    }
}

#[test]
fn what_comes_unasked_is_counted_and_is_no_answer() {
    let server = Simulation::of(|stream, _| async move {
        let Some(mut talk) = Talk::begin(stream).await else { return };
        talk.frame(0x81, b"welcome").await;
        while let Some(message) = talk.message().await {
            sleep(Duration::from_millis(1)).await;
            talk.frame(0x89, b"ping").await;
            // In two fragments, a ping in between.
            talk.frame(0x01, &message[..2]).await;
            talk.frame(0x89, b"again").await;
            sleep(Duration::from_millis(4)).await;
            talk.frame(0x80, &message[2..]).await;
            assert_eq!(talk.next().await, Some((0x8a, b"ping".to_vec())));
            assert_eq!(talk.next().await, Some((0x8a, b"again".to_vec())));
            sleep(Duration::from_millis(1)).await;
            talk.frame(0x82, b"news").await;
        }
    });
    let summary = server.run(&load(|draft| (draft.connections, draft.requests, draft.pause) = (given("2"), given("20"), given("10ms"))));
    assert_eq!((summary.requests.succeeded, summary.requests.failed), (20, 0));
    assert_eq!(millis(summary.response_time.max()), 5.0);
    // After the last answer of each nobody waits for what comes.
    let unasked = &told(&summary).unasked;
    assert!((20..=22).contains(&unasked.messages), "{unasked:?}");
    assert_eq!(unasked.pings, 40);
    let between = &told(&summary).between_messages;
    // From an answer to the news behind it, and from those to the next answer.
    assert_eq!((millis(between.min()), millis(between.max())), (1.0, 14.0));
}

#[test]
fn a_close_fails_what_waits_and_is_counted_by_its_code() {
    let server = Simulation::of(|stream, _| async move {
        let Some(mut talk) = Talk::begin(stream).await else { return };
        for number in 0..3 {
            let Some(message) = talk.message().await else { return };
            sleep(Duration::from_millis(10)).await;
            if number < 2 {
                talk.frame(0x81, &message).await;
            }
        }
        talk.frame(0x88, b"\x03\xf5enough").await;
        assert_eq!(talk.next().await, Some((0x88, b"\x03\xf5".to_vec())), "a close is answered");
    });
    let summary = server.run(&load(|draft| (draft.connections, draft.requests) = (given("1"), given("9"))));
    assert_eq!((summary.requests.succeeded, count(&summary, Failure::WebSocketClosed)), (6, 3));
    assert_eq!(told(&summary).unasked.closes.iter().map(|(code, count)| (*code, *count)).collect::<Vec<_>>(), [(1013, 3)]);
    let example = summary.failures[0].example.as_ref().unwrap();
    assert!(example.text.ends_with("code 1013: enough"), "{}", example.text);
    assert_eq!((summary.connections.opened, summary.connections.closed_by_server), (3, 3));
}

#[test]
fn a_server_that_closes_an_idle_connection_is_left_for_a_new_one() {
    let server = Simulation::of(|stream, _| async move {
        let Some(mut talk) = Talk::begin(stream).await else { return };
        if let Some(message) = talk.message().await {
            talk.frame(0x81, &message).await;
            sleep(Duration::from_millis(5)).await;
            talk.frame(0x88, b"\x03\xe9").await;
        }
    });
    let summary = server.run(&load(|draft| (draft.connections, draft.requests, draft.pause) = (given("1"), given("5"), given("20ms"))));
    assert_eq!((summary.requests.succeeded, summary.requests.failed, summary.connections.opened), (5, 0, 5));
}

#[test]
fn handshakes_that_are_refused_are_tried_again_with_rests() {
    let server = Simulation::of(|mut stream, _| async move {
        if read_request(&mut stream).await.is_some() {
            let _ = stream.write_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n").await;
        }
    });
    let summary = server.run(&load(|draft| (draft.connections, draft.duration) = (given("1"), given("10s"))));
    assert_eq!((summary.requests.succeeded, summary.requests.failed), (0, count(&summary, Failure::WebSocketRefused)));
    assert!((10..40).contains(&summary.requests.failed), "{:?}", summary.requests);
    assert_eq!(summary.websockets, None);
}

#[test]
fn a_message_without_an_answer_is_a_timeout_and_its_connection_is_not_used_again() {
    let server = Simulation::of(|stream, _| async move {
        let Some(mut talk) = Talk::begin(stream).await else { return };
        while talk.message().await.is_some() {
            talk.frame(0x89, b"").await;
        }
    });
    let summary = server.run(&load(|draft| {
        (draft.connections, draft.requests, draft.timeout) = (given("1"), given("3"), given("1s"));
    }));
    assert_eq!(count(&summary, Failure::RecvIdleTimeout), 3);
    assert_eq!(summary.connections, measure::Connections { http2: 0, websocket: 3, ..of(3, 0, 3) });
}

#[test]
fn what_breaks_a_rule_has_its_class() {
    let server = Simulation::of(|stream, _| async move {
        let Some(mut talk) = Talk::begin(stream).await else { return };
        if talk.message().await.is_some() {
            talk.frame(0x83, b"?").await;
            assert_eq!(talk.next().await, Some((0x88, b"\x03\xea".to_vec())), "it is told which rule: 1002");
        }
    });
    let summary = server.run(&load(|draft| (draft.connections, draft.requests) = (given("1"), given("2"))));
    assert_eq!(count(&summary, Failure::WebSocketProtocol), 2);
}

#[test]
fn without_keep_alive_each_message_has_its_own_handshake() {
    let plan = load(|draft| (draft.connections, draft.requests, draft.no_keepalive) = (given("2"), given("8"), true));
    let summary = echo(Duration::from_millis(1)).run(&plan);
    assert_eq!((summary.requests.succeeded, summary.connections.websocket, summary.connections.closed_by_us), (8, 8, 8));
}

#[test]
fn messages_are_packed_where_the_server_agrees() {
    let echo = Simulation::of(|stream, _| async move {
        let Some(mut talk) = Talk::begin(stream).await else { return };
        let mut number = 0;
        while let Some((0xc1, packed)) = talk.next().await {
            sleep(Duration::from_millis(1)).await;
            number += 1;
            // Packed as it came, not packed at all, and broken.
            match number {
                1 => talk.frame(0xc1, &packed).await,
                2 => talk.frame(0x81, b"plain").await,
                _ => talk.frame(0xc1, b"\xff\xff\xff").await,
            }
        }
    });
    let summary = echo.run(&load(|draft| {
        (draft.connections, draft.requests) = (given("1"), given("3"));
        (draft.message, draft.message_deflate) = (Some("x".repeat(10_000)), true);
    }));
    assert_eq!((summary.requests.succeeded, count(&summary, Failure::WebSocketProtocol)), (2, 1));
    assert_eq!(told(&summary).deflates, 1);
    assert!(summary.bytes.sent < 500, "{}", summary.bytes.sent);
}
