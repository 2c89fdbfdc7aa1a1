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
//! Causes stand in an order, and a later one is not named while an earlier one explains what is seen: the load's own shape; a server
//! that ended, or answers nobody; one that fails everything; what stands between (acknowledgements held back, lost packets, connections
//! that are not kept); freezes; and only then what is used up or waited for inside the server. Within the last group, to which this
//! machine belongs since both need its cores, the strongest is named. What a sweep's levels follow is judged together with it: where a
//! scalability law was accepted, or throughput falls, no pool is named.
//!
//! Invariants: the same series give the same Findings. A cause is never named as the limit by one figure that other servers of the
//! same machine may have made. One load shows no end, so of one no pool and no lock is named. Below a strength of `NAMED_MIN` nothing
//! is named, and the first Finding then says what can be known; of a server that was not watched even that is not said.

mod answers;
mod between;
mod frozen;
mod gone;
mod law;
mod own_load;
mod point;
mod queues;
mod refused;
mod resources;
mod scene;
mod this_side;

use measure::Summary;
use serde::Serialize;

use crate::curve::Model;
use crate::quantity::capitalised;
pub use between::Between;
pub use gone::{Departure, Gone, gone};
pub use law::UtilisationLaw;
pub use point::{Growth, Point, ServerFigures};
use scene::Scene;

/// A cause that the series speak for less strongly is not called the limit.
pub(crate) const NAMED_MIN: f64 = 0.5;
/// So many Findings are worth a reader's time.
const SHOWN_MAX: usize = 4;
/// What fits on one line of a terminal beside what it is about.
pub(crate) const BRIEF_LETTERS_MAX: usize = 75;

/// What limits a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// No cause stands out.
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
    /// The settings of the load: it cannot ask for more.
    OwnLoad,
    /// Its process ended, or was restarted, or answers nobody any more.
    Ended,
    /// It answered nobody in time.
    Silent,
    /// Acknowledgements are held back, and it waits for them between two writes.
    DelayedAck,
    /// Packets are lost on the way.
    LostPackets,
    /// Each request opens a connection of its own.
    NewConnections,
    /// It stops now and then, and answers nobody meanwhile.
    Freezes,
    /// Requests wait for something that they share.
    Contention,
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
    /// It turns requests away when it has too much to do.
    Overload,
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
            Self::OwnLoad => "the load's own settings",
            Self::Ended => "the server's process",
            Self::Silent => "a server that does not answer",
            Self::DelayedAck => "delayed acknowledgements (TCP)",
            Self::LostPackets => "lost packets",
            Self::NewConnections => "new connections",
            Self::Freezes => "freezes",
            Self::Contention => "contention",
            Self::AcceptQueue => "its accept queue",
            Self::WorkerPool => "a pool of workers",
            Self::Lock => "a lock",
            Self::GarbageCollection => "garbage collection",
            Self::Memory => "its memory",
            Self::Disk => "storage",
            Self::Network => "the network",
            Self::OpenFiles => "open files",
            Self::RateLimit => "a rate limit",
            Self::Overload => "overload protection",
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
    /// It, in at most `BRIEF_LETTERS_MAX` letters; begins with a capital.
    pub brief: String,
    /// The figures that speak for it.
    pub evidence: Vec<String>,
    /// How to check it: what to do, and what would show that it is wrong.
    pub refuted_by: String,
    /// What to do about it.
    pub remedy: String,
    /// How the resource's use grew with throughput, where several loads show that.
    pub law: Option<UtilisationLaw>,
}

impl Finding {
    fn new(kind: Kind, strength: f64, sentence: String) -> Self {
        let strength = (strength.clamp(0.0, 1.0) * 100.0).round() / 100.0;
        let brief = in_brief(&said(kind, &sentence)).unwrap_or_else(|| capitalised(kind.name()));
        Self { kind, strength, sentence, brief, evidence: Vec::new(), refuted_by: String::new(), remedy: String::new(), law: None }
    }

