//! Where users wait for each other: sections that one at a time goes through, and meetings of several.
//!
//! A user waits on its worker's thread for users of other workers, so what it waits for can be woken from any thread: a semaphore of one
//! for a section, whose line is first come, first served, and a count that a notification goes with for a meeting. Looking again every
//! millisecond was the alternative: it would make a section as slow as the look, and a thousand users who wait a load of their own.
//!
//! Invariant: who goes away while it waits is not counted, and who goes away in a section leaves it.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use plan::Nanos;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// What a user waits for; what it then holds.
pub(crate) type Wait = Pin<Box<dyn Future<Output = Option<OwnedSemaphorePermit>>>>;

/// A section that one user of the process at a time goes through.
pub(crate) struct Section {
    pub(crate) name: String,
    place: Arc<Semaphore>,
}

impl Section {
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), place: Arc::new(Semaphore::new(1)) }
    }

    /// Waits until it is free.
    pub(crate) fn entered(&self) -> Wait {
        let place = self.place.clone();
        Box::pin(async move { place.acquire_owned().await.ok() })
    }
}

/// Where so many users wait for each other.
pub(crate) struct Meeting {
    users: u64,
    group: Mutex<Group>,
    complete: Notify,
}

/// Who waits.
#[derive(Default)]
struct Group {
    waiting: u64,
    /// How many groups went on.
    gone: u64,
}

impl Meeting {
    pub(crate) fn new(users: u64) -> Self {
        Self { users, group: Mutex::default(), complete: Notify::new() }
    }

    /// Waits until the group is complete, or for this long.
    pub(crate) fn met(self: Arc<Self>, within: Option<Nanos>) -> Wait {
        Box::pin(async move {
            let meets = self.meets();
            match within {
                None => meets.await,
                // Whoever waited for too long goes on alone.
                Some(within) => tokio::time::timeout(Duration::from_nanos(within.0), meets).await.unwrap_or_default(),
            }
            None
        })
    }

    async fn meets(&self) {
        // Before the count: who completes the group tells those who ask from here on.
        let mut told = self.complete.notified();
        let gone = {
            let mut group = self.group();
            group.waiting += 1;
            if group.waiting == self.users {
                *group = Group { waiting: 0, gone: group.gone + 1 };
                self.complete.notify_waiters();
                return;
            }
            group.gone
        };
        let _place = Place { meeting: self, gone };
        while self.group().gone == gone {
            told.await;
            told = self.complete.notified();
        }
    }

    fn group(&self) -> MutexGuard<'_, Group> {
        self.group.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A user's place in a group, which is empty when it goes before the group is complete.
struct Place<'a> {
    meeting: &'a Meeting,
    gone: u64,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut group = self.meeting.group();
        if group.gone == self.gone {
            group.waiting -= 1;
        }
    }
}
