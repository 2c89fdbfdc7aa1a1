//! Texts for people in which settings stand by name, so that whoever shows one says it in the words of its reader: `--rate 5/s` on a
//! command line, `rate: 5/s` in a file. Editing finished texts was rejected: what looks like a flag in them may be a user's own word.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::setting::{BEGIN, END, SettingName, WITH_VALUE};

/// A text in which settings stand by name. It has no `Display`: it is shown by [`Wording::spelt`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Wording(String);

/// How settings are written where a text is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// Flags of a command line: `--connect-timeout 5s`.
    Flags,
    /// Keys of a file or a request: `connect_timeout: 5s`; these have keys of other names.
    Keys(&'static [(SettingName, &'static str)]),
}

impl Spelling {
    /// Keys of a plan.
    pub const KEYS: Self = Self::Keys(&[]);
    /// Keys of a load of users, as scenarios write it.
    pub const KEYS_OF_USERS: Self = Self::Keys(&[(crate::setting::CONNECTIONS, "users")]);
}

impl Wording {
    /// The text as its reader writes settings.
    #[must_use]
    pub fn spelt(&self, spelling: Spelling) -> String {
        let mut pieces = self.0.split(BEGIN);
        let mut spelt = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            let (word, rest) = piece.split_once(END).unwrap_or((piece, ""));
            let name = word.trim_end_matches(WITH_VALUE);
            match (SettingName::of(name), spelling) {
                // Marks of a user's own.
                (None, _) => spelt += word,
                (Some(_), Spelling::Flags) => spelt.extend(["--", name]),
                (Some(setting), Spelling::Keys(others)) => {
                    let other = others.iter().find(|(known, _)| *known == setting);
                    spelt += &other.map_or_else(|| name.replace('-', "_"), |(_, key)| (*key).to_owned());
                    spelt += &word[name.len()..];
                    // A value that may be left out stands behind `=` on a command line.
                    if let Some(value) = rest.strip_prefix('=') {
                        spelt.extend([" ", value]);
                        continue;
                    }
                }
            }
            spelt += rest;
        }
        spelt.retain(|letter| letter != END);
        spelt
    }

    /// The text with its marks, to stand in another one.
    #[must_use]
    pub fn marked(&self) -> &str {
        &self.0
    }

    /// The same, said of something: `A: --rate 0/s sends nothing`.
    #[must_use]
    pub fn under(&self, what: &str) -> Self {
        Self(format!("{what}: {}", self.0))
    }

    /// As an error is told: what is wrong, and below it what to do.
    #[must_use]
    pub fn with_help(&self, help: &Self) -> Self {
        Self(format!("error: {}\n  help: {}", self.0, help.0))
    }
}

impl From<String> for Wording {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<fmt::Arguments<'_>> for Wording {
    fn from(text: fmt::Arguments<'_>) -> Self {
        Self(text.to_string())
    }
}

impl From<&str> for Wording {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setting::{ADAPTIVE, CONNECT_TIMEOUT, CONNECTIONS, INSECURE, RATE};

    #[test]
    fn a_setting_is_written_as_its_reader_writes_it() {
        for (text, flags, keys) in [
            (
                format!("give {CONNECT_TIMEOUT:#} 5s, or leave {INSECURE} out"),
                "give --connect-timeout 5s, or leave --insecure out",
                "give connect_timeout: 5s, or leave insecure out",
            ),
            (format!("{CONNECTIONS:#} '0 to 5'"), "--connections '0 to 5'", "users: '0 to 5'"),
            (format!("{ADAPTIVE:#}=3, or {ADAPTIVE}"), "--adaptive=3, or --adaptive", "adaptive: 3, or adaptive"),
            ("ps --pid 1".to_owned(), "ps --pid 1", "ps --pid 1"),
        ] {
            let wording = Wording::from(text);
            assert_eq!(wording.spelt(Spelling::Flags), flags);
            assert_eq!(wording.spelt(Spelling::KEYS_OF_USERS), keys);
            assert_eq!(wording.spelt(Spelling::KEYS), keys.replace("users", "connections"));
        }
    }

    #[test]
    fn marks_in_a_users_own_text_are_left_out_and_nothing_else_is() {
        for own in ["", "x", ":", "=", "-rate", "\u{10fff0}", "\u{10fff1}", "\u{10fff0}x\u{10fff1}y"] {
            for value in
                [format!("a{BEGIN}{own}"), format!("a{END}{own}"), format!("{BEGIN}{own}{END}"), format!("{END}{BEGIN}{own}-{END}")]
            {
                let wording = Wording::from(format!("{RATE:#} {value} is no rate; leave {RATE} out")).under("A");
                let plain: String = value.chars().filter(|letter| ![BEGIN, END].contains(letter)).collect();
                assert_eq!(wording.spelt(Spelling::Flags), format!("A: --rate {plain} is no rate; leave --rate out"), "{value:?}");
            }
        }
    }
}
