//! The Universal Scalability Law: how contention and coherency bend throughput as concurrency grows.
//!
//! X(N) = λN / (1 + σ(N − 1) + κN(N − 1)): λ is the throughput of one user, σ the share of work that waits for something
//! shared, κ the cost of users agreeing with one another (Gunther, *Guerrilla Capacity Planning*, 2007). With κ > 0
//! throughput peaks at N* = √((1 − σ)/κ); with κ = 0 it is Amdahl's law, with σ = 0 too a straight line.
//!
//! Noise in throughput is multiplicative and now and then gross (a neighbour woke up), so the fit minimises Huber's loss of
//! log residuals within the bounds λ > 0, 0 ≤ σ ≤ 1, κ ≥ 0: projected Levenberg–Marquardt from the non-negative least
//! squares of N/X, which is linear in the coefficients. Least squares of N/X alone, the textbook's way, is led by its
//! noisiest points. The goodness of fit is never R², which exceeds 0.95 for almost any curve that saturates.

use serde::{Deserialize, Serialize};

/// The law with its coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Usl {
    /// Throughput of one user, requests a second.
    pub lambda: f64,
    /// Contention, from 0 to 1.
    pub sigma: f64,
    /// Coherency, 0 or more.
    pub kappa: f64,
}

/// The law or one of the simpler ones within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Law {
    /// σ = κ = 0.
    Linear,
    /// κ = 0.
    Amdahl,
    /// All three.
    Universal,
}

impl Law {
    /// From simple to general.
    pub const ALL: [Self; 3] = [Self::Linear, Self::Amdahl, Self::Universal];

    /// Its coefficients.
    #[must_use]
    pub(crate) const fn coefficients(self) -> usize {
        match self {
            Self::Linear => 1,
            Self::Amdahl => 2,
            Self::Universal => 3,
        }
    }
}

impl Usl {
    /// Requests a second at concurrency `n`.
    #[must_use]
    pub fn throughput(&self, n: f64) -> f64 {
        self.lambda * n / self.slowing(n)
    }

    /// Where throughput peaks, and how high; `None` if it never falls again.
    #[must_use]
    pub fn peak(&self) -> Option<(f64, f64)> {
        if self.kappa <= 0.0 {
            return None;
        }
        let level = ((1.0 - self.sigma) / self.kappa).sqrt().max(1.0);
        Some((level, self.throughput(level)))
    }

    fn slowing(&self, n: f64) -> f64 {
        1.0 + self.sigma * (n - 1.0) + self.kappa * n * (n - 1.0)
    }
}

/// One measurement as the fits see it: its level, and the logarithm of its throughput.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Observation {
    pub level: f64,
    pub log: f64,
}

/// Huber's δ in units of the robust standard deviation: 95 % efficient on normal noise (Huber, 1981).
const HUBER: f64 = 1.345;
/// The standard deviation of normal noise in units of its median absolute deviation.
const MAD_TO_SIGMA: f64 = 1.4826;
/// No throughput is measured to better than a tenth of a per cent; below it, a scale is rounding.
const SCALE_MIN: f64 = 1e-3;

/// Huber's δ for these residuals.
pub(crate) fn huber_delta(residuals: &[f64]) -> f64 {
    let mut sizes: Vec<f64> = residuals.iter().map(|it| it.abs()).collect();
    sizes.sort_by(f64::total_cmp);
    let median = sizes.get(sizes.len() / 2).copied().unwrap_or(0.0);
    HUBER * (MAD_TO_SIGMA * median).max(SCALE_MIN)
}

/// Twice Huber's ρ: the square within δ, growing linearly beyond.
pub(crate) fn huber_loss(residual: f64, delta: f64) -> f64 {
    let size = residual.abs();
    if size <= delta { size * size } else { delta * (2.0 * size - delta) }
}

/// Fits `law` to `data`; `None` without a point, or with a level that is not positive.
pub(crate) fn fit(data: &[Observation], law: Law) -> Option<Usl> {
    let start = start(data, law)?;
    let residuals: Vec<f64> = data.iter().map(|it| it.log - start.throughput(it.level).ln()).collect();
    let first = refine(data, law, start, huber_delta(&residuals));
    // The scale of the residuals about the start is too wide; once more with that about the fit.
    let residuals: Vec<f64> = data.iter().map(|it| it.log - first.throughput(it.level).ln()).collect();
    Some(refine(data, law, first, huber_delta(&residuals)))
}

