//! One thread's part of the load: it computes what it has to send, sends it, and records what happened.
//!
//! A worker shares nothing with others but the Stop signal and the channel on which it hands over its counts. Inside
//! it everything is single-threaded: cells instead of locks. Its parts are tasks of one Tokio runtime: a task per
//! user or Lane, a pacer in open load, and a warden that ends requests whose time is over.
//!
//! Arrivals that wait for a Lane are not kept in a queue: they are computable, so the line is only the place up to
//! which arrivals have been taken, and a stalled server costs no memory.

mod behaviour;
mod client;
mod heartbeat;
mod lane;
mod pacer;
mod shared;
mod teardown;
mod user;

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use measure::{Leftovers, Snapshot};
use plan::{Nanos, Part};
use tokio::task::JoinSet;

use crate::clock::Clock;
use crate::message::Finished;
use crate::net::{Dial, Dialed, Version};
use crate::protocol::{Protocol, websocket};
use crate::task::Task;
use crate::transport::Transport;
use crate::{Stop, Urgency};

pub(crate) use behaviour::Fixed;
pub use behaviour::{Arrivals, Behaviour, Timetable};
pub use client::{Client, End, Request};
pub(crate) use shared::INTERVAL;

use shared::Shared;
use teardown::UserTeardown;
use user::Newcomer;

/// One thread's part of the load.
pub(crate) struct Worker<T: Transport, B: Behaviour> {
    shared: Rc<Shared<T>>,
    behaviour: B,
    /// Users whose teardown waits until everything is counted.
    teardowns: RefCell<Vec<UserTeardown<T, B>>>,
}

/// Connections a worker has open before the start line.
pub(crate) struct Ready<D: Dial> {
    connections: Vec<user::Opened<D>>,
}

impl<D: Dial> Ready<D> {
    /// Nothing open.
    pub(crate) fn none() -> Self {
        Self { connections: Vec::new() }
    }
}

/// A worker's connections opened before the run: closed load begins with all of its first users', so that opening is not measured.
pub(crate) async fn ready<P: Protocol, D: Dial + Clone + 'static>(task: &Task, part: Part, dial: &D, stop: &Stop) -> Ready<D> {
    let Part { share, of_run, .. } = part;
    let Some(users) = task.plan.users() else { return Ready::none() };
    let users = share.part(users.at(Nanos::ZERO).into());
    let speaks_websocket = task.plan.target().scheme().is_websocket();
    if speaks_websocket && (task.plan.is_filled_in() || task.plan.scenario().is_some()) {
        // The first message of each user says what its handshake asks for.
        return Ready::none();
    }
    let request = Arc::new(task.request.clone());
    let (seed, terms) = (task.plan.seed(), (task.connect_timeout, task.plan.connection().message_deflate));
    let mut needed = users.div_ceil(P::places(&task.plan));
    let mut connections = Vec::new();
    let open = async {
        let mut opening = JoinSet::new();
        let mut failed = 0;
        let mut number = 0;
        while number < needed || !opening.is_empty() {
            if number < needed && opening.len() < DIALS_AT_ONCE {
                let dial = dial.clone();
                let global = of_run.number(number);
                let request = request.clone();
                opening.spawn_local(async move {
                    let dialed = dial.dial(global).await.ok()?;
                    if !speaks_websocket {
                        return Some(dialed);
                    }
                    websocket::upgrade(dialed, request.as_ref().as_ref(), (seed, global), terms).await.ok()
                });
                number += 1;
                continue;
            }
            let opened = opening.join_next().await.and_then(Result::ok);
            failed += usize::from(matches!(opened, Some(None)));
            if let Some(Some(Dialed { version: Version::Http1, .. })) = &opened {
                // It has one place, whatever was hoped for.
                needed = users;
            }
            connections.extend(opened);
            if failed == DIALS_AT_ONCE {
                // A server that drops dials would put the start off for a connect timeout a wave: users dial for themselves.
                break;
            }
        }
    };
    tokio::select! {
        biased;
        _ = stop.beyond(Urgency::None) => {}
        () = open => {}
    }
    Ready { connections }
}

/// The server's backlog is finite, so connections are opened a wave at a time: half of the usual 128 for each of two
/// workers.
const DIALS_AT_ONCE: usize = 64;

