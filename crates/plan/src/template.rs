//! Text with places that are filled anew for each request: `/users/{{random 1 1000}}`.
//!
//! Sending one URL finds the upper bound and hits one row of the server's cache. Real data needs a language, and a whole one
//! (scripts) is more than most people want to write for an identifier. So a template has words and no control: what it writes
//! is decided by its words, the request's number and the seed. Borrowing Handlebars or Jinja was rejected: half of them
//! (loops, filters, partials) would have to be refused, and the other half be guessed.
//!
//! Between `{{` and `}}` stands a word with its arguments: bare words, `"text in quotes"`, or another expression in
//! parentheses. `{{"{{"}}` writes two braces. Of more than two opening braces the last two open.
//!
//! Invariant: printing what was parsed and parsing it again gives the same template.

mod form;
mod splice;

use std::collections::VecDeque;
use std::fmt;

use crate::setting::DATA_FILE;
use crate::{Charset, Wording};

pub use form::{Day, Form, TimeForm};

/// A text and the values in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Template {
    /// In order. No two texts follow each other, and none is empty.
    pieces: Vec<Piece>,
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Written as it is.
    Text(String),
    /// Written anew for each request.
    Value(Value),
}

/// What is written in the place of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A random UUID (RFC 9562, version 4).
    Uuid,
    /// A whole number from `low` to `high`, both included.
    Random {
        /// The least.
        low: i64,
        /// The most.
        high: i64,
    },
    /// The number of the request, the first being `from`.
    Sequence {
        /// That of the first request.
        from: u64,
    },
    /// One of these, each as likely.
    Choice(Vec<Piece>),
    /// Letters by chance, so many of these.
    RandomText {
        /// How many.
        length: u32,
        /// Each as likely; one that stands in it twice is twice as likely.
        letters: String,
    },
    /// A day by chance, each as likely.
    RandomDate {
        /// The first of them.
        first: Day,
        /// The last.
        last: Day,
        /// How it is written.
        form: Form,
    },
    /// When the request is written, or so long after that.
    Now {
        /// How it is written.
        form: TimeForm,
        /// So many seconds later; earlier below 0.
        shift: i64,
    },
    /// A variable of the environment, read before the run.
    Env(String),
    /// What is in a file, read before the run, and how its letters are written, if not as UTF-8.
    File(String, Option<Charset>),
    /// The last column of one of a file's rows, by chance, each with its weight; the file is read before the run.
    Weighted {
        /// CSV or JSON lines. A column `weight` says how often, a column `group` what belongs together.
        path: String,
        /// Only rows of this group.
        group: Option<String>,
    },
    /// These, one after the other, in base64.
    Base64(Vec<Piece>),
    /// The keyed digest of these, one after the other.
    Hmac {
        /// Which digest.
        digest: Digest,
        /// How its bytes are written.
        coding: Coding,
        /// The key: a variable or a file, never the key itself, which would be written into results.
        key: Box<Value>,
        /// What is signed.
        message: Vec<Piece>,
    },
    /// These, one after the other, as they are, without the escapes of the place where they stand.
    Raw(Vec<Piece>),
    /// These, one after the other, as they stand in a form, wherever this one stands: blanks as `+`, and everything but letters, digits and
    /// `*-._` in percent signs (WHATWG URL §5.2). Of what is raw among them, `+` and `%` stay, since it may be encoded already.
    FormEncoded(Vec<Piece>),
    /// The request's body.
    Body,
    /// A column of the row that is this request's.
    Column {
        /// Which data file.
        file: String,
        /// Which of its columns.
        column: String,
    },
    /// A variable of the user.
    Variable(String),
}

/// How a moment is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// `2026-03-01T12:30:05.123Z`
    Rfc3339,
    /// `2026-03-01`
    Date,
    /// `Sun, 01 Mar 2026 12:30:05 GMT`, as in HTTP's own headers.
    Http,
    /// Seconds since 1970.
    Unix,
    /// Milliseconds since 1970.
    UnixMillis,
    /// Nanoseconds since 1970.
    UnixNanos,
}

/// A digest for signatures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digest {
    /// SHA-1, for what still asks for it.
    Sha1,
    /// SHA-256
    Sha256,
    /// SHA-384
    Sha384,
    /// SHA-512
    Sha512,
}

/// How bytes are written as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// Hexadecimal digits, small letters.
    Hex,
    /// RFC 4648 §4, with padding.
    Base64,
}

/// A mistake in a template: where, what, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// Its first byte.
    pub at: usize,
    /// How many bytes it is about.
    pub length: usize,
    /// What is wrong, in words.
    pub message: String,
    /// What to do.
    pub help: Wording,
}

const WORDS: [&str; 16] = [
    "uuid",
    "random",
    "random-text",
    "random-date",
    "sequence",
    "choice",
    "weighted",
    "now",
    "env",
    "file",
    "base64",
    "hmac",
    "raw",
    "form-encoded",
    "body",
    "NAME.COLUMN",
];
const MOMENTS: [(&str, Moment); 6] = [
    ("rfc3339", Moment::Rfc3339),
    ("date", Moment::Date),
    ("http", Moment::Http),
    ("unix", Moment::Unix),
    ("unix-ms", Moment::UnixMillis),
    ("unix-ns", Moment::UnixNanos),
];
const DIGESTS: [(&str, Digest); 4] =
    [("sha1", Digest::Sha1), ("sha256", Digest::Sha256), ("sha384", Digest::Sha384), ("sha512", Digest::Sha512)];
const CODINGS: [(&str, Coding); 2] = [("hex", Coding::Hex), ("base64", Coding::Base64)];

/// Chance has 53 bits a draw: of more numbers than that, some would never be drawn.
const RANGE_MAX: u64 = 1 << 53;

/// What a random text is made of where nothing is said.
pub const LETTERS_AND_DIGITS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
/// A longer random text is a file.
pub const RANDOM_LETTERS_MAX: u32 = 100_000;

/// Expressions in expressions, so deep.
const DEPTH_MAX: usize = 16;

/// The words that mean something in a template, which no variable and no data file can be called by.
pub fn words() -> impl Iterator<Item = &'static str> {
    WORDS.into_iter().take(WORDS.len() - 1)
}

/// Whether a text may be a template at all.
#[must_use]
pub fn is_templated(text: &str) -> bool {
    text.contains("{{")
}

impl Template {
    /// Reads a template. `files` are the names of the data files whose columns it may use.
    ///
    /// # Errors
    /// All mistakes, in their order.
    pub fn parse(text: &str, files: &[&str]) -> Result<Self, Vec<Mistake>> {
        Self::parse_with(text, files, &[])
    }

    /// The same where a user's variables may be written as well, by their names alone.
    ///
    /// # Errors
    /// All mistakes, in their order.
    pub fn parse_with(text: &str, files: &[&str], variables: &[&str]) -> Result<Self, Vec<Mistake>> {
        Reading { text, at: 0, files: Files::These(files), variables, mistakes: Vec::new() }.whole()
    }

