//! Carries a plan out, with its script, its templates, its scenario or its log if it has one: every command's way to the engine.
//!
//! A sweep that left out the script of its plan would measure something else than was asked for. So no command calls the
//! engine by itself. A warm-up that is to be found in the run is left out here too, once.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use ::replay::LogFacts;
use analysis::warmup::leave_out;
use engine::{Fence, Inlets, Messages, Prepared, RunError, Runner, SoFar, Stop, measured};
use measure::{IntervalCounts, SummaryBuilder, Tick};
use plan::{Part, Plan};
use resolve::Scenarios;
use script::{DoneArguments, Globals, Script, Source};
use sites::Processes;
use template::Ready;

use crate::memory;

/// Where loads are carried out: here, and in further processes where this one cannot or should not carry all of it; only to where the fence
/// lets them.
pub fn runner(fence: &Fence) -> Runner {
    let words = ["agent", "--stdio"].map(OsString::from);
    Runner::within(fence).with_sites(Arc::new(Processes::new([program().into_os_string()].into_iter().chain(words).collect())))
}

/// The file of this program. It may have been replaced since this process began; what the system keeps of it has a name of its own.
pub fn program() -> PathBuf {
    std::env::current_exe().ok().filter(|path| path.exists()).unwrap_or_else(|| "/proc/self/exe".into())
}

/// A plan that is about to be carried out.
pub struct Workload<'a> {
    plan: &'a Plan,
    by: Kind<'a>,
    runner: Runner,
    /// What was looked at before.
    prepared: Option<Prepared>,
    /// A script whose last words are still to be said.
    last: Option<(Script, DoneArguments)>,
}

/// What chooses its requests.
enum Kind<'a> {
    /// It was carried out.
    Nothing,
    /// The plan: they are all the same.
    Plan,
    Script(Box<Script>),
    /// Templates, and a list of URLs.
    Templates(Ready),
    /// Users on journeys; with what they have in common with those of other loads, where it is one of several.
    Journeys(Box<scenario::Ready>, Option<&'a scenario::Series>),
    /// A log.
    Log(::replay::Ready),
    /// A log that another process deals out.
    Dealt(Inlets),
}

/// Looks at every server that a step of the plan's scenario names besides its target, before anything is sent.
///
/// # Errors
/// If one of them is outside, or its name leads nowhere.
pub fn look_elsewhere(plan: &Plan, scenarios: &Scenarios, runner: &Runner) -> Result<(), RunError> {
    scenarios.journeys(plan)?.map_or(Ok(()), |journeys| look_at_all(&journeys, plan, runner))
}

fn look_at_all(journeys: &scenario::Ready, plan: &Plan, runner: &Runner) -> Result<(), RunError> {
    journeys.elsewhere().into_iter().try_for_each(|other| runner.look_at(plan, other))
}

/// The same as far as it is known here of machines that the load comes from.
fn reach_all(journeys: &scenario::Ready, plan: &Plan, runner: &Runner) -> Result<(), RunError> {
    journeys.elsewhere().into_iter().try_for_each(|other| runner.reach(plan, other))
}

/// Loads that one command makes one after the other: what a scenario does once is done once for all of them, and its rows and numbers go
/// on. Nothing for a plan without a scenario.
pub struct Series {
    begun: Option<scenario::Series>,
    scenarios: Scenarios,
    runner: Runner,
}

impl Series {
    /// Goes through the setup, if there is one. All loads have the scenario of this plan.
    ///
    /// # Errors
    /// If it fails, or a file has gone.
    pub fn begin(plan: &Plan, scenarios: &Scenarios, runner: &Runner, stop: &Stop) -> Result<Self, RunError> {
        let begun = scenarios.journeys(plan)?.map(|ready| ready.on(runner).begin(stop)).transpose()?;
        Ok(Self { begun, ..Self::of(scenarios, runner) })
    }

    /// Loads of which each goes through the setup and the teardown by itself.
    pub fn of(scenarios: &Scenarios, runner: &Runner) -> Self {
        Self { begun: None, scenarios: scenarios.clone(), runner: runner.clone() }
    }

