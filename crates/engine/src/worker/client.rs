//! What a user asks for what it needs: to send, to wait, to be counted.
//!
//! All sending is code around [`Lane::send`], the one path. The plan's redirects and batches are here; what follows from an answer
//! otherwise is the behaviour's own code, in between [`Client::exchange`]s. In a teardown the same client is muted.
//!
//! Invariant: what [`Client::fetch`], [`Client::begin`] or [`Client::refuse`] began is recorded once, by [`Client::record`] or
//! [`Client::record_with`]; the sums at the end of the run are asserted.

mod branches;
mod chain;
mod ends;
mod watched;

use std::task::{Context, Poll};

use measure::{Failure, Outcome, Recorder, Status};
use plan::{Bounds, Nanos, Random, Target};

use chain::{Chained, Location};

use super::lane::{Acquired, Lane, without_secrets};
use super::shared::Shared;
use crate::clock::Clock;
use crate::error::BehaviourError;
use crate::protocol::{Answered, Answers, EXAMPLE_BYTES, Encoded, EncodedRef, ResponseSink, shown};
use crate::redirect::{Convention, Hop, Hops};
use crate::slot::GiveUp;
use crate::transport::Transport;

/// Why a user sends no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// Its time is over, or everybody's, or all requests are sent.
    Over,
    /// The behaviour cannot go on. It ends the run; what was measured is kept.
    Broken(Box<BehaviourError>),
}

impl<E: Into<BehaviourError>> From<E> for End {
    fn from(error: E) -> Self {
        Self::Broken(Box::new(error.into()))
    }
}

/// A request as it goes over the wire.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    pub(super) encoded: EncodedRef<'a>,
    pub(super) to: Option<&'a Target>,
    pub(super) is_judged: bool,
    /// Whether its connection is closed behind it.
    pub(super) closes: bool,
    /// Never, if it has none of its own.
    limit: Nanos,
    /// The same of how long its answer is listened to that streams.
    stream_for: Nanos,
}

impl<'a> Request<'a> {
    /// To the plan's target.
    #[inline]
    #[must_use]
    pub const fn new(encoded: EncodedRef<'a>) -> Self {
        Self { encoded, to: None, is_judged: false, closes: false, limit: Nanos::NEVER, stream_for: Nanos::NEVER }
    }

    /// To the server of this target.
    #[inline]
    #[must_use]
    pub const fn to(self, target: &'a Target) -> Self {
        Self { to: Some(target), ..self }
    }

    /// To the server of this target, if to any but the plan's.
    #[inline]
    #[must_use]
    pub const fn at(self, target: Option<&'a Target>) -> Self {
        Self { to: target, ..self }
    }

    /// Whether the behaviour itself says which statuses are right; else one of 400 or above is noted as the example of a failure.
    #[inline]
    #[must_use]
    pub const fn judged(self, is_judged: bool) -> Self {
        Self { is_judged, ..self }
    }

    /// Whether its connection is closed behind it, as its head says.
    #[inline]
    #[must_use]
    pub const fn closing(self, closes: bool) -> Self {
        Self { closes, ..self }
    }

    /// How long its answer may take, from when it could be sent; `None`: as long as the plan says, from when it fell due.
    #[inline]
    #[must_use]
    pub fn within(self, limit: Option<Nanos>) -> Self {
        Self { limit: limit.unwrap_or(Nanos::NEVER), ..self }
    }

    /// How long its answer is listened to if it streams; `None`: as long as the plan says.
    #[inline]
    #[must_use]
    pub fn listening(self, time: Option<Nanos>) -> Self {
        Self { stream_for: time.unwrap_or(Nanos::NEVER), ..self }
    }

    #[inline]
    fn limit(&self) -> Option<Nanos> {
        Some(self.limit).filter(|limit| *limit < Nanos::NEVER)
    }
}

