//! `loadline sweep URL`: a ladder of loads, a table that grows, two charts and a conclusion in words.
//!
//! A sweep takes minutes, and anything may end it: Ctrl-C, a server that dies, a full disk. So its files are written after
//! every level, each whole or not at all, and what was measured until then is always in them.

use std::io;
use std::num::NonZeroU32;
use std::thread;
use std::time::{Duration, Instant};

use analysis::adaptive::{Reach, next_levels};
use analysis::bottleneck::Finding;
use analysis::ceiling::CeilingUse;
use analysis::gate::Check;
use analysis::knee::Best;
use analysis::{Level, LevelRow, StopRule, Stopped, Trial, climb, conclusion, curve, doubt, promises_kept, scaling};
use clap::Args;
use engine::net::Network;
use engine::{RunErrorKind, Stop, Urgency, machine};
use export::{Exports, Ready};
use history::Kind;
use measure::Ending;
use plan::{Choice, Draft, Given, Ladder, LadderDraft, Nanos, Plan, PlanError, PlanErrors, Random, Rung, Stage, Timetable};
use report::server_side;
use report::sweep::table;
use report::{SWEEP_FORMATS, Style, prose};
use trial::RunError;

use crate::drive::Series;
use crate::exit::{self, Exit, Failed};
use crate::exporting::{self, Exporting};
use crate::files::{Files, Filing};
use crate::imported::{Imported, Importing};
use crate::keeping::{Keeper, Keeping};
use crate::observers::Observers;
use crate::observing::{Eyes, Observing};
use crate::output_args::OutputArgs;
use crate::outputs::{Renderings, out_help};
use crate::profiling::{Probes, Profiling};
use crate::promises::{Aborts, Guard, Promises};
use crate::scenarios::Scenarios;
use crate::screen::{Screen, Sight, complain};
use crate::{inputs, interrupt, name, saved, secrets, step_summary};

/// A ladder of loads, and where its results go.
#[derive(Debug, Args)]
#[command(mut_arg("out", |arg| arg.help(out_help(SWEEP_FORMATS))))]
pub struct Sweep {
    #[command(flatten)]
    draft: Draft,

    #[command(flatten)]
    importing: Importing,

    #[command(flatten)]
    ladder: LadderDraft,

    /// Call that level the best which carries most and keeps this, such as 'p99 < 50ms'; may be given again
    #[arg(long, value_name = "CHECK", help_heading = "Sweep")]
    slo: Vec<Given<Check>>,

    #[command(flatten)]
    promises: Promises,

    #[command(flatten)]
    aborts: Aborts,

    #[command(flatten)]
    filing: Filing,

    #[command(flatten)]
    keeping: Keeping,

    #[command(flatten)]
    exporting: Exporting,

    #[command(flatten)]
    observing: Observing,

    #[command(flatten)]
    profiling: Profiling,

    #[command(flatten)]
    sight: Sight,

    #[command(flatten)]
    output_args: OutputArgs,
}

/// The endings of a sweep's files.
pub const ENDINGS: &[&str] = &[".dat", ".json", "_qps_ttlb.png", "_qps_ttlb.svg", "_successrate.png", "_successrate.svg", ".md"];

/// Climbs, and says what it found.
pub fn carry_out(sweep: Sweep) -> Result<Exit, Failed> {
    let Sweep { draft, importing, ladder, slo, promises, aborts, filing, keeping, exporting, observing, profiling, sight, output_args } =
        sweep;
    secrets::learn(&draft);
    inputs::warn_of(&draft, output_args.voice());
    let mut errors = PlanErrors::default();
    let Imported { draft, scenarios, left_out } = importing.take(draft, None, output_args.voice(), &mut errors);
    let asked = if ladder.levels.is_some() || ladder.rates.is_some() { Asked::Levels } else { Asked::Nothing };
    let scenario = scenarios.of(&draft);
    let name = filing.name_or(|| name::of_draft(&draft, scenario.as_deref(), "sweep"));
    let slo = wished(slo, &mut errors);
    let outs = filing.renderings(SWEEP_FORMATS, &mut errors);
    let climb = Climb::decide(draft, ladder, scenarios, &mut errors);
    let checks = promises.read(scenario.as_deref(), &mut errors);
    let guard = aborts.read(&mut errors);
    let climb = climb.map(|climb| Climb { slo, checks, guard, outs, ..climb });
    let keeper = keeping.decide(Kind::Sweep, &name, &mut errors);
    let eyes = observing.decide(&mut errors);
    let probes = profiling.decide(&mut errors);
    sight.check(&mut errors);
    let files = filing.files(&name, ENDINGS, &mut errors);
    let ready = exporting.decide(&mut errors);
    let Some(climb) = climb.filter(|_| errors.is_empty()) else { return Err(errors.into()) };
    importing.look(climb.plans.first().map(|plan| (plan, &climb.scenarios)), &left_out, output_args.voice())?;

    let stop = Stop::new();
    let screen = output_args.screen_with_view(sight, "sweep", &stop);
    interrupt::raise_on_signal(&stop, &screen)?;
    probes.doubts().iter().for_each(|doubt| screen.say(doubt));
    climb.fitted(asked)?.watched_by(eyes)?.profiled_by(probes)?.carry_out(&files, (keeper, ready), output_args, &screen, &stop)
}

