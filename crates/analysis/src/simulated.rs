//! Runs with known truth, drawn from a seed: what the tests of the statistics are held against.

use measure::{Histogram, Tick};
use plan::{Nanos, Random};

use crate::interval::{Slice, slices_between};
use crate::sparse::Sparse;

/// A standard normal draw (Box and Muller).
pub(crate) fn normal(random: &mut Random) -> f64 {
    (2.0 * random.exponential()).sqrt() * (std::f64::consts::TAU * random.unit()).cos()
}

/// A run whose level wanders: log level x_k = ρ·x_(k−1) + ε with deviation `wander`, and log-normal times of deviation
/// `spread` around it, the median at a millisecond.
#[derive(Clone, Copy)]
pub(crate) struct Wandering {
    pub(crate) seconds: usize,
    pub(crate) per_second: u64,
    pub(crate) correlation: f64,
    pub(crate) wander: f64,
    pub(crate) spread: f64,
}

impl Wandering {
    /// The true quantile in nanoseconds, of which the normal quantile is `z`.
    pub(crate) fn truth(&self, z: f64) -> f64 {
        1e6 * (z * self.wander.hypot(self.spread)).exp()
    }

    /// Times scaled by `factor`.
    pub(crate) fn draw(&self, factor: f64, random: &mut Random) -> Vec<Slice> {
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
                    times: Sparse::from(&times),
                }
            })
            .collect()
    }
}

/// Ticks of a second with `per_second` log-normal times around a millisecond times `factor` of that second.
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
                unsent: 0,
                bytes_sent: 0,
                bytes_received: 0,
                in_flight: 0,
                connections: 1,
                cpu: Nanos::ZERO,
                lag_max: Nanos::ZERO,
                response_time: times.pack(),
            }
        })
        .collect()
}

/// The same as slices.
pub(crate) fn sliced(seconds: u64, per_second: u64, seed: u64, factor: impl Fn(u64) -> f64) -> Vec<Slice> {
    slices_between(&ticks(seconds, per_second, seed, factor), Nanos::ZERO, Nanos::NEVER).expect("ticks unpack what they packed")
}
