//! What is printed is read back: works put together at random, and every scenario of the tests and the examples.

use std::num::NonZeroU32;
use std::path::Path;

use plan::Draft;
use plan::work::{Along, Amount, AnswerCheck, AwsKeys, Case, Expression, Extent, Field, Journey, Think, Variable, Weights, each_item};
use plan::work::{Reply, Talk};
use proptest::prelude::*;
use step::Check;

use super::*;

fn read(text: &str) -> Scenario {
    crate::read("x.yaml", text).unwrap_or_else(|mistakes| panic!("{mistakes:#?}\n{text}"))
}

/// What stands in it is in quotation marks where it has to be.
fn printed(scenario: &Scenario) -> String {
    print(scenario, &Notes::default())
}

fn template(text: &str) -> Template {
    Template::parse_with(text, &["rows"], &["status", "known", "other"]).unwrap_or_else(|mistakes| panic!("{text}: {mistakes:?}"))
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => "[ -z|}~äß€𝄞]{0,12}",
        1 => proptest::sample::select(
            &[
                "{{uuid}}",
                "{{random -5 7}}",
                "{{choice \"a b\" c}}",
                "{{base64 (now date)}}",
                "{{known}}",
                "{{status}}",
                "{{rows.id}}",
                "{{env HOME}}",
                "{{\"{{\"}}"
            ][..]
        )
        .prop_map(str::to_owned),
    ]
}

/// Text and templates, in any order, on one line.
fn line() -> impl Strategy<Value = Template> {
    proptest::collection::vec(piece(), 0..5).prop_map(|pieces| template(&pieces.concat()))
}

/// The same on several.
fn lines_of() -> impl Strategy<Value = Template> {
    proptest::collection::vec(prop_oneof![4 => piece(), 1 => "[\n\t\r'\"#: ]{1,3}"], 0..6).prop_map(|pieces| template(&pieces.concat()))
}

fn name() -> impl Strategy<Value = String> {
    "[a-zA-Zä][a-zA-Z0-9 :#'ä{}/-]{0,12}".prop_map(|name| plan::url_without_secrets(&name))
}

fn think() -> impl Strategy<Value = Think> {
    let ms = Nanos::from_millis;
    prop_oneof![
        (0u64..100_000).prop_map(move |fixed| Think::Fixed(ms(fixed))),
        (1u64..1_000, 0u64..1_000).prop_map(move |(low, more)| Think::Uniform(ms(low), ms(low + more))),
        (1u64..10_000).prop_map(move |mean| Think::Exponential(ms(mean))),
    ]
}

fn share() -> impl Strategy<Value = f64> {
    prop_oneof![Just(1.0), 0.001f64..1e6]
}

/// Headers whose names differ, some of them secrets.
fn header_list() -> impl Strategy<Value = Vec<(String, Template)>> {
    let names = &["Accept", "X-Api-Key", "Content-Type", "x-1", "Authorization", "Cookie", "x-2"][..];
    let value = prop_oneof![2 => proptest::sample::select(&["a", "b"][..]).prop_map(template), 1 => line()];
    proptest::collection::vec((proptest::sample::select(names), value), 0..5).prop_map(|headers| {
        let mut list: Vec<(String, Template)> = Vec::new();
        for (name, value) in headers {
            if list.iter().all(|(known, _)| known != name) {
                list.push((name.to_owned(), value));
            }
        }
        list
    })
}

fn auth_of() -> impl Strategy<Value = Auth> {
    prop_oneof![
        (line(), line()).prop_map(|(user, password)| Auth::Basic { user, password }),
        (line(), line()).prop_map(|(user, password)| Auth::Digest { user, password }),
        line().prop_map(Auth::Bearer),
        line().prop_map(|value| Auth::Header("X-Key".to_owned(), value)),
        (name(), line()).prop_map(|(name, value)| Auth::Query(name, value)),
        (line(), proptest::option::of(line())).prop_map(|(key, session_token)| {
            let keys = AwsKeys { access_key: key.clone(), secret_key: key.clone(), session_token, region: key.clone(), service: key };
            Auth::Aws(Box::new(keys))
        }),
    ]
}

