//! What GoReplay captured (`.gor`): whole requests, and the answers to them.
//!
//! A record is a line `TYPE ID TIME [LATENCY]`, then what went over the wire, then a line of three monkeys (GoReplay's
//! `protocol.go`). Type 1 is a request and 2 the answer it was given, which stands behind it; so a request is held back until its
//! answer has come, or as long as a bounded number of others.
//!
//! Invariant: no more than [`HELD_MOST`] requests and [`HELD_BYTES_MOST`] are kept, and every record but answers is told once.

use std::collections::VecDeque;
use std::io::{self, Read};

use crate::entry::{Entry, Reason, request};
use crate::layout::status;
use crate::stamp::digits;

/// Between two records.
const SEPARATOR: &[u8] = "\n🐵🙈🙉\n".as_bytes();
/// A record that is longer is told as too long.
const RECORD_BYTES_MOST: usize = 16 << 20;
/// Requests that wait for their answers, and their bytes.
const HELD_MOST: usize = 4_096;
const HELD_BYTES_MOST: usize = 32 << 20;
const BLOCK_BYTES: usize = 256 * 1024;

/// Whether a file begins so.
pub(crate) fn is_gor(sample: &[u8]) -> bool {
    let line = &sample[..memchr::memchr(b'\n', sample).unwrap_or(0)];
    head(line).is_some()
}

/// Type, name and time of a record: a type is one digit, a name hexadecimal.
fn head(line: &[u8]) -> Option<(u8, &[u8], i64)> {
    let mut words = line.strip_suffix(b"\r").unwrap_or(line).split(|letter| *letter == b' ');
    let (kind, id, time) = (words.next()?, words.next()?, words.next()?);
    let more = words.next();
    let is_name = (8..=64).contains(&id.len()) && id.iter().all(u8::is_ascii_hexdigit);
    let [kind @ b'1'..=b'3'] = kind else { return None };
    (is_name && words.next().is_none() && more.is_none_or(|more| digits(more).is_some() || more == b"-1"))
        .then(|| Some((*kind, id, digits(time).filter(|_| !time.is_empty() && time.len() < 20)?)))
        .flatten()
}

/// Records as they are asked for.
pub(crate) struct CapturedRecords<'r> {
    source: Box<dyn Read + 'r>,
    buffer: Vec<u8>,
    start: usize,
    /// Up to where no separator was found.
    looked: usize,
    ended: bool,
    failed: Option<io::Error>,
    /// Nothing is kept of a record that is too long.
    skipping: bool,
    held: VecDeque<Held>,
    held_bytes: usize,
    now: Option<Held>,
}

struct Held {
    id: Box<[u8]>,
    at_ns: i64,
    bytes: Vec<u8>,
    status: u16,
    is_answered: bool,
    wrong: Option<Reason>,
}

/// A record found in the buffer.
enum Record {
    Whole(usize, usize),
    Long(usize, usize),
}

