//! A log of every request of a load: records that workers copy, and hand on in batches to one who writes them down.
//!
//! A summary answers what it was made to answer; some tools want every request, and every transaction behind its requests. So a worker
//! copies what it knows of each into a batch of its own, without a text in it, and hands the batch on when it is full and once an
//! interval. Whoever writes may be slower than the load: a disk, or a program behind a pipe. To wait for it, the alternative, would make
//! the load as slow as the disk and show that as the server's time. So what finds no room is left out, in whole batches, and counted.
//!
//! Invariants: nobody waits to hand on; of all records that were [made](RequestLog::made) each comes out of the channel once or was left out;
//! batches are used again, so that copying a record allocates nothing but while more and more batches are on their way, and
//! never more of them than the log holds.

use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use plan::{Nanos, Part};
use serde::{Deserialize, Serialize};

use crate::{Failure, Outcome, Tally};

/// So many records leave a worker together: 32 KiB.
const BATCH: usize = 512;
const _: () = assert!(size_of::<RequestRecord>() == 64);

/// So many batches may wait to be written: 32 MiB of requests, more than two seconds of 200,000 a second.
const BATCHES_MAX: usize = 1_024;

/// A worker of another process that says it has more requests on the wire is not believed: ports are fewer.
const IN_FLIGHT_MAX: u32 = 65_535;

/// What a log says of one request. Times count from when it was due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "PackedRecord", into = "PackedRecord")]
pub struct RequestRecord {
    /// When it was due, from the start of the run.
    pub due: Nanos,
    /// Until the first byte of its answer; for a request without one, the same as `elapsed`.
    pub first_byte: Nanos,
    /// Until it was done: its response time.
    pub elapsed: Nanos,
    /// Bytes read, head included.
    pub bytes_in: u64,
    /// Bytes written, head included.
    pub bytes_out: u32,
    /// What it took to open connections for it, TLS included, in microseconds; 0 where it used one that was open.
    pub connect_us: u32,
    /// Which of the worker's Lanes it was sent on.
    pub lane: u32,
    /// Requests of its worker that were on the wire when it ended, with itself.
    pub in_flight: u32,
    /// What it is called: a place among the names of its [source](RecordSource).
    pub name: u32,
    /// The status of its answer, or why there is none.
    pub result: Result<u16, Failure>,
    /// Why it did not succeed.
    pub failure: Option<Failure>,
    /// The first check of its answer that did not hold: a place among those of its name.
    pub check: Option<u16>,
}

/// Without names: of hundred thousand records a second, names would be most of what travels.
type PackedRecord = ((Nanos, Nanos, Nanos), (u64, u32, u32), (u32, u32, u32), (Result<u16, Failure>, Option<Failure>, Option<u16>));

impl From<RequestRecord> for PackedRecord {
    fn from(record: RequestRecord) -> Self {
        let RequestRecord { due, first_byte, elapsed, bytes_in, bytes_out, connect_us, lane, in_flight, name, result, failure, check } =
            record;
        ((due, first_byte, elapsed), (bytes_in, bytes_out, connect_us), (lane, in_flight, name), (result, failure, check))
    }
}

impl From<PackedRecord> for RequestRecord {
    fn from(packed: PackedRecord) -> Self {
        let ((due, first_byte, elapsed), (bytes_in, bytes_out, connect_us), (lane, in_flight, name), (result, failure, check)) = packed;
        Self { due, first_byte, elapsed, bytes_in, bytes_out, connect_us, lane, in_flight, name, result, failure, check }
    }
}

/// What requests came to together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RequestSums {
    /// How many they are.
    pub requests: u32,
    /// How many of them failed.
    pub failed: u32,
    /// Bytes read, heads included.
    pub bytes_in: u64,
    /// Bytes written, heads included.
    pub bytes_out: u64,
    /// From when each was due to its first byte.
    pub first_byte: Nanos,
    /// What it took to open connections for them, in microseconds.
    pub connect_us: u64,
    /// The Lane that the last was sent on.
    pub lane: u32,
}

