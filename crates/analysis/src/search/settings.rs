//! What a search is asked for: the promises, and how its time is spent.
//!
//! Lengths that do not fit the budget, or the promises, give answers that only look like answers; so they are refused
//! before anything is sent, with what would do.

use serde::{Deserialize, Serialize};

/// One thing the server is to keep, in the terms of a trial: at most this share of requests may be bad.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Promise {
    /// As the user wrote it: `p99 < 50ms`.
    pub text: String,
    /// What is measured: `p99`, `failed`.
    pub name: String,
    /// How its value is printed.
    pub unit: Unit,
    /// The share of bad requests that still keeps it, from 0 to below 1: 0.01 for a 99th percentile.
    pub bad_share_max: f64,
    /// How long a request may take, in seconds; `None` where only success is promised.
    #[serde(default)]
    pub limit_s: Option<f64>,
}

/// How the value of a promise is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// A share of all requests, from 0 to 1.
    Share,
}

/// How to search. Rates are requests a second, lengths are seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// All of them are to be kept; the first one missed is what limits.
    pub promises: Vec<Promise>,
    /// Where the ramp begins.
    pub first_rate: f64,
    /// Never more than this: the user's cap, or 70 % of what the generator is known to reach.
    pub rate_max: f64,
    /// Which of the two it is.
    pub rate_max_by: Cap,
    /// The two bounds of a regular answer differ by at most this share.
    pub width: f64,
    /// The share of time at a load in which the promise may be broken (RFC 9971 recommends 0.5), below 1.
    pub exceed_ratio: f64,
    /// A trial of the ramp.
    pub ramp_s: f64,
    /// A trial of the bisection.
    pub narrow_s: f64,
    /// A full-length trial.
    pub prove_s: f64,
    /// The time to be seen at a load before it is classified.
    pub duration_sum_s: f64,
    /// At the rate found, to prove it.
    pub soak_s: f64,
    /// Twice the rate found, before it is tried once more; zero leaves this out.
    pub overload_s: f64,
    /// A server that has not recovered after this does not recover.
    pub rest_max_s: f64,
    /// For everything, rests included.
    pub budget_s: f64,
    /// Of the arrivals: each trial draws with this and its number.
    pub seed: u64,
}

/// Who set the highest rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cap {
    /// Asked for: a server that carries it carries all that was wanted.
    User,
    /// The generator cannot be trusted with more, so that a server that carries it is bounded from below only.
    Generator,
}

/// Of the default search.
const BUDGET_S: f64 = 180.0;
/// Below these a trial says nothing: connections open, a queue has not grown yet.
const RAMP_S_MIN: f64 = 0.5;
const PROVE_S_MIN: f64 = 2.0;
/// In so many times the promised time a server has to be back to normal (docs/measurement.md §2.4: half a minute). A queue in
/// which requests of that length wait takes some of them to drain.
const REST_S: f64 = 30.0;
const REST_OF_LIMIT: f64 = 10.0;
/// A full-length trial shorter than the promised time does not even show a server that is asked for twice what it carries.
const PROVE_OF_LIMIT_MIN: f64 = 1.0;

impl Settings {
    /// Three minutes, bounds within 2 %, a soak of half a minute.
    #[must_use]
    pub fn new(promises: Vec<Promise>, rate_max: f64, seed: u64) -> Self {
        let limit_s = longest(&promises).unwrap_or(0.0);
        Self {
            promises,
            first_rate: 10.0_f64.min(rate_max),
            rate_max,
            rate_max_by: Cap::User,
            width: 0.02,
            exceed_ratio: 0.5,
            ramp_s: 2.0,
            narrow_s: 4.0,
            prove_s: 10.0,
            duration_sum_s: 20.0,
            soak_s: 30.0,
            overload_s: 5.0,
            rest_max_s: REST_S.max(REST_OF_LIMIT * limit_s),
            budget_s: BUDGET_S,
            seed,
        }
    }

    /// One minute: bounds within 5 %, a short soak, no approach from above.
    #[must_use]
    pub fn quick(self) -> Self {
        Self {
            width: 0.05,
            ramp_s: 1.0,
            narrow_s: 2.0,
            prove_s: 5.0,
            duration_sum_s: 5.0,
            soak_s: 10.0,
            overload_s: 0.0,
            budget_s: 60.0,
            ..self
        }
    }

