//! A site's own side: loads that a commander asks for, one after the other, over two streams.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufReader, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use engine::{BLOCKS_AHEAD, Gate, Inlet, Inlets, Message, Messages, RunError, Stop, StoredFile, Urgency, from_bytes};
use measure::{RecordBatch, RequestLog};
use plan::{Contents, LargeFile, Nanos};

use crate::frames::{Answer, FILES_BYTES_MAX, Greeting, Job, Order, Rows, frame, read_frame};
use crate::{BEAT, lease};

/// Blocks that have not come whole take no more: the largest request of a recording fits.
const BLOCK_BYTES_MAX: usize = 1 << 30;
/// No process has more sources: each is a thread.
const SOURCES_MAX: usize = 10_000;
/// So many batches of requests may wait to be written at once: that the site is there is said behind no more than these hundred kilobytes.
const ROWS_AHEAD: usize = 4;
/// When the load is over and no request is sent for so long, nobody waits for the rest.
const ROWS_SILENCE_MAX: Duration = Duration::from_secs(5);
/// After so many leases without a word the process ends by itself.
const GOING_LEASES: u32 = 3;

/// Carries out what a commander asks for, until it has nothing more to say or is gone. `begin` starts a job of a plan, whose sources wait at the
/// gate until all sites are ready, and take what no plan says from their inlets. `quit` ends the process: what is called where the commander has been silent for so long that the streams
/// alone are what is left of it.
///
/// # Errors
/// If the commander cannot be told anything.
pub fn serve(
    orders: impl Read + Send + 'static,
    answers: impl Write + Send + 'static,
    quit: impl FnOnce() + Send + 'static,
    mut begin: impl FnMut(&str, Contents, Job, Ways, &Stop) -> Result<Messages, RunError>,
) -> io::Result<()> {
    let answers = Answers::to(answers)?;
    let state = Arc::new(Mutex::new(State::new()));
    let (jobs, starts) = listen(orders, &answers, &state)?;
    let starts = Arc::new(Mutex::new(starts));
    let (watched, alive) = (state.clone(), answers.clone());
    thread::Builder::new().name("lease".to_owned()).spawn(move || keep_lease(&watched, &alive, quit))?;
    while let Ok(((plan, contents), job, inlets, stop)) = jobs.recv() {
        let (ready, starts) = (answers.clone(), starts.clone());
        let gate = Gate::new(move || {
            ready.say(&Answer::Ready).ok()?;
            starts.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
        });
        let silence = lease(job.is_here).as_secs();
        let rows = if job.rows { Some(SentRows::start(RequestLog::new(), &answers)?) } else { None };
        let log = rows.as_ref().map(|rows| rows.log.clone());
        match begin(&plan, contents, job, Ways { gate, inlets, log }, &stop) {
            Err(error) => answers.say(&Answer::Refused(error.into()))?,
            Ok(messages) => {
                for message in messages {
                    // What the lease ended was not ended by the user.
                    let is_left_alone = state.lock().unwrap_or_else(PoisonError::into_inner).is_left_alone;
                    answers.say(&Answer::Told(match message {
                        Message::Finished(source, finished) if finished.interrupted && is_left_alone => {
                            Message::Gone(source, format!("nothing was heard there from here for {silence} s"))
                        }
                        message => message,
                    }))?;
                }
                if let Some(missing) = rows.map(SentRows::finish).filter(|missing| *missing > 0) {
                    answers.say(&Answer::Missing(missing))?;
                }
                answers.say(&Answer::Done)?;
            }
        }
    }
    Ok(())
}

/// What ties the sources of a job to the commander.
pub struct Ways {
    /// Where they wait for the beginning.
    pub gate: Gate,
    /// Where they take what no plan says.
    pub inlets: Inlets,
    /// Where each request is to be put that ends.
    pub log: Option<RequestLog>,
}

/// Requests of a load on their way to the commander. It waits for the stream, and the load does not: what finds no room is left out, and counted.
struct SentRows {
    log: RequestLog,
    /// How many requests and transactions were sent.
    sent: Arc<AtomicU64>,
    /// Ends with the thread that sends them.
    ended: Receiver<()>,
}

