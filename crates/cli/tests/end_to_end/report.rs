//! `--out html=FILE` of every command, and `loadline report`: what is saved is shown again, and nothing is measured for it.

use crate::session::{Session, server};

#[test]
fn a_saved_run_is_rendered_again_in_any_format() {
    let server = server();
    let mut session = Session::new();
    session.loadline(&format!("run {} -n 20 --check 'failed < 1%' --out json=r.json --out html=r.html", server.url("/healthz"))).exits(0);
    assert!(session.read("r.html").starts_with("<!DOCTYPE html>"));
    let counted = server.counts().received;
    session.loadline("report r.json").exits(0).says("requests a second").says("failed < 1%").complains_of_nothing();
    session.loadline("report r.json --out html=again.html --out markdown=-").exits(0).says("| response time |");
    assert_eq!(session.read("again.html"), session.read("r.html"), "the same result gives the same page");
    assert_eq!(server.counts().received, counted);
}

#[test]
fn sweeps_and_their_differences_become_pages() {
    let server = server();
    let mut session = Session::new();
    let line = format!("sweep {} --levels 1,2 -n 20 --cooldown 0s", server.url("/healthz"));
    session.loadline(&format!("{line} --name a --out html=a.html")).exits(0);
    session.loadline(&format!("{line} --name b")).exits(0);
    session.loadline("report _output/loadline/a.json --out html=again.html").exits(0).says("latency");
    assert_eq!(session.read("again.html"), session.read("a.html"));
    session.loadline("diff _output/loadline/a.json _output/loadline/b.json --out html=d.html").exits(0);
    assert!(session.read("d.html").contains("Content-Security-Policy"));
    session.loadline("diff _output/loadline/a.json _output/loadline/b.json --force --out json=d.json --out text=d.txt").exits(0);
    let told = session.json("d.json");
    assert_eq!((&told["schema"], &told["kind"]), (&"loadline.diff/1".into(), &"sweeps".into()));
    let levels: Vec<f64> = told["levels"].as_array().unwrap().iter().map(|row| row["level"].as_f64().unwrap()).collect();
    assert_eq!(levels, [1.0, 2.0]);
    assert!(session.read("d.txt").contains("B/A"));
    session.loadline("report d.json").exits(2).complains("loadline.diff/1");
}

#[test]
fn two_runs_become_a_page_and_figures_for_scripts() {
    let server = server();
    let mut session = Session::alone();
    for name in ["a", "b"] {
        or_return!(session.undisturbed(&format!("run {} -c 2 -n 200 --name {name}", server.url("/healthz")))).exits(0);
    }
    session.loadline("diff @a @b --out json=d.json --out html=d.html --out text=d.txt").exits(0).says("may be chance");
    let told = session.json("d.json");
    assert_eq!((&told["kind"], &told["unlike"]), (&"runs".into(), &serde_json::json!([])));
    let standing = told["a"]["standing"].as_str().unwrap();
    assert!(["valid", "degraded"].contains(&standing), "{standing}");
    let (a, b) = (told["qps"]["a"].as_f64().unwrap(), told["qps"]["b"].as_f64().unwrap());
    assert!((told["qps"]["change"].as_f64().unwrap() - (b / a - 1.0)).abs() < 1e-9);
    assert!(told["quantiles"][0]["a"].as_f64().unwrap() > 0.0 && told["quantiles"][0]["q"] == 0.5);
    assert!(session.read("d.html").contains("Content-Security-Policy"));
    session.loadline("diff @a @b --out json=d.json").exits(2).complains("'d.json' exists");
    session.loadline("diff @a @b --out csv=d.csv").exits(2).complains("give one of text, json, html");
}

#[test]
fn what_cannot_be_rendered_is_told_before_anything_is_written() {
    let mut session =
        Session::new().file("x.json", "{\"schema\": \"loadline.run/9\"}").file("y.json", "<html>").file("old.html", "precious");
    session.loadline("report nowhere.json").exits(2).complains("'nowhere.json' cannot be read: there is no such file");
    session.loadline("report x.json").exits(2).complains("it is written as 'loadline.run/9', and this loadline reads 'loadline.run/1'");
    session.loadline("report y.json").exits(2).complains("is damaged, or no result");
    session
        .loadline("sweep http://127.0.0.1:9/ --out html=- --out csv=x")
        .exits(2)
        .complains("among the rows")
        .complains("unknown format 'csv'");
    session.loadline("run http://127.0.0.1:9/ --out html=old.html").exits(2).complains("'old.html' exists");
    assert_eq!(session.read("old.html"), "precious");
}

/// A result file of JMeter's, of so many requests that took so long.
fn jtl(requests: u64, took_ms: u64) -> String {
    let rows = (0..requests).map(|k| format!("{},{took_ms},home,200,OK,t 1-1,true,4\n", 1_767_607_200_000 + k * 10));
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,allThreads\n".to_owned() + &rows.collect::<String>()
}

#[test]
fn result_files_of_jmeter_are_results_too() {
    let mut session = Session::new()
        .file("old.jtl", &jtl(2_000, 20))
        .file("new.csv", &jtl(2_000, 30))
        .file("torn.jtl", jtl(10, 5).trim_end_matches("true,4\n"))
        .file("wrong.jtl", "timeStamp,elapsed,label\n1767607200000,soon,home\n")
        .file("r.json", "{\"schema\": \"loadline.run/9\"}");
    session
        .loadline("report old.jtl --out html=r.html --out json=old.json")
        .exits(0)
        .says("at up to 4 concurrent users")
        .complains_of_nothing();
    assert!(session.read("r.html").contains("coordinated omission"));
    let told = session.json("old.json");
    assert_eq!(
        (&told["measured_by"], &told["validity"], &told["requests"]["due"]),
        (&"JMeter".into(), &serde_json::Value::Null, &2_000.into())
    );
    // What is written of it is a result like any other, but for its load, which is not in it.
    session.loadline("report old.json").exits(0).says("all 2,000 succeeded");
    session.loadline("run --from old.json").exits(2).complains("'old.json' was measured by JMeter");
    session.loadline("show new.csv").exits(0).says("30.0 ms").complains_of_nothing();
    session.loadline("report old.jtl new.csv").exits(0).says("all 4,000 succeeded").says("at up to 8 concurrent users");
    session.loadline("diff old.jtl new.csv").exits(0).says("+50 %").says("requests that JMeter sent");
    session.loadline("report torn.jtl").exits(0).says("all 9 succeeded").says("breaks off in line 11");
    session.loadline("report wrong.jtl").exits(2).complains("line 2: elapsed is 'soon', which is no whole number");
    session.loadline("report old.jtl r.json wrong.jtl").exits(2).complains("'r.json' is no result file of JMeter's");
}
