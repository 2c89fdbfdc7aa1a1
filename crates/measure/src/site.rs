//! The process and the machine that sources of load were on, as they were during the run.
//!
//! A generator that was short of a core, of time or of its quota makes its figures doubtful, wherever it ran. So each process says
//! how it went with it, and the worst of all is the run's.

use serde::{Deserialize, Serialize};

use crate::{Generator, Machine, Resolution};

/// What a process tells of itself when its sources are done.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Site {
    /// How many processes it stands for.
    pub processes: u32,
    /// When its load began: RFC 3339, UTC.
    pub started: String,
    /// The machine it was on.
    pub machine: Machine,
    /// Where the target's name led there.
    pub resolution: Resolution,
    /// What the user should know of it.
    pub warnings: Vec<String>,
    /// The share of the machine's processor time that its host gave to others; `None` where the system does not tell.
    pub steal_share: Option<f64>,
    /// The share of the periods of its quota of processor time in which it had to stop; `None` without a quota.
    pub throttled_share: Option<f64>,
    /// The share of the machine's processor time that went to programs other than loadline and the server.
    pub others_share: Option<f64>,
    /// Of the time in which the server's threads wanted a core, the share they waited for one.
    pub server_wait_share: Option<f64>,
    /// Resident memory at most, in bytes.
    pub memory_bytes_max: Option<u64>,
}

impl Site {
    /// Adds another process: the worst share of both, the memory of both, and the machine of the one that is here.
    pub fn add(&mut self, other: Self) {
        // Taken apart without `..`, so that what nobody adds does not compile.
        let Self {
            processes,
            started,
            machine,
            resolution,
            warnings,
            steal_share,
            throttled_share,
            others_share,
            server_wait_share,
            memory_bytes_max,
        } = other;
        self.processes += processes;
        if self.started.is_empty() || (!started.is_empty() && started < self.started) {
            self.started = started;
        }
        if self.machine == Machine::default() {
            self.machine = machine;
        }
        if self.resolution == Resolution::default() {
            self.resolution = resolution;
        }
        for warning in warnings {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
        for (kept, other) in [
            (&mut self.steal_share, steal_share),
            (&mut self.throttled_share, throttled_share),
            (&mut self.others_share, others_share),
            (&mut self.server_wait_share, server_wait_share),
        ] {
            *kept = [*kept, other].into_iter().flatten().reduce(f64::max);
        }
        self.memory_bytes_max = [self.memory_bytes_max, memory_bytes_max].into_iter().flatten().reduce(|a, b| a + b);
    }

    /// Puts what concerns the generator into its figures.
    pub(crate) fn complete(&self, generator: &mut Generator) {
        generator.processes = if self.processes > 1 { self.processes } else { 0 };
        generator.steal_share = self.steal_share;
        generator.throttled_share = self.throttled_share;
        generator.others_share = self.others_share;
        generator.server_wait_share = self.server_wait_share;
        generator.memory_bytes_max = self.memory_bytes_max;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_of_two_processes_counts_and_their_memory_adds_up() {
        let of = |steal, memory, warning: &str| Site {
            started: format!("2026-01-01T00:00:0{memory}Z"),
            steal_share: steal,
            memory_bytes_max: Some(memory),
            warnings: vec!["both".to_owned(), warning.to_owned()],
            ..Site::default()
        };
        let mut sum = Site::default();
        sum.add(of(Some(0.25), 2, "a"));
        sum.add(of(None, 1, "b"));
        sum.add(of(Some(0.5), 3, "a"));
        assert_eq!((sum.steal_share, sum.throttled_share, sum.memory_bytes_max), (Some(0.5), None, Some(6)));
        assert_eq!(sum.warnings, ["both", "a", "b"]);
        assert_eq!(sum.started, "2026-01-01T00:00:01Z");
    }
}
