//! An errand: one command of the program on each of several machines, at the same time, and what it says there.
//!
//! Where a load stays connected and tells as it goes, an errand says one thing at its end. It is brought and started as a site is
//! (`machines`), and its standard input stays open as long as somebody waits for its answer: a command that ends with its
//! input does not go on when nobody does.

use std::io::{self, Read, Write as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use plan::{SshHost, sh_quoted};

use crate::link::{CANNOT_RUN, Call, IS_MISSING, why_of};
use crate::machines::{calls, tell_apart};

/// So much of the beginning of what a command complains of is kept.
const COMPLAINT_BYTES_MAX: u64 = 64 << 10;

/// A command, and what it is given.
#[derive(Debug, Clone, Copy)]
pub struct Errand<'a> {
    /// Its words, behind the name of the program.
    pub words: &'a [String],
    /// What stands on its standard input first. It stays open behind that.
    pub input: &'a [u8],
    /// A longer answer is none.
    pub answer_bytes_max: u64,
}

/// Why a machine has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErrandError {
    /// In words that begin with the machine's name.
    pub why: String,
    /// What to do about it.
    pub help: String,
    /// All that the command said on its error stream, if it was the command that ended.
    pub complaint: String,
}

/// Takes an answer, with the number of its machine and its name.
pub type Answered<'a> = dyn FnMut(usize, &str, Result<Vec<u8>, ErrandError>) + 'a;

/// The right to hold an answer.
type Turn<'t> = MutexGuard<'t, ()>;

/// What the command came to.
struct Ended {
    status: ExitStatus,
    answer: Vec<u8>,
    complaint: String,
}

impl Errand<'_> {
    /// Runs the command on each of these machines, and copies the program there first where it is missing. `ssh` is how ssh is called;
    /// `program` is the file of a loadline that runs there, and `sum` its SHA-256 in hexadecimal. `answered` takes each answer, whole, with the
    /// machine's number among `hosts` and its name, as they come: no more than two are in memory, whoever has one waits with it.
    pub fn run(&self, hosts: &[SshHost], ssh: &Path, program: (&Path, &str), answered: &mut Answered<'_>) {
        let words: Vec<String> = self.words.iter().map(|word| sh_quoted(word)).collect();
        let mut calls = calls(hosts, ssh, program, &words.join(" "));
        tell_apart(&mut calls);
        self.ask_all(&calls, answered);
    }

    fn ask_all(&self, calls: &[Call], answered: &mut Answered<'_>) {
        let turn = Mutex::new(());
        let (sender, answers) = sync_channel(0);
        thread::scope(|scope| {
            for (number, call) in calls.iter().enumerate() {
                let (sender, turn) = (sender.clone(), &turn);
                scope.spawn(move || {
                    let mut own = None;
                    let answer = self.ask(call, (turn, &mut own));
                    // Its turn is over when the answer has been taken.
                    let _ = sender.send((number, answer));
                    drop(own);
                });
            }
            drop(sender);
            for (number, answer) in answers {
                answered(number, &calls[number].name, answer);
            }
        });
    }

    fn ask<'t>(&self, call: &Call, (turn, own): (&'t Mutex<()>, &mut Option<Turn<'t>>)) -> Result<Vec<u8>, ErrandError> {
        let error = |why: String| ErrandError { why, help: call.help.clone(), complaint: String::new() };
        let mut carried_out = || self.carry_out(call, (turn, own)).map_err(|why| error(call.uncalled(&why)));
        let mut ended = carried_out()?;
        if let (Some(IS_MISSING), Some(delivery)) = (ended.status.code(), call.way.delivery()) {
            delivery.carry_out().map_err(|why| error(call.undelivered(&why)))?;
            ended = carried_out()?;
        }
        match ended.status.code() {
            Some(0) if ended.answer.len() as u64 > self.answer_bytes_max => {
                Err(error(format!("{} says more than {} MiB", call.name, self.answer_bytes_max >> 20)))
            }
            Some(0) => Ok(ended.answer),
            Some(CANNOT_RUN) => {
                let (why, help) = call.cannot_run();
                Err(ErrandError { help, ..error(why) })
            }
            _ => Err(ErrandError {
                complaint: ended.complaint.clone(),
                ..error(format!("{} is gone{}", call.name, why_of(Some(ended.status), &ended.complaint)))
            }),
        }
    }

    fn carry_out<'t>(&self, call: &Call, (turn, own): (&'t Mutex<()>, &mut Option<Turn<'t>>)) -> io::Result<Ended> {
        let [program, arguments @ ..] = call.way.words() else { return Err(io::ErrorKind::InvalidInput.into()) };
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(mut stdin), Some(mut stdout), Some(stderr)) = (stdin, stdout, stderr) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        // Who is missing there reads nothing, and says so by its status.
        let _ = stdin.write_all(self.input).and_then(|()| stdin.flush());
        let complaints = thread::spawn(move || beginning(stderr, COMPLAINT_BYTES_MAX));
        // Who says nothing, or nothing yet, holds nobody up.
        let mut first = [0];
        let begun = stdout.read(&mut first)?;
        if begun > 0 && own.is_none() {
            *own = Some(turn.lock().unwrap_or_else(PoisonError::into_inner));
        }
        let answer = beginning(first[..begun].chain(stdout), self.answer_bytes_max + 1);
        let status = child.wait()?;
        drop(stdin);
        let complaint = complaints.join().unwrap_or_default();
        Ok(Ended { status, answer, complaint: String::from_utf8_lossy(&complaint).into_owned() })
    }
}

