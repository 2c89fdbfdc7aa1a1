//! Parts of an answer as a scenario names them: where a value is looked for, which of several, what a check is about.
//!
//! Only the words. What finds a value in bytes is compiled, and keeps scratch memory; had the model held that, it could neither be
//! compared nor printed, and everybody who makes a model would rest on engines of regular expressions and selectors.
//!
//! Invariant: a word that is printed is read back as the same.

use crate::template::Template;

/// A value that is taken out of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Extraction {
    /// The variable that holds it afterwards.
    pub variable: String,
    /// In which language it is looked for.
    pub kind: Kind,
    /// How it is found; empty of kinds that have no expression.
    pub expression: String,
    /// The template that the expression is, if it holds values: filled in for each answer.
    pub open: Option<Template>,
    /// In which text it is looked for.
    pub within: Where,
    /// Which of several.
    pub which: Which,
    /// What is written of a match of a regular expression, with its groups by number: `$2-$1`; else its first group.
    pub written: Option<String>,
    /// What it is if nothing is found; else the journey ends.
    pub default: Option<String>,
    /// Whether the variable keeps its value if nothing is found and there is no default; the journey then goes on.
    pub optional: bool,
    /// Whether a JSON null counts as nothing found.
    pub null_is_missing: bool,
}

impl Extraction {
    /// The first that is found in the body; where there is none, the journey ends.
    #[must_use]
    pub const fn new(variable: String, kind: Kind, expression: String) -> Self {
        Self {
            variable,
            kind,
            expression,
            open: None,
            within: Where::Part(AnswerPart::Body),
            which: Which::First,
            written: None,
            default: None,
            optional: false,
            null_is_missing: false,
        }
    }

    /// The templates that write its expression, and the text in which it is looked for, if they do.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        let within = if let Where::Written(text) = &self.within { Some(text) } else { None };
        self.open.iter().chain(within)
    }
}

/// In which text a value is looked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Where {
    /// In a part of what was asked and answered.
    Part(AnswerPart),
    /// In what this template writes: `{{page}}`.
    Written(Template),
}

impl Default for Where {
    fn default() -> Self {
        Self::Part(AnswerPart::Body)
    }
}

/// A part of what was asked and answered, as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AnswerPart {
    /// The body of the answer.
    #[default]
    Body,
    /// The same, with what stands for letters in pages (`&amp;`) as these letters.
    Unescaped,
    /// What a reader sees of it, if it is a page.
    Text,
    /// The first line of the answer and its headers, a line for each.
    Headers,
    /// The status as three digits.
    Status,
    /// The words that HTTP has for the status: `Not Found`.
    Message,
    /// Where the request went, as a whole URL: the last one, if redirects were followed.
    Url,
    /// The request: method and URL, and behind an empty line its body.
    Request,
    /// The headers of the request, a line for each.
    RequestHeaders,
    /// The bodies of the answers along redirects, the last among them; empty where none was followed.
    Hops,
    /// The body of the answer, and behind it those along redirects.
    Chain,
}

impl AnswerPart {
    /// All of them, in the order of the guide.
    pub const ALL: [Self; 11] = [
        Self::Body,
        Self::Unescaped,
        Self::Text,
        Self::Headers,
        Self::Status,
        Self::Message,
        Self::Url,
        Self::Request,
        Self::RequestHeaders,
        Self::Hops,
        Self::Chain,
    ];

    /// Its word in a scenario: `body`, `unescaped`, `text`, `headers`, `status`, `message`, `url`, `request`, `request_headers`,
    /// `hops`, `chain`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Body => "body",
            Self::Unescaped => "unescaped",
            Self::Text => "text",
            Self::Headers => "headers",
            Self::Status => "status",
            Self::Message => "message",
            Self::Url => "url",
            Self::Request => "request",
            Self::RequestHeaders => "request_headers",
            Self::Hops => "hops",
            Self::Chain => "chain",
        }
    }

    /// The part with this word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|part| part.word() == word)
    }
}

/// A check of an answer: what it is about, and what must hold of that.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerCheck {
    /// What it is about.
    pub subject: Subject,
    /// What must hold: `200`, `contains json`, `< 500ms`.
    pub condition: String,
    /// The template in the condition, if there is one: filled in for each answer.
    pub against: Option<Template>,
    /// What the row of a request says that failed by it; else what must hold.
    pub failure: Option<String>,
    /// Which answers of a request it is about.
    pub along: Along,
}

impl AnswerCheck {
    /// That this holds of the answer.
    #[must_use]
    pub const fn new(subject: Subject, condition: String) -> Self {
        Self { subject, condition, against: None, failure: None, along: Along::Last }
    }
}

/// Which answers of a request a check is about: it holds where it holds of each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Along {
    /// The last one: that to which redirects led.
    #[default]
    Last,
    /// Those of which it is made: along redirects, the last among them, and what its page names; none where it is a single answer.
    Parts,
    /// All of them.
    All,
}

