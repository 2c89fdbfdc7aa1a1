//! Templates, data files and lists of URLs: what the server saw.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::recorder::Recorder;
use crate::session::{Session, server};

fn recorder() -> Recorder {
    Recorder::start(Duration::ZERO, 200)
}

/// The paths of requests, and how often each came.
fn paths(requests: &[String]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for request in requests {
        *counts.entry(request.split(' ').nth(1).unwrap().to_owned()).or_default() += 1;
    }
    counts
}

fn header<'a>(name: &str, request: &'a str) -> &'a str {
    let lines = request.split("\r\n\r\n").next().unwrap().lines();
    lines.filter_map(|line| line.split_once(": ")).find(|(found, _)| found.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value)
}

#[test]
fn every_request_is_written_anew_with_the_length_of_its_body() {
    let server = recorder();
    let mut session = Session::new().env("TOKEN", "tok-secret-1");
    let line = format!(
        "run '{}/orders/{{{{sequence}}}}?at={{{{now unix}}}}' -n 60 -c 3 -t 2 --json '{{\"id\":\"{{{{uuid}}}}\",\"n\":{{{{random 1 100000}}}}}}' \
         -H 'X-Pick: {{{{choice a b}}}}' --bearer '{{{{env TOKEN}}}}' -H 'X-Sign: {{{{hmac sha256 (env TOKEN) (body)}}}}' --out json=r.json",
        server.url
    );
    session.loadline(&line).exits(0).complains_of_nothing();
    let seen = server.raw();
    let numbers: BTreeSet<u32> =
        seen.iter().map(|request| request["POST /orders/".len()..].split('?').next().unwrap().parse().unwrap()).collect();
    assert_eq!(numbers, (1..=60).collect());
    let mut ids = BTreeSet::new();
    for request in &seen {
        let (_, body) = request.split_once("\r\n\r\n").unwrap();
        let read: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(header("content-length", request), body.len().to_string());
        assert_eq!(header("authorization", request), "Bearer tok-secret-1");
        assert!(["a", "b"].contains(&header("x-pick", request)) && header("x-sign", request).len() == 64, "{request}");
        ids.insert(read["id"].as_str().unwrap().to_owned());
    }
    assert_eq!(ids.len(), 60);
    // The variable is named in the result, and its value is not in it.
    let saved = session.read("r.json");
    assert!(saved.contains("{{env TOKEN}}") && !saved.contains("tok-secret"), "{saved}");
}

#[test]
fn the_same_seed_sends_the_same_requests_whatever_the_threads() {
    let server = recorder();
    let url = format!("'{}/{{{{random 1 1000000}}}}/{{{{choice a b c}}}}'", server.url);
    let mut session = Session::new();
    session.loadline(&format!("run {url} -n 50 -c 4 -t 1 --out json=r.json")).exits(0);
    let first = paths(&server.raw());
    session.loadline(&format!("run {url} -n 50 -c 7 -t 2")).exits(0);
    assert_eq!(paths(&server.raw()), first);
    session.loadline("run --from r.json").exits(0);
    assert_eq!(paths(&server.raw()), first);
    session.loadline(&format!("run {url} -r 500/s -n 50 -t 2")).exits(0);
    assert_eq!(paths(&server.raw()), first);
    session.loadline("run --from r.json --seed 2").exits(0);
    assert_ne!(paths(&server.raw()), first);
}

#[test]
fn rows_are_taken_as_asked_for() {
    let server = recorder();
    let mut session = Session::new().file("users.csv", "id,name\n1,\"A \"\"B\"\"\"\n2,c\n3,d\n");
    let url = format!("{}/u/{{{{users.id}}}}", server.url);
    session.loadline(&format!("run {url} -n 7 -c 1 --data-file users.csv --data '{{{{raw (users.name)}}}}'")).exits(0);
    let seen = server.raw();
    let expected: BTreeMap<String, usize> = [("/u/1", 3), ("/u/2", 2), ("/u/3", 2)].map(|(path, count)| (path.to_owned(), count)).into();
    assert_eq!(paths(&seen), expected);
    assert!(seen[0].ends_with("\r\n\r\nA%20\"B\""), "{}", seen[0]);
    // Once, and the run is complete.
    let ran = session.loadline(&format!("run {url} -d 5m -c 2 -t 2 --data-file users.csv --data-end stop --out json=r.json")).exits(0);
    assert_eq!(paths(&server.raw()).into_values().collect::<Vec<_>>(), [1, 1, 1], "{}", ran.stdout);
    assert_eq!(session.json("r.json")["requests"]["due"], 3);
    session
        .loadline(&format!("run {url} -d 5m -c 1 -t 1 --data-file users.csv --data-end error"))
        .exits(3)
        .complains("users.csv has run out after 3 rows");
    assert_eq!(server.raw().len(), 3);
    // A user keeps its row.
    session.loadline(&format!("run {url} -n 30 -c 3 -t 2 --data-file users.csv --data-order per-user")).exits(0);
    assert_eq!(paths(&server.raw()).len(), 3);
    session
        .loadline(&format!("run {url} -c 4 --data-file users.csv --data-order per-user"))
        .exits(2)
        .complains("has 3 rows, which is fewer than --connections 4");
    session.loadline(&format!("run {url} -n 90 -c 3 --data-file users.csv --data-order random")).exits(0);
    assert_eq!(paths(&server.raw()).values().sum::<usize>(), 90);
    // What it held is known.
    session.loadline("run --from r.json").exits(0);
    let mut session = session.file("users.csv", "id,name\n9,x\n");
    session.loadline("run --from r.json").exits(2).complains("'users.csv' is not what it was when this plan was saved");
    session.loadline("run --from r.json --data-file users.csv").exits(0);
}

