//! Watching the server's side while a load is on it: the flags, and what is watched for each run.
//!
//! Whoever names something to watch means it: if it is not there, nothing is sent. What is watched without being asked for, the
//! process that listens on this machine, is watched if it can be found, and where it cannot nobody is bothered.
//!
//! Invariant: once the load runs, nothing here ends it. What goes wrong becomes a warning of its result.

use std::time::Instant;

use analysis::server_side::Now;
use clap::{ArgAction, Args};
use measure::{SummaryBuilder, Tick};
use observe::prometheus::Endpoint;
use observe::ssh::{Program, Ssh};
use observe::{Folder, ListenerQuery, Local, NotFound, ObserveTarget, Source, Subject, Watcher};
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
    asked: Vec<ObserveTarget>,
    metrics: Vec<String>,
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
        ServerMonitors { asked, metrics: self.metric, known: known.clone() }
    }
}

/// A run that is being watched.
pub struct ServerMonitor {
    watcher: Option<Watcher>,
    opened: Instant,
    /// When the run began, as its ticks tell: the earliest moment that any of them leads back to.
    origin: Option<Instant>,
    warnings: Vec<String>,
    known: KnownSecrets,
}

impl ServerMonitors {
    /// Nothing is watched.
    pub fn closed() -> Self {
        Self { asked: Vec::new(), metrics: Vec::new(), known: KnownSecrets::default() }
    }

    /// Whoever listens where the load goes.
    pub fn auto(known: &KnownSecrets) -> Self {
        Self { asked: vec![ObserveTarget::Auto], metrics: Vec::new(), known: known.clone() }
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
        self.there(plan).map(|found| self.watch(found, plan))
    }

    /// Whether everything that was asked for can be watched, before many runs.
    ///
    /// # Errors
    /// If it cannot.
    pub fn check(&self, plan: &Plan) -> Result<(), Failed> {
        self.there(plan).map(drop)
    }

    /// The same where runs went before: what cannot be watched any more is a warning, and the rest is watched.
    pub fn open_again(&self, plan: &Plan) -> ServerMonitor {
        let (found, missing) = self.look_around(plan);
        let warnings = missing.into_iter().map(|(asked, why)| format!("--observe {asked}: {}", why.message)).collect();
        ServerMonitor { warnings, ..self.watch(found, plan) }
    }

    fn there(&self, plan: &Plan) -> Result<Vec<MonitorSource>, Failed> {
        let (found, missing) = self.look_around(plan);
        match missing.into_iter().next() {
            None => Ok(found),
            Some((asked, NotFound { message, help })) => {
                Err(Failed::new(Exit::Usage, format_args!("--observe {asked}: {message}"), format_args!("{help}")))
            }
        }
    }

    /// What is there to be watched, in the order in which it was asked for, and what is not.
    fn look_around(&self, plan: &Plan) -> (Vec<MonitorSource>, Vec<(String, NotFound)>) {
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        for asked in &self.asked {
            match source(asked, &self.metrics, plan) {
                Ok(one) => found.extend(one),
                Err(why) => missing.push((asked.to_string(), why)),
            }
        }
        (found, missing)
    }

    fn watch(&self, found: Vec<MonitorSource>, plan: &Plan) -> ServerMonitor {
        let opened = Instant::now();
        let nothing = found.is_empty();
        let watcher = found.into_iter().fold(Watcher::start(Vec::new()), |watcher, one| match one {
            MonitorSource::There(source) => watcher.and(source),
            MonitorSource::ToBeSought => {
                let plan = plan.clone();
                watcher.seeking(&ObserveTarget::Auto.to_string(), move || listener(&plan))
            }
        });
        ServerMonitor { watcher: (!nothing).then_some(watcher), opened, origin: None, warnings: Vec::new(), known: self.known.clone() }
    }
}

/// One thing to watch.
enum MonitorSource {
    There(Box<dyn Source>),
    /// Whoever listens where the load goes: it takes a while to find out, and a short run does without.
    ToBeSought,
}

impl ServerMonitor {
    /// An interval of the run is over.
    pub fn tick(&mut self, tick: &Tick) {
        // Ticks come after their end, never before; the one that came soonest is nearest to the truth.
        let began = Instant::now().checked_sub(tick.to.into());
        self.origin = match (self.origin, began) {
            (Some(known), Some(began)) => Some(known.min(began)),
            (known, began) => known.or(began),
        };
    }

    /// What the server did a moment ago, if it has been seen.
    pub fn now(&self) -> Option<Now> {
        Now::of(&self.watcher.as_ref()?.latest())
    }

    /// When the run began, as far as is known.
    pub fn origin(&self) -> Instant {
        self.origin.unwrap_or(self.opened)
    }

    /// The run is over: what was seen goes into its result.
    pub fn close(self, run: &mut SummaryBuilder) {
        let Self { watcher, opened, origin, warnings, known } = self;
        run.add_warnings(warnings);
        if let Some(watcher) = watcher {
            let mut seen = watcher.stop(origin.unwrap_or(opened));
            // A server that is sent a secret may count by it.
            for observed in &mut seen.observed {
                observed.about = known.conceal(&observed.about);
                observed.series.iter_mut().filter_map(|series| series.of.as_mut()).for_each(|of| *of = known.conceal(of));
            }
            run.set_observed(seen.observed);
            run.add_warnings(seen.warnings.iter().map(|warning| known.conceal(warning)));
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

    fn decided(observe: &[&str], metric: &[&str]) -> Result<ServerMonitors, String> {
        let all = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let mut errors = PlanErrors::default();
        let eyes = ObserveArgs { observe: all(observe), metric: all(metric) }.decide(&KnownSecrets::default(), &mut errors);
        if errors.is_empty() { Ok(eyes) } else { Err(errors.to_string()) }
    }

    #[test]
    fn without_a_word_whoever_listens_is_watched() {
        assert_eq!(decided(&[], &[]).unwrap().asked, [ObserveTarget::Auto]);
        assert_eq!(decided(&["pid:7", "auto", "pid:7"], &[]).unwrap().asked, [ObserveTarget::Pid(7), ObserveTarget::Auto]);
    }

    fn plan() -> Plan {
        let draft = plan::Draft { url: Some("http://127.0.0.1:9/".to_owned()), ..plan::Draft::default() };
        Plan::try_from(plan::Draft { threads: "1".parse().ok(), ..draft }).unwrap()
    }

    #[test]
    fn what_is_watched_stands_in_the_order_in_which_it_was_asked_for() {
        let me = format!("pid:{}", std::process::id());
        let sought = |observe: &[&str]| -> Vec<bool> {
            let (found, missing) = decided(observe, &[]).unwrap().look_around(&plan());
            assert!(missing.is_empty(), "{missing:?}");
            found.iter().map(|one| matches!(one, MonitorSource::ToBeSought)).collect()
        };
        assert_eq!(sought(&["auto", &me]), [true, false]);
        assert_eq!(sought(&[&me, "auto"]), [false, true]);
        assert!(sought(&["none"]).is_empty());
    }

    #[test]
    fn where_one_thing_is_gone_the_others_are_watched_all_the_same() {
        let eyes = decided(&["pid:4194399", "auto"], &[]).unwrap();
        assert!(eyes.check(&plan()).unwrap_err().text.contains("there is no process 4194399"));
        let watch = eyes.open_again(&plan());
        assert!(
            watch.watcher.is_some() && watch.warnings == ["--observe pid:4194399: there is no process 4194399"],
            "{:?}",
            watch.warnings
        );
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
