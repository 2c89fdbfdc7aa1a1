//! Every mistake in a draft, each with the setting, what is wrong and a remedy.

use std::io;

use crate::{Spelling, Wording};

/// One mistake: which setting, what is wrong with it, what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanError {
    /// The setting's flag without dashes, such as `connect-timeout`; `url` for the target.
    pub setting: &'static str,
    /// The thing and its value: `{RATE:#} 0/s sends nothing`.
    pub message: Wording,
    /// What to do: `give a rate above 0, such as {RATE:#} 100/s`.
    pub help: Wording,
}

impl PlanError {
    /// A mistake in a setting.
    #[must_use]
    pub fn new(setting: impl Into<&'static str>, message: impl Into<Wording>, help: impl Into<Wording>) -> Self {
        Self { setting: setting.into(), message: message.into(), help: help.into() }
    }
}

/// All mistakes of a draft, in the order of the settings. Never empty when returned as an error.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlanErrors(pub Vec<PlanError>);

impl PlanErrors {
    /// Notes one more; the same mistake said twice stays one.
    pub fn push(&mut self, error: PlanError) {
        if !self.0.contains(&error) {
            self.0.push(error);
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each with what to do, one below the other.
    #[must_use]
    pub fn wording(&self) -> Wording {
        let all: Vec<Wording> = self.0.iter().map(|error| error.message.with_help(&error.help)).collect();
        all.iter().map(Wording::marked).collect::<Vec<&str>>().join("\n").into()
    }

    /// The same as its reader writes settings.
    #[must_use]
    pub fn spelt(&self, spelling: Spelling) -> String {
        self.wording().spelt(spelling)
    }
}

/// Whether a letter of a foreign text steers whoever reads it, and is not shown: line and paragraph separators, marks of direction, joiners and
/// others without a shape of their own. Control characters do too.
#[must_use]
pub const fn steers(letter: char) -> bool {
    matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{61c}' | '\u{ad}')
}

/// What the system says, as it stands inside a sentence and without its number.
#[must_use]
pub fn plainly(why: &io::Error) -> String {
    match why.kind() {
        io::ErrorKind::NotFound => "there is no such file or directory".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::StorageFull => "the disk is full".to_owned(),
        io::ErrorKind::IsADirectory => "it is a directory".to_owned(),
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only".to_owned(),
        _ => {
            let text = why.to_string();
            let plain = text.split(" (os error").next().unwrap_or(&text).to_owned();
            let mut letters = plain.chars();
            letters.next().map_or(plain.clone(), |first| first.to_lowercase().chain(letters).collect())
        }
    }
}
