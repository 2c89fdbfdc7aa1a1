//! A histogram that keeps only what was recorded: 8 KB for a typical second, where every bucket would take 200.
//!
//! An hour's analysis holds 3,600 of them at once, and a run of two hundred sites some for each. As full histograms they would take the memory
//! of a small machine, and more time to touch than to compute with.
//!
//! Invariant: buckets ascend, and none is empty.

use plan::Nanos;

use crate::histogram::greatest_alike;
use crate::{Histogram, PackedHistogram, bucket_of_rank, rank_of};

/// The recorded buckets of a [`Histogram`], with its exact sums, least and greatest.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SparseHistogram {
    buckets: Vec<(Nanos, u64)>,
    count: u64,
    sum: u128,
    squares: u128,
    min: Option<Nanos>,
    max: Option<Nanos>,
}

impl From<&Histogram> for SparseHistogram {
    fn from(histogram: &Histogram) -> Self {
        Self {
            buckets: histogram.recorded().collect(),
            count: histogram.count(),
            sum: histogram.sum(),
            squares: histogram.squares(),
            min: histogram.min(),
            max: histogram.max(),
        }
    }
}

impl SparseHistogram {
    /// Adds one time.
    pub fn record(&mut self, time: Nanos) {
        let bucket = greatest_alike(time);
        match self.buckets.binary_search_by_key(&bucket, |(known, _)| *known) {
            Ok(at) => self.buckets[at].1 += 1,
            Err(at) => self.buckets.insert(at, (bucket, 1)),
        }
        self.count += 1;
        self.sum += u128::from(time.0);
        self.squares += u128::from(time.0) * u128::from(time.0);
        self.min = Some(self.min.map_or(time, |min| min.min(time)));
        self.max = self.max.max(Some(time));
    }

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
    pub const fn max(&self) -> Option<Nanos> {
        self.max
    }

    /// The value at quantile `q` (0 to 1), within 0.1 % above the true one; `None` when empty.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<Nanos> {
        let bucket = bucket_of_rank(self.buckets.iter().copied(), rank_of(q, self.count))?;
        Some(bucket.min(self.max?))
    }

    /// How many were longer than `limit`, to the accuracy of a bucket.
    #[must_use]
    pub fn above(&self, limit: Nanos) -> u64 {
        let from = self.buckets.partition_point(|(time, _)| *time <= limit);
        self.buckets[from..].iter().map(|(_, count)| count).sum()
    }

    /// Adds another's counts: exact, in any order.
    pub fn add(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
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
        self.squares += other.squares;
        self.min = self.min.into_iter().chain(other.min).min();
        self.max = self.max.max(other.max);
    }

    /// At rest, as a whole histogram stands in a file.
    #[must_use]
    pub fn pack(&self) -> PackedHistogram {
        self.whole().pack_whole()
    }

    /// The same as a whole histogram.
    #[must_use]
    pub fn whole(&self) -> Histogram {
        Histogram::of_buckets(&self.buckets, (self.sum, self.squares), self.min.zip(self.max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::histogram_of as of;
    use proptest::prelude::*;

    #[test]
    fn nothing_recorded_says_nothing() {
        let empty = SparseHistogram::from(&Histogram::new());
        assert_eq!((empty.quantile(0.5), empty.mean(), empty.max(), empty.above(Nanos::ZERO)), (None, None, None, 0));
        assert_eq!(empty, SparseHistogram::default());
    }

    proptest! {
        #[test]
        fn it_answers_as_the_histogram_does(values in prop::collection::vec(1u64..10_000_000_000, 1..99), q in 0.0..1.0f64) {
            let histogram = of(&values);
            let sparse = SparseHistogram::from(&histogram);
            prop_assert_eq!((sparse.count(), sparse.mean(), sparse.max()), (histogram.count(), histogram.mean(), histogram.max()));
            let (ours, theirs) = (sparse.quantile(q).unwrap().0 as f64, histogram.quantile(q).unwrap().0 as f64);
            prop_assert!((ours - theirs).abs() <= 0.001 * theirs + 1.0, "{} against {}", ours, theirs);
        }

        #[test]
        fn recording_is_that_of_histograms(values in prop::collection::vec(0u64..10_000_000_000_000, 0..60)) {
            let mut sparse = SparseHistogram::default();
            values.iter().for_each(|value| sparse.record(Nanos(*value)));
            prop_assert_eq!(&sparse, &SparseHistogram::from(&of(&values)));
            prop_assert_eq!(sparse.whole(), of(&values));
        }

        #[test]
        fn adding_is_that_of_histograms(a in prop::collection::vec(1u64..1_000_000, 0..50), b in prop::collection::vec(1u64..10_000_000, 0..50)) {
            let mut sparse = SparseHistogram::from(&of(&a));
            sparse.add(&SparseHistogram::from(&of(&b)));
            prop_assert_eq!(sparse, SparseHistogram::from(&of(&[a, b].concat())));
        }

        #[test]
        fn what_was_added_is_one_histogram_of_all(parts in prop::collection::vec(prop::collection::vec(1u64..1_000_000_000_000, 0..30), 0..6)) {
            let mut sparse = SparseHistogram::default();
            parts.iter().for_each(|values| sparse.add(&SparseHistogram::from(&of(values))));
            let all = of(&parts.concat());
            prop_assert_eq!(sparse.pack(), all.pack_whole());
            prop_assert_eq!(sparse.pack().unpack().unwrap(), all);
        }
    }
}
