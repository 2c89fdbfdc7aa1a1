//! `loadline traffic access.log …`: what real traffic looks like, from the logs of the servers that carry it.
//!
//! Nothing is measured here, and nothing is sent: it is what stands before a load test, so that its load is like the real one. Logs are read
//! where they lie: here, on other machines ([`machines`]), or in parts by whatever spreads work, which are merged afterwards.

mod machines;
mod outcome;
mod part;

use std::fs::File;
use std::io::{self, Read};

use ::replay::{Log, Moment, Options, Pattern};
use clap::{ArgAction, Args, Subcommand};
use import::{FieldRole, FormChoice, KNOWN, Key, Personal, Survey};
use plan::{PlanError, PlanErrors, Setting};

use super::replay::{MOMENT, PATTERN, value};
use crate::exit::{Exit, Failed};
use crate::inputs::plainly;
use crate::patterns::files_of;
use machines::MachinesArgs;
use outcome::{Outcome, OutcomeArgs};
use part::{MergeArgs, PartArgs};

/// Logs, and what becomes of them.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true, disable_help_subcommand = true)]
pub struct Traffic {
    #[command(subcommand)]
    action: Option<Action>,

    /// Logs, plain, gzip or Zstandard, in any order; - is standard input
    #[arg(value_name = "LOG", required = true)]
    logs: Vec<String>,

    #[command(flatten)]
    reading: ReadingArgs,

    #[command(flatten)]
    machines: MachinesArgs,

    #[command(flatten)]
    part: PartArgs,

    #[command(flatten)]
    outcome: OutcomeArgs,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Put parts together that were written with --partial, and go on as if all their logs had been read at once
    Merge(Box<MergeArgs>),
}

/// What of the logs is counted, and how they are read.
#[derive(Debug, Args)]
struct ReadingArgs {
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
}

/// Reads all of them, and says what they say.
pub fn carry_out(traffic: Traffic) -> Result<Exit, Failed> {
    let Traffic { action, logs, reading, machines, part, outcome } = traffic;
    if let Some(Action::Merge(merge)) = action {
        return part::merge(*merge);
    }
    let mut errors = PlanErrors::default();
    let wish = reading.decided(&mut errors);
    let hosts = machines.hosts(&logs, &mut errors);
    if machines.are_wanted() || part.is_wanted() {
        reading.refuse_relative(&mut errors);
    }
    if part.is_wanted() {
        if machines.are_wanted() {
            errors.push(PlanError::new("partial", "--partial: a part is of the logs of this machine", "leave out --agents or --partial"));
        }
        outcome.refuse(&mut errors);
        let place = part.check(&logs, outcome.existing(), &mut errors);
        // Those of other machines are none of this one.
        let logs = if machines.are_wanted() { &[] } else { &logs[..] };
        let opened = open_all(logs, &reading, &mut errors);
        let (Some((place, key)), true) = (place, errors.is_empty()) else { return Err(errors.into()) };
        let survey = reading.survey(wish, key, opened, part.has_targets())?;
        return place.write(&survey.part().with_id(part::random_id()).written());
    }
    part.refuse(&mut errors);
    let outcome = Outcome::check(outcome, &mut errors);
    let part = if machines.are_wanted() {
        if !errors.is_empty() {
            return Err(errors.into());
        }
        let targets = outcome.needs_targets().then(|| "--partial-targets".to_owned());
        let words: Vec<String> = reading.words().into_iter().chain(targets).collect();
        machines.ask(&hosts, &words, &logs)?
    } else {
        let opened = open_all(&logs, &reading, &mut errors);
        if !errors.is_empty() {
            return Err(errors.into());
        }
        // What routes were asked for goes into a scenario's table and into a list of URLs.
        reading.survey(wish, Key::default(), opened, outcome.needs_targets())?.part()
    };
    outcome.tell(part)
}

/// Logs that were opened, and those of them that are read twice.
struct Opened {
    sources: Vec<(String, Box<dyn Read>)>,
    // Where the logs begin is known once all of them are looked at, so what comes only once is kept.
    twice: Vec<Log>,
}

