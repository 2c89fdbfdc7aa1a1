//! Servers of their own programs that count what they were asked (scripts/grpcd, scripts/http3d).

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::tools;

/// One, until it is dropped.
pub struct CountingServer {
    child: Child,
    asks: ChildStdin,
    tells: BufReader<ChildStdout>,
    /// Where it listens.
    pub address: String,
}

impl CountingServer {
    /// `None` where it is not built, and where that may be so.
    pub fn start(program: &str, words: &[&str]) -> Option<Self> {
        if !tools::are_here(&[program]) {
            return None;
        }
        let mut child = Command::new(tools::peers().join(program))
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("scripts/peers.sh built it");
        let (asks, mut tells) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut address = String::new();
        tells.read_line(&mut address).unwrap();
        Some(Self { child, asks, tells, address: address.trim().to_owned() })
    }

    /// What it was asked so far.
    pub fn seen(&mut self) -> Value {
        self.asks.write_all(b"\n").unwrap();
        let mut line = String::new();
        self.tells.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for CountingServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
