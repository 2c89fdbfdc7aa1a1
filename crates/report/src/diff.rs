//! Two sweeps, runs or searches side by side: was the change worth it?
//!
//! Both sides may be `.dat` files or the JSON of sweeps, old or new, and need not have the same levels. A join that drops
//! what only one side has would hide exactly the level at which the other gave up, so such levels are kept and marked.
//! Whether a difference
//! is more than noise takes repetitions: where both sides have them, [`judged`] says it level by level, and where they have not,
//! that is said.

pub(crate) mod events;
pub mod json;
mod runs;
pub(crate) mod searches;

use std::fmt;

use analysis::compare::{Margins, Metric, Values, Verdict, Verdicts, unpaired, values};
use analysis::quantity::{NONE, count, figure, percent, time};
use analysis::{Level, Standing, Sweep, Validity, generator_limit};
use measure::Summary;
use thiserror::Error;

use crate::chart::sweep::{Ladder, SweepCurve, SweepPoint, qps_ttlb_diff, success_rate_diff};
use crate::columns::{Column, Columns, grown, wrapped};
use crate::compare;
use crate::dat::{self, DatError};
use crate::json::ReadError;
use crate::png::Density;
use crate::{ResultFile, sweep};
use crate::{Style, story, unlike};

pub(crate) use runs::side_of;
pub use runs::{runs, runs_unlike};
pub use searches::{search_is_invalid, searches, searches_unlike};

/// Why a file is neither a `.dat` nor a sweep's JSON.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CurveError {
    /// It looks like `.dat` and is not.
    #[error(transparent)]
    Dat(#[from] DatError),
    /// It looks like JSON and is no result.
    #[error(transparent)]
    Json(#[from] ReadError),
    /// It is a result of another kind.
    #[error("it is the result of a {0}, not of a sweep")]
    Kind(&'static str),
    /// There is nothing in it.
    #[error("it holds no level")]
    Empty,
}

/// The curve of a sweep, called as the user calls it.
///
/// # Errors
/// If it holds no level.
pub fn curve(name: &str, sweep: &Sweep) -> Result<SweepCurve, CurveError> {
    with_levels(SweepCurve { name: name.to_owned(), ..sweep::curve(sweep) })
}

/// The curve of a `.dat` file.
///
/// # Errors
/// If it is none, or holds no level.
pub(crate) fn dat_curve(name: &str, text: &str) -> Result<SweepCurve, CurveError> {
    let points = dat::read(text)?.iter().map(SweepPoint::from).collect();
    with_levels(SweepCurve {
        name: name.to_owned(),
        target: None,
        level_seconds: None,
        threads: None,
        ladder: Ladder::Users,
        points,
        fit: None,
    })
}

fn with_levels(curve: SweepCurve) -> Result<SweepCurve, CurveError> {
    if curve.points.is_empty() { Err(CurveError::Empty) } else { Ok(curve) }
}

/// The levels of a sweep whose figures are not the server's, each with why.
#[must_use]
pub fn invalid_levels(sweep: &Sweep) -> Vec<String> {
    let judged = sweep.trials.iter().map(|trial| (trial.level, trial.judged(&[]).0));
    let invalid = judged.filter(|(_, validity)| validity.standing == Standing::Invalid);
    invalid.map(|(level, validity)| format!("{level} ({})", validity.why())).collect()
}

/// The columns behind the level, in order.
const COLUMNS: [Column; 9] = [
    Column::new("QPS A", 10, 0),
    Column::new("QPS B", 10, 0),
    Column::new("B/A", 6, 2),
    Column::new("latency A", 9, 0),
    Column::new("latency B", 9, 0),
    Column::new("B/A", 6, 2),
    Column::new("success A", 10, 3),
    Column::new("success B", 10, 3),
    Column::new("B/A", 6, 3),
];
/// Of journeys, where either side has some.
const TPS: [Column; 3] = [Column::new("TPS A", 9, 1), Column::new("TPS B", 9, 1), Column::new("B/A", 6, 2)];
/// So many columns stand before these.
const BEFORE_TPS: usize = 4;

fn columns(a: &SweepCurve, b: &SweepCurve) -> Vec<Column> {
    let mut columns = vec![Column::new(level_head(a, b), 9, 0)];
    columns.extend(COLUMNS);
    if has_journeys(a, b) {
        columns.splice(BEFORE_TPS..BEFORE_TPS, TPS);
    }
    columns
}

/// What the levels count; where both count different things, that they are levels.
pub(crate) fn level_head(a: &SweepCurve, b: &SweepCurve) -> &'static str {
    if a.ladder == b.ladder { a.ladder.head() } else { "level" }
}

fn has_journeys(a: &SweepCurve, b: &SweepCurve) -> bool {
    a.points.iter().chain(&b.points).any(|point| point.journeys.is_some())
}

/// The heads of [`level_cells`], but for that of the remarks.
pub(crate) fn heads(a: &SweepCurve, b: &SweepCurve) -> Vec<&'static str> {
    columns(a, b).into_iter().map(|column| column.head).collect()
}

