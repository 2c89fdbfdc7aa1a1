//! What a user ends of its own will: a request that it cannot send, the load of its worker or of all, and the connections that it has.

use measure::{Failure, Outcome};
use plan::Nanos;

use super::Client;
use crate::Urgency;
use crate::transport::Transport;

impl<T: Transport> Client<'_, T> {
    /// What a request has come to that cannot be sent. Its [turn](Self::turn) must have come.
    pub fn refuse(&mut self, failure: Failure, limit: Option<Nanos>) -> Outcome {
        self.refuse_saying(failure, limit, String::new())
    }

    /// The same, with why it cannot be sent as the example.
    pub fn refuse_saying(&mut self, failure: Failure, limit: Option<Nanos>, why: String) -> Outcome {
        self.begin(limit);
        self.lane.unsent(self.shared, self.due, failure, why)
    }

    /// This worker sends nothing more.
    pub fn stop(&self) {
        self.shared.halt();
    }

    /// The load ends here and in all other workers: nothing more is sent, and what is under way is waited for, or given up `at_once`.
    #[cold]
    pub fn end_load(&self, at_once: bool) {
        self.shared.ends_all.set(true);
        self.shared.halt();
        self.shared.stop.raise_to(if at_once { Urgency::Now } else { Urgency::Drain });
    }

    /// Closes the connections that the user has, those of what it did at the same time as well. The next request opens one.
    pub fn close_connections(&mut self) {
        let shared = self.shared;
        self.lane.close_all(shared);
        let mut lanes = shared.take_branches(self.lane.place, usize::MAX);
        lanes.iter_mut().for_each(|lane| lane.close_all(shared));
        if !lanes.is_empty() {
            shared.keep_branches(self.lane.place, lanes.into_iter());
        }
    }
}
