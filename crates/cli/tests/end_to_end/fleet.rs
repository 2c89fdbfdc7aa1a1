//! Fleets: agents that wait at a real NATS server, and loads that come from them.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::session::{Ran, Running, Session, prose, server};

/// A NATS server on a port of its own.
struct Nats {
    child: Child,
    port: u16,
    words: Vec<String>,
}

impl Nats {
    /// With these words besides; nothing where there is no such program here.
    fn start(words: &[&str]) -> Option<Self> {
        if !crate::tools::are_here(&["nats-server"]) {
            return None;
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        Some(Self { child: Self::spawn(port, &words), port, words })
    }

    fn spawn(port: u16, words: &[String]) -> Child {
        let mut command = Command::new("nats-server");
        command.args(["-a", "127.0.0.1", "-p", &port.to_string()]).args(words).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().unwrap();
        let limit = Instant::now() + Duration::from_secs(30);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < limit, "nats-server does not listen");
            std::thread::sleep(Duration::from_millis(5));
        }
        child
    }

    fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn start_again(&mut self) {
        self.child = Self::spawn(self.port, &self.words);
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        self.kill();
    }
}

/// An agent that waits already.
fn agent(session: &mut Session, words: &str) -> Running {
    session.start(&format!("agent {words}")).once_stderr_says("waits for work")
}

/// Those of a list, with what they do.
fn listed(session: &mut Session, url: &str) -> Vec<(String, String)> {
    let told: serde_json::Value = serde_json::from_str(&session.loadline(&format!("agents {url} --json")).exits(0).stdout).unwrap();
    let card = |card: &serde_json::Value| (card["name"].as_str().unwrap().to_owned(), card["busy"].as_str().unwrap_or("idle").to_owned());
    told.as_array().unwrap().iter().map(card).collect()
}

fn are_idle(session: &mut Session, url: &str, count: usize) -> bool {
    let all = listed(session, url);
    all.len() == count && all.iter().all(|(_, busy)| busy == "idle")
}

#[test]
fn those_who_wait_are_listed_and_send_the_same_load_as_one() {
    let Some(nats) = Nats::start(&[]) else { return };
    let (server, mut session, url) = (server(), Session::new(), nats.url());
    session.loadline(&format!("agents {url}")).exits(0).says("No agent waits at nats://127.0.0.1:");
    let ran = session.loadline(&format!("run {} -n 4 --agents {url}/eu", server.url("/healthz"))).exits(3);
    assert!(prose(&ran.stderr).contains("no agent in group eu at nats://127.0.0.1:"), "{}", ran.stderr);
    let _agents = ["eu-1", "eu-2", "eu-3"].map(|name| agent(&mut session, &format!("--nats {url} --group eu --name {name}")));
    let _other = agent(&mut session, &format!("--nats {url} --group us --name us-1"));
    let all = session.loadline(&format!("agents {url}")).exits(0);
    for part in ["name", "round trip", "eu-1", "eu-3", "us-1", "loopback", "idle", " ± "] {
        assert!(all.stdout.contains(part), "{part}: {}", all.stdout);
    }
    let target = server.url("/healthz");
    session
        .loadline(&format!("run {target} -n 600 -c 12 -t 3 --agents {url}/eu --out json=r.json"))
        .exits(0)
        .complains_of_nothing()
        .says("eu-2 ");
    assert_eq!(server.counts().path("/healthz"), 600);
    let result = session.json("r.json");
    let names: Vec<&str> = result["sites"].as_array().unwrap().iter().map(|site| site["name"].as_str().unwrap()).collect();
    assert_eq!((names, &result["requests"]["succeeded"]), (vec!["eu-1", "eu-2", "eu-3"], &600.into()));
    let line = format!("run {target} -n 60 -c 6 -t 2 --agents '{url}/eu?count=2' --out json=r.json --force");
    session.loadline(&line).exits(0);
    assert_eq!(session.json("r.json")["sites"].as_array().unwrap().len(), 2);
    session.loadline(&format!("sweep {target} --levels 3,6 --duration 500ms -t 3 --agents {url}/eu")).exits_either(0, 4);
    let ran = session.loadline(&format!("run {target} -n 60 --agents '{url}/eu?count=9'")).exits(3);
    assert!(prose(&ran.stderr).contains("3 of the 9 agents that are wanted"), "{}", ran.stderr);
    assert!(are_idle(&mut session, &format!("{url}/eu"), 3));
}

