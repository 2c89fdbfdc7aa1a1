//! What was measured, put into words: how far a run can be trusted, what a ladder of loads shows, when to stop climbing.
//!
//! Pure: no I/O, no clock, no Tokio. Everything here is a function from Summaries to figures and sentences.

pub mod compare;
pub mod distribution;
pub mod drift;
pub mod early_stop;
pub mod gate;
pub mod interval;
pub mod littles_law;
pub mod peaks;
pub mod proportion;
pub mod simulated;
pub mod sparse;
mod validity;
pub mod warmup;

pub use validity::{GeneratorLimit, generator_limit, processor_share_is_known};
