//! Logs in every form, and logs that are none.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use import::{Compression, Entries, FormChoice, LINE_BYTES_MOST, LogEvent, Personal, Reason, Survey, SurveyPart, Traffic};
use proptest::prelude::*;

fn surveyed(asked: FormChoice, log: impl Read) -> Traffic {
    let mut survey = Survey::new(asked, Personal::LeftOut);
    survey.read("access.log", log).unwrap();
    let part = survey.part();
    let again = SurveyPart::read(&part.written()).unwrap().traffic();
    let traffic = part.traffic();
    assert_eq!(again, traffic, "a part that is written says the same");
    traffic
}

fn guessed(log: &str) -> Traffic {
    surveyed(FormChoice::default(), log.as_bytes())
}

fn routes(traffic: &Traffic) -> Vec<(String, u64)> {
    traffic.routes.iter().map(|it| (format!("{} {}", it.method, it.path), it.requests)).collect()
}

#[test]
fn lines_behind_a_prefix_are_of_their_clients() {
    let line = |client: u32, second: u32| {
        format!("192.0.2.{client} - - [01/Mar/2016:00:36:{second:02} +0100] \"GET /a HTTP/1.1\" 200 612 \"-\" \"curl/8\"")
    };
    for (prefix, form) in [
        ("Mar  1 00:36:41 web01 nginx[2869]: ", "combined behind syslog's prefix"),
        ("2016-03-01T00:36:41.000000+01:00 web01 nginx: ", "combined behind syslog's prefix"),
        ("2016-02-29T23:36:41.123456789Z stdout F ", "combined behind a container runtime's prefix"),
        ("shop.example ", "vhost"),
        ("", "combined"),
    ] {
        let log: String = (0..50).map(|at| format!("{prefix}{}\n", line(at % 5, at))).collect();
        let traffic = guessed(&log);
        assert_eq!(traffic.files[0].form.as_deref(), Some(form), "{prefix}");
        assert_eq!((traffic.requests, traffic.users.unwrap().users), (50, 5), "{prefix}");
    }
    let common: String =
        (0..5).map(|at| format!("shop.example 192.0.2.{at} - - [01/Mar/2016:00:36:41 +0100] \"GET /a HTTP/1.1\" 200 612\n")).collect();
    assert_eq!((guessed(&common).files[0].form.as_deref(), guessed(&common).users.unwrap().users), (Some("vhost-common"), 5));
    let json = r#"{"time":"2016-03-01T00:36:41Z","method":"GET","path":"/a","status":200,"remote_addr":"192.0.2.1"}"#;
    let traffic = guessed(&format!("2016-02-29T23:36:41.1Z stdout F {json}\n").repeat(3));
    assert_eq!((traffic.requests, traffic.files[0].form.as_deref()), (3, Some("json behind a container runtime's prefix")));
}

#[test]
fn what_is_of_one_client_is_said_to_be() {
    let log = "proxy - - [01/Mar/2016:00:36:41 +0100] \"GET /a HTTP/1.1\" 200 612\n".repeat(200);
    let traffic = guessed(&log);
    assert!(traffic.remarks.iter().any(|remark| remark.contains("all 200 requests are of one client")), "{:?}", traffic.remarks);
}

#[test]
fn only_what_is_wanted_is_counted() {
    let log: String =
        (0..10).map(|at| format!("192.0.2.1 - - [01/Mar/2016:00:36:4{at} +0100] \"GET /{} HTTP/1.1\" 200 612\n", at % 2)).collect();
    let mut survey = Survey::new(FormChoice::default(), Personal::LeftOut).of(|entry| entry.path == b"/1");
    survey.read("access.log", log.as_bytes()).unwrap();
    let traffic = survey.finish();
    assert_eq!((traffic.requests, traffic.unread_lines()), (5, 0));
    assert_eq!(traffic.remarks, ["5 requests are left out, as they are not wanted"]);
}

