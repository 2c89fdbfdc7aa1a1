//! Items about others in the simulated engine: what is sent, in which order, and when.

use super::*;
use measure::JourneyRow;

/// What a server was asked for, in order, without the method.
fn paths(log: &Log) -> Vec<String> {
    lines(log).into_iter().map(|line| line.trim_start_matches("GET ").to_owned()).collect()
}

/// What was sent by users who do these steps, and how long each answer takes.
fn sent(load: &str, steps: &str) -> (Collected, Vec<String>) {
    let (server, log) = serving(|_| plain(100, "{\"id\": 7}"));
    let collected = run(&server, &format!("load: {load}\n{steps}"));
    (collected, paths(&log))
}

/// When each request came, in milliseconds.
fn times(load: &str, steps: &str) -> Vec<u64> {
    let (server, log) = serving(|_| plain(100, ""));
    run(&server, &format!("load: {load}\n{steps}"));
    let log = log.borrow();
    log.iter().map(|seen| seen.at_ms).collect()
}

#[test]
fn variables_are_computed_and_decide_where_a_user_goes_on() {
    let steps = "\
variables: {n: 0, names: 'Ada,Bob'}
steps:
  - while: '{{n}} < 2 and not {{status}} == 500'
    steps:
      - set: {n: '{{n}} + 1', twice: '{{n}} * 2'}
      - get: /{{n}}-{{twice}}
  - set: {list: 'split(lower({{names}}), \",\")'}
  - for_each: {variable: name, in: '{{list}}'}
    steps:
      - if: '{{name}} matches \"^a\" or length({{name}}) > 3'
        steps: [{get: '/a/{{name}}'}]
        else: [{get: '/b/{{name}}'}]
";
    let (Collected { summary, .. }, sent) = sent("{users: 1, requests: 4}", steps);
    assert_eq!(sent, ["/1-2", "/2-4", "/a/ada", "/b/bob"]);
    assert_eq!(summary.requests.succeeded, 4);
}

#[test]
fn what_is_set_once_is_kept_from_journey_to_journey() {
    let steps = "\
steps:
  - {set: {n: 0}, once: true}
  - set: {n: '{{n}} + 1'}
  - get: /{{n}}
";
    assert_eq!(sent("{users: 1, requests: 4}", steps).1, ["/1", "/2", "/3", "/4"]);
}

#[test]
fn what_cannot_be_computed_ends_its_journey_with_a_request_that_is_not_sent() {
    let steps = "\
steps:
  - {get: /first, extract: {id: {json: $.id, default: ''}, name: {json: $.name, default: none}}}
  - set: {n: '{{name}} * 2'}
  - get: /{{n}}
  - get: /never
";
    let (Collected { summary, .. }, sent) = sent("{users: 1, requests: 4}", steps);
    assert_eq!(sent, ["/first", "/first"]);
    assert_eq!(failed(&summary, Failure::RequestValue), 2);
    let journey = &summary.scenario.clone().unwrap().journeys[0];
    assert_eq!((journey.started, journey.broke_off), (2, 2));
}

#[test]
fn a_switch_takes_the_case_with_the_value_or_the_number() {
    let steps = "\
steps:
  - for_each: {variable: kind, in: [gold, '2.0', 7, other]}
    steps:
      - switch: '{{kind}}'
        cases:
          - {value: [gold, silver], steps: [{get: /precious}]}
          - {value: 2, steps: [{get: /two}]}
          - {value: 7, steps: [{get: /seven}, {get: /seven-more}]}
        else: [{get: '/else/{{kind}}'}]
      - switch: '{{status}} - 199'
        cases: [{steps: [{get: /zero}]}, {steps: [{get: /one}]}]
";
    let (_, sent) = sent("{users: 1, requests: 9}", steps);
    assert_eq!(sent, ["/precious", "/one", "/two", "/one", "/seven", "/seven-more", "/one", "/else/other", "/one"]);
}

