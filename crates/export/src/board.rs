//! The board: totals of every load of the run so far, and what is open right now.
//!
//! Whoever measures writes, whoever tells reads a copy. Totals are exact; a histogram keeps only the bounds that are told, so that
//! the board stays small.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use measure::{Failure, Histogram, IntervalCounts, Row, RowKind, Tally, Tick};
use plan::Timetable;

use crate::Identity;

/// Upper bounds of the told histograms, in seconds: 1, 2, 5 from a tenth of a millisecond to ten seconds, and the minutes timeouts
/// are set to. A time is counted by the bucket it was recorded in, which is exact to 0.1 %.
pub(crate) const BOUNDS: [f64; 18] =
    [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0];

/// Seconds that wait for a receiver: an hour. The oldest are given up first.
pub(crate) const SECONDS_MAX: usize = 3_600;

/// Times by the bounds that are told.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Times {
    /// By bound, not added up; the last is what lies above all of them.
    pub buckets: [u64; BOUNDS.len() + 1],
    /// In seconds.
    pub sum: f64,
    pub count: u64,
}

impl Times {
    fn add(&mut self, times: &Histogram) {
        for (time, count) in times.recorded() {
            let seconds = time.as_secs_f64();
            let place = BOUNDS.partition_point(|bound| *bound < seconds);
            self.buckets[place] += count;
        }
        self.count += times.count();
        self.sum += times.sum() as f64 / 1e9;
    }
}

/// What is counted of one load, from its beginning.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Totals {
    pub due: u64,
    pub succeeded: u64,
    pub failed: u64,
    pub unsent: u64,
    /// Answers by the first digit of their status.
    pub answers: BTreeMap<u16, u64>,
    pub failures: BTreeMap<Failure, u64>,
    pub bytes_sent: u64,
    pub bytes_received: u64,
    pub connections_opened: u64,
    pub response_time: Times,
    pub service_time: Times,
    pub lag: Times,
    /// Of answers that stream; `None` until the first event.
    pub events: Option<EventTotals>,
    /// Processor time of the workers, in seconds.
    pub cpu: f64,
    /// Of a scenario, in its order; empty without one.
    pub rows: Vec<RowTotals>,
}

/// Events of answers that stream.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct EventTotals {
    pub count: u64,
    /// From when a request was due to the first event of its answer.
    pub first: Times,
    /// Between two events of an answer.
    pub between: Times,
}

/// What one population, journey, transaction or step of a scenario came to, as [`Row`] counts it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RowCounts<T> {
    pub kind: RowKind,
    /// Of a step; else empty.
    pub journey: Arc<str>,
    pub name: Arc<str>,
    pub begun: u64,
    pub succeeded: u64,
    pub failed: u64,
    pub cut_off: u64,
    pub times: T,
}

/// From its beginning.
pub(crate) type RowTotals = RowCounts<Times>;
/// In a second.
pub(crate) type RowSecond = RowCounts<Figures>;

/// How it stood at the end of the last second.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Now {
    pub in_flight: u64,
    pub connections: u64,
    /// In seconds.
    pub lag_max: f64,
    /// Answers a second.
    pub qps: f64,
    /// Requests, or journeys of a scenario, a second, in open load.
    pub asked: Option<f64>,
    /// Journeys to their end a second, of a scenario.
    pub tps: Option<f64>,
    /// Events a second, of answers that stream.
    pub events: Option<f64>,
}

/// One load of the run.
#[derive(Debug, Clone)]
pub(crate) struct Load {
    pub name: String,
    pub began: SystemTime,
    /// Of an open load.
    pub timetable: Option<Timetable>,
    pub totals: Totals,
    pub now: Now,
}

/// One second of one load, for receivers that want each.
#[derive(Debug, Clone)]
pub(crate) struct Second {
    pub number: u64,
    pub load: String,
    pub at: SystemTime,
    pub tick: Tick,
    pub figures: Figures,
    /// Of answers that stream: to the first event, and between two.
    pub events: Option<(Figures, Figures)>,
    pub rows: Vec<RowSecond>,
}

/// Percentiles that are told of a second, where enough requests stand behind them.
pub(crate) const QUANTILES: [(f64, &str); 4] = [(0.5, "p50"), (0.9, "p90"), (0.95, "p95"), (0.99, "p99")];

