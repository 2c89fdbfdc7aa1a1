//! Counts against a server that counts: what is reported is what happened.

use engine::{Stop, run};
use measure::{Ending, Failure, Summary};
use plan::{Draft, Nanos, Plan, Setting};
use testbed::{Config, Counts, Testbed};

/// A setting as typed.
fn given<T: std::str::FromStr>(text: &str) -> Option<Setting<T>>
where
    T::Err: std::fmt::Display,
{
    text.parse().ok()
}

fn plan_for(url: String, settings: impl FnOnce(&mut Draft)) -> Plan {
    let mut draft = Draft { url: Some(url), ..Draft::default() };
    settings(&mut draft);
    Plan::try_from(draft).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// One load on a server of its own: what was reported, and what the server counted.
fn load(path: &str, settings: impl FnOnce(&mut Draft)) -> (Summary, Counts) {
    let server = Testbed::start(Config::new()).expect("a server");
    let plan = plan_for(server.url(path), settings);
    let summary = run(&plan, &mut |_| (), &Stop::new()).unwrap_or_else(|error| panic!("{error:?}"));
    let requests = summary.requests;
    assert_eq!(requests.due, requests.succeeded + requests.failed + requests.unsent);
    assert_eq!(summary.connections.opened, summary.connections.closed_by_us + summary.connections.closed_by_server);
    (summary, server.stop())
}

fn count(summary: &Summary, failure: Failure) -> u64 {
    summary.failures.iter().find(|count| count.class == failure).map_or(0, |count| count.count)
}

/// The behaviours that answer or cut, so that every request sent is received.
const PATHS: [&str; 8] = [
    "/healthz",
    "/behave?delay=exp:2ms&seed=3",
    "/behave?status=503&share=0.1",
    "/behave?reset=before&share=0.1",
    "/behave?reset=10&size=1000&share=0.2",
    "/behave?close",
    "/behave?close=7&chunked=100&size=10kB",
    "/behave?limit=50",
];

/// What the client says equals what the server counted.
fn same(path: &str, summary: &Summary, counts: &Counts) {
    let bare = path.split('?').next().expect("a path");
    let shown = format!("{path}: {:?} {counts:?}", summary.failures);
    let sent = summary.requests.due - summary.requests.unsent;
    assert_eq!(counts.path(bare), sent, "{shown}");
    assert_eq!(counts.received, sent, "nothing else was asked for: {shown}");
    assert_eq!((counts.in_flight, counts.abandoned), (0, 0), "{shown}");
    // A reply cut in its body is one the server began and the client could not take.
    let answered: u64 = summary.status.values().sum();
    assert_eq!(answered + counts.cut, counts.received, "{shown}");
    for (status, replies) in &summary.status {
        assert!(counts.status(*status) >= *replies, "{shown}");
    }
    assert_eq!(count(summary, Failure::RecvReset) + count(summary, Failure::StaleReuse), counts.cut, "{shown}");
    // One more connection was the preflight's.
    assert_eq!(summary.connections.opened + 1, counts.connections, "{shown}");
}

#[test]
fn closed_load_counts_what_the_server_counts() {
    for path in PATHS {
        let (summary, counts) = load(path, |draft| {
            (draft.connections, draft.duration) = (given("10"), given("300ms"));
        });
        assert!(summary.requests.due > 10, "{path}");
        same(path, &summary, &counts);
    }
}

#[test]
fn open_load_counts_what_the_server_counts() {
    for path in PATHS {
        let (summary, counts) = load(path, |draft| {
            (draft.connections, draft.rate, draft.duration) = (given("50"), given("500/s"), given("400ms"));
            draft.arrivals = given("even");
        });
        assert_eq!(summary.requests.due, 200, "{path}");
        same(path, &summary, &counts);
    }
}

#[test]
fn without_keep_alive_there_are_as_many_connections_as_requests() {
    for rate in [None, Some("300/s")] {
        let (summary, counts) = load("/healthz", |draft| {
            (draft.connections, draft.requests) = (given("8"), given("120"));
            draft.no_keepalive = true;
            draft.rate = rate.and_then(given);
        });
        assert_eq!((summary.requests.succeeded, summary.connections.opened), (120, 120));
        assert_eq!((counts.path("/healthz"), counts.connections, counts.open), (120, 121, 0));
    }
}

#[test]
fn a_number_of_requests_is_that_number_on_any_threads() {
    for (threads, connections, requests) in [("1", "1", 1), ("1", "7", 100), ("2", "7", 1001), ("3", "3", 7), ("4", "50", 2003)] {
        for rate in [None, Some("5000/s")] {
            let (summary, counts) = load("/healthz", |draft| {
                (draft.threads, draft.connections) = (given(threads), given(connections));
                draft.requests = given(&requests.to_string());
                draft.rate = rate.and_then(given);
            });
            let shown = format!("{requests} on {threads} threads, rate {rate:?}: {:?}", summary.failures);
            assert_eq!((summary.requests.due, summary.requests.succeeded, counts.received), (requests, requests, requests), "{shown}");
            assert_eq!(summary.timeline.iter().map(|tick| tick.succeeded).sum::<u64>(), requests, "{shown}");
        }
    }
}

#[test]
fn as_many_connections_are_opened_as_asked_for_on_any_number_of_threads() {
    for (threads, connections) in [("12", 100), ("3", 100), ("7", 8)] {
        let (summary, counts) = load("/healthz", |draft| {
            (draft.threads, draft.connections) = (given(threads), given(&connections.to_string()));
            draft.duration = given("300ms");
        });
        assert_eq!((summary.connections.opened, summary.concurrency), (connections, connections), "{threads} threads");
        // One more was the preflight's.
        assert_eq!(counts.connections, connections + 1, "{threads} threads");
    }
}

#[test]
fn a_rate_below_the_number_of_threads_is_kept() {
    for (threads, rate, due) in [("12", "5/s", 5), ("7", "100/s", 100), ("3", "1/s", 1)] {
        let (summary, counts) = load("/healthz", |draft| {
            (draft.threads, draft.connections, draft.rate) = (given(threads), given("12"), given(rate));
            (draft.duration, draft.arrivals) = (given("1s"), given("even"));
        });
        assert_eq!((summary.requests.due, summary.requests.succeeded, counts.received), (due, due, due), "{rate} on {threads} threads");
    }
}

#[test]
fn the_first_byte_of_every_answer_is_timed_and_not_only_of_every_connection() {
    for rate in [None, Some("5000/s")] {
        let (summary, counts) = load("/healthz", |draft| {
            (draft.connections, draft.requests, draft.rate) = (given("2"), given("300"), rate.and_then(given));
        });
        assert_eq!((summary.ttfb.count(), summary.service_time.count(), counts.received), (300, 300, 300));
        assert!(summary.connections.opened <= 2);
    }
}

#[test]
fn answers_of_different_lengths_are_no_failures() {
    // The id of the card is in the answer, and has one digit to begin with, two and three later.
    let (summary, counts) = load("/question", |draft| (draft.connections, draft.requests) = (given("2"), given("500")));
    assert_eq!((summary.requests.succeeded, counts.status(200)), (500, 500), "{:?}", summary.failures);
    assert_ne!(summary.bytes.received % 500, 0, "the answers were all of one length");
    assert_eq!(summary.connections.opened, 2, "HTTP/1.1 keeps connections");
}

#[test]
fn a_server_that_never_answers_is_all_timeouts_at_their_limit() {
    let limit = Nanos::from_millis(400);
    for rate in [None, Some("100/s")] {
        let (summary, counts) = load("/behave?never", |draft| {
            (draft.connections, draft.duration, draft.timeout) = (given("10"), given("1s"), given("400ms"));
            draft.rate = rate.and_then(given);
            draft.arrivals = rate.and_then(|_| given("even"));
        });
        let requests = summary.requests;
        assert_eq!(requests.succeeded, 0);
        assert_eq!(count(&summary, Failure::RecvIdleTimeout), requests.failed, "{:?}", summary.failures);
        assert_eq!(summary.response_time.count(), requests.due, "none is left out");
        assert_eq!((summary.response_time.min(), summary.response_time.max()), (Some(limit), Some(limit)));
        assert_eq!(counts.received, requests.failed);
        assert_eq!(requests.due == 100, rate.is_some(), "{requests:?}");
        assert!(requests.failed >= 20, "{requests:?}");
        // The plan's end, the timeout, and a second.
        assert!(summary.ended.drained_at <= Nanos::from_millis(2_400), "{:?}", summary.ended);
    }
}

#[test]
fn watched_or_not_the_counts_are_the_same() {
    let counts = [true, false].map(|watched| {
        let server = Testbed::start(Config::new()).expect("a server");
        let plan = plan_for(server.url("/behave?status=503&share=0.1"), |draft| {
            (draft.rate, draft.duration, draft.connections) = (given("700/s"), given("2500ms"), given("40"));
        });
        let mut screen = String::new();
        let mut ticks = 0;
        let summary = run(
            &plan,
            &mut |tick| {
                ticks += 1;
                if watched {
                    // A screen that is slow to draw.
                    for line in 0..20_000 {
                        screen = format!("{line} {} {:?}", screen.len(), tick.succeeded);
                    }
                }
            },
            &Stop::new(),
        )
        .expect("a run");
        assert!(ticks >= 2);
        let received = server.stop();
        assert_eq!(received.received, summary.requests.due);
        (summary.requests, summary.status.clone(), received.by_path)
    });
    assert_eq!(counts[0], counts[1]);
}

#[test]
fn a_stop_from_another_thread_ends_any_load_at_once() {
    // Answered or not, resting, or in line for the only connection: a lost wake-up would be waited for for 30 s.
    let loads: [(&str, Option<&str>, Option<&str>); 5] = [
        ("/healthz", None, None),
        ("/healthz", None, Some("1h")),
        ("/healthz", Some("1/s"), None),
        ("/behave?never", None, None),
        ("/behave?never", Some("1000/s"), None),
    ];
    for (path, rate, pause) in loads {
        let server = Testbed::start(Config::new()).expect("a server");
        let plan = plan_for(server.url(path), |draft| {
            (draft.connections, draft.threads, draft.duration) = (given("2"), given("2"), given("1h"));
            (draft.rate, draft.pause) = (rate.and_then(given), pause.and_then(given));
        });
        let stop = Stop::new();
        let summary = std::thread::scope(|threads| {
            threads.spawn(|| {
                // For a minute at most; without a request the run itself would show it.
                for _ in 0..60_000 {
                    if server.counts().received > 0 {
                        break;
                    }
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
                stop.raise();
                stop.raise();
            });
            run(&plan, &mut |_| (), &stop).expect("a run")
        });
        let shown = format!("{path} {rate:?} {pause:?}: {:?} {:?}", summary.ended, summary.failures);
        assert_eq!(summary.ended.how, Ending::Interrupted, "{shown}");
        assert!(summary.ended.drained_at < Nanos::from_millis(20_000), "{shown}");
        let requests = summary.requests;
        assert_eq!(requests.due, requests.succeeded + requests.failed + requests.unsent, "{shown}");
        assert_eq!(count(&summary, Failure::ClientInterrupted), requests.failed, "{shown}");
    }
}
