//! Whether a run stayed what it was: slow drift, and sudden changes.
//!
//! One p50 for a run whose p50 grew by a third is the p50 of no moment of it. Drift is Theil and Sen's slope (the median of
//! the slopes between all pairs of points, so that no outlier bends it), counted only if it is both large (5 % over the run)
//! and not chance (Mann and Kendall, p < 0.01): a long run makes any slope significant and a short one any slope large.
//! Sudden changes are found by PELT (Killick, Fearnhead and Eckley 2012) on log p50: the segmentation with the least squared
//! error plus a price for each change. A test for stationarity such as ADF is weak on the 30 to 60 points of a usual run.
//!
//! Invariant: what is reported has a size; significance alone is never reported.

use plan::Nanos;
use serde::Serialize;

use crate::distribution::normal_below;
use crate::interval::Slice;
use crate::warmup::{log_quantiles, median, throughput};

/// A slope is looked for in at most this many points: neighbours are put together by their median, which makes them less alike.
const POINTS_MAX: usize = 60;
const POINTS_MIN: usize = 10;
/// Less than this over the whole run is not drift (docs/measurement.md §1.8).
const DRIFT_MIN: f64 = 0.05;
const DRIFT_CHANCE_MAX: f64 = 0.01;
/// No segment is shorter (docs/measurement.md §1.8).
const SEGMENT_MIN: usize = 5;
/// The price of a change, in units of ln n (Barrett et al. 2017 use as much for benchmarks).
const PENALTY: f64 = 15.0;
/// Noise is at least this, in log: histograms have steps of 0.1 %.
const NOISE_MIN: f64 = 0.002;
/// Smaller changes are not worth a word.
const CHANGE_MIN: f64 = 0.02;

/// A slope over a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Drift {
    /// On the fitted line, at the first point; of a course so steep that the line would begin or end below nothing, the median of the
    /// first third.
    pub from: f64,
    /// The same at the last point, or of the last third.
    pub to: f64,
    /// The difference as a share of where it began: 0.12 is "grew 12 % over the run".
    pub change: f64,
    /// How likely so clear a trend is by chance (Mann and Kendall, two-sided).
    pub p: f64,
    /// Whether it is both large and not chance.
    pub drifting: bool,
}

/// A sudden change.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ChangePoint {
    /// When, from the start of the run.
    #[serde(rename = "at_ns")]
    pub at: Nanos,
    /// The typical median response time between the change before and this one.
    #[serde(rename = "before_ns")]
    pub before: Nanos,
    /// The same from here to the next.
    #[serde(rename = "after_ns")]
    pub after: Nanos,
    /// By how much it grew, as a share: −0.3 is 30 % less.
    pub change: f64,
}

/// How much a run stayed what it was.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stability {
    /// Of answers a second; `None` with fewer than ten intervals.
    pub throughput: Option<Drift>,
    /// Of the median response time, in nanoseconds.
    pub p50: Option<Drift>,
    /// Of its 99th percentile, in nanoseconds.
    pub p99: Option<Drift>,
    /// Sudden changes of the median, in order.
    pub changes: Vec<ChangePoint>,
}

/// Drift and changes in the slices after the warm-up.
#[must_use]
pub fn stability(slices: &[Slice]) -> Stability {
    let (p50, p99) = (log_quantiles(slices, 0.5), log_quantiles(slices, 0.99));
    let times = |logs: &[f64]| drift(&logs.iter().map(|log| log.exp()).collect::<Vec<_>>());
    let changes = change_points(&p50)
        .into_iter()
        .map(|Shift { at, before, after, change }| ChangePoint {
            at: slices[at].from,
            before: Nanos(before.round() as u64),
            after: Nanos(after.round() as u64),
            change,
        })
        .collect();
    Stability { throughput: drift(&throughput(slices)), p50: times(&p50), p99: times(&p99), changes }
}

/// From one point of a series on it is another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Shift {
    /// The first point after it.
    pub at: usize,
    /// The typical value between the change before and this one.
    pub before: f64,
    /// The same from here to the next.
    pub after: f64,
    /// By how much it grew, as a share.
    pub change: f64,
}

