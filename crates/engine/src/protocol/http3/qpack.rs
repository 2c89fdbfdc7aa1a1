//! Heads as HTTP/3 writes them (QPACK, RFC 9204), without the table that both sides may keep.
//!
//! A table that changes would make each stream wait for another one, and its state be told on streams of its own; since we offer none
//! (`SETTINGS_QPACK_MAX_TABLE_CAPACITY` is 0 unless said otherwise, §5), the server can use none, and we need none: a head that comes again is
//! the same bytes on every connection.

use plan::Target;

use crate::protocol::EncodedRef;
use crate::protocol::fields::{is_chunked, of_request};
use crate::protocol::prefixed::{Unreadable, number, read_text, write_number, write_text};

/// The table that does not change (RFC 9204 Appendix A), from 0 on.
const STATIC: [(&str, &str); 99] = [
    (":authority", ""),
    (":path", "/"),
    ("age", "0"),
    ("content-disposition", ""),
    ("content-length", "0"),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("referer", ""),
    ("set-cookie", ""),
    (":method", "CONNECT"),
    (":method", "DELETE"),
    (":method", "GET"),
    (":method", "HEAD"),
    (":method", "OPTIONS"),
    (":method", "POST"),
    (":method", "PUT"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "103"),
    (":status", "200"),
    (":status", "304"),
    (":status", "404"),
    (":status", "503"),
    ("accept", "*/*"),
    ("accept", "application/dns-message"),
    ("accept-encoding", "gzip, deflate, br"),
    ("accept-ranges", "bytes"),
    ("access-control-allow-headers", "cache-control"),
    ("access-control-allow-headers", "content-type"),
    ("access-control-allow-origin", "*"),
    ("cache-control", "max-age=0"),
    ("cache-control", "max-age=2592000"),
    ("cache-control", "max-age=604800"),
    ("cache-control", "no-cache"),
    ("cache-control", "no-store"),
    ("cache-control", "public, max-age=31536000"),
    ("content-encoding", "br"),
    ("content-encoding", "gzip"),
    ("content-type", "application/dns-message"),
    ("content-type", "application/javascript"),
    ("content-type", "application/json"),
    ("content-type", "application/x-www-form-urlencoded"),
    ("content-type", "image/gif"),
    ("content-type", "image/jpeg"),
    ("content-type", "image/png"),
    ("content-type", "text/css"),
    ("content-type", "text/html; charset=utf-8"),
    ("content-type", "text/plain"),
    ("content-type", "text/plain;charset=utf-8"),
    ("range", "bytes=0-"),
    ("strict-transport-security", "max-age=31536000"),
    ("strict-transport-security", "max-age=31536000; includesubdomains"),
    ("strict-transport-security", "max-age=31536000; includesubdomains; preload"),
    ("vary", "accept-encoding"),
    ("vary", "origin"),
    ("x-content-type-options", "nosniff"),
    ("x-xss-protection", "1; mode=block"),
    (":status", "100"),
    (":status", "204"),
    (":status", "206"),
    (":status", "302"),
    (":status", "400"),
    (":status", "403"),
    (":status", "421"),
    (":status", "425"),
    (":status", "500"),
    ("accept-language", ""),
    ("access-control-allow-credentials", "FALSE"),
    ("access-control-allow-credentials", "TRUE"),
    ("access-control-allow-headers", "*"),
    ("access-control-allow-methods", "get"),
    ("access-control-allow-methods", "get, post, options"),
    ("access-control-allow-methods", "options"),
    ("access-control-expose-headers", "content-length"),
    ("access-control-request-headers", "content-type"),
    ("access-control-request-method", "get"),
    ("access-control-request-method", "post"),
    ("alt-svc", "clear"),
    ("authorization", ""),
    ("content-security-policy", "script-src 'none'; object-src 'none'; base-uri 'none'"),
    ("early-data", "1"),
    ("expect-ct", ""),
    ("forwarded", ""),
    ("if-range", ""),
    ("origin", ""),
    ("purpose", "prefetch"),
    ("server", ""),
    ("timing-allow-origin", "*"),
    ("upgrade-insecure-requests", "1"),
    ("user-agent", ""),
    ("x-forwarded-for", ""),
    ("x-frame-options", "deny"),
    ("x-frame-options", "sameorigin"),
];

/// A request's head as it is sent, written once for as long as requests have the same.
#[derive(Default)]
pub(super) struct WrittenHead {
    text: Vec<u8>,
    /// Whether its body is in chunks, which HTTP/3 does not have (RFC 9114 §4.1).
    pub(super) is_chunked: bool,
    pub(super) block: Vec<u8>,
}

