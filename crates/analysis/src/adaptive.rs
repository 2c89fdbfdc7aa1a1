//! The next levels of a sweep, chosen where they say most.
//!
//! A ladder of doublings spends half its trials on the straight part, which two points describe. After a first coarse
//! ladder the next levels go where the answer is still open: beyond the last level while throughput still grows, beyond
//! the peak to see a decline at all (κ rests on nothing else), into the peak itself, and where the band of the fit is
//! widest. Doubling on, the alternative, leaves the peak between two levels, and loads the server with twice what it bears.

use serde::{Deserialize, Serialize};

use crate::curve::{Model, Point, Reading};

/// Why a level was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// Part of the coarse ladder.
    Ladder,
    /// Throughput still grows at the highest level.
    StillGrowing,
    /// A decline shows only past the peak.
    BeyondThePeak,
    /// At the peak, or at the knee of a pool.
    AroundThePeak,
    /// The fit is least sure here.
    LeastSure,
}

/// A level to measure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Next {
    /// Users: a whole number, not measured before.
    pub level: f64,
    /// What it is to show.
    pub why: Why,
}

/// What a sweep may try.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Reach {
    /// The fewest users.
    pub from: f64,
    /// The most users.
    pub to: f64,
}

/// Two levels nearer than this factor tell the same.
const APART: f64 = 1.1;
/// Growth by less than this from one doubling to the next is the end of growth.
const GROWTH: f64 = 1.05;

/// Up to `count` further levels within `reach`, the most telling first. Empty when nothing within reach would say more.
#[must_use]
pub fn next_levels(points: &[Point], reading: &Reading, reach: Reach, count: usize) -> Vec<Next> {
    let mut known: Vec<f64> = points.iter().map(|it| it.level).collect();
    let ceiling = ceiling(points, reading);
    let mut found = Vec::new();
    for wish in wishes(points, reading, reach) {
        let level = wish.level.round().clamp(reach.from.max(1.0).ceil(), reach.to.floor());
        let fresh = known
            .iter()
            .all(|&it| (level / it).max(it / level) >= APART || (level - it).abs() >= 1.0 && it.min(level) < 10.0 && level != it);
        if found.len() < count && fresh && ceiling.is_none_or(|it| level < it) {
            known.push(level);
            found.push(Next { level, why: wish.why });
        }
    }
    found
}

/// From where there is nothing to learn: the second level above all usable ones at which the generator was the limit. One
/// alone may be a hiccup of the machine.
fn ceiling(points: &[Point], reading: &Reading) -> Option<f64> {
    let mut limited: Vec<f64> = points.iter().filter(|it| it.generator_limited).map(|it| it.level).collect();
    limited.retain(|&it| reading.tested().is_none_or(|tested| it > tested));
    limited.sort_by(f64::total_cmp);
    limited.dedup();
    limited.get(1).copied()
}

/// Every level that would say something, the most telling first.
fn wishes(points: &[Point], reading: &Reading, reach: Reach) -> Vec<Next> {
    let wish = |level: f64, why: Why| Next { level, why };
    let mut wishes = Vec::new();
    let mut means: Vec<(f64, f64)> = Vec::new();
    for &level in &reading.levels {
        let here: Vec<f64> = points.iter().filter(|it| it.level == level && !it.generator_limited).map(|it| it.throughput).collect();
        means.push((level, here.iter().sum::<f64>() / here.len().max(1) as f64));
    }
    let ladder = || {
        std::iter::successors(Some(reach.from.max(1.0)), |it| Some(it * 2.0))
            .take_while(|&it| it <= reach.to)
            .map(|it| wish(it, Why::Ladder))
    };
    let Some(&(last, last_mean)) = means.last() else { return ladder().collect() };
    let top = means.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((last, last_mean));
    let grows = means.len() < 2 || last_mean > means[means.len() - 2].1 * GROWTH;
    if grows {
        // The second for when the generator was the limit at the first.
        wishes.extend([2.0, 4.0].map(|it| wish(last * it, Why::StillGrowing)));
    }
    match &reading.model {
        Some(Model::Universal { peak: Some(peak), .. }) => {
            wishes.extend([1.5, 2.0].map(|it| wish(peak.level.value * it, Why::BeyondThePeak)).into_iter().filter(|it| it.level > last));
            wishes.extend([peak.level.value, peak.level.low, peak.level.high].map(|it| wish(it, Why::AroundThePeak)));
        }
        Some(Model::Pool { knee, .. }) => {
            wishes.extend([knee.value, knee.value * 1.25, knee.value * 0.8].map(|it| wish(it, Why::AroundThePeak)));
        }
        _ => {}
    }
    // Two levels beyond the highest seen, or a decline is only a rumour.
    let beyond = means.iter().filter(|it| it.0 > top.0).count();
    if !grows && beyond < 2 {
        wishes.extend([1.5, 2.0, 3.0].map(|it| wish(top.0 * it, Why::BeyondThePeak)));
    }
    wishes.extend([top.0 / 1.4, top.0 * 1.4].map(|it| wish(it, Why::AroundThePeak)));
    wishes.extend(least_sure(reading).into_iter().map(|level| wish(level, Why::LeastSure)));
    if reading.levels.len() < crate::curve::LEVELS_MIN {
        wishes.extend(ladder());
        wishes.extend(means.windows(2).map(|pair| wish((pair[0].0 * pair[1].0).sqrt(), Why::LeastSure)));
    }
    wishes
}

