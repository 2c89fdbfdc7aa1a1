//! The handshake that makes an HTTP connection one of WebSocket (RFC 6455 §4.1).
//!
//! It is asked for with the head of the request that opens the connection, so that paths, cookies and whatever else a user's request
//! has are sent, and answered before anything is measured of the messages: it is a part of opening the connection, as TLS is.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use measure::Failure;
use plan::{Nanos, Random};
use sha1::{Digest as _, Sha1};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::time::{Instant, timeout};

use super::deflate::{OFFER, is_agreed};
use crate::net::{DialFailed, Dialed, Version, words};
use crate::protocol::{EMPTY_HEADER, EXAMPLE_BYTES, Encoded, EncodedRef};

/// What an answer to the handshake may take, as that of any request.
const HEAD_BYTES_MAX: usize = 64 * 1024;
const HEADERS_MAX: usize = 256;

/// What a key is hashed with (RFC 6455 §1.3).
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// What is for requests with a body alone, or said by the handshake itself.
const NOT_OF_A_HANDSHAKE: [&str; 9] = [
    "content-length",
    "content-type",
    "transfer-encoding",
    "connection",
    "upgrade",
    "accept-encoding",
    "sec-websocket-key",
    "sec-websocket-version",
    "sec-websocket-extensions",
];

/// The stream of the seed from which the key of a connection is drawn, and those of the next.
const KEYS: u64 = 1 << 40;

/// Makes a connection that was opened one of WebSocket, with the head of this request; `number` is which of the load's it is.
///
/// # Errors
/// Why the server does not speak it.
pub(crate) async fn upgrade<S: AsyncRead + AsyncWrite + Unpin>(
    dialed: Dialed<S>,
    request: EncodedRef<'_>,
    (seed, number): (u64, u64),
    (limit, offers_deflate): (Nanos, bool),
) -> Result<Dialed<S>, DialFailed> {
    let mut random = Random::new(seed, KEYS + number);
    let Dialed { mut stream, connect, tls, resumed, .. } = dialed;
    let begun = Instant::now();
    let Agreed { early, deflates } = shake(&mut stream, request, [random.bits(), random.bits()], (limit, offers_deflate)).await?;
    Ok(Dialed { stream, version: Version::WebSocket { early, handshake: begun.elapsed().into(), deflates }, connect, tls, resumed })
}

/// What a server agreed to.
#[derive(Debug, PartialEq, Eq)]
struct Agreed {
    /// What it sent behind its answer already.
    early: Vec<u8>,
    deflates: bool,
}

/// Asks the server at the other end.
async fn shake<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    request: EncodedRef<'_>,
    nonce: [u64; 2],
    (limit, offers_deflate): (Nanos, bool),
) -> Result<Agreed, DialFailed> {
    let key = BASE64_STANDARD.encode(nonce.map(u64::to_ne_bytes).as_flattened());
    let exchange = async {
        stream.write_all(&head(request, &key, offers_deflate)).await.map_err(|error| broken(words(&error.to_string())))?;
        stream.flush().await.map_err(|error| broken(words(&error.to_string())))?;
        let mut answer = Vec::with_capacity(1024);
        loop {
            match stream.read_buf(&mut answer).await {
                Ok(0) => return Err(broken("it closed the connection without an answer to the handshake".to_owned())),
                Ok(_) => {}
                Err(error) => return Err(broken(words(&error.to_string()))),
            }
            if let Some(agreed) = judge(&answer, &key, request, offers_deflate)? {
                return Ok(agreed);
            }
            if answer.len() > HEAD_BYTES_MAX {
                return Err(refused(&answer));
            }
        }
    };
    let late = || broken(format!("no answer to the handshake within {limit}"));
    timeout(Duration::from(limit), exchange).await.map_err(|_| late())?
}

