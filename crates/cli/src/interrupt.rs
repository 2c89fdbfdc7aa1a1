//! Ctrl-C and SIGTERM become a [`Stop`].
//!
//! A load test that is cut short has measured something, and the user wants to see it. So the first signal ends the load
//! and lets requests in flight finish, the second ends the run at once, both with the report; a third ends the program.
//! `signal-hook` hands signals to a plain thread: Tokio's would need a runtime on this thread, which has none, and a
//! handler of our own would need `unsafe`. The thread is made when a load begins, so that nothing else pays for it; before
//! that the system's own answer to Ctrl-C is the right one.

use std::thread;

use engine::Stop;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::exit::{Exit, Failed};
use crate::inputs::plainly;
use crate::screen::Screen;

/// Raises `stop` with the first and the second signal from now on, and says so on the screen.
///
/// # Errors
/// If the system does not let signals be caught.
pub fn raise_on_signal(stop: &Stop, screen: &Screen) -> Result<(), Failed> {
    let screen = screen.remote();
    let mut signals = signals()?;
    let stop = stop.clone();
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            for (count, _) in signals.forever().enumerate() {
                match count {
                    0 => screen.say("ending: waiting for the last answers, then the report; Ctrl-C again ends at once"),
                    1 => screen.say("ending at once"),
                    _ => {
                        live::give_back();
                        std::process::exit(Exit::Interrupted as i32)
                    }
                }
                stop.raise();
            }
        })
        .map_err(|why| uncaught(&why))?;
    Ok(())
}

/// Waits for Ctrl-C or SIGTERM.
///
/// # Errors
/// If the system does not let signals be caught.
pub fn wait() -> Result<(), Failed> {
    signals()?.forever().next();
    Ok(())
}

fn signals() -> Result<Signals, Failed> {
    Signals::new([SIGINT, SIGTERM]).map_err(|why| uncaught(&why))
}

fn uncaught(why: &std::io::Error) -> Failed {
    Failed::new(
        Exit::NotCarriedOut,
        format_args!("Ctrl-C cannot be caught: {}", plainly(why)),
        "raise the limits of open files and of threads",
    )
}
