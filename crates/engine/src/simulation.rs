//! The real worker over in-memory streams under a paused clock: exact counts and exact times, in no time.
//!
//! Only two seams are replaced: how connections are opened, and what time it is. A server is a function from a stream
//! to a future; Tokio's paused clock jumps from timer to timer, so an hour of load takes as long as its events.
//!
//! Crates whose behaviours are to be tested in it ask for the feature `simulated`; no binary has it.

#[cfg(test)]
mod behaviour;
#[cfg(test)]
mod expect;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod gaps;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod lines;
#[cfg(test)]
mod load;
#[cfg(test)]
mod log;
#[cfg(test)]
mod packed;
#[cfg(test)]
mod streams;
#[cfg(test)]
pub(crate) mod told;
#[cfg(test)]
mod websockets;

use std::cell::Cell;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

#[cfg(test)]
use measure::Summary;
use measure::{SourceId, Tick};
use plan::{Nanos, Part, Plan, Share, Target};
use tokio::io::{AsyncReadExt, DuplexStream};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::{JoinSet, LocalSet};
use tokio::time::Instant;

use crate::clock::Simulated;
use crate::collect::{Collected, collect};
#[cfg(test)]
use crate::error::BehaviourError;
use crate::message::Message;
use crate::net::{Dial, DialFailed, Dialed, Version};
use crate::protocol::Protocol;
use crate::protocol::http::Http;
use crate::task::Task;
use crate::transport::Path;
use crate::worker::{self, Behaviour, Worker};
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
    version: Version,
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
        Ok(Dialed { stream: ours, version: self.version.clone(), connect: Nanos::from_micros(100), tls: None, resumed: false })
    }

    async fn dial_other(&self, _target: &Target, number: u64) -> Result<Dialed<DuplexStream>, DialFailed> {
        self.dial(number).await
    }
}

/// A load against a simulated server.
#[derive(Clone)]
pub struct Simulation {
    dial: InMemory,
    stop: Stop,
    took: Rc<Cell<Duration>>,
}

