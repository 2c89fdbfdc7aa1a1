//! A comparison of two sides, measured in pairs: a table that grows, the verdicts, what the change looks like, and files.
//!
//! The table of a comparison is read by someone who must decide whether to ship. So each figure has the change beside it with
//! its interval, each change one verdict out of four, and below stands in words where in the distribution the change is. Pairs
//! in which the load generator was the limit say nothing about the server: they are shown, marked and left out, because a
//! table without them would hide that they were there.
//!
//! Invariant: the JSON holds every run whole, so that another judgement needs no other measurement.

pub(crate) mod steps;
mod words;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use analysis::compare::{
    Answered, Calibration, Change, Comparison, Distance, Margins, Metric, Need, PAIRS_MIN, QuantileShift, Values, Verdict, paired,
    shift_by_quantile, values,
};
use analysis::gate::{self, Check, Judgement, Why};
use analysis::quantity::{self, NONE, counted, figure, length, percent, time};
use analysis::{Cause, Standing, Validity, What, generator_limit};
use measure::Summary;
use plan::{Load, Random};
use serde::{Deserialize, Serialize};

use crate::chart::shift::shift;
use crate::columns::{Column, grown, remarked, wrapped};
use crate::format::Tone;
use crate::json::{Label, ReadError, write_json};
use crate::png::Density;
use crate::server_side::{self, Rows};
use crate::sweep::SweepFile;
use crate::text::verdict_tone;
use crate::{Style, profiles, story, visible};

pub use words::{apart, reading};

/// The version of the comparison file.
pub const COMPARE_SCHEMA: &str = "loadline.compare/1";
/// The endings of a comparison's files.
pub const ENDINGS: &[&str] = &[".compare.json", ".compare.md", "_shift.png", "_shift.svg"];
/// That of the exchanges of sides that tell how wide a gap is by chance.
const DISTANCE_STREAM: u64 = 0xD157;

/// The metrics of the table, in its order.
const SHOWN: [Metric; 6] = [Metric::Qps, Metric::Goodput, Metric::P50, Metric::P95, Metric::P99, Metric::FailureShare];

/// Which side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Side {
    /// The one compared with.
    A,
    /// The one in question.
    B,
}

/// What was run as one side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// What the user calls it: an address, a file, a command.
    pub name: String,
    /// The command that was started for each of its runs.
    pub command: Option<String>,
}

/// One run of each side, one after the other.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Pair {
    /// The side that was run first.
    pub first: Side,
    /// The run of A.
    pub a: Summary,
    /// The run of B.
    pub b: Summary,
    /// Why the pair is left out of the comparison.
    pub left_out: Option<String>,
}

impl Pair {
    /// A pair; left out if the generator was the limit in either run, either is INVALID, or nothing fell due.
    #[must_use]
    pub fn new(first: Side, a: Summary, b: Summary) -> Self {
        let limit = |name: &str, run: &Summary| {
            generator_limit(run)
                .map(|limit| format!("the load generator was the limit of {name}: {limit}"))
                .or_else(|| {
                    let validity = Validity::of(run);
                    (validity.standing == Standing::Invalid).then(|| format!("the run of {name} is INVALID: {}", validity.why()))
                })
                .or_else(|| (run.requests.due == 0).then(|| format!("no request of {name} fell due")))
        };
        let left_out = limit("A", &a).or_else(|| limit("B", &b));
        Self { first, a, b, left_out }
    }
}

/// A run of one side with profiles of its server, after the pairs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ProfiledSide {
    /// Which.
    pub side: Side,
    /// The whole run.
    pub summary: Summary,
}

/// A comparison and everything it was made from.
#[derive(Debug, Clone, Serialize)]
pub struct Compared {
    /// Always [`COMPARE_SCHEMA`].
    pub schema: &'static str,
    /// What its files are named after.
    pub name: String,
    /// What A is.
    pub a: Subject,
    /// What B is.
    pub b: Subject,
    /// How many pairs were asked for; where that was left open, how many their noise asks for.
    pub pairs_planned: u32,
    /// The changes that do not matter.
    pub margins: Margins,
    /// What the target differs from itself by, if that was measured before.
    pub calibration: Option<Calibration>,
    /// What the plans differ in besides the target, where that was let pass.
    pub differences: Vec<String>,
    /// Verdict by verdict; `None` without a single pair that counts.
    pub comparison: Option<Comparison>,
    /// What B has to keep to.
    #[serde(skip)]
    pub promises: Vec<Check>,
    /// Whether it did, by all its runs that count together.
    pub checks: Vec<Judgement>,
    /// How each percentile changed.
    pub shifts: Vec<QuantileShift>,
    /// How far apart the whole distributions are; `None` if nothing was answered.
    pub distance: Option<Distance>,
    /// What that looks like, in sentences.
    pub reading: Vec<String>,
    /// Why it ended before its last pair.
    pub stopped: Option<String>,
    /// Every pair that was measured, in order.
    pub pairs: Vec<Pair>,
    /// A run more of each side with profiles of its server; they are no part of the comparison.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub profiled: Vec<ProfiledSide>,
}

