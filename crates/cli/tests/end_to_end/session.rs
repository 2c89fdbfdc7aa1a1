//! A test that reads like a shell session: a directory, files, a command line, and what came of it.

use std::cell::Cell;
use std::fs;
use std::io::{Read as _, Write as _};
use std::marker::PhantomData;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use testbed::{Config, Testbed};

/// A test that waits longer than this waits for something that will not happen.
const PATIENCE: Duration = Duration::from_secs(120);

/// A directory of its own, and command lines in it.
pub struct Session {
    dir: TempDir,
    /// Where the user's data is: nobody's own history may be touched.
    data: TempDir,
    stdin: Vec<u8>,
    stdout: Option<Stdio>,
    environment: Vec<(&'static str, String)>,
    files_max: Option<u32>,
    _place: Place,
}

/// A test's part of this machine: beside other tests, or all of it.
///
/// What a test asserts of speed, noise or a verdict is true of a machine that is there for it: four tests that load four servers
/// at once keep each other from the processors, and loadline says so instead of judging. It stays with the thread that took it.
struct Place(PhantomData<*const ()>);

/// Who has a place, and how many wait for all of it.
struct Places {
    shared: usize,
    alone: bool,
    waiting: usize,
}

static PLACES: Mutex<Places> = Mutex::new(Places { shared: 0, alone: false, waiting: 0 });
static CHANGED: Condvar = Condvar::new();
thread_local! {
    /// How many sessions this test has, and whether the machine is its own: a second session needs no other place.
    static SESSIONS: Cell<(usize, bool)> = const { Cell::new((0, false)) };
}

impl Place {
    fn take(all: bool) -> Self {
        let (sessions, is_all) = SESSIONS.get();
        assert!(!all || sessions == 0 || is_all, "a test that needs the whole machine takes it with its first session");
        SESSIONS.set((sessions + 1, is_all || all));
        if sessions > 0 {
            return Self(PhantomData);
        }
        let mut places = places();
        places.waiting += usize::from(all);
        let is_taken = |it: &mut Places| it.alone || if all { it.shared > 0 } else { it.waiting > 0 };
        places = CHANGED.wait_while(places, is_taken).unwrap_or_else(PoisonError::into_inner);
        if all {
            (places.alone, places.waiting) = (true, places.waiting - 1);
        } else {
            places.shared += 1;
        }
        Self(PhantomData)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let (sessions, all) = SESSIONS.get();
        SESSIONS.set(if sessions > 1 { (sessions - 1, all) } else { (0, false) });
        if sessions > 1 {
            return;
        }
        let mut places = places();
        if all {
            places.alone = false;
        } else {
            places.shared -= 1;
        }
        drop(places);
        CHANGED.notify_all();
    }
}

fn places() -> MutexGuard<'static, Places> {
    PLACES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What came of a command line.
#[derive(Debug)]
pub struct Ran {
    pub exit: i32,
    pub stdout: String,
    pub stderr: String,
}

/// A command line that still runs.
pub struct Running {
    child: Child,
}

impl Session {
    /// Beside other tests.
    pub fn new() -> Self {
        Self::with(Place::take(false))
    }

    /// While no other test runs: for one that asserts what a busy machine hides.
    pub fn alone() -> Self {
        Self::with(Place::take(true))
    }

    fn with(place: Place) -> Self {
        Self {
            _place: place,
            dir: tempfile::tempdir().unwrap(),
            data: tempfile::tempdir().unwrap(),
            stdin: Vec::new(),
            stdout: None,
            environment: Vec::new(),
            files_max: None,
        }
    }

    /// Writes a file.
    pub fn file(self, name: &str, content: &str) -> Self {
        fs::write(self.path(name), content).unwrap();
        self
    }

    /// Says this on standard input of the next command.
    pub fn stdin(mut self, text: &str) -> Self {
        self.stdin = text.as_bytes().to_vec();
        self
    }

