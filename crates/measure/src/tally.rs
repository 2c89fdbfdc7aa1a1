//! Counts by Step and by Journey, beside those of the whole.
//!
//! "p99 is 800 ms" of a shop whose one slow request is the payment sends its reader to the wrong place. So each Step and each
//! Journey of a scenario has a row of its own, counted by the same rules as the whole and added up as exactly. A recorder of
//! everything a row was the alternative: a Step has no connections, no processor time and no oddities of its own, and twenty of them
//! would make each second of a run's journal twenty times as long.
//!
//! The URLs of a list are Steps without Journeys.
//!
//! Invariants: a row has its place, which every worker knows; rows are as many as the scenario has Steps, Checks and Journeys,
//! whatever the number of requests. Empty for a run without a scenario, and then it costs nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Example, Failure, Histogram, PackedHistogram, PopulationCounts, StreamCounts, StreamRow, grouped, streamed};

/// The rows of a scenario; `H` is how times are held: in a file, [`PackedHistogram`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tally<H = Histogram> {
    /// In the order of the scenario.
    pub journeys: Vec<JourneyCounts<H>>,
    /// In the order of the scenario.
    pub steps: Vec<StepCounts<H>>,
    /// Groups of Steps that are timed as one, in the order of the scenario: counted as Journeys are.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub transactions: Vec<JourneyCounts<H>>,
    /// In the order of the plan; none where there is one load.
    #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
    pub populations: Vec<PopulationCounts<H>>,
}

/// What one Journey, or one transaction, came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JourneyCounts<H = Histogram> {
    /// What it is called.
    #[serde(with = "text")]
    pub name: Arc<str>,
    /// Begun in the measured span: the first request of each fell due in it.
    pub started: u64,
    /// Of these, went to their last Step.
    pub completed: u64,
    /// Of these, without a Step that failed.
    pub succeeded: u64,
    /// Ended before their last Step, by what failed.
    pub broke_off: BTreeMap<Failure, u64>,
    /// Completed within the measured span, whenever they were begun: what transactions a second count.
    pub ended: u64,
    /// Of these, without a Step that failed.
    pub ended_well: u64,
    /// From when the first request was due to the last byte of the last answer, pauses included; of those that were completed.
    pub lasted: H,
}

/// What one Step came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepCounts<H = Histogram> {
    /// What it is called.
    #[serde(with = "text")]
    pub name: Arc<str>,
    /// The place of its Journey.
    pub journey: u32,
    /// Requests that fell due in the measured span.
    pub due: u64,
    /// Of these, succeeded.
    pub succeeded: u64,
    /// Of these, failed, by class.
    pub failures: BTreeMap<Failure, u64>,
    /// Answers whose last byte came within the measured span.
    pub answered: u64,
    /// Response times of those that succeeded.
    pub response_succeeded: H,
    /// Response times of those that were answered and failed, or timed out.
    pub response_failed: H,
    /// Its Checks, in their order.
    pub checks: Vec<CheckCounts>,
    /// The first example of each class.
    pub examples: BTreeMap<Failure, Example>,
    /// Events of answers that stream; `None` until the first comes.
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    pub streams: Option<Box<StreamCounts<H>>>,
}

/// What one Check of a Step came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckCounts {
    /// What it promises, as it was written.
    #[serde(with = "text")]
    pub check: Arc<str>,
    /// Answers that kept it.
    pub held: u64,
    /// Answers that did not.
    pub failed: u64,
    /// The first of these.
    pub example: Option<Example>,
}

/// Names that every worker's rows share, as the text they are.
mod text {
    use std::sync::Arc;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(text)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<str>, D::Error> {
        String::deserialize(deserializer).map(Arc::from)
    }
}

impl JourneyCounts {
    /// Nothing yet.
    #[must_use]
    pub fn named(name: Arc<str>) -> Self {
        Self { name, started: 0, completed: 0, succeeded: 0, broke_off: BTreeMap::new(), ended: 0, ended_well: 0, lasted: Histogram::new() }
    }

    fn add(&mut self, other: &Self) {
        // Taken apart without `..`, so that a count nobody adds does not compile.
        let Self { name: _, started, completed, succeeded, broke_off, ended, ended_well, lasted } = other;
        self.started += started;
        self.completed += completed;
        self.succeeded += succeeded;
        add_classes(&mut self.broke_off, broke_off);
        self.ended += ended;
        self.ended_well += ended_well;
        self.lasted.add(lasted);
    }
}

