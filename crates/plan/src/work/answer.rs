//! Parts of an answer as a scenario names them: where a value is looked for, which of several, what a check is about.
//!
//! Only the words. What finds a value in bytes is compiled, and keeps scratch memory; had the model held that, it could neither be
//! compared nor printed, and everybody who makes a model would rest on engines of regular expressions and selectors.
//!
//! Invariant: a word that is printed is read back as the same.

/// Where a value is looked for, and in which language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A JSONPath (RFC 9535), in the body: `$.items[0].id`. Gives the JSON value as it is.
    JsonPath,
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
    /// The whole body as text; takes no expression.
    Body,
    /// The status as a number; takes no expression.
    Status,
}

impl Kind {
    /// All of them, in the order of the guide.
    pub const ALL: [Self; 8] = [Self::JsonPath, Self::Regex, Self::Header, Self::Cookie, Self::Css, Self::XPath, Self::Body, Self::Status];

    /// Its key in a scenario: `json`, `regex`, `header`, `cookie`, `css`, `xpath`, `body`, `status`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::JsonPath => "json",
            Self::Regex => "regex",
            Self::Header => "header",
            Self::Cookie => "cookie",
            Self::Css => "css",
            Self::XPath => "xpath",
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
    /// All of them, as a JSON array; no match is not an empty array.
    Every,
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
    /// The bytes of the body: `< 10 KiB`.
    Size,
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

    /// In which language it is looked for, and the name, path or selector; `None` of those that have none.
    #[must_use]
    pub fn target(&self) -> Option<(Kind, &str)> {
        match self {
            Self::Header(name) => Some((Kind::Header, name)),
            Self::Cookie(name) => Some((Kind::Cookie, name)),
            Self::Json(path) => Some((Kind::JsonPath, path)),
            Self::Css(selector) => Some((Kind::Css, selector)),
            Self::XPath(path) => Some((Kind::XPath, path)),
            Self::Status | Self::Body | Self::Size | Self::Time => None,
        }
    }
}
