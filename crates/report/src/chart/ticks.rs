//! Scales and the ticks on them, as pure functions.
//!
//! Ticks chosen by dividing the axis give 0, 8,501.7, 17,003.3; ticks chosen by habit give one label on top of the other
//! at 1 … 50,000. Here a step is one of a few round numbers, both axes of a chart share the same grid lines where they
//! can, an axis over more than some powers of ten is logarithmic, and labels that would touch are left out, the least
//! round first. Turning labels on their side was rejected: nobody reads them.
//!
//! Invariant: ticks are sorted, lie within their scale, and every tick of a scale can be read.

use std::ops::RangeInclusive;

use super::number;

/// How values spread over an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// Equal differences take equal room.
    Linear,
    /// Equal ratios take equal room; only for values above zero.
    Logarithmic,
}

/// A range of values and how they spread over an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    growth: Growth,
    from: f64,
    to: f64,
}

impl Scale {
    /// Equal differences take equal room, from `from` to `to`.
    ///
    /// An empty or reversed range becomes one of width 1 from `from`.
    pub fn linear(from: f64, to: f64) -> Self {
        let to = if to > from { to } else { from + 1.0 };
        Self { growth: Growth::Linear, from, to }
    }

    /// Equal ratios take equal room, from `from` to `to`, both above zero.
    ///
    /// A range that does not reach above zero falls back to a linear one.
    pub(crate) fn logarithmic(from: f64, to: f64) -> Self {
        if from > 0.0 && to > from { Self { growth: Growth::Logarithmic, from, to } } else { Self::linear(from, to) }
    }

    /// How values spread.
    pub fn growth(&self) -> Growth {
        self.growth
    }

    /// The value at the start of the axis.
    pub fn from(&self) -> f64 {
        self.from
    }

    /// The value at the end of the axis.
    pub fn to(&self) -> f64 {
        self.to
    }

    /// Where `value` stands: 0 at the start of the axis, 1 at its end. Values outside are moved to the nearer end.
    pub fn place(&self, value: f64) -> f64 {
        let share = match self.growth {
            Growth::Linear => (value - self.from) / (self.to - self.from),
            Growth::Logarithmic if value > 0.0 => (value / self.from).ln() / (self.to / self.from).ln(),
            Growth::Logarithmic => 0.0,
        };
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }
}

/// A mark on an axis, with or without a label.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Where it stands, in the unit of the axis.
    pub value: f64,
    /// What is written beside it; a tick without one is a short mark.
    pub label: Option<String>,
}

/// Round steps and what each costs: a reader counts in ones, twos and fives, less readily in threes.
const STEPS: [(f64, f64); 9] =
    [(1.0, 0.0), (1.5, 0.28), (2.0, 0.0), (2.5, 0.04), (3.0, 0.28), (4.0, 0.16), (5.0, 0.0), (6.0, 0.35), (8.0, 0.35)];
/// Room kept free beyond the outermost values, as a share of them, for their markers and notes.
const HEADROOM: f64 = 0.09;
/// How many intervals an axis from zero may have.
const INTERVALS: RangeInclusive<u32> = 4..=8;
/// The same for one of little height.
const LOW_INTERVALS: RangeInclusive<u32> = 2..=3;

/// An axis from zero that holds `max` with room above it.
pub fn from_zero(max: f64) -> (Scale, Vec<Tick>) {
    from_zero_in(INTERVALS, max)
}

/// The same for an axis of little height, with fewer ticks.
pub(crate) fn low_from_zero(max: f64) -> (Scale, Vec<Tick>) {
    from_zero_in(LOW_INTERVALS, max)
}

fn from_zero_in(intervals: RangeInclusive<u32>, max: f64) -> (Scale, Vec<Tick>) {
    let fewest = *intervals.start();
    in_steps(max, intervals.min_by(|&a, &b| cost(max, a).total_cmp(&cost(max, b))).unwrap_or(fewest))
}

