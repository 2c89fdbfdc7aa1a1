//! How far a share can be trusted: 3 failures in 1,000 requests are a failure share between 0.06 % and 0.87 %.
//!
//! Failure shares are small, often zero, and the usual ± 1.96·√(p(1−p)/n) then claims certainty: no failure in 100
//! requests would be 0 % ± 0. Clopper and Pearson's interval comes from the binomial distribution itself and is never
//! narrower than it says; at zero it is the rule of three. Failures that come in bursts are fewer independent events than
//! they seem: divide both counts by the design effect first ([`Share::thinned`]).
//!
//! Invariant: 0 ≤ low ≤ k/n ≤ high ≤ 1.

use serde::Serialize;

use crate::distribution::{binomial_at_least, binomial_at_most, bisect, normal_quantile};
use crate::interval::Interval;

/// `hits` of `of`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Share {
    /// How many had the property.
    pub hits: u64,
    /// Of how many.
    pub of: u64,
}

impl Share {
    /// The share itself, from 0 to 1; 0 of nothing.
    #[must_use]
    pub fn value(self) -> f64 {
        if self.of == 0 { 0.0 } else { self.hits as f64 / self.of as f64 }
    }

    /// The exact interval (Clopper and Pearson 1934) for `confidence`, such as 0.95: the shares under which neither as few
    /// nor as many hits would be rarer than half of what is left. Everything, of nothing.
    #[must_use]
    pub fn interval(self, confidence: f64) -> Interval {
        let Self { hits, of } = self;
        let tail = (1.0 - confidence) / 2.0;
        Interval {
            low: if hits == 0 { 0.0 } else { bisect(0.0, 1.0, |p| binomial_at_least(hits, of, p) < tail) },
            high: if hits >= of { 1.0 } else { bisect(0.0, 1.0, |p| binomial_at_most(hits, of, p) > tail) },
        }
    }

    /// The upper bound alone, exceeded in 1 − `confidence` of all cases.
    #[must_use]
    pub fn at_most(self, confidence: f64) -> f64 {
        if self.hits >= self.of { 1.0 } else { bisect(0.0, 1.0, |p| binomial_at_most(self.hits, self.of, p) > 1.0 - confidence) }
    }

    /// The lower bound alone.
    #[must_use]
    pub fn at_least(self, confidence: f64) -> f64 {
        if self.hits == 0 { 0.0 } else { bisect(0.0, 1.0, |p| binomial_at_least(self.hits, self.of, p) < 1.0 - confidence) }
    }

    /// As if only every `design_effect`-th request had been independent of the others (docs/measurement.md §2.5: both counts divided).
    /// Hits are never rounded away, and never invented.
    #[must_use]
    pub fn thinned(self, design_effect: f64) -> Self {
        let design_effect = design_effect.max(1.0);
        let of = ((self.of as f64 / design_effect).round() as u64).max(u64::from(self.of > 0));
        let hits = (self.hits as f64 / design_effect).round() as u64;
        Self { hits: hits.clamp(u64::from(self.hits > 0), of.max(1)).min(of), of }
    }
}

/// The interval of the difference `b` − `a` of two independent shares: Newcombe's hybrid of Wilson's intervals (1998,
/// method 10), which stays sound where either share is 0.
#[must_use]
pub fn difference(a: Share, b: Share, confidence: f64) -> Interval {
    let z = normal_quantile(0.5 + confidence / 2.0);
    let (wilson_a, wilson_b) = (wilson(a, z), wilson(b, z));
    let (p_a, p_b) = (a.value(), b.value());
    let between = p_b - p_a;
    Interval {
        low: between - (p_b - wilson_b.low).hypot(wilson_a.high - p_a),
        high: between + (wilson_b.high - p_b).hypot(p_a - wilson_a.low),
    }
}

