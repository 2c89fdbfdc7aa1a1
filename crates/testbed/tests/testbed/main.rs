//! The testbed over real sockets: what it serves, counts and breaks.
//!
//! The arithmetic of behaviour is tested beside the code without a clock. Here plain blocking clients see the bytes.

mod behaviour;
mod client;
mod encryption;
mod hostility;
mod service;

use std::time::{Duration, Instant};

/// Waits until something holds that other threads bring about, generously.
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < deadline, "never came true: {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
