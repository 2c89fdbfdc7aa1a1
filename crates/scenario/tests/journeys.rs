//! Journeys against a real server: what it saw, and what was counted.

use measure::Summary;
use plan::{Draft, Plan, Setting};
use scenario::Ready;
use testbed::{Config, Testbed};

fn run(text: &str) -> (Summary, u64) {
    let server = Testbed::start(Config::new()).unwrap();
    let text = text.replace("TARGET", server.url("").trim_end_matches('/'));
    let scenario = scenario::read("s.yaml", &text).unwrap_or_else(|mistakes| panic!("{mistakes:#?}"));
    let draft = Draft { scenario: Some("s.yaml".to_owned()), threads: "2".parse::<Setting<_>>().ok(), ..scenario.draft.clone() };
    let plan = Plan::try_from(draft).unwrap_or_else(|errors| panic!("{errors:?}"));
    let ready = Ready::new(&plan, &scenario, &[]).unwrap_or_else(|errors| panic!("{errors:?}"));
    let prepared = engine::prepare(&plan).unwrap_or_else(|error| panic!("{error:?}"));
    let summary = ready.run(prepared, &mut |_, _| {}, &engine::Stop::new()).unwrap_or_else(|error| panic!("{error:?}"));
    (summary.close(), server.stop().answered)
}

#[test]
fn every_request_belongs_to_a_step_and_every_journey_has_an_end() {
    let (summary, answered) = run(
        "target: TARGET\nload: {users: 4, requests: 400}\njourneys:\n  - name: play\n    weight: 3\n    steps:\n      - get: /question\n        extract: {id: json $.id}\n        checks: {status: 200, json: {$.cards: '> 1'}}\n      - get: /answer?id={{id}}&card=1\n        checks: [status 200]\n  - name: look\n    steps: [{get: /healthz}]\n",
    );
    assert_eq!((answered, summary.requests.due, summary.requests.succeeded), (400, 400, 400));
    let scenario = summary.scenario.clone().unwrap();
    assert_eq!(scenario.steps.iter().map(|step| step.due).sum::<u64>(), 400);
    for journey in &scenario.journeys {
        assert_eq!(journey.started, journey.completed + journey.broke_off + journey.unfinished, "{}", journey.name);
        assert!(journey.broke_off == 0 && journey.completed == journey.succeeded && journey.unfinished <= 4, "{journey:?}");
    }
    let checks: u64 = scenario.steps.iter().flat_map(|step| &step.checks).map(|check| check.held).sum();
    assert_eq!(checks, 2 * scenario.steps[0].due + scenario.steps[1].due);
}

#[test]
fn a_loop_a_branch_and_a_limit_send_what_they_say() {
    let (summary, answered) = run(
        "target: TARGET\nload: {users: 1, requests: 43}\nsteps:\n  - repeat: 2\n    steps: [{get: /healthz}]\n  - if: '{{status}} == 200'\n    steps: [{get: /pick}]\n    else: [{get: /never}]\n  - for_each: {variable: card, in: [1, 2]}\n    steps: [{get: '/answer?id=1&card={{card}}'}]\n  - get: /question\n    maximum_requests: 3\n",
    );
    assert_eq!(answered, 43);
    let due: Vec<u64> = summary.scenario.clone().unwrap().steps.iter().map(|step| step.due).collect();
    // Eight journeys of five, and three of these have one more.
    assert_eq!(due, [16, 8, 0, 16, 3]);
}

#[test]
fn a_setup_that_only_computes_gives_all_users_what_it_made() {
    let (summary, answered) = run(
        "target: TARGET\nload: {users: 2, requests: 10}\nsetup: [{set: {n: '3 + 4'}}]\nsteps:\n  - if: '{{n}} == 7'\n    steps: [{get: /healthz}]\n    else: [{get: /never}]\n",
    );
    let due: Vec<u64> = summary.scenario.clone().unwrap().steps.iter().map(|step| step.due).collect();
    assert_eq!((answered, due), (10, vec![10, 0]));
}

#[test]
fn a_setup_goes_on_where_a_step_that_may_fail_fails_and_a_load_that_it_ends_does_not_begin() {
    let text = "target: TARGET\nload: {users: 1, requests: 3}\nsetup: [{get: /nowhere, may_fail: true}, {get: /healthz}]\nsteps: [{get: /healthz}]\n";
    let (summary, answered) = run(text);
    assert_eq!((answered, summary.requests.due), (5, 3));
    let server = Testbed::start(Config::new()).unwrap();
    let begun = |setup: &str| {
        let text = format!("target: {}\nload: {{users: 1, requests: 3}}\nsetup: [{setup}]\nsteps: [{{get: /healthz}}]\n", server.url(""));
        let scenario = scenario::read("s.yaml", &text).unwrap_or_else(|mistakes| panic!("{mistakes:#?}"));
        let plan = Plan::try_from(Draft { scenario: Some("s.yaml".to_owned()), ..scenario.draft.clone() }).unwrap();
        let mut ready = Ready::new(&plan, &scenario, &[]).unwrap_or_else(|errors| panic!("{errors:?}"));
        let error = ready.begin(&engine::Stop::new()).err().unwrap();
        error.message.spelt(plan::Spelling::KEYS)
    };
    assert_eq!(
        begun("{get: /healthz}, {end: load}"),
        "the setup of the scenario ended the load: the journey 'setup' came to an item that ends it"
    );
    assert!(begun("{get: /nowhere, failure_ends: load}").starts_with("the setup of the scenario failed: "));
}

