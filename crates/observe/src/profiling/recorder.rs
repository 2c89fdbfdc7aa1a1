//! A profile of a process by its number: py-spy for Python, the inspector for Node, `perf` for everything else.
//!
//! None of them is built in: each knows the insides of a runtime or of the kernel, changes with them, and is what its community trusts.
//! What is missing, or not allowed, is told with the command that changes it.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Signal, kill_process};
use tempfile::TempDir;

use super::{Later, RunEnd, Slot, TakenProfile, inspector, wait};
use crate::files::{Files, Folder};
use crate::listener::ListenerQuery;
use crate::process::{Pid, Stat};
use crate::subject::Subject;

/// Samples a second: enough for shares of a per cent in some seconds, and not in step with what happens a hundred times a second.
const RATE: u32 = 99;
/// Beyond its seconds, a program may take so long to write what it has.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is looked whether a program has ended.
const EVERY: Duration = Duration::from_millis(20);
/// A program that was asked to end is asked in another way after so long.
const HEED: Duration = Duration::from_millis(500);
/// Of what a program complains of, so many letters are told.
const WORDS_MAX: usize = 240;

/// What a process is run by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runtime {
    Python,
    Node,
    Other,
}

/// Of whoever listens where the load goes.
pub(super) fn take_of_listener(
    wanted: Option<ListenerQuery>,
    slot: Slot,
    begun: Instant,
    stopped: &RunEnd,
) -> Result<TakenProfile, String> {
    let me = std::process::id();
    let wanted = wanted.ok_or(ELSEWHERE)?;
    let family = Subject::listening(&Folder::of_this_machine(), wanted, Some(me)).map_err(|why| why.message)?;
    // Who measures is no part of a server.
    let first = family.processes().first().ok_or("it is loadline itself that listens there")?;
    take_of(first.pid, &family, slot, begun, stopped)
}

/// Why nobody's processes can be looked into.
pub(super) const ELSEWHERE: &str = "the load goes to another machine, or through a proxy, and processes are profiled on this one only";

/// Whether there is such a process.
pub(super) fn is_there(pid: Pid) -> Result<(), String> {
    Subject::of_process(&Folder::of_this_machine(), pid, None).map(drop).map_err(|why| why.message)
}

pub(super) fn take(pid: Pid, slot: Slot, begun: Instant, stopped: &RunEnd) -> Result<TakenProfile, String> {
    let family = Subject::of_process(&Folder::of_this_machine(), pid, Some(std::process::id())).map_err(|why| why.message)?;
    take_of(pid, &family, slot, begun, stopped)
}

fn take_of(pid: Pid, family: &Subject, slot: Slot, begun: Instant, stopped: &RunEnd) -> Result<TakenProfile, String> {
    let here = Folder::of_this_machine();
    let began_ticks = Stat::of(&here, pid).map_err(|_| format!("there is no process {pid}"))?.began_ticks;
    let runtime = runtime(pid);
    wait(begun, slot.begin, stopped)?;
    is_still_there(&here, pid, began_ticks)?;
    match runtime {
        Runtime::Node => inspector::take(pid, slot, stopped),
        Runtime::Python => py_spy(pid, slot, stopped),
        Runtime::Other => perf(&family.processes().iter().map(|process| process.pid).collect::<Vec<_>>(), slot, stopped),
    }
}

/// Its number may be another process's by now, whose profile would be worse than none.
fn is_still_there(files: &dyn Files, pid: Pid, began_ticks: u64) -> Result<(), String> {
    match Stat::of(files, pid) {
        Ok(now) if now.zombie || now.began_ticks != began_ticks => Err(format!("process {pid} ended before its profile began")),
        Ok(_) => Ok(()),
        Err(_) => Err(format!("process {pid} ended before its profile began")),
    }
}

fn runtime(pid: Pid) -> Runtime {
    let program = fs::read_link(format!("/proc/{pid}/exe")).ok();
    let name = program.as_deref().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    match name.as_deref() {
        Some(name) if name.starts_with("python") => Runtime::Python,
        Some("node" | "nodejs") => Runtime::Node,
        _ => Runtime::Other,
    }
}

/// A file of a name nobody else has, gone with this.
struct Scratch(TempDir);

impl Scratch {
    fn new() -> Result<Self, String> {
        let folder = tempfile::Builder::new().prefix("loadline-profile-").tempdir();
        folder.map(Self).map_err(|why| format!("no file can be made for it: {why}"))
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("profile")
    }
}

