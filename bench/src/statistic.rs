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
}
