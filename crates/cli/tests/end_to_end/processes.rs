//! Loads from several processes of this machine: the same load, the same figures, and nothing left running.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use testbed::Testbed;

use crate::ab::Nginx;
use crate::recorder::Recorder;
use crate::session::{Session, prose, server};

/// The processes that this one started and that are there still.
pub fn children(parent: u32) -> Vec<u32> {
    let is_child = |process: &u32| {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        let behind_the_name = stat.rsplit(')').next().unwrap_or_default();
        behind_the_name.split_whitespace().nth(1).and_then(|word| word.parse().ok()) == Some(parent)
    };
    let all = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    all.filter(is_child).collect()
}

/// Whether a process runs.
pub fn is_there(process: u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let limit = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < limit, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_load_from_several_processes_is_the_same_load() {
    let server = server();
    let mut session = Session::new();
    let line = format!("run {} -n 300 -c 12 --processes 3 --out json=r.json", server.url("/healthz"));
    session.loadline(&line).exits(0).complains_of_nothing().says("process 3 ");
    assert_eq!(server.counts().path("/healthz"), 300);
    let result = session.json("r.json");
    assert_eq!(result["requests"]["succeeded"], 300);
    assert_eq!((&result["generator"]["processes"], &result["plan"]["processes"]), (&3.into(), &3.into()));
    assert_eq!(result["connections"]["opened"], 12);
    // A result is repeated as it was made.
    session.loadline("run --from r.json --out json=again.json").exits(0);
    assert_eq!((server.counts().path("/healthz"), session.json("again.json")["generator"]["processes"].clone()), (600, 3.into()));
}

#[test]
fn more_connections_than_files_take_more_processes_by_themselves() {
    let server = server();
    let mut session = Session::new().files_max(164);
    let ran = session.loadline(&format!("run {} -n 1000 -c 250 --out json=r.json", server.url("/healthz")));
    ran.exits(0).says("the load comes from 3 processes: one may open 164 files");
    assert_eq!(session.json("r.json")["connections"]["opened"], 250);
    assert_eq!(server.counts().path("/healthz"), 1000);
    let url = server.url("/healthz");
    let ran = session.loadline(&format!("run {url} -n 1000 -c 250 -t 1"));
    ran.exits(2).complains("250 connections need 314 open files, but this process may open 164");
    let mut session = session.files_max(164);
    let ran = session.loadline(&format!("run {url} -n 1000 -c 250 -t 2")).exits(2);
    assert!(
        prose(&ran.stderr).contains("a thread would have 125 connections, and a process may open 100: too few threads"),
        "{}",
        ran.stderr
    );
}

#[test]
fn requests_of_every_kind_are_the_same_from_one_process_and_from_several() {
    let server = Recorder::start(Duration::ZERO, 200);
    let url = &server.url;
    let mut session = Session::new()
        .file("users.csv", "id\n1\n2\n3\n4\n5\n6\n7\n8\n")
        .file("shop.yaml", &SHOP.replace("TARGET", url))
        .file("path.lua", "request = function() return wrk.format('GET', '/from-lua') end");
    for line in [
        &format!("'{url}/{{{{sequence}}}}/{{{{random 1 1000000}}}}/{{{{users.id}}}}' -n 24 -c 4 --data-file users.csv") as &str,
        &format!("{url}/ -r 200/s -n 50 --arrivals poisson"),
        "shop.yaml",
        &format!("{url}/ -n 40 -c 4 --script path.lua"),
    ] {
        session.loadline(&format!("run {line} -t 4")).exits(0);
        let alone = server.raw();
        assert!(alone.len() >= 24);
        session.loadline(&format!("run {line} -t 4 --processes 2")).exits(0);
        assert_eq!(paths(&server.raw()), paths(&alone), "{line}");
    }
}

#[test]
fn scripts_with_setup_and_done_say_the_same_from_one_process_and_from_several() {
    let server = Recorder::start(Duration::ZERO, 200);
    let mut session = Session::new().file("setup.lua", SETUP).file("plain.lua", PLAIN).file("large.lua", LARGE);
    let said = |ran: &str| ran.lines().filter(|line| line.starts_with("thread ")).map(str::to_owned).collect::<Vec<_>>();
    for script in ["setup.lua", "plain.lua"] {
        let mut run = |more: &str| {
            let ran = session.loadline(&format!("run {}/ -n 30 -c 3 -t 3 --script {script} {more} --force", server.url));
            assert!(matches!(ran.exit, 0 | 4), "{}\n{}", ran.stdout, ran.stderr);
            (said(&ran.stdout), paths(&server.raw()).join("\n"))
        };
        let alone = run("");
        assert_eq!(alone.0.len(), 3, "{script}");
        assert_eq!(run("--processes 3"), alone, "{script}");
        assert_eq!(run("--processes 2"), alone, "{script}");
    }
    let ran = session.loadline(&format!("run {}/ -n 30 -c 3 -t 3 --script large.lua --processes 3", server.url));
    assert_eq!(said(&ran.stdout), vec!["thread has nil"; 3], "{}\n{}", ran.stdout, ran.stderr);
    assert!(prose(&ran.stdout).contains("done() of the script 'large.lua' sees nil for big of 3 threads"), "{}", ran.stdout);
}

/// As wrk's own setup.lua, with tables besides.
const SETUP: &str = r#"
local counter, threads = 1, {}
function setup(thread)
  thread:set("id", counter)
  table.insert(threads, thread)
  counter = counter + 1
end
function init(args) requests, responses, seen = 0, 0, { paths = {}, ok = true } end
function request()
  requests = requests + 1
  seen.paths[requests] = "/" .. id .. "/" .. requests
  return wrk.format("GET", seen.paths[requests])
end
function response() responses = responses + 1 end
function done(summary, latency, requests)
  for _, thread in ipairs(threads) do
    local seen, copies = thread:get("seen"), pcall(thread.get, thread, "response")
    print(("thread %d made %d requests and got %d responses, the last %s, %s, of %d"):format(thread:get("id"), thread:get("requests"),
      thread:get("responses"), seen.paths[#seen.paths], tostring(copies), summary.requests))
  end
end
"#;

/// Nothing is asked of Lua while load is sent.
const PLAIN: &str = r#"
local threads = {}
function setup(thread) threads[#threads + 1] = thread; thread:set("id", #threads) end
function init(args) wrk.path = "/" .. id; name = "no. " .. id end
function done() for _, thread in ipairs(threads) do print("thread is " .. thread:get("name")) end end
"#;

const LARGE: &str = r#"
local threads = {}
function setup(thread) threads[#threads + 1] = thread end
function init() big = ("x"):rep(2000000) end
function done() for _, thread in ipairs(threads) do print("thread has " .. type(thread:get("big"))) end end
"#;

/// The first lines of requests, sorted.
fn paths(requests: &[String]) -> Vec<&str> {
    let mut lines: Vec<&str> = requests.iter().filter_map(|request| request.lines().next()).collect();
    lines.sort_unstable();
    lines
}

const SHOP: &str = "
target: TARGET
load: {users: 4, requests: 40}
setup:
  - get: /prepare
  - set: {of: 77}
journeys:
  - name: two
    steps:
      - get: /first/{{of}}/{{sequence}}
      - get: /second
teardown:
  - get: /clear
";

#[test]
fn levels_of_a_sweep_share_their_processes_and_none_is_left() {
    let server = server();
    let mut session = Session::new();
    let mut running = session.start(&format!("sweep {} --levels 4,8,16 --duration 1s --processes 2 --force", server.url("/healthz")));
    let parent = running.pid();
    let mut seen = std::collections::BTreeSet::new();
    running = running.once(|| {
        seen.extend(children(parent));
        server.counts().path("/healthz") > 0 && children(parent).is_empty()
    });
    running.end().exits_either(0, 4).says("16");
    assert_eq!(seen.len(), 2, "each level has the same ones");
    assert!(seen.iter().all(|process| !is_there(*process)), "{seen:?}");
}

#[test]
fn ctrl_c_ends_all_processes_and_what_was_measured_is_reported() {
    let server = server();
    let mut session = Session::new();
    let running = session.start(&format!("run {} -d 60s -c 8 --processes 2 --out json=r.json", server.url("/healthz")));
    let (parent, counts) = (running.pid(), || server.counts().path("/healthz"));
    let running = running.once(|| counts() > 100);
    let processes = children(parent);
    running.signal(Signal::INT).end().exits(130);
    assert!(processes.len() == 2 && processes.iter().all(|process| !is_there(*process)), "{processes:?}");
    let result = session.json("r.json");
    assert_eq!(result["requests"]["succeeded"], counts());
}

/// The result, in r.json, of a load from two processes with a thread each, of which one is killed when it has begun.
pub fn with_one_killed(server: &Testbed, session: &mut Session, line: &str) -> Value {
    let running = session.start(line);
    let parent = running.pid();
    let running = running.once(|| server.counts().path("/healthz") > 100);
    kill_process(Pid::from_raw(children(parent)[0] as i32).unwrap(), Signal::KILL).unwrap();
    let ran = running.end();
    assert!(ran.stdout.contains("1 of 2 threads of the load are gone: process ") && ran.stdout.contains("INVALID"), "{}", ran.stdout);
    let result = session.json("r.json");
    assert_eq!(result["generator"]["lost_share"], 0.5);
    result
}

#[test]
fn a_process_that_is_killed_takes_its_part_with_it_and_the_run_says_so() {
    let server = server();
    let mut session = Session::new();
    let line = format!("run {} -d 4s -c 8 --processes 2 --threads 2 --out json=r.json", server.url("/healthz"));
    let result = with_one_killed(&server, &mut session, &line);
    assert!(result["requests"]["succeeded"].as_u64().unwrap() > 100);
}

#[test]
fn processes_end_by_themselves_when_the_commander_is_killed() {
    let server = server();
    let mut session = Session::new();
    let running = session.start(&format!("run {} -d 600s -c 8 --processes 2", server.url("/healthz")));
    let parent = running.pid();
    let running = running.once(|| server.counts().path("/healthz") > 100);
    let processes = children(parent);
    drop(running.signal(Signal::KILL));
    wait_until("they end", || processes.iter().all(|process| !is_there(*process)));
    let before = server.counts().path("/healthz");
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(server.counts().path("/healthz"), before);
}

#[test]
fn sixty_thousand_connections_are_opened_held_and_used() {
    const CONNECTIONS: u64 = 60_000;
    let free: u64 = fs::read_to_string("/proc/meminfo")
        .unwrap()
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:")?.split_whitespace().next()?.parse().ok())
        .unwrap();
    if !crate::tools::are_here(&["nginx"]) || free < 2 << 20 {
        return;
    }
    let mut session = Session::alone();
    let nginx = Nginx::start_plain(&session, 4);
    session.loadline(&format!("run {} -c {CONNECTIONS} -n 120000 --timeout 2m --out json=r.json", nginx.url)).exits_either(0, 4);
    let result = session.json("r.json");
    assert_eq!((&result["connections"]["opened"], &result["requests"]["succeeded"]), (&CONNECTIONS.into(), &120_000.into()));
}

#[test]
fn what_needs_all_users_in_one_process_is_refused_with_a_reason() {
    let server = server();
    let url = server.url("");
    let meeting = format!(
        "target: {url}\nload: {{users: 4, requests: 8}}\njourneys:\n  - name: a\n    steps: [{{get: /a}}, {{rendezvous: 2, within: 1s}}]\n"
    );
    let mut session = Session::new().file("m.yaml", &meeting);
    session.loadline("run m.yaml --processes 2").exits(2).complains("they are in several processes");
    // Those of each process by themselves: two wait for each other in each of two.
    let mut session = session.file("each.yaml", &format!("each_place: true\n{meeting}"));
    session.loadline("run each.yaml -t 2 --processes 2").exits(0);
    assert_eq!(server.counts().path("/a"), 8);
    let following = format!(
        "target: {url}\neach_place: true\nload: {{duration: 20s}}\npopulations:\n  - {{name: first, users: 4, iterations_per_user: 1, journeys: b}}\n  \
         - {{name: second, users: 2, iterations_per_user: 1, journeys: c, after: first}}\n\
         journeys: [{{name: b, steps: [{{get: /b}}]}}, {{name: c, steps: [{{get: /c}}]}}]\n"
    );
    let mut session = session.file("following.yaml", &following);
    session.loadline("run following.yaml -t 2 --processes 2").exits(0);
    assert_eq!((server.counts().path("/b"), server.counts().path("/c")), (4, 2));
    // A place that has none of those who go first waits for nobody.
    let mut session = session.file("one.yaml", &following.replace("users: 4", "users: 1"));
    session.loadline("run one.yaml -t 2 --processes 2").exits(0);
    assert_eq!((server.counts().path("/b"), server.counts().path("/c")), (5, 4));
    session.loadline(&format!("run {url}/a -c 8 -t 2 --processes 4 -n 8")).exits(2).complains("--processes 4 is more than --threads 2");
}
