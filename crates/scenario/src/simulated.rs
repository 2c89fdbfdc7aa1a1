//! Journeys in the simulated engine: exact counts, exact times, and what a server saw in which order.

use std::cell::RefCell;
use std::fs;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use engine::simulation::{Simulation, read_request};
use engine::{Collected, Stop};
use measure::{Failure, Leftovers, SummaryRecord};
use plan::{Draft, LoadRecord, Nanos, Plan, Resolved, Setting};
use template::Data;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::time::Instant;

use crate::compiled::compile;
use crate::ready::Workers;

mod answers;
mod caches;
mod ends;
mod items;
mod leaving;
mod letters;
mod parallel;
mod populations;
mod resources;
mod rows;
mod scripts;
mod streams;
mod wire;
mod words;

/// A request as the server saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    /// Milliseconds since the server began.
    at_ms: u64,
    /// From 0.
    connection: u64,
    /// Method and path.
    line: String,
    head: String,
    body: String,
}

impl Seen {
    fn header(&self, name: &str) -> &str {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value)
    }
}

/// An answer: after so many milliseconds, with this status, these header lines and this body.
type Answer = (u64, u16, String, String);

fn plain(after_ms: u64, body: &str) -> Answer {
    (after_ms, 200, String::new(), body.to_owned())
}

type Log = Rc<RefCell<Vec<Seen>>>;

