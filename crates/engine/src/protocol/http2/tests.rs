//! Servers of HTTP/2 that are known to the byte: what they count must be what comes out, and what they break has a class.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use measure::{Failure, Quirk, Summary};
use plan::{Nanos, Plan, Share, Target, WindowBytes};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::time::sleep;

mod calls;
mod stall;

use super::hpack;
use crate::protocol::EncodedRef;
use crate::simulation::told::{Heard, Numbering, count, of, quirk};
use crate::simulation::{Simulation, given, plan};
use crate::transport::Transport;
use crate::worker::{Behaviour, Client, End, Request};

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// `:status: 200` from the table that does not change.
const OK: &[u8] = &[0x88];

#[derive(Debug)]
struct Frame {
    kind: u8,
    flags: u8,
    stream: u32,
    content: Vec<u8>,
}

fn frame(kind: u8, flags: u8, stream: u32, content: &[u8]) -> Vec<u8> {
    let [_, a, b, c] = u32::try_from(content.len()).unwrap().to_be_bytes();
    [&[a, b, c, kind, flags], &stream.to_be_bytes()[..], content].concat()
}

fn settings(values: &[(u8, u32)]) -> Vec<u8> {
    let content: Vec<u8> = values.iter().flat_map(|(name, value)| [&[0, *name], &value.to_be_bytes()[..]].concat()).collect();
    frame(SETTINGS, 0, 0, &content)
}

/// The server's end of a connection.
struct Server {
    stream: DuplexStream,
    heads: hpack::Reader,
    /// Heads as they came.
    blocks: Vec<Vec<u8>>,
    /// Bytes of bodies.
    bodies: BTreeMap<u32, usize>,
}

impl Server {
    /// Reads the preface and tells its settings.
    async fn greet(mut stream: DuplexStream, values: &[(u8, u32)]) -> Option<Self> {
        let mut preface = [0; 24];
        stream.read_exact(&mut preface).await.ok()?;
        assert_eq!(&preface, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
        stream.write_all(&settings(values)).await.ok()?;
        Some(Self { stream, heads: hpack::Reader::default(), blocks: Vec::new(), bodies: BTreeMap::new() })
    }

    async fn frame(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        self.stream.read_exact(&mut head).await.ok()?;
        let mut content = vec![0; usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2])];
        self.stream.read_exact(&mut content).await.ok()?;
        Some(Frame { kind: head[3], flags: head[4], stream: u32::from_be_bytes([head[5], head[6], head[7], head[8]]), content })
    }

    /// The next request: its stream and path, its body read to the end. What the windows of bodies take is given back.
    async fn request(&mut self) -> Option<(u32, String)> {
        let mut path = None;
        loop {
            let Frame { kind, flags, stream, content } = self.frame().await?;
            match kind {
                HEADERS => {
                    let mut told = String::new();
                    let field = |name: &[u8], value: &[u8]| {
                        if name == b":path" {
                            told = String::from_utf8(value.to_vec()).unwrap();
                        }
                    };
                    self.heads.read(&content, field).unwrap();
                    path = Some(told);
                    self.blocks.push(content);
                }
                DATA => {
                    *self.bodies.entry(stream).or_default() += content.len();
                    let more = u32::try_from(content.len()).unwrap().to_be_bytes();
                    self.say(&[frame(WINDOW_UPDATE, 0, 0, &more), frame(WINDOW_UPDATE, 0, stream, &more)].concat()).await;
                }
                _ => continue,
            }
            if flags & END_STREAM != 0 {
                return Some((stream, path.unwrap()));
            }
        }
    }

    async fn say(&mut self, bytes: &[u8]) {
        // A client that has hung up does not want the answer.
        let _ = self.stream.write_all(bytes).await;
    }

    async fn answer(&mut self, stream: u32, body: &[u8]) {
        self.say(&[frame(HEADERS, END_HEADERS, stream, OK), frame(DATA, END_STREAM, stream, body)].concat()).await;
    }
}

fn load(users: &str, requests: &str, streams: &str) -> Plan {
    plan(|draft| {
        (draft.connections, draft.requests, draft.timeout) = (given(users), given(requests), given("10s"));
        (draft.http, draft.streams) = (given("2"), given(streams));
    })
}

