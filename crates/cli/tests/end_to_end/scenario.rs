//! Scenarios: what the server saw of journeys, and what the report says of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::recorder::{Recorder, answer, counts, header, line};
use crate::session::{Session, server};

/// A shop that lets in who has logged in: a cookie, a token, a list, an order.
fn shop() -> Recorder {
    Recorder::start_with(|request| {
        let user = request.split_once("user=").map_or("", |(_, rest)| rest);
        match line(request) {
            "POST /login" => answer(303, &format!("Location: /home\r\nSet-Cookie: session={user}; Path=/; HttpOnly\r\n"), ""),
            "GET /home" if header("cookie", request).starts_with("session=") => {
                let name = header("cookie", request).trim_start_matches("session=");
                answer(200, "Content-Type: application/json\r\n", &format!("{{\"token\":\"t-{name}\",\"ids\":[7,8,9]}}"))
            }
            order if order.starts_with("POST /order/") && header("authorization", request).starts_with("Bearer t-") => {
                answer(201, "", "{\"total\":3}")
            }
            "GET /" => answer(200, "", "welcome"),
            "GET /gone" => answer(404, "", "nothing"),
            _ => answer(401, "", "who are you?"),
        }
    })
}

const BUY: &str = "\
target: TARGET
load: {users: 1, requests: 60}
data: [users.csv]
steps:
  - post: /login
    form: {user: '{{users.name}}'}
    redirects: 1
    extract: {token: json $.token, ids: json $.ids}
  - for_each: {variable: id, in: '{{ids}}'}
    steps:
      - post: /order/{{id}}
        name: order
        auth: {bearer: '{{token}}'}
        json: {count: 1}
        checks: {status: 201, json: {$.total: '> 2'}}
";

#[test]
fn users_log_in_and_keep_what_they_were_given() {
    let server = shop();
    let mut session = Session::new().file("buy.yaml", &BUY.replace("TARGET", &server.url)).file("users.csv", "name\nada\nbob\ncy d\n");
    session.loadline("run buy.yaml --full --out json=r.json --no-save").exits(0).says("transactions").says("order").complains_of_nothing();
    let seen = server.raw();
    let counted = counts(&seen);
    assert_eq!(counted["POST /login"], 15, "{counted:?}");
    assert_eq!(counted["GET /home"], 15);
    assert_eq!((counted["POST /order/7"], counted["POST /order/8"], counted["POST /order/9"]), (15, 15, 15));
    let users: BTreeSet<&str> =
        seen.iter().filter(|request| line(request) == "GET /home").map(|request| header("cookie", request)).collect();
    assert_eq!(users.len(), 3, "{users:?}");
    for order in seen.iter().filter(|request| request.contains("/order/")) {
        let token = header("authorization", order).trim_start_matches("Bearer t-");
        assert_eq!(header("cookie", order), format!("session={token}"));
        assert!(order.ends_with("{\"count\":1}"), "{order}");
    }
    // Users do not see each other's cookies and variables.
    session.loadline("run buy.yaml -c 3 -n 90 --no-save").exits(0);
    for order in server.raw().iter().filter(|request| request.contains("/order/")) {
        let token = header("authorization", order).trim_start_matches("Bearer t-");
        assert_eq!(header("cookie", order), format!("session={token}"));
    }
    let result = session.json("r.json");
    assert_eq!(result["scenario"]["requests_per_journey"], 4.0);
    assert_eq!(result["requests"]["succeeded"], 60);
    assert_eq!(result["redirects"], 15);
    let scenario = &result["scenario"];
    assert_eq!((&scenario["journeys"][0]["completed"], &scenario["journeys"][0]["succeeded"]), (&15.into(), &15.into()));
    let steps = scenario["steps"].as_array().unwrap();
    assert_eq!(steps.iter().map(|step| step["due"].as_u64().unwrap()).collect::<Vec<_>>(), [15, 45]);
    assert_eq!(steps[1]["checks"][0]["held"], 45);
    assert_eq!(steps[1]["checks"].as_array().unwrap().len(), 2);
}

#[test]
fn a_check_that_does_not_hold_is_a_failure_of_its_own_with_an_example() {
    let server = shop();
    let text = format!(
        "target: {}\nload: {{users: 1, requests: 20}}\nsteps:\n  - get: /\n    checks: [body contains sorry]\n  - get: /gone\n    checks: {{status: 404}}\n",
        server.url
    );
    let mut session = Session::new().file("s.yaml", &text);
    session.loadline("run s.yaml --out json=r.json --no-save").exits(0).says("check.failed").says("broken 10 of 10");
    let result = session.json("r.json");
    // What was asked for is a success, whatever its status.
    assert_eq!((&result["requests"]["failed"], &result["requests"]["succeeded"]), (&10.into(), &10.into()));
    assert_eq!(result["failures"][0]["class"], "check.failed");
    assert!(result["failures"][0]["example"]["text"].as_str().unwrap().contains("welcome"), "{}", result["failures"][0]);
    let journey = &result["scenario"]["journeys"][0];
    assert_eq!((&journey["completed"], &journey["succeeded"], &journey["broke_off"]), (&10.into(), &0.into(), &0.into()));
}

