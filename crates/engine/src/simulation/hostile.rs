//! Every known misbehaviour of a server, played to the real worker.
//!
//! The reader's own tests show that a verdict does not depend on how bytes are cut. Here the same table meets what the
//! reader cannot see: what becomes of the connection, of the next request on it, of its neighbours, and of the end of
//! the run. A server plays a case to every other request and answers the rest fairly, so one run tests a case at every
//! cut, and each time that the request after it is unharmed.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use measure::{Failure, Quirk, Summary};
use plan::{Draft, Nanos};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::time::sleep;

use super::told::{count, quirk};
use super::{Simulation, given, plan, read_request};
use crate::protocol::http1::ResponseFraming;
use crate::protocol::http1::cases::{Case, Expected, Then, cases};

/// The status of fair answers. No case has it, so none can pass for a fair one.
const FAIR: u16 = 299;

/// Cases that a plain request can meet: a tunnel is asked for by the proxy code alone.
fn met() -> impl Iterator<Item = Case> {
    cases().into_iter().filter(|case| case.framing != ResponseFraming::Connect)
}

fn shown(case: &Case) -> String {
    format!("case {} ({}): {}", case.number, case.name, case.sends[..case.sends.len().min(200)].escape_ascii())
}

/// A fair answer; its body, if it may have one, is its number.
fn fair_answer(case: &Case, number: u64) -> Vec<u8> {
    let body = format!("{number:08}");
    let sent = if case.framing == ResponseFraming::Head { "" } else { &body };
    format!("HTTP/1.1 {FAIR} Fair\r\nContent-Length: {}\r\n\r\n{sent}", body.len()).into_bytes()
}

/// How bytes are delivered.
#[derive(Clone)]
enum Delivery {
    Whole,
    /// In two pieces, the k-th time cut at the k-th of these places, with a millisecond between them.
    CutAt(Rc<Vec<usize>>),
    /// Each byte alone, a millisecond apart.
    ByByte,
}

impl Delivery {
    fn pieces<'a>(&self, bytes: &'a [u8], time: usize) -> Vec<&'a [u8]> {
        match self {
            Self::Whole => vec![bytes],
            Self::CutAt(places) => {
                let (first, second) = bytes.split_at(places[time % places.len()]);
                vec![first, second]
            }
            Self::ByByte => bytes.chunks(1).collect(),
        }
    }
}

/// What happened on the server's side.
#[derive(Default)]
struct Seen {
    /// Requests so far, of both kinds.
    requests: Cell<u64>,
    fair: Cell<u64>,
    played: Cell<u64>,
    fair_bytes: Cell<u64>,
    /// Requests that came on a connection on which a case had been played.
    came_again: Cell<u64>,
}

fn add(cell: &Cell<u64>, more: u64) {
    cell.set(cell.get() + more);
}

/// A server that plays the case to the first, third, fifth… request.
fn alternating(case: &Case, delivery: Delivery) -> (Simulation, Rc<Seen>) {
    let seen = Rc::new(Seen::default());
    let (case, all) = (Rc::new(case.clone()), seen.clone());
    let simulation = Simulation::of(move |mut stream, _| {
        let (case, seen, delivery) = (case.clone(), all.clone(), delivery.clone());
        async move {
            let mut after_case = false;
            while read_request(&mut stream).await.is_some() {
                let number = seen.requests.get();
                add(&seen.requests, 1);
                add(&seen.came_again, u64::from(after_case));
                if number % 2 == 1 {
                    let answer = fair_answer(&case, number);
                    add(&seen.fair, 1);
                    add(&seen.fair_bytes, answer.len() as u64);
                    let _ = stream.write_all(&answer).await;
                    after_case = false;
                } else {
                    add(&seen.played, 1);
                    after_case = true;
                    if !play(&mut stream, &case, &delivery.pieces(&case.sends, number as usize / 2)).await {
                        return;
                    }
                }
            }
        }
    });
    (simulation, seen)
}