fn heard(server: &Simulation, plan: &Plan) -> (Summary, Vec<String>) {
    let heard = Heard::default();
    let request = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: simulated.test\r\n\r\n");
    let summary = server.carry_out(plan, |_: Share| Numbering { heard: heard.clone(), pause: Nanos::ZERO, request }).summary.close();
    let heard = heard.take();
    (summary, heard)
}

#[test]
fn users_share_connections_and_each_has_its_own_answers() {
    let server = Simulation::of(|stream, _| async move {
        let Some(mut server) = Server::greet(stream, &[]).await else { return };
        while let (Some(first), Some(second)) = (server.request().await, server.request().await) {
            sleep(Duration::from_millis(1)).await;
            for (stream, path) in [second, first] {
                server.answer(stream, path.as_bytes()).await;
            }
        }
    })
    .of_http2();
    let (summary, heard) = heard(&server, &load("4", "20", "2"));
    assert_eq!((summary.requests.succeeded, summary.connections, server.dials()), (20, of(2, 0, 2), 2), "{:?}", summary.failures);
    assert_eq!(summary.response_time.max(), Some(Nanos::from_millis(1)));
    for user in 0..4 {
        assert_eq!(heard.iter().filter(|heard| **heard == format!("/{user} 200 /{user}")).count(), 5, "{heard:?}");
    }
}

