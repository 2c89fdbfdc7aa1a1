//! What pages name, in the simulated engine: what is asked for, at the same time, how often, and how it is counted.

use super::*;

const HTML: &str = "Content-Type: text/html; charset=utf-8\r\n";
const CSS: &str = "Content-Type: text/css\r\n";

/// A page with a style sheet that names a picture, a frame that names the page again, two pictures, and what is elsewhere or nowhere.
fn shop(seen: &Seen) -> Answer {
    let typed = |media_type: &str, body: &str| (10, 200, media_type.to_owned(), body.to_owned());
    match seen.line.as_str() {
        "POST /login" => (10, 200, format!("{HTML}Set-Cookie: who=ann\r\n"), "<img src=/a.png><img src='b.png'>".to_owned()),
        "GET /shop/" => typed(
            HTML,
            "<link rel=stylesheet href=s.css><img src=/a.png><img src=a.png><img src=/a.png><img src='data:image/png;base64,AAAA'>\
             <img src='http://cdn.test/far.png'><iframe src=inner.html></iframe><img src=/moved.png>",
        ),
        "GET /shop/s.css" => typed(CSS, "@import 't.css'; p { background: url(/a.png) } q { background: url('../c.png') }"),
        "GET /shop/t.css" => typed(CSS, "@import 's.css'; i { background: url(d.png) }"),
        "GET /shop/inner.html" => typed(HTML, "<iframe src='/shop/'></iframe><img src=e.png>"),
        "GET /moved.png" => (10, 302, "Location: /there.png\r\n".to_owned(), String::new()),
        "GET /shop/e.png" => (10, 404, String::new(), String::new()),
        "GET /text" => typed("Content-Type: text/plain\r\n", "<img src=no.png>"),
        "GET /gone" => (10, 404, HTML.to_owned(), "<img src=no.png>".to_owned()),
        _ => plain(10, "x"),
    }
}

#[test]
fn what_a_page_names_is_loaded_once_behind_it_and_counted_in_a_row_of_its_own() {
    let (server, log) = serving(shop);
    let text = "\
load: {users: 1, requests: 9}
steps:
  - {get: /shop/, resources: true, redirects: 2, headers: {Accept-Language: de}}
  - get: /behind
";
    let Collected { summary, .. } = run(&server, text);
    let mut asked = lines(&log);
    assert_eq!((asked.first().map(String::as_str), asked.last().map(String::as_str)), (Some("GET /shop/"), Some("GET /behind")));
    asked.sort();
    let expected = [
        "GET /a.png",
        "GET /behind",
        "GET /moved.png",
        "GET /shop/",
        "GET /shop/a.png",
        "GET /shop/e.png",
        "GET /shop/inner.html",
        "GET /shop/s.css",
        "GET /shop/t.css",
        "GET /there.png",
    ];
    assert_eq!(asked, expected);
    let steps = summary.scenario.clone().unwrap().steps;
    let rows: Vec<(&str, u64, u64)> = steps.iter().map(|step| (step.name.as_str(), step.due, step.failed)).collect();
    // The redirect and what it leads to are one request.
    assert_eq!(rows, [("GET /shop/", 1, 0), ("GET /shop/ (resources)", 7, 1), ("GET /behind", 1, 0)]);
    assert_eq!((summary.requests.succeeded, failed(&summary, Failure::CheckStatus)), (8, 1));
    let example = &summary.failures[0].example.as_ref().unwrap().text;
    assert!(example.starts_with("http://simulated.test/shop/e.png was answered with the status 404"), "{example}");
    assert!(log.borrow().iter().all(|seen| (seen.header("accept-language") == "de") != (seen.line == "GET /behind")));
    assert_eq!(summary.scenario.as_ref().unwrap().journeys[0].completed, 1);
}

#[test]
fn several_are_loaded_at_once_and_the_user_waits_for_the_last() {
    let (server, log) = serving(|seen| match seen.line.as_str() {
        "GET /" => (10, 200, HTML.to_owned(), (0..5).map(|number| format!("<img src={number}.png>")).collect()),
        _ => plain(100, "x"),
    });
    let at = |text: &str, server: &Simulation, log: &Log| -> Vec<u64> {
        log.borrow_mut().clear();
        run(server, text);
        let begin = log.borrow()[0].at_ms;
        log.borrow().iter().map(|seen| seen.at_ms - begin).collect()
    };
    let two = "load: {users: 1, requests: 7}\nsteps:\n  - {get: /, resources: {at_once: 2}}\n  - get: /behind\n";
    assert_eq!(at(two, &server, &log), [0, 10, 10, 110, 110, 210, 310]);
    let one = "load: {users: 1, requests: 5}\nsteps:\n  - {get: /, resources: {at_once: 1, except: '[34].png'}}\n  - get: /behind\n";
    assert_eq!(at(one, &server, &log), [0, 10, 110, 210, 310]);
    let connections = |log: &Log| log.borrow().iter().map(|seen| seen.connection).collect::<std::collections::BTreeSet<_>>().len();
    assert_eq!(connections(&log), 1);
    let branches = "load: {users: 1, requests: 3}\nsteps:\n  - parallel:\n    - {get: /, resources: {only: '0.png$'}}\n    - get: /x\n";
    assert_eq!(at(branches, &server, &log), [0, 0, 10]);
}

