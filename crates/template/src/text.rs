//! Texts for programs that put requests together by themselves: journeys.
//!
//! A plan's own request is one whole that is compiled at once; a scenario has hundreds of texts, in places that a plan does not
//! know: conditions, variables, fields of forms. Each is compiled by itself, and what is known before the run is text already.

use std::collections::HashMap;
use std::sync::Arc;

use plan::template::{Piece, Template};
use plan::{Charset, Contents, Placeholder, PlanErrors};

use crate::compiled::{Pieces, add_text};
use crate::data::Data;
use crate::write::{Part, Place, Writing, write};

/// A text, compiled.
#[derive(Default)]
pub struct Text {
    parts: Vec<Part>,
}

/// Compiles texts.
pub struct Compiler<'a> {
    pieces: Pieces<'a>,
}

impl<'a> Compiler<'a> {
    /// With these data files and how templates call them, the variables of the environment and what other files hold, and the variables of
    /// a user by their places.
    #[must_use]
    pub fn new(
        files: &'a [Arc<Data>],
        names: Vec<&'a str>,
        (environment, contents): (&'a [(String, String)], &'a Contents),
        variables: &'a [String],
    ) -> Self {
        Self {
            pieces: Pieces {
                files,
                names,
                environment,
                contents,
                variables,
                charset: None,
                in_body: false,
                errors: PlanErrors::default(),
                weighted: HashMap::new(),
            },
        }
    }

    /// What is filled in from now on has its letters written so, but for headers.
    ///
    /// What stands as it is in a URL is written so in a body alone.
    pub fn write_in(&mut self, charset: Option<Charset>, in_body: bool) {
        (self.pieces.charset, self.pieces.in_body) = (charset, in_body);
    }

    /// A template in its place. Its fixed text stands there as it is typed; only what is filled in is escaped.
    #[must_use]
    pub fn text(&mut self, template: &Template, place: Place) -> Text {
        let mut text = Text::default();
        self.add(&mut text, template, place);
        text
    }

    /// The same at the end of another text.
    pub fn add(&mut self, text: &mut Text, template: &Template, place: Place) {
        for piece in template.pieces() {
            match piece {
                Piece::Text(fixed) => match self.pieces.charset {
                    None => text.add_fixed(fixed.as_bytes()),
                    Some(charset) => {
                        let mut bytes = Vec::new();
                        charset.encode(fixed.as_bytes(), &mut bytes);
                        text.add_fixed(&bytes);
                    }
                },
                Piece::Value(value) => {
                    let mut parts = std::mem::take(&mut text.parts);
                    self.pieces.value(&mut parts, value, place);
                    text.parts = parts;
                }
            }
        }
    }

    /// A text in which a mark with a number stands for each value of these templates, in their order.
    #[must_use]
    pub fn marked(&mut self, mark: &Placeholder, marked: &[u8], templates: &[(&Template, Place)]) -> Text {
        let values: Vec<_> =
            templates.iter().flat_map(|(template, place)| template.values().map(|value| (value.clone(), *place))).collect();
        Text { parts: self.pieces.cut(mark, marked, &values) }
    }

    /// The same of texts whose letters are written in one way or another.
    #[must_use]
    pub fn marked_in(&mut self, mark: &Placeholder, marked: &[u8], templates: &[(&Template, Option<Charset>)]) -> Text {
        let values: Vec<_> =
            templates.iter().flat_map(|(template, charset)| template.values().map(move |value| (value, *charset))).collect();
        let (mut text, before) = (Text::default(), self.pieces.charset);
        for (fixed, number) in mark.split(marked) {
            text.add_fixed(fixed);
            if let Some((value, charset)) = number.map(|number| values[number]) {
                self.pieces.charset = charset;
                self.pieces.value(&mut text.parts, value, Place::Plain);
            }
        }
        self.pieces.charset = before;
        text
    }

    /// What was wrong with all of them: columns and files that are not there.
    #[must_use]
    pub fn errors(self) -> PlanErrors {
        self.pieces.errors
    }
}

impl Text {
    /// Adds text that is the same each time.
    pub fn add_fixed(&mut self, fixed: &[u8]) {
        add_text(&mut self.parts, fixed);
    }

    /// Whether it is the same each time.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        self.parts.iter().all(|part| matches!(part, Part::Text(_)))
    }

    /// Whether it is empty each time.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Writes it at the end of `out`.
    #[inline]
    pub fn write(&self, out: &mut Vec<u8>, writing: &mut Writing<'_>) {
        write(&self.parts, out, writing);
    }
}
