//! A place on a connection that speaks HTTP/2, and the connection that carries it.
//!
//! A socket wakes one task, so one has to read for all: each connection has a task of its own, which writes what its places have
//! put into the buffer since, in one write, reads, and wakes those whose answers have come. The alternative, in which whoever is polled
//! reads for the others, wakes all places for each answer, or hands the reading over with each.
//!
//! Invariant: the task ends with the last place, or when the connection is broken; until then somebody reads, however idle all are.

use std::cell::{Cell, RefCell};
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use measure::{Closer, Failure, Quirk, Quirks};
use plan::{Nanos, Plan, Target};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::Windows;
use super::session::{Kind, Session};
use super::written::WrittenHead;
use crate::clock::Clock;
use crate::net;
use crate::protocol::pool::{Carrier, Pool, Room, Shares};
use crate::protocol::view::{example, sample_is_wanted, show_head, told, unframed};
use crate::protocol::{
    Answer, Answers, EncodedRef, Exchange, FailureSample, Past, READ_BUFFER_BYTES, READS_A_TURN, ResponseSink as _, Said, Surroundings,
    write_failure,
};

/// How answers begin that are shown.
const HTTP2: &str = "HTTP/2";

/// The connections of a worker, and what they share.
pub(crate) struct Connections<S> {
    pub(super) pool: Pool<Connection<S>>,
    buffer: Rc<RefCell<Vec<u8>>>,
    /// The head that was written last.
    written: RefCell<WrittenHead>,
    target: Target,
    windows: Windows,
    /// Whether some answer said that the server speaks HTTP/3 too.
    pub(in crate::protocol) offers_http3: Rc<Cell<bool>>,
}

impl<S> Connections<S> {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self {
            pool: Pool::new(plan.connection().streams),
            buffer: Rc::default(),
            written: RefCell::default(),
            target: plan.target().clone(),
            offers_http3: Rc::default(),
            windows: Windows::new(plan.connection().stream_window, plan.connection().connection_window),
        }
    }

    /// A connection to there was opened, or could not be.
    pub(crate) fn opened(&self, to: Option<&Target>) {
        self.pool.opened(to);
    }
}

/// A connection, as all of its places have it.
pub(super) struct Connection<S> {
    stream: RefCell<S>,
    session: RefCell<Session>,
    shares: Shares,
    /// Whether its exchanges are calls of gRPC.
    is_of_calls: bool,
    /// The task that reads and writes; `None` before it began.
    task: RefCell<Option<Waker>>,
    has_task: Cell<bool>,
    is_closing: Cell<bool>,
    offers_http3: Rc<Cell<bool>>,
    buffer: Rc<RefCell<Vec<u8>>>,
}

impl<S> Carrier for Connection<S> {
    fn shares(&self) -> &Shares {
        &self.shares
    }

