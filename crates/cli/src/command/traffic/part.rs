//! `--partial FILE` and `loadline traffic merge PART…`: a survey in parts, which anything may spread that starts a command and keeps a file.
//!
//! Users, names and values in a part are numbers by a key, so all parts of a survey have the same, and whoever has the parts alone finds no user in
//! them. The key is a file with something secret in it. A key that is always the same was the alternative: with it, all addresses there
//! are can be tried in a minute.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead as _, Read as _};
use std::path::{Path, PathBuf};
use std::thread;

use clap::Args;
use import::{Key, PartError, SurveyPart};
use plan::{PlanError, PlanErrors};

use super::outcome::{Outcome, OutcomeArgs};
use crate::exit::{Exit, Failed};
use crate::inputs::{plainly, whole};
use crate::outputs::{self, Existing, to_stdout};

/// A larger part is none: what is kept of any log is bounded, and takes some hundred megabytes at most.
pub(super) const PART_BYTES_MAX: u64 = 1 << 30;
/// A larger key is a mistake.
const KEY_BYTES_MAX: u64 = 1 << 20;
/// A shorter one can be guessed.
const KEY_BYTES_MIN: usize = 16;
/// In hexadecimal, so that it is one line also where it comes by standard input.
const MAKE_KEY: &str = r"od -An -tx1 -N32 /dev/urandom | tr -d ' \n' > key";

/// A part, as typed.
#[derive(Debug, Args)]
pub(super) struct PartArgs {
    /// Write what these logs say as a part, for loadline traffic merge; - is standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    partial: Option<String>,

    /// The key of all parts of a survey: a file of at least 16 secret bytes; - is a line of standard input
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    partial_key: Option<String>,

    /// Put into the part what each route was asked for, without which merge makes no scenario and no list of URLs
    #[arg(long, help_heading = "Output")]
    partial_targets: bool,

    /// End when standard input does
    #[arg(long, hide = true)]
    attended: bool,
}

/// Parts, and what becomes of them.
#[derive(Debug, Args)]
pub(super) struct MergeArgs {
    /// Parts that were written with --partial and one key, in any order; - is standard input
    #[arg(value_name = "PART", required = true)]
    parts: Vec<String>,

    /// Write all of them as one part again; - is standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    partial: Option<String>,

    #[command(flatten)]
    outcome: OutcomeArgs,
}

/// Where a part goes.
pub(super) enum Place {
    StandardOutput,
    File(PathBuf),
}

impl Place {
    fn check(name: &str, existing: Existing, errors: &mut PlanErrors) -> Self {
        if name == "-" {
            return Self::StandardOutput;
        }
        outputs::look(Path::new(name), "partial", existing, errors);
        Self::File(name.into())
    }

    /// Writes it, whole or not at all.
    pub(super) fn write(&self, bytes: &[u8]) -> Result<Exit, Failed> {
        let written = match self {
            Self::StandardOutput => to_stdout(bytes),
            Self::File(path) => outputs::whole(path, bytes),
        };
        written.map_err(|why| {
            let message = format!("the part could not be written: {}", plainly(&why));
            Failed::new(Exit::OutputNotWritten, message, "make room or choose another place")
        })?;
        Ok(Exit::Done)
    }
}

impl PartArgs {
    pub(super) fn is_wanted(&self) -> bool {
        self.partial.is_some()
    }

    /// Whether it holds what routes were asked for.
    pub(super) fn has_targets(&self) -> bool {
        self.partial_targets
    }

    /// Notes what is for a part where there is none.
    pub(super) fn refuse(&self, errors: &mut PlanErrors) {
        for (flag, is_given) in [("partial-key", self.partial_key.is_some()), ("partial-targets", self.partial_targets)] {
            if is_given {
                errors.push(PlanError::new(
                    flag,
                    format!("--{flag} is for a part, and none is written"),
                    "add --partial FILE, or leave it out",
                ));
            }
        }
    }

    /// Where it goes, and its key.
    pub(super) fn check(&self, logs: &[String], existing: Existing, errors: &mut PlanErrors) -> Option<(Place, Key)> {
        let place = Place::check(self.partial.as_deref()?, existing, errors);
        let Some(name) = self.partial_key.as_deref() else {
            errors.push(PlanError::new(
                "partial-key",
                "--partial takes a key, by which the same user is counted once in all parts and named in none",
                format!("make one for all parts with {MAKE_KEY}, and give --partial-key key"),
            ));
            return None;
        };
        if name == "-" && logs.iter().any(|log| log == "-") {
            errors.push(PlanError::new("partial-key", "standard input holds the key, or a log", "give one of them as a file"));
            return None;
        }
        match key(name) {
            Ok(key) => {
                if self.attended {
                    thread::spawn(end_with_input);
                }
                Some((place, key))
            }
            Err(why) => {
                errors.push(PlanError::new(
                    "partial-key",
                    format!("the key '{name}' cannot be used: {why}"),
                    format!("give a file of at least 16 secret bytes, the same for all parts: {MAKE_KEY}"),
                ));
                None
            }
        }
    }
}

