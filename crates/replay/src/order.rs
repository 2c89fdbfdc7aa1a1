//! Requests in the order of their beginnings, out of lines in the order of their ends.
//!
//! A server writes a line when a request is over, so one that took long stands behind others that began after it; most forms have
//! no finer time than a second, so a thousand lines may have the same. Reading all of a log and sorting it would take its size in
//! memory. But how far lines are behind was seen when the log was looked at: so only as much is held back as that, and what has
//! nothing before it any more goes out.
//!
//! Lines of one second are spread over it in their order: at random moments, as independent users come, or at even distances. Where
//! the log has the time of the end, it is the end that is spread, and what the request took is subtracted after.
//!
//! Invariants: times never go back; a time is that of the log, within its second where it has no finer one; the same for every source.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use std::hash::Hasher as _;
use std::io;
use std::sync::Arc;

use engine::protocol::Encoded;
use import::{Entries, Entry, LogEvent, RouteIndex};
use plan::{Random, Share, Spacing};
use rustc_hash::FxHasher;

use crate::found::FileFound;
use crate::log::Log;
use crate::pick::{Clients, Pick, SECOND_NS};
use crate::request::Writer;

/// A line may stand so far behind one that it should be before.
pub(crate) const LATE_NS_MOST: i64 = 120 * SECOND_NS;
/// Longer lines are no requests: servers take 8 or 16 KB.
pub(crate) const LINE_BYTES_MOST: usize = 128 << 10;
/// So many lines of a log are held back to be put in order, twelve seconds of a million a minute; beyond that, the first go out as they are,
/// and what should have been before them goes out late.
pub(crate) const HELD_MOST: usize = 200_000;
/// Streams of chance from here on spread lines over their seconds.
const SECONDS: u64 = 3 << 48;

/// A request to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TimedRequest {
    /// When, by the log.
    pub(crate) at_ns: i64,
    /// Its place among those of its log.
    pub(crate) number: u64,
    /// Who asked; 0 where that does not matter.
    pub(crate) client: u64,
    pub(crate) route: u32,
    /// Which of the sources sends it.
    pub(crate) source: u32,
    pub(crate) logged: u16,
    /// Whether it is sent after its time, since more lines than may be held back lay between its place and its time.
    pub(crate) is_late: bool,
    pub(crate) request: Encoded,
}

impl Ord for TimedRequest {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at_ns, self.number).cmp(&(other.at_ns, other.number))
    }
}

impl PartialOrd for TimedRequest {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// How far lines are behind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lateness {
    newest_stamp_ns: i64,
    newest_start_ns: i64,
}

/// How far one is: its own time, and its beginning.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Behind {
    pub(crate) stamp_ns: i64,
    pub(crate) start_ns: i64,
}

impl Lateness {
    pub(crate) const fn new() -> Self {
        Self { newest_stamp_ns: i64::MIN / 2, newest_start_ns: i64::MIN / 2 }
    }

    /// `None` for a line that is too far behind.
    #[inline]
    pub(crate) fn judge(&mut self, entry: &Entry<'_>) -> Option<Behind> {
        let behind =
            Behind { stamp_ns: (self.newest_stamp_ns - entry.stamp_ns).max(0), start_ns: (self.newest_start_ns - entry.start_ns).max(0) };
        if behind.stamp_ns > LATE_NS_MOST || behind.start_ns > LATE_NS_MOST {
            return None;
        }
        self.newest_stamp_ns = self.newest_stamp_ns.max(entry.stamp_ns);
        self.newest_start_ns = self.newest_start_ns.max(entry.start_ns);
        Some(behind)
    }
}

/// What a replay reads.
#[derive(Debug)]
pub(crate) struct ReplayPlan {
    pub(crate) logs: Vec<Log>,
    pub(crate) files: Vec<FileFound>,
    pub(crate) pick: Pick,
    pub(crate) routed: RouteIndex,
    pub(crate) writer: Writer,
    /// So many lines of each log are held back at most.
    pub(crate) held_most: usize,
}

/// Who sends what, of those that are dealt to: their places by the number of their share.
#[derive(Debug, Clone)]
pub(crate) struct Owners {
    whole: Share,
    sources: Vec<Option<u32>>,
}

impl Owners {
    pub(crate) fn of(shares: &[Share]) -> Self {
        let whole = shares.first().copied().unwrap_or(Share::WHOLE);
        let source = |index: u32| shares.iter().position(|share| share.index() == index).map(|source| source as u32);
        Self { whole, sources: (0..whole.of()).map(source).collect() }
    }

