//! Getting a page of metrics or a profile, with a limit for its size and its time.
//!
//! It is one GET, answered in full and closed: HTTP/1.0 says just that, so that no server sends its answer in pieces, and nothing
//! has to be kept between two looks. A client library was rejected: none of them is smaller than what it would be used for. Nobody is
//! followed elsewhere: what was asked for is what is read.

use std::fmt::Write as _;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use plan::{base64, percent_decoded, plainly};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use url::Url;

/// Fields of an answer's head that are read.
const FIELDS_MAX: usize = 64;
/// Of what a server says with an error, so many letters are told.
const WORDS_MAX: usize = 160;

/// Gets one page.
pub struct Client {
    url: Url,
    request: String,
    tls: Option<(Arc<ClientConfig>, ServerName<'static>)>,
    limits: Limits,
}

/// What is got, and how much of it at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// What it is called.
    pub what: &'static str,
    /// The types that are asked for.
    pub accept: &'static str,
    /// It is given up after so long.
    pub time: Duration,
    /// It is given up beyond so many bytes.
    pub bytes: usize,
}

impl Limits {
    /// A page of metrics: one that takes longer is too slow to be looked at once a second, and one of ten thousand series has some two
    /// megabytes.
    pub const PAGE: Self = Self {
        what: "the page",
        accept: "text/plain;version=0.0.4, application/openmetrics-text;q=0.5",
        time: Duration::from_secs(5),
        bytes: 16 << 20,
    };
}

/// Whether somebody accepts connections there.
///
/// # Errors
/// In words, if nobody does.
pub fn reach(url: &Url, within: Duration) -> Result<(), String> {
    connected(url, Instant::now() + within).map(drop)
}

/// A connection to the first address that accepts one.
fn connected(url: &Url, deadline: Instant) -> Result<TcpStream, String> {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let port = url.port_or_known_default().unwrap_or(80);
    let mut last = format!("{host} has no address");
    let addresses = (host, port).to_socket_addrs().map_err(|why| format!("{host} cannot be looked up: {}", plainly(&why)))?;
    for address in addresses {
        match TcpStream::connect_timeout(&address, left(deadline)) {
            Ok(stream) => return Ok(stream),
            Err(why) => last = format!("{address}: {}", plainly(&why)),
        }
    }
    Err(last)
}

impl Client {
    /// For a page of metrics.
    ///
    /// # Errors
    /// If its host is none that a certificate can be for.
    pub fn new(url: Url) -> Result<Self, String> {
        Self::within(url, Limits::PAGE)
    }

    /// For something else.
    ///
    /// # Errors
    /// As for a page.
    pub fn within(url: Url, limits: Limits) -> Result<Self, String> {
        let host = url.host_str().unwrap_or_default().to_owned();
        let tls = if url.scheme() == "https" {
            let name = ServerName::try_from(host.trim_matches(['[', ']']).to_owned())
                .map_err(|_| format!("'{host}' is not a name a certificate can be for"))?;
            let mut roots = RootCertStore::empty();
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let config =
                ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().map_err(|why| why.to_string())?;
            Some((Arc::new(config.with_root_certificates(roots).with_no_client_auth()), name))
        } else {
            None
        };
        let port = url.port().map_or_else(String::new, |port| format!(":{port}"));
        let query = url.query().map_or_else(String::new, |query| format!("?{query}"));
        let mut request =
            format!("GET {}{query} HTTP/1.0\r\nHost: {host}{port}\r\nAccept: {}\r\nUser-Agent: loadline\r\n", url.path(), limits.accept);
        if !url.username().is_empty() {
            let pair = format!("{}:{}", percent_decoded(url.username()), percent_decoded(url.password().unwrap_or_default()));
            let _ = write!(request, "Authorization: Basic {}\r\n", base64(pair.as_bytes()));
        }
        request.push_str("Connection: close\r\n\r\n");
        Ok(Self { url, request, tls, limits })
    }