#[test]
fn a_value_that_is_not_there_ends_the_journey() {
    let server = shop();
    let text = format!(
        "target: {}\nload: {{users: 2, requests: 20}}\nsteps:\n  - get: /\n    extract: {{token: json $.token}}\n  - get: /after/{{{{token}}}}\n",
        server.url
    );
    let mut session = Session::new().file("s.yaml", &text);
    session
        .loadline("run s.yaml --out json=r.json --no-save")
        .exits_either(3, 4)
        .says("extract.nothing")
        .complains("all 20 broke off at the step 'GET /'");
    assert_eq!(counts(&server.raw()), BTreeMap::from([("GET /".to_owned(), 20)]));
    let result = session.json("r.json");
    assert_eq!(result["scenario"]["journeys"][0]["broke_off"], 20);
    assert_eq!(result["scenario"]["steps"][1]["due"], 0);
}

#[test]
fn journeys_come_as_often_as_their_weights_say_and_steps_in_their_order() {
    let server = server();
    let text = format!(
        "target: {}\nload: {{users: 1, requests: 4000}}\njourneys:\n  - {{name: a, weight: 3, steps: [{{get: /healthz?a}}]}}\n  - {{name: b, steps: [{{get: /healthz?b}}]}}\n",
        server.url("").trim_end_matches('/')
    );
    let mut session = Session::new().file("s.yaml", &text);
    session.loadline("run s.yaml --out json=r.json --no-save").exits(0);
    let result = session.json("r.json");
    let started = |place: usize| result["scenario"]["journeys"][place]["started"].as_u64().unwrap();
    assert_eq!(started(0) + started(1), 4000);
    // Five standard deviations of a binomial count: √(4000 · 0.75 · 0.25) = 27.
    assert!(started(0).abs_diff(3000) < 137, "{}", started(0));
    assert_eq!(server.counts().answered, 4000);
}

#[test]
fn loops_branches_and_limits_send_what_they_say() {
    let server = shop();
    let text = format!(
        "\
target: {}
load: {{users: 1}}
setup:
  - get: /?setup
teardown:
  - get: /?teardown
variables: {{round: '0'}}
steps:
  - get: /?once
    once: true
  - repeat: 2
    steps:
      - get: /?repeat
  - if: '{{{{status}}}} == 401'
    steps: [{{get: /?refused}}]
    else: [{{get: /?well}}]
  - pick:
      - {{weight: 0, steps: [{{get: /?never}}]}}
      - steps: [{{get: /?picked}}]
  - get: /?limited
    maximum_requests: 3
",
        server.url
    );
    let mut session = Session::new().file("s.yaml", &text);
    session.loadline("run s.yaml -n 44 --out json=r.json --no-save").exits(3).complains("setup of the scenario failed");
    // The shop knows no such page: with it, everything is done.
    let server = Recorder::start_with(|request| answer(if request.contains("?repeat") { 401 } else { 200 }, "", ""));
    let text = text.replace(text.lines().next().unwrap(), &format!("target: {}", server.url));
    let mut session = Session::new().file("s.yaml", &text);
    session.loadline("run s.yaml -n 44 --out json=r.json --no-save").exits(0).complains_of_nothing();
    let seen: Vec<String> = server.raw().iter().map(|request| line(request).trim_start_matches("GET /?").to_owned()).collect();
    assert_eq!(seen.first().map(String::as_str), Some("setup"));
    assert_eq!(seen.last().map(String::as_str), Some("teardown"));
    assert_eq!(seen[1..8], ["once", "repeat", "repeat", "refused", "picked", "limited", "repeat"]);
    let count = |name: &str| seen.iter().filter(|other| *other == name).count();
    assert_eq!((count("once"), count("limited"), count("well"), count("never")), (1, 3, 0, 0));
    assert_eq!((count("refused"), count("picked"), count("repeat")), (10, 10, 20));
    assert_eq!(session.json("r.json")["requests"]["due"], 44);
}

