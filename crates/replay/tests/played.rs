//! A log in, requests and their times out: what would be sent, without sending it.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroU32;

use plan::{Draft, Nanos, Plan, Share, Spacing};
use proptest::prelude::*;
use replay::{Clients, LeftOut, Log, LogFacts, Options, Ready, Writes, look};
use tempfile::TempDir;

/// Logs in a directory of their own.
struct Logs {
    dir: TempDir,
    names: Vec<String>,
}

impl Logs {
    fn of(texts: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let names = (0..texts.len()).map(|at| dir.path().join(format!("{at}.log")).to_str().unwrap().to_owned()).collect::<Vec<_>>();
        for (name, text) in names.iter().zip(texts) {
            fs::write(name, text).unwrap();
        }
        Self { dir, names }
    }

    fn found(&self, options: &Options) -> LogFacts {
        let logs = self.names.iter().map(|name| Log::open(name).unwrap()).collect();
        look(logs, options.clone()).unwrap()
    }

    /// Due in nanoseconds and request line of each, over so many shares, in the order of their dues.
    fn played(&self, options: &Options, shares: u32) -> Vec<(u64, String)> {
        assert!(self.dir.path().exists());
        let mut all = Vec::new();
        for share in Share::all(NonZeroU32::new(shares).unwrap()) {
            let ready = Ready::new(&plan(), self.found(options)).unwrap();
            let part = ready.preview(share, usize::MAX);
            assert!(part.is_sorted_by_key(|(due, _)| *due), "dues of a share go back");
            all.extend(part.into_iter().map(|(due, bytes)| (due.0, String::from_utf8(bytes).unwrap().lines().next().unwrap().to_owned())));
        }
        all.sort();
        all
    }
}

fn plan() -> Plan {
    Plan::try_from(Draft { url: Some("http://a.test/".to_owned()), ..Draft::default() }).unwrap()
}

/// A line of nginx's combined.
fn combined(second: u32, request: &str) -> String {
    format!(
        "192.0.2.{} - - [01/Mar/2016:00:{:02}:{:02} +0100] \"{request} HTTP/1.1\" 200 612 \"-\" \"curl\"\n",
        second % 7,
        second / 60,
        second % 60
    )
}

/// A JSON line with the time of the end, and how long it took.
fn timed(end_ms: u64, took_ms: u64, path: &str, client: &str) -> String {
    format!(
        "{{\"time\":\"{}.{:03}\",\"method\":\"GET\",\"path\":\"{path}\",\"status\":200,\"duration_ms\":{took_ms},\"ip\":\"{client}\"}}\n",
        1_700_000_000 + end_ms / 1000,
        end_ms % 1000
    )
}

fn lines(played: &[(u64, String)]) -> Vec<&str> {
    played.iter().map(|(_, line)| line.as_str()).collect()
}

#[test]
fn requests_are_sent_at_their_beginnings_in_their_order() {
    // The slow one ends last and began first.
    let text = timed(1_000, 10, "/b", "a") + &timed(1_500, 1_200, "/a", "a") + &timed(2_000, 0, "/c", "a");
    let logs = Logs::of(&[&text]);
    let played = logs.played(&Options::default(), 1);
    assert_eq!(
        played,
        [(0, "GET /a HTTP/1.1".to_owned()), (690_000_000, "GET /b HTTP/1.1".to_owned()), (1_700_000_000, "GET /c HTTP/1.1".to_owned())]
    );
    let found = logs.found(&Options::default());
    assert_eq!((found.sent, found.backwards, found.length()), (3, 1, Nanos::from_millis(1_701)));
    let fast = Options { speed: "2x".parse().unwrap(), ..Options::default() };
    assert_eq!(logs.played(&fast, 1).iter().map(|it| it.0).collect::<Vec<_>>(), [0, 345_000_000, 850_000_000]);
    assert_eq!(logs.found(&fast).length(), Nanos::from_millis(851));
}

#[test]
fn lines_of_a_second_are_spread_over_it_in_their_order() {
    let text = combined(0, "GET /1") + &combined(0, "GET /2") + &combined(1, "GET /3") + &combined(3, "GET /4");
    let logs = Logs::of(&[&text]);
    let even = Options { spacing: Spacing::Even, ..Options::default() };
    let dues: Vec<u64> = logs.played(&even, 1).iter().map(|it| it.0 / 1_000_000).collect();
    assert_eq!(dues, [250, 750, 1_500, 3_500]);
    assert!(logs.found(&even).files[0].whole_seconds);
    let random = logs.played(&Options::default(), 1);
    assert_eq!(lines(&random), ["GET /1 HTTP/1.1", "GET /2 HTTP/1.1", "GET /3 HTTP/1.1", "GET /4 HTTP/1.1"]);
    assert!(random.iter().map(|it| it.0 / 1_000_000_000).eq([0, 0, 1, 3]), "{random:?}");
}

