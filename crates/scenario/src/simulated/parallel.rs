//! Branches of one user: when each sends, over which connection, and what is left of them.

use std::cell::Cell;

use super::*;
use engine::Runner;
use measure::{JourneyRow, Requests};

/// Milliseconds and path of each request.
fn sent(log: &Log) -> Vec<(u64, String)> {
    log.borrow().iter().map(|seen| (seen.at_ms, seen.line.split_once(' ').unwrap().1.to_owned())).collect()
}

fn expected(rows: &[(u64, &str)]) -> Vec<(u64, String)> {
    rows.iter().map(|(at, path)| (*at, (*path).to_owned())).collect()
}

fn journey(summary: &SummaryRecord) -> JourneyRow {
    summary.scenario.clone().unwrap().journeys[0].clone()
}

/// A server that takes as many milliseconds as the path ends with, else 100, and answers a path with `bad` in it with 500.
fn timed() -> (Simulation, Log) {
    serving(|seen| {
        let path = seen.line.split_once(' ').unwrap().1;
        let after = path.rsplit_once('-').and_then(|(_, ms)| ms.parse().ok()).unwrap_or(100);
        (after, if path.contains("bad") { 500 } else { 200 }, String::new(), format!("{{\"path\": \"{path}\"}}"))
    })
}

#[test]
fn branches_are_under_way_at_the_same_time_each_on_a_connection_that_stays_its_user_s() {
    let steps = "\
steps:
  - get: /page
  - parallel: [{get: /a}, {steps: [{get: /b1}, {get: /b2}]}, {get: /c}]
  - get: /after
";
    let (server, log) = timed();
    let Collected { summary, .. } = run(&server, &format!("load: {{users: 1, requests: 12}}\n{steps}"));
    let of_journey =
        |at: u64| [(at, "/page"), (at + 100, "/a"), (at + 100, "/b1"), (at + 100, "/c"), (at + 200, "/b2"), (at + 300, "/after")];
    assert_eq!(sent(&log), expected(&[of_journey(0), of_journey(400)].concat()));
    assert_eq!((summary.requests.due, summary.requests.succeeded, summary.connections.opened), (12, 12, 3));
    let journey = journey(&summary);
    assert_eq!((journey.started, journey.succeeded), (2, 2));
    assert_eq!((journey.time().min(), journey.time().max()), (Some(Nanos::from_millis(400)), Some(Nanos::from_millis(400))));
    assert_eq!(summary.response_time.max(), Some(Nanos::from_millis(100)));
}

#[test]
fn no_more_branches_than_may_be_are_under_way_and_the_next_has_not_waited() {
    let steps = "steps:\n  - parallel: [{get: /a-300}, {get: /b}, {get: /c}, {get: /d}, {get: /e}]\n    at_once: 2\n";
    let (server, log) = timed();
    let Collected { summary, .. } = run(&server, &format!("load: {{users: 1, requests: 5}}\n{steps}"));
    assert_eq!(sent(&log), expected(&[(0, "/a-300"), (0, "/b"), (100, "/c"), (200, "/d"), (300, "/e")]));
    let steps = summary.scenario.clone().unwrap().steps;
    assert!(steps[1..].iter().all(|step| step.response_time.max() == Some(Nanos::from_millis(100))), "{steps:?}");
    let one = steps_of_one(&["/a", "/b", "/c"]);
    let (server, log) = timed();
    run(&server, &format!("load: {{users: 1, requests: 3}}\n{one}"));
    assert_eq!(sent(&log), expected(&[(0, "/a"), (100, "/b"), (200, "/c")]));
}

fn steps_of_one(paths: &[&str]) -> String {
    let branches: Vec<String> = paths.iter().map(|path| format!("{{get: {path}}}")).collect();
    format!("steps:\n  - parallel: [{}]\n    at_once: 1\n", branches.join(", "))
}

#[test]
fn the_user_waits_for_the_slowest_branch_and_for_the_pause_at_its_end() {
    let steps = "steps: [{parallel: [{get: /a-900}, {get: /b, pause: 1s}, {pause: 300ms}]}, {get: /after}]\n";
    let (server, log) = timed();
    run(&server, &format!("load: {{users: 1, requests: 3}}\n{steps}"));
    assert_eq!(sent(&log), expected(&[(0, "/a-900"), (0, "/b"), (1_100, "/after")]));
    // With one at a time, the pause is before the next branch.
    let steps = "steps:\n  - parallel: [{get: /a, pause: 1s}, {get: /b}]\n    at_once: 1\n";
    let (server, log) = timed();
    run(&server, &format!("load: {{users: 1, requests: 2}}\n{steps}"));
    assert_eq!(sent(&log), expected(&[(0, "/a"), (1_100, "/b")]));
}

