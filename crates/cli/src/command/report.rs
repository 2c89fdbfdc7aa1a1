//! `loadline report FILE`: a saved result once more, in words or in any other format.
//!
//! Whoever looks at a result a month later wants a format that nobody asked for then. A result holds everything, so nothing
//! need be measured again, and what follows from it is found anew, perhaps better than then.

use clap::{ArgAction, Args};
use plan::{PlanError, PlanErrors};
use report::{COMPARE_FORMATS, Document, FIND_FORMATS, FORMATS, Rendering, SWEEP_FORMATS};

use crate::detail::Detail;
use crate::exit::{Exit, Failed};
use crate::inputs;
use crate::keeping::At;
use crate::output_args::OutputArgs;
use crate::outputs::{Existing, Out, Outputs, Renderings, StandardOutput, to_stdout};

/// A saved result, and what becomes of it.
#[derive(Debug, Args)]
pub struct Report {
    /// A result: the JSON of a run, a sweep, a search or a comparison, a saved one such as @last, or result files of JMeter (JTL)
    #[arg(value_name = "RESULT", required = true)]
    results: Vec<String>,

    /// Write it as FORMAT=FILE, with - for standard output (repeatable)
    #[arg(long, value_name = "FORMAT=FILE", action = ArgAction::Append, help = out_help(), help_heading = "Output")]
    out: Vec<Out>,

    /// Replace files that exist
    #[arg(long, help_heading = "Output")]
    force: bool,

    #[command(flatten)]
    at: At,

    #[command(flatten)]
    output_args: OutputArgs,
}

/// Reads, and writes what was asked for; without that, the report in words.
pub fn carry_out(report: Report) -> Result<Exit, Failed> {
    let Report { results, out, force, at, output_args } = report;
    let existing = Existing::from(force);
    let mut errors = PlanErrors::default();
    match inputs::results(&results, &at)? {
        Document::Run(run, terms) => {
            let outputs = Outputs::check(&out, &[], existing, &mut errors);
            if !errors.is_empty() {
                return Err(errors.into());
            }
            let reading = terms.reading(&run);
            outputs.write(&reading, Detail::WHOLE, &output_args.styles(), output_args.voice()).map_err(Failed::unwritten)?;
            Ok(Exit::Done)
        }
        Document::Sweep(sweep) => render(&*sweep, SWEEP_FORMATS, &out, existing),
        Document::Find(found) => render(&*found, FIND_FORMATS, &out, existing),
        Document::Compare(compared) => render(&*compared, COMPARE_FORMATS, &out, existing),
    }
}

fn render<T>(result: &T, table: &'static [Rendering<T>], out: &[Out], existing: Existing) -> Result<Exit, Failed> {
    let mut errors = PlanErrors::default();
    let outs = Renderings::check(out, table, existing, StandardOutput::Free, &mut errors);
    if !errors.is_empty() {
        return Err(errors.into());
    }
    let mut lost = PlanErrors::default();
    outs.write(result, &mut lost);
    // As after a run, the words come too, unless something else stands where they would.
    if !outs.to_stdout()
        && let Some(text) = table.iter().find(|format| format.name == "text")
    {
        let bytes = (text.render)(result).expect("memory takes every byte");
        if let Err(why) = to_stdout(&bytes) {
            let what = format!("the report could not be written to standard output: {}", inputs::plainly(&why));
            lost.push(PlanError::new("out", what, "give --out text=FILE"));
        }
    }
    if lost.is_empty() { Ok(Exit::Done) } else { Err(Failed::unwritten(lost)) }
}

/// From the tables of formats: those that every result has, then those that only some have.
fn out_help() -> String {
    let mut all: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    all.extend(SWEEP_FORMATS.iter().map(|format| format.name).filter(|name| *name == "dat"));
    format!("Write it as FORMAT=FILE, with - for standard output: {} (repeatable); not every result has each", all.join(", "))
}
