//! `loadline run URL`: one load, measured and reported.
//!
//! Everything is looked at before the first request and every mistake told at once; whatever was measured is reported,
//! however the run ends.

use analysis::Reading;
use clap::{ArgAction, Args};
use engine::Stop;
use history::Kind;
use measure::{Counted, Ending, Summary, Tick};
use plan::{Draft, Plan, PlanErrors};
use report::FORMATS;

use super::Manner;
use crate::calibration::note_ceiling;
use crate::drive::Drive;
use crate::exit::{self, Exit, Failed};
use crate::exporting::{self, Exporting};
use crate::keeping::{At, Keeping};
use crate::observing::Observing;
use crate::outputs::{Existing, Out, Outputs};
use crate::profiling::Profiling;
use crate::promises::{Aborts, Promises};
use crate::screen::{Sight, complain};
use crate::{imported, inputs, interrupt, saved, secrets};

/// One load, and where its results go.
#[derive(Debug, Args)]
pub struct Run {
    #[command(flatten)]
    draft: Draft,

    #[command(flatten)]
    promises: Promises,

    #[command(flatten)]
    aborts: Aborts,

    /// Run the plan and checks of this result again: a file written with --out json=FILE, or a saved run such as @last; other flags go over it
    #[arg(long, value_name = "RESULT", help_heading = "Load")]
    from: Option<String>,

    /// Call it so in the history [default: from the path of the URL, or its host]
    #[arg(long, value_name = "NAME", help_heading = "History")]
    name: Option<String>,

    #[command(flatten)]
    keeping: Keeping,

    #[command(flatten)]
    exporting: Exporting,

    #[command(flatten)]
    observing: Observing,

    #[command(flatten)]
    profiling: Profiling,

    /// Write the result also as FORMAT=FILE (repeatable)
    #[arg(long, value_name = "FORMAT=FILE", action = ArgAction::Append, help = out_help(), help_heading = "Output")]
    out: Vec<Out>,

    /// Replace files that exist
    #[arg(long, help_heading = "Output")]
    force: bool,

    #[command(flatten)]
    sight: Sight,

    #[command(flatten)]
    manner: Manner,
}

/// Measures and reports.
pub fn carry_out(run: Run) -> Result<Exit, Failed> {
    let Run { draft, promises, aborts, from, name, keeping, exporting, observing, profiling, out, force, sight, manner } = run;
    secrets::learn(&draft);
    let mut errors = PlanErrors::default();
    let draft = imported::take(draft, manner.voice(), &mut errors);
    let (plan, promises) = decide(draft, promises, from.map(|from| (from, keeping.at())), &mut errors);
    let checks = promises.read(&mut errors);
    let mut guard = aborts.read(&mut errors);
    let outputs = Outputs::check(&out, if force { Existing::Replace } else { Existing::Keep }, &mut errors);
    let name = name.or_else(|| plan.as_ref().map(saved::suggested)).unwrap_or_default();
    let mut keeper = keeping.decide(Kind::Run, &name, &mut errors);
    let eyes = observing.decide(&mut errors);
    let probes = profiling.decide(&mut errors);
    sight.check(&mut errors);
    let ready = exporting.decide(&mut errors);
    let Some(plan) = plan.filter(|_| errors.is_empty()) else { return Err(errors.into()) };

    let mut server = eyes.open(&plan)?;
    let stop = Stop::new();
    let screen = manner.screen_with_view(sight, "run", &stop);
    interrupt::raise_on_signal(&stop, &screen)?;
    let mut progress = screen.follow(&plan, "");
    keeper.begin();
    let mut exports = exporting::open(ready, keeper.id(), &name, "run", Some(&plan), manner.voice());
    exports.load(&plan, &name);
    keeper.load(&plan, name);
    let probing = probes.open(&plan);
    let watch = &mut |tick: &Tick, counted: Counted| {
        progress.tick(tick);
        exports.second(tick, &counted);
        server.tick(tick);
        keeper.second(counted);
        if guard.tick(tick) {
            stop.raise();
        }
    };
    let mut ended = Drive::new(&plan, &stop).and_then(|drive| drive.run(watch, &stop));
    keeper.load_is_over();
    screen.clear();
    exporting::close(&mut exports, manner.voice());
    let measured = match &mut ended {
        Ok(driven) => Some(&mut driven.summary),
        Err(error) => error.measured.as_deref_mut(),
    };
    if let Some(summary) = measured {
        let began = server.origin();
        server.close(summary);
        probing.close(began, "", summary);
    }

    let mut report = |summary: &mut Summary| {
        let aborted_by = guard.came_true();
        if aborted_by.is_some() && summary.ended.how != Ending::CutShort {
            summary.ended.how = Ending::Aborted;
        }
        let reading = Reading::new(summary, &checks).aborted_by(aborted_by);
        let written = outputs
            .write(&reading, &manner.styles(), manner.voice())
            .map_err(|errors| Failed { exit: Exit::OutputNotWritten, text: errors.to_string() });
        // The report comes first, and what could not be written is saved all the same.
        let id = keeper.id();
        let kept = keeper.save(&saved::json(&reading), manner.voice());
        screen.show_end(|| report::page::run(&reading), id.filter(|_| kept.as_ref().is_ok_and(|line| !line.is_empty())));
        if let Ok(line) = &kept {
            outputs.add(line, manner.voice());
        }
        Failed::both(written, kept.map(drop))?;
        Ok(if summary.ended.how == Ending::Interrupted { Exit::Interrupted } else { exit::judged(&reading) })
    };
    match ended {
        Ok(mut driven) => {
            note_ceiling(&mut driven.summary);
            let exit = report(&mut driven.summary)?;
            driven.finish(&stop).map_err(|error| Failed::from(&error))?;
            Ok(exit)
        }
        Err(mut error) => {
            let reported: Option<Result<Exit, Failed>> = error.measured.as_deref_mut().map(report);
            if let Some(Err(lost)) = reported {
                complain(&lost.text);
            }
            keeper.discard();
            Err((&error).into())
        }
    }
}

/// The plan, if it can be decided, and what it is held against.
fn decide(draft: Draft, promises: Promises, from: Option<(String, At)>, errors: &mut PlanErrors) -> (Option<Plan>, Promises) {
    let again = from.is_some();
    let (mut draft, promises) = match from.map(|(from, at)| inputs::saved(&from, &at)) {
        None => (draft, promises),
        Some(Ok(saved)) => (saved.draft.overlaid(draft), promises.or(saved.checks)),
        Some(Err(error)) => {
            errors.push(error);
            return (None, promises);
        }
    };
    inputs::read(&mut draft, errors);
    let plan = inputs::decide(draft, errors);
    if again && let Some(plan) = &plan {
        inputs::look_for_redacted(plan, errors);
    }
    (plan, promises)
}

/// From the table of formats, so that none is missing.
fn out_help() -> String {
    let known: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    format!("Write the result also as FORMAT=FILE, with - for standard output: {} (repeatable)", known.join(", "))
}
