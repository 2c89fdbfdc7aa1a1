//! Where a stream of server-sent events can be taken up again: the id of its last event, and the pause that its server asks for.
//!
//! As WHATWG's HTML says (§9.2.6): `id` is that of the event it stands in, and known when that ends; `retry` is milliseconds, and counts at
//! once. Both stay for the connections that follow.

use plan::Nanos;

/// Before a stream is asked for again, where its server says nothing: "in the region of a few seconds" (§9.2.2), as most browsers do.
const RETRY: Nanos = Nanos::from_secs(3);

/// Of lines, this much is looked at: no id is as long.
const FIELD_BYTES_MAX: usize = 1024;

/// Where a stream can be taken up again.
#[derive(Debug)]
pub(crate) struct Resumption {
    /// The id of the last event; empty where there was none.
    pub(crate) id: Vec<u8>,
    /// How long to wait first.
    pub(crate) retry: Nanos,
    /// The line at hand.
    line: Vec<u8>,
    /// The id of the event at hand.
    next: Option<Vec<u8>>,
}

impl Resumption {
    pub(crate) const fn new() -> Self {
        Self { id: Vec::new(), retry: RETRY, line: Vec::new(), next: None }
    }

    /// Takes more of a line that is no data.
    pub(super) fn note(&mut self, bytes: &[u8]) {
        let room = FIELD_BYTES_MAX.saturating_sub(self.line.len());
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// The line is over.
    pub(super) fn end_line(&mut self) {
        let colon = self.line.iter().position(|byte| *byte == b':').unwrap_or(self.line.len());
        let (name, value) = self.line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            // What would end a header is no part of one.
            b"id" if value.iter().all(|byte| *byte >= b' ' || *byte == b'\t') => self.next = Some(value.to_vec()),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                let millis = std::str::from_utf8(value).ok().and_then(|digits| digits.parse().ok());
                self.retry = millis.map_or(self.retry, |millis: u32| Nanos::from_millis(millis.into()));
            }
            _ => {}
        }
        self.line.clear();
    }

    /// The event at hand is over.
    pub(super) fn end_event(&mut self) {
        if let Some(id) = self.next.take() {
            self.id = id;
        }
    }
}
