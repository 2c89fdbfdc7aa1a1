//! Who looks on while a command carries a load out.
//!
//! Every command that measures says of each of them whether it looks on and how: the fields have no usual values, so that nobody is
//! forgotten by a command that is written later.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::rc::Rc;

use analysis::server_side::Now;
use engine::Stop;
use experiment::Judge;
use export::Exports;
use measure::{Ending, IntervalCounts, RowsSoFar, Summary, SummaryBuilder, Tick};
use plan::Plan;
use report::page;
use serve::Live;
use trial::{Observer, RunError};

use crate::calibration::note_ceiling;
use crate::keeping::RunSaver;
use crate::memory;
use crate::profiling::ProfilingSession;
use crate::promises::Guard;
use crate::screen::{Progress, Screen};
use crate::server_monitor::ServerMonitor;

/// All that may look on, each with what it calls the load.
pub struct Observers<'a> {
    /// The terminal, and the page of `--web`.
    pub screen: Option<(&'a Screen, String)>,
    /// The page of a served test, and what its load is called there.
    pub live: Option<(&'a Live, String)>,
    /// The server's side.
    pub server: Option<ServerMonitor>,
    /// Profiles of the server; how the names of their files begin.
    pub profiles: Option<(ProfilingSession<'a>, String)>,
    /// The history's journal.
    pub journal: Option<(&'a RunSaver, String)>,
    /// Other systems.
    pub exports: Option<(&'a Exports, String)>,
    /// Conditions of the user to give it up.
    pub guard: Option<&'a mut Guard>,
    /// The command's own, such as its reason to end it.
    pub own: Vec<&'a mut dyn Observer>,
}

impl Observers<'_> {
    /// Carries a load out before them. What this machine could have done in its place is noted in the run.
    ///
    /// # Errors
    /// Those of `load`, with what was measured until then.
    pub fn carry_out(
        self,
        plan: &Plan,
        stop: &Stop,
        load: impl FnOnce(&mut dyn FnMut(&Tick, IntervalCounts), &Stop) -> Result<SummaryBuilder, engine::RunError>,
    ) -> Result<Summary, RunError> {
        let now: Rc<Cell<Option<Now>>> = Rc::default();
        let mut server = self.server.map(|watch| ServerSide { watch: Some(watch), profiles: self.profiles, now: now.clone() });
        let mut display = self.screen.map(|(screen, what)| Display { screen, what, progress: None, now: now.clone() });
        let mut live = self.live.map(|(live, what)| LivePage { live, what, rows: RowsSoFar::default(), now });
        let mut export = self.exports.map(|(exports, what)| Export { exports, what });
        let mut journal = self.journal.map(|(keeper, what)| Journal { keeper, what });
        let (mut guard, mut own) = (self.guard, self.own);
        let mut observers: Vec<&mut dyn Observer> = Vec::new();
        // The server's side first: the display shows what is seen of it. The conditions last: an interval that ends a load is seen by all.
        observers.extend(server.as_mut().map(|it| it as &mut dyn Observer));
        observers.extend(display.as_mut().map(|it| it as &mut dyn Observer));
        observers.extend(live.as_mut().map(|it| it as &mut dyn Observer));
        observers.extend(export.as_mut().map(|it| it as &mut dyn Observer));
        observers.extend(journal.as_mut().map(|it| it as &mut dyn Observer));
        observers.extend(guard.as_mut().map(|it| *it as &mut dyn Observer));
        observers.extend(own.iter_mut().map(|it| &mut **it as &mut dyn Observer));
        let mut ceiling = Ceiling;
        observers.push(&mut ceiling);
        memory::make_room();
        trial::carry_out(plan, &mut observers, stop, load)
    }
}

/// A monitor of the server, and profiles of it.
struct ServerSide<'a> {
    /// Gone when the load is over.
    watch: Option<ServerMonitor>,
    profiles: Option<(ProfilingSession<'a>, String)>,
    now: Rc<Cell<Option<Now>>>,
}

impl Observer for ServerSide<'_> {
    fn interval(&mut self, tick: &Tick, _counted: &IntervalCounts) -> ControlFlow<()> {
        if let Some(watch) = &mut self.watch {
            self.now.set(watch.now());
            watch.monitor.tick(tick);
        }
        ControlFlow::Continue(())
    }

    fn end(&mut self, run: &mut SummaryBuilder) {
        let Some(watch) = self.watch.take() else { return };
        let began = watch.monitor.origin();
        watch.close(run);
        if let Some((probing, name)) = self.profiles.take() {
            probing.close(began, &name, run);
        }
    }
}

struct Display<'a> {
    screen: &'a Screen,
    what: String,
    progress: Option<Progress>,
    now: Rc<Cell<Option<Now>>>,
}

impl Observer for Display<'_> {
    fn begin(&mut self, plan: &Plan) {
        self.progress = Some(self.screen.follow(plan, &self.what));
    }

    fn interval(&mut self, tick: &Tick, counted: &IntervalCounts) -> ControlFlow<()> {
        self.screen.server(|| self.now.get());
        if let Some(progress) = &mut self.progress {
            progress.tick(tick);
            progress.counts(counted);
        }
        ControlFlow::Continue(())
    }
}

struct LivePage<'a> {
    live: &'a Live,
    what: String,
    rows: RowsSoFar,
    now: Rc<Cell<Option<Now>>>,
}

impl Observer for LivePage<'_> {
    fn begin(&mut self, plan: &Plan) {
        self.rows = RowsSoFar::default();
        self.live.load(&report::visible(&self.what), page::begun(plan).json());
    }

    fn interval(&mut self, tick: &Tick, counted: &IntervalCounts) -> ControlFlow<()> {
        self.live.tick(&page::tick(tick, self.now.get().as_ref()));
        self.rows.add(&counted.counts.tally);
        page::rows_so_far(&self.rows).iter().for_each(|tables| self.live.rows(tables));
        ControlFlow::Continue(())
    }
}

struct Export<'a> {
    exports: &'a Exports,
    what: String,
}

impl Observer for Export<'_> {
    fn begin(&mut self, plan: &Plan) {
        self.exports.load(plan, &self.what);
    }

    fn interval(&mut self, tick: &Tick, counted: &IntervalCounts) -> ControlFlow<()> {
        self.exports.second(tick, counted);
        ControlFlow::Continue(())
    }
}

struct Journal<'a> {
    keeper: &'a RunSaver,
    what: String,
}

impl Observer for Journal<'_> {
    fn begin(&mut self, plan: &Plan) {
        self.keeper.load(plan, self.what.clone());
    }

    fn interval(&mut self, _tick: &Tick, counted: &IntervalCounts) -> ControlFlow<()> {
        self.keeper.second(counted);
        ControlFlow::Continue(())
    }
}

impl Observer for Guard {
    fn interval(&mut self, tick: &Tick, _counted: &IntervalCounts) -> ControlFlow<()> {
        if self.tick(tick) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn end(&mut self, run: &mut SummaryBuilder) {
        if self.came_true().is_some() && run.ended.how != Ending::CutShort {
            run.set_ending(Ending::Aborted);
        }
    }
}

/// Ends a load by looking at its intervals.
pub struct Judging<'a>(pub Judge<'a>);

impl Observer for Judging<'_> {
    fn interval(&mut self, tick: &Tick, _counted: &IntervalCounts) -> ControlFlow<()> {
        (self.0)(tick)
    }
}

/// What this machine could have done, where that was measured before.
struct Ceiling;

impl Observer for Ceiling {
    fn end(&mut self, run: &mut SummaryBuilder) {
        note_ceiling(run);
    }
}
