//! The server while it is loaded: which processes serve, what they and their machine do, second by second.
//!
//! Load generators tell that a server slows down, and leave their users alone with why. What explains it is written down by the
//! kernel already: a thread at 100 % of a core, a queue that overflows, a quota, a disk. So it is read from `/proc` beside the load,
//! here or over ssh, and from metrics the server offers itself, with nothing installed on its machine. An agent there was rejected:
//! who may not install one is who asks.
//!
//! Sampling is pure over [`Files`]; [`Watcher`] alone has threads and a clock. Invariant: nothing that goes wrong while watching
//! ends a run or blocks its end. It becomes a sentence.

mod asked;
mod cgroup;
mod change;
mod family;
mod fetch;
mod files;
mod listener;
mod local;
mod machine;
mod monitor;
mod process;
pub mod profiling;
pub mod prometheus;
mod sock_diag;
pub mod ssh;
mod subject;
mod watcher;

pub use asked::{FORMS, ObserveTarget};
pub use change::{Sample, values};
pub use files::{Files, Folder, RecordedFiles};
pub use listener::ListenerQuery;
pub use local::Local;
pub use monitor::{Missing, Monitor, Monitors};
pub use subject::{NotFound, Patterns, Subject};
pub use watcher::{Outcome, Source, Watcher, cost};
