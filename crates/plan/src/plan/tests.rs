use super::*;
use crate::{Draft, PlanErrors, Resolved, Spelling};
use clap::Parser;
use proptest::prelude::*;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    draft: Draft,
}

fn draft(line: &str) -> Draft {
    let words =
        std::iter::once("loadline".to_owned()).chain(line.split('~').map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()));
    Line::try_parse_from(words).unwrap_or_else(|error| panic!("{line}: {error}")).draft
}

fn plan(line: &str) -> Plan {
    Plan::try_from(draft(line)).unwrap_or_else(|errors| panic!("{line}:\n{errors:?}"))
}

fn errors(line: &str) -> PlanErrors {
    Plan::try_from(draft(line)).expect_err(line)
}

#[test]
fn users_come_and_go_in_stages() {
    let staged = |connections: &str, edit: &dyn Fn(&mut Draft)| {
        let mut draft = Draft { url: Some("http://h/".to_owned()), connections: connections.parse().ok(), ..Draft::default() };
        edit(&mut draft);
        Plan::try_from(draft)
    };
    let plan = staged("0 to 50 for 30s, 50 for 1m, 50 to 0 for 30s", &|_| {}).unwrap();
    assert_eq!((plan.duration(), plan.connections_max().get()), (Some(Nanos::from_secs(120)), 50));
    let again = Plan::try_from(LoadRecord::from(plan.clone())).unwrap();
    assert_eq!(again, plan);
    let warmed = staged("10 for 5s, 20 for 5s", &|draft| draft.warmup = "2s".parse().ok()).unwrap();
    assert_eq!(warmed.users().unwrap().presence(15), [(Nanos::from_secs(7), Nanos::from_secs(12))]);
    let open_end = staged("0 to 9 for 3s, 9", &|draft| draft.duration = "10s".parse().ok()).unwrap();
    assert_eq!(open_end.users().unwrap().length(), Some(Nanos::from_secs(10)));
    let told =
        |connections: &str, edit: &dyn Fn(&mut Draft)| staged(connections, edit).unwrap_err().0.remove(0).message.spelt(Spelling::Flags);
    assert_eq!(told("0 for 10s", &|_| {}), "--connections 0 for 10s sends nothing");
    assert_eq!(
        told("1 to 9 for 10s", &|draft| draft.rate = "9/s".parse().ok()),
        "--connections 1 to 9 for 10s is about users who wait for their answers, and a rate sends without any"
    );
    assert_eq!(
        told("0 to 9 for 10s", &|draft| draft.warmup = "2s".parse().ok()),
        "--warmup 2s runs at the first number of --connections, which is 0"
    );
    assert_eq!(
        told("1 to 9 for 10s", &|draft| draft.warmup = "auto".parse().ok()),
        "--warmup auto looks for where the run becomes steady, and the stages of --connections never are"
    );
}

#[test]
fn a_bare_url_means_fifty_users_for_ten_seconds() {
    let plan = plan("http://a.test/x");
    assert_eq!(*plan.load(), Load::Closed { users: NonZeroU32::new(50).unwrap().into(), pause: None });
    assert_eq!((plan.duration(), plan.requests()), (Some(Nanos::from_secs(10)), None));
    let headers: Vec<&str> = plan.request().headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(headers, ["Host", "User-Agent", "Accept"]);
    assert_eq!(plan.request().method, "GET");
}

#[test]
fn a_number_of_requests_alone_has_no_time_limit_and_no_idle_connections() {
    let plan = plan("http://a.test/ ~ -n ~ 7");
    assert_eq!((plan.duration(), plan.connections_max().get()), (None, 7));
}

#[test]
fn every_mistake_is_reported_at_once_with_its_setting() {
    let errors = errors("atest ~ -c ~ 0 ~ -d ~ soon ~ --timeout ~ 0s ~ -H ~ nonsense ~ --cert ~ x.pem");
    let settings: Vec<&str> = errors.0.iter().map(|error| error.setting).collect();
    assert_eq!(settings, ["url", "connections", "duration", "header", "timeout", "cert"]);
    for error in &errors.0 {
        assert!(!error.help.marked().is_empty() && !error.message.marked().ends_with('.'), "{error:?}");
    }
}

