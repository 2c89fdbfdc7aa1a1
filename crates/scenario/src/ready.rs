//! A scenario that is about to be carried out with a plan: the setup, the load, the teardown.
//!
//! What is done once is a run of its own of a single user, by the same engine: a setup that was sent by other code would pass
//! where the load fails. It is not measured; if it fails there is nothing to load.

use std::sync::{Arc, Mutex, PoisonError};

use engine::{Prepared, RunError, Stop};
use measure::{Counted, Summary, Tick};
use plan::{Load, Plan, PlanErrors};
use template::{Data, Rows};

use crate::compiled::{Compiled, compile};
use crate::model::{Item, Scenario};
use crate::program::{Coming, Farewells, Journeys, Passed};

/// A scenario, compiled for a plan.
pub struct Ready {
    plan: Plan,
    files: Vec<Arc<Data>>,
    journeys: Compiled,
    setup: Option<Compiled>,
    teardown: Option<Compiled>,
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
        let mut single = |name: &str, items: &[Item]| {
            if items.is_empty() { None } else { take(compile(scenario, plan, files, Some((name, items)))) }
        };
        let (setup, teardown) = (single("setup", &scenario.setup), single("teardown", &scenario.teardown));
        match take(compile(scenario, plan, files, None)) {
            Some(journeys) if errors.is_empty() => Ok(Self { plan: plan.clone(), files: files.to_vec(), journeys, setup, teardown }),
            _ => Err(errors),
        }
    }

    /// Carries a prepared plan out.
    ///
    /// # Errors
    /// If the setup fails; and if the run cannot go on, with what was measured until then.
    pub fn run(self, prepared: Prepared, watch: &mut dyn FnMut(&Tick, Counted), stop: &Stop) -> Result<Summary, RunError> {
        let Self { plan, files, mut journeys, setup, teardown } = self;
        if let Some(setup) = setup {
            let passed = single(&plan, &files, setup, stop)?;
            if let Some(why) = passed.wrong.or_else(|| (!passed.is_whole).then(|| "it was interrupted".to_owned())) {
                return Err(RunError::run(
                    format!("the setup of the scenario failed: {why}"),
                    "the load did not begin; mend the setup, or look at the server's log",
                ));
            }
            journeys.inherited = passed.variables;
        }
        let inherited = journeys.inherited.clone();
        let coming = if matches!(plan.load(), Load::Closed { .. }) { Coming::Closed } else { Coming::Open };
        let mut farewells = Farewells::default();
        let mut measured = carry_out(prepared, &plan, &files, journeys, (&coming, &mut farewells), watch, stop);
        if let (Some(why), Ok(summary)) = (said(&farewells), &mut measured) {
            summary.warnings.push(why);
        }
        if let Some(mut teardown) = teardown {
            teardown.inherited = inherited;
            // The load may have been ended by hand; what is to be cleaned up is cleaned up all the same.
            let failed = match single(&plan, &files, teardown, &Stop::new()) {
                Ok(passed) => passed.wrong,
                Err(error) => Some(error.message),
            };
            if let (Some(why), Ok(summary)) = (failed, &mut measured) {
                summary.warnings.push(format!("the teardown of the scenario failed: {why}"));
            }
        }
        measured
    }
}

/// One user's one journey.
fn single(plan: &Plan, files: &[Arc<Data>], compiled: Compiled, stop: &Stop) -> Result<Passed, RunError> {
    let plan = plan.single_user();
    let passed = Arc::new(Mutex::new(Passed::default()));
    let coming = Coming::Single(passed.clone());
    carry_out(engine::prepare(&plan)?, &plan, files, compiled, (&coming, &mut Farewells::default()), &mut |_, _| {}, stop)?;
    let mut passed = passed.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(std::mem::take(&mut passed))
}

/// How many users could not do what they do before they go, and why, if there are any.
fn said(farewells: &Farewells) -> Option<String> {
    let Farewells { users, failed, wrong } = farewells;
    let why = wrong.as_deref().unwrap_or("it failed");
    (*failed > 0).then(|| format!("the teardown of {failed} of {users} users could not be carried out; the first: {why}"))
}

fn carry_out(
    prepared: Prepared,
    plan: &Plan,
    files: &[Arc<Data>],
    compiled: Compiled,
    (coming, farewells): (&Coming, &mut Farewells),
    watch: &mut dyn FnMut(&Tick, Counted),
    stop: &Stop,
) -> Result<Summary, RunError> {
    let filling = plan.filling();
    let (order, seed, opened, coming) = ((filling.order, filling.end), plan.seed(), files.to_vec(), coming.clone());
    let wanders = compiled.wanders;
    let compiled = Arc::new(compiled);
    let rows = move |share| Rows::new(&opened, order, seed, share);
    let all = Arc::new(Mutex::new(Farewells::default()));
    let told = all.clone();
    let measured = if wanders {
        let program = move |share| Journeys::<true>::new(compiled.clone(), coming.clone(), rows(share), seed, share, told.clone());
        prepared.run_with(program, watch, stop)
    } else {
        let program = move |share| Journeys::<false>::new(compiled.clone(), coming.clone(), rows(share), seed, share, told.clone());
        prepared.run_with(program, watch, stop)
    };
    *farewells = std::mem::take(&mut *all.lock().unwrap_or_else(PoisonError::into_inner));
    measured.map(|mut summary| {
        summary.warnings.extend(files.iter().filter_map(|data| data.starved()));
        summary
    })
}