fn body_of() -> impl Strategy<Value = Body> {
    let json = &[
        "{\"a\": [1, \"{{known}}\", {\"b\":{{random 1 2}}}]}",
        "[\n  1,\n  2\n]",
        "{{known}}",
        "\"a \\\"b\\\" {{known}} c\\n\"",
        "\"null\"",
        "17",
        "true",
        "null",
    ][..];
    prop_oneof![
        Just(Body::Empty),
        lines_of().prop_map(Body::Text),
        proptest::sample::select(json).prop_map(|text| Body::Json(template(text))),
        line().prop_map(|value| Body::Form(vec![("a b".to_owned(), value.clone()), ("c".to_owned(), value)])),
        name().prop_map(Body::File),
        (lines_of(), name(), any::<bool>()).prop_map(|(text, path, is_plain)| {
            let media_type = if is_plain { "text/plain" } else { plan::FILE_TYPE }.to_owned();
            let headers = if is_plain { vec![("Content-Transfer-Encoding".to_owned(), "8bit".to_owned())] } else { Vec::new() };
            let file = Field { name: "file".to_owned(), value: FieldValue::File { path, media_type }, headers: headers.clone() };
            Body::Multipart(vec![Field { name: "a: b".to_owned(), value: FieldValue::Text(text), headers }, file])
        }),
    ]
}

fn extraction() -> impl Strategy<Value = Extraction> {
    let sought = proptest::sample::select(
        &[
            (Kind::JsonPath, "$.a[?@.b == 1].c"),
            (Kind::JsonPath, "$.a.length()"),
            (Kind::JsonPath, "$.a[?@.b == {{known}}].c"),
            (Kind::Css, "#{{known}}::attr(id)"),
            (Kind::Regex, "(\\{{2})a"),
            (Kind::JmesPath, "a[?b > `1`].{c: d}"),
            (Kind::Digest, "md5"),
            (Kind::Regex, "id: (\\d+) #\\s"),
            (Kind::Header, "Location"),
            (Kind::Cookie, "sid"),
            (Kind::Css, "ul > li::attr(id)"),
            (Kind::XPath, "//a[1]/@href"),
            (Kind::Body, ""),
            (Kind::Status, ""),
        ][..],
    );
    let which = prop_oneof![
        2 => Just(Which::First),
        1 => proptest::sample::select(&[Which::Last, Which::Nth(3), Which::Random, Which::Every, Which::Joined, Which::Count][..])
    ];
    let within = prop_oneof![
        3 => Just(Where::default()),
        1 => proptest::sample::select(&AnswerPart::ALL[..]).prop_map(Where::Part),
        1 => Just(Where::Written(template("a {{known}}"))),
    ];
    let missing = prop_oneof![
        2 => Just((None, false)),
        1 => Just((None, true)),
        1 => "[ -~]{0,8}".prop_map(|default| (Some(default), false)),
    ];
    (proptest::sample::select(&["taken", "t-2", "_x"][..]), sought, within, which, missing, any::<[bool; 2]>()).prop_map(
        |(variable, (kind, expression), within, which, (default, optional), [null_is_missing, is_written])| Extraction {
            open: expression.contains("{{known}}").then(|| template(expression)),
            within: if matches!(kind, Kind::Header | Kind::Cookie | Kind::Status) { Where::default() } else { within },
            which,
            written: (is_written && kind == Kind::Regex).then(|| "$1: $$".to_owned()),
            default,
            optional,
            null_is_missing,
            ..Extraction::new(variable.to_owned(), kind, expression.to_owned())
        },
    )
}