#[test]
fn contradictions_are_named() {
    for (line, part) in [
        ("http://a/ ~ -n ~ 10 ~ -c ~ 50", "--requests 10 is fewer than --connections 50"),
        ("http://a/ ~ --arrivals ~ even", "without a rate"),
        ("http://a/ ~ --rate ~ 10/s ~ --pause ~ 1s", "--pause 1s"),
        ("http://a/ ~ --rate ~ 0/s", "sends nothing"),
        ("http://a/ ~ --rate ~ 10/s for 10s ~ -d ~ 20s", "--duration says 20s"),
        ("http://a/ ~ --rate ~ 0/s to 9/s for 10s ~ --warmup ~ 1s", "which is 0/s"),
        ("http://a/ ~ --data ~ x ~ --json ~ {}", "--data and --json both give the body"),
        ("http://a/ ~ --user ~ a:b ~ --bearer ~ t", "--user and --bearer"),
        ("http://u:p@a/ ~ -H ~ Authorization: x", "the URL's user and --header Authorization"),
        ("http://a/ ~ -k", "the URL is http://"),
        ("https://a/ ~ -k ~ --cacert ~ f", "--insecure"),
        ("http://a/ ~ --unix-socket ~ /s ~ --proxy ~ p:1", "--proxy"),
        ("http://a/ ~ -X ~ CONNECT", "CONNECT"),
        ("http://a/ ~ -X ~ G T", "'G T' is not an HTTP method"),
        ("http://a/ ~ --threads ~ 100000", "--threads 100000"),
        ("http://a:0/", "port 0"),
    ] {
        let text = errors(line).spelt(Spelling::Flags);
        assert!(text.contains(part), "{line}:\n{text}");
    }
}

#[test]
fn headers_are_overridden_and_removed_by_name() {
    let plan = plan("http://a.test/ ~ -H ~ accept: text/html ~ -H ~ User-Agent: ~ -H ~ X-Empty; ~ -H ~ host: b.test");
    let headers: Vec<(&str, &str)> = plan.request().headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(headers, [("host", "b.test"), ("accept", "text/html"), ("X-Empty", "")]);
}

#[test]
fn credentials_become_a_header_and_leave_the_url() {
    let plan = plan("http://user:pass@a.test/");
    assert!(plan.request().headers.contains(&("Authorization".to_owned(), "Basic dXNlcjpwYXNz".to_owned())));
    assert_eq!(plan.target().to_string(), "http://a.test/");
}

#[test]
fn a_saved_plan_holds_no_secret_and_says_which_it_left_out() {
    let plan = plan("http://a.test/ ~ --bearer ~ tok-123 ~ --cookie ~ id=tok-456 ~ --proxy ~ http://me:tok-789@p.test:3128");
    let saved = serde_json::to_string(&plan).unwrap();
    assert!(!saved.contains("tok-") && !saved.contains("bWU6dG9rLTc4OQ"), "{saved}");
    let read: Plan = serde_json::from_str(&saved).unwrap();
    assert_eq!(read.redacted().collect::<Vec<_>>(), ["Authorization", "Cookie", "Proxy-Authorization"]);
    let over = draft("--bearer ~ new ~ --cookie ~ id=1 ~ --proxy ~ http://me:again@p.test:3128");
    let again = Plan::try_from(LoadRecord::from(read).overlaid(over.into())).unwrap();
    assert_eq!(again.redacted().count(), 0);
}

#[test]
fn stages_give_the_duration_and_the_last_one_may_last_for_the_rest() {
    let ramp = plan("http://a/ ~ -r ~ 0/s to 10/s for 1m, 10/s ~ -d ~ 3m");
    assert_eq!(ramp.duration(), Some(Nanos::from_secs(180)));
    let staged = plan("http://a/ ~ -r ~ 0/s to 10/s for 1m, 10/s for 1m");
    // A shorter time ends them earlier.
    let ended = plan("http://a/ ~ -r ~ 0/s to 10/s for 1m, 10/s for 1m ~ -d ~ 30s");
    assert_eq!(
        (ended.load().clone(), ended.duration()),
        (plan("http://a/ ~ -r ~ 0/s to 5/s for 30s").load().clone(), Some(Nanos::from_secs(30)))
    );
    assert!(plan("http://a/ ~ -r ~ 2/s for 1m, 10/s for 1m ~ -d ~ 90s").duration() == Some(Nanos::from_secs(90)));
    assert_eq!(staged.duration(), Some(Nanos::from_secs(120)));
    let warmed = plan("http://a/ ~ -r ~ 10/s ~ -d ~ 10s ~ --warmup ~ 5s");
    assert_eq!((warmed.end(), warmed.timetable().unwrap().length()), (Nanos::from_secs(15), Some(Nanos::from_secs(15))));
}

