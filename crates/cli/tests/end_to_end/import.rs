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
        .file("notes.txt", "nothing of this kind\n");
    session.loadline("run one.sh -n 3 -q").exits(0).complains_of_nothing();
    assert_eq!(server.counts().path("/echo"), 3);
    session.loadline("run notes.txt -n 3").exits(2).complains("'notes.txt' is a file, and none that loadline can run");
    session.loadline("run -n 1 -- curl --compressed").exits(2).complains("names no URL");
}

#[test]
fn a_file_with_several_requests_is_gone_through_by_every_user() {
    let server = server();
    let mut session = Session::new().file(
        "targets.txt",
        &format!("GET {}\nX-Secret-Token: hunter22-of-mine\n\nPOST {}\nX-A: 1\n", server.url("/healthz"), server.url("/echo")),
    );
    let ran = session.loadline("run targets.txt -n 10 -c 1 --out json=r.json").exits(0);
    assert_eq!(ran.stderr, format!("'targets.txt': requests go to {} (2)\n", server.url("").trim_end_matches('/')));
    ran.says("GET /healthz").says("POST /echo");
    assert_eq!((server.counts().path("/healthz"), server.counts().path("/echo")), (5, 5));
    assert!(!session.read("r.json").contains("hunter22"), "a secret of the file is in the result");
    // It can be run again by its result, as any scenario.
    session.loadline("run --from r.json -n 4 -q").exits(0);
    assert_eq!((server.counts().path("/healthz"), server.counts().path("/echo")), (7, 7));
    session.loadline("check targets.txt").exits(0).says("1 journey with 2 steps");
    session.loadline("sweep targets.txt --levels 1 -n 6").exits(0).says("TPS");
    assert_eq!((server.counts().path("/healthz"), server.counts().path("/echo")), (10, 10));
}

#[test]
fn a_recording_is_sent_to_its_own_site_alone() {
    let server = server();
    let entry = |url: &str| format!("{{\"request\": {{\"method\": \"GET\", \"url\": \"{url}\", \"headers\": [], \"cookies\": []}}}}");
    let entries = [server.url("/healthz"), "https://count.test/x".to_owned(), server.url("/pick"), "https://count.test/y".to_owned()];
    let har = format!("{{\"log\": {{\"entries\": [{}]}}}}", entries.map(|url| entry(&url)).join(","));
    let mut session = Session::new().file("session.har", &har);
    let ran = session.loadline("run session.har -n 8 -c 1").exits(0);
    ran.complains("what was asked of count.test (2)").complains("another site");
    assert_eq!((server.counts().path("/healthz"), server.counts().path("/pick")), (4, 4));
}

const SHOP: &str = r#"{"info": {"name": "Shop", "schema": "v2.1.0"}, "item": [
    {"name": "One", "request": {"url": "{{baseUrl}}/healthz?who={{who}}"}}, {"name": "Two", "request": {"url": "{{baseUrl}}/pick?t={{token}}"}}]}"#;

