//! gRPC, against grpc-go, which counts what it was asked (scripts/grpcd).

use serde_json::Value;

use crate::ab::Nginx;
use crate::servers::CountingServer;
use crate::session::Session;
use crate::tools;

const PROTO: &str = include_str!("calls.proto");

fn start(words: &[&str]) -> Option<CountingServer> {
    CountingServer::start("grpcd", words)
}

fn url(server: &CountingServer, method: &str) -> String {
    format!("grpc://{}/grpc.testing.TestService/{method}", server.address)
}

fn session() -> Session {
    Session::new().file("calls.proto", PROTO)
}

/// How often a run failed so.
fn failed(run: &Value, class: &str) -> u64 {
    let all = run["failures"].as_array().unwrap();
    all.iter().find(|failure| failure["class"] == class).map_or(0, |failure| failure["count"].as_u64().unwrap())
}

#[test]
fn calls_are_what_the_server_counted() {
    let Some(mut server) = start(&[]) else { return };
    let mut session = session();
    let load =
        "--message '{\"payload\":{\"body\":\"aGVsbG8=\"}}' --proto calls.proto -H 'X-Team: a' -c 8 -n 2000 --threads 2 --processes 2";
    let told = session
        .loadline(&format!("run {} {load} --full --out json=r.json --out html=r.html", url(&server, "UnaryCall")))
        .exits_either(0, 4);
    let (run, seen) = (session.json("r.json"), server.seen());
    assert_eq!((&run["requests"]["succeeded"], &seen["unary"]), (&2000.into(), &2000.into()), "{}", told.stdout);
    assert_eq!((&seen["deadlines"], &seen["teams"]["a"], &seen["bodies"]["hello"]), (&2000.into(), &2000.into(), &2000.into()));
    // Users share a connection in each process.
    assert_eq!((seen["peers"].as_object().unwrap().len(), &run["connections"]["http2"]), (2, &2.into()));
    assert!(told.stdout.contains("over grpc://"), "{}", told.stdout);
    // A saved result is run again, of its own accord by the same files.
    session.loadline("compare r.json r.json --pairs 2 -d 300ms --warmup 0s --force").exits_either(0, 4);
    assert!(server.seen()["unary"].as_u64().unwrap() > 2000);
}

#[test]
fn a_file_of_settings_of_ghz_is_run_as_it_is_and_becomes_a_scenario() {
    let Some(mut server) = start(&[]) else { return };
    let settings = format!(
        r#"{{"call": "grpc.testing.TestService.UnaryCall", "host": "{}", "insecure": true, "proto": "calls.proto", "total": 300, "concurrency": 6,
        "connections": 2, "data": {{"payload": {{"body": "aGVsbG8="}}}}, "metadata": {{"x-team": "a"}}, "cpus": 4}}"#,
        server.address
    );
    let mut session = session().file("ghz.json", &settings);
    session.loadline("run ghz.json --out json=r.json").exits_either(0, 4);
    let (run, seen) = (session.json("r.json"), server.seen());
    assert_eq!((&run["requests"]["succeeded"], &seen["unary"], &seen["bodies"]["hello"]), (&300.into(), &300.into(), &300.into()));
    assert_eq!((&seen["teams"]["a"], seen["peers"].as_object().unwrap().len()), (&300.into(), 2));
    session.loadline("import ghz.json -o calls.yaml").exits(0);
    session.loadline("run calls.yaml -n 40 --out json=r.json --force").exits_either(0, 4);
    assert_eq!(server.seen()["unary"], 340);
}

#[test]
fn messages_are_filled_in_and_each_user_may_have_a_connection() {
    let Some(mut server) = start(&[]) else { return };
    let mut session = session().file("n.csv", "n\n1\n2\n3\n");
    let load =
        "--message '{\"payload\":{\"body\":\"{{base64 (sequence)}}\"},\"responseSize\":{{n.n}}}' --proto calls.proto --data-file n.csv";
    let told = session
        .loadline(&format!(
            "run {} {load} -c 4 --streams 1 -n 300 --expect 'json $.username exists' --out json=r.json",
            url(&server, "UnaryCall")
        ))
        .exits_either(0, 4);
    let (run, seen) = (session.json("r.json"), server.seen());
    assert_eq!((&run["requests"]["succeeded"], &seen["unary"]), (&300.into(), &300.into()), "{}{}", told.stdout, told.stderr);
    // Each number once.
    let bodies = seen["bodies"].as_object().unwrap();
    assert_eq!((bodies.len(), bodies.values().all(|count| *count == 1)), (300, true), "{bodies:?}");
    assert_eq!(seen["peers"].as_object().unwrap().len(), 4);
}

