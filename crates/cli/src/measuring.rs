//! The options that every command has which measures, and what is decided of them.
//!
//! They say nothing of the load: what it is held against, who looks on, where its result is kept, how it is told. So they are declared,
//! decided and made ready in one place, and no command can lack one of them.

use analysis::gate::Check;
use clap::Args;
use engine::Stop;
use export::Ready;
use history::Kind;
use plan::PlanErrors;
use resolve::KnownSecrets;
use scenario::Scenario;

use crate::agents::AgentsArgs;
use crate::exit::Failed;
use crate::exporting::Exporting;
use crate::interrupt;
use crate::keeping::{At, HistoryArgs, RunSaver};
use crate::output_args::OutputArgs;
use crate::profiling::{Profilers, Profiling};
use crate::promises::{Aborts, Guard, Promises};
use crate::screen::{DisplayArgs, Remarks, Screen};
use crate::server_monitor::{ObserveArgs, ServerMonitors};

/// What is done with a load, as typed.
#[derive(Debug, Args)]
pub struct MeasuringArgs {
    #[command(flatten)]
    pub promises: Promises,

    #[command(flatten)]
    aborts: Aborts,

    #[command(flatten)]
    keeping: HistoryArgs,

    #[command(flatten)]
    exporting: Exporting,

    #[command(flatten)]
    observing: ObserveArgs,

    #[command(flatten)]
    pub profiling: Profiling,

    #[command(flatten)]
    pub agents: AgentsArgs,

    #[command(flatten)]
    sight: DisplayArgs,

    #[command(flatten)]
    output_args: OutputArgs,
}

/// What is done with a load, decided.
pub struct Measuring {
    /// What every load is held against.
    pub checks: Vec<Check>,
    /// Conditions to give a load up.
    pub guard: Guard,
    /// The way into the history.
    pub keeper: RunSaver,
    /// What of the server's side is watched.
    pub eyes: ServerMonitors,
    /// Which profiles are taken.
    pub probes: Profilers,
    /// Other systems.
    pub exports: Ready,
    sight: DisplayArgs,
    /// How the command speaks.
    pub output_args: OutputArgs,
}

impl MeasuringArgs {
    /// Whether remarks are made.
    pub fn voice(&self) -> Remarks {
        self.output_args.voice()
    }

    /// Which history is meant.
    pub fn history(&self) -> At {
        self.keeping.at()
    }

    /// Decides all of it, after everything else: nothing is opened for a command with a mistake. Every mistake goes to `errors`.
    pub fn decide(
        self,
        (kind, name): (Kind, &str),
        scenario: Option<&Scenario>,
        known: &KnownSecrets,
        errors: &mut PlanErrors,
    ) -> Measuring {
        let Self { promises, aborts, keeping, exporting, observing, profiling, agents: _, sight, output_args } = self;
        sight.check(errors);
        Measuring {
            checks: promises.read(scenario, errors),
            guard: aborts.read(errors),
            keeper: keeping.decide(kind, name, errors),
            eyes: observing.decide(known, errors),
            probes: profiling.decide(known, errors),
            exports: exporting.decide(known, errors),
            sight,
            output_args,
        }
    }
}

impl Measuring {
    /// Whoever listens is watched, and nothing is saved.
    pub fn unsaved(known: &KnownSecrets, output_args: OutputArgs) -> Self {
        Self {
            checks: Vec::new(),
            guard: Guard::NONE,
            keeper: RunSaver::NOTHING,
            eyes: ServerMonitors::auto(known),
            probes: Profilers::none(),
            exports: Ready::default(),
            sight: DisplayArgs::default(),
            output_args,
        }
    }

    /// The signal that ends it, raised from now on by Ctrl-C, and the screen.
    ///
    /// # Errors
    /// If the system does not let signals be caught.
    pub fn begin(&self, command: &str, known: &KnownSecrets) -> Result<(Stop, Screen), Failed> {
        let stop = Stop::new();
        let screen = self.output_args.screen_with_view(self.sight, command, &stop, known);
        interrupt::raise_on_signal(&stop, &screen)?;
        Ok((stop, screen))
    }
}
