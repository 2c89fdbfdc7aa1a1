//! Records of CSV and JSON lines, one after the other, out of any reader.
//!
//! A data file may be larger than memory, cut off, binary, or one line of a hundred megabytes. So it is read in pieces into one
//! buffer, a record has a most, and whatever is no record ends the reading with its line. CSV is that of RFC 4180: fields may
//! stand in quotation marks, and then hold line breaks and, doubled, quotation marks. The `csv` crate was the alternative; it
//! reads more leniently than one wants of test data (a lost quotation mark swallows rows in silence), and tells no offsets at
//! which reading can begin again.

use std::io::Read;

use memchr::{memchr, memchr2, memmem};
use plan::{Delimiter, RowForm, plainly};
use serde_json::{Map, Value};

/// The most bytes of one record: a body larger than this is a file of its own.
pub(crate) const RECORD_BYTES_MAX: usize = 1 << 20;

/// How the records of a file are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Fields between delimiters.
    Csv {
        /// Between two fields.
        delimiter: Delimiter,
        /// Who names them.
        names: Names,
        /// Whether a field may stand in quotation marks.
        quotes: bool,
        /// Whether a row may have fewer fields than there are columns, or more.
        uneven: bool,
    },
    /// An object a line.
    JsonLines,
}

impl Form {
    /// CSV that is written so.
    pub(crate) const fn csv(delimiter: Delimiter, names: Names, RowForm { quotes, uneven, .. }: RowForm) -> Self {
        Self::Csv { delimiter, names, quotes, uneven }
    }
}

/// Who names the columns of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Names {
    /// Its first record, and each of the others has as many fields.
    FirstRecord,
    /// The user: what has no name is not used, and fields behind the last name have none.
    User,
}

/// Whether what is wrong with a row is that it has not as many fields as there are columns.
pub(crate) fn is_uneven(why: &str) -> bool {
    why.starts_with("it has ") && !why.starts_with("it has no ")
}

/// What is no record, and in which line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) line: u64,
    pub(crate) why: String,
}

/// Takes records out of a reader.
pub(crate) struct Records<R> {
    source: R,
    form: Form,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Where `buffer[start]` stands in the source.
    offset: u64,
    /// The number of the next line.
    line: u64,
    ended: bool,
}

/// One record.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) line: u64,
    pub(crate) offset: u64,
}

impl<R: Read> Records<R> {
    /// From the beginning of the source, which is at this offset of its file.
    pub(crate) fn new(source: R, form: Form, offset: u64, buffer_bytes: usize) -> Self {
        Self { source, form, buffer: vec![0; buffer_bytes.max(16)], start: 0, end: 0, offset, line: 1, ended: false }
    }

    /// How its records are written from here on.
    pub(crate) fn set_form(&mut self, form: Form) {
        self.form = form;
    }

    /// The beginning of what follows, at most as much as the buffer holds.
    pub(crate) fn peek(&mut self) -> Result<&[u8], Wrong> {
        while self.end - self.start < self.buffer.len() && !self.ended {
            self.refill()?;
        }
        Ok(&self.buffer[self.start..self.end])
    }

    /// Where what follows stands in the file.
    pub(crate) const fn offset(&self) -> u64 {
        self.offset
    }

    /// The source, read so far.
    pub(crate) fn into_source(self) -> R {
        self.source
    }

    /// The next line that is not blank, which stays to be read.
    pub(crate) fn whole_line(&mut self) -> Result<&[u8], Wrong> {
        loop {
            let line = self.line;
            let Some((length, with_end)) = self.measure()? else { return Ok(&[]) };
            let is_blank = self.buffer[self.start..self.start + length].trim_ascii().is_empty();
            if is_blank {
                self.skip(with_end);
                continue;
            }
            self.line = line;
            return Ok(&self.buffer[self.start..self.start + length]);
        }
    }

