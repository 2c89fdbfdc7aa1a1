//! Misbehaviour over real sockets: the table of cases again, and what only a kernel can do.
//!
//! In memory there are no resets, no windows, no backlogs and no packets. Each test here plays a script from
//! `testbed` on a bare socket to a whole run, and asks for the class of every request and the exact counts.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use engine::protocol::http1::ResponseFraming;
use engine::protocol::http1::cases::{Case, Expected, Then, cases};
use engine::{Stop, run};
use measure::{Failure, Quirk, Summary};
use plan::{Draft, Nanos, Plan, Setting};
use testbed::Portion;
use testbed::scripted::{Action, FOREVER, Script, Scripted};

/// A setting as typed.
fn given<T: std::str::FromStr>(text: &str) -> Option<Setting<T>>
where
    T::Err: std::fmt::Display,
{
    text.parse().ok()
}

/// A load on one thread and without preflight, so that every connection carries requests.
fn load(url: String, settings: impl FnOnce(&mut Draft)) -> Summary {
    let mut draft = Draft { url: Some(url), no_preflight: true, ..Draft::default() };
    draft.threads = given("1");
    settings(&mut draft);
    let plan = Plan::try_from(draft).unwrap_or_else(|errors| panic!("{errors:?}"));
    let summary = run(&plan, &mut |_| (), &Stop::new()).unwrap_or_else(|error| panic!("{error:?}"));
    let requests = summary.requests;
    assert_eq!(requests.due, requests.succeeded + requests.failed + requests.unsent);
    assert_eq!(summary.connections.opened, summary.connections.closed_by_us + summary.connections.closed_by_server);
    summary
}

/// So many requests, one after the other.
fn one_user(url: String, requests: u64, settings: impl FnOnce(&mut Draft)) -> Summary {
    load(url, |draft| {
        draft.connections = given("1");
        draft.requests = given(&requests.to_string());
        settings(draft);
    })
}

fn count(summary: &Summary, failure: Failure) -> u64 {
    summary.failures.iter().find(|count| count.class == failure).map_or(0, |count| count.count)
}

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

fn script(case: &Case) -> Script {
    let mut actions = vec![Action::ExpectRequest, Action::Send(case.sends.clone().into())];
    if case.then == Then::Closes {
        actions.push(Action::Fin);
    }
    Script::new(actions)
}

fn met() -> impl Iterator<Item = Case> {
    cases().into_iter().filter(|case| case.framing != ResponseFraming::Connect)
}

#[test]
fn every_case_gets_its_class_over_a_socket() {
    for case in met() {
        let server = Scripted::start(script(&case)).expect("a server");
        let kept = matches!(case.expected, Expected::Answered { reusable: true, .. });
        let summary = one_user(server.url("/"), 2, |draft| {
            draft.timeout = given(if case.expected == Expected::Unfinished { "100ms" } else { "20s" });
            draft.method = (case.framing == ResponseFraming::Head).then(|| "HEAD".to_owned());
            // Long enough for the end of a stream to be noticed.
            draft.pause = if case.then == Then::Closes && kept { given("50ms") } else { None };
        });
        let as_expected = match case.expected {
            Expected::Answered { status, .. } => summary.status.get(&status).copied().unwrap_or(0),
            Expected::Failed(failure) => count(&summary, failure),
            Expected::Unfinished => count(&summary, Failure::RecvTotalTimeout),
        };
        let shown = format!("case {} ({}): {:?}", case.number, case.name, summary.failures);
        assert_eq!(as_expected, 2, "{shown}");
        let opened = if kept && case.then == Then::Waits { 1 } else { 2 };
        assert_eq!(summary.connections.opened, opened, "{shown}");
        assert_eq!(server.stop().hostile_requests, 2, "{shown}");
    }
}

