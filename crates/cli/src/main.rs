//! `loadline`: how many requests a second an HTTP server carries, how fast it answers there, and where it starts to fail.
//!
//! The only crate that reads arguments, prints and exits. No thread and no runtime is made before a command needs one, so
//! that `loadline --version` costs what starting a process costs.

mod calibration;
mod command;
mod dialect;
mod drive;
mod exit;
mod exporting;
mod files;
mod filling;
mod imported;
mod inputs;
mod interrupt;
mod keeping;
mod observing;
mod outputs;
mod profiling;
mod promises;
mod regression;
mod saved;
mod scenarios;
mod screen;
mod secrets;
mod single;
mod step_summary;
mod web;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use command::CommandLine;
use exit::Exit;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    if let Some((dialect, words)) = dialect::called(&words) {
        return (dialect.main)(words);
    }
    let line = match CommandLine::try_parse() {
        Ok(line) => line,
        Err(error) => return refuse(&error),
    };
    match command::carry_out(line) {
        Ok(exit) => exit.into(),
        Err(failed) => {
            screen::complain(&failed.text);
            failed.exit.into()
        }
    }
}

/// Says what is wrong with the command line, or the help or version that was asked for.
fn refuse(error: &clap::Error) -> ExitCode {
    // Whoever forgets the command has a URL in hand, and no command is spelled like one.
    if let (ErrorKind::InvalidSubcommand, Some(ContextValue::String(word))) = (error.kind(), error.get(ContextKind::InvalidSubcommand))
        && (word.contains("://") || word.starts_with("localhost") || word.contains('.') || word.contains(':'))
    {
        screen::complain(&format!(
            "error: '{word}' is not a command\n  help: measure one load with 'loadline run {word}', or climb through many with 'loadline sweep {word}'"
        ));
        return Exit::Usage.into();
    }
    // The help of a command goes to standard output; that nobody reads it is not an error.
    let _ = error.print();
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(Exit::Usage as u8))
}
