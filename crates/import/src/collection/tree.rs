//! A document of JSON or YAML as a tree whose keys keep their order.
//!
//! Collections and descriptions are read loosely: of what stands at a key there are several shapes, and one that nobody has seen before
//! must not make the rest unreadable. Types made for one shape each would refuse the file. Order matters, since requests are sent in
//! it. YAML is JSON with other letters here: what a collection says in either is read by the same code.
//!
//! Bounded: a document has a greatest depth and number of values, those that YAML's anchors repeat included.

use std::collections::BTreeMap;
use std::fmt;

use saphyr_parser::{Event, Parser, ScalarStyle, StrInput};
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};

use plan::Wording;

use super::ReadError;

/// A value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tree {
    Null,
    Truth(bool),
    /// As it is written.
    Number(String),
    Text(String),
    List(Vec<Tree>),
    Map(Vec<(String, Tree)>),
}

/// Values stand in each other at most so deep; deeper ones are refused by the readers of JSON and YAML alike.
const DEPTH_MAX: usize = 96;
/// A document has at most so many values.
const VALUES_MAX: usize = 4_000_000;
/// A value that nobody finds.
static NOTHING: Tree = Tree::Null;

impl Tree {
    /// Reads JSON if it begins like JSON, else YAML.
    pub(crate) fn read(text: &str) -> Result<Self, ReadError> {
        if text.trim_start().starts_with(['{', '[']) {
            // Flow style of YAML begins alike, and its keys have no quotation marks.
            return Self::read_json(text)
                .or_else(|why| if why.message.marked().contains("key must be") { Self::read_yaml(text) } else { Err(why) });
        }
        Self::read_yaml(text)
    }

    pub(crate) fn read_json(text: &str) -> Result<Self, ReadError> {
        let mut left = VALUES_MAX;
        let mut document = serde_json::Deserializer::from_str(text);
        let told = |why: serde_json::Error| {
            let message = why.to_string();
            let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
            ReadError::at(why.line(), why.column(), format!("this is no JSON: {message}"))
        };
        let tree = Seed { left: &mut left, depth: 0 }.deserialize(&mut document).map_err(told)?;
        document.end().map_err(told)?;
        Ok(tree)
    }

    pub(crate) fn read_yaml(text: &str) -> Result<Self, ReadError> {
        let read = |text: &str| {
            Yaml { parser: Parser::new_from_str(text), anchors: BTreeMap::new(), left: VALUES_MAX, line: 1, column: 1 }.document()
        };
        // Of what most readers take, ours refuses one thing: a bracket that closes less indented than what it opened in.
        read(text).or_else(|why| match with_brackets_indented(text) {
            Some(indented) => read(&indented).map_err(|_| why),
            None => Err(why),
        })
    }

    /// What stands at a key; nothing where there is none.
    pub(crate) fn at(&self, key: &str) -> &Self {
        match self {
            Self::Map(entries) => entries.iter().find(|(name, _)| name == key).map_or(&NOTHING, |(_, tree)| tree),
            _ => &NOTHING,
        }
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        matches!(self, Self::Map(entries) if entries.iter().any(|(name, _)| name == key))
    }

    pub(crate) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// A text as it stands.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A text, or what a number or a truth is as one; nothing becomes an empty text.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Null | Self::List(_) | Self::Map(_) => String::new(),
            Self::Truth(truth) => truth.to_string(),
            Self::Number(text) | Self::Text(text) => text.clone(),
        }
    }

    pub(crate) fn is_true(&self) -> bool {
        match self {
            Self::Truth(truth) => *truth,
            Self::Text(text) => text == "true",
            _ => false,
        }
    }

    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
            _ => None,
        }
    }

    pub(crate) fn list(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    pub(crate) fn entries(&self) -> &[(String, Self)] {
        match self {
            Self::Map(entries) => entries,
            _ => &[],
        }
    }

    /// As JSON on one line.
    pub(crate) fn json(&self) -> String {
        let mut text = String::new();
        self.write_json(&mut text);
        text
    }

    fn write_json(&self, into: &mut String) {
        match self {
            Self::Null => *into += "null",
            Self::Truth(truth) => *into += if *truth { "true" } else { "false" },
            Self::Number(number) => *into += number,
            Self::Text(text) => *into += &json_string(text),
            Self::List(items) => {
                into.push('[');
                for (place, item) in items.iter().enumerate() {
                    *into += if place > 0 { "," } else { "" };
                    item.write_json(into);
                }
                into.push(']');
            }
            Self::Map(entries) => {
                into.push('{');
                for (place, (key, item)) in entries.iter().enumerate() {
                    *into += if place > 0 { "," } else { "" };
                    *into += &json_string(key);
                    into.push(':');
                    item.write_json(into);
                }
                into.push('}');
            }
        }
    }
}

