//! What several rounds say together.

/// Median and extremes of one figure over the rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Half of the rounds lay below.
    pub median: f64,
    /// The lowest round.
    pub min: f64,
    /// The highest round.
    pub max: f64,
}

impl Spread {
    /// Of these rounds.
    ///
    /// # Panics
    /// If there is no round: a figure nobody measured is a mistake of the suite.
    #[must_use]
    pub fn of(rounds: &[f64]) -> Self {
        let mut sorted = rounds.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (Some(min), Some(max)) = (sorted.first(), sorted.last()) else { panic!("a spread of no rounds") };
        let half = sorted.len() / 2;
        let median = if sorted.len() % 2 == 1 { sorted[half] } else { f64::midpoint(sorted[half - 1], sorted[half]) };
        Self { median, min: *min, max: *max }
    }

    /// Of the ratio `ours / theirs`, round by round: what both shared in a round cancels out.
    ///
    /// # Panics
    /// As [`Spread::of`].
    #[must_use]
    pub fn of_ratios(ours: &[f64], theirs: &[f64]) -> Self {
        let ratios: Vec<f64> = ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect();
        Self::of(&ratios)
    }

    /// As text with its extremes: `0.69 (0.67–0.71)`.
    #[must_use]
    pub fn text(&self, decimals: usize) -> String {
        format!("{:.decimals$} ({:.decimals$}–{:.decimals$})", self.median, self.min, self.max)
    }
}

/// A mean, and how well it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mean {
    /// Of all figures.
    pub mean: f64,
    /// So far from it lies what it would be without end, in 95 of 100 cases; nothing for a single figure.
    pub within: Option<f64>,
}

/// Student's t for 95 % and at least twenty figures: 2.09 for twenty, 1.96 for any number.
const STUDENTS_T: f64 = 2.09;

impl Mean {
    /// Of these figures; for less than twenty it is said to be known a little better than it is.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn of(figures: &[f64]) -> Self {
        assert!(!figures.is_empty(), "a mean of no figures");
        let count = figures.len() as f64;
        let mean = figures.iter().sum::<f64>() / count;
        let squares: f64 = figures.iter().map(|figure| (figure - mean).powi(2)).sum();
        Self { mean, within: (figures.len() > 1).then(|| STUDENTS_T * (squares / (count - 1.0) / count).sqrt()) }
    }

    /// Whether it is at most so much; nothing where that cannot be told.
    #[must_use]
    pub fn is_at_most(&self, bar: f64) -> Option<bool> {
        let within = self.within?;
        if self.mean + within <= bar { Some(true) } else { (self.mean - within > bar).then_some(false) }
    }

    /// As text: `1.002 ± 0.013`.
    #[must_use]
    pub fn text(&self, decimals: usize) -> String {
        let within = self.within.map_or_else(String::new, |within| format!(" ± {within:.decimals$}"));
        format!("{:.decimals$}{within}", self.mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_and_one_bad_round_does_not_move_it() {
        assert_eq!(Spread::of(&[3.0, 1.0, 100.0]), Spread { median: 3.0, min: 1.0, max: 100.0 });
        assert_eq!(Spread::of(&[4.0, 2.0]).median, 3.0);
    }

    #[test]
    fn a_round_in_which_everything_was_slow_does_not_change_the_ratio() {
        let ratios = Spread::of_ratios(&[3.5, 7.0, 3.5], &[5.0, 10.0, 5.0]);
        assert_eq!(ratios.text(2), "0.70 (0.70–0.70)");
    }

    #[test]
    fn a_mean_that_is_not_known_well_enough_cannot_be_judged() {
        let mean = Mean::of(&[0.98, 1.02, 1.00, 1.00]);
        assert_eq!(mean.text(2), "1.00 ± 0.02");
        assert_eq!((mean.is_at_most(1.1), mean.is_at_most(1.01), mean.is_at_most(0.9)), (Some(true), None, Some(false)));
        assert_eq!(Mean::of(&[1.0]).is_at_most(2.0), None, "a single figure says nothing of how far another lies");
    }

    #[test]
    fn a_mean_lies_as_near_to_the_truth_as_it_says() {
        // Sums of twelve even numbers are as good as normal; the generator is that of Numerical Recipes.
        let mut state = 1u32;
        let mut even = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state >> 8) / f64::from(1u32 << 24)
        };
        let mut normal = || (0..12).map(|_| even()).sum::<f64>() - 6.0;
        let near = (0..2_000).filter(|_| {
            let figures: Vec<f64> = (0..24).map(|_| normal()).collect();
            let Mean { mean, within } = Mean::of(&figures);
            mean.abs() <= within.unwrap()
        });
        let share = near.count() as f64 / 2_000.0;
        assert!((0.93..0.97).contains(&share), "{share}");
    }
}