#[test]
fn users_take_turns_together_or_each_for_itself() {
    let steps = "steps:\n  - interleave: [{get: /a}, {steps: [{get: /b1}, {get: /b2}]}, {get: /c, pause: 1s}]\n";
    let (_, together) = sent("{users: 1, requests: 8}", steps);
    assert_eq!(together, ["/a", "/b1", "/b2", "/c", "/a", "/b1", "/b2", "/c"]);
    let (_, together) = sent("{users: 3, requests: 3}", steps);
    assert_eq!(together, ["/a", "/b1", "/c"], "the three share one turn");
    let each = steps.replace("/c, pause: 1s}]", "/c, pause: 1s}]\n    per_user: true");
    assert_eq!(sent("{users: 3, requests: 3}", &each).1, ["/a", "/a", "/a"]);
}

#[test]
fn all_are_done_in_another_order_each_time() {
    let steps = "steps:\n  - random_order: [{get: /a}, {steps: [{get: /b1}, {get: /b2}]}, {get: /c}]\n";
    let (_, sent) = sent("{users: 1, requests: 400}", steps);
    let mut orders = std::collections::BTreeMap::new();
    for journey in sent.chunks(4) {
        *orders.entry(journey.to_vec()).or_insert(0_u64) += 1;
        let after = journey.iter().position(|path| path == "/b1").map(|at| journey[at + 1].as_str());
        assert_eq!(after, Some("/b2"), "what belongs together stays together");
    }
    assert_eq!(orders.len(), 6, "{orders:?}");
    assert!(orders.values().all(|count| is_binomial(*count, 100, 1.0 / 6.0)), "{orders:?}");
}

#[test]
fn a_share_of_iterations_is_exact_over_all_users_and_for_each() {
    let steps = "steps:\n  - get: /all\n  - share: 25%\n    steps: [{get: /some}]\n";
    let count = |sent: &[String], path: &str| sent.iter().filter(|sent| *sent == path).count();
    let (_, all) = sent("{users: 1, requests: 500}", steps);
    assert_eq!((count(&all, "/all"), count(&all, "/some")), (400, 100));
    let (_, all) = sent("{users: 7, requests: 500}", steps);
    assert!((99..=100).contains(&count(&all, "/some")), "the last may be cut off by the end");
    let few = steps.replace("25%", "3 times");
    assert_eq!(count(&sent("{users: 7, requests: 200}", &few).1, "/some"), 3);
    let each = few.replace("    steps:", "    per_user: true\n    steps:");
    assert_eq!(count(&sent("{users: 7, requests: 200}", &each).1, "/some"), 21);
}

#[test]
fn a_loop_runs_until_its_time_is_over_and_looks_before_each_step() {
    let steps = "steps:\n  - run_for: 1s\n    steps: [{get: /a}, {get: /b, pause: 200ms}]\n  - get: /after\n";
    // 100 ms each and 200 ms of pause: a turn takes 400 ms, and the third is over after its second step.
    assert_eq!(sent("{users: 1, requests: 7}", steps).1, ["/a", "/b", "/a", "/b", "/a", "/b", "/after"]);
    let steps = steps.replace("1s", "'{{t}}ms'").replace("steps:\n  - run", "variables: {t: 850}\nsteps:\n  - run");
    assert_eq!(sent("{users: 1, requests: 6}", &steps).1, ["/a", "/b", "/a", "/b", "/a", "/after"]);
}

#[test]
fn a_pace_is_kept_whatever_the_answers_take_and_what_is_late_is_not_caught_up() {
    assert_eq!(times("{users: 1, requests: 4}", "steps: [{pacing: 1s}, {get: /}]\n"), [0, 1_000, 2_000, 3_000]);
    assert_eq!(times("{users: 1, requests: 4}", "steps: [{pacing: 150ms}, {get: /, pause: 100ms}]\n"), [0, 200, 400, 600]);
    let written = "variables: {ms: '{{random 500 500}}'}\nsteps: [{repeat: 2, steps: [{pacing: '{{ms}}ms'}, {get: /}]}]\n";
    assert_eq!(times("{users: 1, requests: 4}", written), [0, 500, 1_000, 1_500]);
}

