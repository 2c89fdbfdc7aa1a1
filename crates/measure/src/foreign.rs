//! A run that another tool measured, out of its requests one by one.
//!
//! Files of other tools hold a row a request, in the order in which requests ended, or in none where files of several machines follow one
//! another; and they may be larger than memory. So every request is counted at once: in the whole, in the row of its name, and in the
//! interval in which it ended, wherever that lies. Sending them through a [`Collector`](crate::Collector), the alternative, takes the
//! intervals in their order, and would need the file to be sorted.
//!
//! A response time here is what the file holds, from sent to the last byte. When a request was due nobody wrote down, so how long it
//! waited for a busy user is not in it: coordinated omission, which a [`Summary`](crate::Summary) says by `measured_by`.
//!
//! Invariants: any order of the requests gives the same run, but for the order of the rows and where intervals begin. Memory grows with
//! distinct times in an interval, not with requests: there are at most `TICKS_MAX` intervals, and `ROWS_MAX` rows.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use plan::{Nanos, Plan};

use crate::collector::TICKS_MAX;
use crate::{End, Ending, Example, Failure, Generator, Snapshot, SparseHistogram, StepCounts, SummaryBuilder, Tally, Tick};

/// More names than this are no names any more, but requests with a number in them.
const ROWS_MAX: usize = 200;
/// What the row of all names beyond them is called.
const OTHER_ROWS: &str = "(others)";
/// What a run lasts at least: no tool that writes rows tells less.
const GRAIN: Nanos = Nanos::from_millis(1);

/// One request that another tool measured.
#[derive(Debug, Clone, Copy)]
pub struct ForeignRequest<'a> {
    /// The row that it counts in beside the whole.
    pub row: &'a str,
    /// When it was sent, since 1970 UTC.
    pub sent: Nanos,
    /// From then to the last byte, or to its failure.
    pub took: Nanos,
    /// From then to the first byte; `None` where that is not known.
    pub first_byte: Option<Nanos>,
    /// Bytes written, head included.
    pub bytes_sent: u64,
    /// Bytes read, head included.
    pub bytes_received: u64,
    /// The status of the answer, if there was one and it has a status.
    pub status: Option<u16>,
    /// Why it failed; `None` if it succeeded.
    pub failure: Option<Failure>,
}

/// What else is known of a run that another tool measured.
#[derive(Debug, Clone)]
pub struct Origin {
    /// What the tool is called.
    pub tool: String,
    /// When the first request was sent: RFC 3339, UTC.
    pub started: String,
    /// The most users at once; 0 where that is not known.
    pub users: u64,
    /// Where requests went: host, and port if it is not the scheme's own; empty where that is not known.
    pub server: String,
}

/// Requests that another tool measured, counted.
#[derive(Debug)]
pub struct ForeignRun {
    totals: Snapshot,
    rows: Vec<StepCounts<SparseHistogram>>,
    places: HashMap<Arc<str>, usize>,
    /// Intervals without a hole, the first of which has this number. Number 0 begins when the request that was read first was sent.
    slots: VecDeque<Slot>,
    first_slot: i64,
    slot_length: Nanos,
    zero: Nanos,
    first_sent: Nanos,
    last_done: Nanos,
}

/// What one interval counts.
#[derive(Debug, Default)]
struct Slot {
    due: u64,
    answered: u64,
    succeeded: u64,
    failures: BTreeMap<Failure, u64>,
    bytes_sent: u64,
    bytes_received: u64,
    times: SparseHistogram,
}

impl Default for ForeignRun {
    fn default() -> Self {
        Self {
            totals: Snapshot::default(),
            rows: Vec::new(),
            places: HashMap::new(),
            slots: VecDeque::new(),
            first_slot: 0,
            slot_length: Nanos::SECOND,
            zero: Nanos::ZERO,
            first_sent: Nanos::NEVER,
            last_done: Nanos::ZERO,
        }
    }
}

