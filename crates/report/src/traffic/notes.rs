//! What a scenario says of the log it is from: how near it comes, when it is, what is not in it.
//!
//! The scenario itself is made where the log is read; here are only its words, in the comments that its reader sees.

use analysis::quantity::{NONE, count, counted, decimal, percent};
use import::workload::{Fidelity, Paths, STEPS_MAX, Unsendable, Workload};
use import::{Route, Traffic, utc};
use plan::work::{Item, Notes};

use crate::visible;

/// The comments of a scenario that is made of a log. `paths_file` is the table that it draws from, as it calls it.
#[must_use]
pub fn notes(traffic: &Traffic, workload: &Workload, paths_file: Option<&str>) -> Notes {
    let mut top = vec![
        format!(
            "The traffic of {}: {} % of them, the rest is listed below.",
            counted(traffic.requests, "logged request"),
            tenths(workload.share)
        ),
        "Set the target, then: loadline run THIS_FILE".to_owned(),
        "Flags go over it: --rate 20/s -d 5m".to_owned(),
        in_words(&workload.fidelity),
    ];
    if let Some(file) = paths_file.filter(|_| workload.paths.is_some()) {
        top.push(format!("What routes were asked for, and how often, is in {}: keep it beside this file.", visible(file)));
    }
    top.extend(stand_ins(traffic));
    if workload.has_bodies {
        top.push("Bodies are examples from the description of the API, not the log's.".to_owned());
    }
    let begin = if workload.has_visits { "visits begun a second" } else { "requests a second" };
    let load = vec![
        format!("The busiest hour of the log, from {}: {begin}.", utc(workload.from_s)),
        format!("It lasts {} unless -d says otherwise.", workload.lasts),
    ];
    let mut end = Vec::new();
    for (route, requests, why) in &workload.left_out {
        end.extend([format!("{}:", why_not(why)), format!("  {requests} {}", visible(route))]);
    }
    if let Some(others) = &traffic.others {
        end.push(format!("And {} of routes that are not listed.", counted(others.requests, "request")));
    }
    Notes { top, load, items: of_visits(workload), end, ..Notes::default() }
}

/// What is said in a visit: above its loop, and above the pauses in that.
fn of_visits(workload: &Workload) -> Vec<(usize, String)> {
    let [journey] = workload.work.journeys.as_slice() else { return Vec::new() };
    let [Item::Repeat { items, .. }] = journey.items.as_slice() else { return Vec::new() };
    let [Item::Pick { choices, .. }, _] = items.as_slice() else { return Vec::new() };
    let pauses = 2 + choices.iter().map(Vec::len).sum::<usize>();
    vec![
        (0, "As many requests as visits of the log had: one of a hundred, each as likely.".to_owned()),
        (pauses, "Pauses as in the log, by their shares.".to_owned()),
    ]
}

/// Why a route is not sent, as a sentence that ends with it.
pub(super) fn why_not(why: &Unsendable) -> String {
    match why {
        Unsendable::MayWrite => "Left out, since it may write, and its body is not in a log".to_owned(),
        Unsendable::Undescribed => "Left out, since it may write, and the description of the API has no such request".to_owned(),
        Unsendable::NoPath => "Left out, since it is no path".to_owned(),
        Unsendable::Open(place) => {
            format!("To be filled in: {{{place}}}, for example from a data file, as {{{{items.{place}}}}}")
        }
        Unsendable::TooMany => format!("Left out, since a scenario has at most {} steps", count(STEPS_MAX as u64)),
    }
}

/// A share as percent, to the tenth.
fn tenths(share: f64) -> String {
    percent((share * 1_000.0).round() / 10.0)
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
    let share = tenths(altered as f64 / all.max(1) as f64);
    Some(format!(
        "{} that {} personal or secret {} replaced (same value, same replacement), in {share} % of requests.",
        counted(traffic.stand_ins, "value"),
        if traffic.stand_ins == 1 { "looks" } else { "look" },
        if traffic.stand_ins == 1 { "was" } else { "were" }
    ))
}

/// How near a scenario comes, in sentences.
#[must_use]
pub fn in_words(fidelity: &Fidelity) -> String {
    let bursts: Vec<String> = fidelity
        .bursts
        .iter()
        .map(|(window, log, ours)| format!("{} ({} in the log) in {window} s", decimal(*ours, 1), decimal(*log, 1)))
        .collect();
    let bursts = if bursts.is_empty() { NONE.to_owned() } else { bursts.join(", ") };
    let visits = fidelity.visits.map_or_else(String::new, |(requests, pauses)| {
        format!(
            " Visits differ from the log's by {} in their length and {} in their pauses (Kolmogorov-Smirnov distance, 0 is none).",
            decimal(requests, 3),
            decimal(pauses, 3)
        )
    });
    let paths = fidelity.paths.map_or_else(|| "Values in paths are made up.".to_owned(), paths_in_words);
    format!(
        "Fidelity {} %: {} % of requests go where the log's went; burstiness, variance over mean: {bursts}.{visits} {paths}",
        tenths(fidelity.score()),
        tenths(fidelity.mix)
    )
}

