//! The history: every result is saved on its own, found again by a reference, and not lost when the program is.

use std::fs;

use rustix::process::Signal;

use crate::session::{Session, server};

fn listed(session: &mut Session, filter: &str) -> Vec<serde_json::Value> {
    let ran = session.loadline(&format!("runs --json {filter}")).exits(0);
    let value: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    value["runs"].as_array().unwrap().clone()
}

#[test]
fn every_result_is_saved_on_its_own_and_shown_again() {
    let server = server();
    let url = server.url("/healthz");
    let mut session = Session::new();
    session.loadline("runs").exits(0).says("Nothing is saved yet");
    let run = session.loadline(&format!("run {url} -n 20 --tag b --tag a --note 'before the change'")).exits(0).says("saved as @last (");
    session.loadline(&format!("sweep {url} --levels 1,2 -d 200ms")).exits(0).says("saved as @last (");
    assert_eq!(session.files().iter().filter(|name| name.contains("history")).count(), 0, "nothing is left in the working directory");
    let runs = listed(&mut session, "");
    let kinds: Vec<&str> = runs.iter().map(|run| run["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["sweep", "run"]);
    assert_eq!(
        (&runs[1]["name"], &runs[1]["target"], &runs[1]["note"]),
        (&"healthz".into(), &url.as_str().into(), &"before the change".into())
    );
    assert_eq!((&runs[1]["tags"], &runs[1]["figures"]["failed_share"]), (&serde_json::json!(["a", "b"]), &0.0.into()));
    assert_eq!(listed(&mut session, "--tag a --kind run --since 1h --target healthz").len(), 1);
    assert_eq!(listed(&mut session, "--name nobody").len(), 0);
    // A trend is of one name and one kind.
    session
        .loadline("runs --trend")
        .exits(2)
        .complains("healthz (run), healthz (sweep)")
        .complains("choose one with --name NAME, and with --kind");
    let trend = session.loadline("runs --name 'heal*' --kind run --trend").exits(0).says("One run called healthz, of ");
    let row = trend.stdout.lines().last().unwrap_or_default().to_owned() + trend.stdout.lines().rev().nth(1).unwrap_or_default();
    assert!(
        trend.stdout.contains("Too few to tell a change from chance") && row.contains(runs[1]["short"].as_str().unwrap()),
        "{}",
        trend.stdout
    );
    session.loadline("runs --name nobody --trend").exits(0).says("None of the saved runs is like that.");
    // What was said then is said again, below a head.
    let again = session.loadline("show @last-1").exits(0).says("note: before the change");
    let answer = run.stdout.lines().find(|line| line.contains("requests a second")).unwrap();
    assert!(again.stdout.contains(answer), "{}", again.stdout);
    session.loadline("show @last").exits(0).says("latency");
    session.loadline("show @last-1 --out json=r.json --out csv=r.csv").exits(0);
    assert_eq!(session.json("r.json")["requests"]["due"], 20);
}

#[test]
fn what_is_not_to_be_saved_is_not_and_quiet_runs_are_saved_in_silence() {
    let server = server();
    let url = server.url("/healthz");
    let mut session = Session::new();
    let ran = session.loadline(&format!("run {url} -n 5 --no-save")).exits(0).complains_of_nothing();
    assert!(!ran.stdout.contains("saved as") && !session.data("loadline").exists());
    let ran = session.loadline(&format!("run {url} -n 5 --quiet")).exits(0).complains_of_nothing();
    assert!(!ran.stdout.contains("saved as"));
    assert_eq!(listed(&mut session, "").len(), 1);
    session.loadline(&format!("run {url} -n 5 --db elsewhere.db")).exits(0);
    assert_eq!((listed(&mut session, "").len(), listed(&mut session, "--db elsewhere.db").len()), (1, 1));
    let named = session.path("named.db").display().to_string();
    let mut session = session.env("LOADLINE_DB", &named);
    session.loadline(&format!("run {url} -n 5")).exits(0);
    assert_eq!(listed(&mut session, "--db named.db").len(), 1);
}

#[test]
fn a_saved_load_is_repeated_for_another_time() {
    let server = server();
    let scenario = format!(
        "target: {}\npopulations: [{{name: a, users: 1}}, {{name: b, rate: 20/s, duration: 200ms}}]\njourneys: [{{name: j, steps: [{{get: /healthz}}]}}]\n",
        server.url("")
    );
    let mut session = Session::new().file("p.yaml", &scenario);
    for load in [format!("{} -r 50/s -d 300ms", server.url("/healthz")), "p.yaml -d 400ms".to_owned()] {
        session.loadline(&format!("run {load} --name short")).exits_either(0, 4);
        for (duration, asked) in [("600ms", 0.6), ("100ms", 0.1)] {
            session.loadline(&format!("run --from @short -d {duration} --no-save --out json=again.json --force")).exits_either(0, 4);
            let seconds = session.json("again.json")["duration_s"].as_f64().unwrap();
            assert!((seconds - asked).abs() < 0.05, "{load}: {seconds} s for {duration}");
        }
    }
}

#[test]
fn a_reference_stands_wherever_a_result_does() {
    let server = server();
    let url = server.url("/healthz");
    let mut session = Session::new();
    session.loadline(&format!("run {url} -n 30 -c 3 --name first")).exits(0);
    session.loadline("baseline set @first").exits(0).says("(baseline)");
    session.loadline("run --from @first --name first").exits(0);
    assert_eq!(server.counts().path("/healthz"), 60);
    session.loadline("diff @baseline @last").exits(0).says("QPS").says("may be chance");
    session.loadline("diff @last-1 @last").exits(0).says("QPS");
    session.loadline(&format!("sweep {url} --levels 1,2 -d 200ms --name steps")).exits(0);
    session.loadline("diff @steps @last --dir d --force").exits(0).says("B/A");
    session.loadline("diff @baseline @last").exits(2).complains("no baseline of a sweep called 'steps' is set");
    session.loadline("diff @first @steps").exits(2).complains("cannot compare a run with a sweep");
    session.loadline("diff @first @first").exits(0).complains("A and B are the same result");
    session.loadline("diff @first-1 @first").exits(0).says("QPS");
    let id = listed(&mut session, "--kind sweep")[0]["short"].as_str().unwrap().to_owned();
    session.loadline(&format!("tag {id} +slow +old")).exits(0).says("[old, slow]");
    session.loadline(&format!("tag {id} -old")).exits(0).says("[slow]");
    session.loadline(&format!("tag {id} old")).exits(2).complains("write +old or -old");
    session.loadline(&format!("note {id} 'on a quiet machine'")).exits(0).says("on a quiet machine");
    for (line, why) in [
        ("show @nobody", "no saved run is called '@nobody'"),
        ("show @last-9", "only 3 are saved"),
        ("run --from @nobody", "no saved run is called '@nobody'"),
        ("show K!", "'K!' is no reference to a saved run"),
        ("diff @nobody @last", "no saved run is called '@nobody'"),
    ] {
        session.loadline(line).exits(2).complains(why).complains("help: ");
    }
}

#[test]
fn runs_go_and_come_as_files() {
    let server = server();
    let mut session = Session::new();
    session.loadline(&format!("run {} -n 5 --tag t --out json=r.json", server.url("/healthz"))).exits(0);
    session.loadline("export @last saved.json").exits(0);
    session.loadline("export @last saved.json").exits(2).complains("--force");
    session.loadline("import saved.json").exits(2).complains("in the history already");
    session.loadline("rm @last").exits(0).says("removed");
    session.loadline("import saved.json").exits(0).says("[t]");
    session.loadline("import r.json --name other").exits(0).says("other");
    session.loadline("show @other").exits(0).says("requests a second");
    let broken = session.read("saved.json").replace("loadline.saved/1", "loadline.saved/9");
    let mut session = session.file("later.json", &broken).file("bad.json", "{\"schema\": \"loadline.saved/1\"}");
    let ran = session.loadline("import later.json bad.json missing.json").exits(2);
    ran.complains("'loadline.saved/9'").complains("'bad.json'").complains("'missing.json'");
    session.loadline("prune").exits(2);
    session.loadline("baseline set @other").exits(0);
    session.loadline("prune --keep 0").exits(0).says("removed 1 run;");
    assert_eq!(listed(&mut session, "").len(), 1);
}

#[test]
fn a_history_that_cannot_be_used_spoils_no_run() {
    let server = server();
    let line = format!("run {} -n 5", server.url("/healthz"));
    let mut session = Session::new().file("notes.txt", "mine");
    fs::create_dir_all(session.data("loadline")).unwrap();
    fs::write(session.data("loadline/history.db"), "not a database").unwrap();
    let ran = session.loadline(&line).exits(0).says("requests a second");
    ran.complains("warning: the result could not be saved").complains("is not a history of loadline").complains("--db");
    session.loadline("runs").exits(2).complains("is not a history of loadline");
    // A file that was named is looked at like every output: before the first request.
    let before = server.counts().path("/healthz");
    session.loadline(&format!("{line} --db notes.txt")).exits(2).complains("it is no SQLite database");
    assert_eq!((server.counts().path("/healthz"), session.read("notes.txt").as_str()), (before, "mine"));
    session.loadline(&format!("{line} --tag 'a b'")).exits(2).complains("--tag 'a b'");
}

#[test]
fn several_that_end_at_once_are_all_saved() {
    let server = server();
    let mut session = Session::new();
    let line = format!("run {} -n 50 -c 2 -t 1", server.url("/healthz"));
    let running: Vec<_> = (0..4).map(|_| session.start(&line)).collect();
    for run in running {
        assert!(run.end().exits(0).stdout.contains("saved as"));
    }
    assert_eq!(listed(&mut session, "").len(), 4);
}

/// The journals of the runs that go on or were left behind, all together.
pub fn journals(session: &Session) -> String {
    let Ok(entries) = fs::read_dir(session.data("loadline/history.db.running")) else { return String::new() };
    entries.filter_map(|entry| fs::read_to_string(entry.unwrap().path()).ok()).collect()
}

#[test]
fn a_run_that_is_killed_is_kept_up_to_its_last_second_and_every_format_renders_it() {
    let server = server();
    let mut session = Session::alone();
    let run = session.start(&format!("run {} -c 2 -d 10m --tag t", server.url("/healthz")));
    let run = run.once(|| journals(&session).matches("\"second\"").count() >= 2);
    assert!(session.loadline("runs").exits(0).stdout.contains("Nothing is saved yet"), "it still runs");
    run.signal(Signal::KILL).end();
    let ran = session.loadline("runs --json").exits(0).complains("was ended from outside");
    let value: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((&value["total"], &value["runs"][0]["origin"], &value["runs"][0]["tags"][0]), (&1.into(), &"cut_short".into(), &"t".into()));
    session.loadline("runs").exits(0).complains_of_nothing().says("cut short");
    session.loadline("show @last").exits(0).says("was ended from outside");
    let outs = "--out json=r.json --out text=r.txt --out csv=r.csv --out hdr=r.hgrm --out markdown=r.md --out junit=r.xml";
    session.loadline(&format!("show @last {outs}")).exits(0).complains_of_nothing();
    let result = session.json("r.json");
    let seconds = result["timeline"].as_array().unwrap().len();
    assert!(seconds >= 2);
    assert_eq!((&result["ended"]["how"], result["duration_s"].as_f64()), (&"killed".into(), Some(seconds as f64)));
    let answered: u64 = result["timeline"].as_array().unwrap().iter().map(|tick| tick["answered"].as_u64().unwrap()).sum();
    assert_eq!(result["status"]["200"], answered);
    for absent in ["run_queue_share", "steal_share", "memory_bytes_max"] {
        assert!(result["generator"][absent].is_null(), "{absent} is not known, and not zero");
    }
    assert!(!session.data("loadline/history.db.running").exists());
}

#[test]
fn a_sweep_that_is_killed_keeps_its_finished_levels() {
    let server = server();
    let mut session = Session::new();
    let sweep = session.start(&format!("sweep {} --levels 1,2,600 -d 1s --cooldown 0s", server.url("/slow?ms=1")));
    let sweep = sweep.once(|| journals(&session).matches("\"number\"").count() >= 2);
    sweep.signal(Signal::KILL).end();
    let runs = listed(&mut session, "");
    assert!(runs[0]["outcome"].as_str().unwrap().ends_with("cut short"), "{runs:?}");
    session.loadline("show @last").exits(0).says("loadline was ended from outside");
}

#[test]
fn what_other_tools_words_measure_is_in_the_history_too() {
    let server = server();
    let url = server.url("/healthz");
    let mut session = Session::new();
    for line in [format!("wrk -q -c2 -d1 {url}"), format!("wrk2 -q -c2 -d1 -R50 {url}"), format!("ab -q -n 7 {url}")] {
        session.loadline(&line).exits(0).complains_of_nothing();
    }
    session.loadline(&format!("wrktest -q -d out --levels 1,2 --duration 1s {url}")).exits(0);
    let runs = listed(&mut session, "");
    let named: Vec<_> = runs.iter().map(|run| (run["kind"].as_str().unwrap(), run["target"].as_str().unwrap())).collect();
    assert_eq!(named, vec![("run", url.as_str()); 5]);
    session.loadline("show @last-2 --out json=ab.json").exits(0);
    let ab = session.json("ab.json");
    assert_eq!((&ab["requests"]["succeeded"], &ab["requests"]["due"]), (&7.into(), &7.into()));
}

#[test]
fn a_history_that_cannot_be_written_spoils_no_other_tool_s_report() {
    let server = server();
    let url = server.url("/healthz");
    let mut session = Session::alone().file("no-database", "text").env("LOADLINE_DB", "no-database");
    let ran = session.loadline(&format!("ab -n 5 {url}")).exits(0).says("Complete requests:      5\n");
    let ran = ran.complains("loadline: the result could not be saved: ");
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    let mut session = session.env("LOADLINE_DB", "no-database");
    session.loadline(&format!("ab -q -n 5 {url}")).exits(0).complains_of_nothing();
    let ran = session.env("LOADLINE_DB", "no-database").loadline(&format!("wrktest -d out --levels 1,2 --duration 1s {url}")).exits(0);
    assert_eq!(ran.stderr.matches("could not be saved").count(), 1, "{}", ran.stderr);
}

#[test]
fn a_damaged_journal_is_told_with_what_to_do_and_left_for_a_look() {
    let mut session = Session::new();
    session.loadline("runs").exits(0);
    let running = session.data("loadline/history.db.running");
    fs::create_dir_all(&running).unwrap();
    let (damaged, empty) = (running.join("aaaabbbbcccc.journal"), running.join("aaaabbbbdddd.journal"));
    fs::write(&damaged, "12345678 {\"begun\": \n").unwrap();
    fs::write(&empty, "").unwrap();
    let ran = session.loadline("runs").exits(0).complains("warning: the journal '").complains("its beginning is damaged");
    ran.complains("  help: it belonged to a run that was not saved; remove it if it is not worth a look");
    assert!(damaged.exists());
    assert!(!empty.exists(), "there is nothing to tell of it");
}

#[test]
fn a_history_that_cannot_be_made_is_told_before_anything_is_sent() {
    let server = server();
    let mut session = Session::new();
    let ran = session.loadline(&format!("run {} -n 1 --db /proc/none/history.db", server.url("/healthz"))).exits(2);
    ran.complains("error: --db: the history '/proc/none/history.db' cannot be used: '/proc' is read-only").complains("  help: ");
    assert_eq!(server.counts().connections, 0);
}

#[test]
fn a_result_that_nobody_keeps_is_told_to_those_too_who_want_to_hear_of_nothing() {
    let target = server();
    let mut session = Session::new().env("XDG_DATA_HOME", "");
    let ran = session.loadline(&format!("run -q -n 2 -c 1 {}", target.url("/healthz"))).exits(0);
    ran.complains("warning: the result is not saved: there is no place for a history: neither LOADLINE_DB, XDG_DATA_HOME nor HOME is set");
    let mut session = session.env("XDG_DATA_HOME", "");
    session.loadline(&format!("run -q -n 2 -c 1 --no-save {}", target.url("/healthz"))).exits(0).complains_of_nothing();
}

#[test]
fn the_list_has_the_load_and_what_failed() {
    let server = server();
    let mut session = Session::new();
    let failing = server.url("/behave?status=404");
    or_return!(session.judged(&format!("run '{failing}' -n 30 -c 3 --check 'failed < 1%'"))).exits(1);
    session.loadline(&format!("run {} -r 50/s -d 500ms", server.url("/healthz")));
    session.loadline(&format!("run '{}' -c 1 -d 300ms", server.url("/behave?delay=1500ms")));
    let listed = session.loadline("runs").exits(0).says("-c 3").says("-r 50/s").says("no answer within the run").stdout;
    assert!(listed.contains("1 of 1 check FAILED, all 30 failed: 404 Not Found"), "{listed}");
}