    /// Carries one of them out.
    ///
    /// # Errors
    /// As the engine's; and if the script fails.
    pub fn run(&self, plan: &Plan, watch: &mut dyn FnMut(&Tick, IntervalCounts), stop: &Stop) -> Result<SummaryBuilder, RunError> {
        let mut drive = Workload::new(plan, &self.scenarios, &self.runner, stop)?;
        if let Kind::Journeys(_, series) = &mut drive.by {
            *series = self.begun.as_ref();
        }
        drive.run(watch, stop)
    }

    /// Carries one out whose users do not pause: what is asked is how fast the server answers.
    ///
    /// # Errors
    /// As [`Series::run`].
    pub fn hurry(&self, plan: &Plan, watch: &mut dyn FnMut(&Tick, IntervalCounts), stop: &Stop) -> Result<SummaryBuilder, RunError> {
        let Some(series) = &self.begun else { return self.run(plan, watch, stop) };
        let ready = self.scenarios.journeys(plan)?.map(scenario::Ready::hurried);
        let Some(ready) = ready else { return self.run(plan, watch, stop) };
        ready.load(series, self.runner.prepare(plan)?, watch, stop)
    }

    /// Why there is nothing left to send, where a data file that ends the load has come to its end.
    pub fn has_run_out(&self) -> Option<&'static str> {
        let series = self.begun.as_ref().filter(|series| series.has_run_out());
        series.map(|_| "a data file has no more rows, and the load is to end with it")
    }

    /// Goes through the teardown, if there is one, and says what failed of it.
    pub fn end(&mut self) -> Option<String> {
        self.begun.take()?.end()
    }
}

impl<'a> Workload<'a> {
    /// Loads the plan's script, or compiles its templates.
    ///
    /// # Errors
    /// If it does not load, or they name what is not there.
    pub fn new(plan: &'a Plan, scenarios: &Scenarios, runner: &Runner, stop: &Stop) -> Result<Self, RunError> {
        refuse_replay(plan)?;
        let by = match (Source::of(plan)?, scenarios.journeys(plan)?) {
            (Some(source), _) => Kind::Script(Box::new(Script::load(&source, Globals::of(plan, &runner.fence())?, stop)?)),
            (None, Some(journeys)) => {
                reach_all(&journeys, plan, runner)?;
                Kind::Journeys(Box::new(journeys.on(runner)), None)
            }
            (None, None) => scenarios.requests_of(plan)?.map_or(Kind::Plan, Kind::Templates),
        };
        Ok(Self::by(plan, by, runner))
    }

    /// Sends what was found in a log, whose plan this is.
    ///
    /// # Errors
    /// If its headers would not be valid on the wire.
    pub fn replay(plan: &'a Plan, found: LogFacts, runner: &Runner) -> Result<Self, RunError> {
        Ok(Self::by(plan, Kind::Log(::replay::Ready::new(plan, found)?), runner))
    }

    /// Sends the requests of a log that come by these inlets.
    pub fn dealt(plan: &'a Plan, inlets: Inlets, runner: &Runner) -> Self {
        Self::by(plan, Kind::Dealt(inlets), runner)
    }

    fn by(plan: &'a Plan, by: Kind<'a>, runner: &Runner) -> Self {
        Self { plan, by, runner: runner.clone(), prepared: None, last: None }
    }

    /// The same after a look at everything that can be wrong with a load before its first request.
    ///
    /// # Errors
    /// As the engine's; and if the target, or a server that a step names, is outside.
    pub fn looked_at(mut self) -> Result<Self, RunError> {
        if let Kind::Journeys(journeys, _) = &self.by {
            look_at_all(journeys, self.plan, &self.runner)?;
        }
        self.prepared = Some(self.runner.prepare(self.plan)?);
        Ok(self)
    }

    /// Sends one request, or goes through one journey of these names, and tells everything about it.
    ///
    /// # Errors
    /// As the engine's; and if a script chooses the requests.
    pub fn walk(self, scenarios: &Scenarios, journey: usize, names: &[String], stop: &Stop) -> Result<scenario::Walk, RunError> {
        let Self { plan, by, runner, .. } = self;
        let prepared = || runner.prepare(plan);
        let ready = match by {
            Kind::Journeys(ready, _) => return ready.walk(journey, names, stop),
            Kind::Templates(ready) => ready,
            Kind::Plan => scenarios.always_requests_of(plan)?,
            Kind::Nothing | Kind::Script(_) | Kind::Log(_) | Kind::Dealt(_) => {
                return Err(RunError::input(
                    "a script chooses its requests itself",
                    "look at them with print() in the script, or try a URL or a scenario",
                ));
            }
        };
        let exchanges = ready.walk(prepared()?, stop)?.into_iter().map(|exchange| ("", exchange)).collect();
        Ok(scenario::Walk { exchanges, wrong: None })
    }

