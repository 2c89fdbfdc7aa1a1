//! Heads of answers as HTTP/2 writes them (HPACK, RFC 7541).
//!
//! They may use the table that both sides keep, as servers do towards browsers. Who does not look at headers gets no copies of them; and
//! where a head comes with the same bytes as the last one and neither changes the table, it is decided again
//! as it was.
//!
//! Invariant: the work of a head is bounded by its own bytes, whatever they point to, and the table by the size that we told.

use std::collections::VecDeque;

use crate::protocol::prefixed::{Unreadable, number, read_text};

/// The size of the table that a server may use: what every client has that does not say otherwise (RFC 9113 §6.5.2).
pub(super) const TABLE_BYTES: usize = 4096;

/// What an entry counts beside its bytes (RFC 7541 §4.1).
pub(super) const ENTRY_BYTES: usize = 32;

/// The table that does not change (RFC 7541 Appendix A), from 1 on.
pub(super) const STATIC: [(&str, &str); 61] = [
    (":authority", ""),
    (":method", "GET"),
    (":method", "POST"),
    (":path", "/"),
    (":path", "/index.html"),
    (":scheme", "http"),
    (":scheme", "https"),
    (":status", "200"),
    (":status", "204"),
    (":status", "206"),
    (":status", "304"),
    (":status", "400"),
    (":status", "404"),
    (":status", "500"),
    ("accept-charset", ""),
    ("accept-encoding", "gzip, deflate"),
    ("accept-language", ""),
    ("accept-ranges", ""),
    ("accept", ""),
    ("access-control-allow-origin", ""),
    ("age", ""),
    ("allow", ""),
    ("authorization", ""),
    ("cache-control", ""),
    ("content-disposition", ""),
    ("content-encoding", ""),
    ("content-language", ""),
    ("content-length", ""),
    ("content-location", ""),
    ("content-range", ""),
    ("content-type", ""),
    ("cookie", ""),
    ("date", ""),
    ("etag", ""),
    ("expect", ""),
    ("expires", ""),
    ("from", ""),
    ("host", ""),
    ("if-match", ""),
    ("if-modified-since", ""),
    ("if-none-match", ""),
    ("if-range", ""),
    ("if-unmodified-since", ""),
    ("last-modified", ""),
    ("link", ""),
    ("location", ""),
    ("max-forwards", ""),
    ("proxy-authenticate", ""),
    ("proxy-authorization", ""),
    ("range", ""),
    ("referer", ""),
    ("refresh", ""),
    ("retry-after", ""),
    ("server", ""),
    ("set-cookie", ""),
    ("strict-transport-security", ""),
    ("transfer-encoding", ""),
    ("user-agent", ""),
    ("vary", ""),
    ("via", ""),
    ("www-authenticate", ""),
];

/// An entry of the table: where it stands in its bytes.
#[derive(Debug, Clone, Copy)]
struct Entry {
    at: u32,
    name: u32,
    value: u32,
}

/// Reads the heads of a connection, in their order.
#[derive(Debug, Default)]
pub(super) struct Reader {
    /// The newest in front.
    entries: VecDeque<Entry>,
    /// The oldest in front; what was before them is let go from time to time.
    bytes: Vec<u8>,
    /// By the count of RFC 7541 §4.1.
    size: usize,
    /// What the server made of the size it may use, less than that.
    smaller_by: usize,
    /// A name and a value that do not stand in a table.
    text: Vec<u8>,
}

impl Reader {
    /// Reads a head and shows its fields. Whether it changed the table.
    pub(super) fn read(&mut self, block: &[u8], mut field: impl FnMut(&[u8], &[u8])) -> Result<bool, Unreadable> {
        let mut rest = block;
        let mut changes = false;
        let mut begins = true;
        while let Some(first) = rest.first().copied() {
            if first & 0x80 != 0 {
                let (name, value) = self.entry(number(&mut rest, 7)?)?;
                field(name, value);
            } else if first & 0xe0 == 0x20 {
                let size = number(&mut rest, 5)?;
                if size > TABLE_BYTES || !begins {
                    return Err(Unreadable);
                }
                self.smaller_by = TABLE_BYTES - size;
                self.shrink(size);
                changes = true;
                continue;
            } else {
                let is_kept = first & 0xc0 == 0x40;
                let name = number(&mut rest, if is_kept { 6 } else { 4 })?;
                let mut text = std::mem::take(&mut self.text);
                text.clear();
                if name == 0 {
                    read_text(&mut rest, 7, &mut text)?;
                } else {
                    text.extend_from_slice(self.entry(name)?.0);
                }
                let split = text.len();
                read_text(&mut rest, 7, &mut text)?;
                let (name, value) = text.split_at(split);
                field(name, value);
                if is_kept {
                    self.keep(name, value);
                    changes = true;
                }
                self.text = text;
            }
            begins = false;
        }
        Ok(changes)
    }