#[test]
fn statuses_are_classes_of_failures_with_the_servers_words() {
    let Some(server) = start(&[]) else { return };
    let mut session = session();
    for (code, class) in [(14, "grpc.unavailable"), (5, "grpc.not_found"), (99, "grpc.unknown")] {
        let message = format!("'{{\"responseStatus\":{{\"code\":{code},\"message\":\"n\u{f6}t n\u{f6}w\"}}}}'");
        let told = session
            .loadline(&format!(
                "run {} --message {message} --proto calls.proto -c 2 -n 50 --full --force --out json=r.json",
                url(&server, "UnaryCall")
            ))
            .exits_either(0, 4);
        let run = session.json("r.json");
        assert_eq!((&run["requests"]["failed"], failed(&run, class)), (&50.into(), 50), "{}", told.stdout);
        for words in [class, "n\u{f6}t n\u{f6}w"] {
            assert!(told.stdout.contains(words), "{words}: {}", told.stdout);
        }
    }
    let url = url(&server, "UnaryCall").replace("UnaryCall", "NoCall");
    session.loadline(&format!("run {url} --message '{{}}' --proto calls.proto -n 1")).exits(2).complains("has no method 'NoCall'");
}

#[test]
fn the_server_is_told_how_long_a_call_may_take() {
    let Some(mut server) = start(&[]) else { return };
    let mut session = Session::alone().file("calls.proto", PROTO);
    let load = "--message '{\"payload\":{\"body\":\"d2FpdA==\"}}' --proto calls.proto -c 2 -n 4 --timeout 200ms --out json=r.json";
    session.loadline(&format!("run {} {load}", url(&server, "UnaryCall"))).exits_either(0, 4);
    let run = session.json("r.json");
    // Either side may see first that the time is over.
    assert_eq!(failed(&run, "grpc.deadline_exceeded") + failed(&run, "recv.idle_timeout"), 4, "{run}");
    assert_eq!(server.seen()["deadlines"], 4);
}

#[test]
fn the_server_is_asked_what_its_messages_are_like() {
    for version in ["both", "alpha"] {
        let Some(mut server) = start(&["-reflect", version]) else { return };
        let mut session = Session::new();
        let url = url(&server, "UnaryCall");
        session.loadline(&format!("run {url} --message '{{}}' -c 2 -n 20 --out json=r.json")).exits_either(0, 4);
        assert_eq!((&session.json("r.json")["requests"]["succeeded"], &server.seen()["unary"]), (&20.into(), &20.into()));
        // The server is asked in plain messages, however those of the load are packed.
        session.loadline(&format!("run {url} --message '{{}}' -H 'grpc-encoding: gzip' -n 5 --force --out json=r.json")).exits_either(0, 4);
        assert_eq!(session.json("r.json")["requests"]["succeeded"], 5);
        let wrong = url.replace("TestService", "TestServce");
        session.loadline(&format!("run {wrong} --message '{{}}' -n 1")).exits(2).complains("did you mean 'grpc.testing.TestService'?");
        session.loadline(&format!("run {url} --message '{{\"payloat\":1}}' -n 1")).exits(2).complains("did you mean 'payload'?");
    }
    let Some(mut server) = start(&["-reflect", "none"]) else { return };
    let told = Session::new().loadline(&format!("run {} --message '{{}}' -n 1", url(&server, "UnaryCall"))).exits(2);
    told.complains("the server does not say what its messages are like: it does not offer reflection").complains("--proto");
    assert_eq!(server.seen()["unary"], 0);
}

