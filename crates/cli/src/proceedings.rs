//! What goes on around the loop of an experiment in a command: rows on standard output, files after each load, the report, the history,
//! and how the program ends.
//!
//! A sweep takes minutes, a search longer, and anything may end them: Ctrl-C, a server that dies, a full disk. So what was measured is
//! written while it goes on, each file whole or not at all, and at the end all of it is reported, whatever ended it.

use std::io;

use engine::{Stop, Urgency};
use plan::{Plan, PlanError, PlanErrors, Spelling};
use report::{Experiment, ResultFile, Style};

use crate::bench::{Onlookers, ServerBench};
use crate::exit::{Exit, Failed};
use crate::files::Files;
use crate::inputs::plainly;
use crate::measuring::Measuring;
use crate::output_args::OutputArgs;
use crate::outputs::Renderings;
use crate::screen::Screen;
use crate::workload::Series;
use crate::{exporting, step_summary};

/// A command that carries an experiment out.
pub struct Proceedings<R: 'static> {
    files: Files,
    outs: Renderings<R>,
    onlookers: Onlookers,
    output_args: OutputArgs,
    screen: Screen,
    stop: Stop,
}

/// What an experiment has written so far.
pub struct Writing<'a, R: 'static> {
    around: &'a Proceedings<R>,
    written: WriteFailures,
}

/// What could not be written so far.
#[derive(Debug)]
pub struct WriteFailures {
    /// Whether standard output took everything.
    told: io::Result<()>,
    /// Files that could not be written the last time.
    lost: PlanErrors,
}

impl<R: Experiment> Proceedings<R> {
    /// Begins with the first load: from now on it leaves something behind, whatever ends it. The result goes to its files, and to what
    /// was asked for besides.
    pub fn begin(
        (files, outs): (Files, Renderings<R>),
        measuring: Measuring,
        (command, first): (&str, Option<&Plan>),
        (screen, stop): (Screen, Stop),
    ) -> Self {
        let Measuring { mut keeper, guard, eyes, probes, exports, output_args, .. } = measuring;
        keeper.begin(&stop);
        let exports = exporting::open(exports, keeper.id(), files.name(), command, first, &screen);
        Self { files, outs, onlookers: Onlookers { keeper, exports, eyes, probes, guard }, output_args, screen, stop }
    }

    /// The bench of its loads.
    pub fn bench(&self, series: Series) -> ServerBench<'_> {
        self.onlookers.bench(series, (Some(&self.screen), None), &self.stop)
    }

    /// What it writes while it goes on.
    pub fn writing(&self) -> Writing<'_, R> {
        Writing { around: self, written: WriteFailures { told: Ok(()), lost: PlanErrors::default() } }
    }

    /// How text looks on standard output.
    pub fn style(&self) -> Style {
        self.output_args.styles().stdout
    }

    /// Reports, writes and saves the result: `text` is what a person reads below the rows. `ended` is how its loop ended, and `exit` how
    /// the program ends if nothing else went wrong.
    ///
    /// # Errors
    /// If the experiment was not carried out to its end, or an output cannot be written.
    pub fn end(mut self, written: WriteFailures, result: &R, text: &str, ended: Result<(), Failed>, exit: Exit) -> Result<Exit, Failed> {
        self.onlookers.keeper.load_is_over();
        self.screen.clear();
        exporting::close(&mut self.onlookers.exports, &self.screen);
        let mut writing = Writing { around: &self, written };
        if !result.is_empty() {
            writing.write(&result.files());
            self.outs.write(result, &mut writing.written.lost);
            step_summary::append(result.markdown_without_charts().as_bytes(), &mut writing.written.lost);
        }
        writing.say(text);
        if !result.is_empty() && writing.written.lost.is_empty() {
            writing.say(&self.files.listed());
        }
        let mut written = writing.written;
        let kept = if result.is_empty() {
            self.onlookers.keeper.discard();
            Ok(String::new())
        } else {
            let id = self.onlookers.keeper.id();
            let kept = self.onlookers.keeper.save(&result.json().bytes);
            self.screen.show_end(|| result.page(), id.filter(|_| kept.as_ref().is_ok_and(|line| !line.is_empty())));
            kept
        };
        if let Some(line) = kept.as_ref().ok().filter(|line| !line.is_empty()) {
            written.say(&self.screen, &format!("\n{line}"));
        }
        let WriteFailures { told, mut lost } = written;
        if let Err(why) = told {
            lost.push(PlanError::new(
                "out",
                format!("the table could not be written to standard output: {}", plainly(&why)),
                "make room; the same stands in the .md file",
            ));
        }
        let ended = match ended {
            Err(failed) => {
                if !lost.is_empty() {
                    self.screen.complain(&lost.spelt(Spelling::Flags));
                }
                Err(failed)
            }
            Ok(()) if !lost.is_empty() => Err(Failed::unwritten(lost)),
            Ok(()) => Ok(()),
        };
        Failed::both(ended, kept.map(drop))?;
        Ok(if self.stop.urgency() > Urgency::None { Exit::Interrupted } else { exit })
    }
}

impl<R: Experiment> Writing<'_, R> {
    /// Says it on standard output; once that fails, nothing more.
    pub fn say(&mut self, text: &str) {
        self.written.say(&self.around.screen, text);
    }

    /// Says it on standard error, if remarks are made.
    pub fn remark(&self, text: &str) {
        self.around.screen.say(text);
    }

    /// Writes these files of what is measured so far, and shows and remembers it.
    pub fn so_far(&mut self, result: &R, files: &[ResultFile]) {
        self.write(files);
        self.around.onlookers.keeper.result_so_far(|| result.json().bytes);
        self.around.screen.show_result(|| result.page());
    }

    /// What could not be written.
    pub fn done(self) -> WriteFailures {
        self.written
    }

    fn write(&mut self, files: &[ResultFile]) {
        self.written.lost = PlanErrors::default();
        for file in files {
            if let Err(error) = self.around.files.write(file.ending, &file.bytes) {
                self.written.lost.push(error);
            }
        }
    }
}

impl WriteFailures {
    fn say(&mut self, screen: &Screen, text: &str) {
        if self.told.is_ok() {
            self.told = screen.print(text);
        }
    }
}
