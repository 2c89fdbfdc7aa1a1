//! What a server does with more than it can take: turn requests away by rate, or break for a while.
//!
//! Both are kept so simple that a test can say beforehand which request is turned away. A token bucket would be closer
//! to production limiters, but how many pass then depends on microseconds; in a window of one second it is a number.

use std::num::{NonZeroU32, NonZeroU64};
use std::time::Duration;

/// Beyond so many requests in a second, counted in windows of one second, the answer is 429 with `Retry-After`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimit {
    /// How many pass in each window.
    pub per_second: NonZeroU32,
}

/// The current window of a [`RateLimit`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    second: u64,
    passed: u32,
}

impl Window {
    /// Lets a request at `at` pass, or tells after how many whole seconds to come again.
    pub fn admit(&mut self, limit: RateLimit, at: Duration) -> Result<(), NonZeroU64> {
        if at.as_secs() != self.second {
            *self = Window { second: at.as_secs(), passed: 0 };
        }
        if self.passed >= limit.per_second.get() {
            return Err(NonZeroU64::MIN);
        }
        self.passed += 1;
        Ok(())
    }
}

/// With more than so many requests in flight the server breaks: for a time it answers 503 at once, whatever comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Breakdown {
    /// How many may be in flight.
    pub above: NonZeroU32,
    /// How long it stays broken.
    pub lasts: Duration,
}

/// Whether a server with a [`Breakdown`] is broken now, and until when.
#[derive(Clone, Copy, Debug, Default)]
pub struct Health {
    broken_until: Option<Duration>,
}

impl Health {
    /// Takes a request at `at` that makes `in_flight` in all; an error tells when the server will be well again.
    pub fn admit(&mut self, breakdown: Breakdown, at: Duration, in_flight: u64) -> Result<(), Duration> {
        if let Some(until) = self.broken_until {
            if at < until {
                return Err(until);
            }
            self.broken_until = None;
        }
        if in_flight > u64::from(breakdown.above.get()) {
            let until = at + breakdown.lasts;
            self.broken_until = Some(until);
            return Err(until);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_limit_lets_exactly_its_number_pass_in_each_second() {
        let limit = RateLimit { per_second: NonZeroU32::new(100).unwrap() };
        let mut window = Window::default();
        let passed = |window: &mut Window, from: u64| (0..1000).filter(|at| window.admit(limit, ms(from + at)).is_ok()).count();
        assert_eq!(passed(&mut window, 0), 100);
        assert_eq!(passed(&mut window, 1000), 100);
        assert_eq!(passed(&mut window, 7000), 100);
    }

    #[test]
    fn a_broken_server_turns_everything_away_until_it_is_well_again() {
        let breakdown = Breakdown { above: NonZeroU32::new(10).unwrap(), lasts: ms(500) };
        let mut health = Health::default();
        assert_eq!(health.admit(breakdown, ms(0), 10), Ok(()));
        assert_eq!(health.admit(breakdown, ms(1), 11), Err(ms(501)));
        assert_eq!(health.admit(breakdown, ms(500), 1), Err(ms(501)));
        assert_eq!(health.admit(breakdown, ms(501), 1), Ok(()));
        assert_eq!(health.admit(breakdown, ms(502), 11), Err(ms(1002)));
    }
}
