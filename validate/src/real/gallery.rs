//! Is the first cause right on everyday servers, which nobody built for a rule?
//!
//! Servers that are each short of one thing on purpose are what rules were written for. These are written as people write servers, in the
//! languages that they use, with the mistakes that belong to each; and beside them stand loads that are themselves the mistake. What is
//! asked of each is more than a right answer: a wrong one is worse than none. So there are three verdicts: right, wrong, and *not told*,
//! which is what is said where it cannot be known.
//!
//! What is not installed is left out and named. Every report is also held against the list of contradictions.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use analysis::contradictions;
use analysis::proportion::Share;
use anyhow::{Context as _, Result, bail};
use rustix::process::{Pid, Signal, kill_process_group};
use serde::{Deserialize, Serialize};
use std::os::unix::process::CommandExt as _;

use super::bottlenecks::Quota;
use super::process::{Loadline, Serving};
use crate::experiment::Experiment;
use crate::lab::Lab;
use crate::proof::{Proof, Section, Table};

/// What was said of a server.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Shown {
    /// What it is, in words.
    pub server: String,
    /// What was done.
    pub load: String,
    /// The kinds of Findings that are right.
    pub right: Vec<String>,
    /// That of the first.
    pub kind: Option<String>,
    /// It, in its own words.
    pub sentence: String,
    /// Sentences of the report that contradict each other.
    pub contradictions: Vec<(String, String)>,
    /// Why it was left out.
    pub left_out: Option<String>,
}

/// How good a first Finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Right,
    /// It says that it cannot be told.
    NotTold,
    Wrong,
}

impl Shown {
    fn verdict(&self) -> Option<Verdict> {
        if self.left_out.is_some() {
            return None;
        }
        Some(match self.kind.as_deref() {
            Some(kind) if self.right.iter().any(|right| right == kind) => Verdict::Right,
            None | Some("none") => Verdict::NotTold,
            // That it is something which is not seen names nothing; nor does it that loadline was too busy to tell.
            Some("not_visible" | "generator") => Verdict::NotTold,
            Some(_) => Verdict::Wrong,
        })
    }
}

/// Everyday servers.
#[derive(Debug)]
pub struct Gallery;

