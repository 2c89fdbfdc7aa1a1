//! Steps of a journey that are under way side by side, and what each of them may meet.

use std::collections::BTreeSet;
use std::sync::{Arc, Barrier, Mutex};

use rustix::process::Signal;

use crate::recorder::{Recorder, answer, counts, header, line};
use crate::session::{Session, server};

/// A scenario of one user, whose journeys are two branches.
fn scenario(url: &str, load: &str, defaults: &str) -> String {
    format!(
        "target: {url}\nload: {{users: 1, no_preflight: true, timeout: 60s, {load}}}\ndefaults: {{{defaults}}}\nsteps:\n  \
         - parallel: [{{get: /left}}, {{get: /right}}]\n"
    )
}

#[test]
fn redirects_of_branches_are_followed_side_by_side() {
    // Each is answered when the other has been led there too.
    let both = Barrier::new(2);
    let server = Recorder::start_with(move |request| match line(request) {
        "GET /left" => answer(302, "Location: /left/there\r\n", ""),
        "GET /right" => answer(302, "Location: /right/there\r\n", ""),
        _ => {
            both.wait();
            answer(200, "", "ok")
        }
    });
    let mut session = Session::new().file("s.yaml", &scenario(&server.url, "requests: 20", "redirects: 2"));
    session.loadline("run s.yaml --out json=r.json").exits(0);
    let result = session.json("r.json");
    assert_eq!((&result["requests"]["succeeded"], &result["redirects"]), (&20.into(), &20.into()));
    let seen = counts(&server.raw());
    assert!(["/left", "/left/there", "/right", "/right/there"].iter().all(|path| seen[&format!("GET {path}")] == 10), "{seen:?}");
}

#[test]
fn a_challenge_in_branches_is_answered_in_each_and_no_count_is_used_twice() {
    let used = Arc::new(Mutex::new(Vec::new()));
    let seen = used.clone();
    let server = Recorder::start_with(move |request| {
        let authorization = header("authorization", request);
        let Some((_, count)) = authorization.split_once("nc=") else {
            let challenge = "WWW-Authenticate: Digest realm=\"shop\", nonce=\"n1\", qop=\"auth\", algorithm=SHA-256\r\n";
            return answer(401, challenge, "");
        };
        assert!(authorization.contains(&format!("uri=\"{}\"", line(request).trim_start_matches("GET "))), "{authorization}");
        seen.lock().unwrap().push(count[..8].to_owned());
        answer(200, "", "in")
    });
    let text = scenario(&server.url, "requests: 20", "auth: {digest: {user: ada, password: lovelace}}");
    let mut session = Session::new().file("s.yaml", &text);
    session.loadline("run s.yaml --out json=r.json --no-save").exits(0);
    assert_eq!(session.json("r.json")["requests"]["succeeded"], 20);
    let used = used.lock().unwrap();
    let distinct: BTreeSet<&String> = used.iter().collect();
    assert_eq!((used.len(), distinct.len()), (20, 20), "a server takes a count that it has seen for a replay: {used:?}");
}

#[test]
fn each_branch_has_a_signature_of_its_own_request() {
    let server = Recorder::start_with(|_| answer(200, "", "ok"));
    let keys = "auth: {aws: {access_key: AK, secret_key: hunter22, region: eu-central-1, service: execute-api}}";
    let mut session = Session::new().file("s.yaml", &scenario(&server.url, "requests: 20", keys));
    session.loadline("run s.yaml --no-save").exits(0);
    let seen = server.raw();
    let signed = |request: &String| {
        let (told, date) = (header("authorization", request), header("x-amz-date", request));
        assert!(told.starts_with("AWS4-HMAC-SHA256 Credential=AK/") && !date.is_empty(), "{request}");
        (date.to_owned(), line(request).to_owned(), told.rsplit("Signature=").next().unwrap_or_default().to_owned())
    };
    let signatures: BTreeSet<_> = seen.iter().map(signed).collect();
    // Of one second, the same request has the same signature, and another one another.
    let requests: BTreeSet<_> = signatures.iter().map(|(date, line, _)| (date, line)).collect();
    let texts: BTreeSet<_> = signatures.iter().map(|(_, _, signature)| signature).collect();
    assert_eq!((seen.len(), requests.len(), texts.len()), (20, signatures.len(), signatures.len()), "{signatures:?}");
}

#[test]
fn ctrl_c_lets_branches_that_are_under_way_finish_and_counts_every_request() {
    let server = server();
    let text = scenario(&server.url(""), "duration: 1h", "redirects: 0").replace("/left", "/healthz").replace("/right", "/");
    let mut session = Session::new().file("s.yaml", &text.replace("users: 1", "users: 8"));
    let running = session.start("run s.yaml --out json=r.json");
    running.once(|| server.counts().answered > 100).signal(Signal::INT).end().exits(130).complains("Ctrl-C again ends at once");
    let result = session.json("r.json");
    assert_eq!(result["ended"]["how"], "interrupted");
    assert_eq!(result["requests"]["succeeded"], server.counts().answered);
    assert_eq!((&result["requests"]["due"], &result["requests"]["failed"]), (&server.counts().answered.into(), &0.into()));
}