/// What a client sends for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// A user of closed load.
    User,
    /// An arrival of open load.
    Arrival,
    /// A user that goes; muted.
    Teardown,
}

/// A user's way to the server.
pub struct Client<'w, T: Transport> {
    shared: &'w Shared<T>,
    pub(super) lane: Lane<T>,
    phase: Phase,
    /// Whether its next request may be sent: it was taken from what there is to send.
    has_turn: bool,
    /// Whether it has sent anything in this iteration.
    has_sent: bool,
    /// Refusals in a row.
    refusals: u32,
    /// When the request at hand, or else the next, is due, and from when on it can be sent.
    due: Nanos,
    free_at: Nanos,
    /// The rest that the last request left its user with.
    owed: Nanos,
    /// Nothing is sent from then on.
    until: Nanos,
    random: Random,
}

/// A server that drops a share of its requests is measured at full rate; one that drops this many of a user's requests
/// in a row is down, and is not to be hammered.
const UNANSWERED_MAX: u32 = 3;

/// How long an iteration lasts at least in which nothing is sent.
const IDLE: Nanos = Nanos::from_millis(1);

/// So long a user has for its teardown: longer than a log-out takes on a server that is up, shorter than anybody waits for the end of a
/// run on one that is not.
const TEARDOWN_MAX: Nanos = Nanos::from_secs(10);

impl<'w, T: Transport> Client<'w, T> {
    fn new(shared: &'w Shared<T>, lane: Lane<T>, phase: Phase, until: Nanos, random: Random) -> Self {
        let now = shared.clock.now();
        let (has_turn, has_sent, refusals, owed) = (false, false, 0, Nanos::ZERO);
        Self { shared, lane, phase, has_turn, has_sent, refusals, due: now, free_at: now, owed, until, random }
    }

    /// Of a user that is there until then.
    pub(super) fn of_user(shared: &'w Shared<T>, until: Nanos, random: Random) -> Self {
        Self::new(shared, Lane::new(shared), Phase::User, until, random)
    }

    /// Of whichever arrival is [assigned](Self::assign).
    pub(super) fn of_arrivals(shared: &'w Shared<T>) -> Self {
        Self::new(shared, Lane::new(shared), Phase::Arrival, shared.task.end, Random::new(0, 0))
    }

    /// Of a user that goes, with the Lane it had.
    pub(super) fn of_teardown(shared: &'w Shared<T>, lane: Lane<T>) -> Self {
        let mut client = Self::new(shared, lane, Phase::Teardown, Nanos::NEVER, Random::new(0, 0));
        client.begin_teardown();
        client
    }

    /// Waits until a user is there; whether there is anything left to be sent then.
    pub(super) async fn comes(&mut self, from: Nanos) -> bool {
        if from > self.due {
            self.lane.rest(self.shared, from).await;
            self.due = self.shared.clock.now();
            self.free_at = self.due;
            return !self.shared.is_stopping() && !self.shared.is_spent();
        }
        true
    }

    /// Whether a user is there as long as the load is.
    pub(super) fn is_there_until_the_end(&self) -> bool {
        self.until == self.shared.task.end
    }

    /// Closes what is open.
    pub(super) fn leave(self) {
        self.lane.leave(self.shared);
    }

    /// An arrival begins, with its first request.
    #[inline]
    pub(super) fn assign(&mut self, due: Nanos, free_at: Nanos) {
        (self.due, self.free_at, self.has_turn) = (due, free_at, true);
    }

