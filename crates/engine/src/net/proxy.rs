//! A tunnel through an HTTP proxy: `CONNECT`, and the proxy's answer.
//!
//! Only for TLS. Plain requests are sent to the proxy itself in absolute form, so there is nothing to open.

use measure::Failure;
use plan::HostPort;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::{DialFailed, words};

/// What an answer to CONNECT may take; proxies explain refusals at length, but not in the head.
const HEAD_BYTES_MAX: usize = 16 * 1024;

/// Asks the proxy at the other end of `stream` for a tunnel. Has no time limit of its own.
pub(super) async fn tunnel<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    to: &HostPort,
    authorization: Option<&str>,
) -> Result<(), DialFailed> {
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
            let result = tunnel(&mut ours, &"api.test:443".parse().unwrap(), authorization).await;
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
}
