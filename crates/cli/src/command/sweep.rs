//! `loadline sweep URL`: a ladder of loads, a table that grows, two charts and a conclusion in words.
//!
//! A sweep takes minutes, and anything may end it: Ctrl-C, a server that dies, a full disk. So its files are written after
//! every level, each whole or not at all, and what was measured until then is always in them.

use analysis::gate::Check;
use analysis::{Level, LevelRow, StopRule, Sweep as SweepResult, Trial};
use clap::Args;
use engine::{RunError, RunErrorKind, Runner, Stop};
use experiment::sweep::{Event, Settings, at};
use history::Kind;
use plan::setting::{CONNECTIONS, LEVELS, RATE, RATES, SLO};
use plan::{Choice, Draft, Ladder, LadderDraft, LoadRecord, Plan, PlanError, PlanErrors, Setting};
use report::sweep::table;
use report::{Experiment as _, Style};
use resolve::{KnownSecrets, Scenarios};

use crate::bench::ServerBench;
use crate::exit::{self, Exit, Failed};
use crate::files::{Files, Filing};
use crate::imported::{ImportedLoad, Importing};
use crate::measuring::{Measuring, MeasuringArgs};
use crate::outputs::{Renderings, out_help};
use crate::proceedings::{Proceedings, Writing};
use crate::screen::Screen;
use crate::workload::Series;
use crate::{inputs, name};

/// A ladder of loads, and where its results go.
#[derive(Debug, Args)]
#[command(mut_arg("out", |arg| arg.help(out_help(SweepResult::FORMATS))))]
pub struct Sweep {
    #[command(flatten)]
    draft: Draft,

    #[command(flatten)]
    importing: Importing,

    #[command(flatten)]
    ladder: LadderDraft,

    /// Call that level the best which carries most and keeps this, such as 'p99 < 50ms'; may be given again
    #[arg(long, value_name = "CHECK", help_heading = "Sweep")]
    slo: Vec<Setting<Check>>,

    #[command(flatten)]
    filing: Filing,

    #[command(flatten)]
    measuring: MeasuringArgs,
}

/// Climbs, and says what it found.
pub fn carry_out(sweep: Sweep, known: &KnownSecrets) -> Result<Exit, Failed> {
    let Sweep { draft, importing, ladder, slo, filing, measuring } = sweep;
    let (mut errors, voice) = (PlanErrors::default(), measuring.voice());
    let importing = if ladder.rates.is_some() { importing.at_rates() } else { importing };
    let ImportedLoad { load, scenarios, left_out } = importing.take(draft, None, (known, voice), &mut errors);
    let runner = measuring.agents.runner(&load.draft, scenarios.reader(), &mut errors)?;
    let asked = if ladder.levels.is_some() || ladder.rates.is_some() { LevelChoice::Levels } else { LevelChoice::Nothing };
    let scenario = scenarios.of(&load);
    let name = filing.name_or(|| name::of_draft(&load.draft, scenario.as_deref(), "sweep"));
    let slo = wished(slo, &mut errors);
    let outs = filing.renderings(SweepResult::FORMATS, &mut errors);
    let climb = Climb::decide(load, ladder, scenarios, &mut errors);
    let files = filing.files(&name, SweepResult::ENDINGS, &mut errors);
    let mut measuring = measuring.decide((Kind::Sweep, &name), scenario.as_deref(), known, &mut errors);
    let Some(climb) = climb.filter(|_| errors.is_empty()) else { return Err(errors.into()) };
    let mut climb = Climb { slo, checks: std::mem::take(&mut measuring.checks), ..climb };
    importing.look(climb.plans.first().map(|plan| (plan, &climb.scenarios)), &left_out, (known, voice))?;

    let (stop, screen) = measuring.begin("sweep", known)?;
    measuring.probes.doubts().iter().for_each(|doubt| screen.say(doubt));
    climb.fit(asked, &runner)?;
    if let Some(plan) = climb.first() {
        measuring.eyes.check(plan).and_then(|()| measuring.probes.check(plan))?;
    }
    climb.carry_out((files, outs), measuring, (screen, stop), &runner)
}

