//! `loadline profile top FILE` and `loadline profile diff A B`: where a program spent its time, and what of that grew.
//!
//! Whoever has a profile from elsewhere, of whatever runtime, need not have its own viewer installed to read it.

use std::fs::File;
use std::io::{self, Read as _};

use ::profile::{BYTES_MAX, Order, Profile as Read, Regex, Selection};
use clap::{Args, Subcommand, ValueEnum};
use measure::RunProfile;
use plan::{PlanError, PlanErrors};
use report::{Document, profiles, visible};

use crate::exit::{Exit, Failed};
use crate::inputs::plainly;
use crate::keeping::{At, ReadError};

/// What is done with profiles.
#[derive(Debug, Args)]
pub struct Profile {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List the functions that spent most, as go tool pprof -top does
    Top(Top),
    /// Tell what grew from one profile to another, as shares of all that was spent
    Diff(Diff),
}

#[derive(Debug, Args)]
struct Top {
    /// A profile: of pprof, folded stacks, what perf script prints, or a .cpuprofile; packed with gzip or not; - is standard input
    #[arg(value_name = "FILE")]
    file: String,

    #[command(flatten)]
    choice: Chosen,

    /// Only what was spent in stacks with a function whose name matches this regular expression
    #[arg(long, value_name = "REGEX")]
    focus: Option<String>,

    /// List at most N functions; none below half a per cent is listed
    #[arg(long, short = 'n', value_name = "N", default_value = "30")]
    rows: usize,

    /// Put first what spent most by itself (flat) or with all that it called (cum)
    #[arg(long, value_name = "flat|cum", default_value = "flat", hide_possible_values = true)]
    sort: Sort,
}

#[derive(Debug, Args)]
struct Diff {
    /// What it was: a profile as for top, or a saved run that has one, such as @baseline or run.json
    #[arg(value_name = "A")]
    a: String,

    /// What it is now, such as @last
    #[arg(value_name = "B")]
    b: String,

    #[command(flatten)]
    choice: Chosen,

    /// Go by what functions spent by themselves (flat) or with all that they called (cum)
    #[arg(long, value_name = "flat|cum", default_value = "cum", hide_possible_values = true)]
    sort: Sort,

    #[command(flatten)]
    at: At,
}

