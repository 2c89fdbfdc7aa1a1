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

use super::Worker;
use crate::clock::Clock;
use crate::exchange::{Connection, Exchange, Past, Sight, Take};
use crate::net::{Dial, DialFailed, Dialed};
use crate::program::Program;
use crate::protocol::http1::{Asked, Finished};
use crate::slot::{GiveUp, Slot};

/// One place, and the connections it has.
pub(super) struct Lane<D: Dial> {
    pub(super) slot: Rc<Slot>,
    pub(super) place: u32,
    /// To the plan's target.
    home: Option<Connection<D::Stream>>,
    /// To other origins, the one used last on top.
    others: Vec<(Target, Connection<D::Stream>)>,
    /// What pauses are waited for with, made by the first of them.
    timer: Option<Pin<Box<Sleep>>>,
    /// When a user's teardown is over at the latest; [`Nanos::NEVER`] before it.
    pub(super) teardown_until: Nanos,
}

/// A request as it goes over the wire.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) asked: Asked,
    /// Another origin than the plan's.
    pub(super) to: Option<&'a Target>,
    /// Whether who sends it judges its status.
    pub(super) judges: bool,
}

/// So many origins beside the plan's a Lane keeps connections to.
const OTHERS_MAX: usize = 8;

impl<D: Dial + 'static> Lane<D> {
    pub(super) fn new<C: Clock, P: Program>(worker: &Worker<D, C, P>) -> Self {
        let (place, slot) = worker.take_slot();
        Self { slot, place, home: None, others: Vec::new(), timer: None, teardown_until: Nanos::NEVER }
    }

    /// Closes what is open and gives the place back.
    pub(super) fn leave<C: Clock, P: Program>(self, worker: &Worker<D, C, P>) {
        self.count_closed(worker);
        worker.leave_slot(self.place);
    }

    /// Counts all that is open as closed by us.
    pub(super) fn count_closed<C: Clock, P: Program>(&self, worker: &Worker<D, C, P>) {
        for _ in 0..usize::from(self.home.is_some()) + self.others.len() {
            worker.closed(Closer::Us);
        }
    }

    /// Whether no connection is open.
    pub(super) fn has_none(&self) -> bool {
        self.home.is_none() && self.others.is_empty()
    }

    pub(super) fn is_in_teardown(&self) -> bool {
        self.teardown_until != Nanos::NEVER
    }

    /// Takes a connection to the plan's target that was opened for it.
    pub(super) fn adopt<C: Clock, P: Program>(&mut self, worker: &Worker<D, C, P>, dialed: Dialed<D::Stream>) {
        self.home = Some(opened(worker, dialed));
    }

    fn close<C: Clock, P: Program>(&mut self, worker: &Worker<D, C, P>, to: Option<&Target>, by: Closer) {
        let had = if to.is_none() { self.home.take().is_some() } else { self.others.pop().is_some() };
        if had {
            worker.closed(by);
        }
    }

    /// The connection that is used for a request.
    #[inline]
    fn connection(&mut self, to: Option<&Target>) -> &mut Connection<D::Stream> {
        let connection = if to.is_none() { self.home.as_mut() } else { self.others.last_mut().map(|(_, connection)| connection) };
        connection.expect("a Lane sends on a connection that it has")
    }

    /// Sends one request, or several at once, and reads their answers. What it tells is about the last of them.
    #[expect(clippy::manual_async_fn, reason = "an async fn keeps its arguments twice, in every idle user")]
    pub(super) fn send<'a, C: Clock, P: Program, T: Take>(
        &'a mut self,
        worker: &'a Worker<D, C, P>,
        request: Request<'a>,
        take: &'a mut T,
        due: Nanos,
        free_at: Nanos,
    ) -> impl Future<Output = Outcome> {
        async move {
            let mut ready = free_at;
            if request.to.is_some() || self.home.is_none() {
                match Box::pin(self.acquire(worker, request.to)).await {
                    Ok(Acquired::Kept) => {}
                    Ok(Acquired::New) => ready = worker.clock.now(),
                    Err((failure, text)) => return self.unsent(worker, due, failure, text),
                }
            }
            // Without a call: the plain path's connection is the Lane's own.
            let connection = if request.to.is_none() { self.home.as_mut() } else { self.others.last_mut().map(|other| &mut other.1) };
            let connection = connection.expect("a Lane sends on a connection that it has");
            connection.begin(request.asked);
            let around = worker.around(&self.slot);
            let mut exchange = Exchange::beginning(worker.clock.now());
            for _ in 0..take.answers() {
                worker.left(exchange.sent);
            }
            let mut sight = Sight::Nothing;
            let result = poll_fn(|cx| connection.poll_exchange(cx, request.bytes, &mut exchange, &around, take, &mut sight)).await;
            // When the exchange ended: with its last byte, exactly at its limit, or now.
            let done = match result {
                Ok(_) => {
                    worker.program.spoke(|| D::spoken(connection.stream()));
                    exchange.last_byte
                }
                Err(_) => self.ended_at(worker),
            };
            worker.came_back(done);
            self.judge(worker, &request, &exchange, result, &sight, done);
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
    pub(super) async fn acquire<C: Clock, P: Program>(
        &mut self,
        worker: &Worker<D, C, P>,
        to: Option<&Target>,
    ) -> Result<Acquired, (Failure, String)> {
        let is_kept = match to {
            None => self.home.is_some(),
            Some(place) => self.recall(worker, place).await,
        };
        if is_kept {
            return Ok(Acquired::Kept);
        }
        let number = worker.next_dial();
        let dialled = match to {
            None => self.slot.unless_given_up(worker.dial.dial(number)).await,
            Some(place) => self.slot.unless_given_up(worker.dial.dial_other(place, number)).await,
        };
        match (dialled, to) {
            (Ok(Ok(dialed)), None) => self.adopt(worker, dialed),
            (Ok(Ok(dialed)), Some(place)) => {
                if self.others.len() == OTHERS_MAX {
                    self.others.remove(0);
                    worker.closed(Closer::Us);
                }
                self.others.push((place.clone(), opened(worker, dialed)));
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
    async fn recall<C: Clock, P: Program>(&mut self, worker: &Worker<D, C, P>, place: &Target) -> bool {
        let Some(at) = self.others.iter().position(|(other, _)| other.same_origin(place)) else { return false };
        self.others[at..].rotate_left(1);
        let lost = poll_fn(|cx| {
            let around = worker.around(&self.slot);
            let idle = self.others.last_mut().map(|(_, connection)| connection.poll_idle(cx, &around));
            Poll::Ready(if let Some(Poll::Ready(quirks)) = idle { Some(quirks) } else { None })
        })
        .await;
        let Some(quirks) = lost else { return true };
        worker.quirks(quirks);
        self.close(worker, Some(place), if quirks.is_empty() { Closer::Server } else { Closer::Us });
        false
    }

    /// What follows from the end of an exchange: whether the connection stays, quirks, and the example of a failure.
    fn judge<C: Clock, P: Program>(
        &mut self,
        worker: &Worker<D, C, P>,
        request: &Request<'_>,
        exchange: &Exchange,
        result: Result<Finished, Failure>,
        sight: &Sight,
        done: Nanos,
    ) {
        worker.quirks(exchange.quirks);
        let closer = match result {
            Ok(finished) => {
                let mut quirks = finished.quirks;
                if finished.interims > 0 {
                    quirks.insert(Quirk::Interim);
                }
                worker.quirks(quirks);
                if !Status(finished.status).is_success() && !request.judges {
                    worker.example(Failure::CheckStatus, done, || without_secrets(&sight.text(&worker.buffer.borrow()), request.bytes));
                }
                let reuses = worker.task.keepalive == Keepalive::Reuse;
                if finished.reusable && exchange.written == request.bytes.len() && reuses {
                    return self.connection(request.to).answered(done);
                }
                if finished.reusable || !reuses { Closer::Us } else { Closer::Server }
            }
            Err(failure) => {
                let past = self.connection(request.to).past();
                note_failure(worker, failure, (sight, request.bytes), past, done);
                closer(failure)
            }
        };
        self.close(worker, request.to, closer);
    }

    /// When a request ended that has no answer.
    fn ended_at<C: Clock, P: Program>(&self, worker: &Worker<D, C, P>) -> Nanos {
        if self.slot.give_up() == Some(GiveUp::Expired) { self.slot.deadline() } else { worker.clock.now() }
    }

    /// How a request ended that could not be sent.
    pub(super) fn unsent<C: Clock, P: Program>(&self, worker: &Worker<D, C, P>, due: Nanos, failure: Failure, text: String) -> Outcome {
        let done = self.ended_at(worker);
        worker.example(failure, done, || text);
        Outcome { due, ready: done, sent: done, first_byte: done, done, bytes_out: 0, bytes_in: 0, result: Err(failure) }
    }

    /// Waits until a time, a Stop, or until nothing is left to be sent; notices when the connection is closed meanwhile.
    pub(super) async fn rest<C: Clock, P: Program>(&mut self, worker: &Worker<D, C, P>, until: Nanos) {
        let sleep = worker.clock.sleep_until(until);
        let mut timer = match self.timer.take() {
            Some(mut timer) => {
                timer.as_mut().reset(sleep.deadline());
                timer
            }
            None => Box::pin(sleep),
        };
        poll_fn(|cx| {
            let is_over = !self.is_in_teardown() && (worker.is_stopping() || worker.is_spent());
            if is_over || self.slot.give_up() == Some(GiveUp::Aborted) {
                return Poll::Ready(());
            }
            self.slot.waits(cx);
            self.poll_lost(cx, worker);
            timer.as_mut().poll(cx)
        })
        .await;
        self.timer = Some(timer);
    }

    /// Waits until other users let this one go on, up to a time, a Stop, or until nothing is left to be sent.
    pub(super) async fn rest_until_free<C: Clock, P: Program>(&mut self, worker: &Worker<D, C, P>, state: &mut P::User, until: Nanos) {
        let mut timer = Box::pin(worker.clock.sleep_until(until));
        poll_fn(|cx| {
            if worker.is_stopping() || worker.is_spent() || self.slot.give_up() == Some(GiveUp::Aborted) {
                return Poll::Ready(());
            }
            self.slot.waits(cx);
            self.poll_lost(cx, worker);
            if worker.program.poll_free(state, cx).is_ready() {
                return Poll::Ready(());
            }
            timer.as_mut().poll(cx)
        })
        .await;
    }

    /// Waits for an arrival, as one of the idle. `None`: nothing comes any more, or the connection is lost.
    pub(super) async fn wait_for_work<C: Clock, P: Program>(&mut self, worker: &Worker<D, C, P>) -> Option<Nanos> {
        poll_fn(|cx| {
            self.slot.waits(cx);
            self.poll_lost(cx, worker);
            if let Some(due) = self.slot.take_assigned() {
                return Poll::Ready(Some(due));
            }
            if self.has_none() {
                worker.idle.borrow_mut().retain(|place| *place != self.place);
                return Poll::Ready(None);
            }
            if worker.arrivals_ended() { Poll::Ready(None) } else { Poll::Pending }
        })
        .await
    }

    /// Lets go of an idle connection that the server closed or sent something on that nobody asked for.
    fn poll_lost<C: Clock, P: Program>(&mut self, cx: &mut Context<'_>, worker: &Worker<D, C, P>) {
        let Some(connection) = &mut self.home else { return };
        if let Poll::Ready(quirks) = connection.poll_idle(cx, &worker.around(&self.slot)) {
            worker.quirks(quirks);
            self.close(worker, None, if quirks.is_empty() { Closer::Server } else { Closer::Us });
        }
    }
}

/// Where the connection of a request came from.
pub(super) enum Acquired {
    Kept,
    New,
}

fn opened<D: Dial + 'static, C: Clock, P: Program>(worker: &Worker<D, C, P>, dialed: Dialed<D::Stream>) -> Connection<D::Stream> {
    worker.count_connection(|recorder| recorder.opened(dialed.connect, dialed.tls));
    Connection::new(dialed.stream)
}

fn note_failure<D: Dial + 'static, C: Clock, P: Program>(
    worker: &Worker<D, C, P>,
    failure: Failure,
    (sight, request): (&Sight, &[u8]),
    past: Past,
    done: Nanos,
) {
    worker.example(failure, done, || {
        let (past, text) = (past.text(done), without_secrets(&sight.text(&worker.buffer.borrow()), request));
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
