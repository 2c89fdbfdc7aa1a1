//! The bytes of a request, from a line of a log or from a captured request.
//!
//! A log names a path, and may say who asked (`User-Agent`) and from where (`Referer`); everything else is the plan's, written once. A
//! captured request brings its own headers and body: they are sent as they were but for what belongs to the connection and to the place.
//! What the user gave by name goes over both.
//!
//! Invariant: what a log holds cannot end the request line or a header, whatever bytes it has.

use engine::RunError;
use engine::protocol::{Encoded, Layout};
use import::{Entry, sendable, unescaped};
use plan::Plan;

use crate::pick::is_safe;

/// What requests of a run have in common.
#[derive(Debug)]
pub(crate) struct Writer {
    /// Before the path: scheme and host where a proxy is asked.
    before: Vec<u8>,
    /// The plan's headers, a line each.
    headers: Vec<Line>,
    /// All of them.
    all: Vec<u8>,
    /// All but what is said of who asks where nobody says otherwise.
    without_agent: Vec<u8>,
    /// Whether bodies wait for the server's word.
    expects_continue: bool,
}

#[derive(Debug)]
struct Line {
    name: String,
    bytes: Vec<u8>,
    /// Whether it stands back behind a captured one: what is sent where nobody says otherwise.
    is_default: bool,
}

/// Headers of a captured request that are of its connection, its place or its length.
const ITS_OWN: [&[u8]; 12] = [
    b"host",
    b"connection",
    b"keep-alive",
    b"proxy-connection",
    b"proxy-authorization",
    b"upgrade",
    b"te",
    b"trailer",
    b"expect",
    b"content-length",
    b"transfer-encoding",
    b"http2-settings",
];

impl Writer {
    /// For requests of this plan.
    ///
    /// # Errors
    /// If its headers would not be valid on the wire.
    pub(crate) fn new(plan: &Plan) -> Result<Self, RunError> {
        let head = engine::head(plan, &plan.target().clone().with_path_and_query("/".to_owned()), "GET", &plan.request().headers)?;
        let end = head.iter().position(|letter| *letter == b'\n').unwrap_or(head.len());
        let before = head.get(4..end.saturating_sub("/ HTTP/1.1\r".len())).unwrap_or_default().to_vec();
        let all = head[(end + 1).min(head.len())..].to_vec();
        let headers: Vec<Line> = all.split_inclusive(|letter| *letter == b'\n').filter(|line| line.len() > 2).map(Line::of).collect();
        let others = headers.iter().filter(|line| !(line.is_default && line.name == "user-agent"));
        let without_agent = others.flat_map(|line| line.bytes.iter().copied()).collect();
        Ok(Self { before, headers, all, without_agent, expects_continue: plan.expects_continue() })
    }

    /// A request for this path and query, as a log has them.
    pub(crate) fn write(&self, entry: &Entry<'_>, path_and_query: &[u8]) -> Encoded {
        let sent = entry.sent.unwrap_or_default();
        let mut bytes = Vec::with_capacity(64 + path_and_query.len() + self.all.len() + sent.len());
        bytes.extend_from_slice(entry.method);
        bytes.push(b' ');
        bytes.extend_from_slice(&self.before);
        sendable(path_and_query, &mut bytes);
        bytes.extend_from_slice(b" HTTP/1.1\r\n");
        if entry.sent.is_some() {
            let body = self.write_captured(entry.method, sent, &mut bytes);
            return Encoded { bytes, layout: Layout::new(entry.method, body) };
        }
        let agent = entry.agent.filter(|_| !self.is_given("user-agent"));
        let referer = entry.referer.filter(|_| !self.is_given("referer"));
        bytes.extend_from_slice(if agent.is_some() { &self.without_agent } else { &self.all });
        for (name, value) in [("User-Agent: ", agent), ("Referer: ", referer)] {
            if let Some(value) = value {
                bytes.extend_from_slice(name.as_bytes());
                unescaped(value, &mut bytes);
                bytes.extend_from_slice(b"\r\n");
            }
        }
        if !is_safe(entry.method) {
            bytes.extend_from_slice(b"Content-Length: 0\r\n");
        }
        bytes.extend_from_slice(b"\r\n");
        let layout = Layout::new(entry.method, bytes.len());
        Encoded { bytes, layout }
    }

    /// Whether the user gave a header of this name.
    fn is_given(&self, name: &str) -> bool {
        self.headers.iter().any(|line| !line.is_default && line.name == name)
    }

