//! `loadline vegeta`, `hey`, `siege` and `webbench` beside what they stand in for, and in pipes with it.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use crate::recorder::Recorder;
use crate::session::{Session, server};
use crate::tools;

/// Runs a line of shell in the session's directory, with `loadline`, the real hey and the real vegeta in the path.
fn shell(session: &Session, line: &str) -> Output {
    let ours = Path::new(env!("CARGO_BIN_EXE_loadline")).parent().unwrap();
    let path = format!("{}:{}:/usr/bin:/bin", ours.display(), tools::peers().display());
    let mut command = Command::new("bash");
    command.args(["-o", "pipefail", "-c", line]).current_dir(session.path("."));
    command.env_clear().env("PATH", path).env("HOME", session.path(".")).env("XDG_DATA_HOME", session.path("data")).env("TZ", "UTC");
    command.output().unwrap()
}

/// The same, which has to succeed; what it prints.
#[track_caller]
fn told(session: &Session, line: &str) -> String {
    let Output { status, stdout, stderr } = shell(session, line);
    assert!(status.success(), "{line}\n{}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).unwrap()
}

/// A server that keeps connections, and closes each when the second request comes. How many requests it saw.
fn forgetful() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (url, seen) = (format!("http://{}", listener.local_addr().unwrap()), Arc::new(AtomicUsize::new(0)));
    let counted = seen.clone();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut reader, counted) = (BufReader::new(stream.unwrap()), counted.clone());
            thread::spawn(move || {
                for is_first in [true, false] {
                    let mut head = String::new();
                    while !head.ends_with("\r\n\r\n") {
                        if reader.read_line(&mut head).unwrap_or(0) == 0 {
                            return;
                        }
                    }
                    counted.fetch_add(1, Ordering::SeqCst);
                    if is_first {
                        let _ = reader.get_mut().write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
                    }
                }
            });
        }
    });
    (url, seen)
}

