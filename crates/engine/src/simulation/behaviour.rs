//! Behaviours: what they send for is sent, what comes back is shown to them, and when they cannot go on the run ends with what was
//! measured.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use measure::{Ending, Failure, Outcome, Summary};
use plan::{Nanos, Plan, Target};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

use super::{Simulation, answer, given, plan, read_request};
use crate::error::BehaviourError;
use crate::protocol::{EncodedRef, Header, ResponseSink};
use crate::transport::Transport;
use crate::worker::{Arrivals, Behaviour, Client, End, Request};

/// One line an answer.
type Heard = Rc<RefCell<Vec<String>>>;

/// Sends batches of a size, numbers the paths, and writes down what it hears.
#[derive(Default)]
struct Counting {
    batch: u32,
    delay: Nanos,
    breaks_at: Option<u32>,
    stops_at: Option<u32>,
    next: Cell<u32>,
    stopped: Cell<bool>,
    heard: Heard,
    samples: Rc<RefCell<Vec<(u64, u64)>>>,
}

#[derive(Default)]
struct Body {
    body: Vec<u8>,
}

impl ResponseSink for Body {
    fn head(&mut self, _status: u16, _headers: &[Header<'_>]) {
        self.body.clear();
    }

    fn body(&mut self, bytes: &[u8]) {
        self.body.extend_from_slice(bytes);
    }
}

impl Counting {
    /// Writes the next batch.
    fn write(&self, bytes: &mut Vec<u8>) -> Result<(), BehaviourError> {
        bytes.clear();
        for _ in 0..self.batch {
            let number = self.next.get();
            if self.breaks_at == Some(number) {
                return Err(BehaviourError::new(format!("no more than {number}"), "ask for fewer"));
            }
            self.next.set(number + 1);
            bytes.extend_from_slice(format!("GET /{number} HTTP/1.1\r\n\r\n").as_bytes());
        }
        Ok(())
    }

    fn hear(&self, body: &Body, outcome: &Outcome) {
        let mut heard = self.heard.borrow_mut();
        heard.push(match outcome.result {
            Ok(status) => format!("{status} {}", String::from_utf8_lossy(&body.body)),
            Err(failure) => failure.code().to_owned(),
        });
        self.stopped.set(self.stops_at.is_some_and(|at| heard.len() as u32 >= at));
    }
}

impl Behaviour for Counting {
    type User = (Vec<u8>, Body);

    const SAMPLES_EVERY: Option<Nanos> = Some(Nanos::from_millis(100));

    fn user(&self, _number: u64) -> Self::User {
        Self::User::default()
    }

    async fn iterate<T: Transport>(&self, (bytes, body): &mut Self::User, client: &mut Client<'_, T>) -> Result<(), End> {
        client.turn(self.delay).await?;
        self.write(bytes)?;
        let request = Request::new(EncodedRef::read(bytes));
        if self.batch == 1 {
            let outcome = client.fetch(&request, body).await?;
            self.hear(body, &outcome);
            client.record(&outcome);
        } else {
            let hear = |body: &mut Body, outcome: &Outcome| {
                self.hear(body, outcome);
                Ok(())
            };
            client.send_batch(&request, self.batch, body, hear).await?;
        }
        if self.stopped.get() {
            client.stop();
        }
        Ok(())
    }

    fn sample(&self, now: Nanos, answers: u64) {
        self.samples.borrow_mut().push((now.0 / 1_000_000, answers));
    }
}

/// Answers with the path, after a millisecond.
async fn echo(mut stream: DuplexStream, _number: u64) {
    while let Some(request) = read_request(&mut stream).await {
        tokio::time::sleep(Duration::from_millis(1)).await;
        answer(&mut stream, 200, request.split(' ').nth(1).unwrap_or_default()).await;
    }
}

fn counted(connections: &str, requests: &str) -> Plan {
    plan(|draft| {
        draft.connections = given(connections);
        draft.requests = given(requests);
    })
}

/// The summary, why it broke off, and what was heard.
fn run(server: &Simulation, plan: &Plan, behaviour: impl Fn() -> Counting) -> (Summary, Option<BehaviourError>, Vec<String>) {
    let heard = Heard::default();
    let (summary, broken) = server.with(plan, |_, _| Counting { heard: heard.clone(), ..behaviour() }, &mut |_| ());
    let heard = heard.take();
    (summary, broken, heard)
}

#[test]
fn a_behaviour_sends_each_request_and_sees_each_answer() {
    let (summary, broken, heard) = run(&Simulation::of(echo), &counted("1", "3"), || Counting { batch: 1, ..Counting::default() });
    assert_eq!(heard, ["200 /0", "200 /1", "200 /2"]);
    assert_eq!((summary.requests.succeeded, broken), (3, None));
}

/// As [`Counting`], with its requests sent again that a closed connection swallowed.
struct Insisting(Counting);

impl Behaviour for Insisting {
    type User = (Vec<u8>, Body);

