//! One thread's part of the load: it computes what it has to send, sends it, and records what happened.
//!
//! A worker shares nothing with others but the Stop signal and the channel on which it hands over its counts. Inside
//! it everything is single-threaded: cells instead of locks. Its parts are tasks of one Tokio runtime: a Lane per
//! connection, a pacer in open load, and a warden that ends requests whose time is over.
//!
//! Arrivals that wait for a Lane are not kept in a queue: they are computable, so the line is only the place up to
//! which arrivals have been taken, and a stalled server costs no memory.

mod client;
mod heartbeat;
mod lane;
mod pacer;
mod teardown;
mod user;

use std::cell::{Cell, RefCell};
use std::iter::Peekable;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use measure::{Closer, Failure, Leftovers, Outcome, Quirks, Recorder, Snapshot, Span};
use plan::{Arrivals, Load, Nanos, Part, Share};
use tokio::sync::Notify;
use tokio::task::JoinSet;

use crate::clock::Clock;
use crate::exchange::{READ_BUFFER_BYTES, Surroundings};
use crate::message::Finished;
use crate::net::Dial;
use crate::program::{Broken, Program};
use crate::protocol::http1::KnownHead;
use crate::slot::Slot;
use crate::task::Task;
use crate::{Stop, Urgency};

use heartbeat::{BEAT, Heartbeat};
use teardown::{Mute, UserTeardown};

/// Counts are handed over this often.
pub(crate) const INTERVAL: Nanos = Nanos::SECOND;

/// How long past its deadline a request may go unnoticed at most, and the least pause between two looks.
const LOOK_MAX: Nanos = Nanos::from_millis(50);
const LOOK_MIN: Nanos = Nanos::from_millis(1);

