//! Runs and comparisons with known truth, drawn from a seed: what the statistics are held against.
//!
//! An interval that says 95 % can be checked only where the truth is known, and only over hundreds of runs. The tests ask
//! for few of them, the page of proofs for many; both ask here, so that the page shows what the tests assert.

#[cfg(test)]
use measure::Tick;
use measure::{Histogram, QUANTILES, SparseHistogram};
use plan::{Nanos, Random};

use crate::compare::{Margins, Metric, Need, PAIRS_MIN, PAIRS_MOST, Values, Verdict, Verdicts, paired};
use crate::distribution::normal_quantile;
#[cfg(test)]
use crate::interval::slices_between;
use crate::interval::{Evidence, Interval, Slice, uncertainty};
use crate::proportion::Share;

/// A standard normal draw (Box and Muller).
pub fn normal(random: &mut Random) -> f64 {
    (2.0 * random.exponential()).sqrt() * (std::f64::consts::TAU * random.unit()).cos()
}

/// A run whose level wanders: log level x_k = ρ·x_(k−1) + ε with deviation `wander`, and log-normal times of deviation
/// `spread` around it, the median at a millisecond. Throughput is the lower the higher the level.
#[derive(Debug, Clone, Copy)]
pub struct Wandering {
    /// How long, in intervals of a second.
    pub seconds: usize,
    /// Response times in each.
    pub per_second: u64,
    /// ρ: how much a second resembles the one before.
    pub correlation: f64,
    /// The deviation of the log level from second to second.
    pub wander: f64,
    /// The deviation of log times within a second.
    pub spread: f64,
}

impl Wandering {
    /// The true quantile in nanoseconds, of which the normal quantile is `z`.
    #[must_use]
    pub fn truth(&self, z: f64) -> f64 {
        1e6 * (z * self.wander.hypot(self.spread)).exp()
    }

    /// One such run, its times scaled by `factor`.
    #[must_use]
    pub fn draw(&self, factor: f64, random: &mut Random) -> Vec<Slice> {
        let mut level = normal(random) * self.wander;
        let fresh = self.wander * (1.0 - self.correlation * self.correlation).sqrt();
        (0..self.seconds)
            .map(|second| {
                let mut times = Histogram::new();
                for _ in 0..self.per_second {
                    let log = normal(random).mul_add(self.spread, level);
                    times.record(Nanos((1e6 * factor * log.exp()) as u64));
                }
                let answered = (self.per_second as f64 * (1.0 - level).max(0.1)).round() as u64;
                level = self.correlation.mul_add(level, fresh * normal(random));
                Slice {
                    from: Nanos::from_secs(second as u64),
                    seconds: 1.0,
                    answered,
                    ended: self.per_second,
                    bad: 0,
                    times: SparseHistogram::from(&times),
                }
            })
            .collect()
    }
}

/// How often intervals held the truth.
#[derive(Debug, Clone, PartialEq)]
pub struct Coverage {
    /// Of each of [`QUANTILES`] of the response time, counted over the runs long enough for it.
    pub quantiles: Vec<(f64, Share)>,
    /// Of answers a second.
    pub throughput: Share,
    /// Runs of which it is told that their intervals are too narrow.
    pub told: Share,
    /// Runs whose interval of the median missed the truth, and of which that is not told.
    pub silent: Share,
}

impl Coverage {
    /// That of a quantile; nothing of nothing if it is not among [`QUANTILES`].
    #[must_use]
    pub fn of(&self, q: f64) -> Share {
        self.quantiles.iter().find(|(known, _)| *known == q).map_or(Share { hits: 0, of: 0 }, |(_, share)| *share)
    }
}

