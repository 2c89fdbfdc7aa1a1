//! What was measured, put into words: how far a run can be trusted, what a ladder of loads shows, when to stop climbing.
//!
//! Pure: no I/O, no clock, no Tokio. Everything here is a function from Summaries to figures and sentences.

pub mod adaptive;
pub mod asymptote;
pub mod curve;
pub mod curve_words;
pub mod knee;
pub mod search;
pub mod search_words;
pub mod usl;
mod validity;

pub use validity::{GeneratorLimit, generator_limit, processor_share_is_known};
