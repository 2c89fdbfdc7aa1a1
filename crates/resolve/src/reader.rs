//! Reads files once for all loads of a command.
//!
//! A sweep decides a plan for each of its levels, and a comparison two for each pair: going through a file of gigabytes each time would
//! take longer than the load, a pipe can be read only once, and loads that are compared must not differ because a file was edited meanwhile.
//! So a file is read once, whatever becomes of it.

use std::cell::{Cell, RefCell};
use std::io;
use std::num::NonZeroU32;
use std::rc::Rc;
use std::sync::Arc;

use plan::{PlanError, RowsAt, plainly};
use ring::digest;
use template::{Data, DataError, MEMORY_BYTES_MAX};

use crate::{Inputs, KnownSecrets, LocalInputs};

/// What comes through a pipe is kept in memory.
const PIPE_BYTES_MAX: u64 = 1 << 30;

/// What the machines carry that a load comes from, all together.
#[derive(Debug, Clone, Copy)]
struct Capacity {
    machines: NonZeroU32,
    cores: NonZeroU32,
    connections_max: NonZeroU32,
}

/// Reads the files of a command, and knows the secrets that it comes across.
pub struct Reader {
    inputs: Box<dyn Inputs>,
    files: RefCell<Vec<(String, Arc<[u8]>)>>,
    data: RefCell<Vec<(String, Arc<Data>)>>,
    secrets: KnownSecrets,
    /// What servers were asked before their loads.
    answers: RefCell<Vec<(String, Arc<[u8]>)>>,
    /// Whether they may be.
    asks: Cell<bool>,
    /// Where the load comes from other machines than this one.
    capacity: Cell<Option<Capacity>>,
}

impl Reader {
    /// Of this machine; what is secret is told to `secrets`.
    #[must_use]
    pub fn of_this_machine(secrets: KnownSecrets) -> Rc<Self> {
        Self::new(LocalInputs, secrets)
    }

    /// Of these inputs.
    #[must_use]
    pub fn new(inputs: impl Inputs + 'static, secrets: KnownSecrets) -> Rc<Self> {
        Rc::new(Self {
            inputs: Box::new(inputs),
            files: RefCell::default(),
            data: RefCell::default(),
            secrets,
            answers: RefCell::default(),
            asks: Cell::new(true),
            capacity: Cell::new(None),
        })
    }

    /// Where it reads from.
    #[must_use]
    pub fn inputs(&self) -> &dyn Inputs {
        &*self.inputs
    }

    /// The load comes from so many other machines, which have so many cores and may have so many connections open, all together.
    pub fn learn_machines(&self, machines: NonZeroU32, cores: NonZeroU32, connections_max: NonZeroU32) {
        self.capacity.set(Some(Capacity { machines, cores, connections_max }));
    }

    /// No server is asked anything from now on: where what is decided may be somebody else's wish.
    pub fn never_ask(&self) {
        self.asks.set(false);
    }

    /// What a server answered to this, now or before.
    ///
    /// # Errors
    /// As `ask`; and if no server may be asked.
    pub(crate) fn asked(&self, what: &str, ask: impl FnOnce() -> Result<Arc<[u8]>, PlanError>) -> Result<Arc<[u8]>, PlanError> {
        self.once(what, &self.answers, || if self.asks.get() { ask() } else { Err(not_asked()) })
    }

    /// How many machines a load comes from.
    pub(crate) fn machines(&self) -> NonZeroU32 {
        self.capacity.get().map_or(NonZeroU32::MIN, |all| all.machines)
    }

    /// The cores that a load has.
    #[must_use]
    pub fn cores(&self) -> NonZeroU32 {
        self.capacity.get().map_or_else(|| self.inputs.cores(), |all| all.cores)
    }

    /// The connections that one process may have open, or all machines.
    #[must_use]
    pub fn connections_max(&self) -> NonZeroU32 {
        self.capacity.get().map_or_else(|| self.inputs.connections_max(), |all| all.connections_max)
    }

    /// The secrets that are known so far.
    #[must_use]
    pub const fn secrets(&self) -> &KnownSecrets {
        &self.secrets
    }

