//! The chart of a capacity search: offered rate against throughput, goodput and a high percentile, with the rate found.
//!
//! The three belong into one picture, because each alone misleads: throughput goes on rising where every answer is too late,
//! goodput falls without saying why, and a percentile says nothing of answers that never came. The rate found is a line over
//! the whole height, and a band where it may lie; the limit on the percentile is drawn where it is crossed.

use analysis::found::RateUnit;

use super::ticks::{self, Growth};
use super::{Axis, Chart, Dash, Fill, Ink, Marker, Marks, Note, Point, Series, Side, Start, number};

/// What was measured at the rates that were tried.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadCurve {
    /// What the user calls it.
    pub name: String,
    /// The address that was loaded, if known.
    pub target: Option<String>,
    /// What was promised, in words: `p99 < 50ms and failed < 0.1%`.
    pub promise: String,
    /// The quantile of response time that is drawn, from 0 to 1.
    pub quantile: f64,
    /// What it must keep below, in milliseconds.
    pub limit_ms: Option<f64>,
    /// What was found.
    pub found: FoundLine,
    /// What the rates begin.
    pub rated: RateUnit,
    /// The rates, in any order, each once.
    pub points: Vec<LoadPoint>,
}

/// The rate found, requests or journeys a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoundLine {
    /// The highest rate proven.
    pub rate: Option<f64>,
    /// Where the capacity lies: at least.
    pub low: f64,
    /// At most; `None` when nothing failed.
    pub high: Option<f64>,
    /// Whether the generator, not the server, is what ended it.
    pub by_generator: bool,
}

/// What was measured at one rate. Values that are not finite, or below zero, count as not measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadPoint {
    /// Offered, requests or journeys a second.
    pub rate: f64,
    /// Answers, or journeys finished, a second.
    pub throughput: f64,
    /// Of these, the ones that were good.
    pub goodput: f64,
    /// The quantile of response time, in milliseconds; `None` where it lies among requests that failed.
    pub quantile_ms: Option<f64>,
    /// Whether the load generator was the limit.
    pub generator_limited: bool,
}

/// Above this ratio of the longest to the shortest time their axis is logarithmic.
const TIME_LINEAR_RATIO_MAX: f64 = 20.0;
/// Rates lower than this part of the rate found show a line through the origin, and press together what is of interest.
const BELOW_KNEE_MAX: f64 = 8.0;
/// With fewer points than this nothing is left out.
const POINTS_MIN: usize = 3;
/// Larger values are no measurements, and would have no digits left to label an axis with.
const VALUE_MAX: f64 = 1e15;

