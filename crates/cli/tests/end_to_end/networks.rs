//! Machines with networks and clocks of their own: namespaces of this machine, each with an SSH server in it.

use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use testbed::Testbed;

use crate::session::{Session, prose};
use crate::sshd::{self, agents_in, with_client};

/// By how many seconds the clocks of machines are apart, from the second on.
const CLOCKS_APART_S: u32 = 100_000;

fn run(words: &[&str]) -> bool {
    let (program, arguments) = words.split_first().unwrap();
    Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

fn must(words: &[&str]) {
    assert!(run(words), "{}", words.join(" "));
}

/// Two machines with a cable each to this one.
struct Machines {
    /// Of this test alone: others make some too.
    prefix: String,
    servers: Vec<Child>,
    /// The third byte of their addresses.
    nets: Vec<u32>,
}

impl Machines {
    /// Starts them; nothing where somebody may not, or where a program is missing.
    fn start(session: &Session, first_net: u32) -> Option<Self> {
        let is_root = rustix::process::geteuid().is_root();
        if !crate::tools::are_here(&["ip", "ssh", "ssh-keygen", "sshd", "unshare"]) {
            return None;
        }
        let probe = format!("llp{}x{first_net}", std::process::id() % 10_000);
        let has_spaces = || run(&["ip", "netns", "add", &probe]) && run(&["ip", "netns", "del", &probe]);
        if !(is_root && run(&["unshare", "--net", "--time", "true"]) && has_spaces()) {
            let _ = writeln!(std::io::stderr(), "left out: networks of machines need root, and namespaces of networks and of time");
            return None;
        }
        let prefix = format!("ll{}x{first_net}", std::process::id() % 10_000);
        let mut machines = Self { prefix, servers: Vec::new(), nets: vec![first_net, first_net + 1] };
        sshd::make_keys(session);
        for (number, name) in ["a", "b"].into_iter().enumerate() {
            machines.add(session, number, name);
        }
        let [a, b] = [0, 1].map(|number| format!("10.99.{}.2", machines.nets[number]));
        sshd::make_client(session, &[("a", &a, 22, "cache-a"), ("b", &b, 22, "cache-b")]);
        let ssh = session.path("ssh").display().to_string();
        for name in ["a", "b"] {
            // Of a machine that stands still for a while, the kernel's making of namespaces too, no time says how long.
            let (limit, mut tries) = (Instant::now() + Duration::from_secs(60), 0);
            loop {
                let asked = Command::new(&ssh).args(["-v", "-o", "BatchMode=yes", name, "true"]).output().unwrap();
                if asked.status.success() {
                    break;
                }
                tries += 1;
                let is_over = tries > 60 && Instant::now() > limit;
                assert!(!is_over, "{}", machines.state(session, name, &String::from_utf8_lossy(&asked.stderr)));
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        Some(machines)
    }

    /// Why a machine may not have answered: what its server wrote down, what runs in it, and what the `ssh` here said.
    fn state(&mut self, session: &Session, name: &str, told: &str) -> String {
        let log = std::fs::read_to_string(session.path("sshd.log")).unwrap_or_default();
        let ends: Vec<_> = self.servers.iter_mut().map(|server| server.try_wait()).collect();
        let inside = Command::new("ip").args(["-n", &self.cable(name), "addr"]).output().unwrap();
        let inside = String::from_utf8_lossy(&inside.stdout).into_owned();
        format!("no SSH server answers in {name}\nservers: {ends:?}\n{inside}\nits log:\n{log}\nssh:\n{told}")
    }

    fn cable(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    fn add(&mut self, session: &Session, number: usize, name: &str) {
        let (space, cable, net) = (self.cable(name), self.cable(name), self.nets[number]);
        let inner = format!("{cable}i");
        must(&["ip", "netns", "add", &space]);
        must(&["ip", "link", "add", &cable, "type", "veth", "peer", "name", &inner]);
        must(&["ip", "link", "set", &inner, "netns", &space]);
        must(&["ip", "addr", "add", &format!("10.99.{net}.1/30"), "dev", &cable]);
        must(&["ip", "link", "set", &cable, "up"]);
        let there = ["ip", "-n", &space];
        must(&[&there[..], &["addr", "add", &format!("10.99.{net}.2/30"), "dev", &inner]].concat());
        must(&[&there[..], &["link", "set", &inner, "up"]].concat());
        must(&[&there[..], &["link", "set", "lo", "up"]].concat());
        must(&[&there[..], &["route", "add", "default", "via", &format!("10.99.{net}.1")]].concat());
        // Each machine's clock has begun at another time.
        let ahead = (number as u32 * CLOCKS_APART_S).to_string();
        let words = ["netns", "exec", &space, "unshare", "--time", "--fork", "--kill-child", "--monotonic", &ahead];
        let sshd = sshd::server(session, &format!("sshd-{name}"), (&format!("10.99.{net}.2"), 22));
        let mut server = Command::new("ip");
        let log = std::fs::OpenOptions::new().create(true).append(true).open(session.path("sshd.log")).unwrap();
        server.args(words).args(sshd).stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.servers.push(server.spawn().unwrap());
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        for mut server in self.servers.drain(..) {
            let _ = server.kill();
            let _ = server.wait();
        }
        for name in ["a", "b"] {
            // A session whose cable was cut does not know that it is over.
            let there = Command::new("ip").args(["netns", "pids", &self.cable(name)]).output();
            let there = there.map(|told| String::from_utf8_lossy(&told.stdout).into_owned()).unwrap_or_default();
            there.lines().for_each(|process| _ = run(&["kill", "-9", process.trim()]));
            run(&["ip", "netns", "del", &self.cable(name)]);
            run(&["ip", "link", "del", &self.cable(name)]);
        }
    }
}

/// On all addresses of this machine, of which namespaces reach those of their cables.
fn server() -> (Testbed, u16) {
    let server = Testbed::start(testbed::Config::new().listen("0.0.0.0:0".parse().unwrap())).unwrap();
    let port = server.addr().port();
    (server, port)
}

#[test]
fn machines_with_clocks_of_their_own_begin_together() {
    let one = Session::new();
    let Some(machines) = Machines::start(&one, 101) else { return };
    let (server, port) = server();
    let mut one = with_client(one);
    let url = format!("http://10.99.{}.1:{port}/healthz", machines.nets[0]);
    must(&["ip", "-n", &machines.cable("b"), "route", "get", &format!("10.99.{}.1", machines.nets[0])]);
    one.loadline(&format!("run {url} -n 400 -c 8 -t 2 --agents ssh:a,ssh:b --out json=r.json")).exits(0).says("b ");
    assert_eq!(server.counts().path("/healthz"), 400);
    let result = one.json("r.json");
    let sites = result["sites"].as_array().unwrap();
    assert_eq!(sites.len(), 2);
    for site in sites {
        assert_eq!(site["requests"]["succeeded"], 200, "{site}");
        // A clock that was taken for this machine's would be off by a day.
        assert!(site["clock_error_ns"].as_u64().unwrap() < 1_000_000_000, "{site}");
    }
    assert_eq!(result["timeline"].as_array().unwrap().iter().map(|tick| tick["answered"].as_u64().unwrap()).sum::<u64>(), 400);
}

#[test]
fn a_way_that_is_longer_is_told_from_a_server_that_is_slow() {
    let one = Session::alone();
    let Some(machines) = Machines::start(&one, 103) else { return };
    if !run(&[
        "ip",
        "netns",
        "exec",
        &machines.cable("b"),
        "tc",
        "qdisc",
        "add",
        "dev",
        &format!("{}i", machines.cable("b")),
        "root",
        "netem",
        "delay",
        "40ms",
    ]) {
        let _ = writeln!(std::io::stderr(), "left out: this kernel has no netem, which delays what goes over a cable");
        return;
    }
    let (server, port) = server();
    let mut one = with_client(one);
    let url = format!("http://10.99.{}.1:{port}/healthz", machines.nets[0]);
    let ran = one.loadline(&format!("run {url} -n 2000 -c 20 -t 2 --no-keepalive --agents ssh:a,ssh:b"));
    assert_eq!(server.counts().path("/healthz"), 2000);
    let said = prose(&ran.stdout);
    assert!(said.contains("b waits") && said.contains("the way from there, not the server"), "{said}");
}

#[test]
fn a_machine_whose_cable_is_cut_ends_its_load_and_nothing_of_it_stays() {
    let one = Session::new();
    let Some(machines) = Machines::start(&one, 105) else { return };
    let (server, port) = server();
    let mut one = with_client(one);
    let url = format!("http://10.99.{}.1:{port}/healthz", machines.nets[0]);
    let cut = machines.cable("b");
    let running = one.start(&format!("run {url} -d 9s -c 4 -t 2 --agents ssh:a,ssh:b --out json=r.json"));
    let running = running.once(|| server.counts().path("/healthz") > 100);
    must(&["ip", "link", "set", &cut, "down"]);
    let ran = running.end();
    assert!(
        prose(&ran.stdout).contains("b did not say anything for 5 s") && ran.stdout.contains("INVALID"),
        "{}\n{}",
        ran.stdout,
        ran.stderr
    );
    assert_eq!(one.json("r.json")["generator"]["lost_share"], 0.5);
    // It ends by itself, though nobody can tell it.
    let limit = Instant::now() + Duration::from_secs(60);
    while !agents_in(&one.path("cache-b")).is_empty() {
        assert!(Instant::now() < limit, "the agent goes on");
        std::thread::sleep(Duration::from_millis(50));
    }
}
