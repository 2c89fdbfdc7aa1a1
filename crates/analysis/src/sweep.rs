//! Trials over a ladder of loads, and what each level comes to.
//!
//! A sweep keeps every Trial's whole Summary, so that any later question can be answered without measuring again. What
//! tables, charts and conclusions show is one row a level, made here from all its repetitions: counts are added and
//! histograms merged, never averaged, since an average of percentiles is no percentile.
//!
//! QPS in a row counts the requests that **succeeded**. Counting every answer, as wrk does, makes a server look its best
//! where it breaks and refuses quickly.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroU32;

use measure::{Failure, Histogram, RowKind, Scenario, Summary};
use plan::{Nanos, Plan, Rate};
use serde::{Deserialize, Serialize};

use crate::gate::{Check, Judgement, Verdict};
use crate::quantity::{counted, figure};
use crate::reading::judged;
use crate::{GeneratorLimit, LevelEvents, Standing, StopReason, Validity, What, generator_limit};

/// The version of the sweep file. A reader of this version refuses any other by name.
pub const SWEEP_SCHEMA: &str = "loadline.sweep/1";

/// A ladder of loads and what was measured on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// Always [`SWEEP_SCHEMA`].
    pub schema: String,
    /// What its files are named after.
    pub name: String,
    /// When it began: RFC 3339, UTC.
    pub started: String,
    /// The levels that were planned, ascending; of an adaptive sweep, those that were measured.
    pub levels: Vec<Level>,
    /// What a level must keep to be the best one; nothing if empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slo: Vec<Check>,
    /// What was measured, in this order.
    pub trials: Vec<Trial>,
    /// Why it ended before the last level; `None` when every level was measured.
    pub stopped: Option<StopReason>,
    /// What every level was to keep to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// Trials that disagreed with their neighbours and did not repeat themselves: no part of any figure.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set_aside: Vec<Trial>,
    /// Two runs more with profiles of the server, at a part of the best level and at it; they are no part of the ladder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiled: Vec<Trial>,
    /// What the user should know of the sweep besides what its trials say, such as a teardown that failed after the last of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// One measured load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Which level.
    pub level: Level,
    /// Which time this level was measured, from 1.
    pub repetition: u32,
    /// The whole run.
    pub summary: Summary,
}

impl Trial {
    /// How far its figures are the server's, and each check held against it.
    #[must_use]
    pub fn judged(&self, checks: &[Check]) -> (Validity, Vec<Judgement>) {
        let validity = Validity::of(&self.summary);
        let judgements = judged(&self.summary, checks, validity.standing);
        (validity, judgements)
    }
}

/// One value of what a sweep varies: a [`plan::Level`] as it stands in a file, `{"users": 50}`, `{"offered": 500.0}` or
/// `{"journeys": 20.0}`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// So many users at once (closed load).
    Users(NonZeroU32),
    /// So many requests a second (open load).
    Offered(Rate),
    /// So many journeys a second, of a scenario (open load).
    Journeys(Rate),
}

impl Level {
    /// The level of a ladder, of which each rung is a plan like this one.
    #[must_use]
    pub fn of(level: plan::Level, plan: &Plan) -> Self {
        match level {
            plan::Level::Users(users) => Self::Users(users),
            plan::Level::Offered(rate) if plan.scenario().is_some() => Self::Journeys(rate),
            plan::Level::Offered(rate) => Self::Offered(rate),
        }
    }

    /// Whether it is one of open load.
    #[must_use]
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Offered(_) | Self::Journeys(_))
    }

    /// As a number: users, or arrivals a second.
    #[must_use]
    pub fn value(self) -> f64 {
        plan::Level::from(self).value()
    }
}

impl From<Level> for plan::Level {
    fn from(level: Level) -> Self {
        match level {
            Level::Users(users) => Self::Users(users),
            Level::Offered(rate) | Level::Journeys(rate) => Self::Offered(rate),
        }
    }
}

/// In words: `50 users`, `500/s offered`, `20 journeys/s`.
impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Users(users) => f.write_str(&counted(users.get().into(), "user")),
            Self::Offered(rate) => write!(f, "{}/s offered", figure(rate.as_per_second())),
            Self::Journeys(rate) => write!(f, "{} journeys/s", figure(rate.as_per_second())),
        }
    }
}

