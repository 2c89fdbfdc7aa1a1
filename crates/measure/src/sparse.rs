//! Times of which there are many distributions at once, such as one for each of two hundred sites: only buckets with something in them are held.

use crate::{Histogram, PackedHistogram};
use plan::Nanos;

/// Counts by bucket, ascending, where most buckets are empty; a [`Histogram`] has room for all of them, which is a hundred kilobytes.
#[derive(Debug, Clone, Default)]
pub(crate) struct SparseHistogram {
    /// The greatest time of a bucket, and how many are in it.
    buckets: Vec<(Nanos, u64)>,
    sum: u128,
    squares: u128,
    min: Option<Nanos>,
    max: Option<Nanos>,
}

impl SparseHistogram {
    /// Adds another's counts: exact, in any order.
    pub(crate) fn add(&mut self, other: &Histogram) {
        if other.is_empty() {
            return;
        }
        let mine = std::mem::take(&mut self.buckets);
        self.buckets.reserve(mine.len());
        let mut mine = mine.into_iter().peekable();
        for (time, count) in other.recorded() {
            while let Some(before) = mine.next_if(|(mine, _)| *mine < time) {
                self.buckets.push(before);
            }
            let same = mine.next_if(|(mine, _)| *mine == time).map_or(0, |(_, count)| count);
            self.buckets.push((time, count + same));
        }
        self.buckets.extend(mine);
        self.sum += other.sum();
        self.squares += other.squares();
        self.min = self.min.into_iter().chain(other.min()).min();
        self.max = self.max.max(other.max());
    }

    /// At rest, as a whole histogram stands in a file.
    pub(crate) fn pack(&self) -> PackedHistogram {
        Histogram::of_buckets(&self.buckets, (self.sum, self.squares), self.min.zip(self.max)).pack_whole()
    }
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

    proptest! {
        #[test]
        fn what_was_added_is_one_histogram_of_all(parts in prop::collection::vec(prop::collection::vec(1u64..1_000_000_000_000, 0..30), 0..6)) {
            let mut sparse = SparseHistogram::default();
            parts.iter().for_each(|values| sparse.add(&of(values)));
            let all = of(&parts.concat());
            prop_assert_eq!(sparse.pack(), all.pack_whole());
            prop_assert_eq!(sparse.pack().unpack().unwrap(), all);
        }
    }
}
