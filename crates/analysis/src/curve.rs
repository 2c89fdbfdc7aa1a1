//! What a ladder of concurrencies shows: a scalability law, a worker pool, a straight line, or nothing that can be said.
//!
//! Any three-parameter curve can be drawn through six points, and its peak read off to three digits. So every coefficient
//! comes with an interval, simpler models are preferred unless the data pay for the richer one (AICc), the asymptotic bound
//! is tried beside the law, and each thing the data cannot support is refused with the evidence ([`Refusal`]) instead of
//! printed. Levels at which the generator was the limit are left out: they show the generator.
//!
//! The intervals come from a bootstrap over the repeats of each level. Three repeats say almost nothing about their own
//! scatter, and the law rests on one or two levels at the end; drawn from those three alone, intervals of N* held the truth
//! nine times in ten instead of nineteen in twenty. So a level with few repeats draws its deviations from those of all
//! levels (noise in throughput is multiplicative: alike in logarithms), stretched by √(m/(m − 1)), since deviations from a
//! mean of m are that much too small, and by what Student's t exceeds the normal at the degrees of freedom there are.
//! Without any repeats, the residuals of the fit serve. Chance comes from a seed: the same points give the same words.

use plan::Random;
use serde::{Deserialize, Serialize};

use crate::asymptote::{self, Asymptote};
use crate::usl::{self, Law, Observation, Usl, huber_delta, huber_loss};

/// One measured load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Users, or lanes.
    pub level: f64,
    /// Requests a second.
    pub throughput: f64,
    /// The generator, not the server, was the limit.
    pub generator_limited: bool,
}

/// A figure and where it lies with 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The best guess.
    pub value: f64,
    /// 2.5 % lie below.
    pub low: f64,
    /// 2.5 % lie above.
    pub high: f64,
}

/// What a ladder shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Levels at which the generator was the limit, ascending.
    pub left_out: Vec<f64>,
    /// Levels used, ascending.
    pub levels: Vec<f64>,
    /// What describes them best; `None` if nothing does, or if there are too few.
    pub model: Option<Model>,
    /// What cannot be said, and why.
    pub refusals: Vec<Refusal>,
    /// Both families as fitted, whatever was chosen.
    pub fits: Option<Fits>,
    /// The most that a level of these carried, requests a second.
    pub highest: f64,
}

/// The model that describes a ladder.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "model")]
pub enum Model {
    /// Throughput in proportion to users, as far as was tested.
    Linear {
        /// Requests a second of one user.
        lambda: Estimate,
    },
    /// Contention, and no peak.
    Amdahl {
        /// Requests a second of one user.
        lambda: Estimate,
        /// The share of work that waits for something shared.
        sigma: Estimate,
        /// λ/σ: throughput never exceeds this, requests a second.
        limit: Estimate,
    },
    /// Contention and coherency.
    Universal {
        /// Requests a second of one user.
        lambda: Estimate,
        /// The share of work that waits for something shared.
        sigma: Estimate,
        /// The cost of agreement.
        kappa: Estimate,
        /// N*, X*: missing when refused.
        peak: Option<Peak>,
    },
    /// A pool of workers, a rate limiter, a full disk: growth, then a ceiling.
    Pool {
        /// R₀ + Z, seconds.
        round_s: Estimate,
        /// C, requests a second.
        capacity: Estimate,
        /// N₀: the size of the pool when users do not pause.
        knee: Estimate,
    },
}

/// Where throughput is highest.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Peak {
    /// N*.
    pub level: Estimate,
    /// X*, requests a second.
    pub throughput: Estimate,
}

