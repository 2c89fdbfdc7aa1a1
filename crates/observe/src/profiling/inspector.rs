//! Node's inspector: the CPU profiler of V8, over the debugger's WebSocket.
//!
//! It is there if the program was started with `--inspect` or was sent SIGUSR1; loadline sends no signal, since a debugger left open is
//! the user's to decide. Where it is stands in the program's arguments or in NODE_OPTIONS; with `--inspect=0` only the kernel knows.
//! Which program answers there is asked before anything else: another one's profile would be worse than none.

use std::io::ErrorKind;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use plan::plainly;
use serde_json::{Value, json};
use tungstenite::client::client_with_config;
use tungstenite::error::CapacityError;
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Error, HandshakeError, Message, WebSocket};
use url::Url;

use super::{RunEnd, Slot, TakenProfile};
use crate::fetch::{Client, Limits};
use crate::files::Folder;
use crate::listener::ports_of;
use crate::process::Pid;

/// Where an inspector listens unless told otherwise.
const PORT: u16 = 9229;
/// An answer that takes longer is none. Writing down a long profile stops the program for a while.
const PATIENCE: Duration = Duration::from_secs(20);
/// Between two samples, microseconds: the profiler's own is 1,000, and a tenth of its cost is enough.
const INTERVAL_MICROS: u32 = 10_000;

const LIST: Limits = Limits { what: "the inspector's list", accept: "application/json", time: Duration::from_secs(3), bytes: 1 << 20 };

pub(super) fn take(pid: Pid, slot: Slot, stopped: &RunEnd) -> Result<TakenProfile, String> {
    over(&list(pid)?, pid, slot, stopped)
}

fn over(debugger: &Url, pid: Pid, slot: Slot, stopped: &RunEnd) -> Result<TakenProfile, String> {
    let mut socket = Socket::of(debugger)?;
    let answer = socket.ask("Runtime.evaluate", &json!({ "expression": "process.pid" }))?;
    if answer.pointer("/result/value").and_then(Value::as_u64) != Some(pid.into()) {
        return Err(format!("the inspector that answers is not that of process {pid}; {}", remedy(pid)));
    }
    socket.ask("Profiler.enable", &json!({}))?;
    socket.ask("Profiler.setSamplingInterval", &json!({ "interval": INTERVAL_MICROS }))?;
    socket.ask("Profiler.start", &json!({}))?;
    let began = Instant::now();
    stopped.within(Duration::from_secs(slot.seconds));
    let mut answer = socket.ask("Profiler.stop", &json!({}))?;
    let ended = Instant::now();
    // What it says does not matter any more.
    let _ = socket.ask("Profiler.disable", &json!({}));
    let profile = answer.get_mut("profile").map(Value::take).ok_or("the inspector has no profile")?;
    Ok(TakenProfile { began, ended, bytes: Box::new(move || Ok(profile.to_string().into_bytes())) })
}

fn remedy(pid: Pid) -> String {
    format!("start it with node --inspect, or open its inspector now: kill -USR1 {pid}")
}

/// The address of the debugger.
fn list(pid: Pid) -> Result<Url, String> {
    let words = |file: &str| String::from_utf8_lossy(&std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default()).into_owned();
    let options = words("environ").split('\0').find_map(|variable| variable.strip_prefix("NODE_OPTIONS=").map(|it| it.replace(' ', "\0")));
    // What is said last holds: arguments are read after the variable.
    let ports = match port(&words("cmdline")).or_else(|| port(&options.unwrap_or_default())) {
        Some(0) => ports_of(&Folder::of_this_machine(), pid),
        told => vec![told.unwrap_or(PORT)],
    };
    let mut why = format!("process is Node, and its inspector is not open; {}", remedy(pid));
    for port in ports {
        match at(port, pid) {
            Ok(url) => return Ok(url),
            Err(said) => why = said,
        }
    }
    Err(why)
}

fn at(port: u16, pid: Pid) -> Result<Url, String> {
    let url: Url = format!("http://127.0.0.1:{port}/json/list").parse().map_err(|why| format!("{why}"))?;
    let listed = Client::within(url, LIST).read();
    let listed = listed.map_err(|_| format!("process is Node, and its inspector is not open; {}", remedy(pid)))?;
    let listed: Value = serde_json::from_str(&listed).map_err(|_| format!("on port {port} no inspector answers; {}", remedy(pid)))?;
    let address = listed.pointer("/0/webSocketDebuggerUrl").and_then(Value::as_str).and_then(|address| Url::parse(address).ok());
    address.filter(|url| url.host_str() == Some("127.0.0.1")).ok_or_else(|| "somebody else debugs it already: close that first".to_owned())
}

/// The port in a command line, of which a NUL ends each argument: `--inspect=9230` or `--inspect=127.0.0.1:9230`; 0 is any.
fn port(arguments: &str) -> Option<u16> {
    let value = arguments.split('\0').find_map(|argument| {
        let rest = argument.strip_prefix("--inspect").or_else(|| argument.strip_prefix("--debug"))?;
        rest.trim_start_matches("-brk").trim_start_matches("-port").trim_start_matches("-wait").strip_prefix('=')
    })?;
    value.rsplit(':').next()?.parse().ok()
}

/// A WebSocket on which questions are asked.
struct Socket {
    stream: WebSocket<TcpStream>,
    asked: u64,
}