#[derive(Debug, Args)]
struct Chosen {
    /// Of a profile with several kinds of values, this one, such as alloc_space [default: what it says is usual, or its last]
    #[arg(long, value_name = "NAME")]
    kind: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sort {
    Flat,
    Cum,
}

impl From<Sort> for Order {
    fn from(sort: Sort) -> Self {
        match sort {
            Sort::Flat => Self::Flat,
            Sort::Cum => Self::Cum,
        }
    }
}

/// Reads, and prints what it shows.
pub fn carry_out(profile: Profile) -> Result<Exit, Failed> {
    match profile.action {
        Action::Top(top) => list(top),
        Action::Diff(diff) => compare(diff),
    }
}

fn list(top: Top) -> Result<Exit, Failed> {
    let Top { file, choice, focus, rows, sort } = top;
    let mut errors = PlanErrors::default();
    let focus = focus.and_then(|text| match Regex::new(&text) {
        Ok(focus) => Some(focus),
        Err(why) => {
            errors.push(PlanError::new(
                "focus",
                format!("--focus '{text}' is no regular expression: {why}"),
                "write a part of a name, such as 'json'",
            ));
            None
        }
    });
    if rows == 0 {
        errors.push(PlanError::new("rows", "--rows 0 lists nothing", "give at least 1"));
    }
    let read = profile_of(&file, choice.kind.as_deref(), &mut errors);
    let Some(read) = read.filter(|_| errors.is_empty()) else { return Err(errors.into()) };
    let selection = Selection { order: sort.into(), focus, rows_max: Some(rows) };
    super::print(::profile::top(&read, &selection).text(visible).as_bytes())
}

fn compare(diff: Diff) -> Result<Exit, Failed> {
    let Diff { a, b, choice, sort, at } = diff;
    let mut errors = PlanErrors::default();
    let sides = [&a, &b].map(|name| side(name, choice.kind.as_deref(), &at, &mut errors));
    let [Some(before), Some(after)] = sides else { return Err(errors.into()) };
    let order = Order::from(sort);
    let changes = ::profile::changes(&before, &after, order).map_err(|why| {
        let help = "give two profiles of the same, or choose what both have with --kind";
        Failed::from(PlanErrors(vec![PlanError::new("profile", format!("'{a}' and '{b}' cannot be compared: {why}"), help)]))
    })?;
    let about = |name: &str, profiled: &RunProfile| format!("  {}: {}\n", visible(name), profiles::in_all(profiled));
    let names = apart([&a, &b]);
    let text = format!("\n{}{}\n{}", about(&a, &before), about(&b, &after), profiles::difference(&changes, names, order));
    super::print(text.as_bytes())
}

/// Two files by their last words, as many as tell them apart: those that are taken are often all called alike.
fn apart(paths: [&str; 2]) -> [&str; 2] {
    let last = |path: &str, words: usize| path.rmatch_indices('/').nth(words - 1).map_or(0, |(at, _)| at + 1);
    let depth = paths.map(|path| path.matches('/').count()).into_iter().max().unwrap_or(0);
    let short = |words| paths.map(|path| &path[last(path, words)..]);
    (1..=depth + 1).map(short).find(|[a, b]| a != b).unwrap_or(short(1))
}

const HELP: &str = "give a profile: what --profile-out or curl wrote, py-spy --format raw, perf script > FILE, or a .cpuprofile";

/// A profile, or that of a saved run.
fn side(name: &str, kind: Option<&str>, at: &At, errors: &mut PlanErrors) -> Option<RunProfile> {
    if name.starts_with('@') || is_saved_run(name) {
        let bytes = match at.read(name) {
            Ok((bytes, _)) => bytes,
            Err(ReadError::File(why)) => {
                errors.push(unreadable(name, &plainly(&why)));
                return None;
            }
            Err(ReadError::Reference(failed)) => {
                errors.push(failed.in_plan("profile"));
                return None;
            }
        };
        return match Document::read(&String::from_utf8_lossy(&bytes)) {
            Ok(Document::Run(run, _)) => {
                let known: Vec<String> = run.profiles.iter().map(|it| visible(&it.kind)).collect();
                let found = run.profiles.iter().find(|it| kind.is_none_or(|kind| it.kind == kind)).cloned();
                if found.is_none() {
                    let has = if known.is_empty() { "no profile".to_owned() } else { format!("only profiles of {}", known.join(", ")) };
                    errors.push(PlanError::new("profile", format!("'{name}' has {has}"), "measure with --profile"));
                }
                found
            }
            Ok(other) => {
                let why = format!("'{name}' is the result of loadline {}, and not of a run", other.command());
                errors.push(PlanError::new("profile", why, "give a run that was measured with --profile"));
                None
            }
            Err(why) => {
                errors.push(unreadable(name, &why.to_string()));
                None
            }
        };
    }
    profile_of(name, kind, errors).map(|read| ::profile::kept(&read))
}

/// Whether it is a file that a run was saved in, by how that begins.
fn is_saved_run(name: &str) -> bool {
    let mut head = Vec::new();
    let read = File::open(name).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    read.is_ok() && String::from_utf8_lossy(&head).contains("\"loadline.run/")
}

/// Its first key is its schema.
const HEAD_BYTES: u64 = 64;

fn profile_of(name: &str, kind: Option<&str>, errors: &mut PlanErrors) -> Option<Read> {
    let bytes = match bytes(name) {
        Ok(bytes) => bytes,
        Err(why) => {
            errors.push(unreadable(name, &plainly(&why)));
            return None;
        }
    };
    match ::profile::read(&bytes, kind) {
        Ok(read) => Some(read),
        Err(why) => {
            errors.push(PlanError::new("profile", format!("'{name}' cannot be used: {}", visible(&why.to_string())), HELP));
            None
        }
    }
}

/// A file, up to a byte more than is read of a profile.
fn bytes(name: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = BYTES_MAX as u64 + 1;
    if name == "-" {
        io::stdin().lock().take(most).read_to_end(&mut bytes)?;
    } else {
        let file = File::open(name)?;
        if file.metadata()?.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        file.take(most).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

fn unreadable(name: &str, why: &str) -> PlanError {
    PlanError::new("profile", format!("the profile '{name}' cannot be read: {why}"), HELP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_called_by_as_many_of_their_last_words_as_tell_them_apart() {
        for (paths, names) in [
            (["before/cpu.pprof", "/x/after/heap.pprof"], ["cpu.pprof", "heap.pprof"]),
            (["before/cpu.pprof", "/x/after/cpu.pprof"], ["before/cpu.pprof", "after/cpu.pprof"]),
            (["a/run/cpu.pprof", "b/run/cpu.pprof"], ["a/run/cpu.pprof", "b/run/cpu.pprof"]),
            (["cpu.pprof", "old/cpu.pprof"], ["cpu.pprof", "old/cpu.pprof"]),
            (["@last", "@last"], ["@last", "@last"]),
        ] {
            assert_eq!(apart(paths), names);
        }
    }
}