fn paths_in_words(paths: Paths) -> String {
    if paths.asked >= paths.logged {
        return format!("All {} of these routes are asked for, as often as in the log.", counted(paths.logged, "different path"));
    }
    format!(
        "{} of about {} are asked for, those of {} % of requests.",
        count(paths.asked),
        counted(paths.logged, "different path"),
        tenths(paths.covered)
    )
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use import::collection::Described;
    use import::workload::Beside;
    use import::{FormChoice, Personal, Survey};
    use plan::Random;
    use scenario::Scenario;

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
        let mut survey = Survey::new(FormChoice::default(), Personal::LeftOut).with_targets();
        survey.read("access.log", log.as_bytes()).unwrap();
        survey.finish()
    }

    /// A log's scenario as it is written, and what is told of it.
    struct ScenarioText {
        scenario: String,
        paths: Option<String>,
        fidelity: Fidelity,
        left_out: (usize, u64),
    }

    fn written(traffic: &Traffic, beside: Beside<'_>) -> ScenarioText {
        let made = Workload::of(traffic, beside).unwrap();
        let left_out = (made.left_out.len(), made.left_out.iter().map(|(_, requests, _)| requests).sum());
        let notes = notes(traffic, &made, beside.paths_file);
        let scenario = Scenario::new(None, made.settings, made.work);
        let text = scenario::print(&scenario, &notes);
        assert_eq!(scenario::read("x.yaml", &text).as_ref(), Ok(&scenario), "{text}");
        ScenarioText { scenario: text, paths: made.paths, fidelity: made.fidelity, left_out }
    }

    fn in_a_file(traffic: &Traffic) -> ScenarioText {
        written(traffic, Beside { paths_file: Some("shop.paths.csv"), described: None })
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
        let ScenarioText { scenario: text, paths, fidelity, .. } = in_a_file(&traffic);
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
        assert!(in_words(&fidelity).ends_with("All 98 different paths of these routes are asked for, as often as in the log."));
        // Without a place for the table, ids are made up.
        let alone = written(&traffic, Beside::default());
        assert!(
            alone.scenario.contains("      - get: '/items/{{random 1 1000}}'\n        name: 'GET /items/{id}'\n"),
            "{}",
            alone.scenario
        );
        assert!(alone.paths.is_none() && in_words(&alone.fidelity).ends_with("Values in paths are made up."));
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
        let ScenarioText { scenario: text, fidelity, .. } = in_a_file(&traffic);
        assert!(text.contains("  - name: visit\n") && text.contains("- repeat: '{{choice 1 1 "), "{text}");
        assert!(text.contains("              - {weight: 50, steps: [{pause: ") && text.contains("# It lasts "), "{text}");
        let (lengths, pauses) = fidelity.visits.unwrap();
        assert!(lengths <= 0.05 && pauses <= 0.05, "{fidelity:?}");
        assert!(fidelity.score() > 0.6 && in_words(&fidelity).contains(" Visits differ from the log's by 0.0"), "{fidelity:?}");
    }

    #[test]
    fn what_writes_is_left_out_listed_and_lowers_the_score() {
        let traffic = surveyed((0..3_000).map(|at| (at, at % 7, if at % 2 == 0 { "GET /" } else { "POST /orders" }.to_owned())));
        let ScenarioText { scenario: text, fidelity, left_out, .. } = in_a_file(&traffic);
        assert_eq!(left_out, (1, 1_500));
        assert!(text.contains("# Left out, since it may write, and its body is not in a log:\n#   1500 POST /orders\n"), "{text}");
        assert!(text.starts_with("# The traffic of 3,000 logged requests: 50 % of them"), "{text}");
        let mix = fidelity.mix;
        assert!((0.45..=0.5).contains(&mix), "{mix}");
        let writes = surveyed((0..30).map(|at| (at, 1, "POST /orders".to_owned())));
        assert_eq!(Workload::of(&writes, Beside::default()), None);
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
        assert!(made.fidelity.mix > 0.97);
        // Without a table nothing can be drawn, and what begins with two slashes would name a server.
        let alone = written(&traffic, Beside::default());
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
        let ScenarioText { scenario: text, left_out, fidelity, .. } =
            written(&traffic, Beside { paths_file: Some("shop.paths.csv"), described: Some(&described) });
        assert!(text.contains("- post: /v1/orders\n") && text.contains("json: '{\"item\":7}'\n"), "{text}");
        assert!(text.contains("- put: /v1/orders/17?x=1\n") && text.contains("body: later\n"), "{text}");
        assert!(text.contains("the description of the API has no such request:\n#   600 POST /other\n"), "{text}");
        assert!(text.contains("# Bodies are examples") && text.contains("#   600 DELETE /v1/orders/{id}\n"), "{text}");
        assert_eq!(left_out, (2, 1_200));
        assert!(fidelity.mix > 0.55);
    }
}
