//! By how much B differs from A, how sure that is, and how likely it is by chance: of pairs, or of runs that are not pairs.
//!
//! Wilcoxon's signed ranks assume nothing but symmetry, and one pair that a neighbour disturbed moves them by one rank. But they see
//! only which pair differs by more, not by how much: six pairs of −9.4 … −8.2 % have a chance of 1 in 32, whatever they are, and
//! that is too much where five figures are tested at once. So few pairs are judged by Student's t on the logarithms, which takes their
//! size for what it is, and from [`PAIRS_RANKED`] pairs on by ranks, which then reach every level that is needed. Heavy tails make t
//! shy, never rash: with few pairs an outlier ends in *cannot tell*, and with more it is outvoted (docs/decisions/comparing.md
//! has the figures). A bootstrap of pairs was rejected: from five of them it promises 95 % and holds 85.
//!
//! The intervals within the runs take no part: pairs differ by all that varies, within runs too. Runs that warm up alike on
//! both sides vary much within and little between.

use super::PAIRS_MIN;
use crate::distribution::{student_below, student_quantile};
use crate::interval::{CONFIDENCE, Interval};

/// From so many pairs on ranks judge: then the least chance, 1 in 512, is below 5 % over all figures together, also if the pair
/// that differs least disagrees.
pub(crate) const PAIRS_RANKED: usize = 10;

/// An estimate of a shift on the inner scale, with its interval and how likely it is by chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// The mean, or Hodges and Lehmann's estimate.
    pub estimate: f64,
    /// 95 %; `None` where so few cannot reach that.
    pub interval: Option<Interval>,
    /// Two-sided; of ranks, ties count against.
    pub p: f64,
    /// Pairs, or runs on the smaller side.
    pub pairs: usize,
}

/// The shift that pairs show: Student's t of few, signed ranks of many. A pair in which one side was never answered has no size, only a
/// rank.
///
/// # Panics
/// If there is no difference.
#[must_use]
pub(crate) fn pair_shift(differences: &[f64]) -> Shift {
    let shift = match differences.len() < PAIRS_RANKED && differences.iter().all(|difference| difference.is_finite()) {
        true => student(differences),
        false => signed_ranks(differences),
    };
    Shift { interval: shift.interval.filter(|_| shift.pairs >= PAIRS_MIN), ..shift }
}

/// The mean, with Student's interval and chance.
///
/// # Panics
/// If there is no difference.
#[must_use]
pub(crate) fn student(differences: &[f64]) -> Shift {
    assert!(!differences.is_empty(), "a shift needs at least one pair");
    let pairs = differences.len();
    let n = pairs as f64;
    let estimate = differences.iter().sum::<f64>() / n;
    if pairs < 2 {
        return Shift { estimate, interval: None, p: 1.0, pairs };
    }
    let error = deviation(differences) / n.sqrt();
    let half = student_quantile(0.5 + CONFIDENCE / 2.0, n - 1.0) * error;
    let p = match error > 0.0 {
        true => 2.0 * student_below(-(estimate / error).abs(), n - 1.0),
        false => f64::from(estimate == 0.0),
    };
    Shift { estimate, interval: Some(Interval { low: estimate - half, high: estimate + half }), p, pairs }
}

/// The deviation of at least two values: it does not change with what they have in common.
#[must_use]
pub fn deviation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt()
}

/// The median of the Walsh averages (d_i + d_j)/2, i ≤ j, and [w_(k), w_(M+1−k)] with k from Wilcoxon's signed-rank distribution.
///
/// # Panics
/// If there is no difference.
#[must_use]
pub(crate) fn signed_ranks(differences: &[f64]) -> Shift {
    assert!(!differences.is_empty(), "a shift needs at least one pair");
    let n = differences.len();
    let mut walsh: Vec<f64> = Vec::with_capacity(n * (n + 1) / 2);
    for (i, first) in differences.iter().enumerate() {
        for second in &differences[i..] {
            let sum = first + second;
            // Infinitely slower once and infinitely faster once is no shift.
            walsh.push(if sum.is_nan() { 0.0 } else { sum / 2.0 });
        }
    }
    ordered(walsh, &signed_rank_distribution(n), n)
}

pub(super) fn rank_sums(shifts: Vec<f64>, from: usize, to: usize) -> Shift {
    ordered(shifts, &rank_sum_distribution(from, to), from.min(to))
}

