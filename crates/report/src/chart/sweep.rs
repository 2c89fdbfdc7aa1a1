//! The charts of a sweep, and of two sweeps side by side.
//!
//! What a reader asks of a ladder of loads: how much does it carry, where, how fast is it there, and where does it start
//! to fail. So throughput and response time share one picture over the same levels, the success rate has its own, and the
//! answers are written into them: the level with the highest QPS and the first level with failures. Levels at which the
//! load generator was the limit are hollow, because there the picture shows the generator and not the server.
//!
//! Of a scenario both are asked for, requests and journeys (QPS and TPS). A journey is of five requests or of three thousand: on one
//! axis its curve would lie on the floor, and multiplied to fit it would be a second QPS. So journeys have a strip of their own below,
//! over the same levels, with how many requests one has.

use analysis::{Level, LevelEvents, LevelJourneys, quantity};

use super::font::{Typeface, Weight};
use super::ticks::{self, Growth};
use super::{Axis, Chart, Dash, Fill, Ink, Marker, Marks, Note, Point, Series, Side, Start, Strip, number};
use crate::dat::DatRow;

/// A ladder of loads and what was measured at each.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepCurve {
    /// What the user calls it.
    pub name: String,
    /// The address that was loaded, if known.
    pub target: Option<String>,
    /// How long each level was measured, in seconds, if known.
    pub level_seconds: Option<f64>,
    /// Threads of the load generator, if known.
    pub threads: Option<u32>,
    /// What the levels count.
    pub ladder: Ladder,
    /// The levels, in any order.
    pub points: Vec<SweepPoint>,
    /// A model of QPS, if one describes the levels. Drawn only where the curve stands alone: two bands hide each other.
    pub fit: Option<Fit>,
}

/// A fitted curve of QPS and its band.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// What it is, for the legend.
    pub name: String,
    /// Level, lower end of the band, fit, upper end; ascending.
    pub points: Vec<(f64, f64, f64, f64)>,
}

/// What the levels of a sweep count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ladder {
    /// Closed load: users that each wait for their reply.
    Users,
    /// Open load: requests a second that fall due whatever the server does.
    OfferedRate,
    /// Open load of a scenario: journeys a second that begin whatever the server does.
    JourneyRate,
}

impl Ladder {
    /// Of which this is a level; one of users where there is none.
    pub(crate) const fn of(level: Option<Level>) -> Self {
        match level {
            Some(Level::Offered(_)) => Self::OfferedRate,
            Some(Level::Journeys(_)) => Self::JourneyRate,
            Some(Level::Users(_)) | None => Self::Users,
        }
    }

    /// The head of the column of its levels.
    pub(crate) const fn head(self) -> &'static str {
        match self {
            Self::Users => "users",
            Self::OfferedRate => "offered/s",
            Self::JourneyRate => "begun/s",
        }
    }

    /// What its levels count, as files say it.
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::Users => "users",
            Self::OfferedRate => "offered",
            Self::JourneyRate => "journeys",
        }
    }

    /// What its levels count, in words.
    const fn counts(self) -> &'static str {
        match self {
            Self::Users => "users",
            Self::OfferedRate => "requests a second offered",
            Self::JourneyRate => "journeys begun a second",
        }
    }

    /// One of its levels in words, as [`Level`] says it: `50 users`, `500/s offered`, `20 journeys/s`.
    pub(crate) fn in_words(self, level: f64) -> String {
        match self {
            Self::Users => quantity::counted(level as u64, "user"),
            Self::OfferedRate => format!("{}/s offered", quantity::figure(level)),
            Self::JourneyRate => format!("{} journeys/s", quantity::figure(level)),
        }
    }
}

/// Whether times of a level tell of the server at work. Where most requests failed they do not: a refusal is often fast, and a curve
/// that falls there looks like a server that recovers.
pub(crate) fn times_count(success_percent: f64) -> bool {
    success_percent >= 50.0
}

