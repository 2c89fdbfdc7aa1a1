//! A portion of the requests (or connections), exact over any number of them.
//!
//! A drawn tenth of 1000 requests is 100 only on average, and a test that counts cannot say "about". The default is
//! therefore a rotation: after `n` requests exactly `floor(n × portion)` were chosen, evenly spread. Drawing is offered
//! beside it, because evenly spread faults hide what bursts of faults do. The portion is kept in millionths: with
//! binary fractions 0.29 of 100 would be 28.

use std::str::FromStr;

use crate::distribution::unit;

/// A portion between none and all, in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Portion {
    millionths: u32,
}

/// How the members of a [`Portion`] are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// Evenly spread: after `n` exactly `floor(n × portion)` were chosen.
    #[default]
    Rotated,
    /// Drawn independently from the seed: the same ones in every run, as many as asked only on average.
    Drawn,
}

impl Portion {
    /// All.
    pub const ALL: Portion = Portion { millionths: MILLION };
    /// None.
    pub const NONE: Portion = Portion { millionths: 0 };

    /// The portion for a fraction from 0 to 1, rounded to millionths; `None` for anything else.
    pub fn of(fraction: f64) -> Option<Portion> {
        (0.0..=1.0).contains(&fraction).then(|| Portion { millionths: (fraction * f64::from(MILLION)).round() as u32 })
    }

    /// The portion as a fraction from 0 to 1.
    pub fn fraction(self) -> f64 {
        f64::from(self.millionths) / f64::from(MILLION)
    }

    /// Whether the `n`-th (from 0) is chosen by rotation.
    pub fn falls_on(self, n: u64) -> bool {
        let chosen_before = |n: u64| u128::from(n) * u128::from(self.millionths) / u128::from(MILLION);
        chosen_before(n.saturating_add(1)) > chosen_before(n)
    }

    /// Whether the `n`-th (from 0) is chosen, by the given way of choosing.
    pub fn chooses(self, choice: Choice, seed: u64, n: u64) -> bool {
        match choice {
            Choice::Rotated => self.falls_on(n),
            Choice::Drawn => unit(seed, n) < self.fraction(),
        }
    }
}

const MILLION: u32 = 1_000_000;

impl FromStr for Portion {
    type Err = String;

    /// `0.1` or `10%`.
    fn from_str(text: &str) -> Result<Portion, String> {
        let fraction = match text.strip_suffix('%') {
            Some(percent) => percent.parse::<f64>().map(|percent| percent / 100.0),
            None => text.parse::<f64>(),
        };
        fraction.ok().and_then(Portion::of).ok_or_else(|| format!("{text:?} is not a share: write 0.1 or 10%"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotation_chooses_exactly_its_portion_of_every_number() {
        for fraction in [0.0, 0.001, 0.1, 0.29, 1.0 / 3.0, 0.7, 1.0] {
            let portion = Portion::of(fraction).unwrap();
            let mut chosen = 0;
            for n in 0..5_000_u64 {
                chosen += u64::from(portion.falls_on(n));
                let exact = u128::from(n + 1) * u128::from(portion.millionths) / 1_000_000;
                assert_eq!(u128::from(chosen), exact, "{fraction} after {}", n + 1);
            }
        }
    }

    #[test]
    fn a_drawn_portion_is_the_same_in_every_run_and_near_its_size() {
        let portion = Portion::of(0.2).unwrap();
        let chosen = |seed| (0..100_000).filter(|n| portion.chooses(Choice::Drawn, seed, *n)).collect::<Vec<_>>();
        assert_eq!(chosen(1), chosen(1));
        assert_ne!(chosen(1), chosen(2));
        assert!((19_000..21_000).contains(&chosen(1).len()), "{}", chosen(1).len());
    }

    #[test]
    fn a_portion_is_written_as_a_fraction_or_in_percent() {
        assert_eq!("0.1".parse(), Ok(Portion::of(0.1).unwrap()));
        assert_eq!("10%".parse(), Ok(Portion::of(0.1).unwrap()));
        for wrong in ["", "1.1", "-0.1", "110%", "ten", "NaN"] {
            assert!(wrong.parse::<Portion>().is_err(), "{wrong}");
        }
    }
}
