//! Values taken out of answers, for the requests that follow.
//!
//! A login answers with a token, a list with the ids that a user would click, a page with a hidden field. What is looked for is
//! written in the language of what is looked in, and understood before the run, so that a typing mistake costs no run.
//!
//! JSONPath is `serde_json_path`, which holds to RFC 9535 by its compliance suite. Regular expressions are the crate `regex`: they
//! take linear time on whatever a server sends, and work on bytes, as bodies need not be UTF-8; `regex-lite` needs valid text.
//!
//! Invariant: finding nothing is not finding an empty value. Whoever wants either must say so with a default of their own.

use std::borrow::Cow;
use std::fmt;
use std::ops::ControlFlow;

use plan::template::Mistake;
use plan::work::{Kind, Which};
use regex::bytes::{CaptureLocations, Regex, RegexBuilder};
use serde_json::Value;
use serde_json_path::JsonPath;

use crate::answer::Answer;
use crate::cookies;
use crate::excerpt::excerpt;
use crate::html::select::Selector;
use crate::html::xpath::{self, XPath};
use crate::reading::Reading;

/// More matches than this are not collected by [`Which::Every`].
pub(crate) const EVERY_MAX: usize = 10_000;

/// What is taken out of one answer is at most so large, as every user may keep it: text, and 32 bytes for each JSON value.
pub(crate) const VALUE_BYTES_MAX: usize = 1024 * 1024;

/// Longer expressions are refused.
const EXPRESSION_BYTES_MAX: usize = 4096;
/// Brackets and parentheses in a JSONPath, so deep: its parser tries several ways at each.
const PATH_DEPTH_MAX: usize = 12;
/// `..` in a JSONPath: each may multiply what is found by the depth of the body.
const DESCENTS_MAX: usize = 3;
/// Of a compiled expression. A Unicode class repeated fifty times fits; what does not would slow down every answer.
const REGEX_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The table that a regular expression fills as it goes; one a thread.
const REGEX_TABLE_BYTES_MAX: usize = 1024 * 1024;

/// Takes a value out of answers. Clone one for each thread: its scratch memory is then that thread's own.
#[derive(Debug, Clone)]
pub struct Extractor {
    kind: Kind,
    text: Box<str>,
    which: Which,
    /// Whether a JSON null is passed over.
    null_is_missing: bool,
    finder: Finder,
    /// Where the groups of a regular expression were found last, kept so that it need not be made for each answer.
    groups: Option<Box<CaptureLocations>>,
}

#[derive(Debug, Clone)]
enum Finder {
    Json(JsonPath),
    Regex(Regex),
    Header,
    Cookie,
    Css(Selector),
    XPath(Box<XPath>),
    Body,
    Status,
}

/// One match.
pub(crate) enum Match<'r> {
    Json(&'r Value),
    Text(Cow<'r, str>),
    /// A number or a truth.
    Plain(Value),
}

impl Match<'_> {
    fn bytes(&self) -> usize {
        match self {
            Self::Json(value) => bytes_of(value),
            Self::Text(text) => text.len(),
            Self::Plain(_) => 0,
        }
    }

    /// As it is written into a request.
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Text(text) => out.extend_from_slice(text.as_bytes()),
            Self::Json(Value::String(text)) => out.extend_from_slice(text.as_bytes()),
            Self::Json(value) => serde_json::to_writer(out, value).expect("a value is written into memory"),
            Self::Plain(value) => out.extend_from_slice(text_of(value).as_bytes()),
        }
    }

    fn into_value(self) -> Value {
        match self {
            Self::Json(value) => value.clone(),
            Self::Text(text) => Value::String(text.into_owned()),
            Self::Plain(value) => value,
        }
    }
}

impl Extractor {
    /// Understands an expression. `text` is ignored by [`Kind::Body`] and [`Kind::Status`].
    ///
    /// # Errors
    /// What is wrong in `text`, and where.
    pub fn compile(kind: Kind, text: &str) -> Result<Self, Mistake> {
        if text.len() > EXPRESSION_BYTES_MAX {
            let message = format!("the expression has {} bytes; {EXPRESSION_BYTES_MAX} are allowed", text.len());
            return Err(Mistake { at: 0, length: text.len(), message, help: "shorten it".into() });
        }
        let finder = match kind {
            Kind::JsonPath => Finder::Json(json_path(text)?),
            Kind::Regex => Finder::Regex(regex(text)?),
            Kind::Header => named(text, "a header", "Location").map(|()| Finder::Header)?,
            Kind::Cookie => named(text, "a cookie", "session").map(|()| Finder::Cookie)?,
            Kind::Css => Finder::Css(Selector::parse(text)?),
            Kind::XPath => Finder::XPath(Box::new(XPath::parse(text)?)),
            Kind::Body => Finder::Body,
            Kind::Status => Finder::Status,
        };
        let text = if matches!(kind, Kind::Body | Kind::Status) { "" } else { text.trim() };
        Ok(Self { kind, text: text.into(), which: Which::First, null_is_missing: false, finder, groups: None })
    }

