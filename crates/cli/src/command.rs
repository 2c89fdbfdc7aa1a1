//! The commands, as one table: parsing, help, completions and the man page are all made from it.

mod agent;
mod agents;
mod calibrate;
mod check;
mod compare;
mod compat;
mod completions;
mod curate;
mod demo;
mod diff;
mod find;
mod help;
mod import;
mod init;
mod later;
mod links;
mod man;
mod profile;
mod refusal;
mod replay;
mod report;
mod run;
mod runs;
pub mod serve;
mod show;
mod sweep;
mod traffic;
mod try_once;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use std::ffi::OsString;

use self::later::Later;
use crate::exit::{Exit, Failed};
use crate::outputs::to_stdout;
use resolve::KnownSecrets;

pub use refusal::refuse;

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "loadline",
    version,
    about = "How many requests a second an HTTP server carries, how fast it answers there, and where it fails",
    max_term_width = 100,
    disable_help_subcommand = true
)]
pub struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure one load and report it
    Run(Later<run::Run>),
    /// Send one request or one journey once, and show all of it
    #[command(name = "try")]
    TryOnce(Later<try_once::Try>),
    /// Climb a ladder of loads: a table, charts, and where it ends
    Sweep(Later<sweep::Sweep>),
    /// Find the highest rate that keeps a promise such as 'p99 < 50ms'
    Find(Later<find::Find>),
    /// Put two saved sweeps, runs or searches side by side
    Diff(Later<diff::Diff>),
    /// Tell whether one server is slower than another, by runs in pairs
    Compare(Later<compare::Compare>),
    /// Measure what this machine can send, or how far a target varies
    Calibrate(Later<calibrate::Calibrate>),
    /// Show a saved result again, in words or as FORMAT=FILE
    Report(Later<report::Report>),
    /// Tell what real traffic looks like, from access logs
    Traffic(Later<traffic::Traffic>),
    /// Write a scenario to begin with, which explains itself
    Init(Later<init::Init>),
    /// Tell every mistake in a scenario, and send nothing
    Check(Later<check::Check>),
    /// Send the requests of access logs again, at their times
    Replay(Later<replay::Replay>),
    /// Read a profile of a program: what took most, and what grew
    Profile(Later<profile::Profile>),
    /// See loadline at work on a built-in API; or leave that API running
    Demo(Later<demo::Demo>),
    /// List what was measured before; every result is saved
    Runs(Later<runs::Runs>),
    /// Show saved runs in a browser, and start tests from there
    Serve(Later<serve::Serve>),
    /// Show a saved result again, such as @last
    Show(Later<show::Show>),
    /// Give a saved run words to find it by, or take them away
    Tag(Later<curate::Tag>),
    /// Write a note about a saved run
    Note(Later<curate::Note>),
    /// Set the baseline of a name, or show all
    Baseline(Later<curate::Baseline>),
    /// Write a saved run into a file
    Export(Later<curate::Export>),
    /// Make a scenario from curl, HAR, Postman …; or import results
    Import(Later<import::Import>),
    /// Remove saved runs
    Rm(Later<curate::Remove>),
    /// Remove all saved runs but the newest
    Prune(Later<curate::Prune>),
    /// Say how far another tool's command line or script is supported
    Compat(Later<compat::Compat>),
    /// Make links under which loadline answers to other tools' names
    Links(Later<links::Links>),
    /// Print the completions of a shell
    Completions(Later<completions::Completions>),
    /// Print the man page, or write one for every command
    Man(Later<man::Man>),
    /// Print the help of a command, with all its options
    Help(Later<help::Help>),
    /// Wait at a NATS server for loads of others to carry out
    Agent(Later<agent::Agent>),
    /// List the agents that wait at a NATS server
    Agents(Later<agents::Agents>),
}

