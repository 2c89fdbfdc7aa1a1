//! HTTP/3 as a measuring client speaks it (RFC 9114): each exchange on a stream of its own of a QUIC connection, its frames written and read here.
//!
//! QUIC itself is `quinn`'s: packets, encryption, loss and congestion are nothing that a load generator knows better. A general client of HTTP/3
//! on top of it was the alternative; it keeps all headers of all answers and hands each piece of content over by a count of references. Here a
//! request's head is written once and sent as it is, and of an answer that nobody looks at nothing is kept but its status, its times and its
//! length, as with HTTP/2.
//!
//! A `Reply` reads the frames of a stream without I/O; a `Place` drives it; a `Connection` has a task of its own for
//! what the server says of all of them (SETTINGS, GOAWAY).
//!
//! Invariants, for any bytes in any slices: what is wrong with one exchange ends that one, what is wrong with the connection all of them,
//! each with a class of failure; memory is bounded by places, QUIC's windows and [`HEAD_BYTES_MAX`].

mod control;
mod frame;
mod place;
mod qpack;
mod reply;

#[cfg(test)]
mod tests;

use measure::Failure;

use super::http1::HEAD_BYTES_MAX;
use super::{Header, ResponseSink};
use control::OneWay;
use frame::Breach;
pub(super) use place::{Connections, Place};
use reply::{KnownHead, Reply};

/// Names of versions as answers are shown with.
const HTTP3: &str = "HTTP/3";

/// What an answer comes to that comes in these pieces and then ends: its status and its content. Without a connection, for whoever holds the
/// reader against anything that a server may say.
///
/// # Errors
/// What is wrong with it: its class, and in words.
pub fn read_answer<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, is_head: bool) -> Result<(u16, Vec<u8>), (Failure, &'static str)> {
    let (mut reply, mut known, mut content) = (Reply::default(), KnownHead::default(), Content::default());
    reply.begin(is_head, true);
    let taken = pieces.into_iter().try_for_each(|piece| reply.take(piece, &mut known, &mut content));
    taken.and_then(|()| reply.end()).map_err(|wrong| (wrong.failure, wrong.words))?;
    Ok((reply.status, content.0))
}

/// The same of a stream on which a server speaks of the connection: the first exchange that it does not take up, if it said so.
///
/// # Errors
/// What is wrong with it, in words.
pub fn read_control<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Result<Option<u64>, &'static str> {
    let mut stream = OneWay::new();
    pieces.into_iter().try_for_each(|piece| stream.take(piece)).map_err(|Breach(_, words)| words)?;
    Ok(if let OneWay::Control(control) = stream { control.goes_away } else { None })
}

/// The content of an answer.
#[derive(Default)]
struct Content(Vec<u8>);

impl ResponseSink for Content {
    fn head(&mut self, _: u16, _: &[Header<'_>]) {}

    fn body(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}