/// Throughput and goodput (left) and a quantile of response time (right) by offered rate.
#[must_use]
pub fn offered_load(curve: &LoadCurve) -> Chart {
    let sound = |value: f64| (0.0..=VALUE_MAX).contains(&value).then_some(value);
    let mut points: Vec<LoadPoint> = curve.points.iter().copied().filter(|it| sound(it.rate).is_some_and(|rate| rate > 0.0)).collect();
    points.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    let all = points.clone();
    let knee = curve.found.rate.or(curve.found.high).and_then(sound).unwrap_or(0.0);
    points.retain(|it| it.rate * BELOW_KNEE_MAX >= knee);
    if points.len() < POINTS_MIN {
        points.clone_from(&all);
    }
    let left_out = all.len() - points.len();
    let rates: Vec<f64> = points.iter().map(|it| it.rate).collect();
    let quantile = format!("p{}", number::figure(curve.quantile * 100.0));
    let limit_ms = curve.limit_ms.and_then(sound).filter(|it| *it > 0.0);
    let times: Vec<f64> = points.iter().filter_map(|it| it.quantile_ms.and_then(sound)).collect();
    let most = points.iter().flat_map(|it| [it.throughput, it.goodput]).filter_map(sound).fold(0.0, f64::max);
    let (shortest, longest) =
        (times.iter().copied().chain(limit_ms).fold(f64::INFINITY, f64::min), times.iter().copied().chain(limit_ms).fold(0.0, f64::max));
    let ((left, left_ticks), right) = if times.is_empty() {
        (ticks::from_zero(most), None)
    } else if shortest > 0.0 && longest / shortest > TIME_LINEAR_RATIO_MAX {
        (ticks::from_zero(most), Some(ticks::logarithmic(shortest, longest)))
    } else {
        let [left, right] = ticks::pair_from_zero(most, longest);
        (left, Some(right))
    };
    let (x_scale, x_ticks) = ticks::levels(&rates);
    let top = left.to();
    let mut series = Vec::new();
    if let (Some(high), false) = (curve.found.high.and_then(sound), rates.is_empty()) {
        let (low, high) = (curve.found.low.max(x_scale.from()), high.min(x_scale.to()));
        if curve.found.low > 0.0 && low < high {
            series.push(Series {
                name: "where the capacity lies (95 %)".to_owned(),
                side: Side::Left,
                ink: Ink::Green,
                marks: Marks::Band { points: vec![(low, 0.0, top), (high, 0.0, top)] },
            });
        }
    }
    let row = |of: &dyn Fn(&LoadPoint) -> Option<f64>| -> Vec<Point> {
        let fill = |it: &LoadPoint| if it.generator_limited { Fill::Hollow } else { Fill::Solid };
        points.iter().map(|it| Point { x: it.rate, y: of(it).and_then(sound), fill: fill(it) }).collect()
    };
    let measured = |name: &str, side, ink, marker, dash, points| Series {
        name: name.to_owned(),
        side,
        ink,
        marks: Marks::Points { points, marker, dash },
    };
    series.push(measured("Throughput", Side::Left, Ink::Blue, Marker::Circle, Dash::Solid, row(&|it| Some(it.throughput))));
    series.push(measured("Goodput", Side::Left, Ink::Green, Marker::Triangle, Dash::Dotted, row(&|it| Some(it.goodput))));
    let gaps = points.iter().any(|it| it.quantile_ms.is_none());
    let name = if gaps { format!("{quantile} (none where requests failed)") } else { quantile.clone() };
    series.push(measured(&name, Side::Right, Ink::Vermillion, Marker::Square, Dash::Dashed, row(&|it| it.quantile_ms)));
    if let (Some(limit), Some(_), [first, .., last]) = (limit_ms, &right, rates.as_slice()) {
        series.push(Series {
            name: format!("limit of {} ms", number::figure(limit)),
            side: Side::Right,
            ink: Ink::Black,
            marks: Marks::Line { points: vec![(*first, Some(limit)), (*last, Some(limit))], dash: Dash::Dotted },
        });
    }
    let answer = answer(&curve.found);
    let shown = curve.found.rate.or((curve.found.low > 0.0).then_some(curve.found.low));
    let within = |rate: &f64| (x_scale.from()..=x_scale.to()).contains(rate);
    let notes = match (shown.filter(within), &answer) {
        (Some(x), Some(text)) => vec![Note::Place { x, text: text.clone(), ink: Ink::Black }],
        _ => Vec::new(),
    };
    let (offered, carried) = match curve.rated {
        RateUnit::Requests => ("Requests a second offered", "Answers a second (solid), good ones (dotted)"),
        RateUnit::Journeys => ("Journeys begun a second", "Journeys a second to their end (solid), their good part (dotted)"),
    };
    let growth_words = |growth: Growth| match growth {
        Growth::Linear => "",
        Growth::Logarithmic => ", log scale",
    };
    Chart {
        title: if curve.name.is_empty() { "Capacity".to_owned() } else { format!("Capacity: {}", curve.name) },
        subtitle: vec![
            curve.target.iter().cloned().chain([curve.promise.clone()]).filter(|it| !it.is_empty()).collect(),
            remarks(left_out, shown.is_none() && !points.is_empty(), points.first().map(|it| it.rate)),
        ]
        .into_iter()
        .filter(|line: &Vec<String>| !line.is_empty())
        .collect(),
        description: description(curve, &all, answer.as_deref(), &quantile),
        x: Axis {
            title: format!("{offered}{}", growth_words(x_scale.growth()).replacen(", log scale", " (log scale)", 1)),
            scale: x_scale,
            ticks: x_ticks,
            start: Start::Whole,
            ink: None,
        },
        y: Axis { title: carried.to_owned(), scale: left, ticks: left_ticks, start: Start::Whole, ink: None },
        y2: right.map(|(scale, ticks)| Axis {
            title: format!("{quantile}, ms{} (dashed)", growth_words(scale.growth())),
            scale,
            ticks,
            start: Start::Whole,
            ink: Some(Ink::Vermillion),
        }),
        strip: None,
        series,
        notes,
        hollow: Some("hollow: the load generator was the limit".to_owned()),
        empty: if points.is_empty() {
            Some("Nothing was measured".to_owned())
        } else {
            (!points.iter().any(|it| it.throughput > 0.0)).then(|| "No request was answered".to_owned())
        },
    }
}