#[test]
fn values_of_a_collection_stand_in_an_environment() {
    let server = server();
    let environment = format!(
        "{{\"name\": \"test\", \"values\": [{{\"key\": \"baseUrl\", \"value\": \"{}\", \"enabled\": true}}, {{\"key\": \"token\", \"value\": \"s3cr3t-t0ken\", \"type\": \"secret\"}}]}}",
        server.url("").trim_end_matches('/')
    );
    let mut session = Session::new().file("shop.json", SHOP).file("test.json", &environment);
    let missing = session.loadline("run shop.json -n 2 --environment test.json").exits(2);
    missing.complains("'shop.json' names a variable without a value: 'who'").complains("--variable who=VALUE");
    session.loadline("run shop.json -n 2 --target http://127.0.0.1:1").exits(2).complains("'who', 'token'");
    session.loadline("run shop.json -n 6 -c 1 --environment test.json --variable who=ann --out json=r.json").exits(0);
    assert_eq!((server.counts().path("/healthz"), server.counts().path("/pick")), (3, 3));
    assert!(!session.read("r.json").contains("s3cr3t-t0ken"));
    let base = server.url("");
    let line = format!("run shop.json -n 2 -c 1 --target {} --variable who=ann --variable token=x", base.trim_end_matches('/'));
    session.loadline(&line).exits(0);
    assert_eq!((server.counts().path("/healthz"), server.counts().path("/pick")), (4, 4));
    let printed = session.loadline("import shop.json --environment test.json --variable who=ann").exits(0);
    printed.says(&format!("target: {}", base.trim_end_matches('/'))).says("'{{env TOKEN}}'");
    for (line, part) in [
        ("run shop.json --environment missing.json", "'missing.json' cannot be read"),
        ("run shop.json --environment shop.json", "no environment of Postman"),
        ("run shop.json --environment staging", "no environments of its own"),
        ("run http://127.0.0.1:1 --variable a=b -n 1", "are about a file of another tool"),
        ("run http://127.0.0.1:1 --target http://127.0.0.1:2 -n 1", "says where a file's requests go"),
        ("run shop.json --target http://127.0.0.1:1/v1", "has a path"),
    ] {
        session.loadline(line).exits(2).complains(part);
    }
}

#[test]
fn a_run_with_values_is_repeated_with_the_values_given_again() {
    let server = server();
    let environment = |token: &str| {
        format!(
            "{{\"name\": \"test\", \"values\": [{{\"key\": \"baseUrl\", \"value\": \"{}\", \"enabled\": true}}, {{\"key\": \"token\", \"value\": \"{token}\", \"type\": \"secret\"}}]}}",
            server.url("").trim_end_matches('/')
        )
    };
    let mut session = Session::new().file("shop.json", SHOP).file("test.json", &environment("s3cr3t-t0ken"));
    session.loadline("run shop.json -n 2 -c 1 --environment test.json --variable who=annabelle --out json=r.json").exits(0);
    let saved = session.read("r.json");
    assert!(saved.contains("\"variable_names\"") && saved.contains("test.json"), "{saved}");
    assert!(!saved.contains("annabelle") && !saved.contains("s3cr3t-t0ken"), "values may be secrets: {saved}");
    for from in ["r.json", "@last"] {
        let ran = session.loadline(&format!("run --from {from} -n 2")).exits(2);
        ran.complains("the value of the variable 'who' was left out when this plan was saved").complains("--variable who=VALUE");
    }
    assert_eq!(server.counts().path("/healthz"), 1, "nothing is sent without them");
    session.loadline("run --from r.json --variable who=bob --out json=again.json").exits(0).complains_of_nothing();
    assert_eq!((server.counts().path("/healthz"), server.counts().path("/pick")), (2, 2));
    // What was repeated can be repeated.
    session.loadline("run --from again.json -q").exits(2).complains("'who'");
    let base = server.url("");
    session.loadline(&format!("run --from again.json --variable who=bob --target {} -q", base.trim_end_matches('/'))).exits(0);
    assert_eq!(server.counts().path("/healthz"), 3);
    let mut session = session.file("test.json", &environment("another-one"));
    let changed = session.loadline("run --from r.json --variable who=bob").exits(2);
    changed
        .complains("the environment 'test.json' is not what it was")
        .complains("give it again as it is now with --environment test.json");
    session.loadline("run --from r.json --variable who=bob --environment test.json").exits(0);
    assert_eq!(server.counts().path("/healthz"), 4);
    session.loadline(&format!("compare r.json {base} --pairs 1 -n 2 --cooldown 0s")).exits(2).complains("--variable who=VALUE");
    session.loadline(&format!("compare r.json {base} --pairs 1 -n 2 --cooldown 0s --variable who=eve --environment test.json")).exits(4);
    assert_eq!(server.counts().path("/healthz"), 6);
}

