//! Watching all that is asked for while loads are on: found before each, told after each.
//!
//! What is watched without being asked for, the process that listens on this machine, is watched if it can be found, and where it cannot
//! nobody is bothered.
//!
//! Invariant: once the load runs, nothing here ends it. What goes wrong becomes a warning of its result.

use std::time::Instant;

use measure::observed::ServerObservation;
use measure::{SummaryBuilder, Tick};
use plan::Plan;

use crate::prometheus::Endpoint;
use crate::ssh::{Program, Ssh};
use crate::{Folder, ListenerQuery, Local, NotFound, ObserveTarget, Source, Subject, Watcher};

/// What is to be watched in every run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Monitors {
    /// In this order.
    pub targets: Vec<ObserveTarget>,
    /// Of a metrics page, these only.
    pub metrics: Vec<String>,
}

/// A run that is being watched.
pub struct Monitor {
    watcher: Option<Watcher>,
    opened: Instant,
    /// When the run began, as its ticks tell: the earliest moment that any of them leads back to.
    origin: Option<Instant>,
    warnings: Vec<String>,
}

/// What cannot be watched, and why.
#[derive(Debug)]
pub struct Missing {
    /// As it was asked for.
    pub target: String,
    /// Why it is not there.
    pub why: NotFound,
}

impl Monitors {
    /// Begins to watch for a run of this plan.
    ///
    /// # Errors
    /// If something that was asked for cannot be watched.
    pub fn open(&self, plan: &Plan) -> Result<Monitor, Missing> {
        self.there(plan).map(|found| watch(found, plan))
    }

    /// Whether everything that was asked for can be watched, before many runs.
    ///
    /// # Errors
    /// If it cannot.
    pub fn check(&self, plan: &Plan) -> Result<(), Missing> {
        self.there(plan).map(drop)
    }

    /// The same where runs went before: what cannot be watched any more is a warning, and the rest is watched.
    #[must_use]
    pub fn open_again(&self, plan: &Plan) -> Monitor {
        let (found, missing) = self.look_around(plan);
        let warnings = missing.into_iter().map(|Missing { target, why }| format!("--observe {target}: {}", why.message)).collect();
        Monitor { warnings, ..watch(found, plan) }
    }

    fn there(&self, plan: &Plan) -> Result<Vec<MonitorSource>, Missing> {
        let (found, missing) = self.look_around(plan);
        missing.into_iter().next().map_or(Ok(found), Err)
    }

    /// What is there to be watched, in the order in which it was asked for, and what is not.
    fn look_around(&self, plan: &Plan) -> (Vec<MonitorSource>, Vec<Missing>) {
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        for target in &self.targets {
            match source(target, &self.metrics, plan) {
                Ok(one) => found.extend(one),
                Err(why) => missing.push(Missing { target: target.to_string(), why }),
            }
        }
        (found, missing)
    }
}

fn watch(found: Vec<MonitorSource>, plan: &Plan) -> Monitor {
    let opened = Instant::now();
    let nothing = found.is_empty();
    let watcher = found.into_iter().fold(Watcher::start(Vec::new()), |watcher, one| match one {
        MonitorSource::There(source) => watcher.and(source),
        MonitorSource::ToBeSought => {
            let plan = plan.clone();
            watcher.seeking(&ObserveTarget::Auto.to_string(), move || listener(&plan))
        }
    });
    Monitor { watcher: (!nothing).then_some(watcher), opened, origin: None, warnings: Vec::new() }
}

/// One thing to watch.
enum MonitorSource {
    There(Box<dyn Source>),
    /// Whoever listens where the load goes: it takes a while to find out, and a short run does without.
    ToBeSought,
}

impl Monitor {
    /// An interval of the run is over.
    pub fn tick(&mut self, tick: &Tick) {
        // Ticks come after their end, never before; the one that came soonest is nearest to the truth.
        let began = Instant::now().checked_sub(tick.to.into());
        self.origin = match (self.origin, began) {
            (Some(known), Some(began)) => Some(known.min(began)),
            (known, began) => known.or(began),
        };
    }

    /// The last looks at everything that is watched.
    #[must_use]
    pub fn latest(&self) -> Vec<ServerObservation> {
        self.watcher.as_ref().map_or_else(Vec::new, Watcher::latest)
    }

    /// When the run began, as far as is known.
    #[must_use]
    pub fn origin(&self) -> Instant {
        self.origin.unwrap_or(self.opened)
    }

