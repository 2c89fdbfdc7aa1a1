//! Calls of gRPC, against servers that are known to the byte: what their statuses and broken messages come to.

use std::rc::Rc;
use std::time::Duration;

use measure::{Failure, Summary};
use plan::{Nanos, Plan, Share};
use tokio::time::sleep;

use super::{DATA, END_HEADERS, END_STREAM, HEADERS, RST_STREAM, Server, frame, saying};
use crate::protocol::EncodedRef;
use crate::simulation::told::{Heard, Numbering, count};
use crate::simulation::{Simulation, given, plan};
use crate::transport::Transport;
use crate::worker::{Behaviour, Client, End, Request};

/// Fields in letters, without the table.
fn fields(list: &[(&str, &str)]) -> Vec<u8> {
    let text = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    list.iter().flat_map(|(name, value)| [vec![0], text(name), text(value)].concat()).collect()
}

fn head(stream: u32, list: &[(&str, &str)]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS, stream, &fields(list))
}

fn trailers(stream: u32, list: &[(&str, &str)]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, stream, &fields(list))
}

const BEGIN: [(&str, &str); 2] = [(":status", "200"), ("content-type", "application/grpc")];

/// A message of two bytes.
const MESSAGE: &[u8] = b"\0\0\0\0\x02hi";

/// Requests as a plan of calls sends them.
fn request(path: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: simulated.test\r\nTE: trailers\r\n\r\n\0\0\0\0\x01a")
}

fn load(requests: &str) -> Plan {
    plan(|draft| {
        (draft.url, draft.message) = (Some("grpc://simulated.test/a.B/C".to_owned()), Some("{}".to_owned()));
        (draft.connections, draft.requests, draft.timeout) = (given("1"), given(requests), given("10s"));
    })
}

/// Sends calls and looks at no answer.
struct Calling;

impl Behaviour for Calling {
    type User = ();

    fn user(&self, _number: u64) {}

    async fn iterate<T: Transport>(&self, _user: &mut (), client: &mut Client<'_, T>) -> Result<(), End> {
        let request = request("/a.B/C");
        client.send(&Request::new(EncodedRef::read(request.as_bytes())), &mut ()).await.map(drop)
    }
}

fn unheard(server: &Simulation, plan: &Plan) -> Summary {
    server.carry_out(plan, |_: Share| Calling).summary.close()
}

/// What a server of each kind says to its only call, and what that is.
fn cases() -> Vec<(&'static str, Vec<u8>, Result<(), Failure>)> {
    let begun = |rest: &[Vec<u8>]| [head(1, &BEGIN), rest.concat()].concat();
    let data = |content: &[u8]| frame(DATA, 0, 1, content);
    let well = || trailers(1, &[("grpc-status", "0")]);
    let failing = |code: &'static str| trailers(1, &[("grpc-status", code), ("grpc-message", "out%20of tea")]);
    let alone = |list: &[(&str, &str)]| trailers(1, &[&BEGIN[..], list].concat());
    vec![
        ("a message", begun(&[data(MESSAGE), well()]), Ok(())),
        ("in pieces", begun(&[data(&MESSAGE[..3]), data(&MESSAGE[3..6]), data(&MESSAGE[6..]), well()]), Ok(())),
        ("several messages", begun(&[data(&MESSAGE.repeat(3)), well()]), Ok(())),
        ("none", begun(&[well()]), Ok(())),
        ("a status alone", alone(&[("grpc-status", "14")]), Err(Failure::GrpcUnavailable)),
        ("success alone", alone(&[("grpc-status", "0")]), Ok(())),
        ("a status behind a message", begun(&[data(MESSAGE), failing("8")]), Err(Failure::GrpcResourceExhausted)),
        ("a status behind half a message", begun(&[data(&MESSAGE[..6]), failing("13")]), Err(Failure::GrpcInternal)),
        ("a code that nobody knows", begun(&[failing("17")]), Err(Failure::GrpcUnknown)),
        ("a status that is no number", begun(&[failing("OK")]), Err(Failure::GrpcProtocol)),
        ("no trailers", begun(&[frame(DATA, END_STREAM, 1, MESSAGE)]), Err(Failure::GrpcNoStatus)),
        ("trailers without a status", begun(&[data(MESSAGE), trailers(1, &[("a", "b")])]), Err(Failure::GrpcNoStatus)),
        ("a head alone", alone(&[]), Err(Failure::GrpcNoStatus)),
        ("cut in a message", begun(&[data(&MESSAGE[..6]), well()]), Err(Failure::GrpcProtocol)),
        ("cut in a prefix", begun(&[data(&MESSAGE[..2]), well()]), Err(Failure::GrpcProtocol)),
        ("a prefix that cannot be", begun(&[data(b"<html>"), well()]), Err(Failure::GrpcProtocol)),
        ("packed, and not said how", begun(&[data(b"\x01\0\0\0\0"), well()]), Err(Failure::GrpcProtocol)),
        ("too large", begun(&[data(b"\0\xff\xff\xff\xff"), well()]), Err(Failure::GrpcProtocol)),
        ("503", [head(1, &[(":status", "503")]), frame(DATA, END_STREAM, 1, b"busy")].concat(), Err(Failure::GrpcUnavailable)),
        ("404 alone", trailers(1, &[(":status", "404")]), Err(Failure::GrpcUnimplemented)),
        ("503 with a status", trailers(1, &[(":status", "503"), ("grpc-status", "7")]), Err(Failure::GrpcPermissionDenied)),
        ("reset", begun(&[frame(RST_STREAM, 0, 1, &[0, 0, 0, 8])]), Err(Failure::Http2Cancel)),
        ("reset at once", frame(RST_STREAM, 0, 1, &[0, 0, 0, 2]), Err(Failure::Http2Internal)),
        ("trailers that do not end", begun(&[data(MESSAGE), head(1, &[("grpc-status", "0")])]), Err(Failure::Http2Protocol)),
        ("closed", begun(&[data(MESSAGE)]), Err(Failure::RecvEofInBody)),
    ]
}