#[test]
fn urls_of_a_file_take_turns_or_chances() {
    let (server, other) = (recorder(), recorder());
    let mut session = Session::new()
        .file("turns.txt", "/a\nPUT /b\n# not this\n/c\n")
        .file("mix.txt", &format!("80 {0}/often/{{{{uuid}}}}\n20 DELETE {1}/seldom\n", server.url, other.url));
    session.loadline(&format!("run {} --urls turns.txt -n 30 -c 3 --data x", server.url)).exits(0);
    let seen = server.raw();
    let expected: BTreeMap<String, usize> = ["/a", "/b", "/c"].map(|path| (path.to_owned(), 10)).into();
    assert_eq!(paths(&seen), expected);
    assert_eq!(seen.iter().filter(|request| request.starts_with("PUT /b ")).count(), 10);

    let said = format!("warning: 'mix.txt': requests go to {} (80) and {} (20)\n  help: ", server.url, other.url);
    let ran = session.loadline("run --urls mix.txt -n 1000 -c 4 -t 2 --out json=r.json").exits(0);
    assert!(ran.stderr.starts_with(&said) && ran.stderr.lines().count() == 2, "{}", ran.stderr);
    let (often, seldom) = (server.raw(), other.raw());
    assert_eq!((often.len() + seldom.len(), paths(&often).len()), (1000, often.len()));
    // Binomial: sd √(1000 · 0.8 · 0.2) = 12.6; five of them.
    assert!(seldom.len().abs_diff(200) < 63, "{}", seldom.len());
    assert!(seldom.iter().all(|request| request.starts_with("DELETE /seldom ") && other.url.ends_with(header("host", request))));
    session.loadline("run --from r.json").exits(0);
    assert_eq!((server.raw().len(), other.raw().len()), (often.len(), seldom.len()));
    let mut session = session.file("mix.txt", "/a");
    session.loadline("run --from r.json").exits(2).complains("'mix.txt' is not what it was");
}

#[test]
fn every_mistake_is_told_before_the_run_with_its_place() {
    let server = server();
    let mut session = Session::new().file("users.csv", "id,name\n1,a\n").file("mix.txt", "/a\nftp://b/\n").file("s.lua", "");
    session = session.file("two.txt", "/a\nhttp://localhost:9/\n");
    let url = server.url("/");
    let line =
        format!("run {url}{{{{uid}}}} -H 'X: {{{{radom 1 2}}}}' --data '{{{{users.id}}}}{{{{user.id}}}}{{{{env}}' --data-file users.csv");
    let ran = session.loadline(&line).exits(2);
    for part in ["did you mean 'uuid'?", "did you mean 'random'?", "did you mean 'users.id'?", "^^^^", "the header X", "is not closed"] {
        assert!(ran.stderr.contains(part), "{part}:\n{}", ran.stderr);
    }
    for (line, part) in [
        (format!("{url}{{{{users.nmae}}}} --data-file users.csv"), "did you mean 'name'?"),
        (format!("{url} --data-file users.csv"), "no template takes anything from --data-file"),
        (format!("{url}{{{{a.b}}}} --data-file /nowhere/a.csv"), "the data file /nowhere/a.csv cannot be read"),
        (format!("{url} --data-end stop"), "--data-end is about data files"),
        (format!("'{url}{{{{env NOT_THERE}}}}'"), "NOT_THERE, which is not in the environment"),
        (format!("'{url}{{{{file nowhere}}}}'"), "'nowhere' of a template cannot be read"),
        (format!("{url}{{{{uuid}}}} --script s.lua"), "--script and a template"),
        (format!("{url} --urls two.txt --follow 1"), "--follow and a list of URLs of several servers"),
        (format!("{url}{{{{users.id}}}} -r 5/s --data-file users.csv --data-order per-user"), "--rate sends requests without any"),
        (format!("{url} --urls mix.txt"), "line 2: the URL 'ftp://b/'"),
        ("--urls mix.txt".to_owned(), "line 1: '/a' has no server"),
        (format!("{url} --urls nowhere.txt"), "--urls 'nowhere.txt' cannot be used"),
        ("'http://{{env HOST}}/'".to_owned(), "the server is looked up before the run"),
    ] {
        session.loadline(&format!("run {line}")).exits(2).complains(part);
    }
    assert_eq!(server.counts().received, 0);
}

