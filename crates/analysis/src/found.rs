//! A capacity search as it was carried out: from whole runs to what the search learns, and from there to a file.
//!
//! The search ([`crate::search`]) knows nothing of runs: it learns how many requests were bad and whether a trial may be
//! believed. Both are decided here, from the Summary alone, so that whoever reads the file can decide it again.
//!
//! A trial that kept its promise in spite of a generator that sent some requests late has proven the server all the same:
//! lateness counts from when a request was due, so it can only have hurt. A trial that broke it is believed only if the
//! requests that were sent late, or fell into the time a starved thread waited for a core, and as many that may have queued
//! behind them, cannot have made the difference. The
//! alternative, to drop every trial with a late send in a hundred, ends each search on a busy machine at its first rates.
//!
//! Invariant: the file holds every trial with its whole Summary, and nothing else decides the answer.

use measure::{Failure, Side, Status, Summary, Tick};
use plan::Nanos;
use serde::{Deserialize, Serialize};

use crate::gate::{Check, Judgement, Slo, response_quantile};
use crate::quantity::{count, figure, percent, share};
use crate::reading::judged;
use crate::search::{Answer, Early, LimitedBy, Pause, Promise, PromiseFigure, Purpose, Settings, Standing, Trial, TrialResult};
use crate::{Cause, GeneratorLimit, StopReason, Validity, What, generator_limit, search_words, sweep};

/// The version of the file of a search. A reader of this version refuses any other by name.
pub const FIND_SCHEMA: &str = "loadline.find/1";

/// A send that is later than this share of the limit may have made its answer late.
const LAG_OF_LIMIT_MAX: f64 = 0.05;
/// Waiting for a core for less than this share of the time is what any shared machine does; docs/measurement.md §1.9 warns from 1 %.
const RUN_QUEUE_SHARE_NOTICED: f64 = 0.01;
/// The last interval of a trial is a stretch of its own only if so much of it was measured.
const STRETCH_MIN: Nanos = Nanos::from_millis(500);
/// A worker below this share of its core did not send late because it had too much to do.
const CPU_SHARE_BUSY: f64 = 0.5;

/// A search and all it measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CapacityReport {
    /// Always [`FIND_SCHEMA`].
    pub schema: String,
    /// What its files are named after.
    pub name: String,
    /// When it began: RFC 3339, UTC.
    pub started: String,
    /// The promises, in the order in which a trial that misses several is said to miss them.
    pub slo: Vec<Promise>,
    /// The longest time that is promised, in nanoseconds: what an answer has to keep to be counted as good.
    #[serde(rename = "good_within_ns")]
    pub good_within: Option<Nanos>,
    /// The quantile of response time that is shown, from 0 to 1.
    pub quantile: f64,
    /// How it searched.
    pub settings: Settings,
    /// The median response time of a few requests one by one, before the search, in nanoseconds; `None` if none succeeded.
    #[serde(rename = "unloaded_median_ns")]
    pub unloaded_median: Option<Nanos>,
    /// What the search makes of its trials.
    #[serde(flatten)]
    pub answer: Answer,
    /// Why it ended before its end; `None` when it did not.
    pub stopped: Option<StopReason>,
    /// Pauses until the server had recovered.
    pub rests: Vec<Pause>,
    /// Every trial, in order.
    pub trials: Vec<CapacityTrial>,
    /// What the trial at the rate found was to keep to, beside the promises.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// What its rates begin.
    #[serde(default, skip_serializing_if = "RateUnit::is_requests")]
    pub rated: RateUnit,
    /// Two runs more with profiles of the server, at a part of the rate found and at it; they are no part of the search.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiled: Vec<sweep::Trial>,
    /// What the user should know of the search besides what its trials say, such as a teardown that failed after the last of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What a rate of a search begins. The promises are about requests in both cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RateUnit {
    /// Requests.
    #[default]
    Requests,
    /// Journeys of a scenario, each of several requests.
    Journeys,
}

impl RateUnit {
    /// Of a rate, in sentences.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Requests => "req/s",
            Self::Journeys => "journeys/s",
        }
    }

    fn is_requests(&self) -> bool {
        *self == Self::Requests
    }
}

