//! `loadline run`: what it measures, where results go, and how it ends.

use std::fs::{self, File};

use rustix::process::Signal;

use crate::ab::Nginx;
use crate::session::{Session, prose, server};

#[test]
fn a_counted_run_sends_exactly_that_many_and_reports_them() {
    let server = server();
    let mut session = Session::new();
    let ran = session.loadline(&format!("run {} -n 200 -c 8 -t 2 --out json=r.json --out text=r.txt", server.url("/healthz")));
    ran.exits(0).complains_of_nothing();
    assert_eq!(server.counts().path("/healthz"), 200);
    let result = session.json("r.json");
    assert_eq!((&result["requests"]["succeeded"], &result["status"]["200"]), (&200.into(), &200.into()));
    assert_eq!(session.files(), ["r.json", "r.txt"]);
}

#[test]
fn the_report_stands_on_standard_output_and_nothing_on_standard_error() {
    let server = server();
    let url = server.url("/healthz");
    for quiet in ["", "--quiet"] {
        let ran = Session::new().loadline(&format!("run {url} -n 20 {quiet}")).exits(0).complains_of_nothing();
        assert!(ran.stdout.contains(&url) && !ran.stdout.contains('\x1b'), "{}", ran.stdout);
    }
}

#[test]
fn colour_is_for_terminals_and_for_those_who_ask() {
    let server = server();
    let line = format!("run {} -n 20", server.url("/healthz"));
    assert!(!Session::new().loadline(&line).stdout.contains('\x1b'));
    assert!(Session::new().loadline(&format!("{line} --colour always")).stdout.contains('\x1b'));
    assert!(Session::new().env("NO_COLOR", "1").loadline(&format!("{line} --color always")).stdout.contains('\x1b'));
    assert!(!Session::new().loadline(&format!("{line} --color never")).stdout.contains('\x1b'));
}

#[test]
fn a_format_on_standard_output_has_it_to_itself() {
    let server = server();
    let line = format!("run {} -n 20 --out json=-", server.url("/healthz"));
    let ran = Session::new().loadline(&line).exits(0);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&ran.stdout).unwrap()["requests"]["due"], 20);
    assert!(ran.stderr.contains("200"), "the text report goes to standard error: {}", ran.stderr);
    let ran = Session::new().loadline(&format!("{line} --quiet")).exits(0).complains_of_nothing();
    assert!(ran.stdout.starts_with('{'));
}

#[test]
fn a_result_is_replaced_only_with_force() {
    let server = server();
    let line = format!("run {} -n 20 --out json=r.json", server.url("/healthz"));
    let mut session = Session::new().file("r.json", "last week's");
    session.loadline(&line).exits(2).complains("error: the file 'r.json' exists\n  help: give another name, or --force to replace it");
    assert_eq!((session.read("r.json").as_str(), server.counts().received), ("last week's", 0));
    session.loadline(&format!("{line} --force")).exits(0);
    assert_eq!(session.json("r.json")["requests"]["due"], 20);
}

#[test]
fn a_result_can_be_run_again_with_flags_over_it() {
    let server = server();
    let mut session = Session::new().stdin("a=1&b=2");
    session.loadline(&format!("run {} -X PUT --data @- -n 30 -c 3 --out json=r.json", server.url("/healthz"))).exits(0);
    assert_eq!(server.counts().path("/healthz"), 30);
    session.loadline("run --from r.json --out json=again.json").exits(0);
    assert_eq!(server.counts().path("/healthz"), 60);
    assert_eq!(session.json("r.json")["plan"], session.json("again.json")["plan"]);
    assert_eq!(session.json("r.json")["plan"]["data"], "a=1&b=2");
    session.loadline("run --from r.json -n 5 -c 1 --out json=less.json").exits(0);
    assert_eq!(server.counts().path("/healthz"), 65);
    assert_eq!(session.json("less.json")["plan"]["method"], "PUT");
}

#[test]
fn a_secret_is_not_saved_and_is_asked_for_again() {
    let server = server();
    let mut session = Session::new();
    let url = server.url("/healthz");
    session.loadline(&format!("run {url} -n 2 --bearer tok-1 --cookie id=tok-2 -H 'X-Api-Key: tok-3' --out json=r.json")).exits(0);
    assert!(!session.read("r.json").contains("tok-"));
    let ran = session.loadline("run --from r.json").exits(2);
    for part in ["the header Authorization", "--bearer TOKEN", "the header Cookie", "--cookie NAME=VALUE", "--header 'X-Api-Key: …'"] {
        assert!(ran.stderr.contains(part), "{part}:\n{}", ran.stderr);
    }
    session.loadline("run --from r.json --bearer tok-1 --cookie id=tok-2 -H 'x-api-key: tok-3'").exits(0);
    assert_eq!(server.counts().received, 4);
}

