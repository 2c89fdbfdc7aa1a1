//! Bad input gets a clear error before anything is sent: the thing, its value, and what to do.

use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, SocketType, bind, getsockname, socket};

use crate::session::{Session, server};

#[test]
fn every_mistake_is_told_with_its_remedy_before_anything_is_sent() {
    let server = server();
    let url = server.url("/healthz");
    let mut session =
        Session::new().file("text.pem", "not a certificate").file("taken.json", "{}").file("script.js", "import http from 'k6/http';");
    for (line, errors) in [
        ("run", "error: no URL is given\n  help: say where to send requests, such as http://127.0.0.1:8080/healthz\n"),
        ("run healthz", "error: the URL 'healthz' has no scheme\n  help: write http://healthz or https://healthz\n"),
        (
            "run nosuch.har",
            "error: there is no file 'nosuch.har'\n  help: check the path; for a server of that name, write http://nosuch.har\n",
        ),
        (
            "run script.js",
            "error: 'script.js' is a k6 script, and loadline does not run it as it is\n  help: write its requests as a scenario (loadline init shows how), or record them in a browser and give the HAR file\n",
        ),
        (
            "run ftp://a.test/",
            "error: the URL 'ftp://a.test/' has the scheme 'ftp', and loadline speaks http, https, ws, wss, grpc and grpcs\n  help: give a URL such as http://127.0.0.1:8080/healthz\n",
        ),
        ("run URL -c 0", "error: --connections '0' is zero\n  help: give at least one, such as --connections 50\n"),
        ("run URL -c -5", "error: --connections '-5' is not a whole number\n  help: give at least one, such as --connections 50\n"),
        ("run URL -c 4000000000", "error: --connections 4000000000 is more than any machine can open\n  help: give at most 10000000\n"),
        ("run URL -d 0s", "error: --duration 0s measures nothing\n  help: give a time, such as --duration 30s\n"),
        (
            "run URL -d soon",
            "error: --duration 'soon' is not a time such as 10s, 250ms or 1m30s\n  help: give a time, such as --duration 30s\n",
        ),
        ("run URL -r 0/s", "error: --rate 0/s sends nothing\n  help: give a rate above 0, such as --rate 100/s\n"),
        (
            "run URL -r '10/s for 1m, 5x/s for 1m'",
            "error: --rate '10/s for 1m, 5x/s for 1m' is wrong in stage 2: '5x/s' is not a rate such as 500/s or 30/m\n  10/s for 1m, 5x/s for 1m\n               ^^^^\n  help: give a rate such as --rate 500/s, or stages: --rate '0/s to 500/s for 1m, 500/s for 5m'\n",
        ),
        (
            "run URL -r fast",
            "error: --rate 'fast' is not a rate such as 500/s or 30/m\n  fast\n  ^^^^\n  help: give a rate such as --rate 500/s, or stages: --rate '0/s to 500/s for 1m, 500/s for 5m'\n",
        ),
        (
            "run URL -n 10 -c 50",
            "error: --requests 10 is fewer than --connections 50, so some connections would never send\n  help: give at least --requests 50, or at most --connections 10\n",
        ),
        ("run URL --data a --json {}", "error: --data and --json both give the body\n  help: keep one of them\n"),
        (
            "run URL --data @missing.txt",
            "error: the file 'missing.txt' of the body cannot be read: there is no such file or directory\n  help: check the path after '@'\n",
        ),
        ("run URL --form f=@.", "error: the file '.' of the body cannot be read: it is a directory\n  help: check the path after '@'\n"),
        ("run URL -H nonsense", "error: --header 'nonsense' has no colon\n  help: write 'Name: value'\n"),
        (
            "run https://127.0.0.1:1/ --cacert missing.pem",
            "error: --cacert 'missing.pem' cannot be read: there is no such file or directory\n  help: give a PEM file with a certificate\n",
        ),
        (
            "run https://127.0.0.1:1/ --cert text.pem --key text.pem",
            "error: --cert 'text.pem' holds no certificate\n  help: give a PEM file, which has a line with '-----BEGIN CERTIFICATE-----'\nerror: --key 'text.pem' holds no private key\n  help: give a PEM file, which has a line with 'PRIVATE KEY-----'\n",
        ),
        (
            "run URL --out json=none/r.json",
            "error: the file 'none/r.json' cannot be written: there is no such file or directory\n  help: make its directory first: mkdir -p 'none'\n",
        ),
        ("run URL --out json=.", "error: '.' is a directory\n  help: give a file in it\n"),
        ("run URL --out json=taken.json", "error: the file 'taken.json' exists\n  help: give another name, or --force to replace it\n"),
        (
            "run URL --out json=a --out text=./a",
            "error: --out json=… and --out text=… both write to './a'\n  help: give each its own file\n",
        ),
    ] {
        let ran = session.loadline(&line.replace("URL", &url)).exits(2);
        assert_eq!((ran.stderr.as_str(), ran.stdout.as_str()), (errors, ""), "{line}");
    }
    assert_eq!(server.counts().connections, 0, "nothing was sent");
    assert_eq!(session.files(), ["script.js", "taken.json", "text.pem"]);
}

