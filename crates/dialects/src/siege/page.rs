//! What a browser would ask for after a page, and what it would remember: as much of it as siege does.
//!
//! siege is no browser. It looks for the sources of images, scripts and frames and for style sheets, takes what lies on the
//! same host, and sends cookies back. A whole HTML parser would find more than siege asks for, and the load would be another one.

use std::collections::BTreeMap;

/// So much of a page is looked at.
pub const PAGE_BYTES_MAX: usize = 1 << 20;

/// So many parts of a page are asked for.
const PARTS_MAX: usize = 500;

/// What a page needs besides, in its order, each once; only what its own host serves.
pub fn parts(page: &plan::Target, html: &str) -> Vec<plan::Target> {
    let mut parts: Vec<plan::Target> = Vec::new();
    for (tag, attributes) in tags(html) {
        let value = |name: &str| attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        let source = match tag.as_str() {
            "img" | "script" => value("src"),
            "link" if value("rel").is_some_and(|rel| rel.to_ascii_lowercase().starts_with("stylesheet")) => value("href"),
            _ => None,
        };
        let Some(target) = source.filter(|source| !source.trim().is_empty()).and_then(|source| page.join(source.trim()).ok()) else {
            continue;
        };
        if target.same_server(page) && !parts.contains(&target) && parts.len() < PARTS_MAX {
            parts.push(target);
        }
    }
    parts
}

/// Every tag that opens, with its attributes; comments are left out.
fn tags(html: &str) -> Vec<(String, Vec<(String, String)>)> {
    let mut tags = Vec::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
            continue;
        }
        let end = tag_end(rest);
        let (inside, after) = rest.split_at(end);
        rest = after;
        let name_end = inside.find(|letter: char| letter.is_whitespace() || letter == '/').unwrap_or(inside.len());
        let (name, attributes) = inside.split_at(name_end);
        if name.starts_with(|letter: char| letter.is_ascii_alphabetic()) {
            tags.push((name.to_ascii_lowercase(), read_attributes(attributes)));
        }
    }
    tags
}

/// Where a tag ends: at the first `>` outside quotes.
fn tag_end(text: &str) -> usize {
    let mut quote = None;
    for (at, letter) in text.char_indices() {
        match (letter, quote) {
            ('>', None) => return at,
            ('"' | '\'', None) => quote = Some(letter),
            (letter, Some(open)) if letter == open => quote = None,
            _ => {}
        }
    }
    text.len()
}

fn read_attributes(text: &str) -> Vec<(String, String)> {
    let mut attributes = Vec::new();
    let mut rest = text.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '/');
    while !rest.is_empty() {
        let end = rest.find(|letter: char| letter.is_whitespace() || letter == '=' || letter == '/').unwrap_or(rest.len()).max(1);
        let end = (end..=rest.len()).find(|end| rest.is_char_boundary(*end)).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let after = after.trim_start();
        let (value, after) = match after.strip_prefix('=').map(str::trim_start) {
            None => ("", after),
            Some(after) => match after.chars().next() {
                Some(quote @ ('"' | '\'')) => after[1..].split_once(quote).unwrap_or((&after[1..], "")),
                _ => after.split_at(after.find(char::is_whitespace).unwrap_or(after.len())),
            },
        };
        attributes.push((name.to_ascii_lowercase(), value.replace("&amp;", "&")));
        rest = after.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '/');
    }
    attributes
}

/// The cookies of one user: by host, name and value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cookies(BTreeMap<String, BTreeMap<String, String>>);

/// So many cookies of a host are kept.
const COOKIES_MAX: usize = 200;

impl Cookies {
    /// Takes the value of a Set-Cookie header.
    pub fn set(&mut self, host: &str, line: &str) {
        let mut parts = line.split(';');
        let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else { return };
        let (name, value) = (name.trim(), value.trim());
        let gone = parts.any(|part| {
            let part = part.trim().to_ascii_lowercase();
            part.strip_prefix("max-age=").is_some_and(|age| age.parse::<i64>().is_ok_and(|age| age <= 0))
        });
        let own = self.0.entry(host.to_owned()).or_default();
        if gone {
            own.remove(name);
        } else if !name.is_empty() && (own.len() < COOKIES_MAX || own.contains_key(name)) {
            own.insert(name.to_owned(), value.to_owned());
        }
    }

    /// The value of the Cookie header, if there is anything to say.
    pub fn line(&self, host: &str) -> Option<String> {
        let own = self.0.get(host).filter(|own| !own.is_empty())?;
        Some(own.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(html: &str) -> Vec<String> {
        let page = "http://h:81/a/b".parse().unwrap();
        parts(&page, html).iter().map(|part| part.path_and_query().to_owned()).collect()
    }

    #[test]
    fn a_page_needs_its_images_scripts_and_style_sheets() {
        let html = "<!-- <img src=no> --><html><link rel='stylesheet' href=/s.css><LINK href=x rel=icon><script src=\"c.js?x=1&amp;y=2\"></script>\
                    <img alt='a > b' src=../i.png /><img src='http://h:81/s.css'><img src='http://other/i.png'><a href=/no>x</a><img src><img src=''>";
        assert_eq!(found(html), ["/s.css", "/a/c.js?x=1&y=2", "/i.png"]);
        assert_eq!(found("<img src"), Vec::<String>::new());
        assert_eq!(found("plain"), Vec::<String>::new());
    }

    #[test]
    fn cookies_go_back_to_their_host_until_they_are_taken_away() {
        let mut cookies = Cookies::default();
        cookies.set("h", "b=2; Path=/; HttpOnly");
        cookies.set("h", "a = 1");
        cookies.set("other", "c=3");
        assert_eq!(cookies.line("h").as_deref(), Some("a=1; b=2"));
        cookies.set("h", "a=x; Max-Age=0");
        assert_eq!(cookies.line("h").as_deref(), Some("b=2"));
        assert_eq!(cookies.line("none"), None);
    }

    proptest! {
        #[test]
        fn any_page_is_read_to_its_end(html in "[<>!\\-a-z\"'=/ é&]{0,200}") {
            let _ = found(&html);
        }
    }
}
