//! Scenarios that are read, and every mistake that is told.

use plan::work::{AnswerCheck, Body, Expression, Operator, Step};
use plan::{Plan, RowsAt};
use proptest::prelude::*;
use step::Check;

use super::*;
use crate::STARTER;

fn mistakes(text: &str) -> String {
    let found = read("shop.yaml", text).err().unwrap_or_default();
    found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn good(text: &str) -> Scenario {
    read("shop.yaml", text).unwrap_or_else(|_| panic!("{}", mistakes(text)))
}

fn first(scenario: &Scenario) -> &Step {
    scenario.work.steps()[0]
}

#[test]
fn three_lines_are_a_scenario() {
    let scenario = good("target: http://127.0.0.1:8080\nsteps:\n  - get: /healthz\n");
    assert_eq!(scenario.draft.url.as_deref(), Some("http://127.0.0.1:8080/"));
    let step = first(&scenario);
    assert_eq!((step.method.as_str(), step.path.to_string(), step.name.as_str()), ("GET", "/healthz".to_owned(), "GET /healthz"));
}

#[test]
fn the_starter_is_sound() {
    let scenario = good(STARTER);
    assert_eq!(
        scenario.work.journeys.iter().map(|journey| (journey.name.as_str(), journey.weight)).collect::<Vec<_>>(),
        [("play", 3.0), ("look", 1.0)]
    );
    assert_eq!(scenario.work.steps().len(), 5);
    assert_eq!(scenario.work.names(), [STATUS, "basket", "id", "cards"]);
}

#[test]
fn the_starter_for_language_models_counts_tokens() {
    let scenario = good(crate::CHAT_COMPLETIONS);
    let Body::Json(body) = &first(&scenario).body else { panic!("{:?}", first(&scenario).body) };
    let body = body.to_string();
    let plan = Plan::try_from(scenario.draft).unwrap();
    assert_eq!(plan.stream(), Some(plan::StreamForm::Sse));
    assert_eq!(plan.event_data().map(ToString::to_string).as_deref(), Some("$['choices'][0]['delta']['content']"));
    assert_eq!(scenario.checks.len(), 3);
    assert!(body.contains("\"stream\":true") && body.contains("\"max_tokens\":200"), "{body}");
}

#[test]
fn a_step_says_how_long_its_stream_is_listened_to() {
    let text = |load: &str| format!("target: http://a/\nload: {load}\nsteps:\n  - {{get: /events, stream_for: 30s}}\n  - get: /other\n");
    let scenario = good(&text("{users: 1, stream: sse, stream_for: 5s, event_data: $.text, tokens: words}"));
    assert_eq!(scenario.work.steps().iter().map(|step| step.stream_for).collect::<Vec<_>>(), [Some(Nanos::from_secs(30)), None]);
    let plan = Plan::try_from(scenario.draft.clone()).unwrap();
    assert_eq!((plan.stream_for(), plan.tokens()), (Some(Nanos::from_secs(5)), Some(&plan::TokenCount::Words)));
    let printed = crate::print(&scenario, &plan::work::Notes::default());
    assert!(printed.contains("stream_for: 30s"), "{printed}");
    let told = mistakes(&text("{users: 1}"));
    assert!(told.contains("stream_for is about answers that stream") && told.contains("write stream: auto under load"), "{told}");
}

#[test]
fn every_mistake_is_told_with_its_place() {
    insta::assert_snapshot!(mistakes(
        "\
target: shop
laod: {users: 5}
load: {users: none, duration: 5 parsecs}
variables: {uuid: a}
journeys:
  - name: buy
    weight: heavy
    steps:
      - get: /a/{{uid}}
        chekcs: {status: 200}
      - get: /b
        post: /c
      - post: cart
        json: {a: 1}
        form: {a: 1}
      - get: /d/{{token}}
      - get: /e
        extract: {token: jsno $.token}
        pause: a while
      - repeat: some
      - if: yes
        steps: [{get: /f}]
      - headers: {A: b}
      - get: {{id}}
  - name: buy
"
    ));
}

#[test]
fn what_is_no_scenario_is_told() {
    for (text, part) in [
        ("", "the file holds no scenario"),
        ("steps", "a mapping is wanted here"),
        ("steps: [{get: /}", "not valid YAML"),
        ("\tsteps: 1", "shop.yaml:1:"),
        ("steps: []", "there are no steps here"),
        ("journeys: []", "there are no journeys"),
        ("journeys: [{weight: 0, steps: [{get: /}]}]", "all journeys have a weight of 0"),
        ("target: http://a/x\nsteps: [{get: /}]", "has a path"),
        ("steps: [{get: /, auth: {digest: {user: a}}}]", "'digest' wants a user and a password"),
        ("steps: [{get: /, auth: {oauth: {user: a}}}]", "'oauth' is unknown here"),
        ("steps: [{get: 'http://{{env H}}/'}]", "only path and query can be a template"),
        ("steps: [{get: 'http://me:secret@a/'}]", "holds a password"),
        ("steps: [{get: /, timeout: soon}]", "the timeout 'soon' is not a time such as 10s"),
        ("steps: [{get: /, timeout: 0s}]", "gives no answer any time"),
        ("steps: [{pause: 1s, timeout: 5s}]", "'timeout' means nothing beside 'pause'"),
        ("include: common.yaml\nsteps: [{get: /}]", "includes no others"),
        ("steps: !include common.yaml", "the tag '!include' means nothing here"),
        ("steps: [{get: /, form: !!map {a: b}, headers: !mine {A: b}}]", "the tag '!mine' means nothing here"),
        ("steps: [{pause: 1s, headers: {A: b}}]", "means nothing beside 'pause'"),
        ("data_order: random\nsteps: [{get: /}]", "there is none"),
        ("load: {users: 1, connections: 2}\nsteps: [{get: /}]", "two words for one thing"),
        ("load: {users: 1, rate: 5/s}\nsteps: [{get: /}]", "1:8: 'users' and 'rate' are two kinds of load"),
        ("steps: [{get: /, json: '{\"a\": }'}]", "shop.yaml:1:"),
    ] {
        assert!(mistakes(text).contains(part), "{text}: {}", mistakes(text));
    }
}

#[test]
fn json_is_made_of_yaml_and_texts_in_it_are_escaped() {
    let scenario = good("steps: [{post: /, json: {a: 'x\"{{uuid}}', b: [1, true, null, 1.50], 'c\"': '{{random 1 2}}'}}]");
    let Body::Json(template) = &first(&scenario).body else { panic!() };
    assert_eq!(template.to_string(), "{\"a\":\"x\\\"{{uuid}}\",\"b\":[1,true,null,1.50],\"c\\\"\":\"{{random 1 2}}\"}");
}

#[test]
fn a_variable_has_a_value_only_after_it_was_extracted() {
    let text = |order: [&str; 2]| format!("steps:\n  - {}\n  - {}\n", order[0], order[1]);
    let (takes, uses) = ("{get: /a, extract: {id: json $.id}}", "{get: '/b/{{id}}'}");
    assert_eq!(mistakes(&text([takes, uses])), "");
    assert!(mistakes(&text([uses, takes])).contains("the variable 'id' has no value here"));
    // Of two branches both must have given it one.
    let branch = "steps:\n  - if: '{{status}} == 200'\n    steps: [{get: /a, extract: {id: json $.id}}]\n  - get: '/b/{{id}}'\n";
    assert!(mistakes(branch).contains("shop.yaml:4:16: the variable 'id'"), "{}", mistakes(branch));
    let declared = format!("variables: {{id: ''}}\n{branch}");
    assert_eq!(mistakes(&declared), "");
}

#[test]
fn conditions_are_taken_apart_outside_of_templates() {
    let scenario = good("steps:\n  - if: '{{choice \"a<b\" c}} != a'\n    steps: [{get: /}]\n");
    let Item::If { condition, .. } = &scenario.work.journeys[0].items[0] else { panic!() };
    assert!(matches!(condition, Expression::Two(Operator::IsNot, _)), "{condition:?}");
    assert_eq!(condition.to_string(), "{{choice \"a<b\" c}} != a");
}

#[test]
fn what_all_steps_have_in_common_gives_way_to_their_own() {
    let scenario = good(
        "defaults: {headers: {A: 1, B: 2}, auth: {bearer: t}, redirects: 3}\nsteps:\n  - {get: /, headers: {a: 3}}\n  - {get: /, auth: none, redirects: 0}\n  - {get: 'http://b.test/'}\n",
    );
    let steps = scenario.work.steps();
    let headers: Vec<_> = steps[0].headers.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(headers, ["B=2", "a=3"]);
    assert_eq!(steps.iter().map(|step| step.redirects).collect::<Vec<_>>(), [3, 0, 3]);
    // A token for the target is not for others.
    assert_eq!(steps.iter().map(|step| step.auth.is_some()).collect::<Vec<_>>(), [true, false, false]);
}

#[test]
fn whole_paths_out_of_a_file_are_a_path() {
    let scenario = read("tests/shop.yaml", "steps: [{get: '{{weighted paths.csv \"GET /a\"}}&x={{uuid}}'}]").unwrap();
    assert_eq!(scenario.work.steps()[0].path.to_string(), "/{{weighted \"tests/paths.csv\" \"GET /a\"}}&x={{uuid}}");
}

#[test]
fn files_begin_where_the_scenario_is() {
    let scenario = read("tests/shop.yaml", "data: [users.csv, /abs/rows.csv]\nsteps: [{post: /, body: {file: a.bin}}]").unwrap();
    assert_eq!(scenario.draft.data_file, ["users=tests/users.csv", "rows=/abs/rows.csv"]);
    let Body::File(path) = &first(&scenario).body else { panic!() };
    assert_eq!(path, "tests/a.bin");
}

#[test]
fn data_files_may_be_told_what_their_columns_are_called() {
    let text = "data:
  - u(id,name)=rows.csv
  - {file: more.csv, columns: [a, b], delimiter: ';'}
  - {file: one.csv, name: single, columns: line}
  - file: /abs/plain.csv
steps: [{get: '/{{u.id}}/{{more.a}}/{{single.line}}'}]
";
    let scenario = read("tests/shop.yaml", text).unwrap_or_else(|mistakes| panic!("{mistakes:#?}"));
    assert_eq!(
        scenario.draft.data_file,
        ["u(id,name)=tests/rows.csv", "more(a;b)=tests/more.csv", "single(line,)=tests/one.csv", "plain=/abs/plain.csv"]
    );
    for (data, told) in [
        ("{columns: [a]}", "has no 'file'"),
        ("{file: a.csv, header: false}", "the columns have no names"),
        ("{file: a.csv, columns: [a], delimiter: '\"'}", "cannot stand between fields"),
        ("'a[heather]=a.csv'", "'heather' says nothing about rows"),
        ("{file: a.csv, columns: ['a,b', c]}", "'a,b' cannot be the name of a column"),
        ("{file: a.csv, columns: []}", "there are no columns"),
        ("{file: a.csv, colums: [a]}", "the key 'colums' is unknown"),
    ] {
        let mistakes = read("s.yaml", &format!("data: [{data}]\nsteps: [{{get: /}}]\n")).unwrap_err();
        assert!(mistakes.iter().any(|mistake| mistake.message.contains(told)), "{data}: {mistakes:#?}");
    }
}

#[test]
fn data_files_may_be_told_how_their_rows_are_written() {
    let text = "data:
  - {file: users.csv, columns: [who, years], header: true, uneven: true}
  - {file: /abs/more.csv, delimiter: '::', quotes: false}
  - {file: one.csv, columns: [a], delimiter: '::'}
  - {file: bars.csv, delimiter: '|', encoding: Cp1252}
steps: [{get: '/{{users.who}}/{{more.a}}/{{one.a}}/{{bars.a}}'}]
";
    let scenario = read("s.yaml", text).unwrap_or_else(|mistakes| panic!("{mistakes:#?}"));
    assert_eq!(
        scenario.draft.data_file,
        [
            "users(who,years)[header,uneven]=users.csv",
            "more[no-quotes,delimiter=%3A%3A]=/abs/more.csv",
            "one(a::)[delimiter=%3A%3A]=one.csv",
            "bars[delimiter=%7C,encoding=windows-1252]=bars.csv"
        ]
    );
    let again = read("s.yaml", &crate::print(&scenario, &plan::work::Notes::default())).unwrap_or_else(|mistakes| panic!("{mistakes:#?}"));
    assert_eq!(again, scenario);
}

fn understood(check: &AnswerCheck) -> Check {
    Check::compile_open(&check.subject, &check.condition).unwrap().0
}

fn promises(text: &str) -> Vec<(String, Option<String>)> {
    let scenario = good(text);
    let steps = scenario.work.steps();
    let checks = &steps.last().unwrap().checks;
    checks.iter().map(|check| (understood(check).words().to_owned(), check.against.as_ref().map(ToString::to_string))).collect()
}

#[test]
fn what_a_check_compares_with_may_be_a_template() {
    let text = "\
data: [users.csv]
variables: {name: '{{choice ann bob}}'}
steps:
  - get: /a
    extract: {id: json $.id}
  - get: /b
    checks:
      body: contains \"{{users.city}}, {{name}}\"
      json: {$.id: '{{id}}', $.n: '> {{id}}', '$.items': 'length {{id}}', $.kind: fixed}
      header: {Location: 'ends with /{{id}}'}
      status: '{{status}}'
";
    let some = |check: &str, against: &str| (check.to_owned(), Some(against.to_owned()));
    assert_eq!(
        promises(text),
        [
            some("body contains \"{{users.city}}, {{name}}\"", "{{users.city}}, {{name}}"),
            some("json $.id == {{id}}", "{{id}}"),
            some("json $.n > {{id}}", "{{id}}"),
            some("json $.items length == {{id}}", "{{id}}"),
            ("json $.kind == fixed".to_owned(), None),
            some("header Location ends with /{{id}}", "/{{id}}"),
            some("status {{status}}", "{{status}}"),
        ]
    );
    let lines = "steps: [{get: /, checks: ['json $.a == {{env HOME}}', 'body contains {{\"{{\"}}x']}]";
    assert_eq!(promises(lines), [some("json $.a == {{env HOME}}", "{{env HOME}}"), some("body contains {{\"{{\"}}x", "{{\"{{\"}}x")]);
    assert_eq!(good(lines).work.environment(), ["HOME"]);
    // Braces that are written out are known before the run, and looked for as they are.
    let scenario = good(lines);
    let check = &scenario.work.steps()[0].checks[1];
    let check = understood(check).filled(&check.against.as_ref().unwrap().fixed_text()).unwrap();
    let answer = |body: &'static [u8]| step::Answer { status: 200, headers: step::Headers::NONE, body, elapsed: Nanos::ZERO };
    assert!(check.of(&step::Reading::new(answer(b"a {{x b"))).is_ok() && check.of(&step::Reading::new(answer(b"a x b"))).is_err());
}

#[test]
fn a_mistake_in_a_template_of_a_check_has_its_place() {
    for (line, place, part) in [
        ("    checks: ['json $.id == {{idd}}']", "5:30", "the word 'idd' is unknown"),
        ("    checks: {json: {$.id: '{{idd}}'}}", "5:30", "the word 'idd' is unknown"),
        ("    checks: {json: {$.id: '{{late}}'}}", "5:30", "the variable 'late' has no value here"),
        ("    checks: {body: 'contains \"a {{random 5}}\"'}", "5:41", "has 1 of its 2 numbers"),
        ("    checks: {body: 'contains \"a {{idd}}\"'}", "5:35", "the word 'idd' is unknown"),
        ("    checks: {body: 'contains \"\\\\ {{idd}}\"'}", "5:31", "the word 'idd' is unknown"),
        ("    checks: ['json $.a == {{uuid}}']", "5:27", "'uuid' would write another value here"),
        ("    checks: ['json $.a == {{base64 (random 1 2)}}']", "5:27", "'random' would write another value here"),
        ("    checks: ['json $.a[{{id}}] exists']", "5:24", "where a value is looked for cannot be a template"),
        ("    checks: {json: {'$.a[{{id}}]': exists}}", "5:21", "where a value is looked for cannot be a template"),
        ("    checks: {size: '< {{id}}'}", "5:23", "cannot be a template"),
        ("    checks: {status: '{{\"600x\"}}'}", "5:23", "'600x' is no status"),
    ] {
        let text = format!("steps:\n  - get: /a\n    extract: {{id: json $.id}}\n  - get: /b\n{line}\n    extract: {{late: json $.id}}\n");
        let told = mistakes(&text);
        assert!(told.contains(&format!("shop.yaml:{place}: ")) && told.contains(part), "{line}: {told}");
    }
}

#[test]
fn a_step_has_a_time_of_its_own_or_that_of_all_steps() {
    let scenario = good("defaults: {timeout: 5s}\nsteps: [{get: /a}, {get: /b, timeout: 250ms}]");
    assert_eq!(
        scenario.work.steps().iter().map(|step| step.timeout).collect::<Vec<_>>(),
        [Some(Nanos::from_secs(5)), Some(Nanos::from_millis(250))]
    );
    assert_eq!(first(&good("steps: [{get: /}]")).timeout, None);
}

#[test]
fn a_user_leaves_with_what_its_journeys_left_it() {
    let text = "\
journeys:
  - name: buy
    steps: [{get: /a, extract: {order: json $.id}}]
user_teardown:
  - if: '{{order}}'
    steps: [{delete: '/orders/{{order}}'}]
  - post: /logout
";
    let scenario = good(text);
    assert_eq!((scenario.work.user_teardown.len(), scenario.work.steps().len()), (2, 1));
    assert!(mistakes(&text.replace("{{order}}", "{{odrer}}")).contains("did you mean"));
    // What is done once after the load knows no user's.
    assert!(mistakes(&text.replace("user_teardown", "teardown")).contains("the variable 'order' has no value here"));
}

#[test]
fn a_load_is_that_of_the_flags() {
    let scenario =
        good("load: {rate: [0/s to 50/s for 1m, 50/s for 5m], connections: 200, no_keepalive: true}\ntarget: http://a/\nsteps: [{get: /}]");
    let plan = Plan::try_from(Draft { scenario: Some("shop.yaml".to_owned()), ..scenario.draft }).unwrap();
    assert_eq!(plan.duration(), Some(Nanos::from_secs(360)));
    assert_eq!(plan.connections_max().get(), 200);
    // A setting that means something beside another only.
    let shared = good("load: {http: 2, streams: 4, users: 3, threads: 2, processes: 2}\ntarget: http://a/\nsteps: [{get: /}]");
    let plan = Plan::try_from(Draft { scenario: Some("shop.yaml".to_owned()), ..shared.draft }).unwrap();
    assert_eq!(plan.connection().streams, 4);
}

#[test]
fn mistakes_in_blocks_have_their_line() {
    let text = "steps:\n  - post: /\n    json: |\n      {\n        \"a\": \"{{nonsense}}\"\n      }\n";
    assert!(mistakes(text).contains("shop.yaml:5:17: the word 'nonsense' is unknown"), "{}", mistakes(text));
}

#[test]
fn a_scenario_of_somebody_else_names_nothing_outside_itself() {
    let text = "target: http://a.test\nload: {users: 1, cacert: a.pem, proxy: 'http://p:1'}\ndata: [users.csv]\nvariables: {home: '{{env HOME}}'}\nsteps:\n  - post: /{{base64 (file /etc/passwd)}}\n    body: {file: /etc/shadow}\n  - post: /up\n    multipart: {a: {file: b}, c: '{{home}}'}\n  - get: /\n    headers: {X: '{{users.id}}', Y: '{{weighted p.csv}}'}\n";
    read("s.yaml", text).unwrap_or_else(|mistakes| panic!("{mistakes:#?}"));
    let mistakes = read_within("s.yaml", text, Reach::Itself).unwrap_err();
    let places: Vec<(usize, &str)> = mistakes.iter().map(|mistake| (mistake.line, mistake.message.as_str())).collect();
    let lines: Vec<usize> = places.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [2, 2, 3, 4, 6, 7, 9, 11], "{places:#?}");
    assert!(mistakes.iter().all(|mistake| mistake.message.ends_with(", and is not taken from a browser")), "{places:#?}");
    assert!(read_within("s.yaml", "target: http://a.test\nsteps: [{get: '/{{uuid}}'}]\n", Reach::Itself).is_ok());
}