#[test]
fn braces_can_be_sent_as_they_are() {
    let server = recorder();
    let mut session = Session::new();
    session.loadline(&format!("run {} -n 1 -c 1 --data 'a={{{{b}}}}' --no-templates --out json=r.json", server.url)).exits(0);
    session.loadline("run --from r.json").exits(0);
    session.loadline(&format!("run {} -n 1 -c 1 --data 'a={{{{\"{{{{\"}}}}b}}}}'", server.url)).exits(0);
    session.loadline(&format!("hey -n 1 -c 1 -m POST -d 'a={{{{b}}}}' {}", server.url)).exits(0);
    let seen = server.raw();
    assert!(seen.len() == 4 && seen.iter().all(|request| request.ends_with("\r\n\r\na={{b}}")), "{seen:#?}");
}

#[test]
fn the_file_of_a_body_is_a_template_too() {
    let server = recorder();
    let mut session = Session::new()
        .env("TOKEN", "tok-secret-1")
        .file("users.csv", "id,name\n1,\"a \"\"b\"\"\"\n2,c\n")
        .file("order.json", "{\n  \"n\": {{sequence}},\n  \"name\": \"{{users.name}}\", \"token\": \"{{env TOKEN}}\"\n}\n")
        .file("plain.txt", "a=1&b={c}")
        .file("page.hbs", "{{#each items}}\n  {{this.nmae}} {{uid}}\n{{/each}}\n");
    let line = format!("{} -n 2 -c 1 --data-file users.csv", server.url);
    session.loadline(&format!("run {line} --json @order.json --out json=r.json")).exits(0).complains_of_nothing();
    let sent = "{\n  \"n\": 1,\n  \"name\": \"a \\\"b\\\"\", \"token\": \"tok-secret-1\"\n}\n";
    let seen = server.raw();
    assert!(seen[0].ends_with(&format!("\r\nContent-Length: {}\r\n\r\n{sent}", sent.len())), "{seen:#?}");
    let saved = session.read("r.json");
    assert!(saved.contains("\"@order.json\"") && !saved.contains("tok-secret"), "{saved}");
    session = session.env("TOKEN", "tok-secret-1");
    session.loadline("run --from r.json").exits(0);
    assert_eq!(server.raw(), seen);
    // Others are sent as they are, and a file of another language is not guessed at.
    session.loadline(&format!("run {line} --json @plain.txt")).exits(2).complains("no template takes anything from --data-file users.csv");
    session.loadline(&format!("run {} -n 1 -c 1 --data @plain.txt", server.url)).exits(0);
    session.loadline(&format!("run {} -n 1 -c 1 --data @page.hbs", server.url)).exits(2).complains(
        "the file 'page.hbs' of the body is no template, line 2: the word 'uid' is unknown\n      {{this.nmae}} {{uid}}\n                      ^^^",
    );
    session.loadline(&format!("run {} -n 1 -c 1 --data @page.hbs --no-templates --out json=p.json", server.url)).exits(0);
    session.loadline("run --from p.json").exits(0);
    // Beside other templates too.
    let line = format!("run '{}/{{{{sequence}}}}' -n 1 -c 1", server.url);
    session.loadline(&format!("{line} -H 'Content-Type: text/html' --data '{{{{file page.hbs}}}}'")).exits(0);
    let seen = server.raw();
    assert!(seen[0].ends_with("\r\n\r\na=1&b={c}"), "{}", seen[0]);
    assert!(seen[1..].iter().all(|request| request.ends_with("{{this.nmae}} {{uid}}\n{{/each}}\n")) && seen.len() == 4, "{seen:#?}");
}

