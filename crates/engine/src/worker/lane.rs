//! A Lane: a place from which one request at a time is sent, and the connections it keeps.
//!
//! A user in closed load has one, and so has an arrival in open load. Every request of every kind of work goes through [`Lane::send`]:
//! a connection, the exchange, whether the connection stays, and what is noted. Redirects, sending again, batches and users' teardown
//! are ordinary code around it. A path for each was what stood here before: what a connection's end means was decided five times.
//!
//! Between two requests of the plain path a Lane allocates, locks and formats nothing. What is rare (opening a
//! connection, describing a failure) is boxed out of the way, so that an idle Lane stays small.

use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use measure::{Closer, Failure, Outcome, Quirk, Status};
use plan::{Keepalive, Nanos, Secrets, Target};
use tokio::time::Sleep;

use super::client::Request;
use super::shared::Shared;
use crate::clock::Clock;
use crate::exchange::{Connection, Exchange, FailureSample, Past, Take};
use crate::net::{Dial, DialFailed, Dialed};
use crate::protocol::http1::Finished;
use crate::slot::{GiveUp, Slot};
use crate::transport::Transport;

/// One place, and the connections it has.
pub(super) struct Lane<T: Transport> {
    pub(super) slot: Rc<Slot>,
    pub(super) place: u32,
    /// To the plan's target.
    home: Option<Connection<Stream<T>>>,
    /// To other origins, the one used last on top.
    others: Vec<(Target, Connection<Stream<T>>)>,
    /// What pauses are waited for with, made by the first of them.
    timer: Option<Pin<Box<Sleep>>>,
    /// Whether it is used for a teardown, which goes on when the load is over.
    pub(super) is_in_teardown: bool,
}

/// What connections are read from and written to.
type Stream<T> = <<T as Transport>::Dial as Dial>::Stream;

/// So many origins beside the plan's a Lane keeps connections to.
const OTHERS_MAX: usize = 8;

impl<T: Transport> Lane<T> {
    pub(super) fn new(shared: &Shared<T>) -> Self {
        let (place, slot) = shared.take_slot();
        Self { slot, place, home: None, others: Vec::new(), timer: None, is_in_teardown: false }
    }

    /// Closes what is open and gives the place back.
    pub(super) fn leave(self, shared: &Shared<T>) {
        self.count_closed(shared);
        shared.leave_slot(self.place);
    }

    /// Counts all that is open as closed by us.
    pub(super) fn count_closed(&self, shared: &Shared<T>) {
        for _ in 0..usize::from(self.home.is_some()) + self.others.len() {
            shared.closed(Closer::Us);
        }
    }

    /// Whether no connection is open.
    pub(super) fn has_none(&self) -> bool {
        self.home.is_none() && self.others.is_empty()
    }

    /// Takes a connection to the plan's target that was opened for it.
    pub(super) fn adopt(&mut self, shared: &Shared<T>, dialed: Dialed<Stream<T>>) {
        self.home = Some(opened(shared, dialed));
    }

    fn close(&mut self, shared: &Shared<T>, to: Option<&Target>, by: Closer) {
        let had = if to.is_none() { self.home.take().is_some() } else { self.others.pop().is_some() };
        if had {
            shared.closed(by);
        }
    }

    /// The connection that is used for a request.
    #[inline]
    fn connection(&mut self, to: Option<&Target>) -> &mut Connection<Stream<T>> {
        let connection = if to.is_none() { self.home.as_mut() } else { self.others.last_mut().map(|(_, connection)| connection) };
        connection.expect("a Lane sends on a connection that it has")
    }

    /// Sends one request, or several at once, and reads their answers. What it tells is about the last of them.
    #[expect(clippy::manual_async_fn, reason = "an async fn keeps its arguments twice, in every idle user")]
    #[inline]
    pub(super) fn send<A: Take>(
        &mut self,
        shared: &Shared<T>,
        request: &Request<'_>,
        mut take: A,
        due: Nanos,
        free_at: Nanos,
    ) -> impl Future<Output = Outcome> {
        async move {
            let mut ready = free_at;
            let to = request.to.filter(|to| !to.same_origin(shared.task.plan.target()));
            if to.is_some() || self.home.is_none() {
                match Box::pin(self.acquire(shared, to)).await {
                    Ok(Acquired::Kept) => {}
                    Ok(Acquired::New) => ready = shared.clock.now(),
                    Err((failure, text)) => return self.unsent(shared, due, failure, text),
                }
            }
            // Without a call: the plain path's connection is the Lane's own.
            let connection = if to.is_none() { self.home.as_mut() } else { self.others.last_mut().map(|other| &mut other.1) };
            let connection = connection.expect("a Lane sends on a connection that it has");
            connection.begin(request.framing);
            let around = shared.around(&self.slot);
            let mut exchange = Exchange::beginning(shared.clock.now());
            for _ in 0..take.answers() {
                shared.left(exchange.sent);
            }
            let mut sample = FailureSample::Nothing;
            let result = poll_fn(|cx| connection.poll_exchange(cx, request.bytes, &mut exchange, &around, &mut take, &mut sample)).await;
            // When the exchange ended: with its last byte, exactly at its limit, or now.
            let done = match result {
                Ok(_) => {
                    take.spoken(|| T::Dial::spoken(connection.stream()));
                    exchange.last_byte
                }
                Err(_) => self.ended_at(shared),
            };
            shared.came_back(done);
            self.judge(shared, (request, to), &exchange, result, &sample, done);
            Outcome {
                due,
                ready: ready.min(exchange.sent),
                sent: exchange.sent,
                first_byte: exchange.first_byte.unwrap_or(done),
                done,
                bytes_out: u32::try_from(exchange.written).unwrap_or(u32::MAX),
                bytes_in: exchange.received,
                result: result.map(|finished| finished.status),
            }
        }
    }

