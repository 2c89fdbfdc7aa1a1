//! A server of WebSocket that counts what it was sent, written with a library that loadline does not use to speak it.
//!
//! What a client says of messages, closes and pings can be believed when the other side counted the same. A thread for each
//! connection reads and writes in turn, so what happens in which order is known.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tungstenite::protocol::CloseFrame;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::{Error, Message, Utf8Bytes, WebSocket, accept_hdr};

/// What the server saw.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// Handshakes it agreed to.
    pub handshakes: u64,
    /// Handshakes it refused.
    pub refused: u64,
    /// Text messages.
    pub texts: u64,
    /// Binary messages.
    pub binaries: u64,
    /// Pongs.
    pub pongs: u64,
    /// Messages that it sent without being asked.
    pub unasked: u64,
    /// Closes that came from clients, by code.
    pub closes: BTreeMap<u16, u64>,
    /// What the first handshake asked for: path and query, and its headers in small letters.
    pub first: Option<(String, Vec<(String, String)>)>,
}

/// A running server. It takes no more connections when dropped.
///
/// | path | what it does with a message |
/// |---|---|
/// | `/echo` | sends it back; `?wait_ms=N` after so long |
/// | `/push` | sends one that nobody asked for, behind the answer |
/// | `/ping` | pings, then sends it back |
/// | `/news` | sends `{"type":"news"}` that nobody asked for, before the answer |
/// | `/ticks?after=N&wait_ms=M` | sends N, each M behind the one before |
/// | `/leave?after=N` | sends N back, then closes with 1013 and the reason `enough` |
/// | `/drop` | ends the connection without a word |
/// | `/refuse` | refuses the handshake with 403 |
/// | `/chat` | chooses the subprotocol `chat.v2`, and sends a welcome before anything is said |
#[derive(Debug)]
pub struct Talk {
    address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
    stops: Arc<AtomicBool>,
}

impl Talk {
    /// Starts a server on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When there is no free port.
    pub fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let (seen, stops) = (Arc::<Mutex<Seen>>::default(), Arc::<AtomicBool>::default());
        let server = Self { address: listener.local_addr()?, seen: seen.clone(), stops: stops.clone() };
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if stops.load(Ordering::Relaxed) {
                    return;
                }
                let visit = Visit { seen: seen.clone() };
                // A client that goes ends its connection, and nothing else.
                std::thread::spawn(move || visit.serve(stream));
            }
        });
        Ok(server)
    }

    /// Where it listens: `ws://127.0.0.1:PORT` and this path.
    #[must_use]
    pub fn url(&self, path_and_query: &str) -> String {
        format!("ws://{}{path_and_query}", self.address)
    }

    /// What it saw so far.
    #[must_use]
    pub fn seen(&self) -> Seen {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        self.stops.store(true, Ordering::Relaxed);
        // Wakes who waits for the next connection.
        let _ = TcpStream::connect(self.address);
    }
}

struct Visit {
    seen: Arc<Mutex<Seen>>,
}

impl Visit {
    fn note(&self, note: impl FnOnce(&mut Seen)) {
        note(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn serve(&self, stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let mut asked = String::new();
        #[expect(clippy::result_large_err, reason = "the library's own form")]
        let agree = |request: &Request, mut response: Response| -> Result<Response, ErrorResponse> {
            asked = request.uri().to_string();
            let headers = request.headers().iter();
            let headers = headers.map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()));
            self.note(|seen| {
                seen.first.get_or_insert_with(|| (asked.clone(), headers.collect()));
            });
            if asked.starts_with("/refuse") {
                self.note(|seen| seen.refused += 1);
                let mut refusal = ErrorResponse::new(Some("not here".to_owned()));
                *refusal.status_mut() = tungstenite::http::StatusCode::FORBIDDEN;
                return Err(refusal);
            }
            if asked.starts_with("/chat") {
                response.headers_mut().insert("Sec-WebSocket-Protocol", tungstenite::http::HeaderValue::from_static("chat.v2"));
            }
            Ok(response)
        };
        let Ok(mut socket) = accept_hdr(stream, agree) else { return };
        self.note(|seen| seen.handshakes += 1);
        let (path, query) = asked.split_once('?').unwrap_or((&asked, ""));
        let number = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('=')?.parse::<u64>().ok());
        let _ = self.talk(&mut socket, path, number("wait_ms").unwrap_or(0), number("after").unwrap_or(1));
    }

    fn talk(&self, socket: &mut WebSocket<TcpStream>, path: &str, wait_ms: u64, after: u64) -> Result<(), Error> {
        if path == "/chat" {
            self.note(|seen| seen.unasked += 1);
            socket.send(Message::text("welcome"))?;
        }
        let mut answered = 0;
        loop {
            let message = match socket.read()? {
                Message::Text(text) => {
                    self.note(|seen| seen.texts += 1);
                    Message::Text(text)
                }
                Message::Binary(bytes) => {
                    self.note(|seen| seen.binaries += 1);
                    Message::Binary(bytes)
                }
                Message::Pong(_) => {
                    self.note(|seen| seen.pongs += 1);
                    continue;
                }
                Message::Close(frame) => {
                    let code = frame.map_or(1005, |frame| frame.code.into());
                    self.note(|seen| *seen.closes.entry(code).or_default() += 1);
                    continue;
                }
                Message::Ping(_) | Message::Frame(_) => continue,
            };
            if path == "/leave" && answered == after {
                socket.close(Some(CloseFrame { code: CloseCode::Again, reason: Utf8Bytes::from_static("enough") }))?;
                continue;
            }
            std::thread::sleep(Duration::from_millis(wait_ms));
            match path {
                "/ticks" => {
                    for number in 1..=after {
                        self.note(|seen| seen.unasked += 1);
                        socket.send(Message::text(number.to_string()))?;
                        std::thread::sleep(Duration::from_millis(wait_ms));
                    }
                }
                "/drop" => return Ok(()),
                "/ping" => {
                    socket.send(Message::Ping("are you there".into()))?;
                    socket.send(message)?;
                }
                "/news" => {
                    self.note(|seen| seen.unasked += 1);
                    socket.send(Message::text(r#"{"type":"news"}"#))?;
                    socket.send(message)?;
                }
                "/push" => {
                    socket.send(message)?;
                    self.note(|seen| seen.unasked += 1);
                    socket.send(Message::text("news"))?;
                }
                _ => socket.send(message)?,
            }
            answered += 1;
        }
    }
}
