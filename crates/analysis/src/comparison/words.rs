//! What a comparison comes to, in sentences: the verdict first, then where in the distribution the change is.
//!
//! A p99 that is a third worse sends people to the profiler, and a p99 that is a third worse while the median stands still
//! should send them to the garbage collector's log. The percentiles tell the two apart, so the reading is theirs: alike in all
//! is slower code, in the tail alone is waiting.

use std::collections::BTreeMap;

use super::Comparison;
use crate::compare::{Direction, Distance, Metric, PAIRS_MIN, QuantileShift, Verdict};
use crate::interval::Interval;
use crate::quantity::{bytes, counted, percent, signed, tenths, time};

/// Percentiles whose changes lie within this factor of each other (as logarithms) moved alike.
const ALIKE: f64 = 2.0;

/// The sentences.
#[must_use]
pub fn reading(comparison: &Comparison) -> Vec<String> {
    let mut said = vec![answer(comparison)];
    if let Some(why) = &comparison.stopped {
        said.push(format!("Stopped: {why}."));
    }
    said.extend(unlike(comparison));
    if comparison.sound().count() >= PAIRS_MIN {
        said.extend(place(&comparison.shifts));
        said.extend(comparison.distance.as_ref().map(apart));
        if let Some(calibration) = comparison.calibration.as_ref().filter(|calibration| !calibration.is_sound()) {
            said.push(format!(
                "Take it with care: when this target was compared with itself, {} % of the comparisons raised a false alarm.",
                percent(calibration.false_alarms().value() * 100.0)
            ));
        }
    }
    said
}

/// That the sides do not answer alike, where they do not: then it is not the same work that is compared (docs/measurement.md §3.9).
fn unlike(comparison: &Comparison) -> Option<String> {
    let mut sides = [(BTreeMap::<u16, u64>::new(), 0u64, 0u64), (BTreeMap::new(), 0, 0)];
    for pair in comparison.sound() {
        for ((statuses, answers, received), run) in sides.iter_mut().zip([&pair.a, &pair.b]) {
            for (status, count) in &run.status {
                *statuses.entry(*status).or_default() += count;
            }
            *answers += run.status.values().sum::<u64>() + run.excluded.requests;
            *received += run.bytes.received;
        }
    }
    let [(from, from_answers, from_bytes), (to, to_answers, to_bytes)] = sides;
    if from_answers == 0 || to_answers == 0 {
        return None;
    }
    let share = |statuses: &BTreeMap<u16, u64>, status: u16| {
        statuses.get(&status).copied().unwrap_or(0) as f64 / statuses.values().sum::<u64>().max(1) as f64
    };
    let mut statuses: Vec<u16> = from.keys().chain(to.keys()).copied().collect();
    statuses.sort_unstable();
    statuses.dedup();
    let mixed = statuses.into_iter().find(|status| (share(&from, *status) - share(&to, *status)).abs() > UNLIKE);
    let [small, large] = [from_bytes as f64 / from_answers as f64, to_bytes as f64 / to_answers as f64];
    let mut said = Vec::new();
    if let Some(status) = mixed {
        let percent_of = |statuses| tenths(share(statuses, status));
        said.push(format!("{} % of A's and {} % of B's answers have the status {status}", percent_of(&from), percent_of(&to)));
    }
    if (large / small.max(1.0) - 1.0).abs() > UNLIKE {
        said.push(format!("an answer of A has {} and one of B {} on average", bytes(small.round()), bytes(large.round())));
    }
    (!said.is_empty()).then(|| format!("The two do not answer alike: {}. It may not be the same work that is comparison.", said.join("; ")))
}

/// Answers that differ by less are the same answers.
const UNLIKE: f64 = 0.01;

