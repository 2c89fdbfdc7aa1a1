//! Charts that can go into a design document as they are.
//!
//! A measurement convinces when its picture can be read without its author: what was measured, in which unit, where the
//! highest value is and which points are not to be trusted. Plotting libraries were weighed and rejected: they leave the
//! labels to whatever font is installed, put them on top of each other on logarithmic axes, and know neither notes nor
//! hollow markers. What is left to do is small and lives here: a [`Chart`] is a description of the picture,
//! [`Chart::scene`] lays it out, and the scene is written as SVG or PNG.
//!
//! Invariants: meaning is never carried by colour alone; an axis that does not start at zero says so; the same chart
//! gives the same bytes.

pub mod find;
mod font;
mod layout;
pub mod number;
mod place;
pub mod scene;
pub mod shift;
pub mod svg;
pub mod sweep;
pub mod ticks;

use crate::png::{self, Density};
use scene::{Colour, Scene};
use ticks::{Scale, Tick};

/// A picture of values over one quantity, with one or two value axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// What the picture shows, in a few words.
    pub title: String,
    /// Lines under the title, each of parts set apart by a dot. A line that is too long loses the middle of its longest
    /// part.
    pub subtitle: Vec<Vec<String>>,
    /// The data in words, for those who cannot see the picture.
    pub description: String,
    /// The axis along the bottom.
    pub x: Axis,
    /// The axis on the left.
    pub y: Axis,
    /// The axis on the right, if any series needs one.
    pub y2: Option<Axis>,
    /// What belongs to the same places along the bottom and is of another size.
    pub strip: Option<Strip>,
    /// What is drawn, in this order.
    pub series: Vec<Series>,
    /// What is pointed out.
    pub notes: Vec<Note>,
    /// What a hollow marker says, in the legend when there is one.
    pub hollow: Option<String>,
    /// What is written across the middle when there is nothing, or nothing but zeros, to see.
    pub empty: Option<String>,
}

impl Chart {
    /// The chart laid out at 1,200 × 750.
    pub fn scene(&self) -> Scene {
        layout::scene(self)
    }

    /// The chart as a complete SVG file.
    pub fn svg(&self) -> String {
        svg::svg(&self.scene())
    }

    /// The chart as a complete PNG file.
    pub fn png(&self, density: Density) -> Vec<u8> {
        png::png(&self.scene(), density)
    }
}

/// A low picture below the chart, over the same bottom axis and with an axis of its own. Where it has several series, they stand
/// beside the title of that axis; the legend of the chart does not have them.
#[derive(Clone, Debug, PartialEq)]
pub struct Strip {
    /// Its axis, on the left.
    pub y: Axis,
    /// What is drawn; all of it belongs to that axis.
    pub series: Vec<Series>,
    /// What is pointed out.
    pub notes: Vec<Note>,
}

/// One axis: what it measures, how, and its marks.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The quantity and its unit, and whatever is unusual about the axis: `Mean latency, ms, log scale (dashed)`.
    pub title: String,
    /// How values spread over it.
    pub scale: Scale,
    /// Its marks, sorted. On the axis along the bottom, labels that would touch are left out.
    pub ticks: Vec<Tick>,
    /// Whether it starts where a reader expects it.
    pub start: Start,
    /// The colour of the one series it belongs to; `None` when there are several.
    pub ink: Option<Ink>,
}

/// Whether an axis starts where a reader expects it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At zero, or on a logarithmic axis.
    Whole,
    /// Above zero: the axis is drawn broken. The title must say it in words.
    Cut,
}

/// One row of values.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// The axis its values belong to.
    pub side: Side,
    /// Its colour.
    pub ink: Ink,
    /// How its values are drawn.
    pub marks: Marks,
}

/// The axis that values belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// [`Chart::y`].
    Left,
    /// [`Chart::y2`]; the left axis when there is none.
    Right,
}

