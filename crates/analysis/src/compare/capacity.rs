//! Whether two searches found different capacities.
//!
//! A search gives an interval, and two intervals that overlap may hold the same truth. So the change is an interval too: from the least
//! that B may carry over the most that A may, to the most over the least. That is wider than a test of the difference would make
//! it, and needs nothing but what both files hold.

use serde::Serialize;

use super::{Margins, Metric};
use crate::search::Capacity;

/// How the capacity changed from A to B, as shares of A's: 0.05 is 5 % more.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CapacityChange {
    /// At least.
    pub low: f64,
    /// At most; `None` where no rate failed in B, or none was proven in A.
    pub high: Option<f64>,
    /// What follows.
    pub verdict: CapacityVerdict,
    /// The change that does not matter.
    pub margin: f64,
}

/// What follows from two intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CapacityVerdict {
    /// B surely carries less, by more than the margin.
    Worse,
    /// B surely carries more, by more than the margin.
    Better,
    /// Surely no more than the margin either way.
    Same,
    /// None of these.
    CannotTell,
}

/// The change from A to B, with the margin of a rate.
#[must_use]
pub fn capacity_change(a: Capacity, b: Capacity) -> CapacityChange {
    let margin = Margins::default().of(Metric::Goodput);
    let low = a.high.filter(|high| *high > 0.0).map_or(-1.0, |high| b.low / high - 1.0);
    let high = b.high.filter(|_| a.low > 0.0).map(|high| high / a.low - 1.0);
    // The same factor either way.
    let less = 1.0 / (1.0 + margin) - 1.0;
    let verdict = match high {
        Some(high) if high < less => CapacityVerdict::Worse,
        Some(high) if low >= less && high <= margin => CapacityVerdict::Same,
        _ if low > margin => CapacityVerdict::Better,
        _ => CapacityVerdict::CannotTell,
    };
    CapacityChange { low, high, verdict, margin }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn between(low: f64, high: f64) -> Capacity {
        Capacity { low, high: Some(high) }
    }

    #[test]
    fn only_intervals_that_lie_apart_tell_a_change() {
        for (a, b, verdict) in [
            (between(800.0, 820.0), between(700.0, 720.0), CapacityVerdict::Worse),
            (between(700.0, 720.0), between(800.0, 820.0), CapacityVerdict::Better),
            (between(800.0, 820.0), between(790.0, 830.0), CapacityVerdict::CannotTell),
            (between(800.0, 804.0), between(801.0, 805.0), CapacityVerdict::Same),
            (Capacity { low: 800.0, high: None }, between(700.0, 720.0), CapacityVerdict::Worse),
            (between(700.0, 720.0), Capacity { low: 800.0, high: None }, CapacityVerdict::Better),
            (Capacity { low: 800.0, high: None }, Capacity { low: 900.0, high: None }, CapacityVerdict::CannotTell),
            (between(0.0, 10.0), between(0.0, 20.0), CapacityVerdict::CannotTell),
        ] {
            assert_eq!(capacity_change(a, b).verdict, verdict, "{a:?} {b:?}");
        }
    }

    proptest! {
        #[test]
        fn a_verdict_turns_round_with_its_sides(lows in prop::array::uniform2(1.0..1e6f64), widths in prop::array::uniform2(1.0..1.3f64)) {
            let [a, b] = [0, 1].map(|side| between(lows[side], lows[side] * widths[side]));
            let turned = match capacity_change(b, a).verdict {
                CapacityVerdict::Worse => CapacityVerdict::Better,
                CapacityVerdict::Better => CapacityVerdict::Worse,
                other => other,
            };
            // At the margin itself rounding may decide.
            let change = capacity_change(a, b);
            let near = |value: f64| [change.margin, 1.0 / (1.0 + change.margin) - 1.0].iter().any(|edge| (value - edge).abs() < 1e-9);
            prop_assume!(!near(change.low) && !change.high.is_some_and(near));
            prop_assert_eq!(change.verdict, turned);
        }
    }
}
