//! Promises about one answer: `status 2xx`, `json $.items length > 0`, `time < 200ms`.
//!
//! A server under load answers 200 with an error page, an empty list, or somebody else's basket, and a load test that looks at
//! the status alone calls that a success. A check is read before the run and judged for each answer, where one that holds must cost
//! next to nothing: it compares what is there, and makes words only if it does not hold.
//!
//! Where several values are found (a header that came twice, a JSONPath with `*`), any one of the headers is enough, as they are
//! one list to HTTP; of everything else each must hold, as a promise that one of a hundred prices is above 0 is none.
//!
//! Invariant: what is not there keeps no promise but `missing` and `count`; `not` turns what is said of a value, not whether it is there.

use std::fmt;
use std::ops::ControlFlow;

use memchr::memmem;
use plan::Nanos;
use plan::template::Mistake;
use regex::bytes::Regex;
use serde_json::Value;

use crate::excerpt::excerpt;
use crate::extract::{self, Extractor, Found, Kind};
use crate::reading::Reading;

/// Examples are cut to so many bytes.
pub const EXCERPT_BYTES_MAX: usize = 200;

/// What of an answer a check is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// The status: `200`, `2xx`, `200, 204`, `200-299`, `not 5xx`, `< 400`.
    Status,
    /// The header of this name: any one of them, if there are several.
    Header(String),
    /// The cookie of this name set by the answer.
    Cookie(String),
    /// The whole body.
    Body,
    /// The values at this JSONPath.
    Json(String),
    /// The texts or attributes at this CSS selector.
    Css(String),
    /// What this XPath gives.
    XPath(String),
    /// The bytes of the body: `< 10 KiB`.
    Size,
    /// The time of the request: `< 200ms`.
    Time,
}

const SUBJECTS: &str = "status, header NAME, cookie NAME, body, json PATH, css SELECTOR, xpath PATH, size or time";

impl Subject {
    /// From its word and, for those that have one, its name or path: `json` and `$.id`. `None` if there is no such word.
    #[must_use]
    pub fn of_word(word: &str, target: &str) -> Option<Self> {
        Some(match word {
            "status" => Self::Status,
            "body" => Self::Body,
            "size" => Self::Size,
            "time" => Self::Time,
            "header" => Self::Header(target.to_owned()),
            "cookie" => Self::Cookie(target.to_owned()),
            "json" => Self::Json(target.to_owned()),
            "css" => Self::Css(target.to_owned()),
            "xpath" => Self::XPath(target.to_owned()),
            _ => return None,
        })
    }

    /// Its word in a scenario: `status`, `header`, `cookie`, `body`, `json`, `css`, `xpath`, `size`, `time`.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Header(_) => "header",
            Self::Cookie(_) => "cookie",
            Self::Body => "body",
            Self::Json(_) => "json",
            Self::Css(_) => "css",
            Self::XPath(_) => "xpath",
            Self::Size => "size",
            Self::Time => "time",
        }
    }

    fn target(&self) -> Option<(Kind, &str)> {
        match self {
            Self::Header(name) => Some((Kind::Header, name)),
            Self::Cookie(name) => Some((Kind::Cookie, name)),
            Self::Json(path) => Some((Kind::JsonPath, path)),
            Self::Css(selector) => Some((Kind::Css, selector)),
            Self::XPath(path) => Some((Kind::XPath, path)),
            Self::Status | Self::Body | Self::Size | Self::Time => None,
        }
    }

    /// As it stands at the beginning of a line.
    fn words(&self) -> String {
        let Some((_, target)) = self.target() else { return self.word().to_owned() };
        let target = target.trim();
        let plain = !target.is_empty() && !target.starts_with('"') && bare_length(target) == target.len();
        format!("{} {}", self.word(), if plain { target.to_owned() } else { quoted(target) })
    }
}

/// A promise about an answer, understood before the run. Clone one for each thread: its scratch memory is then that thread's own.
///
/// Conditions: `exists`, `missing`, `VALUE` or `== VALUE`, `!= VALUE`, `< <= > >= NUMBER`, `contains TEXT`, `starts with TEXT`,
/// `ends with TEXT`, `matches REGEX`, `length > 0`, `count == 3`; `not` before any of them. Values may stand in double quotes:
/// `"7"` is the text alone, `7` is the number and the text.
#[derive(Debug, Clone)]
pub struct Check {
    words: Box<str>,
    /// The condition within the words.
    condition_at: usize,
    source: Source,
    negated: bool,
    condition: Condition,
}

#[derive(Debug, Clone)]
enum Source {
    Status,
    Size,
    Time,
    Body,
    Sought(Box<Extractor>),
    /// Of several, any one is enough.
    AnyOf(Box<Extractor>),
}

#[derive(Debug, Clone)]
enum Condition {
    Exists,
    /// From and to.
    Status(Vec<(u16, u16)>),
    Equal(Operand),
    Compare(Order, f64),
    Contains(Box<memmem::Finder<'static>>),
    StartsWith(Box<str>),
    EndsWith(Box<str>),
    Matches(Regex),
    Length(Order, u64),
    Count(Order, u64),
}

/// What a value is compared with.
#[derive(Debug, Clone)]
struct Operand {
    text: Box<str>,
    /// If it was not in quotes and is a number, a truth, `null`, a list or an object.
    json: Option<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Less,
    AtMost,
    Equal,
    AtLeast,
    More,
}

/// Longer signs first.
const ORDERS: [(&str, Order); 6] =
    [("<=", Order::AtMost), (">=", Order::AtLeast), ("==", Order::Equal), ("<", Order::Less), (">", Order::More), ("=", Order::Equal)];

impl Order {
    fn holds<N: PartialOrd + Copy>(self, left: N, right: N) -> bool {
        match self {
            Self::Less => left < right,
            Self::AtMost => left <= right,
            Self::Equal => left == right,
            Self::AtLeast => left >= right,
            Self::More => left > right,
        }
    }