/// One thread's part of the load.
pub(crate) struct Worker<D: Dial, C: Clock, P: Program> {
    task: Arc<Task>,
    program: P,
    share: Share,
    /// Which of the run's connections are this worker's.
    of_run: Share,
    dial: D,
    clock: C,
    stop: Stop,
    hand_over: Box<dyn Fn(Snapshot)>,
    recorder: RefCell<Recorder>,
    /// Where the current interval ends, and its number.
    interval_end: Cell<Nanos>,
    interval: Cell<u32>,
    cpu: Cell<Nanos>,
    heartbeat: Heartbeat,
    buffer: RefCell<Box<[u8]>>,
    /// The last head of an answer.
    known: RefCell<KnownHead>,
    slots: RefCell<Vec<Rc<Slot>>>,
    /// Slots of Lanes that ended, to be used again.
    vacant: RefCell<Vec<u32>>,
    /// Requests still to be sent in closed load, where their number is limited.
    budget: Cell<u64>,
    /// Open load: what is still to come, and the Lanes without work, the one used last on top.
    arrivals: RefCell<Option<Peekable<Arrivals>>>,
    idle: RefCell<Vec<u32>>,
    /// Rung when a Lane found nothing to do while the pacer was waiting for one.
    relief: Notify,
    pacer_waits: Cell<bool>,
    dialled: Cell<u64>,
    stopped_at: Cell<Option<Nanos>>,
    /// Whether it was stopped from outside.
    interrupted: Cell<bool>,
    broken: RefCell<Option<Broken>>,
    /// Answers in the intervals handed over.
    answers: Cell<u64>,
    last_done: Cell<Nanos>,
    /// Users whose teardown waits until everything is counted.
    teardowns: RefCell<Vec<UserTeardown<D, P>>>,
    mute: Mute,
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
pub(crate) async fn ready<D: Dial + Clone + 'static>(task: &Task, part: Part, dial: &D, stop: &Stop) -> Ready<D> {
    let Part { share, of_run, .. } = part;
    let Some(users) = task.plan.users() else { return Ready::none() };
    let users = share.part(users.at(Nanos::ZERO).into());
    let mut connections = Vec::new();
    let open = async {
        let mut opening = JoinSet::new();
        let mut failed = 0;
        let mut number = 0;
        while number < users || !opening.is_empty() {
            if number < users && opening.len() < DIALS_AT_ONCE {
                let dial = dial.clone();
                let global = number * u64::from(of_run.of()) + u64::from(of_run.index());
                opening.spawn_local(async move { dial.dial(global).await.ok() });
                number += 1;
                continue;
            }
            let opened = opening.join_next().await.and_then(Result::ok);
            failed += usize::from(matches!(opened, Some(None)));
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

impl<D: Dial + 'static, C: Clock, P: Program> Worker<D, C, P> {
    pub(crate) fn new(
        task: Arc<Task>,
        program: P,
        part: Part,
        dial: D,
        clock: C,
        stop: Stop,
        hand_over: Box<dyn Fn(Snapshot)>,
    ) -> Rc<Self> {
        let plan = &task.plan;
        let Part { share, of_run, .. } = part;
        let budget = plan.requests().map_or(u64::MAX, |requests| share.part(requests.get()));
        let arrivals = match plan.load() {
            Load::Closed { .. } | Load::Mixed(_) => None,
            Load::Open { spacing, .. } => plan
                .timetable()
                .map(|timetable| Arrivals::new(timetable, *spacing, plan.seed(), plan.requests().map(Into::into), share).peekable()),
        };
        let span = Span { from: task.measured_from, until: task.end };
        let mut recorder = Recorder::new(span).with_tally(program.tally());
        if !task.populations.is_empty() {
            recorder = recorder.of_population(part.population as usize, task.populations.iter().cloned());
        }
        Rc::new(Self {
            recorder: RefCell::new(recorder),
            interval_end: Cell::new(INTERVAL),
            interval: Cell::new(0),
            cpu: Cell::new(clock.cpu()),
            heartbeat: Heartbeat::new(&clock),
            buffer: RefCell::new(vec![0; READ_BUFFER_BYTES].into_boxed_slice()),
            known: RefCell::default(),
            slots: RefCell::default(),
            vacant: RefCell::default(),
            budget: Cell::new(budget),
            arrivals: RefCell::new(arrivals),
            idle: RefCell::default(),
            relief: Notify::new(),
            pacer_waits: Cell::new(false),
            dialled: Cell::new(0),
            stopped_at: Cell::new(None),
            interrupted: Cell::new(false),
            broken: RefCell::default(),
            answers: Cell::new(0),
            last_done: Cell::new(Nanos::ZERO),
            teardowns: RefCell::default(),
            mute: Mute::default(),
            task,
            program,
            share,
            of_run,
            dial,
            clock,
            stop,
            hand_over,
        })
    }

    /// Sends this worker's share to its end and waits for every answer. Must run in a `LocalSet`.
    pub(crate) async fn work(self: Rc<Self>, ready: Ready<D>) -> Finished {
        let mut background = JoinSet::new();
        background.spawn_local(Self::warden(self.clone()));
        background.spawn_local(Self::listener(self.clone()));
        if let Some(every) = P::SAMPLES_EVERY {
            background.spawn_local(Self::sampler(self.clone(), every));
        }

        let mut lanes = JoinSet::new();
        if let Some(users) = self.task.plan.users() {
            let mut connections = ready.connections.into_iter();
            for number in 0..self.share.part(users.peak().into()) {
                let global = number * u64::from(self.share.of()) + u64::from(self.share.index());
                for presence in users.presence(global).into_iter().filter(|(from, _)| *from < self.task.end) {
                    let opened = if presence.0 == Nanos::ZERO { connections.next().flatten() } else { None };
                    lanes.spawn_local(user::user(self.clone(), number, presence, opened));
                }
            }
        } else {
            pacer::pace(&self, &mut lanes).await;
        }
        all_over(&mut lanes, &mut background).await;
        background.abort_all();

        let drained_at = self.last_done.get();
        let load_until = match self.stopped_at.get() {
            Some(stopped) => stopped.min(self.task.end),
            None if self.task.plan.requests().is_some() => drained_at.min(self.task.end),
            None => self.task.end,
        };
        self.turn_interval(self.clock.now());
        self.give();
        Finished {
            load_until,
            drained_at: drained_at.max(load_until),
            interrupted: self.interrupted.get(),
            run_queue_wait: None,
            broken: self.broken.take(),
        }
    }

    /// Carries out the teardown of all users who wait for it, and gives what the program leaves behind: everything is counted and
    /// handed over. Must run in a `LocalSet`.
    pub(crate) async fn tear_down(self: Rc<Self>) -> Leftovers {
        let teardowns = self.teardowns.take();
        if teardowns.is_empty() {
            return self.program.leftovers();
        }
        // Nothing is handed over any more.
        self.interval_end.set(Nanos::NEVER);
        let mut background = JoinSet::new();
        background.spawn_local(Self::warden(self.clone()));
        background.spawn_local(Self::listener(self.clone()));
        let mut users = JoinSet::new();
        for teardown in teardowns {
            users.spawn_local(teardown.run(self.clone()));
        }
        all_over(&mut users, &mut background).await;
        self.program.leftovers()
    }

    /// Ends requests whose time is over, and hands counts over when no request does.
    async fn warden(self: Rc<Self>) {
        let least = self.task.timeout.min(self.task.connect_timeout).min(self.program.limit_min().unwrap_or(Nanos::NEVER));
        let span = Nanos(least.0 / 20).clamp(LOOK_MIN, LOOK_MAX);
        let mut look_at = self.clock.now().plus(span);
        loop {
            tokio::time::sleep(Duration::from(span.min(BEAT))).await;
            let now = self.clock.now();
            self.beat(now);
            self.turn_interval(now);
            if now < look_at {
                continue;
            }
            look_at = now.plus(span);
            for slot in self.slots.borrow().iter() {
                slot.expire(now);
            }
            self.recorder.borrow_mut().look(now);
        }
    }

    /// Notices whether this worker had not run until now.
    fn beat(&self, now: Nanos) {
        if let Some(gap) = self.heartbeat.beat(&self.clock, now) {
            self.recorder.borrow_mut().stood_still(now.since(gap), now);
        }
    }

    /// The same where something is to be recorded that ended then.
    #[inline]
    fn notice_gap(&self, done: Nanos) {
        if self.heartbeat.is_late(done) {
            self.beat_late();
        }
    }

    /// The same before an outcome is recorded. What failed may be recorded at a limit that is long past.
    #[inline]
    fn notice_gap_before(&self, outcome: &Outcome) {
        self.notice_gap(if outcome.result.is_ok() { outcome.done } else { self.clock.now() });
    }

    #[cold]
    fn beat_late(&self) {
        self.beat(self.clock.now());
    }

    /// Waits for the Stop.
    async fn listener(self: Rc<Self>) {
        self.stop.beyond(Urgency::None).await;
        self.interrupted.set(true);
        self.halt();
        self.stop.beyond(Urgency::Drain).await;
        self.slots.borrow().iter().for_each(|slot| slot.abort());
    }

    /// No new requests from now on.
    fn halt(&self) {
        if self.is_stopping() {
            return;
        }
        let now = self.clock.now();
        self.stopped_at.set(Some(now));
        self.recorder.borrow_mut().end_at(now);
        self.relief.notify_one();
        self.slots.borrow().iter().for_each(|slot| slot.wake());
    }

    /// Shows the program how many answers have come, until the load ends.
    async fn sampler(self: Rc<Self>, every: Nanos) {
        let mut ticks = tokio::time::interval(Duration::from(every));
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.program.sample(self.clock.now(), self.answers.get() + self.recorder.borrow().answers());
        }
    }

    /// What the program said. `None`: it wants no more, or cannot go on, which ends the run.
    #[inline]
    fn heed<T>(&self, said: Result<T, Broken>) -> Option<T> {
        match said {
            Ok(_) if self.program.has_stopped() => {
                self.halt();
                None
            }
            Ok(said) => Some(said),
            Err(broken) => {
                self.breaks(broken);
                None
            }
        }
    }

    #[cold]
    fn breaks(&self, broken: Broken) {
        self.broken.borrow_mut().get_or_insert(broken);
        self.halt();
        self.stop.raise();
    }

    fn is_stopping(&self) -> bool {
        self.stopped_at.get().is_some()
    }

    fn around<'a>(&'a self, slot: &'a Slot) -> Surroundings<'a, C> {
        Surroundings { clock: &self.clock, buffer: &self.buffer, known: &self.known, slot }
    }

    /// A place among the slots: one that is vacant, or a new one.
    fn take_slot(&self) -> (u32, Rc<Slot>) {
        let mut slots = self.slots.borrow_mut();
        let slot = Rc::new(Slot::default());
        if self.stop.urgency() == Urgency::Now {
            // All slots there were have been told; this one comes too late for that.
            slot.abort();
        }
        if let Some(place) = self.vacant.borrow_mut().pop() {
            slots[place as usize] = slot.clone();
            return (place, slot);
        }
        slots.push(slot.clone());
        ((slots.len() - 1) as u32, slot)
    }

    fn leave_slot(&self, place: u32) {
        self.slots.borrow()[place as usize].end();
        self.vacant.borrow_mut().push(place);
    }

    /// The number of the next connection of the whole run, so that addresses are taken in turn over all workers.
    fn next_dial(&self) -> u64 {
        let number = self.dialled.get();
        self.dialled.set(number + 1);
        number * u64::from(self.of_run.of()) + u64::from(self.of_run.index())
    }

    #[inline]
    fn fell_due(&self, due: Nanos) {
        self.recorder.borrow_mut().due(due);
    }

    #[inline]
    fn left(&self, at: Nanos) {
        self.recorder.borrow_mut().left(at);
    }

    #[inline]
    fn came_back(&self, at: Nanos) {
        self.recorder.borrow_mut().came_back(at);
    }

    #[inline]
    fn record(&self, outcome: &Outcome) {
        self.notice_gap_before(outcome);
        if outcome.done >= self.interval_end.get() {
            self.turn_interval(outcome.done);
        }
        self.recorder.borrow_mut().record(outcome);
        self.last_done.set(self.last_done.get().max(outcome.done));
    }

    /// The same as the program counts it.
    #[inline]
    fn record_of(&self, state: &mut P::User, outcome: &Outcome) {
        self.notice_gap_before(outcome);
        if outcome.done >= self.interval_end.get() {
            self.turn_interval(outcome.done);
        }
        self.program.record(state, outcome, &mut self.recorder.borrow_mut());
        self.last_done.set(self.last_done.get().max(outcome.done));
    }

    fn unsent(&self, due: Nanos, waited: Nanos) {
        self.notice_gap(self.clock.now());
        self.fell_due(due);
        self.recorder.borrow_mut().unsent(due, waited);
    }

    fn closed(&self, by: Closer) {
        self.count_connection(|recorder| recorder.closed(by));
    }

    fn quirks(&self, quirks: Quirks) {
        if !quirks.is_empty() {
            self.recorder.borrow_mut().quirks(quirks);
        }
    }

    fn example(&self, failure: Failure, at: Nanos, text: impl FnOnce() -> String) {
        self.recorder.borrow_mut().example(failure, at, text);
    }

    /// Whether any more requests may be sent, and if so takes so many.
    fn take_from_budget(&self, requests: u64) -> bool {
        let left = self.budget.get();
        self.budget.set(left.saturating_sub(requests));
        if left > 0 && left <= requests {
            // Nobody has anything to rest for any more.
            self.slots.borrow().iter().for_each(|slot| slot.wake());
        }
        left > 0
    }

    fn is_spent(&self) -> bool {
        self.budget.get() == 0
    }

    /// Wakes the pacer if it waits for a Lane.
    fn relieve(&self) {
        if self.pacer_waits.get() {
            self.relief.notify_one();
        }
    }

    /// Hands over every interval that ended before `now`.
    fn turn_interval(&self, now: Nanos) {
        while now >= self.interval_end.get() {
            self.give();
        }
    }

    /// Hands over the current interval and begins the next.
    fn give(&self) {
        let next = self.interval.get() + 1;
        let cpu = self.clock.cpu();
        let mut recorder = self.recorder.borrow_mut();
        recorder.cpu(cpu.since(self.cpu.get()));
        self.cpu.set(cpu);
        recorder.interval_ends(self.interval_end.get());
        let answers = recorder.answers();
        let full = recorder.swap(Snapshot::empty(next));
        self.answers.set(self.answers.get() + answers);
        self.interval.set(next);
        self.interval_end.set(self.interval_end.get().plus(INTERVAL));
        (self.hand_over)(full);
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
