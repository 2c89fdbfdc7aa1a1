//! What a run was and how it came out, in sentences that every format for people shares.

mod headline;

use analysis::Reading;
use analysis::interval::{Evidence, Figure};
use analysis::quantity::{self, NONE, count, counted};
use measure::{Ending, Failure, Histogram, Summary};
use plan::{Amount, Body, HttpVersion, Keepalive, Load, Plan, RowOrder, Spacing, Spelling, Stage, Templating, Users, template};

use crate::visible::visible;

pub use headline::listed as causes;
pub(crate) use headline::{answer, cause, statuses};

/// Nobody repeats a run that would have to be longer by more than this factor.
const LONGER_MAX: f64 = 10.0;

/// The method, the URL and what the body is; a list of URLs by its name, and the files that rows are taken from.
#[must_use]
pub fn request_of(plan: &Plan) -> String {
    if let Some(replay) = plan.replay() {
        let target = plan.target().to_string();
        return format!("requests of {}, to {}", visible(&replay.logs.join(", ")), visible(target.trim_end_matches('/')));
    }
    let variation = plan.variation();
    let is_template =
        |bytes: &[u8]| variation.braces == Templating::Template && std::str::from_utf8(bytes).is_ok_and(template::is_templated);
    // The URL says what is spoken, and what is sent are messages.
    let scheme = plan.target().scheme();
    let is_of_messages = scheme.is_websocket() || scheme.is_grpc();
    let body = match &plan.request().body {
        Body::Empty => String::new(),
        Body::Bytes(_) if is_of_messages => String::new(),
        Body::Bytes(bytes) if is_template(bytes) => " with a body made from a template".to_owned(),
        Body::Bytes(bytes) => format!(" with a body of {}", quantity::bytes(bytes.len() as f64)),
        Body::File(path) => format!(" with {} as its body", visible(path)),
        Body::Form { parts, .. } => format!(" with a form of {}", counted(parts.len() as u64, "field")),
    };
    let rows: Vec<String> = variation.files.iter().map(|file| visible(&file.path)).collect();
    let each = if plan.scenario().is_some() { "each journey" } else { "each" };
    let rows = match (rows.is_empty(), variation.order) {
        (true, _) => String::new(),
        (_, RowOrder::InOrder) => format!(", a row of {} for {each}, in order", rows.join(" and of ")),
        (_, RowOrder::Random) => format!(", a random row of {} for {each}", rows.join(" and of ")),
        (_, RowOrder::PerUser) => format!(", a row of {} for each user", rows.join(" and of ")),
    };
    if let Some(file) = plan.scenario() {
        let target = plan.target();
        return format!("the journeys of {} to {}://{}{rows}", visible(file.title()), target.scheme(), visible(&target.authority()));
    }
    match &variation.mix {
        Some(mix) => format!("the URLs in {}{body}{rows}", visible(&mix.path)),
        None if is_of_messages => {
            let messages = match &plan.request().body {
                Body::Bytes(bytes) if is_template(bytes) => "messages made from a template".to_owned(),
                Body::Bytes(bytes) => format!("messages of {}", quantity::bytes(bytes.len() as f64)),
                Body::File(path) => format!("messages of {}", visible(path)),
                Body::Empty | Body::Form { .. } => "messages".to_owned(),
            };
            format!("{messages} over {}{rows}", visible(&plan.target().to_string()))
        }
        None => format!("{} {}{body}{rows}", visible(&plan.request().method), visible(&plan.target().to_string())),
    }
}

/// The requests of a run: as its plan says, or that another tool sent them, and where to.
#[must_use]
pub fn requests_of(run: &Summary) -> String {
    match (&run.measured_by, run.resolution.name.as_str()) {
        (None, _) => request_of(&run.plan),
        (Some(tool), "") => format!("requests that {} sent", visible(tool)),
        (Some(tool), server) => format!("requests that {} sent to {}", visible(tool), visible(server)),
    }
}

/// Of a run that another tool measured: that nobody knows whether that tool was the limit.
pub(crate) fn limit_unknown(run: &Summary) -> Option<String> {
    run.measured_by.as_ref().map(|tool| format!("not known: whether {0} itself was the limit is not in the files of {0}", visible(tool)))
}

