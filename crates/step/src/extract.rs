//! Values taken out of answers, for the requests that follow.
//!
//! A login answers with a token, a list with the ids that a user would click, a page with a hidden field. What is looked for is
//! written in the language of what is looked in, and understood before the run, so that a typing mistake costs no run.
//!
//! JSONPath is `serde_json_path`, which holds to RFC 9535 by its compliance suite. Regular expressions are the crate `regex`: they
//! take linear time on whatever a server sends, and work on bytes, as bodies need not be UTF-8; `regex-lite` needs valid text. Those that
//! look around go another way ([`Pattern`]).
//!
//! Invariant: finding nothing is not finding an empty value. Whoever wants either must say so with a default of their own.

use std::borrow::Cow;
use std::fmt;
use std::ops::ControlFlow;

use plan::Nanos;
use plan::template::{Mistake, Template};
use plan::work::{DIGESTS, Kind, Which};
use regex::bytes::CaptureLocations;
use serde_json::Value;
use serde_json_path::JsonPath;

use crate::answer::{Answer, Headers};
use crate::coding;
use crate::cookies;
use crate::excerpt::excerpt;
use crate::html::select::Selector;
use crate::html::xpath::{self, XPath};
use crate::json::{JmesQuery, JsonQuery};
use crate::pattern::{Form, Pattern};
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

/// Takes a value out of answers. Clone one for each thread: its scratch memory is then that thread's own.
#[derive(Debug, Clone)]
pub struct Extractor {
    kind: Kind,
    text: Box<str>,
    which: Which,
    /// Whether a JSON null is passed over.
    null_is_missing: bool,
    /// Whether a list that a JMESPath gives is a single value.
    whole: bool,
    /// What is written of a match of a regular expression, if not its first group.
    form: Option<Form>,
    finder: Finder,
    /// Where the groups of a regular expression were found last, kept so that it need not be made for each answer.
    groups: Option<Box<CaptureLocations>>,
    /// What it looked for before, where that is [filled in](Self::seek) for each answer: users differ in it, and it costs more to
    /// understand than to look for.
    before: Vec<(Box<str>, Finder)>,
}

/// So much of what was looked for before is kept.
const BEFORE_MAX: usize = 16;

#[derive(Debug, Clone)]
enum Finder {
    Json(JsonQuery),
    JmesPath(JmesQuery),
    Regex(Pattern),
    Header,
    Cookie,
    Css(Selector),
    XPath(Box<XPath>),
    Digest,
    Body,
    Status,
}

