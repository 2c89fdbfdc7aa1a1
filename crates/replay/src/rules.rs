//! Which requests are meant, and what becomes of their paths: `GET /users/*`, `/v1/* => /v2/*`.
//!
//! Regular expressions say more, and are written wrong more often: a point in a path stands for any letter, and a query's question
//! mark for something else again. A star stands for any letters, a slash among them, and everything else for itself.
//!
//! Invariant: a pattern is held against a path in time that grows with their lengths alone.

use std::fmt;
use std::str::FromStr;

use plan::carets;

/// Text with stars in it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stars {
    /// What stands between them: at least one piece.
    pieces: Vec<Box<[u8]>>,
}

impl Stars {
    fn new(text: &str) -> Self {
        Self { pieces: text.split('*').map(|piece| piece.as_bytes().into()).collect() }
    }

    /// How many stars there are.
    fn count(&self) -> usize {
        self.pieces.len() - 1
    }

    /// Whether a text fits, and what each star stands for in it: the first ones are as short as can be. A text that does not fit may
    /// have told some stars before.
    fn fits<'t>(&self, text: &'t [u8], mut star: impl FnMut(&'t [u8])) -> bool {
        let [first, inner @ .., last] = self.pieces.as_slice() else { return *text == *self.pieces[0] };
        let Some(mut rest) = text.strip_prefix(&**first) else { return false };
        for piece in inner {
            let Some(at) = memchr::memmem::find(rest, piece) else { return false };
            star(&rest[..at]);
            rest = &rest[at + piece.len()..];
        }
        match rest.strip_suffix(&**last) {
            Some(between) => {
                star(between);
                true
            }
            None => false,
        }
    }
}

/// Some requests: by their path, and by their method if it names one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    method: Option<Box<[u8]>>,
    stars: Stars,
    /// Whether it is held against path and query, and not the path alone.
    with_query: bool,
}

impl Pattern {
    /// Whether it means this request.
    #[must_use]
    pub fn means(&self, method: &[u8], path: &[u8], path_and_query: &[u8]) -> bool {
        self.method.as_ref().is_none_or(|wanted| **wanted == *method)
            && self.stars.fits(if self.with_query { path_and_query } else { path }, |_| ())
    }
}

/// The column of a part, and its length, in letters.
fn place(whole: &str, part: &str) -> (usize, usize) {
    let at = (part.as_ptr() as usize).wrapping_sub(whole.as_ptr() as usize);
    (whole.get(..at).map_or(0, |before| before.chars().count()), part.chars().count())
}

fn told(what: &str, whole: &str, part: &str) -> String {
    let (column, length) = place(whole, part);
    format!("{what}{}", carets(whole, column, length))
}

/// A path with stars: how it must begin, and what cannot stand in it.
fn path_of<'t>(whole: &str, text: &'t str) -> Result<&'t str, String> {
    if !text.starts_with(['/', '*']) {
        return Err(told("is no path: one begins with / or *", whole, text));
    }
    if let Some((at, letter)) = text.char_indices().find(|(_, letter)| letter.is_whitespace() || letter.is_control()) {
        return Err(told("has a blank in its path", whole, &text[at..at + letter.len_utf8()]));
    }
    Ok(text)
}

/// Reads `/api/*` or `GET /api/*`.
impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bare = text.trim();
        let (method, path) = match bare.split_once(char::is_whitespace) {
            None => (None, bare),
            Some((method, path)) => (Some(method), path.trim_start()),
        };
        if let Some(method) = method.filter(|method| !method.bytes().all(|letter| letter.is_ascii_uppercase() || letter == b'-')) {
            return Err(told("does not begin with a method such as GET", text, method));
        }
        let path = path_of(text, path)?;
        Ok(Self {
            text: bare.to_owned(),
            method: method.map(|method| method.as_bytes().into()),
            stars: Stars::new(path),
            with_query: path.contains('?'),
        })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What becomes of some paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    text: String,
    from: Stars,
    to: Stars,
    /// Whether it reads and writes the query too; else that stays.
    with_query: bool,
}

impl Rewrite {
    /// Path and query as they are to be sent; `None` where the rule means others.
    #[must_use]
    pub(crate) fn applied(&self, path_and_query: &[u8]) -> Option<Vec<u8>> {
        let end = if self.with_query { path_and_query.len() } else { memchr::memchr(b'?', path_and_query).unwrap_or(path_and_query.len()) };
        let mut stars: Vec<&[u8]> = Vec::new();
        if !self.from.fits(&path_and_query[..end], |star| stars.push(star)) {
            return None;
        }
        let mut written = Vec::with_capacity(path_and_query.len() + 16);
        let mut stars = stars.into_iter();
        for (at, piece) in self.to.pieces.iter().enumerate() {
            if at > 0 {
                written.extend_from_slice(stars.next().unwrap_or_default());
            }
            written.extend_from_slice(piece);
        }
        let query = &path_and_query[end..];
        match query {
            [b'?', rest @ ..] if written.contains(&b'?') => {
                written.push(b'&');
                written.extend_from_slice(rest);
            }
            _ => written.extend_from_slice(query),
        }
        Some(written)
    }
}

/// Between the two halves of a rule.
const BECOMES: &str = "=>";