impl ForeignRun {
    /// How many requests were counted.
    #[must_use]
    pub const fn requests(&self) -> u64 {
        self.totals.due
    }

    /// When the first request was sent and the last was done, since 1970 UTC; `None` where there is none.
    #[must_use]
    pub fn span(&self) -> Option<(Nanos, Nanos)> {
        (self.totals.due > 0).then_some((self.first_sent, self.last_done))
    }

    /// Counts a request. `said` tells what its failure looked like, and is asked only for the earliest of a class.
    pub fn record(&mut self, request: &ForeignRequest<'_>, said: impl Fn() -> String) {
        let done = request.sent.plus(request.took);
        if self.totals.due == 0 {
            self.zero = request.sent;
        }
        self.first_sent = self.first_sent.min(request.sent);
        self.last_done = self.last_done.max(done);
        self.make_room(request.sent, done);
        let answered = request.failure.is_none_or(Failure::is_answered);
        let well = request.failure.is_none();
        let is_timed = request.failure.is_none_or(|failure| failure.is_answered() || failure.is_timeout());

        let totals = &mut self.totals;
        totals.due += 1;
        totals.succeeded += u64::from(well);
        totals.answered += u64::from(answered);
        totals.answered_well += u64::from(well);
        totals.bytes_sent += request.bytes_sent;
        totals.bytes_received += request.bytes_received;
        if !request.failure.is_some_and(Failure::is_unsent) {
            totals.in_flight_area += u128::from(request.took.0);
        }
        if let Some(status) = request.status {
            totals.count_status(status);
        }
        if let Some(first_byte) = request.first_byte.filter(|_| answered) {
            totals.first_byte.record(first_byte);
        }
        let place = self.place_of(request.row);
        let row = &mut self.rows[place];
        row.due += 1;
        row.succeeded += u64::from(well);
        row.answered += u64::from(answered);
        if let Some(failure) = request.failure {
            self.totals.failures[failure.index()] += 1;
            *row.failures.entry(failure).or_default() += 1;
            keep_earliest(&mut self.totals.examples, failure, done, &said);
            keep_earliest(&mut row.examples, failure, done, &said);
        }
        if is_timed {
            let times = if well { &mut row.response_succeeded } else { &mut row.response_failed };
            times.record(request.took);
        }

        let began = self.slot_of(request.sent);
        self.slot(began).due += 1;
        let ended = self.slot_of(done);
        let slot = self.slot(ended);
        slot.answered += u64::from(answered);
        slot.succeeded += u64::from(well);
        slot.bytes_sent += request.bytes_sent;
        slot.bytes_received += request.bytes_received;
        if let Some(failure) = request.failure {
            *slot.failures.entry(failure).or_default() += 1;
        }
        if is_timed {
            slot.times.record(request.took);
        }
    }

    /// The row of a name; that of all others where there are too many.
    fn place_of(&mut self, name: &str) -> usize {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        if self.rows.len() >= ROWS_MAX && name != OTHER_ROWS {
            return self.place_of(OTHER_ROWS);
        }
        let name: Arc<str> = name.into();
        self.rows.push(StepCounts::empty(name.clone(), 0));
        self.places.insert(name, self.rows.len() - 1);
        self.rows.len() - 1
    }

    /// The number of the interval that a moment lies in.
    fn slot_of(&self, at: Nanos) -> i64 {
        (at.0 as i64 - self.zero.0 as i64).div_euclid(self.slot_length.0 as i64)
    }

    fn slot(&mut self, number: i64) -> &mut Slot {
        &mut self.slots[(number - self.first_slot) as usize]
    }

