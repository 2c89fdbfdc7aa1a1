//! Sources of load on threads of this process: one a share, each with its worker.
//!
//! All workers wait for each other at a start line, after their connections are open, and share one clock from there.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use measure::{Site, SourceId};
use plan::{Nanos, Part};
use tokio::task::LocalSet;

use crate::clock::{Monotonic, monotonic_now};
use crate::error::BehaviourError;
use crate::message::Message;
use crate::neighbours::Sought;
use crate::net::Network;
use crate::protocol::http::Http;
use crate::task::Task;
use crate::transport::Path;
use crate::worker::{self, Behaviour, Worker};
use crate::{Gate, RunError, SiteRole, Stop, Urgency, machine};

/// How long workers are waited for.
pub(crate) enum Patience {
    /// They end by themselves.
    Endless,
    /// Their behaviours may not return: a worker that has nothing to say for [`SILENCE_MAX`] after the end of the load is left behind.
    AfterTheEnd(Stop),
}

/// Workers hand over their counts every second; one that misses three of them is not late but stuck.
const SILENCE_MAX: Duration = Duration::from_secs(3);

/// How often the silent are looked for.
const LOOK: Duration = Duration::from_millis(100);

/// The threads that were started, and their messages until all have ended or are given up.
pub(crate) struct Threads {
    messages: Receiver<Message>,
    patience: Patience,
    line: Arc<StartLine>,
    /// When the load ends at the latest; `None` for a counted run.
    end: Option<Duration>,
    /// When somebody stopped it.
    stopped: Option<Instant>,
    sources: VecDeque<Source>,
    /// How waiting for messages ended; `None` while they are waited for.
    over: Option<Over>,
    /// What is to be told of this process at the end; `None` once it was told.
    site: Option<SiteWatch>,
}

/// Why no more messages are waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Over {
    /// All threads have ended.
    AllEnded,
    /// Those that have not finished do not answer.
    GaveUp,
}

/// One of the threads.
struct Source {
    id: SourceId,
    thread: JoinHandle<()>,
    /// When it last told something; `None` once it has finished.
    last: Option<Instant>,
}

impl Threads {
    /// Starts a thread for each part; `tasks` are those of the populations.
    ///
    /// # Errors
    /// If the system gives no more threads.
    pub(crate) fn start<B: Behaviour>(
        tasks: &[Arc<Task>],
        network: Network,
        behaviour: impl Fn(Part) -> B + Send + Sync + 'static,
        parts: &[Part],
        (patience, role): (Patience, Option<&SiteRole>),
        stop: &Stop,
    ) -> Result<Self, RunError> {
        let neighbours = match role {
            None => Some(vec![std::process::id()]),
            Some(role) => role.processes.clone(),
        };
        let unix_socket = tasks[0].plan.connection().unix_socket.as_deref();
        let neighbours = neighbours.map(|ours| Sought::begin(network.addresses(), unix_socket, ours));
        let started = jiff::Timestamp::now();
        let zero = Nanos(u64::try_from(started.as_nanosecond()).unwrap_or_default()).since(monotonic_now());
        let line = Arc::new(StartLine::new(parts.len() as u32, role.map(|role| role.gate.clone()), zero));
        let behaviour = Arc::new(behaviour);
        let (sender, messages) = channel();
        let began = Instant::now();
        let mut sources = VecDeque::new();
        for part in parts.iter().copied() {
            let task = &tasks[part.population as usize];
            let (task, network, line, stop, sender) = (task.clone(), network.of_worker(), line.clone(), stop.clone(), sender.clone());
            let (behaviour, start_line) = (behaviour.clone(), line.clone());
            let thread = thread::Builder::new()
                .name(format!("load-{}", part.of_run.index()))
                .spawn(move || thread_main(&task, &*behaviour, part, network, &line, &stop, &sender))
                .map_err(|why| {
                    // Those that there are wait at the start line for those that never come.
                    start_line.call_off();
                    RunError::no_thread(parts.len() as u32, &why)
                })?;
            sources.push_back(Source { id: SourceId(part.of_run.index()), thread, last: Some(began) });
        }
        let end = (tasks[0].end < Nanos::NEVER).then(|| Duration::from(tasks[0].end));
        let site = Some(SiteWatch::begin(neighbours, network, started));
        Ok(Self { messages, patience, line, end, stopped: None, sources, over: None, site })
    }

