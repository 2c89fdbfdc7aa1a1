//! Other tools' command lines: wrk, ab, vegeta and others, read, carried out and reported as theirs.
//!
//! Scripts, habits and other people's parsers are built around these tools, so a dialect takes their words, ends with their exit codes
//! and prints their text on standard output. It rests on the engine and on nothing of the binary: the world outside is its [`Host`]'s.
//! A shell script around `loadline run`, the alternative, could neither keep their words for mistakes nor count what only they count.
//!
//! Invariants: an option that cannot be honoured is an error that names it; standard output holds what the original would print and
//! nothing else; everything else goes to standard error, in three lines at most.

mod ab;
mod dialect;
mod getopt;
mod goclient;
mod goflag;
mod hey;
mod host;
mod jmeter;
#[cfg(test)]
mod memory;
mod session;
mod siege;
#[cfg(test)]
mod tests;
mod url;
mod vegeta;
mod webbench;
mod wrk;
mod wrk2;
mod wrktest;

use std::ffi::{OsStr, OsString};
use std::path::Path;

pub use dialect::{Dialect, Support, Use};
pub use host::{Files, Host, Load, Measurement, SamplesFile, TestPlan, TestPlanWords, Verbosity};
pub use wrk::script_uses;

/// Every dialect: help, links and `loadline compat` are made from this table.
pub const DIALECTS: &[Dialect] = &[
    wrk::DIALECT,
    wrk2::DIALECT,
    wrktest::DIALECT,
    ab::DIALECT,
    vegeta::DIALECT,
    hey::DIALECT,
    siege::DIALECT,
    webbench::DIALECT,
    jmeter::DIALECT,
];

/// The dialect of that name.
#[must_use]
pub fn dialect(name: &OsStr) -> Option<&'static Dialect> {
    DIALECTS.iter().find(|dialect| name == dialect.name)
}

/// What the command line asks for in another tool's words, by the name the program was called by or by its first word.
#[must_use]
pub fn called(words: &[OsString]) -> Option<(&'static Dialect, &[OsString])> {
    let (program, rest) = words.split_first()?;
    if let Some(called) = Path::new(program).file_name().and_then(dialect) {
        return Some((called, rest));
    }
    let (first, rest) = rest.split_first()?;
    dialect(first).map(|called| (called, rest))
}
