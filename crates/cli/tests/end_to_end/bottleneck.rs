//! What limits a server, as the program says it. Whether it says so of every kind of server, `make validate` holds against ten and
//! more of them; here it is enough that what follows from a server's own words gets through to every output.

use crate::session::{Session, server};

#[test]
fn a_rate_limit_is_named_in_every_output() {
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

/// Prose as one line, wherever it was broken.
fn prose(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

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
    assert!(prose(&ran.stdout).contains(&format!("What was measured is no limit: {REFUSED}.")), "{}", ran.stdout);
    assert!(!ran.stdout.contains("it fails from"), "{}", ran.stdout);
    assert_eq!(session.json("it.json")["bottleneck"][0]["kind"], "refused");

    let ran = session.loadline(&format!("find '{url}' --slo 'failed < 1%' --quick --budget 30s --name it --dir .")).exits(1);
    assert!(prose(&ran.stdout).contains(&format!("What was measured is no limit: {REFUSED}.")), "{}", ran.stdout);
    assert_eq!(session.json("it.find.json")["bottleneck"][0]["kind"], "refused");
}

#[test]
fn credentials_that_some_requests_lack_are_a_failure_of_these() {
    let server = server();
    let mut session = Session::new();
    // A server that is asked as fast as it can be has an end besides, which is no matter here.
    let line = format!("run '{}' -c 2 -r 100/s -d 1s --observe none --out json=r.json", server.url("/behave?status=401&share=30%25"));
    let ran = session.loadline(&line);
    assert!(!prose(&ran.stdout).contains("every request was refused") && ran.stdout.contains("(status 401)"), "{}", ran.stdout);
    let first = session.json("r.json")["bottleneck"][0].clone();
    assert!(first["kind"] == "errors" && first["remedy"].as_str().unwrap().contains("credentials"), "{first}");
}
