//! The real worker over in-memory streams under a paused clock: exact counts and exact times, in no time.
//!
//! Only two seams are replaced: how connections are opened, and what time it is. A server is a function from a stream
//! to a future; Tokio's paused clock jumps from timer to timer, so an hour of load takes as long as its events.
//!
//! Crates whose programs are to be tested in it ask for the feature `simulated`; no binary has it.

#[cfg(test)]
mod faults;
#[cfg(test)]
mod gaps;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod load;
#[cfg(test)]
mod program;

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use measure::{SourceId, Summary, Tick};
use plan::{Nanos, Plan, Share, Target};
use tokio::io::{AsyncReadExt, DuplexStream};
use tokio::task::{JoinSet, LocalSet};

use crate::clock::Simulated;
use crate::collect::{Message, collect};
use crate::net::{Dial, DialFailed, Dialed};
use crate::program::{Broken, Program};
use crate::task::Task;
use crate::worker::{self, Worker};
use crate::{Stop, body};

/// No simulated run takes so long, unless it never ends.
const HANGS: Duration = Duration::from_secs(24 * 60 * 60);

type Serving = Pin<Box<dyn Future<Output = ()>>>;

/// Opens in-memory connections to a function.
#[derive(Clone)]
pub(crate) struct InMemory {
    serve: Rc<dyn Fn(DuplexStream, u64) -> Serving>,
    refuse: Rc<dyn Fn(u64) -> Option<DialFailed>>,
    takes: Rc<dyn Fn(u64) -> Duration>,
    dials: Rc<Cell<u64>>,
}

impl Dial for InMemory {
    type Stream = DuplexStream;

    async fn dial(&self, number: u64) -> Result<Dialed<DuplexStream>, DialFailed> {
        let dial = self.dials.get() + 1;
        self.dials.set(dial);
        let takes = (self.takes)(dial);
        if !takes.is_zero() {
            tokio::time::sleep(takes).await;
        }
        if let Some(failed) = (self.refuse)(dial) {
            return Err(failed);
        }
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        tokio::task::spawn_local((self.serve)(theirs, number));
        Ok(Dialed { stream: ours, connect: Nanos::from_micros(100), tls: None })
    }

    async fn dial_other(&self, _target: &Target, number: u64) -> Result<Dialed<DuplexStream>, DialFailed> {
        self.dial(number).await
    }
}

/// A load against a simulated server.
pub struct Simulation {
    dial: InMemory,
    stop: Stop,
    took: Cell<Duration>,
}

impl Simulation {
    /// Against a server that is this function of each connection and its number.
    pub fn of<F, S>(serve: S) -> Self
    where
        S: Fn(DuplexStream, u64) -> F + 'static,
        F: Future<Output = ()> + 'static,
    {
        let serve = Rc::new(move |stream, number| -> Serving { Box::pin(serve(stream, number)) });
        let dial = InMemory { serve, refuse: Rc::new(|_| None), takes: Rc::new(|_| Duration::ZERO), dials: Rc::default() };
        Self { dial, stop: Stop::new(), took: Cell::default() }
    }

    /// Some of the connections cannot be opened: the k-th dial (from 1) fails as told.
    #[cfg(test)]
    pub(crate) fn refusing(mut self, refuse: impl Fn(u64) -> Option<DialFailed> + 'static) -> Self {
        self.dial.refuse = Rc::new(refuse);
        self
    }

    /// The k-th dial (from 1) takes so long, whether it fails or not.
    #[cfg(test)]
    pub(crate) fn dialling(mut self, takes: impl Fn(u64) -> Duration + 'static) -> Self {
        self.dial.takes = Rc::new(takes);
        self
    }

    /// How often a connection was asked for so far.
    #[cfg(test)]
    pub(crate) fn dials(&self) -> u64 {
        self.dial.dials.get()
    }

    /// How long the last run took in all, opening its first connections included.
    pub fn took(&self) -> Duration {
        self.took.get()
    }