#[test]
fn a_single_request_with_values_keeps_them_out_of_the_plan() {
    let server = server();
    let one = r#"{"info": {"name": "One", "schema": "v2.1.0"}, "item": [{"name": "One", "request": {"url": "{{baseUrl}}/healthz?who={{who}}"}}]}"#;
    let mut session = Session::new().file("one.json", one);
    let base = server.url("");
    let line = format!("run one.json -n 2 -c 1 --variable baseUrl={} --variable who=annabelle", base.trim_end_matches('/'));
    session.loadline(&format!("{line} --out json=r.json")).exits(0);
    assert!(!session.read("r.json").contains("annabelle"));
    session.loadline("run --from r.json").exits(2).complains("'baseUrl', 'who'").complains("--variable baseUrl=VALUE --variable who=VALUE");
    assert_eq!(server.counts().path("/healthz"), 2);
}

#[test]
fn a_description_that_was_sent_to_a_target_is_sent_there_again() {
    let server = server();
    let openapi = "openapi: 3.1.0\nservers: [{url: /}]\npaths:\n  /healthz: {get: {responses: {'200': {description: ok}}}}\n";
    let mut session = Session::new().file("openapi.yaml", openapi);
    let base = server.url("");
    session.loadline(&format!("run openapi.yaml --target {} -n 2 -c 1 --out json=r.json", base.trim_end_matches('/'))).exits(0);
    session.loadline("run --from r.json -n 3").exits(0).complains_of_nothing();
    assert_eq!(server.counts().path("/healthz"), 5);
}

/// A collection of which something is not carried over.
const SCRIPTED: &str = r#"{"info": {"name": "Shop", "schema": "v2.1.0"}, "item": [
    {"name": "One", "request": {"url": "{{baseUrl}}/healthz"}, "event": [{"listen": "test", "script": {"exec": ["pm.sendRequest('x');"]}}]},
    {"name": "Two", "request": {"url": "{{baseUrl}}/pick"}}]}"#;

#[test]
fn what_is_left_out_is_told_once_by_every_command_and_none_of_it_with_strict() {
    let server = server();
    let base = server.url("");
    let base = base.trim_end_matches('/');
    let mut session = Session::new().file("shop.json", SCRIPTED).file("other.json", SCRIPTED);
    let said = "warning: of 'shop.json' is left out: One: of the test script 'pm.sendRequest('x');'";
    for (line, exit) in [
        (format!("run shop.json --target {base} -n 2 --force"), 0),
        (format!("sweep shop.json --target {base} --levels 1,2 -n 4 --cooldown 0s --force"), 0),
        (format!("check shop.json --target {base}"), 0),
        (format!("compare shop.json {base} --target {base} --pairs 1 -n 4 --cooldown 0s --force"), 4),
        (format!("compare {base} {base}/ --scenario shop.json --pairs 1 -n 4 --cooldown 0s --force"), 4),
    ] {
        let ran = session.loadline(&line).exits(exit);
        assert_eq!(ran.stderr.matches("is left out").count(), 1, "{line}: {}", ran.stderr);
        ran.complains(said);
        let sent = server.counts().path("/healthz");
        // It is told whatever else is.
        let quiet = if line.starts_with("check") { "" } else { "-q" };
        session.loadline(&format!("{line} --strict {quiet}")).exits(4).complains(said).complains("1 thing is not carried over");
        assert_eq!(server.counts().path("/healthz"), sent, "{line}");
    }
    // Of two files, what each leaves out.
    let ran = session.loadline(&format!("compare shop.json other.json --target {base} --pairs 1 -n 4 --cooldown 0s --name two")).exits(4);
    assert_eq!(ran.stderr.matches("is left out").count(), 2, "{}", ran.stderr);
    ran.complains("of 'other.json' is left out").says("The plans differ: scenario");
}