#[test]
fn a_branch_breaks_off_as_a_journey_does_and_the_journey_behind_the_others() {
    let steps = "\
steps:
  - parallel:
      - steps: [{get: /bad, must_succeed: true}, {get: /never}]
      - steps: [{get: /b1}, {get: /b2}]
  - get: /never
";
    let (server, log) = timed();
    let Collected { summary, .. } = run(&server, &format!("load: {{users: 1, requests: 6}}\n{steps}"));
    let of_journey = |at: u64| [(at, "/bad"), (at, "/b1"), (at + 100, "/b2")];
    assert_eq!(sent(&log), expected(&[of_journey(0), of_journey(200)].concat()));
    let row = journey(&summary);
    assert_eq!((row.started, row.completed, row.broke_off, row.unfinished), (2, 0, 2, 0));
    assert_eq!((summary.requests.succeeded, failed(&summary, Failure::CheckStatus)), (4, 2));
    // One that need not succeed is counted, and the journey goes on.
    let (server, log) = timed();
    let Collected { summary, .. } =
        run(&server, &format!("load: {{users: 1, requests: 4}}\n{}", steps.replace(", must_succeed: true", "").replace("never", "on")));
    let row = journey(&summary);
    assert_eq!(sent(&log).len(), 4);
    assert_eq!((row.started, row.completed, row.unfinished), (1, 0, 1), "the last step was not sent");
    let (server, _) = timed();
    let Collected { summary, .. } = run(&server, "load: {users: 2, requests: 8}\nsteps: [{parallel: [{get: /bad}, {get: /b}]}]\n");
    let row = journey(&summary);
    assert_eq!((row.started, row.completed, row.succeeded), (4, 4, 0));
}

#[test]
fn a_branch_sees_what_was_before_and_its_own_and_the_last_in_the_file_is_left() {
    let steps = "\
variables: {x: zero, y: zero, z: zero}
steps:
  - parallel:
      - steps: [{get: '/slow-{{x}}-500', extract: {x: json $.path}}, {set: {y: one}}, {get: '/one-{{x}}-{{y}}'}]
      - steps: [{get: '/fast-{{x}}', extract: {x: json $.path}}, {set: {z: zero}}, {get: '/two-{{x}}-{{y}}'}]
      - steps: [{get: '/bad-{{status}}-50'}]
  - get: '/after{{x}}-{{y}}-{{z}}-{{status}}-100'
";
    let (server, log) = timed();
    run(&server, &format!("load: {{users: 1, requests: 6}}\n{steps}"));
    let paths: Vec<String> = log.borrow().iter().map(|seen| seen.line.split_once(' ').unwrap().1.to_owned()).collect();
    assert_eq!(
        paths,
        [
            "/slow-zero-500",
            "/fast-zero",
            "/bad--50",
            "/two-%2Ffast-zero-zero",
            "/one-%2Fslow-zero-500-one",
            "/after%2Ffast-zero-one-zero-500-100"
        ]
    );
    // The same value as before is a value as well.
    let steps = "variables: {x: '1'}\nsteps: [{parallel: [{get: /a}, {set: {x: '2'}}, {set: {x: '1'}}]}, {get: '/{{x}}'}]\n";
    let (server, log) = timed();
    run(&server, &format!("load: {{users: 1, requests: 2}}\n{steps}"));
    assert_eq!(lines(&log), ["GET /a", "GET /1"]);
}

