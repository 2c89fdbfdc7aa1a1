//! `loadline run URL`: one load, measured and reported.
//!
//! Everything is looked at before the first request and every mistake told at once; whatever was measured is reported,
//! however the run ends.

use clap::{ArgAction, Args};
use history::Kind;
use plan::{Draft, LoadRecord, PlanErrors};
use resolve::KnownSecrets;

use super::try_once::{self, Try};
use crate::detail::Detail;
use crate::exit::{Exit, Failed};
use crate::imported::{ImportedLoad, Importing};
use crate::measuring::MeasuringArgs;
use crate::outputs::{Out, Outputs, run_out_help};
use crate::regression::Regression;
use crate::request_log::{LOG_FORMATS, step_places};
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

    /// Run the plan and checks of this result again: a file written with --out json=FILE, or a saved run such as @last; other flags go over it
    #[arg(long, value_name = "RESULT", help_heading = "Load")]
    from: Option<String>,

    /// Call it so in the history [default: from the path of the URL, or its host]
    #[arg(long, value_name = "NAME", help_heading = "History")]
    name: Option<String>,

    /// Write the result also as FORMAT=FILE (repeatable)
    #[arg(long, value_name = "FORMAT=FILE", action = ArgAction::Append, help = run_out_help(), help_heading = "Output")]
    out: Vec<Out>,

    /// Replace files that exist
    #[arg(long, help_heading = "Output")]
    force: bool,

    /// Send one request, or go through one journey, and show everything about it instead of measuring: the same as loadline try
    #[arg(long, help_heading = "Output")]
    debug: bool,

    #[command(flatten)]
    detail: Detail,

    #[command(flatten)]
    measuring: MeasuringArgs,

    #[command(flatten)]
    regression: Regression,
}

/// Measures and reports.
pub fn carry_out(run: Run, known: &KnownSecrets) -> Result<Exit, Failed> {
    let Run { draft, importing, from, name, out, force, debug, detail, mut measuring, regression } = run;
    let (mut errors, voice) = (PlanErrors::default(), measuring.voice());
    let is_again = from.is_some();
    let saved = from.map(|from| again(&from, &mut measuring, known, &mut errors));
    if debug {
        return if errors.is_empty() {
            try_once::carry_out(Try::of_run(draft, saved, importing, out, force), known)
        } else {
            Err(errors.into())
        };
    }
    let ImportedLoad { mut load, scenarios, left_out } = importing.take(draft, saved.as_ref(), (known, voice), &mut errors);
    inputs::read(&mut load.draft, &mut errors);
    let runner = measuring.agents.runner(&load.draft, scenarios.reader(), &mut errors)?;
    let scenario = scenarios.of(&load);
    let plan = inputs::decide(load, &scenarios, &mut errors);
    if let Some(plan) = plan.as_ref().filter(|_| is_again) {
        inputs::look_for_redacted(plan, &mut errors);
    }
    let outputs = Outputs::check(&out, LOG_FORMATS, force.into(), &mut errors);
    let name = name.or_else(|| plan.as_ref().map(saved::suggested)).unwrap_or_default();
    let before = regression.read(plan.as_ref(), &name, &measuring.history(), &mut errors);
    let measuring = measuring.decide((Kind::Run, &name), scenario.as_deref(), known, &mut errors);
    let Some(plan) = plan.filter(|_| errors.is_empty()) else { return Err(errors.into()) };
    importing.look([(&plan, &scenarios)], &left_out, (known, voice))?;

    let steps = step_places(scenario.as_deref());
    let single = SingleRun { word: "run", plan: &plan, name, before, outputs, detail, measuring, known, runner, steps };
    single.carry_out(|runner, stop| Workload::new(&plan, &scenarios, runner, stop))
}

/// What is run again, held against what it was held against. Every mistake goes to `errors`.
fn again(from: &str, measuring: &mut MeasuringArgs, known: &KnownSecrets, errors: &mut PlanErrors) -> LoadRecord {
    match inputs::saved("from", from, &measuring.history()) {
        Ok(saved) => {
            measuring.promises.take_up(saved.checks);
            if !measuring.agents.are_named() {
                inputs::warn_of_machines(from, &saved.machines, (known, measuring.voice()));
            }
            saved.load
        }
        Err(error) => {
            errors.push(error);
            // The rest of the command line is judged as if it had said where.
            resolve::placed(Draft::default()).into()
        }
    }
}