/// What was measured at one level. Values that are not finite, or below zero, count as not measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SweepPoint {
    /// Users, or requests or journeys a second offered.
    pub level: f64,
    /// Requests a second that succeeded.
    pub qps: f64,
    /// Mean latency, to the last byte, in milliseconds; `None` when no request got a reply.
    pub ttlb_ms: Option<f64>,
    /// Requests that succeeded, in percent of those that fell due.
    pub success_percent: f64,
    /// Of a scenario, its journeys.
    pub journeys: Option<JourneyLevel>,
    /// Of answers that stream, their events.
    pub events: Option<LevelEvents>,
    /// Whether the load generator was the limit, and the server might have done more.
    pub generator_limited: bool,
}

/// A row of a `.dat` file, which tells neither of journeys nor of the generator.
impl From<&DatRow> for SweepPoint {
    fn from(row: &DatRow) -> Self {
        Self {
            level: row.level,
            qps: row.qps,
            ttlb_ms: row.ttlb_ms,
            // Old files count errors against requests, and can fall below nothing.
            success_percent: row.success_percent.max(0.0),
            journeys: None,
            events: None,
            generator_limited: false,
        }
    }
}

/// The journeys of one level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JourneyLevel {
    /// Journeys finished a second.
    pub tps: f64,
    /// Answers for each of these; `None` if there were none.
    pub requests_each: Option<f64>,
}

impl JourneyLevel {
    pub(crate) const fn of(journeys: &LevelJourneys) -> Self {
        Self { tps: journeys.tps, requests_each: journeys.requests_per_journey }
    }
}

/// QPS (left) and mean latency (right) by level, and TPS below where there are journeys.
pub fn qps_ttlb(curve: &SweepCurve) -> Chart {
    qps_ttlb_of(&[Clean::of(curve, curve.name.clone(), 0)])
}

/// The share of requests that succeeded, in percent, by level.
pub fn success_rate(curve: &SweepCurve) -> Chart {
    success_rate_of(&[Clean::of(curve, curve.name.clone(), 0)])
}

/// QPS and mean latency of two sweeps by level, and TPS below where either has journeys. A level that only one of them has is a gap in the line of the other.
pub fn qps_ttlb_diff(a: &SweepCurve, b: &SweepCurve) -> Chart {
    qps_ttlb_of(&pair(a, b))
}

/// The success rates of two sweeps by level. A level that only one of them has is a gap in the line of the other.
pub fn success_rate_diff(a: &SweepCurve, b: &SweepCurve) -> Chart {
    success_rate_of(&pair(a, b))
}

const HOLLOW: &str = "hollow: the load generator was the limit";
const NOTHING: &str = "No level was measured";
const ALL_FAILED: &str = "No request succeeded";
/// Above this ratio of the longest to the shortest latency its axis is logarithmic.
const TTLB_LINEAR_RATIO_MAX: f64 = 50.0;
/// Larger values are no measurements, and would have no digits left to label an axis with.
const VALUE_MAX: f64 = 1e15;
/// Longer names are cut in the middle, in pixels of text at size 17.
const NAME_WIDTH_MAX: f64 = 300.0;
/// Levels the description lists one by one.
const DESCRIBED_MAX: usize = 100;

