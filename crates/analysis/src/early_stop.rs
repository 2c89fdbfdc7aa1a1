//! When a trial may stop before its time, because more requests could hardly change the answer.
//!
//! A capacity search spends most of its time on trials whose outcome was plain after seconds. MLPerf's inference rules
//! stop a passing trial when n requests, t of them bad, would be rarer than 1 − c if the true bad share were the allowed
//! one: h = n − t good ones with I(p; h, t+1) ≤ 1 − c. The same reasoning turned around stops a failing one. Requests of
//! one run resemble each other, so the caller divides both counts by the design effect first
//! ([`crate::proportion::Share::thinned`]).
//!
//! Looking every second and stopping at the first good sight is wrong more often than each look alone. [`Looks`] looks
//! when the number of requests has doubled, and spends half of what is left of the allowed error at each look, so that all
//! looks together err no more often than one would have.

use serde::Serialize;

use crate::distribution::{binomial_at_least, binomial_at_most};
use crate::proportion::Share;

/// What a trial shows so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// The promise is kept; more requests would not change it.
    Pass,
    /// It is broken.
    Fail,
    /// Not yet known.
    GoOn,
}

/// One look at a trial with `confidence` to either side: does the bad share keep below `bad_share_max`?
#[must_use]
pub fn look(bad: Share, bad_share_max: f64, confidence: f64) -> Stop {
    let error = 1.0 - confidence;
    if bad.of == 0 {
        Stop::GoOn
    } else if binomial_at_most(bad.hits, bad.of, bad_share_max) <= error {
        Stop::Pass
    } else if binomial_at_least(bad.hits, bad.of, bad_share_max) <= error {
        Stop::Fail
    } else {
        Stop::GoOn
    }
}

/// Repeated looks at one trial, at doubling sizes and with halving error.
#[derive(Debug, Clone)]
pub struct Looks {
    bad_share_max: f64,
    error_left: f64,
    next_at: u64,
}

impl Looks {
    /// For a promise that at most `bad_share_max` of all requests are bad, with `confidence` over all looks together.
    #[must_use]
    pub fn new(bad_share_max: f64, confidence: f64) -> Self {
        Self { bad_share_max, error_left: 1.0 - confidence, next_at: 1 }
    }

    /// Looks, if it is time to: at least twice as many requests as at the last look.
    pub fn look(&mut self, bad: Share) -> Stop {
        if bad.of < self.next_at {
            return Stop::GoOn;
        }
        self.next_at = bad.of.saturating_mul(2);
        self.error_left /= 2.0;
        look(bad, self.bad_share_max, 1.0 - self.error_left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Random;

    #[test]
    fn a_trial_passes_from_that_many_on_and_not_before() {
        let bad = [0, 1, 2, 5, 10, 20, 50, 100];
        for (bad_share, confidence, requests) in [
            (0.01, 0.99, [459, 662, 838, 1_307, 2_010, 3_304, 6_898, 12_571]),
            (0.001, 0.99, [4_603, 6_636, 8_403, 13_105, 20_140, 33_097, 69_058, 125_826]),
            (0.01, 0.95, [299, 473, 628, 1_049, 1_693, 2_902, 6_323, 11_799]),
            (0.001, 0.95, [2_995, 4_742, 6_294, 10_511, 16_959, 29_058, 63_281, 118_071]),
        ] {
            for (hits, of) in bad.into_iter().zip(requests) {
                let looks = [of - 1, of].map(|of| look(Share { hits, of }, bad_share, confidence));
                assert_eq!(looks, [Stop::GoOn, Stop::Pass], "{hits} bad at {bad_share}, {confidence}: the numbers are those of MLPerf");
            }
        }
        let at = |hits, of| look(Share { hits, of }, 0.01, 0.99);
        assert_eq!((at(0, 0), at(3, 100), at(10, 100)), (Stop::GoOn, Stop::GoOn, Stop::Fail));
    }

    #[test]
    fn looking_again_and_again_errs_no_more_often_than_promised() {
        let (trials, confidence, bad_share) = (1_000, 0.95, 0.01);
        let mut random = Random::new(5, 0);
        let (mut passed, mut failed) = (0, 0);
        for _ in 0..trials {
            // Exactly at the limit: either answer is an error.
            let mut looks = Looks::new(bad_share, confidence);
            let mut bad = Share { hits: 0, of: 0 };
            for _ in 0..10_000 {
                bad.of += 1;
                bad.hits += u64::from(random.unit() < bad_share);
                match looks.look(bad) {
                    Stop::GoOn => continue,
                    Stop::Pass => passed += 1,
                    Stop::Fail => failed += 1,
                }
                break;
            }
        }
        // 5 % to either side; four standard errors of a thousand trials above it would be 7.8 %.
        assert!(passed <= 78 && failed <= 78, "{passed} passed, {failed} failed");
    }

    #[test]
    fn a_plain_outcome_is_known_early() {
        let stops_at = |bad_of_hundred: u64| {
            let mut looks = Looks::new(0.01, 0.95);
            (1..100_000u64).find(|n| looks.look(Share { hits: n * bad_of_hundred / 100, of: *n }) != Stop::GoOn)
        };
        // One look would have needed 299; looks at doubling sizes and the halved errors cost at most ten times that.
        assert!(stops_at(0).unwrap() < 3_000);
        assert!(stops_at(20).unwrap() < 200);
    }
}
