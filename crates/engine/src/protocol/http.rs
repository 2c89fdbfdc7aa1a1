//! HTTP in whichever version a connection speaks: HTTP/1.1, HTTP/2 or HTTP/3, as the plan says or the server chose (ALPN), or WebSocket, which a
//! connection of HTTP/1.1 becomes.
//!
//! A version for each worker was the alternative, with all that sends compiled once for each. But servers of one plan may differ, and
//! what a connection speaks is known only when it is open. So a place is one or the other, and asking which costs a comparison.

use std::cell::RefCell;
use std::task::{Context, Poll};

use measure::{Closer, Failure, Quirks, WebSocketCounts};
#[cfg(feature = "http3")]
use plan::Scheme;
use plan::{HttpVersion, Nanos, Plan, Target};
use tokio::io::{AsyncRead, AsyncWrite};

use super::http1::{Connection, KnownHead, State};
#[cfg(feature = "http3")]
use super::http3;
use super::{Answer, Answers, EncodedRef, Exchange, FailureSample, Past, Place, Protocol, Said, Surroundings, same_origin};
use super::{http2, websocket};
use crate::clock::Clock;
use crate::net::Version;

/// HTTP/1.1, HTTP/2, HTTP/3 and WebSocket.
pub(crate) enum Http {}

impl Protocol for Http {
    type Place<S: AsyncRead + AsyncWrite + Unpin + 'static> = HttpPlace<S>;

    fn places(plan: &Plan) -> u64 {
        if plan.shares_connections() { plan.connection().streams.into() } else { 1 }
    }
}

/// A place on a connection.
pub(crate) enum HttpPlace<S: AsyncRead + AsyncWrite + Unpin + 'static> {
    /// All of one that speaks HTTP/1.1.
    One(Connection<S>),
    /// One that speaks HTTP/2.
    Two(http2::Place<S>),
    /// One that speaks HTTP/3.
    #[cfg(feature = "http3")]
    Three(Box<http3::Place<S>>),
    /// All of one that speaks WebSocket.
    Messages(Box<websocket::Place<S>>),
}

/// What the connections of one worker share.
pub(crate) struct Memory<S> {
    known: RefCell<KnownHead>,
    http: HttpVersion,
    is_tls: bool,
    /// Origins that chose HTTP/1.1: `None` is the plan's target.
    of_version_1: RefCell<Vec<Option<Target>>>,
    connections: http2::Connections<S>,
    #[cfg(feature = "http3")]
    of_version_3: http3::Connections<S>,
    websockets: websocket::Memory,
}

impl<S> Memory<S> {
    /// Whether connections there speak HTTP/1.1, as far as is known.
    fn is_version_1(&self, to: Option<&Target>) -> bool {
        if to.is_some_and(|to| to.scheme().is_websocket()) {
            return true;
        }
        if to.is_some_and(|to| to.scheme().is_grpc()) {
            return false;
        }
        let is_tls = to.map_or(self.is_tls, |to| to.scheme().is_tls());
        match self.http {
            HttpVersion::V1 => true,
            HttpVersion::V2 => false,
            HttpVersion::V3 => !is_tls,
            HttpVersion::Auto => !is_tls || self.of_version_1.borrow().iter().any(|origin| same_origin(origin.as_ref(), to)),
        }
    }
}

