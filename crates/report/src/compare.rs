//! A comparison of two sides, measured in pairs: a table that grows, the verdicts, what the change looks like, and files.
//!
//! The table of a comparison is read by someone who must decide whether to ship. So each figure has the change beside it with
//! its interval, each change one verdict out of four, and below stands in words where in the distribution the change is. Pairs
//! in which the load generator was the limit say nothing about the server: they are shown, marked and left out, because a
//! table without them would hide that they were there.

pub(crate) mod steps;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use analysis::compare::{Change, Metric, Verdict, Verdicts};
use analysis::comparison::{Comparison, Pair, Side, Subject};
use analysis::gate::Judgement;
use analysis::quantity::{self, NONE, counted, figure, length, percent, signed, time};
use analysis::{Cause, Validity, What};
use measure::{StreamRow, Summary};
use plan::Load;

use crate::chart::shift::shift;
use crate::columns::{Column, Columns, grown, remarked, wrapped};
use crate::json::write_json;
use crate::machines::{first_of_machines, other_machines};
use crate::png::Density;
use crate::server_side::{self, Rows};
use crate::style::Tone;
use crate::text::verdict_tone;
use crate::{ResultFile, Style, profiles, story, streamed, visible};

/// The metrics of the table, in its order.
const SHOWN: [Metric; 6] = [Metric::Qps, Metric::Goodput, Metric::P50, Metric::P95, Metric::P99, Metric::FailureShare];

/// Heads and widths of the table that grows.
const COLUMNS: [Column; 9] = [
    Column::new("pair", 5, 0),
    Column::new("order", 6, 3),
    Column::new("QPS A", 10, 0),
    Column::new("QPS B", 10, 0),
    Column::new("p50 A", 9, 2),
    Column::new("p50 B", 9, 2),
    Column::new("p99 A", 9, 0),
    Column::new("p99 B", 9, 0),
    Column::new("failed A, B", 14, 1),
];

/// The names of metrics and their values are at least this wide, so that tables of one page stand in line.
const METRIC_WIDTH: usize = 10;
const VALUE_WIDTH: usize = 8;

/// What is compared, and the line over the pairs.
#[must_use]
pub fn header(compared: &Comparison, style: &Style) -> String {
    let heads = COLUMNS.map(|column| column.head.to_owned());
    format!("\n{}\n{}\n", subjects(compared), style.paint(Tone::Aside, &grown(&COLUMNS, &heads, "", style.columns())))
}

/// One pair; number from 1.
#[must_use]
pub fn row(number: usize, pair: &Pair, style: &Style) -> String {
    let remark = pair.left_out.as_ref().map_or_else(String::new, |why| format!("left out: {why}"));
    remarked(&COLUMNS, &pair_cells(number, pair), &remark, Tone::Caution, style)
}

/// Its figures in the order of the columns.
pub(crate) fn pair_cells(number: usize, pair: &Pair) -> [String; 9] {
    let failed = |run: &Summary| quantity::count(run.requests.failed + run.requests.unsent);
    let known = |run: &Summary, metric: Metric| metric.of(run).map_or_else(|| NONE.to_owned(), |value| shown(metric, value));
    [
        number.to_string(),
        if pair.first == Side::A { "A B" } else { "B A" }.to_owned(),
        known(&pair.a, Metric::Qps),
        known(&pair.b, Metric::Qps),
        known(&pair.a, Metric::P50),
        known(&pair.b, Metric::P50),
        known(&pair.a, Metric::P99),
        known(&pair.b, Metric::P99),
        format!("{}, {}", failed(&pair.a), failed(&pair.b)),
    ]
}

fn subjects(compared: &Comparison) -> String {
    let about = |side: &str, subject: &Subject| format!("  {side}  {}\n", visible(&subject.name));
    about("A", &compared.a) + &about("B", &compared.b)
}

/// All of it: what is compared, every pair, and what follows.
#[must_use]
pub fn text(compared: &Comparison, style: &Style) -> String {
    let rows: String = (1..).zip(&compared.pairs).map(|(number, pair)| row(number, pair, style) + "\n").collect();
    header(compared, style) + &rows + &conclusion(compared, style)
}

