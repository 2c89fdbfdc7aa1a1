//! Requests of other tools: run as they are pasted, and made into scenarios.

use crate::session::{Session, server};

#[test]
fn a_pasted_curl_command_is_what_is_sent() {
    let server = server();
    let url = server.url("/healthz?api_key=k3y-of-mine-1");
    let line =
        format!("run -n 7 -c 2 -H X-More:1 --out json=r.json -- curl {url} -H Accept:text/plain -H X-More:2 --compressed --retry 3 -s");
    let mut session = Session::new();
    let ran = session.loadline(&line).exits(0).says("7");
    ran.complains("warning: of the curl command is left out: the command line: the option --retry 3");
    assert_eq!(server.counts().path("/healthz"), 7);
    let saved = session.read("r.json");
    assert!(saved.contains("\"X-More: 1\"") && !saved.contains("X-More: 2") && saved.contains("text/plain"), "flags go over it: {saved}");
    assert!(!saved.contains("k3y-of-mine"));
}

#[test]
fn a_file_with_one_request_stands_in_the_place_of_a_url() {
    let server = server();
    let mut session = Session::new()
        .file("one.sh", &format!("curl '{}' -X POST -d 'a=1'\n", server.url("/echo")))
        .file("two.txt", "GET http://127.0.0.1:1/a\n\nGET http://127.0.0.1:1/b\n")
        .file("notes.txt", "nothing of this kind\n");
    session.loadline("run one.sh -n 3 -q").exits(0).complains_of_nothing();
    assert_eq!(server.counts().path("/echo"), 3);
    session
        .loadline("run two.txt -n 3")
        .exits(2)
        .complains("'two.txt' holds 2 requests")
        .complains("loadline import 'two.txt' > scenario.yaml");
    session.loadline("run notes.txt -n 3").exits(2).complains("has no scheme");
    session.loadline("run -n 1 -- curl --compressed").exits(2).complains("names no URL");
}

#[test]
fn a_scenario_is_made_of_what_another_tool_keeps() {
    let collection = r#"{"info": {"name": "Shop", "schema": "v2.1.0"}, "item": [{"name": "Log in", "request": {"method": "POST", "url": "{{baseUrl}}/login",
        "body": {"mode": "urlencoded", "urlencoded": [{"key": "password", "value": "hunter22"}]}},
        "event": [{"listen": "test", "script": {"exec": ["pm.response.to.have.status(200);", "pm.sendRequest('x');"]}}]}]}"#;
    let mut session = Session::new().file("shop.json", collection);
    let line = "import shop.json --variable baseUrl=http://127.0.0.1:8080";
    let ran = session.loadline(line).exits(0).says("target: http://127.0.0.1:8080\n").says("- post: /login").says("'{{env PASSWORD}}'");
    let ran = ran
        .complains("'shop.json': a Postman collection (a guess; --from says otherwise): 1 request")
        .complains("set PASSWORD before the run");
    let ran = ran.complains("Log in: of the test script 'pm.sendRequest('x');'");
    assert!(!ran.stdout.contains("hunter22") && !ran.stderr.contains("hunter22"));
    session.loadline(&format!("{line} --secrets keep -q -o shop.yaml")).exits(0).complains_of_nothing();
    assert!(session.read("shop.yaml").contains("hunter22"));
    session.loadline("check shop.yaml").exits(0);
    session.loadline(&format!("{line} -o shop.yaml")).exits(2).complains("--force");
    session.loadline(&format!("{line} --strict")).exits(4).says("steps:");
    session.loadline("import shop.json").exits(2).complains("--variable baseUrl=http://HOST");
    session.loadline("import shop.json --from har").exits(2).complains("this is no HAR recording");
    session.loadline("import shop.json --from jmx").exits(2).complains("it is none of curl, har");
    session.loadline("import shop.json shop.json --strict").exits(2).complains("a scenario is made of one file");
}

#[test]
fn a_scenario_that_was_made_is_run() {
    let server = server();
    let commands = format!(
        "curl '{}' -H 'X-A: 1' -u me:hunter22\ncurl '{}' -H 'X-A: 1' --json '{{\"a\": \"{{{{x}}}}\", \"token\": \"abcdefgh\"}}'\ncurl {} -F a=b -k\n",
        server.url("/healthz?x=1"),
        server.url("/echo"),
        server.url("/echo")
    );
    let mut session = Session::new().file("both.sh", &commands);
    session.loadline("import both.sh -o both.yaml").exits(0).complains("both.yaml is a scenario: loadline run both.yaml");
    session.loadline("run both.yaml -n 6 -c 1").exits(2).complains("PASSWORD").complains("TOKEN");
    let mut session = session.env("PASSWORD", "hunter22").env("TOKEN", "abcdefgh");
    session.loadline("check both.yaml").exits(0);
    let mut session = session.env("PASSWORD", "hunter22").env("TOKEN", "abcdefgh");
    session.loadline("run both.yaml -n 6 -c 1").exits(0).says("6");
    assert_eq!((server.counts().path("/healthz"), server.counts().path("/echo")), (2, 4));
}
