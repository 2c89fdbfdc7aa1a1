//! `loadline wrk2`: wrk2's command line and report.
//!
//! wrk2 sends at a rate, each connection by a schedule of its own, and measures from when a request should have been sent. Here the
//! rate is one schedule for all connections: requests fall due evenly, take any connection that is free, and the time is counted
//! from when they fell due. There is no calibration, so every second of the run is in every figure.

use std::ffi::OsString;

use plan::Draft;
use report::wrk2::Distributions;

use crate::dialect::{Dialect, Use};
use crate::host::Host;
use crate::wrk::{self, options::Flavour};

/// wrk2.
pub const DIALECT: Dialect = Dialect { name: "wrk2", about: "open load at a rate (-R), HdrHistogram's percentiles", main, uses };

fn main(words: &[OsString], host: &dyn Host) -> u8 {
    let options = match wrk::begin(Flavour::Wrk2, words, host) {
        Ok(options) => options,
        Err(exit) => return exit,
    };
    let distributions = match (options.latency, options.uncorrected) {
        (false, _) => Distributions::None,
        (true, false) => Distributions::Recorded,
        (true, true) => Distributions::RecordedAndUncorrected,
    };
    let draft =
        Draft { rate: options.rate.and_then(|rate| format!("{rate}/s").parse().ok()), arrivals: "even".parse().ok(), ..options.draft() };
    let facts = options.facts();
    wrk::carry_out(&options, draft, host, &|run| report::wrk2::report(run, &facts, distributions))
}

fn uses(words: &[OsString], host: &dyn Host) -> Vec<Use> {
    wrk::uses_of(Flavour::Wrk2, words, host)
}
