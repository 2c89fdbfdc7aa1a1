use proptest::prelude::*;

use super::*;
use crate::percent_encoded;
use crate::{Replay, Speed};

/// What a secret is made of, so that it is found wherever it stands.
const SECRET: &str = "s3cr3t-0f";

fn one_of<T: Clone + std::fmt::Debug + 'static>(values: &[T]) -> impl Strategy<Value = T> + use<T> {
    prop::sample::select(values.to_vec())
}

/// Settings that every kind of work has, some of them secrets.
fn settings() -> impl Strategy<Value = Draft> {
    let load = (
        one_of(&["1", "7", "50", "0 to 9 for 5s, 9"]),
        one_of(&[None, Some("10/s"), Some("0/s to 12.5/s for 1m, 3/s for 1500ms")]),
        any::<bool>(),
        any::<u64>(),
        one_of(&[None, Some("auto"), Some("2s")]),
    );
    let request = (
        one_of(&[("user", ""), ("bearer", ""), ("header", ""), ("url", ""), ("", "")]),
        one_of(&["a.test", "[::1]:81", "a.test:8443"]),
        "[a-zA-Z0-9 ~%:@/é\"\\\\-]{0,9}",
        any::<bool>(),
        any::<bool>(),
    );
    let connection =
        (any::<bool>(), any::<bool>(), one_of(&[None, Some("http://me:{}@p.test:3128"), Some("http://p.test")]), 0u8..4, any::<bool>());
    (load, request, connection).prop_map(|(load, request, connection)| {
        let (connections, rate, is_timed, seed, warmup) = load;
        let ((place, _), host, odd, has_cookie, is_plain) = request;
        let (no_keepalive, insecure, proxy, follow, is_sent_from) = connection;
        let secret = format!("{SECRET}-{}", odd.trim());
        let is_steady = rate.is_none_or(|rate| !rate.contains("to")) && !connections.contains("to");
        let user = if place == "url" { format!("me:{}@", percent_encoded(&secret)) } else { String::new() };
        let text = |text: &str| Some(text.to_owned());
        Draft {
            url: Some(format!("https://{user}{host}/p?q=1&token={SECRET}-of-url")),
            connections: if rate.is_some() { "200".parse().ok() } else { connections.parse().ok() },
            rate: rate.and_then(|rate| rate.parse().ok()),
            duration: (is_timed && is_steady).then(|| "90s".parse().unwrap()),
            seed: seed.to_string().parse().ok(),
            warmup: warmup.filter(|_| is_steady).and_then(|warmup| warmup.parse().ok()),
            user: if place == "user" { text(&format!("me:{secret}")) } else { None },
            bearer: if place == "bearer" { text(&secret) } else { None },
            header: if place == "header" {
                vec![format!("X-Api-Key: {secret}"), "Accept:".to_owned(), "X-Empty;".to_owned()]
            } else {
                vec![]
            },
            cookie: if has_cookie { vec![format!("id={SECRET}-of-cookie"), "b=2".to_owned()] } else { vec![] },
            proxy: proxy.map(|proxy| proxy.replace("{}", &percent_encoded(&secret))),
            no_keepalive,
            insecure,
            follow: Some(Setting::Value(follow)),
            source_ip: if is_sent_from { vec!["127.0.0.2".parse().unwrap()] } else { vec![] },
            also_target: if is_plain { vec!["https://b.test".to_owned()] } else { vec!["any".to_owned()] },
            timeout: "1500ms".parse().ok(),
            ..Draft::default()
        }
    })
}

