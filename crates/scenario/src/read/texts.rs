//! Templates and conditions of a scenario, and where in the file their mistakes are.

use plan::template::{self, Piece, Template, Value as Filled};
use plan::work::{Expression, Finding};
use step::Extractor;

use super::{NOTED_MAX, Reading};
use crate::yaml::{Node, Spot, Style, Value};

/// No line and no text that a person wrote is longer; in a longer one, a mistake has the place of the whole text.
const LOOKED_THROUGH_BYTES_MAX: usize = 256 * 1024;

impl Reading<'_> {
    /// A text that may hold templates.
    pub(super) fn template(&mut self, node: &Node) -> Option<Template> {
        let Value::Scalar { text, .. } = &node.value else {
            if node.value != Value::Told {
                let help = "write a text; one that begins with [, { or {{ stands in quotation marks";
                self.wrong(node.spot, format!("this is {}, and a text is wanted here", node.kind()), help);
            }
            return None;
        };
        if node.is_nothing() {
            return Some(Template::fixed(""));
        }
        self.template_of(node, text)
    }

    /// The same of a text that stands in a node, or is made of it.
    pub(super) fn template_of(&mut self, node: &Node, text: &str) -> Option<Template> {
        self.template_at(text, |reading, at, length| reading.within(node, text, at, length))
    }

    /// The same of any text, whose parts stand where `spot` says.
    pub(super) fn template_at(&mut self, text: &str, spot: impl Fn(&Self, usize, usize) -> Spot) -> Option<Template> {
        let parsed = {
            let files: Vec<&str> = self.files.iter().map(String::as_str).collect();
            let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
            Template::parse_with(text, &files, &names)
        };
        match parsed {
            Ok(template) => {
                let mut values = Vec::new();
                template.each_value(&mut |value| values.push(value.clone()));
                self.look_over(&values, text, &spot);
                Some(template.with_weighted_at(&|path| self.beside(path)))
            }
            Err(mistakes) => {
                self.mistaken(mistakes, spot);
                None
            }
        }
    }

    fn mistaken(&mut self, mistakes: Vec<template::Mistake>, spot: impl Fn(&Self, usize, usize) -> Spot) {
        for mistake in mistakes.into_iter().take(NOTED_MAX) {
            let spot = spot(self, mistake.at, mistake.length);
            self.wrong(spot, mistake.message, mistake.help);
        }
    }

    /// Whether what a text writes has a value here, may be named, and is there.
    fn look_over(&mut self, values: &[Filled], text: &str, spot: &dyn Fn(&Self, usize, usize) -> Spot) {
        let place =
            |reading: &Self, name: &str| found(text, name).map_or_else(|| spot(reading, 0, text.len()), |at| spot(reading, at, name.len()));
        let mut unset: Vec<&str> = Vec::new();
        for value in values {
            match value {
                Filled::Variable(name) if !self.known.contains(name) && !unset.contains(&name.as_str()) => unset.push(name),
                _ => {}
            }
        }
        let outside = values.iter().rev().find_map(|value| match value {
            Filled::Env(name) => Some((name, "this names a variable of the machine that serves")),
            Filled::File(path, _) | Filled::Weighted { path, .. } => Some((path, "this names a file of the machine that serves")),
            _ => None,
        });
        if let Some((name, what)) = outside {
            self.reaches_out(place(self, name), what);
        }
        if self.surroundings.is_some() {
            values.iter().for_each(|value| self.look_up(value, &place));
        }
        for name in unset {
            self.wrong(
                place(self, name),
                format!("the variable '{name}' has no value here"),
                "extract or set it in a step before this one of the same journey, or give it one under variables",
            );
        }
    }

    /// Where a part of a node's text stands in the file; the node itself where that cannot be told, or would take long.
    pub(super) fn within(&self, node: &Node, text: &str, at: usize, length: usize) -> Spot {
        let Value::Scalar { style, .. } = &node.value else { return node.spot };
        if text.len() > LOOKED_THROUGH_BYTES_MAX || self.line(node.spot.line).len() > LOOKED_THROUGH_BYTES_MAX {
            return node.spot;
        }
        let (Some(before), Some(about)) = (text.get(..at), text.get(at..(at + length).min(text.len()))) else { return node.spot };
        let length = about.chars().count().max(1);
        if *style == Style::Block {
            let inside = before.matches('\n').count();
            let number = node.spot.line + inside;
            let wanted = text.lines().nth(inside).unwrap_or_default();
            let shown = self.line(number);
            let Some(indent) = shown.strip_suffix(wanted).map(|indent| indent.chars().count()) else { return node.spot };
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count();
            return Spot { line: number, column: indent + column, length };
        }
        let quoted = usize::from(*style == Style::Quoted);
        let mut rest = self.line(node.spot.line).chars();
        let inner = rest.by_ref().take(node.spot.column + quoted).count();
        if inner < node.spot.column + quoted || !rest.as_str().starts_with(text) {
            return node.spot;
        }
        Spot { line: node.spot.line, column: node.spot.column + quoted + before.chars().count(), length }
    }

    /// What decides: an expression that is not always the same.
    pub(super) fn condition(&mut self, node: &Node) -> Option<Expression> {
        self.expression_by(node, Expression::parse_condition)
    }

    /// What is computed.
    pub(super) fn expression(&mut self, node: &Node) -> Option<Expression> {
        self.expression_by(node, Expression::parse)
    }

    fn expression_by(
        &mut self,
        node: &Node,
        parse: impl FnOnce(&str, &[&str], &[&str]) -> Result<Expression, Vec<template::Mistake>>,
    ) -> Option<Expression> {
        let Value::Scalar { text, .. } = &node.value else {
            self.template(node)?;
            return None;
        };
        let parsed = {
            let files: Vec<&str> = self.files.iter().map(String::as_str).collect();
            let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
            parse(text, &files, &names)
        };
        match parsed {
            Ok(expression) => {
                self.single_braces(node, text);
                for pattern in expression.patterns() {
                    if let Err(mistake) = step::regex(&pattern) {
                        let at = text.find(&pattern).unwrap_or_default() + mistake.at;
                        let spot = self.within(node, text, at, mistake.length);
                        self.wrong(spot, mistake.message, mistake.help);
                    }
                }
                for Finding { kind, expression: sought, form } in expression.finds() {
                    let found = Extractor::compile(kind, &sought).map_err(|mistake| (&sought, mistake));
                    let written =
                        found.and_then(|it| it.writing(form.as_deref()).map_err(|mistake| (form.as_ref().unwrap_or(&sought), mistake)));
                    if let Err((part, mistake)) = written {
                        let at = text.find(part.as_str()).unwrap_or_default() + mistake.at;
                        let spot = self.within(node, text, at, mistake.length);
                        self.wrong(spot, mistake.message, mistake.help);
                    }
                }
                let mut values = Vec::new();
                expression.each_template(&mut |template| template.each_value(&mut |value| values.push(value.clone())));
                self.look_over(&values, text, &|reading, at, length| reading.within(node, text, at, length));
                Some(expression.with_weighted_at(&|path| self.beside(path)))
            }
            Err(mistakes) => {
                self.mistaken(mistakes, |reading, at, length| reading.within(node, text, at, length));
                None
            }
        }
    }

    /// Complains of variables in the braces of other tools, which would be sent as they stand.
    pub(super) fn single_braces(&mut self, node: &Node, text: &str) {
        let mut from = 0;
        while let Some(at) = text[from..].find('{').map(|at| from + at) {
            from = at + 1;
            if text[from..].starts_with('{') {
                // A template, up to its end.
                from = text[from..].find("}}").map_or(text.len(), |end| from + end + 2);
                continue;
            }
            let Some(name) = text[from..].find('}').map(|end| text[from..from + end].trim()) else { return };
            if self.names.iter().any(|known| known == name) {
                let begins = text[..at].strip_suffix(['$', '#']).map_or(at, str::len);
                let ends = from + text[from..].find('}').unwrap_or_default() + 1;
                let spot = self.within(node, text, begins, ends - begins);
                let message = format!("'{}' would be sent as it stands", text[begins..ends].escape_debug());
                self.wrong(spot, message, format!("write {{{{{name}}}}} for the value of the variable"));
            }
        }
    }

    /// JSON written as YAML, or as text.
    pub(super) fn json_body(&mut self, node: &Node) -> Option<Template> {
        if let Value::Scalar { text, style: Style::Block | Style::Quoted } = &node.value
            && text.trim_start().starts_with(['{', '['])
        {
            let template = self.template_of(node, text)?;
            self.judge_json(node, text, &template);
            return Some(template);
        }
        let mut pieces = Vec::new();
        self.json_pieces(node, &mut pieces)?;
        Some(Template::of(pieces))
    }

    /// Whether it is JSON once its values stand in it, as numbers or in strings.
    fn judge_json(&mut self, node: &Node, text: &str, template: &Template) {
        let marked = template.marked(|_| "0".to_owned());
        let Err(mistake) = step::body::json(&marked) else { return };
        let spot = if template.is_fixed() { self.within(node, text, mistake.at, mistake.length) } else { node.spot };
        self.wrong(spot, mistake.message, mistake.help);
    }

    fn json_pieces(&mut self, node: &Node, pieces: &mut Vec<Piece>) -> Option<()> {
        let text = |pieces: &mut Vec<Piece>, text: &str| pieces.push(Piece::Text(text.to_owned()));
        match &node.value {
            _ if node.is_nothing() => text(pieces, "null"),
            Value::Scalar { text: scalar, style: Style::Plain } if is_json_word(scalar) => text(pieces, scalar),
            Value::Scalar { text: scalar, .. } => {
                let template = self.template_of(node, scalar)?;
                text(pieces, "\"");
                for piece in template.pieces() {
                    pieces.push(match piece {
                        Piece::Text(fixed) => Piece::Text(crate::json::escaped(fixed)),
                        value @ Piece::Value(_) => value.clone(),
                    });
                }
                text(pieces, "\"");
            }
            Value::Told => return None,
            Value::List(nodes) => {
                text(pieces, "[");
                for (place, node) in nodes.iter().enumerate() {
                    if place > 0 {
                        text(pieces, ",");
                    }
                    self.json_pieces(node, pieces)?;
                }
                text(pieces, "]");
            }
            Value::Map(entries) => {
                text(pieces, "{");
                for (place, (word, node)) in entries.iter().enumerate() {
                    text(pieces, if place > 0 { ",\"" } else { "\"" });
                    pieces.push(Piece::Text(crate::json::escaped(&word.text)));
                    text(pieces, "\":");
                    self.json_pieces(node, pieces)?;
                }
                text(pieces, "}");
            }
        }
        Some(())
    }
}

/// Where a name stands between two braces.
fn found(text: &str, name: &str) -> Option<usize> {
    text.match_indices("{{").find_map(|(open, _)| {
        let inside = &text[open..];
        let close = inside.find("}}").unwrap_or(inside.len());
        inside[..close].find(name).map(|at| open + at)
    })
}

/// A number, a truth or nothing, as JSON writes them too.
fn is_json_word(text: &str) -> bool {
    matches!(text, "true" | "false") || text.parse::<f64>().is_ok() && serde_json::from_str::<serde_json::Number>(text).is_ok()
}
