//! A connection without I/O, for whoever tests what its reader makes of foreign bytes: requests are under way, bytes come in any pieces,
//! and each request's verdict can be asked for.
//!
//! The types that carry real connections stay private; what a test from outside or a fuzzer needs of them stands here.

use std::task::{Context, Waker};

use measure::Failure;
use plan::{Nanos, WindowBytes};

use super::Windows;
use super::session::{Kind, Session};
use super::written::WrittenHead;

/// A connection on which requests are under way.
pub struct Conversation {
    session: Session,
    seats: Vec<u32>,
}

/// What became of one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// 0 before the final head.
    pub status: u16,
    /// Of the final head.
    pub headers: usize,
    /// Its content, as far as it has come.
    pub content: Vec<u8>,
    /// `None` while it is under way.
    pub ended: Option<Result<(), Failure>>,
}

impl Conversation {
    /// One with this many requests under way on streams 1, 3, 5 and so on; whoever sent the last one has given it up.
    #[must_use]
    pub fn new(requests: u32) -> Self {
        let mut session = Session::new(Windows::new(WindowBytes::OF_STREAM, WindowBytes::OF_CONNECTION));
        let cx = Context::from_waker(Waker::noop());
        let seats: Vec<u32> = (0..requests).map(|_| session.sit()).collect();
        // GET of http and the path /, from the table that does not change.
        let mut head = WrittenHead::default();
        (head.number, head.plain) = (1, vec![0x82, 0x86, 0x84]);
        for seat in &seats {
            session.begin(*seat, &head, Kind { looks: true, ..Kind::default() }, &cx);
        }
        if let Some(last) = seats.last() {
            session.end(*last, Nanos::ZERO);
        }
        Self { session, seats }
    }

    /// The server says this.
    pub fn read(&mut self, bytes: &[u8]) {
        self.session.read(bytes, Nanos::ZERO);
    }

    /// What is said to the server.
    #[must_use]
    pub fn written(&self) -> &[u8] {
        &self.session.out
    }

    /// Whether the server broke a rule of the connection, so that nothing more is read.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.session.is_broken()
    }

    /// What became of each request, in the order of their streams.
    #[must_use]
    pub fn verdicts(&mut self) -> Vec<Verdict> {
        let of = |seat: &u32| {
            let place = self.session.seat(*seat);
            Verdict { status: place.status, headers: place.fields.len(), content: place.body.clone(), ended: place.ended }
        };
        self.seats.iter().map(of).collect()
    }
}