    /// A text without any values.
    #[must_use]
    pub fn fixed(text: impl Into<String>) -> Self {
        Self::of(vec![Piece::Text(text.into())])
    }

    /// Of these parts.
    #[must_use]
    pub fn of(parts: impl IntoIterator<Item = Piece>) -> Self {
        let mut pieces = Vec::new();
        parts.into_iter().for_each(|piece| push(&mut pieces, piece));
        Self { pieces }
    }

    /// The same where any name may be that of a data file.
    ///
    /// # Errors
    /// All mistakes, in their order.
    pub(crate) fn parse_any(text: &str) -> Result<Self, Vec<Mistake>> {
        Reading { text, at: 0, files: Files::Any, variables: &[], mistakes: Vec::new() }.whole()
    }

    /// Its parts, in order.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Whether every request has the same text.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.pieces.iter().all(|piece| matches!(piece, Piece::Text(_)))
    }

    /// Its fixed text, without its values.
    #[must_use]
    pub fn fixed_text(&self) -> String {
        self.pieces.iter().map(|piece| if let Piece::Text(text) = piece { text.as_str() } else { "" }).collect()
    }

    /// Its values, without those that stand in others.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Value(value) => Some(value),
            Piece::Text(_) => None,
        })
    }

    /// Calls `seen` with all its values, those in others included.
    pub fn each_value<'a>(&'a self, seen: &mut dyn FnMut(&'a Value)) {
        each_value(&self.pieces, seen);
    }

    /// The same with the files of weighted rows elsewhere, by what `place` makes of their paths.
    #[must_use]
    pub fn with_weighted_at(mut self, place: &dyn Fn(&str) -> String) -> Self {
        move_weighted(&mut self.pieces, place);
        self
    }

    /// The text with a mark in the place of each value, to be looked at by those who know nothing of templates.
    #[must_use]
    pub fn marked(&self, mark: impl Fn(usize) -> String) -> String {
        let mut number = 0;
        let marked = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Value(_) => {
                number += 1;
                mark(number - 1)
            }
        });
        marked.collect()
    }
}

/// Literal text that is shorter is punctuation between references.
const REFERENCE_LETTERS_MAX: usize = 3;

/// Whether a value only names a secret, if it is one: it may be written down.
pub(crate) fn is_reference(value: &Value) -> bool {
    let all = |pieces: &[Piece]| {
        pieces.iter().all(|piece| match piece {
            Piece::Text(text) => text.len() < REFERENCE_LETTERS_MAX,
            Piece::Value(value) => is_reference(value),
        })
    };
    match value {
        Value::Base64(parts) | Value::Raw(parts) | Value::FormEncoded(parts) => all(parts),
        Value::Choice(_) => false,
        // What is signed is no secret: the key is.
        _ => true,
    }
}

fn each_value<'a>(pieces: &'a [Piece], seen: &mut dyn FnMut(&'a Value)) {
    for piece in pieces {
        let Piece::Value(value) = piece else { continue };
        seen(value);
        match value {
            Value::Choice(parts) | Value::Base64(parts) | Value::Raw(parts) | Value::FormEncoded(parts) => each_value(parts, seen),
            Value::Hmac { key, message, .. } => {
                seen(key);
                each_value(message, seen);
            }
            _ => {}
        }
    }
}

fn move_weighted(pieces: &mut [Piece], place: &dyn Fn(&str) -> String) {
    for piece in pieces {
        match piece {
            Piece::Value(Value::Weighted { path, .. }) => *path = place(path),
            Piece::Value(
                Value::Choice(parts)
                | Value::Base64(parts)
                | Value::Raw(parts)
                | Value::FormEncoded(parts)
                | Value::Hmac { message: parts, .. },
            ) => move_weighted(parts, place),
            _ => {}
        }
    }
}

fn push(pieces: &mut Vec<Piece>, piece: Piece) {
    match (pieces.last_mut(), piece) {
        (_, Piece::Text(text)) if text.is_empty() => {}
        (Some(Piece::Text(before)), Piece::Text(text)) => before.push_str(&text),
        (_, piece) => pieces.push(piece),
    }
}

/// Whether a template names a variable or a file, or is none: what only the user at the machine itself may ask for.
#[must_use]
pub fn reads_outside(text: &str) -> bool {
    let Ok(template) = Template::parse_any(text) else { return true };
    let mut reads = false;
    template
        .each_value(&mut |value| reads |= matches!(value, Value::Env(_) | Value::File(..) | Value::Weighted { .. } | Value::Column { .. }));
    reads
}

/// Where the expressions of a text stand, and whether each [only refers](is_reference) to what it writes; `None` if there are
/// mistakes in it. Any name may be that of a data file.
pub(crate) fn expressions(text: &str) -> Option<Vec<(std::ops::Range<usize>, bool)>> {
    let mut reading = Reading { text, at: 0, files: Files::Any, variables: &[], mistakes: Vec::new() };
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(piece) = reading.piece() {
        let range = from..reading.at;
        from = reading.at;
        let is_expression = text[range.clone()].starts_with("{{") && text[range.clone()].ends_with("}}");
        match piece {
            Piece::Value(value) => found.push((range, is_reference(&value))),
            Piece::Text(text) if is_expression => found.push((range, text.len() < REFERENCE_LETTERS_MAX)),
            Piece::Text(_) => {}
        }
    }
    reading.mistakes.is_empty().then_some(found)
}

/// Behind the expression whose braces open at `at`; the end of the text, if it is not closed.
pub(crate) fn after_expression(text: &str, at: usize) -> usize {
    let mut reading = Reading { text, at: at + 2, files: Files::Any, variables: &[], mistakes: Vec::new() };
    loop {
        match reading.token() {
            Ok((_, Token::End)) => return reading.at,
            Ok(_) => {}
            Err(_) => return text.len(),
        }
    }
}

/// What stands around the expressions of a text, in order: one piece more than there are expressions. The whole text, if there are
/// mistakes in it.
#[must_use]
pub fn around(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut from = 0;
    for (range, _) in expressions(text).unwrap_or_default() {
        pieces.push(&text[from..range.start]);
        from = range.end;
    }
    pieces.push(&text[from..]);
    pieces
}

/// A template on its way to being read.
struct Reading<'a> {
    text: &'a str,
    at: usize,
    files: Files<'a>,
    variables: &'a [&'a str],
    mistakes: Vec<Mistake>,
}

/// The data files that a template may name.
#[derive(Clone, Copy)]
enum Files<'a> {
    These(&'a [&'a str]),
    Any,
}

