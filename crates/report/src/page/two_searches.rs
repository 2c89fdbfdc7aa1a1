//! The page of two searches side by side: what each rate came to on both, and where their capacities lie.

use analysis::compare::{CapacityVerdict, capacity_change};
use analysis::found::CapacityReport;
use analysis::quantity::{NONE, figure};
use serde::Serialize;

use super::find::{Rate, rates};
use super::{Answer, Figure, Kind, Question, RenderedPage, SCHEMA, Table, Tone, View, finished, written};
use crate::diff::searches::{about, cells, said};
use crate::diff::{searches, searches_unlike};
use crate::{Style, visible};

/// What the charts draw of both.
#[derive(Debug, Serialize)]
struct Data {
    sides: [Side; 2],
    /// That of the response time, where both show the same.
    quantile: Option<f64>,
}

#[derive(Debug, Serialize)]
struct Side {
    carries: Option<f64>,
    rates: Vec<Rate>,
}

/// The page of two searches, each with what the user calls it.
#[must_use]
pub fn two_searches(a: (&str, &CapacityReport), b: (&str, &CapacityReport)) -> RenderedPage {
    written(view(a, b))
}

fn view(a: (&str, &CapacityReport), b: (&str, &CapacityReport)) -> View<Data> {
    let (from, to) = (a.1, b.1);
    let side = |found: &CapacityReport| Side { carries: found.answer.carries, rates: rates(found) };
    View {
        schema: SCHEMA,
        kind: Kind::Searches,
        title: format!("{} and {}", visible(a.0), visible(b.0)),
        about: [("A", a), ("B", b)].map(|(side, (name, found))| format!("{side}: {}, {}", visible(name), about(found))).to_vec(),
        standing: None,
        answers: answers(from, to),
        remarks: searches_unlike(from, to).iter().map(|it| finished(&format!("not measured alike: {it}"))).collect(),
        figures: figures(from, to),
        tables: vec![Table::new(
            "side-by-side",
            "Side by side",
            &["", "#A", "#B", "#change"],
            cells(from, to).into_iter().map(Vec::from).collect(),
        )],
        text: searches(a, b, &Style::PLAIN),
        measured_by: String::new(),
        data: Data { sides: [side(from), side(to)], quantile: (from.quantile == to.quantile).then_some(from.quantile) },
    }
}

fn answers(a: &CapacityReport, b: &CapacityReport) -> Vec<Answer> {
    let first = |found: &CapacityReport| found.sentences().first().map_or_else(|| NONE.to_owned(), |it| visible(it));
    let tone = match capacity_change(a.answer.capacity, b.answer.capacity).verdict {
        CapacityVerdict::Worse => Tone::Bad,
        CapacityVerdict::Better => Tone::Good,
        CapacityVerdict::Same => Tone::Plain,
        CapacityVerdict::CannotTell => Tone::Caution,
    };
    vec![
        Answer::measured(Question::Carries, format!("A: {} B: {}", first(a), first(b)), "load"),
        Answer::measured(Question::Changed, said(a, b), "side-by-side").toned(tone),
    ]
}

fn figures(a: &CapacityReport, b: &CapacityReport) -> Vec<Figure> {
    let rate = |found: &CapacityReport| found.answer.carries.map_or_else(|| NONE.to_owned(), |rate| format!("{}/s", figure(rate)));
    vec![Figure::new("A carries", rate(a), ""), Figure::new("B carries", rate(b), "")]
}
