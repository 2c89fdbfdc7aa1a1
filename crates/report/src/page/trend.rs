//! The page of one name over time: what it carried run by run, and when that changed for good.
//!
//! A single run is compared with the one before it, and nobody sees that each of ten was one percent slower. So all runs of a name
//! stand in one chart, and a change is only called one if the runs after it differ from those before by more than runs differ
//! from each other: the same rule by which changes within a run are found.

use analysis::drift::{Shift, change_points};
use analysis::quantity::{counted, figure, nanos, percent, signed};
use plan::Nanos;
use serde::Serialize;

use super::{Answer, Figure, Kind, Question, RenderedPage, SCHEMA, Table, Tone, View, written};
use crate::visible::visible;

/// One run of the name.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// What tells it from all others.
    pub id: String,
    /// When it began: RFC 3339, UTC.
    pub started: String,
    /// What was checked out.
    pub revision: Option<String>,
    /// Requests a second.
    pub qps: Option<f64>,
    /// The median response time in nanoseconds.
    pub p50_ns: Option<u64>,
    /// The 99th percentile in nanoseconds.
    pub p99_ns: Option<u64>,
    /// The share that did not succeed, from 0 to 1.
    pub failed_share: Option<f64>,
}

/// Two sides of a change need so many runs each.
const RUNS_MIN: usize = 10;
/// So many bars stand in a line.
const BARS_MAX: usize = 40;
/// A revision is shown so far.
const REVISION_LETTERS: usize = 7;

/// What the charts draw.
#[derive(Debug, Serialize)]
struct Data {
    kind: String,
    runs: Vec<Run>,
    series: Vec<Series>,
}

/// A point of every series.
#[derive(Debug, Serialize)]
struct Run {
    id: String,
    started: String,
    revision: Option<String>,
}

/// One figure, run by run.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Series {
    id: &'static str,
    name: &'static str,
    unit: Unit,
    values: Vec<Option<f64>>,
    changes: Vec<Change>,
}

/// How values read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Unit {
    Figure,
    TimeNs,
    Percent,
}

/// From one run on it is another.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Change {
    /// The first run after it, counted from nothing.
    at: usize,
    before: f64,
    after: f64,
    change: f64,
}