/// How a stream begins. It is read to its end, so that nobody waits to write more.
fn beginning(mut stream: impl Read, bytes_max: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = (&mut stream).take(bytes_max).read_to_end(&mut bytes);
    let _ = io::copy(&mut stream, &mut io::sink());
    bytes
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::link::CalledProgram;

    fn call(script: &str) -> Call {
        let command = ["sh", "-c", script].map(Into::into).to_vec();
        let way = Arc::new(CalledProgram { command, delivery: None });
        Call { name: "web1".to_owned(), way, allowed: Vec::new(), is_here: false, help: "try it".to_owned() }
    }

    fn asked(script: &str, answer_bytes_max: u64) -> Result<Vec<u8>, ErrandError> {
        let mut answered = None;
        let errand = Errand { words: &[], input: b"key\n", answer_bytes_max };
        errand.ask_all(&[call(script)], &mut |_, _, answer| answered = Some(answer));
        answered.unwrap()
    }

    #[test]
    fn answers_are_taken_as_they_come() {
        let folder = std::env::temp_dir().join(format!("errand-{}", std::process::id()));
        let file = folder.display();
        let late = call(&format!(
            "n=0; while [ ! -e {file} ] && [ $n -lt 1000 ]; do sleep 0.01; n=$((n + 1)); done; [ -e {file} ] && printf late"
        ));
        let mut order = Vec::new();
        let errand = Errand { words: &[], input: b"", answer_bytes_max: 10 };
        errand.ask_all(&[late, call("printf early"), call("exit 1")], &mut |number, _, answer| {
            if answer == Ok(b"early".to_vec()) {
                std::fs::create_dir(&folder).unwrap();
            }
            order.push((number, answer.is_ok()));
        });
        std::fs::remove_dir(&folder).unwrap();
        assert_eq!(order.iter().find(|(number, _)| *number == 0), Some(&(0, true)), "{order:?}");
        assert_eq!(order.len(), 3);
    }

    #[test]
    fn an_answer_is_whole_or_there_is_none() {
        assert_eq!(asked("read -r first; printf '%s.' \"$first\"", 10), Ok(b"key.".to_vec()));
        assert_eq!(asked("printf 12345678901", 10).unwrap_err().why, "web1 says more than 0 MiB");
        let failed = asked("echo begun; echo 'error: no log' >&2; exit 2", 10).unwrap_err();
        assert_eq!(
            (failed.why.as_str(), failed.complaint.as_str()),
            ("web1 is gone: it ended with status 2 (error: no log)", "error: no log\n")
        );
        assert!(asked("exit 126", 10).unwrap_err().why.contains("cannot run this program"));
        let word = "it's \\ \"$x\" `y`";
        let within = sh_quoted(&format!("printf %s {}", sh_quoted(word)));
        assert_eq!(asked(&format!("exec sh -c {within}"), 99), Ok(word.into()));
        // Its input is open until it ends.
        assert_eq!(asked("read -r first; timeout 0.2 cat; printf %s $?", 10), Ok(b"124".to_vec()));
    }
}
