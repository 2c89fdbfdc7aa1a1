//! Parts of an exchange as text: the headers in lines, where the request went, what a page says.
//!
//! Expressions are looked for in bodies most of all, and sometimes elsewhere: a redirect's address in the headers, a ticket in the URL that
//! was led to. Each part is made when it is asked for, as hardly any answer is asked for more than one.
//!
//! Invariant: a part is the same for the same exchange, and no longer than some constant beside what was sent and received.

use std::borrow::Cow;

use plan::work::AnswerPart;

use crate::coding;
use crate::html::ROOT;
use crate::reading::Reading;

/// An XML document of more parts is none here: each takes some tens of bytes of memory.
const XML_NODES_MAX: u32 = 1_000_000;

/// The words that servers send with a status; empty if nobody knows any.
#[must_use]
pub(crate) fn message(status: u16) -> &'static str {
    // Out of no registry, and sent all the same.
    if status == 418 { "I'm a teapot" } else { plan::registered_reason(status).unwrap_or_default() }
}

/// A part of an exchange.
pub(crate) fn text<'r>(reading: &'r Reading<'_>, part: AnswerPart) -> Cow<'r, [u8]> {
    let answer = reading.answer();
    match part {
        AnswerPart::Body => Cow::Borrowed(answer.body),
        AnswerPart::Unescaped => {
            let body = String::from_utf8_lossy(answer.body);
            let mut text = Vec::with_capacity(body.len());
            let _ = coding::decode("html", &body, &mut text);
            Cow::Owned(text)
        }
        AnswerPart::Text => {
            // Only of a page something is left out for its reader.
            let is_page = answer.body.trim_ascii_start().starts_with(b"<");
            if is_page { Cow::Owned(reading.html().line(ROOT).into_bytes()) } else { Cow::Borrowed(answer.body) }
        }
        AnswerPart::Headers => {
            let mut text = format!("HTTP/1.1 {} {}\n", answer.status, message(answer.status)).into_bytes();
            write_lines(answer.headers.iter(), &mut text);
            Cow::Owned(text)
        }
        AnswerPart::Status => Cow::Owned(answer.status.to_string().into_bytes()),
        AnswerPart::Message => Cow::Borrowed(message(answer.status).as_bytes()),
        AnswerPart::Url => Cow::Owned(url(reading).into_bytes()),
        AnswerPart::Request => {
            let (head, body) = request(reading);
            let mut text = method(head).to_vec();
            text.push(b' ');
            text.extend_from_slice(url(reading).as_bytes());
            text.extend_from_slice(b"\n\n");
            text.extend_from_slice(body);
            Cow::Owned(text)
        }
        AnswerPart::Hops => Cow::Borrowed(reading.exchange().map_or(&[][..], |exchange| exchange.hops)),
        AnswerPart::Chain => {
            let hops = reading.exchange().map_or(&[][..], |exchange| exchange.hops);
            if hops.is_empty() { Cow::Borrowed(answer.body) } else { Cow::Owned([answer.body, hops].join(&b'\n')) }
        }
        AnswerPart::RequestHeaders => {
            let (head, _) = request(reading);
            let lines = head.split(|byte| *byte == b'\n').skip(1);
            let mut text = Vec::with_capacity(head.len());
            for line in lines.map(<[u8]>::trim_ascii_end).filter(|line| !line.is_empty()) {
                text.extend_from_slice(line);
                text.push(b'\n');
            }
            Cow::Owned(text)
        }
    }
}

/// The bytes of the answer's head, as they were sent.
pub(crate) fn headers_size(reading: &Reading<'_>) -> u64 {
    let answer = reading.answer();
    // Each line ends with two letters, and the head with an empty one.
    let first = "HTTP/1.1 200 ".len() + message(answer.status).len() + 2;
    let lines: usize = answer.headers.iter().map(|(name, value)| name.len() + ": ".len() + value.len() + 2).sum();
    (first + lines + 2) as u64
}

/// The bytes of the whole answer.
pub(crate) fn total_size(reading: &Reading<'_>) -> u64 {
    reading.exchange().map_or_else(|| headers_size(reading) + reading.answer().body.len() as u64, |exchange| exchange.received)
}

