//! The table of a sweep, which grows row by row while the levels are measured.
//!
//! A table that appears at its end leaves the user two minutes without a word. So its columns have fixed widths, wide
//! enough for every figure, and every row is written as soon as its level is measured; what only the whole can tell (which
//! level carries most) is said afterwards in words.

use analysis::quantity::{NONE, count, figure, percent, time};
use analysis::{Level, LevelRow, Standing};

use crate::format::Tone;
use crate::{Colour, Style};

/// Heads and widths, in order; figures stand right-aligned under them.
const COLUMNS: [(&str, usize); 7] =
    [("users", 9), ("QPS", 10), ("±", 7), ("TTLB mean", 10), ("p99", 9), ("success", 10), ("loadline CPU", 13)];
/// The head of the first column where the ladder is one of rates.
const OFFERED: &str = "offered/s";

/// The line over the rows.
#[must_use]
pub fn header(level: Level, style: &Style) -> String {
    let cells = COLUMNS.map(|(head, _)| if head == "users" && matches!(level, Level::Offered(_)) { OFFERED } else { head }.to_owned());
    style.paint(Tone::Aside, &line(&cells, ""))
}

/// One level. What failed and whether the generator was the limit stand behind the figures.
#[must_use]
pub fn row(row: &LevelRow, style: &Style) -> String {
    let cells = cells(row);
    let plain = line(&cells, "");
    let remark = remark(row);
    let tone = if row.failed > 0 || row.standing == Standing::Invalid || !row.broken.is_empty() { Tone::Bad } else { Tone::Caution };
    match (remark.is_empty(), style.colour) {
        (true, _) => plain,
        (false, Colour::Plain) => line(&cells, &remark),
        (false, Colour::Ansi) => format!("{plain}   {}", style.paint(tone, &remark)),
    }
}

/// What the columns mean, in words; to stand under the table.
#[must_use]
pub fn legend(rows: &[LevelRow]) -> String {
    let mut said = "QPS: requests a second that succeeded. TTLB: response time, to the last byte. p99: 99 % took at most so long. \
                    loadline CPU: cores this tool used."
        .to_owned();
    if rows.iter().any(|row| row.qps_spread.is_some()) {
        said.push_str(" ±: standard deviation between repetitions.");
    }
    if rows.iter().any(|row| row.standing == Standing::Degraded && row.generator_limit.is_none()) {
        said.push_str(" DEGRADED: something on this machine made times longer, or requests fewer; the JSON says what.");
    }
    if rows.iter().any(|row| row.ttlb_p99.is_none()) {
        said.push_str(" –: too few requests to tell.");
    }
    said
}

pub(crate) fn cells(row: &LevelRow) -> [String; 7] {
    let none = || NONE.to_owned();
    [
        match row.level {
            Level::Users(users) => count(users.get().into()),
            Level::Offered(rate) => figure(rate.as_per_second()),
        },
        figure(row.qps),
        row.qps_spread.filter(|_| row.qps > 0.0).map_or_else(none, |spread| format!("{:.1} %", spread * 100.0 / row.qps)),
        row.ttlb_mean_ns.map_or_else(none, time),
        row.ttlb_p99.map_or_else(none, |p99| time(p99.0 as f64)),
        format!("{} %", percent(row.success_percent)),
        format!("{:.2}", row.generator_cpu),
    ]
}

/// What failed, and whether the generator was the limit.
pub(crate) fn remark(row: &LevelRow) -> String {
    let mut said = Vec::new();
    if row.failed > 0 {
        let most = row.failure.map_or("never sent", measure::Failure::about);
        said.push(format!("{} failed: {most}", count(row.failed)));
    }
    match row.standing {
        Standing::Invalid => said.push("INVALID: loadline was too late".to_owned()),
        _ if row.generator_limit.is_some() => said.push("loadline was the limit".to_owned()),
        Standing::Degraded => said.push("DEGRADED".to_owned()),
        Standing::Valid => {}
    }
    said.extend(row.broken.iter().map(|check| format!("BROKEN {check}")));
    said.extend(row.unjudged.iter().map(|check| format!("not judgeable {check}")));
    said.join("; ")
}

fn line(cells: &[String; 7], remark: &str) -> String {
    let mut line = String::new();
    for (cell, (_, width)) in cells.iter().zip(COLUMNS) {
        line.push_str(&format!(" {cell:>width$}"));
    }
    if remark.is_empty() { line } else { format!("{line}   {remark}") }
}
