//! WebSocket (RFC 6455), as a client speaks it: a request is a message, and its answer the next message that comes.
//!
//! A connection is opened with a handshake of its own, made from the head of the request that is sent first; from then on the bodies of
//! requests go out as messages. So whatever makes requests (templates, data, lists, journeys) makes messages too, and all that is
//! measured of a request is measured of a message and its answer. A client with calls of its own beside this was the
//! alternative: every kind of load and work would have had a second path for it.
//!
//! Messages that nobody waits for, pings and the server's close are met whenever they come, also while a connection is idle.

mod deflate;
mod frame;
mod handshake;
mod place;
mod reader;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use handshake::accept;
pub(crate) use handshake::upgrade;
pub(crate) use place::{Memory, Place};

use deflate::Deflate;
use reader::{Event, Reader, Violation};

/// What an exchange over WebSocket has as its status: 101, with which the server agreed to speak it.
pub(crate) const STATUS: u16 = 101;

/// Something that a server sent, whole.
#[derive(Debug, PartialEq, Eq)]
pub enum Received {
    /// A message, unpacked.
    Message(Vec<u8>),
    /// A ping with what it carries.
    Ping(Vec<u8>),
    /// A pong.
    Pong,
    /// The end: its code and reason.
    Close(Option<u16>, String),
    /// What breaks the rules, as the code of the close that answers it (RFC 6455 §7.4.1); nothing is read behind it.
    Wrong(u16),
}

/// What bytes stand for that come in these pieces, where messages may be packed or not. Without a connection, for whoever holds the reader
/// against anything that a server may say.
pub fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, may_be_packed: bool) -> Vec<Received> {
    let (mut reader, deflate, mut message, mut all) = (Reader::new(may_be_packed), Deflate::default(), Vec::new(), Vec::new());
    for piece in pieces {
        let mut rest = piece;
        loop {
            let received = match reader.next(&mut rest) {
                Ok(Event::More) => break,
                Ok(Event::Message { piece, ends }) => {
                    message.extend_from_slice(piece);
                    if !ends {
                        continue;
                    }
                    let whole = std::mem::take(&mut message);
                    if reader.is_packed() { unpacked(&whole, &reader, &deflate) } else { Ok(Received::Message(whole)) }
                }
                Ok(Event::Ping(payload)) => Ok(Received::Ping(payload)),
                Ok(Event::Pong) => Ok(Received::Pong),
                Ok(Event::Close(code, reason)) => Ok(Received::Close(code, reason)),
                Err(violation) => Err(violation),
            };
            match received {
                Ok(received) => all.push(received),
                Err(Violation { code, .. }) => {
                    all.push(Received::Wrong(code));
                    return all;
                }
            }
        }
    }
    all
}

fn unpacked(packed: &[u8], reader: &Reader, deflate: &Deflate) -> Result<Received, Violation> {
    let (mut message, mut text) = (Vec::new(), reader.text());
    deflate.unpack(packed, |piece| {
        text.take(piece)?;
        message.extend_from_slice(piece);
        Ok(())
    })?;
    text.end()?;
    Ok(Received::Message(message))
}
