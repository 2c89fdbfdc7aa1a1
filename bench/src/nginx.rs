//! The server everything is measured against: nginx, one worker on one core, a static answer of about 150 bytes.

use std::cell::Cell;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, Uid};
use rcgen::{CertifiedKey, generate_simple_self_signed};
use tempfile::TempDir;

use crate::launch::pin;

/// A running nginx; it ends with this value.
pub(crate) struct Nginx {
    child: Child,
    dir: TempDir,
    http: SocketAddr,
    https: SocketAddr,
    /// HTTP/2 in cleartext.
    http2: SocketAddr,
    /// How often it was asked for its counts, which it counts too.
    asked: Cell<u64>,
}

impl Nginx {
    /// Starts it on the core, ready for so many connections.
    ///
    /// # Errors
    /// If it does not come up; with its own words.
    pub fn start(core: usize, connections: u32) -> Result<Self> {
        let dir = tempfile::tempdir()?;
        let (http, https, http2) = (free_address()?, free_address()?, free_address()?);
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["127.0.0.1".to_owned(), "localhost".to_owned()])?;
        std::fs::write(dir.path().join("cert.pem"), cert.pem())?;
        std::fs::write(dir.path().join("key.pem"), signing_key.serialize_pem())?;
        let config = dir.path().join("nginx.conf");
        std::fs::write(&config, configuration(dir.path(), [http, https, http2], connections))?;
        let mut child = Command::new("nginx")
            .env("PATH", format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default()))
            .arg("-c")
            .arg(&config)
            .args(["-e", "stderr"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(dir.path().join("stderr"))?)
            .spawn()
            .context("cannot start nginx")?;
        pin(pid(&child), core)?;
        let deadline = Instant::now() + Duration::from_secs(10);
        while [http, https, http2].iter().any(|at| TcpStream::connect(at).is_err()) {
            if child.try_wait()?.is_some() || Instant::now() > deadline {
                let words = std::fs::read_to_string(dir.path().join("stderr")).unwrap_or_default();
                let _ = child.kill();
                bail!("nginx does not come up: {}", words.trim());
            }
            thread::sleep(Duration::from_millis(10));
        }
        let nginx = Self { child, dir, http, https, http2, asked: Cell::new(0) };
        nginx.pin_workers(core)?;
        Ok(nginx)
    }

    pub fn http(&self) -> String {
        format!("http://{}/", self.http)
    }

    /// Of plain HTTP.
    pub const fn port(&self) -> u16 {
        self.http.port()
    }

    pub fn https(&self) -> String {
        format!("https://{}/", self.https)
    }

    /// HTTP/2 in cleartext, by prior knowledge.
    pub fn http2(&self) -> String {
        format!("http://{}/", self.http2)
    }

    /// The certificate to trust.
    pub fn certificate(&self) -> PathBuf {
        self.dir.path().join("cert.pem")
    }

    /// How many requests it has received so far, this question left out.
    ///
    /// # Errors
    /// If it does not answer as it should.
    pub fn requests(&self) -> Result<u64> {
        let mut connection = TcpStream::connect(self.http)?;
        connection.write_all(b"GET /status HTTP/1.0\r\n\r\n")?;
        let mut answer = String::new();
        connection.read_to_string(&mut answer)?;
        // "server accepts handled requests", and on the next line the three counts.
        let counts = answer.lines().skip_while(|line| !line.starts_with("server accepts")).nth(1);
        let requests =
            counts.and_then(|line| line.split_whitespace().nth(2)).with_context(|| format!("nginx tells no counts: {answer}"))?;
        let before = self.asked.get();
        self.asked.set(before + 1);
        Ok(requests.parse::<u64>()? - before - 1)
    }

    /// The master may have started its worker before it was pinned itself.
    fn pin_workers(&self, core: usize) -> Result<()> {
        let children = format!("/proc/{0}/task/{0}/children", self.child.id());
        for worker in std::fs::read_to_string(children)?.split_whitespace() {
            pin(Pid::from_raw(worker.parse()?), core)?;
        }
        Ok(())
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // Killed outright, the master would leave its worker behind.
        let _ = kill(pid(&self.child), Signal::SIGTERM);
        let _ = self.child.wait();
    }
}

pub(crate) fn pid(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX))
}

/// A port nobody listens on. Another process may take it before nginx does; then nginx says so and the run ends.
pub(crate) fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?)
}

/// One suite for everyone, so that TLS is compared at equal work: the one that OpenSSL and rustls both put first.
fn configuration(dir: &Path, [http, https, http2]: [SocketAddr; 3], connections: u32) -> String {
    let dir = dir.display();
    let user = if Uid::effective().is_root() { "user root;" } else { "" };
    // nginx closes idle connections as soon as fewer than a sixteenth of its places are free.
    let places = 2 * connections + 64;
    let files = connections + 128;
    let kilobyte = "x".repeat(1024);
    let item = r#"{"id": 4711, "name": "a lamp", "price": 12.5, "tags": ["light", "home"], "seller": {"id": 7, "name": "ann"}}"#;
    format!(
        "{user}
daemon off;
worker_processes 1;
worker_rlimit_nofile {files};
pid {dir}/pid;
events {{ worker_connections {places}; }}
http {{
    access_log off;
    client_body_temp_path {dir}/body;
    proxy_temp_path {dir}/proxy;
    fastcgi_temp_path {dir}/fastcgi;
    uwsgi_temp_path {dir}/uwsgi;
    scgi_temp_path {dir}/scgi;
    default_type text/plain;
    keepalive_requests 1000000000;
    keepalive_timeout 600s;
    server {{
        listen {http} backlog=16384;
        listen {https} ssl backlog=16384;
        listen {http2} http2 backlog=16384;
        ssl_certificate {dir}/cert.pem;
        ssl_certificate_key {dir}/key.pem;
        ssl_protocols TLSv1.3;
        ssl_conf_command Ciphersuites TLS_AES_256_GCM_SHA384;
        location / {{ return 200 'hello, world'; }}
        location = /kilobyte {{ return 200 '{kilobyte}'; }}
        location = /item {{ default_type application/json; return 200 '{item}'; }}
        location = /status {{ stub_status; }}
    }}
}}
"
    )
}