    /// With this in place of what the sentence begins with; a text that is too long is not taken.
    fn brief(self, brief: impl Into<String>) -> Self {
        let brief = brief.into();
        if brief.chars().count() > BRIEF_LETTERS_MAX { self } else { Self { brief, ..self } }
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

    /// What it is about and the sentence, where something else comes first.
    #[must_use]
    pub fn candidate(&self) -> String {
        format!("{}: {}", self.kind.name(), self.sentence)
    }

    /// The kind and the sentence; of what is no limit, the sentence alone.
    #[must_use]
    pub fn headline(&self) -> String {
        said(self.kind, &self.sentence)
    }
}

/// A sentence after what it is about; of what is no limit, the sentence alone.
fn said(kind: Kind, sentence: &str) -> String {
    match kind {
        Kind::None | Kind::Refused | Kind::Ended | Kind::Silent => sentence.to_owned(),
        // Of a server that was not loaded as meant no limit is known.
        Kind::Generator => format!("cannot be told: {sentence}"),
        kind => format!("{}: {sentence}", kind.name()),
    }
}

/// As much of a sentence as can stand alone and is short; `None` where that is nothing.
fn in_brief(sentence: &str) -> Option<String> {
    let ends = sentence.char_indices().filter(|(at, letter)| {
        let rest = &sentence[at + letter.len_utf8()..];
        matches!(letter, ',' | ';' | ':' | '(') && rest.starts_with([' ', '-']) || *letter == ' ' && rest.starts_with('(')
    });
    let mut ends = ends.map(|(at, _)| at).chain([sentence.len()]);
    let fits = |end: &usize| sentence[..*end].chars().count() <= BRIEF_LETTERS_MAX;
    let end = ends.rfind(fits)?;
    Some(capitalised(sentence[..end].trim_end()))
}

/// The Findings of one run, the strongest first; empty where nothing can be said.
#[must_use]
pub fn of_run(run: &Summary) -> Vec<Finding> {
    findings(&[Point::of(run)], None)
}

/// A rule: what a cause makes of the loads.
type Rule = fn(&Scene<'_>) -> Option<Finding>;

/// What explains all that is seen, in this order: the first that is named stands alone.
const BEFORE: &[&[Rule]] = &[
    &[own_load::connections],
    &[gone::ended],
    &[gone::silent],
    // Whatever was busy with refusing says nothing of what it is like to answer.
    &[refused::refused],
    &[refused::all_failed],
    &[between::delayed_ack, between::lost_packets, between::closing],
    &[frozen::freezes],
];

/// Every other cause that may be the limit.
const CAUSES: &[Rule] = &[
    this_side::generator,
    this_side::shared_machine,
    answers::turned_away,
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
    queues::contention,
    queues::worker_pool,
    queues::not_visible,
];

/// The Findings of loads that were measured, the strongest first. `model` is the law that throughput over users follows, where one was
/// accepted.
#[must_use]
pub fn findings(points: &[Point], model: Option<Model>) -> Vec<Finding> {
    let Some(scene) = Scene::new(points, model) else { return Vec::new() };
    let ask = |rules: &[Rule]| {
        let mut found: Vec<Finding> = rules.iter().filter_map(|rule| rule(&scene)).collect();
        found.sort_by(|a, b| b.strength.total_cmp(&a.strength));
        found
    };
    let mut unnamed = Vec::new();
    for rules in BEFORE {
        let found = ask(rules);
        if found.first().is_some_and(Finding::is_named) {
            return found.into_iter().take(1).collect();
        }
        unnamed.extend(found);
    }
    let mut found = ask(CAUSES);
    found.extend(unnamed);
    found.sort_by(|a, b| b.strength.total_cmp(&a.strength));
    if !found.first().is_some_and(Finding::is_named) {
        let unexplained = queues::unexplained(&scene);
        // What is said not to be it is no candidate; where nothing has ended yet, it is what would come.
        let has_room = scene.top.server.as_ref().and_then(room).is_some_and(|(cores, _)| cores);
        found.retain(|it| it.kind != Kind::Processor || !has_room || unexplained.is_some() || has_no_end(&scene));
        match unexplained.or_else(|| nothing(&scene, found.first())) {
            Some(none) => found.insert(0, none),
            None => found.clear(),
        }
    }
    // Where loadline was held back, that throughput does not grow tells nothing of the server.
    if found.first().is_some_and(|it| it.kind == Kind::Generator) {
        found.retain(|it| !matches!(it.kind, Kind::WorkerPool | Kind::Lock | Kind::Contention | Kind::NotVisible));
    }
    found.truncate(SHOWN_MAX);
    found
}

/// Whether all its cores together, and its busiest thread, have room; `None` where that is not known.
fn room(seen: &ServerFigures) -> Option<(bool, bool)> {
    /// A server that uses less than this of its cores, and no thread more, is not limited by them.
    const FREE_MAX: f64 = 0.75;
    let busiest = seen.busiest.first().map_or(0.0, |(_, used)| *used);
    let share = seen.capacity().filter(|cores| *cores > 0.0).map_or(1.0, |cores| seen.cpu.map_or(1.0, |cpu| cpu / cores));
    seen.cpu.map(|_| (share <= FREE_MAX, busiest <= FREE_MAX))
}

/// Whether several loads were measured and the highest was carried best.
fn has_no_end(scene: &Scene<'_>) -> bool {
    scene.points.last().is_some_and(|last| !scene.is_single() && !last.is_behind() && scene.top.level >= last.level)
}

/// What can be known where no cause stands out; `None` of a server that was not watched.
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
    evidence.extend(next.filter(|next| next.kind == Kind::SharedMachine).map(|next| next.sentence.clone()));
    evidence.extend(next.and_then(|next| Some(format!("next would come {}: {}", next.kind.name(), next.law.as_ref()?.in_words()))));
    let busiest = seen.busiest.first().map_or(0.0, |(_, used)| *used);
    let processors = match room(seen)? {
        (true, true) if has_no_end(scene) => format!("its processors have room ({}{cores})", decimal(cpu, 2)),
        (true, true) => format!("its processors are not it ({}{cores})", decimal(cpu, 2)),
        (false, _) => format!("its processors may be near it ({}{cores})", decimal(cpu, 2)),
        (true, false) => format!("its busiest thread may be near it ({:.0} % of a core)", busiest * 100.0),
    };
    let last = scene.points.last()?;
    let sentence = match (scene.is_single(), last.is_behind()) {
        (true, true) => {
            format!("it answered {at} of {} requests a second, and one load cannot show why; {processors}", figure(last.due))
        }
        (true, false) => format!("one load cannot show a limit; {processors}"),
        (false, true) => {
            format!("it answered at most {at} requests a second, and no figure shows why; {processors}")
        }
        (false, false) if has_no_end(scene) => {
            format!("no limit was reached up to a load of {}, at {at} requests a second; {processors}", figure(last.level))
        }
        (false, false) => {
            format!(
                "more than a load of {} brought no more than {at} requests a second, and no figure shows why; {processors}",
                figure(scene.top.level)
            )
        }
    };
    let finding = Finding::new(Kind::None, strength, sentence).evidence(evidence);
    let is_ended = last.is_behind() || scene.top.level < last.level;
    Some(if is_ended && !scene.is_single() {
        finding
            .refuted_by("take a profile of the server under this load (--profile): what it waits for shows there")
            .remedy("watch the server's own process (--observe pid:PID) and what is behind it (a database, another service)")
    } else if scene.is_single() {
        finding
            .refuted_by("measure several loads: where throughput stops growing is the limit, and what is full there is the cause")
            .remedy("loadline sweep URL measures several loads, and loadline find URL searches for the highest rate that is still fine")
    } else {
        finding
            .refuted_by("measure higher loads: where throughput stops growing is the limit, and what is full there is the cause")
            .remedy("to find the limit, measure higher loads (--levels, --rates), or let loadline find search for it")
    })
}

/// Findings as sentences for people: the first with all it rests on, and the second.
#[must_use]
pub fn sentences(findings: &[Finding]) -> Vec<String> {
    let Some((first, rest)) = findings.split_first() else { return Vec::new() };
    let mut said = vec![match first.kind {
        Kind::None => format!("{}.", capitalised(&first.sentence)),
        Kind::Refused | Kind::Ended | Kind::Silent => format!("What was measured is not its capacity: {}.", first.sentence),
        Kind::Generator => format!("What limits it {}.", first.headline()),
        _ => format!("What limits it is {}.", first.headline()),
    }];
    said.extend((!first.evidence.is_empty()).then(|| format!("Evidence: {}.", first.evidence.join("; "))));
    said.push(format!("How to check: {}. Fix: {}.", first.refuted_by, first.remedy));
    said.extend(rest.first().map(|next| format!("The next candidate is {}.", next.candidate())));
    said
}

#[cfg(test)]
mod tests;