/// What the best level is to keep.
fn wished(given: Vec<Given<Check>>, errors: &mut PlanErrors) -> Vec<Check> {
    let read = |given| match given {
        Given::Value(check) => Some(check),
        Given::Wrong { why, .. } => {
            errors.push(PlanError::new("slo", format!("--slo: {why}"), "write a promise such as --slo 'p99 < 50ms'"));
            None
        }
    };
    given.into_iter().filter_map(read).collect()
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
    /// What every level is made from.
    draft: Draft,
    scenarios: Scenarios,
    slo: Vec<Check>,
    /// What every level is held against.
    checks: Vec<Check>,
    /// Where the result goes besides.
    outs: Renderings<analysis::Sweep>,
    /// What of the server's side is watched at every level.
    eyes: Eyes,
    /// Which profiles are taken when the best level is known.
    probes: Probes,
    /// Conditions to end the sweep on, afresh for each level.
    guard: Guard,
}

impl Climb {
    /// Decides every level. Every mistake goes to `errors`.
    pub fn decide(mut draft: Draft, ladder: LadderDraft, scenarios: Scenarios, errors: &mut PlanErrors) -> Option<Self> {
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
            plans.push(inputs::decide_level(at(&draft, *level), &scenarios, errors)?);
            if errors.0.len() > before {
                return None;
            }
        }
        match ladder {
            Some(ladder) => Some(Self {
                ladder,
                plans,
                draft,
                scenarios,
                slo: Vec::new(),
                checks: Vec::new(),
                outs: Renderings::none(),
                eyes: Eyes::CLOSED,
                probes: Probes::NONE,
                guard: Guard::NONE,
            }),
            None => {
                // Without levels the rest is still looked at, so that all mistakes come together.
                inputs::decide_level(draft, &scenarios, errors);
                None
            }
        }
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

    /// The same with the server's side watched.
    ///
    /// # Errors
    /// If it cannot be.
    pub fn watched_by(self, eyes: Eyes) -> Result<Self, Failed> {
        self.plans.first().map_or(Ok(()), |plan| eyes.check(plan))?;
        Ok(Self { eyes, ..self })
    }

    /// The same with profiles of the server at its end.
    ///
    /// # Errors
    /// If they cannot be had.
    pub fn profiled_by(self, probes: Probes) -> Result<Self, Failed> {
        self.plans.first().map_or(Ok(()), |plan| probes.check(plan))?;
        Ok(Self { probes, ..self })
    }