impl WrittenHead {
    /// Makes it that of a request to this server.
    pub(super) fn write(&mut self, request: EncodedRef<'_>, to: &Target) {
        let text = &request.bytes()[..request.layout().body().min(request.bytes().len())];
        if self.text == text {
            return;
        }
        self.text.clear();
        self.text.extend_from_slice(text);
        self.is_chunked = request.header_lines().flatten().any(|(name, value)| is_chunked(name, value));
        let block = &mut self.block;
        block.clear();
        // No entry of a table is needed, and the base is 0 (§4.5.1).
        block.extend_from_slice(&[0, 0]);
        of_request(request, to, |name, value| match known(name, value) {
            Known::Field(at) => write_number(block, 0xc0, 6, at),
            Known::Name(at) => {
                write_number(block, 0x50, 4, at);
                write_text(block, (0, 7), value);
            }
            Known::Nothing => {
                write_text(block, (0x20, 3), name.as_bytes());
                let begin = block.len() - name.len();
                block[begin..].make_ascii_lowercase();
                write_text(block, (0, 7), value);
            }
        });
    }
}

/// What the table has of a field.
enum Known {
    Field(usize),
    /// Its name alone.
    Name(usize),
    Nothing,
}

fn known(name: &str, value: &[u8]) -> Known {
    let has_name = |(known, _): &(&str, &str)| known.eq_ignore_ascii_case(name);
    let Some(first) = STATIC.iter().position(has_name) else { return Known::Nothing };
    let same = STATIC.iter().position(|entry| has_name(entry) && entry.1.as_bytes() == value);
    same.map_or(Known::Name(first), Known::Field)
}

/// Reads a head and shows its fields; names and values that do not stand in the table go through `text`.
pub(super) fn read(block: &[u8], text: &mut Vec<u8>, mut field: impl FnMut(&[u8], &[u8])) -> Result<(), Unreadable> {
    let mut rest = block;
    if number(&mut rest, 8)? != 0 {
        // It needs entries of a table that there is not.
        return Err(Unreadable);
    }
    number(&mut rest, 7)?;
    while let Some(first) = rest.first().copied() {
        text.clear();
        let split = match first {
            0xc0.. => {
                let (name, value) = entry(number(&mut rest, 6)?)?;
                field(name.as_bytes(), value.as_bytes());
                continue;
            }
            0x50..=0x5f | 0x70..=0x7f => {
                text.extend_from_slice(entry(number(&mut rest, 4)?)?.0.as_bytes());
                text.len()
            }
            0x20..=0x3f => {
                read_text(&mut rest, 3, text)?;
                text.len()
            }
            _ => return Err(Unreadable),
        };
        read_text(&mut rest, 7, text)?;
        let (name, value) = text.split_at(split);
        field(name, value);
    }
    Ok(())
}

fn entry(at: usize) -> Result<(&'static str, &'static str), Unreadable> {
    STATIC.get(at).copied().ok_or(Unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(block: &[u8]) -> Result<Vec<String>, Unreadable> {
        let mut fields = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        read(block, &mut Vec::new(), |name, value| fields.push(format!("{}: {}", text(name), text(value))))?;
        Ok(fields)
    }

    #[test]
    fn what_is_written_is_read_again() {
        let request = b"PUT /a?b=c HTTP/1.1\r\nHost: a.test:81\r\nX-One:  1 \r\nnone\r\nConnection: close\r\nAccept: */*\r\nUser-Agent: me\r\nContent-Length: 2\r\n\r\nhi";
        let mut head = WrittenHead::default();
        head.write(EncodedRef::read(request), &"https://other.test/".parse().unwrap());
        let wanted = [
            ":method: PUT",
            ":scheme: https",
            ":authority: a.test:81",
            ":path: /a?b=c",
            "x-one: 1",
            "accept: */*",
            "user-agent: me",
            "content-length: 2",
        ];
        assert_eq!(shown(&head.block).unwrap(), wanted);
        let long = "x".repeat(5_000);
        head.write(
            EncodedRef::read(format!("GET / HTTP/1.1\r\nA-Very-Long-Name: {long}\r\n\r\n").as_bytes()),
            &"https://h/".parse().unwrap(),
        );
        assert_eq!(shown(&head.block).unwrap()[4], format!("a-very-long-name: {long}"));
        assert_eq!(head.block[2], 0xc0 | 17, "GET is one byte");
    }

    /// RFC 9204 Appendix B.1 and B.2, as far as they need no table that changes.
    #[test]
    fn the_example_of_the_standard_is_read_and_what_needs_a_table_is_refused() {
        let literal = [&[0, 0, 0x51, 0x0b][..], b"/index.html"].concat();
        assert_eq!(shown(&literal).unwrap(), [":path: /index.html"]);
        assert_eq!(shown(&[0x03, 0x81, 0x10, 0x11]), Err(Unreadable));
        assert_eq!(shown(&[0, 0, 0x80]), Err(Unreadable));
        assert_eq!(shown(&[0, 0, 0x10]), Err(Unreadable));
        assert_eq!(shown(&[0, 0, 0xff, 0x24]), Err(Unreadable), "entry 99");
        assert_eq!(shown(&[0, 0, 0xff, 0x23]).unwrap(), ["x-frame-options: sameorigin"]);
        for cut in 1..literal.len() {
            assert!(cut == 2 || shown(&literal[..cut]).is_err(), "{cut}");
        }
    }
}
