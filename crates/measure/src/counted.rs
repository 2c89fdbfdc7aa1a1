//! The counts of one interval at rest, and a run that has nothing else left.
//!
//! A program that is killed cannot report. What it wrote down second by second is enough to report in its place, if it is the
//! exact counts and not figures made from them: intervals add up to the run. Writing the totals so far each time was rejected:
//! an hour's run would write as many as there are seconds in an hour, each as large as the whole.
//!
//! Invariant: all intervals of a run, written and read back, give the Summary that the run itself gave, but for what only the
//! end of a run can tell.

use std::collections::BTreeMap;

use plan::{Nanos, Plan};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{
    Collector, Connections, End, Ending, Example, Failure, Gaps, Histogram, OwnDelay, PackedHistogram, Quirk, Rates, Site, Snapshot,
    SourceId, SummaryBuilder, Tally,
};

/// What one interval of the whole run counted.
#[derive(Debug, Clone, PartialEq)]
pub struct IntervalCounts {
    /// The counts of all sources together.
    pub counts: Snapshot,
    /// The processor time that the busiest source has used since the start of the run.
    pub cpu_busiest: Nanos,
}

/// A [`Snapshot`], or a [`IntervalCounts`], as it stands in a file or goes over a wire. Classes and oddities are named, because their numbers change
/// from version to version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SnapshotRecord {
    interval: u32,
    due: u64,
    succeeded: u64,
    unsent: u64,
    failures: BTreeMap<Failure, u64>,
    excluded: u64,
    answered: u64,
    answered_well: u64,
    status: BTreeMap<u16, u64>,
    bytes_sent: u64,
    bytes_received: u64,
    redirects: u64,
    response_succeeded: PackedHistogram,
    response_failed: PackedHistogram,
    service: PackedHistogram,
    first_byte: PackedHistogram,
    wait: PackedHistogram,
    lag: PackedHistogram,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    own_delay: Option<(PackedHistogram, PackedHistogram)>,
    connect: PackedHistogram,
    tls: PackedHistogram,
    connections: Connections,
    quirks: BTreeMap<String, u64>,
    examples: BTreeMap<Failure, Example>,
    /// Decimal text, because it goes beyond 64 bits.
    in_flight_area: String,
    #[serde(default)]
    service_drained_ns: Nanos,
    #[serde(default)]
    service_of_warmup_ns: Nanos,
    #[serde(default, skip_serializing_if = "Gaps::is_empty")]
    gaps: Gaps,
    cpu_ns: Nanos,
    #[serde(default)]
    cpu_busiest_ns: Nanos,
    #[serde(default, skip_serializing_if = "Rates::is_empty")]
    worker_rates: Rates,
    #[serde(default, skip_serializing_if = "Tally::is_empty")]
    scenario: Tally<PackedHistogram>,
}

impl From<&IntervalCounts> for SnapshotRecord {
    fn from(counted: &IntervalCounts) -> Self {
        let IntervalCounts { counts, cpu_busiest } = counted;
        Self { cpu_busiest_ns: *cpu_busiest, ..Self::from(counts) }
    }
}

impl From<&Snapshot> for SnapshotRecord {
    fn from(counts: &Snapshot) -> Self {
        // Taken apart without `..`, so that a count nobody keeps does not compile.
        let Snapshot {
            interval,
            due,
            succeeded,
            unsent,
            failures,
            excluded,
            answered,
            answered_well,
            statuses: _,
            bytes_sent,
            bytes_received,
            redirects,
            response_succeeded,
            response_failed,
            service,
            first_byte,
            wait,
            lag,
            own_delay,
            connect,
            tls,
            connections,
            quirks,
            examples,
            in_flight_area,
            service_drained,
            service_of_warmup,
            gaps,
            cpu,
            worker_rates,
            tally,
        } = counts;
        Self {
            interval: *interval,
            due: *due,
            succeeded: *succeeded,
            unsent: *unsent,
            failures: Failure::ALL.iter().map(|class| (*class, failures[class.index()])).filter(|(_, count)| *count > 0).collect(),
            excluded: *excluded,
            answered: *answered,
            answered_well: *answered_well,
            status: counts.statuses().collect(),
            bytes_sent: *bytes_sent,
            bytes_received: *bytes_received,
            redirects: *redirects,
            response_succeeded: response_succeeded.pack(),
            response_failed: response_failed.pack(),
            service: service.pack(),
            first_byte: first_byte.pack(),
            wait: wait.pack(),
            lag: lag.pack(),
            own_delay: (!own_delay.is_empty()).then(|| (own_delay.measured.pack(), own_delay.without.pack())),
            connect: connect.pack(),
            tls: tls.pack(),
            connections: *connections,
            quirks: Quirk::ALL
                .iter()
                .map(|quirk| (quirk.code().to_owned(), quirks[quirk.index()]))
                .filter(|(_, count)| *count > 0)
                .collect(),
            examples: examples.clone(),
            in_flight_area: in_flight_area.to_string(),
            service_drained_ns: *service_drained,
            service_of_warmup_ns: *service_of_warmup,
            gaps: *gaps,
            cpu_ns: *cpu,
            worker_rates: worker_rates.clone(),
            scenario: tally.pack(),
            cpu_busiest_ns: Nanos::ZERO,
        }
    }
}

