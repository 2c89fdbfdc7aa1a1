//! `loadline run URL`: one load, measured and reported.
//!
//! Everything is looked at before the first request and every mistake told at once; whatever was measured is reported,
//! however the run ends.

use clap::{ArgAction, Args};
use engine::Runner;
use history::Kind;
use plan::{Draft, LoadRecord, PlanErrors};
use report::FORMATS;
use resolve::KnownSecrets;

use super::try_once::{self, Try};
use crate::detail::Detail;
use crate::exit::{Exit, Failed};
use crate::exporting::Exporting;
use crate::imported::{ImportedLoad, Importing};
use crate::keeping::{At, HistoryArgs};
use crate::output_args::OutputArgs;
use crate::outputs::{Existing, Out, Outputs};
use crate::profiling::Profiling;
use crate::promises::{Aborts, Promises};
use crate::regression::Regression;
use crate::screen::DisplayArgs;
use crate::server_monitor::ObserveArgs;
use crate::single_run::SingleRun;
use crate::workload::Workload;
use crate::{inputs, saved};

/// One load, and where its results go.
#[derive(Debug, Args)]
pub struct Run {
    #[command(flatten)]
    draft: Draft,

    #[command(flatten)]
    importing: Importing,

    #[command(flatten)]
    promises: Promises,

    #[command(flatten)]
    regression: Regression,

    #[command(flatten)]
    aborts: Aborts,

    /// Run the plan and checks of this result again: a file written with --out json=FILE, or a saved run such as @last; other flags go over it
    #[arg(long, value_name = "RESULT", help_heading = "Load")]
    from: Option<String>,

    /// Call it so in the history [default: from the path of the URL, or its host]
    #[arg(long, value_name = "NAME", help_heading = "History")]
    name: Option<String>,

    #[command(flatten)]
    keeping: HistoryArgs,

    #[command(flatten)]
    exporting: Exporting,

    #[command(flatten)]
    observing: ObserveArgs,

    #[command(flatten)]
    profiling: Profiling,

    /// Write the result also as FORMAT=FILE (repeatable)
    #[arg(long, value_name = "FORMAT=FILE", action = ArgAction::Append, help = out_help(), help_heading = "Output")]
    out: Vec<Out>,

    /// Replace files that exist
    #[arg(long, help_heading = "Output")]
    force: bool,

    /// Send one request, or go through one journey, and show everything about it instead of measuring: the same as loadline try
    #[arg(long, help_heading = "Output")]
    debug: bool,

    #[command(flatten)]
    sight: DisplayArgs,

    #[command(flatten)]
    detail: Detail,

    #[command(flatten)]
    output_args: OutputArgs,
}

/// Measures and reports.
pub fn carry_out(run: Run, known: &KnownSecrets) -> Result<Exit, Failed> {
    let Run {
        draft,
        importing,
        promises,
        regression,
        aborts,
        from,
        name,
        keeping,
        exporting,
        observing,
        profiling,
        out,
        force,
        debug,
        sight,
        detail,
        output_args,
    } = run;
    let mut errors = PlanErrors::default();
    let is_again = from.is_some();
    let (saved, promises) = again(from.map(|from| (from, keeping.at())), promises, &mut errors);
    if debug {
        return if errors.is_empty() {
            try_once::carry_out(Try::of_run(draft, saved, importing, out, force), known)
        } else {
            Err(errors.into())
        };
    }
    known.learn(&draft);
    inputs::warn_of(&draft, (known, output_args.voice()));
    let said = (&inputs::reader(known), output_args.voice());
    let ImportedLoad { mut load, scenarios, left_out } = importing.take(draft, saved.as_ref(), said, &mut errors);
    inputs::read(&mut load.draft, &mut errors);
    let scenario = scenarios.of(&load);
    let plan = inputs::decide(load, &scenarios, &mut errors);
    if let Some(plan) = plan.as_ref().filter(|_| is_again) {
        inputs::look_for_redacted(plan, &mut errors);
    }
    let checks = promises.read(scenario.as_deref(), &mut errors);
    let guard = aborts.read(&mut errors);
    let outputs = Outputs::check(&out, if force { Existing::Replace } else { Existing::Keep }, &mut errors);
    let name = name.or_else(|| plan.as_ref().map(saved::suggested)).unwrap_or_default();
    let before = regression.read(plan.as_ref(), &name, &keeping.at(), &mut errors);
    let keeper = keeping.decide(Kind::Run, &name, &mut errors);
    let eyes = observing.decide(known, &mut errors);
    let probes = profiling.decide(known, &mut errors);
    sight.check(&mut errors);
    let ready = exporting.decide(known, &mut errors);
    let Some(plan) = plan.filter(|_| errors.is_empty()) else { return Err(errors.into()) };
    importing.look([(&plan, &scenarios)], &left_out, (known, output_args.voice()))?;

    let single = SingleRun {
        word: "run",
        plan: &plan,
        name,
        checks,
        before,
        guard,
        outputs,
        keeper,
        eyes,
        probes,
        exports: ready,
        sight,
        detail,
        output_args,
        known,
    };
    single.carry_out(|stop| Workload::new(&plan, &scenarios, &Runner::threads(), stop))
}

/// What is run again, if it can be read, and what it is held against. Every mistake goes to `errors`.
fn again(from: Option<(String, At)>, promises: Promises, errors: &mut PlanErrors) -> (Option<LoadRecord>, Promises) {
    match from.map(|(from, at)| inputs::saved(&from, &at)) {
        None => (None, promises),
        Some(Ok(saved)) => (Some(saved.load), promises.or(saved.checks)),
        Some(Err(error)) => {
            errors.push(error);
            // The rest of the command line is judged as if it had said where.
            (Some(resolve::placed(Draft::default()).into()), promises)
        }
    }
}

/// From the table of formats, so that none is missing.
fn out_help() -> String {
    let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    format!("Write the result also as FORMAT=FILE, with - for standard output: {} (repeatable)", known.join(", "))
}
