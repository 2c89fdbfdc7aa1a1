//! From the description of a chart to shapes at coordinates.
//!
//! The legend stands in a row above the data and the titles of the axes lie flat at the top of them: both never cover a
//! value and are read without turning the head, which a legend in a corner and a title on its side cannot promise.
//! Margins follow from the widths of the labels that are really there. A strip takes its height from the chart: places along
//! the bottom stand above each other, and the picture stays as large as any.

use super::font::{Typeface, Weight};
use super::place::{Area, Ground};
use super::scene::{Colour, Path, Scene, Shape, Stroke};
use super::ticks::{self, Tick};
use super::{Axis, Chart, Dash, Fill, Ink, Marker, Marks, Note, Point, Series, Side, Start, Strip};

const WIDTH: f64 = 1_200.0;
const HEIGHT: f64 = 750.0;
/// Free room around everything.
const EDGE: f64 = 36.0;

const TITLE_SIZE: f64 = 28.0;
const SUBTITLE_SIZE: f64 = 17.0;
const TEXT_SIZE: f64 = 17.0;
const NOTE_SIZE: f64 = 16.0;
const LINE_HEIGHT: f64 = 1.45;

const INK_STRONG: Colour = Colour(0x1a, 0x1a, 0x1a, 255);
const INK_TEXT: Colour = Colour(0x3a, 0x3a, 0x3a, 255);
const INK_SOFT: Colour = Colour(0x5c, 0x5c, 0x5c, 255);
const INK_AXIS: Colour = Colour(0x8a, 0x8a, 0x8a, 255);
const INK_GRID: Colour = Colour(0xe4, 0xe4, 0xe4, 255);

const SERIES_WIDTH: f64 = 2.75;
const MARKER_RADIUS: f64 = 6.0;
/// Of a marker in a crowd.
const MARKER_RADIUS_MIN: f64 = 2.5;
/// Of a marker on top of another.
const NESTED_RADIUS: f64 = 3.6;
const TICK_LENGTH: f64 = 6.0;
const SAMPLE_WIDTH: f64 = 46.0;
/// Of a strip, from its highest tick to its lowest.
const STRIP_HEIGHT: f64 = 104.0;
/// Least free room between two labels of the bottom axis.
const LABEL_GAP: f64 = 14.0;

/// The chart as a finished picture.
pub(crate) fn scene(chart: &Chart) -> Scene {
    let mut sheet = Sheet { typeface: Typeface::built_in(), shapes: Vec::new() };
    let head = sheet.heading(chart);
    let head = sheet.legend(chart, head);
    let titles = head + TEXT_SIZE * 1.9;
    let widest = |axis: &Axis, sheet: &Sheet| {
        axis.ticks.iter().filter_map(|tick| tick.label.as_deref()).map(|label| sheet.width(label, TEXT_SIZE)).fold(0.0, f64::max)
    };
    let beside = TICK_LENGTH + 8.0;
    let bottom = HEIGHT - EDGE - 2.1 * TEXT_SIZE * LINE_HEIGHT;
    let of_strip = chart.strip.as_ref().map_or(0.0, |strip| widest(&strip.y, &sheet));
    let plot = Area {
        left: EDGE + widest(&chart.y, &sheet).max(of_strip) + beside,
        top: titles + TITLE_GAP,
        right: match &chart.y2 {
            Some(axis) => WIDTH - EDGE - widest(axis, &sheet) - beside,
            None => WIDTH - EDGE - 8.0,
        },
        bottom: if chart.strip.is_some() { bottom - STRIP_HEIGHT - TITLE_GAP - 2.0 * TEXT_SIZE } else { bottom },
    };
    let strip = chart.strip.as_ref().map(|strip| Frame {
        x: &chart.x,
        y: &strip.y,
        y2: None,
        series: &strip.series,
        notes: &strip.notes,
        plot: Area { top: bottom - STRIP_HEIGHT, bottom, ..plot },
        foot: Foot::Labelled,
    });
    let frame = Frame {
        x: &chart.x,
        y: &chart.y,
        y2: chart.y2.as_ref(),
        series: &chart.series,
        notes: &chart.notes,
        plot,
        foot: if strip.is_some() { Foot::Bare } else { Foot::Labelled },
    };
    sheet.axis_titles(&frame, titles);
    if let (Some(strip), Some(Strip { y, series, .. })) = (&strip, &chart.strip) {
        sheet.strip_title(y, series, strip.plot.top - TITLE_GAP);
        sheet.values(strip);
    }
    sheet.values(&frame);
    if let Some(text) = &chart.empty {
        sheet.across_the_middle(text, frame.plot);
    }
    Scene {
        width: WIDTH as u32,
        height: HEIGHT as u32,
        title: chart.title.clone(),
        description: chart.description.clone(),
        shapes: sheet.shapes,
    }
}

