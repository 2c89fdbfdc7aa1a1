//! `loadline import FILE`: requests that another tool keeps become a scenario; results become runs of the history.
//!
//! Both are a file that comes in, and both are called so by those who do it. What a file is stands in it, so one word is enough: a
//! result of loadline's goes where results are, and everything else is looked at for requests.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use clap::{ArgAction, Args, ValueEnum};
use import::collection::{Collection, FILE_BYTES_MAX, KINDS, Kind, Wishes, guess};
use plan::{Also, PlanError, PlanErrors, Spelling, Target};
use resolve::KnownSecrets;

use super::curate;
use crate::destinations::{Choice, DestinationNote, Destinations};
use crate::exit::{Exit, Failed};
use crate::imported::{self, PropertyArgs, pair};
use crate::inputs::{self, plainly};
use crate::keeping::At;
use crate::output_args::OutputArgs;
use crate::outputs::{look, to_stdout, whole};

/// Files, and what becomes of them.
#[derive(Debug, Args)]
pub struct Import {
    /// Requests of another tool, or results of loadline; - is standard input
    #[arg(value_name = "FILE", required = true, help = file_help())]
    files: Vec<PathBuf>,

    /// What the file is, instead of a guess
    #[arg(long, value_name = "KIND", value_parser = kind, help = kind_help(), help_heading = "Requests")]
    from: Option<Kind>,

    /// Write the scenario into this file [default: standard output]
    #[arg(short, long, value_name = "FILE", help_heading = "Requests")]
    output: Option<PathBuf>,

    /// Only requests whose name, folders, method or URL hold this (repeatable)
    #[arg(long, value_name = "TEXT", action = ArgAction::Append, help_heading = "Requests")]
    only: Vec<String>,

    /// Without requests that hold this (repeatable)
    #[arg(long, value_name = "TEXT", action = ArgAction::Append, help_heading = "Requests")]
    except: Vec<String>,

    /// The value of a variable of the file, such as baseUrl=http://127.0.0.1:8080 (repeatable)
    #[arg(long, value_name = "NAME=VALUE", action = ArgAction::Append, value_parser = pair, help_heading = "Requests")]
    variable: Vec<(String, String)>,

    #[command(flatten, next_help_heading = "Requests")]
    properties: PropertyArgs,

    /// The environment whose values hold: a file that Postman exported, or the name of one in an export of Insomnia
    #[arg(long, value_name = "FILE|NAME", help_heading = "Requests")]
    environment: Option<String>,

    /// Send all requests to this server instead of where the file says
    #[arg(long, value_name = "URL", help_heading = "Requests")]
    target: Option<String>,

    /// With --target: leave the requests to this server as they are (repeatable)
    #[arg(long, value_name = "ORIGIN", action = ArgAction::Append, help_heading = "Requests")]
    also_target: Vec<String>,

    /// Which server of an OpenAPI description: its number, a part of its description, or another URL [default: the first]
    #[arg(long, value_name = "SERVER", help_heading = "Requests")]
    openapi_server: Option<String>,

    /// Secrets become variables of the environment (env), or are written into the scenario (keep)
    #[arg(long, value_name = "HOW", default_value = "env", hide_possible_values = true, help_heading = "Requests")]
    secrets: Secrets,

    /// End with 4 if something in the file is not carried over
    #[arg(long, help_heading = "Requests")]
    strict: bool,

    /// Replace the file if it exists
    #[arg(long, help_heading = "Requests")]
    force: bool,

    /// Call the result of a single run so [default: from the path of the URL, or its host]
    #[arg(long, value_name = "NAME", help_heading = "History")]
    name: Option<String>,

    #[command(flatten)]
    at: At,

