//! `loadline`: how many requests a second an HTTP server carries, how fast it answers there, and where it starts to fail.
//!
//! The only crate that reads arguments, prints and exits. No thread and no runtime is made before a command needs one, so
//! that `loadline --version` costs what starting a process costs.

mod agents;
mod allowed;
mod bench;
mod calibration;
mod command;
mod destinations;
mod detail;
mod dialect_host;
mod exit;
mod exporting;
mod files;
mod imported;
mod inputs;
mod interrupt;
mod jmeter;
mod keeping;
mod measuring;
mod memory;
mod name;
mod nats;
mod observers;
mod output_args;
mod outputs;
mod patterns;
mod proceedings;
mod profiling;
mod promises;
mod regression;
mod request_log;
mod saved;
mod screen;
mod server_monitor;
mod single_run;
mod step_summary;
mod web;
mod workload;

use std::ffi::OsString;
use std::process::ExitCode;

use resolve::KnownSecrets;

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    if let Some((dialect, words)) = dialects::called(&words) {
        return (dialect.main)(words, &dialect_host::Process).into();
    }
    let line = match command::read(&words) {
        Ok(line) => line,
        Err(error) => return command::refuse(&error, &words),
    };
    // What the command line hides is left out of all that this process says of it.
    let known = KnownSecrets::default();
    match command::carry_out(line, &known) {
        Ok(exit) => exit.into(),
        Err(failed) => {
            screen::complain_without(&known, &failed.to_string());
            failed.exit.into()
        }
    }
}
