//! wrk's correction for coordinated omission, kept for those who compare with old figures.

use measure::Statistics;

/// Samples with those that wrk invents: under every sample of at least twice the interval that a
/// connection's requests are expected at, one more at each whole interval less. It takes the samples for pauses of a client who
/// should have sent on, which in closed load nobody should have.
pub(crate) fn corrected(samples: &Statistics, expected: u64) -> Statistics {
    let mut counts: Vec<(u64, u64)> = Vec::new();
    for (value, count) in samples.counts() {
        let value = *value as u64;
        counts.push((value, *count));
        if expected == 0 || value < expected * 2 {
            continue;
        }
        let mut below = value - expected;
        while below > expected {
            counts.push((below, *count));
            below -= expected;
        }
    }
    Statistics::from_counts(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_correction_invents_a_sample_at_each_interval_below_a_slow_one() {
        let all = corrected(&Statistics::from_counts([(100, 8), (1_000, 1)]), 300);
        assert_eq!(all.counts(), [(100.0, 8), (400.0, 1), (700.0, 1), (1000.0, 1)]);
        assert_eq!(corrected(&Statistics::from_counts([(599, 1)]), 300).count(), 1);
        assert_eq!(corrected(&Statistics::from_counts([(600, 1)]), 300).count(), 1, "nothing is left above the interval");
    }
}
