//! Carries a plan out on this machine: prepares, starts a thread a worker, and collects.
//!
//! All that can go wrong for a reason the user can mend (a missing file, a wrong name, too few open files, nobody
//! listening) goes wrong here, before the first request.

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use measure::{Counted, Ending, SourceId, Summary, Tick};
use plan::{Nanos, Plan, Share};
use tokio::task::LocalSet;

use crate::clock::Monotonic;
use crate::collect::{Message, collect};
use crate::neighbours::Sought;
use crate::net::{self, Network, Wire};
use crate::program::{Broken, Choice, Fixed, Program};
use crate::task::Task;
use crate::worker::{self, Worker};
use crate::{Fence, RunError, Stop, Urgency, body, machine};

/// Carries a plan out on this machine and waits for its end. `watch` is called on this thread once an interval.
///
/// # Errors
/// If the run cannot begin: files, limits, name resolution, preflight.
///
/// # Panics
/// If a worker panicked or a request is unaccounted for: our mistakes.
pub fn run(plan: &Plan, watch: &mut dyn FnMut(&Tick), stop: &Stop) -> Result<Summary, RunError> {
    run_counted(plan, &mut |tick, _| watch(tick), stop)
}

/// As [`run`], for those who keep what was counted: `watch` is given each interval's counts as well, which add up to the
/// whole run.
///
/// # Errors
/// As [`run`].
///
/// # Panics
/// As [`run`].
pub fn run_counted(plan: &Plan, watch: &mut dyn FnMut(&Tick, Counted), stop: &Stop) -> Result<Summary, RunError> {
    prepare(plan)?.run_counted(watch, stop)
}

/// The same with a program that chooses the requests: `program` makes one for each worker, on its thread.
///
/// # Errors
/// If the run cannot begin; and if the program cannot go on or does not return, with what was measured until then.
///
/// # Panics
/// As [`run`].
pub fn run_with<P: Program>(
    plan: &Plan,
    program: impl Fn(Share) -> P + Send + Sync + 'static,
    watch: &mut dyn FnMut(&Tick, Counted),
    stop: &Stop,
) -> Result<Summary, RunError> {
    prepare(plan)?.run_with(program, watch, stop)
}

/// A plan that can begin: limits, files, names and the target were looked at.
#[derive(Debug)]
pub struct Prepared {
    task: Arc<Task>,
    network: Network,
}

/// Looks at everything that can be wrong before the first request.
///
/// # Errors
/// If the run cannot begin: files, limits, name resolution, preflight.
pub fn prepare(plan: &Plan) -> Result<Prepared, RunError> {
    prepare_within(plan, &Fence::open())
}

/// The same where not every address may be connected to.
///
/// # Errors
/// As [`prepare`]; and if the target is at an address that the fence does not let through.
pub fn prepare_within(plan: &Plan, fence: &Fence) -> Result<Prepared, RunError> {
    net::check_limits(plan, machine::raise_files_limit())?;
    let (body, network) = match (body::read(&plan.request().body), Network::prepare_within(plan, fence)) {
        (Ok(body), Ok(network)) => (body, network),
        (body, network) => {
            let errors = [body.err(), network.err()].into_iter().flatten().collect();
            return Err(RunError::together(errors).expect("one of the two failed"));
        }
    };
    Ok(Prepared { task: Task::new(plan, &body)?, network })
}

