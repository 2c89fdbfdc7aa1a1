//! Machines with networks and clocks of their own: namespaces of this machine, each with an SSH server in it.

use std::fs;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use testbed::Testbed;

use crate::session::{Session, prose};

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
        let at = |name: &str| session.path(name).display().to_string();
        for key in ["host", "user"] {
            must(&["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", &at(key)]);
        }
        fs::copy(at("user.pub"), at("authorized")).unwrap();
        let _ = fs::create_dir_all("/run/sshd");
        let mut config = String::new();
        for (number, name) in ["a", "b"].into_iter().enumerate() {
            machines.add(session, number, name);
            config += &format!(
                "Host {name}\n HostName 10.99.{}.2\n User root\n IdentityFile {}\n StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n \
                 LogLevel ERROR\n SetEnv XDG_CACHE_HOME={}\n",
                machines.nets[number],
                at("user"),
                at(&format!("cache-{name}"))
            );
        }
        fs::write(at("ssh_config"), config).unwrap();
        fs::write(at("ssh"), format!("#!/bin/sh\nexec /usr/bin/ssh -F {} \"$@\"\n", at("ssh_config"))).unwrap();
        must(&["chmod", "755", &at("ssh")]);
        for name in ["a", "b"] {
            let limit = Instant::now() + Duration::from_secs(30);
            while !run(&[&at("ssh"), "-o", "BatchMode=yes", name, "true"]) {
                assert!(Instant::now() < limit, "no SSH server answers in {name}");
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        Some(machines)
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
        let at = |name: &str| session.path(name).display().to_string();
        let file = at(&format!("sshd-{name}"));
        fs::write(
            &file,
            format!(
                "Port 22\nListenAddress 10.99.{net}.2\nHostKey {}\nAuthorizedKeysFile {}\nStrictModes no\nUsePAM no\nPidFile none\n\
                 AcceptEnv XDG_CACHE_HOME\nPermitRootLogin yes\n",
                at("host"),
                at("authorized")
            ),
        )
        .unwrap();
        // Each machine's clock has begun at another time.
        let ahead = (number as u32 * CLOCKS_APART_S).to_string();
        let words = ["netns", "exec", &space, "unshare", "--time", "--fork", "--kill-child", "--monotonic", &ahead];
        let sshd = ["/usr/sbin/sshd", "-D", "-E", &at("sshd.log"), "-f", &file];
        let mut server = Command::new("ip");
        server.args(words).args(sshd).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
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

fn session(session: Session) -> Session {
    let path = format!("{}:/usr/bin:/bin", session.path("").display());
    session.env("PATH", &path)
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
    let mut one = session(one);
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
    let mut one = session(one);
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
    let mut one = session(one);
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
    let there = one.path("cache-b");
    let is_there = |entry: &fs::DirEntry| fs::read_link(entry.path().join("exe")).is_ok_and(|file| file.starts_with(&there));
    let limit = Instant::now() + Duration::from_secs(60);
    while fs::read_dir("/proc").unwrap().flatten().any(|entry| is_there(&entry)) {
        assert!(Instant::now() < limit, "the agent goes on");
        std::thread::sleep(Duration::from_millis(50));
    }
}