#[test]
fn mistakes_are_told_before_anything_is_sent() {
    let mut session = Session::new().file("calls.proto", PROTO).file("bad.proto", "syntax = \"proto3\";\nmessage A {\n  strin b = 1;\n}\n");
    let url = "grpc://127.0.0.1:1/grpc.testing.TestService/UnaryCall";
    session
        .loadline(&format!("run {url} --proto bad.proto --message '{{}}' -n 1"))
        .exits(2)
        .complains("bad.proto:3:3: name 'strin' is not defined");
    session
        .loadline(&format!("run {url} --proto calls.proto --message '{{\"payload\":{{\"body\":7}},\"responseSize\":\"x\"}}' -n 1"))
        .exits(2)
        .complains("payload.body")
        .complains("responseSize");
    session
        .loadline(&format!("run {url} --proto calls.proto --message '{{\"responseSize\":\"{{{{uuid}}}}\"}}' -n 1"))
        .exits(2)
        .complains("request 1")
        .complains("responseSize");
    session
        .loadline("run grpc://127.0.0.1:1/x -X PUT --stream sse --http 1.1 --follow 3 --compressed")
        .exits(2)
        .complains("names no method of a service")
        .complains("there is no message to send")
        .complains("--method is about HTTP, and the URL is one of gRPC")
        .complains("--stream is about HTTP")
        .complains("--http is about HTTP")
        .complains("--follow is about HTTP")
        .complains("--compressed is about HTTP");
    session.loadline("run http://127.0.0.1:1/ --proto calls.proto -n 1").exits(2).complains("--proto is about messages of gRPC");
    session
        .loadline(&format!("run {url} --message '{{}}' --data x --descriptors d --proto p -n 1"))
        .exits(2)
        .complains("both give the message");
}

#[test]
fn calls_go_over_tls_and_rates_sweeps_and_searches_call_too() {
    if !tools::are_here(&["openssl"]) {
        return;
    }
    let mut session = session();
    let dir = Nginx::certified(&session);
    let Some(mut server) = start(&["-cert", &format!("{dir}/cert.pem"), "-key", &format!("{dir}/key.pem")]) else { return };
    let url = url(&server, "UnaryCall").replace("grpc://", "grpcs://");
    session.loadline(&format!("run {url} --insecure --message '{{}}' -c 3 -n 60 --out json=r.json")).exits_either(0, 4);
    assert_eq!((&session.json("r.json")["requests"]["succeeded"], &server.seen()["unary"]), (&60.into(), &60.into()));
    let load = "--insecure --message '{}' --proto calls.proto";
    session.loadline(&format!("run {url} {load} --rate 200/s -d 1s --warmup 0s --force --out json=r.json")).exits_either(0, 4);
    let run = session.json("r.json");
    assert_eq!(run["requests"]["due"], run["requests"]["succeeded"], "{run}");
    session.loadline(&format!("sweep {url} {load} --levels 1,2 -d 300ms --warmup 0s --out json=s.json")).exits_either(0, 4);
    session.loadline(&format!("find {url} {load} --slo 'p90 < 5s' --rate-max 40/s --budget 1m --quick")).exits_either(0, 4);
}

#[test]
fn each_message_of_a_stream_is_an_event() {
    let Some(mut server) = start(&[]) else { return };
    let mut session = session();
    let message = "'{\"responseParameters\":[{\"size\":9},{\"intervalUs\":3000},{\"size\":300,\"intervalUs\":3000}]}'";
    let url = url(&server, "StreamingOutputCall");
    let told = session
        .loadline(&format!("run {url} --message {message} --proto calls.proto -c 2 -n 20 --full --out json=r.json"))
        .exits_either(0, 4);
    let (run, seen) = (session.json("r.json"), server.seen());
    let streams = &run["streams"];
    assert_eq!((&run["requests"]["succeeded"], &seen["streams"], &seen["sent"]), (&20.into(), &20.into(), &60.into()), "{}", told.stdout);
    assert_eq!((&streams["answers"], &streams["events"], &streams["between_events"]["count"]), (&20.into(), &60.into(), &40.into()));
    // Of the three the first comes at once.
    let sum = |times: &str| streams[times]["sum_ns"].as_str().unwrap().parse::<u64>().unwrap();
    assert!(sum("between_events") + sum("first_event") >= 20 * 6_000_000, "{streams}");
    // Where the server is asked, and in scenarios, streams are seen as such, too.
    session.loadline(&format!("run {url} --message {message} -n 5 --force --out json=r.json")).exits_either(0, 4);
    assert_eq!(session.json("r.json")["streams"]["events"], 15);
    let steps = "  - grpc: grpc.testing.TestService/StreamingOutputCall\n    message: {responseParameters: [{size: 1}, {size: 2}]}\n";
    session = session.file("s.yaml", &format!("target: http://{}\nload: {{users: 1, requests: 4}}\nsteps:\n{steps}", server.address));
    session.loadline("run s.yaml --force --out json=r.json").exits_either(0, 4);
    assert_eq!(session.json("r.json")["scenario"]["steps"][0]["streams"]["events"], 8);
}

