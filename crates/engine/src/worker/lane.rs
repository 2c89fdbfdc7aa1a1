//! A Lane: one connection that carries one request at a time, for a user in closed load or for arrivals in open load.
//!
//! Between two requests of the plain path a Lane allocates, locks and formats nothing. What is rare (opening a
//! connection, following a redirect, describing a failure) is boxed out of the way, so that an idle Lane stays small.

mod farewell;

use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::Poll;

use measure::{Closer, Failure, Outcome, Quirk, Status};
use plan::{Bounds, Keepalive, Load, Nanos, Random, Secrets, Target};
use tokio::time::Sleep;

use super::Worker;
use crate::clock::Clock;
use crate::exchange::{Answered, Connection, EXAMPLE_BYTES, Exchange, One, Past, Several, Sight};
use crate::net::{Dial, DialFailed, Dialed};
use crate::program::{After, Choice, Program};
use crate::protocol::http1::{Finished, Header, Observer};
use crate::redirect::{self, Convention, Hop, Hops, RedirectError};
use crate::slot::{GiveUp, Slot};
use crate::task::asked;

pub(crate) use farewell::{FAREWELL_MAX, Leaving};

/// A connection opened before the start line, or none if that failed.
pub(super) type Opened<D> = Option<Dialed<<D as Dial>::Stream>>;

/// Streams of the seed from here on belong to users.
const USERS: u64 = 1_000;

/// A user in closed load, for as long as it is there: sends when its last answer came and its pause is over.
#[expect(clippy::manual_async_fn, reason = "an async fn keeps its arguments twice, in every idle user")]
pub(super) fn user<D: Dial + 'static, C: Clock, P: Program>(
    shared: Rc<Worker<D, C, P>>,
    number: u64,
    presence: (Nanos, Nanos),
    opened: Opened<D>,
) -> impl Future<Output = ()> {
    async move {
        let worker = &*shared;
        let (from, until) = (presence.0, presence.1.min(worker.task.end));
        let mut lane = Lane::new(worker);
        if from > worker.clock.now() {
            lane.rest(worker, from).await;
            if worker.is_stopping() || worker.is_spent() {
                return lane.leave(worker);
            }
        }
        if let Some(dialed) = opened {
            lane.adopt(worker, dialed);
        }
        let global = number * u64::from(worker.share.of()) + u64::from(worker.share.index());
        let mut random = Random::new(worker.task.plan.seed(), USERS + global);
        let pause = match worker.task.plan.load() {
            Load::Closed { pause, .. } => *pause,
            Load::Open { .. } => None,
        };
        let mut refusals = 0;
        let mut state = worker.program.user(global);
        let mut due = worker.clock.now();
        loop {
            if P::DELAYS {
                let Some(delay) = worker.heed(worker.program.delay(&mut state)) else { break };
                if delay > Nanos::ZERO {
                    lane.rest(worker, due.plus(delay).min(until)).await;
                    due = worker.clock.now();
                }
                if P::WAITS && worker.program.waits(&state) {
                    if due >= until || worker.is_stopping() || worker.is_spent() {
                        break;
                    }
                    // Boxed: the user's task would be larger for it all its life.
                    Box::pin(lane.rest_until_free(worker, &mut state, until)).await;
                    due = worker.clock.now();
                    continue;
                }
            }
            if due >= until || worker.is_stopping() || !worker.take_from_budget(1) {
                break;
            }
            let Some(choice) = worker.heed(worker.program.choose(&mut state)) else { break };
            if choice.requests > 1 {
                // A batch is sent whole, if any of it may be.
                worker.take_from_budget(u64::from(choice.requests) - 1);
            }
            let outcome = lane.perform(worker, &mut state, choice, due, due).await;
            let mut rest = pause.map_or(Nanos::ZERO, |pause| pause.draw(&mut random));
            match refusal(&outcome) {
                Refusal::None => refusals = 0,
                Refusal::OfTheConnection => {
                    rest = rest.max(back_off(refusals, &mut random));
                    refusals += 1;
                }
                Refusal::OfTheRequest => {
                    if refusals >= UNANSWERED_MAX {
                        rest = rest.max(back_off(refusals - UNANSWERED_MAX, &mut random));
                    }
                    refusals += 1;
                }
            }
            due = outcome.done;
            if rest > Nanos::ZERO {
                due = due.plus(rest);
                lane.rest(worker, due.min(until)).await;
                due = worker.clock.now();
            } else if outcome.result.is_err() {
                // Recorded at its limit, but noticed somewhat later.
                due = worker.clock.now();
            }
        }
        if !P::LEAVES || !worker.program.leaves(&mut state) {
            return lane.leave(worker);
        }
        if until == worker.task.end || worker.is_stopping() || worker.is_spent() {
            worker.leaving.borrow_mut().push(Leaving::after(lane, state, worker));
        } else {
            // Boxed: the user's task would be larger for it all its life.
            let time = worker.clock.now().plus(FAREWELL_MAX);
            Box::pin(Leaving::amid(lane, state).go(Rc::clone(&shared), time)).await;
        }
    }
}

