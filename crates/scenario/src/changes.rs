//! What scripts change about a request before it is sent.
//!
//! A request is written once: where a script looks at it before the script, else behind it, with the variables that it has set. So what
//! is signed is what is sent, and a script that only adds a header costs no second request. Changes are made to the parts of a request,
//! which is put together again when all scripts of its step have had it.
//!
//! Invariant: whatever a script does, what is sent is one request to the place that its step names.

use std::mem::take;

use engine::protocol::http1::request::{RequestError, serialise};
use engine::protocol::{Encoded, EncodedRef};
use javascript::Said;
use plan::{FORM_TYPE, Target, path_encoded};

/// A request taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Draft {
    method: String,
    /// What stands before the path where a proxy is asked.
    origin: String,
    /// With its query.
    path: String,
    /// But for those that say how long the body is.
    headers: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
}

/// Something that a script does to a request.
#[derive(Debug, Clone)]
enum Change {
    Method(String),
    Path(String),
    Place(String),
    Body(String),
    Header(String, Option<String>),
    Field(String, String),
}

/// What the scripts before one request have done so far.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// The request, if a script looks at it.
    draft: Option<Draft>,
    /// What is to be done to it, if none does.
    put_off: Vec<Change>,
}

impl Changes {
    /// From now on they are made to this request.
    pub(crate) fn begin(&mut self, request: EncodedRef<'_>) {
        let mut draft = Draft::of(request);
        take(&mut self.put_off).into_iter().for_each(|change| draft.change(change));
        self.draft = Some(draft);
    }

    pub(crate) fn has_draft(&self) -> bool {
        self.draft.is_some()
    }

    /// What this request is to become, as it is written but for the changes so far.
    pub(crate) fn preview(&self, request: EncodedRef<'_>) -> Option<Encoded> {
        let draft = self.draft.clone().unwrap_or_else(|| {
            let mut draft = Draft::of(request);
            self.put_off.iter().cloned().for_each(|change| draft.change(change));
            draft
        });
        draft.encoded().ok()
    }

    /// The request as it is to be sent, if it was written already; else the changes that are to be made to it.
    pub(crate) fn finish(&mut self, request: EncodedRef<'_>) -> Option<Draft> {
        if self.draft.is_none() && !self.put_off.is_empty() {
            self.begin(request);
        }
        self.draft.take()
    }

    pub(crate) fn said(&self, what: &str, place: &Target) -> Said {
        let Some(draft) = &self.draft else { return Said::Nothing };
        Said::Text(match what {
            "method" => draft.method.clone(),
            "path" => draft.path.clone(),
            "url" => place.clone().with_path_and_query(draft.path.clone()).absolute(),
            "body" => String::from_utf8_lossy(&draft.body).into_owned(),
            "headers" => draft.headers.iter().map(|(name, value)| format!("{name}: {}\n", String::from_utf8_lossy(value))).collect(),
            _ => return Said::Nothing,
        })
    }

    /// Makes a part of the request another one.
    ///
    /// # Errors
    /// If nothing of the kind can be sent, in words.
    pub(crate) fn set(&mut self, what: &str, text: String) -> Result<(), String> {
        let change = match what {
            "method" if text == "CONNECT" => return Err("CONNECT is no method that has an answer".to_owned()),
            "method" => {
                serialise(&text, "/", NO_HEADERS, b"").map_err(|why| why.to_string())?;
                Change::Method(text)
            }
            "path" | "place" if !text.starts_with('/') => {
                return Err(format!("a request goes where its step says: '{}' is no path, which begins with /", text.escape_debug()));
            }
            "path" => Change::Path(path_encoded(&text)),
            "place" => Change::Place(path_encoded(&text)),
            _ => Change::Body(text),
        };
        self.make(change);
        Ok(())
    }

    /// Gives the request a header, or takes it out.
    ///
    /// # Errors
    /// If it cannot be sent, in words.
    pub(crate) fn set_header(&mut self, name: String, value: Option<String>) -> Result<(), String> {
        if ["host", "content-length", "transfer-encoding", "connection"].contains(&name.to_ascii_lowercase().as_str()) {
            return Err(format!("the header {name} is written by loadline itself, for the request as it is sent"));
        }
        serialise("GET", "/", &[(&name, value.as_deref().unwrap_or_default())], b"").map_err(|why| why.to_string())?;
        self.make(Change::Header(name, value));
        Ok(())
    }

    /// Adds a field, encoded.
    pub(crate) fn add_field(&mut self, name: String, value: String) {
        self.make(Change::Field(name, value));
    }

    fn make(&mut self, change: Change) {
        match &mut self.draft {
            Some(draft) => draft.change(change),
            None => self.put_off.push(change),
        }
    }
}

impl Draft {
    fn of(request: EncodedRef<'_>) -> Self {
        let path = request.path().unwrap_or("/");
        let headers = request.headers().unwrap_or_default().into_iter().filter(|(name, _)| !name.eq_ignore_ascii_case("content-length"));
        Self {
            method: request.method().to_owned(),
            origin: request.target().strip_suffix(path).unwrap_or_default().to_owned(),
            path: path.to_owned(),
            headers: headers.map(|(name, value)| (name.to_owned(), value.trim_ascii().to_vec())).collect(),
            body: request.body().to_vec(),
        }
    }

