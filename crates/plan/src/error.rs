//! Every mistake in a draft, each with the setting, what is wrong and a remedy.

use std::{fmt, io};

/// One mistake: which setting, what is wrong with it, what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanError {
    /// The setting's flag without dashes, such as `connect-timeout`; `url` for the target.
    pub setting: &'static str,
    /// The thing and its value: `--rate 0/s sends nothing`.
    pub message: String,
    /// What to do: `give a rate above 0, such as --rate 100/s`.
    pub help: String,
}

impl PlanError {
    /// A mistake in a setting.
    #[must_use]
    pub fn new(setting: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { setting, message: message.into(), help: help.into() }
    }
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}\n  help: {}", self.message, self.help)
    }
}

/// All mistakes of a draft, in the order of the settings. Never empty when returned as an error.
#[derive(Debug, Clone, PartialEq, Eq, Default, thiserror::Error)]
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
}

impl fmt::Display for PlanErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, error) in self.0.iter().enumerate() {
            if place > 0 {
                f.write_str("\n")?;
            }
            error.fmt(f)?;
        }
        Ok(())
    }
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
