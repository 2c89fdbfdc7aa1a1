//! `loadline sweep URL`: a ladder of loads, a table that grows, two charts and a conclusion in words.
//!
//! A sweep takes minutes, and anything may end it: Ctrl-C, a server that dies, a full disk. So its files are written after
//! every level, each whole or not at all, and what was measured until then is always in them.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use analysis::gate::Check;
use analysis::{Level, Stopped, Trial, climb, conclusion, promises};
use clap::Args;
use engine::net::Network;
use engine::{RunErrorKind, Stop, Urgency, machine};
use measure::Ending;
use plan::{Draft, Given, Ladder, LadderDraft, Nanos, Plan, PlanError, PlanErrors, Rung, Stage, Target, Timetable};
use report::sweep::table;

use super::Manner;
use crate::exit::{self, Exit, Failed};
use crate::files::{DIRECTORY, Files};
use crate::outputs::{Existing, to_stdout};
use crate::promises::Promises;
use crate::screen::{Screen, complain};
use crate::{inputs, interrupt, step_summary};

/// A ladder of loads, and where its results go.
#[derive(Debug, Args)]
pub struct Sweep {
    #[command(flatten)]
    draft: Draft,

    #[command(flatten)]
    ladder: LadderDraft,

    #[command(flatten)]
    promises: Promises,

    /// Begin the names of all files with this [default: from the path of the URL, or its host]
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    name: Option<String>,

    /// Write files into this directory, made if missing
    #[arg(long, value_name = "DIR", default_value = DIRECTORY, help_heading = "Output")]
    dir: PathBuf,

    /// Replace files that exist
    #[arg(long, help_heading = "Output")]
    force: bool,

    #[command(flatten)]
    manner: Manner,
}

/// The endings of a sweep's files.
pub const ENDINGS: &[&str] = &[".dat", ".json", "_qps_ttlb.png", "_qps_ttlb.svg", "_successrate.png", "_successrate.svg", ".md"];

/// Climbs, and says what it found.
pub fn carry_out(sweep: Sweep) -> Result<Exit, Failed> {
    let Sweep { draft, ladder, promises, name, dir, force, manner } = sweep;
    let mut errors = PlanErrors::default();
    let asked = if ladder.levels.is_some() || ladder.rates.is_some() { Asked::Levels } else { Asked::Nothing };
    let name = name.unwrap_or_else(|| draft.url.as_deref().map_or_else(|| "sweep".to_owned(), name_of));
    let climb = Climb::decide(draft, ladder, &mut errors);
    let checks = promises.read(&mut errors);
    let files = Files::new(dir, name, ENDINGS);
    files.check(if force { Existing::Replace } else { Existing::Keep }, &mut errors);
    let Some(climb) = climb.filter(|_| errors.is_empty()) else { return Err(errors.into()) };

    let screen = manner.screen();
    let stop = Stop::new();
    interrupt::raise_on_signal(&stop, screen.clone())?;
    climb.fitted(asked)?.keeping(checks).carry_out(&files, manner, &screen, &stop)
}

/// Whether the user named levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// These, and no fewer.
    Levels,
    /// As many of the usual ones as this machine can do.
    Nothing,
}

/// A ladder on which every rung is a plan.
#[derive(Debug)]
pub struct Climb {
    ladder: Ladder,
    plans: Vec<Plan>,
    checks: Vec<Check>,
}

impl Climb {
    /// Decides every level. Every mistake goes to `errors`.
    pub fn decide(mut draft: Draft, ladder: LadderDraft, errors: &mut PlanErrors) -> Option<Self> {
        if let (Some(connections), None) = (&draft.connections, &ladder.rates) {
            errors.push(PlanError::new(
                "connections",
                format!("--connections {connections} is one level, and a sweep climbs over many"),
                format!("give --levels {connections} for this one, or leave --connections out"),
            ));
            draft.connections = None;
        }
        if let Some(rate) = draft.rate.take() {
            errors.push(PlanError::new(
                "rate",
                format!("--rate {rate} is one load, and a sweep climbs over many"),
                "give a ladder of rates such as --rates 100/s,200/s,500/s, or measure one with loadline run",
            ));
        }
        inputs::read(&mut draft, errors);
        let ladder = ladder.decide(machine::connections_max()).map_err(|PlanErrors(mut mistakes)| errors.0.append(&mut mistakes)).ok();
        let levels = ladder.as_ref().map_or(&[][..], |ladder| &ladder.levels);
        let mut plans = Vec::with_capacity(levels.len());
        // A mistake beside the level is the same on every level, and enough is said when it is said once.
        let before = errors.0.len();
        for level in levels {
            plans.push(inputs::decide(at(&draft, *level), errors)?);
            if errors.0.len() > before {
                return None;
            }
        }
        match ladder {
            Some(ladder) => Some(Self { ladder, plans, checks: Vec::new() }),
            None => {
                // Without levels the rest is still looked at, so that all mistakes come together.
                inputs::decide(draft, errors);
                None
            }
        }
    }

