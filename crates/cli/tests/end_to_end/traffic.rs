//! `loadline traffic`: what a server wrote down about requests we sent is what it says.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::recorder::Recorder;
use crate::session::{Session, server};
use crate::tools;

const LINE: &str = r#"192.0.2.1 - - [01/Mar/2016:00:36:41 +0100] "GET /users/17?token=s3cr3t HTTP/1.1" 200 612 "-" "curl/8""#;

/// nginx in a directory; it ends with this value.
struct Nginx(Child);

impl Drop for Nginx {
    fn drop(&mut self) {
        // Asked to end, so that it ends its worker.
        let pid = rustix::process::Pid::from_raw(i32::try_from(self.0.id()).unwrap()).unwrap();
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.0.wait();
    }
}

#[test]
fn nginx_wrote_down_what_we_sent_and_that_is_what_is_told() {
    if !tools::are_here(&["nginx"]) {
        return;
    }
    let mut session = Session::new();
    let dir = session.path("");
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let here = dir.display();
    let config = format!(
        "daemon off; worker_processes 1; pid {here}/pid; error_log stderr crit;\nevents {{ worker_connections 256; }}\nhttp {{\n\
         log_format timed '$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent $request_time';\n\
         client_body_temp_path {here}/b; proxy_temp_path {here}/p; fastcgi_temp_path {here}/f; uwsgi_temp_path {here}/u; scgi_temp_path {here}/s;\n\
         server {{ listen 127.0.0.1:{port}; access_log {here}/access.log combined; access_log {here}/timed.log timed;\n\
         location /users/ {{ return 200 user; }}\nlocation /missing {{ return 404; }}\nlocation /health {{ return 204; }}\n location /moved {{ return 301 /health; }} }} }}\n"
    );
    session = session.file("nginx.conf", &config);
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    let nginx = Command::new("nginx")
        .env("PATH", path)
        .arg("-c")
        .arg(session.path("nginx.conf"))
        .args(["-e", "stderr"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn();
    let mut nginx = Nginx(nginx.expect("nginx is installed"));
    let deadline = Instant::now() + Duration::from_secs(30);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(nginx.0.try_wait().unwrap().is_none() && Instant::now() < deadline, "nginx does not come up");
        thread::sleep(Duration::from_millis(10));
    }

    let mut sent: BTreeMap<(&str, &str, u64), u64> = BTreeMap::new();
    for (target, method, route, status, requests) in [
        ("/health", "GET", "/health", 204, 700),
        ("/missing?why=x", "GET", "/missing", 404, 90),
        ("/users/17", "GET", "/users/{id}", 200, 250),
        ("/users/9f86d081884c7d65", "GET", "/users/{hex}", 200, 40),
        ("/moved", "GET", "/moved", 301, 30),
        ("/users/4711", "POST", "/users/{id}", 200, 20),
    ] {
        *sent.entry((method, route, status)).or_default() += requests;
        let ran =
            session.loadline(&format!("run http://127.0.0.1:{port}{target} -X {method} -c 4 -n {requests} --no-save --quiet --out json=-"));
        let run: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|why| panic!("{why}: {ran:?}"));
        assert_eq!(run["requests"]["due"], requests, "{target}");
    }
    // Noise on the port is no request.
    let mut noise = TcpStream::connect(("127.0.0.1", port)).unwrap();
    noise.write_all(b"\x16\x03\x01\x02\x00nonsense\r\n\r\n").unwrap();
    let _ = noise.read_to_end(&mut Vec::new());
    // nginx writes it down once the connection is gone.
    drop(noise);
    while !std::fs::read_to_string(session.path("timed.log")).unwrap().contains("nonsense") {
        assert!(Instant::now() < deadline, "nginx does not write");
        thread::sleep(Duration::from_millis(10));
    }
    drop(nginx);

    for (log, asked) in [("access.log", String::new()), ("timed.log", " --log-format nginx-format".to_owned())] {
        let path = session.path(log);
        let mut words = vec!["traffic".to_owned(), path.display().to_string(), "--out".to_owned(), "json=-".to_owned()];
        if !asked.is_empty() {
            words.extend([
                "--log-format".to_owned(),
                "$remote_addr - $remote_user [$time_local] \"$request\" $status $body_bytes_sent $request_time".to_owned(),
            ]);
        }
        let output = Command::new(env!("CARGO_BIN_EXE_loadline")).args(&words).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let mut found: BTreeMap<(&str, &str, u64), u64> = BTreeMap::new();
        for route in told["routes"].as_array().unwrap() {
            for status in route["statuses"].as_array().unwrap() {
                let key = (route["method"].as_str().unwrap(), route["path"].as_str().unwrap(), status["status"].as_u64().unwrap());
                *found.entry(key).or_default() += status["requests"].as_u64().unwrap();
            }
        }
        assert_eq!(found, sent, "{log}");
        assert_eq!(told["unread"][0]["reason"], "request", "{log}");
        assert_eq!((told["users"]["users"].as_u64(), told["took"].is_null()), (Some(1), log == "access.log"), "{log}");
        assert!(!String::from_utf8_lossy(&output.stdout).contains("127.0.0.1"), "{log}");
    }
}