    fn user(&self, number: u64) -> Self::User {
        self.0.user(number)
    }

    async fn iterate<T: Transport>(&self, (bytes, body): &mut Self::User, client: &mut Client<'_, T>) -> Result<(), End> {
        client.turn(Nanos::ZERO).await?;
        self.0.write(bytes)?;
        let request = Request::new(EncodedRef::read(bytes));
        let mut outcome = client.fetch(&request, body).await?;
        if outcome.result == Err(Failure::StaleReuse) {
            client.send_again(&outcome);
            outcome = client.exchange(&request, body).await;
        }
        self.0.hear(body, &outcome);
        client.record(&outcome);
        Ok(())
    }
}

/// Answers one request on a connection, and swallows the next.
async fn fickle(mut stream: DuplexStream, _number: u64) {
    if let Some(request) = read_request(&mut stream).await {
        answer(&mut stream, 200, request.split(' ').nth(1).unwrap_or_default()).await;
        read_request(&mut stream).await;
    }
}

#[test]
fn a_request_that_a_closed_connection_swallowed_is_sent_again_and_ends_once() {
    let heard = Heard::default();
    let behaviour = || Insisting(Counting { batch: 1, heard: heard.clone(), ..Counting::default() });
    let (summary, broken) = Simulation::of(fickle).with(&counted("1", "3"), |_, _| behaviour(), &mut |_| ());
    assert_eq!(heard.take(), ["200 /0", "200 /1", "200 /2"]);
    assert_eq!((summary.requests.succeeded, summary.requests.failed, broken), (3, 0, None));
}

#[test]
fn in_open_load_it_is_asked_once_for_every_arrival() {
    let open = plan(|draft| {
        draft.rate = given("100/s");
        draft.duration = given("1s");
        draft.connections = given("10");
    });
    let (summary, _, heard) = run(&Simulation::of(echo), &open, || Counting { batch: 1, ..Counting::default() });
    assert_eq!((summary.requests.due, heard.len()), (100, 100));
}

#[test]
fn delays_are_waited_for_before_each_request_and_part_of_none() {
    let delayed = || Counting { batch: 1, delay: Nanos::from_millis(10), ..Counting::default() };
    let (summary, ..) = run(&Simulation::of(echo), &counted("1", "4"), delayed);
    assert_eq!(summary.ended.drained_at, Nanos::from_millis(4 * 11));
    assert!(summary.response_time.max().unwrap() <= Nanos::from_millis(2));
}

/// Leads everybody who asks for a number to the same place.
async fn signpost(mut stream: DuplexStream, _number: u64) {
    while let Some(request) = read_request(&mut stream).await {
        let path = request.split(' ').nth(1).unwrap_or_default();
        let reply = match path {
            "/there" => "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhere".to_owned(),
            _ => format!("HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: {}\r\n\r\n{path}", path.len()),
        };
        stream.write_all(reply.as_bytes()).await.ok();
    }
}

#[test]
fn a_chain_of_redirects_begins_with_the_chosen_request_and_ends_once() {
    let followed = plan(|draft| {
        draft.connections = given("1");
        draft.requests = given("2");
        draft.follow = given("3");
    });
    let (summary, _, heard) = run(&Simulation::of(signpost), &followed, || Counting { batch: 1, ..Counting::default() });
    assert_eq!(heard, ["200 here", "200 here"]);
    assert_eq!((summary.requests.succeeded, summary.redirects), (2, 2));
}

/// Sends the same bytes again and again, and only once if it is told to.
struct Saying {
    bytes: &'static [u8],
    once: bool,
    iterations: Cell<u32>,
}

impl Behaviour for Saying {
    type User = ();

    fn user(&self, _number: u64) {}

