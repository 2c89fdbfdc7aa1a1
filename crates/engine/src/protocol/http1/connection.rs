//! A connection that speaks HTTP/1.1: one place, and one exchange at a time, or several requests that are written at once.
//!
//! Reading goes on while the request is still being written: a server may answer early and close (RFC 9112 §9.5), and a
//! failed write may still leave an answer in our receive buffer.

use std::cell::{Cell, RefCell};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use measure::{Closer, Failure, Quirk, Quirks, Status};
use plan::Nanos;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::{Finished, KnownHead, Progress, Reply, ResponseFraming, is_blank};
use crate::clock::Clock;
use crate::net;
use crate::protocol::{
    Answer, Answered, Answers, EXAMPLE_BYTES, EncodedRef, Exchange, FailureSample, Past, READS_A_TURN, ResponseSink, Said, Surroundings,
    write_failure,
};

/// One connection, and what it can tell about itself.
#[derive(Debug)]
pub struct Connection<S> {
    stream: S,
    reply: Reply,
    /// How many requests were answered on it.
    served: u32,
    /// When the last of them was.
    idle_since: Nanos,
}

/// How far the connection has got with an exchange.
#[derive(Debug, Default)]
pub struct State {
    heads: u8,
    /// So much of the request was flushed.
    flushed: usize,
    /// Whether the server lets the connection be used again.
    reusable: bool,
    write_failed: Option<Failure>,
}

