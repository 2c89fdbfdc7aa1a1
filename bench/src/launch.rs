//! Running a program on one core and reading what it cost from the kernel.
//!
//! The kernel keeps processor time and peak memory of children that were waited for, but adds them up over all children.
//! So each measured program gets a launcher of its own: this same binary, which pins itself, starts the program, waits,
//! and writes down what its only child used. Rejected: `/usr/bin/time`, which may be missing and counts in hundredths.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

/// What one program cost.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Usage {
    /// Processor time, user and system, in microseconds.
    pub cpu_us: i64,
    /// Its part spent outside the kernel, in microseconds.
    pub user_us: i64,
    /// Resident memory at most, in bytes.
    pub memory_bytes_max: u64,
    /// From start to end, in microseconds.
    pub elapsed_us: u64,
    /// When it was started, in microseconds since 1970-01-01.
    pub begun_us: u64,
}

/// A program that ran.
pub(crate) struct Ran {
    pub usage: Usage,
    pub stdout: String,
    pub stderr: String,
}

/// Runs the command on the core, to its end.
///
/// # Errors
/// If it cannot be started or ends badly; with its own words.
pub(crate) fn run_on(core: usize, command: &[String]) -> Result<Ran> {
    let dir = tempfile::tempdir()?;
    let [usage, stdout, stderr] = ["usage", "stdout", "stderr"].map(|name| dir.path().join(name));
    let status = Command::new(std::env::current_exe()?)
        .arg("measured")
        .arg(core.to_string())
        .arg(&usage)
        .args(command)
        // What is measured to be compared is not of the user's history.
        .env("LOADLINE_DB", dir.path().join("history.db"))
        .stdin(Stdio::null())
        .stdout(File::create(&stdout)?)
        .stderr(File::create(&stderr)?)
        .status()?;
    let [stdout, stderr] = [stdout, stderr].map(|path| std::fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()));
    let (stdout, stderr) = (stdout?, stderr?);
    if !status.success() {
        bail!("'{}' failed ({status}): {}{}", command.join(" "), stdout.trim_end(), stderr.trim_end());
    }
    let usage = serde_json::from_slice(&std::fs::read(&usage)?).context("the launcher wrote no usage")?;
    Ok(Ran { usage, stdout, stderr })
}

/// Runs a command on whichever cores the system gives it; when it was started, in microseconds since 1970.
///
/// # Errors
/// If it cannot be started, or ends badly.
pub(crate) fn run_anywhere(command: &str) -> Result<u64> {
    let mut words = command.split(' ');
    let program = words.next().context("no command to measure")?;
    let begun_us = now_us();
    let status = Command::new(program).args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    if !status.success() && status.code() != Some(MEASURED_BUT_INVALID) {
        bail!("'{command}' ended with {status}");
    }
    Ok(begun_us)
}

/// How loadline ends when others kept it from its processor. Its counts hold all the same, and they are what is checked here; what
/// such a moment did to the figures shows in their spread.
const MEASURED_BUT_INVALID: i32 = 4;

/// The launcher: pins itself, runs the command, writes its usage. A child inherits the core.
///
/// # Errors
/// If the core is not ours, the command cannot be started, or it ends badly.
pub fn measured(core: &str, usage: &Path, command: &[&str]) -> Result<()> {
    pin(Pid::from_raw(0), core.parse()?)?;
    let [program, arguments @ ..] = command else { bail!("no command to measure") };
    let (begun_us, begun) = (now_us(), Instant::now());
    let status = Command::new(program).args(arguments).status().with_context(|| format!("cannot start {program}"))?;
    let elapsed = begun.elapsed();
    if !status.success() && status.code() != Some(MEASURED_BUT_INVALID) {
        bail!("ended with {status}");
    }
    let all = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let usage_of_child = Usage {
        cpu_us: (all.user_time() + all.system_time()).num_microseconds(),
        user_us: all.user_time().num_microseconds(),
        memory_bytes_max: u64::try_from(all.max_rss()).unwrap_or(0) * 1024,
        elapsed_us: u64::try_from(elapsed.as_micros())?,
        begun_us,
    };
    std::fs::write(usage, serde_json::to_vec(&usage_of_child)?)?;
    Ok(())
}

/// Microseconds since 1970-01-01, by the clock that all processes share.
pub(crate) fn now_us() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_micros()).unwrap_or(0))
}

/// Keeps a core busy as long as it lives: whoever else runs there never finds it idle.
pub(crate) struct Busy {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Busy {
    pub fn on(core: usize) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        let thread = thread::spawn(move || {
            // Of the thread alone: zero is whoever calls.
            if pin(Pid::from_raw(0), core).is_ok() {
                while !seen.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            }
        });
        Self { over, thread: Some(thread) }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Binds a process to a core.
pub(crate) fn pin(process: Pid, core: usize) -> Result<()> {
    let mut set = CpuSet::new();
    set.set(core)?;
    sched_setaffinity(process, &set).with_context(|| format!("cannot use core {core}"))
}
