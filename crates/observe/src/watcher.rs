//! Watching beside a run: a thread for each thing that is watched, a look a second, and what was seen at the end.
//!
//! A slow metrics page must not delay the look at `/proc`, nor either of them the workers or the end of the run. So each has its own
//! thread; what it saw lies ready after every look, and a thread that hangs is left behind with a warning. One loop over all of
//! them was rejected for the first reason, tasks on the workers' runtimes for the second.
//!
//! What nobody named, but may be there, is sought on such a thread too: looking into every process of a machine takes longer than
//! a run of one request. A run that is over before the search begins does without.
//!
//! Times are kept on the watcher's own clock and put on the run's when it is over: when the run began is known only by its ticks.

use std::collections::BTreeSet;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use measure::ServerObservation;
use measure::observed::Value;
use plan::Nanos;
use rustix::time::{ClockId, clock_gettime};

/// Something that can be looked at again and again.
pub trait Source: Send {
    /// Looks, at a moment of the watcher's clock, and says what happened since the last time; nothing the first time.
    ///
    /// # Errors
    /// If there is nothing to see now. It is told, and looked at again a second later.
    fn look(&mut self, at: Nanos) -> Result<Vec<Value>, String>;

    /// What it is, and what it has turned out to be.
    fn describe(&self) -> ServerObservation;

    /// What went wrong besides since the last time.
    fn warnings(&mut self) -> Vec<String>;
}

/// Seconds between looks.
const EVERY: Duration = Duration::from_secs(1);
/// A shorter span says little: processor time is told in hundredths of a second.
const SPAN_MIN: Duration = Duration::from_millis(200);
/// What may be there is sought so long after the run began: one over by then is too short to see anything in.
const SOUGHT_AFTER: Duration = Duration::from_millis(50);
/// So long a look under way is waited for when the run is over.
const PATIENCE: Duration = Duration::from_secs(2);
/// So many threads are kept, the busiest of them.
const THREADS_KEPT: usize = 8;
/// And so many processes.
const PROCESSES_KEPT: usize = 16;
/// Of one thing that goes wrong again and again, so many are told.
const FAILURES_TOLD: usize = 1;

/// Looks at everything until it is stopped.
pub struct Watcher {
    begun: Instant,
    watching: Vec<Watching>,
}

struct Watching {
    asked: String,
    seen: Arc<Mutex<LatestLooks>>,
    stop: Sender<()>,
    done: Receiver<()>,
}

/// What lies ready after every look.
#[derive(Debug, Default)]
struct LatestLooks {
    described: ServerObservation,
    observed: ServerObservation,
    warnings: Vec<String>,
    failures: Vec<String>,
    looks: u64,
    failed: u64,
}

/// What was seen, and what went wrong.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// One for each source that saw something.
    pub observed: Vec<ServerObservation>,
    /// In words.
    pub warnings: Vec<String>,
}

impl Watcher {
    /// Begins to look.
    #[must_use]
    pub fn start(sources: Vec<Box<dyn Source>>) -> Self {
        let begun = Instant::now();
        let watching = sources.into_iter().map(|source| Watching::of(source, begun)).collect();
        Self { begun, watching }
    }

    /// Also looks at this.
    #[must_use]
    pub fn and(mut self, source: Box<dyn Source>) -> Self {
        self.watching.push(Watching::of(source, self.begun));
        self
    }

    /// Also looks at what `search` finds, if it finds anything: it is called on a thread of its own, once the run has lasted a while.
    /// What was seen of it stands where this call stands among the others.
    #[must_use]
    pub(crate) fn seeking(mut self, asked: &str, search: impl FnOnce() -> Option<Box<dyn Source>> + Send + 'static) -> Self {
        let find = move |stopped: &Receiver<()>| match stopped.recv_timeout(SOUGHT_AFTER) {
            // Whoever is stopped while he searches has nothing to look at any more.
            Err(RecvTimeoutError::Timeout) => search().filter(|_| stopped.try_recv() == Err(TryRecvError::Empty)),
            Ok(()) | Err(RecvTimeoutError::Disconnected) => None,
        };
        self.watching.push(Watching::start(
            ServerObservation { asked: asked.to_owned(), ..ServerObservation::default() },
            find,
            self.begun,
        ));
        self
    }

