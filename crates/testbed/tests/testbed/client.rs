//! A blocking HTTP/1.1 client that shows everything it received.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// One connection.
pub struct Client<S = TcpStream> {
    reader: BufReader<S>,
}

/// One reply.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
    pub chunks: Vec<usize>,
}

impl Reply {
    pub fn header(&self, wanted: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case(wanted).then(|| value.trim())
        })
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

impl Client {
    pub fn connect(address: SocketAddr) -> Client {
        let stream = TcpStream::connect(address).unwrap();
        // A test that waits in vain ends with an error instead of never.
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.set_nodelay(true).unwrap();
        Client::over(stream)
    }
}

impl<S: Read + Write> Client<S> {
    pub fn over(stream: S) -> Client<S> {
        Client { reader: BufReader::new(stream) }
    }

    pub fn stream(&mut self) -> &mut S {
        self.reader.get_mut()
    }

    pub fn fetch(&mut self, path: &str) -> Reply {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: testbed\r\n\r\n"));
        self.receive().unwrap()
    }

    pub fn send(&mut self, bytes: &str) {
        self.stream().write_all(bytes.as_bytes()).unwrap();
    }

    pub fn receive(&mut self) -> io::Result<Reply> {
        let head = self.head()?;
        let status = head[9..12].parse().unwrap();
        let mut reply = Reply { status, head, body: Vec::new(), chunks: Vec::new() };
        if reply.header("transfer-encoding") == Some("chunked") {
            loop {
                let mut line = String::new();
                self.reader.read_line(&mut line)?;
                let size = usize::from_str_radix(line.trim(), 16).unwrap();
                let mut chunk = vec![0; size + 2];
                self.reader.read_exact(&mut chunk)?;
                if size == 0 {
                    break;
                }
                reply.chunks.push(size);
                reply.body.extend_from_slice(&chunk[..size]);
            }
        } else {
            let length = reply.header("content-length").map_or(0, |length| length.parse().unwrap());
            reply.body = vec![0; length];
            self.reader.read_exact(&mut reply.body)?;
        }
        Ok(reply)
    }

    /// A reply's head, with the empty line that ends it.
    pub fn head(&mut self) -> io::Result<String> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if self.reader.read_line(&mut head)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(head)
    }

    /// What comes until the stream ends, and how it ends.
    pub fn rest(&mut self) -> (Vec<u8>, io::Result<()>) {
        let mut bytes = Vec::new();
        let end = self.reader.read_to_end(&mut bytes).map(|_| ());
        (bytes, end)
    }
}
