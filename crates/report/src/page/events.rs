//! Events of answers that streamed, on the page of a run: its course, its figures and its table.

use analysis::quantity::{figure, nanos};
use measure::{PackedHistogram, Summary, Tick};
use serde::Serialize;

use super::{Figure, Table};
use crate::{story, streamed};

/// The events of an interval, as charts show them.
#[derive(Debug, Default, Serialize)]
pub(super) struct Interval {
    events: u64,
    first_mean_ns: Option<u64>,
    first_p95_ns: Option<u64>,
    first_max_ns: Option<u64>,
    between_p99_ns: Option<u64>,
    between_max_ns: Option<u64>,
}

impl Interval {
    /// `None` where none came.
    pub(super) fn of(tick: &Tick) -> Option<Self> {
        let streams = tick.streams.as_deref()?;
        let quantile = |times: &PackedHistogram, q| times.known_quantile(q).map(|time| time.0);
        Some(Self {
            events: streams.events,
            first_mean_ns: streams.first_event.mean().map(|mean| mean.round() as u64),
            first_p95_ns: quantile(&streams.first_event, 0.95),
            first_max_ns: streams.first_event.max().map(|max| max.0),
            between_p99_ns: quantile(&streams.between_events, 0.99),
            between_max_ns: streams.between_events.max().map(|max| max.0),
        })
    }
}

/// What stands out of them.
pub(super) fn figures(summary: &Summary) -> Vec<Figure> {
    let Some(streams) = summary.streams.as_deref() else { return Vec::new() };
    let each = streams.events_per_second_each.map_or_else(String::new, |each| format!("{} in one answer", figure(each)));
    vec![
        Figure::new("events a second", story::rate(streams.events_per_second), each),
        Figure::new(
            "first event p95",
            nanos(streams.first_event.known_quantile(0.95)),
            format!("the next within {} (p99)", nanos(streams.between_events.known_quantile(0.99))),
        ),
    ]
}

/// Their times, and how fast they came.
pub(super) fn table(summary: &Summary) -> Option<Table> {
    let said = streamed::said(summary).filter(|_| summary.streams.is_some())?;
    Some(Table::new("events", "Events", &streamed::HEADS, streamed::rows(summary)).noted(super::finished(&said)))
}