    /// What a file holds, read now or before.
    ///
    /// # Errors
    /// As [`Inputs::read`].
    pub fn read(&self, path: &str, bytes_max: u64) -> io::Result<Arc<[u8]>> {
        self.once(path, &self.files, || self.inputs.read(path, bytes_max).map(Arc::from))
    }

    /// The same, with why it cannot be read in words.
    pub(crate) fn whole(&self, path: &str, bytes_max: u64) -> Result<Arc<[u8]>, String> {
        self.once(path, &self.files, || match self.unreadable(path) {
            Some(why) => Err(why),
            None => self.inputs.read(path, bytes_max).map(Arc::from).map_err(|why| plainly(&why)),
        })
    }

    /// A data file, opened now or before.
    ///
    /// # Errors
    /// All its mistakes.
    pub fn data<'a>(&self, rows: impl Into<RowsAt<'a>>) -> Result<Arc<Data>, Vec<DataError>> {
        let rows = rows.into();
        // The same file under other names of its columns, or read otherwise, is another.
        let known_as = format!("({})[{}]{}", rows.header.unwrap_or_default(), rows.form, rows.path);
        self.once(&known_as, &self.data, || {
            let data = match self.data_bytes(rows.path)? {
                Some(bytes) => Data::of_bytes(rows, &bytes),
                None => self.inputs.rows(rows),
            };
            data.map(Arc::new)
        })
    }

    /// What a data file holds, if that is kept in memory.
    ///
    /// # Errors
    /// If what comes through a pipe cannot be read; why a file cannot is told where its rows are.
    pub(crate) fn data_bytes(&self, path: &str) -> Result<Option<Arc<[u8]>>, Vec<DataError>> {
        let Ok(about) = self.inputs.look(path) else { return Ok(None) };
        if about.is_directory || (about.is_regular && about.length > MEMORY_BYTES_MAX as u64) {
            return Ok(None);
        }
        match self.read(path, PIPE_BYTES_MAX) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(_) if about.is_regular => Ok(None),
            Err(why) => {
                let message = format!("the data file '{path}' is no regular file and cannot be read whole: {}", plainly(&why));
                Err(vec![DataError { message, help: "save it to a file first".to_owned() }])
            }
        }
    }

    /// Why a file cannot be read, in words; `None` if it can.
    #[must_use]
    pub fn unreadable(&self, path: &str) -> Option<String> {
        match self.inputs.look(path) {
            Err(why) => Some(plainly(&why)),
            Ok(about) if about.is_directory => Some("it is a directory".to_owned()),
            Ok(_) => None,
        }
    }

    fn once<T: Clone, E>(&self, path: &str, held: &RefCell<Vec<(String, T)>>, read: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        if let Some((_, held)) = held.borrow().iter().find(|(known, _)| known == path) {
            return Ok(held.clone());
        }
        let read = read()?;
        held.borrow_mut().push((path.to_owned(), read.clone()));
        Ok(read)
    }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}

fn not_asked() -> PlanError {
    let message =
        "what the messages of this service are like would have to be asked of the server, which is done on the command line alone";
    PlanError::new("url", message, "start the test on the command line")
}

/// What a file holds, in short: its SHA-256, in hexadecimal. A result names it, so that it is known whether the file is still the same.
#[must_use]
pub fn fingerprint(held: &[u8]) -> String {
    digest::digest(&digest::SHA256, held).as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_once_whatever_becomes_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a").display().to_string();
        std::fs::write(&path, "one").unwrap();
        let reader = Reader::of_this_machine(KnownSecrets::default());
        let first = reader.read(&path, 1 << 20).unwrap();
        std::fs::write(&path, "another").unwrap();
        assert!(Arc::ptr_eq(&first, &reader.whole(&path, 1 << 20).unwrap()));
        std::fs::remove_file(&path).unwrap();
        assert!(Arc::ptr_eq(&first, &reader.read(&path, 1 << 20).unwrap()));
        assert!(reader.whole(&format!("{path}/b"), 1 << 20).is_err());
    }

    #[test]
    fn a_fingerprint_is_a_sha_256() {
        assert_eq!(fingerprint(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}