#[test]
fn a_rate_starts_journeys() {
    let server = server();
    let text = format!(
        "target: {}\nload: {{rate: 50/s, arrivals: even, duration: 2s}}\nsteps:\n  - get: /question\n    extract: {{id: json $.id}}\n  - pause: 5ms\n  - get: /answer?id={{{{id}}}}&card=1\n    checks: [status 200]\n",
        server.url("").trim_end_matches('/')
    );
    let mut session = Session::new().file("s.yaml", &text);
    session.loadline("run s.yaml --full --out json=r.json --no-save").says("50 journeys started a second");
    let result = session.json("r.json");
    let journey = &result["scenario"]["journeys"][0];
    assert_eq!(journey["started"], 100);
    let sum = ["completed", "broke_off", "unfinished"].iter().map(|key| journey[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum, 100);
    assert_eq!(journey["broke_off"], 0);
    assert_eq!(result["scenario"]["tps_offered"], 50.0);
    let steps = &result["scenario"]["steps"];
    assert_eq!(steps[0]["due"].as_u64().unwrap() + steps[1]["due"].as_u64().unwrap(), result["requests"]["due"].as_u64().unwrap());
    assert_eq!(server.counts().answered, result["requests"]["due"].as_u64().unwrap());
}

#[test]
fn several_servers_forms_with_files_and_keys() {
    let (here, there) = (shop(), Recorder::start_with(|_| answer(200, "", "{\"key\":\"k 1\"}")));
    let text = format!(
        "\
target: {}
load: {{users: 1, requests: 4}}
defaults: {{auth: {{basic: {{user: me, password: 'se:cret'}}}}}}
steps:
  - get: {}/token
    extract: {{key: json $.key}}
  - post: /upload
    auth: {{api_key: {{query: key, value: '{{{{key}}}}'}}}}
    multipart: {{note: 'a {{{{key}}}}', photo: {{file: photo.bin, type: image/png}}}}
",
        here.url, there.url
    );
    let mut session = Session::new().file("s.yaml", &text).file("photo.bin", "PIXELS");
    session.loadline("run s.yaml --out json=r.json --no-save").exits(0);
    let seen = here.raw();
    assert_eq!((seen.len(), there.raw().len()), (2, 2));
    assert!(seen[0].starts_with("POST /upload?key=k%201 HTTP/1.1\r\n"), "{}", seen[0]);
    assert!(seen[0].contains("a k 1\r\n") && seen[0].contains("PIXELS") && seen[0].contains("filename=\"photo.bin\""), "{}", seen[0]);
    assert_eq!(header("content-length", &seen[0]), seen[0].split_once("\r\n\r\n").unwrap().1.len().to_string());
    assert!(!session.read("r.json").contains("se:cret"));
}

#[test]
fn a_challenge_is_answered_within_the_same_request() {
    let server = Recorder::start_with(|request| {
        if header("authorization", request).starts_with("Digest ") && header("authorization", request).contains("username=\"ada\"") {
            return answer(200, "", "in");
        }
        let challenge = "WWW-Authenticate: Digest realm=\"shop\", nonce=\"n1\", qop=\"auth\", algorithm=SHA-256\r\n";
        answer(401, challenge, "")
    });
    let text = format!(
        "target: {}\nload: {{users: 1, requests: 3}}\ndefaults: {{auth: {{digest: {{user: ada, password: lovelace}}}}}}\nsteps: [{{get: /a}}]\n",
        server.url
    );
    let mut session = Session::new().file("s.yaml", &text);
    session.loadline("run s.yaml --out json=r.json --no-save").exits(0);
    let result = session.json("r.json");
    assert_eq!((&result["requests"]["due"], &result["requests"]["succeeded"], &result["redirects"]), (&3.into(), &3.into(), &0.into()));
    // Challenged once; the answer is then given with each request, its count going up.
    let seen = server.raw();
    assert_eq!(seen.len(), 4);
    assert!(header("authorization", &seen[3]).contains("nc=00000003"), "{}", seen[3]);
}

#[test]
fn a_scenario_runs_again_from_its_result_and_not_when_it_is_another() {
    let server = shop();
    let text = format!("target: {}\nload: {{users: 2, requests: 8}}\nsteps: [{{get: /}}]\n", server.url);
    let mut session = Session::new().file("s.yaml", &text);
    session.loadline("run s.yaml --out json=r.json --no-save").exits(0);
    session.loadline("run --from r.json --no-save").exits(0);
    assert_eq!(server.raw().len(), 16);
    let session = session.file("s.yaml", &format!("{text}# changed\n"));
    let mut session = session;
    session.loadline("run --from r.json --no-save").exits(2).complains("is not what it was");
}

#[test]
fn flags_go_over_the_file() {
    let server = shop();
    let text = "target: http://127.0.0.1:1\nload: {users: 7, duration: 10s}\nsteps: [{get: /}]\n";
    let mut session = Session::new().file("s.yaml", text);
    let line = format!("run {} --scenario s.yaml -c 2 -n 6 --out json=r.json --no-save", server.url);
    session.loadline(&line).exits(0);
    let result = session.json("r.json");
    assert_eq!((server.raw().len(), &result["concurrency"]), (6, &2.into()));
}

#[test]
fn check_tells_every_mistake_and_init_writes_what_is_sound() {
    let mut session = Session::new();
    session.loadline("init").exits(0).says("Wrote scenario.yaml");
    session.loadline("init").exits(2).complains("it exists").complains("--force");
    session.loadline("check scenario.yaml").exits(0).says("2 journeys with 5 steps");
    let mut session = session.file("bad.yaml", "target: http://a.test\nstps: []\nsteps:\n  - get: /{{usres.id}}\ndata: [users.csv]\n");
    session
        .loadline("check bad.yaml")
        .exits(2)
        .complains("error: bad.yaml:2:1: the key 'stps' is unknown here\n  stps: []\n  ^^^^\n  help: did you mean 'steps'?")
        .complains("did you mean 'users.id'?");
    let mut session = session
        .file("s.yaml", "target: http://a.test\ndata: [users.csv]\nsteps: [{get: '/{{users.nam}}'}]\n")
        .file("users.csv", "name\nx\n");
    session.loadline("check s.yaml").exits(2).complains("no column 'nam'");
    session.loadline("check nowhere.yaml").exits(2).complains("there is no such file");
}

#[test]
fn the_starter_runs_against_the_demo() {
    let server = server();
    let mut session = Session::new();
    session.loadline("init s.yaml").exits(0);
    let line = format!("run {} --scenario s.yaml -c 2 -n 100 --out json=r.json --no-save", server.url("").trim_end_matches('/'));
    session.loadline(&line).exits(0);
    let result = session.json("r.json");
    assert_eq!((&result["requests"]["succeeded"], &result["requests"]["due"]), (&100.into(), &100.into()));
}

/// Which rows of the data file came, in the order of their coming.
fn rows(requests: &[String]) -> Vec<u32> {
    requests.iter().filter_map(|request| line(request).strip_prefix("GET /row/")?.parse().ok()).collect()
}

/// A scenario of a setup, a teardown and a journey of two steps, with a hundred rows.
fn journeys_with_rows(url: &str) -> Session {
    let text = format!(
        "\
target: {url}
load: {{users: 7, requests: 40}}
data: [ids.csv]
setup:
  - get: /setup
    extract: {{token: json $.token}}
teardown:
  - get: /teardown/{{{{token}}}}
steps:
  - get: /row/{{{{ids.id}}}}
    headers: {{X-Token: '{{{{token}}}}', X-Number: '{{{{sequence}}}}', X-Chance: '{{{{uuid}}}}'}}
  - get: /next
    checks: {{status: 200}}
"
    );
    let ids: String = (0..1_000).map(|id| format!("{id}\n")).collect();
    Session::new().file("s.yaml", &text).file("ids.csv", &format!("id\n{ids}"))
}

fn journeys_server() -> Recorder {
    Recorder::start_with(|request| if line(request) == "GET /setup" { answer(200, "", "{\"token\":\"t1\"}") } else { answer(200, "", "") })
}

#[test]
fn a_sweep_climbs_over_users_on_journeys_and_does_once_what_is_done_once() {
    let server = journeys_server();
    let mut session = journeys_with_rows(&server.url);
    let ran = session.loadline("sweep s.yaml --levels 1,2,4 --cooldown 0s --out html=s.html").exits(0).complains_of_nothing();
    ran.says("users").says("TPS").says("requests a second").says("No request failed at any level.").says("journeys finished a second");
    let seen = server.raw();
    let counted = counts(&seen);
    assert_eq!((counted["GET /setup"], counted["GET /teardown/t1"]), (1, 1), "{counted:?}");
    assert_eq!((line(&seen[0]), line(seen.last().unwrap())), ("GET /setup", "GET /teardown/t1"));
    // Forty requests at each of three levels, as the file says of its load; its users give way.
    assert_eq!(seen.len(), 2 + 3 * 40);
    let loaded = || seen.iter().filter(|request| line(request).starts_with("GET /row/"));
    assert!(loaded().all(|request| header("x-token", request) == "t1"));
    let taken = rows(&seen);
    let different: BTreeSet<u32> = taken.iter().copied().collect();
    assert_eq!(different.len(), taken.len(), "no row comes twice: {taken:?}");
    let numbers: BTreeSet<&str> = loaded().map(|request| header("x-number", request)).collect();
    let chances: BTreeSet<&str> = loaded().map(|request| header("x-chance", request)).collect();
    assert_eq!((numbers.len(), chances.len()), (taken.len(), taken.len()), "nor a number, nor what is drawn");
    let result = session.json("_output/loadline/s.json");
    let trials = result["trials"].as_array().unwrap();
    let users: Vec<u64> = trials.iter().map(|trial| trial["level"]["users"].as_u64().unwrap()).collect();
    assert_eq!(users, [1, 2, 4]);
    for trial in trials {
        let summary = &trial["summary"];
        assert_eq!((&summary["requests"]["due"], &summary["requests"]["succeeded"]), (&40.into(), &40.into()));
        let steps = summary["scenario"]["steps"].as_array().unwrap();
        assert_eq!(steps.iter().map(|step| step["due"].as_u64().unwrap()).sum::<u64>(), 40);
    }
    assert!(session.read("_output/loadline/s.md").contains("| users | QPS | TPS |"));
    session.loadline("show @last").exits(0).says("TPS");
}

#[test]
fn a_sweep_counts_failures_step_by_step() {
    let server = shop();
    let text = format!("target: {}\nsteps:\n  - get: /\n  - get: /gone\n", server.url);
    let mut session = Session::new().file("s.yaml", &text);
    let line = "sweep --scenario s.yaml --levels 1,2 -n 10 --cooldown 0s --all-levels --name steps";
    let ran = session.loadline(line).exits(0).says("most often").says("GET /gone");
    let rows: Vec<&str> = ran.stdout.lines().filter(|line| line.contains("GET /gone")).collect();
    assert_eq!(rows.len(), 2, "{}", ran.stdout);
    assert!(rows[0].trim_start().starts_with("1 user  GET /gone") && rows[1].trim_start().starts_with("2 users  GET /gone"), "{rows:?}");
    assert!(rows[0].split_whitespace().any(|word| word == "5"), "{rows:?}");
    assert!(!ran.stdout.contains("user  GET / "), "what did not fail has no row: {}", ran.stdout);
}

#[test]
fn a_sweep_of_rates_begins_journeys() {
    let server = server();
    let text = format!(
        "target: {}\nload: {{users: 1, duration: 1s, arrivals: even}}\nsteps:\n  - get: /healthz\n  - get: /question\n",
        server.url("").trim_end_matches('/')
    );
    let mut session = Session::new().file("s.yaml", &text);
    session.loadline("sweep s.yaml --rates 20/s,40/s --cooldown 0s").says("begun/s").says("journeys/s");
    let result = session.json("_output/loadline/s.json");
    let trials = result["trials"].as_array().unwrap();
    assert_eq!(trials.iter().map(|trial| trial["level"]["journeys"].as_f64().unwrap()).collect::<Vec<_>>(), [20.0, 40.0]);
    let started: Vec<u64> = trials.iter().map(|trial| trial["summary"]["scenario"]["journeys"][0]["started"].as_u64().unwrap()).collect();
    assert_eq!(started, [20, 40]);
}

#[test]
fn rows_that_end_the_load_end_the_sweep() {
    let server = journeys_server();
    let text = format!("target: {}\ndata: [ids.csv]\ndata_end: stop\nsteps: [{{get: '/row/{{{{ids.id}}}}'}}]\n", server.url);
    let mut session = Session::new().file("s.yaml", &text).file("ids.csv", "id\n1\n2\n3\n4\n5\n6\n7\n");
    session.loadline("sweep s.yaml --levels 1,2,3 -n 5 --cooldown 0s").exits(0).says("a data file has no more rows");
    let taken = rows(&server.raw());
    let different: BTreeSet<u32> = taken.iter().copied().collect();
    // The sixth row is that of a journey whose level was over before it sent anything.
    assert_eq!((different.len(), &taken[..5]), (taken.len(), &[1, 2, 3, 4, 5][..]));
    assert!(taken.contains(&7), "{taken:?}");
}

#[test]
fn what_may_be_sent_so_often_is_sent_so_often_by_all_levels_together() {
    let server = journeys_server();
    let text = format!("target: {}\nsteps:\n  - get: /\n  - get: /?order\n    maximum_requests: 8\n", server.url);
    let mut session = Session::new().file("s.yaml", &text);
    let ran = session.loadline("sweep s.yaml --levels 1,2,4 -n 12 --cooldown 0s --all-levels");
    let prose = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(prose.contains("had its 8 requests (maximum_requests) and was left out"), "{}", ran.stdout);
    assert_eq!(counts(&server.raw())["GET /?order"], 8);
}

#[test]
fn a_setup_that_fails_ends_a_sweep_before_it_begins() {
    let server = shop();
    let text = format!("target: {}\nsetup: [{{get: /gone}}]\nsteps: [{{get: /}}]\n", server.url);
    let mut session = Session::new().file("s.yaml", &text);
    session.loadline("sweep s.yaml --levels 1,2 -n 5").exits(3).complains("the setup of the scenario failed");
    session.loadline("find s.yaml --slo 'p99 < 1s' --quick").exits(3).complains("the setup of the scenario failed");
    assert_eq!(counts(&server.raw()), BTreeMap::from([("GET /gone".to_owned(), 2)]));
}

#[test]
fn a_search_finds_the_highest_rate_of_journeys() {
    let server = server();
    let text = format!(
        "target: {}\nsetup: [{{get: /healthz?setup}}]\nteardown: [{{get: /healthz?teardown}}]\nsteps:\n  - get: /healthz\n  - get: /question\n",
        server.url("").trim_end_matches('/')
    );
    let mut session = Session::new().file("s.yaml", &text);
    let ran = or_return!(session.searched("find s.yaml --slo 'p90 < 2s' --rate-max 20/s --quick --budget 30s --quiet")).exits(0);
    let prose = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "begun/s",
        "TPS",
        "It carries 20 journeys/s with p90 < 2s, and no more was tried: it is the highest rate allowed.",
        "It held 20 journeys/s",
    ] {
        assert!(prose.contains(part), "{part}:\n{}", ran.stdout);
    }
    let result = session.json("_output/loadline/s.find.json");
    assert_eq!(result["rated"], "journeys");
    for trial in result["trials"].as_array().unwrap() {
        let (summary, rate) = (&trial["summary"], trial["rate"].as_f64().unwrap());
        assert!(rate <= 20.0, "{rate}");
        assert_eq!(trial["result"]["due"], summary["requests"]["due"], "promises are about requests");
        assert_eq!(summary["scenario"]["tps_offered"].as_f64().map(f64::round), Some(rate.round()));
        assert!(summary["scenario"]["steps"][1]["due"].as_u64().unwrap() > 0);
    }
    let seeds: BTreeSet<u64> =
        result["trials"].as_array().unwrap().iter().map(|trial| trial["summary"]["plan"]["seed"].as_u64().unwrap()).collect();
    assert_eq!(seeds.len(), result["trials"].as_array().unwrap().len());
    session.loadline("show @last").exits(0).says("journeys/s");
}

