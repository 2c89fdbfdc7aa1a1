//! Where a load's files, variables and standard input come from: this machine, or a test.
//!
//! One trait stands before the world, so that everything that is decided about it can be tested without one.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

use engine::body::all;
use plan::{LargeFile, Plan, ReadFrom, RowsAt};
use template::{Data, DataError, MEMORY_BYTES_MAX};

/// What a load is read from.
pub trait Inputs {
    /// What a file is, without its contents.
    ///
    /// # Errors
    /// If it cannot be opened, in the system's words.
    fn look(&self, path: &str) -> io::Result<FileInfo>;

    /// What a file holds, at most so many bytes, a number of MiB.
    ///
    /// # Errors
    /// If it cannot be read, or holds more.
    fn read(&self, path: &str, bytes_max: u64) -> io::Result<Vec<u8>>;

    /// What a file begins with: so many bytes, or all of it.
    ///
    /// # Errors
    /// If it cannot be read.
    fn beginning(&self, path: &str, bytes: u64) -> io::Result<Vec<u8>>;

    /// The rows of a file that may be larger than memory.
    ///
    /// # Errors
    /// All its mistakes.
    fn rows(&self, rows: RowsAt<'_>) -> Result<Data, Vec<DataError>>;

    /// All of standard input, at most so many bytes, a number of MiB.
    ///
    /// # Errors
    /// If it cannot be read, or is more.
    fn standard_input(&self, bytes_max: u64) -> io::Result<Vec<u8>>;

    /// A variable of the environment.
    fn variable(&self, name: &str) -> Option<String>;

    /// What this machine is called, and its address by that name; empty where that is not known.
    fn machine(&self) -> (String, String);

    /// The cores that this process may use.
    fn cores(&self) -> NonZeroU32;

    /// The connections that this process may have open at once.
    fn connections_max(&self) -> NonZeroU32;
}

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileInfo {
    /// Whether it is a directory.
    pub is_directory: bool,
    /// Whether it can be read more than once, as a pipe cannot.
    pub is_regular: bool,
    /// Its length in bytes.
    pub length: u64,
}

/// This machine.
#[derive(Debug, Clone, Copy)]
pub struct LocalInputs;

impl Inputs for LocalInputs {
    fn look(&self, path: &str) -> io::Result<FileInfo> {
        // What may not be read can be looked at all the same, and a pipe without a writer cannot be opened.
        let about = fs::metadata(path)?;
        if about.is_file() || about.is_dir() {
            File::open(path)?;
        }
        let (is_directory, is_regular) = (about.is_dir(), about.is_file());
        Ok(FileInfo { is_directory, is_regular, length: about.len() })
    }

    fn read(&self, path: &str, bytes_max: u64) -> io::Result<Vec<u8>> {
        whole(path, bytes_max)
    }

    fn beginning(&self, path: &str, bytes: u64) -> io::Result<Vec<u8>> {
        let mut held = Vec::new();
        File::open(path)?.take(bytes).read_to_end(&mut held)?;
        Ok(held)
    }

    fn rows(&self, rows: RowsAt<'_>) -> Result<Data, Vec<DataError>> {
        Data::open(rows)
    }

    fn standard_input(&self, bytes_max: u64) -> io::Result<Vec<u8>> {
        all(io::stdin().lock(), bytes_max)
    }

    fn variable(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn machine(&self) -> (String, String) {
        let name = fs::read_to_string("/proc/sys/kernel/hostname").map_or_else(|_| String::new(), |name| name.trim().to_owned());
        // Of several the first of IPv4, as Java has it.
        let found = (name.as_str(), 0).to_socket_addrs().ok().and_then(|found| found.min_by_key(SocketAddr::is_ipv6));
        let address = found.map_or_else(String::new, |found| found.ip().to_string());
        (name, address)
    }

    fn cores(&self) -> NonZeroU32 {
        engine::machine::cores()
    }

    fn connections_max(&self) -> NonZeroU32 {
        engine::machine::connections_max()
    }
}

/// What a file holds, up to so many bytes, a number of MiB: a device or a pipe may have no end.
///
/// # Errors
/// If it cannot be read, or is larger.
pub fn whole(path: impl AsRef<Path>, bytes_max: u64) -> io::Result<Vec<u8>> {
    all(File::open(path)?, bytes_max)
}

/// Files and variables in memory: those of a plan that came from elsewhere, or of a test.
#[derive(Debug, Clone, Default)]
pub struct MemoryInputs {
    files: BTreeMap<String, Arc<[u8]>>,
    /// Those that are not in memory as they are.
    large: BTreeMap<String, Arc<dyn LargeFile>>,
    /// Whether files that are not among them may be on this machine.
    has_more: bool,
    variables: BTreeMap<String, String>,
    machine: (String, String),
    input: Vec<u8>,
}

impl MemoryInputs {
    /// What a plan holds: all that it is carried out from, where its files are not.
    #[must_use]
    pub fn of_plan(plan: &Plan) -> Self {
        let files = plan.contents().iter().map(|(path, bytes)| (path.to_owned(), bytes.clone())).collect();
        let large = plan.contents().large().map(|(path, file)| (path.to_owned(), file.clone())).collect();
        Self { files, large, variables: plan.variation().environment.iter().cloned().collect(), ..Self::default() }
    }