#[test]
fn a_server_without_a_scheme_is_asked_by_http() {
    let server = server();
    let bare = server.url("/healthz").replacen("http://", "", 1);
    let mut session = Session::new();
    session.loadline(&format!("run {bare} -n 3 -c 1 --out r.json")).exits(0);
    assert_eq!(session.json("r.json")["plan"]["url"], server.url("/healthz"));
    assert_eq!(session.json("r.json")["requests"]["succeeded"], 3);
}

#[test]
fn users_are_connections() {
    let server = server();
    let mut session = Session::new();
    session.loadline(&format!("run {} -n 6 --users 3 --out json=r.json", server.url("/healthz"))).exits(0);
    assert_eq!(session.json("r.json")["plan"]["connections"], 3);
}

#[test]
fn a_body_that_is_called_json_and_is_none_is_warned_of() {
    let server = server();
    let line = |body: &str| format!("run {} -n 1 -c 1 --json {body}", server.url("/healthz"));
    Session::new().loadline(&line("{bad")).exits(0).complains("warning: the text of --json is not JSON: ");
    for body in ["{}", "{{uuid}}"] {
        let ran = Session::new().loadline(&line(body)).exits(0);
        assert!(!ran.stderr.contains("warning: the text of --json"), "{}", ran.stderr);
    }
}

#[test]
fn an_unknown_format_leads_to_the_known_ones() {
    let ran = Session::new().loadline("run http://127.0.0.1:1/ --out yaml=x").exits(2);
    ran.complains("error: --out 'yaml=x' asks for the unknown format 'yaml'\n  help: give one of text, json");
}

#[test]
fn all_mistakes_come_in_one_message() {
    let ran = Session::new().loadline("run atest -c 0 -d soon -H nonsense --data @missing --out yaml=x --out json=none/r").exits(2);
    assert_eq!(ran.stderr.matches("error: ").count(), ran.stderr.matches("  help: ").count());
    for part in ["'atest'", "--connections '0'", "--duration 'soon'", "--header 'nonsense'", "'yaml'", "'none/r'"] {
        assert!(ran.stderr.contains(part), "{part}:\n{}", ran.stderr);
    }
}

#[test]
fn a_server_that_is_not_there_is_noticed_before_the_run() {
    let (_held, nobody) = refusing();
    let ran = Session::new().loadline(&format!("run http://{nobody}/ -n 1 --out json=r.json"));
    ran.exits(3).complains("error: ").complains("refused").complains("  help: ");
}

#[test]
fn without_the_look_before_the_run_every_refusal_is_counted() {
    let (_held, nobody) = refusing();
    let mut session = Session::new();
    session.loadline(&format!("run http://{nobody}/ -n 3 -c 1 --no-preflight --out json=r.json")).exits(0);
    assert_eq!(session.json("r.json")["requests"]["failed"], 3);
}

/// What a full disk, an editor or a newer loadline leaves behind.
#[test]
fn results_that_are_damaged_or_of_a_later_version_are_refused_by_every_command_that_reads_them() {
    let mut session = Session::new();
    for (name, schema) in [("run", "run/7"), ("sweep", "sweep/7"), ("find", "find/7"), ("compare", "compare/7")] {
        session = session
            .file(&format!("later-{name}.json"), &format!("{{\"schema\": \"loadline.{schema}\", \"trials\": [], \"pairs\": []}}"))
            .file(&format!("cut-{name}.json"), &format!("{{\"schema\": \"loadline.{name}/1\", \"name\": \"x"));
    }
    let mut session = session.file("nothing.json", "").file("list.json", "[1, 2]").file("notes.txt", "quick server\n");
    for kind in ["run", "sweep", "find", "compare"] {
        for line in
            [format!("report later-{kind}.json"), format!("diff later-{kind}.json later-{kind}.json"), format!("import later-{kind}.json")]
        {
            let ran = session.loadline(&line).exits(2);
            ran.complains(&format!("it is written as 'loadline.{kind}/7', and this loadline reads 'loadline.{kind}/1'"))
                .complains("help: ");
        }
        for line in [format!("report cut-{kind}.json"), format!("import cut-{kind}.json"), format!("diff cut-{kind}.json cut-{kind}.json")]
        {
            let ran = session.loadline(&line).exits(2).complains("help: ");
            assert!(ran.stderr.contains("EOF while parsing") || ran.stderr.contains("line 1"), "{line}:\n{}", ran.stderr);
        }
    }
    for file in ["nothing.json", "list.json", "notes.txt", "missing.json"] {
        for line in [format!("report {file}"), format!("diff {file} {file}"), format!("import {file}"), format!("run --from {file}")] {
            session.loadline(&line).exits(2).complains(&format!("'{file}'")).complains("help: ");
        }
    }
    session.loadline("compare notes.txt nothing.json").exits(2).complains("error: ").complains("help: ");
}

/// A port that is taken, so that nobody else gets it, and on which nobody listens.
fn refusing() -> (OwnedFd, SocketAddr) {
    let held = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&held, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = SocketAddr::try_from(getsockname(&held).unwrap()).unwrap();
    (held, address)
}
