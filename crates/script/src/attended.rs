//! Runs what may never return, and comes back when the user has had enough.
//!
//! A script that loops forever while it is loaded, or in `done`, would hold the main thread, and Ctrl-C would do nothing:
//! LuaJIT cannot be interrupted in compiled code. So such work has a thread of its own; when the run is stopped that
//! thread is left behind and ends with the process.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use engine::{Stop, Urgency};

use crate::ScriptError;

/// How often the Stop is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// Runs `work`, unless the Stop is or becomes more urgent than `known`.
///
/// # Errors
/// If it was stopped.
pub(crate) fn attended<T: Send + 'static>(
    stop: &Stop,
    known: Urgency,
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
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(done) => return Ok(done),
            Err(RecvTimeoutError::Timeout) if stop.urgency() > known => {
                return Err(ScriptError::new(
                    format!("interrupted while the script '{path}' was in {doing}"),
                    "if it did not seem to end, look for an endless loop in it",
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
