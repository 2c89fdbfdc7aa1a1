//! What decides where a user goes on that is not in the answers: turns, shares of iterations, times, and the transactions it is in.
//!
//! Most scenarios have none of it, and a load of a hundred thousand users keeps something for each of them; so it stands in a box of its
//! own, which only such users have. What users of the process share is a counter that each of them adds to: a lock would do more than
//! is asked.
//!
//! A user on its journey reads no clock. Its time is that of the last answer, or of its last wait for others, and of the pauses since,
//! which is exact in the simulated engine as well; before the first answer it has none, and what is timed begins with the request
//! that comes next.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use measure::{Begun, Failure, JourneyEnd, Outcome, Recorder};
use plan::work::{Amount, Think};
use plan::{Nanos, Random};
use tokio::sync::OwnedSemaphorePermit;

use crate::meeting::{Meeting, Section, Wait};
use crate::user::{Turns, User};

/// Counts how often users came somewhere, by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counter {
    /// Each user for itself.
    PerUser(usize),
    /// All users of the process together.
    Shared(usize),
}

/// What of this kind a scenario has.
#[derive(Default)]
pub(crate) struct Order {
    /// Counters that all users share.
    pub(crate) shared: Vec<AtomicU64>,
    /// So many counters has each user.
    pub(crate) counters: usize,
    /// So many paces has each user.
    pub(crate) paces: usize,
    /// What one user at a time goes through.
    pub(crate) sections: Vec<Section>,
    /// Where users wait for each other, and how long at most.
    pub(crate) meetings: Vec<(Arc<Meeting>, Option<Nanos>)>,
    /// Whether users need to know their time, or their transactions.
    pub(crate) is_timed: bool,
}

/// What of this kind a user keeps.
#[derive(Default)]
pub(crate) struct Progress {
    /// When the last answer was there, or the last wait for others was over.
    time: Nanos,
    counters: Vec<u64>,
    paces: Vec<Pace>,
    /// Transactions that it is in, the outermost first.
    open: Vec<Open>,
    /// Transactions that it went to the end of, and that are to be counted.
    over: Vec<Open>,
    /// What it waits for.
    wait: Option<Wait>,
    /// Whether it goes on behind what it waited for, before its next request.
    is_held: bool,
    /// The sections that it is in, the outermost first.
    sections: Vec<OwnedSemaphorePermit>,
    /// A journey that ended behind its last request, where the user waited once more: which, since when, until when, how.
    ended: Option<(usize, Begun, Nanos, JourneyEnd)>,
}

/// When a user was last at a place that it does not pass too often.
#[derive(Debug, Clone, Copy, Default)]
enum Pace {
    #[default]
    Never,
    /// With the request that comes next.
    Now,
    At(Nanos),
}

/// A transaction of a user.
struct Open {
    place: usize,
    includes_pauses: bool,
    /// Since its first request was due; nothing before.
    began: Option<Begun>,
    /// When that was.
    due: Nanos,
    /// When its last answer was there.
    done: Nanos,
    /// How long its requests took.
    took: Nanos,
    failed: bool,
}

impl Order {
    /// Whether users keep anything of this kind.
    pub(crate) fn is_needed(&self) -> bool {
        self.is_timed || self.counters > 0 || self.paces > 0 || !self.sections.is_empty() || !self.meetings.is_empty()
    }

    /// What a new user keeps.
    pub(crate) fn progress(&self) -> Option<Box<Progress>> {
        let progress = || Progress { counters: vec![0; self.counters], paces: vec![Pace::Never; self.paces], ..Progress::default() };
        self.is_needed().then(|| Box::new(progress()))
    }

    /// The place of the section with this name.
    pub(crate) fn section(&mut self, name: &str) -> usize {
        self.sections.iter().position(|section| section.name == name).unwrap_or_else(|| {
            self.sections.push(Section::new(name));
            self.sections.len() - 1
        })
    }

    /// A counter as a user meets it, from 0, which is one more for the next.
    pub(crate) fn count(&self, counter: Counter, user: &mut User) -> u64 {
        match counter {
            Counter::Shared(place) => self.shared[place].fetch_add(1, Ordering::Relaxed),
            Counter::PerUser(place) => {
                let count = &mut user.progress().counters[place];
                *count += 1;
                *count - 1
            }
        }
    }
}