impl<T: Transport, B: Behaviour> Worker<T, B> {
    pub(crate) fn new(
        task: Arc<Task>,
        behaviour: B,
        part: Part,
        dial: T::Dial,
        clock: T::Clock,
        stop: Stop,
        hand_over: Box<dyn Fn(Snapshot)>,
    ) -> Rc<Self> {
        let shared = Shared::new(task, (behaviour.tally(), behaviour.names(), behaviour.limit_min()), part, dial, clock, stop, hand_over);
        Rc::new(Self { shared, behaviour, teardowns: RefCell::default() })
    }

    /// Sends this worker's share to its end and waits for every answer. Must run in a `LocalSet`.
    pub(crate) async fn work(self: Rc<Self>, ready: Ready<T::Dial>) -> Finished {
        let shared = &*self.shared;
        let mut background = self.background();
        if let Some(every) = B::SAMPLES_EVERY {
            background.spawn_local(Self::sampler(self.clone(), every));
        }

        let mut lanes = JoinSet::new();
        if let Some(users) = shared.task.plan.users() {
            let mut connections = ready.connections.into_iter();
            for number in 0..shared.share.part(users.peak().into()) {
                let number = shared.share.number(number);
                for presence in users.presence(number).into_iter().filter(|(from, _)| *from < shared.task.end) {
                    let opened = if presence.0 == Nanos::ZERO { connections.next().flatten() } else { None };
                    lanes.spawn_local(user::user(self.clone(), Box::new(Newcomer { number, presence, opened })));
                }
            }
        } else {
            pacer::pace(&self, &mut lanes).await;
        }
        all_over(&mut lanes, &mut background).await;
        background.abort_all();

        let drained_at = shared.last_done.get();
        let load_until = match shared.stopped_at.get() {
            Some(stopped) => stopped.min(shared.task.end),
            None if shared.task.plan.ends_by_count() => drained_at.min(shared.task.end),
            None => shared.task.end,
        };
        shared.turn_interval(shared.clock.now());
        shared.give();
        // What is sent from now on is no part of the load.
        shared.recorder.borrow_mut().close_log();
        Finished {
            load_until,
            drained_at: drained_at.max(load_until),
            interrupted: shared.interrupted.get(),
            ends_all: shared.ends_all.get(),
            run_queue_wait: None,
            broken: shared.broken.take(),
        }
    }

    /// What goes on beside the users.
    fn background(&self) -> JoinSet<()> {
        let mut background = JoinSet::new();
        background.spawn_local(Shared::warden(self.shared.clone()));
        background.spawn_local(Shared::listener(self.shared.clone()));
        background
    }

    /// Carries out the teardown of all users who wait for it, and gives what the behaviour leaves behind: everything is counted and
    /// handed over. Must run in a `LocalSet`.
    pub(crate) async fn tear_down(self: Rc<Self>) -> Leftovers {
        let teardowns = self.teardowns.take();
        if teardowns.is_empty() {
            return self.behaviour.leftovers();
        }
        // Nothing is handed over any more.
        self.shared.interval_end.set(Nanos::NEVER);
        let mut background = self.background();
        let mut users = JoinSet::new();
        for teardown in teardowns {
            users.spawn_local(teardown.run(self.clone()));
        }
        all_over(&mut users, &mut background).await;
        self.behaviour.leftovers()
    }

    /// Shows the behaviour how many answers have come, until the load ends.
    async fn sampler(self: Rc<Self>, every: Nanos) {
        let mut ticks = tokio::time::interval(Duration::from(every));
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.behaviour.sample(self.shared.clock.now(), self.shared.answers.get() + self.shared.recorder.borrow().answers());
        }
    }
}

/// Waits until these tasks are over, while those in the background go on.
async fn all_over(tasks: &mut JoinSet<()>, background: &mut JoinSet<()>) {
    loop {
        let ended = tokio::select! {
            biased;
            Some(warden) = background.join_next() => warden,
            task = tasks.join_next() => match task {
                Some(task) => task,
                None => return,
            },
        };
        // A task that panicked is our mistake, and the run must not go on as if nothing had happened.
        if let Err(error) = ended {
            std::panic::resume_unwind(error.into_panic());
        }
    }
}
