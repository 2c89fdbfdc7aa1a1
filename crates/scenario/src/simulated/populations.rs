//! Populations side by side: each with its own load and its own journeys, together in one run.

use super::*;

const SHOP: &str = "load: {threads: 2, seed: 7}
populations:
  - {name: customers, users: 3, journeys: [browse], duration: 10s}
  - {name: office, rate: 2/s, arrivals: even, journeys: report, start_after: 4s, duration: 6s}
journeys:
  - {name: browse, steps: [{get: /browse, pause: 900ms}]}
  - {name: report, steps: [{get: /report}]}
";

#[test]
fn each_population_sends_its_own_journeys_at_its_own_times() {
    let (server, log) = serving(|_| plain(100, ""));
    let Collected { summary, .. } = run(&server, SHOP);
    let seen = log.borrow();
    let of = |path: &str| seen.iter().filter(|seen| seen.line == format!("GET {path}")).collect::<Vec<_>>();
    // Three users, each once a second for ten seconds; two a second from the fourth second to the tenth.
    assert_eq!((of("/browse").len(), of("/report").len()), (30, 12));
    assert!(of("/report").iter().all(|seen| (4_000..10_000).contains(&seen.at_ms)), "{:?}", of("/report"));
    let rows: Vec<_> = summary.populations.iter().map(|row| (row.name.as_str(), row.requests.due, row.requests.succeeded)).collect();
    assert_eq!(rows, [("customers", 30, 30), ("office", 12, 12)]);
    assert_eq!((summary.requests.due, summary.requests.succeeded), (42, 42));
    assert_eq!(summary.populations.iter().map(|row| row.response_time.count()).sum::<u64>(), summary.response_time.count());
}

#[test]
fn every_row_of_data_goes_to_one_population_only_and_users_keep_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("users.csv");
    fs::write(&path, std::iter::once("id\n".to_owned()).chain((0..400).map(|id| format!("{id}\n"))).collect::<String>()).unwrap();
    let data = vec![Arc::new(Data::open(path.to_str().unwrap()).unwrap())];
    for order in ["in-order", "per-user"] {
        let (server, log) = serving(|_| plain(50, ""));
        let text = format!(
            "data: ['users={}']\ndata_order: {order}\nload: {{duration: 5s}}\npopulations:\n  - {{name: a, users: 3}}\n  \
             - {{name: b, users: 2, start_after: 1s}}\nsteps: [{{get: '/{{{{users.id}}}}', pause: 200ms}}]\n",
            path.display()
        );
        run_with(&server, &text, &data);
        let mut lines = lines(&log);
        let sent = lines.len();
        lines.sort();
        lines.dedup();
        if order == "per-user" {
            assert_eq!(lines, ["GET /0", "GET /1", "GET /2", "GET /3", "GET /4"]);
        } else {
            assert_eq!(lines.len(), sent, "no row twice");
        }
        assert!(sent > 80, "{sent}");
    }
}

#[test]
fn a_step_s_most_requests_are_divided_among_the_populations_that_have_it() {
    let (server, log) = serving(|_| plain(10, ""));
    let text = "load: {duration: 5s, threads: 2}
populations:
  - {name: a, users: 4, journeys: [limited]}
  - {name: b, users: 4, journeys: [free]}
  - {name: c, users: 4}
journeys:
  - {name: limited, steps: [{get: /few, maximum_requests: 10, pause: 100ms}, {get: /many, pause: 100ms}]}
  - {name: free, steps: [{get: /free, pause: 100ms}]}
";
    run(&server, text);
    assert_eq!(lines(&log).iter().filter(|line| *line == "GET /few").count(), 10);
}

