//! A log's traffic as work: its routes by their weights, what they were asked for, its sessions, and its busiest hour minute by
//! minute.
//!
//! A list of URLs sent at an even rate has the mix of a log and nothing else of it: no visits, no pauses, no rush. So visits begin at
//! the rate at which the log's busiest hour had them, minute by minute, and each visit asks for as many pages, with such
//! pauses, as a visit drawn from the log's (`Visit`). Which pages is in the log too, and ids that are made up are not there: so each route's paths and queries are
//! drawn from those that were asked for, which stand with their weights in a table beside the scenario. Writing each as a step of its
//! own was the alternative, and a page of thousands of lines that nobody reads.
//!
//! How near that comes is not claimed but tried: the work is played in memory, and what it sends is counted as the log was
//! ([`Fidelity`]).

mod fidelity;
mod sendable;
mod visit;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use plan::template::{Template, Value};
use plan::work::{AnswerCheck, Body, Duration, Item, Journey, Step, Subject, Weights, Work};
use plan::{Draft, Nanos};

use crate::collection::{Described, Request};
use crate::{Route, Target, Traffic};

pub use fidelity::{Fidelity, Paths};
use sendable::{SAFE, is_path};
pub use sendable::{Unsendable, is_sendable, path_of};
use visit::Visit;

/// A stage of the load is at least this long.
const STAGE_S: u64 = 60;
/// The busiest hour, and no more.
const SPAN_S: u64 = 3_600;

/// A scenario has at most so many steps; of a log with more routes those asked for most are taken.
pub const STEPS_MAX: usize = 1_000;

/// Methods whose bodies are taken from a description of the API.
const WITH_BODY: [&str; 3] = ["POST", "PUT", "PATCH"];

/// What is known of a log's traffic besides the log.
#[derive(Debug, Clone, Copy, Default)]
pub struct Beside<'a> {
    /// The name of the table of paths, as the scenario is to call it.
    pub paths_file: Option<&'a str>,
    /// What the API says of itself.
    pub described: Option<&'a Described>,
}

/// A log's traffic to be sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Workload {
    /// The rate at which visits or requests begin.
    pub settings: Draft,
    /// What users do.
    pub work: Work,
    /// The table of paths, as CSV, if the work draws from it.
    pub paths: Option<String>,
    /// How near it comes.
    pub fidelity: Fidelity,
    /// Routes that are left out, each with its requests and why.
    pub left_out: Vec<(String, u64, Unsendable)>,
    /// Of all requests, those whose route is sent, from 0 to 1.
    pub share: f64,
    /// When the first stage of the rate begins, seconds since 1970.
    pub from_s: i64,
    /// How long its load lasts.
    pub lasts: Nanos,
    /// Whether users visit, and do not ask once.
    pub has_visits: bool,
    /// Whether bodies are taken from a description of the API.
    pub has_bodies: bool,
}

/// A step that is sent: a route, or all files that are served as they are.
struct WorkloadStep<'a> {
    /// What reports call it, and its group in the table.
    name: String,
    method: &'a str,
    requests: u64,
    /// What the step asks for.
    path: Template,
    /// What is drawn from the table, if there is more than one.
    table: Vec<&'a Target>,
    /// Where the body is from.
    body: Option<&'a Request>,
    /// Statuses that are right, where most of the log's were errors.
    expected: Option<String>,
    /// Which paths it asks for; `None` where they are made up.
    paths: Option<Paths>,
}

/// What is taken over from a log.
struct Model<'a> {
    used: Vec<WorkloadStep<'a>>,
    /// Each with why not.
    left_out: Vec<(&'a Route, Unsendable)>,
    /// Of all requests, those whose route is used.
    share: f64,
    /// Requests a second, and for how many seconds.
    stages: Vec<(f64, u64)>,
    /// When the first stage begins, seconds since 1970.
    from_s: i64,
    visit: Option<Visit>,
}

