//! A block: some requests of one source, with their times and what the log says of them, as bytes.
//!
//! It is made where the log is and read where its requests are sent, which may be another machine. So it is of one form everywhere: who
//! sends a request knows the number of its route and not what the log is.
//!
//! The form, numbers with the lowest byte first: until when the block is, how many requests it has, a row for each, and the bytes of all
//! of them one after the other.
//!
//! Invariant: bytes that are no block are refused as a whole; those of a block that was read lead nowhere outside of it.

use engine::protocol::{EncodedRef, Layout};
use plan::Nanos;

/// What a row takes: when it is due, where its bytes end, where its body begins in them, its route, its client, the status, whether it is late.
const ROW_BYTES: usize = 8 + 4 + 4 + 4 + 8 + 2 + 1;

/// A block that is being made.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    count: u32,
    rows: Vec<u8>,
    requests: Vec<u8>,
}

/// A request of a block, without its bytes.
#[derive(Debug)]
struct Row {
    about: About,
    /// Where its bytes end.
    end: u32,
    layout: Layout,
}

/// What a request of a log is besides its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct About {
    pub(crate) due: Nanos,
    pub(crate) route: u32,
    pub(crate) client: u64,
    pub(crate) logged: u16,
    pub(crate) is_late: bool,
}

impl Draft {
    /// Puts a request behind those before it.
    pub(crate) fn add(&mut self, request: EncodedRef<'_>, about: About) {
        let About { due, route, client, logged, is_late } = about;
        self.requests.extend_from_slice(request.bytes());
        self.count += 1;
        let mut row = [0; ROW_BYTES];
        row[..8].copy_from_slice(&due.0.to_le_bytes());
        row[8..12].copy_from_slice(&(self.requests.len() as u32).to_le_bytes());
        row[12..16].copy_from_slice(&(request.layout().body() as u32).to_le_bytes());
        row[16..20].copy_from_slice(&route.to_le_bytes());
        row[20..28].copy_from_slice(&client.to_le_bytes());
        row[28..30].copy_from_slice(&logged.to_le_bytes());
        row[30] = u8::from(is_late);
        self.rows.extend_from_slice(&row);
    }

    /// The block, of all requests of its source that fall due up to this time; the last one has those of all times.
    pub(crate) fn finish(&mut self, until: Nanos) -> Vec<u8> {
        let block = [&until.0.to_le_bytes()[..], &self.count.to_le_bytes(), &self.rows, &self.requests].concat();
        // The next one has room already.
        self.count = 0;
        self.rows.clear();
        self.requests.clear();
        block
    }
}

/// A block that was read.
#[derive(Debug, Default)]
pub(crate) struct Block {
    until: Nanos,
    rows: Vec<Row>,
    bytes: Vec<u8>,
    /// Where requests begin in the bytes.
    requests: usize,
}

impl Block {
    /// Reads one; `None` of what is none.
    pub(crate) fn read(bytes: Vec<u8>) -> Option<Self> {
        let (until, rest) = bytes.split_first_chunk()?;
        let (count, rest) = rest.split_first_chunk()?;
        let count = u32::from_le_bytes(*count) as usize;
        let (mut rest, requests) = rest.split_at_checked(count.checked_mul(ROW_BYTES)?)?;
        let mut rows = Vec::with_capacity(count);
        let (mut start, mut before) = (0, Nanos::ZERO);
        while !rest.is_empty() {
            let row;
            (row, rest) = Row::read(rest, (start, requests))?;
            if row.about.due < before {
                return None;
            }
            (start, before) = (row.end, row.about.due);
            rows.push(row);
        }
        if start as usize != requests.len() {
            return None;
        }
        let (until, requests) = (Nanos(u64::from_le_bytes(*until)), bytes.len() - requests.len());
        Some(Self { until, rows, bytes, requests })
    }

    /// A request of it.
    #[inline]
    pub(crate) fn about(&self, at: u32) -> Option<&About> {
        self.rows.get(at as usize).map(|row| &row.about)
    }

    /// Its bytes.
    #[inline]
    pub(crate) fn request(&self, at: u32) -> EncodedRef<'_> {
        let start = if at == 0 { 0 } else { self.rows[at as usize - 1].end };
        let row = &self.rows[at as usize];
        EncodedRef::new(&self.bytes[self.requests + start as usize..self.requests + row.end as usize], row.layout)
    }

    /// All of its requests, each with its time.
    pub(crate) fn into_requests(self) -> impl Iterator<Item = (Nanos, Vec<u8>)> {
        (0..self.rows.len()).map(move |at| (self.rows[at].about.due, self.request(at as u32).bytes().to_vec()))
    }

    /// When a request of the next block can fall due at the earliest; `None`: it is the last.
    #[inline]
    pub(crate) fn until(&self) -> Option<Nanos> {
        (self.until < Nanos::NEVER).then_some(self.until)
    }
}

