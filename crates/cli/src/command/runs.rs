//! `loadline runs`: what is in the history, the newest first.

use std::fmt::Write as _;
use std::str::FromStr;

use clap::Args;
use history::{Entry, Filter, Kind, Moment, Store};
use plan::{Plan, PlanError, PlanErrors, Setting};
use report::page::{InText, Point, trend_in_text};
use report::{prose, visible};
use serde::Serialize;

use crate::exit::{Exit, Failed};
use crate::keeping::{At, refused};
use crate::saved;

/// Which runs, and how they are told.
#[derive(Debug, Args)]
pub struct Runs {
    /// Called so; * stands for anything
    #[arg(long, value_name = "NAME", help_heading = "Filter")]
    name: Option<String>,

    /// Saved with this word (repeatable: with all of them)
    #[arg(long, value_name = "WORD", help_heading = "Filter")]
    tag: Vec<String>,

    /// With this in the target
    #[arg(long, value_name = "TEXT", help_heading = "Filter")]
    target: Option<String>,

    /// Of this kind: run, sweep, find, compare
    #[arg(long, value_name = "KIND", help_heading = "Filter")]
    kind: Option<Setting<Kind>>,

    /// Begun since then: 7d, 12h, or a date such as 2026-11-01
    #[arg(long, value_name = "WHEN", help_heading = "Filter")]
    since: Option<Setting<Age>>,

    /// Of this git revision, or beginning of one
    #[arg(long, value_name = "REVISION", help_heading = "Filter")]
    revision: Option<String>,

    /// Show at most N
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = "Output")]
    limit: u32,

    /// Show all of them
    #[arg(long, conflicts_with = "limit", help_heading = "Output")]
    all: bool,

    /// As JSON
    #[arg(long, help_heading = "Output")]
    json: bool,

    /// How the figures of one name went over time, and when they changed for good
    #[arg(long, conflicts_with = "json", help_heading = "Output")]
    trend: bool,

    #[command(flatten)]
    at: At,
}

/// How long ago, or since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Age {
    /// So many milliseconds.
    Ago(i64),
    /// Then.
    At(Moment),
}

impl Age {
    /// The moment that is meant.
    pub fn before(self, now: Moment) -> Moment {
        match self {
            Self::Ago(ms) => Moment(now.0.saturating_sub(ms)),
            Self::At(moment) => moment,
        }
    }
}

impl FromStr for Age {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const UNITS: [(&str, i64); 5] = [("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("w", 604_800_000)];
        let span = UNITS.iter().find_map(|(unit, ms)| Some((text.strip_suffix(unit)?.trim().parse::<u32>().ok()?, ms)));
        if let Some((number, ms)) = span {
            return Ok(Self::Ago(i64::from(number) * ms));
        }
        let whole = if text.len() == "2026-11-01".len() { format!("{text}T00:00:00Z") } else { text.to_owned() };
        whole.parse().map(Self::At).map_err(|_| "is neither a time such as 7d nor a date such as 2026-11-01".to_owned())
    }
}

impl std::fmt::Display for Age {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ago(ms) => write!(f, "{}s", ms / 1_000),
            Self::At(moment) => write!(f, "{moment}"),
        }
    }
}

/// What `--json` prints.
#[derive(Serialize)]
struct Listed<'a> {
    total: u64,
    runs: &'a [Entry],
}

/// Lists.
pub fn carry_out(runs: Runs) -> Result<Exit, Failed> {
    let Runs { name, tag, target, kind, since, revision, limit, all, json, trend, at } = runs;
    let mut errors = PlanErrors::default();
    let kind = typed("kind", kind, "give --kind run, sweep, find or compare", &mut errors);
    let since = typed("since", since, "write --since 7d or --since 2026-11-01", &mut errors);
    if !errors.is_empty() {
        return Err(errors.into());
    }
    let since = since.map(|age| age.before(Moment::now()));
    let filter = Filter { text: None, name, tags: tag, target, kind, since, revision, limit: (!all && !trend).then_some(limit), offset: 0 };
    let store = at.open()?;
    let listed = store.list(&filter).map_err(|error| refused(&error))?;
    if trend && !listed.is_empty() {
        return super::print(over_time(listed, if all { usize::MAX } else { limit as usize })?.as_bytes());
    }
    let total = store.count(&filter).map_err(|error| refused(&error))?;
    if json {
        let mut text = serde_json::to_string_pretty(&Listed { total, runs: &listed }).expect("an entry can be written");
        text.push('\n');
        return super::print(text.as_bytes());
    }
    let mut text = String::new();
    if listed.is_empty() {
        text += match store.count(&Filter::default()) {
            Ok(0) => "\n  Nothing is saved yet: every run, sweep, find and compare saves its result on its own.\n\n",
            _ => "\n  None of the saved runs is like that.\n\n",
        };
    } else {
        text += &table(&store, &listed);
        let more = total - listed.len() as u64;
        if more > 0 {
            let _ = writeln!(text, "  and {more} before these: --all shows them, --name and --tag choose\n");
        }
    }
    super::print(text.as_bytes())
}

