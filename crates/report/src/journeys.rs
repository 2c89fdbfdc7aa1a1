//! The rows of a scenario: journeys and steps, in the same columns for every format.

use analysis::quantity::{NONE, count, nanos, time};
use measure::{CheckRow, Histogram, JourneyRow, PackedHistogram, PopulationRow, Requests, RowKind, Scenario, SiteRow, StepRow, Summary};

use crate::story;
use crate::visible::{shortened, visible};

/// Longer names would push the figures off the page; the JSON holds them whole.
const NAME_LETTERS_MAX: usize = 36;

/// The heads of the table of journeys.
const JOURNEYS: [&str; 9] = ["journey", "started", "finished", "TPS", "broke off", "mean", "50 %", "99 %", "max"];
/// The heads of the table of transactions.
const TRANSACTIONS: [&str; 9] = ["transaction", "started", "finished", "TPS", "broke off", "mean", "50 %", "99 %", "max"];
/// The heads of the table of steps.
const STEPS: [&str; 10] = ["step", "requests", "QPS", "failed", "mean", "50 %", "90 %", "99 %", "max", "checks"];

/// The heads of the table of populations.
const POPULATIONS: [&str; 10] = ["population", "requests", "QPS", "failed", "unsent", "mean", "50 %", "90 %", "99 %", "max"];

/// The heads of the table of URLs.
const URLS: [&str; 10] = ["URL", "requests", "QPS", "failed", "mean", "50 %", "90 %", "99 %", "max", "checks"];

/// The heads of the table of the names that another tool gave its requests.
const LABELS: [&str; 9] = ["label", "requests", "QPS", "failed", "mean", "50 %", "90 %", "99 %", "max"];

/// The heads of the table of sites.
const SITES: [&str; 10] = ["site", "threads", "requests", "failed", "50 %", "99 %", "max", "connect 50 %", "lag 99 %", "clock ±"];

/// What a narrow terminal does without, the least first.
const JOURNEYS_LEAST: [&str; 5] = ["mean", "max", "50 %", "started", "broke off"];
/// The same of steps and of URLs.
const STEPS_LEAST: [&str; 6] = ["mean", "QPS", "90 %", "max", "50 %", "checks"];

/// The same of sites.
const SITES_LEAST: [&str; 5] = ["max", "clock ±", "threads", "connect 50 %", "failed"];

/// The same of populations.
const POPULATIONS_LEAST: [&str; 6] = ["mean", "QPS", "90 %", "max", "50 %", "unsent"];

/// Transactions beside queries, and how they hang together.
pub(crate) fn transactions(scenario: &Scenario, qps: f64) -> String {
    let requests = format!("{} requests/s (QPS)", story::rate(qps));
    if let Some(why) = scenario.nothing_finished() {
        return format!("{}; {requests}", visible(&why));
    }
    let Some(ratio) = scenario.requests_per_journey else { return format!("no journey finished; {requests}") };
    let offered = scenario.tps_offered.map_or_else(String::new, |offered| format!(" of {} started", story::rate(offered)));
    let well = if (scenario.tps - scenario.tps_succeeded).abs() < 1e-9 {
        "all without a failed step".to_owned()
    } else {
        format!("{} of them without a failed step", story::rate(scenario.tps_succeeded))
    };
    format!("{} journeys/s (TPS){offered}, {well}; {requests}: {} requests a journey", story::rate(scenario.tps), story::rate(ratio))
}

/// What the columns mean.
const LEGEND: &str = "A journey's time runs from when its first request was due to the last byte of its last answer, pauses included. Journeys under \
     way when the load ended are not in the columns finished and broke off. Checks: passed of all.";

/// What the columns of transactions mean.
const TRANSACTIONS_LEGEND: &str = "A transaction's time is what its requests took together; with include_pauses it runs from when its first \
     request was due to the last byte of its last answer.";

/// What the columns of sites mean.
const SITES_LEGEND: &str = "Connect: opening a connection from there. Lag: what loadline itself added there. Clock: how exactly the moment is known at \
     which the load began there.";

/// Where a page has the rows of a kind, and what they are, as a heading.
pub(crate) const fn titled(kind: RowKind) -> (&'static str, &'static str) {
    match kind {
        RowKind::Population => ("populations", "Populations"),
        RowKind::Journey => ("journeys", "Journeys"),
        RowKind::Transaction => ("transactions", "Transactions"),
        RowKind::Step => ("steps", "Steps"),
        RowKind::Url => ("urls", "URLs"),
        RowKind::Site => ("sites", "Where the load came from"),
    }
}

/// The rows of one kind, in the same columns for every format.
pub(crate) struct Rows {
    pub(crate) kind: RowKind,
    /// The heads of the columns; the first says what a row is.
    pub(crate) heads: &'static [&'static str],
    /// What a narrow terminal does without, the least first.
    pub(crate) least: &'static [&'static str],
    pub(crate) cells: Vec<Vec<String>>,
    /// What the columns mean; empty where they say it themselves.
    pub(crate) legend: &'static str,
}