/// A route with what is sent for it, or why nothing is.
fn used<'a>(route: &'a Route, beside: Beside<'a>) -> Result<WorkloadStep<'a>, Unsendable> {
    let is_safe = SAFE.contains(&route.method.as_str());
    let body = beside.described.filter(|_| WITH_BODY.contains(&route.method.as_str())).and_then(|it| it.find(&route.method, &route.path));
    if !is_safe && body.is_none() {
        let is_asked = beside.described.is_some() && WITH_BODY.contains(&route.method.as_str());
        return Err(if is_asked { Unsendable::Undescribed } else { Unsendable::MayWrite });
    }
    if !is_path(&route.path) {
        return Err(Unsendable::NoPath);
    }
    let listed = route.targets.as_ref().map_or(&[][..], |targets| &targets.listed);
    // A text that begins so would name a server: behind the first slash, as the table has it, it is a path.
    let odd = |path: &str| path.starts_with("//");
    let (path, table) = match (listed, beside.paths_file) {
        ([only], _) if !odd(&only.path) => (Template::fixed(only.path.as_str()), Vec::new()),
        ([_, ..], Some(file)) => (drawn(file, &name(route)), listed.iter().collect()),
        _ if odd(&route.path) => return Err(Unsendable::NoPath),
        _ => {
            let shown = Route { method: "GET".to_owned(), ..route.clone() };
            (path_of(&shown)?, Vec::new())
        }
    };
    let is_expected = route.failed() * 2 > route.requests;
    let seen = || route.statuses.iter().filter(|it| it.status >= 100).map(|it| it.status.to_string()).collect::<Vec<_>>().join(", ");
    // A path that is not in the list is made up.
    let targets = route.targets.as_ref().filter(|targets| !table.is_empty() || targets.listed.len() == 1);
    let paths = targets.map(|targets| Paths { asked: targets.listed.len() as u64, logged: targets.distinct, covered: targets.covered });
    Ok(WorkloadStep {
        name: name(route),
        method: &route.method,
        requests: route.requests,
        path,
        table,
        body,
        expected: is_expected.then(seen),
        paths,
    })
}

/// What a step asks for that draws from a group of the table.
fn drawn(file: &str, group: &str) -> Template {
    let mut path = Template::fixed("/");
    path.append(Value::Weighted { path: file.to_owned(), group: Some(group.to_owned()) }.into());
    path
}

/// From so many files that are served as they are on, one step stands for all.
const FILES_MIN: usize = 4;
/// What that step is called.
const FILES: &str = "static files";
/// How their names end.
const FILE_ENDINGS: [&str; 22] = [
    "css", "js", "mjs", "map", "png", "jpg", "jpeg", "gif", "svg", "ico", "webp", "avif", "woff", "woff2", "ttf", "otf", "eot", "mp4",
    "webm", "mp3", "pdf", "zip",
];

/// Whether a route is one file, or many of one kind, that a server hands out as they are.
fn is_file(route: &Route) -> bool {
    let ending = route.path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(_, ending)| ending.to_ascii_lowercase());
    route.method == "GET" && ending.is_some_and(|ending| FILE_ENDINGS.contains(&ending.as_str()))
}

/// Puts the steps of single files into one, where there are many: a page of a line each tells nobody anything.
fn with_files_together<'a>(used: Vec<(&'a Route, WorkloadStep<'a>)>, beside: Beside<'_>) -> Vec<WorkloadStep<'a>> {
    let is_together = |route: &Route, it: &WorkloadStep<'_>| it.expected.is_none() && it.paths.is_some() && is_file(route);
    let many = used.iter().filter(|(route, it)| is_together(route, it)).count() >= FILES_MIN;
    let Some(file) = beside.paths_file.filter(|_| many) else { return used.into_iter().map(|(_, it)| it).collect() };
    let mut steps: Vec<WorkloadStep<'a>> = Vec::new();
    let mut at = None;
    for (route, it) in used {
        if !is_together(route, &it) {
            steps.push(it);
            continue;
        }
        let place = *at.get_or_insert_with(|| {
            steps.push(WorkloadStep {
                name: FILES.to_owned(),
                requests: 0,
                path: drawn(file, FILES),
                table: Vec::new(),
                paths: None,
                ..it
            });
            steps.len() - 1
        });
        let together = &mut steps[place];
        together.table.extend(route.targets.iter().flat_map(|targets| &targets.listed));
        let (before, more) = (together.requests as f64, route.requests as f64);
        let targets = route.targets.as_ref();
        let known = together.paths.unwrap_or(Paths { asked: 0, logged: 0, covered: 1.0 });
        together.paths = Some(Paths {
            asked: known.asked + targets.map_or(0, |targets| targets.listed.len() as u64),
            logged: known.logged + targets.map_or(0, |targets| targets.distinct),
            covered: (known.covered * before + targets.map_or(0.0, |targets| targets.covered) * more) / (before + more),
        });
        together.requests += route.requests;
    }
    steps
}

