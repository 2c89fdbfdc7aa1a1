//! Where the content of an event is: a JSONPath of names and places alone, which leads to one value.
//!
//! The whole of JSONPath was the alternative. It finds lists, in a tree of the whole event; a path like this is followed while an event is
//! read once, for every token of every user.

use std::fmt;
use std::str::FromStr;

/// Where the content of an event is, such as `$.choices[0].delta.content`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventPath(Vec<EventStep>);

/// A step on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventStep {
    /// The value of this name.
    Name(String),
    /// The element at this place, from 0.
    Place(usize),
}

impl EventPath {
    /// From the event's JSON to its content.
    #[must_use]
    pub fn steps(&self) -> &[EventStep] {
        &self.0
    }
}

impl FromStr for EventPath {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        const WRONG: &str = "is not a path of names and places";
        let mut rest = text.strip_prefix('$').ok_or(WRONG)?;
        let mut steps = Vec::new();
        while !rest.is_empty() {
            if let Some(named) = rest.strip_prefix('.') {
                let end = named.find(['.', '[']).unwrap_or(named.len());
                let (name, after) = named.split_at(end);
                let is_plain = !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-'));
                steps.push(EventStep::Name(is_plain.then(|| name.to_owned()).ok_or(WRONG)?));
                rest = after;
                continue;
            }
            let (place, after) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')).ok_or(WRONG)?;
            let quoted = ['\'', '"'].into_iter().find_map(|quote| place.strip_prefix(quote)?.strip_suffix(quote));
            steps.push(match quoted {
                Some(name) if !name.contains(['\'', '"', '\\']) => EventStep::Name(name.to_owned()),
                Some(_) => return Err(WRONG),
                None if place.starts_with('+') => return Err(WRONG),
                None => EventStep::Place(place.parse().map_err(|_| WRONG)?),
            });
            rest = after;
        }
        Ok(Self(steps))
    }
}

impl fmt::Display for EventPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("$")?;
        self.0.iter().try_for_each(|step| match step {
            EventStep::Name(name) => write!(f, "['{name}']"),
            EventStep::Place(place) => write!(f, "[{place}]"),
        })
    }
}

/// What counts as a token of a language model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenCount {
    /// Each event is one.
    Events,
    /// A word of the text of events.
    Words,
    /// What the answer itself says at this path: how many there were.
    Reported(EventPath),
}

/// Where the APIs of language models say how many tokens an answer had.
const USAGE: &str = "$.usage.completion_tokens";

impl FromStr for TokenCount {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        match text {
            "events" => Ok(Self::Events),
            "words" => Ok(Self::Words),
            "usage" => USAGE.parse().map(Self::Reported),
            path if path.starts_with('$') => path.parse().map(Self::Reported),
            _ => Err("is none of events, words, usage and a path"),
        }
    }
}

impl fmt::Display for TokenCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Events => f.write_str("events"),
            Self::Words => f.write_str("words"),
            Self::Reported(path) => path.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_words_or_stand_at_a_path() {
        for (text, written) in [
            ("events", "events"),
            ("words", "words"),
            ("usage", "$['usage']['completion_tokens']"),
            ("$.usage.output_tokens", "$['usage']['output_tokens']"),
        ] {
            let count: TokenCount = text.parse().unwrap();
            assert_eq!((count.to_string(), written.parse()), (written.to_owned(), Ok(count)));
        }
        for text in ["", "Words", "tokens", "$..a"] {
            assert!(text.parse::<TokenCount>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_path_of_names_and_places_is_read_and_written() {
        for (text, written) in [
            ("$", "$"),
            ("$.choices[0].delta.content", "$['choices'][0]['delta']['content']"),
            ("$['a b'][\"c.d\"].e-f[12]", "$['a b']['c.d']['e-f'][12]"),
        ] {
            let path: EventPath = text.parse().unwrap();
            assert_eq!(path.to_string(), written);
            assert_eq!(written.parse(), Ok(path));
        }
        for text in ["", "choices", "$.", "$..a", "$.*", "$[*]", "$[-1]", "$[+1]", "$[0", "$[?@.a]", "$['a]", "$.a b", "$[]"] {
            assert!(text.parse::<EventPath>().is_err(), "{text}");
        }
    }
}
