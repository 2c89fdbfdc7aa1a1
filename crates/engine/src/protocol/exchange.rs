//! One request and its answer, as a Lane sees them, whatever is spoken.
//!
//! The whole budget of a fast request is one write and one read. So the request is one ready-made buffer, reading goes into a large
//! buffer that belongs to the worker (a short read tells Tokio that the socket is drained, without a second system call), and nothing of
//! the answer is kept. What a protocol has to know besides stands in the exchange as its own [`State`](super::Place::State).

use std::cell::RefCell;
use std::io;

use measure::{Failure, Quirks};
use plan::Nanos;

use super::{EncodedRef, ResponseSink};
use crate::net;
use crate::slot::Slot;

/// Large enough that a small answer is always a short read.
pub(crate) const READ_BUFFER_BYTES: usize = 64 * 1024;

/// After so many full buffers a connection lets the others have their turn.
pub(crate) const READS_A_TURN: u32 = 4;

/// So much of an answer is shown as the example of a failure.
pub(crate) const EXAMPLE_BYTES: usize = 256;

/// How far an exchange has got, and its times.
#[derive(Debug, Clone, Copy)]
pub struct Exchange<S> {
    /// Just before the first write.
    pub(crate) sent: Nanos,
    /// When the final answer began; `None` before.
    pub(crate) first_byte: Option<Nanos>,
    /// When the last bytes were read.
    pub(crate) last_byte: Nanos,
    /// Bytes written.
    pub(crate) written: usize,
    /// Bytes read.
    pub(crate) received: u64,
    /// Oddities seen outside the answer itself.
    pub(crate) quirks: Quirks,
    /// The protocol's own.
    pub(crate) state: S,
}

impl<S: Default> Exchange<S> {
    pub(crate) fn beginning(sent: Nanos) -> Self {
        Self { sent, first_byte: None, last_byte: sent, written: 0, received: 0, quirks: Quirks::default(), state: S::default() }
    }
}

impl<S> Exchange<S> {
    /// What is said of it when its time is over.
    pub(crate) fn timeout_of(&self, request: EncodedRef<'_>) -> Failure {
        match self.received {
            _ if self.written < request.bytes().len() => Failure::SendTimeout,
            0 => Failure::RecvIdleTimeout,
            _ => Failure::RecvTotalTimeout,
        }
    }
}

/// The class of a request that could not be written.
pub(crate) fn write_failure(error: &io::Error) -> Failure {
    match error.kind() {
        _ if net::tls_broken(error).is_some() => Failure::TlsAlert,
        io::ErrorKind::BrokenPipe | io::ErrorKind::NotConnected | io::ErrorKind::WriteZero => Failure::SendClosed,
        _ => Failure::SendReset,
    }
}

/// A complete answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    pub(crate) status: u16,
    /// What was odd in it.
    pub(crate) quirks: Quirks,
}

/// What an exchange is answered with, and where that goes: one answer, or those of several requests that were written at once.
pub trait Answers {
    /// Sees them.
    type Sink: ResponseSink;

    /// How many are still to come.
    fn left(&self) -> u32;

    /// Sees the one at hand.
    fn sink(&mut self) -> &mut Self::Sink;

    /// One that is not the last has come.
    fn answered(&mut self, _answered: &Answered<'_>) {}
}

impl<A: Answers> Answers for &mut A {
    type Sink = A::Sink;

    fn left(&self) -> u32 {
        (**self).left()
    }

    fn sink(&mut self) -> &mut Self::Sink {
        (**self).sink()
    }

    fn answered(&mut self, answered: &Answered<'_>) {
        (**self).answered(answered);
    }
}

/// One of several answers.
#[derive(Debug)]
pub struct Answered<'a> {
    pub(crate) answer: Answer,
    pub(crate) sent: Nanos,
    pub(crate) first_byte: Nanos,
    pub(crate) done: Nanos,
    /// Bytes read up to its end, from the beginning of the first.
    pub(crate) received: u64,
    /// Its last bytes.
    pub(crate) bytes: &'a [u8],
}