/// Two axes from zero with the same number of intervals, so that one grid serves both.
pub(crate) fn pair_from_zero(left_max: f64, right_max: f64) -> [(Scale, Vec<Tick>); 2] {
    let both = |intervals| cost(left_max, intervals) + cost(right_max, intervals);
    let intervals = INTERVALS.min_by(|&a, &b| both(a).total_cmp(&both(b))).unwrap_or(5);
    [in_steps(left_max, intervals), in_steps(right_max, intervals)]
}

/// Powers of ten over which labels at 1, 2 and 5 have room: fourteen of them on the height of a chart.
const LABELLED_DECADES_MAX: f64 = 4.5;

/// A logarithmic axis that holds `min` to `max`, both above zero.
///
/// Labels stand at 1, 2 and 5 as long as there is room for them; on a longer axis they stand at the powers of ten.
pub(crate) fn logarithmic(min: f64, max: f64) -> (Scale, Vec<Tick>) {
    let max = max.max(min) * (1.0 + HEADROOM);
    let min = min / (1.0 + HEADROOM);
    let wide = (max / min).log10() > LABELLED_DECADES_MAX;
    let rounds: &[f64] = if wide { &[1.0] } else { &[1.0, 2.0, 5.0] };
    let decade_first = min.log10().floor() as i32 - 1;
    let decade_last = max.log10().ceil() as i32 + 1;
    let round_values = |rounds: &[f64]| -> Vec<f64> {
        (decade_first..=decade_last)
            .flat_map(|decade| rounds.iter().map(move |round| power_of_ten(*round, decade)).collect::<Vec<_>>())
            .collect()
    };
    let ends = round_values(&[1.0, 2.0, 5.0]);
    let labelled = round_values(rounds);
    let from = ends.iter().rev().find(|&&end| end <= min).copied().unwrap_or(min);
    let to = ends.iter().find(|&&end| end >= max).copied().unwrap_or(max);
    let ticks = ends
        .iter()
        .filter(|&&value| value >= from && value <= to)
        .map(|&value| Tick { value, label: labelled.contains(&value).then(|| number::decimal(value, number::decimals_of(value))) })
        .collect();
    (Scale::logarithmic(from, to), ticks)
}

/// Where an axis of percents may start when nothing lies lower, closest to 100 first.
const CUTS: [f64; 10] = [99.99, 99.98, 99.95, 99.9, 99.8, 99.5, 99.0, 98.0, 95.0, 90.0];

/// An axis of percents that holds `min` to 100, and where it is cut when it does not start at zero.
///
/// Between 90 and 100 the lowest value decides how close to 100 the axis starts: a drop to 99.95 % is invisible on an
/// axis from zero. When there is no drop at all there is no detail to show, and the axis starts at zero.
pub(crate) fn percents(min: f64) -> (Scale, Vec<Tick>, Option<f64>) {
    let cut = if (90.0..100.0).contains(&min) {
        CUTS.into_iter().find(|cut| min - cut >= 0.15 * (100.0 - cut)).or(Some(if min >= 91.0 { 90.0 } else { 80.0 }))
    } else {
        None
    };
    let from = cut.unwrap_or(0.0);
    let step = (100.0 - from) / if cut == Some(80.0) { 4.0 } else { 5.0 };
    let decimals = number::decimals_of(step);
    let count = ((100.0 - from) / step).round() as u32;
    let ticks = (0..=count)
        .map(|index| {
            // Counted down from 100, so that the top tick is exactly 100.
            let value = 100.0 - step * f64::from(count - index);
            Tick { value: value.max(from), label: Some(number::decimal(value, decimals)) }
        })
        .collect();
    (Scale::linear(from, 100.0 + 0.04 * (100.0 - from)), ticks, cut)
}

/// Above this ratio of the largest to the smallest measured level an axis of levels is logarithmic.
const LEVELS_LINEAR_RATIO_MAX: f64 = 20.0;
/// Free room at both ends of an axis of levels, as a share of the axis.
const LEVELS_MARGIN: f64 = 0.035;