    fn sign(self) -> &'static str {
        ORDERS.iter().find(|(_, order)| *order == self).map_or("", |(sign, _)| sign)
    }
}

/// A mistake in one half of a check that was given in two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mistaken {
    /// In the name, path or selector of the subject.
    Subject(Mistake),
    /// In the condition.
    Condition(Mistake),
}

impl Check {
    /// Understands a condition on a subject.
    ///
    /// # Errors
    /// What is wrong, in which of the two, and where.
    pub fn compile(subject: &Subject, condition: &str) -> Result<Self, Mistaken> {
        let source = match (subject, subject.target()) {
            (Subject::Size, _) => Source::Size,
            (Subject::Time, _) => Source::Time,
            (Subject::Body, _) => Source::Body,
            (_, None) => Source::Status,
            (_, Some((kind, target))) => {
                let extractor = Box::new(Extractor::compile(kind, target).map_err(Mistaken::Subject)?);
                if kind == Kind::Header { Source::AnyOf(extractor) } else { Source::Sought(extractor) }
            }
        };
        let read = Reader { text: condition, at: 0, subject }.condition().map_err(Mistaken::Condition)?;
        let subject = subject.words();
        let words = format!("{subject} {}", read.words).into_boxed_str();
        Ok(Self { words, condition_at: subject.len() + 1, source, negated: read.negated, condition: read.condition })
    }

    /// Understands a check on one line: `status 2xx`, `header Content-Type contains json`, `json $.items length > 0`,
    /// `body contains "welcome"`, `time < 200ms`, `size < 10 KiB`, `cookie session exists`, `css "ul > li" count 3`. A path or
    /// selector with blanks outside of brackets stands in double quotes.
    ///
    /// # Errors
    /// What is wrong, and where in the line.
    pub fn parse(line: &str) -> Result<Self, Mistake> {
        let word_at = line.len() - line.trim_start().len();
        let word_end = line[word_at..].find(char::is_whitespace).map_or(line.len(), |length| word_at + length);
        let word = &line[word_at..word_end];
        let Some(mut subject) = Subject::of_word(word, "") else {
            let message =
                if word.is_empty() { "a check is missing here".to_owned() } else { format!("`{word}` is nothing that can be checked") };
            let help = format!("a check is about {SUBJECTS}");
            return Err(Mistake { at: word_at, length: word.len(), message, help });
        };
        let mut at = line.len() - line[word_end..].trim_start().len();
        let mut target_at = at;
        if subject.target().is_some() {
            let rest = &line[at..];
            if rest.is_empty() {
                let message = format!("after {word} the name or path is missing");
                return Err(Mistake { at, length: 0, message, help: format!("a check is about {SUBJECTS}") });
            }
            let target = if rest.starts_with('"') {
                let (text, length) = quoted_text(line, at)?;
                target_at += 1;
                at += length;
                text
            } else {
                let length = bare_length(rest);
                at += length;
                rest[..length].to_owned()
            };
            subject = Subject::of_word(word, &target).unwrap_or(subject);
        }
        Self::compile(&subject, &line[at..]).map_err(|mistaken| {
            let (mut mistake, from) = match mistaken {
                Mistaken::Subject(mistake) => (mistake, target_at),
                Mistaken::Condition(mistake) => (mistake, at),
            };
            // In quotes, what was escaped is longer in the line than it is.
            mistake.at = (from + mistake.at).min(line.len());
            while !line.is_char_boundary(mistake.at) {
                mistake.at -= 1;
            }
            let mut end = (mistake.at + mistake.length).min(line.len());
            while !line.is_char_boundary(end) {
                end += 1;
            }
            mistake.length = end - mistake.at;
            mistake
        })
    }

    /// The check in words, as reports name it: `json $.items length > 0`. Reading them again gives the same check.
    #[must_use]
    pub fn words(&self) -> &str {
        &self.words
    }

    /// Whether it holds.
    ///
    /// # Errors
    /// What was there instead.
    pub fn of(&self, reading: &Reading<'_>) -> Result<(), Broken> {
        let answer = reading.answer();
        let number = |number: f64, words: &dyn Fn() -> String| {
            if self.number_holds(number) != self.negated { Ok(()) } else { Err(self.broken(words())) }
        };
        match &self.source {
            Source::Status => number(answer.status.into(), &|| answer.status.to_string()),
            Source::Size => number(answer.body.len() as f64, &|| format!("{} bytes", answer.body.len())),
            Source::Time => number(answer.elapsed.0 as f64, &|| answer.elapsed.to_string()),
            Source::Body => {
                let holds = match self.condition {
                    Condition::Exists => !answer.body.is_empty(),
                    _ => self.text_holds(answer.body),
                };
                if holds != self.negated { Ok(()) } else { Err(self.broken(shown(answer.body))) }
            }
            Source::Sought(extractor) => self.sought(extractor, reading, false),
            Source::AnyOf(extractor) => self.sought(extractor, reading, true),
        }
    }

