//! `loadline diff A B`: two sweeps side by side, as a table and as two charts.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use plan::{PlanError, PlanErrors};

use super::Manner;
use crate::exit::{Exit, Failed};
use crate::files::{DIRECTORY, Files};
use crate::inputs::plainly;
use crate::outputs::{Existing, to_stdout};

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

    /// Replace files that exist
    #[arg(long, help_heading = "Output")]
    force: bool,

    #[command(flatten)]
    manner: Manner,
}

/// The endings of a comparison's files.
const ENDINGS: &[&str] = &[".qps.ttlb.diff.png", ".qps.ttlb.diff.svg", ".successrate.diff.png", ".successrate.diff.svg"];
/// x
pub fn carry_out(_: Diff) -> Result<Exit, Failed> { todo!() }