#[test]
fn a_comparison_has_the_steps_of_both_sides() {
    let (a, b) = (journeys_server(), journeys_server());
    let mut session = journeys_with_rows(&a.url);
    let line = format!("compare {} {} --scenario s.yaml -c 2 -n 12 --pairs 6 --margin 90% --cooldown 0s --name both", a.url, b.url);
    let ran = session.loadline(&line);
    ran.says("TPS").says("GET /next").says("p99 B");
    for server in [&a, &b] {
        let seen = server.raw();
        let counted = counts(&seen);
        // Six pairs, and perhaps some in the place of those that say nothing.
        assert!(counted["GET /setup"] >= 6 && counted["GET /setup"] == counted["GET /teardown/t1"], "{counted:?}");
        assert_eq!(seen.len(), 14 * counted["GET /setup"]);
    }
    let result = session.json("_output/loadline/both.compare.json");
    let pairs = result["pairs"].as_array().unwrap();
    assert!(pairs.iter().all(|pair| pair["a"]["scenario"]["steps"].as_array().unwrap().len() == 2));
    assert!(session.read("_output/loadline/both.compare.md").contains("| step | p50 A | p50 B |"));
}

#[test]
fn two_scenarios_or_one_against_another_server_are_compared() {
    let (here, there) = (journeys_server(), journeys_server());
    let text = |url: &str, path: &str| format!("target: {url}\nload: {{users: 2, requests: 6}}\nsteps: [{{get: {path}}}]\n");
    let mut session = Session::new().file("old.yaml", &text(&here.url, "/")).file("new.yaml", &text(&there.url, "/?new"));
    session.loadline("compare old.yaml new.yaml --pairs 2 --cooldown 0s").exits(4).says("GET /?new").says("The plans differ: scenario");
    assert_eq!((counts(&here.raw())["GET /"] % 6, counts(&there.raw())["GET /?new"] % 6), (0, 0));
    assert!(session.files().contains(&"_output/loadline/old_new.compare.json".to_owned()), "{:?}", session.files());
    session.loadline(&format!("compare old.yaml {} --pairs 2 --cooldown 0s --name moved", there.url)).exits(4);
    assert!(counts(&there.raw())["GET /"] >= 12);
}

