//! The secrets that are known so far, to be left out of everything that is said.
//!
//! A message names the thing and its value, and now and then that value holds a password: a proxy that is none, a header that was typed
//! wrong. What is said is composed in many places, and one of them would forget. So what is learnt is kept in one place, and whatever is
//! said passes it. It is a value, which its owner hands to those who speak: one that all of a process share would hide the words of one
//! user of a server from another, and tell them letter by letter.

use std::sync::{Arc, Mutex, PoisonError};

use plan::{Draft, Secrets};

/// Secrets as they are learnt. Copies share them.
#[derive(Debug, Clone, Default)]
pub struct KnownSecrets(Arc<Mutex<Secrets>>);

impl KnownSecrets {
    /// Everything secret in these settings is left out from now on.
    pub fn learn(&self, draft: &Draft) {
        self.add(Secrets::of_draft(draft));
    }

    /// The same of values that are secrets whatever they are called.
    pub fn learn_values<'a>(&self, values: impl IntoIterator<Item = &'a str>) {
        self.add(Secrets::of_values(values));
    }

    /// The same of an address that something is sent to, or read from.
    pub fn learn_address(&self, url: &str) {
        self.learn(&Draft { url: Some(url.to_owned()), ..Draft::default() });
    }

    /// The text without them.
    #[must_use]
    pub fn conceal(&self, text: &str) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).conceal(text)
    }

    /// Those of both, as far as they are known now.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        let both = Self::default();
        [self, other].into_iter().for_each(|known| both.add(known.0.lock().unwrap_or_else(PoisonError::into_inner).clone()));
        both
    }

    fn add(&self, more: Secrets) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *known = std::mem::take(&mut *known).and(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_hid_is_not_hidden_from_another() {
        let of = |token: &str| {
            let known = KnownSecrets::default();
            known.learn(&Draft { bearer: Some(token.to_owned()), ..Draft::default() });
            known
        };
        let said = "sk-live-of-one and sk-live-of-another, learnt-later";
        let one = of("sk-live-of-one");
        one.clone().learn_values(["learnt-later"]);
        assert_eq!(one.conceal(said), "*** and ***another, ***");
        assert_eq!(of("sk-live-of-another").conceal(said), "***one and ***, learnt-later");
        assert_eq!(KnownSecrets::default().conceal(said), said);
    }
}
