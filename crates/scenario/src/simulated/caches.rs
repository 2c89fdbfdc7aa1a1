//! Caches of users, in the simulated engine: what is asked for with its marks, and what is not asked for.

use super::*;

/// A page with a mark, a picture that stays fresh, one that is to be asked about, and others that stay fresh for some seconds.
fn kept(seen: &Seen) -> Answer {
    let typed = |headers: &str, body: &str| (1, 200, headers.to_owned(), body.to_owned());
    match (seen.line.as_str(), seen.header("if-none-match")) {
        ("GET /page", "\"1\"") => (1, 304, "ETag: \"1\"\r\nCache-Control: no-cache\r\n".to_owned(), String::new()),
        ("GET /page", _) => {
            let page = "<img src=/fresh.png><img src=/stale.png>";
            typed("ETag: \"1\"\r\nCache-Control: no-cache\r\nContent-Type: text/html\r\n", page)
        }
        ("GET /fresh.png" | "GET /fresh", _) => typed("Cache-Control: max-age=3600\r\n", "x"),
        ("GET /stale.png", _) => typed("Last-Modified: Tue, 14 Nov 2023 22:13:20 GMT\r\nCache-Control: no-cache\r\n", "x"),
        ("GET /five", _) => typed("Cache-Control: max-age=5\r\n", "x"),
        ("GET /from", _) => (1, 302, "Location: /fresh\r\n".to_owned(), String::new()),
        ("GET /by", _) => typed("Vary: accept\r\nCache-Control: max-age=60\r\n", "x"),
        _ => plain(1, ""),
    }
}

fn asked(text: &str) -> Vec<String> {
    let (server, log) = serving(kept);
    let Collected { summary, .. } = run(&server, text);
    let asked = log.borrow();
    assert_eq!((summary.requests.succeeded, summary.requests.failed), (asked.len() as u64, 0));
    let said = |seen: &Seen| format!("{} {}{}", &seen.line, seen.header("if-none-match"), seen.header("if-modified-since"));
    asked.iter().map(|seen| said(seen).trim_end().to_owned()).collect()
}

#[test]
fn what_a_user_has_had_is_asked_for_with_its_marks_and_what_a_page_names_while_it_is_fresh_not_at_all() {
    let asked = asked(
        "\
load: {duration: 1m}
populations: [{name: one, users: 1, iterations: 2}]
defaults: {cache: {at_most: 10}}
steps:
  - {get: /page, resources: {at_once: 1}}
  - {get: /page, resources: true}
  - {post: /page, body: x}
  - {put: /page, body: x, cache: {all_methods: true}}
  - {get: /page, cache: false}
  - {get: /page, headers: {If-None-Match: own}, resources: {at_once: 1}}
  - forget: cache
",
    );
    let expected = [
        "GET /page",
        "GET /fresh.png",
        "GET /stale.png",
        "GET /page \"1\"",
        "POST /page",
        "PUT /page \"1\"",
        "GET /page",
        "GET /page own",
        "GET /stale.png Tue, 14 Nov 2023 22:13:20 GMT",
    ];
    assert_eq!(asked, [expected, expected].concat());
}

#[test]
fn a_user_has_caches_of_several_numbers_and_each_knows_its_own_answers() {
    let asked = asked(
        "\
load: {duration: 1m}
populations: [{name: one, users: 1, iterations: 2}]
steps:
  - {get: /page, cache: true}
  - {get: /page, cache: {number: 2}}
  - {get: /page, cache: {number: 2}}
  - {get: /fresh, cache: {number: 2}}
  - {get: /fresh, cache: {number: 3}}
",
    );
    let expected = ["GET /page", "GET /page", "GET /page \"1\"", "GET /fresh", "GET /fresh"];
    assert_eq!(asked, [&expected[..], &["GET /page \"1\""; 3]].concat());
}

#[test]
fn a_step_whose_answer_is_fresh_is_passed_over_and_its_pauses_are_not() {
    let (server, log) = serving(kept);
    let text = "load: {duration: 1m}\npopulations: [{name: one, users: 1, iterations: 7}]\ndefaults: {cache: true}\nsteps: [{get: /fresh}, {get: /five, pause: 2s}]\n";
    let Collected { summary, .. } = run(&server, text);
    let at: Vec<(u64, String)> = log.borrow().iter().map(|seen| (seen.at_ms, seen.line.clone())).collect();
    let five = || "GET /five".to_owned();
    assert_eq!(at, [(0, "GET /fresh".to_owned()), (1, five()), (6_002, five()), (12_003, five())]);
    assert_eq!(summary.scenario.as_ref().unwrap().journeys[0].completed, 3);
    let always = "load: {duration: 1m}\npopulations: [{name: one, users: 1, iterations: 2}]\ndefaults: {cache: {always_ask: true}}\nsteps: [{get: /fresh}, {get: /page}]\n";
    assert_eq!(asked(always), ["GET /fresh", "GET /page", "GET /fresh", "GET /page \"1\""]);
}

#[test]
fn each_user_has_its_own_and_what_its_branches_have_is_its() {
    let text = "load: {duration: 1m}\npopulations: [{name: one, users: 2, iterations_per_user: 2}]\ndefaults: {cache: true}\nsteps:\n  - parallel: [{get: /fresh}, {get: /five}]\n  - get: /other\n";
    let mut asked = asked(text);
    asked.sort();
    let twice = |line: &str| vec![line.to_owned(); 2];
    assert_eq!(asked, [twice("GET /five"), twice("GET /fresh"), twice("GET /other"), twice("GET /other")].concat());
}

#[test]
fn answers_differ_by_headers_and_redirects_lead_to_what_is_kept() {
    let text = "\
load: {duration: 1m}
populations: [{name: one, users: 1, iterations: 1}]
defaults: {cache: true, redirects: 3}
steps:
  - {get: /by, headers: {Accept: text/html}}
  - {get: /by, headers: {Accept: text/html}}
  - {get: /by, headers: {Accept: text/csv}}
  - {get: /from}
  - {get: /from}
  - {get: /fresh}
";
    let (server, log) = serving(kept);
    run(&server, text);
    assert_eq!(lines(&log), ["GET /by", "GET /by", "GET /from", "GET /fresh", "GET /from"]);
}

#[test]
fn who_knows_everything_waits_until_the_load_is_over() {
    let (server, log) = serving(kept);
    let text = "load: {users: 1, duration: 20s}\ndefaults: {cache: true}\nsteps: [{get: /five}]\n";
    run(&server, text);
    let at: Vec<u64> = log.borrow().iter().map(|seen| seen.at_ms).collect();
    assert_eq!(at.len(), 4, "{at:?}");
    assert!(at.windows(2).all(|pair| (5_000..5_100).contains(&(pair[1] - pair[0]))), "{at:?}");
    let loops = "load: {users: 1, duration: 2s}\ndefaults: {cache: true}\nsteps: [{repeat: 1000000, steps: [{get: /fresh}]}]\n";
    run(&server, loops);
    assert_eq!(lines(&log).len(), 5);
}

#[test]
fn a_script_decides_which_answer_is_asked_for() {
    let text = "\
load: {duration: 1m}
populations: [{name: one, users: 1, iterations: 1}]
defaults: {cache: true}
steps:
  - {get: /fresh}
  - {get: /other, before: \"request.path = '/fresh'\"}
  - {get: /fresh, before: \"request.path = '/else'\"}
  - {get: /other}
";
    assert_eq!(asked(text), ["GET /fresh", "GET /else", "GET /other"]);
}
