//! One trial of a search: what it was for and what it showed.

use serde::{Deserialize, Serialize};

use super::Promise;

/// What a trial is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Find the first rate that fails, doubling.
    Ramp,
    /// Halve the gap, with short trials.
    Narrow,
    /// Classify a load, at full length.
    Prove,
    /// Show that the rate found lasts.
    Soak,
    /// Push the server beyond what it carries; no rest follows.
    Overload,
    /// Try a little less than the rate found, straight after the overload.
    FromAbove,
}

impl Purpose {
    /// In a word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ramp => "ramp",
            Self::Narrow => "narrow",
            Self::Prove => "proof",
            Self::Soak => "soak",
            Self::Overload => "overload",
            Self::FromAbove => "from above",
        }
    }

    /// How many times the bad requests it may have in all end a trial early; `None` where it is to be seen to its end.
    #[must_use]
    pub const fn patience(self) -> Option<f64> {
        match self {
            Self::Ramp | Self::Narrow | Self::Prove => Some(1.0),
            // One bad moment is to be told from a rate that does not last.
            Self::Soak => Some(SOAK_PATIENCE),
            Self::Overload | Self::FromAbove => None,
        }
    }
}

/// A soak that has missed its promise three times over is lost, whatever its parts say.
const SOAK_PATIENCE: f64 = 3.0;

/// What a trial showed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialResult {
    /// Measured, without draining; less than asked for after an early stop.
    pub seconds: f64,
    /// Gone by on the wall, draining included: this is what the budget pays.
    pub elapsed_s: f64,
    /// Requests that fell due.
    pub due: u64,
    /// For each promise, in the order of the settings.
    pub seen: Vec<PromiseFigure>,
    /// Whether it may be believed.
    pub standing: Standing,
    /// Decided before its time by the caller's binomial rule: counts as if it had lasted.
    pub early: Option<Early>,
}

impl TrialResult {
    /// How many requests a promise, by its place, is about.
    #[must_use]
    pub fn of(&self, promise: usize) -> u64 {
        self.seen[promise].of.unwrap_or(self.due)
    }
}

/// One promise in one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PromiseFigure {
    /// Failed, late against this promise, or unsent.
    pub bad: u64,
    /// How many requests it is about; `None`: all that fell due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<u64>,
    /// The measured value: the percentile in seconds, or the share.
    pub value: f64,
    /// Due and bad requests of stretches of equal length, for instance each second; may be empty.
    pub stretches: Vec<(u64, u64)>,
}

/// Whether a trial may be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It counts.
    Valid,
    /// It does not count, and higher rates would not either: the generator could not send more.
    GeneratorLimited,
    /// It does not count, for a passing reason.
    Invalid,
}

/// An early decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Early {
    /// The rest could not have broken a promise.
    Pass,
    /// The rest could not have saved it.
    Fail,
}

/// A trial as it was asked for and as it went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Requests a second.
    pub rate: f64,
    /// Asked for, seconds.
    pub seconds: f64,
    /// What it was for.
    pub purpose: Purpose,
    /// What it showed.
    pub result: TrialResult,
    /// The first promise it missed, as an index; `None` if it kept them all. Early decisions are heeded.
    pub missed: Option<usize>,
}

impl Trial {
    /// Whether it says something about the server.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.result.standing == Standing::Valid
    }

    /// Seconds it counts for in a classification.
    pub(super) fn weight(&self) -> f64 {
        if self.result.early.is_some() { self.seconds } else { self.result.seconds }
    }

    /// Seconds in which it kept the promises, and seconds in which it did not, when parts of `part_s` are judged one by one.
    /// What an early end left out counts as missed; without finer counts the trial is one part.
    pub(super) fn parts(&self, promises: &[Promise], part_s: f64) -> (f64, f64) {
        let stretches = self.result.seen.iter().map(|it| it.stretches.len()).min().unwrap_or(0);
        let parts = (self.result.seconds / part_s * 1.001) as usize;
        if parts < 2 || stretches < parts || self.result.early == Some(Early::Pass) {
            return if self.missed.is_some() { (0.0, self.weight()) } else { (self.weight(), 0.0) };
        }
        let kept = |part: usize| {
            let range = part * stretches / parts..(part + 1) * stretches / parts;
            promises.iter().zip(&self.result.seen).all(|(promise, seen)| {
                let (due, bad) = seen.stretches[range.clone()].iter().fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
                bad as f64 <= promise.bad_share_max * due as f64
            })
        };
        let low = (0..parts).filter(|&part| kept(part)).count() as f64 * self.result.seconds / parts as f64;
        (low, self.weight() - low)
    }

    /// Whether it belongs to its rate alone: what follows an overload shows the overload too.
    pub(super) fn shows_its_rate(&self) -> bool {
        self.counts() && !matches!(self.purpose, Purpose::Overload | Purpose::FromAbove)
    }
}

/// A pause that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Pause {
    /// How long it took.
    pub seconds: f64,
    /// Whether the probes came back to normal.
    pub recovered: bool,
}
