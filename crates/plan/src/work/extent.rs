//! How much ends before its end: a journey, a user, the load.
//!
//! A step may end it where it fails, and an item where users come to it. Rounds and loops end too, but only by an item: where a failure
//! leads out of is known when it happens, and what ends by it is more than a loop.

use std::fmt;
use std::str::FromStr;

/// How much ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The journey that the user is on; the user goes on with its next one.
    Journey,
    /// All that the user does: it goes.
    User,
    /// The load of all users. What is under way is waited for.
    Load,
    /// The same at once: what is under way is given up.
    LoadAtOnce,
}

/// As they are written.
const WORDS: [(&str, Extent); 4] =
    [("journey", Extent::Journey), ("user", Extent::User), ("load", Extent::Load), ("load at once", Extent::LoadAtOnce)];

impl fmt::Display for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = WORDS.iter().find(|(_, extent)| extent == self).map_or("", |(word, _)| word);
        f.write_str(word)
    }
}

impl FromStr for Extent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = WORDS.iter().find(|(word, _)| *word == text.trim()).map(|(_, extent)| *extent);
        known.ok_or_else(|| format!("'{}' is nothing that ends", text.escape_debug()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_is_written_as_it_is_read() {
        for (word, extent) in WORDS {
            assert_eq!((word.parse(), extent.to_string()), (Ok(extent), word.to_owned()));
        }
        assert_eq!("test".parse::<Extent>(), Err("'test' is nothing that ends".to_owned()));
    }
}