    fn sought(&self, extractor: &Extractor, reading: &Reading<'_>, any_is_enough: bool) -> Result<(), Broken> {
        let mut count = 0u64;
        let mut wrong: Option<String> = None;
        let mut held = false;
        let searched = extractor.each(reading, &mut |found| {
            count += 1;
            match self.condition {
                // One is enough, and if there should be none it is the example.
                Condition::Exists => {
                    if self.negated {
                        wrong = Some(words_of(&found));
                    }
                    return ControlFlow::Break(());
                }
                Condition::Count(..) => return ControlFlow::Continue(()),
                _ => {}
            }
            // `not` is said of all values: with any that holds, it is broken.
            let found_held = self.found_holds(&found);
            let wanted = found_held != self.negated;
            held |= wanted;
            if !wanted && wrong.is_none() {
                wrong = Some(words_of(&found));
            }
            let decided = if any_is_enough && !self.negated { wanted } else { !wanted };
            if decided { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if let Err(reason) = searched {
            // Not even `missing`: a page that says that the gateway is down has no member `error` either.
            let body = extractor.surroundings(reading);
            return Err(self.broken(if body.is_empty() { reason } else { format!("{reason} in {body}") }));
        }
        let nothing = || format!("nothing in {}", extractor.surroundings(reading));
        match &self.condition {
            Condition::Exists if count > 0 && !self.negated => Ok(()),
            Condition::Exists if count == 0 && self.negated => Ok(()),
            Condition::Exists => Err(self.broken(wrong.unwrap_or_else(nothing))),
            Condition::Count(order, wanted) => {
                if order.holds(count, *wanted) != self.negated {
                    Ok(())
                } else {
                    Err(self.broken(format!("{count} found")))
                }
            }
            _ if count == 0 => Err(self.broken(nothing())),
            _ if any_is_enough && !self.negated && held => Ok(()),
            _ => wrong.map_or(Ok(()), |wrong| Err(self.broken(wrong))),
        }
    }

    fn broken(&self, actual: String) -> Broken {
        Broken {
            check: excerpt(self.words.as_bytes()),
            expected: excerpt(self.words.get(self.condition_at..).unwrap_or_default().as_bytes()),
            actual: if actual.len() > EXCERPT_BYTES_MAX { excerpt(actual.as_bytes()) } else { actual },
        }
    }

    fn number_holds(&self, number: f64) -> bool {
        match &self.condition {
            Condition::Status(ranges) => ranges.iter().any(|(from, to)| (f64::from(*from)..=f64::from(*to)).contains(&number)),
            Condition::Compare(order, wanted) => order.holds(number, *wanted),
            _ => false,
        }
    }

    fn found_holds(&self, found: &Found<'_>) -> bool {
        match found {
            Found::Text(text) => self.text_holds(text.as_bytes()),
            Found::Json(value) => self.value_holds(value),
            Found::Plain(value) => self.value_holds(value),
        }
    }

    fn text_holds(&self, bytes: &[u8]) -> bool {
        match &self.condition {
            Condition::Exists => true,
            Condition::Equal(operand) => bytes == operand.text.as_bytes(),
            Condition::Compare(order, wanted) => {
                std::str::from_utf8(bytes).ok().and_then(number_in).is_some_and(|number| order.holds(number, *wanted))
            }
            Condition::Contains(text) => text.find(bytes).is_some(),
            Condition::StartsWith(text) => bytes.starts_with(text.as_bytes()),
            Condition::EndsWith(text) => bytes.ends_with(text.as_bytes()),
            Condition::Matches(regex) => regex.is_match(bytes),
            Condition::Length(order, wanted) => order.holds(letters(bytes), *wanted),
            Condition::Count(..) | Condition::Status(_) => false,
        }
    }

    fn value_holds(&self, value: &Value) -> bool {
        match (&self.condition, value) {
            (Condition::Equal(operand), value) => operand.is(value),
            (Condition::Compare(order, wanted), Value::Number(number)) => {
                number.as_f64().is_some_and(|number| order.holds(number, *wanted))
            }
            (Condition::Length(order, wanted), Value::Array(list)) => order.holds(list.len() as u64, *wanted),
            (Condition::Length(order, wanted), Value::Object(object)) => order.holds(object.len() as u64, *wanted),
            (Condition::Length(..), Value::Number(_) | Value::Bool(_) | Value::Null) => false,
            // A list contains its elements.
            (Condition::Contains(text), Value::Array(list)) => {
                list.iter().any(|element| extract::text_of(element).as_bytes() == text.needle())
            }
            (_, value) => self.text_holds(extract::text_of(value).as_bytes()),
        }
    }
}

impl Operand {
    fn is(&self, value: &Value) -> bool {
        match (value, &self.json) {
            (Value::String(text), _) => **text == *self.text,
            // 1, 1.0 and 1e0 are one number.
            (Value::Number(number), Some(Value::Number(wanted))) => {
                number == wanted || ((number.is_f64() || wanted.is_f64()) && number.as_f64() == wanted.as_f64())
            }
            (value, Some(wanted)) => value == wanted,
            (_, None) => false,
        }
    }
}

/// Codepoints; what is no UTF-8 counts as one each.
fn letters(bytes: &[u8]) -> u64 {
    bytes.utf8_chunks().map(|chunk| chunk.valid().chars().count() as u64 + u64::from(!chunk.invalid().is_empty())).sum()
}

fn number_in(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|number| number.is_finite())
}

fn words_of(found: &Found<'_>) -> String {
    match found {
        Found::Text(text) => shown(text.as_bytes()),
        Found::Json(value) => shown(value.to_string().as_bytes()),
        Found::Plain(value) => shown(value.to_string().as_bytes()),
    }
}

fn shown(bytes: &[u8]) -> String {
    if bytes.is_empty() { "empty".to_owned() } else { excerpt(bytes) }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    subject: &'t Subject,
}

struct Read {
    negated: bool,
    condition: Condition,
    words: String,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Whether one of these words comes next, as a whole.
    fn eat(&mut self, words: &[&str]) -> bool {
        for word in words {
            if let Some(after) = self.rest().strip_prefix(word)
                && (after.is_empty() || after.starts_with(|next: char| next.is_whitespace() || "<>=!\"".contains(next)))
            {
                self.at += word.len();
                self.blanks();
                return true;
            }
        }
        false
    }

    fn wrong(&self, message: impl Into<String>, help: &str) -> Mistake {
        Mistake { at: self.at, length: self.rest().trim_end().len(), message: message.into(), help: help.to_owned() }
    }

    fn condition(mut self) -> Result<Read, Mistake> {
        self.blanks();
        if self.rest().is_empty() {
            return Err(self.wrong("a condition is missing", self.help()));
        }
        let mut negated = self.eat(&["not"]);
        if matches!(self.subject, Subject::Status | Subject::Size | Subject::Time) {
            return self.number(negated);
        }
        let from = self.at;
        let (condition, words) = if self.eat(&["exists"]) {
            self.nothing_more()?;
            (Condition::Exists, if negated { "missing" } else { "exists" }.to_owned())
        } else if self.eat(&["missing", "absent"]) {
            self.nothing_more()?;
            negated = !negated;
            (Condition::Exists, if negated { "missing" } else { "exists" }.to_owned())
        } else if self.eat(&["contains"]) {
            let (text, written) = self.operand_text()?;
            (Condition::Contains(Box::new(memmem::Finder::new(text.as_bytes()).into_owned())), not(negated, "contains", &written))
        } else if self.eat(&["starts with"]) {
            let (text, written) = self.operand_text()?;
            (Condition::StartsWith(text.into()), not(negated, "starts with", &written))
        } else if self.eat(&["ends with"]) {
            let (text, written) = self.operand_text()?;
            (Condition::EndsWith(text.into()), not(negated, "ends with", &written))
        } else if self.eat(&["matches"]) {
            let (regex, written) = self.regex()?;
            (Condition::Matches(regex), not(negated, "matches", &written))
        } else if self.eat(&["length"]) {
            self.counted("length", from, negated)?
        } else if self.eat(&["count"]) {
            self.counted("count", from, negated)?
        } else if self.rest().starts_with("!=") {
            self.at += 2;
            self.blanks();
            negated = !negated;
            self.equal(negated)?
        } else if let Some((sign, order)) = ORDERS.iter().find(|(sign, order)| *order != Order::Equal && self.rest().starts_with(sign)) {
            self.at += sign.len();
            self.blanks();
            let number = number_in(self.rest());
            let number = number.ok_or_else(|| self.wrong("this is no number", "such as > 0 or <= 99.5"))?;
            (Condition::Compare(*order, number), not(negated, sign, self.rest().trim_end()))
        } else {
            if self.rest().starts_with('=') {
                self.at += if self.rest().starts_with("==") { 2 } else { 1 };
                self.blanks();
            } else {
                self.eat(&["equals", "is"]);
            }
            self.equal(negated)?
        };
        Ok(Read { negated, condition, words })
    }

    fn equal(&mut self, negated: bool) -> Result<(Condition, String), Mistake> {
        let bare = !self.rest().starts_with('"');
        let (text, written) = self.operand()?;
        let json = if bare { serde_json::from_str(&text).ok().filter(|value: &Value| !value.is_string()) } else { None };
        let words = format!("{} {written}", if negated { "!=" } else { "==" });
        Ok((Condition::Equal(Operand { text: text.into(), json }), words))
    }

    /// `length > 0`, `count 3`.
    fn counted(&mut self, what: &str, from: usize, negated: bool) -> Result<(Condition, String), Mistake> {
        if matches!(self.subject, Subject::Body) {
            self.at = from;
            return Err(self.wrong(format!("the body has no {what}"), "size is about its bytes: size < 10 KiB"));
        }
        let mut negated_here = false;
        let order = if self.rest().starts_with("!=") {
            negated_here = true;
            self.at += 2;
            Order::Equal
        } else if let Some((sign, order)) = ORDERS.iter().find(|(sign, _)| self.rest().starts_with(sign)) {
            self.at += sign.len();
            *order
        } else {
            Order::Equal
        };
        self.blanks();
        let number: u64 =
            self.rest().trim_end().parse().map_err(|_| self.wrong("this is no whole number", "such as length > 0 or count 3"))?;
        if negated_here {
            return Err(Mistake {
                at: from,
                length: self.text.trim_end().len() - from,
                message: format!("{what} knows no !="),
                help: format!("write not {what} {number}"),
            });
        }
        let words = not(negated, what, &format!("{} {number}", order.sign()));
        Ok((if what == "length" { Condition::Length(order, number) } else { Condition::Count(order, number) }, words))
    }

    /// The status, the size or the time.
    fn number(mut self, mut negated: bool) -> Result<Read, Mistake> {
        if self.rest().starts_with("!=") {
            self.at += 2;
            self.blanks();
            negated = !negated;
            return self.plain_number(negated);
        }
        let Some((sign, order)) = ORDERS.iter().find(|(sign, _)| self.rest().starts_with(sign)) else {
            self.eat(&["equals", "is"]);
            return self.plain_number(negated);
        };
        self.at += sign.len();
        self.blanks();
        if *order == Order::Equal {
            return self.plain_number(negated);
        }
        let (number, written) = self.quantity()?;
        Ok(Read { negated, condition: Condition::Compare(*order, number), words: not(negated, sign, &written) })
    }

    fn plain_number(&mut self, negated: bool) -> Result<Read, Mistake> {
        match self.subject {
            Subject::Status => {
                let (ranges, written) = self.statuses()?;
                let words = if negated { format!("not {written}") } else { written };
                Ok(Read { negated, condition: Condition::Status(ranges), words })
            }
            Subject::Time => Err(self.wrong("no two requests take the same time", "write < 200ms or > 10ms")),
            _ => {
                let (number, written) = self.quantity()?;
                let words = format!("{} {written}", if negated { "!=" } else { "==" });
                Ok(Read { negated, condition: Condition::Compare(Order::Equal, number), words })
            }
        }
    }

    /// A number with the unit of the subject: bytes, nanoseconds or none.
    fn quantity(&mut self) -> Result<(f64, String), Mistake> {
        let text = self.rest().trim_end();
        match self.subject {
            Subject::Time => {
                let time: Nanos = text.parse().map_err(|words| self.wrong(format!("the time {words}"), "such as < 200ms"))?;
                Ok((time.0 as f64, time.to_string()))
            }
            Subject::Size => bytes_in(text)
                .map(|bytes| (bytes, text.split_whitespace().collect::<Vec<_>>().join(" ")))
                .ok_or_else(|| self.wrong("this is no size", "such as < 10 KiB; there are B, kB, KiB, MB, MiB, GB and GiB")),
            _ => match text.parse::<u16>() {
                Ok(status) if (100..=999).contains(&status) => Ok((status.into(), status.to_string())),
                _ => Err(self.wrong("this is no status", "such as < 400")),
            },
        }
    }

    /// `200`, `2xx`, `200-299`, several with commas.
    fn statuses(&mut self) -> Result<(Vec<(u16, u16)>, String), Mistake> {
        let (mut ranges, mut words) = (Vec::new(), Vec::new());
        loop {
            let end = self.rest().find(',').unwrap_or(self.rest().len());
            let one = self.rest()[..end].trim();
            let Some(range) = status_range(one) else {
                let length = one.len();
                let message =
                    if one.is_empty() { "a status is missing".to_owned() } else { format!("`{}` is no status", excerpt(one.as_bytes())) };
                return Err(Mistake { at: self.at, length, message, help: "such as 200, 2xx, 200-299 or not 5xx".to_owned() });
            };
            ranges.push(range);
            words.push(match range {
                (from, to) if from == to => from.to_string(),
                (from, to) if from % 100 == 0 && to == from + 99 => format!("{}xx", from / 100),
                (from, to) => format!("{from}-{to}"),
            });
            self.at += end;
            if self.rest().is_empty() {
                return Ok((ranges, words.join(", ")));
            }
            self.at += 1;
            self.blanks();
        }
    }

    fn nothing_more(&self) -> Result<(), Mistake> {
        if self.rest().is_empty() { Ok(()) } else { Err(self.wrong("nothing can follow here", self.help())) }
    }

    /// A text to look for, which must not be empty: everything contains that.
    fn operand_text(&mut self) -> Result<(String, String), Mistake> {
        let from = self.at;
        let (text, written) = self.operand()?;
        if text.is_empty() {
            self.at = from;
            return Err(self.wrong("the text is empty, and everything contains that", "such as contains \"welcome\""));
        }
        Ok((text, written))
    }

    /// The rest: a text in quotes, or bare to the end. With how it is written in words.
    fn operand(&mut self) -> Result<(String, String), Mistake> {
        let rest = self.rest().trim_end();
        if rest.is_empty() {
            return Err(self.wrong("a value is missing", "such as == 7, or == \"\" for an empty text"));
        }
        if !rest.starts_with('"') {
            return Ok((rest.to_owned(), rest.to_owned()));
        }
        let (text, length) = quoted_text(self.text, self.at)?;
        self.at += length;
        self.blanks();
        self.nothing_more()?;
        let written = quoted(&text);
        Ok((text, written))
    }

    /// A regular expression, bare to the end, or in quotes, in which only `\"` is special, so that nothing need be escaped twice.
    fn regex(&mut self) -> Result<(Regex, String), Mistake> {
        let rest = self.rest().trim_end();
        if rest.is_empty() {
            return Err(self.wrong("a regular expression is missing", "such as matches ^order-[0-9]+$"));
        }
        let inner = rest.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let (text, from) = inner.map_or_else(|| (rest.to_owned(), self.at), |inner| (inner.replace("\\\"", "\""), self.at + 1));
        let regex = extract::regex(&text).map_err(|mut mistake| {
            mistake.at = (from + mistake.at).min(self.text.len());
            while !self.text.is_char_boundary(mistake.at) {
                mistake.at -= 1;
            }
            let mut end = (mistake.at + mistake.length).min(self.text.len());
            while !self.text.is_char_boundary(end) {
                end += 1;
            }
            mistake.length = end - mistake.at;
            mistake
        })?;
        Ok((regex, format!("\"{}\"", text.replace('"', "\\\""))))
    }

    fn help(&self) -> &'static str {
        match self.subject {
            Subject::Status => "such as 200, 2xx, 200-299 or not 5xx",
            Subject::Time => "such as < 200ms",
            Subject::Size => "such as < 10 KiB",
            _ => {
                "exists, missing, == VALUE, != VALUE, > NUMBER, contains TEXT, starts with TEXT, ends with TEXT, matches REGEX, length > 0, count 3"
            }
        }
    }
}

fn not(negated: bool, words: &str, operand: &str) -> String {
    format!("{}{words} {operand}", if negated { "not " } else { "" })
}

fn status_range(text: &str) -> Option<(u16, u16)> {
    let status = |text: &str| {
        let is_status = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
        is_status.then(|| text.parse::<u16>().ok())?.filter(|status| *status >= 100)
    };
    if let Some(class) = text.strip_suffix("xx").or_else(|| text.strip_suffix("XX")) {
        let class = class.parse::<u16>().ok().filter(|class| (1..=9).contains(class) && text.len() == 3)?;
        return Some((class * 100, class * 100 + 99));
    }
    match text.split_once("..").or_else(|| text.split_once('-')) {
        Some((from, to)) => {
            let (from, to) = (status(from.trim())?, status(to.trim())?);
            (from <= to).then_some((from, to))
        }
        None => status(text).map(|status| (status, status)),
    }
}

fn bytes_in(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 10] = [
        ("", 1.0),
        ("b", 1.0),
        ("bytes", 1.0),
        ("byte", 1.0),
        ("kb", 1e3),
        ("kib", 1024.0),
        ("mb", 1e6),
        ("mib", 1_048_576.0),
        ("gb", 1e9),
        ("gib", 1_073_741_824.0),
    ];
    let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = unit.trim().to_ascii_lowercase();
    let (_, factor) = UNITS.iter().find(|(known, _)| *known == unit)?;
    Some(number_in(number)? * factor)
}

