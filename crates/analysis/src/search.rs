//! The highest rate that keeps a promise, found within a budget of time: which trial next, and what they say together.
//!
//! Plain bisection fails on real servers: one lucky trial misleads it for good, an overloaded server poisons the trials
//! after it, and a queue that grows by one per cent a second looks healthy for as long as a short trial lasts. So the
//! search keeps the rules of RFC 9971 (Multiple Loss Ratio Search, May 2026): a load counts as carried or not carried only
//! by the time measured at it ([`classification`]), short trials only show where to look, and where a higher rate passed
//! that a lower one failed, the lower one wins. Loss is the share of requests that are *bad*: failed, late against the
//! promise, or not sent at all.
//!
//! The phases: a geometric ramp, bisection in log space with short trials, full-length trials around the crossing, a soak
//! at the rate found, and one approach from above, since many servers that reach a rate cannot return to it. The answer is
//! an interval (`capacity`) with what limited it, and holds every trial, so that a reader can derive it again.
//!
//! Nothing is remembered but the trials: [`Search::next`] is a function of what was learnt, so that a search can be
//! followed, saved and taken up again. No I/O, no clock: the caller runs the trials and says how long they took.

mod capacity;
pub mod classification;
pub mod model;
#[cfg(test)]
mod simulation;

use serde::{Deserialize, Serialize};

use capacity::{Counted, Ladder};
use classification::{Class, Evidence, classify};

#[cfg(test)]
pub(crate) use capacity::normal;

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
    /// Of the draws behind the interval.
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

impl Settings {
    /// Three minutes, bounds within 2 %, a soak of half a minute.
    #[must_use]
    pub fn new(promises: Vec<Promise>, rate_max: f64, seed: u64) -> Self {
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
            rest_max_s: 30.0,
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

    fn mistakes(&self) -> Vec<Mistake> {
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
        let shortest = (RAMP_S_MIN / self.ramp_s).max(PROVE_S_MIN / self.prove_s);
        if shortest > 1.0 {
            mistakes.push(Mistake::BudgetTooShort { budget_s: self.budget_s, needed_s: self.budget_s * shortest });
        } else if self.needed_s() > self.budget_s {
            mistakes.push(Mistake::BudgetTooShort { budget_s: self.budget_s, needed_s: self.needed_s() });
        }
        mistakes
    }
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

/// What the caller does next.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Load the server so.
    Trial {
        /// Requests a second, open load.
        rate: f64,
        /// How long, unless an early stop decides.
        seconds: f64,
        /// What it is for.
        purpose: Purpose,
    },
    /// Send nothing but a probe a second, until nothing is in flight and the probes are back within 1.5 times the unloaded
    /// median; tell with [`Search::rested`].
    Rest {
        /// Not longer than this.
        seconds_max: f64,
    },
    /// The search is over.
    Done(Box<Answer>),
}

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
    /// Try the rate found again, straight after the overload.
    FromAbove,
}

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
    pub seen: Vec<Seen>,
    /// Whether it may be believed.
    pub standing: Standing,
    /// Decided before its time by the caller's binomial rule: counts as if it had lasted.
    pub early: Option<Early>,
}

/// One promise in one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// Failed, late against this promise, or unsent.
    pub bad: u64,
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
    fn weight(&self) -> f64 {
        if self.result.early.is_some() { self.seconds } else { self.result.seconds }
    }

    /// Whether it belongs to its rate alone: what follows an overload shows the overload too.
    fn shows_its_rate(&self) -> bool {
        self.counts() && !matches!(self.purpose, Purpose::Overload | Purpose::FromAbove)
    }
}

