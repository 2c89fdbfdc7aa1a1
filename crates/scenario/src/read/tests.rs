//! Scenarios that are read, and every mistake that is told.

use super::*;
use crate::STARTER;
use crate::model::{Body, Step};

fn mistakes(text: &str) -> String {
    let found = read("shop.yaml", text).err().unwrap_or_default();
    found.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

fn good(text: &str) -> Scenario {
    read("shop.yaml", text).unwrap_or_else(|_| panic!("{}", mistakes(text)))
}

fn first(scenario: &Scenario) -> &Step {
    scenario.steps()[0]
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
        scenario.journeys.iter().map(|journey| (journey.name.as_str(), journey.weight)).collect::<Vec<_>>(),
        [("play", 3.0), ("look", 1.0)]
    );
    assert_eq!(scenario.steps().len(), 5);
    assert_eq!(scenario.names, [STATUS, "basket", "id", "cards"]);
}

#[test]
fn every_mistake_is_told_with_its_place() {
    insta::assert_snapshot!(mistakes(
        "\
target: 127.0.0.1:8080
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
        ("steps: [{get: /}", "this is no YAML"),
        ("\tsteps: 1", "shop.yaml:1:"),
        ("steps: []", "there are no steps here"),
        ("journeys: []", "there are no journeys"),
        ("journeys: [{weight: 0, steps: [{get: /}]}]", "all journeys have a weight of 0"),
        ("target: http://a/x\nsteps: [{get: /}]", "has a path"),
        ("steps: [{get: /, auth: {digest: {user: a}}}]", "'digest' wants a user and a password"),
        ("steps: [{get: /, auth: {oauth: {user: a}}}]", "'oauth' is unknown here"),
        ("steps: [{get: 'http://{{env H}}/'}]", "only path and query can be a template"),
        ("steps: [{get: 'http://me:secret@a/'}]", "holds a password"),
        ("steps: [{get: /, checks: {body: 'contains {{x}}'}}]", "cannot hold a template"),
        ("steps: [{get: /, timeout: 5s}]", "'timeout' is unknown here"),
        ("steps: [{pause: 1s, headers: {A: b}}]", "means nothing beside 'pause'"),
        ("data_order: random\nsteps: [{get: /}]", "there is none"),
        ("load: {users: 1, connections: 2}\nsteps: [{get: /}]", "two words for one thing"),
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
    let Item::If { condition, .. } = &scenario.journeys[0].items[0] else { panic!() };
    let (operator, right) = condition.against.as_ref().unwrap();
    assert_eq!((*operator, right.to_string()), (crate::model::Operator::IsNot, "a".to_owned()));
    assert_eq!(condition.left.to_string(), "{{choice \"a<b\" c}}");
}

#[test]
fn what_all_steps_have_in_common_gives_way_to_their_own() {
    let scenario = good(
        "defaults: {headers: {A: 1, B: 2}, auth: {bearer: t}, redirects: 3}\nsteps:\n  - {get: /, headers: {a: 3}}\n  - {get: /, auth: none, redirects: 0}\n  - {get: 'http://b.test/'}\n",
    );
    let steps = scenario.steps();
    let headers: Vec<_> = steps[0].headers.iter().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(headers, ["B=2", "a=3"]);
    assert_eq!(steps.iter().map(|step| step.redirects).collect::<Vec<_>>(), [3, 0, 3]);
    // A token for the target is not for others.
    assert_eq!(steps.iter().map(|step| step.auth.is_some()).collect::<Vec<_>>(), [true, false, false]);
}

#[test]
fn whole_paths_out_of_a_file_are_a_path() {
    let scenario = read("tests/shop.yaml", "steps: [{get: '{{weighted paths.csv \"GET /a\"}}&x={{uuid}}'}]").unwrap();
    assert_eq!(scenario.steps()[0].path.to_string(), "/{{weighted \"tests/paths.csv\" \"GET /a\"}}&x={{uuid}}");
}

#[test]
fn files_begin_where_the_scenario_is() {
    let scenario = read("tests/shop.yaml", "data: [users.csv, /abs/rows.csv]\nsteps: [{post: /, body: {file: a.bin}}]").unwrap();
    assert_eq!(scenario.draft.data_file, ["users=tests/users.csv", "rows=/abs/rows.csv"]);
    let Body::File(path) = &first(&scenario).body else { panic!() };
    assert_eq!(path, "tests/a.bin");
}

#[test]
fn a_load_is_that_of_the_flags() {
    let scenario =
        good("load: {rate: [0/s to 50/s for 1m, 50/s for 5m], connections: 200, no_keepalive: true}\ntarget: http://a/\nsteps: [{get: /}]");
    let plan = plan::Plan::try_from(Draft { scenario: Some("shop.yaml".to_owned()), ..scenario.draft }).unwrap();
    assert_eq!(plan.duration(), Some(plan::Nanos::from_secs(360)));
    assert_eq!(plan.connections_max().get(), 200);
}

#[test]
fn mistakes_in_blocks_have_their_line() {
    let text = "steps:\n  - post: /\n    json: |\n      {\n        \"a\": \"{{nonsense}}\"\n      }\n";
    assert!(mistakes(text).contains("shop.yaml:5:17: the word 'nonsense' is unknown"), "{}", mistakes(text));
}

#[test]
fn a_scenario_of_somebody_else_names_nothing_outside_itself() {
    let text = "target: http://a.test\nload: {users: 1, cacert: a.pem, proxy: 'http://p:1'}\ndata: [users.csv]\nvariables: {home: '{{env HOME}}'}\nsteps:\n  - post: /{{base64 (file /etc/passwd)}}\n    body: {file: /etc/shadow}\n  - post: /up\n    multipart: {a: {file: b}, c: '{{home}}'}\n  - get: /\n    headers: {X: '{{users.id}}'}\n";
    read("s.yaml", text).unwrap_or_else(|mistakes| panic!("{mistakes:#?}"));
    let mistakes = read_within("s.yaml", text, Reach::Itself).unwrap_err();
    let places: Vec<(usize, &str)> = mistakes.iter().map(|mistake| (mistake.line, mistake.message.as_str())).collect();
    let lines: Vec<usize> = places.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [2, 2, 3, 4, 6, 7, 9], "{places:#?}");
    assert!(mistakes.iter().all(|mistake| mistake.message.ends_with(", and is not taken from a browser")), "{places:#?}");
    assert!(read_within("s.yaml", "target: http://a.test\nsteps: [{get: '/{{uuid}}'}]\n", Reach::Itself).is_ok());
}
