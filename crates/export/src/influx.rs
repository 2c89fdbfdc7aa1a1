//! InfluxDB's line protocol: a line a second, and one for each population, transaction and step of a scenario.
//!
//! Its users draw what each second was, and do not subtract totals. So seconds are kept until they are taken, each with its own time.
//! Source: the reference of line protocol; integers end with `i`, and spaces, commas and equals signs of tags are escaped.

use std::fmt::Write as _;
use std::time::UNIX_EPOCH;

use measure::RowKind;

use crate::Identity;
use crate::board::{Figures, QUANTILES, Second};

/// The seconds as lines.
pub(crate) fn body(identity: &Identity, seconds: &[Second]) -> String {
    let mut out = String::new();
    for second in seconds {
        line(&mut out, identity, second);
    }
    out
}

fn line(out: &mut String, identity: &Identity, second: &Second) {
    tagged(out, "loadline", (identity, second), &[]);
    let tick = &second.tick;
    let _ = write!(
        out,
        " due={}i,answered={}i,succeeded={}i,failed={}i,unsent={}i,bytes_sent={}i,bytes_received={}i,in_flight={}i,connections={}i",
        tick.due,
        tick.answered,
        tick.succeeded,
        tick.failed,
        tick.unsent,
        tick.bytes_sent,
        tick.bytes_received,
        tick.in_flight,
        tick.connections
    );
    let _ = write!(out, ",qps={},lag_max_seconds={}", tick.qps(), tick.lag_max.as_secs_f64());
    if let (Some(journeys), Some(tps)) = (&tick.journeys, tick.tps()) {
        let _ = write!(
            out,
            ",tps={tps},journeys_started={}i,journeys_completed={}i,journeys_succeeded={}i,journeys_broke_off={}i",
            journeys.started, journeys.completed, journeys.succeeded, journeys.broke_off
        );
    }
    if let (Some(streams), Some(a_second), Some((first, between))) = (&tick.streams, tick.events_per_second(), &second.events) {
        let _ = write!(out, ",events={}i,events_per_second={a_second}", streams.events);
        times(out, "first_event", first);
        times(out, "between_events", between);
    }
    ended(out, "response_time", &second.figures, second);
    for row in &second.rows {
        // The rest of what there is to tell of them is in the run's own line.
        let (measurement, begun, cut_off, time) = match row.kind {
            RowKind::Population => ("loadline_population", "due", "unsent", "response_time"),
            RowKind::Transaction => ("loadline_transaction", "started", "broke_off", "transaction_time"),
            RowKind::Step => ("loadline_step", "due", "", "response_time"),
            RowKind::Journey | RowKind::Url | RowKind::Site => continue,
        };
        tagged(out, measurement, (identity, second), &[("journey", &row.journey), (row.kind.name(), &row.name)]);
        let _ = write!(out, " {begun}={}i,succeeded={}i,failed={}i", row.begun, row.succeeded, row.failed);
        if !cut_off.is_empty() {
            let _ = write!(out, ",{cut_off}={}i", row.cut_off);
        }
        ended(out, time, &row.times, second);
    }
}

/// A line's beginning: its measurement, and the tags of the run and its own.
fn tagged(out: &mut String, measurement: &str, (identity, second): (&Identity, &Second), own: &[(&str, &str)]) {
    out.push_str(measurement);
    let run = [("run", &*identity.run), ("name", &*identity.name), ("command", &*identity.command), ("load", &*second.load)];
    for (key, value) in run.iter().chain(own) {
        // An empty tag is a mistake of syntax.
        if !value.is_empty() {
            let _ = write!(out, ",{key}={}", tag(value));
        }
    }
}

/// A line's end: times, and when it was.
fn ended(out: &mut String, time: &str, figures: &Figures, second: &Second) {
    times(out, time, figures);
    let at = second.at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let _ = writeln!(out, " {at}");
}

/// Those of a second that there are.
fn times(out: &mut String, time: &str, figures: &Figures) {
    let quantiles = QUANTILES.iter().zip(figures.quantiles).map(|((_, name), value)| (*name, value));
    for (name, value) in std::iter::once(("mean", figures.mean)).chain(quantiles).chain([("max", figures.max)]) {
        if let Some(value) = value {
            let _ = write!(out, ",{time}_{name}_seconds={value}");
        }
    }
}

/// A tag's value: a line break would begin another line, and a backslash at its end would escape what follows.
fn tag(value: &str) -> String {
    let mut out = String::new();
    for letter in value.chars() {
        match letter {
            ',' | '=' | ' ' => out.extend(['\\', letter]),
            '\\' => out.push('/'),
            other if other.is_control() => out.push('_'),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::tag;

    #[test]
    fn a_tag_cannot_end_its_line_nor_itself() {
        assert_eq!(tag("a b,c=d"), "a\\ b\\,c\\=d");
        assert_eq!(tag("end\\\nnext value=1"), "end/_next\\ value\\=1");
    }
}
