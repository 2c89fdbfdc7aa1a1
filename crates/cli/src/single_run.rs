//! One load from its first request to its report: what `run` and `replay` do once everything is decided.
//!
//! Who looks on, what ends it early, in which order it is reported, written and saved, and how it ends: said once, so that a load from a log
//! and one from a plan cannot come to differ in it. Whatever was measured is reported, however the load ends.

use analysis::Reading;
use engine::{RunError, Runner, Stop};
use measure::{Ending, Summary};
use plan::Plan;
use resolve::KnownSecrets;
use trial::Observer;

use crate::detail::Detail;
use crate::exit::{self, Exit, Failed};
use crate::exporting;
use crate::measuring::Measuring;
use crate::observers::Observers;
use crate::outputs::Outputs;
use crate::regression::{self, Reference};
use crate::request_log::{LogWriter, StepPlaces};
use crate::workload::Workload;

/// Everything that was decided about a load but what drives it.
pub struct SingleRun<'a> {
    /// The command's name.
    pub word: &'static str,
    pub plan: &'a Plan,
    /// What it is called in the history.
    pub name: String,
    /// The saved run that it must not be worse than.
    pub before: Option<Reference>,
    pub outputs: Outputs,
    pub detail: Detail,
    pub measuring: Measuring,
    pub known: &'a KnownSecrets,
    /// Where it is carried out.
    pub runner: Runner,
    /// What its steps ask for.
    pub steps: StepPlaces,
}

impl SingleRun<'_> {
    /// Measures and reports; what drives it is made when everything else is ready.
    ///
    /// # Errors
    /// If it cannot be carried out, or not to its end, or an output cannot be written.
    pub fn carry_out<'d>(self, make: impl FnOnce(&Runner, &Stop) -> Result<Workload<'d>, RunError>) -> Result<Exit, Failed> {
        let Self { word, plan, name, before, outputs, detail, measuring, known, runner, steps } = self;
        let (mut rows, runner) = LogWriter::on(&outputs.logs, plan, steps, runner)?;
        measuring.probes.check(plan)?;
        let server = measuring.eyes.open(plan)?;
        let (stop, screen) = measuring.begin(word, known)?;
        let Measuring { checks, mut guard, mut keeper, probes, exports, output_args, .. } = measuring;
        keeper.begin(&stop);
        let mut exports = exporting::open(exports, keeper.id(), &name, word, Some(plan), &screen);
        let probing = probes.open(plan);
        let mut drive = None;
        let ended = Observers {
            screen: Some((&screen, String::new())),
            live: None,
            server: Some(server),
            profiles: Some((probing, String::new())),
            journal: Some((&keeper, name.clone())),
            exports: Some((&exports, name)),
            guard: Some(&mut guard),
            own: rows.iter_mut().map(|rows| rows as &mut dyn Observer).collect(),
        }
        .carry_out(plan, &stop, |watch, own| drive.insert(make(&runner, &stop)?).run(watch, own));
        let logged = rows.map_or(Ok(()), LogWriter::finish);
        keeper.load_is_over();
        screen.clear();
        exporting::close(&mut exports, &screen);

        let mut report = |summary: &Summary| {
            let aborted_by = guard.came_true();
            let ruling = before.as_ref().map(|before| before.judge(summary));
            let reading = Reading::new(summary, &checks).aborted_by(aborted_by).against(ruling);
            let written = outputs.write(&reading, detail, &output_args.styles(), output_args.voice()).map_err(Failed::unwritten);
            // The report comes first, and what could not be written is saved all the same.
            let id = keeper.id();
            let kept = keeper.save(&report::document::run_json(&reading));
            screen.show_end(|| report::page::run(&reading), id.filter(|_| kept.as_ref().is_ok_and(|line| !line.is_empty())));
            outputs.close(kept.as_deref().unwrap_or_default(), &reading, &output_args.styles(), output_args.voice());
            Failed::both(Failed::both(written, logged.clone().map_err(Failed::unwritten)), kept.map(drop))?;
            if let Some(why) = exit::nothing_finished(summary) {
                let why = why.replacen("No", "no", 1);
                screen.complain(&format!(
                    "error: {}\n  help: loadline try shows one journey with every request and answer",
                    report::visible(&why)
                ));
            }
            let exit = exit::judged(&reading);
            let exit = reading.against.as_ref().map_or(exit, |ruling| regression::exit(ruling, exit));
            Ok(if summary.ended.how == Ending::Interrupted { Exit::Interrupted } else { exit })
        };
        match ended {
            Ok(run) => {
                let exit = report(&run)?;
                drive.map_or(Ok(()), |drive| drive.finish(&stop))?;
                Ok(exit)
            }
            Err(error) => {
                let reported: Option<Result<Exit, Failed>> = error.measured.as_deref().map(report);
                if let Some(Err(lost)) = reported {
                    screen.complain(&lost.to_string());
                }
                keeper.discard();
                Err((&error).into())
            }
        }
    }
}