/// Whether the iteration with this number, from 0, is one of those that something is done in.
pub(crate) fn is_in(amount: Amount, iteration: u64) -> bool {
    match amount {
        Amount::Times(times) => iteration < times,
        // So many of the first ones: each is one if fewer were than the share of them, to the nearest whole number.
        Amount::Percent(percent) => {
            let of = |iterations: u64| (percent * iterations as f64 / 100.0 - 0.5).ceil().max(0.0);
            of(iteration + 1) > of(iteration)
        }
    }
}

/// Places in an order by chance; the last comes first.
pub(crate) fn shuffled(count: usize, random: &mut Random) -> Vec<u32> {
    let mut places: Vec<u32> = (0..count as u32).collect();
    for end in (1..places.len()).rev() {
        places.swap(end, random.between(0, end as u64) as usize);
    }
    places
}

impl User {
    fn progress(&mut self) -> &mut Progress {
        self.progress.as_mut().expect("a scenario with such items gives its users what they keep of them")
    }

    /// The user's time: that of its last answer or wait, and of its pauses since.
    fn time(&mut self) -> Nanos {
        let pause = self.pause;
        self.progress().time.plus(pause)
    }

    /// Waits until it is this long since it was here, if it was.
    pub(crate) fn keeps_pace(&mut self, place: usize, span: Nanos) {
        let now = self.time();
        let pace = &mut self.progress().paces[place];
        match *pace {
            Pace::Never => *pace = Pace::Now,
            Pace::Now => {}
            Pace::At(last) => {
                let next = last.plus(span).max(now);
                *pace = Pace::At(next);
                self.pause = self.pause.plus(next.since(now));
            }
        }
    }

    /// Whether the time of a loop is over, at the beginning of a turn or amid it.
    pub(crate) fn is_over(&mut self, slot: usize, is_begin: bool) -> bool {
        match self.loops[slot] {
            // Its time begins with its first request; where that does not come, pauses and waits alone are its time.
            Turns::For { over, .. } => self.pause >= over,
            Turns::Until(end) => self.time() >= end,
            // One turn of who is hurried: it does not end amid it.
            Turns::Times(_) if !is_begin => false,
            Turns::Times(times) => {
                self.loops[slot] = Turns::Times(times.saturating_sub(1));
                times == 0
            }
            Turns::None | Turns::Items(_) | Turns::Order(_) => true,
        }
    }

    /// The user has waited for others since then, with the pauses before it.
    pub(crate) fn has_waited(&mut self, since: Nanos, now: Nanos) {
        self.progress().time = now;
        for turns in &mut self.loops {
            if let Turns::For { over, .. } = turns {
                *over = over.since(now.since(since));
            }
        }
    }

    /// Whether it waits for others.
    pub(crate) fn waits(&self) -> bool {
        self.progress.as_ref().is_some_and(|progress| progress.wait.is_some())
    }

    /// The user waits, and has no request before it until it goes on.
    pub(crate) fn waits_for(&mut self, wait: Wait) {
        let progress = self.progress();
        (progress.wait, progress.is_held) = (Some(wait), true);
        self.travels = true;
    }

    /// Whether it has waited, and is to go on.
    pub(crate) fn goes_on(&mut self) -> bool {
        let Some(progress) = self.progress.as_mut().filter(|progress| progress.wait.is_none()) else { return false };
        std::mem::take(&mut progress.is_held)
    }

    /// Whether it need not wait any more.
    pub(crate) fn poll_wait(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(progress) = &mut self.progress else { return Poll::Ready(()) };
        let Some(wait) = &mut progress.wait else { return Poll::Ready(()) };
        let entered = ready!(wait.as_mut().poll(cx));
        progress.sections.extend(entered);
        progress.wait = None;
        Poll::Ready(())
    }

    pub(crate) fn leaves_section(&mut self) {
        self.progress().sections.pop();
    }

    /// The journey ended without another request; it is counted with the next one.
    pub(crate) fn ends_late(&mut self, how: JourneyEnd) {
        // One that sent nothing leaves the one before it to be counted.
        let Some(began) = self.began.take() else { return };
        let journey = self.journey;
        let progress = self.progress();
        progress.ended = Some((journey, began, progress.time, how));
    }

    pub(crate) fn begins_transaction(&mut self, place: usize, includes_pauses: bool) {
        let zero = Nanos::ZERO;
        let open = Open { place, includes_pauses, began: None, due: zero, done: zero, took: zero, failed: false };
        self.progress().open.push(open);
    }

