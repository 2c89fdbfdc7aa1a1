//! What an experiment has at hand.

use std::path::{Path, PathBuf};

/// How much of everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// What the page is made from.
    Full,
    /// Only to see that it works; seconds.
    Short,
}

/// The program under test and how much to ask of it.
#[derive(Debug, Clone)]
pub struct Lab {
    /// The binary `loadline`.
    pub loadline: PathBuf,
    /// How much.
    pub extent: Extent,
}

impl Lab {
    /// With this binary.
    #[must_use]
    pub fn new(loadline: &Path, extent: Extent) -> Self {
        Self { loadline: loadline.to_owned(), extent }
    }

    /// The one or the other, by extent.
    #[must_use]
    pub fn of<T>(&self, full: T, short: T) -> T {
        match self.extent {
            Extent::Full => full,
            Extent::Short => short,
        }
    }
}
