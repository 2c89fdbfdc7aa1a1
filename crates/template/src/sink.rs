//! What of an answer is kept to be looked at: no more than the checks and extractions of its request ask for.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

use engine::protocol::{Header, ResponseSink};
use measure::Failure;
use plan::Nanos;
use step::{Check, UnpackError};

use crate::witness::Exchange;

/// Of an answer that is looked at, so much is kept; a larger one fails its request.
const BODY_BYTES_MAX: usize = 8 << 20;

/// All answers of a thread together: a server that sends much on many connections gets no more.
const ANSWERS_BYTES_MAX: usize = 256 << 20;

/// The memory of a body is kept for the next one up to this.
const KEPT_BYTES: usize = 64 << 10;

/// What the users of one thread keep of their answers at the same time, in bytes.
pub type AllAnswers = Rc<Cell<usize>>;

/// What the next request may follow from, whatever is looked at: cookies, redirects and challenges.
const STEERING: [&str; 3] = ["set-cookie", "location", "www-authenticate"];

/// What of an answer is looked at: the rest is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AnswerNeeds {
    /// Those headers that cookies, redirects and challenges come in.
    pub steering: bool,
    /// All headers.
    pub headers: bool,
    /// The body.
    pub body: bool,
}

impl AnswerNeeds {
    /// Everything.
    pub const ALL: Self = Self { steering: true, headers: true, body: true };

    /// With what this check looks at.
    #[must_use]
    pub fn with_check(self, check: &Check) -> Self {
        match check.words().split(' ').next() {
            Some("status" | "time" | "message" | "url" | "request" | "request_headers" | "variable" | "total_size") => self,
            Some("header" | "cookie" | "headers" | "headers_size") => Self { headers: true, ..self },
            _ => Self { body: true, ..self },
        }
    }
}

/// Why the body of an answer is not looked into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// It is larger than what is kept, or those of a thread are together.
    TooLarge,
    /// It is not packed as it says: in words.
    Packed(String),
    /// It is not what it was to be: in words.
    Unreadable(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => write!(
                f,
                "the answer is larger than {} MiB, or those under way on a thread than {} MiB: too much to look into",
                BODY_BYTES_MAX >> 20,
                ANSWERS_BYTES_MAX >> 20
            ),
            Self::Packed(why) | Self::Unreadable(why) => write!(f, "the answer cannot be looked into: {why}"),
        }
    }
}

/// What few answers have.
#[derive(Debug, Default)]
struct Odd {
    /// Why the body is not looked into, if so.
    refusal: Option<Refusal>,
    /// How the body is packed, as the answer says.
    codings: String,
    /// Its bytes as they came and as they were unpacked, if they were.
    unpacked: Option<(u64, u64)>,
}

/// The header that says how a body is packed.
const PACKED: &str = "content-encoding";

/// Keeps of an answer what is looked at.
#[derive(Debug, Default)]
pub struct AnswerSink {
    /// What that is.
    pub heard: AnswerNeeds,
    /// Lines `name: value`.
    pub headers: Vec<u8>,
    /// Whether one of them sets a cookie; most answers set none, and nobody has to look for it.
    pub sets_cookies: bool,
    /// The body, as far as it is kept.
    pub body: Vec<u8>,
    /// What is seldom to be said of it.
    odd: Option<Box<Odd>>,
    /// What it counts among; nothing is heard without it.
    all: Option<AllAnswers>,
}

impl AnswerSink {
    /// For an answer, in memory of an earlier one.
    #[must_use]
    pub fn new(heard: AnswerNeeds, [mut headers, mut body]: [Vec<u8>; 2], all: &AllAnswers) -> Self {
        headers.clear();
        body.clear();
        Self { heard, headers, body, sets_cookies: false, odd: None, all: Some(all.clone()) }
    }

    /// Its memory for headers and body, as soon as nobody looks at them any more.
    #[must_use]
    pub fn into_memory(mut self) -> [Vec<u8>; 2] {
        self.forget_body();
        [std::mem::take(&mut self.headers), std::mem::take(&mut self.body)]
    }

