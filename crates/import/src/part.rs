//! A part of a survey: what some of the logs say, to be put together with what the others say.
//!
//! Logs lie on many machines, and may be more than one machine reads in a night. So what was counted of some of them is a value that can be
//! written down, sent and added up, as bounded as the survey itself. Every result is made of one, also where there is only one.
//!
//! Invariants: parts add up in any order to what one survey of all their logs would have said, as long as nothing bounded is full; in what is
//! written down personal values are numbers by a key, unless they are kept.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::agents::AgentCounts;
use crate::course;
use crate::key::Key;
use crate::referers::RefererCounts;
use crate::route::{Counts, Routes};
use crate::sample::{RouteSample, Target, Targets};
use crate::scrub::Personal;
use crate::stand_in::StandIns;
use crate::took::Took;
use crate::traffic::{Example, File, Route, SCHEMA, StatusCount, Traffic, Unread};
use crate::users;

/// The version of what is written.
pub const PART_SCHEMA: &str = "loadline.traffic-part/1";

/// Requests of all parts together; more are not true.
const REQUESTS_MOST: u64 = 1 << 40;
/// Examples of a reason.
const EXAMPLES: usize = 3;
/// That so many requests are of one client is worth a remark.
const ONE_CLIENT_REQUESTS: u64 = 100;

/// What some logs say.
#[derive(Debug, Serialize, Deserialize)]
pub struct SurveyPart {
    pub(crate) schema: String,
    /// What tells its key from others.
    pub(crate) key: u64,
    /// What tells the parts that it is made of from others.
    #[serde(default)]
    pub(crate) ids: BTreeSet<u64>,
    pub(crate) personal: Personal,
    /// Whether there is a sample of what each route was asked for.
    pub(crate) has_targets: bool,
    pub(crate) files: Vec<File>,
    pub(crate) unread: Vec<Unread>,
    pub(crate) requests: u64,
    /// Requests that are not wanted.
    pub(crate) left_out: u64,
    pub(crate) backwards: u64,
    pub(crate) all: Counts,
    pub(crate) course: course::Counter,
    pub(crate) routes: Routes,
    pub(crate) users: users::Counter,
    pub(crate) agents: AgentCounts,
    pub(crate) referers: RefererCounts,
}

/// Why a part cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    /// It cannot be read.
    #[error("it is damaged, or no part of a survey: {0}")]
    Damaged(String),
    /// Of another version.
    #[error("it is of the version '{0}', and this loadline reads {PART_SCHEMA}")]
    Version(String),
    /// The same user has another number in it.
    #[error("it was made with another key, so that users cannot be told from each other")]
    Key,
    /// Addresses of some users are not known.
    #[error("personal values are kept in one of them and left out in another")]
    Personal,
    /// It would be counted twice.
    #[error("what it holds, or a part of that, is there already")]
    Twice,
    /// Larger than anything.
    #[error("together they have more requests than can be counted")]
    Requests,
}

impl SurveyPart {
    /// Nothing counted yet.
    pub(crate) fn new(key: Key, personal: Personal) -> Self {
        Self {
            schema: PART_SCHEMA.to_owned(),
            key: key.mark(),
            ids: BTreeSet::new(),
            personal,
            has_targets: false,
            files: Vec::new(),
            unread: Vec::new(),
            requests: 0,
            left_out: 0,
            backwards: 0,
            all: Counts::default(),
            course: course::Counter::default(),
            routes: Routes::default(),
            users: users::Counter::new(key, personal),
            agents: AgentCounts::default(),
            referers: RefererCounts::default(),
        }
    }

    /// As a document in JSON.
    #[must_use]
    pub fn written(&self) -> Vec<u8> {
        let mut written = serde_json::to_vec(self).expect("a part holds nothing that JSON cannot");
        written.push(b'\n');
        written
    }

    /// The part in a document.
    ///
    /// # Errors
    /// If it is none, of another version, or does not add up.
    pub fn read(document: &[u8]) -> Result<Self, PartError> {
        #[derive(Deserialize)]
        struct Version {
            schema: String,
        }
        let damaged = |why: serde_json::Error| PartError::Damaged(why.to_string());
        let Version { schema } = serde_json::from_slice(document).map_err(damaged)?;
        if schema != PART_SCHEMA {
            return Err(PartError::Version(schema));
        }
        let part: Self = serde_json::from_slice(document).map_err(damaged)?;
        part.check()?;
        Ok(part)
    }

