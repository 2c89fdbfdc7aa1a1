//! The board: totals of every load of the run so far, and what is open right now.
//!
//! Whoever measures writes, whoever tells reads a copy. Totals are exact; a histogram keeps only the bounds that are told, so that
//! the board stays small.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use measure::{Failure, Histogram, IntervalCounts, JourneyCounts, StepCounts, Tally, Tick};
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
    /// Processor time of the workers, in seconds.
    pub cpu: f64,
    /// Of a scenario, in its order; empty without one.
    pub journeys: Vec<JourneyTotals>,
    pub steps: Vec<StepTotals>,
}

/// What one journey of a scenario came to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JourneyTotals {
    pub name: Arc<str>,
    pub started: u64,
    /// To their end, without a step that failed.
    pub succeeded: u64,
    /// To their end, with one.
    pub failed: u64,
    pub broke_off: u64,
}

/// What one step of a scenario came to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StepTotals {
    pub name: Arc<str>,
    pub journey: Arc<str>,
    pub succeeded: u64,
    pub failed: u64,
}

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
        let at = SystemTime::now();
        let Some(load) = board.loads.last_mut() else { return };
        load.totals.add(tick, counted);
        load.now = Now {
            in_flight: tick.in_flight,
            connections: tick.connections,
            lag_max: tick.lag_max.as_secs_f64(),
            qps: tick.qps(),
            tps: tick.tps(),
            asked: load.timetable.as_ref().map(|timetable| timetable.at(tick.from).as_per_second()),
        };
        let name = load.name.clone();
        if board.seconds_max > 0 {
            if board.seconds.len() == board.seconds_max {
                board.seconds.pop_front();
            }
            let number = board.seconds_seen;
            board.seconds_seen += 1;
            board.seconds.push_back(Second { number, load: name, at, tick: tick.clone() });
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
    fn add(&mut self, tick: &Tick, counted: &IntervalCounts) {
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
        self.cpu += tick.cpu.as_secs_f64();
        self.add_rows(&counts.tally);
    }

    fn add_rows(&mut self, tally: &Tally) {
        if self.journeys.is_empty() {
            let journey = |row: &JourneyCounts| JourneyTotals { name: row.name.clone(), started: 0, succeeded: 0, failed: 0, broke_off: 0 };
            let of = |row: &StepCounts| tally.journeys.get(row.journey as usize).map_or_else(|| "".into(), |journey| journey.name.clone());
            self.journeys = tally.journeys.iter().map(journey).collect();
            self.steps =
                tally.steps.iter().map(|row| StepTotals { name: row.name.clone(), journey: of(row), succeeded: 0, failed: 0 }).collect();
        }
        for (total, row) in self.journeys.iter_mut().zip(&tally.journeys) {
            total.started += row.started;
            total.succeeded += row.ended_well;
            total.failed += row.ended - row.ended_well;
            total.broke_off += row.broke_off.values().sum::<u64>();
        }
        for (total, row) in self.steps.iter_mut().zip(&tally.steps) {
            total.succeeded += row.succeeded;
            total.failed += row.failures.values().sum::<u64>();
        }
    }
}