    /// What the last look at each saw, for whoever looks on; nothing of what was not seen yet.
    #[must_use]
    pub fn latest(&self) -> Vec<ServerObservation> {
        let last = |watching: &Watching| {
            let seen = lock(&watching.seen);
            ServerObservation { asked: watching.asked.clone(), cores: seen.described.cores, ..seen.observed.latest() }
        };
        self.watching.iter().map(last).filter(|seen| !seen.is_empty()).collect()
    }

    /// Looks a last time, and says what was seen of a run that began at `origin`: from that moment on, until now.
    #[must_use]
    pub fn stop(self, origin: Instant) -> Outcome {
        let before = Nanos::from(origin.saturating_duration_since(self.begun));
        let mut outcome = Outcome::default();
        for watching in &self.watching {
            // Whoever has gone already needs no telling.
            let _ = watching.stop.send(());
        }
        let deadline = Instant::now() + PATIENCE;
        for Watching { asked, seen, done, .. } in self.watching {
            if done.recv_timeout(deadline.saturating_duration_since(Instant::now())) == Err(RecvTimeoutError::Timeout) {
                outcome
                    .warnings
                    .push(format!("--observe {asked}: a look at it had no end when the run had; what it saw until then is kept"));
            }
            let LatestLooks { described, observed, warnings, failures, looks, failed } = std::mem::take(&mut *lock(&seen));
            outcome.warnings.extend(warnings.into_iter().map(|warning| format!("--observe {asked}: {warning}")));
            if let Some(last) = failures.last() {
                let all =
                    if looks == 0 { "nothing was seen of it".to_owned() } else { format!("{failed} of {} looks failed", looks + failed) };
                outcome.warnings.push(format!("--observe {asked}: {all}: {last}"));
            }
            let observed = ServerObservation {
                asked,
                cost_cpu_ns: observed.cost_cpu_ns,
                from_ns: observed.from_ns,
                to_ns: observed.to_ns,
                series: observed.series,
                ..described
            };
            let observed = kept(since(observed, before));
            if !observed.is_empty() {
                outcome.observed.push(observed);
            }
        }
        outcome
    }
}

impl Watching {
    fn of(source: Box<dyn Source>, begun: Instant) -> Self {
        Self::start(source.describe(), |_| Some(source), begun)
    }

    fn start(
        described: ServerObservation,
        find: impl FnOnce(&Receiver<()>) -> Option<Box<dyn Source>> + Send + 'static,
        begun: Instant,
    ) -> Self {
        let asked = described.asked.clone();
        let seen = Arc::new(Mutex::new(LatestLooks { described, ..LatestLooks::default() }));
        let (stop, stopped) = mpsc::channel();
        let (finished, done) = mpsc::channel();
        let shared = seen.clone();
        let work = move || {
            if let Some(mut source) = find(&stopped) {
                WatchThread { last: None, seen: shared }.run(&mut *source, begun, &stopped);
            }
            let _ = finished.send(());
        };
        // Where there is no thread for it, the channel has no other end, and nothing is seen.
        let started = thread::Builder::new().name("observe".to_owned()).spawn(work);
        if let Err(why) = started {
            lock(&seen).failures.push(format!("no thread could be started: {why}"));
        }
        Self { asked, seen, stop, done }
    }
}

/// The looks of one thread.
struct WatchThread {
    last: Option<Nanos>,
    seen: Arc<Mutex<LatestLooks>>,
}

