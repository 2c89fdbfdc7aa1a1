//! Values that are found elsewhere than in bodies, by chance or not at all, and checks of parts and variables.

use super::*;

#[test]
fn values_are_found_in_each_part_of_an_exchange_and_in_variables() {
    let (server, log) = serving(|seen| match seen.line.as_str() {
        "POST /buy?id=7" => {
            (1, 201, "X-Token: abc\r\n".to_owned(), "{\"text\": \"{\\\"n\\\": 5}\", \"p\": [1.5, 20], \"t\": \"&lt;i&gt;\"}".to_owned())
        }
        _ => plain(1, ""),
    });
    let text = r#"
load: {users: 1, requests: 2}
steps:
  - post: '/buy?id=7'
    body: n=1
    headers: {X-Own: yes-it-is}
    extract:
      text: json $.text
      n: {json: $.n, in: '{{text}}'}
      token: {regex: 'X-Token: (\w+)', in: headers}
      id: {regex: '/(\w+)\?id=(\d+)', in: url, as: '$2.$1$$'}
      message: {body: true, in: message}
      sent: {regex: 'n=\d', in: request}
      own: {regex: 'X-Own: (.*)', in: request_headers}
      sum: json $.p.sum()
      all: {json: '$.p[*]', take: joined}
      dear: jmespath p[?@ > `10`]
      entity: {regex: '(<i>)', in: unescaped}
      hash: {digest: md5, in: '{{token}}'}
      hops: {regex: '(.+)', in: hops, default: none}
    checks:
      - message == Created
      - 'headers contains "X-Token: abc"'
      - url ends with id=7
      - request starts with POST
      - format json
      - variable token == abc
      - json $.p any == 20
      - total_size > 80
  - post: /seen
    body: '{{n}} {{token}} {{id}} {{message}} {{sent}} {{own}} {{sum}} {{all}} {{dear}} {{entity}} {{hash}} {{hops}}'
"#;
    let Collected { summary, .. } = run(&server, text);
    assert_eq!(log.borrow()[1].body, "5 abc 7.buy$ Created n=1 yes-it-is 21.5 1.5,20 20 <i> 900150983cd24fb0d6963f7d28e17f72 none");
    let step = &summary.scenario.as_ref().unwrap().steps[0];
    assert!(step.checks.iter().all(|check| check.held == 1 && check.failed == 0), "{:?}", step.checks);
}

#[test]
fn an_optional_value_keeps_what_it_was_and_one_by_chance_is_another_each_time() {
    let (server, log) = serving(|seen| if seen.at_ms < 3 { plain(1, "a=1") } else { plain(1, "x=1 x=2 x=3") });
    let text = r"
load: {users: 1, requests: 2000}
keep_variables: true
steps:
  - get: /page
    extract:
      kept: {regex: 'a=(\d)', optional: true}
      any: {regex: 'x=(\d)', take: random, default: '0'}
  - get: '/seen/{{kept}}/{{any}}'
";
    let Collected { summary, .. } = run(&server, text);
    assert_eq!(failed(&summary, Failure::ExtractNothing), 0);
    let log = log.borrow();
    let drawn = |number: &str| log.iter().filter(|seen| seen.line == format!("GET /seen/1/{number}")).count() as u64;
    let counts = ["1", "2", "3"].map(drawn);
    assert_eq!(counts.iter().sum::<u64>() + drawn("0"), 1000, "the old value is kept from journey to journey");
    assert!(counts.iter().all(|count| is_binomial(*count, 998, 1.0 / 3.0)), "{counts:?}");
}