impl<H: Default> StepCounts<H> {
    /// Nothing yet, without Checks.
    #[must_use]
    pub fn empty(name: Arc<str>, journey: u32) -> Self {
        Self {
            name,
            journey,
            due: 0,
            succeeded: 0,
            failures: BTreeMap::new(),
            answered: 0,
            response_succeeded: H::default(),
            response_failed: H::default(),
            checks: Vec::new(),
            examples: BTreeMap::new(),
            streams: None,
        }
    }
}

impl StepCounts {
    /// Nothing yet, with these Checks.
    #[must_use]
    pub fn named(name: Arc<str>, journey: u32, checks: impl IntoIterator<Item = Arc<str>>) -> Self {
        let checks = checks.into_iter().map(|check| CheckCounts { check, held: 0, failed: 0, example: None }).collect();
        Self { checks, ..Self::empty(name, journey) }
    }

    fn add(&mut self, other: &Self) {
        let Self {
            name: _,
            journey: _,
            due,
            succeeded,
            failures,
            answered,
            response_succeeded,
            response_failed,
            checks,
            examples,
            streams,
        } = other;
        streamed::add(&mut self.streams, streams.as_deref());
        self.due += due;
        self.succeeded += succeeded;
        add_classes(&mut self.failures, failures);
        self.answered += answered;
        self.response_succeeded.add(response_succeeded);
        self.response_failed.add(response_failed);
        for (kept, more) in self.checks.iter_mut().zip(checks) {
            kept.held += more.held;
            kept.failed += more.failed;
            kept.example = earlier(kept.example.take(), more.example.as_ref());
        }
        for (class, example) in examples {
            let kept = earlier(self.examples.remove(class), Some(example));
            self.examples.extend(kept.map(|kept| (*class, kept)));
        }
    }

    pub(crate) fn succeed(&mut self, outcome: &crate::Outcome) {
        self.succeeded += 1;
        self.response_succeeded.record(outcome.response_time());
    }

    /// Response times of all, good and bad together.
    #[must_use]
    pub fn response(&self) -> Histogram {
        let mut all = self.response_succeeded.clone();
        all.add(&self.response_failed);
        all
    }
}

/// The earlier wins, and between two of the same moment the lesser text, so that order cannot matter.
fn earlier(kept: Option<Example>, other: Option<&Example>) -> Option<Example> {
    match (kept, other) {
        (Some(kept), Some(other)) if *other < kept => Some(other.clone()),
        (None, other) => other.cloned(),
        (kept, _) => kept,
    }
}

fn add_classes(to: &mut BTreeMap<Failure, u64>, from: &BTreeMap<Failure, u64>) {
    for (class, count) in from {
        *to.entry(*class).or_default() += count;
    }
}

impl<H> JourneyCounts<H> {
    fn convert<'a, T>(&'a self, convert: impl Fn(&'a H) -> Result<T, String>) -> Result<JourneyCounts<T>, String> {
        let Self { name, started, completed, succeeded, broke_off, ended, ended_well, lasted } = self;
        Ok(JourneyCounts {
            name: name.clone(),
            started: *started,
            completed: *completed,
            succeeded: *succeeded,
            broke_off: broke_off.clone(),
            ended: *ended,
            ended_well: *ended_well,
            lasted: convert(lasted)?,
        })
    }
}

impl<H> StepCounts<H> {
    fn convert<'a, T>(&'a self, convert: impl Fn(&'a H) -> Result<T, String> + Copy) -> Result<StepCounts<T>, String> {
        let Self { name, journey, due, succeeded, failures, answered, response_succeeded, response_failed, checks, examples, streams } =
            self;
        Ok(StepCounts {
            name: name.clone(),
            journey: *journey,
            due: *due,
            succeeded: *succeeded,
            failures: failures.clone(),
            answered: *answered,
            response_succeeded: convert(response_succeeded)?,
            response_failed: convert(response_failed)?,
            checks: checks.clone(),
            examples: examples.clone(),
            streams: streamed::convert(streams.as_deref(), convert)?,
        })
    }
}

impl<H> Default for Tally<H> {
    fn default() -> Self {
        Self { journeys: Vec::new(), steps: Vec::new(), transactions: Vec::new(), populations: Vec::new() }
    }
}

impl<H> Tally<H> {
    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.journeys.is_empty() && self.steps.is_empty() && self.populations.is_empty()
    }

    /// The same with times that are held otherwise.
    ///
    /// # Errors
    /// As `convert`.
    pub(crate) fn convert<'a, T>(&'a self, convert: impl Fn(&'a H) -> Result<T, String> + Copy) -> Result<Tally<T>, String> {
        let journeys = |rows: &'a [JourneyCounts<H>]| rows.iter().map(|row| row.convert(convert)).collect::<Result<_, _>>();
        Ok(Tally {
            journeys: journeys(&self.journeys)?,
            steps: self.steps.iter().map(|row| row.convert(convert)).collect::<Result<_, _>>()?,
            transactions: journeys(&self.transactions)?,
            populations: self.populations.iter().map(|row| row.convert(convert)).collect::<Result<_, _>>()?,
        })
    }
}

