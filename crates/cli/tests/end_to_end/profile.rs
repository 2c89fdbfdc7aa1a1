//! Profiles: read from files, taken under load, and compared.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use crate::session::{Ran, Session, least_disturbed, prose, server};
use crate::tools;

/// A place that hands out these profiles one after the other, the last one again and again, and tells what it was asked for. It knows nothing
/// of locks.
pub fn pprof(answers: &[&str]) -> (String, Receiver<String>) {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap().to_string();
    let (told, asked) = channel();
    let answers: Vec<String> = answers.iter().map(|it| (*it).to_owned()).collect();
    thread::spawn(move || {
        let mut served = 0;
        while let Ok((mut stream, _)) = socket.accept() {
            let mut request = [0; 2_048];
            let length = stream.read(&mut request).unwrap_or(0);
            // Who only looks whether somebody is here asks nothing.
            if length == 0 {
                continue;
            }
            let line = String::from_utf8_lossy(&request[..length]).lines().next().unwrap_or_default().to_owned();
            if line.contains("/mutex") {
                let _ = write!(stream, "HTTP/1.0 404 Not Found\r\nContent-Length: 0\r\n\r\n");
                continue;
            }
            let answer = &answers[served.min(answers.len() - 1)];
            served += 1;
            let _ = write!(stream, "HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n{answer}", answer.len());
            let _ = told.send(line);
        }
    });
    (address, asked)
}

const QUIET: &str = "main;serve 60\nmain;gc 40\n";
pub const BUSY: &str = "main;serve 60\nmain;gc 40\nmain;serve;dump \x1b[2J 100\n";

#[test]
fn a_profile_is_listed_as_engineers_know_it() {
    let mut session = Session::new().file("p.txt", "main;serve;dump 60\nmain;serve 20\nmain;gc 20\n");
    let ran = session.loadline("profile top p.txt").exits(0).complains_of_nothing();
    assert_eq!(
        ran.stdout,
        "Type: samples\nShowing nodes accounting for 100, 100% of 100 total\n\
         \x20     flat  flat%   sum%        cum   cum%\n\
         \x20       60 60.00% 60.00%         60 60.00%  dump\n\
         \x20       20 20.00% 80.00%         20 20.00%  gc\n\
         \x20       20 20.00%   100%         80 80.00%  serve\n\
         \x20        0     0%   100%        100   100%  main\n"
    );
    let ran = session.loadline("profile top p.txt --sort cum --focus dump -n 2").exits(0);
    let rows: Vec<&str> = ran.stdout.lines().skip_while(|line| !line.contains("flat%")).skip(1).collect();
    assert_eq!(rows, ["        60 60.00% 60.00%         60 60.00%  dump", "         0     0% 60.00%         60 60.00%  main"]);
    Session::new().stdin("a;b 3\n").loadline("profile top -").exits(0).says("  b\n");
}

#[test]
fn what_is_no_profile_is_told_in_words() {
    let mut session =
        Session::new().file("page.html", "<html>").file("cut.txt", "a;b 3\na;b").file("run.json", "{\"schema\": \"loadline.run/1\"}");
    session.loadline("profile top nowhere").exits(2).complains("the profile 'nowhere' cannot be read: there is no such file or directory");
    session.loadline("profile top .").exits(2).complains("it is a directory");
    session.loadline("profile top page.html").exits(2).complains("it is a page or a picture").complains("help: give a profile");
    session.loadline("profile top cut.txt").exits(2).complains("damaged or cut off: line 2");
    session.loadline("profile top run.json").exits(2).complains("not that of a .cpuprofile");
    session.loadline("profile top nowhere --focus '('").exits(2).complains("no regular expression").complains("'nowhere'");
    session.loadline("profile diff cut.txt @last").exits(2).complains("line 2").complains("@last");
}