/// Plays a case; whether the connection goes on.
async fn play(stream: &mut DuplexStream, case: &Case, pieces: &[&[u8]]) -> bool {
    for (number, piece) in pieces.iter().enumerate() {
        if number > 0 {
            sleep(Duration::from_millis(1)).await;
        }
        if stream.write_all(piece).await.is_err() {
            return false;
        }
    }
    if case.then == Then::Closes {
        let _ = stream.shutdown().await;
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
        return false;
    }
    true
}

/// One user who meets the case and a fair answer in turn, `times` times.
fn one_user(case: &Case, times: u64, timeout: &str) -> impl FnOnce(&mut Draft) {
    let (timeout, head) = (timeout.to_owned(), case.framing == ResponseFraming::Head);
    move |draft| {
        draft.connections = given("1");
        draft.requests = given(&(2 * times).to_string());
        // Long enough that what comes late comes to an idle connection, not to the next request.
        draft.pause = given("1s");
        draft.timeout = given(&timeout);
        draft.method = head.then(|| "HEAD".to_owned());
    }
}

fn status(summary: &Summary, status: u16) -> u64 {
    summary.status.get(&status).copied().unwrap_or(0)
}

/// Requests met by the case that ended as it says; the rest of them succeeded, or failed otherwise.
fn as_expected(summary: &Summary, expected: Expected) -> u64 {
    match expected {
        Expected::Answered { status: code, .. } => status(summary, code),
        // Without a byte on a connection used before, it has another name.
        Expected::Failed(failure @ Failure::RecvEofBeforeResponse) => count(summary, failure) + count(summary, Failure::StaleReuse),
        Expected::Failed(failure) => count(summary, failure),
        Expected::Unfinished => count(summary, Failure::RecvTotalTimeout),
    }
}

/// Whether the answer leaves the connection open and the server then closes it.
fn kept_until_closed(case: &Case) -> bool {
    matches!(case.expected, Expected::Answered { reusable: true, .. }) && case.then == Then::Closes
}

fn kept(case: &Case) -> bool {
    matches!(case.expected, Expected::Answered { reusable: true, .. }) && case.then == Then::Waits
}

/// What has to hold however a case was delivered.
fn unharmed(case: &Case, summary: &Summary, seen: &Seen, times: u64) {
    let shown = shown(case);
    assert_eq!(summary.requests.due, 2 * times, "{shown}");
    assert_eq!(summary.requests.due, summary.requests.succeeded + summary.requests.failed, "{shown}");
    assert_eq!((seen.played.get(), seen.fair.get()), (times, times), "{shown}");
    assert_eq!(status(summary, FAIR), times, "the requests between are answered fairly: {shown}\n{:?}", summary.failures);
    let opened = summary.connections.opened;
    assert_eq!(opened, summary.connections.closed_by_us + summary.connections.closed_by_server, "{shown}");
}

#[test]
fn every_case_ends_as_it_should_and_harms_no_later_request() {
    for case in met() {
        let (server, seen) = alternating(&case, Delivery::Whole);
        let summary = server.run(&plan(one_user(&case, 2, "5s")));
        let shown = shown(&case);
        unharmed(&case, &summary, &seen, 2);
        assert_eq!(as_expected(&summary, case.expected), 2, "{shown}\n{:?}", summary.failures);
        assert_eq!(seen.came_again.get(), if kept(&case) { 2 } else { 0 }, "{shown}");
        assert_eq!(summary.connections.opened, if kept(&case) { 1 } else { 3 }, "{shown}");
        match case.expected {
            Expected::Answered { quirks, .. } => {
                let counted: Vec<_> = summary.quirks.iter().map(|count| (count.quirk.as_str(), count.count)).collect();
                let expected: Vec<_> = quirks.iter().map(|quirk| (quirk.code(), 2)).collect();
                assert_eq!(counted, expected, "{shown}");
                assert_eq!(summary.bytes.received, 2 * case.sends.len() as u64 + seen.fair_bytes.get(), "{shown}");
            }
            Expected::Failed(failure) => {
                let example = summary.failures[0].example.as_ref().expect("an example");
                assert!(example.text.len() <= 4 * 256 + 100 && !example.text.contains(char::is_control), "{shown}: {}", example.text);
                if case.then == Then::Waits && case.sends.len() <= 256 {
                    let sent = crate::protocol::shown(&case.sends);
                    assert!(example.text.contains(&sent), "the example is what was sent: {shown}: {}", example.text);
                }
                assert!(!failure.is_timeout());
                assert_eq!(summary.response_time.count(), 2, "a failure has no response time: {shown}");
            }
            Expected::Unfinished => {
                assert_eq!(summary.response_time.max(), Some(Nanos::from_millis(5_000)), "{shown}");
            }
        }
    }
}

