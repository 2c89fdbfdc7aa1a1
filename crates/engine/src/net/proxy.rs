//! A tunnel through a proxy: of HTTP by `CONNECT` and the proxy's answer, or of SOCKS 5 (RFC 1928, RFC 1929).
//!
//! Of HTTP only for TLS: plain requests are sent to the proxy itself in absolute form, so there is nothing to open.

use std::fmt;
use std::net::SocketAddr;

use measure::Failure;
use plan::{HostPort, Proxy, ProxyKind};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_socks::tcp::Socks5Stream;
use tokio_socks::{IntoTargetAddr as _, TargetAddr};

use super::{DialFailed, words};

/// What an answer to CONNECT may take; proxies explain refusals at length, but not in the head.
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// Where a tunnel ends.
#[derive(Debug, Clone)]
pub(super) enum FarEnd {
    /// As it is called; the proxy knows where that is.
    Named(HostPort),
    /// Where it is, as was found here.
    At(SocketAddr),
}

impl fmt::Display for FarEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(at) => at.fmt(f),
            Self::At(address) => address.fmt(f),
        }
    }
}

/// Asks the proxy at the other end of `stream` for a tunnel. Has no time limit of its own.
pub(super) async fn tunnel<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S, proxy: &Proxy, to: &FarEnd) -> Result<(), DialFailed> {
    match proxy.kind {
        ProxyKind::Http => connect(stream, to, proxy.authorization.as_deref()).await,
        ProxyKind::Socks5 | ProxyKind::Socks5Names => socks(stream, to, proxy.credentials()).await,
    }
}

/// A proxy that does not answer.
pub(super) fn silent(proxy: &Proxy, to: &FarEnd, limit: plan::Nanos) -> DialFailed {
    let asked = if proxy.tunnels_all() { "SOCKS to" } else { "CONNECT" };
    refused(format!("no answer to {asked} {to} within {limit}"))
}

async fn socks<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    to: &FarEnd,
    credentials: Option<(String, String)>,
) -> Result<(), DialFailed> {
    let target = match to {
        FarEnd::Named(HostPort { host, port }) => (host.as_str(), *port).into_target_addr(),
        FarEnd::At(address) => Ok(TargetAddr::Ip(*address)),
    };
    let opened = async {
        let target = target?;
        match &credentials {
            None => Socks5Stream::connect_with_socket(stream, target).await,
            Some((name, password)) => Socks5Stream::connect_with_password_and_socket(stream, target, name, password).await,
        }
    };
    opened.await.map(drop).map_err(|error| refused(format!("SOCKS to {to}: {}", told_of(&error))))
}

/// What kept a proxy of SOCKS from opening a tunnel, in words.
fn told_of(error: &tokio_socks::Error) -> String {
    use tokio_socks::Error;
    match error {
        Error::NoAcceptableAuthMethods | Error::AuthorizationRequired => WANTS_USER.to_owned(),
        Error::UnknownAuthMethod => "it answers with a code that SOCKS 5 does not have".to_owned(),
        Error::PasswordAuthFailure(_) => "it does not know this name and password".to_owned(),
        Error::InvalidResponseVersion => "it does not speak SOCKS 5".to_owned(),
        Error::Io(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => "it closed the connection without an answer".to_owned(),
        error => words(&error.to_string()),
    }
}

/// What is said of a proxy of SOCKS that lets nobody through without a name and a password.
pub(super) const WANTS_USER: &str = "it wants a name and a password, or others";

async fn connect<S: AsyncRead + AsyncWrite + Unpin>(stream: &mut S, to: &FarEnd, authorization: Option<&str>) -> Result<(), DialFailed> {
    let mut request = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n");
    if let Some(authorization) = authorization {
        request.push_str(&format!("Proxy-Authorization: {authorization}\r\n"));
    }
    request.push_str("\r\n");
    stream.write_all(request.as_bytes()).await.map_err(|error| refused(words(&error.to_string())))?;

    let mut head = Vec::with_capacity(1024);
    let end = loop {
        if let Some(end) = end_of_head(&head) {
            break end;
        }
        if head.len() >= HEAD_BYTES_MAX {
            return Err(refused(format!("its answer to CONNECT {to} is larger than 16 KiB")));
        }
        let room = (HEAD_BYTES_MAX - head.len()) as u64;
        match (&mut *stream).take(room).read_buf(&mut head).await {
            Ok(0) => return Err(refused(format!("it closed the connection without an answer to CONNECT {to}"))),
            Ok(_) => {}
            Err(error) => return Err(refused(words(&error.to_string()))),
        }
    };
    let line = head.split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let status = line
        .strip_prefix("HTTP/1.")
        .and_then(|rest| rest.get(2..5))
        .and_then(|digits| digits.parse::<u16>().ok())
        .ok_or_else(|| refused(format!("its answer to CONNECT {to} is not HTTP: {}", line.escape_debug())))?;
    if !(200..300).contains(&status) {
        return Err(refused(format!("CONNECT {to}: {}", line.escape_debug())));
    }
    // TLS begins with our bytes, so whatever else has come is not from the target.
    if end < head.len() {
        return Err(refused(format!("it sent {} bytes after its answer to CONNECT {to}", head.len() - end)));
    }
    Ok(())
}

/// The position after the empty line.
fn end_of_head(bytes: &[u8]) -> Option<usize> {
    let crlf = bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4);
    let lf = bytes.windows(2).position(|window| window == b"\n\n").map(|at| at + 2);
    match (crlf, lf) {
        (Some(crlf), Some(lf)) => Some(crlf.min(lf)),
        (one, other) => one.or(other),
    }
}

