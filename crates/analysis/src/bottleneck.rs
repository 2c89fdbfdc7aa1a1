//! What limits a server, as Findings: each a sentence with its evidence, with what would refute it, and with the runners-up.
//!
//! Load generators leave their users alone with *why*. Whoever then guesses buys processors for a server that waits for its
//! database. What is known of a run (how throughput and times follow the load, what the server's processes and machine did in the
//! same seconds, how requests failed) rules most causes out and speaks for one. So every cause that loadline knows is asked, says
//! how strongly the series speak for it, and the strongest comes first.
//!
//! Rejected: a classifier that was trained on examples, since nobody can argue with it. Each cause here is a rule of a few
//! conditions over named figures: the utilisation law for whatever is used up (U = X·D, Denning and Buzen, 1978), Little's law for
//! pools (N = X·R), counts for what the server says itself. Whoever reads a Finding can look its figures up, and refute it.
//!
//! Invariants: the same series give the same Findings. A cause is never named as the limit by one figure that other servers of the
//! same machine may have made. Below a strength of [`NAMED_MIN`] nothing is named, and the first Finding then says that nothing
//! near its limit was seen; of a server that was not watched even that is not said.

mod answers;
mod law;
mod point;
mod queues;
mod refused;
mod resources;
mod scene;
mod this_side;

use measure::Summary;
use serde::Serialize;

use crate::Sweep;
use crate::found::Found;
pub use law::UtilisationLaw;
pub use point::{Growth, Point, Seen};
use scene::Scene;

/// A cause that the series speak for less strongly is not called the limit.
pub const NAMED_MIN: f64 = 0.5;
/// So many Findings are worth a reader's time.
const SHOWN_MAX: usize = 4;

/// What limits a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Nothing near its limit was seen.
    None,
    /// All its cores are busy.
    Processor,
    /// One thread is, and other cores are idle.
    Thread,
    /// Its cgroup may use no more processor time.
    Quota,
    /// It shares a machine that is full.
    SharedMachine,
    /// loadline itself.
    Generator,
    /// Connections wait to be accepted until there is no room.
    AcceptQueue,
    /// All workers are waiting for something, and requests for workers.
    WorkerPool,
    /// Its threads wait for each other.
    Lock,
    /// It cleans up its memory instead of answering.
    GarbageCollection,
    /// Its memory grows with each request, or is used up.
    Memory,
    /// It waits for storage.
    Disk,
    /// The network carries no more.
    Network,
    /// It may open no more files.
    OpenFiles,
    /// It turns requests away by rate.
    RateLimit,
    /// It turns every request away, whatever the load.
    Refused,
    /// It fails before it slows down.
    Errors,
    /// Nothing on its machine is busy: what it waits for is elsewhere.
    NotVisible,
}

impl Kind {
    /// In a few words, to stand before a colon.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "nothing that was seen",
            Self::Processor => "its processors",
            Self::Thread => "a single thread",
            Self::Quota => "its processor quota",
            Self::SharedMachine => "the shared machine",
            Self::Generator => "loadline itself",
            Self::AcceptQueue => "its accept queue",
            Self::WorkerPool => "a pool of workers",
            Self::Lock => "a lock",
            Self::GarbageCollection => "garbage collection",
            Self::Memory => "its memory",
            Self::Disk => "storage",
            Self::Network => "the network",
            Self::OpenFiles => "open files",
            Self::RateLimit => "a rate limit",
            Self::Refused => "not the load",
            Self::Errors => "errors",
            Self::NotVisible => "something not visible from here",
        }
    }
}

/// A sentence about what limits a server, and what it rests on. No text ends with a full stop.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// What it is about.
    pub kind: Kind,
    /// How strongly the series speak for it, from 0 to 1: an order, not a probability.
    pub strength: f64,
    /// It, in a sentence.
    pub sentence: String,
    /// The figures that speak for it.
    pub evidence: Vec<String>,
    /// What would show that it is wrong; completes "it is wrong if …".
    pub refuted_by: String,
    /// What to do about it.
    pub remedy: String,
    /// How the resource's use grew with throughput, where several loads show that.
    pub law: Option<UtilisationLaw>,
}

impl Finding {
    fn new(kind: Kind, strength: f64, sentence: String) -> Self {
        let strength = (strength.clamp(0.0, 1.0) * 100.0).round() / 100.0;
        Self { kind, strength, sentence, evidence: Vec::new(), refuted_by: String::new(), remedy: String::new(), law: None }
    }

    fn evidence(mut self, evidence: impl IntoIterator<Item = String>) -> Self {
        self.evidence.extend(evidence);
        self
    }

    fn refuted_by(self, refuted_by: &str) -> Self {
        Self { refuted_by: refuted_by.to_owned(), ..self }
    }

    fn remedy(self, remedy: &str) -> Self {
        Self { remedy: remedy.to_owned(), ..self }
    }

    fn law(mut self, law: Option<UtilisationLaw>) -> Self {
        self.evidence.extend(law.as_ref().map(UtilisationLaw::in_words));
        self.law = law;
        self
    }

