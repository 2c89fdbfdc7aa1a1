//! A server that plays exact bytes, for clients that must survive anything.
//!
//! An HTTP library cannot be made to say something wrong, and the worst a client meets is wrong: half a head, a reset in
//! a chunk, a length that overflows, silence. Here each connection plays a list of [`Action`]s on a bare socket.
//! Beside it, on the same port, the other connections may be served by a healthy echo, so that a test can prove that a
//! bad connection harms no good one.
//!
//! When a script comes to its end it goes on from its first expectation of a request, if it has one, so that a client
//! that keeps its connection meets the same fate with every request; else the connection is closed.

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::LocalSet;

use crate::portion::Portion;

/// One thing a connection does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Reads one request, head and body. If the client ends the stream instead, the script is over.
    ExpectRequest,
    /// Reads the head of a request and leaves its body unread.
    ExpectHead,
    /// Sends these bytes, in one write if the socket takes them.
    Send(Bytes),
    /// Sends these bytes one by one, each in a packet of its own where the network permits.
    SendSplit(Bytes),
    /// Waits, to a millisecond.
    Pause(Duration),
    /// Does these things so many times over, or, with [`FOREVER`], until the client goes.
    Repeat(u64, Vec<Action>),
    /// Ends our side of the stream, reads until the client ends its own, and closes.
    Fin,
    /// Closes at once, both sides. Unread bytes of the client turn this into a reset.
    Close,
    /// Resets the connection.
    Reset,
    /// Never reads again; the receive buffer is small, so the client's sends soon come to a stop.
    NeverRead,
    /// Keeps the connection open and silent, and reads and forgets what comes, until the client goes.
    Hold,
}

/// For [`Action::Repeat`]: without end.
pub const FOREVER: u64 = u64::MAX;

/// What each connection plays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    actions: Vec<Action>,
    hostile: Portion,
}

impl Script {
    /// These actions on every connection.
    pub fn new(actions: impl Into<Vec<Action>>) -> Script {
        Script { actions: actions.into(), hostile: Portion::ALL }
    }

    /// The commonest script: to every request, these bytes.
    pub fn reply(bytes: impl Into<Bytes>) -> Script {
        Script::new([Action::ExpectRequest, Action::Send(bytes.into())])
    }

    /// To every request, these bytes, then the end of the stream.
    pub fn reply_and_fin(bytes: impl Into<Bytes>) -> Script {
        Script::new([Action::ExpectRequest, Action::Send(bytes.into()), Action::Fin])
    }

    /// To every request, these bytes in two parts, with a pause between them, so that the client reads twice.
    pub fn reply_in_two(bytes: impl Into<Bytes>, first_bytes: usize, pause: Duration) -> Script {
        let mut first: Bytes = bytes.into();
        let second = first.split_off(first_bytes.min(first.len()));
        Script::new([Action::ExpectRequest, Action::Send(first), Action::Pause(pause), Action::Send(second)])
    }

    /// Plays on this portion of the connections only, spread evenly; the others are served by the healthy echo, which
    /// answers every request with 200, its `X-Id` header, and a body that is the value of that header.
    pub fn on(mut self, hostile: Portion) -> Script {
        self.hostile = hostile;
        self
    }
}

/// What a scripted server counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScriptedCounts {
    /// Connections accepted.
    pub connections: u64,
    /// Of these, how many play the script.
    pub hostile_connections: u64,
    /// Connections that have ended.
    pub ended: u64,
    /// Requests (or heads, where no more was expected) read by scripts.
    pub hostile_requests: u64,
    /// Requests read by the healthy echo.
    pub healthy_requests: u64,
    /// Replies of the healthy echo, sent whole.
    pub healthy_replies: u64,
}

