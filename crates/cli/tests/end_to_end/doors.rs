//! What every front door has in common: a link by its name, its own usage on mistakes, three lines at most beside the report, silence
//! if asked for, a place in the history, and words from `loadline compat`.

use std::process::Command;

use testbed::{Config, Testbed};

use crate::session::{Ran, Session};

/// One front door.
struct Door {
    name: &'static str,
    /// Measures `URL`.
    measure: &'static str,
    /// Keeps loadline's own remarks back; put behind `Q`.
    quiet: &'static str,
    /// A mistake, the number it ends with, and what is shown of the usage.
    mistake: (&'static str, i32, &'static str),
    /// What its report holds.
    report: &'static str,
}

const DOORS: &[Door] = &[
    Door {
        name: "wrk",
        measure: "Q -t1 -c2 -d1 URL",
        quiet: "-q",
        mistake: ("--nope http://h/", 1, "Usage: wrk <options> <url>"),
        report: "Requests/sec:",
    },
    Door {
        name: "wrk2",
        measure: "Q -t1 -c2 -d1 -R50 URL",
        quiet: "-q",
        mistake: ("--nope http://h/", 1, "Usage: wrk2 <options> <url>"),
        report: "Requests/sec:",
    },
    Door {
        name: "wrktest",
        measure: "Q -d out --levels 1 --duration 1s URL",
        quiet: "-q",
        mistake: ("--nope http://h/", 0, "Usage: wrktest [-h]"),
        report: "Now plot according to",
    },
    Door {
        name: "ab",
        measure: "Q -n 20 -c 2 URL",
        quiet: "-q",
        mistake: ("-Q http://h/", 22, "Usage: ab [options]"),
        report: "Requests per second:",
    },
    Door {
        name: "vegeta",
        measure: "attack Q -targets=targets -rate=20 -duration=1s -output=out.gob",
        quiet: "-quiet",
        mistake: ("attack -nope", 2, "Usage of vegeta attack:"),
        report: "",
    },
    Door {
        name: "hey",
        measure: "Q -n 20 -c 2 URL",
        quiet: "-quiet",
        mistake: ("-nope http://h/", 2, "Usage: hey [options...] <url>"),
        report: "Status code distribution:",
    },
    Door {
        name: "siege",
        measure: "Q -R rc -c 2 -r 5 URL",
        quiet: "--no-remarks",
        mistake: ("-x http://h/", 0, "Usage: siege [options]"),
        report: "Availability:",
    },
    Door {
        name: "webbench",
        measure: "Q -c 2 -t 1 URL",
        quiet: "-q",
        mistake: ("--nope http://h/", 2, "webbench [option]... URL"),
        report: "pages/min",
    },
    Door {
        name: "jmeter",
        measure: "-n Q -t plan.jmx",
        quiet: "--no-remarks",
        mistake: ("--nope", 1, "jmeter -n -t plan.jmx [options]"),
        report: "summary =     20 in ",
    },
];

/// A test plan of two users, ten times each.
fn plan(url: &str) -> String {
    format!(
        "<jmeterTestPlan><hashTree><TestPlan/><hashTree><ThreadGroup><stringProp name=\"ThreadGroup.num_threads\">2</stringProp>\
         <elementProp name=\"ThreadGroup.main_controller\"><stringProp name=\"LoopController.loops\">10</stringProp></elementProp>\
         </ThreadGroup><hashTree><HTTPSamplerProxy testname=\"x\"><stringProp name=\"HTTPSampler.path\">{url}</stringProp>\
         </HTTPSamplerProxy><hashTree/></hashTree></hashTree></hashTree></jmeterTestPlan>"
    )
}

/// A server whose every other answer is an error.
fn failing() -> Testbed {
    Testbed::start(Config::new().everywhere("status=503&share=0.5".parse().unwrap())).unwrap()
}