#[test]
fn what_is_no_result_of_this_version_is_refused() {
    let mut session = Session::new()
        .file("later.json", r#"{"schema":"loadline.run/9","plan":{}}"#)
        .file("cut.json", r#"{"schema":"loadline.run/1","plan":{"url":"#)
        .file("other.json", r#"{"name":"x"}"#)
        .file("odd.json", r#"{"schema":"loadline.run/1","plan":{"urlz":"x"}}"#)
        .file("bare.json", r#"{"schema":"loadline.run/1"}"#);
    for (file, part) in [
        ("later.json", "it is written as 'loadline.run/9', and this loadline reads 'loadline.run/1'"),
        ("cut.json", "is damaged, or not a result: EOF while parsing"),
        ("other.json", "it is not a result of loadline"),
        ("odd.json", "its plan holds unknown field `urlz`"),
        ("bare.json", "it holds no plan"),
        ("missing.json", "there is no such file"),
    ] {
        let ran = session
            .loadline(&format!("run --from {file}"))
            .exits(2)
            .complains(part)
            .complains("help: give a file written with --out json=FILE");
        assert_eq!(ran.stderr.matches("error:").count(), 1, "{}", ran.stderr);
    }
}

#[test]
fn an_interrupted_run_gives_the_full_report() {
    for signal in [Signal::INT, Signal::TERM] {
        let server = server();
        let mut session = Session::new();
        let running = session.start(&format!("run {} -d 1h -c 2 --out json=r.json", server.url("/healthz")));
        let ran = running.once(|| server.counts().answered > 0).signal(signal).end().exits(130).says("/healthz");
        ran.complains("Ctrl-C again ends at once");
        let result = session.json("r.json");
        assert_eq!(result["ended"]["how"], "interrupted");
        assert_eq!(result["requests"]["succeeded"], server.counts().answered);
    }
}

#[test]
fn a_second_interrupt_does_not_wait_for_answers_that_never_come() {
    let server = server();
    let mut session = Session::new();
    session
        .start(&format!("run '{}' -d 1h -c 2 --timeout 1h", server.url("/behave?never")))
        .once(|| server.counts().received == 2)
        .signal(Signal::INT)
        .once_stderr_says("waiting for the last answers")
        .signal(Signal::INT)
        .end()
        .exits(130)
        .says("/behave");
}

#[test]
fn a_reader_that_hangs_up_costs_no_file() {
    let server = server();
    let mut session = Session::new();
    let running = session.start(&format!("run {} -n 20 --out json=r.json", server.url("/healthz")));
    running.hang_up().end().exits(0).complains_of_nothing();
    assert_eq!(session.json("r.json")["requests"]["due"], 20);
}

#[test]
fn an_output_that_fails_after_all_takes_no_other_with_it() {
    let server = server();
    let mut session = Session::new();
    fs::create_dir(session.path("gone")).unwrap();
    let running =
        session.start(&format!("run {} -d 1h -c 1 --out json=gone/r.json --out text=r.txt --out json=kept.json", server.url("/healthz")));
    let running = running.once(|| server.counts().received > 0);
    fs::remove_dir(session.path("gone")).unwrap();
    running.signal(Signal::INT).end().exits(5).complains("the json output could not be written to 'gone/r.json'");
    assert_eq!(session.files(), ["kept.json", "r.txt"]);
}

#[test]
fn a_full_disk_behind_standard_output_is_told_and_the_report_still_comes() {
    let server = server();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let ran = Session::new().stdout_to(full).loadline(&format!("run {} -n 20", server.url("/healthz"))).exits(5);
    ran.complains("the report could not be written to standard output: the disk is full").complains("/healthz");
}

#[test]
fn a_warm_up_is_found_or_it_is_said_why_not() {
    let server = server();
    let mut session = Session::new();
    let line = format!("run {} -c 2 --pause 20ms -d 2s --warmup auto --out json=r.json", server.url("/healthz"));
    session.loadline(&line).exits(0).says("fewer than 10 intervals");
    let result = session.json("r.json");
    assert_eq!((&result["plan"]["warmup"], &result["excluded"]["found"]["kind"]), (&"auto".into(), &"too_short".into()));
    session.loadline("run --from r.json --out json=again.json").exits(0);
    assert_eq!(session.json("again.json")["excluded"]["found"]["kind"], "too_short");
    let stages = format!("run {} -r '1/s to 9/s for 1s' --warmup auto", server.url("/healthz"));
    session.loadline(&stages).exits(2).complains("--warmup auto looks for where the run becomes steady");
    session.loadline(&format!("run {} --warmup soon", server.url("/"))).exits(2).complains("is not auto, nor a time such as 10s");
}

#[test]
fn what_is_counted_beside_a_warm_up_that_is_looked_for_adds_up() {
    let server = server();
    let mut session = Session::new();
    let line = format!("run '{}' -c 4 -d 12s --warmup auto --full --out json=r.json --out csv=r.csv", server.url("/behave?delay=20ms"));
    session.loadline(&line).exits(0).says("warm-up");
    let result = session.json("r.json");
    let count = |key: &str| result["requests"][key].as_u64().unwrap();
    assert_eq!(count("due"), count("succeeded") + count("failed") + count("unsent"));
    let kept = result["timeline"].as_array().unwrap().iter().filter(|tick| tick["warmup"] != true);
    let ended: u64 = kept.map(|tick| ["succeeded", "failed", "unsent"].map(|key| tick[key].as_u64().unwrap()).iter().sum::<u64>()).sum();
    assert_eq!(ended, count("due"));
    assert!(result["duration_s"].as_f64().unwrap() >= 6.0 && result["excluded"]["duration_s"].as_f64().unwrap() <= 6.0);
    assert_ne!(result["excluded"]["found"]["kind"], "too_short");
}

#[test]
fn without_a_terminal_a_line_of_progress_comes_every_ten_seconds() {
    let server = server();
    let line = format!("run '{}' -c 1 -d 13s --no-save", server.url("/behave?delay=50ms"));
    let said = Session::new().loadline(&line).stderr;
    let told: Vec<&str> = said.lines().filter(|line| line.contains(" req/s · ")).collect();
    assert!(told.len() == 1 && told[0].contains(" left · ") && told[0].contains("none failed"), "{said}");
}

#[test]
fn plain_http_to_a_port_for_tls_is_called_that() {
    let mut session = Session::new();
    let nginx = Nginx::start(&session);
    let ran = session.loadline(&format!("run {} -n 40 -c 2 --no-preflight", nginx.url.replace("https://", "http://")));
    let said = prose(&ran.stdout);
    assert!(said.contains("it is the scheme (http:// to a port that speaks TLS), not the load"), "{said}");
}

#[test]
fn a_report_of_all_that_failed_is_short_and_names_the_status_and_the_whole_one_is_asked_for() {
    let server = server();
    let mut session = Session::new();
    let url = server.url("/behave?status=404");
    let short = session.loadline(&format!("run {url} -n 40 -c 2")).exits(0).says("All 40 requests failed: 404 Not Found").stdout;
    let full = session.loadline(&format!("run {url} -n 40 -c 2 --full")).exits(0).says("account").says("measured by").stdout;
    let shown = session.loadline("show @last").exits(0).says("account").says("measured by").stdout;
    assert!(short.lines().count() <= 24 && full.lines().count() > 24 && shown.lines().count() > 24, "{short}");
    assert!(!short.contains("measured by"), "{short}");
}

#[test]
fn redirects_that_are_not_followed_are_the_headline() {
    let server = server();
    let line = format!("run '{}' -n 20 -c 2", server.url("/behave?status=302&close"));
    // It is named where opening takes a part of the time, which it does not where 20 answers wait for processors.
    let closes = "the server closes the connection after each answer";
    let ran = or_return!(Session::new().again_while(&line, |ran| !prose(&ran.stdout).contains(closes)));
    ran.says("All 20 answers were redirects (302 Found) that were not followed: --follow 5").says(closes);
}

#[test]
fn a_server_that_stops_on_the_way_is_told_with_its_rate_before() {
    let server = server();
    let mut session = Session::new();
    let running = session.start(&format!("run {} -c 2 -d 6s", server.url("/healthz")));
    let running = running.once(|| server.counts().answered > 0);
    server.stop();
    let ran = running.end().exits(3).says("The server stopped answering after ").says(" requests a second before, none after");
    assert!(ran.stdout.contains("connection refused"), "{}", ran.stdout);
}
