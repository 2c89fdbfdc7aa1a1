//! The server: its API as a program uses it, and everything it must refuse.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::agents::{self, calls, with_ssh};
use crate::export::Receiver;
use crate::profile::{BUSY, pprof};
use crate::session::{Running, Session, server};
use crate::sshd::agents_in;

/// Waiting longer is waiting for something that will not happen.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server under test.
struct Served {
    running: Running,
    address: SocketAddr,
    /// What it said when it began.
    said: String,
}

/// An answer.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Served {
    fn new(session: &mut Session, flags: &str) -> Self {
        let mut running = session.start(&format!("serve --listen 127.0.0.1:0 {flags}"));
        let said = running.stdout_until("Ctrl-C ends it.");
        let at = said.split("http://").nth(1).and_then(|rest| rest.split('/').next()).unwrap();
        Self { running, address: at.parse().unwrap(), said }
    }

    fn get(&self, path: &str) -> Answer {
        self.send("GET", path, "", "")
    }

    fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, "content-type: application/json\r\n", &body.to_string())
    }

    fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> Answer {
        self.send_to(&self.address.to_string(), method, path, headers, body)
    }

    fn send_to(&self, host: &str, method: &str, path: &str, headers: &str, body: &str) -> Answer {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let length = body.len();
        let head = format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        // What is refused by its head may hang up on its body.
        let _ = stream.write_all(body.as_bytes());
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer to {method} {path}: {text:?}"));
        Answer { status: head[9..12].parse().unwrap(), head: head.to_owned(), body: body.to_owned() }
    }

    /// Lines of the events, as they come.
    fn listen(&self) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(stream, "GET /api/v1/live/stream HTTP/1.1\r\nhost: {}\r\n\r\n", self.address).unwrap();
        BufReader::new(stream)
    }

    /// Once nothing is under way.
    fn idle(&self) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let state = self.get("/api/v1/live").json();
            if state["state"] != "running" {
                return state;
            }
            assert!(Instant::now() < deadline, "{state}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|why| panic!("{why}: {}", self.body))
    }

    #[track_caller]
    fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{}\n{}", self.head, self.body);
        self
    }
}

/// The next event of this name; the data of it.
fn event(lines: &mut BufReader<TcpStream>, name: &str) -> Value {
    let mut line = String::new();
    let mut current = String::new();
    loop {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0, "the events ended without '{name}'");
        if let Some(found) = line.trim_end().strip_prefix("event: ") {
            current = found.to_owned();
        } else if let Some(data) = line.strip_prefix("data: ")
            && current == name
        {
            return serde_json::from_str(data).unwrap();
        }
    }
}

#[test]
fn a_test_is_started_followed_read_and_compared_over_the_api() {
    let target = server();
    let mut session = Session::new();
    let served = Served::new(&mut session, "");
    assert_eq!(served.get("/api/v1/live").is(200).json(), json!({"state": "idle"}));
    assert_eq!(served.get("/api/v1/runs").is(200).json()["total"], 0);
    let test = |users: u32| json!({"plan": {"url": target.url("/healthz"), "connections": users, "duration": "1200ms"}, "name": "api", "tag": ["x"], "check": ["p99 < 10s"]});
    let mut lines = served.listen();
    served.post("/api/v1/runs", &test(2)).is(202);
    assert_eq!(
        served.post("/api/v1/runs", &test(2)).is(409).json()["message"],
        "a test is under way, and two at once would measure each other"
    );
    assert_eq!(event(&mut lines, "begun")["name"], "api");
    assert_eq!(event(&mut lines, "load")["page"]["kind"], "run");
    assert!(event(&mut lines, "tick")["answered"].as_u64().unwrap() > 0);
    let ended = event(&mut lines, "ended");
    let id = ended["saved"].as_str().unwrap().to_owned();
    assert_eq!((&ended["page"]["kind"], &ended["trouble"]), (&"run".into(), &Value::Null));
    assert_eq!(served.idle()["state"], "ended");
    // Whoever saw all of it is told that there is no more.
    let all = served.get("/api/v1/live/stream").is(200).body;
    let last = all.lines().filter_map(|line| line.strip_prefix("id: ")).next_back().unwrap().to_owned();
    served.send("GET", "/api/v1/live/stream", &format!("last-event-id: {last}\r\n"), "").is(204);
    let entry = served.get(&format!("/api/v1/runs/{}", &id[..4])).is(200).json();
    assert_eq!((&entry["id"], &entry["tags"], &entry["plan"]["connections"]), (&id.as_str().into(), &json!(["x"]), &2.into()));
    assert_eq!(served.get("/api/v1/runs/@last/page").is(200).json()["schema"], "loadline.page/1");
    let result = served.get("/api/v1/runs/@last/result").is(200).json();
    assert_eq!(result["schema"], "loadline.run/1");
    assert_eq!(result["observed"][0]["asked"], "auto", "the server's side is watched as on the command line");
    assert!(!served.get("/api/v1/runs/@last/course").is(200).json()["values"].as_array().unwrap().is_empty());
    assert!(served.get("/api/v1/runs/@last/html").is(200).head.contains("attachment; filename="));
    served.post("/api/v1/runs", &test(3)).is(202);
    served.idle();
    let page = served.get("/api/v1/compare?a=@last-1&b=@last").is(200).json();
    assert_eq!((&page["kind"], page["data"]["times"].as_array().unwrap().len()), (&"runs".into(), 2));
    assert_eq!(served.get("/api/v1/trend?name=api").is(200).json()["data"]["runs"].as_array().unwrap().len(), 2);
    assert_eq!(served.get("/api/v1/runs?q=API&tag=x&kind=run&limit=1").is(200).json()["total"], 2);
    let ran = served.running.signal(Signal::INT).end().exits(0);
    assert_eq!(ran.stderr, "");
    session.loadline("runs --name api").exits(0).says("none failed");
}

