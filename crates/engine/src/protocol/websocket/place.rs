//! A place on a connection of WebSocket: all of it, and one message under way at a time.
//!
//! The answer to a message is the next one that begins behind it. What comes besides (messages that nobody waits for, pings, a close) is
//! met wherever the connection is read: in an exchange, and while it is idle. A task for each connection that reads all the time, as
//! HTTP/2 has, was the alternative: it would make ten thousand idle connections twice as large.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use measure::{Closer, Failure, Quirks, WebSocketCounts};
use plan::{Nanos, Plan, Random};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::STATUS;
use super::deflate::{Deflate, PACKED_BYTES_MAX, TOO_LARGE};
use super::frame::{self, Opcode};
use super::reader::{Event, Reader, Violation};
use crate::clock::Clock;
use crate::net;
use crate::protocol::{
    Act, Answer, Answers, EncodedRef, Exchange, FailureSample, Past, READS_A_TURN, ResponseSink, Surroundings, write_failure,
};

/// What the connections of a worker share.
pub(crate) struct Memory {
    random: RefCell<Random>,
    /// What came in this interval.
    came: RefCell<Option<Box<WebSocketCounts>>>,
    deflate: Deflate,
}

/// The stream of the seed that masks are drawn from.
const MASKS: u64 = 4;

impl Memory {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self { random: RefCell::new(Random::new(plan.seed(), MASKS)), came: RefCell::default(), deflate: Deflate::default() }
    }

    /// What has come since this was last asked, if anything has.
    pub(crate) fn take_messages(&self) -> Option<Box<WebSocketCounts>> {
        self.came.take()
    }

    fn count(&self, count: impl FnOnce(&mut WebSocketCounts)) {
        count(self.came.borrow_mut().get_or_insert_default());
    }

    fn mask(&self) -> u32 {
        self.random.borrow_mut().bits() as u32
    }
}

/// A connection, and what it can tell about itself.
#[derive(Debug)]
pub(crate) struct Place<S> {
    stream: S,
    reader: Reader,
    /// What came right behind the handshake's answer, until it is read.
    early: Vec<u8>,
    /// Whether messages may be packed.
    deflates: bool,
    /// A packed message, as far as it has come.
    packed: Vec<u8>,
    /// Frames to be written, of which so much has been.
    out: Vec<u8>,
    written: usize,
    is_flushed: bool,
    /// Whether the message of the exchange under way has been put into `out`.
    has_begun: bool,
    /// Whether the message that is coming in was on its way before ours: it is nobody's answer.
    skips: bool,
    /// Whether a close has come or gone.
    is_closing: bool,
    /// How many messages were answered on it.
    served: u32,
    /// When the last of them was.
    idle_since: Nanos,
    /// When the last message of the server's ended.
    message_at: Option<Nanos>,
}

/// What came.
enum Heard<'a> {
    /// A piece of a message, and whether it is the last.
    Piece(&'a [u8], bool),
    Pong,
}

/// Why nothing more comes.
enum Ended {
    Closed(Option<u16>, String),
    Violated(Violation),
}

const ANSWER: Answer = Answer { status: STATUS, quirks: Quirks::NONE };

/// A connection that was idle keeps no more room for what it writes.
const OUT_BYTES_KEPT: usize = 1024;