impl SentRows {
    fn start((log, batches): (RequestLog, Receiver<RecordBatch>), answers: &Answers) -> io::Result<Self> {
        let ((sent, answers), (end, ended)) = ((Arc::<AtomicU64>::default(), answers.clone()), sync_channel(0));
        let counted = sent.clone();
        thread::Builder::new().name("rows".to_owned()).spawn(move || {
            send_rows(&batches, &answers, &counted);
            drop(end);
        })?;
        Ok(Self { log, sent, ended })
    }

    /// The load is over: waits until what there is has been sent, and no longer than something is; how many are missing.
    fn finish(self) -> u64 {
        self.log.close();
        let sent = || self.sent.load(Ordering::Acquire);
        let mut before = sent();
        // A worker that does not return keeps its log open.
        while self.ended.recv_timeout(ROWS_SILENCE_MAX) == Err(RecvTimeoutError::Timeout) && before != sent() {
            before = sent();
        }
        self.log.made() - sent()
    }
}

/// Sends batches until no worker is left, and counts what they held.
fn send_rows(batches: &Receiver<RecordBatch>, answers: &Answers, sent: &AtomicU64) {
    let (back, rooms) = sync_channel(ROWS_AHEAD);
    (0..ROWS_AHEAD).for_each(|_| drop(Room(back.clone())));
    let mut known = BTreeSet::new();
    for batch in batches {
        let source = batch.source.part.of_run.index();
        let is_new = known.insert(source);
        let named = batch.source.names.iter().filter(|_| is_new);
        let names = named.map(|known| (known.name.to_string(), known.checks.iter().map(ToString::to_string).collect())).collect();
        let rows = Answer::Rows(Box::new(Rows { source, names, records: batch.records.clone(), transactions: batch.transactions.clone() }));
        // Without a stream all room comes back at once.
        let _ = rooms.recv();
        if answers.say_in(Room(back.clone()), &rows).is_ok() {
            sent.fetch_add(batch.count(), Ordering::Release);
        }
        batch.give_back();
    }
}

/// Room for a frame of requests among what waits to be written. It comes back when the frame was written, or never will be.
struct Room(SyncSender<()>);

impl Drop for Room {
    fn drop(&mut self) {
        let _ = self.0.try_send(());
    }
}

/// A job that is to begin: its plan with what its files hold, where its sources take blocks from, and the signal that ends it.
type Start = ((String, Contents), Job, Inlets, Stop);

/// Plans as they arrive, and what files hold that they name.
#[derive(Default)]
struct Plans {
    next: (String, Contents),
    files: BTreeMap<u32, Held>,
    /// Files of which more may come.
    arriving: BTreeMap<u32, Arriving>,
    /// How many bytes of those have come.
    bytes: u64,
}

/// What a file holds.
enum Held {
    Small(Arc<[u8]>),
    Large(Arc<dyn LargeFile>),
}

/// What has come of a file so far.
enum Arriving {
    Small(Vec<u8>),
    Large(StoredFile),
}

impl Arriving {
    fn new(is_large: bool) -> io::Result<Self> {
        if is_large { StoredFile::in_memory().map(Self::Large) } else { Ok(Self::Small(Vec::new())) }
    }

    fn add(&mut self, piece: &[u8]) -> io::Result<()> {
        match self {
            Self::Small(bytes) => bytes.extend_from_slice(piece),
            Self::Large(file) => file.append(piece)?,
        }
        Ok(())
    }

    fn whole(self) -> Held {
        match self {
            Self::Small(bytes) => Held::Small(bytes.into()),
            Self::Large(file) => Held::Large(Arc::new(file)),
        }
    }
}

