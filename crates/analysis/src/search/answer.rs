//! What a search found.

use serde::{Deserialize, Serialize};

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The highest rate proven by full-length trials below the lowest rate refuted.
    pub carries: Option<f64>,
    /// Where the capacity lies, at 95 %; docs/validation.md tells how often it did on servers of known capacity. `high` is missing when nothing failed.
    pub capacity: Capacity,
    /// What kept it from being more.
    pub limited_by: LimitedBy,
    /// The lowest rate that failed, and how.
    pub breaks_at: Option<Break>,
    /// Both bounds proven, and within the width asked for (RFC 9971: a regular result).
    pub regular: bool,
    /// How the rate found did over a long trial.
    pub soak: Option<Confirmation>,
    /// How a little less than it did straight after twice the load.
    pub from_above: Option<AfterOverload>,
    /// The rate after which the server did not recover.
    pub unrecovered_after: Option<f64>,
    /// A higher rate passed than one that failed.
    pub inversion: Option<Inversion>,
    /// The budget in seconds that would likely settle what is open.
    pub wants_s: Option<f64>,
    /// Spent, seconds.
    pub spent_s: f64,
}

/// An interval of rates, requests a second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Capacity {
    /// At least.
    pub low: f64,
    /// At most; `None` when no rate failed.
    pub high: Option<f64>,
}

/// What kept the answer from being higher.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "by", content = "promise")]
pub enum LimitedBy {
    /// The server missed this promise, as an index.
    Promise(usize),
    /// The generator could not send more.
    Generator,
    /// The cap on the rate was reached.
    RateMax,
    /// The budget was used up before a rate failed.
    Budget,
    /// Trial after trial was invalid.
    Invalid,
}

/// How a rate failed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Break {
    /// Requests a second.
    pub rate: f64,
    /// The promise missed first, as an index.
    pub promise: usize,
    /// Its value there.
    pub value: f64,
}

/// How a rate did in a trial that was to confirm it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Confirmation {
    /// Requests a second.
    pub rate: f64,
    /// How long.
    pub seconds: f64,
    /// The promise missed, as an index, and its value; `None` if all were kept.
    pub missed: Option<(usize, f64)>,
}

/// How a rate that is carried did straight after a load that is not.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AfterOverload {
    /// The load before, requests a second.
    pub overload: f64,
    /// Requests a second.
    pub rate: f64,
    /// How long.
    pub seconds: f64,
    /// The promise missed by more than chance explains, as an index, and its value; `None` if the overload left nothing behind.
    pub missed: Option<(usize, f64)>,
    /// Until when it was missed by far, in seconds after the overload; `None` if not by far, or not at all.
    pub until_s: Option<f64>,
}

/// A lower rate failed and a higher one passed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Inversion {
    /// The lower, which counts.
    pub failed: f64,
    /// The higher, which is not believed.
    pub passed: f64,
}
