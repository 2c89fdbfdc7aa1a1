//! `--out jtl=FILE`: a row for every request and transaction, as JMeter's result files have it, whatever the load and however slow the file.

use std::fs::File;
use std::io::Read as _;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::recorder::{Recorder, answer, line};
use crate::session::{Session, server};

/// The columns of JMeter's rows.
const HEADER: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,\
    grpThreads,allThreads,URL,Latency,IdleTime,Connect";

/// The fields of a row; one in quotes may hold commas.
fn fields(row: &str) -> Vec<String> {
    let (mut fields, mut is_quoted) = (vec![String::new()], false);
    for letter in row.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            letter => fields.last_mut().unwrap().push(letter),
        }
    }
    fields
}

/// The rows of a file.
struct Table(Vec<Vec<String>>);

impl Table {
    fn of(text: &str) -> Self {
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some(HEADER));
        let rows: Vec<Vec<String>> = lines.map(fields).collect();
        assert!(rows.iter().all(|row| row.len() == HEADER.split(',').count()), "{text}");
        Self(rows)
    }

    /// The different texts of a column, in order.
    fn all(&self, column: &str) -> Vec<&str> {
        let mut all: Vec<&str> = self.column(column).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn column<'a>(&'a self, column: &str) -> impl Iterator<Item = &'a str> {
        let place = HEADER.split(',').position(|known| known == column).unwrap();
        self.0.iter().map(move |row| row[place].as_str())
    }

    fn count(&self, column: &str, text: &str) -> usize {
        self.column(column).filter(|value| *value == text).count()
    }

    fn numbers(&self, column: &str) -> impl Iterator<Item = u64> {
        self.column(column).map(|value| value.parse().unwrap())
    }
}

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64
}

#[test]
fn every_request_is_a_row_in_both_forms() {
    let server = server();
    let (mut session, url) = (Session::new(), server.url("/healthz"));
    let began_ms = now_ms();
    let ran = session.loadline(&format!("run {url}?n=1 -n 200 -c 8 -t 2 --out jtl=r.jtl --out jtl-xml=r.xml --out json=r.json"));
    ran.exits(0).complains_of_nothing();
    let (table, result) = (Table::of(&session.read("r.jtl")), session.json("r.json"));
    assert_eq!((table.0.len(), &result["requests"]["succeeded"]), (200, &200.into()));
    for (column, text) in [
        ("label", "/healthz"),
        ("responseCode", "200"),
        ("responseMessage", "OK"),
        ("dataType", "text"),
        ("success", "true"),
        ("failureMessage", ""),
        ("grpThreads", "8"),
        ("allThreads", "8"),
        ("URL", &format!("{url}?n=1")),
        ("IdleTime", "0"),
    ] {
        assert_eq!(table.all(column), [text], "{column}");
    }
    let users: Vec<String> = (1..=8).map(|user| format!("Users 1-{user}")).collect();
    assert!(table.column("threadName").all(|name| users.iter().any(|user| user == name)));
    for (column, key) in [("bytes", "received"), ("sentBytes", "sent")] {
        assert_eq!(table.numbers(column).sum::<u64>(), result["bytes"][key].as_u64().unwrap());
    }
    let ended_ms = now_ms();
    assert!(table.numbers("timeStamp").zip(table.numbers("elapsed")).all(|(at, took)| at + 1 >= began_ms && at + took <= ended_ms + 1));
    assert!(table.numbers("Latency").zip(table.numbers("elapsed")).all(|(latency, elapsed)| latency <= elapsed));
    let xml = session.read("r.xml");
    assert_eq!(xml.matches("<httpSample ").count(), 200);
    assert!(xml.trim_end().ends_with("</testResults>"));
}