#[test]
fn populations_are_the_same_however_they_are_split() {
    let text = SHOP.replace("journeys: report", "journeys: [report, browse]").replace("threads: 2", "threads: 3, timeout: 300ms");
    let scenario = crate::read("s.yaml", &text).unwrap_or_else(|mistakes| panic!("{mistakes:#?}"));
    let url = Some("http://simulated.test/".to_owned());
    let own = scenario.load();
    let draft = Draft { scenario: Some("s.yaml".to_owned()), url, ..own.draft };
    let plan = Plan::try_from(LoadRecord { draft, ..own }).unwrap_or_else(|errors| panic!("{errors:?}"));
    let whole = engine::split::same_however_split(&plan, &|runner, parts| {
        let mut ready = crate::Ready::new(&plan, &scenario, &[]).unwrap_or_else(|errors| panic!("{errors:?}")).on(runner);
        let series = ready.begin(&Stop::new()).unwrap();
        ready.start(&series, runner.prepare(&plan).unwrap(), parts, &Stop::new()).unwrap()
    });
    assert_eq!(whole.summary.populations.len(), 2);
    assert!(whole.summary.populations.iter().all(|row| row.requests.due > 10), "{:?}", whole.summary.populations);
}

#[test]
fn a_population_begins_when_the_users_of_another_have_gone() {
    let (server, log) = serving(|_| plain(100, ""));
    let text = "\
target: http://a.test
load: {duration: 1h}
populations:
  - {name: first, users: '0 to 2 for 2s, 2', iterations_per_user: 3, journeys: a}
  - {name: second, after: first, users: '0 to 2 for 1s, 2', iterations_per_user: 2, journeys: b}
  - {name: third, after: second, users: 1, iterations_per_user: 1, journeys: c}
  - {name: beside, users: 1, iterations_per_user: 1, journeys: d}
journeys: [{name: a, steps: [{get: /a}]}, {name: b, steps: [{get: /b}]}, {name: c, steps: [{get: /c}]}, {name: d, steps: [{get: /d}]}]
user_teardown: [{get: /bye}]
";
    run(&server, text);
    let times = |path: &str| -> Vec<u64> { log.borrow().iter().filter(|seen| seen.line == path).map(|seen| seen.at_ms).collect() };
    assert_eq!((times("GET /d")[0] < 10, times("GET /a").len(), times("GET /b").len()), (true, 6, 4));
    // The second user of the first comes after a second, and is through with three requests; so it is with the second population.
    let (a, b, c) = (times("GET /a"), times("GET /b"), times("GET /c"));
    assert!((1_200..1_230).contains(&a[5]) && (1_300..1_350).contains(&b[0]), "{a:?} {b:?}");
    assert!((b[0] + 480..b[0] + 540).contains(&b[2]), "{b:?}");
    assert!((b[3] + 100..b[3] + 150).contains(&c[0]), "{b:?} {c:?}");
}

#[test]
fn a_population_that_follows_none_or_one_without_an_end_is_told() {
    let text = "target: http://a.test\npopulations:\n  - {name: a, users: 1, after: b}\n  - {name: b, users: 1, after: a, duration: 5s}\nsteps: [{get: /}]\n";
    let mistakes = crate::read("s.yaml", text).unwrap_err();
    let told: Vec<(usize, &str)> = mistakes.iter().map(|mistake| (mistake.line, mistake.message.as_str())).collect();
    assert_eq!(
        told,
        [
            (3, "no population before this one is called 'b'"),
            (4, "the population 'b' begins when others have gone, and nobody knows when that is")
        ]
    );
    let plan = |text: &str| {
        let scenario = crate::read("s.yaml", text).unwrap_or_else(|mistakes| panic!("{mistakes:#?}"));
        let own = scenario.load();
        let draft = Draft { scenario: Some("s.yaml".to_owned()), ..own.draft };
        Plan::try_from(LoadRecord { draft, ..own }).map_err(|errors| errors.spelt(plan::Spelling::KEYS))
    };
    let text = "target: http://a.test\npopulations: [{name: a, users: 1}, {name: b, users: 1, after: a}]\nsteps: [{get: /}]\n";
    let told = plan(text).unwrap_err();
    assert!(told.contains("population 'b' begins after 'a', whose users stay to the end of the run"), "{told}");
    let told = plan(&text.replace("users: 1, after: a", "rate: 5/s, after: a")).unwrap_err();
    assert!(told.contains("users of a rate come at their times"), "{told}");
}

