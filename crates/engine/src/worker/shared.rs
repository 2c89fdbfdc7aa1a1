//! What the Lanes of a worker share: the network, the clock, what is counted, and what there is to be sent.
//!
//! It knows no behaviour: whatever users do, they do it with this.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::iter::Peekable;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use measure::{Closer, Failure, Outcome, Quirks, Recorder, Snapshot, Span, Tally};
use plan::{Arrivals, Load, Nanos, Part, Pause, Share};
use tokio::sync::Notify;

use super::heartbeat::{BEAT, Heartbeat};
use super::lane::Lane;
use super::teardown::Mute;
use crate::clock::Clock;
use crate::error::BehaviourError;
use crate::protocol::{Place as _, READ_BUFFER_BYTES, Surroundings};
use crate::slot::Slot;
use crate::task::Task;
use crate::transport::{Memory, Place, Transport};
use crate::{Stop, Urgency};

/// Counts are handed over this often.
pub(crate) const INTERVAL: Nanos = Nanos::SECOND;

/// How long past its deadline a request may go unnoticed at most, and the least pause between two looks.
pub(super) const LOOK_MAX: Nanos = Nanos::from_millis(50);
const LOOK_MIN: Nanos = Nanos::from_millis(1);

/// What the Lanes of a worker share.
pub(super) struct Shared<T: Transport> {
    pub(super) task: Arc<Task>,
    pub(super) share: Share,
    /// Which of the run's connections are this worker's.
    of_run: Share,
    pub(super) dial: T::Dial,
    pub(super) clock: T::Clock,
    pub(super) stop: Stop,
    hand_over: Box<dyn Fn(Snapshot)>,
    pub(super) recorder: RefCell<Recorder>,
    /// Where the current interval ends, and its number.
    pub(super) interval_end: Cell<Nanos>,
    interval: Cell<u32>,
    cpu: Cell<Nanos>,
    heartbeat: Heartbeat,
    pub(super) buffer: RefCell<Box<[u8]>>,
    /// What its connections share.
    pub(super) memory: Memory<T>,
    pub(super) slots: RefCell<Vec<Rc<Slot>>>,
    /// Slots of Lanes that ended, to be used again.
    vacant: RefCell<Vec<u32>>,
    /// Further Lanes of users that do several things at once, by the place of their own.
    pub(super) branches: RefCell<BTreeMap<u32, Vec<Lane<T>>>>,
    /// Requests still to be sent in closed load, where their number is limited.
    budget: Cell<u64>,
    /// Open load: what is still to come, and the Lanes without work, the one used last on top.
    pub(super) arrivals: RefCell<Option<Peekable<Arrivals>>>,
    pub(super) idle: RefCell<Vec<u32>>,
    /// Rung when a Lane found nothing to do while the pacer was waiting for one.
    pub(super) relief: Notify,
    pub(super) pacer_waits: Cell<bool>,
    dialled: Cell<u64>,
    pub(super) stopped_at: Cell<Option<Nanos>>,
    /// Whether it was stopped from outside.
    pub(super) interrupted: Cell<bool>,
    /// Whether its users ended the load.
    pub(super) ends_all: Cell<bool>,
    /// Why a behaviour could not go on.
    pub(super) broken: RefCell<Option<BehaviourError>>,
    /// What users wait between an answer and their next request.
    pub(super) pause: Option<Pause>,
    /// The least time limit of a request, the plan's or the behaviour's.
    limit_min: Nanos,
    /// Answers in the intervals handed over.
    pub(super) answers: Cell<u64>,
    pub(super) last_done: Cell<Nanos>,
    pub(super) mute: Mute,
}