/// The verdict on the whole.
fn answer(comparison: &Comparison) -> String {
    let sound = comparison.sound().count();
    let Some(verdict) = comparison.verdict() else {
        let left_out = comparison.pairs.len() - sound;
        let limited = if left_out > 0 {
            format!(" ({} left out, because {})", counted(left_out as u64, "pair"), first_cause(comparison))
        } else {
            String::new()
        };
        return format!(
            "No verdict: that takes at least {PAIRS_MIN} pairs, and here {} {sound}{limited}.",
            if sound == 1 { "is" } else { "are" }
        );
    };
    let changes = || comparison.verdicts.iter().flat_map(|verdicts| &verdicts.changes).filter(|change| change.metric.is_primary());
    let listed = |wanted: Verdict| {
        let named: Vec<String> = changes()
            .filter(|change| change.verdict == wanted)
            .map(|change| match change.metric {
                Metric::FailureShare => format!("failures {} points", signed(change.estimate)),
                metric => format!("{metric} {} %", signed(change.estimate)),
            })
            .collect();
        named.join(", ")
    };
    match verdict {
        Verdict::Worse => {
            let also = listed(Verdict::Better);
            let but = if also.is_empty() { String::new() } else { format!(" Better: {also}.") };
            format!("B is worse: {}.{but}", listed(Verdict::Worse))
        }
        Verdict::Better => format!("B is better: {}.", listed(Verdict::Better)),
        Verdict::SameWithin { margin } => {
            format!("B is the same as A, to within {} % in every figure that decides.", percent(margin * 100.0))
        }
        Verdict::CannotTell { about_more_pairs, changed } => {
            let more = counted(about_more_pairs.into(), "more pair");
            let sure = listed(Verdict::Better);
            let sure = if sure.is_empty() { String::new() } else { format!(" Surely better: {sure}.") };
            let doubt = match changed {
                Some(direction) => format!(
                    "Cannot tell: B is {}, but perhaps by less than matters. About {more} would tell.",
                    if direction == Direction::Worse { "worse" } else { "better" }
                ),
                None if changes().any(|change| {
                    let beyond = |interval: Interval| interval.low > change.margin || interval.high < -change.margin;
                    matches!(change.verdict, Verdict::CannotTell { .. }) && change.interval.is_some_and(beyond)
                }) =>
                {
                    format!(
                        "Cannot tell yet: the change is large, but over all figures that decide so few pairs do not rule out chance. About \
                         {more} would tell."
                    )
                }
                None => format!(
                    "Cannot tell: the difference is neither surely more nor surely less than what matters. About {more} would tell."
                ),
            };
            doubt + &sure
        }
    }
}

/// How far apart all response times are: how often B's is the longer, and where the gap between the two sides is widest.
#[must_use]
pub fn apart(distance: &Distance) -> String {
    let surely = distance.slower_share_interval.map_or_else(String::new, |it| format!("{} … {}; ", tenths(it.low), tenths(it.high)));
    let mut said = format!(
        "Of one request to each side, that to B takes longer in {} % of draws ({surely}50 % is no difference).",
        tenths(distance.slower_share)
    );
    if distance.gap >= GAP_WORTH_SAYING {
        said += &format!(
            " They are furthest apart at {}: {} % of A's requests and {} % of B's were answered by then",
            time(distance.gap_at_ns.0 as f64),
            tenths(distance.answered_a),
            tenths(distance.answered_b)
        );
        // Exchanging the sides of fewer pairs cannot show that a gap is rare.
        if distance.pairs > PAIRS_MIN {
            said += &match distance.p {
                p if p <= 0.05 => {
                    format!(", a gap that chance alone makes in {} % of comparisons", percent((p * 1e3).round().max(1.0) / 10.0))
                }
                _ => ", a gap that chance alone often makes".to_owned(),
            };
        }
        said.push('.');
    }
    said
}

/// A narrower gap between two distributions is none.
const GAP_WORTH_SAYING: f64 = 0.02;

fn first_cause(comparison: &Comparison) -> &str {
    comparison.pairs.iter().find_map(|pair| pair.left_out.as_deref()).unwrap_or("they say nothing about the server")
}

