//! A comparison read back from its file. What was concluded is concluded anew, as for every result.

use analysis::compare::{Calibration, Margins};
use serde::Deserialize;

use super::{COMPARE_SCHEMA, Compared, Pair, Subject};
use crate::json::{Label, ReadError};
use crate::visible;

/// What cannot be found anew.
#[derive(Deserialize)]
struct Written {
    name: String,
    a: Subject,
    b: Subject,
    pairs_planned: u32,
    margins: Margins,
    calibration: Option<Calibration>,
    differences: Vec<String>,
    stopped: Option<String>,
    pairs: Vec<Pair>,
}

/// Reads the JSON of a comparison, and judges it.
///
/// # Errors
/// If the text is not JSON, is of another version, or lacks something; with the place where that shows.
pub fn read(text: &str) -> Result<Compared, ReadError> {
    let label: Label = serde_json::from_str(text)?;
    match label.schema.as_deref() {
        Some(COMPARE_SCHEMA) => {}
        Some(other) => {
            return Err(ReadError::Schema(format!("it is written as '{}', and this loadline reads '{COMPARE_SCHEMA}'", visible(other))));
        }
        None => return Err(ReadError::Schema("it is not a comparison of loadline".to_owned())),
    }
    let Written { name, a, b, pairs_planned, margins, calibration, differences, stopped, pairs } = serde_json::from_str(text)?;
    // The margins are as wide already as what was known of the target made them.
    let mut compared = Compared { calibration, differences, stopped, pairs, ..Compared::new(name, a, b, pairs_planned, margins, None) };
    compared.judge().map_err(ReadError::Schema)?;
    Ok(compared)
}
