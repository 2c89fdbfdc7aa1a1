//! What the levels of a sweep say about how the server scales: the best level, a model of the curve, or why there is none.
//!
//! A table tells what was measured; what it means (a pool of eight workers, contention, nothing that can be said) takes a
//! fit, and a fit takes clean data. So the levels at which the load generator was the limit are left out, because they show
//! the generator, and so are those at which more than one request in a hundred failed: a server that refuses half of its
//! requests is another system than the one that answered, and one curve through both describes neither.
//!
//! Everything here follows from the Sweep: its own seed feeds the bootstrap, so a file read again says the same.

use measure::Summary;
use plan::Load;
use serde::Serialize;

use crate::curve::{self, Band, Model, Point, Reading, Refusal};
use crate::curve_words::{self, Pausing};
use crate::doubt::Again;
use crate::gate::{Check, Verdict, judge};
use crate::knee::{Best, LevelFigures, PromiseState, best};
use crate::quantity::figure;
use crate::{EventScaling, Level, LevelRow, Sweep};

/// A level at which less than this succeeded, in percent, is no point of the curve.
const SUCCESS_PERCENT_MIN: f64 = 99.0;

/// Users without pauses wait for an answer for at least this share of their time: what is left loadline takes to read and to write.
const WAITING_SHARE_MIN: f64 = 0.9;

/// What the levels say together.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    /// The promise that a level must keep to be the best; empty if none was given.
    pub slo: Vec<Check>,
    /// Every level measured and whether it kept the promise, ascending.
    pub kept: Vec<(Level, PromiseState)>,
    /// The best level.
    pub best: Best,
    /// The curve; `None` in open load, where the offered rate makes the throughput.
    pub curve: Option<Curve>,
    /// Events a second, where answers stream.
    pub events: Option<EventScaling>,
}

/// How throughput follows the users of a closed load.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The model, or why there is none.
    pub reading: Reading,
    /// Levels left out because requests failed there, ascending.
    pub failing: Vec<f64>,
    /// How often the level measured most often was measured.
    pub repetitions: u32,
    /// Whether users pause between requests: then the knee is no number of workers.
    pub pausing: Pausing,
    /// Levels that were measured again, and whose first measurement is not believed.
    pub again: Vec<Again>,
}

/// A model as a curve to draw.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelCurve {
    /// What it is, in a few words.
    pub name: String,
    /// From the lowest to the highest level that it was fitted on.
    pub points: Vec<Band>,
}

/// A curve is drawn through so many places a pixel or two apart where it bends most.
const DRAWN_POINTS: usize = 160;

/// What the levels of `sweep` say.
#[must_use]
pub fn scaling(sweep: &Sweep) -> Scaling {
    let rows = sweep.rows();
    let kept: Vec<(Level, PromiseState)> = rows.iter().map(|row| (row.level, kept(sweep, row.level))).collect();
    let loaded: Vec<LevelFigures> = rows
        .iter()
        .zip(&kept)
        // What was promised decides; where nothing was, no level at which requests fail is the best.
        .filter(|(row, _)| !sweep.slo.is_empty() || !is_failing(row))
        .map(|(row, (_, kept))| LevelFigures {
            level: row.level.value(),
            throughput: row.qps,
            response_s: row.ttlb_mean_ns.map(|ns| ns / 1e9),
            kept: *kept,
            generator_limited: row.generator_limit.is_some(),
        })
        .collect();
    let (curve, events) = (curve(sweep, &rows), EventScaling::of(sweep, &rows));
    Scaling { slo: sweep.slo.clone(), kept, best: best(&loaded), curve, events }
}

/// Whether every repetition of a level kept every promise.
fn kept(sweep: &Sweep, level: Level) -> PromiseState {
    let verdicts = sweep.trials.iter().filter(|trial| trial.level == level).flat_map(|trial| judge(&sweep.slo, &trial.summary));
    verdicts.fold(PromiseState::Yes, |so_far, judgement| match (so_far, judgement.verdict) {
        (PromiseState::No, _) | (_, Verdict::Broken) => PromiseState::No,
        (PromiseState::Unknown, _) | (_, Verdict::NotJudgeable { .. }) => PromiseState::Unknown,
        (PromiseState::Yes, Verdict::Held) => PromiseState::Yes,
    })
}