proptest! {
    #[test]
    fn a_saved_plan_is_the_same_plan(
        closed: bool, connections in 1u32..20_000, secs in 1u64..10_000, requests in prop::option::of(20_000u64..1_000_000),
        warmup in 0u64..100, rate in 1u32..100_000, body in 0usize..4, extra: bool, seed: u64,
    ) {
        let mut line = format!("https://a.test:8443/p?q=1 ~ -c ~ {connections} ~ --warmup ~ {warmup}s ~ --seed ~ {seed} ~ -t ~ 3");
        if let Some(requests) = requests {
            line += &format!(" ~ -n ~ {requests}");
        }
        if !closed {
            line += &format!(" ~ -r ~ {rate}/s ~ --arrivals ~ even");
        }
        if closed || requests.is_none() || extra {
            line += &format!(" ~ -d ~ {secs}s");
        }
        line += ["", " ~ --data ~ text", " ~ --json ~ @body.json", " ~ --form ~ a=b ~ --form ~ f=@x.png;type=image/png"][body];
        if extra {
            line += " ~ -H ~ Accept: ~ -H ~ X-A: 1 ~ --follow ~ 3 ~ --no-keepalive ~ --sni ~ b.test ~ --tls-version ~ 1.3 ~ --source-ip ~ 127.0.0.2";
        }
        let plan = plan(&line);
        let saved = serde_json::to_string(&plan).unwrap();
        prop_assert_eq!(serde_json::from_str::<Plan>(&saved).unwrap(), plan, "{}", saved);
    }
}

#[test]
fn templates_are_kept_as_they_were_typed() {
    let plan = plan("http://a.test/{{random 1 9}}?q={{uuid}} ~ -H ~ X-Id: {{sequence}} ~ --json ~ {\"a\":\"{{choice \"b c\" d}}\"}");
    assert!(plan.is_filled_in());
    let LoadRecord { draft, .. } = plan.clone().into();
    assert_eq!(draft.url.as_deref(), Some("http://a.test/{{random 1 9}}?q={{uuid}}"));
    assert_eq!(draft.data.as_deref(), Some("{\"a\":\"{{choice \"b c\" d}}\"}"));
    assert_eq!(serde_json::from_str::<Plan>(&serde_json::to_string(&plan).unwrap()).unwrap(), plan);
    assert!(!Plan::try_from(self::draft("http://a.test/ ~ --data ~ {a}")).unwrap().is_filled_in());
}

#[test]
fn what_only_names_a_secret_is_saved_and_what_holds_one_is_not() {
    let line = "http://a.test/?token={{env T}}&key=k-{{uuid}} ~ --bearer ~ {{users.token}} ~ -H ~ X-Api-Key: abc{{env K}} \
                ~ --json ~ {\"password\":\"{{users.password}}\",\"secret\":\"{{choice \"geheim\" \"b\"}}\",\"n\":{{random 1 2}}} ~ --data-file ~ users.csv";
    let plan = plan(line);
    let saved = serde_json::to_string(&plan).unwrap();
    for kept in ["token={{env T}}", "Bearer {{users.token}}", "{{users.password}}", "{{random 1 2}}"] {
        assert!(saved.contains(kept), "{kept}: {saved}");
    }
    for secret in ["k-{{", "abc", "geheim"] {
        assert!(!saved.contains(secret), "{secret}: {saved}");
    }
    let read: Plan = serde_json::from_str(&saved).unwrap();
    assert_eq!(read.redacted().collect::<Vec<_>>(), ["X-Api-Key"]);
    assert_eq!(read.redacted_parts().len(), 2);
}

#[test]
fn values_of_variables_are_never_written() {
    let draft = draft("http://a.test/{{env A}} ~ -H ~ X: {{base64 (env B)}}");
    let environment = ["A", "B"].map(|name| (name.to_owned(), format!("value-of-{name}"))).to_vec();
    let plan = Plan::try_from(Resolved { environment, ..draft.into() }).unwrap();
    assert!(!serde_json::to_string(&plan).unwrap().contains("value-of"));
    assert_eq!(plan.secrets().conceal("it says value-of-A"), "it says ***");
}

#[test]
fn a_user_and_password_may_be_templates() {
    let plan = plan("http://a.test/ ~ --user ~ {{users.name}}:{{users.password}} ~ --data-file ~ users.csv");
    let value = "Basic {{base64 (users.name) : (users.password)}}".to_owned();
    assert!(plan.request().headers.contains(&("Authorization".to_owned(), value)), "{:?}", plan.request().headers);
}

