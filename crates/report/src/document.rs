//! A result document, whichever kind it is: read by one reader, and what is said of each kind.
//!
//! A run, a sweep, a search and a comparison are files of their own schemas. Whoever is handed one (a report, a list, a page, a
//! comparison of two) does not know which it will be. A reader for each kind was rejected: every caller then guessed the kind from the
//! text, and told of another's file what a broken one is told.
//!
//! Everything that is said of a result follows from the document itself, so that one that was imported, or put together from its
//! journal, reads like one that was written just now.

mod outcome;

use analysis::comparison::{COMPARE_SCHEMA, Comparison};
use analysis::conclusion;
use analysis::found::{CapacityReport, FIND_SCHEMA};
use analysis::gate::{Check, Regression};
use analysis::{Reading, SWEEP_SCHEMA, StopReason, Sweep, promises_kept, scaling};
use measure::{Summary, SummaryError};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::chart::sweep::SweepCurve;
use crate::diff::{self, CurveError};
use crate::json::ReadError;
use crate::page::{self, RenderedPage};
use crate::{Experiment as _, Style, prose, visible};

/// A result, whichever kind it is.
#[derive(Debug)]
pub enum Document {
    /// One load, and what it was held against.
    Run(Box<Summary>, Terms),
    /// A ladder of loads.
    Sweep(Box<Sweep>),
    /// A capacity search.
    Find(Box<CapacityReport>),
    /// Two sides in pairs.
    Compare(Box<Comparison>),
}

/// What a run was held against.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    /// What it promised.
    pub checks: Vec<Check>,
    /// What came of holding it against a saved run.
    pub against: Option<Regression>,
}

impl Terms {
    /// The run as it reads by them.
    #[must_use]
    pub fn reading<'a>(&self, run: &'a Summary) -> Reading<'a> {
        Reading::new(run, &self.checks).against(self.against.clone())
    }
}

/// What every document says about itself.
#[derive(Deserialize)]
struct Label {
    schema: Option<String>,
    #[serde(default)]
    checks: Vec<serde_json::Value>,
    against: Option<serde_json::Value>,
}

impl Document {
    /// Reads the JSON of a result.
    ///
    /// # Errors
    /// If it is none, of another version, or damaged, in words that follow the name of the file.
    pub fn read(text: &str) -> Result<Self, ReadError> {
        let label: Label = serde_json::from_str(text)?;
        let schema = label.schema.as_deref().unwrap_or_default();
        match schema.split('/').next() {
            Some("loadline.sweep") => of_schema(text, schema, SWEEP_SCHEMA).map(Self::Sweep),
            Some("loadline.find") => of_schema(text, schema, FIND_SCHEMA).map(Self::Find),
            Some("loadline.compare") => of_schema(text, schema, COMPARE_SCHEMA).map(Self::Compare),
            _ => {
                Summary::check_schema(label.schema.as_deref())
                    .map_err(|error: SummaryError| ReadError::Schema(visible(&error.to_string())))?;
                // A check this version does not know is left out: the figures are there all the same.
                let checks = label.checks.iter().filter_map(|judged| judged.get("check")?.as_str()?.parse().ok()).collect();
                // As is a verdict that this version would word in another way: the runs behind it are not in this file.
                let against = label.against.and_then(|ruling| serde_json::from_value(ruling).ok());
                Ok(Self::Run(serde_json::from_str(text)?, Terms { checks, against }))
            }
        }
    }

