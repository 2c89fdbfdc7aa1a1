//! Populations that begin when the users of another have gone.
//!
//! When that is no plan can say: it is when the last of them has come to the end of its journeys. So users of the later population come at their
//! times, wait at a door that the last one opens, and begin as long after that as they would have come after the start of the run. A source that
//! is told when to begin was the alternative; it would have to be able to begin at any time, in every part of the engine.
//!
//! Invariant: each user leaves once, whatever ends it, and what is to be waited for has an end of its own.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use engine::{Client, End, Transport};
use plan::{Load, Nanos, Part, Plan};
use tokio::sync::Notify;

use crate::behaviour::Journeys;
use crate::meeting::Wait;

/// What the users of a population open when the last one goes.
pub(crate) struct Door {
    /// So many users have not gone.
    users: AtomicU64,
    opened_at: OnceLock<Nanos>,
    opened: Notify,
    /// When none of them is there any more, whatever they do.
    end: Nanos,
}

/// The doors of a population.
#[derive(Clone, Default)]
pub(crate) struct Doors {
    /// That its users wait at.
    before: Option<Arc<Door>>,
    /// That its users open.
    own: Option<Arc<Door>>,
}

impl Doors {
    /// Those of all populations of a plan, in their order, for the parts of it that are carried out here.
    pub(crate) fn of(plan: &Plan, here: &[Part]) -> Vec<Self> {
        let populations = plan.populations();
        let mut doors = vec![Self::default(); populations.len().max(1)];
        for (place, population) in populations.iter().enumerate() {
            let Some(before) = population.after.as_ref().and_then(|name| populations.iter().position(|other| other.name == *name)) else {
                continue;
            };
            let door = doors[before].own.get_or_insert_with(|| Arc::new(Door::of(plan, before, here))).clone();
            doors[place].before = Some(door);
        }
        doors
    }

    /// Whether its users wait.
    pub(crate) const fn are_closed(&self) -> bool {
        self.before.is_some()
    }

    /// A user goes at this time.
    pub(crate) fn leave(&self, now: Nanos) {
        if let Some(door) = &self.own
            && door.users.fetch_sub(1, Ordering::AcqRel) == 1
        {
            door.open(now);
        }
    }
}

impl Door {
    fn of(plan: &Plan, population: usize, here: &[Part]) -> Self {
        let place = population as u32;
        let (load, of_run) = (plan.of_population(place), &plan.populations()[population]);
        let users = match load.load() {
            Load::Closed { users, .. } => {
                let shares = here.iter().filter(|part| part.population == place).map(|part| part.share);
                let known = shares.flat_map(|share| (0..share.part(users.peak().into())).map(move |user| share.number(user)));
                known.map(|user| users.presence(user).len() as u64).sum()
            }
            Load::Open { .. } | Load::Mixed(_) => 0,
        };
        let opened_at = OnceLock::new();
        if users == 0 && load.load().is_closed() {
            // None of them is in this process, and none opens it.
            let _ = opened_at.set(of_run.start_after);
        }
        Self { users: AtomicU64::new(users), opened_at, opened: Notify::new(), end: of_run.end() }
    }

    fn open(&self, now: Nanos) {
        // The last of those who go is the last.
        self.opened_at.get_or_init(|| now);
        self.opened.notify_waiters();
    }

    /// Waits until it is open, or its population is over.
    fn passed(self: Arc<Self>, now: Nanos) -> Wait {
        Box::pin(async move {
            let opened = async {
                let mut told = std::pin::pin!(self.opened.notified());
                // Before the look, so that an opening in between is not missed.
                told.as_mut().enable();
                if self.opened_at.get().is_none() {
                    told.await;
                }
            };
            let left = Duration::from_nanos(self.end.since(now).0);
            if tokio::time::timeout(left, opened).await.is_err() {
                self.opened_at.get_or_init(|| self.end);
            }
            None
        })
    }
}

impl Journeys {
    /// Waits until the population before this one has gone, and then as long as the user would have come later than others.
    pub(crate) async fn wait_at_door<T: Transport>(&self, client: &mut Client<'_, T>) -> Result<(), End> {
        let Some(door) = self.doors.before.clone() else { return Ok(()) };
        let came = client.due();
        let mut passed = door.clone().passed(came);
        client.wait(Nanos::ZERO, |cx| passed.as_mut().poll(cx).map(drop)).await?;
        let Some(opened_at) = door.opened_at.get() else { return Err(End::Over) };
        client.rest(opened_at.plus(came).since(client.due())).await
    }
}