/// Every form in lines as its documentation has them, and what they say: the first second, its name, the route, status, bytes,
/// microseconds.
#[test]
fn every_form_is_guessed_and_says_the_same() {
    const AT: i64 = 1_456_789_000; // 2016-02-29 23:36:40 UTC
    for (form, line, took_ms) in [
        (
            "combined",
            r#"203.0.113.9 - - [01/Mar/2016:00:36:41 +0100] "GET /users/17?token=x HTTP/1.1" 200 612 "-" "curl/8 \"q\" \\""#,
            None,
        ),
        ("main", r#"203.0.113.9 - - [29/Feb/2016:23:36:41 +0000] "GET /users/17 HTTP/1.1" 200 612 "-" "curl/8" "-""#, None),
        ("common", r#"203.0.113.9 - bob [29/Feb/2016:23:36:41 +0000] "GET /users/17 HTTP/1.0" 200 612"#, None),
        ("combinedio", r#"203.0.113.9 - - [29/Feb/2016:23:36:41 +0000] "GET /users/17 HTTP/1.1" 200 612 "-" "curl/8" 80 612"#, None),
        (
            "vhost-combined",
            r#"shop.example:443 203.0.113.9 - - [29/Feb/2016:23:36:41 +0000] "GET /users/17 HTTP/1.1" 200 612 "-" "curl/8""#,
            None,
        ),
        (
            "combined and more",
            r#"203.0.113.9 - - [29/Feb/2016:23:36:41 +0000] "GET /users/17 HTTP/1.1" 200 612 "-" "curl/8" rt=0.5 x"#,
            None,
        ),
        (
            "alb",
            r#"https 2016-02-29T23:36:41.250000Z app/lb/50dc6c495c0c9188 203.0.113.9:2817 10.0.0.1:80 0.050 0.150 0.050 200 200 34 612 "GET https://shop.example:443/users/17?a=b HTTP/1.1" "curl/7" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 arn:aws:x "Root=1-58337262-36d228ad5d99923122bbe354" "-" "-" 0 2016-02-29T23:36:41.000000Z "forward" "-" "-" "10.0.0.1:80" "200" "-" "-" TID_1"#,
            Some(250),
        ),
        (
            "envoy",
            r#"[2016-02-29T23:36:41.310Z] "GET /users/17?x HTTP/1.1" 200 - 0 612 250 226 "203.0.113.9" "curl" "c6f2" "shop.example" "tcp://10.0.2.1:80""#,
            Some(250),
        ),
        (
            "caddy",
            r#"{"level":"info","ts":1456789001.5,"logger":"http.log.access.log0","msg":"handled request","request":{"remote_ip":"203.0.113.9","remote_port":"4711","client_ip":"203.0.113.9","proto":"HTTP/2.0","method":"GET","host":"shop.example","uri":"/users/17?a=b","headers":{"User-Agent":["curl"]},"tls":{"resumed":false}},"bytes_read":0,"user_id":"","duration":0.25,"size":612,"status":200,"resp_headers":{"Server":["Caddy"]}}"#,
            Some(250),
        ),
        (
            "envoy-json",
            r#"{"start_time":"2016-02-29T23:36:41.000Z","method":"GET","path":"/users/17","response_code":200,"bytes_sent":612,"duration":250,"x_forwarded_for":"203.0.113.9"}"#,
            Some(250),
        ),
        (
            "json",
            r#"{"time":"2016-02-29T23:36:41.25Z","verb":"GET","url":"https://shop.example/users/17?x","status_code":200,"bytes":612,"ip":"203.0.113.9","duration_ms":250}"#,
            Some(250),
        ),
        (
            "har",
            r#"{"log":{"version":"1.2","creator":{"name":"x","version":"1"},"pages":[],"entries":[{"startedDateTime":"2016-02-29T23:36:41.000Z","time":250,"request":{"method":"GET","url":"https://shop.example/users/17?x","headers":[]},"response":{"status":200,"content":{"size":612}}}]}}"#,
            Some(250),
        ),
    ] {
        let log = format!("{line}\n");
        let traffic = guessed(&log);
        assert_eq!(traffic.files[0].form.as_deref(), Some(form), "{line}");
        assert_eq!((traffic.requests, traffic.unread_lines()), (1, 0), "{form}");
        assert_eq!(routes(&traffic), [("GET /users/{id}".to_owned(), 1)], "{form}");
        assert_eq!((traffic.statuses[0].status, traffic.bytes), (200, 612), "{form}");
        assert_eq!(traffic.course.as_ref().unwrap().first_s, AT + 1, "{form}");
        let took = traffic.took.as_ref().map(|it| it.mean_ns / 1_000_000);
        assert!(took == took_ms || took.zip(took_ms).is_some_and(|(a, b)| a.abs_diff(b) <= 2), "{form}: {took:?}");
        assert_eq!(traffic.users.as_ref().unwrap().users, 1, "{form}");
        let written = serde_json::to_string(&traffic).unwrap();
        assert!(!written.contains("203.0.113") && !written.contains("bob"), "{form}: {written}");
        // Cut anywhere, it is one line that is not read, or one that says less; never a panic.
        for end in 0..line.len() {
            let cut = surveyed(FormChoice::default(), &line.as_bytes()[..end]);
            assert!(cut.requests + cut.unread_lines() == cut.lines, "{form} {end}");
        }
    }
}

/// Lines in the forms that the documentation of AWS and of Envoy shows: what they say of who asked, and lines without a target, without
/// an answer, and of other protocols than HTTP.
#[test]
fn documented_lines_of_load_balancers_are_read() {
    const REST: &str = r#"- - arn:aws:elasticloadbalancing:us-east-2:123456789012:targetgroup/my-targets/73e2d6bc24d8a067 "Root=1-58337262-36d228ad5d99923122bbe354" "-" "-" 0 2018-07-02T22:22:48.364000Z "forward" "-" "-" "10.0.0.1:80" "200" "-" "-""#;
    let alb = |kind: &str, target: &str, took: &str, status: &str, request: &str| {
        format!(
            "{kind} 2018-07-02T22:23:00.186641Z app/my-loadbalancer/50dc6c495c0c9188 192.168.131.39:2817 {target} {took} {status} 34 366 \"{request}\" \"curl/7.46.0\" {REST}\n"
        )
    };
    let log = alb("http", "10.0.0.1:80", "0.000 0.001 0.000", "200 200", "GET http://www.example.com:80/ HTTP/1.1")
        + &alb("h2", "10.0.1.252:48160", "0.086 0.048 0.037", "200 200", "GET https://www.example.com:443/a?b=c HTTP/2.0")
        + &alb("ws", "10.0.0.140:40914", "0.001 0.003 0.000", "101 101", "GET http://10.0.0.30:80/chat HTTP/1.1")
        // A Lambda function that failed, and a client that went away before a target was chosen.
        + &alb("http", "-", "0.000 0.001 0.000", "502 -", "GET http://www.example.com:80/fails HTTP/1.1")
        + &alb("http", "-", "-1 -1 -1", "460 -", "GET http://www.example.com:80/gone HTTP/1.1")
        // What was no request of HTTP.
        + &alb("http", "-", "-1 -1 -1", "400 -", "- http://www.example.com:80- -");
    let istio = r#"{"authority":"httpbin:8000","bytes_received":0,"bytes_sent":135,"connection_termination_details":null,"downstream_local_address":"10.44.1.27:80","downstream_remote_address":"10.44.1.23:37652","duration":3,"method":"GET","path":"/status/418","protocol":"HTTP/1.1","request_id":"85298dd5-a8ee-9c8e-9b7c-a5e9f3c7f1de","requested_server_name":"outbound_.8000_._.httpbin.foo.svc.cluster.local","response_code":418,"response_code_details":"via_upstream","response_flags":"-","route_name":"default","start_time":"2020-11-25T21:26:18.409Z","upstream_cluster":"inbound|8000||","upstream_host":"10.44.1.27:80","upstream_service_time":"1","user_agent":"curl/7.73.0-DEV","x_forwarded_for":null}"#;
    let envoy = r#"[2016-04-15T20:17:00.310Z] "POST /api/v1/locations HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "nsq2http" "cc21d9b0-cf5c-432b-8c7e-98aeb7988cd2" "locations" "tcp://10.0.2.1:80""#;
    for (log, form, expected, unread) in [
        (
            log.as_str(),
            "alb",
            &[
                "200 GET / curl/7.46.0",
                "200 GET /a?b=c curl/7.46.0",
                "101 GET /chat curl/7.46.0",
                "502 GET /fails curl/7.46.0",
                "460 GET /gone curl/7.46.0",
            ][..],
            1,
        ),
        (istio, "envoy-json", &["418 GET /status/418 curl/7.73.0-DEV"][..], 0),
        (envoy, "envoy", &["204 POST /api/v1/locations nsq2http"][..], 0),
    ] {
        let mut entries = Entries::open(log.as_bytes(), &FormChoice::default(), LINE_BYTES_MOST).unwrap();
        assert_eq!(entries.form(), Some(form));
        let (mut told, mut noise) = (Vec::new(), 0);
        while let Some(read) = entries.read() {
            match read.unwrap() {
                LogEvent::Request(entry) => {
                    let words = [entry.method, entry.path_and_query().unwrap(), entry.agent.unwrap_or_default()];
                    told.push(format!("{} {}", entry.status, words.map(String::from_utf8_lossy).join(" ")));
                }
                LogEvent::Unread(..) => noise += 1,
            }
        }
        assert_eq!((told.as_slice(), noise), (expected.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>().as_slice(), unread), "{form}");
    }
}

#[test]
fn a_format_string_reads_what_it_writes() {
    for (format, line) in [
        (
            "log_format timed escape=default '$remote_addr - $remote_user [$time_local] '\n  '\"$request\" $status $body_bytes_sent '\n '$request_time $upstream_response_time';",
            r#"::1 - - [01/Mar/2016:00:36:40 +0000] "GET /a HTTP/1.1" 200 5 0.250 0.249, 0.001"#,
        ),
        ("$msec|$request_method|${request_uri}|$status|$request_time|$remote_addr", "1456792600.250|GET|/a?b=c|200|0.250|::1"),
        (
            "$time_iso8601 $host $request_method $uri$is_args$args $status rt=$request_time;$remote_addr.",
            "2016-03-01T00:36:40+00:00 h GET /a?b 200 rt=0.250;::1.",
        ),
        (r#"%h %l %u %t \"%r\" %>s %b %D %T"#, r#"::1 - - [01/Mar/2016:00:36:40 +0000] "GET /a HTTP/1.1" 200 5 250000 0"#),
        (r#"%a %{%Y}t %m %U%q %>s %{ms}T"#, "::1 2016-03-01T00:36:40Z GET /a?b 200 250"),
        (
            "[%START_TIME%] %REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %RESPONSE_CODE% %DURATION% %DOWNSTREAM_REMOTE_ADDRESS%\\n",
            "[2016-03-01T00:36:40.000Z] GET /a?x 200 250 [::1]:4711",
        ),
    ] {
        let traffic = surveyed(FormChoice::named(format).unwrap(), line.as_bytes());
        assert_eq!((routes(&traffic), traffic.unread.clone()), (vec![("GET /a".to_owned(), 1)], vec![]), "{format}");
        assert_eq!(traffic.statuses[0].status, 200, "{format}");
        assert!(traffic.took.as_ref().is_some_and(|it| it.mean_ns.abs_diff(250_000_000) < 2_000_000), "{format}: {:?}", traffic.took);
        assert!(traffic.course.as_ref().unwrap().first_s.abs_diff(1_456_792_600) <= 1, "{format}");
        assert!(!traffic.files[0].guessed);
    }
}

#[test]
fn fields_of_json_can_be_named() {
    let fields = ["path=a.where", "time=a.when", "microseconds=took"].map(|it| it.parse().unwrap());
    let line = r#"{"a":{"when":1456792600,"where":"/x/1"},"took":1500,"status":"201"}"#;
    let traffic = surveyed(FormChoice::default().with_fields(fields), line.as_bytes());
    assert_eq!(routes(&traffic), [("GET /x/{id}".to_owned(), 1)]);
    assert_eq!((traffic.statuses[0].status, traffic.took.unwrap().max_ns), (201, 1_500_000));
}

fn combined(at: i64, path: &str, status: u16) -> String {
    let time = import::utc(1_700_000_000 + at);
    let (date, clock) = (&time[..10], &time[11..19]);
    let month =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"][date[5..7].parse::<usize>().unwrap() - 1];
    format!(
        "192.0.2.{} - - [{}/{month}/{}:{clock} +0000] \"GET {path} HTTP/1.1\" {status} 10 \"-\" \"x\"\n",
        at % 7,
        &date[8..],
        &date[..4]
    )
}

#[test]
fn lines_that_do_not_parse_are_counted_with_where_they_stand() {
    let mut log = combined(0, "/a", 200);
    log += "203.0.113.77 - alice nonsense alice@mail.example\n\n";
    log += &combined(1, "/a", 200)[..70];
    log += "\n";
    log += "192.0.2.1 - - [14/Nov/2023:22:13:20 +0000] \"\\x16\\x03\\x01\" 400 150 \"-\" \"-\"\n";
    log += "192.0.2.1 - - [99/Nov/2023:22:13:20 +0000] \"GET / HTTP/1.1\" 200 150 \"-\" \"-\"\n";
    log += "192.0.2.1 - - [14/Nov/2023:22:13:20 +0000] \"GET / HTTP/1.1\" OK 150 \"-\" \"-\"\n";
    log += &format!("{}\n", "x".repeat(5000));
    log += &combined(2, "/b", 404);
    let mut survey = Survey::new(FormChoice::default(), Personal::LeftOut).with_line_bytes_most(1000);
    survey.read("a.log", log.as_bytes()).unwrap();
    let traffic = survey.finish();
    assert_eq!(traffic.requests, 2);
    let reasons: Vec<(Reason, u64)> = traffic.unread.iter().map(|it| (it.reason, it.lines)).collect();
    let one = |reason| (reason, 1);
    assert_eq!(
        reasons,
        [
            (Reason::Form, 1),
            (Reason::Cut, 1),
            one(Reason::Time),
            one(Reason::Request),
            one(Reason::Status),
            one(Reason::Long),
            one(Reason::Blank)
        ]
    );
    assert_eq!(traffic.unread[0].examples[0].line, 2);
    let written = serde_json::to_string(&traffic).unwrap();
    for personal in ["203.0.113", "192.0.2", "alice"] {
        assert!(!written.contains(personal), "{personal}: {written}");
    }
}

#[test]
fn hostile_files_are_told_and_not_believed() {
    let binary: Vec<u8> = (0..200_000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let traffic = surveyed(FormChoice::default(), &binary[..]);
    assert_eq!((traffic.requests, traffic.files[0].form.clone()), (0, None));
    assert!(traffic.unread_lines() > 0 && traffic.course.is_none());

    let empty = guessed("");
    assert_eq!((empty.lines, empty.requests, empty.users), (0, 0, None));

    // A line without an end, read in constant memory.
    let endless = io::repeat(b'a').take(40_000_000);
    let traffic = surveyed(FormChoice::default(), endless);
    assert_eq!(traffic.unread.iter().map(|it| (it.reason, it.lines)).collect::<Vec<_>>(), [(Reason::Long, 1)]);

    let mixed = combined(0, "/a", 200) + &combined(1, "/a", 200) + "{\"time\":\"2023-11-14T22:13:21Z\",\"path\":\"/j\",\"status\":200}\n";
    let traffic = guessed(&mixed);
    assert_eq!((traffic.requests, traffic.unread[0].reason), (2, Reason::Form));

    let backwards = combined(90_000, "/a", 200) + &combined(0, "/a", 200);
    assert!(guessed(&backwards).remarks.iter().any(|it| it.contains("time goes back")));

    let years = combined(-400 * 86_400, "/a", 200) + &combined(0, "/a", 200) + &combined(1, "/a", 200);
    let traffic = guessed(&years);
    assert!(traffic.remarks.iter().any(|it| it.contains("gaps of together 39")), "{:?}", traffic.remarks);

    for har in ["{\"log\":{\"creator\":1,\"entries\":[{]}}", "{\"log\":{\"creator\":{},\"entries\":[", "{\"log\":{\"creator\":{}}}"] {
        let traffic = guessed(har);
        assert!(traffic.files[0].ended_early.is_some(), "{har}");
    }
}

/// A frame of uncompressed blocks, as RFC 8878 has them.
fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58];
    let blocks: Vec<&[u8]> = bytes.chunks(1000).collect();
    for (at, block) in blocks.iter().enumerate() {
        let head = (block.len() as u32) << 3 | u32::from(at + 1 == blocks.len());
        frame.extend_from_slice(&head.to_le_bytes()[..3]);
        frame.extend_from_slice(block);
    }
    frame
}

#[test]
fn packed_logs_are_read_and_cut_ones_as_far_as_they_go() {
    let lines: String = (0..3000).map(|at| combined(at, &format!("/p/{at}"), 200)).collect();
    let half = lines.len() / 2;
    let gzip = |bytes: &[u8]| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(bytes).unwrap();
        packed.finish().unwrap()
    };
    for (packed, kind) in [
        (gzip(lines.as_bytes()), Compression::Gzip),
        ([gzip(&lines.as_bytes()[..half]), gzip(&lines.as_bytes()[half..])].concat(), Compression::Gzip),
        (zstd(lines.as_bytes()), Compression::Zstd),
        ([zstd(&lines.as_bytes()[..half]), zstd(&lines.as_bytes()[half..])].concat(), Compression::Zstd),
    ] {
        let traffic = surveyed(FormChoice::default(), &packed[..]);
        assert_eq!((traffic.requests, traffic.files[0].packed, traffic.files[0].ended_early.clone()), (3000, kind, None));
        let cut = surveyed(FormChoice::default(), &packed[..packed.len() * 2 / 3]);
        // A cut frame of Zstandard keeps back what later parts of it may refer to.
        assert!(cut.requests < 3000 && (cut.requests > 100 || kind == Compression::Zstd), "{kind:?}: {}", cut.requests);
        assert!(cut.remarks.iter().any(|it| it.contains("could not be read to its end")), "{kind:?}");
    }
    let damaged = surveyed(FormChoice::default(), &b"\x1f\x8bnonsense that is no gzip at all"[..]);
    assert!(damaged.files[0].ended_early.is_some());
}

#[test]
fn personal_values_are_kept_when_told() {
    let mut survey = Survey::new(FormChoice::default(), Personal::Kept);
    survey.read("x", combined(3, "/a", 200).as_bytes()).unwrap();
    assert_eq!(survey.finish().users.unwrap().largest[0].name, "192.0.2.3");
}

proptest! {
    #[test]
    fn a_log_is_described_by_the_numbers_it_was_made_from(
        requests in prop::collection::vec((0i64..20_000, 0usize..6, prop::sample::select(vec![200u16, 204, 301, 404, 500, 503])), 1..400),
        split in 0usize..400,
    ) {
        const ROUTES: [&str; 6] = ["/", "/users/{id}", "/users/{id}/orders", "/health", "/img/{id}.png", "/search"];
        let lines: Vec<String> = requests.iter().map(|(at, route, status)| combined(*at, &ROUTES[*route].replace("{id}", &at.to_string()), *status)).collect();
        let split = split.min(lines.len());
        let mut survey = Survey::new(FormChoice::default(), Personal::LeftOut);
        for part in [&lines[..split], &lines[split..]] {
            survey.read("part", part.concat().as_bytes()).unwrap();
        }
        let traffic = survey.finish();
        prop_assert_eq!((traffic.requests, traffic.unread_lines()), (requests.len() as u64, 0));
        let mut routes: BTreeMap<(&str, u16), u64> = BTreeMap::new();
        let mut seconds: BTreeMap<i64, u64> = BTreeMap::new();
        let mut users: BTreeMap<i64, u64> = BTreeMap::new();
        for (at, route, status) in &requests {
            *routes.entry((ROUTES[*route], *status)).or_default() += 1;
            *seconds.entry(*at).or_default() += 1;
            *users.entry(*at % 7).or_default() += 1;
        }
        let told: BTreeMap<(&str, u16), u64> =
            traffic.routes.iter().flat_map(|route| route.statuses.iter().map(|it| ((route.path.as_str(), it.status), it.requests))).collect();
        prop_assert_eq!(told, routes);
        let course = traffic.course.unwrap();
        prop_assert_eq!(course.peak_second.requests, *seconds.values().max().unwrap());
        prop_assert_eq!(seconds.get(&(course.peak_second.at_s - 1_700_000_000)), seconds.values().max());
        prop_assert_eq!((course.first_s - 1_700_000_000, course.last_s - 1_700_000_000), (*seconds.keys().next().unwrap(), *seconds.keys().last().unwrap()));
        prop_assert_eq!(course.timeline.iter().map(|it| it.requests).sum::<u64>(), requests.len() as u64);
        prop_assert_eq!(course.time_of_day.iter().sum::<u64>(), requests.len() as u64);
        let told = traffic.users.unwrap();
        prop_assert_eq!((told.users, told.requests_max), (users.len() as u64, *users.values().max().unwrap()));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..2000), format in "[ -~]{0,40}") {
        let _ = surveyed(FormChoice::default(), &bytes[..]);
        if let Ok(asked) = FormChoice::named(&format) {
            let _ = surveyed(asked, &bytes[..]);
        }
    }
}
