//! The secrets of what is asked for, kept out of everything that goes to standard error.
//!
//! A message names the thing and its value, and now and then that value holds a password: a proxy that is none, a header that
//! was typed wrong. What is said is composed in many places, and one of them would forget; so what was typed is learnt once, before
//! anything is said, and looked for in all that is said. A command line is the whole program's. A server is asked by many, and what
//! one of them hid would tell another, letter by letter, what it was: each has a [`Scope`] of its own.
//!
//! Invariant: what is learnt within a scope is known nowhere else, and within it nothing else is known.

use std::cell::RefCell;
use std::sync::{Mutex, PoisonError};

use plan::{Draft, Secrets};

/// Those of the command line.
static KNOWN: Mutex<Option<Secrets>> = Mutex::new(None);

thread_local! {
    /// Those of the scope that this thread is in.
    static OWN: RefCell<Option<Secrets>> = const { RefCell::new(None) };
}

/// What one of several that ask has to hide.
#[derive(Debug, Clone)]
pub struct Scope(Secrets);

impl Scope {
    /// Everything secret in what it asks for.
    pub fn of(draft: &Draft) -> Self {
        Self(Secrets::of_draft(draft))
    }

    /// Does `work` on this thread, which learns for this scope, and leaves out nothing but its secrets.
    pub fn within<T>(&self, work: impl FnOnce() -> T) -> T {
        let outer = OWN.replace(Some(self.0.clone()));
        let done = work();
        OWN.set(outer);
        done
    }
}

fn add(secrets: Secrets) {
    let learnt = OWN.with_borrow_mut(|own| match own {
        Some(known) => {
            *known = std::mem::take(known).and(secrets);
            None
        }
        None => Some(secrets),
    });
    if let Some(secrets) = learnt {
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some(known.take().unwrap_or_default().and(secrets));
    }
}

/// Everything secret in what was typed is left out from now on.
pub fn learn(draft: &Draft) {
    add(Secrets::of_draft(draft));
}

/// The same of values that are secrets whatever they are called.
pub fn learn_values<'a>(values: impl IntoIterator<Item = &'a str>) {
    add(Secrets::of_values(values));
}

/// The same of an address that something is told to, or read from.
pub fn learn_address(url: &str) {
    learn(&Draft { url: Some(url.to_owned()), ..Draft::default() });
}

/// The text without what was learnt.
pub fn without(text: &str) -> String {
    let within = OWN.with_borrow(|own| own.as_ref().map(|known| known.conceal(text)));
    within.unwrap_or_else(|| {
        let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().map_or_else(|| text.to_owned(), |known| known.conceal(text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_hid_is_not_hidden_from_another() {
        let scope = |token: &str| Scope::of(&Draft { bearer: Some(token.to_owned()), ..Draft::default() });
        let said = "sk-live-of-one and sk-live-of-another, learnt-later";
        let one = scope("sk-live-of-one");
        let hidden = one.within(|| {
            learn_values(["learnt-later"]);
            without(said)
        });
        assert_eq!(hidden, "*** and ***another, ***");
        assert_eq!(scope("sk-live-of-another").within(|| without(said)), "***one and ***, learnt-later");
        assert_eq!(without(said), said);
    }
}