fn qps_ttlb_of(curves: &[Clean]) -> Chart {
    let max = |values: Vec<f64>| values.into_iter().fold(0.0, f64::max);
    let qps: Vec<f64> = curves.iter().flat_map(|curve| curve.values(Clean::qps)).collect();
    let ttlb: Vec<f64> = curves.iter().flat_map(|curve| curve.values(Clean::ttlb)).collect();
    let shortest = ttlb.iter().copied().fold(f64::INFINITY, f64::min);
    let longest = max(ttlb.clone());
    let fit = fit_of(curves, max(qps.clone()));
    let qps_highest = max(qps.into_iter().chain(fit.iter().flat_map(|fit| fit.points.iter().map(|it| it.3))).collect());
    let ((qps_scale, qps_ticks), ttlb_axis) = if ttlb.is_empty() {
        (ticks::from_zero(qps_highest), None)
    } else if shortest > 0.0 && longest / shortest > TTLB_LINEAR_RATIO_MAX {
        let axis = ticks::logarithmic(shortest, longest);
        (ticks::from_zero(qps_highest), Some(axis))
    } else {
        let [left, right] = ticks::pair_from_zero(qps_highest, longest);
        (left, Some(right))
    };
    let alone = curves.len() == 1;
    let any_success = curves.iter().any(|curve| curve.values(Clean::qps).any(|qps| qps > 0.0));
    let levels = all_levels(curves);
    let mut series = Vec::new();
    for curve in curves {
        series.push(Series {
            name: curve.entry("QPS"),
            side: Side::Left,
            ink: curve.ink,
            marks: Marks::Points { points: curve.points(&levels, Clean::qps), marker: curve.marker, dash: Dash::Solid },
        });
    }
    for curve in curves {
        let values = curve.values(Clean::ttlb).count();
        series.push(Series {
            name: if values == 0 && !curve.measured.is_empty() {
                format!("{} (no reply to time)", curve.entry("mean latency"))
            } else {
                curve.entry("mean latency")
            },
            side: Side::Right,
            ink: if alone { Ink::Vermillion } else { curve.ink },
            marks: Marks::Points { points: curve.points(&levels, Clean::ttlb), marker: curve.second_marker, dash: Dash::Dashed },
        });
    }
    if let Some(Fit { name, points }) = &fit {
        let line = points.iter().map(|&(level, _, value, _)| (level, Some(value))).collect();
        let band = points.iter().map(|&(level, low, _, high)| (level, low, high)).collect();
        let of = |name: String, marks| Series { name, side: Side::Left, ink: Ink::Black, marks };
        series.push(of(format!("fit: {name}"), Marks::Line { points: line, dash: Dash::Dotted }));
        series.push(of("95 % band of the fit".to_owned(), Marks::Band { points: band }));
    }
    let mut notes: Vec<Note> = curves.iter().filter_map(Clean::peak).collect();
    notes.extend(curves.iter().filter_map(Clean::only_ttlb));
    notes.extend(curves.iter().filter_map(|curve| {
        let first = curve.first_failing()?;
        Some(Note::Place {
            x: first.level,
            text: curve.said(&format!("first failures at {}", curve.level_words(first.level))),
            ink: curve.note_ink(),
        })
    }));
    let strip = strip_of(curves, &levels);
    let (title, what) = match strip {
        None => ("QPS & latency", "QPS and mean latency (TTLB)"),
        Some(_) => ("QPS, TPS & latency", "QPS, TPS and mean latency (TTLB)"),
    };
    Chart {
        title: titled(title, curves),
        subtitle: subtitle(curves),
        description: description(what, curves),
        x: x_axis(curves, &levels),
        y: Axis {
            title: "QPS, requests a second (solid)".to_owned(),
            scale: qps_scale,
            ticks: qps_ticks,
            start: Start::Whole,
            ink: alone.then_some(Ink::Blue),
        },
        y2: ttlb_axis.map(|(scale, ticks)| Axis {
            title: match scale.growth() {
                Growth::Linear => "Mean latency, ms (dashed)".to_owned(),
                Growth::Logarithmic => "Mean latency, ms, log scale (dashed)".to_owned(),
            },
            scale,
            ticks,
            start: Start::Whole,
            ink: alone.then_some(Ink::Vermillion),
        }),
        strip,
        series,
        notes,
        hollow: Some(HOLLOW.to_owned()),
        empty: if levels.is_empty() { Some(NOTHING.to_owned()) } else { (!any_success).then(|| ALL_FAILED.to_owned()) },
    }
}

