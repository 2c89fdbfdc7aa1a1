//! What is written is what is read: scenarios put together at random, printed as YAML, and read again.

use plan::Nanos;
use plan::template::Template;
use plan::work::{Body, Duration, Item, Think};
use proptest::prelude::*;
use scenario::Scenario;
use step::Check;

/// A step before it is printed.
#[derive(Debug, Clone)]
struct Written {
    method: &'static str,
    path: String,
    name: Option<String>,
    headers: Vec<String>,
    body: Option<String>,
    checks: Vec<&'static str>,
    extracts: bool,
    timeout: Option<u64>,
    redirects: u8,
    most: Option<u64>,
    must_succeed: bool,
    pause: Option<Think>,
}

/// Text and templates, in any order.
fn text() -> impl Strategy<Value = String> {
    let pieces = piece();
    proptest::collection::vec(pieces, 0..5).prop_map(|pieces| pieces.concat())
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -z|}~äß€𝄞]{0,12}",
        Just("{{uuid}}".to_owned()),
        Just("{{random -5 7}}".to_owned()),
        Just("{{choice \"a b\" c}}".to_owned()),
        Just("{{base64 (now date)}}".to_owned()),
        Just("{{known}}".to_owned()),
        Just("{{status}}".to_owned()),
        Just("{{\"{{\"}}".to_owned()),
    ]
}

fn think() -> impl Strategy<Value = Think> {
    prop_oneof![
        (1u64..100_000).prop_map(|ms| Think::Fixed(Nanos::from_millis(ms))),
        (1u64..1_000, 1u64..1_000).prop_map(|(low, more)| Think::Uniform(Nanos::from_millis(low), Nanos::from_millis(low + more))),
        (1u64..10_000).prop_map(|ms| Think::Exponential(Nanos::from_millis(ms))),
        (1u64..10_000, 1u64..1_000).prop_map(|(mean, deviation)| Think::Gaussian(Nanos::from_millis(mean), Nanos::from_millis(deviation))),
        (1u64..10_000).prop_map(|ms| Think::Poisson(Nanos::from_millis(ms))),
    ]
}

const CHECKS: &[&str] = &[
    "status 200, 404",
    "status not 5xx",
    "header Age < 60",
    "body contains \"a: b, {c}\"",
    "json $.a[?@.b == 1].c == \"x # y\"",
    "json $.n == {{known}}",
    "body ends with \"{{known}} of {{status}}\"",
    "css \"ul > li\" count > {{known}}",
    "size < 10 KiB",
    "time < 200ms",
];

fn written() -> impl Strategy<Value = Written> {
    let sent = (
        proptest::sample::select(&["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PURGE"][..]),
        text(),
        proptest::option::of("[ -~ä]{1,20}"),
        proptest::collection::vec(text(), 0..3),
        proptest::option::of(text()),
    );
    let judged = (proptest::collection::vec(proptest::sample::select(CHECKS), 0..4), any::<bool>(), proptest::option::of(1u64..100_000));
    let rest = (any::<u8>(), proptest::option::of(any::<u64>()), any::<bool>(), proptest::option::of(think()));
    (sent, judged, rest).prop_map(|(sent, judged, rest)| {
        let ((method, path, name, headers, body), (checks, extracts, timeout)) = (sent, judged);
        let (redirects, most, must_succeed, pause) = rest;
        let path = format!("/p{path}");
        Written { method, path, name, headers, body, checks, extracts, timeout, redirects, most, must_succeed, pause }
    })
}

/// In quotation marks, as JSON and YAML both read it.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Either style that YAML has for a text that may hold anything.
fn styled(text: &str, single: bool) -> String {
    if single { format!("'{}'", text.replace('\'', "''")) } else { quoted(text) }
}