#[test]
fn a_condition_that_would_always_or_never_hold_is_told() {
    for (condition, place, message, help) in [
        ("'{{status}} 200'", "5:10", "compares nothing", "compare with =="),
        ("'{{status}} = 200'", "5:21", "in a way that there is not", "compare with =="),
        ("'{{status}} === 200'", "5:21", "in a way that there is not", "compare with =="),
        ("'{{status}} !== 200'", "5:21", "in a way that there is not", ""),
        ("'{{status}} => 200'", "5:21", "in a way that there is not", ""),
        ("'{{status}} == 200 || 201'", "5:31", "'201' is always the same", "compare something"),
        (
            "'{{status}} > 1 and {{nme}} < 2'",
            "5:31",
            "'nme' is unknown",
            "or a variable: status, last_succeeded, user_number, journey_number, id",
        ),
        ("'{{status}} matches \"[z-a]\"'", "5:31", "invalid character class range", ""),
        ("'length({{id}} > 1'", "5:16", "the parenthesis is not closed", ""),
        ("status == 200", "5:9", "is always the same", "write '{{status}} == 200'"),
        ("id", "5:9", "is always the same", "write '{{id}}'"),
        ("'200 < 5'", "5:10", "is always the same", "compare something"),
    ] {
        let told =
            mistakes(&format!("steps:\n  - get: /\n    extract:\n      id: json $.id\n  - if: {condition}\n    steps: [{{get: /}}]\n"));
        assert!(told.contains(&format!("shop.yaml:{place}: ")) && told.contains(message) && told.contains(help), "{condition}: {told}");
    }
    for condition in [
        "'{{status}} == 200 and not {{status}} contains 4 or length({{status}}) > 3'",
        "'{{status}} == rock and roll'",
        "'{{status}}'",
        "' {{status}} '",
        "'{{status}} == \"a && b\"'",
        "'200 <= {{status}}'",
    ] {
        assert_eq!(mistakes(&format!("steps:\n  - if: {condition}\n    steps: [{{get: /}}]\n")), "", "{condition}");
    }
}

