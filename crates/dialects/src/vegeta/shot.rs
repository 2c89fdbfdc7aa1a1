//! One target as the bytes of its request.
//!
//! A request differs from the last one to the same target only in its number (`X-Vegeta-Seq`), so everything else is serialised
//! once, before the attack. The lines are those that Go's client writes, User-Agent and Accept-Encoding included: a server that
//! compresses for vegeta has to compress here too, or it would be another load.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use engine::protocol::http1::request;
use engine::protocol::{Encoded, EncodedRef, Layout};
use plan::{HttpVersion, Keepalive};

use super::targets::Target;
use crate::goclient::address;
use crate::url::Url;

/// A target made ready.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadyTarget {
    pub target: plan::Target,
    pub method: String,
    pub url: String,
    /// Of the body alone.
    pub body_bytes: u64,
    /// The request line.
    line: Vec<u8>,
    /// Everything behind the number.
    rest: Vec<u8>,
    /// Where the parts of both stand.
    layout: Layout,
}

/// How every request of an attack is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestOptions {
    /// The attack's name; sent if there is one.
    pub name: String,
    pub body: Body,
    pub keepalive: Keepalive,
    pub http: HttpVersion,
}

/// How the length of a body is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// Content-Length.
    Whole,
    /// In chunks.
    Chunked,
}

/// Go's client sets these itself, whatever is given.
const ITS_OWN: [&str; 4] = ["host", "content-length", "transfer-encoding", "trailer"];

