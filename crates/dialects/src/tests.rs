//! Every dialect from its command line to its report, over the simulated engine.
//!
//! The server takes as long as it is asked for, to the millisecond, so reports are known to the byte but for what is of this machine.

use std::ffi::OsString;

use crate::host::Host;
use crate::memory::Memory;
use crate::{DIALECTS, Support, called, dialect};

fn words(line: &str) -> Vec<OsString> {
    line.split(' ').map(OsString::from).collect()
}

/// Calls a dialect where all goes well; what it wrote to standard output.
fn output_of(host: &Memory, line: &str) -> String {
    assert_eq!(host.call(line), 0, "{line}: {}", host.errors());
    host.output()
}

#[test]
fn wrk_reports_a_closed_load() {
    let host = Memory::new(&[]);
    let report = output_of(&host, "wrk -t1 -c2 -d1s http://h.test/a");
    // 50 answers of 20 ms on each of two connections.
    assert_eq!(
        report,
        "Running 1s test @ http://h.test/a\n  1 threads and 2 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    \
         Latency    20.00ms    0.00us  20.00ms  100.00%\n    Req/Sec    98.00      6.32   100.00     90.00%\n  \
         100 requests in 1.00s, 4.02KB read\nRequests/sec:    100.00\nTransfer/sec:      4.02KB\n"
    );
    assert_eq!(host.errors(), "");
}

#[test]
fn wrk_gives_up_answers_that_do_not_come_and_counts_them() {
    // What this is asked for is never answered.
    let host = Memory::new(&[]);
    let report = output_of(&host, "wrk -t1 -c2 -d1s -T3s http://h.test/bp");
    assert!(report.contains("  0 requests in 1.00s, 0.00B read\n  Socket errors: connect 0, read 0, write 0, timeout 2\n"), "{report}");
    assert!(host.errors().contains("not succeeded: 2 recv.idle_timeout (server: "), "{}", host.errors());
}

#[test]
fn wrk2_reports_an_open_load() {
    let report = output_of(&Memory::new(&[]), "wrk2 -t1 -c2 -d1s -R50 http://h.test/a");
    assert!(report.contains("    Latency    20.00ms    0.00us  20.00ms  100.00%\n"), "{report}");
    assert!(report.contains("  50 requests in 1.00s, 2.01KB read\nRequests/sec:     50.00\n"), "{report}");
}

#[test]
fn wrktest_writes_a_row_for_each_level_and_draws_them() {
    let host = Memory::new(&[]);
    let said = output_of(&host, "wrktest -n x -d out --duration 1s --levels 1,2 http://h.test/a");
    assert!(said.contains(" --latency -c 1 http://h.test/a\nRunning wrk command: ") && said.contains("out/x_successrate.png"), "{said}");
    let rows = String::from_utf8(host.bytes_of("out/x.dat")).unwrap();
    let levels: Vec<[&str; 2]> = rows.lines().map(|row| row.split(' ').collect::<Vec<_>>()).map(|row| [row[0], row[1]]).collect();
    assert_eq!(levels, [["1", "50.00"], ["2", "100.00"]], "{rows}");
    for chart in ["out/x_qps_ttlb.png", "out/x_successrate.png"] {
        assert!(host.bytes_of(chart).starts_with(b"\x89PNG"), "{chart}");
    }
    assert_eq!(host.call("wrktest -d out diff out/x.dat out/x.dat"), 0, "{}", host.errors());
    assert!(!host.bytes_of("out/x_x.qps.ttlb.diff.png").is_empty());
}

const PLAN: &str = r#"<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan testname="Shop"/><hashTree>
<ThreadGroup testname="Users"><stringProp name="ThreadGroup.num_threads">2</stringProp><elementProp name="ThreadGroup.main_controller">
<stringProp name="LoopController.loops">5</stringProp></elementProp></ThreadGroup><hashTree>
<HTTPSamplerProxy testname="home"><stringProp name="HTTPSampler.domain">${__P(host)}</stringProp>
<stringProp name="HTTPSampler.path">/a</stringProp></HTTPSamplerProxy><hashTree/>
<JDBCSampler testname="database"/><hashTree/>
</hashTree></hashTree></hashTree></jmeterTestPlan>"#;

