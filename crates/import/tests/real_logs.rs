//! Lines that real servers wrote: the same requests in the words of each, as `scripts/server-logs.sh` had them written.

use import::{Entries, FormChoice, LINE_BYTES_MOST, LogEvent, Personal, Reason, Survey, unescaped};

/// A log: its file and which server wrote it, the form it is asked for by where it cannot be guessed, and the form that it has.
struct Log {
    file: &'static str,
    text: &'static str,
    asked: Option<&'static str>,
    form: &'static str,
    agents: Agents,
    times: Times,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Agents {
    Logged,
    NotLogged,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Times {
    Logged,
    NotLogged,
}

macro_rules! log {
    ($file:literal, $asked:expr, $form:literal, $agents:ident, $times:ident) => {
        Log {
            file: $file,
            text: include_str!(concat!("logs/", $file)),
            asked: $asked,
            form: $form,
            agents: Agents::$agents,
            times: Times::$times,
        }
    };
}

const NGINX_TIMED: &str =
    r#"$remote_addr [$msec] $request_method $request_uri $status $bytes_sent $request_time "$http_referer" "$http_user_agent""#;

const LOGS: &[Log] = &[
    log!("nginx-combined.log", None, "combined", Logged, NotLogged),
    log!("nginx-main.log", None, "main", Logged, NotLogged),
    log!("nginx-timed.log", Some(NGINX_TIMED), "the given format", Logged, Logged),
    log!("nginx-json.log", None, "json", Logged, Logged),
    log!("apache-common.log", None, "common", NotLogged, NotLogged),
    log!("apache-combined.log", None, "combined", Logged, NotLogged),
    log!("apache-vhost-combined.log", None, "vhost-combined", Logged, NotLogged),
    log!("apache-combinedio.log", None, "combinedio", Logged, NotLogged),
    log!("apache-timed.log", Some(r#"%h %l %u %t \"%r\" %>s %b %D"#), "the given format", NotLogged, Logged),
    log!("caddy.log", None, "caddy", Logged, Logged),
];

/// What every server was asked; what it said to a POST is its own affair.
const ASKED: [(&str, &str, Option<u16>); 6] = [
    ("GET", "/ready", Some(404)),
    ("GET", "/users/17?token=s3cr3t", Some(200)),
    ("GET", "/users/18", Some(404)),
    ("POST", "/orders", None),
    ("HEAD", "/users/17", Some(200)),
    ("GET", "/caf%C3%A9/?q=%22x%22", Some(200)),
];

const AGENTS: [&str; 6] = ["ready", r#"Mozilla/5.0 (X11; Linux x86_64) "quoted" back\slash"#, "curl/8", "curl/8", "curl/8", "K\u{e4}se"];

fn asked(log: &Log) -> FormChoice {
    log.asked.map_or_else(FormChoice::default, |form| FormChoice::named(form).unwrap())
}

/// A header as it was before the server wrote it down.
fn plain(value: Option<&[u8]>) -> Option<String> {
    let mut bytes = Vec::new();
    unescaped(value?, &mut bytes);
    Some(String::from_utf8(bytes).unwrap())
}

#[test]
fn what_real_servers_wrote_down_is_what_they_were_asked() {
    for log in LOGS {
        let mut entries = Entries::open(log.text.as_bytes(), &asked(log), LINE_BYTES_MOST).unwrap();
        assert_eq!(entries.form(), Some(log.form), "{}", log.file);
        let mut requests = Vec::new();
        while let Some(told) = entries.read() {
            match told.unwrap() {
                LogEvent::Request(entry) => {
                    let target = String::from_utf8(entry.path_and_query().unwrap().to_vec()).unwrap();
                    let method = String::from_utf8(entry.method.to_vec()).unwrap();
                    requests.push((method, target, entry.status, plain(entry.agent), plain(entry.referer), entry.took_ns));
                    assert_eq!(entry.client, Some(&b"127.0.0.1"[..]), "{}", log.file);
                }
                // Noise on the port.
                LogEvent::Unread(reason, text) => {
                    assert!(matches!(reason, Reason::Request | Reason::Form), "{}: {reason:?} {}", log.file, String::from_utf8_lossy(text));
                }
            }
        }
        assert_eq!(requests.len(), ASKED.len(), "{}: {requests:?}", log.file);
        for (at, ((method, target, status), (read_method, read_target, read_status, agent, referer, took))) in
            ASKED.iter().zip(&requests).enumerate()
        {
            assert_eq!((read_method.as_str(), read_target.as_str()), (*method, *target), "{}", log.file);
            assert!(status.is_none_or(|status| status == *read_status), "{}: {read_status} to {target}", log.file);
            let is_logged = log.agents == Agents::Logged;
            assert_eq!(agent.as_deref(), is_logged.then_some(AGENTS[at]), "{}", log.file);
            let came_from = match at {
                1 => Some("https://shop.example/start?q=1"),
                5 => Some("/caf%C3%A9/"),
                _ => None,
            };
            match (came_from.filter(|_| is_logged), referer) {
                (None, None) => {}
                (Some(came_from), Some(referer)) => assert!(referer.ends_with(came_from), "{}: {referer}", log.file),
                other => panic!("{}: {other:?}", log.file),
            }
            assert_eq!(took.is_some(), log.times == Times::Logged, "{}: {took:?}", log.file);
        }
    }
}

#[test]
fn what_real_servers_wrote_down_has_the_same_routes() {
    let mut told = Vec::new();
    for log in LOGS {
        let mut survey = Survey::new(asked(log), Personal::LeftOut);
        survey.read(log.file, log.text.as_bytes()).unwrap();
        let traffic = survey.finish();
        let mut routes: Vec<String> = traffic.routes.iter().map(|it| format!("{} {} {}", it.requests, it.method, it.path)).collect();
        routes.sort();
        let written = serde_json::to_string(&traffic).unwrap();
        assert!(!written.contains("127.0.0.1") && !written.contains("s3cr3t"), "{}", log.file);
        told.push(routes);
    }
    assert_eq!(told[0].len(), 5, "{:?}", told[0]);
    assert!(told.iter().all(|routes| *routes == told[0]), "{told:#?}");
}
