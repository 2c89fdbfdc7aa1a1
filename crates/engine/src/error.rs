//! Why a run could not be carried out: each with what to do.

use measure::{Failure, Summary, SummaryBuilder};
use plan::setting::THREADS;
use plan::{Spelling, Wording};
use serde::{Deserialize, Serialize};

/// Why a behaviour cannot go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BehaviourError {
    /// What happened, and where.
    pub message: Wording,
    /// What to do.
    pub help: Wording,
}

impl BehaviourError {
    /// What happened, and what to do.
    #[must_use]
    pub fn new(message: impl Into<Wording>, help: impl Into<Wording>) -> Self {
        Self { message: message.into(), help: help.into() }
    }
}

/// The run could not be carried out, or not to its end. While a load is carried out, `M` is a run to be completed; when it is over, a
/// closed one.
#[derive(Debug)]
pub struct RunError<M = SummaryBuilder> {
    /// Which of the two kinds of the command line's exit codes it is.
    pub kind: RunErrorKind,
    /// The thing and its value.
    pub message: Wording,
    /// What to do.
    pub help: Wording,
    /// Where no first connection could be had: the class, and the system's own words.
    pub unreached: Option<(Failure, String)>,
    /// What was measured before it happened.
    pub measured: Option<Box<M>>,
}

/// Whether the user asked for something impossible, or the world did not allow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunErrorKind {
    /// The plan names something that is not there or not readable, or needs more than this machine has.
    Input,
    /// Load may not be sent where the plan leads.
    Refused,
    /// The target cannot be reached, or the run broke off.
    Run,
}

impl<M> RunError<M> {
    /// The plan cannot be carried out on this machine.
    #[must_use]
    pub fn input(message: impl Into<Wording>, help: impl Into<Wording>) -> Self {
        Self { kind: RunErrorKind::Input, message: message.into(), help: help.into(), unreached: None, measured: None }
    }

    /// The target cannot be reached, or the run broke off.
    #[must_use]
    pub fn run(message: impl Into<Wording>, help: impl Into<Wording>) -> Self {
        Self { kind: RunErrorKind::Run, message: message.into(), help: help.into(), unreached: None, measured: None }
    }

    /// The system gives no more threads.
    #[must_use]
    pub(crate) fn no_thread(threads: u32, why: &std::io::Error) -> Self {
        Self::run(
            format!("the load needs {threads} threads, and the system gives no more of them: {why}"),
            format!("raise the limit on processes (ulimit -u, pids.max of the container), or give fewer threads with {THREADS:#} 1"),
        )
    }

    /// The same, as what came of a first attempt to connect.
    #[must_use]
    pub(crate) fn unreached(self, failure: Failure, words: &str) -> Self {
        Self { unreached: Some((failure, words.to_owned())), ..self }
    }

    /// What happened, and below it what to do.
    #[must_use]
    pub fn spelt(&self, spelling: Spelling) -> String {
        self.message.with_help(&self.help).spelt(spelling)
    }

    /// Several mistakes as one error that shows them all, in order; `None` if there is none.
    #[must_use]
    pub fn together(errors: Vec<Self>) -> Option<Self> {
        errors.into_iter().reduce(|all, next| Self {
            kind: if all.kind == RunErrorKind::Input { all.kind } else { next.kind },
            message: format!("{}\n  help: {}\nerror: {}", all.message.marked(), all.help.marked(), next.message.marked()).into(),
            help: next.help,
            unreached: all.unreached.or(next.unreached),
            measured: all.measured.or(next.measured),
        })
    }
}

/// What a load measured, whether it went to its end or broke off.
pub fn measured(ended: &mut Result<SummaryBuilder, RunError>) -> Option<&mut SummaryBuilder> {
    match ended {
        Ok(run) => Some(run),
        Err(error) => error.measured.as_deref_mut(),
    }
}

impl From<RunError> for RunError<Summary> {
    /// Closes what was measured.
    fn from(error: RunError) -> Self {
        let RunError { kind, message, help, unreached, measured } = error;
        Self { kind, message, help, unreached, measured: measured.map(|run| Box::new(run.close())) }
    }
}
