//! What a run has counted so far, written down second by second, so that it is there after the program is gone.
//!
//! A program that is killed, or loses its power, saves nothing. So whoever measures writes the exact counts of every second
//! into a file beside the database, at its end only ever, and removes it when the result is saved. A file that nobody holds
//! any more is a run that was cut short. Writing into the database itself was rejected: a transaction a second from every
//! run would make others wait, and a full disk would take the saved runs along.
//!
//! Writing happens on a thread of its own, so that a slow disk holds up neither the load nor what is shown of it. Each line
//! carries a checksum: the last one may have been cut in the middle, and a disk may lie. What cannot be written is told at
//! the end, and the run goes on without.
//!
//! A line leaves the program at once, so that no signal takes it along, and is on the disk a moment later, so that no loss of
//! power does. The moment is there for what is over within it: a run of a single request would otherwise wait for the disk
//! three times, for a file that is removed again.
//!
//! Invariant: a journal under its final name is held by a living program, or its program is gone.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use flate2::Crc;
use flate2::read::ZlibDecoder;
use measure::{Ending, IntervalCounts, Machine, Site, SnapshotRecord, SummaryBuilder, cut_short};
use plan::{Nanos, Plan, Secrets};
use serde::{Deserialize, Serialize};

use plan::plainly;

use crate::store::{beside, packed};
use crate::{Id, Kind, Moment, Revision};

/// The version of the file. A reader of this version refuses any other by name.
const SCHEMA: &str = "loadline.journal/1";
pub(crate) const ENDING: &str = "journal";
/// As the engine hands over counts.
pub(crate) const INTERVAL: Nanos = Nanos::SECOND;
/// How long after it was written a line is on the disk at the latest; a small part of a second, which is what may be lost.
const SYNCED_WITHIN: Duration = Duration::from_millis(50);

/// What is known of a run when it begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Its name for good.
    pub id: Id,
    /// What it will be the result of.
    pub kind: Kind,
    /// What the user calls it, or its URL suggests.
    pub name: String,
    /// When it began.
    pub started: Moment,
    /// Where the load comes from.
    pub machine: Machine,
    /// What was checked out.
    pub revision: Option<Revision>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// What the user wrote about it.
    pub note: String,
}

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Line {
    /// The first.
    Begun { schema: String, header: Box<Header> },
    /// A load begins.
    Load { plan: serde_json::Value, what: String },
    /// A second of it.
    Second(Box<SnapshotRecord>),
    /// Everything up to here is in the result of this number, which stands in a file beside.
    Result { number: u32 },
}

/// What is written down.
enum Message {
    Load { plan: Box<Plan>, what: String },
    Second(Box<SnapshotRecord>),
    Result(Vec<u8>),
}

/// The journal of a run that goes on.
#[derive(Debug)]
pub struct Journal {
    sender: Option<Sender<Message>>,
    writer: Option<JoinHandle<Result<Place, String>>>,
}

impl Journal {
    /// Begins the journal of a run beside the history at `database`. Returns at once; whether there is room for it shows in
    /// [`Journal::end`]. `asked_to_end` is called, on another thread, when somebody asks for that by a
    /// [`Follower`](crate::Follower).
    #[must_use]
    pub fn begin(database: &Path, header: Header, asked_to_end: impl FnMut() + Send + 'static) -> Self {
        let directory = directory(database);
        let (sender, messages) = channel();
        let writer = std::thread::Builder::new().name("journal".to_owned()).spawn(move || {
            let told = |why: io::Error| format!("'{}' cannot be written: {}", directory.display(), plainly(&why));
            let mut place = Place::make(&directory, header).map_err(told)?;
            let mut asked_to_end = asked_to_end;
            match place.write(&messages, &mut asked_to_end) {
                Ok(()) => Ok(place),
                Err(why) => {
                    place.mark();
                    // What was written is worth keeping until the run is saved; whoever sends on is not held up.
                    messages.iter().for_each(drop);
                    Err(told(why))
                }
            }
        });
        Self { sender: Some(sender), writer: writer.ok() }
    }

    /// A load begins: of a sweep each level, called `what`.
    pub fn load(&self, plan: &Plan, what: impl Into<String>) {
        self.send(Message::Load { plan: Box::new(plan.clone()), what: what.into() });
    }