    /// The page as it is now.
    ///
    /// # Errors
    /// In words, if it cannot be had.
    pub fn read(&self) -> Result<String, String> {
        self.read_bytes().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The same, whatever it holds.
    ///
    /// # Errors
    /// In words, if it cannot be had.
    pub fn read_bytes(&self) -> Result<Vec<u8>, String> {
        let deadline = Instant::now() + self.limits.time;
        let stream = connected(&self.url, deadline)?;
        match &self.tls {
            None => self.exchange(Timed { stream, deadline }),
            Some((config, name)) => {
                let connection = ClientConnection::new(config.clone(), name.clone()).map_err(|why| why.to_string())?;
                self.exchange(StreamOwned::new(connection, Timed { stream, deadline }))
            }
        }
    }

    fn exchange(&self, mut stream: impl Read + Write) -> Result<Vec<u8>, String> {
        let Limits { what, time, bytes, .. } = self.limits;
        let slow = || format!("{what} was not there within {} s", time.as_secs_f64());
        let told = |why: &io::Error| match why.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => slow(),
            _ => plainly(why),
        };
        stream.write_all(self.request.as_bytes()).map_err(|why| told(&why))?;
        let mut answer = Vec::new();
        let mut piece = vec![0; 64 << 10];
        loop {
            match stream.read(&mut piece) {
                Ok(0) => break,
                Ok(read) => answer.extend_from_slice(&piece[..read]),
                Err(why) if why.kind() == io::ErrorKind::Interrupted => {}
                // Many a server closes without taking its leave of TLS, or resets once it has said everything.
                Err(why) if matches!(why.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset) && !answer.is_empty() => {
                    break;
                }
                Err(why) => return Err(told(&why)),
            }
            if answer.len() > bytes {
                return Err(format!("{what} is larger than {} MB", bytes >> 20));
            }
            // A server that keeps the connection though asked to close it would be waited for.
            if is_whole(&answer) {
                break;
            }
        }
        body(&answer, what)
    }
}

/// Whether the answer says where it ends, and has come so far.
fn is_whole(answer: &[u8]) -> bool {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut head = httparse::Response::new(&mut fields);
    let Ok(httparse::Status::Complete(length)) = head.parse(answer) else { return false };
    let body = &answer[length..];
    let field = |name: &str| head.headers.iter().find(|field| field.name.eq_ignore_ascii_case(name)).map(|field| field.value);
    match field("transfer-encoding") {
        Some(_) => body.ends_with(b"0\r\n\r\n") && joined(body).is_some(),
        None => field("content-length")
            .and_then(|text| std::str::from_utf8(text).ok()?.trim().parse::<usize>().ok())
            .is_some_and(|announced| body.len() >= announced),
    }
}

/// What follows the head of an answer that is good and whole.
fn body(answer: &[u8], what: &str) -> Result<Vec<u8>, String> {
    if answer.is_empty() {
        return Err("the connection was closed without an answer".to_owned());
    }
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut head = httparse::Response::new(&mut fields);
    let length = match head.parse(answer) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Err("the answer ended within its head".to_owned()),
        Err(why) => return Err(format!("the answer is not HTTP: {why}")),
    };
    let status = head.code.unwrap_or(0);
    if !(200..300).contains(&status) {
        return Err(format!("{what} was answered with status {status}{}", words(&answer[length..])));
    }
    let field = |name: &str| {
        head.headers.iter().find(|field| field.name.eq_ignore_ascii_case(name)).and_then(|field| std::str::from_utf8(field.value).ok())
    };
    let body = &answer[length..];
    if let Some(announced) = field("content-length").and_then(|text| text.trim().parse::<usize>().ok())
        && body.len() < announced
    {
        return Err(format!("{what} broke off after {} of {announced} bytes", body.len()));
    }
    let body = match field("transfer-encoding") {
        Some(coding) if coding.trim().eq_ignore_ascii_case("chunked") => {
            joined(body).ok_or_else(|| format!("{what} broke off within its chunks"))?
        }
        _ => body.to_vec(),
    };
    if let Some(coding) = field("content-encoding").filter(|coding| !coding.trim().eq_ignore_ascii_case("identity")) {
        return Err(format!("{what} came as {coding}, and was not asked for so"));
    }
    Ok(body)
}

