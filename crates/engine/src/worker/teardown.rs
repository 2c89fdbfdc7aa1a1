//! A user's teardown: what it sends before it goes, a log-out, a basket given back. None of it is measured.
//!
//! A load that leaves ten thousand sessions behind is not run twice. But what is sent to clean up is no load that anybody asked
//! for: counted, it would be in the rate and the percentiles, and sent while others are still being measured, in their times. So
//! users of a load that ends wait until everybody's last answer is there and counted, and then tear down all together; in open load,
//! where users go as others come, each does when its journey is over. It goes the way of every request, muted while others are
//! measured: a path of its own, which stood here before, was the sixth that had to know what the end of a connection means.
//!
//! Invariants: nothing here reaches the counts that are handed over but the connections that are opened and closed; a user has
//! ten seconds and no longer.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::mem;
use std::pin::pin;
use std::rc::Rc;

use measure::{Recorder, Span};
use plan::Nanos;

use super::Worker;
use super::behaviour::Behaviour;
use super::client::Client;
use super::lane::Lane;
use super::shared::Shared;
use crate::clock::Clock;
use crate::transport::Transport;

/// The teardown of a user, to be run once everything is counted.
pub(super) struct UserTeardown<T: Transport, B: Behaviour> {
    lane: Lane<T>,
    user: B::User,
}

impl<T: Transport, B: Behaviour> UserTeardown<T, B> {
    /// As far as is counted, its connections are closed with the load.
    pub(super) fn after_the_load(mut client: Client<'_, T>, user: B::User, worker: &Worker<T, B>) {
        client.lane.count_closed(&worker.shared);
        worker.teardowns.borrow_mut().push(Self { lane: client.lane, user });
    }

    pub(super) async fn run(mut self, worker: Rc<Worker<T, B>>) {
        let mut client = Client::of_teardown(&worker.shared, self.lane);
        worker.behaviour.tear_down(&mut self.user, &mut client).await;
        client.leave();
    }
}

/// Where a worker records while it is muted: nobody looks at it.
#[derive(Default)]
pub(super) struct Mute {
    is_on: Cell<bool>,
    /// Made by the first who is muted.
    aside: RefCell<Option<Box<Recorder>>>,
}

impl<T: Transport> Shared<T> {
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
