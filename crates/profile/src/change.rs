//! What grew from one profile to another.
//!
//! Two profiles under different loads, or of different lengths, have different totals, and their values beside each other say only
//! that. So shares are compared: of all that was spent, how much went to this function then, and how much now. A function that is not
//! among those kept had less than half a per cent, and counts as none.

use std::collections::BTreeMap;

use measure::RunProfile;
use thiserror::Error;

use crate::top::Order;

/// A function whose share is another than before.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Its name.
    pub name: String,
    /// Its share of all by itself, from 0 to 1, before and after.
    pub flat: [f64; 2],
    /// The same with all that it called.
    pub cum: [f64; 2],
}

/// Why two profiles cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("one is of {0}, the other of {1}")]
pub struct Unlike(String, String);

/// Functions whose share grew or shrank by at least this are told.
const WORTH_SAYING: f64 = 0.005;

/// What grew, most first, and after that what shrank, most last.
///
/// # Errors
/// If they are not of the same.
pub fn changes(before: &RunProfile, after: &RunProfile, order: Order) -> Result<Vec<Change>, Unlike> {
    if (&before.kind, before.unit) != (&after.kind, after.unit) {
        return Err(Unlike(before.kind.clone(), after.kind.clone()));
    }
    let mut all: BTreeMap<&str, Change> = BTreeMap::new();
    for (side, profiled) in [before, after].into_iter().enumerate() {
        for function in &profiled.functions {
            let empty = || Change { name: function.name.clone(), flat: [0.0; 2], cum: [0.0; 2] };
            let change = all.entry(&function.name).or_insert_with(empty);
            change.flat[side] = profiled.share(function.flat);
            change.cum[side] = profiled.share(function.cum);
        }
    }
    let mut all: Vec<Change> = all.into_values().filter(|change| change.grown(order).abs() >= WORTH_SAYING).collect();
    all.sort_by(|a, b| b.grown(order).total_cmp(&a.grown(order)).then_with(|| a.name.cmp(&b.name)));
    Ok(all)
}

impl Change {
    /// By how much its share grew, from -1 to 1.
    #[must_use]
    pub fn grown(&self, order: Order) -> f64 {
        let [before, after] = match order {
            Order::Flat => self.flat,
            Order::Cum => self.cum,
        };
        after - before
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kept;
    use crate::profile::tests::folded;

    #[test]
    fn shares_are_compared_and_not_values() {
        let before = kept(&folded("main;serve 60\nmain;gc 40"));
        let after = kept(&folded("main;serve 600\nmain;gc 400\nmain;serve;lock 1000"));
        let told: Vec<(String, i64)> = changes(&before, &after, Order::Flat)
            .unwrap()
            .iter()
            .map(|it| (it.name.clone(), (it.grown(Order::Flat) * 100.0).round() as i64))
            .collect();
        assert_eq!(told, [("lock".to_owned(), 50), ("gc".to_owned(), -20), ("serve".to_owned(), -30)]);
        let by_cum = changes(&before, &after, Order::Cum).unwrap();
        assert_eq!(by_cum.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["lock", "serve", "gc"]);
        assert!(changes(&before, &before, Order::Cum).unwrap().is_empty());
    }

    #[test]
    fn memory_is_not_compared_with_time() {
        let mut other = kept(&folded("main 1"));
        other.kind = "inuse_space".to_owned();
        assert_eq!(
            changes(&kept(&folded("main 1")), &other, Order::Flat).unwrap_err().to_string(),
            "one is of cpu, the other of inuse_space"
        );
    }
}
