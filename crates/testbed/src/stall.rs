//! A server that stops now and then, on a schedule known in advance.
//!
//! A garbage collection, a checkpoint, a noisy neighbour: for some time nothing is answered. A tool that waits for the
//! answer before it sends again sees one slow request where users would have seen hundreds; a schedule known in advance
//! makes the true percentiles a matter of arithmetic. Each period ends with its stall, so that a run does not begin
//! inside one.

use std::time::Duration;

/// Nothing is answered for the last `lasts` of every `every`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stall {
    /// The length of a period.
    pub every: Duration,
    /// The length of the stall at the end of a period; at most `every`.
    pub lasts: Duration,
}

impl Stall {
    /// When a request that arrives at `at` is taken up: at once, or when the stall it arrived in ends. Both times count
    /// from the anchor of the schedule.
    pub fn release(&self, at: Duration) -> Duration {
        let every = self.every.as_nanos();
        if every == 0 {
            return at;
        }
        let into_period = at.as_nanos() % every;
        let stall_begins = every.saturating_sub(self.lasts.as_nanos());
        if into_period < stall_begins { at } else { at + nanos(every - into_period) }
    }
}

fn nanos(nanos: u128) -> Duration {
    Duration::new((nanos / 1_000_000_000) as u64, (nanos % 1_000_000_000) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STALL: Stall = Stall { every: Duration::from_secs(2), lasts: Duration::from_millis(200) };

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_request_between_stalls_is_taken_up_at_once() {
        for at in [0, 1, 1799, 2000, 3799, 1_000_000_000] {
            assert_eq!(STALL.release(ms(at)), ms(at));
        }
    }

    #[test]
    fn a_request_in_a_stall_is_taken_up_when_the_stall_ends() {
        assert_eq!(STALL.release(ms(1800)), ms(2000));
        assert_eq!(STALL.release(ms(1999)), ms(2000));
        assert_eq!(STALL.release(ms(3900)), ms(4000));
        assert_eq!(STALL.release(ms(1_000_001_850)), ms(1_000_002_000));
    }

    #[test]
    fn a_tenth_of_even_arrivals_waits_up_to_the_whole_stall() {
        let mut waits: Vec<Duration> = (0..20_000).map(|at| STALL.release(ms(at)) - ms(at)).collect();
        waits.sort();
        assert_eq!(waits.iter().filter(|wait| !wait.is_zero()).count(), 2_000);
        assert_eq!(waits[20_000 * 95 / 100], ms(101));
        assert_eq!(waits[20_000 * 99 / 100], ms(181));
        assert_eq!(waits[19_999], ms(200));
    }

    #[test]
    fn a_stall_as_long_as_its_period_answers_once_a_period() {
        let always = Stall { every: ms(10), lasts: ms(10) };
        assert_eq!(always.release(ms(0)), ms(10));
        assert_eq!(always.release(ms(10)), ms(20));
    }
}
