//! A YAML document as a tree of nodes that know where they stand.
//!
//! Deserialising straight into types stops at the first mistake, and knows its place only. A tree with places lets the reader
//! go on and tell all of them, each with its line. Only the parser is a dependency: it turns text into events.
//!
//! Bounded: anchors may repeat what they name only so often, and nodes stand in each other only so deep, so that no file
//! ("billion laughs") takes memory or stack without end.

use std::collections::{BTreeMap, HashMap};

use saphyr_parser::{Event, Parser, ScalarStyle, Span, Tag};

/// Where something stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Spot {
    /// From 1.
    pub(crate) line: usize,
    /// In characters, from 0.
    pub(crate) column: usize,
    /// In characters; 1 for what goes over several lines.
    pub(crate) length: usize,
}

/// A value and its place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) spot: Spot,
    pub(crate) value: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// A plain scalar may be a number, a truth or nothing; a quoted one or a block is text.
    Scalar {
        text: String,
        style: Style,
    },
    List(Vec<Node>),
    Map(Vec<(Key, Node)>),
    /// Something that is none of these, which was told.
    Told,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    Plain,
    Quoted,
    Block,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) spot: Spot,
    pub(crate) text: String,
}

/// What is no YAML that can be read: where, why, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) spot: Spot,
    pub(crate) message: String,
    pub(crate) help: String,
}

/// Nodes stand in each other at most so deep.
const DEPTH_MAX: usize = 64;
/// A document has at most so many nodes, those that anchors repeat included.
const NODES_MAX: usize = 200_000;

/// Reads the only document of a text; `None` if it holds nothing. Keys that stand twice are told in `wrong`.
pub(crate) fn parse(text: &str, wrong: &mut Vec<Wrong>) -> Option<Node> {
    let mut reading = Reading { text, parser: Parser::new_from_str(text), anchors: BTreeMap::new(), nodes: 0, wrong, end: Spot::default() };
    match reading.document() {
        Ok(node) => node,
        Err(stopped) => {
            wrong.push(stopped);
            None
        }
    }
}

struct Reading<'a> {
    text: &'a str,
    parser: Parser<'a, saphyr_parser::StrInput<'a>>,
    anchors: BTreeMap<usize, Node>,
    nodes: usize,
    wrong: &'a mut Vec<Wrong>,
    /// Where the last event ended.
    end: Spot,
}

