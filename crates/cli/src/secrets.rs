//! The secrets of this command line, kept out of everything that goes to standard error.
//!
//! A message names the thing and its value, and now and then that value holds a password: a proxy that is none, a header that
//! was typed wrong. What is said is composed in many places, and one of them would forget; so what was typed is learnt once, before
//! anything is said, and looked for in all that is said.

use std::sync::{Mutex, PoisonError};

use plan::{Draft, Secrets};

static KNOWN: Mutex<Option<Secrets>> = Mutex::new(None);

/// Everything secret in what was typed is left out from now on.
pub fn learn(draft: &Draft) {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    *known = Some(known.take().unwrap_or_default().and(Secrets::of_draft(draft)));
}

/// The same of values that are secrets whatever they are called.
pub fn learn_values<'a>(values: impl IntoIterator<Item = &'a str>) {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    *known = Some(known.take().unwrap_or_default().and(Secrets::of_values(values)));
}

/// The same of an address that something is told to, or read from.
pub fn learn_address(url: &str) {
    learn(&Draft { url: Some(url.to_owned()), ..Draft::default() });
}

/// The text without what was learnt.
pub fn without(text: &str) -> String {
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.as_ref().map_or_else(|| text.to_owned(), |known| known.conceal(text))
}
