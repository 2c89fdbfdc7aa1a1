//! The scripted server plays exactly what it is told.

use std::io::{ErrorKind, Write};
use std::time::Duration;

use testbed::Portion;
use testbed::scripted::{Action, FOREVER, Script, Scripted};

use crate::client::Client;
use crate::eventually;

const REQUEST: &str = "GET / HTTP/1.1\r\nHost: testbed\r\n\r\n";

#[test]
fn exact_bytes_are_sent_whole_split_and_in_two() {
    let bytes = b"HTTP/1.1 200 \r\nX:\xff\x00\r\n\r\nwhatever";
    let split = Script::new([Action::ExpectRequest, Action::SendSplit(bytes[..].into()), Action::Fin]);
    let mut scripts = vec![Script::reply_and_fin(&bytes[..]), split];
    // With an end after both parts, the script cannot start over.
    let (first, second) = bytes.split_at(7);
    scripts.push(Script::new([
        Action::ExpectRequest,
        Action::Send(first.into()),
        Action::Pause(Duration::from_millis(1)),
        Action::Send(second.into()),
        Action::Fin,
    ]));
    for script in scripts {
        let server = Scripted::start(script).unwrap();
        let mut client = Client::connect(server.addr());
        client.send(REQUEST);
        let (received, end) = client.rest();
        assert!(end.is_ok());
        assert_eq!(received, bytes);
        assert_eq!((server.played().connections, server.played().hostile_requests), (1, 1));
    }
}

#[test]
fn a_script_starts_over_with_each_request_of_a_connection() {
    let reply = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    for script in [Script::reply(reply), Script::reply_in_two(reply, 20, Duration::from_millis(1))] {
        let server = Scripted::start(script).unwrap();
        let mut client = Client::connect(server.addr());
        for _ in 0..5 {
            assert_eq!(client.fetch("/").text(), "ok");
        }
        drop(client);
        eventually("the connection has ended", || server.played().ended == 1);
        assert_eq!((server.played().connections, server.played().hostile_requests), (1, 5));
    }
}

#[test]
fn requests_with_bodies_of_both_framings_are_read_whole() {
    let server = Scripted::start(Script::reply("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")).unwrap();
    let mut client = Client::connect(server.addr());
    client.send("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello");
    client.receive().unwrap();
    client.send("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nTrailer: x\r\n\r\n");
    client.receive().unwrap();
    assert_eq!(client.fetch("/").status, 200);
    assert_eq!(server.played().hostile_requests, 3);
}

#[test]
fn a_connection_can_end_in_each_way() {
    let ends = [(Action::Fin, None), (Action::Close, None), (Action::Reset, Some(ErrorKind::ConnectionReset))];
    for (action, error) in ends {
        let part = Action::Send("HTTP/1.1 2".into());
        let server = Scripted::start(Script::new([Action::ExpectRequest, part, action.clone()])).unwrap();
        let mut client = Client::connect(server.addr());
        client.send(REQUEST);
        let (received, end) = client.rest();
        assert_eq!(received, b"HTTP/1.1 2", "{action:?}");
        assert_eq!(end.err().map(|error| error.kind()), error, "{action:?}");
    }
}

#[test]
fn a_connection_can_end_before_any_request() {
    let server = Scripted::start(Script::new([Action::Close])).unwrap();
    let (received, _) = Client::connect(server.addr()).rest();
    assert!(received.is_empty());
    assert_eq!(server.played().hostile_requests, 0);
}

#[test]
fn an_early_reply_leaves_the_body_unread() {
    let early = "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n";
    let server = Scripted::start(Script::new([Action::ExpectHead, Action::Send(early.into()), Action::Hold])).unwrap();
    let mut client = Client::connect(server.addr());
    client.send("POST / HTTP/1.1\r\nContent-Length: 1000000\r\n\r\nonly this");
    assert_eq!(client.receive().unwrap().status, 413);
}

#[test]
fn an_endless_reply_goes_on_until_the_client_goes() {
    let interim = Action::Send("HTTP/1.1 103 Early Hints\r\n\r\n".into());
    let server = Scripted::start(Script::new([Action::ExpectRequest, Action::Repeat(FOREVER, vec![interim])])).unwrap();
    let mut client = Client::connect(server.addr());
    client.send(REQUEST);
    for _ in 0..10_000 {
        assert_eq!(client.receive().unwrap().status, 103);
    }
    drop(client);
    eventually("the play is over", || server.played().ended == 1);
}

#[test]
fn a_server_that_never_reads_brings_sending_to_a_stop() {
    let server = Scripted::start(Script::new([Action::NeverRead])).unwrap();
    let mut client = Client::connect(server.addr());
    client.stream().set_nonblocking(true).unwrap();
    let mut sent = 0;
    let stop = loop {
        match client.stream().write(&[b'x'; 4096]) {
            Ok(bytes) => sent += bytes,
            Err(error) => break error,
        }
        // The kernel's largest send buffer, and room to spare.
        assert!(sent < 64 << 20, "{sent} bytes were taken by a server that never reads");
    };
    assert_eq!(stop.kind(), ErrorKind::WouldBlock);
}

#[test]
fn a_tenth_of_the_connections_is_hostile_and_the_others_are_answered_with_their_own_ids() {
    let script = Script::new([Action::ExpectRequest, Action::Send("garbage".into()), Action::Reset]);
    let server = Scripted::start(script.on(Portion::of(0.1).unwrap())).unwrap();
    let mut harmed = 0;
    for connection in 0..50 {
        let mut client = Client::connect(server.addr());
        client.send(&format!("GET / HTTP/1.1\r\nX-Id: {connection}-0\r\n\r\n"));
        let mut start = [0; 7];
        client.stream().peek(&mut start).unwrap();
        if &start == b"garbage" {
            harmed += 1;
            continue;
        }
        assert_eq!(client.receive().unwrap().text(), format!("{connection}-0"));
        for request in 1..5 {
            client.send(&format!("GET / HTTP/1.1\r\nX-Id: {connection}-{request}\r\n\r\n"));
            assert_eq!(client.receive().unwrap().text(), format!("{connection}-{request}"));
        }
    }
    assert_eq!(harmed, 5);
    let played = server.stop();
    assert_eq!((played.connections, played.hostile_connections, played.hostile_requests), (50, 5, 5));
    assert_eq!((played.healthy_requests, played.healthy_replies), (225, 225));
}