#[test]
fn sweeps_searches_and_comparisons_are_started_over_the_api_and_shown_while_they_go_on() {
    let target = server();
    let mut session = Session::new();
    let served = Served::new(&mut session, "");
    let plan = json!({"url": target.url("/healthz"), "duration": "300ms", "threads": 2, "processes": 2});
    let slow = target.url("/healthz?delay_ms=2");
    for (kind, test) in [
        ("sweep", json!({"plan": plan, "sweep": {"levels": "2,4", "cooldown": "0s"}, "slo": ["p99 < 10s"], "name": "many"})),
        ("compare", json!({"plan": plan, "other": slow, "compare": {"pairs": 1, "cooldown": "0s"}, "name": "many"})),
        (
            "find",
            json!({"plan": {"url": target.url("/healthz"), "threads": 2, "processes": 2}, "find": {"quick": true, "budget": "30s", "rate_max": "40/s"}, "slo": ["p90 < 2s"], "name": "many"}),
        ),
    ] {
        let checked = served.post("/api/v1/check", &test).is(200).json();
        assert_eq!(checked["mistakes"], json!([]), "{checked}");
        assert!(checked["command"].as_str().unwrap().starts_with(&format!("loadline {kind} ")), "{checked}");
        served.post("/api/v1/runs", &test).is(202);
        let mut lines = served.listen();
        assert_eq!(event(&mut lines, "begun")["kind"], kind);
        assert_eq!(event(&mut lines, "load")["page"]["kind"], "run");
        let ended = event(&mut lines, "ended");
        assert_eq!((&ended["page"]["kind"], &ended["trouble"]), (&kind.into(), &Value::Null));
        let id = ended["saved"].as_str().unwrap();
        assert_eq!(served.get(&format!("/api/v1/runs/{id}")).is(200).json()["kind"], kind);
        let result = served.get(&format!("/api/v1/runs/{id}/result")).is(200).json();
        let first = result.pointer("/trials/0/summary").or_else(|| result.pointer("/pairs/0/a")).unwrap();
        assert_eq!(first["generator"]["processes"], 2, "{kind}");
        assert_eq!(served.idle()["state"], "ended");
    }
    let too_many = json!({"plan": {"url": target.url("/healthz"), "threads": 1000, "processes": 1000}});
    let said = served.post("/api/v1/runs", &too_many).is(422).json();
    assert!(said["mistakes"][0]["message"].as_str().unwrap().starts_with("processes: 1000 is more than "), "{said}");
    served.running.signal(Signal::INT).end().exits(0);
}

/// The sites of the last saved run.
fn sites(served: &Served) -> Vec<String> {
    let result = served.get("/api/v1/runs/@last/result").is(200).json();
    let names = |sites: &Vec<Value>| sites.iter().map(|site| site["name"].as_str().unwrap().to_owned()).collect();
    result["sites"].as_array().map(names).unwrap_or_default()
}

#[test]
fn tests_come_from_the_machines_of_the_server_or_from_those_that_are_chosen_of_them() {
    let target = server();
    let mut session = with_ssh(agents::session());
    let served = Served::new(&mut session, "--agents ssh:a,ssh:me@b:2222");
    assert!(served.said.contains("Tests come from: a, me@b, called when one begins"), "{}", served.said);
    assert_eq!(served.get("/api/v1/agents").is(200).json(), json!({"agents": ["a", "me@b"]}));
    let plan = json!({"url": target.url("/healthz"), "requests": 40, "connections": 4, "threads": 2});
    for (chosen, expected) in [(None, vec!["a", "me@b"]), (Some(json!(["me@b"])), vec!["me@b"]), (Some(json!([])), vec![])] {
        let mut test = json!({"plan": plan});
        if let Some(chosen) = chosen {
            test["agents"] = chosen;
        }
        let before = calls(&session);
        let command = served.post("/api/v1/check", &test).is(200).json()["command"].as_str().unwrap().to_owned();
        assert_eq!(command.contains("--agents ssh:a,ssh:me@b:2222"), expected.len() == 2, "{command}");
        assert_eq!(command.contains("--agents ssh:me@b:2222"), expected.len() == 1, "{command}");
        assert_eq!(calls(&session), before, "nobody is called for a look");
        served.post("/api/v1/runs", &test).is(202);
        served.idle();
        assert_eq!(sites(&served), expected);
        assert!(agents_in(&session.path("homes")).is_empty(), "they are let go");
    }
    assert_eq!(target.counts().path("/healthz"), 120);
    let said = served.post("/api/v1/runs", &json!({"plan": plan, "agents": ["a", "c"]})).is(422).json();
    assert_eq!((&said["mistakes"][0]["setting"], said["mistakes"].as_array().unwrap().len()), (&"agents".into(), 1), "{said}");
    assert_eq!(said["mistakes"][0]["message"], "agents: 'c' is none of the machines that tests may come from");
    // A sweep calls each once.
    let before = calls(&session);
    let sweep =
        json!({"plan": {"url": target.url("/healthz"), "duration": "300ms", "threads": 2}, "sweep": {"levels": "2,4", "cooldown": "0s"}});
    served.post("/api/v1/runs", &sweep).is(202);
    let mut lines = served.listen();
    assert_eq!(event(&mut lines, "ended")["trouble"], Value::Null);
    assert_eq!(calls(&session), before + 2);
    served.idle();
    // What goes on there ends with the server.
    let long = json!({"plan": {"url": target.url("/healthz"), "connections": 2, "duration": "10m", "threads": 2}, "name": "long"});
    served.post("/api/v1/runs", &long).is(202);
    event(&mut served.listen(), "tick");
    assert_eq!(agents_in(&session.path("homes")).len(), 2);
    served.running.signal(Signal::INT).end().exits(0);
    assert!(agents_in(&session.path("homes")).is_empty());
    session.loadline("runs --name long").exits(0).says("interrupted");
}

#[test]
fn a_machine_that_is_off_is_told_by_its_name_to_whoever_starts_a_test_and_the_others_serve() {
    let target = server();
    let mut session = with_ssh(agents::session());
    let served = Served::new(&mut session, "--agents ssh:a,ssh:nowhere");
    let plan = json!({"url": target.url("/healthz"), "requests": 4, "connections": 2, "threads": 2});
    let said = served.post("/api/v1/runs", &json!({"plan": plan})).is(422).json();
    assert!(said["message"].as_str().unwrap().starts_with("nowhere did not answer: it ended with status 255 (ssh: "), "{said}");
    assert_eq!(said["help"], "try it: ssh -o BatchMode=yes nowhere true");
    served.post("/api/v1/runs", &json!({"plan": plan, "agents": ["a"]})).is(202);
    served.idle();
    assert_eq!(sites(&served), ["a"]);
    served.running.signal(Signal::INT).end().exits(0);
    // One that says nothing does not keep the server from its end.
    let mut session = with_ssh(session);
    let served = Served::new(&mut session, "--agents ssh:silent");
    let before = calls(&session);
    std::thread::scope(|threads| {
        let asked = threads.spawn(|| served.post("/api/v1/runs", &json!({"plan": plan})));
        let deadline = Instant::now() + PATIENCE;
        while calls(&session) == before {
            assert!(Instant::now() < deadline, "nobody is called");
            std::thread::sleep(Duration::from_millis(5));
        }
        kill_process(Pid::from_raw(served.running.pid() as i32).unwrap(), Signal::INT).unwrap();
        assert_eq!(asked.join().unwrap().is(422).json()["message"], "the machines were not waited for");
    });
    served.running.end().exits(0);
    let ran = session.loadline("serve --listen 127.0.0.1:0 --agents ssh:-oX=y --agent-binary nothing").exits(2);
    assert!(ran.stderr.contains("--agents 'ssh:-oX=y' is no machine"), "{}", ran.stderr);
    session
        .loadline("serve --listen 127.0.0.1:0 --agents ssh:a --agent-binary nothing")
        .exits(2)
        .complains("the program 'nothing' cannot be read");
}

