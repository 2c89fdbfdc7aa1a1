//! The steps of a scenario on both sides: where in a journey a change is.
//!
//! A verdict on all requests together says that B is slower; whoever has to mend it asks which step is. All runs that count are put
//! together, side by side. There is no verdict on a step: with twenty of them one would be called changed by chance alone.

use std::fmt::Write as _;

use analysis::comparison::Comparison;
use analysis::quantity::{NONE, count, nanos};
use measure::{Histogram, Scenario, StepRow, Summary};

use crate::columns::{Column, grown, wrapped};
use crate::style::Tone;
use crate::visible::{shortened, visible};
use crate::{Style, story};

/// The heads of the columns.
pub(crate) const HEADS: [&str; 6] = ["step", "p50 A", "p50 B", "p99 A", "p99 B", "failed A, B"];
/// How wide those behind the step are, and which a narrow terminal does without.
const FIGURES: [Column; 5] = [Column::wide(9, 2), Column::wide(9, 2), Column::wide(9, 0), Column::wide(9, 0), Column::wide(14, 1)];
const STEP_LETTERS_MAX: usize = 34;

/// A step in all runs of one side together.
#[derive(Default)]
struct Together {
    failed: u64,
    times: Histogram,
}

/// A row for each step that either side has, in the order of A; empty where there is no scenario.
pub(crate) fn rows(compared: &Comparison) -> Vec<[String; 6]> {
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
pub(crate) fn transactions(compared: &Comparison) -> Option<String> {
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
pub(crate) fn text(compared: &Comparison, style: &Style) -> String {
    let Some(transactions) = transactions(compared) else { return String::new() };
    let mut text = String::from("\n");
    for line in wrapped(&format!("{transactions}."), style.columns() - 2) {
        let _ = writeln!(text, "  {line}");
    }
    let rows = rows(compared);
    let name = rows.iter().map(|row| row[0].chars().count()).max().unwrap_or(0);
    let columns: Vec<Column> = std::iter::once(Column::wide(name + 1, 0)).chain(FIGURES).collect();
    let line = |row: &[String; 6]| {
        let mut cells = row.clone();
        cells[0] = format!(" {:<name$}", row[0]);
        grown(&columns, &cells, "", style.columns())
    };
    let _ = writeln!(text, "\n{}", style.paint(Tone::Aside, &line(&HEADS.map(str::to_owned))));
    rows.iter().for_each(|row| text += &format!("{}\n", line(row)));
    text
}

fn of(row: &StepRow) -> (&str, &str) {
    (&row.journey, &row.name)
}