/// What the data cannot support, with the evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "refused")]
pub enum Refusal {
    /// No model at all.
    TooFewLevels {
        /// Usable levels.
        levels: usize,
        /// The greatest over the smallest.
        spread: f64,
        /// Levels that the generator limited.
        left_out: usize,
    },
    /// No N*: κ may well be zero.
    NoRetrograde {
        /// The highest level tested.
        tested: f64,
        /// Bootstrap replicates in which κ was zero.
        share_at_zero: f64,
    },
    /// N* is beyond what was tested, or too uncertain.
    PeakOutside {
        /// Throughput peaks above this, if it does: the lower end of N*'s interval.
        above: f64,
        /// The highest level tested.
        tested: f64,
    },
    /// The law misses the levels in a pattern or by much.
    NotTheLaw {
        /// How it misses.
        evidence: Misfit,
        /// What fits instead, if the asymptotic bound does: its knee.
        pool: Option<Estimate>,
    },
}

/// How a law misses its levels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "misfit")]
pub enum Misfit {
    /// Residuals above and below the curve come in so few runs.
    Runs {
        /// Of equal sign.
        runs: usize,
        /// Over so many levels.
        levels: usize,
    },
    /// One level is off by this share.
    Far {
        /// Which.
        level: f64,
        /// Of the fitted throughput, signed.
        by: f64,
    },
    /// The asymptotic bound is clearly more likely: AICc lower by this.
    Bound {
        /// AICc of the law less that of the bound.
        aicc: f64,
    },
}

/// The fits behind a reading, for the chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Fits {
    /// The chosen law.
    pub law: Usl,
    /// How many of its coefficients are free.
    pub kind: Law,
    /// Its AICc.
    pub law_aicc: f64,
    /// The asymptotic bound.
    pub bound: Option<Asymptote>,
    /// Its AICc.
    pub bound_aicc: f64,
    laws: Vec<Usl>,
    bounds: Vec<Asymptote>,
}

/// A fitted curve at one concurrency, requests a second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Band {
    /// The concurrency.
    pub level: f64,
    /// The fit and its 95 % interval.
    pub throughput: Estimate,
}

/// Fewer levels than this carry no model (docs/measurement.md §2.1).
pub(crate) const LEVELS_MIN: usize = 6;
/// Nor does a narrower ladder.
pub(crate) const SPREAD_MIN: f64 = 8.0;
/// Bootstrap refits.
pub const REPLICATES: usize = 2_000;
/// κ may be zero in no more of them.
const AT_ZERO_MAX: f64 = 0.025;
/// The interval of N* may span no more than this factor, and N* may exceed the tested levels by no more.
const PEAK_FACTOR_MAX: f64 = 2.0;
/// A log residual beyond this is a misfit, whatever its pattern.
const RESIDUAL_MAX: f64 = 0.15;
/// A pattern within one per cent is no misfit a reader could see.
const RESIDUAL_SEEN: f64 = 0.01;
/// A difference of AICc that means "considerably less support" (Burnham and Anderson, 2002).
const AICC_CLEAR: f64 = 4.0;

/// Reads `points`; `seed` feeds the bootstrap.
#[must_use]
pub fn read(points: &[Point], seed: u64) -> Reading {
    read_refitted(points, seed, REPLICATES)
}

/// Which law `points` follow, if one is accepted, as [`read`] says: without the intervals, which take thousands of draws.
#[must_use]
pub fn shape(points: &[Point]) -> Option<Model> {
    read_refitted(points, 0, 0).model
}

