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

/// What an exchange over WebSocket has as its status: 101, with which the server agreed to speak it.
pub(crate) const STATUS: u16 = 101;
