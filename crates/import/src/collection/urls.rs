//! siege's list of URLs: one a line, with variables, bodies and comments.
//!
//! `loadline siege` reads its list by this too. Files that are named as bodies are not opened here: that is the reader's affair.

use std::collections::BTreeMap;

use plan::template::Template;
use plan::work::Body;

use super::curl::credentials_apart;
use super::{Collection, Kind, METHOD_BYTES_MAX, ReadError, Request, URL_BYTES_MAX, first_word, shortened};

const METHODS: [&str; 6] = ["POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
/// What variables make of a line is at most so long.
const LINE_BYTES_MAX: usize = 64 * 1024;

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// `GET` where none is named.
    pub method: String,
    /// With its scheme.
    pub url: String,
    /// Where it leads.
    pub target: plan::Target,
    /// What is sent there.
    pub data: Data,
}

/// What stands behind the method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Data {
    /// Nothing.
    None,
    /// The body itself.
    Text(String),
    /// The file that holds it.
    File(String),
}

/// The lines of a list that are URLs, each with its number from 1 and what it holds, or why it cannot be read.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, Result<Line, String>)> {
    let mut variables: BTreeMap<String, String> = BTreeMap::new();
    (1..).zip(text.lines()).filter_map(move |(number, line)| {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let Some((name, value)) = variable(line) else {
            return Some((number, filled_in(line, &variables).and_then(|line| self::line(&line))));
        };
        match filled_in(value, &variables) {
            Ok(value) => {
                variables.insert(name.to_owned(), value);
                None
            }
            Err(why) => Some((number, Err(why))),
        }
    })
}

/// A line whose variables are filled in, or what stands on the command line in its place.
///
/// # Errors
/// In words.
pub fn line(text: &str) -> Result<Line, String> {
    let text = text.trim();
    let (url, rest) = first_word(text, URL_BYTES_MAX).unwrap_or((text, ""));
    if url.len() > URL_BYTES_MAX {
        return Err(format!("'{}' is longer than {URL_BYTES_MAX} bytes", shortened(url)));
    }
    let rest = rest.trim_start();
    let (method, data) = first_word(rest, METHOD_BYTES_MAX).unwrap_or((rest, ""));
    let method = if method.is_empty() { "GET" } else { method };
    if method != "GET" && !METHODS.contains(&method) {
        return Err(format!("'{}' behind the URL is none of {}", shortened(method), METHODS.join(", ")));
    }
    let whole = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
    let target = whole.parse().map_err(|why: String| format!("'{}' {why}", shortened(url)))?;
    let data = match data.trim_start() {
        "" => Data::None,
        data => data.strip_prefix('<').map_or_else(|| Data::Text(data.to_owned()), |path| Data::File(path.trim().to_owned())),
    };
    Ok(Line { method: method.to_owned(), url: whole, target, data })
}

pub(super) fn read(text: &str) -> Result<Collection, ReadError> {
    let mut collection = Collection::new(Kind::Siege);
    for (number, line) in lines(text) {
        let Line { method, url, data, .. } = line.map_err(|why| ReadError::at(number, 1, why))?;
        let mut request = Request { method, url: Template::fixed(url), place: format!("line {number}"), ..Request::default() };
        match data {
            Data::None => {}
            Data::Text(text) => request.body = Body::Text(Template::fixed(text)),
            Data::File(path) => request.body = Body::File(path),
        }
        if request.body != Body::Empty {
            // siege calls every body so, also that of a file.
            request.header_if_none("Content-Type", plan::FORM_TYPE);
        }
        credentials_apart(&mut request);
        collection.requests.push(request);
    }
    Ok(collection)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collection::Wishes;

    #[test]
    fn a_list_has_urls_variables_and_bodies() {
        let text = "# all\nHOST = h:81\nBASE=http://$(HOST)/a\n\n$(BASE)/1\nh/2?x=\\$5\n${BASE} POST a=1&b=two words\nhttps://me:pw@h/3 PUT <b.json\n";
        let read = Collection::read(Kind::Siege, text.as_bytes(), &Wishes::default()).unwrap();
        let told: Vec<String> =
            read.requests.iter().map(|request| format!("{} {} {:?}", request.method, request.url, request.body)).collect();
        assert_eq!(
            told,
            [
                "GET http://h:81/a/1 Empty",
                "GET http://h/2?x=$5 Empty",
                "POST http://h:81/a Text(Template { pieces: [Text(\"a=1&b=two words\")] })",
                "PUT https://h/3 File(\"b.json\")",
            ]
        );
        let types: Vec<_> = read.requests.iter().map(|request| request.header("content-type").and_then(Template::plain)).collect();
        let form = Some("application/x-www-form-urlencoded");
        assert_eq!(types, [None, None, form, form]);
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
            assert!(why.message.spelt(plan::Spelling::Flags).contains(part), "{text}: {why:?}");
        }
        let doubling: String = std::iter::once("A=xx\n".to_owned()).chain((0..40).map(|_| "A=$(A)$(A)\n".to_owned())).collect();
        assert!(
            Collection::read(Kind::Siege, (doubling + "h/$(A)").as_bytes(), &Wishes::default())
                .unwrap_err()
                .message
                .marked()
                .contains("longer")
        );
    }
}