    /// A second of that load. What waits to be written is small: a copy of its histograms would be a megabyte of every run.
    pub fn second(&self, counted: &IntervalCounts) {
        self.send(Message::Second(Box::new(SnapshotRecord::from(counted))));
    }

    /// Everything so far as one result, as JSON: what came before need not be put together from seconds.
    pub fn result_so_far(&self, json: Vec<u8>) {
        self.send(Message::Result(json));
    }

    /// Ends writing, and waits until all has left the program.
    ///
    /// # Errors
    /// In words, if something could not be written.
    pub fn end(mut self) -> Result<FinishedJournal, String> {
        drop(self.sender.take());
        let writer = self.writer.take().ok_or("a thread for the journal could not be made")?;
        writer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)).map(|place| FinishedJournal { place })
    }

    fn send(&self, message: Message) {
        // A writer that gave up has its reason ready for the end.
        let _ = self.sender.as_ref().map(|sender| sender.send(message));
    }
}

/// A journal that has been written to its end, and is still held.
#[derive(Debug)]
pub struct FinishedJournal {
    place: Place,
}

impl FinishedJournal {
    /// Removes it: the run is saved.
    pub fn remove(self) {
        self.place.remove();
    }

    /// Leaves it for whoever opens the history next: the run could not be saved.
    ///
    /// # Errors
    /// In words, if the disk did not take it.
    pub fn leave(self) -> Result<(), String> {
        self.place.mark();
        self.place.file.sync_data().map_err(|why| plainly(&why))
    }
}

/// A journal's files, held against all others until dropped.
#[derive(Debug)]
pub(crate) struct Place {
    file: File,
    path: PathBuf,
    results: u32,
}

impl Place {
    fn make(directory: &Path, header: Header) -> io::Result<Self> {
        fs::create_dir_all(directory)?;
        let path = directory.join(format!("{}.{ENDING}", header.id));
        // Under its final name it is locked already: whoever finds it unlocked there may take it in.
        let making = beside(&path, ".new");
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&making)?;
        file.lock()?;
        let begun = write_line(&mut file, &Line::Begun { schema: SCHEMA.to_owned(), header: Box::new(header) })
            .and_then(|()| fs::rename(&making, &path));
        if begun.is_err() {
            let _ = fs::remove_file(&making);
        }
        begun.map(|()| Self { file, path, results: 0 })
    }

    fn write(&mut self, messages: &Receiver<Message>, asked_to_end: &mut dyn FnMut()) -> io::Result<()> {
        let mut secrets = Secrets::default();
        // The first line is written.
        let mut due = Some(Instant::now() + SYNCED_WITHIN);
        loop {
            let message = match due {
                // However fast lines come, none waits longer.
                Some(due) if due <= Instant::now() => Err(RecvTimeoutError::Timeout),
                Some(due) => messages.recv_timeout(due.saturating_duration_since(Instant::now())),
                None => messages.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            let message = match message {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => {
                    self.file.sync_data()?;
                    due = None;
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            };
            let line = match message {
                Message::Load { plan, what } => {
                    secrets = plan.secrets();
                    Line::Load { plan: serde_json::to_value(&*plan)?, what }
                }
                Message::Second(mut counted) => {
                    counted.conceal(|text| secrets.conceal(text));
                    Line::Second(counted)
                }
                Message::Result(json) => {
                    self.results += 1;
                    let mut file = File::create(self.result(self.results))?;
                    file.write_all(&packed(&json))?;
                    file.sync_data()?;
                    Line::Result { number: self.results }
                }
            };
            write_line(&mut self.file, &line)?;
            // Each time it is asked for counts, as Ctrl-C does.
            if matches!(line, Line::Second(_)) && fs::remove_file(stop_beside(&self.path)).is_ok() {
                asked_to_end();
            }
            due = due.or_else(|| Some(Instant::now() + SYNCED_WITHIN));
            if matches!(line, Line::Result { number: 2.. }) {
                // The line must not be lost while what it replaces is gone.
                self.file.sync_data()?;
                due = None;
                let _ = fs::remove_file(self.result(self.results - 1));
            }
        }
    }

    fn result(&self, number: u32) -> PathBuf {
        beside(&self.path, &format!(".{number}"))
    }

    /// Says by an empty file beside it, for which a full disk has room, that the program could not write and was not ended.
    fn mark(&self) {
        let _ = File::create(self.unwritten());
    }

    fn unwritten(&self) -> PathBuf {
        beside(&self.path, ".unwritten")
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes all that belongs to it.
    pub(crate) fn remove(self) {
        // The journal goes first: what is left without it is never read.
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(self.unwritten());
        let _ = fs::remove_file(stop_beside(&self.path));
        for number in self.results.saturating_sub(1)..=self.results + 1 {
            let _ = fs::remove_file(self.result(number));
        }
        // The last one to leave takes the directory along.
        let _ = self.path.parent().map(fs::remove_dir);
    }
}

impl Drop for Place {
    /// Lets it go by word: a program that this one was starting at the moment may have a copy of the file, and with it the lock, until
    /// it is under way.
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

/// A line and its checksum, out of the program.
fn write_line(file: &mut File, line: &Line) -> io::Result<()> {
    let json = serde_json::to_vec(line)?;
    let mut bytes = format!("{:08x} ", checksum(&json)).into_bytes();
    bytes.extend_from_slice(&json);
    bytes.push(b'\n');
    file.write_all(&bytes)
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// The file that asks the run of this journal to end.
pub(crate) fn stop_beside(journal: &Path) -> PathBuf {
    beside(journal, ".stop")
}

pub(crate) fn directory(database: &Path) -> PathBuf {
    beside(database, ".running")
}

/// Why a journal was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Its program was killed, or the power went.
    FromOutside,
    /// The disk took no more.
    Unwritten,
}

/// What a journal holds.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalContent {
    /// Why it was left.
    pub end: End,
    /// What was known when it began.
    pub header: Header,
    /// The result so far as JSON, where there was one.
    pub result: Option<String>,
    /// The load after that, where one was under way for a second at least.
    pub under_way: Option<UnderWay>,
    /// Why not all of it could be read; what came before is here.
    pub damage: Option<String>,
}

/// A load that did not come to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct UnderWay {
    /// What it was called.
    pub what: String,
    /// What it had measured, to be completed.
    pub run: SummaryBuilder,
}

/// Why a journal cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum JournalError {
    /// The system does not let it.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// Its first line is damaged, or it is something else.
    #[error("it is no journal of a run, or its beginning is damaged")]
    NoBeginning,
    /// A later loadline wrote it.
    #[error("it is written as '{0}', and this loadline reads '{SCHEMA}'")]
    Version(String),
}