#[test]
fn answers_along_redirects_are_looked_into_together() {
    let (server, log) = serving(|seen| match seen.line.as_str() {
        "GET /from" => (1, 302, "Location: /to\r\n".to_owned(), "t=1".to_owned()),
        "GET /to" => plain(1, "t=2"),
        _ => plain(1, ""),
    });
    let text = r"
load: {users: 1, requests: 2}
steps:
  - get: /from
    redirects: 3
    extract: {t: {regex: 't=(\d)', in: hops, take: every}, u: {regex: 'test(/.*)', in: url}, v: {regex: 't=(\d)', in: chain, take: joined}}
    checks: ['url ends with /to', 'headers not contains Location', 'variable u == /to']
  - {post: /seen, body: '{{t}}{{u}} {{v}}'}
";
    let Collected { summary, .. } = run(&server, text);
    assert_eq!(log.borrow().last().unwrap().body, "[\"1\",\"2\"]/to 2,1,2");
    assert_eq!(failed(&summary, Failure::CheckFailed), 0);
}

#[test]
fn a_check_of_each_answer_holds_along_redirects_or_tells_which_one_breaks_it() {
    let (server, _) = serving(|seen| match seen.line.as_str() {
        "GET /from" => (1, 302, "Location: /to\r\nX-On: way\r\n".to_owned(), "bad news".to_owned()),
        _ => plain(1, "good news"),
    });
    let checked = |path: &str, check: &str| {
        let text = format!("load: {{users: 1, requests: 1}}\nsteps:\n  - {{get: {path}, redirects: 3, checks: [{check}]}}\n");
        let Collected { summary, .. } = run(&server, &text);
        let step = summary.scenario.as_ref().unwrap().steps[0].clone();
        let [check] = &step.checks[..] else { panic!("{:?}", step.checks) };
        assert_eq!((check.held + check.failed, step.failed), (1, check.failed), "it is counted once");
        check.example.as_ref().map(|example| example.text.clone())
    };
    assert_eq!(checked("/from", "{body: contains news, answers: all}"), None);
    assert_eq!(checked("/from", "{status: '200, 302', answers: parts}"), None);
    assert_eq!(checked("/from", "{body: contains good}"), None);
    for along in ["all", "parts"] {
        let broken = checked("/from", &format!("{{body: contains good, answers: {along}}}")).unwrap();
        assert!(broken.starts_with("body contains good: ") && broken.contains("bad news"), "{broken}");
        let last = checked("/from", &format!("{{body: contains bad, answers: {along}}}")).unwrap();
        assert!(last.contains("good news"), "{last}");
    }
    assert!(checked("/from", "{url: ends with /from, answers: all}").unwrap().contains("/to"));
    // A single answer is made of no others.
    assert_eq!(checked("/to", "{body: contains bad, answers: parts}"), None);
    assert!(checked("/to", "{body: contains bad, answers: all}").is_some());
    // What is looked for in all bodies along redirects is heard where nothing else asks for them.
    assert_eq!(checked("/from", "{hops: contains bad}"), None);
    let mistakes = crate::read("x.yaml", "steps:\n  - {get: /, checks: [{status: 200, answers: some}]}").unwrap_err();
    assert!(mistakes[0].message.contains("'some' names no answers"), "{mistakes:?}");
}

#[test]
fn what_is_looked_for_may_be_filled_in_for_each_answer() {
    let (server, log) = serving(|seen| match seen.line.as_str() {
        "GET /page" => plain(1, "{\"a\": {\"id\": 7}, \"b\": {\"id\": 8}, \"next\": \"b\", \"x{{y\": \"b=[1]\"}"),
        _ => plain(1, ""),
    });
    let text = r#"
load: {users: 1, requests: 2}
variables: {key: a, wrong: '('}
steps:
  - get: /page
    extract:
      one: json $.{{key}}.id
      key: json $.next
      two: {json: '$.{{key}}.id', take: every}
      brace: 'regex "x[{{"{{"}}]{2}y": "(.)'
      open: {regex: '{{key}}=\[(\d)', default: none}
      none: {regex: '{{wrong}}', default: no expression}
  - {post: /seen, body: '{{one}} {{two}} {{brace}} {{open}} {{none}}'}
"#;
    let Collected { summary, .. } = run(&server, text);
    assert_eq!(log.borrow().last().unwrap().body, "7 [8] b 1 no expression");
    assert_eq!(failed(&summary, Failure::ExtractNothing), 0);
}