    /// Waits for the next arrival on this Lane: one that is due already, which `take_due` takes, or one that is assigned. `false`: none comes
    /// any more, or the connection is lost.
    #[expect(clippy::manual_async_fn, reason = "an async fn keeps its arguments twice, in every idle user")]
    #[inline]
    pub(super) fn next_arrival(&mut self, take_due: impl Fn(Nanos) -> Option<Nanos>) -> impl Future<Output = bool> {
        async move {
            let shared = self.shared;
            let now = shared.clock.now();
            if !shared.is_stopping()
                && let Some(next) = take_due(now)
            {
                self.assign(next, now);
                return true;
            }
            if shared.arrivals_ended() || self.lane.has_none() {
                return false;
            }
            shared.idle.borrow_mut().push(self.lane.place);
            shared.relieve();
            match self.lane.wait_for_work(shared).await {
                Some(assigned) => {
                    self.assign(assigned, assigned.max(now));
                    true
                }
                None => false,
            }
        }
    }

    /// The same of arrivals by the plan's timetable.
    #[inline]
    pub(super) fn next_by_timetable(&mut self) -> impl Future<Output = bool> {
        let shared = self.shared;
        self.next_arrival(|now| shared.take_due(now))
    }

    /// All that is sent from now on is part of a teardown.
    pub(super) fn begin_teardown(&mut self) {
        let now = self.shared.clock.now();
        (self.phase, self.due, self.free_at, self.until) = (Phase::Teardown, now, now, now.plus(TEARDOWN_MAX));
        (self.owed, self.has_turn) = (Nanos::ZERO, false);
        self.lane.is_in_teardown = true;
    }

    /// The Lane is an arrival's again.
    pub(super) fn end_teardown(&mut self) {
        (self.phase, self.until) = (Phase::Arrival, self.shared.task.end);
        self.lane.is_in_teardown = false;
    }

    /// Whether this is an arrival of open load, which goes when its iteration is over.
    #[inline]
    #[must_use]
    pub fn is_arrival(&self) -> bool {
        self.phase == Phase::Arrival
    }

    /// When the request at hand is due; between requests the next, as far as it is known.
    #[inline]
    #[must_use]
    pub fn due(&self) -> Nanos {
        self.due
    }

    /// Whether a user's iteration is followed by the next at once. One that sent nothing rests a moment, so that others have their turn.
    #[inline]
    pub(super) fn is_settled(&mut self) -> bool {
        if !std::mem::take(&mut self.has_sent) {
            self.owed = self.owed.max(IDLE);
        }
        self.owed == Nanos::ZERO
    }

    /// Waits for the rest that the last request left its user with; whether it is still there then.
    pub(super) async fn settle(&mut self) -> bool {
        self.rest_before(Nanos::ZERO).await;
        !self.is_over()
    }

    /// Waits for the rest that the last request left its user with, the plan's pause or what a server that refuses is left alone for, and
    /// then for this pause.
    async fn rest_before(&mut self, pause: Nanos) {
        for rest in [std::mem::take(&mut self.owed), pause] {
            if rest > Nanos::ZERO {
                self.lane.rest(self.shared, self.due.plus(rest).min(self.until)).await;
                self.due = self.shared.clock.now();
                self.free_at = self.due;
            }
        }
    }

    /// Waits until the next request may be sent: as long as this `pause`, which is part of no request's time, after what is waited for in
    /// any case. A request that is chosen afterwards is sent.
    ///
    /// # Errors
    /// [`End::Over`] if nothing more is sent.
    #[expect(clippy::manual_async_fn, reason = "an async fn keeps its arguments twice, in every idle user")]
    #[inline]
    pub fn turn(&mut self, pause: Nanos) -> impl Future<Output = Result<(), End>> {
        async move {
            if self.owed > Nanos::ZERO || pause > Nanos::ZERO {
                self.rest_before(pause).await;
                // An arrival that pauses first may find that the load is over.
                self.has_turn &= self.phase != Phase::Arrival;
            }
            if self.has_turn || self.takes_turn() { Ok(()) } else { Err(End::Over) }
        }
    }

