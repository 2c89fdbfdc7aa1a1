//! `loadline sweep URL`: a ladder of loads, a table that grows, two charts and a conclusion in words.
//!
//! A sweep takes minutes, and anything may end it: Ctrl-C, a server that dies, a full disk. So its files are written after
//! every level, each whole or not at all, and what was measured until then is always in them.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use engine::net::Network;
use engine::{RunErrorKind, Stop, Urgency, machine};
use plan::{Draft, Given, Ladder, LadderDraft, Level, Plan, PlanError, PlanErrors};

use super::Manner;
use crate::exit::{Exit, Failed};
use crate::files::{DIRECTORY, Files};
use crate::outputs::{Existing, to_stdout};
use crate::screen::Screen;
use crate::{inputs, interrupt};

/// A ladder of loads, and where its results go.
#[derive(Debug, Args)]
pub struct Sweep {
    #[command(flatten)]
    draft: Draft,

    #[command(flatten)]
    ladder: LadderDraft,

    /// Begin the names of all files with this [default: from the path of the URL, or its host]
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    name: Option<String>,

    /// Write files into this directory, made if missing
    #[arg(long, value_name = "DIR", default_value = DIRECTORY, help_heading = "Output")]
    dir: PathBuf,

    /// Replace files that exist
    #[arg(long, help_heading = "Output")]
    force: bool,

    #[command(flatten)]
    manner: Manner,
}

/// The endings of a sweep's files.
pub const ENDINGS: &[&str] = &[".dat", ".json", "_qps_ttlb.png", "_qps_ttlb.svg", "_successrate.png", "_successrate.svg", ".md"];

/// Climbs, and says what it found.
pub fn carry_out(sweep: Sweep) -> Result<Exit, Failed> {
    let Sweep { draft, ladder, name, dir, force, manner } = sweep;
    let mut errors = PlanErrors::default();
    let explicit = ladder.levels.is_some() || ladder.rates.is_some();
    let name = name.unwrap_or_else(|| draft.url.as_deref().map_or_else(String::new, name_of));
    let rungs = decide(draft, ladder, &mut errors);
    let files = Files::new(dir, if name.is_empty() { "sweep".to_owned() } else { name }, ENDINGS);
    files.check(if force { Existing::Replace } else { Existing::Keep }, &mut errors);
    let Some(climb) = rungs.filter(|_| errors.is_empty()) else { return Err(errors.into()) };
    let climb = if explicit { climb } else { climb.shortened() };
    climb.look()?;

    let screen = manner.screen();
    let stop = Stop::new();
    interrupt::raise_on_signal(&stop, screen.clone())?;
    climb.carry_out(&files, manner, &screen, &stop)
}