impl Along {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Last, Self::Parts, Self::All];

    /// Its word in a scenario: `last`, `parts`, `all`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Last => "last",
            Self::Parts => "parts",
            Self::All => "all",
        }
    }

    /// The one with this word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|along| along.word() == word)
    }
}

/// Where a value is looked for, and in which language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A JSONPath (RFC 9535), in the body: `$.items[0].id`. Gives the JSON value as it is.
    JsonPath,
    /// A JMESPath, in the body: `items[?price > `10`].id`. Of a list each of its members is one that is found.
    JmesPath,
    /// A regular expression, in the body: its first group that took part, else the whole match.
    Regex,
    /// A header's value, by the header's name.
    Header,
    /// The value of a cookie set by this answer, by the cookie's name.
    Cookie,
    /// A CSS selector, in the body as HTML: the element's text, or `…::attr(name)`.
    Css,
    /// An XPath 1.0, in the body as HTML: texts of elements, or what a function gives.
    XPath,
    /// The digest of the body in hexadecimal digits, by one of [`DIGESTS`](super::DIGESTS).
    Digest,
    /// The whole body as text; takes no expression.
    Body,
    /// The status as a number; takes no expression.
    Status,
}

impl Kind {
    /// All of them, in the order of the guide.
    pub const ALL: [Self; 10] = [
        Self::JsonPath,
        Self::JmesPath,
        Self::Regex,
        Self::Header,
        Self::Cookie,
        Self::Css,
        Self::XPath,
        Self::Digest,
        Self::Body,
        Self::Status,
    ];

    /// Its key in a scenario: `json`, `jmespath`, `regex`, `header`, `cookie`, `css`, `xpath`, `digest`, `body`, `status`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::JsonPath => "json",
            Self::JmesPath => "jmespath",
            Self::Regex => "regex",
            Self::Header => "header",
            Self::Cookie => "cookie",
            Self::Css => "css",
            Self::XPath => "xpath",
            Self::Digest => "digest",
            Self::Body => "body",
            Self::Status => "status",
        }
    }

    /// The kind with this key.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

/// Which of several matches is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Which {
    /// The first.
    #[default]
    First,
    /// The last.
    Last,
    /// This one, from 0.
    Nth(usize),
    /// One of them by chance, each time another.
    Random,
    /// All of them, as a JSON array; no match is not an empty array.
    Every,
    /// All of them as one text, with commas between; no match is not an empty text.
    Joined,
    /// How many there are; 0 if none.
    Count,
}

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
    /// What this JMESPath gives.
    JmesPath(String),
    /// The digest of the body, by its name.
    Digest(String),
    /// A part of what was asked and answered, but for the body and the status.
    Part(AnswerPart),
    /// The user's variable of this name, behind the extractions of the step.
    Variable(String),
    /// What the body is: `json`, `xml`.
    Format,
    /// The bytes of the body: `< 10 KiB`.
    Size,
    /// The bytes of the answer's head.
    HeadersSize,
    /// The bytes of the whole answer, as they came.
    TotalSize,
    /// The time of the request: `< 200ms`.
    Time,
}

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
            "jmespath" => Self::JmesPath(target.to_owned()),
            "digest" => Self::Digest(target.to_owned()),
            "variable" => Self::Variable(target.to_owned()),
            "format" => Self::Format,
            "headers_size" => Self::HeadersSize,
            "total_size" => Self::TotalSize,
            word => Self::Part(AnswerPart::of_word(word)?),
        })
    }

    /// Its word in a scenario: `status`, `header`, `json`, `size`, `headers`, and so on.
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
            Self::JmesPath(_) => "jmespath",
            Self::Digest(_) => "digest",
            Self::Part(part) => part.word(),
            Self::Variable(_) => "variable",
            Self::Format => "format",
            Self::Size => "size",
            Self::HeadersSize => "headers_size",
            Self::TotalSize => "total_size",
            Self::Time => "time",
        }
    }

    /// The name, path or selector behind its word; `None` of those that have none.
    #[must_use]
    pub fn target(&self) -> Option<&str> {
        match self {
            Self::Header(target)
            | Self::Cookie(target)
            | Self::Json(target)
            | Self::Css(target)
            | Self::XPath(target)
            | Self::JmesPath(target)
            | Self::Digest(target)
            | Self::Variable(target) => Some(target),
            Self::Status | Self::Body | Self::Part(_) | Self::Format | Self::Size | Self::HeadersSize | Self::TotalSize | Self::Time => {
                None
            }
        }
    }

    /// In which language it is looked for, of those that are.
    #[must_use]
    pub const fn kind(&self) -> Option<Kind> {
        match self {
            Self::Header(_) => Some(Kind::Header),
            Self::Cookie(_) => Some(Kind::Cookie),
            Self::Json(_) => Some(Kind::JsonPath),
            Self::Css(_) => Some(Kind::Css),
            Self::XPath(_) => Some(Kind::XPath),
            Self::JmesPath(_) => Some(Kind::JmesPath),
            Self::Digest(_) => Some(Kind::Digest),
            _ => None,
        }
    }
}