#[test]
fn what_is_wrong_with_a_way_to_find_a_value_is_told_at_its_place() {
    for (extraction, place, message, help) in [
        ("{regex: 'a(b)', in: nowhere}", "4:30", "'nowhere' is no part of an answer or its request", "write one of body, unescaped"),
        ("{regex: 'a(b)', in: header}", "4:30", "'header' is no part", "did you mean 'headers'?"),
        ("{regex: 'a(b)', in: '{{none}}'}", "4:33", "the word 'none' is unknown", "or a variable: status"),
        ("{regex: 'a(b)', as: '$2'}", "4:31", "the regular expression has no group 2", "$1 for the first group"),
        ("{json: $.a, as: '$1'}", "4:27", "only a regular expression has groups", "leave it out"),
        ("{json: $.a, default: x, optional: true}", "4:34", "'optional' and 'default' both say", "keep one of them"),
        ("{header: A, in: url}", "4:22", "a header is not looked for in a text", "find the value by a regex"),
        ("{digest: crc}", "4:19", "`crc` is no digest", "write one of md5"),
        ("{json: $.a, take: some}", "4:28", "'some' is none of several matches", "random, every, joined"),
    ] {
        let told = mistakes(&format!("steps:\n  - get: /\n    extract:\n      a: {extraction}\n"));
        assert!(told.contains(&format!("shop.yaml:{place}: ")) && told.contains(message) && told.contains(help), "{extraction}: {told}");
    }
    assert!(mistakes("steps: [{get: /, extract: {a: {jmespath: 'a['}}}]").contains("this is no JMESPath from here on"));
    let told = mistakes("steps:\n  - get: /\n    checks: [variable token exists]\n");
    assert!(told.contains("the variable 'token' has no value here") && told.contains("extract it in this step"), "{told}");
    assert_eq!(mistakes("steps: [{get: /, extract: {token: json $.t}, checks: [variable token exists, 'format xml']}]"), "");
}

