//! A site's own side: loads that a commander asks for, one after the other, over two streams.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{self, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use engine::{Gate, Message, Messages, RunError, Stop, StoredFile, Urgency, from_bytes};
use plan::{Contents, LargeFile, Nanos};

use crate::frames::{Answer, FILES_BYTES_MAX, Greeting, Job, Order, frame, read_frame};
use crate::{BEAT, lease};

/// After so many leases without a word the process ends by itself.
const GOING_LEASES: u32 = 3;

/// Carries out what a commander asks for, until it has nothing more to say or is gone. `begin` starts a job of a plan, whose sources wait at the
/// gate until all sites are ready. `quit` ends the process: what is called where the commander has been silent for so long that the streams
/// alone are what is left of it.
///
/// # Errors
/// If the commander cannot be told anything.
pub fn serve(
    orders: impl Read + Send + 'static,
    answers: impl Write + Send + 'static,
    quit: impl FnOnce() + Send + 'static,
    mut begin: impl FnMut(&str, Contents, Job, Gate, &Stop) -> Result<Messages, RunError>,
) -> io::Result<()> {
    let answers = Answers::to(answers)?;
    let state =
        Arc::new(Mutex::new(State { heard: Instant::now(), lease: lease(true), stop: Stop::new(), is_left_alone: false, is_over: false }));
    let (jobs, starts) = listen(orders, &answers, &state)?;
    let starts = Arc::new(Mutex::new(starts));
    let (watched, alive) = (state.clone(), answers.clone());
    thread::Builder::new().name("lease".to_owned()).spawn(move || keep_lease(&watched, &alive, quit))?;
    while let Ok(((plan, contents), job, stop)) = jobs.recv() {
        let (ready, starts) = (answers.clone(), starts.clone());
        let gate = Gate::new(move || {
            ready.say(&Answer::Ready).ok()?;
            starts.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
        });
        let silence = lease(job.is_here).as_secs();
        match begin(&plan, contents, job, gate, &stop) {
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
                answers.say(&Answer::Done)?;
            }
        }
    }
    Ok(())
}

/// A job that is to begin: its plan with what its files hold, and the signal that ends it.
type Start = ((String, Contents), Job, Stop);

/// Plans as they arrive, and what files hold that they name.
#[derive(Default)]
struct Plans {
    next: (String, Contents),
    files: BTreeMap<u32, Held>,
    /// Files of which more may come.
    arriving: BTreeMap<u32, Arriving>,
    /// How many bytes all of them have.
    bytes: u64,
}

/// What a file holds.
enum Held {
    Small(Arc<[u8]>),
    Large(Arc<dyn LargeFile>, u64),
}

impl Held {
    fn length(&self) -> u64 {
        match self {
            Self::Small(bytes) => bytes.len() as u64,
            Self::Large(_, length) => *length,
        }
    }
}

/// What has come of a file so far.
enum Arriving {
    Small(Vec<u8>),
    Large(StoredFile, u64),
}

impl Arriving {
    fn new(is_large: bool) -> io::Result<Self> {
        if is_large { StoredFile::in_memory().map(|file| Self::Large(file, 0)) } else { Ok(Self::Small(Vec::new())) }
    }

    fn add(&mut self, piece: &[u8]) -> io::Result<()> {
        match self {
            Self::Small(bytes) => bytes.extend_from_slice(piece),
            Self::Large(file, length) => {
                file.append(piece)?;
                *length += piece.len() as u64;
            }
        }
        Ok(())
    }

    fn whole(self) -> Held {
        match self {
            Self::Small(bytes) => Held::Small(bytes.into()),
            Self::Large(file, length) => Held::Large(Arc::new(file), length),
        }
    }
}

impl Plans {
    /// Takes a piece of a file.
    ///
    /// # Errors
    /// In words, if there is no room for it.
    fn add(&mut self, number: u32, is_large: bool, piece: &[u8]) -> Result<(), String> {
        self.bytes += piece.len() as u64;
        if self.bytes > FILES_BYTES_MAX {
            return Err(format!("the files take more than {} GiB there", FILES_BYTES_MAX >> 30));
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
        self.bytes = self.files.values().map(Held::length).sum();
        let mut contents = Contents::default();
        for (path, number) in named {
            match self.files.get(number) {
                Some(Held::Small(bytes)) => contents.insert(path, bytes.clone()),
                Some(Held::Large(file, _)) => contents.insert_large(path, file.clone()),
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
}

impl State {
    /// The signal of the next load.
    fn renewed(&mut self, is_here: bool) -> Stop {
        self.lease = lease(is_here);
        (self.stop, self.is_left_alone) = (Stop::new(), false);
        self.stop.clone()
    }
}

/// Makes a signal at least so urgent.
fn end(stop: &Stop, urgency: Urgency) {
    while stop.urgency() < urgency {
        stop.raise();
    }
}

/// The way to the commander. What is said waits as frames, which are small: counts that wait for a commander that is slow to read, with
/// histograms of minutes, took a hundred megabytes.
#[derive(Clone)]
struct Answers(Sender<Vec<u8>>);

impl Answers {
    /// Greets, and writes to this stream, on a thread of its own.
    fn to(mut stream: impl Write + Send + 'static) -> io::Result<Self> {
        let (frames, waiting) = channel::<Vec<u8>>();
        let greeting = Greeting::of_this_process().to_line().into_bytes();
        thread::Builder::new().name("answers".to_owned()).spawn(move || {
            for said in std::iter::once(greeting).chain(waiting) {
                if stream.write_all(&said).and_then(|()| stream.flush()).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self(frames))
    }

    fn say(&self, answer: &Answer) -> io::Result<()> {
        self.0.send(frame(answer)).map_err(|_| io::ErrorKind::BrokenPipe.into())
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
        end(&state.stop, Urgency::Now);
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
    let to_end = |urgency| end(&state.lock().unwrap_or_else(PoisonError::into_inner).stop, urgency);
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
        Order::Prepare(job) => {
            let stop = state.lock().unwrap_or_else(PoisonError::into_inner).renewed(job.is_here);
            jobs.send((std::mem::take(&mut plans.next), *job, stop)).is_ok()
        }
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
                end(&state.stop, Urgency::Now);
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
