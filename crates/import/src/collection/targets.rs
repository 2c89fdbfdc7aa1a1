//! vegeta's lists of targets, in both of its formats.
//!
//! `loadline vegeta` reads the same lists one target at a time, from pipes that never end, and opens the files that they name. Here a
//! list is a file that is read whole, no other file is opened, and its bodies stay files.

use std::collections::BTreeMap;

use base64::Engine as _;
use plan::template::Template;
use plan::work::Body;
use serde::Deserialize;

use super::curl::credentials_apart;
use super::{Collection, Kind, METHOD_BYTES_MAX, ReadError, Request, first_word, is_method, shortened};

/// A target a paragraph: `GET http://host/`, headers, `@file`.
pub(super) fn read_text(text: &str) -> Result<Collection, ReadError> {
    let mut collection = Collection::new(Kind::Vegeta);
    let mut lines = (1..).zip(text.lines().map(str::trim)).peekable();
    while let Some((number, line)) = lines.next() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |column: usize, what: &str| Err(ReadError::at(number, column, format!("{what}: {}", shortened(line))));
        let Some((method, url)) = first_word(line, METHOD_BYTES_MAX) else {
            return wrong(1, "this is no target such as 'GET http://host/'");
        };
        if !is_request_line(line) {
            return wrong(1, "this is no method");
        }
        let mut request =
            Request { method: method.to_owned(), url: address(url.trim()), place: format!("line {number}"), ..Request::default() };
        if request.url.is_empty() {
            return wrong(method.len() + 2, "this is no URL");
        }
        while let Some((number, line)) = lines.next_if(|(_, line)| !line.is_empty() && !is_request_line(line)) {
            if let Some(path) = line.strip_prefix('@') {
                request.body = Body::File(path.to_owned());
                break;
            }
            if line.starts_with('#') {
                continue;
            }
            match line.split_once(':') {
                Some((name, value)) if !name.trim().is_empty() => request.take_header(name.trim(), Template::fixed(value.trim())),
                _ => return Err(ReadError::at(number, 1, format!("this is no header: {}", shortened(line)))),
            }
        }
        push(request, &mut collection);
    }
    Ok(collection)
}

/// A target as an object.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct JsonTarget {
    /// Such as `GET`.
    pub method: String,
    /// Where it goes.
    pub url: String,
    /// In base64.
    pub body: Option<String>,
    /// Values by name.
    pub header: Option<BTreeMap<String, Vec<String>>>,
}

/// A target a line, as an object.
pub(super) fn read_json(text: &str) -> Result<Collection, ReadError> {
    let mut collection = Collection::new(Kind::VegetaJson);
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let written: JsonTarget = serde_json::from_str(line).map_err(|why| {
            let message = why.to_string();
            ReadError::at(number, why.column(), message.split(" at line ").next().unwrap_or_default())
        })?;
        if !is_method(&written.method) {
            return Err(ReadError::at(number, 1, format!("'{}' is no method", shortened(&written.method))));
        }
        let place = format!("line {number}");
        let mut request = Request { method: written.method, url: address(&written.url), place: place.clone(), ..Request::default() };
        for (name, values) in written.header.unwrap_or_default() {
            values.iter().for_each(|value| request.take_header(&name, Template::fixed(value.as_str())));
        }
        let body = written.body.unwrap_or_default();
        let bytes =
            base64::engine::general_purpose::STANDARD.decode(body).map_err(|_| ReadError::at(number, 1, "the body is not base64"))?;
        match String::from_utf8(bytes) {
            Ok(text) if text.is_empty() => {}
            Ok(text) => request.body = Body::Text(Template::fixed(text)),
            Err(_) => collection.leave_out("the body", place, "it is not text; save it to a file and name that in the scenario"),
        }
        push(request, &mut collection);
    }
    Ok(collection)
}

fn push(mut request: Request, collection: &mut Collection) {
    credentials_apart(&mut request);
    collection.requests.push(request);
}

/// Go takes a URL without a host for this machine.
fn address(url: &str) -> Template {
    match url.split_once("://") {
        Some((scheme, rest)) if rest.starts_with([':', '/']) => Template::fixed(format!("{scheme}://localhost{rest}")),
        Some(_) => Template::fixed(url),
        None => Template::default(),
    }
}

/// Whether a line begins with a word in capitals and a blank, as the first of a target does.
#[must_use]
pub fn is_request_line(line: &str) -> bool {
    let end = line.bytes().take(METHOD_BYTES_MAX + 1).take_while(u8::is_ascii_uppercase).count();
    end > 0 && line[end..].starts_with(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::Wishes;

    fn told(kind: Kind, text: &str) -> Vec<String> {
        let read = Collection::read(kind, text.as_bytes(), &Wishes::default()).unwrap();
        let one = |request: &Request| {
            let headers: String = request.headers.iter().map(|(name, value)| format!(" {name}={}", value)).collect();
            format!("{} {}{headers} {:?}", request.method, request.url, request.body)
        };
        read.requests.iter().map(one).collect()
    }

    #[test]
    fn a_list_is_its_targets() {
        let text =
            "# all\n\nGET http://a/1\nHEAD http://:81/2\n  POST   http://a/3\nX-A: 1\n# between\nX-A: 3\n@body.json\nPUT http://b:81/\n";
        assert_eq!(
            told(Kind::Vegeta, text),
            [
                "GET http://a/1 Empty",
                "HEAD http://localhost:81/2 Empty",
                "POST http://a/3 X-A=1, 3 File(\"body.json\")",
                "PUT http://b:81/ Empty"
            ]
        );
        let text = "{\"method\":\"GET\",\"url\":\"http://a/\"}\n\n{\"method\":\"POST\",\"url\":\"http://b/\",\"body\":\"aGk=\",\"header\":{\"H\":[\"1\",\"2\"]}}";
        assert_eq!(
            told(Kind::VegetaJson, text),
            ["GET http://a/ Empty", "POST http://b/ H=1, 2 Text(Template { pieces: [Text(\"hi\")] })"]
        );
    }

    #[test]
    fn mistakes_have_their_place() {
        for (kind, text, at, part) in [
            (Kind::Vegeta, "GET http://a/\n\nget http://a/", (3, 1), "no method"),
            (Kind::Vegeta, "GET /path", (1, 5), "no URL"),
            (Kind::Vegeta, "GET http://a/\nNoColon", (2, 1), "no header"),
            (Kind::VegetaJson, "{\"method\":\"GET\",\"url\":\"http://a/\"}\n{\"method\":}", (2, 11), "expected value"),
            (Kind::VegetaJson, "{\"method\":\"GET\",\"url\":\"http://a/\",\"body\":\"?\"}", (1, 1), "base64"),
        ] {
            let why = Collection::read(kind, text.as_bytes(), &Wishes::default()).unwrap_err();
            assert_eq!(why.at, Some(at), "{text}: {why:?}");
            assert!(why.message.spelt(plan::Spelling::Flags).contains(part), "{text}: {why:?}");
        }
    }
}
