//! `loadline find`: the answer on servers whose capacity is known, its files, and how it ends.
//!
//! The machine is shared with other tests, so promises are loose, and an answer may miss the truth by a quarter: what is
//! tested is that the whole chain hangs together, from the bad requests a server counts to the interval a user reads. How
//! close a search comes is tested on simulated servers.

use std::fs;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use testbed::model::{Model, Timing};

use crate::session::{Session, prose, server};

const ENDINGS: [&str; 4] = [".find.json", ".find.md", "_find.png", "_find.svg"];

/// The shortest search there is.
const SHORT: &str = "--quick --budget 30s";
/// How far an interval may lie from the truth here.
const TOLERANCE: f64 = 0.25;

fn files(name: &str) -> Vec<String> {
    ENDINGS.iter().map(|ending| format!("_output/loadline/{name}{ending}")).collect()
}

#[track_caller]
fn close_to(truth: f64, result: &Value) {
    let (low, high) = (result["capacity"]["low"].as_f64().unwrap(), result["capacity"]["high"].as_f64().unwrap());
    assert!(low <= truth * (1.0 + TOLERANCE) && high >= truth * (1.0 - TOLERANCE) && low <= high, "{low}–{high}, and it is {truth}");
}

#[test]
fn the_capacity_of_a_pool_of_workers_is_found_with_every_trial_behind_it() {
    let server = server();
    let mut session = Session::new();
    let url = server.url("/behave?pool=4:10ms");
    let ran = or_return!(session.searched(&format!("find '{url}' --slo 'p99 < 300ms' --slo 'failed < 1%' {SHORT} --progress none")))
        .exits(0)
        .complains_of_nothing();
    // 4 / 10 ms.
    let result = session.json("_output/loadline/behave.find.json");
    close_to(400.0, &result);
    assert_eq!(session.files(), files("behave"));
    assert_eq!((&result["schema"], &result["limited_by"]["by"]), (&"loadline.find/1".into(), &"promise".into()));
    assert_eq!(result["slo"][1]["text"], "p99 < 300ms");
    let trials = result["trials"].as_array().unwrap();
    assert!(trials.len() >= 8, "{}", trials.len());
    let seeds: Vec<&Value> = trials.iter().map(|trial| &trial["summary"]["plan"]["seed"]).collect();
    assert!(seeds.iter().enumerate().all(|(nth, seed)| **seed == nth as u64 + 2), "{seeds:?}");
    for trial in trials {
        let requests = &trial["summary"]["requests"];
        let sum = ["succeeded", "failed", "unsent"].iter().map(|how| requests[how].as_u64().unwrap()).sum::<u64>();
        assert_eq!(requests["due"], sum);
        assert_eq!(trial["result"]["due"], requests["due"]);
    }
    // A row each, and the answer under them.
    let rows =
        ran.stdout.lines().filter(|line| ["holds", "breaks ", "does not count"].iter().any(|verdict| line.contains(verdict))).count();
    assert!(rows >= trials.len(), "{}", ran.stdout);
    ran.says("rate/s").says("ramp").says("proof").says("It carries ").says(" req/s (").says("behave_find.png\n");
    assert!(fs::read(session.path("_output/loadline/behave_find.png")).unwrap().starts_with(b"\x89PNG"));
    assert!(
        session
            .read("_output/loadline/behave.find.md")
            .contains("![Throughput, goodput and response time by offered rate](behave_find.svg)")
    );
}

#[test]
fn what_a_rate_limiter_lets_pass_is_found_and_its_refusals_are_named() {
    let server = server();
    let mut session = Session::new();
    let url = server.url("/behave?limit=200");
    let ran = or_return!(session.searched(&format!("find '{url}' --slo 'failed < 5%' --name limited --dir out {SHORT}"))).exits(0);
    close_to(200.0, &session.json("out/limited.find.json"));
    assert!(prose(&ran.stdout).contains("of them with status 429."), "{}", ran.stdout);
    ran.says("breaks failed: ").says("with failed < 5%; breaks at ");
}