fn read_refitted(points: &[Point], seed: u64, replicates: usize) -> Reading {
    let usable = |it: &&Point| it.level > 0.0 && it.throughput > 0.0 && it.throughput.is_finite();
    let distinct = |mut levels: Vec<f64>| {
        levels.sort_by(f64::total_cmp);
        levels.dedup();
        levels
    };
    let mut data: Vec<Observation> = points
        .iter()
        .filter(usable)
        .filter(|it| !it.generator_limited)
        .map(|it| Observation { level: it.level, log: it.throughput.ln() })
        .collect();
    data.sort_by(|a, b| a.level.total_cmp(&b.level));
    let levels = distinct(data.iter().map(|it| it.level).collect());
    let left_out = distinct(points.iter().filter(|it| it.generator_limited).map(|it| it.level).collect());
    let highest = levels.iter().map(|level| mean_at(&data, *level)).fold(0.0, f64::max);
    let spread = levels.last().zip(levels.first()).map_or(1.0, |(last, first)| last / first);
    if levels.len() < LEVELS_MIN || spread < SPREAD_MIN {
        let refusals = vec![Refusal::TooFewLevels { levels: levels.len(), spread, left_out: left_out.len() }];
        return Reading { left_out, levels, model: None, refusals, fits: None, highest };
    }
    let Some(fits) = fits(&data, seed, replicates) else {
        return Reading { left_out, levels, model: None, refusals: Vec::new(), fits: None, highest };
    };
    let mut refusals = Vec::new();
    let model = choose(&data, &levels, &fits, &mut refusals);
    Reading { left_out, levels, model, refusals, fits: Some(fits), highest }
}

/// The mean throughput of a level.
fn mean_at(data: &[Observation], level: f64) -> f64 {
    let (sum, count) = data.iter().filter(|it| it.level == level).fold((0.0, 0.0), |(sum, count), it| (sum + it.log.exp(), count + 1.0));
    sum / count
}

impl Reading {
    /// The chosen curve and its band at `levels`; empty if no model was chosen.
    #[must_use]
    pub fn band(&self, levels: &[f64]) -> Vec<Band> {
        let (Some(model), Some(fits)) = (&self.model, &self.fits) else { return Vec::new() };
        levels.iter().map(|&level| Band { level, throughput: fits.at(level, model) }).collect()
    }

    /// The highest usable level.
    #[must_use]
    pub fn tested(&self) -> Option<f64> {
        self.levels.last().copied()
    }
}

impl Fits {
    fn at(&self, level: f64, model: &Model) -> Estimate {
        match (model, self.bound) {
            (Model::Pool { .. }, Some(bound)) => estimate(bound.throughput(level), self.bounds.iter().map(|it| it.throughput(level))),
            _ => estimate(self.law.throughput(level), self.laws.iter().map(|it| it.throughput(level))),
        }
    }
}

fn choose(data: &[Observation], levels: &[f64], fits: &Fits, refusals: &mut Vec<Refusal>) -> Option<Model> {
    let tested = levels[levels.len() - 1];
    let pool = fits.bound.filter(|it| it.knee() < tested).map(|bound| {
        let of = |figure: fn(&Asymptote) -> f64| estimate(figure(&bound), fits.bounds.iter().map(figure));
        (of(|it| it.round_s), of(|it| it.capacity), of(Asymptote::knee))
    });
    let law_misfit = misfit(data, levels, |level| fits.law.throughput(level));
    let bound_misfit = fits.bound.and_then(|bound| misfit(data, levels, |level| bound.throughput(level)));
    let lead = fits.law_aicc - fits.bound_aicc;
    // The bound is believed where it is clearly likelier, or where the law fails and it does not.
    let believed = pool.filter(|_| bound_misfit.is_none() && (lead > AICC_CLEAR || law_misfit.is_some() && lead > 0.0));
    if let Some((round_s, capacity, knee)) = believed {
        let evidence = law_misfit.unwrap_or(Misfit::Bound { aicc: lead });
        refusals.push(Refusal::NotTheLaw { evidence, pool: Some(knee) });
        return Some(Model::Pool { round_s, capacity, knee });
    }
    if let Some(evidence) = law_misfit {
        refusals.push(Refusal::NotTheLaw { evidence, pool: None });
        return None;
    }
    let of = |figure: &dyn Fn(&Usl) -> f64| estimate(figure(&fits.law), fits.laws.iter().map(figure));
    let (lambda, sigma) = (of(&|it| it.lambda), of(&|it| it.sigma));
    let at_zero = fits.laws.iter().filter(|it| it.kappa <= 0.0).count() as f64 / fits.laws.len() as f64;
    let unbent = Refusal::NoRetrograde { tested, share_at_zero: if fits.kind == Law::Universal { at_zero } else { 1.0 } };
    Some(match fits.kind {
        Law::Linear => {
            refusals.push(unbent);
            Model::Linear { lambda }
        }
        Law::Amdahl => {
            refusals.push(unbent);
            Model::Amdahl { lambda, sigma, limit: of(&|it| it.lambda / it.sigma) }
        }
        Law::Universal => {
            let kappa = of(&|it| it.kappa);
            let level = of(&|it| it.peak().map_or(f64::INFINITY, |it| it.0));
            let throughput = of(&|it| it.peak().map_or(f64::INFINITY, |it| it.1));
            let peak = if at_zero > AT_ZERO_MAX {
                refusals.push(unbent);
                None
            } else if level.high > level.low * PEAK_FACTOR_MAX || level.value > tested * PEAK_FACTOR_MAX {
                refusals.push(Refusal::PeakOutside { above: level.low, tested });
                None
            } else {
                Some(Peak { level, throughput })
            };
            Model::Universal { lambda, sigma, kappa, peak }
        }
    })
}

