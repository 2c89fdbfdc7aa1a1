//! Every word of a step, as it goes over the wire and comes back.

use super::*;

/// A page with a bit of everything.
const PAGE: &str = "<html><head><title>Shop 42</title></head><body><a class=next href='/p/2'>on</a><a href='/p/3'>there</a>\
                    <input name=csrf value=c1></body></html>";

fn shop(seen: &Seen) -> Answer {
    let headers = "X-Kind: tea\r\nSet-Cookie: crumb=k1; Path=/\r\n".to_owned();
    match seen.line.as_str() {
        "GET /json" => (100, 200, headers, "{\"items\": [{\"id\": 5}, {\"id\": 6}, {\"id\": 7}]}".to_owned()),
        _ => (100, 200, headers, PAGE.to_owned()),
    }
}

#[test]
fn every_method_and_body_goes_out_as_it_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("photo.bin");
    fs::write(&path, "PIXELS").unwrap();
    let (server, log) = serving(|_| plain(1, ""));
    let text = "\
load: {users: 1, requests: 9}
variables: {name: a b}
steps:
  - {put: /text, body: 'hello {{name}}'}
  - {patch: /file, body: {file: PHOTO}}
  - delete: /gone
  - head: /head
  - options: /options
  - {method: PURGE, path: '/cache/{{name}}'}
  - {post: /json, json: {a: [1, '{{name}}', true]}}
  - {post: /form, form: {a: x y&z, b: '{{name}}'}}
  - {post: /upload, multipart: {note: 'of {{name}}', photo: {file: PHOTO, type: image/png}}}
"
    .replace("PHOTO", &path.display().to_string());
    let Collected { summary, .. } = run(&server, &text);
    assert_eq!(summary.requests.succeeded, 9);
    let seen = log.borrow();
    let lines: Vec<&str> = seen.iter().map(|seen| seen.line.as_str()).collect();
    let wanted = ["PUT /text", "PATCH /file", "DELETE /gone", "HEAD /head", "OPTIONS /options", "PURGE /cache/a%20b"];
    assert_eq!(lines[..6], wanted);
    assert_eq!(lines[6..], ["POST /json", "POST /form", "POST /upload"]);
    let bodies: Vec<&str> = seen.iter().map(|seen| seen.body.as_str()).collect();
    assert_eq!(bodies[..7], ["hello a b", "PIXELS", "", "", "", "", "{\"a\":[1,\"a b\",true]}"]);
    assert_eq!(bodies[7], "a=x+y%26z&b=a+b");
    for part in ["name=\"note\"\r\n\r\nof a b\r\n", "filename=\"photo.bin\"", "Content-Type: image/png\r\n\r\nPIXELS\r\n"] {
        assert!(bodies[8].contains(part), "{part}: {}", bodies[8]);
    }
    let kinds: Vec<&str> = seen[6..].iter().map(|seen| seen.header("content-type").split(';').next().unwrap_or_default()).collect();
    assert_eq!(kinds, ["application/json", "application/x-www-form-urlencoded", "multipart/form-data"]);
}

#[test]
fn every_way_to_say_who_the_user_is_goes_out() {
    let (server, log) = serving(|_| plain(1, ""));
    let text = "\
load: {users: 1, requests: 7}
variables: {token: t1}
defaults: {auth: {basic: {user: ada, password: 'p:w'}}}
steps:
  - get: /basic
  - {get: /none, auth: none}
  - {get: /bearer, auth: {bearer: '{{token}}'}}
  - {get: /header, auth: {api_key: {header: X-Api-Key, value: 'k {{token}}'}}}
  - {get: '/query?a=1', auth: {api_key: {query: key, value: 'k&1 #{{token}}'}}}
  - {get: /query, auth: {api_key: {query: key, value: '{{token}}'}}}
  - post: /aws
    json: {a: 1}
    auth: {aws: {access_key: AKID, secret_key: s3cret, session_token: temporary, region: eu-central-1, service: execute-api}}
";
    let Collected { summary, .. } = run(&server, text);
    assert_eq!(summary.requests.succeeded, 7);
    let seen = log.borrow();
    let said: Vec<&str> = seen.iter().map(|seen| seen.header("authorization")).collect();
    // ada:p:w in base 64.
    assert_eq!(said[..6], ["Basic YWRhOnA6dw==", "", "Bearer t1", "", "", ""]);
    assert_eq!(seen[3].header("x-api-key"), "k t1");
    assert_eq!((seen[4].line.as_str(), seen[5].line.as_str()), ("GET /query?a=1&key=k%261%20%23t1", "GET /query?key=t1"));
    assert!(said[6].starts_with("AWS4-HMAC-SHA256 Credential=AKID/"), "{}", said[6]);
    assert!(said[6].contains("/eu-central-1/execute-api/aws4_request") && said[6].contains("content-type;host;"), "{}", said[6]);
    assert_eq!((seen[6].header("x-amz-security-token"), seen[6].header("x-amz-date").len()), ("temporary", "20260101T000000Z".len()));
    assert!(!seen[6].head.contains("s3cret"));
}