/// py-spy does not stop the program while it looks: stopping it a hundred times a second would change what is measured.
fn py_spy(pid: Pid, slot: Slot, stopped: &RunEnd) -> Result<TakenProfile, String> {
    let scratch = Scratch::new()?;
    let mut command = Command::new("py-spy");
    command.args(["record", "--nonblocking", "--subprocesses", "--format", "raw", "--rate", &RATE.to_string()]);
    command.args(["--pid", &pid.to_string(), "--duration", &slot.seconds.to_string(), "--output"]).arg(scratch.file());
    let missing = "process is Python, and py-spy, which profiles it, is not installed: pip install py-spy";
    let (began, ended) = run(&mut command, missing, slot, stopped)?;
    Ok(TakenProfile { began, ended, bytes: Box::new(move || read(&scratch.file())) })
}

fn perf(pids: &[Pid], slot: Slot, stopped: &RunEnd) -> Result<TakenProfile, String> {
    let scratch = Scratch::new()?;
    let pids = pids.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let mut command = Command::new("perf");
    command.args(["record", "--freq", &RATE.to_string(), "-g", "--pid", &pids, "--output"]).arg(scratch.file());
    command.args(["--", "sleep", &slot.seconds.to_string()]);
    let missing = "perf is not installed; it comes with the package linux-perf (Debian), linux-tools-generic (Ubuntu) or perf";
    let (began, ended) = run(&mut command, missing, slot, stopped)?;
    let bytes: Later = Box::new(move || {
        let mut command = Command::new("perf");
        command.args(["script", "--force", "--fields", "comm,pid,tid,time,event,ip,sym,symoff,dso", "--input"]).arg(scratch.file());
        let told = command.stdin(Stdio::null()).output().map_err(|why| format!("perf script: {why}"))?;
        if told.status.success() { Ok(told.stdout) } else { Err(format!("perf script: {}", complaint(&told.stderr))) }
    });
    Ok(TakenProfile { began, ended, bytes })
}

/// Runs it to its end, or interrupts it when the run is over: both write what they have then.
fn run(command: &mut Command, missing: &str, slot: Slot, stopped: &RunEnd) -> Result<(Instant, Instant), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let began = Instant::now();
    let mut child = Running(command.spawn().map_err(|why| match why.kind() {
        std::io::ErrorKind::NotFound => missing.to_owned(),
        _ => format!("{name} cannot be started: {why}"),
    })?);
    let mut deadline = began + Duration::from_secs(slot.seconds) + PATIENCE;
    let mut interrupted: Option<Instant> = None;
    let mut terminated = false;
    let end = |child: &Running, signal| {
        if let Some(pid) = i32::try_from(child.0.id()).ok().and_then(rustix::process::Pid::from_raw) {
            let _ = kill_process(pid, signal);
        }
    };
    loop {
        match child.0.try_wait() {
            Ok(Some(_)) => break,
            Ok(None) if Instant::now() >= deadline => return Err(format!("{name} did not come to an end")),
            Ok(None) => {}
            Err(why) => return Err(format!("{name} cannot be waited for: {why}")),
        }
        match interrupted {
            // A script's programs in the background pay no heed to the first.
            Some(since) if !terminated && since.elapsed() >= HEED => {
                terminated = true;
                end(&child, Signal::TERM);
            }
            Some(_) => std::thread::sleep(EVERY),
            None if stopped.within(EVERY) => {
                interrupted = Some(Instant::now());
                deadline = Instant::now() + PATIENCE;
                end(&child, Signal::INT);
            }
            None => {}
        }
    }
    let ended = Instant::now();
    let Output { status, stderr, .. } = child.output().map_err(|why| format!("{name}: {why}"))?;
    if status.success() || interrupted.is_some() { Ok((began, ended)) } else { Err(format!("{name}: {}", complaint(&stderr))) }
}

/// A program that does not outlive whoever started it.
struct Running(Child);