/// Non-negative least squares of N/X on 1, N − 1 and N(N − 1), relative residuals: each of the patterns of coefficients
/// held at zero is solved, the best feasible one is kept.
fn start(data: &[Observation], law: Law) -> Option<Usl> {
    if data.is_empty() || data.iter().any(|it| !(it.level > 0.0 && it.log.is_finite())) {
        return None;
    }
    // In units of y itself, so that the large N/X of high levels do not rule.
    let rows: Vec<[f64; 3]> = data
        .iter()
        .map(|it| {
            let y = it.level / it.log.exp();
            [1.0 / y, (it.level - 1.0) / y, it.level * (it.level - 1.0) / y]
        })
        .collect();
    let mut best: Option<(f64, [f64; 3])> = None;
    for pattern in patterns(law) {
        let free = [true, pattern[0] == Treatment::Free, pattern[1] == Treatment::Free];
        let mut a = [[0.0; 3]; 3];
        let mut b = [0.0; 3];
        for row in &rows {
            for i in 0..3 {
                b[i] += row[i];
                for j in 0..3 {
                    a[i][j] += row[i] * row[j];
                }
            }
        }
        let Some(x) = solve(&a, &b, free) else { continue };
        if x[0] <= 0.0 || x[1] < 0.0 || x[2] < 0.0 {
            continue;
        }
        let rss: f64 = rows.iter().map(|row| (1.0 - row[0] * x[0] - row[1] * x[1] - row[2] * x[2]).powi(2)).sum();
        if best.is_none_or(|(least, _)| rss < least) {
            best = Some((rss, x));
        }
    }
    let [a0, a1, a2] = best?.1;
    Some(Usl { lambda: 1.0 / a0, sigma: (a1 / a0).min(1.0), kappa: a2 / a0 })
}

/// How a coefficient is treated in one solution.
#[derive(Clone, Copy, PartialEq)]
enum Treatment {
    Free,
    Low,
    High,
}

/// The combinations of σ and κ free or held at a bound.
fn patterns(law: Law) -> &'static [[Treatment; 2]] {
    use Treatment::{Free, High, Low};
    match law {
        Law::Linear => &[[Low, Low]],
        Law::Amdahl => &[[Free, Low], [Low, Low], [High, Low]],
        Law::Universal => &[[Free, Free], [Free, Low], [Low, Free], [Low, Low], [High, Free], [High, Low]],
    }
}

/// Projected Levenberg–Marquardt with Huber's weights, at a fixed δ.
fn refine(data: &[Observation], law: Law, start: Usl, delta: f64) -> Usl {
    const STEPS_MAX: usize = 30;
    let loss = |it: &Usl| data.iter().map(|point| huber_loss(point.log - it.throughput(point.level).ln(), delta)).sum::<f64>();
    let mut at = start;
    let mut now = loss(&at);
    let mut damping = 1e-3;
    for _ in 0..STEPS_MAX {
        // Normal equations in (log λ, σ, κ): the log residual falls by 1, and grows by (N−1)/D and N(N−1)/D.
        let mut a = [[0.0; 3]; 3];
        let mut g = [0.0; 3];
        for point in data {
            let d = at.slowing(point.level);
            let residual = point.log - (at.lambda * point.level / d).ln();
            let weight = if residual.abs() <= delta { 1.0 } else { delta / residual.abs() };
            let row = [1.0, -(point.level - 1.0) / d, -point.level * (point.level - 1.0) / d];
            for i in 0..3 {
                g[i] += weight * row[i] * residual;
                for j in 0..3 {
                    a[i][j] += weight * row[i] * row[j];
                }
            }
        }
        let mut improved = false;
        for _ in 0..8 {
            let Some(next) = bounded_step(&a, &g, damping, &at, law) else { break };
            let then = loss(&next);
            if then < now {
                let gain = now - then;
                (at, now, damping) = (next, then, (damping * 0.2).max(1e-9));
                improved = gain > 1e-9 * now;
                break;
            }
            damping *= 8.0;
        }
        if !improved {
            break;
        }
    }
    at
}

/// The step that lowers the quadratic model most without leaving the bounds: every pattern of held coefficients.
fn bounded_step(a: &[[f64; 3]; 3], g: &[f64; 3], damping: f64, at: &Usl, law: Law) -> Option<Usl> {
    let mut damped = *a;
    for i in 0..3 {
        damped[i][i] += damping * a[i][i];
    }
    let mut best: Option<(f64, Usl)> = None;
    for pattern in patterns(law) {
        let held = [
            0.0,
            match pattern[0] {
                Treatment::Free => 0.0,
                Treatment::Low => -at.sigma,
                Treatment::High => 1.0 - at.sigma,
            },
            if pattern[1] == Treatment::Free { 0.0 } else { -at.kappa },
        ];
        let free = [true, pattern[0] == Treatment::Free, pattern[1] == Treatment::Free];
        let mut right = *g;
        for i in 0..3 {
            for j in 0..3 {
                if !free[j] {
                    right[i] -= damped[i][j] * held[j];
                }
            }
        }
        let Some(mut step) = solve(&damped, &right, free) else { continue };
        for i in 0..3 {
            if !free[i] {
                step[i] = held[i];
            }
        }
        let (sigma, kappa) = (at.sigma + step[1], at.kappa + step[2]);
        if !(-1e-12..=1.0 + 1e-12).contains(&sigma) || kappa < -1e-15 {
            continue;
        }
        let mut model = 0.0;
        for i in 0..3 {
            model -= 2.0 * g[i] * step[i];
            for j in 0..3 {
                model += step[i] * damped[i][j] * step[j];
            }
        }
        if best.is_none_or(|(least, _)| model < least) {
            best = Some((model, Usl { lambda: at.lambda * step[0].exp(), sigma: sigma.clamp(0.0, 1.0), kappa: kappa.max(0.0) }));
        }
    }
    best.map(|it| it.1)
}

