//! Test plans of JMeter, by JMeter and by loadline: what a request costs each of them.
//!
//! A virtual machine takes seconds of processor time before the first request, and a team that runs a test for an hour does not care. So each
//! turn is two runs of the same plan, one of a single iteration and one for its time, and what is compared is the difference.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use tempfile::TempDir;

use crate::launch::{Usage, run_on};
use crate::tool::peer;

/// Who runs a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Jmeter,
    Loadline,
}

/// Plans, with what they are called on the page, and how often loadline's processor time a request may be of JMeter's.
pub(crate) const PLANS: [(&str, &str, f64); 2] = [
    ("one.jmx", "a plan of one GET", 0.05),
    ("ten.jmx", "a plan of ten samplers with a CSV file, two JSON extractors, three assertions, think times and a transaction", 0.10),
];

/// What was measured, round by round.
#[derive(Debug, Clone, Default)]
pub struct Plans {
    /// Processor time a request, of JMeter's, by plan; empty where JMeter is not installed.
    pub of_jmeter: [Vec<f64>; 2],
    /// Processor time a request with JMeter, in microseconds, by plan.
    pub jmeter_us: [Vec<f64>; 2],
    /// Peak resident memory with very many threads, in bytes.
    pub many_bytes: Vec<f64>,
}

/// Runs of plans against one server.
pub(crate) struct Runs<'a> {
    pub loadline: &'a Path,
    pub core: usize,
    pub port: u16,
    /// Threads of a plan.
    pub users: u32,
    pub seconds: u32,
}

/// JMeter's launcher, as `scripts/peers.sh` puts it beside this program; `None` where it did not.
fn jmeter() -> Option<PathBuf> {
    peer("jmeter/bin/ApacheJMeter.jar")
}

/// How many samples the last line of a summariser tells.
fn samples(said: &str) -> Result<u64> {
    let line = said.lines().rev().find(|line| line.starts_with("summary =")).context("no line 'summary ='")?;
    Ok(line.trim_start_matches("summary =").split_whitespace().next().context("no count in it")?.parse()?)
}

impl Runs<'_> {
    /// Every plan by both in turns.
    ///
    /// # Errors
    /// If a run fails, or does not say how many samples there were.
    pub fn measure(&self, rounds: usize, many: u32) -> Result<Plans> {
        let dir = tempfile::tempdir()?;
        let mut plans = Plans::default();
        for (name, ..) in PLANS.iter().chain(&[("items.csv", "", 0.0)]) {
            std::fs::copy(format!("{}/plans/{name}", env!("CARGO_MANIFEST_DIR")), dir.path().join(name))?;
        }
        let jmeter = jmeter();
        for round in 0..rounds {
            for (place, (plan, ..)) in PLANS.iter().enumerate() {
                let Some(jar) = &jmeter else { continue };
                let turns = if round % 2 == 0 { [By::Jmeter, By::Loadline] } else { [By::Loadline, By::Jmeter] };
                let mut us = [0.0; 2];
                for by in turns {
                    us[by as usize] = self.us_a_request(by, jar, plan, &dir)?;
                }
                let [theirs, ours] = us;
                plans.of_jmeter[place].push(ours / theirs);
                plans.jmeter_us[place].push(theirs);
                eprintln!("{plan}, round {}: {theirs:.1} µs a request with JMeter, and {ours:.1} µs with loadline", round + 1);
            }
            let (usage, _) = self.run(By::Loadline, Path::new(""), "one.jmx", (many, -1), &dir)?;
            plans.many_bytes.push(usage.memory_bytes_max as f64);
        }
        Ok(plans)
    }

    /// Processor time a request, without the start.
    fn us_a_request(&self, by: By, jar: &Path, plan: &str, dir: &TempDir) -> Result<f64> {
        let (start, first) = self.run(by, jar, plan, (1, 1), dir)?;
        let (usage, all) = self.run(by, jar, plan, (self.users, -1), dir)?;
        Ok((usage.cpu_us - start.cpu_us) as f64 / (all.saturating_sub(first)).max(1) as f64)
    }

    /// What a run took, and its samples.
    fn run(&self, by: By, jar: &Path, plan: &str, (users, loops): (u32, i32), dir: &TempDir) -> Result<(Usage, u64)> {
        let file = |name: &str| dir.path().join(name).display().to_string();
        let program = match by {
            By::Jmeter => format!("java -jar {}", jar.display()),
            By::Loadline => format!("{} jmeter", self.loadline.display()),
        };
        let command = format!(
            "{program} -n -t {} -j {} -Jport={} -Jusers={users} -Jloops={loops} -Jseconds={}",
            file(plan),
            file("jmeter.log"),
            self.port,
            self.seconds
        );
        let command: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let ran = run_on(self.core, &command)?;
        let samples = samples(&ran.stdout).with_context(|| format!("{}{}", ran.stdout, ran.stderr))?;
        Ok((ran.usage, samples))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_those_of_the_last_line() {
        let said = "summary +    340 in 00:00:20 =   17.0/s\nsummary =    340 in 00:00:20 =   17.0/s\nsummary =   1204 in 00:01:00 =   20.1/s Avg: 1\n... end of run\n";
        assert_eq!(samples(said).unwrap(), 1204);
        assert!(samples("... end of run").is_err());
    }
}
