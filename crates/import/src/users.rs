//! Who asks: how much each user makes, in which sessions, with which pauses.
//!
//! A user here is an address: logs know nothing else of everybody, and what is kept of it is a number by a [`Key`]. A log may have more addresses
//! than memory, so when the table is full, half of the users are dropped, chosen by that number and not by what they did (adaptive sampling, after
//! Wegman). Each of the rest stands for twice as many, with everything it did: shares, sessions and pauses remain what they are, as
//! those of a sample. Whoever makes so much that chance should not decide is kept whatever the number says, and stands for itself.
//!
//! Sessions and pauses are of the moments in which a user was busy ([`Span`]), whatever log or line told them first. These take more memory
//! than a count, and so have samples of their own, taken in the same way: of some users every pause is known, of more of them the sessions, and of
//! the rest the number of requests.
//!
//! Invariants: without dropping, every figure is exact; with it, the result says so. The order of requests changes nothing before anything is dropped.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use crate::key::{Key, Subject};
use crate::scrub::Personal;
use crate::spans::{self, Span};
use crate::stamp::SECOND_NS;
use crate::took::{Times, Took};

mod written;

/// Users in the table: some 60 MB.
const USERS_MOST: usize = 1 << 19;
/// Of the table, this part at most is of users that are kept for what they make.
const LARGE_PART: u64 = 8;
/// Spans of those whose pauses are known, and as many of those whose sessions are: some 25 MB each, and twice that where lines are in no order.
const SPANS_MOST: usize = 1 << 20;
/// Who is busy more often than this is no person, and has no pauses that anybody could learn from.
const MOMENTS_MOST: usize = 1 << 14;
/// So often is half of the users dropped, and no more: of each that is left, a million were there.
const HALVINGS_MOST: u32 = 20;
/// A pause of half an hour ends a session, as web analytics has it.
const SESSION_PAUSE_NS: i64 = 1800 * SECOND_NS;
/// Users that are listed.
const LISTED: usize = 10;

#[derive(Debug)]
struct User {
    requests: u64,
    /// The last of its spans.
    last: Span,
    /// Those before.
    earlier: Vec<Span>,
}

/// Counts users.
#[derive(Debug)]
pub(crate) struct Counter {
    users: FxHashMap<u64, User>,
    /// Spans that were told out of order, and are not yet among the others of their users.
    unsorted: FxHashMap<u64, Vec<Span>>,
    /// Those who are busy so often that no pause of theirs is told.
    restless: FxHashSet<u64>,
    /// Their addresses, where these are kept.
    names: FxHashMap<u64, Box<str>>,
    users_most: usize,
    spans_most: usize,
    /// Spans but for the last of each, of those whose pauses are known, and of the others.
    spans: [usize; 2],
    /// So many times was half of them dropped.
    halvings: u32,
    /// So many times half of those whose sessions are known; no less than `halvings`.
    session_halvings: u32,
    /// So many times half of those whose pauses are known; no less than `session_halvings`.
    pause_halvings: u32,
    requests: u64,
    key: Key,
    personal: Personal,
    /// Whether any time was finer than a second.
    is_finer: bool,
}

/// Distribution over users.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Users {
    /// How many there are.
    pub users: u64,
    /// Whether the figures are exact, or those of a sample of the users.
    pub exact: bool,
    /// Users that were looked at.
    pub sample: u64,
    /// Requests by them.
    pub requests: u64,
    /// Requests a user: half make at most this.
    pub requests_p50: u64,
    /// Nine in ten make at most this.
    pub requests_p90: u64,
    /// 99 in a hundred make at most this.
    pub requests_p99: u64,
    /// What the one makes that makes most.
    pub requests_max: u64,
    /// The share of requests of the users that make most, from 0 to 1: of 1 %, 10 % and 50 % of users.
    pub shares: Vec<UserShare>,
    /// The largest.
    pub largest: Vec<LargeUser>,
    /// Sessions: pauses of half an hour end one.
    pub sessions: u64,
    /// Requests of half of the sessions are at most this.
    pub session_requests_p50: u64,
    /// Of nine in ten.
    pub session_requests_p90: u64,
    /// How long sessions with more than one request last.
    pub session_length: Option<Times>,
    /// From an answer to the next request of the same user in the same session.
    pub pauses: Option<Times>,
    /// What sessions are drawn from where they are played.
    #[serde(skip)]
    pub visits: Visits,
}