    /// Who sends a request with this number among those of its log, of this client; `None`: one who is not dealt to.
    #[inline]
    fn source(&self, number: u64, client: u64) -> Option<u32> {
        // A client's requests are all of one source, so that one worker sees the answers to them.
        let owner = self.whole.owner(if client == 0 { number } else { client >> 16 });
        self.sources[owner as usize]
    }
}

/// The requests of one log that are of these sources, in order.
struct Ordered {
    score: Arc<ReplayPlan>,
    file: usize,
    owners: Owners,
    entries: Entries<'static>,
    lateness: Lateness,
    /// Where times are whole seconds: those that may still get more lines.
    seconds: BTreeMap<i64, Vec<Held>>,
    /// How many these are, those of others among them, so that a part does the same as the whole.
    held: usize,
    heap: BinaryHeap<Reverse<TimedRequest>>,
    /// No request before this one comes any more.
    horizon_ns: i64,
    last_ns: i64,
    /// How many there were, those of others among them.
    number: u64,
    ended: bool,
}

struct Held {
    before_ns: i64,
    /// `None` for one of another source: it only takes its place in the second.
    shot: Option<TimedRequest>,
}

impl Ordered {
    fn open(score: Arc<ReplayPlan>, file: usize, owners: Owners) -> io::Result<Self> {
        let entries = Entries::open(score.logs[file].read()?, &score.pick.options.form, LINE_BYTES_MOST)?;
        Ok(Self {
            score,
            file,
            owners,
            entries,
            lateness: Lateness::new(),
            seconds: BTreeMap::new(),
            held: 0,
            heap: BinaryHeap::new(),
            horizon_ns: i64::MIN,
            last_ns: i64::MIN,
            number: 0,
            ended: false,
        })
    }

    fn next(&mut self) -> Option<TimedRequest> {
        loop {
            let is_first = self.heap.peek().is_some_and(|first| first.0.at_ns <= self.horizon_ns);
            if is_first || self.ended || self.heap.len() > self.score.held_most {
                let mut shot = self.heap.pop()?.0;
                if shot.at_ns < self.last_ns {
                    (shot.at_ns, shot.is_late) = (self.last_ns, true);
                }
                self.last_ns = shot.at_ns;
                return Some(shot);
            }
            self.read();
        }
    }

    /// Reads one line more.
    fn read(&mut self) {
        let score = &*self.score;
        let about = &score.files[self.file];
        let entry = match self.entries.read() {
            Some(Ok(LogEvent::Request(entry))) => entry,
            Some(Ok(LogEvent::Unread(..))) => return,
            // It was told when the log was looked at.
            Some(Err(_)) | None => {
                self.ended = true;
                let seconds = std::mem::take(&mut self.seconds);
                self.held = 0;
                seconds.into_iter().for_each(|(second, held)| self.spread(second, held));
                return;
            }
        };
        let Ok(target) = score.pick.look(&entry) else { return };
        if self.lateness.judge(&entry).is_none() {
            return;
        }
        let number = self.number;
        self.number += 1;
        let in_order = score.pick.options.clients == Clients::InOrder;
        let client = entry.client.filter(|_| in_order).map_or(0, client);
        let shot = self.owners.source(number, client).map(|source| {
            let rewritten = rewritten(&score.pick, target);
            TimedRequest {
                at_ns: entry.start_ns,
                number,
                client,
                route: score.routed.number(entry.method, entry.path),
                source,
                logged: entry.status,
                is_late: false,
                request: score.writer.write(&entry, rewritten.as_deref().unwrap_or(target)),
            }
        });
        let before_ns = entry.stamp_ns - entry.start_ns;
        if !about.whole_seconds {
            self.heap.extend(shot.map(Reverse));
            self.horizon_ns = self.lateness.newest_start_ns - about.late_start_ns;
            return;
        }
        let held_most = score.held_most;
        self.seconds.entry(entry.stamp_ns.div_euclid(SECOND_NS)).or_default().push(Held { before_ns, shot });
        self.held += 1;
        let open_ns = self.lateness.newest_stamp_ns - about.late_stamp_ns;
        let (longest_ns, open) = (about.longest_ns, open_ns.div_euclid(SECOND_NS));
        let is_held = self.held;
        while let Some(first) = self.seconds.first_entry().filter(|first| *first.key() < open || is_held > held_most) {
            let (second, held) = first.remove_entry();
            self.held -= held.len();
            let was_open = second >= open;
            self.spread(second, held);
            if was_open {
                // One that is closed before its time makes room enough.
                break;
            }
        }
        self.horizon_ns = open * SECOND_NS - longest_ns;
    }

