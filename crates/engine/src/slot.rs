//! The worker's hand on a Lane: its deadline, and a way to wake it.
//!
//! A timer per request would cost more than the rest of our work on it. All requests have the same time limit, so a
//! worker writes each one's deadline into a cell and looks over all cells some times a second; whoever is over its
//! time is marked and woken, and records its end *at* the deadline, however late the look was.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use measure::Failure;
use plan::Nanos;

/// Why a Lane has to give up what it is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GiveUp {
    /// The request's time is over.
    Expired,
    /// The run is ended at once.
    Aborted,
}

/// One Lane as its worker sees it.
#[derive(Debug)]
pub(crate) struct Slot {
    deadline: Cell<Nanos>,
    give_up: Cell<Option<GiveUp>>,
    /// An arrival handed to an idle Lane: when it fell due.
    assigned: Cell<Option<Nanos>>,
    waker: RefCell<Option<Waker>>,
}

impl Default for Slot {
    fn default() -> Self {
        Self { deadline: Cell::new(Nanos::NEVER), give_up: Cell::new(None), assigned: Cell::new(None), waker: RefCell::new(None) }
    }
}

impl Slot {
    /// A request begins: it has until then.
    #[inline]
    pub(crate) fn begin(&self, deadline: Nanos) {
        self.deadline.set(deadline);
        if self.give_up.get() == Some(GiveUp::Expired) {
            self.give_up.set(None);
        }
    }

    /// The request is over.
    #[inline]
    pub(crate) fn end(&self) {
        self.deadline.set(Nanos::NEVER);
    }

    /// Until when the request has time.
    pub(crate) fn deadline(&self) -> Nanos {
        self.deadline.get()
    }

    /// Whether the Lane has to give up.
    #[inline]
    pub(crate) fn give_up(&self) -> Option<GiveUp> {
        self.give_up.get()
    }

    /// What a request fails with if the Lane has to give it up; `late` says it of one whose time is over.
    #[inline]
    pub(crate) fn failure(&self, late: impl FnOnce() -> Failure) -> Option<Failure> {
        self.give_up.get().map(|give_up| match give_up {
            GiveUp::Aborted => Failure::ClientInterrupted,
            GiveUp::Expired => late(),
        })
    }

    /// Remembers whom to wake. Called whenever the Lane is about to wait.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "on the path of every request, and three comparisons")]
    pub(crate) fn waits(&self, cx: &Context<'_>) {
        if !self.waker.borrow().as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
            self.remember(cx.waker());
        }
    }

    /// A Lane stays in its task, so it is the same waker ever after.
    #[cold]
    fn remember(&self, waker: &Waker) {
        *self.waker.borrow_mut() = Some(waker.clone());
    }

    /// Wakes the Lane.
    pub(crate) fn wake(&self) {
        if let Some(waker) = &*self.waker.borrow() {
            waker.wake_by_ref();
        }
    }

    /// Marks and wakes the Lane if its request's time is over.
    #[inline]
    pub(crate) fn expire(&self, now: Nanos) {
        if self.deadline.get() <= now && self.give_up.get().is_none() {
            self.give_up.set(Some(GiveUp::Expired));
            self.wake();
        }
    }

    /// The run is ended at once.
    pub(crate) fn abort(&self) {
        self.give_up.set(Some(GiveUp::Aborted));
        self.wake();
    }

    /// Hands an arrival to the idle Lane.
    pub(crate) fn assign(&self, due: Nanos) {
        self.assigned.set(Some(due));
        self.wake();
    }

    /// The arrival that was handed over.
    pub(crate) fn take_assigned(&self) -> Option<Nanos> {
        self.assigned.take()
    }

    /// Waits for `future`, but gives up when told to.
    pub(crate) async fn unless_given_up<F: Future>(&self, future: F) -> Result<F::Output, GiveUp> {
        let mut future = pin!(future);
        std::future::poll_fn(|cx| {
            if let Some(give_up) = self.give_up.get() {
                return Poll::Ready(Err(give_up));
            }
            self.waits(cx);
            future.as_mut().poll(cx).map(Ok)
        })
        .await
    }
}