#[test]
fn several_messages_are_sent_packed_and_health_needs_no_description() {
    let Some(mut server) = start(&["-reflect", "none"]) else { return };
    let mut session = session();
    let several = "'[{\"payload\":{\"body\":\"YWI=\"}},{\"payload\":{\"body\":\"Yw==\"}}]'";
    let load = "--proto calls.proto -H 'grpc-encoding: gzip' --expect 'json $.aggregatedPayloadSize == 3' -n 10 --out json=r.json";
    let told = session.loadline(&format!("run {} --message {several} {load}", url(&server, "StreamingInputCall"))).exits_either(0, 4);
    let (run, seen) = (session.json("r.json"), server.seen());
    assert_eq!((&run["requests"]["succeeded"], &seen["received"]), (&10.into(), &20.into()), "{}", told.stdout);
    let odd = format!("run {} --message '{{}}' --proto calls.proto -H 'grpc-encoding: snappy' -n 1", url(&server, "UnaryCall"));
    session.loadline(&odd).exits(2).complains("messages are packed with gzip or not at all");
    let health = url(&server, "").replace("grpc.testing.TestService/", "grpc.health.v1.Health/Check");
    session.loadline(&format!("run {health} --message '{{}}' --expect 'json $.status == SERVING' -n 5")).exits_either(0, 4);
}

#[test]
fn one_call_is_tried_and_shown_as_json() {
    let Some(server) = start(&[]) else { return };
    session()
        .loadline(&format!("try {} --message '{{\"payload\":{{\"body\":\"aGk=\"}}}}'", url(&server, "UnaryCall")))
        .exits(0)
        .says("\"body\":\"aGk=\"")
        .says("\"username\":\"hi\"");
}

#[test]
fn a_scenario_calls_beside_what_else_it_does() {
    for described in ["proto: calls.proto, ", ""] {
        let Some(mut server) = start(&[]) else { return };
        let steps = "  - grpc: grpc.testing.TestService/UnaryCall\n\
                     \x20   message: {payload: {body: '{{base64 (sequence)}}'}}\n\
                     \x20   metadata: {x-team: b}\n\
                     \x20   extract: {name: json $.username}\n\
                     \x20 - name: again\n\
                     \x20   grpc: grpc.testing.TestService/UnaryCall\n\
                     \x20   message: '{\"payload\": {\"body\": \"{{base64 (name)}}\"}, \"responseSize\": 3}'\n\
                     \x20   checks: ['json $.username == {{name}}', 'json $.payload.body == AAAA']\n\
                     \x20 - {name: gone, grpc: grpc.testing.TestService/UnaryCall, message: {responseStatus: {code: 5}}, may_fail: true}\n";
        let text = format!("target: http://{}\nload: {{users: 1, requests: 60, {described}threads: 1}}\nsteps:\n{steps}", server.address);
        let mut session = session().file("s.yaml", &text);
        let told = session.loadline("run s.yaml --full --out json=r.json").exits_either(0, 4);
        let (run, seen) = (session.json("r.json"), server.seen());
        assert_eq!((&run["requests"]["succeeded"], failed(&run, "grpc.not_found")), (&40.into(), 20), "{}{}", told.stdout, told.stderr);
        assert_eq!((&seen["unary"], &seen["teams"]["b"], &seen["deadlines"]), (&60.into(), &20.into(), &60.into()));
        let names: Vec<_> = run["scenario"]["steps"].as_array().unwrap().iter().map(|step| step["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["call grpc.testing.TestService/UnaryCall", "again", "gone"]);
        session.loadline("try s.yaml").says("\"responseSize\":3");
    }
    let wrong = "target: grpc://127.0.0.1:1\nsteps:\n  - get: grpc://127.0.0.1:1/a.B/C\n  - grpc: Method\n  - {grpc: a.B/C, message: hello}\n  - {grpc: 'a.B/{{x}}'}\n";
    session()
        .file("w.yaml", wrong)
        .loadline("check w.yaml")
        .exits(2)
        .complains("the target 'grpc://127.0.0.1:1/' is one of gRPC")
        .complains("is a URL of gRPC")
        .complains("'Method' names no method")
        .complains("a message of a call is an object")
        .complains("the method of a call cannot be a template");
    let steps = "target: http://127.0.0.1:1\nload: {proto: calls.proto}\nsteps:\n  - {grpc: grpc.testing.TestService/UnaryCal}\n  - {grpc: grpc.testing.TestService/UnaryCall, message: {payloat: 1}}\n";
    session()
        .file("w.yaml", steps)
        .loadline("run w.yaml")
        .exits(2)
        .complains("did you mean 'UnaryCall'?")
        .complains("grpc.testing.SimpleRequest has no field 'payloat'");
}
