//! What of an answer in fields is shown: its head to who looks, as HTTP/1.1 would write it, and its beginning as the example of a failure.

use std::cell::RefCell;

use measure::{Quirks, Status};

use super::fields::Fields;
use super::http1::HEADERS_MAX;
use super::http1::chunks::Chunks;
use super::{EMPTY_HEADER, EXAMPLE_BYTES, FailureSample, Header, ResponseSink};

/// Whether there is to be an example of an answer.
pub(super) fn sample_is_wanted(status: u16, sample: &FailureSample) -> bool {
    !Status(status).is_success() && matches!(sample, FailureSample::Nothing)
}

/// Most heads have no more headers.
const HEADERS_USUAL: usize = 32;

/// Shows a head.
pub(super) fn show_head(version: &str, status: u16, fields: &Fields, sink: &mut impl ResponseSink) {
    if fields.len() <= HEADERS_USUAL {
        show_headers((version, status), fields, &mut [EMPTY_HEADER; HEADERS_USUAL], sink);
    } else {
        show_headers((version, status), fields, &mut [EMPTY_HEADER; HEADERS_MAX], sink);
    }
}

fn show_headers<'a>((version, status): (&str, u16), fields: &'a Fields, room: &mut [Header<'a>], sink: &mut impl ResponseSink) {
    let digits = [status / 100, status / 10 % 10, status % 10].map(|digit| b'0' + digit as u8);
    [version.as_bytes(), b" ", &digits, b"\r\n"].into_iter().for_each(|piece| sink.received(piece));
    for ((name, value), header) in fields.iter().zip(&mut *room) {
        [name, b": ", value, b"\r\n"].into_iter().for_each(|piece| sink.received(piece));
        *header = Header { name: std::str::from_utf8(name).unwrap_or_default(), value };
    }
    sink.received(b"\r\n");
    sink.head(status, &room[..fields.len()]);
}

/// What an answer with an error status looked like.
pub(super) fn example(buffer: &RefCell<Box<[u8]>>, version: &str, status: u16, body: &[u8]) -> FailureSample {
    told(buffer, &[format!("{version} {status}\r\n\r\n").as_bytes(), &body[..body.len().min(EXAMPLE_BYTES)]].concat())
}

/// Words as an example shows them: in the worker's buffer.
pub(super) fn told(buffer: &RefCell<Box<[u8]>>, words: &[u8]) -> FailureSample {
    let mut buffer = buffer.borrow_mut();
    let count = words.len().min(EXAMPLE_BYTES).min(buffer.len());
    buffer[..count].copy_from_slice(&words[..count]);
    FailureSample::Bytes(count)
}

/// What is in chunks. Whoever says that a body is has framed it, so it is taken as far as it can be read.
pub(super) fn unframed(body: &[u8]) -> Vec<u8> {
    struct Content(Vec<u8>);
    impl ResponseSink for Content {
        fn body(&mut self, bytes: &[u8]) {
            self.0.extend_from_slice(bytes);
        }
    }
    let mut content = Content(Vec::with_capacity(body.len()));
    let mut quirks = Quirks::NONE;
    let _ = Chunks::new().take(body, &mut 0, &mut quirks, &mut content);
    content.0
}
