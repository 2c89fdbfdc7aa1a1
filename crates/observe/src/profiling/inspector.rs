//! Node's inspector: the CPU profiler of V8, over the debugger's WebSocket.
//!
//! It is there if the program was started with `--inspect` or was sent SIGUSR1; loadline sends no signal, since a debugger left open is
//! the user's to decide. Where it is stands in the program's arguments or in NODE_OPTIONS; with `--inspect=0` only the kernel knows.
//! Which program answers there is asked before anything else: another one's profile would be worse than none.
//!
//! Of WebSocket (RFC 6455) a client of one server on this machine needs a dozen lines: text, in frames, masked on the way out. A
//! library was rejected for them.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
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
    let listed = Client::within(url, LIST)?.read();
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
    stream: TcpStream,
    /// What came and was not looked at yet.
    came: Vec<u8>,
    asked: u64,
}

impl Socket {
    fn of(url: &Url) -> Result<Self, String> {
        let (host, port) = (url.host_str().unwrap_or("127.0.0.1"), url.port().unwrap_or(PORT));
        let lost = |why: std::io::Error| format!("the inspector cannot be spoken to: {why}");
        let mut stream = TcpStream::connect((host, port)).map_err(lost)?;
        stream.set_read_timeout(Some(PATIENCE)).and_then(|()| stream.set_write_timeout(Some(PATIENCE))).map_err(lost)?;
        let head = format!(
            "GET {} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Key: bG9hZGxpbmUgcHJvZmlsZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n",
            url.path()
        );
        stream.write_all(head.as_bytes()).map_err(lost)?;
        let mut socket = Self { stream, came: Vec::new(), asked: 0 };
        let end = loop {
            if let Some(at) = socket.came.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            if socket.came.len() > 1 << 14 {
                return Err("the inspector does not speak WebSocket".to_owned());
            }
            socket.read_more()?;
        };
        if !socket.came.starts_with(b"HTTP/1.1 101") {
            return Err("the inspector does not speak WebSocket".to_owned());
        }
        socket.came.drain(..end);
        Ok(socket)
    }

    /// The result of a question; what comes besides is passed over.
    fn ask(&mut self, method: &str, params: &Value) -> Result<Value, String> {
        self.asked += 1;
        let id = self.asked;
        self.send(TEXT, json!({ "id": id, "method": method, "params": params }).to_string().as_bytes())?;
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            let mut answer: Value =
                serde_json::from_slice(&self.message()?).map_err(|why| format!("the inspector does not answer in JSON: {why}"))?;
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

    fn send(&mut self, kind: u8, text: &[u8]) -> Result<(), String> {
        self.stream.write_all(&frame(kind, text)).map_err(|why| format!("the inspector cannot be spoken to: {why}"))
    }

    /// The next whole message.
    fn message(&mut self) -> Result<Vec<u8>, String> {
        let mut whole = Vec::new();
        loop {
            let (last, kind, payload) = loop {
                match part(&self.came)? {
                    Some(Part { from, to, last, kind }) => {
                        let payload: Vec<u8> = self.came.drain(..to).skip(from).collect();
                        break (last, kind, payload);
                    }
                    None => self.read_more()?,
                }
            };
            match kind {
                PING => self.send(PONG, &payload)?,
                CLOSE => return Err("the inspector closed the connection".to_owned()),
                GOES_ON | TEXT => {
                    whole.extend(payload);
                    if whole.len() > profile::BYTES_MAX {
                        return Err(format!("the profile is larger than {} MB", profile::BYTES_MAX >> 20));
                    }
                    if last {
                        return Ok(whole);
                    }
                }
                _ => {}
            }
        }
    }

    fn read_more(&mut self) -> Result<(), String> {
        let mut piece = vec![0; 64 << 10];
        match self.stream.read(&mut piece) {
            Ok(0) => Err("the inspector closed the connection".to_owned()),
            Ok(read) => {
                self.came.extend_from_slice(&piece[..read]);
                Ok(())
            }
            Err(why) => Err(format!("the inspector does not answer: {why}")),
        }
    }
}

const GOES_ON: u8 = 0;
const TEXT: u8 = 1;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

/// A frame of its own. What a client sends is masked so that nothing between can be made to read it as something else; nothing is
/// between on one machine, and any mask is one.
fn frame(kind: u8, payload: &[u8]) -> Vec<u8> {
    const MASK: [u8; 4] = [0x6c, 0x6f, 0x61, 0x64];
    let mut frame = vec![0x80 | kind];
    match payload.len() {
        length @ 0..=125 => frame.push(0x80 | length as u8),
        length @ 126..=0xffff => {
            frame.push(0x80 | 126);
            frame.extend((length as u16).to_be_bytes());
        }
        length => {
            frame.push(0x80 | 127);
            frame.extend((length as u64).to_be_bytes());
        }
    }
    frame.extend(MASK);
    frame.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
    frame
}

/// A frame that came: where its payload begins and ends, whether it is the last of its message, and its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    from: usize,
    to: usize,
    last: bool,
    kind: u8,
}

