//! What a scenario names outside itself: data files and their columns, bodies, variables of the environment.
//!
//! Looked for after everything else, what is missing would be told without its place, and only to those who have mended all other
//! mistakes. So whoever carries the scenario out says what is there while it is read. The reader itself opens nothing.

use plan::RowsAt;
use plan::template::{Value as Filled, nearest};

use super::Reading;
use crate::yaml::Spot;

/// What is there where a scenario is carried out.
pub trait Surroundings {
    /// The columns of a data file; `None` where it is not looked at.
    ///
    /// # Errors
    /// Every mistake in it: what is wrong, and what to do.
    fn columns(&self, rows: RowsAt<'_>) -> Result<Option<Vec<String>>, Vec<(String, String)>>;

    /// Why a file cannot be read; `None` if it can.
    fn unreadable(&self, path: &str) -> Option<String>;

    /// Whether the environment has this variable.
    fn is_set(&self, variable: &str) -> bool;
}

impl Reading<'_> {
    /// Where a data file is and what its columns are; its mistakes are told where it is named.
    pub(super) fn columns_of(&mut self, spot: Spot, rows: RowsAt<'_>) -> Option<(String, Vec<String>)> {
        match self.surroundings?.columns(rows) {
            Ok(columns) => columns.map(|columns| (rows.path.to_owned(), columns)),
            Err(mistakes) => {
                mistakes.into_iter().for_each(|(message, help)| self.wrong(spot, message, help));
                None
            }
        }
    }

    /// Complains of a file that is named here and cannot be read.
    pub(super) fn look_for(&mut self, spot: Spot, path: &str) {
        if let Some(why) = self.surroundings.and_then(|surroundings| surroundings.unreadable(path)) {
            self.wrong(spot, format!("the file '{path}' cannot be read: {why}"), "check the path, which begins where the scenario is");
        }
    }

    /// Complains of what a value of a template names that is not there; `spot` says where a part of the template stands.
    pub(super) fn look_up(&mut self, value: &Filled, spot: &dyn Fn(&Self, &str) -> Spot) {
        let Some(surroundings) = self.surroundings else { return };
        match value {
            Filled::Column { file, column } => {
                let number = self.files.iter().position(|known| known == file);
                let Some((path, columns)) = number.and_then(|number| self.columns.get(number)).and_then(Option::as_ref) else { return };
                if columns.contains(column) {
                    return;
                }
                let help = match nearest(column, columns.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean '{near}'?"),
                    None => format!("it has {}", columns.join(", ")),
                };
                let message = format!("the data file {path} has no column '{}'", column.escape_debug());
                self.wrong(spot(self, column), message, help);
            }
            Filled::Env(name) if !surroundings.is_set(name) && self.unset.insert(name.clone()) => {
                let help = format!("set it, as in {name}=… loadline …");
                self.wrong(spot(self, name), format!("the variable {name} is not in the environment"), help);
            }
            Filled::File(path, _) => {
                if let Some(why) = surroundings.unreadable(path) {
                    let help = "check the path, which begins in the current directory";
                    self.wrong(spot(self, path), format!("the file '{path}' cannot be read: {why}"), help);
                }
            }
            Filled::Weighted { path, .. } => {
                let beside = self.beside(path);
                self.look_for(spot(self, path), &beside);
            }
            _ => {}
        }
    }
}