    /// Leaves so many bytes out.
    pub(crate) fn skip(&mut self, bytes: usize) {
        self.start += bytes;
        self.offset += bytes as u64;
    }

    /// The next record that is not blank.
    pub(crate) fn next(&mut self) -> Result<Option<Record<'_>>, Wrong> {
        loop {
            let line = self.line;
            let Some((length, with_end)) = self.measure()? else { return Ok(None) };
            let from = self.start;
            let offset = self.offset;
            self.skip(with_end);
            let bytes = self.buffer[from..from + length].strip_suffix(b"\r").unwrap_or(&self.buffer[from..from + length]);
            if bytes.trim_ascii().is_empty() {
                continue;
            }
            if memchr(0, bytes).is_some() {
                return Err(Wrong { line, why: "it holds a NUL byte, so this is no text".to_owned() });
            }
            // The borrow checker wants it taken anew.
            let length = bytes.len();
            return Ok(Some(Record { bytes: &self.buffer[from..from + length], line, offset }));
        }
    }

    /// How long the next record is, without and with its line break.
    fn measure(&mut self) -> Result<Option<(usize, usize)>, Wrong> {
        let line = self.line;
        let mut seen = 0;
        let mut quoted = false;
        loop {
            let rest = &self.buffer[self.start + seen..self.end];
            let found = match self.form {
                Form::Csv { quotes: true, .. } => memchr2(b'\n', b'"', rest),
                Form::Csv { .. } | Form::JsonLines => memchr(b'\n', rest),
            };
            match found {
                Some(at) if rest[at] == b'"' => {
                    quoted = !quoted;
                    seen += at + 1;
                }
                Some(at) => {
                    self.line += 1;
                    seen += at + 1;
                    if !quoted {
                        return Ok(Some((seen - 1, seen)));
                    }
                }
                None if self.ended => {
                    let length = self.end - self.start;
                    if quoted {
                        return Err(Wrong { line, why: "a quotation mark opens in it that is never closed".to_owned() });
                    }
                    return Ok((length > 0).then_some((length, length)));
                }
                None => {
                    seen = self.end - self.start;
                    self.refill()?;
                }
            }
            if seen > RECORD_BYTES_MAX {
                let why = if quoted {
                    "a quotation mark opens in it that is not closed within 1 MiB".to_owned()
                } else {
                    "it is longer than 1 MiB".to_owned()
                };
                return Err(Wrong { line, why });
            }
        }
    }

    /// Reads more behind what is there.
    fn refill(&mut self) -> Result<(), Wrong> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        loop {
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.ended = true,
                Ok(read) => self.end += read,
                Err(why) if why.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(why) => return Err(Wrong { line: self.line, why: format!("it cannot be read: {}", plainly(&why)) }),
            }
            return Ok(());
        }
    }
}

/// Fields of records, one after the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields {
    bytes: Vec<u8>,
    /// Where each field ends.
    ends: Vec<u32>,
}

impl Fields {
    /// The field with this number.
    #[inline]
    pub(crate) fn field(&self, number: usize) -> &[u8] {
        let from = if number == 0 { 0 } else { self.ends[number - 1] as usize };
        &self.bytes[from..self.ends[number] as usize]
    }

