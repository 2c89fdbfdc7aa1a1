//! What of an answer is kept to be looked at: no more than the checks and extractions of its request ask for.

use std::cell::Cell;
use std::rc::Rc;

use engine::protocol::{Header, ResponseSink};
use measure::Failure;
use plan::Nanos;
use step::Check;

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
            Some("status" | "time" | "message" | "url" | "request" | "request_headers" | "hops" | "variable" | "total_size") => self,
            Some("header" | "cookie" | "headers" | "headers_size") => Self { headers: true, ..self },
            _ => Self { body: true, ..self },
        }
    }
}

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
    /// Whether the body was larger than what is kept.
    pub overflowed: bool,
    /// What it counts among; nothing is heard without it.
    all: Option<AllAnswers>,
}

impl AnswerSink {
    /// For an answer, in memory of an earlier one.
    #[must_use]
    pub fn new(heard: AnswerNeeds, [mut headers, mut body]: [Vec<u8>; 2], all: &AllAnswers) -> Self {
        headers.clear();
        body.clear();
        Self { heard, headers, body, sets_cookies: false, overflowed: false, all: Some(all.clone()) }
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

    /// Why an answer that overflowed is not looked at.
    #[must_use]
    pub fn refusal() -> String {
        format!(
            "the answer is larger than {} MiB, or those under way on a thread than {} MiB: too much to look into",
            BODY_BYTES_MAX >> 20,
            ANSWERS_BYTES_MAX >> 20
        )
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
        self.overflowed = false;
        if !self.heard.headers && !self.heard.steering {
            return;
        }
        for header in headers {
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
        self.overflowed |= kept.len() < bytes.len();
        all.set(all.get() + kept.len());
        self.body.extend_from_slice(kept);
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
        assert!(!one.overflowed && !other.overflowed);
        other.body(b"5");
        assert!(other.overflowed && other.body == b"1234");
        one.forget();
        other.head(200, &[]);
        other.body(b"1234567890");
        assert!(!other.overflowed && other.body.len() == 10);
        drop(other);
        assert_eq!(all.get(), ANSWERS_BYTES_MAX - 10);
    }
}