    /// The next message of a worker, or why none comes any more.
    fn receive(&mut self) -> Result<Message, Over> {
        let Patience::AfterTheEnd(stop) = &self.patience else { return self.messages.recv().map_err(|_| Over::AllEnded) };
        loop {
            match self.messages.recv_timeout(LOOK) {
                Ok(message) => {
                    let (source, last) = match &message {
                        Message::Counts(source, _) => (*source, Some(Instant::now())),
                        Message::Finished(source, _) => (*source, None),
                        _ => return Ok(message),
                    };
                    self.sources.iter_mut().filter(|known| known.id == source).for_each(|known| known.last = last);
                    return Ok(message);
                }
                Err(RecvTimeoutError::Disconnected) => return Err(Over::AllEnded),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let now = Instant::now();
            if stop.urgency() > Urgency::None {
                self.stopped.get_or_insert(now);
            }
            // Whoever still waits for others at the start has nothing to say.
            let Some(began) = self.line.crossed() else { continue };
            let planned = self.end.and_then(|end| began.checked_add(end)).filter(|end| *end <= now);
            if let Some(ended) = self.stopped.or(planned)
                && self.has_nobody_left(ended, now)
            {
                return Err(Over::GaveUp);
            }
        }
    }

    /// Whether the load is over and everybody who has not finished has been silent for too long since.
    fn has_nobody_left(&self, ended: Instant, now: Instant) -> bool {
        self.sources.iter().filter_map(|source| source.last).all(|last| now.duration_since(last.max(ended)) >= SILENCE_MAX)
    }

    /// What there is to tell when no worker does: who was given up, one after the other, and then how it went with this process.
    fn last_word(&mut self, over: Over) -> Option<Message> {
        while let Some(source) = self.sources.pop_front() {
            if over == Over::GaveUp && source.last.is_some() {
                // A thread whose behaviour never returns cannot be ended; it goes with the process.
                let (index, limit) = (source.id.0, SILENCE_MAX.as_secs_f64());
                let message = format!("the program of thread {index} did not return within {limit} s of the end of the load");
                return Some(Message::Lost(source.id, BehaviourError::new(message, "look for an endless loop in it")));
            }
            if let Err(panic) = source.thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
        self.site.take().map(|site| Message::Site(Box::new(site.end())))
    }
}

impl Iterator for Threads {
    type Item = Message;

    fn next(&mut self) -> Option<Message> {
        let over = match self.over {
            Some(over) => over,
            None => match self.receive() {
                Ok(message) => return Some(message),
                Err(over) => *self.over.insert(over),
            },
        };
        self.last_word(over)
    }
}

/// What became of this process and its machine during the load.
struct SiteWatch {
    neighbours: Option<Sought>,
    network: Network,
    started: jiff::Timestamp,
    processors: Option<machine::ProcessorTime>,
    quota: Option<machine::QuotaPeriods>,
}

impl SiteWatch {
    fn begin(neighbours: Option<Sought>, network: Network, started: jiff::Timestamp) -> Self {
        Self { neighbours, network, started, processors: machine::ProcessorTime::now(), quota: machine::QuotaPeriods::now() }
    }

    fn end(self) -> Site {
        let stolen = machine::ProcessorTime::now().zip(self.processors).and_then(|(after, before)| after.stolen_since(before));
        let throttled = machine::QuotaPeriods::now().zip(self.quota).and_then(|(after, before)| after.stopped_since(before));
        let seen = self.neighbours.and_then(Sought::since);
        Site {
            processes: 1,
            started: format!("{:.3}", self.started),
            machine: machine::machine(),
            resolution: self.network.resolution(),
            warnings: self.network.warnings().to_vec(),
            steal_share: stolen,
            throttled_share: throttled,
            others_share: seen.map(|seen| seen.others_share),
            server_wait_share: seen.and_then(|seen| seen.server_wait_share),
            memory_bytes_max: machine::memory_bytes_max(),
        }
    }
}

/// Where all workers wait for each other, and the clock they then share.
struct StartLine {
    /// How many are still to come; `None` once the run is called off.
    awaited: Mutex<Option<u32>>,
    complete: Condvar,
    /// Where several processes begin at the same moment.
    gate: Option<Gate>,
    /// When the machine's clock stood at 0, since 1970.
    zero: Nanos,
    /// `None` inside: they do not begin.
    clock: OnceLock<Option<Monotonic>>,
    /// When it was started.
    crossed: OnceLock<Instant>,
}

impl StartLine {
    fn new(workers: u32, gate: Option<Gate>, zero: Nanos) -> Self {
        Self { awaited: Mutex::new(Some(workers)), complete: Condvar::new(), gate, zero, clock: OnceLock::new(), crossed: OnceLock::new() }
    }

    /// Waits until all workers are here, and starts the clock; `None` if the run is called off.
    fn cross(&self, place: Place<'_>) -> Option<Monotonic> {
        drop(place);
        let mut awaited = self.awaited.lock().unwrap_or_else(PoisonError::into_inner);
        while awaited.is_some_and(|awaited| awaited > 0) {
            awaited = self.complete.wait(awaited).unwrap_or_else(PoisonError::into_inner);
        }
        (*awaited)?;
        // The first of all waits at the gate, and the others for it.
        drop(awaited);
        let clock = *self.clock.get_or_init(|| match &self.gate {
            None => Some(Monotonic::starting_in(Nanos::ZERO)),
            Some(gate) => gate.wait().map(Monotonic::starting_at),
        });
        let clock = clock.map(|clock| clock.dated(self.zero));
        self.crossed.get_or_init(Instant::now);
        clock
    }

    /// When the first crossed it.
    fn crossed(&self) -> Option<Instant> {
        self.crossed.get().copied()
    }

    /// Sends everybody home.
    fn call_off(&self) {
        *self.awaited.lock().unwrap_or_else(PoisonError::into_inner) = None;
        self.complete.notify_all();
    }
}

/// A worker's place at the start line. It is given up when the worker arrives, or panics: nobody waits for it in vain.
struct Place<'a>(&'a StartLine);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if let Some(awaited) = &mut *self.0.awaited.lock().unwrap_or_else(PoisonError::into_inner) {
            *awaited -= 1;
        }
        self.0.complete.notify_all();
    }
}