/// A running scripted server. It stops when dropped.
#[derive(Debug)]
pub struct Scripted {
    address: SocketAddr,
    tally: Arc<Tally>,
    stop: watch::Sender<bool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Scripted {
    /// Starts a server on a free port of 127.0.0.1; it accepts connections when this returns.
    ///
    /// # Errors
    /// When there is no free port or no thread to be had.
    pub fn start(script: Script) -> io::Result<Scripted> {
        let tally = Arc::new(Tally::default());
        let (stop, mut stopped) = watch::channel(false);
        let (tell_bound, is_bound) = std::sync::mpsc::channel();
        let counted = Arc::clone(&tally);
        let thread = std::thread::Builder::new().name("scripted".to_owned()).spawn(move || {
            let started = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = match started {
                Ok(runtime) => runtime,
                Err(error) => {
                    let _ = tell_bound.send(Err(error));
                    return;
                }
            };
            LocalSet::new().block_on(&runtime, async move {
                let listener = match bind(&script) {
                    Ok(listener) => listener,
                    Err(error) => {
                        let _ = tell_bound.send(Err(error));
                        return;
                    }
                };
                let _ = tell_bound.send(listener.local_addr());
                let script = Arc::new(script);
                tokio::select! {
                    // Either the sender says so or it is gone.
                    _ = stopped.wait_for(|stopped| *stopped) => {}
                    () = accept(&listener, &script, &counted) => {}
                }
            });
        })?;
        let bound = is_bound.recv().map_err(|_| io::Error::other("the scripted server ended before it began"))?;
        Ok(Scripted { address: bound?, tally, stop, thread: Some(thread) })
    }

    /// The address it listens at.
    pub fn addr(&self) -> SocketAddr {
        self.address
    }

    /// The URL of a path and query.
    pub fn url(&self, path_and_query: &str) -> String {
        format!("http://{}{path_and_query}", self.address)
    }

    /// Everything counted up to now.
    pub fn played(&self) -> ScriptedCounts {
        let value = |counter: &AtomicU64| counter.load(Ordering::Acquire);
        ScriptedCounts {
            ended: value(&self.tally.ended),
            connections: value(&self.tally.connections),
            hostile_connections: value(&self.tally.hostile_connections),
            hostile_requests: value(&self.tally.hostile_requests),
            healthy_requests: value(&self.tally.healthy_requests),
            healthy_replies: value(&self.tally.healthy_replies),
        }
    }

    /// Stops: closes the listener and every connection, and waits for the thread. Tells the final counts.
    pub fn stop(mut self) -> ScriptedCounts {
        self.end();
        self.played()
    }

    fn end(&mut self) {
        self.stop.send_replace(true);
        if let Some(thread) = self.thread.take() {
            // A panic there has told its reason.
            let _ = thread.join();
        }
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.end();
    }
}

#[derive(Debug, Default)]
struct Tally {
    connections: AtomicU64,
    hostile_connections: AtomicU64,
    ended: AtomicU64,
    hostile_requests: AtomicU64,
    healthy_requests: AtomicU64,
    healthy_replies: AtomicU64,
}

fn add_one(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::AcqRel);
}

fn bind(script: &Script) -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    if refuses_to_read(&script.actions) {
        // Inherited by the connections; set later it would not shrink the window already offered.
        socket.set_recv_buffer_size(SMALL_WINDOW_BYTES)?;
    }
    socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
    socket.listen(BACKLOG)
}

const BACKLOG: u32 = 4096;
/// The kernel doubles it and has a minimum of about as much.
const SMALL_WINDOW_BYTES: u32 = 2048;
/// Out of files: wait for some to be closed.
const ACCEPT_PAUSE: Duration = Duration::from_millis(5);

fn refuses_to_read(actions: &[Action]) -> bool {
    actions.iter().any(|action| match action {
        Action::NeverRead => true,
        Action::Repeat(_, repeated) => refuses_to_read(repeated),
        _ => false,
    })
}

