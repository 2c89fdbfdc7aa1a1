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

fn render(reading: &Reading<'_>, _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    writeln!(out, "{}", HEADER.join(","))?;
    reading.run.load_ticks().try_for_each(|tick| writeln!(out, "{}", row(tick).join(",")))
}

fn row(tick: &Tick) -> [String; 18] {
    let secs = tick.to.since(tick.from).as_secs_f64();
    let millis = |time: Option<plan::Nanos>| time.map_or_else(String::new, |time| format!("{:.6}", time.as_millis_f64()));
    let quantile = |times: &PackedHistogram, q| millis(times.known_quantile(q));
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
            assert_eq!(lines.next().unwrap().split(',').count(), HEADER.len());
            let offered = summary.load_ticks().count();
            assert_eq!(lines.clone().count(), offered, "{name}: what came after the load has no row");
            for line in lines {
                let cells: Vec<&str> = line.split(',').collect();
                assert_eq!(cells.len(), HEADER.len(), "{name}: {line}");
                assert!(cells.iter().all(|cell| cell.is_empty() || cell.parse::<f64>().is_ok_and(f64::is_finite)), "{name}: {line}");
            }
        }
    }
}
