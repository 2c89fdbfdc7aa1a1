//! One load from its first request to its report: what `run` and `replay` do once everything is decided.
//!
//! Who looks on, what ends it early, in which order it is reported, written and saved, and how it ends: said once, so that a load from a log
//! and one from a plan cannot come to differ in it. Whatever was measured is reported, however the load ends.

use analysis::Reading;
use analysis::gate::Check;
use engine::{RunError, Stop};
use export::Ready;
use measure::{Counted, Ending, Summary, Tick};
use plan::Plan;

use crate::calibration::note_ceiling;
use crate::detail::Detail;
use crate::drive::Drive;
use crate::exit::{self, Exit, Failed};
use crate::keeping::Keeper;
use crate::observing::Eyes;
use crate::output_args::OutputArgs;
use crate::outputs::Outputs;
use crate::profiling::Probes;
use crate::promises::Guard;
use crate::regression::{self, Reference};
use crate::screen::{Sight, complain};
use crate::{exporting, interrupt, saved};

/// Everything that was decided about a load but what drives it.
pub struct Single<'a> {
    /// The command's name.
    pub word: &'static str,
    pub plan: &'a Plan,
    /// What it is called in the history.
    pub name: String,
    pub checks: Vec<Check>,
    /// The saved run that it must not be worse than.
    pub before: Option<Reference>,
    pub guard: Guard,
    pub outputs: Outputs,
    pub keeper: Keeper,
    pub eyes: Eyes,
    pub probes: Probes,
    pub exports: Ready,
    pub sight: Sight,
    pub detail: Detail,
    pub output_args: OutputArgs,
}

impl Single<'_> {
    /// Measures and reports; `drive` is made when everything else is ready.
    ///
    /// # Errors
    /// If it cannot be carried out, or not to its end, or an output cannot be written.
    pub fn carry_out<'d>(self, drive: impl FnOnce(&Stop) -> Result<Drive<'d>, RunError>) -> Result<Exit, Failed> {
        let Self { word, plan, name, checks, before, mut guard, outputs, mut keeper, eyes, probes, exports, sight, detail, output_args } =
            self;
        probes.check(plan)?;
        let mut server = eyes.open(plan)?;
        let stop = Stop::new();
        let screen = output_args.screen_with_view(sight, word, &stop);
        interrupt::raise_on_signal(&stop, &screen)?;
        let mut progress = screen.follow(plan, "");
        keeper.begin(&stop);
        let mut exports = exporting::open(exports, keeper.id(), &name, word, Some(plan), output_args.voice());
        exports.load(plan, &name);
        keeper.load(plan, name);
        let probing = probes.open(plan);
        let watch = &mut |tick: &Tick, counted: Counted| {
            screen.server(|| server.now());
            progress.tick(tick);
            progress.counts(&counted);
            exports.second(tick, &counted);
            server.tick(tick);
            keeper.second(counted);
            if guard.tick(tick) {
                stop.raise();
            }
        };
        let mut ended = drive(&stop).and_then(|drive| drive.run(watch, &stop));
        keeper.load_is_over();
        screen.clear();
        exporting::close(&mut exports, output_args.voice());
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
            let ruling = before.as_ref().map(|before| before.judge(summary));
            let reading = Reading::new(summary, &checks).aborted_by(aborted_by).against(ruling);
            let written = outputs
                .write(&reading, detail, &output_args.styles(), output_args.voice())
                .map_err(|errors| Failed { exit: Exit::OutputNotWritten, text: errors.to_string() });
            // The report comes first, and what could not be written is saved all the same.
            let id = keeper.id();
            let kept = keeper.save(&saved::json(&reading));
            screen.show_end(|| report::page::run(&reading), id.filter(|_| kept.as_ref().is_ok_and(|line| !line.is_empty())));
            outputs.close(kept.as_deref().unwrap_or_default(), &reading, &output_args.styles(), output_args.voice());
            Failed::both(written, kept.map(drop))?;
            if let Some(why) = exit::nothing_finished(summary) {
                let why = why.replacen("No", "no", 1);
                complain(&format!(
                    "error: {}\n  help: loadline try shows one journey with every request and answer",
                    report::visible(&why)
                ));
            }
            let exit = exit::judged(&reading);
            let exit = reading.against.as_ref().map_or(exit, |ruling| regression::exit(ruling, exit));
            Ok(if summary.ended.how == Ending::Interrupted { Exit::Interrupted } else { exit })
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
}
