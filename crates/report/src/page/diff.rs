//! The page of two sweeps side by side.

use analysis::Sweep;
use analysis::quantity::{counted, figure, percent, signed};
use serde::Serialize;

use super::sweep::{Point, top};
use super::{Answer, Figure, Kind, Question, RenderedPage, SCHEMA, Table, View, written};
use crate::Style;
use crate::chart::sweep::{Ladder, SweepCurve, times_count};
use crate::diff::{DiffVerdict, events, heads, judged, legend, level_cells, level_head, table};
use crate::visible::visible;

/// What the charts draw of both.
#[derive(Debug, Serialize)]
struct Data {
    levels: &'static str,
    sides: [Drawn; 2],
}

/// One of them.
#[derive(Debug, Serialize)]
struct Drawn {
    name: String,
    points: Vec<Point>,
}

/// The page; a side without its sweep is a file that holds no single runs.
#[must_use]
pub fn diff(a: &SweepCurve, b: &SweepCurve, sweeps: [Option<&Sweep>; 2]) -> RenderedPage {
    written(view(a, b, sweeps))
}

fn view(a: &SweepCurve, b: &SweepCurve, [from, to]: [Option<&Sweep>; 2]) -> View<Data> {
    let judged = judged(from, to, &Style::PLAIN);
    let ladder = if a.ladder == b.ladder { a.ladder } else { Ladder::Users };
    let heads: Vec<String> = heads(a, b).into_iter().map(|head| format!("#{head}")).chain([String::new()]).collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let sides = [drawn("A", a), drawn("B", b)];
    View {
        schema: SCHEMA,
        kind: Kind::Diff,
        title: format!("{} and {}", visible(&a.name), visible(&b.name)),
        about: vec![format!("A: {}", named(a)), format!("B: {}", named(b))],
        standing: None,
        answers: answers(&sides, &judged, ladder),
        remarks: Vec::new(),
        figures: figures(&sides, [&a.name, &b.name]),
        tables: std::iter::once(Table::new("levels", "Level by level", &heads, level_cells(a, b)).noted(legend(a, b)))
            .chain(event_table(a, b))
            .collect(),
        text: table(a, b, &Style::PLAIN) + &judged.to_string(),
        measured_by: String::new(),
        data: Data { levels: ladder.key(), sides },
    }
}

/// The events of both, where either has some.
fn event_table(a: &SweepCurve, b: &SweepCurve) -> Option<Table> {
    let (rows, unit) = (events::rows(a, b), events::unit(a, b));
    let heads: Vec<String> = events::heads(level_head(a, b), unit).into_iter().map(|head| format!("#{head}")).collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    (!rows.is_empty()).then(|| Table::new("events", "Events", &heads, rows).noted(events::legend(unit)))
}

fn named(curve: &SweepCurve) -> String {
    let target = curve.target.as_deref().map_or_else(String::new, |target| format!(", {}", visible(target)));
    format!("{}{target}, {}", visible(&curve.name), counted(curve.points.len() as u64, "level"))
}

fn drawn(name: &str, curve: &SweepCurve) -> Drawn {
    let mut points: Vec<Point> = curve
        .points
        .iter()
        .map(|point| Point {
            level: point.level,
            qps: point.qps,
            ttlb_mean_ns: point.ttlb_ms.filter(|_| times_count(point.success_percent)).map(|ms| ms * 1e6),
            ttlb_p99_ns: None,
            success_percent: point.success_percent,
            tps: point.journeys.map(|journeys| journeys.tps),
            requests_per_journey: point.journeys.and_then(|journeys| journeys.requests_each),
            events: point.events,
            generator_limited: point.generator_limited,
        })
        .collect();
    points.sort_by(|a, b| a.level.total_cmp(&b.level));
    Drawn { name: name.to_owned(), points }
}

fn answers([a, b]: &[Drawn; 2], judged: &DiffVerdict, ladder: Ladder) -> Vec<Answer> {
    let tops = top(&a.points).zip(top(&b.points));
    let carries = match tops {
        Some((a, b)) => Answer::measured(
            Question::Carries,
            format!(
                "A carries {} requests a second at most, at {}, and B {}, at {}",
                figure(a.qps),
                ladder.in_words(a.level),
                figure(b.qps),
                ladder.in_words(b.level)
            ),
            "throughput",
        ),
        None => Answer::not_measured(Question::Carries, "One of the two holds no level"),
    };
    let nearly = |side: &Drawn| -> Option<f64> {
        let least = top(&side.points)?.qps * analysis::knee::NEARLY_ALL;
        side.points.iter().filter(|point| point.qps >= least).map(|point| point.level).min_by(f64::total_cmp)
    };
    let knee = match (nearly(a), nearly(b)) {
        (Some(a), Some(b)) => Answer::measured(
            Question::Knee,
            format!("98 % of the most are reached at {} by A and at {} by B", ladder.in_words(a), ladder.in_words(b)),
            "throughput",
        ),
        _ => Answer::not_measured(Question::Knee, "These levels do not show a knee"),
    };
    let changed = match tops {
        Some((a, b)) if a.qps > 0.0 => {
            let known = if judged.is_repeated { "" } else { "; whether that is more than chance was not measured" };
            Answer::measured(
                Question::Changed,
                format!("The most it carries changed by {} %{known}", signed(b.qps / a.qps - 1.0)),
                "levels",
            )
        }
        _ => Answer::not_measured(Question::Changed, "Nothing can be compared"),
    };
    let limited = |side: &Drawn| top(&side.points).is_some_and(|point| point.generator_limited);
    let limits = match (limited(a), limited(b)) {
        (false, false) => {
            Answer::not_measured(Question::Limits, "What limits either is not in these files; the page of each sweep tells it")
        }
        (a, b) => {
            let whose = if a && b {
                "both"
            } else if a {
                "A"
            } else {
                "B"
            };
            Answer::measured(Question::Limits, format!("The load generator was the limit at the peak of {whose}"), "levels")
        }
    };
    vec![carries, knee, changed, limits]
}

fn figures([a, b]: &[Drawn; 2], names: [&str; 2]) -> Vec<Figure> {
    let Some((a_top, b_top)) = top(&a.points).zip(top(&b.points)) else { return Vec::new() };
    let least = |side: &Drawn| side.points.iter().map(|point| point.success_percent).fold(100.0, f64::min);
    let change = if a_top.qps > 0.0 { format!("{} %", signed(b_top.qps / a_top.qps - 1.0)) } else { "–".to_owned() };
    vec![
        Figure::new("highest QPS A", figure(a_top.qps), visible(names[0])),
        Figure::new("highest QPS B", figure(b_top.qps), visible(names[1])),
        Figure::new("change", change, "of the highest QPS"),
        Figure::new("lowest success", format!("{} %", percent(least(a))), format!("A; B {} %", percent(least(b)))),
    ]
}