/// A trial with all it measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CapacityTrial {
    /// Asked for, requests or journeys a second.
    pub rate: f64,
    /// Asked for, seconds.
    pub seconds: f64,
    /// What it was for.
    pub purpose: Purpose,
    /// What it showed.
    pub result: TrialResult,
    /// The first promise it missed, as an index.
    pub missed: Option<usize>,
    /// Why it does not count; `None` if it does.
    pub doubt: Option<String>,
    /// The whole run.
    pub summary: Summary,
}

impl CapacityTrial {
    /// A trial as the search learnt it, with its run.
    #[must_use]
    pub fn new(trial: &Trial, doubt: Option<String>, summary: Summary) -> Self {
        let Trial { rate, seconds, purpose, result, missed } = trial.clone();
        Self { rate, seconds, purpose, result, missed, doubt, summary }
    }

    /// Whether it says something about the server.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.result.standing == Standing::Valid
    }
}

/// All trials at one rate together, for charts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RateRow {
    /// Offered, requests or journeys a second.
    pub rate: f64,
    /// Answers a second; journeys a second that went to their end, where the rate begins journeys.
    pub throughput: f64,
    /// Of these, the part of the requests that succeeded within the longest time promised.
    pub goodput: f64,
    /// The quantile of response time; `None` where it lies among requests that failed. The worst of the trials.
    pub quantile: Option<Nanos>,
    /// Whether the generator was the limit.
    pub generator_limited: bool,
}

impl CapacityReport {
    /// A search of which nothing is measured yet.
    #[must_use]
    pub fn new(name: String, slos: &[Slo], settings: Settings, answer: Answer) -> Self {
        Self {
            schema: FIND_SCHEMA.to_owned(),
            name,
            started: String::new(),
            slo: settings.promises.clone(),
            good_within: slos.iter().filter_map(|slo| Some(slo.of_response()?.1)).max(),
            quantile: slos.iter().find_map(|slo| Some(slo.of_response()?.0)).unwrap_or(0.99),
            settings,
            unloaded_median: None,
            answer,
            stopped: None,
            rests: Vec::new(),
            trials: Vec::new(),
            checks: Vec::new(),
            rated: RateUnit::Requests,
            profiled: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// The trial that stands for the rate found: the last one that was to confirm it, or else the longest.
    #[must_use]
    pub fn confirming(&self) -> Option<&CapacityTrial> {
        let rate = self.answer.carries?;
        let here = || {
            let of_rate =
                |it: &&CapacityTrial| it.rate == rate && it.counts() && !matches!(it.purpose, Purpose::Overload | Purpose::FromAbove);
            self.trials.iter().filter(of_rate)
        };
        let longest = || here().max_by(|a, b| a.result.seconds.total_cmp(&b.result.seconds));
        here().rfind(|it| it.purpose == Purpose::Soak).or_else(longest)
    }

    /// Every check held against the trial at the rate found. Where no rate was found, none can be judged.
    #[must_use]
    pub fn judged(&self) -> Vec<Judgement> {
        match self.confirming() {
            Some(trial) => judged(&trial.summary, &self.checks, Validity::of(&trial.summary).standing),
            None => self.checks.iter().map(Judgement::of_nothing).collect(),
        }
    }

    /// What became of the checks, one sentence each.
    fn checked(&self) -> Vec<String> {
        let at = match self.confirming() {
            Some(trial) => format!("at {} {}", search_words::written(&self.answer)(trial.rate), self.rated.unit()),
            None => "no rate was found to judge it at".to_owned(),
        };
        let said = |it: &Judgement| format!("Check '{}' {} ({at}): {}.", it.check, it.verdict.name().to_lowercase(), it.about());
        self.judged().iter().map(said).collect()
    }

    /// What was found, one sentence each, the answer first.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        if self.trials.is_empty() {
            let stopped = self.stopped.as_ref().map(|stopped| sentence(&stopped.to_string()));
            return std::iter::once("Nothing was measured.".to_owned()).chain(stopped).collect();
        }
        let unit = self.rated.unit();
        let mut said: Vec<String> =
            search_words::sentences(&self.answer, &self.slo, self.rated).into_iter().map(|it| sentence(&it)).collect();
        if self.answer.carries.is_none() && self.answer.capacity.low <= 0.0 && matches!(self.answer.limited_by, LimitedBy::Promise(_)) {
            // More time would not make a server carry what it does not carry at the lowest rate.
            said.retain(|it| !it.starts_with("--budget "));
        }
        if self.stopped.is_some() {
            // What is open is open because it was ended, not because the budget was short.
            said.retain(|it| !it.starts_with("--budget ") && !it.starts_with("Not proven by a longer trial"));
            if self.answer.limited_by == LimitedBy::Budget
                && let Some(first) = said.first_mut()
            {
                *first = match self.answer.carries {
                    Some(rate) => format!("It carries at least {} {unit}; no rate had failed yet.", figure(rate)),
                    None if self.answer.capacity.low > 0.0 => {
                        format!("No rate was proven yet; up to {} {unit} short trials kept the promise.", figure(self.answer.capacity.low))
                    }
                    None => "Cannot tell: no rate was proven yet.".to_owned(),
                };
            }
        }
        said.extend(self.what_failed());
        said.extend(self.checked());
        said.extend(self.doubts());
        if let Some(stopped) = &self.stopped {
            said.push(sentence(&stopped.to_string()));
        }
        said
    }

