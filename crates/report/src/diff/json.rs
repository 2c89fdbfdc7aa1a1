//! Two results side by side for scripts: every figure of the table, exact, with its change.
//!
//! Who wants the runs themselves has them in the two files this was made from. So nothing of them is repeated here but what
//! stands side by side, and it has the same keys for a figure on both sides, so that a script reads one as it reads the other.

use std::io;

use analysis::compare::{CapacityChange, Verdicts, capacity_change};
use analysis::found::CapacityReport;
use analysis::search::Capacity;
use analysis::{Level, Standing, StreamUnit, Sweep, Validity};
use measure::{Histogram, QUANTILES, StreamRow, Summary};
use serde::Serialize;

use super::{levels, repeated};
use crate::chart::sweep::{Ladder, SweepCurve, SweepPoint};
use crate::json::write_json;
use crate::unlike;

/// The version of the file.
pub(crate) const DIFF_SCHEMA: &str = "loadline.diff/1";

/// A file of either kind.
#[derive(Serialize)]
struct Written<'a, B> {
    schema: &'static str,
    kind: &'static str,
    a: Side<'a>,
    b: Side<'a>,
    /// What they differ in besides what is compared, in words.
    unlike: Vec<String>,
    #[serde(flatten)]
    body: B,
}

/// One of the two.
#[derive(Serialize)]
struct Side<'a> {
    name: &'a str,
    target: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    standing: Option<Standing>,
}

impl<'a> Side<'a> {
    fn of_run(name: &'a str, run: &Summary) -> Self {
        Self { name, target: Some(run.plan.target().to_string()), standing: run.measured_by.is_none().then(|| Validity::of(run).standing) }
    }

    fn of_search(name: &'a str, found: &CapacityReport) -> Self {
        let target = found.trials.first().map(|trial| trial.summary.plan.target().to_string());
        Self { name, target, standing: None }
    }

    fn of_sweep(curve: &'a SweepCurve) -> Self {
        Self { name: &curve.name, target: curve.target.clone(), standing: None }
    }
}

/// The same of both sides; null where one does not have it.
#[derive(Serialize)]
struct Pair<T> {
    a: Option<T>,
    b: Option<T>,
}

/// A figure of both sides.
#[derive(Serialize)]
struct Both {
    #[serde(flatten)]
    pair: Pair<f64>,
    /// B's over A's, less one: 0.05 is 5 % more.
    change: Option<f64>,
}

fn both(a: Option<f64>, b: Option<f64>) -> Both {
    let [a, b] = [a, b].map(|value| value.filter(|value| value.is_finite()));
    Both { pair: Pair { a, b }, change: a.zip(b).filter(|(a, _)| *a > 0.0).map(|(a, b)| b / a - 1.0) }
}

#[derive(Serialize)]
struct Runs {
    qps: Both,
    mean_ns: Both,
    quantiles: Vec<Quantile>,
    success_percent: Both,
    /// Absent unless both streamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<Events>,
}

/// Of answers that stream.
#[derive(Serialize)]
struct Events {
    per_second: Both,
    per_second_each: Both,
    first_event: Vec<Quantile>,
    between_events: Vec<Quantile>,
}

impl Events {
    fn of(a: Option<&StreamRow>, b: Option<&StreamRow>) -> Option<Self> {
        let (a, b) = a.zip(b)?;
        let quantiles = |a: &Histogram, b: &Histogram| {
            let at = |times: &Histogram, q: f64| times.known_quantile(q).map(|time| time.0 as f64);
            QUANTILES.iter().map(|q| Quantile { q: *q, ns: both(at(a, *q), at(b, *q)) }).collect()
        };
        Some(Self {
            per_second: both(Some(a.events_per_second), Some(b.events_per_second)),
            per_second_each: both(a.events_per_second_each, b.events_per_second_each),
            first_event: quantiles(&a.first_event, &b.first_event),
            between_events: quantiles(&a.between_events, &b.between_events),
        })
    }
}

/// A percentile of times.
#[derive(Serialize)]
struct Quantile {
    q: f64,
    #[serde(flatten)]
    ns: Both,
}

