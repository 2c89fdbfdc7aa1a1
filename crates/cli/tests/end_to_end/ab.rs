//! `loadline ab` beside the real ab on the same servers: reports, requests, files, mistakes and ends.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::recorder::Recorder;
use crate::session::{Ran, Session, server};
use crate::tools;

/// Runs the real ab with these words, in the session's directory.
fn real(session: &Session, words: &[&str]) -> Output {
    Command::new("ab").args(words).current_dir(session.path(".")).output().expect("ab is installed by scripts/tools.sh")
}

fn ours(session: &mut Session, words: &[&str]) -> Ran {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    session.loadline(&format!("ab {}", quoted.join(" ")))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Numbers as `#`, blanks as one, without the warnings that come and go with the machine's noise.
fn masked(report: &str) -> String {
    let lines = report.lines().filter(|line| !line.contains("The median and mean for") && !line.contains("esults are "));
    let masked = lines.map(|line| {
        let mut text = String::new();
        for letter in line.chars() {
            let letter = if letter.is_ascii_digit() || letter == '.' { '#' } else { letter };
            let repeats = text.ends_with(letter) && matches!(letter, '#' | ' ');
            if !repeats {
                text.push(letter);
            }
        }
        text
    });
    masked.collect::<Vec<_>>().join("\n").replace(" #", "#")
}

/// The lines whose figures are counts.
fn counts(report: &str) -> Vec<&str> {
    let labels = [
        "Server ",
        "SSL/TLS ",
        "TLS Server",
        "Document ",
        "Concurrency",
        "Complete",
        "Failed",
        "   (Connect",
        "Write errors",
        "Non-2xx",
        "Keep-Alive",
        "Total transferred",
        "Total body",
        "HTML",
    ];
    report.lines().filter(|line| labels.iter().any(|label| line.starts_with(label) || line.contains(&format!(">{label}")))).collect()
}

fn assert_alike(session: &mut Session, words: &[&str]) -> Ran {
    let theirs = real(session, words);
    assert!(theirs.status.success(), "{words:?}: {}", text(&theirs.stderr));
    let theirs = text(&theirs.stdout);
    let ran = ours(session, words).exits(0);
    assert_eq!(masked(&ran.stdout), masked(&theirs), "{words:?}");
    assert_eq!(counts(&ran.stdout), counts(&theirs), "{words:?}");
    ran
}

#[test]
fn reports_are_equal_but_for_times_and_counts_are_equal() {
    if !tools::are_here(&["ab", "nginx", "openssl"]) {
        return;
    }
    let good = Recorder::start(Duration::from_millis(1), 200);
    let bad = Recorder::start(Duration::ZERO, 404);
    let mut session = Session::new().file("body", "a=1&b=2");
    let url = format!("{}/x?y=1", good.url);
    for words in [
        &["-n", "40", "-c", "4"][..],
        &["-n", "40", "-c", "4", "-k"],
        &["-n", "40", "-c", "4", "-k", "-l"],
        &["-n", "9", "-i"],
        &["-n", "9", "-k", "-i"],
        // With the same name of the same length: bytes sent are counted.
        &["-n", "12", "-c", "3", "-p", "body", "-T", "application/x-www-form-urlencoded", "-H", "User-Agent: x"],
        &["-n", "12", "-u", "body", "-S", "-H", "User-Agent: x"],
        &["-n", "12", "-d"],
        &["-n", "1"],
        &["-w", "-n", "12"],
        &["-n", "12", "-x", "border=1", "-y", "r", "-z", "c", "-k", "-p", "body", "-H", "User-Agent: x"],
        &["-q", "-n", "200"],
        &["-n", "200", "-k", "-c", "7"],
        &["-t", "60", "-n", "20"],
    ] {
        let words: Vec<&str> = words.iter().copied().chain([url.as_str()]).collect();
        assert_alike(&mut session, &words).complains_of_nothing_but_progress();
    }
    for words in [&["-n", "12", "-k"][..], &["-n", "6", "-w"]] {
        let url = format!("{}/", bad.url);
        let words: Vec<&str> = words.iter().copied().chain([url.as_str()]).collect();
        assert_alike(&mut session, &words).complains("check.status");
    }
}

impl Ran {
    /// Standard error holds at most progress.
    fn complains_of_nothing_but_progress(self) {
        for line in self.stderr.lines() {
            // A machine that others use too may be remarked on.
            let expected = ["Completed ", "Finished ", "loadline: DEGRADED: ", "loadline: INVALID: "];
            assert!(expected.iter().any(|begun| line.starts_with(begun)), "{}", self.stderr);
        }
    }
}

#[test]
fn progress_is_told_in_the_same_steps() {
    if !tools::are_here(&["ab", "nginx", "openssl"]) {
        return;
    }
    let server = Recorder::start(Duration::ZERO, 200);
    let mut session = Session::new();
    for count in ["150", "151", "1234"] {
        let words = ["-k", "-n", count, &format!("{}/", server.url)];
        let theirs = real(&session, &words);
        let ran = ours(&mut session, &words).exits(0);
        // A machine that others use too may be remarked on.
        let progress: String = ran.stderr.lines().filter(|line| !line.starts_with("loadline: ")).map(|line| format!("{line}\n")).collect();
        assert_eq!(progress, text(&theirs.stderr), "{count}");
    }
}

#[test]
fn the_server_sees_the_same_bytes() {
    if !tools::are_here(&["ab", "nginx", "openssl"]) {
        return;
    }
    let server = Recorder::start(Duration::ZERO, 200);
    let mut session = Session::new().file("body", "some\nbytes");
    let url = format!("{}/a/b?x=1&y=%20z", server.url);
    let proxy = server.url.trim_start_matches("http://").to_owned();
    for words in [
        &[][..],
        &["-k"],
        &["-i"],
        &["-p", "body"],
        &["-p", "body", "-T", "a/b"],
        &["-u", "body"],
        &["-m", "DELETE"],
        &["-p", "body", "-m", "PATCH"],
        &["-C", "a=1", "-C", "b=2"],
        &["-A", " user:pass", "-P", "p:q", "-A", "x:y"],
        &["-H", "X-A: 1", "-H", "nocolon", "-H", "x-a:2", "-k"],
        &["-H", "Host: other.test"],
        &["-H", "accept: text/html", "-H", "Accept-Encoding: gzip"],
        &["-X", &proxy],
        &["-X", &proxy, "-k"],
    ] {
        let words: Vec<&str> = ["-n", "2"].iter().chain(words).copied().chain([url.as_str()]).collect();
        let seen = || -> Vec<String> { server.raw().iter().map(|request| request.replace(AGENT, "ApacheBench/2.3")).collect() };
        assert!(real(&session, &words).status.success());
        let theirs = seen();
        ours(&mut session, &words).exits(0);
        assert_eq!(seen(), theirs, "{words:?}");
        assert_eq!(theirs.len(), 2, "{words:?}");
    }
}

const AGENT: &str = concat!("loadline/", env!("CARGO_PKG_VERSION"));

#[test]
fn what_v_shows_is_equal() {
    if !tools::are_here(&["ab", "nginx", "openssl"]) {
        return;
    }
    let server = Recorder::start(Duration::ZERO, 200);
    let missing = Recorder::start(Duration::ZERO, 404);
    let mut session = Session::new();
    for level in ["1", "2", "3", "4"] {
        for url in [&server.url, &missing.url] {
            let words = ["-v", level, "-n", "2", &format!("{url}/")];
            let theirs = text(&real(&session, &words).stdout);
            let ran = ours(&mut session, &words).exits(0);
            assert_eq!(masked(&ran.stdout.replace(AGENT, "ApacheBench/2.3")), masked(&theirs), "{words:?}");
        }
    }
}

/// Answers every other request with a longer body.
fn fickle() -> String {
    serve(|mut stream, number| {
        let _ = stream.read(&mut [0; 4096]);
        let body = if number % 2 == 0 { "two" } else { "three" };
        let _ = stream.write_all(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    })
}

fn serve(each: impl Fn(TcpStream, u32) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    thread::spawn(move || (0..).zip(listener.incoming().flatten()).for_each(|(number, stream)| each(stream, number)));
    url
}

#[test]
fn a_document_of_another_length_is_a_failure_unless_lengths_may_vary() {
    if !tools::are_here(&["ab"]) {
        return;
    }
    let mut session = Session::new();
    let ran = assert_alike(&mut session, &["-n", "10", &fickle()]);
    let ran = ran.says("   (Connect: 0, Receive: 0, Length: 5, Exceptions: 0)\n");
    assert!(ran.stdout.contains("Failed requests:        5\n"));
    assert_alike(&mut session, &["-n", "10", "-l", &fickle()]).says("Document Length:        Variable\n").complains_of_nothing();
}

#[test]
fn a_broken_connection_ends_the_run_unless_r_says_otherwise() {
    if !tools::are_here(&["ab"]) {
        return;
    }
    // What is closed with bytes unread is reset.
    let reset = serve(|mut stream, _| drop(stream.read(&mut [0; 1])));
    let mut session = Session::new();
    for url in [reset.as_str(), "http://127.0.0.1:1/"] {
        let theirs = real(&session, &["-n", "20", url]);
        let ran = ours(&mut session, &["-n", "20", url]);
        assert_eq!(Some(ran.exit), theirs.status.code(), "{url}");
        assert_eq!(ran.stderr, text(&theirs.stderr), "{url}");
        assert_eq!(masked(&ran.stdout), masked(&text(&theirs.stdout)), "{url}");
        assert!(!ran.stdout.contains("Server Software"), "{}", ran.stdout);
    }
    let ran = ours(&mut session, &["-r", "-n", "20", &reset]).exits(0).says("Complete requests:      20\nFailed requests:        20\n");
    ran.says("   (Connect: 0, Receive: 20, Length: 0, Exceptions: 0)\n").complains("20 recv.reset");
    let ran = ours(&mut session, &["-r", "-n", "5", "http://127.0.0.1:1/"]).exits(0).says("Complete requests:      5\n");
    ran.says("   (Connect: 5, Receive: 0, Length: 0, Exceptions: 0)\n");
}

#[test]
fn when_nothing_happens_the_run_ends() {
    if !tools::are_here(&["ab"]) {
        return;
    }
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let mut session = Session::new();
    let theirs = real(&session, &["-s", "1", "-n", "3", &url]);
    let ran = ours(&mut session, &["-s", "1", "-n", "3", &url]);
    assert_eq!((Some(ran.exit), ran.stderr.as_str()), (theirs.status.code(), text(&theirs.stderr).as_str()));
}

#[test]
fn mistakes_end_as_in_ab() {
    if !tools::are_here(&["ab"]) {
        return;
    }
    let mut session = Session::new();
    for line in [
        "",
        "-n",
        "-Q",
        "-Q x",
        "-Q 5 http://a/",
        "-k -Q 5 http://h/",
        "-k -Q http://h/ -n 5",
        "-n 5 -Q -c 1 http://h/",
        "-Qk http://h/",
        "-Q -n 5",
        "-Q -c http://h/",
        "--help",
        "--nope http://h",
        "-k -- http://h",
        "- x",
        "-k -n 5",
        "-k http://h/ -n 5",
        "-h",
        "-V",
        "http://a",
        "http://a/ x",
        "http://a:0/",
        "http://a:99999/",
        "-n 0 http://a/",
        "-n 5 -c 10 http://a/",
        "-c 200001 -n 300000 http://a/",
        "-c -1 http://a/",
        "-i -p /dev/null http://a/",
        "-p /dev/null -u /dev/null http://a/",
        "-m FOO -p /dev/null http://a/",
        "-p /nonexistent http://a/",
        "-n 2 http://name.invalid/",
    ] {
        let words: Vec<&str> = line.split_whitespace().collect();
        let theirs = real(&session, &words);
        let ran = ours(&mut session, &words);
        assert_eq!(Some(ran.exit), theirs.status.code(), "{line}");
        assert_eq!(ran.stderr, text(&theirs.stderr), "{line}");
        assert_eq!(ran.stdout, text(&theirs.stdout), "{line}");
    }
    ours(&mut session, &["-Z", "AES", "https://127.0.0.1:1/"]).exits(22).complains("ab: error: -Z AES").complains("help: ");
    ours(&mut session, &["-f", "SSL3", "https://127.0.0.1:1/"]).exits(22).complains("-f SSL3");
    ours(&mut session, &["-g", "no/such/dir", "http://127.0.0.1:1/"]).exits(1).complains("Cannot open gnuplot output file: No such file");
}

#[test]
fn files_have_the_same_rows_and_columns() {
    if !tools::are_here(&["ab", "nginx", "openssl"]) {
        return;
    }
    let server = Recorder::start(Duration::from_millis(2), 200);
    let mut session = Session::new();
    let url = format!("{}/", server.url);
    assert!(real(&session, &["-n", "30", "-c", "3", "-g", "theirs.tsv", "-e", "theirs.csv", &url]).status.success());
    ours(&mut session, &["-n", "30", "-c", "3", "-g", "ours.tsv", "-e", "ours.csv", &url]).exits(0);
    let (theirs, ours) = (session.read("theirs.tsv"), session.read("ours.tsv"));
    assert_eq!(ours.lines().next(), theirs.lines().next());
    assert_eq!(ours.lines().count(), 31);
    let columns =
        |text: &str| -> Vec<Vec<String>> { text.lines().skip(1).map(|line| line.split('\t').map(str::to_owned).collect()).collect() };
    for (ours, theirs) in columns(&ours).iter().zip(columns(&theirs)) {
        assert_eq!((ours.len(), ours[0].len()), (theirs.len(), theirs[0].len()));
        // The day and its name, and the time of day within the test's own time.
        assert_eq!(ours[0][..10], theirs[0][..10]);
        let seconds = |row: &[String]| row[1].parse::<u64>().unwrap();
        assert!(seconds(ours) - seconds(&theirs) < 120, "{ours:?} {theirs:?}");
    }
    for row in columns(&ours).iter().chain(&columns(&theirs)) {
        // The first column says in words what the second says in seconds.
        let at = jiff::Timestamp::from_second(row[1].parse().unwrap()).unwrap().to_zoned(jiff::tz::TimeZone::system());
        assert_eq!(row[0], at.strftime("%a %b %d %H:%M:%S %Y").to_string());
        let [connect, processing, total, waiting] = [2, 3, 4, 5].map(|column| row[column].parse::<u64>().unwrap());
        // Each is rounded on its own.
        assert!((connect + processing).abs_diff(total) <= 1 && waiting <= processing + 1, "{row:?}");
    }
    let totals: Vec<u64> = columns(&ours).iter().map(|row| row[4].parse().unwrap()).collect();
    assert!(totals.is_sorted() && totals[0] >= 2, "{totals:?}");
    let (theirs, ours) = (session.read("theirs.csv"), session.read("ours.csv"));
    let first = |text: &str| text.lines().map(|line| line.split(',').next().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(first(&ours), first(&theirs));
    assert!(ours.lines().skip(1).all(|line| line.split_once('.').unwrap().1.len() == 3));
}

/// The number behind a label.
fn figure(report: &str, label: &str) -> f64 {
    let rest = report.lines().find_map(|line| line.strip_prefix(label)).unwrap_or_else(|| panic!("{label:?} is not in:\n{report}"));
    rest.split_whitespace().next().unwrap().parse().unwrap()
}

fn rate(report: &str) -> f64 {
    figure(report, "Requests per second:")
}

#[test]
fn numbers_agree_where_the_server_is_the_limit() {
    if !tools::are_here(&["ab", "nginx", "openssl"]) {
        return;
    }
    let server = Recorder::start(Duration::from_millis(20), 200);
    let mut session = Session::new();
    let words = ["-n", "600", "-c", "6", "-k", &format!("{}/", server.url)];
    // A pause of this machine hits one of two: the fastest of three each.
    let fastest = |reports: [String; 3]| reports.into_iter().max_by(|a, b| rate(a).total_cmp(&rate(b))).unwrap();
    let theirs = fastest([(); 3].map(|()| text(&real(&session, &words).stdout)));
    let ours = fastest([(); 3].map(|()| ours(&mut session, &words).exits(0).stdout));
    // Not the slowest: it is the machine's at these loads, and another one in each of two runs.
    for label in ["Time taken for tests:", "Requests per second:", "Time per request:", "Transfer rate:", "  50%", "  75%"] {
        let ratio = figure(&ours, label) / figure(&theirs, label);
        assert!((0.85..1.15).contains(&ratio), "{label} {ratio}\n{ours}\n{theirs}");
    }
}

/// The most memory this command line has had, in bytes, as the system kept it until shortly before its end.
fn memory_bytes_max(program: &str, words: &[&str], session: &Session) -> u64 {
    let mut command = Command::new(program);
    command.args(words).current_dir(session.path(".")).env("LOADLINE_DB", session.data("h.db"));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let kib = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).and_then(|rest| rest.split_whitespace().next()?.parse().ok());
        most = most.max(kib.unwrap_or(0_u64) * 1024);
        thread::sleep(Duration::from_millis(1));
    }
    assert!(child.wait().unwrap().success(), "{program} {words:?}");
    most
}

#[test]
fn memory_does_not_grow_with_the_number_of_requests() {
    let server = server();
    let session = Session::new();
    let url = server.url("/healthz");
    let grown = |program: &str, before: &[&str]| {
        let [few, many] = ["5000", "100000"].map(|count| {
            let words: Vec<&str> = before.iter().copied().chain(["-q", "-k", "-c", "4", "-n", count, url.as_str()]).collect();
            memory_bytes_max(program, &words, &session)
        });
        many.saturating_sub(few)
    };
    let (ours, theirs) = (grown(env!("CARGO_BIN_EXE_loadline"), &["ab"]), grown("ab", &[]));
    // ab keeps some forty bytes of each.
    assert!(theirs > 95_000 * 24, "{theirs}");
    assert!(ours < theirs / 2, "{ours} and {theirs}");
}

#[test]
fn a_time_limit_ends_the_run_and_everything_sent_is_counted() {
    let server = server();
    let ran = Session::new().loadline(&format!("ab -q -k -c 3 -t 1 -n 100000000 {}", server.url("/healthz"))).exits(0);
    let complete = ran.stdout.lines().find_map(|line| line.strip_prefix("Complete requests:")).unwrap().trim().to_owned();
    assert_eq!(complete, server.counts().answered.to_string());
    assert!(!ran.says("Failed requests:        0\n").stdout.contains("Time taken for tests:   0."));
}

#[test]
fn an_interrupted_run_reports_and_ends_with_1() {
    if !tools::are_here(&["nginx", "openssl"]) {
        return;
    }
    let server = server();
    let running = Session::new().start(&format!("ab -q -k -c 2 -n 100000000 {}", server.url("/healthz")));
    let ran = running.once(|| server.counts().answered > 100).signal(Signal::INT).end().exits(1);
    ran.says("Complete requests:").says("(longest request)");
}

#[test]
fn a_connection_the_server_closes_in_silence_is_no_failure() {
    // Says it keeps the connection, and closes it all the same when the next request has come.
    let url = serve(|mut stream, _| {
        let _ = stream.read(&mut [0; 4096]);
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok");
        let _ = stream.read(&mut [0; 4096]);
    });
    let ran = Session::new().loadline(&format!("ab -k -n 6 {url}")).exits(0).complains_of_nothing();
    ran.says("Complete requests:      6\n").says("Failed requests:        0\n").says("Keep-Alive requests:    6\n");
}

#[test]
fn compat_and_links_know_it() {
    let mut session = Session::new();
    session.loadline("compat ab -n 10 -k http://127.0.0.1:1/").exits(0).says("-k").says("Everything in it is supported.");
    session.loadline("compat ab -Z AES http://127.0.0.1:1/").exits(1).says("-Z");
    for (line, why) in [
        ("-n 5 -c 10 http://h/", "Cannot use concurrency level greater than total number of requests"),
        ("-n 5", "wrong number of arguments"),
        ("-n 5 -p missing http://h/", "Could not open POST data file (missing)"),
    ] {
        session.loadline(&format!("compat ab {line}")).exits(1).says("the command line").says(why);
    }
    session.loadline("links bin").exits(0).says("/bin/ab\n");
}

/// A real nginx that speaks TLS; it ends with this value.
pub struct Nginx {
    child: Child,
    pub url: String,
}

impl Nginx {
    pub fn start(session: &Session) -> Self {
        let dir = Self::certified(session);
        Self::serving(
            session,
            "https",
            "worker_processes 1; events { worker_connections 64; }",
            &format!(
                "ssl; ssl_certificate {dir}/cert.pem; ssl_certificate_key {dir}/key.pem; ssl_protocols TLSv1.2 TLSv1.3; \
                 ssl_verify_client optional_no_ca; location / {{ return 200 '$ssl_client_s_dn of $remote_addr'; }}"
            ),
        )
    }

    /// One that speaks HTTP/2, and ends each of its connections after a hundred requests.
    pub fn start_http2(session: &Session, scheme: &str) -> Self {
        let dir = Self::certified(session);
        let tls = if scheme == "https" {
            format!("ssl http2; ssl_certificate {dir}/cert.pem; ssl_certificate_key {dir}/key.pem")
        } else {
            "http2".to_owned()
        };
        let limits = "worker_processes 1; events { worker_connections 64; }";
        Self::serving(
            session,
            scheme,
            limits,
            &format!("{tls}; keepalive_requests 100; location / {{ return 200 '$server_protocol $request_uri'; }}"),
        )
    }

    /// One that stands before a server of WebSocket at this address, and speaks TLS and HTTP/2 to others.
    pub fn start_before(session: &Session, address: &str) -> Self {
        let dir = Self::certified(session);
        let pass = format!(
            "proxy_pass http://{address}; proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade"
        );
        let tls = format!("ssl http2; ssl_certificate {dir}/cert.pem; ssl_certificate_key {dir}/key.pem");
        let server =
            format!("{tls}; location / {{ return 200 '$server_protocol'; }} location /echo {{ {pass}; }} location /chat {{ {pass}; }}");
        Self::serving(session, "https", "worker_processes 1; events { worker_connections 64; }", &server)
    }

    /// A certificate in the session's folder, which is given.
    pub fn certified(session: &Session) -> String {
        Self::certified_with(session, &[])
    }

    /// The same with what else the certificate says.
    pub fn certified_with(session: &Session, more: &[&str]) -> String {
        let dir = session.path(".").display().to_string();
        let made = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "2"])
            .args(["-subj", "/CN=localhost"])
            .args(more)
            .current_dir(&dir)
            .output();
        assert!(made.expect("openssl is installed by scripts/tools.sh").status.success());
        dir
    }

    /// One that answers as many connections as so many workers may have.
    pub fn start_plain(session: &Session, workers: u32) -> Self {
        let limits = format!("worker_processes {workers}; worker_rlimit_nofile 20000; events {{ worker_connections 19900; }}");
        Self::serving(session, "http", &limits, "reuseport backlog=65535; keepalive_requests 1000000; location / { return 200 ok; }")
    }

    /// One whose server block says this behind its address.
    pub fn serving(session: &Session, scheme: &str, limits: &str, server: &str) -> Self {
        let dir = session.path(".").display().to_string();
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let places: String =
            ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(|what| format!("{what}_temp_path {dir}/{what};\n")).concat();
        let config =
            format!("daemon off; pid {dir}/pid; {limits} http {{ access_log off; {places} server {{ listen {address} {server} }} }}");
        std::fs::write(session.path("nginx.conf"), config).unwrap();
        let mut child = Command::new("nginx")
            .env("PATH", format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default()))
            .args(["-e", "stderr", "-c", &format!("{dir}/nginx.conf")])
            .stderr(Stdio::null())
            .spawn()
            .expect("nginx is installed by scripts/tools.sh");
        let deadline = Instant::now() + Duration::from_secs(60);
        while TcpStream::connect(address).is_err() {
            assert!(Instant::now() < deadline && child.try_wait().unwrap().is_none(), "nginx does not come up");
            thread::sleep(Duration::from_millis(1));
        }
        Self { child, url: format!("{scheme}://{address}/") }
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // Killed outright, the master would leave its worker behind.
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let _ = self.child.wait();
    }
}

