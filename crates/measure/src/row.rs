//! A row of any kind, for those who treat all kinds alike: screens, exporters, and tables of levels and of two sides.
//!
//! A step counts requests, a transaction passes through several, a population all that its users send; what is asked of each is the
//! same: how many there were, how they ended, how long they took. A walk through three lists in every place was the alternative, and a kind that
//! is added would be missing in most of them.
//!
//! Invariant: rows come kind by kind, in the order of [`RowKind`], and within a kind as the scenario has them.

use std::collections::BTreeMap;

use crate::{
    Failure, Histogram, JourneyCounts, JourneyRow, PopulationCounts, PopulationRow, Requests, StepCounts, StepRow, Summary, Tally,
};

/// What a row is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RowKind {
    /// One of several loads side by side.
    Population,
    /// A pass of a user through its steps.
    Journey,
    /// Steps that are timed as one.
    Transaction,
    /// A request of a scenario.
    Step,
    /// A line of a list of URLs.
    Url,
    /// A process or a machine that a load came from, of a finished run.
    Site,
}

impl RowKind {
    /// In a word, as a table is headed.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Population => "population",
            Self::Journey => "journey",
            Self::Transaction => "transaction",
            Self::Step => "step",
            Self::Url => "URL",
            Self::Site => "site",
        }
    }

    /// In the order in which they are shown.
    pub const ALL: [Self; 5] = [Self::Population, Self::Journey, Self::Transaction, Self::Step, Self::Url];

    /// Whether it counts passes through several requests, and not requests.
    #[must_use]
    pub const fn is_of_several(self) -> bool {
        matches!(self, Self::Journey | Self::Transaction)
    }
}

/// One row, of an interval or of a finished run.
#[derive(Debug, Clone)]
pub struct Row<'a> {
    /// What it is about.
    pub kind: RowKind,
    /// Of a step, what its journey is called; else empty.
    pub journey: &'a str,
    /// What it is called.
    pub name: &'a str,
    /// Requests that fell due; passes that began.
    pub begun: u64,
    /// Those that succeeded.
    pub succeeded: u64,
    /// Those that failed; passes that were completed with a step that failed.
    pub failed: u64,
    /// Requests that were never sent; passes that broke off.
    pub cut_off: u64,
    /// Failures by class, where they are known.
    pub failures: Vec<(Failure, u64)>,
    /// How long they took; of an interval, those that succeeded.
    pub times: &'a Histogram,
    /// Of an interval, how long those took that failed.
    pub times_failed: Option<&'a Histogram>,
}

impl Tally {
    /// The rows of an interval.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let populations = self.populations.iter().map(Row::from);
        let journeys = self.journeys.iter().map(|row| Row::counted(RowKind::Journey, row));
        let transactions = self.transactions.iter().map(|row| Row::counted(RowKind::Transaction, row));
        let steps = self.steps.iter().map(|row| match self.journeys.get(row.journey as usize) {
            Some(journey) => Row { journey: &journey.name, ..Row::from(row) },
            None => Row { kind: RowKind::Url, ..Row::from(row) },
        });
        populations.chain(journeys).chain(transactions).chain(steps)
    }
}

impl Summary {
    /// The rows of the run.
    pub fn rows(&self) -> impl Iterator<Item = Row<'_>> {
        let of_scenario = self.scenario.iter().flat_map(|scenario| {
            let journeys = scenario.journeys.iter().map(|row| Row::finished(RowKind::Journey, row));
            let transactions = scenario.transactions.iter().map(|row| Row::finished(RowKind::Transaction, row));
            journeys.chain(transactions).chain(scenario.steps.iter().map(Row::from))
        });
        let urls = self.urls.iter().map(|row| Row { kind: RowKind::Url, ..Row::from(row) });
        self.populations.iter().map(Row::from).chain(of_scenario).chain(urls)
    }
}

/// A row of a load under way.
#[derive(Debug, Clone, PartialEq)]
pub struct RowSoFar {
    /// What it is about.
    pub kind: RowKind,
    /// What it is called.
    pub name: String,
    /// Requests that fell due; passes that began.
    pub begun: u64,
    /// All that went wrong.
    pub bad: u64,
    /// How long they took on average in the last interval that had any, in nanoseconds.
    pub mean: Option<f64>,
}

/// The rows of a load under way, from its beginning.
#[derive(Debug, Clone, Default)]
pub struct RowsSoFar(Vec<RowSoFar>);

impl RowsSoFar {
    /// Takes up an interval.
    pub fn add(&mut self, tally: &Tally) {
        if self.0.is_empty() {
            let new = |row: Row<'_>| RowSoFar { kind: row.kind, name: row.name.to_owned(), begun: 0, bad: 0, mean: None };
            self.0 = tally.rows().map(new).collect();
        }
        for (so_far, row) in self.0.iter_mut().zip(tally.rows()) {
            so_far.begun += row.begun;
            so_far.bad += row.bad();
            so_far.mean = row.times.mean().or(so_far.mean);
        }
    }

    /// Whether there are none: the load tells no requests apart.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those of a kind.
    pub fn of(&self, kind: RowKind) -> impl Iterator<Item = &RowSoFar> {
        self.0.iter().filter(move |row| row.kind == kind)
    }
}

