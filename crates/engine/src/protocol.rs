//! What is spoken on connections: how a request goes out, how its answer comes, and how many share a connection.
//!
//! `Lane::send` and all above it know a `Protocol` and no more: a Lane has a `Place` on a connection, begins an
//! `Exchange` there, polls it, and asks whether the place carries another. With HTTP/1 a place is a connection; where connections
//! carry several exchanges, a place is a share of one. Everything is compiled for the protocol that is spoken: an object would be
//! called through a table for each read.
//!
//! A protocol's reader is written sans I/O: bytes come in as slices, verdicts go out as values. A reader that owned its
//! socket could only be tested against timing; one that is handed slices is tested on every reply cut at every byte.

mod encoded;
pub mod events;
mod exchange;
mod fields;
pub(crate) mod http;
pub mod http1;
pub mod http2;
#[cfg(feature = "http3")]
pub mod http3;
mod huffman;
mod messages;
mod place;
mod pool;
mod prefixed;
mod sink;
mod view;
pub mod websocket;

pub use encoded::{Act, Encoded, EncodedRef, Layout};
pub(crate) use events::{Cutter, EventForm, Resumption};
pub(crate) use exchange::{
    Answer, Answered, Answers, EXAMPLE_BYTES, Exchange, FailureSample, Past, READ_BUFFER_BYTES, READS_A_TURN, Surroundings, shown,
    write_failure,
};
pub(crate) use httparse::EMPTY_HEADER;
pub use httparse::Header;
pub(crate) use place::{Place, Protocol, Said, same_origin};
pub use sink::ResponseSink;