/// Two runs, each with what the user calls it.
///
/// # Errors
/// If `out` does not take it.
pub fn runs(a: (&str, &Summary), b: (&str, &Summary), out: &mut dyn io::Write) -> io::Result<()> {
    let (from, to) = (a.1, b.1);
    let quantile = |run: &Summary, q: f64| run.response_time.known_quantile(q).map(|time| time.0 as f64);
    let success = |run: &Summary| (run.requests.due > 0).then(|| run.requests.success_percent());
    let written = Written {
        schema: DIFF_SCHEMA,
        kind: "runs",
        a: Side::of_run(a.0, from),
        b: Side::of_run(b.0, to),
        unlike: unlike::runs(from, to, &[]),
        body: Runs {
            qps: both(Some(from.qps_succeeded), Some(to.qps_succeeded)),
            mean_ns: both(from.response_time.mean(), to.response_time.mean()),
            quantiles: QUANTILES.iter().map(|q| Quantile { q: *q, ns: both(quantile(from, *q), quantile(to, *q)) }).collect(),
            success_percent: both(success(from), success(to)),
            events: Events::of(from.streams.as_deref(), to.streams.as_deref()),
        },
    };
    write_json(&written, out)
}

#[derive(Serialize)]
struct Searches {
    carries: Both,
    capacity: Pair<Capacity>,
    /// From the ends of both intervals.
    capacity_change: CapacityChange,
    breaks_at: Both,
}

/// Two searches, each with what the user calls it.
///
/// # Errors
/// If `out` does not take it.
pub fn searches(a: (&str, &CapacityReport), b: (&str, &CapacityReport), out: &mut dyn io::Write) -> io::Result<()> {
    let (from, to) = (&a.1.answer, &b.1.answer);
    let written = Written {
        schema: DIFF_SCHEMA,
        kind: "searches",
        a: Side::of_search(a.0, a.1),
        b: Side::of_search(b.0, b.1),
        unlike: super::searches_unlike(a.1, b.1),
        body: Searches {
            carries: both(from.carries, to.carries),
            capacity: Pair { a: Some(from.capacity), b: Some(to.capacity) },
            capacity_change: capacity_change(from.capacity, to.capacity),
            breaks_at: both(from.breaks_at.map(|it| it.rate), to.breaks_at.map(|it| it.rate)),
        },
    };
    write_json(&written, out)
}

#[derive(Serialize)]
struct Sweeps {
    levels: Vec<Row>,
    judged: Vec<Judged>,
}

/// A level that either side has.
#[derive(Serialize)]
struct Row {
    level: f64,
    /// What the number counts on that side; null where it lacks the level.
    counts: Pair<&'static str>,
    qps: Both,
    /// Of scenarios; absent where neither side has journeys.
    #[serde(skip_serializing_if = "Option::is_none")]
    tps: Option<Both>,
    /// Of answers that stream; absent where neither side has events.
    #[serde(skip_serializing_if = "Option::is_none")]
    events_per_second: Option<Both>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first_event_p95_ns: Option<Both>,
    #[serde(skip_serializing_if = "Option::is_none")]
    between_events_p99_ns: Option<Both>,
    /// Where tokens are counted that are not events; absent where neither side counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_per_second: Option<Both>,
    #[serde(skip_serializing_if = "Option::is_none")]
    time_per_token_p99_ns: Option<Both>,
    ttlb_mean_ns: Both,
    success_percent: Both,
    generator_limited: Pair<bool>,
}

/// A level that both sides measured repeatedly, and what follows.
#[derive(Serialize)]
struct Judged {
    level: Level,
    runs: [usize; 2],
    #[serde(flatten)]
    comparison: Verdicts,
}

/// Two sweeps; a side without its sweep is a file that holds no single runs.
///
/// # Errors
/// If `out` does not take it.
pub fn sweeps(curves: &[SweepCurve; 2], sweeps: [Option<&Sweep>; 2], out: &mut dyn io::Write) -> io::Result<()> {
    let [a, b] = curves;
    let judged = match sweeps {
        [Some(a), Some(b)] => repeated(a, b),
        _ => Vec::new(),
    };
    let unlike = match sweeps {
        [Some(a), Some(b)] => super::unlike(a, b),
        _ => Vec::new(),
    };
    let written = Written {
        schema: DIFF_SCHEMA,
        kind: "sweeps",
        a: Side::of_sweep(a),
        b: Side::of_sweep(b),
        unlike,
        body: Sweeps {
            levels: levels(a, b).map(|(level, of_a, of_b)| row(level, (a.ladder, of_a), (b.ladder, of_b))).collect(),
            judged: judged.into_iter().map(|(level, comparison, (a, b))| Judged { level, runs: [a, b], comparison }).collect(),
        },
    };
    write_json(&written, out)
}