    /// An hour: bounds within 1 %, two minutes seen at each load, a soak of ten minutes (docs/measurement.md §2.4).
    #[must_use]
    pub fn publish(self) -> Self {
        Self {
            width: 0.01,
            ramp_s: 5.0,
            narrow_s: 10.0,
            prove_s: 30.0,
            duration_sum_s: 120.0,
            soak_s: 600.0,
            overload_s: 10.0,
            budget_s: 3600.0,
            ..self
        }
    }

    /// The same search in another time: every length grows or shrinks with the budget, the width stays.
    #[must_use]
    pub fn within(self, budget_s: f64) -> Self {
        let factor = budget_s / self.budget_s;
        Self {
            ramp_s: self.ramp_s * factor,
            narrow_s: self.narrow_s * factor,
            prove_s: self.prove_s * factor,
            duration_sum_s: self.duration_sum_s * factor,
            soak_s: self.soak_s * factor,
            overload_s: self.overload_s * factor,
            budget_s,
            ..self
        }
    }

    /// The least time in which these lengths can give an answer with two bounds: six steps of ramp, four of bisection, one
    /// load proved and one refuted, the soak and the approach from above, and a tenth for rests.
    #[must_use]
    pub fn needed_s(&self) -> f64 {
        let above = if self.overload_s > 0.0 { self.overload_s + self.prove_s } else { 0.0 };
        (6.0 * self.ramp_s + 4.0 * self.narrow_s + 2.0 * self.duration_sum_s.max(self.prove_s) + self.soak_s + above) * 1.1
    }

    /// The longest time that is promised, seconds; 0 where none is.
    #[must_use]
    pub fn limit_s(&self) -> f64 {
        longest(&self.promises).unwrap_or(0.0)
    }

    pub(super) fn mistakes(&self) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        if self.promises.is_empty() {
            mistakes.push(Mistake::NoPromise);
        }
        for promise in self.promises.iter().filter(|it| !(0.0..1.0).contains(&it.bad_share_max)) {
            mistakes.push(Mistake::Share { promise: promise.text.clone(), share: promise.bad_share_max });
        }
        if !(self.first_rate > 0.0 && self.first_rate <= self.rate_max && self.rate_max.is_finite()) {
            mistakes.push(Mistake::Rates { first: self.first_rate, max: self.rate_max });
        }
        if !(self.width > 0.0 && self.width < 1.0 && (0.0..1.0).contains(&self.exceed_ratio)) {
            mistakes.push(Mistake::Ratios { width: self.width, exceed: self.exceed_ratio });
        }
        let prove_s_min = PROVE_S_MIN.max(PROVE_OF_LIMIT_MIN * self.limit_s());
        let shortest = (RAMP_S_MIN / self.ramp_s).max(prove_s_min / self.prove_s);
        if shortest > 1.0 {
            mistakes.push(Mistake::BudgetTooShort { budget_s: self.budget_s, needed_s: self.budget_s * shortest });
        } else if self.needed_s() > self.budget_s {
            mistakes.push(Mistake::BudgetTooShort { budget_s: self.budget_s, needed_s: self.needed_s() });
        }
        mistakes
    }
}

fn longest(promises: &[Promise]) -> Option<f64> {
    promises.iter().filter_map(|it| it.limit_s).max_by(f64::total_cmp)
}

/// Why a search cannot begin. The sentences are those of [`crate::search_words`].
#[derive(Debug, Clone, PartialEq)]
pub enum Mistake {
    /// Nothing to keep, so that every rate keeps it.
    NoPromise,
    /// A share of bad requests outside 0 to below 1.
    Share {
        /// The promise as written.
        promise: String,
        /// Its share.
        share: f64,
    },
    /// The ramp begins at nothing, above its cap, or has no cap.
    Rates {
        /// Where it would begin, requests a second.
        first: f64,
        /// Its cap, requests a second.
        max: f64,
    },
    /// The width of the answer or the exceed ratio is outside its range.
    Ratios {
        /// Of the answer.
        width: f64,
        /// Of time at a load.
        exceed: f64,
    },
    /// The budget does not hold the shortest search with these lengths.
    BudgetTooShort {
        /// What there is, seconds.
        budget_s: f64,
        /// What it would take, seconds.
        needed_s: f64,
    },
}