    /// Sends standard output of the next command there.
    pub fn stdout_to(mut self, out: impl Into<Stdio>) -> Self {
        self.stdout = Some(out.into());
        self
    }

    /// Sets a variable.
    pub fn env(mut self, name: &'static str, value: &str) -> Self {
        self.environment.push((name, value.to_owned()));
        self
    }

    /// Lets each process open so many files.
    pub fn files_max(mut self, files: u32) -> Self {
        self.files_max = Some(files);
        self
    }

    /// A path in the directory.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A path in the user's data directory.
    pub fn data(&self, name: &str) -> PathBuf {
        self.data.path().join(name)
    }

    /// What is in a file.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|why| panic!("{name}: {why}; there are {:?}", self.files()))
    }

    /// What is in a JSON file.
    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// The names of all files, sorted; those of subdirectories with their path.
    pub fn files(&self) -> Vec<String> {
        fn walk(dir: &std::path::Path, prefix: &str, names: &mut Vec<String>) {
            for entry in fs::read_dir(dir).unwrap() {
                let entry = entry.unwrap();
                let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
                if entry.file_type().unwrap().is_dir() { walk(&entry.path(), &format!("{name}/"), names) } else { names.push(name) }
            }
        }
        let mut names = Vec::new();
        walk(self.dir.path(), "", &mut names);
        names.sort();
        names
    }

    /// Runs `loadline` with these words (single quotes keep spaces together) to its end.
    pub fn loadline(&mut self, line: &str) -> Ran {
        self.start(line).end()
    }

    /// The same, again some times while the machine is too busy for a run to be judged. Like all that repeats, it gives nothing where the
    /// host of this machine never let it be; see [`least_disturbed`].
    pub fn judged(&mut self, line: &str) -> Option<Ran> {
        self.again_while(line, |ran| ran.exit == 4)
    }

    /// The same, again some times while a run, or a level of a sweep, is INVALID: this machine did not give loadline its processors.
    pub fn undisturbed(&mut self, line: &str) -> Option<Ran> {
        self.again_while(line, |ran| ran.stdout.contains("INVALID"))
    }

    /// The same for a search: again some times, with three times as long for it, while trials that do not count took so much of its 30
    /// seconds that it has no answer, or its checks have none.
    pub fn searched(&mut self, line: &str) -> Option<Ran> {
        let longer = line.replace("--budget 30s", "--budget 90s");
        self.first_then(line, &longer, |ran| {
            let said = prose(&ran.stdout);
            said.contains("Cannot tell: trials were invalid")
                || said.contains("not judgeable") && said.contains("the run is INVALID")
                || said.contains("not count; the last one:") && said.contains("--budget ")
        })
    }

    /// The same, again some times while this machine was not there for what a test asks.
    pub fn again_while(&mut self, line: &str, was_busy: impl Fn(&Ran) -> bool) -> Option<Ran> {
        self.first_then(line, line, was_busy)
    }

    fn first_then(&mut self, line: &str, again: &str, was_busy: impl Fn(&Ran) -> bool) -> Option<Ran> {
        let again = if again.contains("--force") { again.to_owned() } else { format!("{again} --force") };
        let mut lines = std::iter::once(line).chain(std::iter::repeat(&*again));
        least_disturbed(|| self.loadline(lines.next().unwrap_or(line)), was_busy)
    }

    /// Starts `loadline` with these words.
    pub fn start(&mut self, line: &str) -> Running {
        let mut command = match self.files_max {
            None => Command::new(env!("CARGO_BIN_EXE_loadline")),
            Some(files) => {
                let mut shell = Command::new("/bin/sh");
                shell.args(["-c", &format!("ulimit -n {files}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_loadline")]);
                shell
            }
        };
        let mut child = command
            .args(words(line))
            .current_dir(self.dir.path())
            .env_clear()
            .env("XDG_DATA_HOME", self.data.path())
            .envs(std::mem::take(&mut self.environment))
            .stdin(Stdio::piped())
            .stdout(self.stdout.take().unwrap_or_else(Stdio::piped))
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A command that does not read its input may be gone already.
        let _ = child.stdin.take().unwrap().write_all(&std::mem::take(&mut self.stdin));
        Running { child }
    }
}