    fn room(&self) -> Room {
        let session = self.session.borrow();
        if session.is_over() || self.shares.is_counted() {
            Room::Over
        } else if session.has_settings() {
            Room::Places(session.streams_max())
        } else {
            Room::Untold
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + 'static> Connection<S> {
    /// Something is to be written.
    fn wake(&self) {
        if let Some(task) = &*self.task.borrow() {
            task.wake_by_ref();
        }
    }

    fn begin_task<C: Clock>(self: &Rc<Self>, clock: &C) {
        if !self.has_task.replace(true) {
            let (connection, clock) = (self.clone(), clock.clone());
            tokio::task::spawn_local(async move {
                std::future::poll_fn(|cx| connection.poll(cx, &clock)).await;
                // Nobody is left who could wait for it in vain.
                connection.session.borrow_mut().breaks(Failure::RecvEofBeforeResponse, "closed");
                connection.shares.waiting.wake_all();
            });
        }
    }

    /// Writes and reads what can be; ready when nothing comes any more, or nobody is left.
    fn poll<C: Clock>(&self, cx: &mut Context<'_>, clock: &C) -> Poll<()> {
        let mut session = self.session.borrow_mut();
        let mut stream = self.stream.borrow_mut();
        let mut task = self.task.borrow_mut();
        if !task.as_ref().is_some_and(|task| task.will_wake(cx.waker())) {
            *task = Some(cx.waker().clone());
        }
        let mut buffer = self.buffer.borrow_mut();
        if buffer.is_empty() {
            buffer.resize(READ_BUFFER_BYTES, 0);
        }
        for _ in 0..READS_A_TURN {
            if session.can_write() {
                write(&mut session, &mut *stream, cx);
            }
            if self.is_closing.get() {
                // Whether our farewell can be written or not.
                let _ = Pin::new(&mut *stream).poll_shutdown(cx);
                return Poll::Ready(());
            }
            if session.is_broken() {
                return Poll::Ready(());
            }
            let mut read = ReadBuf::new(&mut buffer);
            match Pin::new(&mut *stream).poll_read(cx, &mut read) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(())) if !read.filled().is_empty() => {
                    let had_settings = session.has_settings();
                    session.read(read.filled(), clock.now());
                    if !had_settings && session.has_settings() {
                        self.shares.waiting.wake_all();
                    }
                }
                Poll::Ready(Ok(())) => session.breaks(Failure::RecvEofBeforeResponse, ""),
                Poll::Ready(Err(error)) => {
                    let failure = match net::tls_broken(&error) {
                        Some(broken) => broken.failure,
                        None if error.kind() == io::ErrorKind::UnexpectedEof => Failure::RecvEofBeforeResponse,
                        None => Failure::RecvReset,
                    };
                    session.breaks(failure, &error.to_string());
                }
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

fn write<S: AsyncWrite + Unpin>(session: &mut Session, stream: &mut S, cx: &mut Context<'_>) {
    let mut written = 0;
    while written < session.out.len() {
        match Pin::new(&mut *stream).poll_write(cx, &session.out[written..]) {
            Poll::Ready(Ok(0)) => return session.cannot_write(Failure::SendClosed),
            Poll::Ready(Ok(count)) => written += count,
            Poll::Ready(Err(error)) => return session.cannot_write(write_failure(&error)),
            Poll::Pending => break,
        }
    }
    if written > 0 {
        session.wrote(written);
    }
    // TLS keeps what it could not write.
    if let Poll::Ready(Err(error)) = Pin::new(stream).poll_flush(cx) {
        session.cannot_write(write_failure(&error));
    }
}

/// A place on a connection: it carries one exchange at a time.
pub(crate) struct Place<S: AsyncRead + AsyncWrite + Unpin + 'static> {
    connection: Rc<Connection<S>>,
    seat: u32,
    past: Past,
    /// Whether its exchange has begun.
    is_begun: bool,
    /// The body without its chunks, if it comes in some.
    unframed: Option<Vec<u8>>,
    /// How much of the body was handed over to be sent.
    body_sent: usize,
    /// Whether the body waits for the server's word.
    withholds: bool,
    is_held: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin + 'static> Place<S> {
    fn on(connection: Rc<Connection<S>>) -> Self {
        connection.shares.take();
        let seat = connection.session.borrow_mut().sit();
        let past = Past { served: 0, idle_since: Nanos::ZERO };
        Self { connection, seat, past, is_begun: false, unframed: None, body_sent: 0, withholds: false, is_held: true }
    }

    /// The first place on a connection that was opened.
    pub(crate) fn open(stream: S, memory: &Connections<S>, to: Option<&Target>) -> Self {
        let connection = Rc::new(Connection {
            stream: RefCell::new(stream),
            session: RefCell::new(Session::new(memory.windows)),
            shares: memory.pool.shares(to),
            is_of_calls: to.unwrap_or(&memory.target).scheme().is_grpc(),
            task: RefCell::default(),
            has_task: Cell::new(false),
            is_closing: Cell::new(false),
            offers_http3: memory.offers_http3.clone(),
            buffer: memory.buffer.clone(),
        });
        memory.pool.add(&connection);
        let place = Self::on(connection);
        memory.opened(to);
        place
    }

    /// A free place on a connection that is open; `None` if one has to be opened.
    pub(crate) fn poll_free(cx: &mut Context<'_>, memory: &Connections<S>, to: Option<&Target>) -> Poll<Option<Self>> {
        memory.pool.poll_free(cx, to).map(|free| free.map(Self::on))
    }

    /// An exchange begins.
    #[inline(never)]
    pub(crate) fn begin(&mut self) {
        let (served, idle_since) = self.connection.session.borrow().past();
        self.past = Past { served, idle_since };
        (self.is_begun, self.unframed, self.body_sent) = (false, None, 0);
    }

    /// The body as it is sent.
    fn body<'a>(&'a self, request: EncodedRef<'a>) -> &'a [u8] {
        self.unframed.as_deref().unwrap_or_else(|| request.body())
    }

    /// Writes the head, if the server takes another stream now.
    fn begins(
        &mut self,
        cx: &Context<'_>,
        request: EncodedRef<'_>,
        exchange: &mut Exchange<impl Sized>,
        memory: &Connections<S>,
        looks: bool,
    ) -> bool {
        let mut written = memory.written.borrow_mut();
        written.write(request, self.connection.shares.to().unwrap_or(&memory.target));
        if written.is_chunked && self.unframed.is_none() {
            self.unframed = Some(unframed(request.body()));
        }
        let mut session = self.connection.session.borrow_mut();
        let kind = Kind {
            has_body: !self.body(request).is_empty(),
            is_head: request.layout().is_head(),
            looks,
            is_call: self.connection.is_of_calls,
        };
        let Some(bytes) = session.begin(self.seat, &written, kind, cx) else { return false };
        exchange.written += bytes;
        self.is_begun = true;
        true
    }

    /// Drives the exchange.
    #[inline(never)]
    pub(crate) fn poll_exchange<C: Clock, M, A: Answers>(
        &mut self,
        cx: &mut Context<'_>,
        request: EncodedRef<'_>,
        exchange: &mut Exchange<impl Sized>,
        (around, memory): (&Surroundings<'_, C, M>, &Connections<S>),
        answers: &mut A,
        sample: &mut FailureSample,
    ) -> Poll<Result<Answer, Failure>> {
        if let Some(failure) = around.slot.failure(|| self.timeout(request, exchange)) {
            return Poll::Ready(Err(failure));
        }
        around.slot.waits(cx);
        self.connection.begin_task(around.clock);
        if !self.is_begun {
            if self.connection.session.borrow().is_over() {
                let (failure, words) = self.connection.session.borrow().refusal();
                *sample = told(around.buffer, words.as_bytes());
                return Poll::Ready(Err(failure));
            }
            if !self.begins(cx, request, exchange, memory, answers.sink().wants_head()) {
                return Poll::Pending;
            }
            self.connection.wake();
        }
        let mut session = self.connection.session.borrow_mut();
        session.waits(self.seat, cx);
        let rest = if self.withholds { &[] } else { &self.body(request)[self.body_sent..] };
        if !rest.is_empty() && session.seat(self.seat).ended.is_none() {
            let (sent, bytes) = session.send_body(self.seat, rest);
            self.body_sent += sent;
            exchange.written += bytes;
            if sent > 0 {
                self.connection.wake();
            }
        }
        let seat = session.seat(self.seat);
        exchange.received = seat.received;
        if seat.status == 0 && seat.ended.is_none() {
            return Poll::Pending;
        }
        if seat.received > 0 {
            exchange.last_byte = seat.last_byte;
        }
        if exchange.last_byte >= around.slot.deadline() {
            // The warden has not looked yet: what comes too late is late all the same.
            around.slot.expire(exchange.last_byte);
            drop(session);
            return Poll::Ready(Err(self.timeout(request, exchange)));
        }
        if seat.status != 0 {
            if exchange.first_byte.is_none() {
                exchange.first_byte = Some(seat.first_byte);
                if answers.sink().wants_head() {
                    show_head(HTTP2, seat.status, &seat.fields, answers.sink());
                }
            }
            if answers.sink().wants_head() && !seat.body.is_empty() {
                answers.sink().read_at(exchange.last_byte);
                answers.sink().received(&seat.body);
                answers.sink().body(&seat.body);
                if sample_is_wanted(seat.status, sample) {
                    *sample = example(around.buffer, HTTP2, seat.status, &seat.body);
                }
                session.looked_at(self.seat);
                if !session.is_flushed() {
                    self.connection.wake();
                }
            }
        }
        let seat = session.seat(self.seat);
        match seat.ended {
            None => Poll::Pending,
            Some(Ok(())) => {
                if sample_is_wanted(seat.status, sample) {
                    *sample = example(around.buffer, HTTP2, seat.status, &seat.body);
                }
                let mut quirks = Quirks::NONE;
                if seat.interims > 0 {
                    quirks.insert(Quirk::Interim);
                }
                Poll::Ready(Ok(Answer { status: seat.status, quirks }))
            }
            Some(Err(failure)) => {
                *sample = told(around.buffer, seat.words.as_bytes());
                Poll::Ready(Err(failure))
            }
        }
    }

    /// What is said of an exchange when its time is over.
    fn timeout(&self, request: EncodedRef<'_>, exchange: &Exchange<impl Sized>) -> Failure {
        let mut session = self.connection.session.borrow_mut();
        // Frames that say how much may be sent are nothing of an answer.
        if self.is_begun && (exchange.first_byte.is_some() || session.seat(self.seat).interims > 0) {
            Failure::RecvTotalTimeout
        } else if !self.is_begun || !self.withholds && self.body_sent < self.body(request).len() || !session.is_written(self.seat) {
            Failure::SendTimeout
        } else {
            Failure::RecvIdleTimeout
        }
    }

    /// Whether the body of the exchange under way waits for the server's word.
    pub(crate) fn withhold_body(&mut self, withholds: bool) {
        self.withholds = withholds;
    }

    /// What the server has said so far.
    pub(crate) fn said(&self) -> Said {
        let mut session = self.connection.session.borrow_mut();
        let seat = session.seat(self.seat);
        Said { interims: seat.interims, continues: seat.continues, is_final: seat.status != 0 }
    }

    /// The exchange has ended.
    ///
    /// # Errors
    /// Who ended the connection, if the place carries no other.
    #[inline(never)]
    pub(crate) fn end(&mut self, request: EncodedRef<'_>, at: Nanos) -> Result<(), Closer> {
        let mut session = self.connection.session.borrow_mut();
        if self.is_begun && self.body_sent < self.body(request).len() && session.seat(self.seat).is_answered() {
            session.stop_sending(self.seat);
        }
        session.end(self.seat, at);
        if session.offers_http3 {
            self.connection.offers_http3.set(true);
        }
        if !session.is_flushed() {
            self.connection.wake();
        }
        match (session.is_over(), session.is_ended_by_server()) {
            (false, _) => Ok(()),
            (true, true) => Err(Closer::Server),
            (true, false) => Err(Closer::Us),
        }
    }

    pub(crate) fn past(&self) -> Past {
        self.past
    }

    /// Watches a place without an exchange: ready when it cannot be used any more.
    pub(crate) fn poll_idle<C: Clock>(&mut self, cx: &mut Context<'_>, clock: &C) -> Poll<Quirks> {
        self.connection.begin_task(clock);
        let mut session = self.connection.session.borrow_mut();
        session.waits(self.seat, cx);
        if session.is_over() { Poll::Ready(Quirks::NONE) } else { Poll::Pending }
    }

    pub(crate) fn look<R>(&self, at: impl FnOnce(&S) -> R) -> R {
        at(&self.connection.stream.borrow())
    }

    /// Gives the place up, as far as is counted; whether its connection is closed with it.
    pub(crate) fn release(&mut self) -> bool {
        let connection = &self.connection;
        connection.shares.release(&mut self.is_held, connection.session.borrow().is_broken())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + 'static> Drop for Place<S> {
    fn drop(&mut self) {
        let connection = &self.connection;
        let is_last = connection.shares.leave();
        let mut session = connection.session.borrow_mut();
        session.leave(self.seat);
        if is_last {
            session.close();
            connection.is_closing.set(true);
        }
        drop(session);
        connection.wake();
        // Whoever waits for a place may have this one.
        connection.shares.waiting.wake_all();
    }
}