#[test]
fn a_load_from_several_processes_has_all_its_rows_in_one_file() {
    let server = Recorder::start_with(|_| answer(200, "", "ok"));
    let text = format!(
        "target: {}\nload: {{users: 6, requests: 3000}}\nsteps:\n  - {{get: /a, checks: [body contains ok]}}\n  - {{transaction: t, steps: \
         [{{get: /b, checks: [body contains no]}}]}}\n",
        server.url
    );
    let mut session = Session::new().file("s.yaml", &text);
    let began_ms = now_ms();
    session.loadline("run s.yaml -t 3 --processes 3 --out jtl=r.jtl --out json=r.json --no-save").exits(0);
    let (table, result) = (Table::of(&session.read("r.jtl")), session.json("r.json"));
    assert_eq!(result["generator"]["processes"].as_u64(), Some(3));
    let (requests, transactions): (Vec<_>, Vec<_>) = table.0.into_iter().partition(|row| row[2] != "t");
    let (requests, transactions) = (Table(requests), Table(transactions));
    assert_eq!(requests.0.len(), 3_000);
    assert_eq!(transactions.0.len(), requests.count("label", "GET /b"));
    let users: Vec<String> = (1..=6).map(|user| format!("Users 1-{user}")).collect();
    assert_eq!(requests.all("threadName"), users);
    for (column, key) in [("bytes", "received"), ("sentBytes", "sent")] {
        assert_eq!(requests.numbers(column).sum::<u64>(), result["bytes"][key].as_u64().unwrap());
    }
    assert_eq!(requests.count("failureMessage", "Test failed: body contains no"), requests.count("label", "GET /b"));
    assert_eq!(requests.count("success", "false") as u64, result["requests"]["failed"].as_u64().unwrap());
    let ended_ms = now_ms();
    assert!(requests.numbers("timeStamp").all(|at| at + 1 >= began_ms && at <= ended_ms + 1));
}

#[test]
fn rows_are_called_by_their_step_and_say_which_check_failed() {
    let server = Recorder::start_with(|request| match line(request) {
        "GET /" => answer(200, "", "welcome"),
        _ => answer(404, "", "nothing"),
    });
    let text = format!(
        "target: {}\npopulations:\n  - {{name: shop, users: 2, requests: 20}}\n  - {{name: office, users: 1, requests: 10}}\n\
         steps:\n  - get: /\n    name: entry\n    checks: [body contains sorry]\n  - get: /gone\n",
        server.url
    );
    let mut session = Session::new().file("s.yaml", &text);
    session.loadline("run s.yaml --out jtl=r.jtl --out json=r.json --no-save").exits(0);
    let (table, result) = (Table::of(&session.read("r.jtl")), session.json("r.json"));
    assert_eq!((table.0.len() as u64, table.count("success", "false")), (result["requests"]["failed"].as_u64().unwrap(), 30));
    assert_eq!(table.all("label"), ["GET /gone", "entry"]);
    assert_eq!((table.count("label", "entry"), table.count("failureMessage", "Test failed: body contains sorry")), (15, 15));
    assert_eq!(table.all("URL"), [format!("{}/", server.url), format!("{}/gone", server.url)]);
    assert_eq!((table.count("responseCode", "404"), table.count("responseMessage", "Not Found")), (15, 15));
    let groups = |group: &str| table.column("threadName").filter(|name| name.starts_with(group)).count();
    assert_eq!((groups("shop 1-"), groups("office 2-1")), (20, 10));
    assert_eq!((table.all("allThreads"), table.all("grpThreads")), (vec!["3"], vec!["1", "2"]));
}