    /// Measures level by level: a row on standard output and all files after each, the conclusion at the end.
    ///
    /// # Errors
    /// If a level cannot be carried out, or a file cannot be written; what was measured is reported first.
    pub fn carry_out(
        &self,
        files: &Files,
        (mut keeper, ready): (Keeper, Ready),
        output_args: OutputArgs,
        screen: &Screen,
        stop: &Stop,
    ) -> Result<Exit, Failed> {
        let style = output_args.styles().stdout;
        let planned = match self.ladder.choice {
            Choice::Listed => self.ladder.levels.iter().zip(&self.plans).map(|(level, plan)| Level::of(*level, plan)).collect(),
            Choice::Adaptive { .. } => Vec::new(),
        };
        let series =
            self.plans.first().map(|plan| Series::begin(plan, &self.scenarios, stop)).transpose().map_err(|error| Failed::from(&error))?;
        let series = series.unwrap_or_default();
        self.plans.first().and_then(|plan| too_short(plan, &self.scenarios)).into_iter().for_each(|said| screen.say(&said));
        let mut sweep = analysis::Sweep::new(files.name().to_owned(), String::new(), planned);
        sweep.slo.clone_from(&self.slo);
        sweep.checks.clone_from(&self.checks);
        keeper.begin(stop);
        let exports = exporting::open(ready, keeper.id(), files.name(), "sweep", self.plans.first(), output_args.voice());
        let (told, lost) = (Ok(()), PlanErrors::default());
        let mut ascent =
            Ascent { climb: self, series, files, keeper, exports, output_args, style, screen, stop, sweep, told, lost, broken: None };
        ascent.header("");
        match self.ladder.choice {
            Choice::Listed => ascent.climb(),
            Choice::Adaptive { levels_max } => ascent.search(levels_max),
        }
        ascent.doubt();
        ascent.profile();
        ascent.conclude()
    }
}

/// A sweep on its way.
struct Ascent<'a> {
    climb: &'a Climb,
    series: Series,
    files: &'a Files,
    keeper: Keeper,
    exports: Exports,
    output_args: OutputArgs,
    style: Style,
    screen: &'a Screen,
    stop: &'a Stop,
    sweep: analysis::Sweep,
    /// Whether standard output took everything so far.
    told: io::Result<()>,
    /// Files that could not be written the last time.
    lost: PlanErrors,
    /// What ended the sweep, if it was not carried out.
    broken: Option<RunError>,
}

/// Whether measuring goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    GoOn,
    End,
}