fn model<'a>(traffic: &'a Traffic, beside: Beside<'a>) -> Option<Model<'a>> {
    let course = traffic.course.as_ref()?;
    let (mut used, mut left_out) = (Vec::new(), Vec::new());
    for route in &traffic.routes {
        match self::used(route, beside) {
            Ok(_) if used.len() == STEPS_MAX => left_out.push((route, Unsendable::TooMany)),
            Ok(it) => used.push((route, it)),
            Err(why) => left_out.push((route, why)),
        }
    }
    let used = with_files_together(used, beside);
    let told: u64 = used.iter().map(|it| it.requests).sum();
    if told == 0 {
        return None;
    }
    let share = told as f64 / traffic.requests as f64;
    let (from_s, until_s) = (course.peak_hour.at_s, course.peak_hour.at_s + SPAN_S as i64);
    let within = course.timeline.iter().filter(|point| (from_s..until_s).contains(&point.at_s));
    let mut stages: Vec<(f64, u64)> = Vec::new();
    let mut gathered = (0_u64, 0_u64);
    if u64::from(course.step_s) < SPAN_S {
        // What is not in the timeline had no request.
        let mut points: BTreeMap<i64, u64> = (from_s.max(course.first_s)..until_s.min(course.last_s + 1))
            .step_by(course.step_s.max(1) as usize)
            .map(|at| (at.div_euclid(i64::from(course.step_s)) * i64::from(course.step_s), 0))
            .collect();
        within.for_each(|point| *points.entry(point.at_s).or_default() += point.requests);
        for requests in points.into_values() {
            gathered = (gathered.0 + requests, gathered.1 + u64::from(course.step_s));
            if gathered.1 >= STAGE_S {
                stages.push((gathered.0 as f64 / gathered.1 as f64, gathered.1));
                gathered = (0, 0);
            }
        }
        if gathered.0 > 0 {
            stages.push((gathered.0 as f64 / gathered.1 as f64, gathered.1));
        }
    }
    if stages.iter().all(|(rate, _)| *rate <= 0.0) {
        stages = vec![(course.peak_hour.requests as f64 / SPAN_S as f64, SPAN_S)];
    }
    let visit = traffic.users.as_ref().and_then(|users| Visit::of(&users.visits));
    calm(&mut stages, visit.as_ref().map_or(1.0, Visit::bunch));
    stages.iter_mut().for_each(|(rate, _)| *rate *= share);
    Some(Model { used, left_out, share, stages, from_s, visit })
}

/// Takes out of the stages what chance put into them. Their counts vary by chance alone with so much variance over mean, and being
/// sent at these rates they vary by chance again: left as they are, the scenario would be burstier than its log.
fn calm(stages: &mut [(f64, u64)], by_chance: f64) {
    let counts: Vec<f64> = stages.iter().map(|(rate, seconds)| rate * *seconds as f64).collect();
    let mean = counts.iter().sum::<f64>() / counts.len().max(1) as f64;
    let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / (counts.len() as f64 - 1.0).max(1.0);
    let kept = if variance > 0.0 { (1.0 - by_chance * mean / variance).max(0.0).sqrt() } else { 0.0 };
    let seconds: u64 = stages.iter().map(|(_, seconds)| seconds).sum();
    let rate_mean = counts.iter().sum::<f64>() / seconds.max(1) as f64;
    stages.iter_mut().for_each(|(rate, _)| *rate = rate_mean + kept * (*rate - rate_mean));
}