/// A carrier in open load: begins with the arrival it was made for, then takes whatever is due.
pub(super) async fn carrier<D: Dial + 'static, C: Clock, P: Program>(worker: Rc<Worker<D, C, P>>, first: Nanos) {
    let worker = &*worker;
    let mut lane = Lane::new(worker);
    let (mut due, mut free_at) = (first, first);
    let mut state = worker.program.user(u64::from(lane.place) * u64::from(worker.share.of()) + u64::from(worker.share.index()));
    loop {
        if P::ARRIVES {
            worker.program.falls_to(&mut state, due);
        }
        if P::JOURNEYS {
            Box::pin(lane.travel(worker, &mut state, due, free_at)).await;
            if P::LEAVES && worker.program.leaves(&mut state) {
                let now = worker.clock.now();
                if worker.is_stopping() || now >= worker.task.end {
                    let leaving = Leaving::after(lane, state, worker);
                    worker.leaving.borrow_mut().push(leaving);
                    worker.relieve();
                    return;
                }
                Box::pin(lane.farewell(worker, &mut state, now.plus(FAREWELL_MAX))).await;
            }
        } else {
            let Some(choice) = worker.heed(worker.program.choose(&mut state)) else { break };
            lane.perform(worker, &mut state, choice, due, free_at).await;
        }
        let now = worker.clock.now();
        if !worker.is_stopping()
            && let Some(next) = worker.take_due(now)
        {
            (due, free_at) = (next, now);
            continue;
        }
        if worker.arrivals_ended() || lane.has_none() {
            break;
        }
        worker.idle.borrow_mut().push(lane.place);
        worker.relieve();
        match lane.wait_for_work(worker).await {
            Some(assigned) => (due, free_at) = (assigned, assigned.max(now)),
            None => break,
        }
    }
    lane.leave(worker);
    worker.relieve();
}

/// Why a user got no answer to wait for.
enum Refusal {
    None,
    /// No connection could be had, or there was nothing to be sent on one.
    OfTheConnection,
    /// The connection was closed without a byte of an answer.
    OfTheRequest,
}

fn refusal(outcome: &Outcome) -> Refusal {
    match outcome.result {
        Err(failure) if failure.is_unsent() => Refusal::OfTheConnection,
        Err(Failure::RecvEofBeforeResponse | Failure::RecvReset | Failure::SendReset | Failure::SendClosed) if outcome.bytes_in == 0 => {
            Refusal::OfTheRequest
        }
        _ => Refusal::None,
    }
}

/// A server that drops a share of its requests is measured at full rate; one that drops this many of a user's requests
/// in a row is down, and is not to be hammered.
const UNANSWERED_MAX: u32 = 3;

/// How long to wait after the k-th refusal in a row: 10 ms · 2^k, at most 1 s, ± 50 % (docs/measurement.md §4.2).
fn back_off(refusals: u32, random: &mut Random) -> Nanos {
    let most = Nanos::from_millis(10 << refusals.min(7)).min(Nanos::SECOND).0;
    Nanos(random.between(most / 2, most + most / 2))
}

/// One connection and the place it has in its worker.
struct Lane<D: Dial> {
    slot: Rc<Slot>,
    place: u32,
    connection: Option<Connection<D::Stream>>,
    /// Where redirects to another origin led last.
    detour: Option<Box<(Target, Connection<D::Stream>)>>,
    /// Where the program wanders, used last on top.
    others: Vec<(Target, Connection<D::Stream>)>,
    /// What pauses are waited for with, made by the first of them.
    timer: Option<Pin<Box<Sleep>>>,
}

