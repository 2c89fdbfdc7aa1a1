//! Another machine's `/proc`, by the system's ssh, with nothing installed there.
//!
//! One ssh process runs for the whole time. At its other end a small loop of a shell reads what is asked for, a line each time, and
//! writes the files back. Time stays here: the loop does nothing until it is asked. A connection for every look was rejected, since a
//! handshake costs more than the look; a program copied over, since who may not install one could not use it. The user's own ssh
//! brings names, keys, agents and jump hosts along, and asks for nothing: it fails before the run instead.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use measure::ServerObservation;
use measure::observed::{Place, Value};
use plan::{Nanos, SSH_CONNECT_SECONDS, SshHost};

use crate::asked::ObserveTarget;
use crate::change::Sample;
use crate::files::RecordedFiles;
use crate::listener::ListenerQuery;
use crate::local::{changed, described};
use crate::subject::{NotFound, Patterns, Subject};
use crate::watcher::Source;

/// An answer that takes longer is none.
const ANSWER_MAX: Duration = Duration::from_secs(10);
/// A machine with very many processes tells some megabytes; more is no machine.
const ANSWER_BYTES_MAX: usize = 64 << 20;
/// The end of an answer.
const END: &str = "@end";

/// What runs at the other end. `grep -H ''` writes each line with its file's name, for many files in one process; a table of sockets
/// has those that listen first.
const LOOP: &str = r#"LC_ALL=C; export LC_ALL
while IFS= read -r asked; do
  set -f; set -- $asked; kind=$1; shift; set +f
  case $kind in
    texts) grep -H '' $* 2>/dev/null ;;
    tables) for table in $*; do sed -n -e '1p' -e '/^ *[0-9]*: [0-9A-F:]* [0-9A-F:]* 0A /p' -e '/^ *[0-9]*: [0-9A-F:]* [0-9A-F:]* 0[1-9B-F] /q' "$table" 2>/dev/null | sed "s|^|$table:|"; done ;;
    links) ls -l $* 2>/dev/null ;;
    counts) for folder in $*; do set -- "$folder"/*; echo "$folder:$#"; done ;;
  esac
  echo @end
done"#;

/// A machine at the other end of an ssh connection.
pub struct Ssh {
    asked: String,
    wire: Wire,
    subject: Subject,
    before: Option<Sample>,
}

/// Questions there, answers back.
struct Wire {
    child: Child,
    questions: ChildStdin,
    answers: Receiver<Option<String>>,
}

/// Which program is ssh.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program(PathBuf);

impl Default for Program {
    fn default() -> Self {
        Self(PathBuf::from("ssh"))
    }
}

impl Program {
    /// Another one, which takes the same arguments.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }
}

impl Ssh {
    /// Connects, and finds who listens on the port there.
    ///
    /// # Errors
    /// If the machine cannot be reached or does not let us in, and if nobody is found to listen.
    pub fn open(remote: &SshHost, port: u16, program: &Program) -> Result<Self, NotFound> {
        let asked = ObserveTarget::Ssh(remote.clone()).to_string();
        let mut wire = Wire::open(remote, program)?;
        let lost = |why: String| NotFound { message: why, help: remote.by_hand().into() };
        let mut files = wire.everything().map_err(lost)?;
        let mut subject = Subject::listening(&files, ListenerQuery::Port(port), None).map_err(|why| NotFound {
            message: format!("on {}: {}", remote.to, why.message),
            help: "connect as a user who may see that process, or leave ssh out".into(),
        })?;
        // Its cgroup and network are known only once its own files are there.
        wire.read(&subject.patterns(), &mut files).map_err(lost)?;
        subject.gather_again(&files);
        Ok(Self { asked, wire, subject, before: None })
    }
}

impl Source for Ssh {
    fn look(&mut self, at: Nanos) -> Result<Vec<Value>, String> {
        let mut files = RecordedFiles::default();
        if self.subject.is_lost() {
            files = self.wire.everything()?;
        }
        self.wire.read(&self.subject.patterns(), &mut files)?;
        Ok(changed(&mut self.subject, &files, at, &mut self.before))
    }

    fn describe(&self) -> ServerObservation {
        let of = described(&self.subject, self.asked.clone(), Place::Elsewhere, self.before.as_ref());
        ServerObservation { about: format!("{} on {}", of.about, self.asked.trim_start_matches("ssh:")), ..of }
    }

    fn warnings(&mut self) -> Vec<String> {
        self.subject.warnings()
    }
}

impl Wire {
    fn open(remote: &SshHost, program: &Program) -> Result<Self, NotFound> {
        let mut command = Command::new(&program.0);
        let spawned = command.args(remote.words(LOOP)).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = spawned.map_err(|why| NotFound {
            message: format!("{} cannot be started: {why}", program.0.display()),
            help: "install OpenSSH's client".into(),
        })?;
        let questions = child.stdin.take().expect("it was asked for");
        let mut told = BufReader::new(child.stdout.take().expect("it was asked for"));
        let (answer, answers) = channel();
        let reading = move || {
            let mut text = String::new();
            let mut line = Vec::new();
            loop {
                line.clear();
                match told.by_ref().take(ANSWER_BYTES_MAX as u64).read_until(b'\n', &mut line) {
                    Ok(0) | Err(_) => break,
                    Ok(_) => {}
                }
                let line = String::from_utf8_lossy(&line);
                if line.trim_end() == END {
                    if answer.send(Some(std::mem::take(&mut text))).is_err() {
                        return;
                    }
                } else if text.len() + line.len() <= ANSWER_BYTES_MAX {
                    text.push_str(&line);
                }
            }
            let _ = answer.send(None);
        };
        thread::Builder::new().name("observe-ssh".to_owned()).spawn(reading).map_err(|why| NotFound {
            message: format!("no thread could be started: {why}"),
            help: "raise the limit of processes".into(),
        })?;
        let mut wire = Self { child, questions, answers };
        match wire.ask("texts /proc/uptime") {
            Ok(told) if told.starts_with("/proc/uptime:") => Ok(wire),
            Ok(_) => Err(NotFound {
                message: format!("{} has no /proc/uptime", remote.to),
                help: "only machines running Linux can be watched so".into(),
            }),
            Err(why) => Err(NotFound { message: why, help: remote.by_hand().into() }),
        }
    }

    /// One question and its answer.
    fn ask(&mut self, question: &str) -> Result<String, String> {
        let lost = |wire: &mut Self| {
            let _ = wire.child.kill();
            let mut said = String::new();
            if let Some(stderr) = wire.child.stderr.take() {
                let _ = stderr.take(SAID_BYTES_MAX).read_to_string(&mut said);
            }
            let last = said.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("the connection was closed");
            format!("ssh: {last}")
        };
        // The reader has the reason, if there is one: it is looked for in both cases.
        if writeln!(self.questions, "{question}").and_then(|()| self.questions.flush()).is_err() {
            return Err(lost(self));
        }
        match self.answers.recv_timeout(ANSWER_MAX + Duration::from_secs(SSH_CONNECT_SECONDS.into())) {
            Ok(Some(answer)) => Ok(answer),
            Ok(None) | Err(RecvTimeoutError::Disconnected) => Err(lost(self)),
            Err(RecvTimeoutError::Timeout) => Err("ssh: no answer came in time".to_owned()),
        }
    }

    /// What is needed to find who listens.
    fn everything(&mut self) -> Result<RecordedFiles, String> {
        let mut files = RecordedFiles::default();
        files.add_lines(&self.ask("texts /proc/[0-9]*/stat")?);
        files.add_lines(&self.ask("tables /proc/net/tcp /proc/net/tcp6")?);
        files.add_links(&self.ask("links /proc/[0-9]*/fd/")?);
        Ok(files)
    }

    fn read(&mut self, patterns: &Patterns, files: &mut RecordedFiles) -> Result<(), String> {
        for texts in patterns.texts.chunks(PATTERNS_A_LINE) {
            for path in texts {
                files.forget_like(path);
            }
            files.add_lines(&self.ask(&format!("texts {}", texts.join(" ")))?);
        }
        for table in &patterns.tables {
            files.forget_like(table);
        }
        files.add_lines(&self.ask(&format!("tables {}", patterns.tables.join(" ")))?);
        for counts in patterns.counts.chunks(PATTERNS_A_LINE) {
            files.add_counts(&self.ask(&format!("counts {}", counts.join(" ")))?);
        }
        Ok(())
    }
}