impl<S: AsyncRead + AsyncWrite + Unpin + 'static> Connection<S> {
    /// One that was opened.
    pub(crate) fn open(stream: S) -> Self {
        Self { stream, reply: Reply::new(), served: 0, idle_since: Nanos::ZERO }
    }

    /// An exchange begins.
    #[inline]
    pub(crate) fn begin(&mut self, request: EncodedRef<'_>) {
        self.reply.begin(framing(request));
    }

    /// Drives the exchange. The path of every request: whoever drives it seldom calls it through a function of its own.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "called from more than one place it would be a call for each read of the plain path")]
    pub(crate) fn poll_exchange<C: Clock, M, A: Answers>(
        &mut self,
        cx: &mut Context<'_>,
        request: EncodedRef<'_>,
        exchange: &mut Exchange<State>,
        (around, known, offers_http3): (&Surroundings<'_, C, M>, &RefCell<KnownHead>, &Cell<bool>),
        answers: &mut A,
        sample: &mut FailureSample,
    ) -> Poll<Result<Answer, Failure>> {
        if let Some(failure) = around.slot.failure(|| exchange.timeout_of(request)) {
            return Poll::Ready(Err(failure));
        }
        self.poll_write(cx, request.bytes(), exchange, sample);
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
                        return Poll::Ready(match self.reply.closed() {
                            Ok(finished) => Ok(answer(finished, exchange)),
                            Err(failure) => Err(self.blame(failure, exchange)),
                        });
                    }
                    exchange.received += bytes.len() as u64;
                    exchange.last_byte = now;
                    answers.sink().read_at(now);
                    let progress = self.read(bytes, request, exchange, answers, known);
                    if self.reply.offers_http3() {
                        offers_http3.set(true);
                    }
                    if self.reply.heads() != exchange.state.heads {
                        exchange.state.heads = self.reply.heads();
                        exchange.first_byte = Some(now);
                    }
                    match progress {
                        Progress::More => {}
                        Progress::Done(finished) => {
                            if !Status(finished.status).is_success() {
                                *sample = FailureSample::Bytes(bytes.len().min(EXAMPLE_BYTES));
                            }
                            return Poll::Ready(Ok(answer(finished, exchange)));
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

    /// The exchange has ended.
    ///
    /// # Errors
    /// Who ended the connection, if it carries no other.
    pub(crate) fn end(
        &mut self,
        request: EncodedRef<'_>,
        exchange: &Exchange<State>,
        result: Result<Answer, Failure>,
        at: Nanos,
    ) -> Result<(), Closer> {
        match result {
            Ok(_) if exchange.state.reusable && exchange.written == request.bytes().len() => {
                self.served = self.served.saturating_add(1);
                self.idle_since = at;
                Ok(())
            }
            Ok(_) => Err(if exchange.state.reusable { Closer::Us } else { Closer::Server }),
            Err(failure) => Err(closer(failure)),
        }
    }

    /// What the server has said so far.
    pub(crate) fn said(&self) -> Said {
        let reply = &self.reply;
        Said { interims: reply.interims(), continues: reply.continues(), is_final: reply.status().is_some() }
    }

    /// What it had been through when the exchange began.
    pub(crate) fn past(&self) -> Past {
        Past { served: self.served, idle_since: self.idle_since }
    }

    /// Watches it without an exchange: ready when it cannot be used any more, with what was odd.
    pub(crate) fn poll_idle(&mut self, cx: &mut Context<'_>, buffer: &RefCell<Box<[u8]>>) -> Poll<Quirks> {
        let mut quirks = Quirks::default();
        let mut buffer = buffer.borrow_mut();
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

    /// Looks at what carries it.
    pub(crate) fn look<R>(&self, at: impl FnOnce(&S) -> R) -> R {
        at(&self.stream)
    }

    /// Takes the bytes just read. `Done` is about the last answer.
    #[inline]
    fn read<A: Answers>(
        &mut self,
        bytes: &[u8],
        request: EncodedRef<'_>,
        exchange: &mut Exchange<State>,
        answers: &mut A,
        known: &RefCell<KnownHead>,
    ) -> Progress {
        answers.sink().received(bytes);
        let mut rest = bytes;
        while answers.left() > 1 {
            let finished = match self.reply.feed_pipelined(rest, answers.sink()) {
                Progress::Done(finished) => finished,
                progress => return progress,
            };
            let (bytes, after) = rest.split_at_checked(finished.consumed).unwrap_or((rest, &[]));
            let done = exchange.last_byte;
            let begun_now = self.reply.heads() != exchange.state.heads;
            answers.answered(&Answered {
                answer: answer(finished, exchange),
                sent: exchange.sent,
                first_byte: exchange.first_byte.filter(|_| !begun_now).unwrap_or(done),
                done,
                received: exchange.received - after.len() as u64,
                bytes,
            });
            rest = after;
            exchange.state.heads = 0;
            exchange.first_byte = None;
            self.reply.begin(framing(request));
            if !finished.reusable {
                // The server ends the connection here, whatever was asked besides.
                return Progress::Failed(Failure::RecvEofBeforeResponse);
            }
        }
        self.reply.feed_knowing(rest, answers.sink(), Some(&mut known.borrow_mut()))
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, request: &[u8], exchange: &mut Exchange<State>, sample: &mut FailureSample) {
        while exchange.state.write_failed.is_none() && exchange.written < request.len() {
            match Pin::new(&mut self.stream).poll_write(cx, &request[exchange.written..]) {
                Poll::Ready(Ok(0)) => exchange.state.write_failed = Some(Failure::SendClosed),
                Poll::Ready(Ok(count)) => exchange.written += count,
                Poll::Ready(Err(error)) => {
                    exchange.state.write_failed = Some(write_failure(&error));
                    *sample = FailureSample::System(error);
                }
                Poll::Pending => return,
            }
        }
        // TLS keeps what it could not write; a plain socket has nothing to flush.
        if exchange.state.write_failed.is_none() && exchange.state.flushed < request.len() {
            match Pin::new(&mut self.stream).poll_flush(cx) {
                Poll::Ready(Ok(())) => exchange.state.flushed = request.len(),
                Poll::Ready(Err(error)) => {
                    exchange.state.write_failed = Some(Failure::SendReset);
                    *sample = FailureSample::System(error);
                }
                Poll::Pending => {}
            }
        }
    }

    fn read_failure(&mut self, error: &io::Error, exchange: &mut Exchange<State>) -> Result<Answer, Failure> {
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
    fn blame(&self, failure: Failure, exchange: &Exchange<State>) -> Failure {
        if exchange.received == 0 && self.served > 0 {
            return Failure::StaleReuse;
        }
        if exchange.received == 0 { exchange.state.write_failed.unwrap_or(failure) } else { failure }
    }
}

/// Tunnels are not asked for.
#[inline]
fn framing(request: EncodedRef<'_>) -> ResponseFraming {
    if request.layout().is_head() { ResponseFraming::Head } else { ResponseFraming::Other }
}

/// What is told of an answer that is complete.
#[inline]
fn answer(finished: Finished, exchange: &mut Exchange<State>) -> Answer {
    exchange.state.reusable = finished.reusable;
    Answer { status: finished.status, quirks: finished.quirks }
}

/// Who ended the connection on which a request failed so.
fn closer(failure: Failure) -> Closer {
    match failure {
        Failure::RecvReset
        | Failure::RecvEofBeforeResponse
        | Failure::RecvEofInHead
        | Failure::RecvEofInBody
        | Failure::SendReset
        | Failure::SendClosed
        | Failure::StaleReuse => Closer::Server,
        _ => Closer::Us,
    }
}
