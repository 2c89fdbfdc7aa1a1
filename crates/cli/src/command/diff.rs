//! `loadline diff A B`: two sweeps side by side, as a table and as two charts; or two runs or searches, as a table. Each also as a
//! page, or as JSON for scripts.

use std::path::PathBuf;

use analysis::{Standing, Sweep, Validity};
use clap::{ArgAction, Args};
use plan::{PlanError, PlanErrors};
use report::chart::sweep::SweepCurve;
use report::{DIFF_FORMATS, Document, Style, Two};

use crate::exit::{Exit, Failed};
use crate::files::{DIRECTORY, Files};
use crate::inputs::plainly;
use crate::keeping::{At, ReadError};
use crate::outputs::{Existing, Out, Renderings, StandardOutput, out_help};
use crate::screen::complain;

/// Two sweeps, two runs, or two searches.
#[derive(Debug, Args)]
pub struct Diff {
    /// A sweep, run or search: its .dat or .json file, or a saved one such as @baseline
    #[arg(value_name = "A")]
    a: String,

    /// What it is compared with, such as @last
    #[arg(value_name = "B")]
    b: String,

    /// Write the charts into this directory, made if missing
    #[arg(long, value_name = "DIR", default_value = DIRECTORY, help_heading = "Output")]
    dir: PathBuf,

    /// Write the result also as FORMAT=FILE (repeatable)
    #[arg(long, value_name = "FORMAT=FILE", action = ArgAction::Append, help = out_help(DIFF_FORMATS), help_heading = "Output")]
    out: Vec<Out>,

    /// Replace files that exist, and compare what is INVALID or was not measured alike
    #[arg(long, help_heading = "Output")]
    force: bool,

    #[command(flatten)]
    at: At,
}

/// The endings of a comparison's files.
const ENDINGS: &[&str] = &[".qps.ttlb.diff.png", ".qps.ttlb.diff.svg", ".successrate.diff.png", ".successrate.diff.svg"];

/// Reads both, draws, and prints the table.
pub fn carry_out(diff: Diff) -> Result<Exit, Failed> {
    let Diff { a, b, dir, out, force, at } = diff;
    let style = Style { width: crate::output_args::columns(), ..Style::PLAIN };
    let mut errors = PlanErrors::default();
    let existing = Existing::from(force);
    let sources = at.read_both(&a, &b);
    let mut sides = sources.into_iter().zip([&a, &b]).map(|(source, shown)| Side::read(shown, source, &mut errors));
    let sides = [sides.next().flatten(), sides.next().flatten()];
    if let [Some(a), Some(b)] = &sides {
        if a.text == b.text {
            complain(&format!(
                "warning: A and B are the same result, {}: there is no difference to see\n  help: name another, such as @last-1; 'loadline runs' lists them",
                report::visible(&a.name)
            ));
        }
        if let (Ok(from), Ok(to)) = (&a.document, &b.document)
            && let Some(why) = from.unlike(to)
        {
            let message = format!("{why}: A is '{}', B is '{}'", a.shown, b.shown);
            errors.push(PlanError::new("diff", message, "give two runs, two sweeps, or two searches; 'loadline runs' lists what is saved"));
            // Whatever else would be found follows from it.
            return Err(errors.into());
        }
    }
    let sides = match sides {
        [
            Some(Side { name: a_name, document: Ok(Document::Run(from, _)), shown: a, .. }),
            Some(Side { name: b_name, document: Ok(Document::Run(to, _)), shown: b, .. }),
        ] => {
            for (shown, run) in [(a, &from), (b, &to)] {
                let validity = Validity::of(run);
                if existing == Existing::Keep && validity.standing == Standing::Invalid {
                    errors.push(invalid(&shown, &format!(": {}", validity.why())));
                }
            }
            let unlike = report::diff::runs_unlike(&from, &to);
            let text = report::diff::runs((&a_name, &from), (&b_name, &to), &style);
            return print_two(&text, &unlike, &Two::Runs([(a_name, from), (b_name, to)]), &out, existing, errors);
        }
        [
            Some(Side { name: a_name, document: Ok(Document::Find(from)), shown: a, .. }),
            Some(Side { name: b_name, document: Ok(Document::Find(to)), shown: b, .. }),
        ] => {
            for (shown, search) in [(a, &from), (b, &to)] {
                if existing == Existing::Keep
                    && let Some(why) = report::diff::search_is_invalid(search)
                {
                    errors.push(invalid(&shown, &format!(": {why}")));
                }
            }
            let unlike = report::diff::searches_unlike(&from, &to);
            let text = report::diff::searches((&a_name, &from), (&b_name, &to), &style);
            return print_two(&text, &unlike, &Two::Searches([(a_name, from), (b_name, to)]), &out, existing, errors);
        }
        sides => sides,
    };
    // Beside one that cannot be read, of which kind the other has to be is not known.
    let alone = sides.iter().any(Option::is_none);
    let of_any_kind = |side: &&Side| !(alone && side.document.is_ok());
    let curves = sides.each_ref().map(|side| curve(side.as_ref().filter(of_any_kind)?, existing, &mut errors));
    let sweeps = sides.each_ref().map(|side| side.as_ref()?.sweep());
    let unlike = match sweeps {
        [Some(a), Some(b)] => report::diff::unlike(a, b),
        _ => Vec::new(),
    };
    if existing == Existing::Keep && !unlike.is_empty() {
        errors.push(measured_unlike(&unlike));
    }
    let names = sides.each_ref().map(|side| side.as_ref().map_or("", |side| side.name.as_str()));
    let files = Files::new(dir, names.join("_"), ENDINGS);
    files.check(existing, &mut errors);
    let outs = Renderings::check(&out, DIFF_FORMATS, existing, StandardOutput::Taken, &mut errors);
    let [Some(a), Some(b)] = curves else { return Err(errors.into()) };
    if !errors.is_empty() {
        return Err(errors.into());
    }

    let mut lost = PlanErrors::default();
    for file in report::diff::charts(&a, &b) {
        if let Err(error) = files.write(file.ending, &file.bytes) {
            lost.push(error);
        }
    }
    let judged = report::diff::judged(sweeps[0], sweeps[1], &style);
    let mut text = format!("\n{}{judged}", report::diff::table(&a, &b, &style));
    let sweeps = sweeps.map(|sweep| sweep.cloned());
    outs.write(&Two::Sweeps { curves: Box::new([a, b]), sweeps: Box::new(sweeps) }, &mut lost);
    if !unlike.is_empty() {
        text += &format!("\n  The two were not measured alike:\n    {}\n", unlike.join("\n    "));
    }
    if lost.is_empty() {
        text += &files.listed();
    }
    super::print(text.as_bytes())?;
    written(lost)
}