/// Where in the distribution the change is; nothing where nothing moved that could be told.
pub(super) fn place(shifts: &[QuantileShift]) -> Option<String> {
    let moved = |shift: &&QuantileShift| {
        let matters = if shift.q < 0.95 {
            Metric::P50.margin()
        } else if shift.q < 0.999 {
            Metric::P99.margin()
        } else {
            Metric::P999.margin()
        };
        !shift.interval.contains(0.0) && shift.change.abs() > matters
    };
    let bulk: Vec<&QuantileShift> = shifts.iter().filter(|shift| shift.q < 0.9).filter(moved).collect();
    let tail: Vec<&QuantileShift> = shifts.iter().filter(|shift| shift.q >= 0.9).filter(moved).collect();
    let name = |q: f64| format!("{}th percentile", percent(q * 100.0));
    let most = |of: &[&QuantileShift]| {
        of.iter().map(|shift| shift.change).fold(0.0f64, |most, change| if change.abs() > most.abs() { change } else { most })
    };
    let way = |change: f64| if change > 0.0 { "slower" } else { "faster" };
    let tail_known = shifts.iter().any(|shift| shift.q >= 0.95);
    // Where others may have moved as much, it is not known that they did not.
    let may_be = |change: f64, is_of: fn(f64) -> bool| shifts.iter().any(|shift| is_of(shift.q) && shift.interval.contains(change));
    match (bulk.is_empty(), tail.is_empty()) {
        (true, true) => None,
        (true, false) if may_be(most(&tail), |q| q < 0.9) => {
            Some(format!("The tail is {}, from the {} on; whether typical requests are is not known.", way(most(&tail)), name(tail[0].q)))
        }
        (true, false) => Some(format!(
            "Only the tail is {}: from the {} on, by up to {} %; think of garbage collection, queues, locks or a slow dependency, not of \
             {} code.",
            way(most(&tail)),
            name(tail[0].q),
            percent((most(&tail) * 100.0).abs().round()),
            way(most(&tail))
        )),
        (false, true) if tail_known && may_be(most(&bulk), |q| q >= 0.9) => Some(format!(
            "Typical requests are {}, by {} %; whether the slowest ones are is not known.",
            way(most(&bulk)),
            percent((most(&bulk) * 100.0).abs().round())
        )),
        (false, true) if tail_known => Some(format!(
            "Typical requests are {}, by {} %, and the slowest ones are as they were: think of the code that most requests run, not of \
             what holds a few of them up.",
            way(most(&bulk)),
            percent((most(&bulk) * 100.0).abs().round())
        )),
        _ if most(&bulk).signum() != most(&tail).signum() && !tail.is_empty() => Some(format!(
            "Typical requests are {} and the slowest ones are {}: one was paid for with the other.",
            way(most(&bulk)),
            way(most(&tail))
        )),
        _ => {
            let all: Vec<f64> = bulk.iter().chain(&tail).map(|shift| shift.change.ln_1p().abs()).collect();
            let (least, greatest) =
                all.iter().fold((f64::INFINITY, 0.0f64), |(least, greatest), size| (least.min(*size), greatest.max(*size)));
            let median = bulk[0].change;
            // Where it is not sure that a percentile moved, it may have moved like the others.
            let fits = |shift: &QuantileShift| moved(&shift) || shift.interval.contains(median);
            if greatest <= ALIKE * least && shifts.iter().all(fits) {
                Some(format!(
                    "All percentiles moved alike, by {} to {} %: think of {} code, more or less work for every request.",
                    signed(least_change(&bulk, &tail)),
                    signed(greatest_change(&bulk, &tail)),
                    way(median)
                ))
            } else if most(&tail).abs() > most(&bulk).abs() {
                Some(format!(
                    "All of it is {}, and the tail most ({} % at the median, up to {} % in the tail): think of more work a request and \
                     of the queue that grows with it.",
                    way(median),
                    signed(median),
                    signed(most(&tail))
                ))
            } else {
                Some(format!(
                    "Typical requests moved most ({} % at the median, {} % in the tail): think of the code that every request runs; what \
                     holds a few of them up stayed.",
                    signed(median),
                    signed(most(&tail))
                ))
            }
        }
    }
}

