//! `loadline diff A B`: two sweeps side by side, as a table and as two charts.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use plan::{PlanError, PlanErrors};
use report::chart::sweep::SweepCurve;

use crate::exit::{Exit, Failed};
use crate::files::{DIRECTORY, Files};
use crate::inputs::plainly;
use crate::outputs::Existing;

/// Two sweeps.
#[derive(Debug, Args)]
pub struct Diff {
    /// A sweep: its .dat or .json file
    #[arg(value_name = "A")]
    a: PathBuf,

    /// The sweep it is compared with
    #[arg(value_name = "B")]
    b: PathBuf,

    /// Write the charts into this directory, made if missing
    #[arg(long, value_name = "DIR", default_value = DIRECTORY, help_heading = "Output")]
    dir: PathBuf,

    /// Replace files that exist, and compare levels that are INVALID and sweeps that are unlike
    #[arg(long, help_heading = "Output")]
    force: bool,
}

/// The endings of a comparison's files.
const ENDINGS: &[&str] = &[".qps.ttlb.diff.png", ".qps.ttlb.diff.svg", ".successrate.diff.png", ".successrate.diff.svg"];

/// Reads both, draws, and prints the table.
pub fn carry_out(diff: Diff) -> Result<Exit, Failed> {
    let Diff { a, b, dir, force } = diff;
    let mut errors = PlanErrors::default();
    let existing = if force { Existing::Replace } else { Existing::Keep };
    let curves = [&a, &b].map(|path| curve(path, existing, &mut errors));
    let sweeps = [&a, &b].map(|path| report::sweep::read(&fs::read_to_string(path).ok()?).ok());
    let unlike = match &sweeps {
        [Some(a), Some(b)] => report::diff::unlike(a, b),
        _ => Vec::new(),
    };
    if existing == Existing::Keep && !unlike.is_empty() {
        errors.push(PlanError::new(
            "diff",
            format!("the two were not measured alike: {}", unlike.join("; ")),
            "measure both alike, or compare all the same with --force",
        ));
    }
    let files = Files::new(dir, format!("{}_{}", stem(&a), stem(&b)), ENDINGS);
    files.check(existing, &mut errors);
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
    let [from, to] = &sweeps;
    let mut text = format!("\n{}{}", report::diff::table(&a, &b), report::diff::judged(from.as_ref(), to.as_ref()));
    if !unlike.is_empty() {
        text += &format!("\n  The two were not measured alike:\n    {}\n", unlike.join("\n    "));
    }
    if lost.is_empty() {
        text += &files.listed();
    }
    super::print(text.as_bytes())?;
    if lost.is_empty() { Ok(Exit::Done) } else { Err(Failed { exit: Exit::OutputNotWritten, text: lost.to_string() }) }
}

/// The sweep in a file, named after it. What says nothing about the server is not compared unless forced to.
fn curve(path: &Path, existing: Existing, errors: &mut PlanErrors) -> Option<SweepCurve> {
    let shown = path.display();
    let help = "give a sweep's .dat file (concurrency, QPS, mean TTLB in ms, success rate in percent) or its .json";
    let text = match fs::read(path) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(why) => {
            errors.push(PlanError::new("diff", format!("'{shown}' cannot be read: {}", plainly(&why)), help));
            return None;
        }
    };
    let invalid = report::diff::invalid_levels(&text);
    if existing == Existing::Keep && !invalid.is_empty() {
        errors.push(PlanError::new(
            "diff",
            format!("'{shown}' is INVALID at {}", invalid.join(", and at ")),
            "measure again with fewer users, more threads or another machine, or compare all the same with --force",
        ));
    }
    report::diff::read_curve(&stem(path), &text)
        .map_err(|why| errors.push(PlanError::new("diff", format!("'{shown}' is no sweep: {why}"), help)))
        .ok()
}

/// The file's name without its ending.
fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}