/// How `curve` misses the levels, if it does: too far at one, or on the same side of many neighbours.
fn misfit(data: &[Observation], levels: &[f64], curve: impl Fn(f64) -> f64) -> Option<Misfit> {
    let residual = |&level: &f64| {
        let mut here: Vec<f64> = data.iter().filter(|it| it.level == level).map(|it| it.log - curve(level).ln()).collect();
        // The median, so that one bad repeat does not refute a law.
        here.sort_by(f64::total_cmp);
        (here[(here.len() - 1) / 2] + here[here.len() / 2]) / 2.0
    };
    let residuals: Vec<f64> = levels.iter().map(residual).collect();
    let worst = (0..levels.len()).max_by(|&a, &b| residuals[a].abs().total_cmp(&residuals[b].abs()))?;
    if residuals[worst].abs() > RESIDUAL_MAX {
        return Some(Misfit::Far { level: levels[worst], by: residuals[worst].exp_m1() });
    }
    // What no reader could see lies on neither side: on the flat part of a bound, residuals are as good as none, and their
    // signs are those of rounding.
    let side = |residual: f64| if residual.abs() <= RESIDUAL_SEEN { 0 } else { residual.signum() as i8 };
    let runs = 1 + residuals.windows(2).filter(|pair| side(pair[0]) != side(pair[1])).count();
    let size = (residuals.iter().map(|it| it * it).sum::<f64>() / residuals.len() as f64).sqrt();
    (runs <= 2 && size > RESIDUAL_SEEN).then_some(Misfit::Runs { runs, levels: levels.len() })
}

fn fits(data: &[Observation], seed: u64, replicates: usize) -> Option<Fits> {
    let laws: Vec<(Law, Usl)> = Law::ALL.iter().filter_map(|&kind| Some((kind, usl::fit(data, kind)?))).collect();
    let bound = asymptote::fit(data);
    let residuals = |curve: &dyn Fn(f64) -> f64| data.iter().map(|it| it.log - curve(it.level).ln()).collect::<Vec<_>>();
    // One δ for all, that of the model closest to the data: losses at different δ do not compare.
    let mut all: Vec<Vec<f64>> = laws.iter().map(|(_, law)| residuals(&|level| law.throughput(level))).collect();
    all.extend(bound.map(|it| residuals(&|level| it.throughput(level))));
    let delta = all.iter().map(|it| huber_delta(it)).min_by(f64::total_cmp)?;
    let score = |at: usize, parameters: usize| aicc(&all[at], parameters, delta);
    let (chosen, law_aicc) = (0..laws.len()).map(|at| (at, score(at, laws[at].0.coefficients()))).min_by(|a, b| a.1.total_cmp(&b.1))?;
    let (kind, law) = laws[chosen];
    let bound_aicc = bound.map_or(f64::INFINITY, |_| score(laws.len(), Asymptote::PARAMETERS));
    let mut random = Random::new(seed, REFITS);
    let mut refits = Vec::with_capacity(replicates);
    let mut rebounds = Vec::with_capacity(replicates);
    let law_draws = Draws::new(data, &all[chosen], kind.coefficients());
    let bound_draws = bound.map(|_| Draws::new(data, &all[laws.len()], Asymptote::PARAMETERS));
    let mut drawn = data.to_vec();
    for _ in 0..replicates {
        law_draws.draw(&mut drawn, &mut random);
        refits.extend(usl::fit(&drawn, kind));
        if let Some(draws) = &bound_draws {
            draws.draw(&mut drawn, &mut random);
            rebounds.extend(asymptote::fit(&drawn));
        }
    }
    Some(Fits { law, kind, law_aicc, bound, bound_aicc, laws: refits, bounds: rebounds })
}

