//! Users' programs: wrk's Lua scripts, unchanged, on the one engine.
//!
//! People have years of scripts that choose requests, read answers and print results. They run here as they are: one Lua
//! state a worker and one for the main thread, as in wrk. Answers that a script does not look at are not shown to it, and a
//! script that fails says where while what was measured is kept, which wrk does not do.
//!
//! The interpreter is LuaJIT, as in wrk, vendored: scripts use its dialect and its `ffi`, and the system's own Lua does not
//! matter. Only this crate knows Lua; it knows the engine as an [`engine::Behaviour`].

mod answer;
mod attended;
mod behaviour;
mod done;
mod error;
mod globals;
mod requests;
mod script;
mod state;
mod thread;
mod values;

pub use done::{DoneArguments, DoneErrors};
pub use error::ScriptError;
pub use globals::{Globals, Interface};
pub use script::{Script, Source};
pub use state::Libraries;