impl RequestSums {
    /// Adds requests that ended later.
    pub fn add(&mut self, later: &Self) {
        let Self { requests, failed, bytes_in, bytes_out, first_byte, connect_us, lane } = later;
        self.requests += requests;
        self.failed += failed;
        self.bytes_in += bytes_in;
        self.bytes_out += bytes_out;
        self.first_byte += *first_byte;
        self.connect_us += connect_us;
        self.lane = *lane;
    }
}

/// What a log says of a transaction: requests that are timed as one, and have records of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TransactionRecord {
    /// What it is called: a place among the names of its [source](RecordSource).
    pub name: u32,
    /// When its first request was due, from the start of the run.
    pub due: Nanos,
    /// Its time.
    pub elapsed: Nanos,
    /// What of the time until its last answer is not in that, such as pauses.
    pub idle: Nanos,
    /// Whether it went to its end, and nothing in it failed.
    pub succeeded: bool,
    /// Its requests.
    pub sums: RequestSums,
}

/// What requests of one kind are called.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RecordName {
    /// The name of the step or of the row, or a path.
    pub name: Arc<str>,
    /// The checks of its answers, as they were written.
    pub checks: Vec<Arc<str>>,
}

impl RecordName {
    /// Without checks.
    #[must_use]
    pub fn plain(name: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), checks: Vec::new() }
    }

    /// Those of a worker's Steps, in the order of its rows, and behind them those of its transactions.
    pub fn of_rows(rows: &Tally) -> impl Iterator<Item = Self> {
        let steps = rows.steps.iter();
        let steps = steps.map(|row| Self { name: row.name.clone(), checks: row.checks.iter().map(|check| check.check.clone()).collect() });
        steps.chain(rows.transactions.iter().map(|row| Self::plain(row.name.clone())))
    }
}

/// Whose records a batch holds.
#[derive(Debug)]
pub struct RecordSource {
    /// The worker's part of the load.
    pub part: Part,
    /// When the run began, since 1970.
    pub began: Nanos,
    /// What its requests and transactions are called; never empty.
    pub names: Vec<RecordName>,
    /// Where batches go back.
    empty: SyncSender<Room>,
}

/// Where a batch holds its records.
type Room = (Vec<RequestRecord>, Vec<(usize, TransactionRecord)>);

/// Records of one worker, in the order in which the requests ended.
#[derive(Debug)]
pub struct RecordBatch {
    /// Whose they are.
    pub source: Arc<RecordSource>,
    /// Some records.
    pub records: Vec<RequestRecord>,
    /// Transactions that ended meanwhile, in their order; before each, how many of the records are those of requests that ended before it.
    pub transactions: Vec<(usize, TransactionRecord)>,
}

impl RecordBatch {
    /// Gives the room of a batch that was written back to its worker.
    pub fn give_back(mut self) {
        self.records.clear();
        self.transactions.clear();
        // A worker that is gone needs no room.
        let _ = self.source.empty.try_send((self.records, self.transactions));
    }

    /// Whether every name is one of its source, times can have been, and transactions stand in their order.
    fn is_sound(&self) -> bool {
        let is_name = |name: u32| (name as usize) < self.source.names.len();
        let are_times = |times: [Nanos; 4]| times.iter().all(|time| *time < Nanos::NEVER);
        let is_request = |RequestRecord { due, first_byte, elapsed, in_flight, name, .. }: &RequestRecord| {
            is_name(*name) && are_times([*due, *first_byte, *elapsed, Nanos::ZERO]) && *in_flight <= IN_FLIGHT_MAX
        };
        let is_transaction = |TransactionRecord { name, due, elapsed, idle, sums, .. }: &TransactionRecord| {
            is_name(*name) && are_times([*due, *elapsed, *idle, sums.first_byte]) && sums.connect_us < Nanos::NEVER.0 / 1_000
        };
        self.records.iter().all(is_request)
            && self.transactions.iter().all(|(_, transaction)| is_transaction(transaction))
            && self.transactions.iter().map(|(behind, _)| *behind).is_sorted()
            && self.transactions.last().is_none_or(|(behind, _)| *behind <= self.records.len())
    }

