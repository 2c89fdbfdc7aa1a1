//! What a commander and its sites say to each other: a line of JSON each.
//!
//! A site greets first, with the version of these lines: another version is refused by name, before anything of a plan is sent.

use engine::{Message, RunError, RunErrorKind, SoFar, Urgency};
use measure::Failure;
use plan::{Nanos, Wording};
use serde::{Deserialize, Serialize};

/// The version of these lines. Both ends have the same.
pub const SITE_SCHEMA: &str = "loadline.site/1";

/// An order of a commander to a site.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The plan of the next job with everything in it, as [`plan::Plan::encode`] writes it.
    Plan(String),
    /// Get these parts of a load ready.
    Prepare(Box<Job>),
    /// What time is it there? With a number, which the answer repeats.
    Clock(u32),
    /// Begin the load at this time of the site's own clock.
    Start {
        /// As [`engine::monotonic_now`] tells it there.
        #[serde(rename = "at_ns")]
        at: Nanos,
    },
    /// End the load: let what is under way finish.
    Drain,
    /// End the load at once.
    Quit,
    /// Go on: the commander is there.
    Stay,
}

impl Order {
    /// How a load is told to end.
    pub(crate) const fn to_end(urgency: Urgency) -> Self {
        match urgency {
            Urgency::None => Self::Stay,
            Urgency::Drain => Self::Drain,
            Urgency::Now => Self::Quit,
        }
    }
}

/// The parts of a load that a site has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The numbers of its sources, of all the plan's.
    pub sources: Vec<u32>,
    /// What the load takes up from those before it.
    pub so_far: SoFar,
    /// Whether the site is on the commander's machine: it may open the same files, and the target was looked at.
    pub is_here: bool,
    /// All processes of the run on the site's machine, for the site that looks for others on its cores.
    pub processes: Option<Vec<u32>>,
    /// Where it may connect to, as patterns; with none, everywhere.
    pub allowed: Vec<String>,
}

/// What a site says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It is there.
    Hello(Greeting),
    /// What time it is there.
    Clock {
        /// That of the order.
        number: u32,
        /// As [`engine::monotonic_now`] tells it there.
        #[serde(rename = "now_ns")]
        now: Nanos,
    },
    /// Its sources are ready, and all their connections open.
    Ready,
    /// It cannot carry its parts out.
    Refused(Refusal),
    /// Something of its sources.
    Told(Message),
    /// It is there still: once a second.
    Here,
    /// Its load is over, and everything has been told.
    Done,
}

/// How a site greets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greeting {
    /// [`SITE_SCHEMA`], of the site.
    pub schema: String,
    /// The program's version.
    pub loadline: String,
    /// Cores that it may use.
    pub cores: u32,
    /// Connections that it may have open at once.
    pub connections_max: u32,
    /// Its process.
    pub process: u32,
}

impl Greeting {
    /// That of this process.
    #[must_use]
    pub fn of_this_process() -> Self {
        Self {
            schema: SITE_SCHEMA.to_owned(),
            loadline: env!("CARGO_PKG_VERSION").to_owned(),
            cores: engine::machine::cores().get(),
            connections_max: engine::machine::connections_max().get(),
            process: std::process::id(),
        }
    }
}

/// Why a site cannot carry its parts out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    kind: RunErrorKind,
    message: Wording,
    help: Wording,
    unreached: Option<(Failure, String)>,
}

impl From<RunError> for Refusal {
    fn from(error: RunError) -> Self {
        let RunError { kind, message, help, unreached, measured: _ } = error;
        Self { kind, message, help, unreached }
    }
}

impl From<Refusal> for RunError {
    fn from(Refusal { kind, message, help, unreached }: Refusal) -> Self {
        Self { kind, unreached, ..Self::run(message, help) }
    }
}

/// Something as a line, with its end.
pub(crate) fn line(said: &impl Serialize) -> String {
    serde_json::to_string(said).expect("what is said holds nothing that JSON cannot") + "\n"
}