/// What a server of each kind says to its only request, and what that is.
fn cases() -> Vec<(&'static str, Vec<u8>, Result<&'static str, Failure>)> {
    let ok = |rest: &[u8]| [frame(HEADERS, END_HEADERS, 1, OK), rest.to_vec()].concat();
    let head = |fields: &[(&str, &str)]| {
        let text = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
        fields.iter().flat_map(|(name, value)| [vec![0], text(name), text(value)].concat()).collect::<Vec<u8>>()
    };
    let only = |fields: &[(&str, &str)]| frame(HEADERS, END_HEADERS | END_STREAM, 1, &head(fields));
    let end = || frame(DATA, END_STREAM, 1, b"hi");
    let protocol = Err(Failure::Http2Protocol);
    vec![
        ("plain", ok(&end()), Ok("hi")),
        ("in pieces", [frame(HEADERS, 0, 1, &OK[..0]), frame(CONTINUATION, END_HEADERS, 1, OK), end()].concat(), Ok("hi")),
        ("padded", [frame(HEADERS, END_HEADERS | 8, 1, &[2, 0x88, 0, 0]), frame(DATA, END_STREAM | 8, 1, &[1, b'h', 0])].concat(), Ok("h")),
        ("with priority", [frame(HEADERS, END_HEADERS | 32, 1, &[0, 0, 0, 0, 9, 0x88]), end()].concat(), Ok("hi")),
        ("trailers", ok(&[frame(DATA, 0, 1, b"hi"), only(&[("a", "b")])].concat()), Ok("hi")),
        ("interim", [frame(HEADERS, END_HEADERS, 1, &head(&[(":status", "103"), ("link", "x")])), ok(&end())].concat(), Ok("hi")),
        ("headers", only(&[(":status", "204"), ("x-a", "1")]), Ok("x-a=1")),
        (
            "unknown frames, PING, PRIORITY",
            [frame(0x77, 9, 1, b"?"), frame(PING, 0, 0, &[1; 8]), frame(2, 0, 7, &[0; 5]), ok(&end())].concat(),
            Ok("hi"),
        ),
        ("length", only(&[(":status", "200"), ("content-length", "0")]), Ok("content-length=0")),
        ("too short", only(&[(":status", "200"), ("content-length", "3")]), Err(Failure::RecvEofInBody)),
        (
            "too long",
            [frame(HEADERS, END_HEADERS, 1, &head(&[(":status", "200"), ("content-length", "1")])), end()].concat(),
            Err(Failure::ProtoLength),
        ),
        ("two lengths", only(&[(":status", "200"), ("content-length", "1"), ("content-length", "2")]), Err(Failure::ProtoLength)),
        ("no status", only(&[("a", "b")]), Err(Failure::ProtoStatusLine)),
        ("two statuses", only(&[(":status", "200"), (":status", "200")]), Err(Failure::ProtoStatusLine)),
        ("late status", only(&[("a", "b"), (":status", "200")]), Err(Failure::ProtoStatusLine)),
        ("status that is none", only(&[(":status", "2000")]), Err(Failure::ProtoStatusLine)),
        ("other pseudo-header", only(&[(":status", "200"), (":path", "/")]), Err(Failure::ProtoStatusLine)),
        ("upper case", only(&[(":status", "200"), ("A", "b")]), Err(Failure::ProtoHeader)),
        ("line break", only(&[(":status", "200"), ("a", "b\r\nc: d")]), Err(Failure::ProtoHeader)),
        ("of a connection", only(&[(":status", "200"), ("connection", "close")]), Err(Failure::ProtoHeader)),
        ("101", frame(HEADERS, END_HEADERS, 1, &head(&[(":status", "101")])), Err(Failure::ProtoSwitch)),
        ("interim that ends", only(&[(":status", "103")]), protocol),
        ("interims without end", frame(HEADERS, END_HEADERS, 1, &head(&[(":status", "103")])).repeat(9), Err(Failure::LimitInterim)),
        ("too many headers", frame(HEADERS, END_HEADERS | END_STREAM, 1, &[OK, &[0x90; 257]].concat()), Err(Failure::LimitHeaderCount)),
        ("content first", end(), protocol),
        ("second head", ok(&frame(HEADERS, END_HEADERS, 1, OK)), protocol),
        ("reset", frame(RST_STREAM, 0, 1, &[0, 0, 0, 1]), Err(Failure::Http2Reset)),
        ("reset in the middle", ok(&frame(RST_STREAM, 0, 1, &[0, 0, 0, 2])), Err(Failure::Http2Internal)),
        ("cancelled", frame(RST_STREAM, 0, 1, &[0, 0, 0, 8]), Err(Failure::Http2Cancel)),
        ("calm", frame(RST_STREAM, 0, 1, &[0, 0, 0, 11]), Err(Failure::Http2Calm)),
        ("wants 1.1", frame(RST_STREAM, 0, 1, &[0, 0, 0, 13]), Err(Failure::Http2Needs1)),
        ("no HPACK", frame(HEADERS, END_HEADERS | END_STREAM, 1, &[0x80]), protocol),
        ("too large", vec![0, 0x40, 1, DATA, 0, 0, 0, 0, 1], protocol),
        ("push", frame(5, END_HEADERS, 1, &[0, 0, 0, 2, 0x88]), protocol),
        ("stream that was not begun", frame(HEADERS, END_HEADERS, 3, OK), protocol),
        ("stream of the server", frame(HEADERS, END_HEADERS, 2, OK), protocol),
        ("stream 0", frame(HEADERS, END_HEADERS, 0, OK), protocol),
        ("broken off", [frame(HEADERS, 0, 1, OK), frame(PING, 0, 0, &[0; 8])].concat(), protocol),
        ("goes on from nowhere", frame(CONTINUATION, END_HEADERS, 1, OK), protocol),
        ("pieces without end", [frame(HEADERS, 0, 1, OK), frame(CONTINUATION, 0, 1, &[]).repeat(8_000)].concat(), protocol),
        ("more padding than content", frame(DATA, 8, 1, &[9, 0]), protocol),
        ("window of nothing", frame(WINDOW_UPDATE, 0, 1, &[0; 4]), protocol),
        ("window beyond all", frame(WINDOW_UPDATE, 0, 0, &[0x7f, 0xff, 0xff, 0xff]), protocol),
        ("wrong sizes", frame(PING, 0, 0, &[0; 7]), protocol),
        ("settings of a stream", frame(SETTINGS, 0, 1, &[]), protocol),
        ("settings that cannot be", settings(&[(5, 1)]), protocol),
        ("PING without end", frame(PING, 0, 0, &[0; 8]).repeat(70_000), protocol),
        ("closed", Vec::new(), Err(Failure::RecvEofBeforeResponse)),
        ("closed in the body", ok(&frame(DATA, 0, 1, b"h")), Err(Failure::RecvEofInBody)),
    ]
}

/// Says this to its first request, so many bytes at a time, and closes.
fn saying(bytes: &[u8], at_once: usize) -> Simulation {
    let bytes = Rc::new(bytes.to_vec());
    Simulation::of(move |stream, _| {
        let bytes = bytes.clone();
        async move {
            let Some(mut server) = Server::greet(stream, &[]).await else { return };
            if server.request().await.is_none() {
                return;
            }
            for piece in bytes.chunks(at_once) {
                server.say(piece).await;
                tokio::task::yield_now().await;
            }
        }
    })
    .of_http2()
}

