//! When the generator itself did not run: paused, frozen, stunned, or stopped by a quota.
//!
//! A process that is stopped for two seconds finds two seconds' worth of answers and of due requests when it wakes, and every stamp
//! it takes says that the server was slow. No stamp of a request can tell the two apart, so somebody has to look at the clock all the
//! time and notice that a look came late ([`crate::Recorder::stood_still`] is told). What lies in such a gap is this side's: a request that fell
//! due in it was sent late by us, whatever connection it met, and an answer that may have lain unread in it is not examined further.
//!
//! Taking such requests out of the figures was rejected: what happened stays in the response times, and beside them stand those of
//! the same requests without our part ([`OwnDelay`]), so that a reader sees by how much a figure may be too high.
//!
//! Invariant: both add up exactly, as all counts do.

use std::collections::VecDeque;

use plan::Nanos;
use serde::{Deserialize, Serialize};

use crate::{Histogram, Outcome};

/// Delays below this change no figure that is shown.
pub(crate) const DELAY_MIN: Nanos = Nanos::from_micros(20);

/// A request meets so many gaps at most; with more, what came before the oldest is the server's.
const RECENT_MAX: usize = 64;

/// How often and how long workers did not run though they had to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Gaps {
    /// How many there were, over all workers.
    pub count: u64,
    /// How long they were together, over all workers.
    #[serde(rename = "total_ns")]
    pub total: Nanos,
    /// The longest.
    #[serde(rename = "longest_ns")]
    pub longest: Nanos,
}

impl Gaps {
    /// Whether there was none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// One more.
    pub fn record(&mut self, span: Nanos) {
        self.add(&Self { count: 1, total: span, longest: span });
    }

    /// Adds another's: exact, in any order.
    pub fn add(&mut self, other: &Self) {
        let Self { count, total, longest } = other;
        self.count += count;
        self.total = self.total.plus(*total);
        self.longest = self.longest.max(*longest);
    }
}

/// The response times of requests that loadline itself delayed, as they were measured and without that delay.
///
/// The second is a lower bound: an answer that came while the generator did not run may have been late by itself.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct OwnDelay {
    /// As they were measured: part of the response times.
    pub measured: Histogram,
    /// Without what loadline added.
    pub without: Histogram,
}

impl OwnDelay {
    /// Whether no request was delayed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.measured.is_empty()
    }

    /// A request that took so long, of which so much was ours.
    pub(crate) fn record(&mut self, response: Nanos, own: Nanos) {
        self.measured.record(response);
        self.without.record(response.since(own));
    }

    /// Adds another's: exact, in any order.
    pub fn add(&mut self, other: &Self) {
        self.measured.add(&other.measured);
        self.without.add(&other.without);
    }

    /// The quantile of these times with the delayed requests as they would have been.
    #[must_use]
    pub(crate) fn quantile_without(&self, times: &Histogram, q: f64) -> Option<Nanos> {
        if self.is_empty() {
            return times.quantile(q);
        }
        let mut buckets: Vec<(Nanos, i128)> = times.recorded().map(|(time, count)| (time, i128::from(count))).collect();
        buckets.extend(self.measured.recorded().map(|(time, count)| (time, -i128::from(count))));
        buckets.extend(self.without.recorded().map(|(time, count)| (time, i128::from(count))));
        // Of one time first what is taken away: before that, a sum would count requests that are not there.
        buckets.sort_unstable();
        let rank = ((times.count() as f64 * q).ceil() as i128).max(1);
        let mut up_to = 0;
        let at = buckets.into_iter().find(|(_, count)| {
            up_to += count;
            up_to >= rank
        });
        // A bucket stands for its greatest value, which no delay makes greater than what was measured.
        Some(at?.0.min(times.quantile(q)?))
    }
}

/// The newest gaps of one worker.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    /// When the last of them ended.
    until: Nanos,
    spans: VecDeque<(Nanos, Nanos)>,
}

impl Recent {
    /// Keeps one that begins where the one before ended, or later.
    pub(crate) fn keep(&mut self, from: Nanos, until: Nanos) {
        if self.spans.len() == RECENT_MAX {
            self.spans.pop_front();
        }
        self.spans.push_back((from.max(self.until), until));
        self.until = self.until.max(until);
    }

