//! The scenarios of `examples/scenarios`: each is valid, and runs against the demo API without a failure.

use std::fs;
use std::path::{Path, PathBuf};

use crate::session::{Session, server};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/scenarios")
}

/// A session with copies of all the files, in which the scenarios lead to this server.
fn copied(server: &str) -> (Session, Vec<String>) {
    let mut session = Session::new();
    let mut scenarios = Vec::new();
    for entry in fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let text = fs::read_to_string(folder().join(&name)).unwrap();
        session = session.file(&name, &text.replace("http://127.0.0.1:8080", server));
        if name.ends_with(".yaml") {
            scenarios.push(name);
        }
    }
    scenarios.sort();
    (session, scenarios)
}

#[test]
fn every_example_runs_without_a_failure() {
    let served = server();
    let (mut session, scenarios) = copied(&served.url(""));
    assert_eq!(scenarios.len(), 14, "{scenarios:?}");
    for file in &scenarios {
        session.loadline(&format!("check {file}")).exits(0).complains_of_nothing();
        // Several stages say themselves how long they are: three seconds less are shorter.
        let shorter = match file.as_str() {
            "arrivals.yaml" => "-r '50/s for 1s'",
            // Its last population begins after two seconds.
            "populations.yaml" => "-d 2500ms",
            _ => "-d 700ms",
        };
        let ran = session.loadline(&format!("run {file} {shorter} --no-save --out json={file}.json"));
        // On a busy machine a run may be none to judge by; what was measured stands.
        assert!([0, 4].contains(&ran.exit), "{file}: {}\n{}{}", ran.exit, ran.stdout, ran.stderr);
        let result = session.json(&format!("{file}.json"));
        let (counts, journeys) = (&result["requests"], &result["scenario"]["journeys"]);
        assert!(counts["succeeded"].as_u64() > Some(0) && counts["failed"] == 0, "{file}: {counts}");
        assert!(journeys.as_array().unwrap().iter().any(|row| row["succeeded"].as_u64() > Some(0)), "{file}: {journeys}");
        for check in result["checks"].as_array().unwrap() {
            // How long a busy machine takes is no matter of the file.
            assert!(check["verdict"] != "broken" || check["check"].as_str().unwrap().ends_with("ms"), "{file}: {check}");
        }
    }
}

#[test]
fn every_example_can_be_tried_and_stands_in_the_table() {
    let served = server();
    let (mut session, scenarios) = copied(&served.url(""));
    let table = fs::read_to_string(folder().join("README.md")).unwrap();
    for file in &scenarios {
        assert!(table.contains(&format!("| [{file}]({file}) |")), "{file} is not in the table");
        session.loadline(&format!("try {file}")).exits(0).says("> ").says("< HTTP/1.1 200 OK").says(" succeeded.");
    }
}

#[test]
fn a_test_plan_of_jmeter_runs_as_it_is_and_as_the_scenario_that_is_made_of_it() {
    let served = server();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/jmeter");
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let mut session = Session::new().file("shop.jmx", &read("shop.jmx")).file("orders.csv", &read("orders.csv"));
    let port = served.url("").rsplit(':').next().unwrap().to_owned();
    session.loadline(&format!("run shop.jmx --variable port={port} --strict --no-save --out json=plan.json"));
    let plan = session.json("plan.json");
    // Four users, three times: a user, two orders, the user again.
    let steps = |result: &serde_json::Value| -> Vec<(String, u64)> {
        let rows = result["scenario"]["steps"].as_array().unwrap();
        rows.iter().map(|row| (row["name"].as_str().unwrap().to_owned(), row["succeeded"].as_u64().unwrap_or_default())).collect()
    };
    let expected = [("user", 12), ("order", 24), ("same user", 12)].map(|(name, count)| (name.to_owned(), count));
    assert_eq!(steps(&plan), expected, "{plan}");
    assert_eq!((plan["requests"]["succeeded"].as_u64(), plan["requests"]["failed"].as_u64()), (Some(48), Some(0)));
    session.loadline(&format!("import shop.jmx --variable port={port} --output shop.yaml --strict")).exits(0);
    session.loadline("check shop.yaml").exits(0);
    session.loadline("run shop.yaml --no-save --out json=scenario.json");
    assert_eq!(steps(&session.json("scenario.json")), expected);
    // The same from JMeter's own command line: properties go over those of files, and a failure does not change how it ends.
    session = session.file("test.properties", "# where\nport=1\nusers: 2\n");
    session.loadline(&format!("run shop.jmx --properties test.properties -Jport={port} -Jusers=1 --no-save --out json=less.json"));
    assert_eq!(steps(&session.json("less.json")).iter().map(|(_, count)| count).sum::<u64>(), 12);
    let said = session
        .loadline(&format!("jmeter -n -t shop.jmx -q test.properties -Jport={port} -Jusers=1 -l out.jtl -e -o pages"))
        .exits(0)
        .stdout;
    assert!(said.contains("summary =     12 in 00:00:0") && said.ends_with("\n... end of run\n"), "{said}");
    let rows = session.read("out.jtl");
    let is_transaction = |row: &&str| row.contains(",\"Number of samples in transaction : 3, number of failing samples : 0\",");
    let (transactions, requests): (Vec<&str>, Vec<&str>) = rows.lines().skip(1).partition(is_transaction);
    assert_eq!((requests.len(), transactions.len()), (12, 3), "{rows}");
    assert!(requests.iter().all(|row| row.contains(",200,OK,Customers 1-1,text,true,")), "{rows}");
    assert!(transactions.iter().all(|row| row.contains(",orders,200,") && row.contains("\",Customers 1-1,,true,,")), "{rows}");
    let statistics = session.json("pages/statistics.json");
    assert_eq!(
        ["order", "orders", "Total"].map(|label| statistics[label]["sampleCount"].as_u64()),
        [Some(6), Some(3), Some(12)],
        "{statistics}"
    );
    assert_eq!(statistics["Total"]["errorCount"].as_u64(), Some(0));
    assert!(session.read("pages/content/pages/OverTime.html").contains("<svg"));
    assert!(session.read("jmeter.log").contains(" INFO loadline: the test begins\n"));
    // Where it cannot be written is told before anything is sent.
    let refused = session.loadline(&format!("jmeter -n -t shop.jmx -Jport={port} -l none/out.jtl")).exits(1);
    assert!(refused.stderr.contains("'none/out.jtl' cannot be written") && !refused.stdout.contains("Starting"), "{refused:?}");
}
