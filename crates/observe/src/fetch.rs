//! Getting a page of metrics or a profile, with a limit for its size and its time.
//!
//! It is one GET on a connection of its own, so that nothing has to be kept between two looks. Nobody is followed elsewhere, and no
//! proxy is gone through: what was asked for is what is read.

use std::io::{ErrorKind, Read as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use plan::{base64, percent_decoded, plainly};
use ureq::http::header::{AUTHORIZATION, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Error};
use url::Url;

/// Of what a server says with an error, so many letters are told.
const WORDS_MAX: usize = 160;

/// Gets one page.
pub struct Client {
    url: Url,
    authorization: Option<String>,
    agent: Agent,
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
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let port = url.port_or_known_default().unwrap_or(80);
    let deadline = Instant::now() + within;
    let mut last = format!("{host} has no address");
    let addresses = (host, port).to_socket_addrs().map_err(|why| format!("{host} cannot be looked up: {}", plainly(&why)))?;
    for address in addresses {
        // Nothing would be no limit at all.
        let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        match TcpStream::connect_timeout(&address, left) {
            Ok(_) => return Ok(()),
            Err(why) => last = format!("{address}: {}", plainly(&why)),
        }
    }
    Err(last)
}

impl Client {
    /// For a page of metrics.
    #[must_use]
    pub fn new(url: Url) -> Self {
        Self::within(url, Limits::PAGE)
    }

    /// For something else.
    #[must_use]
    pub fn within(mut url: Url, limits: Limits) -> Self {
        let mut config = Agent::config_builder()
            .timeout_global(Some(limits.time))
            .max_redirects(0)
            .http_status_as_error(false)
            .proxy(None)
            .accept(limits.accept)
            .user_agent("loadline");
        if url.scheme() == "https" {
            let issuers: Vec<Certificate<'static>> =
                rustls_native_certs::load_native_certs().certs.iter().map(|issuer| Certificate::from_der(issuer).to_owned()).collect();
            let tls = TlsConfig::builder()
                .root_certs(RootCerts::new_with_certs(&issuers))
                .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .build();
            config = config.tls_config(tls);
        }
        let authorization = (!url.username().is_empty()).then(|| {
            let pair = format!("{}:{}", percent_decoded(url.username()), percent_decoded(url.password().unwrap_or_default()));
            format!("Basic {}", base64(pair.as_bytes()))
        });
        // Both only fail for URLs that have no host.
        let _ = url.set_username("").and_then(|()| url.set_password(None));
        Self { url, authorization, agent: config.build().new_agent(), limits }
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
    pub(crate) fn read_bytes(&self) -> Result<Vec<u8>, String> {
        let Limits { what, time, bytes, .. } = self.limits;
        let (host, port) = (self.url.host_str().unwrap_or_default(), self.url.port_or_known_default().unwrap_or(80));
        let told = |why: Error, broken: &dyn Fn() -> String| match why {
            Error::Timeout(_) => format!("{what} was not there within {} s", time.as_secs_f64()),
            Error::Io(why) if why.kind() == ErrorKind::UnexpectedEof => broken(),
            Error::Io(why) => format!("{host}:{port}: {}", plainly(&why)),
            Error::HostNotFound => format!("{host} has no address"),
            Error::Protocol(why) => format!("the answer is not HTTP: {why}"),
            why => why.to_string(),
        };
        let mut request = self.agent.get(self.url.as_str()).header(CONNECTION, "close");
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization);
        }
        let mut answer = request.call().map_err(|why| told(why, &|| "the connection was closed without an answer".to_owned()))?;
        let mut body = Vec::new();
        let read = answer.body_mut().as_reader().take(bytes as u64 + 1).read_to_end(&mut body);
        let status = answer.status();
        if !status.is_success() {
            return Err(format!("{what} was answered with status {}{}", status.as_u16(), words(&body)));
        }
        if body.len() > bytes {
            return Err(format!("{what} is larger than {} MB", bytes >> 20));
        }
        let field = |name| answer.headers().get(name).and_then(|value| value.to_str().ok());
        read.map_err(|why| {
            told(why.into(), &|| match field(CONTENT_LENGTH) {
                Some(announced) => format!("{what} broke off after {} of {announced} bytes", body.len()),
                None => format!("{what} broke off within its chunks"),
            })
        })?;
        if let Some(coding) = field(CONTENT_ENCODING).filter(|coding| !coding.eq_ignore_ascii_case("identity")) {
            return Err(format!("{what} came as {coding}, and was not asked for so"));
        }
        Ok(body)
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::net::TcpListener;

    /// The head of the request, and what became of its answer.
    fn exchanged(user: &str, text: &'static str) -> (String, Result<String, String>) {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{user}{}/metrics?x=1", socket.local_addr().unwrap());
        let serving = std::thread::spawn(move || {
            let (mut stream, _) = socket.accept().unwrap();
            let mut head = [0; 1_024];
            let read = stream.read(&mut head).unwrap();
            let _ = stream.write_all(text.as_bytes());
            String::from_utf8_lossy(&head[..read]).into_owned()
        });
        let page = Client::new(url.parse().unwrap()).read();
        (serving.join().unwrap(), page)
    }

    fn answered(text: &'static str) -> Result<String, String> {
        exchanged("", text).1
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
            ("HTTP/1.1 200 OK\r\n", "without an answer"),
            ("FTP\r\n\r\n", "not HTTP"),
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
        let error = Client::new(url.parse().unwrap()).read().unwrap_err();
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
        let error = Client::within(url.parse().unwrap(), limits).read().unwrap_err();
        assert!(error.contains("was not there within"), "{error}");
    }

    #[test]
    fn a_password_goes_where_it_belongs() {
        let (head, _) = exchanged("me:p%40ss@", "");
        assert!(head.starts_with("GET /metrics?x=1 HTTP/1.1\r\n"), "{head}");
        assert!(head.to_ascii_lowercase().contains("\r\nauthorization: basic bWU6cEBzcw==\r\n".to_ascii_lowercase().as_str()), "{head}");
    }
}
