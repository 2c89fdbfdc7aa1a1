//! What a run was and how it came out, in sentences that every format for people shares.

use analysis::Reading;
use analysis::interval::{Evidence, Figure};
use analysis::quantity::{self, NONE, count, counted};
use measure::{Ending, Histogram, Summary};
use plan::{Body, Braces, Keepalive, Load, Plan, RowOrder, Spacing, Stage, template};

use crate::visible::visible;

/// The method, the URL and what the body is; a list of URLs by its name, and the files that rows are taken from.
#[must_use]
pub fn request_of(plan: &Plan) -> String {
    if plan.replay().is_some() {
        return format!("those of a log, to {}", visible(plan.target().to_string().trim_end_matches('/')));
    }
    let filling = plan.filling();
    let is_template = |bytes: &[u8]| filling.braces == Braces::Template && std::str::from_utf8(bytes).is_ok_and(template::is_templated);
    let body = match &plan.request().body {
        Body::Empty => String::new(),
        Body::Bytes(bytes) if is_template(bytes) => " with a body made from a template".to_owned(),
        Body::Bytes(bytes) => format!(" with a body of {}", quantity::bytes(bytes.len() as f64)),
        Body::File(path) => format!(" with {} as its body", visible(path)),
        Body::Form { parts, .. } => format!(" with a form of {}", counted(parts.len() as u64, "field")),
    };
    let rows: Vec<String> = filling.files.iter().map(|file| visible(&file.path)).collect();
    let rows = match (rows.is_empty(), filling.order) {
        (true, _) => String::new(),
        (_, RowOrder::InOrder) => format!(", a row of {} for each, in order", rows.join(" and of ")),
        (_, RowOrder::Random) => format!(", a random row of {} for each", rows.join(" and of ")),
        (_, RowOrder::PerUser) => format!(", a row of {} for each user", rows.join(" and of ")),
    };
    if let Some(file) = plan.scenario() {
        let target = plan.target();
        return format!("the journeys of {} to {}://{}{rows}", visible(file.title()), target.scheme(), visible(&target.authority()))
            .replace("for each", "for each journey")
            .replace("for each journey user", "for each user");
    }
    match &filling.mix {
        Some(mix) => format!("the URLs in {}{body}{rows}", visible(&mix.path)),
        None => format!("{} {}{body}{rows}", visible(&plan.request().method), visible(&plan.target().to_string())),
    }
}

/// The answer, in one sentence.
pub(crate) fn answer(reading: &Reading<'_>) -> String {
    let summary = reading.run;
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
            let answered = rate(summary.qps);
            format!("{answered} requests a second answered{} of {} a second asked for; {outcome}", sure(reading), rate(offered))
        }
        (Load::Open { .. }, None) => {
            let journeys = summary.scenario.as_ref().map_or_else(String::new, |scenario| {
                let offered = scenario.tps_offered.map_or_else(String::new, |offered| format!(" of {} started", rate(offered)));
                format!("{} journeys a second{offered}, ", rate(scenario.tps))
            });
            format!("{journeys}{} requests a second{}; {outcome}", rate(summary.qps), sure(reading))
        }
        _ => {
            let users = counted(summary.concurrency, "concurrent user");
            let journeys =
                summary.scenario.as_ref().map_or_else(String::new, |scenario| format!(" in {} journeys a second", rate(scenario.tps)));
            format!("{} requests a second{journeys} at {users}{}; {outcome}", rate(summary.qps), sure(reading))
        }
    }
}

/// How sure the throughput is, to stand behind it: ` (± 310)`; nothing where that is not known.
fn sure(reading: &Reading<'_>) -> String {
    reading.uncertainty.as_ref().and_then(|uncertainty| uncertainty.qps).map_or_else(String::new, |qps| format!(" ({})", margin(&qps)))
}

fn margin(qps: &Figure) -> String {
    let half = half_width(qps);
    // Of two seconds, chance could have made anything.
    if half >= qps.value {
        return "too few seconds to say how sure".to_owned();
    }
    // Of an uncertainty, the first two digits tell all there is to tell.
    let unit = if half > 0.0 { 10f64.powf(half.log10().floor() - 1.0) } else { 1.0 };
    format!("± {}", rate((half / unit).ceil() * unit))
}

