//! Who sends: a user in closed load, and in open load a carrier of arrivals.
//!
//! An idle user is a task that waits, and ten thousand of them are what a worker's memory is made of. So what is rare is boxed, and
//! the future here is no `async fn`, which keeps its arguments twice.

use std::rc::Rc;

use plan::{Nanos, Random};

use super::Worker;
use super::behaviour::Behaviour;
use super::client::{Client, End};
use super::teardown::UserTeardown;
use crate::clock::Clock;
use crate::net::{Dial, Dialed};
use crate::transport::Transport;

/// A connection opened before the start line, or none if that failed.
pub(super) type Opened<D> = Option<Dialed<<D as Dial>::Stream>>;

/// A user that is to come. Boxed when its task is made: a task keeps the room of what it is made of for all its life.
pub(super) struct Newcomer<D: Dial> {
    /// Which of the load's users it is.
    pub(super) number: u64,
    /// From when until when it is there.
    pub(super) presence: (Nanos, Nanos),
    pub(super) opened: Opened<D>,
}

impl<D: Dial> Newcomer<D> {
    /// Takes the connection out, and the box away.
    #[expect(clippy::boxed_local, reason = "the box ends here")]
    fn opened(self: Box<Self>) -> Opened<D> {
        self.opened
    }
}

/// Streams of the seed from here on belong to users.
const USERS: u64 = 1_000;

/// A user in closed load, for as long as it is there: from iteration to iteration.
#[expect(clippy::manual_async_fn, reason = "an async fn keeps its arguments twice, in every idle user")]
pub(super) fn user<T: Transport, B: Behaviour>(worker: Rc<Worker<T, B>>, newcomer: Box<Newcomer<T::Dial>>) -> impl Future<Output = ()> {
    async move {
        let shared = &*worker.shared;
        let until = newcomer.presence.1.min(shared.task.end);
        let mut client = Client::of_user(shared, until, Random::new(shared.task.plan.seed(), USERS + newcomer.number));
        if !client.comes(newcomer.presence.0).await {
            return client.leave();
        }
        let mut user = worker.behaviour.user(newcomer.number);
        if let Some(dialed) = newcomer.opened() {
            client.lane.adopt(shared, dialed);
        }
        while worker.goes_on(worker.behaviour.iterate(&mut user, &mut client).await) && (client.is_settled() || client.settle().await) {}
        if !B::HAS_TEARDOWN || !worker.behaviour.begin_teardown(&mut user) {
            return client.leave();
        }
        if client.is_there_until_the_end() || shared.is_stopping() || shared.is_spent() {
            UserTeardown::after_the_load(client, user, &worker);
        } else {
            client.begin_teardown();
            // Boxed: the user's task would be larger for it all its life.
            Box::pin(shared.muted(worker.behaviour.tear_down(&mut user, &mut client))).await;
            client.leave();
        }
    }
}

/// A carrier in open load: begins with the arrival it was made for, then takes whatever is due.
pub(super) async fn carrier<T: Transport, B: Behaviour>(worker: Rc<Worker<T, B>>, first: Nanos) {
    let shared = &*worker.shared;
    let mut client = Client::of_arrivals(shared);
    let mut user = worker.behaviour.user(shared.share.number(client.lane.place.into()));
    client.assign(first, first);
    loop {
        worker.goes_on(worker.behaviour.iterate(&mut user, &mut client).await);
        if B::HAS_TEARDOWN && worker.behaviour.begin_teardown(&mut user) {
            if shared.is_stopping() || shared.clock.now() >= shared.task.end {
                UserTeardown::after_the_load(client, user, &worker);
                return shared.relieve();
            }
            client.begin_teardown();
            Box::pin(shared.muted(worker.behaviour.tear_down(&mut user, &mut client))).await;
            client.end_teardown();
        }
        if !client.next_arrival(|now| worker.take_due(now)).await {
            break;
        }
    }
    client.leave();
    shared.relieve();
}

impl<T: Transport, B: Behaviour> Worker<T, B> {
    /// Whether a user may go on after an iteration that ended so.
    #[inline]
    fn goes_on(&self, iteration: Result<(), End>) -> bool {
        match iteration {
            Ok(()) => true,
            Err(End::Over) => false,
            Err(End::Broken(error)) => {
                self.shared.abort(*error);
                false
            }
        }
    }
}
