//! `loadline try`: one request or one journey, with everything that was sent and answered.

use crate::session::{Session, server};

const SCENARIO: &str = "\
target: TARGET
setup:
  - get: /question
    extract: {first: json $.id}
steps:
  - get: /login
    extract: {csrf: 'css input[name=csrf]::attr(value)'}
  - post: /login
    name: log in
    form: {user: ada, password: ada, csrf: '{{csrf}}'}
    redirects: 1
    checks: [status 200, 'json $.user == bob']
  - get: /healthz
    extract: {nothing: json $.state}
  - get: /never
teardown:
  - get: /pick
";

#[test]
fn a_journey_is_shown_with_every_request_answer_check_and_variable() {
    let served = server();
    let mut session = Session::new().file("s.yaml", &SCENARIO.replace("TARGET", &served.url("")));
    let ran = session.loadline("try s.yaml --out html=page.html").exits(1);
    for part in [
        "1. setup: GET /question: 200 OK after",
        "variable first = ",
        "2. GET /login: 200 OK",
        "3. log in: 303 See Other, which was followed",
        "> POST /login HTTP/1.1",
        "> user=ada&password=***&csrf=",
        "4. log in: 200 OK after",
        "> GET /account HTTP/1.1",
        "> Cookie: ***",
        "check    held    status 200",
        "check    FAILED  json $.user == bob",
        "5. GET /healthz: 200 OK",
        "extract  FAILED  json $.state found nothing, or the path is wrong (the answer has the keys status), in {\"status\":\"ok\"}",
        "6. teardown: GET /pick",
        "Failed: the step 'log in': json $.user == bob",
    ] {
        assert!(ran.stdout.contains(part), "{part:?} is not in:\n{}", ran.stdout);
    }
    assert!(!ran.stdout.contains("/never") && !ran.stdout.contains("session=ada"), "{}", ran.stdout);
    let page = session.read("page.html");
    assert!(page.contains("<details open>") && page.contains("FAILED  json $.user == bob") && !page.contains("session=ada"), "{page}");
    assert_eq!(session.loadline("run s.yaml --debug").exits(1).stdout.lines().count(), ran.stdout.lines().count());
}

#[test]
fn a_single_request_is_shown_whole() {
    let served = server();
    let mut session = Session::new();
    let url = served.url("/get_result?a=10&b=20&token=t1");
    let ran = session.loadline(&format!("try {url} -H 'X-Id: 7' --expect 'json $.result == 30' -c 50 -d 10s")).exits(0);
    ran.says("> GET /get_result?a=10&b=20&token=*** HTTP/1.1")
        .says("> X-Id: 7")
        .says("< HTTP/1.1 200 OK")
        .says("< {\"result\":30}")
        .says("check    held    json $.result == 30")
        .says("The request succeeded.");
    session.loadline(&format!("try {}", served.url("/nothing"))).exits(1).says("404 Not Found").says("Failed: GET /nothing");
    session.loadline("try http://127.0.0.1:1/").exits(3).complains("nothing listens");
    let (before, after) = (served.counts().answered, 1);
    session.loadline(&format!("run {} --debug -d 5s", served.url("/healthz"))).exits(0).says("{\"status\":\"ok\"}");
    assert_eq!(served.counts().answered - before, after);
    session.loadline(&format!("run {} -n 3 -c 1 --out json=r.json", served.url("/healthz"))).exits(0);
    let before = served.counts().answered;
    session.loadline("run --from r.json --debug").exits(0).says("> GET /healthz HTTP/1.1").says("The request succeeded.");
    assert_eq!(served.counts().answered - before, 1);
}

#[test]
fn a_journey_is_chosen_by_its_name() {
    let served = server();
    let text = format!(
        "target: {}\njourneys:\n  - {{name: look, steps: [{{get: /pick}}]}}\n  - {{name: ask, steps: [{{get: /question}}]}}\n",
        served.url("")
    );
    let mut session = Session::new().file("s.yaml", &text);
    session.loadline("try s.yaml").exits(0).says("journey 'look'").says("GET /pick");
    session.loadline("try s.yaml --journey ask").exits(0).says("journey 'ask'").says("GET /question");
    session
        .loadline("try s.yaml --journey buy")
        .exits(2)
        .complains("--journey 'buy' is not in the scenario")
        .complains("there are look, ask");
}