#[test]
fn a_scenario_that_changes_in_the_middle_of_a_sweep_is_gone_through_as_it_was() {
    let server = shop();
    let text = format!("target: {}\nsteps: [{{get: /}}]\n", server.url);
    let session = Session::new().file("s.yaml", &text);
    let path = session.path("s.yaml");
    // The first answer is given when the file is another.
    let changing = Recorder::start_with(move |_| {
        let now = std::fs::read_to_string(&path).unwrap_or_default();
        if !now.ends_with("# changed\n") {
            std::fs::write(&path, format!("{now}# changed\n")).unwrap();
        }
        answer(200, "", "")
    });
    let mut session = session.file("s.yaml", &text.replace(&server.url, &changing.url));
    session.loadline("sweep s.yaml --levels 1,2 -n 5 --cooldown 0s").exits(0);
    assert!(session.read("s.yaml").ends_with("# changed\n"));
    assert_eq!(changing.raw().len(), 10);
}

/// Everything that a real login asks for, by users who must not be mixed up: the server refuses whoever is.
const ACCOUNT: &str = "\
target: TARGET
load: {users: 1, requests: 80}
data: [users.csv]
steps:
  - get: /login
    name: form
    extract: {csrf: 'css input[name=csrf]::attr(value)'}
    checks: {css: {title: Log in}}
  - post: /login
    name: log in
    form: {user: '{{users.name}}', password: '{{users.password}}', csrf: '{{csrf}}'}
    redirects: 1
    timeout: 20s
    extract: {token: json $.csrf, next: json $.orders.next}
    checks: {status: 200, json: {$.user: '{{users.name}}'}}
  - post: /upload
    headers: {X-CSRF-Token: '{{token}}'}
    multipart: {note: 'of {{users.name}}', photo: {file: photo.bin, type: image/png}}
    checks: {status: 201, json: {$.name: photo.bin, $.bytes: 6, $.user: '\"{{users.name}}\"'}}
  - while: '{{next}}'
    steps:
      - get: /orders?page={{next}}
        name: orders
        checks: ['json $.page == {{next}}', 'json $.ids length 4', 'body contains {{users.name}}']
        extract: {next: json $.next}