/// A text in double quotes, escaped as in JSON.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// The text in quotes that begins at `at`, and how long it is in the line.
fn quoted_text(line: &str, at: usize) -> Result<(String, usize), Mistake> {
    let rest = &line[at..];
    let mut escaped = false;
    let end = rest.char_indices().skip(1).find(|(_, letter)| {
        let ends = *letter == '"' && !escaped;
        escaped = *letter == '\\' && !escaped;
        ends
    });
    let help = "end it with a double quote; inside, \\\" is a quote and \\\\ a backslash".to_owned();
    let Some((end, _)) = end else {
        return Err(Mistake { at, length: rest.trim_end().len(), message: "this quote does not end".to_owned(), help });
    };
    let text = &rest[..=end];
    match serde_json::from_str(text) {
        Ok(inner) => Ok((inner, text.len())),
        Err(_) => Err(Mistake { at, length: text.len(), message: "this is no text in quotes as JSON writes it".to_owned(), help }),
    }
}

/// How far a path or a selector goes that is not in quotes: to the first blank outside of brackets and quotes.
fn bare_length(text: &str) -> usize {
    let mut depth = 0usize;
    let mut quote = None;
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), letter) => quote = (open != letter).then_some(open),
            (None, '\'' | '"') if depth > 0 => quote = Some(letter),
            (None, '(' | '[') => depth += 1,
            (None, ')' | ']') => depth = depth.saturating_sub(1),
            (None, letter) if letter.is_whitespace() && depth == 0 => return at,
            (None, _) => {}
        }
    }
    text.len()
}

