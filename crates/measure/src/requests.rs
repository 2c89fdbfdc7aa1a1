//! Requests by how they ended: of a whole run, and of a part of it.

use serde::{Deserialize, Serialize};

/// Requests by how they ended. `due = succeeded + failed + unsent`, always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Requests {
    /// Fell due in the measured span.
    pub due: u64,
    /// Answered with a status below 400.
    pub succeeded: u64,
    /// Failed, by one of the classes.
    pub failed: u64,
    /// Never sent: no Lane came free in time.
    pub unsent: u64,
}

impl Requests {
    /// Adds another's.
    pub fn add(&mut self, other: &Self) {
        let Self { due, succeeded, failed, unsent } = other;
        self.due += due;
        self.succeeded += succeeded;
        self.failed += failed;
        self.unsent += unsent;
    }

    /// The share that succeeded, in percent; 100 if nothing fell due.
    #[must_use]
    pub fn success_percent(&self) -> f64 {
        if self.due == 0 { 100.0 } else { self.succeeded as f64 * 100.0 / self.due as f64 }
    }
}
