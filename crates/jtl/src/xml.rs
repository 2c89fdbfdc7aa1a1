//! Rows of an XML file: the elements directly below its root.
//!
//! An element may hold what JMeter fetched for it (redirects, pictures of a page) as elements of the same kind: that is what it took its time
//! for, so only the outer one is a row, as in CSV. It may also hold whole answers, which are passed over. Reading the file into a tree, the
//! alternative, takes several times its size in memory.
//!
//! Attributes are those of
//! [`SampleResultConverter`](https://github.com/apache/jmeter/blob/master/src/core/src/main/java/org/apache/jmeter/save/converters/SampleResultConverter.java).

use std::borrow::Cow;
use std::io::{self, BufRead, BufReader, Read};

use memchr::memchr_iter;
use quick_xml::Reader;
use quick_xml::escape::{resolve_predefined_entity, unescape};
use quick_xml::events::{BytesStart, Event};

use crate::read::{FirstByte, ROW_BYTES_MAX, ReadError, check_single, checked_elapsed, moment, no_number, whole};
use crate::sample::Sample;

/// What is read at once.
const BUFFER_BYTES: usize = 256 << 10;
/// Of a message, this much is kept.
const TEXT_BYTES_MAX: usize = 4096;

/// As [`crate::read()`], of an XML file.
pub(crate) fn read(from: impl Read, mut each: impl FnMut(&Sample<'_>, FirstByte)) -> Result<Option<u64>, ReadError> {
    let lines = Lines { from: BufReader::with_capacity(BUFFER_BYTES, from), line: 1, is_over: false, since_event: 0 };
    let mut reader = Reader::from_reader(lines);
    let (mut buffer, mut row) = (Vec::new(), Row::default());
    // How many elements are open.
    let mut depth = 0_usize;
    loop {
        buffer.clear();
        reader.get_mut().since_event = 0;
        let event = reader.read_event_into(&mut buffer);
        let line = reader.get_ref().line;
        match event {
            Ok(Event::Start(element)) => {
                row.begin(&element, depth, line)?;
                depth += 1;
            }
            Ok(Event::Empty(element)) => {
                row.begin(&element, depth, line)?;
                if row.end(element.name().as_ref(), depth) {
                    each(&row.sample, row.first_byte);
                }
            }
            Ok(Event::End(element)) => {
                depth = depth.saturating_sub(1);
                if row.end(element.name().as_ref(), depth) {
                    each(&row.sample, row.first_byte);
                }
            }
            Ok(Event::Text(text)) => row.text(&String::from_utf8_lossy(&text)),
            Ok(Event::CData(text)) => row.text(&String::from_utf8_lossy(&text)),
            Ok(Event::GeneralRef(name)) => match name.resolve_char_ref() {
                Ok(Some(letter)) => row.text(letter.encode_utf8(&mut [0; 4])),
                _ => row.text(resolve_predefined_entity(&String::from_utf8_lossy(&name)).unwrap_or_default()),
            },
            Ok(Event::Eof) => return Ok((depth > 0).then_some(line)),
            Ok(Event::Decl(_) | Event::PI(_) | Event::Comment(_) | Event::DocType(_)) => {}
            Err(quick_xml::Error::Io(why)) => return Err(io::Error::new(why.kind(), why.to_string()).into()),
            // A tag or a reference without an end.
            Err(_) if reader.get_ref().is_over => return Ok(Some(line)),
            Err(why) => return Err(ReadError::Row { line, why: format!("it is not valid XML: {why}") }),
        }
    }
}

/// The row under way. Its texts are kept from row to row, so that reading allocates nothing for one.
#[derive(Debug)]
struct Row {
    sample: Sample<'static>,
    first_byte: FirstByte,
    /// What the text that comes now belongs to.
    wanted: Wanted,
    /// The assertion under way.
    has_failed: bool,
    message: String,
    flag: String,
}

impl Default for Row {
    fn default() -> Self {
        let (message, flag) = Default::default();
        Self { sample: Sample::default(), first_byte: FirstByte::Unknown, wanted: Wanted::Nothing, has_failed: false, message, flag }
    }
}

/// What of a row's texts is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Nothing,
    Url,
    /// Whether an assertion failed, or could not be decided.
    Failed,
    Message,
}

/// Elements around a row, around what it holds, and around what an assertion of it holds.
const ROW_DEPTH: usize = 1;
const PART_DEPTH: usize = 2;
const ASSERTION_DEPTH: usize = 3;

impl Row {
    /// An element begins within so many others.
    fn begin(&mut self, element: &BytesStart<'_>, depth: usize, line: u64) -> Result<(), ReadError> {
        let name = element.name();
        self.wanted = Wanted::Nothing;
        match (depth, name.as_ref()) {
            (0, b"testResults") => {}
            (0, _) => return Err(ReadError::Row { line, why: "it begins with another element than testResults".to_owned() }),
            (ROW_DEPTH, _) => self.read(element, line)?,
            (PART_DEPTH, b"java.net.URL") => self.wanted = Wanted::Url,
            (PART_DEPTH, b"assertionResult") => {
                self.has_failed = false;
                self.message.clear();
            }
            // Of an assertion, since nothing else that stands so deep has these.
            (ASSERTION_DEPTH, b"failure" | b"error") => {
                self.wanted = Wanted::Failed;
                self.flag.clear();
            }
            (ASSERTION_DEPTH, b"failureMessage") => self.wanted = Wanted::Message,
            _ => {}
        }
        Ok(())
    }