/// The names of the agents whose part is in a result.
fn sites_of(session: &Session, file: &str) -> Vec<String> {
    session.json(file)["sites"].as_array().unwrap().iter().map(|site| site["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn two_who_want_agents_at_the_same_moment_have_others_each() {
    let Some(nats) = Nats::start(&[]) else { return };
    let (server, mut session, url) = (server(), Session::new(), nats.url());
    let _agents = ["a", "b", "c", "d"].map(|name| agent(&mut session, &format!("--nats {url} --name {name}")));
    let line = |of: &str, agents: &str, file: &str| {
        let length = if agents.is_empty() { "4s" } else { "500ms" };
        format!("run {} -d {length} -c 4 -t {of} --rate 200/s --agents '{url}{agents}' --out json={file} --force", server.url("/healthz"))
    };
    for round in 0..6 {
        let both = ["x.json", "y.json"].map(|file| session.start(&line("2", "?count=2", file)));
        for running in both {
            running.end().exits_either(0, 4);
        }
        let mut all = [sites_of(&session, "x.json"), sites_of(&session, "y.json")].concat();
        all.sort_unstable();
        assert_eq!(all, ["a", "b", "c", "d"], "round {round}");
        assert!(are_idle(&mut session, &url, 4), "round {round}");
    }
    // Those who want more than there are for both: one of them has its three, and the other is told by whom they are taken, or has its turn.
    let both = ["x.json", "y.json"].map(|file| session.start(&line("3", "?count=3", file)));
    let ran = both.map(Running::end);
    assert!(ran.iter().any(|ran| ran.exit != 3), "{ran:?}");
    for refused in ran.iter().filter(|ran| ran.exit == 3) {
        let said = prose(&refused.stderr);
        assert!(said.contains("of the 3 agents that are wanted") && said.contains(" busy with a load of "), "{said}");
    }
    assert!(are_idle(&mut session, &url, 4), "nobody is kept by who gave up");
    // Those who take whoever is idle: each goes on with what it has.
    let both = ["x.json", "y.json"].map(|file| session.start(&line("4", "", file)));
    let ran = both.map(Running::end);
    let had: Vec<Vec<String>> =
        ran.iter().zip(["x.json", "y.json"]).filter(|(ran, _)| ran.exit != 3).map(|(_, file)| sites_of(&session, file)).collect();
    let mut all = had.concat();
    all.sort_unstable();
    assert!(all.len() >= had.len() && all.windows(2).all(|two| two[0] != two[1]), "{ran:?}");
    for refused in ran.iter().filter(|ran| ran.exit == 3) {
        assert!(prose(&refused.stderr).contains(" busy with a load of "), "{}", refused.stderr);
    }
    assert!(are_idle(&mut session, &url, 4));
}

#[test]
fn a_busy_agent_says_so_and_is_idle_again_when_its_commander_is_killed() {
    let Some(nats) = Nats::start(&[]) else { return };
    let (server, mut session, url) = (server(), Session::new(), nats.url());
    let _agent = agent(&mut session, &format!("--nats {url} --name one"));
    let target = server.url("/healthz");
    let running = session.start(&format!("run {target} -d 60s -c 2 --agents {url}")).once(|| server.counts().path("/healthz") > 20);
    let (name, busy) = listed(&mut session, &url).remove(0);
    assert!(name == "one" && busy.contains("a load of "), "{name} {busy}");
    let ran = session.loadline(&format!("run {target} -n 4 --agents {url}")).exits(3);
    assert!(
        prose(&ran.stderr).contains("no agent at nats://127.0.0.1") && ran.stderr.contains("one is busy with a load of"),
        "{}",
        ran.stderr
    );
    let running = running.signal(Signal::KILL);
    let running = running.once(|| are_idle(&mut session, &url, 1));
    drop(running);
    let seen = server.counts().path("/healthz");
    session.loadline(&format!("run {target} -n 4 -c 2 --agents {url}")).exits(0);
    assert_eq!(server.counts().path("/healthz"), seen + 4, "nothing of the first load was under way any more");
}

/// What comes of a load whose NATS server is gone for so long.
fn across_a_restart(running: Running, nats: &mut Nats, gone: Duration) -> Ran {
    nats.kill();
    std::thread::sleep(gone);
    nats.start_again();
    running.end()
}

#[test]
fn a_server_that_restarts_within_the_lease_costs_nothing() {
    let Some(mut nats) = Nats::start(&[]) else { return };
    let (server, mut session, url) = (server(), Session::new(), nats.url());
    let _agents = ["a", "b"].map(|name| agent(&mut session, &format!("--nats {url} --name {name}")));
    let running =
        session.start(&format!("run {} -n 9000 -c 4 -t 2 --rate 1500/s --agents {url} --out json=r.json", server.url("/healthz")));
    let ran = across_a_restart(running.once(|| server.counts().path("/healthz") > 1000), &mut nats, Duration::from_millis(700));
    let result = session.json("r.json");
    assert_eq!(result["requests"]["succeeded"], 9000, "{}\n{}", ran.stdout, ran.stderr);
    assert_eq!(server.counts().path("/healthz"), 9000);
    assert!(result["generator"]["lost_share"].as_f64().is_none_or(|share| share == 0.0), "{}", ran.stdout);
}

#[test]
fn a_log_is_sent_again_by_agents_also_across_a_restart_of_the_server_and_only_where_they_may() {
    let Some(mut nats) = Nats::start(&[]) else { return };
    let (server, other, url) = (server(), server(), nats.url());
    let line = |at: u64| format!("{{\"time\":\"170000{:04}.{:03}\",\"path\":\"/healthz\",\"status\":200}}\n", at / 500, at % 500 * 2);
    let mut session = Session::new().file("app.jsonl", &(0..2_500).map(line).collect::<String>());
    let allowed = server.url("").trim_start_matches("http://").to_owned();
    let _agents = ["a", "b"].map(|name| agent(&mut session, &format!("--nats {url} --name {name} --allow-target {allowed}")));
    let running = session.start(&format!("replay app.jsonl {} -t 2 --agents {url} --no-save --out json=r.json", server.url("")));
    let ran = across_a_restart(running.once(|| server.counts().path("/healthz") > 300), &mut nats, Duration::from_millis(300));
    let result = session.json("r.json");
    assert_eq!(result["requests"]["succeeded"], 2_500, "{}\n{}", ran.stdout, ran.stderr);
    assert_eq!((&result["replayed"]["same"], server.counts().path("/healthz")), (&2_500.into(), 2_500));
    let ran = session.loadline(&format!("replay app.jsonl {} -t 2 --agents {url} --no-save", other.url("")));
    assert!(prose(&ran.stderr).contains("its owner allows 127.0.0.1:"), "{}", ran.stderr);
    assert_eq!(other.counts().received, 0);
}

#[test]
fn an_agent_that_is_killed_or_frozen_does_not_hold_the_others_up() {
    let Some(nats) = Nats::start(&[]) else { return };
    let (server, mut session, url) = (server(), Session::new(), nats.url());
    for (signal, word) in [(Signal::KILL, "b did not say anything for 5 s"), (Signal::STOP, "b did not say anything for 5 s")] {
        let _a = agent(&mut session, &format!("--nats {url} --name a"));
        let b = agent(&mut session, &format!("--nats {url} --name b"));
        let before = server.counts().path("/healthz");
        let line = format!("run {} -d 9s -c 4 -t 2 --agents {url} --out json=lost.json --force", server.url("/healthz"));
        let running = session.start(&line).once(|| server.counts().path("/healthz") > before + 50);
        let b = b.signal(signal);
        let ran = running.end();
        assert!(prose(&ran.stdout).contains(word) && ran.stdout.contains("INVALID"), "{}\n{}", ran.stdout, ran.stderr);
        assert_eq!(session.json("lost.json")["generator"]["lost_share"], 0.5);
        let _ = kill_process(Pid::from_raw(b.pid().cast_signed()).unwrap(), Signal::CONT);
    }
}

#[test]
fn an_agent_that_is_frozen_does_not_keep_the_others_from_their_lines() {
    let Some(nats) = Nats::start(&[]) else { return };
    let (server, url) = (server(), nats.url());
    let line = |at: u64| format!("{{\"time\":\"170000{:04}.{:03}\",\"path\":\"/healthz\",\"status\":200}}\n", at / 250, at % 250 * 4);
    let mut session = Session::new().file("app.jsonl", &(0..2_250).map(line).collect::<String>());
    let _a = agent(&mut session, &format!("--nats {url} --name a"));
    let b = agent(&mut session, &format!("--nats {url} --name b"));
    let running = session.start(&format!("replay app.jsonl {} -t 2 --agents {url} --no-save --out json=r.json", server.url("")));
    let running = running.once(|| server.counts().path("/healthz") > 100);
    let b = b.signal(Signal::STOP);
    let ran = running.end();
    assert!(prose(&ran.stdout).contains("b did not say anything for 5 s"), "{}\n{}", ran.stdout, ran.stderr);
    let result = session.json("r.json");
    assert_eq!(result["generator"]["lost_share"], 0.5);
    // The other has sent all of its own, none of them seconds late.
    let (sent, lag) = (result["requests"]["succeeded"].as_u64().unwrap(), result["lag"]["max_ns"].as_u64().unwrap());
    assert!((1_125..2_250).contains(&sent) && lag < 2_000_000_000, "{sent} {lag}");
    let _ = kill_process(Pid::from_raw(b.pid().cast_signed()).unwrap(), Signal::CONT);
}

#[test]
fn the_users_ctrl_c_ends_all_of_it_with_a_report() {
    let Some(nats) = Nats::start(&[]) else { return };
    let (server, mut session, url) = (server(), Session::new(), nats.url());
    let _agents = ["a", "b"].map(|name| agent(&mut session, &format!("--nats {url} --name {name}")));
    let running = session.start(&format!("run {} -d 60s -c 4 -t 2 --agents {url} --out json=r.json", server.url("/healthz")));
    let ran = running.once(|| server.counts().path("/healthz") > 100).signal(Signal::INT).end();
    assert_eq!(ran.exit, 130, "{}", ran.stderr);
    assert_eq!(session.json("r.json")["requests"]["succeeded"].as_u64().unwrap(), server.counts().path("/healthz"));
    assert!(are_idle(&mut session, &url, 2));
}

#[test]
fn an_agent_that_leaves_tells_its_commander() {
    let Some(nats) = Nats::start(&[]) else { return };
    let (server, mut session, url) = (server(), Session::new(), nats.url());
    let _a = agent(&mut session, &format!("--nats {url} --name a"));
    let b = agent(&mut session, &format!("--nats {url} --name b"));
    let running = session.start(&format!("run {} -d 3s -c 4 -t 2 --agents {url}", server.url("/healthz")));
    let running = running.once(|| server.counts().path("/healthz") > 50);
    b.signal(Signal::INT).end().exits(0);
    let ran = running.end();
    assert!(prose(&ran.stdout).contains("b is gone: it was ended there"), "{}\n{}", ran.stdout, ran.stderr);
}

#[test]
fn load_goes_only_where_the_owner_of_the_agent_lets_it() {
    let Some(nats) = Nats::start(&[]) else { return };
    let (server, other, url) = (server(), server(), nats.url());
    let mut session = Session::new().file("own.lua", "function request() return wrk.format('GET', '/healthz') end");
    let port = |server: &testbed::Testbed| server.url("/").rsplit(':').next().unwrap().trim_end_matches('/').to_owned();
    let words = format!("--nats {url} --name one --allow-target 127.0.0.1:{}", port(&server));
    let mut one = agent(&mut session, &words);
    let _named = agent(&mut session, &format!("--nats {url} --group named --name named --allow-target 127.0.0.2"));
    let target = server.url("/healthz");
    session.loadline(&format!("run {target} -n 4 -c 2 --agents {url}/default")).exits(0);
    let ran = session.loadline(&format!("run {} -n 4 -c 2 --agents {url}/default", other.url("/healthz")));
    assert_ne!(ran.exit, 0);
    let said = prose(&ran.stderr);
    let (own, of_other) = (port(&server), port(&other));
    let expected = format!("load may not go to 127.0.0.1:{of_other} from one (its owner allows 127.0.0.1:{own})");
    assert!(
        said.contains(&expected) && said.contains(&format!("--allow-target 127.0.0.1:{of_other}, or name others with --agents")),
        "{said}"
    );
    // Where the name leads is seen by the agent.
    let ran = session.loadline(&format!("run http://localhost:{of_other}/healthz -n 4 -c 2 --agents {url}/named"));
    assert!(prose(&ran.stderr).contains("whoever started this agent allows 127.0.0.2"), "{}", ran.stderr);
    let (leads_away, _) = crate::serve::counting("127.0.0.1", Some(other.url("/healthz")));
    let _two = agent(&mut session, &format!("--nats {url} --group two --allow-target {leads_away}"));
    let ran =
        session.loadline(&format!("run http://{leads_away}/ -n 4 -c 2 --follow 3 --agents {url}/two --also-target {}", other.url("/")));
    assert!(prose(&ran.stdout).contains("load may not be sent to 127.0.0.1:"), "{}\n{}", ran.stdout, ran.stderr);
    let elsewhere = format!("steps:\n  - get: /healthz\n  - get: {}\n", other.url("/healthz"));
    session = session.file("two.yaml", &format!("target: {}\n{elsewhere}", server.url("/")));
    assert_ne!(session.loadline(&format!("run two.yaml -n 4 -c 2 --agents {url}/default --also-target {}", other.url("/"))).exit, 0);
    let ran = session.loadline(&format!("run {target} -n 4 -c 2 --proxy {} --agents {url}/default", other.url("/")));
    assert!(prose(&ran.stderr).contains("sends nothing through a proxy"), "{}", ran.stderr);
    assert_eq!(other.counts().received, 0);
    let ran = session.loadline(&format!("run {target} -n 4 -c 2 --script own.lua --agents {url}/default"));
    assert!(prose(&ran.stderr).contains("this agent runs scripts in their sandbox alone"), "{}", ran.stderr);
    session.loadline(&format!("run {target} -n 4 -c 2 --script own.lua --sandbox --agents {url}/default")).exits(0);
    one.stderr_until("is over after");
    let one = one.signal(Signal::INT);
    one.end().exits(0);
    let _own = agent(&mut session, &format!("{words} --allow-scripts"));
    session.loadline(&format!("run {target} -n 4 -c 2 --script own.lua --agents {url}/default")).exits(0);
}

#[test]
fn no_file_of_the_agents_machine_is_read() {
    let Some(nats) = Nats::start(&[]) else { return };
    let (server, mut session, url) = (server(), Session::new().file("rows.csv", "id\n1\n2\n3\n4\n"), nats.url());
    let _one = agent(&mut session, &format!("--nats {url} --name one"));
    session.loadline(&format!("run '{}?n={{{{rows.id}}}}' -n 4 -c 2 --data-file rows.csv --agents {url}", server.url("/healthz"))).exits(0);
    assert_eq!(server.counts().path("/healthz"), 4);
}

#[test]
fn who_is_let_in_is_the_servers_to_say() {
    let session = Session::new();
    let file = session.path("nats.conf");
    // The pair of keys of the documentation of NATS.
    fs::write(
        &file,
        "authorization { users: [ {user: me, password: s3cret}, {nkey: UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4} ] }\n",
    )
    .unwrap();
    let Some(nats) = Nats::start(&["-c", &file.display().to_string()]) else { return };
    let mut session = session.file("seed", "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY\n");
    let with_password = format!("nats://me:s3cret@127.0.0.1:{}", nats.port);
    let one = agent(&mut session, &format!("--nats {with_password} --name one"));
    session.loadline(&format!("agents {with_password}")).exits(0).says("one ");
    session.loadline(&format!("agents {} --nats-nkey seed", nats.url())).exits(0).says("one ");
    let ran = session.loadline(&format!("agents {}", nats.url())).exits(2);
    assert!(prose(&ran.stderr).contains("does not let us in") && prose(&ran.stderr).contains("--nats-creds"), "{}", ran.stderr);
    let ran = session.loadline(&format!("agents nats://me:wrong@127.0.0.1:{}", nats.port)).exits(2);
    assert!(!ran.stderr.contains("wrong"), "{}", ran.stderr);
    session.loadline("agents nats://127.0.0.1:9 --nats-nkey nowhere").exits(2).complains("--nats-nkey 'nowhere' cannot be read");
    let said = one.signal(Signal::INT).end().stderr;
    assert!(!said.contains("s3cret"), "{said}");
}

#[test]
fn a_connection_to_the_server_may_be_encrypted() {
    let session = Session::new();
    if !crate::tools::are_here(&["openssl", "nats-server"]) {
        return;
    }
    let at = |name: &str| session.path(name).display().to_string();
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=nats"])
        .args(["-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-keyout", &at("key.pem"), "-out", &at("cert.pem")])
        .output()
        .unwrap();
    assert!(made.status.success());
    let Some(nats) = Nats::start(&["--tls", "--tlscert", &at("cert.pem"), "--tlskey", &at("key.pem")]) else { return };
    let (server, mut session) = (server(), session);
    let url = format!("tls://127.0.0.1:{}", nats.port);
    let _one = agent(&mut session, &format!("--nats {url} --nats-ca cert.pem --name one"));
    session.loadline(&format!("run {} -n 20 -c 2 --agents {url} --nats-ca cert.pem", server.url("/healthz"))).exits(0);
    let ran = session.loadline(&format!("agents {url}")).exits(3);
    assert!(prose(&ran.stderr).contains("cannot be reached: "), "{}", ran.stderr);
}

#[test]
fn mistakes_are_told_all_at_once() {
    let mut session = Session::new();
    let ran = session.loadline("agent --nats http://a --group 'e u' --allow-target http://b --nats-creds nowhere").exits(2);
    let said = prose(&ran.stderr);
    for part in [
        "--nats 'http://a' does not begin with nats://",
        "--group 'e u' is no group",
        "--allow-target 'http://b' is a URL",
        "--nats-creds 'nowhere' cannot be read",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let ran = session.loadline("run http://127.0.0.1:9/ --agents nats://127.0.0.1:9/eu").exits(3);
    assert!(prose(&ran.stderr).contains("the NATS server nats://127.0.0.1:9 cannot be reached"), "{}", ran.stderr);
    session.loadline("agent").exits(2);
}