/// A check did not hold. Prints as `status 2xx: was 503`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The check's own words.
    pub check: String,
    /// What was promised, of the value: `2xx`, `length > 0`.
    pub expected: String,
    /// What was there, at most [`EXCERPT_BYTES_MAX`] bytes; may hold secrets, which are the report's to conceal.
    pub actual: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Some of what was there is told in a sentence of its own.
        let was = if self.actual.starts_with("the body ") || self.actual.starts_with("was ") { "" } else { "was " };
        write!(f, "{}: {was}{}", self.check, self.actual)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::answer::{Answer, Headers};

    const HEADERS: &[u8] = b"Content-Type: application/json; charset=utf-8\r\nX-Cache: MISS\r\nX-Cache: HIT\r\nAge: 12\r\n\
        Set-Cookie: session=abc; Path=/\r\n";
    const BODY: &[u8] = br#"{"ok": true, "id": 7, "price": "12.50", "name": "ann \"b\"", "none": null, "items": [{"n": 1}, {"n": 2}], "tags": ["a", "b"], "empty": []}"#;

    fn answer(body: &[u8]) -> Answer<'_> {
        Answer { status: 201, headers: Headers::lines(HEADERS), body, elapsed: Nanos::from_millis(150) }
    }

    fn check(line: &str) -> Check {
        Check::parse(line).unwrap_or_else(|mistake| panic!("{line}: {mistake:?}"))
    }

    #[test]
    fn checks_hold_or_are_broken_with_what_was_there() {
        // None where it holds, else what was there instead.
        let nothing = format!("nothing in {}", excerpt(BODY));
        let cases = [
            ("status 201", None),
            ("status 2xx", None),
            ("status is 201", None),
            ("status == 200", Some("201")),
            ("status 200, 201", None),
            ("status 200-299", None),
            ("status 3xx, 400..499", Some("201")),
            ("status not 5xx", None),
            ("status != 201", Some("201")),
            ("status not 200, 201", Some("201")),
            ("status < 400", None),
            ("status >= 400", Some("201")),
            ("header Content-Type exists", None),
            ("header content-type contains json", None),
            ("header content-type == application/json", Some("application/json; charset=utf-8")),
            ("header content-type starts with application/json", None),
            ("header content-type ends with utf-8", None),
            ("header content-type matches ^application/(json|xml)", None),
            ("header X-Cache HIT", None),
            ("header X-Cache == STALE", Some("MISS")),
            ("header X-Cache not contains HIT", Some("HIT")),
            ("header X-Cache count 2", None),
            ("header Age < 60", None),
            ("header Age not < 60", Some("12")),
            ("header Location missing", None),
            ("header Location not exists", None),
            ("header Age missing", Some("12")),
            ("header Location == /x", Some("nothing in Content-Type, X-Cache, X-Cache, Age, Set-Cookie")),
            ("header Location != /x", Some("nothing in Content-Type, X-Cache, X-Cache, Age, Set-Cookie")),
            ("cookie session exists", None),
            ("cookie session length 3", None),
            ("cookie csrf exists", Some("nothing in session")),
            ("body exists", None),
            ("body contains \"\\\"ok\\\": true\"", None),
            ("body contains ok", None),
            ("body not contains error", None),
            ("body matches \"id\": [0-9]+", None),
            ("body matches \"\\\"id\\\": \\d+\"", None),
            ("body starts with {", None),
            ("body missing", Some(&*excerpt(BODY))),
            ("json $.ok true", None),
            ("json $.ok == false", Some("true")),
            ("json $.id == 7", None),
            ("json $.id 7.0", None),
            ("json $.id == \"7\"", Some("7")),
            ("json $.id != 8", None),
            ("json $.id > 6.5", None),
            ("json $.id <= 6", Some("7")),
            ("json $.price > 12", None),
            ("json $.price 12.50", None),
            ("json $.price 12.5", Some("\"12.50\"")),
            ("json $.name == ann \"b\"", None),
            ("json $.name \"ann \\\"b\\\"\"", None),
            ("json $.name length 7", None),
            ("json $.none exists", None),
            ("json $.none null", None),
            ("json $.absent exists", Some(&nothing)),
            ("json $.absent missing", None),
            ("json $.absent != 1", Some(&nothing)),
            ("json $.items length >= 2", None),
            ("json $.items length > 2", Some("[{\"n\":1},{\"n\":2}]")),
            ("json $.empty not length 0", Some("[]")),
            ("json $.items[*].n > 0", None),
            ("json $.items[*].n > 1", Some("1")),
            ("json $.items[*].n not > 2", None),
            ("json $.items[*] count 2", None),
            ("json $.absent count == 0", None),
            ("json $.items[0] {\"n\": 1}", None),
            ("json $.tags contains b", None),
            ("json $.tags contains c", Some("[\"a\",\"b\"]")),
            ("json $.items[?@.n == 2].n 2", None),
            ("json $..n count > 1", None),
            ("size > 100", None),
            ("size < 10 KiB", None),
            ("size <= 1kB", None),
            ("size < 0.05 KiB", Some(&*format!("{} bytes", BODY.len()))),
            ("time < 200ms", None),
            ("time <= 0.1s", Some("150ms")),
            ("time not > 1s", None),
        ];
        for (line, expected) in cases {
            let reading = Reading::new(answer(BODY));
            let broken = check(line).of(&reading).err();
            assert_eq!(broken.as_ref().map(|broken| broken.actual.as_str()), expected, "{line}");
        }
    }

    #[test]
    fn pages_are_checked_by_selector_and_path() {
        let page = b"<h1 class=x>Hello <b>Ann</b></h1><ul><li>1<li>2<li>30</ul>";
        let cases = [
            ("css h1 == Hello Ann", None),
            ("css h1::attr(class) x", None),
            ("css \"ul > li\" count 3", None),
            ("css li < 10", Some("30")),
            ("css h2 missing", None),
            ("xpath //h1/b/text() Ann", None),
            ("xpath count(//li) == 3", None),
            ("xpath //li[. = '30'] exists", None),
            ("xpath \"//li[1] | //li[2]\" length 1", None),
            (
                "json $.a missing",
                Some(
                    "the body is not JSON: expected value at line 1 column 1 in <h1 class=x>Hello <b>Ann</b></h1><ul><li>1<li>2<li>30</ul>",
                ),
            ),
        ];
        for (line, expected) in cases {
            let broken = check(line).of(&Reading::new(answer(page))).err();
            assert_eq!(broken.as_ref().map(|broken| broken.actual.as_str()), expected, "{line}");
        }
    }

    #[test]
    fn a_broken_check_is_told_in_a_sentence() {
        let told = |line: &str, body: &[u8]| check(line).of(&Reading::new(answer(body))).unwrap_err();
        assert_eq!(told("status 3xx, 404 ", b"").to_string(), "status 3xx, 404: was 201");
        let broken = told("json $.items  length>0", b"{\"items\":[]}");
        assert_eq!(broken.to_string(), "json $.items length > 0: was []");
        assert_eq!((broken.check.as_str(), broken.expected.as_str()), ("json $.items length > 0", "length > 0"));
        assert_eq!(told("body contains welcome", b"").to_string(), "body contains welcome: was empty");
        assert_eq!(
            told("json $.ok true", b"<html>").to_string(),
            "json $.ok == true: the body is not JSON: expected value at line 1 column 1 in <html>"
        );
        let long = told("body == x", "y".repeat(1_000_000).as_bytes());
        assert!(long.actual.len() <= EXCERPT_BYTES_MAX);
    }

    #[test]
    fn a_check_has_one_form_in_words_however_it_was_written() {
        for (line, words) in [
            ("status  == 200 ,2XX", "status 200, 2xx"),
            ("status 200..299", "status 2xx"),
            ("status != 5xx", "status not 5xx"),
            ("header  Age  is 12", "header Age == 12"),
            ("header Age absent", "header Age missing"),
            ("header Age not missing", "header Age exists"),
            ("json $.a[?@.b == 1] = x", "json $.a[?@.b == 1] == x"),
            ("json \"$.a\" x", "json $.a == x"),
            ("json $.a not x", "json $.a != x"),
            ("json $.a length 3", "json $.a length == 3"),
            ("css \"ul > li\" exists", "css \"ul > li\" exists"),
            ("body matches a\"b\\d", "body matches \"a\\\"b\\d\""),
            ("body contains \"a b\"", "body contains \"a b\""),
            ("time < 0.2s", "time < 200ms"),
            ("size == 10", "size == 10"),
            ("size <  10  KiB", "size < 10 KiB"),
            ("json $.code not-found", "json $.code == not-found"),
        ] {
            assert_eq!(check(line).words(), words);
            assert_eq!(check(words).words(), words, "read again");
        }
    }

    #[test]
    fn the_two_halves_may_be_given_apart() {
        let subject = Subject::of_word("json", "$.items").unwrap();
        assert_eq!(Check::compile(&subject, "length > 0").unwrap().words(), "json $.items length > 0");
        assert_eq!(Check::compile(&Subject::Status, "2xx").unwrap().words(), "status 2xx");
        assert!(matches!(Check::compile(&Subject::Json("items".to_owned()), "exists"), Err(Mistaken::Subject(mistake)) if mistake.at == 0));
        assert!(matches!(Check::compile(&subject, "length x"), Err(Mistaken::Condition(mistake)) if mistake.at == 7));
        assert_eq!(Subject::of_word("weather", ""), None);
        for word in ["status", "header", "cookie", "body", "json", "css", "xpath", "size", "time"] {
            assert_eq!(Subject::of_word(word, "x").unwrap().word(), word);
            assert!(SUBJECTS.contains(word));
        }
    }

    #[test]
    fn a_mistake_in_a_check_is_shown_at_its_place() {
        let cases = [
            ("", 0, "a check is missing here"),
            ("  weather fine", 2, "`weather` is nothing that can be checked"),
            ("status", 6, "a condition is missing"),
            ("status 20", 7, "`20` is no status"),
            ("status 200, ", 12, "a status is missing"),
            ("status 200,2x", 11, "`2x` is no status"),
            ("status < 5xx", 9, "this is no status"),
            ("status contains 2", 7, "`contains 2` is no status"),
            ("header", 6, "after header the name or path is missing"),
            ("header A:b exists", 8, "`:` cannot stand in the name of a header"),
            ("header Age", 10, "a condition is missing"),
            ("header Age exists now", 18, "nothing can follow here"),
            ("header Age ==", 13, "a value is missing"),
            ("header Age > old", 13, "this is no number"),
            ("header Age contains \"\"", 20, "the text is empty, and everything contains that"),
            ("header Age contains \"a", 20, "this quote does not end"),
            ("header Age contains \"a\" b", 24, "nothing can follow here"),
            ("header Age == \"\\x\"", 14, "this is no text in quotes as JSON writes it"),
            ("body matches a(b", 14, "unclosed group"),
            ("body matches \"a(b\"", 15, "unclosed group"),
            ("body length > 0", 5, "the body has no length"),
            ("json items exists", 5, "a JSONPath begins with $"),
            ("json $.a length many", 16, "this is no whole number"),
            ("json $.a length != 3", 9, "length knows no !="),
            ("css \"ul >\" exists", 9, "here an element is missing"),
            ("size < big", 7, "this is no size"),
            ("time 200ms", 5, "no two requests take the same time"),
            ("time < soon", 7, "the time is not a time such as 10s, 250ms or 1m30s"),
        ];
        for (line, at, message) in cases {
            let mistake = Check::parse(line).unwrap_err();
            assert_eq!((mistake.at, mistake.message.as_str()), (at, message), "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_line_is_a_check_that_reads_back_or_a_mistake_inside_it(line in prop_oneof![
            "\\PC{0,40}",
            "(status|header|cookie|body|json|css|xpath|size|time) (X|\\$\\.a|\\$..b\\[0\\]|li|\"a b\"|)( |  )(not |)(exists|missing|contains|starts with|matches|length|count|==|!=|<|>=|)( |)(200|2xx|x|\"y\"|\"|10 KiB|1s|true|a.b|)",
        ]) {
            match Check::parse(&line) {
                Ok(check) => {
                    let again = Check::parse(check.words());
                    prop_assert_eq!(again.as_ref().map(Check::words), Ok(check.words()), "{}", line);
                    let one = check.of(&Reading::new(answer(BODY)));
                    prop_assert_eq!(one, again.unwrap().of(&Reading::new(answer(BODY))), "{}", line);
                }
                Err(mistake) => {
                    prop_assert!(line.is_char_boundary(mistake.at) && line.is_char_boundary(mistake.at + mistake.length), "{:?}", mistake);
                    prop_assert!(!mistake.pointed_out(&line).is_empty());
                }
            }
        }

        #[test]
        fn any_body_is_judged_without_a_panic(body in proptest::collection::vec(any::<u8>(), 0..300)) {
            for line in ["body == x", "json $..a > 1", "css a == x", "xpath //a == x", "body matches .*", "size < 1 KiB", "body contains x"] {
                if let Err(broken) = check(line).of(&Reading::new(answer(&body))) {
                    prop_assert!(broken.actual.len() <= EXCERPT_BYTES_MAX);
                    prop_assert!(!broken.to_string().chars().any(char::is_control));
                }
            }
        }
    }
}
