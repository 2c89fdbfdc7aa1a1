//! A file that is read here and there while load is sent: one that was opened, or one in memory that came from elsewhere.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

use plan::LargeFile;
use rustix::fs::{MemfdFlags, memfd_create};

/// An open file. Of one in memory nothing is on any disk but what the system swaps, and it is gone with its last holder.
#[derive(Debug)]
pub struct StoredFile(File);

impl StoredFile {
    /// An empty one in memory.
    ///
    /// # Errors
    /// If the system has none.
    pub fn in_memory() -> io::Result<Self> {
        Ok(Self(memfd_create("loadline", MemfdFlags::CLOEXEC)?.into()))
    }

    /// Adds bytes at its end.
    ///
    /// # Errors
    /// If there is no more memory.
    pub fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }
}

impl From<File> for StoredFile {
    fn from(file: File) -> Self {
        Self(file)
    }
}

impl LargeFile for StoredFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn written_at(&self) -> Option<(i64, i64)> {
        self.0.metadata().ok().map(|metadata| (metadata.mtime(), metadata.mtime_nsec()))
    }

    fn read_at(&self, into: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(into, offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_into_one_in_memory_is_read_from_any_place() {
        let mut stored = StoredFile::in_memory().unwrap();
        [b"abc", b"def"].into_iter().for_each(|piece| stored.append(piece).unwrap());
        let mut read = [0; 4];
        assert_eq!((stored.length().unwrap(), stored.read_at(&mut read, 1).unwrap(), &read), (6, 4, b"bcde"));
        assert_eq!(stored.read_at(&mut read, 6).unwrap(), 0);
    }
}
