//! Puts Snapshots together into Ticks and a run, which others complete.
//!
//! It does not know the clock, and it cannot tell threads from machines: whoever sends a Snapshot is a source with a
//! number. An interval is over when every source has handed it over, so a Tick is exact, however late it comes.
//!
//! Memory does not grow with time either: the timeline holds at most [`TICKS_MAX`] intervals. When it is full,
//! neighbours are put together and intervals count twice as long from then on.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use plan::{Nanos, Plan};

use crate::site_row::{SiteCounts, SiteMember};
use crate::source::SourceId;
use crate::warmup::Early;
use crate::{End, Failure, IntervalCounts, Leftovers, Site, Snapshot, SummaryBuilder, Tick};

/// An hour in seconds.
pub(crate) const TICKS_MAX: usize = 3600;

/// The run so far.
#[derive(Debug)]
pub struct Collector {
    plan: Plan,
    interval: Nanos,
    /// How many intervals each source has handed over.
    sources: BTreeMap<SourceId, u32>,
    /// Processor time by source.
    cpu: BTreeMap<SourceId, Nanos>,
    /// Intervals not yet complete, by number.
    open: BTreeMap<u32, Snapshot>,
    /// The first interval without a Tick.
    next: u32,
    /// Those of the intervals that are over.
    totals: Snapshot,
    timeline: Vec<Tick>,
    /// Each entry of the timeline holds so many intervals.
    stride: u32,
    connections_peak: u64,
    /// Due and ended requests in all ticks so far, warm-up included in neither.
    in_flight: u64,
    /// What may turn out to be warm-up, where that is to be found.
    early: Option<Early>,
    site: Site,
    left: Leftovers,
    /// Sources that are gone, by why.
    lost: BTreeMap<String, u32>,
    /// Why sources were gone when everything was counted and something was left to do.
    unknown_leftovers: BTreeSet<String>,
    /// The sites of a run of several.
    sites: Vec<SiteCounts>,
    site_of: BTreeMap<SourceId, usize>,
    /// The longest that a source was ready to run and got no core.
    run_queue_wait: Option<Nanos>,
}

impl Collector {
    /// Waits for `sources` sources, numbered from 0, that each hand over a Snapshot every `interval`.
    #[must_use]
    pub fn new(plan: Plan, sources: u32, interval: Nanos) -> Self {
        Self {
            early: plan.finds_warmup().then(|| Early::new(interval)),
            plan,
            interval,
            sources: (0..sources).map(|source| (SourceId(source), 0)).collect(),
            cpu: BTreeMap::new(),
            open: BTreeMap::new(),
            next: 0,
            totals: Snapshot::default(),
            timeline: Vec::new(),
            stride: 1,
            connections_peak: 0,
            in_flight: 0,
            site: Site::default(),
            left: Leftovers::default(),
            lost: BTreeMap::new(),
            unknown_leftovers: BTreeSet::new(),
            sites: Vec::new(),
            site_of: BTreeMap::new(),
            run_queue_wait: None,
        }
    }

    /// Takes the counts of one interval of one source. Those of a single source are kept as they are: a copy of their histograms is a megabyte.
    pub fn absorb(&mut self, source: SourceId, snapshot: Snapshot) {
        let handed_over = self.sources.entry(source).or_insert(0);
        *handed_over = (*handed_over).max(snapshot.interval + 1);
        *self.cpu.entry(source).or_default() += snapshot.cpu;
        if let Some(site) = self.site_with(source) {
            site.add(&snapshot);
        }
        match self.open.entry(snapshot.interval) {
            Entry::Vacant(place) => _ = place.insert(snapshot),
            Entry::Occupied(mut open) => open.get_mut().add(&snapshot),
        }
    }

    /// A site joins, before any of its sources tells something: it has a row of its own.
    pub fn join(&mut self, member: SiteMember) {
        self.site_of.extend(member.sources.iter().map(|source| (*source, self.sites.len())));
        self.sites.push(SiteCounts::new(member));
    }

    fn site_with(&mut self, source: SourceId) -> Option<&mut SiteCounts> {
        self.site_of.get(&source).and_then(|site| self.sites.get_mut(*site))
    }