    /// Writes the headers and the body of a captured request; where the body begins.
    fn write_captured(&self, method: &[u8], sent: &[u8], bytes: &mut Vec<u8>) -> usize {
        let (head, body) = parts(sent);
        let captured: Vec<(&[u8], &[u8])> = head
            .split(|letter| *letter == b'\n')
            .skip(1)
            .filter_map(|line| {
                let line = line.strip_suffix(b"\r").unwrap_or(line);
                let colon = memchr::memchr(b':', line).filter(|colon| *colon > 0)?;
                is_field(&line[..colon], &line[colon + 1..]).then(|| (&line[..colon], line))
            })
            .collect();
        let is_captured = |name: &str| captured.iter().any(|(known, _)| known.eq_ignore_ascii_case(name.as_bytes()));
        for line in self.headers.iter().filter(|line| !line.is_default || !is_captured(&line.name)) {
            bytes.extend_from_slice(&line.bytes);
        }
        let is_chunked = captured
            .iter()
            .any(|(name, line)| name.eq_ignore_ascii_case(b"transfer-encoding") && line.to_ascii_lowercase().ends_with(b"chunked"));
        for (name, line) in &captured {
            let lower = name.to_ascii_lowercase();
            let is_given = std::str::from_utf8(&lower).is_ok_and(|lower| self.is_given(lower));
            if !ITS_OWN.contains(&lower.as_slice()) && !is_given {
                bytes.extend_from_slice(line);
                bytes.extend_from_slice(b"\r\n");
            }
        }
        if is_chunked {
            bytes.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
        } else if !body.is_empty() || !is_safe(method) {
            bytes.extend_from_slice(format!("Content-Length: {}\r\n", body.len()).as_bytes());
        }
        if self.expects_continue && !body.is_empty() && !self.is_given("expect") {
            bytes.extend_from_slice(b"Expect: 100-continue\r\n");
        }
        bytes.extend_from_slice(b"\r\n");
        bytes.extend_from_slice(body);
        bytes.len() - body.len()
    }
}

impl Line {
    fn of(line: &[u8]) -> Self {
        let text = String::from_utf8_lossy(line);
        let (name, value) = text.split_once(':').unwrap_or((&text, ""));
        let (name, value) = (name.to_ascii_lowercase(), value.trim());
        let is_default = (name == "user-agent" && value.starts_with("loadline/")) || (name == "accept" && value == "*/*");
        Self { name, bytes: line.to_vec(), is_default }
    }
}

/// Whether a line can be a header: a name of letters that may stand there, and nothing that steers.
fn is_field(name: &[u8], value: &[u8]) -> bool {
    name.iter().all(|letter| letter.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(letter))
        && value.iter().all(|letter| *letter == b'\t' || (*letter >= b' ' && *letter != 0x7f))
}

