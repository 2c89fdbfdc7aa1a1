//! Values and how often each came: what reports and scripts of wrk are made of.
//!
//! wrk's scripts walk through all distinct values, so a few quantiles are not enough. Formulas are wrk's own (sample standard deviation,
//! nearest rank), so that the same values give the same text.

use crate::Histogram;

/// Distinct values and their counts, ascending, with what is computed from them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Statistics {
    counts: Vec<(f64, u64)>,
    /// The number of values up to each of `counts`.
    cumulated: Vec<u64>,
    mean: f64,
    stdev: f64,
}

impl Statistics {
    /// Of whole values and counts in any order; the same value may come twice.
    #[must_use]
    pub fn from_counts(counts: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut by_value = std::collections::BTreeMap::new();
        for (value, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
            *by_value.entry(value).or_insert(0) += count;
        }
        let of = Self::cumulated(by_value.into_iter().map(|(value, count)| (value as f64, count)).collect());
        let total = of.count() as f64;
        let mean = if total == 0.0 { 0.0 } else { of.counts.iter().map(|(value, count)| value * *count as f64).sum::<f64>() / total };
        // The sample's, with n - 1.
        let squares: f64 = of.counts.iter().map(|(value, count)| (value - mean).powi(2) * *count as f64).sum();
        let stdev = if total < 2.0 { 0.0 } else { (squares / (total - 1.0)).sqrt() };
        Self { mean, stdev, ..of }
    }

    /// Times in microseconds; mean and deviation are exact.
    #[must_use]
    pub fn of_times(times: &Histogram) -> Self {
        let micros = |ns: u64| ns as f64 / 1_000.0;
        let (least, greatest) = (times.min().unwrap_or_default(), times.max().unwrap_or_default());
        Self {
            mean: times.mean().unwrap_or(0.0) / 1_000.0,
            stdev: times.stdev().unwrap_or(0.0) / 1_000.0,
            ..Self::cumulated(times.recorded().map(|(time, count)| (micros(time.clamp(least, greatest).0), count)).collect())
        }
    }

    /// Times in whole microseconds, as wrk counts them.
    #[must_use]
    pub fn of_micros(times: &Histogram) -> Self {
        Self::from_counts(times.recorded().map(|(time, count)| (time.0 / 1_000, count)))
    }

    fn cumulated(counts: Vec<(f64, u64)>) -> Self {
        let mut total = 0;
        let cumulated = counts.iter().map(|(_, count)| {
            total += count;
            total
        });
        Self { cumulated: cumulated.collect(), counts, mean: 0.0, stdev: 0.0 }
    }

    /// Distinct values and their counts, ascending.
    #[must_use]
    pub fn counts(&self) -> &[(f64, u64)] {
        &self.counts
    }

    /// How many values.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.cumulated.last().copied().unwrap_or(0)
    }

    /// The least; that of `u64::MAX` where there is none, as in wrk.
    #[must_use]
    pub fn min(&self) -> f64 {
        self.counts.first().map_or(u64::MAX as f64, |(value, _)| *value)
    }

    /// The greatest; 0 where there is none.
    #[must_use]
    pub fn max(&self) -> f64 {
        self.counts.last().map_or(0.0, |(value, _)| *value)
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

    /// The percentage of values within one standard deviation of the mean, both ends included; `None` without values.
    #[must_use]
    pub fn within_a_stdev(&self) -> Option<f64> {
        let (low, high) = (self.mean - self.stdev, self.mean + self.stdev);
        let within: u64 = self.counts.iter().filter(|(value, _)| (low..=high).contains(value)).map(|(_, count)| count).sum();
        (self.count() > 0).then(|| within as f64 * 100.0 / self.count() as f64)
    }

    /// The least value that at least `round(p / 100 * count + 0.5)` values do not exceed; 0 where there is none.
    #[must_use]
    pub fn percentile(&self, p: f64) -> f64 {
        // In wrk the rank can be past the last value, and the answer is then 0: at p = 100 always.
        self.at_rank((p / 100.0 * self.count() as f64 + 0.5).round() as u64)
    }

    /// The value of that rank, from 1 to how many there are: the nearest there is; 0 where there is none.
    #[must_use]
    pub fn at_rank(&self, rank: u64) -> f64 {
        let rank = rank.clamp(1, self.count().max(1));
        let place = self.cumulated.partition_point(|cumulated| *cumulated < rank);
        self.counts.get(place).map_or(0.0, |(value, _)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formulas_are_those_of_wrk() {
        let of = Statistics::from_counts([(30, 1), (10, 1), (20, 1), (10, 1)]);
        assert_eq!(of.counts(), [(10.0, 2), (20.0, 1), (30.0, 1)]);
        assert_eq!((of.min(), of.max(), of.count()), (10.0, 30.0, 4));
        assert_eq!(of.mean(), 17.5);
        assert!((of.stdev() - 9.574_271).abs() < 1e-6, "{}", of.stdev());
        assert_eq!([0.0, 25.0, 50.0, 75.0, 100.0].map(|p| of.percentile(p)), [10.0, 10.0, 20.0, 30.0, 30.0]);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|rank| of.at_rank(rank)), [10.0, 10.0, 10.0, 20.0, 30.0, 30.0]);
        assert_eq!(of.within_a_stdev(), Some(75.0));
        let of = Statistics::from_counts([(2, 1), (4, 3), (9, 1)]);
        assert_eq!((of.count(), of.mean(), of.max(), of.within_a_stdev()), (5, 4.6, 9.0, Some(80.0)));
        assert!((of.stdev() - 2.607_680_962_081_059).abs() < 1e-12);
        assert_eq!([0.0, 20.0, 50.0, 90.0, 100.0].map(|p| of.percentile(p)), [2.0, 4.0, 4.0, 9.0, 9.0]);
    }

    #[test]
    fn nothing_measured_reads_as_in_wrk() {
        let of = Statistics::default();
        assert_eq!((of.min(), of.max(), of.count(), of.percentile(50.0) + of.at_rank(1)), (u64::MAX as f64, 0.0, 0, 0.0));
        assert_eq!((of.mean(), of.stdev(), of.within_a_stdev()), (0.0, 0.0, None));
        assert_eq!((Statistics::from_counts([(5, 1)]).stdev(), Statistics::from_counts([(3, 1)]).within_a_stdev()), (0.0, Some(100.0)));
    }
}
