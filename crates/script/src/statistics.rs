//! Values and how often each came: what `done` is given, and what wrk's report is made of.
//!
//! wrk's scripts walk through all distinct values, so a few quantiles are not enough. Formulas are wrk's own
//! (COMPAT of the documentation: sample standard deviation, nearest rank), so that the same samples give the same text.

use measure::Histogram;

/// Distinct values and their counts, ascending.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Statistics {
    counts: Vec<(u64, u64)>,
    /// The number of values up to each of `counts`.
    cumulated: Vec<u64>,
    mean: f64,
    stdev: f64,
}

impl Statistics {
    /// Of values and counts in any order; the same value may come twice.
    #[must_use]
    pub fn from_counts(counts: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut counts: Vec<(u64, u64)> = counts.into_iter().filter(|(_, count)| *count > 0).collect();
        counts.sort_unstable();
        counts.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        let mut total = 0;
        let cumulated = counts
            .iter()
            .map(|(_, count)| {
                total += count;
                total
            })
            .collect();
        let mean =
            if total == 0 { 0.0 } else { counts.iter().map(|(value, count)| *value as f64 * *count as f64).sum::<f64>() / total as f64 };
        // The sample's, with n - 1.
        let squares: f64 = counts.iter().map(|(value, count)| (*value as f64 - mean).powi(2) * *count as f64).sum();
        let stdev = if total < 2 { 0.0 } else { (squares / (total - 1) as f64).sqrt() };
        Self { counts, cumulated, mean, stdev }
    }

    /// Times in whole microseconds, as wrk counts them.
    #[must_use]
    pub fn of_micros(histogram: &Histogram) -> Self {
        Self::from_counts(histogram.recorded().map(|(time, count)| (time.0 / 1_000, count)))
    }

    /// Distinct values and their counts, ascending.
    #[must_use]
    pub fn counts(&self) -> &[(u64, u64)] {
        &self.counts
    }

    /// How many values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.cumulated.last().copied().unwrap_or(0)
    }

    /// The least; `u64::MAX` where there is none, as in wrk.
    #[must_use]
    pub fn min(&self) -> u64 {
        self.counts.first().map_or(u64::MAX, |(value, _)| *value)
    }

    /// The greatest; 0 where there is none.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.counts.last().map_or(0, |(value, _)| *value)
    }

    /// The mean; 0 where there is none.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The sample's standard deviation; 0 of fewer than two.
    #[must_use]
    pub fn stdev(&self) -> f64 {
        self.stdev
    }

    /// The percentage of values within so many standard deviations of the mean, both ends included; not a number without values.
    #[must_use]
    pub fn within_stdev(&self, times: f64) -> f64 {
        let (from, to) = (self.mean - times * self.stdev, self.mean + times * self.stdev);
        let within: u64 = self.counts.iter().filter(|(value, _)| (from..=to).contains(&(*value as f64))).map(|(_, count)| count).sum();
        within as f64 / self.count() as f64 * 100.0
    }

    /// The least value that at least `round(p / 100 * count + 0.5)` values do not exceed; 0 where there is none.
    #[must_use]
    pub fn percentile(&self, p: f64) -> u64 {
        // In wrk the rank can be past the last value, and the answer is then 0: at p = 100 always.
        self.at_rank((p / 100.0 * self.count() as f64 + 0.5).round() as u64)
    }

    /// The value of that rank, from 1 to how many there are: the nearest there is; 0 where there is none.
    #[must_use]
    pub fn at_rank(&self, rank: u64) -> u64 {
        let rank = rank.clamp(1, self.count().max(1));
        let place = self.cumulated.partition_point(|cumulated| *cumulated < rank);
        self.counts.get(place).map_or(0, |(value, _)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formulas_are_those_of_wrk() {
        let of = Statistics::from_counts([(30, 1), (10, 1), (20, 1), (10, 1)]);
        assert_eq!(of.counts(), [(10, 2), (20, 1), (30, 1)]);
        assert_eq!((of.min(), of.max(), of.count()), (10, 30, 4));
        assert_eq!(of.mean(), 17.5);
        assert!((of.stdev() - 9.574_271).abs() < 1e-6, "{}", of.stdev());
        assert_eq!([0.0, 25.0, 50.0, 75.0, 100.0].map(|p| of.percentile(p)), [10, 10, 20, 30, 30]);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|rank| of.at_rank(rank)), [10, 10, 10, 20, 30, 30]);
        assert_eq!(of.within_stdev(1.0), 75.0);
    }

    #[test]
    fn nothing_measured_reads_as_in_wrk() {
        let of = Statistics::default();
        assert_eq!((of.min(), of.max(), of.count(), of.percentile(50.0) + of.at_rank(1)), (u64::MAX, 0, 0, 0));
        assert_eq!((of.mean(), of.stdev()), (0.0, 0.0));
        assert!(of.within_stdev(1.0).is_nan());
        assert_eq!(Statistics::from_counts([(5, 1)]).stdev(), 0.0);
    }
}