    /// Makes a connection to the place the one that is used: one that is kept, or a new one.
    pub(super) async fn acquire(&mut self, shared: &Shared<T>, to: Option<&Target>) -> Result<Acquired, (Failure, String)> {
        let is_kept = match to {
            None => self.home.is_some(),
            Some(place) => self.recall(shared, place).await,
        };
        if is_kept {
            return Ok(Acquired::Kept);
        }
        let number = shared.next_dial();
        let dialled = match to {
            None => self.slot.unless_given_up(shared.dial.dial(number)).await,
            Some(place) => self.slot.unless_given_up(shared.dial.dial_other(place, number)).await,
        };
        match (dialled, to) {
            (Ok(Ok(dialed)), None) => self.adopt(shared, dialed),
            (Ok(Ok(dialed)), Some(place)) => {
                if self.others.len() == OTHERS_MAX {
                    self.others.remove(0);
                    shared.closed(Closer::Us);
                }
                self.others.push((place.clone(), opened(shared, dialed)));
            }
            (Ok(Err(DialFailed { failure, text })), _) => return Err((failure, text)),
            (Err(GiveUp::Expired), _) => {
                return Err((Failure::ConnectTimeout, "no connection before the request's own timeout".to_owned()));
            }
            (Err(GiveUp::Aborted), _) => return Err((Failure::ClientInterrupted, String::new())),
        }
        Ok(Acquired::New)
    }

    /// Puts the connection that is kept to an origin on top, unless there is none or the server has closed it meanwhile.
    async fn recall(&mut self, shared: &Shared<T>, place: &Target) -> bool {
        let Some(at) = self.others.iter().position(|(other, _)| other.same_origin(place)) else { return false };
        self.others[at..].rotate_left(1);
        let lost = poll_fn(|cx| {
            let around = shared.around(&self.slot);
            let idle = self.others.last_mut().map(|(_, connection)| connection.poll_idle(cx, &around));
            Poll::Ready(if let Some(Poll::Ready(quirks)) = idle { Some(quirks) } else { None })
        })
        .await;
        let Some(quirks) = lost else { return true };
        shared.quirks(quirks);
        self.close(shared, Some(place), if quirks.is_empty() { Closer::Server } else { Closer::Us });
        false
    }