user_teardown:
  - if: '{{token}}'
    steps:
      - post: /logout
        headers: {X-CSRF-Token: '{{token}}'}
        checks: {status: 303, header: {Location: /}}
";

#[test]
fn users_of_a_real_login_upload_leaf_through_pages_and_log_out() {
    let server = server();
    let text = ACCOUNT.replace("TARGET", server.url("").trim_end_matches('/'));
    let mut session = Session::new()
        .file("account.yaml", &text)
        .file("users.csv", "name,password\nada,ada\nbob,bob\ncyd,dyc\n")
        .file("photo.bin", "PIXELS");
    session.loadline("run account.yaml --out json=r.json --no-save").exits(0).complains_of_nothing();
    let result = session.json("r.json");
    assert_eq!((&result["requests"]["due"], &result["requests"]["succeeded"]), (&80.into(), &80.into()), "{}", result["failures"]);
    let scenario = &result["scenario"];
    assert_eq!((&scenario["journeys"][0]["succeeded"], &scenario["requests_per_journey"]), (&10.into(), &8.0.into()));
    let due: Vec<u64> = scenario["steps"].as_array().unwrap().iter().map(|step| step["due"].as_u64().unwrap()).collect();
    assert_eq!(due, [10, 10, 10, 50], "what is sent to leave has no row");
    let counts = server.counts();
    let paths = ["/login", "/account", "/upload", "/orders", "/logout"].map(|path| counts.path(path));
    assert_eq!(paths, [20, 10, 10, 50, 1]);
    assert_eq!((counts.status(401), counts.status(403), counts.status(404)), (0, 0, 0));
    // Many at once are not mixed up, and each logs out.
    session.loadline("run account.yaml -c 20 -n 2000 --out json=many.json --no-save").exits(0).complains_of_nothing();
    assert_eq!(session.json("many.json")["requests"]["succeeded"], 2000);
    let counts = server.counts();
    assert_eq!((counts.status(401), counts.status(403), counts.path("/logout")), (0, 0, 21));
    // And with arrivals, each of which is a user of its own.
    session.loadline("run account.yaml -r 50/s --arrivals even -d 1s -c 50 --out json=open.json --no-save");
    assert_eq!(session.json("open.json")["scenario"]["journeys"][0]["started"], 50);
    // Whom the end of the load met before it was logged in has nothing to log out of.
    let counts = server.counts();
    assert!((22..=71).contains(&counts.path("/logout")), "{}", counts.path("/logout"));
    assert_eq!((counts.status(401), counts.status(403)), (0, 0));
}

