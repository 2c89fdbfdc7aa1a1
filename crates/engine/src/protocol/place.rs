//! What a Lane needs of a protocol.
//!
//! Little: a place on a connection, an exchange on it, whether it carries another, and to be told when it is lost while nobody uses
//! it. What several places of a connection share is behind this: a worker keeps a [`Memory`](Place::Memory) for each protocol it
//! speaks, in which places find each other. One trait for a connection and its places was chosen over two: with HTTP/1 they are the
//! same thing, and a Lane would have to hold both.
//!
//! Invariant: a connection is counted as closed once, by whoever gives up its last place or first finds it broken.

use std::task::{Context, Poll};

use measure::{Closer, Failure, Quirks, WebSocketCounts};
use plan::{Nanos, Plan, Target};
use tokio::io::{AsyncRead, AsyncWrite};

use super::encoded::EncodedRef;
use super::exchange::{Answer, Answers, Exchange, FailureSample, Past, Surroundings};
use crate::clock::Clock;
use crate::net::Version;

/// Whether two ways lead to the same origin: `None` is to the plan's target.
pub(crate) fn same_origin(one: Option<&Target>, other: Option<&Target>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => one.same_origin(other),
        _ => false,
    }
}

/// What a server has said of an exchange before its answer was complete.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Said {
    /// Interim (1xx) heads.
    pub(crate) interims: u8,
    /// Of these, those with status 100.
    pub(crate) continues: u8,
    /// Whether the final head has come.
    pub(crate) is_final: bool,
}

/// What is spoken on the connections of a worker.
pub trait Protocol: 'static {
    /// A Lane's place on a connection over such a stream.
    type Place<S: AsyncRead + AsyncWrite + Unpin + 'static>: Place<Stream = S>;

    /// How many places a connection has at most, for a load as planned.
    fn places(plan: &Plan) -> u64;
}

/// A place on a connection: it carries one exchange at a time.
pub trait Place: Sized + 'static {
    /// What the connection is read from and written to.
    type Stream;
    /// What the connections of one worker share: what was learned from answers, and which places are free.
    type Memory;
    /// What the protocol itself has to know of an exchange under way.
    type State: Default;

    /// What the connections of a worker of this plan share.
    fn memory(plan: &Plan) -> Self::Memory;

    /// The first place on a connection that was opened and on which that is spoken, to another origin than the plan's target if one is named.
    fn open(stream: Self::Stream, version: Version, memory: &Self::Memory, to: Option<&Target>) -> Self;

    /// A free place on a connection that is open; `None` if one has to be opened. Pending while somebody opens one that will have a
    /// place for this Lane.
    fn poll_free(_cx: &mut Context<'_>, _memory: &Self::Memory, _to: Option<&Target>) -> Poll<Option<Self>> {
        Poll::Ready(None)
    }

    /// The connection that had to be opened could not be.
    fn not_opened(_memory: &Self::Memory, _to: Option<&Target>) {}

    /// An exchange begins.
    fn begin(&mut self, request: EncodedRef<'_>);

    /// Drives the exchange. `sample` is filled when it fails or is answered with an error status.
    fn poll_exchange<C: Clock, A: Answers>(
        &mut self,
        cx: &mut Context<'_>,
        request: EncodedRef<'_>,
        exchange: &mut Exchange<Self::State>,
        around: &Surroundings<'_, C, Self::Memory>,
        answers: &mut A,
        sample: &mut FailureSample,
    ) -> Poll<Result<Answer, Failure>>;

    /// The same without the body, which waits for the server's word.
    fn poll_head<C: Clock, A: Answers>(
        &mut self,
        cx: &mut Context<'_>,
        request: EncodedRef<'_>,
        exchange: &mut Exchange<Self::State>,
        around: &Surroundings<'_, C, Self::Memory>,
        answers: &mut A,
        sample: &mut FailureSample,
    ) -> Poll<Result<Answer, Failure>> {
        self.poll_exchange(cx, request, exchange, around, answers, sample)
    }

    /// What the server has said so far in the exchange under way.
    fn said(&self) -> Said {
        Said::default()
    }

    /// The exchange has ended.
    ///
    /// # Errors
    /// Who ended the connection, if the place carries no other.
    fn end(
        &mut self,
        request: EncodedRef<'_>,
        exchange: &Exchange<Self::State>,
        result: Result<Answer, Failure>,
        at: Nanos,
    ) -> Result<(), Closer>;

    /// What its connection had been through when the exchange began.
    fn past(&self) -> Past;

    /// Watches a place without an exchange: ready when it cannot be used any more, with what was odd.
    fn poll_idle<C: Clock>(&mut self, cx: &mut Context<'_>, around: &Surroundings<'_, C, Self::Memory>) -> Poll<Quirks>;

    /// Looks at what carries the connection.
    fn look<R>(&self, at: impl FnOnce(&Self::Stream) -> R) -> R;

    /// What has come over WebSocket since this was last asked, if anything has.
    fn take_messages(_memory: &Self::Memory) -> Option<Box<WebSocketCounts>> {
        None
    }

    /// Whether some answer said that the server speaks HTTP/3 too (`Alt-Svc`).
    fn offers_http3(_memory: &Self::Memory) -> bool {
        false
    }

    /// How many packets were sent on its connection, and how many of them were lost, where that can be told.
    fn packets(&self) -> Option<(u64, u64)> {
        None
    }

    /// Gives the place up, as far as is counted; whether its connection is closed with it.
    fn release(&mut self, _memory: &Self::Memory) -> bool {
        true
    }
}
