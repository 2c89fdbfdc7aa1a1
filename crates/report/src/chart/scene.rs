//! A finished picture: shapes at coordinates, in the order they are painted.
//!
//! SVG and PNG of one chart must be the same picture. If each writer laid the chart out on its own they would drift
//! apart, so layout ends here: a scene holds only paths, and both writers do nothing but copy them. Text is among them as
//! outlines of its glyphs, because the fonts of the machine that shows the picture are not ours to choose.

use std::rc::Rc;

/// A picture of a fixed size with words for those who cannot see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Width in pixels at density 1.
    pub width: u32,
    /// Height in pixels at density 1.
    pub height: u32,
    /// What the picture is called.
    pub title: String,
    /// What the picture shows, in words.
    pub description: String,
    /// Painted in this order on white.
    pub shapes: Vec<Shape>,
}

/// One painted thing.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A path in pixels.
    Path {
        /// Its outline.
        path: Path,
        /// What is inside it, if painted.
        fill: Option<Colour>,
        /// Its line, if drawn.
        stroke: Option<Stroke>,
    },
    /// A line of text as the outlines of its glyphs.
    Text {
        /// The glyphs from left to right.
        glyphs: Vec<Glyph>,
        /// Where the text starts, in pixels.
        x: f64,
        /// Where its base line is, in pixels.
        y: f64,
        /// Pixels a unit of the font.
        scale: f64,
        /// The colour of the text.
        fill: Colour,
    },
}

/// One glyph of a line of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Glyph {
    /// Tells its outline from all others in the picture; equal names have equal outlines.
    pub name: String,
    /// Its outline in units of the font, y upwards; shared by every place it stands at.
    pub outline: Rc<Path>,
    /// How far right of the start of the text it stands, in units of the font.
    pub start: f64,
}

/// A line with a width in pixels.
#[derive(Clone, Debug, PartialEq)]
pub struct Stroke {
    /// Its colour.
    pub colour: Colour,
    /// Its width in pixels.
    pub width: f64,
    /// Lengths of dashes and gaps in turn, in pixels; empty for an unbroken line.
    pub dash: &'static [f64],
}

/// Red, green, blue and how opaque, each 0 to 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub u8, pub u8, pub u8, pub u8);

impl Colour {
    /// The background of every chart.
    pub(crate) const WHITE: Self = Self(255, 255, 255, 255);

    /// The same colour, this opaque (0 to 255).
    pub fn opaque(self, alpha: u8) -> Self {
        Self(self.0, self.1, self.2, alpha)
    }
}

/// An outline: what a pen does, one step after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Path {
    /// The steps.
    pub steps: Vec<Step>,
}

/// One step of the pen; coordinates are absolute, x then y.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// Lift the pen and put it down here.
    Move(f64, f64),
    /// A straight line to here.
    Line(f64, f64),
    /// A quadratic curve: one control point, then the end.
    Quad(f64, f64, f64, f64),
    /// A cubic curve: two control points, then the end.
    Cubic(f64, f64, f64, f64, f64, f64),
    /// Back to where the pen was put down.
    Close,
}

/// How far the control points of a quarter circle lie from its ends, as a share of the radius: 4/3·(√2−1).
const QUARTER: f64 = 0.552_284_749_830_793_4;

impl Path {
    /// An open line through these points.
    pub fn line(points: &[(f64, f64)]) -> Self {
        let steps =
            points.iter().enumerate().map(|(index, &(x, y))| if index == 0 { Step::Move(x, y) } else { Step::Line(x, y) }).collect();
        Self { steps }
    }

    /// A closed line through these points.
    pub(crate) fn polygon(points: &[(f64, f64)]) -> Self {
        let mut path = Self::line(points);
        path.steps.push(Step::Close);
        path
    }

    /// A circle.
    pub fn circle(x: f64, y: f64, radius: f64) -> Self {
        let (r, c) = (radius, radius * QUARTER);
        Self {
            steps: vec![
                Step::Move(x + r, y),
                Step::Cubic(x + r, y + c, x + c, y + r, x, y + r),
                Step::Cubic(x - c, y + r, x - r, y + c, x - r, y),
                Step::Cubic(x - r, y - c, x - c, y - r, x, y - r),
                Step::Cubic(x + c, y - r, x + r, y - c, x + r, y),
                Step::Close,
            ],
        }
    }

    /// A rectangle from its top left corner.
    pub(crate) fn rectangle(x: f64, y: f64, width: f64, height: f64) -> Self {
        Self::polygon(&[(x, y), (x + width, y), (x + width, y + height), (x, y + height)])
    }
}