fn least_change(bulk: &[&QuantileShift], tail: &[&QuantileShift]) -> f64 {
    bulk.iter().chain(tail).map(|shift| shift.change).min_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(0.0)
}

fn greatest_change(bulk: &[&QuantileShift], tail: &[&QuantileShift]) -> f64 {
    bulk.iter().chain(tail).map(|shift| shift.change).max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Nanos;

    /// Changes at 50, 90, 95 and 99 %, each sure to so much.
    fn said_within(changes: [f64; 4], sure: [f64; 4]) -> String {
        let shifts: Vec<QuantileShift> = [0.5, 0.9, 0.95, 0.99]
            .into_iter()
            .zip(changes)
            .zip(sure)
            .map(|((q, change), sure)| QuantileShift { q, change, interval: Interval { low: change - sure, high: change + sure } })
            .collect();
        place(&shifts).unwrap_or_default()
    }

    /// Each sure to a point.
    fn said(changes: [f64; 4]) -> String {
        said_within(changes, [0.01; 4])
    }

    #[test]
    fn what_may_have_moved_as_much_is_not_said_to_be_as_it_was() {
        let text = said_within([0.16, 0.15, 0.3, 0.35], [0.2, 0.2, 0.1, 0.1]);
        assert_eq!(text, "The tail is slower, from the 95th percentile on; whether typical requests are is not known.");
        let text = said_within([-0.1, -0.1, 0.0, -0.05], [0.01, 0.2, 0.2, 0.2]);
        assert_eq!(text, "Typical requests are faster, by 10 %; whether the slowest ones are is not known.");
    }

    #[test]
    fn how_far_apart_two_sides_are_is_said_in_words() {
        let wide = Distance {
            slower_share: 0.834,
            slower_share_interval: Some(Interval { low: 0.81, high: 0.852 }),
            gap: 0.28,
            gap_at_ns: Nanos::from_millis(12),
            answered_a: 0.4,
            answered_b: 0.12,
            p: 0.002,
            pairs: 10,
        };
        assert_eq!(
            apart(&wide),
            "Of one request to each side, that to B takes longer in 83.4 % of draws (81 … 85.2; 50 % is no difference). They are furthest \
             apart at 12.0 ms: 40 % of A's requests and 12 % of B's were answered by then, a gap that chance alone makes in 0.2 % of comparisons."
        );
        let once = Distance { slower_share_interval: None, p: 1.0, pairs: 1, ..wide };
        assert!(apart(&once).ends_with("of draws (50 % is no difference). They are furthest apart at 12.0 ms: 40 % of A's requests and 12 % of B's were answered by then."));
        assert!(apart(&Distance { p: 0.4, ..wide }).ends_with("a gap that chance alone often makes."));
        assert!(apart(&Distance { gap: 0.01, ..wide }).ends_with("50 % is no difference)."));
    }

    #[test]
    fn the_shape_of_a_change_says_where_to_look() {
        for (changes, part) in [
            ([0.0, 0.0, 0.0, 0.0], ""),
            ([0.2, 0.21, 0.19, 0.22], "All percentiles moved alike, by +19 to +22 %: think of slower code"),
            ([-0.2, -0.21, -0.19, -0.22], "think of faster code"),
            ([0.0, 0.0, 0.3, 0.35], "Only the tail is slower: from the 95th percentile on, by up to 35 %"),
            ([0.1, 0.1, 0.0, 0.0], "the tail"),
            ([-0.2, -0.1, 0.3, 0.4], "one was paid for with the other"),
            ([0.1, 0.3, 0.6, 1.5], "and the tail most (+10 % at the median, up to +150 % in the tail)"),
        ] {
            let text = said(changes);
            assert!(text.contains(part) && text.is_empty() == part.is_empty(), "{changes:?}: {text}");
        }
    }
}
