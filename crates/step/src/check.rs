//! Promises about one answer: `status 2xx`, `json $.items length > 0`, `time < 200ms`.
//!
//! A server under load answers 200 with an error page, an empty list, or somebody else's basket, and a load test that looks at
//! the status alone calls that a success. A check is read before the run and judged for each answer, where one that holds must cost
//! next to nothing: it compares what is there, and makes words only if it does not hold.
//!
//! Where several values are found (a header that came twice, a JSONPath with `*`), any one of the headers is enough, as they are
//! one list to HTTP; of everything else each must hold, as a promise that one of a hundred prices is above 0 is none. Who wants another
//! number of them says so: `any == 20`, `none == 20`.
//!
//! What a value is compared with may be known only when the answer is there: the id that the step before took out of a page. Such a
//! check is [open](Check::parse_open): everything else about it is understood before the run, and what is filled in is compared as
//! bytes, without making a new check of it.
//!
//! Invariant: what is not there keeps no promise but `missing`, `count` and `none`; `not` turns what is said of a value, not whether it is there.

use std::fmt;
use std::ops::ControlFlow;

use memchr::memmem;
use plan::Nanos;
use plan::template::Mistake;
use plan::work::{AnswerPart, Subject};
use serde_json::Value;

use crate::excerpt::excerpt;
use crate::extract::{self, Extractor, Match};
use crate::parts;
use crate::pattern::{self, Pattern};
use crate::reading::Reading;

pub use crate::excerpt::EXCERPT_BYTES_MAX;

const SUBJECTS: &str = "status, header NAME, cookie NAME, body, json PATH, jmespath PATH, css SELECTOR, xpath PATH, digest NAME, headers, \
    message, text, unescaped, url, request, request_headers, hops, variable NAME, format, size, headers_size, total_size or time";

/// A subject as it stands at the beginning of a line.
fn line_of(subject: &Subject) -> String {
    let Some(target) = subject.target() else { return subject.word().to_owned() };
    let target = target.trim();
    let plain = !target.is_empty() && !target.starts_with('"') && bare_length(target) == target.len();
    format!("{} {}", subject.word(), if plain { target.to_owned() } else { quoted(target) })
}

/// A promise about an answer, understood before the run. Clone one for each thread: its scratch memory is then that thread's own.
///
/// Conditions: `exists`, `missing`, `VALUE` or `== VALUE`, `!= VALUE`, `< <= > >= NUMBER`, `contains TEXT`, `starts with TEXT`,
/// `ends with TEXT`, `matches REGEX`, `length > 0`, `count == 3`; `not` before any of them. Values may stand in double quotes:
/// `"7"` is the text alone, `7` is the number and the text.
///
/// Where several values are found, each of them must hold; `any` before the condition wants one of them, or a member of one that is a list,
/// and `none` wants that there is no such.
///
/// Where it is [read as open](Self::parse_open), a value may hold templates, and is then filled in for each answer.
#[derive(Debug, Clone)]
pub struct Check {
    words: Box<str>,
    /// The condition within the words.
    condition_at: usize,
    source: Source,
    quantity: Quantity,
    negated: bool,
    condition: Condition,
}

#[derive(Debug, Clone)]
enum Source {
    Status,
    Size,
    HeadersSize,
    TotalSize,
    Time,
    Body,
    /// The variable of this name, which whoever asks hands over as the body.
    Variable(Box<str>),
    Part(AnswerPart),
    Format,
    Sought(Box<Extractor>),
}

/// Of how many values that are found it must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quantity {
    Every,
    /// Any one, as all are one list to HTTP; what is said with `not`, of each.
    List,
    /// Any one, or a member of one that is a list.
    Any,
    /// Neither one nor a member of one.
    None,
}

/// What a body may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Json,
    Xml,
}

const FORMATS: [(&str, Format); 2] = [("json", Format::Json), ("xml", Format::Xml)];

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
    Matches(Pattern),
    Length(Order, u64),
    Count(Order, u64),
    Format(Format),
    Open(Open),
}

/// A condition whose value is filled in for each answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Status,
    /// In quotation marks it is the text alone.
    Equal {
        quoted: bool,
    },
    Compare(Order),
    Contains,
    StartsWith,
    EndsWith,
    /// It is a regular expression when it is filled in.
    Matches,
    Length(Order),
    Count(Order),
}

