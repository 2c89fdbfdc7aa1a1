//! Answers that stream, from a server that logs when it sent each event: what is told of them is what it says.

use std::time::Duration;

use testbed::model::{Model, Timing};

use crate::session::{Session, server};

/// The same as the server's, within 2 %, or 1 ms.
fn agree(what: &str, told_ns: &serde_json::Value, logged: f64) {
    let told = told_ns.as_f64().unwrap_or_else(|| panic!("{what}: {told_ns}")) / 1e9;
    let room = (logged * 0.02).max(0.001);
    assert!((told - logged).abs() <= room, "{what}: told {told} s, logged {logged} s");
}

fn mean(values: impl Iterator<Item = Duration>) -> f64 {
    let values: Vec<f64> = values.map(|value| value.as_secs_f64()).collect();
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn what_is_told_of_events_is_what_the_server_logged() {
    let mut session = Session::alone();
    let model = Model::start(Timing { first: Duration::from_millis(400), between: Duration::from_millis(50), events: 12 }).unwrap();
    let url = format!("http://{}/v1/chat/completions", model.address());
    let load = "--stream auto --event-data '$.choices[0].delta.content' -c 4 -n 12 --threads 2 --json '{\"stream\":true}' --check 'first-event max < 60s' --check 'ttft p50 < 1ms'";
    let told = session.loadline(&format!("run {url} {load} --full --out json=r.json")).exits(1);
    for line in ["first event (TTFT)", "between events (ITL)", "144 events in 12 answers: "] {
        assert!(told.stdout.contains(line), "{line}: {}", told.stdout);
    }
    let run = session.json("r.json");
    let (streams, log) = (&run["streams"], model.log());
    assert_eq!((log.len(), &streams["answers"], &streams["events"]), (12, &12.into(), &144.into()));
    assert_eq!(streams["between_events"]["count"], 132);
    let firsts = || log.iter().map(|answer| answer.events[0].duration_since(answer.received));
    let gaps = || log.iter().flat_map(|answer| answer.events.windows(2).map(|pair| pair[1].duration_since(pair[0])));
    agree("first event", &streams["first_event"]["mean_ns"], mean(firsts()));
    agree("between events", &streams["between_events"]["mean_ns"], mean(gaps()));
    let each = streams["events_per_second_each"].as_f64().unwrap();
    assert!((each * mean(gaps()) - 1.0).abs() < 0.02, "{each}");
    // What is there at last is not before the last event.
    let last = mean(log.iter().map(|answer| answer.events[11].duration_since(answer.received)));
    assert!(run["response_time"]["mean_ns"].as_f64().unwrap() / 1e9 >= last);
}

#[test]
fn a_scenario_tells_its_steps_apart_and_several_processes_add_up() {
    let model = Model::start(Timing { first: Duration::from_millis(5), between: Duration::from_millis(1), events: 7 }).unwrap();
    let mut session = Session::new().file(
        "s.yaml",
        &format!(
            "target: http://{}\nload: {{users: 4, requests: 80, stream: sse, threads: 2, processes: 2}}\n\
             steps:\n  - {{name: ask, get: /a}}\n  - {{name: ask again, get: /b}}\n",
            model.address()
        ),
    );
    let told = session.loadline("run s.yaml --full --out json=r.json --check 'step ask first_event max < 60s'").exits_either(0, 4);
    let run = session.json("r.json");
    let events = |row: &serde_json::Value| (row["answers"].as_u64().unwrap(), row["events"].as_u64().unwrap());
    assert_eq!(events(&run["streams"]), (80, 560));
    let steps = run["scenario"]["steps"].as_array().unwrap();
    let (first, second) = (events(&steps[0]["streams"]), events(&steps[1]["streams"]));
    assert_eq!((first.0 + second.0, first.1 + second.1), (80, 560));
    assert!(first.0 >= second.0 && second.0 > 0, "{first:?} {second:?}");
    assert!(told.stdout.contains("ask again: between events"), "{}", told.stdout);
}

#[test]
fn the_scenario_for_language_models_runs_as_it_is_written() {
    let model = Model::start(Timing { first: Duration::from_millis(5), between: Duration::from_millis(1), events: 7 }).unwrap();
    let mut session = Session::new();
    session.loadline("init --kind chat-completions chat.yaml").exits(0).says("loadline check chat.yaml");
    session = session.env("API_KEY", "k");
    session.loadline("check chat.yaml").exits(0);
    session = session.env("API_KEY", "k");
    let load = format!("run http://{} --scenario chat.yaml -c 10 -n 10 --out json=r.json", model.address());
    let told = session.loadline(&load).exits_either(0, 4);
    let run = session.json("r.json");
    assert_eq!((&run["streams"]["answers"], &run["streams"]["events"]), (&10.into(), &70.into()), "{told:?}");
    // Checks of events are judged like all others.
    assert!(told.stdout.contains("first_event p95 < 800ms"), "{}", told.stdout);
}

#[test]
fn events_that_nobody_sends_are_missed() {
    let (mut session, server) = (Session::new(), server());
    let server = server.url("");
    let server = server.trim_end_matches('/');
    let told = session.loadline(&format!("run {server}/healthz --stream auto -n 5 --full")).exits_either(0, 4);
    assert!(told.stdout.contains("none; they are looked for in answers with a status of 2xx"), "{}", told.stdout);
    let told = session.loadline(&format!("run {server}/healthz --stream jsonl -n 5")).exits(2);
    assert!(told.stderr.contains("--stream sse, --stream lines, --stream json-lines or --stream auto"), "{}", told.stderr);
}

#[test]
fn a_sweep_says_where_events_stop_growing_and_a_diff_shows_both() {
    let model = Model::start(Timing { first: Duration::from_millis(20), between: Duration::from_millis(5), events: 8 }).unwrap();
    let mut session = Session::new();
    let load = format!("sweep http://{}/v1 --stream sse --levels 1,2,4 -d 1s --cooldown 0s --name model --dir .", model.address());
    let told = session.loadline(&load).exits_either(0, 4);
    for part in ["events/s", "first p95", "between p99", "vents a second"] {
        assert!(told.stdout.contains(part), "{part}: {}", told.stdout);
    }
    let sweep = session.json("model.json");
    let levels = sweep["events"]["levels"].as_array().unwrap();
    let a_second: Vec<f64> = levels.iter().map(|level| level["events_per_second"].as_f64().unwrap()).collect();
    assert!(a_second.len() == 3 && a_second.is_sorted() && a_second[0] > 50.0, "{a_second:?}");
    assert!(levels.iter().all(|level| level["first_event_p95_ns"].as_f64().is_none_or(|time| time >= 20e6)), "{levels:?}");
    let both = session.loadline("diff model.json model.json --force").exits_either(0, 4);
    assert!(both.stdout.contains("events/s A") && both.stdout.contains("first B"), "{}", both.stdout);
}

#[test]
fn streams_without_an_end_are_listened_to_for_a_time_and_tokens_are_words() {
    let mut session = Session::new();
    let model = Model::start(Timing { first: Duration::from_millis(5), between: Duration::from_millis(10), events: 500 }).unwrap();
    let load = "--stream sse --event-data '$.choices[0].delta.content' --tokens words --stream-for 300ms --timeout 2s -c 2 -n 4";
    let told = session.loadline(&format!("run http://{}/v1 {load} --full --out json=r.json --out csv=r.csv", model.address()));
    let told = told.exits_either(0, 4);
    let run = session.json("r.json");
    // Each is ended in its middle: as a success, with its connection, after some thirty of its events.
    assert_eq!((&run["requests"]["succeeded"], &run["requests"]["failed"]), (&4.into(), &0.into()), "{}", told.stdout);
    assert_eq!(run["connections"]["closed_by_us"], 4);
    let (events, words) = (run["streams"]["events"].as_u64().unwrap(), run["streams"]["tokens"]["tokens"].as_u64().unwrap());
    assert!(events == words && (8..=140).contains(&events), "{events} {words}");
    assert!(told.stdout.contains("time per token (TPOT)") && told.stdout.contains(" tokens: "), "{}", told.stdout);
    let of_ticks: u64 = run["timeline"].as_array().unwrap().iter().filter_map(|tick| tick["streams"]["events"].as_u64()).sum();
    assert_eq!(of_ticks, events, "the course adds up to the whole");
    let csv = std::fs::read_to_string(session.path("r.csv")).unwrap();
    assert!(csv.lines().next().unwrap().ends_with(",between_events_p99_ms,between_events_max_ms"), "{csv}");
}