impl SnapshotRecord {
    /// Requests that fell due.
    pub(crate) const fn due(&self) -> u64 {
        self.due
    }

    /// Requests that came to an end, or were never sent.
    pub(crate) fn ended(&self) -> u64 {
        self.succeeded + self.unsent + self.failures.values().sum::<u64>()
    }
}

impl TryFrom<SnapshotRecord> for IntervalCounts {
    type Error = String;

    /// As of a [`Snapshot`].
    fn try_from(kept: SnapshotRecord) -> Result<Self, String> {
        let cpu_busiest = kept.cpu_busiest_ns;
        Ok(Self { counts: kept.try_into()?, cpu_busiest })
    }
}

impl TryFrom<SnapshotRecord> for Snapshot {
    type Error = String;

    /// The counts again; in words, if a histogram or a number is none. An oddity this version does not know is left out.
    fn try_from(kept: SnapshotRecord) -> Result<Self, String> {
        let times = |packed: &PackedHistogram| -> Result<Histogram, String> { packed.unpack() };
        let mut counts = Snapshot {
            due: kept.due,
            succeeded: kept.succeeded,
            unsent: kept.unsent,
            excluded: kept.excluded,
            answered: kept.answered,
            answered_well: kept.answered_well,
            bytes_sent: kept.bytes_sent,
            bytes_received: kept.bytes_received,
            redirects: kept.redirects,
            response_succeeded: times(&kept.response_succeeded)?,
            response_failed: times(&kept.response_failed)?,
            service: times(&kept.service)?,
            first_byte: times(&kept.first_byte)?,
            wait: times(&kept.wait)?,
            lag: times(&kept.lag)?,
            own_delay: match &kept.own_delay {
                Some((measured, without)) => OwnDelay { measured: times(measured)?, without: times(without)? },
                None => OwnDelay::default(),
            },
            connect: times(&kept.connect)?,
            tls: times(&kept.tls)?,
            connections: kept.connections,
            examples: kept.examples,
            in_flight_area: kept.in_flight_area.parse().map_err(|why| format!("'{}' is no number: {why}", kept.in_flight_area))?,
            service_drained: kept.service_drained_ns,
            service_of_warmup: kept.service_of_warmup_ns,
            gaps: kept.gaps,
            cpu: kept.cpu_ns,
            worker_rates: kept.worker_rates,
            tally: kept.scenario.unpack()?,
            ..Snapshot::empty(kept.interval)
        };
        for (class, count) in kept.failures {
            counts.failures[class.index()] = count;
        }
        for (status, count) in kept.status {
            counts.count_statuses(status, count);
        }
        for quirk in Quirk::ALL {
            counts.quirks[quirk.index()] = kept.quirks.get(quirk.code()).copied().unwrap_or(0);
        }
        Ok(counts)
    }
}

impl Serialize for Snapshot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        SnapshotRecord::from(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Snapshot {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        SnapshotRecord::deserialize(deserializer)?.try_into().map_err(de::Error::custom)
    }
}

