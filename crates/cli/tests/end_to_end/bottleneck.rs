//! What limits a server, as the program says it. Whether it says so of every kind of server, `make validate` holds against ten and
//! more of them; here it is enough that what follows from a server's own words gets through to every output.

use crate::session::{Session, prose, server};
use crate::tools;

#[test]
fn a_rate_limit_is_named_in_every_output() {
    if !tools::pages_are_built() {
        return;
    }
    let server = server();
    let mut session = Session::new();
    let url = server.url("/behave?limit=20");
    let line = format!("run {url} -c 4 -d 1500ms --full --out json=r.json --out markdown=r.md --out html=r.html");
    let ran = session.loadline(&line);
    ran.says("what limits it")
        .says("a rate limit: it turns requests away beyond about ")
        .says("How to check: ")
        .says("Fix: raise the limit");
    let result = session.json("r.json");
    let first = &result["bottleneck"][0];
    assert_eq!(first["kind"], "rate_limit", "{first}");
    assert!(first["strength"].as_f64().unwrap() > 0.9 && first["evidence"][0].as_str().unwrap().contains("429"), "{first}");
    assert!(session.read("r.md").contains("What limits it is a rate limit: "), "{}", session.read("r.md"));
    let page = session.read("r.html");
    assert!(page.contains("it turns requests away beyond about ") && page.contains("\"evidence\":\"bottleneck\""));
}

#[test]
fn a_ladder_ends_with_what_limits_it() {
    let server = server();
    let mut session = Session::new();
    let line = format!("sweep {} --levels 1,4 -d 300ms --cooldown 0s --name it --dir .", server.url("/behave?limit=20"));
    session.loadline(&line).says("What limits it is a rate limit: ");
    assert_eq!(session.json("it.json")["bottleneck"][0]["kind"], "rate_limit");
    assert!(session.read("it.md").contains("What limits it is a rate limit: "));
    // Read again, it says the same.
    session.loadline("report it.json").says("What limits it is a rate limit: ");
}

/// What is told of a server that lets nobody in.
const REFUSED: &str = "every request was refused with 401 Unauthorized: it is the credentials, not the load";

#[test]
fn missing_credentials_are_told_as_that_by_a_run_a_ladder_and_a_search() {
    let server = server();
    let mut session = Session::new();
    let url = server.url("/behave?status=401");
    let ran = session.loadline(&format!("run {url} -c 2 -d 500ms --full --out json=r.json --out markdown=r.md --out html=r.html"));
    assert!(prose(&ran.stdout).contains(REFUSED) && prose(&ran.stdout).contains("Fix: give the credentials"), "{}", ran.stdout);
    let findings = session.json("r.json")["bottleneck"].clone();
    assert_eq!((findings[0]["kind"].as_str(), findings.as_array().map(Vec::len)), (Some("refused"), Some(1)), "{findings}");
    assert!(session.read("r.md").contains(REFUSED), "{}", session.read("r.md"));
    assert!(session.read("r.html").contains("Every request was refused with 401 Unauthorized"));

    let ran = session.loadline(&format!("sweep {url} --levels 1,4 -d 300ms --cooldown 0s --name it --dir ."));
    assert!(prose(&ran.stdout).contains(&format!("What was measured is not its capacity: {REFUSED}.")), "{}", ran.stdout);
    assert!(!ran.stdout.contains("it fails from"), "{}", ran.stdout);
    assert_eq!(session.json("it.json")["bottleneck"][0]["kind"], "refused");

    let ran = or_return!(session.searched(&format!("find '{url}' --slo 'failed < 1%' --quick --budget 30s --name it --dir ."))).exits(1);
    assert!(prose(&ran.stdout).contains(&format!("What was measured is not its capacity: {REFUSED}.")), "{}", ran.stdout);
    assert_eq!(session.json("it.find.json")["bottleneck"][0]["kind"], "refused");
}

#[test]
fn credentials_that_some_requests_lack_are_a_failure_of_these() {
    let server = server();
    let mut session = Session::alone();
    // A server that is asked as fast as it can be has an end besides, which is no matter here.
    let line = format!("run '{}' -c 2 -r 100/s -d 1s --observe none --out json=r.json", server.url("/behave?status=401&share=30%25"));
    let ran = session.loadline(&line);
    assert!(!prose(&ran.stdout).contains("every request was refused") && ran.stdout.contains("(status 401)"), "{}", ran.stdout);
    let first = session.json("r.json")["bottleneck"][0].clone();
    assert!(first["kind"] == "errors" && first["remedy"].as_str().unwrap().contains("credentials"), "{first}");
}