/// The sessions of a log as two distributions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Visits {
    /// Numbers of requests, ascending, each with how many sessions had so many. Above a thousand, to a hundredth.
    pub requests: Vec<(u32, u64)>,
    /// Pauses in nanoseconds, ascending, each with how often.
    pub pauses_ns: Vec<(u64, u64)>,
    /// What the log's times are told in: a second, or finer.
    pub told_in_ns: u64,
}

/// What so many users make.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct UserShare {
    /// Of users, those that make most, from 0 to 1.
    pub of_users: f64,
    /// Of requests, from 0 to 1.
    pub of_requests: f64,
}

/// One of the largest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LargeUser {
    /// Its address, or its place where addresses are left out.
    pub name: String,
    /// Its requests.
    pub requests: u64,
}

impl Counter {
    pub(crate) fn new(key: Key, personal: Personal) -> Self {
        Self {
            users: FxHashMap::default(),
            unsorted: FxHashMap::default(),
            restless: FxHashSet::default(),
            names: FxHashMap::default(),
            users_most: USERS_MOST,
            spans_most: SPANS_MOST,
            spans: [0; 2],
            halvings: 0,
            session_halvings: 0,
            pause_halvings: 0,
            requests: 0,
            key,
            personal,
            is_finer: false,
        }
    }

    /// Requests by them.
    pub(crate) fn requests(&self) -> u64 {
        self.requests
    }

    #[inline]
    pub(crate) fn add(&mut self, address: &[u8], (stamp_ns, start_ns): (i64, i64), took_ns: i64) {
        self.requests += 1;
        self.is_finer |= stamp_ns % SECOND_NS != 0;
        let hash = self.key.number(Subject::User, address);
        let span = Span { start_ns, end_ns: start_ns.saturating_add(took_ns), requests: 1 };
        let limit_ns = self.limit_ns(hash);
        if let Some(user) = self.users.get_mut(&hash) {
            user.requests += 1;
            if user.last.reaches(&span, limit_ns) {
                user.last.absorb(&span);
            } else if is_sampled(hash, self.session_halvings) {
                let kind = usize::from(limit_ns > 0);
                if start_ns > user.last.end_ns && user.earlier.len() < MOMENTS_MOST && self.spans[kind] < self.spans_most {
                    // Most lines are in order.
                    user.earlier.push(std::mem::replace(&mut user.last, span));
                    self.spans[kind] += 1;
                } else {
                    self.add_unsorted(hash, span);
                }
            }
            return;
        }
        if !is_sampled(hash, self.halvings) {
            return;
        }
        if self.users.len() >= self.users_most {
            self.halve();
            if !is_sampled(hash, self.halvings) || self.users.len() >= self.users_most {
                return;
            }
        }
        if self.personal == Personal::Kept {
            self.names.insert(hash, String::from_utf8_lossy(address).into());
        }
        self.users.insert(hash, User { requests: 1, last: span, earlier: Vec::new() });
    }

    /// How near to each other two spans of a user are one.
    #[inline]
    fn limit_ns(&self, hash: u64) -> i64 {
        let is_known = is_sampled(hash, self.pause_halvings) && (self.restless.is_empty() || !self.restless.contains(&hash));
        if is_known { 0 } else { SESSION_PAUSE_NS }
    }

    /// Adds one that is not after the last. Each time there are as many of these as of the others they are put among them: one by one would take
    /// long where logs are read from the newest to the oldest.
    fn add_unsorted(&mut self, hash: u64, span: Span) {
        let unsorted = self.unsorted.entry(hash).or_default();
        unsorted.push(span);
        let (new, known) = (unsorted.len(), self.users.get(&hash).map_or(0, |user| user.earlier.len()));
        if new > known || (known >= MOMENTS_MOST && self.limit_ns(hash) == 0) {
            self.sort(hash);
            self.make_room();
        }
    }

