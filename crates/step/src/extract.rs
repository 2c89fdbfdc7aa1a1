//! Values taken out of answers, for the requests that follow.

use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

use crate::mistake::Mistake;
use crate::reading::Reading;

/// Where a value is looked for, and in which language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A JSONPath (RFC 9535), in the body: `$.items[0].id`. Gives the JSON value as it is.
    JsonPath,
    /// A regular expression, in the body: its first group that took part, else the whole match.
    Regex,
    /// A header's value, by the header's name.
    Header,
    /// The value of a cookie set by this answer, by the cookie's name.
    Cookie,
    /// A CSS selector, in the body as HTML: the element's text, or `…::attr(name)`.
    Css,
    /// An XPath, in the body as HTML.
    XPath,
    /// The whole body as text; takes no expression.
    Body,
    /// The status as a number; takes no expression.
    Status,
}

impl Kind {
    /// All of them, in the order of the guide.
    pub const ALL: [Self; 8] =
        [Self::JsonPath, Self::Regex, Self::Header, Self::Cookie, Self::Css, Self::XPath, Self::Body, Self::Status];

    /// Its key in a scenario: `json`, `regex`, `header`, `cookie`, `css`, `xpath`, `body`, `status`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        unimplemented!()
    }

    /// The kind with this key.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// Which of several matches is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Which {
    /// The first.
    #[default]
    First,
    /// The last.
    Last,
    /// This one, from 0.
    Nth(usize),
    /// All of them, as a JSON array, up to [`EVERY_MAX`]. None is no array but [`Missing`].
    Every,
    /// How many there are; 0 if none.
    Count,
}

/// More matches than this are not collected by [`Which::Every`] or counted by [`Which::Count`].
pub const EVERY_MAX: usize = 10_000;

/// Takes a value out of answers. Clone one for each thread: its scratch memory is then that thread's own.
#[derive(Debug, Clone)]
pub struct Extractor {}

impl Extractor {
    /// Understands an expression. `text` is ignored by [`Kind::Body`] and [`Kind::Status`].
    ///
    /// # Errors
    /// What is wrong in `text`, and where.
    pub fn compile(_kind: Kind, _text: &str) -> Result<Self, Mistake> {
        unimplemented!()
    }

    /// The same, but taking other matches than the first.
    #[must_use]
    pub fn taking(self, _which: Which) -> Self {
        unimplemented!()
    }

    /// The value in this answer. JSON values keep their type; everything else but status and count is a string.
    ///
    /// # Errors
    /// If it is not there.
    pub fn of(&self, _reading: &Reading<'_>) -> Result<Value, Missing> {
        unimplemented!()
    }
}

/// A value as it is written into a request: a string as it is, anything else as JSON.
#[must_use]
pub fn text_of(_value: &Value) -> Cow<'_, str> {
    unimplemented!()
}

/// An extraction found nothing. Prints as `json $.token found nothing in {"error":"no such user"}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The extraction in the user's words: `json $.token`.
    pub sought: String,
    /// What is wrong: `found nothing`, `the body is not JSON: …`.
    pub reason: String,
    /// What was there, cut to [`EXCERPT_BYTES_MAX`](crate::check::EXCERPT_BYTES_MAX) bytes; may hold secrets, which are the report's to conceal.
    pub found: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, _f: &mut fmt::Formatter<'_>) -> fmt::Result {
        unimplemented!()
    }
}