async fn accept(listener: &TcpListener, script: &Arc<Script>, tally: &Arc<Tally>) {
    for number in 0.. {
        let stream = loop {
            match listener.accept().await {
                Ok((stream, _)) => break stream,
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            }
        };
        let _ = stream.set_nodelay(true);
        add_one(&tally.connections);
        let hostile = script.hostile.falls_on(number);
        if hostile {
            add_one(&tally.hostile_connections);
        }
        let (script, tally) = (Arc::clone(script), Arc::clone(tally));
        tokio::task::spawn_local(async move {
            let mut stage = Stage { stream, unread: BytesMut::new() };
            // An error is the client's going away, which is how most of these conversations end.
            let _ = if hostile { stage.perform(&script.actions, &tally).await } else { stage.echo(&tally).await };
            drop(stage);
            add_one(&tally.ended);
        });
    }
}

/// A connection being played on.
struct Stage {
    stream: TcpStream,
    /// Received, but not yet part of a request.
    unread: BytesMut,
}

/// Whether the play goes on.
enum Cue {
    Next,
    Over,
}

impl Stage {
    async fn perform(&mut self, actions: &[Action], tally: &Tally) -> io::Result<()> {
        let expects = |action: &Action| matches!(action, Action::ExpectRequest | Action::ExpectHead);
        let mut next = actions;
        while let Cue::Next = self.play_all(next, tally).await? {
            match actions.iter().position(expects) {
                Some(first) => next = &actions[first..],
                None => break,
            }
        }
        Ok(())
    }