    #[command(flatten)]
    output_args: OutputArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Secrets {
    Env,
    Keep,
}

/// Takes files in, by what is in them.
pub fn carry_out(import: Import, known: &KnownSecrets) -> Result<Exit, Failed> {
    let requests = match import.files.as_slice() {
        [one] if import.from.is_some() => Some(read(one)?),
        // What cannot be read is told with the others.
        [one] => read(one).ok().filter(|bytes| !is_result(bytes)),
        _ => None,
    };
    match requests {
        Some(bytes) => scenario(import, &bytes, known),
        None if import.files.len() > 1 && import.asks_for_a_scenario() => Err(Failed::new(
            Exit::Usage,
            format_args!("a scenario is made of one file, and here are {}", import.files.len()),
            "import them one by one",
        )),
        None => curate::import(&import.files, import.name.as_deref(), &import.at),
    }
}

impl Import {
    fn asks_for_a_scenario(&self) -> bool {
        let Self { from, output, only, except, variable, properties, environment, target, also_target, openapi_server, strict, .. } = self;
        let lists = only.is_empty()
            && except.is_empty()
            && variable.is_empty()
            && properties.is_empty()
            && also_target.is_empty()
            && target.is_none();
        environment.is_some() || from.is_some() || output.is_some() || !lists || openapi_server.is_some() || *strict
    }
}

fn scenario(import: Import, bytes: &[u8], known: &KnownSecrets) -> Result<Exit, Failed> {
    let Import {
        files,
        from,
        output,
        only,
        except,
        variable,
        properties,
        environment,
        target,
        also_target,
        openapi_server,
        secrets,
        strict,
        force,
        name: _,
        at: _,
        output_args,
    } = import;
    let shown = files.first().map(|file| shown(file)).unwrap_or_default();
    let mut errors = PlanErrors::default();
    if let Some(output) = &output {
        look(output, "output", force.into(), &mut errors);
    }
    let wrong = |why: String, help: &str| PlanError::new("import", why, help.to_owned());
    let kind = match from.map_or_else(|| guess(bytes), Ok) {
        Ok(kind) => kind,
        Err(why) => {
            let help = "say what it is with --from, or give a result that loadline wrote";
            errors.push(wrong(format!("{shown} {why}"), help));
            return Err(errors.into());
        }
    };
    let reader = inputs::reader(known);
    let properties = properties.read(&reader, &mut errors);
    let environment = environment.and_then(|named| resolve::environment(&named, &reader).map_err(|error| errors.push(error)).ok());
    let environment = environment.map(|(environment, _)| environment);
    let target = target.and_then(|target| resolve::server(&target).map_err(|error| errors.push(error)).ok());
    let mut wrong_also = Vec::new();
    let also = Also::read(&also_target, &mut wrong_also);
    wrong_also.into_iter().for_each(|error| errors.push(error));
    if target.is_none() && also != Also::default() {
        errors.push(PlanError::new(
            "also-target",
            "--also-target names servers beside that of --target, and there is none",
            "give --target, or leave --also-target out: the scenario names the servers of the file",
        ));
    }
    let host = target.as_ref().map(Target::origin);
    let wishes = Wishes {
        variables: variable,
        properties,
        environment,
        host,
        also: also.clone(),
        server: openapi_server,
        only,
        except,
        ..Wishes::default()
    };
    let path = files.first().map(|file| file.to_string_lossy().into_owned()).unwrap_or_default();
    let wishes = resolve::with_included(&path, kind, bytes, &wishes, &reader);
    known.learn_values(resolve::hidden(&wishes));
    let read = Collection::read(kind, bytes, &wishes).map_err(|why| {
        wrong(
            format!("{shown} cannot be read as {}: {}", kind.about(), why.wording().marked()),
            "look at the file there, or say what it is with --from",
        )
    });
    let read = match read {
        Ok(mut read) if errors.is_empty() => {
            if let Some(target) = &target {
                read.send_to(target, &also);
            }
            read
        }
        Ok(_) => return Err(errors.into()),
        Err(why) => {
            errors.push(why);
            return Err(errors.into());
        }
    };
    let (written, placeholders) = if secrets == Secrets::Env { read.concealed() } else { (read, Vec::new()) };
    let made = written.work("");
    let notes = written.notes(&shown, &placeholders, &made);
    let page = scenario::print(&resolve::scenario_of(made), &notes);
    match &output {
        Some(path) => whole(path, page.as_bytes()).map_err(|why| {
            let message = format!("'{}' could not be written: {}", path.display(), plainly(&why));
            Failed::new(Exit::OutputNotWritten, message, "make room or choose another place")
        })?,
        None => to_stdout(page.as_bytes()).map_err(|why| {
            let message = format!("standard output cannot be written: {}", plainly(&why));
            Failed::new(Exit::OutputNotWritten, message, "give --output FILE")
        })?,
    }
    let left = written.all_left_out();
    let screen = output_args.screen(known);
    let requests = written.requests.len();
    let guessed = if from.is_some() { "" } else { " (a guess; --from says otherwise)" };
    screen.say(&format!("{shown}: {}{guessed}: {requests} {}", kind.about(), if requests == 1 { "request" } else { "requests" }));
    let choice = if target.is_some() { Choice::Target } else { Choice::File };
    let destinations = Destinations::of_requests(&shown, &written).and_then(|found| found.said(choice));
    let several = match destinations {
        Some(DestinationNote::Doubt { text, .. }) => {
            screen.say(&format!("warning: {text}\n  help: {}", imported::ONE_SERVER));
            true
        }
        Some(DestinationNote::Remark(text)) => {
            screen.say(&text);
            false
        }
        None => false,
    };
    if !placeholders.is_empty() {
        let names: Vec<&str> = placeholders.iter().map(|placeholder| placeholder.name.as_str()).collect();
        screen
            .say(&format!("secrets are read from the environment: set {} before the run, or import with --secrets keep", names.join(", ")));
    }
    if !left.is_empty() {
        screen.say(&format!("not carried over ({}):", left.len()));
        left.iter().for_each(|left| screen.say(&format!("  {}", report::visible(&left.spelt(Spelling::Flags)))));
    }
    if let Some(path) = &output {
        screen.say(&format!("{} is a scenario: loadline run {0}", path.display()));
    }
    Ok(if strict && (several || !left.is_empty()) { Exit::NotTrustworthy } else { Exit::Done })
}

/// The whole of a file.
///
/// # Errors
/// If it cannot be read, or is larger than what is read.
fn read(path: &Path) -> Result<Vec<u8>, Failed> {
    let unreadable = |why: &io::Error| {
        Failed::new(Exit::Usage, format_args!("{} cannot be read: {}", shown(path), plainly(why)), "give a file, or - for standard input")
    };
    let mut bytes = Vec::new();
    let source: Box<dyn io::Read> = if path.as_os_str() == "-" {
        Box::new(io::stdin().lock())
    } else {
        let file = File::open(path).map_err(|why| unreadable(&why))?;
        if file.metadata().is_ok_and(|about| about.is_dir()) {
            return Err(unreadable(&io::ErrorKind::IsADirectory.into()));
        }
        Box::new(file)
    };
    source.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|why| unreadable(&why))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(Failed::new(
            Exit::Usage,
            format_args!("{} is larger than 256 MiB", shown(path)),
            "record less, or take the part that matters out of it",
        ));
    }
    Ok(bytes)
}

/// Whether loadline wrote it: a result, or a run that was exported. What is cut off begins with its schema all the same.
fn is_result(bytes: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Schema {
        schema: Option<String>,
    }
    let head: String = String::from_utf8_lossy(&bytes[..bytes.len().min(256)]).chars().filter(|letter| !letter.is_whitespace()).collect();
    head.starts_with("{\"schema\":\"loadline.")
        || serde_json::from_slice::<Schema>(bytes).is_ok_and(|found| found.schema.is_some_and(|schema| schema.starts_with("loadline.")))
}

fn shown(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".to_owned() } else { format!("'{}'", path.display()) }
}

fn kind(text: &str) -> Result<Kind, String> {
    Kind::named(text).ok_or_else(|| format!("it is none of {}", names()))
}

/// From the table of kinds, so that none is missing.
fn kind_help() -> String {
    format!("What the file is, instead of a guess: {}", names())
}

fn file_help() -> String {
    "Requests of another tool, of which a scenario is made; or results, which go into the history: files written by export, or the JSON of a \
     result. - is standard input"
        .to_owned()
}

fn names() -> String {
    KINDS.iter().map(|(_, name, _)| *name).collect::<Vec<_>>().join(", ")
}