impl ReadyTarget {
    /// Serialises a target.
    ///
    /// # Errors
    /// If it would not be valid on the wire, in words.
    pub fn new(target: &Target, options: &RequestOptions) -> Result<Self, String> {
        let leads = address(&target.url).ok_or_else(|| format!("bad URL: {}", target.url))?;
        let given =
            |name: &str| target.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).and_then(|(_, values)| values.first());
        let host = Url::read(&target.url).map_or_else(|| leads.authority(), |url| url.authority());
        let mut headers: Vec<(&str, String)> = vec![("Host", given("Host").cloned().unwrap_or(host))];
        if given("User-Agent").is_none() {
            let version = if options.http == HttpVersion::V2 { "2.0" } else { "1.1" };
            headers.push(("User-Agent", format!("Go-http-client/{version}")));
        }
        let mut own: BTreeMap<&str, Vec<String>> = (target.headers.iter())
            .filter(|(name, _)| !ITS_OWN.iter().any(|its| name.eq_ignore_ascii_case(its)))
            .map(|(name, values)| (name.as_str(), values.clone()))
            .collect();
        if let Some((user, password)) = leads.credentials()
            && given("Authorization").is_none()
        {
            own.insert("Authorization", vec![format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")))]);
        }
        if !options.name.is_empty() {
            own.insert("X-Vegeta-Attack", vec![options.name.clone()]);
        }
        headers.extend(own.into_iter().flat_map(|(name, values)| values.into_iter().map(move |value| (name, value))));
        if given("Accept-Encoding").is_none() && given("Range").is_none() && target.method != "HEAD" {
            headers.push(("Accept-Encoding", "gzip".to_owned()));
        }
        if options.keepalive == Keepalive::CloseEach && given("Connection").is_none() {
            headers.push(("Connection", "close".to_owned()));
        }
        let chunked = options.body == Body::Chunked && !target.body.is_empty();
        let sent: &[u8] = if chunked { &[] } else { &target.body };
        let Encoded { bytes, layout } =
            request::serialise(&target.method, leads.path_and_query(), &headers, sent).map_err(|why| why.to_string())?;
        let begin = bytes.windows(2).position(|pair| pair == b"\r\n").map_or(bytes.len(), |at| at + 2);
        let (line, rest) = bytes.split_at(begin);
        let (rest, layout) = if chunked {
            let rest = in_chunks(rest, &target.body);
            let layout = EncodedRef::read(&[line, &rest].concat()).layout();
            (rest, layout)
        } else {
            (rest.to_vec(), layout)
        };
        Ok(Self {
            target: leads,
            method: target.method.clone(),
            url: target.url.clone(),
            body_bytes: target.body.len() as u64,
            line: line.to_vec(),
            rest,
            layout,
        })
    }

    /// Leads it elsewhere, if its host and port are among these; what is sent stays.
    ///
    /// # Errors
    /// For https, where another host would need another name in the handshake; in words.
    pub fn connect_to(&mut self, places: &BTreeMap<String, String>) -> Result<(), String> {
        let host = self.target.host();
        let host = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        let Some(place) = places.get(&format!("{host}:{}", self.target.port())) else { return Ok(()) };
        if self.target.scheme() == plan::Scheme::Https {
            return Err("-connect-to is not supported for https".to_owned());
        }
        let target = format!("http://{place}{}", self.target.path_and_query()).parse();
        self.target = target.map_err(|why| format!("-connect-to {place} {why}"))?;
        Ok(())
    }

    /// The request with this number, in place of what `into` held.
    pub fn numbered(&self, number: u64, into: &mut Encoded) {
        use std::io::Write as _;
        let Encoded { bytes, layout } = into;
        bytes.clear();
        bytes.extend_from_slice(&self.line);
        let _ = write!(bytes, "X-Vegeta-Seq: {number}\r\n");
        *layout = self.layout.with_body(self.layout.body() + bytes.len() - self.line.len());
        bytes.extend_from_slice(&self.rest);
    }
}

/// The head's rest with another word on the length, and the body as one chunk.
fn in_chunks(rest: &[u8], body: &[u8]) -> Vec<u8> {
    let head = String::from_utf8_lossy(rest).replace("Content-Length: 0\r\n", "");
    let mut bytes = b"Transfer-Encoding: chunked\r\n".to_vec();
    bytes.extend_from_slice(head.as_bytes());
    bytes.extend_from_slice(format!("{:x}\r\n", body.len()).as_bytes());
    bytes.extend_from_slice(body);
    bytes.extend_from_slice(b"\r\n0\r\n\r\n");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(method: &str, url: &str, headers: &[(&str, &str)], body: &str) -> Target {
        let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
        headers.iter().for_each(|(name, value)| all.entry((*name).to_owned()).or_default().push((*value).to_owned()));
        Target { method: method.to_owned(), url: url.to_owned(), headers: all, body: body.as_bytes().to_vec() }
    }

    fn sent(target: &Target, options: &RequestOptions) -> String {
        let mut request = Encoded::default();
        ReadyTarget::new(target, options).unwrap().numbered(7, &mut request);
        assert_eq!(request.layout, EncodedRef::read(&request.bytes).layout());
        String::from_utf8(request.bytes).unwrap()
    }

    const PLAIN: RequestOptions =
        RequestOptions { name: String::new(), body: Body::Whole, keepalive: Keepalive::Reuse, http: HttpVersion::Auto };

    #[test]
    fn a_request_is_what_go_s_client_would_write() {
        assert_eq!(
            sent(&target("GET", "http://h:80/a?b", &[], ""), &PLAIN),
            "GET /a?b HTTP/1.1\r\nX-Vegeta-Seq: 7\r\nHost: h:80\r\nUser-Agent: Go-http-client/1.1\r\nAccept-Encoding: gzip\r\n\r\n"
        );
        let options = RequestOptions { name: "mine".to_owned(), keepalive: Keepalive::CloseEach, ..PLAIN };
        assert_eq!(
            sent(
                &target(
                    "POST",
                    "http://u:p@h/",
                    &[("x-b", "1"), ("x-b", "2"), ("Host", "other"), ("Content-Length", "99"), ("user-agent", "me")],
                    "hi"
                ),
                &options
            ),
            "POST / HTTP/1.1\r\nX-Vegeta-Seq: 7\r\nHost: other\r\nAuthorization: Basic dTpw\r\nX-Vegeta-Attack: mine\r\nuser-agent: me\r\nx-b: 1\r\n\
             x-b: 2\r\nAccept-Encoding: gzip\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi"
        );
        let chunked = RequestOptions { body: Body::Chunked, ..PLAIN };
        let text = sent(&target("POST", "http://h/", &[], "hello"), &chunked);
        assert!(text.contains("\r\nTransfer-Encoding: chunked\r\n") && text.ends_with("\r\n\r\n5\r\nhello\r\n0\r\n\r\n"), "{text}");
        assert!(!text.contains("Content-Length"), "{text}");
        assert!(!sent(&target("HEAD", "http://h/", &[], ""), &PLAIN).contains("Accept-Encoding"));
        let over_http2 = RequestOptions { http: HttpVersion::V2, ..PLAIN };
        assert!(sent(&target("GET", "http://h/", &[], ""), &over_http2).contains("\r\nUser-Agent: Go-http-client/2.0\r\n"));
    }

    #[test]
    fn what_would_smuggle_is_refused() {
        assert!(ReadyTarget::new(&target("GET", "http://h/", &[("A B", "1")], ""), &PLAIN).unwrap_err().contains("A B"));
        assert!(ReadyTarget::new(&target("GET", "http://h/", &[("A", "1\r\nB: 2")], ""), &PLAIN).is_err());
        assert!(ReadyTarget::new(&target("G T", "http://h/", &[], ""), &PLAIN).is_err());
    }
}
