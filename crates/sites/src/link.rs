//! The link to a site: two streams, and what is known of its end. Behind it is a program that was called here, or an agent of a fleet.

use std::ffi::OsString;
use std::fmt::{self, Write as _};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use plan::setting::AGENT_BINARY;

use crate::words::plain_letters;

/// So much of the end of what a site complains of is kept.
const COMPLAINT_BYTES_MAX: usize = 2000;

/// The status by which a site's call says that the program is not there.
pub(crate) const IS_MISSING: i32 = 93;
/// The status by which it says that the program cannot be run there, as shells do (POSIX, Shell Command Language, 2.8.2).
pub(crate) const CANNOT_RUN: i32 = 126;

/// How a site is called.
#[derive(Debug, Clone)]
pub struct Call {
    /// As people call it.
    pub name: String,
    /// The way to it.
    pub(crate) way: Arc<dyn Way>,
    /// Where load may go from there, as its owner wrote it; with none, everywhere.
    pub(crate) allowed: Vec<String>,
    /// Whether it is on this machine, where all have one clock.
    pub(crate) is_here: bool,
    /// What to do where it cannot be called.
    pub(crate) help: String,
}

impl Call {
    /// What is told where it cannot be called.
    pub(crate) fn uncalled(&self, why: &io::Error) -> String {
        format!("{} cannot be called: {}", self.name, plan::plainly(why))
    }

    /// What is told where loadline is missing there and cannot be brought.
    pub(crate) fn undelivered(&self, why: &str) -> String {
        format!("{} has no loadline, and it cannot be copied there: {why}", self.name)
    }

    /// What is told where it cannot be run, and what to do about it.
    pub(crate) fn cannot_run(&self) -> (String, String) {
        let help = format!("give the file of a loadline for its processor and its system with {AGENT_BINARY}");
        (format!("{} cannot run this program", self.name), help)
    }
}

/// What sites of these names are called: as they are, with a number where several have the same.
pub(crate) fn told_apart(names: &[&str]) -> Vec<String> {
    let called = |(place, name): (usize, &&str)| {
        let alike = names.iter().filter(|other| *other == name).count();
        let number = names[..=place].iter().filter(|other| *other == name).count();
        if alike > 1 { format!("{name} ({number})") } else { (*name).to_owned() }
    };
    names.iter().enumerate().map(called).collect()
}

/// The way to a site.
pub(crate) trait Way: fmt::Debug + Send + Sync {
    /// Calls it.
    fn link(&self) -> io::Result<Link>;

    /// The words of the program that leads there, if it is one.
    fn words(&self) -> &[OsString] {
        &[]
    }

    /// How loadline comes there where it is missing.
    fn delivery(&self) -> Option<Delivery> {
        None
    }
}

/// A program whose standard streams lead to a site.
#[derive(Debug)]
pub(crate) struct CalledProgram {
    /// The program, and what it is given.
    pub command: Vec<OsString>,
    /// How loadline comes there where it is missing.
    pub delivery: Option<Delivery>,
}

impl Way for CalledProgram {
    fn link(&self) -> io::Result<Link> {
        let program = self.command.first().map(|word| word.to_string_lossy()).unwrap_or_default();
        call(&self.command).map_err(|why| io::Error::other(format!("{program}: {}", plan::plainly(&why))))
    }

    fn words(&self) -> &[OsString] {
        &self.command
    }

    fn delivery(&self) -> Option<Delivery> {
        self.delivery.clone()
    }
}

/// How a site is spoken with.
pub(crate) struct Link {
    /// When it is dropped, the site has no more orders and goes.
    pub orders: Box<dyn Write + Send>,
    /// What the site says, until it goes.
    pub answers: Box<dyn Read + Send>,
    pub end: Arc<dyn End>,
}

/// The end of a site.
pub(crate) trait End: fmt::Debug + Send + Sync {
    /// Waits for it; when it has not come in this time, brings it about. Gives the status of the program that was called, if there is one.
    fn wait(&self, time: Duration) -> Option<i32>;

    /// Why it came, in words that go on from "it is gone", such as ": it ended with status 1"; empty where nothing is known.
    fn why(&self) -> String;

