//! What was measured, put into words: how far a run can be trusted, what a ladder of loads shows, when to stop climbing.
//!
//! Pure: no I/O, no clock, no Tokio. Everything here is a function from Summaries to figures and sentences.

pub mod search;
mod validity;

pub use validity::{GeneratorLimit, generator_limit, processor_share_is_known};
