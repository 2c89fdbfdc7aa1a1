//! loadline held against known truth, and the page that says how it did.
//!
//! A measuring tool can claim anything about its own uncertainty. So every claim is put to a test whose answer is known
//! beforehand: intervals on simulated runs, comparisons of a target with itself, searches on servers whose capacity follows
//! from arithmetic, a generator that is starved on purpose, servers that freeze or never answer. What misses its target is
//! written into the page as missed.
//!
//! Rejected: asserting the long versions in tests. They take half an hour and a quiet machine; tests run a short version of
//! each, the page the long one. Simulations draw from seeds that nothing was tuned on ([`seeds`]).
//!
//! Invariant: figures get into the page from here and nowhere else, and a part that fails is shown as failed.

pub mod defects;
mod experiment;
pub mod known;
mod lab;
mod page;
mod proof;
pub mod real;
pub mod seeds;
pub mod simulated;
mod store;

pub use experiment::{Experiment, PARTS, Part, Told, measured};
pub use lab::{Extent, Lab};
pub use page::page;
pub use proof::{Band, Held, Proof, Section, Table};
pub use store::{Record, Resume, Store};
