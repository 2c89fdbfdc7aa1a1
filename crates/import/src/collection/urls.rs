//! siege's list of URLs: one a line, with variables, bodies and comments.
//!
//! As `loadline siege` reads it, except that files named as bodies are not opened and stay files.

use std::collections::BTreeMap;

use super::curl::credentials_apart;
use super::{Body, Collection, Kind, ReadError, Request, Text, shortened};

const METHODS: [&str; 6] = ["POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
/// What variables make of a line is at most so long.
const LINE_BYTES_MAX: usize = 64 * 1024;

pub(super) fn read(text: &str) -> Result<Collection, ReadError> {
    let mut variables: BTreeMap<String, String> = BTreeMap::new();
    let mut collection = Collection::new(Kind::Siege);
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |why: String| ReadError::at(number, 1, why);
        if let Some((name, value)) = variable(line) {
            let value = filled_in(value, &variables).map_err(wrong)?;
            variables.insert(name.to_owned(), value);
            continue;
        }
        let line = filled_in(line, &variables).map_err(wrong)?;
        let request = request(&line, format!("line {number}")).map_err(wrong)?;
        collection.requests.push(request);
    }
    Ok(collection)
}

fn request(line: &str, place: String) -> Result<Request, String> {
    let (url, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim_start();
    let (method, data) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let method = if method.is_empty() { "GET" } else { method };
    if method != "GET" && !METHODS.contains(&method) {
        return Err(format!("'{}' behind the URL is none of {}", shortened(method), METHODS.join(", ")));
    }
    let whole = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
    let target: Result<plan::Target, String> = whole.parse();
    target.map_err(|why| format!("'{}' {why}", shortened(url)))?;
    let mut request = Request { method: method.to_owned(), url: Text::literal(whole), place, ..Request::default() };
    let data = data.trim_start();
    if let Some(path) = data.strip_prefix('<') {
        let path = path.trim();
        request.headers.extend(type_of(path).map(|media| ("Content-Type".to_owned(), Text::literal(media))));
        request.body = Body::File(path.to_owned());
    } else if !data.is_empty() {
        request.body = Body::Raw(Text::literal(data));
        request.header_if_none("Content-Type", "application/x-www-form-urlencoded");
    }
    credentials_apart(&mut request);
    Ok(request)
}

/// `NAME=value`, or `NAME = value`.
fn variable(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once('=')?;
    let name = name.trim_end();
    let is_name = !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    is_name.then(|| (name, value.trim_start()))
}

/// With the values of `$(NAME)` and `${NAME}`; `\$` is a dollar.
fn filled_in(text: &str, variables: &BTreeMap<String, String>) -> Result<String, String> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let (before, after) = (&rest[..at], &rest[at + 1..]);
        if let Some(before) = before.strip_suffix('\\') {
            filled += before;
            filled.push('$');
            rest = after;
            continue;
        }
        filled += before;
        let end = match after.chars().next() {
            Some('(') => ')',
            Some('{') => '}',
            _ => {
                filled.push('$');
                rest = after;
                continue;
            }
        };
        let (name, after) = after[1..].split_once(end).ok_or_else(|| format!("a variable is not closed with '{end}'"))?;
        filled += variables.get(name).ok_or_else(|| format!("the variable '{}' has no value above this line", shortened(name)))?;
        if filled.len() > LINE_BYTES_MAX {
            return Err(format!("variables make this line longer than {LINE_BYTES_MAX} bytes"));
        }
        rest = after;
    }
    Ok(filled + rest)
}

/// What siege makes of the ending of a body's file.
fn type_of(path: &str) -> Option<&'static str> {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    Some(match ending {
        "json" => "application/json",
        "xml" => "text/xml",
        "html" | "htm" => "text/html",
        "txt" => "text/plain",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::Wishes;

    #[test]
    fn a_list_has_urls_variables_and_bodies() {
        let text = "# all\nHOST = h:81\nBASE=http://$(HOST)/a\n\n$(BASE)/1\nh/2?x=\\$5\n${BASE} POST a=1&b=two words\nhttps://me:pw@h/3 PUT <b.json\n";
        let read = Collection::read(Kind::Siege, text.as_bytes(), &Wishes::default()).unwrap();
        let told: Vec<String> =
            read.requests.iter().map(|request| format!("{} {} {:?}", request.method, request.url.written(), request.body)).collect();
        assert_eq!(
            told,
            [
                "GET http://h:81/a/1 None",
                "GET http://h/2?x=$5 None",
                "POST http://h:81/a Raw(Text([Literal(\"a=1&b=two words\")]))",
                "PUT https://h/3 File(\"b.json\")",
            ]
        );
    }

    #[test]
    fn mistakes_have_the_number_of_their_line() {
        for (text, line, part) in [
            ("h/1\n\nftp://h/x", 3, "the scheme 'ftp'"),
            ("h/$(NOPE)", 1, "has no value"),
            ("A=1\nh/$(A", 2, "not closed"),
            ("h/ FETCH x", 1, "'FETCH' behind the URL"),
        ] {
            let why = Collection::read(Kind::Siege, text.as_bytes(), &Wishes::default()).unwrap_err();
            assert_eq!(why.at, Some((line, 1)));
            assert!(why.message.contains(part), "{text}: {why}");
        }
        let doubling: String = std::iter::once("A=xx\n".to_owned()).chain((0..40).map(|_| "A=$(A)$(A)\n".to_owned())).collect();
        assert!(
            Collection::read(Kind::Siege, (doubling + "h/$(A)").as_bytes(), &Wishes::default()).unwrap_err().message.contains("longer")
        );
    }
}
