//! Rows of a CSV file, as they stand in a buffer.
//!
//! A file of a long test has gigabytes, and a tester waits for them. So rows are found by looking for line breaks and delimiters in a
//! buffer, a row is looked at once for whether it is UTF-8, and texts are borrowed from it; only a field with doubled quotes is copied. A crate for CSV was rejected: none takes a
//! delimiter that is guessed from a header, tells a last line that was cut off from a wrong one, and names the line of each row.
//!
//! Invariant: a row is one of the header's columns, or it is told with its line.

use std::borrow::Cow;
use std::io::{ErrorKind, Read};

use memchr::{memchr, memchr2};

use crate::read::{FirstByte, ROW_BYTES_MAX, ReadError, check_single, checked_elapsed, moment, no_number, whole};
use crate::sample::Sample;
use crate::stamp::millis;
use crate::write::HEADER;

/// What programs on Windows begin a text in UTF-8 with.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// What is read at once.
const BUFFER_BYTES: usize = 256 << 10;
/// What JMeter was ever told to separate columns with, where no header tells.
const DELIMITERS: [u8; 4] = *b",;\t|";

/// The columns that JMeter writes by default, of a file without a header known by their number: of 5.x, of 3.1 to 4, of 3.0, of 2.x.
const DEFAULTS: [&str; 4] = [
    HEADER,
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,\
     Latency,IdleTime,Connect",
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,grpThreads,allThreads,Latency,\
     IdleTime",
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,bytes,Latency",
];

/// Where in a row what stands; columns that are not asked for (file names, variables) have no place.
#[derive(Debug, Clone, Default)]
pub(crate) struct Columns {
    delimiter: u8,
    count: usize,
    time_stamp: Option<usize>,
    elapsed: Option<usize>,
    label: Option<usize>,
    response_code: Option<usize>,
    response_message: Option<usize>,
    thread_name: Option<usize>,
    data_type: Option<usize>,
    success: Option<usize>,
    failure_message: Option<usize>,
    bytes: Option<usize>,
    sent_bytes: Option<usize>,
    group_threads: Option<usize>,
    all_threads: Option<usize>,
    url: Option<usize>,
    latency: Option<usize>,
    idle: Option<usize>,
    connect: Option<usize>,
    sample_count: Option<usize>,
}

impl Columns {
    /// By a header, which names at least one of JMeter's columns first; `None` if the line is none.
    pub(crate) fn of_header(line: &[u8]) -> Option<Self> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'"');
        let delimiter = *line.iter().find(|byte| !is_of_name(byte))?;
        let mut columns = Self { delimiter, ..Self::default() };
        for (place, name) in line.split(|byte| *byte == delimiter).enumerate() {
            columns.count += 1;
            // Programs that are not JMeter quote every name.
            let name = name.strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\"")).unwrap_or(name).trim_ascii();
            match columns.place_of(name) {
                Some(column) => *column = Some(place),
                None if place == 0 => return None,
                None => {}
            }
        }
        Some(columns)
    }

    /// By a first row without a header before it; `None` if it is none.
    pub(crate) fn of_row(line: &[u8]) -> Option<Self> {
        let delimiter = *line.iter().find(|byte| DELIMITERS.contains(byte))?;
        let mut fields = line.split(|byte| *byte == delimiter);
        let is_moment = millis(fields.next()?).is_some_and(|at| at >= MOMENT_LEAST_MS);
        let is_row = is_moment && whole(fields.next()?).is_some();
        let count = columns_of(line, delimiter);
        let header = DEFAULTS.into_iter().find(|header| columns_of(header.as_bytes(), b',') == count)?;
        is_row.then(|| Self { delimiter, ..Self::of_header(header.as_bytes()).unwrap_or_default() })
    }

    fn place_of(&mut self, name: &[u8]) -> Option<&mut Option<usize>> {
        Some(match name {
            b"timeStamp" => &mut self.time_stamp,
            b"elapsed" => &mut self.elapsed,
            b"label" => &mut self.label,
            b"responseCode" => &mut self.response_code,
            b"responseMessage" => &mut self.response_message,
            b"threadName" => &mut self.thread_name,
            b"dataType" => &mut self.data_type,
            b"success" => &mut self.success,
            b"failureMessage" => &mut self.failure_message,
            b"bytes" => &mut self.bytes,
            b"sentBytes" => &mut self.sent_bytes,
            b"grpThreads" => &mut self.group_threads,
            b"allThreads" => &mut self.all_threads,
            b"URL" => &mut self.url,
            b"Latency" => &mut self.latency,
            b"IdleTime" => &mut self.idle,
            b"Connect" => &mut self.connect,
            b"SampleCount" => &mut self.sample_count,
            _ => return None,
        })
    }

    /// # Errors
    /// If a column is missing without which there is no run.
    fn checked(self, line: u64) -> Result<Self, ReadError> {
        let missing = [("timeStamp", self.time_stamp), ("elapsed", self.elapsed)].into_iter().find(|(_, place)| place.is_none());
        match missing {
            Some((name, _)) => {
                Err(ReadError::Row { line, why: format!("there is no column {name} in the header, and without it there is no run") })
            }
            None => Ok(self),
        }
    }
}