/// An axis of measured levels (users, or requests a second offered), with a tick at every level, each labelled.
pub fn levels(values: &[f64]) -> (Scale, Vec<Tick>) {
    let mut sorted: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    sorted.dedup();
    let ticks = sorted
        .iter()
        .map(|&value| Tick {
            value,
            label: Some(if value >= 1000.0 && value.fract() != 0.0 {
                number::decimal(value, 0)
            } else {
                number::decimal(value, number::decimals_of(value).min(3))
            }),
        })
        .collect();
    let (first, last) = match (sorted.first(), sorted.last()) {
        (Some(&first), Some(&last)) => (first, last),
        _ => return (Scale::linear(0.0, 1.0), Vec::new()),
    };
    let scale = if first == last {
        // One level stands in the middle.
        let around = (first.abs() / 2.0).max(0.5);
        Scale::linear(first - around, first + around)
    } else if first > 0.0 && last / first > LEVELS_LINEAR_RATIO_MAX {
        let margin = (last / first).powf(LEVELS_MARGIN);
        Scale::logarithmic(first / margin, last * margin)
    } else {
        let margin = (last - first) * LEVELS_MARGIN;
        Scale::linear(first - margin, last + margin)
    };
    (scale, ticks)
}

/// The same ticks, with labels taken away so that no two come closer than `gap`.
///
/// `place` says where a value stands and `width` how wide its label is, both in the same unit. The last and the first
/// label are kept before any other, then the roundest.
pub fn thinned(ticks: &[Tick], place: impl Fn(f64) -> f64, width: impl Fn(&str) -> f64, gap: f64) -> Vec<Tick> {
    let mut order: Vec<usize> = (0..ticks.len()).filter(|&i| ticks[i].label.is_some()).collect();
    let ends = [order.last().copied(), order.first().copied()];
    order.sort_by_key(|&index| {
        let end = ends.iter().position(|&end| end == Some(index));
        (end.unwrap_or(ends.len()), roundness(ticks[index].value), index)
    });
    let mut taken: Vec<(f64, f64)> = Vec::new();
    let mut kept = vec![false; ticks.len()];
    for index in order {
        let Some(label) = &ticks[index].label else {
            continue;
        };
        let centre = place(ticks[index].value);
        let half = width(label) / 2.0;
        let span = (centre - half, centre + half);
        if taken.iter().all(|other| span.1 + gap <= other.0 || other.1 + gap <= span.0) {
            taken.push(span);
            kept[index] = true;
        }
    }
    ticks.iter().zip(kept).map(|(tick, kept)| Tick { value: tick.value, label: tick.label.clone().filter(|_| kept) }).collect()
}

/// The axis from zero with this many intervals.
fn in_steps(max: f64, intervals: u32) -> (Scale, Vec<Tick>) {
    let (step, _) = step_for(max, intervals);
    let decimals = number::decimals_of(step);
    let ticks = (0..=intervals)
        .map(|index| {
            let value = step * f64::from(index);
            Tick { value, label: Some(number::decimal(value, if index == 0 { 0 } else { decimals })) }
        })
        .collect();
    (Scale::linear(0.0, step * f64::from(intervals)), ticks)
}

/// The step with which this many intervals reach above `max` at the least cost, and that cost.
///
/// The cost is how far the axis is from what a reader wants: little empty room, round steps, about five of them.
fn step_for(max: f64, intervals: u32) -> (f64, f64) {
    let max = if max > 0.0 && max.is_finite() { max } else { 1.0 };
    let count = f64::from(intervals);
    let least = max * (1.0 + HEADROOM) / count;
    let decade = least.log10().floor() as i32;
    [decade - 1, decade, decade + 1]
        .into_iter()
        .flat_map(|decade| STEPS.map(|(step, ugliness)| (power_of_ten(step, decade), ugliness)))
        .filter(|(step, _)| *step >= least)
        .map(|(step, ugliness)| (step, 1.0 - max / (step * count) + ugliness))
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map_or((least, 1.0), |(step, cost)| (step, cost + 0.03 * f64::from(intervals.abs_diff(5))))
}

