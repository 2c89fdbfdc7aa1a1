//! How far apart two distributions of response times are, without choosing a percentile.
//!
//! A table of percentiles shows a change where somebody looked for it. Two measures look everywhere: how often a request to
//! B takes longer than one to A, if one of each is drawn (the probability of superiority, Vargha and Delaney 2000), and the
//! widest gap between the two distribution functions with the time at which it is (Kolmogorov and Smirnov's D). Their
//! textbook tests take requests for independent, and with a million of them tell every build from itself. So requests only
//! describe, and runs decide: each pair gives one share, and from these follows an interval as of any figure; how wide the gap is by
//! chance is seen by exchanging the sides of pairs.
//!
//! Invariant: a request that failed or was never sent took longer than any that was answered.

use measure::{Histogram, Summary};
use plan::{Nanos, Random};
use serde::Serialize;

use super::pair_shift;
use crate::interval::Interval;

/// Up to so many pairs every exchange of sides is tried: 2⁹, since exchanging all of them changes nothing.
const PAIRS_EXACT: usize = 10;
/// With more pairs, so many exchanges are drawn.
const EXCHANGES: u32 = 2_000;
/// At so many times at most gaps are looked for when sides are exchanged: any choice of times gives a sound chance.
const TIMES_MAX: usize = 500;
/// Sums of the same gaps in another order differ by less.
const ROUNDING: f64 = 1e-12;

/// How many of a run's requests were answered by when.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerCurve {
    /// Ascending times, each with the share of all requests that was answered by then.
    by: Vec<(Nanos, f64)>,
}

impl From<&Summary> for AnswerCurve {
    fn from(run: &Summary) -> Self {
        Self::new(&run.response_time_succeeded, run.requests.due)
    }
}

impl AnswerCurve {
    /// Of `due` requests, those in `times` succeeded.
    #[must_use]
    pub fn new(times: &Histogram, due: u64) -> Self {
        let mut up_to = 0;
        let all = due.max(times.count()).max(1) as f64;
        let by = times.recorded().map(|(time, count)| {
            up_to += count;
            (time, up_to as f64 / all)
        });
        Self { by: by.collect() }
    }

    fn by(&self, time: Nanos) -> f64 {
        match self.by.partition_point(|(known, _)| *known <= time) {
            0 => 0.0,
            after => self.by[after - 1].1,
        }
    }

    /// How often one drawn from `other` takes longer than one drawn from here; of ties, half.
    fn is_faster_than(&self, other: &Self) -> f64 {
        let (mut before, mut won) = (0.0, 0.0);
        for (time, up_to) in &other.by {
            let faster = self.by.partition_point(|(known, _)| known < time).checked_sub(1).map_or(0.0, |at| self.by[at].1);
            won += (up_to - before) * f64::midpoint(faster, self.by(*time));
            before = *up_to;
        }
        // What was never answered took longer than everything that was, and as long as each other.
        let answered = self.by.last().map_or(0.0, |(_, share)| *share);
        won + (1.0 - before) * f64::midpoint(answered, 1.0)
    }
}

/// How far B's response times are from A's.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Distance {
    /// How often a request to B takes longer than one to A, if one of each is drawn; of ties, half. Without any difference 0.5.
    pub slower_share: f64,
    /// Its interval of 95 %, over pairs; `None` with too few of them.
    pub slower_share_interval: Option<Interval>,
    /// D: how many more requests were answered on one side than on the other by [`gap_at_ns`](Self::gap_at_ns), as a share.
    pub gap: f64,
    /// Where the gap is widest.
    pub gap_at_ns: Nanos,
    /// The share of A's requests that was answered by then.
    pub answered_a: f64,
    /// That of B's.
    pub answered_b: f64,
    /// How likely a gap so wide is without any change, from exchanging the sides of pairs. 1 for a single pair.
    pub p: f64,
    /// Pairs.
    pub pairs: usize,
}

