//! The floor of this machine: requests with nothing around them.
//!
//! What a load generator costs is mostly what the kernel charges for one send and one receive on loopback, and that
//! differs from machine to machine and from hour to hour. So beside the tools runs a loop that does nothing else: no
//! parsing, no clock, no histogram. Over TLS it adds what the same TLS library asks for at least: one record encrypted
//! and one decrypted a request. How close a tool comes to this is what its authors can answer for.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

/// Sends over so many connections for so long, and prints how many answers came. `trust` is a PEM file, for https.
///
/// # Errors
/// If the server cannot be reached or ends a connection.
pub fn bare(url: &str, connections: &str, seconds: &str, trust: Option<&str>) -> Result<()> {
    let (connections, seconds): (usize, u64) = (connections.parse()?, seconds.parse()?);
    let (scheme, rest) = url.split_once("://").with_context(|| format!("'{url}' is not a URL"))?;
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let address: SocketAddr = host.parse().with_context(|| format!("'{host}' is not an address"))?;
    // As long as loadline's own.
    let request = format!("GET /{path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: bare-loop/1.0\r\nAccept: */*\r\n\r\n");
    let length = Duration::from_secs(seconds);
    let open = || -> Result<TcpStream> {
        let socket = TcpStream::connect(address)?;
        socket.set_nodelay(true)?;
        Ok(socket)
    };
    let (answers, lasted) = if scheme == "https" {
        let config = trusting(Path::new(trust.context("https needs a certificate to trust")?))?;
        let name = ServerName::from(address.ip());
        let lines = (0..connections).map(|_| Encrypted::over(open()?, &config, name.clone())).collect::<Result<Vec<_>>>()?;
        circle(lines, request.as_bytes(), length)?
    } else {
        circle((0..connections).map(|_| open()).collect::<Result<Vec<_>>>()?, request.as_bytes(), length)?
    };
    println!("{answers} answers, {} a second", answers as f64 / lasted.as_secs_f64());
    Ok(())
}

/// A connection on which requests go back and forth.
trait Line {
    fn socket(&self) -> &TcpStream;
    /// One receive; how many bytes of the answer it brought.
    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize>;
    /// One send.
    fn send(&mut self, request: &[u8]) -> io::Result<()>;
}

/// Answers whatever arrives with the next request, until the time is over.
fn circle<L: Line>(mut lines: Vec<L>, request: &[u8], length: Duration) -> Result<(u64, Duration)> {
    let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
    for (place, line) in lines.iter().enumerate() {
        line.socket().set_nonblocking(true)?;
        epoll.add(line.socket().as_fd(), EpollEvent::new(EpollFlags::EPOLLIN | EpollFlags::EPOLLET, place as u64))?;
    }
    for line in &mut lines {
        line.send(request)?;
    }
    let begun = Instant::now();
    let mut buffer = vec![0; 64 * 1024];
    let mut ready = vec![EpollEvent::empty(); 1024];
    let mut answers = 0u64;
    while begun.elapsed() < length {
        let count = epoll.wait(&mut ready, EpollTimeout::from(100u16))?;
        for event in &ready[..count] {
            let line = &mut lines[event.data() as usize];
            match line.receive(&mut buffer) {
                Ok(0) => bail!("the server closed connection {}", line.socket().as_raw_fd()),
                Ok(_) => {}
                // A record that carries no answer.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(error) => return Err(error.into()),
            }
            answers += 1;
            line.send(request)?;
        }
    }
    Ok((answers, begun.elapsed()))
}

impl Line for TcpStream {
    fn socket(&self) -> &TcpStream {
        self
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read(buffer)
    }

    fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.write_all(request)
    }
}

/// TLS, its handshake done.
struct Encrypted {
    socket: TcpStream,
    tls: ClientConnection,
}

impl Encrypted {
    fn over(mut socket: TcpStream, config: &Arc<ClientConfig>, name: ServerName<'static>) -> Result<Self> {
        let mut tls = ClientConnection::new(Arc::clone(config), name)?;
        while tls.is_handshaking() {
            tls.complete_io(&mut socket)?;
        }
        Ok(Self { socket, tls })
    }
}

impl Line for Encrypted {
    fn socket(&self) -> &TcpStream {
        &self.socket
    }

    fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.tls.read_tls(&mut self.socket)? == 0 {
            return Ok(0);
        }
        self.tls.process_new_packets().map_err(io::Error::other)?;
        self.tls.reader().read(buffer)
    }

    fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.tls.writer().write_all(request)?;
        while self.tls.wants_write() {
            self.tls.write_tls(&mut self.socket)?;
        }
        Ok(())
    }
}

/// With the provider and the versions loadline speaks.
pub(crate) fn trusting(certificate: &Path) -> Result<Arc<ClientConfig>> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(certificate)? {
        roots.add(certificate?)?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?.with_root_certificates(roots);
    Ok(Arc::new(config.with_no_client_auth()))
}

/// Reads what [`bare`] printed: answers, and answers a second.
pub(crate) fn counted(stdout: &str) -> Result<(u64, f64)> {
    let (answers, rest) = stdout.trim().split_once(" answers, ").context("no count of answers")?;
    Ok((answers.parse()?, rest.strip_suffix(" a second").context("no rate")?.parse()?))
}