#[test]
fn a_pasted_request_is_sent_to_both_sides() {
    let (old, new) = (server(), server());
    let mut session = Session::new();
    let bare = |url: String| url.trim_end_matches('/').to_owned();
    let (a, b) = (bare(old.url("")), bare(new.url("")));
    let curl = "-- curl 'https://shop.test/echo?a=1' -X PUT -d x --retry 3";
    let ran = session.loadline(&format!("compare {a} {b}/ --pairs 1 -n 4 --cooldown 0s {curl}")).exits(4);
    ran.complains("warning: of the curl command is left out: the command line: the option --retry 3");
    assert!(old.counts().path("/echo") >= 4 && new.counts().path("/echo") >= 4);
    let result = session.json(&session.files().into_iter().find(|name| name.ends_with(".compare.json")).unwrap());
    assert_eq!(result["pairs"][0]["b"]["plan"]["method"], "PUT");
    session
        .loadline(&format!("compare {curl}"))
        .exits(2)
        .complains("has two sides")
        .complains("compare http://old:8080 http://new:8080 -- curl");
    session.loadline(&format!("compare s.yaml {b} {curl}")).exits(2).complains("'s.yaml' says what is sent, and so does the curl command");
    session.loadline(&format!("compare {a} {b} --strict --name x {curl}")).exits(4).complains("1 thing is not carried over");
}

#[test]
fn a_description_of_an_api_is_sent_where_it_is_served() {
    let server = server();
    let openapi = "openapi: 3.1.0\nservers: [{url: /}]\npaths:\n  /healthz: {get: {responses: {'200': {description: ok}}}}\n  /pick: {get: {responses: {'200': {description: ok}}}}\n";
    let mut session =
        Session::new().file("openapi.yaml", openapi).file("shop.yaml", "target: http://127.0.0.1:1\nsteps: [{get: /healthz}]\n");
    session.loadline("run openapi.yaml -n 2").exits(2).complains("which host to ask").complains("--target http://HOST:PORT");
    let base = server.url("");
    let base = base.trim_end_matches('/');
    session.loadline(&format!("run openapi.yaml --target {base} -n 6 -c 1")).exits(0).complains_of_nothing();
    session.loadline(&format!("run {base} --scenario openapi.yaml -n 2 -c 1")).exits(0);
    assert_eq!((server.counts().path("/healthz"), server.counts().path("/pick")), (4, 4));
    // A server without its scheme is asked by http.
    let bare = base.trim_start_matches("http://");
    session.loadline(&format!("run openapi.yaml --target {bare} -n 2 -c 1")).exits(0);
    session.loadline(&format!("run -n 1 -c 1 --target {bare} -- curl -k https://a.test/healthz")).exits(0);
    assert_eq!((server.counts().path("/healthz"), server.counts().path("/pick")), (6, 5));
    // A scenario of one's own goes elsewhere by the same word.
    session.loadline(&format!("run shop.yaml --target {base} -n 3 -c 1")).exits(0);
    assert_eq!(server.counts().path("/healthz"), 9);
}

