//! What a page or a style sheet names that a browser loads behind it: pictures, scripts, style sheets, frames.
//!
//! Which elements and attributes these are is what JMeter takes for "embedded resources" (its parser of pages, 5.6.3): browsers load more
//! (`srcset`, `video`, what scripts ask for), but which of it depends on a screen, and two tools that load the same page are to send
//! the same requests. Style sheets are looked through for `@import` alone (CSS Syntax Level 3 §4.3.6), comments left out: pictures and fonts
//! that they name are loaded where a rule is about something on the page, which nobody knows here. What stands in a `style` of an
//! element is about that.
//!
//! Invariant: each name comes once, in the order of the page; so many at most.

use std::collections::HashSet;

use regex::bytes::Regex;

use crate::html::Document;

/// A page that names more is not one that a browser shows.
const RESOURCES_MAX: usize = 1_000;

/// What a resource is, which says whether it is looked through for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResourceKind {
    /// A page in a frame.
    Page,
    /// A style sheet.
    Style,
    /// Anything else: it names nothing.
    Other,
}

/// What is loaded behind a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// Where it is, as it is written: absolute, or relative to its [base](Resources::base).
    pub url: String,
    /// What it is.
    pub kind: ResourceKind,
}

/// What is loaded behind one page or style sheet.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Where relative ones lead from, if the page says so.
    pub base: Option<String>,
    /// In the order of the page, each once.
    pub all: Vec<Resource>,
}

impl Resources {
    /// What a page names.
    #[must_use]
    pub fn of_page(bytes: &[u8]) -> Self {
        let document = Document::read(bytes);
        let (mut found, mut names) = (Self::default(), HashSet::new());
        for element in document.elements() {
            let mut add = |attribute: &str, kind: ResourceKind| {
                if let Some(url) = element.attribute(attribute) {
                    found.add(url, kind, &mut names);
                }
            };
            let is = |attribute: &str, words: &[&str]| {
                element.attribute(attribute).is_some_and(|value| words.iter().any(|word| word.eq_ignore_ascii_case(value.trim())))
            };
            match element.name() {
                "img" | "script" | "embed" | "bgsound" => add("src", ResourceKind::Other),
                "input" if is("type", &["image"]) => add("src", ResourceKind::Other),
                "frame" | "iframe" => add("src", ResourceKind::Page),
                "link" if is("rel", &["stylesheet"]) => add("href", ResourceKind::Style),
                "link" if is("rel", &["icon", "shortcut icon"]) => add("href", ResourceKind::Other),
                "object" => {
                    add("codebase", ResourceKind::Other);
                    add("data", ResourceKind::Other);
                }
                "applet" => add("code", ResourceKind::Other),
                "base" => {
                    if let Some(base) = element.attribute("href").filter(|base| !base.is_empty()) {
                        found.base.get_or_insert_with(|| base.to_owned());
                    }
                }
                "input" | "link" => {}
                _ => add("background", ResourceKind::Other),
            }
            if let Some(style) = element.attribute("style") {
                found.add_style(style, false, &mut names);
            }
        }
        found
    }

    /// What a style sheet names.
    #[must_use]
    pub fn of_style(bytes: &[u8]) -> Self {
        let mut found = Self::default();
        found.add_style(&String::from_utf8_lossy(bytes), true, &mut HashSet::new());
        found
    }

    fn add(&mut self, url: &str, kind: ResourceKind, names: &mut HashSet<String>) {
        // Blanks and line breaks in an address are none of it (URL Standard §4.4).
        let url: String = url.trim().chars().filter(|letter| !matches!(letter, '\t' | '\n' | '\r')).collect();
        if !url.is_empty() && !url.starts_with('#') && self.all.len() < RESOURCES_MAX && names.insert(url.clone()) {
            self.all.push(Resource { url, kind });
        }
    }

    fn add_style(&mut self, text: &str, only_imports: bool, names: &mut HashSet<String>) {
        let mut rest = text;
        let mut is_imported = false;
        while let Some(letter) = rest.chars().next() {
            if let Some(comment) = rest.strip_prefix("/*") {
                rest = comment.split_once("*/").map_or("", |(_, behind)| behind);
            } else if let Some(behind) = without_word(rest, "@import") {
                (rest, is_imported) = (behind.trim_start(), true);
            } else if let Some(behind) = without_word(rest, "url(") {
                let (url, behind) = address(behind.trim_start());
                if is_imported || !only_imports {
                    self.add(url, if is_imported { ResourceKind::Style } else { ResourceKind::Other }, names);
                }
                (rest, is_imported) = (behind, false);
            } else if matches!(letter, '"' | '\'') {
                let (text, behind) = quoted(&rest[1..], letter);
                if is_imported {
                    self.add(text, ResourceKind::Style, names);
                }
                (rest, is_imported) = (behind, false);
            } else {
                is_imported &= letter != ';';
                rest = &rest[letter.len_utf8()..];
            }
        }
    }
}

