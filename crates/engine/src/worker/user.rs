//! Who sends: a user in closed load, and in open load a carrier of arrivals.
//!
//! An idle user is a task that waits, and ten thousand of them are what a worker's memory is made of. So what is rare is boxed, and
//! the futures here are not `async fn`s, which keep their arguments twice.

use std::rc::Rc;

use measure::{Failure, Outcome};
use plan::{Load, Nanos, Random};

use super::Worker;
use super::lane::Lane;
use super::teardown::UserTeardown;
use crate::clock::Clock;
use crate::net::{Dial, Dialed};
use crate::program::Program;

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
            Load::Open { .. } | Load::Mixed(_) => None,
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
            UserTeardown::after_the_load(lane, state, worker);
        } else {
            // Boxed: the user's task would be larger for it all its life.
            Box::pin(worker.muted(lane.tear_down(worker, &mut state))).await;
            lane.leave(worker);
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
                if worker.is_stopping() || worker.clock.now() >= worker.task.end {
                    UserTeardown::after_the_load(lane, state, worker);
                    return worker.relieve();
                }
                Box::pin(worker.muted(lane.tear_down(worker, &mut state))).await;
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

impl<D: Dial + 'static> Lane<D> {
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
}