impl<S: AsyncRead + AsyncWrite + Unpin + 'static> Place<S> {
    /// On a connection where the handshake is done, behind whose answer this came already, and where messages may be packed or not.
    pub(crate) fn open(stream: S, early: Vec<u8>, deflates: bool) -> Self {
        Self {
            stream,
            reader: Reader::new(deflates),
            early,
            deflates,
            packed: Vec::new(),
            out: Vec::new(),
            written: 0,
            is_flushed: true,
            has_begun: false,
            skips: false,
            is_closing: false,
            served: 0,
            idle_since: Nanos::ZERO,
            message_at: None,
        }
    }

    /// An exchange begins.
    pub(crate) fn begin(&mut self) {
        self.has_begun = false;
    }

    /// Drives the exchange.
    pub(crate) fn poll_exchange<C: Clock, M, T: Default, A: Answers>(
        &mut self,
        cx: &mut Context<'_>,
        request: EncodedRef<'_>,
        exchange: &mut Exchange<T>,
        (around, memory): (&Surroundings<'_, C, M>, &Memory),
        answers: &mut A,
        sample: &mut FailureSample,
    ) -> Poll<Result<Answer, Failure>> {
        let act = request.layout().act();
        if let Some(failure) = around.slot.failure(|| self.timeout_of(exchange)) {
            return Poll::Ready(Err(failure));
        }
        if !self.has_begun {
            self.has_begun = true;
            if !matches!(act, Act::Open | Act::Hear | Act::Listen) {
                // It came before anything was said.
                let early = std::mem::take(&mut self.early);
                if let Err(ended) = self.take(&early, (memory, around.clock.now()), |_| false) {
                    return Poll::Ready(Err(self.ended(cx, ended, memory, sample)));
                }
            }
            self.skips = self.reader.is_amid_message();
            self.begin_act(act, request.body(), memory);
        }
        let failed_write = self.poll_write(cx, &mut exchange.written).err();
        if act == Act::Open || act == Act::Tell && self.out.is_empty() {
            return Poll::Ready(Ok(ANSWER));
        }
        for _ in 0..READS_A_TURN {
            let mut buffer = around.buffer.borrow_mut();
            let mut read = ReadBuf::new(&mut buffer);
            let polled = if self.early.is_empty() {
                Pin::new(&mut self.stream).poll_read(cx, &mut read)
            } else {
                let count = self.early.len().min(read.remaining());
                read.put_slice(&self.early[..count]);
                self.early.drain(..count);
                Poll::Ready(Ok(()))
            };
            match polled {
                Poll::Pending => {
                    if let Some(error) = failed_write {
                        let failure = write_failure(&error);
                        *sample = FailureSample::System(error);
                        return Poll::Ready(Err(failure));
                    }
                    around.slot.waits(cx);
                    return Poll::Pending;
                }
                Poll::Ready(Err(error)) => {
                    let failure = net::tls_broken(&error).map_or(Failure::RecvReset, |broken| broken.failure);
                    *sample = FailureSample::System(error);
                    return Poll::Ready(Err(failure));
                }
                Poll::Ready(Ok(())) => {
                    let now = around.clock.now();
                    if now >= around.slot.deadline() {
                        around.slot.expire(now);
                        return Poll::Ready(Err(self.timeout_of(exchange)));
                    }
                    let bytes = read.filled();
                    if bytes.is_empty() {
                        if act == Act::Close {
                            return Poll::Ready(Ok(ANSWER));
                        }
                        let has_begun = exchange.first_byte.is_some();
                        return Poll::Ready(Err(if has_begun { Failure::RecvEofInBody } else { Failure::RecvEofBeforeResponse }));
                    }
                    exchange.received += bytes.len() as u64;
                    exchange.last_byte = now;
                    let sink = answers.sink();
                    sink.read_at(now);
                    sink.received(bytes);
                    let mut is_answered = false;
                    let taken = self.take(bytes, (memory, now), |heard| {
                        let Heard::Piece(piece, ends) = heard else {
                            is_answered |= act == Act::Ping;
                            return true;
                        };
                        if is_answered || !matches!(act, Act::Exchange | Act::Ask | Act::Hear | Act::Listen) {
                            return false;
                        }
                        if exchange.first_byte.is_none() {
                            exchange.first_byte = Some(now);
                            if sink.wants_head() {
                                sink.head(STATUS, &[]);
                            }
                        }
                        sink.body(piece);
                        is_answered = ends && sink.is_answer();
                        if ends && !is_answered && act != Act::Listen {
                            exchange.first_byte = None;
                        }
                        is_answered || !ends || act == Act::Listen
                    });
                    drop(buffer);
                    if let Err(ended) = taken {
                        is_answered |= act == Act::Close && matches!(ended, Ended::Closed(..));
                        let failure = self.ended(cx, ended, memory, sample);
                        if !is_answered {
                            return Poll::Ready(Err(failure));
                        }
                        *sample = FailureSample::Nothing;
                    }
                    // Pongs; whether they could be written shows soon enough.
                    let _ = self.poll_write(cx, &mut exchange.written);
                    if is_answered {
                        return Poll::Ready(Ok(ANSWER));
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
    pub(crate) fn end(&mut self, act: Act, result: Result<Answer, Failure>, at: Nanos) -> Result<(), Closer> {
        match result {
            Ok(_) if act == Act::Close => Err(Closer::Us),
            // Its time is over, which is how it is to end.
            Err(failure) if act == Act::Listen && failure.is_timeout() => Ok(()),
            Ok(_) => {
                self.served = self.served.saturating_add(1);
                self.idle_since = at;
                if self.is_closing { Err(Closer::Server) } else { Ok(()) }
            }
            Err(
                Failure::WebSocketClosed
                | Failure::RecvReset
                | Failure::RecvEofBeforeResponse
                | Failure::RecvEofInBody
                | Failure::SendReset
                | Failure::SendClosed,
            ) => Err(Closer::Server),
            // Whose answer comes too late would be taken for that of the next.
            Err(_) => Err(Closer::Us),
        }
    }

    /// What it had been through when the exchange began.
    pub(crate) fn past(&self) -> Past {
        Past { served: self.served, idle_since: self.idle_since }
    }

    /// Watches it without an exchange: ready when it cannot be used any more.
    pub(crate) fn poll_idle<C: Clock>(
        &mut self,
        cx: &mut Context<'_>,
        (buffer, clock): (&RefCell<Box<[u8]>>, &C),
        memory: &Memory,
    ) -> Poll<Quirks> {
        let early = std::mem::take(&mut self.early);
        let mut taken = self.take(&early, (memory, clock.now()), |_| false);
        let mut buffer = buffer.borrow_mut();
        loop {
            if let Err(ended) = taken {
                self.ended(cx, ended, memory, &mut FailureSample::Nothing);
                return Poll::Ready(Quirks::NONE);
            }
            if self.poll_write(cx, &mut 0).is_err() {
                return Poll::Ready(Quirks::NONE);
            }
            let mut read = ReadBuf::new(&mut buffer);
            match Pin::new(&mut self.stream).poll_read(cx, &mut read) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(())) if !read.filled().is_empty() => taken = self.take(read.filled(), (memory, clock.now()), |_| false),
                Poll::Ready(_) => return Poll::Ready(Quirks::NONE),
            }
        }
    }

    /// Looks at what carries it.
    pub(crate) fn look<R>(&self, at: impl FnOnce(&S) -> R) -> R {
        at(&self.stream)
    }

    /// Says goodbye, as far as that can be done without waiting.
    pub(crate) fn close(&mut self, memory: &Memory) {
        if !self.is_closing {
            self.is_closing = true;
            frame::write_close(&mut self.out, Some(1000), memory.mask());
            self.is_flushed = false;
            let _ = self.poll_write(&mut Context::from_waker(Waker::noop()), &mut 0);
        }
    }

    /// Puts what an act says into `out`.
    fn begin_act(&mut self, act: Act, body: &[u8], memory: &Memory) {
        let opcode = match act {
            Act::Open | Act::Hear | Act::Listen => return,
            Act::Exchange | Act::Ask | Act::Tell if std::str::from_utf8(body).is_ok() => Opcode::Text,
            Act::Exchange | Act::Ask | Act::Tell => Opcode::Binary,
            Act::Ping => Opcode::Ping,
            Act::Close => {
                self.is_closing = true;
                Opcode::Close
            }
        };
        self.is_flushed = false;
        if self.deflates && matches!(opcode, Opcode::Text | Opcode::Binary) {
            let mut packed = Vec::new();
            memory.deflate.pack(body, &mut packed);
            frame::write_with(&mut self.out, frame::PACKED | opcode as u8, &packed, memory.mask());
        } else {
            frame::write(&mut self.out, opcode, body, memory.mask());
        }
    }

    /// Takes a piece of a packed message, and shows the whole when it is there.
    #[cold]
    fn take_packed(
        &mut self,
        piece: &[u8],
        ends: bool,
        memory: &Memory,
        mut wanted: impl FnMut(Heard<'_>) -> bool,
    ) -> Result<bool, Violation> {
        if self.packed.len() + piece.len() > PACKED_BYTES_MAX {
            return Err(TOO_LARGE);
        }
        self.packed.extend_from_slice(piece);
        if !ends {
            return Ok(true);
        }
        let packed = std::mem::take(&mut self.packed);
        let mut text = self.reader.text();
        memory.deflate.unpack(&packed, |piece| {
            text.take(piece)?;
            wanted(Heard::Piece(piece, false));
            Ok(())
        })?;
        text.end()?;
        Ok(wanted(Heard::Piece(&[], true)))
    }

    /// Takes bytes that were read at that time. `wanted` sees what is no question of the server's; it says whether a piece is what somebody waits for.
    fn take(&mut self, bytes: &[u8], (memory, now): (&Memory, Nanos), mut wanted: impl FnMut(Heard<'_>) -> bool) -> Result<(), Ended> {
        let mut rest = bytes;
        loop {
            match self.reader.next(&mut rest).map_err(Ended::Violated)? {
                Event::More => return Ok(()),
                Event::Message { piece, ends } => {
                    let is_wanted = if self.skips {
                        self.packed.clear();
                        false
                    } else if self.reader.is_packed() {
                        self.take_packed(piece, ends, memory, &mut wanted).map_err(Ended::Violated)?
                    } else {
                        wanted(Heard::Piece(piece, ends))
                    };
                    if ends {
                        self.skips = false;
                        if let Some(before) = self.message_at.replace(now) {
                            memory.count(|came| came.between_messages.record(now.since(before)));
                        }
                        if !is_wanted {
                            memory.count(|came| came.unasked.messages += 1);
                        }
                    }
                }
                Event::Ping(payload) => {
                    memory.count(|came| came.unasked.pings += 1);
                    frame::write(&mut self.out, Opcode::Pong, &payload, memory.mask());
                    self.is_flushed = false;
                }
                Event::Pong => _ = wanted(Heard::Pong),
                Event::Close(code, reason) => return Err(Ended::Closed(code, reason)),
            }
        }
    }

    /// What it means that nothing more comes; the server is told.
    fn ended(&mut self, cx: &mut Context<'_>, ended: Ended, memory: &Memory, sample: &mut FailureSample) -> Failure {
        let (failure, text, code) = match ended {
            Ended::Closed(code, reason) => {
                if !self.is_closing {
                    memory.count(|came| *came.unasked.closes.entry(code.unwrap_or(NO_CODE)).or_default() += 1);
                }
                let said = code.map_or_else(|| "without a code".to_owned(), |code| format!("code {code}"));
                (Failure::WebSocketClosed, if reason.is_empty() { said } else { format!("{said}: {reason}") }, code)
            }
            Ended::Violated(Violation { what, code }) => (Failure::WebSocketProtocol, what.to_owned(), Some(code)),
        };
        *sample = FailureSample::System(io::Error::other(text));
        if !self.is_closing {
            self.is_closing = true;
            frame::write_close(&mut self.out, code, memory.mask());
            self.is_flushed = false;
            let _ = self.poll_write(cx, &mut 0);
        }
        failure
    }

    /// Writes what can be written.
    fn poll_write(&mut self, cx: &mut Context<'_>, count: &mut usize) -> io::Result<()> {
        while self.written < self.out.len() {
            match Pin::new(&mut self.stream).poll_write(cx, &self.out[self.written..]) {
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(written)) => {
                    self.written += written;
                    *count += written;
                }
                Poll::Ready(Err(error)) => return Err(error),
                Poll::Pending => return Ok(()),
            }
        }
        if self.out.capacity() > OUT_BYTES_KEPT {
            self.out = Vec::new();
        } else {
            self.out.clear();
        }
        self.written = 0;
        if !self.is_flushed {
            match Pin::new(&mut self.stream).poll_flush(cx) {
                Poll::Ready(flushed) => {
                    flushed?;
                    self.is_flushed = true;
                }
                Poll::Pending => {}
            }
        }
        Ok(())
    }

    /// What is said of an exchange whose time is over.
    fn timeout_of<T>(&self, exchange: &Exchange<T>) -> Failure {
        match exchange.first_byte {
            _ if !self.out.is_empty() => Failure::SendTimeout,
            None => Failure::RecvIdleTimeout,
            Some(_) => Failure::RecvTotalTimeout,
        }
    }
}

/// What stands for a close without a code (RFC 6455 §7.4.1).
const NO_CODE: u16 = 1005;
