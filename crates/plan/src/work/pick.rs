//! Choices by weight, and how long a user thinks.
//!
//! Both turn one number that is drawn elsewhere into an answer, so that a run is repeatable from its seed, and a test knows what
//! comes out. Cumulative weights and a binary search take a few nanoseconds for the handful of journeys that a scenario has; alias
//! tables would be quicker for thousands and harder to follow.
//!
//! Invariant: what has no weight is never chosen, and no pause is longer than the scenario says it may be.

use std::fmt;
use std::str::FromStr;

use crate::Nanos;

/// Weights of several things, of which one is chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// As they were given.
    weights: Box<[f64]>,
    /// The sum of the weights up to and with each.
    cumulative: Box<[f64]>,
}

impl Weights {
    /// Numbers from 0 on, not all 0; they need not add up to anything.
    ///
    /// # Errors
    /// What is wrong with them, in words.
    pub fn new(weights: &[f64]) -> Result<Self, String> {
        if let Some(wrong) = weights.iter().find(|weight| !weight.is_finite() || **weight < 0.0) {
            return Err(format!("the weight {wrong} is not a number from 0 on"));
        }
        let mut sum = 0.0;
        let cumulative: Box<[f64]> = weights
            .iter()
            .map(|weight| {
                sum += weight;
                sum
            })
            .collect();
        if !sum.is_finite() {
            return Err("the weights add up to more than can be counted".to_owned());
        }
        if sum > 0.0 {
            Ok(Self { weights: weights.into(), cumulative })
        } else {
            Err("all weights are 0, so that nothing can be chosen".to_owned())
        }
    }

    /// The weight of each.
    #[must_use]
    pub fn each(&self) -> &[f64] {
        &self.weights
    }

    /// The same weights for some of the things, and 0 for the others.
    ///
    /// # Errors
    /// If nothing is left, in words.
    pub fn only(&self, keeps: impl Fn(usize) -> bool) -> Result<Self, String> {
        let kept = self.weights.iter().enumerate().map(|(place, weight)| if keeps(place) { *weight } else { 0.0 });
        Self::new(&kept.collect::<Vec<_>>())
    }

    /// The index chosen by a number uniform in [0, 1), as [`crate::Random::unit`] draws it. One of weight 0 is never chosen.
    #[must_use]
    pub fn choose(&self, unit: f64) -> usize {
        let total = self.cumulative.last().copied().unwrap_or_default();
        let drawn = within_unit(unit) * total;
        let at = self.cumulative.partition_point(|sum| *sum <= drawn);
        // Rounding may reach the total itself, which belongs to the last that has any weight.
        if at < self.cumulative.len() { at } else { self.cumulative.partition_point(|sum| *sum < total) }
    }
}

/// A number outside of [0, 1) counts as the nearest inside, and what is no number as 0.
fn within_unit(unit: f64) -> f64 {
    if unit >= 0.0 { unit.min(1.0 - f64::EPSILON / 2.0) } else { 0.0 }
}

/// In which of its iterations something is done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    /// In so many of a hundred, spread over them.
    Percent(f64),
    /// In so many of the first.
    Times(u64),
}

/// Reads `30%`, `500 times`.
impl FromStr for Amount {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        if let Some(percent) = text.trim().strip_suffix('%') {
            let percent = percent.trim_end().parse().ok().filter(|percent| (0.0..=100.0).contains(percent));
            return percent.map(Self::Percent).ok_or(());
        }
        let times = text.trim().strip_suffix("times").or_else(|| text.trim().strip_suffix("time")).ok_or(())?;
        times.trim_end().parse().map(Self::Times).map_err(|_| ())
    }
}

/// Prints what reads back as the same.
impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Percent(percent) => write!(f, "{percent}%"),
            Self::Times(times) => write!(f, "{times} times"),
        }
    }
}

/// How long a user thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Think {
    /// Always the same.
    Fixed(Nanos),
    /// As likely one as another, from the first to the second.
    Uniform(Nanos, Nanos),
    /// Exponential with this mean, cut off at [`EXPONENTIAL_MEANS_MAX`] times it.
    Exponential(Nanos),
    /// Normal with this mean and this standard deviation; what would be below 0 is as much above it.
    Gaussian(Nanos, Nanos),
    /// Whole milliseconds of a Poisson distribution with this mean.
    Poisson(Nanos),
}

