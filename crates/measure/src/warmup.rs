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

use std::collections::BTreeMap;

use plan::Nanos;
use serde::{Deserialize, Serialize};

use crate::{Connections, Example, Failure, Gaps, OwnDelay, PackedHistogram, Quirk, Snapshot, Tally};

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
    intervals: Vec<PackedSnapshot>,
    late: Snapshot,
}

impl Early {
    pub(crate) fn new(interval: Nanos) -> Self {
        Self { interval, intervals: Vec::new(), late: Snapshot::default() }
    }

    /// Takes the next interval of the whole run.
    pub(crate) fn keep(&mut self, counts: &Snapshot) {
        if self.intervals.len() < INTERVALS_MAX { self.intervals.push(PackedSnapshot::new(counts)) } else { self.late.add(counts) }
    }

    /// The totals of what ended from `at` on, and how many requests ended before; `None` where that is not kept.
    pub(crate) fn without(&self, at: Nanos) -> Option<(Snapshot, u64)> {
        let cut = usize::try_from(at.0.div_ceil(self.interval.0.max(1))).ok()?;
        let (before, after) = self.intervals.split_at_checked(cut)?;
        let mut rest = Snapshot::default();
        after.iter().for_each(|counts| rest.add(&counts.unpack()));
        rest.add(&self.late);
        let (due, ended) = before.iter().fold((0, 0), |(due, ended), counts| (due + counts.due, ended + counts.ended()));
        // What was under way at the cut ends after it.
        rest.due += due - ended;
        Some((rest, ended))
    }
}

/// A Snapshot at rest.
#[derive(Debug, Clone, PartialEq)]
struct PackedSnapshot {
    due: u64,
    succeeded: u64,
    unsent: u64,
    failures: [u64; Failure::COUNT],
    excluded: u64,
    answered: u64,
    answered_well: u64,
    statuses: Vec<(u16, u64)>,
    bytes_sent: u64,
    bytes_received: u64,
    redirects: u64,
    response_succeeded: PackedHistogram,
    response_failed: PackedHistogram,
    service: PackedHistogram,
    first_byte: PackedHistogram,
    wait: PackedHistogram,
    lag: PackedHistogram,
    own_delay: (PackedHistogram, PackedHistogram),
    connect: PackedHistogram,
    tls: PackedHistogram,
    connections: Connections,
    quirks: [u64; Quirk::COUNT],
    examples: BTreeMap<Failure, Example>,
    in_flight_area: u128,
    service_drained: Nanos,
    service_of_warmup: Nanos,
    gaps: Gaps,
    cpu: Nanos,
    tally: Tally<PackedHistogram>,
}

impl PackedSnapshot {
    fn new(counts: &Snapshot) -> Self {
        Self {
            due: counts.due,
            succeeded: counts.succeeded,
            unsent: counts.unsent,
            failures: counts.failures,
            excluded: counts.excluded,
            answered: counts.answered,
            answered_well: counts.answered_well,
            statuses: counts.statuses().collect(),
            bytes_sent: counts.bytes_sent,
            bytes_received: counts.bytes_received,
            redirects: counts.redirects,
            response_succeeded: counts.response_succeeded.pack(),
            response_failed: counts.response_failed.pack(),
            service: counts.service.pack(),
            first_byte: counts.first_byte.pack(),
            wait: counts.wait.pack(),
            lag: counts.lag.pack(),
            own_delay: (counts.own_delay.measured.pack(), counts.own_delay.without.pack()),
            connect: counts.connect.pack(),
            tls: counts.tls.pack(),
            connections: counts.connections,
            quirks: counts.quirks,
            examples: counts.examples.clone(),
            in_flight_area: counts.in_flight_area,
            service_drained: counts.service_drained,
            service_of_warmup: counts.service_of_warmup,
            gaps: counts.gaps,
            cpu: counts.cpu,
            tally: counts.tally.pack(),
        }
    }

    fn ended(&self) -> u64 {
        self.succeeded + self.unsent + self.failures.iter().sum::<u64>()
    }

    fn unpack(&self) -> Snapshot {
        // Taken apart without `..`, so that a count nobody unpacks does not compile.
        let Self {
            due,
            succeeded,
            unsent,
            failures,
            excluded,
            answered,
            answered_well,
            statuses,
            bytes_sent,
            bytes_received,
            redirects,
            response_succeeded,
            response_failed,
            service,
            first_byte,
            wait,
            lag,
            own_delay: (delay_measured, delay_without),
            connect,
            tls,
            connections,
            quirks,
            examples,
            in_flight_area,
            service_drained,
            service_of_warmup,
            gaps,
            cpu,
            tally,
        } = self;
        let unpack = |packed: &PackedHistogram| packed.unpack().expect("what was packed here unpacks");
        let mut counts = Snapshot {
            due: *due,
            succeeded: *succeeded,
            unsent: *unsent,
            failures: *failures,
            excluded: *excluded,
            answered: *answered,
            answered_well: *answered_well,
            bytes_sent: *bytes_sent,
            bytes_received: *bytes_received,
            redirects: *redirects,
            response_succeeded: unpack(response_succeeded),
            response_failed: unpack(response_failed),
            service: unpack(service),
            first_byte: unpack(first_byte),
            wait: unpack(wait),
            lag: unpack(lag),
            own_delay: OwnDelay { measured: unpack(delay_measured), without: unpack(delay_without) },
            connect: unpack(connect),
            tls: unpack(tls),
            connections: *connections,
            quirks: *quirks,
            examples: examples.clone(),
            in_flight_area: *in_flight_area,
            service_drained: *service_drained,
            service_of_warmup: *service_of_warmup,
            gaps: *gaps,
            cpu: *cpu,
            tally: tally.unpack().expect("what was packed here unpacks"),
            ..Snapshot::default()
        };
        statuses.iter().for_each(|(status, count)| counts.count_statuses(*status, *count));
        counts
    }
}
