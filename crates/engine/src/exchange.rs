//! One request and its answer on one connection.
//!
//! The whole budget of a fast request is one write and one read. So the request is one ready-made buffer, reading goes
//! into a large buffer that belongs to the worker (a short read tells Tokio that the socket is drained, without a second
//! system call), and nothing of the answer is kept.
//!
//! Reading goes on while the request is still being written: a server may answer early and close (RFC 9112 §9.5), and a
//! failed write may still leave an answer in our receive buffer.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use measure::{Failure, Quirk, Quirks, Status};
use plan::Nanos;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::clock::Clock;
use crate::net::{self, Spoken};
use crate::protocol::http1::{Finished, KnownHead, Progress, Reply, ResponseFraming, ResponseSink, is_blank};
use crate::slot::{GiveUp, Slot};

/// Large enough that a small answer is always a short read.
pub(crate) const READ_BUFFER_BYTES: usize = 64 * 1024;

/// After so many full buffers a connection lets the others have their turn.
const READS_A_TURN: u32 = 4;

/// So much of an answer is shown as the example of a failure.
pub(crate) const EXAMPLE_BYTES: usize = 256;

/// One connection, and what it can tell about itself.
#[derive(Debug)]
pub(crate) struct Connection<S> {
    stream: S,
    reply: Reply,
    /// How many requests were answered on it.
    served: u32,
    /// When the last of them was.
    idle_since: Nanos,
}

/// What a connection had been through when an exchange began on it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Past {
    served: u32,
    idle_since: Nanos,
}

impl Past {
    /// In words.
    pub(crate) fn text(self, now: Nanos) -> String {
        match self.served {
            0 => "on a new connection".to_owned(),
            served => {
                format!("on a connection that had answered {served} requests, {:.1} s idle", now.since(self.idle_since).as_secs_f64())
            }
        }
    }
}

/// How far an exchange has got, and its times.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exchange {
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
    heads: u8,
    flushed: bool,
    write_failed: Option<Failure>,
}

impl Exchange {
    pub(crate) fn beginning(sent: Nanos) -> Self {
        Self {
            sent,
            first_byte: None,
            last_byte: sent,
            written: 0,
            received: 0,
            quirks: Quirks::default(),
            heads: 0,
            flushed: false,
            write_failed: None,
        }
    }
}

impl Exchange {
    /// What is said of it when its time is over.
    fn timeout_of(&self, request: &[u8]) -> Failure {
        match self.received {
            _ if self.written < request.len() => Failure::SendTimeout,
            0 => Failure::RecvIdleTimeout,
            _ => Failure::RecvTotalTimeout,
        }
    }
}

/// What a failed exchange looked like; made into text only when somebody wants to see it.
#[derive(Debug)]
pub(crate) enum FailureSample {
    /// So many bytes that were being read: they stand at the beginning of the worker's buffer until the next read of
    /// whomever, which is later than the end of this poll.
    Bytes(usize),
    /// The system's words.
    System(io::Error),
    /// Nothing to show.
    Nothing,
}

/// How what was read is taken: as one answer, or as several.
pub(crate) trait Take {
    /// How many answers are still to come.
    fn answers(&self) -> u32;

    /// A connection has carried a whole answer, and `tell` says what its TLS handshake came to.
    #[inline]
    fn spoken(&mut self, _tell: impl FnOnce() -> Option<Spoken>) {}

    /// Takes the bytes just read. `Done` is about the last answer.
    fn take(&mut self, reply: &mut Reply, bytes: &[u8], exchange: &mut Exchange, known: &mut KnownHead) -> Progress;
}

impl<A: Take> Take for &mut A {
    fn answers(&self) -> u32 {
        (**self).answers()
    }

    fn take(&mut self, reply: &mut Reply, bytes: &[u8], exchange: &mut Exchange, known: &mut KnownHead) -> Progress {
        (**self).take(reply, bytes, exchange, known)
    }
}

/// One answer, and what it goes into.
pub(crate) struct One<'a, O>(pub(crate) &'a mut O);

impl<O: ResponseSink> Take for One<'_, O> {
    #[inline]
    fn answers(&self) -> u32 {
        1
    }

    #[inline]
    fn spoken(&mut self, tell: impl FnOnce() -> Option<Spoken>) {
        self.0.spoken(tell);
    }

    #[inline]
    fn take(&mut self, reply: &mut Reply, bytes: &[u8], _exchange: &mut Exchange, known: &mut KnownHead) -> Progress {
        self.0.received(bytes);
        reply.feed_knowing(bytes, self.0, Some(known))
    }
}

/// The answers to a pipelined batch, which come one after the other, in whatever pieces.
pub(crate) struct Several<'a, O, F> {
    pub(crate) sink: &'a mut O,
    pub(crate) framing: ResponseFraming,
    /// How many answers have still to come.
    pub(crate) left: u32,
    /// Bytes of the answer at hand.
    pub(crate) received: u64,
    /// Called with every answer but the last.
    pub(crate) answered: F,
}