#[test]
fn a_transaction_has_a_row_behind_those_of_its_requests() {
    let server = Recorder::start_with(|request| match line(request) {
        "GET /bad" => answer(500, "", "no"),
        _ => answer(200, "", "ok"),
    });
    let text = format!(
        "target: {}\nload: {{users: 1, requests: 8}}\nsteps:\n  - transaction: buy\n    steps:\n      - {{get: /a, pause: 50ms}}\n      - \
         transaction: inner\n        include_pauses: true\n        steps: [{{get: /b, pause: 20ms}}, {{get: /bad}}]\n  - {{transaction: well, \
         steps: [{{get: /c}}]}}\n",
        server.url
    );
    let mut session = Session::new().file("s.yaml", &text);
    session.loadline("run s.yaml --out jtl=r.jtl --out jtl-xml=r.xml --no-save").exits(0);
    let table = Table::of(&session.read("r.jtl"));
    let labels: Vec<&str> = table.column("label").collect();
    assert_eq!(labels, ["GET /a", "GET /b", "GET /bad", "inner", "buy", "GET /c", "well"].repeat(2));
    let [a, b, bad, inner, buy, c, well] = [0, 1, 2, 3, 4, 5, 6].map(|row| Table(vec![table.0[row].clone()]));
    let number = |row: &Table, column: &str| row.numbers(column).next().unwrap();
    let text = |row: &Table, column: &str| row.column(column).next().unwrap().to_owned();
    for (row, parts, failed) in [(&inner, vec![&b, &bad], 1), (&buy, vec![&a, &b, &bad], 1), (&well, vec![&c], 0)] {
        let said = format!("Number of samples in transaction : {}, number of failing samples : {failed}", parts.len());
        assert_eq!(text(row, "responseMessage"), said);
        let (success, code) = if failed == 0 { ("true", "200") } else { ("false", "") };
        assert_eq!((text(row, "success").as_str(), text(row, "responseCode").as_str()), (success, code), "{said}");
        assert_eq!((text(row, "dataType").as_str(), text(row, "URL").as_str()), ("", "null"));
        assert_eq!((text(row, "threadName"), text(row, "timeStamp")), (text(parts[0], "threadName"), text(parts[0], "timeStamp")));
        let sum = |column: &str| parts.iter().map(|part| number(part, column)).sum::<u64>();
        for column in ["bytes", "sentBytes"] {
            assert_eq!(number(row, column), sum(column), "{column} of {said}");
        }
        // Each is rounded by itself.
        assert!(number(row, "Latency").abs_diff(sum("Latency")) <= 2, "{said}");
    }
    // The pauses are part of the one, and not of the other.
    assert!(number(&inner, "elapsed") >= 20 && number(&inner, "IdleTime") == 0);
    assert!(number(&buy, "IdleTime") >= 70);
    assert!(number(&buy, "elapsed").abs_diff([&a, &b, &bad].map(|row| number(row, "elapsed")).iter().sum()) <= 2);
    let xml = session.read("r.xml");
    assert_eq!((xml.matches("<sample ").count(), xml.matches("<httpSample ").count()), (6, 8), "{xml}");
    session.loadline("report r.jtl").exits(0).says("6 samples are transactions");
}

#[test]
fn what_went_wrong_is_told_as_jmeter_does() {
    let server = server();
    let mut session = Session::new();
    session.loadline(&format!("run {} -n 6 -c 2 --out jtl=status.jtl", server.url("/behave?status=503"))).exits(0);
    let table = Table::of(&session.read("status.jtl"));
    assert_eq!(table.0.len(), 6);
    assert_eq!((table.all("responseCode"), table.all("responseMessage")), (vec!["503"], vec!["Service Unavailable"]));
    assert_eq!((table.all("success"), table.all("failureMessage")), (vec!["false"], vec![""]));

    let silent = server.url("/behave?never");
    session.loadline(&format!("run {silent} -n 4 -c 2 --timeout 200ms --no-preflight --out jtl=silent.jtl")).exits_either(0, 3);
    let table = Table::of(&session.read("silent.jtl"));
    assert_eq!(table.all("responseCode"), ["Non HTTP response code: java.net.SocketTimeoutException"]);
    assert_eq!(table.all("responseMessage"), ["Non HTTP response message: no answer within the timeout"]);
    assert_eq!((table.0.len(), table.all("elapsed")), (4, vec!["200"]), "a timeout is told at its limit");
}

#[test]
fn a_log_that_is_sent_again_has_rows_by_its_routes() {
    let server = server();
    let line = |at: u64, path: &str| format!("{{\"time\":\"1700000000.{at:03}\",\"path\":\"{path}\",\"status\":200}}\n");
    let log: String = (0..40).map(|at| line(at, if at % 4 == 0 { "/healthz" } else { "/echo" })).collect();
    let mut session = Session::new().file("a.log", &log);
    session.loadline(&format!("replay a.log {} --out jtl=r.jtl --no-save", server.url("").trim_end_matches('/'))).exits_either(0, 4);
    let table = Table::of(&session.read("r.jtl"));
    assert_eq!((table.count("label", "GET /healthz"), table.count("label", "GET /echo")), (10, 30));
    assert_eq!(table.count("URL", &server.url("/healthz")), 10);
}