impl Plans {
    /// Takes a piece of a file.
    ///
    /// # Errors
    /// In words, if there is no room for it.
    fn add(&mut self, number: u32, is_large: bool, piece: &[u8]) -> Result<(), String> {
        // Without bytes files would take room that nobody counts.
        if piece.is_empty() {
            return Err("a piece of a file is empty".to_owned());
        }
        self.bytes += piece.len() as u64;
        if self.bytes > FILES_BYTES_MAX {
            return Err(format!("the files of a load take more than {} GiB there", FILES_BYTES_MAX >> 30));
        }
        let file = match self.arriving.entry(number) {
            Entry::Occupied(file) => Ok(file.into_mut()),
            Entry::Vacant(place) => Arriving::new(is_large).map(|file| place.insert(file)),
        };
        file.and_then(|file| file.add(piece)).map_err(|why| format!("there is no memory for the files there: {}", plan::plainly(&why)))
    }

    /// Takes a plan, and the numbers of its files by their paths.
    fn set(&mut self, text: String, named: &BTreeMap<String, u32>) {
        self.files.extend(std::mem::take(&mut self.arriving).into_iter().map(|(number, file)| (number, file.whole())));
        self.files.retain(|number, _| named.values().any(|named| named == number));
        self.bytes = 0;
        let mut contents = Contents::default();
        for (path, number) in named {
            match self.files.get(number) {
                Some(Held::Small(bytes)) => contents.insert(path, bytes.clone()),
                Some(Held::Large(file)) => contents.insert_large(path, file.clone()),
                // An empty file has no pieces.
                None => contents.insert(path, *b""),
            }
        }
        self.next = (text, contents);
    }
}

/// What the threads of a site know.
struct State {
    /// When the commander last said something.
    heard: Instant,
    /// How long it may be silent.
    lease: Duration,
    /// That of the load under way.
    stop: Stop,
    /// Whether the commander was silent for too long during that load.
    is_left_alone: bool,
    /// Whether the commander is gone.
    is_over: bool,
    /// Where blocks go, by source: none where the load ends.
    lines: BTreeMap<u32, Line>,
}

/// The way of blocks to a source.
struct Line {
    blocks: SyncSender<Vec<u8>>,
    /// The beginning of the next.
    arriving: Vec<u8>,
}

impl State {
    fn new() -> Self {
        let (stop, lines) = (Stop::new(), BTreeMap::new());
        Self { heard: Instant::now(), lease: lease(true), stop, is_left_alone: false, is_over: false, lines }
    }

    /// The inlets and the signal of the next load.
    fn renewed(&mut self, job: &Job, answers: &Answers) -> (Inlets, Stop) {
        self.lease = lease(job.is_here);
        (self.stop, self.is_left_alone) = (Stop::new(), false);
        self.lines.clear();
        let inlet = |source: &u32| {
            let (blocks, taken_from) = sync_channel(BLOCKS_AHEAD);
            self.lines.insert(*source, Line { blocks, arriving: Vec::new() });
            let (answers, source) = (answers.clone(), *source);
            // Where nobody hears it, nobody sends more.
            (source, Inlet::new(taken_from, move || _ = answers.say(&Answer::Taken(source))).from_afar())
        };
        (job.sources.iter().map(inlet).collect(), self.stop.clone())
    }

    /// Takes a piece of a block; `false`: it is more than anybody may send.
    fn add(&mut self, source: u32, piece: &[u8], is_last: bool) -> bool {
        let arriving: usize = self.lines.values().map(|line| line.arriving.len()).sum();
        // What comes after the end of a load is nobody's.
        let Some(line) = self.lines.get_mut(&source) else { return true };
        line.arriving.extend_from_slice(piece);
        if !is_last {
            return arriving + piece.len() <= BLOCK_BYTES_MAX;
        }
        !matches!(line.blocks.try_send(std::mem::take(&mut line.arriving)), Err(TrySendError::Full(_)))
    }

    /// Makes the signal at least so urgent. Nobody waits for blocks any more.
    fn end(&mut self, urgency: Urgency) {
        while self.stop.urgency() < urgency {
            self.stop.raise();
        }
        // Whoever waits for a block finds the signal raised.
        if urgency > Urgency::None {
            self.lines.clear();
        }
    }
}

