//! Open load: takes arrivals as they fall due and gives each a Lane.
//!
//! A due request takes the idle Lane used last (so that no more connections stay open than are needed), else opens
//! one up to the limit, else waits in line. While it waits the Lanes help themselves: whoever is done takes the next
//! arrival that is due. There is no catching up at double speed: what is late is sent at once, as users would.

use std::rc::Rc;

use plan::Nanos;
use tokio::task::JoinSet;

use super::{LOOK_MAX, Worker, user};
use crate::clock::{Alarm, Clock};
use crate::net::Dial;
use crate::program::Program;

/// After so many arrivals at once, answers get their turn: reading late would look like a slow server.
const ARRIVALS_A_TURN: u32 = 64;

/// Runs until the last arrival has been taken or the load is stopped.
pub(super) async fn pace<D: Dial + 'static, C: Clock, P: Program>(worker: &Rc<Worker<D, C, P>>, lanes: &mut JoinSet<()>) {
    let mut alarm = worker.clock.alarm();
    let lanes_max = worker.share.part(worker.task.plan.connections_max().get().into()).max(1);
    let mut taken = 0;
    while !worker.is_stopping() {
        let Some(due) = worker.next_due() else { break };
        let now = worker.clock.now();
        if due > now {
            taken = 0;
            // What a program knows of may come to its end while nothing falls due.
            alarm.set(if P::ARRIVES { due.min(now.plus(LOOK_MAX)) } else { due });
            tokio::select! {
                biased;
                () = alarm.rung() => {}
                () = worker.relief.notified() => {}
            }
            continue;
        }
        while lanes.try_join_next().is_some_and(|lane| rethrow(lane).is_some()) {}
        let idle = worker.idle.borrow_mut().pop();
        if let Some(place) = idle {
            let Some(due) = worker.take_due(now) else {
                worker.idle.borrow_mut().push(place);
                continue;
            };
            worker.slots.borrow()[place as usize].assign(due);
        } else if (lanes.len() as u64) < lanes_max {
            let Some(due) = worker.take_due(now) else { continue };
            lanes.spawn_local(user::carrier(worker.clone(), due));
        } else {
            worker.pacer_waits.set(true);
            tokio::select! {
                biased;
                () = worker.relief.notified() => {}
                // A Lane that panicked relieves nobody.
                Some(lane) = lanes.join_next() => drop(rethrow(lane)),
            }
            worker.pacer_waits.set(false);
            continue;
        }
        taken += 1;
        if taken == ARRIVALS_A_TURN {
            taken = 0;
            tokio::task::yield_now().await;
        }
    }
    worker.end_arrivals();
    // Idle Lanes have nothing to wait for any more.
    for place in worker.idle.borrow_mut().drain(..) {
        worker.slots.borrow()[place as usize].wake();
    }
}

fn rethrow(lane: Result<(), tokio::task::JoinError>) -> Option<()> {
    match lane {
        Ok(()) => Some(()),
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}

impl<D: Dial + 'static, C: Clock, P: Program> Worker<D, C, P> {
    /// When the next arrival falls due, if there is one.
    fn next_due(&self) -> Option<Nanos> {
        if P::ARRIVES {
            return self.program.next_due();
        }
        self.arrivals.borrow_mut().as_mut()?.peek().copied()
    }

    /// Takes the next arrival if it is due, and counts those unsent whose time was over before a Lane was free.
    pub(super) fn take_due(&self, now: Nanos) -> Option<Nanos> {
        loop {
            let due = if P::ARRIVES {
                self.arrivals.borrow().as_ref()?;
                self.program.take_due(now)?
            } else {
                self.arrivals.borrow_mut().as_mut()?.next_if(|due| *due <= now)?
            };
            if due.plus(self.task.timeout) > now {
                return Some(due);
            }
            self.program.unsent(due);
            self.unsent(due, self.task.timeout);
        }
    }

    /// No more arrivals: those that were due and found no Lane before the load was stopped are unsent, and waited until then.
    fn end_arrivals(&self) {
        if let Some(stopped) = self.stopped_at.get() {
            self.program.stops();
            while let Some(due) = self.take_due(stopped) {
                self.program.unsent(due);
                self.unsent(due, stopped.since(due));
            }
        }
        *self.arrivals.borrow_mut() = None;
    }

    /// Whether every arrival has been taken.
    pub(super) fn arrivals_ended(&self) -> bool {
        self.arrivals.borrow().is_none()
    }
}
