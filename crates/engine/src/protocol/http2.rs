//! HTTP/2 as a measuring client speaks it (RFC 9113): many exchanges on one connection, its frames written and read here.
//!
//! A general client was the alternative. The smallest loop over one spends half as much again a request as a load generator may: it
//! writes each head anew, hands each frame over by a queue and a lock, and keeps all headers of all answers. Here a request's head is
//! written once and sent as it is, what users send in one turn goes out with one write, and of an answer that nobody looks at nothing is
//! kept but its status, its times and its length.
//!
//! A `Session` reads and writes frames without I/O; a `Connection` carries it over a stream, by a task of its own that reads for all its
//! places; a `Place` is what one exchange at a time has of it.
//!
//! Invariants, for any bytes in any slices: what is wrong with one exchange ends that one, what is wrong with the connection all of them,
//! each with a class of failure; the memory of a connection is bounded by its places, the windows that were told, and
//! [`HEAD_BYTES_MAX`]; and no answer is credited to another's request.

mod call;
mod conversation;
mod frame;
mod hpack;
mod place;
mod session;
mod written;

#[cfg(test)]
mod tests;

use plan::WindowBytes;

pub use super::http1::{HEAD_BYTES_MAX, HEADERS_MAX};
pub(super) use call::Call;
pub use conversation::{Conversation, Verdict};
pub(super) use place::{Connections, Place};

/// The most bytes of one frame's content: what every client takes that does not say otherwise (RFC 9113 §4.2).
const FRAME_BYTES_MAX: usize = 16 * 1024;

/// What a server may send before it is read (RFC 9113 §5.2), in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Windows {
    /// Of an answer.
    stream: i64,
    /// Of all answers of a connection.
    connection: i64,
}

impl Windows {
    fn new(stream: WindowBytes, connection: WindowBytes) -> Self {
        Self { stream: stream.bytes().into(), connection: connection.bytes().into() }
    }
}
