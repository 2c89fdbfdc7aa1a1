//! A finished ladder of loads as files: JSON with everything, `.dat`, charts, and Markdown.

pub mod markdown;
pub mod table;

use std::io;

use analysis::bottleneck::Finding;
use analysis::ceiling::CeilingUse;
use analysis::gate::{Check, Judgement};
use analysis::knee::Best;
use analysis::limits;
use analysis::scaling::Curve;
use analysis::{EventScaling, Level, LevelEvents, LevelRow, Scaling, Standing, StopReason, Sweep, Trial, Validity, promises_kept, scaling};
use serde::Serialize;

use crate::chart::sweep::{Fit, JourneyLevel, Ladder, SweepCurve, SweepPoint, qps_ttlb, success_rate};
use crate::dat::{self, DatRow};
use crate::json::write_json;
use crate::png::Density;
use crate::{ResultFile, Style, profiles, prose, server_side, visible};

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

/// What stands below the table: what its columns mean, and what the levels show.
#[must_use]
pub fn conclusion(sweep: &Sweep, width: u16) -> String {
    let rows = sweep.rows();
    let mut text = table::failed_parts_text(&rows, &Style { width, ..Style::PLAIN });
    text += &if rows.is_empty() { "\n".to_owned() } else { format!("\n{}\n", prose(table::legend(&rows).trim(), width)) };
    for sentence in
        analysis::conclusion(&rows, &scaling(sweep), sweep.stopped.as_ref()).into_iter().chain(promises_kept(&sweep.checks, &rows))
    {
        text += &prose(&sentence, width);
    }
    for warning in journey_warnings(sweep) {
        text += &prose(&format!("warning: {}", visible(warning)), width);
    }
    if let Some(used) = CeilingUse::greatest(sweep.trials.iter().map(|trial| &trial.summary)) {
        text += &prose(&format!("At its highest, loadline {}.", used.in_words()), width);
    }
    text += &server_side::of_sweep(sweep, width.into());
    text += &crate::limits::text(&limits::of_sweep(sweep), width);
    text + &profiles::text(&profiles::of_sweep(sweep), width)
}

/// What was odd about the loads of a scenario, each said once: a step that was left out, a teardown that failed.
fn journey_warnings(sweep: &Sweep) -> Vec<&str> {
    let mut said: Vec<&str> = Vec::new();
    for summary in sweep.trials.iter().map(|trial| &trial.summary).filter(|summary| summary.scenario.is_some()) {
        said.extend(summary.warnings.iter().map(String::as_str));
    }
    said.extend(sweep.warnings.iter().map(String::as_str));
    said.sort_unstable();
    said.dedup();
    said
}

/// The file with everything in it, what it says included: `rows`, `best` and `model` follow from the trials, and are not read again.
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

/// A level with all its repetitions together, as the table has it.
#[derive(Serialize)]
struct WrittenRow<'a> {
    level: Level,
    repetitions: u32,
    qps: f64,
    qps_spread: Option<f64>,
    response_time_mean_ns: Option<f64>,
    response_time_p99_ns: Option<u64>,
    due: u64,
    failed: u64,
    success_percent: f64,
    generator_cpu: f64,
    generator_limited: bool,
    standing: Standing,
    #[serde(skip_serializing_if = "Option::is_none")]
    tps: Option<f64>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    events: Option<LevelEvents>,
    #[serde(skip_serializing_if = "<[Check]>::is_empty")]
    broken: &'a [Check],
}

impl<'a> WrittenRow<'a> {
    fn of(row: &'a LevelRow) -> Self {
        Self {
            level: row.level,
            repetitions: row.repetitions,
            qps: row.qps,
            qps_spread: row.qps_spread,
            response_time_mean_ns: row.ttlb_mean_ns,
            response_time_p99_ns: row.ttlb_p99.map(|p99| p99.0),
            due: row.due,
            failed: row.failed,
            success_percent: row.success_percent,
            generator_cpu: row.generator_cpu,
            generator_limited: row.generator_limit.is_some(),
            standing: row.standing,
            tps: row.journeys.as_ref().map(|journeys| journeys.tps),
            events: row.events,
            broken: &row.broken,
        }
    }
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
    rows: Vec<WrittenRow<'a>>,
    best: &'a Best,
    model: &'a Option<Curve>,
    #[serde(skip_serializing_if = "Option::is_none")]
    events: &'a Option<EventScaling>,
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
    let (best, model, events) = (&scaling.best, &scaling.curve, &scaling.events);
    let (judged, bottleneck) = (judged(sweep), limits::of_sweep(sweep));
    let rows = sweep.rows();
    let rows = rows.iter().map(WrittenRow::of).collect();
    let written = Written {
        schema,
        name,
        started,
        levels,
        slo,
        checks,
        rows,
        best,
        model,
        events,
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
                events: row.events,
                generator_limited: row.generator_limit.is_some(),
            })
            .collect(),
        fit: None,
    }
}