    /// Gives every line of a second its moment.
    fn spread(&mut self, second: i64, held: Vec<Held>) {
        let options = &self.score.pick.options;
        let offsets = offsets(held.len(), options.spacing, options.seed, second);
        for (Held { before_ns, shot }, offset_ns) in held.into_iter().zip(offsets) {
            if let Some(shot) = shot {
                self.heap.push(Reverse(TimedRequest { at_ns: second * SECOND_NS + offset_ns - before_ns, ..shot }));
            }
        }
    }
}

/// Where so many requests stand in a second, ascending.
fn offsets(count: usize, spacing: Spacing, seed: u64, second: i64) -> Vec<i64> {
    match spacing {
        Spacing::Even => (0..count as i64).map(|place| (2 * place + 1) * SECOND_NS / (2 * count as i64)).collect(),
        Spacing::Poisson => {
            let mut random = Random::new(seed, SECONDS.wrapping_add(second as u64));
            let mut offsets: Vec<i64> = (0..count).map(|_| random.between(0, SECOND_NS as u64 - 1) as i64).collect();
            offsets.sort_unstable();
            offsets
        }
    }
}

fn client(address: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(address);
    hasher.finish().max(1)
}

/// Path and query after all rules; `None` where none means them.
fn rewritten(pick: &Pick, target: &[u8]) -> Option<Vec<u8>> {
    let mut written: Option<Vec<u8>> = None;
    for rule in &pick.options.rewrites {
        written = rule.applied(written.as_deref().unwrap_or(target)).or(written);
    }
    written
}

/// The requests of all logs that are of some sources, in order.
pub(crate) struct Merged {
    score: Arc<ReplayPlan>,
    owners: Owners,
    /// Logs that have not begun, the first first.
    waiting: VecDeque<usize>,
    /// Those that have, each with its next request.
    open: Vec<(TimedRequest, Ordered)>,
    /// A log that could be read when it was looked at, and cannot any more.
    pub(crate) failed: Option<String>,
}

impl Merged {
    pub(crate) fn new(score: Arc<ReplayPlan>, owners: Owners) -> Self {
        let mut waiting: Vec<usize> = (0..score.files.len()).filter(|file| score.files[*file].sent > 0).collect();
        waiting.sort_by_key(|file| score.files[*file].first_ns);
        Self { score, owners, waiting: waiting.into(), open: Vec::new(), failed: None }
    }

    fn begin(&mut self, file: usize) {
        match Ordered::open(self.score.clone(), file, self.owners.clone()) {
            Ok(mut ordered) => self.open.extend(ordered.next().map(|first| (first, ordered))),
            Err(why) => self.failed = Some(format!("the log '{}' cannot be read any more: {why}", self.score.logs[file].name())),
        }
    }
}

impl Iterator for Merged {
    type Item = TimedRequest;

    fn next(&mut self) -> Option<TimedRequest> {
        loop {
            let first = self
                .open
                .iter()
                .enumerate()
                .min_by_key(|(_, (shot, ordered))| (shot.at_ns, ordered.file))
                .map(|(at, open)| (at, open.0.at_ns));
            if let Some(file) = self.waiting.front().copied()
                && first.is_none_or(|(_, at_ns)| self.score.files[file].first_ns <= at_ns)
            {
                self.waiting.pop_front();
                self.begin(file);
                continue;
            }
            let (at, _) = first?;
            return Some(match self.open[at].1.next() {
                Some(next) => std::mem::replace(&mut self.open[at].0, next),
                None => self.open.swap_remove(at).0,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_second_keep_their_order_and_stay_in_it() {
        assert_eq!(offsets(2, Spacing::Even, 1, 7), [250_000_000, 750_000_000]);
        let random = offsets(1000, Spacing::Poisson, 1, 7);
        assert!(random.is_sorted() && random.iter().all(|at| (0..SECOND_NS).contains(at)));
        assert_eq!(random, offsets(1000, Spacing::Poisson, 1, 7));
        assert_ne!(random, offsets(1000, Spacing::Poisson, 2, 7));
        let middle = random[500];
        assert!((400_000_000..600_000_000).contains(&middle), "{middle}");
    }
}