    /// The same where files that it does not hold are on this machine: those that are too large.
    #[must_use]
    pub fn with_local_files(self) -> Self {
        Self { has_more: true, ..self }
    }

    /// The same with a file.
    #[must_use]
    pub fn with_file(mut self, path: &str, held: impl AsRef<[u8]>) -> Self {
        self.files.insert(path.to_owned(), held.as_ref().into());
        self
    }

    /// The same with a variable.
    #[must_use]
    pub fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    /// The same on a machine of this name and address.
    #[must_use]
    pub fn on_machine(self, name: &str, address: &str) -> Self {
        Self { machine: (name.to_owned(), address.to_owned()), ..self }
    }

    /// The same with this on standard input.
    #[must_use]
    pub fn with_input(self, input: impl Into<Vec<u8>>) -> Self {
        Self { input: input.into(), ..self }
    }

    /// Whether a file is to be looked for on this machine.
    fn is_local(&self, path: &str) -> bool {
        self.has_more && !self.files.contains_key(path) && !self.large.contains_key(path)
    }

    fn file(&self, path: &str) -> io::Result<&[u8]> {
        self.files.get(path).map(|bytes| &bytes[..]).ok_or_else(|| io::Error::from_raw_os_error(NO_SUCH_FILE))
    }
}

/// `ENOENT`, so that messages are the system's own.
const NO_SUCH_FILE: i32 = 2;

impl Inputs for MemoryInputs {
    fn look(&self, path: &str) -> io::Result<FileInfo> {
        if self.is_local(path) {
            return LocalInputs.look(path);
        }
        let length = match self.large.get(path) {
            Some(file) => file.length()?,
            None => self.file(path)?.len() as u64,
        };
        Ok(FileInfo { is_directory: false, is_regular: true, length })
    }

    fn read(&self, path: &str, bytes_max: u64) -> io::Result<Vec<u8>> {
        all(self.file(path)?, bytes_max)
    }

    fn beginning(&self, path: &str, bytes: u64) -> io::Result<Vec<u8>> {
        if self.is_local(path) {
            return LocalInputs.beginning(path, bytes);
        }
        if let Some(file) = self.large.get(path) {
            let mut held = Vec::new();
            ReadFrom { file: &**file, offset: 0 }.take(bytes).read_to_end(&mut held)?;
            return Ok(held);
        }
        let held = self.file(path)?;
        Ok(held[..held.len().min(bytes as usize)].to_vec())
    }

    fn rows(&self, rows: RowsAt<'_>) -> Result<Data, Vec<DataError>> {
        let path = rows.path;
        if self.is_local(path) {
            return LocalInputs.rows(rows);
        }
        if let Some(file) = self.large.get(path) {
            return Data::of_large(rows, file, MEMORY_BYTES_MAX);
        }
        let unreadable = |why: io::Error| {
            let message = format!("the data file {path} cannot be read: {}", plan::plainly(&why));
            vec![DataError { message, help: "check the path".to_owned() }]
        };
        Data::of_bytes(rows, self.file(path).map_err(unreadable)?)
    }

    fn standard_input(&self, bytes_max: u64) -> io::Result<Vec<u8>> {
        all(self.input.as_slice(), bytes_max)
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn machine(&self) -> (String, String) {
        self.machine.clone()
    }

    fn cores(&self) -> NonZeroU32 {
        NonZeroU32::MIN
    }

    fn connections_max(&self) -> NonZeroU32 {
        const { NonZeroU32::new(1_000).unwrap() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_end_is_not_read_to_its_end() {
        assert_eq!(LocalInputs.read("/dev/zero", 1 << 20).unwrap_err().to_string(), "it is larger than 1 MiB");
    }
}