#[test]
fn what_servers_say_has_one_meaning_wherever_it_is_cut() {
    for (name, bytes, meaning) in cases() {
        let expected = match meaning {
            Ok(text) => format!("/0 {} {text}", if name == "headers" { 204 } else { 200 }),
            Err(failure) => format!("/0 {}", failure.code()),
        };
        for at_once in if bytes.len() > 1_000 { vec![1_000_000] } else { vec![1_000_000, 1, 7] } {
            let (summary, heard) = heard(&saying(&bytes, at_once), &load("1", "1", "10"));
            assert_eq!(heard, std::slice::from_ref(&expected), "{name}, {at_once} bytes at once: {:?}", summary.failures);
            assert_eq!(summary.connections.opened, summary.connections.closed_by_server + summary.connections.closed_by_us, "{name}");
        }
    }
}

#[test]
fn a_server_of_http_1_is_told_as_that() {
    let server = Simulation::of(|mut stream, _| async move {
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        let _ = stream.read_u8().await;
    })
    .of_http2();
    let (summary, _) = heard(&server, &load("1", "1", "10"));
    assert_eq!(count(&summary, Failure::Http2NotSpoken), 1, "{:?}", summary.failures);
}

#[test]
fn what_a_server_does_not_take_up_is_sent_again() {
    // The first connection takes up one of what it is asked, and leaves; the other all but one.
    let connections = Rc::new(Cell::new(0));
    let server = Simulation::of(move |stream, _| {
        let number = connections.replace(connections.get() + 1);
        async move {
            let Some(mut server) = Server::greet(stream, &[]).await else { return };
            let mut taken = 0;
            while let Some((stream, path)) = server.request().await {
                taken += 1;
                if number == 0 && taken == 1 {
                    continue;
                }
                if number == 0 && taken == 4 {
                    server.say(&frame(GOAWAY, 0, 0, &[0, 0, 0, 1, 0, 0, 0, 0])).await;
                    server.answer(1, b"first").await;
                    return;
                }
                if number == 1 && taken == 2 {
                    server.say(&frame(RST_STREAM, 0, stream, &[0, 0, 0, 7])).await;
                    continue;
                }
                if number > 0 {
                    server.answer(stream, path.as_bytes()).await;
                }
            }
        }
    })
    .of_http2();
    let (summary, heard) = heard(&server, &load("4", "20", "4"));
    assert_eq!((summary.requests.succeeded, summary.requests.failed), (20, 0), "{heard:?} {:?}", summary.failures);
    assert_eq!((quirk(&summary, Quirk::SentAgain), summary.connections), (4, of(2, 1, 1)));
}

#[test]
fn who_never_takes_anything_up_fails_what_it_is_asked() {
    let server = Simulation::of(|stream, _| async move {
        let Some(mut server) = Server::greet(stream, &[]).await else { return };
        while let Some((stream, _)) = server.request().await {
            server.say(&frame(RST_STREAM, 0, stream, &[0, 0, 0, 7])).await;
        }
    })
    .of_http2();
    let (summary, _) = heard(&server, &load("1", "3", "4"));
    assert_eq!((count(&summary, Failure::Http2Refused), quirk(&summary, Quirk::SentAgain)), (3, 9));
}

#[test]
fn no_more_streams_are_begun_than_the_server_takes() {
    let server = Simulation::of(|stream, _| async move {
        let Some(mut server) = Server::greet(stream, &[(3, 2)]).await else { return };
        let (mut under_way, mut most) = (Vec::new(), 0);
        loop {
            tokio::select! {
                biased;
                request = server.request() => match request {
                    Some((stream, _)) => {
                        under_way.push(stream);
                        most = most.max(under_way.len());
                        assert!(most <= 2);
                    }
                    None => return,
                },
                () = sleep(Duration::from_millis(1)) => for stream in std::mem::take(&mut under_way) {
                    server.answer(stream, b"").await;
                },
            }
        }
    })
    .of_http2();
    let summary = server.run(&load("6", "30", "100"));
    assert_eq!((summary.requests.succeeded, summary.connections.opened), (30, 3), "{:?}", summary.failures);
}

