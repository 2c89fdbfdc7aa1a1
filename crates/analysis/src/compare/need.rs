//! How many pairs a comparison needs, from the noise of its first ones.
//!
//! A fixed number is too many on a quiet machine and too few on a loud one. Going on until something is sure was rejected: who looks
//! after every pair and stops at the first alarm raises one in every fifth comparison of a build with itself. So the number
//! is decided once, and blind: from how much the first pairs differ among each other, which is the same whether B is slower or
//! not. What is decided from the spread alone leaves the chance of a false alarm where it was (docs/validation.md).

use super::shift::deviation;
use super::{ALPHA, Margins, Metric, PAIRS_MIN, Scale, Values, differences, reaches};

/// More pairs than this are not measured unasked.
pub const PAIRS_MOST: usize = 20;
/// An interval of this share of the margin on either side leaves room for an estimate that is off: nine of ten comparisons of a
/// build with itself then say *the same*.
const FITS: f64 = 0.75;

/// How many pairs, and why.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Need {
    /// So many, from [`PAIRS_MIN`] to [`PAIRS_MOST`].
    pub pairs: usize,
    /// The figure that varies most for its margin.
    pub metric: Metric,
    /// By how much that figure's change varies from pair to pair: 0.02 is 2 %.
    pub deviation: f64,
}

impl Need {
    /// So many pairs that the intervals of the figures that decide fit into their margins, if all vary as these do. `None` before there
    /// are [`PAIRS_MIN`] of them, or where nothing is known that has a size.
    #[must_use]
    pub fn of(pairs: &[(Values, Values)], margins: &Margins) -> Option<Self> {
        let needs = Metric::PRIMARY.into_iter().filter(|metric| metric.scale() == Scale::Ratio).filter_map(|metric| {
            let differences = differences(pairs, metric);
            let known = differences.len() >= PAIRS_MIN && differences.iter().all(|difference| difference.is_finite());
            known.then(|| Self::of_deviation(metric, deviation(&differences), margins.of(metric)))
        });
        needs.reduce(|most, next| if next.pairs > most.pairs { next } else { most })
    }

    fn of_deviation(metric: Metric, deviation: f64, margin: f64) -> Self {
        // Without a margin every change counts, and no number of pairs would do.
        let margin = if margin > 0.0 { margin } else { metric.margin() };
        let pairs = (PAIRS_MIN..PAIRS_MOST).find(|pairs| reaches(FITS * margin, deviation, *pairs, ALPHA)).unwrap_or(PAIRS_MOST);
        Self { pairs, metric, deviation }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::Pairs;
    use plan::Random;

    fn need(noise: f64, change: f64) -> usize {
        let pairs = Pairs::of(PAIRS_MIN, noise).draw(|_| change, &mut Random::new(88, 0));
        Need::of(&pairs, &Margins::default()).unwrap().pairs
    }

    #[test]
    fn what_varies_more_needs_more_pairs() {
        assert_eq!((need(0.002, 0.0), need(0.2, 0.0)), (PAIRS_MIN, PAIRS_MOST));
        assert!(need(0.005, 0.0) <= need(0.02, 0.0) && need(0.02, 0.0) <= need(0.06, 0.0));
        // Of one percent t(0.975, 4)·1 %/√5 is 1.24 %, within three quarters of 2 %.
        assert_eq!(Need::of_deviation(Metric::P50, 0.01, 0.02).pairs, PAIRS_MIN);
        assert_eq!(Need::of_deviation(Metric::P50, 0.02, 0.02).pairs, 10);
        assert_eq!(Need::of_deviation(Metric::P50, 0.01, 0.0).pairs, PAIRS_MIN, "no margin asks for what the usual one does");
    }

    #[test]
    fn it_does_not_depend_on_whether_anything_changed() {
        for noise in [0.005, 0.01, 0.02, 0.04] {
            assert_eq!(need(noise, 0.0), need(noise, 0.3));
        }
    }

    #[test]
    fn too_few_pairs_and_pairs_without_a_size_say_nothing() {
        let draw = |count| Pairs::of(count, 0.01).draw(|_| 0.0, &mut Random::new(88, 1));
        assert_eq!(Need::of(&draw(PAIRS_MIN - 1), &Margins::default()), None);
        let mut pairs = draw(PAIRS_MIN);
        pairs.iter_mut().for_each(|(_, b)| {
            Metric::PRIMARY.into_iter().for_each(|metric| {
                b.insert(metric, f64::INFINITY);
            });
        });
        assert_eq!(Need::of(&pairs, &Margins::default()), None);
    }
}
