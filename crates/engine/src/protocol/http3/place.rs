//! A place on a connection that speaks HTTP/3, and the connection that carries it.
//!
//! QUIC hands each stream's bytes to whoever reads it, so a place reads its own answers, as one of HTTP/1.1 does. What a server says of all of
//! them comes on streams of its own: a task of the connection reads those, and wakes the places when the connection ends.
//!
//! Invariant: the task ends with the connection, and the connection with its last place.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use measure::{Closer, Failure, Quirk, Quirks};
use plan::{Nanos, Plan, Target};
use quinn::{ConnectionError, ReadError, RecvStream, SendStream, VarInt, WriteError};

use super::HTTP3;
use super::control::OneWay;
use super::frame::{Breach, Code, kind, write_frame_head};
use super::qpack::WrittenHead;
use super::reply::{KnownHead, Reply, Wrong};
use crate::clock::Clock;
use crate::net::Quic;
use crate::protocol::pool::{Carrier, Pool, Room, Shares};
use crate::protocol::view::{example, sample_is_wanted, told, unframed};
use crate::protocol::{Answer, Answers, EncodedRef, Exchange, FailureSample, Past, READS_A_TURN, ResponseSink as _, Said, Surroundings};

/// A body up to so many bytes is handed over together with its head.
const BODY_BYTES_WITH_HEAD: usize = 4096;

/// The connections of a worker, and what they share.
pub(crate) struct Connections<S> {
    pub(super) pool: Pool<Connection<S>>,
    /// The head that was written last.
    written: RefCell<WrittenHead>,
    known: RefCell<KnownHead>,
    target: Target,
}

impl<S> Connections<S> {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self {
            pool: Pool::new(plan.connection().streams),
            written: RefCell::default(),
            known: RefCell::default(),
            target: plan.target().clone(),
        }
    }

    /// A connection to there was opened, or could not be.
    pub(crate) fn opened(&self, to: Option<&Target>) {
        self.pool.opened(to);
    }
}

/// How a connection ended: a class of failure, and words.
type Ended = (Failure, String);

/// A connection, as all of its places have it.
pub(super) struct Connection<S> {
    stream: S,
    quic: quinn::Connection,
    shares: Shares,
    has_task: Cell<bool>,
    /// How many exchanges are under way, and were at most.
    under_way: Cell<u32>,
    peak: Cell<u32>,
    /// Whether the server took no more than the most there were.
    is_full: Cell<bool>,
    served: Cell<u32>,
    idle_since: Cell<Nanos>,
    /// The first stream that the server does not take up.
    goes_away: Cell<Option<u64>>,
    ended: RefCell<Option<Ended>>,
    /// Whom to wake when it ends, by places.
    seats: RefCell<Vec<Option<Waker>>>,
    vacant: RefCell<Vec<u32>>,
}

impl<S> Carrier for Connection<S> {
    fn shares(&self) -> &Shares {
        &self.shares
    }

    fn room(&self) -> Room {
        if self.is_over() || self.shares.is_counted() {
            Room::Over
        } else {
            Room::Places(if self.is_full.get() { self.peak.get() } else { u32::MAX })
        }
    }
}

impl<S> Connection<S> {
    /// Whether no exchange can begin any more.
    fn is_over(&self) -> bool {
        self.goes_away.get().is_some() || self.ended.borrow().is_some()
    }

    fn is_ended_by_server(&self) -> bool {
        let ended = self.ended.borrow();
        ended.as_ref().map_or(self.goes_away.get().is_some(), |(failure, _)| *failure != Failure::Http3Protocol)
    }

    /// It has ended: all places are told.
    fn ends(&self, how: Ended) {
        self.ended.borrow_mut().get_or_insert(how);
        self.wake_all();
    }

    fn wake_all(&self) {
        self.seats.borrow().iter().flatten().for_each(Waker::wake_by_ref);
        self.shares.waiting.wake_all();
    }

    /// The server broke a rule of the connection: we end it.
    fn breaks(&self, Breach(code, words): Breach) {
        if self.ended.borrow().is_none() {
            self.quic.close(varint(code), words.as_bytes());
            self.ends((Failure::Http3Protocol, format!("{words} ({})", code.name())));
        }
    }

    /// What an exchange that wants to begin on a connection that is over fails with.
    fn refusal(&self) -> Ended {
        match &*self.ended.borrow() {
            Some((failure @ Failure::Http3Protocol, words)) => (*failure, words.clone()),
            _ => (Failure::Http3Refused, "the server ended the connection".to_owned()),
        }
    }

