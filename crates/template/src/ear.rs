//! What of an answer is kept to be looked at: no more than the checks and extractions of its request ask for.

use engine::protocol::http1::{Header, Observer};
use measure::Failure;
use plan::Nanos;
use step::Check;

use crate::witness::Exchange;

/// Of an answer that is looked at, so much is kept; a larger one fails its request.
pub const BODY_BYTES_MAX: usize = 8 << 20;

/// What the next request may follow from, whatever is looked at: cookies, redirects and challenges.
const STEERING: [&str; 3] = ["set-cookie", "location", "www-authenticate"];

/// What of an answer is looked at: the rest is not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Heard {
    /// Those headers that cookies, redirects and challenges come in.
    pub steering: bool,
    /// All headers.
    pub headers: bool,
    /// The body.
    pub body: bool,
}

impl Heard {
    /// Everything.
    pub const ALL: Self = Self { steering: true, headers: true, body: true };

    /// With what this check looks at.
    #[must_use]
    pub fn with_check(self, check: &Check) -> Self {
        match check.words().split(' ').next() {
            Some("status" | "time") => self,
            Some("header" | "cookie") => Self { headers: true, ..self },
            _ => Self { body: true, ..self },
        }
    }
}

/// Keeps of an answer what is looked at.
#[derive(Debug, Default)]
pub struct Ear {
    /// What that is.
    pub heard: Heard,
    /// Lines `name: value`.
    pub headers: Vec<u8>,
    /// The body, as far as it is kept.
    pub body: Vec<u8>,
    /// Whether the body was larger than what is kept.
    pub overflowed: bool,
}

impl Ear {
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

impl Observer for Ear {
    fn head(&mut self, _status: u16, headers: &[Header<'_>]) {
        self.headers.clear();
        self.body.clear();
        self.overflowed = false;
        if !self.heard.headers && !self.heard.steering {
            return;
        }
        for header in headers {
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
        let room = BODY_BYTES_MAX - self.body.len();
        self.overflowed |= bytes.len() > room;
        self.body.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}