#[test]
fn users_keep_a_pace_together_in_the_order_in_which_they_come() {
    let asked = |text: &str| -> Vec<(u64, u64, String)> {
        let (server, log) = serving(|_| plain(100, ""));
        run(&server, text);
        let log = log.borrow();
        log.iter().map(|seen| (seen.at_ms, seen.connection, seen.line.trim_start_matches("GET ").to_owned())).collect()
    };
    let every = |distance_ms: u64, count: u64| (0..count).map(|place| place * distance_ms).collect::<Vec<_>>();
    let times = |asked: &[(u64, u64, String)]| asked.iter().map(|(at, ..)| *at).collect::<Vec<_>>();
    let all = asked("load: {users: 5, duration: 3s}\nsteps: [{pacing: 10/s, of: all users}, {get: /}]\n");
    assert_eq!(times(&all), every(100, 30), "30 in three seconds, whoever sends them");
    let users: Vec<u64> = all.iter().map(|(_, user, _)| *user).collect();
    assert!(users.windows(6).all(|six| six[0] == six[5]) && users[..5].iter().sum::<u64>() == 10, "each in its turn: {users:?}");
    // Places of one name are one pace, and others keep theirs.
    let two = |first: &str, second: &str| {
        let steps =
            format!("steps: [{{pacing: 10/s, of: all users{first}}}, {{get: /a}}, {{pacing: 10/s, of: all users{second}}}, {{get: /b}}]\n");
        asked(&format!("load: {{users: 5, duration: 2s}}\n{steps}"))
    };
    assert_eq!(times(&two(", name: p", ", name: p")), every(100, 20));
    let apart = two("", "");
    let of = |path: &str| apart.iter().filter(|(.., asked)| asked == path).count();
    assert_eq!((of("/a"), of("/b")), (20, 19), "the first of /b follows the first answer");
    // A rate may be written, and each population may keep its own.
    let populations = "populations: [{name: a, users: 3, duration: 2s}, {name: b, users: 2, duration: 2s}]\nvariables: {rate: 300}\n";
    let steps = "steps: [{pacing: '{{rate}}/m', of: WHO}, {get: /}]\n";
    let count = |who: &str| asked(&format!("{populations}{}", steps.replace("WHO", who))).len();
    assert_eq!((count("population"), count("all users")), (20, 10));
}

#[test]
fn random_times_of_a_pace_are_those_of_the_seed_and_a_late_answer_is_made_up_for() {
    let random =
        "load: {users: 20, duration: 30s, seed: 3}\nsteps: [{pacing: exponential 20/s, of: all users, catch_up: true}, {get: /}]\n";
    let asked = |text: &str| {
        let (server, log) = serving(|seen| plain(if seen.at_ms < 1_000 { 1_000 } else { 10 }, ""));
        run(&server, text);
        let log = log.borrow();
        log.iter().map(|seen| seen.at_ms).collect::<Vec<u64>>()
    };
    let first = asked(random);
    assert_eq!(first, asked(random));
    assert_ne!(first, asked(&random.replace("seed: 3", "seed: 4")));
    // Five standard deviations of a Poisson count: 5·√600.
    assert!(first.len().abs_diff(600) < 123, "{}", first.len());
    let one = |catch_up: bool| {
        asked(&format!("load: {{users: 1, duration: 2s}}\nsteps: [{{pacing: 10/s, of: all users, catch_up: {catch_up}}}, {{get: /}}]\n"))
    };
    // The first answer takes a second: nine times pass meanwhile, and whoever makes up for them sends as soon as it can.
    assert_eq!(one(false)[..4], [0, 1_000, 1_100, 1_200]);
    assert_eq!(one(true)[..4], [0, 1_000, 1_010, 1_020]);
    assert_eq!((one(false).len(), one(true).len()), (11, 20));
}

#[test]
fn pauses_may_be_written_by_templates_and_what_is_no_time_ends_the_journey() {
    let steps = "variables: {think: '{{choice 300ms 300ms}}'}\nsteps: [{get: /, pause: '{{think}}'}]\n";
    assert_eq!(times("{users: 1, requests: 3}", steps), [0, 400, 800]);
    let steps = "variables: {think: soon}\nsteps: [{get: /, pause: '{{think}}'}, {get: /never}]\n";
    let (Collected { summary, .. }, sent) = sent("{users: 1, requests: 4}", steps);
    assert_eq!((sent, failed(&summary, Failure::RequestValue)), (vec!["/".to_owned(), "/".to_owned()], 2));
}

