//! Doing it: what turns a Plan into requests on the wire and their ends into Outcomes.

pub mod body;
mod error;
pub mod machine;
pub mod net;
mod stop;

pub use error::{RunError, RunErrorKind};
pub use stop::{Stop, Urgency};

use measure::{Summary, Tick};
use plan::Plan;

/// Carries a plan out on this machine and waits for its end. `watch` is called on this thread once an interval.
///
/// # Errors
/// If the run cannot begin (files, limits, name resolution, preflight) or breaks off; then with what was measured.
pub fn run(plan: &Plan, watch: &mut dyn FnMut(&Tick), stop: &Stop) -> Result<Summary, RunError> {
    let _ = (plan, watch, stop);
    Err(RunError::run("this build cannot send", "build the whole workspace"))
}