    /// The same, but taking other matches than the first.
    #[must_use]
    pub fn taking(mut self, which: Which) -> Self {
        self.which = which;
        self
    }

    /// The same, but taking a single JSON null for nothing found; in an array of [all](Which::Every) it stays.
    #[must_use]
    pub fn without_null(mut self, null_is_missing: bool) -> Self {
        self.null_is_missing = null_is_missing;
        self
    }

    /// In which language it looks, and for what: nothing of those that have no expression.
    #[must_use]
    pub fn sought(&self) -> (Kind, &str) {
        (self.kind, &self.text)
    }

    /// The extraction in the user's words: `json $.token`.
    #[must_use]
    pub fn words(&self) -> String {
        let word = self.kind.word();
        if self.text.is_empty() { word.to_owned() } else { format!("{word} {}", self.text) }
    }

    /// The value in this answer. JSON values keep their type; everything else but status, count and what an XPath calculates is a
    /// string.
    ///
    /// # Errors
    /// If it is not there.
    pub fn of(&self, reading: &Reading<'_>) -> Result<Value, Missing> {
        let (mut kept, mut every, mut count, mut bytes, mut is_null) = (None, Vec::new(), 0usize, 0usize, false);
        let searched = self.each(reading, &mut |found| {
            let place = count;
            count += 1;
            match self.which {
                Which::Nth(wanted) if wanted != place => return ControlFlow::Continue(()),
                Which::Count => return ControlFlow::Continue(()),
                Which::Every => bytes += found.bytes(),
                _ => bytes = found.bytes(),
            }
            if bytes > VALUE_BYTES_MAX {
                // The last may still be a smaller one.
                kept = None;
                return if self.which == Which::Last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
            }
            is_null = self.is_missing(&found);
            match self.which {
                Which::First | Which::Nth(_) => {
                    kept = Some(found.into_value()).filter(|_| !is_null);
                    return ControlFlow::Break(());
                }
                Which::Last | Which::Count => kept = Some(found.into_value()).filter(|_| !is_null),
                Which::Every => {
                    every.push(found.into_value());
                    if every.len() == EVERY_MAX {
                        return ControlFlow::Break(());
                    }
                }
            }
            ControlFlow::Continue(())
        });
        let value = match self.which {
            Which::Count => Some(Value::from(count)),
            Which::Every => (!every.is_empty()).then_some(Value::Array(every)),
            Which::First | Which::Last | Which::Nth(_) => kept,
        };
        match (searched, value) {
            (Ok(()), Some(value)) if bytes <= VALUE_BYTES_MAX => Ok(value),
            (Ok(()), _) if is_null => Err(self.missing(reading, FOUND_NULL.to_owned())),
            (Ok(()), _) => Err(self.missing(reading, why_not(count, bytes))),
            (Err(reason), _) => Err(self.missing(reading, reason)),
        }
    }

    /// Writes the value at the end of `out`, as [`text_of`] tells what [`of`](Self::of) gives. Of text, JSON that was read already and a
    /// first match it is a copy and nothing else: nothing is allocated if `out` has room.
    ///
    /// # Errors
    /// If it is not there; then nothing is written.
    pub fn write(&mut self, reading: &Reading<'_>, out: &mut Vec<u8>) -> Result<(), Missing> {
        if let (Finder::Regex(regex), Which::First) = (&self.finder, self.which)
            && regex.captures_len() > 1
        {
            let groups = self.groups.get_or_insert_with(|| Box::new(regex.capture_locations()));
            let body = reading.answer().body;
            let found = regex.captures_read(groups, body).and_then(|_| (1..groups.len()).chain([0]).find_map(|number| groups.get(number)));
            return match found {
                Some((from, to)) if to - from <= VALUE_BYTES_MAX => {
                    text(&body[from..to]).write(out);
                    Ok(())
                }
                found => Err(self.missing(reading, why_not(usize::from(found.is_some()), found.map_or(0, |(from, to)| to - from)))),
            };
        }
        if !matches!(self.which, Which::First | Which::Nth(_)) {
            out.extend_from_slice(text_of(&self.of(reading)?).as_bytes());
            return Ok(());
        }
        let (mut is_written, mut count, mut bytes, mut is_null) = (false, 0usize, 0usize, false);
        let searched = self.each(reading, &mut |found| {
            let place = count;
            count += 1;
            if matches!(self.which, Which::Nth(wanted) if wanted != place) {
                return ControlFlow::Continue(());
            }
            bytes = found.bytes();
            is_null = self.is_missing(&found);
            if bytes <= VALUE_BYTES_MAX && !is_null {
                found.write(out);
                is_written = true;
            }
            ControlFlow::Break(())
        });
        match searched {
            Ok(()) if is_written => Ok(()),
            Ok(()) if is_null => Err(self.missing(reading, FOUND_NULL.to_owned())),
            Ok(()) => Err(self.missing(reading, why_not(count, bytes))),
            Err(reason) => Err(self.missing(reading, reason)),
        }
    }