impl<'a> Row<'a> {
    /// All that went wrong.
    #[must_use]
    pub const fn bad(&self) -> u64 {
        self.failed + self.cut_off
    }

    fn of(kind: RowKind, name: &'a str, begun: u64, [succeeded, failed, cut_off]: [u64; 3], times: &'a Histogram) -> Self {
        Self { kind, journey: "", name, begun, succeeded, failed, cut_off, failures: Vec::new(), times, times_failed: None }
    }

    fn counted(kind: RowKind, row: &'a JourneyCounts) -> Self {
        let ended = [row.ended_well, row.ended - row.ended_well, row.broke_off.values().sum()];
        Self { failures: listed(&row.broke_off), ..Self::of(kind, &row.name, row.started, ended, &row.lasted) }
    }

    fn finished(kind: RowKind, row: &'a JourneyRow) -> Self {
        Self::of(kind, &row.name, row.started, [row.succeeded, row.completed - row.succeeded, row.broke_off], row.time())
    }
}

impl<'a> From<&'a StepCounts> for Row<'a> {
    fn from(row: &'a StepCounts) -> Self {
        let ended = [row.succeeded, row.failures.values().sum(), 0];
        Self {
            failures: listed(&row.failures),
            times_failed: Some(&row.response_failed),
            ..Self::of(RowKind::Step, &row.name, row.due, ended, &row.response_succeeded)
        }
    }
}

impl<'a> From<&'a PopulationCounts> for Row<'a> {
    fn from(row: &'a PopulationCounts) -> Self {
        let ended = [row.succeeded, row.failures.values().sum(), row.unsent];
        Self {
            failures: listed(&row.failures),
            times_failed: Some(&row.response_failed),
            ..Self::of(RowKind::Population, &row.name, row.due, ended, &row.response_succeeded)
        }
    }
}

impl<'a> From<&'a StepRow> for Row<'a> {
    fn from(row: &'a StepRow) -> Self {
        Self {
            journey: &row.journey,
            failures: row.failures.iter().map(|failure| (failure.class, failure.count)).collect(),
            ..Self::of(RowKind::Step, &row.name, row.due, [row.succeeded, row.failed, 0], &row.response_time)
        }
    }
}

impl<'a> From<&'a PopulationRow> for Row<'a> {
    fn from(row: &'a PopulationRow) -> Self {
        let Requests { due, succeeded, failed, unsent } = row.requests;
        let ended = [succeeded, failed, unsent];
        Self { failures: listed(&row.failures), ..Self::of(RowKind::Population, &row.name, due, ended, &row.response_time) }
    }
}

fn listed(failures: &BTreeMap<Failure, u64>) -> Vec<(Failure, u64)> {
    failures.iter().map(|(class, count)| (*class, *count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn the_rows_so_far_add_up_over_intervals_and_know_the_last_mean() {
        let interval = |due: u64, unsent: u64, ms: Option<u64>| {
            let mut row: PopulationCounts = PopulationCounts { due, unsent, ..PopulationCounts::named("office".to_owned()) };
            ms.iter().for_each(|ms| row.response_succeeded.record(plan::Nanos::from_millis(*ms)));
            let journeys = vec![JourneyCounts { started: due, ..JourneyCounts::named("buy".into()) }];
            Tally { populations: vec![row], journeys, ..Tally::default() }
        };
        let mut rows = RowsSoFar::default();
        assert!(rows.is_empty());
        for (due, unsent, ms) in [(5, 1, Some(8)), (7, 0, Some(4)), (0, 2, None)] {
            rows.add(&interval(due, unsent, ms));
        }
        let of = |kind| rows.of(kind).map(|row| (row.name.as_str(), row.begun, row.bad)).collect::<Vec<_>>();
        assert_eq!(of(RowKind::Population), [("office", 12, 3)]);
        assert_eq!(of(RowKind::Journey), [("buy", 12, 0)]);
        assert!(of(RowKind::Step).is_empty() && !rows.is_empty());
        let mean = rows.of(RowKind::Population).next().and_then(|row| row.mean).unwrap();
        assert!((mean / 4e6 - 1.0).abs() < 0.01, "{mean}: nothing came in the last interval");
    }

    #[test]
    fn rows_of_a_run_come_kind_by_kind_and_those_of_its_steps_are_the_whole() {
        let mut run = fixtures::journeys_of_a_shop();
        run.edit_for_test().populations = vec![PopulationRow::of(&PopulationCounts::named("office".to_owned()), &|count| count as f64)];
        let rows: Vec<Row<'_>> = run.rows().collect();
        assert!(rows.is_sorted_by_key(|row| row.kind));
        let kinds = [RowKind::Population, RowKind::Journey, RowKind::Transaction, RowKind::Step];
        assert!(kinds.iter().all(|kind| rows.iter().any(|row| row.kind == *kind)));
        let steps = || rows.iter().filter(|row| row.kind == RowKind::Step);
        assert_eq!(steps().map(|row| row.begun).sum::<u64>(), run.requests.due);
        assert_eq!(steps().map(Row::bad).sum::<u64>(), run.requests.failed);
        assert!(steps().all(|row| row.failures.iter().map(|(_, count)| count).sum::<u64>() == row.failed && !row.journey.is_empty()));
    }
}
