//! A run that is being completed: measured, and not closed yet.
//!
//! The collector counts what the sources told. What else belongs to a run is known by others, and only when the load is over: what the
//! server's side showed, profiles, a warm-up found in the run itself, answers beside those of a log. Each puts it in here, under a
//! name, and nothing else of the run can be changed. One constructor that takes it all at once, the alternative, would have every
//! layer between the engine and the command know what all the others add.
//!
//! Invariant: every request that fell due is accounted for, whatever is put in.

use std::ops::Deref;

use plan::{Load, Nanos, Plan};

use super::{Bytes, End, Ending, Generator, QuirkCount, Resolution, SCHEMA, Summary, SummaryRecord, WarmUpCounts};
use crate::warmup::Early;
use crate::{
    Example, Failure, FailureCount, Machine, PopulationRow, Quirk, ReplayComparison, Requests, RunProfile, Scenario, ServerObservation,
    Snapshot, StepRow, StreamRow, Tick, WarmUp,
};

/// A measured run that may still be completed; [`close`](Self::close) makes the [`Summary`] of it.
#[derive(Debug, Clone, PartialEq)]
pub struct SummaryBuilder {
    pub(crate) record: SummaryRecord,
    /// What it takes to leave out a warm-up that is found only now; nothing once that is decided.
    early: Option<Early>,
}

impl Deref for SummaryBuilder {
    type Target = SummaryRecord;

    fn deref(&self) -> &SummaryRecord {
        &self.record
    }
}

impl SummaryBuilder {
    /// The totals of a run, of which what follows `warm` is measured.
    ///
    /// # Panics
    /// If a request is unaccounted for: that is our mistake, never the server's.
    pub(crate) fn new(plan: Plan, totals: &Snapshot, timeline: Vec<Tick>, end: End, connections_peak: u64, early: Option<Early>) -> Self {
        let warm = plan.warmup();
        Self { record: SummaryRecord::of(plan, totals, timeline, end, connections_peak, warm), early }
    }

    /// Closes the run: nobody changes it any more.
    #[must_use]
    pub fn close(self) -> Summary {
        Summary(self.record)
    }

    /// Adds what the user should know besides.
    pub fn add_warnings(&mut self, warnings: impl IntoIterator<Item = String>) {
        self.record.warnings.extend(warnings);
    }

    /// Sets how the run ended, where an observer knows better than the sources.
    pub const fn set_ending(&mut self, how: Ending) {
        self.record.ended.how = how;
    }

    /// Sets the requests a second that this machine could have sent in the place of this run; `None` where that is not known.
    pub const fn set_ceiling(&mut self, qps: Option<f64>) {
        self.record.generator.ceiling_qps = qps;
    }

    /// Sets the server's side of the same time.
    pub fn set_observed(&mut self, observed: Vec<ServerObservation>) {
        self.record.observed = observed;
    }

    /// Adds a profile of the server.
    pub fn add_profile(&mut self, profile: RunProfile) {
        self.record.profiles.push(profile);
    }

    /// Sets the answers beside those of the log that was replayed.
    pub fn set_replayed(&mut self, replayed: ReplayComparison) {
        self.record.replayed = Some(Box::new(replayed));
    }

    /// Rewrites the examples of failures, for one who knows what must not be in them.
    pub fn rewrite_examples(&mut self, rewrite: impl FnMut(&mut Example)) {
        self.record.failures.iter_mut().filter_map(|failure| failure.example.as_mut()).for_each(rewrite);
    }

