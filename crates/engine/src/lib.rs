//! Doing it: what turns a Plan into requests on the wire and their ends into Outcomes.
//!
//! One operating-system thread a core, each with a single-threaded Tokio runtime, sharing nothing but the [`Stop`]
//! signal and the channel on which counts leave. One path for every option: what is displayed, how many threads there
//! are and whether load is open or closed never changes how a request is sent and measured.

mod ask;
pub mod body;
mod clock;
mod collect;
mod error;
mod feed;
mod fence;
mod launch;
pub mod machine;
mod message;
mod neighbours;
pub mod net;
pub mod protocol;
pub mod redirect;
mod runner;
#[cfg(any(test, feature = "simulated"))]
pub mod simulation;
mod site;
mod slot;
#[cfg(any(test, feature = "simulated"))]
pub mod split;
mod stop;
mod stored;
mod task;
mod threads;
mod transport;
mod worker;

pub use ask::{AskError, ask};
pub use clock::monotonic_now;
pub use collect::{Collected, collect};
pub use error::{BehaviourError, RunError, RunErrorKind, measured};
pub use feed::{BLOCKS_AHEAD, Dealer, Feed, Inlet, Inlets, Outlet, Slice, Slices};
pub use fence::Fence;
pub use launch::{Messages, Prepared, conclude, prepare, run};
pub use message::{Finished, Message, from_bytes, to_bytes};
pub use net::{Naming, Spoken, Wire};
pub use runner::Runner;
pub use site::{Gate, RemoteMessages, SiteRole, Sites, SoFar, Terms};
pub use stop::{Stop, Urgency};
pub use stored::StoredFile;
pub use task::{grpc_timeout, head};
pub use transport::Transport;
pub use worker::{Arrivals, Behaviour, Client, End, Request, Timetable};