/// From all elementary shifts and the null distribution of how many of them are above zero.
fn ordered(mut shifts: Vec<f64>, distribution: &[f64], pairs: usize) -> Shift {
    shifts.sort_by(f64::total_cmp);
    let count = shifts.len();
    let interval = order_statistic(distribution, CONFIDENCE).map(|k| Interval { low: shifts[k - 1], high: shifts[count - k] });
    let (above, below) = (shifts.iter().filter(|shift| **shift > 0.0).count(), shifts.iter().filter(|shift| **shift < 0.0).count());
    let p = (2.0 * distribution[..=count - above.max(below)].iter().sum::<f64>()).min(1.0);
    Shift { estimate: middle(&shifts), interval, p, pairs }
}

/// Which of the sorted elementary shifts, counted from 1 at either end, bound the shift with `confidence`: the greatest k with
/// P(T ≤ k−1) ≤ α/2. `None` where even the extremes do not.
#[must_use]
pub(crate) fn order_statistic(distribution: &[f64], confidence: f64) -> Option<usize> {
    let mut below = 0.0;
    let k = distribution.iter().take_while(|probability| {
        below += **probability;
        // A hair more, because 2^-n sums may come out above what they are.
        below <= (1.0 - confidence) / 2.0 * (1.0 + 1e-12)
    });
    let k = k.count();
    (k > 0).then_some(k)
}

/// P(T = t) of Wilcoxon's signed-rank statistic for `n` pairs, t from 0 to n(n+1)/2: every rank counts with chance ½.
#[must_use]
pub(crate) fn signed_rank_distribution(n: usize) -> Vec<f64> {
    let most = n * (n + 1) / 2;
    let mut chance = vec![0.0; most + 1];
    chance[0] = 1.0;
    let mut reached = 0;
    for rank in 1..=n {
        reached += rank;
        for t in (0..=reached).rev() {
            let with = if t >= rank { chance[t - rank] } else { 0.0 };
            chance[t] = 0.5 * (chance[t] + with);
        }
    }
    chance
}

/// P(U = u) of Mann and Whitney's statistic for sides of `m` and `n` runs, u from 0 to mn: the coefficients of the Gaussian
/// binomial, ∏ (1 − x^(n+i))/(1 − x^i) for i to m, over (m+n choose m).
#[must_use]
pub(crate) fn rank_sum_distribution(m: usize, n: usize) -> Vec<f64> {
    let most = m * n;
    let mut ways = vec![0.0; most + 1];
    ways[0] = 1.0;
    for i in 1..=m {
        // Multiply by 1 − x^(n+i), then divide by 1 − x^i; scaled at each step, so that the sum stays 1.
        for u in (n + i..=most).rev() {
            ways[u] -= ways[u - n - i];
        }
        for u in i..=most {
            ways[u] += ways[u - i];
        }
        let scale = i as f64 / (n + i) as f64;
        ways.iter_mut().for_each(|way| *way *= scale);
    }
    ways
}

