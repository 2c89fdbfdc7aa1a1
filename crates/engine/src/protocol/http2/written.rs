//! A request's head as it is sent, written once for as long as requests have the same (RFC 7541).
//!
//! A head that is new is written without the table that both sides keep: so it is the same bytes on every connection, and a head that
//! differs each time costs the server's table nothing. One that comes again has two more forms: one that puts its fields into the table of a
//! connection, and one of about a byte a field, for each time after it. A table for all that is ever sent was the alternative, in which each
//! head had to be looked up field by field; here a connection holds the fields of one head or none, so its form is chosen by a number.

use plan::Target;

use super::hpack::{ENTRY_BYTES, STATIC};
use crate::protocol::EncodedRef;
use crate::protocol::fields::{is_chunked, of_request};
use crate::protocol::prefixed::{write_number, write_text};

/// A head as HTTP/1 has it, and as it is sent.
#[derive(Default)]
pub(super) struct WrittenHead {
    /// Of all that were written one after the other, from 1 on.
    pub(super) number: u64,
    text: Vec<u8>,
    is_tls: bool,
    /// Whether its body is in chunks, which HTTP/2 does not have (RFC 9113 §8.1).
    pub(super) is_chunked: bool,
    /// Without the table.
    pub(super) plain: Vec<u8>,
    /// What puts its fields into the table, where it holds nothing; empty until the head comes again.
    pub(super) keeping: Vec<u8>,
    /// What stands for the same fields, once they are all that is in the table.
    pub(super) kept: Vec<u8>,
    /// How much of the table they take.
    pub(super) table_bytes: usize,
}

impl WrittenHead {
    /// Makes it that of a request to this server.
    pub(super) fn write(&mut self, request: EncodedRef<'_>, to: &Target) {
        let text = &request.bytes()[..request.layout().body().min(request.bytes().len())];
        let is_tls = to.scheme().is_tls();
        if self.text == text && self.is_tls == is_tls {
            if self.keeping.is_empty() {
                self.write_again(request, to);
            }
            return;
        }
        self.number += 1;
        self.is_tls = is_tls;
        self.is_chunked = request.header_lines().flatten().any(|(name, value)| is_chunked(name, value));
        [&mut self.text, &mut self.plain, &mut self.keeping, &mut self.kept].into_iter().for_each(Vec::clear);
        self.text.extend_from_slice(text);
        of_request(request, to, |name, value| match known(name, value) {
            Known::Field(at) => write_number(&mut self.plain, 0x80, 7, at),
            Known::Name(at) => write_literal(&mut self.plain, (0, 4), at, name, value),
        });
    }

    /// The forms for each time after the first.
    fn write_again(&mut self, request: EncodedRef<'_>, to: &Target) {
        self.table_bytes = 0;
        let mut entries = 0;
        let mut order = Vec::new();
        of_request(request, to, |name, value| match known(name, value) {
            Known::Field(at) => {
                write_number(&mut self.keeping, 0x80, 7, at);
                order.push(Ok(at));
            }
            Known::Name(at) => {
                write_literal(&mut self.keeping, (0x40, 6), at, name, value);
                order.push(Err(entries));
                entries += 1;
                self.table_bytes += name.len() + value.len() + ENTRY_BYTES;
            }
        });
        for place in order {
            // The newest entry is the first behind the table that does not change.
            let at = place.unwrap_or_else(|entry| STATIC.len() + entries - entry);
            write_number(&mut self.kept, 0x80, 7, at);
        }
    }
}

/// Where the table that does not change has a field, from 1 on.
enum Known {
    Field(usize),
    /// Its name alone; 0 if not even that.
    Name(usize),
}

fn known(name: &str, value: &[u8]) -> Known {
    let has_name = |(known, _): &(&str, &str)| known.eq_ignore_ascii_case(name);
    let Some(first) = STATIC.iter().position(has_name) else { return Known::Name(0) };
    let same = STATIC[first..].iter().take_while(|entry| has_name(entry)).position(|(_, known)| known.as_bytes() == value);
    same.map_or(Known::Name(first + 1), |same| Known::Field(first + same + 1))
}

/// A field in letters behind these first bits (RFC 7541 §6.2), its name in small letters (RFC 9113 §8.2).
fn write_literal(out: &mut Vec<u8>, (kind, bits): (u8, u32), known: usize, name: &str, value: &[u8]) {
    write_number(out, kind, bits, known);
    if known == 0 {
        write_text(out, (0, 7), name.as_bytes());
        let begin = out.len() - name.len();
        out[begin..].make_ascii_lowercase();
    }
    write_text(out, (0, 7), value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::http2::hpack::Reader;

    fn target(url: &str) -> Target {
        url.parse().unwrap()
    }

    fn read(reader: &mut Reader, block: &[u8]) -> Vec<String> {
        let mut fields = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        reader.read(block, |name, value| fields.push(format!("{}: {}", text(name), text(value)))).unwrap();
        fields
    }

    #[test]
    fn what_is_written_is_read_again() {
        let request =
            b"PUT /a?b=c HTTP/1.1\r\nHost: a.test:81\r\nX-One:  1 \r\nnone\r\nConnection: close\r\nTE: gzip\r\nContent-Length: 2\r\n\r\nhi";
        let mut head = WrittenHead::default();
        head.write(EncodedRef::read(request), &target("https://other.test/"));
        let wanted = [":method: PUT", ":scheme: https", ":authority: a.test:81", ":path: /a?b=c", "x-one: 1", "content-length: 2"];
        assert_eq!(read(&mut Reader::default(), &head.plain), wanted);
        head.write(EncodedRef::read(b"GET / HTTP/1.1\r\n\r\n"), &target("http://other.test/"));
        assert_eq!(read(&mut Reader::default(), &head.plain), [":method: GET", ":scheme: http", ":authority: other.test", ":path: /"]);
        assert_eq!(head.number, 2);
        let long = "x".repeat(5_000);
        head.write(EncodedRef::read(format!("GET / HTTP/1.1\r\nA: {long}\r\n\r\n").as_bytes()), &target("http://other.test/"));
        assert_eq!(read(&mut Reader::default(), &head.plain)[4], format!("a: {long}"));
    }

    #[test]
    fn a_head_that_comes_again_takes_a_byte_a_field_once_its_fields_are_in_the_table() {
        let request = EncodedRef::read(
            b"GET /a HTTP/1.1\r\nHost: a.test\r\nX-One: 1\r\nAccept-Encoding: gzip, deflate\r\nX-One: 1\r\nUser-Agent: me\r\n\r\n",
        );
        let mut head = WrittenHead::default();
        head.write(request, &target("http://a.test/"));
        assert!(head.keeping.is_empty());
        head.write(request, &target("http://a.test/"));
        let mut reader = Reader::default();
        let fields = read(&mut reader, &head.plain);
        assert_eq!(fields.len(), 8);
        for form in [&head.plain, &head.keeping, &head.kept, &head.kept] {
            assert_eq!(read(&mut reader, form), fields);
        }
        assert_eq!((head.number, head.kept.len()), (1, 8));
        assert_eq!(head.table_bytes, reader.size());
        // Over TLS it is another.
        head.write(request, &target("https://a.test/"));
        assert!((head.number, head.keeping.len()) == (2, 0) && head.plain.contains(&0x87));
    }
}