#[test]
fn a_server_that_carries_all_that_is_allowed_is_not_loaded_beyond_it() {
    let server = server();
    let mut session = Session::new();
    let url = server.url("/healthz");
    let ran = or_return!(session.searched(&format!("find {url} --slo 'p90 < 2s' --rate-max 40/s {SHORT} --quiet"))).exits(0);
    for part in ["It carries 40 req/s with p90 < 2s, and no more was tried: it is the highest rate allowed.", "It held 40 req/s for "] {
        assert!(prose(&ran.stdout).contains(part), "{part}:\n{}", ran.stdout);
    }
    let result = session.json("_output/loadline/healthz.find.json");
    assert!(result["trials"].as_array().unwrap().iter().all(|trial| trial["rate"].as_f64().unwrap() <= 40.0));
    assert_eq!(result["capacity"]["high"], Value::Null);
    // Beside itself it is no more and no less, as far as that was measured.
    let beside = session.loadline("diff @last _output/loadline/healthz.find.json --out json=d.json --out html=d.html").exits(0);
    beside.says("capacity, 95 %   at least ").says("cannot be told");
    let told = session.json("d.json");
    assert_eq!((&told["kind"], &told["carries"]["a"]), (&"searches".into(), &result["carries"]));
    let other = fs::read_to_string(session.path("_output/loadline/healthz.find.json")).unwrap().replace("p90 < 2s", "p90 < 3s");
    fs::write(session.path("other.json"), other).unwrap();
    session.loadline("diff @last other.json").exits(2).complains("the promise is p90 < 2s in A and p90 < 3s in B");
    session.loadline("diff @last other.json --force").exits(0).says("Not measured alike: the promise is p90 < 2s in A and p90 < 3s in B");
}

/// Whether a rate is the generator's limit depends on this machine; so it is told that it was seen to send fifty a second.
#[test]
fn what_this_machine_can_send_is_not_exceeded_and_bounds_the_answer_from_below_only() {
    let server = server();
    let mut session = Session::new();
    session.loadline("calibrate -d 100ms").exits(0);
    let kept = session.data("loadline/calibration.json");
    let mut calibration: Value = serde_json::from_str(&fs::read_to_string(&kept).unwrap()).unwrap();
    for ceiling in calibration["ceilings"].as_array_mut().unwrap() {
        (ceiling["qps_reached"], ceiling["cpu_share_busiest"]) = (50.into(), 1.into());
    }
    fs::write(&kept, calibration.to_string()).unwrap();
    let ran = or_return!(session.searched(&format!("find {} --slo 'p90 < 2s' {SHORT}", server.url("/healthz")))).exits(4);
    for part in [
        "At most 35/s, 70 % of what this machine was seen to send (loadline calibrate).",
        "It carries at least 35 req/s with p90 < 2s; the load generator is the limit.",
    ] {
        assert!(prose(&ran.stdout).contains(part), "{part}:\n{}", ran.stdout);
    }
    let result = session.json("_output/loadline/healthz.find.json");
    assert_eq!((&result["limited_by"]["by"], &result["capacity"]["high"]), (&"generator".into(), &Value::Null));
    assert!(result["trials"].as_array().unwrap().iter().all(|trial| trial["rate"].as_f64().unwrap() <= 35.0));
}

#[test]
fn a_check_that_breaks_at_the_rate_found_ends_with_one_and_one_that_holds_does_not() {
    let server = server();
    let mut session = Session::new();
    let line = format!("find {} --slo 'p90 < 2s' --rate-max 40/s {SHORT} --quiet --check 'service_time p95 < 10s'", server.url("/healthz"));
    let ran = or_return!(session.searched(&line)).exits_either(0, 4);
    assert!(prose(&ran.stdout).contains("Check 'service_time p95 < 10s' held (at 40 req/s): "), "{}", ran.stdout);
    let ran = or_return!(session.searched(&format!("{line} --check 'mean < 1us' --force"))).exits(1);
    for part in ["Check 'service_time p95 < 10s' held (at 40 req/s): ", "Check 'mean < 1us' failed (at 40 req/s): "] {
        assert!(prose(&ran.stdout).contains(part), "{part}:\n{}", ran.stdout);
    }
    let result = session.json("_output/loadline/healthz.find.json");
    assert_eq!(result["checks"].as_array().unwrap().len(), 2, "{}", result["checks"]);
}

