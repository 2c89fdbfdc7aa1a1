//! A log request by request, for those who do more with it than count.
//!
//! [`Survey`](crate::Survey) is handed every line and keeps none. Whoever plays a log takes a request when it wants the next one,
//! from several logs at once, and stops where it likes: so here the reader is asked, and not the one that tells.
//!
//! Invariant: what a Survey counts is what is told here, line by line.

use std::io::{self, Read};

use crate::entry::{Entry, Reason};
use crate::form::{Form, FormChoice};
use crate::gor::CapturedRecords;
use crate::har;
use crate::lines::{Line, PulledLines};
use crate::reader::Reader;
use crate::unpacked::{Compression, sample, unpacked};

/// What stands next in a log.
#[derive(Debug)]
pub enum LogEvent<'a> {
    /// A request.
    Request(Entry<'a>),
    /// What tells of no request, and why.
    Unread(Reason, &'a [u8]),
}

/// A log that is open.
pub struct Entries<'r> {
    packed: Compression,
    form: Option<String>,
    rows: Rows<'r>,
    /// Told already, or to be told, counted from 1.
    number: u64,
}

enum Rows<'r> {
    Lines {
        lines: PulledLines<Box<dyn Read + 'r>>,
        reader: Box<Reader>,
    },
    /// A document is read whole; answers, which are most of it, are not kept.
    Document {
        rows: std::vec::IntoIter<Result<har::RecordedEntry, Reason>>,
        now: Option<har::RecordedEntry>,
        ended: Option<io::Error>,
    },
    Captured(Box<CapturedRecords<'r>>),
    /// Not a byte of what is packed can be read.
    Damaged(Option<io::Error>),
}

impl<'r> Entries<'r> {
    /// Finds out what a stream holds. Lines longer than `line_bytes_most` are told as too long.
    ///
    /// # Errors
    /// If not a byte of it can be read.
    pub fn open(source: impl Read + 'r, asked: &FormChoice, line_bytes_most: usize) -> io::Result<Self> {
        let (packed, source) = unpacked(source)?;
        let (head, source) = match sample(source) {
            Ok(both) => both,
            Err(why) if packed != Compression::Plain => return Ok(Self { packed, form: None, rows: Rows::Damaged(Some(why)), number: 0 }),
            Err(why) => return Err(why),
        };
        let (name, form) = match asked.guess(&head) {
            Some((name, form)) => (Some(name), form),
            None => (None, crate::form::KNOWN[0].form()),
        };
        let whole: Box<dyn Read + 'r> = Box::new(io::Cursor::new(head).chain(source));
        let rows = match form {
            Form::Har => {
                let mut rows = Vec::new();
                let ended = har::read(io::BufReader::with_capacity(1 << 16, whole), &mut |entry| {
                    rows.push(entry.map(|it| har::RecordedEntry::of(&it)));
                });
                Rows::Document { rows: rows.into_iter(), now: None, ended: ended.err().map(io::Error::other) }
            }
            Form::Gor => Rows::Captured(Box::new(CapturedRecords::new(whole))),
            form => Rows::Lines { lines: PulledLines::new(whole, line_bytes_most), reader: Box::new(Reader::new(&form)) },
        };
        Ok(Self { packed, form: name, rows, number: 0 })
    }

    /// How it was packed.
    #[must_use]
    pub fn packed(&self) -> Compression {
        self.packed
    }

    /// The name of its form; `None` where it is empty or nothing known reads it.
    #[must_use]
    pub fn form(&self) -> Option<&str> {
        self.form.as_deref()
    }

    /// The number of what was told last, from 1.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Whatever stands next; `None` at the end.
    ///
    /// # Errors
    /// If it cannot be read on. Nothing follows.
    #[inline]
    pub fn read(&mut self) -> Option<io::Result<LogEvent<'_>>> {
        self.number += 1;
        match &mut self.rows {
            Rows::Lines { lines, reader } => Some(Ok(match lines.next()? {
                Ok(Line::Whole(text)) => match reader.line(text) {
                    Ok(entry) => LogEvent::Request(entry),
                    Err(reason) => LogEvent::Unread(reason, text),
                },
                Ok(Line::Long(text)) => LogEvent::Unread(Reason::Long, text),
                Err(why) => return Some(Err(why)),
            })),
            Rows::Document { rows, now, ended } => Some(Ok(match rows.next() {
                Some(Ok(kept)) => LogEvent::Request(now.insert(kept).entry()),
                Some(Err(reason)) => LogEvent::Unread(reason, b"(an entry of a HAR document)"),
                None => return ended.take().map(Err),
            })),
            Rows::Captured(captured) => Some(captured.next()?.map(|row| match row {
                Ok(entry) => LogEvent::Request(entry),
                Err((reason, text)) => LogEvent::Unread(reason, text),
            })),
            Rows::Damaged(why) => why.take().map(Err),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LINE_BYTES_MOST, Personal, Survey};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_told_one_by_one_is_what_a_survey_counts(kinds in prop::collection::vec(0u8..5, 0..60)) {
            let lines: Vec<String> = kinds.iter().enumerate().map(|(at, kind)| match kind {
                0 | 1 => format!(r#"192.0.2.1 - - [01/Mar/2016:00:36:{:02} +0100] "GET /users/{at}?a=b HTTP/1.1" 200 612 "-" "curl/8""#, at % 60),
                2 => "what is this".to_owned(),
                3 => String::new(),
                _ => "x".repeat(500),
            }).collect();
            let text = lines.join("\n");
            let mut survey = Survey::new(FormChoice::default(), Personal::Kept).with_line_bytes_most(200);
            survey.read("log", text.as_bytes()).unwrap();
            let traffic = survey.finish();
            let mut entries = Entries::open(text.as_bytes(), &FormChoice::default(), 200).unwrap();
            let (mut requests, mut unread) = (0, 0);
            while let Some(told) = entries.read() {
                match told.unwrap() {
                    LogEvent::Request(entry) => {
                        prop_assert!(entry.path_and_query().unwrap().ends_with(b"?a=b"));
                        requests += 1;
                    }
                    LogEvent::Unread(..) => unread += 1,
                }
            }
            prop_assert_eq!((requests, unread), (traffic.requests, traffic.unread_lines()));
        }
    }

