//! WebSocket, against a server that speaks it with another library and counts what it was sent.

use testbed::talk::Talk;

use crate::ab::Nginx;
use crate::session::{Session, server};
use crate::tools;

#[test]
fn messages_and_their_answers_are_what_the_server_counted() {
    let talk = Talk::start().unwrap();
    let mut session = Session::new();
    let url = talk.url("/echo");
    let load = "--message '{\"n\":{{sequence}}}' -c 4 -n 200 --threads 2 --processes 2 -H 'X-Team: a' --cookie s=1 --expect 'json $.n exists' --full";
    let told = session.loadline(&format!("run {url} {load} --out json=r.json --out html=r.html")).exits_either(0, 4);
    let (run, seen) = (session.json("r.json"), talk.seen());
    assert_eq!((&run["requests"]["succeeded"], seen.texts, seen.binaries), (&200.into(), 200, 0), "{}", told.stdout);
    assert_eq!((&run["connections"]["websocket"], seen.handshakes), (&4.into(), 4));
    assert_eq!(run["websockets"]["handshake"]["count"], 4);
    assert_eq!(run["status"]["101"], 200);
    for words in ["messages made from a template over ws://", "WebSocket handshake", "101"] {
        assert!(told.stdout.contains(words), "{words}: {}", told.stdout);
    }
    let (path, headers) = seen.first.unwrap();
    assert_eq!(path, "/echo");
    let has = |name: &str, value: &str| headers.iter().any(|(given, said)| given == name && said == value);
    assert!(has("x-team", "a") && has("cookie", "s=1") && has("upgrade", "websocket") && has("sec-websocket-version", "13"), "{headers:?}");
    assert!(!headers.iter().any(|(name, _)| name.starts_with("content-")), "{headers:?}");
    // All connections were closed with a word.
    assert_eq!(seen.closes.into_iter().collect::<Vec<_>>(), [(1000, 4)]);
    // A saved result is run again.
    session.loadline(&format!("run {url} --message hello -c 2 -n 10 --out json=saved.json")).exits_either(0, 4);
    session.loadline("compare saved.json saved.json --pairs 2 -d 300ms --warmup 0s --force").exits_either(0, 4);
    assert!(talk.seen().texts > 200);
}

#[test]
fn rates_sweeps_searches_and_comparisons_send_messages_too() {
    let talk = Talk::start().unwrap();
    let mut session = Session::new();
    let url = talk.url("/echo?wait_ms=1");
    session.loadline(&format!("run {url} --message hello --rate 200/s -d 1s --warmup 0s --out json=r.json")).exits_either(0, 4);
    let run = session.json("r.json");
    assert_eq!(run["requests"]["due"], run["requests"]["succeeded"], "{run}");
    assert_eq!(run["requests"]["succeeded"].as_u64(), Some(talk.seen().texts));
    session.loadline(&format!("sweep {url} --message hello --levels 1,2 -d 300ms --warmup 0s --out json=s.json")).exits_either(0, 4);
    let before = talk.seen().handshakes;
    session
        .loadline(&format!("compare {url} {} --message hello -c 2 -d 300ms --pairs 2 --warmup 0s", talk.url("/echo")))
        .exits_either(0, 4);
    assert!(talk.seen().handshakes >= before + 8, "{:?}", talk.seen());
    session.loadline(&format!("find {url} --message hello --slo 'p90 < 5s' --rate-max 40/s --budget 1m --quick")).exits_either(0, 4);
}