fn answer_checks() -> impl Strategy<Value = Vec<AnswerCheck>> {
    let lines = &[
        "status 200, 404",
        "status 200",
        "status not 5xx",
        "header Age < 60",
        "header Content-Type contains json",
        "body contains \"a: b, {c}\"",
        "json $.a[?@.b == 1].c == \"x # y\"",
        "json $.n == {{known}}",
        "body ends with \"{{known}} of {{status}}\"",
        "css \"ul > li\" count > {{known}}",
        "json $..price any == 20",
        "jmespath a[0].b none not contains {{known}}",
        "digest sha256 == \"0a\"",
        "variable known length > 3",
        "format xml",
        "headers contains \"X-A: b\"",
        "message not == OK",
        "url starts with \"http://a\"",
        "request_headers matches \"(?<!X)-A\"",
        "headers_size > 10 B",
        "total_size < 1 MB",
        "size < 10 KiB",
        "time < 200ms",
    ][..];
    let failure = proptest::option::weighted(0.2, proptest::sample::select(&["It is not there", "1"][..]));
    let along = prop_oneof![4 => Just(Along::Last), 1 => proptest::sample::select(&Along::ALL[..])];
    proptest::collection::vec((proptest::sample::select(lines), failure, along), 0..4).prop_map(|lines| {
        let check = |(line, failure, along): &(&str, Option<&str>, Along)| {
            let (check, blank) = Check::parse_open(line).unwrap();
            let against = blank.map(|blank| template(&blank.text));
            let failure = failure.map(str::to_owned);
            AnswerCheck { against, failure, along: *along, ..AnswerCheck::new(check.subject(), check.condition().to_owned()) }
        };
        lines.iter().map(check).collect()
    })
}

fn resources() -> impl Strategy<Value = Resources> {
    let regex = || proptest::option::of(proptest::sample::select(&[r"\.png$", "^http://a.test/(b|c)", "x: 'y' #"][..]));
    (1_u32..9, regex(), regex(), any::<bool>()).prop_map(|(at_once, only, except, are_part)| Resources {
        are_part,
        at_once: NonZeroU32::new(at_once).unwrap(),
        only: only.map(str::to_owned),
        except: except.map(str::to_owned),
    })
}

fn script() -> impl Strategy<Value = Script> {
    let texts = [
        "vars.set('taken', vars.get(\"known\"));",
        "if (answer.status > 200) {\n  fail('no');\n}\n",
        "\n  return `# ${1}: {{known}}`  \n\treturn 2",
        "// ä",
        "request.path = `${request.path}&a=1`",
    ];
    let said = (name(), any::<bool>(), proptest::option::of("[a-z_]{1,5}x"), proptest::collection::vec("[a-z]{1,3}_x", 0..3));
    (proptest::sample::select(texts.to_vec()), proptest::option::of((said, any::<bool>(), any::<bool>(), line()))).prop_map(
        |(text, more)| {
            let plain = Script::new(text.to_owned());
            let Some(((name, translated, into, mut sets), reads_answer, may_fail, value)) = more else { return plain };
            sets.dedup();
            let (given, files) = (vec![("a b".to_owned(), value)], vec![("f".to_owned(), "k.pem".to_owned())]);
            Script { name, translated, into, sets, reads_answer, reads_request: may_fail, may_fail, given, files, ..plain }
        },
    )
}

