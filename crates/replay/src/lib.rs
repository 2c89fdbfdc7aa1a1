//! A log sent again: its requests, in its order, at its times.
//!
//! A log may be larger than memory, its lines stand in the order in which requests ended, and most have no finer time than a second.
//! So it is read twice. Once before the load, to see what it holds: that is told to whoever asked, and bounds how far lines are out
//! of order. Then while it is sent: one thread reads ahead, puts lines in order within those bounds, writes the bytes of each request,
//! and deals them out to all workers in blocks, wherever these are. A worker asks what falls due next, and sends it.
//!
//! Invariants: the requests of all workers together are what was found, each at the same time whatever their number and place; memory
//! does not grow with the log; nothing that a log holds is written anywhere but to the server.

mod behaviour;
mod block;
mod deal;
mod feed;
mod found;
mod log;
mod order;
mod pick;
mod request;
mod rules;

pub use behaviour::{Ready, start_fed};
pub use found::{Examples, FileFound, LogFacts, look, wanted};
pub use log::Log;
pub use pick::{Clients, LeftOut, Moment, Options, Writes};
pub use rules::{Pattern, Rewrite};
