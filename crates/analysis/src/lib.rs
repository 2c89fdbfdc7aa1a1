//! What was measured, put into words: how far a run can be trusted, what a ladder of loads shows, when to stop climbing.
//!
//! Pure: no I/O, no clock, no Tokio. Everything here is a function from Summaries to figures and sentences.

pub mod climb;
mod conclusion;
pub mod quantity;
mod sweep;
pub mod compare;
pub mod distribution;
pub mod early_stop;
pub mod gate;
pub mod interval;
pub mod proportion;
#[cfg(test)]
mod simulated;
mod validity;

pub use climb::{StopRule, Stopped};
pub use conclusion::conclusion;
pub use sweep::{Level, LevelRow, SWEEP_SCHEMA, Sweep, Trial};
pub use validity::{GeneratorLimit, disturbances, generator_limit, processor_share_is_known};
