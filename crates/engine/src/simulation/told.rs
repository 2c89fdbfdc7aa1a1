//! What tests ask of a simulated run: who heard which answer, how many requests failed so, and what became of connections.

use std::cell::RefCell;
use std::rc::Rc;

use measure::{Connections, Failure, Outcome, Quirk, Summary};
use plan::Nanos;

use crate::protocol::{EncodedRef, Header, ResponseSink};
use crate::transport::Transport;
use crate::worker::{Behaviour, Client, End, Request};

/// What users wrote down.
pub(crate) type Heard = Rc<RefCell<Vec<String>>>;

/// Sends its user's number again and again, and writes down what comes back.
pub(crate) struct Numbering {
    pub(crate) heard: Heard,
    pub(crate) pause: Nanos,
    /// How a path is asked for.
    pub(crate) request: fn(&str) -> String,
}

/// An answer's headers and content.
#[derive(Default)]
struct Text {
    headers: String,
    content: Vec<u8>,
}

impl ResponseSink for Text {
    fn head(&mut self, _status: u16, headers: &[Header<'_>]) {
        self.headers = headers.iter().map(|header| format!("{}={}", header.name, String::from_utf8_lossy(header.value))).collect();
    }

    fn body(&mut self, bytes: &[u8]) {
        self.content.extend_from_slice(bytes);
    }
}

impl Behaviour for Numbering {
    type User = u64;

    fn user(&self, number: u64) -> u64 {
        number
    }

    async fn iterate<T: Transport>(&self, user: &mut u64, client: &mut Client<'_, T>) -> Result<(), End> {
        let mut text = Text::default();
        client.turn(self.pause).await?;
        let path = format!("/{user}");
        let request = (self.request)(&path);
        let outcome: Outcome = client.fetch(&Request::new(EncodedRef::read(request.as_bytes())), &mut text).await?;
        self.heard.borrow_mut().push(match outcome.result {
            Ok(status) => format!("{path} {status} {}{}", String::from_utf8_lossy(&text.content), text.headers),
            Err(failure) => format!("{path} {}", failure.code()),
        });
        client.record(&outcome);
        Ok(())
    }
}

/// How many requests failed so.
pub(crate) fn count(summary: &Summary, class: Failure) -> u64 {
    summary.failures.iter().find(|failure| failure.class == class).map_or(0, |failure| failure.count)
}

/// How many answers were odd in this way.
pub(crate) fn quirk(summary: &Summary, quirk: Quirk) -> u64 {
    summary.quirks.iter().find(|counted| counted.quirk == quirk.code()).map_or(0, |counted| counted.count)
}

/// What became of connections that places share.
pub(crate) fn of(opened: u64, closed_by_server: u64, closed_by_us: u64) -> Connections {
    Connections { opened, http2: opened, closed_by_server, closed_by_us, ..Connections::default() }
}