impl Workload {
    /// Of a log's traffic, played once to tell how near it comes; `None` where nothing in the log can be sent.
    #[must_use]
    pub fn of(traffic: &Traffic, beside: Beside<'_>) -> Option<Self> {
        let model = model(traffic, beside)?;
        let requests = model.visit.as_ref().map_or(1.0, Visit::requests_mean);
        let stages = model.stages.iter().map(|(rate, seconds)| format!("{}/s for {seconds}s", (rate / requests * 1e4).round() / 1e4));
        let stages: Vec<String> = stages.collect();
        let settings = Draft { url: Some("http://127.0.0.1:8080/".to_owned()), rate: stages.join(", ").parse().ok(), ..Draft::default() };
        let left_out = model.left_out.iter().map(|(route, why)| (name(route), route.requests, why.clone()));
        Some(Self {
            settings,
            work: work(&model),
            paths: table(&model),
            fidelity: fidelity::played(traffic, &model),
            left_out: left_out.collect(),
            share: model.share,
            from_s: model.from_s,
            lasts: Nanos::from_secs(model.stages.iter().map(|(_, seconds)| seconds).sum()),
            has_visits: model.visit.is_some(),
            has_bodies: model.used.iter().any(|used| used.body.is_some()),
        })
    }
}

/// One journey that is a visit, or a journey for each route.
fn work(model: &Model<'_>) -> Work {
    let step = |used: &WorkloadStep<'_>| vec![Item::Step(Box::new(step(used)))];
    let weighted = |weights: Vec<f64>, choices: Vec<Vec<Item>>| Item::Pick {
        weights: Weights::new(&weights).expect("each of them was asked for"),
        choices,
    };
    let journeys = match &model.visit {
        Some(visit) => {
            let asked = weighted(model.used.iter().map(|used| used.requests as f64).collect(), model.used.iter().map(step).collect());
            let pauses = visit.pauses.iter();
            let pauses = weighted(
                pauses.clone().map(|(weight, _)| f64::from(*weight)).collect(),
                pauses.map(|(_, pause)| vec![Item::Pause(Duration::Drawn(pause.think()))]).collect(),
            );
            let items = vec![Item::Repeat { times: visit.times(), items: vec![asked, pauses] }];
            vec![Journey { name: "visit".to_owned(), weight: 1.0, items }]
        }
        None => {
            let journey = |used: &WorkloadStep<'_>| Journey { name: used.name.clone(), weight: used.requests as f64, items: step(used) };
            model.used.iter().map(journey).collect()
        }
    };
    Work::of(journeys)
}

/// Where most answers were errors, these are what is expected.
fn step(used: &WorkloadStep<'_>) -> Step {
    let (headers, body) = used.body.map_or((Vec::new(), Body::Empty), |request| request.sent(""));
    let expected = |statuses: &String| AnswerCheck::new(Subject::Status, statuses.clone());
    Step {
        headers,
        body,
        checks: used.expected.iter().map(expected).collect(),
        judges_status: used.expected.is_some(),
        ..Step::new(plan::url_without_secrets(&used.name), used.method.to_owned(), used.path.clone())
    }
}

fn name(route: &Route) -> String {
    format!("{} {}", route.method, route.path)
}

/// Every path that steps draw from, in the order of the steps.
fn table(model: &Model<'_>) -> Option<String> {
    let field = |text: &str| {
        if text.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
    };
    let mut table = "group,weight,path\n".to_owned();
    for used in &model.used {
        for target in &used.table {
            let _ = writeln!(table, "{},{},{}", field(&used.name), target.requests, field(&target.path));
        }
    }
    model.used.iter().any(|used| !used.table.is_empty()).then_some(table)
}
