//! A mistake in a scenario: where it is, what is wrong, and what to do.

use std::fmt;

use plan::carets;

/// A mistake in a scenario, pointed at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The file, as it was named.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// What is wrong, in words.
    pub message: String,
    /// The line as it stands in the file.
    pub shown: String,
    /// How many characters of it are meant.
    pub length: usize,
    /// What to do.
    pub help: String,
}

impl Mistake {
    /// Where it is, what is wrong, and the line with carets below it.
    #[must_use]
    pub fn said(&self) -> String {
        let Self { file, line, column, message, .. } = self;
        // A long line is shown around the mistake.
        const BEFORE_MAX: usize = 60;
        const SHOWN_MAX: usize = 100;
        let before = column.saturating_sub(1);
        let from = before.saturating_sub(BEFORE_MAX);
        let mut shown: String = self.shown.chars().skip(from).take(SHOWN_MAX).collect();
        let mut at = before - from;
        if from > 0 {
            shown.insert(0, '…');
            at += 1;
        }
        let length = self.length.min(shown.chars().count().saturating_sub(at)).max(1);
        format!("{file}:{line}:{column}: {message}{}", carets(&shown, at, length))
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}\n  help: {}", self.said(), self.help)
    }
}