#[test]
fn a_sweep_and_a_search_take_a_pasted_command_too() {
    let server = server();
    let url = server.url("/healthz");
    let mut session = Session::new();
    session
        .loadline(&format!("sweep --levels 1,2 -d 1s --cooldown 0s -- curl {url} -H X-A:1 --retry 3"))
        .exits_either(0, 4)
        .complains("--retry 3");
    assert!(server.counts().path("/healthz") > 2);
    session.loadline("sweep --levels 1,2 -d 1s -- curl --compressed").exits(2).complains("names no URL");
    session.loadline("find --slo 'p99 < 1s' -- curl --compressed").exits(2).complains("names no URL");
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

#[test]
fn a_request_whose_file_is_missing_is_left_out_and_the_others_are_sent() {
    let server = server();
    let (echo, healthz) = (server.url("/echo"), server.url("/healthz"));
    let form = format!("curl -F 'model=@/path/to/your/model.stl' {echo}\ncurl {healthz}\ncurl -F 'note=@note.txt' {echo}\n");
    let mut session = Session::new().file("all.sh", &form).file("note.txt", "x");
    let ran = session.loadline("run all.sh -n 4 -c 1").exits(0);
    ran.complains("of 'all.sh' is left out: line 1: the request to").complains("its file '/path/to/your/model.stl' cannot be read: ");
    assert_eq!((server.counts().path("/healthz"), server.counts().path("/echo")), (2, 2));
    session.loadline("check all.sh").exits(0).says("2 steps");
    session.loadline("run all.sh -n 4 --strict").exits(4).complains("1 thing is not carried over");
    assert_eq!(server.counts().path("/healthz"), 2);
    // Nothing is left.
    let mut session = session.file("all.sh", &form.lines().take(1).map(|line| format!("{line}\n{line}\n")).collect::<String>());
    session.loadline("run all.sh -n 4").exits(2).complains("model.stl");
}

#[test]
fn what_is_said_of_certificates_does_not_stop_a_request_without_tls() {
    let server = server();
    let url = server.url("/healthz");
    let base = server.url("");
    let base = base.trim_end_matches('/');
    let mut session = Session::new().file("one.sh", "curl -k 'https://localhost/healthz'\n");
    session.loadline(&format!("run -n 1 -c 1 -- curl -k {url}")).exits(0);
    session.loadline(&format!("run -n 1 -c 1 --target {base} -- curl -k https://localhost/healthz")).exits(0);
    session.loadline(&format!("run one.sh -n 1 -c 1 --target {base}")).exits(0);
    assert_eq!(server.counts().path("/healthz"), 3);
    session.loadline(&format!("compare {base} {base}/ --pairs 1 -n 4 --cooldown 0s -- curl -k https://localhost/healthz")).exits(4);
    let entry = |url: &str| format!("{{\"request\": {{\"method\": \"GET\", \"url\": \"{url}\", \"headers\": [], \"cookies\": []}}}}");
    let har = format!("{{\"log\": {{\"entries\": [{}, {}]}}}}", entry("http://a.test/healthz"), entry("https://a.test/healthz"));
    session.file("a.har", &har).loadline(&format!("run a.har -n 2 -c 1 --insecure --target {base}")).exits(0);
}

#[test]
fn a_file_that_is_known_and_not_read_is_called_by_its_name() {
    let mut session = Session::new()
        .file("swagger.yaml", "swagger: '2.0'\ninfo: {title: A}\npaths: {}\n")
        .file("old.json", "{\"id\": \"1\", \"requests\": [], \"order\": []}");
    for (name, part) in [("swagger.yaml", "is a description by Swagger 2"), ("old.json", "is a collection of Postman's first version")] {
        for command in ["run", "check"] {
            session.loadline(&format!("{command} {name}")).exits(2).complains(part);
        }
    }
}

#[test]
fn the_variables_of_a_host_are_told_with_the_environments_that_know_them() {
    let server = server();
    let insomnia = "{_type: export, __export_format: 4, resources: [{_id: w, _type: workspace, name: A}, {_id: e, _type: environment, parentId: w, name: Base, data: {}}, \
        {_id: f, _type: environment, parentId: e, name: 'OpenAPI env', data: {scheme: http, host: '127.0.0.1:1', base_path: ''}}, \
        {_id: a, _type: request, parentId: w, name: One, method: GET, url: '{{ scheme }}://{{ host }}{{ base_path }}/healthz'}, \
        {_id: b, _type: request, parentId: w, name: Two, method: GET, url: '{{ scheme }}://{{ host }}{{ base_path }}/pick'}]}\n";
    let mut session = Session::new().file("insomnia.yaml", insomnia);
    session.loadline("run insomnia.yaml").exits(2).complains("'scheme', 'host', 'base_path', which are not known");
    let base = server.url("");
    let line = format!("run insomnia.yaml -n 2 -c 1 --target {}", base.trim_end_matches('/'));
    session.loadline(&line).exits(2).complains("'base_path'").complains("it has 'OpenAPI env'");
    session.loadline(&format!("{line} --variable base_path=")).exits(0);
    session.loadline(&format!("{line} --environment 'OpenAPI env'")).exits(0);
    assert_eq!((server.counts().path("/healthz"), server.counts().path("/pick")), (2, 2));
}