/// What follows a word, written in letters of any size.
fn without_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let (begin, behind) = text.split_at_checked(word.len())?;
    begin.eq_ignore_ascii_case(word).then_some(behind)
}

/// The text up to its closing mark, and what follows.
fn quoted(text: &str, mark: char) -> (&str, &str) {
    text.split_once(mark).unwrap_or((text, ""))
}

/// The address in brackets, and what follows.
fn address(text: &str) -> (&str, &str) {
    match text.chars().next() {
        Some(mark @ ('"' | '\'')) => quoted(&text[1..], mark),
        _ => text.split_once(')').unwrap_or((text, "")),
    }
}

/// Which of them are loaded, by their whole URL.
#[derive(Debug, Clone, Default)]
pub struct ResourceFilter {
    only: Option<Regex>,
    except: Option<Regex>,
}

impl ResourceFilter {
    /// Of two regular expressions: what is loaded, if not all, and what of that is not.
    ///
    /// # Errors
    /// If one is no regular expression.
    pub fn new(only: Option<&str>, except: Option<&str>) -> Result<Self, crate::Mistake> {
        Ok(Self { only: only.map(crate::regex).transpose()?, except: except.map(crate::regex).transpose()? })
    }

    /// Whether the resource of this URL is loaded.
    #[must_use]
    pub fn lets_through(&self, url: &str) -> bool {
        let holds = |regex: &Regex| regex.is_match(url.as_bytes());
        self.only.as_ref().is_none_or(holds) && !self.except.as_ref().is_some_and(holds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(resources: &Resources) -> Vec<(&str, ResourceKind)> {
        resources.all.iter().map(|resource| (resource.url.as_str(), resource.kind)).collect()
    }

    #[test]
    fn a_page_names_what_a_browser_loads_in_its_order_and_once() {
        use ResourceKind::{Other, Page, Style};
        let page = b"<!doctype html><html><head><base href='/shop/'><title>t</title>\
            <link rel=stylesheet href='a.css'><LINK REL='Shortcut Icon' href='f.ico'><link rel=alternate href='feed.xml'>\
            <script src='a.js'></script><script>var a = \"<img src='no.png'>\";</script></head>\
            <body background='b.png'><img src=' c.png\n'><img src='c.png'><img alt='none'><input type=image src=d.png><input src=no.png>\
            <iframe src='inner.html'></iframe><embed src=e.swf><object data=o.bin></object>\
            <table background='t.png'><tr><td style=\"background: url('u.png')\">x</td></tr></table><!-- <img src='no.png'> -->\
            <a href='no.html'>more</a></body></html>";
        let found = Resources::of_page(page);
        assert_eq!(found.base.as_deref(), Some("/shop/"));
        let expected = [
            ("a.css", Style),
            ("f.ico", Other),
            ("a.js", Other),
            ("b.png", Other),
            ("c.png", Other),
            ("d.png", Other),
            ("inner.html", Page),
            ("e.swf", Other),
            ("o.bin", Other),
            ("t.png", Other),
            ("u.png", Other),
        ];
        assert_eq!(names(&found), expected);
    }

    #[test]
    fn a_style_sheet_names_others_and_the_style_of_an_element_pictures() {
        use ResourceKind::{Other, Style};
        let found = Resources::of_style(
            b"@import 'a.css'; @IMPORT url(b.css) screen;/* url(no.png) */ p { background: URL( \"c d.png\" ); content: 'url(no.png)' }\n\
              @font-face { src: url(e.woff2) format('woff2'), url('f.woff') } q { background: url(c\\ d.png",
        );
        assert_eq!(names(&found), [("a.css", Style), ("b.css", Style)]);
        let found = Resources::of_page(b"<p style='background: URL( \"c d.png\" ); src: url(e.woff2) format(), url(f.woff)'>x</p>");
        assert_eq!(names(&found), [("c d.png", Other), ("e.woff2", Other), ("f.woff", Other)]);
    }

    #[test]
    fn no_bytes_are_too_odd_and_a_page_names_so_many_at_most() {
        for odd in [&b""[..], b"@import", b"url(", b"url('", b"/*", b"\xff\xfeurl(\xff)", "ü@imporü".as_bytes(), b"@import \"", b"'"] {
            let _ = Resources::of_style(odd);
            let _ = Resources::of_page(odd);
        }
        let many: String = (0..5_000).map(|number| format!("<img src={number}.png>")).collect();
        assert_eq!(Resources::of_page(many.as_bytes()).all.len(), RESOURCES_MAX);
    }

    #[test]
    fn a_filter_looks_at_the_whole_url() {
        let filter = |only, except| ResourceFilter::new(only, except).unwrap();
        let url = "http://a.test/p/x.png?v=1";
        assert!(filter(None, None).lets_through(url));
        assert!(filter(Some(r"\.png"), None).lets_through(url) && !filter(Some(r"\.png$"), None).lets_through(url));
        assert!(!filter(None, Some("a.test")).lets_through(url) && !filter(Some("a.test"), Some("[?]")).lets_through(url));
        assert!(ResourceFilter::new(Some("("), None).is_err());
    }
}