/// Sudden changes of a series of values, given by their logarithms, in order; none with fewer than ten.
#[must_use]
pub fn change_points(logs: &[f64]) -> Vec<Shift> {
    let typical = |segment: &Segment| median(&logs[segment.from..segment.to]);
    segments(logs)
        .windows(2)
        .map(|pair| (pair[1].from, typical(&pair[0]), typical(&pair[1])))
        .map(|(at, before, after)| Shift { at, before: before.exp(), after: after.exp(), change: (after - before).exp_m1() })
        .filter(|shift| shift.change.abs() >= CHANGE_MIN)
        .collect()
}

/// The drift of evenly spaced points; `None` for fewer than ten, or where the median is nothing.
#[must_use]
pub fn drift(points: &[f64]) -> Option<Drift> {
    let each = points.len().div_ceil(POINTS_MAX).max(1);
    let points: Vec<f64> = points.chunks_exact(each).map(median).collect();
    let centre = median(&points);
    if points.len() < POINTS_MIN || centre <= 0.0 {
        return None;
    }
    let slope = theil_sen(&points);
    let span = slope * (points.len() - 1) as f64;
    // The line passes through the medians of both.
    let (mut from, mut to) = (centre - span / 2.0, centre + span / 2.0);
    if from.min(to) <= 0.0 {
        let third = points.len() / 3;
        (from, to) = (median(&points[..third]), median(&points[points.len() - third..]));
    }
    let change = if from > 0.0 { to / from - 1.0 } else { (to - from) / centre };
    let p = mann_kendall(&points);
    Some(Drift { from, to, change, p, drifting: change.abs() > DRIFT_MIN && p < DRIFT_CHANCE_MAX })
}

/// The median of the slopes between all pairs of evenly spaced points (Theil 1950, Sen 1968), per step.
#[must_use]
pub(crate) fn theil_sen(points: &[f64]) -> f64 {
    let mut slopes = Vec::with_capacity(points.len() * points.len().saturating_sub(1) / 2);
    for (i, first) in points.iter().enumerate() {
        slopes.extend(points[i + 1..].iter().enumerate().map(|(k, second)| (second - first) / (k + 1) as f64));
    }
    median(&slopes)
}

/// How likely so many of all pairs go the same way by chance: S = Σ sign(y_j − y_i), normal with variance
/// (n(n−1)(2n+5) − Σ t(t−1)(2t+5))/18 for ties of t equal points (Kendall 1975), with one step of continuity.
#[must_use]
pub(crate) fn mann_kendall(points: &[f64]) -> f64 {
    let mut score = 0i64;
    for (i, first) in points.iter().enumerate() {
        score += points[i + 1..].iter().map(|second| i64::from(second > first) - i64::from(second < first)).sum::<i64>();
    }
    let weight = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0);
    let mut sorted = points.to_vec();
    sorted.sort_by(f64::total_cmp);
    let ties: f64 = sorted.chunk_by(|a, b| a == b).map(|equal| weight(equal.len() as f64)).sum();
    let variance = (weight(points.len() as f64) - ties) / 18.0;
    if variance <= 0.0 || score == 0 {
        return 1.0;
    }
    (2.0 * normal_below(-((score.abs() - 1) as f64) / variance.sqrt())).min(1.0)
}

/// Points `from..to` that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Segment {
    from: usize,
    to: usize,
}