/// The table of verdicts, and what the change looks like.
#[must_use]
pub fn conclusion(compared: &Comparison, style: &Style) -> String {
    let mut text = String::from("\n");
    let mut say = |tone: Tone, prose: &str| {
        for line in wrapped(prose, style.columns() - 2) {
            let _ = writeln!(text, "  {}", style.paint(tone, &line));
        }
    };
    say(Tone::Aside, &format!("{}.", design(compared)));
    for difference in &compared.differences {
        say(Tone::Caution, &format!("The plans differ: {difference}."));
    }
    if let Some(verdicts) = &compared.verdicts {
        text.push('\n');
        text += &verdict_table(verdicts, style);
    }
    text += &events_text(compared, style);
    text += &steps::text(compared, style);
    for judgement in &compared.checks {
        for line in wrapped(&promised(judgement), style.columns() - 2) {
            let _ = write!(text, "\n  {}", style.paint(verdict_tone(&judgement.verdict), &line));
        }
    }
    if !compared.checks.is_empty() {
        text.push('\n');
    }
    text.push('\n');
    for (at, sentence) in compared.reading.iter().enumerate() {
        let tone = if at == 0 { Tone::Answer } else { Tone::Normal };
        for line in wrapped(sentence, style.columns() - 2) {
            let _ = writeln!(text, "  {}", style.paint(tone, &line));
        }
    }
    text += &server_side::of_sides(&server_side::sides(compared), style.columns());
    let taken = profiles::of_comparison(compared);
    for (sentence, table) in profiles::told_of(&taken) {
        text.push('\n');
        wrapped(&sentence, style.columns() - 2).iter().for_each(|line| text += &format!("  {line}\n"));
        text += &format!("\n{table}");
    }
    for warning in profiles::warnings(&taken) {
        wrapped(&warning, style.columns() - 2).iter().for_each(|line| text += &format!("  {}\n", style.paint(Tone::Caution, line)));
    }
    text
}

/// The table of verdicts; a verdict for which there is no room stands below its row.
fn verdict_table(verdicts: &Verdicts, style: &Style) -> String {
    let changes: Vec<&Change> = shown_changes(verdicts).collect();
    let mut rows = vec![["", "A", "B", "change", "verdict"].map(str::to_owned)];
    rows.extend(changes.iter().map(|change| cells(change)));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let (name, change) = (width(0).max(METRIC_WIDTH), width(3));
    let columns = [
        Column::wide(name + 1, 0),
        Column::wide(width(1).max(VALUE_WIDTH), 1),
        Column::wide(width(2).max(VALUE_WIDTH), 1),
        Column::wide(change + 2, 0),
    ];
    let tones = std::iter::once(Tone::Aside).chain(changes.iter().map(|change| tone(change.verdict)));
    let line = |(row, tone): (&[String; 5], Tone)| {
        let [metric, a, b, moved, verdict] = row;
        // Names and changes start where their neighbours start: signs then stand below each other.
        let cells = [format!(" {metric:<name$}"), a.clone(), b.clone(), format!("  {moved:<change$}")];
        remarked(&columns, &cells, verdict, tone, style) + "\n"
    };
    rows.iter().zip(tones).map(line).collect()
}

/// What is said of the events of both.
pub(crate) const EVENTS_NOTE: &str = "Events of all pairs that count, together; there is no verdict on them.";

/// The events of both sides, row by row, in all pairs that count; empty unless both streamed.
pub(crate) fn events(compared: &Comparison) -> Vec<[String; 4]> {
    let together = |side: usize| {
        let mut rows = compared.sound().map(|pair| [&pair.a, &pair.b][side].streams.as_deref()).enumerate();
        let first: Option<StreamRow> = rows.next()?.1.cloned();
        rows.fold(first, |all, (place, row)| {
            let (mut all, row) = (all?, row?);
            all.add(row, (place as f64, 1.0));
            Some(all)
        })
    };
    streamed::side_by_side(together(0).as_ref(), together(1).as_ref())
}

fn events_text(compared: &Comparison, style: &Style) -> String {
    let rows = events(compared);
    if rows.is_empty() {
        return String::new();
    }
    let mut columns = Columns::new(&streamed::SIDES);
    rows.iter().for_each(|row| columns.row(row));
    let mut text = columns.within(style.columns() - 2, &[]).iter().fold("\n".to_owned(), |text, line| text + "  " + line + "\n");
    wrapped(EVENTS_NOTE, style.columns() - 2).iter().for_each(|line| text += &format!("  {line}\n"));
    text
}

/// Whether B kept a promise: `held by B: p99 < 200ms: 31 ms`.
fn promised(judgement: &Judgement) -> String {
    format!("{} by B: {}: {}", judgement.verdict.name(), judgement.check, judgement.about())
}

