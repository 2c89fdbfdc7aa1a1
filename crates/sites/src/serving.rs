//! A site's own side: loads that a commander asks for, one after the other, over two streams of lines.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use engine::{Gate, Messages, RunError, Stop, Urgency};
use plan::Nanos;

use crate::LEASE;
use crate::lines::{Answer, Greeting, Job, Order, line};

/// Carries out what a commander asks for, until it has nothing more to say or is gone. `begin` starts a job's sources, which wait at the
/// gate until all sites are ready.
///
/// # Errors
/// If the commander cannot be told anything.
pub fn serve(
    orders: impl Read + Send + 'static,
    answers: impl Write + Send + 'static,
    mut begin: impl FnMut(Job, Gate, &Stop) -> Result<Messages, RunError>,
) -> io::Result<()> {
    let answers = Answers(Arc::new(Mutex::new(answers)));
    answers.say(&Answer::Hello(Greeting::of_this_process()))?;
    let state = Arc::new(Mutex::new(State { heard: Instant::now(), stop: Stop::new(), is_over: false }));
    let (jobs, starts) = listen(orders, &answers, &state)?;
    let starts = Arc::new(Mutex::new(starts));
    let watched = state.clone();
    thread::Builder::new().name("lease".to_owned()).spawn(move || keep_lease(&watched))?;
    while let Ok((job, stop)) = jobs.recv() {
        let (ready, starts) = (answers.clone(), starts.clone());
        let gate = Gate::new(move || {
            ready.say(&Answer::Ready).ok()?;
            starts.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
        });
        match begin(job, gate, &stop) {
            Err(error) => answers.say(&Answer::Refused(error.into()))?,
            Ok(messages) => {
                for message in messages {
                    answers.say(&Answer::Told(message))?;
                }
                answers.say(&Answer::Done)?;
            }
        }
    }
    Ok(())
}

/// What the threads of a site know.
struct State {
    /// When the commander last said something.
    heard: Instant,
    /// That of the load under way.
    stop: Stop,
    /// Whether the commander is gone.
    is_over: bool,
}

impl State {
    /// The signal of the next load.
    fn renewed(&mut self) -> Stop {
        self.stop = Stop::new();
        self.stop.clone()
    }
}

/// Makes a signal at least so urgent.
fn end(stop: &Stop, urgency: Urgency) {
    while stop.urgency() < urgency {
        stop.raise();
    }
}

/// The stream to the commander.
struct Answers<W>(Arc<Mutex<W>>);

impl<W> Clone for Answers<W> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<W: Write> Answers<W> {
    fn say(&self, answer: &Answer) -> io::Result<()> {
        let mut stream = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stream.write_all(line(answer).as_bytes())?;
        stream.flush()
    }
}

/// Takes orders on a thread of its own: what is to be known at once is answered or done there. Jobs and moments of start come out.
fn listen(
    orders: impl Read + Send + 'static,
    answers: &Answers<impl Write + Send + 'static>,
    state: &Arc<Mutex<State>>,
) -> io::Result<(Receiver<(Job, Stop)>, Receiver<Nanos>)> {
    let (jobs, jobs_out) = channel();
    let (starts, starts_out) = channel();
    let (answers, state) = (answers.clone(), state.clone());
    thread::Builder::new().name("orders".to_owned()).spawn(move || {
        for order in BufReader::new(orders).lines() {
            let Some(order) = order.ok().and_then(|line| serde_json::from_str::<Order>(&line).ok()) else { break };
            state.lock().unwrap_or_else(PoisonError::into_inner).heard = Instant::now();
            if !take(order, &answers, &state, (&jobs, &starts)) {
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
    answers: &Answers<impl Write>,
    state: &Mutex<State>,
    (jobs, starts): (&Sender<(Job, Stop)>, &Sender<Nanos>),
) -> bool {
    let to_end = |urgency| end(&state.lock().unwrap_or_else(PoisonError::into_inner).stop, urgency);
    match order {
        // The signal is this load's from here on: what ends it may be the very next order.
        Order::Prepare(job) => jobs.send((*job, state.lock().unwrap_or_else(PoisonError::into_inner).renewed())).is_ok(),
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
        Order::Stay => answers.say(&Answer::Here).is_ok(),
    }
}

/// Ends a load whose commander has been silent for too long: it may be gone without the connection's end having come.
fn keep_lease(state: &Mutex<State>) {
    loop {
        let left = {
            let state = state.lock().unwrap_or_else(PoisonError::into_inner);
            if state.is_over {
                return;
            }
            let left = LEASE.saturating_sub(state.heard.elapsed());
            if left.is_zero() {
                end(&state.stop, Urgency::Now);
            }
            left
        };
        thread::sleep(left.clamp(Duration::from_millis(100), Duration::from_secs(1)));
    }
}