    fn is_missing(&self, found: &Match<'_>) -> bool {
        self.null_is_missing && matches!(found, Match::Json(Value::Null))
    }

    /// Calls `found` with each match until it breaks.
    ///
    /// # Errors
    /// If the answer cannot be searched in this way, in words.
    pub(crate) fn each(&self, reading: &Reading<'_>, found: &mut dyn FnMut(Match<'_>) -> ControlFlow<()>) -> Result<(), String> {
        let Answer { status, headers, body, .. } = *reading.answer();
        match &self.finder {
            Finder::Json(path) => {
                for value in path.query(reading.json()?) {
                    if found(Match::Json(value)).is_break() {
                        break;
                    }
                }
            }
            Finder::Regex(regex) if regex.captures_len() == 1 => {
                for whole in regex.find_iter(body) {
                    if found(text(whole.as_bytes())).is_break() {
                        break;
                    }
                }
            }
            Finder::Regex(regex) => {
                for groups in regex.captures_iter(body) {
                    let part = groups.iter().skip(1).flatten().next().or_else(|| groups.get(0));
                    if part.is_some_and(|part| found(text(part.as_bytes())).is_break()) {
                        break;
                    }
                }
            }
            Finder::Header => {
                for value in headers.named(&self.text) {
                    if found(text(value)).is_break() {
                        break;
                    }
                }
            }
            Finder::Cookie => {
                let set = headers.named("set-cookie").filter_map(cookies::pair).filter(|(name, _)| *name == self.text.as_bytes());
                for (_, value) in set {
                    if found(text(value)).is_break() {
                        break;
                    }
                }
            }
            Finder::Css(selector) => {
                selector.each(reading.html(), &mut |text| found(Match::Text(text))).map_err(str::to_owned)?;
            }
            Finder::XPath(path) => match path.find(reading.html())? {
                xpath::XPathResult::Texts(texts) => {
                    for text in texts {
                        if found(Match::Text(text)).is_break() {
                            break;
                        }
                    }
                }
                // What a function makes of nothing is an empty text.
                xpath::XPathResult::Text(text) if text.is_empty() => {}
                xpath::XPathResult::Text(text) => {
                    let _ = found(Match::Text(Cow::Owned(text)));
                }
                xpath::XPathResult::Number(number) => {
                    let _ = found(Match::Plain(number_value(number)));
                }
                xpath::XPathResult::Truth(truth) => {
                    let _ = found(Match::Plain(Value::Bool(truth)));
                }
            },
            Finder::Body => {
                let _ = found(text(body));
            }
            Finder::Status => {
                let _ = found(Match::Plain(Value::from(status)));
            }
        }
        Ok(())
    }

    fn missing(&self, reading: &Reading<'_>, reason: String) -> Missing {
        let instead = if reason.starts_with("found nothing") { self.instead(reading) } else { None };
        Missing { sought: excerpt(self.words().as_bytes()), reason, found: self.surroundings(reading), instead }
    }

    /// What stands in a JSON body where the path leads nowhere: a server that answers well and a path with a typing error look alike.
    fn instead(&self, reading: &Reading<'_>) -> Option<String> {
        let Finder::Json(_) = &self.finder else { return None };
        // Only a path of names is followed one by one.
        if self.text.contains('[') || self.text.contains("..") {
            return None;
        }
        let mut here = reading.json().ok()?;
        let mut way = "the answer".to_owned();
        for name in self.text.trim_start_matches('$').split('.').skip(1) {
            match here.get(name) {
                Some(inner) => {
                    here = inner;
                    way = format!("'{name}'");
                }
                None => break,
            }
        }
        let what = match here {
            Value::Object(members) if members.is_empty() => "is an empty object".to_owned(),
            Value::Object(members) => {
                format!("has the keys {}", excerpt(members.keys().take(12).cloned().collect::<Vec<_>>().join(", ").as_bytes()))
            }
            Value::Array(list) => format!("is a list of {}", list.len()),
            Value::String(_) => "is a text".to_owned(),
            Value::Number(_) => "is a number".to_owned(),
            Value::Bool(_) => "is true or false".to_owned(),
            Value::Null => "is null".to_owned(),
        };
        Some(format!("{way} {what}"))
    }

    /// What there was instead, for a reader of the report. Values of headers and cookies may be secrets, so their names must do.
    pub(crate) fn surroundings(&self, reading: &Reading<'_>) -> String {
        let headers = reading.answer().headers;
        match self.kind {
            Kind::Header => listed(headers.iter().map(|(name, _)| name)),
            Kind::Cookie => listed(headers.named("set-cookie").filter_map(cookies::pair).map(|(name, _)| name)),
            _ => excerpt(reading.answer().body),
        }
    }
}

