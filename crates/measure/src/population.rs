//! Counts by population, beside those of the whole.
//!
//! "p99 is 800 ms" of an office with a report every minute beside a shop with thousands of customers says nothing of the office. So each
//! population has a row. A worker belongs to one population, so its row is made from what it counted anyway when an interval is handed
//! over: nothing is counted twice on the request path.
//!
//! Invariant: the rows of all populations together are the whole.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Failure, Histogram, Requests, Snapshot, StreamCounts, StreamRow, streamed};

/// What one population came to; `H` is how times are held.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PopulationCounts<H = Histogram> {
    /// What it is called.
    pub name: String,
    /// Requests that fell due in the measured span.
    pub due: u64,
    /// Of these, succeeded.
    pub succeeded: u64,
    /// Of these, never sent.
    pub unsent: u64,
    /// Of these, failed, by class.
    pub failures: BTreeMap<Failure, u64>,
    /// Answers whose last byte came within the measured span.
    pub answered: u64,
    /// Response times of those that succeeded.
    pub response_succeeded: H,
    /// Response times of those that were answered and failed, or timed out.
    pub response_failed: H,
    /// Events of its answers; `None` where none came.
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    pub streams: Option<Box<StreamCounts<H>>>,
}

impl<H: Default> PopulationCounts<H> {
    /// Nothing yet.
    #[must_use]
    pub fn named(name: String) -> Self {
        Self {
            name,
            due: 0,
            succeeded: 0,
            unsent: 0,
            failures: BTreeMap::new(),
            answered: 0,
            response_succeeded: H::default(),
            response_failed: H::default(),
            streams: None,
        }
    }
}

impl<H> PopulationCounts<H> {
    /// The same with times that are held otherwise.
    ///
    /// # Errors
    /// As `convert`.
    pub(crate) fn convert<'a, T>(&'a self, convert: impl Fn(&'a H) -> Result<T, String>) -> Result<PopulationCounts<T>, String> {
        let Self { name, due, succeeded, unsent, failures, answered, response_succeeded, response_failed, streams } = self;
        Ok(PopulationCounts {
            name: name.clone(),
            due: *due,
            succeeded: *succeeded,
            unsent: *unsent,
            failures: failures.clone(),
            answered: *answered,
            response_succeeded: convert(response_succeeded)?,
            response_failed: convert(response_failed)?,
            streams: streamed::convert(streams.as_deref(), convert)?,
        })
    }
}

impl PopulationCounts {
    /// The counts of a worker of this population.
    pub(crate) fn of(name: String, counts: &Snapshot) -> Self {
        let failures = Failure::ALL.iter().map(|class| (*class, counts.failures[class.index()])).filter(|(_, count)| *count > 0);
        Self {
            name,
            due: counts.due,
            succeeded: counts.succeeded,
            unsent: counts.unsent,
            failures: failures.collect(),
            answered: counts.answered,
            response_succeeded: counts.response_succeeded.clone(),
            response_failed: counts.response_failed.clone(),
            streams: counts.streams.clone(),
        }
    }

    /// Adds another's: exact, in any order.
    pub(crate) fn add(&mut self, other: &Self) {
        // Taken apart without `..`, so that a count nobody adds does not compile.
        let Self { name: _, due, succeeded, unsent, failures, answered, response_succeeded, response_failed, streams } = other;
        self.due += due;
        self.succeeded += succeeded;
        self.unsent += unsent;
        for (class, count) in failures {
            *self.failures.entry(*class).or_default() += count;
        }
        self.answered += answered;
        self.response_succeeded.add(response_succeeded);
        self.response_failed.add(response_failed);
        streamed::add(&mut self.streams, streams.as_deref());
    }
}

/// A population of a finished run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PopulationRow {
    /// What it is called.
    pub name: String,
    /// Its requests by how they ended.
    pub requests: Requests,
    /// Answers a second, over the whole measured span.
    pub qps: f64,
    /// From due to the last byte: every request that was answered or timed out.
    pub response_time: Histogram,
    /// Failures by class.
    pub failures: BTreeMap<Failure, u64>,
    /// Answers that streamed; `None` where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<Box<StreamRow>>,
}

impl PopulationRow {
    /// A row in its final form; `a_second` turns a count into a rate.
    pub(crate) fn of(counts: &PopulationCounts, a_second: &dyn Fn(u64) -> f64) -> Self {
        let mut response_time = counts.response_succeeded.clone();
        response_time.add(&counts.response_failed);
        let requests =
            Requests { due: counts.due, succeeded: counts.succeeded, failed: counts.failures.values().sum(), unsent: counts.unsent };
        Self {
            name: counts.name.clone(),
            requests,
            qps: a_second(counts.answered),
            response_time,
            failures: counts.failures.clone(),
            streams: StreamRow::of_some(counts.streams.as_deref(), a_second),
        }
    }

    /// Adds what another run of the same load came to; `weights` are how long each lasted.
    pub(crate) fn add(&mut self, other: &Self, weights: (f64, f64)) {
        let Self { name: _, requests, qps, response_time, failures, streams } = self;
        requests.add(&other.requests);
        *qps = (*qps * weights.0 + other.qps * weights.1) / (weights.0 + weights.1).max(f64::MIN_POSITIVE);
        response_time.add(&other.response_time);
        for (class, count) in &other.failures {
            *failures.entry(*class).or_default() += count;
        }
        StreamRow::add_some(streams, other.streams.as_deref(), weights);
    }
}
