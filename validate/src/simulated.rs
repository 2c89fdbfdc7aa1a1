//! Claims whose truth is drawn from a seed: intervals, comparisons, searches, curves.

mod comparisons;
mod curves;
mod intervals;
mod searches;

pub use comparisons::{Compared, FalseAlarms, Power, Seen};
pub use curves::{CurveSeen, Curves};
pub use intervals::{Covered, Intervals};
pub use searches::{Searches, Simulated};
