//! Rows of data files as users take them: one with each journey, or where the journey asks for one.

use engine::BehaviourError;
use plan::PlanError;
use plan::setting::DATA_FILE;
use template::RowOutcome;

use crate::behaviour::Journeys;
use crate::compiled::{Compiling, JourneyProgram, Op};
use crate::file::Scenario;
use crate::user::User;

impl Journeys {
    /// Takes the next row of a file; `false` if there is none, and the journey is over.
    pub(crate) fn takes_row(&self, user: &mut User, file: usize) -> Result<bool, BehaviourError> {
        let taken = self.rows.borrow_mut().next(file, user.number, &mut user.rows);
        self.has_rows(taken, user)
    }

    /// Whether a user has got its rows; else it is leaving, or the load ends.
    pub(crate) fn has_rows(&self, taken: RowOutcome, user: &mut User) -> Result<bool, BehaviourError> {
        match taken {
            RowOutcome::Rows => return Ok(true),
            RowOutcome::UserOver => {
                self.lacks_row.set(true);
                user.leaves();
            }
            RowOutcome::Over => self.ends_without_rows(),
            RowOutcome::RanOut(path, count) => {
                return Err(BehaviourError::new(
                    format!("the data file {path} has run out after {count} rows"),
                    "give it more rows, or data_end: wrap, or data_end: stop",
                ));
            }
            RowOutcome::Failed(message) => return Err(BehaviourError::new(message, "mend what the message names")),
        }
        Ok(false)
    }

    /// There are no rows for anybody.
    #[cold]
    pub(crate) fn ends_without_rows(&self) {
        self.has_run_out.set(true);
        self.stopped.set(true);
    }
}

/// Begun so often, a user begins no more journeys.
const LEAVING: u64 = u64::MAX;

impl User {
    /// It begins no more journeys.
    pub(crate) fn leaves(&mut self) {
        self.begun = LEAVING;
    }

    /// Whether it begins no more journeys.
    pub(crate) fn is_leaving(&self) -> bool {
        self.begun == LEAVING
    }
}

impl Compiling<'_> {
    /// The instruction that takes the next row of a file.
    pub(crate) fn next_row(&mut self, name: &str) -> Option<Op> {
        let place = self.scenario.files.iter().position(|file| file == name);
        if place.is_none() {
            let message = format!("the scenario takes rows of the data file '{name}', which is not given");
            self.errors.push(PlanError::new(DATA_FILE, message, format!("give it with {DATA_FILE:#} {name}=FILE")));
        }
        place.map(Op::NextRow)
    }
}

/// Of each data file the journeys that ask for its rows; `None` where nothing asks, and each journey has one.
pub(crate) fn asked_rows(scenario: &Scenario, journeys: &[JourneyProgram]) -> Vec<Option<Vec<u32>>> {
    let asks = |place: usize, journey: &JourneyProgram| journey.ops.iter().any(|op| matches!(op, Op::NextRow(file) if *file == place));
    let asking = |place: usize| (0..).zip(journeys).filter(|(_, journey)| asks(place, journey)).map(|(number, _)| number).collect();
    let files = scenario.files.iter().enumerate();
    files.map(|(place, name)| scenario.work.asks_for_rows(name).then(|| asking(place))).collect()
}
