//! vegeta's lists of targets, in both of its formats, read one target at a time.
//!
//! A list may be a pipe that never ends, so nothing here reads further than the target asked for (and one line more, which decides
//! whether the target goes on). A mistake ends reading with the number of its line: in a list of a hundred thousand, `bad header`
//! alone is no help.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use engine::body::BYTES_MAX;
use import::collection::targets::{JsonTarget, is_request_line};
use plan::plainly;

use crate::goclient::address;
use crate::host::Files;

/// How a list is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// `GET http://host/`, headers, `@file`, an empty line.
    Http,
    /// An object a line.
    Json,
}

/// One request, as it stands in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub method: String,
    pub url: String,
    /// Names as written, and their values in order.
    pub headers: BTreeMap<String, Vec<String>>,
    pub body: Vec<u8>,
}

/// What every target gets besides its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Common {
    pub headers: BTreeMap<String, Vec<String>>,
    /// For targets without a body.
    pub body: Vec<u8>,
}

/// What is wrong with a list, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    pub line: u64,
    pub what: String,
}

/// A list that is being read.
pub struct Targets {
    format: Format,
    common: Common,
    lines: Lines,
    /// Bodies are read as targets are.
    files: Arc<dyn Files>,
}

impl Targets {
    pub fn new(format: Format, common: Common, from: Box<dyn BufRead + Send>, files: Arc<dyn Files>) -> Self {
        Self { format, common, files, lines: Lines { from, number: 0, ahead: None } }
    }

    /// The next target; `None` at the end.
    pub fn next(&mut self) -> Result<Option<Target>, Mistake> {
        match self.format {
            Format::Http => self.next_http(),
            Format::Json => self.next_json(),
        }
    }

    /// The number of the line that was read last.
    pub fn line(&self) -> u64 {
        self.lines.number
    }

    fn next_http(&mut self) -> Result<Option<Target>, Mistake> {
        let first = loop {
            match self.lines.next()? {
                None => return Ok(None),
                Some(line) if line.is_empty() || line.starts_with('#') => {}
                Some(line) => break line,
            }
        };
        let (method, url) = first.split_once(' ').ok_or_else(|| self.wrong(format!("bad target: {first}")))?;
        if !is_request_line(&first) {
            return Err(self.wrong(format!("bad method: {method}")));
        }
        let url = url.trim();
        self.check_url(url)?;
        let Common { mut headers, mut body } = self.common.clone();
        let goes_on = self.lines.ahead()?.is_some_and(|line| !line.is_empty() && !is_request_line(line));
        if goes_on {
            while let Some(line) = self.lines.next()?.filter(|line| !line.is_empty()) {
                if let Some(path) = line.strip_prefix('@') {
                    body = self.files.read(path, BYTES_MAX).map_err(|why| self.wrong(format!("bad body: '{path}': {}", plainly(&why))))?;
                    break;
                }
                if line.starts_with('#') {
                    continue;
                }
                let (name, value) = line.split_once(':').map(|(name, value)| (name.trim(), value.trim())).unwrap_or_default();
                if name.is_empty() || value.is_empty() {
                    return Err(self.wrong(format!("bad header: {line}")));
                }
                if is_request_line(&line) {
                    return Err(self.wrong(format!("bad header: {line} (a target after headers needs an empty line before it)")));
                }
                headers.entry(name.to_owned()).or_default().push(value.to_owned());
            }
        }
        Ok(Some(Target { method: method.to_owned(), url: url.to_owned(), headers, body }))
    }

    fn next_json(&mut self) -> Result<Option<Target>, Mistake> {
        let line = loop {
            match self.lines.next()? {
                None => return Ok(None),
                Some(line) if line.is_empty() => {}
                Some(line) => break line,
            }
        };
        let written: JsonTarget = serde_json::from_str(&line).map_err(|why| {
            // It is one line, and its number is told.
            let why = why.to_string();
            self.wrong(why.split(" at line ").next().unwrap_or_default().to_owned())
        })?;
        if written.method.is_empty() {
            return Err(self.wrong("target: required method is missing".to_owned()));
        }
        if written.url.is_empty() {
            return Err(self.wrong("target: required url is missing".to_owned()));
        }
        self.check_url(&written.url)?;
        let own = BASE64_STANDARD
            .decode(written.body.unwrap_or_default())
            .map_err(|_| self.wrong("target: the body is not base64".to_owned()))?;
        let Common { mut headers, body } = self.common.clone();
        for (name, values) in written.header.unwrap_or_default() {
            headers.entry(name).or_default().extend(values);
        }
        Ok(Some(Target { method: written.method, url: written.url, headers, body: if own.is_empty() { body } else { own } }))
    }

    fn check_url(&self, url: &str) -> Result<(), Mistake> {
        match address(url) {
            Some(_) => Ok(()),
            None => Err(self.wrong(format!("bad URL: {url}"))),
        }
    }

    fn wrong(&self, what: String) -> Mistake {
        Mistake { line: self.lines.number, what }
    }
}