fn wilson(share: Share, z: f64) -> Interval {
    if share.of == 0 {
        return Interval { low: 0.0, high: 1.0 };
    }
    let (n, p) = (share.of as f64, share.value());
    let middle = (p + z * z / (2.0 * n)) / (1.0 + z * z / n);
    let half = z / (1.0 + z * z / n) * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
    Interval { low: (middle - half).clamp(0.0, p), high: (middle + half).clamp(p, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Random;
    use proptest::prelude::*;

    fn near(got: f64, wanted: f64) {
        assert!((got - wanted).abs() < 5e-5, "{got} against {wanted}");
    }

    #[test]
    fn exact_intervals_are_those_of_the_tables() {
        // Clopper and Pearson's own chart, and Newcombe (1998) table I.
        let of = |hits, of| Share { hits, of }.interval(0.95);
        near(of(81, 263).low, 0.2527);
        near(of(81, 263).high, 0.3676);
        near(of(15, 148).low, 0.0578);
        near(of(15, 148).high, 0.1617);
        near(of(0, 20).high, 0.1684);
        near(of(1, 29).low, 0.0009);
        near(of(1, 29).high, 0.1776);
        assert_eq!((of(0, 20).low, of(20, 20).high, of(0, 0)), (0.0, 1.0, Interval { low: 0.0, high: 1.0 }));
    }

    #[test]
    fn no_failure_in_a_thousand_is_at_most_three_in_a_thousand() {
        near(Share { hits: 0, of: 1_000 }.at_most(0.95), 0.003);
    }

    #[test]
    fn the_difference_of_two_shares_is_newcombes() {
        // Newcombe (1998), Statistics in Medicine 17, 873–890, table II, method 10: (a) 56/70 − 48/80, (d) 9/10 − 3/10,
        // (g) 10/10 − 0/10.
        let check = |a: (u64, u64), b: (u64, u64), low, high| {
            let got = difference(Share { hits: b.0, of: b.1 }, Share { hits: a.0, of: a.1 }, 0.95);
            near(got.low, low);
            near(got.high, high);
        };
        check((56, 70), (48, 80), 0.0524, 0.3339);
        check((9, 10), (3, 10), 0.1705, 0.8090);
        check((10, 10), (0, 10), 0.6075, 1.0);
    }

    #[test]
    fn bursts_of_failures_count_as_fewer_events() {
        assert_eq!(Share { hits: 100, of: 10_000 }.thinned(10.0), Share { hits: 10, of: 1_000 });
        assert_eq!(Share { hits: 1, of: 100 }.thinned(50.0), Share { hits: 1, of: 2 });
        assert_eq!(Share { hits: 0, of: 100 }.thinned(0.5), Share { hits: 0, of: 100 });
        assert_eq!(Share { hits: 0, of: 0 }.thinned(3.0), Share { hits: 0, of: 0 });
    }

    #[test]
    fn the_interval_covers_at_least_as_often_as_it_says() {
        let mut random = Random::new(11, 0);
        let covered = (0..2_000)
            .filter(|_| {
                let hits = (0..300).filter(|_| random.unit() < 0.02).count() as u64;
                Share { hits, of: 300 }.interval(0.95).contains(0.02)
            })
            .count();
        // It is conservative: 95 % less four standard errors of 2,000 trials would be 93 %.
        assert!(covered >= 1_880, "{covered}");
    }

    proptest! {
        #[test]
        fn the_share_lies_in_its_interval(of in 1u64..2_000, part in 0.0..=1.0f64) {
            let hits = (part * of as f64) as u64;
            let share = Share { hits, of };
            let interval = share.interval(0.95);
            prop_assert!(0.0 <= interval.low && interval.low <= share.value() && share.value() <= interval.high && interval.high <= 1.0);
            prop_assert!(share.at_most(0.95) <= interval.high && share.at_least(0.95) >= interval.low);
        }

        #[test]
        fn swapping_the_sides_turns_the_difference_around(a in 0u64..50, b in 0u64..50) {
            let (a, b) = (Share { hits: a, of: 50 }, Share { hits: b, of: 50 });
            let (there, back) = (difference(a, b, 0.95), difference(b, a, 0.95));
            prop_assert!((there.low + back.high).abs() < 1e-12 && (there.high + back.low).abs() < 1e-12);
        }
    }
}