/// Between the title of an axis and its highest place.
const TITLE_GAP: f64 = 18.0;

/// What is drawn over one bottom axis, and the part of the picture for it.
struct Frame<'a> {
    x: &'a Axis,
    y: &'a Axis,
    y2: Option<&'a Axis>,
    series: &'a [Series],
    notes: &'a [Note],
    plot: Area,
    foot: Foot,
}

/// Whether the bottom axis says what its places are, or what stands below it does.
#[derive(Clone, Copy, PartialEq)]
enum Foot {
    Labelled,
    Bare,
}

impl Frame<'_> {
    fn x(&self, value: f64) -> f64 {
        self.plot.left + self.x.scale.place(value) * (self.plot.right - self.plot.left)
    }

    fn y(&self, value: f64, side: Side) -> f64 {
        let axis = match (side, self.y2) {
            (Side::Right, Some(axis)) => axis,
            _ => self.y,
        };
        self.plot.bottom - axis.scale.place(value) * (self.plot.bottom - self.plot.top)
    }

    /// The values of a series as runs without a gap.
    fn runs(&self, series: &Series) -> Vec<Vec<(f64, f64)>> {
        let values: Vec<(f64, Option<f64>)> = match &series.marks {
            Marks::Points { points, .. } => points.iter().map(|point| (point.x, point.y)).collect(),
            Marks::Line { points, .. } => points.clone(),
            Marks::Band { .. } => Vec::new(),
        };
        values
            .split(|(_, value)| value.is_none())
            .map(|run| run.iter().filter_map(|&(x, y)| Some((self.x(x), self.y(y?, series.side)))).collect())
            .filter(|run: &Vec<_>| !run.is_empty())
            .collect()
    }

    fn ground(&self) -> Ground {
        Ground {
            within: Area {
                left: self.plot.left + 6.0,
                top: self.plot.top + 2.0,
                right: self.plot.right - 6.0,
                bottom: self.plot.bottom - 4.0,
            },
            lines: Vec::new(),
            markers: Vec::new(),
            labels: Vec::new(),
        }
    }
}

/// Which point of a text is given.
#[derive(Clone, Copy)]
enum Anchor {
    Start,
    Middle,
    End,
}

/// The shapes so far, and the typeface to measure with.
struct Sheet {
    typeface: Typeface,
    shapes: Vec<Shape>,
}

impl Sheet {
    fn width(&self, text: &str, size: f64) -> f64 {
        self.typeface.width(text, Weight::Regular, size)
    }

    fn text(&mut self, text: &str, size: f64, anchor: Anchor, (x, y): (f64, f64), colour: Colour) {
        let width = self.width(text, size);
        let x = match anchor {
            Anchor::Start => x,
            Anchor::Middle => x - width / 2.0,
            Anchor::End => x - width,
        };
        let shape = self.typeface.text(text, Weight::Regular, size, (x, y), colour);
        self.shapes.push(shape);
    }

