//! A protocol with two places on a connection: what a Lane does not know of HTTP/1.1 is shown by one that is otherwise.
//!
//! A request is a line, its number before it: `7 /path`. So is an answer: `7 200 text`. Answers come in any order, so whoever reads
//! hands on what is another's, and whoever goes wakes the other to read for itself. Lanes that find no free place wait for one of them
//! that opens a connection. A protocol in the tests rather than a part of the product: two places are enough to show what sharing asks of
//! a Lane, and nobody serves it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use measure::{Closer, Failure, Quirks, Summary};
use plan::{Keepalive, Nanos, Plan, Share, Target};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, DuplexStream, ReadBuf};
use tokio::time::{Instant, sleep};

use super::told::{Heard, Numbering, of};
use super::{Simulation, given, plan};
use crate::clock::Clock;
use crate::net::{DialFailed, Version};
use crate::protocol::{Answer, Answers, EncodedRef, Exchange, FailureSample, Past, Place, Protocol, ResponseSink, Surroundings};

enum Lines {}

impl Protocol for Lines {
    type Place<S: AsyncRead + AsyncWrite + Unpin + 'static> = Half<S>;

    fn places(_plan: &Plan) -> u64 {
        PLACES
    }
}

const PLACES: u64 = 2;

/// Connections that are open, and who waits for one.
struct Open<S> {
    connections: RefCell<Vec<Rc<Shared<S>>>>,
    is_opening: Cell<bool>,
    waiting: RefCell<Vec<Waker>>,
}

impl<S> Default for Open<S> {
    fn default() -> Self {
        Self { connections: RefCell::default(), is_opening: Cell::new(false), waiting: RefCell::default() }
    }
}

impl<S> Open<S> {
    fn opened(&self) {
        self.is_opening.set(false);
        self.waiting.take().into_iter().for_each(Waker::wake);
    }
}

/// The status of an answer, and its text.
type Line = (u16, Vec<u8>);