/// Draws `runs` runs and looks how often the intervals hold the truth. Runs too short for a figure do not count for it.
#[must_use]
pub fn coverage(of: Wandering, runs: u64, replicates: usize, seed: u64) -> Coverage {
    let nothing = Share { hits: 0, of: 0 };
    let mut covered =
        Coverage { quantiles: QUANTILES.iter().map(|q| (*q, nothing)).collect(), throughput: nothing, told: nothing, silent: nothing };
    let count = |share: &mut Share, interval: Interval, truth: f64| {
        share.of += 1;
        share.hits += u64::from(interval.contains(truth));
    };
    for run in 0..runs {
        let mut random = Random::new(seed, run);
        let got = uncertainty(&of.draw(1.0, &mut random), replicates, &mut random);
        for (quantile, (q, share)) in got.quantiles.iter().zip(&mut covered.quantiles) {
            if let Evidence::Known { figure, .. } = quantile.evidence {
                count(share, figure.interval, of.truth(normal_quantile(*q)));
            }
        }
        if let Some(figure) = got.qps {
            count(&mut covered.throughput, figure.interval, of.per_second as f64);
        }
        let told = got.too_narrow.is_some();
        let missed = match got.quantiles[0].evidence {
            Evidence::Known { figure, .. } => !figure.interval.contains(of.truth(0.0)),
            Evidence::NotEnough { .. } => false,
        };
        covered.told = Share { hits: covered.told.hits + u64::from(told), of: run + 1 };
        covered.silent = Share { hits: covered.silent.hits + u64::from(missed && !told), of: run + 1 };
    }
    covered
}

/// How pairs of runs vary.
#[derive(Debug, Clone, Copy)]
pub struct Pairs {
    /// How many pairs in a comparison; `None` for as many as the noise of the first ones asks for.
    pub count: Option<usize>,
    /// The deviation of a pair's log ratio, for every metric by itself; of the failure share, 0.0003 whatever it is.
    pub noise: f64,
    /// By how much the machine gets slower from pair to pair, both sides alike.
    pub drift: f64,
    /// The share of runs that a neighbour disturbed: they vary ten times as much.
    pub disturbed: f64,
}

impl Pairs {
    /// So many that vary so much, on a machine of its own.
    #[must_use]
    pub const fn of(count: usize, noise: f64) -> Self {
        Self { count: Some(count), noise, drift: 0.0, disturbed: 0.0 }
    }

    /// Pairs in which B's metrics are changed by `change`: a ratio less one, of the failure share a difference. Where their number is
    /// not given, as many as a comparison ever measures unasked.
    pub fn draw(&self, change: impl Fn(Metric) -> f64, random: &mut Random) -> Vec<(Values, Values)> {
        let side = |slower: f64, change: &dyn Fn(Metric) -> f64, random: &mut Random| -> Values {
            let value = |metric: Metric, random: &mut Random| {
                let disturbed = self.disturbed > 0.0 && random.unit() < self.disturbed;
                let noise = if disturbed { 10.0 * self.noise } else { self.noise };
                match metric {
                    // The usual share is a hundredth.
                    Metric::FailureShare => (0.01 + change(metric) + 0.0002 * normal(random)).max(0.0),
                    _ => 1e6 * slower * (1.0 + change(metric)) * (noise * normal(random) / std::f64::consts::SQRT_2).exp(),
                }
            };
            Metric::ALL.into_iter().map(|metric| (metric, value(metric, random))).collect()
        };
        (0..self.count.unwrap_or(PAIRS_MOST))
            .map(|pair| {
                let slower = 1.0 + self.drift * pair as f64;
                let a = side(slower, &|_| 0.0, random);
                (a, side(slower, &change, random))
            })
            .collect()
    }

    /// Compares `comparisons` times a target with itself: how often any figure, or the whole, was *worse* or *better*.
    #[must_use]
    pub fn false_alarms(&self, comparisons: u64, margins: &Margins, seed: u64) -> Share {
        let alarm = |verdict: Verdict| matches!(verdict, Verdict::Worse | Verdict::Better);
        self.share(
            comparisons,
            margins,
            seed,
            |_| 0.0,
            |comparison| alarm(comparison.verdict) || comparison.changes.iter().any(|change| alarm(change.verdict)),
        )
    }

    /// Compares `comparisons` times with one metric changed: how often that metric was *worse*, and the whole too if the metric decides.
    #[must_use]
    pub fn power(&self, metric: Metric, change: f64, comparisons: u64, margins: &Margins, seed: u64) -> Share {
        let changed = |of: Metric| if of == metric { change } else { 0.0 };
        self.share(comparisons, margins, seed, changed, |comparison| {
            let seen = |change: &crate::compare::Change| change.metric == metric && change.verdict == Verdict::Worse;
            (comparison.verdict == Verdict::Worse || !metric.is_primary()) && comparison.changes.iter().any(seen)
        })
    }

