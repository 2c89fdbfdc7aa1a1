//! `loadline traffic access.log …`: what real traffic looks like, from the logs of the servers that carry it.
//!
//! Nothing is measured here, and nothing is sent: it is what stands before a load test, so that its load is like the real one.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ::replay::{Log, Moment, Options, Pattern};
use analysis::quantity::{counted, length, share};
use clap::{ArgAction, Args};
use import::collection::{Described, FILE_BYTES_MAX};
use import::workload::{Beside, Workload};
use import::{FieldRole, FormChoice, KNOWN, Personal, Survey};
use plan::{Nanos, PlanError, PlanErrors, Setting};
use report::TRAFFIC_FORMATS;
use report::traffic::{TrafficReport, in_words, notes};
use scenario::Scenario;

use super::replay::{MOMENT, PATTERN, value};
use crate::exit::{Exit, Failed};
use crate::inputs::{plainly, whole};
use crate::output_args::OutputArgs;
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
    field: Vec<FieldRole>,

    /// Count only these requests: '/api/*', 'GET /users/*'; a star is any letters (repeatable)
    #[arg(long, value_name = "PATTERN", help_heading = "Input")]
    only: Vec<Setting<Pattern>>,

    /// Do not count these requests, such as '/wp-*' (repeatable)
    #[arg(long, value_name = "PATTERN", help_heading = "Input")]
    except: Vec<Setting<Pattern>>,

    /// From this moment of the log on: 2024-01-31T13:55 (by the log's clock), 13:55, or +10m after its beginning
    #[arg(long, value_name = "MOMENT", help_heading = "Input")]
    from: Option<Setting<Moment>>,

    /// Up to this moment of the log
    #[arg(long, value_name = "MOMENT", help_heading = "Input")]
    until: Option<Setting<Moment>>,

    /// Write addresses and parts of lines as they are, instead of leaving out what looks personal or secret
    #[arg(long, help_heading = "Output")]
    keep_personal: bool,

    /// Write a scenario like this traffic, for loadline run, with what was asked for beside it (FILE.paths.csv), and say how near it comes
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    to: Option<String>,

    /// Take bodies for what writes (POST, PUT, PATCH) from the examples of this OpenAPI description; for --to
    #[arg(long, value_name = "SPEC", help_heading = "Output")]
    openapi: Option<PathBuf>,

    /// Write the result also as FORMAT=FILE (repeatable)
    #[arg(long, value_name = "FORMAT=FILE", action = ArgAction::Append, help = out_help(TRAFFIC_FORMATS), help_heading = "Output")]
    out: Vec<Out>,

    /// Replace files that exist
    #[arg(long, help_heading = "Output")]
    force: bool,

    #[command(flatten)]
    output_args: OutputArgs,
}

