//! How the program ends, as one number.
//!
//! Scripts act on the number alone, so each says one thing and says it for good. Request failures are what a load test
//! counts, not an error of the tool: a run whose every request failed still ends with 0 unless a check says otherwise.

use std::fmt;
use std::process::ExitCode;

use analysis::gate::{Judgement, Verdict};
use analysis::outage::outage;
use analysis::{LevelRow, Reading, Standing};
use engine::{RunError, RunErrorKind};
use measure::Summary;
use plan::{PlanError, PlanErrors, Spelling, Wording};

/// Every way to end. The list is closed; a number never changes its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// What was asked for was done.
    Done = 0,
    /// It was done, and a promise (`p99 < 200ms`) did not hold.
    CheckFailed = 1,
    /// The command line, the plan or a file it names cannot be used. Nothing was sent.
    Usage = 2,
    /// The run could not be carried out, or not to its end; or the server stopped answering before it.
    NotCarriedOut = 3,
    /// It was measured, but not well enough to judge; or, with --strict, something of a file was left out.
    NotTrustworthy = 4,
    /// It was measured, but an output could not be written.
    OutputNotWritten = 5,
    /// A mistake of loadline itself: Rust's own number for a panic.
    OurMistake = 101,
    /// Interrupted; the report covers what was measured until then. As a shell counts SIGINT: 128 + 2.
    Interrupted = 130,
}

/// What each number means, for the help and the man page.
pub const MEANINGS: &[(Exit, &str)] = &[
    (Exit::Done, "done; failed requests are counted, and are not an error"),
    (Exit::CheckFailed, "a check failed, or a condition to abort on came true"),
    (Exit::Usage, "the command line, the plan or a file it names cannot be used; nothing was sent"),
    (
        Exit::NotCarriedOut,
        "the run could not be carried out, or not to its end; or the server stopped answering on the way, or no journey came to its end",
    ),
    (
        Exit::NotTrustworthy,
        "measured, but not well enough to judge: a check cannot be judged by the run, or none since it is INVALID; with --strict, something of a file is left out",
    ),
    (Exit::OutputNotWritten, "measured, but an output could not be written"),
    (Exit::OurMistake, "a mistake of loadline itself"),
    (Exit::Interrupted, "interrupted, after a full report"),
];

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// How a run ends that was measured to its end: by its standing, then its promises, then by whether the server lived to see it. A run that
/// promises nothing has nothing to be judged: its standing is in its report, and what follows it in a script is not held up by whatever
/// else the machine was busy with.
pub fn judged(reading: &Reading<'_>) -> Exit {
    // Seen whatever else this machine was busy with.
    let unfinished = nothing_finished(reading.run).is_some() || outage(reading.run).is_some();
    match (reading.validity.standing, &reading.aborted_by) {
        (Standing::Invalid, None) if reading.checks.is_empty() && unfinished => Exit::NotCarriedOut,
        (Standing::Invalid, None) if reading.checks.is_empty() => Exit::Done,
        (Standing::Invalid, _) => Exit::NotTrustworthy,
        (_, Some(_)) => Exit::CheckFailed,
        (_, None) => match checked(&reading.checks) {
            Exit::CheckFailed => Exit::CheckFailed,
            _ if unfinished => Exit::NotCarriedOut,
            exit => exit,
        },
    }
}

/// Why a load of journeys has measured none: all of them broke off.
pub fn nothing_finished(run: &Summary) -> Option<String> {
    run.scenario.as_ref().and_then(measure::Scenario::nothing_finished)
}

/// How what was measured well ends, by its checks alone.
pub fn checked(checks: &[Judgement]) -> Exit {
    if checks.iter().any(|judgement| judgement.verdict == Verdict::Broken) {
        Exit::CheckFailed
    } else if checks.iter().any(|judgement| matches!(judgement.verdict, Verdict::NotJudgeable { .. })) {
        Exit::NotTrustworthy
    } else {
        Exit::Done
    }
}

/// How a sweep ends that climbed to its end: by the standing of its highest QPS, which is its answer, then by its promises, which
/// hold at every level or not at all.
pub fn climbed(rows: &[LevelRow]) -> Exit {
    let best = rows.iter().max_by(|a, b| a.qps.total_cmp(&b.qps));
    if best.is_some_and(|row| row.standing == Standing::Invalid) {
        Exit::NotTrustworthy
    } else if rows.iter().any(|row| !row.broken.is_empty()) {
        Exit::CheckFailed
    } else if rows.iter().any(|row| !row.unjudged.is_empty()) {
        Exit::NotTrustworthy
    } else {
        Exit::Done
    }
}

