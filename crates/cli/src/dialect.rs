//! Front doors for people who come from another tool: its command line in, its report out, our engine between.
//!
//! Years of command lines, scripts and parsers are built on these tools, and nobody rewrites them to try something else. So each
//! dialect takes the original's words, makes a [`Draft`] of them, has the one engine carry it out, and prints the
//! original's report to the character; where a number of the original is known to be wrong, the true one stands in its place.
//! Translating at the level of reports alone (a converter for our own) was rejected: it is the command lines that are everywhere.
//!
//! What is common to all of them is here: the table, what a call by another name means, how a plan is carried out and kept in the
//! history, and what is said beside the report. Invariants: an option that cannot be honoured is an error that names it; standard output holds what
//! the original would print and nothing else; everything else goes to standard error, in three lines at most.

mod ab;
pub mod getopt;
mod goclient;
mod goflag;
mod hey;
mod siege;
mod vegeta;
mod webbench;
mod wrk;
mod wrk2;
mod wrktest;

use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

use analysis::quantity::count;
use analysis::{Reading, Standing, Validity};
use engine::{Stop, Urgency, measured};
use history::Kind;
use measure::{Counted, Ending, Summary, SummaryBuilder, Tick};
use plan::{Draft, Nanos, Plan, PlanErrors};
use trial::RunError;

use crate::exit::Failed;
use crate::keeping::{Keeper, Keeping};
use crate::observers::Observers;
use crate::scenarios::Scenarios;
use crate::screen::{Screen, Voice, complain};
use crate::{inputs, interrupt, saved};

/// Another tool's command line and report.
#[derive(Debug, Clone, Copy)]
pub struct Dialect {
    /// The tool's name: what stands behind `loadline`, and what a link is called.
    pub name: &'static str,
    /// What it is, in words that follow the name.
    pub about: &'static str,
    /// Does what the words behind the name say, and tells how the original would have ended.
    pub main: fn(&[OsString]) -> ExitCode,
    /// What those words ask for and how far it is supported, without doing it.
    pub uses: fn(&[OsString]) -> Vec<Use>,
}

/// Every dialect: help, links and `loadline compat` are made from this table.
pub const DIALECTS: &[Dialect] =
    &[wrk::DIALECT, wrk2::DIALECT, wrktest::DIALECT, ab::DIALECT, vegeta::DIALECT, hey::DIALECT, siege::DIALECT, webbench::DIALECT];

/// One thing a command line or script asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    /// As it was written, such as `--latency` or `wrk.format`.
    pub what: String,
    /// How far it is supported.
    pub support: Support,
}

/// How far something is supported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Support {
    /// As in the original.
    Same,
    /// With another result, which these words explain.
    Differs(String),
    /// Not at all, and these words say what to do.
    Refused(String),
}

/// The dialect of that name.
pub fn dialect(name: &OsStr) -> Option<&'static Dialect> {
    DIALECTS.iter().find(|dialect| name == dialect.name)
}

/// What the command line asks for in another tool's words, by the name the program was called by or by its first word.
pub fn called(words: &[OsString]) -> Option<(&'static Dialect, &[OsString])> {
    let (program, rest) = words.split_first()?;
    if let Some(called) = Path::new(program).file_name().and_then(dialect) {
        return Some((called, rest));
    }
    let (first, rest) = rest.split_first()?;
    dialect(first).map(|called| (called, rest))
}

/// What a script for wrk uses.
pub use wrk::script_uses;

/// How a plan is carried out for a dialect.
#[derive(Debug, Clone, Copy)]
pub struct Manners {
    /// Whether remarks are made.
    pub voice: Voice,
    /// For so long after the load has ended answers are waited for; `None`: until each request's own timeout.
    pub patience: Option<Nanos>,
}

/// Decides a draft on this machine, every mistake in one message.
///
/// # Errors
/// With all mistakes of the plan and of the files it names.
pub fn decide(draft: Draft) -> Result<Plan, Failed> {
    let mut errors = PlanErrors::default();
    // None of the originals knows templates, and each follows redirects wherever they lead.
    let draft = Draft { no_templates: true, also_target: vec!["any".to_owned()], ..draft };
    inputs::decide(draft, &Scenarios::default(), &mut errors).filter(|_| errors.is_empty()).ok_or_else(|| errors.into())
}

/// Carries a plan out. An interruption is no error: the originals report what they have.
///
/// # Errors
/// If the run could not begin, or not go on.
pub fn measure(plan: &Plan, manners: Manners, watch: &mut dyn FnMut(&Tick)) -> Result<Summary, RunError> {
    let stop = stop_on_signals(manners.voice)?;
    measure_by(plan, manners, &stop, watch, |watch| engine::prepare(plan)?.run(watch, &stop))
}

