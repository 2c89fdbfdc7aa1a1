//! Who asks: how much each user makes, in which sessions, with which pauses.
//!
//! A user here is an address: logs know nothing else of everybody. A log may have more addresses than memory, so when the table is
//! full, half of the users are dropped, chosen by a hash of their address and not by what they did (adaptive sampling, after
//! Wegman). Each of the rest stands for twice as many, with everything it did: shares, sessions and pauses remain what they are, as
//! those of a sample. Whoever makes so much that chance should not decide is kept whatever the hash says, and stands for itself.
//!
//! Invariant: without dropping, every figure is exact; with it, the result says so.

use std::collections::BTreeMap;
use std::hash::Hasher as _;

use rustc_hash::{FxHashMap, FxHasher};
use serde::Serialize;

use crate::scrub::Personal;
use crate::stamp::SECOND_NS;
use crate::took::{Times, Took};

/// Users in the table: some 50 MB.
const USERS_MOST: usize = 1 << 19;
/// Of the table, this part at most is of users that are kept for what they make.
const LARGE_PART: u64 = 8;
/// A pause of half an hour ends a session, as web analytics has it.
const SESSION_PAUSE_NS: i64 = 1800 * SECOND_NS;
/// Users that are listed.
const LISTED: usize = 10;

#[derive(Debug)]
struct User {
    requests: u64,
    session_requests: u32,
    session_start_ns: i64,
    last_end_ns: i64,
    name: Option<Box<[u8]>>,
}

/// Counts users.
#[derive(Debug)]
pub(crate) struct Counter {
    users: FxHashMap<u64, User>,
    most: usize,
    /// So many times was half of them dropped.
    halvings: u32,
    requests: u64,
    personal: Personal,
    sessions: u64,
    session_requests: BTreeMap<u32, u64>,
    session_length: Took,
    pauses: Took,
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
    pub(crate) fn new(personal: Personal) -> Self {
        Self {
            users: FxHashMap::default(),
            most: USERS_MOST,
            halvings: 0,
            requests: 0,
            personal,
            sessions: 0,
            session_requests: BTreeMap::new(),
            is_finer: false,
            session_length: Took::default(),
            pauses: Took::default(),
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, address: &[u8], (stamp_ns, start_ns): (i64, i64), took_ns: i64) {
        self.requests += 1;
        self.is_finer |= stamp_ns % SECOND_NS != 0;
        let mut hasher = FxHasher::default();
        hasher.write(address);
        let hash = hasher.finish();
        let sampled = is_sampled(hash, self.halvings);
        let end_ns = start_ns.saturating_add(took_ns);
        if let Some(user) = self.users.get_mut(&hash) {
            user.requests += 1;
            let weight = if sampled { 1 << self.halvings } else { 1 };
            let pause_ns = start_ns - user.last_end_ns;
            if pause_ns > SESSION_PAUSE_NS {
                self.sessions += weight;
                *self.session_requests.entry(rounded(user.session_requests)).or_default() += weight;
                if user.session_requests > 1 {
                    self.session_length.record(user.last_end_ns - user.session_start_ns, weight);
                }
                (user.session_requests, user.session_start_ns, user.last_end_ns) = (1, start_ns, end_ns);
            } else {
                self.pauses.record(pause_ns.max(0), weight);
                user.session_requests = user.session_requests.saturating_add(1);
                user.last_end_ns = user.last_end_ns.max(end_ns);
                user.session_start_ns = user.session_start_ns.min(start_ns);
            }
            return;
        }
        if !sampled {
            return;
        }
        if self.users.len() >= self.most {
            self.halve();
            if !is_sampled(hash, self.halvings) {
                return;
            }
        }
        let name = (self.personal == Personal::Kept).then(|| address.into());
        self.users.insert(hash, User { requests: 1, session_requests: 1, session_start_ns: start_ns, last_end_ns: end_ns, name });
    }

    fn halve(&mut self) {
        while self.users.len() >= self.most / 2 + self.most / 4 {
            self.halvings += 1;
            // No more than an eighth of the table can make more than this.
            let (halvings, large) = (self.halvings, self.requests * LARGE_PART / self.most as u64);
            self.users.retain(|hash, user| is_sampled(*hash, halvings) || user.requests > large);
        }
    }

    pub(crate) fn finish(mut self) -> Option<Users> {
        if self.users.is_empty() {
            return None;
        }
        for (hash, user) in &self.users {
            let weight = if is_sampled(*hash, self.halvings) { 1 << self.halvings } else { 1 };
            self.sessions += weight;
            *self.session_requests.entry(rounded(user.session_requests)).or_default() += weight;
            if user.session_requests > 1 {
                self.session_length.record(user.last_end_ns - user.session_start_ns, weight);
            }
        }
        let mut all: Vec<(u64, u64, u64)> = self
            .users
            .iter()
            .map(|(hash, user)| (user.requests, *hash, if is_sampled(*hash, self.halvings) { 1 << self.halvings } else { 1 }))
            .collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
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
                name: match self.users.get(hash).and_then(|user| user.name.as_deref()) {
                    Some(name) => String::from_utf8_lossy(name).into_owned(),
                    None => format!("user {}", at + 1),
                },
                requests: *requests,
            })
            .collect();
        let requests_at = |share: f64| {
            let mut passed = 0;
            let mut each = self.session_requests.iter();
            each.find(|(_, sessions)| {
                passed += **sessions;
                passed as f64 >= share * self.sessions as f64
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
            sessions: self.sessions,
            session_requests_p50: requests_at(0.5),
            session_requests_p90: requests_at(0.9),
            session_length: self.session_length.times(),
            pauses: self.pauses.times(),
            visits: Visits {
                requests: self.session_requests.iter().map(|(requests, sessions)| (*requests, *sessions)).collect(),
                pauses_ns: self.pauses.each_ns().collect(),
                told_in_ns: if self.is_finer { 1 } else { SECOND_NS as u64 },
            },
        })
    }
}

/// A number of requests as it is counted: beyond a thousand to a hundredth, so that their number is bounded.
fn rounded(requests: u32) -> u32 {
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
        let mut counter = Counter { most, ..Counter::new(Personal::LeftOut) };
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
        let mut counter = Counter::new(Personal::Kept);
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
}
