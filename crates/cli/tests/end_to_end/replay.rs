//! `loadline replay`: the requests of a log, at its times, against a server that counts; and against nginx, which wrote the log.

use std::collections::BTreeMap;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::history::journals;
use crate::recorder::Recorder;
use crate::session::{Ran, Session, prose, server};
use crate::tools;

/// Whether standard error has this, however its lines are broken.
#[track_caller]
fn tells(ran: Ran, part: &str) -> Ran {
    let flat = prose(&ran.stderr);
    assert!(flat.contains(part), "{part:?} is not in:\n{}", ran.stderr);
    ran
}

/// The same of standard output.
#[track_caller]
fn reports(ran: Ran, part: &str) -> Ran {
    let flat = prose(&ran.stdout);
    assert!(flat.contains(part), "{part:?} is not in:\n{}", ran.stdout);
    ran
}

/// A line of nginx's combined.
fn line(second: u32, request: &str, status: u16) -> String {
    format!("192.0.2.9 - - [01/Mar/2016:00:36:{second:02} +0100] \"{request} HTTP/1.1\" {status} 612 \"-\" \"curl/8\"\n")
}

/// Half a minute of some routes, which a speed makes quick to play.
fn log() -> String {
    (0..30)
        .map(|second| {
            line(second, "GET /healthz", 200)
                + &line(second, &format!("GET /people/{}?token=s3cr3t", 1000 + second), 200)
                + &line(second, "POST /orders", 201)
        })
        .collect::<String>()
        + "what is this\n"
}

#[test]
fn an_error_of_the_client_that_the_log_has_as_well_is_no_failure() {
    let server = server();
    let missing: String = (0..20).map(|second| line(second, "GET /not-there", 404)).collect();
    let mut session = Session::new().file("access.log", &missing);
    session.loadline(&format!("replay access.log {} --speed 20x --no-save --out json=run.json", server.url(""))).exits(0);
    let run = session.json("run.json");
    assert_eq!((run["requests"]["succeeded"].as_u64(), run["requests"]["failed"].as_u64()), (Some(20), Some(0)), "{}", run["failures"]);
    assert_eq!(run["status"]["404"].as_u64(), Some(20));
}

#[test]
fn a_log_is_sent_again_and_its_answers_are_compared() {
    let server = server();
    let mut session = Session::new().file("access.log", &log());
    let mut ran = session
        .loadline(&format!("replay access.log {} --speed 20x --except /nothing --full --out json=run.json", server.url("")))
        .exits(0);
    for words in [
        "access.log: combined, 91 lines",
        "60 requests of 2016-03-01 00:36:00 +0100 to 2016-03-01 00:36:29 +0100",
        "30 requests that may change something; --writes sends them (POST 30)",
        "1 line has another form",
        "spread over it in their order, at random moments",
    ] {
        ran = tells(ran, words);
    }
    for words in [
        "at the times of the log, 20 times as fast",
        "30 of 60 requests (50 %): different status than in the log",
        "GET /people/{id} 30 30 200 → 404 30",
    ] {
        ran = reports(ran, words);
    }
    assert!(!ran.stdout.contains("s3cr3t") && !ran.stderr.contains("s3cr3t") && !ran.stderr.contains("192.0.2.9"));
    let counts = server.counts();
    assert_eq!((counts.path("/healthz"), counts.path("/people/1007"), counts.path("/orders")), (30, 1, 0));
    let run = session.json("run.json");
    assert_eq!(
        (run["requests"]["due"].as_u64(), run["replayed"]["compared"].as_u64(), run["replayed"]["same"].as_u64()),
        (Some(60), Some(60), Some(30))
    );
    assert_eq!(run["replayed"]["by_route"][0]["route"], "/people/{id}");
    assert_eq!(run["plan"]["replay"]["speed"], "20x");
    let again = session.loadline("run --from run.json").exits(2).complains("loadline replay LOG TARGET");
    tells(again, "sends the requests of access.log at their times");
    reports(session.loadline("show @last").exits(0), "200 → 404 30");
}