impl Compared {
    /// Nothing measured yet. The margins are made no narrower than what the target differs from itself by.
    #[must_use]
    pub fn new(name: String, a: Subject, b: Subject, pairs_planned: u32, margins: Margins, calibration: Option<Calibration>) -> Self {
        let margins = match &calibration {
            Some(calibration) => margins.widened(calibration),
            None => margins,
        };
        Self {
            schema: COMPARE_SCHEMA,
            name,
            a,
            b,
            pairs_planned,
            margins,
            calibration,
            differences: Vec::new(),
            comparison: None,
            promises: Vec::new(),
            checks: Vec::new(),
            shifts: Vec::new(),
            distance: None,
            reading: Vec::new(),
            stopped: None,
            pairs: Vec::new(),
            profiled: Vec::new(),
        }
    }

    /// Compares what was measured so far.
    pub fn judge(&mut self) {
        let sound: Vec<&Pair> = self.sound().collect();
        let both = self.values();
        let all_of_b = gate::together(&sound.iter().map(|pair| &pair.b).collect::<Vec<&Summary>>());
        let seed = sound.first().map_or(0, |pair| pair.a.plan.seed());
        let answered: Vec<_> = sound.iter().map(|pair| (Answered::from(&pair.a), Answered::from(&pair.b))).collect();
        let shifts = shift_by_quantile(&sound.iter().map(|pair| (&pair.a, &pair.b)).collect::<Vec<_>>());
        self.comparison = (!both.is_empty()).then(|| paired(&both, &self.margins));
        self.checks = match all_of_b {
            Some(all) => gate::judge(&self.promises, &all),
            None => {
                let unknown = |check: &Check| Judgement {
                    check: check.clone(),
                    measured: None,
                    interval: None,
                    verdict: gate::Verdict::NotJudgeable { why: Why::Nothing },
                };
                self.promises.iter().map(unknown).collect()
            }
        };
        self.shifts = shifts;
        self.distance = Distance::of(&answered, &mut Random::new(seed, DISTANCE_STREAM));
        self.reading = reading(self);
    }

    /// The figures of the pairs that count.
    fn values(&self) -> Vec<(Values, Values)> {
        self.sound().map(|pair| (values(&pair.a), values(&pair.b))).collect()
    }

    /// How many pairs it takes, by the noise of those that count so far.
    #[must_use]
    pub fn need(&self) -> Option<Need> {
        Need::of(&self.values(), &self.margins)
    }

    /// The pairs that count.
    pub fn sound(&self) -> impl Iterator<Item = &Pair> {
        self.pairs.iter().filter(|pair| pair.left_out.is_none())
    }

    /// The verdict on the whole; `None` where too few pairs count for any.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        let enough = self.sound().count() >= PAIRS_MIN;
        self.comparison.as_ref().filter(|_| enough).map(|comparison| comparison.verdict)
    }
}