    /// With these promises, which every level is held against.
    pub fn keeping(mut self, checks: Vec<Check>) -> Self {
        self.checks = checks;
        self
    }

    /// The ladder as far as this machine and the target's addresses allow.
    ///
    /// # Errors
    /// If the target cannot be reached, or a level that was asked for cannot be opened: need, have and remedy.
    pub fn fitted(mut self, asked: Asked) -> Result<Self, Failed> {
        let files_max = machine::raise_files_limit();
        let fits = |plan: &Plan| engine::net::check_limits(plan, files_max).and_then(|()| Network::prepare(plan).map(drop));
        // Whatever the lowest level cannot do, no level can.
        if let Some(lowest) = self.plans.first() {
            fits(lowest).map_err(|error| Failed::from(&error))?;
        }
        while let Some(Err(error)) = self.plans.last().map(fits) {
            if asked == Asked::Levels || error.kind == RunErrorKind::Run || self.plans.len() == 1 {
                return Err((&error).into());
            }
            self.plans.pop();
            self.ladder.levels.pop();
        }
        Ok(self)
    }

    /// Measures level by level: a row on standard output and all files after each, the conclusion at the end.
    ///
    /// # Errors
    /// If a level cannot be carried out, or a file cannot be written; what was measured is reported first.
    pub fn carry_out(&self, files: &Files, manner: Manner, screen: &Screen, stop: &Stop) -> Result<Exit, Failed> {
        let style = manner.styles().stdout;
        let planned = self.ladder.levels.iter().copied().map(Level::from).collect();
        let mut sweep = analysis::Sweep::new(files.name().to_owned(), String::new(), planned);
        sweep.checks.clone_from(&self.checks);
        let mut lost = PlanErrors::default();
        let mut broken = None;
        let said = |text: &str| screen.aside(|| to_stdout(text.as_bytes()));
        let mut told = match self.ladder.levels.first() {
            Some(level) => said(&format!("\n{}\n", table::header(Level::from(*level), &style))),
            None => Ok(()),
        };
        'climb: for (place, (level, plan)) in self.ladder.levels.iter().zip(&self.plans).enumerate() {
            for repetition in 1..=self.ladder.repeat.get() {
                if place > 0 || repetition > 1 {
                    rest(self.ladder.cooldown, stop);
                }
                if stop.urgency() > Urgency::None {
                    sweep.stopped = Some(Stopped::interrupted());
                    break 'climb;
                }
                let level = Level::from(*level);
                let mut progress = screen.follow(plan, &format!("{level}, level {} of {}", place + 1, self.plans.len()));
                let measured = match engine::run(plan, &mut |tick| progress.tick(tick), stop) {
                    Ok(summary) => Some(summary),
                    Err(mut error) => {
                        let measured = error.measured.take().map(|summary| *summary);
                        sweep.stopped = Some(Stopped::cut_short(&error.message));
                        broken = Some(error);
                        measured
                    }
                };
                if let Some(summary) = measured {
                    if summary.ended.how == Ending::Interrupted {
                        sweep.stopped = Some(Stopped::interrupted());
                    }
                    if sweep.trials.is_empty() {
                        sweep.started.clone_from(&summary.started);
                    }
                    // Interrupted before anything fell due, it says nothing.
                    if summary.requests.due > 0 {
                        sweep.trials.push(Trial { level, repetition, summary });
                    }
                }
                if sweep.stopped.is_some() {
                    break;
                }
            }
            let rows = sweep.rows();
            if sweep.stopped.is_none() && self.ladder.climb == Rung::WhileItPays && place + 1 < self.plans.len() {
                sweep.stopped = climb::stop(&rows);
            }
            if let Some(row) = rows.last().filter(|row| row.level == Level::from(self.ladder.levels[place])) {
                told = told.and(said(&format!("{}\n", table::row(row, &style))));
                lost = write(&sweep, files);
            }
            if sweep.stopped.is_some() {
                break;
            }
        }
        screen.clear();
        if !sweep.trials.is_empty() {
            lost = write(&sweep, files);
        }
        if !sweep.trials.is_empty() {
            step_summary::append(report::sweep::markdown::without_charts(&sweep).as_bytes(), &mut lost);
        }
        told = told.and(said(&ending(&sweep, style.width)));
        if !sweep.trials.is_empty() && lost.is_empty() {
            told = told.and(said(&files.listed()));
        }
        if let Err(why) = told {
            lost.push(PlanError::new(
                "out",
                format!("the table could not be written to standard output: {}", inputs::plainly(&why)),
                "make room; the same stands in the .md file",
            ));
        }
        match (broken, lost.is_empty()) {
            (Some(error), well) => {
                if !well {
                    complain(&lost.to_string());
                }
                Err((&error).into())
            }
            (None, false) => Err(Failed { exit: Exit::OutputNotWritten, text: lost.to_string() }),
            (None, true) if stop.urgency() > Urgency::None => Ok(Exit::Interrupted),
            (None, true) => Ok(exit::climbed(&sweep.rows())),
        }
    }
}