#[test]
fn two_profiles_are_compared_by_their_shares() {
    let mut session = Session::new().file("a.txt", QUIET).file("b.txt", BUSY);
    let ran = session.loadline("profile diff a.txt b.txt").exits(0).says("a.txt: samples of its stacks, 100 in all, in 3 functions");
    let rows: Vec<&str> = ran.stdout.lines().filter(|line| line.contains('+') || line.contains('−')).collect();
    assert!(rows[0].contains("0.0 %") && rows[0].contains("+50.0") && rows[0].ends_with("dump \\x1b[2J"), "{rows:?}");
    assert!(rows[1].contains("+20.0") && rows[1].ends_with("serve"), "{rows:?}");
    assert!(rows[2].contains("−20.0") && rows[2].ends_with("gc"), "{rows:?}");
    session.loadline("profile diff a.txt a.txt").exits(0).says("No function's share");
    session.loadline("profile diff a.txt b.txt --kind heap").exits(2).complains("no values of 'heap', but of samples");
}

#[test]
fn a_profile_is_taken_under_load_and_stands_in_every_output() {
    if !tools::pages_are_built() {
        return;
    }
    let server = server();
    let (at, asked) = pprof(&[BUSY]);
    let mut session = Session::new();
    let line = format!(
        "run {} -c 2 -d 2s --full --profile {at} --profile http://me:secret@{at}/debug/pprof/heap?token=abc --profile-out there \
         --out json=r.json --out markdown=r.md --out html=r.html",
        server.url("/healthz")
    );
    let ran = session.loadline(&line).exits(0);
    let mut lines = [asked.recv().unwrap(), asked.recv().unwrap()];
    lines.sort();
    assert_eq!(lines, ["GET /debug/pprof/heap?token=abc HTTP/1.1", "GET /debug/pprof/profile?seconds=1 HTTP/1.1"]);
    assert!(!ran.stdout.contains("--profile"), "{}", ran.stdout);
    let ran = ran.says("profile          samples of its stacks: 200 in all").says("most by itself").says("50.0 %  dump \\x1b[2J");
    assert!(!ran.stdout.contains("secret") && !ran.stdout.contains("token"), "{}", ran.stdout);
    let result = session.json("r.json");
    let profile = &result["profiles"][0];
    assert_eq!((profile["total"].as_i64(), profile["functions"][0]["name"].as_str()), (Some(200), Some("main")), "{profile}");
    assert!(profile["frames"].as_array().unwrap().len() == 4 && profile["from_ns"].as_u64().unwrap() > 0, "{profile}");
    assert!(session.read("r.md").contains("| most with all it calls | flat"), "{}", session.read("r.md"));
    assert!(session.read("r.html").contains("\"flame-profile\""));
    let files: Vec<String> = session.files().into_iter().filter(|name| name.starts_with("there/")).collect();
    assert_eq!(files, ["there/samples-2.pprof", "there/samples.pprof"]);
    session.loadline("profile top there/samples.pprof").exits(0).says("dump");
    // Read again, and compared with itself by its name in the history.
    session.loadline("report r.json").exits(0).says("most by itself");
    session.loadline("profile diff @last there/samples.pprof").exits(0).says("No function's share");
    session.loadline("profile diff r.json there/samples.pprof").exits(0).says("No function's share");
}

/// What the run whose result is in `r.json` warns of.
fn warned(session: &Session) -> String {
    session.json("r.json")["warnings"].as_array().unwrap().iter().map(|it| format!("{}\n", it.as_str().unwrap())).collect()
}

#[test]
fn a_profile_is_taken_while_a_log_is_replayed() {
    let (at, asked) = pprof(&[QUIET]);
    let server = server();
    let line =
        |second: u32| format!("192.0.2.9 - - [01/Mar/2016:00:36:{second:02} +0100] \"GET /healthz HTTP/1.1\" 200 5 \"-\" \"curl/8\"\n");
    let mut session = Session::new().file("access.log", &(0..40).map(line).collect::<String>());
    let replay = format!("replay access.log {} --speed 20x --profile {at} --profile-out there --out json=r.json", server.url(""));
    session.loadline(&replay).exits(0);
    assert!(asked.recv().unwrap().starts_with("GET /debug/pprof/profile?seconds="));
    let result = session.json("r.json");
    assert_eq!(result["profiles"].as_array().map(Vec::len), Some(1), "{}", result["warnings"]);
    assert!(session.path("there").read_dir().unwrap().count() > 0);
    session.loadline("replay access.log http://127.0.0.1:1 --profile pid:x").exits(2).complains("no process number");
}

