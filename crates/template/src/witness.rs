//! Sees a single request or journey whole: what was sent, what was answered, what was checked and what was remembered of it.
//!
//! A load keeps counts and one example a failure, so that its memory does not grow. Whoever writes a scenario wants the opposite, once:
//! everything. So the programs that send requests take a witness with them where one is wanted, and a load takes none.
//!
//! Invariant: what it keeps is bounded, whatever the server sends and however often a journey loops.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::protocol::EncodedRef;
use grpc::Method;
use measure::Failure;
use plan::Nanos;

/// More requests than this of one journey are not kept.
const EXCHANGES_MAX: usize = 1_000;
/// Of a request, and of the body of an answer, so much is kept.
const BYTES_MAX: usize = 64 << 10;

/// A request and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The step, or the request itself.
    pub name: String,
    /// As it was sent: its beginning, if it is long.
    pub request: Vec<u8>,
    /// The status, or why there was none.
    pub result: Result<u16, Failure>,
    /// Lines `name: value`.
    pub headers: Vec<u8>,
    /// Its beginning, if it is long.
    pub body: Vec<u8>,
    /// The bytes of the whole body.
    pub body_bytes: usize,
    /// From when it was due to the last byte; `None` of what led elsewhere.
    pub took: Option<Nanos>,
    /// Each check, and what was there instead if it did not hold.
    pub checks: Vec<(String, Result<(), String>)>,
    /// What was to be taken out of the answer and was not there.
    pub missing: Vec<String>,
    /// Every variable that has a value afterwards.
    pub variables: Vec<(String, String)>,
}

impl Exchange {
    /// The same of a call of gRPC: what was sent as JSON, as far as it is a message.
    #[must_use]
    pub fn with_message(self, method: &Method, request: EncodedRef<'_>) -> Self {
        let mut shown = request.without_body().bytes().to_vec();
        shown.extend_from_slice(&method.request(request.body()).unwrap_or_default());
        Self { request: shown, ..self }
    }
}

/// What is kept, and what is told of the request under way.
#[derive(Debug, Default)]
struct Notes {
    exchanges: Vec<Exchange>,
    checks: Vec<(String, Result<(), String>)>,
    missing: Vec<String>,
}

/// Sees everything. Clones see together.
#[derive(Debug, Clone, Default)]
pub struct Witness(Arc<Mutex<Notes>>);

impl Witness {
    fn lock(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer under way was held against a check.
    pub fn checked(&self, check: &str, held: Result<(), String>) {
        self.lock().checks.push((check.to_owned(), held));
    }

    /// Something was not in the answer under way.
    pub fn missed(&self, what: String) {
        self.lock().missing.push(what);
    }

    /// A request is over.
    pub fn saw(&self, mut exchange: Exchange) {
        let mut seen = self.lock();
        exchange.checks = std::mem::take(&mut seen.checks);
        exchange.missing = std::mem::take(&mut seen.missing);
        exchange.request.truncate(BYTES_MAX);
        exchange.body.truncate(BYTES_MAX);
        if seen.exchanges.len() < EXCHANGES_MAX {
            seen.exchanges.push(exchange);
        }
    }

    /// Everything seen so far, in order.
    #[must_use]
    pub fn take(&self) -> Vec<Exchange> {
        std::mem::take(&mut self.lock().exchanges)
    }
}