#[cfg(feature = "http3")]
impl<S> Memory<S> {
    /// Whether connections there speak HTTP/3.
    fn is_version_3(&self, to: Option<&Target>) -> bool {
        self.http == HttpVersion::V3 && to.is_none_or(|to| to.scheme() == Scheme::Https)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + 'static> Place for HttpPlace<S> {
    type Stream = S;
    type Memory = Memory<S>;
    type State = State;

    fn memory(plan: &Plan) -> Memory<S> {
        Memory {
            known: RefCell::default(),
            http: plan.connection().http,
            is_tls: plan.target().scheme().is_tls(),
            of_version_1: RefCell::default(),
            connections: http2::Connections::new(plan),
            #[cfg(feature = "http3")]
            of_version_3: http3::Connections::new(plan),
            websockets: websocket::Memory::new(plan),
        }
    }

    fn open(stream: S, version: Version, memory: &Memory<S>, to: Option<&Target>) -> Self {
        match version {
            Version::Http2 => Self::Two(http2::Place::open(stream, &memory.connections, to)),
            #[cfg(feature = "http3")]
            Version::Http3(quic) => Self::Three(Box::new(http3::Place::open(stream, &quic, &memory.of_version_3, to))),
            Version::WebSocket { early, deflates, .. } => Self::Messages(Box::new(websocket::Place::open(stream, early, deflates))),
            Version::Http1 => {
                if !memory.is_version_1(to) {
                    memory.of_version_1.borrow_mut().push(to.cloned());
                    memory.connections.opened(to);
                }
                Self::One(Connection::open(stream))
            }
        }
    }

    fn poll_free(cx: &mut Context<'_>, memory: &Memory<S>, to: Option<&Target>) -> Poll<Option<Self>> {
        if memory.is_version_1(to) {
            return Poll::Ready(None);
        }
        #[cfg(feature = "http3")]
        if memory.is_version_3(to) {
            return http3::Place::poll_free(cx, &memory.of_version_3, to).map(|place| place.map(|place| Self::Three(Box::new(place))));
        }
        http2::Place::poll_free(cx, &memory.connections, to).map(|place| place.map(Self::Two))
    }

    fn not_opened(memory: &Memory<S>, to: Option<&Target>) {
        #[cfg(feature = "http3")]
        memory.of_version_3.opened(to);
        memory.connections.opened(to);
    }

    #[inline]
    fn begin(&mut self, request: EncodedRef<'_>) {
        match self {
            Self::One(place) => place.begin(request),
            Self::Two(place) => place.begin(),
            #[cfg(feature = "http3")]
            Self::Three(place) => place.begin(),
            Self::Messages(place) => place.begin(),
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as that of a connection")]
    fn poll_exchange<C: Clock, A: Answers>(
        &mut self,
        cx: &mut Context<'_>,
        request: EncodedRef<'_>,
        exchange: &mut Exchange<State>,
        around: &Surroundings<'_, C, Memory<S>>,
        answers: &mut A,
        sample: &mut FailureSample,
    ) -> Poll<Result<Answer, Failure>> {
        match self {
            Self::One(place) => place.poll_exchange(
                cx,
                request,
                exchange,
                (around, &around.memory.known, &around.memory.connections.offers_http3),
                answers,
                sample,
            ),
            Self::Two(place) => place.poll_exchange(cx, request, exchange, (around, &around.memory.connections), answers, sample),
            #[cfg(feature = "http3")]
            Self::Three(place) => place.poll_exchange(cx, request, exchange, (around, &around.memory.of_version_3), answers, sample),
            Self::Messages(place) => place.poll_exchange(cx, request, exchange, (around, &around.memory.websockets), answers, sample),
        }
    }

    #[inline(never)]
    fn poll_head<C: Clock, A: Answers>(
        &mut self,
        cx: &mut Context<'_>,
        request: EncodedRef<'_>,
        exchange: &mut Exchange<State>,
        around: &Surroundings<'_, C, Memory<S>>,
        answers: &mut A,
        sample: &mut FailureSample,
    ) -> Poll<Result<Answer, Failure>> {
        match self {
            Self::One(place) => place.poll_exchange(
                cx,
                request.without_body(),
                exchange,
                (around, &around.memory.known, &around.memory.connections.offers_http3),
                answers,
                sample,
            ),
            Self::Messages(place) => place.poll_exchange(cx, request, exchange, (around, &around.memory.websockets), answers, sample),
            Self::Two(place) => {
                place.withhold_body(true);
                let polled = place.poll_exchange(cx, request, exchange, (around, &around.memory.connections), answers, sample);
                place.withhold_body(false);
                polled
            }
            #[cfg(feature = "http3")]
            Self::Three(place) => {
                place.withhold_body(true);
                let polled = place.poll_exchange(cx, request, exchange, (around, &around.memory.of_version_3), answers, sample);
                place.withhold_body(false);
                polled
            }
        }
    }

    fn said(&self) -> Said {
        match self {
            Self::One(place) => place.said(),
            Self::Two(place) => place.said(),
            #[cfg(feature = "http3")]
            Self::Three(place) => place.said(),
            Self::Messages(_) => Said::default(),
        }
    }

    #[inline]
    fn end(
        &mut self,
        request: EncodedRef<'_>,
        exchange: &Exchange<State>,
        result: Result<Answer, Failure>,
        at: Nanos,
    ) -> Result<(), Closer> {
        match self {
            Self::One(place) => place.end(request, exchange, result, at),
            Self::Two(place) => place.end(request, at),
            #[cfg(feature = "http3")]
            Self::Three(place) => place.end(at),
            Self::Messages(place) => place.end(request.layout().act(), result, at),
        }
    }

    fn past(&self) -> Past {
        match self {
            Self::One(place) => place.past(),
            Self::Two(place) => place.past(),
            #[cfg(feature = "http3")]
            Self::Three(place) => place.past(),
            Self::Messages(place) => place.past(),
        }
    }

    fn poll_idle<C: Clock>(&mut self, cx: &mut Context<'_>, around: &Surroundings<'_, C, Memory<S>>) -> Poll<Quirks> {
        match self {
            Self::One(place) => place.poll_idle(cx, around.buffer),
            Self::Two(place) => place.poll_idle(cx, around.clock),
            #[cfg(feature = "http3")]
            Self::Three(place) => place.poll_idle(cx),
            Self::Messages(place) => place.poll_idle(cx, (around.buffer, around.clock), &around.memory.websockets),
        }
    }

    fn look<R>(&self, at: impl FnOnce(&S) -> R) -> R {
        match self {
            Self::One(place) => place.look(at),
            Self::Two(place) => place.look(at),
            #[cfg(feature = "http3")]
            Self::Three(place) => place.look(at),
            Self::Messages(place) => place.look(at),
        }
    }

    fn take_messages(memory: &Memory<S>) -> Option<Box<WebSocketCounts>> {
        memory.websockets.take_messages()
    }

    fn offers_http3(memory: &Memory<S>) -> bool {
        memory.connections.offers_http3.get()
    }

    #[cfg(feature = "http3")]
    fn packets(&self) -> Option<(u64, u64)> {
        if let Self::Three(place) = self { Some(place.packets()) } else { None }
    }

    fn release(&mut self, memory: &Memory<S>) -> bool {
        match self {
            Self::One(_) => true,
            Self::Two(place) => place.release(),
            #[cfg(feature = "http3")]
            Self::Three(place) => place.release(),
            Self::Messages(place) => {
                place.close(&memory.websockets);
                true
            }
        }
    }
}