    /// Turns requests that loadline gave up after the end of the load into timeouts, recorded at the time for which they were waited
    /// for at least.
    pub fn time_out_given_up(&mut self) {
        let record = &mut self.record;
        let Some(at) = record.failures.iter().position(|failure| failure.class == Failure::ClientInterrupted) else { return };
        let mut lost = record.failures.remove(at);
        let waited = record.ended.drained_at.since(record.ended.load_until);
        record.service_time.record_many(waited, lost.count);
        record.response_time.record_many(waited, lost.count);
        if let Some(at) = record.failures.iter().position(|failure| failure.class == Failure::RecvIdleTimeout) {
            lost.count += record.failures.remove(at).count;
        }
        let example = Example { at: record.ended.drained_at, text: format!("no answer within {waited} after the end of the load") };
        record.failures.push(FailureCount {
            class: Failure::RecvIdleTimeout,
            side: Failure::RecvIdleTimeout.side(),
            count: lost.count,
            example: Some(example),
        });
        record.failures.sort_by_key(|failure| std::cmp::Reverse(failure.count));
    }

    /// Leaves out the warm-up that was found in this run, where its plan asks for that, and keeps what was found. What ended
    /// before the cut is excluded; what went over the wire and connections stay those of the whole run, as with a warm-up that
    /// is given. Done once: what is decided stays.
    ///
    /// # Panics
    /// If a request is unaccounted for after the cut: that is our mistake, never the server's.
    pub fn leave_out(&mut self, found: WarmUp) {
        let Some(early) = self.early.take() else { return };
        let record = &mut self.record;
        record.excluded.found = Some(found);
        let WarmUp::Until { at, series } = found else { return };
        if at == Nanos::ZERO {
            return;
        }
        let Some((rest, excluded)) = early.without(at) else {
            record.excluded.found = Some(WarmUp::TooLate { at, series });
            return;
        };
        let mut timeline = std::mem::take(&mut record.timeline);
        timeline.iter_mut().filter(|tick| tick.from < at).for_each(|tick| tick.warmup = true);
        let rest = SummaryRecord::of(record.plan.clone(), &rest, timeline, record.ended.clone(), record.concurrency, at);
        record.duration_s = rest.duration_s;
        record.qps = rest.qps;
        record.qps_succeeded = rest.qps_succeeded;
        record.qps_offered = rest.qps_offered;
        record.in_flight_mean = rest.in_flight_mean;
        record.service_drained = rest.service_drained;
        record.service_of_warmup = rest.service_of_warmup;
        record.requests = rest.requests;
        record.excluded = WarmUpCounts { requests: excluded, found: Some(found), ..rest.excluded };
        record.status = rest.status;
        record.failures = rest.failures;
        record.response_time = rest.response_time;
        record.response_time_succeeded = rest.response_time_succeeded;
        record.service_time = rest.service_time;
        record.ttfb = rest.ttfb;
        record.wait = rest.wait;
        record.lag = rest.lag;
        record.own_delay = rest.own_delay;
        record.generator.gaps = rest.generator.gaps;
        record.timeline = rest.timeline;
        record.streams = rest.streams;
        record.scenario = rest.scenario;
        record.urls = rest.urls;
        record.populations = rest.populations;
    }
}

