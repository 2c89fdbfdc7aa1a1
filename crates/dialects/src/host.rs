//! The host of a dialect: all it has of the outside world.
//!
//! A dialect reads files that its words name, writes where the original writes, and has loads carried out. Opening, printing and saving
//! by itself, the alternative, is what tied it to the binary: it could be tested only as a process against a server. So it is handed a
//! host: the binary's touches the system and keeps runs in the history, a test's is in memory and on the simulated engine.
//!
//! Invariant: what a dialect does not get from its host it does not have, but the clock, threads and temporary files without a name.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::sync::Arc;

use engine::body::all;
use engine::{Runner, Stop};
use jiff::tz::TimeZone;
use measure::{IntervalCounts, Summary, SummaryBuilder, Tick};
use plan::{Draft, Plan, PlanErrors};
use trial::{Observer, RunError};

/// What a dialect is handed of the outside world.
pub trait Host {
    /// Standard input.
    fn input(&self) -> Box<dyn BufRead + Send>;

    /// Standard output, without a buffer that outlives what is given.
    fn output(&self) -> Box<dyn Write + Send>;

    /// Standard error.
    fn errors(&self) -> Box<dyn Write + Send>;

    /// A variable of the environment; `None` where it is not set or no text.
    fn variable(&self, name: &str) -> Option<String>;

    /// The time zone of times for people.
    fn time_zone(&self) -> TimeZone;

    /// The user's files.
    fn files(&self) -> Arc<dyn Files>;

    /// Decides a draft on this machine.
    ///
    /// # Errors
    /// With all mistakes of the plan and of the files it names.
    fn decide(&self, draft: Draft) -> Result<Plan, PlanErrors>;

    /// Reads a test plan of JMeter and decides it, with what the words say beside it. Servers that it names are called.
    ///
    /// # Errors
    /// With all mistakes of the plan and of the files it names, or with why a server does not take part.
    fn test_plan(&self, words: TestPlanWords) -> Result<TestPlan, PlanErrors>;

    /// A signal that an interruption by the user raises.
    ///
    /// # Errors
    /// If the system does not let interruptions be noticed.
    fn stop(&self, verbosity: Verbosity) -> Result<Stop, engine::RunError>;

    /// Where loads are carried out.
    fn runner(&self) -> Runner;

    /// Carries a load of this plan out before these observers and everybody else who looks on, and keeps what was measured, of one that
    /// broke off as well.
    fn carry_out(&self, plan: &Plan, stop: &Stop, observers: &mut [&mut dyn Observer], load: Load<'_>) -> Measurement;
}

/// The user's files. They are also read on threads of their own, where a list is longer than memory.
pub trait Files: Send + Sync {
    /// A file of the user, to be read.
    ///
    /// # Errors
    /// As the file system says.
    fn open(&self, path: &Path) -> io::Result<Box<dyn BufRead + Send>>;

    /// A file made anew, to be written as it comes.
    ///
    /// # Errors
    /// As the file system says.
    fn create(&self, path: &Path) -> io::Result<Box<dyn Write + Send>>;

    /// Makes sure that a file can be written, and changes nothing in it. One that is missing is made.
    ///
    /// # Errors
    /// As the file system says.
    fn ensure_writable(&self, path: &Path) -> io::Result<()>;

    /// Writes a file so that a reader sees the old one or the whole new one.
    ///
    /// # Errors
    /// As the file system says.
    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Whether there is such a file.
    fn exists(&self, path: &Path) -> bool;

    /// Adds to the end of a file. One that is missing is made.
    ///
    /// # Errors
    /// As the file system says.
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Makes a directory and those above it, where they are missing.
    ///
    /// # Errors
    /// As the file system says.
    fn make_directory(&self, path: &Path) -> io::Result<()>;
}

/// A load that is about to begin. It is given what it calls once an interval, and the signal that ends it.
pub type Load<'a> = Box<dyn FnOnce(&mut dyn FnMut(&Tick, IntervalCounts), &Stop) -> Result<SummaryBuilder, engine::RunError> + 'a>;

/// A test plan, as a command line names it.
#[derive(Debug, Default)]
pub struct TestPlanWords {
    /// Its file.
    pub path: String,
    /// Values of its properties; the last of a name holds.
    pub properties: Vec<(String, String)>,
    /// What is said of the load beside it.
    pub draft: Draft,
    /// The file in which each request is written down.
    pub samples: Option<String>,
    /// Other machines, as they are typed, each of which carries out the whole plan; none: this one does.
    pub servers: Vec<String>,
}

/// A test plan that was read and decided.
pub struct TestPlan {
    /// What will be done.
    pub plan: Plan,
    /// What of it is not carried over, each with its place.
    pub left_out: Vec<String>,
    /// Carries the load of that plan out.
    pub load: TestPlanLoad,
    /// What writes a row for each request.
    pub samples_file: Option<Box<dyn SamplesFile>>,
}

/// A file of samples that is written while a load is on.
pub trait SamplesFile {
    /// What has to look on.
    fn observer(&mut self) -> &mut dyn Observer;

    /// What could not be written.
    ///
    /// # Errors
    /// With the file and what to do.
    fn finish(self: Box<Self>) -> Result<(), PlanErrors>;
}

/// Carries a decided test plan out, as a [`Load`] does.
pub type TestPlanLoad = Box<dyn FnOnce(&Plan, &mut dyn FnMut(&Tick, IntervalCounts), &Stop) -> Result<SummaryBuilder, engine::RunError>>;

/// A load that was carried out.
#[derive(Debug)]
pub struct Measurement {
    /// What came of it.
    pub run: Result<Summary, RunError>,
    /// Why it could not be kept and what to do, where it could not.
    pub unsaved: Option<String>,
}

/// Whether loadline says more than the original.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verbosity {
    /// Remarks on standard error.
    Normal,
    /// Errors only.
    Quiet,
}

/// The largest list or file of settings that is read, in bytes.
pub(crate) const TEXT_BYTES_MAX: u64 = 1 << 30;

impl dyn Host + '_ {
    /// Writes to standard output. That nobody reads on (`| head`) is the reader's choice and no error.
    pub(crate) fn print(&self, text: &str) -> io::Result<()> {
        print_to(&mut *self.output(), text)
    }

    /// Writes to standard error, as it is. That it cannot be written changes nothing.
    pub(crate) fn print_error(&self, text: &str) {
        let _ = self.errors().write_all(text.as_bytes());
    }

    /// Writes a line to standard error.
    pub(crate) fn complain(&self, line: &str) {
        self.print_error(&format!("{line}\n"));
    }
}

impl dyn Files + '_ {
    /// What a file holds, at most so many bytes.
    pub(crate) fn read(&self, path: impl AsRef<Path>, bytes_max: u64) -> io::Result<Vec<u8>> {
        all(self.open(path.as_ref())?, bytes_max)
    }

    /// The text that a file holds.
    pub(crate) fn read_text(&self, path: impl AsRef<Path>) -> io::Result<String> {
        String::from_utf8(self.read(path, TEXT_BYTES_MAX)?).map_err(|_| io::Error::other("it is not text in UTF-8"))
    }
}

/// Writes text whole and at once, where nobody reading on is no error.
pub(crate) fn print_to(out: &mut dyn Write, text: &str) -> io::Result<()> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(why) if why.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}
