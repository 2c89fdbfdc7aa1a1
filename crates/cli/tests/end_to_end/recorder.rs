//! A server that keeps every request as it came and answers each after the same time.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// The server, on a free port, until the test's process ends.
pub struct Recorder {
    pub url: String,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Recorder {
    /// Answers each request after `delay` with `status`, and a body of two bytes.
    pub fn start(delay: Duration, status: u16) -> Self {
        Self::answering(delay, format!("HTTP/1.1 {status} X\r\nServer: recorder/1.0 (test)\r\nContent-Length: 2\r\n\r\nok"))
    }

    /// The same with a Location.
    pub fn start_leading(delay: Duration, status: u16, location: &str) -> Self {
        Self::answering(delay, format!("HTTP/1.1 {status} X\r\nLocation: {location}\r\nContent-Length: 2\r\n\r\nok"))
    }

    /// Answers each request with this page and a cookie.
    pub fn start_page(html: &str) -> Self {
        let head = "Content-Type: text/html; charset=utf-8\r\nSet-Cookie: seen=1; Path=/";
        Self::answering(Duration::ZERO, format!("HTTP/1.1 200 X\r\n{head}\r\nContent-Length: {}\r\n\r\n{html}", html.len()))
    }

    /// Answers each request as this says: a whole answer, head and body.
    pub fn start_with(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        Self::listening(Duration::ZERO, Arc::new(answer))
    }

    fn answering(delay: Duration, answer: String) -> Self {
        Self::listening(delay, Arc::new(move |_: &str| answer.clone()))
    }

    fn listening(delay: Duration, answer: Arc<dyn Fn(&str) -> String + Send + Sync>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let heads = Arc::new(Mutex::new(Vec::new()));
        let kept = heads.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, answer) = (kept.clone(), answer.clone());
                thread::spawn(move || serve(stream, delay, &*answer, &kept));
            }
        });
        Self { url, heads }
    }

    /// The requests since the last time it was asked, as they came.
    pub fn raw(&self) -> Vec<String> {
        std::mem::take(&mut *self.heads.lock().unwrap())
    }

    /// The different requests since the last time it was asked, each with its header lines sorted: wrk sends them in no order.
    pub fn requests(&self) -> Vec<String> {
        let mut requests: Vec<String> = std::mem::take(&mut *self.heads.lock().unwrap()).iter().map(|head| sorted(head)).collect();
        requests.sort();
        requests.dedup();
        requests
    }
}

fn sorted(request: &str) -> String {
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let (line, rest) = head.split_once("\r\n").unwrap_or((head, ""));
    let mut lines: Vec<&str> = rest.split("\r\n").collect();
    lines.sort_unstable();
    format!("{line}\r\n{}\r\n\r\n{body}", lines.join("\r\n"))
}

fn serve(mut stream: TcpStream, delay: Duration, says: &dyn Fn(&str) -> String, kept: &Mutex<Vec<String>>) {
    let _ = stream.set_nodelay(true);
    let mut buffer = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") else {
            match stream.read(&mut piece) {
                Ok(0) | Err(_) => return,
                Ok(read) => buffer.extend_from_slice(&piece[..read]),
            }
            continue;
        };
        let head = String::from_utf8_lossy(&buffer[..end]).to_ascii_lowercase();
        let body: usize = head.split_once("content-length: ").map_or(0, |(_, rest)| rest.lines().next().unwrap().parse().unwrap());
        if buffer.len() < end + 4 + body {
            match stream.read(&mut piece) {
                Ok(0) | Err(_) => return,
                Ok(read) => buffer.extend_from_slice(&piece[..read]),
            }
            continue;
        }
        // HTTP/1.0 keeps a connection only if asked to.
        let keeps = !head.contains(" http/1.0\r\n") || head.contains("\r\nconnection: keep-alive");
        let keep = if head.contains(" http/1.0\r\n") && keeps { "Connection: keep-alive\r\n" } else { "" };
        let request: Vec<u8> = buffer.drain(..end + 4 + body).collect();
        let request = String::from_utf8(request).unwrap();
        let answer = says(&request);
        let end = if request.starts_with("HEAD ") { answer.find("\r\n\r\n").unwrap() + 4 } else { answer.len() };
        kept.lock().unwrap().push(request);
        thread::sleep(delay);
        let (status_line, rest) = answer[..end]
            .split_once(
                "
",
            )
            .unwrap();
        let reply = format!(
            "{status_line}
{keep}{rest}"
        );
        if stream.write_all(reply.as_bytes()).is_err() || !keeps {
            return;
        }
    }
}

/// An answer as bytes: `headers` are whole lines.
pub fn answer(status: u16, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status} X\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
}

/// The value of a header of a request, empty if it has none.
pub fn header<'a>(name: &str, request: &'a str) -> &'a str {
    let lines = request.split("\r\n\r\n").next().unwrap().lines();
    lines.filter_map(|line| line.split_once(": ")).find(|(found, _)| found.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value)
}

/// Method and path of a request.
pub fn line(request: &str) -> &str {
    request.lines().next().unwrap_or_default().trim_end_matches(" HTTP/1.1")
}

/// How often each was asked for.
pub fn counts(requests: &[String]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    requests.iter().for_each(|request| *counts.entry(line(request).to_owned()).or_default() += 1);
    counts
}