#[test]
fn jmeter_runs_a_plan_and_sums_up() {
    let host = Memory::new(&[("plan.jmx", PLAN), ("test.properties", "host=h.test\nsummariser.interval=0")]);
    let said = output_of(&host, "jmeter -n -t plan.jmx -q test.properties -j my.log");
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[..2], ["Creating summariser <summary>", "Created the tree successfully using plan.jmx"], "{said}");
    assert!(lines[2].starts_with("Starting standalone test @ ") && lines[2].contains(" UTC ("), "{said}");
    // 50 answers of 20 ms on each of two connections.
    let sum = "summary =    100 in 00:00:01 =  100.0/s Avg:    20 Min:    20 Max:    20 Err:     0 (0.00%)";
    assert_eq!(lines[3], sum, "{said}");
    assert!(lines[4].starts_with("Tidying up ...    @ ") && lines[5..] == ["... end of run"], "{said}");
    let log = String::from_utf8(host.bytes_of("my.log")).unwrap();
    let warning = log.lines().find(|line| line.contains(" WARN loadline: ")).unwrap_or_default();
    assert!(warning.contains("not carried over: line 7, Users / database: the JDBCSampler 'database'"), "{log}");
    assert!(host.errors().starts_with("loadline: of 'plan.jmx' is left out: line 7, Users / database"), "{}", host.errors());
}

#[test]
fn jmeter_lets_each_of_several_servers_carry_a_plan_out() {
    let host = Memory::new(&[("plan.jmx", PLAN)]);
    let said = output_of(&host, "jmeter -n -t plan.jmx -R a,b:1099 -Ghost=h.test");
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[2..4], ["Configuring remote engine: a", "Configuring remote engine: b:1099"], "{said}");
    assert!(lines[4].starts_with("Starting distributed test with remote engines: [a, b:1099] @ "), "{said}");
    assert_eq!(lines[5], "Remote engines have been started:[a, b:1099]", "{said}");
    assert!(lines[6].starts_with("summary =    200 in "), "{said}");
    assert!(lines[7].starts_with("Tidying up remote @ ") && lines[8..] == ["... end of run"], "{said}");
}

#[test]
fn jmeter_makes_a_dashboard_of_a_file_of_samples() {
    let rows = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success\n1767607200000,120,home,200,OK,Users 1-1,true\n\
                1767607201000,80,home,500,Internal Server Error,Users 1-2,false\n17676072";
    let host = Memory::new(&[("out.jtl", rows), ("notes.txt", "nothing")]);
    assert_eq!(output_of(&host, "jmeter -g out.jtl -o pages"), "");
    let statistics: serde_json::Value = serde_json::from_slice(&host.bytes_of("pages/statistics.json")).unwrap();
    assert_eq!((statistics["home"]["sampleCount"].as_u64(), statistics["Total"]["errorCount"].as_u64()), (Some(2), Some(1)));
    let index = String::from_utf8(host.bytes_of("pages/index.html")).unwrap();
    assert!(index.contains("<td>500/Internal Server Error</td><td>1</td>"), "{index}");
    assert!(host.errors().contains("loadline: 'out.jtl' breaks off in line 4, which is left out\n"), "{}", host.errors());
    assert_eq!(host.call("jmeter -g notes.txt"), 1);
    assert!(host.errors().contains("An error occurred: the file of samples 'notes.txt' cannot be read: it is no file of samples"));
}

#[test]
fn jmeter_ends_with_1_where_nothing_can_be_sent() {
    let host = Memory::new(&[("plan.jmx", PLAN), ("broken.jmx", "<jmeterTestPlan><hashTree>")]);
    for (line, part) in [
        ("jmeter -n -t broken.jmx", "An error occurred: "),
        ("jmeter -n -t none.jmx", "'none.jmx' cannot be read"),
        ("jmeter -t plan.jmx", "there are no windows here"),
    ] {
        assert_eq!(host.call(line), 1, "{line}");
        assert!(host.errors().contains(part), "{line}: {}", host.errors());
    }
    assert!(String::from_utf8(host.bytes_of("jmeter.log")).unwrap().contains(" ERROR loadline: "));
}

