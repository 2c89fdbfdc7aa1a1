//! `loadline run URL`: one load, measured and reported.
//!
//! Everything is looked at before the first request and every mistake told at once; whatever was measured is reported,
//! however the run ends.

use std::path::PathBuf;

use clap::{ArgAction, Args};
use engine::Stop;
use measure::{Ending, Summary};
use plan::{Draft, Plan, PlanErrors};
use report::FORMATS;

use super::Manner;
use crate::calibration::note_ceiling;
use crate::exit::{Exit, Failed};
use crate::outputs::{Existing, Out, Outputs};
use crate::screen::complain;
use crate::{inputs, interrupt};

/// One load, and where its results go.
#[derive(Debug, Args)]
pub struct Run {
    #[command(flatten)]
    draft: Draft,

    /// Run the plan of this result again (a file written with --out json=FILE); other flags go over it
    #[arg(long, value_name = "FILE", help_heading = "Load")]
    from: Option<PathBuf>,

    /// Write the result also as FORMAT=FILE (repeatable)
    #[arg(long, value_name = "FORMAT=FILE", action = ArgAction::Append, help = out_help(), help_heading = "Output")]
    out: Vec<Out>,

    /// Replace files that exist
    #[arg(long, help_heading = "Output")]
    force: bool,

    #[command(flatten)]
    manner: Manner,
}

/// Measures and reports.
pub fn carry_out(run: Run) -> Result<Exit, Failed> {
    let Run { draft, from, out, force, manner } = run;
    let mut errors = PlanErrors::default();
    let plan = decide(draft, from, &mut errors);
    let outputs = Outputs::check(&out, if force { Existing::Replace } else { Existing::Keep }, &mut errors);
    let Some(plan) = plan.filter(|_| errors.is_empty()) else { return Err(errors.into()) };

    let screen = manner.screen();
    let stop = Stop::new();
    interrupt::raise_on_signal(&stop, screen.clone())?;
    let mut progress = screen.follow(&plan, "");
    let ended = engine::run(&plan, &mut |tick| progress.tick(tick), &stop);
    screen.clear();

    let report = |summary: &Summary| {
        outputs
            .write(summary, &manner.styles(), manner.voice())
            .map_err(|errors| Failed { exit: Exit::OutputNotWritten, text: errors.to_string() })
    };
    match ended {
        Ok(mut summary) => {
            note_ceiling(&mut summary);
            report(&summary)?;
            Ok(if summary.ended.how == Ending::Interrupted { Exit::Interrupted } else { Exit::Done })
        }
        Err(error) => {
            if let Some(Err(lost)) = error.measured.as_deref().map(report) {
                complain(&lost.text);
            }
            Err((&error).into())
        }
    }
}

/// The plan, if it can be decided.
fn decide(draft: Draft, from: Option<PathBuf>, errors: &mut PlanErrors) -> Option<Plan> {
    let again = from.is_some();
    let mut draft = match from.map(|path| inputs::saved(&path)) {
        None => draft,
        Some(Ok(saved)) => saved.overlaid(draft),
        Some(Err(error)) => {
            errors.push(error);
            return None;
        }
    };
    inputs::read(&mut draft, errors);
    let plan = inputs::decide(draft, errors)?;
    if again {
        inputs::look_for_redacted(&plan, errors);
    }
    Some(plan)
}

/// From the table of formats, so that none is missing.
fn out_help() -> String {
    let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    format!("Write the result also as FORMAT=FILE, with - for standard output: {} (repeatable)", known.join(", "))
}