/// A server that answers by a function and writes down what it sees.
fn serving(answer: impl Fn(&Seen) -> Answer + 'static) -> (Simulation, Log) {
    let log = Log::default();
    let (kept, answer) = (log.clone(), Rc::new(answer));
    let began: Rc<RefCell<Option<Instant>>> = Rc::default();
    let simulation = Simulation::of(move |mut stream: DuplexStream, connection| {
        let (log, answer) = (kept.clone(), answer.clone());
        let began = *began.borrow_mut().get_or_insert_with(Instant::now);
        async move {
            while let Some(head) = read_request(&mut stream).await {
                let at_ms = u64::try_from(began.elapsed().as_millis()).unwrap();
                let line = head.lines().next().unwrap().trim_end_matches(" HTTP/1.1").to_owned();
                let mut seen = Seen { at_ms, connection, line, head, body: String::new() };
                let mut body = vec![0; seen.header("content-length").parse().unwrap_or(0)];
                if stream.read_exact(&mut body).await.is_err() {
                    return;
                }
                seen.body = String::from_utf8(body).unwrap();
                log.borrow_mut().push(seen.clone());
                let (after_ms, status, headers, body) = answer(&seen);
                tokio::time::sleep(Duration::from_millis(after_ms)).await;
                let reply = format!("HTTP/1.1 {status} Word\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len());
                // A client that has hung up does not want the answer.
                let _ = stream.write_all(reply.as_bytes()).await;
            }
        }
    });
    (simulation, log)
}

/// Carries a scenario out.
fn run(server: &Simulation, text: &str) -> Collected {
    run_with(server, text, &[])
}

fn run_with(server: &Simulation, text: &str, files: &[Arc<Data>]) -> Collected {
    run_typed(server, text, files, &[])
}

/// Carries a scenario out, with headers of the command line.
fn run_typed(server: &Simulation, text: &str, files: &[Arc<Data>], headers: &[&str]) -> Collected {
    run_as(server, text, files, headers, false)
}

/// Carries a scenario out, with pauses or without.
fn run_as(server: &Simulation, text: &str, files: &[Arc<Data>], headers: &[&str], hurried: bool) -> Collected {
    let scenario = crate::read("s.yaml", text).unwrap_or_else(|mistakes| panic!("{mistakes:#?}"));
    let own = scenario.load();
    let draft = Draft {
        scenario: Some("s.yaml".to_owned()),
        url: Some("http://simulated.test/".to_owned()),
        threads: "1".parse::<Setting<_>>().ok(),
        header: headers.iter().map(|line| (*line).to_owned()).collect(),
        ..own.draft
    };
    let mut resolved = Resolved::from(LoadRecord { draft, ..own });
    for path in scenario.work.files() {
        resolved.contents.insert(path, fs::read(path).unwrap());
    }
    let plan = Plan::try_from(resolved).unwrap_or_else(|errors| panic!("{errors:?}"));
    let mut compiled = compile(&scenario, &plan, files, None).unwrap_or_else(|errors| panic!("{errors:?}"));
    compiled.hurried = hurried;
    let workers = Workers::new((&plan, &plan.parts()), files, compiled, None, 0);
    server.carry_out_parts(&plan, |part| workers.journeys(part, &Arc::default()))
}

fn lines(log: &Log) -> Vec<String> {
    log.borrow().iter().map(|seen| seen.line.clone()).collect()
}

fn failed(summary: &SummaryRecord, class: Failure) -> u64 {
    summary.failures.iter().find(|failure| failure.class == class).map_or(0, |failure| failure.count)
}

/// Whether a count is within five standard deviations of its binomial mean.
fn is_binomial(count: u64, of: u64, share: f64) -> bool {
    let (of, deviation) = (of as f64, (of as f64 * share * (1.0 - share)).sqrt());
    (count as f64 - of * share).abs() <= 5.0 * deviation
}

#[test]
fn a_user_takes_exactly_as_long_as_its_steps_and_pauses() {
    let (server, log) = serving(|_| plain(100, ""));
    let text = "load: {users: 2, duration: 60s}\nsteps:\n  - {get: /a, pause: 300ms}\n  - {get: /b, pause: 500ms}\n";
    let Collected { summary, .. } = run(&server, text);
    let scenario = summary.scenario.clone().unwrap();
    // Each user begins a journey a second, from 0 to 59.
    let journey = &scenario.journeys[0];
    assert_eq!((journey.started, journey.completed, journey.unfinished), (120, 120, 0));
    assert_eq!((summary.requests.due, summary.requests.succeeded, log.borrow().len()), (240, 240, 240));
    assert_eq!((journey.time().min(), journey.time().max()), (Some(Nanos::from_millis(500)), Some(Nanos::from_millis(500))));
    assert_eq!(summary.response_time.max(), Some(Nanos::from_millis(100)));
    for connection in 0..2 {
        let log = log.borrow();
        let seen = log.iter().filter(|seen| seen.connection == connection);
        for (number, seen) in (0..).zip(seen) {
            let expected = if number % 2 == 0 { (number / 2 * 1000, "GET /a") } else { (number / 2 * 1000 + 400, "GET /b") };
            assert_eq!((seen.at_ms, seen.line.as_str()), expected);
        }
    }
}

#[test]
fn a_rate_starts_exactly_so_many_journeys_whose_later_steps_follow_their_answers() {
    let (server, log) = serving(|_| plain(50, ""));
    let text = "load: {rate: 10/s, arrivals: even, duration: 10s, connections: 20}\nsteps:\n  - {get: /a, pause: 100ms}\n  - get: /b\n";
    let Collected { summary, .. } = run(&server, text);
    let scenario = summary.scenario.clone().unwrap();
    let journey = &scenario.journeys[0];
    assert_eq!(journey.started, 100);
    // One in the last 150 ms would send its second step after the end.
    assert_eq!((journey.completed, journey.unfinished), (99, 1));
    assert_eq!((summary.requests.due, log.borrow().len()), (199, 199));
    let begun: Vec<u64> = log.borrow().iter().filter(|seen| seen.line == "GET /a").map(|seen| seen.at_ms).collect();
    let gone_on: Vec<u64> = log.borrow().iter().filter(|seen| seen.line == "GET /b").map(|seen| seen.at_ms).collect();
    assert!(begun.iter().zip(&gone_on).all(|(a, b)| *b == a + 150), "{begun:?} {gone_on:?}");
}

#[test]
fn users_keep_their_own_cookies_and_variables() {
    let (server, log) = serving(|seen| match seen.line.as_str() {
        "POST /login" => {
            let name = seen.body.trim_start_matches("user=");
            (1, 200, format!("Set-Cookie: session=s{name}; Path=/\r\nX-Token: t{name}\r\n"), String::new())
        }
        _ => plain(1, ""),
    });
    let text = "\
load: {users: 7, requests: 700}
variables: {name: '{{random 1 1000000000}}'}
steps:
  - post: /login
    form: {user: '{{name}}'}
    extract: {token: header X-Token}
  - {get: /one, headers: {X-Token: '{{token}}', X-Name: '{{name}}'}}
  - {get: /two, headers: {X-Token: '{{token}}', X-Name: '{{name}}'}}
";
    let Collected { summary, .. } = run(&server, text);
    assert_eq!((summary.requests.succeeded, summary.scenario.clone().unwrap().journeys[0].completed), (700, 231));
    let mut last = vec![String::new(); 7];
    for seen in log.borrow().iter() {
        let name = &mut last[seen.connection as usize];
        if seen.line == "POST /login" {
            // The cookie of the login before; a new one comes with the answer.
            assert_eq!(seen.header("cookie"), if name.is_empty() { String::new() } else { format!("session=s{name}") });
            *name = seen.body.trim_start_matches("user=").to_owned();
            continue;
        }
        assert_eq!(seen.header("cookie"), format!("session=s{name}"));
        assert_eq!((seen.header("x-token"), seen.header("x-name")), (format!("t{name}").as_str(), name.as_str()));
    }
}

#[test]
fn journeys_and_picks_come_as_often_as_their_weights_say_and_steps_in_their_order() {
    let (server, log) = serving(|_| plain(1, ""));
    let text = "\
load: {users: 1, requests: 20000}
journeys:
  - {name: a, weight: 80, steps: [{get: /a1}, {get: /a2}]}
  - name: b
    weight: 20
    steps:
      - get: /b1
      - pick:
          - {weight: 1, steps: [{get: /rare}]}
          - {weight: 9, steps: [{get: /common}]}
      - {weight: 0, get: /b2}
";
    assert!(crate::read("s.yaml", text).is_err(), "a step has no weight");
    let text = text.replace("weight: 0, ", "");
    let Collected { summary, .. } = run(&server, &text);
    let journeys = summary.scenario.clone().unwrap().journeys;
    let started: u64 = journeys.iter().map(|journey| journey.started).sum();
    assert!(is_binomial(journeys[0].started, started, 0.8), "{} of {started}", journeys[0].started);
    let seen = lines(&log);
    let count = |line: &str| seen.iter().filter(|seen| *seen == line).count() as u64;
    assert!(is_binomial(count("GET /rare"), count("GET /rare") + count("GET /common"), 0.1), "{}", count("GET /rare"));
    for pair in seen.windows(2) {
        let follows: &[&str] = match pair[0].as_str() {
            "GET /a1" => &["GET /a2"],
            "GET /b1" => &["GET /rare", "GET /common"],
            "GET /rare" | "GET /common" => &["GET /b2"],
            _ => &["GET /a1", "GET /b1"],
        };
        assert!(follows.contains(&pair[1].as_str()), "{pair:?}");
    }
}

#[test]
fn a_step_s_own_timeout_is_a_timeout_with_the_step_named() {
    let (server, _) = serving(|seen| match seen.line.as_str() {
        "GET /hangs" => plain(1_000_000, ""),
        "GET /long" => plain(45_000, ""),
        _ => plain(5_000, ""),
    });
    let text = "\
load: {users: 1, requests: 9}
defaults: {timeout: 10s}
steps:
  - get: /five
  - {get: /long, name: long report, timeout: 1m}
  - {get: /hangs, name: hanging page, timeout: 2s}
";
    let Collected { summary, .. } = run(&server, text);
    assert_eq!((summary.requests.succeeded, summary.requests.failed), (6, 3));
    let failure = summary.failures.iter().find(|failure| failure.class == Failure::RecvIdleTimeout).unwrap();
    assert_eq!(failure.count, 3);
    let example = failure.example.as_ref().unwrap();
    assert!(example.text.starts_with("hanging page: no answer within 2s: on a connection that had answered 2"), "{}", example.text);
    let steps = summary.scenario.clone().unwrap().steps;
    assert_eq!((steps[2].failed, steps[2].response_time.max()), (3, Some(Nanos::from_secs(2))));
    assert_eq!((steps[1].succeeded, steps[1].response_time.max()), (3, Some(Nanos::from_secs(45))));
    // 5 + 45 + 2 seconds, three times.
    assert!((156..157).contains(&(summary.ended.drained_at.0 / 1_000_000_000)), "{}", summary.ended.drained_at);
}

#[test]
fn in_open_load_a_step_s_timeout_does_not_count_the_wait_for_a_connection() {
    let (server, _) = serving(|_| plain(900, ""));
    let text = "load: {rate: 2/s, arrivals: even, duration: 4s, connections: 1}\nsteps: [{get: /, timeout: 1s}]\n";
    let Collected { summary, .. } = run(&server, text);
    assert_eq!((summary.requests.due, summary.requests.succeeded), (8, 8));
    assert!(summary.response_time.max() > Some(Nanos::from_secs(2)), "the wait is in the response time all the same");
}

#[test]
fn a_check_compares_with_what_a_step_before_it_took_out() {
    let (server, _) = serving(|seen| {
        let path = seen.line.trim_start_matches("GET ");
        match path {
            "/next" => plain(1, &format!("{{\"id\": {}}}", seen.at_ms % 7)),
            // Every third item is another than the one that was asked for.
            path => {
                let id: u64 = path.trim_start_matches("/items/").parse().unwrap();
                (1, 200, format!("X-Item: item-{id}\r\n"), format!("{{\"id\": {}}}", if id.is_multiple_of(3) { id + 1 } else { id }))
            }
        }
    });
    let text = "\
load: {users: 1, requests: 2000}
steps:
  - {get: /next, extract: {id: json $.id}}
  - get: /items/{{id}}
    name: item
    checks:
      json: {$.id: '{{id}}'}
      header: {X-Item: 'item-{{id}}'}
      body: contains \"{{id}}\"
";
    let Collected { summary, .. } = run(&server, text);
    let step = &summary.scenario.as_ref().unwrap().steps[1];
    let wrong = step.checks[0].failed;
    assert!(wrong > 100 && step.checks[0].held > 100, "{step:?}");
    assert_eq!(step.checks[0].held + wrong, step.due);
    assert_eq!((step.checks[1].held, step.checks[1].failed), (step.due, 0));
    assert_eq!((step.checks[1].check.as_str(), failed(&summary, Failure::CheckFailed)), ("header X-Item == item-{{id}}", wrong));
    let example = &step.checks[0].example.as_ref().unwrap().text;
    assert!(example.starts_with("json $.id == {{id}} (here ") && example.contains("): was "), "{example}");
}

#[test]
fn an_expected_error_status_is_no_failure_and_the_journey_goes_on() {
    let (server, log) = serving(|seen| match seen.line.as_str() {
        "DELETE /cart" => (1, 404, String::new(), "nothing there".to_owned()),
        "GET /teapot" => (1, 418, String::new(), String::new()),
        _ => plain(1, ""),
    });
    let text = "\
load: {users: 1, requests: 400}
defaults: {must_succeed: true}
steps:
  - {delete: /cart, checks: {status: 404}}
  - {get: /teapot, checks: ['status not 5xx', body missing]}
  - {get: /cart, checks: [status 200]}
  - {get: /teapot, name: unexpected, checks: [time < 1s], must_succeed: false}
";
    let Collected { summary, .. } = run(&server, text);
    assert_eq!((summary.requests.succeeded, failed(&summary, Failure::CheckStatus)), (300, 100));
    // Of the four hundred answers with an error status, only those are shown that nobody asked for.
    assert_eq!(summary.failures.len(), 1);
    let example = &summary.failures[0].example.as_ref().unwrap().text;
    assert!(example.starts_with("unexpected: answered with the status 418: HTTP/1.1 418 Word"), "{example}");
    let scenario = summary.scenario.clone().unwrap();
    let failures: Vec<u64> = scenario.steps.iter().map(|step| step.failed).collect();
    assert_eq!(failures, [0, 0, 0, 100]);
    assert_eq!((scenario.journeys[0].completed, scenario.journeys[0].broke_off), (100, 0));
    assert_eq!(lines(&log).len(), 400);
}

#[test]
fn a_step_that_may_fail_ends_no_journey_and_leaves_what_nothing_was_found_for() {
    let (server, log) = serving(|seen| match seen.line.as_str() {
        "GET /hangs" => plain(1_000_000, ""),
        _ => plain(1, "token=t1"),
    });
    let text = "\
load: {users: 1, requests: 400}
variables: {token: old, other: old}
steps:
  - {get: /hangs, timeout: 2s, may_fail: true, extract: {token: {regex: 'token=(.*)', default: none}}}
  - {get: '/after/{{token}}/{{status}}', may_fail: true, extract: {other: regex nothing=(.*)}}
  - {if: '{{status}} == 200', steps: [{get: '/end/{{other}}'}]}
  - {get: /hangs, name: ends, timeout: 2s}
";
    let Collected { summary, .. } = run(&server, text);
    let journeys = &summary.scenario.as_ref().unwrap().journeys[0];
    assert_eq!((journeys.broke_off, journeys.completed), (100, 0));
    assert_eq!(lines(&log)[..5], ["GET /hangs", "GET /after/none/", "GET /end/", "GET /hangs", "GET /hangs"]);
    assert_eq!(failed(&summary, Failure::ExtractNothing), 100);
    let mistakes = crate::read("s.yaml", "target: http://a.test\nsteps:\n  - {get: /, may_fail: true, must_succeed: true}\n").unwrap_err();
    assert!(mistakes[0].message.contains("contradict"), "{mistakes:?}");
    // What a step says goes over what all have.
    let read = crate::read(
        "s.yaml",
        "target: http://a.test\ndefaults: {may_fail: true}\nsteps:\n  - {get: /, must_succeed: true}\n  - {get: /b}\n",
    )
    .unwrap();
    let said: Vec<(bool, bool)> = read.work.steps().iter().map(|step| (step.failure_ends.is_some(), step.may_fail)).collect();
    assert_eq!(said, [(true, false), (false, true)]);
}

#[test]
fn users_of_each_population_know_their_number() {
    let (server, log) = serving(|_| plain(100, ""));
    let text = "\
load: {duration: 1s, threads: 2}
populations:
  - {name: a, users: 3, journeys: [a], iterations_per_user: 2}
  - {name: b, users: 2, journeys: [b], iterations_per_user: 1}
journeys:
  - {name: a, steps: [{get: '/a/{{user_number}}'}]}
  - {name: b, steps: [{set: {n: '{{user_number}} * 10'}}, {get: '/b/{{n}}', headers: {X-Journey: '{{journey_number}}'}}]}
";
    run(&server, text);
    let journeys: std::collections::BTreeSet<String> = log.borrow().iter().map(|seen| seen.header("x-journey").to_owned()).collect();
    assert_eq!(journeys.len(), 3, "those of one population have none, the two of the other each its own: {journeys:?}");
    let mut seen = lines(&log);
    seen.sort();
    assert_eq!(seen, ["GET /a/1", "GET /a/1", "GET /a/2", "GET /a/2", "GET /a/3", "GET /a/3", "GET /b/10", "GET /b/20"]);
    // Whoever calls a variable of theirs so has it.
    let own = crate::read("s.yaml", "target: http://a.test\nvariables: {user_number: 7}\nsteps: [{get: '/{{user_number}}'}]\n").unwrap();
    assert!(!own.work.asks_for(plan::work::USER_NUMBER) && own.work.names().len() == 2);
}

#[test]
fn rows_run_out_as_the_scenario_says() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("users.csv");
    fs::write(&path, "name\nada\nbob\ncy\n").unwrap();
    let path = path.display().to_string();
    let files = [Arc::new(Data::open(&path).unwrap_or_else(|_| panic!()))];
    let text = |end: &str| {
        format!("load: {{users: 1, requests: 10}}\ndata: ['users={path}']\ndata_end: {end}\nsteps: [{{get: '/{{{{users.name}}}}'}}]\n")
    };
    let (server, log) = serving(|_| plain(1, ""));
    let Collected { summary, broken, .. } = run_with(&server, &text("wrap"), &files);
    assert_eq!((summary.requests.succeeded, broken), (10, None));
    assert_eq!(lines(&log)[2..5], ["GET /cy", "GET /ada", "GET /bob"]);

    let (server, log) = serving(|_| plain(1, ""));
    let Collected { summary, broken, .. } = run_with(&server, &text("stop"), &files);
    assert_eq!((summary.requests.succeeded, broken), (3, None));
    assert_eq!(lines(&log), ["GET /ada", "GET /bob", "GET /cy"]);

    let (server, log) = serving(|_| plain(1, ""));
    let Collected { summary, broken, .. } = run_with(&server, &text("error"), &files);
    assert_eq!((summary.requests.succeeded, log.borrow().len()), (3, 3));
    assert!(broken.unwrap().message.marked().contains("has run out after 3 rows"));
}