fn thread_main<B: Behaviour>(
    task: &Arc<Task>,
    behaviour: &(impl Fn(Part) -> B + Send + Sync),
    part: Part,
    network: Network,
    line: &StartLine,
    stop: &Stop,
    sender: &Sender<Message>,
) {
    let place = Place(line);
    let behaviour = behaviour(part);
    let network = match behaviour.address() {
        Some(address) => network.directed(address),
        None => network,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .expect("a runtime needs three open files, and room for them is reserved");
    LocalSet::new().block_on(&runtime, async {
        let ready =
            if behaviour.opens_first() { worker::ready::<Http, _>(task, part, &network, stop).await } else { worker::Ready::none() };
        let Some(clock) = line.cross(place) else { return };
        let source = SourceId(part.of_run.index());
        let counts = sender.clone();
        let hand_over = Box::new(move |snapshot| {
            // Nobody listens any more only when the collector panicked; then the thread ends with the run.
            let _ = counts.send(Message::Counts(source, Box::new(snapshot)));
        });
        let worker =
            Worker::<Path<Network, Http, Monotonic, B>, B>::new(task.clone(), behaviour, part, network, clock, stop.clone(), hand_over);
        let waited = machine::run_queue_wait();
        let mut finished = worker.clone().work(ready).await;
        finished.run_queue_wait = machine::run_queue_wait().zip(waited).map(|(after, before)| after.since(before));
        let _ = sender.send(Message::Finished(source, finished));
        let left = worker.tear_down().await;
        let _ = sender.send(Message::Left(source, Box::new(left)));
        #[cfg(feature = "http3")]
        if task.plan.connection().http == plan::HttpVersion::V3 {
            crate::net::farewell().await;
        }
    });
    // A resolver that hangs over a redirect's name must not hold up the end of the run.
    runtime.shutdown_background();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_at_a_line_that_is_called_off_goes_home() {
        let line = StartLine::new(3, None, Nanos::ZERO);
        thread::scope(|threads| {
            let waiting: Vec<_> = (0..2).map(|_| threads.spawn(|| line.cross(Place(&line)).is_some())).collect();
            line.call_off();
            assert!(waiting.into_iter().all(|crossed| !crossed.join().unwrap()));
        });
        let whole = StartLine::new(1, None, Nanos::ZERO);
        assert!(whole.cross(Place(&whole)).is_some());
        let never = StartLine::new(1, Some(Gate::new(|| None)), Nanos::ZERO);
        assert!(never.cross(Place(&never)).is_none());
    }

    #[test]
    fn a_system_without_threads_is_the_worlds_fault_and_says_what_to_do() {
        let error: RunError = RunError::no_thread(4, &std::io::ErrorKind::WouldBlock.into());
        assert_eq!(error.kind, crate::RunErrorKind::Run);
        let told = error.spelt(plan::Spelling::Flags);
        assert!(told.starts_with("error: the load needs 4 threads") && told.contains("ulimit -u"), "{told}");
    }
}