impl Prepared {
    /// The addresses connections go to; none for a Unix socket.
    #[must_use]
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.network.resolution().addresses.iter().filter_map(|address| address.parse().ok()).collect()
    }

    /// The plan's own request, for programs that send it.
    #[must_use]
    pub fn request(&self) -> (Vec<u8>, Choice) {
        (self.task.request.clone(), Choice { asked: self.task.asked, requests: 1 })
    }

    /// The same with other sockets.
    #[must_use]
    pub fn wired(mut self, wire: Wire) -> Self {
        self.network = self.network.wired(wire);
        self
    }

    /// Carries the plan out: see [`run_counted`].
    ///
    /// # Errors
    /// None but those of a run that breaks off, with what was measured until then.
    ///
    /// # Panics
    /// As [`run`].
    pub fn run_counted(self, watch: &mut dyn FnMut(&Tick, Counted), stop: &Stop) -> Result<Summary, RunError> {
        let task = self.task.clone();
        self.carry_out(move |_| Fixed { task: task.clone() }, Patience::Endless, watch, stop)
    }

    /// Carries the plan out with a program: see [`run_with`].
    ///
    /// # Errors
    /// If the program cannot go on or does not return, with what was measured until then.
    ///
    /// # Panics
    /// As [`run`].
    pub fn run_with<P: Program>(
        self,
        program: impl Fn(Share) -> P + Send + Sync + 'static,
        watch: &mut dyn FnMut(&Tick, Counted),
        stop: &Stop,
    ) -> Result<Summary, RunError> {
        self.carry_out(program, Patience::AfterTheEnd(stop.clone()), watch, stop)
    }

    fn carry_out<P: Program>(
        self,
        program: impl Fn(Share) -> P + Send + Sync + 'static,
        patience: Patience,
        watch: &mut dyn FnMut(&Tick, Counted),
        stop: &Stop,
    ) -> Result<Summary, RunError> {
        let neighbours = Sought::begin(self.addresses(), self.task.plan.connection().unix_socket.as_deref());
        let Self { task, network } = self;
        let plan = &task.plan;
        let started = jiff::Timestamp::now();
        let threads = plan.threads();
        let line = Arc::new(StartLine::new(threads.get()));
        let program = Arc::new(program);
        let (sender, messages) = channel();
        let workers: Result<Vec<_>, _> = Share::all(threads)
            .map(|share| {
                let (task, network, line, stop, sender) = (task.clone(), network.clone(), line.clone(), stop.clone(), sender.clone());
                let program = program.clone();
                thread::Builder::new()
                    .name(format!("load-{}", share.index()))
                    .spawn(move || thread_main(&task, &*program, share, network, &line, &stop, &sender))
            })
            .collect();
        let workers = match workers {
            Ok(workers) => workers,
            Err(why) => {
                // Those that there are wait at the start line for those that never come.
                line.call_off();
                return Err(RunError::no_thread(threads.get(), &why));
            }
        };
        drop(sender);
        let before = machine::ProcessorTime::now();
        let quota = machine::QuotaPeriods::now();
        let mut messages = Heard::new(messages, threads.get(), patience, &task);
        let (mut summary, broken) = collect(plan, threads.get(), &mut messages, watch);
        let silent = messages.silent();
        summary.generator.steal_share = machine::ProcessorTime::now().zip(before).and_then(|(after, before)| after.stolen_since(before));
        summary.generator.throttled_share = machine::QuotaPeriods::now().zip(quota).and_then(|(after, before)| after.stopped_since(before));
        if let Some(seen) = neighbours.since() {
            summary.generator.others_share = Some(seen.others_share);
            summary.generator.server_wait_share = seen.server_wait_share;
        }
        for (worker, is_silent) in workers.into_iter().zip(&silent) {
            // A thread whose program never returns cannot be ended; it goes with the process.
            if !is_silent && let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic);
            }
        }
        summary.machine = machine::machine();
        summary.started = format!("{started:.3}");
        summary.resolution = network.resolution();
        summary.warnings = network.warnings().to_vec();
        summary.generator.memory_bytes_max = machine::memory_bytes_max();
        let stuck = silent.iter().position(|silent| *silent).map(|index| Broken {
            message: format!("the program of thread {index} did not return within {} s of the end of the load", SILENCE_MAX.as_secs_f64()),
            help: "look for an endless loop in it".to_owned(),
        });
        match broken.or(stuck) {
            None => Ok(summary),
            Some(Broken { message, help }) => {
                summary.ended.how = Ending::CutShort;
                Err(RunError { measured: Some(Box::new(summary)), ..RunError::run(message, help) })
            }
        }
    }
}

/// How long workers are waited for.
enum Patience {
    /// They end by themselves.
    Endless,
    /// Their programs may not return: a worker that has nothing to say for [`SILENCE_MAX`] after the end of the load is left behind.
    AfterTheEnd(Stop),
}

/// Workers hand over their counts every second; one that misses three of them is not late but stuck.
const SILENCE_MAX: Duration = Duration::from_secs(3);

/// How often the silent are looked for.
const LOOK: Duration = Duration::from_millis(100);

/// The workers' messages, until all have hung up or are given up.
struct Heard {
    messages: Receiver<Message>,
    patience: Patience,
    began: Instant,
    /// When the load ends at the latest; `None` for a counted run.
    end: Option<Duration>,
    /// When each worker was last heard; `None` once it has finished.
    last: Vec<Option<Instant>>,
    gave_up: bool,
}

impl Heard {
    fn new(messages: Receiver<Message>, workers: u32, patience: Patience, task: &Task) -> Self {
        let now = Instant::now();
        let end = (task.end < Nanos::NEVER).then(|| Duration::from(task.end));
        Self { messages, patience, began: now, end, last: vec![Some(now); workers as usize], gave_up: false }
    }

    /// Which workers were given up.
    fn silent(&self) -> Vec<bool> {
        self.last.iter().map(|last| self.gave_up && last.is_some()).collect()
    }