    /// What follows from the end of an exchange: whether the connection stays, quirks, and the example of a failure.
    fn judge(
        &mut self,
        shared: &Shared<T>,
        (request, to): (&Request<'_>, Option<&Target>),
        exchange: &Exchange,
        result: Result<Finished, Failure>,
        sample: &FailureSample,
        done: Nanos,
    ) {
        shared.quirks(exchange.quirks);
        let closer = match result {
            Ok(finished) => {
                let mut quirks = finished.quirks;
                if finished.interims > 0 {
                    quirks.insert(Quirk::Interim);
                }
                shared.quirks(quirks);
                if !Status(finished.status).is_success() && !request.is_judged {
                    shared.example(Failure::CheckStatus, done, || without_secrets(&sample.text(&shared.buffer.borrow()), request.bytes));
                }
                let reuses = shared.task.keepalive == Keepalive::Reuse;
                if finished.reusable && exchange.written == request.bytes.len() && reuses {
                    return self.connection(to).answered(done);
                }
                if finished.reusable || !reuses { Closer::Us } else { Closer::Server }
            }
            Err(failure) => {
                let past = self.connection(to).past();
                note_failure(shared, failure, (sample, request.bytes), past, done);
                closer(failure)
            }
        };
        self.close(shared, to, closer);
    }

    /// When a request ended that has no answer.
    fn ended_at(&self, shared: &Shared<T>) -> Nanos {
        if self.slot.give_up() == Some(GiveUp::Expired) { self.slot.deadline() } else { shared.clock.now() }
    }

    /// How a request ended that could not be sent.
    pub(super) fn unsent(&self, shared: &Shared<T>, due: Nanos, failure: Failure, text: String) -> Outcome {
        let done = self.ended_at(shared);
        shared.example(failure, done, || text);
        Outcome { due, ready: done, sent: done, first_byte: done, done, bytes_out: 0, bytes_in: 0, result: Err(failure) }
    }

    /// Waits until a time, a Stop, or until nothing is left to be sent; notices when the connection is closed meanwhile.
    pub(super) async fn rest(&mut self, shared: &Shared<T>, until: Nanos) {
        let sleep = shared.clock.sleep_until(until);
        let mut timer = match self.timer.take() {
            Some(mut timer) => {
                timer.as_mut().reset(sleep.deadline());
                timer
            }
            None => Box::pin(sleep),
        };
        poll_fn(|cx| {
            let is_over = !self.is_in_teardown && (shared.is_stopping() || shared.is_spent());
            if is_over || self.slot.give_up() == Some(GiveUp::Aborted) {
                return Poll::Ready(());
            }
            self.slot.waits(cx);
            self.poll_lost(cx, shared);
            timer.as_mut().poll(cx)
        })
        .await;
        self.timer = Some(timer);
    }

    /// Waits until other users let this one go on, up to a time, a Stop, or until nothing is left to be sent.
    pub(super) async fn rest_until_free(
        &mut self,
        shared: &Shared<T>,
        until: Nanos,
        poll_free: &mut impl FnMut(&mut Context<'_>) -> Poll<()>,
    ) {
        let mut timer = Box::pin(shared.clock.sleep_until(until));
        poll_fn(|cx| {
            if shared.is_stopping() || shared.is_spent() || self.slot.give_up() == Some(GiveUp::Aborted) {
                return Poll::Ready(());
            }
            self.slot.waits(cx);
            self.poll_lost(cx, shared);
            if poll_free(cx).is_ready() {
                return Poll::Ready(());
            }
            timer.as_mut().poll(cx)
        })
        .await;
    }

    /// Waits for an arrival, as one of the idle. `None`: nothing comes any more, or the connection is lost.
    pub(super) async fn wait_for_work(&mut self, shared: &Shared<T>) -> Option<Nanos> {
        poll_fn(|cx| {
            self.slot.waits(cx);
            self.poll_lost(cx, shared);
            if let Some(due) = self.slot.take_assigned() {
                return Poll::Ready(Some(due));
            }
            if self.has_none() {
                shared.idle.borrow_mut().retain(|place| *place != self.place);
                return Poll::Ready(None);
            }
            if shared.arrivals_ended() { Poll::Ready(None) } else { Poll::Pending }
        })
        .await
    }

    /// Lets go of an idle connection that the server closed or sent something on that nobody asked for.
    fn poll_lost(&mut self, cx: &mut Context<'_>, shared: &Shared<T>) {
        let Some(connection) = &mut self.home else { return };
        if let Poll::Ready(quirks) = connection.poll_idle(cx, &shared.around(&self.slot)) {
            shared.quirks(quirks);
            self.close(shared, None, if quirks.is_empty() { Closer::Server } else { Closer::Us });
        }
    }
}

/// Where the connection of a request came from.
pub(super) enum Acquired {
    Kept,
    New,
}

fn opened<T: Transport>(shared: &Shared<T>, dialed: Dialed<Stream<T>>) -> Connection<Stream<T>> {
    shared.count_connection(|recorder| recorder.opened(dialed.connect, dialed.tls));
    Connection::new(dialed.stream)
}

fn note_failure<T: Transport>(shared: &Shared<T>, failure: Failure, (sample, request): (&FailureSample, &[u8]), past: Past, done: Nanos) {
    shared.example(failure, done, || {
        let (past, text) = (past.text(done), without_secrets(&sample.text(&shared.buffer.borrow()), request));
        if text.is_empty() { past } else { format!("{past}: {text}") }
    });
}

/// What was seen of an answer, without the secrets of its request: a server may send back what it was sent, and only here it is known what that
/// was, from whichever file or script it came.
pub(super) fn without_secrets(seen: &str, request: &[u8]) -> String {
    Secrets::of_request(request).conceal(seen)
}

/// Who ended the connection on which a request failed so.
fn closer(failure: Failure) -> Closer {
    match failure {
        Failure::RecvReset
        | Failure::RecvEofBeforeResponse
        | Failure::RecvEofInHead
        | Failure::RecvEofInBody
        | Failure::SendReset
        | Failure::SendClosed
        | Failure::StaleReuse => Closer::Server,
        _ => Closer::Us,
    }
}
