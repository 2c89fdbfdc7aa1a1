//! The one source of chance: seeded, and the same on every machine.
//!
//! A run must be repeatable from its seed, so the generator is part of the contract: xoshiro256++ (Blackman and Vigna,
//! 2018), seeded by SplitMix64. Streams drawn for different purposes from one seed do not overlap in practice.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A reproducible stream of chance.
#[derive(Debug, Clone)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The stream number `stream` of `seed`.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        // An odd multiplier spreads neighbouring streams over the seed space (Weyl increment of SplitMix64).
        Self(Xoshiro256PlusPlus::seed_from_u64(seed ^ stream.wrapping_mul(0x9E37_79B9_7F4A_7C15)))
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        // The 53 high bits: every multiple of 2^-53 equally likely.
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// 64 bits, each as likely 0 as 1.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Exponential with mean 1: −ln(1 − U).
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// Uniform in `low..=high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        if high <= low {
            return low;
        }
        low + (self.unit() * (high - low + 1) as f64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_gives_one_stream_and_another_seed_another() {
        let draw = |seed, stream| {
            let mut random = Random::new(seed, stream);
            std::array::from_fn::<f64, 8, _>(|_| random.unit())
        };
        assert_eq!(draw(7, 0), draw(7, 0));
        assert_ne!(draw(7, 0), draw(8, 0));
        assert_ne!(draw(7, 0), draw(7, 1));
    }

    #[test]
    fn exponential_gaps_have_mean_one() {
        let mut random = Random::new(1, 0);
        let mean = (0..100_000).map(|_| random.exponential()).sum::<f64>() / 100_000.0;
        // The standard error is 1/√100,000 = 0.0032; five of them.
        assert!((mean - 1.0).abs() < 0.016, "{mean}");
    }
}