#[test]
fn a_redirect_repeats_the_request_that_was_filled_in() {
    let server = Recorder::start_leading(Duration::ZERO, 307, "again");
    let mut session = Session::new().file("mix.txt", "/list/{{sequence}}/\n");
    let body = "--data 'n={{sequence}}' --bearer '{{env TOKEN}}'";
    for (line, first, second) in [
        (format!("'{}/{{{{choice a}}}}/{{{{sequence}}}}' {body}", server.url), "POST /a/2 ", "POST /a/again "),
        (format!("{} --urls mix.txt {body}", server.url), "POST /list/2/ ", "POST /list/2/again "),
    ] {
        session = session.env("TOKEN", "tok-secret-1");
        session.loadline(&format!("run {line} --follow 1 -n 3 -c 1")).exits(0).says("redirect");
        let seen = server.raw();
        assert_eq!(seen.len(), 6, "{seen:#?}");
        assert!(seen[2].starts_with(first) && seen[3].starts_with(second), "{seen:#?}");
        for request in &seen[2..4] {
            assert!(request.ends_with("\r\n\r\nn=2") && header("authorization", request) == "Bearer tok-secret-1", "{request}");
        }
    }
}

#[test]
fn a_sweep_and_a_comparison_send_templates_too() {
    let server = recorder();
    let mut session = Session::new().file("users.csv", "id\n1\n2\n");
    let url = format!("{}/{{{{users.id}}}}", server.url);
    session.loadline(&format!("sweep {url} --levels 1,2 -d 200ms --cooldown 0s --data-file users.csv --name s")).exits(0);
    assert_eq!(paths(&server.raw()).into_keys().collect::<Vec<_>>(), ["/1", "/2"]);
    session.loadline(&format!("compare {url} {url} --pairs 2 -d 200ms -c 1 --cooldown 0s --data-file users.csv"));
    assert_eq!(paths(&server.raw()).into_keys().collect::<Vec<_>>(), ["/1", "/2"]);
}

#[test]
fn a_secret_of_the_query_reaches_the_server_through_a_proxy_and_no_report() {
    let proxy = recorder();
    let mut session = Session::new().file("mix.txt", "/list?api_key=tok-secret-1\n");
    // Written once for all requests; and anew for each, from a template and from a list.
    for (line, asked) in [
        ("'http://api.test/a?n=1&token=tok-secret-1'", "GET http://api.test/a?n=1&token=tok-secret-1 HTTP/1.1\r\n"),
        ("'http://api.test/{{choice b}}?token={{env TOKEN}}'", "GET http://api.test/b?token=tok-secret-1 HTTP/1.1\r\n"),
        ("http://api.test/ --urls mix.txt", "GET http://api.test/list?api_key=tok-secret-1 HTTP/1.1\r\n"),
    ] {
        let proxied = format!("--proxy {} --no-preflight -n 4 -c 2 --force", proxy.url);
        session = session.env("TOKEN", "tok-secret-1");
        let ran = session.loadline(&format!("run {line} {proxied} --out json=r.json")).exits(0);
        let seen = proxy.raw();
        assert_eq!(seen.len(), 4, "{seen:#?}");
        assert!(seen.iter().all(|request| request.starts_with(asked) && header("host", request) == "api.test"), "{asked}{seen:#?}");
        for told in [&ran.stdout, &ran.stderr, &session.read("r.json")] {
            assert!(!told.contains("tok-secret"), "{line}: {told}");
        }
    }
}

#[test]
fn a_list_has_a_row_for_each_url() {
    let served = server();
    let list = "3 GET /healthz\n1 GET /nothing\n2 GET /users/{{random 1 9}}\n";
    let mut session = Session::new().file("urls.txt", list);
    let line = format!("run {} --urls urls.txt -n 60 -c 2 --full --no-save", served.url("/"));
    let ran = or_return!(
        session.judged(&format!("{line} --check 'url /nothing failed == 0' --out json=r.json --out markdown=r.md --out html=r.html"))
    )
    .exits(1);
    ran.says("GET /healthz").says("GET /nothing").says("GET /users/{{random 1 9}}");
    let result = session.json("r.json");
    let rows = result["urls"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    let sum = |key: &str| rows.iter().map(|row| row[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!((sum("due"), sum("failed")), (60, result["requests"]["failed"].as_u64().unwrap()));
    assert!(rows[1]["failed"] == rows[1]["due"] && rows[0]["failed"] == 0, "{rows:?}");
    assert!(result.get("scenario").is_none());
    assert!(session.read("r.md").contains("| URL | requests |") && session.read("r.html").contains("/nothing"));
}
