//! The position in a scenario's rows and numbers, from which the next load of it goes on.
//!
//! Invariant: it is read when a worker begins and moved when it ends, and while a load goes on nobody touches it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How far the loads of a scenario have come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Position {
    /// As many journeys have had a row.
    pub(crate) journeys: u64,
    /// As many requests have had a number.
    pub(crate) requests: u64,
    /// Sent of each step that has a most, by its place.
    pub(crate) sent: Vec<u64>,
    /// Whether there are no more rows.
    pub(crate) has_run_out: bool,
}

/// A position that the workers of one load after the other share.
#[derive(Debug, Clone, Default)]
pub(crate) struct SharedPosition(Arc<Mutex<Position>>);

impl SharedPosition {
    fn lock(&self) -> MutexGuard<'_, Position> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The position as it is now.
    pub(crate) fn now(&self) -> Position {
        self.lock().clone()
    }

    /// There is no row for the next journey.
    pub(crate) fn run_out(&self) {
        self.lock().has_run_out = true;
    }

    /// Moves it to where a worker has ended, if that is further.
    pub(crate) fn advance(&self, journeys: u64, requests: u64, sent: impl Iterator<Item = u64>) {
        let mut position = self.lock();
        position.journeys = position.journeys.max(journeys);
        position.requests = position.requests.max(requests);
        for (place, more) in sent.enumerate() {
            if position.sent.len() == place {
                position.sent.push(0);
            }
            position.sent[place] += more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_load_begins_behind_the_worker_who_came_furthest() {
        let shared = SharedPosition::default();
        assert_eq!(shared.now(), Position::default());
        shared.advance(40, 100, [0, 3].into_iter());
        shared.advance(38, 120, [0, 2].into_iter());
        let position = shared.now();
        assert_eq!((position.journeys, position.requests, &position.sent[..], position.has_run_out), (40, 120, &[0, 5][..], false));
        shared.run_out();
        assert!(shared.now().has_run_out);
    }
}