/// A step by itself; what it has from all steps is put in later.
fn step() -> impl Strategy<Value = Step> {
    let path = prop_oneof![
        4 => line().prop_map(|path| (format!("/p{path}"), None)),
        1 => line().prop_map(|path| (format!("https://other.test/{path}"), Some("https://other.test/".parse().unwrap()))),
        1 => Just(("/{{weighted paths.csv \"GET /\"}}".to_owned(), None)),
    ];
    let method = proptest::sample::select(&["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "PURGE"][..]);
    // Boxed: else a request is made of values of half a megabyte on the stack.
    let sent = (method, path, proptest::option::of(name()), header_list(), body_of().boxed(), proptest::option::of(auth_of())).boxed();
    let judged = (proptest::collection::vec(extraction(), 0..3), answer_checks(), proptest::option::of(1u64..100_000)).boxed();
    let scripts = (proptest::collection::vec(script().boxed(), 0..3), proptest::collection::vec(script().boxed(), 0..3));
    let extents = vec![Extent::Journey, Extent::User, Extent::Load, Extent::LoadAtOnce];
    let ends = proptest::option::of(proptest::sample::select(extents));
    let cache = (1_u32..9, any::<bool>(), any::<bool>()).prop_map(|(most, always_ask, all_methods)| Cache {
        at_most: NonZeroU32::new(most).unwrap(),
        always_ask,
        all_methods,
        number: 1 + (most % 3) as u16,
    });
    let encoding = proptest::option::of(proptest::sample::select(&["latin1", "windows-1252", "shift_jis"][..]));
    let resources = (proptest::option::of(resources()), proptest::option::of(cache), encoding);
    let rest = (0u8..3, proptest::option::of(any::<u64>()), ends, any::<bool>(), any::<bool>(), resources, scripts).boxed();
    (sent, judged, rest).prop_map(|((method, (path, elsewhere), name, headers, body, auth), (mut extractions, checks, timeout), rest)| {
        extractions.dedup_by(|one, other| one.variable == other.variable);
        extractions.truncate(1);
        let judges_status = checks.iter().any(|check| check.subject.word() == "status");
        Step {
            name: name.unwrap_or_else(|| plan::url_without_secrets(&format!("{method} {path}"))),
            method: method.to_owned(),
            path: template(&path),
            elsewhere,
            headers,
            shared_secrets: Vec::new(),
            body,
            encoding: rest.5.2.map(|name| name.parse().unwrap()),
            auth,
            extractions,
            checks,
            before: rest.6.0,
            after: rest.6.1,
            judges_status,
            requests_max: rest.1,
            redirects: rest.0,
            resources: rest.5.0,
            cache: rest.5.1,
            cookies: rest.4,
            closes: rest.4 && rest.2.is_some(),
            timeout: timeout.map(Nanos::from_millis),
            stream_for: None,
            failure_ends: rest.2,
            may_fail: rest.3 && rest.2.is_none(),
            talk: None,
        }
    })
}

fn condition() -> impl Strategy<Value = Expression> {
    let texts = [
        "{{known}}",
        "{{status}} == 200",
        "{{status}} != \"a b\"",
        "{{status}} + 1 <= 3 * ({{known}} - 2)",
        "not {{known}} contains x and {{status}} < 500 or {{known}} matches \"^a+$\"",
        "{{choice \"a == b\" c}} == c",
        "length({{known}}) > 3",
    ];
    proptest::sample::select(texts.to_vec())
        .prop_map(|text| expression(Expression::parse_condition(text, &["rows"], &["status", "known", "other"])))
}

fn value() -> impl Strategy<Value = Expression> {
    let texts = ["7", "{{known}}", "{{known}} * 2 + 1", "upper({{known}})", "- 3.5", "\"a b\""];
    proptest::sample::select(texts.to_vec()).prop_map(|text| expression(Expression::parse(text, &["rows"], &["status", "known", "other"])))
}

fn expression(read: Result<Expression, Vec<plan::template::Mistake>>) -> Expression {
    read.unwrap_or_else(|mistakes| panic!("{mistakes:?}"))
}

fn time() -> impl Strategy<Value = Duration> {
    prop_oneof![3 => think().prop_map(Duration::Drawn), 1 => Just(Duration::Written(template("{{known}}ms")))]
}

fn items() -> impl Strategy<Value = Vec<Item>> {
    let item = prop_oneof![3 => step().prop_map(|step| Item::Step(Box::new(step))), 1 => time().prop_map(Item::Pause)];
    let list = proptest::collection::vec(item, 1..4);
    list.prop_recursive(3, 12, 3, |inner| {
        let items = inner.clone();
        let times = prop_oneof![(0u64..20).prop_map(|times| times.to_string()), Just("{{known}}".to_owned())];
        let listed = prop_oneof![proptest::collection::vec(line(), 1..3).prop_map(List::Items), Just(List::Array(template("{{known}}"))),];
        let choices = proptest::collection::vec((share(), items.clone()), 1..4);
        let holds = prop_oneof![
            (name(), items.clone()).prop_map(|(name, items)| Item::Group { name, items }),
            (times, items.clone()).prop_map(|(times, items)| Item::Repeat { times: template(&times), items }),
            (condition(), items.clone(), proptest::option::of(items.clone())).prop_map(|(condition, items, otherwise)| Item::If {
                condition,
                items,
                otherwise: otherwise.unwrap_or_default()
            }),
            (condition(), items.clone(), any::<bool>()).prop_map(|(condition, items, again)| {
                if again { Item::While { condition, items } } else { Item::AsLongAs { condition, items } }
            }),
            (listed, items.clone()).prop_map(|(list, items)| Item::ForEach { variable: "each".to_owned(), list, items }),
            choices.prop_map(|choices| {
                let (weights, choices): (Vec<f64>, _) = choices.into_iter().unzip();
                Item::Pick { weights: Weights::new(&weights).unwrap(), choices }
            }),
            (step(), proptest::option::of(time())).prop_map(|(step, think)| {
                Item::Once(std::iter::once(Item::Step(Box::new(step))).chain(think.map(Item::Pause)).collect())
            }),
            (name(), items.clone()).prop_map(|(name, items)| Item::Once(vec![Item::Group { name, items }])),
            (time(), 0..3_usize, any::<bool>(), 1..4_u16, proptest::option::of(name())).prop_map(
                |(pace, of, catches_up, together, name)| {
                    let of = [PacedUsers::Each, PacedUsers::Population, PacedUsers::All][of];
                    if of != PacedUsers::Each && together == 3 {
                        let rates = "0/s to 5/s for 10s, 5/s for 1m".parse().unwrap();
                        return Item::Pacing(Pacing { catches_up, name, ..Pacing::at(rates, of) });
                    }
                    let together = if of == PacedUsers::Each { 1 } else { together };
                    Item::Pacing(Pacing { pace, rates: None, of, catches_up, together, name })
                }
            ),
            proptest::sample::select(vec![Item::ForgetCookies, Item::ForgetCache, Item::ForgetConnections]),
            (items.clone(), any::<bool>()).prop_map(|(mut items, is_round)| {
                items.push(if is_round { Item::EndRound } else { Item::EndLoop });
                Item::Repeat { times: template("3"), items }
            }),
            Just(Item::KeepCookie(template("theme={{known}}; Path=/"))),
            script().prop_map(|script| Item::Script(Box::new(script))),
            proptest::collection::vec(value(), 1..3)
                .prop_map(|values| { Item::Set(["each", "other"].into_iter().map(str::to_owned).zip(values).collect()) }),
            (condition(), items.clone(), items.clone()).prop_map(|(value, items, otherwise)| Item::Switch {
                value,
                cases: vec![
                    Case { values: vec!["7".to_owned(), "a b".to_owned()], items },
                    Case { values: vec!["x".to_owned()], items: otherwise.clone() }
                ],
                otherwise,
            }),
            (proptest::collection::vec(items.clone(), 1..3), any::<bool>())
                .prop_map(|(parts, per_user)| Item::Interleave { parts, per_user }),
            proptest::collection::vec(items.clone(), 1..3).prop_map(Item::RandomOrder),
            (proptest::collection::vec(sending(items.clone()), 1..3), proptest::option::of(1u32..9)).prop_map(|(parts, at_once)| {
                let cannot = |item: &Item| matches!(item, Item::Rendezvous { .. } | Item::Parallel { .. });
                let mut has = false;
                parts.iter().for_each(|items| each_item(items, &mut |item| has |= cannot(item)));
                let at_once = at_once.and_then(NonZeroU32::new);
                // Neither may stand in a branch.
                if has { Item::RandomOrder(parts) } else { Item::Parallel { parts, at_once } }
            }),
            (time(), sending(items.clone())).prop_map(|(time, items)| Item::RunFor { time, items }),
            (0u32..=1000, any::<bool>(), any::<bool>(), items.clone()).prop_map(|(share, is_percent, per_user, items)| {
                let amount = if is_percent { Amount::Percent(f64::from(share) / 10.0) } else { Amount::Times(share.into()) };
                let amount = if share % 3 == 0 { "{{known}}%".to_owned() } else { amount.to_string() };
                Item::Share { amount: template(&amount), per_user, items }
            }),
            (name(), sending(items.clone())).prop_map(|(name, items)| {
                let mut waits = false;
                let mut look = |item: &Item| waits |= matches!(item, Item::CriticalSection { .. } | Item::Rendezvous { within: None, .. });
                each_item(&items, &mut look);
                // Neither may stand in a section.
                if waits {
                    Item::Transaction { name, pauses: false, only_row: false, items }
                } else {
                    Item::CriticalSection { name, items }
                }
            }),
            (2u64..90, proptest::option::of(1u64..90_000))
                .prop_map(|(users, within)| Item::Rendezvous { users, within: within.map(Nanos::from_millis) }),
            (name(), any::<bool>(), any::<bool>(), sending(items)).prop_map(|(name, pauses, only_row, items)| Item::Transaction {
                name,
                pauses,
                only_row,
                items
            }),
        ];
        (holds, inner).prop_map(|(item, items)| std::iter::once(item).chain(items).collect())
    })
}

/// Items of which one sends something.
fn sending(items: impl Strategy<Value = Vec<Item>>) -> impl Strategy<Value = Vec<Item>> {
    (step(), items).prop_map(|(step, items)| std::iter::once(Item::Step(Box::new(step))).chain(items).collect())
}

/// What all steps have: headers and a way to say who the user is.
type Common = (Vec<(String, Template)>, Option<Auth>);

/// Gives steps what they have in common, as a reader does, and the names of their groups.
fn complete(items: &mut [Item], common: &Common, group: &str) {
    for item in items {
        match item {
            Item::Step(step) => {
                let own = std::mem::take(&mut step.headers);
                let is_own = |name: &str| own.iter().any(|(other, _)| other == name);
                step.headers = common.0.iter().filter(|(name, _)| !is_own(name)).cloned().collect();
                step.shared_secrets = step.headers.iter().map(|(name, _)| name.clone()).filter(|name| plan::is_secret(name)).collect();
                step.headers.extend(own);
                if step.elsewhere.is_none() && step.auth.is_none() {
                    step.auth.clone_from(&common.1);
                }
                if !group.is_empty() {
                    step.name = format!("{group} / {}", step.name);
                }
            }
            Item::Group { name, items } => {
                let inner = if group.is_empty() { name.clone() } else { format!("{group} / {name}") };
                complete(items, common, &inner);
            }
            Item::Transaction { name, items, .. } => {
                if !group.is_empty() {
                    *name = format!("{group} / {name}");
                }
                complete(items, common, group);
            }
            other => other.parts_mut().into_iter().for_each(|items| complete(items, common, group)),
        }
    }
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let journeys = prop_oneof![
        items().prop_map(|items| vec![(None, 1.0, items)]),
        proptest::collection::vec((name().prop_map(Some), share(), items()), 1..3)
    ]
    .boxed();
    let around = (proptest::option::of(items()), proptest::option::of(items()), proptest::option::of(items())).boxed();
    let settings = proptest::sample::select(
        &[
            "{}",
            r#"{"url": "http://a.test/", "connections": 5, "duration": "30s", "insecure": true, "timeout": "2500ms"}"#,
            r#"{"url": "https://a.test:8443/", "connections": "0 to 50 for 30s, 50 for 5m", "pause": "10ms"}"#,
            r#"{"rate": "0/s to 50/s for 1m, 50/s for 5m", "connections": 7, "source_ip": ["127.0.0.1"], "also_target": ["http://b.test"]}"#,
        ][..],
    );
    let checks = proptest::sample::subsequence(&["p99 < 200ms", "failed < 1%", "status 5xx == 0", "tps > 5"][..], 0..3);
    let common = (header_list(), proptest::option::of(auth_of())).boxed();
    (proptest::option::of(name()), journeys, around, settings, (any::<bool>(), line(), checks), common).prop_map(
        |(name, journeys, (setup, teardown, user_teardown), settings, (cookies, value, checks), common)| {
            let made = |items: Option<Vec<Item>>| {
                let mut items = items.unwrap_or_default();
                complete(&mut items, &common, "");
                items
            };
            let own = name.clone().unwrap_or_else(|| "journey".to_owned());
            let mut named: Vec<Journey> = Vec::new();
            for (journey, weight, items) in journeys {
                let name = journey.unwrap_or_else(|| own.clone());
                if named.iter().all(|known| known.name != name) {
                    named.push(Journey { name, weight, items: made(Some(items)) });
                }
            }
            let is_known = |value: &Template| value.values().all(|value| !matches!(value, Filled::Variable(name) if name != "status"));
            let value = if is_known(&value) { value } else { template("") };
            let work = Work {
                variables: vec![
                    Variable { name: "other".to_owned(), value },
                    Variable { name: "known".to_owned(), value: template("{{other}}") },
                ],
                keeps_variables: !cookies,
                each_place: cookies,
                cookies,
                setup: made(setup),
                teardown: made(teardown),
                skips_teardown: cookies,
                user_teardown: made(user_teardown),
                journeys: named,
            };
            let mut settings: Draft = serde_json::from_str(settings).unwrap();
            settings.data_file = vec!["rows(a b;c)=rows.csv".to_owned()];
            settings.data_order = Some("random".parse().unwrap());
            let checks = checks.into_iter().map(|check| check.parse().unwrap()).collect();
            Scenario { checks, files: vec!["rows".to_owned()], ..Scenario::new(name, settings, work) }
        },
    )
}

fn notes() -> impl Strategy<Value = Notes> {
    let some = || proptest::collection::vec("[ -~\n\r\u{85}\u{2028}é]{0,20}", 0..2);
    (some(), some(), some(), some(), proptest::collection::vec((0usize..6, "[ -~\n]{0,9}"), 0..3))
        .prop_map(|(top, load, defaults, end, items)| Notes { top, load, defaults, items, end })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn what_is_printed_is_read_back(scenario in scenario().boxed(), notes in notes().boxed()) {
        let text = print(&scenario, &notes);
        prop_assert_eq!(&read(&text), &scenario, "{}", text);
    }
}

#[test]
fn every_scenario_of_the_examples_and_the_tests_is_printed_and_read_back() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scenarios");
    let mut texts = vec![crate::STARTER.to_owned()];
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "yaml") {
            texts.push(std::fs::read_to_string(path).unwrap());
        }
    }
    assert!(texts.len() > 9);
    for text in texts {
        let scenario = read(&text);
        let printed = printed(&scenario);
        assert_eq!(read(&printed), scenario, "{printed}");
    }
}

