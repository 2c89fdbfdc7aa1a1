//! Keeping order in the history: words and notes, what goes and what stays, baselines, and single runs as files.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use history::{ExportedRun, Id, Moment, Origin};
use plan::{PlanErrors, Setting};
use report::{Document, visible};

use super::runs::{Age, table, typed};
use crate::exit::{Exit, Failed};
use crate::inputs::{self, plainly};
use crate::keeping::{At, refused};
use crate::outputs::{look, whole};
use crate::saved;

/// Words to find a run by.
#[derive(Debug, Args)]
pub struct Tag {
    #[command(flatten)]
    at: At,

    /// The saved run: @last, @last-2, @NAME, @baseline, or the beginning of its id
    #[arg(value_name = "REF")]
    reference: String,

    /// +WORD adds a word, -WORD takes it away
    #[arg(value_name = "+WORD|-WORD", required = true, allow_hyphen_values = true, trailing_var_arg = true)]
    words: Vec<String>,
}

/// What the user says about a run.
#[derive(Debug, Args)]
pub struct Note {
    /// The saved run: @last, @last-2, @NAME, @baseline, or the beginning of its id
    #[arg(value_name = "REF")]
    reference: String,

    /// The text, in the place of what was there; '' removes it
    #[arg(value_name = "TEXT")]
    text: String,

    #[command(flatten)]
    at: At,
}

/// Runs that go.
#[derive(Debug, Args)]
pub struct Remove {
    /// The saved runs: @last, @last-2, @NAME, @baseline, or the beginnings of their ids
    #[arg(value_name = "REF", required = true)]
    references: Vec<String>,

    #[command(flatten)]
    at: At,
}

/// All but some.
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("which").required(true).multiple(true)))]
pub struct Prune {
    /// Keep the newest N
    #[arg(long, value_name = "N", group = "which")]
    keep: Option<u32>,

    /// Remove those that began longer ago than this: 90d, or before a date such as 2026-11-01
    #[arg(long, value_name = "AGE", group = "which")]
    older: Option<Setting<Age>>,

    #[command(flatten)]
    at: At,
}

/// A run as a file.
#[derive(Debug, Args)]
pub struct Export {
    /// The saved run: @last, @last-2, @NAME, @baseline, or the beginning of its id
    #[arg(value_name = "REF")]
    reference: String,

    /// The file; - is standard output
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Replace it if it exists
    #[arg(long)]
    force: bool,

    #[command(flatten)]
    at: At,
}

/// What others are held against.
#[derive(Debug, Args)]
pub struct Baseline {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Make a saved run the baseline of its name
    Set {
        /// The saved run: @last, @last-2, @NAME, or the beginning of its id
        #[arg(value_name = "REF")]
        reference: String,

        #[command(flatten)]
        at: At,
    },
    /// Show every baseline
    Show {
        #[command(flatten)]
        at: At,
    },
}

/// Tags.
pub fn tag(tag: Tag) -> Result<Exit, Failed> {
    let Tag { at, reference, words } = tag;
    let (mut add, mut remove) = (Vec::new(), Vec::new());
    for word in &words {
        match (word.strip_prefix('+'), word.strip_prefix('-')) {
            (Some(word), _) => add.push(word.to_owned()),
            (_, Some(word)) if !word.starts_with('-') => remove.push(word.to_owned()),
            _ => {
                return Err(Failed::new(
                    Exit::Usage,
                    format_args!("'{word}' says neither to add nor to take away"),
                    format_args!("write +{0} or -{0}; --db goes before the run", word.trim_start_matches('-')),
                ));
            }
        }
    }
    let (mut store, entry) = at.find(&reference)?;
    let entry = store.tag(&entry.id, &add, &remove).map_err(|error| refused(&error))?;
    super::print(table(&store, &[entry]).as_bytes())
}

/// Writes a note.
pub fn note(note: Note) -> Result<Exit, Failed> {
    let Note { reference, text, at } = note;
    let (mut store, entry) = at.find(&reference)?;
    let entry = store.note(&entry.id, text.trim()).map_err(|error| refused(&error))?;
    super::print(table(&store, &[entry]).as_bytes())
}

/// Removes.
pub fn remove(remove: Remove) -> Result<Exit, Failed> {
    let Remove { references, at } = remove;
    let mut store = at.open()?;
    // All are looked for before the first goes: `@last @last-1` means two that are there now.
    let mut entries = Vec::new();
    for text in &references {
        let reference = text.parse().map_err(|error| refused(&error))?;
        entries.push(store.resolve(&reference).map_err(|error| refused(&error))?);
    }
    entries.dedup_by(|a, b| a.id == b.id);
    let mut text = "\n  removed\n".to_owned();
    for entry in &entries {
        store.remove(&entry.id).map_err(|error| refused(&error))?;
        text += &format!("    {}  {} {}\n", entry.short, entry.kept.kind, visible(&entry.kept.name));
    }
    super::print((text + "\n").as_bytes())
}

