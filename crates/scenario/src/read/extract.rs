//! How values are found in answers: what stands under `extract`.

use plan::template::Template;
use plan::work::{AnswerPart, Extraction, Kind as Found, Where, Which};
use step::Extractor;

use super::Reading;
use crate::keys::EXTRACTION;
use crate::yaml::{Node, Spot, Value};

/// An extraction of what was understood.
fn sought(variable: String, kind: Found, extractor: &Extractor, open: Option<Template>) -> Extraction {
    let expression = open.as_ref().map_or_else(|| extractor.sought().1.to_owned(), ToString::to_string);
    Extraction { open, ..Extraction::new(variable, kind, expression) }
}

impl Reading<'_> {
    pub(super) fn extractions(&mut self, node: &Node) -> Vec<Extraction> {
        let mut found = Vec::new();
        for (word, node) in self.named(node) {
            self.ensure_named(word.spot, &word.text);
            if let Some(extraction) = self.extraction(&word.text, node) {
                found.push(extraction);
            }
            self.known.insert(word.text.clone());
        }
        found
    }

    fn extraction(&mut self, name: &str, node: &Node) -> Option<Extraction> {
        let variable = name.to_owned();
        if let Value::Scalar { text, .. } = &node.value {
            // One line: `json $.token`.
            let (kind, expression) = text.split_once(char::is_whitespace).map_or((text.as_str(), ""), |(kind, rest)| (kind, rest.trim()));
            let Some(found) = Found::of_word(kind) else {
                let words: Vec<&str> = Found::ALL.iter().map(|kind| kind.word()).collect();
                let help = match plan::template::nearest(kind, words.iter().copied()) {
                    Some(near) => format!("did you mean '{near}'?"),
                    None => format!("write one of {} and an expression, such as json $.token", words.join(", ")),
                };
                let spot = self.within(node, text, 0, kind.len().max(1));
                self.wrong(spot, format!("'{}' is no way to find a value", kind.escape_debug()), help);
                return None;
            };
            let from = text.len() - expression.len();
            let (extractor, open) = self.sought(found, expression, &|reading, at, length| reading.within(node, text, from + at, length))?;
            return Some(sought(variable, found, &extractor, open));
        }
        let mut entries = self.shape(node, &EXTRACTION)?;
        let which = entries.value("take").and_then(|node| self.which(node));
        let default = match entries.value("default") {
            Some(node) if node.is_nothing() => Some(String::new()),
            Some(node) => self.plain(node),
            None => None,
        };
        let optional = entries.take("optional").and_then(|(word, node)| Some((word.spot, self.truth(node)?)));
        if let Some((spot, true)) = optional.filter(|_| default.is_some()) {
            self.wrong(spot, "'optional' and 'default' both say what it is if nothing is found", "keep one of them");
        }
        let optional = optional.is_some_and(|(_, optional)| optional);
        let within = entries.take("in").map(|(word, node)| (word.spot, self.place_within(node)));
        let written = entries.value("as").and_then(|node| Some((node, self.plain(node)?)));
        let null_is_missing = entries.value("null_is_missing").and_then(|node| self.truth(node)).unwrap_or(false);
        let mut ways = Found::ALL.into_iter().filter_map(|kind| Some((kind, entries.take(kind.word())?))).collect::<Vec<_>>();
        if ways.len() != 1 {
            let message =
                if ways.is_empty() { "nothing says how the value is found" } else { "this says in several ways how the value is found" };
            self.wrong(node.spot, message, "write one of json, jmespath, regex, header, cookie, css, xpath, digest, body and status");
            return None;
        }
        let (kind, (_, expression)) = ways.remove(0);
        let text = self.plain(expression)?;
        let (extractor, open) = self.sought(kind, &text, &|reading, at, length| reading.within(expression, &text, at, length))?;
        if let Some((spot, _)) = within.as_ref().filter(|_| matches!(kind, Found::Header | Found::Cookie | Found::Status)) {
            let message = format!("a {} is not looked for in a text", kind.word());
            self.wrong(*spot, message, "leave it out, or find the value by a regex");
        }
        let sought = sought(variable, kind, &extractor, open);
        if let Some((node, form)) = &written
            && let Err(mistake) = extractor.writing(Some(form))
        {
            let spot = self.within(node, form, mistake.at, mistake.length);
            self.wrong(spot, mistake.message, mistake.help);
        }
        Some(Extraction {
            within: within.and_then(|(_, within)| within).unwrap_or_default(),
            which: which.unwrap_or_default(),
            written: written.map(|(_, form)| form),
            default,
            optional,
            null_is_missing,
            ..sought
        })
    }

    /// What is looked for, and the template that writes it, if it holds values.
    fn sought(&mut self, kind: Found, text: &str, spot: &dyn Fn(&Self, usize, usize) -> Spot) -> Option<(Extractor, Option<Template>)> {
        let template = if text.contains("{{") { Some(self.template_at(text, spot)?) } else { None };
        let compiled = match &template {
            None => Extractor::compile(kind, text),
            Some(template) if template.is_fixed() => Extractor::compile(kind, &template.fixed_text()),
            Some(template) => Extractor::compile_open(kind, template),
        };
        match compiled {
            Ok(extractor) => Some((extractor, template.filter(|template| !template.is_fixed()).map(|template| template.trimmed()))),
            Err(mistake) => {
                // Where it is in a text with values is not where it is in the one that was understood.
                let (at, length) = if template.is_some() { (0, text.len()) } else { (mistake.at, mistake.length) };
                let spot = spot(self, at, length);
                self.wrong(spot, mistake.message, mistake.help);
                None
            }
        }
    }

    /// Where a value is looked for: a part of what was asked and answered, or a text with templates.
    fn place_within(&mut self, node: &Node) -> Option<Where> {
        let Value::Scalar { text, .. } = &node.value else {
            return self.template(node).map(Where::Written);
        };
        if text.contains("{{") {
            return self.template(node).map(Where::Written);
        }
        let part = AnswerPart::of_word(text.trim());
        if part.is_none() {
            let words = AnswerPart::ALL.map(AnswerPart::word);
            let help = match plan::template::nearest(text, words.into_iter()) {
                Some(near) => format!("did you mean '{near}'?"),
                None => format!("write one of {}, or a template such as '{{{{page}}}}'", words.join(", ")),
            };
            self.wrong(node.spot, format!("'{}' is no part of an answer or its request", text.escape_debug()), help);
        }
        part.map(Where::Part)
    }

    fn which(&mut self, node: &Node) -> Option<Which> {
        let text = self.plain(node)?;
        let which = match text.as_str() {
            "first" => Some(Which::First),
            "last" => Some(Which::Last),
            "random" => Some(Which::Random),
            "every" => Some(Which::Every),
            "joined" => Some(Which::Joined),
            "count" => Some(Which::Count),
            number => number.parse().ok().map(Which::Nth),
        };
        if which.is_none() {
            self.wrong(
                node.spot,
                format!("'{}' is none of several matches", text.escape_debug()),
                "write first, last, a number from 0, random, every, joined or count",
            );
        }
        which
    }
}
