//! What ends before its end in the simulated engine: rounds, loops, journeys, users and the load.

use super::*;
use measure::Ending;

/// A server that answers as quickly as it can; the path says with which status, and after how many milliseconds: `/500` and `/200/700`.
fn by_path() -> (Simulation, Log) {
    serving(|seen| {
        let mut numbers = seen.line.split('/').skip(1).map(|part| part.parse::<u64>().ok());
        let status = numbers.next().flatten().filter(|status| *status >= 200).unwrap_or(200);
        (numbers.next().flatten().unwrap_or(100), u16::try_from(status).unwrap(), String::new(), String::new())
    })
}

fn paths(log: &Log) -> String {
    lines(log).iter().map(|line| line.trim_start_matches("GET /")).collect::<Vec<_>>().join(" ")
}

fn done(load: &str, steps: &str) -> (Collected, String) {
    let (server, log) = by_path();
    let collected = run(&server, &format!("load: {load}\n{steps}"));
    (collected, paths(&log))
}

#[test]
fn rounds_loops_and_journeys_end_with_all_that_they_stand_in() {
    let steps = "\
steps:
  - repeat: 2
    steps:
      - transaction: t
        steps:
          - critical_section: s
            steps:
              - {get: /login, once: true}
              - get: /a
              - end: round
              - get: /never
  - repeat: 4
    steps:
      - while: '{{status}} == 200'
        steps:
          - get: /b
          - if: '{{status}} == 200'
            steps: [{end: loop}]
          - get: /never
      - run_for: 10s
        steps: [{get: /c}, {end: loop}, {get: /never}]
      - end: loop
  - for_each: {variable: n, in: [1, 2]}
    steps: [{get: '/e{{n}}'}, {end: round}, {get: /never}]
  - once: true
    group: first
    steps: [{set: {kept: 7}}, {transaction: u, steps: [{get: '/d{{kept}}'}, {end: journey}]}]
  - {get: '/f{{kept}}', checks: [status 200]}
  - end: journey
  - get: /never
";
    let (Collected { summary, .. }, sent) = done("{users: 1, requests: 14}", steps);
    assert_eq!(sent, "login a a b c e1 e2 d7 a a b c e1 e2", "the first journey ends with /d7, the second one has no /d");
    let scenario = summary.scenario.clone().unwrap();
    let ended: Vec<(u64, u64, u64)> = scenario.transactions.iter().map(|row| (row.started, row.completed, row.broke_off)).collect();
    assert_eq!(ended, [(4, 4, 0), (1, 1, 0)]);
    // Nobody waits for a section that was left on the way out of it.
    let (Collected { summary, .. }, _) = done("{users: 3, requests: 60}", steps);
    assert_eq!((summary.requests.due, summary.requests.succeeded), (60, 60));
    // What was done once is kept where the journey ended in its midst.
    let (_, sent) = done("{users: 1, requests: 15}", steps);
    assert!(sent.ends_with(" e2 f7"), "{sent}");
}

#[test]
fn a_user_that_ends_goes_and_the_others_stay() {
    let (Collected { summary, left, .. }, sent) = done("{users: 3, duration: 10s}", "steps: [{get: /a}, {end: user}, {get: /never}]\n");
    assert_eq!((sent.as_str(), summary.ended.how, left.ended_by), ("a a a", Ending::Finished, None));
    assert_eq!(summary.scenario.clone().unwrap().journeys[0].completed, 3);
    let steps = "steps: [{if: '{{user_number}} == 2', steps: [{end: user}]}, {get: '/{{user_number}}', pause: 900ms}]\n";
    let (_, sent) = done("{users: 2, duration: 3s}", steps);
    assert_eq!(sent, "1 1 1");
    // At a rate each journey is a user's.
    let (Collected { summary, .. }, _) =
        done("{rate: 10/s, arrivals: even, duration: 2s, connections: 9}", "steps: [{get: /a}, {end: user}]\n");
    assert_eq!(summary.requests.succeeded, 20);
}