#[test]
fn a_user_keeps_its_row_and_every_user_needs_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("users.csv");
    fs::write(&path, "name\nada\nbob\ncy\n").unwrap();
    let path = path.display().to_string();
    let text = |users: u32| {
        format!(
            "load: {{users: {users}, requests: 60}}\ndata: ['users={path}']\ndata_order: per-user\nsteps: [{{get: '/{{{{users.name}}}}'}}]\n"
        )
    };
    // In memory, and where the file is too large for that.
    for memory_bytes_max in [usize::MAX, 0] {
        let files = [Arc::new(Data::open_within(&path, memory_bytes_max).unwrap_or_else(|_| panic!()))];
        let (server, log) = serving(|_| plain(10, ""));
        let Collected { summary, broken, .. } = run_with(&server, &text(3), &files);
        assert_eq!((summary.requests.succeeded, broken), (60, None));
        let mut seen: Vec<(_, String)> = log.borrow().iter().map(|seen| (seen.connection, seen.line.clone())).collect();
        seen.sort();
        seen.dedup();
        let mut lines: Vec<String> = seen.into_iter().map(|(_, line)| line).collect();
        lines.sort();
        assert_eq!(lines, ["GET /ada", "GET /bob", "GET /cy"], "a row to each connection, and no other");
    }
    let scenario = crate::read("s.yaml", &text(4)).unwrap_or_else(|mistakes| panic!("{mistakes:#?}"));
    let draft = Draft { scenario: Some("s.yaml".to_owned()), url: Some("http://a.test/".to_owned()), ..scenario.draft.clone() };
    let plan = Plan::try_from(draft).unwrap_or_else(|errors| panic!("{errors:?}"));
    let files = [Arc::new(Data::open(&path).unwrap_or_else(|_| panic!()))];
    let told = crate::Ready::new(&plan, &scenario, &files).err().expect("two users would share a row").spelt(plan::Spelling::Flags);
    assert!(told.contains("has 3 rows, and with data_order: per-user each of 4 users needs one of its own"), "{told}");
}