/// One in 22,000 exponential pauses would be longer than ten times their mean, and hold up the end of a run.
pub const EXPONENTIAL_MEANS_MAX: u64 = 10;

impl Think {
    /// The span drawn by a number uniform in [0, 1).
    #[must_use]
    pub fn span(self, unit: f64) -> Nanos {
        let unit = within_unit(unit);
        match self {
            Self::Fixed(span) => span,
            Self::Uniform(low, high) => Nanos(low.0 + (unit * high.since(low).0 as f64) as u64),
            Self::Exponential(mean) => {
                let means = (-(1.0 - unit).ln()).min(EXPONENTIAL_MEANS_MAX as f64);
                Nanos((means * mean.0 as f64) as u64)
            }
            Self::Gaussian(mean, deviation) => Nanos((mean.0 as f64 + deviation.0 as f64 * normal(unit)).abs() as u64),
            Self::Poisson(mean) => Nanos(MILLI * poisson(mean.0 as f64 / MILLI as f64, unit)),
        }
    }

    /// The mean of what is drawn. That of an exponential pause is 0.005 % less for being cut off, and that of a Gaussian one more where much
    /// of it would be below 0; neither is told here.
    #[must_use]
    pub const fn mean(self) -> Nanos {
        match self {
            Self::Fixed(mean) | Self::Exponential(mean) | Self::Gaussian(mean, _) | Self::Poisson(mean) => mean,
            Self::Uniform(low, high) => Nanos(low.0 / 2 + high.0 / 2),
        }
    }
}

const MILLI: u64 = 1_000_000;

/// The quantile of the standard normal distribution, by Peter Acklam's rational approximation: wrong by less than 1.2e-9 of it.
fn normal(unit: f64) -> f64 {
    const TAIL: f64 = 0.024_25;
    let of = |numbers: &[f64], x: f64| numbers.iter().fold(0.0, |sum, number| sum * x + number);
    let tail = |q: f64| {
        let above = [
            -7.784_894_002_430_293e-3,
            -3.223_964_580_411_365e-1,
            -2.400_758_277_161_838,
            -2.549_732_539_343_734,
            4.374_664_141_464_968,
            2.938_163_982_698_783,
        ];
        let below = [7.784_695_709_041_462e-3, 3.224_671_290_700_398e-1, 2.445_134_137_142_996, 3.754_408_661_907_416, 1.0];
        of(&above, q) / of(&below, q)
    };
    // 0 itself would be infinitely far away.
    let unit = unit.max(f64::EPSILON / 2.0);
    if unit < TAIL {
        return tail((-2.0 * unit.ln()).sqrt());
    }
    if unit > 1.0 - TAIL {
        return -tail((-2.0 * (1.0 - unit).ln()).sqrt());
    }
    let above = [
        -3.969_683_028_665_376e1,
        2.209_460_984_245_205e2,
        -2.759_285_104_469_687e2,
        1.383_577_518_672_69e2,
        -3.066_479_806_614_716e1,
        2.506_628_277_459_239,
    ];
    let below = [
        -5.447_609_879_822_406e1,
        1.615_858_368_580_409e2,
        -1.556_989_798_598_866e2,
        6.680_131_188_771_972e1,
        -1.328_068_155_288_572e1,
        1.0,
    ];
    let q = unit - 0.5;
    of(&above, q * q) * q / of(&below, q * q)
}

/// The quantile of a Poisson distribution: exact for small means, else by the normal one with its skewness (Cornish and Fisher).
fn poisson(mean: f64, unit: f64) -> u64 {
    const EXACT_MEAN_MAX: f64 = 50.0;
    if mean > EXACT_MEAN_MAX {
        let z = normal(unit);
        return (mean + mean.sqrt() * z + (z * z - 1.0) / 6.0).round().max(0.0) as u64;
    }
    let (mut count, mut chance) = (0, (-mean).exp());
    let mut sum = chance;
    // Beyond ten standard deviations the chances are less than what a sum loses by rounding.
    while sum < unit && (count as f64) < mean + 10.0 * mean.sqrt() + 10.0 {
        count += 1;
        chance *= mean / count as f64;
        sum += chance;
    }
    count
}