    /// Whether it names a limit.
    #[must_use]
    pub fn is_named(&self) -> bool {
        self.kind != Kind::None && self.strength >= NAMED_MIN
    }

    /// The kind and the sentence; of what is no limit, the sentence alone.
    #[must_use]
    pub fn headline(&self) -> String {
        match self.kind {
            Kind::None | Kind::Refused => self.sentence.clone(),
            kind => format!("{}: {}", kind.name(), self.sentence),
        }
    }
}

/// The Findings of one run, the strongest first; empty where nothing can be said.
#[must_use]
pub fn of_run(run: &Summary) -> Vec<Finding> {
    findings(&[Point::of(run)])
}

/// Those of a sweep.
#[must_use]
pub fn of_sweep(sweep: &Sweep) -> Vec<Finding> {
    findings(&Point::of_all(sweep.trials.iter().map(|trial| &trial.summary)))
}

/// Those of a capacity search: trials beyond the rate found show most.
#[must_use]
pub fn of_search(found: &Found) -> Vec<Finding> {
    findings(&Point::of_all(found.trials.iter().map(|trial| &trial.summary)))
}

/// Every cause that may be the limit.
const CAUSES: &[fn(&Scene<'_>) -> Option<Finding>] = &[
    this_side::generator,
    this_side::shared_machine,
    answers::rate_limit,
    answers::errors,
    queues::accept_queue,
    resources::quota,
    queues::garbage_collection,
    resources::thread,
    resources::processor,
    queues::lock,
    resources::open_files,
    resources::memory,
    resources::disk,
    resources::network,
    queues::worker_pool,
    queues::not_visible,
];

/// The Findings of loads that were measured, the strongest first.
#[must_use]
pub fn findings(points: &[Point]) -> Vec<Finding> {
    let Some(scene) = Scene::new(points) else { return Vec::new() };
    // Whatever was busy with refusing says nothing of what it is like to answer.
    if let Some(refused) = refused::refused(&scene) {
        return vec![refused];
    }
    let mut found: Vec<Finding> = CAUSES.iter().filter_map(|cause| cause(&scene)).collect();
    found.sort_by(|a, b| b.strength.total_cmp(&a.strength));
    if !found.first().is_some_and(Finding::is_named) {
        match queues::unexplained(&scene).or_else(|| nothing(&scene, found.first())) {
            Some(none) => found.insert(0, none),
            None => found.clear(),
        }
    }
    found.truncate(SHOWN_MAX);
    found
}

/// That nothing near its limit was seen; `None` of a server that was not watched.
fn nothing(scene: &Scene<'_>, next: Option<&Finding>) -> Option<Finding> {
    use crate::quantity::{decimal, figure, time};
    let seen = scene.top.server.as_ref()?;
    let cpu = seen.cpu?;
    let strength = 1.0 - next.map_or(0.0, |next| next.strength);
    let at = figure(scene.top.answered);
    let mut evidence = Vec::new();
    let cores = seen.cores.map_or_else(|| " cores".to_owned(), |cores| format!(" of {} cores", figure(cores)));
    evidence.push(format!("the server used {}{cores} at {at} requests a second", decimal(cpu, 2)));
    if let Some((service, answered)) = scene.top.service_s.zip(Some(scene.top.answered).filter(|rate| *rate > 0.0)) {
        let worked = cpu / answered;
        if worked < service / 2.0 {
            evidence.push(format!(
                "of the {} that an answer takes, its processors work for {}; the rest is waiting",
                time(service * 1e9),
                time(worked * 1e9)
            ));
        }
    }
    evidence.extend(next.and_then(|next| Some(format!("next would come {}: {}", next.kind.name(), next.law.as_ref()?.in_words()))));
    let finding = Finding::new(Kind::None, strength, format!("at {at} requests a second nothing here is near its limit"))
        .evidence(evidence)
        .refuted_by("more load finds throughput flat, or times longer, at figures like these")
        .remedy("if you want to know where it ends, load it more: loadline sweep, or loadline find");
    Some(finding)
}

/// Findings as sentences for people: the first with all it rests on, and the second.
#[must_use]
pub fn sentences(findings: &[Finding]) -> Vec<String> {
    let Some((first, rest)) = findings.split_first() else { return Vec::new() };
    let mut said = vec![match first.kind {
        Kind::None => format!("Nothing limits it yet: {}.", first.sentence),
        Kind::Refused => format!("What was measured is no limit: {}.", first.sentence),
        _ => format!("What limits it is {}.", first.headline()),
    }];
    said.extend((!first.evidence.is_empty()).then(|| format!("Evidence: {}.", first.evidence.join("; "))));
    said.push(format!("This is wrong if {}. What to do: {}.", first.refuted_by, first.remedy));
    said.extend(rest.first().map(|next| format!("The next candidate is {}.", next.headline())));
    said
}

#[cfg(test)]
mod tests;
