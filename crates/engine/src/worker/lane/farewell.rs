//! What a user sends before it goes: a log-out, a basket given back. None of it is measured.
//!
//! A load that leaves ten thousand sessions behind is not run twice. But what is sent to clean up is no load that anybody asked
//! for: counted, it would be in the rate and the percentiles, and sent while others are still being measured, in their times. So
//! users of a load that ends wait until everybody's last answer is there and counted, and then leave all together; in open load,
//! where users go as others come, each leaves when its journey is over. Sending it through the measured path, muted, was the
//! alternative: each of its twenty places that count would have to ask whether they may.
//!
//! Invariants: nothing here reaches the counts that are handed over but the closing of connections that were counted when they were
//! opened; a user has [`FAREWELL_MAX`] and no longer.

use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use measure::{Closer, Failure, Outcome, Recorder, Span};
use plan::{Keepalive, Nanos, Target};

use super::{Lane, closer, outcome};
use crate::clock::Clock;
use crate::exchange::{Connection, Exchange, One, Sight};
use crate::net::Dial;
use crate::program::{After, Choice, Program};
use crate::slot::GiveUp;
use crate::worker::Worker;

/// So long a user has to send what it sends before it goes: longer than a log-out takes on a server that is up, shorter than
/// anybody waits for the end of a run on one that is not.
pub(crate) const FAREWELL_MAX: Nanos = Nanos::from_secs(10);

/// A user that is to leave once everything is counted.
pub(crate) struct Leaving<D: Dial, P: Program> {
    lane: Lane<D>,
    state: P::User,
}

impl<D: Dial + 'static, P: Program> Leaving<D, P> {
    /// As far as is counted, its connections are closed with the load.
    pub(super) fn after<C: Clock>(lane: Lane<D>, state: P::User, worker: &Worker<D, C, P>) -> Self {
        let open = usize::from(lane.connection.is_some()) + usize::from(lane.detour.is_some()) + lane.others.len();
        for _ in 0..open {
            worker.closed(Closer::Us);
        }
        Self { lane, state }
    }

    /// While others go on: its connections are counted as closed when they are.
    pub(super) const fn amid(lane: Lane<D>, state: P::User) -> Self {
        Self { lane, state }
    }

    /// Leaves.
    pub(crate) async fn go<C: Clock>(mut self, worker: Rc<Worker<D, C, P>>, until: Nanos) {
        self.lane.farewell(&worker, &mut self.state, until).await;
        self.lane.leave(&worker);
    }
}

/// What a program records into that records as always; nobody looks at it.
fn nobody() -> Box<Recorder> {
    Box::new(Recorder::new(Span { from: Nanos::NEVER, until: Nanos::NEVER }))
}

