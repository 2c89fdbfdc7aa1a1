//! What happened to one request: five times, bytes, and a status or a failure. `Copy`, no heap, not kept.
//!
//! ```text
//! due ──── wait ────► ready ── lag ──► sent ────────► first_byte ────► done
//!  └──────────────────────── response time ──────────────────────────────┘
//!                                       └──────── service time ──────────┘
//! ```

use plan::Nanos;

use crate::Failure;

/// What happened to one request. All times count from the start of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// When the Timetable wanted it, or in closed load when its user did.
    pub due: Nanos,
    /// The later of due and *a Lane is free*: its connection stands.
    pub ready: Nanos,
    /// Just before the first byte was written. For a request that was never sent, the same as `done`.
    pub sent: Nanos,
    /// When the first byte of the answer was read. For a request without one, the same as `done`.
    pub first_byte: Nanos,
    /// When its last byte was read, or when it failed; for a timeout, exactly its limit.
    pub done: Nanos,
    /// Bytes written, head included.
    pub bytes_out: u32,
    /// Bytes read, head included.
    pub bytes_in: u64,
    /// The status of the final answer, or why there is none.
    pub result: Result<u16, Failure>,
}

impl Outcome {
    /// Whether there was a whole answer, whatever it said.
    #[inline]
    #[must_use]
    pub const fn is_answered(&self) -> bool {
        match self.result {
            Ok(_) => true,
            Err(failure) => failure.is_answered(),
        }
    }

    /// What a user feels: `done − due`. Also called TTLB, time to last byte.
    #[must_use]
    pub const fn response_time(&self) -> Nanos {
        self.done.since(self.due)
    }

    /// What the server took: `done − sent`.
    #[must_use]
    pub const fn service_time(&self) -> Nanos {
        self.done.since(self.sent)
    }

    /// `ready − due`: no Lane was free.
    #[must_use]
    pub const fn wait(&self) -> Nanos {
        self.ready.since(self.due)
    }

    /// `sent − ready`: what we added.
    #[must_use]
    pub const fn lag(&self) -> Nanos {
        self.sent.since(self.ready)
    }
}
