//! How many answers a second one worker got, looked at ten times a second: how steady a thread was.
//!
//! The timeline holds whole intervals of all workers together; who asks whether one thread starved while another raced needs
//! finer and separate figures. Keeping every look would grow with the time a run takes, so looks are counted by their rate, and
//! rates beyond four digits are rounded to four: some ten thousand entries at most, exact to 0.05 %.
//!
//! Invariant: adding is exact in any order.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Counts of looks by the rate that was seen: answers a second of one worker.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rates(BTreeMap<u64, u64>);

impl Rates {
    /// Adds one look.
    pub fn record(&mut self, per_second: u64) {
        *self.0.entry(rounded(per_second)).or_default() += 1;
    }

    /// Adds another's looks.
    pub fn add(&mut self, other: &Self) {
        for (rate, count) in &other.0 {
            *self.0.entry(*rate).or_default() += count;
        }
    }

    /// Whether nobody looked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Every rate that was seen, ascending, and how often.
    pub fn recorded(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().map(|(rate, count)| (*rate, *count))
    }
}

/// To four digits.
fn rounded(rate: u64) -> u64 {
    let mut unit = 1;
    while rate / unit >= 10_000 {
        unit *= 10;
    }
    (rate + unit / 2) / unit * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_keep_four_digits() {
        let mut rates = Rates::default();
        for rate in [0, 7, 9_999, 10_004, 10_006, 123_456] {
            rates.record(rate);
        }
        let seen: Vec<u64> = rates.recorded().map(|(rate, _)| rate).collect();
        assert_eq!(seen, [0, 7, 9_999, 10_000, 10_010, 123_500]);
    }

    #[test]
    fn adding_is_exact_and_a_written_one_reads_back() {
        let (mut a, mut b) = (Rates::default(), Rates::default());
        a.record(10);
        b.record(10);
        b.record(20);
        let mut both = a.clone();
        both.add(&b);
        b.add(&a);
        assert_eq!(both, b);
        assert_eq!(both.recorded().collect::<Vec<_>>(), [(10, 2), (20, 1)]);
        assert_eq!(serde_json::from_str::<Rates>(&serde_json::to_string(&both).unwrap()).unwrap(), both);
    }
}