#[test]
fn ab_reports_and_lists_every_request() {
    let host = Memory::new(&[]);
    let report = output_of(&host, "ab -n 200 -c 2 -g rows -e table http://h.test/a");
    for line in [
        "Document Length:        2 bytes\n",
        "Complete requests:      200\nFailed requests:        0\n",
        "Total:         19   19   0.0     19      19\n",
        " 100%     19 (longest request)\n",
    ] {
        assert!(report.contains(line), "{line}{report}");
    }
    assert_eq!(host.errors(), "Completed 100 requests\nCompleted 200 requests\nFinished 200 requests\n");
    let rows = String::from_utf8(host.bytes_of("rows")).unwrap();
    assert_eq!(rows.lines().count(), 201, "{rows}");
    assert!(rows.starts_with("starttime\tseconds\tctime\tdtime\tttime\twait\n"), "{rows}");
    assert_eq!(String::from_utf8(host.bytes_of("table")).unwrap().lines().count(), 102);
}

#[test]
fn vegeta_s_attack_is_reported_by_vegeta() {
    let host = Memory::new(&[]).with_input("GET http://h.test/a\nGET http://h.test/b\n");
    assert_eq!(output_of(&host, "vegeta attack -duration=1s -rate=20 -output=results"), "");
    assert_eq!(host.errors(), "");
    let report = output_of(&host, "vegeta report results");
    assert!(report.contains("         20, 21.05, 20.81\n") && report.contains("200:20  \n"), "{report}");
}

#[test]
fn hey_reports_a_closed_load() {
    let host = Memory::new(&[]);
    let report = output_of(&host, "hey -n 41 -c 2 http://h.test/a");
    for line in ["  Total:\t0.4000 secs\n", "  Requests/sec:\t100.0000\n", "  [200]\t40 responses\n", "  99% in 0.0200 secs\n"] {
        assert!(report.contains(line), "{line}{report}");
    }
    assert_eq!(host.errors(), "");
}

#[test]
fn siege_prints_a_line_for_each_answer_and_adds_to_its_log() {
    let host = Memory::new(&[("/home/me/.siege/siege.conf", "color = off\n"), ("urls", "h.test/a\nh.test/b\n")]);
    let host = host.with_variable("HOME", "/home/me");
    let lines = output_of(&host, "siege -c 2 -r 5 -v -lseen -f urls");
    assert_eq!(lines.lines().count(), 10, "{lines}");
    assert!(lines.lines().all(|line| line.starts_with("HTTP/1.1 200 ")), "{lines}");
    assert!(host.errors().contains("Transactions:\t\t          10 hits\nAvailability:\t\t      100.00 %\n"), "{}", host.errors());
    assert_eq!(host.call("siege -c 1 -r 1 -q -lseen h.test/a"), 0);
    let log = String::from_utf8(host.bytes_of("seen")).unwrap();
    assert_eq!(log.lines().count(), 3, "a head and two runs: {log}");
}

#[test]
fn webbench_reports_in_two_lines() {
    let host = Memory::new(&[]);
    let report = output_of(&host, "webbench -c 2 -t 1 http://h.test/a");
    assert!(report.ends_with("\nSpeed=6360 pages/min, 4452 bytes/sec.\nRequests: 106 susceed, 0 failed.\n"), "{report}");
}

#[test]
fn why_a_run_is_not_kept_is_said_once() {
    let host = Memory::new(&[]).keeping_nothing("the disk is full");
    output_of(&host, "wrktest -n x -d out --duration 1s --levels 1,2 http://h.test/a");
    assert_eq!(host.errors(), "loadline: the disk is full\n");
}

#[test]
fn a_command_line_is_looked_at_without_being_carried_out() {
    let host = Memory::new(&[("s.lua", "function request() return wrk.format() end")]);
    for dialect in DIALECTS {
        let uses = (dialect.uses)(&words("-s s.lua --nope"), &host);
        assert!(uses.iter().any(|used| matches!(used.support, Support::Refused(_))), "{}: {uses:?}", dialect.name);
    }
    let uses = crate::script_uses::of_file("s.lua", &*host.files());
    assert_eq!(uses.iter().map(|used| used.what.as_str()).collect::<Vec<_>>(), ["request()", "wrk.format"]);
    assert_eq!((host.output(), host.errors()), (String::new(), String::new()));
}

#[test]
fn the_name_of_a_link_or_the_first_word_chooses_the_dialect() {
    for known in DIALECTS {
        for line in [format!("/opt/bin/{} -x y", known.name), format!("loadline {} -x y", known.name)] {
            let words = words(&line);
            let (called, rest) = called(&words).unwrap();
            assert_eq!((called.name, rest.len()), (known.name, 2), "{line}");
        }
    }
    assert!(called(&words("loadline run wrk")).is_none() && dialect("run".as_ref()).is_none());
}