/// Lines, trimmed, with their numbers.
struct Lines {
    from: Box<dyn BufRead + Send>,
    /// Of the line given last.
    number: u64,
    /// Read already; the inner `None` is the end.
    ahead: Option<Option<String>>,
}

impl Lines {
    fn next(&mut self) -> Result<Option<String>, Mistake> {
        let line = match self.ahead.take() {
            Some(line) => line,
            None => self.read()?,
        };
        self.number += u64::from(line.is_some());
        Ok(line)
    }

    fn ahead(&mut self) -> Result<Option<&str>, Mistake> {
        if self.ahead.is_none() {
            let line = self.read()?;
            self.ahead = Some(line);
        }
        Ok(self.ahead.as_ref().and_then(|line| line.as_deref()))
    }

    fn read(&mut self) -> Result<Option<String>, Mistake> {
        let mut line = Vec::new();
        match self.from.read_until(b'\n', &mut line) {
            Ok(0) => Ok(None),
            Ok(_) => Ok(Some(String::from_utf8_lossy(&line).trim().to_owned())),
            Err(why) => Err(Mistake { line: self.number + 1, what: plainly(&why) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::memory::MemoryFiles;

    fn all(format: Format, common: Common, text: &str) -> Result<Vec<Target>, Mistake> {
        let mut targets =
            Targets::new(format, common, Box::new(Cursor::new(text.to_owned())), Arc::new(MemoryFiles::new(&[("body", "hello")])));
        let mut all = Vec::new();
        while let Some(target) = targets.next()? {
            all.push(target);
        }
        Ok(all)
    }

    /// `GET http://h/ A=1,2 body`.
    fn told(targets: &[Target]) -> Vec<String> {
        let one = |target: &Target| {
            let headers: String = target.headers.iter().map(|(name, values)| format!(" {name}={}", values.join(","))).collect();
            format!("{} {}{headers} <{}>", target.method, target.url, String::from_utf8_lossy(&target.body))
        };
        targets.iter().map(one).collect()
    }

    #[test]
    fn the_http_format_has_a_target_a_paragraph_or_a_line() {
        let text = "# all\n\nGET http://a/1\nHEAD http://a/2\n  POST   http://a/3\nX-A: 1\n# between\nx-a:2\nX-A: 3\n@body\nPUT http://b:81/\n\n\
                    PURGE http://c";
        let common = Common { headers: [("H".to_owned(), vec!["0".to_owned()])].into(), body: b"all".to_vec() };
        assert_eq!(
            told(&all(Format::Http, common, text).unwrap()),
            [
                "GET http://a/1 H=0 <all>",
                "HEAD http://a/2 H=0 <all>",
                "POST http://a/3 H=0 X-A=1,3 x-a=2 <hello>",
                "PUT http://b:81/ H=0 <all>",
                "PURGE http://c H=0 <all>",
            ]
        );
        assert_eq!(all(Format::Http, Common::default(), "\n# nothing\n"), Ok(Vec::new()));
    }

    #[test]
    fn the_json_format_has_a_target_a_line() {
        let text = "{\"method\":\"GET\",\"url\":\"http://a/\"}\n\n{\"method\":\"POST\",\"url\":\"http://b/\",\"body\":\"aGk=\",\"header\":{\"H\":[\"1\",\"2\"]}}";
        let common = Common { headers: [("H".to_owned(), vec!["0".to_owned()])].into(), body: b"all".to_vec() };
        assert_eq!(told(&all(Format::Json, common, text).unwrap()), ["GET http://a/ H=0 <all>", "POST http://b/ H=0,1,2 <hi>"]);
    }

    #[test]
    fn mistakes_have_the_number_of_their_line() {
        for (format, text, line, what) in [
            (Format::Http, "GET http://a/\n\n# x\nget http://a/", 4, "bad method: get"),
            (Format::Http, "GEThttp://a/", 1, "bad target: GEThttp://a/"),
            (Format::Http, "GET /path", 1, "bad URL: /path"),
            (Format::Http, "\nGET http://a/\nNoColon", 3, "bad header: NoColon"),
            (Format::Http, "GET http://a/\nEmpty:", 2, "bad header: Empty:"),
            (Format::Http, "GET http://a/\nA: b\nGET http://b/", 3, "an empty line before it"),
            (Format::Http, "GET http://a/\nA: b\n@/no/such/file", 3, "bad body: '/no/such/file': "),
            (Format::Json, "{\"method\":\"GET\",\"url\":\"http://a/\"}\n{\"url\":\"http://a/\"}", 2, "target: required method is missing"),
            (Format::Json, "{\"method\":\"GET\"}", 1, "target: required url is missing"),
            (Format::Json, "{\"method\":\"GET\",\"url\":\"a\"}", 1, "bad URL: a"),
            (Format::Json, "{\"method\":\"GET\",\"url\":\"http://a/\",\"body\":\"?\"}", 1, "not base64"),
            (Format::Json, "\n\nGET http://a/", 3, "expected value"),
        ] {
            let mistake = all(format, Common::default(), text).unwrap_err();
            assert_eq!(mistake.line, line, "{text}: {mistake:?}");
            assert!(mistake.what.contains(what), "{text}: {mistake:?}");
        }
    }
}
