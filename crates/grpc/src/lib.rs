//! Messages of gRPC: what describes them, and how they become bytes of JSON and JSON of bytes.
//!
//! Whoever writes a load writes JSON, as for any other API; what goes over the wire is Protobuf, which needs a description of each
//! message. It comes from `.proto` files ([`compile()`]), a set of descriptors, or the server itself ([`reflection`]), and is in each case
//! the same: a `FileDescriptorSet`, as bytes that a plan carries along. JSON is read and written by the canonical mapping
//! (<https://protobuf.dev/programming-guides/json/>).
//!
//! Code made from descriptors, the alternative, would have to be compiled for each user's messages. No I/O, no clock, no Tokio: files are
//! handed in, and what the server says too.

#[cfg(feature = "descriptors")]
mod compile;
#[cfg(feature = "descriptors")]
mod descriptors;
#[cfg(feature = "descriptors")]
mod fit;
#[cfg(feature = "descriptors")]
mod framing;
#[cfg(feature = "descriptors")]
mod known;
mod mistake;
mod names;
#[cfg(feature = "descriptors")]
pub mod reflection;
#[cfg(not(feature = "descriptors"))]
mod without;

#[cfg(feature = "descriptors")]
pub use compile::compile;
#[cfg(feature = "descriptors")]
pub use descriptors::{Descriptors, Method};
#[cfg(feature = "descriptors")]
pub use known::known;
pub use mistake::Mistake;
pub use names::instead_of;
#[cfg(not(feature = "descriptors"))]
pub use without::{Descriptors, Method, compile, known, reflection};