type Row<'a> = Result<Entry<'a>, (Reason, &'a [u8])>;

impl<'r> CapturedRecords<'r> {
    pub(crate) fn new(source: Box<dyn Read + 'r>) -> Self {
        Self {
            source,
            buffer: Vec::new(),
            start: 0,
            looked: 0,
            ended: false,
            failed: None,
            skipping: false,
            held: VecDeque::new(),
            held_bytes: 0,
            now: None,
        }
    }

    /// The next request; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<io::Result<Row<'_>>> {
        let is_full = |it: &Self| it.held.len() >= HELD_MOST || it.held_bytes >= HELD_BYTES_MOST;
        while !self.held.front().is_some_and(|first| first.is_answered) && !is_full(self) {
            match self.record() {
                Some(record) => self.keep(&record),
                None => break,
            }
        }
        let Some(first) = self.held.pop_front() else { return self.failed.take().map(Err) };
        self.held_bytes -= first.bytes.len();
        Some(Ok(self.now.insert(first).row()))
    }

    fn keep(&mut self, record: &Record) {
        let (Record::Whole(from, to) | Record::Long(from, to)) = *record;
        let bytes = &self.buffer[from..to];
        let wrong = |reason| Held {
            id: Box::default(),
            at_ns: 0,
            bytes: bytes[..bytes.len().min(1024)].to_vec(),
            status: 0,
            is_answered: true,
            wrong: Some(reason),
        };
        let line = &bytes[..memchr::memchr(b'\n', bytes).unwrap_or(bytes.len())];
        let held = match (record, head(line)) {
            (Record::Long(..), _) => wrong(Reason::Long),
            (_, None) if bytes.is_empty() => wrong(Reason::Blank),
            (_, None) => wrong(Reason::Form),
            (_, Some((b'1', id, at_ns))) => {
                let sent = &bytes[(line.len() + 1).min(bytes.len())..];
                Held { id: id.into(), at_ns, bytes: sent.to_vec(), status: 0, is_answered: false, wrong: None }
            }
            (_, Some((kind, id, _))) => {
                // What a replay of GoReplay's was answered is not what the log says.
                if kind == b'2'
                    && let Some(asked) = self.held.iter_mut().find(|held| *held.id == *id && !held.is_answered)
                {
                    let answer = &bytes[(line.len() + 1).min(bytes.len())..];
                    asked.status = answer
                        .strip_prefix(b"HTTP/")
                        .and_then(|rest| status(rest.split(|it| *it == b' ').nth(1)?.trim_ascii()))
                        .unwrap_or(0);
                    asked.is_answered = true;
                }
                return;
            }
        };
        self.held_bytes += held.bytes.len();
        self.held.push_back(held);
    }

    /// Where the next record stands in the buffer.
    fn record(&mut self) -> Option<Record> {
        loop {
            let rest = &self.buffer[self.looked.max(self.start)..];
            if let Some(found) = memchr::memmem::find(rest, SEPARATOR) {
                let (from, to) = (self.start, self.looked.max(self.start) + found);
                self.start = to + SEPARATOR.len();
                self.looked = self.start;
                if std::mem::take(&mut self.skipping) {
                    continue;
                }
                return Some(if to - from > RECORD_BYTES_MOST { Record::Long(from, from + 1024) } else { Record::Whole(from, to) });
            }
            let filled = self.buffer.len();
            if self.ended {
                let from = std::mem::replace(&mut self.start, filled);
                self.looked = filled;
                let rest = &self.buffer[from..];
                let blank = rest.iter().all(u8::is_ascii_whitespace);
                return (!blank && !std::mem::take(&mut self.skipping)).then_some(Record::Whole(from, filled));
            }
            if filled - self.start > RECORD_BYTES_MOST {
                // The end of it may be half a separator.
                let from = std::mem::replace(&mut self.start, filled - SEPARATOR.len());
                self.looked = self.start;
                if !std::mem::replace(&mut self.skipping, true) {
                    return Some(Record::Long(from, from + 1024));
                }
            }
            self.looked = self.looked.max(filled.saturating_sub(SEPARATOR.len())).max(self.start);
            self.fill();
        }
    }

    fn fill(&mut self) {
        self.buffer.drain(..self.start);
        self.looked -= self.start;
        self.start = 0;
        let filled = self.buffer.len();
        self.buffer.resize(filled + BLOCK_BYTES, 0);
        let read = loop {
            match self.source.read(&mut self.buffer[filled..]) {
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.buffer.truncate(filled + *read.as_ref().unwrap_or(&0));
        match read {
            Ok(0) => self.ended = true,
            Ok(_) => {}
            Err(why) => (self.ended, self.failed) = (true, Some(why)),
        }
    }
}

impl Held {
    fn row(&self) -> Row<'_> {
        if let Some(reason) = self.wrong {
            return Err((reason, &self.bytes));
        }
        let line = &self.bytes[..memchr::memchr(b'\n', &self.bytes).unwrap_or(self.bytes.len())];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let (method, path, target) = request(line).ok_or((Reason::Request, line))?;
        Ok(Entry {
            start_ns: self.at_ns,
            stamp_ns: self.at_ns,
            offset_s: 0,
            method,
            path,
            target,
            named_host: header(&self.bytes, b"host"),
            status: self.status,
            bytes: None,
            took_ns: None,
            client: None,
            agent: None,
            referer: None,
            sent: Some(&self.bytes),
            is_partial: false,
        })
    }
}

/// The value of a header of a request.
fn header<'a>(sent: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let mut lines = sent.split(|letter| *letter == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line)).skip(1);
    lines.by_ref().take_while(|line| !line.is_empty()).find_map(|line| {
        let (found, value) = line.split_at(memchr::memchr(b':', line)?);
        found.eq_ignore_ascii_case(name).then(|| value[1..].trim_ascii())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "1 932079936fa4306fc308d675 1439818823587396305\nGET /a?b HTTP/1.1\r\nHost: h.example\r\n\r\n\n🐵🙈🙉\n";
    const TWO: &str =
        "1 aa2079936fa4306fc308d675 1439818824000000000 7\nPOST /n HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n\n\n\n🐵🙈🙉\n";
    const ANSWER: &str = "2 932079936fa4306fc308d675 1439818823587396305 100\nHTTP/1.1 404 Not Found\r\n\r\n\n🐵🙈🙉\n";

    /// Time, target, status and bytes.
    type Found = (i64, String, u16, Vec<u8>);

    fn all(text: &[u8]) -> Vec<Result<Found, Reason>> {
        let mut captured = CapturedRecords::new(Box::new(text));
        let mut rows = Vec::new();
        while let Some(row) = captured.next() {
            rows.push(
                row.unwrap()
                    .map_err(|(reason, _)| reason)
                    .map(|it| (it.start_ns, String::from_utf8_lossy(it.target).into_owned(), it.status, it.sent.unwrap().to_vec())),
            );
        }
        rows
    }

    #[test]
    fn requests_are_told_with_what_they_were_answered() {
        let text = format!("{ONE}{TWO}{ANSWER}");
        assert!(is_gor(text.as_bytes()) && !is_gor(b"1.2.3.4 - - x\n") && !is_gor(b""));
        let rows = all(text.as_bytes());
        assert_eq!(rows.len(), 2);
        let (at, target, status, sent) = rows[0].clone().unwrap();
        assert_eq!((at, target.as_str(), status), (1_439_818_823_587_396_305, "/a?b", 404));
        assert_eq!(sent, b"GET /a?b HTTP/1.1\r\nHost: h.example\r\n\r\n");
        let (_, target, status, sent) = rows[1].clone().unwrap();
        assert_eq!((target.as_str(), status), ("/n", 0));
        assert!(sent.ends_with(b"\r\n\r\n\n\n"), "a body that ends in line breaks keeps them");
    }

    #[test]
    fn what_is_cut_long_or_no_record_is_counted_once() {
        assert_eq!(all(format!("{ONE}hello\n🐵🙈🙉\n{TWO}").as_bytes())[1], Err(Reason::Form));
        let cut = format!("{ONE}{}", &TWO[..40]);
        assert_eq!(all(cut.as_bytes())[1], Err(Reason::Request));
        let long = format!(
            "{ONE}1 aa2079936fa4306fc308d675 1439818824000000000\nGET /{} HTTP/1.1\r\n\r\n\n🐵🙈🙉\n{TWO}",
            "x".repeat(RECORD_BYTES_MOST + 5)
        );
        let rows = all(long.as_bytes());
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[1].as_ref().err(), Some(&Reason::Long));
        assert!(rows[2].is_ok());
        assert!(all(b"").is_empty());
    }

    #[test]
    fn a_host_is_found_whatever_its_case() {
        assert_eq!(header(b"GET / HTTP/1.1\r\nhOST:  a \r\n\r\nHost: b", b"host"), Some(&b"a"[..]));
        assert_eq!(header(b"GET / HTTP/1.1\r\n\r\nHost: b", b"host"), None);
    }
}
