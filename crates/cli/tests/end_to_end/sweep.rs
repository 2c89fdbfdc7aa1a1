//! `loadline sweep`, `diff` and `demo --serve`: the ladder, its files, and how it ends.

use std::fs;

use rustix::process::Signal;
use testbed::{Config, Testbed};

use crate::session::{Session, prose, server};

const ENDINGS: [&str; 7] = [".dat", ".json", ".md", "_qps_ttlb.png", "_qps_ttlb.svg", "_successrate.png", "_successrate.svg"];

fn files(name: &str) -> Vec<String> {
    ENDINGS.iter().map(|ending| format!("_output/loadline/{name}{ending}")).collect()
}

#[test]
fn a_sweep_prints_a_row_a_level_and_writes_its_files() {
    let server = server();
    let mut session = Session::new();
    let ran =
        session.loadline(&format!("sweep {} --levels 1,4,2 -n 40 --cooldown 0s", server.url("/healthz"))).exits(0).complains_of_nothing();
    assert_eq!(server.counts().path("/healthz"), 120);
    assert_eq!(session.files(), files("healthz"));
    for ending in ENDINGS {
        assert!(ran.stdout.contains(&format!("_output/loadline/healthz{ending}\n")), "{ending}:\n{}", ran.stdout);
    }
    ran.says("users").says("requests a second").says("No request failed at any level.");
    let levels: Vec<String> =
        session.read("_output/loadline/healthz.dat").lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(levels, ["1", "2", "4"]);
    let result = session.json("_output/loadline/healthz.json");
    assert_eq!(result["trials"].as_array().unwrap().len(), 3);
    assert_eq!(result["trials"][2]["summary"]["requests"]["due"], 40);
    assert!(fs::read(session.path("_output/loadline/healthz_qps_ttlb.png")).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn levels_are_repeated_and_named_as_asked() {
    let server = server();
    let mut session = Session::new();
    let line = format!("sweep {} --levels 1,2 --repeat 3 -n 10 --cooldown 0s --name before --dir results", server.url("/"));
    session.loadline(&line).exits(0).says("results/before.dat");
    assert_eq!((server.counts().received, session.files().len()), (60, 7));
    session
        .loadline(&line)
        .exits(2)
        .complains("error: the file 'results/before.dat' and 6 more of this name exist\n  help: give another --name or --dir, or --force");
    assert_eq!(server.counts().received, 60);
    session.loadline(&format!("{line} --force --quiet")).exits(0).complains_of_nothing();
}

#[test]
fn later_rounds_measure_the_same_levels_in_another_order() {
    let server = server();
    let mut session = Session::new();
    let line = format!("sweep {} --levels 1,2,3,4,5,6,7,8 --repeat 2 -n 8 --cooldown 0s --all-levels --seed 7", server.url("/"));
    session.loadline(&format!("{line} --name one")).exits(0).says("Round 2 of 2, in random order").says("All rounds together");
    session.loadline(&format!("{line} --name two")).exits(0);
    let order = |session: &Session, name: &str| -> Vec<u64> {
        let result = session.json(&format!("_output/loadline/{name}.json"));
        result["trials"].as_array().unwrap().iter().map(|trial| trial["level"]["users"].as_u64().unwrap()).collect()
    };
    let one = order(&session, "one");
    assert_eq!(one[..8], [1, 2, 3, 4, 5, 6, 7, 8]);
    let mut again = one[8..].to_vec();
    assert_ne!(again, one[..8]);
    again.sort_unstable();
    assert_eq!(again, one[..8]);
    assert_eq!(one, order(&session, "two"), "the seed decides");
}

/// What describes the curve depends on this machine's mood; that file, page and screen say the same does not.
#[test]
fn what_a_sweep_says_of_its_curve_stands_in_every_place() {
    let server = server();
    let mut session = Session::alone();
    let url = server.url("/behave?pool=4:20ms");
    let line = format!("sweep '{url}' --levels 1,2,3,4,8,16,32 --repeat 2 -d 300ms --cooldown 0s --name pool");
    let ran = or_return!(session.judged(&line)).exits(0).says("best concurrency");
    let (result, page) = (session.json("_output/loadline/pool.json"), session.read("_output/loadline/pool.md"));
    let words = result["model"]["words"].as_array().unwrap();
    assert!(!words.is_empty(), "{}", result["model"]);
    let said = prose(&ran.stdout);
    for words in words {
        let words = words.as_str().unwrap();
        assert!(page.contains(&words[1..]) && said.contains(&words[1..]), "{words}:\n{page}\n{said}");
    }
    let (model, refused) = (&result["model"]["chosen"], result["model"]["refused"].as_array().unwrap());
    assert!(model.is_object() || !refused.is_empty(), "without a model there is a reason: {}", result["model"]);
}

#[test]
fn a_sweep_measures_the_levels_it_chooses_itself() {
    let server = server();
    let mut session = Session::new();
    let url = server.url("/behave?usl=100:0.05:0.01");
    session.loadline(&format!("sweep '{url}' --adaptive=6 -d 300ms --cooldown 0s --name usl")).exits(0);
    let result = session.json("_output/loadline/usl.json");
    let planned: Vec<f64> = result["levels"].as_array().unwrap().iter().map(|level| level["users"].as_f64().unwrap()).collect();
    let measured = result["trials"].as_array().unwrap();
    assert!(planned.len() == measured.len() && (2..=6).contains(&planned.len()), "{planned:?}");
    assert!(planned.is_sorted_by(|a, b| a < b) && planned.starts_with(&[1.0, 2.0]), "{planned:?}");
}

#[test]
fn a_promise_decides_which_concurrency_is_the_best() {
    let server = server();
    let mut session = Session::new();
    let url = server.url("/behave?pool=2:20ms");
    let line = format!("sweep '{url}' --levels 1,2,16 -d 500ms --cooldown 0s --name pool --force");
    or_return!(session.undisturbed(&format!("{line} --slo 'mean < 10s' --slo 'failed < 1%'")))
        .exits(0)
        .says("keeps mean < 10s and failed < 1% is");
    or_return!(session.undisturbed(&format!("{line} --slo 'mean < 1us'"))).exits(0).says("No level keeps mean < 1us");
    let result = session.json("_output/loadline/pool.json");
    assert_eq!((&result["slo"][0], &result["best"]["best"]), (&"mean < 1us".into(), &"promise_never_kept".into()));
}

#[test]
fn contradictions_of_adaptive_levels_and_promises_are_told_together() {
    let mut session = Session::new();
    let ran = session.loadline("sweep http://127.0.0.1:1/ --adaptive=3 --levels 1,2 --all-levels --slo 'p99 < soon'").exits(2);
    for part in ["--adaptive=3 is too few levels", "and --levels chooses", "and --all-levels measures", "--slo: ", "p99 < soon", "^^^^"] {
        assert!(ran.stderr.contains(part), "{part}:\n{}", ran.stderr);
    }
}

#[test]
fn a_ladder_of_rates_is_open_load() {
    let server = server();
    let mut session = Session::new();
    session
        .loadline(&format!("sweep {} --rates 100/s,200/s -d 300ms --cooldown 0s --arrivals even", server.url("/healthz")))
        .exits(0)
        .says("offered");
    let result = session.json("_output/loadline/healthz.json");
    let due: Vec<&serde_json::Value> =
        result["trials"].as_array().unwrap().iter().map(|trial| &trial["summary"]["requests"]["due"]).collect();
    assert_eq!(due, [30, 60]);
}

#[test]
fn climbing_ends_when_nothing_succeeds_and_goes_on_when_told() {
    let server = server();
    let url = server.url("/behave?status=503");
    let line = format!("sweep '{url}' --levels 1,2,3,4,5 -n 10 --cooldown 0s");
    let mut session = Session::new();
    session.loadline(&line).exits(0).says("No request succeeded at any level").says("--all-levels goes on");
    let measured = |session: &Session| session.json("_output/loadline/behave.json")["trials"].as_array().unwrap().len();
    assert_eq!(measured(&session), 2);
    session.loadline(&format!("{line} --all-levels --force")).exits(0);
    assert_eq!(measured(&session), 5);
}

#[test]
fn an_interrupted_sweep_keeps_what_it_measured() {
    let server = Testbed::start(Config::new()).unwrap();
    let mut session = Session::new();
    let running = session.start(&format!("sweep {} --levels 1,2 -d 1h --warmup 0s", server.url("/healthz")));
    let ran = running.once(|| server.counts().answered > 100).signal(Signal::INT).end().exits(130);
    ran.says("Stopped: interrupted").says("healthz.dat");
    assert_eq!(session.files(), files("healthz"));
    assert_eq!(session.json("_output/loadline/healthz.json")["trials"].as_array().unwrap().len(), 1);
}

#[test]
fn a_level_that_this_machine_cannot_open_is_told_before_the_run() {
    let server = server();
    let mut session = Session::new();
    let ran = session.loadline(&format!("sweep {} --levels 1,8000000 -t 1 -n 8000000", server.url("/healthz"))).exits(2);
    ran.complains("8000000 connections need 8000064 open files").complains("help: ulimit -n");
    assert_eq!(server.counts().received, 0);
    assert_eq!(session.files(), [""; 0]);
}

#[test]
fn mistakes_of_ladder_load_and_files_come_in_one_message() {
    let mut session = Session::new().file("taken", "");
    let ran = session.loadline("sweep atest --levels 1,0 --repeat 0 --cooldown x -c 5 -r 5/s --timeout 0s --name a/b").exits(2);
    for part in [
        "'atest'",
        "--levels '1,0'",
        "--repeat '0'",
        "--cooldown 'x'",
        "--connections 5",
        "--rate 5/s",
        "--timeout is zero",
        "--name 'a/b'",
    ] {
        assert!(ran.stderr.contains(part), "{part}:\n{}", ran.stderr);
    }
    session
        .loadline("sweep http://127.0.0.1:1/ --dir taken/x")
        .exits(2)
        .complains("the directory 'taken/x' cannot be written to")
        .complains("--dir");
    session
        .loadline("sweep http://127.0.0.1:1/ -c '0 to 5 for 2s'")
        .exits(2)
        .complains("--connections 0 to 5 for 2s is a course of its own")
        .complains("help: leave --connections out: --levels says how many users");
}

#[test]
fn two_sweeps_are_put_side_by_side() {
    let mut session = Session::new()
        .file("old.dat", "1 100.00 9.900 100.00\n10 900.00 11.000 99.50\n")
        .file("new.dat", "1 110.00 9.100 100.00\n20 990.00 20.000 100.00\n");
    let ran = session.loadline("diff old.dat new.dat").exits(0).complains_of_nothing();
    assert!(ran.stdout.contains("1.10") && ran.stdout.contains("only A") && ran.stdout.contains("only B"), "{}", ran.stdout);
    let charts = [".qps.ttlb.diff.png", ".qps.ttlb.diff.svg", ".successrate.diff.png", ".successrate.diff.svg"]
        .map(|ending| format!("_output/loadline/old_new{ending}"));
    assert_eq!(session.files()[..4], charts);
    session.loadline("diff old.dat new.dat").exits(2).complains("exist").complains("--force");
    session.loadline("diff old.dat new.dat --force").exits(0);
    session.loadline("diff old.dat new.dat --dir charts").exits(0).says("charts/old_new.qps.ttlb.diff.svg");
}

#[test]
fn sweeps_that_repeat_their_levels_are_judged_level_by_level() {
    let server = server();
    let mut session = Session::alone();
    for (name, delay, repeat) in [("quick", 5, 5), ("slow", 20, 5), ("once", 5, 1)] {
        let url = server.url(&format!("/behave?delay={delay}ms"));
        or_return!(session.undisturbed(&format!("sweep '{url}' --levels 1,2 -n 40 --repeat {repeat} --cooldown 0s --name {name} --dir .")))
            .exits(0);
    }
    let ran = session.loadline("diff quick.json slow.json").exits(0);
    assert_eq!(ran.stdout.matches("WORSE").count(), 2, "{}", ran.stdout);
    ran.says("1 user").says("5, 5").says("from the repetitions of each level");
    session.loadline("diff quick.json once.json").exits(0).says("Each level was measured once").says("--repeat 5");
    session.loadline("diff quick.json slow.dat --force").exits(0).says("Each level was measured once");
}

#[test]
fn a_sweep_can_be_compared_with_an_old_file() {
    let server = server();
    let mut session = Session::new().file("old.dat", "200 100.00  100.00\n");
    session.loadline(&format!("sweep {} --levels 1,2 -n 10 --cooldown 0s", server.url("/healthz"))).exits(0);
    session.loadline("diff old.dat _output/loadline/healthz.json").exits(0).says("only B");
}

#[test]
fn what_is_no_sweep_is_told_with_its_line() {
    let mut session = Session::new()
        .file("good.dat", "1 100.00 9.900 100.00\n")
        .file("bad.dat", "1 100.00 9.900 100.00\n2 many 9 100\n")
        .file("cut.json", "{\"schema\":")
        .file("empty.dat", "");
    let ran =
        session.loadline("diff bad.dat missing.dat").exits(2).complains("error: 'bad.dat' is no sweep: line 2").complains("'2 many 9 100'");
    ran.complains("error: 'missing.dat' cannot be read: there is no such file or directory\n  help: give a sweep's .dat file");
    session.loadline("diff good.dat cut.json").exits(2).complains("'cut.json' is no sweep: it is damaged, or no result: line 1");
    session.loadline("diff empty.dat good.dat").exits(2).complains("'empty.dat' is no sweep: it holds no level");
    assert_eq!(session.files().len(), 4);
}

#[test]
fn the_demo_api_is_left_running_until_it_is_interrupted() {
    // Only the program knows which port is free, and says so.
    let mut session = Session::new();
    let out = fs::File::create(session.path("said")).unwrap();
    session = session.stdout_to(out);
    let running = session.start("demo --serve 127.0.0.1:0");
    let running = running.once(|| session.read("said").contains("loadline sweep http://127.0.0.1:"));
    let said = session.read("said");
    assert!(said.contains("/get_result") && said.contains("Ctrl-C ends it"), "{said}");
    let url = said.lines().find_map(|line| line.trim().strip_prefix("loadline run ")).unwrap().to_owned();
    session.loadline(&format!("run {url} -n 30")).exits(0);
    running.signal(Signal::INT).end().exits(0).complains("served 30 requests");
    session.loadline("demo --serve nowhere").exits(2).complains("--serve 127.0.0.1:8080");
    let taken = server();
    session.loadline(&format!("demo --serve {}", taken.addr())).exits(3).complains("address already in use");
}