#[test]
fn a_load_that_ends_itself_waits_for_what_is_under_way_or_gives_it_up_and_says_who_ended_it() {
    let steps = "steps: [{get: '/200/{{user_number}}10'}, {if: '{{user_number}} == 2', steps: [{end: load}]}]\n";
    let (Collected { summary, left, .. }, sent) = done("{users: 3, duration: 10s}", steps);
    // The first user is at its second one when the second user ends it, and the third at its first.
    assert_eq!(sent.split(' ').count(), 4, "{sent}");
    assert_eq!((summary.ended.how, summary.requests.succeeded, summary.requests.failed), (Ending::Aborted, 4, 0));
    assert_eq!(summary.ended.load_until, Nanos::from_millis(210));
    assert_eq!(left.ended_by.as_deref(), Some("the journey 'journey' came to an item that ends it"));
    let told = "users ended the load before its end: the journey 'journey' came to an item that ends it";
    assert_eq!(left.warnings(), [told]);
    let (Collected { summary, .. }, _) = done("{users: 3, duration: 10s}", &steps.replace("end: load", "end: load at once"));
    assert_eq!((summary.ended.how, summary.requests.failed > 0), (Ending::Aborted, true));
    // Also of several workers, and where nothing was sent yet.
    let (server, log) = by_path();
    let text = "load: {users: 4, duration: 10s}\nsteps: [{if: '{{user_number}} == 3', steps: [{end: load}]}, {get: /200/50}]\n";
    let ran = run(&server, text);
    assert_eq!(ran.summary.ended.how, Ending::Aborted);
    assert!(log.borrow().len() <= 3, "{}", paths(&log));
}

#[test]
fn a_failure_ends_the_journey_the_user_or_the_load() {
    let steps = |ends: &str| {
        format!(
            "defaults: {{{ends}}}\nsteps: [{{if: '{{{{user_number}}}} == 1', steps: [{{get: /500}}, {{get: /after}}], else: [{{get: /200/150}}]}}]\n"
        )
    };
    let sent = |ends: &str| {
        let (ran, sent) = done("{users: 2, duration: 1s}", &steps(ends));
        let count = |path: &str| sent.split(' ').filter(|other| *other == path).count();
        ((count("500"), count("after"), count("200/150")), ran)
    };
    assert_eq!(sent("may_fail: true").0, (5, 5, 7));
    assert_eq!(sent("must_succeed: true").0, (10, 0, 7));
    assert_eq!(sent("failure_ends: journey").0, (10, 0, 7));
    assert_eq!(sent("failure_ends: user").0, (1, 0, 7));
    let (counts, ran) = sent("failure_ends: load");
    assert_eq!((counts, ran.summary.ended.how), ((1, 0, 1), Ending::Aborted));
    assert_eq!(ran.left.ended_by.as_deref(), Some("the step 'GET /500' of the journey 'journey' failed, which ends it"));
    // An answer that does not come is a failure too.
    let (ran, sent) = done("{users: 1, duration: 9s, timeout: 1s}", "steps: [{get: /200/5000, failure_ends: load}, {get: /never}]\n");
    assert_eq!((sent.as_str(), ran.summary.ended.how), ("200/5000", Ending::Aborted));
    // A branch ends its user.
    let steps = "steps: [{parallel: [{get: /500, failure_ends: user}, {get: /a}]}, {get: /never}]\n";
    let (ran, sent) = done("{users: 1, duration: 5s}", steps);
    assert_eq!((sent.split(' ').count(), ran.summary.ended.how), (2, Ending::Finished), "{sent}");
}

#[test]
fn whether_the_last_request_succeeded_decides_what_comes_next() {
    let steps = "\
keep_variables: true
steps:
  - if: '{{last_succeeded}}'
    steps: [{get: /good}]
    else: [{get: /bad}]
  - while: '{{last_succeeded}} != false'
    steps:
      - get: '/{{status}}'
      - get: /500
  - get: /404
";
    let (_, sent) = done("{users: 1, requests: 6}", steps);
    assert_eq!(sent, "good 200 500 404 bad 200", "what failed is known in the next journey where variables are kept");
    let (_, sent) = done("{users: 1, requests: 5}", &steps.replace("true\n", "false\n"));
    assert_eq!(sent, "good 200 500 404 good");
    // What ended early is behind the user, by an item or by a failure.
    let steps = "\
keep_variables: true
steps:
  - repeat: 1
    steps: [{get: /500}, {end: round}]
  - get: '/{{last_succeeded}}'
  - {get: /404, must_succeed: true}
";
    let (_, sent) = done("{users: 1, requests: 5}", &format!("{steps}  - get: /never\n"));
    assert_eq!(sent, "500 true 404 500 true");
    let text = "target: http://a.test\nvariables: {last_succeeded: x}\nsteps: [{get: '/{{last_succeeded}}'}]\n";
    assert!(!crate::read("s.yaml", text).unwrap().work.asks_for(plan::work::LAST_SUCCEEDED));
}