#[test]
fn a_variable_in_other_braces_is_told() {
    for (path, place, shown) in
        [("/a/${id}", "4:13", "'${id}'"), ("/a/{id}/b", "4:13", "'{id}'"), ("'/{{id}}?x=#{ id }'", "4:21", "'#{ id }'")]
    {
        let told = mistakes(&format!("steps:\n  - get: /\n    extract: {{id: json $.id}}\n  - get: {path}\n"));
        assert!(told.contains(&format!("shop.yaml:{place}: {shown} would be sent")) && told.contains("write {{id}}"), "{path}: {told}");
    }
    assert_eq!(mistakes("steps: [{get: '/{other}/$x{y'}]"), "", "a path may hold braces");
}

#[test]
fn a_key_without_its_blank_is_shown_with_it() {
    for (step, help) in
        [("get /a", "write get: /a,"), ("get:/a", "write get: /a,"), ("POST /b", "write post: /b,"), ("hello", "write KEY: VALUE")]
    {
        let told = mistakes(&format!("steps:\n  - {step}\n"));
        assert!(told.contains("shop.yaml:2:5: this is a text") && told.contains(help), "{step}: {told}");
    }
}

/// A machine with a data file, a picture and one variable.
struct Machine;

impl Surroundings for Machine {
    fn columns(&self, rows: RowsAt<'_>) -> Result<Option<Vec<String>>, Vec<(String, String)>> {
        let path = rows.path;
        match path {
            "at/users.csv" => Ok(Some(vec!["id".to_owned(), "name".to_owned()])),
            "at/unseen.csv" => Ok(None),
            "at/ragged.csv" => {
                Err([2, 5].map(|line| (format!("the data file {path}, line {line}: it has 1 field"), "mend it".to_owned())).to_vec())
            }
            _ => Err(vec![(format!("the data file {path} cannot be read: there is no such file"), "check the path".to_owned())]),
        }
    }