/// The head of the handshake.
fn head(request: EncodedRef<'_>, key: &str, offers_deflate: bool) -> Vec<u8> {
    let body = request.layout().body().min(request.bytes().len());
    let mut encoded = Encoded { bytes: request.bytes()[..body].to_vec(), layout: request.layout() };
    NOT_OF_A_HANDSHAKE.iter().for_each(|name| encoded.remove(name));
    let method = request.method().len();
    encoded.bytes.splice(..method, *b"GET");
    encoded.layout = crate::protocol::Layout::new("GET", encoded.bytes.len());
    encoded.insert(
        format!("Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n").as_bytes(),
    );
    if offers_deflate {
        encoded.insert(format!("Sec-WebSocket-Extensions: {OFFER}\r\n").as_bytes());
    }
    encoded.bytes
}

/// What stands behind the answer, if it is complete.
fn judge(answer: &[u8], key: &str, request: EncodedRef<'_>, offers_deflate: bool) -> Result<Option<Agreed>, DialFailed> {
    let mut headers = [EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let length = match response.parse(answer) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(refused(answer)),
    };
    if response.code != Some(101) {
        return Err(refused(answer));
    }
    let value_of = |name: &str| {
        let mut values = response.headers.iter().filter(|header| header.name.eq_ignore_ascii_case(name)).map(|header| header.value);
        values.next().map(<[u8]>::trim_ascii)
    };
    let wrong = |what: &str| DialFailed { failure: Failure::WebSocketHandshake, text: format!("{what}: {}", shown(answer)) };
    if value_of("sec-websocket-accept") != Some(accept(key).as_bytes()) {
        return Err(wrong("its Sec-WebSocket-Accept does not follow from the key that it was sent"));
    }
    let extensions = value_of("sec-websocket-extensions").filter(|extensions| !extensions.is_empty());
    let deflates = extensions.is_some();
    if extensions.is_some_and(|extensions| !offers_deflate || !is_agreed(&String::from_utf8_lossy(extensions))) {
        return Err(wrong("it wants an extension that was not offered"));
    }
    let offered = request.header_lines().filter_map(Result::ok).filter(|(name, _)| name.eq_ignore_ascii_case("sec-websocket-protocol"));
    let mut offered = offered.flat_map(|(_, value)| value.split(|byte| *byte == b',')).map(<[u8]>::trim_ascii);
    if value_of("sec-websocket-protocol").is_some_and(|protocol| !offered.any(|one| one == protocol)) {
        return Err(wrong("it chose a subprotocol that was not offered"));
    }
    Ok(Some(Agreed { early: answer.get(length..).unwrap_or_default().to_vec(), deflates }))
}

/// What a server has to answer to a key (RFC 6455 §4.2.2).
pub(crate) fn accept(key: &str) -> String {
    BASE64_STANDARD.encode(Sha1::new().chain_update(key).chain_update(GUID).finalize())
}

fn shown(answer: &[u8]) -> String {
    crate::protocol::shown(&answer[..answer.len().min(EXAMPLE_BYTES)])
}

/// An answer that is no agreement.
fn refused(answer: &[u8]) -> DialFailed {
    DialFailed { failure: Failure::WebSocketRefused, text: shown(answer) }
}