/// The trend of runs of one name and kind, the newest first; so many rows of them at most.
fn over_time(mut entries: Vec<Entry>, rows_max: usize) -> Result<String, Failed> {
    let mut of: Vec<(String, Kind)> = entries.iter().map(|entry| (entry.kept.name.clone(), entry.kept.kind)).collect();
    of.sort_by_key(|(name, kind)| (name.clone(), kind.name()));
    of.dedup();
    let (name, kind) = match &of[..] {
        [one] => one,
        several => {
            let named: Vec<String> = several.iter().take(NAMES_MAX).map(|(name, kind)| format!("{} ({kind})", visible(name))).collect();
            let more = if several.len() > NAMES_MAX { ", …" } else { "" };
            return Err(Failed::new(
                Exit::Usage,
                format_args!("a trend is of one name, and these are {}: {}{more}", several.len(), named.join(", ")),
                "choose one with --name NAME, and with --kind KIND where it has several",
            ));
        }
    };
    entries.reverse();
    let point = |entry: &Entry| Point {
        id: entry.short.clone(),
        started: entry.kept.started.to_string(),
        revision: entry.kept.revision.as_ref().map(|revision| revision.commit.clone()),
        qps: entry.kept.figures.qps,
        p50_ns: entry.kept.figures.p50_ns,
        p99_ns: entry.kept.figures.p99_ns,
        failed_share: entry.kept.figures.failed_share,
    };
    let InText { sentences, courses, mut table } = trend_in_text(name, kind.name(), &entries.iter().map(point).collect::<Vec<_>>());
    let said = sentences.iter().map(|sentence| prose(sentence, crate::output_args::columns()));
    let width = courses.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let courses = courses.iter().map(|(name, course)| format!("  {name:<width$}  {course}\n"));
    let more = (table.len() - 1).saturating_sub(rows_max);
    table.truncate(table.len() - more);
    let table = laid_out(table, &FIGURES, &LEAST, crate::output_args::terminal_columns().map_or(usize::MAX, usize::from));
    let mut text = format!("\n{}\n{}{table}", said.collect::<String>(), courses.collect::<String>());
    if more > 0 {
        let _ = writeln!(text, "  and {more} before these: --all shows them\n");
    }
    Ok(text)
}

/// What was typed; a mistake goes to `errors`.
pub fn typed<T>(name: &'static str, given: Option<Setting<T>>, help: &str, errors: &mut PlanErrors) -> Option<T> {
    match given? {
        Setting::Value(value) => Some(value),
        Setting::Wrong { text, why } => {
            errors.push(PlanError::new(name, format!("--{name} '{text}' {why}"), help));
            None
        }
    }
}

/// So many names are told of those that could be meant.
const NAMES_MAX: usize = 5;

/// Heads over figures, which stand below each other from the right.
const FIGURES: [&str; 4] = ["QPS", "p50", "p99", "failed"];
/// The columns, and the order in which a narrow terminal does without them.
const HEADS: [&str; 7] = ["id", "began (UTC)", "kind", "name", "load", "revision", "outcome"];
const LEAST: [&str; 3] = ["revision", "kind", "began (UTC)"];

/// One line a run; what is longest comes last.
pub fn table(store: &Store, entries: &[Entry]) -> String {
    let mut rows = vec![HEADS.map(str::to_owned).to_vec()];
    rows.extend(entries.iter().map(|entry| cells(store, entry)));
    laid_out(rows, &FIGURES, &LEAST, crate::output_args::terminal_columns().map_or(usize::MAX, usize::from))
}

