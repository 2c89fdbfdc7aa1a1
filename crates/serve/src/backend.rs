//! What the server is handed to do its work with: results shown, plans checked, runs started.

use history::{HistoryError, Kind, Store};
use plan::{ComparisonDraft, LadderDraft, PlanError, SearchDraft, Spelling, Wording};
use report::page::RenderedPage;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::{Live, PermittedSettings};

/// A test to start, as the form sends it: a run, or the experiment that one of `sweep`, `find` and `compare` describes.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StartTest {
    /// The load, its settings named as in a plan.
    pub plan: PermittedSettings,
    /// A ladder of loads.
    #[serde(deserialize_with = "object")]
    pub sweep: Option<LadderDraft>,
    /// A search for the highest rate.
    #[serde(deserialize_with = "object")]
    pub find: Option<SearchDraft>,
    /// A comparison with `other`.
    #[serde(deserialize_with = "object")]
    pub compare: Option<ComparisonDraft>,
    /// The target in question, of a comparison.
    pub other: Option<String>,
    /// What a search is to keep and the best level of a sweep, as after `--slo`.
    pub slo: Vec<String>,
    /// Promises, as after `--check`.
    pub check: Vec<String>,
    /// Conditions to give up on, as after `--abort-on`.
    pub abort_on: Vec<String>,
    /// The names of the machines that it comes from, of those that the server was given; none of them: the machine that serves. All of them
    /// where nothing is said.
    pub agents: Option<Vec<String>>,
    /// What to call it.
    pub name: Option<String>,
    /// Words to find it by.
    pub tag: Vec<String>,
    /// What to remember about it.
    pub note: Option<String>,
}

/// Settings are an object: a list of their values, in whatever order they stand there, is none.
fn object<'de, T: DeserializeOwned, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::Null => Ok(None),
        settings @ Value::Object(_) => serde_json::from_value(settings).map(Some).map_err(D::Error::custom),
        _ => Err(D::Error::custom("the settings of an experiment are no object")),
    }
}

impl StartTest {
    /// Of which kind it is; of several that are described, the first.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match (&self.sweep, &self.find, &self.compare) {
            (Some(_), _, _) => Kind::Sweep,
            (None, Some(_), _) => Kind::Find,
            (None, None, Some(_)) => Kind::Compare,
            (None, None, None) => Kind::Run,
        }
    }
}

/// One mistake, worded in the keys of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mistake {
    /// The setting's flag without dashes; `url` for the target.
    pub setting: &'static str,
    /// The thing and its value.
    pub message: String,
    /// What to do.
    pub help: String,
    /// The same two texts, for a form that calls settings otherwise.
    pub marked: MarkedTexts,
}

/// Texts in which the names of settings stand between marks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MarkedTexts {
    /// The thing and its value.
    pub message: Wording,
    /// What to do.
    pub help: Wording,
}

impl From<PlanError> for Mistake {
    fn from(error: PlanError) -> Self {
        let PlanError { setting, message, help } = error;
        Self { setting, message: message.spelt(Spelling::KEYS), help: help.spelt(Spelling::KEYS), marked: MarkedTexts { message, help } }
    }
}

/// What is said of a test before it starts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TestPreview {
    /// Every mistake; none if it can start.
    pub mistakes: Vec<Mistake>,
    /// The same on a command line, without its secrets.
    pub command: String,
    /// How much load it is, in words; `None` while there are mistakes.
    pub load: Option<String>,
    /// Rates over time, for open load that can be read.
    pub stages: Vec<StageShown>,
}

/// A stage of a timetable.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct StageShown {
    /// A second, when it begins.
    pub from: f64,
    /// A second, when it ends.
    pub to: f64,
    /// Its length in seconds; `None`: as long as the run.
    pub seconds: Option<f64>,
}

/// Why a test was not started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotStarted {
    /// It has mistakes.
    Mistakes(Vec<Mistake>),
    /// Another one is under way.
    Busy,
    /// Load may not go there.
    Refused {
        /// Where it leads.
        message: String,
        /// Who can allow it.
        help: String,
    },
    /// It could not begin: nobody listens, too few ports.
    Unable {
        /// What is in the way.
        message: String,
        /// What to do.
        help: String,
    },
}

/// What the server can do beside answering. Called on threads that may wait.
pub trait Backend: Send + Sync + 'static {
    /// The history.
    ///
    /// # Errors
    /// If it cannot be used.
    fn store(&self) -> Result<Store, HistoryError>;

    /// The page of a saved result.
    ///
    /// # Errors
    /// In words, if the result cannot be read.
    fn shown(&self, result: &str) -> Result<RenderedPage, String>;

    /// The page of two saved results side by side, each with what to call it.
    ///
    /// # Errors
    /// In words, if one cannot be read, or they are of kinds that cannot be compared.
    fn beside(&self, a: (&str, &str), b: (&str, &str)) -> Result<RenderedPage, String>;

    /// The course of a saved result in some values: a run's answers a second, a sweep's levels.
    ///
    /// # Errors
    /// In words, if the result cannot be read.
    fn course(&self, result: &str) -> Result<Vec<f64>, String>;

    /// The names of the machines that tests may come from, beside this one.
    fn agents(&self) -> Vec<String>;

    /// Says what is wrong with a test, and how else it could be written.
    fn check(&self, test: &StartTest) -> TestPreview;

    /// Starts a test and returns once it is under way; `live` is told what happens.
    ///
    /// # Errors
    /// If it was not started.
    fn start(&self, test: StartTest, live: &Live) -> Result<(), NotStarted>;
}
