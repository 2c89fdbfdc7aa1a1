//! What a worker sends, and who sees the answers.
//!
//! Most runs send one request that never changes, and look at no answer. Scripts, templates and journeys choose every
//! request and read what came back. A second load loop for them would measure differently; a trait object would cost the
//! plain run an indirect call a request. So a program is a type parameter of the worker, chosen once at launch: the plain
//! one ([`Fixed`]) is compiled down to the buffer it points at.
//!
//! A program belongs to one worker and is made on that worker's thread; its [`User`](Program::User)s belong to the Lanes.
//! Nothing here locks: what a program shares with others is its own affair.

use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};

use measure::{Failure, Leftovers, Outcome, Recorder, Tally};
use plan::{Nanos, Target};
use serde::{Deserialize, Serialize};

use crate::net::Spoken;
use crate::protocol::http1::{Asked, Observer};
use crate::task::Task;

/// Chooses what the users of one worker send, and sees what comes back.
pub trait Program: 'static {
    /// What one user keeps from request to request.
    type User: 'static;

    /// What of a user listens to an answer; `()` hears nothing and costs nothing.
    type Ear: Observer + 'static;

    /// Whether users are asked for a [`delay`](Self::delay) before each request.
    const DELAYS: bool = false;

    /// Whether the connections of closed load are opened before it begins; else each is opened by the first request on it, in whose
    /// times it then is.
    const OPENS_FIRST: bool = true;

    /// Whether requests may go [elsewhere](Self::destination) and [go on](Self::after) after an answer. A plan's own redirects are
    /// then not followed.
    const WANDERS: bool = false;

    /// Whether a request that met a connection the server had just closed is sent once more, on a new one; it stays one request.
    const SENDS_AGAIN: bool = false;

    /// Whether users go through journeys: in open load an arrival is then a user that begins one, and its Lane is that user's until
    /// the journey is over.
    const JOURNEYS: bool = false;

    /// Whether users may have something to send before they go, which is not measured: see [`leaves`](Self::leaves).
    const LEAVES: bool = false;

    /// Whether users may have to [wait](Self::waits) for each other.
    const WAITS: bool = false;

    /// How often [`sample`](Self::sample) is called; `None`: never.
    const SAMPLES_EVERY: Option<Nanos> = None;

    /// Whether the program itself knows when requests fall due; else the plan's timetable does. Only in open load.
    const ARRIVES: bool = false;

    /// A new user: `number` counts over the whole run in closed load; in open load it is a Lane's.
    fn user(&self, number: u64) -> Self::User;

    /// Where this worker's connections go, if not where the plan says.
    fn address(&self) -> Option<SocketAddr> {
        None
    }

    /// A new user takes this one's place, on the same Lane: an arrival of open load. Only of programs with [`JOURNEYS`](Self::JOURNEYS).
    fn arrives(&self, _user: &mut Self::User) {}

    /// Whether the user has a request before it on the journey that it is on. Asked in open load, after each
    /// [`delay`](Self::delay), of programs with [`JOURNEYS`](Self::JOURNEYS).
    fn goes_on(&self, _user: &Self::User) -> bool {
        false
    }

    /// How long the user waits before its next request; not part of any request's time. In open load only of programs with
    /// [`JOURNEYS`](Self::JOURNEYS).
    ///
    /// # Errors
    /// If the program cannot go on.
    #[inline]
    fn delay(&self, _user: &mut Self::User) -> Result<Nanos, Broken> {
        Ok(Nanos::ZERO)
    }

    /// Whether the user waits for others, after its [`delay`](Self::delay). Once it is [free](Self::poll_free), it is asked for its delay
    /// again. Only of programs whose users [wait](Self::WAITS), and not of those that [leave](Self::leaves).
    #[inline]
    fn waits(&self, _user: &Self::User) -> bool {
        false
    }

    /// Whether a user that waits need not any more.
    fn poll_free(&self, _user: &mut Self::User, _cx: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    /// When the next request falls due, at the latest; `None`: none does any more. Only asked of a program that
    /// [knows](Self::ARRIVES), as all that follows up to [`choose`](Self::choose).
    #[inline]
    fn next_due(&self) -> Option<Nanos> {
        None
    }

    /// Takes the next request that has fallen due by `now`, if there is one, and tells when it did.
    #[inline]
    fn take_due(&self, _now: Nanos) -> Option<Nanos> {
        None
    }

    /// A request that was taken is this user's, which is asked at once to [choose](Self::choose) it.
    #[inline]
    fn falls_to(&self, _user: &mut Self::User, _due: Nanos) {}

    /// A request that was taken found no Lane in time, and is not sent.
    #[inline]
    fn unsent(&self, _due: Nanos) {}

    /// The load is stopped: all that has fallen due can be taken now, whatever it was waiting for.
    #[inline]
    fn stops(&self) {}

    /// Chooses what the user sends next; [`sending`](Self::sending) then holds it until the last answer to it has come.
    ///
    /// # Errors
    /// If the program cannot go on.
    fn choose(&self, user: &mut Self::User) -> Result<Choice, Broken>;

    /// Why what was chosen cannot be sent: the request then fails, and nothing goes over the wire. Not of a batch.
    #[inline]
    fn unsendable(&self, _user: &Self::User) -> Option<Failure> {
        None
    }

    /// The bytes that were chosen, and who listens to their answers.
    fn sending<'a>(&'a self, user: &'a mut Self::User) -> (&'a [u8], &'a mut Self::Ear);

    /// A connection has carried a whole answer, and `tell` says what its TLS handshake came to; before [`ended`](Self::ended).
    #[inline]
    fn spoke(&self, _tell: impl FnOnce() -> Option<Spoken>) {}

    /// A request is over: its answer is complete, or failed to come. The ear has heard it and nothing since. Its
    /// [`wait`](Outcome::wait) in closed load is the time that its own connection took to open, 0 for one that stood.
    /// Where redirects are followed, a chain is one request and the ear has heard every answer of it.
    ///
    /// # Errors
    /// If the program cannot go on.
    #[inline]
    fn ended(&self, _ear: &mut Self::Ear, _outcome: &Outcome) -> Result<(), Broken> {
        Ok(())
    }

    /// Counts a request that is over, after [`ended`](Self::ended); not one of a batch.
    #[inline]
    fn record(&self, _user: &mut Self::User, outcome: &Outcome, recorder: &mut Recorder) {
        recorder.record(outcome);
    }

    /// The rows that are counted beside the whole: empty where requests are not told apart.
    fn tally(&self) -> Tally {
        Tally::default()
    }

    /// Where the chosen request goes, if not to the plan's target.
    #[inline]
    fn destination<'a>(&'a self, _user: &'a Self::User) -> Option<&'a Target> {
        None
    }

    /// Whether the program itself says which statuses of an answer to the chosen request are right; else one of 400 or above is noted as
    /// the example of a failure.
    #[inline]
    fn judges(&self, _user: &Self::User) -> bool {
        false
    }

    /// How long an answer to the chosen request may take, from when it could be sent; `None`: as long as the plan says, from when it
    /// fell due.
    #[inline]
    fn limit(&self, _user: &Self::User) -> Option<Nanos> {
        None
    }

    /// The least of all [limits](Self::limit) there are.
    fn limit_min(&self) -> Option<Nanos> {
        None
    }

    /// The user has sent its last that is measured. Whether there is something that it sends before it goes: it is then asked for that
    /// as for a journey, by [`goes_on`](Self::goes_on), [`delay`](Self::delay) and [`choose`](Self::choose), and told what came of
    /// it by [`after`](Self::after) and [`record`](Self::record), with a recorder that nobody reads. Only of programs that
    /// [leave](Self::LEAVES).
    fn leaves(&self, _user: &mut Self::User) -> bool {
        false
    }

    /// A user that [leaves](Self::leaves) could not send everything: why, or else its time was over.
    fn left_behind(&self, _user: &mut Self::User, _why: Option<Broken>) {}

    /// What this worker leaves behind when its users are gone: its last call.
    fn leftovers(&self) -> Leftovers {
        Leftovers::default()
    }

    /// What follows an answer, or its failure to come. All that is sent until nothing follows is one request, and only then
    /// [`ended`](Self::ended) is called.
    #[inline]
    fn after(&self, _user: &mut Self::User, _result: Result<u16, Failure>) -> After {
        After::Nothing
    }

    /// Whether this worker is to send no more. Looked at after each call of the program.
    #[inline]
    fn has_stopped(&self) -> bool {
        false
    }

    /// How many answers have come in all by `now`.
    fn sample(&self, _now: Nanos, _answers: u64) {}
}

/// What is sent next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// How its answers end.
    pub asked: Asked,
    /// How many requests the bytes hold, and so how many answers come: 1, or more for a pipelined batch.
    pub requests: u32,
}

/// What follows an answer within the same request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// Nothing: the request has ended as its answer did.
    Nothing,
    /// Something is sent again, as chosen: a redirect is followed.
    Send(Choice),
    /// The same and no redirect: a challenge is answered, or the connection had just been closed.
    Answer(Choice),
    /// Nothing, and the request has failed.
    Fail(Failure),
}

/// Why a program cannot go on. It ends the run; what was measured is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Broken {
    /// What happened, and where.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// The plain program: the plan's one request, for everybody.
pub(crate) struct Fixed {
    pub(crate) task: Arc<Task>,
}

impl Program for Fixed {
    type User = ();
    type Ear = ();

    #[inline]
    fn user(&self, _number: u64) {}

    #[inline]
    fn choose(&self, _user: &mut ()) -> Result<Choice, Broken> {
        Ok(Choice { asked: self.task.asked, requests: 1 })
    }

    #[inline]
    fn sending<'a>(&'a self, user: &'a mut ()) -> (&'a [u8], &'a mut ()) {
        (&self.task.request, user)
    }
}