/// A directory with what the doors read, and links by all their names in `bin`.
fn session(url: &str) -> Session {
    let mut session = Session::new()
        .file("targets", &format!("GET {url}\n"))
        .file("plan.jmx", &plan(url))
        .file("rc", "json_output = false\nverbose = false\nprotocol = HTTP/1.1\nconnection = close\n");
    let ran = session.loadline("links bin").exits(0);
    let linked: Vec<&str> = ran.stdout.lines().filter_map(|line| line.rsplit_once("/bin/").map(|(_, name)| name)).collect();
    let mut named: Vec<&str> = DOORS.iter().map(|door| door.name).collect();
    named.sort_unstable();
    let mut sorted = linked.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, named, "every front door has its link, and is tested here");
    session
}

/// Through the link of that name.
fn linked(session: &Session, name: &str, words: &str) -> Ran {
    let mut command = Command::new(session.path("bin").join(name));
    command.args(words.split(' ').filter(|word| !word.is_empty())).current_dir(session.path("."));
    command.env_clear().env("XDG_DATA_HOME", session.data("")).env("HOME", session.path("."));
    let ran = command.output().unwrap();
    Ran {
        exit: ran.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&ran.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&ran.stderr).into_owned(),
    }
}

/// The lines of loadline's own.
fn remarks(ran: &Ran) -> Vec<&str> {
    ran.stderr.lines().filter(|line| line.starts_with("loadline: ")).collect()
}

#[test]
fn each_says_three_lines_at_most_beside_the_report_or_none_and_is_kept_in_the_history() {
    let server = failing();
    let url = server.url("/x");
    let mut session = session(&url);
    for (before, Door { name, measure, quiet, report, .. }) in DOORS.iter().enumerate() {
        let line = |quiet: &str| measure.replace("URL", &url).replace('Q', quiet);
        let line = [line(""), line(quiet)];
        let talking = linked(&session, name, &line[0]);
        let said = remarks(&talking);
        assert!((1..=3).contains(&said.len()), "{name}:\n{}", talking.stderr);
        let silent = linked(&session, name, &line[1]);
        assert_eq!(remarks(&silent), Vec::<&str>::new(), "{name}");
        for ran in [&talking, &silent] {
            assert!(format!("{}{}", ran.stdout, ran.stderr).contains(report), "{name}:\n{}{}", ran.stdout, ran.stderr);
            assert!(!ran.stderr.contains("panicked") && !ran.stdout.contains("loadline: "), "{name}:\n{}", ran.stderr);
        }
        let listed = session.loadline("runs --json").exits(0);
        let runs: serde_json::Value = serde_json::from_str(&listed.stdout).unwrap();
        assert_eq!(runs["runs"].as_array().unwrap().len(), 2 * (before + 1), "{name} is in the history");
    }
}

#[test]
fn each_shows_its_own_usage_to_whoever_makes_a_mistake() {
    let session = session("http://127.0.0.1:1/");
    for Door { name, mistake: (words, exit, usage), .. } in DOORS {
        let ran = linked(&session, name, words);
        assert_eq!(ran.exit, *exit, "{name} {words}:\n{}{}", ran.stdout, ran.stderr);
        assert!(format!("{}{}", ran.stdout, ran.stderr).contains(usage), "{name} {words}:\n{}{}", ran.stdout, ran.stderr);
        // By its first word it is the same.
        let mut other = Session::new();
        let by_word = other.loadline(&format!("{name} {words}"));
        assert_eq!((by_word.exit, by_word.stdout, by_word.stderr), (ran.exit, ran.stdout, ran.stderr), "{name} {words}");
    }
}

#[test]
fn compat_knows_each_and_runs_nothing() {
    // Nobody listens there, and nothing is looked up or opened.
    let mut session = session("http://127.0.0.1:1/");
    for Door { name, measure, quiet, mistake: (wrong, ..), .. } in DOORS {
        let line = measure.replace("URL", "http://127.0.0.1:1/").replace('Q', quiet);
        session.loadline(&format!("compat {name} {line}")).exits(0).says("supported");
        session.loadline(&format!("compat loadline {name} {line}")).exits(0);
        session.loadline(&format!("compat {name} {wrong}")).exits(1).says("NOT SUPPORTED");
    }
    assert!(!session.path("out").exists() && !session.path("out.gob").exists());
}