/// What the best level is to keep.
pub fn wished(given: Vec<Setting<Check>>, errors: &mut PlanErrors) -> Vec<Check> {
    let read = |given| match given {
        Setting::Value(check) => Some(check),
        Setting::Wrong { why, .. } => {
            errors.push(PlanError::new(SLO, format!("{SLO}: {why}"), format!("write a promise such as {SLO:#} 'p99 < 50ms'")));
            None
        }
    };
    given.into_iter().filter_map(read).collect()
}

/// Whether the user named levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LevelChoice {
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
    /// What every level is made from.
    load: LoadRecord,
    scenarios: Scenarios,
    slo: Vec<Check>,
    /// What every level is held against.
    checks: Vec<Check>,
}

impl Climb {
    /// Decides every level. Every mistake goes to `errors`.
    pub fn decide(mut load: LoadRecord, ladder: LadderDraft, scenarios: Scenarios, errors: &mut PlanErrors) -> Option<Self> {
        let draft = &mut load.draft;
        if let (Some(connections), None) = (&draft.connections, &ladder.rates) {
            let (what, help) = match connections {
                Setting::Value(users) if !users.is_one_number() => {
                    ("a course of its own", format!("leave {CONNECTIONS} out: {LEVELS} says how many users"))
                }
                one => ("one level", format!("give {LEVELS:#} {one} for this one, or leave {CONNECTIONS} out")),
            };
            let why = format!("{CONNECTIONS:#} {connections} is {what}, and a sweep climbs over many levels");
            errors.push(PlanError::new(CONNECTIONS, why, help));
            draft.connections = None;
        }
        if let Some(rate) = draft.rate.take() {
            errors.push(PlanError::new(
                RATE,
                format!("{RATE:#} {rate} is one load, and a sweep climbs over many"),
                format!("give a ladder of rates such as {RATES:#} 100/s,200/s,500/s, or measure one with loadline run"),
            ));
        }
        inputs::read(draft, errors);
        let ladder =
            ladder.decide(scenarios.reader().connections_max()).map_err(|PlanErrors(mut mistakes)| errors.0.append(&mut mistakes)).ok();
        let levels = ladder.as_ref().map_or(&[][..], |ladder| &ladder.levels);
        let mut plans = Vec::with_capacity(levels.len());
        // A mistake beside the level is the same on every level, and enough is said when it is said once.
        let before = errors.0.len();
        for level in levels {
            let level = LoadRecord { draft: at(&load.draft, *level), ..load.clone() };
            plans.push(inputs::decide_level(level, &scenarios, errors)?);
            if errors.0.len() > before {
                return None;
            }
        }
        match ladder {
            Some(ladder) => Some(Self { ladder, plans, load, scenarios, slo: Vec::new(), checks: Vec::new() }),
            None => {
                // Without levels the rest is still looked at, so that all mistakes come together.
                inputs::decide_level(load, &scenarios, errors);
                None
            }
        }
    }

    /// Leaves the ladder as far as this machine and the target's addresses allow.
    ///
    /// # Errors
    /// If the target cannot be reached, or a level that was asked for cannot be opened: need, have and remedy.
    pub fn fit(&mut self, asked: LevelChoice, runner: &Runner) -> Result<(), RunError> {
        let fits = |plan: &Plan| runner.prepare(plan).map(drop);
        // Whatever the lowest level cannot do, no level can.
        if let Some(lowest) = self.plans.first() {
            fits(lowest)?;
        }
        while let Some(Err(error)) = self.plans.last().map(fits) {
            if asked == LevelChoice::Levels || error.kind == RunErrorKind::Run || self.plans.len() == 1 {
                return Err(error);
            }
            self.plans.pop();
            self.ladder.levels.pop();
        }
        Ok(())
    }

    /// The same whose best level is to keep this.
    pub fn keeping(self, slo: Vec<Check>) -> Self {
        Self { slo, ..self }
    }

    /// The same with each level held against this.
    pub fn promising(self, checks: Vec<Check>) -> Self {
        Self { checks, ..self }
    }

    /// How much load it is, in words.
    pub fn in_words(&self) -> String {
        let levels: Vec<String> =
            self.ladder.levels.iter().zip(&self.plans).map(|(level, plan)| Level::of(*level, plan).to_string()).collect();
        let lasting = self.first().and_then(Plan::duration).map_or_else(String::new, |lasting| format!(", each for {lasting}"));
        match (self.ladder.choice, &levels[..]) {
            (Choice::Adaptive { levels_max }, [.., last]) => format!("up to {levels_max} levels of at most {last}{lasting}"),
            (_, [only]) => format!("{only}{lasting}"),
            (_, [first, .., last]) => format!("{} levels from {first} to {last}{lasting}", levels.len()),
            (_, []) => String::new(),
        }
    }

