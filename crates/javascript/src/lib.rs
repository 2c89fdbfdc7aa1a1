//! JavaScript that users run between requests; the only crate that knows QuickJS.
//!
//! Data says most of what users do, and some of it is a program: a signature over a canonical text, a value that is searched for in a tree.
//! QuickJS runs it: small, without a compiler at run time, with bounds that hold, and with no world outside but what it is given. The
//! language is the one most people know, and what is written in others (the scripts of test plans) is translated into it. A second
//! use of Lua was the alternative: its users would be only those who know wrk.
//!
//! An [`Engine`] belongs to one worker thread: all users of that worker share its runtime and its compiled scripts, and each has its own
//! objects in it. All that a script learns and does goes through a [`Host`], chance and time among it, so that the same seed gives the
//! same values.
//!
//! Invariants: a script is compiled once a worker; a call ends, whatever the script does; what one user leaves no other user sees, but for
//! the properties, which are there for that.

mod engine;
mod native;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

pub use engine::{Engine, Objects};

/// Memory that all scripts of a worker have together, with the objects of its users.
pub const MEMORY_BYTES_MAX: usize = 64 << 20;

/// A call is ended after so many looks of the engine, which come after ten thousand loops and calls each: about half a second. They are
/// counted, so that a script that is ended is ended on every machine.
pub(crate) const LOOKS_MAX: u32 = 2_000;

/// Some steps take long, of which exceptions are the worst: no call takes longer than this.
pub(crate) const TIME_MAX: Duration = Duration::from_secs(2);

/// What a script may ask for, and what it does.
pub trait Host: 'static {
    /// A variable of the user.
    fn get(&self, name: &str) -> Option<String>;

    /// Gives a variable a value, or takes it away.
    fn put(&mut self, name: &str, text: Option<String>);

    /// The variables that have a value.
    fn names(&self) -> Vec<String>;

    /// What all users of the process share.
    fn property(&self, name: &str) -> Option<String>;

    /// The same, for all of them from now on; nothing takes it away.
    fn set_property(&mut self, name: &str, text: Option<String>);

    /// A line for people.
    fn log(&mut self, level: &str, text: &str);

    /// Something of the answer at hand: `code`, `message`, `body`, `headers`, `requestHeaders`, `url`, `label`, `data` (the body of the request), `ok`, and in
    /// milliseconds `time`, `latency`, `connect`, `start`, `end`; `bytes`. [`Said::Nothing`] where there is no answer, or no such thing.
    fn answer(&self, what: &str) -> Said;

    /// Something of the request at hand, which was not sent yet: `method`, `path` with its query, `url`, `body`, and its `headers`, a line each;
    /// [`Said::Nothing`] where there is none.
    fn request(&self, what: &str) -> Said;

    /// Something of the user and where it is: `threadNumber`, `threadName`, `groupName`, `iteration`, `label`, `parameters`.
    fn about(&self, what: &str) -> Said;

    /// Does something to the answer, the user, or the load.
    ///
    /// # Errors
    /// In words, if that has no equal here.
    fn act(&mut self, act: Act) -> Result<(), String>;

    /// The time, in milliseconds since 1970.
    fn now(&self) -> f64;

    /// Chance of the user: uniform in [0, 1).
    fn random(&mut self) -> f64;

    /// The digest of bytes by this algorithm, such as `SHA-256`; nothing if there is none of that name.
    fn digest(&self, algorithm: &str, bytes: &[u8]) -> Option<Vec<u8>>;

    /// The same with a key (RFC 2104).
    fn hmac(&self, algorithm: &str, key: &[u8], bytes: &[u8]) -> Option<Vec<u8>>;

    /// What a file holds that the script was said to read.
    fn file(&self, name: &str) -> Option<Arc<[u8]>>;
}

/// A value for a script.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    /// `null`.
    Nothing,
    /// A text.
    Text(String),
    /// A number.
    Number(f64),
    /// A truth.
    Truth(bool),
    /// A `Uint8Array`.
    Bytes(Vec<u8>),
}

/// What a script does beside setting variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Act {
    /// The answer has failed, and why.
    Fail(Option<String>),
    /// The answer is well, whatever was found out about it.
    Succeed,
    /// Something of the answer is another thing for the scripts behind this one.
    SetAnswer(String, String),
    /// A part of the request is another one: `method`, `path` with its query, `body`, or `place`, which is the path without its query.
    SetRequest(String, String),
    /// The request has this header with this value and no other, or no such header.
    SetHeader(String, Option<String>),
    /// A field more: in the query, or in the form that the body is; its name and its value, encoded.
    AddField(String, String),
    /// The answer is not counted.
    Ignore,
    /// The user goes.
    StopUser,
    /// All users go.
    StopTest,
    /// The journey is over, and the next begins.
    NextIteration,
}

/// Why a script did not come to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thrown {
    /// The line in the script, from 1; 0 where it cannot be told.
    pub line: usize,
    /// The column in it, from 1; likewise.
    pub column: usize,
    /// In words.
    pub message: String,
}

impl std::fmt::Display for Thrown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.line == 0 { f.write_str(&self.message) } else { write!(f, "line {}: {}", self.line, self.message) }
    }
}

/// Whether a text can be run, which is what stands in the body of a function.
///
/// # Errors
/// What is wrong, and where.
pub fn check(text: &str) -> Result<(), Thrown> {
    engine::check(text)
}
