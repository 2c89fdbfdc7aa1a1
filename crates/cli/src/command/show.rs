//! `loadline show REF`: a saved result, as it was reported when it was measured; or a result file of JMeter's, as it is reported now.

use std::path::Path;

use clap::{ArgAction, Args};
use jtl::Form;
use plan::{PlanError, PlanErrors};
use report::Document;

use crate::detail::Detail;
use crate::exit::{Exit, Failed};
use crate::jmeter;
use crate::keeping::{At, refused};
use crate::output_args::OutputArgs;
use crate::outputs::{Out, Outputs};
use crate::saved::head;

/// Which, and how.
#[derive(Debug, Args)]
pub struct Show {
    /// The saved run: @last, @last-2, @NAME, @baseline, or the beginning of its id; or a result file of JMeter (JTL)
    #[arg(value_name = "REF", default_value = "@last")]
    reference: String,

    /// Write the result of a single run as FORMAT=FILE, with - for standard output (repeatable)
    #[arg(long, value_name = "FORMAT=FILE", action = ArgAction::Append, help_heading = "Output")]
    out: Vec<Out>,

    /// Print the whole result as JSON
    #[arg(long, conflicts_with = "out", help_heading = "Output")]
    json: bool,

    /// Replace files that exist
    #[arg(long, help_heading = "Output")]
    force: bool,

    #[command(flatten)]
    at: At,

    #[command(flatten)]
    output_args: OutputArgs,
}

/// Shows.
pub fn carry_out(show: Show) -> Result<Exit, Failed> {
    let Show { reference, out, json, force, at, output_args } = show;
    let mut errors = PlanErrors::default();
    let outputs = Outputs::check(&out, &[], force.into(), &mut errors);
    if !errors.is_empty() {
        return Err(errors.into());
    }
    if let Some(form) = jmeter::form(Path::new(&reference)) {
        return show_file(&reference, form, (&out, json), &outputs, &output_args);
    }
    let (store, entry) = at.find(&reference)?;
    let text = store.result(&entry.id).map_err(|error| refused(&error))?;
    if json {
        return super::print(text.as_bytes());
    }
    let damaged = |why: report::ReadError| refused(&history::HistoryError::Damaged { id: entry.short.clone(), why: why.to_string() });
    let document = Document::read(&text).map_err(damaged)?;
    if out.is_empty() {
        let styles = output_args.styles();
        return super::print(format!("\n  {}\n{}{}", entry.short, head(&entry.kept), document.text(&styles.stdout)).as_bytes());
    }
    let Document::Run(run, terms) = document else {
        return Err(PlanErrors(vec![PlanError::new(
            "out",
            format!("--out is for the result of a single run, and '{reference}' is a {}", entry.kept.kind),
            "leave it out to read the result, or take all of it with --json",
        )])
        .into());
    };
    let written = outputs.write(&terms.reading(&run), Detail::WHOLE, &output_args.styles(), output_args.voice());
    written.map(|()| Exit::Done).map_err(Failed::unwritten)
}

/// The run that a result file of JMeter's tells of: written, as JSON, or in words.
fn show_file(path: &str, form: Form, (out, json): (&[Out], bool), outputs: &Outputs, output_args: &OutputArgs) -> Result<Exit, Failed> {
    let document = jmeter::run(&[(Path::new(path), form)]).map_err(|wrong| {
        let told =
            |(_, why): (&Path, String)| PlanError::new("show", format!("'{path}' cannot be read: {why}"), "give a whole file of JMeter's");
        PlanErrors(wrong.into_iter().map(told).collect())
    })?;
    let styles = output_args.styles();
    match document {
        document if json => super::print(&document.json()),
        Document::Run(run, terms) if !out.is_empty() => {
            let written = outputs.write(&terms.reading(&run), Detail::WHOLE, &styles, output_args.voice());
            written.map(|()| Exit::Done).map_err(Failed::unwritten)
        }
        document => super::print(document.text(&styles.stdout).as_bytes()),
    }
}
