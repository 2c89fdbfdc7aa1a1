//! What this machine's generator can do, and what targets differ from themselves by.
//!
//! A figure of 60,000 requests a second means one thing on a machine that can send 70,000 and another on one that can send a
//! million. What the machine can do does not change from run to run, so it is measured once, and put into every later result.
//!
//! Invariant: nothing that was measured on another machine, or by another version, is ever used.

use analysis::compare;
use measure::{Machine, Summary, SummaryRecord};
use plan::{Body, Keepalive, Plan};
use serde::{Deserialize, Serialize};

use crate::calibrate::{Ceiling, LagAt};

/// The version of the calibration file.
const SCHEMA: &str = "loadline.calibration/1";
/// The null server's answers are about so large; what reads larger ones meets another ceiling.
const ANSWER_BYTES_MAX: f64 = 1_024.0;

/// Everything that is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Calibration {
    schema: String,
    machine: Machine,
    /// The most requests a second, by threads, connections and TLS.
    pub ceilings: Vec<Ceiling>,
    /// How late requests leave, by rate.
    pub lags: Vec<LagAt>,
    /// What targets differ from themselves by.
    pub noise: Vec<TargetNoise>,
}

/// What one target differs from itself by under one load.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TargetNoise {
    target: String,
    shape: String,
    measured: String,
    noise: compare::Calibration,
}

impl Calibration {
    /// Nothing known of this machine.
    #[must_use]
    pub fn empty() -> Self {
        Self { schema: SCHEMA.to_owned(), machine: engine::machine::machine(), ceilings: Vec::new(), lags: Vec::new(), noise: Vec::new() }
    }

    /// Whether it was measured on this machine by this version. How much memory is free and how many files may be open does
    /// not matter to it.
    #[must_use]
    pub fn is_of(&self, machine: &Machine) -> bool {
        let about = |machine: &Machine| (machine.loadline.clone(), machine.system.clone(), machine.processor.clone(), machine.cores);
        self.schema == SCHEMA && about(&self.machine) == about(machine)
    }

    /// Requests a second this machine could have sent in the place of this run; `None` where nothing comparable was measured:
    /// bodies, large answers and connections that are not used again cost more than what the null server was asked.
    #[must_use]
    pub fn ceiling_of(&self, run: &SummaryRecord) -> Option<f64> {
        let connections = u32::try_from(run.concurrency).unwrap_or(u32::MAX);
        is_plain(run).then(|| self.ceiling(run.generator.threads, connections, is_encrypted(&run.plan)))?
    }

    /// Requests a second this machine can send by `plan` to a server that answers as it did in `sample`.
    #[must_use]
    pub fn ceiling_for(&self, plan: &Plan, sample: &Summary) -> Option<f64> {
        is_plain(sample).then(|| self.ceiling(plan.threads().get(), plan.connections_max().get(), is_encrypted(plan)))?
    }

    /// At the nearest number of connections; between the numbers of threads that were measured, in proportion.
    fn ceiling(&self, threads: u32, connections: u32, tls: bool) -> Option<f64> {
        let far = |ceiling: &&Ceiling| (f64::from(ceiling.connections.max(1)) / f64::from(connections.max(1))).ln().abs();
        let at = |threads: u32| {
            let alike = self.ceilings.iter().filter(|ceiling| ceiling.tls == tls && ceiling.threads == threads);
            alike.min_by(|a, b| far(a).total_cmp(&far(b))).map(Ceiling::qps)
        };
        if let Some(exact) = at(threads) {
            return Some(exact);
        }
        let most = self.ceilings.iter().map(|ceiling| ceiling.threads).max().filter(|most| *most > 1 && threads <= *most)?;
        let (one, all) = (at(1)?, at(most)?);
        Some(one + (all - one) * f64::from(threads.saturating_sub(1)) / f64::from(most - 1))
    }