#[test]
fn what_is_sent_is_what_was_asked_for() {
    let server = server();
    let gor = "1 932079936fa4306fc308d675 1456788965000000000\nPOST /orders HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nn=7\n🐵🙈🙉\n\
               2 932079936fa4306fc308d675 1456788965000000000 5\nHTTP/1.1 404 Not Found\r\n\r\n\n🐵🙈🙉\n";
    let mut session = Session::new().file("access.log", &log()).file("requests.gor", gor);
    let ran = session.loadline(&format!(
        "replay access.log {} --speed 60x --from 00:36:10 --to +20s --only '/people/*' --rewrite '/people/* => /healthz' --no-save -t 2 --arrivals even",
        server.url("")
    ));
    let ran = tells(tells(ran.exits(0), "10 requests of"), "spread over it in their order, evenly");
    reports(ran, "10 requests, all answered with the status of the log");
    assert_eq!(server.counts().path("/healthz"), 10);
    let line = format!("replay - requests.gor {} --speed 10000x --writes --host '*' --per-client-order --no-save", server.url(""));
    session = session.stdin(&log());
    let mut ran = session.loadline(&line).exits(0);
    for words in ["standard input: combined", "requests.gor: gor", "30 requests that may change something, with empty bodies"] {
        ran = tells(ran, words);
    }
    assert_eq!(server.counts().path("/orders"), 31);
    session.loadline(&format!("replay access.log {} --dry-run", server.url(""))).exits(0).says("60 requests");
    assert_eq!(server.counts().path("/people/1000"), 1, "nothing is sent by a dry run");
}

