//! A key that makes numbers of what is personal: the same value gives the same number, and nobody without the key finds the value again.
//!
//! Whoever counts users in several places has to know them again without knowing who they are. A digest without a key does not do: there
//! are so few addresses that all of them can be tried. SipHash-2-4 (Aumasson and Bernstein, 2012) is made to be unpredictable without its key, and takes
//! a few nanoseconds for an address, where a digest of SHA-256 takes a hundred.

use std::fmt;
use std::hash::Hasher as _;

use siphasher::sip::SipHasher24;

/// The key of the numbers that stand for users, names and values. Parts of a survey go together if they have the same.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Key([u8; 16]);

/// What a number stands for: the same text as two things has two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Subject {
    User,
    Name,
    Value,
    /// Nothing: by this number a key is known again.
    Key,
}

impl Key {
    /// Of these bytes, which are to be secret and drawn at random.
    #[must_use]
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The number of a value.
    #[inline]
    pub(crate) fn number(&self, subject: Subject, value: &[u8]) -> u64 {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        hasher.write(&[subject as u8]);
        hasher.write(value);
        hasher.finish()
    }

    /// What tells this key from others, and does not tell the key.
    pub(crate) fn mark(&self) -> u64 {
        self.number(Subject::Key, b"")
    }
}

/// Without its bytes.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_one_number_for_each_key_and_subject() {
        let (one, other) = (Key::new([1; 16]), Key::new([2; 16]));
        let number = |key: &Key, subject| key.number(subject, b"192.0.2.1");
        assert_eq!(number(&one, Subject::User), number(&one, Subject::User));
        assert_ne!(number(&one, Subject::User), number(&one, Subject::Name));
        assert_ne!(number(&one, Subject::User), number(&other, Subject::User));
        assert_ne!(one.mark(), other.mark());
        assert_eq!(format!("{one:?}"), "Key");
    }
}
