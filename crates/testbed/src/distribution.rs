//! Durations with a known distribution, reproducible from a seed.
//!
//! A shared random generator makes the draw of a request depend on which thread asked first. Here a draw is a pure
//! function of the seed and the request's number, so that the same run sees the same service times on any number of
//! threads. Every distribution is described by its mean, because the capacity of a pool is workers ÷ mean.

use std::f64::consts::TAU;
use std::str::FromStr;
use std::time::Duration;

use crate::portion::Portion;

/// A distribution of durations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Always the same.
    Fixed(Duration),
    /// Every duration between the two equally likely.
    Uniform {
        /// The shortest.
        from: Duration,
        /// The longest.
        to: Duration,
    },
    /// Memoryless, as in M/M/c queues.
    Exponential {
        /// The mean.
        mean: Duration,
    },
    /// Many short, few long: what most services look like.
    LogNormal {
        /// The mean (not the median, which is `mean × exp(−sigma²/2)`).
        mean: Duration,
        /// The standard deviation of the logarithm.
        sigma: f64,
    },
    /// Two values: a cache that mostly hits.
    TwoPoint {
        /// The usual one.
        usual: Duration,
        /// The rare one.
        rare: Duration,
        /// How often the rare one comes.
        share: Portion,
    },
}

impl Distribution {
    /// The mean.
    pub fn mean(&self) -> Duration {
        match *self {
            Distribution::Fixed(fixed) => fixed,
            Distribution::Uniform { from, to } => (from + to) / 2,
            Distribution::Exponential { mean } | Distribution::LogNormal { mean, .. } => mean,
            Distribution::TwoPoint { usual, rare, share } => usual.mul_f64(1.0 - share.fraction()) + rare.mul_f64(share.fraction()),
        }
    }

    /// The `n`-th duration of the sequence that belongs to `seed`.
    pub fn sample(&self, seed: u64, n: u64) -> Duration {
        match *self {
            Distribution::Fixed(fixed) => fixed,
            Distribution::Uniform { from, to } => from + to.saturating_sub(from).mul_f64(unit(seed, n)),
            // Inverse of F(t) = 1 − exp(−t/mean).
            Distribution::Exponential { mean } => mean.mul_f64(-unit(seed, n).ln()),
            Distribution::LogNormal { mean, sigma } => mean.mul_f64((sigma * standard_normal(seed, n) - sigma * sigma / 2.0).exp()),
            Distribution::TwoPoint { usual, rare, share } => {
                if unit(seed, n) < share.fraction() {
                    rare
                } else {
                    usual
                }
            }
        }
    }
}

impl FromStr for Distribution {
    type Err = String;

    /// `5ms`, `exp:5ms`, `uniform:1ms:9ms`, `lognormal:5ms:1.0` (mean, sigma), `two:1ms:100ms:0.1` (usual, rare, share
    /// of the rare one).
    fn from_str(text: &str) -> Result<Distribution, String> {
        let parts: Vec<&str> = text.split(':').collect();
        match parts[..] {
            [fixed] => Ok(Distribution::Fixed(duration(fixed)?)),
            ["exp", mean] => Ok(Distribution::Exponential { mean: duration(mean)? }),
            ["uniform", from, to] => {
                let (from, to) = (duration(from)?, duration(to)?);
                if from > to {
                    return Err(format!("{text:?} begins after its end: write the shorter duration first"));
                }
                Ok(Distribution::Uniform { from, to })
            }
            ["lognormal", mean, sigma] => {
                let sigma = sigma.parse::<f64>().ok().filter(|sigma| (0.0..=SIGMA_MAX).contains(sigma));
                let sigma = sigma.ok_or_else(|| format!("{text:?} needs a sigma from 0 to {SIGMA_MAX}"))?;
                Ok(Distribution::LogNormal { mean: duration(mean)?, sigma })
            }
            ["two", usual, rare, share] => {
                Ok(Distribution::TwoPoint { usual: duration(usual)?, rare: duration(rare)?, share: share.parse()? })
            }
            _ => Err(format!(
                "{text:?} is not a duration or distribution: write 5ms, exp:5ms, uniform:1ms:9ms, lognormal:5ms:1.0 or \
                 two:1ms:100ms:0.1"
            )),
        }
    }
}

