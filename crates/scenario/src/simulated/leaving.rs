//! Users that leave: what they send then, on which connection, and that it is not measured.

use super::*;

#[test]
fn users_take_their_leave_after_the_last_answer_and_it_is_not_measured() {
    let (server, log) = serving(|seen| match seen.line.as_str() {
        "GET /enter" => (10, 200, format!("Set-Cookie: s={}\r\n", seen.connection), format!("{{\"id\": {}}}", 70 + seen.connection)),
        _ => plain(400, ""),
    });
    let text = "\
load: {users: 5, duration: 3s}
steps:
  - {get: /enter, once: true, extract: {id: json $.id}}
  - get: /work
user_teardown:
  - {get: '/leave/{{id}}', checks: [status 200]}
  - {pause: 1s}
  - get: /gone
";
    let Collected { summary, left: Leftovers { teardowns, .. }, broken } = run(&server, text);
    assert_eq!((teardowns.users, teardowns.failed, broken), (5, 0, None), "{:?}", teardowns.why);
    let measured: Vec<Seen> =
        log.borrow().iter().filter(|seen| !seen.line.contains("/leave") && seen.line != "GET /gone").cloned().collect();
    assert_eq!(summary.requests.due, measured.len() as u64);
    let scenario = summary.scenario.clone().unwrap();
    assert_eq!((scenario.steps.len(), scenario.journeys.len()), (2, 1));
    assert_eq!(summary.ended.drained_at, Nanos::from_millis(3_210), "the last answer that is measured");
    let left: Vec<Seen> = log.borrow().iter().filter(|seen| seen.line.contains("/leave")).cloned().collect();
    assert_eq!(left.len(), 5);
    for seen in &left {
        assert_eq!((seen.at_ms, seen.line.as_str()), (3_210, format!("GET /leave/{}", 70 + seen.connection).as_str()));
        assert_eq!(seen.header("cookie"), format!("s={}", seen.connection));
    }
    let gone: Vec<u64> = log.borrow().iter().filter(|seen| seen.line == "GET /gone").map(|seen| seen.at_ms).collect();
    assert_eq!(gone, [4_610; 5]);
    assert_eq!(summary.connections.opened, 5);
}

#[test]
fn a_user_that_goes_amid_the_load_takes_its_leave_then_and_it_is_not_measured() {
    let (server, log) = serving(|_| plain(200, ""));
    let text = "load: {users: [2 for 2s, 1 for 2s]}\nsteps: [{get: /work}]\nuser_teardown: [{get: /leave}]\n";
    let Collected { summary, left: Leftovers { teardowns, .. }, broken } = run(&server, text);
    assert_eq!((teardowns.users, teardowns.failed, broken), (2, 0, None), "{:?}", teardowns.why);
    let at = |line: &str| -> Vec<u64> { log.borrow().iter().filter(|seen| seen.line == line).map(|seen| seen.at_ms).collect() };
    let (work, leave) = (at("GET /work"), at("GET /leave"));
    assert!((2_000..2_300).contains(&leave[0]) && leave[1] >= 4_000 && leave.len() == 2, "{leave:?}");
    assert_eq!(summary.requests.due, work.len() as u64);
    assert!(work.iter().any(|at| *at > leave[0]), "the other goes on");
    assert_eq!((summary.connections.opened, summary.connections.closed_by_us), (2, 2));
}

#[test]
fn a_user_leaves_with_what_its_last_journey_left_it_however_the_load_ends() {
    for ends in ["duration: 2s", "requests: 6"] {
        let (server, log) = serving(|seen| plain(10, &format!("{{\"order\": {}}}", seen.at_ms)));
        let text = format!(
            "load: {{users: 1, {ends}}}\nvariables: {{mine: '{{{{random 1 1000000}}}}'}}\nsteps:\n  - {{get: '/order/{{{{mine}}}}', extract: {{order: json $.order}}, pause: 300ms}}\nuser_teardown: [{{delete: '/orders/{{{{order}}}}/{{{{mine}}}}'}}]\n"
        );
        let Collected { left: Leftovers { teardowns, .. }, .. } = run(&server, &text);
        assert_eq!((teardowns.users, teardowns.failed), (1, 0), "{:?}", teardowns.why);
        let seen = log.borrow();
        let [.., last, left] = &seen[..] else { panic!("{seen:?}") };
        let mine = last.line.trim_start_matches("GET /order/");
        assert_eq!(left.line, format!("DELETE /orders/{}/{mine}", last.at_ms), "{ends}");
    }
}

