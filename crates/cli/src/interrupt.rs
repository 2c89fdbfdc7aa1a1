//! Ctrl-C, SIGTERM and the end of the terminal (SIGHUP) become a [`Stop`].
//!
//! A load test that is cut short has measured something, and the user wants to see it. So the first signal ends the load
//! and lets requests in flight finish, the second ends the run at once, both with the report; a third ends the program.
//! `signal-hook` hands signals to a plain thread: Tokio's would need a runtime on this thread, which has none, and a
//! handler of our own would need `unsafe`. The thread is made when a load begins, so that nothing else pays for it; before
//! that the system's own answer to Ctrl-C is the right one.
//!
//! A signal that whoever started us wants ignored stays ignored: a shell does so with Ctrl-C for what a script puts into the background,
//! and nohup with the end of the terminal.

use std::thread;

use engine::Stop;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::exit::{Exit, Failed};
use crate::inputs::plainly;
use crate::screen::Screen;

/// Raises `stop` with the first and the second signal from now on, and says so on the screen.
///
/// # Errors
/// If the system does not let signals be caught.
pub fn raise_on_signal(stop: &Stop, screen: &Screen) -> Result<(), Failed> {
    let (screen, stop) = (screen.remote(), stop.clone());
    listen(signals()?, move |count| {
        match count {
            0 => screen.say("ending: waiting for the last answers, then the report; Ctrl-C again ends at once"),
            1 => screen.say("ending at once"),
            _ => {
                live::give_back();
                std::process::exit(Exit::Interrupted as i32)
            }
        }
        stop.raise();
    })
}

/// Waits for Ctrl-C, SIGTERM or SIGHUP; gives those that come after it.
///
/// # Errors
/// If the system does not let signals be caught.
pub fn wait() -> Result<Signals, Failed> {
    let mut signals = signals()?;
    signals.forever().next();
    Ok(signals)
}

/// Raises `stop` with the next of these signals; the one after it ends the program.
///
/// # Errors
/// If there is no thread for it.
pub fn raise_again(signals: Signals, stop: Stop) -> Result<(), Failed> {
    listen(signals, move |count| {
        if count > 0 {
            std::process::exit(Exit::Interrupted as i32)
        }
        stop.raise();
    })
}

/// Calls `heard` on a thread of its own with how many of these signals came before each.
fn listen(mut signals: Signals, mut heard: impl FnMut(usize) + Send + 'static) -> Result<(), Failed> {
    let listening = move || signals.forever().enumerate().for_each(|(count, _)| heard(count));
    thread::Builder::new().name("signals".to_owned()).spawn(listening).map(drop).map_err(|why| uncaught(&why))
}

fn signals() -> Result<Signals, Failed> {
    let ignored = ignored();
    let heeded = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0);
    Signals::new(heeded).map_err(|why| uncaught(&why))
}

/// The signals that this process ignores, a bit each (proc_pid_status(5)); none where the system does not tell. Once one is caught it is
/// no longer among them, and it is never let go.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or_default();
    u64::from_str_radix(mask.trim(), 16).unwrap_or(0)
}

fn uncaught(why: &std::io::Error) -> Failed {
    Failed::new(
        Exit::NotCarriedOut,
        format_args!("Ctrl-C cannot be caught: {}", plainly(why)),
        "raise the limits of open files and of threads",
    )
}