impl Distance {
    /// Over pairs of runs, A first in each. Every run weighs the same. `None` without a pair, or if nothing was answered at all.
    #[must_use]
    pub fn of(pairs: &[(AnswerCurve, AnswerCurve)], random: &mut Random) -> Option<Self> {
        let mut times: Vec<Nanos> = pairs.iter().flat_map(|(a, b)| a.by.iter().chain(&b.by)).map(|(time, _)| *time).collect();
        times.sort_unstable();
        times.dedup();
        let count = pairs.len() as f64;
        let both = |time: Nanos| {
            let sums = pairs.iter().fold((0.0, 0.0), |(from, to), (a, b)| (from + a.by(time), to + b.by(time)));
            (sums.0 / count, sums.1 / count)
        };
        let gaps = times.iter().map(|time| (*time, both(*time)));
        let (gap_at_ns, (answered_a, answered_b)) =
            gaps.reduce(|widest, next| if width(next.1) > width(widest.1) + ROUNDING { next } else { widest })?;
        let apart: Vec<f64> = pairs.iter().map(|(a, b)| a.is_faster_than(b) - 0.5).collect();
        let shift = pair_shift(&apart);
        Some(Self {
            slower_share: (0.5 + shift.estimate).clamp(0.0, 1.0),
            slower_share_interval: shift
                .interval
                .map(|it| Interval { low: (0.5 + it.low).clamp(0.0, 1.0), high: (0.5 + it.high).clamp(0.0, 1.0) }),
            gap: width((answered_a, answered_b)),
            gap_at_ns,
            answered_a,
            answered_b,
            p: chance_of_gap(pairs, &times, random),
            pairs: pairs.len(),
        })
    }
}

fn width((a, b): (f64, f64)) -> f64 {
    (b - a).abs()
}