    /// The command that makes its kind.
    #[must_use]
    pub const fn command(&self) -> &'static str {
        match self {
            Self::Run(..) => "run",
            Self::Sweep(_) => "sweep",
            Self::Find(_) => "find",
            Self::Compare(_) => "compare",
        }
    }

    /// What a person calls it.
    #[must_use]
    pub const fn noun(&self) -> &'static str {
        match self {
            Self::Run(..) => "run",
            Self::Sweep(_) => "sweep",
            Self::Find(_) => "search",
            Self::Compare(_) => "comparison",
        }
    }

    /// Why the two cannot stand side by side, if they cannot.
    #[must_use]
    pub fn unlike(&self, other: &Self) -> Option<String> {
        let (one, two) = (self.noun(), other.noun());
        match (self, other) {
            (Self::Compare(_), Self::Compare(_)) => Some("cannot compare two comparisons".to_owned()),
            _ if one == two => None,
            _ => Some(format!("cannot compare a {one} with a {two}")),
        }
    }

    /// Its first run; `None` if nothing was measured.
    #[must_use]
    pub fn first(&self) -> Option<&Summary> {
        match self {
            Self::Run(run, _) => Some(run),
            Self::Sweep(sweep) => sweep.trials.first().map(|trial| &trial.summary),
            Self::Find(found) => found.trials.first().map(|trial| &trial.summary),
            Self::Compare(compared) => compared.pairs.first().map(|pair| &pair.a),
        }
    }

    /// The name it gives itself, if it has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Run(..) => None,
            Self::Sweep(sweep) => Some(&sweep.name),
            Self::Find(found) => Some(&found.name),
            Self::Compare(compared) => Some(&compared.name),
        }
    }

    /// The plan as JSON; of several the first.
    #[must_use]
    pub fn plan(&self) -> String {
        self.first().and_then(|run| serde_json::to_string(&run.plan).ok()).unwrap_or_default()
    }

    /// Marks it as ended before its time. A run says so by itself.
    pub fn stop(&mut self, stopped: StopReason) {
        match self {
            Self::Run(..) => {}
            Self::Sweep(sweep) => sweep.stopped = Some(stopped),
            Self::Find(found) => found.stopped = Some(stopped),
            Self::Compare(compared) => compared.stopped = Some(stopped.words),
        }
    }

    /// Its JSON.
    #[must_use]
    pub fn json(&self) -> Vec<u8> {
        match self {
            Self::Run(run, terms) => run_json(&terms.reading(run)),
            Self::Sweep(sweep) => sweep.json().bytes,
            Self::Find(found) => found.json().bytes,
            Self::Compare(compared) => compared.json().bytes,
        }
    }

    /// What a browser shows.
    #[must_use]
    pub fn page(&self) -> RenderedPage {
        match self {
            Self::Run(run, terms) => page::run(&terms.reading(run)),
            Self::Sweep(sweep) => page::sweep(sweep),
            Self::Find(found) => page::find(found),
            Self::Compare(compared) => page::compare(compared),
        }
    }

    /// What a person reads.
    #[must_use]
    pub fn text(&self, style: &Style) -> String {
        match self {
            Self::Run(run, terms) => {
                let mut bytes = Vec::new();
                let text = crate::format("text").expect("the text format is in the table");
                (text.render)(&terms.reading(run), style, &mut bytes).expect("memory takes every byte");
                String::from_utf8_lossy(&bytes).into_owned()
            }
            Self::Sweep(sweep) => {
                use crate::sweep::table::{self, CountUnit};
                let rows = sweep.rows();
                let mut text = "\n".to_owned();
                if let Some(first) = rows.first() {
                    text += &format!("{}\n", table::header(first.level, CountUnit::of(first), style));
                }
                for row in &rows {
                    text += &format!("{}\n", table::row(row, style));
                }
                text += &table::failed_parts_text(&rows, style);
                text += &format!("\n{}\n", prose(table::legend(&rows).trim(), style.width));
                let said = conclusion(&rows, &scaling(sweep), sweep.stopped.as_ref());
                for sentence in said
                    .into_iter()
                    .chain(promises_kept(&sweep.checks, &rows))
                    .chain(crate::limits::sentences(&analysis::limits::of_sweep(sweep)))
                {
                    text += &prose(&sentence, style.width);
                }
                text
            }
            Self::Find(found) => {
                use crate::find::table;
                let mut text = format!("\n{}\n", table::header(found, style));
                for trial in &found.trials {
                    text += &format!("{}\n", table::row(found, trial, style));
                }
                text.push('\n');
                for sentence in found.sentences().into_iter().chain(crate::limits::sentences(&analysis::limits::of_search(found))) {
                    text += &prose(&sentence, style.width);
                }
                text + &format!("\n{}", prose(&table::legend(found), style.width))
            }
            Self::Compare(compared) => {
                use crate::compare::{conclusion, header, row};
                let mut text = header(compared, style);
                for (number, pair) in compared.pairs.iter().enumerate() {
                    text += &format!("{}\n", row(number + 1, pair, style));
                }
                text + &conclusion(compared, style)
            }
        }
    }
}

/// Reads a `.dat` file or the JSON of a sweep, whichever it is; `name` is what the user calls it.
///
/// # Errors
/// If it is neither, or holds no level.
pub fn read_curve(name: &str, text: &str) -> Result<SweepCurve, CurveError> {
    if !text.trim_start().starts_with('{') {
        return diff::dat_curve(name, text);
    }
    match Document::read(text)? {
        Document::Sweep(sweep) => diff::curve(name, &sweep),
        other => Err(CurveError::Kind(other.noun())),
    }
}

/// Reads a document of one schema.
fn of_schema<T: DeserializeOwned>(text: &str, written: &str, schema: &str) -> Result<T, ReadError> {
    if written != schema {
        return Err(ReadError::Schema(format!("it is written as '{}', and this loadline reads '{schema}'", visible(written))));
    }
    Ok(serde_json::from_str(text)?)
}

/// The JSON of a run's result, as `--out json=FILE` has it.
#[must_use]
pub fn run_json(reading: &Reading<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let json = crate::format("json").expect("the JSON format is in the table");
    (json.render)(reading, &Style::PLAIN, &mut bytes).expect("memory takes every byte");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::gate::Change;
    use measure::fixtures;

    fn fixture(name: &str) -> Summary {
        fixtures::summaries().into_iter().find(|(other, _)| *other == name).unwrap().1
    }

    fn worse() -> Regression {
        let reference = "@baseline:api".to_owned();
        Regression {
            reference,
            allowed: 0.05,
            rows: Vec::new(),
            is_invalid: false,
            is_reference_invalid: false,
            is_other_machine: false,
            runs: 8,
            verdict: Change::Worse,
        }
    }

    #[test]
    fn what_came_of_a_saved_run_is_read_back_with_the_result() {
        let run = fixture("closed_all_well");
        let terms = Terms { checks: Vec::new(), against: Some(worse()) };
        let written = run_json(&terms.reading(&run));
        let again = Document::read(&String::from_utf8(written).unwrap()).unwrap();
        assert!(again.outcome().starts_with("WORSE than @baseline:api, 11,998/s"), "{}", again.outcome());
        assert!(again.text(&Style::PLAIN).contains("WORSE than @baseline:api by more than 5 %"));
        assert!(again.page().json().contains("WORSE than @baseline:api by more than 5 %"));
    }
}