/// The first Finding of a run, and the report.
fn first_of(session: &mut Session, line: &str) -> Option<(serde_json::Value, String)> {
    let ran = session.undisturbed(&format!("run {line} --full --out json=r.json --force"))?;
    Some((session.json("r.json")["bottleneck"][0].clone(), prose(&ran.stdout)))
}

#[test]
fn connections_that_are_too_few_are_the_loads_own_limit_and_no_pool() {
    let server = server();
    let mut session = Session::new();
    let (first, said) = or_return!(first_of(&mut session, &format!("-c 5 -d 2s -r 200/s '{}'", server.url("/behave?delay=50ms"))));
    assert_eq!(first["kind"], "own_load", "{first}");
    assert!(first["sentence"].as_str().unwrap().starts_with("all 5 connections (--connections 5) were busy"), "{first}");
    assert!(!said.contains("pool of workers"), "{said}");
}

#[test]
fn a_server_that_never_answers_is_not_told_to_be_below_its_limit() {
    let server = server();
    let mut session = Session::new();
    let (first, said) = or_return!(first_of(&mut session, &format!("-c 5 -d 1s --timeout 300ms '{}'", server.url("/behave?never"))));
    assert_eq!(first["kind"], "silent", "{first}");
    assert!(said.contains("no request was answered within the time limit of 300 ms"), "{said}");
}

#[test]
fn one_load_of_a_pool_names_none() {
    let server = server();
    let mut session = Session::alone();
    let (first, said) = or_return!(first_of(&mut session, &format!("-c 10 -d 1s '{}'", server.url("/behave?pool=8:5ms"))));
    // A machine that others keep busy may be named, a pool or a lock never.
    assert!(["none", "shared_machine", "generator"].contains(&first["kind"].as_str().unwrap()), "{first}");
    assert!(!said.contains("pool of workers") && !said.contains("a lock:") && !said.contains("near its limit"), "{said}");
}

#[test]
fn freezes_are_named_with_open_and_with_closed_load() {
    let server = server();
    let mut session = Session::alone();
    let url = server.url("/behave?stall=1s:400ms&delay=2ms");
    // Where loadline stood still too, each time, nobody is blamed for it.
    let nobody =
        |first: &serde_json::Value, said: &str| said.contains("INVALID") && (first["kind"] == "none" || first["kind"] == "generator");
    let (first, said) = or_return!(first_of(&mut session, &format!("-c 10 -d 6s '{url}'")));
    let is_named = (first["kind"] == "freezes" || first["kind"] == "shared_machine") && said.contains("the server froze");
    assert!(is_named || nobody(&first, &said), "{first} {said}");
    let url = server.url("/behave?stall=2s:600ms&delay=2ms");
    let (first, said) = or_return!(first_of(&mut session, &format!("-r 200/s -d 10s '{url}'")));
    assert!(said.contains("the server froze") && !said.contains("--warmup") || nobody(&first, &said), "{first} {said}");
}

#[test]
fn refusals_in_bursts_are_overload_protection_and_no_rate() {
    let server = server();
    let mut session = Session::alone();
    let url = server.url("/behave?breaks=50:2s&pool=200:5ms");
    let (first, said) = or_return!(first_of(&mut session, &format!("-c 100 -d 4s '{url}'")));
    assert!(["overload", "shared_machine", "generator"].contains(&first["kind"].as_str().unwrap()), "{first}");
    assert!(!said.contains("a rate limit"), "{said}");
}

#[test]
fn a_law_that_was_accepted_leaves_no_pool_beside_it() {
    let server = server();
    let mut session = Session::alone();
    let url = server.url("/behave?usl=200:0.05:0.002");
    let said = prose(
        &session.loadline(&format!("sweep '{url}' --levels 1,2,4,8,16,32,64 --all-levels -d 500ms --cooldown 0s --name it --dir .")).stdout,
    );
    let findings = session.json("it.json")["bottleneck"].clone();
    assert!(findings.as_array().unwrap().iter().all(|finding| finding["kind"] != "worker_pool"), "{findings} {said}");
}