impl Ascent<'_> {
    /// Every level once, ascending, while it pays; then those levels again, each round in a random order. Repetitions right
    /// after each other share whatever the machine was doing then, and an order that always ascends makes warming up look
    /// like contention.
    fn climb(&mut self) {
        let Climb { ladder, plans, .. } = self.climb;
        let mut measured: Vec<(Level, &Plan)> = Vec::new();
        for (place, (level, plan)) in ladder.levels.iter().zip(plans).enumerate() {
            let level = Level::of(*level, plan);
            let next = self.measure(level, plan, 1, &format!("level {} of {}", place + 1, plans.len()));
            measured.push((level, plan));
            if next == Next::End {
                return;
            }
            if ladder.climb == Rung::WhileItPays && place + 1 < plans.len() {
                self.sweep.stopped = climb::stop(&self.sweep.rows());
                if self.sweep.stopped.is_some() {
                    break;
                }
            }
        }
        // A level at which the server gave up would hurt whatever happens to be measured after it.
        let failing: Vec<Level> = self.sweep.rows().iter().filter(|row| scaling::is_failing(row)).map(|row| row.level).collect();
        measured.retain(|(level, _)| !failing.contains(level));
        let rounds = ladder.repeat.get();
        for round in 2..=rounds {
            let seed = plans.first().map_or(0, Plan::seed);
            shuffle(&mut measured, &mut Random::new(seed, ROUNDS + u64::from(round)));
            self.header(&format!("  Round {round} of {rounds}, in random order\n"));
            for (place, (level, plan)) in measured.iter().enumerate() {
                if self.measure(*level, plan, round, &format!("round {round}, level {} of {}", place + 1, measured.len())) == Next::End {
                    return;
                }
            }
        }
        if rounds > 1 {
            self.header("  All rounds together\n");
            let rows: String = self.sweep.rows().iter().map(|row| table::row(row, &self.style) + "\n").collect();
            self.say(&rows);
        }
    }

    /// One level after the other, each where it says most after those before it.
    fn search(&mut self, levels_max: NonZeroU32) {
        let Climb { ladder, plans, draft, scenarios, .. } = self.climb;
        let Some(highest) = ladder.levels.last() else { return };
        let seed = plans.first().map_or(0, Plan::seed);
        for place in 1..=levels_max.get() {
            let Some(users) = chosen(&self.sweep, highest.value(), seed) else { return };
            let chosen = plan::Level::Users(users);
            // Every level of users is as sound as the lowest, which was decided before the first request.
            let mut errors = PlanErrors::default();
            let Some(plan) = inputs::decide_level(at(draft, chosen), scenarios, &mut errors) else {
                self.sweep.stopped = Some(Stopped::cut_short(&errors.to_string()));
                return;
            };
            let level = Level::Users(users);
            self.sweep.levels.push(level);
            self.sweep.levels.sort_by(|a, b| a.value().total_cmp(&b.value()));
            for repetition in 1..=ladder.repeat.get() {
                if self.measure(level, &plan, repetition, &format!("level {place} of at most {levels_max}")) == Next::End {
                    return;
                }
            }
        }
    }

    /// Levels that were measured once and disagree with their neighbours, once more.
    fn doubt(&mut self) {
        if self.broken.is_some() || self.stop.urgency() > Urgency::None || self.series.has_run_out().is_some() {
            return;
        }
        let rows = self.sweep.rows();
        let once = |level: &Level| rows.iter().any(|row| row.level == *level && row.repetitions == 1);
        let levels: Vec<Level> = doubt::doubtful(&rows).into_iter().filter(once).collect();
        if levels.is_empty() {
            return;
        }
        self.header("  Measured again, since they disagree with the levels beside them\n");
        for level in levels {
            let mut errors = PlanErrors::default();
            let draft = at(&self.climb.draft, level.into());
            let Some(plan) = inputs::decide_level(draft, &self.climb.scenarios, &mut errors) else { return };
            if self.measure(level, &plan, 2, "measured again") == Next::End {
                return;
            }
            doubt::settle(&mut self.sweep, level);
        }
    }

    /// Measures a level once: its row on standard output, and all files.
    fn measure(&mut self, level: Level, plan: &Plan, repetition: u32, place: &str) -> Next {
        if !self.sweep.trials.is_empty() {
            rest(self.climb.ladder.cooldown, self.stop);
        }
        if self.stop.urgency() > Urgency::None {
            self.sweep.stopped = Some(Stopped::interrupted());
            return Next::End;
        }
        if let Some(why) = self.series.has_run_out() {
            self.sweep.stopped = Some(Stopped::cut_short(why));
            return Next::End;
        }
        // What users of journeys draw by chance is to be new at each level, as their rows are.
        let drawn_anew = plan.scenario().map(|_| plan.seeded(plan.seed().wrapping_add(self.sweep.trials.len() as u64)));
        let plan = drawn_anew.as_ref().unwrap_or(plan);
        let mut next = Next::GoOn;
        let mut guard = self.climb.guard.clone();
        let ended = Observers {
            screen: Some((self.screen, format!("{level}, {place}"))),
            live: None,
            server: Some(self.climb.eyes.open_again(plan)),
            profiles: None,
            journal: Some((&self.keeper, saved::level(level, repetition))),
            exports: Some((&self.exports, format!("{level}, round {repetition}"))),
            guard: Some(&mut guard),
            judge: None,
        }
        .carry_out(plan, self.stop, |watch, stop| self.series.run(plan, watch, stop));
        let measured = match ended {
            Ok(summary) => Some(summary),
            Err(mut error) => {
                let measured = error.measured.take().map(|summary| *summary);
                self.sweep.stopped = Some(Stopped::cut_short(&error.message));
                self.broken = Some(error);
                next = Next::End;
                measured
            }
        };
        let Some(summary) = measured else { return next };
        if let Some(rule) = guard.came_true() {
            self.sweep.stopped = Some(Stopped::aborted(&rule, &level.to_string()));
            next = Next::End;
        }
        if summary.ended.how == Ending::Interrupted {
            self.sweep.stopped = Some(Stopped::interrupted());
            next = Next::End;
        }
        if self.sweep.trials.is_empty() {
            self.sweep.started.clone_from(&summary.started);
        }
        // Interrupted before anything fell due, it says nothing.
        if summary.requests.due > 0 {
            let row = table::row(&LevelRow::new(level, &[&summary], &self.sweep.checks), &self.style);
            self.sweep.trials.push(Trial { level, repetition, summary });
            self.say(&format!("{row}\n"));
            self.lost = write(&self.sweep, self.files);
            self.keeper.result_so_far(|| json(&self.sweep));
            self.screen.show_result(|| report::page::sweep(&self.sweep));
        }
        next
    }

    /// Two runs more with a profile of each, once it is known where the knee is: at a part of it, where nothing is in short supply yet,
    /// and at it. They are no part of the ladder, whose figures a profile would change.
    fn profile(&mut self) {
        let is_over = self.broken.is_some() || self.is_aborted() || self.stop.urgency() > Urgency::None;
        if self.climb.probes.is_empty() || self.sweep.trials.is_empty() || is_over {
            return;
        }
        let Best::At { level: knee, .. } = scaling(&self.sweep).best else {
            self.header_line("  No profile was taken: no level of this sweep is the best one.\n");
            return;
        };
        let Some(highest) = self.sweep.trials.iter().map(|trial| trial.level).find(|level| level.value() == knee) else { return };
        let levels = below(highest).into_iter().chain([highest]);
        self.header_line(&format!(
            "  Profiles of the server at {}\n",
            levels.clone().map(|it| it.to_string()).collect::<Vec<_>>().join(" and ")
        ));
        for level in levels {
            rest(self.climb.ladder.cooldown, self.stop);
            if self.stop.urgency() > Urgency::None {
                return;
            }
            let mut errors = PlanErrors::default();
            let Some(plan) = inputs::decide_level(at(&self.climb.draft, level.into()), &self.climb.scenarios, &mut errors) else { return };
            let what = format!("{level}, with a profile");
            let ended = Observers {
                screen: Some((self.screen, what.clone())),
                live: None,
                server: Some(self.climb.eyes.open_again(&plan)),
                profiles: Some((self.climb.probes.open(&plan), format!("at {level} "))),
                // No level of the sweep: of one that is broken off nothing is kept.
                journal: None,
                exports: Some((&self.exports, what)),
                guard: None,
                judge: None,
            }
            .carry_out(&plan, self.stop, |watch, stop| self.series.run(&plan, watch, stop));
            let summary = match ended {
                Ok(summary) => summary,
                Err(error) => {
                    self.broken = Some(error);
                    return;
                }
            };
            if summary.requests.due > 0 {
                let row = table::row(&LevelRow::new(level, &[&summary], &self.sweep.checks), &self.style);
                self.say(&format!("{row}\n"));
                self.sweep.profiled.push(Trial { level, repetition: 1, summary });
            }
        }
    }

    /// A line between the rows.
    fn header_line(&mut self, text: &str) {
        self.say(&format!("\n{text}"));
    }

    /// The heads of the columns, under a title.
    fn header(&mut self, title: &str) {
        if let Some((level, plan)) = self.climb.ladder.levels.first().zip(self.climb.plans.first()) {
            let counted = if plan.scenario().is_some() { table::Counted::Journeys } else { table::Counted::Requests };
            let heads = table::header(Level::of(*level, plan), counted, &self.style);
            self.say(&format!("\n{title}{heads}\n"));
        }
    }

    /// Says it on standard output; once that fails, nothing more.
    fn say(&mut self, text: &str) {
        if self.told.is_ok() {
            self.told = self.screen.print(text);
        }
    }

    /// Whether a condition of the user ended it.
    fn is_aborted(&self) -> bool {
        self.sweep.stopped.as_ref().is_some_and(|stopped| stopped.rule == StopRule::Aborted)
    }

    fn conclude(mut self) -> Result<Exit, Failed> {
        let is_aborted = self.is_aborted();
        self.sweep.warnings.extend(std::mem::take(&mut self.series).end());
        self.keeper.load_is_over();
        self.screen.clear();
        exporting::close(&mut self.exports, self.output_args.voice());
        if !self.sweep.trials.is_empty() {
            self.lost = write(&self.sweep, self.files);
            self.climb.outs.write(&self.sweep, &mut self.lost);
            step_summary::append(report::sweep::markdown::without_charts(&self.sweep).as_bytes(), &mut self.lost);
        }
        self.say(&ending(&self.sweep, self.style.width));
        if !self.sweep.trials.is_empty() && self.lost.is_empty() {
            self.say(&self.files.listed());
        }
        let kept = if self.sweep.trials.is_empty() {
            self.keeper.discard();
            Ok(String::new())
        } else {
            let id = self.keeper.id();
            let kept = self.keeper.save(&json(&self.sweep));
            self.screen.show_end(|| report::page::sweep(&self.sweep), id.filter(|_| kept.as_ref().is_ok_and(|line| !line.is_empty())));
            kept
        };
        if let Some(line) = kept.as_ref().ok().filter(|line| !line.is_empty()) {
            self.say(&format!("\n{line}"));
        }
        let Self { told, mut lost, broken, stop, sweep, .. } = self;
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
            (None, false) => {
                let lost = Failed { exit: Exit::OutputNotWritten, text: lost.to_string() };
                Failed::both(Err(lost), kept.map(drop)).map(|()| Exit::OutputNotWritten)
            }
            (None, true) if kept.is_err() => kept.map(|_| Exit::OutputNotWritten),
            (None, true) if stop.urgency() > Urgency::None => Ok(Exit::Interrupted),
            (None, true) if is_aborted => Ok(Exit::CheckFailed),
            (None, true) => Ok(exit::climbed(&sweep.rows())),
        }
    }
}