    /// Whether it adds up, so that nothing that is done with it has to doubt it.
    fn check(&self) -> Result<(), PartError> {
        let requests = self.requests;
        let sum = |of: fn(&File) -> u64| self.files.iter().fold(0u64, |sum, file| sum.saturating_add(of(file)));
        let time_of_day = self.course.time_of_day().iter().fold(0u64, |sum, requests| sum.saturating_add(*requests));
        for (adds_up, what) in [
            (requests.saturating_add(self.left_out) <= REQUESTS_MOST, "more requests than can be counted"),
            (sum(|file| file.lines) <= REQUESTS_MOST && sum(|file| file.bytes_read) < u64::MAX >> 8, "more lines than can be counted"),
            (self.unread.iter().all(|unread| unread.lines <= REQUESTS_MOST), "more lines that are not read than can be counted"),
            (self.all.requests == requests && self.all.adds_up(), "its statuses are not those of its requests"),
            (self.course.requests() == requests && time_of_day == requests, "its hours are not those of its requests"),
            (self.routes.requests() == requests && self.routes.adds_up(), "its routes are not those of its requests"),
            (self.users.requests() <= requests, "its users make more requests than there are"),
            (self.agents.requests <= requests && self.agents.adds_up(), "its programs make more requests than there are"),
            (self.referers.requests <= requests && self.referers.adds_up(), "its pages led to more requests than there are"),
            (self.backwards <= requests, "its times are not those of its requests"),
        ] {
            if !adds_up {
                return Err(PartError::Damaged(what.to_owned()));
            }
        }
        Ok(())
    }

    /// With its files as those of a machine: `web1:access.log`.
    #[must_use]
    pub fn of_machine(mut self, machine: &str) -> Self {
        let examples = self.unread.iter_mut().flat_map(|unread| &mut unread.examples).map(|example| &mut example.file);
        self.files.iter_mut().map(|file| &mut file.name).chain(examples).for_each(|name| *name = format!("{machine}:{name}"));
        self
    }

    /// With a number that no other part has, so that it is not added twice.
    #[must_use]
    pub fn with_id(mut self, id: u64) -> Self {
        self.ids.insert(id);
        self
    }

    /// The numbers of all parts that it is made of; none where it was written before parts had one.
    #[must_use]
    pub const fn ids(&self) -> &BTreeSet<u64> {
        &self.ids
    }

    /// Whether it has a sample of what each route was asked for, as a scenario takes it.
    #[must_use]
    pub fn has_targets(&self) -> bool {
        self.has_targets
    }

    /// Adds another part.
    ///
    /// # Errors
    /// If both do not go together.
    pub fn merge(&mut self, other: Self) -> Result<(), PartError> {
        if other.key != self.key {
            return Err(PartError::Key);
        }
        if other.personal != self.personal {
            return Err(PartError::Personal);
        }
        if !self.ids.is_disjoint(&other.ids) {
            return Err(PartError::Twice);
        }
        if self.requests + self.left_out + other.requests + other.left_out > REQUESTS_MOST {
            return Err(PartError::Requests);
        }
        self.ids.extend(other.ids);
        self.has_targets &= other.has_targets;
        self.files.extend(other.files);
        for Unread { reason, lines, examples } in other.unread {
            self.add_unread(reason, lines, examples);
        }
        self.requests += other.requests;
        self.left_out += other.left_out;
        self.backwards += other.backwards;
        self.all.absorb(other.all);
        self.course.absorb(other.course);
        self.routes.absorb(other.routes);
        self.users.absorb(other.users);
        self.agents.absorb(other.agents);
        self.referers.absorb(other.referers);
        Ok(())
    }

    /// Adds lines that tell of no request. Of examples the first stay, by their files and places.
    pub(crate) fn add_unread(&mut self, reason: crate::entry::Reason, lines: u64, examples: Vec<Example>) {
        let at = self.unread.iter().position(|it| it.reason == reason).unwrap_or_else(|| {
            self.unread.push(Unread { reason, lines: 0, examples: Vec::new() });
            self.unread.len() - 1
        });
        let it = &mut self.unread[at];
        it.lines = it.lines.saturating_add(lines);
        it.examples.extend(examples);
        it.examples.sort_by(|a, b| (&a.file, a.line, &a.text).cmp(&(&b.file, b.line, &b.text)));
        it.examples.truncate(EXAMPLES);
    }

