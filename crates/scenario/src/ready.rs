//! A scenario that is about to be carried out with a plan: the setup, the load, the teardown.
//!
//! What is done once is a run of its own of a single user, by the same engine: a setup that was sent by other code would pass
//! where the load fails. It is not measured; if it fails there is nothing to load.

use std::sync::{Arc, Mutex, PoisonError};

use engine::{Messages, Prepared, RunError, Runner, SoFar, Stop, conclude};
use measure::{Ending, IntervalCounts, Leftovers, Position, SummaryBuilder, Tick};
use plan::work::{Item, Weights};
use plan::{DataEnd, Load, Part, Plan, PlanErrors, RowOrder, RowsFor, Target};
use template::{Data, Dealing, Exchange, Rows, Witness, too_few_rows, too_large_for_each_user};

use crate::behaviour::{Journeys, Place, WalkRecord};
use crate::compiled::{Compiled, compile};
use crate::file::Scenario;
use crate::series::Series;

/// A scenario, compiled for a plan.
pub struct Ready {
    plan: Plan,
    files: Vec<Arc<Data>>,
    runner: Runner,
    journeys: Compiled,
    setup: Option<Compiled>,
    teardown: Option<Compiled>,
    skips_teardown: bool,
}

/// A journey that was gone through once, with all that came of it.
#[derive(Debug, Default)]
pub struct Walk {
    /// Every request, and what it was part of: `setup`, `teardown`, or nothing of a journey.
    pub exchanges: Vec<(&'static str, Exchange)>,
    /// What failed first, in words.
    pub wrong: Option<String>,
}

impl Ready {
    /// Compiles a scenario. `files` are the plan's data files, opened, in its order.
    ///
    /// # Errors
    /// For every column, file and variable of the environment that is not there.
    pub fn new(plan: &Plan, scenario: &Scenario, files: &[Arc<Data>]) -> Result<Self, PlanErrors> {
        let mut errors = PlanErrors::default();
        let mut take = |compiled: Result<Compiled, PlanErrors>| match compiled {
            Ok(compiled) => Some(compiled),
            Err(mistakes) => {
                mistakes.0.into_iter().for_each(|mistake| errors.push(mistake));
                None
            }
        };
        let unfit = too_few_rows(plan, files).into_iter().chain(too_large_for_each_user(plan, files));
        let mut single = |name: &str, items: &[Item]| {
            if items.is_empty() { None } else { take(compile(scenario, plan, files, Some((name, items)))) }
        };
        let (setup, teardown) = (single("setup", &scenario.work.setup), single("teardown", &scenario.work.teardown));
        let compiled = take(compile(scenario, plan, files, None));
        unfit.for_each(|mistake| errors.push(mistake));
        match compiled {
            Some(journeys) if errors.is_empty() => {
                // What scripts share, they share with those of the setup.
                let shared = |part: Compiled| Compiled { common: journeys.common.clone(), ..part };
                let setup = setup.map(|part| Compiled { is_setup: true, ..shared(part) });
                let teardown = teardown.map(shared);
                let (files, skips_teardown) = (files.to_vec(), scenario.work.skips_teardown);
                Ok(Self { plan: plan.clone(), files, runner: Runner::threads(), journeys, setup, teardown, skips_teardown })
            }
            _ => Err(errors),
        }
    }

    /// The same with setup and teardown carried out elsewhere than on threads of this process, or not at every address.
    #[must_use]
    pub fn on(self, runner: &Runner) -> Self {
        Self { runner: runner.clone(), ..self }
    }

    /// The same without pauses: what is asked is how fast the server answers.
    #[must_use]
    pub fn hurried(mut self) -> Self {
        self.journeys.hurried = true;
        self
    }

    /// Every server that a step names besides the plan's, once each.
    #[must_use]
    pub fn elsewhere(&self) -> Vec<&Target> {
        let mut places: Vec<&Target> = Vec::new();
        for compiled in [Some(&self.journeys), self.setup.as_ref(), self.teardown.as_ref()].into_iter().flatten() {
            for place in compiled.steps.iter().filter_map(|request| request.elsewhere.as_ref()) {
                if !places.iter().any(|known| known.same_origin(place)) {
                    places.push(place);
                }
            }
        }
        places
    }