/// How it was measured, in one sentence without its full stop.
pub(crate) fn design(compared: &Comparison) -> String {
    let measured = compared.pairs.len();
    let sound = compared.sound().count();
    let mut text = counted(measured as u64, "pair");
    if let Some(plan) = compared.pairs.first().map(|pair| &pair.a.plan) {
        if let Some(duration) = plan.duration() {
            let _ = write!(text, " of {}", length(duration));
        }
        match plan.load() {
            Load::Closed { users, .. } => {
                let _ = write!(text, " at {}{}", story::up_to(users), counted(users.peak().into(), "concurrent user"));
            }
            Load::Open { timetable, .. } => {
                let what = if plan.scenario().is_some() { "journeys begun" } else { "requests" };
                let _ = write!(text, " at up to {} {what} a second", figure(timetable.peak().as_per_second()));
            }
            Load::Mixed(populations) => {
                let _ = write!(text, " of {}", counted(populations.len() as u64, "population"));
            }
        }
    }
    text += ", in random order, the same seed on both sides";
    if sound < measured {
        let _ = write!(text, "; {} left out", counted((measured - sound) as u64, "pair"));
    }
    if compared.a.command.is_some() {
        text += "; each server started anew for every run";
    } else {
        text += "; the same server processes throughout";
    }
    match compared.calibration.as_ref().map(|calibration| &calibration.noise) {
        None => text += "; what this setup differs from itself by is not known (loadline calibrate --aa tells)",
        Some(noise) => {
            let reach: Vec<String> = [Metric::Goodput, Metric::P50, Metric::P99]
                .into_iter()
                .filter_map(|metric| Some(format!("±{} % in {metric}", percent(noise.get(&metric)?.reach * 100.0))))
                .collect();
            let _ = write!(text, "; noise of this setup (A/A): {}", reach.join(", "));
        }
    }
    text
}

pub(crate) fn shown_changes(verdicts: &Verdicts) -> impl Iterator<Item = &Change> {
    SHOWN.into_iter().filter_map(|metric| verdicts.changes.iter().find(|change| change.metric == metric))
}

pub(crate) fn cells(change: &Change) -> [String; 5] {
    [name(change.metric).to_owned(), shown(change.metric, change.a), shown(change.metric, change.b), said(change), verdict(change)]
}

/// The metric as the first column calls it.
const fn name(metric: Metric) -> &'static str {
    match metric {
        Metric::Qps => "QPS",
        Metric::FailureShare => "failed",
        other => other.name(),
    }
}

/// A value of a metric with its unit.
fn shown(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Qps | Metric::Goodput => figure(value),
        Metric::FailureShare => format!("{} %", percent(value * 100.0)),
        _ if value.is_infinite() => "failed".to_owned(),
        _ => time(value),
    }
}

/// A change with its interval: `+31 % (+24 … +39)`.
pub(crate) fn said(change: &Change) -> String {
    let unit = if change.metric == Metric::FailureShare { "points" } else { "%" };
    if change.metric == Metric::FailureShare && change.estimate == 0.0 && change.a == 0.0 && change.b == 0.0 {
        return "none".to_owned();
    }
    match change.interval {
        Some(interval) => {
            format!("{} {unit} ({} … {})", signed(change.estimate), signed(interval.low), signed(interval.high))
        }
        None => format!("{} {unit}", signed(change.estimate)),
    }
}

/// A verdict as the last column says it. What matters most stands in capitals, because colour must not carry it.
fn verdict(change: &Change) -> String {
    match change.verdict {
        Verdict::Worse => "WORSE".to_owned(),
        Verdict::Better => "BETTER".to_owned(),
        Verdict::SameWithin { margin } if change.metric == Metric::FailureShare => {
            format!("same within {} points", percent(margin * 100.0))
        }
        Verdict::SameWithin { margin } => format!("same within {} %", percent(margin * 100.0)),
        unsure @ Verdict::CannotTell { .. } => unsure.to_string(),
    }
}

fn tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::Worse => Tone::Bad,
        Verdict::Better => Tone::Good,
        Verdict::SameWithin { .. } => Tone::Normal,
        Verdict::CannotTell { .. } => Tone::Caution,
    }
}

/// Every file of a comparison; their names are its name and these endings.
///
/// # Errors
/// Only where writing JSON to memory fails.
pub fn files(compared: &Comparison) -> std::io::Result<Vec<ResultFile>> {
    let chart = shift(compared);
    let file = |ending, about, bytes| ResultFile { ending, about, bytes };
    Ok(vec![
        json(compared)?,
        file(".compare.md", "report", markdown(compared).into_bytes()),
        file("_shift.png", "chart", chart.png(Density::DOCUMENT)),
        file("_shift.svg", "chart", chart.svg().into_bytes()),
    ])
}

/// The file with everything in it.
///
/// # Errors
/// Only where writing to memory fails.
pub fn json(compared: &Comparison) -> std::io::Result<ResultFile> {
    let mut bytes = Vec::new();
    write_json(compared, &mut bytes)?;
    Ok(ResultFile { ending: ".compare.json", about: "every figure", bytes })
}