    /// Measures level by level: a row on standard output and all files after each, the conclusion at the end.
    ///
    /// # Errors
    /// If a level cannot be carried out, or a file cannot be written; what was measured is reported first.
    pub fn carry_out(
        self,
        (files, outs): (Files, Renderings<SweepResult>),
        measuring: Measuring,
        (screen, stop): (Screen, Stop),
        runner: &Runner,
    ) -> Result<Exit, Failed> {
        let series = self.begin(runner, &stop)?;
        self.plans.first().and_then(|plan| too_short(plan, &self.scenarios)).into_iter().for_each(|said| screen.say(&said));
        let mut sweep = self.unmeasured(files.name());
        let around = Proceedings::begin((files, outs), measuring, ("sweep", self.plans.first()), (screen, stop));
        let style = around.style();
        let heads = self
            .ladder
            .levels
            .first()
            .zip(self.plans.first())
            .map(|(level, plan)| table::header(Level::of(*level, plan), table::CountUnit::of_plan(plan), &style));
        let mut bench = around.bench(series);
        let mut writing = around.writing();
        let ended = self.measure(&mut sweep, &mut bench, &mut |sweep, event| {
            tell(&mut writing, sweep, &event, heads.as_deref().unwrap_or_default(), &style);
        });
        let (written, text) = (writing.done(), report::sweep::conclusion(&sweep, style.width));
        around.end(written, &sweep, &text, ended.map_err(Failed::from), Self::exit(&sweep))
    }

    /// Does what a scenario does once before all levels.
    ///
    /// # Errors
    /// If it fails, or a file has gone.
    pub fn begin(&self, runner: &Runner, stop: &Stop) -> Result<Series, RunError> {
        match self.plans.first() {
            Some(first) => Series::begin(first, &self.scenarios, runner, stop),
            None => Ok(Series::of(&self.scenarios, runner)),
        }
    }

    /// The lowest level.
    pub fn first(&self) -> Option<&Plan> {
        self.plans.first()
    }

    /// A sweep of which nothing is measured yet.
    pub fn unmeasured(&self, name: &str) -> SweepResult {
        let planned = match self.ladder.choice {
            Choice::Listed => self.ladder.levels.iter().zip(&self.plans).map(|(level, plan)| Level::of(*level, plan)).collect(),
            Choice::Adaptive { .. } => Vec::new(),
        };
        let new = SweepResult::new(name.to_owned(), String::new(), planned);
        SweepResult { slo: self.slo.clone(), checks: self.checks.clone(), ..new }
    }

    /// Measures level by level on this bench.
    ///
    /// # Errors
    /// If a level cannot be carried out; what was measured is in `sweep`.
    pub fn measure(
        &self,
        sweep: &mut SweepResult,
        bench: &mut ServerBench<'_>,
        tell: &mut dyn FnMut(&SweepResult, Event),
    ) -> Result<(), trial::RunError> {
        let decide = |draft| inputs::decided(LoadRecord { draft, ..self.load.clone() }, &self.scenarios);
        let settings = Settings { ladder: &self.ladder, draft: &self.load.draft, decide: &decide, is_profiled: !bench.probes.is_empty() };
        let ended = experiment::sweep::carry_out(&settings, sweep, bench, tell);
        sweep.warnings.extend(bench.series.end());
        ended
    }

    /// How the program ends.
    fn exit(sweep: &SweepResult) -> Exit {
        let is_aborted = sweep.stopped.as_ref().is_some_and(|stopped| stopped.rule == StopRule::Aborted);
        if is_aborted { Exit::CheckFailed } else { exit::climbed(&sweep.rows()) }
    }
}