    fn sit(&self) -> u32 {
        self.vacant.borrow_mut().pop().unwrap_or_else(|| {
            let mut seats = self.seats.borrow_mut();
            seats.push(None);
            (seats.len() - 1) as u32
        })
    }
}

impl<S: 'static> Connection<S> {
    fn begin_task(self: &Rc<Self>) {
        if !self.has_task.replace(true) {
            tokio::task::spawn_local(watch(self.clone()));
        }
    }
}

/// Says what we have to say of a connection, and reads what the server says, until it ends.
async fn watch<S: 'static>(connection: Rc<Connection<S>>) {
    let quic = connection.quic.clone();
    let says = async {
        let mut control = quic.open_uni().await?;
        // Of settings there are none: each has a value by itself that is meant.
        let mut begin = vec![super::frame::stream::CONTROL as u8];
        write_frame_head(&mut begin, kind::SETTINGS, 0);
        let _ = control.write_all(&begin).await;
        // It stays open for as long as the connection does.
        quic.closed().await;
        drop(control);
        Ok::<_, ConnectionError>(())
    };
    let hears = async {
        let has_control = Rc::new(Cell::new(false));
        loop {
            match quic.accept_uni().await {
                Ok(stream) => {
                    tokio::task::spawn_local(listen(connection.clone(), stream, has_control.clone()));
                }
                Err(error) => return error,
            }
        }
    };
    let (_, error) = tokio::join!(says, hears);
    connection.ends(lost(&error));
}

/// Reads a stream that the server opened, to its end.
async fn listen<S>(connection: Rc<Connection<S>>, mut stream: RecvStream, has_control: Rc<Cell<bool>>) {
    let mut one_way = OneWay::new();
    let mut buffer = [0; 512];
    loop {
        let was_control = one_way.is_control();
        let taken = match stream.read(&mut buffer).await {
            Ok(Some(count)) => one_way.take(&buffer[..count]),
            Ok(None) | Err(ReadError::Reset(_)) => return one_way.end().unwrap_or_else(|breach| connection.breaks(breach)),
            Err(_) => return,
        };
        if let Err(breach) = taken {
            return connection.breaks(breach);
        }
        if one_way.is_control() && !was_control && has_control.replace(true) {
            return connection.breaks(Breach(Code::STREAM_CREATION_ERROR, "a second control stream"));
        }
        if one_way.is_unknown() {
            let _ = stream.stop(varint(Code::STREAM_CREATION_ERROR));
            return;
        }
        if let OneWay::Control(control) = &one_way
            && control.goes_away != connection.goes_away.get()
        {
            connection.goes_away.set(control.goes_away);
            connection.wake_all();
        }
    }
}

fn varint(code: Code) -> VarInt {
    VarInt::from_u64(code.0).unwrap_or_default()
}

/// The class of a connection that ended so, and words.
fn lost(error: &ConnectionError) -> Ended {
    match error {
        ConnectionError::ApplicationClosed(close) => {
            let code = Code(close.error_code.into_inner());
            let reason = String::from_utf8_lossy(&close.reason);
            let words = format!("closed by the server: {}{}{reason}", code.name(), if reason.is_empty() { "" } else { ": " });
            (if code == Code::NO_ERROR { Failure::RecvEofBeforeResponse } else { Failure::Http3Closed }, words)
        }
        ConnectionError::ConnectionClosed(close) => {
            let is_ordinary = u64::from(close.error_code) == 0;
            (if is_ordinary { Failure::RecvEofBeforeResponse } else { Failure::Http3Closed }, format!("closed by the server: {close}"))
        }
        ConnectionError::TimedOut => (Failure::Http3Silent, "nothing came for as long as the connection may be idle".to_owned()),
        ConnectionError::Reset => (Failure::RecvReset, "the server does not know the connection any more".to_owned()),
        error => (Failure::Http3Protocol, error.to_string()),
    }
}

type Pair = (SendStream, RecvStream);

/// The stream of an exchange.
enum Stream {
    None,
    /// The server takes no more at present.
    Opening(Pin<Box<dyn Future<Output = Result<Pair, ConnectionError>>>>),
    Open {
        send: SendStream,
        recv: RecvStream,
        /// Whether all was handed over that is sent.
        is_sent: bool,
        is_over: bool,
    },
}

