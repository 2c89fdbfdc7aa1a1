//! Secrets: typed wherever one can be typed, sent back by every server, and looked for in everything that is written.
//!
//! What is searched is all there is: every format, the history's own bytes, exported runs, journals, what exporters were told,
//! both standard streams, and every answer of `loadline serve`. A new output that forgets to leave secrets out fails here.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rustix::process::Signal;

use crate::history::journals;
use crate::recorder::Recorder;
use crate::session::{Session, server};

/// One of plain letters, and one of letters that URLs, headers and JSON write differently.
const SECRETS: [&str; 2] = ["Zq7-planted_S3cret.value", "Zq7+pl@nted/S3cret=v%41lue"];

const OUTS: &str =
    "--out json=r.json --out text=r.txt --out csv=r.csv --out hdr=r.hgrm --out markdown=r.md --out junit=r.xml --out html=r.html";

/// As it stands in a URL.
fn percent(secret: &str) -> String {
    secret
        .bytes()
        .map(|byte| {
            let plain = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
            if plain { char::from(byte).to_string() } else { format!("%{byte:02X}") }
        })
        .collect()
}

/// The beginnings of every form in which it may be written, and a piece out of its middle.
fn traces(secret: &str) -> Vec<String> {
    let beginning = |text: &str| text.chars().take(10).collect::<String>();
    let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
    let middle: String = secret.chars().skip(8).take(10).collect();
    let all = [secret, &percent(secret), &BASE64_STANDARD.encode(secret), &hex, &hex.to_uppercase()].map(beginning);
    all.into_iter().chain([middle]).collect()
}

/// Nothing of the secret is in it.
#[track_caller]
fn is_clean(what: &str, text: &[u8], secret: &str) {
    let text = String::from_utf8_lossy(text);
    for trace in traces(secret) {
        if let Some(at) = text.find(&trace) {
            let begin = text.char_indices().map(|(at, _)| at).take_while(|begin| *begin + 200 < at).last().unwrap_or(0);
            panic!("{what}: {trace} of the secret is in: …{}", text[begin..].chars().take(400).collect::<String>());
        }
    }
}

/// Sends every request back: as an error page, and where metrics are asked for, as a label of one. What it is told in bodies is kept.
struct Echo {
    address: SocketAddr,
    bodies: Arc<Mutex<Vec<u8>>>,
}

impl Echo {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let bodies = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&bodies);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(stream) = stream else { continue };
                let kept = Arc::clone(&kept);
                thread::spawn(move || answer(stream, &kept));
            }
        });
        Self { address, bodies }
    }
}

fn answer(stream: TcpStream, bodies: &Mutex<Vec<u8>>) {
    let mut reader = BufReader::new(stream);
    let mut asked = 0;
    loop {
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let from = head.len();
            if reader.read_line(&mut head).unwrap_or(0) == 0 {
                return;
            }
            let line = head[from..].to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        if reader.read_exact(&mut body).is_err() {
            return;
        }
        asked += 1;
        let (status, said) = if head.starts_with("GET /metrics") {
            let token = head.split("token=").nth(1).and_then(|rest| rest.split([' ', '&']).next()).unwrap_or_default();
            ("200 OK", format!("hits{{token=\"{token}\"}} {asked}\n"))
        } else {
            if head.contains("/told") {
                bodies.lock().unwrap().extend(&body);
            }
            ("500 No", format!("{head}{}", String::from_utf8_lossy(&body)))
        };
        let written =
            write!(reader.get_mut(), "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{said}", said.len());
        if written.is_err() {
            return;
        }
    }
}

/// Every file below a directory, one after the other.
fn everything(dir: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(everything(&path));
        } else {
            all.extend(fs::read(path).unwrap());
        }
    }
    all
}

