//! Which form a file has, and its rows one after the other.
//!
//! Files are named `.jtl`, `.csv`, `.xml` or anything, so the beginning of the bytes decides. A file without a header is recognised by
//! what no other result begins with: a moment, a delimiter, and a number of milliseconds.
//!
//! Invariant: what is read is bounded in memory by one row, and one row by `ROW_BYTES_MAX`.

use std::io::{self, Read};

use thiserror::Error;

use crate::csv::{self, Columns};
use crate::sample::Sample;
use crate::stamp::millis;
use crate::xml;

/// A row that is longer is none: a quote or a tag that nobody closed.
pub(crate) const ROW_BYTES_MAX: usize = 64 << 20;

/// How a result file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A line a row.
    Csv,
    /// An element a row.
    Xml,
}

/// Whether a row tells when the first byte came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstByte {
    /// `latency_ms` is it.
    Known,
    /// The file does not tell.
    Unknown,
}

/// Why a file cannot be read, in words that follow its name.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The system does not give it.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A row is none.
    #[error("line {line}: {why}")]
    Row {
        /// From 1.
        line: u64,
        /// What is wrong there.
        why: String,
    },
}

impl Form {
    /// What a file of JMeter's is by its beginning, of which a few thousand bytes are enough; `None` of any other file.
    #[must_use]
    pub fn of(beginning: &[u8]) -> Option<Self> {
        let beginning = beginning.strip_prefix(csv::BYTE_ORDER_MARK).unwrap_or(beginning).trim_ascii_start();
        if beginning.starts_with(b"<") {
            return memchr::memmem::find(beginning, b"<testResults").map(|_| Self::Xml);
        }
        let line = beginning.split(|byte| *byte == b'\n').next().unwrap_or_default();
        (Columns::of_header(line).is_some() || Columns::of_row(line).is_some()).then_some(Self::Csv)
    }
}

/// Hands the rows of a file to `each`, in their order. Gives the line at which the file breaks off in the middle of a row, if it does: that
/// row is left out.
///
/// # Errors
/// If it cannot be read, or a row is none.
pub fn read(from: impl Read, form: Form, each: impl FnMut(&Sample<'_>, FirstByte)) -> Result<Option<u64>, ReadError> {
    match form {
        Form::Csv => csv::read(from, each),
        Form::Xml => xml::read(from, each),
    }
}

/// A whole number of decimal digits alone; `None` if it is none, or beyond 64 bits.
pub(crate) fn whole(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 19 {
        return None;
    }
    text.iter().try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + u64::from(byte - b'0')))
}

/// A sample that took longer than a month took no such time.
const ELAPSED_MS_MAX: u64 = 31 * 86_400_000;
/// Of a value that is told in an error.
const VALUE_LETTERS_MAX: usize = 60;

fn wrong(line: u64, name: &str, value: &[u8], what: &str) -> ReadError {
    let value: String = String::from_utf8_lossy(value).chars().take(VALUE_LETTERS_MAX).collect();
    ReadError::Row { line, why: format!("{name} is '{value}', which is {what}") }
}

/// The error of a value that is no whole number.
pub(crate) fn no_number(line: u64, name: &str, value: &[u8]) -> ReadError {
    wrong(line, name, value, "no whole number")
}

/// When a sample began, in milliseconds since 1970 UTC.
///
/// # Errors
/// If the value is no moment.
pub(crate) fn moment(line: u64, name: &str, value: &[u8]) -> Result<u64, ReadError> {
    millis(value).ok_or_else(|| wrong(line, name, value, "neither milliseconds since 1970 nor a date such as 2026/01/05 10:00:00.123"))
}

/// The time that a sample took, in milliseconds.
///
/// # Errors
/// If no sample takes that long.
pub(crate) fn checked_elapsed(line: u64, elapsed_ms: u64) -> Result<u64, ReadError> {
    let too_long = || ReadError::Row { line, why: format!("a sample took {elapsed_ms} ms, which is more than a month") };
    if elapsed_ms > ELAPSED_MS_MAX { Err(too_long()) } else { Ok(elapsed_ms) }
}

/// A row of several samples together (JMeter's statistical mode) does not tell how long each took.
///
/// # Errors
/// If it is of more than one.
pub(crate) fn check_single(line: u64, samples: u64) -> Result<(), ReadError> {
    if samples <= 1 {
        return Ok(());
    }
    let why = format!(
        "it stands for {samples} samples together, so how long each took is not in the file: let JMeter save each of them (mode=Standard)"
    );
    Err(ReadError::Row { line, why })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_jmeter_is_known_by_its_beginning_and_others_are_not() {
        let csv = [
            "timeStamp,elapsed,label\n1,2,a",
            "\u{feff}label;elapsed;timeStamp\n",
            "timeStamp\telapsed\tlabel\tresponseCode\n",
            "1767607200123,120,home,200,OK,t 1-1,text,true,843,110\n",
            "2014/01/05 10:00:00.123|120|home|200|OK|t 1-1|text|true|843|110\n",
        ];
        assert!(csv.iter().all(|text| Form::of(text.as_bytes()) == Some(Form::Csv)));
        assert_eq!(Form::of(b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testResults version=\"1.2\">\n"), Some(Form::Xml));
        let others =
            ["", "{\"schema\": \"loadline.run/1\"}", "# users qps\n10 500 2.1 100\n", "10,500,2.1,100\n", "<html>", "<jmeterTestPlan>"];
        assert!(others.iter().all(|text| Form::of(text.as_bytes()).is_none()));
    }

    #[test]
    fn a_whole_number_is_digits_and_nothing_else() {
        let read = ["0", "1767607200123", "", "-1", "1.5", "12a", "99999999999999999999"].map(|text| whole(text.as_bytes()));
        assert_eq!(read, [Some(0), Some(1_767_607_200_123), None, None, None, None, None]);
    }
}
