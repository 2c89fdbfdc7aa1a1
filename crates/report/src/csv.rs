//! The course of a run as CSV: one row an interval, for spreadsheets and plotting scripts.
//!
//! Every cell is a number or empty, so nothing is ever quoted and a library would not earn its place. Laid out after
//! RFC 4180 but for the line ends: a lone line feed, which every reader takes and which `awk` needs. Empty means that there
//! were too few requests to tell, never zero.
//!
//! The drain has no row: no load is offered in it, and a last row of a few microseconds would be a spike in every chart.

use std::io;

use analysis::Reading;
use measure::{PackedHistogram, Tick};

use crate::{Format, Style};

/// CSV, one row an interval.
pub const FORMAT: Format =
    Format { name: "csv", about: "the course of the run, one row an interval, for spreadsheets", extension: "csv", render };

/// The columns in order. Seconds count from the start of the run; `warmup` is 1 for intervals that nothing else counts.
pub const HEADER: [&str; 18] = [
    "from_s",
    "to_s",
    "warmup",
    "qps",
    "due",
    "succeeded",
    "failed",
    "unsent",
    "p50_ms",
    "p90_ms",
    "p99_ms",
    "max_ms",
    "bytes_sent",
    "bytes_received",
    "in_flight",
    "connections",
    "cpu_share",
    "lag_max_ms",
];

/// The columns behind those where answers are looked through for events.
pub const HEADER_OF_EVENTS: [&str; 8] = [
    "events",
    "events_per_second",
    "first_event_p50_ms",
    "first_event_p95_ms",
    "first_event_max_ms",
    "between_events_p50_ms",
    "between_events_p99_ms",
    "between_events_max_ms",
];

fn render(reading: &Reading<'_>, _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let streams = reading.run.plan.stream().is_some();
    let heads = HEADER.iter().chain(HEADER_OF_EVENTS.iter().filter(|_| streams));
    writeln!(out, "{}", heads.copied().collect::<Vec<_>>().join(","))?;
    reading.run.load_ticks().try_for_each(|tick| {
        let cells = row(tick).into_iter().chain(events(tick).into_iter().filter(|_| streams));
        writeln!(out, "{}", cells.collect::<Vec<_>>().join(","))
    })
}

fn millis(time: Option<plan::Nanos>) -> String {
    time.map_or_else(String::new, |time| format!("{:.6}", time.as_millis_f64()))
}

fn quantile(times: &PackedHistogram, q: f64) -> String {
    millis(times.known_quantile(q))
}

fn events(tick: &Tick) -> [String; 8] {
    let streams = tick.streams.as_deref();
    let first = |q| streams.map_or_else(String::new, |streams| quantile(&streams.first_event, q));
    let between = |q| streams.map_or_else(String::new, |streams| quantile(&streams.between_events, q));
    [
        streams.map_or(0, |streams| streams.events).to_string(),
        format!("{:.3}", tick.events_per_second().unwrap_or(0.0)),
        first(0.5),
        first(0.95),
        millis(streams.and_then(|streams| streams.first_event.max())),
        between(0.5),
        between(0.99),
        millis(streams.and_then(|streams| streams.between_events.max())),
    ]
}

fn row(tick: &Tick) -> [String; 18] {
    let secs = tick.to.since(tick.from).as_secs_f64();
    [
        format!("{:.3}", tick.from.as_secs_f64()),
        // A run may be shorter than a millisecond, and then an interval must still end after it began.
        if secs < 0.001 { format!("{:.9}", tick.to.as_secs_f64()) } else { format!("{:.3}", tick.to.as_secs_f64()) },
        u8::from(tick.warmup).to_string(),
        format!("{:.3}", tick.qps()),
        tick.due.to_string(),
        tick.succeeded.to_string(),
        tick.failed.to_string(),
        tick.unsent.to_string(),
        quantile(&tick.response_time, 0.5),
        quantile(&tick.response_time, 0.9),
        quantile(&tick.response_time, 0.99),
        millis(tick.response_time.max()),
        tick.bytes_sent.to_string(),
        tick.bytes_received.to_string(),
        tick.in_flight.to_string(),
        tick.connections.to_string(),
        format!("{:.4}", if secs > 0.0 { tick.cpu.as_secs_f64() / secs } else { 0.0 }),
        format!("{:.6}", tick.lag_max.as_millis_f64()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::fixtures;

    #[test]
    fn every_row_has_a_cell_for_every_head_and_every_cell_is_a_number_or_empty() {
        for (name, summary) in fixtures::summaries() {
            let mut bytes = Vec::new();
            (FORMAT.render)(&Reading::new(&summary, &[]), &Style::PLAIN, &mut bytes).unwrap();
            let text = String::from_utf8(bytes).unwrap();
            let mut lines = text.lines();
            let width = HEADER.len() + if summary.plan.stream().is_some() { HEADER_OF_EVENTS.len() } else { 0 };
            assert_eq!(lines.next().unwrap().split(',').count(), width, "{name}");
            let offered = summary.load_ticks().count();
            assert_eq!(lines.clone().count(), offered, "{name}: what came after the load has no row");
            for line in lines {
                let cells: Vec<&str> = line.split(',').collect();
                assert_eq!(cells.len(), width, "{name}: {line}");
                assert!(cells.iter().all(|cell| cell.is_empty() || cell.parse::<f64>().is_ok_and(f64::is_finite)), "{name}: {line}");
            }
        }
    }
}