    /// Which failures broke the promise, where failures did.
    fn what_failed(&self) -> Option<String> {
        let rate = self.answer.breaks_at?.rate;
        let run = &self.trials.iter().rev().find(|it| it.rate == rate && it.counts() && it.missed.is_some())?.summary;
        let failed = run.requests.failed + run.requests.unsent;
        if failed == 0 {
            return None;
        }
        let refusal = run.status.iter().filter(|(status, _)| !Status(**status).is_success()).max_by_key(|(_, times)| **times);
        let how = match (most_failing(run), refusal) {
            (Some(Failure::CheckStatus), Some((status, times))) => format!("{} of them with status {status}", count(*times)),
            (Some(failure), _) => format!("most often: {}", failure.about()),
            (None, _) => "most often because no connection came free in time".to_owned(),
        };
        Some(format!(
            "At {} {} {} of {} requests failed ({}), {how}.",
            search_words::written(&self.answer)(rate),
            self.rated.unit(),
            count(failed),
            count(run.requests.due),
            share(failed, run.requests.due)
        ))
    }

    /// How many trials do not count, and why the last of them does not.
    fn doubts(&self) -> Option<String> {
        let doubted: Vec<&CapacityTrial> = self.trials.iter().filter(|it| !it.counts()).collect();
        let why = doubted.last()?.doubt.as_deref()?;
        Some(match doubted.len() {
            1 => format!("One trial does not count: {why}."),
            many => format!("{many} trials do not count; the last one: {why}."),
        })
    }

    /// One row a rate, ascending. Trials straight after an overload are left out: they show the overload too.
    #[must_use]
    pub fn rows(&self) -> Vec<RateRow> {
        let shown = |it: &&CapacityTrial| it.purpose != Purpose::FromAbove && it.result.standing != Standing::Invalid;
        let mut rates: Vec<f64> = self.trials.iter().filter(shown).map(|it| it.rate).collect();
        rates.sort_by(f64::total_cmp);
        rates.dedup();
        rates.into_iter().map(|rate| self.row(rate)).collect()
    }

    fn row(&self, rate: f64) -> RateRow {
        let here = || self.trials.iter().filter(|it| it.rate == rate && it.purpose != Purpose::FromAbove);
        let counted: Vec<&CapacityTrial> = here().filter(|it| it.counts()).collect();
        let generator_limited = counted.is_empty();
        let runs: Vec<&Summary> =
            if generator_limited { here().collect::<Vec<_>>() } else { counted }.iter().map(|it| &it.summary).collect();
        let mean = |of: &dyn Fn(&Summary) -> f64| runs.iter().map(|run| of(run)).sum::<f64>() / runs.len().max(1) as f64;
        let quantiles: Vec<Option<Nanos>> = runs.iter().map(|run| response_quantile(run, self.quantile)).collect();
        RateRow {
            rate,
            throughput: mean(&|run| run.scenario.as_ref().map_or(run.qps, |scenario| scenario.tps)),
            goodput: mean(&|run| match &run.scenario {
                None => self.goodput(run),
                Some(scenario) => scenario.tps * self.good(run) as f64 / (run.requests.due.max(1)) as f64,
            }),
            quantile: if quantiles.contains(&None) { None } else { quantiles.into_iter().flatten().max() },
            generator_limited,
        }
    }

