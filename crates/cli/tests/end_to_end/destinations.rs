//! Load goes to the servers that the user named, whatever a file, a redirect or an answer says: every kind of file and every command, beside
//! a server that nobody named and that counts whoever connects.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use testbed::Testbed;

use crate::recorder::Recorder;
use crate::serve::counting;
use crate::session::{Session, prose, server};

/// A server that nobody named.
struct Stranger {
    at: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Stranger {
    fn new() -> Self {
        let (at, connections) = counting("127.0.0.1", None);
        Self { at, connections }
    }

    #[track_caller]
    fn was_left_alone(&self, what: &str) {
        assert_eq!(self.connections.load(Ordering::SeqCst), 0, "{what} connected to a server that was not named");
    }
}

fn base(server: &Testbed) -> String {
    server.url("").trim_end_matches('/').to_owned()
}

/// Files of every kind with requests for `/healthz` and `/pick` of two servers, by http and by https, of which the first has fewer.
fn files(first: &str, second: &str) -> Vec<(&'static str, String)> {
    let entry = |(second, url): (usize, &String)| {
        format!(
            "{{\"startedDateTime\": \"2024-01-01T00:00:0{second}.000Z\", \"time\": 5, \"request\": {{\"method\": \"GET\", \"url\": \"{url}\", \"headers\": [], \"cookies\": []}}, \
             \"response\": {{\"status\": 200, \"content\": {{\"size\": 2}}}}}}"
        )
    };
    let urls = [
        format!("http://{first}/healthz"),
        format!("https://{second}/pick"),
        format!("https://{second}/healthz"),
        format!("http://{second}/pick"),
    ];
    let name = |url: &str| url.rsplit('/').next().unwrap_or_default().to_owned();
    let item = |url: &String| format!("{{\"name\": \"{}\", \"request\": {{\"url\": \"{url}\"}}}}", name(url));
    let resource = |url: &String| {
        format!(
            "{{\"_id\": \"r{url}\", \"_type\": \"request\", \"parentId\": \"w\", \"name\": \"{}\", \"method\": \"GET\", \"url\": \"{url}\"}}",
            name(url)
        )
    };
    let operation = |path: &str, server: &str| {
        format!("  {path}:\n    servers: [{{url: '{server}'}}]\n    get: {{responses: {{'200': {{description: ok}}}}}}\n")
    };
    vec![
        ("a.har", format!("{{\"log\": {{\"entries\": [{}]}}}}", urls.iter().enumerate().map(entry).collect::<Vec<_>>().join(","))),
        (
            "a.postman.json",
            format!("{{\"info\": {{\"name\": \"A\", \"schema\": \"v2.1.0\"}}, \"item\": [{}]}}", urls.each_ref().map(item).join(",")),
        ),
        (
            "a.insomnia.json",
            format!(
                "{{\"_type\": \"export\", \"__export_format\": 4, \"resources\": [{{\"_id\": \"w\", \"_type\": \"workspace\", \"name\": \"A\"}}, {}]}}",
                urls.each_ref().map(resource).join(",")
            ),
        ),
        (
            "a.insomnia5.yaml",
            format!(
                "type: collection.insomnia.rest/5.0\nname: A\ncollection:\n{}",
                urls.each_ref().map(|url| format!("  - {{name: {}, method: GET, url: '{url}'}}\n", name(url))).concat()
            ),
        ),
        (
            "a.openapi.yaml",
            format!(
                "openapi: 3.1.0\ninfo: {{title: A, version: '1'}}\nservers: [{{url: 'https://{second}'}}]\npaths:\n{}{}",
                operation("/healthz", &format!("http://{first}")),
                operation("/pick", &format!("https://{second}"))
            ),
        ),
        ("a.sh", urls.each_ref().map(|url| format!("curl '{url}' --connect-to ::{second} -L\n")).concat()),
        ("a.targets", urls.each_ref().map(|url| format!("GET {url}\n")).join("\n")),
        ("a.jsonl", urls.each_ref().map(|url| format!("{{\"method\": \"GET\", \"url\": \"{url}\"}}\n")).concat()),
        ("a.urls", urls.join("\n") + "\n"),
        (
            "own.yaml",
            format!(
                "target: https://{second}\nload: {{connect_to: '{second}'}}\nsetup: [{{get: 'http://{first}/healthz'}}]\nteardown: [{{get: 'http://{second}/healthz'}}]\n\
                 user_teardown: [{{get: 'http://{first}/healthz'}}]\nsteps: [{{get: '{}'}}, {{get: /pick}}, {{get: '{}'}}]\n",
                urls[0], urls[3]
            ),
        ),
    ]
}

#[test]
fn with_a_target_every_request_of_every_kind_of_file_goes_there_in_every_command() {
    let (first, second) = (Stranger::new(), Stranger::new());
    let files = files(&first.at.to_string(), &second.at.to_string());
    for (name, content) in &files {
        let target = server();
        let base = base(&target);
        let mut session = Session::new().file(name, content);
        let quick = "--cooldown 0s --force";
        for (line, sends) in [
            (format!("check {name} --target {base}"), false),
            (format!("try {name} --target {base}"), true),
            (format!("run --debug {name} --target {base} --also-target http://also.test"), true),
            (format!("run {name} --target {base} -n 8 -c 1 --follow 3 --force --out json=r.json"), true),
            ("run --from r.json".to_owned(), true),
            (format!("run {base} --scenario {name} -n 8 -c 1"), true),
            (format!("sweep {name} --target {base} --levels 1,2 -n 8 {quick}"), true),
            (format!("compare {name} {base} --target {base} --pairs 1 -n 8 {quick}"), true),
            (format!("compare {base} {base}/ --scenario {name} --pairs 1 -n 8 {quick}"), true),
        ] {
            let before = target.counts().path("/healthz") + target.counts().path("/pick");
            let ran = session.loadline(&line);
            assert!(matches!(ran.exit, 0 | 4), "{line}: {ran:?}");
            let sent = target.counts().path("/healthz") + target.counts().path("/pick") - before;
            assert_eq!(sent > 0, sends, "{line}: {ran:?}");
            if line.contains("json=r.json") && *name != "own.yaml" {
                let requests = &session.json("r.json")["requests"];
                assert_eq!((&requests["due"], &requests["succeeded"]), (&sent.into(), &sent.into()), "{line}: all of them went there");
            }
            first.was_left_alone(&line);
            second.was_left_alone(&line);
        }
        if *name != "own.yaml" {
            session.loadline(&format!("import {name} --target {base} --force -o made.yaml")).exits(0);
            let made = session.read("made.yaml");
            let steps = made.split_once("\nsteps:").unwrap().1;
            assert!(!steps.contains("://") && made.contains(&format!("target: {base}\n")), "{name}: {made}");
            session.loadline("run made.yaml -n 8 -c 1").exits(0);
        }
        if *name == "a.har" {
            let ran = session.loadline(&format!("replay a.har {base} --speed 20x"));
            assert!(matches!(ran.exit, 0 | 4), "{ran:?}");
        }
        first.was_left_alone(name);
        second.was_left_alone(name);
    }
}

#[test]
fn with_a_target_every_request_of_a_list_of_urls_goes_there_in_every_command() {
    let (first, second, named, target) = (Stranger::new(), Stranger::new(), server(), server());
    let base = base(&target);
    let list = format!(
        "80 http://{0}/healthz?a={{{{uuid}}}}\n10 POST https://{0}/pick\n5 /healthz\n5 {1}\n3 http://{2}/pick\n",
        first.at,
        named.url("/healthz"),
        second.at
    );
    let mut session = Session::new().file("urls.txt", &list);
    let asked = |of: &Testbed| of.counts().path("/healthz") + of.counts().path("/pick");
    for line in [
        &format!("try --urls urls.txt --target {base}"),
        &format!("run --urls urls.txt --target {base} -n 200 -c 1 --strict --force --out json=r.json"),
        "run --from r.json",
        &format!("sweep --urls urls.txt --target {base} --levels 1,2 -n 20 --cooldown 0s --force"),
        &format!("find --urls urls.txt --target {base} --slo 'p90 < 2s' --rate-max 40/s --budget 30s --quick"),
    ] {
        let before = asked(&target);
        let ran = session.loadline(line);
        assert_ne!(ran.exit, 2, "{line}: {ran:?}");
        assert!(asked(&target) > before, "{line}: {ran:?}");
    }
    assert_eq!(asked(&named), 0, "nobody named it yet");
    // A saved plan goes where its list went, or where it is sent anew.
    let other = server();
    let before = asked(&target);
    session.loadline(&format!("run --from r.json --target {}", self::base(&other))).exits(0);
    assert_eq!((asked(&other), asked(&target)), (200, before));
    session.loadline(&format!("run --urls urls.txt --target {base} --also-target {} -n 200 -c 1 --no-save", self::base(&named))).exits(0);
    assert!(asked(&named) > 0);
    let sides = session.loadline(&format!("compare {base} {base}/ --urls urls.txt --target {base} --pairs 1 -n 8"));
    sides.exits(2).complains("here the sides say that");
    let variable = session.loadline(&format!("compare {base} {base}/ --urls urls.txt --variable a=1 --pairs 1 -n 8"));
    variable.exits(2).complains("are about a file of another tool, and none is given");
    first.was_left_alone("a list of URLs");
    second.was_left_alone("a list of URLs");
}

#[test]
fn a_search_sends_a_file_to_its_target_too() {
    let (first, second) = (Stranger::new(), Stranger::new());
    let target = server();
    let base = base(&target);
    let (name, content) = files(&first.at.to_string(), &second.at.to_string()).remove(0);
    let mut session = Session::new().file(name, &content);
    let ran = session.loadline(&format!("find {name} --target {base} --slo 'p90 < 2s' --rate-max 40/s --budget 30s --quick"));
    // What a busy machine lets a search find is not asked here.
    assert_ne!(ran.exit, 2, "{ran:?}");
    assert!(target.counts().path("/healthz") > 0, "{ran:?}");
    first.was_left_alone("find");
    second.was_left_alone("find");
}

#[test]
fn a_server_that_is_named_besides_is_asked_and_no_other() {
    let (target, login, stranger) = (server(), server(), Stranger::new());
    let yaml = format!(
        "target: http://{}\nsteps: [{{get: /healthz}}, {{get: '{}'}}, {{get: 'http://{}/pick'}}]\n",
        stranger.at,
        login.url("/healthz"),
        stranger.at
    );
    let mut session = Session::new().file("s.yaml", &yaml);
    let line = format!("run s.yaml --target {} --also-target {} -n 6 -c 1 --out json=r.json", base(&target), base(&login));
    let ran = session.loadline(&line).exits(0);
    ran.complains(&format!("'s.yaml': requests for http://{} (2) go to {}", stranger.at, base(&target)))
        .complains(&format!("and those for {} (1) go there", base(&login)));
    assert_eq!((target.counts().path("/healthz"), target.counts().path("/pick"), login.counts().path("/healthz")), (2, 2, 2));
    // Again, and then elsewhere: what was allowed beside one target is not allowed beside another.
    session.loadline("run --from r.json -q").exits(0);
    assert_eq!(login.counts().path("/healthz"), 4);
    session.loadline(&format!("run --from r.json --target {} -q", base(&target))).exits(0);
    assert_eq!((login.counts().path("/healthz"), target.counts().path("/healthz")), (4, 4 + 4));
    stranger.was_left_alone("--also-target");
    for (also, part) in [("ftp://login.test", "has the scheme 'ftp'"), ("https://a.test/x", "is more than a server")] {
        session.loadline(&format!("run s.yaml --also-target {also}")).exits(2).complains(part);
    }
}

#[test]
fn the_servers_of_a_file_are_told_and_several_are_a_warning() {
    let (target, other) = (server(), server());
    let list = format!("GET {}\n\nGET {}\n\nGET {}\n", target.url("/healthz"), other.url("/pick"), target.url("/pick"));
    let mut session = Session::new()
        .file("list.txt", &list)
        .file("own.yaml", &format!("target: {}\nsteps: [{{get: /healthz}}, {{get: '{}'}}]\n", base(&target), other.url("/pick")));
    let said = format!("'list.txt': requests go to {} (2) and {} (1)", base(&target), base(&other));
    for line in ["run list.txt -n 6 -c 1 --force", "check list.txt", "sweep list.txt --levels 1 -n 6 --force", "import list.txt"] {
        session
            .loadline(line)
            .exits(0)
            .complains(&format!("warning: {said}"))
            .complains("give --target URL to send all of them to one server");
        let before = (target.counts().path("/healthz"), other.counts().path("/pick"));
        let ran = session.loadline(&format!("{line} --strict")).exits(4);
        assert!(line.starts_with("import") || ran.stderr.contains("--strict allows one server, not 2"), "{ran:?}");
        assert_eq!((target.counts().path("/healthz"), other.counts().path("/pick")), before, "{line}");
    }
    // So is what the user wrote, unless the user named the other one besides, there or here.
    let said = format!("'own.yaml': requests go to {} (1) and {} (1)", base(&target), base(&other));
    for line in ["run own.yaml -n 6 -c 1 --force", "check own.yaml", "try own.yaml", "sweep own.yaml --levels 1 -n 6 --force"] {
        session.loadline(line).exits(0).complains(&format!("warning: {said}"));
        let before = (target.counts().path("/healthz"), other.counts().path("/pick"));
        session.loadline(&format!("{line} --strict")).exits(4).complains("--strict allows one server, not 2");
        assert_eq!((target.counts().path("/healthz"), other.counts().path("/pick")), before, "{line}");
    }
    for line in [
        "find own.yaml --slo 'p90 < 2s' --quick --budget 30s".to_owned(),
        format!("compare own.yaml {} --pairs 1 -n 4 --cooldown 0s --force", base(&target)),
        "compare own.yaml list.txt --pairs 1 -n 4 --cooldown 0s --force".to_owned(),
    ] {
        let before = (target.counts().received, other.counts().received);
        session.loadline(&format!("{line} --strict")).exits(4).complains("--strict allows one server, not 2");
        assert_eq!((target.counts().received, other.counts().received), before, "{line}");
    }
    let named = format!("load: {{also_target: '{}'}}\n{}", base(&other), session.read("own.yaml"));
    session = session.file("named.yaml", &named);
    for line in [format!("run own.yaml -n 6 -c 1 --also-target {}", base(&other)), "run named.yaml -n 6 -c 1".to_owned()] {
        let ran = session.loadline(&format!("{line} --strict")).exits(0);
        assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
        ran.complains(&format!(".yaml': requests go to {} (1) and {} (1)", base(&target), base(&other)));
    }
}

#[test]
fn the_server_of_a_file_with_one_request_is_told_before_the_start() {
    let target = server();
    let url = target.url("/healthz");
    let mut session = Session::new().file("one.sh", &format!("curl '{url}'\n"));
    let said = format!("'one.sh': requests go to {} (1)", base(&target));
    for line in ["run one.sh -n 3 -c 1", "sweep one.sh --levels 1 -n 6 --force", "try one.sh", "run --debug one.sh"] {
        session.loadline(line).exits(0).complains(&said);
    }
}

#[test]
fn what_a_saved_scenario_led_to_is_not_asked_when_it_is_sent_to_another_target() {
    let (old, target) = (server(), server());
    let at = base(&old).trim_start_matches("http://").to_owned();
    let yaml = format!("target: http://old.test\nload: {{connect_to: '{at}'}}\nsteps: [{{get: /healthz}}]\n");
    let mut session = Session::new().file("s.yaml", &yaml);
    session.loadline("run s.yaml -n 4 -c 1 --out json=r.json").exits(0);
    assert_eq!(old.counts().path("/healthz"), 4);
    let line = format!("run --from r.json --target {}", base(&target));
    session.loadline(&line).exits(0).complains(&format!("the address '{at}': requests go to the target alone"));
    assert_eq!((old.counts().path("/healthz"), target.counts().path("/healthz")), (4, 4));
    session.loadline(&format!("{line} --strict")).exits(4);
    // What is typed holds.
    session.loadline(&format!("{line} --connect-to {at} -q")).exits(0);
    assert_eq!((old.counts().path("/healthz"), target.counts().path("/healthz")), (8, 4));
    session.loadline(&format!("compare r.json {} --pairs 1 -n 4 --cooldown 0s --force --target {}", base(&target), base(&target)));
    assert_eq!(old.counts().path("/healthz"), 8, "compare");
    assert!(target.counts().path("/healthz") >= 12);
}

#[test]
fn a_curl_command_goes_to_the_target_that_is_named_beside_it() {
    let (target, stranger) = (server(), Stranger::new());
    let curl = format!("-- curl http://{0}/healthz --connect-to ::{0} -x http://{0} -L", stranger.at);
    for line in ["run -n 3 -c 1", "sweep --levels 1 -n 6 --force", "try"] {
        let before = target.counts().path("/healthz");
        Session::new().loadline(&format!("{line} --target {} {curl}", base(&target))).exits(0);
        stranger.was_left_alone(line);
        assert!(target.counts().path("/healthz") > before, "{line}");
    }
}

#[test]
fn a_redirect_to_another_server_is_followed_if_that_is_named() {
    let target = server();
    let (leading, _) = counting("127.0.0.1", Some(target.url("/healthz")));
    let yaml = format!("target: http://{leading}\nsteps: [{{get: /a, redirects: 2}}]\n");
    let mut session = Session::new().file("s.yaml", &yaml).file("own.yaml", &format!("load: {{also_target: '{}'}}\n{yaml}", base(&target)));
    // A journey ends at a step that failed so, and none was finished.
    for (line, exit) in [(format!("run http://{leading}/a --follow 2"), 0), ("run s.yaml".to_owned(), 3)] {
        let ran = session.loadline(&format!("{line} -n 3 -c 1 --out json=r.json --force")).exits(exit);
        let words = prose(&ran.stdout);
        assert!(words.contains(&format!("--also-target {} allows {}", base(&target), target.url("/healthz"))), "{line}: {words}");
        let failure = &session.json("r.json")["failures"][0];
        assert_eq!((&failure["class"], &failure["count"]), (&"redirect.outside".into(), &3.into()), "{line}");
        assert_eq!(session.json("r.json")["redirects"], 0, "{line}");
    }
    assert_eq!(target.counts().path("/healthz"), 0);
    for line in [
        format!("run http://{leading}/a --follow 2 --also-target {}", base(&target)),
        format!("run s.yaml --also-target {}", base(&target)),
        "run own.yaml".to_owned(),
        format!("run http://{leading}/a --follow 2 --also-target any"),
    ] {
        let before = target.counts().path("/healthz");
        session.loadline(&format!("{line} -n 3 -c 1 -q")).exits(0);
        assert_eq!(target.counts().path("/healthz") - before, 3, "{line}");
    }
}

#[test]
fn no_answer_and_no_proxy_leads_to_a_server_that_was_not_named() {
    // What is taken out of an answer is a part of a path, whatever it says.
    let stranger = Stranger::new();
    let target = server();
    let yaml = format!(
        "target: {}\nvariables: {{there: 'http://{}/x', host: '@{}'}}\nsteps: [{{get: '/{{{{there}}}}'}}, {{get: '/a{{{{host}}}}'}}, {{get: '/healthz'}}]\n",
        base(&target),
        stranger.at,
        stranger.at
    );
    let mut session = Session::new().file("s.yaml", &yaml);
    session.loadline("run s.yaml -n 3 -c 1").exits(0);
    session.loadline(&format!("run s.yaml -n 3 -c 1 --proxy {} --no-preflight", base(&target))).exits(0);
    assert!(target.counts().path("/healthz") > 0);
    stranger.was_left_alone("a template");
    // Redirects by way of a proxy are the proxy's to carry out, so it must not be asked to.
    let (proxy, asked) = counting("127.0.0.1", Some(format!("http://{}/x", stranger.at)));
    let ran = session.loadline(&format!("run http://api.test/ --follow 2 --proxy http://{proxy} --no-preflight -n 2 -c 1")).exits(0);
    assert!(ran.stdout.contains("redirect to a server that was not named"), "{}", ran.stdout);
    assert_eq!(asked.load(Ordering::SeqCst), 2, "the proxy is asked for the target alone");
    stranger.was_left_alone("a proxy");
}

#[test]
fn the_servers_of_a_list_of_urls_are_told_before_the_start() {
    let (one, other) = (server(), server());
    let list = format!("{}\n{}\n{}\n", one.url("/healthz"), one.url("/pick"), other.url("/healthz"));
    let mut session = Session::new().file("urls.txt", &list).file("one.txt", &format!("{}\n", one.url("/healthz")));
    let said = format!("'urls.txt': requests go to {} (2) and {} (1)", base(&one), base(&other));
    session.loadline("run --urls urls.txt -n 6 -c 1 --no-save").complains(&said);
    session.loadline("sweep --urls urls.txt --levels 1 -n 6 --no-save").complains(&said);
    session.loadline("run --urls urls.txt -n 6 -c 1 --no-save").complains(&format!("warning: {said}"));
    session.loadline("run --urls urls.txt -n 6 -c 1 --no-save --strict").exits(4);
    let named = session.loadline(&format!("run --urls urls.txt -n 6 -c 1 --no-save --strict --also-target {}", base(&other))).exits(0);
    assert!(!named.stderr.contains("warning"), "{}", named.stderr);
    let target = format!("--target {}", base(&one));
    session
        .loadline(&format!("run {} --urls urls.txt {target}", base(&other)))
        .exits(2)
        .complains("both say where the requests of the list go");
    let quiet = session.loadline("run --urls one.txt -n 6 -c 1 --no-save");
    assert!(!quiet.stderr.contains("requests go to"), "{}", quiet.stderr);
}

#[test]
fn a_row_of_data_that_is_a_url_stays_a_part_of_the_path() {
    let (target, stranger) = (server(), Stranger::new());
    let rows = format!("url,host\nhttp://{0}/x,@{0}\n//{0}/y,.{0}\n", stranger.at);
    let yaml = format!(
        "target: {}\ndata: [rows.csv]\nsteps: [{{get: '/{{{{rows.url}}}}'}}, {{get: '/a{{{{rows.host}}}}'}}, {{get: /healthz}}]\n",
        base(&target)
    );
    let mut session =
        Session::new().file("rows.csv", &rows).file("s.yaml", &yaml).file("list.txt", "/{{rows.url}}\n/healthz{{rows.host}}\n");
    for line in [
        "run s.yaml -n 4 -c 1".to_owned(),
        format!("run s.yaml -n 4 -c 1 --target {}", base(&target)),
        "try s.yaml".to_owned(),
        "sweep s.yaml --levels 1 -n 4 --force".to_owned(),
        format!("run {}/{{{{rows.url}}}} --data-file rows.csv -n 4 -c 1", base(&target)),
        format!("run {}/a{{{{rows.host}}}} --data-file rows.csv -n 4 -c 1", base(&target)),
        format!("run {} --urls list.txt --data-file rows.csv -n 4 -c 1", base(&target)),
    ] {
        let before = target.counts().received;
        let ran = session.loadline(&line);
        assert!(target.counts().received > before, "{line}: {ran:?}");
        stranger.was_left_alone(&line);
    }
    // A server that a row would choose is refused before anything is sent.
    for line in [
        "run {{rows.url}} --data-file rows.csv -n 4 -c 1".to_owned(),
        format!("run {}{{{{rows.host}}}} --data-file rows.csv -n 4 -c 1", base(&target)),
    ] {
        let ran = session.loadline(&line);
        assert_eq!(ran.exit, 2, "{line}: {ran:?}");
        stranger.was_left_alone(&line);
    }
}

#[test]
fn what_a_log_says_of_servers_is_not_where_it_is_sent() {
    let (target, stranger) = (server(), Stranger::new());
    let mut log: Vec<u8> = Vec::new();
    let whole = format!("http://{}/healthz", stranger.at);
    for second in 0..40 {
        let path = ["/healthz", "//healthz", &whole, "/pick?next=http://a.test/"][second % 4];
        let line = format!(
            "192.0.2.{} - - [01/Jan/2026:10:00:{second:02} +0000] \"GET {path} HTTP/1.1\" 200 2 \"http://{}/from\" \"agent\"\n",
            second % 7,
            stranger.at
        );
        log.extend(line.as_bytes());
    }
    let log = String::from_utf8(log).unwrap();
    let mut session = Session::new().file("access.log", &log);
    session.loadline("traffic access.log --to shop.yaml").exits(0);
    session.loadline("traffic access.log --out urls=urls.txt").exits(0);
    for line in [
        format!("run shop.yaml --target {} -r 20/s -d 1s", base(&target)),
        format!("run {} --urls urls.txt -n 10 -c 1", base(&target)),
        format!("replay access.log {} --speed 50x", base(&target)),
    ] {
        let before = target.counts().received;
        let ran = session.loadline(&line);
        assert!(matches!(ran.exit, 0 | 4), "{line}: {ran:?}");
        assert!(target.counts().received > before, "{line}: {ran:?}");
        stranger.was_left_alone(&line);
    }
}

#[test]
fn a_redirect_leads_no_command_to_a_server_that_was_not_named() {
    let stranger = Stranger::new();
    let (leading, asked) = counting("127.0.0.1", Some(format!("http://{}/x", stranger.at)));
    let yaml = format!("target: http://{leading}\nsteps: [{{get: /a, redirects: 2}}]\n");
    let curl = format!("curl -L 'http://{leading}/a'\n");
    let hits = format!("http://{leading}/a\n");
    let mut session = Session::new()
        .file("s.yaml", &yaml)
        .file("a.sh", &curl)
        .file("hits.txt", &hits)
        .file("targets.txt", &format!("GET http://{leading}/a\n"));
    for line in [
        format!("run http://{leading}/a --follow 2 -n 4 -c 1"),
        "run a.sh -n 4 -c 1".to_owned(),
        "run s.yaml -n 4 -c 1".to_owned(),
        "try s.yaml".to_owned(),
        format!("try http://{leading}/a --follow 2"),
        format!("sweep http://{leading}/a --follow 2 --levels 1 -n 4 --force"),
        format!("compare http://{leading}/a http://{leading}/b --follow 2 --pairs 1 -n 4 --cooldown 0s --force"),
        format!("find http://{leading}/a --follow 2 --slo 'p90 < 2s' --rate-max 20/s --budget 30s --quick --force"),
        format!("replay hits.log http://{leading} --follow 2"),
        format!("hey -n 4 -c 1 http://{leading}/a"),
        "siege -b -r 2 -c 1 -f hits.txt".to_owned(),
        "vegeta attack -duration 1s -rate 4 -targets targets.txt -output out.bin".to_owned(),
    ] {
        let before = asked.load(Ordering::SeqCst);
        let ran = session.loadline(&line);
        stranger.was_left_alone(&line);
        let refused = ran.exit == 2 && line.starts_with("replay");
        assert!(refused || asked.load(Ordering::SeqCst) > before, "{line}: {ran:?}");
    }
}

#[test]
fn a_server_that_is_named_besides_is_taken_by_every_command() {
    let (target, login, stranger) = (server(), server(), Stranger::new());
    let yaml = format!(
        "target: {}\nsteps: [{{get: /healthz}}, {{get: '{}'}}, {{get: 'http://{}/pick'}}]\n",
        base(&target),
        login.url("/healthz"),
        stranger.at
    );
    let mut session = Session::new().file("s.yaml", &yaml);
    let named = format!("s.yaml --target {} --also-target {}", base(&target), base(&login));
    for line in [
        format!("try {named}"),
        format!("sweep {named} --levels 1 -n 6 --force"),
        format!("compare {named} {} --pairs 1 -n 6 -c 1 --cooldown 0s --force", base(&target)),
        format!("find {named} --slo 'p90 < 2s' --rate-max 20/s --budget 30s --quick --force"),
    ] {
        let before = [&target, &login].map(|server| server.counts().path("/healthz"));
        let ran = session.loadline(&line);
        for (server, before) in [&target, &login].into_iter().zip(before) {
            assert!(server.counts().path("/healthz") > before, "{line}: {ran:?}");
        }
        stranger.was_left_alone(&line);
    }
    session.loadline(&format!("check {named}")).exits(0).complains(&format!(
        "and those for {} (1) and {} (1) go there",
        base(&target),
        base(&login)
    ));
}

#[test]
fn a_proxy_is_asked_for_the_target_alone_whatever_a_file_says() {
    let (first, second) = (Stranger::new(), Stranger::new());
    let files = files(&first.at.to_string(), &second.at.to_string());
    for (name, content) in &files {
        let mut session = Session::new().file(name, content);
        let proxy = Recorder::start(Duration::ZERO, 200);
        let ran = session.loadline(&format!("run {name} --target http://api.test --proxy {} -n 8 -c 1 --no-preflight --force", proxy.url));
        let asked = proxy.requests();
        assert!(!asked.is_empty(), "{name}: {ran:?}");
        assert!(asked.iter().all(|request| request.starts_with("GET http://api.test/")), "{name}: {asked:?}");
        first.was_left_alone(name);
        second.was_left_alone(name);
    }
}