    /// Waits as long as this `pause`, and then until other users let this one go on, which `poll_free` says. Nothing is sent meanwhile, and
    /// whoever is still waiting when the load ends has not gone on.
    ///
    /// # Errors
    /// [`End::Over`] if nothing more is sent.
    pub async fn wait(&mut self, pause: Nanos, mut poll_free: impl FnMut(&mut Context<'_>) -> Poll<()>) -> Result<(), End> {
        self.rest_before(pause).await;
        // An arrival that waits first may find that the load is over.
        self.has_turn = false;
        if self.is_over() {
            return Err(End::Over);
        }
        self.lane.rest_until_free(self.shared, self.until, &mut poll_free).await;
        self.due = self.shared.clock.now();
        self.free_at = self.due;
        Ok(())
    }

    /// Whether nothing more is sent.
    fn is_over(&self) -> bool {
        self.due >= self.until
            || match self.phase {
                Phase::User | Phase::Arrival => self.shared.is_stopping() || self.shared.is_spent(),
                Phase::Teardown => self.lane.slot.give_up() == Some(GiveUp::Aborted),
            }
    }

    #[inline]
    fn takes_turn(&mut self) -> bool {
        let is_over = self.due >= self.until
            || match self.phase {
                Phase::User => self.shared.is_stopping() || !self.shared.take_from_budget(1),
                Phase::Arrival => self.shared.is_stopping(),
                Phase::Teardown => self.lane.slot.give_up() == Some(GiveUp::Aborted),
            };
        self.has_turn = !is_over;
        !is_over
    }

    /// Sends a request, follows the plan's redirects, and counts it by the status of its answer, which the sink has seen: `&mut ()` sees
    /// nothing and costs nothing.
    ///
    /// # Errors
    /// [`End::Over`] if nothing more is sent.
    #[expect(clippy::manual_async_fn, reason = "an async fn keeps its arguments twice, in every idle user")]
    #[inline]
    pub fn send<S: ResponseSink>(&mut self, request: &Request<'_>, sink: &mut S) -> impl Future<Output = Result<Outcome, End>> {
        async move {
            let outcome = self.fetch(request, sink).await?;
            self.record(&outcome);
            Ok(outcome)
        }
    }

    /// As [`send`](Self::send), not yet recorded. Its [`wait`](Outcome::wait) in closed load is the time that its own connection took to
    /// open, 0 for one that stood.
    ///
    /// # Errors
    /// [`End::Over`] if nothing more is sent.
    #[inline]
    pub fn fetch<S: ResponseSink>(&mut self, request: &Request<'_>, sink: &mut S) -> impl Future<Output = Result<Outcome, End>> {
        self.fetch_of(request, sink, || None)
    }

    /// The same, where a Step by its place is part of the request: asked for only where something is counted for it before its end.
    ///
    /// # Errors
    /// As [`fetch`](Self::fetch).
    #[expect(clippy::manual_async_fn, reason = "an async fn keeps its arguments twice, in every idle user")]
    #[inline]
    pub fn fetch_of<S: ResponseSink>(
        &mut self,
        request: &Request<'_>,
        sink: &mut S,
        step: impl FnOnce() -> Option<usize>,
    ) -> impl Future<Output = Result<Outcome, End>> {
        async move {
            if !self.has_turn {
                if self.owed > Nanos::ZERO {
                    self.rest_before(Nanos::ZERO).await;
                }
                if !self.takes_turn() {
                    return Err(End::Over);
                }
            }
            self.begin(request.limit());
            if self.shared.task.follow > 0 && request.to.is_none() || self.watches_answers() {
                return Ok(Box::pin(self.fetch_looking(request, sink, step())).await);
            }
            Ok(self.exchange(request, sink).await)
        }
    }

    /// Begins a request, as whose parts [exchanges](Self::exchange) are then made. Its [turn](Self::turn) must have come.
    #[inline]
    pub fn begin(&mut self, limit: Option<Nanos>) {
        debug_assert!(self.has_turn, "a request is begun in its turn");
        self.has_sent = true;
        self.shared.fell_due(self.due);
        // The plan's limit counts from when the request fell due; one of its own from when it could be sent.
        let limit = limit.map_or(self.due.plus(self.shared.task.timeout), |limit| self.free_at.plus(limit));
        self.lane.slot.begin(if self.phase == Phase::Teardown { limit.min(self.until) } else { limit });
    }

    /// One exchange of the request that was begun: its bytes go over the wire, and its answer comes.
    #[inline]
    pub fn exchange<S: ResponseSink>(&mut self, request: &Request<'_>, sink: &mut S) -> impl Future<Output = Outcome> {
        self.exchange_from(request, sink, self.free_at)
    }

    /// The same as a later part: it could be sent when the one before was answered.
    #[inline]
    fn exchange_from<S: ResponseSink>(&mut self, request: &Request<'_>, sink: &mut S, ready: Nanos) -> impl Future<Output = Outcome> {
        self.lane.send(self.shared, request, One(sink), self.due, ready)
    }

    /// Whether answers are looked through, for events or for how they are packed: [`exchange`](Self::exchange) leaves that to whoever gives
    /// it a sink, for the sake of loads in which they are not.
    #[inline]
    #[must_use]
    pub fn watches_answers(&self) -> bool {
        self.shared.task.watches_answers
    }

    /// A request that may be redirected, or whose answer is looked through.
    async fn fetch_looking<S: ResponseSink>(&mut self, request: &Request<'_>, sink: &mut S, step: Option<usize>) -> Outcome {
        if self.shared.task.follow == 0 || request.to.is_some() {
            return self.watch(None, request, sink, step).await;
        }
        let mut watched = self.watched(request, sink, step);
        let outcome = self.follow(request, &mut watched).await;
        self.reopen(outcome, request, &mut watched).await
    }

    /// Another exchange of the request so far, which could begin when the one before had ended. All of them are one: it was sent when
    /// its first part was, and its bytes are those of all.
    pub async fn exchange_more<S: ResponseSink>(&mut self, so_far: &Outcome, request: &Request<'_>, sink: &mut S) -> Outcome {
        let part = self.exchange_from(request, sink, so_far.done).await;
        Outcome {
            ready: so_far.ready,
            sent: so_far.sent,
            bytes_out: so_far.bytes_out.saturating_add(part.bytes_out),
            bytes_in: so_far.bytes_in + part.bytes_in,
            ..part
        }
    }

    /// Counts a redirect of the request so far that is followed to this place.
    ///
    /// # Errors
    /// What the request has come to, if it leads to a server that the plan does not name.
    pub fn redirect(&mut self, so_far: &Outcome, to: &Target) -> Result<(), Outcome> {
        if !self.shared.task.bounds.hold(to) {
            return Err(self.fail(so_far, Failure::RedirectOutside, || Bounds::refusal(to)));
        }
        self.shared.recorder.borrow_mut().redirected();
        Ok(())
    }

    /// Counts that a request meets its server once more because its connection had just been closed.
    pub fn send_again(&mut self, so_far: &Outcome) {
        self.shared.recorder.borrow_mut().sent_again(so_far.sent, so_far.done);
    }

    /// What a request has come to that failed after its answer, and why in words.
    pub fn fail(&mut self, so_far: &Outcome, failure: Failure, why: impl FnOnce() -> String) -> Outcome {
        self.shared.example(failure, so_far.done, why);
        Outcome { result: Err(failure), ..*so_far }
    }

    /// Counts a request by the status of its answer.
    #[inline]
    pub fn record(&mut self, outcome: &Outcome) {
        self.record_with(outcome, |recorder| recorder.record(outcome));
    }

    /// Counts a request as the behaviour does.
    #[inline]
    pub fn record_with<R>(&mut self, outcome: &Outcome, record: impl FnOnce(&mut Recorder) -> R) -> R {
        self.lane.slot.end();
        let recorded = self.shared.record_with(self.lane.place, outcome, record);
        self.has_turn = false;
        self.due = outcome.done;
        match outcome.result {
            Ok(_) => {
                self.refusals = 0;
                if let Some(pause) = self.shared.pause
                    && self.phase == Phase::User
                {
                    self.owed = pause.draw(&mut self.random);
                }
            }
            Err(failure) => self.rest_after(failure, outcome.bytes_in),
        }
        self.free_at = self.due;
        recorded
    }

    /// Notes when a request was noticed to have failed, and how long its user rests: as the plan says, and longer where it got no answer
    /// to wait for.
    #[cold]
    fn rest_after(&mut self, failure: Failure, bytes_in: u64) {
        if self.phase == Phase::User {
            let pause = self.shared.pause.map_or(Nanos::ZERO, |pause| pause.draw(&mut self.random));
            self.owed = pause.max(self.back_off(failure, bytes_in));
        }
        if self.owed == Nanos::ZERO {
            // Recorded at its limit, but noticed somewhat later.
            self.due = self.shared.clock.now();
        }
    }

    fn back_off(&mut self, failure: Failure, bytes_in: u64) -> Nanos {
        let spared = match failure {
            // There was no connection, or nothing to be sent on one.
            failure if failure.is_unsent() => 0,
            // The connection was closed without a byte of an answer.
            Failure::RecvEofBeforeResponse | Failure::RecvReset | Failure::SendReset | Failure::SendClosed if bytes_in == 0 => {
                UNANSWERED_MAX
            }
            _ => {
                self.refusals = 0;
                return Nanos::ZERO;
            }
        };
        let refusals = self.refusals;
        self.refusals += 1;
        if refusals < spared {
            return Nanos::ZERO;
        }
        // After the k-th refusal in a row: 10 ms · 2^k, at most 1 s, ± 50 % (docs/measurement.md §4.2).
        let most = Nanos::from_millis(10 << (refusals - spared).min(7)).min(Nanos::SECOND).0;
        Nanos(self.random.between(most / 2, most + most / 2))
    }

    /// A request whose redirects are followed as the plan says.
    async fn follow<S: ResponseSink>(&mut self, request: &Request<'_>, sink: &mut S) -> Outcome {
        let (task, first) = (self.shared.task.clone(), request.encoded);
        let home = task.plan.target();
        let mut place = task.place_of(first);
        let mut led: Option<Encoded> = None;
        let mut so_far: Option<Outcome> = None;
        let mut followed = 0;
        loop {
            let mut location = Location::default();
            let encoded = led.as_ref().map_or(first, Encoded::as_ref);
            let part = Request { encoded, to: Some(&place), ..*request };
            let sink = &mut Chained { location: &mut location, sink };
            let outcome = match &so_far {
                None => self.exchange(&part, sink).await,
                Some(so_far) => self.exchange_more(so_far, &part, sink).await,
            };
            let Some(status) = outcome.result.ok().map(Status).filter(|status| status.is_redirect()) else { return outcome };
            let next = location.destination(&place, Hops { followed, max: task.follow }, &task.bounds).and_then(|to| {
                let method = encoded.method();
                let hop = Hop { convention: Convention::Browser, began: home, from: &place, to: &to, status, method };
                let next = task.redirected(&hop, first);
                let next = next.ok_or_else(|| (Failure::RedirectTarget, format!("{to} cannot be put into a request")))?;
                Ok((next, to))
            });
            match next {
                Ok((next, to)) => (led, place) = (Some(next), to),
                Err((failure, why)) => return self.fail(&outcome, failure, || why),
            }
            followed += 1;
            self.shared.recorder.borrow_mut().redirected();
            so_far = Some(outcome);
        }
    }

    /// Sends requests that were written at once, `count` of them, whose answers come one after the other on the same connection, and counts
    /// each: it was sent when the batch was. Those that a broken connection left without an answer all failed in the same way. `ended`
    /// is told of each.
    ///
    /// # Errors
    /// [`End::Over`] if nothing more is sent, and what `ended` said last.
    pub async fn send_batch<S: ResponseSink>(
        &mut self,
        request: &Request<'_>,
        count: u32,
        sink: &mut S,
        mut ended: impl FnMut(&mut S, &Outcome) -> Result<(), BehaviourError>,
    ) -> Result<(), End> {
        if !self.has_turn {
            self.turn(Nanos::ZERO).await?;
        }
        let shared = self.shared;
        if self.phase == Phase::User {
            // A batch is sent whole, if any of it may be.
            shared.take_from_budget(u64::from(count) - 1);
        }
        (1..count).for_each(|_| shared.fell_due(self.due));
        self.begin(request.limit());
        let (lane, due, mut ready, mut wrong) = (self.lane.place, self.due, self.free_at, None);
        match self.lane.acquire(shared, request.encoded, None).await {
            Ok(Acquired::Kept) => {}
            Ok(Acquired::New) => ready = shared.clock.now(),
            Err((failure, text)) => {
                let outcome = self.lane.unsent(shared, due, failure, text);
                (1..count).for_each(|_| shared.record(lane, &outcome));
                let told = ended(sink, &outcome);
                self.record(&outcome);
                return Ok(told?);
            }
        }
        let mut counted = 0;
        let answered = |sink: &mut S, answered: &Answered<'_>| {
            let Answered { answer, sent, first_byte, done, received, bytes } = *answered;
            shared.came_back(done);
            shared.quirks(answer.quirks);
            if !Status(answer.status).is_success() {
                let seen = &bytes[..bytes.len().min(EXAMPLE_BYTES)];
                shared.example(Failure::CheckStatus, done, || without_secrets(&shown(seen), request.encoded.bytes()));
            }
            let (ready, bytes_in) = (ready.min(sent), received - std::mem::replace(&mut counted, received));
            let outcome = Outcome { due, ready, sent, first_byte, done, bytes_out: 0, bytes_in, result: Ok(answer.status) };
            shared.record(lane, &outcome);
            wrong = wrong.take().or(ended(sink, &outcome).err());
        };
        let mut several = Several { sink, left: count, answered };
        let mut last = self.lane.send(shared, request, &mut several, due, ready).await;
        let Several { sink, left, .. } = several;
        last.bytes_in -= counted;
        // An answer that ended with the connection leaves the rest unanswered.
        let lost = last.result.err().unwrap_or(Failure::RecvEofBeforeResponse);
        for _ in 1..left {
            wrong = wrong.take().or(ended(sink, &last).err());
            shared.record(lane, &last);
            shared.came_back(last.done);
            last = Outcome { bytes_out: 0, bytes_in: 0, first_byte: last.done, result: Err(lost), ..last };
        }
        wrong = wrong.take().or(ended(sink, &last).err());
        self.record(&last);
        wrong.map_or(Ok(()), |wrong| Err(wrong.into()))
    }
}

/// One answer, and what sees it.
struct One<'a, S>(&'a mut S);

impl<S: ResponseSink> Answers for One<'_, S> {
    type Sink = S;

    #[inline]
    fn left(&self) -> u32 {
        1
    }

    #[inline]
    fn sink(&mut self) -> &mut S {
        self.0
    }
}

/// The answers to a batch, which come one after the other, in whatever pieces.
struct Several<'a, S, F> {
    sink: &'a mut S,
    left: u32,
    /// Called with every answer but the last.
    answered: F,
}

impl<S: ResponseSink, F: FnMut(&mut S, &Answered<'_>)> Answers for Several<'_, S, F> {
    type Sink = S;

    fn left(&self) -> u32 {
        self.left
    }

    fn sink(&mut self) -> &mut S {
        self.sink
    }

    fn answered(&mut self, answered: &Answered<'_>) {
        self.sink.complete();
        (self.answered)(self.sink, answered);
        self.left -= 1;
    }
}
