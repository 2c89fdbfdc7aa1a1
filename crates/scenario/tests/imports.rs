//! Files of other tools as scenarios: what is printed of them, and that it is read back as what was made.

use import::collection::{Collection, Kind, Wishes};
use plan::{Draft, Plan};
use scenario::{Ready, Scenario};

/// The scenario of a file, as it is written for the person who goes on with it.
fn printed(kind: Kind, text: &str, shown: &str) -> String {
    let read = Collection::read(kind, text.as_bytes(), &Wishes::default()).unwrap();
    let (concealed, placeholders) = read.concealed();
    let made = concealed.work("");
    let notes = concealed.notes(shown, &placeholders, &made);
    let scenario = Scenario { populations: made.populations, files: made.files, ..Scenario::new(made.name, made.settings, made.work) };
    let text = scenario::print(&scenario, &notes);
    let read = scenario::read("x.yaml", &text).unwrap_or_else(|mistakes| panic!("{mistakes:#?}\n{text}"));
    assert_eq!(read, scenario, "{text}");
    text
}

#[test]
fn a_scenario_is_written_as_a_person_would() {
    let text = "curl 'https://api.example.com/login' -H 'User-Agent: shop/1' --json '{\"user\":\"me\",\"password\":\"hunter22\"}'\n\
                curl https://api.example.com/items?page=2 -H 'User-Agent: shop/1' -u me:hunter22 --retry 2\n\
                curl -X PURGE https://cdn.example.com/items -H 'User-Agent: shop/1' -d 'a=1&b={{x}}'\n";
    let expected = "\
# From requests.sh: command lines of curl, as browsers copy them.
#
# Secrets are not in this file. Before it is run, the environment must have
#   PASSWORD  the field password
#
# Not carried over:
# - line 2: the option --retry 2: a load test counts a failure as one

target: https://api.example.com

defaults:
  headers:
    User-Agent: shop/1

steps:
  - post: /login
    headers:
      Accept: application/json
    json: '{\"user\":\"me\",\"password\":\"{{env PASSWORD}}\"}'
  - get: /items?page=2
    name: GET /items
    auth:
      basic:
        user: me
        password: '{{env PASSWORD}}'
  - method: PURGE
    path: https://cdn.example.com/items
    name: PURGE /items
    headers:
      Content-Type: application/x-www-form-urlencoded
    body: 'a=1&b={{\"{{\"}}x}}'
";
    assert_eq!(printed(Kind::Curl, text, "requests.sh"), expected);
}

#[test]
fn what_is_said_of_the_connection_and_of_forms_stands_in_it() {
    let text = "curl http://h/ -F 'a=x: y' -F 'f=@p.png;type=image/png' -k -m 2\ncurl http://h/2 -k -m 2 -d $'line one\\n  two: #3\\n'\n";
    let expected = "\
# From requests.sh: command lines of curl, as browsers copy them.

target: http://h

load:
  timeout: 2s
  insecure: true

steps:
  - post: /
    multipart:
      a: 'x: y'
      f:
        file: p.png
        type: image/png
  - post: /2
    headers:
      Content-Type: application/x-www-form-urlencoded
    body: |
      line one
        two: #3
";
    assert_eq!(printed(Kind::Curl, text, "requests.sh"), expected);
}

#[test]
fn folders_checks_and_what_answers_give_stand_where_a_scenario_has_them() {
    let text = r#"{"info": {"name": "Shop"}, "item": [
      {"name": "Log in", "request": {"method": "POST", "url": "https://h/login", "header": [{"key": "Accept-Encoding", "value": "gzip"}]},
       "event": [{"listen": "test", "script": {"exec": ["pm.response.to.have.status(200);", "pm.expect(pm.response.responseTime).to.be.below(300);",
         "pm.environment.set('token', pm.response.json().token);"]}}]},
      {"name": "Orders", "item": [
        {"name": "One", "request": {"url": "https://h/orders/{{id}}", "auth": {"type": "bearer", "bearer": [{"key": "token", "value": "{{token}}"}]}}},
        {"name": "One", "request": {"url": "https://h/b", "auth": {"type": "awsv4", "awsv4": [{"key": "accessKey", "value": "AK"}, {"key": "secretKey", "value": "hunter22"},
          {"key": "region", "value": "eu-west-1"}, {"key": "service", "value": "s3"}]}}}]}],
      "variable": [{"key": "id", "value": "7"}, {"key": "unused", "value": "1"}]}"#;
    let expected = "\
# From shop.json: a Postman collection.
#
# Secrets are not in this file. Before it is run, the environment must have
#   AWS_SECRET_ACCESS_KEY  the secret key for AWS

name: Shop
target: https://h

variables:
  id: '7'

steps:
  - post: /login
    name: Log in
    headers:
      Accept-Encoding: gzip
    extract:
      token: json $.token
    checks:
      status: 200
      time: '< 300ms'
  - group: Orders
    steps:
      - get: '/orders/{{id}}'
        name: One
        auth:
          bearer: '{{token}}'
      - get: /b
        name: One (2)
        auth:
          aws:
            access_key: AK
            secret_key: '{{env AWS_SECRET_ACCESS_KEY}}'
            region: eu-west-1
            service: s3
";
    assert_eq!(printed(Kind::Postman, text, "shop.json"), expected);
}

