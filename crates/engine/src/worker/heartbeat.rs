//! Looks at the clock all the time, so that a time in which this worker did not run does not pass unnoticed.
//!
//! A worker that is paused, frozen with its container, stunned with its virtual machine or stopped by a quota finds answers and due
//! requests waiting when it wakes, and takes their waiting for the server's. So the warden beats a few hundred times a second, and a beat
//! that comes late is a gap, less what the thread was on a core or in line for one in that time: a thread that has much to do, or that
//! others keep from its core, is judged by those figures. Whoever wakes first after a gap may be a Lane rather than the warden; so a
//! Lane that records something long after the last beat has the gap noticed first, which costs a comparison.

use std::cell::Cell;

use plan::Nanos;

use crate::clock::Clock;

/// Freezes of twenty milliseconds are found, wherever between two beats they begin.
pub(super) const BEAT: Nanos = Nanos::from_millis(5);

/// Less than this is no gap. A thread that does nothing but sleep for five milliseconds, on a virtual machine of four cores beside
/// builds that filled them, was late by more once in two thousand times, and by five milliseconds once in a thousand.
const GAP_MIN: Nanos = Nanos::from_millis(10);

/// What is in line is read this often: it comes from a file.
const LINE_EVERY: Nanos = Nanos::from_millis(50);

/// The beats of one worker.
#[derive(Debug)]
pub(super) struct Heartbeat {
    /// When the last one was.
    last: Cell<Nanos>,
    /// Beyond this moment without a beat there may have been a gap.
    alarm: Cell<Nanos>,
    /// Processor time used by then.
    cpu: Cell<Nanos>,
    /// Time in line for a core by when it was last read, and when that was.
    in_line: Cell<Nanos>,
    read_at: Cell<Nanos>,
}

impl Heartbeat {
    /// Begins now.
    pub(super) fn new<C: Clock>(clock: &C) -> Self {
        let now = clock.now();
        Self {
            last: Cell::new(now),
            alarm: Cell::new(now.plus(BEAT).plus(GAP_MIN)),
            cpu: Cell::new(clock.cpu()),
            in_line: Cell::new(clock.in_line()),
            read_at: Cell::new(now),
        }
    }

    /// Whether so much time has passed since the last beat that something may be wrong.
    #[inline]
    pub(super) fn is_late(&self, now: Nanos) -> bool {
        now >= self.alarm.get()
    }

    /// A beat; tells how long the worker had not run, if it had not.
    pub(super) fn beat<C: Clock>(&self, clock: &C, now: Nanos) -> Option<Nanos> {
        let cpu = clock.cpu();
        let worked = cpu.since(self.cpu.get());
        let lost = now.since(self.last.get()).since(BEAT).since(worked);
        let may_be_gap = lost >= GAP_MIN;
        let gap = if may_be_gap || now.since(self.read_at.get()) >= LINE_EVERY {
            let in_line = clock.in_line();
            let waited = in_line.since(self.in_line.get());
            self.in_line.set(in_line);
            self.read_at.set(now);
            Some(lost.since(waited)).filter(|gap| *gap >= GAP_MIN)
        } else {
            None
        };
        self.last.set(now);
        self.alarm.set(now.plus(BEAT).plus(GAP_MIN));
        self.cpu.set(cpu);
        gap
    }
}
