//! `--check` and `--abort-on`: what they say, where it is written, and how the program ends.

use crate::session::{Session, server};

/// Too few requests for a late one to be proof of anything: a busy machine must not turn these runs INVALID.
const FEW: &str = "-n 200 -c 4";

#[test]
fn checks_that_hold_end_well() {
    let server = server();
    let mut session = Session::alone();
    let line =
        format!("run {} {FEW} --check 'p90 < 1m' --check 'failed <= 0' --check 'qps > 0.001' --out json=r.json", server.url("/healthz"));
    session.loadline(&line).exits(0).complains_of_nothing().says("held: p90 < 1m: ").says("held: failed <= 0: 0 of 200, 0 %");
    let result = session.json("r.json");
    let of =
        |key: &str| result["checks"].as_array().unwrap().iter().map(|check| check[key].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(of("check"), ["p90 < 1m", "failed <= 0", "qps > 0.001"]);
    assert_eq!(of("verdict"), ["held", "held", "held"]);
    assert!(result["validity"]["standing"].is_string() && result["intervals"]["quantiles"].is_array());
}

#[test]
fn a_broken_check_ends_with_one() {
    let server = server();
    let line = format!("run {} {FEW} --check 'status 5xx < 10%' --check 'p90 < 1m'", server.url("/behave?status=503&share=0.5"));
    let ran = or_return!(Session::new().judged(&line)).exits(1).complains_of_nothing();
    // Half of the requests failed, and failed ones were never answered.
    ran.says("FAILED: status 5xx < 10%: 100 of 200, 50 %").says("FAILED: p90 < 1m: more than 10 % of requests failed");
}

#[test]
fn a_check_that_the_run_cannot_judge_ends_with_four() {
    let server = server();
    let line = format!("run {} {FEW} --check 'p90 < 1m' --check 'p99.9 < 1m'", server.url("/healthz"));
    let ran = Session::new().loadline(&line).exits(4).complains_of_nothing();
    ran.says("not judgeable: p99.9 < 1m: ").says("200 requests, where 10,000 are needed");
}

#[test]
fn mistakes_are_shown_with_carets_beside_all_others() {
    let server = server();
    let line = format!("run {} -c 0 --check 'p99 < 5' --check 'speed > 3' --abort-on 'failed > 5% for a while'", server.url("/healthz"));
    let ran = Session::new().loadline(&line).exits(2);
    ran.complains("--connections '0' is zero")
        .complains("error: --check: '5' of what? give a time with its unit, such as 200ms\n  p99 < 5\n        ^\n  help: ")
        .complains("\n  speed > 3\n  ^^^^^\n  help: ")
        .complains("\n  failed > 5% for a while\n                  ^^^^^^^\n  help: ");
    assert_eq!(server.counts().received, 0);
    let line = format!("sweep {} --levels 1 --check 'p99'", server.url("/healthz"));
    Session::new().loadline(&line).exits(2).complains("\n  p99\n     ^\n");
}

#[test]
fn a_build_server_reads_each_check_as_a_case() {
    let server = server();
    let line = format!(
        "run {} {FEW} --check 'p90 < 1m' --check 'p99.9 < 1m' --check 'qps > 1000k' --out junit=r.xml",
        server.url("/healthz?a=1&b=2")
    );
    let mut session = Session::new();
    session.loadline(&line).exits(1);
    let text = session.read("r.xml");
    assert!(
        text.starts_with(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"loadline\" tests=\"4\" failures=\"1\" errors=\"1\""
        )
    );
    assert!(text.contains("?a=1&amp;b=2\" name=\"p90 &lt; 1m\" time=") && text.contains("<failure message=\"it was "), "{text}");
    assert!(text.contains("<error message=\"not judgeable: "), "{text}");
}

#[test]
fn a_run_is_given_up_when_its_condition_comes_true() {
    let server = server();
    let mut session = Session::alone();
    let line = format!(
        "run {} -c 1 --pause 20ms -d 60s --abort-on 'qps > 1000k' --abort-on 'failed > 50% for 1s' --out json=r.json --out junit=r.xml",
        server.url("/behave?status=503")
    );
    or_return!(session.undisturbed(&line)).exits(1).says("Aborted, as 'failed > 50% for 1s' came true, after ");
    let result = session.json("r.json");
    assert_eq!((&result["ended"]["how"], &result["aborted_by"]), (&"aborted".into(), &"failed > 50% for 1s".into()));
    assert!(result["duration_s"].as_f64().unwrap() < 50.0, "it was to last 60 s: {}", result["duration_s"]);
    assert!(session.read("r.xml").contains("name=\"not aborted on failed &gt; 50% for 1s\""));
}

#[test]
fn a_condition_that_comes_true_ends_all_that_was_to_follow() {
    let server = server();
    let (url, when) = (server.url("/healthz"), "--abort-on 'failed > 50% for 1m' --abort-on 'qps > 1 for 1s'");
    let mut session = Session::new();
    let line = format!("sweep {url} --levels 1,2,3 --pause 20ms -d 60s {when} --out json=s.json");
    session.loadline(&line).exits(1).says("Stopped: 'qps > 1 for 1s' came true at 1 user.");
    let sweep = session.json("s.json");
    assert_eq!((sweep["trials"].as_array().unwrap().len(), &sweep["stopped"]["rule"]), (1, &"aborted".into()));
    let run = &sweep["trials"][0]["summary"];
    assert!(run["ended"]["how"] == "aborted" && run["duration_s"].as_f64().unwrap() < 50.0, "{}", run["ended"]);
    session.loadline(&format!("find {url} --slo 'p99 < 5s' {when}")).exits(1).says("Stopped: 'qps > 1 for 1s' came true at ");
    let line = format!("compare {url} {url} --pairs 5 --pause 20ms -d 60s {when}");
    session.loadline(&line).exits(1).says("Nothing was compared: 'qps > 1 for 1s' came true in pair 1 of 5, ");
}

#[test]
fn a_condition_that_does_not_come_true_changes_nothing() {
    let server = server();
    let line = format!("run {} -c 1 --pause 20ms -d 1s --abort-on 'failed > 0 for 1ms'", server.url("/healthz"));
    Session::new().loadline(&line).exits(0).complains_of_nothing();
}

#[test]
fn a_gate_run_again_is_the_same_gate() {
    let server = server();
    let mut session = Session::new();
    or_return!(session.judged(&format!("run {} {FEW} --check 'p90 < 1us' --out json=r.json", server.url("/healthz")))).exits(1);
    session.loadline("run --from r.json").exits(1).says("FAILED: p90 < 1us: ");
    let ran = session.loadline("run --from r.json --check 'p90 < 1m'").exits(0);
    assert!(!ran.stdout.contains("p90 < 1us"), "{}", ran.stdout);
}

#[test]
fn every_level_of_a_sweep_is_held_against_the_checks() {
    let server = server();
    let mut session = Session::new();
    let line =
        |more: &str| format!("sweep {} --levels 1,2 -n 100 --cooldown 0s --force {more}", server.url("/behave?status=503&share=0.5"));
    session
        .loadline(&line("--check 'failed < 20%' --check 'unsent < 1'"))
        .exits(1)
        .says("FAILED failed < 20%")
        .says("'failed < 20%' was broken from the first level on, 1 user.")
        .says("'unsent < 1' held at every level, up to 2 users.");
    let result = session.json("_output/loadline/behave.json");
    assert_eq!(result["checks"], serde_json::json!(["failed < 20%", "unsent < 1"]));
    assert_eq!((&result["judged"][1]["level"]["users"], &result["judged"][1]["checks"][0]["verdict"]), (&2.into(), &"broken".into()));
    let well = format!("sweep {} --levels 1,2 -n 100 --cooldown 0s --check 'p99.9 < 1m'", server.url("/healthz"));
    session
        .loadline(&well)
        .exits(4)
        .says("not judgeable p99.9 < 1m")
        .says("'p99.9 < 1m' cannot be judged at 1 user, and no level broke it.");
}

#[test]
fn the_page_of_a_job_gets_the_table() {
    let server = server();
    let mut session = Session::new().file("summary.md", "before\n");
    let path = session.path("summary.md").display().to_string();
    for _ in 0..2 {
        session = session.env("GITHUB_STEP_SUMMARY", &path);
        session.loadline(&format!("run {} {FEW} --check 'p90 < 1m'", server.url("/healthz"))).exits(0);
    }
    let text = session.read("summary.md");
    assert!(text.starts_with("before\n**") && text.matches("| ✅ held | `p90 < 1m` |").count() == 2, "{text}");
    session = session.env("GITHUB_STEP_SUMMARY", "/nowhere/at/all.md");
    session.loadline(&format!("run {} {FEW}", server.url("/healthz"))).exits(5).complains("which GITHUB_STEP_SUMMARY names");
}

#[test]
fn levels_that_are_not_valid_are_compared_only_by_force() {
    let server = server();
    let mut session = Session::new();
    let line = format!("sweep {} --levels 4 -n 1200 --cooldown 0s --name a --dir .", server.url("/behave?delay=1ms"));
    session.loadline(&line);
    let mut sweep = session.json("a.json");
    let summary = &mut sweep["trials"][0]["summary"];
    // Of a run of less than a second.
    summary["generator"]["gaps"] = serde_json::json!({"count": 4, "total_ns": 4_000_000_000u64, "longest_ns": 1_000_000_000u64});
    std::fs::write(session.path("b.json"), sweep.to_string()).unwrap();
    session
        .loadline("diff a.dat b.json")
        .exits(2)
        .complains("error: 'b.json' is INVALID at 4 users (loadline itself did not run for ")
        .complains("--force");
    session.loadline("diff a.dat b.json --force").exits(0);
}

#[test]
fn checks_stand_in_the_file_and_are_about_steps_and_journeys() {
    let served = server();
    let text = format!(
        "target: {}\nload: {{users: 2, requests: 60}}\nchecks:\n  - step missing failed == 0\n  - journey browse failed < 1%\n  - status 4xx == 30\n  - step fine p50 < 1h\njourneys:\n  - name: browse\n    steps:\n      - {{get: /healthz, name: fine}}\n      - {{get: /nothing, name: missing}}\n",
        served.url("")
    );
    let mut session = Session::alone().file("s.yaml", &text);
    or_return!(session.judged("run s.yaml --check 'step fine failed == 0' --out json=r.json --name s")).exits(1);
    let verdicts = |session: &Session, file: &str| -> Vec<(String, String)> {
        let word = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        session.json(file)["checks"].as_array().unwrap().iter().map(|it| (word(&it["check"]), word(&it["verdict"]))).collect()
    };
    let expected = [
        ("step missing failed == 0", "broken"),
        ("journey browse failed < 1%", "broken"),
        ("status 4xx == 30", "held"),
        ("step fine p50 < 1h", "held"),
        ("step fine failed == 0", "held"),
    ];
    let expected: Vec<(String, String)> = expected.map(|(check, verdict)| (check.to_owned(), verdict.to_owned())).to_vec();
    assert_eq!(verdicts(&session, "r.json"), expected);
    // They are saved with the result, and asked again.
    or_return!(session.judged("run --from r.json --out json=again.json --no-save")).exits(1);
    assert_eq!(verdicts(&session, "again.json"), expected);
    or_return!(session.judged("sweep s.yaml --levels 1 --requests 20 --name levels")).exits(1).says("step missing failed == 0");
}

#[test]
fn a_check_on_what_is_not_there_is_a_mistake_with_its_place() {
    let text = "target: http://127.0.0.1:1\nchecks:\n  - step logn p95 < 1s\n  - p99 < 200\nsteps:\n  - {get: /, name: login}\n";
    let mut session = Session::new().file("s.yaml", text);
    session
        .loadline("check s.yaml")
        .exits(2)
        .complains("s.yaml:3:5: there is no step 'logn'")
        .complains("did you mean 'login'?")
        .complains("s.yaml:4:11: '200' of what?");
    let mut session = Session::new().file("s.yaml", "target: http://127.0.0.1:1\nsteps:\n  - {get: /, name: login}\n");
    session.loadline("run s.yaml --check 'step logn p95 < 1s'").exits(2).complains("there is no step 'logn'");
    session
        .loadline("run http://127.0.0.1:1/ --check 'step login p95 < 1s'")
        .exits(2)
        .complains("there is no step 'login': this load has no scenario");
}

#[test]
fn what_is_expected_of_answers_decides_what_succeeds() {
    let served = server();
    let mut session = Session::alone();
    let url = served.url("/get_result?a=1&b=2");
    let good = "--expect 'status == 200' --expect 'body contains result' --expect 'json $.result == 3'";
    session.loadline(&format!("run {url} -n 20 {good} --full --out json=good.json --no-save")).exits_either(0, 4).says("all passed");
    let result = session.json("good.json");
    assert_eq!((&result["requests"]["succeeded"], &result["urls"][0]["checks"][2]["held"]), (&20.into(), &20.into()));
    assert_eq!(result["urls"][0]["name"], "GET /get_result?a=1&b=2");
    session
        .loadline(&format!("run {url} -n 20 --expect 'body contains sorry' --out json=bad.json --no-save"))
        .exits_either(0, 4)
        .says("check.failed");
    let result = session.json("bad.json");
    assert_eq!((&result["requests"]["failed"], &result["failures"][0]["class"]), (&20.into(), &"check.failed".into()));
    // A status that is expected is a success.
    let missing = served.url("/nothing");
    session.loadline(&format!("run {missing} -n 20 --expect 'status == 404' --out json=gone.json --no-save")).exits_either(0, 4);
    assert_eq!(session.json("gone.json")["requests"]["succeeded"], 20);
    session.loadline("run --from bad.json --out json=again.json --no-save").exits_either(0, 4);
    assert_eq!(session.json("again.json")["requests"]["failed"], 20);
    session.loadline(&format!("sweep {url} --levels 1 -n 20 --expect 'body contains sorry' --name levels --no-save"));
    assert_eq!(session.json("_output/loadline/levels.json")["trials"][0]["summary"]["requests"]["failed"], 20);
    session
        .loadline(&format!("run {url} --expect 'body contian x' --expect 'time < 5'"))
        .exits(2)
        .complains("--expect")
        .complains("of what?");
}

#[test]
fn a_run_is_held_against_a_saved_one() {
    let served = server();
    let mut session = Session::alone();
    let run = |session: &mut Session, delay: &str, more: &str| {
        session.judged(&format!("run {} -c 2 -n 40 --name slow {more}", served.url(&format!("/behave?delay={delay}"))))
    };
    or_return!(run(&mut session, "20ms", "")).exits(0);
    session.loadline("baseline set @slow").exits(0);
    // Nobody knows yet how much runs differ.
    let first = served.url("/behave?delay=20ms");
    let early = format!("run {first} -c 2 -n 40 --name slow --against @baseline:slow");
    or_return!(session.undisturbed(&early)).exits(4).says("and it takes 5 to know");
    for _ in 0..5 {
        or_return!(run(&mut session, "20ms", "")).exits(0);
    }
    // On a machine with other work runs may differ so much that nothing can be told, but the wrong thing is never told.
    let slow = or_return!(run(&mut session, "200ms", "--against @baseline:slow --allow 50%")).exits_either(1, 4);
    assert!(slow.exit == 4 || slow.stdout.contains("WORSE than @baseline:slow by more than 50 %"), "{}", slow.stdout);
    let same = or_return!(run(
        &mut session,
        "20ms",
        "--against @baseline:slow --allow 90% --out json=r.json --out markdown=r.md --out html=r.html --out junit=r.xml",
    ))
    .exits_either(0, 4);
    let told = session.json("r.json")["against"].clone();
    assert!(told["runs"].as_u64() >= Some(5) && told["rows"].as_array().unwrap().iter().all(|row| !row["noise"].is_null()), "{told}");
    assert_eq!((&told["reference"], &told["allowed"]), (&"@baseline:slow".into(), &0.9.into()));
    assert!(session.read("r.md").contains("| QPS | ") && session.read("r.html").contains("Against @baseline:slow"));
    assert!(session.read("r.xml").contains("name=\"not worse than @baseline:slow by more than 90 %\""));
    assert!(same.exit == 4 || same.stdout.contains("not worse than @baseline:slow"), "{}", same.stdout);
    session.loadline(&format!("run {} -c 3 -n 40 --against @baseline:slow", served.url("/"))).exits(2).complains("is another load");
    session.loadline(&format!("run {} --against @nobody", served.url("/"))).exits(2);
    session.loadline(&format!("run {} --against @last --allow much", served.url("/"))).exits(2).complains("--allow 'much'");
}
