//! Where events end in the body of an answer that streams: bytes in, ends of events out, in whatever pieces the bytes come.
//!
//! Server-sent events are cut as WHATWG's HTML says (§9.2.6, "Interpreting an event stream"): lines end with CR, LF or both, a byte order
//! mark may stand at the beginning, `:` begins a comment, an empty line ends an event, and what has no `data` is none. `[DONE]` as the
//! whole of an event's data is how language models say that no event follows: it is no event itself. Streams of gRPC have an event a
//! message; others have one a line, and empty lines only keep the connection alive.
//!
//! Nothing is kept of an event but whether it has data and whether that may still be `[DONE]`, unless its content is looked at: to
//! collect each and look at it whole, the alternative, takes a copy of all that is read. An event of any length is cut; a long one is
//! told, and counts without a look at its content, so that memory stays bounded.
//!
//! Invariant: the same bytes are cut at the same places, however they are split.

mod content;
mod resumption;

use std::convert::Infallible;

use plan::{EventPath, StreamForm, TokenCount};

use super::messages::Messages;
use content::Content;
pub(crate) use resumption::Resumption;

/// An event longer than this is told as an oddity: no reader of streams expects one.
pub(crate) const EVENT_BYTES_MAX: u64 = 1024 * 1024;

/// What an event's data is where nothing follows.
const DONE: &[u8] = b"[DONE]";

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

const DATA: &[u8] = b"data";

/// Between two records of RFC 7464.
const RECORD_SEPARATOR: u8 = 0x1e;

/// How events are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventForm {
    Sse,
    Lines,
    /// Messages of gRPC, of which nothing is known but where they end.
    Messages,
}

impl EventForm {
    /// The form of an answer with this Content-Type; `None` if it is none that streams events.
    pub(crate) fn of(form: StreamForm, content_type: &[u8]) -> Option<Self> {
        match form {
            StreamForm::Sse => Some(Self::Sse),
            StreamForm::Lines | StreamForm::JsonLines => Some(Self::Lines),
            StreamForm::Auto => {
                let named = content_type.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
                let is = |known: &&str| named.eq_ignore_ascii_case(known.as_bytes());
                if is(&"text/event-stream") {
                    Some(Self::Sse)
                } else if is(&"application/grpc") || named.get(..17).is_some_and(|begin| begin.eq_ignore_ascii_case(b"application/grpc+")) {
                    Some(Self::Messages)
                } else {
                    LINES.iter().any(is).then_some(Self::Lines)
                }
            }
        }
    }
}

/// What servers call JSON values that stand one a line. Only the one of RFC 7464 is registered.
const LINES: [&str; 8] = [
    "application/x-ndjson",
    "application/ndjson",
    "application/jsonl",
    "application/x-jsonlines",
    "application/jsonlines",
    "application/json-lines",
    "application/json-seq",
    "application/stream+json",
];

/// How many events a body has that comes in these pieces, with that content type; `None` where such a body has none. Without a connection, for
/// whoever holds the reader against any bytes.
pub fn count<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, content_type: &[u8], content: Option<&EventPath>) -> Option<u64> {
    let mut cutter = Cutter::new(EventForm::of(StreamForm::Auto, content_type)?, content);
    let ended = pieces.into_iter().map(|piece| cutter.feed(piece)).sum::<u64>();
    Some(ended + u64::from(cutter.finish()))
}

/// Cuts one answer.
#[derive(Debug)]
pub(crate) struct Cutter<'a> {
    form: EventForm,
    /// Where an event has to have something, to be one.
    content: Option<&'a EventPath>,
    /// What tokens are, if they are no events, and how many came since they were taken.
    counted: Option<&'a TokenCount>,
    tokens: u64,
    /// Whether the text so far ends within a word.
    in_word: bool,
    /// How many tokens the answer itself has told of so far.
    reported: u64,
    /// Where the stream can be taken up again, if it would be.
    resumption: Option<Resumption>,
    /// Data of the event at hand, if that matters.
    data: Vec<u8>,
    /// Bytes of the byte order mark that were seen; `None` once it is over.
    mark: Option<usize>,
    line: Line,
    after_cr: bool,
    has_data: bool,
    done: Done,
    /// Of a stream of gRPC.
    messages: Messages,
    /// Bytes of the event at hand.
    bytes: u64,
    is_long: bool,
    has_ended: bool,
}

/// What is known of the line at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// So many bytes of it are those of `data`.
    Name(usize),
    /// Its data begins with the next byte, which may be a space.
    BeforeData,
    /// Within its data.
    Data,
    /// Something else.
    Other,
}

