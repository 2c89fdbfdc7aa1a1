//! What a string of requests holds: how many, and how their answers end.
//!
//! A script hands over bytes, and as many answers are waited for as there are requests in them. wrk counts once, in the
//! first string, and loses its way when a later one holds more or fewer. Here every string is read, so a script may vary
//! its batches; and one that is cut off is an error of the script, not a server that does not answer.

use std::mem::MaybeUninit;

use engine::protocol::Layout;
use memchr::memchr;

/// How many requests a string holds, and where the parts of the first stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Batch {
    pub(crate) layout: Layout,
    pub(crate) requests: u32,
}

/// The most header lines of one request.
const HEADERS_MAX: usize = 128;

impl Batch {
    /// The same where the path of the first request made the string longer or shorter.
    pub(crate) fn resized(self, before: usize, now: usize) -> Self {
        Self { layout: self.layout.with_body(self.layout.body() + now - before), ..self }
    }
}

/// Reads a string of one or more complete requests.
///
/// # Errors
/// In words, with line and column, if it holds none, or something else besides.
pub(crate) fn read(bytes: &[u8]) -> Result<Batch, String> {
    let mut rest = bytes;
    let mut batch: Option<Batch> = None;
    while batch.is_none() || !rest.is_empty() {
        let (length, layout) = one(rest).map_err(|why| format!("{why} at {}", place(bytes, bytes.len() - rest.len())))?;
        match &mut batch {
            None => batch = Some(Batch { layout, requests: 1 }),
            Some(batch) if batch.layout.is_head() == layout.is_head() => batch.requests += 1,
            Some(_) => return Err(format!("HEAD among other methods in one batch at {}", place(bytes, bytes.len() - rest.len()))),
        }
        rest = &rest[length..];
    }
    batch.ok_or_else(|| "incomplete request".to_owned())
}

/// The same, and whatever stands between the method and the version is a path, as for wrk, which reads no string but the first: a list
/// of paths may hold one with a blank, and what to say to that is the server's.
///
/// # Errors
/// As [`read`].
pub(crate) fn read_with_any_path(bytes: &[u8]) -> Result<Batch, String> {
    read(bytes).or_else(|why| {
        let (line, rest) = first_line(bytes).ok_or_else(|| why.clone())?;
        let method = method(line).filter(|_| line.ends_with(VERSION)).ok_or_else(|| why.clone())?;
        let plain = [method, b"/", VERSION, rest].concat();
        read(&plain).map(|batch| batch.resized(plain.len(), bytes.len())).map_err(|_| why)
    })
}

/// Whether a string differs from one that was [`read`] in the path of its first request alone, and so is read as that one is. Most
/// scripts change nothing else, and reading a whole head takes several times as long as this.
pub(crate) fn differs_in_path(bytes: &[u8], from: &[u8]) -> bool {
    let (Some((line, rest)), Some((line_before, rest_before))) = (first_line(bytes), first_line(from)) else { return false };
    let (Some(method), Some(method_before)) = (method(line), method(line_before)) else { return false };
    let is_plain = |byte: &u8| (b'!'..=b'~').contains(byte);
    let path = line.strip_prefix(method).and_then(|line| line.strip_suffix(VERSION)).unwrap_or_default();
    method == method_before && line_before.ends_with(VERSION) && !path.is_empty() && path.iter().all(is_plain) && rest == rest_before
}

const VERSION: &[u8] = b" HTTP/1.1";

/// What stands before the first line break, and from there on.
fn first_line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    memchr(b'\r', bytes).map(|at| bytes.split_at(at))
}

/// The method, and the blank behind it.
fn method(line: &[u8]) -> Option<&[u8]> {
    memchr(b' ', line).map(|at| &line[..=at])
}

/// The length of the first request, and where its parts stand.
fn one(bytes: &[u8]) -> Result<(usize, Layout), String> {
    let mut headers = [const { MaybeUninit::uninit() }; HEADERS_MAX];
    let mut request = httparse::Request::new(&mut []);
    let head = match request.parse_with_uninit_headers(bytes, &mut headers) {
        Ok(httparse::Status::Complete(head)) => head,
        Ok(httparse::Status::Partial) => return Err("incomplete request".to_owned()),
        Err(why) => return Err(why.to_string()),
    };
    let layout = Layout::new(request.method.unwrap_or_default(), head);
    let mut length = 0;
    for header in request.headers.iter() {
        if header.name.eq_ignore_ascii_case("content-length") {
            length = std::str::from_utf8(header.value)
                .ok()
                .and_then(|text| text.trim().parse::<usize>().ok())
                .ok_or_else(|| "invalid Content-Length".to_owned())?;
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") && header.value.to_ascii_lowercase().ends_with(b"chunked") {
            return Ok((head + chunks(&bytes[head..])?, layout));
        }
    }
    let end = head.checked_add(length).filter(|end| *end <= bytes.len()).ok_or_else(|| "incomplete request".to_owned())?;
    Ok((end, layout))
}