#[test]
fn what_comes_from_machines_and_processes_stays_where_tests_may_go() {
    let mut session = with_ssh(agents::session());
    let served = Served::new(&mut session, "--allow-target 127.0.0.1 --agents ssh:a,ssh:b");
    let (elsewhere, heard) = counting("127.0.0.2", None);
    let (redirecting, asked) = counting("127.0.0.1", Some(format!("http://{elsewhere}/")));
    let also = json!([format!("http://{elsewhere}")]);
    let load = json!({"requests": 4, "connections": 2, "threads": 2});
    let with = |more: Value| {
        let mut plan = load.clone();
        plan.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        plan
    };
    let of_machines = |plan: Value| json!({"plan": plan});
    let of_processes = |plan: Value| {
        let mut test = json!({"plan": plan, "agents": []});
        test["plan"]["processes"] = 2.into();
        test
    };
    let journey =
        |steps: &str| json!({"scenario_text": format!("target: http://{redirecting}\nload: {{users: 2, requests: 4}}\nsteps: {steps}\n")});
    for (test, is_far) in [(&of_machines as &dyn Fn(Value) -> Value, true), (&of_processes, false)] {
        // A redirect that the plan allows, to where the server does not.
        let redirected = with(json!({"url": format!("http://{redirecting}/"), "also_target": also, "follow": 3}));
        served.post("/api/v1/runs", &test(redirected)).is(202);
        served.idle();
        let result = served.get("/api/v1/runs/@last/result").is(200).json();
        assert_eq!(
            (&result["failures"][0]["class"], &result["failures"][0]["count"]),
            (&"redirect.target".into(), &4.into()),
            "{}",
            result["failures"]
        );
        assert_eq!(result["sites"].as_array().unwrap().len(), 2);
        // The target itself, and a server that a step names. Addresses are judged before anybody sends something.
        for outside in
            [with(json!({"url": format!("http://{elsewhere}/")})), journey(&format!("[{{get: /}}, {{get: 'http://{elsewhere}/x'}}]"))]
        {
            let before = asked.load(Ordering::SeqCst);
            let is_target = outside["url"].is_string();
            let answer = served.post("/api/v1/runs", &test(outside));
            let message = format!("load may not be sent to {elsewhere}");
            if is_far && is_target {
                let said = answer.is(422).json();
                assert_eq!((&said["mistakes"][0]["setting"], &said["mistakes"][0]["message"]), (&json!("url"), &json!(message)), "{said}");
            } else {
                assert_eq!(answer.is(403).json()["message"], message);
            }
            served.idle();
            assert_eq!(asked.load(Ordering::SeqCst), before, "nothing is sent to others either");
        }
    }
    assert!(asked.load(Ordering::SeqCst) > 0);
    assert_eq!(heard.load(Ordering::SeqCst), 0);
    served.running.signal(Signal::INT).end().exits(0);
    // Where it is allowed, it goes there.
    let mut session = with_ssh(session);
    let served = Served::new(&mut session, "--allow-target 127.0.0.0/8 --agents ssh:a,ssh:b");
    for test in [&of_machines as &dyn Fn(Value) -> Value, &of_processes] {
        let before = heard.load(Ordering::SeqCst);
        served
            .post("/api/v1/runs", &test(with(json!({"url": format!("http://{redirecting}/"), "also_target": also, "follow": 3}))))
            .is(202);
        served.idle();
        assert!(heard.load(Ordering::SeqCst) > before);
    }
    served.running.signal(Signal::INT).end().exits(0);
}

#[test]
fn tests_are_profiled_and_told_to_other_systems_as_whoever_started_the_server_wants_it() {
    let target = server();
    let (at, _asked) = pprof(&[BUSY]);
    let receiver = Receiver::answering("204 No Content");
    let mut session = Session::new();
    let influx = format!("influx=http://{}/write", receiver.address);
    let served = Served::new(&mut session, &format!("--profile {at} --profile-out there --export {influx} --observe none"));
    let plan = json!({"url": target.url("/healthz"), "duration": "2s", "connections": 1});
    let short = json!({"url": target.url("/healthz"), "duration": "1300ms"});
    for (place, test) in [
        ("/profiles/0", json!({"plan": plan, "name": "one load"})),
        ("/profiled/0/summary/profiles/0", json!({"plan": short, "sweep": {"levels": "1,2", "cooldown": "0s"}})),
        (
            "/profiled/1/summary/profiles/0",
            json!({"plan": short, "other": target.url("/healthz"), "compare": {"pairs": 1, "cooldown": "0s"}}),
        ),
    ] {
        served.post("/api/v1/runs", &test).is(202);
        let mut lines = served.listen();
        event(&mut lines, "begun");
        let ended = event(&mut lines, "ended");
        let result = served.get(&format!("/api/v1/runs/{}/result", ended["saved"].as_str().unwrap())).is(200).json();
        // A sweep of which no level can be believed has no best one to take profiles of: others keep the machine busy.
        let is_doubted = |levels: &Vec<Value>| levels.iter().all(|level| level["validity"]["standing"] == "invalid");
        let total = result.pointer(place).map(|profile| profile["total"].clone());
        let expected = if result["judged"].as_array().is_some_and(is_doubted) { None } else { Some(json!(200)) };
        assert_eq!(total, expected, "{place}: {result}");
        assert_eq!(result.get("observed"), None, "nothing is watched");
        served.idle();
    }
    let told: Vec<u8> = receiver.bodies().concat();
    assert!(String::from_utf8_lossy(&told).contains("one\\ load"), "{}", String::from_utf8_lossy(&told));
    assert!(session.files().iter().any(|name| name.starts_with("there/")), "{:?}", session.files());
    served.running.signal(Signal::INT).end().exits(0);
    session
        .loadline("serve --listen 127.0.0.1:0 --profile ftp://x/ --export nothing")
        .exits(2)
        .complains("--profile")
        .complains("--export");
}

