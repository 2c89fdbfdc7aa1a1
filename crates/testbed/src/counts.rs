//! What the server counted: the other half of every statement a load generator makes.
//!
//! A counter shared by all threads costs more than the reply to a health check. Each serving thread therefore writes
//! to its own shard, with plain loads and stores that only look atomic to the reader; the sum is taken when asked for. The
//! invariant: a request is counted before any byte of its reply leaves, so that whoever has read a reply finds it counted.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Everything counted since the start.
///
/// `received = answered + cut + abandoned + in_flight`; `by_path` adds up to `received`, `by_status` to `answered`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Connections accepted.
    pub connections: u64,
    /// Of these, open now.
    pub open: u64,
    /// Connections that ended in an error: bytes that are no HTTP, a failed TLS handshake, a reset by the peer or by us.
    pub broken: u64,
    /// Requests received completely, head and body.
    pub received: u64,
    /// Replies handed to their connection, whole or, if they are paced, begun.
    pub answered: u64,
    /// Requests whose connection was reset on purpose, before or in the middle of the reply.
    pub cut: u64,
    /// Requests whose client went away before the reply was due.
    pub abandoned: u64,
    /// Requests received and still to be answered.
    pub in_flight: u64,
    /// Requests received, by path without query. Beyond 1000 unknown paths the rest is counted under `(other)`.
    pub by_path: BTreeMap<String, u64>,
    /// Replies, by status.
    pub by_status: BTreeMap<u16, u64>,
}

impl Counts {
    /// Requests received for this path.
    pub fn path(&self, path: &str) -> u64 {
        self.by_path.get(path).copied().unwrap_or(0)
    }

    /// Replies with this status.
    pub fn status(&self, status: u16) -> u64 {
        self.by_status.get(&status).copied().unwrap_or(0)
    }

    /// The sum over the shards; the paths are those the shards have slots for.
    pub(crate) fn sum<'a>(shards: impl Iterator<Item = &'a Shard>, paths: &[String]) -> Counts {
        let shards: Vec<&Shard> = shards.collect();
        let mut counts = Counts::default();
        // One thread accepts and another closes, so the ends are read before all beginnings.
        let closed: u64 = shards.iter().map(|shard| shard.closed.value()).sum();
        for shard in shards {
            // Answers are read before receipts: a request that moves on meanwhile is never answered but not received.
            let (answered, cut, abandoned) = (shard.answered.value(), shard.cut.value(), shard.abandoned.value());
            for (status, counter) in (0..).zip(&shard.by_status) {
                if counter.value() > 0 {
                    *counts.by_status.entry(status).or_default() += counter.value();
                }
            }
            let received = shard.received.value();
            counts.connections += shard.connections.value();
            counts.broken += shard.broken.value();
            counts.received += received;
            counts.answered += answered;
            counts.cut += cut;
            counts.abandoned += abandoned;
            counts.in_flight += received.saturating_sub(answered + cut + abandoned);
            for (path, counter) in paths.iter().zip(&shard.by_path) {
                if counter.value() > 0 {
                    *counts.by_path.entry(path.clone()).or_default() += counter.value();
                }
            }
            for (path, count) in &*shard.unknown_paths.lock().unwrap_or_else(PoisonError::into_inner) {
                *counts.by_path.entry(path.clone()).or_default() += count;
            }
        }
        counts.open = counts.connections - closed;
        counts
    }
}

/// The counters of one serving thread; only that thread adds to them.
pub(crate) struct Shard {
    pub(crate) connections: Counter,
    pub(crate) closed: Counter,
    pub(crate) broken: Counter,
    pub(crate) received: Counter,
    pub(crate) answered: Counter,
    pub(crate) cut: Counter,
    pub(crate) abandoned: Counter,
    pub(crate) by_path: Box<[Counter]>,
    by_status: Box<[Counter]>,
    unknown_paths: Mutex<BTreeMap<String, u64>>,
}

impl Shard {
    pub(crate) fn new(paths: usize) -> Shard {
        let counters = |count: usize| (0..count).map(|_| Counter::default()).collect();
        Shard {
            connections: Counter::default(),
            closed: Counter::default(),
            broken: Counter::default(),
            received: Counter::default(),
            answered: Counter::default(),
            cut: Counter::default(),
            abandoned: Counter::default(),
            by_path: counters(paths),
            // A status has three digits.
            by_status: counters(1000),
            unknown_paths: Mutex::default(),
        }
    }

    /// Counts a request for a path that has a slot.
    pub(crate) fn receive(&self, slot: usize) {
        self.by_path[slot].add_one();
        self.received.add_one();
    }

    /// Counts a request for a path nobody serves.
    pub(crate) fn receive_unknown(&self, path: &str) {
        let mut unknown = self.unknown_paths.lock().unwrap_or_else(PoisonError::into_inner);
        let room = unknown.len() < UNKNOWN_PATHS_MAX || unknown.contains_key(path);
        *unknown.entry(if room { path } else { "(other)" }.to_owned()).or_default() += 1;
        drop(unknown);
        self.received.add_one();
    }

    /// Counts a reply.
    pub(crate) fn answer(&self, status: u16) {
        self.by_status[usize::from(status)].add_one();
        self.answered.add_one();
    }
}

/// Keeps the memory of a server that is asked for ever new paths bounded.
const UNKNOWN_PATHS_MAX: usize = 1000;

/// A number one thread adds to and any thread may read.
#[derive(Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Not a read-modify-write: there is one writer.
    pub(crate) fn add_one(&self) {
        self.0.store(self.0.load(Ordering::Relaxed) + 1, Ordering::Release);
    }

    pub(crate) fn value(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_add_up_by_path_and_status() {
        let paths = ["/a".to_owned(), "/b".to_owned()];
        let shards = [Shard::new(2), Shard::new(2)];
        shards[0].receive(0);
        shards[0].answer(200);
        shards[1].receive(0);
        shards[1].answer(503);
        shards[1].receive(1);
        shards[1].receive_unknown("/c");
        shards[1].cut.add_one();
        let counts = Counts::sum(shards.iter(), &paths);
        assert_eq!((counts.path("/a"), counts.path("/b"), counts.path("/c"), counts.path("/d")), (2, 1, 1, 0));
        assert_eq!((counts.status(200), counts.status(503), counts.status(404)), (1, 1, 0));
        assert_eq!((counts.received, counts.answered, counts.cut, counts.in_flight), (4, 2, 1, 1));
    }

    #[test]
    fn ever_new_paths_are_counted_in_bounded_memory() {
        let shard = Shard::new(0);
        for n in 0..UNKNOWN_PATHS_MAX + 50 {
            shard.receive_unknown(&format!("/{n}"));
        }
        let counts = Counts::sum([&shard].into_iter(), &[]);
        assert_eq!(counts.by_path.len(), UNKNOWN_PATHS_MAX + 1);
        assert_eq!(counts.path("(other)"), 50);
        assert_eq!(counts.received, counts.by_path.values().sum());
    }
}
