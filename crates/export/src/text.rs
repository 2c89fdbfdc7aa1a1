//! Prometheus' text format and OpenMetrics, which differ in little.
//!
//! Sources: Prometheus' exposition formats, version 0.0.4; OpenMetrics 1.0.0, whose counters are declared without `_total`, and
//! which ends with `# EOF`.

use std::fmt::Write as _;

use crate::board::{BOUNDS, Board, Load, Times};
use crate::family::{Family, Labels, Points, Unit, families};

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    Prometheus,
    OpenMetrics,
}

impl Dialect {
    /// What a scraper accepts; OpenMetrics only if it says so.
    pub fn accepted(accept: &str) -> Self {
        if accept.contains("application/openmetrics-text") { Self::OpenMetrics } else { Self::Prometheus }
    }

    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// Everything on the board.
pub(crate) fn text(board: &Board, dialect: Dialect) -> String {
    let mut out = String::new();
    info(&mut out, board, dialect);
    for family in families(board) {
        write_family(&mut out, board, &family, dialect);
    }
    if dialect == Dialect::OpenMetrics {
        out.push_str("# EOF\n");
    }
    out
}

/// What belongs to the run and not to each of its values.
fn info(out: &mut String, board: &Board, dialect: Dialect) {
    let identity = &board.identity;
    let (declared, kind) = match dialect {
        Dialect::Prometheus => ("loadline_run_info", "gauge"),
        Dialect::OpenMetrics => ("loadline_run", "info"),
    };
    header(out, declared, kind, "The run: its id, its name, its command and its target.");
    let labels = [("run", identity.run.as_str()), ("name", &identity.name), ("command", &identity.command), ("target", &identity.target)];
    line(out, "loadline_run_info", &labels, &[], "1");
    let over = if board.over { "1" } else { "0" };
    header(out, "loadline_run_over", "gauge", "Whether the run is over.");
    line(out, "loadline_run_over", &labels[..2], &[], over);
}

fn header(out: &mut String, name: &str, kind: &str, about: &str) {
    // A String takes everything.
    let _ = writeln!(out, "# HELP {name} {about}\n# TYPE {name} {kind}");
}

fn write_family(out: &mut String, board: &Board, family: &Family<'_>, dialect: Dialect) {
    let unit = match family.unit {
        Unit::None => "",
        Unit::Seconds => "_seconds",
        Unit::Bytes => "_bytes",
    };
    let name = format!("loadline_{}{unit}", family.name);
    let counter = format!("{name}_total");
    let run = [("run", board.identity.run.as_str()), ("name", board.identity.name.as_str())];
    match &family.points {
        Points::Counters(points) => {
            header(out, if dialect == Dialect::OpenMetrics { &name } else { &counter }, "counter", family.about);
            for (labels, _, value) in points {
                line(out, &counter, &run, labels, &number(*value));
            }
        }
        Points::Gauges(points) => {
            header(out, &name, "gauge", family.about);
            for (labels, _, value) in points {
                line(out, &name, &run, labels, &number(*value));
            }
        }
        Points::Histograms(points) => {
            header(out, &name, "histogram", family.about);
            for (labels, load, times) in points {
                histogram(out, &name, &run, labels, load, times);
            }
        }
    }
}

fn histogram(out: &mut String, name: &str, run: &[(&str, &str)], labels: &Labels<'_>, _load: &Load, times: &Times) {
    let bucket = format!("{name}_bucket");
    let mut so_far = 0;
    for (place, count) in times.buckets.iter().enumerate() {
        so_far += count;
        let bound = BOUNDS.get(place).map_or_else(|| "+Inf".to_owned(), |bound| number(*bound));
        let mut with: Labels<'_> = labels.clone();
        with.push(("le", &bound));
        line(out, &bucket, run, &with, &so_far.to_string());
    }
    line(out, &format!("{name}_sum"), run, labels, &number(times.sum));
    line(out, &format!("{name}_count"), run, labels, &times.count.to_string());
}

fn line(out: &mut String, name: &str, run: &[(&str, &str)], labels: &[(&str, &str)], value: &str) {
    out.push_str(name);
    for (place, (label, text)) in run.iter().chain(labels).enumerate() {
        out.push(if place == 0 { '{' } else { ',' });
        out.push_str(label);
        out.push_str("=\"");
        for letter in text.chars() {
            match letter {
                '\\' => out.push_str("\\\\"),
                '"' => out.push_str("\\\""),
                '\n' => out.push_str("\\n"),
                other => out.push(other),
            }
        }
        out.push('"');
    }
    out.push_str("} ");
    out.push_str(value);
    out.push('\n');
}

/// The shortest text that reads back to the same value.
fn number(value: f64) -> String {
    format!("{value}")
}
