//! `loadline run --script`: wrk's scripts with loadline's report.

use rustix::process::Signal;
use testbed::{Behaviour, Config, Testbed};

use crate::session::Session;

fn server() -> Testbed {
    Testbed::start(Config::new().everywhere(Behaviour::default())).unwrap()
}

#[test]
fn a_script_chooses_the_requests_and_has_the_last_words() {
    let server = server();
    let mut session = Session::new().file(
        "s.lua",
        "function init(args) wrk.path = '/' .. args[1] end
         function done(summary, latency, requests) print('last words: ' .. summary.requests) end",
    );
    let ran = session.loadline(&format!("run -n 20 -c 2 -s s.lua --out json=r.json {} -- first second", server.url("/")));
    let ran = ran.exits(0);
    assert!(ran.stdout.trim_end().ends_with("last words: 20"), "{}", ran.stdout);
    assert_eq!(server.counts().path("/first"), 20);
    let plan = &session.json("r.json")["plan"];
    assert_eq!((&plan["script"], &plan["script_arguments"]), (&"s.lua".into(), &serde_json::json!(["first", "second"])));
    assert_eq!(plan["script_sha256"].as_str().unwrap().len(), 64);
}

#[test]
fn a_saved_run_is_repeated_with_the_same_script_only() {
    let server = server();
    let mut session = Session::new().file("s.lua", "wrk.path = '/one'");
    session.loadline(&format!("run -n 5 -c 1 -s s.lua --out json=r.json {}", server.url("/"))).exits(0);
    session.loadline("run --from r.json").exits(0);
    assert_eq!(server.counts().path("/one"), 10);
    let mut session = session.file("s.lua", "wrk.path = '/other'");
    session.loadline("run --from r.json").exits(2).complains("the script 's.lua' is not what it was when this plan was saved");
    session.loadline("run --from r.json --script s.lua").exits(0);
    assert_eq!(server.counts().path("/other"), 5);
}

#[test]
fn a_script_that_fails_ends_the_run_with_its_place_and_the_report() {
    let server = server();
    let mut session = Session::new()
        .file("s.lua", "local n = 0\nfunction request()\n  n = n + 1\n  if n > 31 then error('enough') end\n  return wrk.format()\nend");
    let ran = session.loadline(&format!("run -d 60s -c 1 -t 1 -s s.lua {}", server.url("/"))).exits(3);
    ran.complains("s.lua:4: enough").complains("stack traceback:").says("30");
    session.loadline(&format!("run -s missing.lua {}", server.url("/"))).exits(2).complains("--script 'missing.lua' cannot be read");
    session
        .loadline(&format!("run --sandbox {} -- word", server.url("/")))
        .exits(2)
        .complains("--sandbox is about a script")
        .complains("for a script");
    session.loadline(&format!("run -s s.lua --follow 1 {}", server.url("/"))).exits(2).complains("--follow and --script contradict");
}

#[test]
fn an_endless_loop_does_not_outlive_the_run() {
    let server = server();
    let endless = "local n = 0\nfunction request()\n  n = n + 1\n  while n > 10 do end\n  return wrk.format()\nend";
    let mut session = Session::new().file("s.lua", endless);
    // At the run's end, with a second thread that measures on.
    let line = format!("run -d 2s -c 2 -t 2 -s s.lua {}", server.url("/"));
    session.loadline(&line).exits(3).complains("did not return").says("Cut short by an error");
    // By Ctrl-C.
    let sent = server.counts().received;
    let running = session.start(&format!("run -d 10m -c 1 -t 1 -s s.lua {}", server.url("/"))).once(|| server.counts().received > sent + 8);
    running.signal(Signal::INT).end().exits(3).complains("did not return");
    // Before the run, and after it.
    let mut session = session.file("load.lua", "print('loading')\nio.stderr:write('loading')\nwhile true do end");
    let running = session.start(&format!("run -d 10m -s load.lua {}", server.url("/"))).once_stderr_says("loading");
    running.signal(Signal::INT).end().exits(3).complains("was in loading");
    let mut session = session.file("done.lua", "function done() io.stderr:write('in done') while true do end end");
    let running = session.start(&format!("run -n 5 -c 1 -s done.lua {}", server.url("/"))).once_stderr_says("in done");
    running.signal(Signal::INT).end().exits(3).complains("was in done()");
}

#[test]
fn a_pattern_that_takes_for_ever_does_not_hold_a_sandbox() {
    let server = server();
    let slow = "string.find(string.rep('a', 300000), string.rep('(a-)', 30)..'b')";
    let mut session = Session::new().file("s.lua", &format!("function request() {slow} return wrk.format() end"));
    let line = format!("run -n 5 -c 1 --sandbox -s s.lua {}", server.url("/"));
    session.loadline(&line).exits(3).complains("for more than 20 s").complains("a pattern that takes too long");
}

#[test]
fn a_script_without_end_is_refused() {
    let mut session = Session::new();
    session.loadline("run -n 5 -s /dev/zero http://127.0.0.1:1/").exits(2).complains("it is larger than 256 MiB");
    session.loadline("run -n 5 --urls /dev/zero").exits(2).complains("it is larger than 256 MiB");
    session.loadline("serve --listen 127.0.0.1:0 --token-file /dev/zero").exits(2).complains("it is larger than 1 MiB");
}

#[test]
fn a_sandboxed_script_is_told_from_one_that_may_do_everything() {
    let server = server();
    let mut session = Session::new().file("s.lua", "os.remove('victim')").file("victim", "");
    session.loadline(&format!("run -n 5 -c 1 --sandbox -s s.lua {}", server.url("/"))).exits(3).complains("s.lua:1:");
    assert!(session.path("victim").exists());
    session.loadline(&format!("run -n 5 -c 1 -s s.lua {}", server.url("/"))).exits(0);
    assert!(!session.path("victim").exists());
}

#[test]
fn a_sweep_sends_what_the_script_says() {
    let server = server();
    let mut session = Session::new().file("s.lua", "function request() return wrk.format(nil, '/swept') end");
    session.loadline(&format!("sweep --levels 1,2 -n 10 -s s.lua {}", server.url("/")));
    assert!(server.counts().path("/swept") >= 20);
}
