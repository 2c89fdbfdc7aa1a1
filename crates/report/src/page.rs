//! A finished measurement as one HTML page: the answer in four sentences, then charts and tables to look it up in.
//!
//! The page is drawn in the browser, so that a reader can zoom into a second and ask a curve for its values. But what is *said*
//! is said here: a program that words its findings twice says two things sooner or later. So a page gets its sentences, its
//! tables with every figure written as in the other formats, and the bare points of its charts. Of the histograms it gets what a
//! chart shows, some hundred points, since a result with all buckets would be many times the size of the page.
//!
//! Invariants: every sentence leads to its evidence on the same page, or says that it was not measured; the same result gives
//! the same page.

mod checks;
mod compare;
mod diff;
mod events;
mod find;
mod limits;
mod plot;
mod profiled;
mod run;
mod sweep;
mod times;
mod traffic;
mod trend;
mod two;
mod two_searches;
mod watched;

use analysis::capitalised;
use serde::Serialize;

pub use compare::compare;
pub use diff::diff;
pub use find::find;
pub(crate) use find::text as find_text;
pub(crate) use plot::{AttackSeries, plot};
pub use run::{FORMAT, begun, rows_so_far, run, tick};
pub use sweep::sweep;
pub(crate) use sweep::text as sweep_text;
pub use traffic::traffic;
pub use trend::{InText, Point, trend, trend_in_text};
pub use two::two_runs;
pub use two_searches::two_searches;

/// The version of the data in a page.
const SCHEMA: &str = "loadline.page/1";

/// What the page is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Run,
    Sweep,
    Find,
    Compare,
    Diff,
    Plot,
    Runs,
    Searches,
    Trend,
    Traffic,
}

/// A page and the data of its charts.
#[derive(Debug, Serialize)]
struct View<D> {
    schema: &'static str,
    kind: Kind,
    /// What was measured.
    title: String,
    /// How, in a line or two.
    about: Vec<String>,
    /// How far the figures can be trusted.
    standing: Option<Badge>,
    /// The four sentences.
    answers: Vec<Answer>,
    /// What a reader must know besides.
    remarks: Vec<String>,
    /// The figures that are asked for first.
    figures: Vec<Figure>,
    tables: Vec<Table>,
    /// The report in words.
    text: String,
    /// Who measured.
    measured_by: String,
    data: D,
}

/// A word that stands out, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Badge {
    word: String,
    tone: Tone,
    why: String,
}

/// Whether something is good news. The words say it as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Tone {
    Plain,
    Good,
    Caution,
    Bad,
}

/// One of the questions that everybody has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Question {
    /// Whether promises were kept; asked first, and only where one was not.
    Checks,
    Carries,
    Knee,
    /// Between what is compared.
    Changed,
    /// Whether a run was the same from its beginning to its end.
    Steady,
    /// At which loads requests failed.
    Fails,
    /// Whether a rate that was found lasts.
    Holds,
    Limits,
    /// Of traffic: how much.
    Comes,
    /// Over which routes.
    Routes,
    /// From whom.
    Users,
    /// How evenly.
    Bursts,
}

/// A sentence, and where on the page it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Answer {
    question: Question,
    sentence: String,
    /// The section that shows it; `None` where it was not measured.
    evidence: Option<&'static str>,
    tone: Tone,
}

impl Answer {
    fn measured(question: Question, sentence: impl Into<String>, evidence: &'static str) -> Self {
        Self { question, sentence: finished(&sentence.into()), evidence: Some(evidence), tone: Tone::Plain }
    }

    fn not_measured(question: Question, sentence: &str) -> Self {
        Self { question, sentence: finished(sentence), evidence: None, tone: Tone::Plain }
    }

    /// Promises that were not kept, before all other answers and in red; nothing where there are none.
    fn unkept(sentences: &[String], evidence: &'static str) -> Option<Self> {
        let said: Vec<String> = sentences.iter().map(|sentence| finished(sentence)).collect();
        (!said.is_empty()).then(|| Self::measured(Question::Checks, said.join(" "), evidence).toned(Tone::Bad))
    }

    fn toned(self, tone: Tone) -> Self {
        Self { tone, ..self }
    }
}

/// As a sentence ends and begins.
fn finished(sentence: &str) -> String {
    let sentence = sentence.trim_end();
    // A name such as p50 stays what it is.
    let is_name = sentence.chars().nth(1).is_some_and(|second| second.is_ascii_digit());
    let upper = if is_name { sentence.to_owned() } else { capitalised(sentence) };
    if upper.ends_with(['.', '?', '!', ':']) || upper.is_empty() { upper } else { format!("{upper}.") }
}

/// A figure to stand large.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Figure {
    name: String,
    value: String,
    note: String,
}

impl Figure {
    fn new(name: &str, value: impl Into<String>, note: impl Into<String>) -> Self {
        Self { name: name.to_owned(), value: value.into(), note: note.into() }
    }
}

/// A table in its own section, with every figure as other formats write it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Table {
    id: &'static str,
    title: String,
    heads: Vec<Head>,
    rows: Vec<Vec<String>>,
    /// What the columns mean.
    note: String,
}

/// The head of a column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Head {
    text: String,
    /// Whether figures stand below it.
    figures: bool,
}

impl Table {
    /// Heads that begin with `#` stand over figures.
    fn new(id: &'static str, title: &str, heads: &[&str], rows: Vec<Vec<String>>) -> Self {
        let head = |text: &&str| Head { text: text.trim_start_matches('#').to_owned(), figures: text.starts_with('#') };
        Self { id, title: title.to_owned(), heads: heads.iter().map(head).collect(), rows, note: String::new() }
    }

    fn noted(self, note: impl Into<String>) -> Self {
        Self { note: note.into(), ..self }
    }
}

/// A page that can be shown: as a file, or by a program that has the script already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedPage {
    title: String,
    json: String,
    answers: Vec<String>,
    text: String,
    tables: Vec<pages::Table>,
}

impl RenderedPage {
    /// What the script of the page draws.
    #[must_use]
    pub fn json(&self) -> &str {
        &self.json
    }

    /// The whole page as one HTML file.
    #[must_use]
    pub fn document(&self) -> Vec<u8> {
        let Self { title, json, answers, text, tables } = self;
        pages::document(&pages::Page { title, json, answers, text, tables }).into_bytes()
    }
}

/// The page. What an answer says already is not remarked again.
fn written<D: Serialize>(mut view: View<D>) -> RenderedPage {
    let answers = view.answers.clone();
    view.remarks.retain(|remark| !answers.iter().any(|answer| answer.sentence.contains(remark.as_str())));
    let view = &view;
    let json = serde_json::to_string(view).expect("a page is made of what JSON can hold");
    let answers: Vec<String> = view.answers.iter().map(|answer| answer.sentence.clone()).collect();
    let tables: Vec<pages::Table> = view
        .tables
        .iter()
        .map(|table| pages::Table {
            title: table.title.clone(),
            heads: table.heads.iter().map(|head| head.text.clone()).collect(),
            rows: table.rows.clone(),
        })
        .collect();
    RenderedPage { title: format!("{} · loadline", view.title), json, answers, text: view.text.clone(), tables }
}
