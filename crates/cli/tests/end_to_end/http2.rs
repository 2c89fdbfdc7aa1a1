//! HTTP/2 to a server that was not made for it: nginx, which ends its connections every hundred requests.

use crate::ab::Nginx;
use crate::session::Session;
use crate::tools;

/// Counts of a saved run.
fn figure(run: &serde_json::Value, path: &str) -> u64 {
    run.pointer(path).and_then(serde_json::Value::as_u64).unwrap_or_else(|| panic!("{path} in {run}"))
}

fn result(session: &Session) -> serde_json::Value {
    serde_json::from_str(&session.read("r.json")).unwrap()
}

#[test]
fn requests_share_connections_and_none_is_lost_when_the_server_ends_them() {
    if !tools::are_here(&["nginx", "openssl"]) {
        return;
    }
    for (scheme, version) in [("http", "2"), ("https", "2"), ("https", "auto")] {
        let mut session = Session::new();
        let nginx = Nginx::start_http2(&session, scheme);
        let load = format!("run {}x --insecure --http {version} -c 20 --threads 2 --streams 5 -n 4000 --out json=r.json", nginx.url);
        let load = if scheme == "https" { load } else { load.replace(" --insecure", "") };
        let told = session.loadline(&load).exits_either(0, 4);
        let run = result(&session);
        assert_eq!((figure(&run, "/requests/succeeded"), figure(&run, "/requests/failed")), (4000, 0), "{told:?}");
        // Each has a hundred requests and a few that were on their way.
        let opened = figure(&run, "/connections/opened");
        assert!((30..=60).contains(&opened), "{opened} connections");
        assert_eq!(figure(&run, "/connections/http2"), opened);
        assert!(told.stdout.contains(", over HTTP/2, 4,000 requests"), "{}", told.stdout);
        let quirks = run["quirks"].as_array().cloned().unwrap_or_default();
        assert!(quirks.iter().any(|quirk| quirk["quirk"] == "sent_again"), "{quirks:?}");
    }
}

#[test]
fn templates_and_expectations_see_heads_and_bodies() {
    if !tools::are_here(&["nginx", "openssl"]) {
        return;
    }
    let mut session = Session::new();
    let nginx = Nginx::start_http2(&session, "http");
    let url = format!("{}n/{{{{sequence}}}}", nginx.url);
    session.loadline(&format!("run {url} --http 2 -c 4 -n 300 --expect 'body contains HTTP/2.0 /n/' --out json=r.json")).exits_either(0, 4);
    let run = result(&session);
    assert_eq!(figure(&run, "/requests/succeeded"), 300, "{run}");
    let told = session.loadline(&format!("try {}y --http 2", nginx.url)).exits(0);
    assert!(told.stdout.contains("HTTP/2.0 /y"), "{}", told.stdout);
}

#[test]
fn a_server_without_http_2_is_told_before_the_load() {
    if !tools::are_here(&["nginx", "openssl"]) {
        return;
    }
    let mut session = Session::new();
    let nginx = Nginx::start(&session);
    let told = session.loadline(&format!("run {} --insecure --http 2 -n 1", nginx.url)).exits(3);
    assert!(told.stderr.contains("agreed on no protocol (ALPN)") && told.stderr.contains("--http"), "{}", told.stderr);
    session.loadline(&format!("run {} --insecure -n 10 --out json=r.json", nginx.url)).exits_either(0, 4);
    assert_eq!(figure(&result(&session), "/requests/succeeded"), 10);
    let told = session.loadline("show @last").exits(0);
    assert!(told.stdout.contains("connections over HTTP/1.1"), "{}", told.stdout);
}

#[test]
fn what_the_server_chooses_is_spoken_on_a_connection_for_each_user() {
    if !tools::are_here(&["nginx", "openssl"]) {
        return;
    }
    let mut session = Session::new();
    let nginx = Nginx::start_http2(&session, "https");
    for (words, file, http2) in [("", "two.json", true), ("--http 1.1", "r.json", false)] {
        session.loadline(&format!("run {}x --insecure -c 5 -n 50 --out json={file} {words}", nginx.url)).exits_either(0, 4);
        let run: serde_json::Value = serde_json::from_str(&session.read(file)).unwrap();
        assert_eq!((figure(&run, "/requests/succeeded"), figure(&run, "/connections/opened")), (50, 5), "{run}");
        assert_eq!(run.pointer("/connections/http2").is_some(), http2, "{run}");
    }
    session.loadline("diff two.json r.json").exits(2).complains("http is auto in A and 1.1 in B");
    // What other tools' command lines ask for is what those would send.
    session.loadline(&format!("ab -k -c 5 -n 50 {}x", nginx.url)).exits(0);
    let told = session.loadline("show @last").exits(0);
    assert!(told.stdout.contains("5 connections") && !told.stdout.contains("HTTP/2"), "{}", told.stdout);
}