/// Reads `1s`, `1s..3s`, `exponential 2s`, `gaussian 2s 500ms`, `poisson 300ms`.
impl FromStr for Think {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{}' is no pause such as 200ms, 1s..3s, exponential 2s or gaussian 2s 500ms", text.escape_debug());
        let read = |text: &str| Nanos::with_unit(text).map_err(|why| if Nanos::lacks_unit(text) { why } else { wrong() });
        let text = text.trim();
        if let Some(mean) = text.strip_prefix("exponential") {
            let mean = mean.strip_prefix(char::is_whitespace).ok_or_else(wrong)?;
            return Ok(Self::Exponential(read(mean)?));
        }
        if let Some(numbers) = text.strip_prefix("gaussian") {
            let numbers = numbers.strip_prefix(char::is_whitespace).ok_or_else(wrong)?.trim_start();
            let (mean, deviation) = numbers.split_once(char::is_whitespace).ok_or_else(wrong)?;
            return Ok(Self::Gaussian(read(mean)?, read(deviation)?));
        }
        if let Some(mean) = text.strip_prefix("poisson") {
            let mean = mean.strip_prefix(char::is_whitespace).ok_or_else(wrong)?;
            return Ok(Self::Poisson(read(mean)?));
        }
        let Some((low, high)) = text.split_once("..") else { return Ok(Self::Fixed(read(text)?)) };
        let (low, high) = (read(low)?, read(high)?);
        if low > high {
            Err(format!("'{}' is a range that ends before it begins", text.escape_debug()))
        } else {
            Ok(Self::Uniform(low, high))
        }
    }
}

/// Prints what reads back as the same.
impl fmt::Display for Think {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(span) => write!(f, "{span}"),
            Self::Uniform(low, high) => write!(f, "{low}..{high}"),
            Self::Exponential(mean) => write!(f, "exponential {mean}"),
            Self::Gaussian(mean, deviation) => write!(f, "gaussian {mean} {deviation}"),
            Self::Poisson(mean) => write!(f, "poisson {mean}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::Random;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_weighs_more_is_chosen_more_often_and_what_weighs_nothing_never() {
        let weights = Weights::new(&[0.0, 70.0, 0.0, 25.0, 5.0, 0.0]).unwrap();
        let mut random = Random::new(1, 1);
        let mut chosen = [0u32; 6];
        for _ in 0..100_000 {
            chosen[weights.choose(random.unit())] += 1;
        }
        // Five standard deviations of the binomial: 5·√(n·p·(1−p)).
        for (count, share) in chosen.into_iter().zip([0.0, 0.7, 0.0, 0.25, 0.05, 0.0]) {
            let slack = 5.0 * (100_000.0 * share * (1.0f64 - share)).sqrt();
            assert!((f64::from(count) - 100_000.0 * share).abs() <= slack, "{chosen:?}");
        }
    }

    #[test]
    fn the_ends_of_the_unit_choose_the_first_and_the_last_that_weigh_anything() {
        let weights = Weights::new(&[0.0, 1.0, 2.0, 0.0]).unwrap();
        for (unit, expected) in
            [(0.0, 1), (0.33, 1), (0.34, 2), (1.0 - f64::EPSILON / 2.0, 2), (1.0, 2), (7.0, 2), (-1.0, 1), (f64::NAN, 1)]
        {
            assert_eq!(weights.choose(unit), expected, "{unit}");
        }
    }

    #[test]
    fn weights_that_choose_nothing_are_refused() {
        for (weights, words) in [
            (&[][..], "all weights are 0"),
            (&[0.0, 0.0], "all weights are 0"),
            (&[1.0, -2.0], "the weight -2 is not a number from 0 on"),
            (&[f64::NAN], "the weight NaN"),
            (&[f64::MAX, f64::MAX], "more than can be counted"),
        ] {
            assert!(Weights::new(weights).unwrap_err().contains(words), "{weights:?}");
        }
    }

