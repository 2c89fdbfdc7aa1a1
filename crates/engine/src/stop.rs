//! The one signal against the current: end the load.
//!
//! Everything else in the flow goes one way. A deadline, Ctrl-C, a failed check or a lost agent all say the same thing
//! through this one word. Workers look at it between requests; the first call ends the load and lets requests in
//! flight finish, a second ends the run at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use tokio::sync::Notify;

/// A handle to end a run from anywhere. Clones are the same signal.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Signal>);

#[derive(Debug, Default)]
struct Signal {
    urgency: AtomicU8,
    raised: Notify,
}

/// How a run is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// Not at all: it goes on.
    None,
    /// No new requests; those in flight are waited for.
    Drain,
    /// At once; requests in flight are given up.
    Now,
}

impl Stop {
    /// Not raised yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the load; called again, ends the run at once.
    pub fn raise(&self) {
        let _ = self.0.urgency.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |urgency| (urgency < 2).then_some(urgency + 1));
        self.0.raised.notify_waiters();
    }

    /// How urgent it is.
    #[must_use]
    pub fn urgency(&self) -> Urgency {
        match self.0.urgency.load(Ordering::SeqCst) {
            0 => Urgency::None,
            1 => Urgency::Drain,
            _ => Urgency::Now,
        }
    }

    /// Waits until it is more urgent than `known`, and says how much.
    pub async fn beyond(&self, known: Urgency) -> Urgency {
        loop {
            let raised = self.0.raised.notified();
            tokio::pin!(raised);
            // Registered before looking, so that a call in between is not missed.
            raised.as_mut().enable();
            let urgency = self.urgency();
            if urgency > known {
                return urgency;
            }
            raised.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_call_drains_and_the_second_ends_at_once() {
        let stop = Stop::new();
        let other = stop.clone();
        assert_eq!(stop.urgency(), Urgency::None);
        other.raise();
        assert_eq!(stop.urgency(), Urgency::Drain);
        other.raise();
        other.raise();
        assert_eq!(stop.urgency(), Urgency::Now);
    }
}