/// Every answer that `loadline serve` gives about the last result.
fn served(session: &mut Session) -> String {
    let mut running = session.start("serve --listen 127.0.0.1:0");
    let said = running.stdout_until("Ctrl-C ends it.");
    let address = said.split("http://").nth(1).and_then(|rest| rest.split('/').next()).unwrap().to_owned();
    let mut all = String::new();
    for path in ["", "/@last", "/@last/page", "/@last/result", "/@last/course", "/@last/html"] {
        let mut stream = TcpStream::connect(&address).unwrap();
        write!(stream, "GET /api/v1/runs{path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        // Only a run has a course.
        assert!(text.starts_with("HTTP/1.1 200") || path.ends_with("course"), "{path}: {text}");
        all += &text;
    }
    let ran = running.signal(Signal::INT).end();
    all + &ran.stdout + &ran.stderr
}

/// Whatever of a command line can hold a secret, with one in it.
fn places(address: SocketAddr, secret: &str) -> Vec<String> {
    let at = format!("http://{address}");
    let coded = percent(secret);
    let mut places = vec![
        format!("{at}/ -H 'X-Api-Key: {secret}'"),
        format!("{at}/ --user me:{secret}"),
        format!("{at}/ -H 'X-Vault-Token: {secret}'"),
        format!("{at}/ -H 'Authorization: Token {secret}'"),
        format!("{at}/ --cookie sid={secret}"),
        format!("http://me:{coded}@{address}/"),
        format!("{at}/?page=1&access_token={coded}"),
        format!("{at}/?key={coded}"),
        format!("{at}/ --data 'user=me&password={coded}'"),
        format!("{at}/ --json '{{\"client_secret\": \"{secret}\"}}'"),
        format!("{at}/ --form token={secret}"),
        format!("{at}/ --proxy http://me:{coded}@{address}"),
    ];
    // Other letters than these are no bearer token.
    if secret.bytes().all(|letter| letter.is_ascii_alphanumeric() || b"-._".contains(&letter)) {
        places.push(format!("{at}/ --bearer {secret}"));
    }
    places
}

#[test]
fn no_secret_is_in_anything_that_is_written_of_a_run() {
    let echo = Echo::new();
    let all: Vec<(&str, String)> =
        SECRETS.iter().flat_map(|secret| places(echo.address, secret).into_iter().map(|place| (*secret, place))).collect();
    // Each waits a second for its journal.
    thread::scope(|scope| {
        for some in all.chunks(all.len().div_ceil(4)) {
            scope.spawn(|| some.iter().for_each(|(secret, place)| a_run_is_clean(place, secret)));
        }
    });
}

fn a_run_is_clean(place: &str, secret: &str) {
    let mut session = Session::new();
    let ran = session.loadline(&format!("run {place} -n 3 -c 1 --observe none {OUTS}"));
    let shown = session.loadline("show @last").exits(0);
    let listed = session.loadline("runs --json").exits(0);
    session.loadline("export @last saved.json").exits(0);
    let served = served(&mut session);
    // And of a run that is killed.
    let run = session.start(&format!("run {place} -c 1 -d 10m --observe none"));
    let run = run.once(|| journals(&session).contains("\"second\""));
    let journal = journals(&session);
    run.signal(Signal::KILL).end();
    session.loadline("export @last killed.json").exits(0);
    let streams = [ran.stdout, ran.stderr, shown.stdout, listed.stdout, journal, served].concat();
    let all = [everything(&session.path(".")), everything(&session.data(".")), streams.into_bytes()].concat();
    is_clean(place, &all, secret);
    assert!(String::from_utf8_lossy(&all).contains("***"), "{place}: something stands in its place");
    // A plan that lacks its secret is not run as if it did not.
    session.loadline("run --from @last -n 1").exits(2).complains("because it is a secret");
}

/// Whatever names a file in which a secret stands, and the files.
fn from_files(address: SocketAddr, secret: &str) -> Vec<(String, Vec<(&'static str, String)>)> {
    let at = format!("http://{address}");
    let coded = percent(secret);
    let quoted = serde_json::to_string(secret).unwrap();
    let scenario = |steps: String| vec![("s.yaml", format!("target: {at}\nload: {{users: 1, requests: 2}}\nsteps:\n{steps}"))];
    vec![
        ("s.yaml".to_owned(), scenario(format!("- get: /a?page=1&token={coded}\n- get: /b;jsessionid={coded}\n"))),
        ("s.yaml".to_owned(), scenario(format!("- get: {at}/a?api_key={coded}\n- {{get: /b, name: '/b?token={coded}'}}\n"))),
        ("s.yaml".to_owned(), scenario(format!("- post: /a\n  json: {{query: 'mutation {{ login(password: {quoted}) }}'}}\n"))),
        (
            "s.yaml".to_owned(),
            [
                scenario(
                    "- post: /a\n  form: {password: '{{users.password}}'}\n  checks: [body contains nothing]\ndata: [users.csv]\n"
                        .to_owned(),
                ),
                vec![("users.csv", format!("password\n{secret}\n"))],
            ]
            .concat(),
        ),
        (format!("{at}/ -H 'Authorization: Bearer {{{{file tok}}}}'"), vec![("tok", secret.to_owned())]),
        (format!("{at}/ --data @body -H 'Content-Type: application/x-www-form-urlencoded'"), vec![("body", format!("password={coded}"))]),
        (
            format!("{at}/ --data-file users.csv --data 'password={{{{users.password}}}}'"),
            vec![("users.csv", format!("password\n{secret}\n"))],
        ),
        ("--urls urls".to_owned(), vec![("urls", format!("GET {at}/?token={coded}\n"))]),
        (format!("{at}/ -s h.lua"), vec![("h.lua", format!("wrk.headers['Authorization'] = 'Bearer {secret}'\n"))]),
        (format!("{at}/ -H 'Referer: http://h.test/?token={coded}'"), Vec::new()),
    ]
}

#[test]
fn no_secret_that_stands_in_a_file_is_in_anything_that_is_written() {
    let echo = Echo::new();
    for secret in SECRETS {
        for (place, files) in from_files(echo.address, secret) {
            let session = Session::new();
            let mut session = files.into_iter().fold(session, |session, (name, text)| session.file(name, &text));
            let ran = session.loadline(&format!("run {place} -n 2 -c 1 --observe none {OUTS}")).exits(0);
            let shown = session.loadline("show @last").exits(0);
            session.loadline("export @last saved.json").exits(0);
            let served = served(&mut session);
            for name in ["s.yaml", "users.csv", "tok", "body", "urls", "h.lua"] {
                let _ = fs::remove_file(session.path(name));
            }
            let streams = [ran.stdout, ran.stderr, shown.stdout, served].concat();
            let all = [everything(&session.path(".")), everything(&session.data(".")), streams.into_bytes()].concat();
            is_clean(&place, &all, secret);
        }
    }
}

#[test]
fn no_secret_of_whoever_is_told_or_watched_is_in_anything_that_is_written() {
    let echo = Echo::new();
    let target = server();
    for secret in SECRETS {
        let (address, coded) = (echo.address, percent(secret));
        let mut session = Session::new();
        let ran = session.loadline(&format!(
            "run {} -c 1 -d 1300ms {OUTS} --export 'influx=http://me:{coded}@{address}/told?db=x&token={coded}' \
             --export 'otlp=http://me:{coded}@{address}/told?token={coded}' \
             --observe 'prometheus:http://me:{coded}@{address}/metrics?token={coded}'",
            target.url("/healthz?api_key=Kx9-other_Planted.value")
        ));
        let ran = ran.complains("warning: --export influx=").complains("warning: --export otlp=");
        let shown = session.loadline("show @last").exits(0);
        session.loadline("export @last saved.json").exits(0);
        let told = echo.bodies.lock().unwrap().clone();
        assert!(!told.is_empty() && !session.json("r.json")["observed"][0]["series"].as_array().unwrap().is_empty());
        let served = served(&mut session);
        let streams = [ran.stdout, ran.stderr, shown.stdout, served].concat();
        let all = [everything(&session.path(".")), everything(&session.data(".")), told, streams.into_bytes()].concat();
        is_clean("exporters and metrics", &all, secret);
        is_clean("the target of what is exported", &all, "Kx9-other_Planted.value");
    }
}

#[test]
fn no_secret_is_in_anything_that_is_written_of_more_than_one_run() {
    let echo = Echo::new();
    let secret = SECRETS[0];
    let at = format!("http://{}", echo.address);
    let typed = format!("-H 'X-Api-Key: {secret}' --cookie sid={secret} --observe none");
    for line in [
        format!("sweep {at}/?access_token={secret} {typed} --levels 1,2 -n 5 --cooldown 0s --out html=s.html --out markdown=s.md"),
        format!(
            "compare {at}/a?token={secret} http://me:{secret}@{}/b {typed} -c 1 -n 5 --cooldown 0s --pairs 5 --out html=c.html",
            echo.address
        ),
    ] {
        let mut session = Session::new();
        let ran = session.loadline(&line);
        assert!(matches!(ran.exit, 0 | 1 | 4), "{line}: {}", ran.stderr);
        let shown = session.loadline("show @last").exits(0);
        session.loadline("export @last saved.json").exits(0);
        if line.starts_with("sweep") {
            session.loadline("diff @last @last --force --out json=d.json --out html=d.html").exits(0);
        }
        let served = served(&mut session);
        let streams = [ran.stdout, ran.stderr, shown.stdout, shown.stderr, served].concat();
        let all = [everything(&session.path(".")), everything(&session.data(".")), streams.into_bytes()].concat();
        is_clean(&line, &all, secret);
    }
}

#[test]
fn no_secret_is_in_a_complaint() {
    let secret = SECRETS[0];
    for line in [
        format!("run http://me:{secret}@127.0.0.1:99999/"),
        format!("run http://127.0.0.1:1/ --proxy https://me:{secret}@127.0.0.1:2"),
        format!("run http://127.0.0.1:1/?token={secret}"),
        format!("run http://127.0.0.1:1/ -H 'Authorization {secret}' -H 'Authorization: a{secret}\tb' --bearer '{secret} x'"),
        format!("run http://127.0.0.1:1/ --export influx=http://me:{secret}@127.0.0.1:99999/write"),
        format!("run http://127.0.0.1:1/ --export 'otlp=http://host:x/?token={secret}'"),
        format!("run http://127.0.0.1:1/ --observe prometheus:http://me:{secret}@127.0.0.1:99999/"),
        format!("run http://127.0.0.1:1/ --observe 'prometheus:ftp://host/?token={secret}'"),
        format!("sweep http://me:{secret}@127.0.0.1:99999/"),
        format!("find http://me:{secret}@127.0.0.1:99999/ --slo 'p99 < 1s'"),
        format!("compare http://me:{secret}@127.0.0.1:99999/ http://a:{secret}@127.0.0.1:99999/"),
    ] {
        let ran = Session::new().loadline(&line);
        assert!(ran.exit != 0, "{line}");
        is_clean(&line, [ran.stdout, ran.stderr].concat().as_bytes(), secret);
    }
}

#[test]
fn a_proxy_is_asked_for_the_url_with_its_secrets_and_nobody_else_sees_them() {
    let proxy = Recorder::start(Duration::ZERO, 200);
    let mut session = Session::new();
    let ran =
        session.loadline(&format!("run http://api.test/x?token=Zq8-Xw0.vK3jQ5 -n 1 -c 1 --out json=r.json --proxy {}", proxy.url)).exits(0);
    assert!(proxy.raw().iter().any(|request| request.starts_with("GET http://api.test/x?token=Zq8-Xw0.vK3jQ5 HTTP/1.1\r\n")));
    let all = [ran.stdout.into_bytes(), ran.stderr.into_bytes(), everything(&session.path("."))].concat();
    is_clean("a request through a proxy", &all, "Zq8-Xw0.vK3jQ5");
}