/// In quotation marks.
pub(crate) fn json_string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

struct Seed<'l> {
    left: &'l mut usize,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = Tree;

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<Tree, D::Error> {
        if *self.left == 0 {
            return Err(D::Error::custom(format_args!("it holds more than {VALUES_MAX} values")));
        }
        if self.depth > DEPTH_MAX {
            return Err(D::Error::custom(format_args!("it stands more than {DEPTH_MAX} deep")));
        }
        *self.left -= 1;
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = Tree;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Tree, E> {
        Ok(Tree::Truth(truth))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Tree, E> {
        Ok(Tree::Number(number.to_string()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Tree, E> {
        Ok(Tree::Number(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Tree, E> {
        Ok(serde_json::Number::from_f64(number).map_or(Tree::Null, |number| Tree::Number(number.to_string())))
    }

    fn visit_str<E>(self, text: &str) -> Result<Tree, E> {
        Ok(Tree::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Tree, E> {
        Ok(Tree::Text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Tree, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(Seed { left: &mut *self.left, depth: self.depth + 1 })? {
            items.push(item);
        }
        Ok(Tree::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key::<String>()? {
            entries.push((key, map.next_value_seed(Seed { left: &mut *self.left, depth: self.depth + 1 })?));
        }
        Ok(Tree::Map(entries))
    }
}

struct Yaml<'a> {
    parser: Parser<'a, StrInput<'a>>,
    anchors: BTreeMap<usize, Tree>,
    left: usize,
    /// Of the last event.
    line: usize,
    column: usize,
}

impl<'a> Yaml<'a> {
    fn next(&mut self) -> Result<Event<'a>, ReadError> {
        match self.parser.next_event() {
            None => Ok(Event::StreamEnd),
            Some(Ok((event, span))) => {
                (self.line, self.column) = (span.start.line(), span.start.col() + 1);
                Ok(event)
            }
            Some(Err(error)) => {
                Err(ReadError::at(error.marker().line(), error.marker().col() + 1, format!("not valid YAML: {}", error.info())))
            }
        }
    }

    fn wrong(&self, message: impl Into<Wording>) -> ReadError {
        ReadError::at(self.line, self.column, message)
    }

    /// The first document.
    fn document(mut self) -> Result<Tree, ReadError> {
        loop {
            match self.next()? {
                Event::Nothing | Event::StreamStart | Event::DocumentStart(_) | Event::DocumentEnd => {}
                Event::StreamEnd => return Ok(Tree::Null),
                event => return self.value(event, 0),
            }
        }
    }

    fn value(&mut self, event: Event<'a>, depth: usize) -> Result<Tree, ReadError> {
        if depth > DEPTH_MAX {
            return Err(self.wrong(format!("this stands more than {DEPTH_MAX} deep")));
        }
        self.spend(1)?;
        let (anchor, tree) = match event {
            Event::Alias(id) => {
                let Some(tree) = self.anchors.get(&id).cloned() else { return Err(self.wrong("this repeats something that holds itself")) };
                self.spend(count(&tree))?;
                return Ok(tree);
            }
            Event::Scalar(text, ScalarStyle::Plain, anchor, tag) if tag.is_none() => (anchor, plain(&text)),
            Event::Scalar(text, _, anchor, _) => (anchor, Tree::Text(text.into_owned())),
            Event::SequenceStart(anchor, _) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        Event::SequenceEnd => break,
                        event => items.push(self.value(event, depth + 1)?),
                    }
                }
                (anchor, Tree::List(items))
            }
            Event::MappingStart(anchor, _) => {
                let mut entries: Vec<(String, Tree)> = Vec::new();
                let mut merged = Vec::new();
                loop {
                    let key = match self.next()? {
                        Event::MappingEnd => break,
                        event => self.value(event, depth + 1)?,
                    };
                    let event = self.next()?;
                    let tree = self.value(event, depth + 1)?;
                    match (key, tree) {
                        // Of YAML 1.1, and written by hand still.
                        (Tree::Text(key), Tree::Map(more)) if key == "<<" => merged.extend(more),
                        (key, tree) => entries.push((key.words(), tree)),
                    }
                }
                for (key, tree) in merged {
                    if !entries.iter().any(|(known, _)| *known == key) {
                        entries.push((key, tree));
                    }
                }
                (anchor, Tree::Map(entries))
            }
            _ => return Err(self.wrong("the document ends in the middle")),
        };
        if anchor > 0 {
            self.spend(count(&tree))?;
            self.anchors.insert(anchor, tree.clone());
        }
        Ok(tree)
    }

    fn spend(&mut self, values: usize) -> Result<(), ReadError> {
        match self.left.checked_sub(values) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(self.wrong(format!("the file holds more than {VALUES_MAX} values, those that anchors repeat included"))),
        }
    }
}

/// YAML in which each bracket that closes at the beginning of a line stands at least as far in as the line before; `None` if that makes it
/// more than twice as long.
fn with_brackets_indented(text: &str) -> Option<String> {
    let mut indented = String::with_capacity(text.len());
    let mut before = "";
    for line in text.split_inclusive('\n') {
        let content = line.trim_start_matches(' ');
        let indent = &line[..line.len() - content.len()];
        if content.starts_with(['}', ']']) && indent.len() < before.len() {
            indented += before;
            indented += content;
        } else {
            indented += line;
            before = if content.trim_end().is_empty() { before } else { indent };
        }
        if indented.len() > 2 * text.len() {
            return None;
        }
    }
    Some(indented)
}

fn count(tree: &Tree) -> usize {
    1 + match tree {
        Tree::List(items) => items.iter().map(count).sum(),
        Tree::Map(entries) => entries.iter().map(|(_, tree)| count(tree)).sum(),
        _ => 0,
    }
}

/// A scalar without quotation marks, by the core schema of YAML 1.2.
fn plain(text: &str) -> Tree {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Tree::Null,
        "true" | "True" | "TRUE" => Tree::Truth(true),
        "false" | "False" | "FALSE" => Tree::Truth(false),
        _ if serde_json::from_str::<serde_json::Number>(text).is_ok() => Tree::Number(text.to_owned()),
        _ => Tree::Text(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn json_and_yaml_are_the_same_tree_and_keys_keep_their_order() {
        let json = Tree::read("{\"z\": [1, -2.5, true, null], \"a\": {\"k\": \"v\\u00e9\"}}").unwrap();
        let yaml = Tree::read("z: [1, -2.5, true, ~]\na:\n  k: vé\n").unwrap();
        assert_eq!(json, yaml);
        assert_eq!(json.json(), "{\"z\":[1,-2.5,true,null],\"a\":{\"k\":\"vé\"}}");
        assert_eq!(json.at("a").at("k").text(), Some("vé"));
        assert!(json.at("b").at("c").is_null());
        let merged = Tree::read("base: &b {a: 1, c: 2}\nmore: {<<: *b, a: 3}\n").unwrap();
        assert_eq!(merged.at("more").json(), "{\"a\":3,\"c\":2}");
    }

    #[test]
    fn a_bracket_may_close_less_indented_than_what_it_opened_in() {
        // As in api-with-examples.yaml of the OpenAPI Initiative.
        let text = "paths:\n  /:\n    examples:\n      foo:\n        value:\n          {\n            \"versions\": [\n              {\"id\": \"v2.0\"}\n          ]\n        }\n      bar: 1\n";
        let tree = Tree::read(text).unwrap();
        assert_eq!(tree.at("paths").at("/").at("examples").json(), r#"{"foo":{"value":{"versions":[{"id":"v2.0"}]}},"bar":1}"#);
    }

    #[test]
    fn indenting_brackets_takes_no_more_than_twice_the_text() {
        let deep = format!("{}x\n{}", " ".repeat(1_000), "}\n".repeat(10_000));
        assert_eq!(with_brackets_indented(&deep), None);
    }

    #[test]
    fn mistakes_have_their_place() {
        let why = Tree::read("{\"a\": 1,\n \"b\": }").unwrap_err();
        assert_eq!(why.at, Some((2, 7)));
        let why = Tree::read("a: 1\nb: [1, 2\nc: 3\n").unwrap_err();
        assert!(why.at.is_some_and(|(line, _)| line >= 2), "{why:?}");
    }

    #[test]
    fn depth_and_repetition_end() {
        assert!(Tree::read(&"[".repeat(100_000)).is_err());
        assert!(Tree::read(&"{\"a\":".repeat(100_000)).is_err());
        assert!(Tree::read_yaml(&"- ".repeat(10_000)).is_err());
        let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..9 {
            let before = level - 1;
            laughs += &format!("a{level}: &a{level} [{}]\n", vec![format!("*a{before}"); 10].join(", "));
        }
        assert!(Tree::read(&laughs).unwrap_err().message.marked().contains("more than"));
    }

    proptest! {
        #[test]
        fn no_text_makes_reading_panic(text in "[-:a-c \\n\\[\\]{}&*!|>'\"#%@,?<\\t0-9]{0,60}") {
            let _ = Tree::read(&text);
            let _ = Tree::read_json(&text);
        }
    }
}