/// Solves the free rows and columns of a symmetric system; the others are zero. `None` if it is singular.
fn solve(a: &[[f64; 3]; 3], b: &[f64; 3], free: [bool; 3]) -> Option<[f64; 3]> {
    // Cholesky on the scaled matrix: κ's column is larger than λ's by the square of the level.
    let scale: [f64; 3] = std::array::from_fn(|i| if free[i] { a[i][i].sqrt() } else { 1.0 });
    let mut l = [[0.0; 3]; 3];
    for i in 0..3 {
        if !free[i] {
            l[i][i] = 1.0;
            continue;
        }
        if scale[i] <= 0.0 || !scale[i].is_finite() {
            return None;
        }
        for j in 0..=i {
            let entry = if free[j] { a[i][j] / (scale[i] * scale[j]) } else { 0.0 };
            let sum: f64 = (0..j).map(|k| l[i][k] * l[j][k]).sum();
            if i == j {
                let rest = entry - sum;
                if rest < 1e-13 {
                    return None;
                }
                l[i][i] = rest.sqrt();
            } else {
                l[i][j] = (entry - sum) / l[j][j];
            }
        }
    }
    let mut y = [0.0; 3];
    for i in 0..3 {
        let right = if free[i] { b[i] / scale[i] } else { 0.0 };
        y[i] = (right - (0..i).map(|k| l[i][k] * y[k]).sum::<f64>()) / l[i][i];
    }
    let mut x = [0.0; 3];
    for i in (0..3).rev() {
        x[i] = (y[i] - (i + 1..3).map(|k| l[k][i] * x[k]).sum::<f64>()) / l[i][i];
    }
    Some(std::array::from_fn(|i| x[i] / scale[i]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LEVELS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

    fn exact(law: Usl) -> Vec<Observation> {
        LEVELS.iter().map(|&level| Observation { level, log: law.throughput(level).ln() }).collect()
    }

    fn close(a: f64, b: f64, by: f64) -> bool {
        (a - b).abs() <= by * b.abs() + 1e-7
    }

    proptest! {
        #[test]
        fn data_without_noise_give_their_law_back(lambda in 1.0..1e5, sigma in 0.0..0.9, kappa in 0.0..0.01) {
            let law = Usl { lambda, sigma, kappa };
            let found = fit(&exact(law), Law::Universal).unwrap();
            prop_assert!(close(found.lambda, lambda, 1e-3) && close(found.sigma, sigma, 1e-3) && close(found.kappa, kappa, 1e-3), "{found:?}");
        }

        #[test]
        fn the_coefficients_stay_within_their_bounds(logs in prop::collection::vec(-3.0..9.0, 8), law in prop::sample::select(Law::ALL.to_vec())) {
            let data: Vec<_> = LEVELS.iter().zip(logs).map(|(&level, log)| Observation { level, log }).collect();
            let found = fit(&data, law).unwrap();
            prop_assert!(found.lambda > 0.0 && (0.0..=1.0).contains(&found.sigma) && found.kappa >= 0.0 && found.kappa.is_finite(), "{found:?}");
            prop_assert!(law != Law::Linear || found.sigma == 0.0);
            prop_assert!(law == Law::Universal || found.kappa == 0.0);
        }
    }

    #[test]
    fn one_gross_error_moves_the_law_little() {
        let law = Usl { lambda: 100.0, sigma: 0.05, kappa: 0.0005 };
        let mut data: Vec<_> = exact(law).into_iter().flat_map(|it| [it; 3]).collect();
        data[10].log -= 1.0;
        let found = fit(&data, Law::Universal).unwrap();
        assert!(close(found.lambda, 100.0, 0.02) && close(found.sigma, 0.05, 0.1) && close(found.kappa, 0.0005, 0.1), "{found:?}");
    }

    #[test]
    fn the_peak_is_where_no_neighbour_is_higher() {
        let law = Usl { lambda: 100.0, sigma: 0.04, kappa: 0.000_4 };
        let (level, highest) = law.peak().unwrap();
        assert!(highest > law.throughput(level * 0.99) && highest > law.throughput(level * 1.01));
        assert_eq!(Usl { kappa: 0.0, ..law }.peak(), None);
    }
}
