//! Choices by weight, and pauses.

use std::str::FromStr;

use plan::Nanos;

/// Weights of several things, of which one is chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {}

impl Weights {
    /// Numbers from 0 on, not all 0; they need not add up to anything.
    ///
    /// # Errors
    /// What is wrong with them, in words.
    pub fn new(_weights: &[f64]) -> Result<Self, String> {
        unimplemented!()
    }

    /// The index chosen by a number uniform in [0, 1), as [`plan::Random::unit`] draws it. One of weight 0 is never chosen.
    #[must_use]
    pub fn choose(&self, _unit: f64) -> usize {
        unimplemented!()
    }
}

/// How long a user thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Think {
    /// Always the same.
    Fixed(Nanos),
    /// As likely one as another, from the first to the second.
    Uniform(Nanos, Nanos),
    /// Exponential with this mean, cut off at ten times it.
    Exponential(Nanos),
}

impl Think {
    /// The span drawn by a number uniform in [0, 1).
    #[must_use]
    pub fn span(self, _unit: f64) -> Nanos {
        unimplemented!()
    }

    /// The mean of what is drawn.
    #[must_use]
    pub fn mean(self) -> Nanos {
        unimplemented!()
    }
}

/// Reads `1s`, `1s..3s`, `exponential 2s`.
impl FromStr for Think {
    type Err = String;

    fn from_str(_text: &str) -> Result<Self, String> {
        unimplemented!()
    }
}
