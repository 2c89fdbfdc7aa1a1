//! `loadline compare`: pairs, verdicts, commands that are started and stopped, and how it ends.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::session::{Ran, Session, prose, server};

/// So few connections and so long a delay (10 ms and more) that neither the server's nor loadline's processor matters, nor how long this
/// machine takes to wake a thread.
const SHAPE: &str = "-c 4 -d 500ms --cooldown 0s";

/// A comparison; again some times while so many pairs did not count, for the host of this machine took its processors away.
fn compared(session: &mut Session, line: &str, name: &str, wanted: usize) -> Option<Ran> {
    let path = session.path(&format!("_output/loadline/{name}.compare.json"));
    session.again_while(&format!("{line} --name {name}"), |_| {
        let result = fs::read(&path).ok().and_then(|text| serde_json::from_slice::<serde_json::Value>(&text).ok());
        result.is_some_and(|result| sound(&result) < wanted)
    })
}

/// How many pairs count.
fn sound(result: &serde_json::Value) -> usize {
    result["pairs"].as_array().unwrap().iter().filter(|pair| pair["left_out"].is_null()).count()
}

fn pairs(session: &Session, name: &str) -> usize {
    session.json(&format!("_output/loadline/{name}.compare.json"))["pairs"].as_array().unwrap().len()
}

/// So many pairs count. On a busy machine another is measured in the place of one that does not, as long as there are any.
#[track_caller]
fn count_pairs(session: &Session, name: &str, wanted: usize) {
    let result = session.json(&format!("_output/loadline/{name}.compare.json"));
    let (pairs, sound) = (result["pairs"].as_array().unwrap(), sound(&result));
    assert!(sound == wanted || sound < wanted && pairs.len() > wanted, "{sound} of {} pairs count, and {wanted} are wanted", pairs.len());
}

/// A port that is free, for a command that must be told one.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A shell that waits for the server it started: ending the shell alone would leave the server behind.
fn demo_at(port: u16) -> String {
    format!("{} demo --serve 127.0.0.1:{port}; true", env!("CARGO_BIN_EXE_loadline"))
}

#[test]
fn a_server_that_takes_four_times_as_long_is_worse() {
    let (server, mut session) = (server(), Session::alone());
    let (a, b) = (server.url("/behave?delay=10ms"), server.url("/behave?delay=40ms"));
    let ran = or_return!(compared(&mut session, &format!("compare '{a}' '{b}' {SHAPE} --pairs 8 --progress none"), "slow", 8))
        .exits(1)
        .complains_of_nothing();
    ran.says("B is worse: ").says("WORSE").says(" pairs of 500 ms at 4 concurrent users").says(&format!("  A  {a}\n  B  {b}\n"));
    assert_eq!(
        session.files(),
        [".compare.json", ".compare.md", "_shift.png", "_shift.svg"].map(|ending| format!("_output/loadline/slow{ending}"))
    );
    let result = session.json("_output/loadline/slow.compare.json");
    assert_eq!(result["schema"], "loadline.compare/1");
    assert_eq!(result["comparison"]["verdict"]["verdict"], "worse");
    let pairs = result["pairs"].as_array().unwrap();
    let first: Vec<&str> = pairs.iter().map(|pair| pair["first"].as_str().unwrap()).collect();
    count_pairs(&session, "slow", 8);
    assert_eq!(first[..8].iter().filter(|side| **side == "A").count(), 4, "{first:?}");
    for (number, pair) in pairs.iter().enumerate() {
        let seeds = [&pair["a"]["plan"]["seed"], &pair["b"]["plan"]["seed"]];
        assert_eq!(seeds, [1 + number, 1 + number]);
    }
    session.loadline(&format!("compare '{a}' '{b}' {SHAPE} --name slow")).exits(2).complains("--force");
    let ran = or_return!(compared(&mut session, &format!("compare '{b}' '{a}' {SHAPE} --pairs 8 --quiet --force"), "slow", 8)).exits(0);
    ran.says("B is better: ");
}

#[test]
fn a_server_is_not_worse_than_itself() {
    let (server, mut session) = (server(), Session::alone());
    let url = server.url("/behave?delay=20ms");
    let ran = or_return!(compared(&mut session, &format!("compare '{url}' '{url}' {SHAPE} --pairs 6 --margin 50%"), "a_b", 6));
    assert!(ran.exit == 0 || ran.exit == 4, "{ran:?}");
    assert!(!ran.stdout.contains("WORSE"), "{}", ran.stdout);
    count_pairs(&session, "a_b", 6);
}