#[test]
fn what_is_left_out_is_counted_by_its_reason() {
    let text = combined(0, "GET /a")
        + &combined(1, "POST /a")
        + &combined(2, "DELETE /a/1")
        + &combined(3, "GET /style.css")
        + &combined(4, "OPTIONS *")
        + &combined(300, "GET /late")
        + &combined(10, "GET /too/late")
        + "nonsense\n";
    let logs = Logs::of(&[&text]);
    let options = Options { except: vec!["*.css".parse().unwrap()], ..Options::default() };
    let found = logs.found(&options);
    assert_eq!(found.sent, 2);
    let expected = BTreeMap::from([(LeftOut::Pattern, 1), (LeftOut::Write, 2), (LeftOut::NoPath, 1), (LeftOut::Late, 1)]);
    assert_eq!(found.left_out, expected);
    assert_eq!(found.writes, BTreeMap::from([("DELETE".to_owned(), 1), ("POST".to_owned(), 1)]));
    assert_eq!((found.unread_lines(), found.lines()), (1, 8));
    assert_eq!(logs.played(&options, 1).len(), 2);
    let all = Options { writes: Writes::Sent, ..options };
    assert_eq!((logs.found(&all).sent, logs.found(&all).bodiless), (4, 2));
    let window = Options { from: Some("+2s".parse().unwrap()), to: Some("00:00:04".parse().unwrap()), ..all };
    assert_eq!(lines(&logs.played(&window, 1)), ["DELETE /a/1 HTTP/1.1"]);
}

#[test]
fn a_moment_is_found_though_the_first_lines_are_later() {
    // Servers write lines when requests end: the first of the day's lines is not the first of its requests.
    let line = |day: u32, second: u32| {
        format!("192.0.2.1 - - [{day:02}/Mar/2016:00:10:{second:02} +0000] \"GET /{day}/{second} HTTP/1.1\" 200 612 \"-\" \"curl/8\"\n")
    };
    let text = [line(1, 3), line(1, 0), line(1, 30), line(2, 5), line(2, 40)].concat();
    let logs = Logs::of(&[&text]);
    let minute = Options { from: Some("00:10".parse().unwrap()), to: Some("00:11".parse().unwrap()), ..Options::default() };
    assert_eq!(logs.found(&minute).sent, 3);
    let from_its_beginning = Options { from: Some("+0s".parse().unwrap()), to: Some("+60s".parse().unwrap()), ..Options::default() };
    assert_eq!(logs.found(&from_its_beginning).sent, 3);
}

#[test]
fn paths_are_rewritten_rule_by_rule() {
    let text = combined(0, "GET /v1/users?x=1") + &combined(1, "GET /other");
    let rewrites = ["/v1/* => /v2/*", "/v2/users => /v2/people", "/* => /shop/*"].map(|rule| rule.parse().unwrap()).to_vec();
    let options = Options { rewrites, ..Options::default() };
    assert_eq!(lines(&Logs::of(&[&text]).played(&options, 1)), ["GET /shop/v2/people?x=1 HTTP/1.1", "GET /shop/other HTTP/1.1"]);
}

#[test]
fn logs_of_several_servers_and_of_several_days_are_put_together_by_time() {
    let (a, b) = (timed(1, 0, "/0", "a") + &timed(2_001, 0, "/2", "a"), timed(1_001, 0, "/1", "a") + &timed(3_001, 0, "/3", "a"));
    let rotated = timed(9_001, 0, "/9", "a");
    let logs = Logs::of(&[&rotated, &b, &a]);
    let played = logs.played(&Options::default(), 1);
    assert_eq!(lines(&played), ["/0", "/1", "/2", "/3", "/9"].map(|path| format!("GET {path} HTTP/1.1")));
    assert_eq!(played[4].0, 9_000_000_000);
}

#[test]
fn a_log_that_was_captured_is_sent_with_headers_and_bodies() {
    let record =
        |at_ms: u64, text: &str| format!("1 932079936fa4306fc308d675 {}\n{text}\n🐵🙈🙉\n", 1_439_818_823_000_000_000 + at_ms * 1_000_000);
    let text = record(0, "GET /a HTTP/1.1\r\nHost: x\r\nCookie: c=1\r\n\r\n")
        + &record(5, "POST /n HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nn=7");
    let logs = Logs::of(&[&text]);
    let options = Options { writes: Writes::Sent, ..Options::default() };
    let found = logs.found(&options);
    assert_eq!((found.files[0].form.as_deref(), found.sent, found.bodiless), (Some("gor"), 2, 0));
    let requests = Ready::new(&plan(), found).unwrap().preview(Share::WHOLE, 9);
    assert_eq!((requests[0].0, requests[1].0), (Nanos::ZERO, Nanos::from_millis(5)));
    let (first, second) = (String::from_utf8_lossy(&requests[0].1), String::from_utf8_lossy(&requests[1].1));
    assert!(first.contains("Host: a.test\r\n") && first.contains("Cookie: c=1\r\n"), "{first}");
    assert!(second.ends_with("Content-Length: 3\r\n\r\nn=7"), "{second}");
}

