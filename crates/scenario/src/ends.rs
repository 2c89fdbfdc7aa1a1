//! What ends before its end: a journey, its user, the load of all.
//!
//! An item says so where users come to it, a step where it fails, a script where it runs. The journey ends there and then, which is its
//! user's own affair. A user that is to go begins no other. The load ends with the journey that ended it: a worker that stopped in the midst
//! of one, while it counts its request, would have to count what it has not yet told. Other workers hear of it by the signal that ends
//! every load, and other sites when the worker is done.

use engine::{Client, Transport};
use plan::work::Extent;

use crate::behaviour::Journeys;
use crate::user::User;

/// The load, ended by a user.
#[derive(Debug)]
pub(crate) struct EndedLoad {
    /// Whether what is under way is given up.
    at_once: bool,
    /// In words.
    pub(crate) why: String,
}

impl Journeys {
    /// Lets a user know whether its last request succeeded, where something asks for it.
    pub(crate) fn note_success(&self, user: &mut User, succeeded: bool) {
        if let Some(place) = self.compiled.last_succeeded {
            let variable = &mut user.variables[place];
            variable.clear();
            variable.extend_from_slice(if succeeded { b"true" } else { b"false" });
        }
    }

    /// The user's journey ends here, and more with it.
    #[cold]
    pub(crate) fn end_by_item(&self, user: &mut User, extent: Extent) {
        let journey = &self.compiled.journeys[user.journey];
        user.at = journey.ops.len();
        self.end(user, extent, || format!("the journey '{}' came to an item that ends it", journey.name));
    }

    /// The user's journey has ended with a failure of its step, and more may end with it.
    #[cold]
    pub(crate) fn end_by_failure(&self, user: &mut User) {
        self.note_success(user, true);
        let request = &self.compiled.steps[user.step];
        if let Some(extent) = request.step.failure_ends {
            let journey = &self.compiled.journeys[user.journey].name;
            self.end(user, extent, || format!("the step '{}' of the journey '{journey}' failed, which ends it", request.name));
        }
    }

    /// So much ends with the journey of a user.
    pub(crate) fn end(&self, user: &mut User, extent: Extent, why: impl FnOnce() -> String) {
        // Who goes, goes.
        if extent == Extent::Journey || self.is_in_teardown(user) {
            return;
        }
        user.leaves();
        if let Extent::Load | Extent::LoadAtOnce = extent {
            self.ended.borrow_mut().get_or_insert_with(|| EndedLoad { at_once: extent == Extent::LoadAtOnce, why: why() });
            self.stopped.set(true);
        }
    }

    /// Nothing more is sent by the users of this worker, nor by others where the load is ended.
    #[cold]
    pub(crate) fn stop<T: Transport>(&self, client: &Client<'_, T>) {
        match &*self.ended.borrow() {
            Some(ended) if self.single.is_none() => client.end_load(ended.at_once),
            _ => client.stop(),
        }
    }
}
