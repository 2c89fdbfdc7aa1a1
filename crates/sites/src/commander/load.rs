//! A load under way on several sites: what they tell, and what is taken of it.
//!
//! A site is another program, perhaps on a machine that is not well. What it says of others, twice, or against its own counts is not put into
//! the result: the site is given up.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use engine::Message;
use measure::{SiteMember, Snapshot, SourceId};
use plan::Secrets;

use super::{Event, Fleet};
use crate::frames::Answer;

/// A site may be so many seconds of counts ahead of this machine's time.
const SECONDS_AHEAD_MAX: u64 = 60;
/// No source has more requests: a million a second for three years.
const REQUESTS_MAX: u64 = 100_000_000_000_000;

/// What the sites of a load tell.
pub(super) struct RemoteLoad {
    /// `None` when all has been told.
    fleet: Option<Fleet>,
    /// Where the sites go afterwards.
    idle: Arc<Mutex<Option<Fleet>>>,
    /// Not said of a site that is gone.
    secrets: Secrets,
    /// Sources of each site that have not told everything.
    rest: Vec<BTreeSet<SourceId>>,
    /// Sites that have more to tell.
    is_open: Vec<bool>,
    /// Sources whose load has ended.
    finished: BTreeSet<SourceId>,
    /// Requests of each source.
    accounts: BTreeMap<SourceId, Account>,
    begun: Instant,
    queue: VecDeque<Message>,
}

impl RemoteLoad {
    /// Of the sites of a fleet, with the sources of each. `members` are those that have some.
    pub(super) fn new(
        fleet: Fleet,
        idle: Arc<Mutex<Option<Fleet>>>,
        secrets: Secrets,
        rest: Vec<BTreeSet<SourceId>>,
        members: Vec<SiteMember>,
    ) -> Self {
        let is_open = rest.iter().map(|sources| !sources.is_empty()).collect();
        let queue = members.into_iter().map(Message::Joined).collect();
        let (finished, accounts) = Default::default();
        Self { fleet: Some(fleet), idle, secrets, rest, is_open, finished, accounts, begun: Instant::now(), queue }
    }
}

/// Requests of a source so far.
#[derive(Debug, Default, Clone, Copy)]
struct Account {
    due: u64,
    ended: u64,
}

impl Account {
    /// With the counts of a second more; `None` if more came to an end than fell due.
    fn with(self, counts: &Snapshot) -> Option<Self> {
        let failed = counts.failures.iter().try_fold(0_u64, |sum, count| sum.checked_add(*count))?;
        let ended = failed.checked_add(counts.succeeded)?.checked_add(counts.unsent)?;
        let sum = Self { due: self.due.checked_add(counts.due)?, ended: self.ended.checked_add(ended)? };
        (sum.ended <= sum.due && sum.due <= REQUESTS_MAX).then_some(sum)
    }
}

/// Whether this adds up with what its source has told: nothing ends that did not fall due, and at the end everything has.
fn adds_up(message: &Message, accounts: &mut BTreeMap<SourceId, Account>) -> bool {
    match message {
        Message::Counts(source, counts) => {
            let account = accounts.entry(*source).or_default();
            account.with(counts).is_some_and(|sum| {
                *account = sum;
                true
            })
        }
        Message::Left(source, _) => accounts.get(source).is_none_or(|account| account.ended == account.due),
        _ => true,
    }
}

/// Whether a site may say this: it is of a source of its own that has more to tell, and of a second that can have been.
fn is_own(message: &Message, rest: &BTreeSet<SourceId>, finished: &mut BTreeSet<SourceId>, elapsed: Duration) -> bool {
    match message {
        Message::Counts(source, counts) => rest.contains(source) && u64::from(counts.interval) <= elapsed.as_secs() + SECONDS_AHEAD_MAX,
        Message::Finished(source, _) => rest.contains(source) && finished.insert(*source),
        // Of a script's threads a source knows itself.
        Message::Left(source, left) => rest.contains(source) && left.threads.keys().all(|thread| *thread == source.0),
        Message::Lost(source, _) | Message::Gone(source, _) => rest.contains(source),
        Message::Site(_) => true,
        Message::Joined(_) | Message::Clock(..) => false,
    }
}

impl Iterator for RemoteLoad {
    type Item = Message;