    pub(crate) fn ends_transaction(&mut self) {
        let progress = self.progress();
        let over = progress.open.pop().filter(|open| open.began.is_some());
        progress.over.extend(over);
    }

    /// A request of the user is over, and has failed if the user has now.
    pub(crate) fn had_answer(&mut self, outcome: &Outcome, recorder: &mut Recorder) {
        let failed = self.failed;
        // Those that ended behind a wait.
        self.count_transactions(recorder);
        let Some(progress) = &mut self.progress else { return };
        if let Some((journey, began, done, how)) = progress.ended.take() {
            recorder.journey_ended(journey, began, done, how);
        }
        progress.time = outcome.done;
        for pace in &mut progress.paces {
            if matches!(pace, Pace::Now) {
                *pace = Pace::At(outcome.due);
            }
        }
        for turns in &mut self.loops {
            if let Turns::For { span, .. } = turns {
                *turns = Turns::Until(outcome.due.plus(*span));
            }
        }
        for open in &mut progress.open {
            if open.began.is_none() {
                open.began = Some(recorder.transaction_began(open.place, outcome.due));
                open.due = outcome.due;
            }
            open.done = outcome.done;
            open.took = open.took.plus(outcome.response_time());
            open.failed |= failed;
        }
    }

    /// Counts the transactions that are over.
    pub(crate) fn count_transactions(&mut self, recorder: &mut Recorder) {
        let Some(progress) = &mut self.progress else { return };
        for open in progress.over.drain(..) {
            let how = if open.failed { JourneyEnd::Completed } else { JourneyEnd::Succeeded };
            open.count(how, recorder);
        }
    }

    /// Counts the transactions that the user was in when its journey broke off.
    pub(crate) fn break_transactions(&mut self, failure: Failure, recorder: &mut Recorder) {
        let Some(progress) = &mut self.progress else { return };
        for open in progress.open.drain(..) {
            open.count(JourneyEnd::BrokeOff(failure), recorder);
        }
    }

    /// Forgets what a journey was in the midst of: it is over.
    pub(crate) fn sets_out(&mut self) {
        if let Some(progress) = &mut self.progress {
            progress.open.clear();
            progress.sections.clear();
            (progress.wait, progress.is_held) = (None, false);
        }
    }
}

impl Open {
    fn count(&self, how: JourneyEnd, recorder: &mut Recorder) {
        let Some(began) = self.began else { return };
        let took = if self.includes_pauses { self.done.since(self.due) } else { self.took };
        recorder.transaction_ended(self.place, began, self.done, took, how);
    }
}

/// A pause that an answer or a variable says.
pub(crate) fn think_of(text: &[u8]) -> Option<Think> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_share_of_iterations_is_spread_over_them() {
        let taken = |percent: f64, of: u64| -> Vec<u64> { (0..of).filter(|at| is_in(Amount::Percent(percent), *at)).collect() };
        assert_eq!(taken(50.0, 8), [1, 3, 5, 7]);
        assert_eq!(taken(100.0, 4), [0, 1, 2, 3]);
        assert_eq!(taken(0.0, 100), [0; 0]);
        assert_eq!(taken(30.0, 1_000).len(), 300);
        assert_eq!((0..9).filter(|at| is_in(Amount::Times(2), *at)).count(), 2);
    }

    proptest! {
        /// JMeter's Throughput Controller: run if (100·executions + 50)/(iterations + 1) < percent.
        #[test]
        fn a_share_is_that_of_the_rule_it_is_made_from(percent in 0_u32..=100) {
            let mut executions = 0_u64;
            for iteration in 0..500_u64 {
                let runs = (100.0 * executions as f64 + 50.0) / (iteration as f64 + 1.0) < f64::from(percent);
                prop_assert_eq!(is_in(Amount::Percent(percent.into()), iteration), runs, "{}", iteration);
                executions += u64::from(runs);
            }
        }

        #[test]
        fn every_place_comes_once_in_an_order_by_chance(count in 0_usize..20, seed: u64) {
            let mut places = shuffled(count, &mut Random::new(seed, 1));
            places.sort_unstable();
            prop_assert_eq!(places, (0..count as u32).collect::<Vec<_>>());
        }
    }
}