    /// Puts all spans of a user in order.
    fn sort(&mut self, hash: u64) {
        let limit_ns = self.limit_ns(hash);
        let all = spans::joined(self.take_spans(hash), limit_ns);
        self.put_spans(hash, all);
    }

    /// With all spans in order, as whoever reads them takes them.
    pub(crate) fn sorted(mut self) -> Self {
        self.sort_all();
        self
    }

    fn sort_all(&mut self) {
        let unsorted: Vec<u64> = self.unsorted.keys().copied().collect();
        unsorted.into_iter().for_each(|hash| self.sort(hash));
    }

    /// Takes the spans of a user away, to put others in their place.
    fn take_spans(&mut self, hash: u64) -> Vec<Span> {
        let limit_ns = self.limit_ns(hash);
        let unsorted = self.unsorted.remove(&hash).unwrap_or_default();
        let Some(user) = self.users.get_mut(&hash) else { return Vec::new() };
        let mut all = std::mem::take(&mut user.earlier);
        self.spans[usize::from(limit_ns > 0)] -= all.len();
        all.push(user.last);
        all.extend(unsorted);
        all
    }

    fn put_spans(&mut self, hash: u64, mut all: Vec<Span>) {
        if all.len() > MOMENTS_MOST && self.limit_ns(hash) == 0 {
            self.restless.insert(hash);
            all = spans::joined(all, SESSION_PAUSE_NS);
        }
        let limit_ns = self.limit_ns(hash);
        if let (Some(last), Some(user)) = (all.pop(), self.users.get_mut(&hash)) {
            self.spans[usize::from(limit_ns > 0)] += all.len();
            (user.last, user.earlier) = (last, all);
        }
    }

    /// Knows pauses and sessions of fewer users where there are too many.
    fn make_room(&mut self) {
        if self.spans.iter().any(|spans| *spans > self.spans_most) {
            self.sort_all();
        }
        while self.spans[0] > self.spans_most && self.pause_halvings < HALVINGS_MOST {
            self.pause_halvings += 1;
            self.sample_spans();
        }
        while self.spans[1] > self.spans_most && self.session_halvings < HALVINGS_MOST {
            self.session_halvings += 1;
            self.sample_spans();
        }
    }

    /// Keeps the spans that are to be known by the halvings, and no more. All are in order.
    fn sample_spans(&mut self) {
        self.session_halvings = self.session_halvings.max(self.halvings);
        self.pause_halvings = self.pause_halvings.max(self.session_halvings);
        self.spans = [0; 2];
        let (session_halvings, pause_halvings) = (self.session_halvings, self.pause_halvings);
        for (hash, user) in &mut self.users {
            if !is_sampled(*hash, session_halvings) {
                user.earlier = Vec::new();
            } else if !is_sampled(*hash, pause_halvings) && !user.earlier.is_empty() {
                let mut all = std::mem::take(&mut user.earlier);
                all.push(user.last);
                all = spans::joined(all, SESSION_PAUSE_NS);
                user.last = all.pop().unwrap_or(user.last);
                user.earlier = all;
                user.earlier.shrink_to_fit();
            }
            let is_known = is_sampled(*hash, pause_halvings) && !self.restless.contains(hash);
            self.spans[usize::from(!is_known)] += user.earlier.len();
        }
    }

    fn halve(&mut self) {
        self.sort_all();
        while self.users.len() >= self.users_most / 2 + self.users_most / 4 && self.halvings < HALVINGS_MOST {
            self.halvings += 1;
            self.sample_users();
        }
        self.sample_spans();
    }

    /// Keeps the users that are of the sample, and those who make much.
    fn sample_users(&mut self) {
        // No more than an eighth of the table can make more than this.
        let (halvings, large) = (self.halvings, self.requests * LARGE_PART / self.users_most as u64);
        self.users.retain(|hash, user| is_sampled(*hash, halvings) || user.requests > large);
        let users = &self.users;
        self.names.retain(|hash, _| users.contains_key(hash));
        self.restless.retain(|hash| users.contains_key(hash));
    }