/// Reads `/v1/* => /v2/*`: the stars of the second half are those of the first, in their order.
impl FromStr for Rewrite {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((from, to)) = text.split_once(BECOMES) else {
            return Err(told("has no => in it, as '/v1/* => /v2/*' has", text, text.trim()));
        };
        let (from, to) = (path_of(text, from.trim())?, to.trim());
        if !to.starts_with('/') {
            return Err(told("makes no path: one begins with /", text, if to.is_empty() { &text[text.len()..] } else { to }));
        }
        if let Some((at, letter)) = to.char_indices().find(|(_, letter)| !letter.is_ascii_graphic() || *letter == '#') {
            return Err(told("makes a path that cannot be sent: write this as %XX", text, &to[at..at + letter.len_utf8()]));
        }
        let (stars, wanted) = (Stars::new(from), Stars::new(to));
        if wanted.count() > stars.count() {
            let at = to.match_indices('*').nth(stars.count()).map_or(0, |(at, _)| at);
            let held = if stars.count() == 1 { "1 star".to_owned() } else { format!("{} stars", stars.count()) };
            return Err(told(&format!("has {held} on the left, and needs one more for this"), text, &to[at..=at]));
        }
        Ok(Self { text: text.trim().to_owned(), with_query: from.contains('?'), from: stars, to: wanted })
    }
}

impl fmt::Display for Rewrite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn means(pattern: &str, request: &str) -> bool {
        let (method, target) = request.split_once(' ').unwrap();
        let path = target.split('?').next().unwrap();
        pattern.parse::<Pattern>().unwrap().means(method.as_bytes(), path.as_bytes(), target.as_bytes())
    }

    #[test]
    fn a_star_is_any_letters_and_everything_else_itself() {
        for (pattern, request, expected) in [
            ("/api/*", "GET /api/users/7?x=1", true),
            ("/api/*", "GET /api", false),
            ("/api", "GET /api?x=1", true),
            ("/api", "GET /api/", false),
            ("*.css", "GET /a/b.css?v=3", true),
            ("*.css", "GET /a/b.css.map", false),
            ("*/edit/*", "GET /a/edit/b/edit/c", true),
            ("GET /a*", "GET /ab", true),
            ("GET /a*", "HEAD /ab", false),
            ("/search?q=*", "GET /search?q=x", true),
            ("/search?q=*", "GET /search", false),
            ("*", "GET /", true),
            ("/a*a", "GET /a", false),
            ("/a.c", "GET /abc", false),
        ] {
            assert_eq!(means(pattern, request), expected, "{pattern} {request}");
        }
    }

    #[test]
    fn a_rule_moves_what_its_stars_stand_for() {
        for (rule, from, to) in [
            ("/v1/* => /v2/*", "/v1/users?a=b", Some("/v2/users?a=b")),
            ("/* => /shop/*", "/", Some("/shop/")),
            ("/u/*/o/* => /orders/*/*", "/u/7/o/9", Some("/orders/7/9")),
            ("/u/*/o => /o", "/u/7/o?x", Some("/o?x")),
            ("/a => /b?k=1", "/a?x=2", Some("/b?k=1&x=2")),
            ("/s?q=*&r=* => /find/*?r=*", "/s?q=x&r=y", Some("/find/x?r=y")),
            ("/v1/* => /v2/*", "/v3/x", None),
        ] {
            let rule: Rewrite = rule.parse().unwrap();
            assert_eq!(rule.applied(from.as_bytes()), to.map(|to| to.as_bytes().to_vec()), "{rule} {from}");
        }
    }

    #[test]
    fn a_mistake_has_a_caret_under_it() {
        for (text, shown) in [
            ("api/*", "is no path: one begins with / or *\n  api/*\n  ^^^^^"),
            ("get /a", "does not begin with a method such as GET\n  get /a\n  ^^^"),
            ("GET a", "is no path: one begins with / or *\n  GET a\n      ^"),
            ("GET /a b", "has a blank in its path\n  GET /a b\n        ^"),
            ("", "is no path: one begins with / or *\n  \n  ^"),
        ] {
            assert_eq!(text.parse::<Pattern>().unwrap_err(), shown, "{text}");
        }
        for (text, shown) in [
            ("/a /b", "has no => in it, as '/v1/* => /v2/*' has\n  /a /b\n  ^^^^^"),
            ("/a/* => /*/*", "has 1 star on the left, and needs one more for this\n  /a/* => /*/*\n             ^"),
            ("/a => b", "makes no path: one begins with /\n  /a => b\n        ^"),
            ("/a =>", "makes no path: one begins with /\n  /a =>\n       ^"),
            ("/a => /ä", "makes a path that cannot be sent: write this as %XX\n  /a => /ä\n         ^"),
        ] {
            assert_eq!(text.parse::<Rewrite>().unwrap_err(), shown, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_pattern_made_from_a_path_means_it(pieces in prop::collection::vec("[ab/]{0,3}", 1..5), between in prop::collection::vec("[ab/]{0,3}", 4)) {
            let pattern = format!("*{}", pieces.join("*"));
            let mut path = String::from("/");
            for (piece, star) in pieces.iter().zip(&between) {
                path += piece;
                path += star;
            }
            path += pieces.get(between.len()).map_or("", |it| it);
            let path = path + pieces.last().unwrap();
            let pattern: Pattern = pattern.parse().unwrap();
            prop_assert!(pattern.means(b"GET", path.as_bytes(), path.as_bytes()), "{} {}", pattern, path);
        }

        #[test]
        fn the_same_rule_on_both_sides_changes_nothing(path in "/[ab/?=]{0,8}", rule in "/[ab/]{0,2}\\*?[ab/]{0,2}\\*?") {
            let rewrite: Rewrite = format!("{rule} => {rule}").parse().unwrap();
            prop_assert!(rewrite.applied(path.as_bytes()).is_none_or(|written| written == path.as_bytes()));
        }
    }
}