    /// What all of them say.
    #[must_use]
    pub fn traffic(self) -> Traffic {
        let Self { personal, mut files, mut unread, requests, left_out, backwards, all, course, routes, users, agents, referers, .. } =
            self;
        files.sort_by(|a, b| (&a.name, a.lines, a.requests, a.bytes_read).cmp(&(&b.name, b.lines, b.requests, b.bytes_read)));
        unread.sort_by_key(|it| it.reason);
        let late = course.late();
        let (listed, others) = routes.finish();
        let mut above = 0;
        let mut stand_ins = StandIns::default();
        let routes: Vec<Route> = listed
            .into_iter()
            .map(|(method, path, mut counts)| {
                above += counts.requests;
                let targets = counts.sample.take().map(|sample| targets(&sample.finish(), &mut stand_ins));
                Route { targets, ..route(method, path, &counts, above, requests) }
            })
            .collect();
        let others = (others.requests > 0).then(|| route(String::new(), "others".to_owned(), &others, requests, requests));
        let course = course.finish();
        let of_samples = users.remarks();
        let users = users.finish();
        let mut remarks = Vec::new();
        if left_out > 0 {
            remarks.push(format!("{left_out} requests are left out, as they are not wanted"));
        }
        for file in files.iter().filter(|file| file.ended_early.is_some()) {
            remarks.push(format!(
                "{} could not be read to its end: {}; what came before is counted",
                file.name,
                file.ended_early.as_deref().unwrap_or_default()
            ));
        }
        for file in files.iter().filter(|file| file.form.is_none() && file.lines > 0) {
            remarks.push(format!("the form of {} is not known: name it with --log-format or --field", file.name));
        }
        if let Some(gaps) = course.as_ref().map(|course| course.gaps_s).filter(|gaps| *gaps > 0) {
            remarks.push(format!("the log has gaps of together {} days without a request; averages leave them out", gaps / 86_400));
        }
        if backwards > 0 {
            remarks.push(format!("within a log the time goes back by more than an hour {backwards} times: a clock that was set, or logs that were put into one"));
        }
        if late > 0 {
            remarks.push(format!("{late} requests are of hours that had left memory: they are counted, but their seconds are not known"));
        }
        if let Some(others) = &others {
            remarks
                .push(format!("{} requests have routes beyond the number that is kept, and are told together as others", others.requests));
        }
        if let Some(users) = users.as_ref().filter(|users| users.users == 1 && users.requests >= ONE_CLIENT_REQUESTS) {
            remarks.push(format!(
                "all {} requests are of one client: if a proxy or a collector stands before the address, name the form with --log-format, or \
                 sessions and pauses mean nothing",
                users.requests
            ));
        }
        if let Some(users) = users.as_ref().filter(|users| !users.exact) {
            remarks.push(format!("figures of users are estimates, from a sample of {} of about {}", users.sample, users.users));
        }
        remarks.extend(of_samples);
        Traffic {
            schema: SCHEMA,
            lines: files.iter().map(|file| file.lines).sum(),
            files,
            requests,
            unread,
            personal,
            course,
            statuses: statuses(&all),
            bytes: all.bytes,
            took: all.took.as_ref().and_then(|took| took.times()),
            routes,
            others,
            users,
            agents: agents.finish(),
            referers: referers.finish(),
            remarks,
            stand_ins: stand_ins.count(),
        }
    }
}

/// What was kept of a route, as it may be written down.
fn targets(kept: &RouteSample, stand_ins: &mut StandIns) -> Targets {
    let listed = kept.paths.iter().map(|(sealed, requests)| {
        let (path, is_altered) = stand_ins.opened(&String::from_utf8_lossy(sealed));
        Target { path, requests: *requests, is_altered }
    });
    Targets { listed: listed.collect(), distinct: kept.distinct, covered: kept.covered }
}

fn statuses(counts: &Counts) -> Vec<StatusCount> {
    let mut all: Vec<StatusCount> =
        counts.statuses.iter().map(|(status, requests)| StatusCount { status: *status, requests: *requests }).collect();
    all.sort_by_key(|it| it.status);
    all
}

fn route(method: String, path: String, counts: &Counts, above: u64, all: u64) -> Route {
    let share = |part: u64| part as f64 / all.max(1) as f64;
    Route {
        method,
        path,
        requests: counts.requests,
        share: share(counts.requests),
        cumulative_share: share(above),
        statuses: statuses(counts),
        bytes: counts.bytes,
        took: counts.took.as_deref().and_then(Took::times),
        targets: None,
    }
}