#[test]
fn a_scenario_is_printed_as_a_person_would() {
    let text = "\
name: shop
target: http://127.0.0.1:8080

load:
  users: 20
  duration: 1m

data:
  - people=people.csv

variables:
  page: '{{random 1 9}}'

defaults:
  redirects: 3
  auth:
    bearer: '{{env TOKEN}}'
  headers:
    User-Agent: shop/1

checks:
  - 'p99 < 200ms'

setup:
  - post: /login
    json: '{\"user\": \"{{people.name}}\"}'
    extract:
      token: json $.token
    checks:
      status: 200
      time: '< 500ms'

journeys:
  - name: look
    weight: 3
    steps:
      - group: Catalogue
        steps:
          - get: /items?page={{page}}
            name: list
            pause: 1s..3s
          - if: '{{status}} == 200'
            steps:
              - get: /items/1
      - pick:
          - {weight: 7, steps: [{pause: 100ms}]}
          - weight: 2
            steps:
              - repeat: 3
                steps:
                  - get: https://cdn.test/a
  - name: buy
    steps:
      - post: /orders
        auth: none
        body: |-
          one
          two
        once: true
";
    let text = text.replace("get: /items?page={{page}}", "get: '/items?page={{page}}'");
    assert_eq!(printed(&read(&text)), text);
}