#[test]
fn what_a_population_cannot_be_is_told_with_its_place() {
    let text = "target: http://a.test
load: {users: 5, duration: 10s}
populations:
  - {users: 3}
  - {name: a, users: 3, rate: 5/s}
  - {name: b, journeys: [brwose], users: 0}
  - {name: c, journeys: [browse], start_after: 5}
  - {name: c, journeys: [browse], users: 1, duration: soon}
journeys:
  - {name: browse, steps: [{get: /}]}
  - {name: report, steps: [{get: /r}]}
";
    let mistakes = crate::read("s.yaml", text).unwrap_err();
    let said: Vec<(usize, &str)> = mistakes.iter().map(|mistake| (mistake.line, mistake.message.as_str())).collect();
    let has = |line: usize, words: &str| said.iter().any(|(at, message)| *at == line && message.contains(words));
    assert!(has(2, "'users' and populations contradict"), "{said:#?}");
    assert!(has(4, "the population has no name"), "{said:#?}");
    assert!(has(5, "two kinds of load"), "{said:#?}");
    assert!(has(6, "there is no journey 'brwose'") && has(6, "zero"), "{said:#?}");
    assert!(has(7, "start_after") && has(7, "neither users nor a rate"), "{said:#?}");
    assert!(has(8, "two populations are called 'c'") && has(8, "soon"), "{said:#?}");
}

#[test]
fn a_list_of_no_populations_or_no_journeys_is_a_mistake_and_does_not_mean_all() {
    let steps = "journeys:\n  - {name: x, steps: [{get: /}]}\n";
    let told = |populations: &str| {
        let mistakes = crate::read("s.yaml", &format!("target: http://a.test\npopulations: {populations}\n{steps}")).unwrap_err();
        mistakes.into_iter().map(|mistake| mistake.message).collect::<Vec<_>>()
    };
    assert_eq!(told("[]"), ["there are no populations here"]);
    assert_eq!(told("[{name: a, users: 3, journeys: []}]"), ["there are no journeys here"]);
}

#[test]
fn a_journey_that_no_population_goes_through_is_a_mistake() {
    let text = "target: http://a.test\npopulations:\n  - {name: a, users: 3, journeys: [x]}\njourneys:\n  - {name: x, steps: [{get: /}]}\n  \
                - {name: y, steps: [{get: /}]}\n";
    let mistakes = crate::read("s.yaml", text).unwrap_err();
    assert_eq!(mistakes[0].message, "no population goes through the journey 'y'");
}

#[test]
fn a_check_on_a_population_is_judged_by_its_row() {
    let (server, _) = serving(|seen| plain(if seen.line == "GET /report" { 400 } else { 100 }, ""));
    let Collected { summary, .. } = run(&server, SHOP);
    let checks: Vec<analysis::gate::Check> =
        ["population customers p99 < 200ms", "population office p99 < 200ms"].map(|text| text.parse().unwrap()).into();
    let verdicts: Vec<bool> =
        analysis::gate::judge(&checks, &summary.close()).iter().map(|judged| judged.verdict == analysis::gate::Verdict::Broken).collect();
    assert_eq!(verdicts, [false, true]);
    let text = SHOP.to_owned() + "checks: [population offices p99 < 1s]\n";
    let mistakes = crate::read("s.yaml", &format!("target: http://a.test\n{text}")).unwrap_err();
    assert!(mistakes[0].message.contains("no population 'offices'") && mistakes[0].help.contains("office"), "{mistakes:?}");
}