#[test]
fn a_profile_that_cannot_be_had_is_a_warning_and_the_run_goes_on() {
    let server = server();
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut session = Session::new();
    let url = server.url("/healthz");
    session.loadline(&format!("run {url} -c 1 -d 1500ms --profile {nobody} --profile pid:4194399 --out json=r.json")).exits(0);
    let said = warned(&session);
    assert!(said.contains(&format!("--profile http://{nobody}/debug/pprof/profile: {nobody}: connection refused\n")), "{said}");
    assert!(said.contains("--profile pid:4194399: there is no process 4194399\n"), "{said}");
    session.loadline(&format!("run {url} -c 1 -d 500ms --profile {nobody} --out json=r.json --force")).exits(0);
    assert!(warned(&session).contains("a run of 500ms is too short for a profile"), "{}", warned(&session));
    let wrong = format!("run {url} --profile pid:x --profile ftp://x/ --profile-out /dev/null/x");
    session.loadline(&wrong).exits(2).complains("no process number").complains("no http or https URL").complains("cannot be made");
}

#[test]
fn a_process_is_sampled_by_perf_where_it_is_there_and_allowed() {
    let server = server();
    let line = format!("run {} -c 1 -d 1500ms --full --profile pid:{} --out json=r.json", server.url("/healthz"), std::process::id());
    let with_perf = |text: &str| {
        let session = Session::new().file("perf", &format!("#!/bin/sh\n{text}"));
        fs::set_permissions(session.path("perf"), fs::Permissions::from_mode(0o755)).unwrap();
        let path = session.path(".").display().to_string();
        session.env("PATH", &path)
    };
    let mut without = Session::new();
    let path = without.path(".").display().to_string();
    without = without.env("PATH", &path);
    without.loadline(&line).exits(0);
    assert!(warned(&without).contains("perf is not installed; it comes with the package linux-perf"), "{}", warned(&without));
    let mut refused = with_perf("echo 'Access to performance monitoring and observability operations is limited.' >&2; exit 255");
    refused.loadline(&line).exits(0);
    assert!(warned(&refused).contains("sudo sysctl kernel.perf_event_paranoid=1"), "{}", warned(&refused));
    let script = r"app 1 2.0: cpu-clock:u: \n\t 55d0 work+0x1c (/app)\n\t 55d1 main+0x2 (/app)\n\n";
    let mut sampled = with_perf(&format!("if [ \"$1\" = script ]; then printf '{script}'; fi"));
    let ran = sampled.loadline(&line).exits(0).says("most by itself").says("100.0 %  work");
    ran.says(&format!("pid:{}", std::process::id())).says("samples of its stacks: 1 in all");
}

/// Whether a machine that others keep busy left nothing that counts: then no profile is taken, and that is said.
fn nothing_counts(ran: &Ran) -> bool {
    ran.stdout.contains("No profile was taken") && ran.stdout.contains("does not count")
}

#[test]
fn a_sweep_tells_what_grew_up_to_the_knee() {
    if !tools::pages_are_built() {
        return;
    }
    let server = server();
    let mut session = Session::alone();
    let swept = || {
        let (at, _asked) = pprof(&[QUIET, BUSY]);
        let url = server.url("/behave?delay=10ms");
        session.loadline(&format!("sweep {url} --levels 2,20 -d 1300ms --cooldown 0s --name it --dir . --force --profile {at}"))
    };
    let ran = or_return!(least_disturbed(swept, |ran| ran.stdout.contains("INVALID")))
        .exits(0)
        .says("Profiles of the server at 4 users and 20 users")
        .says("+50.0");
    let told = prose(&ran.stdout);
    for said in [
        "What grew from 4 users to 20 users: samples of its stacks.",
        "the share of dump \\x1b[2J grew most: from 0.0 % to 50.0 % with all it calls.",
    ] {
        assert!(told.contains(said), "{said}: {}", ran.stdout);
    }
    assert!(!told.contains('\x1b'));
    let result = session.json("it.json");
    assert_eq!((result["trials"].as_array().unwrap().len(), result["profiled"].as_array().unwrap().len()), (2, 2));
    assert!(session.read("it.md").contains("## What grew from 4 users to 20 users"), "{}", session.read("it.md"));
    session.loadline("report it.json --out html=it.html").exits(0);
    assert!(session.read("it.html").contains("\"grown\":[0.0,"), "it is coloured");
    session.loadline("report it.json").exits(0).says("What grew from 4 users to 20 users");
}