/// How many users an adaptive sweep measures next, up to `highest`; `None` when no level says anything more.
fn chosen(sweep: &analysis::Sweep, highest: f64, seed: u64) -> Option<NonZeroU32> {
    let rows = sweep.rows();
    // What fails is not climbed beyond.
    let failing = rows.iter().find(|row| scaling::is_failing(row));
    let reach = Reach { from: 1.0, to: failing.map_or(highest, |row| highest.min(row.level.value() - 1.0)) };
    if reach.to < 1.0 {
        return None;
    }
    let points = scaling::points(sweep, &rows);
    let next = next_levels(&points, &curve::read(&points, seed), reach, 1).first()?.level;
    rows.iter().all(|row| row.level.value() != next).then(|| NonZeroU32::new(next as u32))?
}

/// Of the best level, the part at which the other profile is taken.
const PART_OF_KNEE: f64 = 0.2;

/// The level below the best one that a profile is taken at; `None` where there is none.
pub fn below(knee: Level) -> Option<Level> {
    let part = knee.value() * PART_OF_KNEE;
    let low = match knee {
        Level::Users(_) => Level::Users(NonZeroU32::new((part.round() as u32).max(1))?),
        Level::Offered(_) => Level::Offered(plan::Rate::per_second(part)?),
        Level::Journeys(_) => Level::Journeys(plan::Rate::per_second(part)?),
    };
    (low != knee).then_some(low)
}