#[test]
fn forms_of_a_recording_are_sent_and_what_it_does_not_hold_is_told() {
    let recorder = Recorder::start(Duration::ZERO, 200);
    let entry = |path: &str, params: &str| {
        format!(
            r#"{{"startedDateTime": "2026-03-01T10:00:00Z", "request": {{"method": "POST", "url": "https://shop.example{path}", "bodySize": 90,
                "headers": [{{"name": "Content-Type", "value": "multipart/form-data; boundary=b1"}}],
                "postData": {{"mimeType": "multipart/form-data; boundary=b1"{params}}}}}, "response": {{"status": 200}}}}"#
        )
    };
    let entries = [
        entry("/note", r#", "params": [{"name": "title", "value": "it"}]"#),
        entry(
            "/photo",
            r#", "params": [{"name": "title", "value": "it"}, {"name": "photo", "fileName": "a.png", "contentType": "image/png"}]"#,
        ),
        entry("/lost", ""),
    ];
    let har = format!(r#"{{"log": {{"creator": {{}}, "entries": [{}]}}}}"#, entries.join(","));
    let mut session = Session::new().file("session.har", &har);
    let mut ran = session.loadline(&format!("replay session.har {} --writes -c 1 --no-save --out json=run.json", recorder.url)).exits(0);
    for words in [
        "2 requests without something of their bodies, which the recording does not hold:",
        "session.har: entry 2: POST /photo",
        "session.har: entry 3: POST /lost",
    ] {
        ran = tells(ran, words);
    }
    let warnings = session.json("run.json")["warnings"].to_string();
    assert!(
        warnings.contains("2 requests were sent without something of their bodies") && warnings.contains("entry 2: POST /photo"),
        "{warnings}"
    );
    let raw = recorder.raw();
    let note = raw.iter().find(|request| request.starts_with("POST /note ")).unwrap();
    assert!(note.contains("Content-Type: multipart/form-data; boundary=b1\r\n"), "{note}");
    assert!(note.contains("--b1\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nit\r\n--b1--\r\n"), "{note}");
    let lost = raw.iter().find(|request| request.starts_with("POST /lost ")).unwrap();
    assert!(lost.contains("Content-Length: 0\r\n"), "{lost}");
}

#[test]
fn times_are_those_of_the_log() {
    let server = server();
    // In bursts of five within ten milliseconds, at moments that no rate has.
    let starts: Vec<u64> = (0..40u64).map(|at| at / 5 * 137 + at % 5 * 2 + (at / 5 % 3) * 31).collect();
    let text: String = starts
        .iter()
        .map(|at| format!("{{\"time\":\"170000000{}.{:03}\",\"path\":\"/healthz\",\"status\":200}}\n", at / 1000, at % 1000))
        .collect();
    let mut session = Session::new().file("app.jsonl", &text);
    session.loadline(&format!("replay app.jsonl {} --no-save --quiet --out json=run.json", server.url(""))).exits(0);
    let run = session.json("run.json");
    assert_eq!(run["requests"]["succeeded"], 40);
    let span = starts.iter().max().unwrap() - starts.iter().min().unwrap();
    assert_eq!(run["plan"]["rate"].as_str().map(|rate| rate.contains("for")), Some(true));
    assert_eq!(run["duration_s"].as_f64().map(|length| (length * 1000.0).round() as u64), Some(span + 1));
    // Sent within 5 ms of their times: what this machine's other work delays is a share, not a rule.
    let p50 = run["lag"]["quantiles"]["0.5"].as_u64().unwrap_or(0);
    assert!(p50 < 5_000_000, "half of all requests were sent more than 5 ms late: {p50} ns");
}

#[test]
fn mistakes_are_told_together_before_anything_is_sent() {
    let server = server();
    let url = server.url("");
    let mut session = Session::new().file("access.log", &log()).file("empty.log", "").file("noise.log", "this is\nno log\n");
    let mut ran = session
        .loadline(&format!(
            "replay missing.log {url}/shop?x --speed max --only users --rewrite '/a => b' --rate 5/s --data x --from soon -H nothing"
        ))
        .exits(2);
    for words in [
        "has a path or a query",
        "--rewrite '/* => /shop/*'",
        "--speed 'max' is no speed",
        "--only 'users' is no path: one begins with / or *\n  users\n  ^^^^^",
        "--rewrite '/a => b' makes no path: one begins with /\n  /a => b\n        ^",
        "--rate is no setting of a replay",
        "--data is no setting of a replay",
        "--from 'soon' is no moment",
        "nothing",
    ] {
        ran = ran.complains(words);
    }
    for (words, said) in [
        (format!("replay missing.log {url}"), "'missing.log' cannot be read"),
        (format!("replay empty.log {url}"), "the log is empty"),
        (format!("replay noise.log {url}"), "no line of the log could be read: noise.log:1 this is"),
        (format!("replay access.log {url} --from 00:36:20 --to 2016-03-01T00:36:10"), "nothing lies between"),
        (format!("replay access.log {url} --only /none"), "nothing of the log is left to be sent"),
        (format!("replay access.log {url} --from +10h"), "the log has requests of 2016-03-01 00:36:00 +0100 to 2016-03-01 00:36:29 +0100"),
        ("replay access.log".to_owned(), "no target is given"),
        (format!("replay {url}"), "no log is given"),
        ("replay access.log nowhere".to_owned(), "the target 'nowhere'"),
        (format!("replay access.log {url} --log-format combine"), "no known form"),
        (format!("replay . {url}"), "'.' cannot be read"),
    ] {
        tells(session.loadline(&words).exits(2), said);
    }
    assert_eq!(server.counts().path("/healthz"), 0);
}

#[test]
fn lines_that_no_server_writes_are_counted_and_the_rest_is_sent() {
    let server = server();
    let mut text = line(0, "GET /healthz", 200) + &"x".repeat(3 << 20) + "\n" + &line(1, "GET /healthz", 200);
    text += "\u{0}\u{1}\u{2}binary\n\n";
    text += &line(1, "GET /healthz", 200)[..60];
    let mut session = Session::new().file("access.log", &text);
    let mut ran = session.loadline(&format!("replay access.log {} --speed 10x --no-save", server.url(""))).exits(0);
    for words in ["2 requests of", "1 line is too long", "1 line is blank"] {
        ran = tells(ran, words);
    }
    assert_eq!(server.counts().path("/healthz"), 2);
}

#[test]
fn what_is_kept_of_a_replay_that_is_killed_tells_nothing_of_its_log() {
    // A server that says again what it was asked.
    let server = Recorder::start_with(|request| {
        let body = format!("no such thing: {}", request.lines().next().unwrap_or_default());
        let status = if request.contains("/people/") { 500 } else { 200 };
        format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{body}", body.len())
    });
    let mut session = Session::new().file("access.log", &log());
    let replay = session.start(&format!("replay access.log {}", server.url));
    let replay = replay.once(|| journals(&session).matches("\"second\"").count() >= 3);
    let kept = journals(&session);
    assert!(kept.contains("no such thing") && !kept.contains("s3cr3t"), "{kept}");
    replay.signal(Signal::KILL).end();
    let shown = session.loadline("show @last --out json=-").exits(0);
    assert!(shown.stdout.contains("no such thing") && !shown.stdout.contains("s3cr3t"), "{}", shown.stdout);
}

#[test]
fn a_slow_server_makes_requests_wait_and_the_wait_is_counted() {
    let server = server();
    let text: String =
        (0..10).map(|at| format!("{{\"time\":\"1700000000.{:03}\",\"path\":\"/behave?delay=100ms\",\"status\":200}}\n", at + 1)).collect();
    let mut session = Session::new().file("app.jsonl", &text);
    session.loadline(&format!("replay app.jsonl {} -c 1 -t 1 --no-save --quiet --out json=run.json", server.url(""))).exits(0);
    let run = session.json("run.json");
    let max = |name: &str| run[name]["max_ns"].as_u64().unwrap_or_else(|| panic!("{name}: {}", run[name]));
    assert_eq!(run["requests"]["due"], 10);
    assert!(max("wait") > 5 * max("service_time") / 2, "{} {}", run["wait"], run["service_time"]);
    assert!(max("response_time") > max("service_time"), "{} {}", run["response_time"], run["service_time"]);
}

/// nginx in a directory; it ends with this value.
struct Nginx(Child);

impl Drop for Nginx {
    fn drop(&mut self) {
        // Asked to end, so that it ends its worker.
        let pid = rustix::process::Pid::from_raw(i32::try_from(self.0.id()).unwrap()).unwrap();
        let _ = rustix::process::kill_process(pid, Signal::TERM);
        let _ = self.0.wait();
    }
}

/// An nginx that writes its log with milliseconds, in a directory of its own, and where it listens.
fn nginx(session: Session, name: &str) -> (Session, Nginx, u16) {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    std::fs::create_dir(session.path(name)).unwrap();
    let here = session.path(name).display().to_string();
    let config = format!(
        "daemon off; worker_processes 1; pid {here}/pid; error_log stderr crit;\nevents {{ worker_connections 256; }}\nhttp {{\n\
         log_format fine '$remote_addr - $remote_user [$msec] \"$request\" $status $body_bytes_sent $request_time';\n\
         client_body_temp_path {here}/b; proxy_temp_path {here}/p; fastcgi_temp_path {here}/f; uwsgi_temp_path {here}/u; scgi_temp_path {here}/s;\n\
         server {{ listen 127.0.0.1:{port}; access_log {here}/access.log fine; access_log {here}/combined.log combined;\n\
         location /people/ {{ return 200 user; }}\nlocation /missing {{ return 404; }}\nlocation /health {{ return 204; }} }} }}\n"
    );
    let session = session.file(&format!("{name}.conf"), &config);
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    let child = Command::new("nginx")
        .env("PATH", path)
        .arg("-c")
        .arg(session.path(&format!("{name}.conf")))
        .args(["-e", "stderr"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn();
    let mut nginx = Nginx(child.expect("nginx is installed"));
    let deadline = Instant::now() + Duration::from_secs(30);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(nginx.0.try_wait().unwrap().is_none() && Instant::now() < deadline, "nginx does not come up");
        thread::sleep(Duration::from_millis(10));
    }
    (session, nginx, port)
}

/// Method, target and status of each line, and how many; and the moments at which requests began, in milliseconds.
fn written(log: &str) -> (BTreeMap<String, u64>, Vec<i64>) {
    let (mut mix, mut starts) = (BTreeMap::new(), Vec::new());
    for line in log.lines() {
        let parts: Vec<&str> = line.split('"').collect();
        let numbers: Vec<&str> = parts[2].split_whitespace().collect();
        *mix.entry(format!("{} {}", parts[1], numbers[0])).or_default() += 1;
        let end: f64 = parts[0].split(['[', ']']).nth(1).unwrap().parse().unwrap();
        let took: f64 = numbers[2].parse().unwrap();
        starts.push(((end - took) * 1000.0).round() as i64);
    }
    starts.sort_unstable();
    (mix, starts)
}

#[test]
fn what_nginx_wrote_down_is_sent_again_as_it_was() {
    if !tools::are_here(&["nginx"]) {
        return;
    }
    let (session, first, port) = nginx(Session::new(), "first");
    let (mut session, second, other) = nginx(session, "second");
    let urls = "3 /health\n2 /people/17?page=2\n1 /missing\n";
    session = session.file("urls.txt", urls);
    session
        .loadline(&format!("run http://127.0.0.1:{port}/ --urls urls.txt --rate 150/s -d 2s -c 20 --no-save --quiet --out json=sent.json"))
        .exits(0);
    let sent = session.json("sent.json")["requests"]["due"].as_u64().unwrap();
    drop(first);
    let form = "$remote_addr - $remote_user [$msec] \"$request\" $status $body_bytes_sent $request_time";

    let told = session.loadline(&format!("traffic first/access.log --log-format '{form}' --out json=-")).exits(0);
    let told: serde_json::Value = serde_json::from_str(&told.stdout).unwrap();
    assert_eq!(told["requests"].as_u64(), Some(sent), "traffic tells what was sent");

    let ran = session
        .loadline(&format!("replay first/access.log http://127.0.0.1:{other} --log-format '{form}' --no-save --out json=run.json"))
        .exits(0);
    let ran = tells(ran, "the given format");
    reports(ran, &format!("{sent} requests, all answered with the status of the log"));
    drop(second);
    let (before, after) = (written(&session.read("first/access.log")), written(&session.read("second/access.log")));
    assert_eq!(before.0, after.0, "the mix is the same, request by request");

    // Gaps between arrivals within 5 ms, but for what other work on this machine delays: both logs have milliseconds.
    let gaps = |starts: &[i64]| starts.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>();
    let (before, after) = (gaps(&before.1), gaps(&after.1));
    let near = before.iter().zip(&after).filter(|(a, b)| (*a - *b).abs() <= 5).count();
    assert!(near * 10 >= before.len() * 8, "{near} of {} gaps are within 5 ms", before.len());

    // With whole seconds alone the mix is the same.
    let (mut session, third, other) = nginx(session, "third");
    session.loadline(&format!("replay first/combined.log http://127.0.0.1:{other} --no-save --quiet")).exits(0);
    drop(third);
    let again = written(&session.read("third/access.log"));
    assert_eq!(written(&session.read("first/access.log")).0, again.0);
}