fn cells(store: &Store, entry: &Entry) -> Vec<String> {
    let kept = &entry.kept;
    let began = kept.started.to_string().replace('T', " ");
    let mut outcome = kept.outcome.clone();
    if entry.baseline {
        outcome += "  (baseline)";
    }
    if !kept.tags.is_empty() {
        outcome += &format!("  [{}]", kept.tags.join(", "));
    }
    if !kept.note.is_empty() {
        outcome += &format!("  {}", shortened(&kept.note));
    }
    // A ladder and a search have many loads.
    let plan = match kept.kind {
        Kind::Run | Kind::Compare => store.plan(&entry.id).ok().and_then(|text| serde_json::from_str::<Plan>(&text).ok()),
        Kind::Sweep | Kind::Find => None,
    };
    vec![
        entry.short.clone(),
        began.split('.').next().unwrap_or_default().to_owned(),
        kept.kind.to_string(),
        visible(&kept.name),
        plan.as_ref().map_or_else(String::new, saved::load),
        kept.revision.as_ref().map_or_else(String::new, history::Revision::short),
        visible(&outcome),
    ]
}

/// Rows below their heads in so many letters: without the columns there is no room for, of which `least` go first. `figures` stand below
/// each other from the right.
pub fn laid_out(mut rows: Vec<Vec<String>>, figures: &[&str], least: &[&str], room: usize) -> String {
    let width = |rows: &[Vec<String>], column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    for head in least {
        let columns = rows[0].len();
        let whole: usize = (0..columns).map(|column| 2 + width(&rows, column)).sum();
        if whole <= room {
            break;
        }
        if let Some(at) = rows[0].iter().position(|it| it == head) {
            rows.iter_mut().for_each(|row| drop(row.remove(at)));
        }
    }
    let columns: Vec<(bool, usize)> =
        (0..rows[0].len()).map(|column| (figures.contains(&rows[0][column].as_str()), width(&rows, column))).collect();
    let mut text = "\n".to_owned();
    for row in &rows {
        let mut line = String::new();
        for (cell, (is_figure, width)) in row.iter().zip(&columns) {
            let _ = if *is_figure { write!(line, "  {cell:>width$}") } else { write!(line, "  {cell:<width$}") };
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text.push('\n');
    text
}

/// A note's first words.
fn shortened(note: &str) -> String {
    const LETTERS_MAX: usize = 40;
    let line = note.lines().next().unwrap_or_default();
    if line.chars().count() <= LETTERS_MAX { line.to_owned() } else { format!("{}…", line.chars().take(LETTERS_MAX).collect::<String>()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_narrow_terminal_does_without_what_is_least() {
        let row = ["ab12", "2026-11-20 12:00:00", "run", "healthz", "-c 50", "1a2b3c4", "1,000/s, none failed"].map(str::to_owned).to_vec();
        let rows = || vec![HEADS.map(str::to_owned).to_vec(), row.clone()];
        assert!(
            laid_out(rows(), &FIGURES, &LEAST, usize::MAX)
                .contains("ab12  2026-11-20 12:00:00  run   healthz  -c 50  1a2b3c4   1,000/s, none failed")
        );
        let narrow = laid_out(rows(), &FIGURES, &LEAST, 60);
        assert!(narrow.contains("  ab12  healthz  -c 50  1,000/s, none failed\n"), "{narrow}");
    }

    #[test]
    fn a_time_is_ago_and_a_date_is_then() {
        let now: Moment = "2026-11-20T12:00:00Z".parse().unwrap();
        for (text, moment) in [
            ("7d", "2026-11-13T12:00:00.000Z"),
            ("90 m", "2026-11-20T10:30:00.000Z"),
            ("2026-11-01", "2026-11-01T00:00:00.000Z"),
            ("2026-11-01T06:00:00Z", "2026-11-01T06:00:00.000Z"),
        ] {
            assert_eq!(text.parse::<Age>().unwrap().before(now).to_string(), moment, "{text}");
        }
        for text in ["", "d", "yesterday", "-3d", "2026-13-01"] {
            assert!(text.parse::<Age>().is_err(), "{text}");
        }
    }
}