#[test]
fn steps_are_left_where_what_they_need_does_not_hold_any_more() {
    let steps = "\
variables: {n: 0}
steps:
  - as_long_as: '{{n}} < 3'
    steps:
      - get: /a{{n}}
      - transaction: t
        steps:
          - repeat: 9
            steps:
              - set: {n: '{{n}} + 1'}
              - get: /b{{n}}
      - get: /never
  - as_long_as: '{{n}} > 5'
    steps: [{get: /never}]
  - as_long_as: '{{n}} == 3'
    steps: [{get: /c}, {set: {n: 7}}, {get: /d}, {get: /never}]
  - get: /e
";
    let (Collected { summary, .. }, sent) = done("{users: 1, requests: 14}", steps);
    assert_eq!(sent, "a0 b1 b2 b3 c d e a0 b1 b2 b3 c d e", "what is set right before a step is part of it");
    let transaction = &summary.scenario.clone().unwrap().transactions[0];
    assert_eq!((transaction.started, transaction.completed), (2, 2));
}

#[test]
fn a_counter_of_all_users_gives_each_number_once() {
    let (_, sent) = done("{users: 3, requests: 9}", "steps: [{set: {n: 'next(orders) * 10'}}, {get: '/{{n}}'}]\n");
    let mut numbers: Vec<u64> = sent.split(' ').map(|number| number.parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [10, 20, 30, 40, 50, 60, 70, 80, 90]);
    let mistakes = crate::read("s.yaml", "target: http://a.test\nsteps: [{set: {n: 'next({{status}})'}}, {get: /}]\n").unwrap_err();
    assert!(mistakes[0].message.contains("a counter has a name that is always the same"), "{mistakes:?}");
}

#[test]
fn connections_that_are_forgotten_are_opened_anew_by_the_next_request() {
    let (server, log) = by_path();
    let text = "load: {users: 1, requests: 6}\nsteps: [{forget: connections}, {get: /a}, {get: /b}]\n";
    let ran = run(&server, text);
    let connections: Vec<u64> = log.borrow().iter().map(|seen| seen.connection).collect();
    // The one that was opened before the load and the first of the load itself have the same number.
    assert_eq!(connections, [0, 0, 0, 0, 1, 1]);
    assert_eq!((ran.summary.requests.succeeded, ran.broken), (6, None));
}

#[test]
fn what_cannot_end_there_is_told_with_its_place() {
    let mistakes = |steps: &str| {
        let mistakes = crate::read("s.yaml", &format!("target: http://a.test\nsteps:\n  - get: /\n{steps}\n")).unwrap_err();
        mistakes.into_iter().map(|mistake| format!("{}: {}", mistake.line, mistake.message)).collect::<Vec<_>>()
    };
    assert_eq!(mistakes("  - end: loop"), ["4: there is no loop here whose rounds could end"]);
    assert_eq!(mistakes("  - {group: g, steps: [{end: round}]}"), ["4: there is no loop here whose round could end"]);
    assert_eq!(mistakes("  - end: test"), ["4: 'test' is nothing that ends"]);
    assert_eq!(
        mistakes("  - {repeat: 2, steps: [{parallel: [{steps: [{get: /a}, {end: round}]}]}]}"),
        ["4: there is no loop here whose round could end"]
    );
    assert_eq!(
        mistakes("  - {parallel: [{steps: [{get: /a}, {end: user}]}]}"),
        ["4: a branch of 'parallel' cannot end the user: others are under way"]
    );
    assert_eq!(mistakes("  - {get: /a, failure_ends: loop}"), ["4: 'loop' is nothing that ends"]);
    assert_eq!(
        mistakes("  - {get: /a, failure_ends: user, must_succeed: true}"),
        ["4: 'failure_ends' and 'must_succeed' contradict each other"]
    );
    assert_eq!(mistakes("  - {get: /a, failure_ends: user, may_fail: true}"), ["4: 'may_fail' and 'failure_ends' contradict each other"]);
}

#[test]
fn who_comes_at_a_rate_and_goes_at_once_ends_nobody_elses_journey() {
    let steps = "steps:\n  - if: '{{journey_number}} == 3'\n    steps: [{end: user}]\n  - get: '/{{journey_number}}'\n";
    let (Collected { summary, .. }, sent) = done("{rate: 10/s, duration: 1s, arrivals: even}", steps);
    assert_eq!((sent.as_str(), summary.ended.how), ("1 2 4 5 6 7 8 9 10", Ending::Finished));
}

#[test]
fn users_go_when_the_rate_that_they_keep_is_over() {
    let steps = "steps:\n  - {pacing: '10/s for 500ms', of: all users}\n  - get: '/{{journey_number}}'\n";
    let (_, sent) = done("{users: 1, requests: 100}", steps);
    assert_eq!(sent, "1 2 3 4 5");
}