#[test]
fn what_servers_say_of_calls_has_one_meaning_wherever_it_is_cut() {
    for (name, bytes, meaning) in cases() {
        for at_once in [1_000_000, 1, 7] {
            let server = saying(&bytes, at_once);
            let heard = Heard::default();
            let numbering = |_: Share| Numbering { heard: heard.clone(), pause: Nanos::ZERO, request };
            let looked_at = server.carry_out(&load("1"), numbering).summary.close();
            for summary in [looked_at, unheard(&server, &load("1"))] {
                let failure = summary.failures.first().map(|failure| failure.class);
                assert_eq!(failure, meaning.err(), "{name}, {at_once} bytes at once: {:?}", summary.failures);
                assert_eq!(summary.requests.succeeded, u64::from(meaning.is_ok()), "{name}");
                assert_eq!(summary.connections.opened, summary.connections.closed_by_server + summary.connections.closed_by_us, "{name}");
            }
        }
    }
}

#[test]
fn the_servers_words_are_the_example() {
    for (name, words) in [
        ("a status behind a message", "out of tea"),
        ("503", "the HTTP status 503: busy"),
        ("too large", "a message of more than 64 MiB"),
        ("cut in a message", "the answer ends in the middle of a message"),
    ] {
        let (_, bytes, _) = cases().into_iter().find(|(known, ..)| *known == name).unwrap();
        let summary = unheard(&saying(&bytes, 1_000_000), &load("1"));
        let text = &summary.failures[0].example.as_ref().unwrap().text;
        assert!(text.ends_with(words), "{text}");
        // An answer says more than what its connection had been through.
        assert_eq!(text == words, summary.failures[0].class.is_answered(), "{text}");
    }
}

/// Answers each call after 10 ms: every third with a status, in the table from the second time on, as real servers send it.
fn thirds() -> Simulation {
    Simulation::of(|stream, _| async move {
        let Some(mut server) = Server::greet(stream, &[]).await else { return };
        let kept = |name: &str, value: &str| {
            let mut field = fields(&[(name, value)]);
            field[0] = 0x40;
            field
        };
        let mut number = 0;
        while let Some((stream, _)) = server.request().await {
            number += 1;
            sleep(Duration::from_millis(10)).await;
            // The newest entries of the table: the status, and before it the content type.
            let (begin, end) = match number {
                1 => ([&[0x88][..], &kept("content-type", "application/grpc")].concat(), kept("grpc-status", "0")),
                _ => (vec![0x88, 0xbf], vec![0xbe]),
            };
            let end = if number % 3 == 0 { fields(&[("grpc-status", "14")]) } else { end };
            let bytes = [
                frame(HEADERS, END_HEADERS, stream, &begin),
                frame(DATA, 0, stream, MESSAGE),
                frame(HEADERS, END_HEADERS | END_STREAM, stream, &end),
            ];
            server.say(&bytes.concat()).await;
        }
    })
    .of_http2()
}

#[test]
fn a_status_is_an_answer_with_all_its_times_and_its_connection_stays() {
    let summary = unheard(&thirds(), &load("300"));
    assert_eq!((summary.requests.succeeded, count(&summary, Failure::GrpcUnavailable)), (200, 100));
    assert_eq!((summary.connections.opened, summary.status.get(&200)), (1, Some(&200)));
    let exactly = Some(Nanos::from_millis(10));
    assert_eq!([summary.response_time.min(), summary.response_time.max()], [exactly; 2]);
    assert_eq!([summary.service_time.min(), summary.service_time.max(), summary.ttfb.max()], [exactly; 3]);
    assert_eq!(summary.service_time.count(), 300);
    // Throughput is that of answers.
    assert!((summary.qps - 100.0).abs() < 1.0, "{}", summary.qps);
}

#[test]
fn one_bad_call_leaves_those_beside_it_alone() {
    for (name, bytes, meaning) in cases().into_iter().filter(|(name, ..)| *name != "closed") {
        let bytes = Rc::new(bytes);
        let server = Simulation::of(move |stream, _| {
            let bytes = bytes.clone();
            async move {
                let Some(mut server) = Server::greet(stream, &[]).await else { return };
                while let Some((stream, _)) = server.request().await {
                    sleep(Duration::from_millis(1)).await;
                    if stream == 1 {
                        server.say(&bytes).await;
                    } else {
                        let answer = [head(stream, &BEGIN), frame(DATA, 0, stream, MESSAGE), trailers(stream, &[("grpc-status", "0")])];
                        server.say(&answer.concat()).await;
                    }
                }
            }
        })
        .of_http2();
        let several = plan(|draft| {
            (draft.url, draft.message) = (Some("grpc://simulated.test/a.B/C".to_owned()), Some("{}".to_owned()));
            (draft.connections, draft.requests) = (given("4"), given("40"));
        });
        let summary = unheard(&server, &several);
        let failed = u64::from(meaning.is_err());
        assert_eq!((summary.requests.succeeded, summary.requests.failed), (40 - failed, failed), "{name}: {:?}", summary.failures);
        assert_eq!(summary.connections.opened, 1, "{name}");
    }
}