impl<T: Transport> Shared<T> {
    pub(super) fn new(
        task: Arc<Task>,
        (tally, named, limit_min): (Tally, Vec<String>, Option<Nanos>),
        part: Part,
        dial: T::Dial,
        clock: T::Clock,
        stop: Stop,
        hand_over: Box<dyn Fn(Snapshot)>,
    ) -> Rc<Self> {
        let plan = &task.plan;
        let Part { share, of_run, .. } = part;
        let budget = plan.requests().map_or(u64::MAX, |requests| share.part(requests.get()));
        let (pause, arrivals) = match plan.load() {
            Load::Closed { pause, .. } => (*pause, None),
            Load::Mixed(_) => (None, None),
            Load::Open { spacing, .. } => {
                let arrivals =
                    |timetable| Arrivals::new(timetable, *spacing, plan.seed(), plan.requests().map(Into::into), share).peekable();
                (None, plan.timetable().map(arrivals))
            }
        };
        let span = Span { from: task.measured_from, until: task.end };
        let log = task.log.as_ref().and_then(|log| log.buffer(part, clock.began(), task.record_names(&tally, named)));
        let mut recorder = Recorder::new(span).with_tally(tally).with_log(log);
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
            memory: Place::<T>::memory(&task.plan),
            slots: RefCell::default(),
            vacant: RefCell::default(),
            branches: RefCell::default(),
            budget: Cell::new(budget),
            arrivals: RefCell::new(arrivals),
            idle: RefCell::default(),
            relief: Notify::new(),
            pacer_waits: Cell::new(false),
            dialled: Cell::new(0),
            stopped_at: Cell::new(None),
            interrupted: Cell::new(false),
            ends_all: Cell::new(false),
            broken: RefCell::default(),
            answers: Cell::new(0),
            last_done: Cell::new(Nanos::ZERO),
            mute: Mute::default(),
            pause,
            limit_min: [limit_min, task.plan.stream_for()].into_iter().flatten().fold(task.timeout.min(task.connect_timeout), Nanos::min),
            task,
            share,
            of_run,
            dial,
            clock,
            stop,
            hand_over,
        })
    }

    /// Ends requests whose time is over, and hands counts over when no request does.
    pub(super) async fn warden(self: Rc<Self>) {
        let span = Nanos(self.limit_min.0 / 20).clamp(LOOK_MIN, LOOK_MAX);
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
    pub(super) fn beat(&self, now: Nanos) {
        if let Some(gap) = self.heartbeat.beat(&self.clock, now) {
            self.recorder.borrow_mut().stood_still(now.since(gap), now);
        }
    }

    /// The same where something is to be recorded that ended then.
    #[inline]
    pub(super) fn notice_gap(&self, done: Nanos) {
        if self.heartbeat.is_late(done) {
            self.beat_late();
        }
    }

    /// The same before an outcome is recorded. What failed may be recorded at a limit that is long past.
    #[inline]
    pub(super) fn notice_gap_before(&self, outcome: &Outcome) {
        self.notice_gap(if outcome.result.is_ok() { outcome.done } else { self.clock.now() });
    }

    #[cold]
    pub(super) fn beat_late(&self) {
        self.beat(self.clock.now());
    }

    /// Waits for the Stop.
    pub(super) async fn listener(self: Rc<Self>) {
        self.stop.beyond(Urgency::None).await;
        self.interrupted.set(true);
        self.halt();
        self.stop.beyond(Urgency::Drain).await;
        self.slots.borrow().iter().for_each(|slot| slot.abort());
    }

    /// No new requests from now on.
    pub(super) fn halt(&self) {
        if self.is_stopping() {
            return;
        }
        let now = self.clock.now();
        self.stopped_at.set(Some(now));
        self.recorder.borrow_mut().end_at(now);
        self.relief.notify_one();
        self.slots.borrow().iter().for_each(|slot| slot.wake());
    }

    /// A behaviour cannot go on, which ends the run.
    #[cold]
    pub(super) fn abort(&self, error: BehaviourError) {
        self.broken.borrow_mut().get_or_insert(error);
        self.halt();
        self.stop.raise();
    }

    pub(super) fn is_stopping(&self) -> bool {
        self.stopped_at.get().is_some()
    }

    pub(super) fn around<'a>(&'a self, slot: &'a Slot) -> Surroundings<'a, T::Clock, Memory<T>> {
        Surroundings { clock: &self.clock, buffer: &self.buffer, memory: &self.memory, slot }
    }

    /// A place among the slots: one that is vacant, or a new one.
    pub(super) fn take_slot(&self) -> (u32, Rc<Slot>) {
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

    pub(super) fn leave_slot(&self, place: u32) {
        self.slots.borrow()[place as usize].end();
        self.vacant.borrow_mut().push(place);
    }

    /// Takes up to so many of the further Lanes of the user with this place, those used last.
    pub(super) fn take_branches(&self, place: u32, count: usize) -> Vec<Lane<T>> {
        let mut branches = self.branches.borrow_mut();
        branches.get_mut(&place).map_or_else(Vec::new, |lanes| lanes.split_off(lanes.len().saturating_sub(count)))
    }

    pub(super) fn keep_branches(&self, place: u32, lanes: impl Iterator<Item = Lane<T>>) {
        self.branches.borrow_mut().entry(place).or_default().extend(lanes);
    }

    /// The number of the next connection of the whole run, so that addresses are taken in turn over all workers.
    pub(super) fn next_dial(&self) -> u64 {
        let number = self.dialled.get();
        self.dialled.set(number + 1);
        self.of_run.number(number)
    }

    #[inline]
    pub(super) fn fell_due(&self, due: Nanos) {
        self.recorder.borrow_mut().due(due);
    }

    #[inline]
    pub(super) fn left(&self, at: Nanos) {
        self.recorder.borrow_mut().left(at);
    }

    #[inline]
    pub(super) fn came_back(&self, at: Nanos) {
        self.recorder.borrow_mut().came_back(at);
    }

    /// Counts a request that was sent on this Lane, by the status of its answer.
    #[inline]
    pub(super) fn record(&self, lane: u32, outcome: &Outcome) {
        self.record_with(lane, outcome, |recorder| recorder.record(outcome));
    }

    /// Counts a request as whoever sent it does.
    #[inline]
    pub(super) fn record_with<R>(&self, lane: u32, outcome: &Outcome, record: impl FnOnce(&mut Recorder) -> R) -> R {
        self.notice_gap_before(outcome);
        let recorded = self.count(outcome.done, |recorder| {
            recorder.sent_on(lane);
            record(recorder)
        });
        self.last_done.set(self.last_done.get().max(outcome.done));
        recorded
    }

    /// Counts something that was over by then, which may be in the next interval.
    #[inline]
    pub(super) fn count<R>(&self, done: Nanos, count: impl FnOnce(&mut Recorder) -> R) -> R {
        if done >= self.interval_end.get() {
            self.turn_interval(done);
        }
        count(&mut self.recorder.borrow_mut())
    }

    pub(super) fn unsent(&self, due: Nanos, waited: Nanos) {
        self.notice_gap(self.clock.now());
        self.fell_due(due);
        self.recorder.borrow_mut().unsent(due, waited);
    }

    pub(super) fn closed(&self, by: Closer) {
        self.count_connection(|recorder| recorder.closed(by));
    }

    pub(super) fn quirks(&self, quirks: Quirks) {
        if !quirks.is_empty() {
            self.recorder.borrow_mut().quirks(quirks);
        }
    }

    pub(super) fn example(&self, failure: Failure, at: Nanos, text: impl FnOnce() -> String) {
        self.recorder.borrow_mut().example(failure, at, text);
    }

    /// Whether any more requests may be sent, and if so takes so many.
    #[inline]
    pub(super) fn take_from_budget(&self, requests: u64) -> bool {
        let left = self.budget.get();
        self.budget.set(left.saturating_sub(requests));
        if left > 0 && left <= requests {
            // Nobody has anything to rest for any more.
            self.slots.borrow().iter().for_each(|slot| slot.wake());
        }
        left > 0
    }

    pub(super) fn is_spent(&self) -> bool {
        self.budget.get() == 0
    }

    /// Wakes the pacer if it waits for a Lane.
    pub(super) fn relieve(&self) {
        if self.pacer_waits.get() {
            self.relief.notify_one();
        }
    }

    /// Hands over every interval that ended before `now`.
    pub(super) fn turn_interval(&self, now: Nanos) {
        while now >= self.interval_end.get() {
            self.give();
        }
    }

    /// Hands over the current interval and begins the next.
    pub(super) fn give(&self) {
        let next = self.interval.get() + 1;
        let cpu = self.clock.cpu();
        let mut recorder = self.recorder.borrow_mut();
        recorder.cpu(cpu.since(self.cpu.get()));
        self.cpu.set(cpu);
        recorder.interval_ends(self.interval_end.get());
        if Place::<T>::offers_http3(&self.memory) {
            recorder.http3_is_offered();
        }
        if let Some(came) = Place::<T>::take_messages(&self.memory) {
            recorder.came_over_websockets(came, self.interval_end.get().since(INTERVAL));
        }
        let answers = recorder.answers();
        let full = recorder.swap(Snapshot::empty(next));
        self.answers.set(self.answers.get() + answers);
        self.interval.set(next);
        self.interval_end.set(self.interval_end.get().plus(INTERVAL));
        (self.hand_over)(full);
    }
}