    fn stroke(&mut self, path: Path, colour: Colour, width: f64, dash: &'static [f64]) {
        self.shapes.push(Shape::Path { path, fill: None, stroke: Some(Stroke { colour, width, dash }) });
    }

    /// Title and subtitle; returns where they end.
    fn heading(&mut self, chart: &Chart) -> f64 {
        let room = WIDTH - 2.0 * EDGE;
        let title = self.typeface.shortened(&chart.title, Weight::Bold, TITLE_SIZE, room);
        let mut y = EDGE + TITLE_SIZE * 0.72;
        let shape = self.typeface.text(&title, Weight::Bold, TITLE_SIZE, (EDGE, y), INK_STRONG);
        self.shapes.push(shape);
        y += 6.0;
        for parts in &chart.subtitle {
            y += SUBTITLE_SIZE * LINE_HEIGHT;
            let line = self.joined(parts, room);
            self.text(&line, SUBTITLE_SIZE, Anchor::Start, (EDGE, y), INK_SOFT);
        }
        y + 10.0
    }

    /// The parts on one line, the longest one without its middle when they are too long together.
    fn joined(&self, parts: &[String], room: f64) -> String {
        const BETWEEN: &str = "  ·  ";
        let whole = parts.join(BETWEEN);
        let over = self.width(&whole, SUBTITLE_SIZE) - room;
        let widest =
            (0..parts.len()).max_by(|&a, &b| self.width(&parts[a], SUBTITLE_SIZE).total_cmp(&self.width(&parts[b], SUBTITLE_SIZE)));
        let (true, Some(widest)) = (over > 0.0, widest) else {
            return whole;
        };
        let mut parts = parts.to_vec();
        let left = self.width(&parts[widest], SUBTITLE_SIZE) - over - 2.0;
        parts[widest] = self.typeface.shortened(&parts[widest], Weight::Regular, SUBTITLE_SIZE, left.max(60.0));
        // When other parts alone are too long, the line as a whole gives way.
        self.typeface.shortened(&parts.join(BETWEEN), Weight::Regular, SUBTITLE_SIZE, room)
    }

    /// The legend in as many rows as it needs; returns where it ends.
    fn legend(&mut self, chart: &Chart, top: f64) -> f64 {
        const BETWEEN: f64 = 34.0;
        let room = WIDTH - 2.0 * EDGE;
        let row_height = TEXT_SIZE * 1.6;
        let mut entries: Vec<(Option<&Series>, String)> = chart.series.iter().map(|series| (Some(series), series.name.clone())).collect();
        let is_hollow = |point: &Point| point.fill == Fill::Hollow && point.y.is_some();
        let any_hollow =
            chart.series.iter().any(|series| matches!(&series.marks, Marks::Points { points, .. } if points.iter().any(is_hollow)));
        if let (true, Some(meaning)) = (any_hollow, &chart.hollow) {
            entries.push((None, meaning.clone()));
        }
        let (mut x, mut y) = (EDGE, top + row_height * 0.8);
        for (series, name) in entries {
            let sample = if series.is_some() { SAMPLE_WIDTH } else { 2.0 * MARKER_RADIUS + 4.0 };
            let name = self.typeface.shortened(&name, Weight::Regular, TEXT_SIZE, room - SAMPLE_WIDTH - 10.0);
            let width = sample + 10.0 + self.width(&name, TEXT_SIZE);
            if x > EDGE && x + width > EDGE + room {
                x = EDGE;
                y += row_height;
            }
            let middle = y - TEXT_SIZE * 0.36;
            match series {
                Some(series) => self.sample(series, (x, middle)),
                None => {
                    let at = (x + MARKER_RADIUS + 2.0, middle);
                    self.marker(Marker::Circle, MARKER_RADIUS, INK_SOFT, Fill::Hollow, at);
                }
            }
            self.text(&name, TEXT_SIZE, Anchor::Start, (x + sample + 10.0, y), INK_TEXT);
            x += width + BETWEEN;
        }
        y + 4.0
    }

