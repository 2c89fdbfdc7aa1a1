//! The lines that JMeter's summariser prints while a test runs and when it is over, and its dashboard.
//!
//! Pipelines look for `summary =` and cut its columns out, so that they stand where the original puts them.
//! Format: `Summariser` and `SummariserRunningSample` of JMeter 5.6.3.

mod dashboard;
mod statistics;

pub use dashboard::{INDEX, dashboard};
pub use statistics::Statistics;

use measure::Histogram;
use plan::Nanos;

/// What was counted in a span of time.
#[derive(Debug, Clone, Default)]
pub struct Samples {
    /// Requests that ended.
    pub count: u64,
    /// Of these, failed.
    pub errors: u64,
    /// How long they took, from sent to the last byte.
    pub times: Histogram,
    /// The span.
    pub elapsed: Nanos,
}

/// Users, as JMeter counts its threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threads {
    /// There now.
    pub active: u64,
    /// There so far, those that have gone among them.
    pub started: u64,
}

impl Samples {
    /// Those of a later span too.
    pub fn add(&mut self, later: &Self) {
        self.count += later.count;
        self.errors += later.errors;
        self.times.add(&later.times);
        self.elapsed = self.elapsed.plus(later.elapsed);
    }

    /// The line of a span since the last such line, with the threads at its end; without them, the line of all so far.
    #[must_use]
    pub fn line(&self, name: &str, threads: Option<Threads>) -> String {
        let millis = |time: Option<Nanos>| time.map_or(0, |time| time.as_millis_f64() as u64);
        let secs = (self.elapsed.as_secs_f64() + 0.5) as u64;
        let rate = if self.elapsed > Nanos::ZERO {
            format!("{:>6.1}", self.count as f64 / self.elapsed.as_secs_f64())
        } else {
            "******".to_owned()
        };
        let share = if self.count > 0 { self.errors as f64 / self.count as f64 * 100.0 } else { 0.0 };
        let sign = if threads.is_some() { '+' } else { '=' };
        let mut line = format!(
            "{name} {sign} {:>6} in {:02}:{:02}:{:02} = {rate}/s Avg: {:>5} Min: {:>5} Max: {:>5} Err: {:>5} ({share:.2}%)",
            self.count,
            secs / 3600,
            secs / 60 % 60,
            secs % 60,
            (self.times.mean().unwrap_or(0.0) / 1e6) as u64,
            millis(self.times.min()),
            millis(self.times.max()),
            self.errors,
        );
        if let Some(Threads { active, started }) = threads {
            line += &format!(" Active: {active} Started: {started} Finished: {}", started.saturating_sub(active));
        }
        line + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(count: u64, errors: u64, millis: u64, secs: u64) -> Samples {
        let mut times = Histogram::new();
        times.record_many(Nanos::from_millis(millis), count);
        Samples { count, errors, times, elapsed: Nanos::from_secs(secs) }
    }

    #[test]
    fn lines_are_the_summariser_s() {
        let first = samples(340, 2, 120, 20);
        assert_eq!(
            first.line("summary", Some(Threads { active: 10, started: 10 })),
            "summary +    340 in 00:00:20 =   17.0/s Avg:   120 Min:   120 Max:   120 Err:     2 (0.59%) Active: 10 Started: 10 Finished: 0\n"
        );
        let mut all = first.clone();
        all.add(&samples(20, 0, 40, 3_640));
        assert_eq!(
            all.line("summary", None),
            "summary =    360 in 01:01:00 =    0.1/s Avg:   115 Min:    40 Max:   120 Err:     2 (0.56%)\n"
        );
        assert_eq!(
            Samples::default().line("summary", None),
            "summary =      0 in 00:00:00 = ******/s Avg:     0 Min:     0 Max:     0 Err:     0 (0.00%)\n"
        );
    }
}