#[test]
fn what_a_server_sends_besides_is_told() {
    let talk = Talk::start().unwrap();
    let mut session = Session::alone();
    let told = session
        .loadline(&format!("run {} --message hi -c 2 -n 40 --pause 5ms --full --out json=r.json", talk.url("/push")))
        .exits_either(0, 4);
    let (run, seen) = (session.json("r.json"), talk.seen());
    assert_eq!((&run["requests"]["succeeded"], seen.unasked), (&40.into(), 40), "{}", told.stdout);
    // Those that come behind the last answer of all are not read any more.
    let unasked = run["websockets"]["messages"].as_u64().unwrap();
    assert!((30..=40).contains(&unasked), "{unasked}");
    assert!(told.stdout.contains("that answered none of ours"), "{}", told.stdout);
    session.loadline(&format!("run {} --message hi -c 2 -n 40 --out json=p.json", talk.url("/ping"))).exits_either(0, 4);
    assert_eq!((&session.json("p.json")["websockets"]["pings"], &session.json("p.json")["requests"]["failed"]), (&40.into(), &0.into()));
    let told =
        session.loadline(&format!("run {} --message hi -c 1 -n 8 --full --out json=l.json", talk.url("/leave?after=3"))).exits_either(0, 4);
    let run = session.json("l.json");
    assert_eq!((&run["requests"]["succeeded"], &run["requests"]["failed"]), (&6.into(), &2.into()), "{}", told.stdout);
    assert_eq!(run["failures"][0]["class"], "websocket.closed");
    for words in ["code 1013: enough", "1013 (try again later)"] {
        assert!(told.stdout.contains(words), "{words}: {}", told.stdout);
    }
}

#[test]
fn messages_are_binary_where_they_are_no_text_and_subprotocols_are_agreed_on() {
    let talk = Talk::start().unwrap();
    let mut session = Session::new();
    std::fs::write(session.path("m.bin"), b"\xff\xfe\x00").unwrap();
    session.loadline(&format!("run {} --message @m.bin -c 1 -n 3", talk.url("/echo"))).exits_either(0, 4);
    assert_eq!((talk.seen().binaries, talk.seen().texts), (3, 0));
    let chat = talk.url("/chat");
    session
        .loadline(&format!("run {chat} --message hi -H 'Sec-WebSocket-Protocol: chat.v1, chat.v2' -c 1 -n 3 --out json=r.json"))
        .exits_either(0, 4);
    assert_eq!(session.json("r.json")["requests"]["succeeded"], 3);
    let told = session.loadline(&format!("run {chat} --message hi -c 1 -n 1 --full")).exits_either(0, 4);
    assert!(told.stdout.contains("it chose a subprotocol that was not offered"), "{}", told.stdout);
}

#[test]
fn refusals_and_broken_connections_have_their_classes() {
    let talk = Talk::start().unwrap();
    let mut session = Session::new();
    for (path, class, words) in
        [("/refuse", "websocket.refused", "HTTP/1.1 403 Forbidden"), ("/drop", "recv.eof_before_response", "closed before answering")]
    {
        let told =
            session.loadline(&format!("run {} --message hi -c 1 -n 2 --full --force --out json=r.json", talk.url(path))).exits_either(0, 4);
        let run = session.json("r.json");
        assert_eq!((&run["failures"][0]["class"], &run["requests"]["failed"]), (&class.into(), &2.into()), "{}", told.stdout);
        assert!(told.stdout.contains(words), "{words}: {}", told.stdout);
    }
    // A server of HTTP.
    let server = server();
    let url = server.url("/healthz").replace("http://", "ws://");
    let told = session.loadline(&format!("run {url} --message hi -c 1 -n 1 --full")).exits_either(0, 4);
    assert!(told.stdout.contains("the server did not switch to WebSocket"), "{}", told.stdout);
}

#[test]
fn one_message_is_tried_and_shown() {
    let talk = Talk::start().unwrap();
    Session::new().loadline(&format!("try {} --message '{{\"a\":1}}'", talk.url("/echo"))).exits(0).says("{\"a\":1}").says("101");
}

#[test]
fn what_does_not_go_with_messages_is_refused_all_at_once() {
    let mut session = Session::new();
    session
        .loadline("run ws://127.0.0.1:1/ --data x -X POST --stream sse --http 2 --follow 3")
        .exits(2)
        .complains("--data is about HTTP, and the URL is one of WebSocket")
        .complains("--method is about HTTP")
        .complains("--stream is about HTTP")
        .complains("--http is about HTTP")
        .complains("--follow is about HTTP")
        .complains("there is no message to send");
    session
        .loadline("run http://127.0.0.1:1/ --message x")
        .exits(2)
        .complains("--message is sent over WebSocket or gRPC, and the URL is not ws://, wss://, grpc:// or grpcs://");
}