/// PELT: the least of Σ over segments of (squared error / σ² + penalty), where a start that can no longer win is dropped.
fn segments(points: &[f64]) -> Vec<Segment> {
    let count = points.len();
    if count < 2 * SEGMENT_MIN {
        return vec![Segment { from: 0, to: count }];
    }
    let variance = noise(points).powi(2);
    let centre = points.iter().sum::<f64>() / count as f64;
    let mut sums = vec![(0.0, 0.0)];
    for y in points {
        let last: (f64, f64) = sums[sums.len() - 1];
        let y = y - centre;
        sums.push((last.0 + y, last.1 + y * y));
    }
    let cost = |from: usize, to: usize| {
        let (sum, squares) = (sums[to].0 - sums[from].0, sums[to].1 - sums[from].1);
        (squares - sum * sum / (to - from) as f64).max(0.0) / variance
    };
    let penalty = PENALTY * (count as f64).ln();
    let mut least = vec![f64::INFINITY; count + 1];
    least[0] = -penalty;
    let mut previous = vec![0; count + 1];
    // Where the last segment may start, and from which end on that cannot be best any more.
    let mut starts: Vec<(usize, usize)> = vec![(0, usize::MAX)];
    for to in SEGMENT_MIN..=count {
        starts.retain(|(_, dropped_at)| to < *dropped_at);
        for (from, _) in &starts {
            let total = least[*from] + cost(*from, to) + penalty;
            if total < least[to] {
                (least[to], previous[to]) = (total, *from);
            }
        }
        for (from, dropped_at) in &mut starts {
            // A segment that starts at `to` does as well from then on; but it has to be long enough to.
            if least[*from] + cost(*from, to) > least[to] {
                *dropped_at = (*dropped_at).min(to + SEGMENT_MIN);
            }
        }
        // The next end may begin its last segment here.
        let next = to + 1 - SEGMENT_MIN;
        if least[next].is_finite() && next > 0 {
            starts.push((next, usize::MAX));
        }
    }
    let mut found = Vec::new();
    let mut to = count;
    while to > 0 {
        found.push(Segment { from: previous[to], to });
        to = previous[to];
    }
    found.reverse();
    found
}