#[test]
fn lines_about_tls_are_equal() {
    if !tools::are_here(&["ab", "nginx", "openssl"]) {
        return;
    }
    let mut session = Session::new();
    let nginx = Nginx::start(&session);
    let named = nginx.url.replace("127.0.0.1", "localhost");
    std::fs::write(session.path("both.pem"), session.read("cert.pem") + &session.read("key.pem")).unwrap();
    for words in [
        &["-n", "6", "-c", "2", &nginx.url][..],
        &["-n", "6", "-k", "-f", "TLS1.2", &nginx.url],
        &["-n", "6", "-k", "-f", "tls1.3", &named],
        &["-n", "6", "-I", &named],
        &["-n", "6", "-H", "Host: other.test", &nginx.url],
        // The server answers with the name in the client's certificate and the address it comes from, so with more bytes.
        &["-n", "6", "-E", "both.pem", &nginx.url],
        &["-n", "6", "-k", "-E", "both.pem", "-f", "TLS1.2", "-B", "127.0.0.11", "-b", "65536", &nginx.url],
    ] {
        let theirs = text(&real(&session, words).stdout);
        let ran = ours(&mut session, words).exits(0);
        let length = |report: &str| figure(report, "Document Length:");
        let least = "of 127.0.0.1".len() + if words.contains(&"-E") { "CN=localhost ".len() } else { 1 };
        assert!(length(&ran.stdout) == length(&theirs) && length(&theirs) >= least as f64, "{words:?}\n{theirs}");
        let about_tls = |report: &str| -> Vec<String> {
            // The cipher is negotiated by two libraries of their own minds; all else must be the same.
            let lines = report.lines().filter(|line| ["SSL/TLS", "Server Temp", "TLS Server"].iter().any(|label| line.starts_with(label)));
            lines
                .map(|line| line.split(',').enumerate().filter(|(place, _)| !matches!(place, 1 | 3)).map(|(_, part)| part).collect())
                .collect()
        };
        assert_eq!(about_tls(&ran.stdout), about_tls(&theirs), "{words:?}\n{theirs}");
        assert!(about_tls(&theirs)[0].starts_with("SSL/TLS Protocol:       TLSv1."), "{theirs}");
        assert_eq!(masked(&ran.stdout).lines().count(), masked(&theirs).lines().count(), "{words:?}");
    }
}