    /// The answer was looked at.
    pub fn forget(&mut self) {
        self.forget_body();
        if self.body.capacity() > KEPT_BYTES {
            self.body = Vec::new();
        }
    }

    /// Why the body is not looked into, if so.
    #[must_use]
    pub fn refusal(&self) -> Option<&Refusal> {
        self.odd.as_ref()?.refusal.as_ref()
    }

    #[cold]
    fn refuse(&mut self, why: Refusal) {
        self.odd.get_or_insert_default().refusal = Some(why);
    }

    /// The body is packed in this way, or in several: then they are told one after the other.
    #[cold]
    fn is_packed(&mut self, coding: &[u8]) {
        let codings = &mut self.odd.get_or_insert_default().codings;
        if !codings.is_empty() {
            codings.push(',');
        }
        codings.push_str(&String::from_utf8_lossy(coding));
    }

    /// Puts what a packed body stands for in its place.
    #[cold]
    fn unpack(&mut self) {
        let (Some(all), Some(odd)) = (&self.all, &mut self.odd) else { return };
        if odd.refusal.is_some() || self.body.is_empty() {
            return;
        }
        let others = all.get() - self.body.len();
        match step::unpack(&odd.codings, &self.body, BODY_BYTES_MAX.min(ANSWERS_BYTES_MAX.saturating_sub(others))) {
            Ok(None) => {}
            Ok(Some(body)) => {
                all.set(others + body.len());
                odd.unpacked = Some((self.body.len() as u64, body.len() as u64));
                self.body = body;
            }
            Err(UnpackError::TooLarge) => self.refuse(Refusal::TooLarge),
            Err(why @ UnpackError::Broken { .. }) => self.refuse(Refusal::Packed(why.to_string())),
        }
    }

    /// Puts another form of the body in its place, if it is looked at.
    pub fn translate(&mut self, form: impl FnOnce(&[u8]) -> Result<Vec<u8>, String>) {
        let Some(all) = self.all.as_ref().filter(|_| self.heard.body && self.refusal().is_none()) else { return };
        match form(&self.body) {
            Ok(body) => {
                all.set(all.get() - self.body.len() + body.len());
                self.body = body;
            }
            Err(why) => self.refuse(Refusal::Unreadable(why)),
        }
    }

    fn forget_body(&mut self) {
        if let Some(all) = &self.all {
            all.set(all.get() - self.body.len());
        }
        self.body.clear();
    }

    /// What was heard of the answer to a request, for a [`Witness`](crate::Witness).
    #[must_use]
    pub fn exchange(&self, name: String, request: &[u8], result: Result<u16, Failure>, took: Option<Nanos>) -> Exchange {
        let (headers, body) = if result.is_ok() { (self.headers.clone(), self.body.clone()) } else { (Vec::new(), Vec::new()) };
        Exchange {
            name,
            request: request.to_vec(),
            result,
            body_bytes: body.len(),
            headers,
            body,
            took,
            checks: Vec::new(),
            missing: Vec::new(),
            variables: Vec::new(),
        }
    }
}

impl ResponseSink for AnswerSink {
    #[inline]
    fn wants_head(&self) -> bool {
        self.heard != AnswerNeeds::default()
    }