/// Why a text is no XML; nothing if it is.
pub(crate) fn not_xml(text: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(text);
    let options = roxmltree::ParsingOptions { allow_dtd: true, nodes_limit: XML_NODES_MAX, ..Default::default() };
    let read = roxmltree::Document::parse_with_options(text.trim_start_matches('\u{feff}'), options);
    read.err().map(|error| error.to_string())
}

fn write_lines<'h>(headers: impl Iterator<Item = (&'h [u8], &'h [u8])>, out: &mut Vec<u8>) {
    for (name, value) in headers {
        out.extend_from_slice(name);
        out.extend_from_slice(b": ");
        out.extend_from_slice(value);
        out.push(b'\n');
    }
}

/// Head and body of the request.
fn request<'r>(reading: &Reading<'r>) -> (&'r [u8], &'r [u8]) {
    let Some(exchange) = reading.exchange() else { return (b"", b"") };
    let request = exchange.request;
    match memchr::memmem::find(request, b"\r\n\r\n") {
        Some(at) => (&request[..at], &request[at + 4..]),
        None => (request, b""),
    }
}

fn method(head: &[u8]) -> &[u8] {
    head.split(|byte| *byte == b' ').next().unwrap_or_default()
}

fn url(reading: &Reading<'_>) -> String {
    let Some(exchange) = reading.exchange() else { return String::new() };
    let (head, _) = request(reading);
    let asked = head.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
    let asked = String::from_utf8_lossy(asked);
    // A request that goes through a proxy names the whole.
    if plan::has_scheme(&asked) { asked.into_owned() } else { format!("{}{asked}", exchange.server.origin()) }
}

#[cfg(test)]
mod tests {
    use plan::Nanos;

    use super::*;
    use crate::answer::{Answer, Exchange, Headers};

    #[test]
    fn each_part_of_an_exchange_is_a_text() {
        let server = "http://shop.test:8080/".parse().unwrap();
        let request = b"POST /buy?id=7 HTTP/1.1\r\nHost: shop.test:8080\r\nX-A: b\r\n\r\nn=1";
        let answer = Answer {
            status: 404,
            headers: Headers::lines(b"Content-Type: text/html\nX-Token:  abc \n"),
            body: b"<p>a &amp; <b>b</b></p><script>x</script>",
            elapsed: Nanos::ZERO,
        };
        let reading = Reading::of_exchange(answer, Exchange { server: &server, request, received: 120, hops: b"moved" });
        let told = |part| String::from_utf8(reading.part(part).into_owned()).unwrap();
        let all = AnswerPart::ALL.map(told);
        assert_eq!(
            all,
            [
                "<p>a &amp; <b>b</b></p><script>x</script>",
                "<p>a & <b>b</b></p><script>x</script>",
                "a & b",
                "HTTP/1.1 404 Not Found\nContent-Type: text/html\nX-Token: abc\n",
                "404",
                "Not Found",
                "http://shop.test:8080/buy?id=7",
                "POST http://shop.test:8080/buy?id=7\n\nn=1",
                "Host: shop.test:8080\nX-A: b\n",
                "moved",
                "<p>a &amp; <b>b</b></p><script>x</script>\nmoved",
            ]
        );
        assert_eq!(headers_size(&reading), "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nX-Token: abc\r\n\r\n".len() as u64);
        assert_eq!(total_size(&reading), 120);
        let unknown = Reading::new(answer);
        assert_eq!(
            (unknown.part(AnswerPart::Url), unknown.part(AnswerPart::RequestHeaders)),
            (Cow::Borrowed(&b""[..]), Cow::Borrowed(&b""[..]))
        );
        assert_eq!(reading.of_text(b"{\"a\": 1}").json().unwrap()["a"], 1);
    }

    #[test]
    fn a_status_has_the_words_of_http() {
        assert_eq!((message(200), message(503), message(299), message(418)), ("OK", "Service Unavailable", "", "I'm a teapot"));
    }
}