    /// How many requests and transactions it holds.
    #[must_use]
    pub fn count(&self) -> u64 {
        (self.records.len() + self.transactions.len()) as u64
    }
}

/// A log that is asked for. A clone is the same log.
#[derive(Debug, Clone)]
pub struct RequestLog(Arc<Shared>);

/// What its workers have in common.
#[derive(Debug)]
struct Shared {
    /// `None` when no more workers come.
    out: Mutex<Option<SyncSender<RecordBatch>>>,
    made: AtomicU64,
    batches_max: usize,
}

impl RequestLog {
    /// A log, and where its batches come out, until [it is closed](Self::close) and every worker has ended.
    #[must_use]
    pub fn new() -> (Self, Receiver<RecordBatch>) {
        Self::holding(BATCHES_MAX)
    }

    /// The same of which so many batches of 512 records may wait to be written.
    #[must_use]
    pub fn holding(batches_max: usize) -> (Self, Receiver<RecordBatch>) {
        let (out, batches) = sync_channel(batches_max);
        (Self(Arc::new(Shared { out: Mutex::new(Some(out)), made: AtomicU64::new(0), batches_max })), batches)
    }

    /// What one worker copies its records into; `None` when the log is closed.
    #[must_use]
    pub fn buffer(&self, part: Part, began: Nanos, names: Vec<RecordName>) -> Option<RecordBuffer> {
        let out = self.0.out.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let (back, empty) = sync_channel(self.0.batches_max);
        Some(RecordBuffer {
            source: Arc::new(RecordSource { part, began, names, empty: back }),
            room: (Vec::with_capacity(BATCH), Vec::new()),
            last: RequestSums::default(),
            connects_us: Vec::new(),
            check: None,
            name: 0,
            out,
            empty,
            log: self.0.clone(),
        })
    }

    /// Whose records come from another process; `None` without a name.
    #[must_use]
    pub fn source(part: Part, began: Nanos, names: Vec<RecordName>) -> Option<Arc<RecordSource>> {
        // Nobody takes room back there.
        (!names.is_empty()).then(|| Arc::new(RecordSource { part, began, names, empty: sync_channel(0).0 }))
    }

    /// Takes in what a worker of another process has recorded, as if it were one of this; what finds no room, or has no name, is left out.
    pub fn take_in(&self, source: &Arc<RecordSource>, records: Vec<RequestRecord>, transactions: Vec<(usize, TransactionRecord)>) {
        let batch = RecordBatch { source: source.clone(), records, transactions };
        self.missed(batch.count());
        let out = self.0.out.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(out) = out.filter(|_| batch.is_sound()) {
            let _ = out.try_send(batch);
        }
    }

    /// So many records were made elsewhere.
    pub fn missed(&self, count: u64) {
        self.0.made.fetch_add(count, Ordering::Release);
    }

    /// No more workers come: the channel ends with the last of those that there are.
    pub fn close(&self) {
        self.0.out.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// How many records, of requests and transactions, workers have made, of those that were handed on or left out so far.
    #[must_use]
    pub fn made(&self) -> u64 {
        self.0.made.load(Ordering::Acquire)
    }
}

/// What one worker copies its records into.
#[derive(Debug)]
pub struct RecordBuffer {
    source: Arc<RecordSource>,
    room: Room,
    /// The request that ended last.
    last: RequestSums,
    /// By Lane: what opening connections took for the next request on it.
    connects_us: Vec<u32>,
    /// What is known of the next record before it is made.
    check: Option<u16>,
    name: u32,
    out: SyncSender<RecordBatch>,
    empty: Receiver<Room>,
    log: Arc<Shared>,
}

impl RecordBuffer {
    /// What the next request that ends is called.
    #[inline]
    pub(crate) fn call(&mut self, name: u32) {
        self.name = name;
    }

    /// A check of the next request that ends did not hold.
    pub(crate) fn broken(&mut self, check: usize) {
        self.check = self.check.or(u16::try_from(check).ok());
    }