impl Row {
    /// The first of these rows, whose request begins there, and the others.
    fn read<'r>(rows: &'r [u8], (start, requests): (u32, &[u8])) -> Option<(Self, &'r [u8])> {
        let (row, others) = rows.split_first_chunk::<ROW_BYTES>()?;
        let (due, rest) = row.split_first_chunk()?;
        let (end, rest) = rest.split_first_chunk()?;
        let (body, rest) = rest.split_first_chunk()?;
        let (route, rest) = rest.split_first_chunk()?;
        let (client, rest) = rest.split_first_chunk()?;
        let (logged, is_late) = rest.split_first_chunk()?;
        let (end, body) = (u32::from_le_bytes(*end), u32::from_le_bytes(*body));
        let request = requests.get(start as usize..end as usize)?;
        let method = &request[..memchr::memchr(b' ', request)?];
        let about = About {
            due: Nanos(u64::from_le_bytes(*due)),
            route: u32::from_le_bytes(*route),
            client: u64::from_le_bytes(*client),
            logged: u16::from_le_bytes(*logged),
            is_late: is_late != [0],
        };
        let row = Self { about, end, layout: Layout::new(method, body as usize) };
        (body as usize <= request.len()).then_some((row, others))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn about() -> impl Strategy<Value = About> {
        let numbers = (0..u64::MAX, any::<u32>(), any::<u64>(), any::<u16>(), any::<bool>());
        numbers.prop_map(|(due, route, client, logged, is_late)| About { due: Nanos(due), route, client, logged, is_late })
    }

    fn requests() -> impl Strategy<Value = Vec<(String, About)>> {
        let text = ("(GET|POST|HEAD)", "/[a-z]{0,9}", "[a-z]{0,20}")
            .prop_map(|(method, path, body)| format!("{method} {path} HTTP/1.1\r\nHost: a\r\n\r\n{body}"));
        prop::collection::vec((text, about()), 0..20).prop_map(|mut all| {
            all.sort_by_key(|(_, about)| about.due);
            all
        })
    }

    fn written(requests: &[(String, About)], until: Nanos) -> Vec<u8> {
        let mut draft = Draft::default();
        requests.iter().for_each(|(text, about)| draft.add(EncodedRef::read(text.as_bytes()), *about));
        draft.finish(until)
    }

    proptest! {
        #[test]
        fn a_block_reads_back(requests in requests(), until in prop_oneof![Just(Nanos::NEVER), (0..u64::MAX).prop_map(Nanos)]) {
            let block = Block::read(written(&requests, until)).unwrap();
            prop_assert_eq!(block.until(), (until < Nanos::NEVER).then_some(until));
            for (at, (text, about)) in requests.iter().enumerate() {
                prop_assert_eq!(block.about(at as u32).unwrap(), about);
                prop_assert_eq!(block.request(at as u32), EncodedRef::read(text.as_bytes()));
            }
            prop_assert!(block.about(requests.len() as u32).is_none());
        }

        #[test]
        fn a_block_that_was_cut_or_changed_is_refused_or_stays_within_itself(requests in requests(), cut in any::<prop::sample::Index>(), byte in any::<u8>()) {
            let whole = written(&requests, Nanos(7));
            let cut = cut.index(whole.len());
            prop_assert!(Block::read(whole[..cut].to_vec()).is_none());
            let mut changed = whole;
            changed[cut] = byte;
            if let Some(block) = Block::read(changed) {
                (0..block.rows.len()).for_each(|at| _ = block.request(at as u32).body());
            }
        }

        #[test]
        fn bytes_that_are_no_block_do_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Some(block) = Block::read(bytes) {
                (0..block.rows.len()).for_each(|at| _ = block.request(at as u32).target());
            }
        }
    }

    #[test]
    fn a_count_of_rows_that_no_block_has_is_refused_without_room_for_them() {
        let bytes = [&7u64.to_le_bytes()[..], &u32::MAX.to_le_bytes(), b"GET / HTTP/1.1"].concat();
        assert!(Block::read(bytes).is_none());
    }
}