/// What the user can do about a failure; `None` where that is a setting of loadline's, and another tool sent the requests.
pub(crate) fn remedy(run: &Summary, class: Failure) -> Option<String> {
    let said = class.remedy().spelt(Spelling::Flags);
    (run.measured_by.is_none() || !said.contains("--")).then_some(said)
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

/// What brackets and dashes among these percentiles mean, and how much longer a run would have to be for the next that is missing, if
/// that is within reach; `None` if none is missing.
pub(crate) fn missing(reading: &Reading<'_>, quantiles: &[f64]) -> Option<String> {
    missing_among(reading, &[&reading.run.response_time], quantiles, quantiles)
}

/// The same where several times are shown, of which only some percentiles are; `wanted` are those that a longer run may have.
pub(crate) fn missing_among(reading: &Reading<'_>, times: &[&Histogram], shown: &[f64], wanted: &[f64]) -> Option<String> {
    let shown: Vec<String> = times.iter().flat_map(|times| shown.iter().map(|q| quantile(reading, times, *q))).collect();
    let mut said = Vec::new();
    if shown.iter().any(|cell| cell.starts_with('(')) {
        said.push("(…): uncertain, the slow requests came in one burst.".to_owned());
    }
    if shown.iter().any(|cell| cell == NONE) {
        said.push(format!("{NONE}: too few requests."));
    }
    // More of what failed altogether makes nothing firm.
    let is_worth_it = reading.run.requests.succeeded > 0;
    let next = wanted.iter().filter(|_| is_worth_it).find_map(|q| match evidence(reading, *q)? {
        Evidence::NotEnough { more_seconds } => Some((*q, more_seconds)),
        Evidence::Known { .. } => None,
    });
    if let Some((q, Some(more))) = next.filter(|(_, more)| more.is_some_and(|more| more <= reading.run.duration_s * LONGER_MAX)) {
        let more = quantity::length(plan::Nanos::from_secs(more.ceil().max(1.0) as u64));
        said.push(format!("For a firm {} run {more} longer.", quantity::percentile(q)));
    }
    (!said.is_empty()).then(|| said.join(" "))
}

/// How the load was made, and what follows for reading the times.
pub(crate) fn load(summary: &Summary) -> Vec<String> {
    if let Some(tool) = &summary.measured_by {
        let users = match summary.concurrency {
            0 => String::new(),
            users => format!(", with at most {} at once", counted(users, "user")),
        };
        return vec![format!("as {0} made it{users}; its ramps and pauses are not in the files of {0}", visible(tool))];
    }
    let mut lines = vec![load_of(&summary.plan)];
    let single = summary.plan.requests().is_some_and(|requests| requests.get() == 1);
    if summary.plan.load().is_closed() && !single && summary.requests.due > 1 {
        lines.push("closed load: latency under real arrivals may be higher; see --rate".to_owned());
    }
    lines
}

/// How a plan makes its load, in one sentence.
#[must_use]
pub fn load_of(plan: &Plan) -> String {
    let until = until(plan);
    let fresh = carried(plan);
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
            at_most(plan, connections_max.get())
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
                let (who, until) = users_of(users, plan, "goes", "go");
                return format!("{who} from journey to journey{waits}{until}{fresh} (closed load)");
            }
            let (who, until) = users_of(users, plan, "sends again", "send again");
            format!("{who} {after}{until}{fresh} (closed load)")
        }
        Load::Mixed(populations) => {
            let each = (0..).zip(populations).map(|(place, population)| {
                let after =
                    population.after.as_ref().map_or_else(String::new, |name| format!(", when all users of {} have gone", visible(name)));
                format!("{}: {}{after}", visible(&population.name), load_of(&plan.of_population(place)))
            });
            each.collect::<Vec<_>>().join("; ")
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
            let what = if plan.scenario().is_some() { ("journey", " started a second") } else { ("request", " a second") };
            let most = match plan.connections_each().get() {
                1 => at_most(plan, connections_max.get()),
                each => format!("{} at once, on up to {each} connections each", counted(connections_max.get().into(), "journey")),
            };
            format!(
                "{}, {spaced}{until}{fresh}, whether or not the server keeps up (open load), over at most {most}",
                in_stages(timetable.stages(), rate, what),
            )
        }
    }
}