impl Running {
    /// Waits until `seen`, which something else brings about.
    pub fn once(self, mut seen: impl FnMut() -> bool) -> Self {
        let deadline = Instant::now() + PATIENCE;
        while !seen() {
            assert!(Instant::now() < deadline, "what the test waits for did not happen");
            // Looking without a rest would keep a core from what is looked at.
            std::thread::sleep(Duration::from_millis(1));
        }
        self
    }

    /// Sends a signal.
    pub fn signal(self, signal: Signal) -> Self {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        self
    }

    /// Waits until standard error says this.
    pub fn once_stderr_says(mut self, text: &str) -> Self {
        self.stderr_until(text);
        self
    }

    /// Waits until standard error says this, and gives the rest of that line.
    pub fn rest_of_stderr_line(mut self, text: &str) -> (Self, String) {
        self = self.once_stderr_says(text);
        let line = self.stderr_until(
            "
",
        );
        (self, line.trim_end().to_owned())
    }

    /// What standard output says until this.
    pub fn stdout_until(&mut self, text: &str) -> String {
        until(self.child.stdout.as_mut().unwrap(), text)
    }

    /// What standard error says until this.
    pub fn stderr_until(&mut self, text: &str) -> String {
        until(self.child.stderr.as_mut().unwrap(), text)
    }

    /// What the kernel calls it.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Stops reading its standard output.
    pub fn hang_up(mut self) -> Self {
        drop(self.child.stdout.take());
        self
    }

