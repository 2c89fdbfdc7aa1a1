//! Promises about one answer.

use std::fmt;

use crate::mistake::Mistake;
use crate::reading::Reading;

/// Examples are cut to so many bytes.
pub const EXCERPT_BYTES_MAX: usize = 200;

/// What of an answer a check is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// The status: `200`, `2xx`, `200, 204`, `200-299`, `not 5xx`.
    Status,
    /// The header of this name: any one of them, if there are several.
    Header(String),
    /// The cookie of this name set by the answer.
    Cookie(String),
    /// The whole body.
    Body,
    /// The value at this JSONPath.
    Json(String),
    /// The text or attribute at this CSS selector.
    Css(String),
    /// What this XPath gives.
    XPath(String),
    /// The bytes of the body: `< 10 KiB`.
    Size,
    /// The time of the request: `< 200ms`.
    Time,
}

/// A promise about an answer, understood before the run. Clone one for each thread.
///
/// Conditions: `exists`, `missing`, `VALUE` or `== VALUE`, `!= VALUE`, `< <= > >= NUMBER`, `contains TEXT`, `starts with TEXT`,
/// `ends with TEXT`, `matches REGEX`, `length N` or `length >= N`; `not` before any of them. A value may stand in double quotes.
#[derive(Debug, Clone)]
pub struct Check {}

impl Check {
    /// Understands a condition on a subject. `at` in the [`Mistake`] counts in `condition`, or in the name or path of the
    /// subject if [`Wrong::in_subject`](Mistaken) says so.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn compile(_subject: &Subject, _condition: &str) -> Result<Self, Mistaken> {
        unimplemented!()
    }

    /// Understands a check on one line: `status 2xx`, `header Content-Type contains json`, `json $.items length > 0`,
    /// `body contains "welcome"`, `time < 200ms`, `size < 10 KiB`, `cookie session exists`, `css "h1" == Hello`.
    ///
    /// # Errors
    /// What is wrong, and where in the line.
    pub fn parse(_line: &str) -> Result<Self, Mistake> {
        unimplemented!()
    }

    /// The check in words, as reports name it: `json $.items length > 0`. The same for the same check however it was written.
    #[must_use]
    pub fn words(&self) -> &str {
        unimplemented!()
    }

    /// Whether it holds.
    ///
    /// # Errors
    /// What was there instead.
    pub fn of(&self, _reading: &Reading<'_>) -> Result<(), Broken> {
        unimplemented!()
    }
}

/// A mistake in one half of a check that was given in two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mistaken {
    /// In the name, path or selector of the subject.
    Subject(Mistake),
    /// In the condition.
    Condition(Mistake),
}

/// A check did not hold. Prints as `status 2xx: was 503`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The check's own words.
    pub check: String,
    /// What was promised, of the value: `2xx`, `length > 0`.
    pub expected: String,
    /// What was there, cut to [`EXCERPT_BYTES_MAX`] bytes; may hold secrets, which are the report's to conceal.
    pub actual: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        unimplemented!()
    }
}