    /// Adds what was counted elsewhere with the same key.
    pub(crate) fn absorb(&mut self, mut other: Self) {
        self.sort_all();
        other.sort_all();
        self.requests += other.requests;
        self.is_finer |= other.is_finer;
        for (mine, others) in [
            (&mut self.halvings, other.halvings),
            (&mut self.session_halvings, other.session_halvings),
            (&mut self.pause_halvings, other.pause_halvings),
        ] {
            *mine = (*mine).max(others);
        }
        self.restless.extend(std::mem::take(&mut other.restless));
        self.names.extend(std::mem::take(&mut other.names));
        self.sample_spans();
        for (hash, User { requests, last, earlier: mut all }) in std::mem::take(&mut other.users) {
            all.push(last);
            if let Some(known) = self.users.get_mut(&hash) {
                known.requests += requests;
                if is_sampled(hash, self.session_halvings) {
                    all.extend(self.take_spans(hash));
                }
            } else {
                self.users.insert(hash, User { requests, last, earlier: Vec::new() });
            }
            if is_sampled(hash, self.session_halvings) {
                let all = spans::joined(all, self.limit_ns(hash));
                self.put_spans(hash, all);
            }
        }
        self.sample_users();
        if self.users.len() > self.users_most {
            self.halve();
        }
        self.make_room();
    }

    /// What is an estimate where not all users are looked at for everything.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.session_halvings > self.halvings {
            remarks.push(format!("sessions are estimates, from those of one user in {}", 1_u64 << self.session_halvings));
        }
        if self.pause_halvings > self.session_halvings {
            remarks.push(format!("pauses are those of one user in {}", 1_u64 << self.pause_halvings));
        }
        remarks
    }

    pub(crate) fn finish(mut self) -> Option<Users> {
        self.sort_all();
        if self.users.is_empty() {
            return None;
        }
        let SessionCounts { sessions, session_requests, session_length, pauses } = self.sessions();
        let weight_of = |hash: u64| if is_sampled(hash, self.halvings) { 1 << self.halvings } else { 1 };
        let mut all: Vec<(u64, u64, u64)> = self.users.iter().map(|(hash, user)| (user.requests, *hash, weight_of(*hash))).collect();
        let name = |hash: u64| self.names.get(&hash).map(|name| &**name);
        // By name where they make as much: a number is another with another key.
        all.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| (name(a.1), a.1).cmp(&(name(b.1), b.1))));
        let users: u64 = all.iter().map(|it| it.2).sum();
        let made: u64 = all.iter().map(|it| it.0 * it.2).sum();
        let at_most = |q: f64| {
            let above = ((1.0 - q) * users as f64).floor() as u64;
            let mut passed = 0;
            all.iter()
                .find(|it| {
                    passed += it.2;
                    passed > above
                })
                .map_or(0, |it| it.0)
        };
        let share = |of_users: f64| {
            let wanted = of_users * users as f64;
            let (mut passed, mut requests) = (0.0, 0.0);
            for (count, _, weight) in &all {
                let weight = (*weight as f64).min(wanted - passed);
                if weight <= 0.0 {
                    break;
                }
                passed += weight;
                requests += weight * *count as f64;
            }
            UserShare { of_users, of_requests: requests / made.max(1) as f64 }
        };
        let largest = all
            .iter()
            .take(LISTED)
            .enumerate()
            .map(|(at, (requests, hash, _))| LargeUser {
                name: name(*hash).map_or_else(|| format!("user {}", at + 1), str::to_owned),
                requests: *requests,
            })
            .collect();
        let requests_at = |share: f64| {
            let mut passed = 0;
            let mut each = session_requests.iter();
            each.find(|(_, of_sessions)| {
                passed += **of_sessions;
                passed as f64 >= share * sessions as f64
            })
            .map_or(0, |(requests, _)| u64::from(*requests))
        };
        Some(Users {
            users,
            exact: self.halvings == 0,
            sample: all.len() as u64,
            requests: self.requests,
            requests_p50: at_most(0.5),
            requests_p90: at_most(0.9),
            requests_p99: at_most(0.99),
            requests_max: all.first().map_or(0, |it| it.0),
            shares: [0.01, 0.1, 0.2, 0.5].into_iter().map(share).collect(),
            largest,
            sessions,
            session_requests_p50: requests_at(0.5),
            session_requests_p90: requests_at(0.9),
            session_length: session_length.times(),
            pauses: pauses.times(),
            visits: Visits {
                requests: session_requests.into_iter().collect(),
                pauses_ns: pauses.each_ns().collect(),
                told_in_ns: if self.is_finer { 1 } else { SECOND_NS as u64 },
            },
        })
    }

    /// The sessions of those whose spans are known, and their pauses.
    fn sessions(&self) -> SessionCounts {
        let mut counts = SessionCounts::default();
        let (weight, pause_weight) = (1 << self.session_halvings, 1 << self.pause_halvings);
        for (hash, user) in self.users.iter().filter(|(hash, _)| is_sampled(**hash, self.session_halvings)) {
            let are_pauses_known = self.limit_ns(*hash) == 0;
            let mut session: Option<Span> = None;
            for span in user.earlier.iter().chain([&user.last]) {
                match session.as_mut().filter(|session| session.reaches(span, SESSION_PAUSE_NS)) {
                    Some(session) => {
                        if are_pauses_known {
                            counts.pauses.record(span.start_ns.saturating_sub(session.end_ns), pause_weight);
                        }
                        session.absorb(span);
                    }
                    None => session.replace(*span).into_iter().for_each(|session| counts.add(&session, weight)),
                }
                if are_pauses_known && span.requests > 1 {
                    // They began before the last was answered.
                    counts.pauses.record(0, (span.requests - 1) * pause_weight);
                }
            }
            session.into_iter().for_each(|session| counts.add(&session, weight));
        }
        counts
    }
}

