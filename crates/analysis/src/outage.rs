//! A server that answered and then no more: it was stopped, it crashed, or it hangs.
//!
//! The mean rate of such a run is a rate the server never had, and its share of failures says how long the run went on. So the
//! moment is looked for, and the rate before it.
//!
//! Invariant: answers that come later, even after the load has ended, are no outage: that server is slow.

use measure::{Summary, Tick};
use plan::Nanos;

use crate::bottleneck::gone;

/// Silence of fewer intervals than this may be a pause.
const INTERVALS_MIN: usize = 2;
/// The same as a share of the run.
const SHARE_MIN: f64 = 0.1;

/// When a server stopped answering, and what it carried until then.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outage {
    /// The first request that was refused, or the end of the last interval with an answer; from the start of the run.
    pub at: Nanos,
    /// Answers a second before that.
    pub qps_before: f64,
}

/// The outage that the run ended in; `None` if the server answered to the end, or never.
#[must_use]
pub fn outage(run: &Summary) -> Option<Outage> {
    // One event has one moment, wherever it is told.
    if let Some(gone) = gone(run) {
        return gone.back_s.is_none().then(|| Outage { at: Nanos((gone.at_s * 1e9).round() as u64), qps_before: gone.before });
    }
    let measured: Vec<&Tick> = run.timeline.iter().filter(|tick| !tick.warmup).collect();
    let last = measured.iter().rposition(|tick| tick.answered > 0)?;
    let silent = measured[last + 1..].iter().filter(|tick| tick.to <= run.ended.load_until).count();
    let failed = measured[last + 1..].iter().any(|tick| tick.failed > 0);
    let at = measured[last].to;
    let share = run.ended.load_until.since(at).as_secs_f64() / run.ended.load_until.as_secs_f64().max(f64::MIN_POSITIVE);
    if !failed || silent < INTERVALS_MIN || share < SHARE_MIN {
        return None;
    }
    let whole = &measured[..last.max(1)];
    let answered: u64 = whole.iter().map(|tick| tick.answered).sum();
    let span = whole.last()?.to.since(whole.first()?.from).as_secs_f64();
    (span > 0.0).then(|| Outage { at, qps_before: answered as f64 / span })
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::fixtures;

    fn silent_from(second: usize) -> Summary {
        let mut run = fixtures::summaries().into_iter().find(|(name, _)| *name == "closed_all_well").unwrap().1;
        for tick in run.edit_for_test().timeline.iter_mut().skip(second) {
            (tick.answered, tick.succeeded, tick.failed) = (0, 0, 50);
        }
        run
    }

    #[test]
    fn the_moment_and_the_rate_before_it_are_found() {
        let outage = outage(&silent_from(4)).unwrap();
        assert_eq!(outage.at, Nanos::from_secs(4));
        assert!((11_900.0..12_100.0).contains(&outage.qps_before), "{outage:?}");
    }

    #[test]
    fn a_server_that_answers_to_the_end_or_again_has_none() {
        for (name, run) in fixtures::summaries() {
            assert_eq!(outage(&run), None, "{name}");
        }
        let mut run = silent_from(4);
        run.edit_for_test().timeline.last_mut().unwrap().answered = 1;
        assert_eq!(outage(&run), None);
        assert_eq!(outage(&silent_from(9)), None, "a last second without an answer may be a pause");
    }
}
