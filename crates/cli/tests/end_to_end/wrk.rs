//! `loadline wrk`, `wrk2` and `wrktest` beside what they stand in for: the real wrk, awk and gnuplot.

use std::fs;
use std::process::{Command, Output};
use std::time::Duration;

use rustix::process::Signal;

use crate::recorder::Recorder;
use crate::session::{Session, server};
use crate::tools;

/// Runs the real wrk with these words.
fn real(words: &str) -> Output {
    Command::new("wrk").args(words.split(' ')).output().expect("wrk is installed by scripts/tools.sh")
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// Numbers with their units as `#`, blanks as one.
fn masked(report: &str) -> String {
    let line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let masked = words.iter().map(|word| {
            let number = word.trim_end_matches(',').trim_start_matches('-');
            let begins = number.starts_with(|letter: char| letter.is_ascii_digit()) || number.starts_with("nan");
            if begins && !word.starts_with("50%") { if word.ends_with(',') { "#," } else { "#" } } else { word }
        });
        masked.collect::<Vec<_>>().join(" ")
    };
    report.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// The figure behind these words.
fn figure(report: &str, words: &str) -> f64 {
    let (_, rest) = report.split_once(words).unwrap_or_else(|| panic!("{words:?} is not in:\n{report}"));
    let cell = rest.split_whitespace().next().unwrap();
    let end = cell.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(cell.len());
    let scale = match &cell[end..] {
        "us" => 0.001,
        "s" => 1000.0,
        "m" => 60_000.0,
        "k" => 1000.0,
        _ => 1.0,
    };
    cell[..end].parse::<f64>().unwrap() * scale
}

#[test]
fn reports_are_equal_but_for_the_numbers_which_agree_where_the_server_is_the_limit() {
    if !tools::are_here(&["wrk"]) {
        return;
    }
    let server = Recorder::start(Duration::from_millis(20), 200);
    let words = format!("-t2 -c6 -d2s --latency {}/x", server.url);
    // A pause of this machine hits one of two: the fastest of three each.
    let rate = |report: &String| figure(report, "Requests/sec:");
    let fastest = |reports: [String; 3]| reports.into_iter().max_by(|a, b| rate(a).total_cmp(&rate(b))).unwrap();
    let theirs = fastest([(); 3].map(|()| text(real(&words).stdout)));
    let run = || Session::new().loadline(&format!("wrk --quiet {words}")).exits(0).complains_of_nothing().stdout;
    let ours = fastest([(); 3].map(|()| run()));
    assert_eq!(masked(&ours), masked(&theirs));
    // Columns are as wide, and numbers stand in them.
    for (ours, theirs) in ours.lines().zip(theirs.lines()).skip(2).take(8) {
        assert_eq!(ours.len(), theirs.len(), "\n{ours}|\n{theirs}|");
    }
    // Not the 99th percentile: it is the machine's at these loads, and another one in each of two runs.
    for words in ["Requests/sec:", "Transfer/sec:", "    Latency ", "    Req/Sec ", "     50%", "     75%"] {
        let ratio = figure(&ours, words) / figure(&theirs, words);
        assert!((0.85..1.15).contains(&ratio), "{words} {ratio}\n{ours}\n{theirs}");
    }
}

#[test]
fn bytes_are_those_of_the_answers_that_are_counted() {
    if !tools::are_here(&["wrk"]) {
        return;
    }
    // What is on its way at the end comes long after it.
    let server = Recorder::start(Duration::from_millis(800), 200);
    let words = format!("-t1 -c20 -d1s -T5s {}/", server.url);
    let theirs = text(real(&words).stdout);
    let ran = Session::new().loadline(&format!("wrk --quiet {words}")).exits(0);
    for figures in ["Requests/sec:", "Transfer/sec:"] {
        let ratio = figure(&ran.stdout, figures) / figure(&theirs, figures);
        assert!((0.8..1.2).contains(&ratio), "{figures} {ratio}\n{}\n{theirs}", ran.stdout);
    }
}

#[test]
fn what_a_script_prints_stands_before_the_report_in_whole_lines() {
    let server = Recorder::start(Duration::from_millis(2), 200);
    let script = "print('loading') function init() print('in init') end\n\
                  function request() print('called request') return wrk.format() end\nfunction done() print('in done') end\n";
    let ran = Session::new().file("s.lua", script).loadline(&format!("wrk -q -t1 -c2 -d1s -s s.lua {}/", server.url)).exits(0);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let place = |words: &str| lines.iter().position(|line| line.starts_with(words)).unwrap_or_else(|| panic!("{words}: {}", ran.stdout));
    let last = lines.iter().rposition(|line| *line == "called request").unwrap();
    assert!(lines.iter().filter(|line| line.contains("called request")).all(|line| *line == "called request"), "{}", ran.stdout);
    assert!(place("in init") < place("Running 1s test @ http") && last < place("  Thread Stats"), "{}", ran.stdout);
    assert!(place("Running 1s test @ http") < last, "it comes when the load begins");
    assert_eq!(place("Transfer/sec:") + 1, place("in done"));
}

#[test]
fn a_list_with_an_odd_path_and_an_empty_script_run_as_in_wrk() {
    let server = Recorder::start(Duration::from_millis(2), 200);
    let script = "local n = 0\nfunction request() n = n + 1 return wrk.format(nil, n % 3 == 0 and '/odd one' or '/plain') end\n";
    let mut session = Session::new().file("s.lua", script);
    session.loadline(&format!("wrk -q -t1 -c1 -d1s -s s.lua {}/", server.url)).exits(0).says("Requests/sec:");
    assert!(server.raw().iter().any(|request| request.starts_with("GET /odd one HTTP/1.1\r\n")));
    session.loadline(&format!("wrk -q -t1 -c1 -d1s -s /dev/null {}/", server.url)).exits(0).says("Requests/sec:");
}

#[test]
fn modules_are_looked_for_where_debian_has_them() {
    let server = Recorder::start(Duration::ZERO, 200);
    let script = "assert(package.path:find('/usr/share/lua/5.1/?.lua', 1, true) and package.cpath:find('-linux-gnu/lua/5.1/?.so', 1, true))\nrequire('no_such')\n";
    let mut session = Session::new().file("s.lua", script);
    let ran = session.loadline(&format!("wrk -t1 -c1 -d1s -s s.lua {}/", server.url)).exits(1);
    ran.complains("module 'no_such' not found").complains("apt install lua-NAME");
}

#[test]
fn error_lines_are_equal_but_for_the_numbers() {
    if !tools::are_here(&["wrk"]) {
        return;
    }
    let server = Recorder::start(Duration::from_millis(5), 503);
    let words = format!("-t1 -c3 -d1 {}/", server.url);
    let theirs = text(real(&words).stdout);
    let ran = Session::new().loadline(&format!("wrk {words}")).exits(0).complains("loadline: not succeeded").complains("check.status");
    assert_eq!(masked(&ran.stdout), masked(&theirs));
    assert!(ran.stdout.contains("  Non-2xx or 3xx responses: "), "{}", ran.stdout);
    assert!(ran.stderr.lines().count() <= 3, "{}", ran.stderr);
}

#[test]
fn the_server_sees_the_same_requests() {
    if !tools::are_here(&["wrk"]) {
        return;
    }
    let server = Recorder::start(Duration::from_millis(5), 200);
    let address = server.url.trim_start_matches("http://");
    for (path, headers) in [
        ("", &[][..]),
        ("/a/b?x=1&y=%20z", &[][..]),
        ("/h", &["X-A: 1", "x-a: two", "Accept: text/html", "NoColon", "Tight:1", "Content-Length: 5", "X-A: last"][..]),
        ("/ua", &["User-Agent: mine", "Host: other.test"][..]),
    ] {
        let url = format!("http://{address}{path}");
        let mut wrk = Command::new("wrk");
        wrk.args(["-t1", "-c1", "-d1", &url]);
        let mut line = format!("wrk -t1 -c1 -d1 {url}");
        for header in headers {
            wrk.args(["-H", header]);
            line += &format!(" -H '{header}'");
        }
        assert!(wrk.output().unwrap().status.success());
        let theirs = server.requests();
        Session::new().loadline(&line).exits(0);
        assert_eq!(server.requests(), theirs, "{line}");
        assert_eq!(theirs.len(), 1);
    }
}

/// The path of an example script.
fn example(name: &str) -> String {
    format!("{}/../../examples/lua/{name}.lua", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn scripts_send_what_they_send_in_wrk() {
    if !tools::are_here(&["wrk"]) {
        return;
    }
    let server = Recorder::start(Duration::from_millis(2), 200);
    for name in ["post", "pipeline", "weighted", "json", "think"] {
        let words = format!("-t1 -c1 -d1 -s {} {}/x", example(name), server.url);
        assert!(real(&words).status.success(), "{name}");
        let theirs = server.requests();
        Session::new().loadline(&format!("wrk {words}")).exits(0);
        assert_eq!(server.requests(), theirs, "{name}");
        assert!(!theirs.is_empty());
    }
}

#[test]
fn a_script_has_the_last_word_with_the_figures_of_the_report() {
    let server = Recorder::start(Duration::from_millis(10), 200);
    let ran = Session::new().loadline(&format!("wrk -t2 -c4 -d1 -s {} {}/", example("json"), server.url)).exits(0);
    let line: serde_json::Value = serde_json::from_str(ran.stdout.lines().last().unwrap()).unwrap();
    assert!(ran.stdout.contains(&format!("  {} requests in 1.00s", line["requests"])), "{}", ran.stdout);
    assert_eq!((&line["failed"], &line["seconds"]), (&0.into(), &1.0.into()));
    assert!(line["p50_us"].as_u64().unwrap() >= 10_000);
}

/// A module for Lua as its authors compile one: it finds the interpreter when it is loaded.
const MODULE: &str = r#"
    typedef struct lua_State lua_State;
    extern void lua_pushlstring(lua_State *, const char *, unsigned long);
    extern const char *luaL_checklstring(lua_State *, int, unsigned long *);
    extern void lua_pushcclosure(lua_State *, int (*)(lua_State *), int);
    static int path(lua_State *state) {
        unsigned long length;
        const char *text = luaL_checklstring(state, 1, &length);
        lua_pushlstring(state, text, length - 1);
        return 1;
    }
    int luaopen_shortened(lua_State *state) {
        lua_pushcclosure(state, path, 0);
        return 1;
    }
"#;

#[test]
fn a_script_may_require_a_module_compiled_from_c_and_one_written_in_lua() {
    if !tools::are_here(&["cc", "wrk"]) {
        return;
    }
    let server = Recorder::start(Duration::from_millis(5), 200);
    let mut session = Session::new()
        .file("shortened.c", MODULE)
        .file("long.lua", "return '/pathX'")
        .file("s.lua", "local shortened = require 'shortened'\nwrk.path = shortened(require 'long')\n");
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o", "shortened.so", "shortened.c"]).current_dir(session.path(".")).output();
    assert!(built.expect("a C compiler, which also compiles the interpreter").status.success());
    let words = format!("-t1 -c1 -d1 -s s.lua {}/", server.url);
    let theirs = Command::new("wrk").args(words.split(' ')).current_dir(session.path(".")).output().unwrap();
    assert!(theirs.status.success(), "{}", text(theirs.stderr));
    let expected = server.requests();
    assert!(expected.len() == 1 && expected[0].starts_with("GET /path HTTP/1.1\r\n"), "{expected:?}");
    session.loadline(&format!("wrk {words}")).exits(0);
    assert_eq!(server.requests(), expected);
    // What is not to be trusted cannot load it.
    session.loadline(&format!("run --sandbox -n 1 -c 1 -s s.lua {}/", server.url)).exits(3).complains("require");
}

#[test]
fn a_script_that_fails_ends_the_run_with_its_place_and_what_was_measured() {
    let server = Recorder::start(Duration::from_millis(2), 200);
    let mut session = Session::new()
        .file(
            "late.lua",
            "local n = 0\nfunction request()\n  n = n + 1\n  if n > 20 then error('enough') end\n  return wrk.format()\nend\n",
        )
        .file("bad.lua", "x = (\n");
    let ran = session.loadline(&format!("wrk -t1 -c1 -d5 -s late.lua {}/", server.url)).exits(1).complains("late.lua:4: enough");
    ran.says("requests in ").says("Requests/sec:");
    session.loadline(&format!("wrk -d1 -s bad.lua {}/", server.url)).exits(1).complains("bad.lua:");
    session.loadline(&format!("wrk -d1 -s none.lua {}/", server.url)).exits(1).complains("the script 'none.lua' cannot be read");
}

#[test]
fn mistakes_end_as_in_wrk() {
    if !tools::are_here(&["wrk"]) {
        return;
    }
    let nobody = "http://127.0.0.1:1/";
    for words in [
        "",
        "-x",
        "--nope=1",
        "-c",
        "--conn",
        "--latency=1",
        "-h",
        "--help",
        "-c1.5k http://127.0.0.1:1/",
        "-d5ms http://127.0.0.1:1/",
        "-t0 http://127.0.0.1:1/",
        "-d0 http://127.0.0.1:1/",
        "127.0.0.1:1/x",
        "http://",
        "-c1 http://127.0.0.1:1/",
        "-c0 http://127.0.0.1:1/",
        nobody,
        "http://name.invalid/",
        "http://name.invalid:81/",
    ] {
        let theirs = Command::new("wrk").args(words.split(' ').filter(|word| !word.is_empty())).output().unwrap();
        let ran = Session::new().loadline(&format!("wrk {words}"));
        assert_eq!(Some(ran.exit), theirs.status.code(), "{words}");
        assert_eq!(ran.stderr, text(theirs.stderr), "{words}");
        assert_eq!(ran.stdout.starts_with("Usage: wrk <options> <url>"), theirs.stdout.starts_with(b"Usage: wrk"), "{words}");
    }
}

#[test]
fn the_version_is_told_and_usage_follows_without_a_url() {
    let ran = Session::new().loadline("wrk -v").exits(1).says("wrk 4.2.0 [epoll] by loadline").says("Usage: wrk");
    assert_eq!(ran.stderr, "");
}

#[test]
fn what_is_never_answered_is_a_timeout_and_the_run_ends() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let ran = Session::new().loadline(&format!("wrk -t1 -c3 -d1 -T1 {url}")).exits(0);
    let ran = ran.says("  Socket errors: connect 0, read 0, write 0, timeout 3\n").says("  0 requests in 1.00s, 0.00B read\n");
    assert!(figure(&ran.stdout, "    Latency ") >= 1_000.0, "{}", ran.stdout);
    ran.complains("3 recv.idle_timeout (server: no answer within the timeout)");
}

#[test]
fn a_slow_answer_is_counted_late_and_not_left_out() {
    let server = Recorder::start(Duration::from_millis(1_200), 200);
    let ran = Session::new().loadline(&format!("wrk -t1 -c2 -d2 -T1 {}/", server.url)).exits(0).says("write 0, timeout ");
    assert!(figure(&ran.stdout, "    Latency ") >= 1_200.0, "{}", ran.stdout);
    assert!(figure(&ran.stdout, "Requests/sec:") > 0.0);
}

#[test]
fn the_original_s_formulas_come_back_when_asked_for() {
    if !tools::are_here(&["wrk"]) {
        return;
    }
    let slow = Recorder::start(Duration::from_millis(1_200), 200);
    let words = format!("-t1 -c2 -d2 -T1 {}/", slow.url);
    let theirs = text(real(&words).stdout);
    let ran = Session::new().loadline(&format!("wrk -q --faithful {words}")).exits(0);
    for report in [&ran.stdout, &theirs] {
        assert!(report.contains("    Latency     0.00us    0.00us   0.00us"), "what is slower than the timeout is left out: {report}");
    }
    let failing = Recorder::start(Duration::from_millis(10), 503);
    let mut session = Session::new();
    for (words, success) in [("", "0.00"), ("--faithful", "100.00")] {
        session.loadline(&format!("wrktest -q {words} -d out --levels 2 --duration 1s {}/", failing.url)).exits(0);
        assert_eq!(session.read("out/apiserver.dat").trim().rsplit(' ').next(), Some(success), "{words}");
    }
}

#[test]
fn every_connection_is_opened_also_those_that_threads_do_not_share_evenly() {
    let server = server();
    Session::new().loadline(&format!("wrk -t3 -c8 -d1 {}", server.url("/healthz"))).exits(0);
    // And one before, that looked whether the server is there.
    assert_eq!(server.counts().connections, 8 + 1);
}

#[test]
fn an_interrupted_run_reports_and_ends_with_0() {
    let server = server();
    let running = Session::new().start(&format!("wrk -q -c2 -d1h {}", server.url("/healthz")));
    let ran = running.once(|| server.counts().answered > 100).signal(Signal::INT).end().exits(0);
    ran.says("Running 60m test @ ").says("requests in ").complains_of_nothing();
}

#[test]
fn a_link_answers_to_its_name() {
    let server = server();
    let mut session = Session::new();
    session.loadline("links bin").exits(0).says("/bin/wrk\n").says("PATH=");
    let run = |name: &str, words: &[&str]| {
        Command::new(session.path("bin").join(name)).args(words).env("LOADLINE_DB", session.data("h.db")).output().unwrap()
    };
    assert!(text(run("wrk", &["-c2", "-d1", &server.url("/healthz")]).stdout).contains("Requests/sec: "));
    assert!(text(run("wrk2", &[]).stdout).starts_with("Usage: wrk2"));
    session.loadline("links bin").exits(0).says("was there");
    fs::create_dir(session.path("taken")).unwrap();
    fs::write(session.path("taken/wrk"), "theirs").unwrap();
    session.loadline("links taken").exits(5).complains("'").complains("is not replaced");
    assert_eq!(session.read("taken/wrk"), "theirs");
}

#[test]
fn wrk2_sends_at_its_rate_and_prints_the_distribution() {
    let server = Recorder::start(Duration::from_millis(5), 200);
    let ran = Session::new().loadline(&format!("wrk2 -t2 -c10 -d2 -R200 -U {}/", server.url)).exits(0);
    let ratio = figure(&ran.stdout, "Requests/sec:") / 200.0;
    assert!((0.9..1.1).contains(&ratio), "{}", ran.stdout);
    assert_eq!(ran.stdout.matches("  Detailed Percentile spectrum:\n").count(), 2);
    // What its readers do: rows of four columns, the last one infinite, between the heading and the first footer.
    let (_, spectrum) = ran.stdout.split_once("1/(1-Percentile)\n\n").unwrap();
    let rows: Vec<Vec<&str>> =
        spectrum.lines().take_while(|line| !line.starts_with('#')).map(|line| line.split_whitespace().collect()).collect();
    assert!(rows.iter().all(|row| row.len() == 4) && rows.last().unwrap()[3] == "inf", "{}", ran.stdout);
    Session::new().loadline("wrk2 http://127.0.0.1:1/").exits(1).complains("Throughput MUST be specified with the --rate or -R option");
    Session::new().loadline("wrk2 -R1 -B http://127.0.0.1:1/").exits(1).complains("--batch_latency is not supported");
}

#[test]
fn wrktest_writes_the_script_s_files_which_awk_and_gnuplot_read() {
    if !tools::are_here(&["gnuplot"]) {
        return;
    }
    let server = Recorder::start(Duration::from_millis(10), 200);
    let mut session = Session::new();
    let ran = session.loadline(&format!("wrktest -n api -d out --levels 1,2,4 --duration 1s {}/x", server.url)).exits(0);
    assert_eq!(session.files(), ["out/api.dat", "out/api_qps_ttlb.png", "out/api_successrate.png"]);
    let ran = ran.says("Running wrk command: wrk -t").says("\n\nNow plot according to \x1b[35mout/api.dat\x1b[0m\n");
    ran.says("QPS graphic file is: \x1b[35mout/api_qps_ttlb.png\x1b[0m\n")
        .says("Success rate graphic file is: \x1b[35mout/api_successrate.png\x1b[0m\n");
    let sum = awk(&session, "NF != 4 { exit 1 } { sum += $1; ok = ok $4 } END { print sum, ok }", "out/api.dat");
    assert_eq!(sum, "7 100.00100.00100.00\n");
    let plot = "set terminal png enhanced; set output 'plot.png'; set xtics rotate; set y2tics; set style data linespoints; \
                plot 'out/api.dat' using 2:xticlabels(1) title 'QPS', '' using 3:xticlabels(1) axes x2y2 title 'Avg Latency (ms)'";
    let drawn =
        Command::new("gnuplot").args(["-e", plot]).current_dir(session.path(".")).output().expect("scripts/tools.sh installs gnuplot");
    assert!(drawn.status.success() && drawn.stderr.is_empty(), "{}", String::from_utf8_lossy(&drawn.stderr));
    for picture in ["plot.png", "out/api_qps_ttlb.png", "out/api_successrate.png"] {
        assert!(fs::read(session.path(picture)).unwrap().starts_with(b"\x89PNG"), "{picture}");
    }
}

#[test]
fn wrktest_says_three_lines_at_most_however_many_levels_there_are() {
    let failing = Recorder::start(Duration::from_millis(10), 503);
    let line = |quiet: &str| format!("wrktest {quiet} -d out --levels 1,2,3,4,5 --duration 1s {}/", failing.url);
    let ran = Session::new().loadline(&line("")).exits(0).complains("loadline: level 1: ").complains(" more remarks, on the levels ");
    assert_eq!(ran.stderr.lines().count(), 3, "{}", ran.stderr);
    Session::new().loadline(&line("-q")).exits(0).complains_of_nothing();
}

#[test]
fn the_script_s_own_awk_reads_our_wrk() {
    let server = Recorder::start(Duration::from_millis(10), 200);
    let mut session = Session::new();
    let ran = session.loadline(&format!("wrk -q -t1 -c3 -d1 --latency {}/", server.url)).exits(0);
    fs::write(session.path("wrk.txt"), &ran.stdout).unwrap();
    let rules = r#"/connections/ { c = $4 } /Latency   / { l = $2 } /Requests\/sec/ { q = $2 } /requests in/ { n = $1 }
        /Socket errors/ { e = $4 + $6 + $8 + $10 } /99%/ { p = $2 }
        END { if (l ~ /us/) l = l / 1000; print c, (q + 0 > 0), (l + 0 >= 10), (n - e) * 100 / n, (p ~ /ms$/) }"#;
    assert_eq!(awk(&session, rules, "wrk.txt"), "3 1 1 100 1\n");
}

#[test]
fn wrktest_draws_two_results_together() {
    let mut session = Session::new()
        .file("a.dat", "1 100.00 1.5 100.00\n500 900.00 2 99.00\n1000 950.00 9 98.00\n")
        .file("b.dat", "1 90.00 1.7 100.00\n500 990.00 2.1 100.00\n");
    session.loadline("wrktest -d out diff a.dat b.dat").exits(0).complains_of_nothing();
    assert_eq!(session.files(), ["a.dat", "b.dat", "out/a_b.qps.ttlb.diff.png", "out/a_b.successrate.diff.png"]);
    session.loadline("wrktest diff a.dat missing.dat").exits(1).complains("wrktest: 'missing.dat' cannot be read: there is no such file");
    let ran = session.loadline("wrktest diff a.dat").exits(0).says("Usage: wrktest");
    ran.complains("wrktest: diff takes two files");
    session.loadline("wrktest").exits(0).says("Usage: wrktest").complains_of_nothing();
}

#[test]
fn compat_tells_without_running() {
    let mut session = Session::new().file("post.lua", "wrk.method = 'POST'\nfunction done(s, l, r) print(l:percentile(99)) end\n");
    session
        .loadline("compat wrk -c100 -t12 -T5 http://127.0.0.1:1/")
        .exits(0)
        .says("-T 5")
        .says("differs: ")
        .says("Everything in it is supported.");
    session
        .loadline("compat loadline /usr/bin/wrk -c100 --nope http://127.0.0.1:1/")
        .exits(1)
        .says("NOT SUPPORTED: wrk: unrecognized option '--nope'");
    session.loadline("compat post.lua").exits(0).says("wrk.method").says("done()").says("latency:percentile()");
    session.loadline("compat wrk -s post.lua http://h/").exits(0).says("wrk.method");
    session.loadline("compat missing.lua").exits(1).says("cannot be read");
    session.loadline("compat frobnicate -x").exits(2).complains("'frobnicate' is no tool whose command line loadline knows");
    let mut session = session.file("late.lua", "function delay() return wrk.time_us() % 2 end require 'cjson'");
    let ran = session.loadline("compat wrk2 -R100 -s late.lua http://h/").exits(0).says("wrk2 never calls it").says("wrk.time_us");
    ran.says("require cjson").says("package.cpath");
    session.loadline("compat wrk2 -R100 -B http://h/").exits(1).says("-B").says("leave it out");
    session.loadline("compat wrktest -n x http://h/").exits(0).says("column 4");
}

fn awk(session: &Session, program: &str, file: &str) -> String {
    let ran = Command::new("awk").args([program, file]).current_dir(session.path(".")).output().unwrap();
    assert!(ran.status.success(), "{program}");
    text(ran.stdout)
}