/// Which stream of the seed the refits are drawn from.
const REFITS: u64 = 23;

/// AICc = n·ln(RSS/n) + 2p + 2p(p + 1)/(n − p − 1), p with the variance; Huber's loss stands for RSS, so that one bad
/// repeat does not choose the model.
fn aicc(residuals: &[f64], parameters: usize, delta: f64) -> f64 {
    let n = residuals.len() as f64;
    let p = parameters as f64 + 1.0;
    let loss: f64 = residuals.iter().map(|&it| huber_loss(it, delta)).sum();
    // A mean loss below a thousandth squared is rounding, not support.
    let correction = if n > p + 1.0 { 2.0 * p * (p + 1.0) / (n - p - 1.0) } else { f64::INFINITY };
    n * (loss / n).max(1e-6).ln() + 2.0 * p + correction
}

/// The material of the bootstrap: the centre of each level, and what its points may deviate by.
struct Draws {
    levels: Vec<(std::ops::Range<usize>, f64, Vec<f64>)>,
}

/// A level with so many repeats knows its own scatter.
const REPEATS_ENOUGH: usize = 6;

impl Draws {
    fn new(data: &[Observation], residuals: &[f64], parameters: usize) -> Self {
        let mut ranges: Vec<std::ops::Range<usize>> = Vec::new();
        for at in 0..data.len() {
            match ranges.last_mut() {
                Some(range) if data[range.start].level == data[at].level => range.end = at + 1,
                _ => ranges.push(at..at + 1),
            }
        }
        let mean = |range: &std::ops::Range<usize>| data[range.clone()].iter().map(|it| it.log).sum::<f64>() / range.len() as f64;
        let deviations = |range: &std::ops::Range<usize>| {
            let (mean, m) = (mean(range), range.len() as f64);
            data[range.clone()].iter().map(|it| (it.log - mean) * (m / (m - 1.0)).sqrt()).collect::<Vec<_>>()
        };
        let n = data.len() as f64;
        let freedom_of_fit = (n - parameters as f64).max(1.0);
        let mut pooled: Vec<f64> = ranges.iter().filter(|it| it.len() > 1).flat_map(deviations).collect();
        let mut freedom = (data.len() - ranges.len()) as f64;
        // Too few repeats in all: the residuals, which are smaller than the noise by √((n − p)/n).
        if freedom < freedom_of_fit / 2.0 {
            pooled = residuals.iter().map(|it| it * (n / freedom_of_fit).sqrt()).collect();
            freedom = freedom_of_fit;
        }
        let levels = ranges.into_iter().map(|range| {
            let m = range.len();
            // A point alone is no centre: its level's is the fit.
            let centre = if m > 1 { mean(&range) } else { data[range.start].log - residuals[range.start] };
            let (deviations, freedom) = if m >= REPEATS_ENOUGH { (deviations(&range), m as f64 - 1.0) } else { (pooled.clone(), freedom) };
            (range, centre, deviations.into_iter().map(|it| it * student(freedom)).collect())
        });
        Self { levels: levels.collect() }
    }