/// The deviation of the noise, from differences of neighbours, in which a change is a single outlier.
fn noise(points: &[f64]) -> f64 {
    let differences: Vec<f64> = points.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    (1.4826 * median(&differences) / std::f64::consts::SQRT_2).max(NOISE_MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steep_course_begins_at_what_was_measured_and_its_change_is_from_there() {
        // A queue that breaks out late: a straight line through its median would begin below zero.
        let steep: Vec<f64> = (0..30).map(|at| if at < 12 { 10.0 + f64::from(at) } else { 500.0 * f64::from(at - 11) }).collect();
        let found = drift(&steep).unwrap();
        assert!(found.drifting && found.from > 9.0 && found.from < 22.0 && found.to > 5_000.0, "{found:?}");
        assert!((found.change - (found.to / found.from - 1.0)).abs() < 1e-9, "{found:?}");
        let doubled: Vec<f64> = (0..30).map(|at| 100.0 + 100.0 / 29.0 * f64::from(at)).collect();
        let found = drift(&doubled).unwrap();
        assert!((found.from - 100.0).abs() < 1.0 && (found.to - 200.0).abs() < 1.0 && (found.change - 1.0).abs() < 0.02, "{found:?}");
    }
    use crate::simulated::{normal, sliced};
    use plan::Random;
    use proptest::prelude::*;

    fn noisy(count: usize, seed: u64, correlation: f64, of: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut random = Random::new(seed, 0);
        let mut level = normal(&mut random);
        (0..count)
            .map(|at| {
                level = correlation * level + (1.0 - correlation * correlation).sqrt() * normal(&mut random);
                10.0 + 0.02 * level + of(at)
            })
            .collect()
    }

    #[test]
    fn the_slope_is_that_of_the_line_and_one_outlier_does_not_bend_it() {
        let mut line: Vec<f64> = (0..20).map(|k| 100.0 + 2.0 * f64::from(k)).collect();
        assert_eq!(theil_sen(&line), 2.0);
        line[19] = 10_000.0;
        assert!((theil_sen(&line) - 2.0).abs() < 0.1);
        let drift = drift(&line).unwrap();
        assert!((drift.change - 0.38).abs() < 0.02 && drift.drifting, "{drift:?}");
    }

    #[test]
    fn the_trend_s_chance_is_the_textbook_s() {
        // Ten ascending points: S = 45, variance 10·9·25/18 = 125, z = 44/√125 = 3.935.
        let ascending: Vec<f64> = (0..10).map(f64::from).collect();
        assert!((mann_kendall(&ascending) - 2.0 * normal_below(-44.0 / 125f64.sqrt())).abs() < 1e-15);
        assert_eq!(mann_kendall(&[5.0; 12]), 1.0);
        assert_eq!(mann_kendall(&[]), 1.0);
    }

    #[test]
    fn a_slope_is_drift_only_if_large_and_clear() {
        let slope = |share: f64, noise: f64| {
            let mut random = Random::new(4, 0);
            let points: Vec<f64> = (0..120).map(|k| 100.0 * (1.0 + share * f64::from(k) / 119.0 + noise * normal(&mut random))).collect();
            drift(&points).unwrap()
        };
        assert!(slope(0.12, 0.01).drifting && (slope(0.12, 0.01).change - 0.113).abs() < 0.02);
        let small = slope(0.03, 0.001);
        assert!(!small.drifting && small.p < 1e-6, "clear, but small: {small:?}");
        let unclear = slope(0.0, 0.5);
        assert!(!unclear.drifting, "{unclear:?}");
    }

    #[test]
    fn noise_alone_is_seldom_drift_or_change() {
        let (mut drifting, mut changed) = (0, 0);
        for seed in 0..400 {
            let points = noisy(60, seed, 0.5, |_| 0.0);
            drifting += u32::from(drift(&points.iter().map(|log| log.exp()).collect::<Vec<_>>()).unwrap().drifting);
            changed += u32::from(segments(&points).len() > 1);
        }
        assert!(drifting <= 20 && changed <= 20, "{drifting} drifting and {changed} changed of 400");
    }

    #[test]
    fn changes_are_found_where_they_are() {
        for seed in 0..50 {
            let points = noisy(90, seed, 0.0, |at| match at {
                0..30 => 0.0,
                30..60 => 0.2,
                _ => -0.1,
            });
            let found = segments(&points);
            assert_eq!(found.len(), 3, "{seed}: {found:?}");
            assert!(found[1].from.abs_diff(30) <= 1 && found[2].from.abs_diff(60) <= 1, "{seed}: {found:?}");
        }
    }

    #[test]
    fn a_run_that_became_slower_says_when_and_by_how_much() {
        let run = sliced(60, 300, 3, |second| if second < 25 { 1.0 } else { 1.5 });
        let stability = stability(&run);
        let [change] = stability.changes[..] else { panic!("{:?}", stability.changes) };
        assert!((24..=26).contains(&(change.at.0 / 1_000_000_000)), "{change:?}");
        assert!((change.change - 0.5).abs() < 0.05 && change.before < change.after, "{change:?}");
        assert!(!stability.throughput.unwrap().drifting);
        let after = super::stability(&run[30..]);
        assert!(after.changes.is_empty() && !after.p50.unwrap().drifting);
    }

    #[test]
    fn nothing_is_said_of_too_little() {
        let stability = stability(&sliced(6, 300, 3, |_| 1.0));
        assert_eq!((stability.p50, stability.changes.len()), (None, 0));
        assert_eq!(super::stability(&[]).throughput, None);
    }

    proptest! {
        #[test]
        fn the_segments_are_those_of_a_full_search(points in prop::collection::vec(prop::sample::select(vec![0.0, 0.01, 0.02, 0.5, 0.51, 0.52]), 10..40)) {
            // The same minimum without dropping any start.
            let variance = noise(&points).powi(2);
            let cost = |from: usize, to: usize| {
                let mean = points[from..to].iter().sum::<f64>() / (to - from) as f64;
                points[from..to].iter().map(|y| (y - mean).powi(2)).sum::<f64>() / variance
            };
            let penalty = PENALTY * (points.len() as f64).ln();
            let mut least = vec![f64::INFINITY; points.len() + 1];
            least[0] = -penalty;
            for to in SEGMENT_MIN..=points.len() {
                for from in 0..=to - SEGMENT_MIN {
                    least[to] = least[to].min(least[from] + cost(from, to) + penalty);
                }
            }
            let found = segments(&points);
            let total = found.iter().map(|segment| cost(segment.from, segment.to) + penalty).sum::<f64>() - penalty;
            prop_assert!((total - least[points.len()]).abs() <= 1e-6 * total.abs().max(1.0), "{} against {}", total, least[points.len()]);
            prop_assert!(found.iter().all(|segment| segment.to - segment.from >= SEGMENT_MIN));
        }
    }
}