/// Sessions, counted.
#[derive(Default)]
struct SessionCounts {
    sessions: u64,
    session_requests: BTreeMap<u32, u64>,
    session_length: Took,
    pauses: Took,
}

impl SessionCounts {
    fn add(&mut self, session: &Span, weight: u64) {
        self.sessions += weight;
        *self.session_requests.entry(rounded(session.requests)).or_default() += weight;
        if session.requests > 1 {
            self.session_length.record(session.end_ns.saturating_sub(session.start_ns), weight);
        }
    }
}

/// A number of requests as it is counted: beyond a thousand to a hundredth, so that their number is bounded.
fn rounded(requests: u64) -> u32 {
    let requests = u32::try_from(requests).unwrap_or(u32::MAX);
    let mut step = 1;
    while requests / step >= 1_000 {
        step *= 10;
    }
    requests / step * step
}

/// Whether a user is in a sample that was halved so often.
#[inline]
fn is_sampled(hash: u64, halvings: u32) -> bool {
    hash.wrapping_mul(0x9E37_79B9_7F4A_7C15).leading_zeros() >= halvings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(most: usize, users: u64) -> Users {
        let mut counter = Counter { users_most: most, ..Counter::new(Key::default(), Personal::LeftOut) };
        for round in 0..3i64 {
            for user in 0..users {
                // The first hundred make ten times as much.
                for again in 0..if user < 100 { 10 } else { 1 } {
                    let at_ns = (round * 60 + again) * SECOND_NS;
                    counter.add(format!("10.0.{}.{}", user / 256, user % 256).as_bytes(), (at_ns, at_ns), 0);
                }
            }
        }
        counter.finish().unwrap()
    }

    #[test]
    fn a_table_with_room_counts_exactly() {
        let users = counted(USERS_MOST, 5000);
        assert!(users.exact);
        assert_eq!((users.users, users.sessions, users.requests_p50, users.requests_max), (5000, 5000, 3, 30));
        assert_eq!(users.requests, 3 * (4900 + 1000));
        assert!((users.shares[1].of_requests - (3000.0 + 400.0 * 3.0) / 17_700.0).abs() < 1e-9, "{:?}", users.shares);
        assert_eq!(users.largest[0].name, "user 1");
    }

    #[test]
    fn a_table_without_room_estimates_and_says_so() {
        let exact = counted(USERS_MOST, 20_000);
        let sampled = counted(2000, 20_000);
        assert!(!sampled.exact && sampled.sample <= 2000);
        let ratio = sampled.users as f64 / exact.users as f64;
        assert!((0.8..1.25).contains(&ratio), "{ratio}");
        assert_eq!(sampled.requests, exact.requests);
        assert_eq!(sampled.requests_p50, exact.requests_p50);
    }

    #[test]
    fn half_an_hour_of_silence_ends_a_session_and_less_is_a_pause() {
        let mut counter = Counter::new(Key::default(), Personal::Kept);
        for at in [0, 10, 20, 5000, 5004, 20_000] {
            counter.add(b"192.0.2.1", (at * SECOND_NS, at * SECOND_NS), SECOND_NS);
        }
        let users = counter.finish().unwrap();
        assert_eq!((users.sessions, users.session_requests_p50), (3, 2));
        assert_eq!(users.pauses.as_ref().map(|it| it.count), Some(3));
        assert!(users.pauses.is_some_and(|it| (8_990_000_000..=9_100_000_000).contains(&it.p50_ns)));
        assert_eq!(users.largest[0].name, "192.0.2.1");
        assert_eq!((users.visits.requests, users.visits.told_in_ns), (vec![(1, 1), (2, 1), (3, 1)], 1_000_000_000));
        assert_eq!([999, 1_234, 12_345, 4_000_000_000].map(rounded), [999, 1_230, 12_300, 4_000_000_000]);
    }

    #[test]
    fn lines_in_any_order_are_the_same_users() {
        // By turns of two users, in visits, some of whose requests overlap.
        let times: Vec<i64> = (0..20_000).map(|at| at / 10 * 7200 + at % 10 * 3).collect();
        let counted = |times: Vec<i64>| {
            let mut counter = Counter::new(Key::default(), Personal::LeftOut);
            for at_s in times {
                counter.add(&(at_s / 3 % 2).to_be_bytes(), (at_s * SECOND_NS, at_s * SECOND_NS), 7 * SECOND_NS);
            }
            let most: usize = counter.unsorted.values().map(Vec::len).sum();
            assert!(most <= counter.spans.iter().sum::<usize>(), "{most}");
            counter.finish()
        };
        let shuffled = (0..20_000).map(|at| times[at * 7919 % 20_000]).collect();
        let forward = counted(times.clone());
        assert_eq!(forward.as_ref().map(|users| (users.users, users.sessions)), Some((2, 4000)));
        assert_eq!(counted(times.into_iter().rev().collect()), forward);
        assert_eq!(counted(shuffled), forward);
    }

    /// Each of some users makes some requests in one half and some in the other, at times that fall between each other.
    fn halves(users_most: usize, spans_most: usize, users: u64) -> [Counter; 2] {
        [0, 1].map(|half| {
            let mut counter = Counter { users_most, spans_most, ..Counter::new(Key::new([3; 16]), Personal::LeftOut) };
            for user in 0..users {
                for visit in 0..4i64 {
                    for at in 0..5i64 {
                        let at_ns = (visit * 7200 + 20 * at + 10 * half) * SECOND_NS;
                        counter.add(&user.to_be_bytes(), (at_ns, at_ns), SECOND_NS);
                    }
                }
            }
            counter
        })
    }

    fn merged([mut one, other]: [Counter; 2]) -> Counter {
        one.absorb(other);
        one
    }

    #[test]
    fn sessions_of_two_servers_are_those_of_their_users() {
        let counter = merged(halves(USERS_MOST, SPANS_MOST, 300));
        assert_eq!(counter.remarks(), Vec::<String>::new());
        let users = counter.finish().unwrap();
        assert_eq!((users.users, users.requests_max, users.sessions, users.session_requests_p50), (300, 40, 1200, 10));
        assert_eq!(users.pauses.as_ref().map(|it| (it.count, it.p50_ns / 100_000_000)), Some((300 * 4 * 9, 90)));
        assert_eq!(users.session_length.map(|it| it.max_ns), Some(91_000_000_000));
    }

    #[test]
    fn where_there_is_no_room_for_spans_fewer_users_are_looked_at_for_them() {
        let exact = merged(halves(USERS_MOST, SPANS_MOST, 4000)).finish().unwrap();
        for (spans_most, remarks) in [(20_000, 1), (6_000, 2)] {
            let counter = merged(halves(USERS_MOST, spans_most, 4000));
            assert!(counter.spans.iter().all(|spans| *spans <= spans_most), "{:?}", counter.spans);
            assert_eq!(counter.remarks().len(), remarks, "{:?}", counter.remarks());
            let users = counter.finish().unwrap();
            assert_eq!((users.users, users.requests, users.requests_max), (exact.users, exact.requests, exact.requests_max));
            let ratio = |one: u64, other: u64| one as f64 / other as f64;
            assert!((0.8..1.25).contains(&ratio(users.sessions, exact.sessions)), "{}", users.sessions);
            let (pauses, of_all) = (users.pauses.unwrap(), exact.pauses.clone().unwrap());
            assert!((0.6..1.6).contains(&ratio(pauses.count, of_all.count)), "{}", pauses.count);
            assert_eq!(pauses.p50_ns, of_all.p50_ns);
        }
    }

    #[test]
    fn users_of_halves_that_have_no_room_for_them_are_estimated() {
        let counter = merged(halves(2_000, SPANS_MOST, 20_000));
        assert!(counter.users.len() <= 2_000);
        let users = counter.finish().unwrap();
        assert!(!users.exact && (0.8..1.25).contains(&(users.users as f64 / 20_000.0)), "{}", users.users);
        assert_eq!(users.requests, 20_000 * 40);
        assert!((0.8..1.25).contains(&(users.sessions as f64 / 80_000.0)), "{}", users.sessions);
    }

    #[test]
    fn numbers_that_are_in_every_sample_end_no_counting() {
        let read = |users: &[String]| {
            let written = format!(
                r#"{{"requests":{},"halvings":0,"session_halvings":0,"pause_halvings":0,"is_finer":false,"users":[{}]}}"#,
                1_u64 << 30,
                users.join(",")
            );
            serde_json::from_str::<Counter>(&written).map_err(|why| why.to_string())
        };
        let user = |number: u64, spans: usize| {
            // The inverse of what numbers are multiplied by.
            let hash = number.wrapping_mul(0xF1DE_83E1_9937_733D);
            assert!(is_sampled(hash, HALVINGS_MOST));
            format!("[{hash},{spans},false,[{}],null]", vec![format!("[{},0,1]", 3600 * SECOND_NS); spans].join(","))
        };
        assert!(read(&[user(0, (1 << 19) + 1)]).unwrap_err().contains("more often than time allows"));
        let users: Vec<String> = (0..3).map(|number| user(number, 1 << 19)).collect();
        let mut counter = Counter { spans_most: 1000, ..read(&users).unwrap() };
        counter.make_room();
        assert_eq!((counter.session_halvings, counter.pause_halvings), (HALVINGS_MOST, HALVINGS_MOST));
        assert_eq!(counter.finish().unwrap().users, 3);
    }

    #[test]
    fn whoever_never_rests_has_no_pauses() {
        let mut counter = Counter::new(Key::default(), Personal::LeftOut);
        for at in 0..2 * MOMENTS_MOST as i64 {
            counter.add(b"a proxy", (2 * at * SECOND_NS, 2 * at * SECOND_NS), 0);
        }
        assert!(counter.spans[0] + counter.spans[1] < 10);
        let users = counter.finish().unwrap();
        assert_eq!((users.sessions, users.pauses, users.requests_max), (1, None, 2 * MOMENTS_MOST as u64));
    }
}