#[test]
fn a_promise_that_no_rate_keeps_is_broken() {
    let server = server();
    let mut session = Session::new();
    let url = server.url("/behave?status=503");
    let ran = or_return!(session.searched(&format!("find '{url}' --slo 'failed < 1%' {SHORT}"))).exits(1);
    for part in ["It does not keep failed < 1% even at ", "failed 100 %.", "requests failed (100 %), ", " of them with status 503."] {
        assert!(prose(&ran.stdout).contains(part), "{part}:\n{}", ran.stdout);
    }
}

#[test]
fn a_promise_of_the_first_event_is_searched_with() {
    let model = Model::start(Timing { first: Duration::from_millis(20), between: Duration::from_millis(2), events: 4 }).unwrap();
    let mut session = Session::new();
    let find = format!("find http://{}/v1 --stream sse --rate-max 40/s {SHORT} --dir . --name model", model.address());
    let ran = or_return!(session.searched(&format!("{find} --slo 'first-event p90 < 2s'"))).exits_either(0, 4);
    assert!(prose(&ran.stdout).contains("first_event p90 < 2s"), "{}", ran.stdout);
    let trial = &session.json("model.find.json")["trials"][0];
    assert_eq!(trial["result"]["seen"][0]["of"], trial["result"]["due"], "every answer streams");
    // No answer has its first event so soon.
    let ran = or_return!(session.searched(&format!("{find} --slo 'first-event p90 < 15ms' --force"))).exits(1);
    assert!(prose(&ran.stdout).contains("It does not keep first_event p90 < 15ms even at "), "{}", ran.stdout);
}

#[test]
fn an_interrupted_search_says_and_keeps_what_it_knows() {
    let server = server();
    let mut session = Session::new();
    let running = session.start(&format!("find {} --slo 'p99 < 2s'", server.url("/healthz")));
    // The requests that show the server unloaded, two trials, and some more.
    let ran = running.once(|| server.counts().answered > 120).signal(Signal::INT).end().exits(130);
    ran.says("Stopped: interrupted.").says("healthz.find.json");
    assert_eq!(session.files(), files("healthz"));
    let result = session.json("_output/loadline/healthz.find.json");
    assert!(!result["trials"].as_array().unwrap().is_empty());
    assert_eq!(result["stopped"]["rule"], "interrupted");
}

#[test]
fn a_search_of_populations_begins_with_one_user_and_loads_the_server_with_all_of_them() {
    let server = server();
    let mut session = Session::new();
    let populations = "populations:\n  - {name: visitors, users: 2}\n  - {name: partners, rate: 5/s}\n";
    let text = format!("target: {}\n{populations}steps: [{{get: /healthz, pause: 100ms}}]\n", server.url("").trim_end_matches('/'));
    fs::write(session.path("s.yaml"), text).unwrap();
    let running = session.start("find s.yaml --slo 'p99 < 2s' --name s");
    // Thirty requests of one user, two trials, and some more.
    running.once(|| server.counts().answered > 430).signal(Signal::INT).end().exits(130).says("Stopped: interrupted.");
    let result = session.json("_output/loadline/s.find.json");
    assert_eq!(result["trials"][0]["summary"]["populations"].as_array().unwrap().len(), 2);
}

