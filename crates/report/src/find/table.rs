//! The table of a search, which grows row by row while the trials are measured.
//!
//! Its columns follow from the promises: whoever promised a p95 wants to see the p95. Everything that decides a trial stands
//! in its row, so that the answer under the table can be derived again from the table alone.

use analysis::found::{CapacityReport, CapacityTrial, RateUnit};
use analysis::quantity::{count, decimal, four_digits, percent, time};
use analysis::search::{Early, Standing, Unit};

use crate::columns::{Column, grown, remarked};
use crate::style::Tone;
use crate::{Style, story};

/// The line over the rows.
#[must_use]
pub fn header(found: &CapacityReport, style: &Style) -> String {
    let mut heads = heads(found);
    let verdict = heads.pop().unwrap_or_default();
    style.paint(Tone::Aside, &grown(&columns(found), &heads, &verdict, style.columns()))
}

/// The columns up to the verdict, under [`heads`].
fn columns(found: &CapacityReport) -> Vec<Column> {
    let mut columns = vec![Column::wide(9, 0)];
    if found.rated == RateUnit::Journeys {
        columns.extend([Column::wide(8, 3), Column::wide(8, 0)]);
    }
    columns.extend([Column::wide(6, 4), Column::wide(11, 1), Column::wide(10, 2)]);
    columns.extend(found.slo.iter().map(|_| Column::wide(9, 0)));
    columns
}

/// The heads of the columns: those of figures stand right-aligned.
pub(crate) fn heads(found: &CapacityReport) -> Vec<String> {
    let mut heads = match found.rated {
        RateUnit::Requests => vec!["rate/s"],
        RateUnit::Journeys => vec!["begun/s", "QPS", "TPS"],
    };
    heads.extend(["s", "for", "good"]);
    heads.extend(found.slo.iter().map(|promise| promise.name.as_str()));
    heads.push("verdict");
    heads.into_iter().map(str::to_owned).collect()
}

/// One trial.
#[must_use]
pub fn row(found: &CapacityReport, trial: &CapacityTrial, style: &Style) -> String {
    let mut cells = cells(found, trial);
    let verdict = cells.pop().unwrap_or_default();
    let tone = match (trial.result.standing, trial.missed) {
        (Standing::Valid, None) => Tone::Good,
        (Standing::Valid, Some(_)) => Tone::Bad,
        _ => Tone::Caution,
    };
    remarked(&columns(found), &cells, &verdict, tone, style)
}

/// What the columns mean, in words; to stand under the table.
#[must_use]
pub fn legend(found: &CapacityReport) -> String {
    let good = match found.good_within {
        Some(limit) => format!("good: succeeded within {limit}, of all requests that fell due."),
        None => "good: succeeded, of all requests that fell due.".to_owned(),
    };
    let times = if found.slo.iter().any(|it| it.unit == Unit::Seconds) {
        " Times run from when a request was due; a failed request counts as slower than any other, so a percentile among these is 'failed'."
    } else {
        ""
    };
    let rates = match found.rated {
        RateUnit::Requests => "",
        RateUnit::Journeys => " The rate begins journeys; promises are about their requests. TPS: journeys finished a second.",
    };
    format!("{good}{times}{rates} In brackets: where the capacity lies; on simulated servers 19 such intervals in 20 held it.")
}

/// Rate, seconds, purpose, good, a value for each promise, verdict.
pub(crate) fn cells(found: &CapacityReport, trial: &CapacityTrial) -> Vec<String> {
    let run = &trial.summary;
    let due = run.requests.due;
    let mut cells = vec![four_digits(trial.rate)];
    if found.rated == RateUnit::Journeys {
        let tps = run.scenario.as_ref().map_or(0.0, |scenario| scenario.tps);
        cells.extend([story::rate(run.qps), story::rate(tps)]);
    }
    cells.extend([
        decimal(trial.result.seconds, 1),
        trial.purpose.name().to_owned(),
        if due == 0 { "–".to_owned() } else { format!("{} %", percent(found.good(run) as f64 * 100.0 / due as f64)) },
    ]);
    for (promise, seen) in found.slo.iter().zip(&trial.result.seen) {
        cells.push(match promise.unit {
            // A value at the time-out is not a time that was measured: the quantile lies among requests that failed.
            Unit::Seconds if seen.value >= run.plan.connection().timeout.as_secs_f64() => "failed".to_owned(),
            Unit::Seconds => time(seen.value * 1e9),
            Unit::Share => format!("{} %", percent(seen.value * 100.0)),
        });
    }
    cells.push(verdict(found, trial));
    cells
}

fn verdict(found: &CapacityReport, trial: &CapacityTrial) -> String {
    match (trial.result.standing, trial.missed, trial.purpose) {
        (Standing::GeneratorLimited | Standing::Invalid, ..) => {
            format!("does not count: {}", trial.doubt.as_deref().unwrap_or("the load generator was the limit"))
        }
        (Standing::Valid, None, _) => "holds".to_owned(),
        (Standing::Valid, Some(missed), _) => {
            let name = found.slo.get(missed).map_or("the promise", |promise| promise.name.as_str());
            let bad = trial.result.seen.get(missed).map_or(0, |seen| seen.bad);
            let early = if trial.result.early == Some(Early::Fail) { ", ended early" } else { "" };
            format!("breaks {name}: {} of {}{early}", count(bad), count(trial.result.due))
        }
    }
}