/// The gaps between levels, the one with the widest band in its middle first.
fn least_sure(reading: &Reading) -> Vec<f64> {
    let middles: Vec<f64> = reading.levels.windows(2).map(|pair| (pair[0] * pair[1]).sqrt()).collect();
    let mut bands = reading.band(&middles);
    let width = |it: &crate::curve::Band| (it.throughput.high - it.throughput.low) / it.throughput.value;
    bands.sort_by(|a, b| width(b).total_cmp(&width(a)));
    bands.into_iter().map(|it| it.level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::{read, tests::measured};
    use crate::usl::Usl;

    const REACH: Reach = Reach { from: 1.0, to: 1_000.0 };
    const LAW: Usl = Usl { lambda: 1000.0, sigma: 0.04, kappa: 0.000_4 };

    fn after(curve: impl Fn(f64) -> f64, levels: &[f64], count: usize) -> Vec<Next> {
        let points = measured(curve, levels, 0.01, 3);
        next_levels(&points, &read(&points, 3), REACH, count)
    }

    #[test]
    fn a_sweep_begins_with_a_ladder() {
        let reading = read(&[], 1);
        let levels: Vec<f64> = next_levels(&[], &reading, REACH, 4).iter().map(|it| it.level).collect();
        assert_eq!(levels, [1.0, 2.0, 4.0, 8.0]);
    }

    #[test]
    fn throughput_that_still_grows_is_followed_upwards() {
        let next = after(|n| 10.0 * n, &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0], 1);
        assert_eq!(next, [Next { level: 64.0, why: Why::StillGrowing }]);
    }

    #[test]
    fn a_flattening_curve_is_followed_beyond_its_peak() {
        let next = after(|n| LAW.throughput(n), &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 48.0], 3);
        assert!(next.iter().any(|it| it.why == Why::BeyondThePeak && it.level > 48.0), "{next:?}");
    }

    #[test]
    fn a_known_peak_is_looked_at_closely() {
        let next = after(|n| LAW.throughput(n), &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0], 4);
        assert!(next.iter().any(|it| it.why == Why::AroundThePeak && (40.0..58.0).contains(&it.level)), "{next:?}");
    }

    #[test]
    fn the_knee_of_a_pool_is_looked_at_closely() {
        let next = after(|n| n.min(11.0) * 100.0, &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0], 2);
        assert_eq!(next[0], Next { level: 11.0, why: Why::AroundThePeak });
    }

    #[test]
    fn one_level_that_the_generator_limited_does_not_end_the_climb_and_two_do() {
        let limit = |level| Point { level, throughput: 100.0, generator_limited: true };
        let mut points = measured(|n| 10.0 * n, &[1.0, 2.0, 4.0], 0.01, 3);
        points.push(limit(8.0));
        let next = |points: &[Point]| next_levels(points, &read(points, 3), REACH, 1);
        assert_eq!(next(&points), [Next { level: 16.0, why: Why::StillGrowing }]);
        points.push(limit(16.0));
        assert!(next(&points).iter().all(|it| it.level < 8.0), "{:?}", next(&points));
    }

    #[test]
    fn nothing_is_asked_for_twice_outside_reach_or_above_the_generator() {
        let mut points = measured(|n| LAW.throughput(n), &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0], 0.01, 3);
        points.iter_mut().filter(|it| it.level > 64.0).for_each(|it| it.generator_limited = true);
        let reading = read(&points, 3);
        let next = next_levels(&points, &reading, Reach { from: 2.0, to: 100.0 }, 50);
        assert!(!next.is_empty());
        for it in &next {
            assert!((2.0..=100.0).contains(&it.level) && it.level.fract() == 0.0, "{it:?}");
            assert!(points.iter().all(|known| known.level != it.level), "{it:?}");
        }
        let mut levels: Vec<f64> = next.iter().map(|it| it.level).collect();
        levels.sort_by(f64::total_cmp);
        levels.dedup();
        assert_eq!(levels.len(), next.len());
    }

    #[test]
    fn two_chosen_levels_make_a_hidden_peak_known() {
        // Six doublings end at 32, before the peak at 49.
        let named = |points: &[Point]| matches!(read(points, 7).model, Some(Model::Universal { peak: Some(peak), .. }) if peak.level.low < 49.0 && 49.0 < peak.level.high);
        let (mut before, mut after) = (0, 0);
        for seed in 0..12 {
            let mut points = measured(|n| LAW.throughput(n), &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0], 0.02, seed);
            before += usize::from(named(&points));
            let next = next_levels(&points, &read(&points, 7), REACH, 2);
            let levels: Vec<f64> = next.iter().map(|it| it.level).collect();
            points.extend(measured(|n| LAW.throughput(n), &levels, 0.02, seed + 100));
            after += usize::from(named(&points));
        }
        assert!(after >= 9 && after > before, "{before} {after}");
    }
}