fn transactions(load: &str, steps: &str) -> Vec<JourneyRow> {
    let (server, _) = serving(|seen| match seen.line.as_str() {
        "GET /bad" => (100, 500, String::new(), String::new()),
        "GET /none" => (100, 404, String::new(), String::new()),
        _ => plain(100, ""),
    });
    let Collected { summary, .. } = run(&server, &format!("load: {load}\n{steps}"));
    summary.scenario.clone().unwrap().transactions
}

#[test]
fn a_transaction_is_timed_from_its_first_request_to_its_last_answer_with_or_without_pauses() {
    let steps = "\
steps:
  - get: /before
    pause: 1s
  - transaction: bare
    steps:
      - {get: /a, pause: 500ms}
      - transaction: inner
        include_pauses: true
        steps: [{get: /b, pause: 250ms}, {get: /c}]
      - pause: 2s
  - group: shop
    steps:
      - transaction: paused
        include_pauses: true
        steps: [{pause: 3s}, {get: /d, pause: 400ms}, {get: /e, pause: 1s}]
  - get: /after
";
    let rows = transactions("{users: 2, requests: 28}", steps);
    for (row, (name, ms)) in rows.iter().zip([("bare", 300), ("inner", 450), ("shop / paused", 600)]) {
        assert_eq!((row.name.as_str(), row.started, row.completed, row.succeeded), (name, 4, 4, 4));
        let time = Some(Nanos::from_millis(ms));
        assert_eq!((row.time().min(), row.time().max()), (time, time), "{name}");
    }
    assert_eq!(rows.len(), 3);
}

#[test]
fn a_transaction_fails_with_its_steps_breaks_off_with_its_journey_and_may_be_under_way_at_the_end() {
    let steps = "\
steps:
  - transaction: fails
    steps: [{get: /a}, {get: /bad}]
  - transaction: breaks
    steps: [{get: /b}, {get: /none, must_succeed: true}, {get: /never}]
";
    let rows = transactions("{users: 3, requests: 600}", steps);
    let counts: Vec<(u64, u64, u64, u64, u64)> =
        rows.iter().map(|row| (row.started, row.completed, row.succeeded, row.broke_off, row.unfinished)).collect();
    assert_eq!(counts, [(150, 150, 0, 0, 0), (150, 0, 0, 150, 0)]);
    let rows = transactions("{users: 4, duration: 250ms}", "steps: [{transaction: t, steps: [{get: /a}, {pause: 5s}, {get: /b}]}]\n");
    assert_eq!((rows[0].started, rows[0].completed, rows[0].unfinished), (4, 0, 4));
}

#[test]
fn a_transaction_that_is_left_out_or_sends_nothing_is_not_counted() {
    let steps = "steps:\n  - get: /a\n  - transaction: t\n    steps: [{if: '{{status}} == 404', steps: [{get: /b}]}]\n";
    let rows = transactions("{users: 1, requests: 5}", steps);
    assert_eq!((rows[0].started, rows[0].completed), (0, 0));
}

#[test]
fn one_user_at_a_time_goes_through_a_critical_section_and_pauses_outside_of_it() {
    let steps = "\
steps:
  - pause: 1s
  - critical_section: till
    steps: [{get: /a}, {get: /b}]
  - get: /after
";
    let (server, log) = serving(|_| plain(100, ""));
    let Collected { summary, .. } = run(&server, &format!("load: {{users: 3, requests: 9}}\n{steps}"));
    let log = log.borrow();
    let inside: Vec<(u64, &str)> =
        log.iter().filter(|seen| seen.line != "GET /after").map(|seen| (seen.at_ms, seen.line.as_str())).collect();
    // All pause together; then each is alone for two answers of 100 ms.
    let expected: Vec<(u64, &str)> = (0..3).flat_map(|user| [(1_000 + 200 * user, "GET /a"), (1_100 + 200 * user, "GET /b")]).collect();
    assert_eq!(inside, expected);
    assert_eq!(summary.response_time.max(), Some(Nanos::from_millis(100)), "waiting is in no request's time");
    assert_eq!(summary.scenario.clone().unwrap().journeys[0].completed, 3);
}