fn row(level: f64, (ladder_a, a): (Ladder, Option<SweepPoint>), (ladder_b, b): (Ladder, Option<SweepPoint>)) -> Row {
    let figure = |of: fn(&SweepPoint) -> Option<f64>| both(a.as_ref().and_then(of), b.as_ref().and_then(of));
    let counts = |ladder: Ladder, point: Option<SweepPoint>| point.map(|_| ladder.key());
    let limited = |point: Option<SweepPoint>| point.map(|point| point.generator_limited);
    let streams = [a, b].iter().flatten().any(|point| point.events.is_some());
    let tokens = [a, b].iter().flatten().any(|point| point.events.is_some_and(|events| events.unit() == StreamUnit::Tokens));
    Row {
        level,
        counts: Pair { a: counts(ladder_a, a), b: counts(ladder_b, b) },
        qps: figure(|point| Some(point.qps)),
        tps: [a, b]
            .iter()
            .flatten()
            .any(|point| point.journeys.is_some())
            .then(|| figure(|point| point.journeys.map(|journeys| journeys.tps))),
        events_per_second: streams.then(|| figure(|point| Some(point.events?.events_per_second))),
        first_event_p95_ns: streams.then(|| figure(|point| Some(point.events?.first_event_p95?.0 as f64))),
        between_events_p99_ns: streams.then(|| figure(|point| Some(point.events?.between_events_p99?.0 as f64))),
        tokens_per_second: tokens.then(|| figure(|point| point.events?.tokens_per_second)),
        time_per_token_p99_ns: tokens.then(|| figure(|point| Some(point.events?.time_per_token_p99?.0 as f64))),
        ttlb_mean_ns: figure(|point| point.ttlb_ms.map(|ms| ms * 1e6)),
        success_percent: figure(|point| Some(point.success_percent)),
        generator_limited: Pair { a: limited(a), b: limited(b) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::fixtures;
    use serde_json::Value;

    fn read(write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) -> Value {
        let mut bytes = Vec::new();
        write(&mut bytes).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    #[test]
    fn two_runs_have_every_figure_of_the_table_with_its_change() {
        let all = fixtures::summaries();
        let run = &all[0].1;
        let mut slower = run.clone();
        slower.edit_for_test().qps_succeeded /= 2.0;
        let told = read(|out| runs(("before", run), ("after", &slower), out));
        assert_eq!((&told["schema"], &told["kind"], &told["b"]["name"]), (&DIFF_SCHEMA.into(), &"runs".into(), &"after".into()));
        assert_eq!((told["qps"]["change"].as_f64(), told["mean_ns"]["change"].as_f64()), (Some(-0.5), Some(0.0)));
        assert_eq!(told["quantiles"].as_array().unwrap().len(), QUANTILES.len());
        assert_eq!(told["unlike"], Value::Array(Vec::new()));
        assert!(told.get("events").is_none(), "nothing streamed");
        let (_, streamed) = all.iter().find(|(name, _)| *name == "answers_that_streamed").unwrap();
        let told = read(|out| runs(("before", streamed), ("after", streamed), out));
        assert_eq!(told["events"]["per_second"]["change"].as_f64(), Some(0.0));
        assert!(told["events"]["first_event"][3]["a"].as_f64().unwrap() > 250e6, "{}", told["events"]);
        let other = read(|out| runs(("a", run), ("b", &all[1].1), out));
        assert!(!other["unlike"].as_array().unwrap().is_empty());
    }

    #[test]
    fn two_sweeps_have_every_level_of_either() {
        let curve = |name: &str, levels: &[(f64, f64)]| SweepCurve {
            name: name.to_owned(),
            target: None,
            level_seconds: None,
            threads: None,
            ladder: Ladder::Users,
            points: levels
                .iter()
                .map(|(level, qps)| SweepPoint {
                    level: *level,
                    qps: *qps,
                    ttlb_ms: Some(2.0),
                    success_percent: 100.0,
                    journeys: None,
                    events: None,
                    generator_limited: false,
                })
                .collect(),
            fit: None,
        };
        let two = [curve("a", &[(1.0, 100.0), (10.0, 500.0)]), curve("b", &[(10.0, 550.0), (20.0, 600.0)])];
        let told = read(|out| sweeps(&two, [None, None], out));
        let rows = told["levels"].as_array().unwrap();
        assert_eq!(rows.len(), 3);
        assert_eq!((&rows[0]["qps"]["b"], &rows[0]["counts"]["b"]), (&Value::Null, &Value::Null));
        assert!((rows[1]["qps"]["change"].as_f64().unwrap() - 0.1).abs() < 1e-9);
        assert_eq!((rows[2]["ttlb_mean_ns"]["b"].as_f64(), &rows[2]["counts"]["b"]), (Some(2e6), &"users".into()));
        assert_eq!(told["judged"], Value::Array(Vec::new()));
    }
}
