//! Reads what a load names: the only place below the binary that opens the user's files.
//!
//! What was typed ([`plan::Draft`]) names scripts, lists, bodies, certificates, scenarios, requests of other tools, data files and variables
//! of the environment. All of them are read here, before the first request, and what they hold is handed on in a [`plan::Resolved`], from
//! which a plan is decided without another look at the machine. Whatever is missing or wrong is told together with the mistakes of the
//! plan itself: a run that finds after ten minutes that a file is missing has wasted them.
//!
//! Invariants: everything comes through [`Inputs`], so that a test hands in what it likes; a file is read once for all loads of a command,
//! whatever becomes of it meanwhile; nothing is printed.

mod calls;
mod collection;
mod files;
mod inputs;
mod known;
mod load;
mod other_tools;
mod reader;
mod scenarios;

pub use collection::{behind_host, collection, environment, hidden, leave_tls, leave_ways, placed, server, with_included};
pub use files::read_standard_input;
pub use inputs::{FileInfo, Inputs, LocalInputs, MemoryInputs, whole};
pub use known::KnownSecrets;
pub use load::OwnLoad;
pub use other_tools::mistake;
pub use reader::{Reader, fingerprint};
pub use scenarios::{Scenarios, file_of, is_scenario_file, mistakes_of, scenario_of};