/// A line of a terminal that reads a password may not be longer than 4,096; shells take more, but not all take much more.
const PATTERNS_A_LINE: usize = 60;
/// Of what ssh complains of, the last line is told.
const SAID_BYTES_MAX: u64 = 16 << 10;

impl Drop for Wire {
    fn drop(&mut self) {
        // Without questions the loop ends by itself; a connection that hangs does not.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::net::TcpListener;
    use std::os::unix::fs::PermissionsExt as _;

    /// A program that takes ssh's arguments and runs the last one here.
    fn here(folder: &tempfile::TempDir, script: &str) -> Program {
        let path = folder.path().join("ssh");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Program::at(path)
    }

    const RUN_HERE: &str = r#"for last; do :; done; exec sh -c "$last""#;

    fn remote() -> SshHost {
        SshHost { to: "me@there".to_owned(), port: Some(2222) }
    }

    #[test]
    fn the_loop_of_a_shell_tells_what_this_machine_tells() {
        let folder = tempfile::tempdir().unwrap();
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        let mut ssh = Ssh::open(&remote(), port, &here(&folder, RUN_HERE)).unwrap();
        assert!(ssh.look(Nanos::ZERO).unwrap().is_empty());
        let _one = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        let values = ssh.look(Nanos::SECOND).unwrap();
        let of = |name: &str| values.iter().find(|it| it.name == name && it.of.is_none()).unwrap_or_else(|| panic!("no {name}")).value;
        assert_eq!(of("accept_queue"), 1.0);
        assert!(of("memory") > 1e5 && of("files") >= 4.0 && of("threads") >= 2.0 && of("machine_memory") > 1e6);
        assert!(values.iter().any(|it| it.name == "thread_cpu"));
        let told = ssh.describe();
        assert!(told.processes.iter().any(|process| process.pid == std::process::id() && process.listens), "{told:?}");
        assert!(told.about.ends_with(" on me@there:2222") && told.place == Place::Elsewhere, "{told:?}");
        assert!(ssh.warnings().is_empty());
    }

    #[test]
    fn a_host_that_does_not_let_us_in_is_told_before_the_run() {
        let folder = tempfile::tempdir().unwrap();
        let denied = here(&folder, "echo 'Warning: added' >&2; echo 'me@there: Permission denied (publickey).' >&2; exit 255");
        let error = Ssh::open(&remote(), 80, &denied).err().unwrap();
        assert_eq!(error.message, "ssh: me@there: Permission denied (publickey).");
        assert_eq!(error.help, "try it: ssh -o BatchMode=yes -p 2222 me@there true".into());
        let missing = Program::at(folder.path().join("nothing"));
        assert!(Ssh::open(&remote(), 80, &missing).err().unwrap().message.contains("cannot be started"));
    }

    #[test]
    fn nobody_on_the_port_there_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let error = Ssh::open(&remote(), port, &here(&folder, RUN_HERE)).err().unwrap();
        assert!(error.message.starts_with("on me@there: no process"), "{error:?}");
    }

    #[test]
    fn a_connection_that_breaks_is_an_error_of_the_look() {
        let folder = tempfile::tempdir().unwrap();
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut ssh = Ssh::open(&remote(), socket.local_addr().unwrap().port(), &here(&folder, RUN_HERE)).unwrap();
        ssh.wire.child.kill().unwrap();
        assert!(ssh.look(Nanos::SECOND).unwrap_err().starts_with("ssh: "));
    }
}