impl<'a> Files<'a> {
    fn names(self) -> &'a [&'a str] {
        match self {
            Self::These(names) => names,
            Self::Any => &[],
        }
    }

    fn has(self, name: &str) -> bool {
        match self {
            Self::These(names) => names.contains(&name),
            Self::Any => !name.is_empty() && !WORDS.contains(&name),
        }
    }
}

/// A part of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Quoted(String),
    Open,
    Close,
    End,
}

/// A word or what stands in quotes or parentheses, and where.
struct Argument {
    from: usize,
    to: usize,
    kind: Kind,
}

enum Kind {
    Word(String),
    Quoted(String),
    /// `None`: with a mistake in it that was noted.
    Value(Option<Piece>),
}

impl Reading<'_> {
    fn whole(mut self) -> Result<Template, Vec<Mistake>> {
        let mut pieces = Vec::new();
        while let Some(piece) = self.piece() {
            push(&mut pieces, piece);
        }
        if self.mistakes.is_empty() { Ok(Template { pieces }) } else { Err(self.mistakes) }
    }

    fn wrong(&mut self, from: usize, to: usize, message: impl Into<String>, help: impl Into<Wording>) {
        self.mistakes.push(Mistake { at: from, length: to - from, message: message.into(), help: help.into() });
    }

    /// The next text or value; an expression with a mistake is an empty text.
    fn piece(&mut self) -> Option<Piece> {
        let text = self.text;
        let rest = &text[self.at..];
        if rest.is_empty() {
            return None;
        }
        let Some(mut open) = rest.find("{{") else {
            self.at = self.text.len();
            return Some(Piece::Text(rest.to_owned()));
        };
        // Of more than two braces, the last two open.
        open += rest[open..].bytes().take_while(|byte| *byte == b'{').count() - 2;
        if open > 0 {
            self.at += open;
            return Some(Piece::Text(rest[..open].to_owned()));
        }
        let from = self.at;
        self.at += 2;
        let Some(arguments) = self.arguments(from, &Token::End, 0) else {
            // It goes on where it probably ends, so that the mistakes after it are told too.
            self.at = self.text[from..].find("}}").map_or(self.text.len(), |end| from + end + 2);
            return Some(Piece::Text(String::new()));
        };
        Some(self.value(from, self.at, arguments).unwrap_or_else(|| Piece::Text(String::new())))
    }

    /// What stands up to the token that ends it; `None` if that does not come.
    fn arguments(&mut self, from: usize, until: &Token, depth: usize) -> Option<Vec<Argument>> {
        let mut arguments = Vec::new();
        loop {
            let (at, token) = match self.token() {
                Ok(found) => found,
                Err(at) if at < self.text.len() => {
                    self.wrong(at, at + 1, "the quotation mark is not closed", "close it with \" before the }}");
                    return None;
                }
                Err(_) => {
                    let help = "close it with }}, or write {{\"{{\"}} to send {{ itself";
                    self.wrong(from, from + 2, "the expression is not closed", help);
                    return None;
                }
            };
            let kind = match token {
                Token::Word(word) => Kind::Word(word),
                Token::Quoted(text) => Kind::Quoted(text),
                token if token == *until => return Some(arguments),
                Token::Open if depth == DEPTH_MAX => {
                    self.wrong(at, at + 1, format!("expressions stand in each other more than {DEPTH_MAX} deep"), "write it with fewer");
                    return None;
                }
                Token::Open => {
                    let inner = self.arguments(from, &Token::Close, depth + 1)?;
                    Kind::Value(self.value(at, self.at, inner))
                }
                Token::Close => {
                    self.wrong(
                        at,
                        at + 1,
                        "this parenthesis closes nothing",
                        "leave it out, or put text with ) in it between quotation marks",
                    );
                    continue;
                }
                Token::End => {
                    self.wrong(at, at + 2, "a parenthesis is not closed here", "close it with )");
                    return None;
                }
            };
            arguments.push(Argument { from: at, to: self.at, kind });
        }
    }

    /// The next token and where it begins.
    ///
    /// # Errors
    /// Where the quotation mark is that is not closed; or the end of the text.
    fn token(&mut self) -> Result<(usize, Token), usize> {
        let text = self.text;
        let rest = &text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        let at = self.at;
        let rest = &text[at..];
        let single = match rest.bytes().next() {
            None => return Err(text.len()),
            Some(b'(') => Some(Token::Open),
            Some(b')') => Some(Token::Close),
            _ => None,
        };
        if let Some(token) = single {
            self.at += 1;
            return Ok((at, token));
        }
        if rest.starts_with("}}") {
            self.at += 2;
            return Ok((at, Token::End));
        }
        if let Some(inside) = rest.strip_prefix('"') {
            let mut quoted = String::new();
            let mut letters = inside.char_indices();
            while let Some((place, letter)) = letters.next() {
                match letter {
                    '"' => {
                        self.at = at + 1 + place + 1;
                        return Ok((at, Token::Quoted(quoted)));
                    }
                    '\\' => quoted.extend(letters.next().map(|(_, next)| next)),
                    _ => quoted.push(letter),
                }
            }
            return Err(at);
        }
        let ends = |(place, letter): (usize, char)| letter.is_whitespace() || "()\"".contains(letter) || rest[place..].starts_with("}}");
        let length = rest.char_indices().find(|found| ends(*found)).map_or(rest.len(), |(place, _)| place);
        self.at += length;
        Ok((at, Token::Word(rest[..length].to_owned())))
    }

    /// What an expression's words mean; `None` if they mean nothing, which was noted.
    fn value(&mut self, from: usize, to: usize, arguments: Vec<Argument>) -> Option<Piece> {
        let before = self.mistakes.len();
        let mut arguments = arguments.into_iter();
        let Some(first) = arguments.next() else {
            self.wrong(from, to, "the expression is empty", format!("write one of {}", WORDS.join(", ")));
            return None;
        };
        let rest: Vec<Argument> = arguments.collect();
        let word = match first.kind {
            Kind::Word(word) => word,
            kind => {
                if let Some(second) = rest.first() {
                    self.wrong(
                        second.from,
                        second.to,
                        "this follows text, which takes no arguments",
                        "put a word before it, such as choice",
                    );
                    return None;
                }
                return match kind {
                    Kind::Quoted(text) => Some(Piece::Text(text)),
                    Kind::Value(inner) => inner,
                    Kind::Word(_) => unreachable!("words were taken"),
                };
            }
        };
        let value = match word.as_str() {
            "uuid" => self.none(&word, &rest).map(|()| Value::Uuid),
            "body" => self.none(&word, &rest).map(|()| Value::Body),
            "random" => self.random(first.to, &rest),
            "sequence" => self.sequence(&rest),
            "choice" => self.some(&word, first.from, first.to, rest).map(Value::Choice),
            "random-text" => self.random_text(first.to, &rest),
            "random-date" => self.random_date(first.to, &rest),
            "now" => self.now(&rest),
            "env" => self.name(&word, "a variable, such as env TOKEN", first.to, rest).map(Value::Env),
            "file" => self.file(first.to, rest),
            "base64" => self.parts(&word, first.from, first.to, rest).map(Value::Base64),
            "weighted" => self.weighted(first.to, rest),
            "raw" => self.parts(&word, first.from, first.to, rest).map(Value::Raw),
            "form-encoded" => self.parts(&word, first.from, first.to, rest).map(Value::FormEncoded),
            "hmac" => self.hmac(first.from, first.to, rest),
            _ if self.variables.contains(&word.as_str()) => self.none(&word, &rest).map(|()| Value::Variable(word.clone())),
            _ => match word.split_once('.') {
                Some((file, column)) if self.files.has(file) => {
                    if column.is_empty() {
                        self.wrong(first.from, first.to, format!("'{word}' names no column"), format!("write {file}.COLUMN"));
                    }
                    self.none(&word, &rest).map(|()| Value::Column { file: file.to_owned(), column: column.to_owned() })
                }
                Some((file, _)) => {
                    let names = self.files.names();
                    let help = match nearest(file, names.iter().copied()) {
                        Some(near) => format!("did you mean '{near}.{}'?", &word[file.len() + 1..]),
                        None if names.is_empty() => format!("name one with {DATA_FILE:#} {file}.csv"),
                        None => format!("the data files are {}", names.join(", ")),
                    };
                    self.wrong(first.from, first.from + file.len(), format!("no data file is called '{file}'"), help);
                    None
                }
                None if self.files.has(&word) => {
                    let help = format!("a column with spaces in its name, such as {word} \"first name\"");
                    self.name(&word, &help, first.to, rest).map(|column| Value::Column { file: word.clone(), column })
                }
                None => {
                    let known = WORDS.into_iter().take(WORDS.len() - 1).chain(self.variables.iter().copied());
                    let help = match nearest(&word, known) {
                        Some(near) => format!("did you mean '{near}'?"),
                        None if !self.variables.is_empty() => {
                            format!("write one of {}, or a variable: {}", WORDS.join(", "), self.variables.join(", "))
                        }
                        None => format!("write one of {}; or {{{{\"{{{{\"}}}} to send {{{{ itself", WORDS.join(", ")),
                    };
                    self.wrong(first.from, first.to, format!("the word '{word}' is unknown"), help);
                    None
                }
            },
        };
        value.filter(|_| self.mistakes.len() == before).map(Piece::Value)
    }

    fn none(&mut self, word: &str, rest: &[Argument]) -> Option<()> {
        let Some(argument) = rest.first() else { return Some(()) };
        let last = rest.last().map_or(argument.to, |last| last.to);
        self.wrong(argument.from, last, format!("'{word}' takes no argument"), format!("write {{{{{word}}}}}"));
        None
    }

    fn random(&mut self, after: usize, rest: &[Argument]) -> Option<Value> {
        let help = "give the least and the most, such as random 1 1000";
        let numbers: Vec<Option<i64>> = rest
            .iter()
            .map(|argument| match &argument.kind {
                Kind::Word(word) => {
                    let number = word.parse().ok();
                    if number.is_none() {
                        self.wrong(argument.from, argument.to, format!("'{word}' is not a whole number"), help);
                    }
                    number
                }
                _ => {
                    self.wrong(argument.from, argument.to, "this is not a whole number", help);
                    None
                }
            })
            .collect();
        match numbers[..] {
            [Some(low), Some(high)] if low > high => {
                self.wrong(rest[0].from, rest[1].to, format!("the range from {low} to {high} is empty"), "give the least first");
                None
            }
            [Some(low), Some(high)] if high.abs_diff(low) >= RANGE_MAX => {
                self.wrong(rest[0].from, rest[1].to, "the range has more than 2^53 numbers", "give a smaller one, or use uuid");
                None
            }
            [Some(low), Some(high)] => Some(Value::Random { low, high }),
            [_, _] => None,
            [] | [_] => {
                self.wrong(after, after, format!("'random' has {} of its 2 numbers", numbers.len()), help);
                None
            }
            [_, _, _, ..] => {
                self.wrong(rest[2].from, rest[rest.len() - 1].to, "'random' takes two numbers", help);
                None
            }
        }
    }

    /// `random-text N [LETTERS]`
    fn random_text(&mut self, after: usize, rest: &[Argument]) -> Option<Value> {
        let help = "give how many letters, and if you like which, such as random-text 8 abcdef";
        let (count, letters) = match rest {
            [count] => (count, LETTERS_AND_DIGITS),
            [count, Argument { kind: Kind::Word(letters) | Kind::Quoted(letters), .. }] if !letters.is_empty() => (count, letters.as_str()),
            _ => {
                let (from, to) = rest.get(1).map_or((after, after), |argument| (argument.from, rest[rest.len() - 1].to));
                self.wrong(from, to, "'random-text' takes a number of letters, and the letters", help);
                return None;
            }
        };
        let length = if let Kind::Word(word) = &count.kind { word.parse().ok() } else { None };
        let length = length.filter(|length| (1..=RANDOM_LETTERS_MAX).contains(length));
        if length.is_none() {
            self.wrong(count.from, count.to, format!("this is not a whole number from 1 to {RANDOM_LETTERS_MAX}"), help);
        }
        Some(Value::RandomText { length: length?, letters: letters.to_owned() })
    }

    /// `random-date FIRST LAST [FORM]`
    fn random_date(&mut self, after: usize, rest: &[Argument]) -> Option<Value> {
        let help = "give the first and the last day, and if you like a form, such as random-date 1960-01-01 2005-12-31 %d.%m.%Y";
        let (first, last, form) = match rest {
            [first, last] => (first, last, None),
            [first, last, form] => (first, last, Some(form)),
            _ => {
                let (from, to) = rest.get(3).map_or((after, after), |argument| (argument.from, rest[rest.len() - 1].to));
                self.wrong(from, to, "'random-date' takes two days and a form", help);
                return None;
            }
        };
        let mut day = |argument: &Argument| {
            let text = if let Kind::Word(text) | Kind::Quoted(text) = &argument.kind { text.as_str() } else { "" };
            text.parse::<Day>().map_err(|why| self.wrong(argument.from, argument.to, why, help)).ok()
        };
        let (first_day, last_day) = (day(first), day(last));
        let form = match form {
            Some(form) => self.form(form, help),
            None => Some(Form::of_days()),
        };
        let (first_day, last_day) = (first_day?, last_day?);
        if first_day > last_day {
            self.wrong(first.from, last.to, format!("there is no day from {first_day} to {last_day}"), "give the first one first");
            return None;
        }
        Some(Value::RandomDate { first: first_day, last: last_day, form: form? })
    }

    /// `now [FORM] [SHIFT]`
    fn now(&mut self, rest: &[Argument]) -> Option<Value> {
        let (mut form, mut shift) = (None, None);
        for argument in rest {
            let is_form = matches!(&argument.kind, Kind::Word(text) if text.contains('%')) || matches!(argument.kind, Kind::Quoted(_));
            match &argument.kind {
                Kind::Word(word) if !is_form && shift.is_none() && word.starts_with(['+', '-']) => {
                    shift = form::shift_seconds(word);
                    if shift.is_none() {
                        let help = "give a whole number of s, m, h, d or w, such as +1d or -90m; at most a hundred years";
                        self.wrong(argument.from, argument.to, format!("'{word}' is no shift of a time"), help);
                        return None;
                    }
                }
                _ if form.is_some() || shift.is_some() => {
                    let help = "leave the rest out, or put the form between quotation marks, such as now \"%d.%m.%Y %H:%M\" +1d";
                    self.wrong(argument.from, rest[rest.len() - 1].to, "'now' takes a form, and behind it a shift", help);
                    return None;
                }
                _ if is_form => form = Some(TimeForm::Written(self.form(argument, "write it as in now \"%Y-%m-%d %H:%M:%S\"")?)),
                _ => form = self.one_of("now", &MOMENTS, std::slice::from_ref(argument))?.map(TimeForm::Usual),
            }
        }
        Some(Value::Now { form: form.unwrap_or(TimeForm::Usual(Moment::Rfc3339)), shift: shift.unwrap_or(0) })
    }

    fn form(&mut self, argument: &Argument, help: &str) -> Option<Form> {
        let text = if let Kind::Word(text) | Kind::Quoted(text) = &argument.kind { text.as_str() } else { "" };
        text.parse().map_err(|why: String| self.wrong(argument.from, argument.to, why, help)).ok()
    }

    fn sequence(&mut self, rest: &[Argument]) -> Option<Value> {
        let help = "give the first number, such as sequence 1000, or nothing to begin with 1";
        match rest {
            [] => Some(Value::Sequence { from: 1 }),
            [Argument { from, to, kind }] => {
                let number = if let Kind::Word(word) = kind { word.parse().ok() } else { None };
                if number.is_none() {
                    self.wrong(*from, *to, "this is not a whole number of 0 or more", help);
                }
                number.map(|from| Value::Sequence { from })
            }
            [_, more, ..] => {
                self.wrong(more.from, rest[rest.len() - 1].to, "'sequence' takes one number", help);
                None
            }
        }
    }

    /// Pieces of which there must be one.
    fn some(&mut self, word: &str, from: usize, to: usize, rest: Vec<Argument>) -> Option<Vec<Piece>> {
        if rest.is_empty() {
            self.wrong(from, to, format!("'{word}' has no arguments"), format!("give some, such as {word} a b c"));
            return None;
        }
        rest.into_iter()
            .map(|argument| match argument.kind {
                Kind::Word(text) | Kind::Quoted(text) => Some(Piece::Text(text)),
                Kind::Value(inner) => inner,
            })
            .collect()
    }

    /// The same where a bare word would be mistaken for what it stands for elsewhere.
    fn parts(&mut self, word: &str, from: usize, to: usize, rest: Vec<Argument>) -> Option<Vec<Piece>> {
        for argument in &rest {
            let Kind::Word(text) = &argument.kind else { continue };
            let is_column = text.split_once('.').is_some_and(|(file, _)| self.files.names().contains(&file));
            if is_column || WORDS.contains(&text.as_str()) || self.variables.contains(&text.as_str()) {
                self.wrong(
                    argument.from,
                    argument.to,
                    format!("'{text}' would be taken as text here"),
                    format!("write ({text}) for its value, or \"{text}\" for the text"),
                );
            }
        }
        self.some(word, from, to, rest)
    }

    fn one_of<T: Copy>(&mut self, word: &str, known: &[(&str, T)], rest: &[Argument]) -> Option<Option<T>> {
        let Some(argument) = rest.first() else { return Some(None) };
        if let Some(more) = rest.get(1) {
            self.wrong(more.from, rest[rest.len() - 1].to, format!("'{word}' takes one argument"), "leave the rest out");
            return None;
        }
        let found = match &argument.kind {
            Kind::Word(text) => known.iter().find(|(name, _)| name == text).map(|(_, value)| *value),
            _ => None,
        };
        if found.is_none() {
            self.unknown(argument, word, known);
        }
        found.map(Some)
    }

    fn unknown<T>(&mut self, argument: &Argument, word: &str, known: &[(&str, T)]) {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        let said = if let Kind::Word(text) | Kind::Quoted(text) = &argument.kind { text.as_str() } else { "" };
        let help = match nearest(said, names.iter().copied()) {
            Some(near) => format!("did you mean '{near}'?"),
            None => format!("give one of {}", names.join(", ")),
        };
        self.wrong(argument.from, argument.to, format!("'{word}' does not know this form"), help);
    }

    fn name(&mut self, word: &str, help: &str, after: usize, rest: Vec<Argument>) -> Option<String> {
        let mut rest = rest.into_iter();
        match (rest.next().map(|argument| (argument.from, argument.to, argument.kind)), rest.next()) {
            (Some((_, _, Kind::Word(name) | Kind::Quoted(name))), None) if !name.is_empty() => Some(name),
            (Some((from, to, _)), None) => {
                self.wrong(from, to, format!("'{word}' wants a name"), format!("name {help}"));
                None
            }
            (Some(_), Some(more)) => {
                self.wrong(more.from, more.to, format!("'{word}' takes one name"), "put a name with spaces between quotation marks");
                None
            }
            (None, _) => {
                self.wrong(after, after, format!("'{word}' has no name"), format!("name {help}"));
                None
            }
        }
    }

    /// `file FILE [ENCODING]`
    fn file(&mut self, after: usize, mut rest: Vec<Argument>) -> Option<Value> {
        let mut charset = None;
        if rest.len() == 2
            && let Some(Argument { from, to, kind }) = rest.pop()
        {
            let named = if let Kind::Word(name) | Kind::Quoted(name) = kind {
                Charset::named(&name)
            } else {
                Err("an encoding has a name".to_owned())
            };
            match named {
                Ok(named) => charset = named,
                Err(why) => self.wrong(from, to, why, "write one such as windows-1252, or none where the file is in UTF-8"),
            }
        }
        self.name("file", "a file, such as file body.txt", after, rest).map(|path| Value::File(path, charset))
    }

    /// `weighted FILE [GROUP]`
    fn weighted(&mut self, after: usize, mut rest: Vec<Argument>) -> Option<Value> {
        let group = match rest.len() {
            2 => rest.pop().and_then(|argument| match argument.kind {
                Kind::Word(group) | Kind::Quoted(group) => Some(group),
                Kind::Value(_) => {
                    self.wrong(argument.from, argument.to, "'weighted' wants the name of a group", "name one that is in the file");
                    None
                }
            }),
            3.. => {
                let (from, to) = (rest[2].from, rest[rest.len() - 1].to);
                self.wrong(from, to, "'weighted' takes a file and a group", "put a name with spaces between quotation marks");
                return None;
            }
            _ => None,
        };
        let path = self.name("weighted", "a file, such as weighted paths.csv", after, rest)?;
        Some(Value::Weighted { path, group })
    }

    /// `hmac [DIGEST [CODING]] KEY MESSAGE…`
    fn hmac(&mut self, from: usize, to: usize, rest: Vec<Argument>) -> Option<Value> {
        let mut rest = VecDeque::from(rest);
        let known = |rest: &mut VecDeque<Argument>| {
            let word = match &rest.front()?.kind {
                Kind::Word(word) => word.clone(),
                _ => return None,
            };
            rest.pop_front();
            Some(word)
        };
        let (mut digest, mut coding) = (Digest::Sha256, Coding::Hex);
        while let Some(argument) = rest.front().map(|argument| (argument.from, argument.to))
            && let Some(word) = known(&mut rest)
        {
            if let Some((_, named)) = DIGESTS.iter().find(|(name, _)| *name == word) {
                digest = *named;
            } else if let Some((_, named)) = CODINGS.iter().find(|(name, _)| *name == word) {
                coding = *named;
            } else {
                let names = DIGESTS.iter().map(|(name, _)| *name).chain(CODINGS.iter().map(|(name, _)| *name));
                let help = match nearest(&word, names) {
                    Some(near) => format!("did you mean '{near}'?"),
                    None => {
                        "the key would be written into results: give it as (env NAME) or (file PATH), as in hmac sha256 (env KEY) (body)"
                            .to_owned()
                    }
                };
                self.wrong(argument.0, argument.1, format!("'{word}' is neither a digest nor a key that may be written down"), help);
                return None;
            }
        }
        let help = "give the key as (env NAME) or (file PATH), and what is signed, as in hmac sha256 (env KEY) (body)";
        let Some(key) = rest.pop_front() else {
            self.wrong(from, to, "'hmac' has no key", help);
            return None;
        };
        let key_value = match key.kind {
            Kind::Value(None) => return None,
            Kind::Value(Some(Piece::Value(value @ (Value::Env(_) | Value::File(..))))) => Box::new(value),
            _ => {
                self.wrong(key.from, key.to, "this key would be written into results", "give it as (env NAME) or (file PATH)");
                return None;
            }
        };
        if rest.is_empty() {
            self.wrong(key.to, key.to, "'hmac' has nothing to sign", help);
            return None;
        }
        let message = self.parts("hmac", from, to, rest.into())?;
        Some(Value::Hmac { digest, coding, key: key_value, message })
    }
}