#[test]
fn a_value_is_taken_out_by_each_of_the_means() {
    let (server, log) = serving(shop);
    let text = "\
load: {users: 1, requests: 3}
steps:
  - get: /page
    extract:
      number: regex Shop (\\d+)
      kind: header X-Kind
      crumb: cookie crumb
      link: css a.next::attr(href)
      csrf: xpath //input[@name='csrf']/@value
      code: {status: true}
      missing: {css: b.none, default: nothing}
  - get: /json
    extract:
      one: json $.items[*].id
      last: {json: '$.items[*].id', take: last}
      second: {json: '$.items[*].id', take: 1}
      all: {json: '$.items[*].id', take: every}
      many: {json: '$.items[*].id', take: count}
      whole: {body: true}
  - {post: /use, body: '{{number}}|{{kind}}|{{crumb}}|{{link}}|{{csrf}}|{{code}}|{{missing}}|{{one}}|{{last}}|{{second}}|{{all}}|{{many}}|{{whole}}'}
";
    let Collected { summary, .. } = run(&server, text);
    assert_eq!((summary.requests.succeeded, summary.scenario.clone().unwrap().journeys[0].completed), (3, 1));
    let whole = "{\"items\": [{\"id\": 5}, {\"id\": 6}, {\"id\": 7}]}";
    assert_eq!(log.borrow()[2].body, format!("42|tea|k1|/p/2|c1|200|nothing|5|7|6|[5,6,7]|3|{whole}"));
}

#[test]
fn every_kind_of_check_holds_or_is_broken_with_an_example() {
    const PROMISES: [(&str, &str, &str, &str); 9] = [
        ("/page", "status 200", "status 201", "200"),
        ("/page", "header X-Kind == tea", "header X-Kind == coffee", "tea"),
        ("/page", "cookie crumb == k1", "cookie crumb missing", "k1"),
        ("/page", "body contains Shop", "body contains sorry", "Shop 42"),
        ("/json", "json $.items length 3", "json $.items length > 5", "{\"id\":7}"),
        ("/page", "css title == \"Shop 42\"", "css b exists", "nothing"),
        ("/page", "xpath //title == \"Shop 42\"", "xpath //b exists", "nothing"),
        ("/page", "size < 10 KiB", "size < 10", "bytes"),
        ("/page", "time < 200ms", "time < 50ms", "100ms"),
    ];
    let (server, _) = serving(shop);
    let mut text = format!("load: {{users: 1, requests: {}}}\nsteps:\n", 2 * PROMISES.len());
    for (path, held, broken, _) in PROMISES {
        for check in [held, broken] {
            text += &format!("  - {{get: {path}, checks: ['{check}']}}\n");
        }
    }
    let Collected { summary, .. } = run(&server, &text);
    let count = PROMISES.len() as u64;
    assert_eq!((summary.requests.succeeded, failed(&summary, Failure::CheckFailed)), (count, count));
    let scenario = summary.scenario.clone().unwrap();
    assert_eq!((scenario.journeys[0].completed, scenario.journeys[0].succeeded), (1, 0), "the journey goes on all the same");
    for ((_, held, broken, was), steps) in PROMISES.into_iter().zip(scenario.steps.chunks(2)) {
        let [well, ill] = steps else { panic!("{steps:?}") };
        assert_eq!((well.failed, well.checks[0].held, well.checks[0].failed), (0, 1, 0), "{held}");
        assert_eq!((ill.failed, ill.checks[0].held, ill.checks[0].failed), (1, 0, 1), "{broken}");
        assert_eq!(ill.failures[0].class, Failure::CheckFailed, "{broken}");
        let example = &ill.checks[0].example.as_ref().unwrap().text;
        assert!(example.contains(was), "{broken}: {example}");
    }
}