/// A scenario over this server.
fn scenario(talk: &Talk, steps: &str) -> String {
    let target = talk.url("").replace("ws://", "http://");
    format!("target: {target}\nload: {{users: 1, requests: 210}}\nvariables: {{mine: '{{{{sequence}}}}'}}\nsteps:\n{steps}")
}

#[test]
fn a_scenario_connects_talks_and_closes() {
    let talk = Talk::start().unwrap();
    let steps = "  - connect: /chat\n    headers: {Sec-WebSocket-Protocol: chat.v2}\n\
                 \x20 - receive: body == welcome\n\
                 \x20 - send: {type: join, user: '{{sequence}}'}\n    name: join\n    extract: {user: json $.user}\n\
                 \x20 - send: 'I am {{user}}'\n    answer: 'body starts with I'\n    name: hello\n    checks: {body: 'ends with {{user}}'}\n\
                 \x20 - {send: aside, answer: none}\n\
                 \x20 - ping: true\n\
                 \x20 - close: 4001\n";
    let mut session = Session::new().file("s.yaml", &scenario(&talk, steps));
    session.loadline("check s.yaml").exits(0);
    let told = session.loadline("run s.yaml --full --out json=r.json").exits_either(0, 4);
    let (run, seen) = (session.json("r.json"), talk.seen());
    assert_eq!((&run["requests"]["failed"], &run["requests"]["succeeded"]), (&0.into(), &210.into()), "{}", told.stdout);
    assert_eq!((seen.handshakes, seen.texts), (30, 90));
    assert_eq!(seen.closes.iter().map(|(code, count)| (*code, *count)).collect::<Vec<_>>(), [(4001, 30)]);
    let names: Vec<_> = run["scenario"]["steps"].as_array().unwrap().iter().map(|step| step["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["connect /chat", "receive from /chat", "join", "hello", "send to /chat", "ping /chat", "close /chat"]);
}

#[test]
fn what_a_server_pushes_is_listened_to() {
    let talk = Talk::start().unwrap();
    let steps = "  - connect: /ticks?after=10&wait_ms=10\n  - {send: go, answer: none}\n  - {listen: 1s, name: ticks}\n  - ping: true\n  - close: true\n";
    let mut session = Session::alone().file("s.yaml", &scenario(&talk, steps));
    let told =
        session.loadline("run s.yaml -c 1 -n 15 --full --check 'step ticks between_events p50 < 1s' --out json=r.json").exits_either(0, 4);
    let (run, seen) = (session.json("r.json"), talk.seen());
    assert_eq!((&run["requests"]["succeeded"], &run["requests"]["failed"]), (&15.into(), &0.into()), "{}", told.stdout);
    let ticks = &run["scenario"]["steps"][2];
    assert_eq!((&ticks["succeeded"], &ticks["streams"]["events"], seen.unasked), (&3.into(), &30.into(), 30), "{}", told.stdout);
    assert_eq!(ticks["streams"]["between_events"]["count"], 27);
    // The server pauses before each of them; those that wait for a busy reader are read together.
    let sum = |times: &str| ticks["streams"][times]["sum_ns"].as_str().unwrap().parse::<u64>().unwrap();
    assert!(sum("first_event") + sum("between_events") >= 150_000_000, "{ticks}");
    assert_eq!(run["websockets"]["messages"], 0, "all were waited for");
    assert_eq!(run["websockets"]["between_messages"]["count"], 27);
    assert_eq!(seen.closes.into_iter().collect::<Vec<_>>(), [(1000, 3)], "the connection stands when its time is over");
    let wrong = "target: http://127.0.0.1:1\nsteps:\n  - connect: /a\n  - {listen: 0s}\n  - {listen: 1s, timeout: 2s, checks: {body: x}}\n";
    session = session.file("w.yaml", wrong);
    session
        .loadline("check w.yaml")
        .exits(2)
        .complains("listen '0s' gives no answer any time")
        .complains("'timeout' means nothing beside 'listen'")
        .complains("'checks' means nothing beside 'listen'");
}

#[test]
fn the_answer_is_the_message_that_is_waited_for() {
    let talk = Talk::start().unwrap();
    let steps = "  - connect: /news\n\
                 \x20 - {name: ask, send: {id: '{{sequence}}'}, answer: 'json $.id exists'}\n\
                 \x20 - {name: wrong, send: {id: 7}, answer: 'json $.id == {{mine}}', timeout: 200ms, may_fail: true}\n";
    let mut session = Session::new().file("s.yaml", &scenario(&talk, steps));
    let told = session.loadline("run s.yaml -c 1 -n 30 --full --out json=r.json").exits_either(0, 4);
    let run = session.json("r.json");
    let steps = run["scenario"]["steps"].as_array().unwrap();
    assert_eq!((&steps[1]["succeeded"], &steps[1]["failed"]), (&10.into(), &0.into()), "{}", told.stdout);
    // Sevens are no answers to what is asked for by other numbers.
    assert!(steps[2]["failed"].as_u64().unwrap() >= 8, "{}", told.stdout);
}

#[test]
fn what_talks_without_a_connection_fails_and_mistakes_are_told_at_once() {
    let talk = Talk::start().unwrap();
    let steps = "  - connect: /leave?after=1\n  - send: one\n  - {name: two, send: two, may_fail: true}\n  - {name: three, send: three, may_fail: true}\n";
    let mut session = Session::new().file("s.yaml", &scenario(&talk, steps));
    let told = session.loadline("run s.yaml -c 1 -n 8 --full --out json=r.json").exits_either(0, 4);
    let run = session.json("r.json");
    let steps = run["scenario"]["steps"].as_array().unwrap();
    assert_eq!((&steps[2]["failed"], &steps[3]["failed"]), (&2.into(), &2.into()), "{}", told.stdout);
    assert!(told.stdout.contains("code 1013: enough") || told.stdout.contains("it is not open"), "{}", told.stdout);
    let wrong = "target: ws://127.0.0.1:1\nsteps:\n  - send: early\n  - get: ws://127.0.0.1:1/x\n  - connect: /a\n  - {receive: none}\n  - {close: 7, on: /b}\n";
    session = session.file("w.yaml", wrong);
    session
        .loadline("check w.yaml")
        .exits(2)
        .complains("is one of WebSocket")
        .complains("'send' talks over WebSocket, and nothing above connects")
        .complains("is a URL of WebSocket")
        .complains("this waits for nothing")
        .complains("nothing above connects to '/b'")
        .complains("7 is no code that a client closes with");
}

#[test]
fn a_server_behind_nginx_is_talked_to_over_tls_beside_requests_over_http_2() {
    if !tools::are_here(&["nginx", "openssl"]) {
        return;
    }
    let talk = Talk::start().unwrap();
    let mut session = Session::new();
    let nginx = Nginx::start_before(&session, talk.url("").trim_start_matches("ws://"));
    let url = nginx.url.replace("https://", "wss://");
    session.loadline(&format!("run {url}echo --insecure --message hello -c 3 -n 60 --out json=r.json")).exits_either(0, 4);
    let run = session.json("r.json");
    assert_eq!((&run["requests"]["succeeded"], &run["connections"]["websocket"], talk.seen().texts), (&60.into(), &3.into(), 60));
    let steps = "target: {url}\nload: {users: 1, requests: 60, insecure: true}\nsteps:\n  - {get: /x, checks: {body: HTTP/2.0}}\n  - connect: /echo\n  - send: hello\n  - get: /y\n  - send: again\n  - close: true\n";
    session = session.file("s.yaml", &steps.replace("{url}", &nginx.url));
    let told = session.loadline("run s.yaml --out json=s.json").exits_either(0, 4);
    let run = session.json("s.json");
    assert_eq!((&run["requests"]["succeeded"], &run["requests"]["failed"]), (&60.into(), &0.into()), "{}", told.stdout);
    assert_eq!((&run["connections"]["websocket"], &run["connections"]["http2"]), (&10.into(), &1.into()));
}
