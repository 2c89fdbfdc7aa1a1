//! Two searches side by side: does it carry more than it did?
//!
//! Unlike two runs, two searches do tell a change from chance, for each gives an interval: where these lie apart, something has changed.
//! What drifted on the machine in between has changed too, and that is said.

use analysis::Validity;
use analysis::compare::{CapacityChange, CapacityVerdict, capacity_change};
use analysis::found::CapacityReport;
use analysis::quantity::{NONE, figure, percent, signed, time};

use super::{paragraph, side_line};
use crate::columns::{Columns, wrapped};
use crate::{Style, story, unlike, visible};

/// The table of two searches, each with what the user calls it, and whether the capacity changed.
#[must_use]
pub fn searches(a: (&str, &CapacityReport), b: (&str, &CapacityReport), style: &Style) -> String {
    let room = style.columns();
    let mut text = String::new();
    for (side, (name, found)) in [("A", a), ("B", b)] {
        text += &side_line(side, &format!("{}: {}", visible(name), about(found)), room);
    }
    let unlike = searches_unlike(a.1, b.1);
    if !unlike.is_empty() {
        text += &paragraph(&format!("Not measured alike: {}.", unlike.join("; ")), room);
    }
    let mut columns = Columns::new(&["", "A", "B", "change"]);
    for row in cells(a.1, b.1) {
        columns.row(&row);
    }
    text.push('\n');
    for line in columns.within(room - 2, &["change"]) {
        text += &format!("  {line}\n");
    }
    text.push('\n');
    for line in wrapped(&said(a.1, b.1), room - 2) {
        text += &format!("  {line}\n");
    }
    text
}

/// What a search asked of which server.
pub(crate) fn about(found: &CapacityReport) -> String {
    let promises: Vec<&str> = found.slo.iter().map(|promise| promise.text.as_str()).collect();
    let asked = found.trials.first().map_or_else(|| NONE.to_owned(), |trial| story::request_of(&trial.summary.plan));
    format!("{asked}, {}", visible(&promises.join(" and ")))
}

/// The rows of the table: what each figure is called, A's, B's, and the change.
pub(crate) fn cells(a: &CapacityReport, b: &CapacityReport) -> Vec<[String; 4]> {
    let row = |name: String, [from, to]: [Option<f64>; 2], show: &dyn Fn(f64) -> String| {
        let said = |value: Option<f64>| value.map_or_else(|| NONE.to_owned(), show);
        let change = from.zip(to).filter(|(from, _)| *from > 0.0);
        [name, said(from), said(to), change.map_or_else(|| NONE.to_owned(), |(from, to)| format!("{} %", signed(to / from - 1.0)))]
    };
    let rate = |rate: f64| format!("{}/s", figure(rate));
    let both = [a, b];
    let between = both.map(|found| match found.answer.capacity.high {
        Some(high) => format!("{} to {}", figure(found.answer.capacity.low), figure(high)),
        None => format!("at least {}", figure(found.answer.capacity.low)),
    });
    let there = both.map(|found| {
        let carries = found.answer.carries?;
        found.rows().into_iter().find(|row| row.rate == carries)
    });
    let [from, to] = between;
    let mut rows = vec![
        row("carries".to_owned(), both.map(|found| found.answer.carries), &rate),
        ["capacity, 95 %".to_owned(), from, to, interval(&capacity_change(a.answer.capacity, b.answer.capacity))],
        row("breaks at".to_owned(), both.map(|found| found.answer.breaks_at.map(|it| it.rate)), &rate),
    ];
    if a.quantile == b.quantile {
        let name = format!("p{} there", percent(a.quantile * 100.0));
        rows.push(row(name, there.map(|row| Some(row?.quantile?.0 as f64)), &time));
    }
    rows.push(row("goodput there".to_owned(), there.map(|row| Some(row?.goodput)), &rate));
    rows
}

fn interval(change: &CapacityChange) -> String {
    match change.high {
        Some(high) => format!("{} to {} %", signed(change.low), signed(high)),
        None if change.low > -1.0 => format!("at least {} %", signed(change.low)),
        None => NONE.to_owned(),
    }
}

/// The verdict, and what it rests on.
pub(crate) fn said(a: &CapacityReport, b: &CapacityReport) -> String {
    let change = capacity_change(a.answer.capacity, b.answer.capacity);
    let share = |share: f64| percent((share.abs() * 1_000.0).round() / 10.0);
    let margin = format!("{} %", share(change.margin));
    let verdict = match (change.verdict, change.high) {
        (CapacityVerdict::Worse, Some(high)) => format!("B carries at least {} % less than A: worse", share(high)),
        (CapacityVerdict::Worse, None) => "B carries less than A: worse".to_owned(),
        (CapacityVerdict::Better, _) => format!("B carries at least {} % more than A: better", share(change.low)),
        (CapacityVerdict::Same, _) => format!("B carries what A carries, within {margin}: the same"),
        (CapacityVerdict::CannotTell, _) => {
            format!(
                "Whether B carries more or less than A by more than {margin} cannot be told: longer searches (--budget) give narrower intervals"
            )
        }
    };
    format!(
        "{verdict}. The change is taken from the ends of both intervals. What else changed between the two searches is in it; loadline compare \
         measures two sides in turn."
    )
}

/// What two searches differ in besides where they lead.
#[must_use]
pub fn searches_unlike(a: &CapacityReport, b: &CapacityReport) -> Vec<String> {
    let promised = |found: &CapacityReport| found.slo.iter().map(|promise| promise.text.as_str()).collect::<Vec<_>>().join(" and ");
    let mut said = Vec::new();
    if promised(a) != promised(b) {
        said.push(format!("the promise is {} in A and {} in B", visible(&promised(a)), visible(&promised(b))));
    }
    if let Some((from, to)) = a.trials.first().zip(b.trials.first()) {
        // A search chooses these by itself, and they follow what it finds.
        said.extend(unlike::runs(&from.summary, &to.summary, &["connections", "duration", "rate", "threads", "warmup"]));
    }
    said
}

/// Why a search says nothing about its server, if it does not.
#[must_use]
pub fn search_is_invalid(found: &CapacityReport) -> Option<String> {
    if found.trials.is_empty() {
        return Some("nothing was measured".to_owned());
    }
    let last = found.trials.last().filter(|_| !found.trials.iter().any(analysis::found::CapacityTrial::counts))?;
    Some(last.doubt.clone().unwrap_or_else(|| Validity::of(&last.summary).why()))
}