/// Whether the data of the event at hand may be [`DONE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Done {
    /// So far it is: so many bytes of it.
    Matches(usize),
    Differs,
}

impl<'a> Cutter<'a> {
    pub(crate) fn new(form: EventForm, content: Option<&'a EventPath>) -> Self {
        Self {
            form,
            content,
            counted: None,
            tokens: 0,
            in_word: false,
            reported: 0,
            resumption: None,
            data: Vec::new(),
            mark: Some(0),
            line: Line::Name(0),
            after_cr: false,
            has_data: false,
            done: Done::Matches(0),
            messages: Messages::default(),
            bytes: 0,
            is_long: false,
            has_ended: false,
        }
    }

    /// Counts tokens besides.
    pub(crate) fn counting(self, counted: Option<&'a TokenCount>) -> Self {
        Self { counted, ..self }
    }

    /// Notes where the stream can be taken up again.
    pub(crate) fn resuming(self, resumption: Option<Resumption>) -> Self {
        Self { resumption, ..self }
    }

    /// How many tokens came since this was asked last.
    pub(crate) const fn take_tokens(&mut self) -> u64 {
        std::mem::replace(&mut self.tokens, 0)
    }

    /// Where the stream can be taken up again; `None` where it has said that it is over, or nobody would.
    pub(crate) fn resumption(&self) -> Option<&Resumption> {
        self.resumption.as_ref().filter(|_| !self.has_ended)
    }

    /// The same of an answer that is over.
    pub(crate) fn into_resumption(self) -> Option<Resumption> {
        self.resumption
    }