/// A load of every kind of work, everything that it names read.
fn loads() -> impl Strategy<Value = Resolved> {
    (settings(), 0..9usize).prop_map(|(draft, kind)| {
        let text = |text: &str| Some(text.to_owned());
        let variables = || vec![("K".to_owned(), format!("{SECRET}-of-env"))];
        let plain = Draft { follow: None, ..draft.clone() };
        let closed = Draft { rate: None, connections: "9".parse().ok(), ..draft.clone() };
        match kind {
            0 => draft.into(),
            1 => Draft { json: Some(format!("{{\"password\":\"{SECRET}-of-body\",\"n\":1}}")), ..draft }.into(),
            2 => {
                let form = vec!["a=b".to_owned(), format!("password={SECRET}-of-form"), "f=@x.bin;type=image/png".to_owned()];
                Resolved::from(Draft { form, ..draft }).with_file("x.bin", [0, 255, 10])
            }
            3 => {
                let url = text("https://a.test/{{users.id}}?q={{uuid}}");
                let header = vec!["X-Key: {{env K}}".to_owned()];
                let draft = Draft { url, header, data: text("@body"), data_file: vec!["users(id,name)=users.csv".to_owned()], ..draft };
                let rows = format!("id,token\n1,{SECRET}-of-row\n");
                let resolved = Resolved { environment: variables(), ..draft.into() };
                resolved.with_file("users.csv", rows.into_bytes()).with_file("body", *b"id={{users.id}}")
            }
            4 => {
                let draft = Draft { urls: text("mix.txt"), no_templates: true, ..plain };
                // A user and password in the URL are for its own server.
                let second = if draft.url.as_ref().is_some_and(|url| url.contains('@')) { "/b/{{x}}" } else { "https://b.test:81/{{x}}" };
                let list = format!("\u{feff}3 GET /a\n1 {second}\n");
                Resolved::from(draft).with_file("mix.txt", list.into_bytes())
            }
            5 => {
                let script_arguments = vec!["-x".to_owned(), "--".to_owned()];
                let draft = Draft { script: text("a.lua"), sandbox: true, script_arguments, no_templates: true, ..plain };
                let sources = Sources { script_sha256: text("aa"), ..Sources::default() };
                let script = format!("wrk.headers['X'] = '{SECRET}-of-script'");
                Resolved { sources, ..draft.into() }.with_file("a.lua", script.into_bytes())
            }
            6 => {
                let populations = ["2", "3"].map(|users| PopulationDraft {
                    name: format!("p{users}"),
                    connections: users.parse().ok(),
                    start_after: "1s".parse().ok(),
                    iterations: (users == "2").then(|| "9".parse().ok()).flatten(),
                    after: (users == "3").then(|| "p2".to_owned()),
                    duration: "5s".parse().ok(),
                    ..PopulationDraft::default()
                });
                let draft = Draft { scenario: text("s.yaml"), rate: None, warmup: None, duration: None, ..closed };
                let sources = Sources {
                    scenario_name: text("shop"),
                    scenario_sha256: text("bb"),
                    connections_each: NonZeroU32::new(6),
                    environment: text("test"),
                    variable_names: vec!["token".to_owned()],
                    populations: populations.to_vec(),
                    ..Sources::default()
                };
                let secrets = vec![format!("{SECRET}-of-scenario")];
                let scenario = format!("steps: [{{get: /, headers: {{X: {SECRET}-of-scenario}}}}]");
                Resolved { sources, secrets, environment: variables(), ..draft.into() }.with_file("s.yaml", scenario.into_bytes())
            }
            7 => {
                let scenario_text = Some(format!("steps: [{{get: /?token={SECRET}-of-text}}]"));
                let secrets = vec![format!("{SECRET}-of-text")];
                Resolved { sources: Sources { scenario_text, ..Sources::default() }, secrets, ..draft.into() }
            }
            _ => {
                let replay = Replay { logs: vec!["access.log".to_owned()], speed: Speed::LOGGED, writes: true, ..Replay::default() };
                Resolved { sources: Sources { replay: Some(replay), ..Sources::default() }, ..Draft { no_templates: true, ..draft }.into() }
            }
        }
    })
}

proptest! {
    #[test]
    fn a_plan_that_was_encoded_is_the_same_plan_and_only_that_form_holds_its_secrets(load in loads()) {
        let plan = Plan::try_from(load.clone()).unwrap_or_else(|errors| panic!("{errors:?}\n{load:?}"));
        let whole = plan.encode();
        let again = Plan::decode(&whole, plan.contents().clone()).unwrap_or_else(|why| panic!("{why}\n{whole}"));
        prop_assert_eq!(&again, &plan, "{}", whole);
        let saved = serde_json::to_string(&plan).unwrap();
        prop_assert!(!saved.contains(SECRET), "{}", saved);
        prop_assert!(whole.contains(SECRET), "{}", whole);
        // Who decodes it knows as well what not to say.
        prop_assert_eq!(again.secrets(), plan.secrets());
    }
}

#[test]
fn of_another_version_or_cut_off_it_is_no_plan() {
    let whole = Plan::try_from(Draft { url: Some("http://a.test/".to_owned()), ..Draft::default() }).unwrap().encode();
    assert_eq!(Plan::decode(&whole.replace("\"version\":2", "\"version\":3"), Contents::default()), Err(DecodeError::Version(3)));
    for cut in 0..whole.len() {
        assert!(matches!(Plan::decode(&whole[..cut], Contents::default()), Err(DecodeError::Damaged(_))), "{cut}");
    }
    let why = Plan::decode(&whole.replace("http://a.test/", "nonsense"), Contents::default()).unwrap_err();
    assert!(matches!(why, DecodeError::Refused(_)), "{why}");
}
