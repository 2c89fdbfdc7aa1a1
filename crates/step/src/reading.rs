//! One answer, read at most once in each way, however many extractions and checks ask.
//!
//! A step with two extractions and three checks asks the same body five times. Parsing it for each costs five times as much;
//! parsing it beforehand costs even those who only look at the status. So what was read is kept beside the answer until the
//! answer goes, and is read when first asked for.
//!
//! Invariant: what is kept is bounded by constants, whatever was sent: a body beyond [`JSON_BYTES_MAX`] is not read as JSON.

use std::borrow::Cow;
use std::cell::OnceCell;

use plan::work::AnswerPart;
use serde_json::Value;

use crate::answer::{Answer, Exchange};
use crate::html::Document;
use crate::parts;

/// A longer body is not read as JSON: a parsed value may be a hundred times as large as its text.
pub const JSON_BYTES_MAX: usize = 8 * 1024 * 1024;

/// An answer, and what has been read in it so far. Made for each answer; costs nothing until something is asked.
#[derive(Debug)]
pub struct Reading<'a> {
    answer: Answer<'a>,
    /// What it answers, where that is known.
    exchange: Option<Exchange<'a>>,
    json: OnceCell<Result<Value, String>>,
    html: OnceCell<Document>,
}

impl<'a> Reading<'a> {
    /// Nothing is read yet.
    #[must_use]
    pub const fn new(answer: Answer<'a>) -> Self {
        Self { answer, exchange: None, json: OnceCell::new(), html: OnceCell::new() }
    }

    /// The same with what was asked.
    #[must_use]
    pub fn of_exchange(answer: Answer<'a>, exchange: Exchange<'a>) -> Self {
        Self { exchange: Some(exchange), ..Self::new(answer) }
    }

    /// The same answer with this text for a body: a part of it, or what was taken out of it before.
    #[must_use]
    pub fn of_text<'t>(&self, text: &'t [u8]) -> Reading<'t>
    where
        'a: 't,
    {
        Reading { exchange: self.exchange, ..Reading::new(Answer { body: text, ..self.answer }) }
    }

    /// A part of what was asked and answered, as text; nothing of a request that is not known.
    #[must_use]
    pub fn part(&self, part: AnswerPart) -> Cow<'_, [u8]> {
        parts::text(self, part)
    }

    /// What was asked, where that is known.
    #[must_use]
    pub const fn exchange(&self) -> Option<&Exchange<'a>> {
        self.exchange.as_ref()
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
        self.json.get_or_init(|| parsed(self.answer.body)).as_ref().map_err(String::as_str)
    }

    /// The body as HTML, parsed the first time. Anything is HTML, as browsers see it.
    pub(crate) fn html(&self) -> &Document {
        self.html.get_or_init(|| Document::read(self.answer.body))
    }
}

fn parsed(body: &[u8]) -> Result<Value, String> {
    if body.trim_ascii().is_empty() {
        return Err("the body is empty".to_owned());
    }
    if body.len() > JSON_BYTES_MAX {
        return Err(format!("the body has {} bytes: more than {} MiB are not read as JSON", body.len(), JSON_BYTES_MAX >> 20));
    }
    // Some servers begin with a byte order mark, and most clients pass over it (RFC 8259 §8.1).
    serde_json::from_slice(body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body)).map_err(|error| format!("the body is not JSON: {error}"))
}

#[cfg(test)]
mod tests {
    use plan::Nanos;

    use super::*;
    use crate::answer::Headers;

    fn reading(body: &[u8]) -> Reading<'_> {
        Reading::new(Answer { status: 200, headers: Headers::NONE, body, elapsed: Nanos::ZERO })
    }

    #[test]
    fn a_body_is_parsed_once() {
        let reading = reading(b"{\"a\":[1]}");
        assert!(std::ptr::eq(reading.json().unwrap(), reading.json().unwrap()));
        assert!(std::ptr::eq(reading.html(), reading.html()));
    }

    #[test]
    fn what_is_not_json_says_why() {
        let deep = "[".repeat(100_000);
        let large = vec![b' '; JSON_BYTES_MAX].into_iter().chain(*b"1").collect::<Vec<u8>>();
        let cases: [(&[u8], &str); 7] = [
            (b"", "the body is empty"),
            (b" \r\n", "the body is empty"),
            (b"{\"a\":", "the body is not JSON: EOF while parsing a value at line 1 column 5"),
            (b"<html>", "the body is not JSON: expected value at line 1 column 1"),
            (deep.as_bytes(), "the body is not JSON: recursion limit exceeded at line 1 column 128"),
            (b"\"\xff\"", "the body is not JSON: invalid unicode code point at line 1 column 2"),
            (&large, "the body has 8388609 bytes: more than 8 MiB are not read as JSON"),
        ];
        for (body, expected) in cases {
            assert_eq!(reading(body).json(), Err(expected));
        }
        assert_eq!(reading(b"\xef\xbb\xbf1").json(), Ok(&Value::from(1)), "a byte order mark is passed over");
    }
}