    fn next(&mut self) -> Option<Message> {
        loop {
            if let Some(message) = self.queue.pop_front() {
                return Some(message);
            }
            let fleet = self.fleet.as_mut()?;
            if !self.is_open.contains(&true) {
                // Nothing is dealt into the next load, and nothing is taken for this one.
                fleet.dealing.end();
                fleet.gathering.end();
                *self.idle.lock().unwrap_or_else(PoisonError::into_inner) = self.fleet.take();
                return None;
            }
            let (number, event) = fleet.event();
            let (Some(rest), Some(is_open)) = (self.rest.get_mut(number), self.is_open.get_mut(number)) else { continue };
            let site = &mut fleet.sites[number];
            let why = match event {
                Event::Said(Answer::Told(message), _) if !is_own(&message, rest, &mut self.finished, self.begun.elapsed()) => {
                    site.give_up("said what is not of its own part")
                }
                Event::Said(Answer::Told(message), _) if !adds_up(&message, &mut self.accounts) => {
                    site.give_up("told counts that do not add up")
                }
                Event::Said(Answer::Told(message), _) => {
                    if let Message::Left(source, _) | Message::Lost(source, _) | Message::Gone(source, _) = &message {
                        rest.remove(source);
                        fleet.dealing.leave([*source]);
                    }
                    return Some(message);
                }
                Event::Said(Answer::Done, _) => {
                    *is_open = false;
                    fleet.dealing.leave(rest.iter().copied());
                    continue;
                }
                Event::Said(Answer::Here, _) => {
                    site.ask_clock();
                    continue;
                }
                Event::Said(Answer::Clock { number, now }, at) => {
                    let error = site.clock_since((number, now), at).zip(rest.first().copied());
                    self.queue.extend(error.map(|(error, source)| Message::Clock(source, error)));
                    continue;
                }
                Event::Gone(why, _) => why,
                Event::Said(Answer::Ready | Answer::Refused(_) | Answer::Taken(_) | Answer::Rows(_) | Answer::Missing(_), _)
                | Event::Greeted(_)
                | Event::Delivered(_) => continue,
            };
            *is_open = false;
            let why = self.secrets.conceal(&why);
            fleet.dealing.leave(rest.iter().copied());
            self.queue.extend(std::mem::take(rest).into_iter().map(|source| Message::Gone(source, why.clone())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Nanos;

    #[test]
    fn a_site_speaks_for_its_own_sources_and_once() {
        let (rest, mut finished) = (BTreeSet::from([SourceId(1)]), BTreeSet::new());
        let mut may_say = |message: Message| is_own(&message, &rest, &mut finished, Duration::from_secs(10));
        let counts = |source, second| Message::Counts(SourceId(source), Box::new(Snapshot::empty(second)));
        assert!(may_say(counts(1, 10)) && !may_say(counts(2, 10)) && !may_say(counts(1, u32::MAX)));
        let ended = |source| Message::Finished(SourceId(source), engine::Finished::default());
        assert!(!may_say(ended(2)) && may_say(ended(1)) && !may_say(ended(1)));
        let left = |threads: &[u32]| {
            let threads = threads.iter().map(|thread| (*thread, Default::default())).collect();
            Message::Left(SourceId(1), Box::new(measure::Leftovers { threads, ..measure::Leftovers::default() }))
        };
        assert!(may_say(left(&[])) && may_say(left(&[1])) && !may_say(left(&[0, 1])));
        assert!(!may_say(Message::Gone(SourceId(0), String::new())) && !may_say(Message::Clock(SourceId(1), Nanos(1))));
    }

    #[test]
    fn counts_that_do_not_add_up_are_no_counts() {
        let mut accounts = BTreeMap::new();
        let mut tell = |due, succeeded, failed| {
            let mut counts = Snapshot::empty(0);
            (counts.due, counts.succeeded, counts.failures[0]) = (due, succeeded, failed);
            adds_up(&Message::Counts(SourceId(1), Box::new(counts)), &mut accounts)
        };
        // What falls due in a second ends in another.
        assert!(tell(5, 2, 1) && tell(1, 2, 0));
        assert!(!tell(0, 2, 0) && !tell(0, u64::MAX, 1) && !tell(u64::MAX, 0, 0) && !tell(REQUESTS_MAX, 0, 0));
        let left = || Message::Left(SourceId(1), Box::default());
        assert!(!adds_up(&left(), &mut accounts), "one has not come to its end");
        let mut counts = Snapshot::empty(1);
        counts.unsent = 1;
        assert!(adds_up(&Message::Counts(SourceId(1), Box::new(counts)), &mut accounts) && adds_up(&left(), &mut accounts));
    }
}