#[test]
fn a_list_of_urls_needs_no_url_beside_it_and_is_saved_by_name() {
    let resolved = Resolved::from(draft("--urls ~ mix.txt ~ --data-file ~ users.csv"));
    let plan = Plan::try_from(resolved.with_file("mix.txt", *b"3 http://a.test:81/x?{{users.id}}\n")).unwrap();
    assert_eq!((plan.target().to_string().as_str(), plan.variation().mix.as_ref().unwrap().routes.len()), ("http://a.test:81/", 1));
    let saved: Plan = serde_json::from_str(&serde_json::to_string(&plan).unwrap()).unwrap();
    assert!(saved.is_filled_in() && saved.variation().mix.as_ref().unwrap().routes.is_empty());
    // A URL given anew takes the place of the list.
    assert_eq!(LoadRecord::from(saved).draft.overlaid(draft("http://b.test/")).urls, None);
}

#[test]
fn a_password_in_a_list_of_urls_goes_to_its_own_server_alone() {
    let of = |line: &str, list: &'static str| {
        let plan = Plan::try_from(Resolved::from(draft(line)).with_file("mix.txt", list.as_bytes()))?;
        Ok::<_, PlanErrors>(plan.request().headers.iter().find(|(name, _)| name == "Authorization").map(|(_, value)| value.clone()))
    };
    let basic = Some("Basic dTpw".to_owned());
    assert_eq!(of("--urls ~ mix.txt", "http://a.test/1\nhttp://u:p@a.test/2\n").unwrap(), basic);
    assert_eq!(of("http://u:p@a.test/ ~ --urls ~ mix.txt", "/1\nhttp://a.test/2\n").unwrap(), basic);
    assert_eq!(of("--urls ~ mix.txt", "http://a.test/\nhttp://b.test/\n").unwrap(), None);
    for (line, list, part) in [
        ("--urls ~ mix.txt", "http://u:p@a.test/\nhttp://b.test/\n", "a user and password for a.test, and lead to b.test too"),
        ("http://u:p@a.test/ ~ --urls ~ mix.txt", "/1\nhttp://b.test/\n", "and lead to b.test too"),
        ("--urls ~ mix.txt", "http://u:p@a.test/\nhttp://v:p@a.test/\n", "several users"),
        ("--urls ~ mix.txt ~ --user ~ v:w", "http://u:p@a.test/\n", "say how to authenticate"),
    ] {
        let errors = of(line, list).unwrap_err().spelt(Spelling::Flags);
        assert!(errors.contains(part) && !errors.contains("u:p"), "{line} {list}: {errors}");
    }
}

#[test]
fn what_is_sent_as_it_is_or_not_at_all_is_searched_for_no_template() {
    let taken = |line: &str, file: &'static [u8]| Resolved::from(draft(line)).with_file("f", file).taken_from_outside().len();
    assert_eq!(taken("--urls ~ f", b"http://a.test/{{env A}}\n # GET /old?{{env B}}\n"), 1);
    assert_eq!(taken("http://a.test/ ~ --data ~ @f", b"{{env A}}"), 1);
    assert_eq!(taken("http://a.test/ ~ --data ~ @f", b"{{env A}}\xff"), 0);
}

#[test]
fn mistakes_in_templates_and_data_are_told_with_their_setting() {
    for (line, setting, part) in [
        ("http://a/{{uid}}", "url", "did you mean 'uuid'?"),
        ("http://a/ ~ -H ~ X: {{uid}}", "header", "the header X is no template"),
        ("http://a/ ~ --data ~ {{uid}}", "data", "the body is no template"),
        ("http://a/ ~ --form ~ a={{uid}}", "form", "the field 'a' of the form"),
        ("http://a/ ~ --data ~ {{body}}", "data", "which is itself"),
        ("http://a/ ~ -H ~ Content-Length: {{sequence}}", "header", "follows from the body"),
        ("http://a/{{uuid}} ~ --script ~ x.lua", "no-templates", "--script and a template"),
        ("http://a/{{uuid}} ~ --script ~ x.lua", "no-templates", "--script and a template"),
        ("http://a/ ~ --data-file ~ u.csv", "data-file", "{{u.COLUMN}}"),
        ("http://a/{{u.a}} ~ --data-file ~ u.csv ~ --data-file ~ x/u.csv", "data-file", "two data files are called 'u'"),
        ("http://a/{{u.a}} ~ --data-file ~ u.csv ~ --data-order ~ radom", "data-order", "'radom' is neither"),
        ("http://a/{{u.a}} ~ --data-file ~ u.csv ~ --data-order ~ per-user ~ --rate ~ 1/s", "data-order", "without any"),
        ("http://a/ ~ --data-end ~ stop", "data-end", "there is none"),
        ("http://a/ ~ --no-templates ~ --data-file ~ u.csv", "data-file", "--no-templates"),
    ] {
        let errors = errors(line);
        assert!(
            errors.0.iter().any(|error| error.setting == setting) && errors.spelt(Spelling::Flags).contains(part),
            "{line}:\n{errors:?}"
        );
    }
}

