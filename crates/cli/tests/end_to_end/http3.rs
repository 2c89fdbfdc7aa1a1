//! HTTP/3, against quic-go, which counts what it was asked (scripts/http3d).

use serde_json::Value;

use crate::ab::Nginx;
use crate::servers::CountingServer;
use crate::session::Session;
use crate::tools;

/// quic-go with a certificate for localhost, as cert.pem in the session's directory.
fn start(session: &Session, words: &[&str]) -> Option<CountingServer> {
    if !tools::are_here(&["http3d", "openssl"]) {
        return None;
    }
    let dir = Nginx::certified_with(session, &["-addext", "subjectAltName=DNS:localhost"]);
    let (cert, key) = (format!("{dir}/cert.pem"), format!("{dir}/key.pem"));
    CountingServer::start("http3d", &[&["-cert", &cert, "-key", &key], words].concat())
}

fn port(server: &CountingServer) -> &str {
    server.address.rsplit_once(':').unwrap().1
}

fn figure(run: &Value, path: &str) -> u64 {
    run.pointer(path).and_then(Value::as_u64).unwrap_or_else(|| panic!("{path} in {run}"))
}

#[test]
fn requests_are_what_the_server_counted_over_connections_that_users_share() {
    let mut session = Session::new();
    let Some(mut server) = start(&session, &[]) else { return };
    let url = format!("https://localhost:{}/echo?n={{{{sequence}}}}", port(&server));
    let load = "--cacert cert.pem --http 3 --data hello -c 8 -n 2000 --threads 2 --processes 2 --expect 'body contains hello'";
    let told = session.loadline(&format!("run {url} {load} --full --out json=r.json --out html=r.html")).exits_either(0, 4);
    let (run, seen) = (session.json("r.json"), server.seen());
    assert_eq!(
        (&run["requests"]["succeeded"], &seen["requests"], &seen["paths"]["POST /echo"]),
        (&2000.into(), &2000.into(), &2000.into())
    );
    assert_eq!(&seen["bytes"], &10_000, "{seen}");
    assert_eq!((figure(&run, "/connections/http3"), figure(&run, "/connections/opened")), (2, 2));
    // And the one before the load, to see whether somebody is there.
    assert!((2..=4).contains(&seen["connections"].as_u64().unwrap()), "{seen}");
    assert!(told.stdout.contains(", over HTTP/3") && told.stdout.contains(" packets lost ("), "{}", told.stdout);
    assert!(figure(&run, "/connections/packets") > 100, "{}", run["connections"]);
    assert!(session.read("r.html").contains("HTTP/3"));
}

#[test]
fn every_kind_of_load_goes_over_it() {
    let mut session = Session::alone();
    let Some(mut server) = start(&session, &["-streams", "10"]) else { return };
    let at = format!("https://{}", server.address);
    let common = "--insecure --http 3 --force --warmup 0s";
    // Each user a connection of its own.
    session.loadline(&format!("run {at}/ {common} -c 5 --streams 1 -n 100 --out json=r.json")).exits_either(0, 4);
    assert_eq!((figure(&session.json("r.json"), "/connections/opened"), figure(&session.json("r.json"), "/requests/succeeded")), (5, 100));
    // More at once than the server lets on one, at a rate.
    let told = session.loadline(&format!("run {at}/?wait=30ms {common} -r 500/s -d 2s --full --out json=r.json")).exits_either(0, 4);
    // Who takes datagrams there is found as who accepts connections is.
    assert!(told.stdout.contains("http3d"), "{}", told.stdout);
    let run = session.json("r.json");
    assert_eq!(figure(&run, "/requests/succeeded"), figure(&run, "/requests/due"));
    session.loadline(&format!("sweep {at}/ {common} --levels 1,2 -d 400ms --out json=s.json")).exits_either(0, 4);
    session.loadline(&format!("compare {at}/ {at}/bytes?count=9 {common} --pairs 2 -d 300ms")).exits_either(0, 4);
    let told = session.loadline(&format!("try {at}/status?code=404 --insecure --http 3")).exits_either(0, 1);
    assert!(told.stdout.contains("status 404"), "{}", told.stdout);
    let before = server.seen()["requests"].as_u64().unwrap();
    let scenario = format!(
        "target: {at}\nload: {{users: 2, requests: 40, insecure: true, http: 3, stream: auto, threads: 1}}\nsteps:\n\
         - {{name: a, get: /moved, redirects: 1, checks: [status == 200]}}\n\
         - {{name: b, post: /echo, body: 'n={{{{sequence}}}}', extract: {{got: 'regex n=([0-9]+)'}}}}\n\
         - {{name: c, get: '/echo?got={{{{got}}}}'}}\n\
         - {{name: d, get: /events}}\n"
    );
    let mut session = session.file("s.yaml", &scenario);
    session.loadline("run s.yaml --full --force --out json=r.json").exits_either(0, 4);
    let run = session.json("r.json");
    assert_eq!((figure(&run, "/requests/succeeded"), figure(&run, "/requests/failed")), (40, 0), "{run}");
    let redirected = server.seen()["requests"].as_u64().unwrap() - before - 40;
    assert!((10..=11).contains(&redirected), "{redirected}");
    assert_eq!(figure(&run, "/streams/events"), 50, "{}", run["streams"]);
}