/// The first frame; `None` if it is not whole yet.
fn part(came: &[u8]) -> Result<Option<Part>, String> {
    let [first, second, rest @ ..] = came else { return Ok(None) };
    if second & 0x80 != 0 {
        return Err("the inspector does not speak WebSocket".to_owned());
    }
    let number = |bytes: usize| rest.get(..bytes).map(|bytes| bytes.iter().fold(0_u64, |sum, byte| (sum << 8) | u64::from(*byte)));
    let (head, length) = match second & 0x7f {
        126 => (4, number(2)),
        127 => (10, number(8)),
        length => (2, Some(u64::from(length))),
    };
    let Some(length) = length else { return Ok(None) };
    if length > profile::BYTES_MAX as u64 {
        return Err(format!("the profile is larger than {} MB", profile::BYTES_MAX >> 20));
    }
    let end = head + length as usize;
    Ok((came.len() >= end).then_some(Part { from: head, to: end, last: first & 0x80 != 0, kind: first & 0x0f }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::sync::mpsc::channel;

    /// What an inspector of process 7 answers, in frames as awkward as they may be; the questions that it was asked.
    fn inspector() -> (Url, std::thread::JoinHandle<Vec<String>>) {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("ws://{}/an-id", socket.local_addr().unwrap()).parse().unwrap();
        let serving = std::thread::spawn(move || {
            let (mut stream, _) = socket.accept().unwrap();
            let mut byte = [0];
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                stream.read_exact(&mut byte).unwrap();
                head.push(byte[0]);
            }
            assert!(head.starts_with(b"GET /an-id HTTP/1.1\r\n"), "{}", String::from_utf8_lossy(&head));
            stream.write_all(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n").unwrap();
            let mut asked = Vec::new();
            let mut begin = [0; 6];
            while stream.read_exact(&mut begin).is_ok() {
                let mut payload = vec![0; usize::from(begin[1] & 0x7f)];
                stream.read_exact(&mut payload).unwrap();
                payload.iter_mut().zip(begin[2..].iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
                if begin[0] & 0x0f == PONG {
                    assert_eq!(payload, b"hello");
                    continue;
                }
                let question: Value = serde_json::from_slice(&payload).unwrap();
                let method = question["method"].as_str().unwrap().to_owned();
                let result = match method.as_str() {
                    "Runtime.evaluate" => json!({ "result": { "type": "number", "value": 7 } }),
                    "Profiler.stop" => json!({ "profile": { "nodes": [], "samples": [] } }),
                    _ => json!({}),
                };
                asked.push(method);
                let answer = json!({ "id": question["id"], "result": result }).to_string();
                let (first, last) = answer.split_at(answer.len() / 2);
                // An event, a ping, and the answer in two parts.
                for (head, text) in [(0x81, "{\"method\":\"Runtime.event\"}"), (0x89, "hello"), (0x01, first), (0x80, last)] {
                    stream.write_all(&[head, text.len() as u8]).unwrap();
                    stream.write_all(text.as_bytes()).unwrap();
                }
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
    fn a_frame_is_read_when_it_is_whole() {
        for length in [0_usize, 5, 125, 126, 70_000] {
            let sent = frame(TEXT, &vec![b'a'; length]);
            assert!(part(&sent).unwrap_err().contains("WebSocket"), "a server does not mask");
            let mut plain = vec![0x81];
            match length {
                0..=125 => plain.push(length as u8),
                126..=0xffff => plain.extend([&[126][..], &(length as u16).to_be_bytes()].concat()),
                _ => plain.extend([&[127][..], &(length as u64).to_be_bytes()].concat()),
            }
            let head = plain.len();
            plain.extend(vec![b'a'; length]);
            assert_eq!(part(&plain).unwrap(), Some(Part { from: head, to: head + length, last: true, kind: TEXT }));
            assert_eq!(part(&plain[..plain.len() - 1]).unwrap(), None);
            assert_eq!(sent.len(), head + 4 + length);
        }
        assert!(part(&[0x81, 127, 0xff, 0, 0, 0, 0, 0, 0, 0]).unwrap_err().contains("larger than"));
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
