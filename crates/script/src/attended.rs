//! Runs what may never return, and comes back when the user has had enough.
//!
//! A script that loops forever while it is loaded, or in `done`, would hold the main thread, and Ctrl-C would do nothing:
//! LuaJIT cannot be interrupted in compiled code, nor in the middle of a pattern. So such work has a thread of its own; when the run is
//! stopped, or a limit is reached where nobody is there to stop it, that thread is left behind and ends with the process.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use engine::{Stop, Urgency};

use crate::ScriptError;
use crate::state::Libraries;

/// How often the Stop is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Reading a file with millions of lines takes a while; what takes longer than this goes on for ever.
const LIMIT: Duration = Duration::from_secs(300);
/// The instructions that are allowed take a few seconds. A pattern can take as long as it likes, and counts as one.
const SANDBOXED_LIMIT: Duration = Duration::from_secs(20);

/// How long a script may take for what it does once.
pub(crate) const fn limit_of(libraries: Libraries) -> Duration {
    match libraries {
        Libraries::Whole => LIMIT,
        Libraries::Sandboxed => SANDBOXED_LIMIT,
    }
}

/// Runs `work`, unless it takes longer than `limit`, or the Stop is or becomes more urgent than `known`.
///
/// # Errors
/// If it was stopped, or took too long.
pub(crate) fn attended<T: Send + 'static>(
    (stop, known): (&Stop, Urgency),
    limit: Duration,
    path: &str,
    doing: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ScriptError> {
    let (sender, receiver) = channel();
    let worker = thread::Builder::new()
        .name("script".to_owned())
        .spawn(move || {
            // Nobody listens any more once it was stopped.
            let _ = sender.send(work());
        })
        .map_err(|why| ScriptError::new(format!("no thread can be made for the script: {why}"), "raise the limit of threads"))?;
    let until = Instant::now() + limit;
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(done) => return Ok(done),
            Err(RecvTimeoutError::Timeout) if stop.urgency() > known => {
                return Err(ScriptError::new(
                    format!("interrupted while the script '{path}' was in {doing}"),
                    "if it did not seem to end, look for an endless loop in it",
                ));
            }
            Err(RecvTimeoutError::Timeout) if Instant::now() >= until => {
                return Err(ScriptError::new(
                    format!("the script '{path}' was in {doing} for more than {} s", limit.as_secs_f64()),
                    "look for an endless loop in it, or for a pattern that takes too long",
                ));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(panic) => std::panic::resume_unwind(panic),
                Ok(()) => unreachable!("work that returned has sent what it returned"),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_return_is_left_behind_at_its_limit() {
        let stop = Stop::new();
        let limit = Duration::from_millis(100);
        let ended = attended((&stop, Urgency::None), limit, "a.lua", "setup()", || {
            loop {
                thread::park();
            }
        });
        let ended: Result<(), ScriptError> = ended;
        assert_eq!(ended.unwrap_err().message, "the script 'a.lua' was in setup() for more than 0.1 s".into());
        assert_eq!(attended((&stop, Urgency::None), LIMIT, "a.lua", "setup()", || 7).unwrap(), 7);
    }
}