/// What the picture does not show by itself.
fn remarks(left_out: usize, nothing_found: bool, lowest: Option<f64>) -> Vec<String> {
    let mut remarks = Vec::new();
    if nothing_found {
        remarks.push("no rate kept the promise".to_owned());
    }
    if let (1.., Some(lowest)) = (left_out, lowest) {
        let rates = if left_out == 1 { "one rate".to_owned() } else { format!("{left_out} rates") };
        remarks.push(format!("{rates} below {}/s left out", number::figure(lowest)));
    }
    remarks
}

/// The answer, short enough for a note.
fn answer(found: &FoundLine) -> Option<String> {
    let rate = number::figure;
    match (found.rate, found.high) {
        (Some(it), _) if found.by_generator => Some(format!("carries at least {}/s: the generator is the limit", rate(it))),
        (None, _) if found.by_generator && found.low > 0.0 => Some(format!("at least {}/s: the generator is the limit", rate(found.low))),
        (Some(it), Some(high)) => Some(format!("carries {}/s ({}–{})", rate(it), rate(found.low), rate(high))),
        (Some(it), None) => Some(format!("carries at least {}/s", rate(it))),
        (None, Some(high)) if found.low > 0.0 => Some(format!("some {}–{}/s, not proven", rate(found.low), rate(high))),
        (None, _) => None,
    }
}

fn description(curve: &LoadCurve, points: &[LoadPoint], answer: Option<&str>, quantile: &str) -> String {
    let about: Vec<&str> = [curve.name.as_str(), curve.target.as_deref().unwrap_or_default(), curve.promise.as_str()]
        .into_iter()
        .filter(|it| !it.is_empty())
        .collect();
    let mut sentences = vec![format!("Throughput, goodput and {quantile} by offered rate: {}.", about.join(", "))];
    let (offered, carried) = match curve.rated {
        RateUnit::Requests => ("requests a second offered", "answered"),
        RateUnit::Journeys => ("journeys begun a second", "to their end"),
    };
    for point in points {
        sentences.push(format!(
            "At {} {}: {} {} a second, {} good, {quantile} {}{}.",
            number::figure(point.rate),
            offered,
            number::figure(point.throughput),
            carried,
            number::figure(point.goodput),
            point.quantile_ms.map_or_else(|| "among failed requests".to_owned(), |ms| format!("{} ms", number::figure(ms))),
            if point.generator_limited { ", limited by the load generator" } else { "" },
        ));
    }
    sentences.push(match answer {
        Some(answer) => format!("In short: {answer}."),
        None => "No rate kept the promise.".to_owned(),
    });
    sentences.join(" ")
}