    /// Answers a second that succeeded within the longest time promised.
    #[must_use]
    pub fn goodput(&self, run: &Summary) -> f64 {
        if run.duration_s > 0.0 { self.good(run) as f64 / run.duration_s } else { 0.0 }
    }

    /// Requests that succeeded within the longest time promised.
    #[must_use]
    pub fn good(&self, run: &Summary) -> u64 {
        let times = &run.response_time_succeeded;
        self.good_within.map_or(run.requests.succeeded, |limit| times.count_where(|time| time <= limit))
    }
}

/// The class of failure that occurred most often, if any request failed after all.
fn most_failing(run: &Summary) -> Option<Failure> {
    run.failures.first().filter(|it| it.count >= run.requests.unsent).map(|it| it.class)
}

/// What a run showed, and why it does not count if it does not. `elapsed_s` is the time it took on the wall, drain included.
#[must_use]
pub fn learnt(slos: &[Slo], run: &Summary, elapsed_s: f64, early: Option<Early>) -> (TrialResult, Option<String>) {
    let seen = slos
        .iter()
        .map(|slo| PromiseFigure { bad: slo.bad(run), of: Some(slo.of(run)), value: slo.value(run), stretches: stretches(slo, run) })
        .collect();
    let (standing, doubt) = standing(slos, run);
    let result = TrialResult { seconds: run.duration_s, elapsed_s, due: run.requests.due, seen, standing, early };
    (result, doubt)
}

/// Whether no outcome of the requests still to come could save the trial: more are bad already than all of those expected
/// may be, as many times over as a trial of its purpose is given.
#[must_use]
pub fn lost(slos: &[Slo], ticks: &[Tick], expected: f64, purpose: Purpose) -> bool {
    let Some(patience) = purpose.patience() else { return false };
    slos.iter().any(|slo| {
        let bad: u64 = ticks.iter().map(|tick| slo.bad_in(tick).0).sum();
        // Four standard deviations of Poisson arrivals, so that more requests than expected do not turn it round.
        bad as f64 > slo.promise().bad_share_max * (expected + 4.0 * expected.sqrt()) * patience
    })
}