    /// Forgets them but keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.shorten(0);
    }

    pub(crate) fn count(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn size_bytes(&self) -> usize {
        self.bytes.len() + self.ends.len() * size_of::<u32>()
    }

    /// Adds one field.
    pub(crate) fn push(&mut self, field: &[u8]) {
        self.bytes.extend_from_slice(field);
        self.end();
    }

    fn end(&mut self) {
        self.ends.push(u32::try_from(self.bytes.len()).expect("fields are kept in pieces far smaller than 4 GiB"));
    }

    fn shorten(&mut self, count: usize) {
        self.ends.truncate(count);
        self.bytes.truncate(self.ends.last().map_or(0, |end| *end as usize));
    }

    /// Adds a record's fields, which must be as many as there are columns. Nothing is added with a mistake.
    pub(crate) fn add(&mut self, record: &[u8], form: Form, columns: &[String]) -> Result<(), String> {
        let before = self.count();
        let added = match form {
            Form::Csv { delimiter, names, quotes, uneven } => self.add_csv(record, delimiter, quotes).and_then(|()| {
                let count = self.count() - before;
                let is_named = names == Names::User;
                let misses_nothing = || columns.get(count..).is_none_or(|missing| missing.iter().all(String::is_empty));
                if uneven || is_named && misses_nothing() {
                    self.shorten(self.count().min(before + columns.len()));
                    (count..columns.len()).for_each(|_| self.push(b""));
                }
                match self.count() - before {
                    found if found == columns.len() => Ok(()),
                    found => {
                        let who = if is_named { "the names of the columns are" } else { "the first line names" };
                        Err(format!("it has {found} field{}, and {who} {}", if found == 1 { "" } else { "s" }, columns.len()))
                    }
                }
            }),
            Form::JsonLines => object(record).and_then(|object| self.add_object(&object, columns)),
        };
        if added.is_err() {
            self.shorten(before);
        }
        added
    }

    /// Adds the fields of a record of CSV.
    pub(crate) fn add_csv(&mut self, record: &[u8], delimiter: Delimiter, quotes: bool) -> Result<(), String> {
        let sign = delimiter.as_bytes();
        let mut rest = record;
        loop {
            let after = if let Some(mut inside) = rest.strip_prefix(b"\"").filter(|_| quotes) {
                loop {
                    let Some(at) = memchr(b'"', inside) else { return Err("a quotation mark opens in it that is not closed".to_owned()) };
                    self.bytes.extend_from_slice(&inside[..at]);
                    inside = &inside[at + 1..];
                    let Some(doubled) = inside.strip_prefix(b"\"") else { break inside };
                    self.bytes.push(b'"');
                    inside = doubled;
                }
            } else {
                let end = if let [byte] = sign { memchr(*byte, rest) } else { memmem::find(rest, sign) };
                let length = end.unwrap_or(rest.len());
                if quotes && memchr(b'"', &rest[..length]).is_some() {
                    return Err("a quotation mark stands inside a field that does not begin with one".to_owned());
                }
                self.bytes.extend_from_slice(&rest[..length]);
                &rest[length..]
            };
            self.end();
            if after.is_empty() {
                return Ok(());
            }
            rest = after.strip_prefix(sign).ok_or("something follows a closing quotation mark")?;
        }
    }

    fn add_object(&mut self, object: &Map<String, Value>, columns: &[String]) -> Result<(), String> {
        for column in columns {
            match object.get(column) {
                None => return Err(format!("it has no '{}'", column.escape_debug())),
                Some(Value::Null) => self.push(b""),
                Some(Value::String(text)) => self.push(text.as_bytes()),
                Some(other) => self.push(other.to_string().as_bytes()),
            }
        }
        Ok(())
    }
}

