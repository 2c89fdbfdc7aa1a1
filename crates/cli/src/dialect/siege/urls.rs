//! siege's list of URLs: one a line, with variables, bodies and comments.
//!
//! The original passes over what it cannot read and sends whatever is left. Here a line that is no URL ends reading with its number,
//! since a list of which half is silently skipped measures something nobody asked for.

use std::collections::BTreeMap;
use std::fs;

use crate::inputs::plainly;

/// One line.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub method: String,
    pub target: plan::Target,
    /// As it is shown.
    pub url: String,
    pub body: Vec<u8>,
    /// Of the body, if the file's name tells.
    pub content_type: Option<&'static str>,
}

const METHODS: [&str; 6] = ["POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/// Reads a whole list.
///
/// # Errors
/// With the number of the line.
pub fn read(text: &str) -> Result<Vec<Entry>, String> {
    let mut variables: BTreeMap<String, String> = BTreeMap::new();
    let mut entries = Vec::new();
    for (place, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |why: String| format!("line {}: {why}", place + 1);
        if let Some((name, value)) = variable(line) {
            let value = filled_in(value, &variables).map_err(wrong)?;
            variables.insert(name.to_owned(), value);
            continue;
        }
        entries.push(filled_in(line, &variables).and_then(|line| entry(&line)).map_err(wrong)?);
    }
    Ok(entries)
}

/// One line, or what stood on the command line.
///
/// # Errors
/// In words.
pub fn entry(line: &str) -> Result<Entry, String> {
    let line = line.trim();
    let (url, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim_start();
    let (method, data) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let method = if method.is_empty() { "GET" } else { method };
    if method != "GET" && !METHODS.contains(&method) {
        return Err(format!("'{method}' behind the URL is none of {}", METHODS.join(", ")));
    }
    let whole = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
    let target: plan::Target = whole.parse().map_err(|why| format!("'{url}' {why}"))?;
    let data = data.trim_start();
    let (body, content_type) = match data.strip_prefix('<') {
        Some(path) => {
            let path = path.trim();
            (fs::read(path).map_err(|why| format!("'{path}' cannot be read: {}", plainly(&why)))?, type_of(path))
        }
        None => (data.as_bytes().to_vec(), None),
    };
    Ok(Entry { method: method.to_owned(), target, url: whole, body, content_type })
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
        filled += variables.get(name).ok_or_else(|| format!("the variable '{name}' has no value above this line"))?;
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
        "gif" => "image/gif",
        "jpg" | "jpeg" => "image/jpeg",
        "png" => "image/png",
        "pdf" => "application/pdf",
        "zip" => "application/zip",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        let one = |entry: Entry| format!("{} {} <{}>", entry.method, entry.url, String::from_utf8_lossy(&entry.body));
        read(text).unwrap().into_iter().map(one).collect()
    }

    #[test]
    fn a_list_has_urls_variables_and_bodies() {
        let text = "# all of them\nHOST = h:81\nPATH=/a\nBASE=http://$(HOST)${PATH}\n\n$(BASE)/1\nh/2?x=\\$5&y=$z\n${BASE} POST a=1&b=two words\n\
                    https://h/3 PUT {\"a\":1}\nh DELETE\nh/5 HEAD\n";
        assert_eq!(
            told(text),
            [
                "GET http://h:81/a/1 <>",
                "GET http://h/2?x=$5&y=$z <>",
                "POST http://h:81/a <a=1&b=two words>",
                "PUT https://h/3 <{\"a\":1}>",
                "DELETE http://h <>",
                "HEAD http://h/5 <>",
            ]
        );
    }

    #[test]
    fn bodies_come_from_files() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("b.json");
        fs::write(&path, "{}").unwrap();
        let read = entry(&format!("http://h/ POST <{}", path.display())).unwrap();
        assert_eq!((read.body.as_slice(), read.content_type), (&b"{}"[..], Some("application/json")));
    }

    #[test]
    fn mistakes_have_the_number_of_their_line() {
        for (text, part) in [
            ("h/1\n\nftp://h/x", "line 3: 'ftp://h/x' has the scheme 'ftp'"),
            ("h/$(NOPE)", "line 1: the variable 'NOPE' has no value"),
            ("A=1\nh/$(A", "line 2: a variable is not closed with ')'"),
            ("h/ FETCH x", "line 1: 'FETCH' behind the URL is none of POST"),
            ("h/ POST </no/such/file", "line 1: '/no/such/file' cannot be read"),
        ] {
            let why = read(text).unwrap_err();
            assert!(why.contains(part), "{text}: {why}");
        }
    }
}