/// What a server says with an error, where it is a line of text: it often tells what to do.
fn words(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    if line.is_empty() || line.starts_with('<') || line.contains(|letter: char| letter.is_control() || letter == '\u{fffd}') {
        return String::new();
    }
    format!(": {}", line.chars().take(WORDS_MAX).collect::<String>())
}

/// Some servers send chunks to a client of HTTP/1.0, which has none.
fn joined(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut whole = Vec::new();
    loop {
        let (start, size) = match httparse::parse_chunk_size(rest).ok()? {
            httparse::Status::Complete((start, size)) => (start, usize::try_from(size).ok()?),
            httparse::Status::Partial => return None,
        };
        if size == 0 {
            return Some(whole);
        }
        let end = start.checked_add(size)?;
        whole.extend_from_slice(rest.get(start..end)?);
        rest = rest.get(end.checked_add(2)?..)?;
    }
}

/// A socket whose every operation ends at the same moment at the latest.
struct Timed {
    stream: TcpStream,
    deadline: Instant,
}

/// What is left, and never nothing, which a socket would take for no limit at all.
fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1))
}

impl Timed {
    fn in_time(&self) -> io::Result<()> {
        if Instant::now() >= self.deadline { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
    }
}

impl Read for Timed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.in_time()?;
        self.stream.set_read_timeout(Some(left(self.deadline)))?;
        self.stream.read(into)
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.in_time()?;
        self.stream.set_write_timeout(Some(left(self.deadline)))?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    fn answered(text: &str) -> Result<String, String> {
        body(text.as_bytes(), "the page").map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn only_a_whole_page_is_one() {
        assert_eq!(answered("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\na 1\n").unwrap(), "a 1\n");
        assert_eq!(answered("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\na \r\n2\r\n1\n\r\n0\r\n\r\n").unwrap(), "a 1\n");
        for (text, said) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na 1\n", "broke off after 4 of 9"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\na 1\n", "within its chunks"),
            ("HTTP/1.1 500 Oh\r\n\r\n", "status 500"),
            ("HTTP/1.1 500 Oh\r\n\r\n\ncpu profiling already in use\n", "status 500: cpu profiling already in use"),
            ("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f", "gzip"),
            ("HTTP/1.1 200 OK\r\n", "within its head"),
            ("", "without an answer"),
        ] {
            let error = answered(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn a_page_without_an_end_has_a_limit() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/metrics", socket.local_addr().unwrap());
        std::thread::spawn(move || {
            let (mut stream, _) = socket.accept().unwrap();
            let _ = stream.read(&mut [0; 1_024]);
            let _ = stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n");
            while stream.write_all(&[b'a'; 1 << 16]).is_ok() {}
        });
        let error = Client::new(url.parse().unwrap()).unwrap().read().unwrap_err();
        assert!(error.contains("larger than"), "{error}");
    }

    #[test]
    fn a_page_that_comes_in_drops_is_given_up_after_its_time_and_not_after_each_drop_anew() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/metrics", socket.local_addr().unwrap());
        std::thread::spawn(move || {
            let (mut stream, _) = socket.accept().unwrap();
            let _ = stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n");
            while stream.write_all(b"a 1\n").is_ok() {
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        let limits = Limits { time: Duration::from_millis(300), ..Limits::PAGE };
        let error = Client::within(url.parse().unwrap(), limits).unwrap().read().unwrap_err();
        assert!(error.contains("was not there within"), "{error}");
    }

    #[test]
    fn a_password_goes_where_it_belongs() {
        let client = Client::new("http://me:p%40ss@host:1/metrics?x=1".parse().unwrap()).unwrap();
        assert!(client.request.starts_with("GET /metrics?x=1 HTTP/1.0\r\nHost: host:1\r\n"), "{}", client.request);
        assert!(client.request.contains("Authorization: Basic bWU6cEBzcw==\r\n"), "{}", client.request);
    }
}
