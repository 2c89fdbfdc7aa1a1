//! One interval of the whole run: what a live display shows, and one point of the result's timeline.

use std::collections::BTreeMap;

use plan::Nanos;
use serde::{Deserialize, Serialize};

use crate::{Failure, JourneyCounts, PackedHistogram, Snapshot, StreamCounts, Tally, streamed};

/// Exact counts of one interval, and its response times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tick {
    /// When it began, from the start of the run.
    #[serde(rename = "from_ns")]
    pub from: Nanos,
    /// When it ended.
    #[serde(rename = "to_ns")]
    pub to: Nanos,
    /// Whether it lies in the warm-up, so that nothing of it counts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warmup: bool,
    /// Answers whose last byte came in it.
    pub answered: u64,
    /// Requests that fell due in it.
    pub due: u64,
    /// Requests that succeeded in it.
    pub succeeded: u64,
    /// Requests that failed in it.
    pub failed: u64,
    /// Those by class; classes that did not occur are left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub failures: BTreeMap<Failure, u64>,
    /// Requests given up unsent in it.
    pub unsent: u64,
    /// Bytes written.
    pub bytes_sent: u64,
    /// Bytes read.
    pub bytes_received: u64,
    /// Requests that fell due and had no end yet, at its end.
    pub in_flight: u64,
    /// Connections open at its end.
    pub connections: u64,
    /// Processor time of all workers.
    #[serde(rename = "cpu_ns")]
    pub cpu: Nanos,
    /// Greatest lag.
    #[serde(rename = "lag_max_ns")]
    pub lag_max: Nanos,
    /// Response times, failures at their limit included.
    pub response_time: PackedHistogram,
    /// What became of journeys in it; `None` where there is no scenario.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journeys: Option<JourneysTick>,
    /// Events that came in it; `None` where none came that counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<Box<StreamCounts<PackedHistogram>>>,
}

/// The journeys of one interval, all kinds together; those of the warm-up are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct JourneysTick {
    /// Begun: known when the first answer of each is there.
    pub started: u64,
    /// Went to their end.
    pub completed: u64,
    /// Of these, without a Step that failed.
    pub succeeded: u64,
    /// Ended before their last Step, because of a failure.
    pub broke_off: u64,
}

impl JourneysTick {
    /// Of the rows of an interval; `None` where there are none.
    fn of(tally: &Tally) -> Option<Self> {
        let sum = |count: fn(&JourneyCounts) -> u64| tally.journeys.iter().map(count).sum();
        (!tally.journeys.is_empty()).then(|| Self {
            started: sum(|row| row.started),
            completed: sum(|row| row.ended),
            succeeded: sum(|row| row.ended_well),
            broke_off: sum(|row| row.broke_off.values().sum()),
        })
    }

    fn add(&mut self, next: &Self) {
        // Taken apart without `..`, so that a count nobody adds does not compile.
        let Self { started, completed, succeeded, broke_off } = next;
        self.started += started;
        self.completed += completed;
        self.succeeded += succeeded;
        self.broke_off += broke_off;
    }
}

impl Tick {
    /// From the counts of an interval. What is open at its end, the collector knows.
    #[must_use]
    pub(crate) fn new(from: Nanos, to: Nanos, counts: &Snapshot, in_flight: u64, connections: u64) -> Self {
        Self {
            from,
            to,
            warmup: false,
            answered: counts.answered,
            due: counts.due,
            succeeded: counts.succeeded,
            failed: counts.failed(),
            failures: Failure::ALL.iter().map(|class| (*class, counts.failures[class.index()])).filter(|(_, count)| *count > 0).collect(),
            unsent: counts.unsent,
            bytes_sent: counts.bytes_sent,
            bytes_received: counts.bytes_received,
            in_flight,
            connections,
            cpu: counts.cpu,
            lag_max: counts.lag.max().unwrap_or_default(),
            response_time: counts.response().pack(),
            journeys: JourneysTick::of(&counts.tally),
            streams: streamed::packed(counts.streams.as_deref()),
        }
    }

    /// Answers a second.
    #[must_use]
    pub fn qps(&self) -> f64 {
        let secs = self.to.since(self.from).as_secs_f64();
        if secs > 0.0 { self.answered as f64 / secs } else { 0.0 }
    }

    /// Journeys a second that went to their end; `None` where there is no scenario.
    #[must_use]
    pub fn tps(&self) -> Option<f64> {
        let secs = self.to.since(self.from).as_secs_f64();
        self.journeys.map(|journeys| if secs > 0.0 { journeys.completed as f64 / secs } else { 0.0 })
    }

    /// Events a second, of answers that stream; `None` where none came.
    #[must_use]
    pub fn events_per_second(&self) -> Option<f64> {
        let secs = self.to.since(self.from).as_secs_f64();
        self.streams.as_ref().map(|streams| if secs > 0.0 { streams.events as f64 / secs } else { 0.0 })
    }

    /// This interval and the one after it as one.
    pub(crate) fn extend(&mut self, next: &Self) {
        self.to = next.to;
        self.warmup = self.warmup && next.warmup;
        self.answered += next.answered;
        self.due += next.due;
        self.succeeded += next.succeeded;
        self.failed += next.failed;
        for (class, count) in &next.failures {
            *self.failures.entry(*class).or_default() += count;
        }
        self.unsent += next.unsent;
        self.bytes_sent += next.bytes_sent;
        self.bytes_received += next.bytes_received;
        self.in_flight = next.in_flight;
        self.connections = next.connections;
        self.cpu += next.cpu;
        self.lag_max = self.lag_max.max(next.lag_max);
        let mut both = self.response_time.unpack().expect("a tick packs what it unpacks");
        both.add(&next.response_time.unpack().expect("a tick packs what it unpacks"));
        self.response_time = both.pack();
        if let Some(next) = &next.journeys {
            self.journeys.get_or_insert_default().add(next);
        }
        streamed::add_packed(&mut self.streams, next.streams.as_deref());
    }
}
