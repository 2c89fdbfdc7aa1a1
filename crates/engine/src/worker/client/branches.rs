//! What one user does at the same time, each on a Lane of its own: how a client becomes several, and one again.
//!
//! A browser opens a handful of connections and loads a page over all of them. So a user has further Lanes from the first time that it
//! does several things at once, and keeps them, as it keeps its own. They stand with the worker, by the place of the user's Lane:
//! a field in each Lane was the alternative, and every idle user of every load would be larger for it.
//!
//! Invariant: a Lane is its user's or in use, and goes with its user.

use std::future::poll_fn;
use std::task::Poll;

use measure::Recorder;
use plan::{Nanos, Random};

use super::{Client, End, Phase};
use crate::transport::Transport;
use crate::worker::lane::Lane;

impl<T: Transport> Client<'_, T> {
    /// Waits as [`turn`](Self::turn) does, where a request may come next or not.
    ///
    /// # Errors
    /// [`End::Over`] if nothing more is sent.
    pub async fn rest(&mut self, pause: Nanos) -> Result<(), End> {
        if self.owed > Nanos::ZERO || pause > Nanos::ZERO {
            self.rest_before(pause).await;
            self.has_turn &= self.phase != Phase::Arrival;
        }
        if self.has_turn || !self.is_over() { Ok(()) } else { Err(End::Over) }
    }

    /// Makes so many further clients, for what the user does at the same time from now on. [`join`](Self::join) takes them back.
    pub async fn branch(&mut self, count: usize) -> Vec<Self> {
        let shared = self.shared;
        let mut lanes = shared.take_branches(self.lane.place, count);
        poll_fn(|cx| {
            lanes.iter_mut().for_each(|lane| lane.poll_lost(cx, shared));
            Poll::Ready(())
        })
        .await;
        lanes.resize_with(count, || Lane::new(shared));
        let mut client = |mut lane: Lane<T>| {
            lane.is_in_teardown = self.lane.is_in_teardown;
            let (has_turn, has_sent, refusals, owed) = (false, false, 0, Nanos::ZERO);
            let (phase, due, free_at, until) = (self.phase, self.due, self.free_at, self.until);
            let random = Random::new(self.random.bits(), 0);
            Self { shared, lane, phase, has_turn, has_sent, refusals, due, free_at, owed, until, random }
        };
        lanes.into_iter().map(&mut client).collect()
    }

    /// Goes on as one when all of them are through: from the last answer, and after every rest.
    pub async fn join(&mut self, branches: Vec<Self>) {
        let shared = self.shared;
        let (before, mut rested) = (self.due, self.due.plus(self.owed));
        for client in &branches {
            self.due = self.due.max(client.due);
            rested = rested.max(client.due.plus(client.owed));
            self.has_sent |= client.has_sent;
        }
        if self.due > before {
            (self.free_at, self.has_turn) = (self.due, false);
        }
        self.owed = rested.since(self.due);
        shared.keep_branches(self.lane.place, branches.into_iter().map(|client| client.lane));
        // It may have waited for the others for long.
        poll_fn(|cx| {
            self.lane.poll_lost(cx, shared);
            Poll::Ready(())
        })
        .await;
    }

    /// Counts what is no request: a journey that ends without one.
    pub fn count<R>(&mut self, count: impl FnOnce(&mut Recorder) -> R) -> R {
        self.shared.count(self.due, count)
    }
}