/// Head and body.
fn parts(sent: &[u8]) -> (&[u8], &[u8]) {
    let crlf = memchr::memmem::find(sent, b"\r\n\r\n").map(|at| (at, at + 4));
    let lf = memchr::memmem::find(sent, b"\n\n").map(|at| (at, at + 2));
    let end = match (crlf, lf) {
        (Some(crlf), Some(lf)) => Some(crlf.min(lf)),
        (one, other) => one.or(other),
    };
    end.map_or((sent, &[]), |(head, body)| (&sent[..head], &sent[body..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::protocol::EncodedRef;
    use plan::Draft;
    use proptest::prelude::*;

    fn plan(settings: impl FnOnce(&mut Draft)) -> Plan {
        let mut draft = Draft { url: Some("http://a.test:81/".to_owned()), ..Draft::default() };
        settings(&mut draft);
        Plan::try_from(draft).unwrap_or_else(|errors| panic!("{errors:?}"))
    }

    fn entry<'a>(method: &'a str, sent: Option<&'a str>) -> Entry<'a> {
        Entry {
            start_ns: 0,
            stamp_ns: 0,
            offset_s: 0,
            method: method.as_bytes(),
            path: b"/",
            target: b"/",
            named_host: None,
            status: 200,
            bytes: None,
            took_ns: None,
            client: None,
            agent: None,
            referer: None,
            sent: sent.map(str::as_bytes),
            is_partial: false,
        }
    }

    fn written(plan: &Plan, entry: &Entry<'_>, target: &[u8]) -> String {
        let request = Writer::new(plan).unwrap().write(entry, target);
        assert_eq!(request.layout, EncodedRef::read(&request.bytes).layout());
        String::from_utf8(request.bytes).unwrap()
    }

    #[test]
    fn a_line_becomes_a_request_with_the_plans_headers() {
        let plain = plan(|draft| draft.header = vec!["User-Agent: me".to_owned(), "X-Test: 1".to_owned()]);
        assert_eq!(
            written(&plain, &entry("GET", None), b"/a?b=c"),
            "GET /a?b=c HTTP/1.1\r\nHost: a.test:81\r\nAccept: */*\r\nUser-Agent: me\r\nX-Test: 1\r\n\r\n"
        );
        assert!(written(&plain, &entry("POST", None), b"/").ends_with("X-Test: 1\r\nContent-Length: 0\r\n\r\n"));
        let proxied = plan(|draft| draft.proxy = Some("http://p.test:8080".to_owned()));
        assert!(written(&proxied, &entry("GET", None), b"/a").starts_with("GET http://a.test:81/a HTTP/1.1\r\nHost: a.test:81\r\n"));
    }

    #[test]
    fn who_asked_and_from_where_is_sent_as_the_log_has_it() {
        let asked = Entry {
            agent: Some(b"shop \\x22q\\x22 \\x0d\\x0aHost: evil"),
            referer: Some(b"https://a.test/?b=\\\"c\\\""),
            ..entry("GET", None)
        };
        let said = "User-Agent: shop \"q\" Host: evil\r\nReferer: https://a.test/?b=\"c\"\r\n\r\n";
        let plain = written(&plan(|_| ()), &asked, b"/");
        assert!(plain.ends_with(said) && plain.matches("User-Agent").count() == 1, "{plain}");
        let given = written(&plan(|draft| draft.header = vec!["User-Agent: me".to_owned()]), &asked, b"/");
        assert!(given.contains("User-Agent: me\r\nReferer: ") && !given.contains("shop"), "{given}");
    }

    #[test]
    fn what_may_not_stand_in_a_request_line_is_encoded() {
        let plain = plan(|_| ());
        for (target, sent) in [
            (&b"/a b"[..], "/a%20b"),
            (b"/\\x22\\xC3\\xA4", "/%22%C3%A4"),
            ("/ä".as_bytes(), "/%C3%A4"),
            (b"/x\r\nHost: evil", "/x%0D%0AHost:%20evil"),
            (b"/a\\x2Fb", "/a/b"),
            (b"/back\\slash", "/back\\slash"),
            (b"/\\\"q\\\"", "/%22q%22"),
        ] {
            assert!(written(&plain, &entry("GET", None), target).starts_with(&format!("GET {sent} HTTP/1.1\r\n")), "{sent}");
        }
    }

    #[test]
    fn a_captured_request_keeps_its_headers_and_its_body() {
        let raw = "POST /n HTTP/1.1\r\nHost: old\r\nUser-Agent: curl\r\nCookie: a=b\r\nConnection: close\r\nX-Test: 0\r\n:path: /n\r\nContent-Length: 3\r\n\r\nn=7";
        let given = plan(|draft| draft.header = vec!["X-Test: 1".to_owned()]);
        assert_eq!(
            written(&given, &entry("POST", Some(raw)), b"/m"),
            "POST /m HTTP/1.1\r\nHost: a.test:81\r\nAccept: */*\r\nX-Test: 1\r\nUser-Agent: curl\r\nCookie: a=b\r\nContent-Length: 3\r\n\r\nn=7"
        );
        let chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nn=7\r\n0\r\n\r\n";
        assert!(written(&given, &entry("POST", Some(chunked)), b"/").ends_with("Transfer-Encoding: chunked\r\n\r\n3\r\nn=7\r\n0\r\n\r\n"));
        assert!(written(&given, &entry("GET", Some("GET / HTTP/1.1\r\nHost: x")), b"/").ends_with("\r\n\r\n"));
    }

    proptest! {
        #[test]
        fn no_target_ends_the_request_line(target in prop::collection::vec(any::<u8>(), 0..40)) {
            let request = Writer::new(&plan(|_| ())).unwrap().write(&entry("GET", None), &target).bytes;
            let line = request.split(|letter| *letter == b'\n').next().unwrap();
            prop_assert_eq!(line.iter().filter(|letter| **letter == b' ').count(), 2);
            prop_assert!(line.ends_with(b" HTTP/1.1\r"));
            prop_assert!(line[..line.len() - 1].iter().all(|letter| (b' '..=b'~').contains(letter)));
        }
    }
}