/// A connection, as both of its places have it.
struct Shared<S> {
    stream: RefCell<S>,
    /// Where it leads, if not to the plan's target.
    to: Option<Target>,
    read: RefCell<Vec<u8>>,
    to_write: RefCell<Vec<u8>>,
    /// By number: requests that are under way, and their answers.
    exchanges: RefCell<BTreeMap<u32, Option<Line>>>,
    next: Cell<u32>,
    past: Cell<Past>,
    taken: Cell<u64>,
    held: Cell<u64>,
    is_broken: Cell<bool>,
    is_counted: Cell<bool>,
    watching: RefCell<Vec<Waker>>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Shared<S> {
    /// Writes and reads what can be, and hands answers to their exchanges.
    fn poll(&self, cx: &mut Context<'_>, buffer: &RefCell<Box<[u8]>>) {
        let mut stream = self.stream.borrow_mut();
        let mut to_write = self.to_write.borrow_mut();
        while !to_write.is_empty() {
            match Pin::new(&mut *stream).poll_write(cx, &to_write) {
                Poll::Ready(Ok(count)) => drop(to_write.drain(..count)),
                Poll::Ready(Err(_)) => return self.breaks(),
                Poll::Pending => break,
            }
        }
        loop {
            let mut buffer = buffer.borrow_mut();
            let mut read = ReadBuf::new(&mut buffer);
            match Pin::new(&mut *stream).poll_read(cx, &mut read) {
                Poll::Pending => break,
                Poll::Ready(Ok(())) if !read.filled().is_empty() => self.take(read.filled()),
                Poll::Ready(_) => return self.breaks(),
            }
        }
        self.watching.borrow_mut().push(cx.waker().clone());
    }

    fn take(&self, bytes: &[u8]) {
        let mut read = self.read.borrow_mut();
        read.extend_from_slice(bytes);
        while let Some(end) = read.iter().position(|byte| *byte == b'\n') {
            let line = String::from_utf8(read.drain(..=end).collect()).unwrap();
            let mut words = line.trim_end().splitn(3, ' ');
            let mut word = || words.next().unwrap();
            let (number, status, text) = (word().parse().unwrap(), word().parse().unwrap(), word().to_owned());
            // Nobody waits any more for the answer to what was given up.
            if let Some(exchange) = self.exchanges.borrow_mut().get_mut(&number) {
                *exchange = Some((status, text.into_bytes()));
                self.wake();
            }
        }
    }

    fn breaks(&self) {
        self.is_broken.set(true);
        self.wake();
    }

    fn wake(&self) {
        self.watching.take().into_iter().for_each(Waker::wake);
    }
}

/// One of the two places on a connection.
struct Half<S> {
    connection: Rc<Shared<S>>,
    number: u32,
    past: Past,
    is_held: bool,
}

impl<S> Half<S> {
    fn on(connection: Rc<Shared<S>>) -> Self {
        connection.taken.set(connection.taken.get() + 1);
        connection.held.set(connection.held.get() + 1);
        Self { past: connection.past.get(), connection, number: 0, is_held: true }
    }
}

impl<S> Drop for Half<S> {
    fn drop(&mut self) {
        self.connection.taken.set(self.connection.taken.get() - 1);
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + 'static> Place for Half<S> {
    type Stream = S;
    type Memory = Open<S>;
    type State = ();

    fn memory(_plan: &Plan) -> Self::Memory {
        Open::default()
    }

    fn open(stream: S, _version: Version, memory: &Self::Memory, to: Option<&Target>) -> Self {
        let connection = Rc::new(Shared {
            stream: RefCell::new(stream),
            to: to.cloned(),
            read: RefCell::default(),
            to_write: RefCell::default(),
            exchanges: RefCell::default(),
            next: Cell::new(0),
            past: Cell::new(Past { served: 0, idle_since: Nanos::ZERO }),
            taken: Cell::new(0),
            held: Cell::new(0),
            is_broken: Cell::new(false),
            is_counted: Cell::new(false),
            watching: RefCell::default(),
        });
        memory.connections.borrow_mut().push(connection.clone());
        let place = Self::on(connection);
        memory.opened();
        place
    }

    fn poll_free(cx: &mut Context<'_>, memory: &Self::Memory, to: Option<&Target>) -> Poll<Option<Self>> {
        let mut connections = memory.connections.borrow_mut();
        connections.retain(|connection| !connection.is_broken.get() && !connection.is_counted.get());
        let is_free = |connection: &&Rc<Shared<S>>| {
            connection.taken.get() < PLACES && connection.to.as_ref().map(Target::authority) == to.map(Target::authority)
        };
        if let Some(connection) = connections.iter().find(is_free) {
            return Poll::Ready(Some(Self::on(connection.clone())));
        }
        if memory.is_opening.replace(true) {
            memory.waiting.borrow_mut().push(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(None)
    }

    fn not_opened(memory: &Self::Memory, _to: Option<&Target>) {
        memory.opened();
    }

    fn begin(&mut self, request: EncodedRef<'_>) {
        let connection = &self.connection;
        self.number = connection.next.get();
        self.past = connection.past.get();
        connection.next.set(self.number + 1);
        connection.exchanges.borrow_mut().insert(self.number, None);
        let mut to_write = connection.to_write.borrow_mut();
        to_write.extend_from_slice(format!("{} ", self.number).as_bytes());
        to_write.extend_from_slice(request.bytes());
        to_write.push(b'\n');
    }

    fn poll_exchange<C: Clock, A: Answers>(
        &mut self,
        cx: &mut Context<'_>,
        request: EncodedRef<'_>,
        exchange: &mut Exchange<()>,
        around: &Surroundings<'_, C, Self::Memory>,
        answers: &mut A,
        _sample: &mut FailureSample,
    ) -> Poll<Result<Answer, Failure>> {
        if let Some(failure) = around.slot.failure(|| exchange.timeout_of(request)) {
            return Poll::Ready(Err(failure));
        }
        around.slot.waits(cx);
        self.connection.poll(cx, around.buffer);
        if self.connection.to_write.borrow().is_empty() {
            exchange.written = request.bytes().len();
        }
        let answer = self.connection.exchanges.borrow_mut().get_mut(&self.number).and_then(Option::take);
        if let Some((status, text)) = answer {
            let now = around.clock.now();
            (exchange.first_byte, exchange.last_byte, exchange.received) = (Some(now), now, text.len() as u64);
            answers.sink().head(status, &[]);
            answers.sink().body(&text);
            return Poll::Ready(Ok(Answer { status, quirks: Quirks::NONE }));
        }
        if self.connection.is_broken.get() { Poll::Ready(Err(Failure::RecvEofBeforeResponse)) } else { Poll::Pending }
    }

    fn end(&mut self, _: EncodedRef<'_>, _: &Exchange<()>, result: Result<Answer, Failure>, at: Nanos) -> Result<(), Closer> {
        let connection = &self.connection;
        connection.exchanges.borrow_mut().remove(&self.number);
        if result.is_ok() {
            connection.past.set(Past { served: connection.past.get().served + 1, idle_since: at });
        }
        // The other reads for itself from now on.
        connection.wake();
        if connection.is_broken.get() { Err(Closer::Server) } else { Ok(()) }
    }

    fn past(&self) -> Past {
        self.past
    }

    fn poll_idle<C: Clock>(&mut self, cx: &mut Context<'_>, around: &Surroundings<'_, C, Self::Memory>) -> Poll<Quirks> {
        self.connection.poll(cx, around.buffer);
        if self.connection.is_broken.get() { Poll::Ready(Quirks::NONE) } else { Poll::Pending }
    }

    fn look<R>(&self, at: impl FnOnce(&S) -> R) -> R {
        at(&self.connection.stream.borrow())
    }

    fn release(&mut self, _memory: &Self::Memory) -> bool {
        let connection = &self.connection;
        if std::mem::take(&mut self.is_held) {
            connection.held.set(connection.held.get() - 1);
        }
        connection.wake();
        (connection.held.get() == 0 || connection.is_broken.get()) && !connection.is_counted.replace(true)
    }
}

/// The number and the text of the next line that was sent.
async fn line(stream: &mut DuplexStream) -> Option<(u32, String)> {
    let mut line = Vec::new();
    while line.last() != Some(&b'\n') {
        line.push(stream.read_u8().await.ok()?);
    }
    let (number, text) = std::str::from_utf8(&line).unwrap().trim_end().split_once(' ').unwrap();
    Some((number.parse().unwrap(), text.to_owned()))
}

async fn say(stream: &mut DuplexStream, number: u32, text: &str) {
    let _ = stream.write_all(format!("{number} 200 {text}\n").as_bytes()).await;
}

/// Answers requests in pairs a millisecond later, the later of the two first.
async fn crosswise(mut stream: DuplexStream, _number: u64) {
    while let (Some(first), Some(second)) = (line(&mut stream).await, line(&mut stream).await) {
        sleep(Duration::from_millis(1)).await;
        for (number, text) in [second, first] {
            say(&mut stream, number, &text).await;
        }
    }
}

fn run(server: &Simulation, plan: &Plan, pause: Nanos) -> (Summary, Vec<String>) {
    let heard = Heard::default();
    let summary = server.speaking::<Lines, _>(plan, |_: Share| Numbering { heard: heard.clone(), pause, request: str::to_owned });
    let heard = heard.take();
    (summary, heard)
}

fn closed(users: &str, requests: &str) -> Plan {
    plan(|draft| (draft.connections, draft.requests) = (given(users), given(requests)))
}

#[test]
fn two_users_share_a_connection_and_each_has_its_own_answers() {
    let server = Simulation::of(crosswise);
    let (summary, heard) = run(&server, &closed("4", "20"), Nanos::ZERO);
    assert_eq!((summary.requests.succeeded, summary.connections, server.dials()), (20, of(2, 0, 2), 2));
    assert_eq!(summary.response_time.max(), Some(Nanos::from_millis(1)));
    for user in 0..4 {
        assert_eq!(heard.iter().filter(|heard| **heard == format!("/{user} 200 /{user}")).count(), 5, "{heard:?}");
    }
}

#[test]
fn who_finds_no_free_place_waits_for_the_connection_that_another_opens() {
    let server = Simulation::of(crosswise).dialling(|_| Duration::from_millis(50));
    let burst = plan(|draft| {
        (draft.rate, draft.requests, draft.connections) = (given("1000000/s"), given("4"), given("4"));
    });
    let (summary, _) = run(&server, &burst, Nanos::ZERO);
    assert_eq!((summary.requests.succeeded, summary.connections, server.dials()), (4, of(2, 0, 2), 2));
    // The third finds both places of the first connection taken, and opens the second.
    assert_eq!(millis(summary.response_time.max()), 101);
}

fn millis(time: Option<Nanos>) -> u64 {
    (time.expect("a time").0 + 500_000) / 1_000_000
}

#[test]
fn who_waited_for_a_connection_that_cannot_be_opened_opens_its_own() {
    let refused = DialFailed { failure: Failure::ConnectRefused, text: "refused".to_owned() };
    let server =
        Simulation::of(crosswise).dialling(|_| Duration::from_millis(50)).refusing(move |dial| (dial == 1).then(|| refused.clone()));
    let burst = plan(|draft| {
        (draft.rate, draft.requests, draft.connections) = (given("1000000/s"), given("3"), given("3"));
    });
    let (summary, mut heard) = run(&server, &burst, Nanos::ZERO);
    heard.sort();
    assert_eq!(heard, ["/0 connect.refused", "/1 200 /1", "/2 200 /2"]);
    assert_eq!((summary.connections, server.dials()), (of(1, 0, 1), 2));
}

#[test]
fn a_connection_that_is_lost_fails_both_and_is_counted_once() {
    let server = Simulation::of(|mut stream, _| async move {
        line(&mut stream).await;
        line(&mut stream).await;
    });
    let (summary, heard) = run(&server, &closed("2", "4"), Nanos::ZERO);
    assert_eq!((summary.requests.failed, summary.connections), (4, of(2, 2, 0)), "{heard:?}");
}

#[test]
fn a_connection_that_is_lost_while_nobody_uses_it_is_left_by_both() {
    let began = Instant::now;
    let server = Simulation::of(move |mut stream, _| async move {
        let begun = began();
        while let Some((number, text)) = line(&mut stream).await {
            say(&mut stream, number, &text).await;
            if begun.elapsed() > Duration::from_millis(50) {
                return;
            }
        }
    });
    let (summary, heard) = run(&server, &closed("2", "8"), Nanos::from_millis(40));
    assert_eq!(summary.requests.failed + summary.requests.succeeded, 8);
    assert_eq!(summary.connections.opened, summary.connections.closed_by_server + summary.connections.closed_by_us, "{heard:?}");
    assert!(summary.connections.closed_by_server > 0);
}

#[test]
fn without_keep_alive_nobody_takes_a_place_of_another() {
    let load = plan(|draft| {
        (draft.connections, draft.requests, draft.no_keepalive) = (given("2"), given("4"), true);
    });
    assert_eq!(load.connection().keepalive, Keepalive::CloseEach);
    let server = Simulation::of(|mut stream, _| async move {
        while let Some((number, text)) = line(&mut stream).await {
            say(&mut stream, number, &text).await;
        }
    });
    let (summary, _) = run(&server, &load, Nanos::ZERO);
    assert_eq!((summary.requests.succeeded, summary.connections), (4, of(4, 0, 4)));
}