#[test]
fn headers_that_steps_have_otherwise_keep_their_order_and_their_secrets() {
    let text =
        "defaults: {headers: {D: '1', E: '1', X-Api-Key: k}}\nsteps:\n  - {get: /a, headers: {D: '9'}}\n  - {get: /b, headers: {E: '9'}}\n";
    let scenario = read(text);
    assert_eq!(scenario.work.steps()[0].shared_secrets, ["X-Api-Key"]);
    assert_eq!(read(&printed(&scenario)), scenario);
}

#[test]
fn notes_stand_where_they_belong() {
    let scenario = read("target: http://a.test\nload: {users: 1}\ndefaults: {cookies: false}\nsteps:\n  - get: /a\n  - get: /b\n");
    let line = |text: &str| vec![text.to_owned()];
    let notes =
        Notes { top: line("top"), load: line("load"), defaults: line("defaults"), items: vec![(1, "second".to_owned())], end: line("end") };
    let expected = "\
# top

target: http://a.test

load:
  # load
  users: 1

defaults:
  # defaults
  cookies: false

steps:
  - get: /a
  # second
  - get: /b

# end
";
    assert_eq!(print(&scenario, &notes), expected);
}

#[test]
fn what_talks_over_websocket_is_printed_as_it_was_read() {
    let scenario = read(
        "\
target: http://127.0.0.1:8080
defaults: {headers: {X-A: b}, timeout: 3s}
variables: {mine: '{{sequence}}'}
steps:
  - connect: /chat?room={{random 1 9}}
    headers: {Origin: 'http://a.test'}
  - connect: wss://other.test/live
    auth: {bearer: 't'}
  - receive: next
  - {send: {id: '{{mine}}', list: [1, x]}, answer: 'json $.id == {{mine}}', name: ask, extract: {known: json $.a}}
  - {send: 'I am {{known}}', answer: [body contains x, json $.b exists], on: '/chat?room={{random 1 9}}', may_fail: true}
  - {send: '{{known}}', answer: none, timeout: 1s}
  - listen: 30s
  - ping: true
  - {close: 4001, on: '/chat?room={{random 1 9}}'}
  - group: g
    steps: [{receive: body == bye, must_succeed: true, checks: {time: < 1s}}, {close: true, name: leave}]
",
    );
    let steps = scenario.work.steps();
    let names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names[..3], ["connect /chat?room={{random 1 9}}", "connect wss://other.test/live", "receive from wss://other.test/live"]);
    assert_eq!(steps[9].name, "g / receive from wss://other.test/live");
    assert!(matches!(&steps[3].body, Body::Json(_)) && matches!(&steps[4].body, Body::Text(_)) && matches!(&steps[5].body, Body::Text(_)));
    assert_eq!(steps[5].talk, Some(Talk::Send(Reply::Nothing)));
    assert_eq!(steps[3].elsewhere.as_ref().map(ToString::to_string).as_deref(), Some("wss://other.test/"));
    let again = printed(&scenario);
    assert_eq!(read(&again).work, scenario.work, "{again}");
}

