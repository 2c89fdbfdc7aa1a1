//! `loadline replay` from several processes and machines: the same requests at the same times, of a log that is read here alone.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use rustix::process::Signal;

use crate::agents;
use crate::processes::{children, is_there, with_one_killed};
use crate::recorder::Recorder;
use crate::session::{Ran, Session, prose, server};

/// A line of the log so many milliseconds after its beginning.
fn line(at_ms: u64, path: &str, client: u64, status: u16) -> String {
    let (second, ms) = (1_700_000_000 + at_ms / 1000, at_ms % 1000);
    format!("{{\"time\":\"{second}.{ms:03}\",\"path\":\"{path}\",\"status\":{status},\"ip\":\"192.0.2.{client}\"}}\n")
}

/// Requests of some clients at moments that no rate has, some of which the server answers otherwise.
fn log(requests: u64, span_ms: u64) -> String {
    let moment = |at: u64| (at * at * 7919 + at * 31) % span_ms;
    let mut moments: Vec<u64> = (0..requests).map(moment).collect();
    moments.sort_unstable();
    let line = |(at, moment): (usize, &u64)| {
        let path = if at % 5 == 4 { format!("/people/{}?token=s3cr3t", 1000 + at) } else { format!("/healthz?n={at}") };
        line(*moment, &path, at as u64 % 23, 200)
    };
    moments.iter().enumerate().map(line).collect()
}

/// The paths of requests, and how many there were of each.
fn paths(requests: &[String]) -> BTreeMap<String, u64> {
    let mut paths = BTreeMap::new();
    for request in requests {
        *paths.entry(request.split(' ').nth(1).unwrap().to_owned()).or_default() += 1;
    }
    paths
}

/// One that answers what is asked of people otherwise than the log says.
fn recorder() -> Recorder {
    Recorder::start_with(|request| {
        let status = if request.contains("/people/") { 404 } else { 200 };
        format!("HTTP/1.1 {status} X\r\nContent-Length: 2\r\n\r\nok")
    })
}

/// The names of the sites that a result has rows of.
fn sites(result: &serde_json::Value) -> Vec<&str> {
    result["sites"].as_array().unwrap().iter().map(|site| site["name"].as_str().unwrap()).collect()
}

#[test]
fn a_log_from_several_processes_is_the_same_load_with_the_same_report() {
    let server = recorder();
    let mut session = Session::new().file("app.jsonl", &log(900, 40_000));
    let line = format!("replay app.jsonl {} --speed 20x -t 6 --no-save --full", server.url);
    session.loadline(&format!("{line} --out json=one.json")).exits(0);
    let alone = paths(&server.raw());
    assert_eq!(alone.values().sum::<u64>(), 900);
    let ran = session.loadline(&format!("{line} --processes 3 --out json=three.json")).exits(0).says("process 3 ");
    assert_eq!(paths(&server.raw()), alone);
    let (one, three) = (session.json("one.json"), session.json("three.json"));
    assert_eq!(three["replayed"], one["replayed"]);
    assert_eq!((&three["replayed"]["compared"], &three["replayed"]["same"]), (&900.into(), &720.into()));
    assert_eq!((&three["requests"], &three["status"]), (&one["requests"], &one["status"]));
    assert_eq!(three["duration_s"], one["duration_s"]);
    assert_eq!(sites(&three), ["process 1", "process 2", "process 3"]);
    assert!(!ran.stdout.contains("s3cr3t") && !ran.stderr.contains("s3cr3t"));
    // Nobody takes the times of one load for those of another.
    let again = session.loadline("run --from three.json").exits(2);
    assert!(prose(&again.stderr).contains("sends the requests of app.jsonl at their times"), "{}", again.stderr);
}

#[test]
fn machines_get_the_requests_of_a_log_and_keep_none_of_it() {
    let server = recorder();
    let mut session = agents::with_ssh(agents::session().file("app.jsonl", &log(300, 10_000)));
    let line = format!("replay app.jsonl {} --speed 10x -t 4 --no-save --agents ssh:a,ssh:b --out json=r.json", server.url);
    session.loadline(&line).exits(0).says("b ");
    let result = session.json("r.json");
    assert_eq!((sites(&result), &result["replayed"]["compared"]), (vec!["a", "b"], &300.into()));
    assert_eq!(paths(&server.raw()).values().sum::<u64>(), 300);
    for name in session.files().into_iter().filter(|name| name.starts_with("homes/")) {
        let bytes = fs::read(session.path(&name)).unwrap();
        assert!(!bytes.windows(6).any(|window| window == b"s3cr3t"), "{name} holds what was in the log");
    }
}