/// What stands behind ±: the longer side of the interval, so that the figure and it cover the whole of it.
pub(crate) fn half_width(figure: &Figure) -> f64 {
    (figure.value - figure.interval.low).max(figure.interval.high - figure.value)
}

/// What is known of a quantile of the response time; `None` where nothing was looked at.
pub(crate) fn evidence(reading: &Reading<'_>, q: f64) -> Option<Evidence> {
    let quantiles = &reading.uncertainty.as_ref()?.quantiles;
    quantiles.iter().find(|quantile| (quantile.q - q).abs() < f64::EPSILON).map(|quantile| quantile.evidence)
}

/// A quantile of one of the run's times: a dash with too few samples, and in brackets where they are worth too few, because
/// most of the slow ones came together: then it tells what this run saw, and not what the next would see.
pub(crate) fn quantile(reading: &Reading<'_>, times: &Histogram, q: f64) -> String {
    match (times.known_quantile(q), evidence(reading, q)) {
        (Some(time), Some(Evidence::NotEnough { .. })) => format!("({})", quantity::nanos(Some(time))),
        (time, _) => quantity::nanos(time),
    }
}

/// The ± of a quantile of the response time; a dash where there is none.
pub(crate) fn plus_minus(reading: &Reading<'_>, q: f64) -> String {
    match evidence(reading, q) {
        Some(Evidence::Known { figure, .. }) => quantity::time(half_width(&figure)),
        _ => NONE.to_owned(),
    }
}

/// Which percentiles are not known, and how much longer the run would have to be for each; `None` if none is missing.
pub(crate) fn missing(reading: &Reading<'_>) -> Option<String> {
    let needs: Vec<String> = measure::QUANTILES
        .iter()
        .filter_map(|q| match evidence(reading, *q)? {
            Evidence::NotEnough { more_seconds: Some(more) } => {
                let more = quantity::length(plan::Nanos::from_secs(more.ceil().max(1.0) as u64));
                Some(format!("{} needs about {more} more", quantity::quantile(*q)))
            }
            _ => None,
        })
        .collect();
    if needs.is_empty() {
        return None;
    }
    let bracketed = measure::QUANTILES.iter().any(|q| quantile(reading, &reading.run.response_time, *q).starts_with('('));
    let dashed = measure::QUANTILES.iter().any(|q| reading.run.response_time.known_quantile(*q).is_none());
    let brackets = "Brackets stand around what this run saw and another may not: the slow requests came together";
    let dash = format!("{NONE} stands where too few requests were timed to tell");
    let said: Vec<&str> = [(bracketed, brackets), (dashed, &dash)].iter().filter(|(is, _)| *is).map(|(_, said)| *said).collect();
    Some(format!("{}. To know, {}.", said.join(". "), needs.join(", ")))
}

/// How the load was made, and what follows for reading the times.
pub(crate) fn load(summary: &Summary) -> Vec<String> {
    let mut lines = vec![load_of(&summary.plan)];
    let single = summary.plan.requests().is_some_and(|requests| requests.get() == 1);
    if matches!(summary.plan.load(), Load::Closed { .. }) && !single && summary.requests.due > 1 {
        lines.push(
            "Such users slow down with the server. These are the times at this concurrency; users who come on their own, at \
             this rate, would wait longer whenever the server falters. --rate measures that."
                .to_owned(),
        );
    }
    lines
}

