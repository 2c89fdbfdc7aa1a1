//! `--agents`: loads from other machines over ssh, which a small program plays here: it runs what it is given on this machine.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use crate::recorder::Recorder;
use crate::session::{Session, prose, server};
use crate::sshd::{self, agents_in, with_client};

/// Runs the last word as ssh would there, with a home of its own for each host, and notes each call.
const SSH: &str = "#!/bin/sh
for last; do host=$before; before=$last; done
home=\"$HOMES/$host\"; mkdir -p \"$home\"; echo \"$*\" >> \"$HOMES/calls\"
[ \"$host\" = nowhere ] && { echo 'ssh: connect to host nowhere port 22: No route to host' >&2; exit 255; }
[ \"$host\" = silent ] && exec cat > /dev/null
HOME=\"$home\"; export HOME; unset XDG_DATA_HOME; cd /
exec /bin/sh -c \"$last\"
";

/// A session in which ssh is that program.
pub fn session() -> Session {
    let session = Session::new().file("ssh", SSH);
    fs::set_permissions(session.path("ssh"), fs::Permissions::from_mode(0o755)).unwrap();
    session
}

/// The variables that a command needs for it: those of a session are for one command.
pub fn with_ssh(session: Session) -> Session {
    let (bin, homes) = (session.path(""), session.path("homes"));
    let path = format!("{}:/usr/bin:/bin", bin.display());
    session.env("PATH", &path).env("HOMES", &homes.display().to_string())
}

/// How often it was called.
pub fn calls(session: &Session) -> usize {
    if session.files().contains(&"homes/calls".to_owned()) { session.read("homes/calls").lines().count() } else { 0 }
}

#[test]
fn a_load_from_two_machines_is_the_same_load_and_the_program_is_copied_once() {
    let server = server();
    let mut session = with_ssh(session());
    let line = format!("run {} -n 400 -c 8 -t 4 --agents ssh:a,ssh:me@b:2222 --out json=r.json --force", server.url("/healthz"));
    session.loadline(&line).exits(0).complains_of_nothing().says("me@b ");
    assert_eq!(server.counts().path("/healthz"), 400);
    let result = session.json("r.json");
    assert_eq!(result["requests"]["succeeded"], 400);
    // Each says which machine it is on, which here is this one.
    assert!(result["machine"]["cores"].as_u64().unwrap() > 0);
    assert!(result["sites"].as_array().unwrap().iter().all(|site| site["machine"] == result["machine"]), "{}", result["sites"]);
    assert_eq!(calls(&session), 6, "each was called, had no program, was given it, and called again");
    assert!(session.read("homes/calls").contains("-p 2222 -- me@b "));
    let copies: Vec<String> = session.files().into_iter().filter(|name| name.contains("/.cache/loadline/agent-")).collect();
    assert_eq!(copies.len(), 2, "{copies:?}");
    let mut session = with_ssh(session);
    session.loadline(&line).exits(0);
    assert_eq!((calls(&session), server.counts().path("/healthz")), (8, 800));
}

#[test]
fn a_load_of_other_machines_that_is_sent_from_here_says_so() {
    let server = server();
    let mut session = with_ssh(session());
    let url = server.url("/healthz");
    session.loadline(&format!("run {url} -n 8 -c 2 -t 2 --agents ssh:a,ssh:b --out json=r.json --name far")).exits(0);
    let said = "warning: the load of 'r.json' came from a, b, and now it comes from this machine\n  help: name them with --agents";
    session.loadline("run --from r.json").exits(0).complains(said);
    session.loadline("run --from r.json -q").exits(0).complains_of_nothing();
    session.loadline(&format!("compare r.json {url} --pairs 1 -n 8 --force")).exits_either(0, 4).complains(said);
    let mut session = with_ssh(session);
    session.loadline("run --from r.json --agents ssh:b --out json=b.json").exits(0).complains_of_nothing();
    assert_eq!(session.json("b.json")["sites"][0]["name"], "b");
    session.loadline(&format!("run {url} -n 8 -c 2 -t 2 --processes 2 --out json=here.json")).exits(0);
    session.loadline("run --from here.json").exits(0).complains_of_nothing();
}

#[test]
fn experiments_call_each_machine_once() {
    let server = server();
    let mut session = with_ssh(session());
    let line = format!("sweep {} --levels 2,4,8 --duration 500ms -t 2 --agents ssh:a,ssh:b --force", server.url("/healthz"));
    session.loadline(&line).exits_either(0, 4).says("8");
    assert_eq!(calls(&session), 6);
}

#[test]
fn files_travel_and_none_of_that_machine_is_read() {
    let server = Recorder::start(Duration::ZERO, 200);
    let mut session = with_ssh(session().file("users.csv", "id\n1\n2\n3\n4\n5\n6\n"));
    let line = "-n 6 -c 4 -t 2 --data-file users.csv --agents ssh:a,ssh:b";
    session.loadline(&format!("run '{}/{{{{users.id}}}}' {line}", server.url)).exits(0);
    let mut rows: Vec<String> = server.raw().iter().filter_map(|request| Some(request.split(' ').nth(1)?.to_owned())).collect();
    rows.sort_unstable();
    assert_eq!(rows, ["/1", "/2", "/3", "/4", "/5", "/6"]);
}

#[test]
fn rows_of_a_file_that_is_larger_than_memory_should_hold_are_used_once_over_all_machines() {
    let server = Recorder::start(Duration::ZERO, 200);
    let pad = "x".repeat(900_000);
    let rows: String = (0..90).map(|number| format!("{number:02},{pad}\n")).collect();
    let session = session().file("rows.csv", &format!("id,pad\n{rows}"));
    assert!(fs::metadata(session.path("rows.csv")).unwrap().len() > 80_000_000);
    fs::copy(session.path("rows.csv"), session.path("copy.csv")).unwrap();
    let mut session = with_ssh(session);
    let line = "-n 90 -c 4 -t 2 --data-file rows.csv --data-file copy=copy.csv --agents ssh:a,ssh:b";
    let ran = session.loadline(&format!("run '{}/{{{{rows.id}}}}-{{{{copy.id}}}}' {line}", server.url));
    assert!(matches!(ran.exit, 0 | 4), "{}\n{}", ran.stdout, ran.stderr);
    let mut asked: Vec<String> = server.raw().iter().filter_map(|request| Some(request.split(' ').nth(1)?.to_owned())).collect();
    asked.sort_unstable();
    assert_eq!(asked, (0..90).map(|number| format!("/{number:02}-{number:02}")).collect::<Vec<_>>());
}

#[test]
fn a_machine_that_cannot_be_reached_is_told_in_sshs_words_with_what_to_try() {
    let mut session = with_ssh(session());
    let ran = session.loadline("run http://127.0.0.1:9/ -n 4 -c 2 -t 2 --agents ssh:nowhere").exits(3);
    let said = prose(&ran.stderr);
    assert!(
        said.contains("nowhere did not answer: it ended with status 255 (ssh: connect to host nowhere port 22: No route to host)"),
        "{said}"
    );
    assert!(said.contains("help: try it: ssh -o BatchMode=yes nowhere true"), "{said}");
}

#[test]
fn a_program_for_another_processor_is_refused_with_what_to_give() {
    let session = session().file("other", "\u{7f}ELF of a machine that is not here");
    let mut session = with_ssh(session);
    let ran = session.loadline("run http://127.0.0.1:9/ -n 4 -c 2 -t 2 --agents ssh:a --agent-binary other");
    assert_eq!(ran.exit, 3, "{}", ran.stderr);
    assert!(prose(&ran.stderr).contains("for its processor"), "{}", ran.stderr);
}

#[test]
fn a_target_that_only_the_machines_reach_is_looked_at_there() {
    let mut session = with_ssh(session());
    let ran = session.loadline("run http://127.0.0.1:9/ -n 4 -c 2 -t 2 --agents ssh:a,ssh:b").exits(3);
    assert!(ran.stderr.contains("error: a: ") || ran.stderr.contains("error: b: "), "{}", ran.stderr);
}

#[test]
fn mistakes_are_told_before_anybody_is_called() {
    let mut session = with_ssh(session());
    let ran = session.loadline("run http://127.0.0.1:9/ --rate 0/s --agents web1,ssh:-oProxyCommand=x").exits(2);
    let said = prose(&ran.stderr);
    assert!(said.contains("--agents 'web1' is no machine") && said.contains("--agents 'ssh:-oProxyCommand=x' is no machine"), "{said}");
    assert!(said.contains("--rate 0/s sends nothing"), "{said}");
    assert_eq!(calls(&session), 0);
    session.loadline("run http://127.0.0.1:9/ --agent-binary x").exits(2).complains("--agent-binary is about other machines");
}

/// A real SSH server on a free port, with keys and settings of its own, and an `ssh` that uses them.
struct Sshd {
    child: std::process::Child,
}

impl Sshd {
    fn start(session: &Session) -> Self {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        sshd::make_keys(session);
        sshd::make_client(session, &[("here", "127.0.0.1", port, "cache")]);
        let [program, words @ ..] = sshd::server(session, "sshd_config", ("127.0.0.1", port));
        let sshd = std::process::Command::new(program).args(words).spawn();
        let child = sshd.unwrap();
        let limit = std::time::Instant::now() + Duration::from_secs(30);
        while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(std::time::Instant::now() < limit, "sshd does not listen");
            std::thread::sleep(Duration::from_millis(10));
        }
        Self { child }
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_load_over_real_ssh_is_measured_and_a_machine_that_is_frozen_or_killed_does_not_hold_it_up() {
    if !crate::tools::are_here(&["ssh", "ssh-keygen", "sshd"]) {
        return;
    }
    let server = server();
    let session = Session::new();
    let _sshd = Sshd::start(&session);
    let mut session = with_client(session);
    let url = server.url("/healthz");
    session.loadline(&format!("run {url} -n 200 -c 4 -t 2 --agents ssh:here,ssh:here --out json=r.json")).exits(0).says("here ");
    assert_eq!(server.counts().path("/healthz"), 200);
    assert_eq!(session.json("r.json")["sites"].as_array().unwrap().len(), 2);
    let mut session = with_client(session.file("a $HOME's.log", "192.0.2.1 - - [01/Mar/2016:10:00:00 +0100] \"GET / HTTP/1.1\" 200 1\n"));
    let log = session.path("a $HOME?s.lo*").display().to_string();
    session.loadline(&format!("traffic --agents ssh:here '{log}'")).exits(0).says("a $HOME's.log: looks like common");
    for (signal, word) in
        [(rustix::process::Signal::KILL, "is gone: it ended"), (rustix::process::Signal::STOP, "did not say anything for 5 s")]
    {
        let mut one = with_client(session);
        let before = server.counts().path("/healthz");
        let running = one.start(&format!("run {url} -d 9s -c 4 -t 2 --agents ssh:here,ssh:here --out json=lost.json --force"));
        let running = running.once(|| server.counts().path("/healthz") > before + 50);
        let agent = agents_in(&one.path("cache"))[0];
        rustix::process::kill_process(rustix::process::Pid::from_raw(agent).unwrap(), signal).unwrap();
        let ran = running.end();
        assert!(prose(&ran.stdout).contains(word) && ran.stdout.contains("INVALID"), "{}\n{}", ran.stdout, ran.stderr);
        let lost = one.json("lost.json");
        assert_eq!(lost["generator"]["lost_share"], 0.5);
        // A process that is stopped cannot end before it goes on; the other one is gone already.
        let _ = rustix::process::kill_process(rustix::process::Pid::from_raw(agent).unwrap(), rustix::process::Signal::CONT);
        let limit = std::time::Instant::now() + Duration::from_secs(30);
        while !agents_in(&one.path("cache")).is_empty() {
            assert!(std::time::Instant::now() < limit, "they end with their connections");
            std::thread::sleep(Duration::from_millis(10));
        }
        session = one;
    }
}

#[test]
fn a_load_with_fewer_threads_than_machines_comes_from_some_of_them() {
    let server = server();
    let mut session = with_ssh(session());
    let line = format!("run {} -n 7 -c 7 -t 1 --agents ssh:a,ssh:b --out json=r.json", server.url("/healthz"));
    session.loadline(&line).exits(0);
    assert_eq!((server.counts().path("/healthz"), session.json("r.json")["sites"].as_array().unwrap().len()), (7, 1));
}

#[test]
fn what_does_not_travel_is_refused_before_anything_is_sent() {
    let server = server();
    let mut session = with_ssh(session());
    let url = server.url("/healthz");
    let ran = session.loadline(&format!("run {url} -n 4 -c 2 -t 2 --processes 2 --agents ssh:a,ssh:b")).exits(2);
    assert!(prose(&ran.stderr).contains("2 processes are of this machine, and the load comes from others"), "{}", ran.stderr);
    assert_eq!(server.counts().path("/healthz"), 0);
}

#[test]
fn done_sees_what_threads_on_other_machines_had() {
    let server = server();
    let session = session().file(
        "count.lua",
        "local threads = {}
         function setup(thread) threads[#threads + 1] = thread; thread:set('id', #threads) end
         function init() count = 0 end
         function response(status) count = count + 1 end
         function done() for _, thread in ipairs(threads) do print(thread:get('id') .. ' had ' .. thread:get('count')) end end",
    );
    let mut session = with_ssh(session);
    let ran =
        session.loadline(&format!("run {} -n 40 -c 4 -t 4 --script count.lua --sandbox --agents ssh:a,ssh:b", server.url("/healthz")));
    let said: Vec<&str> = ran.stdout.lines().filter(|line| line.contains(" had ")).collect();
    assert_eq!(said, ["1 had 10", "2 had 10", "3 had 10", "4 had 10"], "{}\n{}", ran.stdout, ran.stderr);
}

/// Two users, as often as a property says.
const PLAN: &str = "<jmeterTestPlan><hashTree><TestPlan/><hashTree><ThreadGroup testname=\"Users\">
<stringProp name=\"ThreadGroup.num_threads\">2</stringProp><elementProp name=\"ThreadGroup.main_controller\">
<stringProp name=\"LoopController.loops\">${__P(loops)}</stringProp></elementProp></ThreadGroup><hashTree>
<HTTPSamplerProxy testname=\"home\"><stringProp name=\"HTTPSampler.domain\">127.0.0.1</stringProp>
<stringProp name=\"HTTPSampler.port\">${__P(port)}</stringProp><stringProp name=\"HTTPSampler.path\">/healthz</stringProp>
</HTTPSamplerProxy><hashTree/></hashTree></hashTree></hashTree></jmeterTestPlan>";

#[test]
fn each_server_of_jmeters_command_line_carries_the_whole_plan_out() {
    let server = server();
    let mut session = with_ssh(session().file("plan.jmx", PLAN));
    let port = server.url("/").trim_end_matches('/').rsplit(':').next().unwrap().to_owned();
    let ran = session.loadline(&format!("jmeter -n -t plan.jmx -R a,b:1099 -Jloops=1 -Gloops=3 -Gport={port} -l out.jtl -X --no-remarks"));
    assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("Remote engines have been started:[a, b:1099]") && ran.stdout.contains("summary =     12 in "),
        "{}",
        ran.stdout
    );
    assert_eq!((server.counts().path("/healthz"), session.read("out.jtl").lines().count()), (12, 13));
    let mut session = with_ssh(session);
    let ran = session.loadline(&format!("jmeter -n -t plan.jmx -R nowhere -Gport={port}"));
    assert_eq!(ran.exit, 1, "{}", ran.stdout);
    let said = prose(&ran.stderr);
    assert!(said.contains("An error occurred: ") && said.contains("nowhere") && said.contains("No route to host"), "{said}");
    assert_eq!(server.counts().path("/healthz"), 12);
}