    fn head(&mut self, _status: u16, headers: &[Header<'_>]) {
        self.headers.clear();
        self.sets_cookies = false;
        self.forget_body();
        self.odd = None;
        let keeps_lines = self.heard.headers || self.heard.steering;
        if !keeps_lines && !self.heard.body {
            return;
        }
        for header in headers {
            if header.name.len() == PACKED.len() && self.heard.body && header.name.eq_ignore_ascii_case(PACKED) {
                self.is_packed(header.value);
            }
            if !keeps_lines {
                continue;
            }
            self.sets_cookies |= header.name.eq_ignore_ascii_case("set-cookie");
            if self.heard.headers || STEERING.iter().any(|name| header.name.eq_ignore_ascii_case(name)) {
                self.headers.extend_from_slice(header.name.as_bytes());
                self.headers.extend_from_slice(b": ");
                self.headers.extend_from_slice(header.value);
                self.headers.push(b'\n');
            }
        }
    }

    fn body(&mut self, bytes: &[u8]) {
        if !self.heard.body {
            return;
        }
        let Some(all) = &self.all else { return };
        let room = (BODY_BYTES_MAX - self.body.len()).min(ANSWERS_BYTES_MAX.saturating_sub(all.get()));
        let kept = &bytes[..bytes.len().min(room)];
        all.set(all.get() + kept.len());
        self.body.extend_from_slice(kept);
        if kept.len() < bytes.len() {
            self.refuse(Refusal::TooLarge);
        }
    }

    #[inline]
    fn complete(&mut self) {
        if self.odd.is_some() {
            self.unpack();
        }
    }

    fn unpacked(&self) -> Option<(u64, u64)> {
        self.odd.as_ref()?.unpacked
    }
}

/// An answer that nobody looks at any more is not kept.
impl Drop for AnswerSink {
    fn drop(&mut self) {
        self.forget_body();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answers_of_a_thread_are_bounded_together() {
        // Others keep all but ten bytes.
        let all = AllAnswers::new(Cell::new(ANSWERS_BYTES_MAX - 10));
        let sink = || AnswerSink::new(AnswerNeeds { body: true, ..AnswerNeeds::default() }, Default::default(), &all);
        let (mut one, mut other) = (sink(), sink());
        one.body(b"123456");
        other.body(b"1234");
        assert!(one.refusal().is_none() && other.refusal().is_none());
        other.body(b"5");
        assert!(other.refusal() == Some(&Refusal::TooLarge) && other.body == b"1234");
        one.forget();
        other.head(200, &[]);
        other.body(b"1234567890");
        assert!(other.refusal().is_none() && other.body.len() == 10);
        drop(other);
        assert_eq!(all.get(), ANSWERS_BYTES_MAX - 10);
    }

    #[test]
    fn a_body_is_put_into_another_form_where_it_is_looked_at() {
        let all = AllAnswers::default();
        let mut sink = AnswerSink::new(AnswerNeeds { body: true, ..AnswerNeeds::default() }, Default::default(), &all);
        sink.body(b"abc");
        sink.translate(|body| Ok([body, b"def"].concat()));
        assert_eq!((&sink.body[..], all.get()), (&b"abcdef"[..], 6));
        sink.translate(|_| Err("it is none".to_owned()));
        assert_eq!(sink.refusal().unwrap().to_string(), "the answer cannot be looked into: it is none");
        let mut deaf = AnswerSink::new(AnswerNeeds::default(), Default::default(), &all);
        deaf.translate(|_| panic!("nobody looks"));
    }

    #[test]
    fn a_packed_body_is_there_as_its_server_meant_it() {
        let all = AllAnswers::default();
        let mut sink = AnswerSink::new(AnswerNeeds { body: true, ..AnswerNeeds::default() }, Default::default(), &all);
        let packed = Header { name: "Content-Encoding", value: b"br" };
        let mut hear = |headers: &[Header<'_>], body: &[u8]| {
            sink.head(200, headers);
            body.chunks(3).for_each(|piece| sink.body(piece));
            sink.complete();
            (sink.body.clone(), sink.refusal().map(ToString::to_string))
        };
        let brotli = b"\x8b\x05\x80{\"price\":12}\x03";
        assert_eq!(hear(&[packed], brotli), (b"{\"price\":12}".to_vec(), None));
        assert_eq!(hear(&[], brotli), (brotli.to_vec(), None));
        assert_eq!(hear(&[packed], b""), (Vec::new(), None), "to HEAD there is nothing");
        let (body, why) = hear(&[packed], b"{\"price\":12}");
        assert_eq!(body, b"{\"price\":12}");
        assert!(why.unwrap().starts_with("the answer cannot be looked into: it says that it is packed (br), and cannot be unpacked: "));
        assert_eq!((all.get(), sink.unpacked()), (12, None));
        sink.head(200, &[packed]);
        sink.body(brotli);
        sink.complete();
        assert_eq!(sink.unpacked(), Some((brotli.len() as u64, 12)));
        sink.forget();
        assert_eq!(all.get(), 0);
    }
}
