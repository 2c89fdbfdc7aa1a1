//! A server that is started from a command for one run, and stopped after it.
//!
//! Where a process's memory lies, what its compiler made of the first thousand requests and which core it began on are drawn
//! anew with every start, and move figures by more than most changes do. A comparison that starts each side once compares two
//! draws. So the command is started for every run, awaited at its port, and ended with everything it started: it leads a
//! process group of its own, which is asked to end and, if it does not, killed. Killing the one process alone was rejected:
//! `sh -c 'build && serve'` would leave the server behind, on the port that the other side needs.
//!
//! Invariant: however loadline ends, the group ends.

use std::collections::VecDeque;
use std::io::{self, Read as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use engine::{RunError, Stop, Urgency};
use plan::{Nanos, Plan};
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

use crate::inputs::plainly;

/// What is kept of what a command says.
const OUTPUT_BYTES_MAX: usize = 8 * 1024;
/// What is shown of it when it ends too early.
const OUTPUT_LINES_MAX: usize = 10;
/// So long a server may take to end by itself before it is killed.
const GRACE: Duration = Duration::from_secs(5);
/// How often a state is looked at that nobody announces.
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// A connection on loopback is there at once or not at all; a distant server gets this long.
const CONNECT_MAX: Duration = Duration::from_secs(1);

/// Where a server is awaited.
#[derive(Debug, Clone)]
pub enum Place {
    /// At a host and a port.
    Port(String, u16),
    /// At a socket in the file system.
    Socket(PathBuf),
}

impl Place {
    /// Where this plan connects.
    pub fn of(plan: &Plan) -> Self {
        let connection = plan.connection();
        match (&connection.unix_socket, &connection.connect_to) {
            (Some(socket), _) => Self::Socket(PathBuf::from(socket)),
            (None, Some(at)) => Self::Port(at.host.clone(), at.port),
            (None, None) => Self::Port(plan.target().host().to_owned(), plan.target().port()),
        }
    }

    /// Whether someone listens there.
    pub fn answers(&self) -> bool {
        match self {
            Self::Socket(path) => UnixStream::connect(path).is_ok(),
            Self::Port(host, port) => {
                let host = host.trim_start_matches('[').trim_end_matches(']');
                let Ok(mut addresses) = (host, *port).to_socket_addrs() else { return false };
                addresses.any(|address| TcpStream::connect_timeout(&address, CONNECT_MAX).is_ok())
            }
        }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Port(host, port) => write!(f, "{host}:{port}"),
            Self::Socket(path) => write!(f, "{}", path.display()),
        }
    }
}

/// A server that runs; it is stopped when this goes.
#[derive(Debug)]
pub struct Server {
    child: Child,
    flag: &'static str,
    command: String,
    guard: Guard,
    said: Arc<Mutex<VecDeque<u8>>>,
    listener: Option<thread::JoinHandle<()>>,
}

impl Server {
    /// Starts the command given with `flag` and waits until it listens.
    ///
    /// # Errors
    /// If someone listens there already, the command cannot be started, ends before it listens, or does not listen in time; and if the user wants to end before that.
    pub fn start(flag: &'static str, command: &str, at: &Place, within: Nanos, stop: &Stop) -> Result<Self, RunError> {
        if at.answers() {
            return Err(RunError::run(
                format!("something listens at {at} already, before {flag} '{command}' was started"),
                "stop it first, or give with --url the address that the commands serve",
            ));
        }
        let mut server = Self::spawn(flag, command).map_err(|why| {
            RunError::run(
                format!("{flag} '{command}' cannot be started: {}", plainly(&why)),
                "check that /bin/sh is there and that this user may start processes",
            )
        })?;
        let deadline = Instant::now() + Duration::from(within);
        loop {
            if let Some(status) = server.ended() {
                return Err(server.told(&format!("ended with {} before it listened at {at}", in_words(status))));
            }
            if stop.urgency() > Urgency::None {
                return Err(server.told(&format!("was not waited for until it listened at {at}")));
            }
            if at.answers() {
                return Ok(server);
            }
            if Instant::now() > deadline {
                return Err(server.told(&format!("did not listen at {at} within {within}")));
            }
            thread::sleep(LOOK_AGAIN);
        }
    }