    /// Goes through the setup, one journey and the teardown, once and without pauses, and tells everything about it. `journey` is its
    /// place in the scenario.
    ///
    /// # Errors
    /// If it cannot be carried out; a step that fails is told in the walk.
    pub fn walk(mut self, journey: usize, names: &[String], stop: &Stop) -> Result<Walk, RunError> {
        let witness = Witness::default();
        for compiled in [Some(&mut self.journeys), self.setup.as_mut(), self.teardown.as_mut()].into_iter().flatten() {
            compiled.seen_by(&witness, names);
        }
        let weights: Vec<f64> = (0..self.journeys.journeys.len()).map(|place| if place == journey { 1.0 } else { 0.0 }).collect();
        if let Ok(only) = Weights::new(&weights) {
            self.journeys.weights = only;
        }
        let Self { plan, files, runner, mut journeys, setup, teardown, .. } = self;
        let mut walk = Walk::default();
        let mut inherited = Vec::new();
        let go = |part: &'static str, compiled: Compiled, stop: &Stop, walk: &mut Walk| {
            let passed = single(&plan, &files, &runner, compiled, stop)?;
            walk.exchanges.extend(witness.take().into_iter().map(|exchange| (part, exchange)));
            let stopped = (!passed.is_whole).then(|| "it did not come to its end".to_owned());
            walk.wrong = walk.wrong.take().or(passed.wrong).or(stopped);
            Ok(passed.variables)
        };
        if let Some(setup) = setup {
            inherited = go("setup", setup, stop, &mut walk)?;
        }
        let mut failed = None;
        if walk.wrong.is_none() {
            journeys.inherited.clone_from(&inherited);
            failed = go("", journeys, stop, &mut walk).err();
        }
        // What the setup made is cleared away, however the journey ended.
        if let Some(mut teardown) = teardown {
            teardown.inherited = inherited;
            go("teardown", teardown, &Stop::new(), &mut walk)?;
        }
        failed.map_or(Ok(walk), Err)
    }

    /// Carries a prepared plan out, from the setup to the teardown.
    ///
    /// # Errors
    /// If the setup fails; and if the run cannot go on, with what was measured until then.
    pub fn run(
        mut self,
        prepared: Prepared,
        watch: &mut dyn FnMut(&Tick, IntervalCounts),
        stop: &Stop,
    ) -> Result<SummaryBuilder, RunError> {
        let series = self.begin(stop)?;
        let mut measured = self.load(&series, prepared, watch, stop);
        let failed = series.end();
        if let Ok(run) = &mut measured {
            run.add_warnings(failed);
        }
        measured
    }

    /// Goes through the setup, for this load and others of the same scenario.
    ///
    /// # Errors
    /// If it fails.
    pub fn begin(&mut self, stop: &Stop) -> Result<Series, RunError> {
        let follow = self.plan.populations().iter().any(|population| population.after.is_some());
        let about_all = (follow || self.journeys.order.is_about_all_users()) && !self.journeys.each_place;
        if about_all && self.runner.sites_of(&self.plan)? > 1 {
            return Err(RunError::input(
                "the scenario has users wait for each other or take turns with all others, and they are in several processes",
                "send the load from one process, let those of each process do so by themselves (each_place: true in the scenario), or leave out rendezvous, critical_section, the turns of all users together, and after of populations",
            ));
        }
        let once = (self.setup.take(), self.teardown.take());
        let mut series = Series::begin(self.plan.clone(), self.files.clone(), self.runner.clone(), once, stop)?;
        series.skips_teardown = self.skips_teardown;
        Ok(series)
    }

    /// Carries a prepared plan out as one of several loads: neither setup nor teardown.
    ///
    /// # Errors
    /// If the run cannot go on, with what was measured until then.
    pub fn load(
        self,
        series: &Series,
        prepared: Prepared,
        watch: &mut dyn FnMut(&Tick, IntervalCounts),
        stop: &Stop,
    ) -> Result<SummaryBuilder, RunError> {
        let plan = prepared.plan().clone();
        let limited: Vec<(Arc<str>, Option<u64>)> =
            self.journeys.steps.iter().map(|request| (request.name.clone(), request.step.requests_max)).collect();
        let messages = self.start(series, prepared, plan.parts(), stop)?;
        let mut complete = |run: &mut SummaryBuilder, left: Leftovers| {
            let mut position = series.position.borrow_mut();
            let before = position.sent.clone();
            position.add(left.position);
            run.add_warnings(left_out(&limited, &before, &position.sent));
        };
        let measured = conclude(&plan, messages, &mut complete, watch);
        if measured.as_ref().is_ok_and(|run| matches!(run.ended.how, Ending::Interrupted | Ending::Aborted)) {
            series.was_ended.set(true);
        }
        measured
    }

    /// Starts these parts of a prepared plan as one of several loads, which goes on from where those before it stopped.
    ///
    /// # Errors
    /// If the system gives no threads.
    pub fn start(
        self,
        series: &Series,
        prepared: Prepared,
        parts: impl IntoIterator<Item = Part>,
        stop: &Stop,
    ) -> Result<Messages, RunError> {
        let Self { files, mut journeys, .. } = self;
        journeys.inherited.clone_from(&series.inherited);
        let position = series.position.borrow();
        let so_far = SoFar { position: position.clone(), variables: series.inherited.clone(), without_pauses: journeys.hurried };
        start(prepared.portable(so_far), &files, journeys, None, &position, parts, stop)
    }