#[test]
fn a_file_of_every_kind_is_printed_and_read_back() {
    let files = [
        (
            Kind::Curl,
            "curl -L --max-redirs 3 -b 'sid=1' -H 'Authorization: Bearer t' http://h/a\ncurl -L --max-redirs 3 -b 'sid=1' -H 'X-2: b' -H 'Authorization: Bearer t' -d @f.txt http://h//b\n",
        ),
        (
            Kind::Har,
            "{\"log\":{\"entries\":[{\"request\":{\"method\":\"POST\",\"url\":\"http://h/\",\"postData\":{\"mimeType\":\"application/x-www-form-urlencoded\",\"params\":[{\"name\":\"a\",\"value\":\"b c\"}]}}}]}}",
        ),
        (
            Kind::OpenApi,
            "openapi: 3.0.0\nservers: [{url: http://h}]\npaths: {/a: {post: {requestBody: {content: {application/json: {schema: {type: object, properties: {id: {type: string, format: uuid}}}}}}, responses: {201: {}}}}}\n",
        ),
        (
            Kind::Insomnia,
            "type: collection.insomnia.rest/5.0\nname: Shop\ncollection: [{name: 'a: b', url: 'http://h/{{ _.id }}', authentication: {type: basic, username: me, password: s3cret}}]\n",
        ),
        (Kind::Vegeta, "GET http://h/\nX-A: 1\n\nPOST http://h/b\n@body.json\n"),
        (Kind::VegetaJson, "{\"method\":\"GET\",\"url\":\"http://h/\",\"body\":\"aGk=\"}\n"),
        (Kind::Siege, "http://h/ POST a=1\nhttp://h/b\n"),
        (
            Kind::Ghz,
            r#"{"call": "a.B.C", "host": "h", "insecure": true, "data": [{"n": 1}, {"n": 2}], "rps": 20, "duration": "10s", "proto": "a.proto"}"#,
        ),
    ];
    for (kind, text) in files {
        assert!(printed(kind, text, "a file").contains("\ntarget: http://h\n"), "{}", kind.name());
    }
}

#[test]
fn paths_begin_where_the_file_is() {
    let text = "curl http://h/ --cacert ca.pem -F 'f=@p.png'\ncurl http://h/ --cacert ca.pem --data-binary @/tmp/b.txt\n";
    let made = Collection::read(Kind::Curl, text.as_bytes(), &Wishes::default()).unwrap().work("notes/requests.sh");
    assert_eq!(made.settings.cacert.as_deref(), Some("notes/ca.pem"));
    let shown = format!("{:?}", made.work);
    assert!(shown.contains("\"notes/p.png\"") && shown.contains("\"/tmp/b.txt\""), "{shown}");
}

#[test]
fn a_value_that_names_what_nobody_knows_or_itself_is_told_and_is_empty() {
    let file = |variables: &str, path: &str| {
        format!(
            r#"{{"info": {{"name": "Shop", "schema": "v2.1.0"}}, "variable": [{variables}],
            "item": [{{"name": "One", "request": "http://h/{path}"}}, {{"name": "Two", "request": "http://h/{path}/more"}}]}}"#
        )
    };
    let chain: String = (0..12).map(|at| format!(r#"{{"key": "v{at}", "value": "{{{{v{}}}}}"}}, "#, at + 1)).collect();
    for (variables, path, told) in [
        (r#"{"key": "suffix", "value": "{{tenant}}/x"}"#, "{{suffix}}", "the value of the variable 'tenant'"),
        (r#"{"key": "a", "value": "{{b}}"}, {"key": "b", "value": "{{a}}"}"#, "{{a}}", "the value of the variable 'a'"),
        (r#"{"key": "a", "value": "{{b}}"}, {"key": "b", "value": "{{a}}"}"#, "{{b}}/{{a}}", "the value of the variable 'b'"),
        (&format!(r#"{chain}{{"key": "v12", "value": "end"}}"#), "{{v0}}/{{v9}}", "made of too many others"),
    ] {
        let text = file(variables, path);
        let read = Collection::read(Kind::Postman, text.as_bytes(), &Wishes::default()).unwrap();
        assert!(read.left_out.iter().any(|left| left.wording().marked().contains(told)), "{variables}: {:?}", read.left_out);
        printed(Kind::Postman, &text, "shop.json");
        let made = read.work("");
        let scenario = Scenario::new(made.name, made.settings.clone(), made.work);
        let plan = Plan::try_from(Draft { scenario: Some("shop.json".to_owned()), ..made.settings }).unwrap();
        assert!(Ready::new(&plan, &scenario, &[]).is_ok(), "{variables}");
    }
}

#[test]
fn two_variables_whose_names_become_one_stand_once_and_are_told() {
    let text = r#"{"info": {"name": "Shop"}, "variable": [{"key": "a-b", "value": "1"}, {"key": "a_b", "value": "2"}],
        "item": [{"name": "One", "request": "http://h/{{a-b}}/{{a_b}}"}, {"name": "Two", "request": "http://h/{{a_b}}"}]}"#;
    let shown = printed(Kind::Postman, text, "shop.json");
    assert!(shown.contains("\nvariables:\n  a_b: '1'\n\n"), "{shown}");
    assert!(shown.contains("- the variables: the variable 'a_b' a second time: "), "{shown}");
}

#[test]
fn a_test_plan_is_written_with_its_users_and_read_back() {
    let text = include_str!("../../../examples/jmeter/shop.jmx");
    let expected = "\
# From shop.jmx: a test plan of JMeter.

";
    let printed = printed(Kind::Jmeter, text, "shop.jmx");
    assert!(printed.starts_with(expected), "{printed}");
    for part in [
        "name: Shop\ntarget: http://127.0.0.1:8080\n",
        "keep_variables: true\n",
        "  - file: orders.csv\n    name: orders\n",
        "iterations_per_user: 3\n",
        "transaction: orders\n",
        "repeat: 2\n",
        "if: '{{id}} != none'\n",
        "pause: 10ms..30ms\n",
    ] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
}
