//! Whether a run's figures can be true together: as many requests are under way as come per second times how long each takes.
//!
//! Every load tester can lose samples, mistake a unit or clamp long times, and its report still looks fine. Little's law is an
//! identity: N̄ = X·R̄ over any span, whatever the arrivals. With N̄ counted apart from the stamps that R̄ is made of, any such
//! mistake breaks it. The span is that of the load: what a request was on the wire after its end, while draining, is on neither side.
//! (With all of its time on one of them, a load whose requests wait in line long after its end would seem to have lost half of them.)
//! Nor what requests of the warm-up took after its end: it belongs to what was under way, and is added to their times. The law holds if
//! the two sides differ by no more than max(1 %, 3·R̄/T) (docs/measurement.md §2.7).

use measure::{Failure, Summary, Tick, WarmUp};
use plan::Nanos;
use serde::Serialize;

use crate::drift::theil_sen;

/// A law that may be wrong by half checks nothing: such a run was hardly longer than its requests.
const TOLERANCE_MAX: f64 = 0.5;
/// A timeout is recorded at its limit and leaves the wire when it is noticed: a twentieth of the limit later, from 1 to 50 ms.
const NOTICED_LATE: f64 = 0.05;
const NOTICED_LATE_MIN_S: f64 = 1e-3;
const NOTICED_LATE_MAX_S: f64 = 0.05;
const TOLERANCE_MIN: f64 = 0.01;
const TOLERANCE_EDGES: f64 = 3.0;
/// A backlog that grows by more than this share of the rate has no stationary response time (docs/measurement.md §2.7).
const GROWTH_MAX: f64 = 0.01;

/// Both sides of Little's law.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LittlesLaw {
    /// Requests under way on average, counted by themselves.
    pub in_flight: f64,
    /// The same from throughput and mean time.
    pub expected: f64,
    /// |N̄ − X·R̄| / N̄.
    pub error: f64,
    /// How much it may be.
    pub tolerance: f64,
    /// Whether it is no more.
    pub holds: bool,
}

/// `in_flight` requests under way on average, `per_second` of them ended a second after `mean_seconds` each, over
/// `span_seconds`. In closed load with pauses, give the users and the mean time with the pause in it: N = X·(R̄ + Z̄).
/// `None` where nothing was under way.
#[must_use]
pub fn littles_law(in_flight: f64, per_second: f64, mean_seconds: f64, span_seconds: f64) -> Option<LittlesLaw> {
    if in_flight.is_nan() || in_flight <= 0.0 || span_seconds <= 0.0 {
        return None;
    }
    let expected = per_second * mean_seconds;
    let error = (in_flight - expected).abs() / in_flight;
    let tolerance = TOLERANCE_MIN.max(TOLERANCE_EDGES * mean_seconds / span_seconds);
    Some(LittlesLaw { in_flight, expected, error, tolerance, holds: error <= tolerance })
}

/// Little's law on the wire of a run: what was counted there against the times its requests took; `None` where some of them have no time.
#[must_use]
pub fn of_run(run: &Summary) -> Option<LittlesLaw> {
    // What another tool's file tells of is counted by its times: the two sides would be one.
    if run.measured_by.is_some() {
        return None;
    }
    // A request that broke off was under way and has no service time, so that the two sides would not be about the same.
    let timed = |class: Failure| class.is_answered() || class.is_timeout() || class.is_unsent();
    if run.failures.iter().any(|failure| !timed(failure.class)) || run.duration_s <= 0.0 {
        return None;
    }
    let drained = run.service_drained?.0 as f64;
    let mean = run.service_time.mean()? / 1e9;
    let within = (run.service_time.sum() as f64 - drained + run.service_of_warmup.0 as f64) / 1e9;
    let mut law = littles_law(run.in_flight_mean, within / mean / run.duration_s, mean, run.duration_s)?;
    let timeouts: u64 = run.failures.iter().filter(|failure| failure.class.is_timeout()).map(|failure| failure.count).sum();
    let limit = run.plan.connection().timeout.as_secs_f64();
    let late = (limit * NOTICED_LATE).clamp(NOTICED_LATE_MIN_S, NOTICED_LATE_MAX_S);
    law.tolerance += timeouts as f64 * late / (run.in_flight_mean * run.duration_s);
    law.holds = law.error <= law.tolerance;
    // A request of several parts is off the wire between them, but not in its service time; and of those under way where a warm-up was found
    // to end it is not known how much of their times lies before.
    let was_cut = matches!(run.excluded.found, Some(WarmUp::Until { at, .. }) if at > Nanos::ZERO);
    let is_exact = run.redirects == 0 && run.plan.scenario().is_none() && !was_cut;
    (law.tolerance < TOLERANCE_MAX && (law.holds || is_exact)).then_some(law)
}

