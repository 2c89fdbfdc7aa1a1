//! What decides where a user goes on that is not in the answers: turns, shares of iterations, times, and the transactions it is in.
//!
//! Most scenarios have none of it, and a load of a hundred thousand users keeps something for each of them; so it stands in a box of its
//! own, which only such users have. What users of the process share is a counter that each of them adds to: a lock would do more than
//! is asked.
//!
//! A user on its journey reads no clock. Its time is that of the last answer, or of its last wait for others, and of the pauses since,
//! which is exact in the simulated engine as well; before the first answer it has none, and what is timed begins with the request
//! that comes next.

use std::cell::RefCell;
use std::mem::swap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use measure::{Begun, Failure, JourneyEnd, Outcome, Recorder, RequestSums, TransactionRecord};
use plan::work::{Amount, PacedUsers};
use plan::{Nanos, Random};
use step::Jar;
use step::auth::Digest;
use template::Fields;
use tokio::sync::OwnedSemaphorePermit;

use crate::cache::Caches;
use crate::changes::Changes;
use crate::counts::Counts;
use crate::meeting::{Meeting, Section, Wait};
use crate::pace::SharedPace;
use crate::resources::Page;
use crate::scripts::Beside;
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
    /// Paces that users keep together: those of a population, or of all.
    pub(crate) shared_paces: Vec<(Option<u32>, SharedPace)>,
    /// Where the paces with names are kept.
    pub(crate) named_paces: Vec<(PacedUsers, String, usize)>,
    /// Counters that expressions take numbers of.
    pub(crate) counts: Counts,
    /// What one user at a time goes through.
    pub(crate) sections: Vec<Section>,
    /// Where users wait for each other, and how long at most.
    pub(crate) meetings: Vec<(Arc<Meeting>, Option<Nanos>)>,
    /// Whether users need to know their time, their transactions, or their branches.
    pub(crate) is_timed: bool,
    /// Whether users run scripts.
    pub(crate) is_scripted: bool,
    /// Whether users know of answers that they have had.
    pub(crate) has_caches: bool,
    /// Whether the load is over at some time, whatever is sent.
    pub(crate) has_duration: bool,
}

/// What of this kind a user keeps.
#[derive(Default)]
pub(crate) struct Progress {
    /// When the last answer was there, or the last wait for others was over.
    pub(crate) time: Nanos,
    counters: Vec<u64>,
    pub(crate) paces: Vec<Pace>,
    /// Transactions that it is in, the outermost first.
    open: Vec<Open>,
    /// Transactions that it went to the end of, and that are to be counted.
    over: Vec<Open>,
    /// What it waits for, before it goes on to its next request.
    halt: Option<Halt>,
    /// The sections that it is in, the outermost first.
    sections: Vec<OwnedSemaphorePermit>,
    /// The users that go through its branches, once it has had any.
    pub(crate) branches: Vec<User>,
    /// What it is as one of those.
    branch: Option<Box<Branch>>,
    /// What it keeps for its scripts.
    pub(crate) beside: Beside,
    /// What it knows of answers, once it has had any that may be kept.
    pub(crate) caches: Option<Box<Caches>>,
    /// So many steps in a row it has passed over, because it knows the answers.
    pub(crate) passed_over: u32,
    /// What scripts do to the request that comes next.
    pub(crate) changes: Option<Box<Changes>>,
    /// Why the last script did not come to its end, where that ends the journey.
    pub(crate) thrown: Option<String>,
}

/// What a user waits for.
pub(crate) enum Halt {
    /// Other users.
    Others(Wait),
    /// Its turn at a pace that others keep with it.
    Pace,
    /// Its own branches.
    Branches,
    /// Its connections to be closed.
    Connections,
    /// What the page of its last answer names.
    Page(Box<Page>),
    /// For time to pass: it knows so many answers that it has had nothing to send.
    Nothing,
}

/// When a user was last at a place that it does not pass too often.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) enum Pace {
    #[default]
    Never,
    /// With the request that comes next.
    Now,
    At(Nanos),
}

/// Requests of a user, one after the other or at the same time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passage {
    /// When the first was due.
    pub(crate) due: Nanos,
    /// When the last answer was there.
    pub(crate) done: Nanos,
    /// How long they took without what lay between them.
    pub(crate) took: Nanos,
    pub(crate) failed: bool,
    /// What they came to, where every request is written down.
    pub(crate) sums: Option<RequestSums>,
}

impl Passage {
    /// What these and others came to together.
    pub(crate) fn sums_with(&self, later: &Self) -> Option<RequestSums> {
        let mut sums = self.sums?;
        sums.add(&later.sums?);
        Some(sums)
    }
}

/// What a user that goes through branches of another keeps for it.
#[derive(Default)]
pub(crate) struct Branch {
    /// Its requests, on all the branches that it goes through one after the other.
    pub(crate) passage: Option<Passage>,
    /// Whether the branch that it is on has ended.
    pub(crate) is_over: bool,
    /// What broke one off, and when.
    pub(crate) broke_off: Option<(Nanos, Failure)>,
    /// Variables that the branch that it is on has given values.
    pub(crate) assigned: Vec<usize>,
    /// What branches left: their number, the variable, its value.
    pub(crate) values: Vec<(usize, usize, Vec<u8>)>,
    /// Paces that were kept in them.
    pub(crate) paces: Vec<(usize, Pace)>,
    /// Until when the last one pauses.
    pub(crate) rests_until: Nanos,
}