    /// Waits for its end.
    pub fn end(mut self) -> Ran {
        let read = |pipe: Option<Box<dyn std::io::Read + Send>>| {
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                if let Some(mut pipe) = pipe {
                    pipe.read_to_end(&mut bytes).unwrap();
                }
                String::from_utf8(bytes).unwrap()
            })
        };
        let stdout = read(self.child.stdout.take().map(|pipe| Box::new(pipe) as _));
        let stderr = read(self.child.stderr.take().map(|pipe| Box::new(pipe) as _));
        let status = self.wait();
        let ran = Ran { exit: status.code().unwrap_or(-1), stdout: stdout.join().unwrap(), stderr: stderr.join().unwrap() };
        assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
        ran
    }

    fn wait(&mut self) -> ExitStatus {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            if Instant::now() > deadline {
                self.child.kill().unwrap();
                panic!("it did not end");
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

fn until(pipe: &mut dyn std::io::Read, text: &str) -> String {
    let mut said = Vec::new();
    let mut byte = [0];
    while !String::from_utf8_lossy(&said).contains(text) {
        assert_eq!(pipe.read(&mut byte).unwrap(), 1, "it ended, and said only: {}", String::from_utf8_lossy(&said));
        said.push(byte[0]);
    }
    String::from_utf8_lossy(&said).into_owned()
}

/// A server that a test did not end goes with the test.
impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Ran {
    /// It ended with this number; where that is 0, also with 4 where this machine was stopped meanwhile, for all else is told all the same.
    #[track_caller]
    pub fn exits(self, exit: i32) -> Self {
        let exit = if exit == 0 && self.is_of_a_stopped_machine() { 4 } else { exit };
        assert_eq!(self.exit, exit, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// The host of this machine took the processors away for so long that the run is no word about the server, and says so.
    fn is_of_a_stopped_machine(&self) -> bool {
        self.exit == 4 && prose(&self.stdout).contains("loadline itself did not run for ")
    }

    /// It ended with one of these numbers: what it tells does not depend on whether the machine was too busy to judge.
    #[track_caller]
    pub fn exits_either(self, exit: i32, other: i32) -> Self {
        let ended = if self.exit == other { other } else { exit };
        self.exits(ended)
    }

    /// Standard output has this.
    #[track_caller]
    pub fn says(self, part: &str) -> Self {
        assert!(self.stdout.contains(part), "{part:?} is not in:\n{}", self.stdout);
        self
    }

    /// Standard error has this.
    #[track_caller]
    pub fn complains(self, part: &str) -> Self {
        assert!(self.stderr.contains(part), "{part:?} is not in:\n{}", self.stderr);
        self
    }

    /// Standard error is empty.
    #[track_caller]
    pub fn complains_of_nothing(self) -> Self {
        // A line of progress every ten seconds is no complaint; on a busy machine a short command lasts that long.
        let is_progress = |line: &&str| line.contains(" req/s · ") || line.contains(" · waiting for the last answers · ");
        let complaints: Vec<&str> = self.stderr.lines().filter(|line| !is_progress(line)).collect();
        assert!(complaints.is_empty(), "{complaints:#?}");
        self
    }
}

/// What this brings about, again some times while this machine was not there for it. Its host takes processors away in bursts, so each rest
/// is longer than the one before.
///
/// Where the last one is disturbed as well and the system counted what the host took, nothing can be shown on this machine: that is told, and
/// `None`. Where the host took nothing, the test has what was measured, and fails by it.
pub fn least_disturbed<T>(mut measure: impl FnMut() -> T, was_disturbed: impl Fn(&T) -> bool) -> Option<T> {
    const RESTS_S: [u64; 5] = [1, 2, 4, 8, 16];
    /// The part of the processors' time that was wanted and went to others. A machine of one's own has none, a shared one that lets its
    /// guests be less than one in a hundred.
    const TAKEN: f64 = 0.05;
    let before = processors();
    let mut measured = measure();
    for rest in RESTS_S {
        if !was_disturbed(&measured) {
            return Some(measured);
        }
        std::thread::sleep(Duration::from_secs(rest));
        measured = measure();
    }
    let after = processors();
    let taken = (after.0 - before.0) / (after.1 - before.1).max(1.0);
    if !was_disturbed(&measured) || taken < TAKEN {
        return Some(measured);
    }
    let test = std::thread::current().name().unwrap_or_default().to_owned();
    // Past the harness, which shows what a test prints only where it fails.
    let _ = writeln!(
        std::io::stderr(),
        "\nnot shown here: {test}: the host of this machine took {:.0} % of its processors' time",
        taken * 100.0
    );
    None
}

/// The processors' time so far, in ticks: what the host gave to others, and all that somebody wanted. Source: proc_stat(5).
fn processors() -> (f64, f64) {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let ticks: Vec<f64> = text.lines().next().unwrap_or_default().split_whitespace().skip(1).flat_map(str::parse).collect();
    let at = |column: usize| ticks.get(column).copied().unwrap_or_default();
    // user, nice, system, (idle, iowait,) irq, softirq, steal.
    (at(7), [0, 1, 2, 5, 6, 7].map(at).iter().sum())
}

/// Prose as one line, wherever it was broken.
pub fn prose(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A server on a free port.
pub fn server() -> Testbed {
    Testbed::start(Config::new()).unwrap()
}

fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    let mut begun = false;
    for letter in line.chars() {
        match letter {
            '\'' => (quoted, begun) = (!quoted, true),
            ' ' if !quoted => {
                if begun {
                    words.push(String::new());
                }
                begun = false;
            }
            letter => {
                words.last_mut().unwrap().push(letter);
                begun = true;
            }
        }
    }
    if !begun {
        words.pop();
    }
    words
}

#[test]
fn words_are_split_as_in_a_shell() {
    assert_eq!(words("run  -H 'A: b c' ''x "), ["run", "-H", "A: b c", "x"]);
}