/// A Stop that Ctrl-C raises.
///
/// # Errors
/// If the system does not let signals be caught.
pub fn stop_on_signals(voice: Voice) -> Result<Stop, RunError> {
    let stop = Stop::new();
    let raised = interrupt::raise_on_signal(&stop, &Screen::new(voice));
    raised.map(|()| stop).map_err(|failed| RunError::run(failed.text.trim_start_matches("error: "), "start it again"))
}

/// The same by something else than a plain run of the engine: `run` is given what it must call once an interval. The run is kept
/// in the history like any other.
///
/// # Errors
/// Those of `run`; what was measured all the same is put right and kept as that of a whole run is.
pub fn measure_by(
    plan: &Plan,
    manners: Manners,
    stop: &Stop,
    watch: &mut dyn FnMut(&Tick),
    run: impl FnOnce(&mut dyn FnMut(&Tick, Counted)) -> Result<SummaryBuilder, engine::RunError>,
) -> Result<Summary, RunError> {
    let patience = Patience::new(plan, manners.patience);
    let name = saved::suggested(plan);
    let mut keeper = Keeping::default().decide(Kind::Run, &name, &mut PlanErrors::default());
    keeper.begin(stop);
    let mut look = |tick: &Tick| {
        patience.tick(tick, stop);
        watch(tick);
        ControlFlow::Continue(())
    };
    let ended = Observers {
        screen: None,
        live: None,
        // The originals do not look at the server.
        server: None,
        profiles: None,
        journal: Some((&keeper, name)),
        exports: None,
        guard: None,
        judge: Some(&mut look),
    }
    .carry_out(plan, stop, |watch, _| {
        let mut ended = run(watch);
        measured(&mut ended).into_iter().for_each(|run| patience.settle(run));
        ended
    });
    keeper.load_is_over();
    match ended.as_ref().map_or_else(|error| error.measured.as_deref(), Some) {
        Some(summary) => keep(&mut keeper, summary, manners.voice),
        None => keeper.discard(),
    }
    ended
}

/// Puts a run into the history; that it cannot be put there is told and spoils nothing.
fn keep(keeper: &mut Keeper, summary: &Summary, voice: Voice) {
    let Err((message, help)) = keeper.save_or_why(&saved::json(&Reading::new(summary, &[]))) else { return };
    // Of several runs in a row it is true of each, and said once.
    if voice == Voice::Talking && LINES_SAID.swap(1, Ordering::Relaxed) == 0 {
        complain(&format!("loadline: {message}; {help}"));
    }
}

/// So many lines are said beside a report.
const LINES_MAX: usize = 3;

/// Lines said before the report.
static LINES_SAID: AtomicUsize = AtomicUsize::new(0);

/// Ends a run whose last answers do not come.
struct Patience {
    limit: Option<Nanos>,
    end: Nanos,
    /// When the interruption was seen.
    stopped: Cell<Option<Nanos>>,
    /// Whether it came to an end, and the run with it.
    ran_out: Cell<bool>,
}

impl Patience {
    fn new(plan: &Plan, limit: Option<Nanos>) -> Self {
        Self { limit, end: plan.end(), stopped: Cell::default(), ran_out: Cell::default() }
    }

    fn tick(&self, tick: &Tick, stop: &Stop) {
        let Some(limit) = self.limit else { return };
        if stop.urgency() == Urgency::Drain {
            self.stopped.set(self.stopped.get().or(Some(tick.to)));
        }
        let ended = self.stopped.get().unwrap_or(self.end).min(self.end);
        if tick.to >= ended.plus(limit) && stop.urgency() < Urgency::Now {
            self.ran_out.set(true);
            while stop.urgency() < Urgency::Now {
                stop.raise();
            }
        }
    }

    /// Puts down what was given up as what it is: requests that the server did not answer in the time it was given.
    fn settle(&self, run: &mut SummaryBuilder) {
        if !self.ran_out.get() {
            return;
        }
        if self.stopped.get().is_none() && run.ended.how == Ending::Interrupted {
            run.set_ending(Ending::Finished);
        }
        run.time_out_given_up();
    }
}

/// Says what loadline knows besides the original's report, on standard error: how far the run can be trusted, what failed
/// and whose fault it is, and the dialect's own remark. At most three lines, nothing at all where all is well.
pub fn remark(summary: &Summary, voice: Voice, own: Option<&str>) {
    if voice == Voice::Quiet {
        return;
    }
    let room = LINES_MAX.saturating_sub(LINES_SAID.load(Ordering::Relaxed)).max(1);
    let mut lines = remarks(summary, own);
    let surplus = lines.split_off(lines.len().min(room)).into_iter();
    for (place, line) in lines.into_iter().enumerate() {
        // What finds no line of its own stands at the end of the last.
        let more: String = surplus.clone().filter(|_| place + 1 == room).map(|line| format!("; {line}")).collect();
        complain(&format!("loadline: {line}{more}"));
    }
}

