//! wrk's statistics: counts by value, and what it computes from them.

use measure::Histogram;

/// Values in ascending order with their counts; mean and deviation are exact where they came from exact sums.
#[derive(Debug, Clone, PartialEq)]
pub struct Samples {
    counts: Vec<(f64, u64)>,
    count: u64,
    mean: f64,
    stdev: f64,
}

impl Samples {
    /// Times, in microseconds.
    #[must_use]
    pub fn of_times(times: &Histogram) -> Self {
        let micros = |ns: u64| ns as f64 / 1_000.0;
        let (least, greatest) = (times.min().unwrap_or_default(), times.max().unwrap_or_default());
        Self {
            counts: times.recorded().map(|(time, count)| (micros(time.clamp(least, greatest).0), count)).collect(),
            count: times.count(),
            mean: times.mean().unwrap_or(0.0) / 1_000.0,
            stdev: times.stdev().unwrap_or(0.0) / 1_000.0,
        }
    }

    /// Whole values in ascending order with their counts; equal ones may come apart.
    #[must_use]
    pub fn of_counts(values: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut counts: Vec<(f64, u64)> = Vec::new();
        for (value, more) in values {
            match counts.last_mut() {
                Some((last, count)) if *last == value as f64 => *count += more,
                _ => counts.push((value as f64, more)),
            }
        }
        let count: u64 = counts.iter().map(|(_, count)| count).sum();
        let mean = if count == 0 { 0.0 } else { counts.iter().map(|(value, count)| value * *count as f64).sum::<f64>() / count as f64 };
        let squares: f64 = counts.iter().map(|(value, count)| (value - mean).powi(2) * *count as f64).sum();
        let stdev = if count < 2 { 0.0 } else { (squares / (count - 1) as f64).sqrt() };
        Self { counts, count, mean, stdev }
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Every distinct value, ascending, and how often it occurs.
    #[must_use]
    pub fn counts(&self) -> &[(f64, u64)] {
        &self.counts
    }

    /// The mean; 0 of nothing.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.mean
    }

    /// The sample standard deviation (n − 1); 0 below two.
    #[must_use]
    pub fn stdev(&self) -> f64 {
        self.stdev
    }

    /// The greatest; 0 of nothing.
    #[must_use]
    pub fn max(&self) -> f64 {
        self.counts.last().map_or(0.0, |(value, _)| *value)
    }

    /// How many in a hundred lie within one deviation of the mean, both ends included; `None` of nothing.
    #[must_use]
    pub fn within_a_stdev(&self) -> Option<f64> {
        let (low, high) = (self.mean - self.stdev, self.mean + self.stdev);
        let within: u64 = self.counts.iter().filter(|(value, _)| (low..=high).contains(value)).map(|(_, count)| count).sum();
        (self.count > 0).then(|| within as f64 * 100.0 / self.count as f64)
    }

    /// The least value that `percent` of a hundred, rounded to whole samples, do not exceed; 0 of nothing.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> f64 {
        self.at_rank((percent / 100.0 * self.count as f64 + 0.5).round() as u64)
    }

    /// The value of the k-th sample in ascending order, counted from 1; the greatest beyond the last.
    pub(crate) fn at_rank(&self, rank: u64) -> f64 {
        let mut so_far = 0;
        let found = self.counts.iter().find(|(_, count)| {
            so_far += count;
            so_far >= rank
        });
        found.map_or_else(|| self.max(), |(value, _)| *value)
    }
}

/// wrk's correction for coordinated omission, kept for `--faithful`: under every sample of at least twice the interval that a
/// connection's requests are expected at, one more at each whole interval less. It takes the samples for pauses of a client who
/// should have sent on, which in closed load nobody should have.
#[must_use]
pub fn corrected(samples: &Samples, expected: u64) -> Samples {
    let mut counts = std::collections::BTreeMap::new();
    for (value, count) in samples.counts() {
        *counts.entry(*value as u64).or_insert(0) += count;
    }
    for (value, count) in samples.counts() {
        let value = *value as u64;
        if expected == 0 || value < expected * 2 {
            continue;
        }
        let mut below = value - expected;
        while below > expected {
            *counts.entry(below).or_insert(0) += count;
            below -= expected;
        }
    }
    Samples::of_counts(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_those_of_the_samples() {
        let samples = Samples::of_counts([(2, 1), (4, 3), (9, 1)]);
        assert_eq!((samples.count(), samples.mean(), samples.max()), (5, 4.6, 9.0));
        assert!((samples.stdev() - 2.607_680_962_081_059).abs() < 1e-12);
        assert_eq!(samples.within_a_stdev(), Some(80.0));
        assert_eq!([0.0, 20.0, 50.0, 90.0, 100.0].map(|percent| samples.percentile(percent)), [2.0, 4.0, 4.0, 9.0, 9.0]);
    }

    #[test]
    fn of_nothing_all_is_zero_and_a_share_is_none() {
        let nothing = Samples::of_counts([]);
        assert_eq!((nothing.mean(), nothing.stdev(), nothing.max(), nothing.percentile(99.0)), (0.0, 0.0, 0.0, 0.0));
        assert_eq!(nothing.within_a_stdev(), None);
        assert_eq!(Samples::of_counts([(3, 1)]).within_a_stdev(), Some(100.0));
    }

    #[test]
    fn the_correction_invents_a_sample_at_each_interval_below_a_slow_one() {
        let all = corrected(&Samples::of_counts([(100, 8), (1_000, 1)]), 300);
        assert_eq!(all.counts(), [(100.0, 8), (400.0, 1), (700.0, 1), (1000.0, 1)]);
        assert_eq!(corrected(&Samples::of_counts([(599, 1)]), 300).count(), 1);
        assert_eq!(corrected(&Samples::of_counts([(600, 1)]), 300).count(), 1, "nothing is left above the interval");
    }
}
