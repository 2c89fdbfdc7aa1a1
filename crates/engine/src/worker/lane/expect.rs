//! An exchange whose body waits for the server's word (`Expect: 100-continue`, RFC 9110 §10.1.1).
//!
//! The head goes out alone. The body follows when the server says 100 Continue, or has said nothing for as long as a client waits; where
//! it answers at once the body is not sent at all, and with HTTP/1.1 the connection ends with that, since the server cannot know where the
//! next request would begin. To write this into each protocol's exchange was the alternative: every request would ask whether it waits.
//!
//! What was asked for is no oddity of an answer; a second 100, or another interim answer, is one still.

use std::future::poll_fn;
use std::pin::Pin;

use measure::{Awaited, Failure, Quirk};
use plan::Nanos;
use tokio::time::Sleep;

use crate::clock::Clock as _;
use crate::protocol::{Answer, Answers, EncodedRef, Exchange, FailureSample, Place as _, Surroundings};
use crate::transport::{Memory, Place, State, Transport};
use crate::worker::shared::Shared;

/// So long the server's word is waited for: as curl does.
const WORD_WITHIN: Nanos = Nanos::SECOND;

/// Drives the exchange to its end.
pub(super) async fn exchange<T: Transport, A: Answers>(
    shared: &Shared<T>,
    place: &mut Place<T>,
    request: EncodedRef<'_>,
    exchange: &mut Exchange<State<T>>,
    around: &Surroundings<'_, T::Clock, Memory<T>>,
    (answers, sample): (&mut A, &mut FailureSample),
) -> Result<Answer, Failure> {
    let mut timer: Option<Pin<Box<Sleep>>> = None;
    let mut came = None;
    let result = poll_fn(|cx| {
        if !matches!(came, Some(Awaited::Continue | Awaited::Nothing)) {
            let polled = place.poll_head(cx, request, exchange, around, answers, sample);
            let said = place.said();
            if timer.is_none() && exchange.written > 0 {
                timer = Some(Box::pin(shared.clock.sleep_until(shared.clock.now().plus(WORD_WITHIN))));
            }
            if said.is_final {
                came = Some(Awaited::Answer);
            } else if polled.is_pending() && said.continues > 0 {
                came = Some(Awaited::Continue);
            } else if polled.is_pending() && timer.as_mut().is_some_and(|timer| timer.as_mut().poll(cx).is_ready()) {
                came = Some(Awaited::Nothing);
            }
            if polled.is_ready() || matches!(came, None | Some(Awaited::Answer)) {
                return polled;
            }
        }
        place.poll_exchange(cx, request, exchange, around, answers, sample)
    })
    .await;
    if let Some(came) = came {
        shared.recorder.borrow_mut().awaited(came);
    }
    let said = place.said();
    result.map(|mut answer| {
        if said.interims == 1 && said.continues == 1 {
            answer.quirks.remove(Quirk::Interim);
        }
        answer
    })
}