fn key(name: &str) -> Result<Key, String> {
    let mut bytes = Vec::new();
    let read = if name == "-" {
        io::stdin().lock().take(KEY_BYTES_MAX).read_until(b'\n', &mut bytes)
    } else {
        File::open(name).and_then(|file| file.take(KEY_BYTES_MAX).read_to_end(&mut bytes))
    };
    read.map_err(|why| plainly(&why))?;
    if bytes.last() == Some(&b'\n') {
        bytes.pop();
    }
    if bytes.len() < KEY_BYTES_MIN {
        return Err(format!("it has {} bytes, and can be guessed", bytes.len()));
    }
    Ok(key_of(&bytes))
}

/// The key that some secret bytes are.
pub(super) fn key_of(secret: &[u8]) -> Key {
    let sum = resolve::fingerprint(secret);
    Key::new(std::array::from_fn(|at| u8::from_str_radix(&sum[2 * at..2 * at + 2], 16).expect("a checksum is in hexadecimal")))
}

/// A number that no other part has.
pub(super) fn random_id() -> u64 {
    let sum = resolve::fingerprint(serve::random_text().as_bytes());
    u64::from_str_radix(&sum[..16], 16).expect("a checksum is in hexadecimal")
}

/// Ends this process when nobody holds its input any more: whoever asked for it is gone.
fn end_with_input() {
    let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
    std::process::exit(Exit::Interrupted as i32);
}

/// Reads all parts, and says what they say together.
pub(super) fn merge(merge: MergeArgs) -> Result<Exit, Failed> {
    let MergeArgs { parts, partial, outcome } = merge;
    let mut errors = PlanErrors::default();
    let place = partial.map(|name| {
        outcome.refuse(&mut errors);
        Place::check(&name, outcome.existing(), &mut errors)
    });
    let outcome = Outcome::check(outcome, &mut errors);
    let mut whole: Option<SurveyPart> = None;
    let mut ids: BTreeMap<u64, &String> = BTreeMap::new();
    for name in &parts {
        // Once something is wrong nothing is told, but what else is wrong.
        let merged = read(name).and_then(|part| {
            if let Some(before) = part.ids().iter().find_map(|id| ids.get(id)) {
                return Err(twice(name, before));
            }
            ids.extend(part.ids().iter().map(|id| (*id, name)));
            match &mut whole {
                None => {
                    whole = Some(part);
                    Ok(())
                }
                Some(whole) => whole.merge(part).map_err(|why| wrong(name, &why)),
            }
        });
        errors.0.extend(merged.err());
    }
    if place.is_none() && outcome.needs_targets() && whole.as_ref().is_some_and(|whole| !whole.has_targets()) {
        errors.push(PlanError::new(
            "part",
            "not all of these parts hold what routes were asked for, and a scenario or a list of URLs is made of that",
            "write them again with --partial-targets",
        ));
    }
    let Some(whole) = whole.filter(|_| errors.is_empty()) else { return Err(errors.into()) };
    match place {
        Some(place) => place.write(&whole.written()),
        None => outcome.tell(whole),
    }
}

fn read(name: &str) -> Result<SurveyPart, PlanError> {
    let bytes = if name == "-" {
        let mut bytes = Vec::new();
        io::stdin().lock().take(PART_BYTES_MAX).read_to_end(&mut bytes).map(|_| bytes)
    } else {
        whole(name, PART_BYTES_MAX)
    };
    let bytes = bytes.map_err(|why| {
        PlanError::new("part", format!("the part '{name}' cannot be read: {}", plainly(&why)), "give files written with --partial")
    })?;
    SurveyPart::read(&bytes).map_err(|why| wrong(name, &why))
}

fn twice(name: &str, before: &str) -> PlanError {
    let message = if name == before {
        format!("the part '{name}' is given twice, and would be counted twice")
    } else {
        format!("the part '{name}' holds what '{before}' holds, or a part of that, which would be counted twice")
    };
    PlanError::new("part", message, "give each part once: whatever was merged holds its parts")
}

fn wrong(name: &str, why: &PartError) -> PlanError {
    let help = match why {
        PartError::Damaged(_) => "give files written with --partial, and write this one again",
        PartError::Version(_) => "use the same loadline for all parts",
        PartError::Key => "write all parts with the same --partial-key",
        PartError::Personal => "write all parts with --keep-personal, or all without",
        PartError::Twice => "give each part once",
        PartError::Requests => "merge fewer parts",
    };
    PlanError::new("part", format!("the part '{name}' cannot be used: {why}"), help)
}
