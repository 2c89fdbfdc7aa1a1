//! A share that does not matter: of a comparison, and of a run against a saved one.

use std::fmt;
use std::str::FromStr;

/// A share that does not matter: `3%`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Margin(f64);

impl FromStr for Margin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let share = text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
        share
            .filter(|share| *share >= 0.0 && *share < 100.0)
            .map(|share| Self(share / 100.0))
            .ok_or_else(|| "is not a share from 0% to below 100%".to_owned())
    }
}

impl Margin {
    /// From 0 to below 1.
    #[must_use]
    pub const fn share(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Margin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", self.0 * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_is_a_share() {
        assert_eq!(
            ["3%", "2.5 %", "0%", "3", "100%", "-1%"].map(|text| text.parse().ok()),
            [Some(Margin(0.03)), Some(Margin(0.025)), Some(Margin(0.0)), None, None, None]
        );
    }
}