/// Journeys by level, where any curve has some.
fn strip_of(curves: &[Clean], levels: &[f64]) -> Option<Strip> {
    let highest = curves.iter().flat_map(|curve| curve.values(Clean::tps)).reduce(f64::max)?;
    let (scale, ticks) = ticks::low_from_zero(highest);
    let series: Vec<Series> = curves
        .iter()
        .filter(|curve| curve.values(Clean::tps).next().is_some())
        .map(|curve| {
            let (ink, marker) = if curves.len() == 1 { (Ink::Green, Marker::Diamond) } else { (curve.ink, curve.marker) };
            let marks = Marks::Points { points: curve.points(levels, Clean::tps), marker, dash: Dash::Solid };
            Series { name: curve.entry("TPS"), side: Side::Left, ink, marks }
        })
        .collect();
    let (title, ink) = match &series[..] {
        [only] => (format!("{}, journeys a second", only.name), Some(only.ink)),
        _ => ("TPS, journeys a second".to_owned(), None),
    };
    // Two would hide each other's curves in so little height; the description has both.
    let notes = curves.iter().filter(|_| curves.len() == 1).filter_map(Clean::most_journeys).collect();
    Some(Strip { y: Axis { title, scale, ticks, start: Start::Whole, ink }, series, notes })
}

/// The fit as it can be drawn: where the curve is alone and the values are sound. A band far above the highest measurement
/// is cut there, or it would flatten what was measured.
fn fit_of(curves: &[Clean], qps_max: f64) -> Option<Fit> {
    let [alone] = curves else { return None };
    let fit = alone.curve.fit.as_ref()?;
    let sound = |it: f64| (0.0..=VALUE_MAX).contains(&it);
    let top = qps_max * BAND_MAX;
    let points: Vec<(f64, f64, f64, f64)> = fit
        .points
        .iter()
        .filter(|it| it.0 > 0.0 && [it.0, it.1, it.2].into_iter().all(sound) && it.3 >= it.2)
        .map(|&(level, low, value, high)| (level, low.min(top), value.min(top), high.min(top)))
        .collect();
    (points.len() > 1).then(|| Fit { name: fit.name.clone(), points })
}

/// How far above the highest QPS a band is drawn.
const BAND_MAX: f64 = 1.2;

fn success_rate_of(curves: &[Clean]) -> Chart {
    let lowest = curves.iter().flat_map(|curve| curve.values(Clean::success)).fold(100.0, f64::min);
    let (scale, ticks, cut) = ticks::percents(lowest);
    let levels = all_levels(curves);
    let series = curves
        .iter()
        .map(|curve| Series {
            name: curve.entry("success rate"),
            side: Side::Left,
            ink: curve.ink,
            marks: Marks::Points {
                points: curve.points(&levels, Clean::success),
                marker: curve.marker,
                dash: if curve.index == 0 { Dash::Solid } else { Dash::Dashed },
            },
        })
        .collect();
    let notes = curves
        .iter()
        .filter_map(|curve| {
            let first = curve.first_failing()?;
            let success = first.success?;
            Some(Note::Value {
                x: first.level,
                y: success,
                side: Side::Left,
                text: curve.said(&format!("first failures at {}: {} % succeed", curve.level_words(first.level), number::percent(success))),
                ink: curve.note_ink(),
            })
        })
        .collect();
    let title = match cut {
        Some(cut) => format!("Requests that succeed, % (the axis is cut: it starts at {} %, not at 0)", number::percent(cut)),
        None => "Requests that succeed, %".to_owned(),
    };
    Chart {
        title: titled("Success Rate", curves),
        subtitle: subtitle(curves),
        description: description("Success rate", curves),
        x: x_axis(curves, &levels),
        y: Axis { title, scale, ticks, start: if cut.is_some() { Start::Cut } else { Start::Whole }, ink: None },
        y2: None,
        strip: None,
        series,
        notes,
        hollow: Some(HOLLOW.to_owned()),
        empty: levels.is_empty().then(|| NOTHING.to_owned()),
    }
}

