//! A mistake in what a user wrote for a Step.
//!
//! A scenario file is long, and "invalid selector" in it is no help. So a mistake knows which bytes of the text it is about;
//! who read the file knows where that text stands in it.

use std::fmt;

/// A mistake in the text of an extraction, a check or a body: where, what, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// Its first byte in the text that was compiled.
    pub at: usize,
    /// How many bytes it is about; at least one, and beyond the text's end if something is missing there.
    pub length: usize,
    /// What is wrong, in words.
    pub message: String,
    /// What to do.
    pub help: String,
}