#[test]
fn a_teardown_that_fails_for_some_users_is_a_warning_with_their_number() {
    let server = Recorder::start_with(|request| match line(request) {
        "GET /leave" => answer(if header("x-user", request).is_empty() { 500 } else { 200 }, "", ""),
        _ => answer(200, "", ""),
    });
    let text = format!(
        "target: {}\nload: {{users: 3, requests: 30}}\nsteps: [{{get: /}}]\nuser_teardown: [{{get: /leave, name: log out}}]\n",
        server.url
    );
    let mut session = Session::new().file("s.yaml", &text);
    session.loadline("run s.yaml --out json=r.json --no-save").exits(0);
    let result = session.json("r.json");
    let warning =
        "the teardown of 3 of 3 users could not be carried out; one of them: the step 'log out': it was answered with the status 500";
    assert_eq!(result["warnings"][0], warning);
    assert_eq!((&result["requests"]["due"], &result["requests"]["failed"], &result["status"]["500"]), (&30.into(), &0.into(), &().into()));
    assert_eq!(counts(&server.raw())["GET /leave"], 3);
}

#[test]
fn a_step_that_takes_too_long_is_named() {
    let server = server();
    let text = format!(
        "target: {}\nload: {{users: 2, requests: 8}}\nsteps:\n  - get: /healthz\n  - {{get: '/behave?delay=30s', name: slow page, timeout: 300ms}}\n",
        server.url("").trim_end_matches('/')
    );
    let mut session = Session::new().file("s.yaml", &text);
    session
        .loadline("run s.yaml --out json=r.json --no-save")
        .exits_either(3, 4)
        .says("recv.idle_timeout")
        .says("slow page: no answer within 300ms");
    let result = session.json("r.json");
    assert_eq!((&result["requests"]["failed"], &result["scenario"]["steps"][1]["failed"]), (&4.into(), &4.into()));
    assert_eq!(result["failures"][0]["class"], "recv.idle_timeout");
    let step = &result["scenario"]["steps"][1]["failures"][0];
    assert!(step["example"]["text"].as_str().unwrap().starts_with("slow page: no answer within 300ms"), "{step}");
}

#[test]
fn a_data_file_that_runs_out_wraps_stops_or_breaks_the_run_off() {
    let server = shop();
    let text = |end: &str| {
        format!(
            "target: {}\nload: {{users: 1, requests: 10}}\ndata: [users.csv]\ndata_end: {end}\nsteps: [{{get: '/?{{{{users.name}}}}'}}]\n",
            server.url
        )
    };
    let mut session = Session::new().file("users.csv", "name\nada\nbob\ncyd\n");
    for (end, code, sent) in [("wrap", 0, 10), ("stop", 0, 3), ("error", 3, 3)] {
        let before = server.raw().len();
        session = session.file("s.yaml", &text(end));
        let ran = session.loadline("run s.yaml --no-save").exits(code);
        if end == "error" {
            ran.complains("the data file users.csv has run out after 3 rows").complains("data_end: wrap");
        }
        assert_eq!(server.raw().len() - before, sent, "{end}");
    }
}