/// All repetitions of one level as one row.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelRow {
    /// Which level.
    pub level: Level,
    /// How often it was measured.
    pub repetitions: u32,
    /// Requests a second that succeeded: the mean of the repetitions.
    pub qps: f64,
    /// The sample standard deviation of QPS between repetitions; `None` below two.
    pub qps_spread: Option<f64>,
    /// Mean response time in nanoseconds, of the merged exact sums; `None` when no request has one.
    pub ttlb_mean_ns: Option<f64>,
    /// The 99th percentile of all repetitions together; `None` with too few requests.
    pub ttlb_p99: Option<Nanos>,
    /// Requests that fell due.
    pub due: u64,
    /// Of these, the ones that failed or were never sent.
    pub failed: u64,
    /// What failed most often.
    pub failure: Option<Failure>,
    /// The error status that was answered most often.
    pub error_status: Option<u16>,
    /// Succeeded of due, in percent; 100 if nothing fell due.
    pub success_percent: f64,
    /// Cores' worth of processor time loadline used: the mean of the repetitions.
    pub generator_cpu: f64,
    /// The greatest share of one core a single worker used.
    pub generator_cpu_busiest: f64,
    /// Why the generator was the limit, if it was in any repetition.
    pub generator_limit: Option<GeneratorLimit>,
    /// The worst of the repetitions.
    pub standing: Standing,
    /// What made it so; `None` if it is valid.
    pub doubt: Option<What>,
    /// Checks that some repetition broke.
    pub broken: Vec<Check>,
    /// Checks that none broke and some repetition cannot judge.
    pub unjudged: Vec<Check>,
    /// What became of the journeys, where there is a scenario.
    pub journeys: Option<LevelJourneys>,
    /// Its events, where answers stream.
    pub events: Option<LevelEvents>,
}

/// What became of the journeys of a level, all repetitions together.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelJourneys {
    /// Journeys a second that went to their end: the mean of the repetitions.
    pub tps: f64,
    /// Answers for each journey that went to its end; `None` if none did.
    pub requests_per_journey: Option<f64>,
    /// Journeys that ended before their last Step because of a failure.
    pub broke_off: u64,
    /// Journeys that went to their end, whenever they had begun.
    pub completed: u64,
    /// Its populations, transactions and Steps, in the order of [`Summary::rows`].
    pub parts: Vec<LevelPart>,
}

/// What became of a population, a transaction or a Step at a level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LevelPart {
    /// Which of them it is.
    pub kind: RowKind,
    /// Of a Step, what its Journey is called.
    pub journey: String,
    /// What it is called.
    pub name: String,
    /// Requests that fell due; transactions begun.
    pub begun: u64,
    /// Of these, the ones that failed or were never sent; transactions with a Step that failed, or broken off.
    pub failed: u64,
    /// What failed most often.
    pub failure: Option<Failure>,
}

impl LevelJourneys {
    /// Of the repetitions that have a scenario; `None` where none has.
    fn new(runs: &[&Summary]) -> Option<Self> {
        let with_journeys = || runs.iter().filter_map(|run| Some((run.qps, run.scenario.as_ref()?)));
        let scenarios: Vec<&Scenario> = with_journeys().map(|(_, scenario)| scenario).collect();
        scenarios.first()?;
        let (qps, tps) = with_journeys().fold((0.0, 0.0), |(qps, tps), (of_run, scenario)| (qps + of_run, tps + scenario.tps));
        let journeys = || scenarios.iter().flat_map(|scenario| &scenario.journeys);
        Some(Self {
            tps: tps / scenarios.len() as f64,
            requests_per_journey: (tps > 0.0).then(|| qps / tps),
            broke_off: journeys().map(|row| row.broke_off).sum(),
            completed: journeys().map(|row| row.completed).sum(),
            parts: LevelPart::all(runs),
        })
    }
}

impl LevelPart {
    /// Those of all repetitions together.
    fn all(runs: &[&Summary]) -> Vec<Self> {
        let mut parts: Vec<(Self, [u64; Failure::COUNT])> = Vec::new();
        for run in runs {
            // Journeys are told of by themselves.
            for (place, row) in run.rows().filter(|row| row.kind != RowKind::Journey).enumerate() {
                if place == parts.len() {
                    let (journey, name) = (row.journey.to_owned(), row.name.to_owned());
                    let part = Self { kind: row.kind, journey, name, begun: 0, failed: 0, failure: None };
                    parts.push((part, [0; Failure::COUNT]));
                }
                let (part, failures) = &mut parts[place];
                part.begun += row.begun;
                part.failed += row.bad();
                row.failures.iter().for_each(|(class, count)| failures[class.index()] += count);
            }
        }
        parts.into_iter().map(|(part, failures)| Self { failure: most_frequent(&failures), ..part }).collect()
    }
}