#[test]
fn bodies_of_both_ways_are_as_large_as_windows_let_them_be_again_and_again() {
    const BYTES: usize = 12_000_000;
    let server = Simulation::of(|stream, _| async move {
        let Some(mut server) = Server::greet(stream, &[(4, 1_000), (5, 20_000)]).await else { return };
        while let Some((stream, _)) = server.request().await {
            assert_eq!(server.bodies[&stream], 100_000);
            server.say(&frame(HEADERS, END_HEADERS, stream, OK)).await;
            let (mut left, mut window) = (BYTES, 4 * 1024 * 1024_usize);
            while left > 0 {
                while window == 0 {
                    let frame = server.frame().await.unwrap();
                    if frame.kind == WINDOW_UPDATE && frame.stream == stream {
                        window += u32::from_be_bytes(frame.content.try_into().unwrap()) as usize;
                    }
                }
                let piece = left.min(window).min(16_384);
                (left, window) = (left - piece, window - piece);
                server.say(&frame(DATA, if left == 0 { END_STREAM } else { 0 }, stream, &vec![0; piece])).await;
            }
        }
    })
    .of_http2();
    let load = plan(|draft| {
        (draft.connections, draft.requests, draft.http) = (given("1"), given("2"), given("2"));
        draft.data = Some("x".repeat(100_000));
    });
    let summary = server.run(&load);
    assert_eq!(summary.requests.succeeded, 2, "{:?}", summary.failures);
    assert!(summary.bytes.received >= 2 * BYTES as u64);
}

#[test]
fn a_request_whose_time_is_over_leaves_its_connection_to_the_others() {
    // Every fifth is never answered.
    let server = Simulation::of(|stream, _| async move {
        let Some(mut server) = Server::greet(stream, &[]).await else { return };
        let mut asked = 0;
        while let Some((stream, _)) = server.request().await {
            asked += 1;
            if asked % 5 != 0 {
                server.answer(stream, b"x").await;
            }
        }
    })
    .of_http2();
    let summary = server.run(&plan(|draft| {
        (draft.connections, draft.requests, draft.timeout) = (given("3"), given("20"), given("1s"));
        draft.http = given("2");
    }));
    assert_eq!((summary.requests.succeeded, count(&summary, Failure::RecvIdleTimeout)), (16, 4), "{:?}", summary.failures);
    assert_eq!(summary.connections, of(1, 0, 1));
    assert_eq!(summary.response_time.max(), Some(Nanos::from_secs(1)));
}

#[test]
fn more_behind_the_end_that_the_server_set_is_refused() {
    let ended = frame(HEADERS, END_HEADERS | END_STREAM, 1, OK);
    let reset = [frame(HEADERS, END_HEADERS, 1, OK), frame(RST_STREAM, 0, 1, &[0, 0, 0, 8])].concat();
    for (beginning, refused_by) in [(ended, GOAWAY), (reset, RST_STREAM)] {
        for more in [frame(DATA, END_STREAM, 1, b"hi"), frame(HEADERS, END_HEADERS | END_STREAM, 1, OK)] {
            let said = Rc::new([&beginning[..], &more].concat());
            let refusal = Rc::new(Cell::new(None));
            let told = refusal.clone();
            let server = Simulation::of(move |stream, _| {
                let (said, told) = (said.clone(), told.clone());
                async move {
                    let Some(mut server) = Server::greet(stream, &[]).await else { return };
                    server.request().await.unwrap();
                    server.say(&said).await;
                    while let Some(Frame { kind, content, .. }) = server.frame().await {
                        if matches!(kind, GOAWAY | RST_STREAM) && told.get().is_none() {
                            told.set(Some((kind, content[content.len() - 1])));
                        }
                    }
                }
            })
            .of_http2();
            server.run(&load("1", "1", "1"));
            assert_eq!(refusal.get(), Some((refused_by, 5)), "{more:?}");
        }
    }
}

#[test]
fn an_answer_to_a_request_that_was_given_up_breaks_nothing() {
    let server = Simulation::of(|stream, _| async move {
        let Some(mut server) = Server::greet(stream, &[]).await else { return };
        let mut asked = 0;
        while let Some((stream, path)) = server.request().await {
            asked += 1;
            sleep(Duration::from_millis(if asked == 1 { 1_500 } else { 0 })).await;
            server.answer(stream, path.as_bytes()).await;
        }
    })
    .of_http2();
    let summary = server.run(&plan(|draft| {
        (draft.connections, draft.requests, draft.timeout) = (given("1"), given("3"), given("1s"));
        draft.http = given("2");
    }));
    assert_eq!((summary.requests.succeeded, count(&summary, Failure::RecvIdleTimeout)), (2, 1), "{:?}", summary.failures);
    assert_eq!(summary.connections.opened, 1);
}

