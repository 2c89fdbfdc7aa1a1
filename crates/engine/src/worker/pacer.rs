//! Open load: takes arrivals as they fall due and gives each a Lane.
//!
//! A due request takes the idle Lane used last (so that no more connections stay open than are needed), else opens
//! one up to the limit, else waits in line. While it waits the Lanes help themselves: whoever is done takes the next
//! arrival that is due. There is no catching up at double speed: what is late is sent at once, as users would.

use std::rc::Rc;

use plan::Nanos;
use tokio::task::JoinSet;

use super::behaviour::{Arrivals, Behaviour};
use super::shared::{LOOK_MAX, Shared};
use super::{Worker, user};
use crate::clock::{Alarm, Clock};
use crate::stop::Urgency;
use crate::transport::Transport;

/// After so many arrivals at once, answers get their turn: reading late would look like a slow server.
const ARRIVALS_A_TURN: u32 = 64;

/// So soon is looked again for what should have come.
const LOOK_AGAIN: Nanos = Nanos::from_millis(1);

/// Runs until the last arrival has been taken or the load is stopped.
pub(super) async fn pace<T: Transport, B: Behaviour>(worker: &Rc<Worker<T, B>>, lanes: &mut JoinSet<()>) {
    let shared = &*worker.shared;
    let mut alarm = shared.clock.alarm();
    let lanes_max = shared.share.part(shared.task.plan.connections_max().get().into()).max(1);
    let mut taken = 0;
    while !shared.is_stopping() {
        let Some(due) = worker.next_due() else { break };
        let now = shared.clock.now();
        if due > now {
            taken = 0;
            // What a behaviour knows of may come to its end while nothing falls due.
            alarm.set(if worker.behaviour.arrivals().is_some() { due.min(now.plus(LOOK_MAX)) } else { due });
            tokio::select! {
                biased;
                () = alarm.rung() => {}
                () = shared.relief.notified() => {}
            }
            continue;
        }
        while lanes.try_join_next().is_some_and(|lane| rethrow(lane).is_some()) {}
        if shared.idle.borrow().is_empty() && lanes.len() as u64 >= lanes_max {
            shared.pacer_waits.set(true);
            tokio::select! {
                biased;
                () = shared.relief.notified() => {}
                // A Lane that panicked relieves nobody.
                Some(lane) = lanes.join_next() => drop(rethrow(lane)),
            }
            shared.pacer_waits.set(false);
            continue;
        }
        let Some(due) = worker.take_due(now) else {
            wait_for_more(worker, &mut alarm, now).await;
            continue;
        };
        let idle = shared.idle.borrow_mut().pop();
        match idle {
            Some(place) => shared.slots.borrow()[place as usize].assign(due),
            None => _ = lanes.spawn_local(user::carrier(worker.clone(), due)),
        }
        taken += 1;
        if taken == ARRIVALS_A_TURN {
            taken = 0;
            tokio::task::yield_now().await;
        }
    }
    // An end of the load ends what arrives as well, and may be seen by that first.
    if shared.stop.urgency() > Urgency::None && !shared.is_stopping() {
        shared.interrupted.set(true);
        shared.halt();
    }
    worker.end_arrivals();
    // Idle Lanes have nothing to wait for any more.
    for place in shared.idle.borrow_mut().drain(..) {
        shared.slots.borrow()[place as usize].wake();
    }
}

/// What has fallen due may be on its way from another process: it is looked for again soon, and answers are read meanwhile.
async fn wait_for_more<T: Transport, B: Behaviour>(worker: &Rc<Worker<T, B>>, alarm: &mut impl Alarm, now: Nanos) {
    if worker.next_due().is_some_and(|due| due <= now) {
        alarm.set(now.plus(LOOK_AGAIN));
        alarm.rung().await;
    }
}

fn rethrow(lane: Result<(), tokio::task::JoinError>) -> Option<()> {
    match lane {
        Ok(()) => Some(()),
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

impl<T: Transport, B: Behaviour> Worker<T, B> {
    /// When the next arrival falls due, if there is one.
    fn next_due(&self) -> Option<Nanos> {
        match self.behaviour.arrivals() {
            Some(arrivals) => arrivals.next_due(),
            None => self.shared.arrivals.borrow_mut().as_mut()?.peek().copied(),
        }
    }

    /// Takes the next arrival if it is due, and counts those unsent whose time was over before a Lane was free.
    pub(super) fn take_due(&self, now: Nanos) -> Option<Nanos> {
        let Some(arrivals) = self.behaviour.arrivals() else { return self.shared.take_due(now) };
        let timeout = self.shared.task.timeout;
        loop {
            self.shared.arrivals.borrow().as_ref()?;
            let due = arrivals.take_due(now)?;
            if due.plus(timeout) > now {
                return Some(due);
            }
            self.unsent(due, timeout);
        }
    }

    /// No more arrivals: those that were due and found no Lane before the load was stopped are unsent, and waited until then.
    fn end_arrivals(&self) {
        if let Some(stopped) = self.shared.stopped_at.get() {
            if let Some(arrivals) = self.behaviour.arrivals() {
                arrivals.stop();
            }
            while let Some(due) = self.take_due(stopped) {
                self.unsent(due, stopped.since(due));
            }
        }
        *self.shared.arrivals.borrow_mut() = None;
    }

    fn unsent(&self, due: Nanos, waited: Nanos) {
        if let Some(arrivals) = self.behaviour.arrivals() {
            arrivals.unsent(due);
        }
        self.shared.unsent(due, waited);
    }
}

impl<T: Transport> Shared<T> {
    /// Takes the timetable's next arrival if it is due, and counts those unsent whose time was over before a Lane was free.
    pub(super) fn take_due(&self, now: Nanos) -> Option<Nanos> {
        loop {
            let due = self.arrivals.borrow_mut().as_mut()?.next_if(|due| *due <= now)?;
            if due.plus(self.task.timeout) > now {
                return Some(due);
            }
            self.unsent(due, self.task.timeout);
        }
    }

    /// Whether every arrival has been taken.
    pub(super) fn arrivals_ended(&self) -> bool {
        self.arrivals.borrow().is_none()
    }
}