/// The word that was probably meant: at most two slips away, and fewer than half of its letters.
#[must_use]
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let lower = word.to_lowercase();
    known
        .map(|candidate| (distance(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= 2 && distance * 2 < candidate.chars().count().max(2) + 1)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// How many letters are wrong, missing, too many, or changed places with their neighbour (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, other) in b.iter().enumerate() {
            let mut least = (row[j] + usize::from(letter != other)).min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && *letter == b[j - 1] && a[i - 1] == *other {
                least = least.min(before[j - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}

/// As it would be typed.
impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => f.write_str(&literally(text))?,
                Piece::Value(value) => write!(f, "{{{{{value}}}}}")?,
            }
        }
        Ok(())
    }
}

/// A text as it would be typed where templates are read.
#[must_use]
pub fn literally(text: &str) -> String {
    text.replace("{{", "{{\"{{\"}}")
}

/// What stands between the braces.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn named<T: PartialEq>(known: &'static [(&'static str, T)], value: &T) -> &'static str {
            known.iter().find(|(_, known)| known == value).map_or("", |(name, _)| name)
        }
        match self {
            Self::Uuid => f.write_str("uuid"),
            Self::Random { low, high } => write!(f, "random {low} {high}"),
            Self::Sequence { from: 1 } => f.write_str("sequence"),
            Self::Sequence { from } => write!(f, "sequence {from}"),
            Self::Choice(pieces) => write!(f, "choice{}", Arguments(pieces)),
            Self::RandomText { length, letters } if letters == LETTERS_AND_DIGITS => write!(f, "random-text {length}"),
            Self::RandomText { length, letters } => write!(f, "random-text {length} {}", Argued(letters)),
            Self::RandomDate { first, last, form } if *form == Form::of_days() => write!(f, "random-date {first} {last}"),
            Self::RandomDate { first, last, form } => write!(f, "random-date {first} {last} {}", Argued(form.text())),
            Self::Now { form, shift } => {
                f.write_str("now")?;
                match form {
                    TimeForm::Usual(Moment::Rfc3339) => {}
                    TimeForm::Usual(moment) => write!(f, " {}", named(&MOMENTS, moment))?,
                    TimeForm::Written(form) => write!(f, " {}", Argued(form.text()))?,
                }
                if *shift == 0 { Ok(()) } else { write!(f, " {}", form::shift_text(*shift)) }
            }
            Self::Env(name) => write!(f, "env {}", Argued(name)),
            Self::File(path, None) => write!(f, "file {}", Argued(path)),
            Self::File(path, Some(charset)) => write!(f, "file {} {charset}", Argued(path)),
            Self::Weighted { path, group: None } => write!(f, "weighted {}", Argued(path)),
            Self::Weighted { path, group: Some(group) } => write!(f, "weighted {} {}", Argued(path), Argued(group)),
            Self::Base64(pieces) => write!(f, "base64{}", Arguments(pieces)),
            Self::Raw(pieces) => write!(f, "raw{}", Arguments(pieces)),
            Self::FormEncoded(pieces) => write!(f, "form-encoded{}", Arguments(pieces)),
            Self::Hmac { digest, coding, key, message } => {
                write!(f, "hmac {} {} ({key}){}", named(&DIGESTS, digest), named(&CODINGS, coding), Arguments(message))
            }
            Self::Body => f.write_str("body"),
            Self::Variable(name) => f.write_str(name),
            Self::Column { file, column } if is_bare(column) => write!(f, "{file}.{column}"),
            Self::Column { file, column } => write!(f, "{file} {}", Argued(column)),
        }
    }
}

