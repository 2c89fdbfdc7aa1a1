//! How near a log's traffic comes to the log once it is sent: tried in memory.
//!
//! A share of routes says little where a log comes in bursts. So what the work would send is drawn, written down as a log, and counted
//! by the same code as the log was.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use plan::Random;

use super::Model;
use super::visit::{Tally, Visit};
use crate::{FormChoice, Personal, Survey, Traffic, utc};

/// So many requests are played.
const PLAYED_MAX: usize = 200_000;

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
}

/// Plays the scenario of a log in memory and counts what it sends as the log was counted.
pub(super) fn played(traffic: &Traffic, model: &Model<'_>) -> Fidelity {
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
    let mut survey = Survey::new(FormChoice::default(), Personal::LeftOut);
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