#[test]
fn a_load_does_not_wait_for_who_reads_its_rows() {
    let server = server();
    let mut session = Session::new();
    let pipe = session.path("rows");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // A pipe takes a fraction of these rows, and nobody reads it while they come.
    let running = session.start(&format!("run {} -n 6000 -c 4 -t 1 --out jtl=rows --out json=r.json", server.url("/healthz")));
    let running = running.once(|| server.counts().path("/healthz") == 6000);
    let mut text = String::new();
    File::open(&pipe).unwrap().read_to_string(&mut text).unwrap();
    running.end().exits(0);
    assert_eq!(Table::of(&text).0.len(), 6000);
    assert_eq!(session.json("r.json")["requests"]["succeeded"], 6000);
}

#[test]
fn who_cannot_write_rows_says_so_before_anything_is_sent() {
    let server = server();
    let url = server.url("/healthz");
    let mut session = Session::new().file("old.jtl", "last week's");
    for (line, said) in [
        (format!("run {url} -n 20 --out jtl=-"), "--out jtl=requests.jtl"),
        (format!("run {url} -n 20 --out jtl=old.jtl"), "the file 'old.jtl' exists"),
        (format!("run {url} -n 20 --out jtl=r.jtl --out jtl-xml=r.jtl"), "both write to 'r.jtl'"),
        (format!("sweep {url} --levels 1,2 --out jtl=r.jtl"), "only a single load writes one"),
        (format!("run {url} -n 20 --out xyz=r"), "html, jtl, jtl-xml"),
    ] {
        session.loadline(&line).exits(2).complains(said);
    }
    assert_eq!((server.counts().received, session.files()), (0, vec!["old.jtl".to_owned()]));
    // A load that cannot begin does not replace what there was.
    session.loadline("run http://127.0.0.1:1/ -n 20 --out jtl=old.jtl --force").exits(3);
    assert_eq!(session.read("old.jtl"), "last week's");
    session.loadline(&format!("run {url} -n 20 --out jtl=old.jtl --force")).exits(0);
    assert_eq!(Table::of(&session.read("old.jtl")).0.len(), 20);
    session.loadline("show @last --out jtl=again.jtl").exits(2).complains("only a single load writes one");
}

#[test]
fn a_transaction_that_has_the_only_row_has_the_sums_of_what_is_in_it() {
    let server = Recorder::start_with(|request| match line(request) {
        "GET /c" => answer(500, "", "no"),
        _ => answer(200, "", "welcome"),
    });
    let text = format!(
        "target: {}\npopulations: [{{name: shop, users: 2, iterations: 10}}]\nsteps:\n  - transaction: whole\n    only_row: true\n    steps:\n      - get: /a\n      \
         - {{transaction: inner, steps: [{{get: /b}}, {{get: /c}}]}}\n  - get: /a2\n  - {{transaction: plain, steps: [{{get: /d}}]}}\n",
        server.url
    );
    let mut session = Session::new().file("s.yaml", &text);
    session.loadline("run s.yaml --out jtl=r.jtl --out json=r.json --no-save").exits(0);
    let (table, result) = (Table::of(&session.read("r.jtl")), session.json("r.json"));
    assert_eq!(table.all("label"), ["GET /a2", "GET /d", "plain", "whole"]);
    let sums = "Number of samples in transaction : 3, number of failing samples : 1";
    assert_eq!((table.count("label", "whole"), table.count("responseMessage", sums)), (10, 10), "those of the inner one are its own");
    // Whatever was received stands in some row, once.
    let own = Table(table.0.iter().filter(|row| row[2] != "plain").cloned().collect());
    for (column, key) in [("bytes", "received"), ("sentBytes", "sent")] {
        assert_eq!(own.numbers(column).sum::<u64>(), result["bytes"][key].as_u64().unwrap(), "{column}");
    }
}

#[test]
fn a_row_says_what_its_check_says_of_a_failure() {
    let server = Recorder::start_with(|_| answer(200, "", "welcome"));
    let text = format!(
        "target: {}\nload: {{users: 1, requests: 4}}\nsteps:\n  - get: /a\n    checks: [body contains welcome, {{body: contains sorry, \
         failure: 'It is not, \"sorry\"'}}]\n",
        server.url
    );
    let mut session = Session::new().file("s.yaml", &text);
    session.loadline("run s.yaml --out jtl=r.jtl --no-save").exits(0);
    assert_eq!(session.read("r.jtl").matches(",\"It is not, \"\"sorry\"\"\",").count(), 4);
}
