//! Running the program under test, and its demo API as the server.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use measure::Summary;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// A command line that ended.
#[derive(Debug)]
pub struct Ran {
    /// Its exit code; 128 and the signal's number if a signal ended it.
    pub exit: i32,
    /// What it said.
    pub stdout: String,
    /// What it complained of.
    pub stderr: String,
}

/// The program, with a directory of its own for what it writes and remembers.
#[derive(Debug)]
pub struct Loadline {
    program: PathBuf,
    dir: TempDir,
}

impl Loadline {
    /// With a new directory.
    ///
    /// # Errors
    /// If none can be made.
    pub fn new(program: &Path) -> Result<Self> {
        let program = program.canonicalize().with_context(|| format!("{} is not there; build it first: make build", program.display()))?;
        Ok(Self { program, dir: tempfile::tempdir()? })
    }

    /// A path in its directory.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// It with these words, in its directory, and nothing of the user's environment.
    #[must_use]
    pub fn command(&self, words: &[&str]) -> Command {
        self.command_by(Command::new(&self.program), words)
    }

    /// Where it is, for whoever starts it in another way.
    #[must_use]
    pub(crate) fn program(&self) -> String {
        self.program.display().to_string()
    }

    /// The same, started by a command that has its path already.
    pub(crate) fn command_by(&self, mut command: Command, words: &[&str]) -> Command {
        command.args(words).current_dir(self.dir.path()).env_clear().env("XDG_DATA_HOME", self.dir.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs it to its end, which must come within `limit`.
    ///
    /// # Errors
    /// If it cannot be started, or does not end.
    pub fn run(&self, words: &[&str], limit: Duration) -> Result<Ran> {
        ended(self.command(words).spawn().context("loadline cannot be started")?, limit)
    }

    /// Reads a file it wrote.
    ///
    /// # Errors
    /// If it is not there, or not JSON.
    pub fn json(&self, name: &str) -> Result<Value> {
        let path = self.path(name);
        let text = std::fs::read(&path).with_context(|| format!("{} was not written", path.display()))?;
        serde_json::from_slice(&text).with_context(|| format!("{} is not JSON", path.display()))
    }

    /// Reads a run it wrote.
    ///
    /// # Errors
    /// If it is not there, or no result.
    pub fn summary(&self, name: &str) -> Result<Summary> {
        serde_json::from_value(self.json(name)?).with_context(|| format!("{name} is not a result"))
    }
}

/// Waits for the end of a process, and ends it itself if that takes too long.
pub(crate) fn ended(mut child: Child, limit: Duration) -> Result<Ran> {
    let read = |pipe: Option<Box<dyn std::io::Read + Send>>| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(mut pipe) = pipe {
                // What was said up to an error is said.
                let _ = pipe.read_to_end(&mut bytes);
            }
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let stdout = read(child.stdout.take().map(|pipe| Box::new(pipe) as _));
    let stderr = read(child.stderr.take().map(|pipe| Box::new(pipe) as _));
    let deadline = Instant::now() + limit;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if Instant::now() > deadline {
            child.kill()?;
            child.wait()?;
            bail!("loadline did not end within {} s", limit.as_secs());
        }
        thread::sleep(Duration::from_millis(5));
    };
    let exit = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    let said = || "a reader panicked".to_owned();
    Ok(Ran { exit, stdout: stdout.join().unwrap_or_else(|_| said()), stderr: stderr.join().unwrap_or_else(|_| said()) })
}

/// A running `loadline demo --serve`. It ends with this value.
#[derive(Debug)]
pub struct Serving {
    child: Child,
    url: String,
}

impl Serving {
    /// Starts one on a free port.
    ///
    /// # Errors
    /// If it does not say where it listens.
    pub fn start(loadline: &Loadline) -> Result<Self> {
        let mut command = loadline.command(&["demo", "--serve", "127.0.0.1:0"]);
        let mut child = command.stderr(Stdio::null()).spawn().context("loadline cannot be started")?;
        let lines = BufReader::new(child.stdout.take().context("its standard output was taken")?).lines();
        let url = lines.map_while(Result::ok).find_map(|line| {
            let (_, rest) = line.split_once("listens at ")?;
            rest.split_once(". ").map(|(url, _)| url.to_owned())
        });
        match url {
            Some(url) => Ok(Self { child, url }),
            None => {
                let _ = child.kill();
                let _ = child.wait();
                bail!("the demo API did not say where it listens")
            }
        }
    }

    /// The URL of a path and query.
    #[must_use]
    pub fn url(&self, path_and_query: &str) -> String {
        format!("{}{path_and_query}", self.url)
    }

    /// Sends it a signal.
    ///
    /// # Errors
    /// If it is gone.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        kill_process(Pid::from_child(&self.child), signal).context("the server is gone")
    }

    /// Processor time its threads have used.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn cpu(&self) -> Result<Duration> {
        let mut nanos = 0;
        for task in std::fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            // On a core, waiting for one, number of turns. A thread may be gone by now.
            let Ok(text) = std::fs::read_to_string(task?.path().join("schedstat")) else { continue };
            nanos += text.split_whitespace().next().and_then(|number| number.parse::<u64>().ok()).unwrap_or(0);
        }
        Ok(Duration::from_nanos(nanos))
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // Frozen or not, it goes.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