#[test]
fn standard_input_is_read_here_and_sent_from_there() {
    let server = recorder();
    let mut session = agents::with_ssh(agents::session());
    session = session.stdin(&log(50, 1_000));
    session.loadline(&format!("replay - {} -t 2 --no-save --agents ssh:a,ssh:b", server.url)).exits(0);
    assert_eq!(paths(&server.raw()).values().sum::<u64>(), 50);
    // Nobody is called to look at a log, and a host that is not there is told before it is looked at.
    let mut session = agents::with_ssh(session.file("app.jsonl", &log(50, 1_000)));
    let calls = agents::calls(&session);
    session.loadline(&format!("replay app.jsonl {} --dry-run --agents ssh:a,ssh:nowhere", server.url)).exits(0).says("50 requests");
    assert_eq!(agents::calls(&session), calls);
    let mut session = agents::with_ssh(session);
    let ran = session.loadline(&format!("replay app.jsonl {} --no-save --agents ssh:nowhere", server.url)).exits(3);
    assert!(ran.stderr.contains("nowhere did not answer") && !ran.stderr.contains("50 requests"), "{}", ran.stderr);
}

#[test]
fn a_clients_requests_stay_in_order_across_processes() {
    // Answers that take longer than the next request of the same client is away.
    let server = Recorder::start(Duration::from_millis(20), 200);
    let text: String = (0..400u64).map(|at| line(at * 5, &format!("/c/{}/{}", at % 20, at / 20), at % 20, 200)).collect();
    let mut session = Session::new().file("app.jsonl", &text);
    let line = format!("replay app.jsonl {} --per-client-order -t 4 --processes 4 --speed 4x --no-save --out json=r.json", server.url);
    session.loadline(&line).exits_either(0, 4);
    let mut next: BTreeMap<String, u64> = BTreeMap::new();
    for request in server.raw() {
        let path: Vec<&str> = request.split(' ').nth(1).unwrap().split('/').collect();
        let expected = next.entry(path[2].to_owned()).or_default();
        assert_eq!(path[3].parse::<u64>().unwrap(), *expected, "client {}", path[2]);
        *expected += 1;
    }
    assert!(next.len() == 20 && next.values().all(|count| *count == 20), "{next:?}");
}

#[test]
fn a_process_of_a_replay_that_is_killed_takes_its_part_with_it_and_the_others_go_on() {
    let server = server();
    let mut session = Session::new().file("app.jsonl", &log(2_000, 4_000));
    let line = format!("replay app.jsonl {} -t 2 --processes 2 --no-save --out json=r.json", server.url(""));
    let result = with_one_killed(&server, &mut session, &line);
    // The other sent all of its own: every second request.
    let sent = result["requests"]["due"].as_u64().unwrap();
    assert!((1_000..1_990).contains(&sent), "{sent}");
    assert!(!result["warnings"].to_string().contains("changed meanwhile"), "{}", result["warnings"]);
}

#[test]
fn ctrl_c_ends_a_replay_in_all_processes_and_reports_what_was_compared() {
    let server = recorder();
    let mut session = Session::new().file("app.jsonl", &log(6_000, 600_000));
    let running = session.start(&format!("replay app.jsonl {} --speed 10x -t 2 --processes 2 --no-save --out json=r.json", server.url));
    let parent = running.pid();
    let mut sent = 0;
    let running = running.once(|| {
        sent += server.raw().len() as u64;
        sent > 50
    });
    let processes = children(parent);
    running.signal(Signal::INT).end().exits(130);
    sent += server.raw().len() as u64;
    assert!(processes.len() == 2 && processes.iter().all(|process| !is_there(*process)), "{processes:?}");
    let result = session.json("r.json");
    assert_eq!((&result["requests"]["succeeded"].as_u64(), &result["replayed"]["compared"]), (&Some(sent - failed(&result)), &sent.into()));
}

fn failed(result: &serde_json::Value) -> u64 {
    result["requests"]["failed"].as_u64().unwrap()
}

#[test]
fn twenty_thousand_lines_at_a_hundred_times_their_speed_are_all_sent() {
    let server = server();
    let text: String = (0..20_000u64).map(|at| line(at * 20, "/healthz", at % 99, 200)).collect();
    let mut session = Session::new().file("app.jsonl", &text);
    let line = format!("replay app.jsonl {} --speed 100x -t 4 --processes 4 --no-save --out json=r.json", server.url(""));
    let ran: Ran = session.loadline(&line).exits_either(0, 4);
    let result = session.json("r.json");
    assert_eq!((&result["requests"]["due"], &result["requests"]["succeeded"]), (&20_000.into(), &20_000.into()), "{}", ran.stdout);
    assert_eq!(server.counts().path("/healthz"), 20_000);
    assert_eq!(result["replayed"]["same"], 20_000);
}
