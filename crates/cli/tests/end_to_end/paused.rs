//! A generator that is paused, and signals that ask it to end: what it says of itself.

use std::time::Duration;

use rustix::process::Signal;

use crate::session::{Running, Session, server};

/// Stopped for so long once it sends, and going on to its end.
fn paused(running: Running, sends: impl FnMut() -> bool, pause: Duration) -> Running {
    let running = running.once(sends).signal(Signal::STOP);
    // The pause itself is what is tested: nothing is waited for.
    std::thread::sleep(pause);
    running.signal(Signal::CONT)
}

fn gaps_total_s(result: &serde_json::Value) -> f64 {
    let generator = &result["generator"];
    generator["gaps"]["total_ns"].as_f64().unwrap_or(0.0) / 1e9 / generator["threads"].as_f64().unwrap()
}

#[test]
fn a_run_that_was_paused_says_so_and_judges_nothing() {
    let server = server();
    let url = server.url("/healthz");
    for load in ["-c 5", "-c 5 -r 300/s"] {
        let mut session = Session::new();
        let running = session.start(&format!("run {url} {load} -d 6s -q --check 'p99 < 50ms' --out json=r.json"));
        let before = server.counts().answered;
        let ran = paused(running, || server.counts().answered > before + 50, Duration::from_secs(2)).end().exits(4);
        assert!(ran.stdout.contains("INVALID") && ran.stdout.contains("loadline itself did not run for "), "{load}: {}", ran.stdout);
        let result = session.json("r.json");
        assert_eq!(result["validity"]["standing"], "invalid", "{load}");
        let stopped = gaps_total_s(&result);
        assert!((1.5..6.0).contains(&stopped), "{load}: stopped for 2 s, and it says {stopped} s");
    }
}

#[test]
fn a_paused_run_that_promises_nothing_ends_well_and_says_what_it_is_worth() {
    let server = server();
    let mut session = Session::new();
    let running = session.start(&format!("run {} -c 2 -d 4s -q", server.url("/healthz")));
    let ran = paused(running, || server.counts().answered > 50, Duration::from_secs(1)).end().exits(0);
    assert!(ran.stdout.contains("INVALID"), "{}", ran.stdout);
}

#[test]
fn a_server_that_is_slow_is_not_taken_for_a_pause() {
    let server = server();
    let mut session = Session::alone();
    session.loadline(&format!("run {} -c 3 -d 3s -q --out json=r.json", server.url("/behave?delay=400ms"))).exits(0);
    let stopped = gaps_total_s(&session.json("r.json"));
    // All of it would be nearly 3 s; a machine that is stunned for a moment now and then is no slow server either.
    assert!(stopped < 2.0, "it says that it did not run for {stopped} s");
}

#[test]
fn a_trial_that_was_paused_is_not_counted() {
    let server = server();
    let mut session = Session::new();
    let url = server.url("/healthz");
    let line = format!("find {url} --slo 'p99 < 5s' --quick --rate-max 60/s --budget 60s -q --out json=f.json");
    let running = session.start(&line);
    paused(running, || server.counts().answered > 60, Duration::from_secs(1)).end();
    let found = session.json("f.json");
    let trials = found["trials"].as_array().unwrap();
    let doubted = |trial: &&serde_json::Value| trial["doubt"].as_str().is_some_and(|why| why.contains("did not run for"));
    let rejected: Vec<_> = trials.iter().filter(doubted).collect();
    assert!(!rejected.is_empty(), "{trials:#?}");
    assert!(rejected.iter().all(|trial| trial["result"]["standing"] == "invalid"), "{rejected:#?}");
}

#[test]
fn the_end_of_the_terminal_ends_the_load_with_a_report() {
    let server = server();
    let mut session = Session::new();
    let running = session.start(&format!("run {} -c 2 -d 60s --out json=r.json", server.url("/healthz")));
    running.once(|| server.counts().answered > 20).signal(Signal::HUP).end().exits(130).says("Interrupted after");
    assert_eq!(session.json("r.json")["ended"]["how"], "interrupted");
}
