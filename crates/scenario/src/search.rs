//! What is found in a text, computed: the `find`, the `rewrite` and the `select` of expressions.
//!
//! Almost every expression is the same each time and understood before the run. One that holds values is understood when it is there, and
//! kept until another one comes: users who go through the same page ask for the same one again.
//!
//! Invariant: what is no expression of its language finds nothing, and nothing panics.

use std::cell::RefCell;
use std::rc::Rc;

use plan::work::{self, Finding, Function, Kind};
use step::{Extractor, Mistake, Rewrite, Which};

use crate::expression::{Evaluation, Expression, NoValue};

/// A text, and what is looked for in it.
pub(crate) struct Search {
    /// Whether its matches are written otherwise.
    rewrites: bool,
    kind: Kind,
    text: Expression,
    sought: Expression,
    /// What is written of each match, if that is said.
    form: Option<Expression>,
    /// What is looked for, if that is always the same.
    known: Option<Made>,
}

/// An expression that is understood, and what becomes of its matches.
enum Made {
    List(Extractor),
    Text(Rewrite),
}

/// What was looked for, by its texts; nothing if it is not understood.
struct Sought {
    rewrites: bool,
    kind: Kind,
    expression: Vec<u8>,
    form: Option<Vec<u8>>,
    made: Option<Rc<Made>>,
}

thread_local! {
    /// What was looked for last, of what is known only on the way.
    static LATELY: RefCell<Vec<Sought>> = const { RefCell::new(Vec::new()) };
}

/// So many are kept.
const LATELY_MAX: usize = 16;

impl Search {
    /// Of these values of a function, which were compiled.
    ///
    /// # Errors
    /// If what is looked for is known now, and not understood.
    pub(crate) fn new(function: Function, written: &[work::Expression], values: Vec<Expression>) -> Result<Self, Mistake> {
        let wrong = || {
            let message = "what is looked for in a text, and in which language, is not said".to_owned();
            Mistake { at: 0, length: 0, message, help: "write it as in select({{page}}, json, \"$.id\")".into() }
        };
        let rewrites = function == Function::Rewrite;
        let mut values = values.into_iter();
        let (Some(text), Some(second), third) = (values.next(), values.next(), values.next()) else { return Err(wrong()) };
        let finding = Finding::of(function, written);
        let (kind, sought, form) = match (function, third, written.get(1)) {
            (Function::Select, Some(sought), Some(work::Expression::Text(word))) => {
                (Kind::of_word(word.fixed_text().trim()).ok_or_else(wrong)?, sought, None)
            }
            (Function::Select, ..) => return Err(wrong()),
            (_, form, _) => (Kind::Regex, second, form),
        };
        let known = match finding {
            Some(Finding { expression, form: known, .. }) if known.is_some() == form.is_some() => {
                Some(Made::of(rewrites, kind, &expression, known.as_deref())?)
            }
            _ => None,
        };
        Ok(Self { rewrites, kind, text, sought, form, known })
    }

    /// Writes all that is found as a JSON array, or the text that becomes of it, at the end of `out`.
    pub(crate) fn write(&self, evaluation: &mut Evaluation<'_, '_>, out: &mut Vec<u8>) -> Result<(), NoValue> {
        if let Some(known) = &self.known {
            return self.text.with(evaluation, |text, _| known.write(text, out));
        }
        let mut expression = Vec::new();
        self.sought.write(evaluation, &mut expression)?;
        let form = match &self.form {
            None => None,
            Some(written) => {
                let mut form = Vec::new();
                written.write(evaluation, &mut form)?;
                Some(form)
            }
        };
        let made = self.lately(expression, form).ok_or(NoValue)?;
        self.text.with(evaluation, |text, _| made.write(text, out))
    }

    fn lately(&self, expression: Vec<u8>, form: Option<Vec<u8>>) -> Option<Rc<Made>> {
        let Self { rewrites, kind, .. } = *self;
        LATELY.with_borrow_mut(|lately| {
            let is_it =
                |known: &&Sought| (known.rewrites, known.kind) == (rewrites, kind) && known.expression == expression && known.form == form;
            if let Some(known) = lately.iter().find(is_it) {
                return known.made.clone();
            }
            let text = |bytes| std::str::from_utf8(bytes).ok();
            let made = match (text(&expression), form.as_deref().map(text)) {
                (Some(expression), None) => Made::of(rewrites, kind, expression, None).ok(),
                (Some(expression), Some(Some(form))) => Made::of(rewrites, kind, expression, Some(form)).ok(),
                _ => None,
            };
            let made = made.map(Rc::new);
            lately.truncate(LATELY_MAX - 1);
            lately.insert(0, Sought { rewrites, kind, expression, form, made: made.clone() });
            made
        })
    }
}

impl Made {
    fn of(rewrites: bool, kind: Kind, expression: &str, form: Option<&str>) -> Result<Self, Mistake> {
        if rewrites {
            return Rewrite::new(expression, form.unwrap_or_default()).map(Self::Text);
        }
        Ok(Self::List(Extractor::compile(kind, expression)?.writing(form)?.taking(Which::Every)))
    }

    /// All matches, of which none are an empty array; or the text that becomes of them.
    fn write(&self, text: &[u8], out: &mut Vec<u8>) -> Result<(), NoValue> {
        match self {
            Self::List(extractor) => match extractor.of_text(text) {
                Ok(list) => serde_json::to_writer(out, &list).map_err(|_| NoValue),
                Err(_) => {
                    out.extend_from_slice(b"[]");
                    Ok(())
                }
            },
            Self::Text(rewrite) => rewrite.write(text, out).map_err(|_| NoValue),
        }
    }
}