/// The same for a terminal.
#[derive(Debug, Clone, PartialEq)]
pub struct InText {
    /// What is to be said, a sentence each.
    pub sentences: Vec<String>,
    /// A figure and its course over the last of these runs, a letter each.
    pub courses: Vec<(&'static str, String)>,
    /// Its first row are the heads; the latest run comes first.
    pub table: Vec<Vec<String>>,
}

/// What the page of [`trend`] says, as text.
#[must_use]
pub fn trend_in_text(name: &str, kind: &str, points: &[Point]) -> InText {
    let view = view(name, kind, points);
    let table = &view.tables[0];
    let heads = table.heads.iter().map(|head| head.text.clone()).collect();
    let rows = table.rows.iter().zip(points.iter().rev()).map(|(row, point)| [&[day(point)], &row[1..]].concat());
    InText {
        sentences: view
            .about
            .iter()
            .cloned()
            .chain(view.answers.iter().map(|answer| super::finished(&answer.sentence)))
            .chain(view.remarks)
            .collect(),
        courses: view.data.series.iter().filter_map(|one| Some((one.name, course(one)?))).collect(),
        table: std::iter::once(heads).chain(rows).collect(),
    }
}

/// A bar for each of the last runs, from the least to the most of them; `None` where they are all alike, or nothing is known.
fn course(series: &Series) -> Option<String> {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let last = &series.values[series.values.len().saturating_sub(BARS_MAX)..];
    let least = last.iter().flatten().copied().min_by(f64::total_cmp)?;
    let most = last.iter().flatten().copied().max_by(f64::total_cmp)?;
    let bar = |value: &Option<f64>| value.map_or(' ', |value| BARS[((value - least) / (most - least) * 7.0).round() as usize]);
    let bars: String = last.iter().map(bar).collect();
    let said = |value: f64| shown(series.unit, Some(value));
    (most > least).then(|| format!("{bars}  from {} to {}", said(least), said(most)))
}

/// The page of the runs of one name and kind, the earliest first.
#[must_use]
pub fn trend(name: &str, kind: &str, points: &[Point]) -> RenderedPage {
    written(view(name, kind, points))
}

fn view(name: &str, kind: &str, points: &[Point]) -> View<Data> {
    let series = vec![
        series("qps", "requests a second", Unit::Figure, points.iter().map(|point| point.qps).collect()),
        series("p50", "median response time", Unit::TimeNs, points.iter().map(|point| point.p50_ns.map(|ns| ns as f64)).collect()),
        series("p99", "99th percentile", Unit::TimeNs, points.iter().map(|point| point.p99_ns.map(|ns| ns as f64)).collect()),
        series("failed", "failed", Unit::Percent, points.iter().map(|point| point.failed_share.map(|share| share * 100.0)).collect()),
    ];
    let about = match (points.first(), points.last()) {
        (Some(first), Some(last)) if points.len() > 1 => {
            format!("{} called {}, from {} to {}.", counted(points.len() as u64, kind), visible(name), day(first), day(last))
        }
        (Some(only), _) => format!("One {kind} called {}, of {}.", visible(name), day(only)),
        _ => format!("No {kind} is called {}.", visible(name)),
    };
    let answers = vec![carries(points), changed(&series, points)];
    let remarks = sentences(&series, points).into_iter().skip(1).collect();
    let text = answers.iter().map(|answer| format!("  {}\n", answer.sentence)).collect();
    View {
        schema: SCHEMA,
        kind: Kind::Trend,
        title: visible(name),
        about: vec![about],
        standing: None,
        figures: figures(&series, points),
        tables: vec![table(points)],
        text,
        remarks,
        answers,
        measured_by: String::new(),
        data: Data {
            kind: kind.to_owned(),
            runs: points
                .iter()
                .map(|point| Run {
                    id: visible(&point.id),
                    started: visible(&point.started),
                    revision: point.revision.as_deref().map(|revision| short(&visible(revision))),
                })
                .collect(),
            series,
        },
    }
}

/// Changes are looked for between values that are there; nothing and everything failed is a change of its own kind, and left to the
/// eye.
fn series(id: &'static str, name: &'static str, unit: Unit, values: Vec<Option<f64>>) -> Series {
    let known: Vec<(usize, f64)> =
        values.iter().enumerate().filter_map(|(at, value)| Some((at, value.filter(|value| *value > 0.0)?))).collect();
    let logs: Vec<f64> = known.iter().map(|(_, value)| value.ln()).collect();
    let place = |shift: Shift| Some(Change { at: known.get(shift.at)?.0, before: shift.before, after: shift.after, change: shift.change });
    let changes = change_points(&logs).into_iter().filter_map(place).collect();
    Series { id, name, unit, values, changes }
}

fn carries(points: &[Point]) -> Answer {
    let known: Vec<f64> = points.iter().filter_map(|point| point.qps).collect();
    match known.last() {
        None => Answer::not_measured(Question::Carries, "None of these runs has a rate"),
        Some(last) => {
            let (low, high) = known.iter().fold((*last, *last), |(low, high), value| (low.min(*value), high.max(*value)));
            let range =
                if known.len() == 1 { String::new() } else { format!("; all of them between {} and {}", figure(low), figure(high)) };
            Answer::measured(Question::Carries, format!("The last one carried {} requests a second{range}", figure(*last)), "qps")
        }
    }
}

fn changed(series: &[Series], points: &[Point]) -> Answer {
    if points.len() < RUNS_MIN {
        let said = format!("Too few to tell a change from chance: that takes {RUNS_MIN}, and there {}", are(points.len()));
        return Answer::not_measured(Question::Changed, &said);
    }
    match sentences(series, points).into_iter().next() {
        Some(sentence) => Answer::measured(Question::Changed, sentence, "qps").toned(Tone::Caution),
        None => Answer::measured(Question::Changed, "Nothing changed for good: they differ from each other by chance alone", "qps"),
    }
}

/// What changed, the latest first.
fn sentences(series: &[Series], points: &[Point]) -> Vec<String> {
    let mut all: Vec<(usize, String)> = Vec::new();
    for one in series {
        for change in &one.changes {
            let Some(point) = points.get(change.at) else { continue };
            let revision = point.revision.as_deref().map_or_else(String::new, |revision| format!(" at {}", short(&visible(revision))));
            all.push((
                change.at,
                format!(
                    "{} changed by {} % with the run of {}{revision}: {} before, {} since.",
                    super::finished(one.name).trim_end_matches('.'),
                    signed(change.change),
                    day(point),
                    shown(one.unit, Some(change.before)),
                    shown(one.unit, Some(change.after)),
                ),
            ));
        }
    }
    all.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    all.into_iter().map(|(_, sentence)| sentence).collect()
}

fn figures(series: &[Series], points: &[Point]) -> Vec<Figure> {
    let last = |one: &Series| one.values.last().copied().flatten();
    let earlier = |one: &Series| one.values.len().checked_sub(2).and_then(|at| one.values[at]);
    let note = |one: &Series| match (earlier(one), last(one)) {
        (Some(before), Some(now)) if before > 0.0 => format!("{} % on the one before", signed(now / before - 1.0)),
        _ => "the last one".to_owned(),
    };
    let mut figures: Vec<Figure> =
        series.iter().map(|one| Figure::new(if one.id == "qps" { "QPS" } else { one.id }, shown(one.unit, last(one)), note(one))).collect();
    figures.push(Figure::new("runs", points.len().to_string(), "of this name"));
    figures
}

fn table(points: &[Point]) -> Table {
    let rows = points.iter().rev().map(|point| {
        vec![
            visible(&point.started),
            visible(&point.id),
            point.revision.as_deref().map_or_else(String::new, |revision| short(&visible(revision))),
            shown(Unit::Figure, point.qps),
            nanos(point.p50_ns.map(Nanos)),
            nanos(point.p99_ns.map(Nanos)),
            shown(Unit::Percent, point.failed_share.map(|share| share * 100.0)),
        ]
    });
    Table::new(
        "runs",
        "All of them, the latest first",
        &["began (UTC)", "id", "revision", "#QPS", "#p50", "#p99", "#failed"],
        rows.collect(),
    )
}

fn shown(unit: Unit, value: Option<f64>) -> String {
    match (unit, value) {
        (Unit::TimeNs, _) => nanos(value.map(|ns| Nanos(ns.round() as u64))),
        (_, None) => analysis::quantity::NONE.to_owned(),
        (Unit::Figure, Some(value)) => figure(value),
        (Unit::Percent, Some(value)) => format!("{} %", percent(value)),
    }
}

fn day(point: &Point) -> String {
    visible(&point.started.chars().take("2026-11-01T12:00".len()).collect::<String>()).replace('T', " ")
}

fn short(revision: &str) -> String {
    revision.chars().take(REVISION_LETTERS).collect()
}

fn are(count: usize) -> String {
    match count {
        0 => "is none".to_owned(),
        1 => "is one".to_owned(),
        more => format!("are {more}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(qps: impl Fn(usize) -> f64, count: usize) -> Vec<Point> {
        let point = |at: usize| Point {
            id: format!("id{at}"),
            started: format!("2026-11-{:02}T12:00:00.000Z", at + 1),
            revision: Some("0123456789abcdef".to_owned()),
            qps: Some(qps(at)),
            p50_ns: Some(1_000_000),
            p99_ns: None,
            failed_share: Some(0.0),
        };
        (0..count).map(point).collect()
    }

    /// Runs of one build differ by about a percent.
    fn noisy(at: usize) -> f64 {
        1_000.0 * (1.0 + 0.01 * ((at * 7 % 5) as f64 - 2.0) / 2.0)
    }

    #[test]
    fn a_loss_that_stays_is_told_with_the_run_it_came_with() {
        let slower = points(|at| if at < 12 { noisy(at) } else { 0.8 * noisy(at) }, 24);
        let view = view("checkout", "run", &slower);
        let said = &view.answers[1].sentence;
        assert!(said.contains("2026-11-13 12:00") && said.contains("at 0123456") && said.contains("−20 %"), "{said}");
        assert_eq!(view.data.series[0].changes.iter().map(|change| change.at).collect::<Vec<_>>(), [12]);
    }

    #[test]
    fn the_same_stands_in_a_terminal() {
        let text = trend_in_text("checkout", "run", &points(|at| if at < 12 { noisy(at) } else { 0.8 * noisy(at) }, 24));
        assert!(text.sentences[0].starts_with("24 runs called checkout"), "{text:?}");
        assert!(text.sentences.iter().any(|it| it.contains("−20 %")) && text.sentences.iter().all(|it| it.ends_with('.')), "{text:?}");
        let [(name, bars)] = &text.courses[..] else { panic!("{text:?}") };
        assert!(*name == "requests a second" && bars.contains('█') && bars.contains("▁") && bars.ends_with("from 792 to 1,010"), "{bars}");
        assert_eq!((text.table.len(), text.table[1][0].as_str(), text.table[1][1].as_str()), (25, "2026-11-24 12:00", "id23"));
    }

    #[test]
    fn chance_is_no_change_and_a_few_runs_say_nothing() {
        let view_of = |count| view("checkout", "run", &points(noisy, count));
        assert!(view_of(24).answers[1].sentence.contains("Nothing changed for good"));
        let few = view_of(4);
        assert!(few.answers[1].evidence.is_none() && few.answers[1].sentence.contains("there are 4"));
        assert!(view("nobody", "run", &[]).about[0].contains("No run is called nobody"));
    }
}