/// A journal, and whether its run goes on.
#[derive(Debug)]
pub(crate) enum JournalState {
    /// It goes on.
    Running,
    /// It was left behind. While the lock is held nobody else takes it.
    Left { journaled: Box<JournalContent>, lock: Place },
    /// It cannot be read.
    Damaged { path: PathBuf, why: JournalError },
}

/// Every journal beside a history, in the order of their names.
pub(crate) fn journals(database: &Path) -> Vec<JournalState> {
    let Ok(entries) = fs::read_dir(directory(database)) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == ENDING));
    paths.sort();
    paths.into_iter().filter_map(found).collect()
}

/// `None` if it is gone meanwhile.
fn found(path: PathBuf) -> Option<JournalState> {
    let unreadable =
        |path: &Path, why: &io::Error| JournalState::Damaged { path: path.to_owned(), why: JournalError::Unreadable(plainly(why)) };
    let file = match OpenOptions::new().read(true).append(true).open(&path) {
        Ok(file) => file,
        Err(why) if why.kind() == io::ErrorKind::NotFound => return None,
        Err(why) => return Some(unreadable(&path, &why)),
    };
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Some(JournalState::Running),
        Err(TryLockError::Error(why)) => return Some(unreadable(&path, &why)),
    }
    let mut lock = Place { file, path: path.clone(), results: 0 };
    let mut bytes = Vec::new();
    if let Err(why) = lock.file.read_to_end(&mut bytes) {
        return Some(unreadable(&path, &why));
    }
    if bytes.is_empty() {
        // The power went before its first line was on the disk: of less than a second there is nothing to tell.
        lock.remove();
        return None;
    }
    Some(match read(&bytes, &mut lock) {
        Ok(journaled) => JournalState::Left { journaled: Box::new(journaled), lock },
        Err(why) => JournalState::Damaged { path, why },
    })
}