    fn play_all<'a>(&'a mut self, actions: &'a [Action], tally: &'a Tally) -> Pin<Box<dyn Future<Output = io::Result<Cue>> + 'a>> {
        Box::pin(async move {
            for action in actions {
                if let Cue::Over = self.play(action, tally).await? {
                    return Ok(Cue::Over);
                }
            }
            Ok(Cue::Next)
        })
    }

    async fn play(&mut self, action: &Action, tally: &Tally) -> io::Result<Cue> {
        match action {
            Action::ExpectRequest | Action::ExpectHead => {
                let body = if *action == Action::ExpectRequest { Reading::WithBody } else { Reading::HeadOnly };
                if self.request(body).await?.is_none() {
                    return Ok(Cue::Over);
                }
                add_one(&tally.hostile_requests);
            }
            Action::Send(bytes) => self.stream.write_all(bytes).await?,
            Action::SendSplit(bytes) => {
                for byte in bytes {
                    self.stream.write_all(&[*byte]).await?;
                    // Lets the client's thread, or its task on this one, see each byte alone.
                    tokio::task::yield_now().await;
                }
            }
            Action::Pause(pause) => tokio::time::sleep(*pause).await,
            Action::Repeat(times, repeated) => {
                for _ in 0..*times {
                    if let Cue::Over = self.play_all(repeated, tally).await? {
                        return Ok(Cue::Over);
                    }
                    // An endless repetition of nothing that waits must not stop the other connections.
                    tokio::task::yield_now().await;
                }
            }
            Action::Fin => {
                self.stream.shutdown().await?;
                self.read_to_end().await?;
                return Ok(Cue::Over);
            }
            Action::Close => return Ok(Cue::Over),
            Action::Reset => {
                self.stream.set_zero_linger()?;
                return Ok(Cue::Over);
            }
            Action::NeverRead => std::future::pending().await,
            Action::Hold => {
                self.read_to_end().await?;
                return Ok(Cue::Over);
            }
        }
        Ok(Cue::Next)
    }

    async fn echo(&mut self, tally: &Tally) -> io::Result<()> {
        while let Some(head) = self.request(Reading::WithBody).await? {
            add_one(&tally.healthy_requests);
            let id = header(&head, "x-id").unwrap_or_default();
            let mut reply = format!("HTTP/1.1 200 OK\r\nX-Id: {id}\r\nContent-Length: {}\r\n\r\n{id}", id.len()).into_bytes();
            if head.starts_with("HEAD ") {
                reply.truncate(reply.len() - id.len());
            }
            self.stream.write_all(&reply).await?;
            add_one(&tally.healthy_replies);
            if header(&head, "connection").is_some_and(|value| value.eq_ignore_ascii_case("close")) {
                return Ok(());
            }
        }
        Ok(())
    }

    async fn read_to_end(&mut self) -> io::Result<()> {
        let mut forgotten = [0; 16 * 1024];
        while self.stream.read(&mut forgotten).await? > 0 {}
        Ok(())
    }

    /// Reads the next request and tells its head; `None` if the stream ends before it is complete.
    async fn request(&mut self, reading: Reading) -> io::Result<Option<String>> {
        let head_bytes = loop {
            match find(&self.unread, b"\r\n\r\n") {
                Some(at) => break at + 4,
                None if self.unread.len() > HEAD_BYTES_MAX => {
                    return Err(io::ErrorKind::InvalidData.into());
                }
                None => {}
            }
            if !self.more().await? {
                return Ok(None);
            }
        };
        let head = String::from_utf8_lossy(&self.unread.split_to(head_bytes)).into_owned();
        if let Reading::HeadOnly = reading {
            return Ok(Some(head));
        }
        let chunked = header(&head, "transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked"));
        let complete = if chunked {
            self.skip_chunks().await?
        } else {
            let length = header(&head, "content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
            self.skip(length).await?
        };
        Ok(complete.then_some(head))
    }

    /// Forgets so many bytes; tells whether they came.
    async fn skip(&mut self, mut bytes: u64) -> io::Result<bool> {
        loop {
            let here = bytes.min(self.unread.len() as u64);
            self.unread.advance(here as usize);
            bytes -= here;
            if bytes == 0 {
                return Ok(true);
            }
            if !self.more().await? {
                return Ok(false);
            }
        }
    }

    async fn skip_chunks(&mut self) -> io::Result<bool> {
        loop {
            let Some(line) = self.line().await? else {
                return Ok(false);
            };
            let digits = line.split(';').next().unwrap_or_default().trim();
            let size = u64::from_str_radix(digits, 16).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
            if size == 0 {
                break;
            }
            if !self.skip(size.saturating_add(2)).await? {
                return Ok(false);
            }
        }
        // Trailers, up to an empty line.
        loop {
            match self.line().await? {
                None => return Ok(false),
                Some(line) if line.is_empty() => return Ok(true),
                Some(_) => {}
            }
        }
    }

    async fn line(&mut self) -> io::Result<Option<String>> {
        loop {
            if let Some(at) = find(&self.unread, b"\r\n") {
                let line = String::from_utf8_lossy(&self.unread.split_to(at)).into_owned();
                self.unread.advance(2);
                return Ok(Some(line));
            }
            if self.unread.len() > HEAD_BYTES_MAX {
                return Err(io::ErrorKind::InvalidData.into());
            }
            if !self.more().await? {
                return Ok(None);
            }
        }
    }

    /// Receives more; tells whether there was any.
    async fn more(&mut self) -> io::Result<bool> {
        Ok(self.stream.read_buf(&mut self.unread).await? > 0)
    }
}

#[derive(Clone, Copy)]
enum Reading {
    WithBody,
    HeadOnly,
}

/// More than any client here sends; it only keeps a stray stream of bytes from filling the memory.
const HEAD_BYTES_MAX: usize = 1 << 20;

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

/// The value of a header.
fn header<'a>(head: &'a str, wanted: &str) -> Option<&'a str> {
    head.lines().skip(1).find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case(wanted).then(|| value.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_found_whatever_their_case() {
        let head = "GET / HTTP/1.1\r\nHost: a\r\nX-ID:  7 \r\n\r\n";
        assert_eq!(header(head, "x-id"), Some("7"));
        assert_eq!(header(head, "x-i"), None);
    }

    #[test]
    fn a_script_that_never_reads_is_recognised_in_its_depth() {
        let deep = Script::new([Action::Repeat(2, vec![Action::Repeat(1, vec![Action::NeverRead])])]);
        assert!(refuses_to_read(&deep.actions));
        assert!(!refuses_to_read(&Script::reply("x").actions));
    }
}
