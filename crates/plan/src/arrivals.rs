//! The due times of a Share: computed, not ticked, and reproducible from the seed.
//!
//! An open load must be the same whether one worker sends it or sixteen. So every worker walks through the one
//! sequence of arrivals of the whole run and keeps those that are its own (the k-th belongs to share k mod count).
//! Walking past the others costs some nanoseconds each; the alternative, an independent stream per share, would give
//! another run for every number of threads.
//!
//! Even arrivals stand at Λ⁻¹(k); Poisson arrivals at Λ⁻¹(E₁ + … + E_k) with E exponential of mean 1, which is the
//! exact inhomogeneous Poisson process of the timetable. An hour-long ramp is tested in a millisecond.

use crate::{Nanos, Random, Share, Spacing, Timetable};

/// The due times of one share, ascending, from the start of the run. Ends with the timetable or the count.
#[derive(Debug, Clone)]
pub struct Arrivals {
    timetable: Timetable,
    spacing: Spacing,
    share: Share,
    random: Random,
    /// The arrivals of the whole run so far, and the place on the Λ axis of the next.
    count: u64,
    count_max: u64,
    reached: f64,
}

/// Which stream of the seed the gaps are drawn from.
const GAPS: u64 = 1;

impl Arrivals {
    /// The arrivals of `share`, at most `count_max` over all shares together.
    #[must_use]
    pub fn new(timetable: Timetable, spacing: Spacing, seed: u64, count_max: Option<u64>, share: Share) -> Self {
        let mut random = Random::new(seed, GAPS);
        let reached = match spacing {
            Spacing::Even => 0.0,
            Spacing::Poisson => random.exponential(),
        };
        Self { timetable, spacing, share, random, count: 0, count_max: count_max.unwrap_or(u64::MAX), reached }
    }
}

impl Iterator for Arrivals {
    type Item = Nanos;

    fn next(&mut self) -> Option<Nanos> {
        while self.count < self.count_max {
            let own = self.share.owns(self.count);
            // Only the own arrivals need the inverse; the others only move the place on the Λ axis.
            let due = if own { Some(self.timetable.reached_at(self.reached)?) } else { None };
            self.count += 1;
            match self.spacing {
                Spacing::Even => self.reached = self.count as f64,
                Spacing::Poisson => self.reached += self.random.exponential(),
            }
            if due.is_some() {
                return due;
            }
            // A share that owns none of the rest must still find the end of the timetable.
            self.timetable.reached_at(self.reached)?;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::num::NonZeroU32;

    fn arrivals(text: &str, spacing: Spacing, share: Share) -> Arrivals {
        Arrivals::new(text.parse().unwrap(), spacing, 42, None, share)
    }

    #[test]
    fn even_arrivals_stand_where_arithmetic_puts_them() {
        let due: Vec<_> = arrivals("4/s for 1s", Spacing::Even, Share::WHOLE).collect();
        assert_eq!(due, [0, 250, 500, 750].map(Nanos::from_millis));
    }

    #[test]
    fn an_hour_long_ramp_holds_what_it_promises() {
        let count = arrivals("0/s to 1000/s for 1h", Spacing::Even, Share::WHOLE).count();
        assert_eq!(count, 1_800_000);
    }

    #[test]
    fn a_count_ends_the_arrivals_over_all_shares_together() {
        let of = NonZeroU32::new(3).unwrap();
        let total: usize =
            Share::all(of).map(|share| Arrivals::new("100/s for 1h".parse().unwrap(), Spacing::Poisson, 7, Some(100), share).count()).sum();
        assert_eq!(total, 100);
    }

    #[test]
    fn poisson_counts_scatter_as_poisson_counts_do() {
        // Index of dispersion of counts in 1 s windows: variance / mean = 1 ± 3·√(2/(m − 1)) for m windows.
        let mut windows = vec![0f64; 1000];
        for due in arrivals("50/s for 1000s", Spacing::Poisson, Share::WHOLE) {
            windows[(due.0 / 1_000_000_000) as usize] += 1.0;
        }
        let mean = windows.iter().sum::<f64>() / 1000.0;
        let variance = windows.iter().map(|n| (n - mean).powi(2)).sum::<f64>() / 999.0;
        assert!((variance / mean - 1.0).abs() < 0.135, "{}", variance / mean);
        assert!((mean - 50.0).abs() < 1.0, "{mean}");
    }

    proptest! {
        #[test]
        fn all_shares_together_are_the_whole(of in 1u32..9, seed: u64, rate in 1u32..200, even: bool) {
            let spacing = if even { Spacing::Even } else { Spacing::Poisson };
            let table: Timetable = format!("{rate}/s for 2s, {rate}/s to 0/s for 2s").parse().unwrap();
            let whole: Vec<_> = Arrivals::new(table.clone(), spacing, seed, None, Share::WHOLE).collect();
            let mut parts: Vec<_> = Share::all(NonZeroU32::new(of).unwrap())
                .flat_map(|share| Arrivals::new(table.clone(), spacing, seed, None, share)).collect();
            parts.sort_unstable();
            prop_assert!(whole.is_sorted());
            prop_assert_eq!(whole, parts);
        }
    }
}
