//! HTTP/3 as a measuring client speaks it (RFC 9114): each exchange on a stream of its own of a QUIC connection, its frames written and read here.
//!
//! QUIC itself is `quinn`'s: packets, encryption, loss and congestion are nothing that a load generator knows better. A general client of HTTP/3
//! on top of it was the alternative; it keeps all headers of all answers and hands each piece of content over by a count of references. Here a
//! request's head is written once and sent as it is, and of an answer that nobody looks at nothing is kept but its status, its times and its
//! length, as with HTTP/2.
//!
//! A [`Reply`](reply::Reply) reads the frames of a stream without I/O; a `Place` drives it; a `Connection` has a task of its own for
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

use super::http1::HEAD_BYTES_MAX;
pub(super) use place::{Connections, Place};

/// Names of versions as answers are shown with.
const HTTP3: &str = "HTTP/3";