fn curve(sweep: &Sweep, rows: &[LevelRow]) -> Option<Curve> {
    let plan = &sweep.trials.first().filter(|_| is_curve(sweep))?.summary.plan;
    let pauses = match plan.load() {
        Load::Closed { pause, .. } => pause.is_some(),
        Load::Open { .. } => return None,
        Load::Mixed(populations) => populations.iter().any(|population| matches!(population.load, Load::Closed { pause: Some(_), .. })),
    };
    let points = points(sweep, rows);
    Some(Curve {
        reading: curve::read(&points, plan.seed()),
        failing: rows.iter().filter(|row| is_failing(row)).map(|row| row.level.value()).collect(),
        repetitions: rows.iter().map(|row| row.repetitions).max().unwrap_or(0),
        pausing: if pauses || sweep.trials.iter().any(|trial| thinks(&trial.summary)) { Pausing::Between } else { Pausing::Never },
        again: Again::of(sweep),
    })
}

/// Whether throughput follows users: in open load the rate that is offered makes it.
#[must_use]
pub(crate) fn is_curve(sweep: &Sweep) -> bool {
    sweep.trials.first().is_some_and(|trial| trial.summary.plan.load().is_closed())
}

/// Whether users on journeys think between their requests: then fewer of them wait for an answer than there are. Their pauses stand in the
/// scenario, which is not part of a result.
fn thinks(run: &Summary) -> bool {
    run.scenario.is_some() && run.in_flight_mean < WAITING_SHARE_MIN * run.concurrency as f64
}

/// One point for every repetition of every level that belongs to the curve. A level that the generator limited once is
/// limited: its repetitions are one machine's.
#[must_use]
pub fn points(sweep: &Sweep, rows: &[LevelRow]) -> Vec<Point> {
    let mut points = Vec::with_capacity(sweep.trials.len());
    for row in rows.iter().filter(|row| !is_failing(row)) {
        points.extend(sweep.trials.iter().filter(|trial| trial.level == row.level).map(|trial| Point {
            level: row.level.value(),
            throughput: trial.summary.qps_succeeded,
            generator_limited: row.generator_limit.is_some(),
        }));
    }
    points
}

/// Whether too many requests of a level failed for it to be a point of the curve.
#[must_use]
pub fn is_failing(row: &LevelRow) -> bool {
    row.success_percent < SUCCESS_PERCENT_MIN
}

impl Curve {
    /// What the model says, what cannot be said and why, and what was left out. Lower case, without a full stop.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut said = curve_words::sentences(&self.reading, self.pausing);
        let is_misfit = |it: &Refusal| matches!(it, Refusal::NotTheLaw { pool: None, .. });
        if self.repetitions == 1 && self.reading.refusals.iter().any(is_misfit) {
            said.push("every level was measured once, so that may be noise: --repeat 3 would tell".to_owned());
        }
        if !self.failing.is_empty() {
            said.push(format!("left out of the model, because requests failed there: {}", curve_words::users(&self.failing)));
        }
        said.extend(self.again.iter().map(|it| {
            format!(
                "{} disagreed with the levels beside them ({} requests a second) and were measured again ({}): the first measurement is left out",
                it.level,
                figure(it.before),
                figure(it.after)
            )
        }));
        said
    }

    /// The accepted model as a curve over the levels it was fitted on; `None` where none was accepted.
    #[must_use]
    pub fn drawn(&self) -> Option<ModelCurve> {
        let model = self.reading.model.as_ref()?;
        let (first, last) = (*self.reading.levels.first()?, *self.reading.levels.last()?);
        let mut levels: Vec<f64> = (0..=DRAWN_POINTS).map(|at| first * (last / first).powf(at as f64 / DRAWN_POINTS as f64)).collect();
        if let Model::Pool { knee, .. } = model {
            // The kink itself, or it would be drawn cut off.
            levels.push(knee.value);
            levels.sort_by(f64::total_cmp);
        }
        Some(ModelCurve { name: curve_words::name(model, self.pausing), points: self.reading.band(&levels) })
    }
}

/// What a result file says of the curve under `model`.
#[derive(Serialize)]
struct CurveInFile<'a> {
    /// The accepted model, its parameters with their 95 % intervals; none if refused.
    chosen: &'a Option<Model>,
    refused: &'a [Refusal],
    levels: &'a [f64],
    left_out: LeftOut<'a>,
    words: Vec<String>,
}