#[test]
fn open_load_falls_due_alike_on_both_sides() {
    let (server, mut session) = (server(), Session::new());
    let line = format!("compare {} {} -r 100/s -d 300ms --cooldown 0s --pairs 2 --name open", server.url("/healthz"), server.url("/"));
    session.loadline(&line).exits(4);
    for pair in session.json("_output/loadline/open.compare.json")["pairs"].as_array().unwrap() {
        assert_eq!(pair["a"]["requests"]["due"], pair["b"]["requests"]["due"]);
    }
}

#[test]
fn fewer_than_five_pairs_give_no_verdict() {
    let (server, mut session) = (server(), Session::alone());
    let (a, b) = (server.url("/behave?delay=20ms"), server.url("/behave?delay=90ms"));
    let ran = or_return!(compared(&mut session, &format!("compare '{a}' '{b}' -c 2 -n 10 --cooldown 0s --pairs 4"), "few", 4)).exits(4);
    ran.says("No verdict").says("takes at least 5 pairs, and here are 4").complains("4 pairs give no verdict");
    count_pairs(&session, "few", 4);
}

#[test]
fn the_noise_of_the_first_pairs_says_how_many_are_measured() {
    let (server, mut session) = (server(), Session::alone());
    let (a, b) = (server.url("/behave?delay=10ms"), server.url("/behave?delay=40ms"));
    // A margin so wide that five pairs are enough on any machine.
    let ran = or_return!(compared(&mut session, &format!("compare '{a}' '{b}' {SHAPE} --margin 90%"), "quiet", 5)).exits(1);
    ran.complains("5 pairs are enough: the change of ").says("B is worse: ");
    let result = session.json("_output/loadline/quiet.compare.json");
    count_pairs(&session, "quiet", 5);
    assert_eq!(result["pairs_planned"], 5);
    // And one so narrow that no machine is that quiet.
    let short = "-c 2 -n 10 --cooldown 0s --margin 0.0001%";
    session.loadline(&format!("compare '{a}' '{a}' {short} --name loud")).complains("20 pairs are measured, the most without --pairs");
    count_pairs(&session, "loud", 20);
}

#[test]
fn commands_are_started_and_stopped_around_every_run() {
    let mut session = Session::alone();
    let (port, log) = (free_port(), session.path("starts"));
    let command = format!("echo started >> {}; {}", log.display(), demo_at(port));
    let line = format!(
        "compare --a '{command}' --b '{command}' --url 'http://127.0.0.1:{port}/behave?delay=20ms' -c 2 -n 20 --warmup 0s --cooldown 0s --pairs 2"
    );
    let ran = session.loadline(&line).exits(4);
    assert!(prose(&ran.stdout).contains("each server started"), "{}", ran.stdout);
    assert_eq!(session.read("starts"), "started\n".repeat(2 * pairs(&session, "a_b")));
    assert!(TcpListener::bind(("127.0.0.1", port)).is_ok(), "no server is left behind");
    count_pairs(&session, "a_b", 2);
}