/// A curve with sorted levels, where whatever is not a measurement is `None`, and how it is drawn.
struct Clean<'a> {
    curve: &'a SweepCurve,
    /// The name as it is shown, empty when there is only one curve to show.
    label: String,
    index: usize,
    count: usize,
    ink: Ink,
    marker: Marker,
    second_marker: Marker,
    measured: Vec<Measured>,
}

#[derive(Clone, Copy)]
struct Measured {
    level: f64,
    qps: Option<f64>,
    tps: Option<f64>,
    requests_each: Option<f64>,
    ttlb: Option<f64>,
    success: Option<f64>,
    fill: Fill,
}

fn pair<'a>(a: &'a SweepCurve, b: &'a SweepCurve) -> [Clean<'a>; 2] {
    let typeface = Typeface::built_in();
    let short = |name: &str| {
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        typeface.shortened(&name, Weight::Regular, 17.0, NAME_WIDTH_MAX)
    };
    let (mut first, mut second) = (short(&a.name), short(&b.name));
    if typeface.as_seen(&first).trim() == typeface.as_seen(&second).trim() {
        first = format!("A: {first}");
        second = format!("B: {second}");
    }
    let mut pair = [Clean::of(a, first, 0), Clean::of(b, second, 1)];
    for clean in &mut pair {
        clean.count = 2;
    }
    pair
}

impl<'a> Clean<'a> {
    fn of(curve: &'a SweepCurve, label: String, index: usize) -> Self {
        let sound = |value: f64| (0.0..=VALUE_MAX).contains(&value).then_some(value);
        let mut measured: Vec<Measured> = curve
            .points
            .iter()
            .filter_map(|point| {
                Some(Measured {
                    level: sound(point.level)?,
                    qps: sound(point.qps),
                    tps: point.journeys.and_then(|journeys| sound(journeys.tps)),
                    requests_each: point.journeys.and_then(|journeys| journeys.requests_each).and_then(sound),
                    ttlb: point.ttlb_ms.and_then(sound).filter(|_| times_count(point.success_percent)),
                    success: sound(point.success_percent).map(|percent| percent.min(100.0)),
                    fill: if point.generator_limited { Fill::Hollow } else { Fill::Solid },
                })
            })
            .collect();
        measured.sort_by(|a, b| a.level.total_cmp(&b.level));
        let (ink, marker, second_marker) = match index {
            0 => (Ink::Blue, Marker::Circle, Marker::Square),
            _ => (Ink::Vermillion, Marker::Triangle, Marker::Diamond),
        };
        Self { curve, label, index, count: 1, ink, marker, second_marker, measured }
    }

    fn qps(measured: &Measured) -> Option<f64> {
        measured.qps
    }

    fn tps(measured: &Measured) -> Option<f64> {
        measured.tps
    }

    fn ttlb(measured: &Measured) -> Option<f64> {
        measured.ttlb
    }

    fn success(measured: &Measured) -> Option<f64> {
        measured.success
    }

    fn values(&self, of: fn(&Measured) -> Option<f64>) -> impl Iterator<Item = f64> {
        self.measured.iter().filter_map(of)
    }

    /// One point for every measurement, and one without a value for every level this curve does not have.
    fn points(&self, levels: &[f64], of: fn(&Measured) -> Option<f64>) -> Vec<Point> {
        let mut points: Vec<Point> =
            self.measured.iter().map(|measured| Point { x: measured.level, y: of(measured), fill: measured.fill }).collect();
        points.extend(levels.iter().filter(|level| !self.measured.iter().any(|own| own.level == **level)).map(|&x| Point {
            x,
            y: None,
            fill: Fill::Solid,
        }));
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        points
    }