impl Tally<PackedHistogram> {
    /// The counts again; in words, if a histogram is none.
    pub(crate) fn unpack(&self) -> Result<Tally, String> {
        self.convert(PackedHistogram::unpack)
    }
}

impl Tally {
    /// The same rows with nothing counted yet.
    #[must_use]
    pub(crate) fn emptied(&self) -> Self {
        let journeys = |rows: &[JourneyCounts]| rows.iter().map(|row| JourneyCounts::named(row.name.clone())).collect();
        let checks = |row: &StepCounts| row.checks.iter().map(|check| check.check.clone()).collect::<Vec<_>>();
        Self {
            journeys: journeys(&self.journeys),
            transactions: journeys(&self.transactions),
            steps: self.steps.iter().map(|row| StepCounts::named(row.name.clone(), row.journey, checks(row))).collect(),
            populations: self.populations.iter().map(|row| PopulationCounts::named(row.name.clone())).collect(),
        }
    }

    /// Adds another's counts, which has the same rows or none.
    pub fn add(&mut self, other: &Self) {
        if self.is_empty() && !other.is_empty() {
            *self = other.clone();
            return;
        }
        self.journeys.iter_mut().zip(&other.journeys).for_each(|(row, more)| row.add(more));
        self.transactions.iter_mut().zip(&other.transactions).for_each(|(row, more)| row.add(more));
        self.steps.iter_mut().zip(&other.steps).for_each(|(row, more)| row.add(more));
        self.populations.iter_mut().zip(&other.populations).for_each(|(row, more)| row.add(more));
    }
}

/// A scenario's rows in a finished run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// Transactions a second: journeys that went to their last Step within the measured span.
    pub tps: f64,
    /// Of these, those without a Step that failed.
    pub tps_succeeded: f64,
    /// Journeys a second that the timetable asked for; `None` in closed load.
    pub tps_offered: Option<f64>,
    /// Requests a second for each transaction a second; `None` where no journey went to its end.
    pub requests_per_journey: Option<f64>,
    /// A row a Journey.
    pub journeys: Vec<JourneyRow>,
    /// A row a Step.
    pub steps: Vec<StepRow>,
    /// A row a transaction: a group of Steps that is timed as one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transactions: Vec<JourneyRow>,
}

/// A Journey of a finished run, or a transaction. `started = completed + broke_off + unfinished`, always.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JourneyRow {
    /// What it is called.
    pub name: String,
    /// Begun in the measured span: its first request fell due in it.
    pub started: u64,
    /// Went to their last Step.
    pub completed: u64,
    /// Of these, without a Step that failed.
    pub succeeded: u64,
    /// Ended before their last Step because of a failure; a transaction ends with its Journey.
    pub broke_off: u64,
    /// Under way when the load ended.
    pub unfinished: u64,
    /// Completed a second.
    pub tps: f64,
    /// How long those took that were completed.
    #[serde(flatten)]
    pub took: Took,
}

/// How long what a [`JourneyRow`] is about took, under the name that says what that is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Took {
    /// Of a Journey: from when the first request was due to the last byte of the last answer, pauses included.
    #[serde(rename = "journey_time")]
    Journey(Histogram),
    /// Of a transaction: what the requests took together, or the same as of a Journey where the scenario includes the pauses.
    #[serde(rename = "transaction_time")]
    Transaction(Histogram),
}

/// A Step of a finished run, or a URL of a list. `due = succeeded + failed`, always.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepRow {
    /// What it is called.
    pub name: String,
    /// What its Journey is called; empty where there are none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub journey: String,
    /// Requests that fell due in the measured span.
    pub due: u64,
    /// Succeeded.
    pub succeeded: u64,
    /// Failed.
    pub failed: u64,
    /// Answers a second.
    pub qps: f64,
    /// From due to the last byte: every request that was answered or timed out.
    pub response_time: Histogram,
    /// Failures by class, most frequent first.
    pub failures: Vec<crate::FailureCount>,
    /// Its Checks.
    pub checks: Vec<CheckRow>,
    /// Its answers that streamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<Box<StreamRow>>,
}

/// A Check of a finished run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRow {
    /// What it promises, as it was written.
    pub check: String,
    /// Answers that kept it.
    pub held: u64,
    /// Answers that did not.
    pub failed: u64,
    /// The first of these.
    pub example: Option<Example>,
}