    /// A piece of the series as it looks in the data.
    fn sample(&mut self, series: &Series, (x, y): (f64, f64)) {
        let colour = series.ink.colour();
        let line = Path::line(&[(x, y), (x + SAMPLE_WIDTH, y)]);
        match &series.marks {
            Marks::Points { marker, dash, .. } => {
                self.stroke(line, colour, SERIES_WIDTH, lengths(*dash));
                self.marker(*marker, MARKER_RADIUS, colour, Fill::Solid, (x + SAMPLE_WIDTH / 2.0, y));
            }
            Marks::Line { dash, .. } => self.stroke(line, colour, SERIES_WIDTH, lengths(*dash)),
            Marks::Band { .. } => self.shapes.push(Shape::Path {
                path: Path::rectangle(x, y - 7.0, SAMPLE_WIDTH, 14.0),
                fill: Some(colour.opaque(BAND_ALPHA)),
                stroke: None,
            }),
        }
    }

    /// Everything of a frame but the titles of its axes.
    fn values(&mut self, frame: &Frame) {
        self.grid_and_axes(frame);
        let mut ground = frame.ground();
        self.bands(frame, &mut ground);
        self.place_lines(frame, &mut ground);
        self.lines(frame, &mut ground);
        self.markers(frame, &mut ground);
        self.notes(frame, &mut ground);
    }

    /// The title of a strip's axis, and behind it its series, where there are several to tell apart.
    fn strip_title(&mut self, axis: &Axis, series: &[Series], y: f64) {
        const BETWEEN: f64 = 26.0;
        let room = (WIDTH - 2.0 * EDGE) / 2.0;
        let title = self.typeface.shortened(&axis.title, Weight::Regular, TEXT_SIZE, room);
        self.text(&title, TEXT_SIZE, Anchor::Start, (EDGE, y), axis.ink.map_or(INK_TEXT, Ink::text_colour));
        if series.len() < 2 {
            return;
        }
        let mut x = EDGE + self.width(&title, TEXT_SIZE) + BETWEEN;
        let each = (WIDTH - EDGE - x) / series.len() as f64 - SAMPLE_WIDTH - 10.0 - BETWEEN;
        for series in series {
            let name = self.typeface.shortened(&series.name, Weight::Regular, TEXT_SIZE, each);
            self.sample(series, (x, y - TEXT_SIZE * 0.36));
            x += SAMPLE_WIDTH + 10.0;
            self.text(&name, TEXT_SIZE, Anchor::Start, (x, y), INK_TEXT);
            x += self.width(&name, TEXT_SIZE) + BETWEEN;
        }
    }

    fn axis_titles(&mut self, frame: &Frame, y: f64) {
        let half = (WIDTH - 2.0 * EDGE) / 2.0 - 20.0;
        let room = |alone: bool| {
            if alone { 2.0 * half } else { half }
        };
        let colour = |axis: &Axis| axis.ink.map_or(INK_TEXT, Ink::text_colour);
        let fitted = |sheet: &Self, text: &str, room: f64| sheet.typeface.shortened(text, Weight::Regular, TEXT_SIZE, room);
        let left = fitted(self, &frame.y.title, room(frame.y2.is_none()));
        self.text(&left, TEXT_SIZE, Anchor::Start, (EDGE, y), colour(frame.y));
        if let Some(axis) = frame.y2 {
            let right = fitted(self, &axis.title, half);
            self.text(&right, TEXT_SIZE, Anchor::End, (WIDTH - EDGE, y), colour(axis));
        }
        let bottom = fitted(self, &frame.x.title, room(true));
        let middle = (frame.plot.left + frame.plot.right) / 2.0;
        self.text(&bottom, TEXT_SIZE, Anchor::Middle, (middle, HEIGHT - EDGE + 2.0), INK_TEXT);
    }