#[test]
fn an_experiment_over_the_api_is_told_its_mistakes_and_stopped_with_what_it_measured() {
    let target = server();
    let mut session = Session::new();
    let served = Served::new(&mut session, "--allow-target loopback");
    let plan = json!({"url": target.url("/healthz"), "duration": "200ms"});
    for (test, said) in [
        (json!({"plan": plan, "sweep": {}, "find": {}}), "one of sweep, find and compare"),
        (json!({"plan": plan, "sweep": {"levels": "0"}}), "levels: '0'"),
        (json!({"plan": {"url": target.url("/healthz")}, "find": {}}), "no promise is given"),
        (json!({"plan": plan, "compare": {}}), "only one side"),
        (json!({"plan": plan, "other": "http://127.0.0.1:1/"}), "this is none"),
        (json!({"plan": plan, "compare": {"pairs": "x"}, "other": "http://127.0.0.1:1/"}), "pairs: 'x'"),
    ] {
        let answer = served.post("/api/v1/runs", &test).is(422);
        assert!(answer.body.contains(said), "{said}: {}", answer.body);
    }
    let listed = served.post("/api/v1/check", &json!({"plan": plan, "compare": [null, null]})).is(400);
    assert!(listed.body.contains("are no object"), "{}", listed.body);
    // The other side is fenced in as every target is.
    let outside = json!({"plan": plan, "compare": {"pairs": 1}, "other": "http://192.0.2.1/"});
    served.post("/api/v1/runs", &outside).is(403);
    let mut lines = served.listen();
    let long =
        json!({"plan": {"url": target.url("/healthz"), "duration": "300ms"}, "sweep": {"levels": "1,2,3,4,5,6,7,8,9", "all_levels": true}});
    served.post("/api/v1/runs", &long).is(202);
    event(&mut lines, "result");
    served.post("/api/v1/live/stop", &json!({})).is(202);
    let ended = event(&mut lines, "ended");
    let result = served.get(&format!("/api/v1/runs/{}/result", ended["saved"].as_str().unwrap())).is(200).json();
    assert_eq!(result["stopped"]["rule"], "interrupted");
    assert!(!result["trials"].as_array().unwrap().is_empty());
    served.running.signal(Signal::INT).end().exits(0);
}