    fn unreadable(&self, path: &str) -> Option<String> {
        (path != "at/photo.png").then(|| "there is no such file".to_owned())
    }

    fn is_set(&self, variable: &str) -> bool {
        variable == "TOKEN"
    }
}

#[test]
fn what_is_not_there_has_its_place_beside_all_other_mistakes() {
    let text = "\
target: http://a.test
load: {users: 1, cacert: ca.pem}
data: [users.csv, nowhere.csv, ragged.csv, unseen.csv]
steps:
  - get: /{{users.nmae}}/{{users.name}}/{{unseen.any}}
    headers: {A: '{{env TOKEN}}', B: '{{env TOKNE}} {{base64 (env TOKNE)}}'}
    chekcs: {status: 200}
  - post: /{{file words.txt}}
    body: {file: gone.bin}
  - post: /upload?{{nowhere.x}}
    multipart: {ok: {file: photo.png}, no: {file: photo.gif}}
  - get: '{{weighted paths.csv}}'
";
    let found = read_among("at/shop.yaml", text, &Machine).unwrap_err();
    let told: Vec<(usize, usize, &str)> = found.iter().map(|mistake| (mistake.line, mistake.column, mistake.message.as_str())).collect();
    assert_eq!(
        told,
        [
            (2, 26, "the file 'at/ca.pem' cannot be read: there is no such file"),
            (3, 19, "the data file at/nowhere.csv cannot be read: there is no such file"),
            (3, 32, "the data file at/ragged.csv, line 2: it has 1 field"),
            (3, 32, "the data file at/ragged.csv, line 5: it has 1 field"),
            (5, 19, "the data file at/users.csv has no column 'nmae'"),
            (6, 45, "the variable TOKNE is not in the environment"),
            (7, 5, "the key 'chekcs' is unknown here"),
            (8, 19, "the file 'words.txt' cannot be read: there is no such file"),
            (9, 18, "the file 'at/gone.bin' cannot be read: there is no such file"),
            (11, 51, "the file 'at/photo.gif' cannot be read: there is no such file"),
            (12, 22, "the file 'at/paths.csv' cannot be read: there is no such file"),
        ]
    );
    assert_eq!(found[4].help, "did you mean 'name'?");
    let sound = "data: [users.csv]\nsteps: [{get: '/{{users.id}}', headers: {A: '{{env TOKEN}}'}}]\n";
    assert!(read_among("at/shop.yaml", sound, &Machine).is_ok());
    // Whoever only reads is not told what there is.
    assert!(read("at/shop.yaml", "data: [nowhere.csv]\nsteps: [{get: '/{{nowhere.x}}'}]\n").is_ok());
}

#[test]
fn a_misspelt_key_is_read_as_the_one_that_was_meant() {
    let text = "\
tagret: http://a.test/x
varaibles: {size: '5'}
steps:
  - gett: /a/{{size}}
    extarct: {id: jsno $.id, token: json $.token}
  - reapeat: many
    setps: [{psot: '/b/{{id}}/{{token}}', hedaers: {'A B': c}}]
  - foreach: {variabel: card, in: [1, 2]}
    steps: [{get: '/c/{{card}}'}]
  - fetch: /d
";
    let told = mistakes(text);
    let messages: Vec<&str> = told.lines().filter_map(|line| line.strip_prefix("error: shop.yaml:")).collect();
    assert_eq!(
        messages,
        [
            "1:1: the key 'tagret' is unknown here",
            "1:9: the target 'http://a.test/x' has a path",
            "2:1: the key 'varaibles' is unknown here",
            "4:5: the key 'gett' is unknown here",
            "5:5: the key 'extarct' is unknown here",
            "5:19: 'jsno' is no way to find a value",
            "6:5: the key 'reapeat' is unknown here",
            "6:14: 'many' is not a whole number",
            "7:5: the key 'setps' is unknown here",
            "7:14: the key 'psot' is unknown here",
            "7:43: the key 'hedaers' is unknown here",
            "7:53: 'A B' is no name of a header",
            "8:5: the key 'foreach' is unknown here",
            "8:15: the key 'variabel' is unknown here",
            "10:5: the key 'fetch' is unknown here",
        ],
        "{told}"
    );
}