/// The length of a chunked body.
fn chunks(bytes: &[u8]) -> Result<usize, String> {
    let incomplete = || "incomplete request".to_owned();
    let mut at = 0;
    loop {
        let (line, size) = match httparse::parse_chunk_size(bytes.get(at..).ok_or_else(incomplete)?) {
            Ok(httparse::Status::Complete(read)) => read,
            Ok(httparse::Status::Partial) => return Err(incomplete()),
            Err(_) => return Err("invalid chunk size".to_owned()),
        };
        at += line;
        if size == 0 {
            let mut trailers = [httparse::EMPTY_HEADER; HEADERS_MAX];
            return match httparse::parse_headers(&bytes[at..], &mut trailers) {
                Ok(httparse::Status::Complete((length, _))) => Ok(at + length),
                Ok(httparse::Status::Partial) => Err(incomplete()),
                Err(why) => Err(why.to_string()),
            };
        }
        let end = usize::try_from(size).ok().and_then(|size| at.checked_add(size)).ok_or_else(incomplete)?;
        if bytes.get(end..).ok_or_else(incomplete)?.get(..2) != Some(b"\r\n") {
            return Err(if bytes.len() < end + 2 { incomplete() } else { "invalid chunk".to_owned() });
        }
        at = end + 2;
    }
}

/// Line and column, from 1.
fn place(bytes: &[u8], at: usize) -> String {
    let before = &bytes[..at];
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
    format!("{line}:{column}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn count(text: &str) -> Result<u32, String> {
        read(text.as_bytes()).map(|batch| batch.requests)
    }

    #[test]
    fn requests_are_counted_with_and_without_bodies() {
        assert_eq!(count("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), Ok(1));
        assert_eq!(count(&"GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(3)), Ok(3));
        assert_eq!(count("POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\nGET GET / HTTP/1.0\r\n\r\n"), Ok(2));
        let chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
        assert_eq!(count(&chunked.repeat(2)), Ok(2));
        assert_eq!(read(b"HEAD / HTTP/1.1\r\n\r\n"), Ok(Batch { layout: Layout::new("HEAD", 19), requests: 1 }));
    }

    proptest! {
        #[test]
        fn what_differs_in_its_path_is_read_alike(
            method in "(GET|HEAD|POST)",
            paths in prop::array::uniform2("[ -~\t\u{7f}\u{e9}\r]{0,6}/?[!-~]{0,9}"),
            rest in r"(\r\nHost: a|\r\nContent-Length: 2|\r\n)?\r\n\r\n(ab|GET / HTTP/1\.1\r\n\r\n)?",
        ) {
            let [first, second] = paths.map(|path| format!("{method} {path} HTTP/1.1{rest}"));
            let before = read(first.as_bytes());
            if before.is_ok() && differs_in_path(second.as_bytes(), first.as_bytes()) {
                prop_assert_eq!(read(second.as_bytes()), before.map(|batch| batch.resized(first.len(), second.len())));
            }
        }
    }

    #[test]
    fn a_path_with_a_blank_is_the_servers_to_refuse() {
        let text = b"HEAD /a b HTTP/1.1\r\nHost: a\r\n\r\n";
        assert!(read(text).is_err());
        assert_eq!(read_with_any_path(text), Ok(Batch { layout: Layout::new("HEAD", text.len()), requests: 1 }));
        for other in ["GET /a b HTTP/1.1\r\nHost: a\r\n", "GET /a b\r\n\r\n", "hello", "GET / HTTP/1.1\r\nContent-Length: 9\r\n\r\n"] {
            assert_eq!(read_with_any_path(other.as_bytes()), read(other.as_bytes()), "{other:?}");
        }
    }

    #[test]
    fn only_another_path_is_a_difference_in_the_path() {
        let from = b"GET /1 HTTP/1.1\r\nHost: a\r\n\r\n";
        let differs = |text: &str| differs_in_path(text.as_bytes(), from);
        assert!(differs("GET /23 HTTP/1.1\r\nHost: a\r\n\r\n"));
        for other in [
            "",
            "GET",
            "GET \r\n",
            "GET  HTTP/1.1\r\nHost: a\r\n\r\n",
            "HEAD /1 HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /1 HTTP/1.0\r\nHost: a\r\n\r\n",
            "GET /1 2 HTTP/1.1\r\nHost: a\r\n\r\n",
            "GET /1 HTTP/1.1\r\nHost: b\r\n\r\n",
            "GET /1 HTTP/1.1\r\nHost: a\r\n",
            "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /1 HTTP/1.1\r\nHost: a\r\n\r\n",
        ] {
            assert!(!differs(other), "{other:?}");
        }
    }

    #[test]
    fn what_is_no_request_is_told_with_its_place() {
        assert_eq!(count(""), Err("incomplete request at 1:1".to_owned()));
        assert_eq!(count("GET / HTTP/1.1\r\nHost: a\r\n"), Err("incomplete request at 1:1".to_owned()));
        assert_eq!(count("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nabc"), Err("incomplete request at 1:1".to_owned()));
        assert!(count("GET / HTTP/1.1\r\n\r\nrubbish").unwrap_err().ends_with("at 3:1"));
        assert!(count("hello world").is_err());
        assert!(count("GET / HTTP/1.1\r\n\r\nHEAD / HTTP/1.1\r\n\r\n").unwrap_err().starts_with("HEAD among"));
        for cut in 1.."POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n".len() {
            let cut = &"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"[..cut];
            assert_eq!(count(cut), Err("incomplete request at 1:1".to_owned()), "{cut:?}");
        }
    }
}
