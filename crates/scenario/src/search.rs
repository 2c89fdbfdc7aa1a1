//! What a regular expression finds in a text, computed: the `find` and the `rewrite` of expressions.
//!
//! Almost every expression is the same each time and understood before the run. One that holds values is understood when it is there, and
//! kept until another one comes: users who go through the same page ask for the same one again.
//!
//! Invariant: what is no regular expression finds nothing, and nothing panics.

use std::cell::RefCell;
use std::rc::Rc;

use plan::work::{self, Function, Kind};
use step::{Extractor, Mistake, Rewrite, Which};

use crate::expression::{Evaluation, Expression, NoValue};

/// A text, and what is looked for in it.
pub(crate) struct Search {
    function: Function,
    /// The text, the regular expression, and maybe what is written of each match.
    values: Vec<Expression>,
    /// What is looked for, if that is always the same.
    known: Option<Made>,
}

/// A regular expression that is understood, and what becomes of its matches.
enum Made {
    List(Extractor),
    Text(Rewrite),
}

/// What was looked for, by its texts; nothing if it is no regular expression.
struct Sought {
    function: Function,
    pattern: Vec<u8>,
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
    /// If what is looked for is known now, and no regular expression.
    pub(crate) fn new(function: Function, written: &[work::Expression], values: Vec<Expression>) -> Result<Self, Mistake> {
        let fixed = |value: &work::Expression| match value {
            work::Expression::Text(text) if text.is_fixed() => Some(text.fixed_text()),
            _ => None,
        };
        let known = match (written.get(1).and_then(fixed), written.get(2).map(fixed)) {
            (Some(pattern), None) => Some(Made::of(function, &pattern, None)?),
            (Some(pattern), Some(Some(form))) => Some(Made::of(function, &pattern, Some(&form))?),
            _ => None,
        };
        Ok(Self { function, values, known })
    }

    /// Writes all that is found as a JSON array, or the text that becomes of it, at the end of `out`.
    pub(crate) fn write(&self, evaluation: &mut Evaluation<'_, '_>, out: &mut Vec<u8>) -> Result<(), NoValue> {
        if let Some(known) = &self.known {
            return self.values[0].with(evaluation, |text, _| known.write(text, out));
        }
        let mut pattern = Vec::new();
        self.values[1].write(evaluation, &mut pattern)?;
        let form = match self.values.get(2) {
            None => None,
            Some(written) => {
                let mut form = Vec::new();
                written.write(evaluation, &mut form)?;
                Some(form)
            }
        };
        let made = lately(self.function, pattern, form).ok_or(NoValue)?;
        self.values[0].with(evaluation, |text, _| made.write(text, out))
    }
}

fn lately(function: Function, pattern: Vec<u8>, form: Option<Vec<u8>>) -> Option<Rc<Made>> {
    LATELY.with_borrow_mut(|lately| {
        if let Some(known) = lately.iter().find(|known| known.function == function && known.pattern == pattern && known.form == form) {
            return known.made.clone();
        }
        let text = |bytes| std::str::from_utf8(bytes).ok();
        let made = match (text(&pattern), form.as_deref().map(text)) {
            (Some(pattern), None) => Made::of(function, pattern, None).ok(),
            (Some(pattern), Some(Some(form))) => Made::of(function, pattern, Some(form)).ok(),
            _ => None,
        };
        let made = made.map(Rc::new);
        lately.truncate(LATELY_MAX - 1);
        lately.insert(0, Sought { function, pattern, form, made: made.clone() });
        made
    })
}

impl Made {
    fn of(function: Function, pattern: &str, form: Option<&str>) -> Result<Self, Mistake> {
        if function == Function::Rewrite {
            return Rewrite::new(pattern, form.unwrap_or_default()).map(Self::Text);
        }
        Ok(Self::List(Extractor::compile(Kind::Regex, pattern)?.writing(form)?.taking(Which::Every)))
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