/// A run on this site that broke off after these intervals; `None` if there is none. Requests that were under way have no end and are
/// left out of the counts, which a warning says of a run that was killed.
#[must_use]
pub fn cut_short(plan: Plan, interval: Nanos, mut intervals: Vec<IntervalCounts>, how: Ending, site: Site) -> Option<SummaryBuilder> {
    let last = intervals.last()?;
    let cpu_busiest = last.cpu_busiest;
    let until = Nanos((u64::from(last.counts.interval) + 1).saturating_mul(interval.0));
    let ended = |counts: &Snapshot| counts.succeeded + counts.failed() + counts.unsent;
    let due: u64 = intervals.iter().map(|each| each.counts.due).sum();
    let under_way = due.saturating_sub(intervals.iter().map(|each| ended(&each.counts)).sum());
    let mut left = under_way;
    for each in intervals.iter_mut().rev() {
        let out = left.min(each.counts.due);
        each.counts.due -= out;
        left -= out;
    }
    let load_until = plan.end().min(until);
    let mut collector = Collector::new(plan, 1, interval);
    collector.absorb_site(site);
    for each in &intervals {
        collector.absorb(SourceId(0), &each.counts);
        while collector.tick().is_some() {}
    }
    let (mut summary, _) = collector.finish(End { how, load_until, drained_at: until });
    summary.record.generator.cpu_share_busiest = cpu_busiest.as_secs_f64() / until.as_secs_f64();
    let killed = match under_way {
        0 => "loadline was ended from outside: what it had counted by its last whole second is here".to_owned(),
        1 => "loadline was ended from outside: what it had counted by its last whole second is here; a request under way is not".to_owned(),
        more => format!(
            "loadline was ended from outside: what it had counted by its last whole second is here; {more} requests under way are not"
        ),
    };
    summary.add_warnings((how == Ending::Killed).then_some(killed));
    Some(summary)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Outcome, Recorder, Span, fixtures};

    /// So many seconds of a run with failures, statuses and oddities, and requests still under way at the end.
    fn intervals(seconds: u32, under_way: u64) -> Vec<IntervalCounts> {
        let mut recorder = Recorder::new(Span { from: Nanos::ZERO, until: Nanos::from_secs(10) });
        let mut intervals = Vec::new();
        for second in 0..seconds {
            let begin = u64::from(second) * 1_000_000_000;
            for k in 0..200u64 {
                let due = Nanos(begin + k * 4_000_000);
                let done = Nanos(due.0 + 1_000_000 + k * 1_000);
                let result = match k % 20 {
                    0 => Ok(503),
                    1 => Err(Failure::RecvReset),
                    _ => Ok(200),
                };
                recorder.due(due);
                recorder.record(&Outcome { due, ready: due, sent: due, first_byte: done, done, bytes_out: 40, bytes_in: 120, result });
            }
            (0..under_way).for_each(|_| recorder.due(Nanos(begin + 999_000_000)));
            let mut counts = recorder.swap(Snapshot::empty(second + 1));
            counts.cpu = Nanos::from_millis(300);
            counts.quirks[0] += 2;
            intervals.push(IntervalCounts { counts, cpu_busiest: Nanos::from_millis(200 * (u64::from(second) + 1)) });
        }
        intervals
    }

    #[test]
    fn what_is_written_reads_back() {
        for counted in intervals(3, 1) {
            let text = serde_json::to_string(&SnapshotRecord::from(&counted)).unwrap();
            let read: SnapshotRecord = serde_json::from_str(&text).unwrap();
            assert_eq!(IntervalCounts::try_from(read).unwrap(), counted);
        }
    }

    #[test]
    fn kept_intervals_give_the_run_that_gave_them() {
        let plan = fixtures::plan("http://a.test/");
        let mut collector = Collector::new(plan.clone(), 1, Nanos::SECOND);
        let mut kept = Vec::new();
        for counted in intervals(10, 0) {
            collector.absorb(SourceId(0), &counted.counts);
            let (_, counted) = collector.tick_counted().unwrap();
            kept.push(counted);
        }
        let end = End { how: Ending::Killed, load_until: Nanos::from_secs(10), drained_at: Nanos::from_secs(10) };
        let (whole, _) = collector.finish(end);
        let again = cut_short(plan, Nanos::SECOND, kept, Ending::Killed, Site::default()).unwrap();
        let mut again = again.close();
        assert_eq!(again.edit_for_test().warnings.len(), 1);
        again.edit_for_test().warnings.clear();
        assert_eq!(again, whole.close());
    }

    #[test]
    fn requests_under_way_are_left_out_and_said() {
        let run = cut_short(fixtures::plan("http://a.test/"), Nanos::SECOND, intervals(4, 3), Ending::Killed, Site::default()).unwrap();
        assert_eq!((run.requests.due, run.requests.failed, run.ended.how), (800, 80, Ending::Killed));
        assert!(run.warnings[0].ends_with("12 requests under way are not"), "{:?}", run.warnings);
        assert_eq!((run.duration_s, run.qps, run.status[&503]), (4.0, 190.0, 40));
        assert!((run.generator.cpu_share_busiest - 0.2).abs() < 1e-9 && (run.generator.cpu_share - 0.3).abs() < 1e-9);
        assert_eq!(run.timeline.len(), 4);
    }

    #[test]
    fn a_run_without_a_whole_second_has_nothing_to_tell() {
        assert!(cut_short(fixtures::plan("http://a.test/"), Nanos::SECOND, Vec::new(), Ending::Killed, Site::default()).is_none());
    }
}