/// What the columns mean, in words.
pub(crate) fn legend(a: &SweepCurve, b: &SweepCurve) -> String {
    let tps = if has_journeys(a, b) { " TPS: journeys finished a second." } else { "" };
    format!("QPS: requests a second.{tps} latency: mean response time, to the last byte. B/A above 1: B is more.")
}

/// The table: every level that either side has, ascending; QPS, mean latency and success rate of A and B, and B/A of each.
#[must_use]
pub fn table(a: &SweepCurve, b: &SweepCurve, style: &Style) -> String {
    let room = style.columns();
    let side = |letter: &str, curve: &SweepCurve| side_line(letter, &crate::visible(&curve.name).to_string(), room).trim_end().to_owned();
    let mut lines = vec![side("A", a), side("B", b), String::new()];
    if a.ladder != b.ladder {
        let said = format!("A counts {}, B {}: levels of the same number are not the same load.", counts(a.ladder), counts(b.ladder));
        lines.push(paragraph(&said, room).trim_start_matches('\n').to_owned());
    }
    let columns = columns(a, b);
    let heads: Vec<String> = columns.iter().map(|column| column.head.to_owned()).collect();
    lines.push(grown(&columns, &heads, "", room));
    lines.extend(rows(a, b).map(|(cells, remark)| grown(&columns, &cells, &remark, room)));
    lines.join("\n") + "\n" + &paragraph(&legend(a, b), room) + &events::text(level_head(a, b), a, b, style)
}

/// The cells of every level, each with its remark last.
pub(crate) fn level_cells(a: &SweepCurve, b: &SweepCurve) -> Vec<Vec<String>> {
    rows(a, b).map(|(cells, remark)| cells.into_iter().chain([remark]).collect()).collect()
}

fn rows(a: &SweepCurve, b: &SweepCurve) -> impl Iterator<Item = (Vec<String>, String)> {
    let with_journeys = has_journeys(a, b);
    levels(a, b).map(move |(level, of_a, of_b)| row(level, of_a, of_b, with_journeys))
}

/// Every level that either side has, ascending, with what each measured there.
fn levels(a: &SweepCurve, b: &SweepCurve) -> impl Iterator<Item = (f64, Option<SweepPoint>, Option<SweepPoint>)> {
    let mut levels: Vec<f64> = a.points.iter().chain(&b.points).map(|point| point.level).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    levels.into_iter().map(move |level| {
        let at = |curve: &SweepCurve| curve.points.iter().find(|point| point.level == level).copied();
        (level, at(a), at(b))
    })
}

const fn counts(ladder: Ladder) -> &'static str {
    match ladder {
        Ladder::Users => "users",
        Ladder::OfferedRate => "requests offered a second",
        Ladder::JourneyRate => "journeys begun a second",
    }
}

/// What a column compares.
type Figure = fn(&SweepPoint) -> Option<f64>;

fn row(level: f64, a: Option<SweepPoint>, b: Option<SweepPoint>, with_journeys: bool) -> (Vec<String>, String) {
    let shown =
        |point: Option<SweepPoint>, of: Figure, say: fn(f64) -> String| point.as_ref().and_then(of).map_or_else(|| NONE.to_owned(), say);
    let ratio = |of: Figure| {
        let pair = a.as_ref().and_then(of).zip(b.as_ref().and_then(of));
        pair.filter(|(a, _)| *a > 0.0).map_or_else(|| NONE.to_owned(), |(a, b)| format!("{:.2}", b / a))
    };
    let (qps, ttlb, success): (Figure, Figure, Figure) =
        (|point| Some(point.qps), |point| point.ttlb_ms, |point| Some(point.success_percent));
    let millis: fn(f64) -> String = |ms| time(ms * 1e6);
    let share: fn(f64) -> String = |value| format!("{} %", percent(value));
    let mut cells = vec![
        figure(level),
        shown(a, qps, figure),
        shown(b, qps, figure),
        ratio(qps),
        shown(a, ttlb, millis),
        shown(b, ttlb, millis),
        ratio(ttlb),
        shown(a, success, share),
        shown(b, success, share),
        ratio(success),
    ];
    if with_journeys {
        let tps: Figure = |point| point.journeys.map(|journeys| journeys.tps);
        cells.splice(BEFORE_TPS..BEFORE_TPS, [shown(a, tps, story::rate), shown(b, tps, story::rate), ratio(tps)]);
    }
    let limited = |point: Option<SweepPoint>| point.is_some_and(|point| point.generator_limited);
    let mut remarks = Vec::new();
    match (a, b) {
        (Some(_), None) => remarks.push("only A"),
        (None, Some(_)) => remarks.push("only B"),
        _ => {}
    }
    match (limited(a), limited(b)) {
        (true, true) => remarks.push("loadline was the limit of both"),
        (true, false) => remarks.push("loadline was the limit of A"),
        (false, true) => remarks.push("loadline was the limit of B"),
        (false, false) => {}
    }
    (cells, remarks.join("; "))
}

/// Fewer repetitions of a level say nothing about how much its runs differ.
const REPETITIONS_MIN: usize = 2;

