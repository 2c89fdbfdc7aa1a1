//! The steps of a scenario on both sides: where in a journey a change is.
//!
//! A verdict on all requests together says that B is slower; whoever has to mend it asks which step is. All runs that count are put
//! together, side by side. There is no verdict on a step: with twenty of them one would be called changed by chance alone.

use std::fmt::Write as _;

use analysis::quantity::{NONE, count, nanos};
use measure::{Histogram, Scenario, StepRow, Summary};

use super::Compared;
use crate::visible::{shortened, visible};
use crate::{Style, story};

/// The heads of the columns.
pub(crate) const HEADS: [&str; 6] = ["step", "p50 A", "p50 B", "p99 A", "p99 B", "failed A, B"];
const WIDTHS: [usize; 6] = [34, 9, 9, 9, 9, 14];
const STEP_LETTERS_MAX: usize = 34;

/// A step in all runs of one side together.
#[derive(Default)]
struct Together {
    failed: u64,
    times: Histogram,
}

/// A row for each step that either side has, in the order of A; empty where there is no scenario.
pub(crate) fn rows(compared: &Compared) -> Vec<[String; 6]> {
    let runs = |side: usize| compared.sound().map(move |pair| [&pair.a, &pair.b][side]);
    let scenarios = |side: usize| runs(side).filter_map(|run| run.scenario.as_ref());
    let mut names: Vec<(&str, &str)> = Vec::new();
    for row in scenarios(0).chain(scenarios(1)).flat_map(|scenario| &scenario.steps) {
        if !names.contains(&of(row)) {
            names.push(of(row));
        }
    }
    let several = names.iter().any(|(journey, _)| *journey != names[0].0);
    let together = |side: usize, name: (&str, &str)| {
        let mut all = Together::default();
        for row in scenarios(side).flat_map(|scenario| &scenario.steps).filter(|row| of(row) == name) {
            all.failed += row.failed;
            all.times.add(&row.response_time);
        }
        all
    };
    let row = |(journey, step): (&str, &str)| {
        let [a, b] = [0, 1].map(|side| together(side, (journey, step)));
        let name = if several { format!("{journey} · {step}") } else { step.to_owned() };
        let at = |all: &Together, q: f64| nanos(all.times.known_quantile(q));
        [
            shortened(&visible(&name), STEP_LETTERS_MAX),
            at(&a, 0.5),
            at(&b, 0.5),
            at(&a, 0.99),
            at(&b, 0.99),
            format!("{}, {}", count(a.failed), count(b.failed)),
        ]
    };
    names.into_iter().map(row).collect()
}

/// Journeys a second that went to their end on both sides; `None` where there is no scenario.
pub(crate) fn transactions(compared: &Compared) -> Option<String> {
    let mean = |side: fn(&super::Pair) -> &Summary| {
        let all: Vec<f64> =
            compared.sound().filter_map(|pair| side(pair).scenario.as_ref()).map(|scenario: &Scenario| scenario.tps).collect();
        if all.is_empty() { None } else { Some(all.iter().sum::<f64>() / all.len() as f64) }
    };
    let said = |tps: Option<f64>| tps.map_or_else(|| NONE.to_owned(), story::rate);
    let (a, b) = (mean(|pair| &pair.a), mean(|pair| &pair.b));
    (a.is_some() || b.is_some())
        .then(|| format!("Journeys finished a second (TPS): {} in A, {} in B; the figures above are of requests", said(a), said(b)))
}

/// Both for a terminal; nothing where there is no scenario.
pub(crate) fn text(compared: &Compared, style: &Style) -> String {
    let Some(transactions) = transactions(compared) else { return String::new() };
    let mut text = String::from("\n");
    for line in crate::columns::wrapped(&format!("{transactions}."), style.columns() - 2) {
        let _ = writeln!(text, "  {line}");
    }
    let line = |cells: &[String; 6]| {
        let mut line = format!("  {:<width$}", cells[0], width = WIDTHS[0]);
        cells.iter().zip(WIDTHS).skip(1).for_each(|(cell, width)| line += &format!(" {cell:>width$}"));
        line
    };
    let _ = writeln!(text, "\n{}", style.paint(crate::format::Tone::Aside, &line(&HEADS.map(str::to_owned))));
    for row in rows(compared) {
        let _ = writeln!(text, "{}", line(&row));
    }
    text
}

fn of(row: &StepRow) -> (&str, &str) {
    (&row.journey, &row.name)
}
