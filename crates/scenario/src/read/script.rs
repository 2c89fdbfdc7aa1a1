//! Scripts of a scenario: their text, which must be one that can be run, and what is said beside it.

use plan::work::Script;

use super::Reading;
use crate::keys::SCRIPT;
use crate::yaml::{Node, Spot, Value};

/// The variables that scripts may give a value, each with where that is said.
pub(super) fn names_of(node: &Node) -> Vec<(Spot, String)> {
    match &node.value {
        Value::Scalar { text, .. } => Script::new(text.clone()).sets.into_iter().map(|name| (node.spot, name)).collect(),
        Value::List(nodes) => nodes.iter().flat_map(names_of).collect(),
        Value::Map(entries) => {
            let of = |key: &'static str| entries.iter().filter(move |(word, _)| word.text == key).map(|(_, node)| node);
            let mut names: Vec<(Spot, String)> = Vec::new();
            for node in of("into").chain(of("sets")) {
                let texts = if let Value::List(nodes) = &node.value { nodes.as_slice() } else { std::slice::from_ref(node) };
                names.extend(texts.iter().filter_map(|node| match &node.value {
                    Value::Scalar { text, .. } => Some((node.spot, text.clone())),
                    _ => None,
                }));
            }
            if of("sets").next().is_none() {
                names.extend(of("text").flat_map(names_of));
            }
            names
        }
        Value::Told => Vec::new(),
    }
}

impl Reading<'_> {
    /// One script, or several, one after the other.
    pub(super) fn scripts(&mut self, node: &Node) -> Vec<Script> {
        self.each(node).into_iter().filter_map(|node| self.script(node)).collect()
    }

    /// A script: its text, or a mapping that has it.
    pub(super) fn script(&mut self, node: &Node) -> Option<Script> {
        let script = if let Value::Map(_) = &node.value { self.described_script(node)? } else { self.program(node)? };
        for name in script.assigned() {
            self.known.insert(name.to_owned());
        }
        Some(script)
    }

    /// A text that can be run.
    fn program(&mut self, node: &Node) -> Option<Script> {
        let text = self.plain(node)?;
        if let Err(thrown) = javascript::check(&text) {
            let begins: usize = text.split_inclusive('\n').take(thrown.line.saturating_sub(1)).map(str::len).sum();
            let line = text[begins..].lines().next().unwrap_or_default();
            let at = line.char_indices().nth(thrown.column.saturating_sub(1)).map_or(line.len(), |(at, _)| at);
            let spot = self.within(node, &text, begins + at, 1);
            self.wrong(
                spot,
                format!("the script cannot be run: {}", thrown.message),
                "mend it: it is what stands in the body of a function",
            );
            return None;
        }
        Some(Script::new(text))
    }

    fn described_script(&mut self, node: &Node) -> Option<Script> {
        let mut entries = self.shape(node, &SCRIPT)?;
        let Some(text) = entries.value("text") else {
            self.wrong(entries.spot, "the script has no 'text'", "write the program behind text: |");
            return None;
        };
        let plain = self.program(text);
        let name = entries.value("name").and_then(|node| self.plain(node)).unwrap_or_default();
        let given = entries.value("given").map_or_else(Vec::new, |node| {
            let named = self.named(node);
            named.into_iter().filter_map(|(word, node)| Some((word.text.clone(), self.template(node)?))).collect()
        });
        let into = entries.value("into").and_then(|node| self.plain(node));
        let mut names = |reading: &mut Self, key: &str| {
            entries.value(key).map(|node| reading.each(node).into_iter().filter_map(|node| reading.plain(node)).collect::<Vec<_>>())
        };
        let (reads, sets) = (names(self, "reads"), names(self, "sets"));
        let mut truth = |reading: &mut Self, key: &str| entries.value(key).and_then(|node| reading.truth(node));
        let (reads_answer, reads_request) = (truth(self, "reads_answer"), truth(self, "reads_request"));
        let (may_fail, translated) = (truth(self, "may_fail"), truth(self, "translated"));
        let mut files = Vec::new();
        if let Some(node) = entries.value("files") {
            for (word, node) in self.named(node) {
                self.reaches_out(node.spot, "this names a file of the machine that serves");
                let Some(path) = self.plain(node) else { continue };
                let path = self.beside(&path);
                self.look_for(node.spot, &path);
                files.push((word.text.clone(), path));
            }
        }
        let plain = plain?;
        Some(Script {
            name,
            given,
            into,
            reads: reads.unwrap_or_else(|| plain.reads.clone()),
            sets: sets.unwrap_or_else(|| plain.sets.clone()),
            reads_answer: reads_answer.unwrap_or(plain.reads_answer),
            reads_request: reads_request.unwrap_or(plain.reads_request),
            may_fail: may_fail.unwrap_or(false),
            translated: translated.unwrap_or(false),
            files,
            text: plain.text,
        })
    }
}
