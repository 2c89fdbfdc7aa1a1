//! A format of a finished run: a row of the table [`crate::FORMATS`].
//!
//! A row is a function, not a trait: nothing is configured, nothing is kept.
//!
//! Invariant: the same Reading in the same Style gives the same bytes.

use std::io;

use analysis::Reading;

use crate::Style;

/// One way to write down a finished run.
#[derive(Debug, Clone, Copy)]
pub struct Format {
    /// What stands before the equals sign in `--out text=FILE`.
    pub name: &'static str,
    /// What it is for, in words that follow the name.
    pub about: &'static str,
    /// The usual ending of its files, without the dot.
    pub extension: &'static str,
    /// Writes the run. Fails only where writing fails.
    pub render: fn(&Reading<'_>, &Style, &mut dyn io::Write) -> io::Result<()>,
}

/// One file of a result: its name is that of the result and this ending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultFile {
    /// What follows the name, such as `_qps_ttlb.png`.
    pub ending: &'static str,
    /// What it holds, for the line that says where it is.
    pub about: &'static str,
    /// The whole file.
    pub bytes: Vec<u8>,
}