/// Why a command ended early: the number, and everything the user should read.
#[derive(Debug)]
pub struct Failed {
    /// How the program ends.
    pub exit: Exit,
    /// One or more, each with what to do.
    errors: Vec<(Wording, Wording)>,
}

impl Failed {
    /// One error with its remedy.
    pub fn new(exit: Exit, message: impl Into<Wording>, help: impl Into<Wording>) -> Self {
        Self { exit, errors: vec![(message.into(), help.into())] }
    }

    /// Outputs that could not be written of what was measured.
    pub fn unwritten(lost: PlanErrors) -> Self {
        Self { exit: Exit::OutputNotWritten, ..lost.into() }
    }

    /// Two things that may each have failed, told together; the first decides how the program ends.
    ///
    /// # Errors
    /// If either failed.
    pub fn both(first: Result<(), Self>, second: Result<(), Self>) -> Result<(), Self> {
        match (first, second) {
            (Err(mut first), Err(second)) => {
                first.errors.extend(second.errors);
                Err(first)
            }
            (first, second) => first.and(second),
        }
    }

    /// The same, said of something.
    pub fn under(mut self, what: &str) -> Self {
        self.errors.iter_mut().for_each(|(message, _)| *message = message.under(what));
        self
    }

    /// As one mistake among those of a plan.
    pub fn in_plan(self, setting: &'static str) -> PlanError {
        let (message, help) = self.errors.into_iter().next().expect("a command ends early for a reason");
        PlanError::new(setting, message, help)
    }
}

/// As on a command line.
impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<String> = self.errors.iter().map(|(message, help)| message.with_help(help).spelt(Spelling::Flags)).collect();
        f.write_str(&all.join("\n"))
    }
}

impl From<PlanErrors> for Failed {
    fn from(PlanErrors(errors): PlanErrors) -> Self {
        Self { exit: Exit::Usage, errors: errors.into_iter().map(|error| (error.message, error.help)).collect() }
    }
}

impl From<PlanError> for Failed {
    fn from(error: PlanError) -> Self {
        Self::new(Exit::Usage, error.message, error.help)
    }
}

impl<M> From<&RunError<M>> for Failed {
    fn from(error: &RunError<M>) -> Self {
        let exit = match error.kind {
            RunErrorKind::Input | RunErrorKind::Refused => Exit::Usage,
            RunErrorKind::Run => Exit::NotCarriedOut,
        };
        Self::new(exit, error.message.clone(), error.help.clone())
    }
}

impl<M> From<RunError<M>> for Failed {
    fn from(error: RunError<M>) -> Self {
        Self::from(&error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_means_what_it_always_meant() {
        let numbers: Vec<u8> = MEANINGS.iter().map(|(exit, _)| *exit as u8).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 101, 130]);
    }

    #[test]
    fn what_is_not_valid_is_not_judged_and_broken_goes_before_unknown() {
        let (_, run) = measure::fixtures::summaries().swap_remove(0);
        let checks = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<_>>();
        let exit = |texts: &[&str]| judged(&Reading::new(&run, &checks(texts)));
        assert_eq!(exit(&["p99 < 1s"]), Exit::Done);
        assert_eq!(exit(&["p99 < 1s", "tls p99 < 1s"]), Exit::NotTrustworthy);
        assert_eq!(exit(&["p99 < 1us", "tls p99 < 1s"]), Exit::CheckFailed);
        assert_eq!(judged(&Reading::new(&run, &[]).aborted_by("failed > 1%".parse().ok())), Exit::CheckFailed);
        let mut late = run.clone();
        late.edit_for_test().lag = late.response_time.clone();
        assert_eq!(judged(&Reading::new(&late, &checks(&["p99 < 1us"]))), Exit::NotTrustworthy);
        assert_eq!(judged(&Reading::new(&late, &[])), Exit::Done, "nothing was to be judged");
        assert_eq!(judged(&Reading::new(&late, &[]).aborted_by("failed > 1%".parse().ok())), Exit::NotTrustworthy);
    }

    #[test]
    fn a_run_error_says_whether_the_user_or_the_world_was_in_the_way() {
        assert_eq!(Failed::from(&trial::RunError::input("a", "b")).exit, Exit::Usage);
        let failed = Failed::from(&trial::RunError::run("nobody answers", "start it"));
        assert_eq!((failed.exit, failed.to_string().as_str()), (Exit::NotCarriedOut, "error: nobody answers\n  help: start it"));
    }
}