#[test]
fn a_search_tells_what_grew_up_to_the_rate_that_it_found() {
    if !tools::pages_are_built() {
        return;
    }
    let server = server();
    let (at, asked) = pprof(&[QUIET, BUSY]);
    let mut session = Session::alone();
    let line = format!(
        "find {} --slo 'p90 < 2s' --rate-max 40/s --quick --budget 30s --name it --dir . --profile {at} --profile-out there",
        server.url("/healthz")
    );
    let ran = or_return!(session.again_while(&line, nothing_counts)).exits(0).says("Profiles of the server at 8/s and 40/s").says("+50.0");
    assert_eq!((asked.iter().take(2).count(), asked.try_recv().is_err()), (2, true), "one each, and none while it searched");
    let told = prose(&ran.stdout);
    for said in [
        "What grew from 8/s to 40/s: samples of its stacks.",
        "the share of dump \\x1b[2J grew most: from 0.0 % to 50.0 % with all it calls.",
    ] {
        assert!(told.contains(said), "{said}: {}", ran.stdout);
    }
    let result = session.json("it.find.json");
    let rates: Vec<f64> = result["profiled"].as_array().unwrap().iter().map(|it| it["level"]["offered"].as_f64().unwrap()).collect();
    assert_eq!(rates, [8.0, 40.0]);
    assert!(result["trials"].as_array().unwrap().iter().all(|trial| trial["summary"].get("profiles").is_none()));
    assert!(session.read("it.find.md").contains("## What grew from 8/s to 40/s"), "{}", session.read("it.find.md"));
    assert_eq!(session.files().iter().filter(|name| name.starts_with("there/")).count(), 2, "{:?}", session.files());
    session.loadline("report it.find.json --out html=it.html").exits(0).says("What grew from 8/s to 40/s");
    assert!(session.read("it.html").contains("\"flame-profile\"") && session.read("it.html").contains("\"grown\":[0.0,"));
}

#[test]
fn a_search_that_finds_nothing_profiles_nothing() {
    let server = server();
    let (at, asked) = pprof(&[QUIET]);
    let line = format!("find '{}' --slo 'failed < 1%' --quick --budget 30s --profile {at}", server.url("/behave?status=503"));
    let ran = Session::alone().loadline(&line).says("No profile was taken: no rate was found.");
    // Where no trial counts, it cannot be told that none is fine.
    let exit = if ran.stdout.contains("Cannot tell") { 4 } else { 1 };
    ran.exits(exit);
    assert!(asked.try_recv().is_err());
}

#[test]
fn a_comparison_tells_what_one_side_does_more_of() {
    if !tools::pages_are_built() {
        return;
    }
    let server = server();
    let ((old, _), (new, _)) = (pprof(&[QUIET]), pprof(&[BUSY]));
    let mut session = Session::alone();
    let line = format!(
        "compare {} {} -c 1 --pairs 1 -d 2s --cooldown 0s --name it --dir . --profile a={old} --profile b={new} --profile-out there",
        server.url("/healthz?old"),
        server.url("/healthz?new")
    );
    let ran = session.loadline(&line);
    let told = prose(&ran.stdout);
    for said in [
        "Profiles, after the pairs",
        "What grew from A to B: samples of its stacks.",
        "the share of dump \\x1b[2J grew most: from 0.0 % to 50.0 %",
        "+50.0",
    ] {
        assert!(told.contains(said), "{said}: {}{}", ran.stdout, ran.stderr);
    }
    let result = session.json("it.compare.json");
    let profiled = result["profiled"].as_array().unwrap();
    assert_eq!(profiled.iter().map(|it| it["side"].as_str().unwrap()).collect::<Vec<_>>(), ["A", "B"]);
    assert_eq!(profiled[0]["summary"]["profiles"][0]["asked"], format!("http://{old}/debug/pprof/profile"));
    assert_eq!(result["pairs"].as_array().unwrap().len(), 1);
    assert!(result["pairs"][0]["a"].get("profiles").is_none());
    assert!(session.read("it.compare.md").contains("| cum in A | in B | grew by |"), "{}", session.read("it.compare.md"));
    let files: Vec<String> = session.files().into_iter().filter(|name| name.starts_with("there/")).collect();
    assert_eq!(files, ["there/a-samples.pprof", "there/b-samples.pprof"]);
    session.loadline("report it.compare.json --out html=it.html").says("What grew from A to B");
    assert!(session.read("it.html").contains("Coloured by what grew from A to here."));
    session.loadline("compare http://h/ http://g/ --profile a=pid:x").exits(2).complains("no process number");
}