#[derive(Serialize)]
struct LeftOut<'a> {
    generator_limited: &'a [f64],
    failing: &'a [f64],
}

impl Serialize for Curve {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        CurveInFile {
            chosen: &self.reading.model,
            refused: &self.reading.refusals,
            levels: &self.reading.levels,
            left_out: LeftOut { generator_limited: &self.reading.left_out, failing: &self.failing },
            words: self.sentences(),
        }
        .serialize(serializer)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::Trial;
    use measure::fixtures;
    use std::num::NonZeroU32;

    fn users(users: u32) -> Level {
        Level::Users(NonZeroU32::new(users).unwrap())
    }

    fn fixture(name: &str) -> Summary {
        fixtures::summaries().into_iter().find(|(other, _)| *other == name).unwrap().1
    }

    const LEVELS: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];

    /// A sweep whose levels carry what `curve` says, give or take half a per cent.
    pub(crate) fn swept(levels: &[u32], curve: impl Fn(f64) -> f64) -> Sweep {
        let mut sweep = Sweep::new("made up".to_owned(), String::new(), levels.iter().map(|it| users(*it)).collect());
        for repetition in 1..=3 {
            for (at, level) in levels.iter().enumerate() {
                let mut summary = fixture("closed_all_well");
                let wobble = [0.003, -0.004, 0.001, 0.005, -0.002][(at * 2 + repetition as usize) % 5];
                summary.edit_for_test().qps_succeeded = curve(f64::from(*level)) * (1.0 + wobble);
                summary.edit_for_test().qps = summary.qps_succeeded;
                sweep.trials.push(Trial { level: users(*level), repetition, summary });
            }
        }
        sweep
    }

    fn said(sweep: &Sweep) -> Vec<String> {
        scaling(sweep).curve.unwrap().sentences()
    }

    #[test]
    fn a_pool_is_said_with_its_size() {
        let said = said(&swept(&LEVELS, |n| n.min(8.0) * 200.0));
        assert!(said[0].starts_with("throughput grows until 8") && said[0].contains(" and then stays at 1,60"), "{said:?}");
        assert_eq!(said[1..], ["this is a ceiling at about 8 requests at once, not a scalability curve"]);
    }

    #[test]
    fn where_users_pause_a_knee_is_no_number_of_workers() {
        let mut sweep = swept(&LEVELS, |n| n.min(8.0) * 200.0);
        let plan::LoadRecord { draft, .. } = sweep.trials[0].summary.plan.clone().into();
        let draft = plan::Draft { pause: "5ms".parse().ok(), ..draft };
        sweep.trials[0].summary.edit_for_test().plan = draft.try_into().unwrap();
        let curve = scaling(&sweep).curve.unwrap();
        assert_eq!(curve.sentences()[1], "this is a ceiling, not a scalability curve");
        assert_eq!(curve.drawn().unwrap().name, "ceiling reached at 8 users");
    }

    #[test]
    fn users_who_think_on_their_journeys_pause() {
        let mut sweep = swept(&LEVELS, |n| n.min(8.0) * 200.0);
        let shop = fixtures::journeys_of_a_shop();
        sweep.trials[5].summary.edit_for_test().scenario = shop.scenario.clone();
        sweep.trials[5].summary.edit_for_test().in_flight_mean = sweep.trials[5].summary.concurrency as f64 * 0.98;
        assert_eq!(scaling(&sweep).curve.unwrap().pausing, Pausing::Never);
        sweep.trials[5].summary.edit_for_test().in_flight_mean /= 2.0;
        assert_eq!(scaling(&sweep).curve.unwrap().pausing, Pausing::Between);
    }

    #[test]
    fn contention_and_a_peak_are_said() {
        let said = said(&swept(&LEVELS, |n| 1_000.0 * n / (1.0 + 0.04 * (n - 1.0) + 0.0004 * n * (n - 1.0))));
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("contention 4") && said[0].contains("one request in 25 waits"), "{said:?}");
        assert!(said[0].contains("adding users beyond 4") && said[0].ends_with("makes it slower"), "{said:?}");
    }

    #[test]
    fn levels_at_which_requests_failed_are_another_system() {
        let mut sweep = swept(&[1, 2, 4, 8, 16, 50, 100, 200, 500], |n| n.min(8.0) * 200.0);
        for trial in &mut sweep.trials {
            if trial.level.value() > 150.0 {
                trial.summary.edit_for_test().qps_succeeded = 90.0;
                trial.summary.edit_for_test().requests.succeeded /= 2;
                trial.summary.edit_for_test().requests.failed = trial.summary.requests.due - trial.summary.requests.succeeded;
            }
        }
        let said = said(&sweep);
        assert!(said[1].starts_with("this is a ceiling at about 8 requests at once"), "{said:?}");
        assert_eq!(said[2], "left out of the model, because requests failed there: 200 and 500 users");
    }

    #[test]
    fn a_level_that_the_generator_limited_once_is_left_out_whole() {
        let mut sweep = swept(&LEVELS, |n| n.min(8.0) * 200.0);
        sweep.trials[6].summary.edit_for_test().generator.cpu_share_busiest = 0.97;
        let curve = scaling(&sweep).curve.unwrap();
        assert_eq!((curve.reading.left_out.as_slice(), curve.reading.levels.len()), ([64.0].as_slice(), 7));
    }

    #[test]
    fn what_was_measured_once_may_be_noise() {
        let mut sweep = swept(&LEVELS, |n| if n == 4.0 { 300.0 } else { n.min(8.0) * 200.0 });
        assert_eq!(said(&sweep), ["no model describes this system: at 4 users it is 55 % below the best curve"]);
        sweep.trials.retain(|trial| trial.repetition == 1);
        let said = said(&sweep);
        assert!(said[0].starts_with("no model describes this system"), "{said:?}");
        assert_eq!(said[1..], ["every level was measured once, so that may be noise: --repeat 3 would tell"]);
    }

    #[test]
    fn too_few_levels_are_refused_and_nothing_is_drawn() {
        let curve = scaling(&swept(&[1, 2, 4], |n| n * 100.0)).curve.unwrap();
        assert_eq!(curve.sentences(), ["not enough levels for a model: 3, and it takes 6"]);
        assert_eq!(curve.drawn(), None);
    }

    #[test]
    fn a_curve_is_drawn_over_the_levels_it_was_fitted_on_and_no_further() {
        let mut sweep = swept(&LEVELS, |n| n.min(8.0) * 200.0);
        sweep
            .trials
            .iter_mut()
            .filter(|it| it.level == users(128))
            .for_each(|it| it.summary.edit_for_test().generator.cpu_share_busiest = 0.97);
        let drawn = scaling(&sweep).curve.unwrap().drawn().unwrap();
        assert_eq!(drawn.name, "ceiling at about 8 requests at once");
        let (first, last) = (drawn.points[0].level, drawn.points.last().unwrap().level);
        assert!((first - 1.0).abs() < 1e-9 && (last - 64.0).abs() < 1e-9, "{first} {last}");
        assert!(drawn.points.iter().all(|it| it.throughput.low <= it.throughput.value && it.throughput.value <= it.throughput.high));
    }

    #[test]
    fn a_promise_decides_which_level_is_the_best() {
        let mut sweep = swept(&LEVELS, |n| n.min(8.0) * 200.0);
        sweep.slo = vec!["mean < 1h".parse().unwrap()];
        assert!(matches!(scaling(&sweep).best, Best::At { level: 8.0, .. }));
        sweep.slo.push("mean < 1ns".parse().unwrap());
        assert!(matches!(scaling(&sweep).best, Best::PromiseNeverKept { .. }));
        sweep.slo = vec!["connect.p99 < 1s".parse().unwrap(), "qps > 500".parse().unwrap()];
        let scaling = scaling(&sweep);
        assert_eq!(scaling.kept[0].1, PromiseState::No, "200 a second are not 500");
    }

    #[test]
    fn the_same_sweep_says_the_same() {
        let sweep = swept(&LEVELS, |n| n.min(8.0) * 200.0);
        assert_eq!(scaling(&sweep), scaling(&sweep));
    }

    #[test]
    fn open_load_has_no_curve_of_users() {
        let mut sweep = swept(&[1], |n| n);
        sweep.trials[0].summary = fixture("open_with_a_stall");
        assert_eq!(scaling(&sweep).curve, None);
    }
}
