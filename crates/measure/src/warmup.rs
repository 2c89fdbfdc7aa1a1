//! A warm-up that is found in the run instead of given: what was found, and what it takes to leave it out afterwards.
//!
//! Where the warm-up ends is known only when the run is over, and totals cannot be taken apart again: a histogram does not
//! tell which of its times came first. So the intervals that may turn out to be warm-up are kept one by one, packed, until
//! that is decided, and the totals are put together anew from those that stay. Keeping every interval whole was rejected:
//! a day of them would take a gigabyte. At most [`INTERVALS_MAX`] are kept, and a warm-up that is longer is told, not cut.
//!
//! What counts is decided by when a request **ended**: what was under way at the cut ended in the steady part, and the
//! intervals in which steadiness was looked for hold it there too.
//!
//! Invariant: after the cut as before it, every request that fell due is accounted for.

use plan::Nanos;
use serde::{Deserialize, Serialize};

use crate::{Snapshot, SnapshotRecord};

/// Ten minutes of seconds: some 10 kB each, so at most 6 MB.
pub(crate) const INTERVALS_MAX: usize = 600;

/// What was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Series {
    /// Answers a second.
    Throughput,
    /// The median response time.
    P50,
    /// The 99th percentile of the response time.
    P99,
}

/// Where the warm-up ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WarmUp {
    /// From here on, since the start of the run, it is steady.
    Until {
        /// The start itself, if it needed no warm-up.
        #[serde(rename = "at_ns")]
        at: Nanos,
        /// The series that took longest.
        series: Series,
    },
    /// It became steady only here, later than can be left out afterwards.
    TooLate {
        /// From here on, since the start of the run.
        #[serde(rename = "at_ns")]
        at: Nanos,
        /// The series that took longest.
        series: Series,
    },
    /// More than half of the run would have to go: it never became steady.
    NoSteadyState {
        /// The series that says so.
        series: Series,
    },
    /// Fewer than ten intervals say nothing.
    TooShort,
}

/// The intervals that may turn out to be warm-up, and the sum of all later ones.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Early {
    interval: Nanos,
    intervals: Vec<SnapshotRecord>,
    late: Snapshot,
}

impl Early {
    pub(crate) fn new(interval: Nanos) -> Self {
        Self { interval, intervals: Vec::new(), late: Snapshot::default() }
    }

    /// Takes the next interval of the whole run.
    pub(crate) fn keep(&mut self, counts: &Snapshot) {
        if self.intervals.len() < INTERVALS_MAX { self.intervals.push(SnapshotRecord::from(counts)) } else { self.late.add(counts) }
    }

    /// The totals of what ended from `at` on, and how many requests ended before; `None` where that is not kept.
    pub(crate) fn without(&self, at: Nanos) -> Option<(Snapshot, u64)> {
        let cut = usize::try_from(at.0.div_ceil(self.interval.0.max(1))).ok()?;
        let (before, after) = self.intervals.split_at_checked(cut)?;
        let mut rest = Snapshot::default();
        after.iter().for_each(|counts| rest.add(&Snapshot::try_from(counts.clone()).expect("what was packed here unpacks")));
        rest.add(&self.late);
        let (due, ended) = before.iter().fold((0, 0), |(due, ended), counts| (due + counts.due(), ended + counts.ended()));
        // What was under way at the cut ends after it.
        rest.due += due - ended;
        Some((rest, ended))
    }
}