    #[test]
    fn a_form_of_a_recording_is_put_together_and_what_is_missing_is_marked() {
        let entry = |posted: &str, size: i32, headers: &str| {
            format!(
                r#"{{"startedDateTime":"2024-01-01T00:00:00Z","request":{{"method":"POST","url":"https://a.example/x","bodySize":{size},"headers":[{headers}],"postData":{posted}}},"response":{{"status":200}}}}"#
            )
        };
        let typed = r#"{"name":"Content-Type","value":"multipart/form-data; boundary=b1"}"#;
        let recorded = [
            entry(r#"{"mimeType":"multipart/form-data; boundary=b1","params":[{"name":"a","value":"1"}]}"#, 50, typed),
            entry(r#"{"mimeType":"multipart/form-data","params":[{"name":"f","fileName":"a.png","contentType":"image/png"}]}"#, 50, ""),
            entry(r#"{"mimeType":"multipart/form-data; boundary=b1"}"#, -1, typed),
            entry("null", 99, ""),
            entry("null", 0, ""),
            entry(r#"{"mimeType":"image/png","encoding":"base64","text":"not base64!"}"#, 9, ""),
        ];
        let har = format!(r#"{{"log":{{"creator":{{}},"entries":[{}]}}}}"#, recorded.join(","));
        let mut entries = Entries::open(har.as_bytes(), &FormChoice::default(), LINE_BYTES_MOST).unwrap();
        let mut told = Vec::new();
        while let Some(Ok(LogEvent::Request(entry))) = entries.read() {
            told.push((String::from_utf8_lossy(entry.sent.unwrap()).into_owned(), entry.is_partial));
        }
        assert_eq!(told.iter().map(|(_, is_partial)| *is_partial).collect::<Vec<_>>(), [false, true, true, true, false, true]);
        assert_eq!(
            told[0].0,
            "POST https://a.example/x HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=b1\r\n\r\n--b1\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--b1--\r\n"
        );
        assert!(told[1].0.contains(
            "Content-Type: multipart/form-data; boundary=loadline-form-0000000000000000\r\n\r\n--loadline-form-0000000000000000\r\n"
        ));
        assert!(told[1].0.contains("filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\n\r\n--"), "{}", told[1].0);
    }

    #[test]
    fn a_har_and_a_damaged_archive_are_told_too() {
        let har = r#"{"log":{"creator":{},"entries":[{"startedDateTime":"2024-01-01T00:00:00.5Z","time":20,
            "request":{"method":"POST","url":"https://a.example/x?y=1","headers":[{"name":":path","value":"/x"},{"name":"X-Id","value":"7"},
              {"name":"X-Evil","value":"a\r\nb"},{"value":"no name"},17],"cookies":[{"name":"a","value":"b"}],
              "postData":{"mimeType":"application/x-www-form-urlencoded","params":[{"name":"n","value":"a+b%26"}]}},"response":{"status":200,"content":{"size":3}}},
            {"startedDateTime":"2024-01-01T00:00:01Z","request":{"method":"GET","url":"data:x"},"response":{"status":200}}]}}"#;
        let mut entries = Entries::open(har.as_bytes(), &FormChoice::default(), LINE_BYTES_MOST).unwrap();
        assert_eq!(entries.form(), Some("har"));
        match entries.read().unwrap().unwrap() {
            LogEvent::Request(entry) => {
                assert_eq!((entry.path_and_query(), entry.host()), (Some(&b"/x?y=1"[..]), Some(&b"a.example"[..])));
                assert_eq!((entry.status, entry.took_ns), (200, Some(20_000_000)));
                assert_eq!(
                    String::from_utf8_lossy(entry.sent.unwrap()),
                    "POST https://a.example/x?y=1 HTTP/1.1\r\n:path: /x\r\nX-Id: 7\r\nCookie: a=b\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\nn=a%20b%26"
                );
            }
            LogEvent::Unread(reason, _) => panic!("{reason:?}"),
        }
        assert!(matches!(entries.read(), Some(Ok(LogEvent::Unread(Reason::Request, _)))));
        assert!(entries.read().is_none());
        let mut damaged = Entries::open(&b"\x1f\x8bnothing of the kind"[..], &FormChoice::default(), LINE_BYTES_MOST).unwrap();
        assert!(matches!(damaged.read(), Some(Err(_))) && damaged.read().is_none());
    }
}