    /// The clock of a source's site is less exactly known than when it joined.
    pub fn note_clock(&mut self, source: SourceId, error: Nanos) {
        if let Some(site) = self.site_with(source) {
            site.note_clock(error);
        }
    }

    /// Takes what a source leaves behind.
    pub fn absorb_leftovers(&mut self, left: Leftovers) {
        self.left.add(left);
    }

    /// Takes what a process tells of itself and its machine.
    pub fn absorb_site(&mut self, site: Site) {
        self.site.add(site);
    }

    /// A source was ready to run for so long and got no core; `None` where its system does not tell.
    pub fn waited_for_core(&mut self, wait: Option<Nanos>) {
        self.run_queue_wait = self.run_queue_wait.max(wait);
    }

    /// A source that will send no more: the others are not waited for in vain.
    pub fn leave(&mut self, source: SourceId) {
        self.sources.insert(source, u32::MAX);
    }

    /// A source that is gone before its end: what it has told stays.
    pub fn lose(&mut self, source: SourceId, why: String) {
        if self.sources.get(&source) == Some(&u32::MAX) {
            // Everything was counted; how far it came in rows, and what it had to clear up, is not known.
            self.unknown_leftovers.insert(why);
            return;
        }
        self.leave(source);
        if let Some(site) = self.site_with(source) {
            site.lost = Some(why.clone());
        }
        *self.lost.entry(why).or_default() += 1;
    }

    /// Whether not one source came to its end.
    #[must_use]
    pub fn has_lost_all(&self) -> bool {
        self.lost.values().sum::<u32>() as usize == self.sources.len()
    }

    /// The next interval that every source has handed over, if there is one.
    pub fn tick(&mut self) -> Option<Tick> {
        self.tick_counted().map(|(tick, _)| tick)
    }

    /// As [`Collector::tick`], with the counts it was made from, for whoever keeps them.
    pub fn tick_counted(&mut self) -> Option<(Tick, IntervalCounts)> {
        let complete = self.sources.values().copied().min().unwrap_or(0);
        if self.next >= complete || (complete == u32::MAX && self.open.is_empty()) {
            return None;
        }
        let (tick, counts) = self.close(self.next);
        let cpu_busiest = self.cpu.values().copied().max().unwrap_or_default();
        Some((tick, IntervalCounts { counts, cpu_busiest }))
    }

    fn close(&mut self, interval: u32) -> (Tick, Snapshot) {
        let counts = self.open.remove(&interval).unwrap_or_default();
        self.next = interval + 1;
        self.in_flight = (self.in_flight + counts.due).saturating_sub(counts.succeeded + counts.failed() + counts.unsent);
        self.totals.add(&counts);
        let totals = &self.totals.connections;
        let open = totals.opened.saturating_sub(totals.closed_by_server + totals.closed_by_us);
        self.connections_peak = self.connections_peak.max(open);
        let from = Nanos(u64::from(interval) * self.interval.0);
        let mut tick = Tick::new(from, from.plus(self.interval), &counts, self.in_flight, open);
        tick.warmup = from < self.plan.warmup();
        if let Some(early) = &mut self.early {
            early.keep(&counts);
        }
        self.keep(interval, &tick);
        (tick, counts)
    }

    fn keep(&mut self, interval: u32, tick: &Tick) {
        match self.timeline.last_mut() {
            Some(last) if !interval.is_multiple_of(self.stride) => last.extend(tick),
            _ => {
                if self.timeline.len() == TICKS_MAX {
                    let halves = std::mem::take(&mut self.timeline);
                    let mut pairs = halves.into_iter();
                    while let Some(mut first) = pairs.next() {
                        if let Some(second) = pairs.next() {
                            first.extend(&second);
                        }
                        self.timeline.push(first);
                    }
                    self.stride *= 2;
                }
                self.timeline.push(tick.clone());
            }
        }
    }

