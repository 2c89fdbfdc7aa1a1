//! Where the loads of an experiment are carried out, and how its time passes.

use std::ops::ControlFlow;

use analysis::Level;
use analysis::gate::AbortRule;
use measure::{Summary, Tick};
use plan::{Draft, Nanos, Plan, PlanErrors};
use trial::RunError;

/// A place that carries loads out one after the other.
pub trait Bench {
    /// Carries a load out. `judge` looks at each interval, and `Break` ends the load; what is under way is waited for.
    ///
    /// # Errors
    /// If it cannot be carried out, or not to its end; with what was measured until then.
    fn measure(&mut self, load: &Load<'_>, judge: Judge<'_>) -> Result<Measurement, RunError>;

    /// Lets so much time pass, unless the user wants to end.
    fn rest(&mut self, span: Nanos);

    /// The time that has passed on this bench.
    fn now(&self) -> Nanos;

    /// Whether the user wants the experiment to end.
    fn is_interrupted(&self) -> bool;

    /// Why there is nothing left to send, if so.
    fn has_run_out(&self) -> Option<&'static str> {
        None
    }
}

/// Looks at the intervals of a load, and may end it.
pub type Judge<'a> = &'a mut dyn FnMut(&Tick) -> ControlFlow<()>;

/// Makes the plan of a load from its settings.
pub type Decide<'a> = &'a dyn Fn(Draft) -> Result<Plan, PlanErrors>;

/// One load of an experiment.
#[derive(Debug)]
pub struct Load<'a> {
    /// What is sent.
    pub plan: &'a Plan,
    /// What it is called while it goes on.
    pub title: String,
    /// What it is for.
    pub role: Role,
}

/// What a load is for.
#[derive(Debug, Clone, PartialEq)]
pub enum Role {
    /// The measurement of a level, the k-th from 1.
    Level(Level, u32),
    /// Another measurement.
    Trial,
    /// A few requests one by one, which show how the server is: no part of the result.
    Probe,
    /// A measurement beside the others, with profiles of the server. The names of their files begin so.
    Profile(String),
}

/// A load that was carried out.
#[derive(Debug)]
pub struct Measurement {
    /// Its run.
    pub run: Summary,
    /// The condition of the user that ended it, if one came true.
    pub aborted_by: Option<AbortRule>,
}

/// Lets every load go on to its end.
pub(crate) fn to_its_end(_: &Tick) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
