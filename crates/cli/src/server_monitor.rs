//! Watching the server's side while a load is on it: the flags, and what is watched for each run.
//!
//! Whoever names something to watch means it: if it is not there, nothing is sent.

use analysis::server_side::Now;
use clap::{ArgAction, Args};
use measure::SummaryBuilder;
use observe::{Missing, Monitor, Monitors, ObserveTarget};
use plan::{Plan, PlanError, PlanErrors};
use resolve::KnownSecrets;

use crate::exit::{Exit, Failed};

/// What of the server's side is watched.
#[derive(Debug, Clone, Default, Args)]
pub struct ObserveArgs {
    /// Watch the server's side as well: auto (who listens, if that is this machine), none, pid:N, port:N, cgroup:PATH, container:ID, prometheus:URL, ssh:USER@HOST (repeatable) [default: auto]
    #[arg(long, value_name = "WHAT", action = ArgAction::Append, help_heading = "Server's side")]
    observe: Vec<String>,

    /// Of a metrics page, keep these only: a name such as go_goroutines, with * for any letters (repeatable)
    #[arg(long, value_name = "NAME", action = ArgAction::Append, help_heading = "Server's side")]
    metric: Vec<String>,
}

/// What is to be watched in every run.
#[derive(Debug, Clone)]
pub struct ServerMonitors {
    monitors: Monitors,
    /// What is left out of what is seen.
    known: KnownSecrets,
}

impl ObserveArgs {
    /// Reads what is asked for. Every mistake goes to `errors`.
    pub fn decide(self, known: &KnownSecrets, errors: &mut PlanErrors) -> ServerMonitors {
        let mut asked = Vec::new();
        // Whoever forgets the word before it has given the password all the same.
        let page = |text: &&String| text.starts_with("prometheus:") || text.starts_with("http");
        self.observe
            .iter()
            .filter(page)
            .map(|text| text.strip_prefix("prometheus:").unwrap_or(text))
            .for_each(|address| known.learn_address(address));
        for text in &self.observe {
            match text.parse::<ObserveTarget>() {
                Ok(one) if asked.contains(&one) => {}
                Ok(one) => asked.push(one),
                Err(why) => errors.push(PlanError::new("observe", format!("--observe: {why}"), format!("give one of {}", observe::FORMS))),
            }
        }
        if asked.contains(&ObserveTarget::None) && asked.len() > 1 {
            errors.push(PlanError::new(
                "observe",
                "--observe none stands beside something to watch",
                "leave none out; only what is asked for is watched",
            ));
        }
        if !self.metric.is_empty() && !asked.iter().any(|one| matches!(one, ObserveTarget::Prometheus(_))) {
            errors.push(PlanError::new(
                "metric",
                "--metric is of a metrics page, and none is watched",
                "name it with --observe prometheus:URL",
            ));
        }
        if asked.is_empty() {
            asked.push(ObserveTarget::Auto);
        }
        ServerMonitors { monitors: Monitors { targets: asked, metrics: self.metric }, known: known.clone() }
    }
}

/// A run that is being watched.
pub struct ServerMonitor {
    pub monitor: Monitor,
    known: KnownSecrets,
}

impl ServerMonitors {
    /// Nothing is watched.
    pub fn closed() -> Self {
        Self { monitors: Monitors::default(), known: KnownSecrets::default() }
    }

    /// Whoever listens where the load goes.
    pub fn auto(known: &KnownSecrets) -> Self {
        Self { monitors: Monitors { targets: vec![ObserveTarget::Auto], metrics: Vec::new() }, known: known.clone() }
    }

    /// The same, with these secrets left out of what is seen.
    pub fn leaving_out(self, known: &KnownSecrets) -> Self {
        Self { known: known.clone(), ..self }
    }

    /// Begins to watch for a run of this plan.
    ///
    /// # Errors
    /// If something that was asked for cannot be watched.
    pub fn open(&self, plan: &Plan) -> Result<ServerMonitor, Failed> {
        self.monitors.open(plan).map(|monitor| self.of(monitor)).map_err(missing)
    }

    /// Whether everything that was asked for can be watched, before many runs.
    ///
    /// # Errors
    /// If it cannot.
    pub fn check(&self, plan: &Plan) -> Result<(), Failed> {
        self.monitors.check(plan).map_err(missing)
    }

    /// The same where runs went before: what cannot be watched any more is a warning, and the rest is watched.
    pub fn open_again(&self, plan: &Plan) -> ServerMonitor {
        self.of(self.monitors.open_again(plan))
    }

    fn of(&self, monitor: Monitor) -> ServerMonitor {
        ServerMonitor { monitor, known: self.known.clone() }
    }
}

fn missing(Missing { target, why }: Missing) -> Failed {
    Failed::new(Exit::Usage, format_args!("--observe {target}: {}", why.message), why.help)
}

impl ServerMonitor {
    /// What the server did a moment ago, if it has been seen.
    pub fn now(&self) -> Option<Now> {
        Now::of(&self.monitor.latest())
    }

    /// The run is over: what was seen goes into its result.
    pub fn close(self, run: &mut SummaryBuilder) {
        self.monitor.close(&|text| self.known.conceal(text), run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(observe: &[&str], metric: &[&str]) -> Result<ServerMonitors, String> {
        let all = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let mut errors = PlanErrors::default();
        let eyes = ObserveArgs { observe: all(observe), metric: all(metric) }.decide(&KnownSecrets::default(), &mut errors);
        if errors.is_empty() { Ok(eyes) } else { Err(errors.spelt(plan::Spelling::Flags)) }
    }

    #[test]
    fn without_a_word_whoever_listens_is_watched() {
        assert_eq!(decided(&[], &[]).unwrap().monitors.targets, [ObserveTarget::Auto]);
        assert_eq!(decided(&["pid:7", "auto", "pid:7"], &[]).unwrap().monitors.targets, [ObserveTarget::Pid(7), ObserveTarget::Auto]);
    }

    #[test]
    fn every_mistake_is_told() {
        let told = decided(&["none", "pid:x", "nobody"], &["go_*"]).unwrap_err();
        for said in ["no process number", "'nobody' is not one of", "--metric"] {
            assert!(told.contains(said), "{said}: {told}");
        }
        assert!(decided(&["none", "auto"], &[]).unwrap_err().contains("beside something to watch"));
    }
}