/// A pause that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rested {
    /// How long it took.
    pub seconds: f64,
    /// Whether the probes came back to normal.
    pub recovered: bool,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The promises asked for.
    pub promises: Vec<Promise>,
    /// The highest rate proven by full-length trials below the lowest rate refuted.
    pub carries: Option<f64>,
    /// Where the capacity lies with 95 % confidence. `high` is missing when nothing failed.
    pub capacity: Capacity,
    /// What kept it from being more.
    pub limited_by: LimitedBy,
    /// The lowest rate that failed, and how.
    pub breaks_at: Option<Break>,
    /// Both bounds proven, and within the width asked for (RFC 9971: a regular result).
    pub regular: bool,
    /// How the rate found did over a long trial.
    pub soak: Option<Held>,
    /// How it did straight after twice the load.
    pub from_above: Option<Held>,
    /// The rate after which the server did not recover.
    pub unrecovered_after: Option<f64>,
    /// A higher rate passed than one that failed.
    pub inversion: Option<Inversion>,
    /// The budget in seconds that would likely settle what is open.
    pub wants_s: Option<f64>,
    /// Spent, seconds.
    pub spent_s: f64,
    /// Every trial, in order.
    pub trials: Vec<Trial>,
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
pub struct Held {
    /// Requests a second.
    pub rate: f64,
    /// How long.
    pub seconds: f64,
    /// The promise missed, as an index, and its value; `None` if all were kept.
    pub missed: Option<(usize, f64)>,
}

/// A lower rate failed and a higher one passed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Inversion {
    /// The lower, which counts.
    pub failed: f64,
    /// The higher, which is not believed.
    pub passed: f64,
}

/// A search under way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Search {
    settings: Settings,
    trials: Vec<Trial>,
    rests: Vec<Rested>,
    rest_due: bool,
}

/// Bisection with short trials ends here: closer, their blindness to slow queues matters more than their speed.
const NARROW_UNTIL: f64 = 1.1;
/// So many invalid trials in a row end the search.
const INVALID_MAX: usize = 3;
/// Trials that end as soon as they begin use up no budget; this ends a search of nothing else.
const TRIALS_MAX: usize = 200;
/// A queue that grows by less than this in a whole trial does not show, as a server overloaded by one per cent does not in
/// ten seconds against a promise of 100 ms; so a capacity lower by as much is not ruled out.
const UNSEEN_S: f64 = 0.1;
/// A full-length trial with fewer requests than this says nothing of any percentile: the search goes no lower.
const REQUESTS_MIN: f64 = 10.0;
/// A trial of the ramp holds about so many requests, up to [`SLOW_RAMP`] times its length.
const RAMP_REQUESTS: f64 = 20.0;
const SLOW_RAMP: f64 = 5.0;

impl Search {
    /// A search that has not begun, or every mistake in its settings.
    pub fn new(settings: Settings) -> Result<Self, Vec<Mistake>> {
        let mistakes = settings.mistakes();
        if mistakes.is_empty() { Ok(Self { settings, trials: Vec::new(), rests: Vec::new(), rest_due: false }) } else { Err(mistakes) }
    }

    /// What to do now. The same until something is learnt.
    #[must_use]
    pub fn next(&self) -> Step {
        if self.trials.len() >= TRIALS_MAX
            || self.invalid_in_a_row() >= INVALID_MAX
            || self.rests.last().is_some_and(|rest| !rest.recovered)
        {
            return self.done();
        }
        match self.trials.last().map(|trial| trial.purpose) {
            Some(Purpose::Overload) => {
                return match self.relevant().0 {
                    Some(rate) => self.trial(rate, self.settings.prove_s, Purpose::FromAbove),
                    None => self.done(),
                };
            }
            Some(Purpose::FromAbove) => return self.done(),
            _ => {}
        }
        if self.rest_due {
            return Step::Rest { seconds_max: self.settings.rest_max_s };
        }
        self.ramp().or_else(|| self.narrow()).or_else(|| self.prove()).or_else(|| self.confirm()).unwrap_or_else(|| self.done())
    }

    /// Takes in the trial that [`Search::next`] asked for.
    ///
    /// # Panics
    /// If no trial was asked for, or the result does not speak of every promise.
    pub fn learn(&mut self, result: TrialResult) {
        let Step::Trial { rate, seconds, purpose } = self.next() else {
            panic!("a result was learnt though no trial was asked for");
        };
        assert_eq!(result.seen.len(), self.settings.promises.len(), "a trial speaks of every promise");
        let missed = match result.early {
            Some(Early::Pass) => None,
            _ => {
                (0..result.seen.len()).find(|&at| result.seen[at].bad as f64 > self.settings.promises[at].bad_share_max * result.due as f64)
            }
        };
        self.rest_due = purpose != Purpose::Overload && (missed.is_some() || result.standing != Standing::Valid);
        self.trials.push(Trial { rate, seconds, purpose, result, missed });
    }

