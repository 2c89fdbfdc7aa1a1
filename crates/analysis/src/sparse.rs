//! A histogram that keeps only what was recorded: 8 KB for a typical second, where every bucket would take 200.
//!
//! An hour's analysis holds 3,600 of them at once. As full histograms they would take the memory of a small machine, and
//! more time to touch than to compute with.
//!
//! Invariant: buckets ascend, and none is empty.

use measure::{Histogram, bucket_of_rank};
use plan::Nanos;

/// The recorded buckets of a [`Histogram`], with its exact mean and maximum.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sparse {
    buckets: Vec<(Nanos, u64)>,
    count: u64,
    sum: u128,
    max: Nanos,
}

impl From<&Histogram> for Sparse {
    fn from(histogram: &Histogram) -> Self {
        Self {
            buckets: histogram.recorded().collect(),
            count: histogram.count(),
            sum: histogram.sum(),
            max: histogram.max().unwrap_or_default(),
        }
    }
}

impl Sparse {
    /// Every bucket with something in it, ascending: its greatest value, and how many.
    #[must_use]
    pub fn buckets(&self) -> &[(Nanos, u64)] {
        &self.buckets
    }

    /// How many times were recorded.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The exact mean in nanoseconds; `None` when empty.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The greatest; `None` when empty.
    #[must_use]
    pub fn max(&self) -> Option<Nanos> {
        (self.count > 0).then_some(self.max)
    }

    /// The value at quantile `q` (0 to 1), within 0.1 % above the true one; `None` when empty.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<Nanos> {
        bucket_of_rank(self.buckets.iter().copied(), rank_of(q, self.count)).map(|bucket| bucket.min(self.max))
    }

    /// How many were longer than `limit`, to the accuracy of a bucket.
    #[must_use]
    pub fn above(&self, limit: Nanos) -> u64 {
        let from = self.buckets.partition_point(|(time, _)| *time <= limit);
        self.buckets[from..].iter().map(|(_, count)| count).sum()
    }

    /// Adds another's counts.
    pub fn add(&mut self, other: &Self) {
        let mut buckets = Vec::with_capacity(self.buckets.len() + other.buckets.len());
        buckets.extend_from_slice(&self.buckets);
        buckets.extend_from_slice(&other.buckets);
        buckets.sort_by_key(|(time, _)| *time);
        buckets.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        self.buckets = buckets;
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }
}

/// As HdrHistogram counts ranks: from 1, the first whose share reaches `q`.
pub(crate) fn rank_of(q: f64, total: u64) -> u64 {
    // A hair less, because 0.99 · 100 may come out as 99.00000000000001.
    ((q * total as f64 - 1e-6).ceil() as u64).clamp(1, total.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|value| histogram.record(Nanos(*value)));
        histogram
    }

    #[test]
    fn nothing_recorded_says_nothing() {
        let empty = Sparse::from(&Histogram::new());
        assert_eq!((empty.quantile(0.5), empty.mean(), empty.max(), empty.above(Nanos::ZERO)), (None, None, None, 0));
        assert_eq!(empty, Sparse::default());
    }

    proptest! {
        #[test]
        fn it_answers_as_the_histogram_does(values in prop::collection::vec(1u64..10_000_000_000, 1..99), q in 0.0..1.0f64) {
            let histogram = of(&values);
            let sparse = Sparse::from(&histogram);
            prop_assert_eq!((sparse.count(), sparse.mean(), sparse.max()), (histogram.count(), histogram.mean(), histogram.max()));
            let (ours, theirs) = (sparse.quantile(q).unwrap().0 as f64, histogram.quantile(q).unwrap().0 as f64);
            prop_assert!((ours - theirs).abs() <= 0.001 * theirs + 1.0, "{} against {}", ours, theirs);
        }

        #[test]
        fn adding_is_that_of_histograms(a in prop::collection::vec(1u64..1_000_000, 0..50), b in prop::collection::vec(1u64..10_000_000, 0..50)) {
            let mut sparse = Sparse::from(&of(&a));
            sparse.add(&Sparse::from(&of(&b)));
            prop_assert_eq!(sparse, Sparse::from(&of(&[a, b].concat())));
        }
    }
}