#[test]
fn users_of_a_population_begin_so_many_journeys_in_all_and_finish_them() {
    let (server, log) = serving(|_| plain(100, ""));
    let text = "\
load: {duration: 10s, threads: 2}
populations:
  - {name: few, users: 3, journeys: [few], iterations: 7}
  - {name: one, users: 1, journeys: [one], iterations: 2, requests: 3}
  - {name: some, rate: 10/s, arrivals: even, journeys: [some], iterations: 5}
  - {name: rest, users: 1, journeys: [rest]}
journeys:
  - {name: few, steps: [{get: /few}, {get: /few2, pause: 500ms}]}
  - {name: one, steps: [{get: /one}, {get: /one2}]}
  - {name: some, steps: [{get: /some}, {get: /some2}]}
  - {name: rest, steps: [{get: /rest, pause: 900ms}]}
";
    let Collected { summary, .. } = run(&server, text);
    let rows = summary.scenario.clone().unwrap().journeys;
    let counts: Vec<_> = rows.iter().map(|row| (row.name.as_str(), row.started, row.completed, row.unfinished)).collect();
    assert_eq!(counts, [("few", 7, 7, 0), ("one", 2, 1, 1), ("some", 5, 5, 0), ("rest", 10, 10, 0)]);
    assert_eq!(log.borrow().len(), 14 + 3 + 10 + 10);
    // The whole ends when nobody has anything left to do.
    let (server, _) = serving(|_| plain(100, ""));
    let alone = "load: {duration: 10s}\npopulations: [{name: a, users: 2, iterations: 4}]\nsteps: [{get: /a, pause: 100ms}]\n";
    let Collected { summary, .. } = run(&server, alone);
    assert_eq!((summary.requests.due, summary.ended.load_until), (4, Nanos::from_millis(300)));
}

#[test]
fn each_user_begins_so_many_journeys_finishes_them_and_goes() {
    let (server, log) = serving(|_| plain(100, ""));
    let text = "\
load: {duration: 10s, threads: 2}
populations:
  - {name: each, users: 3, journeys: [each], iterations_per_user: 2}
  - {name: later, users: '0 to 2 for 2s, 2 for 6s', journeys: [later], iterations_per_user: 3, iterations: 5}
journeys:
  - {name: each, steps: [{get: /each}, {get: /each2, pause: '{{random 1 900}}ms'}]}
  - {name: later, steps: [{get: /later}]}
user_teardown:
  - {post: /gone}
";
    let Collected { summary, .. } = run(&server, text);
    let rows = summary.scenario.clone().unwrap().journeys;
    let counts: Vec<_> = rows.iter().map(|row| (row.name.as_str(), row.started, row.completed, row.unfinished)).collect();
    assert_eq!(counts, [("each", 6, 6, 0), ("later", 5, 5, 0)]);
    let log = log.borrow();
    let of = |line: &str| log.iter().filter(|seen| seen.line == line).count();
    assert_eq!(["GET /each", "GET /each2", "GET /later", "POST /gone"].map(of), [6, 6, 5, 5]);
    assert!(summary.ended.load_until < Nanos::from_secs(5), "nobody has anything left to do: {}", summary.ended.load_until);
}

#[test]
fn a_population_that_begins_no_journey_or_has_an_empty_name_is_a_mistake() {
    let told = |population: &str| {
        let text = format!("target: http://a.test\npopulations:\n  - {population}\nsteps: [{{get: /}}]\n");
        let mistakes = crate::read("s.yaml", &text).unwrap_err();
        assert_eq!(mistakes.len(), 1, "{mistakes:#?}");
        (mistakes[0].line, mistakes[0].column, mistakes[0].message.clone())
    };
    assert_eq!(told("{name: a, users: 3, iterations: 0}"), (3, 37, "a population that begins no journey does nothing".to_owned()));
    let each = told("{name: a, users: 3, iterations_per_user: 0}");
    assert_eq!(each, (3, 46, "a population that begins no journey does nothing".to_owned()));
    assert_eq!(told("{name: a, users: 3, iterations: many}"), (3, 37, "'many' is not a whole number".to_owned()));
    assert_eq!(told("{name: '', users: 3}"), (3, 12, "the name of the population is empty".to_owned()));
    assert_eq!(told("{users: 3}"), (3, 5, "the population has no name".to_owned()));
}