/// Pieces as arguments, each after a space.
struct Arguments<'a>(&'a [Piece]);

impl fmt::Display for Arguments<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in self.0 {
            match piece {
                Piece::Text(text) => write!(f, " {}", Argued(text))?,
                Piece::Value(value) => write!(f, " ({value})")?,
            }
        }
        Ok(())
    }
}

/// A text as an argument: bare where that means the same.
struct Argued<'a>(&'a str);

impl fmt::Display for Argued<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_bare(self.0) && !WORDS.contains(&self.0) {
            return f.write_str(self.0);
        }
        write!(f, "\"{}\"", self.0.replace('\\', "\\\\").replace('"', "\\\""))
    }
}

/// Whether a text is a bare word that nothing can be mistaken for.
fn is_bare(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_/:@,;=+%~".contains(letter))
}

/// How much of the text around a mistake is shown.
const SHOWN_LETTERS: usize = 32;

impl Mistake {
    /// The mistake below its place in the text: two lines, to follow a first one.
    #[must_use]
    pub fn pointed_out(&self, text: &str) -> String {
        let plain = |part: &str| -> String { part.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect() };
        let end = self.at + self.length;
        // Only its own line.
        let from = text[..self.at].rfind('\n').map_or(0, |at| at + 1);
        let line_ends = text[end..].find('\n').map_or(text.len(), |at| end + at);
        let before: Vec<char> = text[from..self.at].chars().collect();
        let kept = before.len().saturating_sub(SHOWN_LETTERS);
        let lead = if kept > 0 { "…" } else { "" };
        let before: String = before[kept..].iter().collect();
        let about: String = text[self.at..end].chars().take(2 * SHOWN_LETTERS).collect();
        let after: String = text[end..line_ends].chars().take(SHOWN_LETTERS).collect();
        let tail = if text[end..line_ends].chars().nth(SHOWN_LETTERS).is_some() { "…" } else { "" };
        let margin = " ".repeat(lead.chars().count() + before.chars().count());
        let carets = "^".repeat(about.chars().count().max(1));
        format!("    {lead}{}{}{}{tail}\n    {margin}{carets}", plain(&before), plain(&about), plain(&after))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> Template {
        Template::parse(text, &["users"]).unwrap_or_else(|mistakes| panic!("{text}: {mistakes:?}"))
    }

    fn mistakes(text: &str) -> Vec<Mistake> {
        Template::parse(text, &["users"]).expect_err(text)
    }

    fn text(text: &str) -> Piece {
        Piece::Text(text.to_owned())
    }

    fn now(form: TimeForm, shift: i64) -> Value {
        Value::Now { form, shift }
    }

    fn written(form: &str) -> TimeForm {
        TimeForm::Written(form.parse().unwrap())
    }

    fn random_date(form: &str) -> Value {
        Value::RandomDate { first: "1960-01-01".parse().unwrap(), last: "2005-12-31".parse().unwrap(), form: form.parse().unwrap() }
    }

    #[test]
    fn letters_that_changed_places_are_one_slip() {
        for (word, known, meant) in [
            ("rnu", &["runs", "run", "rm"][..], Some("run")),
            ("rum", &["run", "rm"], Some("run")),
            ("conections", &["connections"], Some("connections")),
            ("swepe", &["sweep"], Some("sweep")),
            ("xyz", &["run"], None),
        ] {
            assert_eq!(nearest(word, known.iter().copied()), meant, "{word}");
        }
    }

    #[test]
    fn every_word_is_read() {
        for (written, value) in [
            ("uuid", Value::Uuid),
            ("random -5 1000", Value::Random { low: -5, high: 1000 }),
            ("sequence", Value::Sequence { from: 1 }),
            ("sequence 1000", Value::Sequence { from: 1000 }),
            ("choice a \"b c\" (uuid)", Value::Choice(vec![text("a"), text("b c"), Piece::Value(Value::Uuid)])),
            ("random-text 8", Value::RandomText { length: 8, letters: LETTERS_AND_DIGITS.to_owned() }),
            ("random-text 3 \"a b\"", Value::RandomText { length: 3, letters: "a b".to_owned() }),
            ("random-date 1960-01-01 2005-12-31", random_date("%Y-%m-%d")),
            ("random-date 1960-01-01 2005-12-31 %d.%m.%Y", random_date("%d.%m.%Y")),
            ("now", now(TimeForm::Usual(Moment::Rfc3339), 0)),
            ("now unix-ms", now(TimeForm::Usual(Moment::UnixMillis), 0)),
            ("now +1d", now(TimeForm::Usual(Moment::Rfc3339), 86_400)),
            ("now %H:%M -90m", now(written("%H:%M"), -5400)),
            ("now \"%d. %B\"", now(written("%d. %B"), 0)),
            ("env TOKEN", Value::Env("TOKEN".to_owned())),
            ("file \"a b.txt\"", Value::File("a b.txt".to_owned(), None)),
            ("file a.txt iso-8859-1", Value::File("a.txt".to_owned(), Charset::named("latin1").unwrap())),
            ("weighted p.csv", Value::Weighted { path: "p.csv".to_owned(), group: None }),
            ("weighted p.csv \"GET /a\"", Value::Weighted { path: "p.csv".to_owned(), group: Some("GET /a".to_owned()) }),
            ("base64 x", Value::Base64(vec![text("x")])),
            ("form-encoded x", Value::FormEncoded(vec![text("x")])),
            ("users.id", Value::Column { file: "users".to_owned(), column: "id".to_owned() }),
            ("users \"first name\"", Value::Column { file: "users".to_owned(), column: "first name".to_owned() }),
            ("body", Value::Body),
        ] {
            assert_eq!(parsed(&format!("{{{{ {written} }}}}")).pieces(), [Piece::Value(value)], "{written}");
        }
        let signed = parsed("{{hmac sha512 base64 (env KEY) \"v1:\" (body)}}");
        let Value::Hmac { digest, coding, key, message } = signed.values().next().unwrap() else { panic!("{signed:?}") };
        assert_eq!((digest, coding, &**key), (&Digest::Sha512, &Coding::Base64, &Value::Env("KEY".to_owned())));
        assert_eq!(message[..], [text("v1:"), Piece::Value(Value::Body)]);
    }

    #[test]
    fn braces_of_json_and_of_templates_go_together() {
        assert_eq!(parsed("{\"a\":{{random 1 2}}}").to_string(), "{\"a\":{{random 1 2}}}");
        assert_eq!(parsed("{{{uuid}}}").pieces(), [text("{"), Piece::Value(Value::Uuid), text("}")]);
        assert_eq!(parsed("}} {a} {").pieces(), [text("}} {a} {")]);
    }

    #[test]
    fn two_braces_are_sent_as_text_in_quotes() {
        assert_eq!(parsed("a{{\"{{\"}}b}}").pieces(), [text("a{{b}}")]);
    }

    #[test]
    fn every_mistake_is_told_at_its_place() {
        for (written, at, length, part, help) in [
            ("x{{uid}}", 3, 3, "'uid' is unknown", "did you mean 'uuid'?"),
            ("{{}}", 0, 4, "empty", "uuid, random"),
            ("a{{uuid", 1, 2, "not closed", "{{\"{{\"}}"),
            ("{{choice \"a}}", 9, 1, "quotation mark is not closed", "close it"),
            ("{{random 1}}", 8, 0, "has 1 of its 2 numbers", "random 1 1000"),
            ("{{random 9 1}}", 9, 3, "is empty", "the least first"),
            ("{{random 1 x}}", 11, 1, "'x' is not a whole number", "random 1 1000"),
            ("{{random -9223372036854775808 9223372036854775807}}", 9, 40, "2^53", "uuid"),
            ("{{now unix_ms}}", 6, 7, "does not know this form", "did you mean 'unix-ms'?"),
            ("{{now %Q}}", 6, 2, "'%Q' means nothing", "%Y-%m-%d"),
            ("{{now +1y}}", 6, 3, "is no shift", "+1d"),
            ("{{now date unix}}", 11, 4, "takes a form", "leave the rest out"),
            ("{{random-text 0}}", 14, 1, "not a whole number from 1", "random-text 8"),
            ("{{random-text}}", 13, 0, "takes a number of letters", "random-text 8"),
            ("{{random-date 2000-01-01}}", 13, 0, "takes two days", "random-date 1960-01-01"),
            ("{{random-date 2000-02-30 2001-01-01}}", 14, 10, "is no day", "random-date 1960-01-01"),
            ("{{random-date 2002-01-01 2001-01-01}}", 14, 21, "no day from", "the first one first"),
            ("{{user.id}}", 2, 4, "no data file is called 'user'", "did you mean 'users.id'?"),
            ("{{base64 users.id}}", 9, 8, "taken as text", "(users.id)"),
            ("{{base64 (users.id}}", 18, 2, "parenthesis is not closed", "close it"),
            ("{{hmac sha256 geheim x}}", 14, 6, "neither a digest nor a key", "(env NAME)"),
            ("{{hmac sha256 \"key\" x}}", 14, 5, "written into results", "(env NAME)"),
            ("{{uuid 4}}", 7, 1, "takes no argument", "{{uuid}}"),
            ("{{choice}}", 2, 6, "has no arguments", "choice a b c"),
            ("{{env}}", 5, 0, "has no name", "env TOKEN"),
            ("{{weighted}}", 10, 0, "has no name", "weighted paths.csv"),
            ("{{weighted a b c}}", 15, 1, "takes a file and a group", "quotation marks"),
        ] {
            let found = &mistakes(written)[0];
            assert_eq!((found.at, found.length), (at, length), "{written}: {found:?}");
            assert!(found.message.contains(part) && found.help.spelt(crate::Spelling::Flags).contains(help), "{written}: {found:?}");
        }
        assert_eq!(mistakes("{{uid}} {{radom 1 2}} {{now}} {{choise}}").len(), 3);
    }

    #[test]
    fn a_caret_stands_below_the_mistake() {
        let written = "{\"id\": \"{{uid}}\"}";
        assert_eq!(mistakes(written)[0].pointed_out(written), "    {\"id\": \"{{uid}}\"}\n              ^^^");
        let long = format!("{}{{{{uid}}}}{}", "é".repeat(100), "\n".repeat(100));
        let shown = mistakes(&long)[0].pointed_out(&long);
        let (line, carets) = shown.split_once('\n').unwrap();
        let at = line.chars().position(|letter| letter == 'u');
        assert_eq!(carets.chars().position(|letter| letter == '^'), at, "{shown}");
    }

    #[test]
    fn depth_is_bounded() {
        let deep = format!("{{{{{}uuid{}}}}}", "(".repeat(100_000), ")".repeat(100_000));
        assert!(mistakes(&deep)[0].message.contains("deep"));
    }

    fn argument() -> impl Strategy<Value = Piece> {
        prop_oneof!["[ -~é]{0,8}".prop_map(Piece::Text), simple().prop_map(Piece::Value)]
    }

    fn simple() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Uuid),
            Just(Value::Body),
            (-1000i64..1000, 0i64..1000).prop_map(|(low, more)| Value::Random { low, high: low + more }),
            (0u64..5).prop_map(|from| Value::Sequence { from }),
            (0..MOMENTS.len(), -100_000i64..100_000).prop_map(|(at, shift)| now(TimeForm::Usual(MOMENTS[at].1), shift)),
            ("[ a\"%]{0,3}%[YmdHMS]", -9i64..9)
                .prop_filter_map("a form", |(form, shift)| Some(now(TimeForm::Written(form.parse().ok()?), shift))),
            (1u32..9, "[ -~é]{1,8}").prop_map(|(length, letters)| Value::RandomText { length, letters }),
            (1900i16..2100, 1i8..13, 1i8..29).prop_map(|(year, month, day)| {
                let first = Day { year, month, day };
                Value::RandomDate { first, last: Day { year: year + 1, ..first }, form: Form::of_days() }
            }),
            "[A-Za-z \"\\\\]{1,8}".prop_map(Value::Env),
            ("[a-z/. {}()]{1,8}", any::<bool>())
                .prop_map(|(path, is_latin)| Value::File(path, Charset::named(if is_latin { "latin1" } else { "utf-8" }).unwrap())),
            ("[a-z/. {}()]{1,8}", prop::option::of("[A-Za-z /{}\"]{0,8}")).prop_map(|(path, group)| Value::Weighted { path, group }),
            "[a-z_ .}é]{1,8}".prop_map(|column| Value::Column { file: "users".to_owned(), column }),
        ]
    }

    fn value() -> impl Strategy<Value = Value> {
        let some = || prop::collection::vec(argument(), 1..4);
        prop_oneof![
            simple(),
            some().prop_map(Value::Choice),
            some().prop_map(Value::Base64),
            some().prop_map(Value::Raw),
            some().prop_map(Value::FormEncoded),
            (some(), "[A-Z]{1,5}", 0..DIGESTS.len(), 0..CODINGS.len()).prop_map(|(message, key, digest, coding)| Value::Hmac {
                digest: DIGESTS[digest].1,
                coding: CODINGS[coding].1,
                key: Box::new(Value::Env(key)),
                message,
            }),
        ]
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back(parts in prop::collection::vec(prop_oneof!["[a-z{}\" é]{0,6}".prop_map(Piece::Text), value().prop_map(Piece::Value)], 0..6)) {
            let mut template = Template::default();
            parts.into_iter().for_each(|piece| push(&mut template.pieces, piece));
            prop_assert_eq!(Template::parse(&template.to_string(), &["users"]), Ok(template.clone()), "{}", template);
        }

        #[test]
        fn any_text_is_read_or_its_mistakes_lie_in_it(text in "[{}()\" a-zé.1-3]{0,40}") {
            match Template::parse(&text, &["users"]) {
                Ok(template) => prop_assert_eq!(Template::parse(&template.to_string(), &["users"]), Ok(template)),
                Err(mistakes) => for mistake in mistakes {
                    prop_assert!(text.is_char_boundary(mistake.at) && text.is_char_boundary(mistake.at + mistake.length));
                    prop_assert!(!mistake.pointed_out(&text).is_empty());
                },
            }
        }
    }
}
