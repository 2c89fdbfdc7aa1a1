//! A log's traffic as a scenario: its routes by their weights, what they were asked for, its sessions, and its busiest hour minute by
//! minute.
//!
//! A list of URLs sent at an even rate has the mix of a log and nothing else of it: no visits, no pauses, no rush. So a scenario begins
//! visits at the rate at which the log's busiest hour had them, minute by minute, and each visit asks for as many pages, with such
//! pauses, as a visit drawn from the log's ([`Visit`]). Which pages is in the log too, and ids that are made up are not there: so each route's paths and queries are
//! drawn from those that were asked for, which stand with their weights in a table beside the scenario. Writing each as a step of its
//! own was the alternative, and a page of thousands of lines that nobody reads.
//!
//! How near that comes is not claimed but tried: the scenario is played in memory, and what it sends is counted as the log was
//! ([`Fidelity`]).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use analysis::quantity::{NONE, count, counted, decimal, percent};
use import::collection::{Described, Request, printed_body};
use import::yaml::scalar;
use import::{Asked, Personal, Route, Survey, Target, Traffic, utc};
use plan::template::{Value, literally};
use plan::{Nanos, Random};

use super::urls::{MAY_WRITE, NO_PATH, SAFE, is_path, line};
use super::visit::{Tally, Visit};
use crate::visible;

/// A stage of the load is at least this long.
const STAGE_S: u64 = 60;
/// The busiest hour, and no more.
const SPAN_S: u64 = 3_600;
/// So many requests are played.
const PLAYED_MAX: usize = 200_000;

/// A scenario has at most so many steps; of a log with more routes those asked for most are taken.
const STEPS_MAX: usize = 1_000;

/// Methods whose bodies are taken from a description of the API.
const WITH_BODY: [&str; 3] = ["POST", "PUT", "PATCH"];

/// What a scenario of a log is written with besides the log.
#[derive(Debug, Clone, Copy, Default)]
pub struct Beside<'a> {
    /// The name of the table of paths, as the scenario is to call it.
    pub paths_file: Option<&'a str>,
    /// What the API says of itself.
    pub described: Option<&'a Described>,
}

/// A log's traffic to be sent: what goes into files.
#[derive(Debug, Clone, Default)]
pub struct Made {
    /// The scenario, in YAML; a comment says why where there is none.
    pub scenario: String,
    /// The table of paths, as CSV, if the scenario names it.
    pub paths: Option<String>,
    /// How near it comes; `None` where nothing can be sent.
    pub fidelity: Option<Fidelity>,
    /// So many routes are left out, with so many requests.
    pub left_out: (usize, u64),
    /// How long its load lasts.
    pub lasts: Nanos,
}

/// A step that is sent: a route, or all files that are served as they are.
struct Used<'a> {
    /// What reports call it, and its group in the table.
    name: String,
    method: &'a str,
    requests: u64,
    /// What the step asks for.
    path: String,
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
    used: Vec<Used<'a>>,
    /// Each with why not.
    left_out: Vec<(&'a Route, String)>,
    /// Of all requests, those whose route is used.
    share: f64,
    /// Requests a second, and for how many seconds.
    stages: Vec<(f64, u64)>,
    /// When the first stage begins, seconds since 1970.
    from_s: i64,
    visit: Option<Visit>,
}