/// One match.
pub(crate) enum Match<'r> {
    Json(&'r Value),
    Text(Cow<'r, str>),
    /// What was calculated.
    Plain(Value),
}

impl Match<'_> {
    /// What is in it, if it is a list.
    pub(crate) fn members(&self) -> &[Value] {
        match self {
            Self::Json(Value::Array(list)) | Self::Plain(Value::Array(list)) => list,
            _ => &[],
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Json(value) => bytes_of(value),
            Self::Text(text) => text.len(),
            Self::Plain(value) => bytes_of(value),
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

    pub(crate) fn into_value(self) -> Value {
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
            Kind::JsonPath => Finder::Json(JsonQuery::parse(text)?),
            Kind::JmesPath => Finder::JmesPath(JmesQuery::parse(text)?),
            Kind::Regex => Finder::Regex(Pattern::new(text)?),
            Kind::Header => named(text, "a header", "Location").map(|()| Finder::Header)?,
            Kind::Cookie => named(text, "a cookie", "session").map(|()| Finder::Cookie)?,
            Kind::Css => Finder::Css(Selector::parse(text)?),
            Kind::XPath => Finder::XPath(Box::new(XPath::parse(text)?)),
            Kind::Digest if DIGESTS.contains(&text.trim()) => Finder::Digest,
            Kind::Digest => {
                let message = format!("`{}` is no digest", text.trim().escape_debug());
                return Err(Mistake { at: 0, length: text.len(), message, help: format!("write one of {}", DIGESTS.join(", ")).into() });
            }
            Kind::Body => Finder::Body,
            Kind::Status => Finder::Status,
        };
        let text = if matches!(kind, Kind::Body | Kind::Status) { "" } else { text.trim() };
        Ok(Self {
            kind,
            text: text.into(),
            which: Which::First,
            null_is_missing: false,
            whole: false,
            form: None,
            finder,
            groups: None,
            before: Vec::new(),
        })
    }

    /// Understands an expression that holds values, as if each were a number, or else a word.
    ///
    /// # Errors
    /// What is wrong in it, and where, as if they were there.
    pub fn compile_open(kind: Kind, expression: &Template) -> Result<Self, Mistake> {
        let as_if = |value: &str| Self::compile(kind, &expression.marked(|_| value.to_owned()));
        as_if("0").or_else(|mistake| as_if("x").map_err(|_| mistake))
    }

    /// Looks for this from now on, and takes of it what it took before.
    ///
    /// # Errors
    /// What is wrong in it; then it looks for what it looked for.
    pub fn seek(&mut self, text: &str) -> Result<(), Mistake> {
        if *self.text == *text.trim() {
            return Ok(());
        }
        let (sought, finder) = match self.before.iter().position(|(known, _)| **known == *text.trim()) {
            Some(place) => self.before.remove(place),
            None => Self::compile(self.kind, text).map(|made| (made.text, made.finder))?,
        };
        self.before.truncate(BEFORE_MAX - 1);
        self.before.insert(0, (std::mem::replace(&mut self.text, sought), std::mem::replace(&mut self.finder, finder)));
        self.groups = None;
        Ok(())
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

    /// The same, but taking a list that a JMESPath gives for a single value.
    pub(crate) fn whole(mut self) -> Self {
        self.whole = true;
        self
    }

    /// The same, but writing this of each match of a regular expression: `$2-$1`.
    ///
    /// # Errors
    /// What is wrong with that, and where; or that it finds values in another way.
    pub fn writing(mut self, form: Option<&str>) -> Result<Self, Mistake> {
        self.form = match (form, &self.finder) {
            (None, _) => None,
            (Some(form), Finder::Regex(pattern)) => Some(Form::parse(form, pattern.groups_count())?),
            (Some(form), _) => {
                let message = "only a regular expression has groups that can be put together".to_owned();
                return Err(Mistake { at: 0, length: form.len(), message, help: "leave it out".into() });
            }
        };
        Ok(self)
    }

    /// How many groups its regular expression has, the whole match among them; nothing if it finds values in another way.
    #[must_use]
    pub fn groups_count(&self) -> Option<usize> {
        if let Finder::Regex(pattern) = &self.finder { Some(pattern.groups_count()) } else { None }
    }

    /// Whether it gives a truth, as `count(//a) = 2` does.
    #[must_use]
    pub fn gives_truth(&self) -> bool {
        if let Finder::XPath(path) = &self.finder { path.gives_truth() } else { false }
    }

    /// Whether it takes [one of several by chance](Which::Random).
    #[must_use]
    pub fn is_drawn(&self) -> bool {
        self.which == Which::Random
    }

    /// Writes one of several matches at the end of `out`, where [one by chance](Which::Random) is taken; else as [`write`](Self::write).
    /// `draw` is given how many there are, and says which, from 0.
    ///
    /// # Errors
    /// If there is none; then nothing is written.
    pub fn write_drawn(&mut self, reading: &Reading<'_>, out: &mut Vec<u8>, draw: impl FnOnce(u64) -> u64) -> Result<(), Missing> {
        if self.which != Which::Random {
            return self.write(reading, out);
        }
        let mut count = 0u64;
        let searched = self.each(reading, &mut |_| {
            count += 1;
            ControlFlow::Continue(())
        });
        // What cannot be searched is told by the search itself.
        let place = if searched.is_ok() && count > 1 { draw(count).min(count - 1) } else { 0 };
        self.which = Which::Nth(usize::try_from(place).unwrap_or(0));
        let written = self.write(reading, out);
        self.which = Which::Random;
        written
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
                Which::Every | Which::Joined => bytes += found.bytes(),
                _ => bytes = found.bytes(),
            }
            if bytes > VALUE_BYTES_MAX {
                // The last may still be a smaller one.
                kept = None;
                return if self.which == Which::Last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
            }
            is_null = self.is_missing(&found);
            match self.which {
                Which::First | Which::Nth(_) | Which::Random => {
                    kept = Some(found.into_value()).filter(|_| !is_null);
                    return ControlFlow::Break(());
                }
                Which::Last | Which::Count => kept = Some(found.into_value()).filter(|_| !is_null),
                Which::Every | Which::Joined => {
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
            Which::Joined => {
                let texts: Vec<Cow<'_, str>> = every.iter().map(text_of).collect();
                (!texts.is_empty()).then(|| Value::String(texts.join(",")))
            }
            Which::First | Which::Last | Which::Nth(_) | Which::Random => kept,
        };
        match (searched, value) {
            (Ok(()), Some(value)) if bytes <= VALUE_BYTES_MAX => Ok(value),
            (Ok(()), _) if is_null => Err(self.missing(reading, FOUND_NULL.to_owned())),
            (Ok(()), _) => Err(self.missing(reading, why_not(count, bytes))),
            (Err(reason), _) => Err(self.missing(reading, reason)),
        }
    }

    /// The value in this text, as in the body of an answer of which nothing else is known.
    ///
    /// # Errors
    /// If it is not there.
    pub fn of_text(&self, text: &[u8]) -> Result<Value, Missing> {
        self.of(&Reading::new(Answer { status: 0, headers: Headers::NONE, body: text, elapsed: Nanos::ZERO }))
    }

    /// Writes the value at the end of `out`, as [`text_of`] tells what [`of`](Self::of) gives. Of text, JSON that was read already and a
    /// first match it is a copy and nothing else: nothing is allocated if `out` has room.
    ///
    /// # Errors
    /// If it is not there; then nothing is written.
    pub fn write(&mut self, reading: &Reading<'_>, out: &mut Vec<u8>) -> Result<(), Missing> {
        if let (Finder::Regex(Pattern::Linear(regex)), Which::First, None) = (&self.finder, self.which, &self.form)
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
        if !matches!(self.which, Which::First | Which::Nth(_) | Which::Random) {
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
            Finder::Json(path) => path.each(reading.json()?, found),
            Finder::JmesPath(path) => path.each(reading.json()?, self.whole, found)?,
            Finder::Regex(pattern) => {
                let count = pattern.groups_count();
                pattern.each(body, &mut |groups| match &self.form {
                    Some(form) => found(Match::Text(form.of(body, groups))),
                    None => {
                        let part = (1..count).find_map(groups).or_else(|| groups(0));
                        part.map_or(ControlFlow::Continue(()), |(from, to)| found(text(&body[from..to])))
                    }
                })?;
            }
            Finder::Digest => {
                let mut digest = Vec::new();
                if coding::digest(&self.text, body, &mut digest).is_some() {
                    let _ = found(text(&digest));
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

    /// Why nothing is taken where what is filled in makes no expression.
    #[must_use]
    pub fn not_understood(&self, reading: &Reading<'_>, text: &str, mistake: &Mistake) -> Missing {
        let sought = excerpt(format!("{} {text}", self.kind.word()).as_bytes());
        let reason = format!("was not looked for: {}", mistake.message);
        Missing { sought, reason, found: self.surroundings(reading), instead: None }
    }

    fn missing(&self, reading: &Reading<'_>, reason: String) -> Missing {
        let instead = if reason.starts_with("found nothing") { self.instead(reading) } else { None };
        Missing { sought: excerpt(self.words().as_bytes()), reason, found: self.surroundings(reading), instead }
    }

    /// What stands in a JSON body where the path leads nowhere: a server that answers well and a path with a typing error look alike.
    fn instead(&self, reading: &Reading<'_>) -> Option<String> {
        let Finder::Json(_) = &self.finder else { return None };
        // Only a path of names is followed one by one.
        if self.text.contains(['[', '(']) || self.text.contains("..") {
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
mod tests;