    /// An element within so many others ends; whether that was a row.
    fn end(&mut self, name: &[u8], depth: usize) -> bool {
        if self.wanted == Wanted::Failed {
            self.has_failed |= self.flag.trim() == "true";
        }
        self.wanted = Wanted::Nothing;
        if depth == PART_DEPTH && name == b"assertionResult" && self.has_failed && self.sample.failure_message.is_empty() {
            put(&mut self.sample.failure_message, &self.message);
        }
        depth == ROW_DEPTH
    }

    fn text(&mut self, text: &str) {
        let to = match self.wanted {
            Wanted::Nothing => return,
            Wanted::Url => self.sample.url.to_mut(),
            Wanted::Failed => &mut self.flag,
            Wanted::Message => &mut self.message,
        };
        if to.len() < TEXT_BYTES_MAX {
            to.extend(text.chars().take(TEXT_BYTES_MAX));
        }
    }

    /// The attributes of a row.
    fn read(&mut self, element: &BytesStart<'_>, line: u64) -> Result<(), ReadError> {
        let Sample { label, response_code, response_message, thread_name, data_type, failure_message, url, .. } = &mut self.sample;
        for text in [label, response_code, response_message, thread_name, data_type, failure_message, url] {
            text.to_mut().clear();
        }
        // What is not there is 0, and a success, as for JMeter.
        let (mut bytes, mut sent_bytes, mut latency_ms, mut idle_ms, mut connect_ms) = (0, 0, 0, 0, 0);
        let (mut group_threads, mut all_threads, mut success) = (0, 0, true);
        let (mut time_stamp_ms, mut elapsed_ms) = (None, None);
        self.first_byte = FirstByte::Unknown;
        for attribute in element.attributes().with_checks(false) {
            let attribute = attribute.map_err(|why| ReadError::Row { line, why: format!("it is not valid XML: {why}") })?;
            let (name, value) = (attribute.key.as_ref(), &*attribute.value);
            let number = || whole(value).ok_or_else(|| no_number(line, &String::from_utf8_lossy(name), value));
            let few = || number().map(|number| u32::try_from(number).unwrap_or(u32::MAX));
            match name {
                b"ts" => time_stamp_ms = Some(moment(line, "ts", value)?),
                b"t" => elapsed_ms = Some(checked_elapsed(line, number()?)?),
                b"lt" => (latency_ms, self.first_byte) = (number()?, FirstByte::Known),
                b"it" => idle_ms = number()?,
                b"ct" => connect_ms = number()?,
                b"by" => bytes = number()?,
                b"sby" => sent_bytes = number()?,
                b"ng" => group_threads = few()?,
                b"na" => all_threads = few()?,
                b"sc" => check_single(line, number()?)?,
                b"s" => success = value == b"true",
                b"lb" => put_escaped(&mut self.sample.label, value),
                // Written so by JMeter before 2.1.
                b"rc" | b"rs" => put_escaped(&mut self.sample.response_code, value),
                b"rm" => put_escaped(&mut self.sample.response_message, value),
                b"tn" => put_escaped(&mut self.sample.thread_name, value),
                b"dt" => put_escaped(&mut self.sample.data_type, value),
                _ => {}
            }
        }
        let missing =
            |name: &str| ReadError::Row { line, why: format!("a sample has no attribute {name}, and without it there is no run") };
        let sample = &mut self.sample;
        sample.time_stamp_ms = time_stamp_ms.ok_or_else(|| missing("ts"))?;
        sample.elapsed_ms = elapsed_ms.ok_or_else(|| missing("t"))?;
        (sample.bytes, sample.sent_bytes, sample.success) = (bytes, sent_bytes, success);
        (sample.latency_ms, sample.idle_ms, sample.connect_ms) = (latency_ms, idle_ms, connect_ms);
        (sample.group_threads, sample.all_threads) = (group_threads, all_threads);
        Ok(())
    }
}

fn put(to: &mut Cow<'static, str>, text: &str) {
    let to = to.to_mut();
    to.clear();
    to.push_str(text);
}

/// Puts the value of an attribute; one that JMeter wrote and XML cannot hold stays as it is written.
fn put_escaped(to: &mut Cow<'static, str>, value: &[u8]) {
    let text = String::from_utf8_lossy(value);
    put(to, &unescape(&text).unwrap_or(Cow::Borrowed(&text)));
}

/// Counts lines, and refuses an element without an end.
struct Lines<R> {
    from: R,
    line: u64,
    is_over: bool,
    since_event: usize,
}

impl<R: BufRead> Read for Lines<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Lines<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.since_event > ROW_BYTES_MAX {
            return Err(io::Error::other(format!("line {}: more than 64 MB in one piece, which no sample is", self.line)));
        }
        let bytes = self.from.fill_buf()?;
        self.is_over = bytes.is_empty();
        Ok(bytes)
    }

    fn consume(&mut self, amount: usize) {
        // What is in the buffer is given without reading.
        if let Ok(bytes) = self.from.fill_buf() {
            self.line += memchr_iter(b'\n', &bytes[..amount.min(bytes.len())]).count() as u64;
        }
        self.since_event += amount;
        self.from.consume(amount);
    }
}