impl<D: Dial + 'static> Lane<D> {
    fn new<C: Clock, P: Program>(worker: &Worker<D, C, P>) -> Self {
        let (place, slot) = worker.take_slot();
        Self { slot, place, connection: None, detour: None, others: Vec::new(), timer: None }
    }

    /// Closes what is open and gives the place back.
    fn leave<C: Clock, P: Program>(mut self, worker: &Worker<D, C, P>) {
        self.close(worker, Closer::Us);
        if self.detour.take().is_some() {
            worker.closed(Closer::Us);
        }
        for _ in self.others.drain(..) {
            worker.closed(Closer::Us);
        }
        worker.leave_slot(self.place);
    }

    /// Whether no connection is open.
    fn has_none(&self) -> bool {
        self.connection.is_none() && self.others.is_empty()
    }

    fn close<C: Clock, P: Program>(&mut self, worker: &Worker<D, C, P>, by: Closer) {
        if self.connection.take().is_some() {
            worker.closed(by);
        }
    }

    fn adopt<C: Clock, P: Program>(&mut self, worker: &Worker<D, C, P>, dialed: Dialed<D::Stream>) {
        worker.recorder.borrow_mut().opened(dialed.connect, dialed.tls);
        self.connection = Some(Connection::new(dialed.stream));
    }

    /// An arrival's journey, from its first request to its last. The first is due when the arrival is; each other when the one before
    /// was answered and the pause is over. With the load, the journey ends where it is.
    async fn travel<C: Clock, P: Program>(&mut self, worker: &Worker<D, C, P>, state: &mut P::User, due: Nanos, free_at: Nanos) {
        let (mut due, mut free_at) = (due, free_at);
        worker.program.arrives(state);
        loop {
            let Some(delay) = worker.heed(worker.program.delay(state)) else { return };
            if !worker.program.goes_on(state) {
                return;
            }
            if delay > Nanos::ZERO {
                self.rest(worker, due.plus(delay).min(worker.task.end)).await;
                due = worker.clock.now();
                free_at = due;
            }
            if due >= worker.task.end || worker.is_stopping() {
                return;
            }
            if P::WAITS && worker.program.waits(state) {
                if worker.is_spent() {
                    return;
                }
                Box::pin(self.rest_until_free(worker, state, worker.task.end)).await;
                due = worker.clock.now();
                free_at = due;
                continue;
            }
            let Some(choice) = worker.heed(worker.program.choose(state)) else { return };
            self.perform(worker, state, choice, due, free_at).await;
            due = worker.clock.now();
            free_at = due;
        }
    }

    /// Carries what was chosen to its end and records it; of a batch, the last outcome is told.
    async fn perform<C: Clock, P: Program>(
        &mut self,
        worker: &Worker<D, C, P>,
        state: &mut P::User,
        choice: Choice,
        due: Nanos,
        free_at: Nanos,
    ) -> Outcome {
        for _ in 0..choice.requests {
            worker.fell_due(due);
        }
        // The plan's limit counts from when the request fell due; one of its own from when it could be sent.
        self.slot.begin(worker.program.limit(state).map_or(due.plus(worker.task.timeout), |limit| free_at.plus(limit)));
        if let Some(failure) = worker.program.unsendable(state) {
            let outcome = self.unopened(worker, due, failure, String::new());
            self.slot.end();
            let (_, ear) = worker.program.sending(state);
            worker.heed(worker.program.ended(ear, &outcome));
            worker.record_of(state, &outcome);
            return outcome;
        }
        if P::WANDERS {
            let outcome = Box::pin(self.wander(worker, state, choice, due, free_at)).await;
            self.slot.end();
            worker.record_of(state, &outcome);
            return outcome;
        }
        let mut ready = Ok(free_at);
        if self.connection.is_none() {
            ready = Box::pin(self.open(worker, due)).await.map(|()| worker.clock.now());
        }
        let outcome = match ready {
            Err(outcome) => {
                for _ in 1..choice.requests {
                    worker.record(&outcome);
                }
                let (_, ear) = worker.program.sending(state);
                worker.heed(worker.program.ended(ear, &outcome));
                outcome
            }
            Ok(ready) if choice.requests > 1 => Box::pin(self.send_batch(worker, state, choice, due, ready)).await,
            Ok(ready) if worker.task.follow == 0 => self.send(worker, state, choice, due, ready).await,
            Ok(ready) => Box::pin(self.send_and_follow(worker, state, due, ready)).await,
        };
        let outcome = match outcome.result {
            Err(Failure::StaleReuse) if P::SENDS_AGAIN => {
                worker.recorder.borrow_mut().sent_again(outcome.sent, outcome.done);
                Box::pin(self.send_again(worker, state, choice, due)).await
            }
            _ => outcome,
        };
        self.slot.end();
        worker.record_of(state, &outcome);
        outcome
    }

    /// The plain path: one request, one answer.
    async fn send<C: Clock, P: Program>(
        &mut self,
        worker: &Worker<D, C, P>,
        state: &mut P::User,
        choice: Choice,
        due: Nanos,
        ready: Nanos,
    ) -> Outcome {
        let connection = self.connection.as_mut().expect("a Lane sends on a connection");
        connection.begin(choice.asked);
        let around = worker.around(&self.slot);
        let mut exchange = Exchange::beginning(worker.clock.now());
        worker.left(exchange.sent);
        let mut sight = Sight::Nothing;
        let judges = worker.program.judges(state);
        let (request, ear) = worker.program.sending(state);
        let result = poll_fn(|cx| connection.poll_exchange(cx, request, &mut exchange, &around, &mut One(ear), &mut sight)).await;
        if judges && result.is_ok() {
            sight = Sight::Judged;
        }
        let done = self.done_at(worker, &exchange, result.is_ok());
        worker.came_back(done);
        if let (Ok(_), Some(connection)) = (&result, &self.connection) {
            worker.program.spoke(|| D::spoken(connection.stream()));
        }
        self.judge(worker, &exchange, result, &sight, request, done);
        let outcome = outcome(&exchange, due, ready, done, result);
        let goes_again = P::SENDS_AGAIN && outcome.result == Err(Failure::StaleReuse);
        if !P::WANDERS && !goes_again {
            worker.heed(worker.program.ended(ear, &outcome));
        }
        outcome
    }

    /// A request that goes where the program wants it, and on after an answer if it wants that: from the first byte sent to the
    /// last one read.
    async fn wander<C: Clock, P: Program>(
        &mut self,
        worker: &Worker<D, C, P>,
        state: &mut P::User,
        mut choice: Choice,
        due: Nanos,
        free_at: Nanos,
    ) -> Outcome {
        let mut whole: Option<Outcome> = None;
        loop {
            let place = worker.program.destination(state).filter(|place| !place.same_origin(worker.task.plan.target())).cloned();
            let ready = whole.map_or(free_at, |before| before.done);
            let part = match place {
                Some(place) => self.send_elsewhere(worker, state, choice, &place, due, ready).await,
                None => self.send_at_home(worker, state, choice, due, ready).await,
            };
            let so_far = match whole {
                None => part,
                Some(before) => Outcome {
                    ready: before.ready,
                    sent: before.sent,
                    bytes_out: before.bytes_out.saturating_add(part.bytes_out),
                    bytes_in: before.bytes_in + part.bytes_in,
                    ..part
                },
            };
            let outcome = match worker.program.after(state, part.result) {
                After::Nothing => so_far,
                After::Fail(failure) => {
                    worker.example(failure, so_far.done, String::new);
                    Outcome { result: Err(failure), ..so_far }
                }
                After::Send(next) => match worker.program.destination(state).filter(|to| !worker.task.bounds.hold(to)) {
                    Some(outside) => {
                        worker.example(Failure::RedirectOutside, so_far.done, || Bounds::refusal(outside));
                        Outcome { result: Err(Failure::RedirectOutside), ..so_far }
                    }
                    None => {
                        choice = next;
                        worker.recorder.borrow_mut().redirected();
                        whole = Some(so_far);
                        continue;
                    }
                },
                After::Answer(next) => {
                    choice = next;
                    whole = Some(so_far);
                    continue;
                }
            };
            let (_, ear) = worker.program.sending(state);
            worker.heed(worker.program.ended(ear, &outcome));
            return outcome;
        }
    }

    /// Opens the Lane's own connection if need be, and sends on it.
    async fn send_at_home<C: Clock, P: Program>(
        &mut self,
        worker: &Worker<D, C, P>,
        state: &mut P::User,
        choice: Choice,
        due: Nanos,
        ready: Nanos,
    ) -> Outcome {
        let mut ready = ready;
        if self.connection.is_none() {
            if let Err(outcome) = self.open(worker, due).await {
                return outcome;
            }
            ready = worker.clock.now();
        }
        self.send(worker, state, choice, due, ready).await
    }

    /// The same to another origin.
    async fn send_elsewhere<C: Clock, P: Program>(
        &mut self,
        worker: &Worker<D, C, P>,
        state: &mut P::User,
        choice: Choice,
        place: &Target,
        due: Nanos,
        ready: Nanos,
    ) -> Outcome {
        let mut ready = ready;
        let mut connection = match self.kept(worker, place).await {
            Some(connection) => connection,
            None => {
                let dialled = match self.slot.unless_given_up(worker.dial.dial_other(place, worker.next_dial())).await {
                    Ok(Ok(dialed)) => Ok(dialed),
                    Ok(Err(DialFailed { failure, text })) => Err((failure, text)),
                    Err(GiveUp::Expired) => Err((Failure::ConnectTimeout, "no connection before the request's own timeout".to_owned())),
                    Err(GiveUp::Aborted) => Err((Failure::ClientInterrupted, String::new())),
                };
                match dialled {
                    Ok(dialed) => {
                        worker.recorder.borrow_mut().opened(dialed.connect, dialed.tls);
                        ready = worker.clock.now();
                        Connection::new(dialed.stream)
                    }
                    Err((failure, text)) => return self.unopened(worker, due, failure, text),
                }
            }
        };
        connection.begin(choice.asked);
        let around = worker.around(&self.slot);
        let mut exchange = Exchange::beginning(worker.clock.now());
        worker.left(exchange.sent);
        let mut sight = Sight::Nothing;
        let judges = worker.program.judges(state);
        let (request, ear) = worker.program.sending(state);
        let result = poll_fn(|cx| connection.poll_exchange(cx, request, &mut exchange, &around, &mut One(ear), &mut sight)).await;
        if judges && result.is_ok() {
            sight = Sight::Judged;
        }
        let done = self.done_at(worker, &exchange, result.is_ok());
        worker.came_back(done);
        worker.quirks(exchange.quirks);
        let by = match result {
            Ok(finished) => {
                note_answer(worker, &finished, &sight, request, done);
                let reused = worker.task.keepalive == Keepalive::Reuse;
                let stays = finished.reusable && exchange.written == request.len() && reused;
                (!stays).then_some(if finished.reusable || !reused { Closer::Us } else { Closer::Server })
            }
            Err(failure) => {
                note_failure(worker, failure, (&sight, request), Some(connection.past()), done);
                Some(closer(failure))
            }
        };
        match by {
            Some(by) => worker.closed(by),
            None => {
                connection.answered(done);
                if self.others.len() == OTHERS_MAX {
                    self.others.remove(0);
                    worker.closed(Closer::Us);
                }
                self.others.push((place.clone(), connection));
            }
        }
        outcome(&exchange, due, ready, done, result)
    }

    /// The connection that is kept to an origin, unless the server has closed it meanwhile.
    async fn kept<C: Clock, P: Program>(&mut self, worker: &Worker<D, C, P>, place: &Target) -> Option<Connection<D::Stream>> {
        let at = self.others.iter().position(|(other, _)| other.same_origin(place))?;
        let (_, mut connection) = self.others.remove(at);
        let around = worker.around(&self.slot);
        let lost = poll_fn(|cx| {
            Poll::Ready(match connection.poll_idle(cx, &around) {
                Poll::Ready(quirks) => Some(quirks),
                Poll::Pending => None,
            })
        })
        .await;
        let Some(quirks) = lost else { return Some(connection) };
        worker.quirks(quirks);
        worker.closed(if quirks.is_empty() { Closer::Server } else { Closer::Us });
        None
    }

    /// Once more on a new connection, which cannot be closed for having stood idle.
    async fn send_again<C: Clock, P: Program>(
        &mut self,
        worker: &Worker<D, C, P>,
        state: &mut P::User,
        choice: Choice,
        due: Nanos,
    ) -> Outcome {
        match self.open(worker, due).await {
            Ok(()) => {
                let ready = worker.clock.now();
                self.send(worker, state, choice, due, ready).await
            }
            Err(outcome) => {
                let (_, ear) = worker.program.sending(state);
                worker.heed(worker.program.ended(ear, &outcome));
                outcome
            }
        }
    }

    /// Requests written at once, whose answers come one after the other on the same connection. Each is a request of its own,
    /// sent when the batch was; those that a broken connection left without an answer all failed in the same way.
    async fn send_batch<C: Clock, P: Program>(
        &mut self,
        worker: &Worker<D, C, P>,
        state: &mut P::User,
        choice: Choice,
        due: Nanos,
        ready: Nanos,
    ) -> Outcome {
        let connection = self.connection.as_mut().expect("a Lane sends on a connection");
        connection.begin(choice.asked);
        let around = worker.around(&self.slot);
        let sent = worker.clock.now();
        let mut exchange = Exchange::beginning(sent);
        for _ in 0..choice.requests {
            worker.left(sent);
        }
        let mut sight = Sight::Nothing;
        let (batch, ear) = worker.program.sending(state);
        let ended = |ear: &mut P::Ear, answered: &Answered<'_>| {
            let Answered { finished, first_byte, done, received, bytes } = *answered;
            worker.came_back(done);
            worker.quirks(finished.quirks);
            if !Status(finished.status).is_success() {
                let seen = &bytes[..bytes.len().min(EXAMPLE_BYTES)];
                worker.example(Failure::CheckStatus, done, || without_secrets(&seen.escape_ascii().to_string(), batch));
            }
            let ready = ready.min(sent);
            let outcome = Outcome { due, ready, sent, first_byte, done, bytes_out: 0, bytes_in: received, result: Ok(finished.status) };
            worker.record(&outcome);
            worker.heed(worker.program.ended(ear, &outcome));
        };
        let mut several = Several { ear, asked: choice.asked, left: choice.requests, received: 0, ended };
        let result = poll_fn(|cx| connection.poll_exchange(cx, batch, &mut exchange, &around, &mut several, &mut sight)).await;
        let Several { ear, mut left, received, .. } = several;
        exchange.received = received;
        let done = self.done_at(worker, &exchange, result.is_ok());
        self.judge(worker, &exchange, result, &sight, batch, done);
        let mut last = outcome(&exchange, due, ready, done, result);
        worker.came_back(done);
        worker.heed(worker.program.ended(ear, &last));
        // An answer that ended with the connection leaves the rest unanswered.
        let lost = result.map_or_else(|failure| failure, |_| Failure::RecvEofBeforeResponse);
        while left > 1 {
            left -= 1;
            worker.record(&last);
            worker.came_back(done);
            last = Outcome { bytes_out: 0, bytes_in: 0, first_byte: done, result: Err(lost), ..last };
            worker.heed(worker.program.ended(ear, &last));
        }
        last
    }

    /// When the exchange ended: with its last byte, exactly at its limit, or now.
    fn done_at<C: Clock, P: Program>(&self, worker: &Worker<D, C, P>, exchange: &Exchange, answered: bool) -> Nanos {
        if answered {
            exchange.last_byte
        } else if self.slot.give_up() == Some(GiveUp::Expired) {
            self.slot.deadline()
        } else {
            worker.clock.now()
        }
    }

    /// What follows from the end of an exchange: whether the connection stays, quirks, and the example of a failure.
    fn judge<C: Clock, P: Program>(
        &mut self,
        worker: &Worker<D, C, P>,
        exchange: &Exchange,
        result: Result<Finished, Failure>,
        sight: &Sight,
        request: &[u8],
        done: Nanos,
    ) {
        worker.quirks(exchange.quirks);
        match result {
            Ok(finished) => {
                note_answer(worker, &finished, sight, request, done);
                let sent_whole = exchange.written == request.len();
                if finished.reusable && sent_whole && worker.task.keepalive == Keepalive::Reuse {
                    if let Some(connection) = &mut self.connection {
                        connection.answered(done);
                    }
                } else {
                    let by = if finished.reusable || worker.task.keepalive == Keepalive::CloseEach { Closer::Us } else { Closer::Server };
                    self.close(worker, by);
                }
            }
            Err(failure) => {
                let past = self.connection.as_ref().map(Connection::past);
                note_failure(worker, failure, (sight, request), past, done);
                self.close(worker, closer(failure));
            }
        }
    }

    /// Opens this Lane's connection, or says how the request ended that wanted it.
    async fn open<C: Clock, P: Program>(&mut self, worker: &Worker<D, C, P>, due: Nanos) -> Result<(), Outcome> {
        let number = worker.next_dial();
        let (failure, text) = match self.slot.unless_given_up(worker.dial.dial(number)).await {
            Ok(Ok(dialed)) => {
                self.adopt(worker, dialed);
                return Ok(());
            }
            Ok(Err(DialFailed { failure, text })) => (failure, text),
            Err(GiveUp::Expired) => (Failure::ConnectTimeout, "no connection before the request's own timeout".to_owned()),
            Err(GiveUp::Aborted) => (Failure::ClientInterrupted, String::new()),
        };
        Err(self.unopened(worker, due, failure, text))
    }

    /// How a request ended that could not be sent.
    fn unopened<C: Clock, P: Program>(&self, worker: &Worker<D, C, P>, due: Nanos, failure: Failure, text: String) -> Outcome {
        let done = if self.slot.give_up() == Some(GiveUp::Expired) { self.slot.deadline() } else { worker.clock.now() };
        worker.example(failure, done, || text);
        Outcome { due, ready: done, sent: done, first_byte: done, done, bytes_out: 0, bytes_in: 0, result: Err(failure) }
    }

    /// Waits until a time, a Stop, or until nothing is left to be sent; notices when the connection is closed meanwhile.
    async fn rest<C: Clock, P: Program>(&mut self, worker: &Worker<D, C, P>, until: Nanos) {
        let sleep = worker.clock.sleep_until(until);
        let mut timer = match self.timer.take() {
            Some(mut timer) => {
                timer.as_mut().reset(sleep.deadline());
                timer
            }
            None => Box::pin(sleep),
        };
        poll_fn(|cx| {
            if worker.is_stopping() || worker.is_spent() || self.slot.give_up() == Some(GiveUp::Aborted) {
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
    async fn rest_until_free<C: Clock, P: Program>(&mut self, worker: &Worker<D, C, P>, state: &mut P::User, until: Nanos) {
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
    async fn wait_for_work<C: Clock, P: Program>(&mut self, worker: &Worker<D, C, P>) -> Option<Nanos> {
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
    fn poll_lost<C: Clock, P: Program>(&mut self, cx: &mut std::task::Context<'_>, worker: &Worker<D, C, P>) {
        let Some(connection) = &mut self.connection else { return };
        if let Poll::Ready(quirks) = connection.poll_idle(cx, &worker.around(&self.slot)) {
            worker.quirks(quirks);
            self.close(worker, if quirks.is_empty() { Closer::Server } else { Closer::Us });
        }
    }

    /// A request whose redirects are followed: a chain is one request, from the first byte sent to the last one read.
    async fn send_and_follow<C: Clock, P: Program>(
        &mut self,
        worker: &Worker<D, C, P>,
        state: &mut P::User,
        due: Nanos,
        ready: Nanos,
    ) -> Outcome {
        let judges = worker.program.judges(state);
        let (first, ear) = worker.program.sending(state);
        let outcome = self.chain(worker, (first, judges), ear, due, ready).await;
        worker.heed(worker.program.ended(ear, &outcome));
        outcome
    }

    async fn chain<C: Clock, P: Program>(
        &mut self,
        worker: &Worker<D, C, P>,
        (first, judges): (&[u8], bool),
        ear: &mut P::Ear,
        due: Nanos,
        ready: Nanos,
    ) -> Outcome {
        let mut place = worker.task.place_of(first);
        let mut request = first.to_vec();
        let mut method =
            first.split(|byte| *byte == b' ').next().map_or_else(String::new, |word| String::from_utf8_lossy(word).into_owned());
        let mut whole: Option<Exchange> = None;
        let mut hops = 0;
        loop {
            let mut location = Location::default();
            let at_home = place.same_origin(worker.task.plan.target());
            let (exchange, result, done) =
                match self.hop(worker, &place, at_home, (&request, &method, judges), &mut Chained { location: &mut location, ear }).await {
                    Ok(hop) => hop,
                    Err((failure, done)) => {
                        let exchange = whole.unwrap_or(Exchange::beginning(done));
                        return outcome(&exchange, due, ready, done, Err(failure));
                    }
                };
            // The chain keeps its first send, its last first byte, and the bytes of all.
            let so_far = whole.insert(whole.map_or(exchange, |before| exchange.after(&before)));
            let finished = match result {
                Ok(finished) if Status(finished.status).is_redirect() => finished,
                _ => return outcome(so_far, due, ready, done, result),
            };
            let hops_so_far = Hops { followed: hops, max: worker.task.follow };
            let led = location.destination(&place, hops_so_far, &worker.task.bounds).and_then(|to| {
                let began = worker.task.plan.target();
                let hop =
                    Hop { convention: Convention::Browser, began, from: &place, to: &to, status: Status(finished.status), method: &method };
                let next = worker.task.redirected(&hop, first);
                let next_method = hop.method().to_owned();
                match next {
                    Some(next) => Ok((next, next_method, to)),
                    None => Err((Failure::RedirectTarget, format!("{to} cannot be put into a request"))),
                }
            });
            let trouble = led.map(|next| (request, method, place) = next).err();
            if let Some((failure, why)) = trouble {
                worker.example(failure, done, || why);
                return outcome(so_far, due, ready, done, Err(failure));
            }
            hops += 1;
            worker.recorder.borrow_mut().redirected();
        }
    }

    /// One request of a chain, here or elsewhere. An error is a connection that could not be had, and when.
    async fn hop<C: Clock, P: Program>(
        &mut self,
        worker: &Worker<D, C, P>,
        place: &Target,
        at_home: bool,
        (request, method, judges): (&[u8], &str, bool),
        listener: &mut Chained<'_, P::Ear>,
    ) -> Result<(Exchange, Result<Finished, Failure>, Nanos), (Failure, Nanos)> {
        let give_up = |worker: &Worker<D, C, P>, slot: &Slot, failure, text: String| {
            let done = if slot.give_up() == Some(GiveUp::Expired) { slot.deadline() } else { worker.clock.now() };
            worker.example(failure, done, || text);
            (failure, done)
        };
        if at_home {
            if self.connection.is_none()
                && let Err(outcome) = self.open(worker, Nanos::ZERO).await
            {
                return Err((outcome.result.err().unwrap_or(Failure::ClientInternal), outcome.done));
            }
        } else if self.detour.as_ref().is_none_or(|detour| !detour.0.same_origin(place)) {
            if self.detour.take().is_some() {
                worker.closed(Closer::Us);
            }
            match self.slot.unless_given_up(worker.dial.dial_other(place, worker.next_dial())).await {
                Ok(Ok(dialed)) => {
                    worker.recorder.borrow_mut().opened(dialed.connect, dialed.tls);
                    self.detour = Some(Box::new((place.clone(), Connection::new(dialed.stream))));
                }
                Ok(Err(DialFailed { failure, text })) => return Err(give_up(worker, &self.slot, failure, text)),
                Err(GiveUp::Expired) => return Err(give_up(worker, &self.slot, Failure::ConnectTimeout, String::new())),
                Err(GiveUp::Aborted) => return Err(give_up(worker, &self.slot, Failure::ClientInterrupted, String::new())),
            }
        }
        let connection = if at_home { self.connection.as_mut() } else { self.detour.as_mut().map(|detour| &mut detour.1) };
        let connection = connection.expect("a Lane sends on a connection");
        connection.begin(asked(method));
        let around = worker.around(&self.slot);
        let mut exchange = Exchange::beginning(worker.clock.now());
        worker.left(exchange.sent);
        let mut sight = Sight::Nothing;
        let result = poll_fn(|cx| connection.poll_exchange(cx, request, &mut exchange, &around, &mut One(listener), &mut sight)).await;
        if judges && result.is_ok() {
            sight = Sight::Judged;
        }
        let done = self.done_at(worker, &exchange, result.is_ok());
        worker.came_back(done);
        if at_home {
            self.judge(worker, &exchange, result, &sight, request, done);
            return Ok((exchange, result, done));
        }
        worker.quirks(exchange.quirks);
        let stays = match result {
            Ok(finished) => {
                note_answer(worker, &finished, &sight, request, done);
                finished.reusable && exchange.written == request.len()
            }
            Err(failure) => {
                note_failure(worker, failure, (&sight, request), None, done);
                false
            }
        };
        if stays {
            if let Some(detour) = &mut self.detour {
                detour.1.answered(done);
            }
        } else if self.detour.take().is_some() {
            worker.closed(result.map_or_else(closer, |_| Closer::Server));
        }
        Ok((exchange, result, done))
    }
}

fn note_answer<D: Dial + 'static, C: Clock, P: Program>(
    worker: &Worker<D, C, P>,
    finished: &Finished,
    sight: &Sight,
    request: &[u8],
    done: Nanos,
) {
    let mut quirks = finished.quirks;
    if finished.interims > 0 {
        quirks.insert(Quirk::Interim);
    }
    worker.quirks(quirks);
    if !Status(finished.status).is_success() && !matches!(sight, Sight::Judged) {
        worker.example(Failure::CheckStatus, done, || without_secrets(&sight.text(&worker.buffer.borrow()), request));
    }
}

fn note_failure<D: Dial + 'static, C: Clock, P: Program>(
    worker: &Worker<D, C, P>,
    failure: Failure,
    (sight, request): (&Sight, &[u8]),
    past: Option<Past>,
    done: Nanos,
) {
    worker.example(failure, done, || {
        let text = without_secrets(&sight.text(&worker.buffer.borrow()), request);
        match past.map(|past| past.text(done)) {
            Some(past) if text.is_empty() => past,
            Some(past) => format!("{past}: {text}"),
            None => text,
        }
    });
}

/// What was seen of an answer, without the secrets of its request: a server may send back what it was sent, and only here it is known what that
/// was, from whichever file or script it came.
fn without_secrets(seen: &str, request: &[u8]) -> String {
    Secrets::of_request(request).conceal(seen)
}

fn outcome(exchange: &Exchange, due: Nanos, ready: Nanos, done: Nanos, result: Result<Finished, Failure>) -> Outcome {
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

/// So many origins beside the plan's a Lane keeps connections to.
const OTHERS_MAX: usize = 8;

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

/// Picks the Location header out of an answer.
#[derive(Debug, Default)]
struct Location {
    values: Vec<Vec<u8>>,
}

impl Location {
    /// The place it leads to, or the failure and what it looked like.
    fn destination(&self, from: &Target, hops: Hops, bounds: &Bounds) -> Result<Target, (Failure, String)> {
        let value = match self.values.as_slice() {
            [value] => value,
            [] => return Err((Failure::RedirectTarget, "a redirect without Location".to_owned())),
            several => return Err((Failure::RedirectTarget, format!("a redirect with {} Locations", several.len()))),
        };
        redirect::destination(from, &String::from_utf8_lossy(value), hops, |to| bounds.hold(to)).map_err(|error| {
            let text = match &error {
                RedirectError::Target(why) => format!("Location '{}' {why}", value.escape_ascii()),
                RedirectError::Outside(to) => Bounds::refusal(to),
                RedirectError::Limit => format!("{} redirects, the last from {from}", hops.followed),
            };
            (error.failure(), text)
        })
    }
}

impl Observer for Location {
    fn head(&mut self, _status: u16, headers: &[Header<'_>]) {
        self.values =
            headers.iter().filter(|header| header.name.eq_ignore_ascii_case("location")).map(|header| header.value.to_vec()).collect();
    }
}

/// Listens to an answer of a chain: where it leads, and what the program hears of it.
struct Chained<'a, E> {
    location: &'a mut Location,
    ear: &'a mut E,
}

impl<E: Observer> Observer for Chained<'_, E> {
    fn head(&mut self, status: u16, headers: &[Header<'_>]) {
        self.location.head(status, headers);
        self.ear.head(status, headers);
    }

    fn body(&mut self, bytes: &[u8]) {
        self.ear.body(bytes);
    }
}

impl<D: Dial + 'static, C: Clock, P: Program> Worker<D, C, P> {
    /// Whether any more requests may be sent, and if so takes so many.
    fn take_from_budget(&self, requests: u64) -> bool {
        let left = self.budget.get();
        self.budget.set(left.saturating_sub(requests));
        if left > 0 && left <= requests {
            // Nobody has anything to rest for any more.
            self.slots.borrow().iter().for_each(|slot| slot.wake());
        }
        left > 0
    }

    fn is_spent(&self) -> bool {
        self.budget.get() == 0
    }

    /// Wakes the pacer if it waits for a Lane.
    fn relieve(&self) {
        if self.pacer_waits.get() {
            self.relief.notify_one();
        }
    }
}