fn open_all(names: &[String], reading: &ReadingArgs, errors: &mut PlanErrors) -> Opened {
    let mut opened = Opened { sources: Vec::new(), twice: Vec::new() };
    for name in names {
        let files = if name == "-" { Ok(vec![name.clone()]) } else { files_of(name) };
        for file in files.unwrap_or_else(|why| {
            errors.push(unreadable(name, &why));
            Vec::new()
        }) {
            let source = if reading.is_part() { Log::open(&file).and_then(|log| twice(log, &mut opened.twice)) } else { open(&file) };
            match source {
                Ok(source) => opened.sources.push((file, source)),
                Err(why) => errors.push(unreadable(&file, &why)),
            }
        }
    }
    opened
}

impl ReadingArgs {
    /// Whether a part of the requests is counted.
    fn is_part(&self) -> bool {
        !(self.only.is_empty() && self.except.is_empty() && self.from.is_none() && self.until.is_none())
    }

    fn decided(&self, errors: &mut PlanErrors) -> Options {
        let form = match self.log_format.as_deref().map(FormChoice::named).transpose() {
            Ok(asked) => asked.unwrap_or_default().with_fields(self.field.iter().cloned()),
            Err(why) => {
                errors.push(PlanError::new(
                    "log_format",
                    format!("--log-format: {why}"),
                    "give the log_format of nginx, the LogFormat of Apache, or one of the names in loadline traffic --help",
                ));
                FormChoice::default()
            }
        };
        Options {
            form,
            only: self.only.iter().filter_map(|given| value("only", given, PATTERN, errors)).collect(),
            except: self.except.iter().filter_map(|given| value("except", given, PATTERN, errors)).collect(),
            from: self.from.as_ref().and_then(|given| value("from", given, MOMENT, errors)),
            to: self.until.as_ref().and_then(|given| value("until", given, MOMENT, errors)),
            // All of a recording is its traffic.
            hosts: vec!["*".to_owned()],
            ..Options::default()
        }
    }

    /// Notes moments that are of the beginning of logs, where each reader has other logs.
    fn refuse_relative(&self, errors: &mut PlanErrors) {
        for (setting, given) in [("from", &self.from), ("until", &self.until)] {
            if let Some(Setting::Value(moment @ (Moment::After(_) | Moment::OfDay(_)))) = given {
                errors.push(PlanError::new(
                    setting,
                    format!("--{setting} '{moment}' is of where logs begin, and each place has logs of its own"),
                    "give the date as well, such as 2024-01-31T13:55, or 2024-01-31T13:55Z where clocks differ",
                ));
            }
        }
    }

    fn personal(&self) -> Personal {
        if self.keep_personal { Personal::Kept } else { Personal::LeftOut }
    }

    fn survey(&self, wish: Options, key: Key, opened: Opened, has_targets: bool) -> Result<Survey, Failed> {
        let mut survey = Survey::with_key(wish.form.clone(), self.personal(), key);
        if self.is_part() {
            let wanted =
                ::replay::wanted(&opened.twice, wish).map_err(|(name, why)| Failed::from(PlanErrors(vec![unreadable(&name, &why)])))?;
            survey = survey.of(wanted);
        }
        if has_targets {
            survey = survey.with_targets();
        }
        for (name, source) in opened.sources {
            let shown = if name == "-" { "standard input" } else { name.as_str() };
            survey.read(shown, source).map_err(|why| Failed::from(PlanErrors(vec![unreadable(&name, &why)])))?;
        }
        Ok(survey)
    }

    /// As words of a command line.
    fn words(&self) -> Vec<String> {
        fn typed<T: ToString>(given: &Setting<T>) -> String {
            match given {
                Setting::Value(value) => value.to_string(),
                Setting::Wrong { text, .. } => text.clone(),
            }
        }
        let mut words = Vec::new();
        words.extend(self.log_format.iter().map(|form| format!("--log-format={form}")));
        words.extend(self.field.iter().map(|field| format!("--field={field}")));
        words.extend(self.only.iter().map(|given| format!("--only={}", typed(given))));
        words.extend(self.except.iter().map(|given| format!("--except={}", typed(given))));
        words.extend(self.from.iter().map(|given| format!("--from={}", typed(given))));
        words.extend(self.until.iter().map(|given| format!("--until={}", typed(given))));
        words.extend(self.keep_personal.then(|| "--keep-personal".to_owned()));
        words
    }
}

/// A log that is read twice.
fn twice(log: Log, kept: &mut Vec<Log>) -> io::Result<Box<dyn Read>> {
    let source = log.read()?;
    kept.push(log);
    Ok(Box::new(source))
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