    async fn iterate<T: Transport>(&self, _user: &mut (), client: &mut Client<'_, T>) -> Result<(), End> {
        assert!(self.iterations.get() < 1_000, "it goes round for ever");
        if self.iterations.replace(self.iterations.get() + 1) == 0 || !self.once {
            client.send(&Request::new(EncodedRef::read(self.bytes)), &mut ()).await?;
        }
        Ok(())
    }
}

/// Answers as to HEAD: with the length of a body that does not come.
async fn bodiless(mut stream: DuplexStream, _number: u64) {
    while stream.read(&mut [0; 1024]).await.is_ok_and(|read| read > 0) {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n").await;
    }
}

#[test]
fn redirects_of_a_request_whose_path_is_no_text_begin_with_its_method() {
    let followed = plan(|draft| {
        draft.connections = given("1");
        draft.requests = given("2");
        draft.follow = given("3");
    });
    let behaviour = || Saying { bytes: b"HEAD /\xff HTTP/1.1\r\n\r\n", once: false, iterations: Cell::default() };
    let (summary, broken) = Simulation::of(bodiless).with(&followed, |_, _| behaviour(), &mut |_| ());
    assert_eq!((summary.requests.succeeded, broken), (2, None), "{:?}", summary.failures);
}

#[test]
fn a_user_that_sends_nothing_goes_when_all_requests_are_sent() {
    let behaviour = || Saying { bytes: b"HEAD / HTTP/1.1\r\n\r\n", once: true, iterations: Cell::default() };
    let (summary, broken) = Simulation::of(bodiless).with(&counted("1", "1"), |_, _| behaviour(), &mut |_| ());
    assert_eq!((summary.requests.succeeded, broken), (1, None));
}

#[test]
fn a_batch_is_answered_in_pieces_of_any_size() {
    let whole: String = ["/0", "/1", "/2"].map(|path| format!("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{path}")).concat();
    for piece in 1..=whole.len() {
        let whole = whole.clone();
        let server = Simulation::of(move |mut stream: DuplexStream, _| {
            let whole = whole.clone();
            async move {
                for _ in 0..3 {
                    read_request(&mut stream).await;
                }
                for piece in whole.as_bytes().chunks(piece) {
                    stream.write_all(piece).await.unwrap();
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                std::future::pending::<()>().await;
            }
        });
        let (summary, _, heard) = run(&server, &counted("1", "3"), || Counting { batch: 3, ..Counting::default() });
        assert_eq!(heard, ["200 /0", "200 /1", "200 /2"], "in pieces of {piece}");
        assert_eq!(summary.requests.succeeded, 3);
        assert_eq!((summary.bytes.received, summary.bytes.sent), (whole_len(), 3 * 19));
    }
    fn whole_len() -> u64 {
        3 * 40
    }
}

#[test]
fn a_batch_that_is_cut_fails_for_what_was_not_answered() {
    for (sends, closes, expected) in [
        ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na", true, ["200 a", "recv.eof_before_response", "recv.eof_before_response"]),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\na",
            false,
            ["200 a", "recv.eof_before_response", "recv.eof_before_response"],
        ),
        ("HTTP/1.1 200 OK\r\n\r\nabc", true, ["200 abc", "recv.eof_before_response", "recv.eof_before_response"]),
        ("rubbish", false, ["proto1.status_line", "proto1.status_line", "proto1.status_line"]),
    ] {
        let server = Simulation::of(move |mut stream: DuplexStream, _| async move {
            for _ in 0..3 {
                read_request(&mut stream).await;
            }
            let _ = stream.write_all(sends.as_bytes()).await;
            if !closes {
                std::future::pending::<()>().await;
            }
        });
        let (summary, ..) = run(&server, &counted("1", "3"), || Counting { batch: 3, ..Counting::default() });
        let mut codes: Vec<(String, u64)> = summary.failures.iter().map(|failed| (failed.class.code().to_owned(), failed.count)).collect();
        codes.sort();
        let mut wanted: Vec<(String, u64)> = Vec::new();
        for code in expected.iter().filter(|code| !code.starts_with("200")) {
            match wanted.iter_mut().find(|(known, _)| known == code) {
                Some((_, count)) => *count += 1,
                None => wanted.push(((*code).to_owned(), 1)),
            }
        }
        assert_eq!(codes, wanted, "{sends:?}");
        assert_eq!(summary.requests.due, 3);
    }
}

#[test]
fn a_behaviour_that_cannot_go_on_ends_the_run_for_everybody() {
    let endless = plan(|draft| {
        draft.connections = given("4");
        draft.threads = given("2");
        draft.duration = given("1h");
    });
    let (summary, broken, heard) =
        run(&Simulation::of(echo), &endless, || Counting { batch: 1, breaks_at: Some(50), ..Counting::default() });
    assert_eq!(broken, Some(BehaviourError::new("no more than 50", "ask for fewer")));
    assert!(summary.ended.drained_at < Nanos::SECOND, "{}", summary.ended.drained_at);
    assert_eq!(summary.requests.due, heard.len() as u64);
    assert_eq!(summary.requests.failed + summary.requests.unsent, 0, "what was on the wire was waited for");
}

#[test]
fn a_behaviour_that_wants_no_more_ends_its_own_thread_only() {
    let timed = plan(|draft| {
        draft.connections = given("2");
        draft.threads = given("2");
        draft.duration = given("1s");
    });
    let first = Cell::new(true);
    let behaviour = || Counting { batch: 1, stops_at: first.replace(false).then_some(10), ..Counting::default() };
    let heard: Rc<RefCell<Vec<Heard>>> = Rc::default();
    let kept = heard.clone();
    let make = |_: &_, _| {
        let behaviour = behaviour();
        kept.borrow_mut().push(behaviour.heard.clone());
        behaviour
    };
    let (summary, broken) = Simulation::of(echo).with(&timed, make, &mut |_| ());
    let counts: Vec<usize> = heard.borrow().iter().map(|heard| heard.borrow().len()).collect();
    assert_eq!(counts[0], 10);
    assert!(counts[1] > 400, "{counts:?}");
    assert_eq!((summary.ended.how, broken), (Ending::Finished, None));
    assert_eq!(summary.ended.load_until, Nanos::SECOND);
}

#[test]
fn samples_hold_all_answers_across_intervals() {
    let timed = plan(|draft| {
        draft.connections = given("1");
        draft.duration = given("3s");
    });
    let samples: Rc<RefCell<Vec<(u64, u64)>>> = Rc::default();
    let make = |_: &_, _| Counting { batch: 1, samples: samples.clone(), ..Counting::default() };
    let (summary, _) = Simulation::of(echo).with(&timed, make, &mut |_| ());
    let samples = samples.borrow();
    assert!(samples.len() >= 29, "{samples:?}");
    assert!(samples.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{samples:?}");
    let (at, answers) = samples[samples.len() - 1];
    assert!(answers <= summary.requests.succeeded && answers + (3_100 - at) >= summary.requests.succeeded, "{samples:?}");
}

/// Sends to two origins in turn, and a second time after each answer from the other one.
struct Wandering {
    other: Target,
    next: Cell<u32>,
    /// Whether the second time is one too many.
    forbids: bool,
    heard: Heard,
}

impl Behaviour for Wandering {
    type User = Body;

    fn opens_first(&self) -> bool {
        false
    }

    fn user(&self, _number: u64) -> Body {
        Body::default()
    }

    async fn iterate<T: Transport>(&self, body: &mut Body, client: &mut Client<'_, T>) -> Result<(), End> {
        client.turn(Nanos::ZERO).await?;
        let number = self.next.replace(self.next.get() + 1);
        let bytes = format!("GET /{number} HTTP/1.1\r\n\r\n").into_bytes();
        let home = Request::new(EncodedRef::read(&bytes));
        client.begin(None);
        let outcome = if number.is_multiple_of(2) {
            client.exchange(&home, body).await
        } else {
            let away = client.exchange(&home.to(&self.other), body).await;
            match away.result {
                Ok(_) if self.forbids => client.fail(&away, Failure::RedirectLimit, String::new),
                Ok(_) => match client.redirect(&away, &"http://simulated.test/".parse().unwrap()) {
                    Ok(()) => client.exchange_more(&away, &home, body).await,
                    Err(refused) => refused,
                },
                Err(_) => away,
            }
        };
        let result = outcome.result.map_or_else(|failure| failure.code().to_owned(), |status| status.to_string());
        let line = format!("{result} {} {} ms", String::from_utf8_lossy(&body.body), outcome.service_time().0 / 1_000_000);
        self.heard.borrow_mut().push(line);
        client.record(&outcome);
        Ok(())
    }
}

fn wandered(forbids: bool) -> (Summary, u64, Vec<String>) {
    let heard = Heard::default();
    let simulation = Simulation::of(echo);
    let make = |_: &_, _| Wandering { other: "http://other.test/".parse().unwrap(), next: Cell::new(0), forbids, heard: heard.clone() };
    let (summary, _) = simulation.with(&counted("1", "4"), make, &mut |_| ());
    let heard = heard.take();
    (summary, simulation.dials(), heard)
}

#[test]
fn a_behaviour_keeps_a_connection_to_each_origin_and_all_it_sends_is_one_request() {
    let (summary, dials, heard) = wandered(false);
    assert_eq!(heard, ["200 /0 1 ms", "200 /1 2 ms", "200 /2 1 ms", "200 /3 2 ms"]);
    assert_eq!((summary.requests.succeeded, summary.redirects, dials), (4, 2, 2));
    let opened = summary.connections.opened;
    assert_eq!(opened, 2, "none before the load, and one to each origin");
}

#[test]
fn what_a_behaviour_calls_a_failure_is_one() {
    let (summary, _, heard) = wandered(true);
    assert_eq!(heard, ["200 /0 1 ms", "redirect.limit /1 1 ms", "200 /2 1 ms", "redirect.limit /3 1 ms"]);
    assert_eq!((summary.requests.succeeded, summary.requests.failed), (2, 2));
}

/// Goes on journeys of three requests, with 50 ms between them.
struct Travelling {
    asked: Rc<RefCell<Vec<String>>>,
    arrivals: Cell<u32>,
}

impl Behaviour for Travelling {
    type User = ();

    fn user(&self, _number: u64) {}

    async fn iterate<T: Transport>(&self, _user: &mut (), client: &mut Client<'_, T>) -> Result<(), End> {
        self.arrivals.set(self.arrivals.get() + 1);
        let name = self.arrivals.get();
        for sent in 0..3 {
            client.turn(if sent > 0 { Nanos::from_millis(50) } else { Nanos::ZERO }).await?;
            self.asked.borrow_mut().push(format!("{name}.{sent}"));
            client.send(&Request::new(EncodedRef::read(b"GET / HTTP/1.1\r\n\r\n")), &mut ()).await?;
        }
        Ok(())
    }
}

fn travelling(plan: &Plan) -> (Summary, Vec<String>) {
    let asked = Rc::new(RefCell::default());
    let behaviour = || Travelling { asked: asked.clone(), arrivals: Cell::new(0) };
    let (summary, broken) = Simulation::of(echo).with(plan, |_, _| behaviour(), &mut |_| ());
    assert_eq!(broken, None);
    let asked = asked.take();
    (summary, asked)
}

#[test]
fn an_arrival_begins_a_journey_and_pauses_are_part_of_no_response_time() {
    let open = plan(|draft| {
        draft.rate = given("10/s");
        draft.duration = given("2s");
        draft.connections = given("5");
    });
    let (summary, asked) = travelling(&open);
    // The last arrival, at 1.9 s, has sent twice when the load ends at 2 s: 1.9 and 1.951; the third would leave at 2.002.
    assert_eq!(summary.requests.due, 20 * 3 - 1);
    assert_eq!(asked.iter().filter(|asked| asked.ends_with(".0")).count(), 20);
    assert!(summary.response_time.max().unwrap() <= Nanos::from_millis(2), "{:?}", summary.response_time.max());
    assert!(summary.wait.max().unwrap() <= Nanos::from_micros(1), "{:?}", summary.wait.max());
}

#[test]
fn a_journey_that_finds_no_connection_waits_with_its_first_request() {
    let open = plan(|draft| {
        draft.rate = given("10/s");
        draft.duration = given("2s");
        draft.connections = given("1");
    });
    // A journey takes 103 ms, and one comes every 100 ms: the twentieth waits for 19 of these 3 ms.
    let (summary, asked) = travelling(&open);
    let order: Vec<String> = (1..=19).flat_map(|name| (0..3).map(move |sent| format!("{name}.{sent}"))).collect();
    assert_eq!(asked[..order.len()], order[..]);
    let wait = summary.wait.max().unwrap();
    assert!(wait > Nanos::from_millis(50) && wait < Nanos::from_millis(80), "{wait}");
}

/// Knows when its requests fall due: the k-th goes to `/k`.
#[derive(Clone, Default)]
struct Timed {
    dues_ms: Rc<Vec<u64>>,
    /// How long it has nothing to say after the last, as one that waits for something else.
    lingers: bool,
    taken: Rc<RefCell<Vec<(usize, Nanos)>>>,
    next: Rc<Cell<usize>>,
    given_up: Rc<Cell<u64>>,
    ended: Rc<Cell<usize>>,
    heard: Heard,
}

impl Timed {
    fn at(dues_ms: &[u64]) -> Self {
        Self { dues_ms: Rc::new(dues_ms.to_vec()), ..Self::default() }
    }

    fn due(&self) -> Option<Nanos> {
        self.dues_ms.get(self.next.get()).map(|due| Nanos::from_millis(*due))
    }
}

impl Behaviour for Timed {
    type User = Body;

    fn user(&self, _number: u64) -> Body {
        Body::default()
    }

    fn arrivals(&self) -> Option<&impl Arrivals> {
        Some(self)
    }

    async fn iterate<T: Transport>(&self, body: &mut Body, client: &mut Client<'_, T>) -> Result<(), End> {
        let number = {
            let mut taken = self.taken.borrow_mut();
            let at = taken.iter().position(|it| it.1 == client.due()).expect("what becomes a user's was taken");
            taken.remove(at).0
        };
        let bytes = format!("GET /{number} HTTP/1.1\r\n\r\n").into_bytes();
        let outcome = client.send(&Request::new(EncodedRef::read(&bytes)), body).await?;
        let millis = |span: Nanos| span.0 / 1_000_000;
        let text = String::from_utf8_lossy(&body.body).into_owned();
        self.heard.borrow_mut().push(format!("{text} due {} sent {}", millis(outcome.due), millis(outcome.sent)));
        self.ended.set(self.ended.get() + 1);
        Ok(())
    }
}

impl Arrivals for Timed {
    fn next_due(&self) -> Option<Nanos> {
        match self.due() {
            None if self.lingers && self.ended.get() < self.dues_ms.len() => Some(Nanos::NEVER),
            due => due,
        }
    }

    fn take_due(&self, now: Nanos) -> Option<Nanos> {
        let due = self.due().filter(|due| *due <= now)?;
        self.taken.borrow_mut().push((self.next.get(), due));
        self.next.set(self.next.get() + 1);
        Some(due)
    }

    fn unsent(&self, due: Nanos) {
        self.taken.borrow_mut().retain(|it| it.1 != due);
        self.given_up.set(self.given_up.get() + 1);
        self.ended.set(self.ended.get() + 1);
    }

    fn stop(&self) {}
}

fn timed(connections: &str, timeout: &str) -> Plan {
    plan(|draft| {
        draft.rate = given("10/s");
        draft.duration = given("2s");
        draft.connections = given(connections);
        draft.timeout = given(timeout);
    })
}

#[test]
fn requests_fall_due_when_the_behaviour_says_so_and_not_by_the_rate() {
    let behaviour = Timed::at(&[0, 3, 3, 700, 701, 1999]);
    let (summary, _) = Simulation::of(echo).with(&timed("10", "1s"), |_, _| behaviour.clone(), &mut |_| ());
    let mut heard = behaviour.heard.take();
    heard.sort();
    assert_eq!(
        heard,
        ["/0 due 0 sent 0", "/1 due 3 sent 3", "/2 due 3 sent 3", "/3 due 700 sent 700", "/4 due 701 sent 701", "/5 due 1999 sent 1999"]
    );
    assert_eq!((summary.requests.due, summary.requests.succeeded), (6, 6));
    assert_eq!(summary.ended.load_until, Nanos::from_secs(2));
}

#[test]
fn requests_of_a_behaviour_that_find_no_lane_wait_and_are_given_up_at_their_timeout() {
    let slow = |mut stream: DuplexStream, _| async move {
        while let Some(request) = read_request(&mut stream).await {
            tokio::time::sleep(Duration::from_millis(400)).await;
            answer(&mut stream, 200, request.split(' ').nth(1).unwrap_or_default()).await;
        }
    };
    let behaviour = Timed::at(&[0, 10, 20, 30, 40]);
    let (summary, _) = Simulation::of(slow).with(&timed("1", "1s"), |_, _| behaviour.clone(), &mut |_| ());
    // The third is sent in time and answered too late; the others are over before the Lane is free.
    assert_eq!((summary.requests.due, summary.requests.succeeded, summary.requests.failed, summary.requests.unsent), (5, 2, 1, 2));
    assert_eq!(behaviour.given_up.get(), 2);
    assert_eq!(behaviour.heard.take()[..2], ["/0 due 0 sent 0", "/1 due 10 sent 400"]);
}

#[test]
fn a_behaviour_that_has_nothing_due_any_more_ends_the_load_when_it_says_so() {
    let behaviour = Timed { lingers: true, ..Timed::at(&[0, 5]) };
    let (summary, _) = Simulation::of(echo).with(&timed("2", "1s"), |_, _| behaviour.clone(), &mut |_| ());
    assert_eq!((summary.requests.succeeded, summary.requests.due), (2, 2));
}
