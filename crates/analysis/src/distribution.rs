//! The distributions that intervals and verdicts are read from: normal, Student's t, binomial.
//!
//! Exact binomial tails and Clopper–Pearson intervals need the regularised incomplete beta function, and nothing else of
//! what a statistics crate brings (`statrs` draws in matrices and random numbers, `puruspe` has one owner and no bound on
//! its error). The three special functions here are textbook formulas of some ten lines each, tested against published
//! values. Invariant: no function returns a probability outside 0 to 1, whatever its arguments.

use std::f64::consts::{PI, SQRT_2};

/// The share of a standard normal variable below `x`.
#[must_use]
pub(crate) fn normal_below(x: f64) -> f64 {
    0.5 * erfc(-x / SQRT_2)
}

/// Where a standard normal variable has the share `p` below it; infinite at 0 and 1.
#[must_use]
pub(crate) fn normal_quantile(p: f64) -> f64 {
    if p <= 0.0 {
        f64::NEG_INFINITY
    } else if p >= 1.0 {
        f64::INFINITY
    } else {
        bisect(-40.0, 40.0, |x| normal_below(x) < p)
    }
}

/// The share of Student's t with `freedom` degrees below `t`: 1 − I(ν/(ν+t²); ν/2, ½)/2 for t > 0.
#[must_use]
pub(crate) fn student_below(t: f64, freedom: f64) -> f64 {
    let tail = 0.5 * beta_regularised(freedom / t.mul_add(t, freedom), freedom / 2.0, 0.5);
    if t > 0.0 { 1.0 - tail } else { tail }
}

/// Where Student's t with `freedom` degrees has the share `p` below it; infinite at 0 and 1.
#[must_use]
pub(crate) fn student_quantile(p: f64, freedom: f64) -> f64 {
    if p <= 0.0 {
        f64::NEG_INFINITY
    } else if p >= 1.0 {
        f64::INFINITY
    } else {
        let mut reach = 8.0;
        while student_below(reach, freedom) < p.max(1.0 - p) && reach < 1e9 {
            reach *= 8.0;
        }
        bisect(-reach, reach, |t| student_below(t, freedom) < p)
    }
}

/// The chance of at most `k` of `n` when each comes with probability `p`: I(1−p; n−k, k+1).
#[must_use]
pub(crate) fn binomial_at_most(k: u64, n: u64, p: f64) -> f64 {
    if k >= n { 1.0 } else { beta_regularised(1.0 - p, (n - k) as f64, k as f64 + 1.0) }
}

/// The chance of at least `k` of `n` when each comes with probability `p`: I(p; k, n−k+1).
#[must_use]
pub(crate) fn binomial_at_least(k: u64, n: u64, p: f64) -> f64 {
    match k {
        0 => 1.0,
        k if k > n => 0.0,
        k => beta_regularised(p, k as f64, (n - k) as f64 + 1.0),
    }
}

/// The regularised incomplete beta function I(x; a, b), by Lentz's continued fraction (Numerical Recipes §6.4), for a, b > 0.
#[must_use]
pub(crate) fn beta_regularised(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let ln_front = a * x.ln() + b * (-x).ln_1p() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b);
    // The fraction converges fast below the mean; above it the mirror image does.
    let value = if x < (a + 1.0) / (a + b + 2.0) {
        ln_front.exp() * beta_fraction(x, a, b) / a
    } else {
        1.0 - ln_front.exp() * beta_fraction(1.0 - x, b, a) / b
    };
    value.clamp(0.0, 1.0)
}

fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    // It takes about √max(a, b) steps: a hundred thousand are enough for 10^10 samples.
    for step in 1..100_000 {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away_from_zero(even.mul_add(d, 1.0));
        c = away_from_zero(1.0 + even / c);
        fraction *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away_from_zero(odd.mul_add(d, 1.0));
        c = away_from_zero(1.0 + odd / c);
        let change = d * c;
        fraction *= change;
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

/// ln Γ(x) for x > 0: Stirling's series (DLMF 5.11.1) from 16 on, where its error is below 10⁻¹⁴, reached by Γ(x+1) = xΓ(x).
#[must_use]
pub(crate) fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut factor) = (x, 1.0);
    while x < 16.0 {
        factor *= x;
        x += 1.0;
    }
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    let series = inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square * (1.0 / 1680.0 - square / 1188.0))));
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * PI).ln() + series - f64::ln(factor)
}

