//! Behaviour on the wire.

use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use testbed::{Behaviour, Config, Scalability, Testbed};

use crate::client::Client;
use crate::eventually;

fn testbed() -> Testbed {
    Testbed::start(Config::new()).unwrap()
}

fn behaving(path: &str, behaviour: &str) -> Testbed {
    Testbed::start(Config::new().route(path, behaviour.parse().unwrap())).unwrap()
}

/// The time that so many users in closed load take for so many requests each.
fn closed_load(address: SocketAddr, path: &str, users: usize, requests: usize) -> Duration {
    let mut clients: Vec<Client> = (0..users).map(|_| Client::connect(address)).collect();
    let start = Instant::now();
    std::thread::scope(|scope| {
        for client in &mut clients {
            scope.spawn(|| {
                for _ in 0..requests {
                    client.fetch(path);
                }
            });
        }
    });
    start.elapsed()
}

#[test]
fn exactly_the_wanted_share_fails_however_the_requests_are_spread() {
    let testbed = testbed();
    closed_load(testbed.addr(), "/behave?status=503&share=0.1", 8, 100);
    let counts = testbed.counts();
    assert_eq!((counts.status(200), counts.status(503), counts.path("/behave")), (720, 80, 800));
}

#[test]
fn a_behaviour_that_makes_no_sense_is_refused() {
    let testbed = testbed();
    let reply = Client::connect(testbed.addr()).fetch("/behave?delay=5parsecs");
    assert_eq!(reply.status, 400);
    assert!(reply.text().contains("parsecs"), "{}", reply.text());
}

#[test]
fn a_delayed_reply_is_never_early() {
    let testbed = testbed();
    let mut client = Client::connect(testbed.addr());
    let start = Instant::now();
    assert_eq!(client.fetch("/behave?delay=30ms").status, 200);
    assert!(start.elapsed() >= Duration::from_millis(30));
}

#[test]
fn bodies_have_the_wanted_size_and_framing() {
    let testbed = testbed();
    let mut client = Client::connect(testbed.addr());
    for size in [0, 1, 1000, 65_536, 65_537, 1_000_000] {
        let reply = client.fetch(&format!("/behave?size={size}"));
        assert_eq!((reply.body.len(), reply.header("transfer-encoding")), (size, None));
        let reply = client.fetch(&format!("/behave?size={size}&chunked"));
        assert_eq!((reply.body.len(), reply.header("content-length")), (size, None), "chunked");
    }
    let reply = client.fetch("/behave?size=250&chunked=100");
    assert_eq!(reply.chunks, [100, 100, 50]);
    assert_eq!(client.fetch("/behave?size=25&trickle=10:1ms").body.len(), 25);
    assert_eq!(client.fetch("/behave?size=25&trickle=10:1ms&chunked").chunks, [10, 10, 5]);
    assert!(client.fetch("/behave?status=204&size=100").body.is_empty());
}

#[test]
fn drops_come_at_their_pace() {
    let testbed = testbed();
    let start = Instant::now();
    Client::connect(testbed.addr()).fetch("/behave?size=5&trickle=1:10ms");
    assert!(start.elapsed() >= Duration::from_millis(40));
}

#[test]
fn a_connection_closes_after_its_number_of_replies() {
    let testbed = testbed();
    let mut client = Client::connect(testbed.addr());
    for last in [false, false, true] {
        let reply = client.fetch("/behave?close=3");
        assert_eq!(reply.header("connection") == Some("close"), last);
    }
    let (rest, end) = client.rest();
    assert!(rest.is_empty() && end.is_ok());
}

#[test]
fn a_reset_comes_at_its_point() {
    let testbed = testbed();
    let mut client = Client::connect(testbed.addr());
    client.send("GET /behave?reset=before HTTP/1.1\r\nHost: testbed\r\n\r\n");
    let (rest, end) = client.rest();
    assert_eq!((rest.len(), end.unwrap_err().kind()), (0, io::ErrorKind::ConnectionReset));
    for bytes in [0, 10, 99] {
        let mut client = Client::connect(testbed.addr());
        client.send(&format!("GET /behave?size=100&reset={bytes} HTTP/1.1\r\nHost: testbed\r\n\r\n"));
        assert!(client.head().unwrap().contains("content-length: 100"));
        let (rest, end) = client.rest();
        assert_eq!((rest.len(), end.unwrap_err().kind()), (bytes, io::ErrorKind::ConnectionReset));
    }
    let counts = testbed.counts();
    assert_eq!((counts.received, counts.cut, counts.answered), (4, 4, 0));
}

#[test]
fn an_unanswered_request_stays_in_flight_until_its_client_goes() {
    let testbed = testbed();
    let mut client = Client::connect(testbed.addr());
    client.send("GET /behave?never HTTP/1.1\r\nHost: testbed\r\n\r\n");
    eventually("the request is in flight", || testbed.counts().in_flight == 1);
    drop(client);
    eventually("the request is abandoned", || testbed.counts().abandoned == 1);
    assert_eq!((testbed.counts().in_flight, testbed.counts().answered), (0, 0));
}