    /// What this target differs from itself by under this load, if it was measured.
    #[must_use]
    pub fn noise_of(&self, plan: &Plan) -> Option<&compare::Calibration> {
        let (target, shape) = (plan.target().to_string(), shape(plan));
        self.noise.iter().find(|known| known.target == target && known.shape == shape).map(|known| &known.noise)
    }

    /// Remembers it in the place of what was known.
    pub fn learn(&mut self, plan: &Plan, measured: &str, noise: compare::Calibration) {
        let (target, shape) = (plan.target().to_string(), shape(plan));
        self.noise.retain(|known| known.target != target || known.shape != shape);
        self.noise.push(TargetNoise { target, shape, measured: measured.to_owned(), noise });
    }
}

/// Whether it came from this machine, and its requests and answers cost about what those to the null server do.
fn is_plain(run: &SummaryRecord) -> bool {
    let answered: u64 = run.status.values().sum::<u64>() + run.excluded.requests;
    let plain = matches!(run.plan.request().body, Body::Empty) && run.plan.connection().keepalive == Keepalive::Reuse;
    plain && run.other_machines().next().is_none() && answered > 0 && run.bytes.received as f64 / answered as f64 <= ANSWER_BYTES_MAX
}

fn is_encrypted(plan: &Plan) -> bool {
    plan.target().scheme().is_tls()
}

/// Everything of a plan but where it leads and what is drawn by chance. Secrets are left out as in every file.
fn shape(plan: &Plan) -> String {
    let Ok(serde_json::Value::Object(mut settings)) = serde_json::to_value(plan) else { return String::new() };
    for name in ["url", "seed"] {
        settings.remove(name);
    }
    serde_json::Value::Object(settings).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calibrated() -> Calibration {
        let ceiling = |threads, connections, tls, qps_reached, cpu_share_busiest| Ceiling {
            threads,
            connections,
            tls,
            qps_reached,
            cpu_share_busiest,
        };
        Calibration {
            ceilings: vec![
                ceiling(1, 10, false, 40_000.0, 0.8),
                ceiling(1, 100, false, 60_000.0, 1.0),
                ceiling(4, 100, false, 180_000.0, 1.0),
                ceiling(1, 100, true, 20_000.0, 1.0),
            ],
            ..Calibration::empty()
        }
    }

    #[test]
    fn a_ceiling_is_that_of_the_nearest_load() {
        let kept = calibrated();
        assert_eq!(kept.ceiling(1, 12, false), Some(50_000.0), "where the server gave out, by what a request cost");
        assert_eq!(kept.ceiling(1, 5_000, false), Some(60_000.0));
        assert_eq!(kept.ceiling(2, 100, false), Some(100_000.0), "a third of the way from one thread to four");
        assert_eq!((kept.ceiling(8, 100, false), kept.ceiling(4, 100, true)), (None, None), "nothing is guessed");
    }

    #[test]
    fn a_load_from_other_machines_is_not_held_against_what_this_one_can_send() {
        let (kept, (_, mut run)) = (calibrated(), measure::fixtures::summaries().swap_remove(0));
        assert!(kept.ceiling_of(&run).is_some() && kept.ceiling_for(&run.plan, &run).is_some());
        run.edit_for_test().sites = vec![measure::fixtures::other_machine("eu-1")];
        assert!(kept.ceiling_of(&run).is_none() && kept.ceiling_for(&run.plan, &run).is_none());
    }

    #[test]
    fn another_machine_or_version_is_not_this_one() {
        let kept = calibrated();
        let here = engine::machine::machine();
        assert!(kept.is_of(&here) && kept.is_of(&Machine { files_max: 1, memory_bytes: 1, ..here.clone() }));
        assert!(!kept.is_of(&Machine { cores: here.cores + 1, ..here.clone() }));
        assert!(!kept.is_of(&Machine { loadline: "loadline 99".to_owned(), ..here }));
    }
}
