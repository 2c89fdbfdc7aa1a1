//! loadline beside its peers, on one machine, in one run.
//!
//! A figure like "3.5 µs a request" means nothing on another machine, and little on the same one an hour later: clock
//! rates move, neighbours come and go. So nothing here is compared with a number from a page. Every tool is run in turn
//! against the same nginx, generator on one core and server on another, several rounds in changing order; what is judged
//! is the ratio within a round, and the page says how far the rounds lay apart.
//!
//! Rejected: asserting these figures in tests. A timing that fails a build on a busy machine teaches people to ignore it.

mod bare;
mod bare_http3;
mod counting;
mod launch;
pub mod logs;
mod machine;
mod nghttpd;
mod nginx;
mod page;
mod pairs;
mod plans;
mod rows;
mod saved;
mod spread;
mod statistic;
mod suite;
mod tool;

pub use bare::bare;
pub use bare_http3::bare_http3;
pub use launch::{Usage, measured};
pub use machine::{Machine, Programs, version_of};
pub use page::{page, today, write_whole};
pub use pairs::against;
pub use plans::Plans;
pub use rows::Rows;
pub use statistic::Spread;
pub use suite::{Extent, Findings, Level, Logs, Scripted, Startup, Steady, protocols, run};
pub use tool::{Count, Tool};
