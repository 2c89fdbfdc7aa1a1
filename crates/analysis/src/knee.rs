//! The best concurrency: not the highest throughput, but the least load that reaches nearly all of it in time.
//!
//! Past the knee, throughput creeps up by a per cent or two while every answer takes twice as long; a report that names the
//! highest figure recommends the worst place to run. So the best level is the smallest that reaches 98 % of the highest
//! throughput among the levels that kept what was promised, or among all if nothing was.
//!
//! Kneedle (Satopää and others, 2011) finds "the knee" by shape alone, after stretching both axes to [0, 1]: test to twice
//! the load and the knee moves. So it is not looked for.

use serde::{Deserialize, Serialize};

/// A level as it was measured; several per level are taken together by their means.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LevelFigures {
    /// Users, or lanes.
    pub level: f64,
    /// Good answers a second.
    pub throughput: f64,
    /// The mean response time, seconds; `None` without an answer.
    pub response_s: Option<f64>,
    /// Whether it kept what was promised.
    pub kept: PromiseState,
    /// The generator, not the server, was the limit.
    pub generator_limited: bool,
}

/// Whether a level kept what was promised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PromiseState {
    /// It did, or nothing was promised.
    Yes,
    /// It did not.
    No,
    /// Too little was measured to tell.
    Unknown,
}

/// The best concurrency, or why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "best")]
pub enum Best {
    /// Here.
    At {
        /// The concurrency.
        level: f64,
        /// Requests a second there.
        throughput: f64,
        /// The response time there, seconds.
        response_s: Option<f64>,
        /// The highest throughput among the levels that qualify, requests a second.
        peak: f64,
        /// The level is the highest usable one: more might be better still.
        edge: bool,
    },
    /// No level was seen to keep the promise; the fastest took this long.
    PromiseNeverKept {
        /// The level with the shortest response time.
        level: f64,
        /// That time, seconds.
        response_s: f64,
        /// Every level broke it, or some cannot be told.
        kept: PromiseState,
    },
    /// No level was usable.
    NothingMeasured,
}

/// This share of the highest throughput is as good as all of it: runs of one server differ by as much.
pub const NEARLY_ALL: f64 = 0.98;

/// The best of `levels`.
#[must_use]
pub fn best(levels: &[LevelFigures]) -> Best {
    let levels = together(levels);
    let Some(last) = levels.last().map(|it| it.level) else { return Best::NothingMeasured };
    let keeps = |it: &&LevelFigures| it.kept == PromiseState::Yes && it.throughput > 0.0;
    let Some(peak) = levels.iter().filter(keeps).map(|it| it.throughput).max_by(f64::total_cmp) else {
        let fastest = levels.iter().filter_map(|it| Some((it.level, it.response_s?))).min_by(|a, b| a.1.total_cmp(&b.1));
        let kept = if levels.iter().any(|it| it.kept == PromiseState::Unknown) { PromiseState::Unknown } else { PromiseState::No };
        // Without a promise, nothing was kept back by one: no request succeeded.
        let promised = levels.iter().any(|it| it.kept != PromiseState::Yes);
        return fastest.filter(|_| promised).map_or(Best::NothingMeasured, |(level, response_s)| Best::PromiseNeverKept {
            level,
            response_s,
            kept,
        });
    };
    let found = levels.iter().filter(keeps).find(|it| it.throughput >= peak * NEARLY_ALL);
    found.map_or(Best::NothingMeasured, |it| Best::At {
        level: it.level,
        throughput: it.throughput,
        response_s: it.response_s,
        peak,
        edge: it.level >= last,
    })
}

/// One entry per usable level, ascending; the response time is the worst of the repeats, since a promise holds always.
fn together(levels: &[LevelFigures]) -> Vec<LevelFigures> {
    let mut usable: Vec<LevelFigures> =
        levels.iter().copied().filter(|it| !it.generator_limited && it.throughput.is_finite() && it.level.is_finite()).collect();
    usable.sort_by(|a, b| a.level.total_cmp(&b.level));
    usable
        .chunk_by(|a, b| a.level == b.level)
        .map(|them| LevelFigures {
            throughput: them.iter().map(|it| it.throughput).sum::<f64>() / them.len() as f64,
            response_s: if them.iter().all(|it| it.response_s.is_some()) {
                them.iter().filter_map(|it| it.response_s).max_by(f64::total_cmp)
            } else {
                None
            },
            kept: if them.iter().any(|it| it.kept == PromiseState::No) {
                PromiseState::No
            } else {
                them.iter().map(|it| it.kept).find(|it| *it == PromiseState::Unknown).unwrap_or(PromiseState::Yes)
            },
            ..them[0]
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A pool of eight workers of 10 ms, asked by so many users; response time by Little's law.
    fn pool(level: f64) -> LevelFigures {
        let throughput = level.min(8.0) * 100.0 + level * 0.1;
        LevelFigures { level, throughput, response_s: Some(level / throughput), kept: PromiseState::Yes, generator_limited: false }
    }

    fn ladder() -> Vec<LevelFigures> {
        [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0].map(pool).to_vec()
    }

    #[test]
    fn the_best_concurrency_is_the_least_that_reaches_nearly_all_throughput() {
        assert!(matches!(best(&ladder()), Best::At { level: 8.0, edge: false, .. }), "{:?}", best(&ladder()));
    }

    #[test]
    fn a_promise_rules_out_levels_that_break_it() {
        let mut slow = ladder();
        slow[3].kept = PromiseState::No;
        slow[4].kept = PromiseState::No;
        slow[5].kept = PromiseState::No;
        slow[6].kept = PromiseState::Unknown;
        assert!(matches!(best(&slow), Best::At { level: 4.0, .. }));
        slow[2].kept = PromiseState::Unknown;
        assert!(matches!(best(&slow), Best::At { level: 2.0, .. }), "what cannot be told keeps no promise");
        slow.iter_mut().for_each(|it| it.kept = PromiseState::No);
        assert!(matches!(best(&slow), Best::PromiseNeverKept { level: 1.0, kept: PromiseState::No, .. }));
        slow[4].kept = PromiseState::Unknown;
        assert!(matches!(best(&slow), Best::PromiseNeverKept { kept: PromiseState::Unknown, .. }));
    }

    #[test]
    fn a_level_the_generator_limited_is_not_recommended() {
        let mut ladder = ladder();
        ladder.iter_mut().skip(3).for_each(|it| it.generator_limited = true);
        assert!(matches!(best(&ladder), Best::At { level: 4.0, edge: true, .. }));
        assert_eq!(best(&[]), Best::NothingMeasured);
    }

    #[test]
    fn the_best_level_does_not_move_with_the_range_tested() {
        let twice: Vec<_> = ladder().into_iter().chain([pool(128.0)]).collect();
        let level = |it: Best| if let Best::At { level, .. } = it { level } else { 0.0 };
        assert_eq!(level(best(&twice)), level(best(&ladder())));
    }

    proptest! {
        #[test]
        fn nothing_below_the_best_level_reaches_as_much(throughputs in prop::collection::vec(1.0f64..1e4, 1..20)) {
            let levels: Vec<_> = throughputs.iter().enumerate().map(|(at, &throughput)| LevelFigures { throughput, ..pool(at as f64 + 1.0) }).collect();
            let Best::At { level, throughput, peak, .. } = best(&levels) else { panic!("something was measured") };
            prop_assert!(throughput >= peak * NEARLY_ALL);
            prop_assert!(levels.iter().filter(|it| it.level < level).all(|it| it.throughput < peak * NEARLY_ALL));
        }
    }
}
