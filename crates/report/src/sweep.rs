//! A finished ladder of loads as files: JSON with everything, `.dat`, charts, and Markdown.

pub mod markdown;
pub mod table;

use std::io;

use analysis::bottleneck::Finding;
use analysis::gate::{Check, Judgement};
use analysis::knee::Best;
use analysis::limits;
use analysis::scaling::Curve;
use analysis::{Level, LevelRow, Scaling, StopReason, Sweep, Trial, Validity, scaling};
use serde::Serialize;

use crate::ResultFile;
use crate::chart::sweep::{Fit, JourneyLevel, Ladder, SweepCurve, SweepPoint, qps_ttlb, success_rate};
use crate::dat::{self, DatRow};
use crate::json::write_json;
use crate::png::Density;

/// Every file of a sweep: `.dat`, `.json`, `.md` and both charts as SVG and PNG.
///
/// # Errors
/// Only where writing JSON to memory fails.
pub fn files(sweep: &Sweep) -> io::Result<Vec<ResultFile>> {
    let scaling = scaling(sweep);
    let curve = SweepCurve { fit: fit(&scaling), ..curve(sweep) };
    let (throughput, success) = (qps_ttlb(&curve), success_rate(&curve));
    let file = |ending, about, bytes| ResultFile { ending, about, bytes };
    Ok(vec![
        file(".dat", "four columns", dat::write(&dat_rows(&sweep.rows())).into_bytes()),
        json_explained(sweep, &scaling)?,
        file("_qps_ttlb.svg", "chart", throughput.svg().into_bytes()),
        file("_qps_ttlb.png", "chart", throughput.png(Density::DOCUMENT)),
        file("_successrate.svg", "chart", success.svg().into_bytes()),
        file("_successrate.png", "chart", success.png(Density::DOCUMENT)),
        file(".md", "report", markdown::markdown(sweep, &scaling).into_bytes()),
    ])
}

/// The file with everything in it, what it says included: `best` and `model` follow from the trials, and are not read again.
///
/// # Errors
/// Only where writing to memory fails.
pub fn json(sweep: &Sweep) -> io::Result<ResultFile> {
    json_explained(sweep, &scaling(sweep))
}

fn json_explained(sweep: &Sweep, scaling: &Scaling) -> io::Result<ResultFile> {
    let mut bytes = Vec::new();
    write_explained(sweep, scaling, &mut bytes)?;
    Ok(ResultFile { ending: ".json", about: "every figure", bytes })
}

/// What follows from one trial.
#[derive(Serialize)]
struct TrialVerdict {
    level: Level,
    repetition: u32,
    validity: Validity,
    checks: Vec<Judgement>,
}

fn judged(sweep: &Sweep) -> Vec<TrialVerdict> {
    let judge = |trial: &Trial| {
        let (validity, checks) = trial.judged(&sweep.checks);
        TrialVerdict { level: trial.level, repetition: trial.repetition, validity, checks }
    };
    sweep.trials.iter().map(judge).collect()
}

/// A sweep as it stands in its file. What is short comes before the trials.
#[derive(Serialize)]
struct Written<'a> {
    schema: &'a str,
    name: &'a str,
    started: &'a str,
    levels: &'a [Level],
    #[serde(skip_serializing_if = "<[Check]>::is_empty")]
    slo: &'a [Check],
    #[serde(skip_serializing_if = "<[Check]>::is_empty")]
    checks: &'a [Check],
    best: &'a Best,
    model: &'a Option<Curve>,
    bottleneck: Vec<Finding>,
    trials: &'a [Trial],
    stopped: &'a Option<StopReason>,
    judged: Vec<TrialVerdict>,
    #[serde(skip_serializing_if = "<[Trial]>::is_empty")]
    set_aside: &'a [Trial],
    #[serde(skip_serializing_if = "<[Trial]>::is_empty")]
    profiled: &'a [Trial],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
}

fn write_explained(sweep: &Sweep, scaling: &Scaling, out: &mut dyn io::Write) -> io::Result<()> {
    let Sweep { schema, name, started, levels, slo, checks, trials, stopped, set_aside, profiled, warnings } = sweep;
    let (best, model) = (&scaling.best, &scaling.curve);
    let (judged, bottleneck) = (judged(sweep), limits::of_sweep(sweep));
    let written = Written {
        schema,
        name,
        started,
        levels,
        slo,
        checks,
        best,
        model,
        bottleneck,
        trials,
        stopped,
        judged,
        set_aside,
        profiled,
        warnings,
    };
    write_json(&written, out)
}

/// The accepted model as the charts draw it.
#[must_use]
pub fn fit(scaling: &Scaling) -> Option<Fit> {
    let drawn = scaling.curve.as_ref()?.drawn()?;
    let points = drawn.points.iter().map(|it| (it.level, it.throughput.low, it.throughput.value, it.throughput.high)).collect();
    Some(Fit { name: drawn.name, points })
}

/// The rows of the `.dat` file.
#[must_use]
pub fn dat_rows(rows: &[LevelRow]) -> Vec<DatRow> {
    rows.iter()
        .map(|row| DatRow {
            level: row.level.value(),
            qps: row.qps,
            ttlb_ms: row.ttlb_mean_ns.map(|ns| ns / 1e6),
            success_percent: row.success_percent,
        })
        .collect()
}

/// What the charts draw, without the model.
#[must_use]
pub fn curve(sweep: &Sweep) -> SweepCurve {
    let first = sweep.trials.first().map(|trial| &trial.summary.plan);
    let level = sweep.levels.first().or(sweep.trials.first().map(|trial| &trial.level));
    SweepCurve {
        name: sweep.name.clone(),
        target: first.map(|plan| plan.target().to_string()),
        level_seconds: first.and_then(|plan| plan.duration()).map(plan::Nanos::as_secs_f64),
        // Levels below the number of threads use fewer: the most is what was given.
        threads: sweep.trials.iter().map(|trial| trial.summary.plan.threads().get()).max(),
        ladder: Ladder::of(level.copied()),
        points: sweep
            .rows()
            .iter()
            .map(|row| SweepPoint {
                level: row.level.value(),
                qps: row.qps,
                ttlb_ms: row.ttlb_mean_ns.map(|ns| ns / 1e6),
                success_percent: row.success_percent,
                journeys: row.journeys.as_ref().map(JourneyLevel::of),
                generator_limited: row.generator_limit.is_some(),
            })
            .collect(),
        fit: None,
    }
}