impl<'a> Reading<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Spot), Wrong> {
        match self.parser.next_event() {
            None => Ok((Event::StreamEnd, self.end)),
            Some(Ok((event, span))) => {
                let spot = spot(span);
                self.end = spot;
                Ok((event, spot))
            }
            Some(Err(error)) => {
                let marker = error.marker();
                let line = self.text.lines().nth(marker.line().max(1) - 1).unwrap_or_default();
                Err(Wrong {
                    spot: Spot { line: marker.line().max(1), column: marker.col(), length: 1 },
                    message: format!("not valid YAML: {}", error.info()),
                    help: help_for(error.info(), line).to_owned(),
                })
            }
        }
    }

    fn document(&mut self) -> Result<Option<Node>, Wrong> {
        let mut found = None;
        loop {
            let (event, spot) = self.next()?;
            match event {
                Event::Nothing | Event::StreamStart | Event::DocumentEnd => {}
                Event::StreamEnd => return Ok(found),
                Event::DocumentStart(_) if found.is_some() => {
                    return Err(Wrong {
                        spot,
                        message: "a second document begins here".to_owned(),
                        help: "keep one scenario a file".to_owned(),
                    });
                }
                Event::DocumentStart(_) => {}
                event => found = Some(self.node(event, spot, 0)?),
            }
        }
    }

    fn node(&mut self, event: Event<'a>, spot: Spot, depth: usize) -> Result<Node, Wrong> {
        self.nodes += 1;
        if depth > DEPTH_MAX || self.nodes > NODES_MAX {
            let message = if depth > DEPTH_MAX {
                format!("this stands more than {DEPTH_MAX} deep")
            } else {
                format!("the file holds more than {NODES_MAX} values, those that anchors repeat included")
            };
            return Err(Wrong { spot, message, help: "write it with less".to_owned() });
        }
        let (anchor, value) = match event {
            Event::Alias(id) => {
                let Some(node) = self.anchors.get(&id).cloned() else {
                    return Err(Wrong {
                        spot,
                        message: "this repeats something that holds itself".to_owned(),
                        help: "write it out".to_owned(),
                    });
                };
                self.nodes += node.count();
                return Ok(node);
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.tagged(spot, tag.as_deref());
                let style = match style {
                    ScalarStyle::Plain => Style::Plain,
                    ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted => Style::Quoted,
                    ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
                };
                (anchor, Value::Scalar { text: text.into_owned(), style })
            }
            Event::SequenceStart(anchor, tag) => {
                self.tagged(spot, tag.as_deref());
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        (Event::SequenceEnd, _) => break,
                        (event, spot) => items.push(self.node(event, spot, depth + 1)?),
                    }
                }
                (anchor, Value::List(items))
            }
            Event::MappingStart(anchor, tag) => {
                self.tagged(spot, tag.as_deref());
                let before = self.wrong.len();
                let entries = self.map(depth)?;
                let is_told = entries.is_empty() && self.wrong.len() > before;
                (anchor, if is_told { Value::Told } else { Value::Map(entries) })
            }
            _ => {
                return Err(Wrong {
                    spot,
                    message: "the document ends in the middle".to_owned(),
                    help: "look whether a bracket or a quotation mark is not closed".to_owned(),
                });
            }
        };
        let node = Node { spot, value };
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    /// Tags of other programs would be passed over in silence, `!include` among them.
    fn tagged(&mut self, spot: Spot, tag: Option<&Tag>) {
        let Some(tag) = tag.filter(|tag| !tag.is_yaml_core_schema()) else { return };
        let handle = if tag.handle.starts_with('!') { "!" } else { tag.handle.as_str() };
        self.wrong.push(Wrong {
            spot,
            message: format!("the tag '{handle}{}' means nothing here", tag.suffix.escape_debug()),
            help: "leave it out; a scenario is one file, and includes no others".to_owned(),
        });
    }

    fn map(&mut self, depth: usize) -> Result<Vec<(Key, Node)>, Wrong> {
        let mut entries: Vec<(Key, Node)> = Vec::new();
        // By their texts, the lines of the keys there are.
        let mut lines: HashMap<String, usize> = HashMap::new();
        loop {
            let (event, spot) = self.next()?;
            if event == Event::MappingEnd {
                return Ok(entries);
            }
            let key = match self.node(event, spot, depth + 1)? {
                Node { spot, value: Value::Scalar { text, .. } } => Key { spot, text },
                node => {
                    // What is meant is nearly always a template without quotation marks.
                    self.wrong.push(Wrong {
                        spot: node.spot,
                        message: "a mapping in a mapping, where a text is meant".to_owned(),
                        help: "put a text with {{…}} in quotation marks, as in '{{name}}': YAML takes { for the beginning of a mapping"
                            .to_owned(),
                    });
                    let (event, spot) = self.next()?;
                    self.node(event, spot, depth + 1)?;
                    continue;
                }
            };
            let (event, spot) = self.next()?;
            let node = self.node(event, spot, depth + 1)?;
            if key.text == "<<" {
                self.wrong.push(Wrong {
                    spot: key.spot,
                    message: "merge keys (<<) are not of YAML 1.2".to_owned(),
                    help: "write the keys out, or put what all steps have in common under defaults".to_owned(),
                });
            } else if let Some(line) = lines.get(&key.text) {
                self.wrong.push(Wrong {
                    spot: key.spot,
                    message: format!("the key '{}' stands here a second time, after line {line}", key.text.escape_debug()),
                    help: "keep one of them".to_owned(),
                });
            } else {
                lines.insert(key.text.clone(), key.spot.line);
                entries.push((key, node));
            }
        }
    }
}

/// What the parser's words usually mean.
fn help_for(info: &str, line: &str) -> &'static str {
    if info.contains("tab") {
        "indent with spaces: YAML allows no tabs there"
    } else if has_brackets_within_braces(line) {
        "put the text with [ in quotation marks, or each entry on a line of its own: between { and } YAML takes [ for the beginning of a list"
    } else if info.contains("mapping values are not allowed") || info.contains("simple key") {
        "look at the indentation, and put a text that holds ': ' in quotation marks"
    } else {
        "look at the indentation, and whether every quotation mark and bracket is closed; a text that begins with one of {[*&!|>%@` \
         stands in quotation marks"
    }
}