#[test]
fn a_profile_that_is_taken_only_at_the_end_is_doubted_at_the_beginning() {
    let server = server();
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let line = format!("sweep {} --levels 1 -d 500ms --profile pid:4194399 --profile {nobody}", server.url("/healthz"));
    let ran = Session::alone().loadline(&line);
    ran.complains("warning: --profile pid:4194399: there is no process 4194399; it is not there now, and is asked for again at the end")
        .complains("refused; ");
}

/// Who listens is another process in every run, and nobody can name it before.
#[test]
fn auto_profiles_whoever_listens_also_where_a_comparison_starts_the_servers_itself() {
    let script = r"app 1 2.0: cpu-clock:u: \n\t 55d0 work+0x1c (/app)\n\n";
    let perf = format!("#!/bin/sh\nif [ \"$1\" = script ]; then printf '{script}'; else echo \"$@\" >> {{}}; fi");
    let session = Session::new();
    let asked = session.path("asked");
    let mut session = session.file("perf", &perf.replace("{}", &asked.display().to_string()));
    fs::set_permissions(session.path("perf"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = session.path(".").display().to_string();
    session = session.env("PATH", &path);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let command = format!("{} demo --serve 127.0.0.1:{port}; true", env!("CARGO_BIN_EXE_loadline"));
    let line = format!(
        "compare --a '{command}' --b '{command}' --url http://127.0.0.1:{port}/healthz -c 1 --pairs 1 -d 2s --warmup 0s --cooldown 0s \
         --name it --dir . --profile auto"
    );
    session.loadline(&line).says("Profiles, after the pairs");
    let result = session.json("it.compare.json");
    let profiled = result["profiled"].as_array().unwrap();
    assert_eq!(profiled.len(), 2, "{result}");
    for side in profiled {
        assert_eq!(side["summary"]["profiles"][0]["asked"], "auto", "{}", side["summary"]["warnings"]);
    }
    // One server and then another, each by its own number.
    let told = session.read("asked");
    let pids: Vec<&str> = told.lines().map(|line| line.split_once("--pid ").unwrap().1.split(' ').next().unwrap()).collect();
    assert!(pids.len() == 2 && pids[0] != pids[1], "{told}");
    let far = session.loadline("run http://192.0.2.1/ -d 2s --profile auto");
    far.exits(2).complains("--profile auto: the load goes to another machine").complains("--profile http://HOST:6060");
}

/// Where a program is: on the path, or where `scripts/profilers.sh` puts it. That it is nowhere is said.
fn program(name: &str) -> Option<PathBuf> {
    let own = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../profilers/bin");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).chain([own]).map(|folder| folder.join(name)).find(|file| file.is_file());
    if found.is_none() {
        eprintln!("left out: there is no {name} here");
    }
    found
}

/// A server in another language, in a process of its own, and where it listens. It ends with the test.
struct Foreign {
    child: Child,
    url: String,
}

impl Foreign {
    /// Its first line on standard output is its port.
    fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut port = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut port).unwrap();
        Self { child, url: format!("http://127.0.0.1:{}/", port.trim().parse::<u16>().unwrap_or_else(|why| panic!("{port:?}: {why}"))) }
    }

    /// A run with a profile of it, and the names of the functions that it has.
    fn profiled(&self, session: &mut Session) -> Vec<String> {
        let path = std::env::join_paths(
            [Path::new(env!("CARGO_TARGET_TMPDIR")).join("../profilers/bin")]
                .into_iter()
                .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
        );
        let mut run = std::mem::replace(session, Session::new()).env("PATH", path.unwrap().to_str().unwrap());
        let line = format!("run {} -c 2 -d 3s --profile pid:{} --out json=r.json --force", self.url, self.child.id());
        let ran = run.loadline(&line);
        assert!([0, 4].contains(&ran.exit), "{}{}", ran.stdout, ran.stderr);
        let result = run.json("r.json");
        *session = run;
        let profiles = result["profiles"].as_array().cloned().unwrap_or_default();
        let functions = profiles.iter().flat_map(|profile| profile["functions"].as_array().unwrap().clone());
        functions.map(|function| function["name"].as_str().unwrap().to_owned()).collect()
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether the profiler may look at all, which containers often forbid; that it may not is said.
fn is_allowed(session: &Session) -> bool {
    let told = warned(session);
    let forbidden = told.contains("may not look into that process") || told.contains("does not allow this user");
    if forbidden {
        eprintln!("left out: {told}");
    }
    !forbidden
}

const PYTHON: &str = r#"
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

def add_up_many_numbers():
    return sum(number * number for number in range(20_000))

class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = str(add_up_many_numbers()).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
print(server.server_address[1], flush=True)
server.serve_forever()
"#;

#[test]
fn a_python_program_is_profiled_by_the_real_py_spy() {
    let (Some(python), Some(_)) = (program("python3"), program("py-spy")) else { return };
    let mut session = Session::new().file("app.py", PYTHON);
    let mut command = Command::new(python);
    command.arg(session.path("app.py"));
    let server = Foreign::start(command);
    let functions = server.profiled(&mut session);
    if is_allowed(&session) {
        assert!(functions.iter().any(|name| name.starts_with("add_up_many_numbers")), "{functions:?} {}", warned(&session));
    }
}

const NODE: &str = r#"
function addUpManyNumbers() {
  let sum = 0;
  for (let number = 0; number < 200_000; number++) sum += Math.sqrt(number);
  return sum;
}
const server = require("node:http").createServer((_, answer) => answer.end(String(addUpManyNumbers())));
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
"#;

#[test]
fn a_node_program_is_profiled_by_its_own_inspector() {
    let Some(node) = program("node") else { return };
    let mut session = Session::new().file("app.js", NODE);
    let start = |flags: &[&str], variable: &str| {
        let mut command = Command::new(&node);
        command.args(flags).arg(session.path("app.js")).env("NODE_OPTIONS", variable);
        Foreign::start(command)
    };
    // Whatever port is free, as said in the arguments or in the environment.
    let servers = [start(&["--inspect=0"], ""), start(&[], "--inspect=127.0.0.1:0")];
    let closed = start(&[], "");
    for server in servers {
        let functions = server.profiled(&mut session);
        assert!(functions.iter().any(|name| name.starts_with("addUpManyNumbers")), "{functions:?} {}", warned(&session));
        // What ran nothing is no function of the program.
        assert!(!functions.iter().any(|name| name.contains("(idle)")), "{functions:?}");
    }
    assert!(closed.profiled(&mut session).is_empty());
    // Another program may have the usual port.
    let told = warned(&session);
    assert!(told.contains(&format!("kill -USR1 {}", closed.child.id())), "{told}");
}

#[test]
fn any_other_program_is_profiled_by_the_real_perf() {
    let Some(_) = program("perf") else { return };
    let mut session = Session::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_loadline"));
    command.args(["demo", "--serve", "127.0.0.1:0"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let url = lines.map_while(Result::ok).find_map(|line| Some(line.split_once("listens at ")?.1.split_once(". ")?.0.to_owned()));
    let server = Foreign { child, url: format!("{}/behave?size=64KiB", url.unwrap()) };
    let functions = server.profiled(&mut session);
    if is_allowed(&session) {
        assert!(!functions.is_empty(), "{}", warned(&session));
    }
}