    /// Ended by this signal.
    #[must_use]
    pub fn stopped_by(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// Runs the plan with a program for each worker, and tells why it broke off if it did.
    ///
    /// # Panics
    /// If the run does not end within a simulated day, or a task of it panics.
    pub fn carry_out<P: Program>(&self, plan: &Plan, program: impl Fn(Share) -> P) -> (Summary, Option<Broken>) {
        self.with(plan, |_, share| program(share), &mut |_| ())
    }

    /// Runs the plan to its end.
    #[cfg(test)]
    pub(crate) fn run(&self, plan: &Plan) -> Summary {
        self.watch(plan, &mut |_| ())
    }

    /// Runs the plan to its end and shows every tick.
    #[cfg(test)]
    pub(crate) fn watch(&self, plan: &Plan, watch: &mut dyn FnMut(&Tick)) -> Summary {
        self.with(plan, |task, _| crate::program::Fixed { task: task.clone() }, watch).0
    }

    /// The same where a program is made of the task, and every tick is shown.
    pub(crate) fn with<P: Program>(
        &self,
        plan: &Plan,
        program: impl Fn(&Arc<Task>, Share) -> P,
        watch: &mut dyn FnMut(&Tick),
    ) -> (Summary, Option<Broken>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
        let (sender, messages) = channel();
        let threads = plan.threads();
        LocalSet::new().block_on(&runtime, async {
            let begun = tokio::time::Instant::now();
            let task = Task::new(plan, &body::read(&plan.request().body).expect("bodies in tests can be read")).expect("a valid request");
            let mut ready = Vec::new();
            for share in Share::all(threads) {
                ready.push((share, worker::ready(&task, share, &self.dial, &self.stop).await));
            }
            let clock = Simulated::starting_now();
            let mut workers = JoinSet::new();
            for (share, ready) in ready {
                let (counts, last) = (sender.clone(), sender.clone());
                let hand_over = Box::new(move |snapshot| {
                    counts.send(Message::Counts(SourceId(share.index()), Box::new(snapshot))).expect("a listener");
                });
                let worker =
                    Worker::new(task.clone(), program(&task, share), share, self.dial.clone(), clock, self.stop.clone(), hand_over);
                workers.spawn_local(async move {
                    let finished = worker.clone().work(ready).await;
                    last.send(Message::Finished(SourceId(share.index()), finished)).expect("a listener");
                    worker.part().await;
                });
            }
            while let Some(worker) = tokio::time::timeout(HANGS, workers.join_next()).await.expect("a run that ends") {
                if let Err(error) = worker {
                    std::panic::resume_unwind(error.into_panic());
                }
            }
            self.took.set(begun.elapsed());
        });
        drop(sender);
        collect(plan, threads.get(), messages, &mut |tick, _| watch(tick))
    }
}

/// A plan for the simulation: `connections`, `duration`, `rate`, … as they would be typed.
#[cfg(test)]
pub(crate) fn plan(settings: impl FnOnce(&mut plan::Draft)) -> Plan {
    let url = Some("http://simulated.test/".to_owned());
    let mut draft = plan::Draft { url, arrivals: given("even"), ..plan::Draft::default() };
    settings(&mut draft);
    if draft.rate.is_none() {
        draft.arrivals = None;
    }
    draft.threads.get_or_insert(plan::Given::Value(std::num::NonZeroU32::MIN));
    Plan::try_from(draft).unwrap_or_else(|errors| panic!("{errors}"))
}

/// A setting as typed.
#[cfg(test)]
pub(crate) fn given<T: std::str::FromStr>(text: &str) -> Option<plan::Given<T>>
where
    T::Err: std::fmt::Display,
{
    text.parse().ok()
}

/// Reads the head of a request; `None` when the client is gone.
///
/// # Panics
/// If it is no text.
pub async fn read_request(stream: &mut DuplexStream) -> Option<String> {
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).await.ok()? == 0 {
            return None;
        }
        request.push(byte[0]);
    }
    Some(String::from_utf8(request).expect("requests in tests are text"))
}

/// Answers with a status and a body.
#[cfg(test)]
pub(crate) async fn answer(stream: &mut DuplexStream, status: u16, body: &str) {
    let reply = format!("HTTP/1.1 {status} Word\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    // A client that has hung up does not want the answer.
    let _ = tokio::io::AsyncWriteExt::write_all(stream, reply.as_bytes()).await;
}