impl Simulation {
    /// Against a server that is this function of each connection and its number.
    pub fn of<F, S>(serve: S) -> Self
    where
        S: Fn(DuplexStream, u64) -> F + 'static,
        F: Future<Output = ()> + 'static,
    {
        let serve = Rc::new(move |stream, number| -> Serving { Box::pin(serve(stream, number)) });
        let dial = InMemory {
            serve,
            refuse: Rc::new(|_| None),
            takes: Rc::new(|_| Duration::ZERO),
            dials: Rc::default(),
            version: Version::Http1,
        };
        Self { dial, stop: Stop::new(), took: Rc::default() }
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

    /// Its connections speak HTTP/2.
    #[cfg(test)]
    pub(crate) fn of_http2(mut self) -> Self {
        self.dial.version = Version::Http2;
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

    /// Runs the plan with a behaviour for each worker.
    ///
    /// # Panics
    /// If the run does not end within a simulated day, or a task of it panics.
    pub fn carry_out<B: Behaviour>(&self, plan: &Plan, behaviour: impl Fn(Share) -> B) -> Collected {
        self.carry_out_parts(plan, |part| behaviour(part.share))
    }

    /// The same of a plan with several populations: with a behaviour for each part.
    ///
    /// # Panics
    /// As [`Simulation::carry_out`].
    pub fn carry_out_parts<B: Behaviour>(&self, plan: &Plan, behaviour: impl Fn(Part) -> B) -> Collected {
        self.collect::<Http, B>(plan, |_, part| behaviour(part), &mut |_| ())
    }

    /// Runs the plan to its end.
    #[cfg(test)]
    pub(crate) fn run(&self, plan: &Plan) -> Summary {
        self.watch(plan, &mut |_| ())
    }

    /// Runs the plan to its end and shows every tick.
    #[cfg(test)]
    pub(crate) fn watch(&self, plan: &Plan, watch: &mut dyn FnMut(&Tick)) -> Summary {
        self.with(plan, |task, _| worker::Fixed { task: task.clone() }, watch).0
    }

    /// The same where a behaviour is made of the task, and every tick is shown.
    #[cfg(test)]
    pub(crate) fn with<B: Behaviour>(
        &self,
        plan: &Plan,
        behaviour: impl Fn(&Arc<Task>, Share) -> B,
        watch: &mut dyn FnMut(&Tick),
    ) -> (Summary, Option<BehaviourError>) {
        let Collected { summary, broken, .. } = self.collect::<Http, B>(plan, |task, part| behaviour(task, part.share), watch);
        (summary.close(), broken)
    }

    /// The same where something else is spoken.
    #[cfg(test)]
    pub(crate) fn speaking<P: Protocol, B: Behaviour>(&self, plan: &Plan, behaviour: impl Fn(Share) -> B) -> Summary {
        // A connection has more places than one.
        self.clone().of_http2().collect::<P, B>(plan, |_, part| behaviour(part.share), &mut |_| ()).summary.close()
    }

    fn collect<P: Protocol, B: Behaviour>(
        &self,
        plan: &Plan,
        behaviour: impl Fn(&Arc<Task>, Part) -> B,
        watch: &mut dyn FnMut(&Tick),
    ) -> Collected {
        let body = body::encode(&plan.request().body, plan.contents()).expect("bodies in tests can be read");
        let tasks = Task::of_populations(plan, &body, None).expect("a valid request");
        let workers = self.start::<P, B>(&tasks, behaviour, &plan.parts(), &self.stop);
        collect(plan, workers, &mut |tick, _| watch(tick))
    }

    /// Starts a worker for each part; they go on while their messages are asked for.
    pub(crate) fn start<P: Protocol, B: Behaviour>(
        &self,
        tasks: &[Arc<Task>],
        behaviour: impl Fn(&Arc<Task>, Part) -> B,
        parts: &[Part],
        stop: &Stop,
    ) -> Workers {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
        let local = LocalSet::new();
        let (sender, messages) = unbounded_channel();
        let mut running = JoinSet::new();
        let began = local.block_on(&runtime, async {
            let began = Instant::now();
            let mut ready = Vec::new();
            for part in parts {
                let task = &tasks[part.population as usize];
                let behaviour = behaviour(task, *part);
                let opens_first = behaviour.opens_first();
                let opened = if opens_first { worker::ready::<P, _>(task, *part, &self.dial, stop).await } else { worker::Ready::none() };
                ready.push((*part, task, behaviour, opened));
            }
            let clock = Simulated::starting_now();
            for (part, task, behaviour, ready) in ready {
                let (source, counts, last) = (SourceId(part.of_run.index()), sender.clone(), sender.clone());
                let hand_over = Box::new(move |snapshot| {
                    // Nobody listens any more where a test has seen enough.
                    let _ = counts.send(Message::Counts(source, Box::new(snapshot)));
                });
                let worker = Worker::<Path<InMemory, P, Simulated, B>, B>::new(
                    task.clone(),
                    behaviour,
                    part,
                    self.dial.clone(),
                    clock,
                    stop.clone(),
                    hand_over,
                );
                running.spawn_local(async move {
                    let finished = worker.clone().work(ready).await;
                    let _ = last.send(Message::Finished(source, finished));
                    let left = worker.tear_down().await;
                    let _ = last.send(Message::Left(source, Box::new(left)));
                });
            }
            began
        });
        Workers { local, runtime, running, messages, began, took: self.took.clone() }
    }
}

impl fmt::Debug for Simulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulation").finish_non_exhaustive()
    }
}

/// The workers of a simulated run, and their messages: time passes while the next one is waited for.
pub(crate) struct Workers {
    // What runs is dropped before what it runs on.
    local: LocalSet,
    running: JoinSet<()>,
    runtime: Runtime,
    messages: UnboundedReceiver<Message>,
    began: Instant,
    took: Rc<Cell<Duration>>,
}

impl Iterator for Workers {
    type Item = Message;

    fn next(&mut self) -> Option<Message> {
        let Self { local, running, runtime, messages, began, took } = self;
        local.block_on(runtime, async {
            let message = tokio::time::timeout(HANGS, async {
                loop {
                    tokio::select! {
                        biased;
                        Some(message) = messages.recv() => return Some(message),
                        Some(ended) = running.join_next() => {
                            if let Err(error) = ended {
                                std::panic::resume_unwind(error.into_panic());
                            }
                            if running.is_empty() {
                                took.set(began.elapsed());
                            }
                        }
                        else => return None,
                    }
                }
            });
            message.await.expect("a run that ends")
        })
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
    draft.threads.get_or_insert(plan::Setting::Value(std::num::NonZeroU32::MIN));
    Plan::try_from(draft).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// A setting as typed.
#[cfg(test)]
pub(crate) fn given<T: std::str::FromStr>(text: &str) -> Option<plan::Setting<T>>
where
    T::Err: fmt::Display,
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