/// The most that is under way at once, on connections of their own or shared ones.
fn at_most(plan: &Plan, connections_max: u32) -> String {
    if plan.shares_connections() {
        format!("{} at once", counted(connections_max.into(), "request"))
    } else {
        counted(connections_max.into(), "connection")
    }
}

/// What was spoken, if it is not HTTP/1.1 alone.
pub(crate) fn over(run: &Summary) -> String {
    match run.connections.spoken().as_str() {
        "HTTP/1.1" => String::new(),
        // The URL says it.
        "WebSocket" if run.plan.target().scheme().is_websocket() => String::new(),
        "HTTP/2" if run.plan.target().scheme().is_grpc() => String::new(),
        spoken => format!(", over {spoken}"),
    }
}

/// What a plan's requests go over, beside plain connections of HTTP/1.1.
fn carried(plan: &Plan) -> String {
    let connection = plan.connection();
    let closes = connection.keepalive == Keepalive::CloseEach;
    let over = match connection.http {
        HttpVersion::V2 if plan.target().scheme().is_grpc() => "",
        HttpVersion::V2 => ", over HTTP/2",
        HttpVersion::V3 => ", over HTTP/3",
        HttpVersion::Auto if connection.streams > 1 => ", over HTTP/2 where the server chooses it",
        HttpVersion::V1 | HttpVersion::Auto => "",
    };
    let shared = match connection.http {
        _ if closes => ", with a new connection for every request".to_owned(),
        _ if connection.streams == 1 || connection.http == HttpVersion::V1 => String::new(),
        _ => format!(", {} at once on a connection at most", counted(connection.streams.into(), "request")),
    };
    let cut = plan.stream().map_or_else(String::new, |form| format!(", events of answers measured as they come ({form})"));
    format!("{over}{shared}{cut}")
}

/// So many users and what they do, and when the load ends, unless their stages say so.
fn users_of(users: &Users, plan: &Plan, does: &str, do_: &str) -> (String, String) {
    let until = format!(", {}", until(plan));
    let (alone, each) = match plan.connections_each().get() {
        1 if plan.shares_connections() => ("one connection".to_owned(), "connections that they share".to_owned()),
        1 => ("one connection".to_owned(), "a connection each".to_owned()),
        several => (format!("up to {several} connections"), format!("up to {several} connections each")),
    };
    match users.stages() {
        [only] if only.from == only.to && only.from == 1 => (format!("1 user on {alone}, who {does}"), until),
        [only] if only.from == only.to => (format!("{} users on {each}, who {do_}", count(only.from.into())), until),
        stages => {
            let until = if plan.ends_by_count() { until } else { String::new() };
            (format!("{}, on {each}, who {do_}", in_stages(stages, count_of, ("user", ""))), until)
        }
    }
}

fn count_of(users: f64) -> String {
    count(users as u64)
}

/// What stands before the most users of stages.
pub(crate) fn up_to(users: &Users) -> &'static str {
    if users.is_constant() { "" } else { "up to " }
}

/// When a plan ends.
pub(crate) fn until(plan: &Plan) -> String {
    let requests = plan.requests().map(|requests| match (plan.load(), plan.scenario()) {
        // Of a population with a rate: each arrival begins one.
        (Load::Open { .. }, Some(_)) => counted(requests.get(), "journey"),
        _ => counted(requests.get(), "request"),
    });
    let journeys = plan.iterations().map(|journeys| counted(journeys.get(), "journey"));
    let each = plan.iterations_per_user().map(|journeys| format!("{} each", counted(journeys.get(), "journey")));
    let lasting = plan.duration().map(|duration| format!("for {}", quantity::length(duration)));
    let ends: Vec<String> = lasting.into_iter().chain(requests).chain(journeys).chain(each).collect();
    if ends.is_empty() { "until stopped".to_owned() } else { ends.join(" or ") }
}

/// With more stages than this, a reader wants to know what they come to.
const STAGES_MAX: usize = 6;