#[test]
fn cookies_are_all_branches_and_so_is_the_row_and_what_is_done_once() {
    let (server, log) = serving(|seen| match seen.line.as_str() {
        "POST /login" => (50, 200, "Set-Cookie: session=s; Path=/\r\n".to_owned(), String::new()),
        _ => plain(100, ""),
    });
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rows.csv");
    fs::write(&path, "name\nada\nbob\n").unwrap();
    let files = [Arc::new(Data::open(&path.display().to_string()).unwrap_or_else(|_| panic!()))];
    let text = format!(
        "data: ['rows={}']\nload: {{users: 1, requests: 7}}\nsteps:\n  - parallel:\n      - {{post: /login, once: true}}\n      \
         - steps: [{{get: '/a/{{{{rows.name}}}}'}}, {{get: '/b/{{{{rows.name}}}}'}}]\n  - get: /after\n",
        path.display()
    );
    run_with(&server, &text, &files);
    let seen: Vec<(String, String)> = log.borrow().iter().map(|seen| (seen.line.clone(), seen.header("cookie").to_owned())).collect();
    let of = |line: &str, cookie: &str| (line.to_owned(), cookie.to_owned());
    let with = "session=s";
    let expected = [
        of("POST /login", ""),
        of("GET /a/ada", ""),
        of("GET /b/ada", with),
        of("GET /after", with),
        of("GET /a/bob", with),
        of("GET /b/bob", with),
        of("GET /after", with),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn a_load_that_ends_amid_branches_drains_them_and_leaves_the_journey_unfinished() {
    let steps = "\
steps:
  - transaction: page
    steps:
      - parallel: [{steps: [{get: /a1}, {get: /a2}, {get: /a3}, {get: /never}]}, {get: /b-700}]
  - get: /never
";
    let (server, log) = timed();
    let Collected { summary, .. } = run(&server, &format!("load: {{users: 1, duration: 250ms}}\n{steps}"));
    assert_eq!(sent(&log).len(), 4);
    let Requests { due, succeeded, failed, unsent, .. } = summary.requests;
    assert_eq!((due, succeeded, failed, unsent), (4, 4, 0, 0));
    let row = journey(&summary);
    assert_eq!((row.started, row.completed, row.unfinished), (1, 0, 1));
    let transaction = summary.scenario.clone().unwrap().transactions[0].clone();
    assert_eq!((transaction.started, transaction.completed, transaction.unfinished), (1, 0, 1));
    assert!(summary.ended.drained_at >= Nanos::from_millis(700));
    // A number of requests is met exactly, whichever branch has the last.
    let (server, log) = timed();
    let Collected { summary, .. } = run(&server, &format!("load: {{users: 1, requests: 3}}\n{steps}"));
    assert_eq!((summary.requests.due, sent(&log).len(), journey(&summary).unfinished), (3, 3, 1));
}

#[test]
fn a_step_s_limits_hold_over_branches_and_a_timeout_ends_its_branch_alone() {
    let steps = "\
steps:
  - parallel:
      - steps: [{get: /hangs-9000, timeout: 2s}, {get: /never}]
      - steps: [{repeat: 3, steps: [{get: /few, maximum_requests: 2}]}, {get: /then}]
  - get: /never
";
    let (server, log) = timed();
    let Collected { summary, .. } = run(&server, &format!("load: {{users: 1, requests: 4}}\n{steps}"));
    assert_eq!(sent(&log), expected(&[(0, "/hangs-9000"), (0, "/few"), (100, "/few"), (200, "/then")]));
    assert_eq!((failed(&summary, Failure::RecvIdleTimeout), journey(&summary).broke_off), (1, 1));
}

#[test]
fn a_transaction_around_branches_takes_as_long_as_the_longest_of_them() {
    let steps = "\
steps:
  - transaction: bare
    steps:
      - parallel: [{steps: [{get: /a}, {pause: 1s}, {get: /b}]}, {get: /c-150}, {transaction: inner, steps: [{get: /d}, {get: /e}]}]
  - transaction: paused
    include_pauses: true
    steps:
      - parallel: [{steps: [{get: /a}, {pause: 1s}, {get: /b}]}, {get: /c-150}]
  - transaction: fails
    steps: [{parallel: [{get: /bad}, {get: /b}]}]
";
    let (server, _) = timed();
    let Collected { summary, .. } = run(&server, &format!("load: {{users: 1, requests: 20}}\n{steps}"));
    let rows = summary.scenario.clone().unwrap().transactions;
    let said: Vec<_> =
        rows.iter().map(|row| (row.name.as_str(), row.completed, row.succeeded, row.time().max().unwrap().0 / 1_000_000)).collect();
    assert_eq!(said, [("bare", 2, 2, 200), ("inner", 2, 2, 200), ("paused", 2, 2, 1_200), ("fails", 2, 0, 100)]);
}

#[test]
fn all_first_requests_of_an_arrival_are_due_with_it() {
    let (server, log) = timed();
    let text = "load: {rate: 10/s, arrivals: even, duration: 1s, connections: 1}\nsteps: [{parallel: [{get: /a}, {get: /b-200}]}]\n";
    let Collected { summary, .. } = run(&server, text);
    assert_eq!((summary.requests.due, summary.requests.succeeded, log.borrow().len()), (20, 20, 20));
    assert_eq!((journey(&summary).started, summary.connections.opened), (10, 2));
    // The second arrival, at 100 ms, waits for the first to be through with both, and its two requests do.
    let steps = summary.scenario.clone().unwrap().steps;
    let least = |step: usize| steps[step].response_time.min();
    assert_eq!((least(0), least(1)), (Some(Nanos::from_millis(100)), Some(Nanos::from_millis(200))));
    let most = |step: usize| steps[step].response_time.max().unwrap();
    assert_eq!(most(1).since(most(0)), Nanos::from_millis(100), "{} {}", most(0), most(1));
}

#[test]
fn a_section_around_branches_is_kept_to_their_end_and_one_in_a_branch_is_the_branch_s() {
    let (server, log) = timed();
    let steps = "steps: [{critical_section: s, steps: [{parallel: [{get: /a}, {get: /b-300}]}]}]\n";
    run(&server, &format!("load: {{users: 2, requests: 4}}\n{steps}"));
    let at: Vec<u64> = log.borrow().iter().map(|seen| seen.at_ms).collect();
    assert_eq!(at, [0, 0, 300, 300]);
    let (server, log) = timed();
    let steps = "steps: [{parallel: [{critical_section: s, steps: [{get: /a}]}, {critical_section: s, steps: [{get: /b}]}, {get: /c}]}, {get: /after}]\n";
    run(&server, &format!("load: {{users: 1, requests: 4}}\n{steps}"));
    let seen: Vec<(u64, String)> = log.borrow().iter().map(|seen| (seen.at_ms, seen.line.clone())).collect();
    let of = |at: u64, line: &str| (at, line.to_owned());
    assert_eq!(seen, [of(0, "GET /a"), of(0, "GET /c"), of(100, "GET /b"), of(200, "GET /after")]);
}

#[test]
fn users_leave_with_their_branches() {
    let (server, log) = timed();
    let text =
        "load: {users: 2, requests: 2}\nuser_teardown: [{parallel: [{get: /x}, {steps: [{get: /y}, {get: /z}]}]}]\nsteps: [{get: /a}]\n";
    let Collected { summary, left, .. } = run(&server, text);
    assert_eq!((summary.requests.due, left.teardowns.users, left.teardowns.failed), (2, 2, 0));
    let mut paths: Vec<String> = sent(&log).into_iter().map(|(_, path)| path).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["/a", "/a", "/x", "/x", "/y", "/y", "/z", "/z"]);
}

#[test]
fn a_loop_of_branches_that_send_nothing_ends_with_the_load() {
    let steps = "steps: [{get: /a}, {while: '{{status}} == 200', steps: [{parallel: [{if: '{{status}} == 500', steps: [{get: /b}]}]}]}]\n";
    let (server, log) = timed();
    let Collected { summary, .. } = run(&server, &format!("load: {{users: 1, duration: 1s}}\n{steps}"));
    assert_eq!((log.borrow().len(), journey(&summary).unfinished), (1, 1));
}

#[test]
fn counters_and_paces_in_branches_are_the_user_s() {
    let steps = "\
steps:
  - parallel:
      - interleave: [{get: /one}, {get: /two}]
        per_user: true
      - steps: [{pacing: 1s}, {get: /paced}]
";
    let (server, log) = timed();
    run(&server, &format!("load: {{users: 1, requests: 6}}\n{steps}"));
    let mut seen: Vec<(u64, String)> = sent(&log);
    seen.sort_unstable();
    let of = |at: u64, path: &str| (at, path.to_owned());
    assert_eq!(seen, [of(0, "/one"), of(0, "/paced"), of(100, "/two"), of(1_000, "/paced"), of(1_100, "/one"), of(2_000, "/paced")]);
}

#[test]
fn a_connection_that_the_server_closed_meanwhile_is_opened_anew() {
    let answered = Rc::new(Cell::new(0));
    let count = answered.clone();
    let server = Simulation::of(move |mut stream: DuplexStream, _| {
        let answered = count.clone();
        async move {
            // An idle connection is closed after a second.
            while let Ok(Some(_)) = tokio::time::timeout(Duration::from_secs(1), read_request(&mut stream)).await {
                answered.set(answered.get() + 1);
                if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await.is_err() {
                    return;
                }
            }
        }
    });
    let steps = "steps: [{parallel: [{get: /a, pause: 3s}, {get: /b}]}, {get: /c, pause: 5s}]\n";
    let Collected { summary, .. } = run(&server, &format!("load: {{users: 1, requests: 6}}\n{steps}"));
    assert_eq!((summary.requests.succeeded, summary.requests.failed, answered.get()), (6, 0, 6), "{:?}", summary.failures);
}

#[test]
fn branches_are_the_same_however_their_load_is_split() {
    let text = "\
load: {LOAD, threads: 4, timeout: 300ms}
steps:
  - {get: '/enter/{{random 1 99}}', extract: {seen: regex (.+)}}
  - parallel:
      - {get: '/a/{{random 1 99}}', checks: [status 200], must_succeed: true}
      - steps: [{get: '/b{{seen}}', extract: {seen: regex (.+)}, pause: 10ms..30ms}, {get: '/c/{{random 1 99}}'}]
      - {get: '/d/{{random 1 99}}', maximum_requests: 30}
      - transaction: last
        steps: [{get: '/e/{{random 1 99}}'}, {get: '/f/{{random 1 99}}'}]
    at_once: 3
  - {get: '/after{{seen}}'}
";
    for load in ["users: 9, duration: 5s", "rate: 10/s, duration: 5s, connections: 40"] {
        let scenario = crate::read("s.yaml", &text.replace("LOAD", load)).unwrap_or_else(|mistakes| panic!("{mistakes:#?}"));
        let own = scenario.draft.clone();
        let url = Some("http://simulated.test/".to_owned());
        let plan = Plan::try_from(Draft { scenario: Some("s.yaml".to_owned()), url, ..own }).unwrap_or_else(|errors| panic!("{errors:?}"));
        let whole = engine::split::same_however_split(&plan, &|runner, parts| {
            let mut ready = crate::Ready::new(&plan, &scenario, &[]).unwrap_or_else(|errors| panic!("{errors:?}")).on(runner);
            let series = ready.begin(&Stop::new()).unwrap();
            ready.start(&series, runner.prepare(&plan).unwrap(), parts, &Stop::new()).unwrap()
        });
        let rows = whole.summary.scenario.clone().unwrap();
        assert_eq!(rows.steps[4].due, 30, "{load}");
        let row = &rows.journeys[0];
        assert_eq!(row.started, row.completed + row.broke_off + row.unfinished, "{load}");
        assert!(row.completed > 20 && row.broke_off > 0, "{load}: {row:?}");
    }
}

#[test]
fn a_walk_shows_branches_one_after_the_other_in_the_order_of_the_file() {
    let steps = "target: http://simulated.test\nvariables: {x: '0'}\nsteps:\n  - parallel: [{get: /a-500}, {steps: [{get: /b, extract: {x: json $.path}}, {get: '/c{{x}}'}]}, {get: '/d{{x}}'}]\n  - get: '/after{{x}}'\n";
    let scenario = crate::read("s.yaml", steps).unwrap_or_else(|mistakes| panic!("{mistakes:#?}"));
    let own = scenario.draft.clone();
    let plan = Plan::try_from(Draft { scenario: Some("s.yaml".to_owned()), ..own }).unwrap_or_else(|errors| panic!("{errors:?}"));
    let (server, _) = timed();
    let ready = crate::Ready::new(&plan, &scenario, &[]).unwrap_or_else(|errors| panic!("{errors:?}")).on(&Runner::simulated(&server));
    let walk = ready.walk(0, &scenario.work.names(), &Stop::new()).unwrap();
    let names: Vec<&str> = walk.exchanges.iter().map(|(_, exchange)| exchange.name.as_str()).collect();
    assert_eq!(names, ["GET /a-500", "GET /b", "GET /c{{x}}", "GET /d{{x}}", "GET /after{{x}}"]);
    let asked: Vec<String> = walk
        .exchanges
        .iter()
        .map(|(_, exchange)| String::from_utf8_lossy(&exchange.request).split(' ').nth(1).unwrap().to_owned())
        .collect();
    assert_eq!((walk.wrong, asked), (None, ["/a-500", "/b", "/c%2Fb", "/d0", "/after%2Fb"].map(str::to_owned).to_vec()));
}