/// What [`step_for`] costs.
fn cost(max: f64, intervals: u32) -> f64 {
    step_for(max, intervals).1
}

/// `round` × 10^`decade`, by division below one so that 5 × 10⁻² is the double nearest to 0.05.
fn power_of_ten(round: f64, decade: i32) -> f64 {
    if decade < 0 { round / 10f64.powi(-decade) } else { round * 10f64.powi(decade) }
}

/// How readily a label is given up, 0 last: powers of ten, then 5, 2, other single digits and quarters, then longer
/// numbers.
fn roundness(value: f64) -> u32 {
    let digits = format!("{:e}", value.abs());
    let digits = digits.split('e').next().unwrap_or_default().replace('.', "");
    match digits.as_str() {
        "1" => 0,
        "5" => 1,
        "2" => 2,
        "15" | "25" | "75" => 3,
        longer => 2 + longer.len() as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().filter_map(|tick| tick.label.as_deref()).collect()
    }

    #[test]
    fn an_axis_from_zero_counts_in_round_steps() {
        let (scale, ticks) = from_zero(51_010.0);
        assert_eq!(labels(&ticks), ["0", "10,000", "20,000", "30,000", "40,000", "50,000", "60,000"]);
        assert_eq!(scale.to(), 60_000.0);
        assert_eq!(labels(&from_zero(0.3).1)[..3], ["0", "0.05", "0.10"]);
    }

    #[test]
    fn an_axis_of_little_height_has_few_labels() {
        assert_eq!(labels(&low_from_zero(10_202.0).1), ["0", "4,000", "8,000", "12,000"]);
        for max in [0.0, 0.004, 9.65, 118.0, 2_500.0, f64::NAN] {
            let (scale, ticks) = low_from_zero(max);
            assert!((3..=4).contains(&ticks.len()) && scale.from() == 0.0 && (max.is_nan() || scale.to() > max), "{max}");
        }
    }

    #[test]
    fn an_axis_without_any_value_still_has_ticks() {
        for nothing in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let (scale, ticks) = from_zero(nothing);
            assert_eq!(scale.from(), 0.0);
            assert!(scale.to() >= 1.0 && ticks.len() > 3);
        }
    }

    #[test]
    fn a_logarithmic_axis_labels_powers_of_ten_when_it_is_long() {
        let (scale, ticks) = logarithmic(0.05, 60_000.0);
        assert_eq!(labels(&ticks), ["0.1", "1", "10", "100", "1,000", "10,000", "100,000"]);
        assert_eq!((scale.from(), scale.to()), (0.02, 100_000.0));
        assert_eq!(labels(&logarithmic(1.1, 80.0).1), ["1", "2", "5", "10", "20", "50", "100"]);
    }

    #[test]
    fn percents_are_cut_only_where_that_shows_something_and_say_so() {
        assert_eq!(percents(100.0).2, None);
        assert_eq!(percents(89.9).2, None);
        assert_eq!(percents(99.97).2, Some(99.95));
        assert_eq!(percents(97.0).2, Some(95.0));
        assert_eq!(percents(90.5).2, Some(80.0));
        assert_eq!(labels(&percents(97.0).1), ["95", "96", "97", "98", "99", "100"]);
        assert_eq!(labels(&percents(0.0).1), ["0", "20", "40", "60", "80", "100"]);
    }

    #[test]
    fn levels_over_a_wide_range_stand_on_a_logarithmic_axis() {
        assert_eq!(levels(&[1.0, 50_000.0]).0.growth(), Growth::Logarithmic);
        assert_eq!(levels(&[100.0, 1_000.0]).0.growth(), Growth::Linear);
        assert_eq!(levels(&[0.0, 1_000.0]).0.growth(), Growth::Linear);
        let (scale, ticks) = levels(&[200.0]);
        assert!((scale.place(200.0) - 0.5).abs() < 1e-9);
        assert_eq!(labels(&ticks), ["200"]);
    }

    #[test]
    fn crowded_labels_give_way_to_rounder_ones() {
        let (scale, ticks) = levels(&[9_000.0, 10_000.0, 11_000.0, 500_000.0]);
        let kept = thinned(&ticks, |value| scale.place(value) * 400.0, |label| label.len() as f64 * 2.0, 4.0);
        assert_eq!(labels(&kept), ["9,000", "11,000", "500,000"]);
        let kept = thinned(&ticks, |value| scale.place(value) * 10.0, |label| label.len() as f64 * 2.0, 4.0);
        assert_eq!(labels(&kept), ["500,000"]);
    }

    fn check(scale: Scale, ticks: &[Tick]) -> Result<(), TestCaseError> {
        prop_assert!(scale.from().is_finite() && scale.to().is_finite());
        prop_assert!(labels(ticks).len() >= 2);
        for tick in ticks {
            prop_assert!(tick.value >= scale.from() && tick.value <= scale.to());
        }
        for pair in ticks.windows(2) {
            prop_assert!(pair[0].value < pair[1].value);
        }
        let mut distinct = labels(ticks);
        distinct.dedup();
        prop_assert_eq!(distinct.len(), labels(ticks).len(), "two ticks read alike");
        Ok(())
    }

    proptest! {
        #[test]
        fn ticks_from_zero_are_sorted_within_range_and_hold_the_value(exponent in -4.0f64..12.0) {
            let max = 10f64.powf(exponent);
            let (scale, ticks) = from_zero(max);
            check(scale, &ticks)?;
            prop_assert!(scale.to() > max && scale.to() < 3.0 * max);
        }

        #[test]
        fn paired_axes_share_their_grid(left in -3.0f64..9.0, right in -3.0f64..9.0) {
            let [(a, a_ticks), (b, b_ticks)] = pair_from_zero(10f64.powf(left), 10f64.powf(right));
            check(a, &a_ticks)?;
            check(b, &b_ticks)?;
            prop_assert_eq!(a_ticks.len(), b_ticks.len());
            for (left, right) in a_ticks.iter().zip(&b_ticks) {
                prop_assert!((a.place(left.value) - b.place(right.value)).abs() < 1e-9);
            }
        }

        #[test]
        fn logarithmic_ticks_are_sorted_and_hold_both_ends(low in -3.0f64..4.0, span in 1.7f64..7.0) {
            let (min, max) = (10f64.powf(low), 10f64.powf(low + span));
            let (scale, ticks) = logarithmic(min, max);
            check(scale, &ticks)?;
            prop_assert!(scale.from() <= min && scale.to() >= max);
        }

        #[test]
        fn percents_always_hold_the_lowest_value(min in 0.0f64..=100.0) {
            let (scale, ticks, cut) = percents(min);
            check(scale, &ticks)?;
            prop_assert!(scale.from() <= min);
            prop_assert_eq!(cut.is_some(), scale.from() > 0.0);
        }

        #[test]
        fn kept_labels_never_touch(
            values in proptest::collection::vec(1u32..60_000, 1..60),
            pixels in 50.0f64..2_000.0,
        ) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let (scale, ticks) = levels(&values);
            let place = |value| scale.place(value) * pixels;
            let width = |label: &str| label.len() as f64 * 8.0;
            let kept = thinned(&ticks, place, width, 12.0);
            prop_assert_eq!(kept.len(), ticks.len());
            let spans: Vec<(f64, f64)> = kept
                .iter()
                .filter_map(|tick| tick.label.as_ref().map(|label| (place(tick.value), width(label))))
                .collect();
            prop_assert!(!spans.is_empty());
            for pair in spans.windows(2) {
                prop_assert!(pair[1].0 - pair[1].1 / 2.0 >= pair[0].0 + pair[0].1 / 2.0 + 12.0 - 1e-9);
            }
        }
    }
}