#[test]
fn a_pool_is_never_faster_than_its_capacity_and_twice_the_workers_are_about_twice_as_fast() {
    let two = behaving("/pool", "pool=2:4ms");
    let four = behaving("/pool", "pool=4:4ms");
    let (users, requests) = (16, 12);
    // A pause of the machine only lengthens a load: the shortest of three is the servers' own.
    let shortest = |server: &Testbed| (0..3).map(|_| closed_load(server.addr(), "/pool", users, requests)).min().unwrap();
    let (slow, fast) = (shortest(&two), shortest(&four));
    // 192 requests: 96 rounds of two, 48 of four.
    assert!(slow >= Duration::from_millis(384), "{slow:?}");
    assert!(fast >= Duration::from_millis(192), "{fast:?}");
    let ratio = slow.as_secs_f64() / fast.as_secs_f64();
    assert!((1.4..2.6).contains(&ratio), "{ratio}");
}

#[test]
fn throughput_follows_the_scalability_law() {
    let law = Scalability { lambda_per_second: 200.0, sigma: 0.02, kappa: 0.01 };
    let behaviour = Behaviour { scalability: Some(law), ..Behaviour::default() };
    let testbed = Testbed::start(Config::new().route("/usl", behaviour)).unwrap();
    // A pause of the machine only lengthens a load: the shortest of three is the server's own.
    let throughput = |users: usize, requests: usize| {
        let shortest = (0..3).map(|_| closed_load(testbed.addr(), "/usl", users, requests)).min().unwrap();
        (users * requests) as f64 / shortest.as_secs_f64()
    };
    let (one, ten, forty) = (throughput(1, 60), throughput(10, 25), throughput(40, 6));
    // By the law 1 : 4.8 : 2.3.
    assert!((3.4..6.2).contains(&(ten / one)), "{}", ten / one);
    assert!((1.4..3.1).contains(&(ten / forty)), "{}", ten / forty);
}

#[test]
fn a_stalled_server_answers_when_the_stall_ends() {
    // Always in a stall: one reply at the end of each period.
    let testbed = behaving("/stalling", "stall=100ms:100ms");
    let mut client = Client::connect(testbed.addr());
    let start = Instant::now();
    for _ in 0..3 {
        client.fetch("/stalling");
    }
    assert!(start.elapsed() >= Duration::from_millis(300));
}

#[test]
fn the_schedule_of_stalls_can_begin_anew() {
    let testbed = behaving("/stalling", "stall=400ms:400ms");
    let mut client = Client::connect(testbed.addr());
    client.fetch("/stalling");
    // Half a period passes, so that without the new anchor only half of one would be left to wait.
    client.fetch("/behave?delay=200ms");
    let start = Instant::now();
    testbed.anchor_stalls();
    client.fetch("/stalling");
    assert!(start.elapsed() >= Duration::from_millis(400));
}

#[test]
fn beyond_its_rate_a_limited_endpoint_turns_away() {
    let testbed = testbed();
    let mut client = Client::connect(testbed.addr());
    let replies: Vec<_> = (0..200).map(|_| client.fetch("/behave?limit=5")).collect();
    let (passed, turned_away): (Vec<_>, Vec<_>) = replies.iter().partition(|reply| reply.status == 200);
    assert!(passed.len() >= 5);
    assert!(turned_away.iter().all(|reply| reply.status == 429));
    assert_eq!(turned_away[0].header("retry-after"), Some("1"));
}

#[test]
fn an_overloaded_endpoint_breaks_for_a_while() {
    let testbed = testbed();
    let path = "/behave?breaks=2:1h&never";
    let mut clients: Vec<Client> = (0..3).map(|_| Client::connect(testbed.addr())).collect();
    for (n, client) in clients.iter_mut().take(2).enumerate() {
        client.send(&format!("GET {path} HTTP/1.1\r\nHost: testbed\r\n\r\n"));
        eventually("it is in flight", || testbed.counts().in_flight == n as u64 + 1);
    }
    let broken = clients[2].fetch(path);
    assert_eq!((broken.status, broken.header("retry-after")), (503, Some("3600")));
    clients.truncate(1);
    assert_eq!(Client::connect(testbed.addr()).fetch(path).status, 503);
}

#[test]
fn endpoints_of_the_demo_api_can_behave_too() {
    let config = Config::new().everywhere("status=500&share=0.5".parse().unwrap());
    let testbed = Testbed::start(config.route("/healthz", "status=404".parse().unwrap())).unwrap();
    let mut client = Client::connect(testbed.addr());
    assert_eq!(client.fetch("/healthz").status, 404);
    let statuses: Vec<u16> = ["/pick", "/get_result?a=1&b=2", "/pick", "/pick"].iter().map(|path| client.fetch(path).status).collect();
    assert_eq!(statuses, [200, 500, 200, 500]);
}