    /// A connection was opened for the next request on this Lane.
    pub(crate) fn connected(&mut self, lane: u32, took: Nanos) {
        let place = lane as usize;
        if self.connects_us.len() <= place {
            self.connects_us.resize(place + 1, 0);
        }
        let took_us = u32::try_from(took.0 / 1_000).unwrap_or(u32::MAX);
        self.connects_us[place] = self.connects_us[place].saturating_add(took_us);
    }

    /// A request ended.
    #[inline]
    pub(crate) fn push(&mut self, outcome: &Outcome, failure: Option<Failure>, lane: u32, in_flight: u64) {
        let record = RequestRecord {
            due: outcome.due,
            first_byte: outcome.first_byte.since(outcome.due),
            elapsed: outcome.response_time(),
            bytes_in: outcome.bytes_in,
            bytes_out: outcome.bytes_out,
            connect_us: self.connects_us.get_mut(lane as usize).map_or(0, mem::take),
            lane,
            in_flight: u32::try_from(in_flight).unwrap_or(u32::MAX),
            name: mem::take(&mut self.name),
            result: outcome.result,
            failure,
            check: self.check.take(),
        };
        self.last = RequestSums {
            requests: 1,
            failed: failure.is_some().into(),
            bytes_in: record.bytes_in,
            bytes_out: record.bytes_out.into(),
            first_byte: record.first_byte,
            connect_us: record.connect_us.into(),
            lane,
        };
        self.room.0.push(record);
        if self.room.0.len() == BATCH {
            self.hand_over();
        }
    }

    /// The request that ended last.
    pub(crate) fn last(&self) -> RequestSums {
        self.last
    }

    /// A transaction ended.
    pub(crate) fn push_transaction(&mut self, record: TransactionRecord) {
        self.room.1.push((self.room.0.len(), record));
        if self.room.1.len() == BATCH {
            self.hand_over();
        }
    }