/// Waits until the run of this name is shown.
fn until_live(served: &Served, name: &str) {
    let deadline = Instant::now() + PATIENCE;
    while served.get("/api/v1/live").json()["name"] != name {
        assert!(Instant::now() < deadline, "{name} is not shown");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Whoever started it: what runs on this history is shown, and can be stopped.
#[test]
fn a_run_of_the_command_line_is_followed_and_stopped() {
    let target = server();
    let mut session = Session::new();
    let served = Served::new(&mut session, "");
    let mut lines = served.listen();
    let run = session.start(&format!("run {} -c 2 -d 10m --name by-hand", target.url("/healthz")));
    let begun = event(&mut lines, "begun");
    assert_eq!((&begun["name"], &begun["kind"]), (&"by-hand".into(), &"run".into()));
    assert!(begun["title"].as_str().unwrap().ends_with(", started on the command line"), "{begun}");
    assert_eq!(event(&mut lines, "load")["page"]["kind"], "run");
    assert!(event(&mut lines, "tick")["answered"].as_u64().unwrap() > 0);
    let test = json!({"plan": {"url": target.url("/healthz"), "connections": 1, "duration": "1s"}});
    served.post("/api/v1/runs", &test).is(409);
    served.send("POST", "/api/v1/live/stop", "", "").is(202);
    run.end().exits(130).says("Interrupted");
    let ended = event(&mut lines, "ended");
    assert_eq!((&ended["page"]["kind"], &ended["trouble"]), (&"run".into(), &Value::Null));
    let id = ended["saved"].as_str().unwrap().to_owned();
    assert_eq!(served.get("/api/v1/runs/@last").is(200).json()["id"], id);
    // So are all loads of a search and of a comparison.
    let url = target.url("/healthz");
    for (kind, line) in [
        ("sweep", format!("sweep {url} --levels 1,2 -d 1m --name s")),
        ("find", format!("find {url} --slo 'p99 < 10s' --rate-max 50/s --name f")),
        ("compare", format!("compare {url} {url} -d 1m --name c")),
    ] {
        let run = session.start(&line);
        until_live(&served, &kind[..1]);
        let mut lines = served.listen();
        assert_eq!(event(&mut lines, "begun")["kind"], kind);
        let load = event(&mut lines, "load");
        assert!(load["page"]["kind"] == "run" && !load["what"].as_str().unwrap().contains('{'), "{load}");
        event(&mut lines, "tick");
        served.send("POST", "/api/v1/live/stop", "", "").is(202);
        run.end().exits(130);
        event(&mut lines, "ended");
    }
    // A run that goes on is not ended by whoever watches it.
    let run = session.start(&format!("run {} -d 6s -c 2 --name goes-on", target.url("/healthz")));
    until_live(&served, "goes-on");
    served.running.signal(Signal::INT).end().exits(0);
    // On a busy machine it may be INVALID, and has come to its end all the same.
    let ran = run.end();
    assert!([0, 4].contains(&ran.exit) && !ran.stdout.contains("Interrupted"), "{}\n{}", ran.exit, ran.stdout);
}

#[test]
fn what_is_said_of_a_run_is_changed_and_a_run_is_removed() {
    let target = server();
    let mut session = Session::new();
    session.loadline(&format!("run {} -n 20 -c 2 --name before --tag old", target.url("/healthz"))).exits(0);
    let served = Served::new(&mut session, "");
    let change = |what: Value| served.post("/api/v1/runs/@last/change", &what);
    let now = change(json!({"name": "after", "note": "a note", "tags": ["new", "two"], "baseline": true})).is(200).json();
    assert_eq!(
        (&now["name"], &now["note"], &now["tags"], &now["baseline"]),
        (&"after".into(), &"a note".into(), &json!(["new", "two"]), &true.into())
    );
    let now = change(json!({"note": ""})).is(200).json();
    assert_eq!((&now["name"], &now["note"], &now["tags"]), (&"after".into(), &"".into(), &json!(["new", "two"])));
    for wrong in [json!({"name": " "}), json!({"tags": ["two words"]}), json!({"baseline": false})] {
        change(wrong).is(422);
    }
    change(json!({"colour": "blue"})).is(400);
    let shown = served.get("/api/v1/runs/@last").is(200).json();
    assert!(shown["plan"].get("header").is_none() && shown["plan"].get("connect_timeout").is_none(), "{shown}");
    let id = shown["id"].as_str().unwrap();
    served.send("POST", &format!("/api/v1/runs/{id}/remove"), "", "").is(200);
    served.send("POST", &format!("/api/v1/runs/{id}/remove"), "", "").is(404);
    assert_eq!(served.get("/api/v1/runs").is(200).json()["total"], 0);
    served.running.signal(Signal::INT).end().exits(0);
}

#[test]
fn a_test_is_stopped_and_one_under_way_is_saved_when_the_server_ends() {
    let target = server();
    let mut session = Session::new();
    let served = Served::new(&mut session, "");
    let test = json!({"plan": {"url": target.url("/healthz"), "connections": 1, "duration": "10m"}, "name": "long"});
    served.post("/api/v1/live/stop", &json!({})).is(409);
    served.post("/api/v1/runs", &test).is(202);
    let mut lines = served.listen();
    event(&mut lines, "tick");
    // A listener that goes away in the middle is no matter.
    drop(lines);
    served.send("POST", "/api/v1/live/stop", "", "").is(202);
    served.idle();
    assert!(served.get("/api/v1/runs/@last").is(200).json()["outcome"].as_str().unwrap().starts_with("interrupted"));
    served.post("/api/v1/runs", &test).is(202);
    let mut lines = served.listen();
    event(&mut lines, "tick");
    served.running.signal(Signal::TERM).end().exits(0).complains("ending: waiting for the last answers");
    event(&mut lines, "ended");
    let runs = session.loadline("runs --json --name long").exits(0);
    assert_eq!(serde_json::from_str::<Value>(&runs.stdout).unwrap()["total"], 2);
}

#[test]
fn all_mistakes_are_told_as_the_command_line_tells_them_but_with_keys_and_nothing_is_started() {
    let mut session = Session::new();
    let served = Served::new(&mut session, "");
    let wrong = json!({"plan": {"url": "healthz", "connections": "0", "timeout": "soon"}, "check": ["p99 < 5"], "tag": ["a b"]});
    let checked = served.post("/api/v1/check", &wrong).is(200).json();
    let refused = served.post("/api/v1/runs", &wrong).is(422).json();
    assert_eq!(checked["mistakes"], refused["mistakes"]);
    let ran = session.loadline("run healthz -c 0 --timeout soon --check 'p99 < 5' --tag 'a b'").exits(2);
    let mistakes = checked["mistakes"].as_array().unwrap();
    let settings: Vec<&str> = mistakes.iter().map(|mistake| mistake["setting"].as_str().unwrap()).collect();
    assert_eq!(settings, ["url", "connections", "timeout", "check", "tag"]);
    // For forms, which call settings otherwise.
    assert_eq!(mistakes[1]["marked"]["message"], "\u{10fff0}connections:\u{10fff1} '0' is zero");
    let keys = settings
        .iter()
        .fold(ran.stderr, |said, key| said.replace(&format!("--{key} "), &format!("{key}: ")).replace(&format!("--{key}"), key));
    for mistake in mistakes {
        let said = format!("error: {}\n  help: {}", mistake["message"].as_str().unwrap(), mistake["help"].as_str().unwrap());
        assert!(keys.contains(&said), "{said}\nis not in\n{keys}");
    }
    assert_eq!(served.get("/api/v1/live").json()["state"], "idle");
    let well = json!({"plan": {"url": "http://127.0.0.1/", "rate": "0/s to 50/s for 1m, 50/s for 10s", "bearer": "s3cret-s3cret"}});
    let checked = served.post("/api/v1/check", &well).is(200).json();
    assert_eq!(checked["stages"], json!([{"from": 0.0, "to": 50.0, "seconds": 60.0}, {"from": 50.0, "to": 50.0, "seconds": 10.0}]));
    assert_eq!(checked["command"], "loadline run http://127.0.0.1/ --bearer *** --rate '0/s to 50/s for 1m, 50/s for 10s'");
}

#[test]
fn what_cannot_be_read_is_refused_with_a_status_that_says_why() {
    let mut session = Session::new();
    let served = Served::new(&mut session, "");
    let json_kind = "content-type: application/json\r\n";
    let post = |headers: &str, body: &str| served.send("POST", "/api/v1/check", headers, body);
    assert_eq!(post(json_kind, "{").is(400).json()["help"], "see /api/v1/openapi.json for its keys");
    assert!(post(json_kind, r#"{"plan": {"uri": "x"}}"#).is(400).body.contains("unknown field `uri`"));
    assert!(post(json_kind, r#"{"plans": {}}"#).is(400).body.contains("unknown field `plans`"));
    post(json_kind, "[]").is(400);
    post("content-type: text/plain\r\n", "{}").is(415);
    post("", "{}").is(415);
    post(json_kind, &format!("{{\"note\": \"{}\"}}", "x".repeat(1 << 20))).is(413);
    served.get("/api/v1/runs?limit=many").is(400);
    served.get("/api/v1/runs?colour=blue").is(400);
    served.get("/api/v1/runs/nobody!").is(404);
    served.get("/api/v1/runs/@nobody/page").is(404);
    served.get("/api/v1/trend?name=nobody").is(404);
    served.get("/nothing").is(404);
    assert!(served.send("DELETE", "/api/v1/runs", "", "").is(405).head.contains("allow: GET, POST"));
    // What is no HTTP at all ends only its own connection.
    TcpStream::connect(served.address).unwrap().write_all(b"\x16\x03\x01 hello\r\n\r\n").unwrap();
    served.get("/api/v1/openapi.json").is(200);
}

#[test]
fn other_names_and_other_origins_are_refused() {
    let mut session = Session::new();
    let served = Served::new(&mut session, "--host load.example.com");
    let port = served.address.port();
    let as_host = |host: &str| served.send_to(host, "GET", "/api/v1/runs", "", "").status;
    assert_eq!(as_host(&format!("evil.test:{port}")), 403, "a name that leads here by its owner's will");
    assert_eq!(as_host(&format!("127.0.0.1.evil.test:{port}")), 403);
    assert_eq!(as_host(&format!("localhost:{port}")), 200);
    assert_eq!(as_host("load.example.com"), 200, "it was named");
    let page = served.send_to("evil.test", "GET", "/", "", "");
    assert_eq!(page.status, 403, "not even a page");
    let start = |headers: &str| served.send("POST", "/api/v1/live/stop", headers, "").status;
    assert_eq!(start("origin: http://evil.test\r\n"), 403);
    assert_eq!(start("origin: null\r\n"), 403);
    assert_eq!(start("sec-fetch-site: cross-site\r\n"), 403);
    assert_eq!(
        start(&format!("origin: http://{}\r\nsec-fetch-site: same-origin\r\n", served.address)),
        409,
        "let through, and nothing is under way"
    );
    let head = served.get("/").head;
    for header in [
        "content-security-policy: default-src 'none'; script-src 'self'",
        "x-content-type-options: nosniff",
        "cross-origin-resource-policy: same-origin",
    ] {
        assert!(head.contains(header), "{header}: {head}");
    }
    assert!(!head.contains("access-control"), "{head}");
}

#[test]
fn a_server_that_others_can_reach_has_a_token() {
    let mut session = Session::new();
    let mut running = session.start("serve --listen 0.0.0.0:0");
    let said = running.stdout_until("Ctrl-C ends it.");
    let token = said.split("#token=").nth(1).and_then(|rest| rest.split_whitespace().next()).unwrap().to_owned();
    assert_eq!(token.len(), 43);
    let port: u16 = said.split("<this machine>:").nth(1).and_then(|rest| rest.split('/').next()).unwrap().parse().unwrap();
    let served = Served { running, address: SocketAddr::from(([127, 0, 0, 1], port)), said };
    assert!(served.said.contains("not encrypted"), "{}", served.said);
    served.get("/").is(200);
    assert!(served.get("/api/v1/runs").is(401).head.contains("www-authenticate: Bearer"));
    served.send("POST", "/api/v1/live/stop", "", "").is(401);
    let bearer = |token: &str| served.send("GET", "/api/v1/runs", &format!("authorization: Bearer {token}\r\n"), "").status;
    assert_eq!((bearer(&token), bearer(&token[1..]), bearer("")), (200, 401, 401));
    served.post("/api/v1/session", &json!({"token": "wrong"})).is(401);
    let signed_in = served.post("/api/v1/session", &json!({"token": token})).is(204);
    let cookie = signed_in.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    assert!(cookie.ends_with("; HttpOnly; SameSite=Strict; Path=/"), "{cookie}");
    let pair = cookie.split(';').next().unwrap();
    assert_eq!(served.send("GET", "/api/v1/runs", &format!("cookie: {pair}\r\n"), "").status, 200);
}

#[test]
fn a_token_that_was_given_is_not_printed() {
    let token = "a-token-that-nobody-guesses";
    let mut session = Session::new().file("token", token);
    let readable = |mode| fs::set_permissions(session.path("token"), std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    readable(0o644);
    let served = Served::new(&mut session, "--token-file token");
    assert!(served.said.contains("#token=TOKEN, with the token of 'token'"), "{}", served.said);
    assert_eq!(served.send("GET", "/api/v1/runs", &format!("authorization: Bearer {token}\r\n"), "").status, 200);
    let said = served.said.clone();
    let ran = served.running.signal(Signal::INT).end().complains("every user of this machine can read the token in 'token'");
    assert!(![said, ran.stdout, ran.stderr].concat().contains(token));
}

#[test]
fn whoever_asks_and_takes_nothing_keeps_no_place() {
    let mut session = Session::new().file("token", "a-token-that-nobody-guesses");
    let served = Served::new(&mut session, "--token-file token");
    // Whoever has shown the token is not among those who wait for a place.
    let stream = TcpStream::connect(served.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut known = BufReader::new(stream);
    let ask = |known: &mut BufReader<TcpStream>| {
        let bearer = "authorization: Bearer a-token-that-nobody-guesses";
        write!(known.get_mut(), "GET /api/v1/live HTTP/1.1\r\nhost: {}\r\n{bearer}\r\n\r\n", served.address).unwrap();
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(known.read_line(&mut head).unwrap() > 0, "{head}");
        }
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap().parse().unwrap();
        known.read_exact(&mut vec![0; length]).unwrap();
    };
    ask(&mut known);
    let strangers: Vec<TcpStream> = (0..20)
        .map(|_| {
            let mut stream = TcpStream::connect(served.address).unwrap();
            stream.set_nonblocking(true).unwrap();
            let request = format!("GET /assets/app.js HTTP/1.1\r\nhost: {}\r\n\r\n", served.address);
            let _ = stream.write(request.repeat(400).as_bytes());
            stream
        })
        .collect();
    ask(&mut known);
    served.get("/").is(200);
    drop(strangers);
}

#[test]
fn strangers_who_say_nothing_lock_nobody_out() {
    let token = "a-token-that-nobody-guesses";
    let mut session = Session::new().file("token", token);
    let served = Served::new(&mut session, "--token-file token");
    // In places of 5 s for 16 at a time they would take longer than anybody waits.
    let strangers: Vec<TcpStream> = (0..320).map(|_| TcpStream::connect(served.address).unwrap()).collect();
    assert_eq!(served.send("GET", "/api/v1/runs", &format!("authorization: Bearer {token}\r\n"), "").status, 200);
    drop(strangers);
}

#[test]
fn load_goes_only_where_it_is_allowed_also_by_name_and_by_redirect() {
    let mut session = Session::new();
    let served = Served::new(&mut session, "--allow-target 127.0.0.1");
    let start = |plan: Value| served.post("/api/v1/runs", &json!({"plan": plan}));
    // Nobody is even asked whether they are there.
    let (elsewhere, heard) = counting("127.0.0.2", None);
    let said = start(json!({"url": format!("http://{elsewhere}/")})).is(403).json();
    assert_eq!(said["message"], format!("load may not be sent to {elsewhere}"));
    assert_eq!(said["help"], "whoever started loadline serve allows 127.0.0.1; more with --allow-target");
    start(json!({"url": "http://127.0.0.1/", "connect_to": elsewhere.to_string()})).is(403);
    // A redirect from a place that is allowed leads nowhere else.
    let (redirecting, asked) = counting("127.0.0.1", Some(format!("http://{elsewhere}/")));
    start(json!({"url": format!("http://{redirecting}/"), "follow": 3, "requests": 2, "connections": 1})).is(202);
    served.idle();
    let result = served.get("/api/v1/runs/@last/result").is(200).json();
    assert_eq!(
        (&result["requests"]["succeeded"], &result["failures"][0]["class"]),
        (&0.into(), &"redirect.outside".into()),
        "{}",
        result["failures"]
    );
    // Nor if the plan itself names it.
    let also = json!([format!("http://{elsewhere}")]);
    start(json!({"url": format!("http://{redirecting}/"), "also_target": also, "follow": 3, "requests": 2, "connections": 1})).is(202);
    served.idle();
    let result = served.get("/api/v1/runs/@last/result").is(200).json();
    assert_eq!(result["failures"][0]["class"], "redirect.target", "{}", result["failures"]);
    assert!(asked.load(Ordering::SeqCst) > 0);
    assert_eq!(heard.load(Ordering::SeqCst), 0);
    drop(served);
    // A name is judged by where it leads.
    let served = Served::new(&mut session, "--allow-target 10.0.0.0/8");
    let answer = served.post("/api/v1/runs", &json!({"plan": {"url": format!("http://localhost:{}/", redirecting.port())}})).is(403);
    assert!(answer.body.contains("load may not be sent to localhost, which is at "), "{}", answer.body);
}

/// A listener that counts whoever connects, and redirects or hangs up.
pub fn counting(ip: &str, location: Option<String>) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((ip, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            counted.fetch_add(1, Ordering::SeqCst);
            let (Ok(mut stream), Some(location)) = (stream, location.clone()) else { continue };
            std::thread::spawn(move || {
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                if lines.any(|line| line.is_ok_and(|line| line.is_empty())) {
                    let _ = write!(stream, "HTTP/1.1 302 Found\r\nlocation: {location}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
                }
            });
        }
    });
    (address, count)
}

#[test]
fn a_browser_names_no_file_of_this_machine() {
    let mut session = Session::new().file("secret.txt", "top secret").file("s.lua", "wrk.method = 'POST'");
    let served = Served::new(&mut session, "");
    let path = session.path("secret.txt").display().to_string();
    for plan in [
        json!({"data": format!("@{path}")}),
        json!({"json": "@-"}),
        json!({"form": [format!("a=@{path}")]}),
        json!({"script": session.path("s.lua")}),
        json!({"cacert": path}),
        json!({"unix_socket": path}),
        json!({"proxy": "http://127.0.0.1:3128"}),
    ] {
        let mut whole = json!({"url": "http://127.0.0.1/"});
        whole.as_object_mut().unwrap().extend(plan.as_object().unwrap().clone());
        let answer = served.post("/api/v1/runs", &json!({"plan": whole})).is(422);
        assert!(answer.body.contains("is not taken from a browser") && !answer.body.contains("top secret"), "{}", answer.body);
        // Nor is told whether a file is there.
        assert!(!answer.body.contains("no such file"), "{}", answer.body);
    }
}

#[test]
fn a_scenario_is_sent_as_text_carried_out_and_done_again() {
    let target = server();
    let mut session = Session::new();
    let served = Served::new(&mut session, "");
    let text = format!(
        "target: {}\nload: {{users: 1, requests: 20}}\nsetup: [{{get: /healthz?setup}}]\nsteps:\n  - get: /question\n    extract: {{id: json $.id}}\n  - post: /healthz?id={{{{id}}}}&token=short1\n    name: tell\n    json: {{password: lovelace-ada}}\n",
        target.url("").trim_end_matches('/')
    );
    let test = json!({"plan": {"scenario_text": text}, "name": "shop"});
    let checked = served.post("/api/v1/check", &test).is(200).json();
    assert_eq!((&checked["mistakes"], &checked["command"]), (&json!([]), &"loadline run scenario.yaml --name shop".into()));
    assert!(checked["load"].as_str().unwrap().contains("1 user"), "{checked}");
    let mut lines = served.listen();
    served.post("/api/v1/runs", &test).is(202);
    assert_eq!(event(&mut lines, "begun")["name"], "shop");
    let ended = event(&mut lines, "ended");
    assert_eq!(ended["trouble"], Value::Null);
    served.idle();
    let result = served.get("/api/v1/runs/@last/result").is(200).json();
    assert_eq!((&result["requests"]["due"], &result["scenario"]["steps"][1]["name"]), (&20.into(), &"tell".into()));
    assert_eq!(result["scenario"]["journeys"][0]["completed"], 10);
    assert_eq!(target.counts().answered, 21, "and the setup");
    // It is part of the result, without its secrets.
    let kept = result["plan"]["scenario_text"].as_str().unwrap();
    assert!(kept.contains("name: tell") && kept.contains("password: ***"), "{kept}");
    for part in ["", "/page", "/result", "/html"] {
        let shown = served.get(&format!("/api/v1/runs/@last{part}")).is(200).body;
        assert!(!shown.contains("lovelace-ada") && !shown.contains("short1"), "{shown}");
    }
    session.loadline("run --from @last --no-save").exits(2).complains("a secret in the scenario was left out");
}

#[test]
fn a_scenario_from_a_browser_is_told_its_mistakes_and_stays_within_its_bounds() {
    let mut session = Session::new().file("secret.csv", "name\ntop secret\n");
    let served = Served::new(&mut session, "--allow-target 127.0.0.1");
    let (elsewhere, heard) = counting("127.0.0.2", None);
    let (here, _) = counting("127.0.0.1", Some("/".to_owned()));
    let post = |text: &str| served.post("/api/v1/runs", &json!({"plan": {"scenario_text": text}}));
    let wrong = format!(
        "target: http://{here}\ndata: [{}]\nstpes: []\nsteps:\n  - get: /{{{{env HOME}}}}\n  - post: /\n    body: {{file: /etc/passwd}}\n",
        session.path("secret.csv").display()
    );
    let said = post(&wrong).is(422).json();
    let mistakes = said["mistakes"].as_array().unwrap();
    let places: Vec<&str> = mistakes.iter().map(|mistake| mistake["message"].as_str().unwrap().split(": ").next().unwrap()).collect();
    assert_eq!(places, ["scenario:2:8", "scenario:3:1", "scenario:5:17", "scenario:7:18"], "{said:#}");
    assert!(mistakes.iter().all(|mistake| mistake["setting"] == "scenario"));
    assert!(!said.to_string().contains("top secret"));
    let file = served.post("/api/v1/runs", &json!({"plan": {"scenario": "s.yaml"}})).is(422);
    assert!(file.body.contains("give what stands in it as scenario_text"), "{}", file.body);
    // Every server that a step names is looked at before anything is sent, and so is that of the setup.
    for text in [
        format!("target: http://{elsewhere}\nsteps: [{{get: /}}]\n"),
        format!("target: http://{here}\nsteps: [{{get: /}}, {{get: 'http://{elsewhere}/x'}}]\n"),
        format!("target: http://{here}\nsetup: [{{get: 'http://{elsewhere}/x'}}]\nsteps: [{{get: /}}]\n"),
    ] {
        let said = post(&text).is(403).json();
        assert_eq!(said["message"], format!("load may not be sent to {elsewhere}"));
    }
    // Nor does a redirect lead there.
    let (redirecting, _) = counting("127.0.0.1", Some(format!("http://{elsewhere}/")));
    for (also, class) in [(String::new(), "redirect.outside"), (format!(", also_target: 'http://{elsewhere}'"), "redirect.target")] {
        post(&format!("target: http://{redirecting}\nload: {{users: 1, requests: 2{also}}}\nsteps: [{{get: /, redirects: 3}}]\n")).is(202);
        served.idle();
        let result = served.get("/api/v1/runs/@last/result").is(200).json();
        assert_eq!(result["failures"][0]["class"], class, "{}", result["failures"]);
    }
    assert_eq!(heard.load(Ordering::SeqCst), 0);
}

#[test]
fn what_is_secret_is_neither_saved_nor_shown() {
    let target = server();
    let mut session = Session::new();
    let served = Served::new(&mut session, "");
    let secret = "correct-horse-battery";
    let plan = json!({"url": format!("{}?api_key={secret}", target.url("/healthz")), "requests": 3, "connections": 1, "header": [format!("X-Auth-Token: {secret}")]});
    let mut lines = served.listen();
    let started = served.post("/api/v1/runs", &json!({"plan": plan})).is(202);
    let ended = event(&mut lines, "ended").to_string();
    let checked = served.post("/api/v1/check", &json!({"plan": plan})).body;
    let saved = ["", "/page", "/result", "/html"].map(|part| served.get(&format!("/api/v1/runs/@last{part}")).is(200).body);
    for text in saved.iter().chain([&started.body, &ended, &checked]) {
        assert!(!text.contains(secret), "{text}");
    }
}

#[test]
fn what_one_test_hides_is_not_hidden_from_another() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut session = Session::new();
    let served = Served::new(&mut session, "");
    let start = |plan: Value| served.post("/api/v1/runs", &json!({"plan": plan})).is(422).body;
    start(json!({"url": format!("http://{nobody}/"), "bearer": "sk-live-of-one"}));
    // Whether it is left out would tell whoever guesses that it is right.
    let said = start(json!({"url": "http://sk-live-of-one.invalid/"}));
    assert!(said.contains("sk-live-of-one.invalid"), "{said}");
}

#[test]
fn a_port_that_is_taken_and_a_file_that_is_no_history_are_told_before_anything_is_served() {
    let mut session = Session::new().file("foreign.db", "this is no database, whatever its name says").file("short", "word\n");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    session.loadline(&format!("serve --listen {address}")).exits(3).complains("cannot be served at").complains("address already in use");
    session.loadline("serve --listen 127.0.0.1:0 --db foreign.db").exits(2).complains("is not a history of loadline");
    fs::create_dir(session.path("closed")).unwrap();
    session.loadline("serve --listen 127.0.0.1:0 --db closed").exits(3).complains("it is a directory");
    let ran = session.loadline("serve --listen here --allow-target http://a/ --token-file short").exits(2);
    for part in
        ["--listen 'here' is not an address", "--allow-target 'http://a/' is a URL", "--token-file 'short' holds fewer than 16 letters"]
    {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
}

#[test]
fn a_target_that_is_not_there_is_told_to_whoever_asked() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut session = Session::new();
    let served = Served::new(&mut session, "");
    let answer = served.post("/api/v1/runs", &json!({"plan": {"url": format!("http://{nobody}/")}})).is(422);
    assert!(answer.body.contains("refused"), "{}", answer.body);
    assert_eq!(served.get("/api/v1/runs").json()["total"], 0);
    // And the next one can start.
    let target = server();
    served.post("/api/v1/runs", &json!({"plan": {"url": target.url("/healthz"), "requests": 1}})).is(202);
    served.idle();
}

#[test]
fn the_live_page_of_a_run_has_its_last_event_and_costs_it_nothing_it_counts() {
    let target = server();
    let mut session = Session::new();
    let mut running = session.start(&format!("run {} -c 2 -d 3s --web", target.url("/healthz")));
    let said = running.stderr_until("live at http://127.0.0.1:");
    assert!(said.ends_with("127.0.0.1:"));
    let port: u16 = running.stderr_until("/").trim_end_matches('/').parse().unwrap();
    let served = Served { running, address: SocketAddr::from(([127, 0, 0, 1], port)), said };
    let mut lines = served.listen();
    served.get("/").is(200);
    served.get("/api/v1/runs").is(404);
    served.post("/api/v1/runs", &json!({"plan": {}})).is(404);
    let ticks: Vec<Value> = (0..3).map(|_| event(&mut lines, "tick")).collect();
    let ticked: u64 = ticks.iter().map(|tick| tick["answered"].as_u64().unwrap()).sum();
    assert!(ticks.iter().any(|tick| tick["server"]["cpu"].is_number()), "the server's side is told as well: {ticks:?}");
    let ended = event(&mut lines, "ended");
    assert_eq!(ended["page"]["kind"], "run");
    assert!(ended["saved"].is_string());
    assert!(ended["page"]["data"]["timeline"]["answered"].as_array().unwrap().iter().filter_map(Value::as_u64).sum::<u64>() >= ticked);
    served.running.end();
}

#[test]
fn a_live_page_that_is_looked_at_takes_less_than_a_hundredth_of_a_core() {
    let target = server();
    let mut session = Session::new();
    let mut running = session.start(&format!("run {} -r 100/s -d 6s --web --observe none", target.url("/healthz")));
    let said = running.stderr_until("live at http://127.0.0.1:");
    let port: u16 = running.stderr_until("/").trim_end_matches('/').parse().unwrap();
    let served = Served { running, address: SocketAddr::from(([127, 0, 0, 1], port)), said };
    served.get("/").is(200);
    let mut lines = served.listen();
    event(&mut lines, "tick");
    let (begun, before) = (Instant::now(), cpu_of(served.running.pid(), "pages"));
    (0..3).for_each(|_| drop(event(&mut lines, "tick")));
    let used = cpu_of(served.running.pid(), "pages").saturating_sub(before);
    // Of two clocks only the ratio counts: a machine that is busy with other things makes the second one longer.
    let share = used.as_secs_f64() / begun.elapsed().as_secs_f64();
    assert!(used > Duration::ZERO && share < 0.01, "{share}");
    served.running.end();
}

/// Processor time of the threads of this name (`/proc/PID/task/TID/schedstat`, whose first number is nanoseconds on a core).
fn cpu_of(pid: u32, name: &str) -> Duration {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap().map(|task| task.unwrap().path());
    let named = tasks.filter(|task| fs::read_to_string(task.join("comm")).is_ok_and(|comm| comm.trim_end() == name));
    let nanos = named.map(|task| fs::read_to_string(task.join("schedstat")).unwrap().split(' ').next().unwrap().parse::<u64>().unwrap());
    Duration::from_nanos(nanos.sum())
}