/// Prints and writes two that are no sweeps, unless something stands against it.
fn print_two(text: &str, unlike: &[String], two: &Two, out: &[Out], existing: Existing, mut errors: PlanErrors) -> Result<Exit, Failed> {
    if existing == Existing::Keep && !unlike.is_empty() {
        errors.push(measured_unlike(unlike));
    }
    let outs = Renderings::check(out, DIFF_FORMATS, existing, StandardOutput::Taken, &mut errors);
    if !errors.is_empty() {
        return Err(errors.into());
    }
    let mut lost = PlanErrors::default();
    outs.write(two, &mut lost);
    super::print(format!("\n{text}").as_bytes())?;
    written(lost)
}

fn written(lost: PlanErrors) -> Result<Exit, Failed> {
    if lost.is_empty() { Ok(Exit::Done) } else { Err(Failed::unwritten(lost)) }
}

/// One side as it was read.
struct Side {
    /// As typed.
    shown: String,
    /// What its charts call it.
    name: String,
    text: String,
    /// The result in it; of a `.dat` file there is none.
    document: Result<Document, report::ReadError>,
}

const ONE_KIND: &str = "give two sweeps, two runs, or two searches";
const HELP: &str = "give a sweep's .dat file (concurrency, QPS, mean latency in ms, success rate in percent), its .json, or a saved run";

impl Side {
    /// Its sweep, if it is the result of one.
    fn sweep(&self) -> Option<&Sweep> {
        match &self.document {
            Ok(Document::Sweep(sweep)) => Some(sweep),
            _ => None,
        }
    }

    fn read(shown: &str, source: Result<(Vec<u8>, String), ReadError>, errors: &mut PlanErrors) -> Option<Self> {
        match source {
            Ok((bytes, name)) => {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                Some(Self { shown: shown.to_owned(), name, document: Document::read(&text), text })
            }
            Err(ReadError::File(why)) => {
                errors.push(PlanError::new("diff", format!("'{shown}' cannot be read: {}", plainly(&why)), HELP));
                None
            }
            Err(ReadError::Reference(failed)) => {
                errors.push(failed.in_plan("diff"));
                None
            }
        }
    }
}

/// The sweep of a side, named after it. What says nothing about the server is not compared unless forced to.
fn curve(side: &Side, existing: Existing, errors: &mut PlanErrors) -> Option<SweepCurve> {
    let Side { shown, name, text, document } = side;
    let drawn = match document {
        Ok(Document::Sweep(sweep)) => {
            let invalid = report::diff::invalid_levels(sweep);
            if existing == Existing::Keep && !invalid.is_empty() {
                errors.push(self::invalid(shown, &format!(" at {}", invalid.join(", and at "))));
            }
            report::diff::curve(name, sweep)
        }
        // What is another kind of result is told as that, and not as a broken sweep.
        Ok(other) => {
            let why = format!("'{shown}' is no sweep but the result of loadline {}", other.command());
            errors.push(PlanError::new("diff", why, ONE_KIND));
            return None;
        }
        Err(report::ReadError::Schema(why)) => {
            errors.push(PlanError::new("diff", format!("'{shown}' cannot be compared: {why}"), ONE_KIND));
            return None;
        }
        Err(report::ReadError::Damaged { .. }) => report::document::read_curve(name, text),
    };
    drawn.map_err(|why| errors.push(PlanError::new("diff", format!("'{shown}' is no sweep: {why}"), HELP))).ok()
}

/// That plans or machines differ, and in what.
fn measured_unlike(unlike: &[String]) -> PlanError {
    PlanError::new(
        "diff",
        format!("the two were not measured alike: {}", unlike.join("; ")),
        "measure both alike, or compare all the same with --force",
    )
}

fn invalid(shown: &str, why: &str) -> PlanError {
    PlanError::new(
        "diff",
        format!("'{shown}' is INVALID{why}"),
        "measure again with fewer users, more threads or another machine, or compare all the same with --force",
    )
}
