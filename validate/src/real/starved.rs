//! Does a generator that gets a tenth of a core say so, instead of blaming the server?
//!
//! loadline runs on one core together with a busy loop that the scheduler prefers ten to one. Its figures then are far from
//! the server's, and a promise that the server keeps is broken in them: what is asked is that the run is INVALID, says why,
//! and that the promise is not judged (exit code 4, not 1). A verdict of INVALID for everything would pass as well, so the
//! same load is measured without the busy loop. There a doubt can be right too: a virtual machine that stands still for some
//! milliseconds makes sends late however much room there is. So a thread that does nothing but sleep and look at the clock runs
//! beside it, and where that thread woke late as well, nothing is said of loadline.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{hint, thread};

use analysis::{Standing, Validity, What};
use anyhow::{Context as _, Result, bail};
use measure::{Histogram, Side};
use plan::Nanos;
use rustix::process::{nice, setpriority_process};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use serde::{Deserialize, Serialize};

use super::process::{Loadline, Ran, Serving, ended};
use crate::experiment::Experiment;
use crate::lab::Lab;
use crate::proof::{Band, Held, Proof, Section, Table, percent, share_of};

/// A run, starved or not.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Treated {
    /// Under which load.
    pub load: String,
    /// Whether it was starved.
    pub starved: bool,
    /// What it said of itself.
    pub standing: Standing,
    /// And why.
    pub why: String,
    /// Whether lag, waiting for a core, a short rate or its own processor are among the causes.
    pub confesses: bool,
    /// Its exit code, with a promise that the starved figures break.
    pub exit: i32,
    /// Requests that it said the server failed.
    pub blamed: u64,
    /// Of a core, what it used.
    pub core_share: f64,
    /// Of the time, what it waited for one.
    pub waited_share: f64,
    /// Whether the report begins with the standing.
    pub says_so: bool,
    /// How late a thread beside it woke that only slept: the 99th percentile. Not looked at where it was starved.
    pub bare_late: Option<Nanos>,
}

impl Treated {
    /// What is asked of a starved run.
    #[must_use]
    pub fn is_honest(&self) -> bool {
        self.standing == Standing::Invalid && self.confesses && self.says_so && self.exit == 4 && self.blamed == 0
    }

    /// Whether the machine woke a bare thread in time, so that a late send is loadline's own.
    #[must_use]
    pub fn had_a_steady_machine(&self) -> bool {
        self.bare_late.is_some_and(|late| late <= BARE_LATE_MAX)
    }
}

/// A starved generator.
#[derive(Debug)]
pub struct Starved;

/// Half of what the median may move by before a run is called INVALID (docs/measurement.md §1.9).
const BARE_LATE_MAX: Nanos = Nanos::from_micros(250);
/// As often as the open load sends.
const BARE_EVERY: Duration = Duration::from_micros(500);

/// The scheduler gives 110 parts to this niceness where it gives 1,024 to none (`sched_prio_to_weight`): a tenth.
const NICE: i32 = 10;
const LOADS: [(&str, &[&str]); 2] = [("closed, 16 users", &["-c", "16"]), ("open, 2,000 a second", &["-c", "64", "-r", "2000/s"])];

impl Starved {
    /// One run of that load, `0` closed and `1` open.
    ///
    /// # Errors
    /// If it cannot be carried out.
    pub fn treat(loadline: &Loadline, server: &Serving, load: usize, starved: bool, seconds: u32) -> Result<Treated> {
        let (name, words) = LOADS[load];
        let (url, duration) = (server.url("/healthz"), format!("{seconds}s"));
        // The server answers in some ten microseconds; starved figures are milliseconds.
        let fixed = ["run", &url, "-d", &duration, "--check", "p99 < 2ms", "--out", "json=it.json", "--force"];
        let command = loadline.command(&[&fixed[..], words].concat());
        let limit = Duration::from_secs(120);
        let (ran, bare_late) = if starved { (starving(command, limit)?, None) } else { beside_a_sleeper(command, limit)? };
        let run = loadline.summary("it.json").with_context(|| format!("it said: {}", ran.stderr))?;
        let validity = Validity::of(&run);
        let ours = |what: &What| {
            matches!(
                what,
                What::Lag { .. }
                    | What::RunQueue { .. }
                    | What::Gaps { .. }
                    | What::Shortfall { .. }
                    | What::Processor { .. }
                    | What::ProcessorFor { .. }
            )
        };
        Ok(Treated {
            load: name.to_owned(),
            starved,
            standing: validity.standing,
            why: validity.why(),
            confesses: validity.causes.iter().any(|cause| cause.standing == Standing::Invalid && ours(&cause.what)),
            exit: ran.exit,
            blamed: run.failures.iter().filter(|failure| failure.side == Side::Server).map(|failure| failure.count).sum(),
            core_share: run.generator.cpu_share_busiest,
            waited_share: run.generator.run_queue_share.unwrap_or(0.0),
            says_so: ran.stdout.lines().any(|line| line.trim_start().starts_with("INVALID: ")),
            bare_late,
        })
    }
}