#[test]
fn calls_are_printed_as_they_were_read() {
    let scenario = read(
        "\
target: http://127.0.0.1:8080
load: {proto: [a.proto, b.proto], proto_path: inc}
defaults: {headers: {X-A: b}, auth: {bearer: 't'}}
variables: {mine: '{{sequence}}'}
steps:
  - grpc: a.B/C
  - {grpc: /a.B/C, message: {id: '{{mine}}', list: [1, x]}, metadata: {X-B: '{{mine}}'}, name: ask, extract: {known: json $.a}}
  - {grpc: 'grpcs://other.test/a.B/D', message: '{\"id\": {{known}}}', timeout: 1s, may_fail: true}
  - group: g
    steps: [{grpc: a.B/C, message: [{a: 1}, {a: 2}], auth: none, checks: {time: < 1s}}]
",
    );
    let steps = scenario.work.steps();
    let names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["call a.B/C", "ask", "call a.B/D", "g / call a.B/C"]);
    assert!(steps.iter().all(|step| step.talk == Some(Talk::Call) && matches!(step.body, Body::Json(_))));
    assert_eq!(steps[2].elsewhere.as_ref().map(ToString::to_string).as_deref(), Some("grpcs://other.test/"));
    assert_eq!((scenario.draft.proto.len(), scenario.draft.proto_path.len()), (2, 1));
    let again = printed(&scenario);
    assert_eq!(read(&again).work, scenario.work, "{again}");
}
