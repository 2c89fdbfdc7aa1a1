//! The one signal against the current: end the load.
//!
//! Everything else in the flow goes one way. A deadline, Ctrl-C, a failed check or a lost agent all say the same thing
//! through this one word. Workers look at it between requests; the first call ends the load and lets requests in
//! flight finish, a second ends the run at once.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::Notify;

/// A handle to end a run from anywhere. Clones are the same signal.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<Signal>);

#[derive(Debug, Default)]
struct Signal {
    urgency: AtomicU8,
    raised: Notify,
    /// Those that this one ends too.
    children: Mutex<Vec<Weak<Signal>>>,
}

impl Signal {
    /// Makes this one and all below it at least so urgent.
    fn raise_to(&self, urgency: u8) {
        self.urgency.fetch_max(urgency, Ordering::SeqCst);
        self.raised.notify_waiters();
        // Those that nobody waits for any more are forgotten.
        self.children.lock().unwrap_or_else(PoisonError::into_inner).retain(|child| {
            child.upgrade().is_some_and(|child| {
                child.raise_to(urgency);
                true
            })
        });
    }
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
        let before = self.0.urgency.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |urgency| (urgency < 2).then_some(urgency + 1));
        self.0.raise_to(before.map_or_else(|most| most, |before| before + 1));
    }

    /// Makes it at least so urgent, whoever else has called it.
    pub fn raise_to(&self, urgency: Urgency) {
        self.0.raise_to(urgency as u8);
    }

    /// A signal for one load of several: this one ends it too, and it ends nothing else.
    #[must_use]
    pub fn child(&self) -> Self {
        let child = Arc::new(Signal::default());
        self.0.children.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(&child));
        // Looked at after it is known above, so that a call in between is not missed.
        child.raise_to(self.0.urgency.load(Ordering::SeqCst));
        Self(child)
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
    fn a_child_is_as_urgent_as_its_parent_and_not_the_other_way_round() {
        let stop = Stop::new();
        let (first, second) = (stop.child(), stop.child());
        first.raise();
        assert_eq!([stop.urgency(), first.urgency(), second.urgency()], [Urgency::None, Urgency::Drain, Urgency::None]);
        stop.raise();
        assert_eq!([first.urgency(), second.urgency(), stop.child().urgency()], [Urgency::Drain; 3]);
        drop(first);
        stop.raise();
        assert_eq!([stop.urgency(), second.urgency()], [Urgency::Now; 2]);
        assert_eq!(stop.0.children.lock().unwrap().len(), 1, "those that are gone are forgotten");
    }

    #[test]
    fn two_who_end_the_load_do_not_end_it_at_once() {
        let stop = Stop::new();
        stop.raise_to(Urgency::Drain);
        stop.raise_to(Urgency::Drain);
        assert_eq!(stop.urgency(), Urgency::Drain);
        stop.raise_to(Urgency::Now);
        stop.raise_to(Urgency::Drain);
        assert_eq!(stop.urgency(), Urgency::Now);
    }

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
