//! The summariser: how many samples there were, every so often and at the end.
//!
//! JMeter prints a pair of lines (since the last pair, and all so far) when its clock passes a multiple of the interval, the second
//! only where it says something else than the first, and at the end always one line of all. The same moments hold here, a second at most later,
//! since counts come once a second. Times are those from sending on, as JMeter takes them. Its threads are counted by their connections:
//! a user has one.

use std::io::Write;
use std::ops::ControlFlow;

use jiff::Timestamp;
use measure::{IntervalCounts, Summary, Tick};
use plan::Nanos;
use report::jmeter::{Samples, Threads};
use trial::Observer;

use crate::host::print_to;

/// What lines begin with.
pub const NAME: &str = "summary";

/// Prints lines while a test runs.
pub struct Summariser {
    /// When the test began, in milliseconds since 1970.
    began_ms: u64,
    /// How often, in milliseconds; nothing where it is zero.
    interval_ms: u64,
    out: Box<dyn Write + Send>,
    /// Since the last pair of lines.
    latest: Samples,
    all: Samples,
    started: u64,
    active: u64,
    pairs: u64,
}

impl Summariser {
    /// Of a test that begins now.
    pub fn new(began: Timestamp, interval: Nanos, out: Box<dyn Write + Send>) -> Self {
        let began_ms = u64::try_from(began.as_millisecond()).unwrap_or_default();
        let (latest, all) = Default::default();
        Self { began_ms, interval_ms: interval.as_millis_f64() as u64, out, latest, all, started: 0, active: 0, pairs: 0 }
    }

    /// Whether the clock passed a multiple of the interval in this span.
    fn is_due(&self, from: Nanos, to: Nanos) -> bool {
        let turn = |at: Nanos| (self.began_ms + at.as_millis_f64() as u64).checked_div(self.interval_ms);
        turn(from) != turn(to)
    }

    fn threads(&self) -> Threads {
        Threads { active: self.active, started: self.started }
    }

    /// Prints the last lines.
    pub fn finish(&mut self, run: &Summary) {
        self.active = 0;
        let mut text = String::new();
        if self.pairs > 0 && self.latest.count > 0 {
            text += &self.latest.line(NAME, Some(self.threads()));
        }
        let failed = run.requests.failed;
        let count = run.requests.succeeded + failed;
        let all = Samples { count, errors: failed, times: run.service_time.clone(), elapsed: run.ended.drained_at };
        text += &all.line(NAME, None);
        let _ = print_to(&mut *self.out, &text);
    }
}

impl Observer for Summariser {
    fn interval(&mut self, tick: &Tick, counted: &IntervalCounts) -> ControlFlow<()> {
        let counts = &counted.counts;
        let span = Samples {
            count: counts.succeeded + counts.failed(),
            errors: counts.failed(),
            times: counts.service.clone(),
            elapsed: tick.to.since(tick.from),
        };
        self.latest.add(&span);
        self.all.add(&span);
        self.active = tick.connections;
        self.started = self.started.max(self.active);
        if self.is_due(tick.from, tick.to) && self.latest.count > 0 {
            let mut text = self.latest.line(NAME, Some(self.threads()));
            if self.all.count != self.latest.count {
                text += &self.all.line(NAME, None);
            }
            self.latest = Samples::default();
            self.pairs += 1;
            // Nobody reads on: that is the reader's choice.
            let _ = print_to(&mut *self.out, &text);
        }
        ControlFlow::Continue(())
    }
}
