//! Whether a run says something about the server, or only about the machine that loaded it.
//!
//! A load generator at its limit looks exactly like a slow server: fewer requests, longer times. What tells them apart
//! is the generator's own health, which every Summary carries. The thresholds are those of docs/measurement.md §1.9: a worker
//! that uses more than 85 % of its core, or sends later than max(100 µs, 5 % of the median service time) for one request
//! in a hundred. Time spent waiting for a free connection is not among them: that is the server's slowness or the limit on
//! connections, and belongs to the response time.

use std::fmt;

use measure::Summary;
use plan::Nanos;

use crate::quantity::percent;

/// A worker that uses more of its core than this has no room left for bursts (docs/measurement.md §1.9).
const CPU_SHARE_MAX: f64 = 0.85;
/// Lag below this is scheduling noise of any Linux machine (docs/measurement.md §1.9).
const LAG_P99_MIN: Nanos = Nanos::from_micros(100);
/// Lag above this share of the median service time distorts what is measured (docs/measurement.md §1.9).
const LAG_OF_SERVICE_MAX: f64 = 0.05;
/// Starting threads and reading certificates takes some ten milliseconds: 1 % of this.
const RUN_MIN: Nanos = Nanos::SECOND;

/// Waiting for a core longer than this share of the time lengthens what is measured (docs/measurement.md §1.9).
const RUN_QUEUE_SHARE_MAX: f64 = 0.01;
/// A host that takes more than this share away makes two runs incomparable (docs/measurement.md §1.9).
const STEAL_SHARE_MAX: f64 = 0.01;

/// Why the generator, not the server, limited a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GeneratorLimit {
    /// The busiest worker used this share of a core, from 0 to 1.
    Processor(f64),
    /// One send in a hundred was later than this.
    Lag(Nanos),
}

/// What limited the run on the generator's side; `None` when the figures are the server's.
#[must_use]
pub fn generator_limit(summary: &Summary) -> Option<GeneratorLimit> {
    let busiest = summary.generator.cpu_share_busiest;
    if busiest >= CPU_SHARE_MAX && processor_share_is_known(summary) {
        return Some(GeneratorLimit::Processor(busiest));
    }
    // Of few samples the 99th percentile is the greatest, and one late send convicts nobody.
    let lag = summary.lag.known_quantile(0.99)?;
    let median = summary.service_time.quantile(0.5)?;
    let allowed = LAG_P99_MIN.max(Nanos((median.0 as f64 * LAG_OF_SERVICE_MAX) as u64));
    (lag > allowed).then_some(GeneratorLimit::Lag(lag))
}

/// Whether the run was long enough for a share of the processor: in a shorter one, starting up is most of it.
#[must_use]
pub fn processor_share_is_known(summary: &Summary) -> bool {
    summary.ended.drained_at >= RUN_MIN
}

/// What makes the times longer than the server's own without being the generator's limit, one sentence each.
#[must_use]
pub fn disturbances(summary: &Summary) -> Vec<String> {
    let generator = &summary.generator;
    let mut said = Vec::new();
    if let Some(share) = generator.run_queue_share.filter(|share| *share > RUN_QUEUE_SHARE_MAX) {
        said.push(format!(
            "a thread of loadline was ready but got no core for {} % of the time: others, perhaps the server itself, use the same cores, and \
             times may be longer than the server's own",
            percent(share * 100.0)
        ));
    }
    if let Some(share) = generator.steal_share.filter(|share| *share > STEAL_SHARE_MAX) {
        said.push(format!(
            "the host of this machine gave {} % of its processor time to others: repeat the run before comparing it with another",
            percent(share * 100.0)
        ));
    }
    said
}

/// Completes "the load generator was the limit: …".
impl fmt::Display for GeneratorLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Processor(share) => write!(f, "its busiest thread used {:.0} % of a core", share * 100.0),
            Self::Lag(lag) => write!(f, "one send in a hundred was more than {:.0} µs late", lag.0 as f64 / 1e3),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::{Histogram, fixtures};

    fn healthy() -> Summary {
        fixtures::summaries().into_iter().find(|(name, _)| *name == "closed_all_well").unwrap().1
    }

    fn lagging(lag: Nanos) -> Summary {
        let mut summary = healthy();
        summary.lag = Histogram::new();
        (0..2_000).for_each(|_| summary.lag.record(lag));
        summary
    }

    #[test]
    fn a_generator_with_room_to_spare_is_not_the_limit() {
        assert_eq!(generator_limit(&healthy()), None);
    }

    #[test]
    fn a_worker_that_fills_its_core_is_the_limit() {
        let mut summary = healthy();
        summary.generator.cpu_share_busiest = 0.97;
        assert_eq!(generator_limit(&summary).unwrap().to_string(), "its busiest thread used 97 % of a core");
    }

    #[test]
    fn a_run_too_short_to_tell_is_not_blamed_on_the_processor() {
        let mut summary = healthy();
        summary.generator.cpu_share_busiest = 0.97;
        summary.ended.drained_at = Nanos::from_millis(20);
        assert_eq!(generator_limit(&summary), None);
    }

    #[test]
    fn late_sends_are_the_limit_only_beyond_noise_and_beyond_a_share_of_the_service_time() {
        // The median service time of this fixture is above a millisecond, so that 100 µs is above 5 % of it.
        assert_eq!(generator_limit(&lagging(Nanos::from_micros(90))), None);
        assert_eq!(
            generator_limit(&lagging(Nanos::from_millis(2))).unwrap().to_string(),
            "one send in a hundred was more than 2000 µs late"
        );
        let mut slow = lagging(Nanos::from_millis(2));
        slow.service_time = Histogram::new();
        (0..2_000).for_each(|_| slow.service_time.record(Nanos::from_millis(100)));
        assert_eq!(generator_limit(&slow), None, "2 ms of 100 ms are within 5 %");
    }

    #[test]
    fn what_disturbs_a_run_is_said_only_above_its_threshold() {
        let mut summary = healthy();
        summary.generator.run_queue_share = Some(0.009);
        summary.generator.steal_share = None;
        assert!(disturbances(&summary).is_empty());
        summary.generator.run_queue_share = Some(0.042);
        summary.generator.steal_share = Some(0.03);
        let said = disturbances(&summary);
        assert!(said[0].contains("no core for 4.2 %") && said[1].contains("gave 3 %"), "{said:?}");
    }

    #[test]
    fn too_few_sends_convict_nobody() {
        let mut summary = healthy();
        summary.lag = Histogram::new();
        summary.lag.record(Nanos::SECOND);
        assert_eq!(generator_limit(&summary), None);
    }
}