/// Reads the JSON of a comparison. What follows from its pairs is found anew.
///
/// # Errors
/// If the text is not JSON, is of another version, or lacks something; with the place where that shows.
pub fn read(text: &str) -> Result<Compared, ReadError> {
    /// What was measured and asked for.
    #[derive(Deserialize)]
    struct Saved {
        name: String,
        a: Subject,
        b: Subject,
        pairs_planned: u32,
        margins: Margins,
        calibration: Option<Calibration>,
        #[serde(default)]
        differences: Vec<String>,
        #[serde(default)]
        checks: Vec<Promised>,
        stopped: Option<String>,
        pairs: Vec<Pair>,
        #[serde(default)]
        profiled: Vec<ProfiledSide>,
    }
    /// What was promised; whether it was kept is found anew.
    #[derive(Deserialize)]
    struct Promised {
        check: Check,
    }
    let label: Label = serde_json::from_str(text)?;
    match label.schema.as_deref() {
        Some(COMPARE_SCHEMA) => {}
        Some(other) => {
            return Err(ReadError::Schema(format!("it is written as '{}', and this loadline reads '{COMPARE_SCHEMA}'", visible(other))));
        }
        None => return Err(ReadError::Schema("it is not a comparison of loadline".to_owned())),
    }
    let Saved { name, a, b, pairs_planned, margins, calibration, differences, checks, stopped, pairs, profiled } =
        serde_json::from_str(text)?;
    let promises = checks.into_iter().map(|promised| promised.check).collect();
    let mut compared = Compared {
        margins,
        differences,
        promises,
        stopped,
        pairs,
        profiled,
        ..Compared::new(name, a, b, pairs_planned, Margins::default(), calibration)
    };
    compared.judge();
    Ok(compared)
}

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
pub fn header(compared: &Compared, style: &Style) -> String {
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

fn subjects(compared: &Compared) -> String {
    let about = |side: &str, subject: &Subject| format!("  {side}  {}\n", visible(&subject.name));
    about("A", &compared.a) + &about("B", &compared.b)
}

/// All of it: what is compared, every pair, and what follows.
#[must_use]
pub fn text(compared: &Compared, style: &Style) -> String {
    let rows: String = (1..).zip(&compared.pairs).map(|(number, pair)| row(number, pair, style) + "\n").collect();
    header(compared, style) + &rows + &conclusion(compared, style)
}

/// The table of verdicts, and what the change looks like.
#[must_use]
pub fn conclusion(compared: &Compared, style: &Style) -> String {
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
    if let Some(comparison) = &compared.comparison {
        text.push('\n');
        text += &verdicts(comparison, style);
    }
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
fn verdicts(comparison: &Comparison, style: &Style) -> String {
    let changes: Vec<&Change> = shown_changes(comparison).collect();
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

/// Whether B kept a promise: `held by B: p99 < 200ms: 31 ms`.
fn promised(judgement: &Judgement) -> String {
    format!("{} by B: {}: {}", judgement.verdict.name(), judgement.check, judgement.about())
}

/// How it was measured, in one sentence without its full stop.
pub(crate) fn design(compared: &Compared) -> String {
    let measured = compared.pairs.len();
    let sound = compared.sound().count();
    let mut text = counted(measured as u64, "pair");
    if let Some(plan) = compared.pairs.first().map(|pair| &pair.a.plan) {
        if let Some(duration) = plan.duration() {
            let _ = write!(text, " of {}", length(duration));
        }
        match plan.load() {
            Load::Closed { users, .. } => {
                let _ = write!(text, " at {}", counted(users.get().into(), "concurrent user"));
            }
            Load::Open { timetable, .. } => {
                let what = if plan.scenario().is_some() { "journeys begun" } else { "requests" };
                let _ = write!(text, " at up to {} {what} a second", figure(timetable.peak().as_per_second()));
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

pub(crate) fn shown_changes(comparison: &Comparison) -> impl Iterator<Item = &Change> {
    SHOWN.into_iter().filter_map(|metric| comparison.changes.iter().find(|change| change.metric == metric))
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

/// A share as a percentage with its sign.
pub(crate) fn signed(share: f64) -> String {
    if share.is_infinite() {
        return if share > 0.0 { "+∞" } else { "−∞" }.to_owned();
    }
    let size = share.abs() * 100.0;
    let text = if size >= 9.95 { quantity::decimal(size, 0) } else { quantity::decimal(size, if size < 0.1 { 2 } else { 1 }) };
    let zero = text.bytes().all(|byte| byte == b'0' || byte == b'.');
    match (zero, share < 0.0) {
        (true, _) => "0".to_owned(),
        (false, true) => format!("−{text}"),
        (false, false) => format!("+{text}"),
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

/// The metric whose margin a percentile is held against.
pub(crate) fn metric_of(q: f64) -> Metric {
    if q < 0.95 {
        Metric::P50
    } else if q < 0.99 {
        Metric::P95
    } else if q < 0.999 {
        Metric::P99
    } else {
        Metric::P999
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

/// Every file of a comparison; their names are its name and these [`ENDINGS`].
///
/// # Errors
/// Only where writing JSON to memory fails.
pub fn files(compared: &Compared) -> std::io::Result<Vec<SweepFile>> {
    let json = json(compared)?;
    let chart = shift(compared);
    let file = |ending, about, bytes| SweepFile { ending, about, bytes };
    Ok(vec![
        file(".compare.json", "every figure", json),
        file(".compare.md", "report", markdown(compared).into_bytes()),
        file("_shift.png", "chart", chart.png(Density::DOCUMENT)),
        file("_shift.svg", "chart", chart.svg().into_bytes()),
    ])
}

/// The file with everything in it.
///
/// # Errors
/// Only where writing to memory fails.
pub fn json(compared: &Compared) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    write_json(compared, &mut bytes)?;
    Ok(bytes)
}

/// The comparison as a page of Markdown.
pub(crate) fn markdown(compared: &Compared) -> String {
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
    if let Some(comparison) = &compared.comparison {
        say("| | A | B | change | verdict |\n|---|---:|---:|---|---|");
        for change in shown_changes(comparison) {
            say(&format!("| {} |", cells(change).join(" | ")));
        }
        say("");
    }
    if let Some(transactions) = steps::transactions(compared) {
        say(&format!("{}.\n", escaped(&transactions)));
        say(&format!("| {} |\n|---|---:|---:|---:|---:|---:|", steps::HEADS.join(" | ")));
        for row in steps::rows(compared) {
            say(&format!("| {} |", row.map(|cell| escaped(&cell)).join(" | ")));
        }
        say("");
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
            "- from: {}, {}, {}, {}",
            escaped(&machine.processor),
            counted(machine.cores.into(), "core"),
            escaped(&machine.system),
            escaped(&machine.loadline)
        ));
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
pub fn without_charts(compared: &Compared) -> String {
    markdown(compared).lines().filter(|line| !line.starts_with("![")).fold(String::new(), |page, line| page + line + "\n")
}

/// What others did to a run's machine, in sentences.
fn disturbed(run: &Summary) -> impl Iterator<Item = String> {
    let others = |cause: &Cause| matches!(cause.what, What::RunQueue { .. } | What::Steal { .. });
    Validity::of(run).causes.into_iter().filter(others).map(|cause| cause.what.to_string())
}