/// Why nothing was taken where a JSON null is none.
const FOUND_NULL: &str = "found null";

/// Why nothing was taken, after so many matches, the last of them so large.
fn why_not(count: usize, bytes: usize) -> String {
    if bytes > VALUE_BYTES_MAX {
        return format!("found more than {} MiB, which is not kept", VALUE_BYTES_MAX >> 20);
    }
    if count > 0 { format!("found only {count}") } else { "found nothing".to_owned() }
}

/// About what it takes in memory; bodies are not nested deeper than 128.
fn bytes_of(value: &Value) -> usize {
    size_of::<Value>()
        + match value {
            Value::String(text) => text.len(),
            Value::Array(list) => list.iter().map(bytes_of).sum(),
            Value::Object(object) => object.iter().map(|(name, value)| name.len() + bytes_of(value)).sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
}

fn listed<'a>(names: impl Iterator<Item = &'a [u8]>) -> String {
    excerpt(names.take(64).collect::<Vec<_>>().join(&b", "[..]).as_slice())
}

fn text(bytes: &[u8]) -> Match<'_> {
    Match::Text(String::from_utf8_lossy(bytes))
}

/// A whole number stays one.
fn number_value(number: f64) -> Value {
    // Up to here every whole number is a float of its own.
    if number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0 {
        return Value::from(number as i64);
    }
    serde_json::Number::from_f64(number).map_or_else(|| Value::String(xpath::text_of_number(number)), Value::Number)
}

pub(crate) fn json_path(text: &str) -> Result<JsonPath, Mistake> {
    let whole = |message: String, help: &str| Mistake { at: 0, length: text.len(), message, help: help.into() };
    let path = text.trim();
    if !path.starts_with('$') {
        return Err(whole("a JSONPath begins with $".to_owned(), "such as $.items[0].id; $ is the whole body"));
    }
    let mut depth = 0usize;
    for letter in path.chars() {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > PATH_DEPTH_MAX {
            return Err(whole("this is too deep in brackets".to_owned(), "write it in another way"));
        }
    }
    if path.matches("..").count() > DESCENTS_MAX {
        return Err(whole(format!("there are more than {DESCENTS_MAX} ways down (..) in it"), "name the members on the way"));
    }
    JsonPath::parse(path).map_err(|error| {
        let before = text.len() - text.trim_start().len();
        let mut at = (before + error.position()).min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let length = text[at..].chars().next().map_or(0, char::len_utf8);
        let help = "such as $.items[0].id, $..price or $.users[?@.name == 'ann'].id (RFC 9535)".to_owned();
        Mistake { at, length, message: "this is no JSONPath from here on".to_owned(), help: help.into() }
    })
}

/// A regular expression over bytes, of bounded size.
///
/// # Errors
/// Where and why it is none.
pub fn regex(text: &str) -> Result<Regex, Mistake> {
    let built = RegexBuilder::new(text).size_limit(REGEX_BYTES_MAX).dfa_size_limit(REGEX_TABLE_BYTES_MAX).build();
    built.map_err(|error| match error {
        regex::Error::Syntax(words) => {
            let (at, length) = place_in(text, &words);
            let message = words.rsplit_once("error: ").map_or("this is no regular expression", |(_, message)| message.trim());
            let help = "the syntax is that of the crate regex: there is no looking around and no back reference".to_owned();
            Mistake { at, length, message: message.to_owned(), help: help.into() }
        }
        _ => Mistake {
            at: 0,
            length: text.len(),
            message: "compiled, the regular expression is larger than 4 MiB".to_owned(),
            help: "repeat less, or write (?-u) before it if it means bytes and not letters".into(),
        },
    })
}