impl Scenario {
    /// Where journeys were begun and every one of them broke off: that, and the step at which it happened, if it was always the same.
    #[must_use]
    pub fn nothing_finished(&self) -> Option<String> {
        let sum = |count: fn(&JourneyRow) -> u64| self.journeys.iter().map(count).sum::<u64>();
        let broke_off = sum(|row| row.broke_off);
        if broke_off == 0 || sum(|row| row.completed) > 0 {
            return None;
        }
        // A step that fails may be passed all the same, so only one that failed alone is it.
        let mut suspects = self.steps.iter().filter(|step| step.failed > 0);
        let place = match (suspects.next(), suspects.next()) {
            (Some(step), None) if step.failed >= broke_off => format!(" at the step '{}'", step.name),
            _ => String::new(),
        };
        let all = if broke_off == 1 { "the only one".to_owned() } else { format!("all {}", grouped(&broke_off.to_string())) };
        Some(format!("No journey finished: {all} broke off{place}"))
    }

    /// The rows in their final form; `None` where there are none. `a_second` turns a count into a rate.
    pub(crate) fn of(
        tally: &Tally,
        answered: u64,
        tps_offered: Option<f64>,
        conceal: &dyn Fn(&Example) -> Example,
        a_second: &dyn Fn(u64) -> f64,
    ) -> Option<Self> {
        if tally.journeys.is_empty() {
            return None;
        }
        let ended: u64 = tally.journeys.iter().map(|row| row.ended).sum();
        Some(Self {
            tps: a_second(ended),
            tps_succeeded: a_second(tally.journeys.iter().map(|row| row.ended_well).sum()),
            tps_offered,
            requests_per_journey: (ended > 0).then(|| answered as f64 / ended as f64),
            journeys: tally.journeys.iter().map(|row| JourneyRow::of(row, Took::Journey, a_second)).collect(),
            steps: StepRow::all_of(tally, conceal, a_second),
            transactions: tally.transactions.iter().map(|row| JourneyRow::of(row, Took::Transaction, a_second)).collect(),
        })
    }
}

impl StepRow {
    /// The rows in their final form.
    pub(crate) fn all_of(tally: &Tally, conceal: &dyn Fn(&Example) -> Example, a_second: &dyn Fn(u64) -> f64) -> Vec<Self> {
        let steps = tally.steps.iter().map(|row| {
            let mut failures: Vec<crate::FailureCount> = row
                .failures
                .iter()
                .map(|(class, count)| crate::FailureCount {
                    class: *class,
                    side: class.side(),
                    count: *count,
                    example: row.examples.get(class).map(conceal),
                })
                .collect();
            failures.sort_by_key(|failure| std::cmp::Reverse(failure.count));
            let failed = row.failures.values().sum::<u64>();
            assert_eq!(row.due, row.succeeded + failed, "every request of the step '{}' succeeded or failed", row.name);
            // A URL may hold a secret in its query.
            let name = conceal(&Example { at: plan::Nanos::ZERO, text: row.name.to_string() }).text;
            StepRow {
                name,
                journey: tally.journeys.get(row.journey as usize).map_or_else(String::new, |journey| journey.name.to_string()),
                due: row.due,
                succeeded: row.succeeded,
                failed,
                qps: a_second(row.answered),
                response_time: row.response(),
                failures,
                checks: row
                    .checks
                    .iter()
                    .map(|check| CheckRow {
                        check: check.check.to_string(),
                        held: check.held,
                        failed: check.failed,
                        example: check.example.as_ref().map(conceal),
                    })
                    .collect(),
                streams: StreamRow::of_some(row.streams.as_deref(), a_second),
            }
        });
        steps.collect()
    }

    /// Adds what another run of the same load came to; `weights` are how long each lasted.
    pub(crate) fn add(&mut self, other: &Self, weights: (f64, f64)) {
        let Self { name: _, journey: _, due, succeeded, failed, qps, response_time, failures, checks, streams } = self;
        StreamRow::add_some(streams, other.streams.as_deref(), weights);
        *due += other.due;
        *succeeded += other.succeeded;
        *failed += other.failed;
        *qps = mean_of((*qps, other.qps), weights);
        response_time.add(&other.response_time);
        for failure in &other.failures {
            match failures.iter_mut().find(|known| known.class == failure.class) {
                Some(known) => known.count += failure.count,
                None => failures.push(failure.clone()),
            }
        }
        for (check, more) in checks.iter_mut().zip(&other.checks) {
            check.held += more.held;
            check.failed += more.failed;
        }
    }
}