impl Branch {
    /// The branch that it is on is over.
    pub(crate) fn ends(&mut self, done: Nanos, how: JourneyEnd) {
        self.is_over = true;
        if let JourneyEnd::BrokeOff(failure) = how {
            self.broke_off.get_or_insert((done, failure));
        }
    }
}

/// What all branches of a user have in common, each while it does something.
#[derive(Default)]
pub(crate) struct Common {
    jar: Jar,
    digest: Option<Box<Digest>>,
    rows: Vec<Fields>,
    done: Vec<bool>,
    kept: Vec<bool>,
    counters: Vec<u64>,
    beside: Beside,
    caches: Option<Box<Caches>>,
}

impl Common {
    /// Gives it to a user, or takes it back.
    pub(crate) fn swap(&mut self, user: &mut User) {
        swap(&mut self.jar, &mut user.jar);
        swap(&mut self.digest, &mut user.digest);
        swap(&mut self.rows, &mut user.rows);
        swap(&mut self.done, &mut user.done);
        swap(&mut self.kept, &mut user.kept);
        swap(&mut self.counters, &mut user.progress().counters);
        swap(&mut self.beside, &mut user.progress().beside);
        swap(&mut self.caches, &mut user.progress().caches);
    }
}

/// As what a user goes through instructions.
pub(crate) trait Role: Copy {
    /// Whether it goes to the end for nobody who stops the run.
    const IS_TEARDOWN: bool = false;

    /// Does something with all that the user has.
    #[inline]
    fn whole<R>(self, user: &mut User, act: impl FnOnce(&mut User) -> R) -> R {
        act(user)
    }
}

/// By itself.
#[derive(Clone, Copy)]
pub(crate) struct OnJourney;

impl Role for OnJourney {}

/// By itself, before it goes.
#[derive(Clone, Copy)]
pub(crate) struct InTeardown;

impl Role for InTeardown {
    const IS_TEARDOWN: bool = true;
}

/// As a branch of another.
#[derive(Clone, Copy)]
pub(crate) struct InBranch<'a>(pub(crate) &'a RefCell<Common>);

impl Role for InBranch<'_> {
    fn whole<R>(self, user: &mut User, act: impl FnOnce(&mut User) -> R) -> R {
        let mut common = self.0.borrow_mut();
        common.swap(user);
        let done = act(user);
        common.swap(user);
        done
    }
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
    /// What they came to, where every request is written down.
    sums: RequestSums,
}

impl Order {
    /// Whether users keep anything of this kind.
    pub(crate) fn is_needed(&self) -> bool {
        self.is_timed
            || self.is_scripted
            || self.has_caches
            || self.counters > 0
            || self.paces > 0
            || !self.shared_paces.is_empty()
            || !self.sections.is_empty()
            || !self.meetings.is_empty()
    }