    /// Takes more of the body; how many events ended in it.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> u64 {
        if self.form == EventForm::Messages {
            let Ok(ended) = self.messages.take(bytes, |_, _| Ok::<_, Infallible>(()));
            return ended;
        }
        let mut events = 0;
        let mut rest = bytes;
        while let Some((byte, after)) = rest.split_first() {
            if self.has_ended {
                break;
            }
            rest = after;
            if let Some(seen) = self.mark {
                if *byte == BYTE_ORDER_MARK[seen] {
                    self.mark = Some(seen + 1).filter(|seen| *seen < BYTE_ORDER_MARK.len());
                    continue;
                }
                self.mark = None;
                if seen > 0 {
                    // It is none, and so part of the first line.
                    self.take(BYTE_ORDER_MARK[0]);
                }
            }
            match byte {
                b'\n' if std::mem::take(&mut self.after_cr) => {}
                b'\r' | b'\n' => {
                    self.after_cr = *byte == b'\r';
                    events += u64::from(self.end_line());
                }
                _ => {
                    self.after_cr = false;
                    self.bytes += 1;
                    self.take(*byte);
                    if matches!(self.line, Line::Other) || self.line == Line::Data && self.done == Done::Differs {
                        // Nothing but the end of the line is of interest.
                        let plain = memchr::memchr2(b'\r', b'\n', rest).unwrap_or(rest.len());
                        self.bytes += plain as u64;
                        self.keep(&rest[..plain]);
                        self.note_field(&rest[..plain]);
                        rest = &rest[plain..];
                    }
                    self.is_long |= self.bytes > EVENT_BYTES_MAX;
                }
            }
        }
        events
    }

    /// The body is complete: whether an event ended with it. A server-sent event without its empty line is none.
    pub(crate) fn finish(&mut self) -> bool {
        self.form == EventForm::Lines && !self.has_ended && self.end_line()
    }

    /// Whether an event was longer than [`EVENT_BYTES_MAX`].
    pub(crate) const fn is_long(&self) -> bool {
        self.is_long
    }

    fn take(&mut self, byte: u8) {
        if self.form == EventForm::Lines {
            // White space alone is an empty line, and so is a mark between records.
            if !byte.is_ascii_whitespace() && byte != RECORD_SEPARATOR {
                (self.line, self.has_data) = (Line::Other, true);
                self.keep(&[byte]);
            }
            return;
        }
        self.note_field(&[byte]);
        self.line = match self.line {
            Line::Name(seen) if DATA.get(seen) == Some(&byte) => Line::Name(seen + 1),
            Line::Name(seen) if seen == DATA.len() && byte == b':' => {
                self.begin_data();
                Line::BeforeData
            }
            Line::BeforeData if byte == b' ' => Line::Data,
            Line::BeforeData | Line::Data => {
                self.done = match self.done {
                    Done::Matches(seen) if DONE.get(seen) == Some(&byte) => Done::Matches(seen + 1),
                    _ => Done::Differs,
                };
                self.line = Line::Data;
                self.keep(&[byte]);
                Line::Data
            }
            Line::Name(_) | Line::Other => Line::Other,
        };
    }

    /// A second line of data makes an event that is not [`DONE`].
    fn begin_data(&mut self) {
        if self.has_data {
            self.done = Done::Differs;
            self.line = Line::Data;
            self.keep(b"\n");
        }
        self.has_data = true;
    }

    /// Keeps a line that is no data, where a stream may be taken up again.
    fn note_field(&mut self, bytes: &[u8]) {
        if let Some(resumption) = &mut self.resumption
            && !matches!(self.line, Line::BeforeData | Line::Data)
        {
            resumption.note(bytes);
        }
    }

    /// Keeps data of the event at hand, where its content is looked at.
    fn keep(&mut self, bytes: &[u8]) {
        let is_data = self.form == EventForm::Lines || self.line == Line::Data;
        if is_data && (self.content.is_some() || self.counted.is_some()) && (self.data.len() + bytes.len()) as u64 <= EVENT_BYTES_MAX {
            self.data.extend_from_slice(bytes);
        }
    }

    /// Whether the event at hand has what it has to have; its tokens are counted.
    fn look(&mut self) -> bool {
        if self.bytes > EVENT_BYTES_MAX {
            return true;
        }
        if let Some(TokenCount::Reported(path)) = self.counted
            && let Content::Number(number) = content::at(&self.data, path.steps(), &mut self.in_word)
        {
            // Some servers tell it once at the end, others in each event how many there were so far.
            self.tokens += number.saturating_sub(self.reported);
            self.reported = self.reported.max(number);
        }
        let Some(path) = self.content else { return true };
        let content = content::at(&self.data, path.steps(), &mut self.in_word);
        if let (Some(TokenCount::Words), Content::Text { words }) = (self.counted, &content) {
            self.tokens += words;
        }
        content != Content::Nothing
    }

    /// A line ended; whether an event did.
    fn end_line(&mut self) -> bool {
        let line = std::mem::replace(&mut self.line, Line::Name(0));
        if let Some(resumption) = &mut self.resumption {
            resumption.end_line();
        }
        match self.form {
            EventForm::Lines | EventForm::Messages => {}
            EventForm::Sse if line == Line::Name(DATA.len()) => {
                // A name without a colon is a field without a value.
                self.begin_data();
                return false;
            }
            EventForm::Sse if line != Line::Name(0) => return false,
            EventForm::Sse => {}
        }
        if let Some(resumption) = &mut self.resumption {
            resumption.end_event();
        }
        let done = std::mem::replace(&mut self.done, Done::Matches(0));
        let has_data = std::mem::take(&mut self.has_data);
        let counts = has_data && self.look();
        self.bytes = 0;
        self.data.clear();
        self.has_ended = self.form == EventForm::Sse && has_data && done == Done::Matches(DONE.len());
        counts && !self.has_ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many events there are, fed in two pieces at every place, byte by byte, and at once.
    fn events(form: EventForm, body: &[u8]) -> u64 {
        events_with(form, None, body)
    }

    /// Of those that have something at this path.
    fn events_with(form: EventForm, content: Option<&EventPath>, body: &[u8]) -> u64 {
        let cut = |pieces: &mut dyn Iterator<Item = &[u8]>| {
            let mut cutter = Cutter::new(form, content);
            let events: u64 = pieces.map(|piece| cutter.feed(piece)).sum();
            (events + u64::from(cutter.finish()), cutter.is_long())
        };
        let whole = cut(&mut std::iter::once(body));
        assert_eq!(cut(&mut body.chunks(1)), whole, "byte by byte: {}", body.escape_ascii());
        for at in 0..=body.len() {
            let (first, second) = body.split_at(at);
            assert_eq!(cut(&mut [first, second].into_iter()), whole, "cut at {at}: {}", body.escape_ascii());
        }
        whole.0
    }

    #[test]
    fn server_sent_events_end_with_an_empty_line() {
        for (body, expected) in [
            (&b"data: a\n\ndata: b\n\n"[..], 2),
            (b"data: a\r\n\r\ndata: b\r\n\r\n", 2),
            (b"data: a\r\rdata: b\r\r", 2),
            (b"data: a\r\n\ndata: b\n\r\n", 2),
            (b"\xef\xbb\xbfdata: a\n\n", 1),
            (b"\xef\xbbdata: a\n\n", 0),
            (b"data: a\ndata: b\n\n", 1),
            (b"data\n\n", 1),
            (b"data:\n\n", 1),
            (b"data:a\n\n", 1),
            (b"event: ping\nid: 7\nretry: 10\n\n", 0),
            (b": a comment\n\n: another\n\n", 0),
            (b": a comment\ndata: a\n\n", 1),
            (b"event: delta\ndata: {\"a\": 1}\nid: 1\n\n", 1),
            (b"database: a\n\ndat: a\n\n data: a\n\nDATA: a\n\n", 0),
            (b"\n\n\ndata: a\n\n\n\n", 1),
            (b"data: a\n\ndata: cut off\n", 1),
            (b"data: a\n\ndata: cut off", 1),
            (b"", 0),
        ] {
            assert_eq!(events(EventForm::Sse, body), expected, "{}", body.escape_ascii());
        }
    }

    #[test]
    fn what_models_send_last_ends_the_stream_and_is_no_event() {
        for (body, expected) in [
            (&b"data: a\n\ndata: [DONE]\n\n"[..], 1),
            (b"data: a\n\ndata:[DONE]\n\ndata: b\n\n", 1),
            (b"data: [DONE] \n\ndata: b\n\n", 2),
            (b"data: [DONE]\ndata: b\n\ndata: c\n\n", 2),
            (b"data: [DONE\n\ndata: b\n\n", 2),
            (b"data:  [DONE]\n\n", 1),
            (b"event: [DONE]\n\ndata: b\n\n", 1),
        ] {
            assert_eq!(events(EventForm::Sse, body), expected, "{}", body.escape_ascii());
        }
        assert_eq!(events(EventForm::Lines, b"[DONE]\na\n"), 2, "a line is a line");
    }

    #[test]
    fn lines_that_are_not_empty_are_events() {
        for (body, expected) in [
            (&b"{\"a\":1}\n{\"a\":2}\n"[..], 2),
            (b"{\"a\":1}\r\n{\"a\":2}\r\n", 2),
            (b"a\n\n\n \t\nb", 2),
            (b"\x1e{\"a\":1}\n\x1e{\"a\":2}\n", 2),
            (b"\xef\xbb\xbf\na\n", 1),
            (b"a", 1),
            (b"\n", 0),
            (b"", 0),
        ] {
            assert_eq!(events(EventForm::Lines, body), expected, "{}", body.escape_ascii());
        }
    }

    #[test]
    fn only_events_with_content_count_where_that_is_asked_for() {
        let path: EventPath = "$.a".parse().unwrap();
        for (form, body, expected) in [
            (EventForm::Sse, &b"data: {\"b\":1}\n\ndata: {\"a\":\"x\"}\n\ndata: {\"a\":\"\"}\n\ndata: [DONE]\n\n"[..], 1),
            (EventForm::Sse, b"data: {\ndata: \"a\": 1\ndata: }\n\n: {\"a\":1}\n\nid: 1\ndata:{\"a\":1}\nevent: x\n\n", 2),
            (EventForm::Sse, b"data: \"a\"\n\ndata\n\ndata: {\"a\":1}\r\n\r\n", 1),
            (EventForm::Lines, b"{\"a\":1}\n{\"b\":1}\n \x1e{\"a\":2}\r\n{\"a\":3}", 3),
        ] {
            assert_eq!(events_with(form, Some(&path), body), expected, "{}", body.escape_ascii());
        }
        // What is too long to be kept counts.
        let long = format!("{{\"b\":\"{}\"}}\n{{\"b\":1}}\n", "x".repeat(EVENT_BYTES_MAX as usize));
        let mut cutter = Cutter::new(EventForm::Lines, Some(&path));
        assert_eq!(cutter.feed(long.as_bytes()), 1);
        assert!(cutter.data.capacity() as u64 <= 2 * EVENT_BYTES_MAX, "{}", cutter.data.capacity());
    }

    #[test]
    fn an_event_is_counted_where_its_last_byte_is_and_not_before() {
        let mut cutter = Cutter::new(EventForm::Sse, None);
        assert_eq!([&b"data: a"[..], b"\n", b"\r", b"\n", b"\n"].map(|piece| cutter.feed(piece)), [0, 0, 1, 0, 0]);
        assert_eq!(cutter.feed(b"data: b\n\ndata: c\n\ndata"), 2);
    }

    #[test]
    fn a_long_event_is_told_and_its_end_is_found_all_the_same() {
        let long = |bytes: u64| [b"data: ", "x".repeat(bytes as usize).as_bytes(), b"\n\ndata: b\n\n"].concat();
        for (bytes, is_long) in [(EVENT_BYTES_MAX - 6, false), (EVENT_BYTES_MAX - 5, true)] {
            let mut cutter = Cutter::new(EventForm::Sse, None);
            let events: u64 = long(bytes).chunks(1000).map(|piece| cutter.feed(piece)).sum();
            assert_eq!((events, cutter.is_long()), (2, is_long), "{bytes}");
        }
    }

    #[test]
    fn where_a_stream_is_taken_up_again_follows_from_its_ids() {
        let told = |body: &[u8]| {
            let by = |size: usize| {
                let mut cutter = Cutter::new(EventForm::Sse, None).resuming(Some(Resumption::new()));
                let events: u64 = body.chunks(size).map(|piece| cutter.feed(piece)).sum();
                let told = cutter.resumption().map(|it| (String::from_utf8(it.id.clone()).unwrap(), it.retry.0 / 1_000_000));
                (events, told)
            };
            let whole = by(body.len());
            (1..body.len()).for_each(|size| assert_eq!(by(size), whole, "in pieces of {size}: {}", body.escape_ascii()));
            whole
        };
        let at = |id: &str, retry| Some((id.to_owned(), retry));
        assert_eq!(told(b"data: a\n\n"), (1, at("", 3_000)));
        assert_eq!(told(b"id: 7\ndata: a\n\nretry: 250\nid: 8\ndata: b\n"), (1, at("7", 250)), "of an event that has not ended");
        assert_eq!(told(b"data: a\r\nid:x y\r\nidx: 9\r\n\r\nretry: 1s\n\n"), (1, at("x y", 3_000)));
        assert_eq!(told(b"id: 7\ndata: a\n\nid\ndata: b\n\n"), (2, at("", 3_000)), "an empty id is none again");
        assert_eq!(told(b"id: 7\ndata: id: 9\n\n"), (1, at("7", 3_000)), "data is no field");
        assert_eq!(told(b"id: 7\ndata: a\n\ndata: [DONE]\n\n"), (1, None), "it said that it is over");
    }

    #[test]
    fn tokens_are_words_or_what_the_answer_says() {
        let body = b"data: {\"a\":\"Hello wor\"}\n\ndata: {\"a\":\"ld\",\"n\":2}\n\ndata: {\"n\":5}\n\ndata: [DONE]\n\n";
        let (content, path): (EventPath, EventPath) = ("$.a".parse().unwrap(), "$.n".parse().unwrap());
        for (counted, expected) in [(None, 0), (Some(TokenCount::Words), 2), (Some(TokenCount::Reported(path)), 5)] {
            let mut cutter = Cutter::new(EventForm::Sse, Some(&content)).counting(counted.as_ref());
            let events: u64 = body.chunks(3).map(|piece| cutter.feed(piece)).sum();
            assert_eq!((events, cutter.take_tokens(), cutter.take_tokens()), (2, expected, 0), "{counted:?}");
        }
    }

    #[test]
    fn the_form_is_given_or_told_by_the_answer() {
        for (form, content_type, expected) in [
            (StreamForm::Auto, "text/event-stream", Some(EventForm::Sse)),
            (StreamForm::Auto, "Text/Event-Stream ; charset=utf-8", Some(EventForm::Sse)),
            (StreamForm::Auto, "application/x-ndjson", Some(EventForm::Lines)),
            (StreamForm::Auto, "application/json-seq", Some(EventForm::Lines)),
            (StreamForm::Auto, "application/grpc", Some(EventForm::Messages)),
            (StreamForm::Auto, "application/grpc+proto", Some(EventForm::Messages)),
            (StreamForm::Auto, "application/grpc-web+proto", None),
            (StreamForm::Auto, "application/json", None),
            (StreamForm::Auto, "", None),
            (StreamForm::Sse, "application/json", Some(EventForm::Sse)),
            (StreamForm::JsonLines, "text/plain", Some(EventForm::Lines)),
        ] {
            assert_eq!(EventForm::of(form, content_type.as_bytes()), expected, "{form} {content_type}");
        }
    }

    proptest::proptest! {
        #[test]
        fn anything_is_cut_alike_however_it_is_split(
            body in proptest::collection::vec(proptest::sample::select(b"data:[DONE]\r\n\n \xef\xbb\xbfx".to_vec()), 0..60),
        ) {
            events(EventForm::Sse, &body);
            events(EventForm::Lines, &body);
        }
    }
}