/// Removes what is old.
pub fn prune(prune: Prune) -> Result<Exit, Failed> {
    let Prune { keep, older, at } = prune;
    let mut errors = PlanErrors::default();
    let older = typed("older", older, "write --older 90d or --older 2026-11-01", &mut errors);
    if !errors.is_empty() {
        return Err(errors.into());
    }
    let gone = at.open()?.prune(keep, older.map(|age| age.before(Moment::now()))).map_err(|error| refused(&error))?;
    let runs = if gone == 1 { "run" } else { "runs" };
    super::print(format!("\n  removed {gone} {runs}; baselines stay\n\n").as_bytes())
}

/// Writes one run into a file.
pub fn export(export: Export) -> Result<Exit, Failed> {
    let Export { reference, file, force, at } = export;
    let to_stdout = file == Path::new("-");
    let mut errors = PlanErrors::default();
    if !to_stdout {
        look(&file, "export", force.into(), &mut errors);
    }
    if !errors.is_empty() {
        return Err(errors.into());
    }
    let (store, entry) = at.find(&reference)?;
    let exported = ExportedRun::of(&store, &entry).map_err(|error| refused(&error))?;
    let mut bytes = serde_json::to_vec_pretty(&exported).expect("what was read can be written");
    bytes.push(b'\n');
    if to_stdout {
        return super::print(&bytes);
    }
    whole(&file, &bytes).map_err(|why| {
        Failed::new(
            Exit::OutputNotWritten,
            format_args!("'{}' could not be written: {}", file.display(), plainly(&why)),
            "make room or choose another place",
        )
    })?;
    super::print(format!("\n  {} is in {}\n\n", entry.short, file.display()).as_bytes())
}

/// Takes results in.
pub fn import(files: &[PathBuf], name: Option<&str>, at: &At) -> Result<Exit, Failed> {
    // Everything is read before the first is saved.
    let mut found = Vec::new();
    let mut errors = PlanErrors::default();
    for file in files {
        match read(file, name) {
            Ok(them) => found.push(them),
            Err(why) => errors.push(plan::PlanError::new(
                "import",
                format!("'{}' cannot be taken in: {why}", file.display()),
                "give a file written by loadline export, the JSON of a result, or one file with requests (loadline import --help)",
            )),
        }
    }
    if !errors.is_empty() {
        return Err(errors.into());
    }
    let mut store = at.open()?;
    let mut entries = Vec::new();
    for exported in found {
        entries.push(exported.import(&mut store).map_err(|error| refused(&error))?);
    }
    super::print(table(&store, &entries).as_bytes())
}

/// A file written by export, or a result made to look like one.
fn read(file: &Path, name: Option<&str>) -> Result<ExportedRun, String> {
    let text = inputs::text(file, inputs::TEXT_BYTES_MAX).map_err(|why| plainly(&why))?;
    let value: serde_json::Value = serde_json::from_str(&text).map_err(|why| format!("it is damaged, or no JSON: {why}"))?;
    let schema = value.get("schema").and_then(serde_json::Value::as_str).unwrap_or_default();
    if schema.starts_with("loadline.saved/") {
        if schema != history::EXPORT_SCHEMA {
            return Err(format!("it is written as '{}', and this loadline reads '{}'", visible(schema), history::EXPORT_SCHEMA));
        }
        let exported: ExportedRun = serde_json::from_value(value).map_err(|why| format!("it is damaged: {why}"))?;
        // What is listed later must be readable: a result that is not is refused here.
        Document::read(&exported.result.to_string()).map_err(|why| why.to_string())?;
        return Ok(exported);
    }
    let document = Document::read(&text).map_err(|why| why.to_string())?;
    let plan: serde_json::Value = serde_json::from_str(&document.plan()).unwrap_or_default();
    let url = plan.get("url").and_then(serde_json::Value::as_str).unwrap_or_default();
    let name = name.or(document.name()).map_or_else(|| crate::name::of_url(url), str::to_owned);
    let kept = saved::kept(&document, name, None, Vec::new(), String::new()).ok_or("nothing was measured")?;
    let schema = history::EXPORT_SCHEMA.to_owned();
    Ok(ExportedRun { schema, id: Id::fresh(), kept, origin: Origin::Imported, saved: Moment::now(), plan, result: value })
}

/// Sets or shows.
pub fn baseline(baseline: Baseline) -> Result<Exit, Failed> {
    match baseline.what {
        What::Set { reference, at } => {
            let (mut store, entry) = at.find(&reference)?;
            let entry = store.set_baseline(&entry.id).map_err(|error| refused(&error))?;
            super::print(table(&store, &[entry]).as_bytes())
        }
        What::Show { at } => {
            let store = at.open()?;
            let baselines = store.baselines().map_err(|error| refused(&error))?;
            match baselines.as_slice() {
                [] => super::print(b"\n  No baseline is set; set one with 'loadline baseline set REF'.\n\n"),
                them => super::print(table(&store, them).as_bytes()),
            }
        }
    }
}