impl SummaryRecord {
    /// The totals of a run in their final form; measured is what follows `warm`.
    ///
    /// # Panics
    /// If a request is unaccounted for: that is our mistake, never the server's.
    fn of(plan: Plan, totals: &Snapshot, timeline: Vec<Tick>, end: End, connections_peak: u64, warm: Nanos) -> Self {
        let failed = totals.failed();
        assert_eq!(
            totals.due,
            totals.succeeded + failed + totals.unsent,
            "every request that fell due ends as succeeded ({}), failed ({failed}) or unsent ({})",
            totals.succeeded,
            totals.unsent
        );
        let measured = end.load_until.since(warm).as_secs_f64();
        let a_second = |count: u64| if measured > 0.0 { count as f64 / measured } else { 0.0 };
        // A server may send back what it was sent.
        let secrets = plan.secrets();
        let mut failures: Vec<FailureCount> = Failure::ALL
            .iter()
            .map(|class| FailureCount {
                class: *class,
                side: class.side(),
                count: totals.failures[class.index()],
                example: totals.examples.get(class).map(|seen| Example { text: secrets.conceal(&seen.text), ..seen.clone() }),
            })
            .filter(|failure| failure.count > 0)
            .collect();
        failures.sort_by_key(|failure| std::cmp::Reverse(failure.count));
        let threads = plan.threads().get();
        let conceal = |seen: &Example| Example { text: secrets.conceal(&seen.text), ..seen.clone() };
        let (concurrency, offered) = match plan.load() {
            Load::Closed { users, .. } => (users.peak().into(), None),
            Load::Open { timetable, .. } => {
                (connections_peak, (measured > 0.0).then(|| timetable.expected_until(Nanos((measured * 1e9) as u64)) / measured))
            }
            // What is offered in all is known only where no part of it waits for answers.
            load @ Load::Mixed(_) => (if load.is_closed() { load.connections_max().get().into() } else { connections_peak }, None),
        };
        // The timetable of a scenario is one of journeys.
        let (qps_offered, tps_offered) = if totals.tally.journeys.is_empty() { (offered, None) } else { (None, offered) };
        Self {
            urls: if totals.tally.journeys.is_empty() { StepRow::all_of(&totals.tally, &conceal, &a_second) } else { Vec::new() },
            populations: totals.tally.populations.iter().map(|counts| PopulationRow::of(counts, &a_second)).collect(),
            scenario: Scenario::of(&totals.tally, totals.answered, tps_offered, &conceal, &a_second),
            streams: StreamRow::of_some(totals.streams.as_deref(), &a_second),
            websockets: totals.websockets.clone(),
            schema: SCHEMA.to_owned(),
            machine: Machine::default(),
            started: String::new(),
            duration_s: measured,
            concurrency,
            qps: a_second(totals.answered),
            qps_succeeded: a_second(totals.answered_well),
            qps_offered,
            in_flight_mean: if measured > 0.0 { totals.in_flight_area as f64 / 1e9 / measured } else { 0.0 },
            service_drained: Some(totals.service_drained),
            service_of_warmup: totals.service_of_warmup,
            requests: Requests { due: totals.due, succeeded: totals.succeeded, failed, unsent: totals.unsent },
            excluded: WarmUpCounts {
                duration_s: warm.as_secs_f64().min(end.load_until.as_secs_f64()),
                requests: totals.excluded,
                found: None,
            },
            status: totals.statuses().collect(),
            failures,
            bytes: Bytes { sent: totals.bytes_sent, received: totals.bytes_received },
            response_time: totals.response(),
            response_time_succeeded: totals.response_succeeded.clone(),
            service_time: totals.service.clone(),
            ttfb: totals.first_byte.clone(),
            connect: totals.connect.clone(),
            tls: totals.tls.clone(),
            wait: totals.wait.clone(),
            lag: totals.lag.clone(),
            own_delay: totals.own_delay.clone(),
            connections: totals.connections,
            packed: totals.packed,
            awaited: totals.awaited,
            redirects: totals.redirects,
            quirks: Quirk::ALL
                .iter()
                .map(|quirk| QuirkCount {
                    quirk: quirk.code().to_owned(),
                    count: totals.quirks[quirk.index()],
                    about: quirk.about().to_owned(),
                })
                .filter(|quirk| quirk.count > 0)
                .collect(),
            resolution: Resolution::default(),
            timeline,
            worker_rates: totals.worker_rates.clone(),
            generator: Generator {
                cpu_share: if end.drained_at > Nanos::ZERO { totals.cpu.as_secs_f64() / end.drained_at.as_secs_f64() } else { 0.0 },
                cpu_ns: totals.cpu.0,
                gaps: totals.gaps,
                threads,
                ..Generator::default()
            },
            sites: Vec::new(),
            observed: Vec::new(),
            replayed: None,
            profiles: Vec::new(),
            warnings: Vec::new(),
            measured_by: None,
            ended: end,
            plan,
        }
    }
}
