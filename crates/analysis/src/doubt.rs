//! Levels that disagree with their neighbours: measured again before they are believed.
//!
//! A machine that did something else for a second makes one level of a ladder low, and then a straight line is no line and a pool is no
//! pool. Throughput over users bends one way, down: on logarithmic axes no level lies below the chord between its neighbours, and no level
//! carries more than in proportion to the one before. A level that does so was disturbed, or the server does what no model here
//! describes, and only measuring it again can tell which.
//!
//! Rejected: to leave such a level out, which makes a fine curve of whatever was measured. It is set aside only where it did not repeat
//! itself and the second measurement agrees with the neighbours; both stay in the result, and that is said.

use crate::{Level, LevelRow, Sweep};

/// A level that is so far below its chord disagrees: runs of one server differ by two or three percent.
const DISAGREES: f64 = 0.92;
/// Fewer levels are no neighbourhood.
const LEVELS_MIN: usize = 4;

/// The levels that disagree with their neighbours, ascending. `rows` are those of closed loads, ascending.
#[must_use]
pub fn doubtful(rows: &[LevelRow]) -> Vec<Level> {
    let usable =
        |row: &&LevelRow| !row.level.is_open() && row.qps > 0.0 && row.generator_limit.is_none() && !crate::scaling::is_failing(row);
    let rows: Vec<&LevelRow> = rows.iter().filter(usable).collect();
    if rows.len() < LEVELS_MIN {
        return Vec::new();
    }
    let at = |row: &LevelRow| (row.level.value().ln(), row.qps.ln());
    let expected = |place: usize| {
        let (x, _) = at(rows[place]);
        match place.checked_sub(1).map(|before| at(rows[before])) {
            Some((x0, y0)) => {
                let (x1, y1) = at(rows.get(place + 1)?);
                Some(y0 + (y1 - y0) * (x - x0) / (x1 - x0))
            }
            // One user carries at least its part of what the next level does.
            None => {
                let (x1, y1) = at(rows.get(place + 1)?);
                Some(y1 - (x1 - x))
            }
        }
    };
    let disagrees = |place: &usize| expected(*place).is_some_and(|expected| rows[*place].qps < expected.exp() * DISAGREES);
    (0..rows.len()).filter(disagrees).map(|place| rows[place].level).collect()
}

/// A level that was measured again, since it disagreed with its neighbours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Again {
    /// Which.
    pub level: Level,
    /// Requests a second the first time.
    pub before: f64,
    /// The second time.
    pub after: f64,
}

impl Again {
    /// Those of a sweep whose first measurement is not believed.
    #[must_use]
    pub fn of(sweep: &Sweep) -> Vec<Self> {
        let after = |level: Level| sweep.trials.iter().rev().find(|trial| trial.level == level).map(|trial| trial.summary.qps_succeeded);
        let again = sweep.set_aside.iter();
        again
            .filter_map(|trial| Some(Self { level: trial.level, before: trial.summary.qps_succeeded, after: after(trial.level)? }))
            .collect()
    }
}

/// Sets the first measurement of a level aside where the second carried more and agrees with the neighbours; else both stay.
pub fn settle(sweep: &mut Sweep, level: Level) {
    let of_level: Vec<usize> = (0..sweep.trials.len()).filter(|at| sweep.trials[*at].level == level).collect();
    let [first, second] = of_level[..] else { return };
    let carried = |at: usize| sweep.trials[at].summary.qps_succeeded;
    if carried(first) >= carried(second) * DISAGREES {
        return;
    }
    let aside = sweep.trials.remove(first);
    if doubtful(&sweep.rows()).contains(&level) {
        sweep.trials.insert(first, aside);
    } else {
        sweep.set_aside.push(aside);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::tests::swept;

    fn disturbed(curve: impl Fn(f64) -> f64) -> Sweep {
        let mut sweep = swept(&[1, 2, 5, 10, 20, 50, 100], curve);
        sweep.trials.retain(|trial| trial.repetition == 1);
        sweep
    }

    fn doubted(sweep: &Sweep) -> Vec<f64> {
        doubtful(&sweep.rows()).iter().map(|level| level.value()).collect()
    }

    #[test]
    fn a_level_below_what_its_neighbours_say_is_doubted_and_no_knee_is() {
        assert_eq!(doubted(&disturbed(|n| n * 100.0)), [0.0; 0]);
        assert_eq!(doubted(&disturbed(|n| n.min(8.0) * 100.0)), [0.0; 0]);
        assert_eq!(doubted(&disturbed(|n| 100.0 * n / (1.0 + 0.05 * (n - 1.0) + 0.001 * n * (n - 1.0)))), [0.0; 0]);
        assert_eq!(doubted(&disturbed(|n| if n == 5.0 { 365.0 } else { n * 100.0 })), [5.0]);
        assert_eq!(doubted(&disturbed(|n| if n == 1.0 { 70.0 } else { n * 100.0 })), [1.0]);
        // The last one may be past the peak.
        assert_eq!(doubted(&disturbed(|n| if n == 100.0 { 3_000.0 } else { n * 100.0 })), [0.0; 0]);
    }

    #[test]
    fn what_did_not_repeat_itself_is_set_aside_and_said() {
        let mut sweep = disturbed(|n| if n == 5.0 { 365.0 } else { n * 100.0 });
        let level = doubtful(&sweep.rows())[0];
        let mut again = sweep.trials.iter().find(|trial| trial.level == level).unwrap().clone();
        again.repetition = 2;
        again.summary.edit_for_test().qps_succeeded = 501.0;
        let mut repeated = sweep.clone();
        sweep.trials.push(again.clone());
        settle(&mut sweep, level);
        assert_eq!((sweep.set_aside.len(), doubted(&sweep)), (1, Vec::new()));
        let said = crate::scaling(&sweep).curve.unwrap().sentences();
        assert!(said[0].contains("there is no knee up to 100 users"), "{said:?}");
        assert!(said.last().unwrap().starts_with("5 users disagreed with the levels beside them"), "{said:?}");
        // A server that does so every time is believed.
        again.summary.edit_for_test().qps_succeeded = 371.0;
        repeated.trials.push(again);
        settle(&mut repeated, level);
        assert_eq!((repeated.set_aside.len(), doubted(&repeated)), (0, vec![5.0]));
    }
}