/// Cut in two, the end of an answer may be read before what follows it, which then comes to an idle connection.
fn tells_apart_late_bytes(case: &Case, summary: &Summary, times: u64) {
    let shown = shown(case);
    let as_expected = as_expected(summary, case.expected);
    match case.expected {
        Expected::Failed(Failure::ProtoExtraData) => {
            let answered = summary.requests.succeeded - status(summary, FAIR);
            assert_eq!(as_expected + answered, times, "{shown}\n{:?}", summary.failures);
            assert!(quirk(summary, Quirk::Unsolicited) <= answered, "{shown}");
        }
        _ => assert_eq!(as_expected, times, "{shown}\n{:?}", summary.failures),
    }
}

#[test]
fn every_case_ends_as_it_should_cut_in_two_anywhere() {
    for case in met() {
        let length = case.sends.len();
        // Long cases are long by repetition.
        let mut cuts: Vec<usize> = if length < 400 {
            (0..=length).collect()
        } else {
            (0..60).chain((60..length).step_by(length / 20)).chain(length - 30..=length).collect()
        };
        cuts.dedup();
        let times = cuts.len() as u64;
        let (server, seen) = alternating(&case, Delivery::CutAt(Rc::new(cuts)));
        let summary = server.run(&plan(one_user(&case, times, "5s")));
        unharmed(&case, &summary, &seen, times);
        tells_apart_late_bytes(&case, &summary, times);
        if !kept(&case) && case.expected != Expected::Failed(Failure::ProtoExtraData) {
            assert_eq!(seen.came_again.get(), 0, "{}", shown(&case));
        }
    }
}

#[test]
fn every_case_ends_as_it_should_one_byte_at_a_time() {
    for case in met() {
        let (server, seen) = alternating(&case, Delivery::ByByte);
        let summary = server.run(&plan(one_user(&case, 1, "5m")));
        unharmed(&case, &summary, &seen, 1);
        tells_apart_late_bytes(&case, &summary, 1);
    }
}

/// A server that plays the case on every tenth connection and answers fairly, after 10 ms, on all others.
fn a_tenth_hostile(case: &Case) -> (Simulation, Rc<Seen>) {
    let seen = Rc::new(Seen::default());
    let (case, all) = (Rc::new(case.clone()), seen.clone());
    let simulation = Simulation::of(move |mut stream, number| {
        let (case, seen) = (case.clone(), all.clone());
        async move {
            let mut after_case = false;
            while read_request(&mut stream).await.is_some() {
                add(&seen.requests, 1);
                add(&seen.came_again, u64::from(after_case));
                sleep(Duration::from_millis(10)).await;
                if number % 10 == 3 {
                    add(&seen.played, 1);
                    after_case = true;
                    if !play(&mut stream, &case, &[&case.sends]).await {
                        return;
                    }
                } else {
                    add(&seen.fair, 1);
                    let _ = stream.write_all(&fair_answer(&case, seen.fair.get())).await;
                }
            }
        }
    });
    (simulation, seen)
}

