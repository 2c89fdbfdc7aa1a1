//! The asymptotic bound: throughput grows with users until something is full, and then not at all.
//!
//! X(N) = min(N/(R₀ + Z), C): every user costs a round of R₀ + Z (one answer of the idle server and the pause), and C is
//! what the full resource carries; they meet at the knee N₀ = C·(R₀ + Z) (Denning and Buzen, 1978). A pool of workers and
//! a rate limiter follow it exactly, and a scalability law, which bends gently, fits them worst where it matters: at the
//! knee. So it is always tried beside the law.
//!
//! The fit is robust on log residuals, like the law's: for every split of the levels the two branches are locations, one of
//! log X − log N and one of log X, and the split with the least loss of the whole bound wins. Gradient methods stick at
//! the kink.

use serde::{Deserialize, Serialize};

use crate::usl::{Observation, huber_delta, huber_loss};

/// The bound with its two parameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Asymptote {
    /// R₀ + Z: seconds a user takes for one request and its pause while nothing is full.
    pub round_s: f64,
    /// C: requests a second once it is.
    pub capacity: f64,
}

impl Asymptote {
    /// Its parameters.
    pub(crate) const PARAMETERS: usize = 2;

    /// Requests a second at concurrency `n`.
    #[must_use]
    pub fn throughput(&self, n: f64) -> f64 {
        (n / self.round_s).min(self.capacity)
    }

    /// N₀ = C·(R₀ + Z): the concurrency from which more users only wait. Without a pause, the size of the worker pool.
    #[must_use]
    pub fn knee(&self) -> f64 {
        self.capacity * self.round_s
    }
}

/// Fits the bound; `None` with fewer than two levels. Data must ascend by level.
pub(crate) fn fit(data: &[Observation]) -> Option<Asymptote> {
    let first = data.first()?.level;
    if data.last()?.level <= first {
        return None;
    }
    let slopes: Vec<f64> = data.iter().map(|it| it.log - it.level.ln()).collect();
    let logs: Vec<f64> = data.iter().map(|it| it.log).collect();
    let mut best: Option<(f64, Asymptote)> = None;
    for split in 1..data.len() {
        if data[split].level <= data[split - 1].level {
            continue;
        }
        let bound = Asymptote { round_s: (-location(&slopes[..split])).exp(), capacity: location(&logs[split..]).exp() };
        let loss = loss(data, &bound);
        if best.is_none_or(|(least, _)| loss < least) {
            best = Some((loss, bound));
        }
    }
    best.map(|it| it.1)
}

/// A scale-free loss, so that splits compare: the sum of Huber's loss at a δ of a tenth, an error of ten per cent.
fn loss(data: &[Observation], bound: &Asymptote) -> f64 {
    let (slope, ceiling) = (-bound.round_s.ln(), bound.capacity.ln());
    data.iter().map(|it| huber_loss(it.log - (it.level.ln() + slope).min(ceiling), 0.1)).sum()
}

/// Huber's estimate of location: from the median, by reweighted means.
fn location(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut at = sorted[sorted.len() / 2];
    let residuals: Vec<f64> = values.iter().map(|it| it - at).collect();
    let delta = huber_delta(&residuals);
    for _ in 0..4 {
        let (mut sum, mut weights) = (0.0, 0.0);
        for value in values {
            let weight = (delta / (value - at).abs()).min(1.0);
            sum += weight * value;
            weights += weight;
        }
        at = sum / weights;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn exact(bound: Asymptote, levels: &[f64]) -> Vec<Observation> {
        levels.iter().map(|&level| Observation { level, log: bound.throughput(level).ln() }).collect()
    }

    proptest! {
        #[test]
        fn data_without_noise_give_their_knee_back(knee in 2.0f64..60.0, round_ms in 1.0f64..1000.0) {
            let bound = Asymptote { round_s: round_ms / 1e3, capacity: knee / round_ms * 1e3 };
            let found = fit(&exact(bound, &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0])).unwrap();
            prop_assert!((found.knee() - knee).abs() < 1e-6 * knee, "{found:?}");
        }
    }

    #[test]
    fn a_line_that_never_bends_has_its_knee_at_the_last_level_or_beyond() {
        let found = fit(&exact(Asymptote { round_s: 0.01, capacity: 1e9 }, &[1.0, 2.0, 4.0, 8.0])).unwrap();
        assert!(found.knee() >= 8.0 * 0.999, "{found:?}");
    }

    #[test]
    fn one_level_has_no_knee() {
        assert_eq!(fit(&exact(Asymptote { round_s: 0.01, capacity: 100.0 }, &[4.0, 4.0])), None);
    }
}