/// Stages in words: `from 0 to 50 users over 30 s, then 50 users for 1 min`.
fn in_stages<V: Amount>(stages: &[Stage<V>], figure: fn(f64) -> String, (one, rest): (&str, &str)) -> String {
    let of = |value: f64| {
        let figure = figure(value);
        let ending = if figure == "1" { "" } else { "s" };
        format!("{figure} {one}{ending}{rest}")
    };
    if stages.len() > STAGES_MAX {
        let values = || stages.iter().flat_map(|stage| [stage.from.number(), stage.to.number()]);
        let (least, most) = (values().fold(f64::MAX, f64::min), values().fold(0.0, f64::max));
        let length = stages.iter().filter_map(|stage| stage.length).fold(plan::Nanos::ZERO, plan::Nanos::plus);
        return format!("{} to {} in {} stages over {}", figure(least), of(most), stages.len(), quantity::length(length));
    }
    let said: Vec<String> = stages
        .iter()
        .map(|stage| {
            let (from, to) = (stage.from.number(), stage.to.number());
            let length = match stage.length {
                Some(length) if stages.len() > 1 || from != to => format!(" for {}", quantity::length(length)),
                _ => String::new(),
            };
            if from == to {
                format!("{}{length}", of(from))
            } else {
                format!("from {} to {}{}", figure(from), of(to), length.replacen("for", "over", 1))
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
    use plan::{Draft, LoadRecord, Sources};

    fn said(connections: Option<&str>, rate: Option<&str>, sources: Sources) -> String {
        let draft = Draft {
            url: Some("http://a.test/".to_owned()),
            scenario: Some("a.yaml".to_owned()),
            connections: connections.and_then(|text| text.parse().ok()),
            rate: rate.and_then(|text| text.parse().ok()),
            ..Draft::default()
        };
        load_of(&Plan::try_from(LoadRecord { draft, sources }).unwrap())
    }

    #[test]
    fn one_is_one_user_and_one_journey() {
        let own = Sources::default;
        let stages = said(Some("0 to 1 for 10s, 1 for 1m, 1 to 20 for 10s"), None, own());
        assert!(stages.starts_with("from 0 to 1 user over 10 s, then 1 user for 1m, then from 1 to 20 users over 10 s, on a"), "{stages}");
        let rate = said(None, Some("1/s for 5s, 2/s for 5s"), own());
        assert!(rate.starts_with("1 journey started a second for 5 s, then 2 journeys started a second"), "{rate}");
    }

    #[test]
    fn users_with_several_connections_are_told_with_them() {
        let own = || Sources { connections_each: std::num::NonZeroU32::new(6), ..Sources::default() };
        assert!(said(Some("1"), None, own()).starts_with("1 user on up to 6 connections, who goes"));
        assert!(said(Some("50"), None, own()).starts_with("50 users on up to 6 connections each, who go"));
        let open = said(Some("9"), Some("5/s"), own());
        assert!(open.ends_with("over at most 9 journeys at once, on up to 6 connections each"), "{open}");
    }

    #[test]
    fn a_population_ends_with_its_journeys() {
        let of = |name: &str, users: &str| plan::PopulationDraft {
            name: name.to_owned(),
            connections: users.parse().ok(),
            ..Default::default()
        };
        let populations = vec![
            plan::PopulationDraft { iterations: "100".parse().ok(), ..of("few", "5") },
            of("all", "2"),
            plan::PopulationDraft { iterations_per_user: "3".parse().ok(), ..of("each", "4") },
        ];
        let told = said(None, None, Sources { populations, ..Sources::default() });
        assert!(
            told.starts_with(
                "few: 5 users on a connection each, who go from journey to journey, for 10 s or 100 journeys (closed load); all:"
            ),
            "{told}"
        );
        assert!(told.contains("each: 4 users on a connection each, who go from journey to journey, for 10 s or 3 journeys each"), "{told}");
    }

    #[test]
    fn a_name_that_a_user_gave_stays_as_it_is() {
        let draft = Draft { url: Some("http://a.test/".to_owned()), scenario: Some("a.yaml".to_owned()), ..Draft::default() };
        let sources = Sources { scenario_name: Some("one cart for each user".to_owned()), ..Sources::default() };
        let plan = Plan::try_from(LoadRecord { draft, sources }).unwrap();
        assert_eq!(request_of(&plan), "the journeys of one cart for each user to http://a.test");
    }
}
