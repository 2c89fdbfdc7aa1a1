//! When climbing a ladder pays no more.
//!
//! Ten levels of ten seconds are two minutes; the last five often only show a server that has given up, and load that it
//! cannot carry may hurt what runs beside it. So a climb ends by one of three rules, each judged on finished levels only:
//!
//! * **failing**: more than half of the requests of a level did not succeed, and its QPS is below an earlier one's (or two
//!   levels in a row fail so, if none ever did well),
//! * **past the peak**: for two levels in a row QPS was more than 30 % under the highest,
//! * **nothing gained**: for three levels in a row QPS was not 2 % above the highest before them, while requests came to
//!   take at least twice as long; but not before the sixth level, since fewer carry no model of the curve.
//!
//! A single bad level never ends a climb unless it fails: a pause of the machine or a cold cache would look the same. So
//! the highest level has always been confirmed by at least one that was lower.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::LevelRow;
use crate::gate::AbortRule;
use crate::quantity::{figure, percent};

/// A level that succeeds less than this, in percent, is failing.
const SUCCESS_PERCENT_MIN: f64 = 50.0;
/// Below this share of the highest QPS a level is past the peak.
const PEAK_SHARE_MIN: f64 = 0.7;
/// So many levels in a row below it end the climb.
const PAST_PEAK_LEVELS: usize = 2;
/// QPS above the highest before by less than this factor is no gain: noise between runs on one machine is about as large.
const GAIN_MIN: f64 = 1.02;
/// So many levels in a row without gain end the climb.
const NO_GAIN_LEVELS: usize = 3;
/// Without gain, requests that take so many times as long show that more users only stand in line.
const TTLB_RATIO: f64 = 2.0;

/// Why a sweep ended before its last level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopRule {
    /// More than half of the requests did not succeed.
    Failing,
    /// QPS fell far below the highest, twice.
    PastThePeak,
    /// QPS rose no more, while requests took longer.
    NothingGained,
    /// The user ended it.
    Interrupted,
    /// A condition came true that the user had set for it.
    Aborted,
    /// A level could not be measured.
    CutShort,
    /// The program was killed, or lost its power.
    Killed,
}

/// The rule that ended a sweep, and what it saw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopReason {
    /// Which rule.
    pub rule: StopRule,
    /// What it saw, in words that complete "stopped: …".
    pub words: String,
}

impl StopReason {
    /// The user ended the sweep.
    #[must_use]
    pub fn interrupted() -> Self {
        Self { rule: StopRule::Interrupted, words: "interrupted".to_owned() }
    }

    /// A condition of the user came true at this load.
    #[must_use]
    pub fn aborted(rule: &AbortRule, load: &str) -> Self {
        Self { rule: StopRule::Aborted, words: format!("'{rule}' came true at {load}") }
    }

    /// A level could not be measured, for the reason given.
    #[must_use]
    pub fn cut_short(reason: &str) -> Self {
        Self { rule: StopRule::CutShort, words: format!("the next level could not be measured: {reason}") }
    }

    /// The program was killed in the middle of it.
    #[must_use]
    pub fn killed() -> Self {
        Self { rule: StopRule::Killed, words: "loadline was ended from outside".to_owned() }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rule {
            StopRule::Interrupted | StopRule::Aborted | StopRule::CutShort | StopRule::Killed => write!(f, "stopped: {}", self.words),
            _ => write!(f, "stopped: {} (--all-levels goes on)", self.words),
        }
    }
}