/// Where the carets stand in the words of the crate, which shows the text on one line, four blanks in.
fn place_in(text: &str, words: &str) -> (usize, usize) {
    let carets = words.lines().find(|line| line.contains('^') && line.trim_matches([' ', '^']).is_empty());
    let Some(carets) = carets.filter(|_| !text.contains('\n')) else { return (0, text.len()) };
    let before = carets.chars().take_while(|letter| *letter == ' ').count().saturating_sub(4);
    let length = carets.chars().filter(|letter| *letter == '^').count();
    let byte_of = |letters: usize| text.char_indices().nth(letters).map_or(text.len(), |(at, _)| at);
    (byte_of(before), byte_of(before + length) - byte_of(before))
}

/// Whether a text is the name of a header or a cookie.
pub(crate) fn named(text: &str, what: &str, example: &str) -> Result<(), Mistake> {
    let name = text.trim();
    let help = format!("such as {example}");
    if name.is_empty() {
        return Err(Mistake { at: 0, length: text.len(), message: format!("the name of {what} is missing"), help: help.into() });
    }
    let is_token = |letter: char| letter.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(letter);
    let begins = text.len() - text.trim_start().len();
    match name.char_indices().find(|(_, letter)| !is_token(*letter)) {
        None => Ok(()),
        Some((at, letter)) => Err(Mistake {
            at: begins + at,
            length: letter.len_utf8(),
            message: format!("`{}` cannot stand in the name of {what}", letter.escape_default()),
            help: help.into(),
        }),
    }
}

/// A value as it is written into a request: a string as it is, anything else as JSON.
#[must_use]
pub fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}

/// An extraction found nothing. Prints as `regex id=(.*) found nothing in no such user`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The extraction in the user's words: `json $.token`.
    pub sought: String,
    /// What is wrong: `found nothing`, `the body is not JSON: …`.
    pub reason: String,
    /// What was there: the beginning of the body, or the names of the headers or cookies. At most
    /// [`EXCERPT_BYTES_MAX`](crate::check::EXCERPT_BYTES_MAX) bytes; may hold secrets, which are the report's to conceal.
    pub found: String,
    /// What stands there, if the path may be the mistake: `the answer has the keys id, cards`.
    pub instead: Option<String>,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let colon = if self.reason.starts_with("found") || self.reason.starts_with("was") { "" } else { ":" };
        write!(f, "{}{colon} {}", self.sought, self.reason)?;
        // Before the body, which may be long and is what is cut off.
        if let Some(instead) = &self.instead {
            write!(f, ", or the path is wrong ({instead}),")?;
        }
        if self.found.is_empty() { Ok(()) } else { write!(f, " in {}", self.found) }
    }
}

#[cfg(test)]
mod tests {
    use plan::Nanos;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::answer::Headers;

    const HEADERS: &[u8] = b"Content-Type: text/html\r\nLocation:  /orders/7 \r\nX-Id: 1\r\nx-id: 2\r\n\
        Set-Cookie: session=abc; Path=/\r\nSet-Cookie: lang=de\r\nset-cookie: session=def\r\n";

