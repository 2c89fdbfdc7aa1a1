//! How long things took, as a histogram of fixed size.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Times in microseconds: from one to a day, to within 1 %, and the largest as it is.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "WrittenTook", into = "WrittenTook")]
pub(crate) struct Took(Histogram<u64>, u64);

/// The largest, and each time with how often it came.
#[derive(Serialize, Deserialize)]
pub(crate) struct WrittenTook(u64, Vec<(u64, u64)>);

impl From<Took> for WrittenTook {
    fn from(took: Took) -> Self {
        Self(took.1, took.0.iter_recorded().map(|it| (it.value_iterated_to(), it.count_since_last_iteration())).collect())
    }
}

impl From<WrittenTook> for Took {
    fn from(WrittenTook(most_us, counts): WrittenTook) -> Self {
        let mut took = Self::default();
        for (us, times) in counts {
            took.0.record_n(us.min(DAY_US), times).expect("a histogram that grows takes any time");
        }
        took.1 = most_us.min(DAY_US);
        took
    }
}

const DAY_US: u64 = 86_400_000_000;

impl Default for Took {
    fn default() -> Self {
        let mut histogram = Histogram::new_with_bounds(1, 1_000_000, 2).expect("these bounds are good");
        histogram.auto(true);
        Self(histogram, 0)
    }
}

/// A distribution of times, in nanoseconds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Times {
    /// How many.
    pub count: u64,
    /// The mean.
    pub mean_ns: u64,
    /// Half are at most this.
    pub p50_ns: u64,
    /// Nine in ten are at most this.
    pub p90_ns: u64,
    /// 99 in a hundred are at most this.
    pub p99_ns: u64,
    /// The largest.
    pub max_ns: u64,
}

impl Took {
    /// What is longer than a day counts as a day.
    #[inline]
    pub(crate) fn record(&mut self, ns: i64, times: u64) {
        let us = u64::try_from(ns / 1000).unwrap_or(0).min(DAY_US);
        self.1 = self.1.max(us);
        self.0.record_n(us, times).expect("a histogram that grows takes any time");
    }

    pub(crate) fn absorb(&mut self, other: &Self) {
        self.1 = self.1.max(other.1);
        self.0.add(&other.0).expect("a histogram that grows takes any other");
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.len()
    }

    /// Every time with how often, in nanoseconds, ascending.
    pub(crate) fn each_ns(&self) -> impl Iterator<Item = (u64, u64)> {
        let middle = |us: u64| self.0.median_equivalent(us).min(self.1) * 1000;
        self.0.iter_recorded().map(move |it| (middle(it.value_iterated_to()), it.count_since_last_iteration()))
    }

    pub(crate) fn times(&self) -> Option<Times> {
        let at = |q: f64| self.0.value_at_quantile(q).min(self.1) * 1000;
        (!self.0.is_empty()).then(|| Times {
            count: self.count(),
            mean_ns: (self.0.mean() * 1000.0) as u64,
            p50_ns: at(0.5),
            p90_ns: at(0.9),
            p99_ns: at(0.99),
            max_ns: self.1 * 1000,
        })
    }
}