    fn change(&mut self, change: Change) {
        match change {
            Change::Method(method) => self.method = method,
            Change::Path(path) => self.path = path,
            Change::Place(place) => {
                let query = self.path.split_once('?').map_or("", |(_, query)| query);
                let sign = if query.is_empty() {
                    ""
                } else if place.contains('?') {
                    "&"
                } else {
                    "?"
                };
                self.path = format!("{place}{sign}{query}");
            }
            Change::Body(body) => self.body = body.into_bytes(),
            Change::Header(name, value) => self.set_header(&name, value.map(String::into_bytes)),
            Change::Field(name, value) => self.add_field(&name, &value),
        }
    }

    /// The first of this name keeps its place, others go.
    fn set_header(&mut self, name: &str, value: Option<Vec<u8>>) {
        let at = self.headers.iter().position(|(known, _)| known.eq_ignore_ascii_case(name));
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        if let Some(value) = value {
            self.headers.insert(at.unwrap_or(self.headers.len()), (name.to_owned(), value));
        }
    }

    fn add_field(&mut self, name: &str, value: &str) {
        let field = format!("{name}={value}");
        if matches!(self.method.as_str(), "POST" | "PUT" | "PATCH") {
            if !self.body.is_empty() {
                self.body.push(b'&');
            }
            self.body.extend_from_slice(field.as_bytes());
            if !self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
                self.headers.push(("Content-Type".to_owned(), FORM_TYPE.into()));
            }
        } else {
            let sign = if self.path.contains('?') { '&' } else { '?' };
            self.path = format!("{}{sign}{field}", self.path);
        }
    }

    /// Puts it together.
    ///
    /// # Errors
    /// If it is none any more, which each change was held against.
    pub(crate) fn encoded(&self) -> Result<Encoded, RequestError> {
        serialise(&self.method, &format!("{}{}", self.origin, self.path), &self.headers, &self.body)
    }
}

const NO_HEADERS: &[(&str, &str)] = &[];

#[cfg(test)]
mod tests {
    use super::*;

    const POST: &[u8] = b"POST /a?x=1 HTTP/1.1\r\nHost: a.test\r\nX-One: 1\r\nContent-Length: 3\r\n\r\nb=2";

    fn changed(bytes: &[u8], make: impl Fn(&mut Changes)) -> [String; 2] {
        // Before it is written, and behind that.
        [false, true].map(|is_written| {
            let mut changes = Changes::default();
            if is_written {
                changes.begin(EncodedRef::read(bytes));
            }
            make(&mut changes);
            let draft = changes.finish(EncodedRef::read(bytes)).unwrap();
            let encoded = draft.encoded().unwrap();
            assert_eq!(encoded.layout, EncodedRef::read(&encoded.bytes).layout());
            String::from_utf8(encoded.bytes).unwrap()
        })
    }

    #[test]
    fn what_is_changed_is_sent_whenever_the_request_is_written() {
        let both = changed(POST, |changes| {
            changes.set("place", "/c d".to_owned()).unwrap();
            changes.set_header("x-one".to_owned(), Some("2".to_owned())).unwrap();
            changes.set_header("X-Two".to_owned(), Some("é".to_owned())).unwrap();
            changes.add_field("n".to_owned(), "%26".to_owned());
        });
        let expected = "POST /c%20d?x=1 HTTP/1.1\r\nHost: a.test\r\nx-one: 2\r\nX-Two: é\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 9\r\n\r\nb=2&n=%26";
        assert_eq!(both, [expected, expected]);
        let get = changed(b"GET http://a.test/a HTTP/1.1\r\nHost: a.test\r\nX: 1\r\n\r\n", |changes| {
            changes.add_field("n".to_owned(), "1".to_owned());
            changes.set_header("x".to_owned(), None).unwrap();
        });
        assert_eq!(get[0], "GET http://a.test/a?n=1 HTTP/1.1\r\nHost: a.test\r\n\r\n");
        let emptied = changed(POST, |changes| {
            changes.set("body", String::new()).unwrap();
            changes.set("method", "DELETE".to_owned()).unwrap();
            changes.set("path", "/".to_owned()).unwrap();
        });
        assert_eq!(emptied[1], "DELETE / HTTP/1.1\r\nHost: a.test\r\nX-One: 1\r\n\r\n");
    }

    #[test]
    fn a_request_stays_one_request_to_its_place() {
        let mut changes = Changes::default();
        for (what, text) in
            [("path", "http://b.test/"), ("path", ""), ("place", "a"), ("method", "A B"), ("method", ""), ("method", "CONNECT")]
        {
            assert!(changes.set(what, text.to_owned()).is_err(), "{what} {text}");
        }
        for (name, value) in [("a b", "1"), ("", "1"), ("Host", "b"), ("content-length", "1"), ("a", "1\r\nb: 2"), ("a", "\n")] {
            assert!(changes.set_header(name.to_owned(), Some(value.to_owned())).is_err(), "{name} {value}");
        }
        assert!(changes.finish(EncodedRef::read(POST)).is_none(), "nothing was changed");
        let both = changed(b"GET / HTTP/1.1\r\n\r\n", |changes| changes.set("path", "/a b\r\nX: 1#é".to_owned()).unwrap());
        assert_eq!(both[0], "GET /a%20b%0D%0AX:%201%23%C3%A9 HTTP/1.1\r\n\r\n");
    }
}