    /// The name of a quantity in the legend.
    fn entry(&self, quantity: &str) -> String {
        if self.count > 1 {
            format!("{} {quantity}", self.label)
        } else {
            let mut letters = quantity.chars();
            let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
            first + letters.as_str()
        }
    }

    /// A remark, with whom it is about when that is not clear.
    fn said(&self, remark: &str) -> String {
        if self.count > 1 { format!("{}: {remark}", self.label) } else { remark.to_owned() }
    }

    /// Notes have the colour of their curve only where there are several to tell apart.
    fn note_ink(&self) -> Ink {
        if self.count > 1 { self.ink } else { Ink::Black }
    }

    fn level_words(&self, level: f64) -> String {
        match self.curve.ladder {
            Ladder::Users => number::figure(level),
            Ladder::OfferedRate | Ladder::JourneyRate => format!("{}/s", number::figure(level)),
        }
    }

    fn peak(&self) -> Option<Note> {
        let (measured, qps) = self.highest(Self::qps)?;
        Some(Note::Value {
            x: measured.level,
            y: qps,
            side: Side::Left,
            text: self.said(&format!(
                "{} {} at {}{}",
                if self.measured.len() > 1 { "highest QPS" } else { "QPS" },
                number::figure(qps),
                self.level_words(measured.level),
                match measured.fill {
                    Fill::Solid => "",
                    Fill::Hollow => " (the generator's limit)",
                }
            )),
            ink: self.note_ink(),
        })
    }

    /// Where a value is the highest, and above zero; of equals the first.
    fn highest(&self, of: fn(&Measured) -> Option<f64>) -> Option<(&Measured, f64)> {
        let values = self.measured.iter().filter_map(|measured| Some((measured, of(measured).filter(|value| *value > 0.0)?)));
        values.reduce(|best, next| if next.1 > best.1 { next } else { best })
    }

    /// The level with the highest TPS, and of how many requests its journeys were.
    fn most_journeys(&self) -> Option<Note> {
        let (measured, tps) = self.highest(Self::tps)?;
        let what = if self.measured.len() > 1 { "highest TPS" } else { "TPS" };
        let each = measured
            .requests_each
            .map_or_else(String::new, |each| format!(", of {} request{} each", number::figure(each), if each == 1.0 { "" } else { "s" }));
        let text = self.said(&format!("{what} {} at {}{each}", number::figure(tps), self.level_words(measured.level)));
        Some(Note::Value { x: measured.level, y: tps, side: Side::Left, text, ink: self.note_ink() })
    }

    /// The latency in words when there is only one level, and so no line to read it from.
    fn only_ttlb(&self) -> Option<Note> {
        let [measured] = self.measured.as_slice() else {
            return None;
        };
        let ttlb = measured.ttlb?;
        Some(Note::Value {
            x: measured.level,
            y: ttlb,
            side: Side::Right,
            text: self.said(&format!("mean latency {} ms", number::figure(ttlb))),
            ink: self.note_ink(),
        })
    }

    fn first_failing(&self) -> Option<&Measured> {
        self.measured.iter().find(|measured| measured.success.is_some_and(|percent| percent < 100.0))
    }

    /// What is known about how it was measured.
    fn circumstances(&self) -> Vec<String> {
        let curve = self.curve;
        let mut parts: Vec<String> = curve.target.iter().cloned().collect();
        if let Some(seconds) = curve.level_seconds.filter(|seconds| seconds.is_finite()) {
            parts.push(if seconds >= 120.0 && seconds % 60.0 == 0.0 {
                format!("{} min a level", number::figure(seconds / 60.0))
            } else {
                format!("{} s a level", number::figure(seconds))
            });
        }
        match curve.threads {
            Some(1) => parts.push("1 thread".to_owned()),
            Some(threads) => {
                parts.push(format!("{} threads", number::decimal(f64::from(threads), 0)));
            }
            None => {}
        }
        parts
    }
}