#[test]
fn a_section_is_left_by_a_journey_that_breaks_off_in_it() {
    let steps = "\
steps:
  - critical_section: till
    steps: [{get: /a, extract: {x: json $.nothing}}, {get: /never}]
";
    let (Collected { summary, .. }, sent) = sent("{users: 4, requests: 12}", steps);
    assert_eq!(sent, ["/a"; 12]);
    assert_eq!(summary.scenario.clone().unwrap().journeys[0].broke_off, 12);
}

#[test]
fn users_wait_for_each_other_and_not_longer_than_they_may() {
    let steps = "\
variables: {ms: '{{random 0 400}}'}
steps:
  - get: /come
    pause: '{{ms}}ms'
  - rendezvous: 4
  - get: /together
";
    let (server, log) = serving(|_| plain(100, ""));
    run(&server, &format!("load: {{users: 8, requests: 64, duration: 1h}}\n{steps}"));
    let mut at: Vec<u64> = log.borrow().iter().filter(|seen| seen.line == "GET /together").map(|seen| seen.at_ms).collect();
    at.sort_unstable();
    assert!(at.len() >= 24 && at.chunks_exact(4).all(|group| group[0] == group[3]), "{at:?}");
    let alone = steps.replace("rendezvous: 4", "{rendezvous: 4, within: 2s}");
    let alone = alone.replace("{{random 0 400}}", "0");
    assert_eq!(times("{users: 2, requests: 4}", &alone), [0, 0, 2_100, 2_100]);
}

#[test]
fn a_journey_that_ends_with_a_rendezvous_has_ended_and_so_has_a_load_in_which_nobody_comes() {
    let (Collected { summary, .. }, _) = sent("{users: 2, requests: 20, duration: 1h}", "steps: [{get: /a}, {rendezvous: 2}]\n");
    let journey = summary.scenario.clone().unwrap().journeys[0].clone();
    assert_eq!((journey.started, journey.completed, journey.unfinished), (20, 18, 2), "the last two are counted with no request");
    let (Collected { summary, broken, .. }, sent) = sent("{users: 2, duration: 3s}", "steps: [{get: /a}, {rendezvous: 3}, {get: /b}]\n");
    assert_eq!((sent.len(), broken), (2, None));
    assert_eq!(summary.scenario.clone().unwrap().journeys[0].unfinished, 2);
}

#[test]
fn arrivals_wait_for_each_other_too() {
    let steps = "steps: [{get: /a}, {rendezvous: 2}, {critical_section: s, steps: [{get: /b}]}]\n";
    let (server, log) = serving(|_| plain(50, ""));
    let Collected { summary, .. } = run(&server, &format!("load: {{rate: 2/s, arrivals: even, duration: 4s, connections: 10}}\n{steps}"));
    let at: Vec<u64> = log.borrow().iter().filter(|seen| seen.line == "GET /b").map(|seen| seen.at_ms).collect();
    let first = at[0];
    assert_eq!(at, (0..4).flat_map(|pair| [first + 1_000 * pair, first + 50 + 1_000 * pair]).collect::<Vec<_>>());
    assert_eq!(summary.scenario.clone().unwrap().journeys[0].completed, 8);
}

#[test]
fn who_leaves_waits_for_nobody() {
    let text = "user_teardown: [{rendezvous: 9}, {critical_section: s, steps: [{get: /leave}]}]\nsteps: [{get: /a}]\n";
    let (_, sent) = sent("{users: 2, requests: 4}", text);
    assert_eq!(sent, ["/a", "/a", "/a", "/a", "/leave", "/leave"]);
}

