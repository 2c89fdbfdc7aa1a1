//! `loadline completions SHELL`: made from the table of commands, so that no flag is missing.

use clap::Args;
use clap_complete::Shell;

use super::{commands, print};
use crate::exit::{Exit, Failed};

/// For which shell.
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell: load the output with, say, eval "$(loadline completions bash)"
    shell: Shell,
}

/// Prints the completions.
pub fn carry_out(completions: &Completions) -> Result<Exit, Failed> {
    let mut bytes = Vec::new();
    clap_complete::generate(completions.shell, &mut commands(), "loadline", &mut bytes);
    print(&bytes)
}