/// The complementary error function: its series near zero (DLMF 7.6.2), its continued fraction beyond (DLMF 7.9.2).
fn erfc(x: f64) -> f64 {
    let size = x.abs();
    let square = size * size;
    let upper = if size < 2.5 {
        let (mut term, mut sum) = (size, size);
        for n in 1..200 {
            term *= 2.0 * square / f64::from(2 * n + 1);
            sum += term;
            if term < sum * 1e-17 {
                break;
            }
        }
        1.0 - 2.0 / PI.sqrt() * (-square).exp() * sum
    } else {
        let fraction = (1..=80).rev().fold(size, |below, n| size + f64::from(n) / 2.0 / below);
        (-square).exp() / PI.sqrt() / fraction
    };
    if x < 0.0 { 2.0 - upper } else { upper }
}

/// Where `below` turns from true to false, within `low..high`, to the last bit.
pub(crate) fn bisect(low: f64, high: f64, below: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (low, high);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if below(middle) { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(got: f64, wanted: f64, relative: f64) {
        assert!((got - wanted).abs() <= wanted.abs() * relative + 1e-300, "{got} against {wanted}");
    }

    #[test]
    fn the_gamma_function_passes_through_the_factorials() {
        near(ln_gamma(0.5), PI.sqrt().ln(), 1e-13);
        near(ln_gamma(11.0), 3_628_800f64.ln(), 1e-13);
        near(ln_gamma(101.0), 363.739_375_555_563_5, 1e-14);
        assert!(ln_gamma(1.0).abs() < 1e-13 && ln_gamma(2.0).abs() < 1e-13);
    }

    #[test]
    fn normal_values_are_those_of_the_tables() {
        near(normal_below(1.959_963_984_540_054), 0.975, 1e-13);
        near(normal_below(-3.0), 0.001_349_898_031_630_095, 1e-12);
        near(normal_below(-6.0), 9.865_876_450_377e-10, 1e-11);
        near(normal_quantile(0.975), 1.959_963_984_540_054, 1e-12);
        near(normal_quantile(0.995), 2.575_829_303_548_901, 1e-12);
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
    }

    #[test]
    fn student_values_are_those_of_the_tables() {
        for (freedom, t) in [(1.0, 12.706_204_736), (5.0, 2.570_581_836), (14.0, 2.144_786_688), (60.0, 2.000_297_822)] {
            near(student_quantile(0.975, freedom), t, 1e-9);
        }
        near(student_below(0.0, 7.0), 0.5, 1e-12);
    }

    #[test]
    fn binomial_tails_are_the_sums_they_stand_for() {
        // 10 coins: (1 + 10 + 45) / 1024.
        near(binomial_at_most(2, 10, 0.5), 56.0 / 1024.0, 1e-13);
        near(binomial_at_least(8, 10, 0.5), 56.0 / 1024.0, 1e-13);
        near(binomial_at_most(0, 299, 0.01), 0.99f64.powi(299), 1e-12);
        assert_eq!((binomial_at_most(5, 5, 0.3), binomial_at_least(0, 5, 0.3), binomial_at_least(6, 5, 0.3)), (1.0, 1.0, 0.0));
    }

    #[test]
    fn a_tail_of_a_hundred_million_is_still_exact_enough() {
        // Near the mean the binomial is normal: half a unit of continuity, a thousandth of it skew.
        let (n, p) = (100_000_000, 0.001);
        let k = 100_000 + 619;
        let normal = normal_below((619.5) / (n as f64 * p * (1.0 - p)).sqrt());
        assert!((binomial_at_most(k, n, p) - normal).abs() < 1e-3);
    }

    proptest! {
        #[test]
        fn both_tails_make_one(n in 1u64..5_000, share in 0.0..1.0f64, p in 0.001..0.999f64) {
            let k = (share * n as f64) as u64;
            let sum = binomial_at_most(k, n, p) + binomial_at_least(k + 1, n, p);
            prop_assert!((sum - 1.0).abs() < 1e-10, "{}", sum);
        }

        #[test]
        fn the_beta_function_is_its_own_mirror_image(x in 0.0..1.0f64, a in 0.1..300.0f64, b in 0.1..300.0f64) {
            let sum = beta_regularised(x, a, b) + beta_regularised(1.0 - x, b, a);
            prop_assert!((sum - 1.0).abs() < 1e-10, "{}", sum);
        }
    }
}
