//! Several loads of one scenario: what is done once for all of them, and what goes on from one to the next.
//!
//! A sweep of twelve levels that began each with the first row of its users, and with `{{sequence}}` at nought, would sign up the same
//! people twelve times, and the server would refuse all but the first. So rows and numbers go on where the load before left off, and
//! a step that may be sent a thousand times is sent a thousand times by all of them together. What the setup prepared is prepared
//! once: what it left is every level's, and the teardown comes after the last. To do both for each level was the alternative; then a setup that
//! takes a minute takes twelve, and one that cannot be repeated spoils every level but the first.
//!
//! Invariant: while a load goes on nothing here is touched; a worker takes what it needs when it begins, and leaves behind how far it
//! came.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use engine::{RunError, Runner, Stop};
use measure::Position;
use plan::{Plan, Spelling};
use template::Data;

use crate::compiled::Compiled;
use crate::ready::single;

/// Several loads of one scenario, from its setup to its teardown.
pub struct Series {
    plan: Plan,
    files: Vec<Arc<Data>>,
    runner: Runner,
    teardown: Option<Compiled>,
    /// Whether that is left out where a load was ended before its end.
    pub(crate) skips_teardown: bool,
    /// Whether one was.
    pub(crate) was_ended: Cell<bool>,
    /// What the setup left.
    pub(crate) inherited: Vec<(usize, Vec<u8>)>,
    pub(crate) position: RefCell<Position>,
}

impl Series {
    /// Goes through the setup.
    ///
    /// # Errors
    /// If it fails: then there is nothing to load.
    pub(crate) fn begin(
        plan: Plan,
        files: Vec<Arc<Data>>,
        runner: Runner,
        (setup, teardown): (Option<Compiled>, Option<Compiled>),
        stop: &Stop,
    ) -> Result<Self, RunError> {
        let mut series = Self {
            plan,
            files,
            runner,
            teardown,
            skips_teardown: false,
            was_ended: Cell::new(false),
            inherited: Vec::new(),
            position: RefCell::default(),
        };
        if let Some(setup) = setup {
            let passed = single(&series.plan, &series.files, &series.runner, setup, stop)?;
            if let Some(why) = passed.wrong.or_else(|| (!passed.is_whole).then(|| "it was interrupted".to_owned())) {
                return Err(RunError::run(
                    format!("the setup of the scenario failed: {why}"),
                    "the load did not begin; mend the setup, or look at the server's log",
                ));
            }
            if let Some(why) = passed.ended {
                return Err(RunError::run(
                    format!("the setup of the scenario ended the load: {why}"),
                    "the load did not begin; leave that out of the setup if it is to begin",
                ));
            }
            series.inherited = passed.variables;
        }
        Ok(series)
    }

    /// One that was begun elsewhere: what was used, and what the setup left.
    pub(crate) fn taken_up(
        plan: Plan,
        files: Vec<Arc<Data>>,
        runner: Runner,
        (position, inherited): (Position, Vec<(usize, Vec<u8>)>),
    ) -> Self {
        Self {
            plan,
            files,
            runner,
            teardown: None,
            skips_teardown: false,
            was_ended: Cell::new(false),
            inherited,
            position: RefCell::new(position),
        }
    }

    /// Whether a data file that ends the load has come to its end: nothing more can be sent.
    #[must_use]
    pub fn has_run_out(&self) -> bool {
        self.position.borrow().has_run_out
    }

    /// Goes through the teardown, whatever ended the loads, unless it is not wanted then; what failed of it, in words.
    #[must_use]
    pub fn end(self) -> Option<String> {
        let mut teardown = self.teardown.filter(|_| !(self.skips_teardown && self.was_ended.get()))?;
        teardown.inherited = self.inherited;
        // The load may have been ended by hand; what is to be cleaned up is cleaned up all the same.
        let failed = match single(&self.plan, &self.files, &self.runner, teardown, &Stop::new()) {
            Ok(passed) => passed.wrong,
            Err(error) => Some(error.message.spelt(Spelling::KEYS)),
        };
        failed.map(|why| format!("the teardown of the scenario failed: {why}"))
    }
}