/// The draft of one level.
fn at(draft: &Draft, level: plan::Level) -> Draft {
    let mut draft = draft.clone();
    match level {
        plan::Level::Users(users) => draft.connections = Some(Given::Value(users)),
        plan::Level::Offered(rate) => draft.rate = Some(Given::Value(Timetable::new(vec![Stage::constant(rate, None)]))),
    }
    draft
}

/// Rests between two levels, but not when the user wants to end.
fn rest(span: Nanos, stop: &Stop) {
    let until = Instant::now() + Duration::from(span);
    while stop.urgency() == Urgency::None {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        thread::sleep(left.min(Duration::from_millis(50)));
    }
}

/// Writes all files of what is measured so far, and says which could not be written.
fn write(sweep: &analysis::Sweep, files: &Files) -> PlanErrors {
    let mut lost = PlanErrors::default();
    for file in report::sweep::files(sweep).expect("memory takes every byte") {
        if let Err(error) = files.write(file.ending, &file.bytes) {
            lost.push(error);
        }
    }
    lost
}

/// What the columns mean, and what the levels show.
fn ending(sweep: &analysis::Sweep, width: u16) -> String {
    let rows = sweep.rows();
    let mut text = if rows.is_empty() { "\n".to_owned() } else { format!("\n{}\n", broken(table::legend(&rows).trim(), width)) };
    for sentence in conclusion(&rows, sweep.stopped.as_ref()).into_iter().chain(promises(&sweep.checks, &rows)) {
        text += &broken(&sentence, width);
    }
    text
}

/// Prose in lines of at most so many columns, indented by two. A figure and its unit stay together.
fn broken(prose: &str, width: u16) -> String {
    let mut text = String::new();
    let mut line = String::from(" ");
    let mut words = prose.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let mut word = word.to_owned();
        while let Some(unit) = words.next_if(|next| UNITS.contains(&next.trim_end_matches([',', '.', ')', ':']))) {
            word = format!("{word} {unit}");
        }
        if line.chars().count() + 1 + word.chars().count() > usize::from(width) && line.len() > 1 {
            text += &line;
            text.push('\n');
            line = String::from(" ");
        }
        line.push(' ');
        line += &word;
    }
    text + &line + "\n"
}

const UNITS: [&str; 6] = ["%", "ns", "µs", "ms", "s", "min"];

/// The name a URL suggests: its path's words, or its host.
fn name_of(url: &str) -> String {
    let Ok(target) = url.parse::<Target>() else { return "sweep".to_owned() };
    let path = target.path_and_query().split('?').next().unwrap_or_default();
    let words = |text: &str| {
        let plain: String =
            text.chars().map(|letter| if letter.is_ascii_alphanumeric() || "._-".contains(letter) { letter } else { ' ' }).collect();
        plain.split([' ']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-")
    };
    let name = words(path);
    let name = if name.is_empty() { words(target.host()) } else { name };
    // Long enough to tell apart, short enough for every file system with an ending.
    let name: String = name.trim_start_matches(['.', '-']).chars().take(NAME_LETTERS_MAX).collect();
    if name.is_empty() { "sweep".to_owned() } else { name }
}

const NAME_LETTERS_MAX: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_broken_between_words_but_not_before_units() {
        assert_eq!(broken("it takes 18.5 µs, and 99 % at most 39.0 ms.", 19), "  it takes 18.5 µs,\n  and 99 % at most\n  39.0 ms.\n");
    }

    #[test]
    fn a_url_suggests_a_name_for_files() {
        for (url, name) in [
            ("http://127.0.0.1:8080/healthz", "healthz"),
            ("http://api.test/v1/users/?page=2", "v1-users"),
            ("http://api.test:8080/", "api.test"),
            ("http://api.test", "api.test"),
            ("http://[::1]:80/", "1"),
            ("http://api.test/..%2f..%2fetc", "2f..-2fetc"),
            ("http://api.test/.hidden", "hidden"),
            ("nonsense", "sweep"),
        ] {
            assert_eq!(name_of(url), name, "{url}");
        }
        assert_eq!(name_of(&format!("http://a.test/{}", "x".repeat(500))).len(), NAME_LETTERS_MAX);
    }
}
