//! The server of HTTP/2: nghttpd, one thread on one core, a file of twelve bytes, in cleartext and with TLS.
//!
//! nginx stands beside HTTP/1.1, and speaks HTTP/2 too, but spends several times as long on a request as a generator does, which then
//! waits for it and is charged for falling asleep. This one is made by those who made h2load.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use tempfile::TempDir;

use crate::launch::pin;
use crate::nginx::{free_address, pid};

/// Two running servers, one without TLS and one with; they end with this value.
pub(crate) struct Nghttpd {
    dir: TempDir,
    plain: (Child, SocketAddr),
    encrypted: (Child, SocketAddr),
}

impl Nghttpd {
    /// Starts both on the core, or says nothing where the program is not installed.
    ///
    /// # Errors
    /// If they do not come up.
    pub fn start(core: usize) -> Result<Option<Self>> {
        if Command::new("nghttpd").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
            return Ok(None);
        }
        let dir = tempfile::tempdir()?;
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["127.0.0.1".to_owned(), "localhost".to_owned()])?;
        for (name, text) in [("cert.pem", cert.pem()), ("key.pem", signing_key.serialize_pem()), ("index.html", "hello, world".to_owned())]
        {
            std::fs::write(dir.path().join(name), text)?;
        }
        let begin = |encrypted: bool| -> Result<(Child, SocketAddr)> {
            let at = free_address()?;
            let mut command = Command::new("nghttpd");
            command.args(["-a", &Ipv4Addr::LOCALHOST.to_string(), "-d"]).arg(dir.path());
            if !encrypted {
                command.arg("--no-tls");
            }
            command.arg(at.port().to_string());
            if encrypted {
                command.args(["key.pem", "cert.pem"].map(|name| dir.path().join(name)));
            }
            let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().context("cannot start nghttpd")?;
            pin(pid(&child), core)?;
            Ok((child, at))
        };
        let mut nghttpd = Self { plain: begin(false)?, encrypted: begin(true)?, dir };
        let deadline = Instant::now() + Duration::from_secs(10);
        for (child, at) in [&mut nghttpd.plain, &mut nghttpd.encrypted] {
            while TcpStream::connect(*at).is_err() {
                if child.try_wait()?.is_some() || Instant::now() > deadline {
                    bail!("nghttpd does not come up at {at}");
                }
                thread::sleep(Duration::from_millis(10));
            }
        }
        Ok(Some(nghttpd))
    }

    pub fn http(&self) -> String {
        format!("http://{}/", self.plain.1)
    }

    pub fn https(&self) -> String {
        format!("https://{}/", self.encrypted.1)
    }

    /// The certificate to trust.
    pub fn certificate(&self) -> PathBuf {
        self.dir.path().join("cert.pem")
    }
}

impl Drop for Nghttpd {
    fn drop(&mut self) {
        for (child, _) in [&mut self.plain, &mut self.encrypted] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
