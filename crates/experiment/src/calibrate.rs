//! What this machine can send at most, and how late its requests leave at a part of that: climbed against a server that does nothing.

use std::num::NonZeroU32;

use measure::{Ending, Summary};
use plan::{Draft, Nanos, PlanErrors, Rate, Setting, Spacing, Stage, Timetable};
use serde::{Deserialize, Serialize};
use trial::RunError;

use analysis::quantity::figure;

use crate::bench::{Bench, Decide, Load, Role, to_its_end};

/// One that keeps a request on its way at a time, a few, and as many as a thread needs to be always busy.
const CONNECTIONS: [u32; 3] = [1, 16, 128];
/// Shares of the ceiling at which the lag is measured.
const RATES: [f64; 5] = [0.1, 0.25, 0.5, 0.75, 0.9];

/// What is measured.
pub struct Settings<'a> {
    /// A server that does nothing, with everything that it takes to reach it.
    pub server: Draft,
    /// Whether it is reached over TLS.
    pub tls: bool,
    /// Numbers of threads to measure with, ascending.
    pub threads: &'a [u32],
    /// How long each load lasts.
    pub duration: Nanos,
    /// Makes the plan of a load.
    pub decide: Decide<'a>,
}

/// The most requests a second against a server that does nothing.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Ceiling {
    /// Threads of the generator.
    pub threads: u32,
    /// Connections, each used again as soon as it is free.
    pub connections: u32,
    /// Whether it spoke TLS.
    pub tls: bool,
    /// Requests a second that were reached.
    pub qps_reached: f64,
    /// The share of a core the busiest thread needed for that.
    pub cpu_share_busiest: f64,
}

impl Ceiling {
    /// Requests a second at which the busiest thread has no processor time left. Where the null server gave out before the
    /// generator did, by what a request cost.
    #[must_use]
    pub fn qps(&self) -> f64 {
        self.qps_reached / self.cpu_share_busiest.clamp(0.01, 1.0)
    }
}

/// How late requests left at one rate.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct LagAt {
    /// Threads of the generator.
    pub threads: u32,
    /// Whether it spoke TLS.
    pub tls: bool,
    /// Requests a second asked for.
    pub offered: f64,
    /// Requests a second answered.
    pub answered: f64,
    /// The median lag in nanoseconds.
    pub p50_ns: Option<u64>,
    /// The 99th percentile of the lag in nanoseconds.
    pub p99_ns: Option<u64>,
}

/// What was measured of this machine.
#[derive(Debug, Clone, Default)]
pub struct Reach {
    /// The most requests a second, by threads and connections.
    pub ceilings: Vec<Ceiling>,
    /// How late requests leave, by rate.
    pub lags: Vec<LagAt>,
}

/// Measures ceilings, then lags below them; `tell` hears of each ceiling. Nothing if the user wants to end.
///
/// # Errors
/// If a load cannot be decided or carried out.
pub fn carry_out(settings: &Settings<'_>, bench: &mut dyn Bench, tell: &mut dyn FnMut(&Ceiling)) -> Result<Option<Reach>, RunError> {
    let mut reach = Reach::default();
    let Settings { tls, threads, duration, .. } = *settings;
    for threads in threads {
        for connections in CONNECTIONS.into_iter().filter(|connections| connections >= threads) {
            let draft = Draft {
                connections: NonZeroU32::new(connections).map(|users| Setting::Value(users.into())),
                threads: NonZeroU32::new(*threads).map(Setting::Value),
                duration: Some(Setting::Value(duration)),
                ..settings.server.clone()
            };
            let Some(run) = measure(settings, draft, format!("{connections} connections"), bench)? else { return Ok(None) };
            let (qps_reached, cpu_share_busiest) = (run.qps, run.generator.cpu_share_busiest);
            let ceiling = Ceiling { threads: *threads, connections, tls, qps_reached, cpu_share_busiest };
            tell(&ceiling);
            reach.ceilings.push(ceiling);
        }
    }
    for threads in threads {
        let reached = reach.ceilings.iter().filter(|ceiling| ceiling.threads == *threads);
        let most = reached.map(|ceiling| ceiling.qps_reached).fold(0.0, f64::max);
        for rate in RATES.into_iter().filter_map(|share| Rate::per_second((most * share).max(1.0))) {
            let draft = Draft {
                rate: Some(Setting::Value(Timetable::new(vec![Stage::constant(rate, Some(duration))]))),
                arrivals: Some(Setting::Value(Spacing::Even)),
                threads: NonZeroU32::new(*threads).map(Setting::Value),
                connections: NonZeroU32::new(CONNECTIONS[2].max(*threads)).map(|users| Setting::Value(users.into())),
                ..settings.server.clone()
            };
            let title = format!("{}/s", figure(rate.as_per_second()));
            let Some(run) = measure(settings, draft, title, bench)? else { return Ok(None) };
            reach.lags.push(LagAt {
                threads: *threads,
                tls,
                offered: rate.as_per_second(),
                answered: run.qps,
                p50_ns: run.lag.known_quantile(0.5).map(|lag| lag.0),
                p99_ns: run.lag.known_quantile(0.99).map(|lag| lag.0),
            });
        }
    }
    Ok(Some(reach))
}

/// One load; nothing if the user wants to end.
fn measure(settings: &Settings<'_>, draft: Draft, title: String, bench: &mut dyn Bench) -> Result<Option<Summary>, RunError> {
    let undecided = |mistakes: PlanErrors| RunError::input(mistakes.wording(), "calibrate without a load of your own");
    let plan = (settings.decide)(draft).map_err(undecided)?;
    if bench.is_interrupted() {
        return Ok(None);
    }
    let run = bench.measure(&Load { plan: &plan, title, role: Role::Trial }, &mut to_its_end)?.run;
    Ok((run.ended.how != Ending::Interrupted).then_some(run))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    use crate::simulated::{Pool, SimulatedBench, decide};

    #[test]
    fn ceilings_come_first_and_lags_are_measured_at_a_part_of_the_highest() {
        let mut bench = SimulatedBench::new(Pool::new(1_000, Duration::from_millis(1)));
        let settings = Settings { server: Draft::default(), tls: false, threads: &[1], duration: Nanos::SECOND, decide: &decide };
        let mut told = 0;
        let reach = carry_out(&settings, &mut bench, &mut |_| told += 1).unwrap().unwrap();
        assert_eq!((told, reach.ceilings.len(), reach.lags.len()), (3, CONNECTIONS.len(), RATES.len()));
        let most = reach.ceilings.iter().map(|ceiling| ceiling.qps_reached).fold(0.0, f64::max);
        assert!((most / 128_000.0 - 1.0).abs() < 0.02, "{most}");
        assert!(reach.lags.iter().zip(RATES).all(|(lag, share)| (lag.offered / (most * share) - 1.0).abs() < 1e-9));
    }

    #[test]
    fn nothing_is_known_of_a_calibration_that_was_ended() {
        let mut bench = SimulatedBench::new(Pool::new(8, Duration::from_millis(1)));
        bench.interrupted_in = Some(2);
        let settings = Settings { server: Draft::default(), tls: false, threads: &[1], duration: Nanos::SECOND, decide: &decide };
        assert!(carry_out(&settings, &mut bench, &mut |_| ()).unwrap().is_none());
    }
}