#[test]
fn a_rendezvous_that_could_last_for_ever_is_refused() {
    let steps = "steps: [{get: /a}, {rendezvous: 2}]\n";
    let compiled = |load: &str, steps: &str| {
        let scenario = crate::read("s.yaml", &format!("load: {load}\n{steps}")).unwrap_or_else(|mistakes| panic!("{mistakes:#?}"));
        let url = Some("http://simulated.test/".to_owned());
        let plan = Plan::try_from(Draft { scenario: Some("s.yaml".to_owned()), url, ..scenario.draft.clone() }).unwrap();
        compile(&scenario, &plan, &[], None).map(|_| ()).map_err(|errors| errors.spelt(plan::Spelling::Flags))
    };
    let told = compiled("{users: 4, requests: 20}", steps).unwrap_err();
    assert!(told.contains("for ever") && told.contains("within: 30s"), "{told}");
    assert_eq!(compiled("{users: 4, requests: 20, duration: 1m}", steps), Ok(()));
    assert_eq!(compiled("{users: 4, requests: 20}", "steps: [{get: /a}, {rendezvous: 2, within: 1s}]\n"), Ok(()));
    assert_eq!(compiled("{users: 4, requests: 20}", "user_teardown: [{rendezvous: 9}, {get: /b}]\nsteps: [{get: /a}]\n"), Ok(()));
}

#[test]
fn who_is_hurried_waits_for_nobody() {
    let (server, log) = serving(|_| plain(100, ""));
    let text =
        "load: {users: 1, requests: 6, duration: 1m}\nsteps: [{rendezvous: 5}, {get: /a}, {critical_section: s, steps: [{get: /b}]}]\n";
    let Collected { summary, .. } = run_as(&server, text, &[], &[], true);
    assert_eq!((summary.requests.succeeded, log.borrow().last().unwrap().at_ms), (6, 500));
}

#[test]
fn a_journey_that_ended_behind_a_wait_is_counted_after_others_that_sent_nothing() {
    let steps = "steps:\n  - interleave: [{get: /a}, {pause: 10ms}]\n    per_user: true\n  - rendezvous: 2\n";
    let (Collected { summary, .. }, _) = sent("{users: 2, requests: 20, duration: 1h}", steps);
    let journey = summary.scenario.clone().unwrap().journeys[0].clone();
    assert_eq!((journey.started, journey.completed, journey.unfinished), (20, 18, 2), "the last two are counted with no request");
}

#[test]
fn a_transaction_that_ended_behind_a_wait_is_counted_whatever_comes_after_it() {
    let steps = "\
steps:
  - transaction: t
    steps: [{get: /a}, {rendezvous: 2}]
  - {get: /none, must_succeed: true}
";
    let rows = transactions("{users: 2, requests: 8, duration: 1h}", steps);
    assert_eq!((rows[0].started, rows[0].completed, rows[0].succeeded), (4, 4, 4));
}

#[test]
fn what_users_wait_for_each_other_is_time_for_paces_and_loops() {
    let slow = |ms: u64| format!("{{interleave: [{{pause: {ms}ms}}, {{pause: 1ms}}]}}, {{rendezvous: 2}}");
    let paced = format!("steps: [{}, {{pacing: 1s}}, {{get: /}}]\n", slow(5_000));
    assert_eq!(times("{users: 2, requests: 4, duration: 1m}", &paced), [5_000, 5_000, 10_100, 10_100]);
    // In a group, so that nobody looks at the time between the pause and the wait.
    let looped = format!("steps:\n  - run_for: 1s\n    steps: [{{get: /a}}, {{group: g, steps: [{}]}}]\n  - get: /after\n", slow(700));
    let (server, log) = serving(|_| plain(100, ""));
    run(&server, &format!("load: {{users: 2, requests: 6, duration: 1m}}\n{looped}"));
    let seen: Vec<(u64, String)> = log.borrow().iter().map(|seen| (seen.at_ms, seen.line.clone())).collect();
    let expected = [(0, "GET /a"), (0, "GET /a"), (800, "GET /a"), (800, "GET /a"), (1_600, "GET /after"), (1_600, "GET /after")];
    assert_eq!(seen, expected.map(|(at, line)| (at, line.to_owned())));
    let waits = "{rendezvous: 2, within: 600ms}, {if: '{{status}} == 500', steps: [{get: /never}]}";
    let steps = format!("steps: [{{run_for: 1s, steps: [{waits}]}}, {{get: /after}}]\n");
    assert_eq!(times("{users: 1, requests: 1}", &steps), [1_200], "without a request too");
}