/// Due and bad requests of each interval. The sums are exact; within the bounds of each interval, bad ones are spread so
/// that they add up to it.
fn stretches(slo: &Slo, run: &Summary) -> Vec<(u64, u64)> {
    let bad = slo.bad(run) as f64;
    let bounds: Vec<(u64, u64)> = run.timeline.iter().map(|tick| slo.bad_in(tick)).collect();
    let (low, high) = bounds.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.0 as f64, sum.1 + it.1 as f64));
    let part = if high > low { ((bad - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 };
    let mut stretches: Vec<(u64, u64)> = Vec::with_capacity(bounds.len());
    let (mut wanted, mut given) = (0.0, 0u64);
    for (tick, (low, high)) in run.timeline.iter().zip(bounds) {
        wanted += low as f64 + (high - low) as f64 * part;
        let here = (wanted.round() as u64).saturating_sub(given);
        given += here;
        match stretches.last_mut() {
            // What ends while the last answers are waited for fell due before. A stretch with next to no time in it would
            // seem to have many times as many bad requests as fell due.
            Some(last) if tick.from.plus(STRETCH_MIN) > run.ended.load_until => *last = (last.0 + tick.due, last.1 + here),
            _ => stretches.push((tick.due, here)),
        }
    }
    stretches
}

fn standing(slos: &[Slo], run: &Summary) -> (Standing, Option<String>) {
    let ours: u64 = run.failures.iter().filter(|it| it.side == Side::ThisMachine).map(|it| it.count).sum();
    if let Some(first) = run.failures.iter().find(|it| it.side == Side::ThisMachine) {
        let why = format!("{} requests failed on this machine: {}", count(ours), first.class.about());
        return (Standing::GeneratorLimited, Some(why));
    }
    // Lateness can only have hurt, but who did not run at all did not offer the load either.
    let condemned =
        |cause: &&Cause| cause.standing == crate::Standing::Invalid && matches!(cause.what, What::Gaps { .. } | What::Unaccounted { .. });
    if let Some(cause) = Validity::of(run).causes.iter().find(condemned) {
        return (Standing::Invalid, Some(cause.what.to_string()));
    }
    if let Some(limit @ (GeneratorLimit::Processor(_) | GeneratorLimit::Throttled(_))) = generator_limit(run) {
        return (Standing::GeneratorLimited, Some(format!("the load generator was the limit: {limit}")));
    }
    let Some(strictest) = slos.iter().filter_map(Slo::limit).min() else { return (Standing::Valid, None) };
    let noticed = Nanos((strictest.0 as f64 * LAG_OF_LIMIT_MAX) as u64);
    let late = run.lag.count_where(|lag| lag > noticed);
    // A thread that waits for a core also reads late, and then it is answers that seem late, not sends.
    let waited = run.generator.run_queue_share.filter(|share| *share > RUN_QUEUE_SHARE_NOTICED).unwrap_or(0.0);
    let touched = (late as f64).max(waited * run.requests.due as f64);
    let ours = |slo: &Slo| {
        let allowed = slo.promise().bad_share_max * slo.of(run) as f64;
        let bad = slo.bad(run) as f64;
        // Those that were touched, and as many that queued behind them.
        slo.limit().is_some() && bad > allowed && bad - 2.0 * touched <= allowed
    };
    // A promise that was missed whatever loadline did is missed.
    let missed_anyway = slos.iter().any(|slo| {
        let allowed = slo.promise().bad_share_max * slo.of(run) as f64;
        slo.bad(run) as f64 > allowed && !ours(slo)
    });
    if missed_anyway || !slos.iter().any(ours) {
        return (Standing::Valid, None);
    }
    let why = if late as f64 >= touched {
        format!("loadline sent {} of {} requests late", count(late), count(run.requests.due))
    } else {
        format!("loadline was ready but got no core for {} % of the time", percent(waited * 100.0))
    };
    if run.generator.cpu_share_busiest >= CPU_SHARE_BUSY {
        (Standing::GeneratorLimited, Some(format!("the load generator was the limit: {why}")))
    } else {
        (Standing::Invalid, Some(format!("{why}, because something else kept this machine busy")))
    }
}

/// As a sentence about the server, with a full stop.
fn sentence(words: &str) -> String {
    const VERBS: [&str; 5] = ["carries ", "does not ", "held ", "did not ", "remembers "];
    if VERBS.iter().any(|verb| words.starts_with(verb)) {
        return format!("It {words}.");
    }
    let mut letters = words.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{Search, Step};
    use measure::{Histogram, fixtures};

    fn slos(texts: &[&str]) -> Vec<Slo> {
        texts.iter().map(|text| Slo::try_from(text.parse::<Check>().unwrap()).unwrap()).collect()
    }

    fn run(name: &str) -> Summary {
        let mut run = fixtures::summaries().into_iter().find(|(known, _)| *known == name).unwrap().1;
        run.edit_for_test().generator.cpu_share_busiest = 0.1;
        run
    }

    fn late(run: &mut Summary, sends: u64) {
        run.edit_for_test().lag = Histogram::new();
        let rest = run.requests.due - sends;
        (0..rest).for_each(|_| run.edit_for_test().lag.record(Nanos::from_micros(20)));
        (0..sends).for_each(|_| run.edit_for_test().lag.record(Nanos::SECOND));
    }

    #[test]
    fn stretches_add_up_to_the_whole_trial() {
        for (name, run) in fixtures::summaries() {
            for slo in slos(&["p99 < 5ms", "failed < 1%", "p50 < 1ms"]) {
                let sums = stretches(&slo, &run).iter().fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
                assert_eq!(sums, (run.requests.due, slo.bad(&run)), "{name}, {slo}");
            }
        }
    }

    #[test]
    fn no_stretch_is_too_short_for_the_bad_requests_that_end_in_it() {
        let mut run = run("open_with_a_stall");
        let promised = slos(&["p99 < 5ms"]);
        let whole = stretches(&promised[0], &run);
        // Ended just after the nineteenth second: what ends in the twentieth belongs to the one before.
        run.edit_for_test().ended.load_until = Nanos::from_millis(19_010);
        let ended = stretches(&promised[0], &run);
        assert_eq!((whole.len(), ended.len()), (20, 19));
        assert_eq!(ended[18].0, whole[18].0 + whole[19].0);
    }

    #[test]
    fn late_sends_take_the_word_of_a_trial_only_where_they_can_have_decided_it() {
        let promised = slos(&["p99 < 50ms"]);
        let stalled = run("open_with_a_stall");
        let bad = promised[0].bad(&stalled);
        assert!(bad > stalled.requests.due / 100);
        assert_eq!(standing(&promised, &stalled).0, Standing::Valid, "the server stood still, and everything was sent in time");
        let mut ours = stalled.clone();
        late(&mut ours, bad);
        assert_eq!(standing(&promised, &ours).0, Standing::Invalid);
        ours.edit_for_test().generator.cpu_share_busiest = 0.7;
        let (limited, why) = standing(&promised, &ours);
        assert_eq!(limited, Standing::GeneratorLimited);
        assert!(why.unwrap().starts_with("the load generator was the limit: loadline sent "));
        let mut starved = stalled.clone();
        starved.edit_for_test().generator.run_queue_share = Some(0.3);
        let (invalid, why) = standing(&promised, &starved);
        assert_eq!(invalid, Standing::Invalid);
        assert_eq!(why.unwrap(), "loadline was ready but got no core for 30 % of the time, because something else kept this machine busy");
        let kept = slos(&["p99 < 1h"]);
        assert_eq!(standing(&kept, &ours).0, Standing::Valid, "kept in spite of late sends is kept");
    }

    #[test]
    fn a_trial_in_which_loadline_did_not_run_is_rejected_whatever_it_showed() {
        let mut paused = run("open_with_a_stall");
        paused.edit_for_test().generator.gaps = measure::Gaps { count: 1, total: Nanos::from_secs(2), longest: Nanos::SECOND };
        for slo in ["p99 < 50ms", "p99 < 1h"] {
            let (standing, why) = standing(&slos(&[slo]), &paused);
            assert_eq!(standing, Standing::Invalid);
            assert!(why.unwrap().starts_with("loadline itself did not run for 1.00 s"));
        }
    }

    #[test]
    fn a_generator_without_room_or_ports_counts_for_nothing() {
        let promised = slos(&["p99 < 1h"]);
        let mut busy = run("open_with_a_stall");
        busy.edit_for_test().generator.cpu_share_busiest = 0.95;
        assert_eq!(standing(&promised, &busy).0, Standing::GeneratorLimited);
        let failing = run("failures_of_every_side");
        assert!(failing.failures.iter().any(|it| it.side == Side::ThisMachine));
        assert_eq!(standing(&promised, &failing).0, Standing::GeneratorLimited);
    }

    #[test]
    fn a_trial_is_lost_once_more_is_bad_than_may_be_in_all() {
        let run = run("open_with_a_stall");
        let promised = slos(&["p99 < 50ms"]);
        let due = run.requests.due as f64;
        assert!(lost(&promised, &run.timeline, due, Purpose::Prove));
        assert!(!lost(&promised, &run.timeline[..1], due, Purpose::Prove), "the first second was well");
        assert!(!lost(&slos(&["p99 < 1h"]), &run.timeline, due, Purpose::Prove));
    }

    #[test]
    fn what_is_known_is_said_though_the_search_was_ended() {
        let promised = slos(&["p99 < 50ms"]);
        let settings = Settings::new(promised.iter().map(Slo::promise).collect(), 1e6, 1);
        let mut search = Search::new(settings.clone()).unwrap();
        let mut found = CapacityReport::new("x".to_owned(), &promised, settings, search.answer());
        assert_eq!(found.sentences(), ["Nothing was measured."]);
        found.stopped = Some(StopReason::aborted(&"qps > 1 for 1s".parse().unwrap(), "10/s"));
        assert_eq!(found.sentences(), ["Nothing was measured.", "Stopped: 'qps > 1 for 1s' came true at 10/s."]);
        let Step::Trial { .. } = search.next() else { panic!("a search begins with a trial") };
        let run = run("closed_all_well");
        let (result, doubt) = learnt(&promised, &run, 2.0, None);
        search.learn(TrialResult { seconds: 2.0, ..result });
        found.trials.push(CapacityTrial::new(&search.trials()[0], doubt, run));
        found.stopped = Some(StopReason::interrupted());
        found.answer = search.answer();
        assert_eq!(found.sentences(), ["No rate was proven yet; up to 10 req/s short trials kept the promise.", "Stopped: interrupted."]);
        let text = serde_json::to_string(&found).unwrap();
        assert_eq!(serde_json::from_str::<CapacityReport>(&text).unwrap().sentences(), found.sentences());
    }
}