fn all_levels(curves: &[Clean]) -> Vec<f64> {
    let mut levels: Vec<f64> = curves.iter().flat_map(|curve| curve.measured.iter().map(|measured| measured.level)).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    levels
}

fn x_axis(curves: &[Clean], levels: &[f64]) -> Axis {
    let (scale, ticks) = ticks::levels(levels);
    let mut quantities: Vec<&str> = curves
        .iter()
        .map(|curve| match curve.curve.ladder {
            Ladder::Users => "concurrent users",
            rates => rates.counts(),
        })
        .collect();
    quantities.dedup();
    let words = quantities.join(" or ");
    let (first, rest) = words.split_at(1);
    let scale_words = match scale.growth() {
        Growth::Linear => "",
        Growth::Logarithmic => " (log scale)",
    };
    Axis { title: format!("{}{rest}{scale_words}", first.to_uppercase()), scale, ticks, start: Start::Whole, ink: None }
}

fn titled(what: &str, curves: &[Clean]) -> String {
    let names: Vec<&str> = curves.iter().map(|curve| curve.label.trim()).filter(|name| !name.is_empty()).collect();
    if names.is_empty() { what.to_owned() } else { format!("{what}: {}", names.join(" and ")) }
}

/// One line when all curves were measured alike, else one for each.
fn subtitle(curves: &[Clean]) -> Vec<Vec<String>> {
    let mut lines: Vec<Vec<String>> = curves.iter().map(Clean::circumstances).collect();
    lines.dedup();
    if lines.len() > 1 {
        for (line, curve) in lines.iter_mut().zip(curves) {
            match line.first_mut() {
                Some(first) => *first = format!("{}: {first}", curve.label),
                None => line.push(format!("{}: circumstances unknown", curve.label)),
            }
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// The data in words.
fn description(what: &str, curves: &[Clean]) -> String {
    let mut sentences = Vec::new();
    for curve in curves {
        let mut about = vec![curve.curve.name.clone()];
        about.extend(curve.circumstances());
        sentences.push(format!("{what} of {}.", about.join(", ")));
        let unit = curve.curve.ladder.counts();
        let or_none = |value: Option<String>| value.unwrap_or_else(|| "not measured".to_owned());
        for measured in curve.measured.iter().take(DESCRIBED_MAX) {
            sentences.push(format!(
                "At {} {unit}: QPS {}{}, mean latency {}, success {}{}.",
                number::figure(measured.level),
                or_none(measured.qps.map(number::figure)),
                measured.tps.map_or_else(String::new, |tps| format!(", TPS {}", number::figure(tps))),
                or_none(measured.ttlb.map(|ms| format!("{} ms", number::figure(ms)))),
                or_none(measured.success.map(|share| format!("{} %", number::percent(share)))),
                match measured.fill {
                    Fill::Solid => "",
                    Fill::Hollow => ", limited by the load generator",
                },
            ));
        }
        if curve.measured.len() > DESCRIBED_MAX {
            sentences.push(format!("And {} more levels.", curve.measured.len() - DESCRIBED_MAX));
        }
        let peaks: Vec<String> = [curve.peak(), curve.most_journeys()]
            .into_iter()
            .flatten()
            .filter_map(|note| if let Note::Value { text, .. } = note { Some(text) } else { None })
            .collect();
        if !peaks.is_empty() {
            sentences.push(format!("In short: {}.", peaks.join("; ")));
        }
        if let Some(fit) = curve.curve.fit.as_ref().filter(|_| curves.len() == 1) {
            sentences.push(format!("Fitted: {}.", fit.name));
        }
        sentences.push(match curve.first_failing() {
            Some(first) => format!("First failures at {} {unit}.", number::figure(first.level)),
            None if curve.measured.is_empty() => format!("{NOTHING}."),
            None => "No request failed.".to_owned(),
        });
    }
    sentences.join(" ")
}