/// The class that was counted most often, if any was; of equals the first.
fn most_frequent(failures: &[u64; Failure::COUNT]) -> Option<Failure> {
    let most = Failure::ALL.iter().copied().max_by_key(|class| (failures[class.index()], std::cmp::Reverse(class.index())));
    most.filter(|class| failures[class.index()] > 0)
}

impl LevelRow {
    /// The row of a level from all its repetitions, each held against the checks.
    #[must_use]
    pub fn new(level: Level, runs: &[&Summary], checks: &[Check]) -> Self {
        let (mut standing, mut doubt) = (Standing::Valid, None);
        let (mut broken, mut unjudged) = (Vec::new(), Vec::new());
        for run in runs {
            let validity = Validity::of(run);
            if validity.standing > standing {
                standing = validity.standing;
                doubt = validity.causes.first().map(|cause| cause.what);
            }
            for judgement in judged(run, checks, validity.standing) {
                match judgement.verdict {
                    Verdict::Held => {}
                    Verdict::Broken => broken.push(judgement.check),
                    Verdict::NotJudgeable { .. } => unjudged.push(judgement.check),
                }
            }
        }
        broken.dedup();
        unjudged.retain(|check| !broken.contains(check));
        unjudged.dedup();
        let count = runs.len().max(1) as f64;
        let qps = runs.iter().map(|run| run.qps_succeeded).sum::<f64>() / count;
        let spread = runs.iter().map(|run| (run.qps_succeeded - qps).powi(2)).sum::<f64>();
        let mut times = Histogram::new();
        let (mut due, mut succeeded) = (0, 0);
        let mut failures = [0u64; Failure::COUNT];
        let mut errors: BTreeMap<u16, u64> = BTreeMap::new();
        for run in runs {
            for (status, number) in run.status.range(400..) {
                *errors.entry(*status).or_default() += number;
            }
            times.add(&run.response_time);
            due += run.requests.due;
            succeeded += run.requests.succeeded;
            for failure in &run.failures {
                failures[failure.class.index()] += failure.count;
            }
        }
        Self {
            journeys: LevelJourneys::new(runs),
            events: LevelEvents::of(runs),
            level,
            repetitions: u32::try_from(runs.len()).unwrap_or(u32::MAX),
            qps,
            qps_spread: (runs.len() >= 2).then(|| (spread / (count - 1.0)).sqrt()),
            ttlb_mean_ns: times.mean(),
            ttlb_p99: times.known_quantile(0.99),
            due,
            failed: due - succeeded,
            failure: most_frequent(&failures),
            error_status: errors.into_iter().max_by_key(|(_, number)| *number).map(|(status, _)| status),
            success_percent: if due == 0 { 100.0 } else { succeeded as f64 * 100.0 / due as f64 },
            generator_cpu: runs.iter().map(|run| run.generator.cpu_share).sum::<f64>() / count,
            generator_cpu_busiest: runs.iter().map(|run| run.generator.cpu_share_busiest).fold(0.0, f64::max),
            generator_limit: runs.iter().find_map(|run| generator_limit(run)),
            standing,
            doubt,
            broken,
            unjudged,
        }
    }

    /// What failed most often, in words; of error statuses which one.
    #[must_use]
    pub fn most_often(&self) -> String {
        match (self.failure, self.error_status) {
            (Some(Failure::CheckStatus), Some(status)) => format!("status {status}"),
            (Some(failure), _) => failure.about().to_owned(),
            (None, _) => "never sent, as no connection was free in time".to_owned(),
        }
    }
}

