//! The populations, transactions and steps of a scenario on both sides: where a change is.
//!
//! A verdict on all requests together says that B is slower; whoever has to mend it asks which step is. All runs that count are put
//! together, side by side. There is no verdict on a row: with twenty of them one would be called changed by chance alone.

use std::fmt::Write as _;

use analysis::comparison::Comparison;
use analysis::quantity::{NONE, count, nanos};
use measure::{Histogram, RowKind, Scenario, Summary};

use crate::columns::{Column, grown, wrapped};
use crate::style::Tone;
use crate::visible::{shortened, visible};
use crate::{Style, story};

/// The heads of the columns behind the one that says what a row is.
const HEADS: [&str; 5] = ["p50 A", "p50 B", "p99 A", "p99 B", "failed A, B"];
/// How wide these are, and which a narrow terminal does without.
const FIGURES: [Column; 5] = [Column::wide(9, 2), Column::wide(9, 2), Column::wide(9, 0), Column::wide(9, 0), Column::wide(14, 1)];
const NAME_LETTERS_MAX: usize = 34;

/// The rows of a kind on both sides.
pub(crate) struct Both {
    pub(crate) kind: RowKind,
    pub(crate) heads: [&'static str; 6],
    pub(crate) rows: Vec<[String; 6]>,
}

/// A row in all runs of one side together.
#[derive(Default)]
struct Together {
    bad: u64,
    times: Histogram,
}

/// A row for each population, transaction and step that either side has, kind by kind, in the order of A; empty where there is no scenario.
pub(crate) fn both(compared: &Comparison) -> Vec<Both> {
    let of_kind = |kind: RowKind| {
        let rows = |side: usize| compared.sound().flat_map(move |pair| [&pair.a, &pair.b][side].rows()).filter(move |row| row.kind == kind);
        let mut names: Vec<(&str, &str)> = Vec::new();
        for row in rows(0).chain(rows(1)) {
            if !names.contains(&(row.journey, row.name)) {
                names.push((row.journey, row.name));
            }
        }
        let several = names.iter().any(|(journey, _)| *journey != names[0].0);
        let together = |side: usize, name: (&str, &str)| {
            let mut all = Together::default();
            for row in rows(side).filter(|row| (row.journey, row.name) == name) {
                all.bad += row.bad();
                all.times.add(row.times);
            }
            all
        };
        let row = |(journey, name): &(&str, &str)| {
            let [a, b] = [0, 1].map(|side| together(side, (journey, name)));
            let name = if several { format!("{journey} · {name}") } else { (*name).to_owned() };
            let at = |all: &Together, q: f64| nanos(all.times.known_quantile(q));
            [
                shortened(&visible(&name), NAME_LETTERS_MAX),
                at(&a, 0.5),
                at(&b, 0.5),
                at(&a, 0.99),
                at(&b, 0.99),
                format!("{}, {}", count(a.bad), count(b.bad)),
            ]
        };
        let [p50_a, p50_b, p99_a, p99_b, failed] = HEADS;
        Both { kind, heads: [kind.name(), p50_a, p50_b, p99_a, p99_b, failed], rows: names.iter().map(row).collect() }
    };
    let kinds = [RowKind::Population, RowKind::Transaction, RowKind::Step];
    kinds.into_iter().map(of_kind).filter(|both| !both.rows.is_empty()).collect()
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
    for Both { heads, rows, .. } in both(compared) {
        let name = rows.iter().map(|row| row[0].chars().count()).max().unwrap_or(0).max(heads[0].len());
        let columns: Vec<Column> = std::iter::once(Column::wide(name + 1, 0)).chain(FIGURES).collect();
        let line = |row: &[String; 6]| {
            let mut cells = row.clone();
            cells[0] = format!(" {:<name$}", row[0]);
            grown(&columns, &cells, "", style.columns())
        };
        let _ = writeln!(text, "\n{}", style.paint(Tone::Aside, &line(&heads.map(str::to_owned))));
        rows.iter().for_each(|row| text += &format!("{}\n", line(row)));
    }
    text
}