    fn draw(&self, into: &mut [Observation], random: &mut Random) {
        for (range, centre, deviations) in &self.levels {
            for place in &mut into[range.clone()] {
                place.log = centre + deviations[random.between(0, deviations.len() as u64 - 1) as usize];
            }
        }
    }
}

/// Student's t over the normal quantile at 97.5 %, by the first terms of Cornish and Fisher.
fn student(freedom: f64) -> f64 {
    let z2 = 1.96_f64 * 1.96;
    1.0 + (z2 + 1.0) / (4.0 * freedom) + (5.0 * z2 * z2 + 16.0 * z2 + 3.0) / (96.0 * freedom * freedom)
}

fn estimate(value: f64, replicates: impl Iterator<Item = f64>) -> Estimate {
    let mut replicates: Vec<f64> = replicates.collect();
    if replicates.is_empty() {
        return Estimate { value, low: value, high: value };
    }
    replicates.sort_by(f64::total_cmp);
    let at = |share: f64| replicates[((replicates.len() - 1) as f64 * share).round() as usize];
    Estimate { value, low: at(0.025).min(value), high: at(0.975).max(value) }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::search::normal;
    use proptest::prelude::*;

    pub(crate) const LEVELS: [f64; 8] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

    /// Three repeats of `curve` at every level, with so much multiplicative noise.
    pub(crate) fn measured(curve: impl Fn(f64) -> f64, levels: &[f64], noise: f64, seed: u64) -> Vec<Point> {
        let mut random = Random::new(seed, 5);
        let point =
            |&level: &f64| Point { level, throughput: curve(level) * (noise * normal(&mut random)).exp(), generator_limited: false };
        levels.iter().flat_map(|level| [level; 3]).map(point).collect()
    }

    const RETROGRADE: Usl = Usl { lambda: 1000.0, sigma: 0.04, kappa: 0.000_4 };

    #[test]
    fn a_law_with_a_peak_is_found_with_its_peak() {
        let reading = read(&measured(|n| RETROGRADE.throughput(n), &LEVELS, 0.02, 1), 1);
        let Some(Model::Universal { peak: Some(peak), sigma, .. }) = reading.model else { panic!("{reading:?}") };
        assert!((peak.level.value / 49.0 - 1.0).abs() < 0.1, "{peak:?}");
        assert!((sigma.value - 0.04).abs() < 0.01, "{sigma:?}");
        assert_eq!(reading.refusals, []);
    }

    #[test]
    fn intervals_hold_the_true_coefficients_at_the_rate_they_promise() {
        const RUNS: u64 = 200;
        let (mut held, mut peaks) = ([0u32; 4], 0u32);
        for seed in 0..RUNS {
            let reading = read_refitted(&measured(|n| RETROGRADE.throughput(n), &LEVELS, 0.02, seed), seed, 600);
            let Some(Model::Universal { lambda, sigma, kappa, peak: Some(peak) }) = reading.model else { continue };
            peaks += 1;
            let truths = [(lambda, 1000.0), (sigma, 0.04), (kappa, 0.000_4), (peak.level, 48.99)];
            for (count, (it, truth)) in held.iter_mut().zip(truths) {
                *count += u32::from(it.low <= truth && truth <= it.high);
            }
        }
        assert!(peaks >= 180, "the law was recognised in {peaks} of {RUNS}");
        // 95 % promised; three standard errors of 200 runs are 4.6 %.
        for count in held {
            let share = f64::from(count) / f64::from(peaks);
            assert!((0.90..=0.995).contains(&share), "{held:?} of {peaks}");
        }
    }

    #[test]
    fn a_worker_pool_is_called_a_pool_of_its_size_and_gets_no_peak() {
        for seed in 0..20 {
            let reading = read(&measured(|n| n.min(8.0) / 0.01, &LEVELS, 0.02, seed), seed);
            let Some(Model::Pool { knee, capacity, .. }) = reading.model else { panic!("{seed}: {reading:?}") };
            assert!((knee.value / 8.0 - 1.0).abs() < 0.1 && (capacity.value / 800.0 - 1.0).abs() < 0.05, "{knee:?}");
            assert!(matches!(reading.refusals[..], [Refusal::NotTheLaw { pool: Some(_), .. }]), "{:?}", reading.refusals);
        }
    }

    #[test]
    fn a_pool_measured_once_with_a_bad_level_on_its_slope_is_still_a_pool() {
        // Taken on a busy machine: four workers of 20 ms.
        let measured = [(1.0, 49.0), (2.0, 98.0), (3.0, 136.0), (4.0, 188.0), (8.0, 196.2), (16.0, 196.0), (32.0, 195.9)];
        let points = measured.map(|(level, throughput)| Point { level, throughput, generator_limited: false });
        let Some(Model::Pool { knee, .. }) = read(&points, 1).model else { panic!("{:?}", read(&points, 1)) };
        assert!((3.5..4.5).contains(&knee.value), "{knee:?}");
    }

    #[test]
    fn laws_are_not_taken_for_pools() {
        for law in [RETROGRADE, Usl { kappa: 0.0, ..RETROGRADE }, Usl { sigma: 0.2, kappa: 0.0, lambda: 50.0 }] {
            let wrong = (0..20)
                .filter(|&seed| {
                    !matches!(
                        read(&measured(|n| law.throughput(n), &LEVELS, 0.02, seed), seed).model,
                        Some(Model::Universal { .. } | Model::Amdahl { .. })
                    )
                })
                .count();
            assert!(wrong <= 2, "{law:?}: {wrong} of 20");
        }
    }

    #[test]
    fn a_curve_that_only_flattens_gets_no_peak() {
        let amdahl = Usl { kappa: 0.0, ..RETROGRADE };
        let refused = (0..40)
            .filter(|&seed| {
                let reading = read(&measured(|n| amdahl.throughput(n), &LEVELS, 0.02, seed), seed);
                !matches!(reading.model, Some(Model::Universal { peak: Some(_), .. }))
            })
            .count();
        assert!(refused >= 38, "{refused} of 40");
    }

    #[test]
    fn a_straight_line_is_a_straight_line() {
        let reading = read(&measured(|n| 100.0 * n, &LEVELS, 0.02, 3), 3);
        assert!(matches!(reading.model, Some(Model::Linear { lambda }) if (lambda.value / 100.0 - 1.0).abs() < 0.02), "{reading:?}");
        assert!(matches!(reading.refusals[..], [Refusal::NoRetrograde { .. }]));
    }

    #[test]
    fn a_peak_beyond_the_levels_tested_is_only_bounded_from_below() {
        let far = Usl { lambda: 1000.0, sigma: 0.02, kappa: 0.000_2 };
        let refused = (0..20).filter(|&seed| {
            let reading = read(&measured(|n| far.throughput(n), &[1.0, 2.0, 4.0, 6.0, 8.0, 12.0, 16.0, 20.0], 0.01, seed), seed);
            !matches!(reading.model, Some(Model::Universal { peak: Some(_), .. }))
        });
        assert!(refused.count() >= 18);
    }

    #[test]
    fn a_curve_that_is_neither_law_nor_pool_gets_no_model() {
        // A cache that no longer fits halfway, and an autoscaler after it.
        let odd = |n: f64| {
            if n < 10.0 {
                100.0 * n
            } else if n < 40.0 {
                300.0
            } else {
                60.0 * n
            }
        };
        let reading = read(&measured(odd, &LEVELS, 0.02, 1), 1);
        assert_eq!(reading.model, None, "{reading:?}");
        assert!(matches!(reading.refusals[..], [Refusal::NotTheLaw { pool: None, .. }]));
    }

    #[test]
    fn levels_at_which_the_generator_was_the_limit_do_not_count() {
        let mut points = measured(|n| RETROGRADE.throughput(n), &LEVELS, 0.02, 1);
        points.iter_mut().filter(|it| it.level > 16.0).for_each(|it| it.generator_limited = true);
        let reading = read(&points, 1);
        assert_eq!(reading.left_out, [32.0, 64.0, 128.0]);
        assert_eq!(reading.refusals, [Refusal::TooFewLevels { levels: 5, spread: 16.0, left_out: 3 }]);
    }

    #[test]
    fn one_seed_gives_one_reading() {
        let points = measured(|n| RETROGRADE.throughput(n), &LEVELS, 0.02, 1);
        assert_eq!(read(&points, 9), read(&points, 9));
        assert_ne!(read(&points, 9).model, read(&points, 10).model);
    }

    #[test]
    fn the_band_holds_the_true_curve_between_and_beyond_the_levels() {
        let levels: Vec<f64> = (0..=30).map(|it| 1.18_f64.powi(it)).collect();
        let (mut inside, mut all) = (0, 0);
        for seed in 0..40 {
            for band in read_refitted(&measured(|n| RETROGRADE.throughput(n), &LEVELS, 0.02, seed), seed, 400).band(&levels) {
                let (it, truth) = (band.throughput, RETROGRADE.throughput(band.level));
                assert!(it.low <= it.value && it.value <= it.high);
                inside += u32::from(it.low <= truth && truth <= it.high);
                all += 1;
            }
        }
        assert!(all > 1_000 && f64::from(inside) > 0.88 * f64::from(all), "{inside} of {all}");
    }

    #[test]
    fn levels_without_repeats_still_get_intervals() {
        let points: Vec<Point> = measured(|n| RETROGRADE.throughput(n), &LEVELS, 0.02, 1).into_iter().step_by(3).collect();
        let reading = read(&points, 1);
        let Some(Model::Universal { sigma, .. }) = reading.model else { panic!("{reading:?}") };
        assert!(sigma.high > sigma.low * 1.05, "{sigma:?}");
    }

    #[test]
    fn points_without_sense_are_no_levels() {
        let points = [f64::NAN, 0.0, -1.0, f64::INFINITY].map(|throughput| Point { level: 1.0, throughput, generator_limited: false });
        assert!(matches!(read(&points, 1).refusals[..], [Refusal::TooFewLevels { levels: 0, .. }]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        #[test]
        fn whatever_was_measured_the_words_have_numbers_and_the_intervals_an_order(
            measured in prop::collection::vec((1u32..300, -8.0f64..16.0, 0..12u8), 0..40),
            ladder in prop::option::of((1.0f64..1e5, 0.0f64..0.5, 0.0f64..0.01)),
        ) {
            let law = ladder.map(|(lambda, sigma, kappa)| Usl { lambda, sigma, kappa });
            let points: Vec<Point> = measured
                .iter()
                .map(|&(level, log, limited)| {
                    let level = f64::from(level);
                    let throughput = law.map_or(log.exp(), |law| law.throughput(level) * (log / 100.0).exp());
                    Point { level, throughput, generator_limited: limited == 0 }
                })
                .collect();
            let reading = read_refitted(&points, 1, 60);
            for said in crate::curve_words::sentences(&reading, crate::curve_words::Pausing::Never) {
                prop_assert!(!said.contains("NaN") && !said.contains("inf"), "{said}");
            }
            for band in reading.band(&[1.0, 7.5, 300.0, 1e4]) {
                let it = band.throughput;
                prop_assert!(0.0 < it.low && it.low <= it.value && it.value <= it.high && it.high.is_finite(), "{it:?}");
            }
            prop_assert!(reading.model.is_some() || !reading.refusals.is_empty());
            for next in crate::adaptive::next_levels(&points, &reading, crate::adaptive::Reach { from: 1.0, to: 500.0 }, 4) {
                prop_assert!((1.0..=500.0).contains(&next.level) && points.iter().all(|it| it.level != next.level), "{next:?}");
            }
        }
    }
}
