//! One request of a plan by itself, before its load: what a server has to be asked so that there is a load at all.
//!
//! It goes the way of the load's own requests, over a connection as theirs will be, with the plan's TLS, proxy and time limit. A small client
//! beside the engine, the alternative, would have all of these once more.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

use measure::{Failure, Outcome};
use plan::{Nanos, Plan, Target};

use crate::protocol::{Encoded, ResponseSink};
use crate::transport::Transport;
use crate::worker::{Behaviour, Client, End, Request};
use crate::{RunError, Runner, Stop};

/// Of an answer, so much is kept, in bytes.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// Why there is no answer.
#[derive(Debug)]
pub enum AskError {
    /// The server cannot be reached.
    Unreached(Box<RunError>),
    /// The request failed, and what was seen of it.
    Failed(Failure, String),
}

/// Sends a request to the plan's server or another that it may go to, once, and gives the content of its answer.
///
/// # Errors
/// If there is no answer, or one that is a failure.
pub fn ask(runner: &Runner, plan: &Plan, to: &Target, request: Encoded) -> Result<Vec<u8>, AskError> {
    let alone = plan.single_user();
    let unreached = |error: RunError| AskError::Unreached(Box::new(error));
    let answer: Arc<Mutex<Vec<u8>>> = Arc::default();
    let (kept, sent) = (answer.clone(), Arc::new((to.clone(), request)));
    let asking = move |_| Asking { sent: sent.clone(), answer: kept.clone(), content: RefCell::default() };
    let prepared = runner.clone().here().prepare(&alone).map_err(unreached)?;
    let run = prepared.run_with(asking, &mut |_, _| {}, &Stop::new()).map_err(unreached)?.close();
    if let Some(failed) = run.failures.first() {
        return Err(AskError::Failed(failed.class, failed.example.as_ref().map_or_else(String::new, |example| example.text.clone())));
    }
    let status = run.status.keys().next().copied().unwrap_or_default();
    if !measure::Status(status).is_success() {
        return Err(AskError::Failed(Failure::CheckStatus, format!("the status {status}")));
    }
    Ok(std::mem::take(&mut *answer.lock().unwrap_or_else(PoisonError::into_inner)))
}

struct Asking {
    /// Where to, and what.
    sent: Arc<(Target, Encoded)>,
    answer: Arc<Mutex<Vec<u8>>>,
    content: RefCell<Vec<u8>>,
}

/// The content of an answer.
struct Content<'a>(&'a RefCell<Vec<u8>>);

impl ResponseSink for Content<'_> {
    fn body(&mut self, bytes: &[u8]) {
        let mut content = self.0.borrow_mut();
        let room = ANSWER_BYTES_MAX - content.len();
        content.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

impl Behaviour for Asking {
    type User = ();

    fn user(&self, _number: u64) {}

    /// Whichever server it goes to.
    fn opens_first(&self) -> bool {
        false
    }

    async fn iterate<T: Transport>(&self, _user: &mut (), client: &mut Client<'_, T>) -> Result<(), End> {
        let (to, request) = &*self.sent;
        client.turn(Nanos::ZERO).await?;
        let outcome: Outcome = client.fetch(&Request::new(request.as_ref()).to(to), &mut Content(&self.content)).await?;
        client.record(&outcome);
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = self.content.take();
        client.stop();
        Err(End::Over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::EncodedRef;
    use crate::simulation::{Simulation, answer, plan, read_request};

    fn asked(status: u16) -> Result<Vec<u8>, AskError> {
        let server = Simulation::of(move |mut stream, _| async move {
            while read_request(&mut stream).await.is_some() {
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
                answer(&mut stream, status, "as asked").await;
            }
        });
        let bytes = b"GET /what HTTP/1.1\r\n\r\n";
        let request = Encoded { bytes: bytes.to_vec(), layout: EncodedRef::read(bytes).layout() };
        let plan = plan(|draft| draft.requests = "5".parse().ok());
        ask(&Runner::simulated(&server), &plan, plan.target(), request)
    }

    #[test]
    fn one_request_is_sent_and_its_answer_kept() {
        assert_eq!(asked(200).unwrap(), b"as asked");
        assert!(matches!(asked(503), Err(AskError::Failed(Failure::CheckStatus, _))));
    }
}