#[test]
fn hostile_connections_beside_fair_ones_harm_only_themselves() {
    for case in met() {
        for open in [false, true] {
            let (server, seen) = a_tenth_hostile(&case);
            let summary = server.run(&plan(|draft| {
                draft.connections = given("10");
                draft.duration = given("1s");
                draft.timeout = given("300ms");
                draft.method = (case.framing == ResponseFraming::Head).then(|| "HEAD".to_owned());
                draft.rate = if open { given("400/s") } else { None };
            }));
            let shown = format!("{}, open load: {open}", shown(&case));
            let requests = summary.requests;
            assert_eq!(requests.due, requests.succeeded + requests.failed + requests.unsent, "{shown}");
            assert_eq!(status(&summary, FAIR), seen.fair.get(), "all fair answers are successes: {shown}\n{:?}", summary.failures);
            assert_eq!(as_expected(&summary, case.expected), seen.played.get(), "{shown}\n{:?}", summary.failures);
            // Closed just as it was used again: the server never saw that request.
            let unseen = if kept_until_closed(&case) { count(&summary, Failure::StaleReuse) } else { 0 };
            assert_eq!(requests.due - requests.unsent, seen.requests.get() + unseen, "every request is one: {shown}");
            assert!(seen.played.get() > 0 && seen.fair.get() > 100, "{shown}: {} played, {} fair", seen.played.get(), seen.fair.get());
            if !kept(&case) {
                assert_eq!(seen.came_again.get(), 0, "a bad connection is not used again: {shown}");
            }
            let most = Nanos::SECOND.plus(Nanos::from_millis(300)).plus(Nanos::SECOND);
            assert!(summary.ended.drained_at <= most, "{shown}: {:?}", summary.ended);
            let opened = summary.connections.opened;
            assert_eq!(opened, summary.connections.closed_by_us + summary.connections.closed_by_server, "{shown}");
        }
    }
}

#[test]
fn every_case_in_one_run_leaves_the_fair_connections_alone() {
    // Those that are kept would in the end take the places of all others.
    let table: Rc<Vec<Case>> = Rc::new(met().filter(|case| case.framing == ResponseFraming::Other && !kept(case)).collect());
    for open in [false, true] {
        let fair = Rc::new(Cell::new(0));
        let played = Rc::new(RefCell::new(Vec::new()));
        let (cases, fairs, plays) = (table.clone(), fair.clone(), played.clone());
        let server = Simulation::of(move |mut stream, number| {
            let (cases, fair, played) = (cases.clone(), fairs.clone(), plays.clone());
            async move {
                while read_request(&mut stream).await.is_some() {
                    sleep(Duration::from_millis(10)).await;
                    if number % 10 == 3 {
                        let case = &cases[(number / 10) as usize % cases.len()];
                        played.borrow_mut().push(case.expected);
                        if !play(&mut stream, case, &[&case.sends]).await {
                            return;
                        }
                    } else {
                        fair.set(fair.get() + 1);
                        let case = &cases[0];
                        let _ = stream.write_all(&fair_answer(case, fair.get())).await;
                        if fair.get() % 19 == 0 {
                            // So that there are always new connections.
                            return;
                        }
                    }
                }
            }
        });
        let summary = server.run(&plan(|draft| {
            draft.connections = given("100");
            draft.duration = given("10s");
            draft.timeout = given("1s");
            draft.rate = if open { given("4000/s") } else { None };
            draft.threads = given("2");
        }));
        assert_eq!(status(&summary, FAIR), fair.get());
        let played = played.borrow();
        for class in Failure::ALL {
            let expected = played.iter().filter(|expected| **expected == Expected::Failed(*class)).count() as u64;
            match class {
                // Cases that wait for a timeout; connections closed by the server between two requests.
                Failure::RecvTotalTimeout => {
                    let unfinished = played.iter().filter(|expected| **expected == Expected::Unfinished).count() as u64;
                    assert_eq!(count(&summary, *class), unfinished);
                }
                Failure::StaleReuse | Failure::RecvEofBeforeResponse | Failure::CheckStatus => {}
                _ => assert_eq!(count(&summary, *class), expected, "{class}"),
            }
        }
        let classes: std::collections::BTreeSet<_> = summary.failures.iter().map(|failure| failure.class).collect();
        assert!(
            classes.len() > 15,
            "open load: {open}: {} hostile, {:?}, {:?}, {classes:?}",
            played.len(),
            summary.requests,
            summary.connections
        );
    }
}