/// How values are drawn. Points are sorted by `x`.
#[derive(Clone, Debug, PartialEq)]
pub enum Marks {
    /// Measured values: a marker at each, joined by a line where both neighbours have a value.
    Points {
        /// The values.
        points: Vec<Point>,
        /// The shape at each value.
        marker: Marker,
        /// The line between them.
        dash: Dash,
    },
    /// A line without markers: a fitted curve, or many values over time. It breaks where there is no value.
    Line {
        /// `x` and the value there.
        points: Vec<(f64, Option<f64>)>,
        /// The line.
        dash: Dash,
    },
    /// The area between two lines: an interval around a curve.
    Band {
        /// `x`, the lower and the upper value there.
        points: Vec<(f64, f64, f64)>,
    },
}

/// One measured value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Where along the bottom axis.
    pub x: f64,
    /// The value; `None` leaves a gap in the line.
    pub y: Option<f64>,
    /// Whether the marker is filled.
    pub fill: Fill,
}

/// Whether a marker is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// A value like any other.
    Solid,
    /// A value to be read with the reservation that [`Chart::hollow`] names.
    Hollow,
}

/// Shapes that can be told apart without their colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marker {
    /// ●
    Circle,
    /// ■
    Square,
    /// ▲
    Triangle,
    /// ◆
    Diamond,
}

/// Lines that can be told apart without their colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dash {
    /// Unbroken.
    Solid,
    /// Long dashes.
    Dashed,
    /// Short dashes.
    Dotted,
}

/// Colours that people with any kind of colour vision can tell apart: the palette of Okabe and Ito (2008), without its
/// yellow, which is too light for lines on white.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Blue.
    Blue,
    /// Vermillion.
    Vermillion,
    /// Bluish green.
    Green,
    /// Reddish purple.
    Purple,
    /// Black.
    Black,
}

impl Ink {
    /// The colour for lines and markers.
    pub fn colour(self) -> Colour {
        match self {
            Self::Blue => Colour(0x00, 0x72, 0xb2, 255),
            Self::Vermillion => Colour(0xd5, 0x5e, 0x00, 255),
            Self::Green => Colour(0x00, 0x9e, 0x73, 255),
            Self::Purple => Colour(0xcc, 0x79, 0xa7, 255),
            Self::Black => Colour(0x22, 0x22, 0x22, 255),
        }
    }

    /// The same hue dark enough for text: at least 4.5 to 1 against white, as WCAG 2.2 asks.
    pub(crate) fn text_colour(self) -> Colour {
        match self {
            Self::Blue => Colour(0x00, 0x5f, 0x96, 255),
            Self::Vermillion => Colour(0xa8, 0x48, 0x00, 255),
            Self::Green => Colour(0x00, 0x6e, 0x50, 255),
            Self::Purple => Colour(0x8f, 0x3f, 0x6c, 255),
            Self::Black => Colour(0x22, 0x22, 0x22, 255),
        }
    }
}

/// Something pointed out in words. Its text is placed where it hides nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// One value, ringed.
    Value {
        /// Where along the bottom axis.
        x: f64,
        /// The value.
        y: f64,
        /// The axis of the value.
        side: Side,
        /// What to say.
        text: String,
        /// The colour of the series it is about; black when there is only one.
        ink: Ink,
    },
    /// One place along the bottom axis, as a line over the whole height.
    Place {
        /// Where along the bottom axis.
        x: f64,
        /// What to say.
        text: String,
        /// The colour of the series it is about; black when there is only one.
        ink: Ink,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance after WCAG 2.2.
    fn luminance(Colour(red, green, blue, _): Colour) -> f64 {
        let linear = |channel: u8| {
            let share = f64::from(channel) / 255.0;
            if share <= 0.04045 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
    }

    #[test]
    fn coloured_text_is_readable_on_white() {
        for ink in [Ink::Blue, Ink::Vermillion, Ink::Green, Ink::Purple, Ink::Black] {
            let contrast = 1.05 / (luminance(ink.text_colour()) + 0.05);
            assert!(contrast >= 4.5, "{ink:?}: {contrast}");
        }
    }
}