/// Whether a text in a mapping between braces holds a bracket, such as `{id: json $.items[0]}`.
fn has_brackets_within_braces(line: &str) -> bool {
    let Some((_, inside)) = line.split_once('{') else { return false };
    inside.match_indices('[').any(|(at, _)| !matches!(inside[..at].trim_end().chars().last(), None | Some(':' | ',' | '[' | '"' | '\'')))
}

fn spot(span: Span) -> Spot {
    let (start, end) = (span.start, span.end);
    let length = if start.line() == end.line() { end.col().saturating_sub(start.col()) } else { 1 };
    Spot { line: start.line().max(1), column: start.col(), length: length.max(1) }
}

impl Node {
    fn count(&self) -> usize {
        1 + match &self.value {
            Value::Scalar { .. } | Value::Told => 0,
            Value::List(items) => items.iter().map(Self::count).sum(),
            Value::Map(entries) => entries.iter().map(|(_, node)| node.count()).sum(),
        }
    }

    /// Nothing: `~`, `null` or no value at all.
    pub(crate) fn is_nothing(&self) -> bool {
        matches!(&self.value, Value::Scalar { text, style: Style::Plain } if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// What it is, in words that follow "this is".
    pub(crate) fn kind(&self) -> &'static str {
        match &self.value {
            _ if self.is_nothing() => "nothing",
            Value::Scalar { .. } => "a text",
            Value::List(_) => "a list",
            Value::Map(_) | Value::Told => "a mapping",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> (Option<Node>, Vec<Wrong>) {
        let mut wrong = Vec::new();
        let node = parse(text, &mut wrong);
        (node, wrong)
    }

    fn entry<'a>(node: &'a Node, key: &str) -> (&'a Key, &'a Node) {
        let Value::Map(entries) = &node.value else { panic!("{node:?}") };
        let (key, node) = entries.iter().find(|(found, _)| found.text == key).unwrap();
        (key, node)
    }

    #[test]
    fn a_value_knows_where_it_stands() {
        let (node, wrong) = parsed("a: 1\nsteps:\n  - get: '/ü x'\n");
        assert!(wrong.is_empty());
        let node = node.unwrap();
        let (key, steps) = entry(&node, "steps");
        assert_eq!((key.spot.line, key.spot.column, key.spot.length), (2, 0, 5));
        let Value::List(items) = &steps.value else { panic!() };
        let (key, path) = entry(&items[0], "get");
        assert_eq!((key.spot.line, key.spot.column), (3, 4));
        assert_eq!((path.spot.line, path.spot.column, path.spot.length), (3, 9, 6));
    }

    #[test]
    fn anchors_repeat_and_cannot_grow_without_end() {
        let (node, wrong) = parsed("a: &x [1, 2]\nb: *x\n");
        assert!(wrong.is_empty());
        let node = node.unwrap();
        assert_eq!(entry(&node, "a").1.value, entry(&node, "b").1.value);
        let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..9 {
            let before = level - 1;
            laughs += &format!("a{level}: &a{level} [{}]\n", vec![format!("*a{before}"); 10].join(", "));
        }
        let (node, wrong) = parsed(&laughs);
        assert!(node.is_none() && wrong[0].message.contains("more than"), "{wrong:?}");
    }

    #[test]
    fn a_key_that_stands_twice_and_a_second_document_are_told() {
        assert!(parsed("a: 1\na: 2\n").1[0].message.contains("a second time, after line 1"));
        assert!(parsed("a: 1\n---\nb: 2\n").1[0].message.contains("second document"));
        assert!(parsed("a: {<<: {b: 1}}\n").1[0].message.contains("merge keys"));
        assert!(parsed(&"[".repeat(5000)).0.is_none());
    }

    proptest! {
        #[test]
        fn no_text_makes_reading_panic(text in "[-:a-c \\n\\[\\]{}&*!|>'\"#%@,?<\\t]{0,60}") {
            let _ = parsed(&text);
        }
    }
}