    /// Takes in the rest that [`Search::next`] asked for.
    pub fn rested(&mut self, rest: Rested) {
        self.rest_due = false;
        self.rests.push(rest);
    }

    /// Every trial so far, in order.
    #[must_use]
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// Gone by so far, trials and rests, seconds.
    #[must_use]
    pub fn spent_s(&self) -> f64 {
        self.trials.iter().map(|it| it.result.elapsed_s).sum::<f64>() + self.rests.iter().map(|it| it.seconds).sum::<f64>()
    }

    /// Doubles until a rate fails, or quarters until one passes.
    fn ramp(&self) -> Option<Step> {
        let settings = &self.settings;
        let next = match self.bracket() {
            (None, None) => settings.first_rate,
            (Some(low), None) if low < settings.rate_max => (low * 2.0).min(settings.rate_max),
            (None, Some(high)) if high / 4.0 >= self.rate_min() && self.trials.iter().all(|it| it.purpose == Purpose::Ramp) => high / 4.0,
            _ => return None,
        };
        // Proving has begun: what is left open above belongs to it.
        if self.trials.iter().any(|it| matches!(it.purpose, Purpose::Prove | Purpose::Soak)) {
            return None;
        }
        let seconds = (RAMP_REQUESTS / next).clamp(settings.ramp_s, settings.ramp_s * SLOW_RAMP);
        self.affordable(seconds, settings.prove_s + self.confirm_s()).then(|| self.trial(next, seconds, Purpose::Ramp))
    }

    /// Bisects in log space.
    fn narrow(&self) -> Option<Step> {
        let (Some(low), Some(high)) = self.bracket() else { return None };
        if high <= low * NARROW_UNTIL || self.trials.iter().any(|it| it.purpose == Purpose::Prove) {
            return None;
        }
        let seconds = self.settings.narrow_s;
        self.affordable(seconds, self.settings.prove_s + self.confirm_s())
            .then(|| self.trial((low * high).sqrt(), seconds, Purpose::Narrow))
    }

    /// Full-length trials, until the two bounds stand within the width.
    fn prove(&self) -> Option<Step> {
        let rate = self.rate_to_prove()?;
        let seconds = self.settings.prove_s;
        let reserve = if self.relevant().0.is_some() { self.confirm_s() } else { 0.0 };
        self.affordable(seconds, reserve).then(|| self.trial(rate, seconds, Purpose::Prove))
    }

    fn rate_to_prove(&self) -> Option<f64> {
        let settings = &self.settings;
        let (lower, upper) = self.relevant();
        let open = |rate: f64| lower.is_none_or(|it| rate > it) && upper.is_none_or(|it| rate < it);
        let undecided = self
            .trials
            .iter()
            .rev()
            .find(|it| it.purpose == Purpose::Prove && open(it.rate) && self.class(it.rate) == Class::Undecided && it.counts());
        if let Some(trial) = undecided {
            return Some(trial.rate);
        }
        let (bracket_low, bracket_high) = self.bracket();
        // The generator's ceiling bounds the search as a failing rate does, but proves nothing about the server.
        let ceiling = self.ceiling().filter(|&it| upper.is_none_or(|upper| it < upper));
        let wider = |known: usize| 1.0 + 2.0 * settings.width * 2.0_f64.powi(known as i32);
        let rate = match (lower, ceiling.or(upper)) {
            (None, None) => bracket_low?,
            (None, Some(high)) if upper.is_none() => bracket_low.filter(|&low| low < high)?,
            // What seemed kept failed at full length. Now where it is kept for all that chance can do.
            (None, Some(high)) => {
                let sure = self.capacity().low.min(high / wider(0));
                bracket_low.map_or(sure, |low| low.max(sure))
            }
            (Some(low), None) if low >= settings.rate_max => return None,
            (Some(low), None) => {
                let step_up = (low * wider(self.classed(Class::Lower).len())).min(settings.rate_max);
                bracket_high.filter(|&high| high > low).map_or(step_up, |high| high.min(step_up.max(low * NARROW_UNTIL)))
            }
            (Some(low), Some(_)) if upper.is_none() || ceiling.is_some() => {
                let high = ceiling?;
                if high <= low * NARROW_UNTIL {
                    return None;
                }
                (low * high).sqrt()
            }
            (Some(low), Some(high)) if high <= low * (1.0 + settings.width) => return None,
            (Some(low), Some(high)) => (low * high).sqrt(),
        };
        let rate = rounded(rate);
        (rate >= self.rate_min() && Some(rate) != lower && Some(rate) != upper).then_some(rate)
    }

