//! A scene as a PNG file.
//!
//! Documents and chat windows often take only pixels, and at one pixel a point the labels of a chart are mush on today's
//! screens. So the picture is painted at a density, and the file says so, which lets a word processor show it at its true
//! size. The outlines come from the scene, painting is done by `tiny-skia` without its vectorised paths, whose estimates
//! differ between processors: the same scene gives the same bytes everywhere.

use crate::chart::scene::{Colour, Path, Scene, Shape, Step};
use std::num::NonZeroU8;
use tiny_skia::{FillRule, LineJoin, Paint, PathBuilder, Pixmap, PixmapMut, Stroke, StrokeDash, Transform};

/// How many pixels a unit of the scene takes, in each direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Density(NonZeroU8);

impl Density {
    /// For documents and sharp screens: a chart of 1,200 × 750 becomes 2,400 × 1,500 pixels.
    pub const DOCUMENT: Self = Self(NonZeroU8::new(2).unwrap());
    /// One pixel a unit.
    pub const SCREEN: Self = Self(NonZeroU8::new(1).unwrap());

    /// This many pixels a unit; more than 8 is taken as 8.
    pub fn new(pixels_per_unit: NonZeroU8) -> Self {
        Self(pixels_per_unit.min(NonZeroU8::new(8).unwrap_or(NonZeroU8::MIN)))
    }
}

/// Dots a metre at density 1: 96 an inch, as CSS counts.
const DOTS_PER_METRE: u32 = 3780;

/// The picture as a complete PNG file: 8 bits a channel, no transparency, with its title and description inside.
pub fn png(scene: &Scene, density: Density) -> Vec<u8> {
    let factor = u32::from(density.0.get());
    let (width, height) = (scene.width * factor, scene.height * factor);
    let mut pixels = Pixmap::new(width, height).expect("a scene has a size above zero");
    pixels.fill(tiny_skia::Color::WHITE);
    let scale = Transform::from_scale(factor as f32, factor as f32);
    for shape in &scene.shapes {
        paint(&mut pixels.as_mut(), shape, scale);
    }
    // Painted on opaque white, so nothing is lost with the fourth channel.
    let opaque: Vec<u8> = pixels.pixels().iter().flat_map(|pixel| [pixel.red(), pixel.green(), pixel.blue()]).collect();
    encoded(scene, (width, height), DOTS_PER_METRE * factor, &opaque).expect("a picture of known size is written to memory")
}

fn encoded(scene: &Scene, (width, height): (u32, u32), dots_per_metre: u32, pixels: &[u8]) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_pixel_dims(Some(png::PixelDimensions { xppu: dots_per_metre, yppu: dots_per_metre, unit: png::Unit::Meter }));
    encoder.add_itxt_chunk("Title".to_owned(), scene.title.clone())?;
    encoder.add_itxt_chunk("Description".to_owned(), scene.description.clone())?;
    let mut writer = encoder.write_header()?;
    writer.write_image_data(pixels)?;
    writer.finish()?;
    Ok(bytes)
}

fn paint(pixels: &mut PixmapMut, shape: &Shape, scale: Transform) {
    match shape {
        Shape::Path { path, fill, stroke } => {
            let Some(outline) = outline(path) else { return };
            if let Some(colour) = fill {
                pixels.fill_path(&outline, &ink(*colour), FillRule::Winding, scale, None);
            }
            if let Some(stroke) = stroke {
                let dash: Vec<f32> = stroke.dash.iter().map(|&length| length as f32).collect();
                let pen = Stroke {
                    width: stroke.width as f32,
                    line_join: LineJoin::Round,
                    dash: StrokeDash::new(dash, 0.0),
                    ..Stroke::default()
                };
                pixels.stroke_path(&outline, &ink(stroke.colour), &pen, scale, None);
            }
        }
        Shape::Text { glyphs, x, y, scale: size, fill } => {
            let unit = *size as f32;
            for glyph in glyphs {
                let Some(outline) = outline(&glyph.outline) else {
                    continue;
                };
                let start = (x + glyph.start * size) as f32;
                let place = Transform::from_row(unit, 0.0, 0.0, -unit, start, *y as f32);
                pixels.fill_path(&outline, &ink(*fill), FillRule::Winding, place.post_concat(scale), None);
            }
        }
    }
}

fn ink(Colour(red, green, blue, alpha): Colour) -> Paint<'static> {
    let mut paint = Paint { anti_alias: true, ..Paint::default() };
    paint.set_color_rgba8(red, green, blue, alpha);
    paint
}

/// The path in the painter's own form, or nothing when it has no length.
fn outline(path: &Path) -> Option<tiny_skia::Path> {
    let mut pen = PathBuilder::new();
    for step in &path.steps {
        match *step {
            Step::Move(x, y) => pen.move_to(x as f32, y as f32),
            Step::Line(x, y) => pen.line_to(x as f32, y as f32),
            Step::Quad(x1, y1, x, y) => pen.quad_to(x1 as f32, y1 as f32, x as f32, y as f32),
            Step::Cubic(x1, y1, x2, y2, x, y) => pen.cubic_to(x1 as f32, y1 as f32, x2 as f32, y2 as f32, x as f32, y as f32),
            Step::Close => pen.close(),
        }
    }
    pen.finish()
}
