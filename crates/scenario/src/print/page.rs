//! A page of YAML: keys, lists and comments, so that texts are read back as they were and look as a person would write them.
//!
//! Most values of a scenario are words, paths and numbers, and quotation marks around each of them make a page that nobody reads. But
//! YAML takes `no` for a truth and `1e3` for a number, and each reader takes others. So what is left bare is what no reader takes for
//! anything else, with room to spare; several lines stand as lines; and the rest is quoted, in the way that needs fewest escapes. A
//! library that writes YAML was the alternative: each of them has another idea of what needs quotation marks, and none of comments.
//!
//! Invariant: what is written reads back as the same text.

/// A value of a page.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    /// Written as it is: a number, a truth, or what stands on one line in brackets.
    Bare(String),
    /// A text.
    Text(String),
    /// Keys and values.
    Map(Map),
    /// One after the other.
    List(Vec<Value>),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Self {
        Self::Map(map)
    }
}

impl Value {
    /// A number, which its reader takes for one; any other text as text.
    pub(super) fn number(text: String) -> Self {
        let is_number = !text.is_empty() && text.len() <= 18 && text.bytes().all(|byte| byte.is_ascii_digit());
        if is_number && (text == "0" || !text.starts_with('0')) { Self::Bare(text) } else { Self::Text(text) }
    }

    fn is_block(&self) -> bool {
        match self {
            Self::Bare(_) | Self::Text(_) => false,
            Self::Map(_) | Self::List(_) => true,
        }
    }
}

/// Keys, each with its value and the comments above it, in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Map(Vec<(Vec<String>, String, Value)>);

impl Map {
    pub(super) fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.0.push((Vec::new(), key.to_owned(), value.into()));
    }

    /// The same of something that may be missing.
    pub(super) fn put_some(&mut self, key: &str, value: Option<impl Into<Value>>) {
        value.into_iter().for_each(|value| self.put(key, value));
    }

    /// The same of keys and lists, of which there may be none.
    pub(super) fn put_all(&mut self, key: &str, value: impl Into<Value>) {
        let value = value.into();
        if !matches!(&value, Value::Map(Map(entries)) if entries.is_empty()) && !matches!(&value, Value::List(values) if values.is_empty())
        {
            self.put(key, value);
        }
    }

    /// Comments above its first key.
    pub(super) fn note(&mut self, notes: impl IntoIterator<Item = String>) {
        if let Some((above, ..)) = self.0.first_mut() {
            above.splice(0..0, notes);
        }
    }
}

/// The whole page: sections with a blank line before each, and comments above and below.
pub(super) fn page(top: &[String], sections: &Map, end: &[String]) -> String {
    let mut text = String::new();
    comments(&mut text, top, 0);
    for (place, section) in sections.0.iter().enumerate() {
        if section.2.is_block() || (place == 0 && !top.is_empty()) {
            text.push('\n');
        }
        entry(&mut text, section, 0);
    }
    if !end.is_empty() {
        text.push('\n');
    }
    comments(&mut text, end, 0);
    text
}

/// A comment a line, so many levels of two blanks deep.
fn comments(out: &mut String, notes: &[String], depth: usize) {
    let is_break = |letter: char| letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}');
    for note in notes {
        let plain: String = note.chars().map(|letter| if is_break(letter) { ' ' } else { letter }).collect();
        *out += &"  ".repeat(depth);
        *out += format!("# {plain}").trim_end();
        out.push('\n');
    }
}

/// A key so many levels deep, and what stands after it.
fn entry(out: &mut String, (notes, key, value): &(Vec<String>, String, Value), depth: usize) {
    comments(out, notes, depth);
    *out += &"  ".repeat(depth);
    keyed(out, key, value, depth);
}

fn keyed(out: &mut String, key: &str, value: &Value, depth: usize) {
    *out += &scalar(key, 0);
    out.push(':');
    match value {
        Value::Bare(text) => *out += &format!(" {text}\n"),
        Value::Text(text) => *out += &format!(" {}\n", scalar(text, depth + 1)),
        // Nothing behind a key is nothing, and no list.
        Value::Map(Map(entries)) if entries.is_empty() => *out += " {}\n",
        Value::List(values) if values.is_empty() => *out += " []\n",
        Value::Map(Map(entries)) => {
            out.push('\n');
            entries.iter().for_each(|inner| entry(out, inner, depth + 1));
        }
        Value::List(values) => {
            out.push('\n');
            values.iter().for_each(|value| listed(out, value, depth + 1));
        }
    }
}

/// One of a list whose marks stand so many levels deep.
fn listed(out: &mut String, value: &Value, depth: usize) {
    let mark = format!("{}- ", "  ".repeat(depth));
    match value {
        Value::Bare(text) => *out += &format!("{mark}{text}\n"),
        Value::Text(text) => *out += &format!("{mark}{}\n", scalar(text, depth + 1)),
        Value::Map(Map(entries)) => {
            let Some(((notes, key, value), others)) = entries.split_first() else {
                *out += &format!("{mark}{{}}\n");
                return;
            };
            comments(out, notes, depth);
            *out += &mark;
            keyed(out, key, value, depth + 1);
            others.iter().for_each(|other| entry(out, other, depth + 1));
        }
        Value::List(_) => unreachable!("no scenario has a list in a list"),
    }
}