/// By how many requests a second the backlog grew, if that is more than 1 % of those that fell due: then there is no
/// stationary response time, and every percentile depends on how long the run was. For open load; `None` if it did not grow.
#[must_use]
pub(crate) fn backlog_growth(ticks: &[Tick], until: Nanos) -> Option<f64> {
    let ticks: Vec<&Tick> = ticks.iter().filter(|tick| !tick.warmup && tick.to <= until).collect();
    let seconds = ticks.last()?.to.since(ticks.first()?.from).as_secs_f64();
    if ticks.len() < 5 || seconds <= 0.0 {
        return None;
    }
    // An hour has as clear a slope in some hundred points.
    let each = ticks.len().div_ceil(300);
    let backlog: Vec<f64> = ticks.chunks_exact(each).map(|chunk| chunk[chunk.len() - 1].in_flight as f64).collect();
    let growth = theil_sen(&backlog) / (seconds / ticks.len() as f64 * each as f64);
    let rate = ticks.iter().map(|tick| tick.due).sum::<u64>() as f64 / seconds;
    (rate > 0.0 && growth > GROWTH_MAX * rate).then_some(growth)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::ticks;
    use measure::fixtures;

    #[test]
    fn two_hundred_under_way_at_ten_thousand_a_second_take_twenty_milliseconds() {
        let law = littles_law(200.0, 10_000.0, 0.020, 60.0).unwrap();
        assert!(law.holds && law.error < 1e-12);
        assert!(!littles_law(200.0, 10_000.0, 0.018, 60.0).unwrap().holds, "a tenth of the time was lost");
        assert!(!littles_law(200.0, 9_000.0, 0.020, 60.0).unwrap().holds, "a tenth of the requests was lost");
    }

    #[test]
    fn a_short_run_is_allowed_its_edges() {
        // Requests of a second in a run of ten: 30 %.
        let law = littles_law(100.0, 80.0, 1.0, 10.0).unwrap();
        assert!(law.holds && (law.tolerance - 0.3).abs() < 1e-12);
        assert!(!littles_law(100.0, 60.0, 1.0, 10.0).unwrap().holds);
        assert_eq!((littles_law(0.0, 0.0, 0.0, 10.0), littles_law(1.0, 1.0, 1.0, 0.0)), (None, None));
    }

    #[test]
    fn what_leaves_the_wire_late_or_for_a_while_breaks_no_law() {
        let fixture = |name: &str| fixtures::summaries().into_iter().find(|(other, _)| *other == name).unwrap().1;
        let whole = fixture("closed_all_well");
        let with = |change: &dyn Fn(&mut Summary)| {
            let mut run = whole.clone();
            run.edit_for_test().in_flight_mean *= 1.04;
            change(&mut run);
            of_run(&run).map(|law| law.holds)
        };
        assert_eq!(with(&|_| ()), Some(false));
        assert_eq!(with(&|run| run.edit_for_test().redirects = 1), None);
        let timeouts =
            |count| measure::FailureCount { class: Failure::RecvIdleTimeout, side: Failure::RecvIdleTimeout.side(), count, example: None };
        // Of 30 s each, noticed up to 50 ms late, where some 18 requests were under way for 10 s.
        assert_eq!([1, 200].map(|count| with(&|run| run.edit_for_test().failures.push(timeouts(count)))), [Some(false), Some(true)]);
        // What a load in line for its connections sends while draining is on neither side.
        let mut drained = whole.clone();
        let half = drained.service_time.sum() / 2;
        drained.edit_for_test().service_drained = Some(Nanos(half as u64));
        drained.edit_for_test().in_flight_mean /= 2.0;
        assert!(of_run(&drained).unwrap().holds);
        drained.edit_for_test().service_drained = None;
        assert_eq!(of_run(&drained), None, "older results do not tell");
        // A burst of the warm-up that is answered after it is on both sides.
        let of_warmup = Nanos((whole.in_flight_mean * 0.04 * whole.duration_s * 1e9) as u64);
        assert_eq!(with(&|run| run.edit_for_test().service_of_warmup = of_warmup), Some(true));
        let cut = |at| Some(WarmUp::Until { at, series: measure::Series::Throughput });
        assert_eq!([0, 2].map(|at| with(&|run| run.edit_for_test().excluded.found = cut(Nanos::from_secs(at)))), [Some(false), None]);
    }

    #[test]
    fn a_backlog_that_grows_is_seen_and_one_that_swings_is_not() {
        let mut ticks = ticks(40, 100, 3, |_| 1.0);
        assert_eq!(backlog_growth(&ticks, Nanos::from_secs(40)), None);
        ticks.iter_mut().enumerate().for_each(|(k, tick)| tick.in_flight = 50 + 40 * (k as u64 % 2));
        assert_eq!(backlog_growth(&ticks, Nanos::from_secs(40)), None);
        ticks.iter_mut().enumerate().for_each(|(k, tick)| tick.in_flight = 50 + 7 * k as u64);
        assert!((backlog_growth(&ticks, Nanos::from_secs(40)).unwrap() - 7.0).abs() < 1e-9);
        assert_eq!(backlog_growth(&[], Nanos::ZERO), None);
    }
}