#[test]
fn a_log_is_told_in_words_and_as_a_page() {
    if !tools::pages_are_built() {
        return;
    }
    let log: String = (0..60).map(|second| LINE.replace("36:41", &format!("36:{second:02}")) + "\n").collect::<String>() + "what is this\n";
    let mut session = Session::new().file("access.log", &log);
    let mut ran = session.loadline("traffic access.log --out html=page.html").exits(0).complains_of_nothing();
    for words in ["looks like combined", "GET /users/{id}", "1 line has another form", "access.log:61", "1 by address"] {
        ran = ran.says(words);
    }
    assert!(!ran.stdout.contains("192.0.2.1"));
    let page = std::fs::read_to_string(session.path("page.html")).unwrap();
    assert!(page.contains("\"kind\":\"traffic\""), "{}", &page[..200]);
    assert!(!page.contains("192.0.2.1") && !page.contains("s3cr3t"));
    session.stdin(&log).loadline("traffic - --keep-personal --out json=-").exits(0).says("192.0.2.1").says("standard input");
}

/// Half a minute of one route with queries, one with secrets, and orders.
fn shop_log() -> String {
    // Each by another user, so that there are no visits, whose pauses would be waited for.
    let line = |at: u32, request: &str| {
        let (user, second) = (format!("192.0.{}.{}", at / 200, at % 200), at / 10);
        format!("{user} - - [01/Mar/2016:00:36:{second:02} +0100] \"{request} HTTP/1.1\" 200 612 \"-\" \"curl/8\"\n")
    };
    (0..600)
        .map(|at| {
            let request = match at % 6 {
                0 | 1 => format!("GET /get_result?a={}&b=2", at % 10),
                2 | 3 => format!("GET /users/{}", at % 30),
                4 => "GET /me?token=s3cr3t".to_owned(),
                _ => "POST /v1/orders".to_owned(),
            };
            line(at, &request)
        })
        .collect()
}

fn line_of(request: &str) -> &str {
    request.lines().next().unwrap_or_default().trim_end_matches(" HTTP/1.1")
}

#[test]
fn a_list_of_urls_of_a_log_asks_for_what_the_log_asked_for() {
    let server = server();
    let mut session = Session::new().file("access.log", &shop_log());
    session.loadline("traffic access.log --out urls=urls.txt").exits(0);
    let list = session.read("urls.txt");
    assert!(list.contains("# 100 POST /v1/orders") && !list.contains("s3cr3t") && !list.contains("{{"), "{list}");
    assert_eq!(list.lines().filter(|line| line.contains(" GET /users/")).count(), 10, "{list}");
    session.loadline(&format!("run {} --urls urls.txt -n 500 -c 2 --no-save", server.url(""))).exits(0);
    let users = server.counts().path("/users/N");
    assert!((130..=270).contains(&users), "two in five of 500: {users}");
    session.loadline("traffic access.log --keep-personal --out urls=-").exits(0).says("100 GET /me?token=s3cr3t");
}

