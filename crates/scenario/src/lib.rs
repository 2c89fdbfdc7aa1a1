//! What users do: weighted journeys of steps, read from a file of YAML and carried out.
//!
//! Hitting one URL finds the upper bound; users log in, look around, think and buy. A script can say that, and then it is a
//! program that its reader has to run in the head. So a scenario is data: what is sent, taken out of answers and promised of
//! them, in an order that a reader follows with a finger; what it needs besides (conditions, loops, chance) has one word each.
//!
//! A file is read whole before the run: [`read()`] reports every mistake at once, with its line and column. Keys stand in one
//! table ([`keys`]) that the reader, the schema for editors and the guide are made from, so that none of them can lie.
//!
//! Invariants: a scenario that was read needs no more looking at; what a server answers is never a mistake of the scenario but
//! a failure that is counted; memory does not grow with the number of journeys.

mod answers;
mod behaviour;
mod buffers;
mod cache;
mod calls;
mod changes;
mod compiled;
mod counts;
mod desk;
mod door;
mod ends;
mod expression;
mod file;
mod flow;
mod hidden;
mod json;
pub mod keys;
mod letters;
mod meeting;
mod mistake;
mod order;
mod pace;
mod parallel;
mod print;
mod read;
mod ready;
mod resources;
mod rows;
pub mod schema;
mod scripts;
mod search;
mod series;
#[cfg(test)]
mod simulated;
mod thinking;
mod user;
mod yaml;

pub use file::Scenario;
pub use hidden::hidden_in;
pub use mistake::Mistake;
pub use print::print;
pub use read::{Reach, Surroundings, read, read_among, read_within};
pub use ready::{Ready, Walk};
pub use series::Series;

/// What `loadline init` writes: a scenario that explains itself.
pub const STARTER: &str = include_str!("starter.yaml");

/// The same for the API of chat completions that servers of language models have.
pub const CHAT_COMPLETIONS: &str = include_str!("chat_completions.yaml");
