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
    /// The line as it stands in the file; of a long one, what stands around the mistake.
    pub shown: String,
    /// Where in that it is: so many characters stand before it.
    pub shown_at: usize,
    /// How many characters are meant.
    pub length: usize,
    /// What to do.
    pub help: String,
}

/// Of a long line, so many characters are shown before a mistake, and in all.
const BEFORE_MAX: usize = 60;
const SHOWN_MAX: usize = 100;

impl Mistake {
    /// What of a line is shown of a mistake behind so many characters, and how many of these stand before it then.
    pub(crate) fn around(line: &str, before: usize) -> (String, usize) {
        let from = before.saturating_sub(BEFORE_MAX);
        let mut shown: String = line.chars().skip(from).take(SHOWN_MAX).collect();
        if from == 0 {
            return (shown, before);
        }
        shown.insert(0, '…');
        (shown, before - from + 1)
    }

    /// Where it is, what is wrong, and the line with carets below it.
    #[must_use]
    pub fn said(&self) -> String {
        let Self { file, line, column, message, shown, shown_at, .. } = self;
        let length = self.length.min(shown.chars().count().saturating_sub(*shown_at)).max(1);
        format!("{file}:{line}:{column}: {message}{}", carets(shown, *shown_at, length))
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}\n  help: {}", self.said(), self.help)
    }
}