#[test]
fn a_scenario_of_a_log_asks_for_what_the_log_asked_for() {
    let server = Recorder::start_with(|_| "HTTP/1.1 200 X\r\nContent-Length: 0\r\n\r\n".to_owned());
    let openapi = r#"{"openapi": "3.1.0", "paths": {"/v1/orders": {"post": {"requestBody": {"content": {"application/json": {"example": {"item": 7}}}}}}}}"#;
    let mut session = Session::new().file("access.log", &shop_log()).file("openapi.json", openapi);
    session.loadline("traffic access.log --to made/shop.yaml").exits(2).complains("mkdir -p 'made'");
    std::fs::create_dir(session.path("made")).unwrap();
    session
        .loadline("traffic access.log --to made/shop.yaml")
        .exits(0)
        .says("All 21 different paths of these routes are asked for")
        .says("1 route (16.67 % of requests) is left out, and listed in it")
        .says("made/shop.paths.csv: what the others were asked for. 1 value that looks personal or secret was replaced");
    session.loadline("traffic access.log --to made/shop.yaml").exits(2).complains("made/shop.paths.csv' exists");
    session.loadline("traffic access.log --to made/shop.yaml --openapi openapi.json --force").exits(0);
    let table = session.read("made/shop.paths.csv");
    assert!(table.starts_with("group,weight,path\nGET /get_result,20,/get_result?a=0&b=2\n"), "{table}");
    assert!(!table.contains("s3cr3t") && !session.read("made/shop.yaml").contains("s3cr3t"));
    // From another directory than the scenario's, so that the table is found beside it.
    session
        .loadline(&format!("run {} --scenario made/shop.yaml --rate 400/s -d 2s --no-save --seed 3", server.url))
        .exits(0)
        .says("GET /users/{id}")
        .complains_of_nothing();
    let seen = server.raw();
    let lines: std::collections::BTreeSet<&str> = seen.iter().map(|request| line_of(request)).collect();
    for line in &lines {
        let known = matches!(*line, "POST /v1/orders" | "GET /me?token=x00001") || table.contains(&format!(",{}\n", &line[4..]));
        assert!(known, "{line}");
    }
    assert!(lines.contains("GET /get_result?a=0&b=2") && lines.contains("GET /users/20") && lines.len() > 20, "{lines:?}");
    let order = seen.iter().find(|request| request.starts_with("POST")).unwrap();
    assert!(order.contains("application/json") && order.ends_with("{\"item\":7}"), "{order}");
}

#[test]
fn a_part_of_a_log_is_told() {
    let mut session = Session::new().file("access.log", &shop_log());
    let all = session.loadline("traffic access.log").exits(0);
    let part = session.loadline("traffic access.log --only 'GET /*' --except '*.css'").exits(0);
    assert!(all.stdout != part.stdout && part.stdout.contains("requests are left out, as they are not wanted"), "{}", part.stdout);
    session.loadline("traffic access.log --only users --from soon").exits(2).complains("--only 'users'").complains("--from 'soon'");
    let odd = "1.2.3.4 - - [08/Jul/2021:11:07:01 +0000] \"GET //favicon.ico HTTP/1.1\" 200 5 \"-\" \"Go\"\n".repeat(9);
    let mut session = Session::new().file("odd.log", &odd);
    session.loadline("traffic odd.log --to odd.yaml").exits(0).says("It lasts ");
    session.loadline("check odd.yaml").exits(0);
}

#[test]
fn a_description_without_a_scenario_is_a_mistake() {
    let mut session = Session::new().file("access.log", &shop_log()).file("no.yaml", "a: b\n");
    session.loadline("traffic access.log --openapi no.yaml").exits(2).complains("this is no description by OpenAPI 3");
    session.loadline("traffic access.log --openapi missing.yaml --to x.yaml").exits(2).complains("'missing.yaml' cannot be read");
}

#[test]
fn mistakes_are_told_together_and_nothing_read_is_no_success() {
    let mut session = Session::new().file("noise.log", "this is\nno log\n").file("empty.log", "");
    let mut ran = session.loadline("traffic missing.log --log-format nothing --out yaml=x").exits(2);
    for words in ["'missing.log' cannot be read", "'nothing' is no known form", "unknown format 'yaml'"] {
        ran = ran.complains(words);
    }
    session.loadline("traffic noise.log").exits(2).complains("no line of these logs could be read").says("2 lines have another form");
    session.loadline("traffic empty.log").exits(0).says("The log is empty");
    session.loadline("traffic empty.log --field colour=x").exits(2).complains("milliseconds");
}
