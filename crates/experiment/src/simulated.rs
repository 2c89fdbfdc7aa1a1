//! A bench of simulated servers: every load in the simulated engine, in milliseconds, with exact counts.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use engine::simulation::Simulation;
use engine::{Runner, Stop, Urgency};
use measure::{Ending, Tick};
use plan::{Draft, Nanos, Plan, PlanErrors};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use trial::{Observer, RunError};

use crate::bench::{Bench, Judge, Load, Measurement, Role};

/// A server with so many workers, each of which needs this long for a request; what comes while all are busy stands in line.
#[derive(Clone)]
pub(crate) struct Pool {
    workers: usize,
    takes: Rc<Cell<Duration>>,
}

impl Pool {
    pub(crate) fn new(workers: usize, takes: Duration) -> Self {
        Self { workers, takes: Rc::new(Cell::new(takes)) }
    }

    /// From now on a request takes this long.
    pub(crate) fn slow_down(&self, takes: Duration) {
        self.takes.set(takes);
    }

    fn simulation(&self) -> Simulation {
        // Moments from the start of a load at which each worker is free; a new load finds all of them free.
        let free: Rc<RefCell<VecDeque<tokio::time::Instant>>> = Rc::default();
        let (workers, takes) = (self.workers, self.takes.clone());
        Simulation::of(move |mut stream, _| {
            let (free, takes) = (free.clone(), takes.clone());
            async move {
                let mut buffer = [0; 4096];
                while let Ok(1..) = stream.read(&mut buffer).await {
                    let now = tokio::time::Instant::now();
                    let done = {
                        let mut free = free.borrow_mut();
                        let begins = if free.len() < workers { now } else { free.pop_front().map_or(now, |at| at.max(now)) };
                        let done = begins + takes.get();
                        let place = free.partition_point(|at| *at <= done);
                        free.insert(place, done);
                        done
                    };
                    tokio::time::sleep_until(done).await;
                    if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await.is_err() {
                        break;
                    }
                }
            }
        })
    }
}

/// Carries loads out against a simulated server, and notes what they were.
pub(crate) struct SimulatedBench {
    server: Pool,
    passed: Nanos,
    stop: Stop,
    /// Every load: its title, and what it was for.
    pub(crate) loads: Vec<(String, Role)>,
    /// The user wants to end within the k-th load, from 1.
    pub(crate) interrupted_in: Option<usize>,
    /// The k-th load, from 1, cannot be carried out.
    pub(crate) fails_in: Option<usize>,
}

impl SimulatedBench {
    pub(crate) fn new(server: Pool) -> Self {
        Self { server, passed: Nanos::ZERO, stop: Stop::new(), loads: Vec::new(), interrupted_in: None, fails_in: None }
    }

    pub(crate) fn count(&self, role: impl Fn(&Role) -> bool) -> usize {
        self.loads.iter().filter(|(_, of)| role(of)).count()
    }
}

struct Judging<'a, 'b>(Judge<'a>, &'b mut Nanos);

impl Observer for Judging<'_, '_> {
    fn interval(&mut self, tick: &Tick, _counted: &measure::IntervalCounts) -> std::ops::ControlFlow<()> {
        *self.1 = tick.to;
        (self.0)(tick)
    }
}

impl Bench for SimulatedBench {
    fn measure(&mut self, load: &Load<'_>, judge: Judge<'_>) -> Result<Measurement, RunError> {
        self.loads.push((load.title.clone(), load.role.clone()));
        let number = Some(self.loads.len());
        if number == self.fails_in {
            return Err(RunError::run("connection refused", "start it"));
        }
        if number == self.interrupted_in {
            self.stop.raise();
        }
        let runner = Runner::simulated(&self.server.simulation());
        let mut last = Nanos::ZERO;
        let mut judging = Judging(judge, &mut last);
        let run = trial::carry_out(load.plan, &mut [&mut judging], &self.stop, |watch, stop| runner.prepare(load.plan)?.run(watch, stop))?;
        self.passed = self.passed.plus(run.ended.drained_at);
        if run.ended.how == Ending::Interrupted && self.stop.urgency() == Urgency::None {
            assert!(last > Nanos::ZERO, "only what was looked at is ended by it");
        }
        Ok(Measurement { run, aborted_by: None })
    }

    fn rest(&mut self, span: Nanos) {
        self.passed = self.passed.plus(span);
    }

    fn now(&self) -> Nanos {
        self.passed
    }

    fn is_interrupted(&self) -> bool {
        self.stop.urgency() > Urgency::None
    }
}

/// Plans for a simulated server, on one thread.
pub(crate) fn decide(draft: Draft) -> Result<Plan, PlanErrors> {
    let threads = "1".parse().ok();
    let connections = draft.connections.or_else(|| "1000".parse().ok());
    Plan::try_from(Draft { url: Some("http://a.test/".to_owned()), threads, connections, ..draft })
}