/// The same about a run with several levels of load: each remark in a line of its own where there is room, else the first and where
/// the others are about.
pub fn remark_on_levels(remarks: &[(u64, String)], voice: Voice) {
    if voice == Voice::Quiet {
        return;
    }
    let room = LINES_MAX.saturating_sub(LINES_SAID.load(Ordering::Relaxed)).max(1);
    for line in lines_of_levels(remarks, room) {
        complain(&format!("loadline: {line}"));
    }
}

fn lines_of_levels(remarks: &[(u64, String)], room: usize) -> Vec<String> {
    let shown = if remarks.len() > room { room - 1 } else { remarks.len() };
    let (shown, others) = remarks.split_at(shown);
    let mut lines: Vec<String> = shown.iter().map(|(level, remark)| format!("level {level}: {remark}")).collect();
    if !others.is_empty() {
        let mut levels: Vec<String> = others.iter().map(|(level, _)| level.to_string()).collect();
        levels.dedup();
        let (count, levels) = (others.len(), levels.join(", "));
        lines.push(format!(
            "{count} more remarks, on the levels {levels}: 'loadline runs' lists every level, and 'loadline show' tells all of it"
        ));
    }
    lines
}

/// What there is to say about a run beside its report.
pub fn remarks(summary: &Summary, own: Option<&str>) -> Vec<String> {
    let validity = Validity::of(summary);
    let standing = (validity.standing > Standing::Valid).then(|| format!("{}: {}", validity.standing, validity.why()));
    standing.into_iter().chain(failures(summary)).chain(own.map(str::to_owned)).collect()
}

/// The most frequent classes of failures and their sides, in one line.
fn failures(summary: &Summary) -> Option<String> {
    let shown: Vec<String> = (summary.failures.iter())
        .map(|failure| format!("{} {} ({}: {})", count(failure.count), failure.class, failure.side, failure.class.about()))
        .chain((summary.requests.unsent > 0).then(|| format!("{} never sent (no connection was free)", count(summary.requests.unsent))))
        .collect();
    let more = shown.len().saturating_sub(CLASSES_SHOWN);
    let listed = shown.iter().take(CLASSES_SHOWN).cloned().collect::<Vec<_>>().join(", ");
    let more = if more > 0 { format!(", and {more} more classes") } else { String::new() };
    (!listed.is_empty()).then(|| format!("not succeeded: {listed}{more}"))
}

/// So many fit in a line that is still read.
const CLASSES_SHOWN: usize = 3;

/// Says why nothing was measured, and how the original ends then.
pub fn refuse(name: &str, failed: &Failed, exit: u8) -> ExitCode {
    complain(&format!("{name}: {}", failed.text));
    ExitCode::from(exit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_three_lines_are_said_and_none_where_all_is_well() {
        for (name, summary) in measure::fixtures::summaries() {
            assert!(remarks(&summary, Some("own")).len() <= 3, "{name}");
            if name == "closed_all_well" {
                assert_eq!(remarks(&summary, None), Vec::<String>::new());
            }
        }
    }

    #[test]
    fn many_levels_are_remarked_on_in_as_many_lines_as_there_are_left() {
        let remarks: Vec<(u64, String)> = [(200, "a"), (200, "b"), (500, "c"), (1_000, "d")].map(|(at, text)| (at, text.to_owned())).into();
        assert_eq!(lines_of_levels(&remarks[..3], 3), ["level 200: a", "level 200: b", "level 500: c"]);
        let told = "more remarks, on the levels";
        let of = |room| lines_of_levels(&remarks, room);
        assert!(of(3).len() == 3 && of(3)[2].starts_with(&format!("2 {told} 500, 1000: ")), "{:?}", of(3));
        assert!(of(1).len() == 1 && of(1)[0].starts_with(&format!("4 {told} 200, 500, 1000: ")), "{:?}", of(1));
        assert_eq!(lines_of_levels(&[], 3), Vec::<String>::new());
    }

    #[test]
    fn the_name_of_a_link_or_the_first_word_chooses_the_dialect() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        for dialect in DIALECTS {
            for line in [format!("/opt/bin/{} -x y", dialect.name), format!("loadline {} -x y", dialect.name)] {
                let words = words(&line);
                let (called, rest) = called(&words).unwrap();
                assert_eq!((called.name, rest.len()), (dialect.name, 2), "{line}");
            }
        }
        assert!(called(&words("loadline run wrk")).is_none());
    }

    #[test]
    fn no_dialect_has_the_name_of_a_command() {
        for name in ["run", "sweep", "find", "diff", "compare", "calibrate", "demo", "completions", "man", "links", "compat"] {
            assert!(dialect(OsStr::new(name)).is_none(), "{name}");
        }
    }
}