    /// Whether something of it is decided among all users of the run.
    pub(crate) fn is_about_all_users(&self) -> bool {
        !self.shared.is_empty() || !self.sections.is_empty() || !self.meetings.is_empty()
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
    pub(crate) fn progress(&mut self) -> &mut Progress {
        self.progress.as_mut().expect("a scenario with such items gives its users what they keep of them")
    }

    /// The user's time: that of its last answer or wait, and of its pauses since.
    pub(crate) fn time(&mut self) -> Nanos {
        let pause = self.pause;
        self.progress().time.plus(pause)
    }

    /// Waits until it is this long since it was here, if it was; or until then after it should have been here, where it catches up.
    pub(crate) fn keeps_pace(&mut self, place: usize, span: Nanos, catches_up: bool) {
        let now = self.time();
        let pace = &mut self.progress().paces[place];
        match *pace {
            Pace::Never => *pace = Pace::Now,
            Pace::Now => {}
            Pace::At(last) => {
                let next = if catches_up { last.plus(span) } else { last.plus(span).max(now) };
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

    /// Whether it waits for others, or for its branches.
    pub(crate) fn waits(&self) -> bool {
        self.progress.as_ref().is_some_and(|progress| progress.halt.is_some())
    }

    /// The user waits, and has no request before it until it goes on.
    pub(crate) fn halts(&mut self, halt: Halt) {
        self.progress().halt = Some(halt);
        self.travels = true;
    }

    /// Whether it waits for its branches, which are to be gone through now.
    pub(crate) fn branches_off(&mut self) -> bool {
        self.progress().halt.take_if(|halt| matches!(halt, Halt::Branches)).is_some()
    }

    /// Whether it waits for its connections to be closed, which is to be done now.
    pub(crate) fn forgets_connections(&mut self) -> bool {
        self.progress().halt.take_if(|halt| matches!(halt, Halt::Connections)).is_some()
    }

    /// What is to be loaded now behind its last answer.
    pub(crate) fn takes_page(&mut self) -> Option<Box<Page>> {
        match self.progress().halt.take_if(|halt| matches!(halt, Halt::Page(_))) {
            Some(Halt::Page(page)) => Some(page),
            _ => None,
        }
    }

    /// Whether it has had nothing to send for so long that time is to pass now.
    pub(crate) fn is_idle(&mut self) -> bool {
        self.progress().halt.take_if(|halt| matches!(halt, Halt::Nothing)).is_some()
    }

    /// Whether it waits for its turn at a pace, which is to be found out now.
    pub(crate) fn is_paced(&mut self) -> bool {
        self.progress().halt.take_if(|halt| matches!(halt, Halt::Pace)).is_some()
    }

    /// Whether it need not wait for others any more.
    pub(crate) fn poll_wait(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let progress = self.progress();
        let Some(Halt::Others(wait)) = &mut progress.halt else { return Poll::Ready(()) };
        let entered = ready!(wait.as_mut().poll(cx));
        progress.sections.extend(entered);
        progress.halt = None;
        Poll::Ready(())
    }

    /// What it keeps as a branch of another, if it is one.
    pub(crate) fn branch(&mut self) -> Option<&mut Branch> {
        self.progress.as_mut()?.branch.as_deref_mut()
    }

    /// Becomes one that goes through branches of another, and has gone through none.
    pub(crate) fn becomes_branch(&mut self) {
        self.pause = Nanos::ZERO;
        **self.progress().branch.get_or_insert_default() = Branch::default();
    }

    /// Variables have been given values.
    pub(crate) fn assigns(&mut self, places: &[usize]) {
        if let Some(branch) = self.branch() {
            branch.assigned.extend_from_slice(places);
        }
    }

    /// When its last answer was there, or its last wait was over.
    pub(crate) fn last_time(&mut self) -> Nanos {
        self.progress().time
    }

    pub(crate) fn leaves_section(&mut self) {
        self.progress().sections.pop();
    }

    pub(crate) fn begins_transaction(&mut self, place: usize, includes_pauses: bool) {
        let zero = Nanos::ZERO;
        let sums = RequestSums::default();
        let open = Open { place, includes_pauses, began: None, due: zero, done: zero, took: zero, failed: false, sums };
        self.progress().open.push(open);
    }

    pub(crate) fn ends_transaction(&mut self) {
        let progress = self.progress();
        let over = progress.open.pop().filter(|open| open.began.is_some());
        progress.over.extend(over);
    }

    /// A request of the user is over, and has failed if the user has now.
    #[inline]
    pub(crate) fn had_answer(&mut self, outcome: &Outcome, recorder: &mut Recorder) {
        if self.progress.is_some() {
            let (took, sums) = (outcome.response_time(), recorder.logged());
            self.had(&Passage { due: outcome.due, done: outcome.done, took, failed: self.failed, sums }, recorder);
        }
    }

    /// Requests of the user are over.
    pub(crate) fn had(&mut self, passage: &Passage, recorder: &mut Recorder) {
        let Passage { due, done, took, failed, sums } = *passage;
        let Some(progress) = &mut self.progress else { return };
        progress.time = done;
        for pace in &mut progress.paces {
            if *pace == Pace::Now {
                *pace = Pace::At(due);
            }
        }
        for turns in &mut self.loops {
            if let Turns::For { span, .. } = turns {
                *turns = Turns::Until(due.plus(*span));
            }
        }
        for open in &mut progress.open {
            if open.began.is_none() {
                open.began = Some(recorder.transaction_began(open.place, due));
                open.due = due;
            }
            open.done = done;
            open.took = open.took.plus(took);
            open.failed |= failed;
            if let Some(sums) = &sums {
                open.sums.add(sums);
            }
        }
        if let Some(branch) = &mut progress.branch {
            branch.passage = Some(branch.passage.map_or(*passage, |before| Passage {
                due: before.due,
                done,
                took: before.took.plus(took),
                failed: before.failed || failed,
                sums: before.sums_with(passage),
            }));
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
        // The innermost ended first.
        for open in progress.open.drain(..).rev() {
            open.count(JourneyEnd::BrokeOff(failure), recorder);
        }
    }

    /// Forgets what a journey was in the midst of: it is over.
    pub(crate) fn sets_out(&mut self) {
        if let Some(progress) = &mut self.progress {
            progress.open.clear();
            progress.sections.clear();
            progress.halt = None;
            progress.thrown = None;
        }
    }
}

impl Open {
    fn count(&self, how: JourneyEnd, recorder: &mut Recorder) {
        let Self { due, sums, .. } = *self;
        let Some(began) = self.began else { return };
        let whole = self.done.since(due);
        let took = if self.includes_pauses { whole } else { self.took };
        recorder.transaction_ended(self.place, began, self.done, took, how);
        recorder.log_transaction(|| {
            let succeeded = how == JourneyEnd::Succeeded;
            TransactionRecord { name: self.place as u32, due, elapsed: took, idle: whole.since(took), succeeded, sums }
        });
    }
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