/// Carries out what the command line asks for.
///
/// # Errors
/// With what the user should read, and how the program ends.
pub fn carry_out(line: CommandLine, known: &KnownSecrets) -> Result<Exit, Failed> {
    match line.command {
        None => print(WELCOME.as_bytes()),
        Some(Command::Run(run)) => run::carry_out(*run.0, known),
        Some(Command::TryOnce(asked)) => try_once::carry_out(*asked.0, known),
        Some(Command::Sweep(sweep)) => sweep::carry_out(*sweep.0, known),
        Some(Command::Find(find)) => find::carry_out(*find.0, known),
        Some(Command::Diff(diff)) => diff::carry_out(*diff.0),
        Some(Command::Compare(compare)) => compare::carry_out(*compare.0, known),
        Some(Command::Calibrate(calibrate)) => calibrate::carry_out(*calibrate.0, known),
        Some(Command::Report(report)) => report::carry_out(*report.0),
        Some(Command::Traffic(traffic)) => traffic::carry_out(*traffic.0),
        Some(Command::Init(init)) => init::carry_out(&init.0),
        Some(Command::Check(check)) => check::carry_out(*check.0, known),
        Some(Command::Replay(replay)) => replay::carry_out(*replay.0, known),
        Some(Command::Profile(profile)) => profile::carry_out(*profile.0),
        Some(Command::Demo(demo)) => demo::carry_out(*demo.0, known),
        Some(Command::Runs(runs)) => runs::carry_out(*runs.0),
        Some(Command::Serve(serve)) => serve::carry_out(*serve.0),
        Some(Command::Show(show)) => show::carry_out(*show.0),
        Some(Command::Tag(tag)) => curate::tag(*tag.0),
        Some(Command::Note(note)) => curate::note(*note.0),
        Some(Command::Baseline(baseline)) => curate::baseline(*baseline.0),
        Some(Command::Export(export)) => curate::export(*export.0),
        Some(Command::Import(import)) => import::carry_out(*import.0, known),
        Some(Command::Rm(remove)) => curate::remove(*remove.0),
        Some(Command::Prune(prune)) => curate::prune(*prune.0),
        Some(Command::Compat(compat)) => compat::carry_out(&compat.0),
        Some(Command::Links(links)) => links::carry_out(&links.0),
        Some(Command::Completions(completions)) => completions::carry_out(&completions.0),
        Some(Command::Man(man)) => man::carry_out(*man.0),
        Some(Command::Help(help)) => help::carry_out(&help.0),
        Some(Command::Agent(agent)) => agent::carry_out(&agent.0, known),
        Some(Command::Agents(agents)) => agents::carry_out(&agents.0),
    }
}

/// What someone reads who typed the name and nothing else.
const WELCOME: &str = "\
loadline tells how many requests a second an HTTP server carries, how fast it answers there,
and where it starts to fail.

  loadline demo                                   see it at work on a built-in API, in a minute
  loadline run   http://127.0.0.1:8080/healthz    measure one load and report it
  loadline sweep http://127.0.0.1:8080/healthz    climb through a ladder of loads: a table and two charts
  loadline find  http://127.0.0.1:8080/healthz --slo 'p99 < 50ms'
                                                  find the highest rate that keeps a promise
  loadline diff  before.dat after.dat             put two sweeps side by side
  loadline compare http://old:8080/ http://new:8080/
                                                  find out whether the new one is slower
  loadline init                                   write a scenario: users on journeys of several steps
  loadline try scenario.yaml                      go through it once, with every request and answer
  loadline traffic access.log                     what the real traffic looks like
  loadline replay access.log http://127.0.0.1:8080
                                                  send that traffic again, at its own times
  loadline runs                                   what was measured before; loadline show @last
  loadline serve                                  the same in a browser, and tests started from there

loadline COMMAND -h shows the options most people need, --help all of them.
";

/// What these words ask for.
///
/// # Errors
/// If they cannot be read, or ask for help or the version.
pub fn read(words: &[OsString]) -> Result<CommandLine, clap::Error> {
    CommandLine::from_arg_matches(&commands().try_get_matches_from(words)?)
}

/// The table of commands, for what is made from it.
fn commands() -> clap::Command {
    help::in_groups(CommandLine::command())
}

/// Prints, and is done.
fn print(bytes: &[u8]) -> Result<Exit, Failed> {
    to_stdout(bytes).map(|()| Exit::Done).map_err(|why| unprinted(&why))
}

/// What is told where standard output takes nothing.
fn unprinted(why: &std::io::Error) -> Failed {
    Failed::new(
        Exit::OutputNotWritten,
        format_args!("standard output cannot be written: {}", crate::inputs::plainly(why)),
        "make room, or send it elsewhere",
    )
}

/// A setting that loadline gives itself, from its text.
fn given<T: std::str::FromStr<Err = std::convert::Infallible>>(text: &str) -> Option<T> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_commands_is_sound() {
        commands().debug_assert();
    }

    #[test]
    fn the_welcome_names_every_command_that_measures() {
        for name in ["demo", "run", "sweep", "find", "diff", "compare"] {
            assert!(WELCOME.contains(&format!("loadline {name}")), "{name}");
        }
    }
}