#[test]
fn a_recording_is_sent_with_headers_and_bodies() {
    let text = r#"{"log":{"creator":{"name":"b"},"entries":[
        {"startedDateTime":"2024-01-01T00:00:00.005Z","time":2,"request":{"method":"GET","url":"https://shop.example/a?x=1",
          "headers":[{"name":":authority","value":"shop.example"},{"name":"host","value":"shop.example"},{"name":"user-agent","value":"Firefox"},
          {"name":"cookie","value":"s=1"},{"name":"connection","value":"keep-alive"}]},"response":{"status":200}},
        {"startedDateTime":"2024-01-01T00:00:00.105Z","time":2,"request":{"method":"POST","url":"https://shop.example/n",
          "headers":[{"name":"Content-Length","value":"9"},{"name":"Content-Type","value":"application/json"}],
          "postData":{"mimeType":"application/json","text":"{\"n\":\"ä\"}"}},"response":{"status":201}}]}}"#;
    let logs = Logs::of(&[text]);
    assert_eq!(logs.found(&Options::default()).sent, 1, "what writes is left out unless it is asked for");
    let options = Options { writes: Writes::Sent, ..Options::default() };
    let found = logs.found(&options);
    assert_eq!((found.files[0].form.as_deref(), found.sent, found.bodiless), (Some("har"), 2, 0));
    let requests = Ready::new(&plan(), found).unwrap().preview(Share::WHOLE, 9);
    let (first, second) = (String::from_utf8_lossy(&requests[0].1), String::from_utf8_lossy(&requests[1].1));
    assert!(first.starts_with("GET /a?x=1 HTTP/1.1\r\nHost: a.test\r\n") && first.ends_with("cookie: s=1\r\n\r\n"), "{first}");
    assert!(first.contains("user-agent: Firefox\r\n") && !first.contains("shop.example") && !first.contains("keep-alive"), "{first}");
    assert!(second.ends_with("Content-Type: application/json\r\nContent-Length: 10\r\n\r\n{\"n\":\"ä\"}"), "{second}");
}

#[test]
fn who_asked_is_sent_where_the_log_says_it() {
    let text = "192.0.2.1 - - [01/Mar/2016:00:00:01 +0100] \"GET / HTTP/1.1\" 200 612 \"https://a.test/from\" \"Firefox\"\n";
    let logs = Logs::of(&[text]);
    let requests = Ready::new(&plan(), logs.found(&Options::default())).unwrap().preview(Share::WHOLE, 9);
    let sent = String::from_utf8_lossy(&requests[0].1);
    assert!(sent.ends_with("User-Agent: Firefox\r\nReferer: https://a.test/from\r\n\r\n") && !sent.contains("loadline"), "{sent}");
}

#[test]
fn a_clients_requests_are_all_of_one_share() {
    let text: String = (0..400).map(|at| timed(at, 0, &format!("/{}", at % 20), &format!("192.0.2.{}", at % 20))).collect();
    let logs = Logs::of(&[&text]);
    let options = Options { clients: Clients::InOrder, ..Options::default() };
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let mut requests = 0;
    for share in Share::all(NonZeroU32::new(3).unwrap()) {
        for (_, bytes) in Ready::new(&plan(), logs.found(&options)).unwrap().preview(share, usize::MAX) {
            let line = String::from_utf8(bytes).unwrap().lines().next().unwrap().to_owned();
            assert_eq!(*seen.entry(line).or_insert(share.index()), share.index());
            requests += 1;
        }
    }
    assert_eq!((requests, seen.len()), (400, 20));
    assert!(seen.values().any(|share| *share != seen["GET /0 HTTP/1.1"]), "one share has all clients");
}

/// Clients that wait for their answers, and answers that are not those of the log.
#[test]
fn a_replay_is_the_same_however_it_is_split() {
    let text: String = (0..2_000u64).map(|at| timed(at * 3, 1, &format!("/{at}"), &format!("c{}", at % 97))).collect();
    let logs = Logs::of(&[&text]);
    for clients in [Clients::Free, Clients::InOrder] {
        let found = || logs.found(&Options { clients, ..Options::default() });
        let draft =
            Draft { url: Some("http://a.test/".to_owned()), threads: "4".parse().ok(), timeout: "300ms".parse().ok(), ..Draft::default() };
        let plan = Plan::try_from(Draft { rate: "300/s".parse().ok(), duration: "7s".parse().ok(), ..draft }).unwrap();
        let whole = engine::split::same_however_split(&plan, &|runner, parts| {
            let shares = parts.into_iter().map(|part| part.share);
            Ready::new(&plan, found()).unwrap().start(runner.prepare(&plan).unwrap(), shares, &engine::Stop::new()).unwrap()
        });
        let compared: u64 = whole.left.replay.compared.values().sum();
        assert_eq!((whole.left.replay.taken, compared), (2_000, 2_000));
        assert!(whole.summary.requests.failed > 50, "{:?}", whole.summary.requests);
    }
}

