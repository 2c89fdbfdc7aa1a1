//! A request as it is written: one buffer, and where its parts stand.
//!
//! The buffer is what HTTP/1.1 sends, as it is, with one write. Who has to know what a request says (a redirect that is followed, a
//! signature, cookies for its path, another protocol that encodes it otherwise) asks here. Where the method ends and the body
//! begins whoever writes a request knows, and says; what stands on the first line and in the headers is looked up when somebody asks. What
//! stood here before was the buffer alone, and ten places parsed it again.
//!
//! Invariant: a request begins with its method, its target and its version on one line, followed by a line for each header, an empty
//! one, and the body.

use plan::EXPECT_CONTINUE;

/// What is done on a connection of WebSocket; a request of HTTP knows nothing of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Act {
    /// The body is sent as a message and answered by one; the connection is opened if it is not.
    #[default]
    Exchange,
    /// The connection is opened; one that stands is closed before.
    Open,
    /// The body is sent as a message and answered by one, on a connection that stands, as all that follows.
    Ask,
    /// The body is sent as a message, and nobody waits for an answer.
    Tell,
    /// A message is waited for.
    Hear,
    /// Whatever messages come are taken, until the time of the exchange is over.
    Listen,
    /// A ping is sent, and its pong waited for.
    Ping,
    /// The connection is closed with the code and reason that the body is, as it stands in a frame.
    Close,
}

/// Where the parts of a request stand in its buffer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Layout {
    body: u32,
    /// How long the method is.
    method: u16,
    is_head: bool,
    act: Act,
}

impl Layout {
    /// Of a request with this method, whose body begins there.
    #[inline]
    #[must_use]
    pub fn new(method: impl AsRef<[u8]>, body: usize) -> Self {
        let method = method.as_ref();
        Self { body: body as u32, method: u16::try_from(method.len()).unwrap_or(u16::MAX), is_head: method == b"HEAD", act: Act::Exchange }
    }

    /// The same, of which that is done over WebSocket.
    #[inline]
    #[must_use]
    pub const fn for_act(self, act: Act) -> Self {
        Self { act, ..self }
    }

    /// What is done where WebSocket is spoken.
    #[inline]
    #[must_use]
    pub const fn act(self) -> Act {
        self.act
    }

    /// The same, with a body that begins there.
    #[inline]
    #[must_use]
    pub const fn with_body(self, at: usize) -> Self {
        Self { body: at as u32, ..self }
    }

    /// Where the body begins.
    #[inline]
    #[must_use]
    pub const fn body(self) -> usize {
        self.body as usize
    }

    /// Whether the method is HEAD, whose answer is a head alone.
    #[inline]
    #[must_use]
    pub const fn is_head(self) -> bool {
        self.is_head
    }
}

/// A request as it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EncodedRef<'a> {
    bytes: &'a [u8],
    layout: Layout,
}

impl<'a> EncodedRef<'a> {
    /// These bytes, whose parts stand there.
    #[inline]
    #[must_use]
    pub const fn new(bytes: &'a [u8], layout: Layout) -> Self {
        Self { bytes, layout }
    }

    /// A request of somebody who gave its bytes alone; of several in a row the first.
    #[must_use]
    pub fn read(bytes: &'a [u8]) -> Self {
        let body = bytes.windows(4).position(|window| window == b"\r\n\r\n").map_or(bytes.len(), |end| end + 4);
        let method = bytes.iter().position(|byte| matches!(byte, b' ' | b'\r')).unwrap_or(bytes.len());
        Self { bytes, layout: Layout::new(&bytes[..method], body) }
    }

    /// All of it.
    #[inline]
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Where its parts stand.
    #[inline]
    #[must_use]
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// Its method.
    #[must_use]
    pub fn method(&self) -> &'a str {
        text(self.bytes.get(..usize::from(self.layout.method)))
    }

    /// What it asks for, as it stands in its first line.
    #[must_use]
    pub fn target(&self) -> &'a str {
        let target = text(self.bytes.get(usize::from(self.layout.method) + 1..self.line()));
        target.rsplit_once(' ').filter(|(_, version)| version.starts_with("HTTP/")).map_or(target, |(target, _)| target)
    }

    /// The path and query that it asks for, also where a proxy is asked with a whole URL; `None` if it asks for something else.
    #[must_use]
    pub fn path(&self) -> Option<&'a str> {
        let target = self.target();
        let path = match target.split_once("://") {
            Some((_, rest)) if !target.starts_with('/') => rest.find('/').map_or("", |at| &rest[at..]),
            _ => target,
        };
        path.starts_with('/').then_some(path)
    }

    /// Its headers: names, and what stands behind their colons.
    ///
    /// # Errors
    /// A line that is no header.
    pub fn headers(&self) -> Result<Vec<(&'a str, &'a [u8])>, &'a [u8]> {
        self.header_lines().collect()
    }

    /// The same one by one; a line that is no header as an error.
    pub(crate) fn header_lines(&self) -> impl Iterator<Item = Result<(&'a str, &'a [u8]), &'a [u8]>> {
        let lines = self.bytes.get(self.line()..self.layout.body()).unwrap_or_default();
        let lines = lines.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let header = |line: &'a [u8]| {
            let (name, value) = line.split_at(line.iter().position(|byte| *byte == b':')?);
            Some((std::str::from_utf8(name).ok()?, &value[1..]))
        };
        lines.filter(|line| !line.is_empty()).map(move |line| header(line).ok_or(line))
    }

    /// Its body.
    #[must_use]
    pub fn body(&self) -> &'a [u8] {
        self.bytes.get(self.layout.body()..).unwrap_or_default()
    }

    /// Its head alone.
    #[must_use]
    pub fn without_body(&self) -> Self {
        Self { bytes: self.bytes.get(..self.layout.body()).unwrap_or(self.bytes), ..*self }
    }

    /// Whether its body waits until the server says that it wants it (RFC 9110 §10.1.1).
    #[must_use]
    pub(crate) fn expects_continue(&self) -> bool {
        let (name, word) = EXPECT_CONTINUE;
        let is_it =
            |(known, value): (&str, &[u8])| known.eq_ignore_ascii_case(name) && value.trim_ascii().eq_ignore_ascii_case(word.as_bytes());
        !self.body().is_empty() && self.header_lines().flatten().any(is_it)
    }

    /// Where its first line ends.
    fn line(&self) -> usize {
        self.bytes.iter().position(|byte| *byte == b'\r').unwrap_or(self.bytes.len())
    }
}