fn printed(steps: &[Written], single: bool) -> String {
    let mut page = "variables: {known: '{{random 1 9}}'}\nsteps:\n".to_owned();
    for step in steps {
        let text = |text: &str| styled(text, single);
        page += &format!("  - method: {}\n    path: {}\n", step.method, text(&step.path));
        page += &step.name.iter().map(|name| format!("    name: {}\n", text(name))).collect::<String>();
        for (number, value) in step.headers.iter().enumerate() {
            let begins = if number == 0 { "    headers:\n" } else { "" };
            page += &format!("{begins}      X-{number}: {}\n", text(value));
        }
        page += &step.body.iter().map(|body| format!("    body: {}\n", text(body))).collect::<String>();
        for (number, check) in step.checks.iter().enumerate() {
            let begins = if number == 0 { "    checks:\n" } else { "" };
            page += &format!("{begins}      - {}\n", text(check));
        }
        page += if step.extracts { "    extract: {taken: {json: '$.a[*]', take: every, default: none}}\n" } else { "" };
        page += &step.timeout.iter().map(|ms| format!("    timeout: {ms}ms\n")).collect::<String>();
        page += &step.most.iter().map(|most| format!("    maximum_requests: {most}\n")).collect::<String>();
        page += &step.pause.iter().map(|pause| format!("    pause: {pause}\n")).collect::<String>();
        page += &format!("    redirects: {}\n    must_succeed: {}\n", step.redirects, step.must_succeed);
    }
    page
}

fn template(text: &str) -> Template {
    Template::parse_with(text, &[], &["status", "known", "taken"]).expect("it was put together of templates")
}

fn read(text: &str) -> Scenario {
    scenario::read("x.yaml", text).unwrap_or_else(|mistakes| panic!("{}\n{text}", mistakes[0]))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn a_scenario_that_was_printed_is_read_as_it_was(steps in proptest::collection::vec(written(), 1..5), single: bool) {
        // A name of blanks alone is none.
        prop_assume!(steps.iter().all(|step| step.name.as_ref().is_none_or(|name| !name.trim().is_empty())));
        let scenario = read(&printed(&steps, single));
        let found = scenario.work.steps();
        prop_assert_eq!(found.len(), steps.len());
        let pauses: Vec<Think> =
            scenario.work.journeys[0].items.iter().filter_map(|item| if let Item::Pause(Duration::Drawn(think)) = item { Some(*think) } else { None }).collect();
        prop_assert_eq!(pauses, steps.iter().filter_map(|step| step.pause).collect::<Vec<_>>());
        for (found, step) in found.iter().zip(&steps) {
            prop_assert_eq!(&found.method, step.method);
            prop_assert_eq!(&found.path, &template(&step.path));
            // Printed again and read again it is the same.
            prop_assert_eq!(&template(&found.path.to_string()), &found.path);
            let default = format!("{} {}", step.method, step.path);
            prop_assert_eq!(&found.name, step.name.as_ref().unwrap_or(&default));
            let headers: Vec<Template> = found.headers.iter().map(|(_, value)| value.clone()).collect();
            prop_assert_eq!(headers, step.headers.iter().map(|value| template(value)).collect::<Vec<_>>());
            match (&found.body, &step.body) {
                (Body::Empty, None) => {}
                (Body::Text(found), Some(body)) => prop_assert_eq!(found, &template(body)),
                (found, body) => prop_assert!(false, "{:?} of {:?}", found, body),
            }
            let understood = found.checks.iter().map(|check| Check::compile_open(&check.subject, &check.condition).unwrap().0.words().to_owned());
            let checks: Vec<String> = understood.collect();
            prop_assert_eq!(checks, step.checks.clone());
            for (promise, words) in found.checks.iter().zip(&step.checks) {
                prop_assert_eq!(promise.against.is_some(), words.contains("{{"));
            }
            prop_assert_eq!(found.judges_status, step.checks.iter().any(|check| check.starts_with("status")));
            prop_assert_eq!(found.extractions.len(), usize::from(step.extracts));
            prop_assert_eq!(found.timeout, step.timeout.map(Nanos::from_millis));
            prop_assert_eq!((found.redirects, found.requests_max, found.must_succeed), (step.redirects, step.most, step.must_succeed));
        }
    }
}
