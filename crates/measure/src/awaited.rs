//! Requests whose bodies waited for the server's word (`Expect: 100-continue`, RFC 9110 §10.1.1): what came of the wait.
//!
//! Invariant: counts add up exactly, and are of the whole run; a request whose wait ended with its failure is in none of them.

use serde::{Deserialize, Serialize};

use crate::snapshot::is_zero;

/// What came of the wait of one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// The server said 100 Continue.
    Continue,
    /// It said nothing for as long as a client waits, and was sent the body all the same.
    Nothing,
    /// It answered at once, and was not sent the body.
    Answer,
}

/// Counts of requests whose bodies waited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AwaitedBodies {
    /// The server said 100 Continue.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub continued: u64,
    /// It said nothing for as long as a client waits, and was sent the body all the same.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ran_out: u64,
    /// It answered at once, and was not sent the body.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub answered_first: u64,
}

impl AwaitedBodies {
    /// Whether nothing was counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Counts a request.
    pub fn count(&mut self, came: Awaited) {
        *match came {
            Awaited::Continue => &mut self.continued,
            Awaited::Nothing => &mut self.ran_out,
            Awaited::Answer => &mut self.answered_first,
        } += 1;
    }

    /// Adds another's counts.
    pub fn add(&mut self, more: &Self) {
        // Taken apart without `..`, so that a count nobody adds does not compile.
        let Self { continued, ran_out, answered_first } = more;
        self.continued += continued;
        self.ran_out += ran_out;
        self.answered_first += answered_first;
    }
}
