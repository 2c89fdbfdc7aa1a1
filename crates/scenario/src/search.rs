//! What a regular expression finds in a text, computed: the `find` of expressions.
//!
//! Almost every expression is the same each time and understood before the run. One that holds values is understood when it is there, and
//! kept until another one comes: users who go through the same page ask for the same one again.
//!
//! Invariant: what is no regular expression finds nothing, and nothing panics.

use std::cell::RefCell;
use std::rc::Rc;

use plan::work::{self, Kind};
use step::{Extractor, Mistake, Which};

use crate::expression::{Evaluation, Expression, NoValue};

/// A text, and what is looked for in it.
pub(crate) struct Search {
    /// The text, the regular expression, and maybe what is written of each match.
    values: Vec<Expression>,
    /// What is looked for, if that is always the same.
    known: Option<Extractor>,
}

/// What was looked for, by its texts; nothing if it is no regular expression.
struct Sought {
    pattern: Vec<u8>,
    form: Option<Vec<u8>>,
    extractor: Option<Rc<Extractor>>,
}

thread_local! {
    /// What was looked for last, of what is known only on the way.
    static LATELY: RefCell<Vec<Sought>> = const { RefCell::new(Vec::new()) };
}

/// So many are kept.
const LATELY_MAX: usize = 16;

impl Search {
    /// Of these values, which were compiled.
    ///
    /// # Errors
    /// If what is looked for is known now, and no regular expression.
    pub(crate) fn new(written: &[work::Expression], values: Vec<Expression>) -> Result<Self, Mistake> {
        let fixed = |value: &work::Expression| match value {
            work::Expression::Text(text) if text.is_fixed() => Some(text.fixed_text()),
            _ => None,
        };
        let known = match (written.get(1).and_then(fixed), written.get(2).map(fixed)) {
            (Some(pattern), None) => Some(extractor(&pattern, None)?),
            (Some(pattern), Some(Some(form))) => Some(extractor(&pattern, Some(&form))?),
            _ => None,
        };
        Ok(Self { values, known })
    }

    /// Writes all that is found as a JSON array at the end of `out`.
    pub(crate) fn write(&self, evaluation: &mut Evaluation<'_, '_>, out: &mut Vec<u8>) -> Result<(), NoValue> {
        if let Some(known) = &self.known {
            return self.values[0].with(evaluation, |text, _| all(known, text, out));
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
        let sought = lately(pattern, form).ok_or(NoValue)?;
        self.values[0].with(evaluation, |text, _| all(&sought, text, out))
    }
}

fn lately(pattern: Vec<u8>, form: Option<Vec<u8>>) -> Option<Rc<Extractor>> {
    LATELY.with_borrow_mut(|lately| {
        if let Some(known) = lately.iter().find(|known| known.pattern == pattern && known.form == form) {
            return known.extractor.clone();
        }
        let text = |bytes| std::str::from_utf8(bytes).ok();
        let made = match (text(&pattern), form.as_deref().map(text)) {
            (Some(pattern), None) => extractor(pattern, None).ok(),
            (Some(pattern), Some(Some(form))) => extractor(pattern, Some(form)).ok(),
            _ => None,
        };
        let made = made.map(Rc::new);
        lately.truncate(LATELY_MAX - 1);
        lately.insert(0, Sought { pattern, form, extractor: made.clone() });
        made
    })
}

fn extractor(pattern: &str, form: Option<&str>) -> Result<Extractor, Mistake> {
    Ok(Extractor::compile(Kind::Regex, pattern)?.writing(form)?.taking(Which::Every))
}

/// All matches; none are an empty array.
fn all(sought: &Extractor, text: &[u8], out: &mut Vec<u8>) -> Result<(), NoValue> {
    match sought.of_text(text) {
        Ok(list) => serde_json::to_writer(out, &list).map_err(|_| NoValue),
        Err(_) => {
            out.extend_from_slice(b"[]");
            Ok(())
        }
    }
}