/// One answer of a batch.
pub(crate) struct Answered<'a> {
    pub(crate) finished: Finished,
    pub(crate) sent: Nanos,
    pub(crate) first_byte: Nanos,
    pub(crate) done: Nanos,
    pub(crate) received: u64,
    /// Its last bytes.
    pub(crate) bytes: &'a [u8],
}

impl<O: ResponseSink, F: FnMut(&mut O, &Answered<'_>)> Take for Several<'_, O, F> {
    fn answers(&self) -> u32 {
        self.left
    }

    fn take(&mut self, reply: &mut Reply, bytes: &[u8], exchange: &mut Exchange, _known: &mut KnownHead) -> Progress {
        let mut rest = bytes;
        while self.left > 1 {
            let finished = match reply.feed_pipelined(rest, self.sink) {
                Progress::Done(finished) => finished,
                progress => {
                    self.received += rest.len() as u64;
                    return progress;
                }
            };
            let (bytes, after) = rest.split_at_checked(finished.consumed).unwrap_or((rest, &[]));
            let done = exchange.last_byte;
            let begun_now = reply.heads() != exchange.heads;
            let answered = Answered {
                finished,
                sent: exchange.sent,
                first_byte: exchange.first_byte.filter(|_| !begun_now).unwrap_or(done),
                done,
                received: self.received + bytes.len() as u64,
                bytes,
            };
            (self.answered)(self.sink, &answered);
            self.left -= 1;
            self.received = 0;
            rest = after;
            exchange.heads = 0;
            exchange.first_byte = None;
            reply.begin(self.framing);
            if !finished.reusable {
                // The server ends the connection here, whatever was asked besides.
                return Progress::Failed(Failure::RecvEofBeforeResponse);
            }
        }
        self.received += rest.len() as u64;
        reply.feed(rest, self.sink)
    }
}

/// What an exchange needs of its worker.
pub(crate) struct Surroundings<'a, C> {
    pub(crate) clock: &'a C,
    pub(crate) buffer: &'a RefCell<Box<[u8]>>,
    pub(crate) known: &'a RefCell<KnownHead>,
    pub(crate) slot: &'a Slot,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self { stream, reply: Reply::new(), served: 0, idle_since: Nanos::ZERO }
    }

    /// What carries it.
    pub(crate) const fn stream(&self) -> &S {
        &self.stream
    }

    /// Starts reading the answer to the next request.
    pub(crate) fn begin(&mut self, framing: ResponseFraming) {
        self.reply.begin(framing);
    }

    /// Its last answer was complete.
    pub(crate) fn answered(&mut self, at: Nanos) {
        self.served = self.served.saturating_add(1);
        self.idle_since = at;
    }

    /// Whether it had been used, and since when it had been idle.
    pub(crate) fn past(&self) -> Past {
        Past { served: self.served, idle_since: self.idle_since }
    }

    /// Drives the exchange. `sample` is filled when it fails or is answered with an error status.
    pub(crate) fn poll_exchange<C: Clock, T: Take>(
        &mut self,
        cx: &mut Context<'_>,
        request: &[u8],
        exchange: &mut Exchange,
        around: &Surroundings<'_, C>,
        take: &mut T,
        sample: &mut FailureSample,
    ) -> Poll<Result<Finished, Failure>> {
        if let Some(give_up) = around.slot.give_up() {
            return Poll::Ready(Err(match give_up {
                GiveUp::Aborted => Failure::ClientInterrupted,
                GiveUp::Expired => exchange.timeout_of(request),
            }));
        }
        self.poll_write(cx, request, exchange, sample);
        for _ in 0..READS_A_TURN {
            let mut buffer = around.buffer.borrow_mut();
            let mut read = ReadBuf::new(&mut buffer);
            match Pin::new(&mut self.stream).poll_read(cx, &mut read) {
                Poll::Pending => {
                    around.slot.waits(cx);
                    return Poll::Pending;
                }
                Poll::Ready(Err(error)) => {
                    let failure = self.read_failure(&error, exchange);
                    if matches!(sample, FailureSample::Nothing) {
                        *sample = FailureSample::System(error);
                    }
                    return Poll::Ready(failure);
                }
                Poll::Ready(Ok(())) => {
                    let now = around.clock.now();
                    if now >= around.slot.deadline() {
                        // The warden has not looked yet: what comes too late is late all the same, and an end is an answer's too.
                        around.slot.expire(now);
                        return Poll::Ready(Err(exchange.timeout_of(request)));
                    }
                    let bytes = read.filled();
                    if bytes.is_empty() {
                        // An answer without a length is over when the connection is, not with its last byte.
                        exchange.last_byte = now;
                        return Poll::Ready(self.reply.closed().map_err(|failure| self.blame(failure, exchange)));
                    }
                    exchange.received += bytes.len() as u64;
                    exchange.last_byte = now;
                    let progress = take.take(&mut self.reply, bytes, exchange, &mut around.known.borrow_mut());
                    if self.reply.heads() != exchange.heads {
                        exchange.heads = self.reply.heads();
                        exchange.first_byte = Some(now);
                    }
                    match progress {
                        Progress::More => {}
                        Progress::Done(finished) => {
                            if !Status(finished.status).is_success() {
                                *sample = FailureSample::Bytes(bytes.len().min(EXAMPLE_BYTES));
                            }
                            return Poll::Ready(Ok(finished));
                        }
                        Progress::Failed(failure) => {
                            *sample = FailureSample::Bytes(bytes.len().min(EXAMPLE_BYTES));
                            return Poll::Ready(Err(failure));
                        }
                    }
                }
            }
        }
        around.slot.waits(cx);
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, request: &[u8], exchange: &mut Exchange, sample: &mut FailureSample) {
        while exchange.write_failed.is_none() && exchange.written < request.len() {
            match Pin::new(&mut self.stream).poll_write(cx, &request[exchange.written..]) {
                Poll::Ready(Ok(0)) => exchange.write_failed = Some(Failure::SendClosed),
                Poll::Ready(Ok(count)) => exchange.written += count,
                Poll::Ready(Err(error)) => {
                    exchange.write_failed = Some(match error.kind() {
                        _ if net::tls_broken(&error).is_some() => Failure::TlsAlert,
                        io::ErrorKind::BrokenPipe | io::ErrorKind::NotConnected | io::ErrorKind::WriteZero => Failure::SendClosed,
                        _ => Failure::SendReset,
                    });
                    *sample = FailureSample::System(error);
                }
                Poll::Pending => return,
            }
        }
        // TLS keeps what it could not write; a plain socket has nothing to flush.
        if exchange.write_failed.is_none() && !exchange.flushed {
            match Pin::new(&mut self.stream).poll_flush(cx) {
                Poll::Ready(Ok(())) => exchange.flushed = true,
                Poll::Ready(Err(error)) => {
                    exchange.write_failed = Some(Failure::SendReset);
                    *sample = FailureSample::System(error);
                }
                Poll::Pending => {}
            }
        }
    }

    fn read_failure(&mut self, error: &io::Error, exchange: &mut Exchange) -> Result<Finished, Failure> {
        // A TLS 1.3 server refuses a client certificate only after the handshake.
        if let Some(broken) = net::tls_broken(error) {
            return Err(broken.failure);
        }
        if error.kind() == io::ErrorKind::UnexpectedEof {
            // TLS without close_notify: a complete answer stands, one that ends with the connection may be cut.
            exchange.quirks.insert(Quirk::NoCloseNotify);
            return match self.reply.closed() {
                Ok(_) => Err(Failure::RecvEofInBody),
                Err(failure) => Err(self.blame(failure, exchange)),
            };
        }
        Err(self.blame(Failure::RecvReset, exchange))
    }

    /// The class of a connection that ended before its answer: a race on reuse, a failed write, or just that.
    fn blame(&self, failure: Failure, exchange: &Exchange) -> Failure {
        if exchange.received == 0 && self.served > 0 {
            return Failure::StaleReuse;
        }
        if exchange.received == 0 { exchange.write_failed.unwrap_or(failure) } else { failure }
    }

    /// Watches an idle connection: ready when it cannot be used any more, with what was odd.
    pub(crate) fn poll_idle<C: Clock>(&mut self, cx: &mut Context<'_>, around: &Surroundings<'_, C>) -> Poll<Quirks> {
        let mut quirks = Quirks::default();
        let mut buffer = around.buffer.borrow_mut();
        loop {
            let mut read = ReadBuf::new(&mut buffer);
            match Pin::new(&mut self.stream).poll_read(cx, &mut read) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(())) if !read.filled().is_empty() && is_blank(read.filled()) => {}
                Poll::Ready(Ok(())) if !read.filled().is_empty() => {
                    quirks.insert(Quirk::Unsolicited);
                    return Poll::Ready(quirks);
                }
                Poll::Ready(_) => return Poll::Ready(quirks),
            }
        }
    }
}

/// What nginx and Go answer with status 400 to a plain request at a port for TLS.
const WANTS_TLS: [&[u8]; 2] = [b"plain HTTP request was sent to HTTPS port", b"sent an HTTP request to an HTTPS server"];

impl FailureSample {
    /// As text: bytes escaped, so that no terminal or page takes them for its own.
    pub(crate) fn text(&self, buffer: &[u8]) -> String {
        match self {
            Self::Bytes(count) => {
                let bytes = &buffer[..*count];
                // The record header of a TLS alert (RFC 8446 §5.1), or such a server's own words.
                let says = |words: &&[u8]| bytes.windows(words.len()).any(|window| window == *words);
                let speaks_tls = bytes.starts_with(&[0x15, 0x03]) || bytes.starts_with(b"HTTP/1.") && WANTS_TLS.iter().any(says);
                let text = bytes.escape_ascii().to_string();
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