#[test]
fn a_rate_starts_journeys_and_each_is_accounted_for() {
    let (summary, answered) = run(
        "target: TARGET\nload: {rate: 100/s, arrivals: even, duration: 1s, connections: 50}\nsteps:\n  - get: /question\n    extract: {id: json $.id}\n    pause: 2ms\n  - get: /answer?id={{id}}&card=1\n",
    );
    assert_eq!((summary.qps_offered, summary.requests.unsent), (None, 0));
    assert_eq!(answered, summary.requests.due);
    let scenario = summary.scenario.clone().unwrap();
    let journey = &scenario.journeys[0];
    assert_eq!((journey.started, journey.completed + journey.unfinished), (100, 100));
    assert_eq!(scenario.steps[0].due + scenario.steps[1].due, summary.requests.due);
    assert!(scenario.tps_offered.is_some_and(|offered| (offered - 100.0).abs() < 1.0), "{:?}", scenario.tps_offered);
}

#[test]
fn a_failed_check_and_a_missing_value_are_failures_of_their_own() {
    let (summary, _) = run(
        "target: TARGET\nload: {users: 1, requests: 30}\nsteps:\n  - get: /healthz\n    checks: [body contains sorry]\n  - get: /pick\n    checks: [status 200]\n  - get: /nowhere\n    checks: [status 404]\n    extract: {x: json $.nothing}\n  - get: /healthz?{{x}}\n",
    );
    let count = |class: measure::Failure| summary.failures.iter().find(|failure| failure.class == class).map_or(0, |failure| failure.count);
    assert_eq!((count(measure::Failure::CheckFailed), count(measure::Failure::ExtractNothing), summary.requests.succeeded), (10, 10, 10));
    assert!(summary.failures.iter().all(|failure| failure.example.is_some()), "{:?}", summary.failures);
    let scenario = summary.scenario.clone().unwrap();
    assert_eq!((scenario.journeys[0].broke_off, scenario.steps[3].due), (10, 0));
}

/// What the loads of one scenario sent, one after the other: two of ten journeys by one user.
#[test]
fn loads_of_a_series_share_a_setup_and_go_on_where_the_one_before_left_off() {
    let server = Testbed::start(Config::new()).unwrap();
    let text = "target: TARGET\nload: {users: 1, requests: 10}\nsetup: [{get: /healthz}]\nteardown: [{get: /healthz}]\nsteps:\n  - get: /question\n    pause: 1ms\n  - get: /healthz\n    maximum_requests: 7\n"
        .replace("TARGET", server.url("").trim_end_matches('/'));
    let scenario = scenario::read("s.yaml", &text).unwrap_or_else(|mistakes| panic!("{mistakes:#?}"));
    let plan = Plan::try_from(Draft { scenario: Some("s.yaml".to_owned()), ..scenario.draft.clone() }).unwrap();
    let ready = || Ready::new(&plan, &scenario, &[]).unwrap_or_else(|errors| panic!("{errors:?}"));
    let stop = engine::Stop::new();
    let series = ready().begin(&stop).unwrap_or_else(|error| panic!("{error:?}"));
    let load = |ready: Ready| {
        let prepared = engine::prepare(&plan).unwrap_or_else(|error| panic!("{error:?}"));
        ready.load(&series, prepared, &mut |_, _| {}, &stop).unwrap_or_else(|error| panic!("{error:?}")).close()
    };
    let (one, two, three) = (load(ready()), load(ready()), load(ready().hurried()));
    let due = |summary: &Summary| summary.scenario.as_ref().unwrap().steps.iter().map(|step| step.due).collect::<Vec<_>>();
    assert_eq!((due(&one), due(&two), due(&three)), (vec![5, 5], vec![8, 2], vec![10, 0]));
    assert!(one.warnings.is_empty(), "{:?}", one.warnings);
    assert!(two.warnings.iter().chain(&three.warnings).all(|warning| warning.contains("had its 7 requests")), "{:?}", two.warnings);
    assert_eq!((two.warnings.len(), three.warnings.len()), (1, 1));
    assert!(!series.has_run_out());
    assert_eq!(series.end(), None);
    assert_eq!(server.stop().answered, 32);
}