/// A row for each load, heads above them, and all files after each level.
fn tell(writing: &mut Writing<'_, SweepResult>, sweep: &SweepResult, event: &Event, heads: &str, style: &Style) {
    let row_of = |trial: &Trial| table::row(&LevelRow::new(trial.level, &[&trial.summary], &sweep.checks), style) + "\n";
    match event {
        Event::Begin => writing.say(&format!("\n{heads}\n")),
        Event::Measured => {
            writing.say(&sweep.trials.last().map(row_of).unwrap_or_default());
            writing.so_far(sweep, &sweep.files());
        }
        Event::Round(round, rounds) => writing.say(&format!("\n  Round {round} of {rounds}, in random order\n{heads}\n")),
        Event::Together => {
            let rows: String = sweep.rows().iter().map(|row| table::row(row, style) + "\n").collect();
            writing.say(&format!("\n  All rounds together\n{heads}\n{rows}"));
        }
        Event::Again => writing.say(&format!("\n  Measured again, since they disagree with the levels beside them\n{heads}\n")),
        Event::Profiles(levels) => {
            let levels: Vec<String> = levels.iter().map(ToString::to_string).collect();
            writing.say(&format!("\n  Profiles of the server at {}\n", levels.join(" and ")));
        }
        Event::NoProfile => writing.say("\n  No profile was taken: no level of this sweep is the best one.\n"),
        Event::Profiled => writing.say(&sweep.profiled.last().map(row_of).unwrap_or_default()),
    }
}

/// What is to be said of levels that end before a journey does.
fn too_short(plan: &Plan, scenarios: &Scenarios) -> Option<String> {
    let (lasting, thinking) = (plan.duration()?, scenarios.thinking(plan));
    (thinking >= lasting).then(|| {
        format!(
            "a journey pauses for about {thinking} in all, and a level lasts {lasting}: only its first steps will be seen; give a longer -d"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroU32;
    use std::time::Duration;

    use measure::{Summary, fixtures};
    use testbed::Workers;

    /// A run of so many users that carried so many requests a second, give or take a little, as clocks do.
    fn trial(users: u32, repetition: u32, qps: f64) -> Trial {
        let mut summary: Summary = fixtures::summaries().into_iter().find(|(name, _)| *name == "closed_all_well").unwrap().1;
        let wobble = [0.003, -0.004, 0.001, 0.005, -0.002][(users + repetition) as usize % 5];
        summary.edit_for_test().qps_succeeded = qps * (1.0 + wobble);
        summary.edit_for_test().qps = summary.qps_succeeded;
        Trial { level: Level::Users(NonZeroU32::new(users).unwrap()), repetition, summary }
    }

    /// What the testbed's pool carries of so many users in ten seconds: its own queue, without a clock.
    fn pool_per_second(workers: u32, users: u32) -> f64 {
        let mut pool = Workers::idle(NonZeroU32::new(workers).unwrap());
        let mut asks = std::collections::BinaryHeap::from(vec![std::cmp::Reverse(Duration::ZERO); users as usize]);
        let mut answered = 0;
        while let Some(std::cmp::Reverse(at)) = asks.pop().filter(|at| at.0 < Duration::from_secs(10)) {
            let done = pool.admit(at, Duration::from_millis(20));
            answered += u32::from(done <= Duration::from_secs(10));
            asks.push(std::cmp::Reverse(done));
        }
        f64::from(answered) / 10.0
    }

    #[test]
    fn a_worker_pool_is_called_one() {
        let levels = [1, 2, 3, 4, 8, 16, 32];
        let mut sweep = SweepResult::new("pool".to_owned(), String::new(), levels.map(|it| trial(it, 1, 1.0).level).to_vec());
        for repetition in 1..=3 {
            sweep.trials.extend(levels.map(|users| trial(users, repetition, pool_per_second(4, users))));
        }
        let text = report::sweep::conclusion(&sweep, 200);
        for part in ["This is a ceiling at about 4 requests at once, not a scalability curve.", "best concurrency"] {
            assert!(text.contains(part), "{part}:\n{text}");
        }
        let file = |ending: &str| {
            let files = report::sweep::files(&sweep).unwrap();
            String::from_utf8(files.into_iter().find(|file| file.ending == ending).unwrap().bytes).unwrap()
        };
        assert!(file("_qps_ttlb.svg").contains("Fitted: ceiling at about 4 requests at once."));
        assert!(file(".md").contains("## The model: ceiling at about 4 requests at once"));
        let json: serde_json::Value = serde_json::from_str(&file(".json")).unwrap();
        assert_eq!(json["model"]["chosen"]["model"], "pool", "{}", json["model"]);
    }
}