/// Who serves.
#[derive(Debug, Clone, Copy)]
enum Server {
    /// A path of the demo API.
    Demo(&'static str),
    /// A program of `validate/gallery`, with its arguments; `{}` is that folder.
    Program(&'static str, &'static [&'static str]),
    /// The same by a program of Python's packages, from an environment that is made first.
    Python(&'static str, &'static [&'static str]),
    /// PostgreSQL behind an API with a pool of four connections: a path of it.
    Database(&'static str),
    /// The Go program of that folder, built first.
    Go(&'static str),
    /// The same, with so many cores allowed by its cgroup.
    Limited(&'static str, f64),
    /// nginx with this inside `server { … }`; `{}` is the address of the server behind it.
    Nginx(&'static str, &'static str, Option<&'static str>),
}

struct Case {
    about: &'static str,
    server: Server,
    /// After `run URL` or `sweep URL`.
    load: &'static str,
    right: &'static [&'static str],
}

const fn case(about: &'static str, server: Server, load: &'static str, right: &'static [&'static str]) -> Case {
    Case { about, server, load, right }
}

const LADDER: &str = "sweep --levels 1,2,4,8,16,32,64 -d 2s --all-levels --cooldown 100ms";

/// What limits it where it is the processors of a machine that load and server share.
const CORES: &[&str] = &["processor", "shared_machine", "generator"];

const CASES: &[Case] = &[
    // Loads that are the mistake.
    case("200/s over 5 connections of 50 ms each", Server::Demo("/behave?delay=50ms"), "run -c 5 -d 4s --rate 200/s", &["own_load"]),
    case("a server that never answers", Server::Demo("/behave?never"), "run -d 3s -c 5 --timeout 1s", &["silent"]),
    case("a process that ends, open load", Server::Program("python3", &["{}/everyday.py", "dying"]), "run -d 8s -r 100/s", &["ended"]),
    case("a process that ends, closed load", Server::Program("python3", &["{}/everyday.py", "dying"]), "run -d 8s -c 5", &["ended"]),
    case("a path that does not exist", Server::Demo("/nowhere"), "run -c 5 -d 1s", &["refused"]),
    // What one load cannot know.
    case("a pool of 8, one load", Server::Demo("/behave?pool=8:5ms"), "run -c 10 -d 3s", &["none"]),
    case("Node that waits 20 ms, one load", Server::Program("node", &["{}/everyday.js", "waiting"]), "run -c 10 -d 3s", &["none"]),
    // Between.
    case("head and body in two writes", Server::Program("python3", &["{}/everyday.py", "two-writes"]), "run -c 10 -d 4s", &["delayed_ack"]),
    case("the same, one user", Server::Program("python3", &["{}/everyday.py", "two-writes"]), "run -c 1 -d 3s", &["delayed_ack"]),
    case(
        "no keep-alive",
        Server::Program("python3", &["{}/everyday.py", "closing"]),
        "run -c 10 -d 3s",
        &["new_connections", "thread", "lock", "none", "shared_machine", "processor"],
    ),
    // Freezes.
    case(
        "freezes of 400 ms every 2 s, open load",
        Server::Demo("/behave?stall=2s:400ms&delay=5ms"),
        "run --rate 500/s -d 12s",
        &["freezes"],
    ),
    case("freezes of 400 ms every 2 s, closed load", Server::Demo("/behave?stall=2s:400ms&delay=5ms"), "run -c 10 -d 12s", &["freezes"]),
    // Limits that are said.
    case("overload protection by requests at once", Server::Demo("/behave?breaks=50:2s&pool=200:5ms"), "run -c 100 -d 4s", &["overload"]),
    case("429 beyond 250 a second", Server::Demo("/behave?limit=250"), "run -c 10 -d 3s", &["rate_limit"]),
    case(
        "nginx limit_req, 503, one load",
        Server::Nginx(
            "limit_req_zone $binary_remote_addr zone=a:1m rate=200r/s;",
            "location / { limit_req zone=a burst=10 nodelay; limit_req_status 503; empty_gif; }",
            None,
        ),
        "run -c 10 -d 5s",
        &["rate_limit"],
    ),
    case(
        "nginx limit_req, 503, a ladder",
        Server::Nginx(
            "limit_req_zone $binary_remote_addr zone=a:1m rate=200r/s;",
            "location / { limit_req zone=a burst=10 nodelay; limit_req_status 503; empty_gif; }",
            None,
        ),
        LADDER,
        &["rate_limit"],
    ),
    // Ladders.
    case(
        "a scalability law with a peak",
        Server::Demo("/behave?usl=1000:0.05:0.001"),
        "sweep --levels 1,2,4,8,16,32,64,128 -d 2s --all-levels --cooldown 100ms",
        &["contention"],
    ),
    case("Amdahl's law, 10 % serial", Server::Demo("/behave?usl=100:0.1:0"), LADDER, &["contention"]),
    case("a pool of 8", Server::Demo("/behave?pool=8:5ms"), LADDER, &["worker_pool"]),
    case("a server without a limit up to there", Server::Demo("/behave?delay=20ms"), LADDER, &["none"]),
    case("Node that computes a millisecond", Server::Program("node", &["{}/everyday.js", "computing"]), LADDER, &["thread"]),
    case("Node that waits 20 ms", Server::Program("node", &["{}/everyday.js", "waiting"]), LADDER, &["none"]),
    case("Python threads that compute", Server::Program("python3", &["{}/everyday.py", "computing"]), LADDER, &["lock", "thread"]),
    case(
        "Python, one thread for one connection",
        Server::Program("python3", &["{}/everyday.py", "one-thread"]),
        "sweep --levels 1,2,4,8 -d 2s --all-levels --cooldown 100ms --timeout 2s",
        &["thread", "lock", "worker_pool", "accept_queue", "errors"],
    ),
    case(
        "SQLite that is on the disk for each answer",
        Server::Program("python3", &["{}/everyday.py", "writing"]),
        LADDER,
        &["disk", "lock"],
    ),
    case(
        "Flask's own server, 20 ms of waiting",
        Server::Python("flask", &["--app", "{}/flask_app.py", "run", "--port", "0"]),
        LADDER,
        &["lock", "thread", "processor", "new_connections"],
    ),
    case(
        "gunicorn with two workers",
        Server::Python("gunicorn", &["--chdir", "{}", "-w", "2", "-b", "127.0.0.1:0", "flask_app:app"]),
        LADDER,
        &["worker_pool"],
    ),
    case("Go, a lock held while it computes", Server::Go("lock"), LADDER, &["lock", "contention"]),
    case("Go, a lock held while it sleeps", Server::Go("sleeping-lock"), LADDER, &["lock", "worker_pool", "contention"]),
    case("Go, a pool of ten", Server::Go("pool"), LADDER, &["worker_pool"]),
    case("Go that computes 2 ms", Server::Go("computing"), LADDER, CORES),
    case("Go that leaks", Server::Go("leak"), "run -r 200/s -d 8s", &["memory"]),
    case("Go with a quota of half a core", Server::Limited("computing", 0.5), LADDER, &["quota"]),
    case("Java, four threads that wait", Server::Program("java", &["{}/Everyday.java", "pool"]), LADDER, &["worker_pool"]),
    case(
        "Java, the serial collector",
        Server::Program("java", &["-XX:+UseSerialGC", "-Xmx160m", "{}/Everyday.java", "collector"]),
        LADDER,
        &["garbage_collection"],
    ),
    case(
        "Java, the parallel collector",
        Server::Program("java", &["-XX:+UseParallelGC", "-Xmx160m", "{}/Everyday.java", "collector"]),
        LADDER,
        &["garbage_collection", "shared_machine"],
    ),
    case("PostgreSQL behind a pool of four connections", Server::Database("/slow/1"), LADDER, &["worker_pool", "not_visible"]),
    case(
        "nginx before an upstream with four workers",
        Server::Nginx("", "location / { proxy_pass http://{}; proxy_http_version 1.1; }", Some("workers")),
        LADDER,
        &["not_visible", "worker_pool"],
    ),
];

/// In the short form, those that need nothing but this program and are done soon.
const SHORT: &[&str] =
    &["200/s over 5 connections of 50 ms each", "a server that never answers", "a path that does not exist", "a pool of 8, one load"];

/// So many of a hundred have to be right, and none wrong.
const RIGHT_MIN: f64 = 0.95;

impl Experiment for Gallery {
    type Sample = Shown;
    const NAME: &'static str = "gallery";
    const TITLE: &'static str = "What limits everyday servers";
    const ABOUT: &'static str = "`loadline run` or `sweep` against servers that were not made for a rule (Python, Flask, Node, Go, Java, nginx, and paths of the demo API), each with\na mistake that belongs to it, and loads that are themselves the mistake. The truth is known of each. *Not told* is where the first Finding says that\nit cannot know; a wrong cause is worse.";

    fn steps(lab: &Lab) -> Vec<String> {
        let chosen = |case: &&Case| lab.of(true, SHORT.contains(&case.about));
        CASES.iter().filter(chosen).map(|case| case.about.to_owned()).collect()
    }

    fn measure(lab: &Lab, step: usize) -> Result<Shown> {
        let about = Self::steps(lab).into_iter().nth(step).context("there is no such step")?;
        let case = CASES.iter().find(|case| case.about == about).context("there is no such case")?;
        let mut shown = Shown {
            server: case.about.to_owned(),
            load: case.load.to_owned(),
            right: case.right.iter().map(|kind| (*kind).to_owned()).collect(),
            kind: None,
            sentence: String::new(),
            contradictions: Vec::new(),
            left_out: None,
        };
        let loadline = Loadline::new(&lab.loadline)?;
        let server = match Served::start(case.server, &loadline) {
            Ok(server) => server,
            Err(why) => {
                shown.left_out = Some(format!("{why:#}"));
                return Ok(shown);
            }
        };
        let (command, load) = case.load.split_once(' ').unwrap_or((case.load, ""));
        let mut words = vec![command, server.url.as_str()];
        words.extend(load.split(' '));
        words.extend(match command {
            "run" => ["--full", "--out", "json=it.json"],
            _ => ["--name", "it", "--dir=."],
        });
        let ran = loadline.run(&words, Duration::from_secs(120))?;
        // A server that ends is a run that could not be carried out.
        if ![0, 1, 3, 4].contains(&ran.exit) {
            bail!("it ended with {}: {}{}", ran.exit, ran.stderr, ran.stdout);
        }
        let result = loadline.json("it.json")?;
        let first = result["bottleneck"].get(0);
        let text = |key: &str| first.and_then(|first| first[key].as_str()).map(str::to_owned);
        shown.kind = text("kind");
        shown.sentence = text("sentence").unwrap_or_default();
        shown.contradictions = contradictions(&ran.stdout);
        eprintln!("gallery: {}: {:?}: {}: {}", shown.server, shown.verdict(), shown.kind.as_deref().unwrap_or("–"), shown.sentence);
        Ok(shown)
    }

    fn tell(seen: &[Shown]) -> Section {
        let mut section = Section::default();
        let of = |wanted: Verdict| seen.iter().filter(|shown| shown.verdict() == Some(wanted)).count() as u64;
        let all = seen.iter().filter(|shown| shown.verdict().is_some()).count() as u64;
        let (right, wrong) = (Share { hits: of(Verdict::Right), of: all }, of(Verdict::Wrong));
        section.proofs.push(Proof::of_fact(
            "of everyday servers, the first cause that is named is right",
            format!("of at least {:.0} in 100", RIGHT_MIN * 100.0),
            format!("of {} in {}", right.hits, right.of),
            all > 0 && right.hits as f64 >= RIGHT_MIN * all as f64,
        ));
        section.proofs.push(Proof::of_fact("… and it is wrong", "of none", format!("of {wrong} in {all}"), wrong == 0));
        let contradicting = seen.iter().filter(|shown| !shown.contradictions.is_empty()).count();
        section.proofs.push(Proof::of_fact(
            "no report of theirs says two things that exclude each other",
            "of none",
            format!("of {contradicting} in {all}"),
            contradicting == 0,
        ));
        let mut table = Table::new("By server.", &["server", "load", "first Finding", "in its words", "verdict"]);
        for shown in seen {
            table.rows.push(vec![
                shown.server.clone(),
                format!("`{}`", shown.load),
                shown.kind.as_ref().map_or_else(|| "–".to_owned(), |kind| format!("`{kind}`")),
                shown.left_out.clone().map_or_else(|| shown.sentence.clone(), |why| format!("left out: {why}")),
                match shown.verdict() {
                    None => "–",
                    Some(Verdict::Right) => "right",
                    Some(Verdict::NotTold) => "not told",
                    Some(Verdict::Wrong) => "**wrong**",
                }
                .to_owned(),
            ]);
        }
        section.tables.push(table);
        section
    }
}

/// A server that runs. It ends with this value, and whoever it started too.
struct Served {
    url: String,
    child: Option<Child>,
    quota: Option<Quota>,
    demo: Option<Serving>,
    behind: Option<Child>,
    /// Where it writes.
    _dir: tempfile::TempDir,
    _state: Option<tempfile::TempDir>,
}

impl Served {
    fn start(server: Server, loadline: &Loadline) -> Result<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("gallery");
        let dir = tempfile::tempdir_in(target()?)?;
        let mut served = Self { url: String::new(), child: None, quota: None, demo: None, behind: None, _dir: dir, _state: None };
        let at = served._dir.path().to_owned();
        match server {
            Server::Demo(path) => {
                let demo = Serving::start(loadline)?;
                served.url = demo.url(path);
                served.demo = Some(demo);
            }
            Server::Program(program, words) => {
                let words = words.iter().map(|word| word.replace("{}", &folder.display().to_string()));
                let mut command = Command::new(program);
                command.args(words).env("GALLERY_DIR", &at).env("PYTHONDONTWRITEBYTECODE", "1");
                served.listens(command, program)?;
            }
            Server::Python(program, words) => {
                let words = words.iter().map(|word| word.replace("{}", &folder.display().to_string()));
                let mut command = Command::new(python_environment()?.join("bin").join(program));
                command.args(words).env("PYTHONDONTWRITEBYTECODE", "1");
                served.listens(command, program)?;
            }
            Server::Database(path) => {
                let port = free_port()?;
                let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/targets/database/start.sh");
                let mut command = Command::new("bash");
                // The path of a socket in it may have 107 letters.
                let state = tempfile::tempdir_in("/tmp")?;
                command.arg(script).env("PORT", port.to_string()).env("STATE", state.path()).env("INSTALL", "no").env("POOL", "4");
                served.listens(command, "PostgreSQL")?;
                served._state = Some(state);
                await_listener(port)?;
                served.url = format!("http://127.0.0.1:{port}{path}");
            }
            Server::Go(name) => served.listens(go(&folder, name)?, "go")?,
            Server::Limited(name, cores) => {
                served.listens(go(&folder, name)?, "go")?;
                served.quota = served.child.as_ref().map(|child| Quota::on(child, cores)).transpose()?;
            }
            Server::Nginx(outside, inside, behind) => {
                let mut upstream = String::new();
                if let Some(name) = behind {
                    let program = std::env::current_exe().context("this program's own file is not known")?;
                    let mut command = Command::new(program);
                    command.args(["serve", name]);
                    let (child, url) = listening(command, name)?;
                    served.behind = Some(child);
                    upstream = url.trim_start_matches("http://").trim_end_matches('/').to_owned();
                }
                let port = free_port()?;
                let inside = inside.replace("{}", &upstream);
                let configuration = format!(
                    "daemon off; worker_processes 1; pid {0}/nginx.pid; error_log {0}/error.log;\nevents {{ worker_connections 1024; }}\n\
                     http {{ access_log off; client_body_temp_path {0}; proxy_temp_path {0}; fastcgi_temp_path {0}; uwsgi_temp_path {0}; scgi_temp_path {0}; \
                     keepalive_requests 1000000; {outside}\nserver {{ listen 127.0.0.1:{port}; {inside} }} }}\n",
                    at.display()
                );
                fs::write(at.join("nginx.conf"), configuration)?;
                let mut command = Command::new("nginx");
                command.arg("-p").arg(&at).arg("-e").arg(at.join("error.log")).arg("-c").arg(at.join("nginx.conf"));
                command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
                served.child = Some(command.spawn().context("nginx is not installed")?);
                await_listener(port).with_context(|| fs::read_to_string(at.join("error.log")).unwrap_or_default())?;
                served.url = format!("http://127.0.0.1:{port}/");
            }
        }
        Ok(served)
    }

    fn listens(&mut self, command: Command, name: &str) -> Result<()> {
        let (child, url) = listening(command, name)?;
        (self.child, self.url) = (Some(child), url);
        Ok(())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        for child in self.child.iter_mut().chain(&mut self.behind) {
            // Masters have workers.
            let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
            let _ = child.wait();
        }
        drop(self.quota.take());
        drop(self.demo.take());
    }
}

/// Starts a program that says where it listens, on whichever of its outputs, within twenty seconds.
fn listening(mut command: Command, name: &str) -> Result<(Child, String)> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let mut child = command.spawn().with_context(|| format!("{name} is not installed"))?;
    let (tell, told) = std::sync::mpsc::channel();
    let outputs: [Option<Box<dyn std::io::Read + Send>>; 2] =
        [child.stdout.take().map(|pipe| Box::new(pipe) as _), child.stderr.take().map(|pipe| Box::new(pipe) as _)];
    for output in outputs.into_iter().flatten() {
        let tell = tell.clone();
        // Read to the end: a server whose log nobody reads stops.
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let url = line.split([' ', ')', '(']).find(|word| word.starts_with("http://127.0.0.1:"));
                if let Some(url) = url {
                    let _ = tell.send(format!("{}/", url.trim_end_matches('/')));
                }
            }
        });
    }
    drop(tell);
    match told.recv_timeout(Duration::from_secs(20)) {
        Ok(url) => Ok((child, url)),
        Err(_) => {
            let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
            let _ = child.wait();
            bail!("{name} did not say where it listens")
        }
    }
}

/// The Go program, built into the target folder, by a name of its servers.
fn go(folder: &Path, name: &str) -> Result<Command> {
    let program = target()?.join("everyday-go");
    let built = ["go", "/usr/local/go/bin/go"].iter().find_map(|go| {
        let mut command = Command::new(go);
        command.arg("build").arg("-o").arg(&program).arg(folder.join("everyday.go")).env("GOFLAGS", "-mod=mod").env("GO111MODULE", "off");
        command.output().ok()
    });
    let built = built.context("go is not installed")?;
    if !built.status.success() {
        bail!("go build: {}", String::from_utf8_lossy(&built.stderr));
    }
    let mut command = Command::new(program);
    command.arg(name);
    Ok(command)
}

/// One that nobody listens on.
fn free_port() -> Result<u16> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Waits until somebody listens there.
fn await_listener(port: u16) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(10);
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        if Instant::now() > deadline {
            bail!("nobody listens on port {port}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Python with Flask and gunicorn in an environment of its own, made where it is not there yet.
fn python_environment() -> Result<PathBuf> {
    let folder = target()?.join("python");
    if folder.join("bin/gunicorn").exists() {
        return Ok(folder);
    }
    let made = Command::new("python3").args(["-m", "venv"]).arg(&folder).output().context("python3 is not installed")?;
    if !made.status.success() {
        bail!("python3 -m venv: {}", String::from_utf8_lossy(&made.stderr));
    }
    let installed = Command::new(folder.join("bin/pip")).args(["install", "--quiet", "flask", "gunicorn"]).output()?;
    if !installed.status.success() {
        bail!("pip install: {}", String::from_utf8_lossy(&installed.stderr));
    }
    Ok(folder)
}

/// A folder beside this program, on a disk rather than in memory.
fn target() -> Result<PathBuf> {
    let program = std::env::current_exe().context("this program's own file is not known")?;
    let folder = program.parent().context("it lies nowhere")?.join("gallery");
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Held;

    fn shown(right: &str, kind: Option<&str>) -> Shown {
        Shown {
            server: "x".to_owned(),
            load: "run".to_owned(),
            right: vec![right.to_owned()],
            kind: kind.map(str::to_owned),
            sentence: String::new(),
            contradictions: Vec::new(),
            left_out: None,
        }
    }

    #[test]
    fn a_wrong_cause_is_a_miss_and_one_that_is_not_told_is_none() {
        let mut all: Vec<Shown> = (0..39).map(|_| shown("lock", Some("lock"))).collect();
        all.push(shown("lock", Some("not_visible")));
        assert_eq!(Gallery::tell(&all).proofs.iter().map(|it| it.held).collect::<Vec<_>>(), [Held::Held; 3]);
        all.push(shown("disk", Some("worker_pool")));
        assert_eq!(Gallery::tell(&all).proofs[1].held, Held::Missed);
        all[0].contradictions.push(("one".to_owned(), "other".to_owned()));
        assert_eq!(Gallery::tell(&all).proofs[2].held, Held::Missed);
    }

    #[test]
    fn every_case_has_a_name_of_its_own_and_the_short_ones_are_among_them() {
        let names: std::collections::BTreeSet<_> = CASES.iter().map(|case| case.about).collect();
        assert_eq!(names.len(), CASES.len());
        assert!(SHORT.iter().all(|name| names.contains(name)));
    }
}
