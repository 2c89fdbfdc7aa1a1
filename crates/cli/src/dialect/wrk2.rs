//! `loadline wrk2`: wrk2's command line and report.
//!
//! wrk2 sends at a rate, each connection by a schedule of its own, and measures from when a request should have been sent. Here the
//! rate is one schedule for all connections: requests fall due evenly, take any connection that is free, and the time is counted
//! from when they fell due. There is no calibration, so every second of the run is in every figure.

use std::ffi::OsString;
use std::process::ExitCode;

use plan::Draft;
use report::wrk2::Distributions;

use super::wrk::asked::Flavour;
use super::{Dialect, Use, wrk};

/// wrk2.
pub const DIALECT: Dialect = Dialect { name: "wrk2", about: "open load at a rate (-R), HdrHistogram's percentiles", main, uses };

fn main(words: &[OsString]) -> ExitCode {
    let asked = match wrk::begin(Flavour::Wrk2, words) {
        Ok(asked) => asked,
        Err(exit) => return exit,
    };
    let distributions = match (asked.latency, asked.uncorrected) {
        (false, _) => Distributions::None,
        (true, false) => Distributions::Recorded,
        (true, true) => Distributions::RecordedAndUncorrected,
    };
    let draft =
        Draft { rate: asked.rate.and_then(|rate| format!("{rate}/s").parse().ok()), arrivals: "even".parse().ok(), ..asked.draft() };
    let facts = asked.facts();
    wrk::carry_out(&asked, draft, &|run| report::wrk2::report(run, &facts, distributions))
}

fn uses(words: &[OsString]) -> Vec<Use> {
    wrk::uses_of(Flavour::Wrk2, words)
}