/// How many columns a line has; delimiters within quotes are none.
fn columns_of(line: &[u8], delimiter: u8) -> usize {
    let mut is_quoted = false;
    let ends = line.iter().filter(|byte| {
        is_quoted ^= **byte == b'"';
        !is_quoted && **byte == delimiter
    });
    ends.count() + 1
}

/// In a row without a header, the first number is at least this: September 2001 in milliseconds. Smaller ones are something else's.
const MOMENT_LEAST_MS: u64 = 1_000_000_000_000;

/// A field of a row, without its quotes.
#[derive(Debug, Clone, Copy, Default)]
struct Field {
    from: usize,
    to: usize,
    has_doubled_quotes: bool,
}

/// A row in the buffer.
#[derive(Debug, Clone, Copy)]
struct Record {
    from: usize,
    to: usize,
    has_quotes: bool,
    /// No line break stands behind it.
    is_open: bool,
}

/// As [`crate::read()`], of a CSV file.
pub(crate) fn read(from: impl Read, mut each: impl FnMut(&Sample<'_>, FirstByte)) -> Result<Option<u64>, ReadError> {
    let mut rows =
        Rows { from, buffer: vec![0; BUFFER_BYTES], start: 0, end: 0, is_over: false, line: 0, next_line: 1, fields: Fields::default() };
    let mut columns: Option<Columns> = None;
    while let Some(record) = rows.find()? {
        let Record { from, to, is_open, .. } = record;
        if from == to {
            continue;
        }
        let header = |rows: &Rows<_>| Columns::of_header(&rows.buffer[from..to]).map(|header| header.checked(rows.line)).transpose();
        let known: &Columns = match &columns {
            Some(known) => known,
            None => {
                if let Some(header) = header(&rows)? {
                    columns = Some(header);
                    continue;
                }
                let why =
                    format!("there is neither a header nor a row of JMeter's default columns: put the header before it, such as {HEADER}");
                columns.insert(Columns::of_row(&rows.buffer[from..to]).ok_or_else(|| rows.wrong(&why))?)
            }
        };
        let first_byte = if known.latency.is_some() { FirstByte::Known } else { FirstByte::Unknown };
        let error = match rows.split(record, known.delimiter).and_then(|()| rows.sample(record, known)) {
            Ok(sample) => {
                each(&sample, first_byte);
                continue;
            }
            Err(error) => error,
        };
        // Files that were put one behind the other have a header each.
        match header(&rows)? {
            Some(header) => columns = Some(header),
            None if is_open => return Ok(Some(rows.line)),
            None => return Err(error),
        }
    }
    Ok(None)
}

struct Rows<R> {
    from: R,
    buffer: Vec<u8>,
    /// What of the buffer was read from the file and not handed on.
    start: usize,
    end: usize,
    is_over: bool,
    /// Of the row that was found last.
    line: u64,
    next_line: u64,
    fields: Fields,
}

/// Where the fields of a row are in it.
#[derive(Debug, Default)]
struct Fields {
    /// Of a row without quotes: where each ends. Behind the first `count` of them stands what earlier rows left.
    ends: Vec<usize>,
    /// Of a row with quotes.
    quoted: Vec<Field>,
    count: usize,
    are_quoted: bool,
}

impl Fields {
    /// Those of a row without quotes.
    fn set_plain(&mut self, row: &[u8], delimiter: u8) {
        if self.ends.len() <= row.len() {
            self.ends.resize(row.len() + 1, 0);
        }
        let ends = &mut self.ends[..=row.len()];
        let wanted = u64::from_ne_bytes([delimiter; 8]);
        let mut count = 0;
        // Fields are a few bytes long: eight bytes at a time are looked at together, and not one field after the other looked for.
        let (eights, rest) = row.as_chunks::<8>();
        for (place, eight) in eights.iter().enumerate() {
            let mut marks = zero_bytes(u64::from_le_bytes(*eight) ^ wanted);
            while marks != 0 {
                ends[count] = place * 8 + marks.trailing_zeros() as usize / 8;
                count += 1;
                marks &= marks - 1;
            }
        }
        for (at, byte) in (eights.len() * 8..).zip(rest) {
            if *byte == delimiter {
                ends[count] = at;
                count += 1;
            }
        }
        ends[count] = row.len();
        (self.count, self.are_quoted) = (count + 1, false);
    }

    /// The field at that place; an empty one behind the last.
    fn at(&self, place: usize) -> Field {
        if place >= self.count {
            Field::default()
        } else if self.are_quoted {
            self.quoted[place]
        } else {
            let from = if place == 0 { 0 } else { self.ends[place - 1] + 1 };
            Field { from, to: self.ends[place], has_doubled_quotes: false }
        }
    }
}

impl<R: Read> Rows<R> {
    /// Finds the next row.
    fn find(&mut self) -> Result<Option<Record>, ReadError> {
        self.line = self.next_line;
        let mut searched = self.start;
        let (mut is_quoted, mut has_quotes) = (false, false);
        loop {
            while let Some(at) = memchr2(b'\n', b'"', &self.buffer[searched..self.end]) {
                let at = searched + at;
                searched = at + 1;
                match self.buffer[at] {
                    b'"' => (is_quoted, has_quotes) = (!is_quoted, true),
                    _ => {
                        self.next_line += 1;
                        if !is_quoted {
                            let record =
                                Record { from: self.start, to: without_return(&self.buffer, self.start, at), has_quotes, is_open: false };
                            self.start = searched;
                            return Ok(Some(record));
                        }
                    }
                }
            }
            if self.is_over {
                let record = Record { from: self.start, to: without_return(&self.buffer, self.start, self.end), has_quotes, is_open: true };
                self.start = self.end;
                return Ok((record.from < record.to).then_some(record));
            }
            searched = self.end - self.start;
            self.fill()?;
        }
    }

    /// Reads on; what is there moves to the beginning of the buffer.
    fn fill(&mut self) -> Result<(), ReadError> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        if self.end == self.buffer.len() {
            if self.end >= ROW_BYTES_MAX {
                let why = "a row of more than 64 MB: a quote was opened and not closed".to_owned();
                return Err(ReadError::Row { line: self.line, why });
            }
            self.buffer.resize(self.end * 2, 0);
        }
        let is_first = self.end == 0 && self.line == 1;
        loop {
            match self.from.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.is_over = true,
                Ok(read) => self.end += read,
                Err(why) if why.kind() == ErrorKind::Interrupted => continue,
                Err(why) => return Err(why.into()),
            }
            break;
        }
        if is_first && self.buffer[..self.end].starts_with(BYTE_ORDER_MARK) {
            self.start = BYTE_ORDER_MARK.len();
        }
        Ok(())
    }

    /// Takes a row apart into its fields.
    fn split(&mut self, Record { from, to, has_quotes, .. }: Record, delimiter: u8) -> Result<(), ReadError> {
        let row = &self.buffer[from..to];
        if !has_quotes {
            self.fields.set_plain(row, delimiter);
            return Ok(());
        }
        let fields = &mut self.fields.quoted;
        fields.clear();
        let wrong = |why: &str| Err(ReadError::Row { line: self.line, why: why.to_owned() });
        let mut at = 0;
        loop {
            if row[at..].first() == Some(&b'"') {
                let Some(field) = quoted(row, at + 1) else { return wrong("a quote was opened and not closed") };
                fields.push(field);
                at = field.to + 1;
            } else {
                let end = memchr(delimiter, &row[at..]).map_or(row.len(), |length| at + length);
                fields.push(Field { from: at, to: end, has_doubled_quotes: false });
                at = end;
            }
            match row[at..].first() {
                None => break,
                Some(next) if *next == delimiter => at += 1,
                Some(_) => return wrong("a text goes on behind its closing quote"),
            }
        }
        (self.fields.count, self.fields.are_quoted) = (fields.len(), true);
        Ok(())
    }

    fn wrong(&self, why: &str) -> ReadError {
        ReadError::Row { line: self.line, why: why.to_owned() }
    }

    /// The row that was split as a sample.
    fn sample(&self, Record { from, to, .. }: Record, columns: &Columns) -> Result<Sample<'_>, ReadError> {
        let fields = &self.fields;
        if fields.count < columns.count {
            return Err(self.wrong(&format!("{} columns, where there should be {}", fields.count, columns.count)));
        }
        let row = &self.buffer[from..to];
        let whole_text = std::str::from_utf8(row).ok();
        let bytes = |place: usize| {
            let field = fields.at(place);
            &row[field.from..field.to]
        };
        let number = |column: Option<usize>, name: &str| match column.map(bytes) {
            None | Some(b"") => Ok(0),
            Some(value) => whole(value).ok_or_else(|| no_number(self.line, name, value)),
        };
        let few = |column: Option<usize>, name: &str| number(column, name).map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        let text = |column: Option<usize>| {
            let Some(place) = column else { return Cow::Borrowed("") };
            let field = fields.at(place);
            match whole_text.and_then(|row| row.get(field.from..field.to)) {
                Some(text) if !field.has_doubled_quotes => Cow::Borrowed(text),
                _ => Cow::Owned(odd_text(&row[field.from..field.to], field.has_doubled_quotes)),
            }
        };
        check_single(self.line, number(columns.sample_count, "SampleCount")?)?;
        let stamp = columns.time_stamp.map_or(&b""[..], bytes);
        let time_stamp_ms = moment(self.line, "timeStamp", stamp)?;
        let elapsed_ms = checked_elapsed(self.line, number(columns.elapsed, "elapsed")?)?;
        let response_code = text(columns.response_code);
        let success = match columns.success {
            Some(place) => bytes(place).eq_ignore_ascii_case(b"true"),
            None => whole(response_code.as_bytes()).is_some_and(|status| (100..400).contains(&status)),
        };
        Ok(Sample {
            time_stamp_ms,
            elapsed_ms,
            label: text(columns.label),
            response_code,
            response_message: text(columns.response_message),
            thread_name: text(columns.thread_name),
            data_type: text(columns.data_type),
            success,
            failure_message: text(columns.failure_message),
            bytes: number(columns.bytes, "bytes")?,
            sent_bytes: number(columns.sent_bytes, "sentBytes")?,
            group_threads: few(columns.group_threads, "grpThreads")?,
            all_threads: few(columns.all_threads, "allThreads")?,
            url: text(columns.url),
            latency_ms: number(columns.latency, "Latency")?,
            idle_ms: number(columns.idle, "IdleTime")?,
            connect_ms: number(columns.connect, "Connect")?,
        })
    }
}

/// The highest bit of each byte that is zero ("Hacker's Delight", 6-1).
const fn zero_bytes(word: u64) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    !(((word & LOW) + LOW) | word | LOW)
}

/// A text that does not stand in a row as it is.
#[cold]
fn odd_text(bytes: &[u8], has_doubled_quotes: bool) -> String {
    let text = String::from_utf8_lossy(bytes);
    if has_doubled_quotes { text.replace("\"\"", "\"") } else { text.into_owned() }
}

/// The field of a row that begins there, behind its quote; `None` where no quote closes it.
fn quoted(row: &[u8], from: usize) -> Option<Field> {
    let (mut searched, mut has_doubled_quotes) = (from, false);
    loop {
        let quote = searched + memchr(b'"', &row[searched..])?;
        if row.get(quote + 1) != Some(&b'"') {
            return Some(Field { from, to: quote, has_doubled_quotes });
        }
        (searched, has_doubled_quotes) = (quote + 2, true);
    }
}

/// Where a line ends that may end as on Windows.
fn without_return(buffer: &[u8], from: usize, to: usize) -> usize {
    if to > from && buffer[to - 1] == b'\r' { to - 1 } else { to }
}