    /// Brings it about: the site may hang and not know.
    fn hasten(&self);
}

/// How a program comes to a site.
#[derive(Debug, Clone)]
pub(crate) struct Delivery {
    /// The program that takes the file on its standard input, and what it is given.
    pub command: Vec<OsString>,
    /// The file.
    pub file: PathBuf,
}

impl Delivery {
    /// Brings the program there.
    pub(crate) fn carry_out(&self) -> Result<(), String> {
        let [program, arguments @ ..] = &self.command[..] else { return Err("there is no way".to_owned()) };
        let file = File::open(&self.file).map_err(|why| plan::plainly(&why))?;
        let ran = Command::new(program).args(arguments).stdin(file).process_group(0).output();
        let ran = ran.map_err(|why| plan::plainly(&why))?;
        if ran.status.success() {
            return Ok(());
        }
        Err(String::from_utf8_lossy(&ran.stderr).lines().last().unwrap_or("the copy did not arrive whole").to_owned())
    }
}

/// A program that was called, with what it complained of at last.
#[derive(Debug)]
struct Program {
    child: Mutex<Child>,
    complaint: Arc<Mutex<Vec<u8>>>,
}

/// Calls a program by these words.
///
/// # Errors
/// If the system does not start it.
pub(crate) fn call(command: &[OsString]) -> io::Result<Link> {
    let [program, arguments @ ..] = command else { return Err(io::ErrorKind::InvalidInput.into()) };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Ctrl-C is for the commander, which tells the sites.
    let mut child = command.process_group(0).spawn()?;
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(orders), Some(answers), Some(stderr)) = (stdin, stdout, stderr) else { return Err(io::ErrorKind::BrokenPipe.into()) };
    let complaint = Arc::new(Mutex::new(Vec::new()));
    let kept = complaint.clone();
    thread::Builder::new().name("complaints".to_owned()).spawn(move || keep_end(stderr, &kept))?;
    Ok(Link { orders: Box::new(orders), answers: Box::new(answers), end: Arc::new(Program { child: Mutex::new(child), complaint }) })
}

impl Program {
    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl End for Program {
    fn wait(&self, time: Duration) -> Option<i32> {
        let limit = Instant::now() + time;
        loop {
            // Others may want to end it meanwhile.
            let mut child = self.child();
            match child.try_wait() {
                Ok(Some(status)) => return status.code(),
                Ok(None) if Instant::now() >= limit => {
                    let _ = child.kill();
                    return child.wait().ok()?.code();
                }
                Ok(None) => {}
                Err(_) => return None,
            }
            drop(child);
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn why(&self) -> String {
        let status = self.child().try_wait().ok().flatten();
        let complaint = self.complaint.lock().unwrap_or_else(PoisonError::into_inner);
        why_of(status, &String::from_utf8_lossy(&complaint))
    }

    fn hasten(&self) {
        let _ = self.child().kill();
    }
}

/// Why a program is gone, in words that go on from that, by its status and what it complained of.
pub(crate) fn why_of(status: Option<ExitStatus>, complaint: &str) -> String {
    let mut why = match status.map(|status| (status.signal(), status.code())) {
        Some((Some(signal), _)) => format!(": it was ended by signal {signal}"),
        Some((_, Some(code))) if code != 0 => format!(": it ended with status {code}"),
        _ => String::new(),
    };
    // What Rust adds to a panic is no reason.
    if let Some(last) = complaint.lines().map(str::trim).rfind(|line| !line.is_empty() && !line.starts_with("note:")) {
        let _ = write!(why, " ({})", plain_letters(last).collect::<String>());
    }
    why
}

/// Keeps the end of what a site complains of.
fn keep_end(mut stream: ChildStderr, kept: &Mutex<Vec<u8>>) {
    let mut bytes = [0; 1024];
    while let Ok(count @ 1..) = stream.read(&mut bytes) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&bytes[..count]);
        let surplus = kept.len().saturating_sub(COMPLAINT_BYTES_MAX);
        kept.drain(..surplus);
    }
}