impl Running {
    fn output(&mut self) -> std::io::Result<Output> {
        let status = self.0.wait()?;
        let mut stderr = Vec::new();
        if let Some(pipe) = self.0.stderr.take() {
            pipe.take(1 << 16).read_to_end(&mut stderr)?;
        }
        Ok(Output { status, stdout: Vec::new(), stderr })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let about = fs::metadata(path).map_err(|why| format!("what was recorded cannot be read: {why}"))?;
    if about.len() > profile::BYTES_MAX as u64 {
        return Err(format!("what was recorded is larger than {} MB", profile::BYTES_MAX >> 20));
    }
    fs::read(path).map_err(|why| format!("what was recorded cannot be read: {why}"))
}

/// What a program complains of, with what to do where it is known.
fn complaint(stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if says(&["perf_event_paranoid", "perf_event_open", "Access to performance monitoring", "No permission to enable"]) {
        return "the kernel does not allow this user to sample that process: sudo sysctl kernel.perf_event_paranoid=1, or run loadline as \
                root; in a container it takes --cap-add PERFMON"
            .to_owned();
    }
    if says(&["Permission Denied", "Permission denied", "Operation not permitted", "EPERM"]) {
        return "this user may not look into that process: run loadline as root or as the user of the process; in a container it takes \
                --cap-add SYS_PTRACE"
            .to_owned();
    }
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let told =
        lines.iter().find(|line| line.to_lowercase().contains("error")).or(lines.last()).copied().unwrap_or("it failed without a word");
    told.chars().filter(|letter| !letter.is_control()).take(WORDS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::RecordedFiles;

    #[test]
    fn what_a_program_complains_of_comes_with_what_to_do() {
        for (said, told) in [
            ("Error:\nAccess to performance monitoring and observability operations is limited.\n", "perf_event_paranoid=1"),
            ("Error: Permission Denied: Try running again with elevated permissions\n", "as root"),
            ("note\nError: Failed to find python version from target process\n", "Failed to find python version"),
            ("", "without a word"),
        ] {
            let complaint = complaint(said.as_bytes());
            assert!(complaint.contains(told), "{said}: {complaint}");
        }
    }

    #[test]
    fn a_program_that_is_missing_is_told_with_how_to_get_it() {
        let (_stop, stopped) = std::sync::mpsc::channel();
        let slot = Slot { begin: Duration::ZERO, seconds: 1 };
        let told = run(&mut Command::new("loadline-no-such-program"), "get it there", slot, &RunEnd(stopped)).unwrap_err();
        assert_eq!(told, "get it there");
    }

    #[test]
    fn a_program_is_interrupted_when_the_run_is_over() {
        let (stop, stopped) = std::sync::mpsc::channel();
        stop.send(()).unwrap();
        let slot = Slot { begin: Duration::ZERO, seconds: 600 };
        let mut command = Command::new("sleep");
        command.arg("600");
        let before = Instant::now();
        run(&mut command, "", slot, &RunEnd(stopped)).unwrap();
        assert!(before.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn a_process_that_is_not_there_is_told() {
        let (_stop, stopped) = std::sync::mpsc::channel();
        let slot = Slot { begin: Duration::ZERO, seconds: 1 };
        let error = take(Pid::MAX - 7, slot, Instant::now(), &RunEnd(stopped)).err().unwrap();
        assert!(error.contains("there is no process"), "{error}");
    }

    #[test]
    fn who_listens_is_found_and_loadline_itself_and_other_machines_are_not_profiled() {
        let (_stop, stopped) = std::sync::mpsc::channel();
        let slot = Slot { begin: Duration::ZERO, seconds: 1 };
        let stopped = RunEnd(stopped);
        let taken = |wanted| take_of_listener(wanted, slot, Instant::now(), &stopped).err().unwrap();
        assert!(taken(None).contains("another machine"));
        let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let at = socket.local_addr().unwrap();
        assert!(taken(Some(ListenerQuery::Addresses(vec![at]))).contains("loadline itself"));
        drop(socket);
        assert!(taken(Some(ListenerQuery::Addresses(vec![at]))).contains("no process of this machine listens"));
    }

    #[test]
    fn a_number_that_another_process_has_now_is_not_profiled() {
        let mut told = RecordedFiles::default();
        let stat = |state: char, began: u64| format!("812 (app) {state} 1 1 1 0 -1 0 0 0 0 0 7 2 0 0 20 0 1 0 {began} 0 0 0\n");
        let ended = "process 812 ended before its profile began";
        assert_eq!(is_still_there(&told, 812, 100).unwrap_err(), ended);
        for (state, began, there) in [('S', 100, true), ('R', 5_000, false), ('Z', 100, false)] {
            told.add_text("/proc/812/stat", stat(state, began));
            assert_eq!(is_still_there(&told, 812, 100), if there { Ok(()) } else { Err(ended.to_owned()) }, "{state} {began}");
        }
    }
}