#[test]
fn hostile_connections_beside_healthy_ones_harm_only_themselves() {
    let mut numbers = Vec::new();
    for case in met().filter(|case| case.framing == ResponseFraming::Other) {
        let Expected::Failed(failure) = case.expected else { continue };
        // One of each kind; the simulated engine plays them all.
        if numbers.contains(&case.number) {
            continue;
        }
        numbers.push(case.number);
        let server = Scripted::start(script(&case).on(Portion::of(0.1).expect("a portion"))).expect("a server");
        let summary = load(server.url("/"), |draft| {
            draft.connections = given("20");
            draft.requests = given("400");
            draft.timeout = given("20s");
            draft.header = vec!["X-Id: 0123456789".to_owned()];
            // A new connection each time, so that hostile ones keep coming.
            draft.no_keepalive = true;
        });
        let played = server.stop();
        let shown = format!("case {} ({}): {:?}", case.number, case.name, summary.failures);
        assert_eq!(summary.requests.due, 400, "{shown}");
        assert_eq!(summary.requests.succeeded, played.healthy_replies, "{shown}");
        assert_eq!((played.healthy_replies, played.healthy_requests), (360, 360), "{shown}");
        assert_eq!(count(&summary, failure), played.hostile_requests, "{shown}");
        assert_eq!(played.connections, 400, "{shown}");
    }
    assert!(numbers.len() > 20, "{numbers:?}");
}

#[test]
fn a_reset_has_its_class_at_each_point() {
    let send = |text: &'static str| Action::Send(text.into());
    let head = "HTTP/1.1 200 OK\r\nContent-Le";
    let body = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello";
    let chunk = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe";
    for before in [None, Some(head), Some(body), Some(chunk)] {
        let mut actions = vec![Action::ExpectRequest];
        actions.extend(before.map(send));
        // Bytes the client has not read are lost in a reset.
        actions.extend([Action::Pause(ms(30)), Action::Reset]);
        let server = Scripted::start(Script::new(actions)).expect("a server");
        let summary = one_user(server.url("/"), 3, |_| ());
        assert_eq!(count(&summary, Failure::RecvReset), 3, "{before:?}: {:?}", summary.failures);
        assert_eq!(summary.connections.closed_by_server, 3);
    }
    // Before the request: whether sending or reading notices first is the kernel's choice.
    let server = Scripted::start(Script::new([Action::Reset])).expect("a server");
    let summary = one_user(server.url("/"), 5, |_| ());
    assert_eq!(summary.requests.failed, 5);
    for failure in &summary.failures {
        assert!(
            matches!(failure.class, Failure::RecvReset | Failure::SendReset | Failure::SendClosed | Failure::ConnectReset),
            "{failure:?}"
        );
    }
}

#[test]
fn a_reset_after_a_whole_answer_takes_nothing_from_it() {
    let actions = [Action::ExpectRequest, Action::Send(ANSWER.into()), Action::Pause(ms(300)), Action::Reset];
    let server = Scripted::start(Script::new(actions.clone())).expect("a server");
    let summary = one_user(server.url("/"), 3, |draft| draft.pause = given("1s"));
    assert_eq!((summary.requests.succeeded, summary.connections.opened), (3, 3), "{:?}", summary.failures);

    // Used again before the reset comes.
    let actions = [Action::ExpectRequest, Action::Send(ANSWER.into()), Action::ExpectRequest, Action::Pause(ms(20)), Action::Reset];
    let server = Scripted::start(Script::new(actions)).expect("a server");
    let summary = one_user(server.url("/"), 8, |_| ());
    assert_eq!((summary.requests.succeeded, count(&summary, Failure::StaleReuse)), (4, 4), "{:?}", summary.failures);
}

#[test]
fn an_early_answer_to_an_upload_is_taken() {
    let early = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n";
    for last in [Action::Fin, Action::Hold] {
        // The body is left unread for longer than the client needs, so that it cannot be sent to its end.
        let actions = [Action::ExpectHead, Action::Send(early.into()), Action::Pause(ms(20_000)), last.clone()];
        let server = Scripted::start(Script::new(actions)).expect("a server");
        let summary = one_user(server.url("/"), 3, |draft| draft.data = Some("x".repeat(16 << 20)));
        assert_eq!(summary.status.get(&413), Some(&3), "{last:?}: {:?}", summary.failures);
        assert_eq!(summary.connections.opened, 3);
        let played = server.stop();
        assert_eq!(played.hostile_requests, 3, "no byte of a body is taken for a request");
    }
}

#[test]
fn what_nobody_asked_for_goes_to_no_request() {
    let unasked = "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let actions = [Action::ExpectRequest, Action::Send(ANSWER.into()), Action::Pause(ms(300)), Action::Send(unasked.into()), Action::Fin];
    let server = Scripted::start(Script::new(actions)).expect("a server");
    // The answer is read long before the rest is sent, and that long before the next request, also where others keep us from running.
    let summary = one_user(server.url("/"), 3, |draft| draft.pause = given("1s"));
    assert_eq!((summary.requests.succeeded, summary.connections.opened), (3, 3), "{:?}", summary.failures);
    let unsolicited = summary.quirks.iter().find(|count| count.quirk == Quirk::Unsolicited.code());
    assert!(unsolicited.is_some_and(|count| count.count >= 2), "{:?}", summary.quirks);
}

