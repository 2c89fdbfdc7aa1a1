//! A language model's server: answers that stream, with a timing of its own, and a log of when each event left.
//!
//! What a load generator says of such answers can only be held against what the server knows of them. A thread sleeps and writes for
//! each connection: a runtime's timer, shared by all connections, would move the events of one with those of others.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How a model answers.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// From the request to the first event.
    pub first: Duration,
    /// From one event to the next.
    pub between: Duration,
    /// How many events.
    pub events: u32,
}

/// When the parts of one answer left.
#[derive(Debug, Clone)]
pub struct Streamed {
    /// When the request had come, head and body.
    pub received: Instant,
    /// Just before each event was written.
    pub events: Vec<Instant>,
}

/// A running server. It takes no more connections when dropped.
#[derive(Debug)]
pub struct Model {
    address: SocketAddr,
    log: Arc<Mutex<Vec<Streamed>>>,
    stops: Arc<AtomicBool>,
}

impl Model {
    /// Starts a server on a free port of 127.0.0.1: to every request it streams chunks as the API of chat completions has them, and
    /// `[DONE]` at last.
    ///
    /// # Errors
    /// When there is no free port.
    pub fn start(timing: Timing) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let (log, stops) = (Arc::<Mutex<Vec<Streamed>>>::default(), Arc::<AtomicBool>::default());
        let server = Self { address: listener.local_addr()?, log: log.clone(), stops: stops.clone() };
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if stops.load(Ordering::Relaxed) {
                    return;
                }
                let log = log.clone();
                // A client that goes ends its connection, and nothing else.
                std::thread::spawn(move || serve(&stream, timing, &log));
            }
        });
        Ok(server)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// All answers that were streamed to their end.
    pub fn log(&self) -> Vec<Streamed> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.stops.store(true, Ordering::Relaxed);
        // Wakes who waits for the next connection.
        let _ = TcpStream::connect(self.address);
    }
}

fn serve(stream: &TcpStream, timing: Timing, log: &Mutex<Vec<Streamed>>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut requests = BufReader::new(stream);
    let mut out = stream;
    while read(&mut requests)? {
        let received = Instant::now();
        out.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n")?;
        let mut events = Vec::new();
        for number in 0..timing.events {
            // By the clock of the whole answer, so that no sleep that is too long makes all that follow late.
            let due = received + timing.first + timing.between * number;
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            events.push(Instant::now());
            let delta = format!(r#"{{"object":"chat.completion.chunk","choices":[{{"index":0,"delta":{{"content":"word{number} "}}}}]}}"#);
            say(&mut out, &format!("data: {delta}\n\n"))?;
        }
        say(&mut out, "data: [DONE]\n\n")?;
        log.lock().unwrap_or_else(PoisonError::into_inner).push(Streamed { received, events });
        out.write_all(b"0\r\n\r\n")?;
    }
    Ok(())
}

fn say(out: &mut impl Write, event: &str) -> io::Result<()> {
    out.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes())
}

/// Reads a request with its body; whether there was one.
fn read(from: &mut impl BufRead) -> io::Result<bool> {
    let (mut line, mut length) = (String::new(), 0);
    loop {
        line.clear();
        if from.read_line(&mut line)? == 0 {
            return Ok(false);
        }
        if line.trim_end().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().map_err(io::Error::other)?;
        }
    }
    io::copy(&mut from.take(length), &mut io::sink())?;
    Ok(true)
}