    /// The soak, then the approach from above.
    fn confirm(&self) -> Option<Step> {
        let settings = &self.settings;
        let (lower, upper) = self.relevant();
        let rate = lower?;
        let left = settings.budget_s - self.spent_s();
        let soaked = self.trials.iter().any(|it| it.purpose == Purpose::Soak && it.rate == rate && it.counts());
        if !soaked {
            let seconds = settings.soak_s.min(left);
            return (seconds >= settings.prove_s).then(|| self.trial(rate, seconds, Purpose::Soak));
        }
        let overload = (2.0 * rate).min(settings.rate_max);
        let worth_it =
            settings.overload_s > 0.0 && upper.is_some_and(|upper| upper <= overload) && self.ceiling().is_none_or(|it| it > overload);
        (worth_it && left >= settings.overload_s + settings.prove_s).then(|| self.trial(overload, settings.overload_s, Purpose::Overload))
    }

    /// What soak and approach from above will take.
    fn confirm_s(&self) -> f64 {
        let above = if self.settings.overload_s > 0.0 { self.settings.overload_s + self.settings.prove_s } else { 0.0 };
        (self.settings.soak_s + above) * 1.1
    }

    fn affordable(&self, seconds: f64, reserve: f64) -> bool {
        self.spent_s() + seconds + reserve <= self.settings.budget_s
    }

    fn trial(&self, rate: f64, seconds: f64, purpose: Purpose) -> Step {
        Step::Trial { rate: rounded(rate).min(self.settings.rate_max), seconds, purpose }
    }

    fn rate_min(&self) -> f64 {
        REQUESTS_MIN / self.settings.prove_s
    }

    fn invalid_in_a_row(&self) -> usize {
        self.trials.iter().rev().take_while(|it| it.result.standing == Standing::Invalid).count()
    }

    /// Where short and long trials together point: the highest rate that seems kept below the lowest that seems missed.
    fn bracket(&self) -> (Option<f64>, Option<f64>) {
        let rates = self.rates();
        let high = rates.iter().copied().find(|&rate| self.leans_high(rate)).into_iter().chain(self.ceiling()).min_by(f64::total_cmp);
        let low = rates.iter().copied().rfind(|&rate| high.is_none_or(|high| rate < high));
        (low, high)
    }

    /// Whether the trials at `rate` say that it fails, be it for now. In the ramp a few bad requests among few are chance,
    /// and turning back there would waste the search: only what chance explains one time in twenty ends it.
    fn leans_high(&self, rate: f64) -> bool {
        let class = self.class(rate);
        if class != Class::Undecided {
            return class == Class::Upper;
        }
        let at = || self.trials.iter().filter(move |it| it.rate == rate && it.shows_its_rate());
        let due: u64 = at().map(|it| it.result.due).sum();
        let ramp_only = at().all(|it| it.purpose == Purpose::Ramp);
        self.settings.promises.iter().enumerate().any(|(promise, it)| {
            let bad: u64 = at().map(|trial| trial.result.seen[promise].bad).sum();
            bad as f64 > it.bad_share_max * due as f64 && !(ramp_only && chance_of_so_many(bad, due, it.bad_share_max) > 0.05)
        })
    }

    /// The lowest rate at which the generator was the limit, unless the server was seen to carry more.
    fn ceiling(&self) -> Option<f64> {
        let proven = self.classed(Class::Lower).last().copied().unwrap_or(0.0);
        let limited = self.trials.iter().filter(|it| it.result.standing == Standing::GeneratorLimited && it.purpose != Purpose::Overload);
        limited.map(|it| it.rate).filter(|&rate| rate > proven).min_by(f64::total_cmp)
    }

    /// The relevant bounds of RFC 9971: the smallest upper bound, and the largest lower bound below it.
    fn relevant(&self) -> (Option<f64>, Option<f64>) {
        let upper = self.classed(Class::Upper).first().copied();
        let lower = self.classed(Class::Lower).into_iter().rfind(|&rate| upper.is_none_or(|upper| rate < upper));
        (lower, upper)
    }