/// The comparison as a page of Markdown.
pub(crate) fn markdown(compared: &Comparison) -> String {
    let escaped = |text: &str| visible::markdown(text);
    let mut page = format!("# {}\n\n", escaped(&compared.name));
    let mut say = |line: &str| writeln!(page, "{line}").expect("writing to memory does not fail");
    for sentence in &compared.reading {
        say(&format!("- {}", escaped(sentence)));
    }
    say(&format!("\n- A: {}\n- B: {}\n- {}\n", escaped(&compared.a.name), escaped(&compared.b.name), escaped(&design(compared))));
    for difference in &compared.differences {
        say(&format!("- the plans differ: {}", escaped(difference)));
    }
    if let Some(verdicts) = &compared.verdicts {
        say("| | A | B | change | verdict |\n|---|---:|---:|---|---|");
        for change in shown_changes(verdicts) {
            say(&format!("| {} |", cells(change).join(" | ")));
        }
        say("");
    }
    let events = events(compared);
    if !events.is_empty() {
        say("| | A | B | change |\n|---|---:|---:|---:|");
        events.iter().for_each(|row| say(&format!("| {} |", row.join(" | "))));
        say(&format!("\n{EVENTS_NOTE}\n"));
    }
    if let Some(transactions) = steps::transactions(compared) {
        say(&format!("{}.\n", escaped(&transactions)));
        for both in steps::both(compared) {
            say(&format!("| {} |\n|---|---:|---:|---:|---:|---:|", both.heads.join(" | ")));
            for row in both.rows {
                say(&format!("| {} |", row.map(|cell| escaped(&cell)).join(" | ")));
            }
            say("");
        }
    }
    for judgement in &compared.checks {
        say(&format!("- {}", escaped(&promised(judgement))));
    }
    if !compared.checks.is_empty() {
        say("");
    }
    if !compared.shifts.is_empty() {
        say(&format!("![Shift by percentile]({}_shift.svg)\n", crate::sweep::markdown::file_link(&compared.name)));
    }
    let sides = server_side::sides(compared);
    if let Some(rows) = Rows::of_sides(&sides) {
        say(&rows.markdown());
        if let Some(cost) = server_side::cost(&sides) {
            say(&format!("{cost}\n"));
        }
    }
    let grown = profiles::markdown(&profiles::of_comparison(compared));
    if !grown.is_empty() {
        say(grown.trim_end_matches('\n'));
        say("");
    }
    say("## How it was measured\n");
    if let Some(pair) = compared.pairs.first() {
        let summary = &pair.a;
        say(&format!("- request: {}", escaped(&story::request_of(&summary.plan))));
        let machine = &summary.machine;
        say(&format!(
            "- from: {}, {}, {}, {}{}",
            escaped(&machine.processor),
            counted(machine.cores.into(), "core"),
            escaped(&machine.system),
            escaped(&machine.loadline),
            first_of_machines(summary)
        ));
        for (names, machine) in other_machines(summary) {
            say(&format!("- from {}: {}", escaped(&names), escaped(&machine)));
        }
        say(&format!("- started: {}", escaped(&summary.started)));
    }
    // Their figures differ from run to run; one example makes the point.
    let mut remarks: BTreeMap<String, (String, usize)> = BTreeMap::new();
    for run in compared.pairs.iter().flat_map(|pair| [&pair.a, &pair.b]) {
        for remark in disturbed(run).chain(run.warnings.iter().cloned()) {
            let kind: String = remark.chars().filter(|letter| !letter.is_ascii_digit() && *letter != '.').collect();
            remarks.entry(kind).or_insert((remark, 0)).1 += 1;
        }
    }
    for (remark, runs) in remarks.values() {
        say(&format!("- caution, in {runs} of {} runs: {}", 2 * compared.pairs.len(), escaped(remark)));
    }
    say("\n| pair | order | QPS A | QPS B | p50 A | p50 B | p99 A | p99 B | failed A, B | |");
    say("|---:|---|---:|---:|---:|---:|---:|---:|---:|---|");
    for (at, pair) in compared.pairs.iter().enumerate() {
        let plain = Pair { left_out: None, ..pair.clone() };
        let cells: Vec<String> =
            row(at + 1, &plain, &Style::PLAIN).split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect();
        let left_out = pair.left_out.as_ref().map_or_else(String::new, |why| format!("left out: {}", escaped(why)));
        say(&format!("| {} | {left_out} |", cells.join(" | ")));
    }
    page
}

/// The page for a place that has no charts beside it.
#[must_use]
pub fn without_charts(compared: &Comparison) -> String {
    markdown(compared).lines().filter(|line| !line.starts_with("![")).fold(String::new(), |page, line| page + line + "\n")
}

/// What others did to a run's machine, in sentences.
fn disturbed(run: &Summary) -> impl Iterator<Item = String> {
    let others = |cause: &Cause| matches!(cause.what, What::RunQueue { .. } | What::Steal { .. });
    Validity::of(run).causes.into_iter().filter(others).map(|cause| cause.what.to_string())
}
