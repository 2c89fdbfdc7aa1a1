//! Ten servers whose capacity follows from arithmetic, each as a model and as a real server's behaviour.
//!
//! What a rate has to keep is a promise, so the capacity is where the promise is just kept in the long run: of a pool of
//! workers, somewhat below workers ÷ service time, because arrivals at random queue. The truth about the real server comes
//! from the testbed's own arithmetic, run in virtual time over a million arrivals: same queue, same limiter, same breakdown.
//! What the machine's network adds to each answer, some tenths of a millisecond, is small beside the times promised.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZeroU32;
use std::time::Duration;

use analysis::search::model::{Server, Service, Temper, promises};
use plan::{Arrivals, Nanos, Rate, Share, Spacing, Timetable};
use testbed::{Breakdown, Distribution, Health, RateLimit, Window, Workers};

use crate::seeds;

/// What it does with more than it can take.
#[derive(Debug, Clone, Copy)]
enum Beyond {
    /// Lets it wait.
    Waits,
    /// Refuses more than so many a second.
    Refuses(u32),
    /// Refuses everything for five seconds once so many are in flight.
    Breaks(u32),
}

/// A server about which the truth is known.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// What it is called.
    pub name: &'static str,
    workers: u32,
    service_ms: u64,
    exponential: bool,
    beyond: Beyond,
    /// Promised at p99.
    limit_ms: u64,
}

const fn pool(name: &'static str, workers: u32, service_ms: u64, limit_ms: u64) -> Known {
    Known { name, workers, service_ms, exponential: false, beyond: Beyond::Waits, limit_ms }
}

/// The ten.
pub const SERVERS: [Known; 10] = [
    pool("1 worker, 2 ms", 1, 2, 50),
    Known { exponential: true, ..pool("1 worker, 5 ms exponential", 1, 5, 100) },
    Known { exponential: true, ..pool("1 worker, 20 ms exponential", 1, 20, 200) },
    pool("8 workers, 20 ms", 8, 20, 100),
    Known { exponential: true, ..pool("8 workers, 5 ms exponential", 8, 5, 50) },
    Known { exponential: true, ..pool("8 workers, 10 ms exponential", 8, 10, 200) },
    pool("64 workers, 20 ms", 64, 20, 100),
    Known { exponential: true, ..pool("64 workers, 20 ms exponential", 64, 20, 200) },
    Known { beyond: Beyond::Refuses(1000), ..pool("1000/s and no more", 64, 2, 50) },
    Known { exponential: true, beyond: Beyond::Breaks(400), ..pool("breaks for 5 s above 400 in flight", 8, 5, 100) },
];

/// So many show a capacity to some tenths of a per cent.
const TRUTH_REQUESTS: f64 = 1_000_000.0;
const BREAKS_FOR: Duration = Duration::from_secs(5);
/// Of the promise `failed < 0.1%`.
const FAILED_MAX: f64 = 0.001;
/// Of `p99`.
const LATE_MAX: f64 = 0.01;

impl Known {
    /// What `/behave` is asked for, so that it behaves so.
    #[must_use]
    pub fn query(&self) -> String {
        let kind = if self.exponential { "exp:" } else { "" };
        let pool = format!("pool={}:{kind}{}ms", self.workers, self.service_ms);
        match self.beyond {
            Beyond::Waits => pool,
            Beyond::Refuses(rate) => format!("{pool}&limit={rate}"),
            Beyond::Breaks(above) => format!("{pool}&breaks={above}:{}s", BREAKS_FOR.as_secs()),
        }
    }

    /// What is promised of it, as `--slo` takes it.
    #[must_use]
    pub fn promises(&self) -> [String; 2] {
        [format!("p99 < {}ms", self.limit_ms), "failed < 0.1%".to_owned()]
    }

    /// The same server as a model. Its limiter is a bucket of a twentieth of a second, and it breaks by waiting time.
    #[must_use]
    pub fn model(&self) -> Server {
        let mean = self.service_ms as f64 / 1e3;
        let service = if self.exponential { Service::Exponential(mean) } else { Service::Fixed(mean) };
        let temper = match self.beyond {
            Beyond::Waits => Temper::Plain,
            Beyond::Refuses(rate) => Temper::Limited { rate: f64::from(rate), burst: f64::from(rate) / 20.0 },
            Beyond::Breaks(_) => Temper::Brittle,
        };
        Server::new(self.name, self.workers as usize, service, temper, self.limit_ms as f64 / 1e3)
    }