/// Reads all of them, and says what they say.
pub fn carry_out(traffic: Traffic) -> Result<Exit, Failed> {
    let Traffic { logs, log_format, field, only, except, from, until, keep_personal, to, openapi, out, force, output_args } = traffic;
    let mut out: Vec<Out> = out.into_iter().map(|out| out.with_format(TRAFFIC_FORMATS)).collect();
    out.extend(to.iter().flat_map(|file| format!("scenario={file}").parse()));
    let scenario = out.iter().find_map(|out| out.file_of("scenario")).map(str::to_owned);
    if let Some(file) = scenario.as_ref().filter(|_| !out.iter().any(|out| out.file_of("paths").is_some())) {
        out.extend(format!("paths={}", paths_beside(file)).parse::<Out>());
    }
    let anywhere = || out.iter().any(|out| out.is_of("paths")).then_some("paths.csv");
    let paths_file = out.iter().find_map(|out| out.file_of("paths")).or_else(anywhere).map(str::to_owned);
    let mut errors = PlanErrors::default();
    let asked = match log_format.as_deref().map(FormChoice::named).transpose() {
        Ok(asked) => asked.unwrap_or_default().with_fields(field),
        Err(why) => {
            errors.push(PlanError::new(
                "log_format",
                format!("--log-format: {why}"),
                "give the log_format of nginx, the LogFormat of Apache, or one of the names in loadline traffic --help",
            ));
            FormChoice::default()
        }
    };
    let wish = Options {
        form: asked.clone(),
        only: only.iter().filter_map(|given| value("only", given, PATTERN, &mut errors)).collect(),
        except: except.iter().filter_map(|given| value("except", given, PATTERN, &mut errors)).collect(),
        from: from.as_ref().and_then(|given| value("from", given, MOMENT, &mut errors)),
        to: until.as_ref().and_then(|given| value("until", given, MOMENT, &mut errors)),
        // All of a recording is its traffic.
        hosts: vec!["*".to_owned()],
        ..Options::default()
    };
    let is_part = !(only.is_empty() && except.is_empty() && from.is_none() && until.is_none());
    let existing = Existing::from(force);
    let outs = Renderings::check(&out, TRAFFIC_FORMATS, existing, StandardOutput::Free, &mut errors);
    let described = openapi.and_then(|path| match described(&path) {
        Ok(_) if scenario.is_none() => {
            errors.push(PlanError::new(
                "openapi",
                "--openapi gives bodies to a scenario, and none is written",
                "add --to FILE, or leave it out",
            ));
            None
        }
        Ok(described) => Some(described),
        Err(error) => {
            errors.push(error);
            None
        }
    });
    let mut opened: Vec<(&String, Box<dyn Read>)> = Vec::new();
    // Where the logs begin is known once all of them are looked at, so what comes only once is kept.
    let mut kept = Vec::new();
    for name in &logs {
        let source = if is_part { Log::open(name).and_then(|log| part(log, &mut kept)) } else { open(name) };
        match source {
            Ok(source) => opened.push((name, source)),
            Err(why) => errors.push(unreadable(name, &why)),
        }
    }
    if !errors.is_empty() {
        return Err(errors.into());
    }
    let mut survey = Survey::new(asked, if keep_personal { Personal::Kept } else { Personal::LeftOut });
    if is_part {
        let wanted = ::replay::wanted(&kept, wish).map_err(|(name, why)| Failed::from(PlanErrors(vec![unreadable(&name, &why)])))?;
        survey = survey.of(wanted);
    }
    // What routes were asked for goes into a scenario's table and into a list of URLs.
    if paths_file.is_some() || out.iter().any(|out| out.is_of("urls")) {
        survey = survey.with_targets();
    }
    for (name, source) in opened {
        let shown = if name == "-" { "standard input" } else { name.as_str() };
        survey.read(shown, source).map_err(|why| Failed::from(PlanErrors(vec![unreadable(name, &why)])))?;
    }
    let traffic = survey.finish();
    let mut workload = None;
    let mut text = String::new();
    if out.iter().any(|out| out.is_of("scenario") || out.is_of("paths")) {
        // Beside each other they are called by their names alone.
        let name = paths_file.as_deref().map(|file| match (&scenario, Path::new(file).file_name()) {
            (Some(scenario), Some(name)) if Path::new(scenario).parent() == Path::new(file).parent() => name.to_string_lossy(),
            _ => file.into(),
        });
        workload = Workload::of(&traffic, Beside { paths_file: name.as_deref(), described: described.as_ref() });
        text = match &workload {
            Some(made) => {
                scenario::print(&Scenario::new(None, made.settings.clone(), made.work.clone()), &notes(&traffic, made, name.as_deref()))
            }
            None => "# Nothing in this log can be sent: its requests write, or tell no time.\n".to_owned(),
        };
    }
    let paths = workload.as_mut().and_then(|made| made.paths.take());
    let outs = if paths.is_none() { outs.without("paths") } else { outs };
    let surveyed = TrafficReport { traffic, scenario: text, paths };
    let mut lost = PlanErrors::default();
    outs.write(&surveyed, &mut lost);
    let TrafficReport { traffic, paths, .. } = surveyed;
    if !outs.to_stdout()
        && let Err(why) = to_stdout(report::traffic::text(&traffic, &output_args.styles().stdout).as_bytes())
    {
        lost.push(PlanError::new(
            "out",
            format!("the report could not be written to standard output: {}", plainly(&why)),
            "give --out text=FILE",
        ));
    }
    if !lost.is_empty() {
        return Err(Failed::unwritten(lost));
    }
    if let Some(file) = scenario.filter(|_| traffic.requests > 0 && !outs.to_stdout()) {
        super::print(
            format!("\n{}", near(&file, paths_file.as_deref().filter(|_| paths.is_some()), &traffic, workload.as_ref())).as_bytes(),
        )?;
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

/// A log that is read twice.
fn part(log: Log, kept: &mut Vec<Log>) -> io::Result<Box<dyn Read>> {
    let source = log.read()?;
    kept.push(log);
    Ok(Box::new(source))
}

/// `shop.paths.csv` beside `shop.yaml`.
fn paths_beside(scenario: &str) -> String {
    let bare = scenario.strip_suffix(".yaml").or_else(|| scenario.strip_suffix(".yml")).unwrap_or(scenario);
    format!("{bare}.paths.csv")
}

/// What was written, and how near it comes.
fn near(file: &str, paths: Option<&str>, traffic: &import::Traffic, made: Option<&Workload>) -> String {
    let Some(made) = made else { return format!("  {file}: Nothing in this log can be sent.\n") };
    let mut text = format!("  {file}: {}\n", in_words(&made.fidelity));
    let as_what = if made.lasts < Nanos::from_secs(3600) { "as the log does" } else { "the log's busiest hour" };
    text += &format!("  {file}: It lasts {}, {as_what}; -d gives another time.\n", length(made.lasts));
    let others = traffic.others.as_ref().map_or(0, |others| others.requests);
    let routes = made.left_out.len() + usize::from(others > 0);
    let requests = made.left_out.iter().map(|(_, requests, _)| requests).sum::<u64>() + others;
    if routes > 0 {
        let share = share(requests, traffic.requests);
        let is = if routes == 1 { "is" } else { "are" };
        text += &format!("  {file}: {} ({share} of requests) {is} left out, and listed in it.\n", counted(routes as u64, "route"));
    }
    if let Some(paths) = paths {
        text += &format!("  {paths}: what the others were asked for. {}\n", report::traffic::stand_ins(traffic).unwrap_or_default());
    }
    text
}

/// What an API says of itself.
fn described(path: &Path) -> Result<Described, PlanError> {
    let help = "give a description by OpenAPI 3, in YAML or JSON";
    let wrong = |why: String| PlanError::new("openapi", format!("--openapi '{}' cannot be read: {why}", path.display()), help);
    let bytes = whole(path, FILE_BYTES_MAX).map_err(|why| wrong(plainly(&why)))?;
    Described::read(&bytes).map_err(|why| wrong(why.to_string()))
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
