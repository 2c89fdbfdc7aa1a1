//! Doing it: what turns a Plan into requests on the wire and their ends into Outcomes.
//!
//! One operating-system thread a core, each with a single-threaded Tokio runtime, sharing nothing but the [`Stop`]
//! signal and the channel on which counts leave. One path for every option: what is displayed, how many threads there
//! are and whether load is open or closed never changes how a request is sent and measured.

pub mod body;
mod clock;
mod collect;
mod error;
mod exchange;
mod fence;
mod launch;
pub mod machine;
mod neighbours;
pub mod net;
mod program;
pub mod protocol;
#[cfg(any(test, feature = "simulated"))]
pub mod simulation;
mod slot;
mod stop;
mod task;
mod worker;

pub use error::{RunError, RunErrorKind};
pub use fence::Fence;
pub use launch::{Prepared, prepare, prepare_within, run, run_counted, run_with};
pub use net::{Naming, Spoken, Wire};
pub use program::{After, Broken, Choice, Program};
pub use stop::{Stop, Urgency};
pub use task::head;
