//! A user's teardown: what it sends before it goes, a log-out, a basket given back. None of it is measured.
//!
//! A load that leaves ten thousand sessions behind is not run twice. But what is sent to clean up is no load that anybody asked
//! for: counted, it would be in the rate and the percentiles, and sent while others are still being measured, in their times. So
//! users of a load that ends wait until everybody's last answer is there and counted, and then tear down all together; in open load,
//! where users go as others come, each does when its journey is over. It goes the way of every request, muted while others are
//! measured: a path of its own, which stood here before, was the sixth that had to know what the end of a connection means.
//!
//! Invariants: nothing here reaches the counts that are handed over but the connections that are opened and closed; a user has
//! [`TEARDOWN_MAX`] and no longer.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::mem;
use std::pin::pin;
use std::rc::Rc;

use measure::{Recorder, Span};
use plan::Nanos;

use super::Worker;
use super::lane::Lane;
use crate::clock::Clock;
use crate::net::Dial;
use crate::program::Program;
use crate::slot::GiveUp;

/// So long a user has for its teardown: longer than a log-out takes on a server that is up, shorter than anybody waits for the end of a
/// run on one that is not.
pub(super) const TEARDOWN_MAX: Nanos = Nanos::from_secs(10);

/// The teardown of a user, to be run once everything is counted.
pub(super) struct UserTeardown<D: Dial, P: Program> {
    lane: Lane<D>,
    state: P::User,
}

impl<D: Dial + 'static, P: Program> UserTeardown<D, P> {
    /// As far as is counted, its connections are closed with the load.
    pub(super) fn after_the_load<C: Clock>(lane: Lane<D>, state: P::User, worker: &Worker<D, C, P>) {
        lane.count_closed(worker);
        worker.teardowns.borrow_mut().push(Self { lane, state });
    }

    pub(super) async fn run<C: Clock>(mut self, worker: Rc<Worker<D, C, P>>) {
        self.lane.tear_down(&worker, &mut self.state).await;
        self.lane.leave(&worker);
    }
}

impl<D: Dial + 'static> Lane<D> {
    /// Sends what the program's user sends before it goes.
    pub(super) async fn tear_down<C: Clock, P: Program>(&mut self, worker: &Worker<D, C, P>, state: &mut P::User) {
        self.teardown_until = worker.clock.now().plus(TEARDOWN_MAX);
        let is_aborted = |lane: &Self| lane.slot.give_up() == Some(GiveUp::Aborted);
        while worker.program.goes_on(state) {
            let why = match worker.program.delay(state) {
                Err(broken) => Some(broken),
                Ok(delay) => {
                    if delay > Nanos::ZERO {
                        let until = worker.clock.now().plus(delay).min(self.teardown_until);
                        self.rest(worker, until).await;
                    }
                    let due = worker.clock.now();
                    if due >= self.teardown_until || is_aborted(self) {
                        None
                    } else {
                        match worker.program.choose(state) {
                            Err(broken) => Some(broken),
                            Ok(choice) => {
                                self.perform(worker, state, choice, due, due).await;
                                if !is_aborted(self) {
                                    continue;
                                }
                                None
                            }
                        }
                    }
                }
            };
            worker.program.left_behind(state, why);
            break;
        }
        self.teardown_until = Nanos::NEVER;
    }
}

/// Where a worker records while it is muted: nobody looks at it.
#[derive(Default)]
pub(super) struct Mute {
    is_on: Cell<bool>,
    /// Made by the first who is muted.
    aside: RefCell<Option<Box<Recorder>>>,
}

impl<D: Dial + 'static, C: Clock, P: Program> Worker<D, C, P> {
    /// Waits for a future in whose turns nothing is counted but connections, while others are measured.
    pub(super) async fn muted<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        poll_fn(|cx| {
            // A gap until now is everybody's.
            self.notice_gap(self.clock.now());
            let (interval_end, last_done) = (self.interval_end.replace(Nanos::NEVER), self.last_done.get());
            self.switch_mute(true);
            let polled = future.as_mut().poll(cx);
            self.switch_mute(false);
            self.interval_end.set(interval_end);
            self.last_done.set(last_done);
            polled
        })
        .await
    }

    fn switch_mute(&self, is_on: bool) {
        self.mute.is_on.set(is_on);
        let nobody = || Box::new(Recorder::new(Span { from: Nanos::NEVER, until: Nanos::NEVER }));
        mem::swap(&mut *self.recorder.borrow_mut(), self.mute.aside.borrow_mut().get_or_insert_with(nobody));
    }

    /// Counts a connection, muted or not: it may have been another's before, or be another's next.
    pub(super) fn count_connection(&self, count: impl FnOnce(&mut Recorder)) {
        match &mut *self.mute.aside.borrow_mut() {
            Some(recorder) if self.mute.is_on.get() => count(recorder),
            _ => count(&mut self.recorder.borrow_mut()),
        }
    }
}