/// A route with what is sent for it, or why nothing is.
fn used<'a>(route: &'a Route, beside: Beside<'a>) -> Result<Used<'a>, String> {
    let is_safe = SAFE.contains(&route.method.as_str());
    let body = beside.described.filter(|_| WITH_BODY.contains(&route.method.as_str())).and_then(|it| it.find(&route.method, &route.path));
    if !is_safe && body.is_none() {
        let is_asked = beside.described.is_some() && WITH_BODY.contains(&route.method.as_str());
        return Err(if is_asked { NOT_DESCRIBED.to_owned() } else { MAY_WRITE.to_owned() });
    }
    if !is_path(&route.path) {
        return Err(NO_PATH.to_owned());
    }
    let listed = route.targets.as_ref().map_or(&[][..], |targets| &targets.listed);
    // A text that begins so would name a server: behind the first slash, as the table has it, it is a path.
    let odd = |path: &str| path.starts_with("//");
    let (path, table) = match (listed, beside.paths_file) {
        ([only], _) if !odd(&only.path) => (literally(&only.path), Vec::new()),
        ([_, ..], Some(file)) => (drawn(file, &name(route)), listed.iter().collect()),
        _ if odd(&route.path) => return Err(NO_PATH.to_owned()),
        _ => {
            let shown = Route { method: "GET".to_owned(), ..route.clone() };
            (line(&shown)?, Vec::new())
        }
    };
    let is_expected = route.failed() * 2 > route.requests;
    let seen = || route.statuses.iter().filter(|it| it.status >= 100).map(|it| it.status.to_string()).collect::<Vec<_>>().join(", ");
    // A path that is not in the list is made up.
    let targets = route.targets.as_ref().filter(|targets| !table.is_empty() || targets.listed.len() == 1);
    let paths = targets.map(|targets| Paths { asked: targets.listed.len() as u64, logged: targets.distinct, covered: targets.covered });
    Ok(Used {
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
fn drawn(file: &str, group: &str) -> String {
    format!("{{{{{}}}}}", Value::Weighted { path: file.to_owned(), group: Some(group.to_owned()) })
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
fn with_files_together<'a>(used: Vec<(&'a Route, Used<'a>)>, beside: Beside<'_>) -> Vec<Used<'a>> {
    let is_together = |route: &Route, it: &Used<'_>| it.expected.is_none() && it.paths.is_some() && is_file(route);
    let many = used.iter().filter(|(route, it)| is_together(route, it)).count() >= FILES_MIN;
    let Some(file) = beside.paths_file.filter(|_| many) else { return used.into_iter().map(|(_, it)| it).collect() };
    let mut steps: Vec<Used<'a>> = Vec::new();
    let mut at = None;
    for (route, it) in used {
        if !is_together(route, &it) {
            steps.push(it);
            continue;
        }
        let place = *at.get_or_insert_with(|| {
            steps.push(Used { name: FILES.to_owned(), requests: 0, path: drawn(file, FILES), table: Vec::new(), paths: None, ..it });
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

const NOT_DESCRIBED: &str = "Left out, since it may write, and the description of the API has no such request";

fn model<'a>(traffic: &'a Traffic, beside: Beside<'a>) -> Option<Model<'a>> {
    let course = traffic.course.as_ref()?;
    let (mut used, mut left_out) = (Vec::new(), Vec::new());
    for route in &traffic.routes {
        match self::used(route, beside) {
            Ok(_) if used.len() == STEPS_MAX => {
                left_out.push((route, format!("Left out, since a scenario has at most {} steps", count(STEPS_MAX as u64))));
            }
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

/// Makes a scenario of a log's traffic, and plays it once to tell how near it comes.
#[must_use]
pub fn made(traffic: &Traffic, beside: Beside<'_>) -> Made {
    let Some(model) = model(traffic, beside) else {
        let scenario = "# Nothing in this log can be sent: its requests write, or tell no time.\n".to_owned();
        let all = traffic.routes.iter().map(|route| route.requests).sum();
        return Made { scenario, left_out: (traffic.routes.len(), all), ..Made::default() };
    };
    let fidelity = fidelity(traffic, &model);
    let others = traffic.others.as_ref().map_or(0, |others| others.requests);
    let left_out = model.left_out.iter().map(|(route, _)| route.requests).sum::<u64>() + others;
    Made {
        scenario: scenario(traffic, &model, &fidelity, beside),
        paths: table(&model),
        fidelity: Some(fidelity),
        left_out: (model.left_out.len() + usize::from(others > 0), left_out),
        lasts: lasts(&model),
    }
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

fn scenario(traffic: &Traffic, model: &Model<'_>, fidelity: &Fidelity, beside: Beside<'_>) -> String {
    let mut text = format!(
        "# The traffic of {}: {} % of them, the rest is listed below.\n# Set the target, then: loadline run THIS_FILE\n# Flags go over it: \
         --rate 20/s -d 5m\n",
        counted(traffic.requests, "logged request"),
        percent((model.share * 1_000.0).round() / 10.0)
    );
    let _ = writeln!(text, "# {}", fidelity.in_words());
    if let Some(file) = beside.paths_file.filter(|_| model.used.iter().any(|used| !used.table.is_empty())) {
        let _ = writeln!(text, "# What routes were asked for, and how often, is in {}: keep it beside this file.", visible(file));
    }
    if let Some(words) = stand_ins(traffic) {
        let _ = writeln!(text, "# {words}");
    }
    if model.used.iter().any(|used| used.body.is_some()) {
        text += "# Bodies are examples from the description of the API, not the log's.\n";
    }
    let _ = writeln!(text, "target: http://127.0.0.1:8080");
    let _ = writeln!(text, "load:\n  # The busiest hour of the log, from {}: {}.", utc(model.from_s), begins(model));
    let _ = writeln!(text, "  # It lasts {} unless -d says otherwise.", lasts(model));
    let requests = model.visit.as_ref().map_or(1.0, Visit::requests_mean);
    let stages: Vec<String> = model.stages.iter().map(|(rate, seconds)| format!("{}/s for {seconds}s", rounded(rate / requests))).collect();
    let _ = writeln!(text, "  rate: '{}'", stages.join(", "));
    text += "journeys:\n";
    match &model.visit {
        Some(visit) => {
            let _ = writeln!(
                text,
                "  - name: visit\n    steps:\n      # As many requests as visits of the log had: one of a hundred, each as likely.\n      - repeat: \
                 '{}'\n        steps:\n          - pick:",
                visit.times()
            );
            for used in &model.used {
                let _ = writeln!(text, "              - weight: {}\n                steps:", used.requests);
                step(&mut text, used, 9);
            }
            text += "          # Pauses as in the log, by their shares.\n          - pick:\n";
            for (weight, pause) in &visit.pauses {
                let _ = writeln!(text, "              - {{weight: {weight}, steps: [{{pause: {pause}}}]}}");
            }
        }
        None => {
            for used in &model.used {
                let _ = writeln!(text, "  - name: {}\n    weight: {}\n    steps:", scalar(&used.name, 0), used.requests);
                step(&mut text, used, 3);
            }
        }
    }
    for (route, why) in &model.left_out {
        let _ = writeln!(text, "# {why}:\n#   {} {}", route.requests, visible(&name(route)));
    }
    if let Some(others) = &traffic.others {
        let _ = writeln!(text, "# And {} of routes that are not listed.", counted(others.requests, "request"));
    }
    text
}

/// How long all stages take together.
fn lasts(model: &Model<'_>) -> Nanos {
    Nanos::from_secs(model.stages.iter().map(|(_, seconds)| seconds).sum())
}

fn begins(model: &Model<'_>) -> &'static str {
    if model.visit.is_some() { "visits begun a second" } else { "requests a second" }
}

/// A request as a step so many levels of two blanks deep. Where most answers were errors, these are what is expected.
fn step(text: &mut String, used: &Used<'_>, depth: usize) {
    let Used { name, method, path, body, expected, .. } = used;
    let indent = "  ".repeat(depth);
    let _ = writeln!(text, "{indent}- {}: {}", method.to_ascii_lowercase(), scalar(path, 0));
    if format!("{method} {path}") != *name {
        let _ = writeln!(text, "{indent}  name: {}", scalar(name, 0));
    }
    if let Some(request) = body {
        *text += &printed_body(request, depth + 1);
    }
    if let Some(statuses) = expected {
        let _ = writeln!(text, "{indent}  checks: {{status: '{statuses}'}}");
    }
}

fn name(route: &Route) -> String {
    format!("{} {}", route.method, route.path)
}

/// What is said of values that stand for others; nothing where none do.
#[must_use]
pub fn stand_ins(traffic: &Traffic) -> Option<String> {
    if traffic.stand_ins == 0 {
        return None;
    }
    let altered = |route: &Route| {
        let listed = route.targets.iter().flat_map(|targets| &targets.listed);
        listed.fold((0, 0), |(altered, all), target| (altered + if target.is_altered { target.requests } else { 0 }, all + target.requests))
    };
    let (altered, all) = traffic.routes.iter().map(altered).fold((0, 0), |sum, next| (sum.0 + next.0, sum.1 + next.1));
    let share = percent((altered as f64 / all.max(1) as f64 * 1_000.0).round() / 10.0);
    Some(format!(
        "{} that {} personal or secret {} replaced (same value, same replacement), in {share} % of requests.",
        counted(traffic.stand_ins, "value"),
        if traffic.stand_ins == 1 { "looks" } else { "look" },
        if traffic.stand_ins == 1 { "was" } else { "were" }
    ))
}

fn rounded(rate: f64) -> String {
    let text = decimal(rate, 4).replace(',', "");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// How near a scenario's traffic comes to that of the log it is from.
#[derive(Debug, Clone, PartialEq)]
pub struct Fidelity {
    /// Of all requests, those that go where the log's went, from 0 to 1: one less the total variation distance of the two mixes.
    pub mix: f64,
    /// Windows in seconds, each with variance over mean of the requests in it, in the log and in the scenario.
    pub bursts: Vec<(u32, f64, f64)>,
    /// What the routes that are sent ask for; `None` where values are made up.
    pub paths: Option<Paths>,
    /// Of the numbers of requests of visits, and of the pauses in them: the widest gap between the log's distribution and the scenario's
    /// (Kolmogorov and Smirnov's). `None` where requests come one by one.
    pub visits: Option<(f64, f64)>,
}

/// How many of a log's paths, with their queries, a scenario asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paths {
    /// Different ones that it asks for.
    pub asked: u64,
    /// Different ones that the log has on these routes; an estimate where it does not ask for all.
    pub logged: u64,
    /// Of the log's requests on these routes, those that went to one that it asks for, from 0 to 1; an estimate as well.
    pub covered: f64,
}

impl Paths {
    fn of(model: &Model<'_>) -> Option<Self> {
        let mut paths = Self { asked: 0, logged: 0, covered: 0.0 };
        let mut requests = 0.0;
        for used in &model.used {
            let known = used.paths?;
            paths.asked += known.asked;
            paths.logged += known.logged;
            paths.covered += known.covered * used.requests as f64;
            requests += used.requests as f64;
        }
        (requests > 0.0).then(|| Self { covered: paths.covered / requests, ..paths })
    }

    fn in_words(self) -> String {
        if self.asked >= self.logged {
            return format!("All {} of these routes are asked for, as often as in the log.", counted(self.logged, "different path"));
        }
        format!(
            "{} of about {} are asked for, those of {} % of requests.",
            count(self.asked),
            counted(self.logged, "different path"),
            percent((self.covered * 1_000.0).round() / 10.0)
        )
    }
}

impl Fidelity {
    /// From 0 to 1: the mix, times how alike the bursts are on average (the lesser index over the greater), times how much of the
    /// distributions of visits and pauses agree.
    #[must_use]
    pub fn score(&self) -> f64 {
        let alike = |(_, log, ours): &(u32, f64, f64)| if log.max(*ours) > 0.0 { log.min(*ours) / log.max(*ours) } else { 1.0 };
        let bursts = self.bursts.iter().map(alike).sum::<f64>() / self.bursts.len().max(1) as f64;
        let visits = self.visits.map_or(1.0, |(requests, pauses)| (1.0 - requests) * (1.0 - pauses));
        self.mix * visits * if self.bursts.is_empty() { 1.0 } else { bursts }
    }

    /// In a sentence.
    #[must_use]
    pub fn in_words(&self) -> String {
        let percent = |share: f64| percent((share * 1_000.0).round() / 10.0);
        let bursts: Vec<String> = self
            .bursts
            .iter()
            .map(|(window, log, ours)| format!("{} ({} in the log) in {window} s", decimal(*ours, 1), decimal(*log, 1)))
            .collect();
        let bursts = if bursts.is_empty() { NONE.to_owned() } else { bursts.join(", ") };
        let visits = self.visits.map_or_else(String::new, |(requests, pauses)| {
            format!(
                " Visits differ from the log's by {} in their length and {} in their pauses (Kolmogorov-Smirnov distance, 0 is none).",
                decimal(requests, 3),
                decimal(pauses, 3)
            )
        });
        let paths = self.paths.map_or_else(|| "Values in paths are made up.".to_owned(), Paths::in_words);
        format!(
            "Fidelity {} %: {} % of requests go where the log's went; burstiness, variance over mean: {bursts}.{visits} {paths}",
            percent(self.score()),
            percent(self.mix)
        )
    }
}

/// Plays the scenario of a log in memory and counts what it sends as the log was counted.
fn fidelity(traffic: &Traffic, model: &Model<'_>) -> Fidelity {
    let mut random = Random::new(1, 0);
    let mut exponential = |mean: f64| -(1.0 - random.unit()).ln() * mean;
    let requests_mean = model.visit.as_ref().map_or(1.0, Visit::requests_mean);
    let mut tally = model.visit.as_ref().map(Tally::of);
    let mut times: Vec<f64> = Vec::new();
    let mut begins = 0.0;
    let mut chance = Random::new(1, 1);
    'played: for (rate, seconds) in &model.stages {
        let ends = begins + *seconds as f64;
        let mut at = begins;
        begins = ends;
        if *rate <= 0.0 {
            continue;
        }
        loop {
            at += exponential(requests_mean / rate);
            if at >= ends {
                break;
            }
            let Some((visit, tally)) = model.visit.as_ref().zip(tally.as_mut()) else {
                times.push(at);
                if times.len() >= PLAYED_MAX {
                    begins = at;
                    break 'played;
                }
                continue;
            };
            let requests = visit.draw_requests(&mut chance);
            tally.visit(requests);
            let mut now = at;
            for request in 0..requests {
                times.push(now);
                let after = now + visit.draw_pause(&mut chance).as_secs_f64();
                if request + 1 < requests {
                    tally.pause(now, after);
                }
                now = after;
            }
            if times.len() >= PLAYED_MAX {
                begins = at;
                break 'played;
            }
        }
    }
    // What comes after the last visit began is its end alone.
    times.retain(|at| *at < begins);
    times.sort_unstable_by(f64::total_cmp);
    let paths = Paths::of(model);
    let visits = tally.zip(traffic.users.as_ref()).map(|(tally, users)| tally.apart_from(&users.visits));
    Fidelity { mix: mix(traffic, model, times.len() as u64, &mut chance), bursts: bursts(traffic, &times), paths, visits }
}

/// One less the total variation distance between the log's routes and as many draws as there are requests.
fn mix(traffic: &Traffic, model: &Model<'_>, requests: u64, chance: &mut Random) -> f64 {
    if requests == 0 {
        return 0.0;
    }
    let mut sums: Vec<u64> = Vec::new();
    for used in &model.used {
        sums.push(sums.last().copied().unwrap_or(0) + used.requests);
    }
    let total = sums.last().copied().unwrap_or(1);
    let mut drawn = vec![0_u64; sums.len()];
    for _ in 0..requests {
        let at = chance.between(0, total - 1);
        drawn[sums.partition_point(|sum| *sum <= at)] += 1;
    }
    let all = traffic.requests as f64;
    let used = model.used.iter().zip(&drawn).map(|(used, drawn)| (used.requests as f64 / all).min(*drawn as f64 / requests as f64));
    used.sum()
}

/// The burstiness of both, in every window where both have one.
fn bursts(traffic: &Traffic, times: &[f64]) -> Vec<(u32, f64, f64)> {
    let of = |traffic: &Traffic| -> BTreeMap<u32, f64> {
        let dispersion = traffic.course.iter().flat_map(|course| &course.dispersion);
        dispersion.filter_map(|it| Some((it.window_s, it.within_the_hour?))).collect()
    };
    let mut survey = Survey::new(Asked::default(), Personal::LeftOut);
    let mut log = String::new();
    // An hour of the clock, as the log's are.
    for at in times {
        let second = at.max(0.0) as i64;
        let _ = writeln!(log, "{{\"time\":\"{}\",\"method\":\"GET\",\"path\":\"/\",\"status\":200}}", stamp(second));
    }
    // Memory can be read.
    let _ = survey.read("played", log.as_bytes());
    let (logged, played) = (of(traffic), of(&survey.finish()));
    logged.into_iter().filter_map(|(window, log)| Some((window, log, *played.get(&window)?))).collect()
}

/// RFC 3339, so many seconds into 2026.
fn stamp(seconds: i64) -> String {
    const BEGINS: i64 = 1_767_225_600;
    utc(BEGINS + seconds).replace(" UTC", "Z").replace(' ', "T")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of nginx's combined form: when (seconds), who, and what.
    fn surveyed(requests: impl Iterator<Item = (u64, u64, String)>) -> Traffic {
        let mut log = String::new();
        for (at, user, request) in requests {
            let (hour, minute, second) = (at / 3600, at / 60 % 60, at % 60);
            let _ = writeln!(
                log,
                "10.0.{}.{} - - [02/Jan/2026:{hour:02}:{minute:02}:{second:02} +0000] \"{request} HTTP/1.1\" 200 612 \"-\" \"curl/8\"",
                user / 250,
                user % 250
            );
        }
        let mut survey = Survey::new(Asked::default(), Personal::LeftOut).with_targets();
        survey.read("access.log", log.as_bytes()).unwrap();
        survey.finish()
    }

    fn in_a_file(traffic: &Traffic) -> Made {
        made(traffic, Beside { paths_file: Some("shop.paths.csv"), described: None })
    }

    /// An hour of independent requests at an even rate.
    fn even() -> Traffic {
        let mut random = Random::new(3, 0);
        let mut at: Vec<u64> = (0..36_000).map(|_| random.between(0, 3_599)).collect();
        at.sort_unstable();
        surveyed(at.into_iter().enumerate().map(|(number, at)| {
            let path = if number % 10 < 7 { "GET /".to_owned() } else { format!("GET /items/{}", number % 97) };
            (at, number as u64 % 60_000, path)
        }))
    }

    #[test]
    fn independent_requests_are_played_as_they_were() {
        let traffic = even();
        let Made { scenario: text, paths, fidelity, .. } = in_a_file(&traffic);
        let fidelity = fidelity.unwrap();
        assert!(fidelity.mix > 0.97 && fidelity.score() > 0.85, "{fidelity:?}");
        assert!(fidelity.bursts.iter().all(|(_, log, ours)| (log / ours - 1.0).abs() < 0.3), "{fidelity:?}");
        assert!(text.contains("\n  - name: GET /\n    weight: 25200\n    steps:\n      - get: /\n"), "{text}");
        let step = "      - get: '{{weighted \"shop.paths.csv\" \"GET /items/{id}\"}}'\n        name: 'GET /items/{id}'\n";
        assert!(text.contains(step) && text.contains("is in shop.paths.csv: keep it beside"), "{text}");
        assert!(text.contains("# Fidelity ") && text.contains("  rate: '"), "{text}");
        let table = paths.unwrap();
        assert_eq!((table.lines().next(), table.lines().count()), (Some("group,weight,path"), 98));
        let weights: u64 = table.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().parse::<u64>().unwrap()).sum();
        assert_eq!(weights, 10_800, "{table}");
        assert_eq!(fidelity.paths, Some(Paths { asked: 98, logged: 98, covered: 1.0 }));
        assert!(fidelity.in_words().ends_with("All 98 different paths of these routes are asked for, as often as in the log."));
        // Without a place for the table, ids are made up.
        let alone = made(&traffic, Beside::default());
        assert!(
            alone.scenario.contains("      - get: '/items/{{random 1 1000}}'\n        name: 'GET /items/{id}'\n"),
            "{}",
            alone.scenario
        );
        assert!(alone.paths.is_none() && alone.fidelity.unwrap().in_words().ends_with("Values in paths are made up."));
    }

    #[test]
    fn visits_are_visits_again() {
        let mut random = Random::new(4, 0);
        let mut requests = Vec::new();
        for user in 0..1_200 {
            let mut at = random.between(0, 3_000);
            for _ in 0..random.between(1, 9) {
                requests.push((at, user, "GET /".to_owned()));
                at += random.between(1, 40);
            }
        }
        requests.sort();
        let traffic = surveyed(requests.into_iter());
        let Made { scenario: text, fidelity, .. } = in_a_file(&traffic);
        assert!(text.contains("  - name: visit\n") && text.contains("- repeat: '{{choice 1 1 "), "{text}");
        assert!(text.contains("              - {weight: 50, steps: [{pause: ") && text.contains("# It lasts "), "{text}");
        let fidelity = fidelity.unwrap();
        let (lengths, pauses) = fidelity.visits.unwrap();
        assert!(lengths <= 0.05 && pauses <= 0.05, "{fidelity:?}");
        assert!(fidelity.score() > 0.6 && fidelity.in_words().contains(" Visits differ from the log's by 0.0"), "{fidelity:?}");
    }

    #[test]
    fn what_writes_is_left_out_listed_and_lowers_the_score() {
        let traffic = surveyed((0..3_000).map(|at| (at, at % 7, if at % 2 == 0 { "GET /" } else { "POST /orders" }.to_owned())));
        let Made { scenario: text, fidelity, left_out, .. } = in_a_file(&traffic);
        assert_eq!(left_out, (1, 1_500));
        assert!(text.contains("# Left out, since it may write, and its body is not in a log:\n#   1500 POST /orders\n"), "{text}");
        assert!(text.starts_with("# The traffic of 3,000 logged requests: 50 % of them"), "{text}");
        let mix = fidelity.unwrap().mix;
        assert!((0.45..=0.5).contains(&mix), "{mix}");
        let writes = surveyed((0..30).map(|at| (at, 1, "POST /orders".to_owned())));
        let nothing = in_a_file(&writes);
        assert!(nothing.scenario.starts_with("# Nothing in this log can be sent") && nothing.fidelity.is_none());
    }

    #[test]
    fn queries_are_kept_and_secrets_in_them_are_not() {
        let traffic = surveyed((0..3_000).map(|at| {
            let target = match at % 4 {
                0 => "/get_result?a=1&b=2".to_owned(),
                1 => "/get_result?a=\"3\",4".to_owned(),
                _ => format!("/me?token=s3cr3t{}&mail=ann%40x.example", at % 3),
            };
            (at, at % 7, format!("GET {target}"))
        }));
        let made = in_a_file(&traffic);
        let table = made.paths.unwrap();
        assert!(table.contains("\nGET /get_result,750,/get_result?a=1&b=2\n"), "{table}");
        assert!(table.contains("\nGET /get_result,750,\"/get_result?a=\"\"3\"\",4\"\n"), "{table}");
        assert_eq!(table.matches("GET /me,").count(), 3, "{table}");
        for hidden in ["s3cr3t", "ann"] {
            assert!(!table.contains(hidden) && !made.scenario.contains(hidden), "{hidden}: {table}{}", made.scenario);
        }
        assert!(made.scenario.contains("# 4 values that look personal or secret were replaced"), "{}", made.scenario);
    }

    #[test]
    fn files_that_are_served_as_they_are_stand_in_one_step() {
        let traffic = surveyed((0..3_000).map(|at| {
            let path = match at % 6 {
                0 => "/".to_owned(),
                1 => "//favicon.ico".to_owned(),
                place => format!("/assets/{}.css", char::from(b'a' + place as u8)),
            };
            (at, at % 7, format!("GET {path}"))
        }));
        let made = in_a_file(&traffic);
        let text = &made.scenario;
        assert_eq!(text.matches("- get: ").count(), 2, "{text}");
        assert!(
            text.contains("- get: '{{weighted \"shop.paths.csv\" \"static files\"}}'\n") && text.contains("name: static files\n"),
            "{text}"
        );
        let table = made.paths.unwrap();
        assert!(table.contains("\nstatic files,500,//favicon.ico\n") && table.contains("\nstatic files,500,/assets/c.css\n"), "{table}");
        assert!(made.fidelity.unwrap().mix > 0.97);
        // Without a table nothing can be drawn, and what begins with two slashes would name a server.
        let alone = super::made(&traffic, Beside::default());
        assert!(alone.scenario.contains("# Left out, since it is no path:\n#   500 GET //favicon.ico\n"), "{}", alone.scenario);
    }

    #[test]
    fn a_log_of_more_routes_than_a_scenario_has_steps_is_told_by_its_largest() {
        let letter = |number: u64| char::from(b'a' + (number % 26) as u8);
        let path = |at: u64| format!("GET /{}{}/{}{}", letter(at / 40), letter(at / 40 / 26), letter(at % 40), letter(at % 40 / 26));
        let traffic = surveyed((0..3_000).map(|at| (at, at % 7, path(at % 1_600))));
        assert_eq!(traffic.routes.len(), 1_600);
        let made = in_a_file(&traffic);
        assert_eq!((made.scenario.matches("- get: ").count(), made.left_out.0), (STEPS_MAX, 600));
        assert!(made.scenario.contains("# Left out, since a scenario has at most 1,000 steps:\n"));
    }

    #[test]
    fn bodies_are_those_of_a_description() {
        let traffic = surveyed((0..3_000).map(|at| {
            let request = ["GET /", "POST /v1/orders", "PUT /v1/orders/17?x=1", "POST /other", "DELETE /v1/orders/1"][at as usize % 5];
            (at, at % 7, request.to_owned())
        }));
        let described = r#"{"openapi": "3.1.0", "servers": [{"url": "/v1"}], "paths": {
            "/orders": {"post": {"requestBody": {"content": {"application/json": {"example": {"item": 7}}}}}},
            "/orders/{id}": {"put": {"requestBody": {"content": {"text/plain": {"example": "later"}}}}, "delete": {}}}}"#;
        let described = Described::read(described.as_bytes()).unwrap();
        let made = made(&traffic, Beside { paths_file: Some("shop.paths.csv"), described: Some(&described) });
        let text = made.scenario;
        assert!(text.contains("- post: /v1/orders\n") && text.contains("json: '{\"item\":7}'\n"), "{text}");
        assert!(text.contains("- put: /v1/orders/17?x=1\n") && text.contains("body: later\n"), "{text}");
        assert!(text.contains("the description of the API has no such request:\n#   600 POST /other\n"), "{text}");
        assert!(text.contains("# Bodies are examples") && text.contains("#   600 DELETE /v1/orders/{id}\n"), "{text}");
        assert_eq!(made.left_out, (2, 1_200));
        assert!(made.fidelity.unwrap().mix > 0.55);
    }
}