    /// The run is over: what was seen goes into its result, concealed.
    pub fn close(self, conceal: &dyn Fn(&str) -> String, run: &mut SummaryBuilder) {
        let origin = self.origin();
        run.add_warnings(self.warnings);
        if let Some(watcher) = self.watcher {
            let mut seen = watcher.stop(origin);
            // A server that is sent a secret may count by it.
            for observed in &mut seen.observed {
                observed.about = conceal(&observed.about);
                observed.series.iter_mut().filter_map(|series| series.of.as_mut()).for_each(|of| *of = conceal(of));
            }
            run.set_observed(seen.observed);
            run.add_warnings(seen.warnings.iter().map(|warning| conceal(warning)));
        }
    }
}

/// Whoever listens where the load goes; `None` if that is elsewhere, or this process.
fn listener(plan: &Plan) -> Option<Box<dyn Source>> {
    let here = Folder::of_this_machine();
    let me = std::process::id();
    let subject = match Subject::listening(&here, ListenerQuery::of(plan)?, Some(me)) {
        // The built-in API, or a test's own server: who measures would be measured.
        Ok(subject) if subject.processes().iter().any(|process| process.pid == me) => return None,
        Ok(subject) => subject,
        Err(why) => Subject::machine(&here, &format!("only the machine: {}", why.message)),
    };
    Some(Box::new(Local::new(ObserveTarget::Auto.to_string(), subject)))
}

/// What watches it; `None` where nothing is to be watched.
fn source(asked: &ObserveTarget, metrics: &[String], plan: &Plan) -> Result<Option<MonitorSource>, NotFound> {
    let here = Folder::of_this_machine();
    let me = Some(std::process::id());
    let subject = match asked {
        ObserveTarget::None => return Ok(None),
        ObserveTarget::Auto => return Ok(Some(MonitorSource::ToBeSought)),
        ObserveTarget::Pid(pid) => Subject::of_process(&here, *pid, me)?,
        ObserveTarget::Port(port) => Subject::listening(&here, ListenerQuery::Port(*port), me)?,
        ObserveTarget::Cgroup(path) => Subject::in_cgroup(&here, path)?,
        ObserveTarget::Container(id) => Subject::container(&here, id)?,
        ObserveTarget::Prometheus(url) => return Ok(Some(MonitorSource::There(Box::new(Endpoint::open(url, metrics)?)))),
        ObserveTarget::Ssh(remote) => {
            let port = plan.connection().connect_to.as_ref().map_or(plan.target().port(), |at| at.port);
            return Ok(Some(MonitorSource::There(Box::new(Ssh::open(remote, port, &Program::default())?))));
        }
    };
    Ok(Some(MonitorSource::There(Box::new(Local::new(asked.to_string(), subject)))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn monitors(targets: &[&str]) -> Monitors {
        Monitors { targets: targets.iter().map(|target| target.parse().unwrap()).collect(), metrics: Vec::new() }
    }

    fn plan() -> Plan {
        let draft = plan::Draft { url: Some("http://127.0.0.1:9/".to_owned()), ..plan::Draft::default() };
        Plan::try_from(plan::Draft { threads: "1".parse().ok(), ..draft }).unwrap()
    }

    #[test]
    fn what_is_watched_stands_in_the_order_in_which_it_was_asked_for() {
        let me = format!("pid:{}", std::process::id());
        let sought = |observe: &[&str]| -> Vec<bool> {
            let (found, missing) = monitors(observe).look_around(&plan());
            assert!(missing.is_empty(), "{missing:?}");
            found.iter().map(|one| matches!(one, MonitorSource::ToBeSought)).collect()
        };
        assert_eq!(sought(&["auto", &me]), [true, false]);
        assert_eq!(sought(&[&me, "auto"]), [false, true]);
        assert!(sought(&["none"]).is_empty());
    }

    #[test]
    fn where_one_thing_is_gone_the_others_are_watched_all_the_same() {
        let monitors = monitors(&["pid:4194399", "auto"]);
        assert!(monitors.check(&plan()).unwrap_err().why.message.contains("there is no process 4194399"));
        let watch = monitors.open_again(&plan());
        assert!(
            watch.watcher.is_some() && watch.warnings == ["--observe pid:4194399: there is no process 4194399"],
            "{:?}",
            watch.warnings
        );
    }
}
