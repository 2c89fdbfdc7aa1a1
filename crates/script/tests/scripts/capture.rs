//! A server that answers every request with what its path names, and keeps the bytes of all of them, by connection.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A running server. Its threads end with the test's process.
pub struct Capture {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Vec<String>>>>,
}

impl Capture {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = requests.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let kept = kept.clone();
                let place = {
                    let mut kept: std::sync::MutexGuard<'_, Vec<Vec<String>>> = kept.lock().unwrap();
                    kept.push(Vec::new());
                    kept.len() - 1
                };
                thread::spawn(move || serve(stream, |request| kept.lock().unwrap()[place].push(request.to_owned())));
            }
        });
        Self { address, requests }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Every request, connection after connection.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().concat()
    }

    /// The requests of each connection that had any.
    pub fn connections(&self) -> Vec<Vec<String>> {
        self.requests.lock().unwrap().iter().filter(|requests| !requests.is_empty()).cloned().collect()
    }

    /// Method and path of every request.
    pub fn lines(&self) -> Vec<String> {
        self.requests().iter().map(|request| request.lines().next().unwrap().trim_end_matches(" HTTP/1.1").to_owned()).collect()
    }

    pub fn forget(&self) {
        self.requests.lock().unwrap().iter_mut().for_each(Vec::clear);
    }
}

fn serve(mut stream: TcpStream, mut keep: impl FnMut(&str)) {
    let mut buffer = Vec::new();
    let mut piece = [0; 64 * 1024];
    loop {
        let mut answers = Vec::new();
        while let Some(length) = whole_request(&buffer) {
            let request = String::from_utf8_lossy(&buffer[..length]).into_owned();
            buffer.drain(..length);
            answers.extend(answer(&request));
            keep(&request);
        }
        if stream.write_all(&answers).is_err() {
            return;
        }
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => return,
            Ok(count) => buffer.extend_from_slice(&piece[..count]),
        }
    }
}

fn whole_request(bytes: &[u8]) -> Option<usize> {
    let head = bytes.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
    let length = text.lines().find_map(|line| line.strip_prefix("content-length:")).map_or(0, |value| value.trim().parse().unwrap());
    (bytes.len() >= head + length).then_some(head + length)
}

fn answer(request: &str) -> Vec<u8> {
    let path = request.split(' ').nth(1).unwrap_or_default();
    let (status, head, body) = match path {
        "/login" => ("200 OK", "X-Token: s3cret\r\n", "in".to_owned()),
        "/fail" => ("503 Unavailable", "", "not now".to_owned()),
        "/twice" => ("200 OK", "X-Many: first\r\nX-Many: second\r\n", "two".to_owned()),
        "/empty" => ("200 OK", "", String::new()),
        "/large" => ("200 OK", "", "x".repeat(300_000)),
        "/chunked" => {
            let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
            return chunked.as_bytes().to_vec();
        }
        "/binary" => {
            let mut answer = b"HTTP/1.1 200 OK\r\nServer: capture\r\nContent-Length: 256\r\n\r\n".to_vec();
            answer.extend(0..=255);
            return answer;
        }
        path => ("200 OK", "", format!("you asked for {path}")),
    };
    format!("HTTP/1.1 {status}\r\nServer: capture\r\n{head}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}