/// A condition as one answer is held against it: with what was filled in, if anything.
#[derive(Clone, Copy)]
enum AppliedCondition<'c> {
    Exists,
    Status(&'c [(u16, u16)]),
    /// As it was filled in; every one of them is a status.
    Statuses(&'c str),
    /// The text, and what it is beside that.
    Equal(&'c [u8], Option<&'c Value>),
    Compare(Order, f64),
    Contains(&'c [u8], Option<&'c memmem::Finder<'static>>),
    StartsWith(&'c [u8]),
    EndsWith(&'c [u8]),
    /// And what it counts as where the search is given up, so that no promise is kept by that.
    Matches(&'c Pattern, bool),
    Length(Order, u64),
    Count(Order, u64),
    Format(Format),
}

/// What of a check is filled in for each answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blank {
    /// The template, as it is to be read.
    pub text: String,
    /// Where it stands in the condition, or in the line: its first byte.
    pub at: usize,
    /// How many bytes it takes there.
    pub length: usize,
    /// Whether it stands there letter for letter: else something in it was escaped, and its letters have other places.
    pub is_verbatim: bool,
}

/// What two opening braces in a condition are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Braces {
    /// Letters as others.
    Text,
    /// The beginning of a template.
    Template,
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
        Self::read(subject, condition, Braces::Text).map(|(check, _)| check)
    }

    /// The same where the value may be a template: what of it is to be filled in, if anything.
    ///
    /// # Errors
    /// What is wrong, in which of the two, and where. Mistakes in the template itself are found by whoever reads that.
    pub fn compile_open(subject: &Subject, condition: &str) -> Result<(Self, Option<Blank>), Mistaken> {
        Self::read(subject, condition, Braces::Template)
    }

    fn read(subject: &Subject, condition: &str, braces: Braces) -> Result<(Self, Option<Blank>), Mistaken> {
        if let Some(target) = subject.target().filter(|_| braces == Braces::Template)
            && let Some(at) = target.find("{{")
        {
            let length = target.len() - at;
            let message = "where a value is looked for cannot be a template".to_owned();
            let help = format!("only what it is compared with can: {} NAME == {{{{…}}}}", subject.word());
            return Err(Mistaken::Subject(Mistake { at, length, message, help: help.into() }));
        }
        let source = match subject {
            Subject::Status => Source::Status,
            Subject::Size => Source::Size,
            Subject::HeadersSize => Source::HeadersSize,
            Subject::TotalSize => Source::TotalSize,
            Subject::Time => Source::Time,
            Subject::Body => Source::Body,
            Subject::Part(part) => Source::Part(*part),
            Subject::Format => Source::Format,
            Subject::Variable(name) => Source::Variable(variable(name).map_err(Mistaken::Subject)?.into()),
            Subject::Header(target)
            | Subject::Cookie(target)
            | Subject::Json(target)
            | Subject::JmesPath(target)
            | Subject::Css(target)
            | Subject::XPath(target)
            | Subject::Digest(target) => {
                let kind = subject.kind().expect("what is looked for is looked for in some language");
                Source::Sought(Box::new(Extractor::compile(kind, target).map_err(Mistaken::Subject)?.whole()))
            }
        };
        let usual = if matches!(subject, Subject::Header(_)) { Quantity::List } else { Quantity::Every };
        let read = Reader { text: condition, at: 0, subject, braces, blank: None }.condition().map_err(Mistaken::Condition)?;
        let subject = line_of(subject);
        let words = format!("{subject} {}", read.words).into_boxed_str();
        let quantity = read.quantity.unwrap_or(usual);
        let check = Self { words, condition_at: subject.len() + 1, source, quantity, negated: read.negated, condition: read.condition };
        Ok((check, read.blank))
    }

    /// Understands a check on one line: `status 2xx`, `header Content-Type contains json`, `json $.items length > 0`,
    /// `body contains "welcome"`, `time < 200ms`, `size < 10 KiB`, `cookie session exists`, `css "ul > li" count 3`. A path or
    /// selector with blanks outside of brackets stands in double quotes.
    ///
    /// # Errors
    /// What is wrong, and where in the line.
    pub fn parse(line: &str) -> Result<Self, Mistake> {
        Self::read_line(line, Braces::Text).map(|(check, _)| check)
    }

    /// The same where the value may be a template: what of it is to be filled in, if anything.
    ///
    /// # Errors
    /// What is wrong, and where in the line. Mistakes in the template itself are found by whoever reads that.
    pub fn parse_open(line: &str) -> Result<(Self, Option<Blank>), Mistake> {
        Self::read_line(line, Braces::Template)
    }

    fn read_line(line: &str, braces: Braces) -> Result<(Self, Option<Blank>), Mistake> {
        let word_at = line.len() - line.trim_start().len();
        let word_end = line[word_at..].find(char::is_whitespace).map_or(line.len(), |length| word_at + length);
        let word = &line[word_at..word_end];
        let Some(mut subject) = Subject::of_word(word, "") else {
            let message =
                if word.is_empty() { "a check is missing here".to_owned() } else { format!("`{word}` is nothing that can be checked") };
            let help = format!("a check is about {SUBJECTS}");
            return Err(Mistake { at: word_at, length: word.len(), message, help: help.into() });
        };
        let mut at = line.len() - line[word_end..].trim_start().len();
        let mut target_at = at;
        if subject.target().is_some() {
            let rest = &line[at..];
            if rest.is_empty() {
                let message = format!("after {word} the name or path is missing");
                return Err(Mistake { at, length: 0, message, help: format!("a check is about {SUBJECTS}").into() });
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
        let read = Self::read(&subject, &line[at..], braces);
        let read = read.map(|(check, blank)| (check, blank.map(|blank| Blank { at: at + blank.at, ..blank })));
        read.map_err(|mistaken| {
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

    /// The check in words, as reports name it: `json $.items length > 0`. Reading them again gives the same check. What is filled in
    /// stands there as it was written.
    #[must_use]
    pub fn words(&self) -> &str {
        &self.words
    }

    /// What it is about.
    #[must_use]
    pub fn subject(&self) -> Subject {
        match &self.source {
            Source::Status => Subject::Status,
            Source::Size => Subject::Size,
            Source::Time => Subject::Time,
            Source::Body => Subject::Body,
            Source::HeadersSize => Subject::HeadersSize,
            Source::TotalSize => Subject::TotalSize,
            Source::Variable(name) => Subject::Variable(name.to_string()),
            Source::Part(part) => Subject::Part(*part),
            Source::Format => Subject::Format,
            Source::Sought(extractor) => {
                let (kind, target) = extractor.sought();
                Subject::of_word(kind.word(), target).expect("a check seeks nothing but what a subject names")
            }
        }
    }

    /// The variable that it is about, if it is about one: whoever asks hands over its value as the body of the reading.
    #[must_use]
    pub fn variable(&self) -> Option<&str> {
        if let Source::Variable(name) = &self.source { Some(name) } else { None }
    }

    /// What must hold, as its words say it: `length > 0`.
    #[must_use]
    pub fn condition(&self) -> &str {
        &self.words[self.condition_at..]
    }

    /// Whether it holds.
    ///
    /// # Errors
    /// What was there instead.
    #[inline]
    pub fn of(&self, reading: &Reading<'_>) -> Result<(), Broken> {
        let held = match &self.condition {
            Condition::Exists => AppliedCondition::Exists,
            Condition::Status(ranges) => AppliedCondition::Status(ranges),
            Condition::Equal(operand) => AppliedCondition::Equal(operand.text.as_bytes(), operand.json.as_ref()),
            Condition::Compare(order, wanted) => AppliedCondition::Compare(*order, *wanted),
            Condition::Contains(finder) => AppliedCondition::Contains(finder.needle(), Some(finder)),
            Condition::StartsWith(text) => AppliedCondition::StartsWith(text.as_bytes()),
            Condition::EndsWith(text) => AppliedCondition::EndsWith(text.as_bytes()),
            Condition::Matches(pattern) => AppliedCondition::Matches(pattern, self.negated),
            Condition::Length(order, wanted) => AppliedCondition::Length(*order, *wanted),
            Condition::Count(order, wanted) => AppliedCondition::Count(*order, *wanted),
            Condition::Format(format) => AppliedCondition::Format(*format),
            Condition::Open(_) => return self.of_filled(reading, b""),
        };
        self.judge(reading, held)
    }

    /// Whether an open check holds with this in its blank; any other as it does without.
    ///
    /// # Errors
    /// What was there instead. Also if what is filled in is no number where one is wanted, or is an empty text where that would
    /// promise nothing.
    pub fn of_filled(&self, reading: &Reading<'_>, filled: &[u8]) -> Result<(), Broken> {
        let Condition::Open(open) = self.condition else { return self.of(reading) };
        let text = std::str::from_utf8(filled).unwrap_or_default().trim();
        let whole = || text.parse::<u64>().ok();
        let (value, expression);
        let held = match open {
            Open::Status => {
                let are_statuses = text.split(',').all(|one| status_range(one.trim()).is_some());
                are_statuses.then_some(AppliedCondition::Statuses(text)).ok_or("no status")
            }
            Open::Equal { quoted } => {
                value = if quoted { None } else { bare_value(filled) };
                Ok(AppliedCondition::Equal(filled, value.as_ref()))
            }
            Open::Compare(order) => number_in(text).map(|wanted| AppliedCondition::Compare(order, wanted)).ok_or("no number"),
            Open::Length(order) => whole().map(|wanted| AppliedCondition::Length(order, wanted)).ok_or("no whole number"),
            Open::Count(order) => whole().map(|wanted| AppliedCondition::Count(order, wanted)).ok_or("no whole number"),
            Open::Contains | Open::StartsWith | Open::EndsWith if filled.is_empty() => Err("empty, and everything contains that"),
            Open::Contains => Ok(AppliedCondition::Contains(filled, None)),
            Open::StartsWith => Ok(AppliedCondition::StartsWith(filled)),
            Open::EndsWith => Ok(AppliedCondition::EndsWith(filled)),
            Open::Matches => {
                expression = std::str::from_utf8(filled).ok().and_then(pattern::lately);
                expression.as_deref().map(|it| AppliedCondition::Matches(it, self.negated)).ok_or("no regular expression")
            }
        };
        let judged = match held {
            Ok(held) => self.judge(reading, held),
            Err(why) => Err(self.broken(format!("was not judged: what is filled in is {why}"))),
        };
        judged.map_err(|broken| Broken { filled: Some(excerpt(filled)), ..broken })
    }

    /// The check with this in its blank from now on.
    ///
    /// # Errors
    /// Why there can be no such check, in words.
    pub fn filled(&self, text: &str) -> Result<Self, String> {
        let Condition::Open(open) = self.condition else { return Ok(self.clone()) };
        let whole = || text.trim().parse::<u64>().map_err(|_| format!("'{}' is no whole number", excerpt(text.as_bytes())));
        let some = || if text.is_empty() { Err("the text is empty, and everything contains that".to_owned()) } else { Ok(text) };
        let condition = match open {
            Open::Status => {
                let ranges: Option<Vec<_>> = text.split(',').map(|one| status_range(one.trim())).collect();
                Condition::Status(ranges.ok_or_else(|| format!("'{}' is no status", excerpt(text.as_bytes())))?)
            }
            Open::Equal { quoted } => {
                let json = if quoted { None } else { bare_value(text.as_bytes()) };
                Condition::Equal(Operand { text: text.into(), json })
            }
            Open::Compare(order) => {
                let wanted = number_in(text).ok_or_else(|| format!("'{}' is no number", excerpt(text.as_bytes())))?;
                Condition::Compare(order, wanted)
            }
            Open::Contains => Condition::Contains(Box::new(memmem::Finder::new(some()?.as_bytes()).into_owned())),
            Open::StartsWith => Condition::StartsWith(some()?.into()),
            Open::EndsWith => Condition::EndsWith(some()?.into()),
            Open::Matches => Condition::Matches(Pattern::new(text).map_err(|mistake| mistake.message)?),
            Open::Length(order) => Condition::Length(order, whole()?),
            Open::Count(order) => Condition::Count(order, whole()?),
        };
        Ok(Self { condition, ..self.clone() })
    }

    fn judge(&self, reading: &Reading<'_>, held: AppliedCondition<'_>) -> Result<(), Broken> {
        let answer = reading.answer();
        let number = |number: f64, words: &dyn Fn() -> String| {
            if held.of_number(number) != self.negated { Ok(()) } else { Err(self.broken(words())) }
        };
        match &self.source {
            Source::Status => number(answer.status.into(), &|| answer.status.to_string()),
            Source::Size => number(answer.body.len() as f64, &|| format!("{} bytes", answer.body.len())),
            Source::Time => number(answer.elapsed.0 as f64, &|| answer.elapsed.to_string()),
            Source::Body | Source::Variable(_) => self.of_bytes(answer.body, held),
            Source::Sought(extractor) => self.sought(extractor, reading, held),
            _ => self.rarely(reading, held),
        }
    }

    fn of_bytes(&self, bytes: &[u8], held: AppliedCondition<'_>) -> Result<(), Broken> {
        let holds = match held {
            AppliedCondition::Exists => !bytes.is_empty(),
            held => held.of_text(bytes),
        };
        if holds != self.negated { Ok(()) } else { Err(self.broken(shown(bytes))) }
    }

    /// Of what hardly any check is about.
    fn rarely(&self, reading: &Reading<'_>, held: AppliedCondition<'_>) -> Result<(), Broken> {
        let size = |size: u64| {
            if held.of_number(size as f64) != self.negated { Ok(()) } else { Err(self.broken(format!("{size} bytes"))) }
        };
        match (&self.source, held) {
            (Source::Part(part), held) => self.of_bytes(&reading.part(*part), held),
            (Source::HeadersSize, _) => size(parts::headers_size(reading)),
            (Source::TotalSize, _) => size(parts::total_size(reading)),
            (_, AppliedCondition::Format(format)) => {
                let (name, wrong) = match format {
                    Format::Json => ("JSON", reading.json().err().map(str::to_owned)),
                    Format::Xml => ("XML", parts::not_xml(reading.answer().body)),
                };
                match wrong {
                    Some(why) if !self.negated => Err(self.broken(format!("was not {name} ({why})"))),
                    None if self.negated => Err(self.broken(format!("was {name}"))),
                    _ => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    fn sought(&self, extractor: &Extractor, reading: &Reading<'_>, condition: AppliedCondition<'_>) -> Result<(), Broken> {
        let any_is_enough = match self.quantity {
            Quantity::Every | Quantity::None => false,
            Quantity::List => !self.negated,
            Quantity::Any => true,
        };
        let looks_within = matches!(self.quantity, Quantity::Any | Quantity::None);
        let mut count = 0u64;
        let mut wrong: Option<String> = None;
        let mut held = false;
        let searched = extractor.each(reading, &mut |found| {
            count += 1;
            match condition {
                // One is enough, and if there should be none it is the example.
                AppliedCondition::Exists => {
                    if self.negated {
                        wrong = Some(words_of(&found));
                    }
                    return ControlFlow::Break(());
                }
                AppliedCondition::Count(..) => return ControlFlow::Continue(()),
                _ => {}
            }
            // `not` is said of all values: with any that holds, it is broken.
            let mut holds = condition.of_found(&found) != self.negated;
            if looks_within && !holds {
                holds = found.members().iter().any(|member| condition.of_value(member) != self.negated);
            }
            let wanted = holds != (self.quantity == Quantity::None);
            held |= wanted;
            if !wanted && wrong.is_none() {
                wrong = Some(words_of(&found));
            }
            let decided = if any_is_enough { wanted } else { !wanted };
            if decided { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if let Err(reason) = searched {
            // Not even `missing`: a page that says that the gateway is down has no member `error` either.
            let body = extractor.surroundings(reading);
            return Err(self.broken(if body.is_empty() { reason } else { format!("{reason} in {body}") }));
        }
        let nothing = || format!("nothing in {}", extractor.surroundings(reading));
        match condition {
            AppliedCondition::Exists if count > 0 && !self.negated => Ok(()),
            AppliedCondition::Exists if count == 0 && self.negated => Ok(()),
            AppliedCondition::Exists => Err(self.broken(wrong.unwrap_or_else(nothing))),
            AppliedCondition::Count(order, wanted) => {
                if order.holds(count, wanted) != self.negated {
                    Ok(())
                } else {
                    Err(self.broken(format!("{count} found")))
                }
            }
            _ if count == 0 && self.quantity == Quantity::None => Ok(()),
            _ if count == 0 => Err(self.broken(nothing())),
            _ if any_is_enough && held => Ok(()),
            _ => wrong.map_or(Ok(()), |wrong| Err(self.broken(wrong))),
        }
    }

    fn broken(&self, actual: String) -> Broken {
        Broken {
            check: excerpt(self.words.as_bytes()),
            expected: excerpt(self.condition().as_bytes()),
            actual: if actual.len() > EXCERPT_BYTES_MAX { excerpt(actual.as_bytes()) } else { actual },
            filled: None,
        }
    }
}

impl AppliedCondition<'_> {
    fn of_number(self, number: f64) -> bool {
        let is_in = |(from, to): (u16, u16)| (f64::from(from)..=f64::from(to)).contains(&number);
        match self {
            Self::Status(ranges) => ranges.iter().copied().any(is_in),
            Self::Statuses(text) => text.split(',').filter_map(|one| status_range(one.trim())).any(is_in),
            Self::Compare(order, wanted) => order.holds(number, wanted),
            _ => false,
        }
    }

    fn of_found(self, found: &Match<'_>) -> bool {
        match found {
            Match::Text(text) => self.of_text(text.as_bytes()),
            Match::Json(value) => self.of_value(value),
            Match::Plain(value) => self.of_value(value),
        }
    }

    fn of_text(self, bytes: &[u8]) -> bool {
        match self {
            Self::Exists => true,
            Self::Equal(text, _) => bytes == text,
            Self::Compare(order, wanted) => {
                std::str::from_utf8(bytes).ok().and_then(number_in).is_some_and(|number| order.holds(number, wanted))
            }
            Self::Contains(_, Some(finder)) => finder.find(bytes).is_some(),
            Self::Contains(text, None) => memmem::find(bytes, text).is_some(),
            Self::StartsWith(text) => bytes.starts_with(text),
            Self::EndsWith(text) => bytes.ends_with(text),
            Self::Matches(pattern, given_up) => pattern.is_in(bytes).unwrap_or(given_up),
            Self::Length(order, wanted) => order.holds(letters(bytes), wanted),
            Self::Count(..) | Self::Status(_) | Self::Statuses(_) | Self::Format(_) => false,
        }
    }

    fn of_value(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Equal(text, _), Value::String(found)) => found.as_bytes() == text,
            // 1, 1.0 and 1e0 are one number.
            (Self::Equal(_, Some(Value::Number(wanted))), Value::Number(number)) => {
                number == wanted || ((number.is_f64() || wanted.is_f64()) && number.as_f64() == wanted.as_f64())
            }
            (Self::Equal(_, wanted), value) => wanted == Some(value),
            (Self::Compare(order, wanted), Value::Number(number)) => number.as_f64().is_some_and(|number| order.holds(number, wanted)),
            (Self::Length(order, wanted), Value::Array(list)) => order.holds(list.len() as u64, wanted),
            (Self::Length(order, wanted), Value::Object(object)) => order.holds(object.len() as u64, wanted),
            (Self::Length(..), Value::Number(_) | Value::Bool(_) | Value::Null) => false,
            // A list contains its elements.
            (Self::Contains(text, _), Value::Array(list)) => list.iter().any(|element| extract::text_of(element).as_bytes() == text),
            (_, value) => self.of_text(extract::text_of(value).as_bytes()),
        }
    }
}

/// What a value without quotation marks is beside its text: a number, a truth, `null`, a list or an object. Most texts are none of
/// these, and are not handed to a parser to be told so.
fn bare_value(text: &[u8]) -> Option<Value> {
    let text = text.trim_ascii();
    let is_number = || text.iter().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(byte));
    match text.first()? {
        b't' | b'f' | b'n' => match text {
            b"true" => Some(Value::Bool(true)),
            b"false" => Some(Value::Bool(false)),
            b"null" => Some(Value::Null),
            _ => None,
        },
        b'[' | b'{' => serde_json::from_slice(text).ok(),
        b'-' | b'0'..=b'9' if is_number() => serde_json::from_slice(text).ok(),
        _ => None,
    }
}

/// Codepoints; what is no UTF-8 counts as one each.
fn letters(bytes: &[u8]) -> u64 {
    bytes.utf8_chunks().map(|chunk| chunk.valid().chars().count() as u64 + u64::from(!chunk.invalid().is_empty())).sum()
}

fn number_in(text: &str) -> Option<f64> {
    text.trim().parse::<f64>().ok().filter(|number| number.is_finite())
}

fn words_of(found: &Match<'_>) -> String {
    match found {
        Match::Text(text) => shown(text.as_bytes()),
        Match::Json(value) => shown(value.to_string().as_bytes()),
        Match::Plain(value) => shown(value.to_string().as_bytes()),
    }
}

fn shown(bytes: &[u8]) -> String {
    if bytes.is_empty() { "empty".to_owned() } else { excerpt(bytes) }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    subject: &'t Subject,
    braces: Braces,
    blank: Option<Blank>,
}

struct Read {
    quantity: Option<Quantity>,
    negated: bool,
    condition: Condition,
    words: String,
    blank: Option<Blank>,
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
        Mistake { at: self.at, length: self.rest().trim_end().len(), message: message.into(), help: help.into() }
    }

    fn condition(mut self) -> Result<Read, Mistake> {
        self.blanks();
        if self.rest().is_empty() {
            return Err(self.wrong("a condition is missing", self.help()));
        }
        let quantity = self.quantity_word();
        let from = self.at;
        let mut negated = self.eat(&["not"]);
        if matches!(self.subject, Subject::Status | Subject::Size | Subject::HeadersSize | Subject::TotalSize | Subject::Time) {
            return self.number(negated);
        }
        if *self.subject == Subject::Format {
            return self.format(negated);
        }
        if quantity.is_some() && ["exists", "missing", "absent", "count"].iter().any(|word| self.rest().starts_with(word)) {
            self.at = from;
            return Err(self.wrong("this is about all that is found, and not about some of it", "leave out any or none"));
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
            let found = |text: String| Condition::Contains(Box::new(memmem::Finder::new(text.as_bytes()).into_owned()));
            self.about_text("contains", negated, Open::Contains, found)?
        } else if self.eat(&["starts with"]) {
            self.about_text("starts with", negated, Open::StartsWith, |text| Condition::StartsWith(text.into()))?
        } else if self.eat(&["ends with"]) {
            self.about_text("ends with", negated, Open::EndsWith, |text| Condition::EndsWith(text.into()))?
        } else if self.eat(&["matches"]) {
            let (pattern, written) = self.pattern()?;
            (pattern.map_or(Condition::Open(Open::Matches), Condition::Matches), not(negated, "matches", &written))
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
            if let Some(written) = self.open_value()? {
                (Condition::Open(Open::Compare(*order)), not(negated, sign, &written))
            } else {
                let number = number_in(self.rest());
                let number = number.ok_or_else(|| self.wrong("this is no number", "such as > 0 or <= 99.5"))?;
                (Condition::Compare(*order, number), not(negated, sign, self.rest().trim_end()))
            }
        } else {
            if self.rest().starts_with('=') {
                self.at += if self.rest().starts_with("==") { 2 } else { 1 };
                self.blanks();
            } else {
                self.eat(&["equals", "is"]);
            }
            self.equal(negated)?
        };
        let words = match quantity {
            Some(Quantity::Any) => format!("any {words}"),
            Some(_) => format!("none {words}"),
            None => words,
        };
        Ok(Read { quantity, negated, condition, words, blank: self.blank })
    }

    /// Of how many of several values it is, where that is said and there may be several.
    fn quantity_word(&mut self) -> Option<Quantity> {
        use Subject::{Cookie, Css, Header, JmesPath, Json, XPath};
        if !matches!(self.subject, Header(_) | Cookie(_) | Json(_) | JmesPath(_) | Css(_) | XPath(_)) {
            return None;
        }
        [("any", Quantity::Any), ("none", Quantity::None)].into_iter().find(|(word, _)| self.quantifies(word)).map(|(_, quantity)| quantity)
    }

    /// Whether this word comes next, and a condition behind it: else it is a value.
    fn quantifies(&mut self, word: &str) -> bool {
        let from = self.at;
        let quantifies = self.eat(&[word]) && !self.rest().is_empty();
        if !quantifies {
            self.at = from;
        }
        quantifies
    }

    fn format(&mut self, negated: bool) -> Result<Read, Mistake> {
        if !self.eat(&["=="]) {
            self.eat(&["is"]);
        }
        let word = self.rest().trim_end();
        let Some((word, format)) = FORMATS.into_iter().find(|(known, _)| *known == word) else {
            return Err(self.wrong("this is no format", self.help()));
        };
        let words = if negated { format!("not {word}") } else { word.to_owned() };
        Ok(Read { quantity: None, negated, condition: Condition::Format(format), words, blank: None })
    }

    /// The rest, if it holds a template: how it is written in words. What it holds is the blank.
    fn open_value(&mut self) -> Result<Option<String>, Mistake> {
        let rest = self.rest().trim_end();
        if self.braces == Braces::Text || !rest.contains("{{") {
            return Ok(None);
        }
        let at = self.at;
        if !rest.starts_with('"') {
            self.blank = Some(Blank { text: rest.to_owned(), at, length: rest.len(), is_verbatim: true });
            return Ok(Some(rest.to_owned()));
        }
        let (text, length) = quoted_text(self.text, at)?;
        self.at += length;
        self.blanks();
        self.nothing_more()?;
        let inside = &self.text[at + 1..at + length - 1];
        let written = quoted(&text);
        self.blank = Some(Blank { is_verbatim: *inside == *text, text, at: at + 1, length: inside.len() });
        Ok(Some(written))
    }

    fn about_text(
        &mut self,
        word: &str,
        negated: bool,
        open: Open,
        closed: impl FnOnce(String) -> Condition,
    ) -> Result<(Condition, String), Mistake> {
        if let Some(written) = self.open_value()? {
            return Ok((Condition::Open(open), not(negated, word, &written)));
        }
        let (text, written) = self.operand_text()?;
        Ok((closed(text), not(negated, word, &written)))
    }

    fn equal(&mut self, negated: bool) -> Result<(Condition, String), Mistake> {
        let quoted = self.rest().starts_with('"');
        let sign = if negated { "!=" } else { "==" };
        if let Some(written) = self.open_value()? {
            return Ok((Condition::Open(Open::Equal { quoted }), format!("{sign} {written}")));
        }
        let (text, written) = self.operand()?;
        let json = if quoted { None } else { bare_value(text.as_bytes()) };
        Ok((Condition::Equal(Operand { text: text.into(), json }), format!("{sign} {written}")))
    }

    /// `length > 0`, `count 3`.
    fn counted(&mut self, what: &str, from: usize, negated: bool) -> Result<(Condition, String), Mistake> {
        if matches!(self.subject, Subject::Body) {
            self.at = from;
            return Err(self.wrong(format!("the body has no {what}"), "size is about its bytes: size < 10 KiB"));
        }
        if what == "count" && matches!(self.subject, Subject::Part(_) | Subject::Variable(_)) {
            self.at = from;
            return Err(self.wrong(format!("{} is a single text", self.subject.word()), "length is about its letters: length > 0"));
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
        let (condition, number) = match (self.open_value()?, what) {
            (Some(written), "length") => (Condition::Open(Open::Length(order)), written),
            (Some(written), _) => (Condition::Open(Open::Count(order)), written),
            (None, _) => {
                let number: u64 =
                    self.rest().trim_end().parse().map_err(|_| self.wrong("this is no whole number", "such as length > 0 or count 3"))?;
                let condition = if what == "length" { Condition::Length(order, number) } else { Condition::Count(order, number) };
                (condition, number.to_string())
            }
        };
        if negated_here {
            return Err(Mistake {
                at: from,
                length: self.text.trim_end().len() - from,
                message: format!("{what} knows no !="),
                help: format!("write not {what} {number}").into(),
            });
        }
        Ok((condition, not(negated, what, &format!("{} {number}", order.sign()))))
    }

    /// A value of the status, the size or the time that is a template: only the status's may be one.
    fn open_number(&mut self) -> Result<Option<String>, Mistake> {
        let from = self.at;
        let written = self.open_value()?;
        if written.is_some() && !matches!(self.subject, Subject::Status) {
            self.at = from;
            let message = format!("what the {} is compared with cannot be a template", self.subject.word());
            return Err(self.wrong(message, "write a figure"));
        }
        Ok(written)
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
        if let Some(written) = self.open_number()? {
            let words = not(negated, sign, &written);
            return Ok(Read { quantity: None, negated, condition: Condition::Open(Open::Compare(*order)), words, blank: self.blank });
        }
        let (number, written) = self.quantity()?;
        let condition = Condition::Compare(*order, number);
        Ok(Read { quantity: None, negated, condition, words: not(negated, sign, &written), blank: None })
    }

    fn plain_number(&mut self, negated: bool) -> Result<Read, Mistake> {
        if let Some(written) = self.open_number()? {
            let words = if negated { format!("not {written}") } else { written };
            return Ok(Read { quantity: None, negated, condition: Condition::Open(Open::Status), words, blank: self.blank.take() });
        }
        match self.subject {
            Subject::Status => {
                let (ranges, written) = self.statuses()?;
                let words = if negated { format!("not {written}") } else { written };
                Ok(Read { quantity: None, negated, condition: Condition::Status(ranges), words, blank: None })
            }
            Subject::Time => Err(self.wrong("no two requests take the same time", "write < 200ms or > 10ms")),
            _ => {
                let (number, written) = self.quantity()?;
                let words = format!("{} {written}", if negated { "!=" } else { "==" });
                Ok(Read { quantity: None, negated, condition: Condition::Compare(Order::Equal, number), words, blank: None })
            }
        }
    }

    /// A number with the unit of the subject: bytes, nanoseconds or none.
    fn quantity(&mut self) -> Result<(f64, String), Mistake> {
        let text = self.rest().trim_end();
        match self.subject {
            Subject::Time => {
                let time = Nanos::with_unit(text).map_err(|why| self.wrong(format!("the time {why}"), "such as < 200ms"))?;
                Ok((time.0 as f64, time.to_string()))
            }
            Subject::Size | Subject::HeadersSize | Subject::TotalSize => bytes_in(text)
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
                return Err(Mistake { at: self.at, length, message, help: "such as 200, 2xx, 200-299 or not 5xx".into() });
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
    /// With a template in it, it is one when that is filled in.
    fn pattern(&mut self) -> Result<(Option<Pattern>, String), Mistake> {
        let rest = self.rest().trim_end();
        if rest.is_empty() {
            return Err(self.wrong("a regular expression is missing", "such as matches ^order-[0-9]+$"));
        }
        let inner = rest.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let (text, from) = inner.map_or_else(|| (rest.to_owned(), self.at), |inner| (inner.replace("\\\"", "\""), self.at + 1));
        let written = format!("\"{}\"", text.replace('"', "\\\""));
        if self.braces == Braces::Template && text.contains("{{") {
            let length = inner.map_or(rest.len(), str::len);
            self.blank = Some(Blank { is_verbatim: text.len() == length, text, at: from, length });
            return Ok((None, written));
        }
        let pattern = Pattern::new(&text).map_err(|mut mistake| {
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
        Ok((Some(pattern), written))
    }

    fn help(&self) -> &'static str {
        match self.subject {
            Subject::Status => "such as 200, 2xx, 200-299 or not 5xx",
            Subject::Time => "such as < 200ms",
            Subject::Size | Subject::HeadersSize | Subject::TotalSize => "such as < 10 KiB",
            Subject::Format => "write json, xml, or one of them behind not",
            _ => {
                "exists, missing, == VALUE, != VALUE, > NUMBER, contains TEXT, starts with TEXT, ends with TEXT, matches REGEX, length > 0, count 3"
            }
        }
    }
}

/// The name of a variable.
fn variable(name: &str) -> Result<&str, Mistake> {
    let plain = name.trim();
    if plan::work::is_variable_name(plain) {
        return Ok(plain);
    }
    let message =
        if plain.is_empty() { "the name of a variable is missing".to_owned() } else { "this is no name of a variable".to_owned() };
    Err(Mistake { at: 0, length: name.len(), message, help: "write a name such as token".into() })
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
        return Err(Mistake { at, length: rest.trim_end().len(), message: "this quote does not end".to_owned(), help: help.into() });
    };
    let text = &rest[..=end];
    match serde_json::from_str(text) {
        Ok(inner) => Ok((inner, text.len())),
        Err(_) => {
            Err(Mistake { at, length: text.len(), message: "this is no text in quotes as JSON writes it".to_owned(), help: help.into() })
        }
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

/// A check did not hold. Prints as `status 2xx: was 503`, or `json $.id == {{id}} (here 7): was 8`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The check's own words.
    pub check: String,
    /// What was promised, of the value: `2xx`, `length > 0`.
    pub expected: String,
    /// What was there, at most [`EXCERPT_BYTES_MAX`] bytes; may hold secrets, which are the report's to conceal.
    pub actual: String,
    /// What stood in the blank of an open check; as short, and as secret.
    pub filled: Option<String>,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Some of what was there is told in a sentence of its own.
        let was = if self.actual.starts_with("the body ") || self.actual.starts_with("was ") { "" } else { "was " };
        match &self.filled {
            Some(filled) => write!(f, "{} (here {}): {was}{}", self.check, if filled.is_empty() { "empty" } else { filled }, self.actual),
            None => write!(f, "{}: {was}{}", self.check, self.actual),
        }
    }
}

#[cfg(test)]
mod tests;