    fn grid_and_axes(&mut self, frame: &Frame) {
        let plot = frame.plot;
        let x_ticks = ticks::thinned(&frame.x.ticks, |value| frame.x(value), |label| self.width(label, TEXT_SIZE), LABEL_GAP);
        for tick in &frame.y.ticks {
            let y = frame.y(tick.value, Side::Left);
            if tick.label.is_some() && y < plot.bottom - 0.5 {
                let line = Path::line(&[(plot.left, y), (plot.right, y)]);
                self.stroke(line, INK_GRID, 1.0, &[]);
            }
        }
        for tick in x_ticks.iter().filter(|tick| tick.label.is_some()) {
            let x = frame.x(tick.value);
            let line = Path::line(&[(x, plot.top), (x, plot.bottom)]);
            self.stroke(line, INK_GRID, 1.0, &[]);
        }
        self.axis_lines(frame);
        for Tick { value, label } in &x_ticks {
            let x = frame.x(*value);
            let length = if label.is_some() { TICK_LENGTH } else { 4.0 };
            let mark = Path::line(&[(x, plot.bottom), (x, plot.bottom + length)]);
            self.stroke(mark, INK_AXIS, 1.2, &[]);
            if let (Some(label), Foot::Labelled) = (label, frame.foot) {
                let y = plot.bottom + TICK_LENGTH + TEXT_SIZE * 1.25;
                self.text(label, TEXT_SIZE, Anchor::Middle, (x, y), INK_TEXT);
            }
        }
        let right = frame.y2.map(|axis| (axis, Side::Right));
        for (axis, side) in std::iter::once((frame.y, Side::Left)).chain(right) {
            let colour = axis.ink.map_or(INK_TEXT, Ink::text_colour);
            let (edge, outwards, anchor) = match side {
                Side::Left => (plot.left, -1.0, Anchor::End),
                Side::Right => (plot.right, 1.0, Anchor::Start),
            };
            for Tick { value, label } in &axis.ticks {
                let y = frame.y(*value, side);
                let length = if label.is_some() { TICK_LENGTH } else { 4.0 };
                let mark = Path::line(&[(edge, y), (edge + outwards * length, y)]);
                self.stroke(mark, INK_AXIS, 1.2, &[]);
                if let Some(label) = label {
                    let at = (edge + outwards * (TICK_LENGTH + 6.0), y + TEXT_SIZE * 0.36);
                    self.text(label, TEXT_SIZE, anchor, at, colour);
                }
            }
        }
    }

    /// The lines of the axes, the left one broken when it is cut.
    fn axis_lines(&mut self, frame: &Frame) {
        let plot = frame.plot;
        let bottom = Path::line(&[(plot.left, plot.bottom), (plot.right, plot.bottom)]);
        self.stroke(bottom, INK_AXIS, 1.2, &[]);
        let sides = [Some((frame.y, plot.left)), frame.y2.map(|axis| (axis, plot.right))];
        for (axis, x) in sides.into_iter().flatten() {
            let mut points = vec![(x, plot.bottom)];
            if axis.start == Start::Cut {
                let wave = [(0.0, 9.0), (-7.0, 13.0), (7.0, 20.0), (0.0, 24.0)];
                points.extend(wave.map(|(aside, up)| (x + aside, plot.bottom - up)));
            }
            points.push((x, plot.top));
            self.stroke(Path::line(&points), INK_AXIS, 1.2, &[]);
        }
    }