    #[test]
    fn pauses_are_drawn_as_written() {
        let millis = Nanos::from_millis;
        let cases = [
            ("200ms", 0.9, millis(200)),
            ("1s..3s", 0.0, millis(1000)),
            ("1s..3s", 0.5, millis(2000)),
            ("1s .. 1s", 0.5, millis(1000)),
            ("exponential 2s", 0.0, Nanos::ZERO),
            ("exponential  2s", 1.0, millis(20_000)),
            ("0s", 0.3, Nanos::ZERO),
            ("gaussian 2s 500ms", 0.5, millis(2000)),
            ("gaussian 0s 1s", 0.158_655_253_931_457_05, Nanos(1_000_000_000)),
            ("poisson 3ms", 0.0, Nanos::ZERO),
            ("poisson 3ms", 0.5, millis(3)),
            ("poisson  1s", 0.5, millis(1000)),
        ];
        for (text, unit, expected) in cases {
            let think: Think = text.parse().unwrap();
            assert_eq!(think.span(unit), expected, "{text}");
            assert_eq!(think.to_string().parse(), Ok(think), "{text}");
        }
        for text in [
            "",
            "soon",
            "3s..1s",
            "exponential",
            "exponential2s",
            "exponential 1s..2s",
            "1s..",
            "-1s",
            "500",
            "1..3s",
            "1s..3",
            "exponential 2",
            "gaussian 2s",
            "gaussian 2s 3",
            "poisson",
            "poisson 2",
        ] {
            assert!(text.parse::<Think>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_share_of_iterations_is_read_as_it_is_printed() {
        for (text, amount) in [("30%", Amount::Percent(30.0)), ("0.5%", Amount::Percent(0.5)), ("500 times", Amount::Times(500))] {
            assert_eq!((text.parse(), amount.to_string().as_str()), (Ok(amount), text));
        }
        for text in ["30", "101%", "-1%", "many times", "1.5 times", "%", "NaN%"] {
            assert!(text.parse::<Amount>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_mean_of_many_pauses_is_the_mean() {
        let mut random = Random::new(5, 5);
        for text in ["10ms", "10ms..30ms", "exponential 20ms", "gaussian 1s 200ms", "poisson 20ms", "poisson 200ms"] {
            let think: Think = text.parse().unwrap();
            let mean = (0..100_000).map(|_| think.span(random.unit()).0 as f64).sum::<f64>() / 100_000.0;
            // An exponential's standard error is 1/√100,000 = 0.3 %; five of them.
            assert!((mean / think.mean().0 as f64 - 1.0).abs() < 0.016, "{text}: {mean}");
        }
    }

    #[test]
    fn gaussian_and_poisson_pauses_scatter_as_their_distributions_do() {
        let mut random = Random::new(6, 6);
        for (text, expected_ms) in [("gaussian 1s 200ms", 200.0), ("poisson 20ms", 20.0_f64.sqrt()), ("poisson 900ms", 30.0)] {
            let think: Think = text.parse().unwrap();
            let spans: Vec<f64> = (0..100_000).map(|_| think.span(random.unit()).0 as f64 / 1e6).collect();
            let mean = spans.iter().sum::<f64>() / spans.len() as f64;
            let variance = spans.iter().map(|span| (span - mean).powi(2)).sum::<f64>() / spans.len() as f64;
            // The standard error of a deviation is 1/√200,000 of it = 0.22 %; five of them.
            assert!((variance.sqrt() / expected_ms - 1.0).abs() < 0.012, "{text}: {}", variance.sqrt());
        }
    }

    proptest! {
        #[test]
        fn no_pause_leaves_its_bounds(low in 0..Nanos::NEVER.0, more in 0..Nanos::NEVER.0, unit: f64) {
            let high = Nanos(low).plus(Nanos(more));
            let span = Think::Uniform(Nanos(low), high).span(unit);
            // Beyond 2^53 ns a float counts in steps.
            prop_assert!(span >= Nanos(low) && span.0 <= high.0 + high.0 / (1 << 50), "{span}");
            prop_assert!(Think::Exponential(Nanos(low)).span(unit).0 <= low.saturating_mul(EXPONENTIAL_MEANS_MAX).saturating_add(low));
        }

        #[test]
        fn a_choice_is_one_that_weighs_something(weights in proptest::collection::vec(0.0f64..1e9, 1..20), unit in 0.0f64..1.0) {
            if let Ok(built) = Weights::new(&weights) {
                prop_assert!(weights[built.choose(unit)] > 0.0);
            }
        }
    }
}