/// A text in the place of a value whose key stands one level less than `depth` deep; with 0 in the place of a key, or on one line.
fn scalar(text: &str, depth: usize) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    if depth > 0 && is_for_a_block(text) {
        let indent = "  ".repeat(depth);
        let mut block = if text.ends_with('\n') { "|".to_owned() } else { "|-".to_owned() };
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            block.push('\n');
            if !line.is_empty() {
                block += &indent;
                block += line;
            }
        }
        return block;
    }
    if text.chars().all(is_printable) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let mut quoted = "\"".to_owned();
    for letter in text.chars() {
        match letter {
            '"' => quoted += "\\\"",
            '\\' => quoted += "\\\\",
            '\n' => quoted += "\\n",
            '\r' => quoted += "\\r",
            '\t' => quoted += "\\t",
            letter if is_printable(letter) => quoted.push(letter),
            letter if u32::from(letter) <= 0xFF => quoted += &format!("\\x{:02x}", u32::from(letter)),
            letter if u32::from(letter) <= 0xFFFF => quoted += &format!("\\u{:04x}", u32::from(letter)),
            letter => quoted += &format!("\\U{:08x}", u32::from(letter)),
        }
    }
    quoted + "\""
}

/// What needs no quotation marks, with room to spare: nobody minds a pair too many.
fn is_plain(text: &str) -> bool {
    let begins = text.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '/');
    let inside = |letter: char| letter.is_ascii_alphanumeric() || " /_.+=;,()?&$^~-".contains(letter);
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    is_time(text)
        || begins
            && !text.ends_with(' ')
            && !words.contains(&text.to_ascii_lowercase().as_str())
            && text
                .char_indices()
                .all(|(at, letter)| inside(letter) || letter == ':' && text[at + 1..].starts_with(|next: char| next != ' '))
}

/// `30s`, `1m30s`, `1s..3s`.
fn is_time(text: &str) -> bool {
    let is_one = |text: &str| {
        let end = text.trim_start_matches(|letter: char| letter.is_ascii_digit()).trim_start_matches('.');
        text.starts_with(|letter: char| letter.is_ascii_digit()) && ["ns", "us", "ms", "s", "m", "h"].iter().any(|unit| end.ends_with(unit))
    };
    let is_part = |letter: char| letter.is_ascii_digit() || ".numsh".contains(letter);
    text.chars().all(is_part) && text.split("..").all(is_one)
}

/// Several lines that read better as lines.
fn is_for_a_block(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    text.contains('\n')
        && !text.starts_with(char::is_whitespace)
        && !body.ends_with(char::is_whitespace)
        && text.chars().all(|letter| letter == '\n' || is_printable(letter))
}

/// What may stand in YAML as it is, without the breaks and marks that readers disagree about.
fn is_printable(letter: char) -> bool {
    !letter.is_control()
        && !matches!(letter, '\u{85}' | '\u{a0}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' | '\u{e000}'..='\u{f8ff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::yaml;

    #[test]
    fn only_what_nobody_takes_for_something_else_is_bare() {
        for (text, written) in [
            ("/get_result?a=1&b=2", "/get_result?a=1&b=2"),
            ("GET /items/{id}", "'GET /items/{id}'"),
            ("no", "'no'"),
            ("17", "'17'"),
            ("1.5s", "1.5s"),
            ("1m30s..2m", "1m30s..2m"),
            ("1.5", "'1.5'"),
            ("it's", "'it''s'"),
            ("a: b", "'a: b'"),
            ("a\tb", "\"a\\tb\""),
        ] {
            assert_eq!(scalar(text, 0), written);
        }
        assert_eq!(scalar("a\nb", 1), "|-\n  a\n  b");
        assert_eq!(scalar("a\nb", 0), "\"a\\nb\"");
    }

    #[test]
    fn a_list_and_a_mapping_that_hold_nothing_are_read_back_as_such() {
        let mut sections = Map::default();
        sections.put("list", Value::List(Vec::new()));
        sections.put("map", Map::default());
        sections.put("within", Value::List(vec![Map::default().into()]));
        let written = page(&[], &sections, &[]);
        let root = yaml::parse(&written, &mut Vec::new()).unwrap();
        let yaml::Value::Map(entries) = &root.value else { panic!("{written}") };
        let is_empty = |node: &yaml::Node| match &node.value {
            yaml::Value::List(values) => values.is_empty(),
            yaml::Value::Map(entries) => entries.is_empty(),
            _ => false,
        };
        assert!(is_empty(&entries[0].1) && is_empty(&entries[1].1), "{written}");
        let yaml::Value::List(within) = &entries[2].1.value else { panic!("{written}") };
        assert!(is_empty(&within[0]), "{written}");
    }

    proptest! {
        #[test]
        fn every_text_is_read_back_as_it_was(text in "[-a-c \n\t\r'\":#{}\\[\\]&*!|>%@,?`~0-9é\u{7f}\u{85}\u{2028}\u{feff}]{0,24}") {
            let mut inner = Map::default();
            inner.put("key", text.clone());
            inner.put("after", "y");
            inner.put("list", Value::List(vec![Value::from(text.clone()), Value::from("z")]));
            let mut sections = Map::default();
            sections.put("inner", inner);
            let text_of = page(&[], &sections, &[]);
            let root = yaml::parse(&text_of, &mut Vec::new()).unwrap();
            let yaml::Value::Map(sections) = &root.value else { panic!("{text_of}") };
            let yaml::Value::Map(entries) = &sections[0].1.value else { panic!("{text_of}") };
            let read = |node: &yaml::Node| match &node.value {
                yaml::Value::Scalar { text, .. } => text.clone(),
                other => panic!("{other:?} in {text_of}"),
            };
            let yaml::Value::List(listed) = &entries[2].1.value else { panic!("{text_of}") };
            prop_assert_eq!([read(&entries[0].1), read(&entries[1].1)], [text.clone(), "y".to_owned()], "{}", text_of);
            prop_assert_eq!([read(&listed[0]), read(&listed[1])], [text, "z".to_owned()], "{}", text_of);
        }
    }
}