#[test]
fn a_teardown_that_takes_too_long_ends_and_is_told() {
    let (server, log) = serving(|seen| match seen.line.as_str() {
        "GET /leave" if seen.connection < 2 => plain(1_000_000, ""),
        "GET /leave" if seen.connection == 2 => (1, 500, String::new(), String::new()),
        _ => plain(1, ""),
    });
    let text = "load: {users: 5, requests: 50}\nsteps: [{get: /}]\nuser_teardown: [{get: /leave}, {get: /more}]\n";
    let Collected { summary, left: Leftovers { teardowns, .. }, .. } = run(&server, text);
    // Two never had an answer, and one was refused; that one goes on, as journeys do.
    assert_eq!((teardowns.users, teardowns.failed), (5, 3), "{:?}", teardowns.why);
    let wrong = teardowns.why.unwrap();
    assert!(wrong.contains("the step 'GET /leave'") && wrong.contains("500"), "{wrong}");
    assert_eq!((summary.requests.due, summary.requests.succeeded), (50, 50));
    assert_eq!(lines(&log).iter().filter(|line| *line == "GET /more").count(), 3);
    assert!(server.took() < Duration::from_secs(11), "{:?}", server.took());
    assert!(server.took() >= Duration::from_secs(10), "{:?}", server.took());
}

#[test]
fn a_user_whose_connection_was_closed_while_others_had_their_last_answers_leaves_on_another() {
    let log: Rc<RefCell<Vec<(u64, String)>>> = Rc::default();
    let (kept, opened) = (log.clone(), std::cell::Cell::new(0));
    // Keeps a connection for 5 s, and answers on one of the two after 6 s.
    let server = Simulation::of(move |mut stream: DuplexStream, _| {
        let (log, connection) = (kept.clone(), opened.replace(opened.get() + 1));
        async move {
            while let Ok(Some(head)) = tokio::time::timeout(Duration::from_secs(5), read_request(&mut stream)).await {
                let line = head.lines().next().unwrap().trim_end_matches(" HTTP/1.1").to_owned();
                let is_slow = line == "GET /work" && connection == 1;
                log.borrow_mut().push((connection, line));
                tokio::time::sleep(Duration::from_millis(if is_slow { 6_000 } else { 100 })).await;
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
            }
        }
    });
    let text = "load: {users: 2, requests: 2}\nsteps: [{get: /work}]\nuser_teardown: [{get: /leave}, {get: /gone}]\n";
    let Collected { left: Leftovers { teardowns, .. }, broken, .. } = run(&server, text);
    assert_eq!((teardowns.users, teardowns.failed, broken), (2, 0, None), "{:?}", teardowns.why);
    let mut left: Vec<(u64, String)> = log.borrow().iter().filter(|(_, line)| line != "GET /work").cloned().collect();
    left.sort();
    let of = |connection: u64| [(connection, "GET /gone".to_owned()), (connection, "GET /leave".to_owned())];
    assert_eq!(left, [of(1), of(2)].concat(), "the first user has a third connection");
}

#[test]
fn in_open_load_each_journey_s_user_leaves_when_it_is_over() {
    let (server, log) = serving(|_| plain(10, ""));
    let text = "\
load: {rate: 10/s, arrivals: even, duration: 2s, connections: 5}
steps: [{get: /, pause: 50ms}, {get: /more}]
user_teardown: [{get: /leave}]
";
    let Collected { summary, left: Leftovers { teardowns, .. }, .. } = run(&server, text);
    assert_eq!((teardowns.users, teardowns.failed), (20, 0), "{:?}", teardowns.why);
    let seen = lines(&log);
    assert_eq!(seen.iter().filter(|line| *line == "GET /leave").count(), 20);
    assert_eq!(summary.requests.due, seen.iter().filter(|line| *line != "GET /leave").count() as u64);
    // The first leaves before the second comes.
    assert_eq!(seen[..4], ["GET /", "GET /more", "GET /leave", "GET /"]);
}

#[test]
fn a_run_that_is_stopped_at_once_does_not_wait_for_its_users_to_leave() {
    let stop = Stop::new();
    let raised = stop.clone();
    let (server, log) = serving(move |_| {
        raised.raise();
        raised.raise();
        plain(1_000, "")
    });
    let server = server.stopped_by(stop);
    let text = "load: {users: 3, duration: 10s}\nsteps: [{get: /}]\nuser_teardown: [{get: /leave}]\n";
    let Collected { left: Leftovers { teardowns, .. }, .. } = run(&server, text);
    assert_eq!(teardowns.failed, teardowns.users);
    assert!(teardowns.users >= 1 && teardowns.why.is_some());
    assert!(lines(&log).iter().all(|line| line == "GET /"));
    assert!(server.took() < Duration::from_secs(1), "{:?}", server.took());
}