impl JourneyRow {
    fn of(row: &JourneyCounts, took: fn(Histogram) -> Took, a_second: &dyn Fn(u64) -> f64) -> Self {
        let broke_off = row.broke_off.values().sum();
        Self {
            name: row.name.to_string(),
            started: row.started,
            completed: row.completed,
            succeeded: row.succeeded,
            broke_off,
            unfinished: row.started.saturating_sub(row.completed + broke_off),
            tps: a_second(row.ended),
            took: took(row.lasted.clone()),
        }
    }

    /// How long those took that were completed.
    #[must_use]
    pub const fn time(&self) -> &Histogram {
        let (Took::Journey(time) | Took::Transaction(time)) = &self.took;
        time
    }

    /// Adds what another run of the same load came to; `weights` are how long each lasted.
    pub(crate) fn add(&mut self, other: &Self, weights: (f64, f64)) {
        let Self { name: _, started, completed, succeeded, broke_off, unfinished, tps, took } = self;
        *started += other.started;
        *completed += other.completed;
        *succeeded += other.succeeded;
        *broke_off += other.broke_off;
        *unfinished += other.unfinished;
        *tps = mean_of((*tps, other.tps), weights);
        let (Took::Journey(time) | Took::Transaction(time)) = took;
        time.add(other.time());
    }
}

pub(crate) fn mean_of(rates: (f64, f64), weights: (f64, f64)) -> f64 {
    let sum = weights.0 + weights.1;
    if sum > 0.0 { (rates.0 * weights.0 + rates.1 * weights.1) / sum } else { rates.0 }
}

/// How a Journey ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JourneyEnd {
    /// At its last Step, and no Step of it had failed.
    Succeeded,
    /// At its last Step, after one that failed.
    Completed,
    /// Before its last Step, because of this.
    BrokeOff(Failure),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;
    use plan::Nanos;
    use proptest::prelude::*;

    fn tally(requests: &[(usize, u64, bool)]) -> Tally {
        let mut tally = Tally {
            journeys: vec![JourneyCounts::named("j".into())],
            steps: vec![StepCounts::named("a".into(), 0, ["status 200".into()]), StepCounts::named("b".into(), 0, [])],
            transactions: vec![JourneyCounts::named("t".into())],
            populations: vec![PopulationCounts::named("p".to_owned())],
        };
        for (step, millis, well) in requests {
            let row = &mut tally.steps[*step];
            row.due += 1;
            let took = Nanos::from_millis(*millis);
            if *well {
                row.succeeded += 1;
                row.response_succeeded.record(took);
            } else {
                *row.failures.entry(Failure::CheckFailed).or_default() += 1;
                row.response_failed.record(took);
                row.examples.entry(Failure::CheckFailed).or_insert_with(|| Example { at: took, text: format!("{millis}") });
            }
            tally.populations[0].due += 1;
            tally.populations[0].response_succeeded.record(took);
            for row in [&mut tally.journeys[0], &mut tally.transactions[0]] {
                row.started += 1;
                row.lasted.record(took);
            }
        }
        tally
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn rows_add_up_in_any_order_and_read_back(
            first in prop::collection::vec((0usize..2, 1u64..500, any::<bool>()), 0..20),
            second in prop::collection::vec((0usize..2, 1u64..500, any::<bool>()), 0..20),
        ) {
            let (first, second) = (tally(&first), tally(&second));
            let mut forward = Tally::default();
            forward.add(&first);
            forward.add(&second);
            let mut backward = second.clone();
            backward.add(&first);
            prop_assert_eq!(&forward, &backward);
            let text = serde_json::to_string(&forward.convert(|times| Ok(times.pack())).unwrap()).unwrap();
            let read: Tally<PackedHistogram> = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(read.unpack().unwrap(), forward);
        }
    }

    #[test]
    fn every_journey_and_every_request_of_a_step_has_an_end() {
        let run = fixtures::journeys_of_a_shop();
        let scenario = run.scenario.clone().unwrap();
        for row in &scenario.journeys {
            assert_eq!(row.started, row.completed + row.broke_off + row.unfinished, "{}", row.name);
        }
        assert_eq!(scenario.steps.iter().map(|row| row.due).sum::<u64>(), run.requests.due);
        assert_eq!(scenario.steps.iter().map(|row| row.failed).sum::<u64>(), run.requests.failed);
        assert_eq!(scenario.journeys.iter().map(|row| row.started).sum::<u64>(), 4_000);
        assert!(scenario.tps > scenario.tps_succeeded && run.qps > scenario.tps);
    }
}