/// No answer, or half of one.
fn broken(text: String) -> DialFailed {
    DialFailed { failure: Failure::WebSocketHandshake, text }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of a handshake that is answered so, and what was sent. `{accept}` stands for what follows from the key.
    fn answered(request: &[u8], answer: &str, offers_deflate: bool) -> (Result<Agreed, DialFailed>, String) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let (mut ours, mut theirs) = tokio::io::duplex(64 * 1024);
            let server = async {
                let mut asked = Vec::new();
                while !asked.ends_with(b"\r\n\r\n") {
                    theirs.read_buf(&mut asked).await.unwrap();
                }
                let asked = String::from_utf8(asked).unwrap();
                let key = asked.split_once("Sec-WebSocket-Key: ").unwrap().1.split_once('\r').unwrap().0;
                theirs.write_all(answer.replace("{accept}", &accept(key)).as_bytes()).await.unwrap();
                theirs.shutdown().await.unwrap();
                asked
            };
            tokio::join!(shake(&mut ours, EncodedRef::read(request), [1, 2], (Nanos::SECOND, offers_deflate)), server)
        })
    }

    const REQUEST: &[u8] = b"POST /chat?room=7 HTTP/1.1\r\nHost: a.test\r\nCookie: s=1\r\nSec-WebSocket-Protocol: v1, v2\r\nContent-Type: x/y\r\nContent-Length: 2\r\n\r\nhi";
    const AGREED: &str =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n";

    #[test]
    fn the_key_of_the_standard_has_its_answer() {
        // RFC 6455 §1.3.
        assert_eq!(accept("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    }

    #[test]
    fn a_handshake_has_the_head_of_the_request_and_keeps_what_came_early() {
        let (early, asked) = answered(REQUEST, &format!("{AGREED}Sec-WebSocket-Protocol: v2\r\n\r\n\u{1}early"), false);
        assert_eq!(early.unwrap(), Agreed { early: b"\x01early".to_vec(), deflates: false });
        let (before, _) = asked.split_once("Sec-WebSocket-Key").unwrap();
        assert_eq!(
            before,
            "GET /chat?room=7 HTTP/1.1\r\nHost: a.test\r\nCookie: s=1\r\nSec-WebSocket-Protocol: v1, v2\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        );
    }

    #[test]
    fn whatever_is_no_agreement_has_its_class_and_the_servers_words() {
        for (answer, failure, text) in [
            ("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno".to_owned(), Failure::WebSocketRefused, "HTTP/1.1 403 Forbidden\\r\\n"),
            ("HTTP/1.1 200 OK\r\n\r\n".to_owned(), Failure::WebSocketRefused, "HTTP/1.1 200 OK"),
            ("SSH-2.0-OpenSSH\r\n".to_owned(), Failure::WebSocketRefused, "SSH-2.0"),
            (AGREED.replace("{accept}", "x") + "\r\n", Failure::WebSocketHandshake, "its Sec-WebSocket-Accept does not follow"),
            (format!("{AGREED}Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"), Failure::WebSocketHandshake, "it wants an extension"),
            (format!("{AGREED}Sec-WebSocket-Protocol: v3\r\n\r\n"), Failure::WebSocketHandshake, "it chose a subprotocol"),
            (AGREED.to_owned(), Failure::WebSocketHandshake, "it closed the connection without an answer"),
        ] {
            let failed = answered(REQUEST, &answer, false).0.unwrap_err();
            assert_eq!(failed.failure, failure, "{answer}");
            assert!(failed.text.starts_with(text), "{}", failed.text);
        }
    }

    #[test]
    fn packed_messages_are_offered_where_that_is_wanted_and_not_taken_for_more() {
        let agreed = format!("{AGREED}Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover\r\n\r\n");
        let (told, asked) = answered(REQUEST, &agreed, true);
        assert!(told.unwrap().deflates);
        assert!(asked.contains(&format!("Sec-WebSocket-Extensions: {OFFER}\r\n")), "{asked}");
        assert!(!answered(REQUEST, &format!("{AGREED}\r\n"), true).0.unwrap().deflates);
        let remembers = agreed.replace("; server_no_context_takeover", "");
        assert_eq!(answered(REQUEST, &remembers, true).0.unwrap_err().failure, Failure::WebSocketHandshake);
    }

    #[test]
    fn a_server_that_says_nothing_is_given_up() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let failed = runtime.block_on(async {
            let (mut ours, _theirs) = tokio::io::duplex(64 * 1024);
            shake(&mut ours, EncodedRef::read(REQUEST), [1, 2], (Nanos::SECOND, false)).await.unwrap_err()
        });
        assert_eq!((failed.failure, failed.text.as_str()), (Failure::WebSocketHandshake, "no answer to the handshake within 1s"));
    }
}