    /// Sources have fallen silent for good: what they had on the wire when they were last heard was given up.
    pub fn abandon(&mut self) {
        let all = || std::iter::once(&self.totals).chain(self.open.values());
        let due: u64 = all().map(|counts| counts.due).sum();
        let ended: u64 = all().map(|counts| counts.succeeded + counts.failed() + counts.unsent).sum();
        let mut lost = Snapshot::empty(self.open.keys().next_back().copied().unwrap_or(self.next));
        lost.failures[Failure::ClientInterrupted.index()] = due.saturating_sub(ended);
        self.open.entry(lost.interval).or_insert_with(|| Snapshot::empty(lost.interval)).add(&lost);
    }

    /// The totals of all intervals that are over.
    #[must_use]
    pub const fn totals(&self) -> &Snapshot {
        &self.totals
    }

    /// The run, for others to complete, and what its sources left behind for the load after it.
    ///
    /// # Panics
    /// If a request is unaccounted for: that is our mistake, never the server's.
    #[must_use]
    pub fn finish(mut self, end: End) -> (SummaryBuilder, Leftovers) {
        while let Some(interval) = self.open.keys().next().copied() {
            self.close(interval);
        }
        if let Some(last) = self.timeline.last_mut() {
            // The last interval is as long as the run, not longer.
            last.to = last.to.min(end.drained_at.max(last.from.plus(Nanos(1))));
        }
        let busiest = self.cpu.values().copied().max().unwrap_or_default();
        let drained_at = end.drained_at;
        let mut summary = SummaryBuilder::new(self.plan, &self.totals, self.timeline, end, self.connections_peak, self.early);
        let record = &mut summary.record;
        if drained_at > Nanos::ZERO {
            let lasted = drained_at.as_secs_f64();
            record.generator.cpu_share_busiest = busiest.as_secs_f64() / lasted;
            record.generator.run_queue_share = self.run_queue_wait.map(|waited| waited.as_secs_f64() / lasted);
        }
        let Self { site, left, lost, unknown_leftovers, sites, .. } = self;
        record.sites = sites.into_iter().map(SiteCounts::finish).collect();
        let (gone, all) = (lost.values().sum::<u32>(), self.sources.len());
        record.generator.lost_share = f64::from(gone) / all.max(1) as f64;
        site.complete(&mut record.generator);
        // Of several machines the first in the order of the rows, whoever of them was the first to tell.
        let first = record.sites.iter().find_map(|site| site.machine.clone());
        (record.started, record.machine, record.resolution) = (site.started, first.unwrap_or(site.machine), site.resolution);
        record.warnings = site.warnings;
        record.warnings.extend(lost.into_iter().map(|(why, sources)| format!("{sources} of {all} threads of the load are gone: {why}")));
        record.warnings.extend(
            unknown_leftovers
                .into_iter()
                .map(|why| format!("after the load, while users cleared up: {why}; rows and numbers that it used may be used again")),
        );
        record.warnings.extend(left.warnings());
        (summary, left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use crate::{Ending, Outcome, Recorder, Series, Span, Summary, WarmUp};
    use proptest::prelude::*;

    fn outcome(due: u64, done: u64, result: Result<u16, Failure>) -> Outcome {
        let (due, done) = (Nanos(due), Nanos(done));
        Outcome { due, ready: due, sent: due, first_byte: done, done, bytes_out: 50, bytes_in: 150, result }
    }

    fn end(secs: u64) -> End {
        End { how: Ending::Finished, load_until: Nanos::from_secs(secs), drained_at: Nanos::from_secs(secs) }
    }

    fn summary_of(outcomes: &[Outcome], sources: u32, backwards: bool) -> SummaryBuilder {
        measured_by(fixtures::plan("http://a.test/"), outcomes, sources, backwards)
    }

    /// A plan that finds its warm-up.
    fn finding() -> Plan {
        let draft = plan::Draft {
            warmup: Some(plan::Setting::Value(plan::Warmup::Found)),
            url: Some("http://a.test/".to_owned()),
            ..plan::Draft::default()
        };
        Plan::try_from(draft).unwrap()
    }

    /// Records outcomes into as many sources as asked, an interval at a time, handing over in the given order.
    fn measured_by(plan: Plan, outcomes: &[Outcome], sources: u32, backwards: bool) -> SummaryBuilder {
        let mut collector = Collector::new(plan, sources, Nanos::SECOND);
        let mut snapshots = Vec::new();
        for source in 0..sources {
            let mut recorder = Recorder::new(Span { from: Nanos::ZERO, until: Nanos::from_secs(10) });
            for interval in 0..10u32 {
                for (at, outcome) in outcomes.iter().enumerate() {
                    if at as u32 % sources == source && (outcome.done.0 / 1_000_000_000).min(9) == u64::from(interval) {
                        recorder.due(outcome.due);
                        recorder.record(outcome);
                    }
                }
                snapshots.push((SourceId(source), recorder.swap(Snapshot::empty(interval + 1))));
            }
        }
        if backwards {
            snapshots.reverse();
        }
        for (source, snapshot) in snapshots {
            collector.absorb(source, snapshot);
            while collector.tick().is_some() {}
        }
        collector.finish(end(10)).0
    }

    fn outcomes() -> impl Strategy<Value = Vec<Outcome>> {
        let result = prop_oneof![
            4 => Just(Ok(200)), 1 => Just(Ok(503)), 1 => Just(Err(Failure::RecvReset)), 1 => Just(Err(Failure::RecvIdleTimeout)),
        ];
        prop::collection::vec((0u64..9_000_000_000, 1u64..2_000_000_000, result), 0..200)
            .prop_map(|drawn| drawn.into_iter().map(|(due, took, result)| outcome(due, due + took, result)).collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn any_split_over_sources_and_any_order_give_the_same_result(outcomes in outcomes(), sources in 1u32..5, backwards: bool) {
            let whole = summary_of(&outcomes, 1, false);
            let split = summary_of(&outcomes, sources, backwards);
            prop_assert_eq!(&whole.requests, &split.requests);
            prop_assert_eq!(&whole.response_time, &split.response_time);
            prop_assert_eq!(&whole.status, &split.status);
            if !backwards {
                prop_assert_eq!(&whole.timeline, &split.timeline);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn a_warm_up_left_out_afterwards_leaves_what_ended_later_and_nothing_else(outcomes in outcomes(), sources in 1u32..4, cut in 1u64..6) {
            let at = Nanos::from_secs(cut);
            let mut run = measured_by(finding(), &outcomes, sources, false);
            prop_assert_eq!(run.requests.due, outcomes.len() as u64, "before the cut everything counts");
            run.leave_out(WarmUp::Until { at, series: Series::P50 });
            let (before, later): (Vec<Outcome>, Vec<Outcome>) = outcomes.iter().partition(|outcome| outcome.done < at);
            let wanted = measured_by(finding(), &later, sources, false);
            prop_assert_eq!(run.requests, wanted.requests);
            prop_assert_eq!(&run.status, &wanted.status);
            prop_assert_eq!(&run.failures, &wanted.failures);
            for (got, wanted) in [
                (&run.response_time, &wanted.response_time),
                (&run.response_time_succeeded, &wanted.response_time_succeeded),
                (&run.service_time, &wanted.service_time),
                (&run.ttfb, &wanted.ttfb),
                (&run.wait, &wanted.wait),
                (&run.lag, &wanted.lag),
            ] {
                prop_assert_eq!(got, wanted);
            }
            prop_assert_eq!((run.excluded.requests, run.excluded.duration_s), (before.len() as u64, cut as f64));
            prop_assert_eq!(run.duration_s, 10.0 - cut as f64);
            let in_time = later.iter().filter(|outcome| outcome.result.is_ok() && outcome.done <= Nanos::from_secs(10)).count();
            prop_assert!((run.qps * run.duration_s - in_time as f64).abs() < 1e-6);
            let sent: u64 = outcomes.iter().map(|outcome| u64::from(outcome.bytes_out)).sum();
            prop_assert_eq!(run.bytes.sent, sent, "bytes are the whole run's");
            let counted: u64 = run.timeline.iter().filter(|tick| !tick.warmup).map(|tick| tick.succeeded + tick.failed + tick.unsent).sum();
            prop_assert_eq!(counted, run.requests.due, "the timeline and the totals are about the same requests");
        }
    }

    #[test]
    fn what_is_not_left_out_stays_and_a_decision_is_made_once() {
        let outcomes: Vec<_> = (0..10).map(|k| outcome(k * 900_000_000, k * 900_000_000 + 1_000_000, Ok(200))).collect();
        let whole = measured_by(finding(), &outcomes, 1, false);
        for found in
            [WarmUp::TooShort, WarmUp::NoSteadyState { series: Series::P99 }, WarmUp::Until { at: Nanos::ZERO, series: Series::P50 }]
        {
            let mut run = whole.clone();
            run.leave_out(found);
            assert_eq!((run.requests, &run.timeline, run.excluded.found), (whole.requests, &whole.timeline, Some(found)));
            run.leave_out(WarmUp::Until { at: Nanos::from_secs(3), series: Series::P50 });
            assert_eq!((run.requests, run.excluded.found), (whole.requests, Some(found)));
            let text = serde_json::to_string(&run.close()).unwrap();
            assert_eq!(serde_json::from_str::<Summary>(&text).unwrap().excluded.found, Some(found));
        }
        let mut given = summary_of(&outcomes, 1, false);
        given.leave_out(WarmUp::Until { at: Nanos::from_secs(3), series: Series::P50 });
        assert_eq!((given.requests.due, given.excluded.found), (10, None), "only a plan that asks for it is cut");
    }

    #[test]
    fn of_ten_hours_ten_minutes_are_kept_to_be_left_out() {
        let mut collector = Collector::new(finding(), 1, Nanos::SECOND);
        for second in 0..36_000u32 {
            collector.absorb(SourceId(0), Snapshot { due: 1, succeeded: 1, answered: 1, ..Snapshot::empty(second) });
            while collector.tick().is_some() {}
        }
        let (summary, _) = collector.finish(end(36_000));
        let cut = |secs| {
            let mut run = summary.clone();
            run.leave_out(WarmUp::Until { at: Nanos::from_secs(secs), series: Series::P50 });
            (run.requests.due, run.excluded.requests, run.excluded.found.unwrap())
        };
        // Intervals count sixteen times as long by then.
        let (at, series) = (Nanos::from_secs(592), Series::P50);
        assert_eq!(cut(592), (35_408, 592, WarmUp::Until { at, series }));
        assert_eq!(cut(608), (36_000, 0, WarmUp::TooLate { at: Nanos::from_secs(608), series }));
    }

    #[test]
    fn throughput_counts_what_was_answered_in_the_measured_span() {
        // Ten answers within the ten seconds, one after the load had ended.
        let mut outcomes: Vec<_> = (0..10).map(|k| outcome(k * 900_000_000, k * 900_000_000 + 1_000_000, Ok(200))).collect();
        outcomes.push(outcome(9_500_000_000, 12_000_000_000, Ok(200)));
        let summary = summary_of(&outcomes, 1, false);
        assert_eq!((summary.qps, summary.requests.succeeded), (1.0, 11));
    }

    #[test]
    fn a_fast_error_does_not_count_as_success_nor_lose_its_time() {
        let summary = summary_of(&[outcome(0, 5_000_000, Ok(200)), outcome(0, 1_000_000, Ok(503))], 1, false);
        assert_eq!((summary.requests.succeeded, summary.requests.failed), (1, 1));
        assert_eq!((summary.response_time.count(), summary.response_time_succeeded.count()), (2, 1));
        assert_eq!(summary.failures[0].class, Failure::CheckStatus);
    }

    #[test]
    fn a_timeout_is_in_the_histogram_at_its_limit_and_a_refusal_is_not() {
        let limit = 30_000_000_000;
        let summary =
            summary_of(&[outcome(0, limit, Err(Failure::RecvIdleTimeout)), outcome(0, 1, Err(Failure::ConnectRefused))], 1, false);
        assert_eq!((summary.response_time.count(), summary.response_time.max()), (1, Some(Nanos(limit))));
        assert_eq!(summary.requests.failed, 2);
    }

    #[test]
    #[should_panic(expected = "every request that fell due")]
    fn a_lost_request_is_our_mistake() {
        let mut collector = Collector::new(fixtures::plan("http://a.test/"), 1, Nanos::SECOND);
        let mut recorder = Recorder::new(Span { from: Nanos::ZERO, until: Nanos::NEVER });
        recorder.due(Nanos::ZERO);
        collector.absorb(SourceId(0), recorder.swap(Snapshot::default()));
        let _ = collector.finish(end(1));
    }

    #[test]
    fn ten_hours_and_ten_million_requests_take_no_more_memory_than_an_hour() {
        let mut collector = Collector::new(fixtures::plan("http://a.test/"), 1, Nanos::SECOND);
        let mut recorder = Recorder::new(Span { from: Nanos::ZERO, until: Nanos::NEVER });
        let mut spare = Snapshot::default();
        let mut random = plan::Random::new(1, 1);
        let mut sizes = Vec::new();
        for second in 0..36_000u32 {
            let begin = u64::from(second) * 1_000_000_000;
            // 278 a second are 10⁷ in ten hours.
            for k in 0..278u64 {
                let due = begin + k * 3_590_000;
                recorder.due(Nanos(due));
                recorder.record(&outcome(due, due + 50_000 + (random.unit() * 1e6) as u64, Ok(200)));
            }
            spare.clear(second + 1);
            let full = recorder.swap(spare);
            collector.absorb(SourceId(0), full.clone());
            spare = full;
            while collector.tick().is_some() {}
            sizes.push((collector.timeline.len(), collector.open.len()));
        }
        assert_eq!(collector.totals().succeeded, 10_008_000);
        assert!(sizes.iter().all(|(ticks, open)| *ticks <= TICKS_MAX && *open <= 1));
        let ticks: u64 = collector.timeline.iter().map(|tick| tick.answered).sum();
        assert_eq!(ticks, 10_008_000, "putting ticks together loses nothing");
        let (summary, _) = collector.finish(end(36_000));
        assert_eq!(summary.response_time.count(), 10_008_000);
        // 50 µs and half a millisecond on average; the mean is of all of them.
        let mean = summary.response_time.mean().unwrap();
        assert!((549e3..551e3).contains(&mean), "{mean}");
        assert_eq!(summary.timeline.len() as u32, 36_000u32.div_ceil(16));
    }

    #[test]
    fn a_worker_s_rate_is_looked_at_ten_times_a_second_and_a_silent_span_is_spanned_by_the_next_look() {
        let mut recorder = Recorder::new(Span { from: Nanos::ZERO, until: Nanos::from_secs(1) });
        let answered = |recorder: &mut Recorder, at_ms: u64| {
            recorder.due(Nanos::ZERO);
            recorder.record(&outcome(0, at_ms * 1_000_000, Ok(200)));
        };
        answered(&mut recorder, 50);
        recorder.look(Nanos::from_millis(99));
        recorder.look(Nanos::from_millis(100));
        recorder.look(Nanos::from_millis(200));
        answered(&mut recorder, 250);
        let full = recorder.swap(Snapshot::empty(1));
        // One answer in 200 ms, of which none in the first half; the answers swapped out are not forgotten.
        recorder.look(Nanos::from_millis(300));
        answered(&mut recorder, 1_500);
        recorder.look(Nanos::from_millis(1_500));
        let rest = recorder.swap(Snapshot::empty(2));
        let rates = |snapshot: &Snapshot| snapshot.worker_rates.recorded().collect::<Vec<_>>();
        assert_eq!((rates(&full), rates(&rest)), (vec![(10, 1)], vec![(5, 1)]));
    }

    #[test]
    fn a_written_result_reads_back() {
        for (name, summary) in fixtures::summaries() {
            let text = serde_json::to_string(&summary).unwrap();
            let read: Summary = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            // Secrets are left out in writing, so it is the second text that must be the first.
            assert_eq!(serde_json::to_string(&read).unwrap(), text, "{name}");
        }
    }
}