/// In how many of all exchanges of sides the gap is as wide as it is, that without any exchange included.
fn chance_of_gap(pairs: &[(AnswerCurve, AnswerCurve)], times: &[Nanos], random: &mut Random) -> f64 {
    let every = times.len().div_ceil(TIMES_MAX).max(1);
    let differences: Vec<Vec<f64>> =
        pairs.iter().map(|(a, b)| times.iter().step_by(every).map(|time| b.by(*time) - a.by(*time)).collect()).collect();
    let looked_at = times.len().div_ceil(every);
    let mut sums = vec![0.0; looked_at];
    let mut widest = |exchanged: &dyn Fn(usize) -> bool| {
        sums.fill(0.0);
        for (pair, differences) in differences.iter().enumerate() {
            let sign = if exchanged(pair) { -1.0 } else { 1.0 };
            sums.iter_mut().zip(differences).for_each(|(sum, difference)| *sum += sign * difference);
        }
        sums.iter().fold(0.0f64, |widest, sum| widest.max(sum.abs()))
    };
    let seen = widest(&|_| false) - ROUNDING;
    if pairs.len() <= PAIRS_EXACT {
        let all = 1u32 << (pairs.len() - 1);
        let as_wide = (0..all).filter(|choice| widest(&|pair| (choice >> pair) & 1 == 1) >= seen).count();
        return as_wide as f64 / f64::from(all);
    }
    let as_wide = (0..EXCHANGES)
        .filter(|_| {
            let choice: Vec<bool> = pairs.iter().map(|_| random.unit() < 0.5).collect();
            widest(&|pair| choice[pair]) >= seen
        })
        .count();
    (as_wide + 1) as f64 / f64::from(EXCHANGES + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proportion::Share;
    use crate::simulated::normal;

    fn answered(values: &[u64], due: u64) -> AnswerCurve {
        let mut times = Histogram::new();
        values.iter().for_each(|value| times.record(Nanos(*value)));
        AnswerCurve::new(&times, due)
    }

    fn distance(pairs: &[(AnswerCurve, AnswerCurve)]) -> Distance {
        Distance::of(pairs, &mut Random::new(1, 0)).unwrap()
    }

    #[test]
    fn both_measures_are_those_counted_by_hand() {
        let pair = (answered(&[10, 20, 30], 3), answered(&[20, 30, 40], 3));
        let got = distance(&[pair]);
        // Of the nine ways to draw, B takes longer in six and as long in two.
        assert!((got.slower_share - 7.0 / 9.0).abs() < 1e-12, "{got:?}");
        assert!((got.gap - 1.0 / 3.0).abs() < 1e-12 && got.gap_at_ns == Nanos(10), "{got:?}");
        assert!((got.answered_a - 1.0 / 3.0).abs() < 1e-12 && got.answered_b == 0.0, "{got:?}");
        assert_eq!((got.p, got.pairs, got.slower_share_interval), (1.0, 1, None), "one pair tells nothing of chance");
    }

    #[test]
    fn what_failed_took_longer_than_all_that_was_answered() {
        let (well, half) = (answered(&[10, 10], 2), answered(&[10], 2));
        let got = distance(&[(well.clone(), half.clone())]);
        // Half of B's never came; the others tie.
        assert!((got.slower_share - 0.75).abs() < 1e-12 && (got.gap - 0.5).abs() < 1e-12, "{got:?}");
        assert!((distance(&[(half.clone(), well)]).slower_share - 0.25).abs() < 1e-12);
        assert!((distance(&[(half.clone(), half)]).slower_share - 0.5).abs() < 1e-12);
        assert_eq!(Distance::of(&[(answered(&[], 5), answered(&[], 5))], &mut Random::new(1, 0)), None);
        assert_eq!(Distance::of(&[], &mut Random::new(1, 0)), None);
    }

    /// Pairs of runs of log-normal times; the level of each run differs by `noise`, and B's by `slower` besides.
    fn simulated(pairs: usize, noise: f64, slower: f64, random: &mut Random) -> Vec<(AnswerCurve, AnswerCurve)> {
        let mut run = |level: f64| {
            let level = level + noise * normal(random);
            let mut times = Histogram::new();
            (0..REQUESTS).for_each(|_| times.record(Nanos((1e6 * (level + 0.4 * normal(random)).exp()) as u64)));
            AnswerCurve::new(&times, REQUESTS)
        };
        // The machine gets slower from pair to pair, as machines do.
        (0..pairs).map(|pair| (run(0.02 * pair as f64), run(0.02 * pair as f64 + slower.ln_1p()))).collect()
    }

    const REQUESTS: u64 = 150;

    #[test]
    fn runs_of_one_build_are_told_apart_no_more_often_than_promised() {
        const COMPARISONS: u64 = 300;
        let (mut alarms, mut missed, mut naive) = (0, 0, 0);
        for seed in 0..COMPARISONS {
            let got = distance(&simulated(8, 0.15, 0.0, &mut Random::new(91, seed)));
            alarms += u64::from(got.p <= 0.05);
            missed += u64::from(!got.slower_share_interval.unwrap().contains(0.5));
            // The textbook's bound for 8 · 150 independent requests on each side.
            naive += u64::from(got.gap > 1.358 * (2.0 / (8.0 * REQUESTS as f64)).sqrt());
        }
        let share = |hits| Share { hits, of: COMPARISONS };
        assert!(share(alarms).at_least(0.999) <= 0.05, "{alarms} of {COMPARISONS}");
        assert!(share(missed).interval(0.999).contains(0.05), "{missed} of {COMPARISONS}");
        assert!(naive > COMPARISONS / 4, "who takes requests for independent is wrong far more often: {naive}");
    }

    #[test]
    fn a_slower_build_is_told_apart() {
        for seed in 0..20 {
            let got = distance(&simulated(8, 0.02, 0.2, &mut Random::new(92, seed)));
            // The two levels are 0.18 apart, of a spread of 0.4: Φ(0.18 / (0.4·√2)) is 0.63.
            assert!((got.slower_share - 0.63).abs() < 0.05 && got.slower_share_interval.unwrap().low > 0.5, "{got:?}");
            assert!(got.p <= 0.05 && got.answered_a > got.answered_b, "{got:?}");
        }
    }

    #[test]
    fn many_pairs_are_drawn_from_and_give_nearly_the_same() {
        let more = simulated(12, 0.02, 0.02, &mut Random::new(93, 0));
        let (once, again) = (distance(&more), Distance::of(&more, &mut Random::new(2, 0)).unwrap());
        assert!((once.p - again.p).abs() < 0.05, "{once:?} {again:?}");
        assert_eq!((once.gap, once.slower_share), (again.gap, again.slower_share));
    }

    #[test]
    fn swapping_the_sides_turns_the_shares_around() {
        let pairs = simulated(6, 0.05, 0.1, &mut Random::new(94, 0));
        let (there, back) = (distance(&pairs), distance(&pairs.into_iter().map(|(a, b)| (b, a)).collect::<Vec<_>>()));
        assert!((there.slower_share + back.slower_share - 1.0).abs() < 1e-9);
        assert_eq!((there.gap, there.p, there.answered_a), (back.gap, back.p, back.answered_b));
    }
}
