//! Carries a plan out on this machine: prepares, starts a thread a worker, and collects.
//!
//! All that can go wrong for a reason the user can mend (a missing file, a wrong name, too few open files, nobody
//! listening) goes wrong here, before the first request.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread;

use measure::{Counted, SourceId, Summary, Tick};
use plan::{Nanos, Plan, Share};
use tokio::task::LocalSet;

use crate::clock::Monotonic;
use crate::collect::{Message, collect};
use crate::net::{self, Network};
use crate::task::Task;
use crate::worker::{self, Worker};
use crate::{RunError, Stop, body, machine};

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
    net::check_limits(plan, machine::raise_files_limit())?;
    let (body, network) = match (body::read(&plan.request().body), Network::prepare(plan)) {
        (Ok(body), Ok(network)) => (body, network),
        (body, network) => {
            let errors = [body.err(), network.err()].into_iter().flatten().collect();
            return Err(RunError::together(errors).expect("one of the two failed"));
        }
    };
    let task = Task::new(plan, body)?;

    let started = jiff::Timestamp::now();
    let threads = plan.threads();
    let line = Arc::new(StartLine::new(threads.get()));
    let (sender, messages) = channel();
    let workers: Vec<_> = Share::all(threads)
        .map(|share| {
            let (task, network, line, stop, sender) = (task.clone(), network.clone(), line.clone(), stop.clone(), sender.clone());
            thread::Builder::new()
                .name(format!("load-{}", share.index()))
                .spawn(move || thread_main(&task, share, &network, &line, &stop, &sender))
                .expect("the system gives a thread to each core")
        })
        .collect();
    drop(sender);
    let before = machine::ProcessorTime::now();
    let mut summary = collect(plan, threads.get(), &messages, watch);
    summary.generator.steal_share = machine::ProcessorTime::now().zip(before).and_then(|(after, before)| after.stolen_since(before));
    for worker in workers {
        if let Err(panic) = worker.join() {
            std::panic::resume_unwind(panic);
        }
    }
    summary.machine = machine::machine();
    summary.started = format!("{started:.3}");
    summary.resolution = network.resolution();
    summary.warnings = network.warnings().to_vec();
    summary.generator.memory_bytes_max = machine::memory_bytes_max();
    Ok(summary)
}

/// Where all workers wait for each other, and the clock they then share.
struct StartLine {
    awaited: Mutex<u32>,
    complete: Condvar,
    clock: OnceLock<Monotonic>,
}

impl StartLine {
    fn new(workers: u32) -> Self {
        Self { awaited: Mutex::new(workers), complete: Condvar::new(), clock: OnceLock::new() }
    }

    /// Waits until all workers are here, and starts the clock.
    fn cross(&self, place: Place<'_>) -> Monotonic {
        drop(place);
        let mut awaited = self.awaited.lock().unwrap_or_else(PoisonError::into_inner);
        while *awaited > 0 {
            awaited = self.complete.wait(awaited).unwrap_or_else(PoisonError::into_inner);
        }
        *self.clock.get_or_init(|| Monotonic::starting_in(Nanos::ZERO))
    }
}

/// A worker's place at the start line. It is given up when the worker arrives, or panics: nobody waits for it in vain.
struct Place<'a>(&'a StartLine);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        *self.0.awaited.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.complete.notify_all();
    }
}

fn thread_main(task: &Arc<Task>, share: Share, network: &Network, line: &StartLine, stop: &Stop, sender: &Sender<Message>) {
    let place = Place(line);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()
        .expect("a runtime needs three open files, and room for them is reserved");
    LocalSet::new().block_on(&runtime, async {
        let ready = worker::ready(task, share, network, stop).await;
        let clock = line.cross(place);
        let source = SourceId(share.index());
        let counts = sender.clone();
        let hand_over = Box::new(move |snapshot| {
            // Nobody listens any more only when the collector panicked; then the thread ends with the run.
            let _ = counts.send(Message::Counts(source, Box::new(snapshot)));
        });
        let worker = Worker::new(task.clone(), share, network.clone(), clock, stop.clone(), hand_over);
        let waited = machine::run_queue_wait();
        let mut finished = worker.work(ready).await;
        finished.run_queue_wait = machine::run_queue_wait().zip(waited).map(|(after, before)| after.since(before));
        let _ = sender.send(Message::Finished(finished));
    });
    // A resolver that hangs over a redirect's name must not hold up the end of the run.
    runtime.shutdown_background();
}
