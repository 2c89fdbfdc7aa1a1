//! What an event has at a path of its JSON: read once, from front to back, and nothing kept of it.

use std::fmt;

use plan::EventStep;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// What stands at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// Nothing, null, or an empty text.
    Nothing,
    /// A text in which so many words begin.
    Text { words: u64 },
    /// A whole number, 0 or more.
    Number(u64),
    /// Any other value.
    Something,
}

/// What JSON has at the end of this path; what is no JSON has nothing. Texts of one answer follow each other: `in_word` is whether the one
/// before ended within a word, which then goes on.
pub(super) fn at(json: &[u8], path: &[EventStep], in_word: &mut bool) -> Content {
    Way { path, in_word }.deserialize(&mut serde_json::Deserializer::from_slice(json)).unwrap_or(Content::Nothing)
}

/// What is left of the way to the content.
struct Way<'a> {
    path: &'a [EventStep],
    in_word: &'a mut bool,
}

impl Way<'_> {
    fn here(&self, content: Content) -> Content {
        if self.path.is_empty() { content } else { Content::Nothing }
    }
}

impl<'de> DeserializeSeed<'de> for Way<'_> {
    type Value = Content;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Content, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Way<'_> {
    type Value = Content;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Content, E> {
        Ok(Content::Nothing)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Content, E> {
        Ok(self.here(Content::Something))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Content, E> {
        Ok(self.here(Content::Something))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Content, E> {
        Ok(self.here(Content::Number(number)))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Content, E> {
        Ok(self.here(Content::Something))
    }

    fn visit_str<E>(self, text: &str) -> Result<Content, E> {
        if !self.path.is_empty() || text.is_empty() {
            return Ok(Content::Nothing);
        }
        let mut words = 0;
        for letter in text.chars() {
            let is_space = letter.is_whitespace();
            words += u64::from(!is_space && !*self.in_word);
            *self.in_word = !is_space;
        }
        Ok(Content::Text { words })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Content, A::Error> {
        let mut found = self.here(Content::Something);
        let wanted = if let Some(EventStep::Place(place)) = self.path.first() { Some(*place) } else { None };
        for place in 0.. {
            if Some(place) == wanted {
                let way = Way { path: &self.path[1..], in_word: self.in_word };
                let Some(content) = elements.next_element_seed(way)? else { break };
                found = content;
            } else if elements.next_element::<IgnoredAny>()?.is_none() {
                break;
            }
        }
        Ok(found)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Content, A::Error> {
        let mut found = self.here(Content::Something);
        let wanted = if let Some(EventStep::Name(name)) = self.path.first() { Some(name.as_str()) } else { None };
        while let Some(is_it) = fields.next_key_seed(IsCalled(wanted))? {
            if is_it {
                found = fields.next_value_seed(Way { path: &self.path[1..], in_word: self.in_word })?;
            } else {
                fields.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// Whether a name is the one on the way.
struct IsCalled<'a>(Option<&'a str>);

impl<'de> DeserializeSeed<'de> for IsCalled<'_> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, name: D) -> Result<bool, D::Error> {
        name.deserialize_str(self)
    }
}

impl Visitor<'_> for IsCalled<'_> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<bool, E> {
        Ok(self.0 == Some(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::EventPath;

    fn has_content(json: &[u8], path: &[EventStep]) -> bool {
        at(json, path, &mut false) != Content::Nothing
    }

    #[test]
    fn words_begin_where_none_was_before_whatever_event_they_are_in() {
        let path: EventPath = "$.a".parse().unwrap();
        let mut in_word = false;
        let events = [r#"{"a":"Hel"}"#, r#"{"a":"lo wor"}"#, r#"{"b":1}"#, r#"{"a":"ld"}"#, r#"{"a":" \n"}"#, r#"{"a":"and so\ton"}"#];
        let words = events.map(|event| match at(event.as_bytes(), path.steps(), &mut in_word) {
            Content::Text { words } => words,
            _ => 0,
        });
        assert_eq!(words, [1, 1, 0, 0, 0, 3]);
        for (json, expected) in
            [("7", Content::Number(7)), ("-7", Content::Something), ("7.5", Content::Something), ("\"7\"", Content::Text { words: 1 })]
        {
            assert_eq!(at(format!("{{\"a\":{json}}}").as_bytes(), path.steps(), &mut false), expected, "{json}");
        }
    }

    #[test]
    fn content_is_a_value_at_the_end_of_the_path() {
        let path: EventPath = "$.choices[0].delta.content".parse().unwrap();
        for (json, expected) in [
            (r#"{"id":"1","choices":[{"index":0,"delta":{"role":"assistant","content":"a"}},{"delta":{}}],"usage":null}"#, true),
            (r#" {"choices":[{"delta":{"content":"\u00e9\n"}}]}"#, true),
            (r#"{"choices":[{"delta":{"content":7}}]}"#, true),
            (r#"{"choices":[{"delta":{"content":{"parts":[]}}}]}"#, true),
            (r#"{"choices":[{"delta":{"content":""}}]}"#, false),
            (r#"{"choices":[{"delta":{"content":null}}]}"#, false),
            (r#"{"choices":[{"delta":{}},{"delta":{"content":"a"}}]}"#, false),
            (r#"{"choices":[],"usage":{"completion_tokens":7}}"#, false),
            (r#"{"choices":{"0":{"delta":{"content":"a"}}}}"#, false),
            (r#"{"delta":{"content":"a"}}"#, false),
            (r#"{"choices":[{"delta":{"content":"a"#, false),
            ("[DONE]", false),
            ("a", false),
            ("7", false),
            ("", false),
        ] {
            assert_eq!(has_content(json.as_bytes(), path.steps()), expected, "{json}");
        }
        let whole: EventPath = "$".parse().unwrap();
        for (json, expected) in [("\"a\"", true), ("{}", true), ("[1]", true), ("false", true), ("null", false), ("", false)] {
            assert_eq!(has_content(json.as_bytes(), whole.steps()), expected, "{json}");
        }
    }
}