/// What is said where no level was repeated.
const UNREPEATED: &str = "Each level was measured once, and two runs of one build differ by several percent: these differences may be chance. \
                          Measure both sides with sweep --repeat 5, or with loadline compare.";
/// What the verdicts rest on.
const REPEATED: &str = "Change from A to B with its 95 % interval, from the repetitions of each level. The runs are not pairs, so drift between \
                        the two sweeps is part of it. loadline compare measures in pairs.";

/// What stands below the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffVerdict {
    text: String,
    /// Whether any level was measured repeatedly on both sides, so that chance is known.
    pub is_repeated: bool,
}

impl fmt::Display for DiffVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The verdict on every level that both sides measured repeatedly, or that there is none. `None` for a side is a file that holds no
/// single runs.
#[must_use]
pub fn judged(a: Option<&Sweep>, b: Option<&Sweep>, style: &Style) -> DiffVerdict {
    let levels = a.zip(b).map_or_else(Vec::new, |(a, b)| repeated(a, b));
    if levels.is_empty() {
        return DiffVerdict { text: paragraph(UNREPEATED, style.columns()), is_repeated: false };
    }
    let mut columns = Columns::new(&["level", "runs", "goodput", "p50", "p99", "failed", "verdict"]);
    for (level, comparison, runs) in levels {
        let change = |metric: Metric| comparison.changes.iter().find(|change| change.metric == metric);
        let said = |metric: Metric| change(metric).map_or_else(|| NONE.to_owned(), compare::said);
        columns.row(&[
            level.to_string(),
            format!("{}, {}", runs.0, runs.1),
            said(Metric::Goodput),
            said(Metric::P50),
            said(Metric::P99),
            said(Metric::FailureShare),
            match comparison.verdict {
                Verdict::Worse => "WORSE".to_owned(),
                Verdict::Better => "BETTER".to_owned(),
                Verdict::CannotTell { about_more_pairs, .. } => {
                    format!("cannot tell (about {} more runs each)", count(about_more_pairs.into()))
                }
                same @ Verdict::SameWithin { .. } => same.to_string(),
            },
        ]);
    }
    let mut text = String::from("\n");
    for line in columns.within(style.columns() - 2, &["runs", "p50", "failed", "p99", "goodput"]) {
        text.push_str(&format!("  {line}\n"));
    }
    DiffVerdict { text: text + &paragraph(REPEATED, style.columns()), is_repeated: true }
}

/// A sentence or two below or above the table, on lines of their own.
fn paragraph(prose: &str, room: usize) -> String {
    wrapped(prose, room - 2).iter().fold("\n".to_owned(), |text, line| text + "  " + line + "\n")
}

/// One side in the first lines: its letter, and what it is, the next lines below the first.
fn side_line(letter: &str, about: &str, room: usize) -> String {
    let lines = wrapped(about, room - 5);
    let starts = std::iter::once(letter).chain(std::iter::repeat(" "));
    starts.zip(&lines).fold(String::new(), |text, (start, line)| text + "  " + start + "  " + line + "\n")
}

/// Whether a run's figures are the server's.
fn says_something(run: &Summary) -> bool {
    generator_limit(run).is_none() && Validity::of(run).standing != Standing::Invalid
}

/// What two sweeps differ in besides their levels and where they lead, and so what else may have made the difference.
#[must_use]
pub fn unlike(a: &Sweep, b: &Sweep) -> Vec<String> {
    let Some((from, to)) = a.trials.first().zip(b.trials.first()) else { return Vec::new() };
    unlike::runs(&from.summary, &to.summary, &["connections", "rate", "threads"])
}

/// Every level with repetitions on both sides, compared.
fn repeated(a: &Sweep, b: &Sweep) -> Vec<(Level, Verdicts, (usize, usize))> {
    let runs = |sweep: &Sweep, level: Level| -> Vec<Values> {
        let sound = sweep.trials.iter().filter(|trial| trial.level == level && says_something(&trial.summary));
        sound.map(|trial| values(&trial.summary)).collect()
    };
    let rows = a.rows();
    rows.iter()
        .filter_map(|row| {
            let (from, to) = (runs(a, row.level), runs(b, row.level));
            let enough = from.len() >= REPETITIONS_MIN && to.len() >= REPETITIONS_MIN;
            enough.then(|| (row.level, unpaired(&from, &to, &Margins::default()), (from.len(), to.len())))
        })
        .collect()
}

/// The charts of both sides: QPS and latency, and success rate, each as SVG and PNG. Their names are `A_B` and these endings.
#[must_use]
pub fn charts(a: &SweepCurve, b: &SweepCurve) -> Vec<ResultFile> {
    let (throughput, success) = (qps_ttlb_diff(a, b), success_rate_diff(a, b));
    let file = |ending, bytes| ResultFile { ending, about: "chart", bytes };
    vec![
        file(".qps.ttlb.diff.svg", throughput.svg().into_bytes()),
        file(".qps.ttlb.diff.png", throughput.png(Density::DOCUMENT)),
        file(".successrate.diff.svg", success.svg().into_bytes()),
        file(".successrate.diff.png", success.png(Density::DOCUMENT)),
    ]
}