#[test]
fn words_of_other_tools_are_answered_with_those_of_this_one() {
    for (text, help) in [
        ("steps: [{get: /, think: 2s}]", "here it is called 'pause'"),
        ("steps: [{get: /, capture: {}}]", "here it is called 'extract'"),
        ("steps: [{get: /, expect: {status: 200}}]", "here it is called 'checks'"),
        ("base_url: http://a.test\nsteps: [{get: /}]", "here it is called 'target'"),
        ("scenarios: []\nsteps: [{get: /}]", "here it is called 'journeys'"),
        ("load: {vus: 5}\nsteps: [{get: /}]", "here it is called 'users'"),
        ("steps: [{url: /}]", "here it is called 'get'"),
        // A word is only of use where there is such a key.
        ("load: {think_time: 5s}\nsteps: [{get: /}]", "here it is called 'pause'"),
        ("variables: {a: b}\nsteps: [{get: /, extract: {a: {jsonpath: $.a}}}]", "keys here are json"),
    ] {
        assert!(mistakes(text).contains(help), "{text}: {}", mistakes(text));
    }
}

#[test]
fn what_a_step_that_cannot_be_read_takes_out_is_not_missed_after_it() {
    for step in
        ["{get: /a, post: /b, extract: {id: json $.id}}", "{name: a, extract: {id: json $.id}}", "{path: /a, extract: {id: json $.id}}"]
    {
        let told = mistakes(&format!("steps:\n  - {step}\n  - get: /b/{{{{id}}}}\n"));
        assert_eq!(told.matches("error: ").count(), 1, "{step}: {told}");
    }
}

/// What holds of every text: nothing panics, mistakes have a place and are short, and what is read needs no more looking at.
fn holds_together(text: &str) {
    match read("x.yaml", text) {
        Ok(scenario) => {
            assert!(!scenario.work.steps().is_empty() || !scenario.work.journeys.is_empty());
            let plan =
                Plan::try_from(Draft { scenario: Some("x.yaml".to_owned()), url: Some("http://a.test/".to_owned()), ..Draft::default() });
            // Bodies that are files are looked for where the test runs, and told.
            let _ = crate::Ready::new(&plan.unwrap(), &scenario, &[]);
        }
        Err(mistakes) => {
            assert!(!mistakes.is_empty() && mistakes.len() <= MISTAKES_MAX);
            for mistake in mistakes {
                assert!(mistake.line >= 1 && mistake.column >= 1 && mistake.length >= 1, "{mistake:?}");
                let said = mistake.to_string();
                assert!(said.len() < 20_000 && !said.chars().any(|letter| letter.is_control() && letter != '\n'), "{said}");
            }
        }
    }
}

#[test]
fn a_file_that_is_cut_off_anywhere_is_read_or_told() {
    for (at, _) in STARTER.char_indices() {
        holds_together(&STARTER[..at]);
    }
}