fn read(bytes: &[u8], place: &mut Place) -> Result<JournalContent, JournalError> {
    let mut lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let first = lines.next().unwrap_or_default();
    let header = match line(first) {
        Some(Line::Begun { schema, header }) if schema == SCHEMA => header,
        Some(Line::Begun { schema, .. }) => return Err(JournalError::Version(schema)),
        _ => return Err(other_version(first).map_or(JournalError::NoBeginning, JournalError::Version)),
    };
    let mut load: Option<(Plan, String)> = None;
    let mut seconds: Vec<IntervalCounts> = Vec::new();
    let mut damage = None;
    let mut lines = lines.peekable();
    let mut number = 1;
    while let Some(text) = lines.next() {
        number += 1;
        match line(text) {
            Some(Line::Load { plan, what }) => match serde_json::from_value(plan) {
                Ok(plan) => (load, seconds) = (Some((plan, what)), Vec::new()),
                Err(why) => damage = Some(format!("line {number}: {why}")),
            },
            Some(Line::Second(counted)) => match IntervalCounts::try_from(*counted) {
                Ok(counted) => seconds.push(counted),
                Err(why) => damage = Some(format!("line {number}: {why}")),
            },
            Some(Line::Result { number }) => {
                place.results = number;
                (load, seconds) = (None, Vec::new());
            }
            // A line without an end was being written.
            None if lines.peek().is_none() && !text.ends_with(b"\n") => {}
            Some(Line::Begun { .. }) | None => damage = Some(format!("line {number} is not what was written")),
        }
        // After a gap nothing adds up any more.
        if damage.is_some() {
            break;
        }
    }
    let result = (place.results > 0)
        .then(|| {
            let packed = fs::read(place.result(place.results)).map_err(|why| plainly(&why))?;
            let mut text = String::new();
            ZlibDecoder::new(packed.as_slice()).read_to_string(&mut text).map_err(|why| why.to_string()).map(|_| text)
        })
        .transpose()
        .unwrap_or_else(|why| {
            damage = Some(format!("the result so far cannot be read: {why}"));
            None
        });
    let end = if place.unwritten().exists() { End::Unwritten } else { End::FromOutside };
    let under_way = load.and_then(|(plan, what)| {
        let how = if end == End::Unwritten { Ending::CutShort } else { Ending::Killed };
        let site = Site { started: header.started.to_string(), machine: header.machine.clone(), ..Site::default() };
        let mut run = cut_short(plan, INTERVAL, seconds, how, site)?;
        let unwritten = "the result could not be saved when the run ended: what was written down of it by then is here";
        run.add_warnings((end == End::Unwritten).then(|| unwritten.to_owned()));
        run.add_warnings(damage.iter().map(|why| format!("the journal of this run is damaged from there on: {why}")));
        Some(UnderWay { what, run })
    });
    Ok(JournalContent { end, header: *header, result, under_way, damage })
}

pub(crate) fn line(bytes: &[u8]) -> Option<Line> {
    let (sum, json) = bytes.strip_suffix(b"\n")?.split_at_checked(9)?;
    let said = u32::from_str_radix(std::str::from_utf8(&sum[..8]).ok()?, 16).ok()?;
    if said != checksum(json) { None } else { serde_json::from_slice(json).ok() }
}

/// The version that a sound first line names which cannot be read otherwise.
fn other_version(bytes: &[u8]) -> Option<String> {
    let (_, json) = bytes.strip_suffix(b"\n")?.split_at_checked(9)?;
    let begun: serde_json::Value = serde_json::from_slice(json).ok()?;
    Some(begun.get("begun")?.get("schema")?.as_str().filter(|schema| *schema != SCHEMA)?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_that_is_let_go_is_free_while_another_program_has_a_copy_of_its_file() {
        let dir = tempfile::tempdir().unwrap();
        let header = Header {
            id: Id::fresh(),
            kind: Kind::Run,
            name: "x".to_owned(),
            started: Moment(0),
            machine: Machine::default(),
            revision: None,
            tags: Vec::new(),
            note: String::new(),
        };
        let place = Place::make(dir.path(), header).unwrap();
        let (path, copy) = (place.path.clone(), place.file.try_clone().unwrap());
        assert!(matches!(found(path.clone()), Some(JournalState::Running)));
        drop(place);
        let left = found(path.clone());
        assert!(matches!(left, Some(JournalState::Left { .. })), "{left:?}");
        assert!(matches!(found(path.clone()), Some(JournalState::Running)), "who takes it in holds it");
        drop(left);
        assert!(matches!(found(path), Some(JournalState::Left { .. })));
        drop(copy);
    }
}
