//! Scripts between requests and behind answers.

use measure::ScriptNotes;

use super::*;

fn example(summary: &SummaryRecord, class: Failure) -> String {
    let failure = summary.failures.iter().find(|failure| failure.class == class);
    failure.and_then(|failure| failure.example.as_ref()).map_or_else(String::new, |example| example.text.clone())
}

#[test]
fn a_request_is_signed_and_a_value_is_searched_for_in_its_answer() {
    let (server, log) = serving(|seen| match seen.line.as_str() {
        "GET /orders" => plain(10, r#"{"items": [{"id": 7}, {"id": 8, "open": true}]}"#),
        _ => plain(10, ""),
    });
    let text = r#"
load: {users: 1, requests: 2}
variables: {key: Jefe}
steps:
  - script: |
      vars.set("signature", crypto.hmac("sha256", vars.get("key"), "what do ya want for nothing?"));
  - get: /orders
    headers: {X-Signature: '{{signature}}'}
    after: |
      const order = JSON.parse(answer.body).items.find(item => item.open);
      if (!order) fail("no open order");
      vars.set("order", order.id);
      vars.set("kind", `${answer.status} ${answer.header("content-length")}`);
  - get: /orders/{{order}}?{{kind}}
"#;
    let ran = run(&server, text);
    assert_eq!((ran.broken, ran.summary.requests.succeeded), (None, 2));
    assert_eq!(log.borrow()[0].header("x-signature"), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    assert_eq!(lines(&log), ["GET /orders", "GET /orders/8?200%2047"]);
    // Times are those of the server.
    assert_eq!(ran.summary.response_time.max(), Some(Nanos::from_millis(10)));
}

#[test]
fn a_script_that_throws_ends_its_journey_and_is_told_with_its_line() {
    let answers = std::cell::Cell::new(0);
    let (server, log) = serving(move |seen| {
        answers.set(answers.get() + u64::from(seen.line == "GET /a"));
        plain(1, if answers.get().is_multiple_of(2) { "{}" } else { r#"{"id": 1}"# })
    });
    let text = |how: &str| {
        format!(
            "load: {{users: 1, requests: 40}}\nsteps:\n  - get: /a\n    {how}\n    after: |\n      const found = JSON.parse(answer.body);\n      \
             if (!found.id) fail('no id');\n      vars.set('id', found.id);\n  - get: /b/{{{{id}}}}\n"
        )
    };
    let ran = run(&server, &text("redirects: 0"));
    let (summary, failures) = (&ran.summary, failed(&ran.summary, Failure::Script));
    assert!(failures >= 10 && ran.broken.is_none(), "{:?}", summary.failures);
    let journey = &summary.scenario.as_ref().unwrap().journeys[0];
    assert_eq!((journey.broke_off, summary.requests.due, summary.requests.failed), (failures, 40, failures));
    assert_eq!(example(summary, Failure::Script), "the script after 'GET /a': line 2: no id");
    assert!(lines(&log).iter().all(|line| line == "GET /a" || line == "GET /b/1"));
    // A step that may fail goes on, and is counted all the same.
    log.borrow_mut().clear();
    let ran = run(&server, &text("may_fail: true"));
    let journey = &ran.summary.scenario.as_ref().unwrap().journeys[0];
    assert_eq!((journey.broke_off, failed(&ran.summary, Failure::Script) >= 10), (0, true));
}

#[test]
fn a_script_between_requests_that_throws_keeps_the_next_from_being_sent() {
    let (server, log) = serving(|_| plain(1, ""));
    let text = "load: {users: 2, requests: 20}\nsteps:\n  - get: /a\n  - script: |\n      \n      null.length\n  - get: /b\n";
    let ran = run(&server, text);
    assert_eq!(ran.broken, None);
    assert_eq!((failed(&ran.summary, Failure::ScriptUnsent), ran.summary.requests.succeeded), (10, 10));
    let why = example(&ran.summary, Failure::ScriptUnsent);
    assert!(why.starts_with("GET /b: a script: line 2: TypeError: "), "{why}");
    assert!(lines(&log).iter().all(|line| line == "GET /a"));
    // Where it may fail, its users go on, and that is said.
    log.borrow_mut().clear();
    let ran = run(
        &server,
        "load: {users: 1, requests: 4}\nsteps:\n  - get: /a\n  - script: {text: 'null.length', may_fail: true}\n  - get: /b\n",
    );
    assert_eq!((ran.summary.requests.succeeded, lines(&log).len()), (4, 4));
    assert!(ran.left.warnings().concat().contains("a script failed"), "{:?}", ran.left.warnings());
}

#[test]
fn a_script_without_end_ends_its_journey_and_not_the_run() {
    let (server, log) = serving(|_| plain(1, ""));
    let ran = run(&server, "load: {users: 1, requests: 4}\nsteps:\n  - get: /a\n    after: for (;;) {}\n  - get: /b\n");
    assert_eq!((ran.broken, failed(&ran.summary, Failure::Script), lines(&log).len()), (None, 4, 4));
    assert!(example(&ran.summary, Failure::Script).contains("ran too long"), "{}", example(&ran.summary, Failure::Script));
}

#[test]
fn users_have_variables_and_objects_of_their_own_and_the_seed_decides_about_chance() {
    let text = "
load: {users: 5, requests: 100, seed: 7}
steps:
  - script: |
      objects.n = (objects.n || 0) + 1;
      vars.set('made' + 'up', vars.get('made' + 'up') === null ? 'new' : 'seen');
      vars.set('n', objects.n);
      vars.set('chance', Math.floor(Math.random() * 1e9));
      vars.set('fresh', vars.get('made' + 'up'));
  - get: /{{n}}/{{chance}}/{{fresh}}
";
    let seen = || {
        let (server, log) = serving(|_| plain(1, ""));
        run(&server, text);
        let mut of: Vec<(u64, String)> = log.borrow().iter().map(|seen| (seen.connection, seen.line.clone())).collect();
        of.sort();
        of
    };
    let (first, again) = (seen(), seen());
    assert_eq!(first, again);
    for user in 0..5 {
        let mut numbers: Vec<u32> =
            first.iter().filter(|(of, _)| *of == user).map(|(_, line)| line.split('/').nth(1).unwrap().parse().unwrap()).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (1..=20).collect::<Vec<_>>(), "each counts for itself");
    }
    assert!(first.iter().all(|(_, line)| line.ends_with("/new")), "variables begin anew with each journey: {first:?}");
    let chances: std::collections::BTreeSet<&str> = first.iter().map(|(_, line)| line.split('/').nth(2).unwrap()).collect();
    assert_eq!(chances.len(), 100);
}

#[test]
fn scripts_find_what_they_are_given_and_leave_what_they_return() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("words.txt");
    fs::write(&path, "one two").unwrap();
    let text = "
load: {users: 1, requests: 2}
variables: {n: 20}
steps:
  - script:
      given: {half: '{{n}}', row: 'r{{user_number}}'}
      into: sum
      files: {words: PATH}
      text: return Number(vars.get('half')) / 2 + vars.get('row') + file('words').split(' ').length
  - parallel:
      - steps:
          - script: vars.set('inner', vars.get('sum') + objects.shared)
          - get: /in/{{inner}}
      - get: /beside
  - get: /{{sum}}/{{inner}}
"
    .replace("PATH", &path.display().to_string());
    let (server, log) = serving(|_| plain(1, ""));
    let ran = run(&server, &text.replace("requests: 2", "requests: 3"));
    assert_eq!((ran.broken, ran.summary.requests.succeeded), (None, 3));
    let mut seen = lines(&log);
    seen.sort();
    assert_eq!(seen, ["GET /10r12/10r12undefined", "GET /beside", "GET /in/10r12undefined"]);
}

#[test]
fn translated_scripts_judge_answers_and_end_journeys_and_users() {
    let (server, log) = serving(|seen| (1, if seen.line == "GET /bad" { 500 } else { 200 }, String::new(), "a b".to_owned()));
    let text = "
load: {users: 2, duration: 1s}
journeys:
  - name: Group
    steps:
      - get: /bad
        after:
          translated: true
          sets: [a_b]
          text: |
            if (host.answer('code') === '500' && !host.answer('ok')) host.succeed();
            host.put('a.b', host.answer('body') + host.threadName() + host.label() + host.iteration());
      - get: '/{{a_b}}'
        after:
          - {translated: true, text: \"host.fail('as planned'); host.log('info', 'said ' + host.iteration())\"}
          - {translated: true, text: \"host.setProperty('left', host.threadNumber()); host.nextIteration()\"}
      - get: /never
      - script: {translated: true, text: host.stopUser()}
";
    let ran = run(&server, &text.replace("duration: 1s", "requests: 8"));
    assert_eq!((ran.broken, ran.summary.requests.succeeded, failed(&ran.summary, Failure::Script)), (None, 4, 4));
    assert!(!lines(&log).contains(&"GET /never".to_owned()));
    let paths: Vec<String> = lines(&log).into_iter().filter(|line| line.contains("Group")).collect();
    assert!(paths.contains(&"GET /a%20bGroup%201-1GET%20%2Fbad1".to_owned()), "{paths:?}");
    assert_eq!(example(&ran.summary, Failure::Script), "the script after 'GET /{{a_b}}': as planned");
    let ScriptNotes { lines: said, .. } = &ran.left.scripts;
    assert_eq!(*said, 4);
    // One that goes after its first journey.
    let (server, log) = serving(|_| plain(1, ""));
    let text =
        "load: {users: 3, duration: 10s}\nsteps:\n  - get: /once\n  - script: {translated: true, text: host.stopUser()}\n  - get: /never\n";
    let ran = run(&server, text);
    assert_eq!((ran.broken, lines(&log)), (None, vec!["GET /once".to_owned(); 3]));
    let (server, log) = serving(|_| plain(1, ""));
    let ran = run(&server, &text.replace("stopUser", "stopTest").replace("users: 3", "users: 1"));
    assert_eq!((ran.broken, lines(&log).len()), (None, 1));
}

#[test]
fn scripts_that_cannot_be_run_are_told_at_once_with_their_places() {
    let text = "target: http://a.test\nsteps:\n  - script: |\n      const a = 1;\n      const b = ;\n  - get: /\n    after: 'let x = {'\n  - {get: '/{{nobody}}'}\n  - script: vars.set('now', 1)\n  - script: {name: x}\n";
    let mistakes = crate::read("s.yaml", text).unwrap_err();
    let told: Vec<(usize, usize, &str)> = mistakes.iter().map(|mistake| (mistake.line, mistake.column, mistake.message.as_str())).collect();
    assert_eq!((told[0].0, told[0].1), (5, 17), "{told:?}");
    assert!(told[0].2.starts_with("the script cannot be run: SyntaxError: "), "{told:?}");
    assert_eq!(told.iter().map(|(line, ..)| *line).collect::<Vec<_>>(), [5, 7, 8, 9, 10], "{told:?}");
    assert!(told[3].2.contains("no variable can be called 'now'") && told[4].2.contains("has no 'text'"), "{told:?}");
}

#[test]
fn a_request_is_changed_before_it_is_sent() {
    let (server, log) = serving(|_| plain(10, ""));
    let text = r#"
load: {users: 1, requests: 4}
steps:
  - post: /a?n={{n}}
    headers: {X-Old: '1'}
    body: '{"id": "{{uuid}}"}'
    before:
      - |
        vars.set("n", 5);
        request.setHeader("X-Old", null);
      - |
        request.path = request.path + "&m=2";
        request.setHeader("X-Signature", crypto.digest("md5", request.body));
  - get: /b
    before: |
      request.method = "PUT";
      request.body = "new";
      vars.set("later", 7);
  - get: /c/{{later}}
  - script: vars.set("later", 8)
"#;
    let ran = run(&server, text);
    assert_eq!((ran.broken, ran.summary.requests.succeeded), (None, 4));
    assert_eq!(lines(&log), ["POST /a?n=5&m=2", "PUT /b", "GET /c/7", "POST /a?n=5&m=2"]);
    let log = log.borrow();
    for seen in [&log[0], &log[3]] {
        let expected = step::coding::digest_bytes("md5", seen.body.as_bytes()).unwrap();
        let expected: String = expected.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!((seen.header("x-signature"), seen.header("x-old")), (expected.as_str(), ""), "what is signed is what is sent");
        assert_eq!(seen.header("content-length"), seen.body.len().to_string());
    }
    assert_eq!((log[1].body.as_str(), log[1].header("content-length")), ("new", "3"));
    // What it takes is no part of the response time.
    assert_eq!(ran.summary.response_time.max(), Some(Nanos::from_millis(10)));
}

#[test]
fn a_request_that_is_only_set_is_written_with_what_the_script_sets() {
    let (server, log) = serving(|_| plain(1, ""));
    let text = "load: {users: 1, requests: 2}\nsteps:\n  - get: /a/{{n}}\n    auth: {digest: {user: ann, password: word}}\n    before: |\n      \
                vars.set('n', 5);\n      request.setHeader('X-N', vars.get('n'));\n";
    assert_eq!(run(&server, text).summary.requests.succeeded, 2);
    assert_eq!(lines(&log), ["GET /a/5", "GET /a/5"]);
    assert!(log.borrow().iter().all(|seen| seen.header("x-n") == "5"));
}

#[test]
fn a_script_before_a_request_that_throws_keeps_it_from_being_sent() {
    let (server, log) = serving(|_| plain(1, ""));
    let text = |script: &str| format!("load: {{users: 1, requests: 4}}\nsteps:\n  - get: /a\n  - get: /b\n    before: {script}\n");
    for script in ["fail('no')", "request.path = 'http://other.test/'", "request.setHeader('Host', 'b')", "request.body.none()"] {
        log.borrow_mut().clear();
        let ran = run(&server, &text(script));
        assert_eq!((failed(&ran.summary, Failure::ScriptUnsent), lines(&log)), (2, vec!["GET /a".to_owned(); 2]), "{script}");
        assert!(example(&ran.summary, Failure::ScriptUnsent).starts_with("GET /b: the script before 'GET /b': line 1: "), "{script}");
    }
    // What was changed until then is not done to another request.
    log.borrow_mut().clear();
    let ran = run(
        &server,
        "load: {users: 1, requests: 4}\nsteps:\n  - get: /b\n    before: \"request.setHeader('X-A', '1'); if (objects.n++) request.body.none(); objects.n = 1\"\n  - get: /c\n",
    );
    assert_eq!(failed(&ran.summary, Failure::ScriptUnsent), 2, "{:?}", lines(&log));
    assert!(log.borrow().iter().all(|seen| (seen.header("x-a") == "1") == (seen.line == "GET /b")));
    // There is a request in 'before' alone.
    let ran = run(&server, "load: {users: 1, requests: 2}\nsteps:\n  - script: request.path = '/c'\n  - get: /b\n");
    assert!(
        example(&ran.summary, Failure::ScriptUnsent).contains("there is no request here"),
        "{}",
        example(&ran.summary, Failure::ScriptUnsent)
    );
}
