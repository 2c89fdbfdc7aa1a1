//! InfluxDB's line protocol: a line a second.
//!
//! Its users draw what each second was, and do not subtract totals. So seconds are kept until they are taken, each with its own time.
//! Source: the reference of line protocol; integers end with `i`, and spaces, commas and equals signs of tags are escaped.

use std::fmt::Write as _;
use std::time::UNIX_EPOCH;

use crate::Identity;
use crate::board::Second;

/// Percentiles that are told, where enough requests stand behind them.
const QUANTILES: [(f64, &str); 4] = [(0.5, "p50"), (0.9, "p90"), (0.95, "p95"), (0.99, "p99")];

/// The seconds as lines.
pub(crate) fn body(identity: &Identity, seconds: &[Second]) -> String {
    let mut out = String::new();
    for second in seconds {
        line(&mut out, identity, second);
    }
    out
}

fn line(out: &mut String, identity: &Identity, second: &Second) {
    out.push_str("loadline");
    let tags = [("run", &identity.run), ("name", &identity.name), ("command", &identity.command), ("load", &second.load)];
    for (key, value) in tags {
        // An empty tag is a mistake of syntax.
        if !value.is_empty() {
            let _ = write!(out, ",{key}={}", tag(value));
        }
    }
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
    if let Some(mean) = tick.response_time.mean() {
        let _ = write!(out, ",response_time_mean_seconds={}", mean / 1e9);
    }
    for (q, name) in QUANTILES {
        if let Some(time) = tick.response_time.known_quantile(q) {
            let _ = write!(out, ",response_time_{name}_seconds={}", time.as_secs_f64());
        }
    }
    if let Some(time) = tick.response_time.max() {
        let _ = write!(out, ",response_time_max_seconds={}", time.as_secs_f64());
    }
    let at = second.at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let _ = writeln!(out, " {at}");
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