/// The way to the commander. What is said waits as frames, which are small: counts that wait for a commander that is slow to read, with
/// histograms of minutes, took a hundred megabytes.
#[derive(Clone)]
struct Answers(Sender<(Vec<u8>, Option<Room>)>);

impl Answers {
    /// Greets, and writes to this stream, on a thread of its own.
    fn to(mut stream: impl Write + Send + 'static) -> io::Result<Self> {
        let (frames, waiting) = channel();
        let greeting = Greeting::of_this_process().to_line().into_bytes();
        thread::Builder::new().name("answers".to_owned()).spawn(move || {
            for (said, _room) in std::iter::once((greeting, None)).chain(waiting) {
                if stream.write_all(&said).and_then(|()| stream.flush()).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self(frames))
    }

    fn say(&self, answer: &Answer) -> io::Result<()> {
        self.0.send((frame(answer), None)).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn say_in(&self, room: Room, answer: &Answer) -> io::Result<()> {
        self.0.send((frame(answer), Some(room))).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

/// Takes orders on a thread of its own: what is to be known at once is answered or done there. Jobs and moments of start come out.
fn listen(
    orders: impl Read + Send + 'static,
    answers: &Answers,
    state: &Arc<Mutex<State>>,
) -> io::Result<(Receiver<Start>, Receiver<Nanos>)> {
    let (jobs, jobs_out) = channel();
    let (starts, starts_out) = channel();
    let (answers, state) = (answers.clone(), state.clone());
    thread::Builder::new().name("orders".to_owned()).spawn(move || {
        let mut plans = Plans::default();
        let mut orders = BufReader::new(orders);
        while let Ok(Some(order)) = read_frame(&mut orders) {
            let Ok(order) = from_bytes::<Order>(&order) else { break };
            state.lock().unwrap_or_else(PoisonError::into_inner).heard = Instant::now();
            if !take(order, &mut plans, &answers, &state, (&jobs, &starts)) {
                break;
            }
        }
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_over = true;
        state.end(Urgency::Now);
    })?;
    Ok((jobs_out, starts_out))
}

/// Whether more orders can be taken.
fn take(
    order: Order,
    plans: &mut Plans,
    answers: &Answers,
    state: &Mutex<State>,
    (jobs, starts): (&Sender<Start>, &Sender<Nanos>),
) -> bool {
    let to_end = |urgency| state.lock().unwrap_or_else(PoisonError::into_inner).end(urgency);
    match order {
        Order::File { number, is_large, piece } => plans
            .add(number, is_large, &piece)
            .map_err(|why| answers.say(&Answer::Refused(RunError::input(why, "give fewer rows").into())))
            .is_ok(),
        Order::Plan(text, named) => {
            plans.set(text, &named);
            true
        }
        // The signal is this load's from here on: what ends it may be the very next order.
        Order::Prepare(job) if job.sources.len() > SOURCES_MAX => false,
        Order::Prepare(job) => {
            let (inlets, stop) = state.lock().unwrap_or_else(PoisonError::into_inner).renewed(&job, answers);
            jobs.send((std::mem::take(&mut plans.next), *job, inlets, stop)).is_ok()
        }
        Order::Block { source, piece, is_last } => state.lock().unwrap_or_else(PoisonError::into_inner).add(source, &piece, is_last),
        Order::Start { at } => starts.send(at).is_ok(),
        Order::Clock(number) => answers.say(&Answer::Clock { number, now: engine::monotonic_now() }).is_ok(),
        Order::Drain => {
            to_end(Urgency::Drain);
            true
        }
        Order::Quit => {
            to_end(Urgency::Now);
            true
        }
        Order::Stay => true,
    }
}

/// Says once a second that the site is there, and ends a load whose commander has been silent for too long: it may be gone without the
/// connection's end having come. When that does not come either, the process ends.
fn keep_lease(state: &Mutex<State>, answers: &Answers, quit: impl FnOnce()) {
    loop {
        {
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            if state.is_over {
                return;
            }
            let silent = state.heard.elapsed();
            if silent > state.lease {
                state.is_left_alone |= state.stop.urgency() == Urgency::None;
                state.end(Urgency::Now);
            }
            if silent > state.lease * GOING_LEASES {
                break;
            }
        }
        if answers.say(&Answer::Here).is_err() {
            return;
        }
        thread::sleep(BEAT);
    }
    quit();
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::SoFar;

    fn job(sources: &[u32]) -> Job {
        Job { sources: sources.to_vec(), so_far: SoFar::default(), is_here: true, processes: None, allowed: Vec::new(), rows: false }
    }

    #[test]
    fn blocks_come_in_pieces_to_their_source_and_each_that_is_taken_is_told() {
        let (frames, told) = channel();
        let mut state = State::new();
        let (inlets, _) = state.renewed(&job(&[3, 5]), &Answers(frames));
        let (third, fifth) = (inlets.of(3), inlets.of(5));
        assert!(state.add(3, b"one ", false) && state.add(5, b"other", true) && third.look().is_err());
        assert!(state.add(3, b"block", true) && state.add(9, b"nobody's", true));
        assert_eq!((third.wait(), fifth.wait()), (Some(b"one block".to_vec()), Some(b"other".to_vec())));
        let answers: Vec<Answer> = told.try_iter().map(|(frame, _)| from_bytes(&frame[4..]).unwrap()).collect();
        assert_eq!(answers, [Answer::Taken(3), Answer::Taken(5)]);
    }

    #[test]
    fn rows_wait_for_the_stream_and_what_finds_no_room_is_counted() {
        let (frames, told) = channel();
        let rows = SentRows::start(RequestLog::holding(8), &Answers(frames)).unwrap();
        let part = plan::Part::from(plan::Share::WHOLE);
        let span = measure::Span { from: Nanos::ZERO, until: Nanos::NEVER };
        let buffer = rows.log.buffer(part, Nanos::ZERO, vec![measure::RecordName::plain("/")]);
        let mut recorder = measure::Recorder::new(span).with_log(buffer);
        let at = Nanos::ZERO;
        let outcome =
            measure::Outcome { due: at, ready: at, sent: at, first_byte: at, done: at, bytes_out: 1, bytes_in: 1, result: Ok(200) };
        // More than may wait in the log, while nobody writes.
        let made = 512 * (8 + ROWS_AHEAD as u64 + 1 + 10);
        (0..made).for_each(|_| recorder.record(&outcome));
        recorder.close_log();
        let reader = thread::spawn(move || told.iter().map(|(frame, _)| from_bytes::<Answer>(&frame[4..]).unwrap()).collect::<Vec<_>>());
        let missing = rows.finish();
        let answers = reader.join().unwrap();
        let of = |answer: &Answer| if let Answer::Rows(rows) = answer { (rows.records.len() as u64, rows.names.len()) } else { (0, 0) };
        let came: u64 = answers.iter().map(|answer| of(answer).0).sum();
        assert!(came >= 512 * 8 && missing > 0 && came + missing == made, "{came} and {missing}");
        assert_eq!(answers.iter().map(|answer| of(answer).1).collect::<Vec<_>>()[..3], [1, 0, 0], "names come once");
    }

    #[test]
    fn more_blocks_than_may_be_on_their_way_are_refused_and_an_end_leaves_those_that_came() {
        let mut state = State::new();
        let (inlets, stop) = state.renewed(&job(&[0]), &Answers(channel().0));
        let inlet = inlets.of(0);
        for number in 0..BLOCKS_AHEAD {
            assert!(state.add(0, &[number as u8], true));
        }
        assert!(!state.add(0, b"more", true), "the commander counts wrong, or is none");
        state.end(Urgency::Drain);
        assert!(stop.urgency() == Urgency::Drain && state.add(0, b"late", true));
        let all: Vec<Vec<u8>> = std::iter::from_fn(|| inlet.wait()).collect();
        assert!(all.into_iter().eq((0..BLOCKS_AHEAD).map(|number| vec![number as u8])));
    }
}