impl<D: Dial + 'static> Lane<D> {
    /// Sends what the program's user sends before it goes.
    pub(super) async fn farewell<C: Clock, P: Program>(&mut self, worker: &Worker<D, C, P>, state: &mut P::User, until: Nanos) {
        while worker.program.goes_on(state) {
            self.slot.begin(Nanos::NEVER);
            let delay = match worker.program.delay(state) {
                Ok(delay) => delay,
                Err(broken) => return worker.program.left_behind(state, Some(broken)),
            };
            if delay > Nanos::ZERO {
                let over = worker.clock.now().plus(delay).min(until);
                // Whoever ends the run at once is heeded below.
                let _ = self.slot.unless_given_up(worker.clock.sleep_until(over)).await;
            }
            let due = worker.clock.now();
            if due >= until || self.slot.give_up() == Some(GiveUp::Aborted) {
                return worker.program.left_behind(state, None);
            }
            let choice = match worker.program.choose(state) {
                Ok(choice) => choice,
                Err(broken) => return worker.program.left_behind(state, Some(broken)),
            };
            let limit = worker.program.limit(state).unwrap_or(worker.task.timeout);
            self.slot.begin(due.plus(limit).min(until));
            let outcome = match worker.program.unsendable(state) {
                Some(failure) => unsent_aside(due, worker.clock.now(), failure),
                None => self.send_aside(worker, state, choice, due).await,
            };
            self.slot.end();
            if self.slot.give_up() == Some(GiveUp::Aborted) {
                return worker.program.left_behind(state, None);
            }
            worker.program.record(state, &outcome, worker.aside.borrow_mut().get_or_insert_with(nobody));
        }
    }

    /// One request, with what follows its answer.
    async fn send_aside<C: Clock, P: Program>(
        &mut self,
        worker: &Worker<D, C, P>,
        state: &mut P::User,
        mut choice: Choice,
        due: Nanos,
    ) -> Outcome {
        loop {
            let home = worker.task.plan.target();
            let place = worker.program.destination(state).filter(|place| !place.same_origin(home)).cloned();
            let mut outcome = self.exchange_aside(worker, state, choice, place.as_ref(), due).await;
            if outcome.result == Err(Failure::StaleReuse) {
                // The connection has waited for the others' last answers: that the server closed it meanwhile is no failure.
                outcome = self.exchange_aside(worker, state, choice, place.as_ref(), due).await;
            }
            let follows = if P::WANDERS { worker.program.after(state, outcome.result) } else { After::Nothing };
            match follows {
                After::Nothing => return outcome,
                After::Fail(failure) => return Outcome { result: Err(failure), ..outcome },
                After::Send(next) | After::Answer(next) => choice = next,
            }
        }
    }

    /// One request and its answer, on a connection that is there, or on one for it alone.
    async fn exchange_aside<C: Clock, P: Program>(
        &mut self,
        worker: &Worker<D, C, P>,
        state: &mut P::User,
        choice: Choice,
        place: Option<&Target>,
        due: Nanos,
    ) -> Outcome {
        let kept = match place {
            None => {
                poll_fn(|cx| {
                    self.poll_lost(cx, worker);
                    Poll::Ready(())
                })
                .await;
                self.connection.take()
            }
            Some(place) => self.kept(worker, place).await,
        };
        let was_kept = kept.is_some();
        let connection = match kept {
            Some(connection) => Ok(connection),
            None => self.dial_aside(worker, place).await.map(Connection::new),
        };
        let mut connection = match connection {
            Ok(connection) => connection,
            Err(failure) => {
                return unsent_aside(due, worker.clock.now(), failure);
            }
        };
        connection.begin(choice.asked);
        let around = worker.around(&self.slot);
        let mut exchange = Exchange::beginning(worker.clock.now());
        let mut sight = Sight::Nothing;
        let (request, ear) = worker.program.sending(state);
        let result = poll_fn(|cx| connection.poll_exchange(cx, request, &mut exchange, &around, &mut One(ear), &mut sight)).await;
        let done = self.done_at(worker, &exchange, result.is_ok());
        if was_kept {
            let reuses = worker.task.keepalive == Keepalive::Reuse;
            match result {
                Ok(finished) if finished.reusable && exchange.written == request.len() && reuses => {
                    connection.answered(done);
                    match place {
                        None => self.connection = Some(connection),
                        Some(place) => self.others.push((place.clone(), connection)),
                    }
                }
                Ok(finished) => worker.closed(if finished.reusable || !reuses { Closer::Us } else { Closer::Server }),
                Err(failure) => worker.closed(closer(failure)),
            }
        }
        outcome(&exchange, due, due, done, result)
    }

    async fn dial_aside<C: Clock, P: Program>(&self, worker: &Worker<D, C, P>, place: Option<&Target>) -> Result<D::Stream, Failure> {
        let number = worker.next_dial();
        let dialled = match place {
            None => self.slot.unless_given_up(worker.dial.dial(number)).await,
            Some(place) => self.slot.unless_given_up(worker.dial.dial_other(place, number)).await,
        };
        match dialled {
            Ok(Ok(dialled)) => Ok(dialled.stream),
            Ok(Err(failed)) => Err(failed.failure),
            Err(GiveUp::Expired) => Err(Failure::ConnectTimeout),
            Err(GiveUp::Aborted) => Err(Failure::ClientInterrupted),
        }
    }
}

/// How a request ended that was not sent.
fn unsent_aside(due: Nanos, done: Nanos, failure: Failure) -> Outcome {
    Outcome { due, ready: done, sent: done, first_byte: done, done, bytes_out: 0, bytes_in: 0, result: Err(failure) }
}