    /// Whether what began then met one.
    #[inline]
    pub(crate) fn touch(&self, from: Nanos) -> bool {
        from < self.until
    }

    /// How much of this span lies in gaps.
    pub(crate) fn within(&self, from: Nanos, until: Nanos) -> Nanos {
        self.spans.iter().fold(Nanos::ZERO, |sum, gap| sum.plus(gap.1.min(until).since(gap.0.max(from))))
    }

    /// A request as it was, but for when it could be sent: what a gap had of its wait is lag. With it, what a gap had of its time on
    /// the wire.
    pub(crate) fn charge(&self, outcome: &Outcome) -> (Outcome, Nanos) {
        let waited = self.within(outcome.due, outcome.ready);
        (Outcome { ready: outcome.ready.since(waited), ..*outcome }, self.within(outcome.sent, outcome.done))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Nanos {
        Nanos::from_millis(millis)
    }

    #[test]
    fn requests_that_were_delayed_do_not_count_twice_before_a_slow_tail() {
        let (mut times, mut own) = (Histogram::new(), OwnDelay::default());
        for _ in 0..900 {
            times.record(Nanos::from_micros(1_030));
            own.record(Nanos::from_micros(1_030), Nanos::from_micros(30));
        }
        (0..100).for_each(|_| times.record(ms(10)));
        assert_eq!(own.quantile_without(&times, 0.99), times.quantile(0.99));
        assert!(own.quantile_without(&times, 0.5).unwrap() < Nanos::from_micros(1_010));
    }

    #[test]
    fn a_request_is_charged_with_what_it_shares_with_gaps() {
        let mut recent = Recent::default();
        recent.keep(ms(10), ms(20));
        recent.keep(ms(30), ms(50));
        assert!(recent.touch(ms(49)) && !recent.touch(ms(50)));
        assert_eq!(recent.within(ms(15), ms(35)), ms(10));
        assert_eq!(recent.within(ms(20), ms(30)), Nanos::ZERO);
        let outcome = Outcome {
            due: ms(12),
            ready: ms(25),
            sent: ms(26),
            first_byte: ms(60),
            done: ms(60),
            bytes_out: 0,
            bytes_in: 0,
            result: Ok(200),
        };
        let (charged, on_the_wire) = recent.charge(&outcome);
        assert_eq!((charged.wait(), charged.lag(), charged.response_time()), (ms(5), ms(9), outcome.response_time()));
        assert_eq!(on_the_wire, ms(20));
    }

    #[test]
    fn overlapping_gaps_count_once_and_the_oldest_are_forgotten() {
        let mut recent = Recent::default();
        (0..200).for_each(|k| recent.keep(ms(10 * k), ms(10 * k + 15)));
        assert_eq!(recent.spans.len(), RECENT_MAX);
        assert_eq!(recent.within(ms(1_900), ms(2_000)), ms(100));
    }

    #[test]
    fn a_quantile_without_our_part_is_that_of_the_requests_as_they_would_have_been() {
        let mut times = Histogram::new();
        let mut own = OwnDelay::default();
        for k in 0..1_000u64 {
            let alone = ms(1);
            let delay = if k < 20 { ms(2_000) } else { Nanos::ZERO };
            times.record(alone.plus(delay));
            if delay >= DELAY_MIN {
                own.record(alone.plus(delay), delay);
            }
        }
        assert!(times.quantile(0.99).unwrap() >= ms(2_000));
        let without = own.quantile_without(&times, 0.99).unwrap();
        assert!(without >= ms(1) && without < ms(2), "{without:?}");
        assert_eq!(OwnDelay::default().quantile_without(&times, 0.99), times.quantile(0.99));
        assert_eq!(own.quantile_without(&times, 0.5), times.quantile(0.5));
    }

    #[test]
    fn gaps_add_up() {
        let mut all = Gaps::default();
        all.record(ms(20));
        all.record(ms(30));
        let mut twice = all;
        twice.add(&all);
        assert_eq!(twice, Gaps { count: 4, total: ms(100), longest: ms(30) });
    }
}