    /// The smallest rate proven to fail, or else the smallest above what is carried that seems to.
    fn failing(&self) -> Option<f64> {
        let (lower, upper) = self.relevant();
        upper.or_else(|| self.rates().into_iter().find(|&rate| lower.is_none_or(|lower| rate > lower) && self.leans_high(rate)))
    }

    fn classed(&self, class: Class) -> Vec<f64> {
        self.rates().into_iter().filter(|&rate| self.class(rate) == class).collect()
    }

    /// The class of a rate over all promises; a rate whose soak failed is not carried, whatever shorter trials said.
    fn class(&self, rate: f64) -> Class {
        let mut evidence = Evidence::default();
        for trial in self.trials.iter().filter(|it| it.rate == rate && it.shows_its_rate()) {
            if trial.purpose == Purpose::Soak && trial.missed.is_some() {
                return Class::Upper;
            }
            let weight = trial.weight();
            // Lengths are sums of floating seconds.
            let full = weight >= self.settings.prove_s * 0.999;
            *match (full, trial.missed.is_some()) {
                (true, false) => &mut evidence.full_low,
                (true, true) => &mut evidence.full_high,
                (false, false) => &mut evidence.short_low,
                (false, true) => &mut evidence.short_high,
            } += weight;
        }
        classify(evidence, self.settings.duration_sum_s, self.settings.exceed_ratio)
    }

    /// The rates tried that count, ascending.
    fn rates(&self) -> Vec<f64> {
        let mut rates: Vec<f64> = self.trials.iter().filter(|it| it.shows_its_rate()).map(|it| it.rate).collect();
        rates.sort_by(f64::total_cmp);
        rates.dedup();
        rates
    }

    fn done(&self) -> Step {
        Step::Done(Box::new(self.answer()))
    }

    /// What can be said now; final once [`Search::next`] is done.
    #[must_use]
    pub fn answer(&self) -> Answer {
        let settings = &self.settings;
        let (lower, upper) = self.relevant();
        let breaks_at = self.failing().and_then(|rate| self.break_at(rate));
        let limited_by = if self.invalid_in_a_row() >= INVALID_MAX {
            LimitedBy::Invalid
        } else if let Some(it) = breaks_at.filter(|it| self.ceiling().is_none_or(|ceiling| it.rate <= ceiling)) {
            LimitedBy::Promise(it.promise)
        } else if self.ceiling().is_some() {
            LimitedBy::Generator
        } else if lower.is_some_and(|it| it >= settings.rate_max) {
            match settings.rate_max_by {
                Cap::User => LimitedBy::RateMax,
                Cap::Generator => LimitedBy::Generator,
            }
        } else {
            LimitedBy::Budget
        };
        let regular = matches!((lower, upper), (Some(low), Some(high)) if high <= low * (1.0 + settings.width) * 1.000_5);
        let confirmed = |purpose: Purpose| {
            let trial = self.trials.iter().rev().find(|it| it.purpose == purpose && it.counts())?;
            Some(Held { rate: trial.rate, seconds: trial.result.seconds, missed: trial.missed.map(|at| (at, trial.result.seen[at].value)) })
        };
        let soak = confirmed(Purpose::Soak);
        let unproven = !regular && matches!(limited_by, LimitedBy::Promise(_) | LimitedBy::Budget) || lower.is_some() && soak.is_none();
        let unrecovered_after = if self.rests.last().is_some_and(|it| !it.recovered) { self.trials.last().map(|it| it.rate) } else { None };
        Answer {
            promises: settings.promises.clone(),
            carries: lower,
            capacity: self.capacity(),
            limited_by,
            breaks_at,
            regular,
            soak,
            from_above: confirmed(Purpose::FromAbove),
            unrecovered_after,
            inversion: upper.and_then(|failed| {
                self.classed(Class::Lower).into_iter().rfind(|&it| it > failed).map(|passed| Inversion { failed, passed })
            }),
            wants_s: (unproven && unrecovered_after.is_none() && limited_by != LimitedBy::Invalid).then(|| self.wants_s()),
            spent_s: self.spent_s(),
            trials: self.trials.clone(),
        }
    }