    /// The entry of this number, in both tables.
    fn entry(&self, number: usize) -> Result<(&[u8], &[u8]), Unreadable> {
        if let Some((name, value)) = number.checked_sub(1).and_then(|at| STATIC.get(at)) {
            return Ok((name.as_bytes(), value.as_bytes()));
        }
        let entry = number.checked_sub(STATIC.len() + 1).and_then(|at| self.entries.get(at)).ok_or(Unreadable)?;
        Ok(self.bytes[entry.at as usize..][..(entry.name + entry.value) as usize].split_at(entry.name as usize))
    }

    fn keep(&mut self, name: &[u8], value: &[u8]) {
        let limit = TABLE_BYTES - self.smaller_by;
        let size = name.len() + value.len() + ENTRY_BYTES;
        // What is larger than all of the table empties it (RFC 7541 §4.4).
        self.shrink(limit.saturating_sub(size));
        if size > limit {
            return;
        }
        if self.bytes.len() + size > 2 * TABLE_BYTES {
            let gone = self.entries.back().map_or(self.bytes.len(), |oldest| oldest.at as usize);
            self.bytes.drain(..gone);
            self.entries.iter_mut().for_each(|entry| entry.at -= gone as u32);
        }
        self.entries.push_front(Entry { at: self.bytes.len() as u32, name: name.len() as u32, value: value.len() as u32 });
        self.bytes.extend_from_slice(name);
        self.bytes.extend_from_slice(value);
        self.size += size;
    }

    /// How much of the table is taken.
    #[cfg(test)]
    pub(super) const fn size(&self) -> usize {
        self.size
    }

    /// Lets the oldest go until the rest is no larger than that.
    fn shrink(&mut self, limit: usize) {
        while self.size > limit
            && let Some(oldest) = self.entries.pop_back()
        {
            self.size -= (oldest.name + oldest.value) as usize + ENTRY_BYTES;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::prefixed::write_text;

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
        digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
    }

    fn read(reader: &mut Reader, block: &[u8]) -> Result<Vec<String>, Unreadable> {
        let mut fields = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        reader.read(block, |name, value| fields.push(format!("{}: {}", text(name), text(value))))?;
        Ok(fields)
    }

    #[test]
    fn the_examples_of_the_standard_are_read_with_their_table() {
        // RFC 7541 C.6, but for its table of 256 bytes, which is announced here.
        let mut reader = Reader::default();
        let first = hex(
            "3fe101 4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3",
        );
        let said = ["cache-control: private", "date: Mon, 21 Oct 2013 20:13:21 GMT", "location: https://www.example.com"];
        assert_eq!(read(&mut reader, &first), Ok([&[":status: 302"][..], &said].concat().iter().map(ToString::to_string).collect()));
        assert_eq!(reader.size, 222);
        let second = read(&mut reader, &hex("4883 640e ffc1 c0bf")).unwrap();
        assert_eq!(second, [":status: 307", said[0], said[1], said[2]]);
        assert_eq!((reader.size, reader.entries.len()), (222, 4));
        let third = hex(
            "88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07",
        );
        let third = read(&mut reader, &third).unwrap();
        assert_eq!(third[5], "set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1");
        assert_eq!((reader.size, reader.entries.len()), (215, 3));
    }

    #[test]
    fn a_table_stays_within_its_size_and_turns_over() {
        let mut reader = Reader::default();
        for number in 0..2_000 {
            let mut block = vec![0x40];
            write_text(&mut block, (0, 7), b"name");
            write_text(&mut block, (0, 7), format!("{number}{}", "v".repeat(number % 90)).as_bytes());
            assert_eq!(reader.read(&block, |_, _| ()), Ok(true));
            assert!(reader.size <= TABLE_BYTES && reader.bytes.len() <= 2 * TABLE_BYTES, "{number}");
            let (name, value) = reader.entry(62).unwrap();
            assert!(name == b"name" && value.starts_with(number.to_string().as_bytes()));
            assert_eq!(reader.read(&[0xbe], |_, again| assert!(again.starts_with(number.to_string().as_bytes()))), Ok(false));
        }
        // Larger than the table: all of it goes.
        let mut block = vec![0x40];
        write_text(&mut block, (0, 7), b"a");
        write_text(&mut block, (0, 7), &[b'x'; TABLE_BYTES]);
        assert_eq!(reader.read(&block, |_, _| ()), Ok(true));
        assert_eq!((reader.size, reader.entries.len()), (0, 0));
    }

    #[test]
    fn what_is_no_head_is_refused_wherever_it_is_cut() {
        for wrong in ["80", "ff00", "be", "3fe21f", "82 20", "00", "0085", "7fffffffff7f", "4082", "00 01 61 81 00"] {
            assert_eq!(read(&mut Reader::default(), &hex(wrong)), Err(Unreadable), "{wrong}");
        }
        let whole = hex("4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff");
        for cut in 0..whole.len() {
            let _ = read(&mut Reader::default(), &whole[..cut]);
        }
    }
}
