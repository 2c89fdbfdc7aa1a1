//! Whether a server that was loaded is as it was before.

use std::num::NonZeroU64;

use analysis::search::Pause;
use measure::{Scenario, Summary};
use plan::Nanos;
use trial::RunError;

use super::Loads;
use crate::bench::{Bench, Load, Role, to_its_end};

/// Of the requests that show the server unloaded, and of those that show whether it has recovered.
const UNLOADED_REQUESTS: NonZeroU64 = NonZeroU64::new(10).unwrap();
const PROBE_REQUESTS: NonZeroU64 = NonZeroU64::new(3).unwrap();
/// From one probe to the next (docs/measurement.md §2.4).
const PROBE_EVERY: Nanos = Nanos::SECOND;
/// Back within so many times the unloaded median is recovered (docs/measurement.md §2.4).
const RECOVERED_WITHIN: f64 = 1.5;
/// Between two single requests the scheduler alone makes differences of this size.
const PROBE_NOISE: Nanos = Nanos::from_millis(1);

/// A server before it was loaded.
pub(super) struct UnloadedServer(Summary);

/// Requests one by one before the search: what probes are compared with.
pub(super) fn look(loads: &mut Loads<'_>, bench: &mut dyn Bench) -> Result<Summary, RunError> {
    let plan = loads.probe(UNLOADED_REQUESTS).map_err(|mistakes| super::undecided(&mistakes))?;
    let load = Load { plan: &plan, title: "before the search".to_owned(), role: Role::Probe };
    Ok(bench.measure(&load, &mut to_its_end)?.run)
}

/// Waits for so many seconds at least and until the server is well, or for so many at most; nothing if the user wants to end.
pub(super) fn wait(
    loads: &mut Loads<'_>,
    unloaded: &UnloadedServer,
    [shortest, longest]: [f64; 2],
    bench: &mut dyn Bench,
) -> Option<Pause> {
    let begun = bench.now();
    let [shortest, longest] = [shortest, longest].map(|seconds| begun.plus(Nanos((seconds * 1e9) as u64)));
    let mut recovered = false;
    while !bench.is_interrupted() {
        let probed = bench.now();
        recovered = unloaded.is_as_before(loads, bench);
        let now = bench.now();
        if recovered && now >= shortest || now >= longest {
            break;
        }
        bench.rest(probed.plus(PROBE_EVERY).min(longest).since(now));
    }
    (!bench.is_interrupted()).then(|| Pause { seconds: bench.now().since(begun).as_secs_f64(), recovered })
}

impl UnloadedServer {
    pub(super) const fn of(run: Summary) -> Self {
        Self(run)
    }

    pub(super) const fn run(&self) -> &Summary {
        &self.0
    }

    /// The median response time; `None` if nothing succeeded.
    pub(super) fn median(&self) -> Option<Nanos> {
        median(&self.0)
    }

    /// Whether a probe is back to normal. Where nothing succeeded before the search, nothing better is expected.
    fn is_as_before(&self, loads: &mut Loads<'_>, bench: &mut dyn Bench) -> bool {
        let Some(median_before) = self.median() else { return true };
        let Ok(plan) = loads.probe(PROBE_REQUESTS) else { return false };
        let load = Load { plan: &plan, title: "waiting until the server has recovered".to_owned(), role: Role::Probe };
        // That nobody listens any more is a server that has not recovered, and no error.
        let Ok(measured) = bench.measure(&load, &mut to_its_end) else { return false };
        let (before, now) = (&self.0, &measured.run);
        match (&before.scenario, &now.scenario) {
            (Some(before_by_step), Some(by_step)) => {
                now.requests.failed <= before.requests.failed && steps_are_well(before_by_step, by_step)
            }
            _ => {
                let slowest = ((median_before.0 as f64 * RECOVERED_WITHIN) as u64).max(median_before.plus(PROBE_NOISE).0);
                now.requests.succeeded == now.requests.due && median(now).is_some_and(|it| it.0 <= slowest)
            }
        }
    }
}

fn median(run: &Summary) -> Option<Nanos> {
    run.response_time_succeeded.quantile(0.5)
}

/// Whether the steps of a probe took no longer than they did before the search. Which steps a probe comes to is chance, so each is held
/// against itself; those that did not come up before say nothing.
fn steps_are_well(before: &Scenario, now: &Scenario) -> bool {
    let (mut took, mut expected, mut count) = (0.0, 0.0, 0);
    for (step, earlier) in now.steps.iter().zip(&before.steps) {
        if let (Some(mean), Some(mean_before)) = (step.response_time.mean(), earlier.response_time.mean()) {
            let times = step.response_time.count();
            took += mean * times as f64;
            expected += mean_before * times as f64;
            count += times;
        }
    }
    let noise = PROBE_NOISE.0 as f64 * count as f64;
    took <= (expected * RECOVERED_WITHIN).max(expected + noise)
}