    /// A series that others have begun elsewhere, taken up here for parts of one of its loads.
    #[must_use]
    pub fn take_up(mut self, so_far: SoFar) -> (Self, Series) {
        let SoFar { position, variables, without_pauses } = so_far;
        self.journeys.hurried = without_pauses;
        let series = Series::taken_up(self.plan.clone(), self.files.clone(), self.runner.clone(), (position, variables));
        (self, series)
    }
}

/// The steps that loads before this one, or this one, have sent as often as they may be: this load is unlike those before.
fn left_out<'a>(steps: &'a [(Arc<str>, Option<u64>)], before: &'a [u64], after: &'a [u64]) -> impl Iterator<Item = String> + 'a {
    steps.iter().enumerate().filter_map(|(place, (name, most))| {
        let most = (*most)?;
        let earlier = before.get(place).copied().unwrap_or(0);
        let used_up = after.get(place).is_some_and(|sent| *sent >= most);
        // Of a load that stands alone the report shows it.
        (used_up && earlier > 0).then(|| {
            format!("the step '{name}' had its {most} requests (maximum_requests) and was left out: this load is not like those before it")
        })
    })
}

/// One user's one journey.
pub(crate) fn single(plan: &Plan, files: &[Arc<Data>], runner: &Runner, compiled: Compiled, stop: &Stop) -> Result<WalkRecord, RunError> {
    let plan = plan.single_user();
    let passed = Arc::new(Mutex::new(WalkRecord::default()));
    let single = Some(passed.clone());
    let messages = start(runner.clone().here().prepare(&plan)?, files, compiled, single, &Position::default(), plan.parts(), stop)?;
    conclude(&plan, messages, &mut |_, _| (), &mut |_, _| ())?;
    let mut passed = passed.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(std::mem::take(&mut passed))
}

/// Starts journeys that go on from what loads before them have taken. `single`: how the one user comes of what is done once.
fn start(
    prepared: Prepared,
    files: &[Arc<Data>],
    mut compiled: Compiled,
    single: Option<Arc<Mutex<WalkRecord>>>,
    before: &Position,
    parts: impl IntoIterator<Item = Part>,
    stop: &Stop,
) -> Result<Messages, RunError> {
    let (position, parts) = (Arc::new(before.clone()), parts.into_iter().collect::<Vec<Part>>());
    let all = prepared.plan().parts();
    compiled.order.keeps_paces_for(&parts, &all);
    compiled.order.counts.keep_for(&parts, &all);
    let made = Workers::new((prepared.plan(), &parts), files, compiled, single, position.journeys);
    prepared.start_parts(move |part| made.journeys(part, &position), parts, stop)
}

/// What the journeys of each worker of a plan are made from.
pub(crate) struct Workers {
    compiled: Arc<Compiled>,
    single: Option<Arc<Mutex<WalkRecord>>>,
    files: Vec<(Arc<Data>, RowsFor, DataEnd)>,
    order: RowOrder,
    seed: u64,
    /// So many journeys were begun by the loads before this one.
    taken: u64,
    places: Vec<Place>,
    /// How many users each population has at most, and whether each is another one.
    users: Vec<(u64, bool)>,
}

impl Workers {
    /// Of the parts of a plan that are carried out here.
    pub(crate) fn new(
        (plan, here): (&Plan, &[Part]),
        files: &[Arc<Data>],
        compiled: Compiled,
        single: Option<Arc<Mutex<WalkRecord>>>,
        taken: u64,
    ) -> Self {
        let populations = (0..plan.populations().len().max(1) as u32).map(|place| plan.of_population(place));
        let variation = plan.variation();
        Self {
            places: Place::all(plan, here, &compiled),
            users: populations.map(|load| (load.connections_max().get().into(), matches!(load.load(), Load::Open { .. }))).collect(),
            compiled: Arc::new(compiled),
            single,
            files: files
                .iter()
                .enumerate()
                .map(|(place, data)| {
                    let rows_for = variation.files.get(place).map_or(RowsFor::AllUsers, |file| file.rows_for);
                    (data.clone(), rows_for, variation.end_of(place))
                })
                .collect(),
            order: variation.order,
            seed: plan.seed(),
            taken,
        }
    }

    /// The journeys of one worker.
    pub(crate) fn journeys(&self, part: Part, position: &Arc<Position>) -> Journeys {
        let (users, are_others) = self.users[part.population as usize];
        let place = self.places[part.of_run.index() as usize].clone();
        let asked = place.rows.iter().copied().chain(std::iter::repeat(None));
        let dealt = self.files.iter().zip(asked).map(|((data, rows_for, end), asked)| {
            // Users that do not come again take rows together.
            let rows_for = if are_others && *rows_for == RowsFor::EachUser { RowsFor::AllUsers } else { *rows_for };
            (data.clone(), Dealing { rows_for, end: *end, asked })
        });
        let rows = Rows::new(&dealt.collect::<Vec<_>>(), self.order, self.seed, part, users, self.taken);
        Journeys::new(self.compiled.clone(), self.single.clone(), rows, place, position.clone())
    }
}