#[test]
fn what_is_a_part_of_its_page_is_loaded_whatever_that_is_judged_and_ends_what_the_page_ends() {
    let (server, log) = serving(|seen| match seen.line.as_str() {
        "GET /" => (10, 200, HTML.to_owned(), "<img src=a.png><img src=gone.png>".to_owned()),
        "GET /fine" => (10, 200, HTML.to_owned(), "<img src=a.png>".to_owned()),
        "GET /gone.png" => (10, 404, String::new(), String::new()),
        _ => plain(10, "x"),
    });
    let asked = |step: &str, requests: u32| {
        log.borrow_mut().clear();
        let text = format!(
            "load: {{users: 1, requests: {requests}}}\ndefaults: {{failure_ends: journey}}\nsteps:\n  - {step}\n  - get: /behind\n"
        );
        let Collected { summary, .. } = run(&server, &text);
        let journey = summary.scenario.as_ref().unwrap().journeys[0].clone();
        (lines(&log).join(", "), journey.broke_off)
    };
    let (of_page, broken) = asked("{get: /, resources: {part_of_page: true, at_once: 1}}", 3);
    assert_eq!((of_page.as_str(), broken), ("GET /, GET /a.png, GET /gone.png", 1));
    assert!(asked("{get: /, resources: {at_once: 1}}", 4).0.ends_with("GET /gone.png, GET /behind"));
    // Loaded before the page is found to be another one.
    let (of_page, broken) = asked("{get: /fine, resources: {part_of_page: true}, checks: [body contains welcome]}", 2);
    assert_eq!((of_page.as_str(), broken), ("GET /fine, GET /a.png", 1));
    assert_eq!(asked("{get: /fine, resources: true, checks: [body contains welcome]}", 1).0, "GET /fine");
    // What is held against each answer is held against them, too.
    let (of_page, broken) = asked("{get: /fine, resources: {part_of_page: true}, checks: [{body: contains img, answers: parts}]}", 2);
    assert_eq!((of_page.as_str(), broken), ("GET /fine, GET /a.png", 1));
    let (of_page, _) = asked("{get: /fine, resources: {part_of_page: true}, checks: [{size: < 100, answers: all}]}", 3);
    assert_eq!(of_page, "GET /fine, GET /a.png, GET /behind");
}

#[test]
fn only_pages_that_were_answered_well_are_looked_through_and_cookies_and_secrets_go_where_they_belong() {
    let (server, log) = serving(shop);
    let text = "\
load: {users: 2, requests: 20}
defaults: {resources: true}
steps:
  - {post: /login, form: {name: ann}, headers: {Authorization: Bearer t}}
  - get: /text
  - get: /gone
";
    let Collected { summary, .. } = run(&server, text);
    let mut kinds = lines(&log);
    kinds.sort();
    kinds.dedup();
    assert_eq!(kinds, ["GET /a.png", "GET /b.png", "GET /gone", "GET /text", "POST /login"]);
    for seen in log.borrow().iter().filter(|seen| seen.line.ends_with(".png")) {
        let about_the_body = (seen.header("content-type"), seen.header("content-length"));
        assert_eq!((seen.header("cookie"), seen.header("authorization"), about_the_body), ("who=ann", "Bearer t", ("", "")), "{seen:?}");
    }
    assert_eq!(summary.requests.due, 4 * 5);
}

#[test]
fn mistakes_have_places_and_what_is_read_is_printed() {
    let text = "target: http://a.test\nsteps:\n  - {get: /, resources: {at_once: 0, only: '(', all: x}}\n  - {get: /, resources: maybe}\n  - {get: /, cache: {at_most: 0}}\n  - forget: all\n";
    let mistakes: Vec<String> = crate::read("s.yaml", text).unwrap_err().iter().map(ToString::to_string).collect();
    let mistakes = mistakes.join("\n");
    for part in [
        "nothing is done with 0 resources at once",
        "unclosed group",
        "all",
        "this is neither true nor false",
        "in a cache of 0 answers",
        "users forget cookies, their cache",
    ] {
        assert!(mistakes.contains(part), "{part}: {mistakes}");
    }
}
