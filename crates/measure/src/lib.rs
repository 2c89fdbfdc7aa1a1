//! What happened: from one request's [`Failure`] or success to the figures of a whole run.
//!
//! Pure: no I/O, no clock, no Tokio. Time comes in as an argument.

mod failure;
mod quirk;

pub use failure::{Failure, Side};
pub use quirk::{Quirk, Quirks};