    /// Makes sure that it lived through the run, and stops it.
    ///
    /// # Errors
    /// If it has ended by itself.
    pub fn stop(mut self) -> Result<(), RunError> {
        match self.ended() {
            Some(status) => Err(self.told(&format!("ended with {} while it was loaded", in_words(status)))),
            None => Ok(()),
        }
    }

    fn spawn(flag: &'static str, command: &str) -> io::Result<Self> {
        let (mut reader, writer) = io::pipe()?;
        let child = Command::new("/bin/sh")
            .args(["-c", command])
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .process_group(0)
            .spawn()?;
        let guard = match Guard::over(&child) {
            Ok(guard) => guard,
            Err(why) => {
                let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
                return Err(why);
            }
        };
        let said = Arc::new(Mutex::new(VecDeque::new()));
        let kept = Arc::clone(&said);
        // A pipe that nobody empties would stop the server after 64 kB of its log.
        let listener = thread::Builder::new().name("server-output".to_owned()).spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend(&bytes[..count]);
                let surplus = kept.len().saturating_sub(OUTPUT_BYTES_MAX);
                kept.drain(..surplus);
            }
        })?;
        Ok(Self { child, guard, flag, command: command.to_owned(), said, listener: Some(listener) })
    }

    fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// What happened, with the last it said.
    fn told(mut self, what: &str) -> RunError {
        self.end_group();
        // Whoever left the group may hold the pipe open for ever, so its end is not waited for.
        let deadline = Instant::now() + Duration::from_secs(1);
        while self.listener.as_ref().is_some_and(|listener| !listener.is_finished()) && Instant::now() < deadline {
            thread::sleep(LOOK_AGAIN);
        }
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&said.iter().copied().collect::<Vec<u8>>()).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        let last = &lines[lines.len().saturating_sub(OUTPUT_LINES_MAX)..];
        let shown = if last.is_empty() {
            "\n  it said nothing".to_owned()
        } else {
            last.iter().fold("\n  the last it said:".to_owned(), |shown, line| format!("{shown}\n    {}", report::visible(line)))
        };
        RunError::run(
            format!("{} '{}' {what}{shown}", self.flag, self.command),
            "the command must serve the address of --url in the foreground; try it alone in a shell",
        )
    }

    /// Asks the whole group to end, and makes it.
    fn end_group(&mut self) {
        let group = Pid::from_child(&self.child);
        let _ = kill_process_group(group, Signal::TERM);
        let deadline = Instant::now() + GRACE;
        // The leader is waited for, so that it is no longer counted; its children are the system's to wait for.
        while (self.ended().is_none() || test_kill_process_group(group).is_ok()) && Instant::now() < deadline {
            thread::sleep(LOOK_AGAIN);
        }
        let _ = kill_process_group(group, Signal::KILL);
        let _ = self.child.wait();
        self.guard.dismiss();
    }
}

/// Ends a process group if loadline ends without doing so: killed, or by the third Ctrl-C, which waits for nothing.
///
/// A handler in this process could not: nothing handles SIGKILL. So another process waits for the end of a pipe that only
/// this one holds open, and the system closes that pipe however this process ends. Linux can send a signal to the child of a
/// parent that dies, but only to the child itself, and asking for it takes `unsafe` between fork and exec.
#[derive(Debug)]
struct Guard(Child);

impl Guard {
    /// Of the group that `leader` leads.
    fn over(leader: &Child) -> io::Result<Self> {
        let script = "read _; kill -s TERM -- \"-$1\"; sleep 1; kill -s KILL -- \"-$1\"";
        let guard = Command::new("/bin/sh")
            .args(["-c", script, "loadline-guard", &leader.id().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // A Ctrl-C of the terminal is for loadline.
            .process_group(0)
            .spawn()?;
        Ok(Self(guard))
    }

    /// It is no longer needed. Its pipe is still open, so it has not begun.
    fn dismiss(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end_group();
    }
}

fn in_words(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "an unknown status".to_owned(),
    }
}