    fn bands(&mut self, frame: &Frame, ground: &mut Ground) {
        for series in frame.series {
            let Marks::Band { points } = &series.marks else {
                continue;
            };
            let upper = points.iter().map(|&(x, _, high)| (x, high));
            let lower = points.iter().rev().map(|&(x, low, _)| (x, low));
            let outline: Vec<(f64, f64)> = upper.chain(lower).map(|(x, y)| (frame.x(x), frame.y(y, series.side))).collect();
            ground.lines.extend(outline.windows(2).map(|pair| (pair[0], pair[1])));
            self.shapes.push(Shape::Path {
                path: Path::polygon(&outline),
                fill: Some(series.ink.colour().opaque(BAND_ALPHA)),
                stroke: None,
            });
        }
    }

    /// The lines of notes that point out a place along the bottom axis.
    fn place_lines(&mut self, frame: &Frame, ground: &mut Ground) {
        for note in frame.notes {
            let Note::Place { x, ink, .. } = note else {
                continue;
            };
            let x = frame.x(*x);
            let ends = [(x, frame.plot.top), (x, frame.plot.bottom)];
            self.stroke(Path::line(&ends), ink.text_colour(), 1.5, &[2.0, 4.0]);
            ground.lines.push((ends[0], ends[1]));
        }
    }

    fn lines(&mut self, frame: &Frame, ground: &mut Ground) {
        for series in frame.series {
            let dash = match &series.marks {
                Marks::Points { dash, .. } | Marks::Line { dash, .. } => *dash,
                Marks::Band { .. } => continue,
            };
            for run in frame.runs(series) {
                if run.len() > 1 {
                    ground.lines.extend(run.windows(2).map(|pair| (pair[0], pair[1])));
                    let colour = series.ink.colour();
                    self.stroke(Path::line(&run), colour, SERIES_WIDTH, lengths(dash));
                }
            }
        }
    }

    fn markers(&mut self, frame: &Frame, ground: &mut Ground) {
        let mut earlier: Vec<(f64, f64)> = Vec::new();
        for series in frame.series {
            let Marks::Points { points, marker, .. } = &series.marks else {
                continue;
            };
            let room = spacing(&frame.runs(series)) * 0.42;
            let radius = MARKER_RADIUS.min(room.max(MARKER_RADIUS_MIN));
            let mut drawn = Vec::new();
            for point in points {
                let Some(y) = point.y else { continue };
                let at = (frame.x(point.x), frame.y(y, series.side));
                // Where values coincide the later marker is smaller, so that the earlier one shows around it.
                let beneath = earlier.iter().any(|other| (other.0 - at.0).hypot(other.1 - at.1) < MARKER_RADIUS * 0.6);
                let radius = if beneath { radius.min(NESTED_RADIUS) } else { radius };
                drawn.push(at);
                ground.markers.push(at);
                self.marker(*marker, radius, series.ink.colour(), point.fill, at);
            }
            earlier.extend(drawn);
        }
    }

    fn marker(&mut self, marker: Marker, radius: f64, colour: Colour, fill: Fill, (x, y): (f64, f64)) {
        let r = match fill {
            Fill::Solid => radius,
            // The line of a hollow marker lies half outside.
            Fill::Hollow => radius - 0.75,
        };
        // Sizes that look alike: equal areas, not equal heights.
        let path = match marker {
            Marker::Circle => Path::circle(x, y, r),
            Marker::Square => Path::rectangle(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8),
            Marker::Triangle => Path::polygon(&[(x, y - r * 1.3), (x + r * 1.2, y + r * 0.85), (x - r * 1.2, y + r * 0.85)]),
            Marker::Diamond => Path::polygon(&[(x, y - r * 1.35), (x + r * 1.35, y), (x, y + r * 1.35), (x - r * 1.35, y)]),
        };
        if fill == Fill::Solid {
            // A white rim keeps markers apart from lines that pass behind them.
            self.stroke(path.clone(), Colour::WHITE, radius / 2.0, &[]);
        }
        self.shapes.push(match fill {
            Fill::Solid => Shape::Path { path, fill: Some(colour), stroke: None },
            Fill::Hollow => {
                Shape::Path { path, fill: Some(Colour::WHITE), stroke: Some(Stroke { colour, width: radius * 0.4, dash: &[] }) }
            }
        });
    }

