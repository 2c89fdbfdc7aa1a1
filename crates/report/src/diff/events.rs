//! Events of answers that stream in two sweeps, level by level; tokens, where both count them.

use analysis::StreamUnit;
use analysis::quantity::{NONE, figure, nanos};

use super::levels;
use crate::chart::sweep::{SweepCurve, SweepPoint};
use crate::columns::{Column, grown};
use crate::{Style, story};

/// The columns behind the level.
const COLUMNS: [Column; 7] = [
    Column::new("events/s A", 10, 0),
    Column::new("events/s B", 10, 0),
    Column::new("B/A", 6, 2),
    Column::new("first A", 9, 0),
    Column::new("first B", 9, 0),
    Column::new("next A", 9, 1),
    Column::new("next B", 9, 1),
];

/// What the columns mean.
pub(crate) const fn legend(unit: StreamUnit) -> &'static str {
    match unit {
        StreamUnit::Events => {
            "events/s: events of all answers a second. first: 95 % of answers had their first event within this. next: 99 % of events came at \
             most this after the one before."
        }
        StreamUnit::Tokens => {
            "tokens/s: tokens of all answers a second. first: 95 % of answers had their first event within this. next: 99 % of answers took at \
             most this for each token behind the first."
        }
    }
}

/// What both are compared by: tokens, where every level that streams has them.
pub(crate) fn unit(a: &SweepCurve, b: &SweepCurve) -> StreamUnit {
    let mut events = a.points.iter().chain(&b.points).filter_map(|point| point.events);
    if events.all(|events| events.unit() == StreamUnit::Tokens) { StreamUnit::Tokens } else { StreamUnit::Events }
}

fn columns(head: &'static str, unit: StreamUnit) -> Vec<Column> {
    let mut columns: Vec<Column> = std::iter::once(Column::new(head, 9, 0)).chain(COLUMNS).collect();
    if unit == StreamUnit::Tokens {
        (columns[1].head, columns[2].head) = ("tokens/s A", "tokens/s B");
    }
    columns
}

/// The heads of [`rows`], behind that of the level.
pub(crate) fn heads(head: &'static str, unit: StreamUnit) -> Vec<&'static str> {
    columns(head, unit).into_iter().map(|column| column.head).collect()
}

/// A row for each level at which either side looked for events; empty where neither did.
pub(crate) fn rows(a: &SweepCurve, b: &SweepCurve) -> Vec<Vec<String>> {
    let by_events = unit(a, b) == StreamUnit::Events;
    let events = |point: Option<SweepPoint>| point.and_then(|point| point.events);
    let both = levels(a, b).map(|(level, of_a, of_b)| (level, events(of_a), events(of_b)));
    both.filter(|(_, a, b)| a.is_some() || b.is_some())
        .map(|(level, a, b)| {
            let a_second = [a, b].map(|events| events.map(|events| if by_events { events.events_per_second } else { events.per_second() }));
            let [of_a, of_b] = a_second.map(|it| it.map_or_else(|| NONE.to_owned(), story::rate));
            let ratio = a_second[0].zip(a_second[1]).filter(|(a, _)| *a > 0.0);
            let ratio = ratio.map_or_else(|| NONE.to_owned(), |(a, b)| format!("{:.2}", b / a));
            let first = [a, b].map(|events| nanos(events.and_then(|events| events.first_event_p95)));
            let next =
                [a, b].map(|events| nanos(events.and_then(|events| if by_events { events.between_events_p99 } else { events.next_p99() })));
            [figure(level), of_a, of_b, ratio].into_iter().chain(first).chain(next).collect()
        })
        .collect()
}

/// The same for a terminal; nothing where neither side looked for events.
pub(crate) fn text(head: &'static str, a: &SweepCurve, b: &SweepCurve, style: &Style) -> String {
    let rows = rows(a, b);
    if rows.is_empty() {
        return String::new();
    }
    let unit = unit(a, b);
    let columns = columns(head, unit);
    let heads: Vec<String> = heads(head, unit).into_iter().map(str::to_owned).collect();
    let lines = std::iter::once(&heads).chain(&rows).map(|row| grown(&columns, row, "", style.columns()) + "\n");
    format!("\n{}{}", lines.collect::<String>(), super::paragraph(legend(unit), style.columns()))
}
