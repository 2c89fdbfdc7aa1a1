//! What a run was and how it came out, in sentences that every format for people shares.

use analysis::quantity::{self, count, counted};
use measure::{Ending, Summary};
use plan::{Body, Keepalive, Load, Spacing, Stage};

use crate::visible::visible;

/// The method, the URL and what the body is.
pub(crate) fn request(summary: &Summary) -> String {
    let plan = &summary.plan;
    let body = match &plan.request().body {
        Body::Empty => String::new(),
        Body::Bytes(bytes) => format!(" with a body of {}", quantity::bytes(bytes.len() as f64)),
        Body::File(path) => format!(" with {} as its body", visible(path)),
        Body::Form { parts, .. } => format!(" with a form of {}", counted(parts.len() as u64, "field")),
    };
    format!("{} {}{body}", visible(&plan.request().method), visible(&plan.target().to_string()))
}

/// The answer, in one sentence.
pub(crate) fn answer(summary: &Summary) -> String {
    let requests = &summary.requests;
    if requests.due == 0 {
        return "Nothing was measured: no request fell due".to_owned();
    }
    if requests.due == 1 {
        let how = match (summary.status.keys().next(), summary.failures.first()) {
            (Some(status), _) => format!("answered with {status} {}", crate::reason::reason(*status)),
            (None, Some(failure)) => format!("failed: {}", failure.class.about()),
            (None, None) => "never sent: no connection came free in time".to_owned(),
        };
        let took = match summary.response_time.max() {
            Some(took) if requests.unsent == 0 => format!(" after {}", quantity::nanos(Some(took))),
            _ => String::new(),
        };
        return format!("One request, {how}{took}");
    }
    if summary.status.is_empty() {
        return match summary.failures.first() {
            Some(failure) if failure.count == requests.due => {
                format!("Nothing was answered: all {} requests failed with: {}", count(requests.due), failure.class.about())
            }
            Some(failure) => format!(
                "Nothing was answered: {} failed or were never sent, most often with: {}",
                counted(requests.due, "request"),
                failure.class.about()
            ),
            None => format!("Nothing was answered: none of {} could be sent in time", counted(requests.due, "request")),
        };
    }
    let outcome = match requests.failed + requests.unsent {
        0 => format!("all {} succeeded", count(requests.due)),
        bad => {
            format!("{} of {} did not succeed ({})", count(bad), counted(requests.due, "request"), quantity::share(bad, requests.due))
        }
    };
    match (summary.plan.load(), summary.qps_offered) {
        (Load::Open { .. }, Some(offered)) => {
            format!("{} requests a second answered of {} a second asked for; {outcome}", rate(summary.qps), rate(offered))
        }
        _ => format!("{} requests a second at {}; {outcome}", rate(summary.qps), counted(summary.concurrency, "concurrent user")),
    }
}

/// How the load was made, and what follows for reading the times.
pub(crate) fn load(summary: &Summary) -> Vec<String> {
    let plan = &summary.plan;
    let until = match (plan.duration(), plan.requests()) {
        (Some(duration), Some(requests)) => format!("for {} or {}", quantity::length(duration), counted(requests.get(), "request")),
        (Some(duration), None) => format!("for {}", quantity::length(duration)),
        (None, Some(requests)) => format!("until {} were made", counted(requests.get(), "request")),
        (None, None) => "until stopped".to_owned(),
    };
    let fresh = match plan.connection().keepalive {
        Keepalive::Reuse => "",
        Keepalive::CloseEach => ", with a new connection for every request",
    };
    if plan.requests().is_some_and(|requests| requests.get() == 1) {
        return vec!["a single request on one connection".to_owned()];
    }
    match plan.load() {
        Load::Closed { users, pause } => {
            let after = match pause {
                None => "as soon as the last answer is there".to_owned(),
                Some(pause) => format!("{} after the last answer", pause.to_string().replace("..", " to ")),
            };
            let who = if users.get() == 1 {
                "1 user on one connection, who sends again".to_owned()
            } else {
                format!("{} users on a connection each, who send again", count(users.get().into()))
            };
            let mut lines = vec![format!("{who} {after}, {until}{fresh} (closed load)")];
            if summary.requests.due > 1 {
                lines.push(
                    "Such users slow down with the server. These are the times at this concurrency; users who come on their own, at \
                     this rate, would wait longer whenever the server falters. --rate measures that."
                        .to_owned(),
                );
            }
            lines
        }
        Load::Open { timetable, spacing, connections_max } => {
            let spaced = match spacing {
                Spacing::Poisson => "at random moments, as independent users come (Poisson)",
                Spacing::Even => "at even distances",
            };
            // Several stages already say how long they are.
            let until = match (timetable.stages().len(), plan.requests()) {
                (2.., None) => String::new(),
                _ => format!(", {until}"),
            };
            vec![format!(
                "{}, {spaced}{until}{fresh}, whether or not the server keeps up (open load), over at most {}",
                stages(timetable.stages()),
                counted(connections_max.get().into(), "connection")
            )]
        }
    }
}

fn stages(stages: &[Stage]) -> String {
    let said: Vec<String> = stages
        .iter()
        .map(|stage| {
            let (from, to) = (stage.from.as_per_second(), stage.to.as_per_second());
            let length = match stage.length {
                Some(length) if stages.len() > 1 || from != to => format!(" for {}", quantity::length(length)),
                _ => String::new(),
            };
            if from == to {
                format!("{} requests a second{length}", rate(from))
            } else {
                format!("from {} to {} requests a second{}", rate(from), rate(to), length.replacen("for", "over", 1))
            }
        })
        .collect();
    said.join(", then ")
}

/// What a reader must know before any figure; nothing when the run went as planned.
pub(crate) fn ending(summary: &Summary) -> Option<String> {
    let until = quantity::length(summary.ended.load_until);
    let planned = match summary.plan.duration() {
        Some(_) => format!(" of {}", quantity::length(summary.plan.end())),
        None => String::new(),
    };
    match summary.ended.how {
        Ending::Finished => None,
        Ending::Interrupted => Some(format!("Interrupted after {until}{planned}: the figures hold what was measured until then")),
        Ending::CutShort => Some(format!("Cut short by an error after {until}{planned}: the figures hold what was measured until then")),
    }
}

/// A rate: whole above a hundred, three digits below.
pub(crate) fn rate(rate: f64) -> String {
    quantity::figure(rate)
}