/// The object that a line of JSON is.
pub(crate) fn object(record: &[u8]) -> Result<Map<String, Value>, String> {
    serde_json::from_slice(record).map_err(|why| {
        let why = why.to_string();
        format!("it is no JSON object: {}", why.split(" at line").next().unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const COMMA: Delimiter = Delimiter::byte(b',');
    const CSV: Form = Form::Csv { delimiter: COMMA, names: Names::FirstRecord, quotes: true, uneven: false };

    /// A reader that gives a few bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let count = self.1.min(into.len()).min(self.0.len());
            into[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn records(text: &[u8], form: Form, at_a_time: usize) -> Result<Vec<(String, u64, u64)>, Wrong> {
        let mut records = Records::new(Slow(text, at_a_time), form, 0, 16);
        let mut found = Vec::new();
        while let Some(Record { bytes, line, offset }) = records.next()? {
            found.push((String::from_utf8_lossy(bytes).into_owned(), line, offset));
        }
        Ok(found)
    }

    fn fields(record: &str) -> Result<Vec<String>, String> {
        let mut fields = Fields::default();
        fields.add_csv(record.as_bytes(), COMMA, true)?;
        Ok((0..fields.count()).map(|number| String::from_utf8_lossy(fields.field(number)).into_owned()).collect())
    }

    #[test]
    fn records_end_at_line_breaks_outside_quotation_marks() {
        let text = b"a,b\r\n\n1,\"x\ny\"\n  \n2,z";
        for at_a_time in 1..20 {
            let found = records(text, CSV, at_a_time).unwrap();
            assert_eq!(found, [("a,b".to_owned(), 1, 0), ("1,\"x\ny\"".to_owned(), 3, 6), ("2,z".to_owned(), 6, 17)]);
        }
    }

    #[test]
    fn fields_are_those_of_rfc_4180() {
        assert_eq!(fields("a,\"b,\"\"c\"\"\",,\"\nd\"").unwrap(), ["a", "b,\"c\"", "", "\nd"]);
        assert_eq!(fields("a,").unwrap(), ["a", ""]);
        for (record, part) in [("a,\"b", "not closed"), ("a,b\"c", "inside a field"), ("\"a\"b,c", "follows a closing")] {
            assert!(fields(record).unwrap_err().contains(part), "{record}");
        }
    }

    #[test]
    fn what_is_no_text_is_told_with_its_line() {
        assert_eq!(records(b"a\nb\0c\n", CSV, 3).unwrap_err().line, 2);
        assert!(records(b"a\n\"b\nc", CSV, 3).unwrap_err().why.contains("never closed"));
        let long = "x".repeat(100 << 20);
        for form in [CSV, Form::JsonLines] {
            let wrong = records(format!("a\n{long}").as_bytes(), form, 1 << 16).unwrap_err();
            assert_eq!((wrong.line, wrong.why.as_str()), (2, "it is longer than 1 MiB"));
        }
    }

    #[test]
    fn an_object_gives_its_values_as_text() {
        let mut fields = Fields::default();
        let columns = ["a", "b", "c", "d"].map(str::to_owned);
        fields.add(br#"{"a":"x\ny","b":5,"c":null,"d":{"e":[1]}}"#, Form::JsonLines, &columns).unwrap();
        let found: Vec<&[u8]> = (0..4).map(|number| fields.field(number)).collect();
        assert_eq!(found, [&b"x\ny"[..], b"5", b"", b"{\"e\":[1]}"]);
        assert!(fields.add(b"{\"a\":1}", Form::JsonLines, &columns).unwrap_err().contains("has no 'b'"));
        assert!(fields.add(b"[1]", Form::JsonLines, &columns).unwrap_err().contains("no JSON object"));
        assert_eq!(fields.count(), 4);
    }

    proptest! {
        #[test]
        fn fields_written_with_quotation_marks_read_back(rows in prop::collection::vec(prop::collection::vec("[a-z,\"\n\r é]{1,6}", 2), 1..6), at_a_time in 1usize..40) {
            let mut text = String::new();
            for row in &rows {
                let quoted: Vec<String> = row.iter().map(|field| format!("\"{}\"", field.replace('"', "\"\""))).collect();
                text += &(quoted.join(",") + "\n");
            }
            let found = records(text.as_bytes(), CSV, at_a_time).unwrap();
            let found: Vec<Vec<String>> = found.iter().map(|(record, ..)| fields(record).unwrap()).collect();
            prop_assert_eq!(found, rows);
        }

        #[test]
        fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(prop_oneof![Just(b'"'), Just(b','), Just(b'\n'), any::<u8>()], 0..200), at_a_time in 1usize..40) {
            if let Ok(found) = records(&bytes, CSV, at_a_time) {
                for (record, ..) in found {
                    let _ = fields(&record);
                }
            }
            let _ = records(&bytes, Form::JsonLines, at_a_time);
        }
    }
}
