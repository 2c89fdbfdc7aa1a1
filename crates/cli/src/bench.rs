//! The bench of a command: where the loads of an experiment are carried out, and who looks on.
//!
//! Which of the observers look on follows from what a load is for, and is said here once for sweeps, searches, comparisons and the
//! calibration alike.

use std::time::{Duration, Instant};

use engine::{Stop, Urgency};
use experiment::{Bench, Judge, Load, Measurement, Role};
use export::Exports;
use plan::Nanos;
use serve::Live;
use trial::RunError;

use crate::keeping::RunSaver;
use crate::observers::{Judging, Observers};
use crate::profiling::Profilers;
use crate::promises::Guard;
use crate::saved;
use crate::screen::Screen;
use crate::server_monitor::ServerMonitors;
use crate::workload::Series;

/// A real server, watched.
pub struct ServerBench<'a> {
    /// What the loads have in common.
    pub series: Series,
    /// The terminal, if one is written to.
    pub screen: Option<&'a Screen>,
    /// The page of a served test.
    pub live: Option<&'a Live>,
    /// The history's journal.
    pub keeper: &'a RunSaver,
    /// Other systems.
    pub exports: &'a Exports,
    /// What of the server's side is watched.
    pub eyes: &'a ServerMonitors,
    /// Which profiles are taken, where a load is for that.
    pub probes: &'a Profilers,
    /// Conditions of the user to end the experiment on, afresh for each load.
    pub guard: &'a Guard,
    /// Raised when the user wants to end.
    pub stop: &'a Stop,
    /// When the bench was set up.
    pub began: Instant,
}

/// Who looks on beside a screen or a page.
pub struct Onlookers {
    /// The history's journal.
    pub keeper: RunSaver,
    /// Other systems.
    pub exports: Exports,
    /// What of the server's side is watched.
    pub eyes: ServerMonitors,
    /// Which profiles are taken.
    pub probes: Profilers,
    /// Conditions of the user.
    pub guard: Guard,
}

impl Onlookers {
    /// None: what is measured is no run of a server that anybody is to hear of.
    pub fn nobody() -> Self {
        Self {
            keeper: RunSaver::NOTHING,
            exports: Exports::default(),
            eyes: ServerMonitors::closed(),
            probes: Profilers::none(),
            guard: Guard::NONE,
        }
    }

    /// A bench before them, and this screen or page.
    pub fn bench<'a>(&'a self, series: Series, (screen, live): (Option<&'a Screen>, Option<&'a Live>), stop: &'a Stop) -> ServerBench<'a> {
        let Self { keeper, exports, eyes, probes, guard } = self;
        ServerBench { series, screen, live, keeper, exports, eyes, probes, guard, stop, began: Instant::now() }
    }
}

impl Bench for ServerBench<'_> {
    fn measure(&mut self, load: &Load<'_>, judge: Judge<'_>) -> Result<Measurement, RunError> {
        let Load { plan, title, role } = load;
        // Probes are no part of the result: nobody but the screen and the journal hears of them.
        let is_part = *role != Role::Probe;
        let (kept_as, exported_as) = match role {
            Role::Level(level, repetition) => (saved::level(*level, *repetition), format!("{level}, round {repetition}")),
            Role::Trial | Role::Probe | Role::Profile(_) => (title.clone(), title.clone()),
        };
        let mut guard = match role {
            Role::Level(..) | Role::Trial => self.guard.clone(),
            Role::Probe | Role::Profile(_) => Guard::NONE,
        };
        let profiles = match role {
            Role::Profile(files) => Some((self.probes.open(plan), files.clone())),
            Role::Level(..) | Role::Trial | Role::Probe => None,
        };
        let run = Observers {
            screen: self.screen.map(|screen| (screen, title.clone())),
            live: self.live.map(|live| (live, title.clone())),
            server: is_part.then(|| self.eyes.open_again(plan)),
            profiles,
            journal: Some((self.keeper, kept_as)),
            exports: is_part.then_some((self.exports, exported_as)),
            guard: Some(&mut guard),
            own: vec![&mut Judging(judge)],
        }
        .carry_out(plan, self.stop, |watch, stop| match role {
            Role::Probe => self.series.hurry(plan, watch, stop),
            Role::Level(..) | Role::Trial | Role::Profile(_) => self.series.run(plan, watch, stop),
        })?;
        Ok(Measurement { run, aborted_by: guard.came_true() })
    }

    fn rest(&mut self, span: Nanos) {
        let until = Instant::now() + Duration::from(span);
        while self.stop.urgency() == Urgency::None {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            std::thread::sleep(left.min(Duration::from_millis(50)));
        }
    }

    fn now(&self) -> Nanos {
        Nanos(u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    fn is_interrupted(&self) -> bool {
        self.stop.urgency() > Urgency::None
    }

    fn has_run_out(&self) -> Option<&'static str> {
        self.series.has_run_out()
    }
}