    /// Makes sure that there are the intervals of these two moments; longer ones where there would be too many.
    fn make_room(&mut self, from: Nanos, until: Nanos) {
        loop {
            let (mut first, mut last) = (self.slot_of(from), self.slot_of(until));
            if !self.slots.is_empty() {
                first = first.min(self.first_slot);
                last = last.max(self.first_slot + self.slots.len() as i64 - 1);
            }
            if last - first < TICKS_MAX as i64 {
                let before = if self.slots.is_empty() { 0 } else { self.first_slot - first };
                (0..before).for_each(|_| self.slots.push_front(Slot::default()));
                self.first_slot = first;
                self.slots.resize_with((last - first + 1) as usize, Slot::default);
                return;
            }
            self.join_pairs();
        }
    }

    /// Makes intervals twice as long.
    fn join_pairs(&mut self) {
        let first = self.first_slot.div_euclid(2);
        let mut pairs: VecDeque<Slot> = VecDeque::with_capacity(self.slots.len() / 2 + 1);
        for (number, slot) in (self.first_slot..).zip(std::mem::take(&mut self.slots)) {
            match pairs.back_mut().filter(|_| number.rem_euclid(2) == 1) {
                Some(pair) => pair.add(&slot),
                None => pairs.push_back(slot),
            }
        }
        self.slots = pairs;
        self.first_slot = first;
        self.slot_length = Nanos(self.slot_length.0 * 2);
    }

    /// The run, for others to complete; `None` of no request. Of `plan` only the target and the users mean anything.
    #[must_use]
    pub fn finish(mut self, plan: Plan, origin: Origin) -> Option<SummaryBuilder> {
        let (first, last) = self.span()?;
        let until = last.since(first).max(GRAIN);
        let timeline = self.timeline(first, until);
        let mut totals = self.totals;
        let steps = std::mem::take(&mut self.rows);
        let rows = Tally { steps, ..Tally::default() };
        totals.tally = rows.convert(|times| Ok(times.whole())).expect("taking times apart never fails");
        for row in &mut totals.tally.steps {
            totals.response_succeeded.add(&row.response_succeeded);
            totals.response_failed.add(&row.response_failed);
            row.examples.values_mut().for_each(|example| example.at = example.at.since(first));
        }
        totals.examples.values_mut().for_each(|example| example.at = example.at.since(first));
        totals.service = totals.response();
        let end = End { how: Ending::Finished, load_until: until, drained_at: until };
        let mut run = SummaryBuilder::new(plan, &totals, timeline, end, 0, None);
        let record = &mut run.record;
        record.measured_by = Some(origin.tool);
        record.started = origin.started;
        record.concurrency = origin.users;
        record.resolution.name = origin.server;
        record.generator = Generator::default();
        Some(run)
    }

    /// The intervals, cut where the run begins and ends; the first and the last with their neighbours where they are short.
    fn timeline(&mut self, first: Nanos, until: Nanos) -> Vec<Tick> {
        let mut timeline: Vec<Tick> = Vec::with_capacity(self.slots.len());
        let (zero, length) = (self.zero.0 as i64, self.slot_length.0 as i64);
        let since_first = |number: i64| Nanos(u64::try_from(zero + number * length - first.0 as i64).unwrap_or(0));
        let mut in_flight = 0;
        for (number, slot) in (self.first_slot..).zip(std::mem::take(&mut self.slots)) {
            let from = since_first(number);
            let to = since_first(number + 1).min(until).max(from.plus(Nanos(1)));
            let failed: u64 = slot.failures.values().sum();
            in_flight = (in_flight + slot.due).saturating_sub(slot.succeeded + failed);
            let tick = Tick {
                from,
                to,
                warmup: false,
                answered: slot.answered,
                due: slot.due,
                succeeded: slot.succeeded,
                failed,
                failures: slot.failures,
                unsent: 0,
                bytes_sent: slot.bytes_sent,
                bytes_received: slot.bytes_received,
                in_flight,
                connections: 0,
                cpu: Nanos::ZERO,
                lag_max: Nanos::ZERO,
                response_time: slot.times.pack(),
                journeys: None,
                streams: None,
            };
            timeline.push(tick);
        }
        // A beginning or an end of some milliseconds has no rate.
        let is_short = |tick: &Tick| tick.to.since(tick.from).0 < self.slot_length.0 / 2;
        if timeline.len() > 1 && is_short(&timeline[0]) {
            let mut first = timeline.remove(0);
            first.extend(&timeline[0]);
            timeline[0] = first;
        }
        if let Some(last) = timeline.pop_if(|last| is_short(last)) {
            match timeline.last_mut() {
                Some(before) => before.extend(&last),
                None => timeline.push(last),
            }
        }
        timeline
    }
}