fn refused(text: String) -> DialFailed {
    DialFailed { failure: Failure::ConnectProxy, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of asking a proxy that answers so, and what it was asked.
    fn answered(answer: &[u8], authorization: Option<&str>) -> (Result<(), DialFailed>, String) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (mut ours, mut theirs) = tokio::io::duplex(64 * 1024);
            theirs.write_all(answer).await.unwrap();
            theirs.shutdown().await.unwrap();
            let at: HostPort = "proxy.test:80".parse().unwrap();
            let proxy = Proxy { kind: ProxyKind::Http, at, authorization: authorization.map(str::to_owned) };
            let result = tunnel(&mut ours, &proxy, &FarEnd::Named("api.test:443".parse().unwrap())).await;
            drop(ours);
            let mut asked = String::new();
            theirs.read_to_string(&mut asked).await.unwrap();
            (result, asked)
        })
    }

    #[test]
    fn a_tunnel_is_asked_for_with_credentials_and_opened() {
        let (result, asked) = answered(b"HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n", Some("Basic YTpi"));
        assert_eq!(result.map_err(|failed| failed.text), Ok(()));
        assert_eq!(asked, "CONNECT api.test:443 HTTP/1.1\r\nHost: api.test:443\r\nProxy-Authorization: Basic YTpi\r\n\r\n");
    }

    #[test]
    fn every_other_answer_is_the_proxys_refusal_in_its_own_words() {
        let long = [b"HTTP/1.1 200 OK\r\nX: ".as_slice(), &[b'a'; 20_000]].concat();
        for (answer, text) in [
            (
                b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n".as_slice(),
                "CONNECT api.test:443: HTTP/1.1 407 Proxy Authentication Required",
            ),
            (b"HTTP/1.0 503\r\n\r\n", "CONNECT api.test:443: HTTP/1.0 503"),
            (b"SSH-2.0-OpenSSH\r\n\r\n", "its answer to CONNECT api.test:443 is not HTTP: SSH-2.0-OpenSSH"),
            (b"HTTP/1.1 200", "it closed the connection without an answer to CONNECT api.test:443"),
            (b"HTTP/1.1 200 OK\n\nhello", "it sent 5 bytes after its answer to CONNECT api.test:443"),
            (&long, "its answer to CONNECT api.test:443 is larger than 16 KiB"),
        ] {
            let failed = answered(answer, None).0.unwrap_err();
            assert_eq!((failed.failure, failed.text.as_str()), (Failure::ConnectProxy, text));
        }
    }

    /// What comes of asking a SOCKS proxy that says this, piece by piece of what it is told, and all that it was told.
    fn tunnelled(user: Option<&str>, to: &FarEnd, says: &[(usize, &[u8])]) -> (Result<(), String>, Vec<u8>) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (mut ours, mut theirs) = tokio::io::duplex(1024);
            let basic = user.map(|user| format!("Basic {}", plan::base64(user.as_bytes())));
            let proxy = Proxy { kind: ProxyKind::Socks5Names, at: "proxy.test:1080".parse().unwrap(), authorization: basic };
            let talk = async move {
                let mut heard = Vec::new();
                for (bytes, answer) in says {
                    let mut piece = vec![0; *bytes];
                    theirs.read_exact(&mut piece).await.unwrap();
                    heard.extend(piece);
                    theirs.write_all(answer).await.unwrap();
                }
                heard
            };
            let (result, heard) = tokio::join!(tunnel(&mut ours, &proxy, to), talk);
            (result.map_err(|failed| failed.text), heard)
        })
    }

    /// An address of no interest behind a code.
    fn replied(code: u8) -> Vec<u8> {
        [&[5, code, 0, 1][..], &[0; 6]].concat()
    }

    #[test]
    fn a_socks_proxy_is_told_names_or_addresses_and_who_asks() {
        let named = FarEnd::Named("a.test:443".parse().unwrap());
        let asked = [&[5, 1, 0, 3, 6][..], b"a.test", &[1, 187]].concat();
        let (result, heard) = tunnelled(None, &named, &[(3, &[5, 0]), (13, &replied(0))]);
        assert_eq!((result, heard), (Ok(()), [&[5, 1, 0][..], &asked].concat()));
        let at = FarEnd::At("127.0.0.1:80".parse().unwrap());
        let (result, heard) = tunnelled(None, &at, &[(3, &[5, 0]), (10, &replied(0))]);
        assert_eq!((result, &heard[3..]), (Ok(()), &[5, 1, 0, 1, 127, 0, 0, 1, 0, 80][..]));
        let (result, heard) = tunnelled(Some("me:pw"), &named, &[(4, &[5, 2]), (7, &[1, 0]), (13, &replied(0))]);
        assert_eq!(result, Ok(()));
        assert_eq!(&heard[4..11], b"\x01\x02me\x02pw");
    }

    #[test]
    fn what_a_socks_proxy_refuses_is_said() {
        let named = FarEnd::Named("a.test:443".parse().unwrap());
        for (user, says, why) in [
            (None, vec![(3, vec![5, 0xff])], WANTS_USER),
            (Some("me:pw"), vec![(4, vec![5, 2]), (7, vec![1, 1])], "it does not know this name and password"),
            (None, vec![(3, vec![5, 0]), (13, replied(2))], "connection not allowed by ruleset"),
            (None, vec![(3, vec![5, 0]), (13, replied(5))], "connection refused"),
            (None, vec![(3, b"HT".to_vec())], "it does not speak SOCKS 5"),
            (None, vec![(3, vec![5, 0]), (13, Vec::new())], "it closed the connection without an answer"),
        ] {
            let says: Vec<(usize, &[u8])> = says.iter().map(|(bytes, answer)| (*bytes, answer.as_slice())).collect();
            assert_eq!(tunnelled(user, &named, &says).0, Err(format!("SOCKS to a.test:443: {why}")));
        }
    }
}
