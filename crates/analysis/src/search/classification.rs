//! Whether one load is a lower or an upper bound of the capacity: the rule of RFC 9971.
//!
//! One trial proves little: a server that keeps its promise nine times in ten will break it once. The RFC therefore
//! weighs the time spent above and below the allowed loss, and asks what the time *not yet measured* could still change:
//! if even a lossy future would leave the load below the exceed ratio it is a lower bound, if even a clean one would not
//! it is an upper bound, and otherwise more trials are needed. Counting passed trials, the alternative, would let many
//! short lucky ones outvote a long one.
//!
//! Invariant: more time of low loss never turns a lower bound into an upper one, and the reverse.

use serde::{Deserialize, Serialize};

/// Seconds measured at one load, by the length of the trials and by whether the promise was kept.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Evidence {
    /// Seconds of full-length trials that kept the promise.
    pub full_low: f64,
    /// Seconds of full-length trials that broke it.
    pub full_high: f64,
    /// Seconds of shorter trials that kept it.
    pub short_low: f64,
    /// Seconds of shorter trials that broke it.
    pub short_high: f64,
}

/// What a load is known to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The server carries it.
    Lower,
    /// The server does not.
    Upper,
    /// The time still missing could make it either.
    Undecided,
}

/// What `evidence` says of its load when `duration_sum` seconds are asked for, and the promise may be broken in the share
/// `exceed_ratio` (from 0 to below 1) of them. The formulas are those of RFC 9971, section "Load Classification".
#[must_use]
pub(crate) fn classify(evidence: Evidence, duration_sum: f64, exceed_ratio: f64) -> Class {
    // Short trials that kept the promise excuse only short trials that broke it.
    let balancing = evidence.short_low * exceed_ratio / (1.0 - exceed_ratio);
    let high = evidence.full_high + (evidence.short_high - balancing).max(0.0);
    let whole = (evidence.full_low + high).max(duration_sum);
    let allowed = whole * exceed_ratio;
    // All unseen time lossy; all unseen time clean.
    let holds_at_worst = whole - evidence.full_low <= allowed;
    let holds_at_best = high <= allowed;
    match (holds_at_worst, holds_at_best) {
        (true, true) => Class::Lower,
        (false, false) => Class::Upper,
        _ => Class::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition itself, in whole seconds: every way in which the missing seconds could turn out.
    fn by_every_future(low: u32, high: u32, sum: u32, exceed: (u32, u32)) -> Class {
        let missing = sum.saturating_sub(low + high);
        let carries = |lossy: u32| (high + lossy) * exceed.1 <= (low + high + missing) * exceed.0;
        let futures: Vec<bool> = (0..=missing).map(carries).collect();
        match (futures.iter().all(|&it| it), futures.iter().any(|&it| it)) {
            (true, _) => Class::Lower,
            (false, false) => Class::Upper,
            (false, true) => Class::Undecided,
        }
    }

    proptest! {
        #[test]
        fn a_class_is_what_no_future_can_change(low in 0u32..200, high in 0u32..200, sum in 1u32..200, exceed in prop::sample::select(vec![(0, 1), (1, 4), (1, 2), (3, 4)])) {
            let evidence = Evidence { full_low: low.into(), full_high: high.into(), ..Evidence::default() };
            let ratio = f64::from(exceed.0) / f64::from(exceed.1);
            prop_assert_eq!(classify(evidence, sum.into(), ratio), by_every_future(low, high, sum, exceed));
        }

        #[test]
        fn short_losses_weigh_as_full_ones_once_short_gains_are_used_up(short_low in 0u32..50, excess in 0u32..100, low in 0u32..100, sum in 1u32..200) {
            // At one half, a second of gain excuses a second of loss.
            let evidence = Evidence { full_low: low.into(), full_high: 0.0, short_low: short_low.into(), short_high: (short_low + excess).into() };
            prop_assert_eq!(classify(evidence, sum.into(), 0.5), by_every_future(low, excess, sum, (1, 2)));
        }
    }

    #[test]
    fn short_trials_alone_never_prove_that_a_load_is_carried() {
        let evidence = Evidence { short_low: 1e6, ..Evidence::default() };
        assert_eq!(classify(evidence, 20.0, 0.5), Class::Undecided);
    }

    #[test]
    fn without_tolerance_one_broken_trial_is_enough() {
        let evidence = Evidence { full_low: 1e6, short_high: 1.0, ..Evidence::default() };
        assert_eq!(classify(evidence, 20.0, 0.0), Class::Upper);
        assert_eq!(classify(evidence, 20.0, 0.5), Class::Lower);
    }
}
