//! `loadline man [DIR]`: made from the table of commands, so that the page tells what the program does.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use super::{commands, print};
use crate::exit::{Exit, Failed};
use crate::inputs::plainly;
use crate::outputs::whole;

/// Where to.
#[derive(Debug, Args)]
pub struct Man {
    /// Write loadline.1, loadline-run.1 and so on into this directory, made if missing
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Prints the page, or writes all of them.
pub fn carry_out(man: Man) -> Result<Exit, Failed> {
    let mut table = commands();
    table.build();
    let Some(dir) = man.dir else { return print(&page(table.clone())) };
    write_all(&table, &dir).map_err(|(path, why)| {
        Failed::new(
            Exit::OutputNotWritten,
            format_args!("'{}' cannot be written: {}", path.display(), plainly(&why)),
            "choose a directory you may write to",
        )
    })?;
    Ok(Exit::Done)
}

fn write_all(table: &clap::Command, dir: &Path) -> Result<(), (PathBuf, std::io::Error)> {
    fs::create_dir_all(dir).map_err(|why| (dir.to_owned(), why))?;
    let commands = table.get_subcommands().map(|command| {
        let name = format!("loadline-{}", command.get_name());
        (name.clone(), command.clone().name(name))
    });
    for (name, command) in std::iter::once(("loadline".to_owned(), table.clone())).chain(commands) {
        let path = dir.join(format!("{name}.1"));
        whole(&path, &page(command)).map_err(|why| (path, why))?;
    }
    Ok(())
}

fn page(command: clap::Command) -> Vec<u8> {
    let mut bytes = Vec::new();
    clap_mangen::Man::new(command).render(&mut bytes).expect("memory takes every byte");
    bytes
}
