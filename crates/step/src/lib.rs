//! What a Step of a Journey does with its request and its answer.
//!
//! A journey is more than requests: a login hands out a token that the next request needs, a cookie comes back, a body says
//! "error" under a status of 200, a user thinks before it goes on. Each of these is a function here: of bytes, of a moment that
//! is given, of chance that is given. Nothing in this crate does I/O, reads a clock or knows Tokio, so a login is tested
//! without a server and an expiry without waiting.
//!
//! What can be known before a run is found out before it: [`Extractor::compile`], [`Check::compile`] and [`body::json`] report
//! a [`Mistake`] with its place. What a server does is never a mistake: an extraction that finds nothing is [`Missing`], a
//! check that does not hold is [`Broken`], both short enough to be kept as an example.
//!
//! Invariant: no bytes of a server make anything here panic, run for long, or keep more memory than its documentation says.

mod answer;
pub mod auth;
pub mod body;
pub mod cache;
pub mod check;
pub mod coding;
pub mod cookies;
mod date;
mod excerpt;
pub mod extract;
mod html;
mod json;
mod parts;
mod pattern;
mod reading;
pub mod resources;
mod rewrite;
mod unpack;
mod zstd;

pub use answer::{Answer, Exchange, Headers};
pub use check::{Blank, Broken, Check, Mistaken};
pub use cookies::{Jar, Place};
pub use date::UnixSeconds;
pub use excerpt::excerpt;
pub use extract::{Extractor, Missing};
pub use pattern::{Pattern, regex};
pub use plan::template::Mistake;
pub use plan::work::{Kind, Subject, Which};
pub use reading::{JSON_BYTES_MAX, Reading};
pub use rewrite::Rewrite;
pub use unpack::{UnpackError, unpack};
pub use zstd::zstd_frames;