    fn break_at(&self, rate: f64) -> Option<Break> {
        let trial = self.trials.iter().rev().find(|it| it.rate == rate && it.shows_its_rate() && it.missed.is_some())?;
        let promise = trial.missed?;
        Some(Break { rate, promise, value: trial.result.seen[promise].value })
    }

    /// The bounds, widened by what chance could have done to them.
    fn capacity(&self) -> Capacity {
        let (lower, upper) = self.relevant();
        let seems_low = self.bracket().0;
        let failed = self.failing();
        let (Some(below), Some(failed)) = (lower.or(seems_low), failed) else {
            return Capacity { low: lower.or(seems_low).unwrap_or(0.0), high: failed };
        };
        // A short trial cannot see a queue that grows slowly, so between the bounds only full-length trials speak.
        let speaks = |it: &&Trial| {
            it.shows_its_rate()
                && (it.weight() >= self.settings.prove_s * 0.999 || if it.missed.is_some() { it.rate >= failed } else { it.rate <= below })
        };
        let mut rates: Vec<f64> = self.trials.iter().filter(speaks).map(|it| it.rate).collect();
        rates.sort_by(f64::total_cmp);
        rates.dedup();
        let ladder = |promise: usize| {
            let counted = |&rate: &f64| {
                let here = self.trials.iter().filter(speaks).filter(|it| it.rate == rate);
                let stretches = here.flat_map(|it| {
                    let seen = &it.result.seen[promise];
                    let whole = [(it.result.due, seen.bad)];
                    let parts: &[(u64, u64)] = if seen.stretches.is_empty() { &whole } else { &seen.stretches };
                    parts.iter().map(|&(due, bad)| (due as f64, bad as f64)).collect::<Vec<_>>()
                });
                Counted { rate, stretches: stretches.collect() }
            };
            Ladder { bad_share_max: self.settings.promises[promise].bad_share_max, counted: rates.iter().map(counted).collect() }
        };
        let ladders: Vec<Ladder> = (0..self.settings.promises.len()).map(ladder).collect();
        let (low, high) = capacity::crossing(&ladders, below / 4.0, failed * 2.0);
        Capacity {
            low: lower.map_or(low, |it| it.min(low)) * (1.0 - UNSEEN_S / self.settings.prove_s),
            high: [upper, lower].into_iter().flatten().chain([high]).max_by(f64::total_cmp),
        }
    }

    /// The bisections still open, each with a load to classify, and the confirmation if it is missing.
    fn wants_s(&self) -> f64 {
        let (lower, upper) = self.relevant();
        let (bracket_low, bracket_high) = self.bracket();
        let gap = match (lower.or(bracket_low), upper.or(bracket_high)) {
            (Some(low), Some(high)) if high > low => (high / low).ln(),
            _ => std::f64::consts::LN_2 * 4.0,
        };
        let bisections = (gap / (1.0 + self.settings.width).ln()).log2().max(0.0).ceil() + 1.0;
        let soaked = self.trials.iter().any(|it| it.purpose == Purpose::Soak);
        let confirm = if soaked { 0.0 } else { self.confirm_s() };
        (self.spent_s() + bisections * self.settings.duration_sum_s.max(self.settings.prove_s) + confirm).max(self.settings.needed_s())
    }
}

/// Four significant digits: what a reader can repeat.
fn rounded(rate: f64) -> f64 {
    let scale = 10.0_f64.powf(3.0 - rate.log10().floor());
    (rate * scale).round() / scale
}

/// P(X ≥ bad) for X binomial with `due` draws of chance `share`, summed term by term from the top of what is likely.
fn chance_of_so_many(bad: u64, due: u64, share: f64) -> f64 {
    if bad == 0 {
        return 1.0;
    }
    if share <= 0.0 {
        return 0.0;
    }
    let (n, p) = (due as f64, share);
    // ln of the first term P(X = 0), then by the ratio of neighbours.
    let mut term = n * (-p).ln_1p();
    let mut below = 0.0;
    for k in 0..bad.min(due) {
        below += term.exp();
        term += ((n - k as f64) / (k as f64 + 1.0) * p / (1.0 - p)).ln();
    }
    (1.0 - below).max(0.0)
}