impl WatchThread {
    /// A look a second until it is stopped, and one then.
    fn run(&mut self, source: &mut dyn Source, begun: Instant, stopped: &Receiver<()>) {
        let mut next = Instant::now();
        loop {
            self.look(source, begun);
            next = (next + EVERY).max(Instant::now());
            match stopped.recv_timeout(next.saturating_duration_since(Instant::now())) {
                Err(RecvTimeoutError::Timeout) => {}
                Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        if self.last.is_none_or(|last| begun.elapsed().saturating_sub(last.into()) >= SPAN_MIN) {
            self.look(source, begun);
        }
    }

    fn look(&mut self, source: &mut dyn Source, begun: Instant) {
        let at = Nanos::from(begun.elapsed());
        let looked = source.look(at);
        let mut seen = lock(&self.seen);
        match looked {
            Ok(values) => {
                if let Some(last) = self.last
                    && !values.is_empty()
                {
                    seen.observed.add(last, at, values);
                }
                seen.looks += 1;
                self.last = Some(at);
            }
            Err(why) => {
                seen.failed += 1;
                if seen.failures.len() < FAILURES_TOLD {
                    seen.failures.push(why);
                }
            }
        }
        seen.warnings.extend(source.warnings());
        seen.described = source.describe();
        let used = clock_gettime(ClockId::ThreadCPUTime);
        seen.observed.cost_cpu_ns = used.tv_sec as u64 * 1_000_000_000 + used.tv_nsec as u64;
    }
}

fn lock(seen: &Mutex<LatestLooks>) -> MutexGuard<'_, LatestLooks> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

/// On the clock of a run that began at `origin` of the watcher's; intervals that were over by then are left out.
fn since(mut observed: ServerObservation, origin: Nanos) -> ServerObservation {
    // An interval that lay mostly before it says more about what was there before.
    let middle = |from: Nanos, to: Nanos| Nanos(from.0 + to.since(from).0 / 2);
    let wanted: Vec<bool> = observed.from_ns.iter().zip(&observed.to_ns).map(|(from, to)| middle(*from, *to) >= origin).collect();
    let mut places = wanted.iter();
    observed.from_ns.retain(|_| *places.next().unwrap_or(&false));
    let mut places = wanted.iter();
    observed.to_ns.retain(|_| *places.next().unwrap_or(&false));
    for series in &mut observed.series {
        let mut places = wanted.iter();
        series.values.retain(|_| *places.next().unwrap_or(&false));
    }
    observed.from_ns.iter_mut().chain(&mut observed.to_ns).for_each(|at| *at = at.since(origin));
    observed
}

/// Without threads and processes that did little beside others: a pool of hundreds has hundreds of series, and eight say it.
fn kept(mut observed: ServerObservation) -> ServerObservation {
    observed.series.retain(|series| series.values.iter().any(Option::is_some));
    for (name, most) in [("thread_cpu", THREADS_KEPT), ("process_cpu", PROCESSES_KEPT)] {
        let mut sums: Vec<f64> = observed.each(name).map(|series| series.values.iter().flatten().sum()).collect();
        sums.sort_by(|a, b| b.total_cmp(a));
        let Some(least) = sums.get(most - 1) else { continue };
        let mut left = most;
        observed.series.retain(|series| {
            let keep = series.name != name || (series.values.iter().flatten().sum::<f64>() >= *least && left > 0);
            left -= usize::from(keep && series.name == name);
            keep
        });
    }
    // What is said of a part belongs to the whole.
    for (whole, part) in [("process_cpu", "process_cpu_system"), ("thread_cpu", "thread_cpu_system")] {
        let kept: BTreeSet<Option<String>> = observed.each(whole).map(|series| series.of.clone()).collect();
        observed.series.retain(|series| series.name != part || kept.contains(&series.of));
    }
    observed
}

/// What watching cost, in cores' worth of processor time.
#[must_use]
pub fn cost(observed: &ServerObservation) -> Option<f64> {
    let (from, to) = (observed.from_ns.first()?, observed.to_ns.last()?);
    let span = to.since(*from).as_secs_f64();
    (span > 0.0).then(|| observed.cost_cpu_ns as f64 / 1e9 / span)
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::observed::{Unit, mean};

    struct Fake {
        looks: u32,
        failing: bool,
        hangs: Option<Receiver<()>>,
    }

    impl Source for Fake {
        fn look(&mut self, _: Nanos) -> Result<Vec<Value>, String> {
            self.looks += 1;
            if let Some(until) = self.hangs.as_ref().filter(|_| self.looks > 1) {
                let _ = until.recv();
            }
            if self.failing {
                return Err("connection refused".to_owned());
            }
            Ok(vec![Value { name: "looks".into(), of: None, unit: Unit::Number, limit: None, value: f64::from(self.looks) }])
        }

        fn describe(&self) -> ServerObservation {
            ServerObservation { asked: "fake".to_owned(), about: format!("looked at {} times", self.looks), ..ServerObservation::default() }
        }

        fn warnings(&mut self) -> Vec<String> {
            if self.looks == 1 { vec!["odd".to_owned()] } else { Vec::new() }
        }
    }

    fn until(what: &str, holds: impl Fn() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !holds() {
            assert!(Instant::now() < deadline, "{what}");
            thread::sleep(Duration::from_millis(2));
        }
    }

    #[test]
    fn the_last_look_is_at_the_end() {
        let origin = Instant::now();
        let watcher = Watcher::start(vec![Box::new(Fake { looks: 0, failing: false, hangs: None })]);
        until("a first look and a while after it", || lock(&watcher.watching[0].seen).looks > 0 && origin.elapsed() > 2 * SPAN_MIN);
        assert!(watcher.latest().iter().all(|seen| seen.asked == "fake" && seen.to_ns.len() == 1), "{:?}", watcher.latest());
        let Outcome { observed, warnings } = watcher.stop(origin);
        assert_eq!(warnings, ["--observe fake: odd"]);
        let seen = &observed[0];
        assert!(seen.whole("looks").unwrap().values.len() == seen.to_ns.len() && !seen.to_ns.is_empty(), "{seen:?}");
        assert_eq!(seen.about, format!("looked at {} times", seen.to_ns.len() + 1));
        assert!(cost(seen).unwrap() < 1.0);
    }

    #[test]
    fn what_is_sought_is_watched_once_it_is_found_and_a_short_run_does_not_seek() {
        let (told, searches) = mpsc::channel();
        let search = |told: Sender<()>| {
            move || {
                let _ = told.send(());
                Some(Box::new(Fake { looks: 0, failing: false, hangs: None }) as Box<dyn Source>)
            }
        };
        let short = Watcher::start(Vec::new()).seeking("auto", search(told.clone()));
        assert_eq!(short.stop(Instant::now()), Outcome::default());
        assert_eq!(searches.try_recv(), Err(TryRecvError::Empty), "nobody sought");

        let origin = Instant::now();
        let watcher = Watcher::start(Vec::new()).seeking("auto", search(told));
        until("a first look and a while after it", || lock(&watcher.watching[0].seen).looks > 0 && origin.elapsed() > 3 * SPAN_MIN);
        let Outcome { observed, .. } = watcher.stop(origin);
        assert_eq!((observed[0].asked.as_str(), searches.try_recv()), ("auto", Ok(())));
        assert!(observed[0].about.starts_with("looked at "), "it tells of what was found: {}", observed[0].about);
    }

    #[test]
    fn what_was_seen_stands_in_the_order_in_which_it_was_asked_for() {
        struct Named(&'static str);
        impl Source for Named {
            fn look(&mut self, _: Nanos) -> Result<Vec<Value>, String> {
                Ok(vec![Value { name: "x".into(), of: None, unit: Unit::Number, limit: None, value: 1.0 }])
            }

            fn describe(&self) -> ServerObservation {
                ServerObservation { asked: self.0.to_owned(), ..ServerObservation::default() }
            }

            fn warnings(&mut self) -> Vec<String> {
                Vec::new()
            }
        }
        let origin = Instant::now();
        let named = |name| Box::new(Named(name)) as Box<dyn Source>;
        let watcher = Watcher::start(vec![named("first")]).seeking("auto", move || Some(named("sought"))).and(named("last"));
        until("a look at each and a while after it", || {
            watcher.watching.iter().all(|watching| lock(&watching.seen).looks > 0) && origin.elapsed() > 3 * SPAN_MIN
        });
        let Outcome { observed, .. } = watcher.stop(origin);
        assert_eq!(observed.iter().map(|seen| seen.asked.as_str()).collect::<Vec<_>>(), ["first", "auto", "last"]);
    }

    #[test]
    fn what_is_sought_and_not_there_is_nobody_s_trouble() {
        let watcher = Watcher::start(Vec::new()).seeking("auto", || None);
        until("a while", || watcher.begun.elapsed() > 2 * SOUGHT_AFTER);
        assert_eq!(watcher.stop(Instant::now()), Outcome::default());
    }

    #[test]
    fn what_cannot_be_seen_is_a_warning_and_no_result() {
        let watcher = Watcher::start(vec![Box::new(Fake { looks: 0, failing: true, hangs: None })]);
        until("a look", || lock(&watcher.watching[0].seen).failed > 0);
        let outcome = watcher.stop(Instant::now());
        assert!(outcome.observed.is_empty());
        assert!(outcome.warnings[1].contains("nothing was seen of it: connection refused"), "{:?}", outcome.warnings);
    }

    #[test]
    fn a_look_without_an_end_does_not_hold_up_the_end() {
        let (until_then, hangs) = mpsc::channel();
        let watcher = Watcher::start(vec![Box::new(Fake { looks: 0, failing: false, hangs: Some(hangs) })]);
        until("a look", || lock(&watcher.watching[0].seen).looks > 0);
        // The second look begins when the run is over, and hangs.
        until("a while", || watcher.begun.elapsed() > 2 * SPAN_MIN);
        let outcome = watcher.stop(Instant::now());
        assert!(outcome.warnings.iter().any(|warning| warning.contains("had no end")), "{:?}", outcome.warnings);
        drop(until_then);
    }

    #[test]
    fn times_are_the_runs() {
        let value = |value| [Value { name: "x".into(), of: None, unit: Unit::Number, limit: None, value }];
        let mut observed = ServerObservation::default();
        for at in 0..4u64 {
            observed.add(Nanos::from_secs(at), Nanos::from_secs(at + 1), value(at as f64));
        }
        let shifted = since(observed, Nanos::from_millis(1_300));
        assert_eq!(shifted.to_ns, [Nanos::from_millis(700), Nanos::from_millis(1_700), Nanos::from_millis(2_700)]);
        assert_eq!(shifted.from_ns[0], Nanos::ZERO);
        assert_eq!(shifted.series[0].values, [Some(1.0), Some(2.0), Some(3.0)]);
        assert_eq!(mean(shifted.series[0].values.iter().copied()), Some(2.0));
    }

    #[test]
    fn the_busiest_threads_are_kept() {
        let mut observed = ServerObservation::default();
        let thread = |number: u32| Value {
            name: "thread_cpu".into(),
            of: Some(format!("t {number}")),
            unit: Unit::Cores,
            limit: None,
            value: f64::from(number % 30),
        };
        let part = |number: u32| Value { name: "thread_cpu_system".into(), ..thread(number) };
        observed.add(Nanos::ZERO, Nanos::SECOND, (0..40).flat_map(|number| [thread(number), part(number)]));
        let kept = kept(observed);
        let of = |name: &str| kept.each(name).map(|series| series.of.clone()).collect::<BTreeSet<_>>();
        assert_eq!(of("thread_cpu"), of("thread_cpu_system"));
        let mut values: Vec<f64> = kept.each("thread_cpu").map(|series| series.values[0].unwrap()).collect();
        values.sort_by(f64::total_cmp);
        assert_eq!(values, [22.0, 23.0, 24.0, 25.0, 26.0, 27.0, 28.0, 29.0]);
    }
}