#[test]
fn pauses_are_thought_as_they_are_written() {
    // Low, high, mean and standard deviation in milliseconds.
    for (pause, low, high, mean, deviation) in
        [("1s..3s", 1_000, 3_000, 2_000.0, 577.4), ("exponential 2s", 0, u64::MAX, 2_000.0, 2_000.0), ("700ms", 700, 700, 700.0, 0.0)]
    {
        let (server, log) = serving(|_| plain(1, ""));
        let text = format!("load: {{users: 1, requests: 900}}\nsteps: [{{get: /, pause: {pause}}}]\n");
        let Collected { summary, .. } = run(&server, &text);
        assert_eq!(summary.requests.succeeded, 900);
        // An answer takes 1 ms; what is waited for is rounded up to whole ones.
        let gaps: Vec<u64> = log.borrow().windows(2).map(|pair| pair[1].at_ms - pair[0].at_ms - 1).collect();
        assert!(gaps.iter().all(|gap| (low..=high.saturating_add(1)).contains(gap)), "{pause}: {gaps:?}");
        let found = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
        // Five standard deviations of a mean of 899.
        assert!((found - mean).abs() < 5.0 * deviation / 30.0 + 1.5, "{pause}: {found}");
        assert_eq!(summary.response_time.max(), Some(Nanos::from_millis(1)), "{pause}: no request's time holds it");
    }
}

#[test]
fn steps_of_groups_have_their_names_before_them() {
    let (server, log) = serving(|_| plain(1, ""));
    let text = "\
load: {users: 1, requests: 4}
steps:
  - group: checkout
    steps:
      - get: /cart
      - group: pay
        steps: [{post: /charge, name: charge}]
";
    let Collected { summary, .. } = run(&server, text);
    let names: Vec<String> = summary.scenario.clone().unwrap().steps.into_iter().map(|step| step.name).collect();
    assert_eq!(names, ["checkout / GET /cart", "checkout / pay / charge"]);
    assert_eq!(lines(&log), ["GET /cart", "POST /charge", "GET /cart", "POST /charge"]);
}

#[test]
fn cookies_are_not_kept_where_that_is_not_wanted() {
    for (defaults, kept) in [("", "crumb=k1"), ("defaults: {cookies: false}\n", "")] {
        let (server, log) = serving(shop);
        let text = format!(
            "load: {{users: 1, requests: 3}}\n{defaults}steps: [{{get: /a}}, {{get: /b}}, {{get: /c, headers: {{Cookie: own=1}}}}]\n"
        );
        run(&server, &text);
        let cookies: Vec<String> = log.borrow().iter().map(|seen| seen.header("cookie").to_owned()).collect();
        assert_eq!(cookies, ["", kept, "own=1"]);
    }
}

#[test]
fn cookies_are_of_the_steps_that_have_to_do_with_them_and_may_be_forgotten() {
    let (server, log) = serving(shop);
    let text = "\
load: {users: 1, requests: 5}
steps: [{get: /a}, {get: /b, cookies: false}, {get: /c}, {forget: cookies}, {get: /d, cookies: false}, {get: /e}]
";
    run(&server, text);
    let cookies: Vec<String> = log.borrow().iter().map(|seen| seen.header("cookie").to_owned()).collect();
    assert_eq!(cookies, ["", "", "crumb=k1", "", ""]);
}