    /// Whether the load is over and everybody who has not finished has been silent for too long since.
    fn has_nobody_left(&self, ended: Instant, now: Instant) -> bool {
        self.last.iter().flatten().all(|last| now.duration_since((*last).max(ended)) >= SILENCE_MAX)
    }
}

impl Iterator for Heard {
    type Item = Message;

    fn next(&mut self) -> Option<Message> {
        let Patience::AfterTheEnd(stop) = &self.patience else { return self.messages.recv().ok() };
        let mut stopped = None;
        loop {
            match self.messages.recv_timeout(LOOK) {
                Ok(message) => {
                    let (source, heard) = match &message {
                        Message::Counts(source, _) => (*source, Some(Instant::now())),
                        Message::Finished(source, _) => (*source, None),
                    };
                    self.last[source.0 as usize] = heard;
                    return Some(message);
                }
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
            let now = Instant::now();
            if stop.urgency() > Urgency::None {
                stopped.get_or_insert(now);
            }
            let planned = self.end.and_then(|end| self.began.checked_add(end)).filter(|end| *end <= now);
            if let Some(ended) = stopped.or(planned)
                && self.has_nobody_left(ended, now)
            {
                self.gave_up = true;
                return None;
            }
        }
    }
}

/// Where all workers wait for each other, and the clock they then share.
struct StartLine {
    /// How many are still to come; `None` once the run is called off.
    awaited: Mutex<Option<u32>>,
    complete: Condvar,
    clock: OnceLock<Monotonic>,
}

impl StartLine {
    fn new(workers: u32) -> Self {
        Self { awaited: Mutex::new(Some(workers)), complete: Condvar::new(), clock: OnceLock::new() }
    }

    /// Waits until all workers are here, and starts the clock; `None` if the run is called off.
    fn cross(&self, place: Place<'_>) -> Option<Monotonic> {
        drop(place);
        let mut awaited = self.awaited.lock().unwrap_or_else(PoisonError::into_inner);
        while awaited.is_some_and(|awaited| awaited > 0) {
            awaited = self.complete.wait(awaited).unwrap_or_else(PoisonError::into_inner);
        }
        awaited.map(|_| *self.clock.get_or_init(|| Monotonic::starting_in(Nanos::ZERO)))
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

fn thread_main<P: Program>(
    task: &Arc<Task>,
    program: &(impl Fn(Share) -> P + Send + Sync),
    share: Share,
    network: Network,
    line: &StartLine,
    stop: &Stop,
    sender: &Sender<Message>,
) {
    let place = Place(line);
    let program = program(share);
    let network = match program.address() {
        Some(address) => network.directed(address),
        None => network,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .expect("a runtime needs three open files, and room for them is reserved");
    LocalSet::new().block_on(&runtime, async {
        let ready = if P::OPENS_FIRST { worker::ready(task, share, &network, stop).await } else { worker::Ready::none() };
        let Some(clock) = line.cross(place) else { return };
        let source = SourceId(share.index());
        let counts = sender.clone();
        let hand_over = Box::new(move |snapshot| {
            // Nobody listens any more only when the collector panicked; then the thread ends with the run.
            let _ = counts.send(Message::Counts(source, Box::new(snapshot)));
        });
        let worker = Worker::new(task.clone(), program, share, network, clock, stop.clone(), hand_over);
        let waited = machine::run_queue_wait();
        let mut finished = worker.clone().work(ready).await;
        finished.run_queue_wait = machine::run_queue_wait().zip(waited).map(|(after, before)| after.since(before));
        let _ = sender.send(Message::Finished(source, finished));
        worker.part().await;
    });
    // A resolver that hangs over a redirect's name must not hold up the end of the run.
    runtime.shutdown_background();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_at_a_line_that_is_called_off_goes_home() {
        let line = StartLine::new(3);
        thread::scope(|threads| {
            let waiting: Vec<_> = (0..2).map(|_| threads.spawn(|| line.cross(Place(&line)).is_some())).collect();
            line.call_off();
            assert!(waiting.into_iter().all(|crossed| !crossed.join().unwrap()));
        });
        let whole = StartLine::new(1);
        assert!(whole.cross(Place(&whole)).is_some());
    }

    #[test]
    fn a_system_without_threads_is_the_worlds_fault_and_says_what_to_do() {
        let error = RunError::no_thread(4, &std::io::ErrorKind::WouldBlock.into());
        assert_eq!(error.kind, crate::RunErrorKind::Run);
        assert!(error.message.starts_with("the load needs 4 threads") && error.help.contains("ulimit -u"), "{error}");
    }
}