#[test]
fn a_body_in_chunks_is_sent_without_them() {
    type Request = fn(&str) -> String;
    let requests: [(Request, usize); 2] = [
        (
            |path| {
                format!("POST {path} HTTP/1.1\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n3\r\nabc\r\n4;a=b\r\ndefg\r\n0\r\nA: b\r\n\r\n")
            },
            7,
        ),
        (|path| format!("POST {path} HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 0),
    ];
    for (request, bytes) in requests {
        let server = Simulation::of(move |stream, _| async move {
            let Some(mut server) = Server::greet(stream, &[]).await else { return };
            while let Some((stream, path)) = server.request().await {
                assert_eq!(server.bodies.remove(&stream).unwrap_or(0), bytes);
                server.answer(stream, path.as_bytes()).await;
            }
        })
        .of_http2();
        let heard = Heard::default();
        let summary = server
            .carry_out(&load("2", "6", "2"), |_: Share| Numbering { heard: heard.clone(), pause: Nanos::ZERO, request })
            .summary
            .close();
        assert_eq!(summary.requests.succeeded, 6, "{:?}", summary.failures);
    }
}

/// Every second user asks another origin.
struct Apart(Target);

impl Behaviour for Apart {
    type User = u64;

    fn opens_first(&self) -> bool {
        false
    }

    fn user(&self, number: u64) -> u64 {
        number
    }

    async fn iterate<T: Transport>(&self, user: &mut u64, client: &mut Client<'_, T>) -> Result<(), End> {
        client.turn(Nanos::ZERO).await?;
        client.begin(None);
        let request = Request::new(EncodedRef::read(b"GET / HTTP/1.1\r\n\r\n"));
        let request = if user.is_multiple_of(2) { request } else { request.to(&self.0) };
        let outcome = client.exchange(&request, &mut ()).await;
        client.record(&outcome);
        Ok(())
    }
}

#[test]
fn nobody_waits_for_a_connection_that_leads_elsewhere() {
    let server = Simulation::of(|stream, _| async move {
        let Some(mut server) = Server::greet(stream, &[]).await else { return };
        while let Some((stream, _)) = server.request().await {
            sleep(Duration::from_millis(9)).await;
            server.answer(stream, b"").await;
        }
    })
    .dialling(|_| Duration::from_secs(1))
    .of_http2();
    let other: Target = "http://other.test/".parse().unwrap();
    let summary = server.carry_out(&load("4", "4", "10"), |_: Share| Apart(other.clone())).summary.close();
    // Two users at each of the two, whose connection they share.
    assert_eq!((summary.requests.succeeded, summary.connections.opened), (4, 2), "{:?}", summary.failures);
    assert!(summary.response_time.max().is_some_and(|max| max < Nanos::from_millis(1_100)), "{:?}", summary.response_time.max());
}

#[test]
fn a_head_that_comes_again_is_put_into_the_table_of_a_server_that_has_room_for_it() {
    // What the server says of its table at first, which it does while the first request is on its way, and behind the third request.
    type Values = &'static [(u8, u32)];
    let cases: [(Values, Values); 4] = [(&[], &[]), (&[(1, 0)], &[]), (&[], &[(1, 60)]), (&[(1, 60)], &[(1, 4096)])];
    for (first, then) in cases {
        let blocks = Rc::new(RefCell::new(Vec::new()));
        let seen = blocks.clone();
        let server = Simulation::of(move |stream, _| {
            let seen = seen.clone();
            async move {
                let Some(mut server) = Server::greet(stream, first).await else { return };
                while let Some((stream, _)) = server.request().await {
                    if server.blocks.len() == 3 && !then.is_empty() {
                        server.say(&settings(then)).await;
                    }
                    server.answer(stream, b"").await;
                    seen.replace(server.blocks.clone());
                }
            }
        })
        .of_http2();
        let (summary, _) = heard(&server, &load("1", "6", "2"));
        assert_eq!(summary.requests.succeeded, 6, "{:?}", summary.failures);
        let blocks = blocks.take();
        let plain = blocks[0].len();
        let lengths: Vec<usize> = blocks.iter().map(Vec::len).collect();
        match (first, then) {
            ([], []) => assert_eq!(lengths, [plain, plain, 4, 4, 4, 4]),
            ([], _) => {
                assert_eq!(lengths, [plain, plain, 4, plain + size_of_update(then), plain, plain]);
                assert_eq!(blocks[3][0] & 0xe0, 0x20);
            }
            _ => {
                assert_eq!(lengths, [plain, plain + size_of_update(first), plain, plain, plain, plain]);
                assert_eq!(blocks[1][0] & 0xe0, 0x20);
            }
        }
    }
}

/// How many bytes tell this size of a table.
fn size_of_update(settings: &[(u8, u32)]) -> usize {
    if settings[0].1 < 31 { 1 } else { 2 }
}

#[test]
fn events_of_streams_that_share_a_connection_are_timed_as_they_come() {
    let server = Simulation::of(|stream, _| async move {
        let Some(mut server) = Server::greet(stream, &[]).await else { return };
        while let (Some((first, _)), Some((second, _))) = (server.request().await, server.request().await) {
            server.say(&[frame(HEADERS, END_HEADERS, first, OK), frame(HEADERS, END_HEADERS, second, OK)].concat()).await;
            for _ in 0..5 {
                sleep(Duration::from_millis(30)).await;
                // Cut in the middle of the event.
                let [head, tail] =
                    [first, second].map(|stream| [frame(DATA, 0, stream, b"data: a"), frame(DATA, 0, stream, b"\n\n")].concat());
                server.say(&[head, tail].concat()).await;
            }
            server.say(&[frame(DATA, END_STREAM, first, b""), frame(DATA, END_STREAM, second, b"")].concat()).await;
        }
    })
    .of_http2();
    let plan = plan(|draft| {
        (draft.connections, draft.requests, draft.http) = (given("2"), given("8"), given("2"));
        draft.stream = given("sse");
    });
    let summary = server.run(&plan);
    let row = summary.streams.as_deref().unwrap();
    assert_eq!((summary.requests.succeeded, row.answers, row.events, summary.connections.opened), (8, 8, 40, 1));
    let exactly = Some(Nanos::from_millis(30));
    assert_eq!([row.first_event.min(), row.first_event.max(), row.between_events.min(), row.between_events.max()], [exactly; 4]);
}

#[test]
fn a_stream_without_an_end_is_cancelled_and_its_connection_stays() {
    let cancelled = Rc::<Cell<u32>>::default();
    let counted = cancelled.clone();
    let server = Simulation::of(move |stream, _| {
        let counted = counted.clone();
        async move {
            let Some(mut server) = Server::greet(stream, &[]).await else { return };
            while let Some((stream, _)) = server.request().await {
                server.say(&frame(HEADERS, END_HEADERS, stream, OK)).await;
                for _ in 0..4 {
                    sleep(Duration::from_millis(100)).await;
                    server.say(&frame(DATA, 0, stream, b"data: a\n\n")).await;
                }
                while let Some(heard) = server.frame().await {
                    if heard.kind == RST_STREAM {
                        // CANCEL (RFC 9113 §7).
                        assert_eq!((heard.stream, heard.content), (stream, 8u32.to_be_bytes().to_vec()));
                        counted.set(counted.get() + 1);
                        break;
                    }
                }
            }
        }
    })
    .of_http2();
    let plan = plan(|draft| {
        (draft.connections, draft.requests, draft.http) = (given("1"), given("3"), given("2"));
        (draft.stream, draft.stream_for) = (given("sse"), given("450ms"));
    });
    let summary = server.run(&plan);
    let row = summary.streams.as_deref().unwrap();
    assert_eq!((summary.requests.succeeded, summary.requests.failed, row.answers, row.events), (3, 0, 3, 12));
    assert_eq!((summary.connections.opened, summary.connections.closed_by_server), (1, 0));
    // The last is cancelled as its connection ends.
    assert!(cancelled.get() >= 2, "{}", cancelled.get());
}

#[test]
fn a_server_is_told_how_much_it_may_send_ahead() {
    const BYTES: usize = 500_000;
    for (stream_window, connection_window) in [("128KiB", "1MiB"), ("65535", "65535")] {
        let [of_stream, of_connection] = [stream_window, connection_window].map(|text| text.parse::<WindowBytes>().unwrap().bytes());
        let server = Simulation::of(move |stream, _| async move {
            let Some(mut server) = Server::greet(stream, &[]).await else { return };
            let told = server.frame().await.unwrap();
            assert_eq!((told.kind, &told.content[6..]), (SETTINGS, &[&[0, 4], &of_stream.to_be_bytes()[..]].concat()[..]));
            if of_connection > 65_535 {
                let more = server.frame().await.unwrap();
                assert_eq!((more.kind, more.content), (WINDOW_UPDATE, (of_connection - 65_535).to_be_bytes().to_vec()));
            }
            let (stream, _) = server.request().await.unwrap();
            server.say(&frame(HEADERS, END_HEADERS, stream, OK)).await;
            let (mut left, mut window, mut whole) = (BYTES, of_stream as usize, of_connection as usize);
            while left > 0 {
                while window.min(whole) == 0 {
                    let frame = server.frame().await.unwrap();
                    if frame.kind == WINDOW_UPDATE {
                        let more = u32::from_be_bytes(frame.content.try_into().unwrap()) as usize;
                        *if frame.stream == 0 { &mut whole } else { &mut window } += more;
                    }
                }
                let piece = left.min(window).min(whole).min(16_384);
                (left, window, whole) = (left - piece, window - piece, whole - piece);
                server.say(&frame(DATA, if left == 0 { END_STREAM } else { 0 }, stream, &vec![0; piece])).await;
            }
        })
        .of_http2();
        let load = plan(|draft| {
            (draft.connections, draft.requests, draft.http) = (given("1"), given("1"), given("2"));
            (draft.http2_stream_window, draft.http2_connection_window) = (given(stream_window), given(connection_window));
        });
        let summary = server.run(&load);
        assert_eq!(summary.requests.succeeded, 1, "{:?}", summary.failures);
    }
}

#[test]
fn a_body_waits_for_the_servers_word_on_its_stream_and_the_connection_stays() {
    let text = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    let status = move |status: &str| [vec![0], text(":status"), text(status)].concat();
    // What the server says to a head, after which time, what comes then, and what it answers.
    for (word, then, end, came, millis) in
        [(Some("100"), DATA, "200", (6, 0, 0), 7), (None, DATA, "200", (0, 6, 0), 1_000), (None, RST_STREAM, "417", (0, 0, 6), 7)]
    {
        let server = Simulation::of(move |stream, _| async move {
            let Some(mut server) = Server::greet(stream, &[]).await else { return };
            loop {
                let Some(Frame { kind, flags, stream, .. }) = server.frame().await else { return };
                if kind != HEADERS {
                    continue;
                }
                assert_eq!(flags & END_STREAM, 0);
                if word.is_some() || then == RST_STREAM {
                    sleep(Duration::from_millis(7)).await;
                }
                match (word, then) {
                    (Some(word), _) => server.say(&frame(HEADERS, END_HEADERS, stream, &status(word))).await,
                    (None, RST_STREAM) => server.say(&frame(HEADERS, END_HEADERS | END_STREAM, stream, &status(end))).await,
                    _ => {}
                }
                loop {
                    let next = server.frame().await.unwrap();
                    if next.stream == stream {
                        assert_eq!((next.kind, next.content.len()), (then, if then == DATA { 5 } else { 4 }));
                        break;
                    }
                }
                if then == DATA {
                    server.say(&frame(HEADERS, END_HEADERS | END_STREAM, stream, &status(end))).await;
                }
            }
        })
        .of_http2();
        let load = plan(|draft| {
            (draft.connections, draft.requests, draft.http) = (given("1"), given("6"), given("2"));
            (draft.data, draft.expect_continue) = (Some("hello".to_owned()), true);
        });
        let summary = server.run(&load);
        let awaited = summary.awaited;
        assert_eq!((awaited.continued, awaited.ran_out, awaited.answered_first), came, "{:?}", summary.failures);
        assert_eq!((summary.status.get(&end.parse().unwrap()), summary.connections.opened), (Some(&6), 1));
        assert_eq!((summary.response_time.max(), quirk(&summary, Quirk::Interim)), (Some(Nanos::from_millis(millis)), 0));
    }
}