/// All requests end as this timeout, exactly at the limit.
fn all_at_limit(summary: &Summary, failure: Failure, limit: Nanos) {
    assert!(summary.requests.due > 0);
    assert_eq!(count(summary, failure), summary.requests.due, "{:?}", summary.failures);
    assert_eq!((summary.response_time.min(), summary.response_time.max()), (Some(limit), Some(limit)));
    assert_eq!(summary.response_time.count(), summary.requests.due);
}

#[test]
fn windows_that_stay_shut_and_answers_that_never_come_are_timeouts_at_their_limit() {
    let server = Scripted::start(Script::new([Action::NeverRead])).expect("a server");
    let summary = one_user(server.url("/"), 2, |draft| {
        draft.data = Some("x".repeat(16 << 20));
        draft.timeout = given("300ms");
    });
    all_at_limit(&summary, Failure::SendTimeout, Nanos::from_millis(300));
    assert!(summary.bytes.sent < 2 * (16 << 20), "{}", summary.bytes.sent);

    let server = Scripted::start(Script::new([Action::Hold])).expect("a server");
    let summary = one_user(server.url("/"), 2, |draft| draft.timeout = given("300ms"));
    all_at_limit(&summary, Failure::RecvIdleTimeout, Nanos::from_millis(300));

    let drip = vec![Action::Send("A: b\r\n".into()), Action::Pause(ms(20))];
    let actions = [Action::ExpectRequest, Action::Send("HTTP/1.1 200 OK\r\n".into()), Action::Repeat(FOREVER, drip)];
    let server = Scripted::start(Script::new(actions)).expect("a server");
    let summary = one_user(server.url("/"), 2, |draft| draft.timeout = given("300ms"));
    all_at_limit(&summary, Failure::RecvTotalTimeout, Nanos::from_millis(300));
}

#[test]
fn a_backlog_that_is_full_is_a_connect_timeout() {
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    rustix::net::listen(&listener, 0).expect("a short backlog");
    let address = listener.local_addr().expect("an address");
    // Nobody accepts: once the queue is full, the kernel drops what comes.
    let mut waiting = Vec::new();
    while let Ok(stream) = std::net::TcpStream::connect_timeout(&address, ms(500)) {
        waiting.push(stream);
        assert!(waiting.len() < 100, "a backlog of none takes so many");
    }
    let summary = one_user(format!("http://{address}/"), 2, |draft| draft.connect_timeout = given("200ms"));
    assert_eq!(count(&summary, Failure::ConnectTimeout), 2, "{:?}", summary.failures);
    assert_eq!(summary.connections.opened, 0);
}

#[test]
fn a_server_that_dies_is_asked_again_but_not_in_a_busy_loop() {
    let server = Scripted::start(Script::reply(ANSWER)).expect("a server");
    let url = server.url("/");
    let mut server = Some(server);
    let mut draft = Draft { url: Some(url), ..Draft::default() };
    (draft.connections, draft.threads, draft.duration) = (given("4"), given("2"), given("3s"));
    let plan = Plan::try_from(draft).unwrap_or_else(|errors| panic!("{errors:?}"));
    // It dies when the first second is over.
    let summary = run(&plan, &mut |_| drop(server.take()), &Stop::new()).expect("a run");
    assert!(summary.requests.succeeded > 0);
    let refused = count(&summary, Failure::ConnectRefused);
    assert!((4..=4 * 40).contains(&refused), "{refused} in two seconds: {:?}", summary.failures);
}

#[test]
fn bytes_that_come_one_by_one_make_the_same_answer() {
    let answer = "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nA: b\r\n\r\n";
    let server = Scripted::start(Script::new([Action::ExpectRequest, Action::SendSplit(answer.into())])).expect("a server");
    let summary = load(server.url("/"), |draft| {
        (draft.connections, draft.requests) = (given("5"), given("200"));
    });
    assert_eq!(summary.requests.succeeded, 200, "{:?}", summary.failures);
    assert_eq!(summary.bytes.received, 200 * answer.len() as u64);
    assert_eq!(summary.connections.opened, 5);
    let address: SocketAddr = server.addr();
    assert!(address.ip().is_loopback());
}
