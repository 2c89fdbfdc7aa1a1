//! How much of a single run is told: what fits on a screen, or all of it.
//!
//! One setting for every command that measures one load, so that none of them comes to have a report of its own.

use analysis::Reading;
use clap::Args;
use report::Style;

/// Whether the whole report is wanted.
#[derive(Debug, Clone, Copy, Args)]
pub struct Detail {
    /// Print the whole report instead of the one that fits on a screen; loadline show prints it later, too
    #[arg(long, help_heading = "Output")]
    full: bool,
}

impl Detail {
    /// All there is.
    pub const WHOLE: Self = Self { full: true };

    /// The report in words.
    pub fn report(self, reading: &Reading<'_>, style: &Style) -> Vec<u8> {
        if !self.full {
            return report::short(reading, style).into_bytes();
        }
        let mut bytes = Vec::new();
        let text = report::format("text").expect("the text format is in the table");
        (text.render)(reading, style, &mut bytes).expect("memory takes every byte");
        bytes
    }
}