#[test]
fn every_mistake_of_a_search_is_told_with_its_remedy_before_anything_is_sent() {
    let server = server();
    let url = server.url("/healthz");
    let mut session = Session::new().file("_output", "");
    let slo = "--slo 'p99 < 50ms'";
    for (line, errors) in [
        (
            "find URL --dir .".to_owned(),
            "error: no promise is given, and without one every rate is carried\n  help: say what users need, such as --slo 'p99 < 50ms' --slo 'failed < 0.1%'\n",
        ),
        (
            "find URL --dir . --slo 'p99 < 50'".to_owned(),
            "error: --slo: '50' of what? give a time with its unit, such as 200ms\n  p99 < 50\n        ^^\n  help: promise a limit, such as --slo 'p99 < 50ms' --slo 'failed < 0.1%'\n",
        ),
        (
            "find URL --dir . --slo 'qps > 500'".to_owned(),
            "error: --slo 'qps > 500' cannot be searched with: the rate is what the search finds\n  help: leave it out, and look at the answer\n",
        ),
        (
            "find URL --dir . --slo 'first-event p95 < 800ms'".to_owned(),
            "error: --slo 'first_event p95 < 800ms' is about answers that stream\n  help: add --stream auto\n",
        ),
        (
            "find URL --dir . --stream sse --slo 'tpot p99 < 50ms'".to_owned(),
            "error: --slo 'time_per_token p99 < 50ms' is about tokens, and each event is one here\n  help: add --tokens words or --tokens usage\n",
        ),
        (
            format!("find URL --dir . {slo} --slo 'p99 < 80ms'"),
            "error: --slo 'p99 < 50ms' and --slo 'p99 < 80ms' promise two things of p99\n  help: keep the one that matters\n",
        ),
        (
            "find URL --dir . --slo 'failed < 2%' --slo 'p99 < 50ms'".to_owned(),
            "error: --slo 'failed < 2%' and --slo 'p99 < 50ms' contradict each other: a request that failed is late for every percentile\n  help: promise that no more than 1 % fail, or give a lower percentile than p99\n",
        ),
        (
            "find URL --dir . --slo 'p90 < 80ms' --slo 'p99 < 50ms'".to_owned(),
            "error: --slo 'p90 < 80ms' promises nothing: --slo 'p99 < 50ms' asks more requests to take no longer\n  help: promise p90 a time shorter than 50ms, or leave it out\n",
        ),
        (
            "find URL --dir . --slo 'p99 < 50ms and p50 < 3ms'".to_owned(),
            "error: --slo: two promises in one: give each by itself\n  p99 < 50ms and p50 < 3ms\n             ^^^\n  help: promise a limit, such as --slo 'p99 < 50ms' --slo 'failed < 0.1%'\n",
        ),
        (
            format!("find URL --dir . {slo} --rate-max fast"),
            "error: --rate-max 'fast' is not a rate such as 500/s or 30/m\n  fast\n  ^^^^\n  help: give a rate, such as --rate-max 2000/s\n",
        ),
        (
            format!("find URL --dir . {slo} --timeout 40ms"),
            "error: --slo 'p99 < 50ms' cannot be seen to break: with --timeout 40ms requests are given up before\n  help: give a longer --timeout, such as 100ms\n",
        ),
        (
            format!("find URL --dir . {slo} --budget 10s"),
            "error: a budget of 10s is too short to find a capacity; it would take 45s\n  help: give at least --budget 45s, or --quick for an answer to 5 %\n",
        ),
        (
            format!("find URL --dir . {slo} --budget soon --rate-max 0/s"),
            "error: --rate-max '0/s' sends nothing\n  help: give a rate above 0, such as --rate-max 2000/s\nerror: --budget 'soon' is not a time such as 10s, 250ms or 1m30s\n  help: give a time, such as --budget 3m\n",
        ),
        (
            format!("find URL --dir . {slo} -r 5/s -d 3s -n 4 --pause 1s"),
            "error: --rate 5/s is one load, and a search finds the highest\n  help: leave it out, cap the search with --rate-max, or measure that one rate with loadline run\nerror: --duration 3s is the time of one load, and a search chooses it\n  help: say how long all of it may take, with --budget\nerror: --requests 4 is for one load, and a search chooses how many\n  help: say how long all of it may take, with --budget\nerror: --pause 1s is for users who wait for their answers, and a search sends at a rate\n  help: leave it out\n",
        ),
    ] {
        let ran = session.loadline(&line.replace("URL", &url)).exits(2);
        assert_eq!(ran.stderr, errors, "{line}");
        assert_eq!(ran.stdout, "", "{line}");
    }
    session.loadline(&format!("find {url} {slo}")).exits(2).complains("the directory '_output/loadline' cannot be written to");
    assert_eq!(server.counts().received, 0);
    drop(server);
    session.loadline(&format!("find {url} --dir . {slo}")).exits(3).complains("nothing listens on ");
    assert_eq!(session.files(), ["_output"]);
}
