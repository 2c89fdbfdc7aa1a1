//! A server that follows the Universal Scalability Law.
//!
//! A sweep that claims to find contention, coherency and the best concurrency needs a system where they are known. In
//! closed load without pauses all N users are in flight whenever one of them arrives, so a server that takes R(N) for
//! a request that finds itself the N-th in flight delivers X(N) = N ÷ R(N), which is the law (Gunther, "Guerrilla
//! Capacity Planning", 2007). Limiting the throughput directly would need a queue, and a queue has a knee of its own.

use std::time::Duration;

/// The three coefficients of the law X(N) = λN / (1 + σ(N−1) + κN(N−1)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scalability {
    /// λ: the requests per second of a single user.
    pub lambda_per_second: f64,
    /// σ: contention, the share of the work that is serial, from 0 to 1.
    pub sigma: f64,
    /// κ: coherency, the cost of every pair that must agree.
    pub kappa: f64,
}

impl Scalability {
    /// R(N) = (1/λ)(1 + σ(N−1) + κN(N−1)): the response time when `in_flight` requests, this one included, are served.
    pub fn response_time(&self, in_flight: u64) -> Duration {
        let n = in_flight.max(1) as f64;
        let seconds = (1.0 + self.sigma * (n - 1.0) + self.kappa * n * (n - 1.0)) / self.lambda_per_second;
        Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST)
    }

    /// X(N): the throughput in requests per second with `users` users in closed load without pauses.
    pub fn throughput_per_second(&self, users: u64) -> f64 {
        let n = users as f64;
        self.lambda_per_second * n / (1.0 + self.sigma * (n - 1.0) + self.kappa * n * (n - 1.0))
    }

    /// N* = √((1−σ)/κ): the concurrency with the highest throughput; infinite without coherency cost.
    pub fn peak_users(&self) -> f64 {
        ((1.0 - self.sigma) / self.kappa).sqrt()
    }
}

/// What a response time that no clock can hold becomes.
const LONGEST: Duration = Duration::from_secs(31_536_000);

#[cfg(test)]
mod tests {
    use super::*;

    const LAW: Scalability = Scalability { lambda_per_second: 1000.0, sigma: 0.05, kappa: 0.001 };

    #[test]
    fn one_user_sees_the_reciprocal_of_lambda() {
        assert_eq!(LAW.response_time(1), Duration::from_millis(1));
        assert_eq!(LAW.response_time(0), Duration::from_millis(1));
        assert_eq!(LAW.throughput_per_second(1), 1000.0);
    }

    #[test]
    fn response_time_and_throughput_are_the_same_law() {
        for n in [1_u64, 2, 10, 31, 100, 1000] {
            let by_little = n as f64 / LAW.response_time(n).as_secs_f64();
            let ratio = by_little / LAW.throughput_per_second(n);
            assert!((ratio - 1.0).abs() < 1e-3, "{n}: {ratio}");
        }
    }

    #[test]
    fn throughput_is_highest_at_the_peak() {
        let peak = LAW.peak_users().round() as u64;
        assert_eq!(peak, 31);
        let at = |n| LAW.throughput_per_second(n);
        assert!(at(peak) > at(peak / 2) && at(peak) > at(peak * 2));
    }

    #[test]
    fn without_contention_and_coherency_throughput_is_linear() {
        let linear = Scalability { sigma: 0.0, kappa: 0.0, ..LAW };
        assert_eq!(linear.throughput_per_second(64), 64_000.0);
        assert!(linear.peak_users().is_infinite());
    }
}