#[test]
fn what_goes_wrong_is_said_before_the_load_or_has_a_class() {
    let mut session = Session::new();
    let Some(server) = start(&session, &[]) else { return };
    let at = format!("https://{}", server.address);
    session.loadline(&format!("run {at}/reset --insecure --http 3 -c 2 -n 20 --out json=r.json")).exits_either(0, 4);
    let run = session.json("r.json");
    assert_eq!(
        (&run["failures"][0]["class"], &run["failures"][0]["count"]),
        (&"http3.internal_error".into(), &20.into()),
        "{}",
        run["failures"]
    );
    for (words, said) in [
        (format!("{at}/ --http 3 -n 1"), "the certificate's issuer is not trusted"),
        (
            format!("https://localhost:{}/ --http 3 -n 1 --cacert cert.pem --sni other.test", port(&server)),
            "the certificate is for another name",
        ),
        (format!("{at}/ --insecure -n 1"), "nothing listens on"),
    ] {
        let told = session.loadline(&format!("run {words}")).exits(3);
        assert!(told.stderr.contains(said), "{words}: {}", told.stderr);
    }
    for (words, said) in [
        ("http://127.0.0.1:1/ --http 3", "goes over QUIC, which is always encrypted, and the URL is http://"),
        ("https://127.0.0.1:1/ --http 3 --proxy http://127.0.0.1:2", "proxies carry TCP, and HTTP/3 goes over UDP"),
        ("https://127.0.0.1:1/ --http 3 --tls-version 1.2", "QUIC has TLS 1.3 built in"),
        ("https://127.0.0.1:1/ --http 3 --tls-resumption on", "which handshakes of QUIC resume a session cannot be told"),
        ("https://127.0.0.1:1/ --http 4", "none of 1.1, 2, 3 and auto"),
    ] {
        let told = session.loadline(&format!("run {words}")).exits(2);
        assert!(told.stderr.contains(said), "{words}: {}", told.stderr);
    }
}

#[test]
fn a_server_that_offers_it_is_told_whatever_is_spoken() {
    if !tools::are_here(&["nginx"]) {
        return;
    }
    for (version, listens, offers) in [("1.1", "", "h3=\":443\"; ma=60"), ("2", "http2", "h2=\":1\", h3=\":443\""), ("1.1", "", "clear")] {
        let mut session = Session::new();
        let limits = "worker_processes 1; events { worker_connections 64; }";
        let server = format!("{listens}; location / {{ add_header Alt-Svc '{offers}'; return 200 ok; }}");
        let nginx = Nginx::serving(&session, "http", limits, &server);
        let told = session.loadline(&format!("run {} --http {version} -c 2 -n 50 --full", nginx.url)).exits_either(0, 4);
        assert_eq!(told.stdout.contains("the server offers HTTP/3 too (--http 3)"), offers != "clear", "{version}: {}", told.stdout);
    }
}

#[test]
fn packets_that_are_lost_on_the_way_are_counted_and_where_none_is_nothing_is_blamed_on_it() {
    let mut session = Session::alone();
    for (words, is_lossy) in [(&["-lose", "25"][..], true), (&[][..], false)] {
        let Some(server) = start(&session, words) else { return };
        let url = format!("https://{}/?wait=5ms", server.address);
        let load = "--insecure --http 3 --streams 1 --force --warmup 0s --levels 1,2 -n 1000";
        let told = session.loadline(&format!("sweep {url} {load} --out json=s{is_lossy}.json")).exits_either(0, 4);
        let sweep = session.json(&format!("s{is_lossy}.json"));
        let lost = |trial: &Value| trial["summary"]["connections"]["packets_lost"].as_u64().unwrap_or(0);
        assert!(sweep["trials"].as_array().unwrap().iter().all(|trial| (lost(trial) >= 40) == is_lossy), "{}", told.stdout);
        let found = sweep["bottleneck"][0]["kind"] == "lost_packets";
        // What is named rests on times, which a busy machine may blur; where nothing is lost it is never named.
        assert!(is_lossy || !found, "{}", told.stdout);
        assert_eq!(told.stdout.replace("\n  ", " ").contains("were lost on the way"), found, "{}", told.stdout);
    }
}