impl Slot {
    fn add(&mut self, other: &Self) {
        // Taken apart without `..`, so that a count nobody adds does not compile.
        let Self { due, answered, succeeded, failures, bytes_sent, bytes_received, times } = other;
        self.due += due;
        self.answered += answered;
        self.succeeded += succeeded;
        for (class, count) in failures {
            *self.failures.entry(*class).or_default() += count;
        }
        self.bytes_sent += bytes_sent;
        self.bytes_received += bytes_received;
        self.times.add(times);
    }
}

/// Of two examples the earlier stays.
fn keep_earliest(examples: &mut BTreeMap<Failure, Example>, class: Failure, at: Nanos, said: impl Fn() -> String) {
    if examples.get(&class).is_none_or(|known| at < known.at) {
        examples.insert(class, Example { at, text: said() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Summary, fixtures};
    use proptest::prelude::*;

    /// 2 January 2026, in milliseconds.
    const DAY_MS: u64 = 1_767_312_000_000;

    fn request(row: &str, at_ms: u64, took_ms: u64, failure: Option<Failure>) -> ForeignRequest<'_> {
        ForeignRequest {
            row,
            sent: Nanos::from_millis(DAY_MS + at_ms),
            took: Nanos::from_millis(took_ms),
            first_byte: Some(Nanos::from_millis(took_ms / 2)),
            bytes_sent: 10,
            bytes_received: 100,
            status: failure.is_none().then_some(200),
            failure,
        }
    }

    fn run_of(requests: &[ForeignRequest<'_>]) -> Summary {
        let mut run = ForeignRun::default();
        requests.iter().for_each(|request| run.record(request, || format!("{:?} of {}", request.failure, request.row)));
        let origin =
            Origin { tool: "JMeter".to_owned(), started: "2026-01-02T00:00:00Z".to_owned(), users: 7, server: "a.test".to_owned() };
        run.finish(fixtures::plan("http://a.test/"), origin).unwrap().close()
    }

    #[test]
    fn counts_rates_and_rows_are_those_of_the_requests() {
        let requests: Vec<_> = (0..1_000u64)
            .map(|k| {
                let failure = [None, Some(Failure::CheckFailed), Some(Failure::RecvIdleTimeout), Some(Failure::ConnectRefused)]
                    .get(k as usize % 100)
                    .copied()
                    .flatten();
                request(if k % 2 == 0 { "even" } else { "odd" }, k * 10, 20 + k % 3, failure)
            })
            .collect();
        let run = run_of(&requests);
        assert_eq!((run.requests.due, run.requests.succeeded, run.requests.failed), (1_000, 970, 30));
        // The last was sent at 9.99 s and took 20 ms.
        assert!((run.duration_s - 10.01).abs() < 1e-9 && (run.qps - 980.0 / 10.01).abs() < 1e-9, "{} {}", run.duration_s, run.qps);
        assert_eq!((run.measured_by.as_deref(), run.concurrency, run.status[&200]), (Some("JMeter"), 7, 970));
        // A refusal has no time; a timeout has.
        assert_eq!((run.response_time.count(), run.response_time_succeeded.count()), (990, 970));
        assert_eq!((run.service_time.sum(), run.lag.count(), run.wait.count()), (run.response_time.sum(), 0, 0));
        let rows: Vec<_> = run.urls.iter().map(|row| (row.name.as_str(), row.due, row.failed)).collect();
        assert_eq!(rows, [("even", 500, 10), ("odd", 500, 20)]);
        let refused = run.failures.iter().find(|failure| failure.class == Failure::ConnectRefused).unwrap();
        let example = refused.example.clone().unwrap();
        assert_eq!((refused.count, example.at, example.text.as_str()), (10, Nanos::from_millis(50), "Some(ConnectRefused) of odd"));
        let seconds: Vec<_> = run.timeline.iter().map(|tick| (tick.due, tick.to.since(tick.from))).collect();
        // The last 10 ms belong to the second before them.
        assert_eq!((&seconds[..9], seconds[9]), (&[(100, Nanos::SECOND); 9][..], (100, Nanos::from_millis(1_010))));
        assert_eq!(run.timeline.iter().map(|tick| tick.answered).sum::<u64>(), 980);
        // On average two or three are on the wire.
        assert!((run.in_flight_mean - 2.09).abs() < 0.02, "{}", run.in_flight_mean);
        assert_eq!(run.timeline.last().unwrap().in_flight, 0);
    }

    #[test]
    fn a_day_takes_no_more_intervals_than_an_hour_and_loses_nothing() {
        let requests: Vec<_> = (0..86_400u64).map(|k| request("a", k * 1_000, 5, None)).collect();
        let run = run_of(&requests);
        assert_eq!(run.timeline.len(), 2_700, "intervals of 32 s");
        assert_eq!(run.timeline.iter().map(|tick| tick.due).sum::<u64>(), 86_400);
        assert!(run.timeline.iter().all(|tick| tick.due == 32 && tick.response_time.count() > 30));
    }

    #[test]
    fn names_beyond_those_that_are_worth_a_row_are_in_one() {
        let names: Vec<String> = (0..500).map(|k| format!("/order/{k}")).collect();
        let requests: Vec<_> = names.iter().map(|name| request(name, 1, 5, None)).collect();
        let run = run_of(&requests);
        assert_eq!(run.urls.len(), ROWS_MAX + 1);
        let others = run.urls.last().unwrap();
        assert_eq!((others.name.as_str(), others.due), (OTHER_ROWS, 300));
    }

    #[test]
    fn a_run_without_requests_is_none_and_one_of_no_time_has_a_rate() {
        assert!(ForeignRun::default().span().is_none());
        let run = run_of(&[request("a", 0, 0, None), request("a", 0, 0, None)]);
        assert_eq!((run.qps, run.response_time.max()), (2_000.0, Some(Nanos::ZERO)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn any_order_gives_the_same_run(times in prop::collection::vec((0u64..9_000_000, 0u64..70_000, 0usize..4), 1..60), turn in 0usize..60) {
            let failures = [None, None, Some(Failure::CheckStatus), Some(Failure::RecvReset)];
            let requests: Vec<_> = times.iter().map(|(at, took, failure)| request("a", *at, *took, failures[*failure])).collect();
            let mut turned = requests.clone();
            turned.rotate_left(turn % requests.len());
            let (one, two) = (run_of(&requests), run_of(&turned));
            prop_assert_eq!(&one.requests, &two.requests);
            prop_assert_eq!(&one.urls, &two.urls);
            prop_assert_eq!((&one.response_time, &one.ttfb, one.qps), (&two.response_time, &two.ttfb, two.qps));
            for run in [&one, &two] {
                let sum = |of: fn(&Tick) -> u64| run.timeline.iter().map(of).sum::<u64>();
                prop_assert_eq!((sum(|tick| tick.due), sum(|tick| tick.succeeded), sum(|tick| tick.failed)), (run.requests.due, run.requests.succeeded, run.requests.failed));
                prop_assert!(run.timeline.iter().is_sorted_by_key(|tick| tick.from) && run.timeline.len() <= TICKS_MAX);
                prop_assert_eq!(run.timeline.first().unwrap().from, Nanos::ZERO);
            }
        }
    }
}