/// A place on a connection: it carries one exchange at a time.
pub(crate) struct Place<S> {
    connection: Rc<Connection<S>>,
    seat: u32,
    past: Past,
    stream: Stream,
    reply: Reply,
    is_answered: bool,
    /// What is sent before the body, or with it.
    out: Vec<u8>,
    /// Where the head in it ends.
    head_end: usize,
    out_sent: usize,
    /// The body without its chunks, if it comes in some.
    unframed: Option<Vec<u8>>,
    /// How much of the body was handed over to be sent, or stands in what is sent before it.
    body_sent: usize,
    /// Whether the body waits for the server's word.
    withholds: bool,
    is_held: bool,
}

impl<S> Place<S> {
    /// Gives the stream of its exchange up, if there is one, and tells the server.
    fn leave_stream(&mut self) {
        if let Stream::Open { .. } = self.stream {
            self.connection.under_way.set(self.connection.under_way.get() - 1);
        }
        self.abandon(Code::REQUEST_CANCELLED);
        self.stream = Stream::None;
    }

    /// Tells the server that nothing more of an exchange is wanted or sent.
    fn abandon(&mut self, code: Code) {
        let Stream::Open { send, recv, is_sent, is_over } = &mut self.stream else { return };
        if !std::mem::replace(is_sent, true) {
            let _ = send.reset(varint(code));
        }
        if !std::mem::replace(is_over, true) {
            let _ = recv.stop(varint(code));
        }
    }
}