impl Sweep {
    /// Nothing measured yet.
    #[must_use]
    pub fn new(name: String, started: String, levels: Vec<Level>) -> Self {
        Self {
            schema: SWEEP_SCHEMA.to_owned(),
            name,
            started,
            levels,
            slo: Vec::new(),
            checks: Vec::new(),
            trials: Vec::new(),
            stopped: None,
            set_aside: Vec::new(),
            profiled: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// One row for every level that was measured, ascending.
    #[must_use]
    pub fn rows(&self) -> Vec<LevelRow> {
        self.by_level().into_iter().map(|(level, runs)| LevelRow::new(level, &runs, &self.checks)).collect()
    }

    /// Every level with its runs, in ascending order.
    #[must_use]
    pub fn by_level(&self) -> Vec<(Level, Vec<&Summary>)> {
        let mut levels: Vec<(Level, Vec<&Summary>)> = Vec::new();
        for Trial { level, summary, .. } in &self.trials {
            match levels.iter_mut().find(|(other, _)| other == level) {
                Some((_, runs)) => runs.push(summary),
                None => levels.push((*level, vec![summary])),
            }
        }
        levels.sort_by(|(a, _), (b, _)| a.value().total_cmp(&b.value()));
        levels
    }
}

/// Which levels kept which promise, and which say nothing about the server; one sentence each. `rows` are ascending.
#[must_use]
pub fn promises_kept(checks: &[Check], rows: &[LevelRow]) -> Vec<String> {
    let mut said: Vec<String> = checks
        .iter()
        .filter_map(|check| {
            let (broke, unjudged) = (|row: &LevelRow| row.broken.contains(check), |row: &LevelRow| row.unjudged.contains(check));
            let kept = |row: &&LevelRow| !broke(row) && !unjudged(row);
            let last = rows.iter().take_while(kept).last();
            Some(match (rows.iter().find(|row| broke(row)), rows.iter().find(|row| unjudged(row)), last) {
                (None, None, _) => format!("'{check}' held at every level, up to {}.", rows.last()?.level),
                (Some(first), _, None) if broke(&rows[0]) => format!("'{check}' was broken from the first level on, {}.", first.level),
                (Some(first), _, Some(last)) => format!("'{check}' held up to {}; the first to break it was {}.", last.level, first.level),
                (Some(first), _, None) => format!("'{check}' was broken at {}; no lower level can be judged.", first.level),
                (None, Some(first), _) => format!("'{check}' cannot be judged at {}, and no level broke it.", first.level),
            })
        })
        .collect();
    for row in rows.iter().filter(|row| row.standing == Standing::Invalid) {
        let why = row.doubt.map_or_else(String::new, |doubt| format!(": {doubt}"));
        said.push(format!("INVALID: do not use the figures at {}{why}.", row.level));
    }
    said
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use measure::fixtures;

    /// A made-up row: users, QPS, mean TTLB in milliseconds, success in percent.
    pub(crate) fn row(users: u32, qps: f64, ttlb_ms: f64, success_percent: f64) -> LevelRow {
        let due = 10_000;
        let failed = (due as f64 * (100.0 - success_percent) / 100.0).round() as u64;
        LevelRow {
            level: Level::Users(NonZeroU32::new(users).unwrap()),
            repetitions: 1,
            qps,
            qps_spread: None,
            ttlb_mean_ns: Some(ttlb_ms * 1e6),
            ttlb_p99: Some(Nanos((ttlb_ms * 3e6) as u64)),
            due,
            failed,
            failure: (failed > 0).then_some(Failure::RecvReset),
            error_status: None,
            success_percent,
            generator_cpu: 0.6,
            generator_cpu_busiest: 0.4,
            generator_limit: None,
            standing: Standing::Valid,
            doubt: None,
            broken: Vec::new(),
            unjudged: Vec::new(),
            journeys: None,
            events: None,
        }
    }

    fn fixture(name: &str) -> Summary {
        fixtures::summaries().into_iter().find(|(other, _)| *other == name).unwrap().1
    }

    #[test]
    fn repetitions_are_added_up_and_not_averaged() {
        let (good, bad) = (fixture("closed_all_well"), fixture("failures_of_every_side"));
        let row = LevelRow::new(Level::Users(NonZeroU32::new(50).unwrap()), &[&good, &bad], &[]);
        assert_eq!((row.repetitions, row.due, row.failed), (2, 125_000, 200));
        assert_eq!(row.failure, Some(Failure::CheckStatus));
        let sum = (good.response_time.sum() + bad.response_time.sum()) as f64;
        let count = (good.response_time.count() + bad.response_time.count()) as f64;
        assert_eq!(row.ttlb_mean_ns, Some(sum / count));
        assert!((row.qps - (good.qps_succeeded + bad.qps_succeeded) / 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_promise_is_said_with_the_levels_that_kept_it() {
        let level = |users| Level::Users(NonZeroU32::new(users).unwrap());
        let mut sweep = Sweep::new("x".to_owned(), String::new(), Vec::new());
        sweep.checks = ["p99 < 10ms", "failed <= 1", "tls p99 < 1s"].map(|text| text.parse().unwrap()).to_vec();
        let trial = |users, name| Trial { level: level(users), repetition: 1, summary: fixture(name) };
        sweep.trials = vec![trial(1, "closed_all_well"), trial(50, "open_with_a_stall")];
        let rows = sweep.rows();
        assert_eq!(
            promises_kept(&sweep.checks, &rows),
            [
                "'p99 < 10ms' held up to 1 user; the first to break it was 50 users.",
                "'failed <= 1' held up to 1 user; the first to break it was 50 users.",
                "'tls p99 < 1s' cannot be judged at 1 user, and no level broke it.",
            ]
        );
        assert_eq!(promises_kept(&sweep.checks[..1], &rows[..1]), ["'p99 < 10ms' held at every level, up to 1 user."]);
        assert_eq!(promises_kept(&sweep.checks[..1], &rows[1..]), ["'p99 < 10ms' was broken from the first level on, 50 users."]);
        sweep.trials[1].summary.edit_for_test().lag = sweep.trials[1].summary.response_time.clone();
        (0..1_000).for_each(|_| sweep.trials[1].summary.edit_for_test().lag.record(Nanos::SECOND));
        let said = promises_kept(&sweep.checks[..1], &sweep.rows());
        assert!(
            said[0].contains("cannot be judged at 50 users")
                && said[1].starts_with("INVALID: do not use the figures at 50 users: loadline itself was late"),
            "{said:?}"
        );
        let text = serde_json::to_string(&sweep.checks).unwrap();
        assert_eq!(text, "[\"p99 < 10ms\",\"failed <= 1\",\"tls p99 < 1s\"]");
    }

    #[test]
    fn a_spread_takes_two_repetitions() {
        let run = fixture("closed_all_well");
        let level = Level::Users(NonZeroU32::MIN);
        assert_eq!(LevelRow::new(level, &[&run], &[]).qps_spread, None);
        assert_eq!(LevelRow::new(level, &[&run, &run], &[]).qps_spread, Some(0.0));
    }

    #[test]
    fn fast_errors_are_no_throughput() {
        let mut run = fixture("closed_all_well");
        run.edit_for_test().qps = 90_000.0;
        run.edit_for_test().qps_succeeded = 10.0;
        assert_eq!(LevelRow::new(Level::Users(NonZeroU32::MIN), &[&run], &[]).qps, 10.0);
    }

    #[test]
    fn rows_stand_in_the_order_of_their_levels() {
        let level = |users| Level::Users(NonZeroU32::new(users).unwrap());
        let trial = |users, repetition| Trial { level: level(users), repetition, summary: fixture("a_single_request") };
        let mut sweep = Sweep::new("x".to_owned(), String::new(), vec![level(1), level(10)]);
        sweep.trials = vec![trial(10, 1), trial(1, 1), trial(10, 2)];
        let rows: Vec<(f64, u32)> = sweep.rows().iter().map(|row| (row.level.value(), row.repetitions)).collect();
        assert_eq!(rows, [(1.0, 1), (10.0, 2)]);
    }

    #[test]
    fn journeys_and_their_steps_are_added_up_over_repetitions() {
        let run = fixtures::journeys_of_a_shop();
        let level = Level::Users(NonZeroU32::new(50).unwrap());
        let (one, two) = (LevelRow::new(level, &[&run], &[]), LevelRow::new(level, &[&run, &run], &[]));
        let (one, two) = (one.journeys.unwrap(), two.journeys.unwrap());
        assert_eq!((two.tps, two.completed, two.broke_off), (one.tps, 2 * one.completed, 2 * one.broke_off));
        assert_eq!((two.requests_per_journey, one.requests_per_journey), (one.requests_per_journey, Some(run.qps / one.tps)));
        let steps = |level: &LevelJourneys| level.parts.iter().filter(|part| part.kind == RowKind::Step).cloned().collect::<Vec<_>>();
        assert_eq!(steps(&one).iter().map(|step| step.begun).sum::<u64>(), run.requests.due);
        assert_eq!(steps(&two).iter().map(|step| step.failed).sum::<u64>(), 2 * run.requests.failed);
        assert!(steps(&two).iter().all(|step| step.failure.is_some() == (step.failed > 0)));
        let transaction = two.parts.iter().find(|part| part.kind == RowKind::Transaction).unwrap();
        let row = &run.scenario.as_ref().unwrap().transactions[0];
        assert_eq!((transaction.begun, transaction.failed), (2 * row.started, 2 * (row.completed - row.succeeded + row.broke_off)));
        assert_eq!(LevelRow::new(level, &[&fixture("closed_all_well")], &[]).journeys, None);
    }

    #[test]
    fn a_level_reads_as_it_was_written() {
        for (level, text) in [
            (Level::Users(NonZeroU32::new(50).unwrap()), "{\"users\":50}"),
            (Level::Offered(Rate::per_second(2.5).unwrap()), "{\"offered\":2.5}"),
            (Level::Journeys(Rate::per_second(2.5).unwrap()), "{\"journeys\":2.5}"),
        ] {
            assert_eq!(serde_json::to_string(&level).unwrap(), text);
            assert_eq!(serde_json::from_str::<Level>(text).unwrap(), level);
        }
    }
}