    /// Compares `comparisons` times with all figures changed by 4 %: how many of their intervals held that, counted over all figures
    /// that are compared as ratios.
    #[must_use]
    pub fn coverage(&self, comparisons: u64, seed: u64) -> Share {
        const CHANGE: f64 = 0.04;
        let margins = Margins::default();
        let mut covered = Share { hits: 0, of: 0 };
        for run in 0..comparisons {
            let changed = |metric: Metric| if metric == Metric::FailureShare { 0.0 } else { CHANGE };
            let comparison = self.compared(changed, &margins, &mut Random::new(seed, run));
            let ratios = comparison.changes.iter().filter(|change| change.metric != Metric::FailureShare);
            for interval in ratios.filter_map(|change| change.interval) {
                covered.of += 1;
                covered.hits += u64::from(interval.contains(CHANGE));
            }
        }
        covered
    }

    /// How many pairs a comparison measures on average; `comparisons` are looked at.
    #[must_use]
    pub fn mean_count(&self, comparisons: u64, seed: u64) -> f64 {
        let one = |run| self.drawn(|_| 0.0, &Margins::default(), &mut Random::new(seed, run)).len() as f64;
        (0..comparisons).map(one).sum::<f64>() / comparisons.max(1) as f64
    }

    /// As many pairs as are measured.
    fn drawn(&self, change: impl Fn(Metric) -> f64, margins: &Margins, random: &mut Random) -> Vec<(Values, Values)> {
        let mut pairs = self.draw(change, random);
        if let Some(need) = Need::of(&pairs[..PAIRS_MIN.min(pairs.len())], margins).filter(|_| self.count.is_none()) {
            pairs.truncate(need.pairs);
        }
        pairs
    }

    fn compared(&self, change: impl Fn(Metric) -> f64, margins: &Margins, random: &mut Random) -> Verdicts {
        paired(&self.drawn(change, margins, random), margins)
    }

    fn share(
        &self,
        comparisons: u64,
        margins: &Margins,
        seed: u64,
        change: impl Fn(Metric) -> f64,
        hit: impl Fn(&Verdicts) -> bool,
    ) -> Share {
        let hits = (0..comparisons).filter(|run| hit(&self.compared(&change, margins, &mut Random::new(seed, *run)))).count() as u64;
        Share { hits, of: comparisons }
    }
}

/// Ticks of a second with `per_second` log-normal times around a millisecond times `factor` of that second.
#[cfg(test)]
pub(crate) fn ticks(seconds: u64, per_second: u64, seed: u64, factor: impl Fn(u64) -> f64) -> Vec<Tick> {
    let mut random = Random::new(seed, 5);
    (0..seconds)
        .map(|second| {
            let mut times = Histogram::new();
            for _ in 0..per_second {
                times.record(Nanos((1e6 * factor(second) * (0.3 * normal(&mut random)).exp()) as u64));
            }
            Tick {
                from: Nanos::from_secs(second),
                to: Nanos::from_secs(second + 1),
                warmup: false,
                answered: per_second + random.between(0, 4),
                due: per_second,
                succeeded: per_second,
                failed: 0,
                failures: std::collections::BTreeMap::new(),
                unsent: 0,
                bytes_sent: 0,
                bytes_received: 0,
                in_flight: 0,
                connections: 1,
                cpu: Nanos::ZERO,
                lag_max: Nanos::ZERO,
                response_time: times.pack(),
                journeys: None,
                streams: None,
            }
        })
        .collect()
}

/// The same as slices.
#[cfg(test)]
pub(crate) fn sliced(seconds: u64, per_second: u64, seed: u64, factor: impl Fn(u64) -> f64) -> Vec<Slice> {
    slices_between(&ticks(seconds, per_second, seed, factor), Nanos::ZERO, Nanos::NEVER).expect("ticks unpack what they packed")
}
