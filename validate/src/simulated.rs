//! Claims whose truth is drawn from a seed: intervals, comparisons, searches, curves.

mod comparisons;
mod curves;
mod intervals;
mod searches;

pub(crate) use comparisons::no_margins;
pub use comparisons::{Alarms, ChangesHeld, Compared, Comparisons, Power};
pub use curves::{CurveSeen, Curves};
pub use intervals::{Covered, Intervals};
pub(crate) use searches::MISS_MAX;
pub use searches::{Searches, Simulated};