    /// The highest rate at which the model keeps its promises in the long run, requests a second. Where nobody is turned away, both are
    /// the same queue.
    #[must_use]
    pub fn model_truth(&self) -> f64 {
        let model = self.model();
        match self.beyond {
            Beyond::Waits => self.truth(),
            _ => model.true_capacity(&promises(model.limit_s), TRUTH_REQUESTS),
        }
    }

    /// The highest rate at which the real server keeps its promises in the long run, requests a second.
    #[must_use]
    pub fn truth(&self) -> f64 {
        let most = match self.beyond {
            Beyond::Refuses(rate) => f64::from(rate),
            _ => f64::from(self.workers) * 1e3 / self.service_ms as f64,
        };
        let (mut low, mut high) = (most * 0.05, most * 1.1);
        for _ in 0..12 {
            let middle = f64::midpoint(low, high);
            if self.keeps(middle) { low = middle } else { high = middle }
        }
        f64::midpoint(low, high)
    }

    /// Whether both promises are kept at this rate, over many requests.
    fn keeps(&self, rate: f64) -> bool {
        let span = Nanos((TRUTH_REQUESTS / rate * 1e9) as u64);
        let timetable = Timetable::constant(Rate::per_second(rate).expect("a rate above zero"), span);
        let arrivals = Arrivals::new(timetable, Spacing::Poisson, seeds::TRUTHS, None, Share::WHOLE);
        let mean = Duration::from_millis(self.service_ms);
        let service = if self.exponential { Distribution::Exponential { mean } } else { Distribution::Fixed(mean) };
        let mut workers = Workers::idle(NonZeroU32::new(self.workers).expect("a worker at least"));
        let (mut window, mut health) = (Window::default(), Health::default());
        let mut in_flight: BinaryHeap<Reverse<Duration>> = BinaryHeap::new();
        let limit = Duration::from_millis(self.limit_ms);
        let (mut all, mut late, mut failed) = (0u64, 0u64, 0u64);
        for (number, at) in arrivals.enumerate() {
            let at = Duration::from_nanos(at.0);
            while in_flight.peek().is_some_and(|done| done.0 <= at) {
                in_flight.pop();
            }
            all += 1;
            let turned_away = match self.beyond {
                Beyond::Waits => false,
                Beyond::Refuses(rate) => {
                    window.admit(RateLimit { per_second: NonZeroU32::new(rate).expect("a rate above zero") }, at).is_err()
                }
                Beyond::Breaks(above) => {
                    let breakdown = Breakdown { above: NonZeroU32::new(above).expect("above zero"), lasts: BREAKS_FOR };
                    health.admit(breakdown, at, in_flight.len() as u64 + 1).is_err()
                }
            };
            if turned_away {
                failed += 1;
                continue;
            }
            let done = workers.admit(at, service.sample(seeds::TRUTHS, number as u64));
            in_flight.push(Reverse(done));
            late += u64::from(done - at > limit);
        }
        failed as f64 <= all as f64 * FAILED_MAX && (late + failed) as f64 <= all as f64 * LATE_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_truth_is_what_queueing_theory_says() {
        // M/M/1: p99 of the time in the system is ln(100) / (μ − λ).
        let queue = Known { exponential: true, ..pool("", 1, 5, 100) };
        let exact = 200.0 - 100f64.ln() / 0.1;
        assert!((queue.truth() / exact - 1.0).abs() < 0.01, "{} against {exact}", queue.truth());
    }

    #[test]
    fn the_model_and_the_real_server_have_one_truth() {
        for known in &SERVERS[..3] {
            let model = known.model();
            let of_model = model.true_capacity(&promises(model.limit_s), TRUTH_REQUESTS);
            // Late requests come in clusters: of a million, some hundreds.
            assert!((known.truth() / of_model - 1.0).abs() < 0.025, "{}: {} against {of_model}", known.name, known.truth());
        }
    }

    #[test]
    fn every_server_is_one_that_the_testbed_understands() {
        for known in SERVERS {
            assert!(known.query().parse::<testbed::Behaviour>().is_ok(), "{}", known.query());
        }
    }
}
