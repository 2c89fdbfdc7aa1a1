//! A run of another program, followed by its journal while it goes on, and asked to end.
//!
//! Whoever opens the pages wants to see what runs, wherever it was started. A run writes every second into its journal already, so
//! that is what is read: no port, no second channel, and nothing that could hold the run up. The other way, towards the run, is a
//! file beside the journal that it looks for once a second; the directory is the user's own, so nobody else can ask.
//!
//! Lines are read as they grow. A line that is not whole yet is read the next time; one that is damaged ends the following, not the run.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use measure::{Collector, RowsSoFar, SourceId, Tick};
use plan::Plan;

use crate::Header;
use crate::journal::{ENDING, INTERVAL, Line, directory, line, stop_beside};

/// A run of another program.
#[derive(Debug)]
pub struct Follower {
    header: Header,
    path: PathBuf,
    file: File,
    /// Read, and not a whole line yet.
    rest: Vec<u8>,
    counts: Option<Collector>,
    rows: RowsSoFar,
}

/// What a run has done since it was looked at last.
#[derive(Debug)]
pub enum RunNews {
    /// A load began, called so.
    Load {
        /// What is done, without its secrets.
        plan: Box<Plan>,
        /// Of a sweep, which level; may be empty.
        what: String,
    },
    /// A second of it is over.
    Second(Box<Tick>),
    /// The rows of the load, as they are after the seconds before this.
    Rows(RowsSoFar),
}

impl Follower {
    /// The run that goes on in another program on the history at `database`, from its beginning; of several the one that began last.
    #[must_use]
    pub fn find(database: &Path) -> Option<Self> {
        let entries = std::fs::read_dir(directory(database)).ok()?;
        let paths = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.extension().is_some_and(|it| it == ENDING));
        let running = paths.filter(|path| is_held(path)).filter_map(|path| Self::of(path).ok().flatten());
        running.max_by(|a, b| a.header.started.cmp(&b.header.started))
    }

    fn of(path: PathBuf) -> io::Result<Option<Self>> {
        let file = File::open(&path)?;
        let mut bytes = Vec::new();
        (&file).take(HEADER_BYTES_MAX).read_to_end(&mut bytes)?;
        let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else { return Ok(None) };
        let Some(Line::Begun { header, .. }) = line(&bytes[..=end]) else { return Ok(None) };
        (&file).seek(SeekFrom::Start(end as u64 + 1))?;
        Ok(Some(Self { header: *header, path, file, rest: Vec::new(), counts: None, rows: RowsSoFar::default() }))
    }

    /// What is known of it since it began.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// What it has done since this was asked last.
    pub fn listen(&mut self) -> Vec<RunNews> {
        if (&self.file).take(BYTES_AT_ONCE_MAX).read_to_end(&mut self.rest).is_err() {
            return Vec::new();
        }
        let whole = self.rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lines: Vec<u8> = self.rest.drain(..whole).collect();
        let mut heard = Vec::new();
        for text in lines.split_inclusive(|byte| *byte == b'\n') {
            match line(text) {
                Some(Line::Load { plan, what }) => {
                    let Ok(plan) = serde_json::from_value::<Plan>(plan) else { continue };
                    self.counts = Some(Collector::new(plan.clone(), 1, INTERVAL));
                    self.rows = RowsSoFar::default();
                    heard.push(RunNews::Load { plan: Box::new(plan), what });
                }
                Some(Line::Second(counted)) => {
                    let Some(counts) = &mut self.counts else { continue };
                    // After a gap nothing adds up any more.
                    let Ok(counted) = measure::IntervalCounts::try_from(*counted) else { break };
                    self.rows.add(&counted.counts.tally);
                    counts.absorb(SourceId(0), counted.counts);
                    while let Some(tick) = counts.tick() {
                        heard.push(RunNews::Second(Box::new(tick)));
                    }
                }
                Some(Line::Begun { .. } | Line::Result { .. }) | None => {}
            }
        }
        if !self.rows.is_empty() && heard.iter().any(|news| matches!(news, RunNews::Second(_))) {
            heard.push(RunNews::Rows(self.rows.clone()));
        }
        heard
    }

    /// Whether it has ended: its journal is gone, or nobody holds it.
    #[must_use]
    pub fn is_over(&self) -> bool {
        !is_held(&self.path)
    }

    /// Asks it to end, as Ctrl-C does: within a second no new request is sent.
    pub fn stopper(&self) -> impl Fn() + Send + Sync + 'static + use<> {
        let path = self.path.clone();
        move || {
            // That it cannot be made shows: the run goes on.
            let _ = ask_to_stop(&path);
        }
    }
}

/// The first line is some hundred bytes, and of a note some thousand.
const HEADER_BYTES_MAX: u64 = 1 << 20;
/// An hour of seconds in one go; what is more comes with the next.
const BYTES_AT_ONCE_MAX: u64 = 64 << 20;

fn ask_to_stop(journal: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(stop_beside(journal)).map(drop)
}

/// Whether a living program holds this journal.
fn is_held(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let lock = file.try_lock_shared();
    // Let go at once, if it was had: a program that is being started may have a copy of the file for longer.
    let _ = lock.is_ok().then(|| file.unlock());
    matches!(lock, Err(TryLockError::WouldBlock))
}