/// Whether to climb no further after these levels, lowest first.
#[must_use]
pub fn stop(rows: &[LevelRow]) -> Option<StopReason> {
    let stopped = |rule, words| Some(StopReason { rule, words });
    let (last, before) = rows.split_last()?;
    let previous = before.last()?;
    let best = before.iter().max_by(|a, b| a.qps.total_cmp(&b.qps))?;

    let failing = |row: &LevelRow| row.success_percent < SUCCESS_PERCENT_MIN;
    if failing(last) && (failing(previous) || last.qps < best.qps) {
        let words = match last.success_percent {
            0.0 => format!("at {} no request succeeded", last.level),
            some => format!("at {} {} % of requests failed", last.level, percent(100.0 - some)),
        };
        return stopped(StopRule::Failing, words);
    }

    let low = |row: &LevelRow| row.qps < best.qps * PEAK_SHARE_MIN;
    if best.qps > 0.0 && rows.len() > PAST_PEAK_LEVELS && rows.iter().rev().take(PAST_PEAK_LEVELS).all(low) {
        return stopped(
            StopRule::PastThePeak,
            format!(
                "at {} QPS was {:.0} % under the highest, and low at the level before too",
                last.level,
                (1.0 - last.qps / best.qps) * 100.0
            ),
        );
    }

    if rows.len() < crate::curve::LEVELS_MIN {
        return None;
    }
    let (earlier, recent) = rows.split_at(rows.len().checked_sub(NO_GAIN_LEVELS)?);
    let top = earlier.iter().max_by(|a, b| a.qps.total_cmp(&b.qps))?;
    let (then, now) = top.ttlb_mean_ns.zip(last.ttlb_mean_ns)?;
    if recent.iter().all(|row| row.qps < top.qps * GAIN_MIN) && now >= then * TTLB_RATIO {
        return stopped(
            StopRule::NothingGained,
            format!(
                "three levels gained nothing over the {} requests a second at {}, while requests came to take {} times as long",
                figure(top.qps.round()),
                top.level,
                figure(now / then)
            ),
        );
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::tests::row;
    use proptest::prelude::*;

    /// The number of levels after which a climb over these ends, and by which rule.
    fn climbed(rows: &[LevelRow]) -> (usize, Option<StopRule>) {
        (1..=rows.len()).find_map(|count| stop(&rows[..count]).map(|stopped| (count, Some(stopped.rule)))).unwrap_or((rows.len(), None))
    }

    #[test]
    fn a_server_that_keeps_up_is_climbed_to_the_end() {
        let rows: Vec<_> = [1, 2, 5, 10, 20, 50].map(|users| row(users, f64::from(users) * 1_000.0, 1.0, 100.0)).to_vec();
        assert_eq!(climbed(&rows), (6, None));
    }

    #[test]
    fn a_saturated_server_is_left_after_three_levels_without_gain() {
        let rows = [
            row(1, 9_000.0, 0.1, 100.0),
            row(10, 50_000.0, 0.2, 100.0),
            row(20, 50_400.0, 0.4, 100.0),
            row(50, 50_200.0, 1.0, 100.0),
            row(100, 49_900.0, 2.0, 100.0),
            row(200, 50_000.0, 4.0, 100.0),
        ];
        assert_eq!(climbed(&rows), (6, Some(StopRule::NothingGained)));
        assert_eq!(
            stop(&rows).unwrap().to_string(),
            "stopped: three levels gained nothing over the 50,400 requests a second at 20 users, while requests came to take 10 times as \
             long (--all-levels goes on)"
        );
    }

    #[test]
    fn slow_gains_are_gains() {
        let rows: Vec<_> = (1..10).map(|k| row(k * 10, 50_000.0 * 1.025f64.powi(k as i32), f64::from(k), 100.0)).collect();
        assert_eq!(climbed(&rows), (9, None));
    }

    #[test]
    fn flat_throughput_at_flat_times_is_climbed_further() {
        // Users who pause a lot: more of them cost nothing yet, and the limit was not seen.
        let rows: Vec<_> = (1..8).map(|k| row(k, 1_000.0, 1.0, 100.0)).collect();
        assert_eq!(climbed(&rows), (7, None));
    }

    #[test]
    fn a_server_that_falls_over_is_left_after_two_low_levels() {
        let rows = [
            row(100, 50_000.0, 2.0, 100.0),
            row(200, 30_000.0, 7.0, 100.0),
            row(500, 28_000.0, 18.0, 100.0),
            row(1_000, 20_000.0, 50.0, 100.0),
        ];
        assert_eq!(climbed(&rows), (3, Some(StopRule::PastThePeak)));
        assert_eq!(stop(&rows[..3]).unwrap().words, "at 500 users QPS was 44 % under the highest, and low at the level before too");
    }

    #[test]
    fn one_bad_level_is_forgiven() {
        let rows =
            [row(10, 50_000.0, 0.2, 100.0), row(20, 20_000.0, 1.0, 100.0), row(50, 60_000.0, 0.8, 100.0), row(100, 61_300.0, 1.6, 100.0)];
        assert_eq!(climbed(&rows), (4, None));
    }

    #[test]
    fn a_level_that_mostly_fails_ends_the_climb_at_once() {
        let rows = [row(100, 50_000.0, 2.0, 100.0), row(200, 51_000.0, 4.0, 99.0), row(500, 12_000.0, 30.0, 38.0)];
        assert_eq!(climbed(&rows), (3, Some(StopRule::Failing)));
        assert_eq!(stop(&rows).unwrap().words, "at 500 users 62 % of requests failed");
    }

    #[test]
    fn a_server_that_never_did_well_is_tried_twice() {
        let rows = [row(1, 0.0, 30_000.0, 0.0), row(2, 0.0, 30_000.0, 0.0), row(5, 0.0, 30_000.0, 0.0)];
        assert_eq!(climbed(&rows), (2, Some(StopRule::Failing)));
    }

    #[test]
    fn an_interrupted_sweep_does_not_name_a_setting_that_would_not_help() {
        assert_eq!(StopReason::interrupted().to_string(), "stopped: interrupted");
    }

    proptest! {
        #[test]
        fn the_last_level_of_a_climb_is_never_its_highest_unless_it_fails(
            drawn in prop::collection::vec((1.0..100_000.0f64, 0.1..1000.0f64, 0.0..100.0f64), 0..12)
        ) {
            let rows: Vec<_> = drawn.iter().zip(1..).map(|((qps, ttlb, success), users)| row(users, *qps, *ttlb, *success)).collect();
            if let Some(stopped) = stop(&rows) {
                let last = rows.last().unwrap();
                let beaten = rows.iter().any(|row| row.qps * GAIN_MIN > last.qps && row.level != last.level);
                prop_assert!(beaten || stopped.rule == StopRule::Failing);
                prop_assert!(rows.len() >= 2);
            }
        }
    }
}
