//! The server's side as a user meets it: in the order in which it was asked for, and with whatever can go wrong while it is watched.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread;

use rustix::process::Signal;

use crate::session::{Ran, Running, Session, server};
use crate::tools;

/// A program that runs until the test is over.
struct Bystander(Child);

impl Bystander {
    fn new() -> Self {
        Self(Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The demo API in a process of its own, and where it is.
fn demo(session: &mut Session) -> (Running, String) {
    let mut running = session.start("demo --serve 127.0.0.1:0");
    running.stdout_until("listens at ");
    let url = running.stdout_until(". ").trim_end_matches(". ").to_owned();
    (running, url)
}

/// It was measured to its end, whether or not this machine was too busy to judge by.
#[track_caller]
fn measured(ran: Ran) -> Ran {
    assert!([0, 4].contains(&ran.exit), "{}: {}{}", ran.exit, ran.stdout, ran.stderr);
    ran
}

/// What the run whose result is in `r.json` warns of, a line each.
fn warned(session: &Session) -> String {
    session.json("r.json")["warnings"].as_array().unwrap().iter().map(|it| format!("{}\n", it.as_str().unwrap())).collect()
}

/// What was watched in a run, as it was asked for.
fn asked(run: &serde_json::Value) -> Vec<String> {
    run["observed"].as_array().unwrap().iter().map(|seen| seen["asked"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn what_is_watched_stands_in_the_order_of_the_flags_and_the_table_is_about_the_target() {
    let mut session = Session::new();
    let (server, url) = demo(&mut session);
    let bystander = Bystander::new();
    let other = format!("pid:{}", bystander.0.id());
    for order in [[other.as_str(), "auto"], ["auto", other.as_str()]] {
        let flags = order.map(|what| format!("--observe {what}")).join(" ");
        let ran = session.loadline(&format!("sweep {url}/healthz --levels 1,2 -d 1300ms --cooldown 0s --name it --dir . --force {flags}"));
        let result = session.json("it.json");
        for trial in result["trials"].as_array().unwrap() {
            assert_eq!(asked(&trial["summary"]), order);
        }
        let told = ran.stdout.lines().find(|line| line.contains("The server's side: ")).unwrap_or_else(|| panic!("{}", ran.stdout));
        assert!(told.contains(&format!("({})", server.pid())) && !told.contains("sleep"), "{told}");
    }
}

#[test]
fn what_was_seen_stands_wherever_a_result_is_read() {
    if !tools::pages_are_built() {
        return;
    }
    let mut session = Session::alone();
    let (server, url) = demo(&mut session);
    let name = format!("({})", server.pid());
    let short = "-d 1300ms --cooldown 0s --dir . --force";
    let all_of = |session: &mut Session, json: &str, markdown: &str| {
        assert!(
            session.read(markdown).contains("The server's side") && session.read(markdown).contains(&name),
            "{}",
            session.read(markdown)
        );
        session.loadline(&format!("report {json}")).says("server's side").says(&name);
        session.loadline(&format!("report {json} --out html=page.html --force")).exits(0);
        let page = session.read("page.html");
        assert!(page.contains("\"id\":\"server-side\"") && page.contains(&name), "{json}");
        page
    };
    measured(session.loadline(&format!("run {url}/healthz -c 1 -d 1300ms --out json=r.json --out markdown=r.md")));
    let page = all_of(&mut session, "r.json", "r.md");
    assert!(page.contains("\"id\":\"server-cpu\"") && page.contains("\"id\":\"server-cores\""));
    session.loadline(&format!("sweep {url}/healthz --levels 1,2 --name s {short}"));
    assert!(all_of(&mut session, "s.json", "s.md").contains("\"loads\":[1.0,2.0]"), "it is drawn against the load");
    let ran =
        session.loadline(&format!("find {url}/healthz --slo 'p90 < 2s' --rate-max 40/s --quick --budget 30s --name f --dir . --force"));
    let page = all_of(&mut session, "f.find.json", "f.find.md");
    // A machine that others keep busy leaves no trial that counts, and so nothing to draw against.
    assert!(page.contains("\"loads\":[") || ran.stdout.contains("does not count"), "{}", ran.stdout);
    let ran = session.loadline(&format!("compare {url}/healthz?a {url}/healthz?b -c 1 --pairs 1 --name c {short}"));
    // A machine that others keep busy has its pair left out, and then there is nothing to tell of the server.
    if ran.stdout.contains("left out") {
        ran.says("the load generator was the limit");
    } else {
        ran.says("The server's side: A: ").says("For a request the server used ");
        all_of(&mut session, "c.compare.json", "c.compare.md");
    }
}

#[test]
fn a_server_that_dies_in_the_middle_is_told_and_the_run_goes_on() {
    let mut session = Session::new();
    let (server, url) = demo(&mut session);
    let stat = format!("/proc/{}/stat", server.pid());
    // Its processor time, in hundredths of a second: a server that has just accepted connections has answered nobody yet.
    let busy = || -> u64 {
        let text = fs::read_to_string(&stat).unwrap();
        let fields: Vec<&str> = text.rsplit_once(") ").unwrap().1.split(' ').collect();
        fields[11..13].iter().map(|ticks| ticks.parse::<u64>().unwrap()).sum()
    };
    let before = busy();
    let run = session.start(&format!("run {url}/healthz -c 4 -d 3s --timeout 1s --full --observe pid:{} --out json=r.json", server.pid()));
    let run = run.once(|| busy() >= before + 10);
    let dead = server.pid();
    server.signal(Signal::KILL).end();
    run.end().exits_either(3, 4).says("server's side").says("stopped answering");
    let told = warned(&session);
    assert!(told.contains(&format!("--observe pid:{dead}: the server's process ended after ")), "{told}");
    let result = session.json("r.json");
    assert!(result["requests"]["failed"].as_u64().unwrap() > 0 && result["duration_s"].as_f64().unwrap() > 1.5, "{}", result["requests"]);
}

/// How a page of metrics goes wrong once it has been read some times.
#[derive(Clone, Copy)]
enum Wrong {
    Silent,
    Endless,
    Html,
    CutOff,
    Refusing,
    Gone,
}

/// A page that is fine for three readings, the one before the run among them.
fn metrics(wrong: Wrong) -> String {
    const FINE: u32 = 3;
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap().to_string();
    thread::spawn(move || {
        let mut silent: Vec<TcpStream> = Vec::new();
        for served in 1.. {
            let Ok((mut stream, _)) = socket.accept() else { return };
            let _ = stream.read(&mut [0; 1_024]);
            let answer = match wrong {
                _ if served <= FINE => format!("HTTP/1.0 200 OK\r\n\r\nqueue {served}\n"),
                Wrong::Html => "HTTP/1.0 200 OK\r\n\r\n<html>login</html>".to_owned(),
                Wrong::CutOff => "HTTP/1.0 200 OK\r\nContent-Length: 900\r\n\r\nqueue 1\n".to_owned(),
                Wrong::Refusing => "HTTP/1.0 503 Service Unavailable\r\n\r\nbusy\n".to_owned(),
                Wrong::Gone | Wrong::Silent => String::new(),
                Wrong::Endless => "HTTP/1.0 200 OK\r\n\r\n".to_owned(),
            };
            let _ = stream.write_all(answer.as_bytes());
            match wrong {
                Wrong::Silent if served > FINE => silent.push(stream),
                Wrong::Endless if served > FINE => while stream.write_all(&[b'a'; 1 << 16]).is_ok() {},
                Wrong::Gone if served == FINE => return,
                _ => {}
            }
        }
    });
    address
}

#[test]
fn a_page_of_metrics_that_goes_wrong_under_way_is_a_warning_with_its_cause_and_the_run_goes_on() {
    let server = server();
    let mut session = Session::new();
    let cases = [
        (Wrong::Silent, "a look at it had no end when the run had; what it saw until then is kept"),
        (Wrong::Endless, "looks failed: the page is larger than 16 MB"),
        (Wrong::Html, "looks failed: there is no metric on the page any more"),
        (Wrong::CutOff, "looks failed: the page broke off after 8 of 900 bytes"),
        (Wrong::Refusing, "looks failed: the page was answered with status 503: busy"),
        (Wrong::Gone, "connection refused"),
    ];
    let pages = cases.map(|(wrong, _)| metrics(wrong));
    let flags: String = pages.iter().map(|page| format!(" --observe prometheus:http://{page}/metrics")).collect();
    measured(session.loadline(&format!("run {} -c 1 -r 50/s -d 3500ms --out json=r.json{flags}", server.url("/healthz"))));
    let told = warned(&session);
    for ((_, said), page) in cases.iter().zip(&pages) {
        let line = told.lines().find(|line| line.contains(page.as_str())).unwrap_or_else(|| panic!("nothing of {said}: {told}"));
        assert!(line.starts_with(&format!("--observe prometheus:http://{page}/metrics: ")) && line.contains(said), "{said}: {line}");
    }
    // What was seen until then is there.
    let observed = session.json("r.json")["observed"].clone();
    assert_eq!(observed.as_array().unwrap().len(), cases.len());
    for seen in observed.as_array().unwrap() {
        let values = seen["series"][0]["values"].as_array().unwrap();
        assert!(values.iter().any(|value| value.as_f64() == Some(3.0)), "{seen}");
    }
    assert!(session.json("r.json")["duration_s"].as_f64().unwrap() > 3.0);
}

/// A program that stands for ssh.
fn with_ssh(text: &str) -> Session {
    let session = Session::new().file("ssh", &format!("#!/bin/sh\n{text}"));
    fs::set_permissions(session.path("ssh"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", session.path(".").display());
    session.env("PATH", &path)
}

#[test]
fn a_wrong_host_or_key_ends_every_command_before_the_first_request() {
    let server = server();
    let url = server.url("/healthz");
    for (said, told) in [
        ("ssh: Could not resolve hostname nowhere: Name or service not known", "ssh: Could not resolve hostname nowhere"),
        ("me@there: Permission denied (publickey).", "Permission denied (publickey)"),
        ("Host key verification failed.", "Host key verification failed"),
    ] {
        for command in ["run URL -d 10m", "sweep URL --levels 1,2", "find URL --slo 'p99 < 1s'", "compare URL URL?b"] {
            let line = command.replace("URL", &url);
            let ran = with_ssh(&format!("echo '{said}' >&2; exit 255")).loadline(&format!("{line} --observe ssh:me@there"));
            ran.exits(2).complains("--observe ssh:me@there: ").complains(told).complains("try it: ssh -o BatchMode=yes me@there true");
        }
    }
    assert_eq!(server.counts().path("/healthz"), 0, "nothing was measured");
}

/// The same by the real one, where it is there: nobody listens on that port, and it is not asked for a password.
#[test]
fn the_real_ssh_fails_before_the_run_where_nobody_lets_it_in() {
    let there = |name: &str| std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).any(|folder| folder.join(name).is_file());
    if !there("ssh") {
        eprintln!("left out: there is no ssh here");
        return;
    }
    let server = server();
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let path = std::env::var("PATH").unwrap();
    let line = format!("run {} -d 10m --observe ssh:nobody@127.0.0.1:{nobody}", server.url("/healthz"));
    Session::new().env("PATH", &path).loadline(&line).exits(2).complains("ssh: ").complains("refused");
    assert_eq!(server.counts().path("/healthz"), 0);
}

/// Everybody may see that process 1 is there, and only its own user how many files it has open.
#[test]
fn what_this_user_may_not_see_is_a_warning_and_the_rest_is_there() {
    let server = server();
    let mut session = Session::new();
    let line = format!("run {} -c 1 -r 50/s -d 1500ms --no-save --observe pid:1 --out json=r.json", server.url("/healthz"));
    let me = rustix::process::geteuid();
    if !me.is_root() && fs::metadata("/proc/1").is_ok_and(|about| about.uid() == me.as_raw()) {
        eprintln!("left out: all that runs here is this user's own");
        return;
    }
    if me.is_root() {
        // Somebody else has to look, in a folder and with a program of his own.
        let program = session.path("loadline");
        fs::copy(env!("CARGO_BIN_EXE_loadline"), &program).unwrap();
        for path in [session.path("."), program.clone()] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
        }
        let mut command = Command::new(&program);
        command.args(line.split(' ')).current_dir(session.path(".")).env_clear().uid(NOBODY).gid(NOBODY);
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert!([Some(0), Some(4)].contains(&output.status.code()), "{}", String::from_utf8_lossy(&output.stderr));
    } else {
        measured(session.loadline(&line));
    }
    let told = warned(&session);
    assert!(told.contains("are not known: it belongs to another user; run loadline as that user or as root"), "{told}");
    let result = session.json("r.json");
    let names: Vec<&str> = result["observed"][0]["series"].as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"cpu_user") && names.contains(&"threads"), "{names:?}");
}

/// Who owns nothing on most systems.
const NOBODY: u32 = 65_534;