#[test]
fn cookies_may_be_given_and_connections_closed_behind_a_request() {
    let (server, log) = serving(shop);
    let text = "\
load: {users: 1, requests: 4}
variables: {color: dark}
steps:
  - {cookie: 'theme={{color}}; Path=/b', once: true}
  - {get: /a, keep_alive: false, cookies: false}
  - {get: /b, cookies: true}
";
    run(&server, text);
    let seen = log.borrow();
    let shown: Vec<_> = seen.iter().map(|seen| (seen.connection, seen.header("cookie"), seen.header("connection"))).collect();
    // That which is open before the load and the first one that is opened in it have the same number.
    assert_eq!(shown, [(0, "", "close"), (0, "theme=dark", ""), (0, "", "close"), (1, "theme=dark; crumb=k1", "")]);
}

#[test]
fn a_field_of_a_form_may_have_headers_of_its_own_and_the_form_a_type() {
    let (server, log) = serving(|_| plain(1, ""));
    let text = "\
load: {users: 1, requests: 1}
steps:
  - post: /upload
    headers: {Content-Type: 'multipart/form-data; charset=UTF-8'}
    multipart: {note: {text: 'a {{random 7 7}}', headers: {Content-Type: text/plain, Content-Transfer-Encoding: 8bit}}}
";
    run(&server, text);
    let seen = log.borrow();
    let part = "name=\"note\"\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: 8bit\r\n\r\na 7\r\n";
    assert!(seen[0].body.contains(part), "{}", seen[0].body);
    let kind = seen[0].header("content-type");
    assert!(kind.starts_with("multipart/form-data; boundary=") && kind.ends_with("; charset=UTF-8"), "{kind}");
    let mistakes = crate::read("s.yaml", "target: http://a.test\nsteps:\n  - {post: /, multipart: {a: {text: b, file: c}}}\n").unwrap_err();
    assert!(format!("{mistakes:?}").contains("a field is a text or a file"), "{mistakes:?}");
}

#[test]
fn stages_of_a_rate_start_as_many_journeys_as_they_say() {
    let (server, log) = serving(|_| plain(5, ""));
    let text = "\
load: {rate: [0/s to 50/s for 10s, 50/s for 10s], arrivals: even, connections: 100}
steps: [{get: /a}, {get: /b}]
";
    let Collected { summary, .. } = run(&server, text);
    let journey = &summary.scenario.as_ref().unwrap().journeys[0];
    // Half of 50/s for ten seconds, then all of it.
    assert!(journey.started.abs_diff(250 + 500) <= 1, "{journey:?}");
    assert_eq!(journey.started, lines(&log).iter().filter(|line| *line == "GET /a").count() as u64);
    assert_eq!(journey.started, journey.completed + journey.unfinished);
    assert_eq!(summary.requests.due, summary.requests.succeeded);
}

#[test]
fn redirects_are_followed_as_far_as_is_said_and_stay_one_request() {
    let (server, log) = serving(|seen| {
        let to = |status, path: &str| (1, status, format!("Location: {path}\r\n"), String::new());
        match seen.line.as_str() {
            "GET /1" => to(302, "/2"),
            "GET /2" => to(302, "/3"),
            "POST /keep" => to(307, "/kept"),
            _ => plain(1, ""),
        }
    });
    let text = "\
load: {users: 1, requests: 4}
steps:
  - {get: /1, redirects: 2}
  - {post: /keep, body: x=1, redirects: 1}
  - get: /1
  - {get: /1, redirects: 1, name: too far}
";
    let Collected { summary, .. } = run(&server, text);
    assert_eq!((summary.requests.due, failed(&summary, Failure::RedirectLimit)), (4, 1));
    // Nobody asked for the third to be followed: its 302 is a success.
    assert_eq!(summary.requests.succeeded, 3);
    let wanted = ["GET /1", "GET /2", "GET /3", "POST /keep", "POST /kept", "GET /1", "GET /1", "GET /2"];
    assert_eq!(lines(&log), wanted);
    assert_eq!(log.borrow()[4].body, "x=1");
    let failure = summary.failures.iter().find(|failure| failure.class == Failure::RedirectLimit).unwrap();
    assert!(failure.example.as_ref().is_some_and(|example| example.text.contains("too far")), "{failure:?}");
}