#[test]
fn how_streams_are_listened_to_and_what_tokens_are_says_the_user() {
    let all = plan("http://h/~--stream~sse~--event-data~$.a~--tokens~words~--stream-for~30s");
    assert_eq!((all.tokens(), all.stream_for()), (Some(&TokenCount::Words), Some(Nanos::from_secs(30))));
    let said = plan("http://h/~--stream~auto~--tokens~usage");
    assert_eq!(said.tokens().map(ToString::to_string).as_deref(), Some("$['usage']['completion_tokens']"));
    assert_eq!(plan("http://h/~--stream~auto~--tokens~events").tokens(), None, "as without it");
    for plan in [all, said] {
        assert_eq!(Plan::try_from(LoadRecord::from(plan.clone())).unwrap(), plan);
    }
    for (line, wrong) in [
        ("http://h/~--tokens~usage", "--tokens is about answers that stream"),
        ("http://h/~--stream-for~1s", "--stream-for is about answers that stream"),
        ("http://h/~--stream~sse~--stream-for~0s", "--stream-for is zero"),
        ("http://h/~--stream~sse~--tokens~words", "--tokens words counts words of a text, and no --event-data says where it is"),
        ("http://h/~--stream~sse~--tokens~letters", "is none of events, words, usage and a path"),
    ] {
        let told = errors(line);
        let said = told.0[0].message.spelt(Spelling::Flags);
        assert!(told.0.len() == 1 && said.contains(wrong), "{line}: {said}");
    }
}

#[test]
fn what_goes_over_the_wire_otherwise_is_in_the_headers_unless_they_say_so_themselves() {
    let header = |line: &str, name: &str| {
        let plan = plan(line);
        assert_eq!(Plan::try_from(LoadRecord::from(plan.clone())).unwrap(), plan, "{line}");
        plan.request().headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.clone())
    };
    let packed = Some("gzip, br, zstd, deflate".to_owned());
    assert_eq!(header("http://a.test/~--compressed", "accept-encoding"), packed);
    assert_eq!(header("http://a.test/~--compressed~-H~accept-encoding: br", "accept-encoding"), Some("br".to_owned()));
    assert_eq!(header("http://a.test/~--compressed~-H~Accept-Encoding:", "accept-encoding"), None);
    assert_eq!(header("http://a.test/", "accept-encoding"), None);
    assert_eq!(header("http://a.test/~--expect-continue~--data~x", "expect"), Some("100-continue".to_owned()));
    assert_eq!(header("http://a.test/~--expect-continue~--data~x~-H~Expect:", "expect"), None);
    for (line, setting) in [
        ("http://a.test/~--expect-continue", "expect-continue"),
        ("http://a.test/~--http2-stream-window~1MiB", "http2-stream-window"),
        ("https://a.test/~--http2-connection-window~9", "http2-connection-window"),
        ("http://a.test/~--tls-resumption~on", "tls-resumption"),
        ("https://a.test/~--tls-resumption~maybe", "tls-resumption"),
        ("http://a.test/~--script~a.lua~--compressed", "compressed"),
        ("http://a.test/~--http~2~--proxy~http://p:1", "http"),
    ] {
        assert_eq!(errors(line).0.iter().map(|error| error.setting).collect::<Vec<_>>(), [setting], "{line}");
    }
    let plan =
        plan("https://a.test/~--http2-stream-window~1MiB~--http2-connection-window~70000~--tls-resumption~on~--proxy~socks5h://me:p%40w@p");
    let connection = plan.connection();
    assert_eq!((connection.stream_window.bytes(), connection.connection_window.bytes()), (1 << 20, 70_000));
    assert_eq!(connection.tls.resumption, Resumption::On);
    let saved = serde_json::to_value(&plan).unwrap();
    assert_eq!((&saved["proxy"], &saved["tls_resumption"]), (&"socks5h://***@p:1080".into(), &"on".into()));
    assert_eq!(Plan::decode(&plan.encode(), Contents::default()).unwrap(), plan);
    // Over a tunnel it is spoken as without one.
    assert!(Plan::try_from(draft("http://a.test/~--http~2~--proxy~socks5://p:1")).is_ok());
}