    fn reading(body: &[u8]) -> Reading<'_> {
        Reading::new(Answer { status: 201, headers: Headers::lines(HEADERS), body, elapsed: Nanos::ZERO })
    }

    fn extracted(kind: Kind, text: &str, which: Which, body: &[u8]) -> Result<Value, Missing> {
        let mut extractor = Extractor::compile(kind, text).unwrap_or_else(|mistake| panic!("{text}: {mistake:?}")).taking(which);
        let reading = reading(body);
        let value = extractor.of(&reading);
        // Written it is the same, twice in a row.
        for _ in 0..2 {
            let mut written = b"before".to_vec();
            let wrote = extractor.write(&reading, &mut written);
            assert_eq!(wrote.err(), value.as_ref().err().cloned(), "{text}");
            let expected = value.as_ref().map_or(Cow::Borrowed(""), text_of);
            assert_eq!(String::from_utf8_lossy(&written), format!("before{expected}"), "{text}");
        }
        value
    }

    const ORDER: &[u8] = br#"{"id": 7, "token": "t-42", "none": null, "items": [{"sku": "a", "price": 2.5}, {"sku": "b", "price": 1e3}],
        "big": 18446744073709551615, "text": "\u00e4\"", "ok": true}"#;
    const PAGE: &[u8] = b"<title> Shop </title><form><input name=csrf value='c-1'><a href=/1>One</a><a href=/2>Two</a>";

    #[test]
    fn values_are_found_in_every_part_of_an_answer() {
        use Kind::{Body, Cookie, Css, Header, JsonPath, Regex, Status, XPath};
        let cases: [(Kind, &str, &[u8], Value); 29] = [
            (JsonPath, "$.token", ORDER, json!("t-42")),
            (JsonPath, " $.id ", ORDER, json!(7)),
            (JsonPath, "$['items'][1].price", ORDER, json!(1e3)),
            (JsonPath, "$.items[-1].sku", ORDER, json!("b")),
            (JsonPath, "$.items[?@.price < 100].sku", ORDER, json!("a")),
            (JsonPath, "$.items[?search(@.sku, '[b-z]')].sku", ORDER, json!("b")),
            (JsonPath, "$..sku", ORDER, json!("a")),
            (JsonPath, "$.none", ORDER, Value::Null),
            (JsonPath, "$.items[0]", ORDER, json!({"sku": "a", "price": 2.5})),
            (JsonPath, "$.big", ORDER, json!(18_446_744_073_709_551_615_u64)),
            (JsonPath, "$.text", ORDER, json!("\u{e4}\"")),
            (JsonPath, "$", b"5", json!(5)),
            (Regex, "\"token\": *\"([^\"]*)\"", ORDER, json!("t-42")),
            (Regex, "t-[0-9]+", ORDER, json!("t-42")),
            (Regex, "x-(\\d)|t-(\\d)", ORDER, json!("4")),
            (Regex, "(x)?t-4", ORDER, json!("t-4")),
            (Regex, "b(.*)", b"a\nb\xffc\n", json!("")),
            (Regex, "(?-u)b(.*)", b"a\nb\xffc\n", json!("\u{fffd}c")),
            (Header, "location", b"", json!("/orders/7")),
            (Header, "X-ID", b"", json!("1")),
            (Cookie, "lang", b"", json!("de")),
            (Cookie, "session", b"", json!("abc")),
            (Css, "input[name=csrf]::attr(value)", PAGE, json!("c-1")),
            (Css, "a", PAGE, json!("One")),
            (XPath, "//input[@name='csrf']/@value", PAGE, json!("c-1")),
            (XPath, "count(//a)", PAGE, json!(2)),
            (XPath, "count(//a) = 2", PAGE, json!(true)),
            (Body, "", b" all \xff", json!(" all \u{fffd}")),
            (Status, "", b"", json!(201)),
        ];
        for (kind, text, body, expected) in cases {
            assert_eq!(extracted(kind, text, Which::First, body), Ok(expected), "{} {text}", kind.word());
        }
    }

    #[test]
    fn other_matches_than_the_first_may_be_taken() {
        let cases = [
            (Kind::JsonPath, "$..sku", Which::Last, json!("b")),
            (Kind::JsonPath, "$..sku", Which::Nth(1), json!("b")),
            (Kind::JsonPath, "$..sku", Which::Every, json!(["a", "b"])),
            (Kind::JsonPath, "$..sku", Which::Count, json!(2)),
            (Kind::JsonPath, "$..absent", Which::Count, json!(0)),
            (Kind::Regex, "\"sku\": \"(.)\"", Which::Every, json!(["a", "b"])),
            (Kind::Header, "x-id", Which::Last, json!("2")),
            (Kind::Cookie, "session", Which::Every, json!(["abc", "def"])),
        ];
        for (kind, text, which, expected) in cases {
            assert_eq!(extracted(kind, text, which, ORDER), Ok(expected), "{text} {which:?}");
        }
        assert_eq!(extracted(Kind::Css, "a", Which::Every, PAGE), Ok(json!(["One", "Two"])));
        assert_eq!(extracted(Kind::XPath, "//a/@href", Which::Last, PAGE), Ok(json!("/2")));
        let many = "a".repeat(EVERY_MAX + 10);
        let every = extracted(Kind::Regex, "a", Which::Every, many.as_bytes()).unwrap();
        assert_eq!(every.as_array().unwrap().len(), EVERY_MAX);
    }

    #[test]
    fn a_null_is_a_value_or_nothing_as_one_wants() {
        let body = b"{\"a\": null, \"b\": [null, 1]}";
        let written = |path: &str, which: Which| {
            let mut extractor = Extractor::compile(Kind::JsonPath, path).unwrap().taking(which).without_null(true);
            let (reading, mut out) = (reading(body), Vec::new());
            let wrote = extractor.write(&reading, &mut out).map_err(|missing| missing.to_string());
            assert_eq!(extractor.of(&reading).is_ok(), wrote.is_ok(), "{path}");
            wrote.map(|()| String::from_utf8(out).unwrap())
        };
        assert_eq!(extracted(Kind::JsonPath, "$.a", Which::First, body), Ok(Value::Null));
        assert!(written("$.a", Which::First).unwrap_err().starts_with("json $.a found null in "), "{:?}", written("$.a", Which::First));
        assert!(written("$.b[*]", Which::First).is_err() && written("$.b[*]", Which::Nth(0)).is_err());
        assert_eq!((written("$.b[*]", Which::Nth(1)), written("$.b[*]", Which::Last)), (Ok("1".to_owned()), Ok("1".to_owned())));
        assert_eq!(written("$.b[*]", Which::Every), Ok("[null,1]".to_owned()));
    }

    #[test]
    fn what_is_not_there_is_told_with_what_was() {
        let cases: [(Kind, &str, Which, &[u8], &str); 11] = [
            (
                Kind::JsonPath,
                "$.token",
                Which::First,
                b"{\"error\":\"no such user\"}",
                "json $.token found nothing, or the path is wrong (the answer has the keys error), in {\"error\":\"no such user\"}",
            ),
            (Kind::JsonPath, "$..sku", Which::Nth(2), b"[{\"sku\":1}]", "json $..sku found only 1 in [{\"sku\":1}]"),
            (Kind::JsonPath, "$.a", Which::Every, b"[]", "json $.a found nothing, or the path is wrong (the answer is a list of 0), in []"),
            (
                Kind::JsonPath,
                "$.user.name.first",
                Which::First,
                b"{\"user\":{\"id\":7,\"mail\":\"a\"}}",
                "json $.user.name.first found nothing, or the path is wrong ('user' has the keys id, mail), in {\"user\":{\"id\":7,\"mail\":\"a\"}}",
            ),
            (Kind::JsonPath, "$.a", Which::Count, b"<p>", "json $.a: the body is not JSON: expected value at line 1 column 1 in <p>"),
            (Kind::JsonPath, "$.a", Which::First, b"", "json $.a: the body is empty"),
            (Kind::Regex, "id=(\\d+)", Which::First, b"no\n id", "regex id=(\\d+) found nothing in no id"),
            (
                Kind::Header,
                "ETag",
                Which::First,
                b"",
                "header ETag found nothing in Content-Type, Location, X-Id, x-id, Set-Cookie, Set-Cookie, set-cookie",
            ),
            (Kind::Cookie, "csrf", Which::First, b"", "cookie csrf found nothing in session, lang, session"),
            (Kind::Css, "h1", Which::First, b"<h2>", "css h1 found nothing in <h2>"),
            (Kind::XPath, "string(//h1)", Which::First, b"<h2>", "xpath string(//h1) found nothing in <h2>"),
        ];
        for (kind, text, which, body, expected) in cases {
            assert_eq!(extracted(kind, text, which, body).unwrap_err().to_string(), expected);
        }
        let missing = extracted(Kind::Regex, "y", Which::First, "x".repeat(1_000_000).as_bytes()).unwrap_err();
        assert!(missing.found.len() <= crate::check::EXCERPT_BYTES_MAX);
    }

    #[test]
    fn a_mistake_in_an_expression_is_shown_at_its_place() {
        let cases = [
            (Kind::JsonPath, "items[0]", 0, 8, "a JSONPath begins with $"),
            (Kind::JsonPath, "", 0, 0, "a JSONPath begins with $"),
            (Kind::Regex, "id=(\\d+", 3, 1, "unclosed group"),
            (Kind::Regex, "\u{e4}[z-a]", 3, 3, "invalid character class range, the start must be <= the end"),
            (Kind::Regex, "a(?=b)", 1, 3, "look-around, including look-ahead and look-behind, is not supported"),
            (Kind::Regex, "(?:a{1000}){10000}", 0, 18, "compiled, the regular expression is larger than 4 MiB"),
            (Kind::Header, " ", 0, 1, "the name of a header is missing"),
            (Kind::Header, "X Y", 1, 1, "` ` cannot stand in the name of a header"),
            (Kind::Header, "Location:", 8, 1, "`:` cannot stand in the name of a header"),
            (Kind::Cookie, "a=b", 1, 1, "`=` cannot stand in the name of a cookie"),
            (Kind::Css, "ul >", 4, 0, "here an element is missing"),
            (Kind::XPath, "//a]", 3, 1, "this is no part of the path"),
        ];
        for (kind, text, at, length, message) in cases {
            let mistake = Extractor::compile(kind, text).unwrap_err();
            assert_eq!((mistake.at, mistake.length, mistake.message.as_str()), (at, length, message), "{text}");
        }
        for (text, least) in [("$.items[", 7), ("$.a b", 1), ("$[?@.a ==]", 1), ("$..", 1)] {
            let mistake = Extractor::compile(Kind::JsonPath, text).unwrap_err();
            assert!(mistake.at >= least && mistake.at <= text.len(), "{text}: {mistake:?}");
        }
        for text in [
            "$[?(".to_owned() + &"(".repeat(2000),
            "$[?".to_owned() + &"!".repeat(2000),
            "$".to_owned() + &"..a".repeat(5),
            "$".repeat(5000),
        ] {
            assert!(Extractor::compile(Kind::JsonPath, &text).is_err());
        }
    }

    #[test]
    fn hostile_answers_are_searched_in_bounded_time() {
        let bomb = "a".repeat(100_000) + "!";
        assert!(extracted(Kind::Regex, "(a+)+$", Which::First, bomb.as_bytes()).is_err());
        assert!(extracted(Kind::Regex, "(a|a)*b", Which::First, bomb.as_bytes()).is_err());
        let deep = "{\"a\":".repeat(100) + "1" + &"}".repeat(100);
        assert_eq!(
            extracted(Kind::JsonPath, "$..a..a..a", Which::Count, deep.as_bytes()).map(|count| count.as_u64() > Some(1000)),
            Ok(true)
        );
        let deeper = "[".repeat(1_000_000);
        assert!(extracted(Kind::JsonPath, "$..*", Which::First, deeper.as_bytes()).unwrap_err().reason.contains("recursion limit"));
        let heavy = format!("{{\"a\":[\"{}\"]}}", "x".repeat(VALUE_BYTES_MAX));
        for (kind, text) in [(Kind::JsonPath, "$.a"), (Kind::JsonPath, "$..*"), (Kind::Regex, "(?s).*"), (Kind::Body, "")] {
            for which in [Which::First, Which::Last, Which::Every] {
                let missing = extracted(kind, text, which, heavy.as_bytes()).unwrap_err();
                assert_eq!(missing.reason, "found more than 1 MiB, which is not kept", "{text} {which:?}");
            }
            assert!(extracted(kind, text, Which::Count, heavy.as_bytes()).is_ok());
        }
        let long = format!("X: {}\r\nY: 1\r\n", "x".repeat(100_000));
        let answer = Answer { status: 200, headers: Headers::lines(long.as_bytes()), body: b"", elapsed: Nanos::ZERO };
        let found = Extractor::compile(Kind::Header, "y").unwrap().of(&Reading::new(answer));
        assert_eq!(found, Ok(json!("1")));
    }

    #[test]
    fn a_value_is_written_as_text_or_as_json() {
        for (value, expected) in [
            (json!("a\"b"), "a\"b"),
            (json!(7), "7"),
            (json!(true), "true"),
            (Value::Null, "null"),
            (json!({"a": [1, "x"]}), "{\"a\":[1,\"x\"]}"),
        ] {
            assert_eq!(text_of(&value), expected);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_searched_without_a_panic(body in proptest::collection::vec(any::<u8>(), 0..200), head in proptest::collection::vec(any::<u8>(), 0..100)) {
            let answer = Answer { status: 200, headers: Headers::lines(&head), body: &body, elapsed: Nanos::ZERO };
            let reading = Reading::new(answer);
            for (kind, text) in [(Kind::JsonPath, "$..a"), (Kind::Regex, "(a)|b"), (Kind::Header, "a"), (Kind::Cookie, "a"), (Kind::Css, "a b"), (Kind::XPath, "//a"), (Kind::Body, "")] {
                for which in [Which::First, Which::Last, Which::Nth(1), Which::Every, Which::Count] {
                    if let Err(missing) = Extractor::compile(kind, text).unwrap().taking(which).of(&reading) {
                        prop_assert!(missing.found.len() <= crate::check::EXCERPT_BYTES_MAX);
                        prop_assert!(!missing.to_string().chars().any(char::is_control));
                    }
                }
            }
        }

        #[test]
        fn any_text_is_an_expression_or_a_mistake_inside_it(text in "\\PC{0,40}|[$.@?\\[\\]()'!*a-c0-9:, <=-]{0,30}") {
            for kind in Kind::ALL {
                if let Err(mistake) = Extractor::compile(kind, &text) {
                    prop_assert!(text.is_char_boundary(mistake.at) && text.is_char_boundary(mistake.at + mistake.length));
                    prop_assert!(!mistake.pointed_out(&text).is_empty());
                }
            }
        }
    }
}