#[test]
fn an_extraction_that_finds_nothing_stops_the_journey_and_is_told_with_an_example() {
    let (server, log) = serving(|seen| plain(1, if seen.at_ms % 4 < 2 { "{\"token\": \"t\"}" } else { "{\"error\": \"sold out\"}" }));
    let text = "\
load: {users: 1, requests: 1000}
steps:
  - {get: /token, name: token, extract: {token: json $.token}}
  - get: /use/{{token}}
";
    let Collected { summary, .. } = run(&server, text);
    let missing = failed(&summary, Failure::ExtractNothing);
    let scenario = summary.scenario.as_ref().unwrap();
    assert!(missing > 100, "{missing}");
    assert_eq!(scenario.journeys[0].broke_off, missing);
    assert_eq!(scenario.steps[1].due, lines(&log).iter().filter(|line| *line == "GET /use/t").count() as u64);
    assert_eq!(scenario.steps[0].due, missing + scenario.steps[0].succeeded);
    let failure = summary.failures.iter().find(|failure| failure.class == Failure::ExtractNothing).unwrap();
    assert_eq!(
        failure.example.as_ref().unwrap().text,
        "token: json $.token found nothing, or the path is wrong (the answer has the keys error), in {\"error\": \"sold out\"}"
    );
}

#[test]
fn what_cannot_be_repeated_or_gone_through_ends_its_journey_and_not_the_run() {
    // Every other answer says how often, and holds a list.
    let answers = std::cell::Cell::new(0);
    let (server, log) = serving(move |seen| {
        if seen.line != "GET /list" {
            return plain(1, "ok");
        }
        answers.set(answers.get() + 1);
        plain(1, if answers.get() % 2 == 0 { r#"{"n": "many", "all": 7}"# } else { r#"{"n": 2, "all": ["a", "b"]}"# })
    });
    for repeated in ["repeat: '{{n}}'", "for_each: {variable: it, in: '{{all}}'}"] {
        log.borrow_mut().clear();
        let text = format!(
            "load: {{users: 1, requests: 40}}\nsteps:\n- get: /list\n  extract: {{n: json $.n, all: json $.all}}\n- {repeated}\n  steps: [{{get: /one}}]\n"
        );
        let ran = run(&server, &text);
        assert_eq!(ran.broken, None, "{repeated}");
        let refused = failed(&ran.summary, Failure::RequestValue);
        assert!(refused >= 5, "{repeated}: {:?}", ran.summary.failures);
        let journeys = &ran.summary.scenario.clone().unwrap().journeys[0];
        assert_eq!(journeys.broke_off, refused, "{repeated}");
        assert!(journeys.succeeded >= 5, "{repeated}: {journeys:?}");
        let ones = lines(&log).iter().filter(|line| *line == "GET /one").count() as u64;
        assert!(ones >= 2 * journeys.succeeded, "{repeated}: {ones}");
        assert_eq!(log.borrow().len() as u64, 40 - refused, "{repeated}: what cannot be sent is not");
    }
}

#[test]
fn a_loop_that_goes_round_without_sending_anything_ends_its_journey_and_not_the_run() {
    // Every other answer says a number that is far too large.
    let answers = std::cell::Cell::new(0);
    let (server, log) = serving(move |seen| {
        if seen.line != "GET /list" {
            return plain(1, "ok");
        }
        answers.set(answers.get() + 1);
        plain(1, if answers.get() % 2 == 0 { r#"{"n": 1000000000000, "x": 0}"# } else { r#"{"n": 2, "x": 1}"# })
    });
    let text = "load: {users: 1, requests: 40}
steps:
- get: /list
  extract: {n: json $.n, x: json $.x}
- repeat: '{{n}}'
  steps:
  - if: '{{x}} == 1'
    steps: [{get: /one}]
- get: /end
";
    let ran = run(&server, text);
    assert_eq!(ran.broken, None);
    let refused = failed(&ran.summary, Failure::RequestValue);
    assert!(refused >= 5, "{:?}", ran.summary.failures);
    assert_eq!(ran.summary.requests.due, 40);
    let journeys = &ran.summary.scenario.clone().unwrap().journeys[0];
    assert_eq!(journeys.broke_off, refused);
    assert!(journeys.succeeded >= 5, "{journeys:?}");
    assert_eq!(log.borrow().len() as u64, 40 - refused, "what cannot be sent is not");
}

#[test]
fn secrets_of_the_target_are_sent_to_no_other_server() {
    let (server, log) = serving(|_| plain(1, "ok"));
    let text = "load: {users: 1, requests: 3}
defaults: {headers: {X-Api-Key: shared, X-Shared: b}}
steps:
- get: /home
- get: http://other.test/there
- get: http://other.test/own
  headers: {X-Api-Key: own}
";
    let ran = run_typed(&server, text, &[], &["Authorization: Bearer typed", "X-Typed: a"]);
    assert_eq!((ran.broken, ran.summary.requests.succeeded), (None, 3));
    let told: Vec<[String; 4]> = log
        .borrow()
        .iter()
        .map(|seen| ["authorization", "x-typed", "x-api-key", "x-shared"].map(|name| seen.header(name).to_owned()))
        .collect();
    assert_eq!(told, [["Bearer typed", "a", "shared", "b"], ["", "a", "", "b"], ["", "a", "own", "b"]].map(|of| of.map(str::to_owned)));
}

#[test]
fn the_values_of_a_form_that_stands_as_text_are_encoded() {
    let (server, log) = serving(|_| plain(1, "ok"));
    let text = "load: {users: 1, requests: 2}
variables: {k: foo, v: 'a b&c'}
steps:
- post: /form
  headers: {Content-Type: application/x-www-form-urlencoded; charset=utf-8}
  body: '{{k}}={{v}}&x=1'
- post: /text
  body: '{{k}}={{v}}'
";
    let ran = run(&server, text);
    assert_eq!(ran.broken, None);
    let bodies: Vec<String> = log.borrow().iter().map(|seen| seen.body.clone()).collect();
    assert_eq!(bodies, ["foo=a+b%26c&x=1", "foo=a b&c"]);
}

#[test]
fn a_value_that_no_header_can_hold_ends_its_journey_and_not_the_run() {
    // Every other login answers with a token of two lines.
    let logins = std::cell::Cell::new(0);
    let (server, log) = serving(move |seen| {
        if seen.line != "POST /login" {
            return plain(1, "ok");
        }
        logins.set(logins.get() + 1);
        plain(1, if logins.get() % 2 == 0 { r#"{"t":"x\ny"}"# } else { r#"{"t":"xy"}"# })
    });
    let ran = run(
        &server,
        "load: {users: 3, requests: 40}\nsteps:\n- post: /login\n  extract: {a: json $.t}\n- get: /home\n  headers: {X-Csrf: '{{a}}'}\n- get: /end\n",
    );
    assert_eq!(ran.broken, None);
    let summary = ran.summary;
    assert_eq!(summary.requests.due, 40);
    let refused = failed(&summary, Failure::RequestValue);
    assert!(refused >= 5, "{:?}", summary.failures);
    assert_eq!(summary.requests.failed, refused);
    let journeys = &summary.scenario.clone().unwrap().journeys[0];
    assert_eq!(journeys.broke_off, refused);
    assert!(journeys.succeeded >= 5, "{journeys:?}");
    assert_eq!(log.borrow().len() as u64, 40 - refused, "what cannot be sent is not");
    assert!(log.borrow().iter().all(|seen| !seen.head.contains("y\r\n") || seen.header("x-csrf") == "xy"));
}

#[test]
fn journeys_are_the_same_however_their_load_is_split() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("users.csv");
    fs::write(&path, "name\nada\nbob\ncy\n").unwrap();
    let files = [Arc::new(Data::open(&path.display().to_string()).unwrap_or_else(|_| panic!()))];
    let text = format!(
        "data: ['users={}']\nload: {{LOAD, threads: 4, timeout: 300ms}}\n\
         steps:\n  - {{get: '/enter/{{{{users.name}}}}', extract: {{seen: regex (.+)}}, checks: [status 200]}}\n  \
         - {{post: '/buy/{{{{random 1 99}}}}', json: '{{\"n\": {{{{sequence}}}}}}', pause: 20ms..80ms, maximum_requests: 50}}\n  \
         - {{get: '/again{{{{seen}}}}'}}\n\
         user_teardown: [{{get: '/leave/{{{{random 1 99}}}}', checks: [status 200]}}]\n",
        path.display()
    );
    for load in ["users: 9, duration: 5s", "rate: 20/s, duration: 5s, connections: 40"] {
        let scenario = crate::read("s.yaml", &text.replace("LOAD", load)).unwrap_or_else(|mistakes| panic!("{mistakes:#?}"));
        let own = scenario.draft.clone();
        let url = Some("http://simulated.test/".to_owned());
        let plan = Plan::try_from(Draft { scenario: Some("s.yaml".to_owned()), url, ..own }).unwrap_or_else(|errors| panic!("{errors:?}"));
        let whole = engine::split::same_however_split(&plan, &|runner, parts| {
            let mut ready = crate::Ready::new(&plan, &scenario, &files).unwrap_or_else(|errors| panic!("{errors:?}")).on(runner);
            let series = ready.begin(&Stop::new()).unwrap();
            ready.start(&series, runner.prepare(&plan).unwrap(), parts, &Stop::new()).unwrap()
        });
        let Leftovers { teardowns, position, .. } = &whole.left;
        assert_eq!((position.sent.get(1), position.has_run_out), (Some(&50), false), "{load}");
        assert!(position.journeys > 90 && whole.summary.requests.succeeded > 200, "{load}: {position:?}");
        assert!(teardowns.users > 5, "{load}: {teardowns:?}");
        assert_eq!(whole.summary.warnings.len(), usize::from(teardowns.failed > 0), "{:?}", whole.summary.warnings);
    }
}