#[test]
fn a_log_that_is_gone_when_it_is_sent_is_told_once_and_the_others_are_sent() {
    let logs = Logs::of(&[&(timed(1, 0, "/a", "a") + &timed(900, 0, "/b", "b")), &timed(500, 0, "/c", "c")]);
    let found = logs.found(&Options::default());
    fs::remove_file(&logs.names[1]).unwrap();
    let draft = Draft { url: Some("http://a.test/".to_owned()), threads: "4".parse().ok(), ..Draft::default() };
    let plan = Plan::try_from(Draft { rate: "3/s".parse().ok(), duration: "1s".parse().ok(), ..draft }).unwrap();
    let runner = engine::Runner::simulated(&engine::simulation::Simulation::stateless());
    let ready = Ready::new(&plan, found).unwrap();
    let run = ready.run(runner.prepare(&plan).unwrap(), &mut |_, _| (), &engine::Stop::new()).unwrap().close();
    let told: Vec<&String> = run.warnings.iter().filter(|warning| warning.contains("log")).collect();
    assert!(told.len() == 1 && told[0].contains("1.log' cannot be read any more"), "{:?}", run.warnings);
    assert_eq!(run.requests.due, 2);
}

/// A block of the feed holds some thousand requests: this takes several.
#[test]
fn no_request_is_lost_between_blocks() {
    let text: String = (0..20_000u64).map(|at| timed(at, at % 50, &format!("/{at}"), "a")).collect();
    let logs = Logs::of(&[&text]);
    let played = logs.played(&Options::default(), 1);
    assert_eq!(played.len(), 20_000);
    let mut seen: Vec<&str> = lines(&played);
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 20_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_request_is_sent_at_its_own_time_whatever_the_shares_and_the_order_of_lines(
        requests in prop::collection::vec((0u64..20_000, 0u64..5_000), 1..80), shares in 1u32..5, slower in any::<bool>(),
    ) {
        // An odd number of milliseconds is no whole second.
        let mut requests: Vec<(u64, u64)> = requests.into_iter().map(|(start, took)| (2 * start + 1, 2 * took)).collect();
        requests.sort_by_key(|(start, took)| start + took);
        let text: String = requests.iter().enumerate().map(|(at, (start, took))| timed(10_000 + start + took, *took, &format!("/{at}"), "a")).collect();
        let factor = if slower { 0.5 } else { 4.0 };
        let options = Options { speed: format!("{factor}x").parse().unwrap(), ..Options::default() };
        let first = requests.iter().map(|it| it.0).min().unwrap();
        let mut expected: Vec<(u64, String)> = requests.iter().enumerate()
            .map(|(at, (start, _))| ((((start - first) * 1_000_000) as f64 / factor).round() as u64, format!("GET /{at} HTTP/1.1"))).collect();
        expected.sort();
        let logs = Logs::of(&[&text]);
        prop_assert_eq!(logs.played(&options, shares), expected.clone());
        let end = expected.last().unwrap().0;
        let length = logs.found(&options).length().0;
        prop_assert!(length > end && length <= end + 1_000_000, "{} {}", length, end);
    }

    #[test]
    fn whole_seconds_stay_seconds_and_every_share_agrees(seconds in prop::collection::vec(0u32..100, 1..80), shares in 1u32..5) {
        let mut seconds = seconds;
        seconds.sort_unstable();
        let text: String = seconds.iter().enumerate().map(|(at, second)| combined(*second, &format!("GET /{at}"))).collect();
        let logs = Logs::of(&[&text]);
        let whole = logs.played(&Options::default(), 1);
        prop_assert_eq!(&whole, &logs.played(&Options::default(), shares));
        let order: Vec<String> = (0..seconds.len()).map(|at| format!("GET /{at} HTTP/1.1")).collect();
        prop_assert_eq!(whole.iter().map(|it| it.1.clone()).collect::<Vec<_>>(), order);
        prop_assert!(whole.iter().zip(&seconds).all(|((due, _), second)| due / 1_000_000_000 == u64::from(second - seconds[0])));
        prop_assert!(whole.last().unwrap().0 < logs.found(&Options::default()).length().0);
    }
}