fn text(bytes: Option<&[u8]>) -> &str {
    bytes.and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
}

/// A request in a buffer of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Encoded {
    /// All of it.
    pub bytes: Vec<u8>,
    /// Where its parts stand.
    pub layout: Layout,
}

impl Encoded {
    /// As it is sent.
    #[inline]
    #[must_use]
    pub fn as_ref(&self) -> EncodedRef<'_> {
        EncodedRef::new(&self.bytes, self.layout)
    }

    /// Puts a header line at the end of its head.
    pub fn insert(&mut self, line: &[u8]) {
        let at = self.layout.body().saturating_sub(2);
        self.bytes.splice(at..at, line.iter().copied());
        self.layout = self.layout.with_body(self.layout.body() + line.len());
    }

    /// Takes the header lines of this name out, which is written in small letters.
    pub fn remove(&mut self, name: &str) {
        let is_it =
            |line: &&[u8]| line.len() > name.len() && line[name.len()] == b':' && line[..name.len()].eq_ignore_ascii_case(name.as_bytes());
        let body = self.layout.body();
        let Some(head) = self.bytes.get(..body) else { return };
        let kept: Vec<u8> = head.split_inclusive(|byte| *byte == b'\n').filter(|line| !is_it(line)).flatten().copied().collect();
        self.layout = self.layout.with_body(kept.len());
        self.bytes.splice(..body, kept);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POST: &[u8] = b"POST /a?b HTTP/1.1\r\nHost: a.test\r\nX: 1:2\r\n\r\nx\r\n\r\ny";

    #[test]
    fn a_request_of_somebody_else_is_taken_apart() {
        let request = EncodedRef::read(POST);
        assert_eq!((request.method(), request.target(), request.body()), ("POST", "/a?b", &b"x\r\n\r\ny"[..]));
        assert_eq!(request.headers(), Ok(vec![("Host", &b" a.test"[..]), ("X", b" 1:2")]));
        assert_eq!(EncodedRef::read(b"GET / HTTP/1.1\r\nX\r\n\r\n").headers(), Err(&b"X"[..]));
        for (bytes, method, target, is_head) in [
            (&b"HEAD /a b HTTP/1.0\r\n\r\n"[..], "HEAD", "/a b", true),
            (b"GET /\r\n\r\n", "GET", "/", false),
            (b"nothing", "nothing", "", false),
            (b"", "", "", false),
        ] {
            let request = EncodedRef::read(bytes);
            assert_eq!((request.method(), request.target(), request.layout().is_head()), (method, target, is_head));
            assert_eq!((request.headers(), request.body()), (Ok(Vec::new()), &b""[..]));
        }
    }

    #[test]
    fn a_body_waits_where_its_head_says_so() {
        let expects = |head: &str| EncodedRef::read(format!("POST / HTTP/1.1\r\n{head}\r\nx").as_bytes()).expects_continue();
        assert!(expects("Host: a\r\nexpect: 100-Continue\r\n"));
        assert!(!expects("Host: a\r\n") && !expects("Expect: more\r\n") && !expects("X-Expect: 100-continue\r\n"));
        let without_body = EncodedRef::read(b"GET / HTTP/1.1\r\nExpect: 100-continue\r\n\r\n");
        assert!(!without_body.expects_continue());
        assert_eq!(EncodedRef::read(POST).without_body().bytes(), &POST[..POST.len() - 6]);
    }

    #[test]
    fn a_path_is_told_also_where_a_proxy_is_asked() {
        for (target, path) in
            [("/x/1?a=b", Some("/x/1?a=b")), ("http://a.test/x?y=http://b", Some("/x?y=http://b")), ("http://a.test", None), ("*", None)]
        {
            assert_eq!(EncodedRef::read(format!("GET {target} HTTP/1.1\r\n\r\n").as_bytes()).path(), path);
        }
    }

    #[test]
    fn header_lines_come_and_go_and_the_body_stays() {
        let mut request = Encoded { bytes: POST.to_vec(), layout: EncodedRef::read(POST).layout() };
        request.insert(b"Cookie: a=1\r\n");
        request.remove("x");
        assert_eq!(request.bytes, b"POST /a?b HTTP/1.1\r\nHost: a.test\r\nCookie: a=1\r\n\r\nx\r\n\r\ny");
        assert_eq!(request.layout, EncodedRef::read(&request.bytes).layout());
    }
}
