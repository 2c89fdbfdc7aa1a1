//! A log that can be read twice: a file as long as it was when it was opened, or a copy of what comes only once.
//!
//! Servers go on writing, and what is appended meanwhile was not looked at. Standard input and pipes are gone once they are read;
//! they are put into a temporary file, since memory may not hold them.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

use tempfile::NamedTempFile;

/// A log by its name.
#[derive(Debug)]
pub struct Log {
    name: String,
    path: PathBuf,
    bytes: u64,
    /// Removed when this goes.
    _copy: Option<NamedTempFile>,
}

impl Log {
    /// Opens it once to see that it can be read. `-` is standard input, which is read to its end.
    ///
    /// # Errors
    /// As the file system says.
    pub fn open(name: &str) -> io::Result<Self> {
        if name == "-" {
            return Self::copied("standard input", io::stdin().lock());
        }
        let file = File::open(name)?;
        let about = file.metadata()?;
        if about.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        if !about.is_file() {
            return Self::copied(name, file);
        }
        Ok(Self { name: name.to_owned(), path: name.into(), bytes: about.len(), _copy: None })
    }

    fn copied(name: &str, mut source: impl Read) -> io::Result<Self> {
        let mut copy = NamedTempFile::with_prefix("loadline-replay-")?;
        let bytes = io::copy(&mut source, &mut copy)?;
        Ok(Self { name: name.to_owned(), path: copy.path().to_owned(), bytes, _copy: Some(copy) })
    }

    /// Its name, as people read it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// From its beginning to where it ended when it was opened.
    ///
    /// # Errors
    /// As the file system says.
    pub fn read(&self) -> io::Result<impl Read + use<>> {
        Ok(File::open(&self.path)?.take(self.bytes))
    }
}
