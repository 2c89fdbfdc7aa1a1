//! What the users of a load do: each one's life as ordinary asynchronous code, which asks a [`Client`] for what it needs.
//!
//! A user sends, waits for the answer, looks at it, pauses, and sends what follows from it. Written as such it reads as such: redirects,
//! challenges and a second try are loops, and what a user knows lives in variables. What stood here before, a trait of two dozen
//! callbacks that the engine called in its own order, had to name every such need before anybody could have it.
//!
//! A behaviour is a type parameter of the worker, chosen once at launch: the plain one ([`Fixed`]) is compiled down to the buffer it
//! points at. It belongs to one worker and is made on that worker's thread; its [users](Behaviour::User) belong to the Lanes.
//! Nothing here locks: what a behaviour shares with others is its own affair.
//!
//! A user's future is what an idle user is made of, ten thousand times: what is rare in it is boxed, and what every request goes
//! through is no `async fn`, which keeps its arguments twice.

use std::net::SocketAddr;
use std::sync::Arc;

use measure::{Leftovers, Tally};
use plan::Nanos;

use super::client::{Client, End, Request};
use crate::task::Task;
use crate::transport::Transport;

/// What the users of one worker do.
pub trait Behaviour: 'static {
    /// What one user keeps from iteration to iteration; in open load it is the Lane's.
    type User: 'static;

    /// Whether users may have a [teardown](Self::tear_down).
    const HAS_TEARDOWN: bool = false;

    /// How often [`sample`](Self::sample) is called; `None`: never.
    const SAMPLES_EVERY: Option<Nanos> = None;

    /// A new user: `number` counts over the whole run in closed load; in open load it is a Lane's.
    fn user(&self, number: u64) -> Self::User;

    /// One iteration of a user: it sends what it has to, and is called again until its time is over. In open load it is what one arrival
    /// does, whose first request is due when the arrival was.
    ///
    /// # Errors
    /// [`End`] where the client says so; and if the behaviour cannot go on, which ends the run.
    fn iterate<T: Transport>(&self, user: &mut Self::User, client: &mut Client<'_, T>) -> impl Future<Output = Result<(), End>>;

    /// Whether a user that has sent its last measured request has a teardown; only of behaviours that [have](Self::HAS_TEARDOWN) any.
    fn begin_teardown(&self, _user: &mut Self::User) -> bool {
        false
    }

    /// What a user sends before it goes, which is not measured.
    fn tear_down<T: Transport>(&self, _user: &mut Self::User, _client: &mut Client<'_, T>) -> impl Future<Output = ()> {
        async {}
    }

    /// When requests fall due, if the behaviour knows; else the plan's timetable says so. Only in open load.
    #[inline]
    fn arrivals(&self) -> Option<&impl Arrivals> {
        None::<&Timetable>
    }

    /// Whether the connections of closed load are opened before it begins; else each is opened by the first request on it, in whose
    /// times it then is.
    fn opens_first(&self) -> bool {
        true
    }

    /// Where this worker's connections go, if not where the plan says.
    fn address(&self) -> Option<SocketAddr> {
        None
    }

    /// The rows that are counted beside the whole: empty where requests are not told apart.
    fn tally(&self) -> Tally {
        Tally::default()
    }

    /// What its requests are called in a log of all of them, where they have no rows: by the number that
    /// [`Recorder::call`](measure::Recorder::call) is told, and the first where it is told none. Empty: by the path of the plan's URL.
    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    /// The least of all [time limits](Request::within) that its requests have; `None` if they have none of their own.
    fn limit_min(&self) -> Option<Nanos> {
        None
    }

    /// How many answers have come in all by `now`.
    fn sample(&self, _now: Nanos, _answers: u64) {}

    /// What this worker leaves behind when its users are gone: its last call.
    fn leftovers(&self) -> Leftovers {
        Leftovers::default()
    }
}

/// When requests fall due, where that is not computed from a timetable: a log knows.
pub trait Arrivals {
    /// When the next falls due; where it is not known yet, a time before which none does. `None`: none does any more.
    fn next_due(&self) -> Option<Nanos>;

    /// Takes the next that has fallen due by `now`, if there is one, and tells when it did. The user whose arrival it becomes finds it by
    /// that time ([`Client::due`]).
    fn take_due(&self, now: Nanos) -> Option<Nanos>;

    /// One that was taken found no Lane in time, and is not sent.
    fn unsent(&self, due: Nanos);

    /// The load is stopped: all that has fallen due can be taken now, whatever it was waiting for.
    fn stop(&self);
}

/// The plan's timetable: no arrivals of a behaviour's own.
#[derive(Debug)]
pub enum Timetable {}

impl Arrivals for Timetable {
    fn next_due(&self) -> Option<Nanos> {
        match *self {}
    }

    fn take_due(&self, _now: Nanos) -> Option<Nanos> {
        match *self {}
    }

    fn unsent(&self, _due: Nanos) {
        match *self {}
    }

    fn stop(&self) {
        match *self {}
    }
}

/// The plain behaviour: the plan's one request, by everybody.
pub(crate) struct Fixed {
    pub(crate) task: Arc<Task>,
}

impl Behaviour for Fixed {
    type User = ();

    #[inline]
    fn user(&self, _number: u64) {}

    #[expect(clippy::manual_async_fn, reason = "an async fn keeps its arguments twice, in every idle user")]
    fn iterate<T: Transport>(&self, _user: &mut (), client: &mut Client<'_, T>) -> impl Future<Output = Result<(), End>> {
        async move {
            let request = Request::new(self.task.request.as_ref());
            loop {
                client.send(&request, &mut ()).await?;
                // Both go on at once: to come back for each request would cost more than some of its steps.
                if client.is_arrival() && !client.next_by_timetable().await {
                    return Ok(());
                }
            }
        }
    }
}