#[test]
fn files_that_are_no_scenarios_are_refused_in_words() {
    let mut session = Session::new()
        .file("cut.yaml", "target: http://a.test\nsteps:\n  - get: '/a")
        .file("include.yaml", "include: [common.yaml]\nsteps: [{get: /}]\n")
        .file("tag.yaml", "target: http://a.test\nsteps: !include common.yaml\n")
        .file("itself.yaml", "target: http://a.test\nsteps: &all [{group: a, steps: *all}]\n")
        .file("long.yaml", &format!("steps: [{{get: '/{}', chekcs: 1}}]\n", "a".repeat(12 << 20)))
        .file("large.yaml", &"a".repeat(100 << 20))
        .file("check.yaml", "target: http://a.test\nsteps:\n  - get: /a\n    checks: {body: 'contains {{nmae}}'}\nvariables: {name: x}\n");
    std::fs::write(session.path("binary.yaml"), [0xff, 0xfe, 0, 1, 2]).unwrap();
    for (file, said) in [
        ("cut.yaml", "cut.yaml:3:"),
        (
            "include.yaml",
            "include.yaml:1:1: the key 'include' is unknown here\n  include: [common.yaml]\n  ^^^^^^^\n  help: a scenario is one file",
        ),
        ("tag.yaml", "the tag '!include' means nothing here"),
        ("itself.yaml", "this repeats something that holds itself"),
        ("long.yaml", "the key 'chekcs' is unknown here"),
        ("large.yaml", "it is larger than 16 MiB"),
        ("binary.yaml", "it is not text in UTF-8"),
        ("check.yaml", "check.yaml:4:32: the word 'nmae' is unknown"),
    ] {
        let ran = session.loadline(&format!("check {file}")).exits(2).complains(said);
        assert!(ran.stderr.len() < 3_000, "{file}: {} bytes are said", ran.stderr.len());
        session.loadline(&format!("run {file} --no-save")).exits(2).complains(said);
    }
}

#[test]
fn where_every_journey_broke_off_the_report_says_so_and_where() {
    let served = server();
    let text = format!(
        "name: broken shop\ntarget: {}\nload: {{users: 1, requests: 20}}\nsteps:\n  - get: /question\n  - get: /healthz\n    name: state\n    extract: {{nothing: json $.state.now}}\n",
        served.url("")
    );
    let mut session = Session::new().file("s.yaml", &text);
    let ran = session
        .loadline("run s.yaml --full --out json=r.json")
        .exits_either(3, 4)
        .complains("no journey finished: all 10 broke off at the step 'state'");
    ran.says("No journey finished: all 10 broke off at the step 'state'").says("the server or the scenario");
    let result = session.json("r.json");
    let failure = &result["failures"][0];
    assert_eq!((&failure["class"], &failure["side"]), (&"extract.nothing".into(), &"server_or_plan".into()));
    let example = failure["example"]["text"].as_str().unwrap();
    assert!(example.contains("found nothing, or the path is wrong (the answer has the keys status), in {\"status\""), "{example}");
    // The history calls it by its name.
    session.loadline("runs").exits(0).says("broken shop");
    session.loadline("show @'broken shop'").says("the journeys of broken shop");
}

#[test]
fn branches_are_under_way_at_the_server_at_the_same_time() {
    // Neither is answered before the other has come: one after the other, both would time out.
    let both = std::sync::Barrier::new(2);
    let server = Recorder::start_with(move |request| {
        if matches!(line(request), "GET /style" | "GET /script") {
            both.wait();
        }
        answer(200, "", "ok")
    });
    let text = format!(
        "target: {}\nload: {{users: 1, requests: 40, no_preflight: true, timeout: 60s}}\nsteps:\n  - get: /\n  - parallel: [{{get: /style}}, {{get: /script}}]\n  \
         - get: /after\n",
        server.url
    );
    let mut session = Session::new().file("s.yaml", &text);
    session.loadline("run s.yaml --full --out json=r.json").exits(0).says("1 user on up to 2 connections, who goes").complains_of_nothing();
    let result = session.json("r.json");
    assert_eq!((&result["requests"]["succeeded"], &result["connections"]["opened"]), (&40.into(), &2.into()));
    assert_eq!((&result["scenario"]["journeys"][0]["succeeded"], &result["plan"]["connections_each"]), (&10.into(), &2.into()));
    assert_eq!(counts(&server.raw())["GET /style"], 10);
    // The machine must be able to open as many.
    let many = text.replace("users: 1, requests: 40", "users: 900000, threads: 1, duration: 1s");
    let mut session = Session::new().file("s.yaml", &many);
    session.loadline("run s.yaml").exits(2).complains("1800000 connections need 1800064 open files");
}

#[test]
fn a_time_without_a_unit_is_a_mistake() {
    let text = "target: http://127.0.0.1:1\nload: {duration: 30, timeout: 5, rate: 5/s for 10}\ndefaults: {timeout: 2}\nsteps:\n  - get: /\n    timeout: 3\n    pause: 500\n    checks: [time < 500]\n  - pause: 1..3s\n";
    let mut session = Session::new().file("s.yaml", text);
    let ran = session.loadline("check s.yaml").exits(2);
    for bare in ["30", "5", "10", "2", "3", "500", "1"] {
        assert!(ran.stderr.contains(&format!("'{bare}' of what? give a time with its unit, such as {bare}ms")), "{bare}: {}", ran.stderr);
    }
    assert_eq!(ran.stderr.matches("of what?").count(), 8, "{}", ran.stderr);
    let text =
        "target: http://127.0.0.1:1\nsteps:\n  - get: /\n    pause: 0\n    extract: {id: json $.items[0].id, csrf: css input[name=csrf]}\n";
    let mut session = Session::new().file("s.yaml", text);
    session.loadline("check s.yaml").exits(2).complains("not valid YAML").complains("put the text with [ in quotation marks");
}
