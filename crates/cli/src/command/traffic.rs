//! `loadline traffic access.log …`: what real traffic looks like, from the logs of the servers that carry it.
//!
//! Nothing is measured here, and nothing is sent: it is what stands before a load test, so that its load is like the real one.

use std::fs::File;
use std::io::{self, Read};

use clap::{ArgAction, Args};
use import::{Asked, KNOWN, Named, Personal, Survey};
use plan::{PlanError, PlanErrors};
use report::TRAFFIC_FORMATS;

use super::Manner;
use crate::exit::{Exit, Failed};
use crate::inputs::plainly;
use crate::outputs::{Existing, Out, Renderings, StandardOutput, out_help, to_stdout};

/// Logs, and what becomes of them.
#[derive(Debug, Args)]
pub struct Traffic {
    /// Logs, plain, gzip or Zstandard, in any order; - is standard input
    #[arg(value_name = "LOG", required = true)]
    logs: Vec<String>,

    /// Their form instead of a guess: a name, or a format string of nginx, Apache or Envoy
    #[arg(long, value_name = "NAME|STRING", help = format_help(), help_heading = "Input")]
    log_format: Option<String>,

    /// Which field of JSON lines says what, such as path=request.uri (repeatable)
    #[arg(long, value_name = "WHAT=FIELD", action = ArgAction::Append, help_heading = "Input")]
    field: Vec<Named>,

    /// Write addresses and parts of lines as they are, instead of leaving out what looks personal or secret
    #[arg(long, help_heading = "Output")]
    keep_personal: bool,

    /// Write a scenario like this traffic, for loadline run, and say how near it comes
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    to: Option<String>,

    /// Write the result also as FORMAT=FILE (repeatable)
    #[arg(long, value_name = "FORMAT=FILE", action = ArgAction::Append, help = out_help(TRAFFIC_FORMATS), help_heading = "Output")]
    out: Vec<Out>,

    /// Replace files that exist
    #[arg(long, help_heading = "Output")]
    force: bool,

    #[command(flatten)]
    manner: Manner,
}

/// Reads all of them, and says what they say.
pub fn carry_out(traffic: Traffic) -> Result<Exit, Failed> {
    let Traffic { logs, log_format, field, keep_personal, to, mut out, force, manner } = traffic;
    out.extend(to.iter().flat_map(|file| format!("scenario={file}").parse()));
    let mut errors = PlanErrors::default();
    let asked = match log_format.as_deref().map(Asked::named).transpose() {
        Ok(asked) => asked.unwrap_or_default().with_fields(field),
        Err(why) => {
            errors.push(PlanError::new(
                "log_format",
                format!("--log-format: {why}"),
                "give the log_format of nginx, the LogFormat of Apache, or one of the names in loadline traffic --help",
            ));
            Asked::default()
        }
    };
    let existing = if force { Existing::Replace } else { Existing::Keep };
    let outs = Renderings::check(&out, TRAFFIC_FORMATS, existing, StandardOutput::Free, &mut errors);
    let mut opened = Vec::new();
    for name in &logs {
        match open(name) {
            Ok(source) => opened.push((name, source)),
            Err(why) => errors.push(unreadable(name, &why)),
        }
    }
    if !errors.is_empty() {
        return Err(errors.into());
    }
    let mut survey = Survey::new(asked, if keep_personal { Personal::Kept } else { Personal::LeftOut });
    for (name, source) in opened {
        let shown = if name == "-" { "standard input" } else { name.as_str() };
        survey.read(shown, source).map_err(|why| Failed::from(PlanErrors(vec![unreadable(name, &why)])))?;
    }
    let traffic = survey.finish();
    let mut lost = PlanErrors::default();
    outs.write(&traffic, &mut lost);
    if !outs.to_stdout()
        && let Err(why) = to_stdout(report::traffic::text(&traffic, &manner.styles().stdout).as_bytes())
    {
        lost.push(PlanError::new(
            "out",
            format!("the report could not be written to standard output: {}", plainly(&why)),
            "give --out text=FILE",
        ));
    }
    if !lost.is_empty() {
        return Err(Failed { exit: Exit::OutputNotWritten, text: lost.to_string() });
    }
    if let Some(file) = to.filter(|file| file != "-" && traffic.requests > 0) {
        let how_near = report::traffic::fidelity(&traffic);
        let how_near = how_near.map_or_else(|| "Nothing in this log can be sent.".to_owned(), |it| it.in_words());
        super::print(format!("\n  {file}: {how_near}\n").as_bytes())?;
    }
    // Nothing could be read of what is not empty: whoever scripts this must not take it for a quiet day.
    if traffic.requests == 0 && traffic.lines > 0 {
        return Err(Failed::new(
            Exit::Usage,
            "no line of these logs could be read",
            "name their form with --log-format, or their fields with --field",
        ));
    }
    Ok(Exit::Done)
}

fn open(name: &str) -> io::Result<Box<dyn Read>> {
    if name == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(name)?;
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    Ok(Box::new(file))
}

fn unreadable(name: &str, why: &io::Error) -> PlanError {
    PlanError::new("log", format!("the log '{name}' cannot be read: {}", plainly(why)), "give a file, several, or - for standard input")
}

/// From the table of forms, so that none is missing.
fn format_help() -> String {
    let names: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
    format!("Their form instead of a guess: a format string of nginx, Apache or Envoy, or one of {}", names.join(", "))
}