#[test]
fn a_binary_file_is_told() {
    let bytes: Vec<u8> = (0..4096_u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for text in [String::from_utf8_lossy(&bytes).into_owned(), "\0".to_owned(), "a: \0\u{1}".to_owned(), "\u{feff}\u{feff}".to_owned()] {
        assert!(read("x.yaml", &text).is_err(), "{text:?}");
        holds_together(&text);
    }
}

/// None of these may take time that grows with the square of its length.
#[test]
fn a_file_with_very_much_of_anything_is_told_at_once() {
    const MANY: usize = 60_000;
    let many = |one: &dyn Fn(usize) -> String| (0..MANY).map(one).collect::<String>();
    let listed = |one: &str| format!("[{}]", vec![one; MANY].join(", "));
    for text in [
        "a".repeat(4 << 20),
        format!("steps: [{{get: /{}}}]", "a".repeat(4 << 20)),
        format!("steps: [{{get: '/{}'}}]", "{{".repeat(1 << 20)),
        format!("steps: [{{get: /, checks: ['body contains {}']}}]", "{{x}}".repeat(20_000)),
        format!("{{{}}}", many(&|number| format!("k{number}: 1, "))),
        many(&|number| format!("k{number}: 1\n")),
        format!("variables: {{{}}}\nsteps: [{{get: /}}]", many(&|number| format!("v{number}: 1, "))),
        format!("steps: [{{get: /, headers: {{{}}}}}]", many(&|number| format!("H{number}: 1, "))),
        format!("steps: [{{get: /, extract: {{{}}}}}]", many(&|number| format!("v{number}: body, "))),
        format!("steps: {}", listed("{get: /}")),
        format!("steps: {}", listed("{pause: 1s}")),
        format!("steps: {}", listed("{}")),
        format!("journeys: {}", listed("{name: a}")),
        format!("journeys: {}", listed("{steps: [{get: /}]}")),
        format!("steps: [{{get: /, checks: {}}}]", listed("nonsense")),
        format!("steps: [{{for_each: {{variable: a, in: {}}}, steps: [{{get: /}}]}}]", listed("'{{uuid}}'")),
        format!("data: {}\nsteps: [{{get: /}}]", listed("users.csv")),
    ] {
        holds_together(&text);
    }
}

/// Words of scenarios, right and wrong, from which texts are put together.
const WORDS: &[&str] = &[
    "steps",
    "journeys",
    "target",
    "load",
    "variables",
    "data",
    "defaults",
    "setup",
    "teardown",
    "user_teardown",
    "name",
    "weight",
    "get",
    "post",
    "method",
    "path",
    "headers",
    "body",
    "json",
    "form",
    "multipart",
    "extract",
    "checks",
    "pause",
    "auth",
    "redirects",
    "timeout",
    "once",
    "repeat",
    "if",
    "while",
    "for_each",
    "pick",
    "else",
    "users",
    "rate",
    "duration",
    "status",
    "include",
    ": ",
    ": ",
    ": ",
    ": ",
    ":",
    "\n",
    "\n",
    "\n",
    "\n  ",
    "\n  - ",
    "\n    ",
    "\n      - ",
    "- ",
    "[",
    "]",
    "{",
    "}",
    ", ",
    "'",
    "\"",
    "|\n",
    ">-\n",
    "&a ",
    "*a",
    "!x ",
    "#",
    "/",
    "/a",
    "1",
    "2s",
    "{{",
    "}}",
    "{{uuid}}",
    "{{x}}",
    "{{status}}",
    "== 200",
    "json $.a",
    "json $.a == {{x}}",
    "body contains ",
    "status 2xx",
    "http://a.test",
    "true",
    "null",
    "~",
    "\t",
    "ü",
    "\u{2028}",
    "---",
    "...",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn any_text_of_the_words_of_scenarios_is_read_or_told(words in proptest::collection::vec(proptest::sample::select(WORDS), 0..50)) {
        holds_together(&words.concat());
    }

    #[test]
    fn any_change_to_a_sound_scenario_is_read_or_told(at in 0..STARTER.len(), length in 0usize..30, word in proptest::sample::select(WORDS)) {
        let from = (0..=at).rev().find(|at| STARTER.is_char_boundary(*at)).unwrap_or(0);
        let to = ((at + length).min(STARTER.len())..=STARTER.len()).find(|at| STARTER.is_char_boundary(*at)).unwrap_or(STARTER.len());
        holds_together(&format!("{}{word}{}", &STARTER[..from], &STARTER[to..]));
    }
}

#[test]
fn a_pause_alone_is_made_once_too() {
    let scenario = good("steps:\n  - {pause: 2s, once: true}\n  - get: /a\n");
    assert!(matches!(&scenario.work.journeys[0].items[..], [Item::Once(items), Item::Step(_)] if matches!(items[..], [Item::Pause(_)])));
}

#[test]
fn variables_that_are_set_have_values_from_there_on_and_their_mistakes_have_places() {
    let scenario = good("variables: {n: 0}\nsteps:\n  - set: {n: '{{n}} + 1', next: '{{n}} * 2'}\n  - get: '/{{next}}'\n");
    let Item::Set(values) = &scenario.work.journeys[0].items[0] else { panic!("{:?}", scenario.work.journeys[0]) };
    let names: Vec<&str> = values.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((names, values[1].1.to_string()), (vec!["n", "next"], "{{n}} * 2".to_owned()));
    for (step, place, message, help) in [
        ("{set: {n: '{{n}} + 1'}}", "2:18", "'n' has no value here", "extract or set it in a step before"),
        ("{set: {a: 2, b: '{{a}}*2'}}", "2:22", "operators stand between blanks", "put blanks around"),
        ("{set: {a: 2, b: 'a + 2'}}", "2:22", "'a' is a text", "write {{a}}"),
        ("{set: {a: [2]}}", "2:15", "a text is wanted", ""),
        ("{set: {}}", "2:11", "nothing is set here", "set: {n:"),
        ("{set: {a: 1}, get: /}", "2:6", "'get' and 'set' in one step", "begin a step of its own"),
        ("{set: {uuid: 1}}", "2:12", "no variable can be called 'uuid'", ""),
    ] {
        let told = mistakes(&format!("steps:\n  - {step}\n  - get: /\n"));
        assert!(told.contains(&format!("shop.yaml:{place}: ")) && told.contains(message) && told.contains(help), "{step}: {told}");
    }
}

#[test]
fn mistakes_of_turns_shares_times_and_transactions_have_places() {
    for (step, place, message, help) in [
        ("{transaction: t, steps: [{pause: 1s}]}", "2:19", "there is nothing to time", "sends something"),
        ("{transaction: t}", "2:5", "there are no steps here", "below steps:"),
        ("{cookie: ''}", "2:14", "'' is no cookie", "such as theme=dark"),
        ("{cookie: dark}", "2:14", "'dark' is no cookie", "its name and its value"),
        ("{transaction: t, per_user: true, steps: [{get: /a}]}", "2:22", "'per_user' means nothing beside 'transaction'", ""),
        ("{switch: '{{status}}'}", "2:5", "'switch' has no cases", "below cases:"),
        ("{switch: gold, cases: [{steps: [{get: /a}]}]}", "2:14", "the value is always the same", "switch: '{{kind}}'"),
        ("{switch: '{{status}}', cases: []}", "2:28", "there are no cases here", ""),
        ("{switch: '{{status}}', cases: [{value: [1, '{{status}}'], steps: [{get: /a}]}]}", "2:48", "no template", "with if:"),
        (
            "{switch: '{{status}}', cases: [{value: 1, steps: [{get: /a}]}, {value: 1, steps: [{get: /b}]}]}",
            "2:76",
            "two cases",
            "the first",
        ),
        ("{switch: '{{status}}', cases: [{value: [], steps: [{get: /a}]}]}", "2:44", "the case has no value", "value: gold"),
        ("{interleave: []}", "2:18", "there are no steps here", "- get: /"),
        ("{random_order: /a}", "2:20", "a list is wanted here", ""),
        ("{run_for: soon, steps: [{get: /a}]}", "2:15", "the time 'soon' is no pause", "write 2s"),
        ("{run_for: 2s, steps: [{pause: 1s}]}", "2:15", "nothing is sent here", ""),
        ("{share: 30, steps: [{get: /a}]}", "2:13", "'30' is no share", "write 30%, or 500 times"),
        ("{share: 130%, steps: [{get: /a}]}", "2:13", "'130%' is no share", ""),
        ("{pacing: 10}", "2:14", "the pace '10'", ""),
        ("{pacing: 0/s, of: all users}", "2:14", "the pace '0/s' lets nobody go on", "120/m"),
        ("{pacing: {rate: 120/m, of: all users}}", "2:14", "stands beside it", "{pacing: 120/m, of: all users}"),
        ("{pacing: 1s, of: everybody}", "2:22", "'everybody' is neither each user, population nor all users", "of: all users"),
        ("{get: /, of: all users}", "2:14", "'of' means nothing beside 'get'", ""),
        ("{pause: '{{thnk}}ms'}", "2:16", "'thnk' is unknown", ""),
        ("{critical_section: s, steps: [{pause: 1s}]}", "2:24", "nothing is sent here", ""),
        ("{critical_section: a, steps: [{critical_section: a, steps: [{get: /}]}]}", "2:54", "stands in another", "behind the other"),
        ("{critical_section: a, steps: [{get: /}, {rendezvous: 2}]}", "2:58", "waits for ever", "within: 10s"),
        ("{rendezvous: 1}", "2:18", "one user need not wait", "rendezvous: 10"),
        ("{parallel: []}", "2:16", "there are no steps here", ""),
        ("{parallel: [{pause: 1s}]}", "2:16", "nothing is sent here", ""),
        ("{parallel: {steps: [{get: /}]}}", "2:16", "a list is wanted here", ""),
        ("{parallel: [{get: /}], at_once: 0}", "2:37", "0 branches at once", "at_once: 6"),
        ("{parallel: [{get: /}], at_once: all}", "2:37", "'all' is not a whole number", ""),
        ("{get: /, at_once: 2}", "2:14", "'at_once' means nothing beside 'get'", ""),
        ("{parallel: [{group: g, steps: [{parallel: [{get: /}]}]}]}", "2:47", "stand in others", "a branch of its own"),
        ("{parallel: [{get: /}, {steps: [{rendezvous: 2}]}]}", "2:49", "in a branch of one", "before the steps"),
        ("{parallel: [{get: /, extract: {x: body}}, {get: '/{{x}}'}]}", "2:57", "the variable 'x' has no value here", ""),
        ("{concurrent: [{get: /}]}", "2:6", "'concurrent' is unknown", "parallel"),
        ("{rendezvous: many}", "2:18", "'many' is not a whole number", ""),
        ("{rendezvous: 5, within: 3}", "2:29", "the timeout '3'", ""),
        ("{get: /a, within: 3s}", "2:15", "'within' means nothing beside 'get'", ""),
        ("{pause: gaussian 2s}", "2:13", "is no pause", "gaussian 2s 500ms"),
        ("{percent: 30%, steps: [{get: /a}]}", "2:6", "the key 'percent' is unknown", "here it is called 'share'"),
    ] {
        let told = mistakes(&format!("steps:\n  - {step}\n  - get: /\n"));
        assert!(told.contains(&format!("shop.yaml:{place}: ")) && told.contains(message) && told.contains(help), "{step}: {told}");
    }
}

#[test]
fn what_only_some_of_the_ways_extract_has_no_value_behind_them() {
    let takes = "{get: /a, extract: {id: json $.id}}";
    for (steps, has_value) in [
        (format!("  - transaction: t\n    steps: [{takes}]\n"), true),
        (format!("  - random_order: [{takes}, {{get: /b}}]\n"), true),
        (format!("  - interleave: [{takes}, {takes}]\n"), true),
        (format!("  - interleave: [{takes}, {{get: /b}}]\n"), false),
        (format!("  - share: 50%\n    steps: [{takes}]\n"), false),
        (format!("  - run_for: 5s\n    steps: [{takes}]\n"), false),
        (format!("  - switch: '{{{{status}}}}'\n    cases: [{{steps: [{takes}]}}]\n    else: [{takes}]\n"), true),
        (format!("  - switch: '{{{{status}}}}'\n    cases: [{{steps: [{takes}]}}]\n"), false),
    ] {
        let told = mistakes(&format!("steps:\n{steps}  - get: '/{{{{id}}}}'\n"));
        assert_eq!(!told.contains("'id' has no value here"), has_value, "{steps}: {told}");
        assert_eq!(told.is_empty(), has_value, "{steps}: {told}");
    }
}

#[test]
fn items_are_read_as_they_are_written() {
    let scenario = good(
        "variables: {ms: 5, kind: a}\nsteps:\n  - switch: '{{kind}}'\n    cases: [{value: [a, b], steps: [{get: /a}]}, {steps: [{get: /b}]}]\n    else: [{get: /c}]\n  - interleave: [{get: /d}, {steps: [{get: /e}, {get: /f}]}]\n    per_user: true\n  - share: 2.5%\n    steps: [{get: /g}]\n  - pacing: '{{ms}}s'\n  - group: shop\n    steps: [{transaction: t, include_pauses: true, steps: [{get: /h, pause: poisson 3ms}]}]\n",
    );
    let items = &scenario.work.journeys[0].items;
    let Item::Switch { value, cases, otherwise } = &items[0] else { panic!("{items:?}") };
    assert_eq!((value.to_string().as_str(), cases.len(), otherwise.len()), ("{{kind}}", 2, 1));
    assert_eq!((cases[0].values.join(","), cases[1].values.join(",")), ("a,b".to_owned(), "1".to_owned()));
    let Item::Interleave { parts, per_user: true } = &items[1] else { panic!("{items:?}") };
    assert_eq!(parts.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2]);
    assert!(matches!(&items[2], Item::Share { amount, per_user: false, .. } if amount.to_string() == "2.5%"), "{items:?}");
    let texts: Vec<String> = scenario.work.steps().iter().map(|step| step.name.clone()).collect();
    assert_eq!(texts, ["GET /a", "GET /b", "GET /c", "GET /d", "GET /e", "GET /f", "GET /g", "shop / GET /h"]);
    let mut transactions = Vec::new();
    plan::work::each_item(items, &mut |item| {
        if let Item::Transaction { name, pauses, .. } = item {
            transactions.push((name.clone(), *pauses));
        }
    });
    assert_eq!(transactions, [("shop / t".to_owned(), true)]);
}

#[test]
fn what_is_wrong_with_how_rows_are_dealt_is_told_with_what_was_written() {
    let told = mistakes("data: {file: u.csv, for: everybody, end: later}\nsteps: [{get: /}]\n");
    for (place, message, help) in [
        ("1:26", "rows are not for 'everybody'", "write for: all users, for: each population or for: each user"),
        ("1:42", "the end 'later' is none of 'wrap'", "write wrap, stop, stop-user, mark or error"),
    ] {
        assert!(told.contains(&format!("shop.yaml:{place}: ")) && told.contains(message) && told.contains(help), "{told}");
    }
}
