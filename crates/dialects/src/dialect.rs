//! Another tool's command line and report: one row of the table of them.
//!
//! Help, links, `loadline compat` and the binary's first look at its words all need to know what there is. A `match` in each of them,
//! the alternative, would forget the next dialect somewhere. Invariant: a row says everything about a dialect that others need.

use std::ffi::OsString;

use crate::host::Host;

/// Another tool's command line and report.
#[derive(Clone, Copy)]
pub struct Dialect {
    /// The tool's name: what stands behind `loadline`, and what a link is called.
    pub name: &'static str,
    /// What it is, in words that follow the name.
    pub about: &'static str,
    /// Does what the words behind the name say, and gives the exit code of the original.
    pub main: fn(&[OsString], &dyn Host) -> u8,
    /// What those words ask for and how far it is supported, without doing it. Files that they name are read.
    pub uses: fn(&[OsString], &dyn Host) -> Vec<Use>,
}

/// One thing a command line or script asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    /// As it was written, such as `--latency` or `wrk.format`.
    pub what: String,
    /// How far it is supported.
    pub support: Support,
}

/// How far something is supported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Support {
    /// As in the original.
    Same,
    /// With another result, which these words explain.
    Differs(String),
    /// Not at all, and these words say what to do.
    Refused(String),
}

/// The exit code of what went well, in every dialect.
pub(crate) const DONE: u8 = 0;