/// A repository of two commits, which differ by what stands in the file `version`, and where it is.
fn repository(session: &Session) {
    let git = |line: &[&str]| {
        let who = ["-c", "user.name=t", "-c", "user.email=t@t.test", "-c", "commit.gpgsign=false"];
        let done = Command::new("git").args(who).args(line).current_dir(session.path("")).output().expect("git is there");
        assert!(done.status.success(), "{line:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    git(&["init", "--quiet", "--initial-branch", "main"]);
    for version in ["one", "two"] {
        fs::write(session.path("version"), format!("{version}\n")).unwrap();
        git(&["add", "version"]);
        git(&["commit", "--quiet", "-m", version]);
    }
}

#[test]
fn two_revisions_are_built_and_started_in_folders_of_their_own() {
    let mut session = Session::new();
    repository(&session);
    // What is not committed is of neither.
    fs::write(session.path("version"), "three\n").unwrap();
    let (port, log) = (free_port(), session.path("starts"));
    let start = format!("cat built >> {}; {}", log.display(), demo_at(port));
    let line = |build: &str| {
        format!(
            "compare --a-ref HEAD~1 --build '{build}' --start '{start}' --url http://127.0.0.1:{port}/healthz -c 1 -n 20 --warmup 0s --cooldown 0s \
             --pairs 2 --name refs --dir out --force"
        )
    };
    let ran = session.loadline(&line("cp version built")).exits(4);
    assert!(ran.stdout.contains("HEAD~1 (") && ran.stdout.contains("HEAD ("), "{}", ran.stdout);
    ran.complains("building HEAD~1 (").complains("building HEAD (");
    let starts = session.read("starts");
    let of = |version: &str| starts.lines().filter(|line| *line == version).count();
    assert!(of("one") >= 2 && of("one") == of("two") && of("three") == 0, "{starts}");
    let left = Command::new("git").args(["worktree", "list"]).current_dir(session.path("")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&left.stdout).lines().count(), 1, "no worktree is left behind");
    session.loadline(&line("echo no such header; exit 2")).exits(3).complains("cannot be built").complains("    no such header\n");
    let missing = format!("compare --a-ref nowhere --start true --url http://127.0.0.1:{port}/");
    session.loadline(&missing).exits(2).complains("--a-ref 'nowhere' is no revision of this repository");
    session.loadline("compare --a-ref HEAD --url http://127.0.0.1:9/").exits(2).complains("--a-ref and --start together");
}

#[test]
fn a_command_that_ends_early_is_shown_with_its_last_words() {
    let mut session = Session::new();
    let port = free_port();
    let line = |a: &str| format!("compare --a '{a}' --b '{a}' --url http://127.0.0.1:{port}/ -n 10 --cooldown 0s --pairs 6");
    let ran = session.loadline(&line("echo cannot bind; echo no such user >&2; exit 7")).exits(3);
    ran.complains("ended with exit status 7 before it listened").complains("    cannot bind\n    no such user\n").complains("help: ");
    // A child of the command that outlives it goes with it.
    let left = "sleep 3600 & exit 1";
    session.loadline(&line(left)).exits(3).complains("it said nothing");
    session.loadline(&format!("{} --ready-within 50ms", line("exec sleep 3600"))).exits(3).complains("did not listen");
    let taken = server();
    session
        .loadline(&format!("compare --a true --b true --url {} -n 10", taken.url("/")))
        .exits(3)
        .complains("something listens at")
        .complains("already");
}

#[test]
fn results_are_run_again_unless_they_are_unlike() {
    let (server, mut session) = (server(), Session::new());
    for (name, connections) in [("old", 2), ("new", 2), ("wide", 3)] {
        session.loadline(&format!("run {} -c {connections} -n 12 --out json={name}.json", server.url("/healthz"))).exits(0);
    }
    session.loadline("compare old.json new.json --pairs 1 --cooldown 0s").exits(4);
    assert_eq!(pairs(&session, "old_new"), 1);
    let ran = session.loadline("compare old.json wide.json --pairs 1 --cooldown 0s").exits(2);
    ran.complains("connections is 2 in A and 3 in B").complains("--force");
    session.loadline("compare old.json wide.json --pairs 1 --cooldown 0s --force").exits(4).says("The plans differ: connections is 2 in A");
    session.loadline(&format!("compare old.json {} --pairs 1 --cooldown 0s --name mixed", server.url("/"))).exits(4);
    assert_eq!(session.json("_output/loadline/mixed.compare.json")["pairs"][0]["b"]["requests"]["due"], 12);
    session.loadline("compare missing.json old.json").exits(2).complains("'missing.json' cannot be read");
}

#[test]
fn a_plan_written_by_hand_is_a_side_too() {
    let server = server();
    let plan = |connections: u32| format!("{{\"url\": \"{}\", \"connections\": {connections}, \"requests\": 12}}", server.url("/healthz"));
    let mut session = Session::new()
        .file("a.json", &plan(2))
        .file("b.json", &plan(2))
        .file("wide.json", &plan(3))
        .file("odd.json", "{\"url\": \"http://a.test/\", \"conections\": 3}");
    session.loadline("compare a.json b.json --pairs 1 --cooldown 0s").exits(4);
    assert_eq!(session.json("_output/loadline/a_b.compare.json")["pairs"][0]["b"]["requests"]["due"], 12);
    session.loadline("compare a.json wide.json --pairs 1").exits(2).complains("connections is 2 in A and 3 in B");
    session.loadline("compare a.json odd.json --pairs 1").exits(2).complains("'odd.json' is a plan that cannot be used: unknown field");
    session.loadline("run --from a.json --out json=r.json").exits(0);
    assert_eq!(session.json("r.json")["requests"]["due"], 12);
}

#[test]
fn results_that_are_invalid_or_of_a_later_version_are_refused() {
    let plan = "{\"url\": \"http://127.0.0.1:1/\"}";
    let result = |schema: &str, standing: &str| {
        format!("{{\"schema\": \"{schema}\", \"plan\": {plan}, \"validity\": {{\"standing\": \"{standing}\"}}}}")
    };
    let mut session = Session::new()
        .file("fine.json", &result("loadline.run/1", "valid"))
        .file("limited.json", &result("loadline.run/1", "invalid"))
        .file("later.json", &result("loadline.run/2", "valid"));
    session.loadline("compare fine.json limited.json").exits(2).complains("'limited.json' is INVALID").complains("--force");
    session.loadline("compare fine.json later.json").exits(2).complains("written as 'loadline.run/2'").complains("reads 'loadline.run/1'");
    session.loadline("compare fine.json fine.json -d 100ms --cooldown 0s").exits(3).complains("error: A: ");
}

#[test]
fn promises_are_held_against_b() {
    let (server, mut session) = (server(), Session::alone());
    let (a, b) = (server.url("/behave?status=503"), server.url("/healthz"));
    let line = |a: &str, b: &str, name: &str| {
        format!("compare '{a}' '{b}' -c 2 -n 40 --cooldown 0s --pairs 2 --name {name} --check 'failed < 10%'")
    };
    // Two pairs give no verdict; that a promise is broken is sure all the same.
    session.loadline(&line(&a, &b, "kept")).exits(4).says("held by B: failed < 10%: 0 of ");
    let ran = session.loadline(&line(&b, &a, "broken")).exits(1).complains("2 pairs give no verdict");
    ran.says("FAILED by B: failed < 10%: 80 of 80");
    let result = session.json("_output/loadline/broken.compare.json");
    assert_eq!((&result["checks"][0]["check"], &result["checks"][0]["verdict"]), (&"failed < 10%".into(), &"broken".into()));
    assert!(session.read("_output/loadline/broken.compare.md").contains("FAILED by B"));
    session.loadline(&format!("{} --check 'p99 < 5'", line(&b, &a, "typo"))).exits(2).complains("\n  p99 < 5\n        ^\n");
}

#[test]
fn a_command_does_not_outlive_loadline_however_that_ends() {
    for killed in [true, false] {
        let mut session = Session::new();
        let port = free_port();
        let command = demo_at(port);
        let line = format!(
            "compare --a '{command}' --b '{command}' --url 'http://127.0.0.1:{port}/behave?delay=1h' -c 2 -d 1h --timeout 1h --cooldown 0s"
        );
        let running = session.start(&line).once(|| TcpStream::connect(("127.0.0.1", port)).is_ok());
        if killed {
            running.signal(Signal::KILL).end();
        } else {
            // One signal at a time: two of a kind that are under way at once are one.
            let running = running.signal(Signal::INT).once_stderr_says("Ctrl-C again ends at once");
            running.signal(Signal::INT).once_stderr_says("ending at once").signal(Signal::INT).end().exits(130);
        }
        let deadline = Instant::now() + Duration::from_secs(60);
        while TcpListener::bind(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < deadline, "the server was left behind");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

#[test]
fn an_interrupted_comparison_keeps_its_pairs() {
    let (server, mut session) = (server(), Session::new());
    let line = format!("compare {0} {0} -c 1 -d 200ms --cooldown 0s --pairs 100000 --name cut", server.url("/behave?delay=5ms"));
    let running = session.start(&line);
    let file = session.path("_output/loadline/cut.compare.json");
    running.once(|| file.exists()).signal(Signal::INT).end().exits(130).says("Stopped: interrupted");
    assert!(pairs(&session, "cut") >= 1);
}

#[test]
fn a_side_that_cannot_be_reached_is_named() {
    let (server, mut session) = (server(), Session::new());
    let here = server.url("/healthz");
    let gone = format!("http://127.0.0.1:{}/", free_port());
    for (line, side) in [(format!("compare {gone} {here}"), "A"), (format!("compare {here} {gone}"), "B")] {
        let ran = session.loadline(&format!("{line} --pairs 6 -n 10")).exits(3);
        ran.complains(&format!("error: {side}: nothing listens on ")).complains("  help: ");
    }
    assert_eq!((server.counts().received, session.files().len()), (0, 0), "nothing was measured");
    // Both at once, when both are gone.
    let ran = session.loadline(&format!("compare {gone} {gone}x --pairs 6 -n 10")).exits(3);
    ran.complains("error: A: nothing listens on ").complains("\nerror: B: nothing listens on ");
}

#[test]
fn a_command_that_ends_while_it_is_loaded_is_shown_with_its_last_words() {
    let mut session = Session::new();
    let port = free_port();
    // It serves until it is asked for the first time.
    let served = format!(
        "{} demo --serve 127.0.0.1:{port} & server=$!; sleep 3; kill $server; echo out of memory >&2; exit 9",
        env!("CARGO_BIN_EXE_loadline")
    );
    let line = format!(
        "compare --a '{served}' --b '{served}' --url http://127.0.0.1:{port}/healthz -c 1 --pause 5ms -d 4s --cooldown 0s --pairs 6"
    );
    session
        .loadline(&line)
        .exits(3)
        .complains("ended with exit status 9 while it was loaded")
        .complains("    out of memory\n")
        .complains("help: ");
}

#[test]
fn how_far_apart_two_sides_are_is_measured_over_all_response_times() {
    let (server, mut session) = (server(), Session::alone());
    let (a, b) = (server.url("/behave?delay=15ms"), server.url("/behave?delay=45ms"));
    let ran = or_return!(compared(&mut session, &format!("compare '{a}' '{b}' -c 2 -n 40 --cooldown 0s --pairs 6"), "apart", 6));
    assert!(ran.stdout.contains("that to B takes longer in ") && ran.stdout.contains("They are furthest apart at "), "{}", ran.stdout);
    let distance = &session.json("_output/loadline/apart.compare.json")["distance"];
    assert!(distance["slower_share"].as_f64() > Some(0.9) && distance["gap"].as_f64() > Some(0.8), "{distance}");
    // Six pairs that all go the same way: one exchange of 32.
    assert!(distance["p"].as_f64() < Some(0.05) && distance["slower_share_interval"]["low"].as_f64() > Some(0.5), "{distance}");
}

#[test]
fn two_runs_that_were_not_measured_alike_are_put_side_by_side_only_by_force() {
    let (server, mut session) = (server(), Session::new());
    let url = server.url("/healthz");
    for (name, requests) in [("a", 60), ("b", 60), ("long", 70)] {
        session.loadline(&format!("run {url} -c 2 -n {requests} --out json={name}.json")).exits(0);
    }
    let ran = session.loadline("diff a.json b.json").exits(0);
    ran.says("that to B takes longer in ").says("may be chance");
    session
        .loadline("diff a.json long.json")
        .exits(2)
        .complains("error: the two were not measured alike: requests is 60 in A and 70 in B\n  help: measure both alike")
        .complains("--force");
    session.loadline("diff a.json long.json --force").exits(0).says("Not measured alike: requests is 60 in A and 70 in B.");
    let mut other = session.json("b.json");
    for (key, value) in [("system", "Linux 2.4.0"), ("loadline", "loadline 9.9.9")] {
        other["machine"][key] = value.into();
    }
    other["machine"]["cores"] = 128.into();
    let mut session = session.file("elsewhere.json", &other.to_string());
    let ran = session.loadline("diff a.json elsewhere.json").exits(2);
    for part in ["loadline is ", " and loadline 9.9.9 in B", " and Linux 2.4.0 in B", "the number of cores is ", " and 128 in B"] {
        assert!(ran.stderr.contains(part), "{part}:\n{}", ran.stderr);
    }
}

#[test]
fn mistakes_of_a_comparison_come_in_one_message() {
    let mut session = Session::new();
    for (line, part) in [
        ("compare", "nothing is given to compare"),
        ("compare http://127.0.0.1:1/", "only one side"),
        ("compare --a x --b y", "do not say where the commands serve"),
        ("compare --a x --url http://127.0.0.1:1/", "--a, --b and --url together"),
        ("compare http://a.test/ http://b.test/ --a x --b y --url http://c.test/", "and as commands too"),
    ] {
        session.loadline(line).exits(2).complains(part).complains("loadline compare http://old:8080/");
    }
    let ran = session.loadline("compare http://127.0.0.1:1/ http://127.0.0.1:1/ --pairs 0 --margin 3 --cooldown x -d 0s").exits(2);
    for part in ["--pairs '0' is zero", "--margin '3' is not a share from 0% to below 100%", "--cooldown 'x'", "--duration"] {
        assert!(ran.stderr.contains(part), "{part}:\n{}", ran.stderr);
    }
    session.loadline("compare http://127.0.0.1:1/ http://127.0.0.1:1/ --pairs 6 -d 100ms").exits(3).complains("127.0.0.1:1");
}