impl Rows {
    /// All rows of a run, kind by kind; a kind that it has none of is left out.
    pub(crate) fn all(run: &Summary) -> Vec<Self> {
        fn of<T>(
            kind: RowKind,
            (heads, least): (&'static [&'static str], &'static [&'static str]),
            rows: &[T],
            cells: fn(&T) -> Vec<String>,
            legend: &'static str,
        ) -> Rows {
            Rows { kind, heads, least, cells: rows.iter().map(cells).collect(), legend }
        }
        let (journeys, transactions, steps) = match &run.scenario {
            Some(scenario) => (&*scenario.journeys, &*scenario.transactions, &*scenario.steps),
            None => Default::default(),
        };
        let mut all = vec![
            of(RowKind::Population, (&POPULATIONS, &POPULATIONS_LEAST), &run.populations, population, ""),
            of(RowKind::Journey, (&JOURNEYS, &JOURNEYS_LEAST), journeys, journey, LEGEND),
            of(RowKind::Transaction, (&TRANSACTIONS, &JOURNEYS_LEAST), transactions, journey, TRANSACTIONS_LEGEND),
            of(RowKind::Step, (&STEPS, &STEPS_LEAST), steps, step, ""),
            match run.measured_by {
                Some(_) => of(RowKind::Url, (&LABELS, &STEPS_LEAST), &run.urls, label, ""),
                None => of(RowKind::Url, (&URLS, &STEPS_LEAST), &run.urls, step, ""),
            },
            of(RowKind::Site, (&SITES, &SITES_LEAST), &run.sites, site, SITES_LEGEND),
        ];
        all.retain(|rows| !rows.cells.is_empty());
        all
    }
}

/// The steps of a scenario, or the URLs of a list.
pub(crate) fn counted(run: &Summary) -> &[StepRow] {
    run.scenario.as_ref().map_or(&run.urls, |scenario| &scenario.steps)
}

fn journey(row: &JourneyRow) -> Vec<String> {
    let mut cells = vec![name(&row.name), count(row.started), count(row.completed), story::rate(row.tps), count(row.broke_off)];
    cells.extend(times(row.time(), &[0.5, 0.99]));
    cells
}

fn population(row: &PopulationRow) -> Vec<String> {
    let Requests { due, failed, unsent, .. } = row.requests;
    let mut cells = vec![name(&row.name), count(due), story::rate(row.qps), count(failed), count(unsent)];
    cells.extend(times(&row.response_time, &[0.5, 0.9, 0.99]));
    cells
}

fn site(row: &SiteRow) -> Vec<String> {
    let known = |times: &PackedHistogram, q| nanos(times.known_quantile(q));
    let gone = if row.lost.is_some() { ", gone" } else { "" };
    vec![
        format!("{}{gone}", name(&row.name)),
        count(row.threads.into()),
        count(row.requests.due),
        count(row.requests.failed),
        known(&row.response_time, 0.5),
        known(&row.response_time, 0.99),
        nanos(row.response_time.max()),
        known(&row.connect, 0.5),
        known(&row.lag, 0.99),
        nanos(row.clock_error),
    ]
}

fn step(row: &StepRow) -> Vec<String> {
    let mut cells = vec![name(&row.name), count(row.due), story::rate(row.qps), count(row.failed)];
    cells.extend(times(&row.response_time, &[0.5, 0.9, 0.99]));
    cells.push(checks(&row.checks));
    cells
}

/// As a step, of which no checks are told.
fn label(row: &StepRow) -> Vec<String> {
    let mut cells = step(row);
    cells.truncate(LABELS.len());
    cells
}

/// Every check that did not always hold, with its first example.
pub(crate) fn broken(steps: &[StepRow]) -> Vec<String> {
    let steps = steps.iter().flat_map(|step| step.checks.iter().map(move |check| (step, check)));
    steps
        .filter(|(_, check)| check.failed > 0)
        .map(|(step, check)| {
            let example = check.example.as_ref().map_or_else(String::new, |example| format!(", first: {}", visible(&example.text)));
            let all = check.held + check.failed;
            format!("{} · {}: broken {} of {} times{example}", visible(&step.name), visible(&check.check), count(check.failed), count(all))
        })
        .collect()
}

fn times(times: &Histogram, quantiles: &[f64]) -> Vec<String> {
    let mut cells = vec![times.mean().map_or_else(|| NONE.to_owned(), time)];
    cells.extend(quantiles.iter().map(|q| nanos(times.known_quantile(*q))));
    cells.push(nanos(times.max()));
    cells
}

fn checks(checks: &[CheckRow]) -> String {
    let held: u64 = checks.iter().map(|check| check.held).sum();
    let all = held + checks.iter().map(|check| check.failed).sum::<u64>();
    match all {
        0 => NONE.to_owned(),
        _ if held == all => "all passed".to_owned(),
        _ => format!("{} of {}", count(held), count(all)),
    }
}

fn name(name: &str) -> String {
    shortened(&visible(name), NAME_LETTERS_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::fixtures;

    #[test]
    fn the_name_of_a_step_cannot_steer_the_terminal() {
        let mut scenario = fixtures::journeys_of_a_shop().scenario.clone().unwrap();
        for row in &mut scenario.journeys {
            (row.completed, row.broke_off) = (0, row.started);
        }
        let all: u64 = scenario.journeys.iter().map(|row| row.started).sum();
        scenario.steps.iter_mut().for_each(|step| step.failed = 0);
        (scenario.steps[0].name, scenario.steps[0].failed) = ("\x1b[2J".to_owned(), all);
        let said = transactions(&scenario, 100.0);
        assert!(said.contains(&format!("all {} broke off at the step '\\x1b[2J'", count(all))), "{said}");
    }
}