#[test]
fn who_is_hurried_goes_through_a_timed_loop_once() {
    let (server, log) = serving(|_| plain(1, ""));
    let steps = "steps:\n  - run_for: 1h\n    steps: [{get: /a, pause: 1s}, {get: /b}]\n  - get: /after\n";
    run_as(&server, &format!("load: {{users: 1, requests: 6}}\n{steps}"), &[], &[], true);
    assert_eq!(paths(&log), ["/a", "/b", "/after", "/a", "/b", "/after"]);
}

#[test]
fn an_arrival_that_waits_when_the_load_ends_goes_without_a_failure() {
    let steps = "steps: [{get: /a}, {rendezvous: 4}, {get: /b}]\n";
    for (load, due) in [
        // The tenth and ninth have nobody to meet.
        ("{rate: 10/s, arrivals: even, duration: 1s, connections: 20}", 18),
        // The ones that wait hold all connections; those in line are sent when these go.
        ("{rate: 10/s, arrivals: even, duration: 1s, connections: 2}", 10),
    ] {
        let (server, log) = serving(|_| plain(10, ""));
        let Collected { summary, broken, .. } = run(&server, &format!("load: {load}\n{steps}"));
        assert_eq!((summary.requests.due, summary.requests.succeeded, summary.requests.failed, broken), (due, due, 0, None), "{load}");
        assert_eq!(log.borrow().len() as u64, due, "{load}");
        let row = &summary.scenario.clone().unwrap().journeys[0];
        assert_eq!((row.started, row.broke_off), (10, 0), "{load}");
        assert_eq!(row.unfinished, 10 - row.completed, "{load}");
    }
}

#[test]
fn a_share_may_be_written_by_a_template_and_what_is_no_share_ends_the_journey() {
    let steps = "variables: {percent: 50}\nsteps:\n  - get: /all\n  - share: '{{percent}}%'\n    steps: [{get: /some}]\n";
    assert_eq!(sent("{users: 1, requests: 6}", steps).1, ["/all", "/all", "/some", "/all", "/all", "/some"]);
    let steps = steps.replace("percent}}%", "percent}} times").replace("50", "2");
    assert_eq!(sent("{users: 1, requests: 5}", &steps).1, ["/all", "/some", "/all", "/some", "/all"]);
    let steps = steps.replace(" 2}", " many}").replace("some}]", "some}]\n  - get: /last");
    let (Collected { summary, .. }, sent) = sent("{users: 1, requests: 4}", &steps);
    assert_eq!((sent, failed(&summary, Failure::RequestValue)), (vec!["/all".to_owned(), "/all".to_owned()], 2));
}

#[test]
fn variables_that_are_kept_go_on_from_journey_to_journey_of_a_user() {
    let text = |keeps: bool| {
        format!(
            "load: {{duration: 10s}}\nkeep_variables: {keeps}\nvariables: {{n: 0, fresh: '{{{{random 1 1000000}}}}'}}\n\
             populations: [{{name: all, users: 2, iterations_per_user: 3}}]\n\
             steps:\n  - set: {{n: '{{{{n}}}} + 1'}}\n  - get: /{{{{n}}}}/{{{{fresh}}}}\n    name: item\n"
        )
    };
    for (keeps, numbers, drawn) in [(true, ["1", "1", "2", "2", "3", "3"], 2), (false, ["1"; 6], 6)] {
        let (server, log) = serving(|_| plain(10, ""));
        run(&server, &text(keeps));
        let sent: Vec<(String, String)> = log
            .borrow()
            .iter()
            .map(|seen| seen.line["GET /".len()..].split_once('/').map(|(n, fresh)| (n.to_owned(), fresh.to_owned())).unwrap())
            .collect();
        let mut seen: Vec<&str> = sent.iter().map(|(number, _)| number.as_str()).collect();
        seen.sort_unstable();
        assert_eq!(seen, numbers, "{keeps}");
        let fresh: std::collections::BTreeSet<&str> = sent.iter().map(|(_, fresh)| fresh.as_str()).collect();
        assert_eq!(fresh.len(), drawn, "{keeps}");
    }
    // What a journey before has set may be written before it is set.
    let before = "keep_variables: true\nsteps: [{get: '/b/{{id}}'}, {get: /a, extract: {id: json $.id}}]\n";
    assert!(crate::read("s.yaml", before).is_ok() && crate::read("s.yaml", &before.replace("true", "false")).is_err());
}