/// Runs a program to its end on one core, together with a busy loop that the scheduler prefers ten to one.
///
/// # Errors
/// If it cannot be started so, or does not end.
pub(crate) fn starving(mut command: Command, limit: Duration) -> Result<Ran> {
    let over = AtomicBool::new(false);
    let core = first_core()?;
    thread::scope(|threads| {
        threads.spawn(|| {
            // On this thread alone.
            if sched_setaffinity(None, &core).is_ok() {
                while !over.load(Ordering::Relaxed) {
                    hint::spin_loop();
                }
            }
        });
        // A child inherits core and niceness from the thread that starts it; this thread ends with it.
        let child = threads.spawn(|| {
            sched_setaffinity(None, &core).context("the core cannot be chosen")?;
            setpriority_process(None, NICE).context("the priority cannot be lowered")?;
            command.spawn().context("loadline cannot be started")
        });
        let child = child.join().unwrap_or_else(|_| bail!("the thread that starts it panicked"));
        let ran = child.and_then(|child| ended(child, limit));
        over.store(true, Ordering::Relaxed);
        ran
    })
}

/// Runs a program to its end, and tells how late a thread beside it woke that only slept.
fn beside_a_sleeper(mut command: Command, limit: Duration) -> Result<(Ran, Option<Nanos>)> {
    let over = AtomicBool::new(false);
    thread::scope(|threads| {
        let sleeper = threads.spawn(|| lateness_of_sleep(&over));
        let child = command.spawn().context("loadline cannot be started");
        let ran = child.and_then(|child| ended(child, limit));
        over.store(true, Ordering::Relaxed);
        let late = sleeper.join().unwrap_or_default();
        ran.map(|ran| (ran, late))
    })
}

/// The 99th percentile of how late a thread wakes that sleeps to a time, again and again until it is over.
fn lateness_of_sleep(over: &AtomicBool) -> Option<Nanos> {
    let mut late = Histogram::new();
    let mut due = Instant::now();
    while !over.load(Ordering::Relaxed) {
        due += BARE_EVERY;
        thread::sleep(due.saturating_duration_since(Instant::now()));
        late.record(due.elapsed().into());
    }
    late.quantile(0.99)
}

/// The first core this process may use.
fn first_core() -> Result<CpuSet> {
    let allowed = sched_getaffinity(None)?;
    let mut set = CpuSet::new();
    set.set((0..CpuSet::MAX_CPU).find(|core| allowed.is_set(*core)).context("no core at all")?);
    Ok(set)
}

impl Experiment for Starved {
    type Sample = Vec<Treated>;
    const NAME: &'static str = "starved";
    const TITLE: &'static str = "A starved generator";
    const ABOUT: &'static str = "loadline on one core together with a busy loop that the scheduler prefers ten to one (niceness 10 against 0), with a promise\n(`--check 'p99 < 2ms'`) that the server keeps and starved figures break. Asked is that the run is INVALID and says why, that\nthe promise is not judged (exit code 4), and that no request is called the server's failure. Beside it the same load with room, and\na bare thread that only sleeps: where the machine itself wakes that late, a late send says nothing of loadline.";

    fn steps(_: &Lab) -> Vec<String> {
        LOADS.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    fn measure(lab: &Lab, step: usize) -> Result<Self::Sample> {
        if nice(0).context("the system does not tell the priority")? > 5 {
            bail!("this runs at so low a priority that it can starve nobody");
        }
        let loadline = Loadline::new(&lab.loadline)?;
        let server = Serving::start(&loadline)?;
        let mut seen = Vec::new();
        for _ in 0..lab.of(3, 1) {
            for starved in [true, false] {
                seen.push(Self::treat(&loadline, &server, step, starved, lab.of(4, 2))?);
            }
        }
        Ok(seen)
    }

    fn tell(seen: &[Self::Sample]) -> Section {
        let mut section = Section::default();
        let all = || seen.iter().flatten();
        let honest = share_of(all().filter(|it| it.starved).map(Treated::is_honest));
        let claim = "a generator that gets about a tenth of a core says INVALID, why, and judges nothing";
        section.proofs.push(Proof { target: "every time".to_owned(), ..Proof::of_share(claim, Band::at_least(1.0), honest) });
        let with_room = || all().filter(|it| !it.starved && it.load == LOADS[1].0);
        let doubted = share_of(with_room().filter(|it| it.had_a_steady_machine()).map(|it| it.standing == Standing::Invalid));
        let unsteady = with_room().filter(|it| !it.had_a_steady_machine()).count();
        let figure = match unsteady {
            0 => percent(doubted),
            _ => format!("{}; {unsteady} more not judged: the machine woke a bare thread late as well", percent(doubted)),
        };
        let held = if doubted.of == 0 { Held::Open } else { Held::when(doubted.hits == 0) };
        section.proofs.push(Proof {
            claim: "the same open load with room is not called INVALID".to_owned(),
            target: format!("never INVALID where a bare thread wakes within {} µs (p99)", BARE_LATE_MAX.0 / 1_000),
            figure,
            held,
        });
        let head = ["load", "starved", "core used", "waited for a core", "bare thread late (p99)", "standing", "exit code", "why"];
        let mut table = Table::new("By run.", &head);
        for it in all() {
            table.rows.push(vec![
                it.load.clone(),
                if it.starved { "yes" } else { "no" }.to_owned(),
                format!("{:.0} %", it.core_share * 100.0),
                format!("{:.0} %", it.waited_share * 100.0),
                it.bare_late.map_or_else(|| "–".to_owned(), |late| format!("{:.0} µs", late.0 as f64 / 1e3)),
                it.standing.to_string(),
                it.exit.to_string(),
                it.why.clone(),
            ]);
        }
        section.tables.push(table);
        section
    }
}