/// Every run of digits as `#`, with the unit behind it.
fn masked(report: &str) -> String {
    let mut text = String::new();
    let mut letters = report.chars().peekable();
    while let Some(letter) = letters.next() {
        if !letter.is_ascii_digit() {
            if letter != '■' {
                text.push(letter);
            }
            continue;
        }
        text.push('#');
        while letters.peek().is_some_and(|next| next.is_ascii_digit() || *next == '.') {
            letters.next();
        }
        for unit in ["ms", "µs", "s"] {
            let ahead: String = letters.clone().take(unit.chars().count() + 1).collect();
            if ahead.strip_prefix(unit).is_some_and(|rest| rest.is_empty() || rest.starts_with([',', '\n', ' '])) {
                letters.by_ref().take(unit.chars().count()).for_each(drop);
                break;
            }
        }
    }
    // Columns are as wide as their figures.
    text.lines().map(|line| line.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")).collect::<Vec<_>>().join("\n")
}

mod vegeta {
    use super::*;

    #[test]
    fn results_and_reports_agree_with_the_real_vegeta_in_every_encoding() {
        if !tools::are_here(&["hey", "vegeta"]) {
            return;
        }
        let server = server();
        let (a, b) = (server.url("/healthz"), server.url("/nope"));
        let session = Session::new().file("targets", &format!("GET {a}\nX-A: 1\n\nPOST {b}\n@body\n")).file("body", "hello");
        let attack = "attack -targets=targets -rate=100 -duration=1s -name=mine";
        told(&session, &format!("loadline vegeta {attack} -output=ours; vegeta {attack} -output=theirs"));
        let mut posted = 0;
        for name in ["ours", "theirs"] {
            for encoding in ["gob", "json", "csv"] {
                told(
                    &session,
                    &format!(
                        "loadline vegeta encode -to={encoding} {name} > {name}.ours.{encoding}; vegeta encode -to={encoding} {name} > {name}.theirs.{encoding}"
                    ),
                );
            }
            // CSV has one spelling; JSON has maps, whose order is chance in the original.
            assert_eq!(session.read(&format!("{name}.ours.csv")), session.read(&format!("{name}.theirs.csv")));
            let json = |file: String| {
                session.read(&file).lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<serde_json::Value>>()
            };
            let lines = json(format!("{name}.ours.json"));
            assert_eq!(lines, json(format!("{name}.theirs.json")));
            // A busy machine takes its second from the real one, which then sends fewer.
            assert!(lines.len() == 100 || name == "theirs" && (1..100).contains(&lines.len()), "{name}: {}", lines.len());
            posted += lines.iter().filter(|line| line["method"] == "POST").count() as u64;
            assert_eq!((&lines[0]["attack"], lines[0]["headers"].is_object()), (&"mine".into(), true));
            let expected = told(&session, &format!("vegeta report {name}"));
            for file in ["", ".ours.gob", ".theirs.gob", ".ours.json", ".theirs.json", ".ours.csv", ".theirs.csv"] {
                for reader in ["loadline vegeta", "vegeta"] {
                    // Only quantiles are estimates.
                    let rows =
                        |report: &str| report.lines().filter(|line| !line.starts_with("Latencies")).map(str::to_owned).collect::<Vec<_>>();
                    let report = told(&session, &format!("{reader} report {name}{file}"));
                    assert_eq!(rows(&report), rows(&expected), "{reader} {name}{file}");
                    let latencies = |report: &str| {
                        report.lines().nth(2).unwrap().split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect::<Vec<_>>()
                    };
                    let (ours, theirs) = (latencies(&report), latencies(&expected));
                    // Minimum, mean and maximum are exact.
                    assert_eq!((&ours[8], &ours[9], ours.last()), (&theirs[8], &theirs[9], theirs.last()), "{reader} {name}{file}");
                }
            }
            for kind in ["json", "hist[0,200us,1ms,1s]", "hdrplot"] {
                let [ours, theirs] =
                    ["loadline vegeta", "vegeta"].map(|reader| masked(&told(&session, &format!("{reader} report -type='{kind}' {name}"))));
                assert_eq!(ours, theirs, "{kind}");
            }
        }
        assert_eq!(server.counts().path("/nope"), posted);
    }

    #[test]
    fn an_attack_goes_through_a_pipe_into_a_report() {
        if !tools::are_here(&["hey", "vegeta"]) {
            return;
        }
        let server = server();
        let session = Session::new();
        let report = told(
            &session,
            &format!("echo 'GET {}' | loadline vegeta attack -rate=200 -duration=1s | loadline vegeta report", server.url("/healthz")),
        );
        assert!(report.starts_with("Requests      [total, rate, throughput]         200, 201.01, "), "{report}");
        assert!(report.contains("\nStatus Codes  [code:count]                      200:200  \nError Set:\n"), "{report}");
        assert_eq!(server.counts().path("/healthz"), 200);
        // Both ways with the real one, as it comes.
        let attack = "attack -targets=t -rate=50 -duration=1s";
        fs::write(session.path("t"), format!("GET {}\n", server.url("/healthz"))).unwrap();
        for pipe in [format!("loadline vegeta {attack} | vegeta report"), format!("vegeta {attack} | loadline vegeta report")] {
            let before = server.counts().path("/healthz");
            let report = told(&session, &pipe);
            // The real one sends less in its second where this machine stands still for a part of it.
            let sent = server.counts().path("/healthz") - before;
            assert!((1..=50).contains(&sent) && report.contains(&format!("200:{sent}  ")), "{pipe}: {sent} were sent\n{report}");
            assert!(pipe.starts_with("vegeta") || sent == 50, "{sent}");
        }
    }

    #[test]
    fn the_server_sees_the_same_requests() {
        if !tools::are_here(&["hey", "vegeta"]) {
            return;
        }
        let server = Recorder::start(Duration::from_millis(1), 200);
        let session = Session::new().file("body", "hello");
        for (target, flags) in [
            ("GET URL/a?b=1", ""),
            ("POST URL/\nX-a: 1\nHost: other.test\n@body", "-header='B: 2' -name=n"),
            ("PUT URL/", "-body=body -keepalive=false -header='User-Agent: me'"),
            ("DELETE URL/x", "-header='Accept-Encoding: br'"),
            ("HEAD URL/x", ""),
        ] {
            fs::write(session.path("t"), target.replace("URL", &server.url)).unwrap();
            let line = format!("attack -targets=t -rate=1 -duration=1s {flags}");
            told(&session, &format!("vegeta {line} >/dev/null"));
            let theirs = server.requests();
            told(&session, &format!("loadline vegeta {line} > /dev/null"));
            assert_eq!(server.requests(), theirs, "{target} {flags}");
            assert_eq!(theirs.len(), 1);
        }
    }

    #[test]
    fn what_fails_has_the_words_of_the_real_vegeta() {
        if !tools::are_here(&["hey", "vegeta"]) {
            return;
        }
        let session = Session::new().file("t", "GET http://127.0.0.1:1/");
        for flags in ["", "-laddr=127.0.0.1"] {
            let [ours, theirs] = ["loadline vegeta", "vegeta"]
                .map(|it| told(&session, &format!("{it} attack -targets=t -rate=3 -duration=1s {flags} | vegeta report | tail -n +6")));
            assert_eq!(ours, theirs);
            assert!(ours.contains("0:3  ") && ours.contains("connection refused"), "{ours}");
        }
        let Output { status, stderr, .. } = shell(&session, "loadline vegeta attack -targets=t -rate=3 -duration=1s >/dev/null");
        assert!(status.success());
        let said = String::from_utf8(stderr).unwrap();
        assert!(said.contains("loadline: not succeeded: 3 connect.") && said.lines().count() <= 3, "{said}");
        assert!(shell(&session, "loadline vegeta attack -quiet -targets=t -rate=3 -duration=1s >/dev/null").stderr.is_empty());
    }

    #[test]
    fn several_hosts_are_attacked_in_turn_and_a_lazy_list_ends_the_attack() {
        if !tools::are_here(&["hey", "vegeta"]) {
            return;
        }
        let (one, two) = (server(), server());
        let list: String = (0..40).map(|at| format!("GET {}\n", if at % 4 == 0 { &one } else { &two }.url("/healthz"))).collect();
        let session = Session::new().file("t", &list);
        let report = told(&session, "loadline vegeta attack -targets=t -lazy -rate=200 -duration=1h | loadline vegeta report");
        assert!(report.contains("200:40  "), "{report}");
        assert_eq!((one.counts().path("/healthz"), two.counts().path("/healthz")), (10, 30));
        let json: String = (0..10).map(|_| format!("{{\"method\":\"GET\",\"url\":\"{}\"}}\n", two.url("/healthz"))).collect();
        fs::write(session.path("j"), json).unwrap();
        told(&session, "loadline vegeta attack -targets=j -format=json -rate=100 -duration=1s >/dev/null");
        assert_eq!(two.counts().path("/healthz"), 130);
    }

    #[test]
    fn what_meets_a_connection_that_was_just_closed_is_sent_again() {
        if !tools::are_here(&["hey", "vegeta"]) {
            return;
        }
        let (url, seen) = forgetful();
        let session = Session::new().file("t", &format!("GET {url}/\n"));
        let report = told(&session, "loadline vegeta attack -targets=t -rate=20 -duration=1s | loadline vegeta report -type=json");
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        assert_eq!((report["requests"].as_u64(), report["success"].as_f64()), (Some(20), Some(1.0)), "{report}");
        assert!(seen.load(Ordering::SeqCst) > 20);
    }

    #[test]
    fn without_a_rate_so_many_ask_as_fast_as_they_are_answered() {
        if !tools::are_here(&["hey", "vegeta"]) {
            return;
        }
        let server = Recorder::start(Duration::from_millis(20), 200);
        let session = Session::new().file("t", &format!("GET {}/\n", server.url));
        let report =
            told(&session, "loadline vegeta attack -targets=t -rate=0 -max-workers=4 -duration=1s | loadline vegeta report -type=json");
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        let requests = report["requests"].as_u64().unwrap();
        // Four at a time, 20 ms each.
        assert!((4..=4 * 52).contains(&requests) && report["latencies"]["min"].as_u64().unwrap() >= 20_000_000, "{report}");
    }

    #[test]
    fn mistakes_end_as_in_the_real_vegeta() {
        if !tools::are_here(&["hey", "vegeta"]) {
            return;
        }
        let session = Session::new().file("bad", "GET http://h/\nNoColon\n").file("text", "hello\n").file("empty", "");
        for words in [
            "",
            "-h",
            "-nope",
            "frob",
            "dump",
            "attack -h",
            "attack -nope",
            "attack -rate=x",
            "attack -rate",
            "attack -rate=0",
            "attack -lazy=maybe",
            "attack -duration=5",
            "attack -header=x",
            "attack -format=xml -targets=text",
            "attack -targets=missing",
            "attack -targets=bad",
            "attack -targets=empty",
            "attack -targets=text",
            "report missing",
            "report text",
            "report empty",
            "report -type=hist text",
            "encode -to=xml text",
            "plot missing",
            "plot -threshold=x",
        ] {
            let [ours, theirs] = ["loadline vegeta", "vegeta"].map(|it| shell(&session, &format!("{it} {words} < /dev/null")));
            let (said, real) = (String::from_utf8(ours.stderr).unwrap(), String::from_utf8(theirs.stderr).unwrap());
            assert_eq!(ours.status.code(), theirs.status.code(), "{words}\n{said}\n{real}");
            assert_eq!(said.is_empty(), real.is_empty(), "{words}");
            // What flags are wrong is said in the same words; the rest has a time before it there, and more here.
            if theirs.status.code() == Some(2) {
                assert_eq!(said.lines().next(), real.lines().next(), "{words}");
            }
        }
        let mut session = session;
        session.loadline("vegeta attack -targets=bad").exits(1).complains("vegeta: bad, line 2: bad header: NoColon");
        session.loadline("vegeta attack -dns-ttl=5s -targets=bad").exits(1).complains("-dns-ttl=5s is not supported");
        session.loadline("vegeta attack -prometheus-addr=:8880").exits(1).complains("-prometheus-addr=:8880 is not supported");
    }

    #[test]
    fn redirects_are_followed_as_often_as_asked() {
        if !tools::are_here(&["hey", "vegeta"]) {
            return;
        }
        let server = Recorder::start_leading(Duration::from_millis(1), 302, "/again");
        let session = Session::new().file("t", &format!("POST {}/x\n@body\n", server.url)).file("body", "hi");
        for flags in ["-redirects=3", "-redirects=-1", "-redirects=0"] {
            let [theirs, ours] = ["vegeta", "loadline vegeta"].map(|it| {
                let report = told(&session, &format!("{it} attack -targets=t -rate=2 -duration=1s {flags} | vegeta report | tail -n +6"));
                (report, server.requests())
            });
            assert_eq!(ours, theirs, "{flags}");
        }
    }

    #[test]
    fn an_interrupted_attack_leaves_whole_results() {
        if !tools::are_here(&["hey", "vegeta"]) {
            return;
        }
        let server = server();
        let mut session = Session::new().file("t", &format!("GET {}\n", server.url("/healthz")));
        let running = session.start("vegeta attack -quiet -targets t -rate=500 -output=out");
        running.once(|| server.counts().answered > 100).signal(Signal::INT).end().exits(0);
        let report = told(&session, "vegeta report -type=json out");
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        assert_eq!(report["requests"].as_u64().unwrap(), server.counts().path("/healthz"));
    }

    #[test]
    fn a_plot_is_one_page_and_a_reader_that_leaves_is_no_mistake() {
        if !tools::are_here(&["hey", "vegeta"]) {
            return;
        }
        let server = server();
        let session = Session::new().file("t", &format!("GET {}\n", server.url("/healthz")));
        told(
            &session,
            "loadline vegeta attack -targets=t -rate=100 -duration=1s -name=a >out; loadline vegeta plot -title='A & B' out >page.html",
        );
        let page = session.read("page.html");
        assert!(page.starts_with("<!DOCTYPE html>") && page.contains("A &amp; B") && page.contains("a: OK"));
        let ran = shell(&session, "loadline vegeta encode out | head -n 1");
        assert_eq!(String::from_utf8(ran.stderr).unwrap(), "");
        let every = told(&session, "loadline vegeta attack -targets=t -rate=10 -duration=2s | loadline vegeta report -every=500ms");
        assert!(every.matches("\x1b[2J\x1b[0;0HRequests").count() >= 2, "{every}");
    }
}

mod hey {
    use super::*;

    #[test]
    fn reports_are_equal_but_for_the_numbers() {
        if !tools::are_here(&["hey", "vegeta"]) {
            return;
        }
        let server = server();
        let session = Session::new();
        for (words, path) in
            [("-n 200 -c 10", "/healthz"), ("-n 30 -c 3 -m POST -d hello", "/nope"), ("-n 20 -c 2 -disable-keepalive", "/healthz")]
        {
            let [ours, theirs] =
                ["loadline hey -quiet", "hey"].map(|it| masked(&told(&session, &format!("{it} {words} {}", server.url(path)))));
            assert_eq!(ours, theirs, "{words}");
        }
        let [ours, theirs] =
            ["loadline hey -quiet", "hey"].map(|it| masked(&told(&session, &format!("{it} -n 4 -c 2 http://127.0.0.1:1/"))));
        assert_eq!(ours, theirs);
        let csv = told(&session, &format!("loadline hey -quiet -n 20 -c 2 -o csv {}", server.url("/healthz")));
        let real = told(&session, &format!("hey -n 20 -c 2 -o csv {}", server.url("/healthz")));
        assert_eq!((csv.lines().next(), csv.lines().count()), (real.lines().next(), real.lines().count()));
        assert!(csv.lines().skip(1).all(|line| line.split(',').count() == 8), "{csv}");
    }

    #[test]
    fn the_server_sees_the_same_requests() {
        if !tools::are_here(&["hey", "vegeta"]) {
            return;
        }
        let server = Recorder::start(Duration::from_millis(1), 200);
        let session = Session::new().file("body", "from a file");
        for flags in [
            "",
            "-m post -d hello -T text/plain -A '*/*' -H 'x-my-id: 1' -H 'X-Two: a b' -host other.test",
            "-D body -m PUT -disable-compression -disable-keepalive",
            "-m HEAD",
        ] {
            let [theirs, ours] = ["hey", "loadline hey"].map(|it| {
                told(&session, &format!("{it} -n 2 -c 1 {flags} {}/x?y=1", server.url));
                server.requests()
            });
            assert_eq!(ours, theirs, "{flags}");
            assert_eq!(theirs.len(), 1);
        }
        // The original loses both.
        told(&session, &format!("loadline hey -n 1 -c 1 -a user:pass -H 'User-Agent: me' {}/", server.url));
        let request = &server.requests()[0];
        assert!(
            request.contains("\r\nAuthorization: Basic dXNlcjpwYXNz\r\n") && request.contains("\r\nUser-Agent: me hey/0.0.1\r\n"),
            "{request}"
        );
    }

    #[test]
    fn what_meets_a_connection_that_was_just_closed_is_sent_again_as_by_the_real_hey() {
        if !tools::are_here(&["hey", "vegeta"]) {
            return;
        }
        for tool in ["hey", "loadline hey -quiet"] {
            let (url, seen) = forgetful();
            let report = told(&Session::new(), &format!("{tool} -n 30 -c 2 {url}"));
            assert!(report.contains("[200]\t30 responses") && !report.contains("Error distribution"), "{tool}: {report}");
            assert!(seen.load(Ordering::SeqCst) > 30, "{tool}");
        }
    }

    #[test]
    fn so_many_requests_are_sent_and_no_faster_than_asked() {
        if !tools::are_here(&["hey", "vegeta"]) {
            return;
        }
        let server = server();
        let session = Session::new();
        told(&session, &format!("loadline hey -quiet -n 107 -c 10 {}", server.url("/healthz")));
        assert_eq!(server.counts().path("/healthz"), 100);
        let report = told(&session, &format!("loadline hey -quiet -z 1s -c 2 -q 10 {}", server.url("/healthz")));
        let sent = server.counts().path("/healthz") - 100;
        assert!(sent <= 20 && report.contains(&format!("\t{sent} responses")), "{report}");
    }

    #[test]
    fn mistakes_end_as_in_the_real_hey() {
        if !tools::are_here(&["hey", "vegeta"]) {
            return;
        }
        let session = Session::new();
        for words in [
            "",
            "-help",
            "-h",
            "-nope",
            "-n 0 http://h/",
            "-n 1 -c 2 http://h/",
            "-z 1s -c 0 http://h/",
            "-H x http://h/",
            "-a x http://h/",
            "-n x http://h/",
            "-h A:b http://h/",
        ] {
            let [ours, theirs] = ["loadline hey", "hey"].map(|it| shell(&session, &format!("{it} {words}")));
            let (said, real) = (String::from_utf8(ours.stderr).unwrap(), String::from_utf8(theirs.stderr).unwrap());
            assert_eq!(ours.status.code(), theirs.status.code(), "{words}\n{said}\n{real}");
            assert_eq!(said.lines().next(), real.lines().next(), "{words}");
        }
        let mut session = session;
        session.loadline("hey -o '{{.Rps}}' http://h/").exits(1).complains("is not supported: templates are hey's own");
    }
}

mod siege {
    use super::*;

    /// A file of settings for text instead of JSON.
    const TEXT: &str = "json_output = false\nverbose = true\nprotocol = HTTP/1.1\naccept-encoding = gzip, deflate\nconnection = close\n";

    fn both(session: &Session, words: &str) -> [(String, String); 2] {
        ["loadline siege --no-remarks", "siege"].map(|it| {
            let ran = shell(session, &format!("{it} -R rc {words}"));
            assert!(ran.status.success(), "{words}");
            (String::from_utf8(ran.stdout).unwrap(), String::from_utf8(ran.stderr).unwrap())
        })
    }

    fn sorted(text: &str) -> Vec<String> {
        // The real one says when it made its file of settings.
        let own = |line: &&str| !line.starts_with("New configuration template") && !line.starts_with("Run siege -C");
        let mut lines: Vec<String> = masked(text).lines().filter(own).map(str::to_owned).collect();
        lines.sort();
        lines
    }

    #[test]
    fn reports_and_lines_are_equal_but_for_the_numbers() {
        if !tools::are_here(&["hey", "vegeta", "siege"]) {
            return;
        }
        let server = server();
        let urls = format!("# all\nBASE={}\n$(BASE)/healthz\n$(BASE)/nope POST a=1\n", server.url(""));
        let session = Session::new().file("rc", TEXT).file("urls", &urls);
        for words in
            [format!("-c 2 -r 3 {}", server.url("/healthz")), "-f urls -c 2 -r 4".to_owned(), format!("-q -c 1 -r 1 {}", server.url("/"))]
        {
            let [ours, theirs] = both(&session, &words);
            assert_eq!(sorted(&ours.0), sorted(&theirs.0), "{words}");
            assert_eq!(masked(&ours.1), masked(&theirs.1), "{words}");
            // Columns are as wide.
            let widths = |text: &str| text.lines().filter(|line| line.contains(" bytes ==> ")).map(str::len).min();
            assert_eq!(widths(&ours.0), widths(&theirs.0), "{words}");
        }
        let [ours, theirs] = both(&session, &format!("-j -c 2 -r 3 {}", server.url("/healthz")));
        assert_eq!(masked(&ours.0), masked(&theirs.0));
        assert_eq!(ours.1.trim(), theirs.1.trim());
        assert_eq!(serde_json::from_str::<serde_json::Value>(&ours.0).unwrap()["transactions"], 6);
    }

    #[test]
    fn the_server_sees_the_same_requests() {
        if !tools::are_here(&["hey", "vegeta", "siege"]) {
            return;
        }
        let server = Recorder::start(Duration::from_millis(1), 200);
        let session = Session::new()
            .file("rc", TEXT)
            .file("b.txt", "from a file")
            .file("urls", &format!("{0}/a?b=1\n{0}/p POST a=1&b=2\n{0}/q PUT {{\"x\":1}}\n", server.url));
        for words in ["-H 'X-A: 1' -A me", "-T application/json"] {
            let [ours, theirs] = ["loadline siege", "siege"].map(|it| {
                assert!(shell(&session, &format!("{it} -R rc -f urls -c 1 -r 3 {words}")).status.success());
                server.requests()
            });
            assert_eq!(ours, theirs, "{words}");
            assert_eq!(theirs.len(), 3);
        }
    }

    #[test]
    fn amounts_are_kept_and_failures_counted() {
        if !tools::are_here(&["hey", "vegeta", "siege"]) {
            return;
        }
        let server = server();
        let session = Session::new()
            .file("rc", TEXT)
            .file("urls", &(0..7).map(|at| format!("{}?{at}\n", server.url("/healthz"))).collect::<String>());
        let run = |words: &str| {
            let ran = shell(&session, &format!("loadline siege -R rc {words}"));
            assert!(ran.status.success(), "{words}: {}", String::from_utf8_lossy(&ran.stderr));
            String::from_utf8(ran.stderr).unwrap()
        };
        assert!(run("-f urls -c 3 -r once").contains("\nTransactions:\t\t           7 hits\n"));
        assert_eq!(server.counts().path("/healthz"), 7);
        assert!(run("-f urls -c 3 -r 5 -i").contains("\nTransactions:\t\t          15 hits\n"));
        assert_eq!(server.counts().path("/healthz"), 22);
        let report = run("-c 2 -r 3 http://127.0.0.1:1/");
        assert!(report.contains("Availability:\t\t        0.00 %") && report.contains("Failed transactions:\t           6\n"), "{report}");
        let timed = run(&format!("-b -t 1S -c 2 {}", server.url("/healthz")));
        assert!(timed.contains("\nLifting the server siege...\nTransactions:"), "{timed}");
        run(&format!("-r 1 -c 1 -lx.log -m mark {}", server.url("/healthz")));
        let log = session.read("x.log");
        assert!(log.starts_with("      Date & Time,  Trans,") && log.contains("**** mark ****\n") && log.lines().count() == 3, "{log}");
    }

    #[test]
    fn a_page_s_parts_are_fetched_redirects_followed_and_cookies_sent_back() {
        if !tools::are_here(&["hey", "vegeta", "siege"]) {
            return;
        }
        let server = Recorder::start_page("<img src=/i.png><script src='s.js'></script><img src=http://other.test/no>");
        let session = Session::new().file("rc", &format!("{TEXT}parser = true\n"));
        assert!(shell(&session, &format!("loadline siege -R rc -c 1 -r 2 {}/page", server.url)).status.success());
        let mut lines: Vec<String> = server
            .requests()
            .iter()
            .map(|request| {
                let cookie = if request.contains("\r\nCookie: seen=1\r\n") { " with its cookie" } else { "" };
                format!("{}{cookie}", request.lines().next().unwrap())
            })
            .collect();
        lines.sort();
        assert_eq!(
            lines,
            [
                "GET /i.png HTTP/1.1 with its cookie",
                "GET /page HTTP/1.1",
                "GET /page HTTP/1.1 with its cookie",
                "GET /s.js HTTP/1.1 with its cookie"
            ]
        );
    }

    #[test]
    fn mistakes_are_named() {
        let mut session = Session::new().file("urls", "http://h/\nftp://h/\n");
        session.loadline("siege -f urls").exits(1).complains("siege: urls, line 2: 'ftp://h/' has the scheme 'ftp'");
        session.loadline("siege -g http://h/").exits(1).complains("-g (--get) is not supported");
        session.loadline("siege -x").exits(0).complains("siege: invalid option -- 'x'").says("Usage: siege [options]");
        session.loadline("siege").exits(0).says("Usage: siege [options]");
        session.loadline("siege -V").exits(0).complains("SIEGE 4.0.7");
    }
}

mod webbench {
    use super::*;

    #[test]
    fn two_lines_tell_what_the_server_counted() {
        let server = server();
        let mut session = Session::new();
        let ran = session.loadline(&format!("webbench -q -c 4 -t 1 {}", server.url("/healthz"))).exits(0).complains_of_nothing();
        let answered = server.counts().path("/healthz");
        let ran = ran.says(&format!("\nRequests: {answered} susceed, 0 failed.\n")).says(&format!("\nSpeed={} pages/min, ", answered * 60));
        ran.says("\nRequest:\nGET /healthz HTTP/1.0\r\nUser-Agent: WebBench 1.5\r\nHost: 127.0.0.1\r\n\r\n\nRuning info: 4 clients, running 1 sec.\n");
        // A connection for every request, and one that looked whether the server is there.
        assert_eq!(server.counts().connections, answered + 1);
        let missing = session
            .loadline(&format!("webbench -c 2 -t 1 {}", server.url("/nope")))
            .exits(0)
            .complains("Webbench - Simple Web Benchmark 1.5");
        missing.says(" susceed, 0 failed.");
    }

    #[test]
    fn mistakes_end_with_2_and_nobody_there_with_1() {
        let mut session = Session::new();
        session.loadline("webbench").exits(2).complains("webbench [option]... URL");
        session.loadline("webbench -c 1").exits(2).complains("webbench: Missing URL!");
        session.loadline("webbench h/").exits(2).complains("h/: is not a valid URL.");
        session.loadline("webbench -f http://h/").exits(2).complains("-f (--force) is not supported");
        session.loadline("webbench -t 1 http://127.0.0.1:1/").exits(1).complains("Connect to server failed. Aborting benchmark.");
        session.loadline("webbench -V").exits(0).says("1.5\n");
    }
}

#[test]
fn compat_tells_what_is_supported_of_each() {
    let mut session = Session::new();
    session.loadline("compat vegeta attack -rate=50 -duration=5s -max-workers=9").exits(0).says("-max-workers=9").says("differs: ");
    session.loadline("compat vegeta attack -h2c").exits(0).says("-h2c=true");
    session.loadline("compat vegeta report -type=hist[0,1ms] x").exits(0).says("-type=hist[0,1ms]");
    session.loadline("compat hey -n 10 -c 2 http://h/").exits(0).says("req write");
    session.loadline("compat hey -h2 http://h/").exits(0).says("-h2 true");
    session.loadline("compat siege -c 300 -t 1M http://h/").exits(0).says("there is no limit of 255");
    session.loadline("compat siege -g http://h/").exits(1).says("-g");
    session.loadline("compat webbench -c 1 -t 3 http://h/").exits(0).says("-t 3");
    session.loadline("compat webbench -9 http://h/").exits(1).says("-9");
}
