//! One answer, read at most once in each way, however many extractions and checks ask.

use std::cell::OnceCell;

use serde_json::Value;

use crate::answer::Answer;
use crate::html::Document;

/// An answer, and what has been read in it so far. Made for each answer; costs nothing until something is asked.
#[derive(Debug)]
pub struct Reading<'a> {
    answer: Answer<'a>,
    json: OnceCell<Result<Value, String>>,
    html: OnceCell<Document>,
}

impl<'a> Reading<'a> {
    /// Nothing is read yet.
    #[must_use]
    pub const fn new(answer: Answer<'a>) -> Self {
        Self { answer, json: OnceCell::new(), html: OnceCell::new() }
    }

    /// The answer itself.
    #[must_use]
    pub const fn answer(&self) -> &Answer<'a> {
        &self.answer
    }

    /// The body as JSON, parsed the first time.
    ///
    /// # Errors
    /// Why it is none, in words.
    pub fn json(&self) -> Result<&Value, &str> {
        unimplemented!()
    }
}
