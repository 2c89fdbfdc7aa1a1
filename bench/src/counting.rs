//! Servers of gRPC and HTTP/3 that count what they are asked (`scripts/grpcd`, `scripts/http3d`), on one core.

use std::cell::RefCell;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use serde_json::Value;
use tempfile::TempDir;

use crate::launch::pin;
use crate::nginx::pid;
use crate::tool::{grpc_url, peer};

/// A running server; it ends with this value.
pub(crate) struct CountingServer {
    child: Child,
    said: RefCell<(ChildStdin, BufReader<ChildStdout>)>,
    dir: TempDir,
    /// What is loaded.
    pub url: String,
    /// Of its counts, that of requests.
    count: &'static str,
}

impl CountingServer {
    /// One of gRPC in cleartext; `None` where it was not built.
    ///
    /// # Errors
    /// If it does not come up.
    pub fn of_grpc(core: usize) -> Result<Option<Self>> {
        Self::start("grpcd", core, "unary", grpc_url)
    }

    /// One of HTTP/3; `None` where it was not built.
    ///
    /// # Errors
    /// If it does not come up.
    pub fn of_http3(core: usize) -> Result<Option<Self>> {
        Self::start("http3d", core, "requests", |at| format!("https://{at}/"))
    }

    fn start(name: &str, core: usize, count: &'static str, url: impl Fn(&str) -> String) -> Result<Option<Self>> {
        let Some(program) = peer(name) else { return Ok(None) };
        let dir = tempfile::tempdir()?;
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["127.0.0.1".to_owned(), "localhost".to_owned()])?;
        std::fs::write(dir.path().join("cert.pem"), cert.pem())?;
        std::fs::write(dir.path().join("key.pem"), signing_key.serialize_pem())?;
        let mut command = Command::new(program);
        if name == "http3d" {
            command.arg("-cert").arg(dir.path().join("cert.pem")).arg("-key").arg(dir.path().join("key.pem"));
        }
        // One worker for one core, as nginx has it: the runtime of Go would count those of the machine.
        command.env("GOMAXPROCS", "1");
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        pin(pid(&child), core)?;
        let stdin = child.stdin.take().context("standard input is piped")?;
        let mut stdout = BufReader::new(child.stdout.take().context("standard output is piped")?);
        let mut at = String::new();
        stdout.read_line(&mut at)?;
        // Threads that began before it was pinned have the cores of this process.
        for thread in std::fs::read_dir(format!("/proc/{}/task", child.id()))? {
            let thread = thread?.file_name().to_string_lossy().parse()?;
            pin(nix::unistd::Pid::from_raw(thread), core)?;
        }
        Ok(Some(Self { child, said: RefCell::new((stdin, stdout)), dir, url: url(at.trim()), count }))
    }

    /// The certificate to trust.
    pub fn certificate(&self) -> PathBuf {
        self.dir.path().join("cert.pem")
    }

    /// Requests it received so far.
    ///
    /// # Errors
    /// If it does not tell.
    pub fn requests(&self) -> Result<u64> {
        let (stdin, stdout) = &mut *self.said.borrow_mut();
        writeln!(stdin)?;
        let mut line = String::new();
        stdout.read_line(&mut line)?;
        let counts: Value = serde_json::from_str(&line).with_context(|| format!("counts: {line}"))?;
        counts[self.count].as_u64().with_context(|| format!("no count of {}", self.count))
    }
}

impl Drop for CountingServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
