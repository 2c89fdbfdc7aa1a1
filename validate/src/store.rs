//! What was measured so far, a file a step, so that an end in the middle costs one step.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A step that was carried out, or failed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record<T> {
    /// The program it was carried out with.
    pub program: String,
    /// The day, UTC.
    pub day: String,
    /// How long it took.
    pub seconds: f64,
    /// What was seen.
    pub seen: Option<T>,
    /// Why nothing was.
    pub failed: Option<String>,
}

/// A directory of records.
#[derive(Debug)]
pub struct Store {
    dir: PathBuf,
    program: String,
    resume: Resume,
}

/// What to do with what was measured before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resume {
    /// Measure it anew.
    Anew,
    /// Keep what this very program did.
    Kept,
}

impl Store {
    /// In this directory, for this program.
    ///
    /// # Errors
    /// If the directory cannot be made or the program is not there.
    pub fn open(dir: &Path, loadline: &Path, resume: Resume) -> Result<Self> {
        fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
        let about = fs::metadata(loadline).with_context(|| format!("{} is not there; build it first: make build", loadline.display()))?;
        let built = about.modified()?.duration_since(std::time::UNIX_EPOCH)?.as_secs();
        Ok(Self { dir: dir.to_owned(), program: format!("{} bytes of {built}", about.len()), resume })
    }

    fn path(&self, part: &str, step: usize) -> PathBuf {
        self.dir.join(format!("{part}-{step}.json"))
    }

    /// Whether this step need not be measured again.
    #[must_use]
    pub fn has(&self, part: &str, step: usize) -> bool {
        let kept = |record: Record<serde_json::Value>| record.program == self.program && record.seen.is_some();
        self.resume == Resume::Kept && self.read(part, step).is_some_and(kept)
    }

    /// Keeps what came of a step. A disk that is full loses it, and says so.
    pub fn keep<T: Serialize>(&mut self, part: &str, step: usize, seconds: f64, seen: Result<T>) {
        let (seen, failed) = match seen {
            Ok(seen) => (Some(seen), None),
            Err(why) => (None, Some(format!("{why:#}"))),
        };
        let record = Record { program: self.program.clone(), day: bench::today(), seconds, seen, failed };
        let path = self.path(part, step);
        let written = serde_json::to_vec_pretty(&record).map_err(std::io::Error::from).and_then(|text| fs::write(&path, text));
        if let Err(why) = written {
            eprintln!("{} cannot be written: {why}", path.display());
        }
    }

    /// What is known of a step.
    #[must_use]
    pub fn read<T: DeserializeOwned>(&self, part: &str, step: usize) -> Option<Record<T>> {
        serde_json::from_slice(&fs::read(self.path(part, step)).ok()?).ok()
    }
}