/// How a plan makes its load, in one sentence.
#[must_use]
pub fn load_of(plan: &Plan) -> String {
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
        return "a single request on one connection".to_owned();
    }
    if let (Load::Open { timetable, connections_max, .. }, Some(replay)) = (plan.load(), plan.replay()) {
        let speed = match replay.speed.factor() {
            1.0 => "at the times of the log".to_owned(),
            factor if factor > 1.0 => format!("at the times of the log, {factor} times as fast"),
            factor => format!("at the times of the log, at {factor} times its speed"),
        };
        let order = if replay.per_client_order { ", a client's next not before its last was answered" } else { "" };
        return format!(
            "the requests of {} {speed}{order}, {until}{fresh}: {} requests a second on average, whether or not the server keeps up (open \
             load), over at most {}",
            visible(&replay.logs.join(", ")),
            rate(timetable.peak().as_per_second()),
            counted(connections_max.get().into(), "connection")
        );
    }
    match plan.load() {
        Load::Closed { users, pause } => {
            let after = match pause {
                None => "as soon as the last answer is there".to_owned(),
                Some(pause) => format!("{} after the last answer", pause.to_string().replace("..", " to ")),
            };
            if plan.scenario().is_some() {
                let waits =
                    pause.map_or_else(String::new, |pause| format!(", {} after each answer", pause.to_string().replace("..", " to ")));
                let who = if users.get() == 1 {
                    "1 user on one connection, who goes".to_owned()
                } else {
                    format!("{} users on a connection each, who go", count(users.get().into()))
                };
                return format!("{who} from journey to journey{waits}, {until}{fresh} (closed load)");
            }
            let who = if users.get() == 1 {
                "1 user on one connection, who sends again".to_owned()
            } else {
                format!("{} users on a connection each, who send again", count(users.get().into()))
            };
            format!("{who} {after}, {until}{fresh} (closed load)")
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
            let what = if plan.scenario().is_some() { "journeys started" } else { "requests" };
            format!(
                "{}, {spaced}{until}{fresh}, whether or not the server keeps up (open load), over at most {}",
                stages(timetable.stages(), what),
                counted(connections_max.get().into(), "connection")
            )
        }
    }
}

/// With more stages than this, a reader wants to know what they come to.
const STAGES_MAX: usize = 6;

fn stages(stages: &[Stage], what: &str) -> String {
    if stages.len() > STAGES_MAX {
        let rates = || stages.iter().flat_map(|stage| [stage.from.as_per_second(), stage.to.as_per_second()]);
        let (least, most) = (rates().fold(f64::MAX, f64::min), rates().fold(0.0, f64::max));
        let length = stages.iter().filter_map(|stage| stage.length).fold(plan::Nanos::ZERO, plan::Nanos::plus);
        return format!("{} to {} {what} a second in {} stages over {}", rate(least), rate(most), stages.len(), quantity::length(length));
    }
    let said: Vec<String> = stages
        .iter()
        .map(|stage| {
            let (from, to) = (stage.from.as_per_second(), stage.to.as_per_second());
            let length = match stage.length {
                Some(length) if stages.len() > 1 || from != to => format!(" for {}", quantity::length(length)),
                _ => String::new(),
            };
            if from == to {
                format!("{} {what} a second{length}", rate(from))
            } else {
                format!("from {} to {} {what} a second{}", rate(from), rate(to), length.replacen("for", "over", 1))
            }
        })
        .collect();
    said.join(", then ")
}

/// What a reader must know before any figure; nothing when the run went as planned.
pub(crate) fn ending(reading: &Reading<'_>) -> Option<String> {
    let summary = reading.run;
    let until = quantity::length(summary.ended.load_until);
    let planned = match summary.plan.duration() {
        Some(_) => format!(" of {}", quantity::length(summary.plan.end())),
        None => String::new(),
    };
    let rule = reading.aborted_by.as_ref().map_or_else(String::new, |rule| format!(", as '{rule}' came true,"));
    match summary.ended.how {
        Ending::Finished => None,
        Ending::Interrupted => Some(format!("Interrupted after {until}{planned}: the figures hold what was measured until then")),
        Ending::Aborted => Some(format!("Aborted{rule} after {until}{planned}: the figures hold what was measured until then")),
        Ending::CutShort => Some(format!("Cut short by an error after {until}{planned}: the figures hold what was measured until then")),
        Ending::Killed => {
            Some(format!("Cut short after {until}{planned}, as loadline was ended from outside: the figures hold what was counted by then"))
        }
    }
}

/// A rate: whole above a hundred, three digits below.
pub(crate) fn rate(rate: f64) -> String {
    quantity::figure(rate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::interval::Interval;

    #[test]
    fn a_margin_as_wide_as_the_figure_is_said_in_words() {
        let of = |value: f64, low: f64, high: f64| margin(&Figure { value, interval: Interval { low, high } });
        assert_eq!(of(47_812.0, 47_502.0, 48_100.0), "± 310");
        assert_eq!(of(14_000.0, 900.0, 107_000.0), "too few seconds to say how sure");
    }
}
