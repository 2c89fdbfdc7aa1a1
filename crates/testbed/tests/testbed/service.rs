//! The demo API and the counts.

use std::num::NonZeroUsize;

use testbed::{Config, Testbed};

use crate::client::Client;
use crate::eventually;

fn testbed() -> Testbed {
    Testbed::start(Config::new()).unwrap()
}

#[test]
fn the_demo_api_answers() {
    let testbed = testbed();
    let mut client = Client::connect(testbed.addr());
    let sum = client.fetch("/get_result?a=10&b=20");
    assert_eq!((sum.status, sum.text(), sum.header("content-type")), (200, r#"{"result":30}"#, Some("application/json")));
    assert_eq!(client.fetch("/get_result?a=10&b=x").status, 400);
    assert_eq!(client.fetch("/fib?n=20").text(), r#"{"result":6765}"#);
    assert_eq!(client.fetch("/fib-cached?n=20").text(), r#"{"result":6765}"#);
    assert!(client.fetch("/question").text().ends_with(r#","cards":5}"#));
    assert_eq!(client.fetch("/answer?id=1&card=2").status, 200);
    assert!(client.fetch("/pick").text().starts_with(r#"{"card":"#));
    let unknown = client.fetch("/nothing/here");
    assert_eq!((unknown.status, unknown.header("content-type")), (404, Some("application/json")));
    assert!(client.fetch("/").text().contains("/fib-cached"));
}

#[test]
fn a_health_check_is_about_150_bytes() {
    let testbed = testbed();
    let reply = Client::connect(testbed.addr()).fetch("/healthz");
    assert_eq!(reply.text(), r#"{"status":"ok"}"#);
    let bytes = reply.head.len() + reply.body.len();
    assert!((140..=160).contains(&bytes), "{bytes} bytes:\n{}", reply.head);
}

#[test]
fn every_request_is_counted_once_by_path_and_status() {
    for threads in [1, 3] {
        let testbed = Testbed::start(Config::new().threads(NonZeroUsize::new(threads).unwrap())).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..7 {
                scope.spawn(|| {
                    let mut client = Client::connect(testbed.addr());
                    for _ in 0..50 {
                        client.fetch("/healthz");
                        client.fetch("/get_result?a=1&b=2");
                        client.fetch("/get_result?a=1");
                        client.fetch("/unheard-of?of=1");
                    }
                });
            }
        });
        let counts = testbed.counts();
        assert_eq!((counts.connections, counts.received, counts.answered), (7, 1400, 1400), "{threads} threads");
        assert_eq!((counts.path("/healthz"), counts.path("/get_result"), counts.path("/unheard-of")), (350, 700, 350));
        assert_eq!((counts.status(200), counts.status(400), counts.status(404)), (700, 350, 350));
        assert_eq!((counts.cut, counts.abandoned, counts.in_flight), (0, 0, 0));
        eventually("all connections are closed", || testbed.counts().open == 0);
    }
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let testbed = testbed();
    let mut client = Client::connect(testbed.addr());
    let requests: String = (0..20).map(|n| format!("GET /get_result?a={n}&b=0 HTTP/1.1\r\nHost: testbed\r\n\r\n")).collect();
    client.send(&requests);
    for n in 0..20 {
        assert_eq!(client.receive().unwrap().text(), format!(r#"{{"result":{n}}}"#));
    }
}

#[test]
fn a_request_counts_when_its_body_is_complete() {
    let testbed = testbed();
    let mut client = Client::connect(testbed.addr());
    client.send("POST /echo HTTP/1.1\r\nHost: testbed\r\nContent-Length: 5\r\n\r\nhel");
    // A reply on another connection shows that the server had its turn.
    eventually("the connection is accepted", || testbed.counts().open == 1);
    Client::connect(testbed.addr()).fetch("/healthz");
    assert_eq!(testbed.counts().path("/echo"), 0);
    client.send("lo");
    assert_eq!(client.receive().unwrap().text(), "hello");
    assert_eq!(testbed.counts().path("/echo"), 1);
}

#[test]
fn an_echo_without_body_gives_back_its_id() {
    let testbed = testbed();
    let mut client = Client::connect(testbed.addr());
    client.send("GET /echo HTTP/1.1\r\nHost: testbed\r\nX-Id: 42\r\n\r\n");
    let reply = client.receive().unwrap();
    assert_eq!((reply.text(), reply.header("x-id")), ("42", Some("42")));
}

#[test]
fn what_is_no_http_breaks_the_connection_and_is_no_request() {
    let testbed = testbed();
    let mut client = Client::connect(testbed.addr());
    client.send("\u{16}\u{3}\u{1} this is no request\r\n\r\n");
    let _ = client.rest();
    eventually("the connection is counted as broken", || testbed.counts().broken == 1);
    assert_eq!(testbed.counts().received, 0);
}

#[test]
fn a_stopped_server_closes_its_connections_and_its_port() {
    let testbed = testbed();
    let address = testbed.addr();
    let mut client = Client::connect(address);
    client.fetch("/healthz");
    let counts = testbed.stop();
    assert_eq!((counts.received, counts.open), (1, 0));
    assert!(client.rest().0.is_empty());
    assert!(std::net::TcpStream::connect(address).is_err());
}

#[test]
fn an_address_in_use_is_an_error() {
    let testbed = testbed();
    assert!(Testbed::start(Config::new().listen(testbed.addr())).is_err());
}

#[cfg(unix)]
#[test]
fn a_unix_socket_serves_the_same_and_is_removed() {
    let path = std::env::temp_dir().join(format!("loadline-testbed-{}.socket", std::process::id()));
    let testbed = Testbed::start(Config::new().unix(&path)).unwrap();
    assert_eq!(testbed.socket_path(), Some(path.as_path()));
    let mut client = Client::over(std::os::unix::net::UnixStream::connect(&path).unwrap());
    assert_eq!(client.fetch("/get_result?a=1&b=2").text(), r#"{"result":3}"#);
    assert_eq!(testbed.stop().path("/get_result"), 1);
    assert!(!path.exists());
}
