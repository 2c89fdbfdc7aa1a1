//! Loops of loads: a sweep over levels, a search for the highest rate, a comparison in pairs, the calibration of a machine.
//!
//! Each decides from what was measured so far which load comes next, and says so while it goes on. Where its loads are carried out, and
//! how its time passes, it does not know: that is a [`Bench`]. So the same loop measures for minutes on a real server, for a browser
//! behind a fence, and in a test on a simulated server in milliseconds. A loop that calls the engine by itself, the alternative, could be
//! tested only by its end-to-end tests, and written again for each place that carries one out.
//!
//! Invariants: what was measured is in the result after every load; whatever ends an experiment, its result says why.

mod bench;
pub mod calibrate;
pub mod calibration;
pub mod compare;
pub mod find;
#[cfg(test)]
mod simulated;
pub mod sweep;

pub use bench::{Bench, Decide, Judge, Load, Measurement, Role};
pub use levels::below;

mod levels;