    fn notes(&mut self, frame: &Frame, ground: &mut Ground) {
        let room = (frame.plot.right - frame.plot.left) * 0.8;
        let height = NOTE_SIZE * 1.4;
        for note in frame.notes {
            let (Note::Value { text, ink, .. } | Note::Place { text, ink, .. }) = note;
            let colour = ink.text_colour();
            let text = self.typeface.shortened(text, Weight::Regular, NOTE_SIZE, room);
            let size = (self.width(&text, NOTE_SIZE) + 8.0, height);
            let area = match note {
                Note::Value { x, y, side, .. } => {
                    let point = (frame.x(*x), frame.y(*y, *side));
                    let ring = MARKER_RADIUS + 5.0;
                    self.stroke(Path::circle(point.0, point.1, ring), colour, 1.4, &[]);
                    let area = ground.beside_point(point, size);
                    self.leader(point, ring, &area, colour);
                    area
                }
                Note::Place { x, .. } => ground.beside_line(frame.x(*x), size),
            };
            self.label(&text, &area, colour);
        }
    }

    fn across_the_middle(&mut self, text: &str, plot: Area) {
        const SIZE: f64 = 22.0;
        let room = (plot.right - plot.left) * 0.8;
        let text = self.typeface.shortened(text, Weight::Regular, SIZE, room);
        let middle = ((plot.left + plot.right) / 2.0, (plot.top + plot.bottom) / 2.0);
        let width = self.width(&text, SIZE) + 24.0;
        let height = SIZE * 1.7;
        self.shapes.push(Shape::Path {
            path: Path::rectangle(middle.0 - width / 2.0, middle.1 - height / 2.0, width, height),
            fill: Some(Colour::WHITE),
            stroke: None,
        });
        let at = (middle.0, middle.1 + SIZE * 0.36);
        self.text(&text, SIZE, Anchor::Middle, at, INK_SOFT);
    }

    /// A thin line from the ring around a point to its label, when the label stands apart.
    fn leader(&mut self, point: (f64, f64), ring: f64, area: &Area, colour: Colour) {
        let end = area.nearest(point);
        let (dx, dy) = (end.0 - point.0, end.1 - point.1);
        let distance = dx.hypot(dy);
        if distance > ring + 8.0 {
            let start = (point.0 + dx / distance * ring, point.1 + dy / distance * ring);
            self.stroke(Path::line(&[start, end]), colour, 1.2, &[]);
        }
    }

    fn label(&mut self, text: &str, area: &Area, colour: Colour) {
        self.shapes.push(Shape::Path {
            path: Path::rectangle(area.left, area.top, area.right - area.left, area.bottom - area.top),
            fill: Some(Colour::WHITE.opaque(210)),
            stroke: None,
        });
        let at = (area.left + 4.0, (area.top + area.bottom) / 2.0 + NOTE_SIZE * 0.36);
        self.text(text, NOTE_SIZE, Anchor::Start, at, colour);
    }
}

/// How opaque the area of a band is, of 255: a line and the grid are seen through it.
const BAND_ALPHA: u8 = 51;

/// A distance between neighbours that three quarters of them keep, in pixels.
fn spacing(runs: &[Vec<(f64, f64)>]) -> f64 {
    let mut distances: Vec<f64> =
        runs.iter().flat_map(|run| run.windows(2)).map(|pair| (pair[1].0 - pair[0].0).hypot(pair[1].1 - pair[0].1)).collect();
    distances.sort_by(f64::total_cmp);
    distances.get(distances.len() / 4).copied().unwrap_or(f64::INFINITY)
}

fn lengths(dash: Dash) -> &'static [f64] {
    match dash {
        Dash::Solid => &[],
        Dash::Dashed => &[9.0, 5.0],
        Dash::Dotted => &[2.5, 4.0],
    }
}
