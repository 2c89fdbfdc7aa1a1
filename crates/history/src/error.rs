//! Why the history cannot be used: each with what to do.

use std::path::PathBuf;

use plan::Wording;
use plan::setting::{DB, NO_SAVE};
use thiserror::Error;

/// The history cannot do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HistoryError {
    /// The file is something else.
    #[error("'{}' is not a history of loadline: {what}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        what: String,
    },
    /// A later loadline wrote it.
    #[error("'{}' was written by a later loadline: it is of version {version}, and this one knows {known}", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
        /// The latest version known here.
        known: u32,
    },
    /// It cannot be opened, read or written.
    #[error("the history '{}' cannot be used: {why}", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What the system or the database says.
        why: String,
    },
    /// The database is broken.
    #[error("the history '{}' is damaged", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
    },
    /// Nothing is called so.
    #[error("no saved run is called '{reference}'{because}")]
    Unknown {
        /// As typed.
        reference: String,
        /// What there is instead, beginning with a comma or colon; may be empty.
        because: String,
    },
    /// Several are.
    #[error("'{reference}' is the beginning of several saved runs: {}", ids.join(", "))]
    Ambiguous {
        /// As typed.
        reference: String,
        /// Their short ids.
        ids: Vec<String>,
    },
    /// It cannot be a reference.
    #[error("'{0}' is no reference to a saved run")]
    NoReference(String),
    /// What was saved cannot be read back.
    #[error("the saved run {id} is damaged: {why}")]
    Damaged {
        /// Which.
        id: String,
        /// What is wrong.
        why: String,
    },
    /// A run of this id is there already.
    #[error("the run {id} is in the history already")]
    Twice {
        /// Which.
        id: String,
    },
    /// A tag that could not be found again.
    #[error("'{0}' is no tag: it is empty, or holds a space, a comma or a control character")]
    NoTag(String),
}

impl HistoryError {
    /// What to do about it.
    #[must_use]
    pub fn help(&self) -> Wording {
        match self {
            Self::Foreign { .. } => format!("give another file with {DB}, or move this one away").into(),
            Self::Newer { .. } => format!("update loadline, or give another file with {DB}").into(),
            Self::Unusable { .. } => format!("make room or allow writing there, give another file with {DB}, or save nothing with {NO_SAVE}").into(),
            Self::Corrupt { .. } => format!("move it away, and loadline begins a new one; 'sqlite3 FILE .recover | sqlite3 NEW' may save its runs, or give another file with {DB}").into(),
            Self::Unknown { .. } => "see what there is with 'loadline runs'".into(),
            Self::Ambiguous { .. } => "give more letters of the one that is meant".into(),
            Self::NoReference(_) => "give @last, @last-2, @NAME, @baseline, or the beginning of an id from 'loadline runs'".into(),
            Self::Damaged { .. } => "the other runs are not concerned; remove this one with 'loadline rm'".into(),
            Self::Twice { .. } => "show it with 'loadline show'".into(),
            Self::NoTag(_) => "give plain words, such as +release or +v1.2".into(),
        }
    }
}
