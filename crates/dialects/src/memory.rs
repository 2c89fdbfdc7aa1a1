//! A host in memory: files, streams and the simulated engine, for tests.
//!
//! A temporary directory and a server on a port, the alternative, would test the system with it, in seconds in place of milliseconds.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{self, BufRead, Cursor, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use engine::simulation::Simulation;
use engine::{RunError, Runner, Stop};
use import::collection::{Collection, Kind, Wishes};
use jiff::tz::TimeZone;
use plan::{Draft, Plan, PlanError, PlanErrors, Resolved, Setting, Spelling};
use trial::Observer;

use crate::host::{Files, Host, Load, Measurement, TEXT_BYTES_MAX, TestPlan, TestPlanWords, Verbosity};

/// Bytes that are written by several and read by the test.
#[derive(Debug, Clone, Default)]
pub struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Buffer {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Files in memory.
#[derive(Debug, Default)]
pub struct MemoryFiles(Mutex<BTreeMap<PathBuf, Buffer>>);

impl MemoryFiles {
    /// These files.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let held = |text: &str| Buffer(Arc::new(Mutex::new(text.as_bytes().to_vec())));
        Self(Mutex::new(files.iter().map(|(path, text)| (PathBuf::from(path), held(text))).collect()))
    }

    fn file(&self, path: &Path) -> Buffer {
        self.0.lock().unwrap().entry(path.to_owned()).or_default().clone()
    }
}

impl Files for MemoryFiles {
    fn open(&self, path: &Path) -> io::Result<Box<dyn BufRead + Send>> {
        let files = self.0.lock().unwrap();
        let file = files.get(path).ok_or_else(|| io::Error::from_raw_os_error(ENOENT))?;
        Ok(Box::new(Cursor::new(file.0.lock().unwrap().clone())))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn Write + Send>> {
        self.replace(path, b"")?;
        Ok(Box::new(self.file(path)))
    }

    fn ensure_writable(&self, path: &Path) -> io::Result<()> {
        self.append(path, b"")
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        *self.file(path).0.lock().unwrap() = bytes.to_vec();
        Ok(())
    }

    fn exists(&self, path: &Path) -> bool {
        self.0.lock().unwrap().contains_key(path)
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.file(path).write_all(bytes)
    }

    fn make_directory(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }
}

/// There is no such file, as Linux numbers errors.
const ENOENT: i32 = 2;

/// A host in memory.
pub struct Memory {
    files: Arc<MemoryFiles>,
    variables: BTreeMap<String, String>,
    input: String,
    output: Buffer,
    errors: Buffer,
    server: Simulation,
    unsaved: Option<String>,
}

impl Memory {
    /// With these files, and a server that answers by what it is asked alone.
    pub fn new(files: &[(&str, &str)]) -> Self {
        Self {
            files: Arc::new(MemoryFiles::new(files)),
            variables: BTreeMap::new(),
            input: String::new(),
            output: Buffer::default(),
            errors: Buffer::default(),
            server: Simulation::stateless(),
            unsaved: None,
        }
    }

    /// The same with a variable of the environment.
    pub fn with_variable(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    /// The same with this on standard input.
    pub fn with_input(self, input: &str) -> Self {
        Self { input: input.to_owned(), ..self }
    }

    /// The same where runs cannot be kept, and why.
    pub fn keeping_nothing(self, why: &str) -> Self {
        Self { unsaved: Some(why.to_owned()), ..self }
    }

    /// Calls a dialect with this command line, in which words stand apart by single blanks; its exit code.
    pub fn call(&self, line: &str) -> u8 {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let (dialect, words) = crate::called(&words).expect("a dialect");
        (dialect.main)(words, self)
    }

    /// All that was written to standard output.
    pub fn output(&self) -> String {
        self.output.text()
    }

    /// All that was written to standard error.
    pub fn errors(&self) -> String {
        self.errors.text()
    }

    /// What a file holds.
    pub fn bytes_of(&self, path: &str) -> Vec<u8> {
        self.files.file(Path::new(path)).0.lock().unwrap().clone()
    }
}

impl Host for Memory {
    fn input(&self) -> Box<dyn BufRead + Send> {
        Box::new(Cursor::new(self.input.clone()))
    }

    fn output(&self) -> Box<dyn Write + Send> {
        Box::new(self.output.clone())
    }

    fn errors(&self) -> Box<dyn Write + Send> {
        Box::new(self.errors.clone())
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn time_zone(&self) -> TimeZone {
        TimeZone::UTC
    }

    fn files(&self) -> Arc<dyn Files> {
        self.files.clone()
    }

    fn decide(&self, draft: Draft) -> Result<Plan, PlanErrors> {
        let threads = draft.threads.clone().or_else(|| "1".parse::<Setting<_>>().ok());
        let mut resolved = Resolved::from(Draft { threads, ..draft });
        for (_, path) in resolved.draft.clone().files() {
            if let Ok(bytes) = self.files().read(path, TEXT_BYTES_MAX) {
                resolved.contents.insert(path, bytes);
            }
        }
        Plan::try_from(resolved)
    }

    /// The first request of a plan, again and again for a second, by two users of each server.
    fn test_plan(&self, words: TestPlanWords) -> Result<TestPlan, PlanErrors> {
        let TestPlanWords { path, properties, draft, servers, .. } = words;
        let mistake = |why: String| PlanErrors(vec![PlanError::new("scenario", why, "give another")]);
        let bytes = self.files().read(&path, TEXT_BYTES_MAX).map_err(|why| mistake(format!("'{path}' cannot be read: {why}")))?;
        let wishes = Wishes { properties, ..Wishes::default() };
        let read = Collection::read(Kind::Jmeter, &bytes, &wishes).map_err(|why| mistake(why.wording().marked().to_owned()))?;
        let url = read.requests[0].url.plain().map(str::to_owned);
        let connections = (2 * servers.len().max(1)).to_string();
        let plan = self.decide(Draft { url, duration: "1s".parse().ok(), connections: connections.parse().ok(), ..draft })?;
        let runner = self.runner();
        Ok(TestPlan {
            plan,
            left_out: read.all_left_out().iter().map(|left| left.spelt(Spelling::Flags)).collect(),
            load: Box::new(move |plan, watch, stop| runner.prepare(plan)?.run(watch, stop)),
            samples_file: None,
        })
    }

    fn stop(&self, _verbosity: Verbosity) -> Result<Stop, RunError> {
        Ok(Stop::new())
    }

    fn runner(&self) -> Runner {
        Runner::simulated(&self.server)
    }

    fn carry_out(&self, plan: &Plan, stop: &Stop, observers: &mut [&mut dyn Observer], load: Load<'_>) -> Measurement {
        Measurement { run: trial::carry_out(plan, observers, stop, load), unsaved: self.unsaved.clone() }
    }
}