/// At sigma 5 a lognormal sample is already off its mean by factors of thousands; beyond, the mean is never seen.
const SIGMA_MAX: f64 = 5.0;

/// A duration such as `200us`, `5ms`, `1.5s`, `2m`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is not a duration: write a number and ns, us, ms, s, m or h, such as 5ms");
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
    let (number, unit) = text.split_at(split);
    let unit_seconds = match unit {
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    // A year: longer durations overflow the arithmetic of due times long before they mean anything.
    let seconds = Some(number * unit_seconds).filter(|seconds| *seconds <= 31_536_000.0).ok_or_else(wrong)?;
    Ok(Duration::from_nanos((seconds * 1e9).round() as u64))
}

/// The `n`-th number of the sequence that belongs to `seed`: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), whose state
/// after `n` steps is a product, so that any member is reached at once.
pub(crate) fn draw(seed: u64, n: u64) -> u64 {
    let mut z = mix(seed).wrapping_add(n.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Neighbouring seeds must not give shifted copies of one sequence.
fn mix(seed: u64) -> u64 {
    let mut z = seed ^ (seed >> 33);
    z = z.wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    z ^= z >> 33;
    z.wrapping_mul(0xC4CE_B9FE_1A85_EC53)
}

/// The `n`-th number between 0 and 1, both excluded.
pub(crate) fn unit(seed: u64, n: u64) -> f64 {
    ((draw(seed, n) >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

/// Box and Muller, 1958.
fn standard_normal(seed: u64, n: u64) -> f64 {
    let radius = (-2.0 * unit(seed, n).ln()).sqrt();
    radius * (TAU * unit(!seed, n)).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn measured_mean(distribution: &Distribution) -> f64 {
        let count = 200_000;
        let total: f64 = (0..count).map(|n| distribution.sample(42, n).as_secs_f64()).sum();
        total / count as f64
    }

    #[test]
    fn every_distribution_has_the_mean_it_says() {
        let distributions = ["7ms", "exp:5ms", "uniform:1ms:9ms", "lognormal:5ms:0.5", "lognormal:5ms:1.0", "two:1ms:100ms:0.1"];
        for text in distributions {
            let distribution: Distribution = text.parse().unwrap();
            let ratio = measured_mean(&distribution) / distribution.mean().as_secs_f64();
            assert!((0.98..1.02).contains(&ratio), "{text}: measured ÷ stated mean = {ratio}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_durations_and_another_seed_others() {
        let distribution = Distribution::Exponential { mean: 5 * MS };
        let sequence = |seed| (0..100).map(|n| distribution.sample(seed, n)).collect::<Vec<_>>();
        assert_eq!(sequence(7), sequence(7));
        assert_ne!(sequence(7), sequence(8));
    }

    #[test]
    fn exponential_durations_have_a_median_of_ln_2_means() {
        let distribution = Distribution::Exponential { mean: 10 * MS };
        let below = (0..100_000).filter(|n| distribution.sample(3, *n) < (10 * MS).mul_f64(2_f64.ln())).count();
        assert!((49_000..51_000).contains(&below), "{below}");
    }

    #[test]
    fn uniform_durations_stay_between_their_ends() {
        let distribution = Distribution::Uniform { from: MS, to: 3 * MS };
        assert!((0..10_000).map(|n| distribution.sample(1, n)).all(|sample| (MS..=3 * MS).contains(&sample)));
    }

    #[test]
    fn durations_need_a_unit() {
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("200us"), Ok(Duration::from_micros(200)));
        for wrong in ["", "5", "ms", "5 ms", "-5ms", "1.2.3s", "5parsecs", "9999999999h"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn wrong_distributions_are_refused() {
        for wrong in ["exp", "exp:5", "uniform:9ms:1ms", "lognormal:5ms:-1", "lognormal:5ms:60", "two:1ms:2ms:3"] {
            assert!(wrong.parse::<Distribution>().is_err(), "{wrong}");
        }
    }
}