/// The first of the streams of the seed that the orders of rounds are drawn from.
const ROUNDS: u64 = 1 << 40;

/// Every order equally likely (Fisher and Yates).
fn shuffle<T>(them: &mut [T], random: &mut Random) {
    for last in (1..them.len()).rev() {
        them.swap(last, random.between(0, last as u64) as usize);
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
pub fn rest(span: Nanos, stop: &Stop) {
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

/// The whole sweep, as its `.json` file has it.
fn json(sweep: &analysis::Sweep) -> Vec<u8> {
    let mut bytes = Vec::new();
    report::sweep::write(sweep, &mut bytes).expect("memory takes every byte");
    bytes
}

/// What the columns mean, and what the levels show.
fn ending(sweep: &analysis::Sweep, width: u16) -> String {
    let rows = sweep.rows();
    let mut text = table::failed_steps_text(&rows, &Style { width, ..Style::PLAIN });
    text += &if rows.is_empty() { "\n".to_owned() } else { format!("\n{}\n", prose(table::legend(&rows).trim(), width)) };
    for sentence in conclusion(&rows, &scaling(sweep), sweep.stopped.as_ref()).into_iter().chain(promises_kept(&sweep.checks, &rows)) {
        text += &prose(&sentence, width);
    }
    for warning in journey_warnings(sweep) {
        text += &prose(&format!("warning: {}", report::visible(warning)), width);
    }
    if let Some(used) = CeilingUse::greatest(sweep.trials.iter().map(|trial| &trial.summary)) {
        text += &prose(&format!("At its highest, loadline {}.", used.in_words()), width);
    }
    text += &server_side::of_sweep(sweep, width.into());
    text += &limits(&analysis::limits::of_sweep(sweep), width);
    text + &profiled(&report::profiles::of_sweep(sweep), width)
}

/// What profiles show, set apart from what stands before; nothing where none were taken.
pub fn profiled(taken: &[report::profiles::Taken<'_>], width: u16) -> String {
    let mut text = String::new();
    for (sentence, table) in report::profiles::told_of(taken) {
        text += &format!("\n{}\n{table}", prose(&sentence, width));
    }
    for warning in report::profiles::warnings(taken) {
        text += &prose(&warning, width);
    }
    text
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

/// What was odd about the loads of a scenario, each said once: a step that was left out, a teardown that failed.
fn journey_warnings(sweep: &analysis::Sweep) -> Vec<&str> {
    let mut said: Vec<&str> = Vec::new();
    for summary in sweep.trials.iter().map(|trial| &trial.summary).filter(|summary| summary.scenario.is_some()) {
        said.extend(summary.warnings.iter().map(String::as_str));
    }
    said.extend(sweep.warnings.iter().map(String::as_str));
    said.sort_unstable();
    said.dedup();
    said
}

/// What limits the server, set apart from what stands before; nothing where nothing can be said.
pub fn limits(findings: &[Finding], width: u16) -> String {
    let said: String = report::limits::sentences(findings).iter().map(|sentence| prose(sentence, width)).collect();
    if said.is_empty() { said } else { format!("\n{said}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::{Summary, fixtures};
    use testbed::{Scalability, Workers};

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
        let mut sweep = analysis::Sweep::new("pool".to_owned(), String::new(), levels.map(|it| trial(it, 1, 1.0).level).to_vec());
        for repetition in 1..=3 {
            sweep.trials.extend(levels.map(|users| trial(users, repetition, pool_per_second(4, users))));
        }
        let text = ending(&sweep, 200);
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

    #[test]
    fn contention_is_found_by_levels_the_sweep_chooses_itself() {
        // Throughput peaks at √(0.95 / 0.01), near 10 users.
        let law = Scalability { lambda_per_second: 100.0, sigma: 0.05, kappa: 0.01 };
        let mut sweep = analysis::Sweep::new("usl".to_owned(), String::new(), Vec::new());
        let mut order = Vec::new();
        while let Some(users) = chosen(&sweep, 4096.0, 1).filter(|_| order.len() < 9) {
            order.push(users.get());
            sweep.levels.push(Level::Users(users));
            sweep.trials.push(trial(users.get(), 1, law.throughput_per_second(users.get().into())));
        }
        sweep.levels.sort_by(|a, b| a.value().total_cmp(&b.value()));
        assert_eq!(order[..4], [1, 2, 4, 8], "it begins with a ladder");
        assert!(order.iter().all(|users| *users <= 64), "no reason to go far beyond the peak: {order:?}");
        let text = ending(&sweep, 200);
        assert!(text.contains("waits for something shared"), "{order:?}\n{text}");
    }

    #[test]
    fn levels_that_fail_end_the_search_for_higher_ones() {
        let mut sweep = analysis::Sweep::new("failing".to_owned(), String::new(), Vec::new());
        for users in [1, 2, 4] {
            sweep.trials.push(trial(users, 1, 100.0 * f64::from(users)));
        }
        let last = &mut sweep.trials[2].summary;
        let record = last.edit_for_test();
        (record.requests.failed, record.requests.succeeded) = (record.requests.due, 0);
        assert!(chosen(&sweep, 4096.0, 1).is_none_or(|users| users.get() < 4));
        assert_eq!(chosen(&sweep, 0.0, 1), None);
    }

    #[test]
    fn a_shuffle_loses_nothing_and_follows_its_seed() {
        let shuffled = |seed| {
            let mut them: Vec<u32> = (0..20).collect();
            shuffle(&mut them, &mut Random::new(seed, ROUNDS));
            them
        };
        assert_eq!(shuffled(1), shuffled(1));
        assert_ne!(shuffled(1), shuffled(2));
        let mut sorted = shuffled(1);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..20).collect::<Vec<_>>());
    }

    #[test]
    fn a_profile_is_taken_at_a_fifth_of_the_best_level() {
        let users = |users| Level::Users(NonZeroU32::new(users).unwrap());
        assert_eq!(below(users(50)), Some(users(10)));
        assert_eq!(below(users(3)), Some(users(1)));
        assert_eq!(below(users(1)), None);
        let rate = |rate| Level::Offered(plan::Rate::per_second(rate).unwrap());
        assert_eq!(below(rate(500.0)), Some(rate(100.0)));
    }
}