impl Socket {
    fn of(url: &Url) -> Result<Self, String> {
        let lost = |why: std::io::Error| told(&Error::Io(why));
        let stream = TcpStream::connect((url.host_str().unwrap_or("127.0.0.1"), url.port().unwrap_or(PORT))).map_err(lost)?;
        stream.set_read_timeout(Some(PATIENCE)).and_then(|()| stream.set_write_timeout(Some(PATIENCE))).map_err(lost)?;
        let limits = WebSocketConfig::default().max_message_size(Some(profile::BYTES_MAX)).max_frame_size(Some(profile::BYTES_MAX));
        let (stream, _) = client_with_config(url.as_str(), stream, Some(limits)).map_err(|why| match why {
            HandshakeError::Failure(why) => told(&why),
            HandshakeError::Interrupted(_) => SILENT.to_owned(),
        })?;
        Ok(Self { stream, asked: 0 })
    }

    /// The result of a question; what comes besides is passed over.
    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.asked += 1;
        let id = self.asked;
        let question = json!({ "id": id, "method": method, "params": params });
        self.stream.send(Message::text(question.to_string())).map_err(|why| told(&why))?;
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            let Message::Text(text) = self.stream.read().map_err(|why| told(&why))? else { continue };
            let mut answer: Value = serde_json::from_str(&text).map_err(|why| format!("the inspector does not answer in JSON: {why}"))?;
            if answer.get("id").and_then(Value::as_u64) != Some(id) {
                continue;
            }
            if let Some(why) = answer.pointer("/error/message").and_then(Value::as_str) {
                return Err(format!("the inspector refuses {method}: {}", why.chars().take(200).collect::<String>()));
            }
            return Ok(answer.get_mut("result").map(Value::take).unwrap_or_default());
        }
        Err(format!("the inspector does not answer {method}"))
    }
}

const SILENT: &str = "the inspector does not answer";

fn told(why: &Error) -> String {
    match why {
        Error::Io(why) if matches!(why.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => SILENT.to_owned(),
        Error::Io(why) => format!("the inspector cannot be spoken to: {}", plainly(why)),
        Error::ConnectionClosed | Error::AlreadyClosed => "the inspector closed the connection".to_owned(),
        Error::Capacity(CapacityError::MessageTooLong { .. }) => format!("the profile is larger than {} MB", profile::BYTES_MAX >> 20),
        why => format!("the inspector does not speak WebSocket: {why}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::sync::mpsc::channel;
    use tungstenite::protocol::frame::Frame;
    use tungstenite::protocol::frame::coding::{Data, OpCode};

    /// What an inspector of process 7 answers, in frames as awkward as they may be; the questions that it was asked.
    fn inspector() -> (Url, std::thread::JoinHandle<Vec<String>>) {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("ws://{}/an-id", socket.local_addr().unwrap()).parse().unwrap();
        let serving = std::thread::spawn(move || {
            let mut stream = tungstenite::accept(socket.accept().unwrap().0).unwrap();
            let mut asked = Vec::new();
            while let Ok(message) = stream.read() {
                let Message::Text(text) = message else {
                    assert!(matches!(&message, Message::Pong(payload) if payload == "hello") || message.is_close(), "{message:?}");
                    continue;
                };
                let question: Value = serde_json::from_str(&text).unwrap();
                let method = question["method"].as_str().unwrap().to_owned();
                let result = match method.as_str() {
                    "Runtime.evaluate" => json!({ "result": { "type": "number", "value": 7 } }),
                    "Profiler.stop" => json!({ "profile": { "nodes": [], "samples": [] } }),
                    _ => json!({}),
                };
                asked.push(method);
                let answer = json!({ "id": question["id"], "result": result }).to_string();
                let (first, last) = answer.split_at(answer.len() / 2);
                let part =
                    |text: &str, of: Data, is_last| Message::Frame(Frame::message(text.to_owned().into_bytes(), OpCode::Data(of), is_last));
                // An event, a ping, and the answer in two parts.
                let sent = [
                    Message::text("{\"method\":\"Runtime.event\"}"),
                    Message::Ping("hello".into()),
                    part(first, Data::Text, false),
                    part(last, Data::Continue, true),
                ];
                sent.into_iter().for_each(|message| stream.send(message).unwrap());
            }
            asked
        });
        (url, serving)
    }

    #[test]
    fn a_profile_is_asked_for_and_had() {
        let (url, serving) = inspector();
        let (stop, stopped) = channel();
        stop.send(()).unwrap();
        let slot = Slot { begin: Duration::ZERO, seconds: 600 };
        let taken = over(&url, 7, slot, &RunEnd(stopped)).unwrap();
        assert_eq!(String::from_utf8((taken.bytes)().unwrap()).unwrap(), r#"{"nodes":[],"samples":[]}"#);
        let asked =
            ["Runtime.evaluate", "Profiler.enable", "Profiler.setSamplingInterval", "Profiler.start", "Profiler.stop", "Profiler.disable"];
        assert_eq!(serving.join().unwrap(), asked);
    }

    #[test]
    fn the_inspector_of_another_process_is_left_alone() {
        let (url, serving) = inspector();
        let (_stop, stopped) = channel();
        let error = over(&url, 8, Slot { begin: Duration::ZERO, seconds: 1 }, &RunEnd(stopped)).err().unwrap();
        assert!(error.contains("not that of process 8") && error.contains("kill -USR1 8"), "{error}");
        assert_eq!(serving.join().unwrap(), ["Runtime.evaluate"]);
    }

    #[test]
    fn the_port_is_the_one_that_it_was_started_with() {
        for (arguments, found) in [
            ("node\0--inspect=9333\0app.js", Some(9333)),
            ("node\0--inspect=127.0.0.1:9444\0app.js", Some(9444)),
            ("node\0--inspect-brk=9555\0app.js", Some(9555)),
            ("node\0--inspect=0\0app.js", Some(0)),
            ("node\0--inspect=localhost:0\0app.js", Some(0)),
            ("node\0--inspect\0app.js", None),
            ("node\0app.js", None),
        ] {
            assert_eq!(port(arguments), found, "{arguments}");
        }
    }
}