/// What a connection had been through when an exchange began on it.
#[derive(Debug, Clone, Copy)]
pub struct Past {
    /// How many requests were answered on it.
    pub(crate) served: u32,
    /// When the last of them was.
    pub(crate) idle_since: Nanos,
}

impl Past {
    /// In words.
    pub(crate) fn text(self, now: Nanos) -> String {
        match self.served {
            0 => "on a new connection".to_owned(),
            served => {
                let requests = if served == 1 { "request" } else { "requests" };
                format!("on a connection that had answered {served} {requests}, {:.1} s idle", now.since(self.idle_since).as_secs_f64())
            }
        }
    }
}

/// What a failed exchange looked like; made into text only when somebody wants to see it.
#[derive(Debug)]
pub enum FailureSample {
    /// So many bytes that were being read: they stand at the beginning of the worker's buffer until the next read of
    /// whomever, which is later than the end of this poll.
    Bytes(usize),
    /// The system's words.
    System(io::Error),
    /// Nothing to show.
    Nothing,
}

/// What an exchange needs of its worker.
pub struct Surroundings<'a, C, M> {
    pub(crate) clock: &'a C,
    pub(crate) buffer: &'a RefCell<Box<[u8]>>,
    /// What the worker's connections share.
    pub(crate) memory: &'a M,
    pub(crate) slot: &'a Slot,
}

/// What nginx and Go answer with status 400 to a plain request at a port for TLS.
const WANTS_TLS: [&[u8]; 2] = [b"plain HTTP request was sent to HTTPS port", b"sent an HTTP request to an HTTPS server"];

/// Bytes of a server as text: letters of every script as they are, all else escaped.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for piece in bytes.utf8_chunks() {
        for letter in piece.valid().chars() {
            match u8::try_from(letter) {
                Ok(byte @ ..=0x7f) => text.extend(std::ascii::escape_default(byte).map(char::from)),
                _ => text.extend(letter.escape_debug()),
            }
        }
        text.extend(piece.invalid().iter().flat_map(|byte| std::ascii::escape_default(*byte)).map(char::from));
    }
    text
}

impl FailureSample {
    /// As text: what is no letter escaped, so that no terminal or page takes them for its own.
    pub(crate) fn text(&self, buffer: &[u8]) -> String {
        match self {
            Self::Bytes(count) => {
                let bytes = &buffer[..*count];
                // The record header of a TLS alert (RFC 8446 §5.1), or such a server's own words.
                let says = |words: &&[u8]| bytes.windows(words.len()).any(|window| window == *words);
                let speaks_tls = bytes.starts_with(&[0x15, 0x03]) || bytes.starts_with(b"HTTP/1.") && WANTS_TLS.iter().any(says);
                let text = shown(bytes);
                if speaks_tls { text + measure::SPEAKS_TLS } else { text }
            }
            Self::System(error) => error.to_string(),
            Self::Nothing => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_shown_and_nothing_that_a_terminal_obeys() {
        assert_eq!(shown("n\u{f6}t \u{65e5}\u{672c}".as_bytes()), "n\u{f6}t \u{65e5}\u{672c}");
        assert_eq!(shown("a\n\"\\\x1b[2J\x7f\0".as_bytes()), r#"a\n\"\\\x1b[2J\x7f\x00"#);
        assert_eq!(shown("\u{202e}\u{9b}\u{200b}".as_bytes()), r"\u{202e}\u{9b}\u{200b}");
        assert_eq!(shown(b"\xff\xc3"), r"\xff\xc3");
    }

    #[test]
    fn a_server_that_wants_tls_is_told_as_that() {
        let go = "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n";
        let nginx =
            "HTTP/1.1 400 Bad Request\r\nServer: nginx/1.22.1\r\n\r\n<title>400 The plain HTTP request was sent to HTTPS port</title>";
        for (answer, told) in [(go, true), (nginx, true), ("HTTP/1.1 400 Bad Request\r\n\r\nno id", false), ("\u{15}\u{3}\u{3}", true)] {
            let text = FailureSample::Bytes(answer.len()).text(answer.as_bytes());
            assert_eq!(text.ends_with(": this port speaks TLS, so use https://"), told, "{text}");
        }
    }
}