pub(super) fn middle(sorted: &[f64]) -> f64 {
    let count = sorted.len();
    let (low, high) = (sorted[(count - 1) / 2], sorted[count / 2]);
    if low == high { low } else { f64::midpoint(low, high) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_ranks_are_those_of_the_table() {
        // docs/measurement.md §3.3.
        for (n, k, coverage, k99) in [
            (6, 1, 96.9, None),
            (7, 3, 95.3, None),
            (8, 4, 96.1, Some(1)),
            (9, 6, 96.1, Some(2)),
            (10, 9, 95.1, Some(4)),
            (11, 11, 95.8, Some(6)),
            (12, 14, 95.8, Some(8)),
            (15, 26, 95.2, Some(16)),
            (20, 53, 95.2, Some(38)),
        ] {
            let distribution = signed_rank_distribution(n);
            assert!((distribution.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert_eq!(order_statistic(&distribution, 0.95), Some(k), "{n}");
            assert_eq!(order_statistic(&distribution, 0.99), k99, "{n}");
            let covered = 100.0 * (1.0 - 2.0 * distribution[..k].iter().sum::<f64>());
            assert!((covered - coverage).abs() < 0.051, "{n}: {covered}");
        }
        assert_eq!(order_statistic(&signed_rank_distribution(5), 0.95), None, "five pairs can never reach 95 %");
    }

    #[test]
    fn the_least_chances_are_those_of_the_table() {
        for (n, p) in [(5, 0.0625), (6, 0.03125), (7, 0.015_625), (8, 0.007_812_5), (10, 0.001_953_125)] {
            let shift = signed_ranks(&(1..=n).map(f64::from).collect::<Vec<_>>());
            assert!((shift.p - p).abs() < 1e-12, "{n}: {}", shift.p);
        }
        for (n, p) in [(3, 0.1), (4, 0.0286), (5, 0.0079), (6, 0.0022)] {
            let distribution = rank_sum_distribution(n, n);
            assert!((2.0 * distribution[0] - p).abs() < 5e-5, "{n}");
        }
    }

    #[test]
    fn rank_sums_are_distributed_as_counted_by_hand() {
        // 2 and 3: of the ten arrangements U is 0, 1, 2, 3, 4, 5, 6 in 1, 1, 2, 2, 2, 1, 1.
        let wanted = [1.0, 1.0, 2.0, 2.0, 2.0, 1.0, 1.0];
        for (m, n) in [(2, 3), (3, 2)] {
            let got = rank_sum_distribution(m, n);
            assert!(got.iter().zip(wanted).all(|(got, wanted)| (got * 10.0 - wanted).abs() < 1e-12), "{got:?}");
        }
        let large = rank_sum_distribution(20, 20);
        assert!((large.iter().sum::<f64>() - 1.0).abs() < 1e-9 && large.iter().all(|chance| *chance > 0.0));
        assert_eq!(order_statistic(&large, 0.95), Some(128), "Mann and Whitney's table: U ≤ 127 at 20 and 20");
    }

    #[test]
    fn few_pairs_are_judged_by_their_size() {
        // Six pairs of about −9.2 %: too few for ranks, and plain to see.
        let differences = [-9.4f64, -8.2, -9.2, -9.3, -9.1, -9.25].map(|percent| (percent / 100.0).ln_1p());
        assert!(signed_ranks(&differences).p > 0.03);
        let shift = pair_shift(&differences);
        assert!(shift.p < 1e-6 && shift.interval.unwrap().high < -0.085, "{shift:?}");
        // Student's table: of 1, 2, 3, 4, 5 the mean is 3, its error √(2.5/5), t(0.975, 4) is 2.776.
        let shift = student(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        let interval = shift.interval.unwrap();
        assert!((shift.estimate - 3.0).abs() < 1e-12 && (interval.high - 3.0 - 2.776 * 0.5f64.sqrt()).abs() < 1e-3, "{shift:?}");
        assert!((shift.p - 0.0132).abs() < 1e-4, "{shift:?}");
    }

    #[test]
    fn pairs_that_all_agree_are_sure_and_one_alone_is_not() {
        assert_eq!((student(&[0.1; 5]).p, student(&[0.0; 5]).p, student(&[0.1]).p), (0.0, 1.0, 1.0));
        assert_eq!(pair_shift(&[0.1; 4]).interval, None);
    }

    #[test]
    fn an_outlier_makes_few_pairs_shy_and_is_outvoted_by_many() {
        let with_outlier =
            |count: usize| -> Vec<f64> { (0..count).map(|at| if at == 2 { -0.4 } else { 0.05 + 0.002 * at as f64 }).collect() };
        assert!(pair_shift(&with_outlier(6)).p > 0.05);
        let many = pair_shift(&with_outlier(12));
        assert!(many.p <= 0.05 && many.interval.unwrap().low > 0.04, "{many:?}");
    }

    #[test]
    fn what_was_never_answered_has_a_rank_and_no_size() {
        let shift = pair_shift(&[f64::INFINITY; 8]);
        assert!(shift.p < 0.01 && shift.estimate == f64::INFINITY, "{shift:?}");
    }

    proptest! {
        #[test]
        fn swapping_the_sides_turns_the_shift_around(differences in prop::collection::vec(-1.0..1.0f64, 1..15)) {
            let there = signed_ranks(&differences);
            let back = signed_ranks(&differences.iter().map(|d| -d).collect::<Vec<_>>());
            prop_assert!((there.estimate + back.estimate).abs() < 1e-12);
            prop_assert_eq!(there.p, back.p);
            if let (Some(there), Some(back)) = (there.interval, back.interval) {
                prop_assert!((there.low + back.high).abs() < 1e-12 && there.low <= there.high);
            }
        }

        #[test]
        fn the_interval_excludes_nothing_exactly_when_chance_is_below_five_percent(differences in prop::collection::vec(-0.5..1.0f64, 6..15)) {
            let shift = signed_ranks(&differences);
            prop_assert_eq!(!shift.interval.unwrap().contains(0.0), shift.p <= 0.05);
        }
    }
}