    /// Starts these parts of it, for a load that others began. What is given back beside their messages is kept until they are over.
    ///
    /// # Errors
    /// As the engine's; and if the script fails.
    pub fn start(self, parts: &[Part], so_far: SoFar, stop: &Stop) -> Result<(Messages, Option<Box<Script>>), RunError> {
        let Self { plan, by, runner, prepared, .. } = self;
        let shares = || parts.iter().map(|part| part.share);
        let prepared = || prepared.map_or_else(|| runner.prepare(plan), Ok);
        let messages = match by {
            Kind::Script(mut script) => {
                let messages = script.start(plan, &runner, shares(), &mut || (), stop)?;
                return Ok((messages, Some(script)));
            }
            Kind::Plan => prepared()?.start(shares(), stop)?,
            Kind::Templates(ready) => ready.start(prepared()?, shares(), stop)?,
            Kind::Journeys(ready, _) => {
                let (ready, series) = ready.take_up(so_far);
                ready.start(&series, prepared()?, parts.iter().copied(), stop)?
            }
            Kind::Dealt(inlets) => ::replay::start_fed(prepared()?, inlets, shares(), stop)?,
            Kind::Nothing | Kind::Log(_) => unreachable!("a log is dealt out by the process that reads it"),
        };
        Ok((messages, None))
    }

    /// Carries it out, once.
    ///
    /// # Errors
    /// As the engine's; and if the script fails.
    pub fn run(&mut self, watch: &mut dyn FnMut(&Tick, IntervalCounts), stop: &Stop) -> Result<SummaryBuilder, RunError> {
        let mut ended = self.carry_out(watch, stop);
        measured(&mut ended).into_iter().for_each(leave_out);
        ended
    }

    fn carry_out(&mut self, watch: &mut dyn FnMut(&Tick, IntervalCounts), stop: &Stop) -> Result<SummaryBuilder, RunError> {
        let (plan, runner, prepared) = (self.plan, &self.runner, self.prepared.take());
        if runner.sites_of(plan).is_ok_and(|sites| sites > 0) {
            memory::keep_pieces();
        }
        let prepared = || prepared.map_or_else(|| runner.prepare(plan), Ok);
        match std::mem::replace(&mut self.by, Kind::Nothing) {
            Kind::Nothing | Kind::Dealt(_) => unreachable!("a load is carried out once, by the process that reads its log"),
            Kind::Script(mut script) => {
                let summary = script.run(plan, runner, &mut || (), watch, stop)?;
                self.last = Some((*script, DoneArguments::of(&summary)));
                Ok(summary)
            }
            Kind::Plan => prepared()?.run(watch, stop),
            Kind::Templates(ready) => ready.run(prepared()?, watch, stop),
            Kind::Journeys(ready, None) => ready.run(prepared()?, watch, stop),
            Kind::Journeys(ready, Some(series)) => ready.load(series, prepared()?, watch, stop),
            Kind::Log(ready) => ready.run(prepared()?, watch, stop),
        }
    }

    /// Lets the script say its last words; to be called when the report is written.
    ///
    /// # Errors
    /// If it fails.
    pub fn finish(self, stop: &Stop) -> Result<(), RunError> {
        match self.last {
            None => Ok(()),
            Some((mut script, with)) => Ok(script.done(&with, stop)?),
        }
    }
}

/// The plan of a replay has the mean rate of its log, and none of its requests.
fn refuse_replay(plan: &Plan) -> Result<(), RunError> {
    let Some(replay) = plan.replay() else { return Ok(()) };
    Err(RunError::input(
        format!("this plan sends the requests of {} at their times, and the log is not in it", replay.logs.join(", ")),
        "play the log again with loadline replay LOG TARGET",
    ))
}