/// Times of a second, as they are told: in seconds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Figures {
    pub mean: Option<f64>,
    pub quantiles: [Option<f64>; QUANTILES.len()],
    pub max: Option<f64>,
}

impl Figures {
    fn of(times: &Histogram) -> Self {
        Self {
            mean: times.mean().map(|mean| mean / 1e9),
            quantiles: QUANTILES.map(|(q, _)| times.known_quantile(q).map(|time| time.as_secs_f64())),
            max: times.max().map(|time| time.as_secs_f64()),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Board {
    pub identity: Identity,
    pub loads: Vec<Load>,
    /// When it was written on last.
    pub at: SystemTime,
    /// Counts what is written, so that readers see whether there is anything new.
    pub version: u64,
    pub over: bool,
    seconds: VecDeque<Second>,
    seconds_seen: u64,
    seconds_max: usize,
}

/// A board that several threads share.
#[derive(Debug)]
pub(crate) struct Shared {
    board: Mutex<Board>,
    written: Condvar,
}

impl Shared {
    pub fn new(identity: Identity, seconds_max: usize) -> Self {
        let board = Board {
            identity,
            loads: Vec::new(),
            at: SystemTime::now(),
            version: 0,
            over: false,
            seconds: VecDeque::new(),
            seconds_seen: 0,
            seconds_max,
        };
        Self { board: Mutex::new(board), written: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn load(&self, name: &str, timetable: Option<Timetable>) {
        let mut board = self.lock();
        let began = SystemTime::now();
        board.loads.push(Load { name: name.to_owned(), began, timetable, totals: Totals::default(), now: Now::default() });
    }

    pub fn second(&self, tick: &Tick, counted: &IntervalCounts) {
        let mut board = self.lock();
        let (at, keeps_seconds) = (SystemTime::now(), board.seconds_max > 0);
        let Some(load) = board.loads.last_mut() else { return };
        let rows = told(&counted.counts.tally);
        load.totals.add(tick, counted, &rows);
        load.now = Now {
            in_flight: tick.in_flight,
            connections: tick.connections,
            lag_max: tick.lag_max.as_secs_f64(),
            qps: tick.qps(),
            tps: tick.tps(),
            events: tick.events_per_second(),
            asked: load.timetable.as_ref().map(|timetable| timetable.at(tick.from).as_per_second()),
        };
        let name = load.name.clone();
        if keeps_seconds {
            if board.seconds.len() == board.seconds_max {
                board.seconds.pop_front();
            }
            let number = board.seconds_seen;
            board.seconds_seen += 1;
            let figures = Figures::of(&counted.counts.response());
            let rows = rows.iter().map(|row| row.with(Figures::of(&row.times))).collect();
            let streams = counted.counts.streams.as_deref();
            let events = streams.map(|streams| (Figures::of(&streams.first_event), Figures::of(&streams.between_events)));
            board.seconds.push_back(Second { number, load: name, at, tick: tick.clone(), figures, events, rows });
        }
        board.at = at;
        board.version += 1;
        drop(board);
        self.written.notify_all();
    }

    /// Nothing more will be written. What was open is closed.
    pub fn end(&self) {
        let mut board = self.lock();
        board.over = true;
        if let Some(load) = board.loads.last_mut() {
            load.now = Now::default();
        }
        board.version += 1;
        drop(board);
        self.written.notify_all();
    }

    /// A copy of what stands there.
    pub fn read(&self) -> Board {
        let board = self.lock();
        Board { seconds: VecDeque::new(), ..board.clone() }
    }

    /// Waits until there is more than `version`, or it is over, or for a moment; then a copy, with the seconds from `from` on.
    pub fn wait(&self, version: u64, from: u64, longest: Duration) -> (Board, Vec<Second>) {
        let board = self.lock();
        let (board, _) = self
            .written
            .wait_timeout_while(board, longest, |board| board.version <= version && !board.over)
            .unwrap_or_else(PoisonError::into_inner);
        let seconds = board.seconds.iter().filter(|second| second.number >= from).cloned().collect();
        (Board { seconds: VecDeque::new(), ..board.clone() }, seconds)
    }
}

impl Totals {
    fn add(&mut self, tick: &Tick, counted: &IntervalCounts, rows: &[RowCounts<Histogram>]) {
        let counts = &counted.counts;
        self.due += counts.due;
        self.succeeded += counts.succeeded;
        self.unsent += counts.unsent;
        for class in Failure::ALL {
            let count = counts.failures[class.index()];
            if count > 0 {
                self.failed += count;
                *self.failures.entry(*class).or_default() += count;
            }
        }
        for (status, count) in counts.statuses() {
            *self.answers.entry(status / 100).or_default() += count;
        }
        self.bytes_sent += counts.bytes_sent;
        self.bytes_received += counts.bytes_received;
        self.connections_opened += counts.connections.opened;
        self.response_time.add(&counts.response_succeeded);
        self.response_time.add(&counts.response_failed);
        self.service_time.add(&counts.service);
        self.lag.add(&counts.lag);
        if let Some(streams) = &counts.streams {
            let events = self.events.get_or_insert_default();
            events.count += streams.events;
            events.first.add(&streams.first_event);
            events.between.add(&streams.between_events);
        }
        self.cpu += tick.cpu.as_secs_f64();
        if self.rows.is_empty() {
            self.rows =
                rows.iter().map(|row| RowTotals { begun: 0, succeeded: 0, failed: 0, cut_off: 0, ..row.with(Times::default()) }).collect();
        }
        for (total, row) in self.rows.iter_mut().zip(rows) {
            total.count(row);
            total.times.add(&row.times);
        }
    }
}

/// The rows that are told of an interval: lists of URLs are as long as their files. Steps of the same name in a journey are one, since a
/// receiver tells rows apart by their names.
fn told(tally: &Tally) -> Vec<RowCounts<Histogram>> {
    let mut rows: Vec<RowCounts<Histogram>> = Vec::new();
    let mut places = HashMap::new();
    for row in tally.rows().filter(|row| row.kind != RowKind::Url) {
        let place = *places.entry((row.kind.name(), row.journey, row.name)).or_insert(rows.len());
        let Row { kind, begun, succeeded, failed, cut_off, .. } = row;
        let mut own = RowCounts {
            kind,
            journey: row.journey.into(),
            name: row.name.into(),
            begun,
            succeeded,
            failed,
            cut_off,
            times: row.times.clone(),
        };
        row.times_failed.into_iter().for_each(|times| own.times.add(times));
        match rows.get_mut(place) {
            Some(known) => {
                known.count(&own);
                known.times.add(&own.times);
            }
            None => rows.push(own),
        }
    }
    rows
}

impl<T> RowCounts<T> {
    /// The same with these times.
    fn with<U>(&self, times: U) -> RowCounts<U> {
        let Self { kind, journey, name, begun, succeeded, failed, cut_off, times: _ } = self;
        let (journey, name) = (journey.clone(), name.clone());
        RowCounts { kind: *kind, journey, name, begun: *begun, succeeded: *succeeded, failed: *failed, cut_off: *cut_off, times }
    }

    fn count<U>(&mut self, other: &RowCounts<U>) {
        self.begun += other.begun;
        self.succeeded += other.succeeded;
        self.failed += other.failed;
        self.cut_off += other.cut_off;
    }
}

#[cfg(test)]
mod tests {
    use measure::{JourneyCounts, StepCounts};
    use plan::Nanos;

    use super::*;

    #[test]
    fn steps_of_the_same_name_in_a_journey_are_one_row() {
        let step = |name: &str, journey, millis| {
            let mut step = StepCounts::named(name.into(), journey, []);
            (step.due, step.succeeded) = (1, 1);
            step.response_succeeded.record(Nanos::from_millis(millis));
            step
        };
        let journeys = ["buys", "looks"].map(|name| JourneyCounts::named(name.into())).to_vec();
        let steps = vec![step("GET /cart", 0, 10), step("POST /cart", 0, 20), step("GET /cart", 0, 30), step("GET /cart", 1, 40)];
        let rows = told(&Tally { journeys, steps, ..Tally::default() });
        let steps: Vec<_> = rows.iter().filter(|row| row.kind == RowKind::Step).collect();
        let shown: Vec<_> = steps.iter().map(|row| (&*row.journey, &*row.name, row.begun, row.times.sum() / 1_000_000)).collect();
        assert_eq!(shown, [("buys", "GET /cart", 2, 40), ("buys", "POST /cart", 1, 20), ("looks", "GET /cart", 1, 40)]);
    }
}