    /// Hands on what there is; where it finds no room it is left out.
    pub(crate) fn hand_over(&mut self) {
        if self.room.0.is_empty() && self.room.1.is_empty() {
            return;
        }
        let (records, transactions) = mem::take(&mut self.room);
        let batch = RecordBatch { source: self.source.clone(), records, transactions };
        self.log.made.fetch_add(batch.count(), Ordering::Release);
        self.room = match self.out.try_send(batch) {
            Ok(()) => self.empty.try_recv().unwrap_or_else(|_| (Vec::with_capacity(BATCH), Vec::new())),
            Err(TrySendError::Full(mut batch) | TrySendError::Disconnected(mut batch)) => {
                batch.records.clear();
                batch.transactions.clear();
                (batch.records, batch.transactions)
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{JourneyCounts, Recorder, Span, StepCounts, SuccessRule};
    use plan::Share;

    const SPAN: Span = Span { from: Nanos::ZERO, until: Nanos::NEVER };

    /// A recorder with a log that holds so many batches.
    fn logging(batches_max: usize) -> (Recorder, RequestLog, Receiver<RecordBatch>) {
        let (log, batches) = RequestLog::holding(batches_max);
        let check = Arc::from("status is 201");
        let rows = Tally { steps: vec![StepCounts::named("buy".into(), 0, [check])], ..Tally::default() };
        let names = [RecordName::plain("/")].into_iter().chain(RecordName::of_rows(&rows)).collect();
        let buffer = log.buffer(Part::from(Share::WHOLE), Nanos(5), names);
        (Recorder::new(SPAN).with_tally(rows).with_log(buffer), log, batches)
    }

    /// A request that was due then and took a millisecond.
    fn outcome(due: u64) -> Outcome {
        let at = |micros: u64| Nanos::from_micros(due + micros);
        Outcome {
            due: at(0),
            ready: at(0),
            sent: at(10),
            first_byte: at(400),
            done: at(1_000),
            bytes_out: 3,
            bytes_in: 70,
            result: Ok(200),
        }
    }

    fn due(batch: &RecordBatch) -> Vec<u64> {
        batch.records.iter().map(|record| record.due.0 / 1_000).collect()
    }

    #[test]
    fn records_leave_in_their_order_when_a_batch_is_full_and_with_the_interval() {
        let (mut recorder, log, batches) = logging(8);
        (0..600).for_each(|due| recorder.record(&outcome(due)));
        assert_eq!(due(&batches.try_recv().unwrap()), (0..512).collect::<Vec<_>>());
        assert!(batches.try_recv().is_err());
        recorder.swap(crate::Snapshot::empty(1));
        assert_eq!(due(&batches.try_recv().unwrap()), (512..600).collect::<Vec<_>>());
        recorder.swap(crate::Snapshot::empty(2));
        assert!(batches.try_recv().is_err(), "nothing is handed on where nothing was recorded");
        assert_eq!(log.made(), 600);
    }

    #[test]
    fn what_finds_no_room_is_left_out_whole_and_nothing_waits_or_grows() {
        let (mut recorder, log, batches) = logging(2);
        (0..10_000).for_each(|due| recorder.record(&outcome(due)));
        recorder.close_log();
        let written: Vec<RecordBatch> = batches.try_iter().collect();
        assert_eq!(written.iter().map(due).collect::<Vec<_>>(), [(0..512).collect::<Vec<_>>(), (512..1_024).collect()]);
        assert_eq!(log.made(), 10_000);
    }

    #[test]
    fn the_room_of_a_batch_is_used_again() {
        let (log, batches) = RequestLog::holding(2);
        let mut buffer = log.buffer(Part::from(Share::WHOLE), Nanos::ZERO, vec![RecordName::plain("/")]).unwrap();
        let mut fill = || (0..BATCH as u64).for_each(|due| buffer.push(&outcome(due), None, 0, 1));
        // The first goes and comes back, while the worker fills a second; from then on there are these two.
        let mut places = std::collections::BTreeSet::new();
        for _ in 0..50 {
            fill();
            let batch = batches.try_recv().unwrap();
            places.insert(batch.records.as_ptr() as usize);
            batch.give_back();
        }
        assert_eq!(places.len(), 2);
        // The log is full, and the batch that finds no room is the one that is filled next.
        (0..10).for_each(|_| fill());
        let at_rest = buffer.room.0.as_ptr();
        (0..3 * BATCH as u64).for_each(|due| buffer.push(&outcome(due), None, 0, 1));
        assert_eq!((buffer.room.0.as_ptr(), buffer.room.0.capacity()), (at_rest, BATCH));
    }

    #[test]
    fn a_record_says_what_became_of_its_request() {
        let (mut recorder, _, batches) = logging(8);
        recorder.connected(3, Nanos::from_micros(250));
        recorder.sent_on(3);
        recorder.left(Nanos::ZERO);
        recorder.left(Nanos::ZERO);
        recorder.came_back(Nanos::ZERO);
        recorder.checked(&outcome(7), 0, 0, Err(|| "201 was expected".to_owned()));
        recorder.record_step(&outcome(7), 0, SuccessRule::Failed(Failure::CheckFailed));
        recorder.record(&Outcome { result: Ok(503), ..outcome(8) });
        recorder.record(&Outcome { result: Err(Failure::RecvReset), ..outcome(9) });
        recorder.close_log();
        let batch = batches.recv().unwrap();
        assert!(batches.recv().is_err(), "a worker that has closed its log is none any more");
        let first = RequestRecord {
            due: Nanos::from_micros(7),
            first_byte: Nanos::from_micros(400),
            elapsed: Nanos::from_millis(1),
            bytes_in: 70,
            bytes_out: 3,
            connect_us: 250,
            lane: 3,
            in_flight: 2,
            name: 1,
            result: Ok(200),
            failure: Some(Failure::CheckFailed),
            check: Some(0),
        };
        assert_eq!(batch.records[0], first);
        let second = &batch.records[1];
        assert_eq!((second.name, second.connect_us, second.failure, second.check), (0, 0, Some(Failure::CheckStatus), None));
        assert_eq!((batch.records[2].result, batch.records[2].failure), (Err(Failure::RecvReset), Some(Failure::RecvReset)));
        assert_eq!((&*batch.source.names[1].name, &*batch.source.names[1].checks[0]), ("buy", "status is 201"));
    }

    #[test]
    fn a_transaction_stands_behind_its_requests_and_sums_them_up() {
        let (log, batches) = RequestLog::holding(8);
        let rows = Tally { transactions: vec![JourneyCounts::named("a".into()), JourneyCounts::named("b".into())], ..Tally::default() };
        let names = [RecordName::plain("/")].into_iter().chain(RecordName::of_rows(&rows)).collect();
        let buffer = log.buffer(Part::from(Share::WHOLE), Nanos::ZERO, names);
        let mut recorder = Recorder::new(SPAN).with_tally(rows).with_log(buffer);
        let mut sums = RequestSums::default();
        for due in 0..600 {
            recorder.sent_on(2);
            recorder.record(&Outcome { result: if due == 9 { Ok(404) } else { Ok(200) }, ..outcome(due) });
            sums.add(&recorder.logged().unwrap());
        }
        let (due, elapsed, idle) = (Nanos::ZERO, Nanos::SECOND, Nanos::from_millis(3));
        recorder.log_transaction(|| TransactionRecord { name: 1, due, elapsed, idle, succeeded: false, sums });
        recorder.record(&outcome(600));
        recorder.close_log();
        let whole = batches.recv().unwrap();
        assert_eq!((whole.records.len(), whole.transactions.len()), (512, 0));
        let rest = batches.recv().unwrap();
        assert_eq!((rest.records.len(), rest.transactions.len(), log.made()), (89, 1, 602));
        let (behind, transaction) = rest.transactions[0];
        assert_eq!((behind, &*rest.source.names[transaction.name as usize].name), (88, "b"));
        let expected = RequestSums {
            requests: 600,
            failed: 1,
            bytes_in: 600 * 70,
            bytes_out: 600 * 3,
            first_byte: Nanos::from_micros(600 * 400),
            connect_us: 0,
            lane: 2,
        };
        assert_eq!((transaction.sums, transaction.elapsed, transaction.idle), (expected, elapsed, idle));
        assert_eq!(Recorder::new(SPAN).logged(), None, "who writes no log adds nothing up");
    }

    #[test]
    fn what_comes_from_another_process_is_taken_in_or_left_out_and_counted() {
        let (log, batches) = RequestLog::holding(1);
        let source = RequestLog::source(Part::from(Share::WHOLE), Nanos(5), vec![RecordName::plain("/")]).unwrap();
        let record = |name: u32| {
            let (log, batches) = RequestLog::holding(1);
            let mut buffer = log.buffer(Part::from(Share::WHOLE), Nanos::ZERO, vec![RecordName::plain("/")]).unwrap();
            buffer.push(&outcome(1), None, 0, 1);
            buffer.hand_over();
            RequestRecord { name, ..batches.recv().unwrap().records[0] }
        };
        log.take_in(&source, vec![record(1)], Vec::new());
        assert!(batches.try_recv().is_err(), "it has no such name");
        let sums = RequestSums::default();
        let (due, elapsed, idle) = (Nanos::ZERO, Nanos::ZERO, Nanos::ZERO);
        let transaction = TransactionRecord { name: 0, due, elapsed, idle, succeeded: true, sums };
        log.take_in(&source, vec![record(0)], vec![(2, transaction)]);
        assert!(batches.try_recv().is_err(), "it stands behind more than there is");
        log.take_in(&source, vec![record(0)], vec![(1, transaction)]);
        log.take_in(&source, vec![record(0)], Vec::new());
        log.missed(7);
        let batch = batches.try_recv().unwrap();
        assert_eq!((batch.records.len(), batch.transactions.len(), batch.source.began), (1, 1, Nanos(5)));
        batch.give_back();
        assert!(batches.try_recv().is_err(), "there was room for one");
        assert_eq!(log.made(), 1 + 2 + 2 + 1 + 7);
        assert!(RequestLog::source(Part::from(Share::WHOLE), Nanos(5), Vec::new()).is_none());
    }

    #[test]
    fn a_log_that_is_closed_takes_no_more_workers() {
        let (log, batches) = RequestLog::new();
        log.close();
        assert!(log.buffer(Part::from(Share::WHOLE), Nanos::ZERO, Vec::new()).is_none());
        assert!(batches.recv().is_err());
    }
}