impl<S: 'static> Place<S> {
    fn on(connection: Rc<Connection<S>>) -> Self {
        connection.shares.take();
        let seat = connection.sit();
        Self {
            connection,
            seat,
            past: Past { served: 0, idle_since: Nanos::ZERO },
            stream: Stream::None,
            reply: Reply::default(),
            is_answered: false,
            out: Vec::new(),
            head_end: 0,
            out_sent: 0,
            unframed: None,
            body_sent: 0,
            withholds: false,
            is_held: true,
        }
    }

    /// The first place on a connection that was opened.
    pub(crate) fn open(stream: S, quic: &Quic, memory: &Connections<S>, to: Option<&Target>) -> Self {
        let connection = Rc::new(Connection {
            stream,
            quic: quic.connection().clone(),
            shares: memory.pool.shares(to),
            has_task: Cell::new(false),
            under_way: Cell::new(0),
            peak: Cell::new(0),
            is_full: Cell::new(false),
            served: Cell::new(0),
            idle_since: Cell::new(Nanos::ZERO),
            goes_away: Cell::new(None),
            ended: RefCell::default(),
            seats: RefCell::default(),
            vacant: RefCell::default(),
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
        self.past = Past { served: self.connection.served.get(), idle_since: self.connection.idle_since.get() };
        (self.unframed, self.body_sent, self.out_sent, self.head_end, self.is_answered) = (None, 0, 0, 0, false);
        self.out.clear();
    }

    /// Makes what is sent.
    fn write(&mut self, request: EncodedRef<'_>, memory: &Connections<S>) {
        let mut written = memory.written.borrow_mut();
        written.write(request, self.connection.shares.to().unwrap_or(&memory.target));
        if written.is_chunked {
            self.unframed = Some(unframed(request.body()));
        }
        write_frame_head(&mut self.out, kind::HEADERS, written.block.len());
        self.out.extend_from_slice(&written.block);
        self.head_end = self.out.len();
        let body = self.unframed.as_deref().unwrap_or_else(|| request.body());
        if !body.is_empty() {
            write_frame_head(&mut self.out, kind::DATA, body.len());
            if body.len() <= BODY_BYTES_WITH_HEAD {
                self.out.extend_from_slice(body);
                self.body_sent = body.len();
            }
        }
    }

    /// Opens a stream, or waits until the server takes another.
    fn poll_open(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ConnectionError>> {
        let connection = &self.connection;
        let opened = match &mut self.stream {
            Stream::Open { .. } => return Poll::Ready(Ok(())),
            Stream::Opening(opening) => opening.as_mut().poll(cx),
            Stream::None => match std::pin::pin!(connection.quic.open_bi()).poll(cx) {
                Poll::Ready(opened) => Poll::Ready(opened),
                Poll::Pending => {
                    connection.is_full.set(true);
                    connection.shares.waiting.wake_all();
                    let quic = connection.quic.clone();
                    let mut opening: Pin<Box<dyn Future<Output = _>>> = Box::pin(async move { quic.open_bi().await });
                    let polled = opening.as_mut().poll(cx);
                    self.stream = Stream::Opening(opening);
                    polled
                }
            },
        };
        let Poll::Ready(opened) = opened else { return Poll::Pending };
        let (send, recv) = opened?;
        connection.under_way.set(connection.under_way.get() + 1);
        connection.peak.set(connection.peak.get().max(connection.under_way.get()));
        self.stream = Stream::Open { send, recv, is_sent: false, is_over: false };
        Poll::Ready(Ok(()))
    }

    /// Hands over as much of the request as may be sent now. The bytes that were.
    fn poll_send(&mut self, cx: &mut Context<'_>, request: EncodedRef<'_>, written: &mut usize) -> Result<(), WriteError> {
        let Stream::Open { send, is_sent, .. } = &mut self.stream else { return Ok(()) };
        let body = self.unframed.as_deref().unwrap_or_else(|| request.body());
        while !*is_sent {
            let head = &self.out[self.out_sent..if self.withholds { self.head_end } else { self.out.len() }];
            let (piece, is_head) = if head.is_empty() { (&body[self.body_sent..], false) } else { (head, true) };
            if self.withholds && !is_head {
                return Ok(());
            }
            if piece.is_empty() {
                let _ = send.finish();
                *is_sent = true;
                break;
            }
            match Pin::new(&mut *send).poll_write(cx, piece) {
                Poll::Ready(Ok(count)) => {
                    *written += count;
                    *(if is_head { &mut self.out_sent } else { &mut self.body_sent }) += count;
                }
                Poll::Pending => return Ok(()),
                // It wants no more of the request; what it answers may still come.
                Poll::Ready(Err(WriteError::Stopped(_))) => *is_sent = true,
                Poll::Ready(Err(error)) => return Err(error),
            }
        }
        Ok(())
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
        self.connection.begin_task();
        let fails = |(failure, words): Ended, sample: &mut FailureSample| {
            *sample = told(around.buffer, words.as_bytes());
            Poll::Ready(Err(failure))
        };
        if self.out.is_empty() {
            if self.connection.is_over() {
                return fails(self.connection.refusal(), sample);
            }
            self.write(request, memory);
            self.reply.begin(request.layout().is_head(), answers.sink().wants_head());
        }
        self.waits(cx);
        match self.poll_open(cx) {
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(error)) => return fails(self.lost(&error, exchange), sample),
            Poll::Pending if self.connection.is_over() => return fails(self.connection.refusal(), sample),
            Poll::Pending => return Poll::Pending,
        }
        match self.poll_send(cx, request, &mut exchange.written) {
            Ok(()) => {}
            Err(WriteError::ConnectionLost(error)) => return fails(self.lost(&error, exchange), sample),
            Err(error) => return fails((Failure::Http3Reset, error.to_string()), sample),
        }
        let Stream::Open { recv, is_over, .. } = &mut self.stream else { return Poll::Pending };
        if self.connection.goes_away.get().is_some_and(|first| VarInt::from(recv.id()).into_inner() >= first) {
            *is_over = true;
            return fails((Failure::Http3Refused, "GOAWAY".to_owned()), sample);
        }
        for _ in 0..READS_A_TURN {
            let mut buffer = around.buffer.borrow_mut();
            let read = match recv.poll_read(cx, &mut buffer) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(read) => read,
            };
            let judged = match read {
                Ok(0) => {
                    *is_over = true;
                    self.reply.end()
                }
                Ok(count) => {
                    exchange.received += count as u64;
                    exchange.last_byte = around.clock.now();
                    if exchange.last_byte >= around.slot.deadline() {
                        // The warden has not looked yet: what comes too late is late all the same.
                        around.slot.expire(exchange.last_byte);
                        return Poll::Ready(Err(self.timeout(request, exchange)));
                    }
                    answers.sink().read_at(exchange.last_byte);
                    let taken = self.reply.take(&buffer[..count], &mut memory.known.borrow_mut(), answers.sink());
                    if self.reply.status != 0 {
                        exchange.first_byte.get_or_insert(exchange.last_byte);
                    }
                    taken
                }
                Err(ReadError::Reset(code)) => {
                    *is_over = true;
                    drop(buffer);
                    let code = Code(code.into_inner());
                    return fails((code.failure(), code.name()), sample);
                }
                Err(ReadError::ConnectionLost(error)) => {
                    drop(buffer);
                    return fails(self.lost(&error, exchange), sample);
                }
                Err(error) => {
                    drop(buffer);
                    return fails((Failure::Http3Reset, error.to_string()), sample);
                }
            };
            drop(buffer);
            if let Err(wrong) = judged {
                return fails(self.ends_for(wrong), sample);
            }
            if *is_over {
                self.is_answered = true;
                if sample_is_wanted(self.reply.status, sample) {
                    *sample = example(around.buffer, HTTP3, self.reply.status, &self.reply.beginning);
                }
                let mut quirks = Quirks::NONE;
                if self.reply.interims > 0 {
                    quirks.insert(Quirk::Interim);
                }
                return Poll::Ready(Ok(Answer { status: self.reply.status, quirks }));
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// The answer breaks a rule: we end its exchange, or the connection with it.
    fn ends_for(&mut self, Wrong { failure, words, code, ends_all }: Wrong) -> Ended {
        if ends_all {
            self.connection.breaks(Breach(code, words));
        } else {
            self.abandon(code);
        }
        (failure, words.to_owned())
    }

    /// The connection has ended: what that means for the exchange under way.
    fn lost(&self, error: &ConnectionError, exchange: &Exchange<impl Sized>) -> Ended {
        // Whoever notices it first: the task that watches it may not have run since.
        self.connection.ends(lost(error));
        let (failure, words) = self.connection.ended.borrow().clone().unwrap_or_else(|| lost(error));
        let of_it = match failure {
            Failure::RecvEofBeforeResponse if exchange.first_byte.is_some() => Failure::RecvEofInBody,
            Failure::RecvEofBeforeResponse | Failure::RecvReset if exchange.received == 0 && self.past.served > 0 => Failure::StaleReuse,
            failure => failure,
        };
        (of_it, words)
    }

    /// Remembers whom to wake when the connection ends.
    fn waits(&self, cx: &Context<'_>) {
        let seat = &mut self.connection.seats.borrow_mut()[self.seat as usize];
        if !seat.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            *seat = Some(cx.waker().clone());
        }
    }

    /// What is said of an exchange when its time is over.
    fn timeout(&self, request: EncodedRef<'_>, exchange: &Exchange<impl Sized>) -> Failure {
        let body = self.unframed.as_deref().unwrap_or_else(|| request.body());
        if exchange.first_byte.is_some() || self.reply.interims > 0 {
            Failure::RecvTotalTimeout
        } else if self.out.is_empty() || self.out_sent < self.head_end || !self.withholds && self.body_sent < body.len() {
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
        Said { interims: self.reply.interims, continues: self.reply.continues, is_final: self.reply.status != 0 }
    }

    /// The exchange has ended.
    ///
    /// # Errors
    /// Who ended the connection, if the place carries no other.
    #[inline(never)]
    pub(crate) fn end(&mut self, at: Nanos) -> Result<(), Closer> {
        let connection = &self.connection;
        if self.is_answered {
            connection.served.set(connection.served.get().saturating_add(1));
            connection.idle_since.set(at);
        }
        self.leave_stream();
        match (self.connection.is_over(), self.connection.is_ended_by_server()) {
            (false, _) => Ok(()),
            (true, true) => Err(Closer::Server),
            (true, false) => Err(Closer::Us),
        }
    }

    pub(crate) const fn past(&self) -> Past {
        self.past
    }

    /// Watches a place without an exchange: ready when it cannot be used any more.
    pub(crate) fn poll_idle(&mut self, cx: &Context<'_>) -> Poll<Quirks> {
        self.connection.begin_task();
        self.waits(cx);
        if self.connection.is_over() { Poll::Ready(Quirks::NONE) } else { Poll::Pending }
    }

    pub(crate) fn look<R>(&self, at: impl FnOnce(&S) -> R) -> R {
        at(&self.connection.stream)
    }

    /// How many packets were sent on its connection, and how many of them were lost. Probes for larger ones may be.
    pub(crate) fn packets(&self) -> (u64, u64) {
        let path = self.connection.quic.stats().path;
        (path.sent_packets, path.lost_packets)
    }

    /// Gives the place up, as far as is counted; whether its connection is closed with it.
    pub(crate) fn release(&mut self) -> bool {
        let connection = &self.connection;
        connection.shares.release(&mut self.is_held, connection.ended.borrow().is_some())
    }
}

impl<S> Drop for Place<S> {
    fn drop(&mut self) {
        self.leave_stream();
        let connection = &self.connection;
        connection.seats.borrow_mut()[self.seat as usize] = None;
        connection.vacant.borrow_mut().push(self.seat);
        if connection.shares.leave() {
            connection.quic.close(varint(Code::NO_ERROR), b"");
        }
        // Whoever waits for a place may have this one.
        connection.shares.waiting.wake_all();
    }
}
