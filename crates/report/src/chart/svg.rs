//! A scene as an SVG file.
//!
//! The file must look the same in a browser, in a document and in a viewer without fonts, so it uses the oldest and
//! plainest part of the format: paths, fills and strokes. There is no text element, no style sheet, no script and no link
//! to anything outside. Whoever cannot see it gets the title and the data in words, which is also what a search finds.

use super::scene::{Colour, Glyph, Path, Scene, Shape, Step, Stroke};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The picture as a complete SVG file.
pub fn svg(scene: &Scene) -> String {
    let mut out = String::with_capacity(64 * 1024);
    let (width, height) = (scene.width, scene.height);
    out.push_str("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    put(
        &mut out,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" \
             xmlns:xlink=\"http://www.w3.org/1999/xlink\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-labelledby=\"title desc\">\n"
        ),
    );
    put(
        &mut out,
        format_args!("<title id=\"title\">{}</title>\n<desc id=\"desc\">{}</desc>\n", escaped(&scene.title), escaped(&scene.description)),
    );
    put(&mut out, format_args!("<path fill=\"#ffffff\" d=\"M0 0h{width}v{height}h-{width}z\"/>\n"));
    outlines(&mut out, scene);
    for shape in &scene.shapes {
        match shape {
            Shape::Path { path, fill, stroke } => {
                out.push_str("<path");
                attributes(&mut out, *fill, stroke.as_ref());
                put(&mut out, format_args!(" d=\"{}\"/>\n", steps(path, Precision::HUNDREDTHS)));
            }
            Shape::Text { glyphs, x, y, scale, fill } => {
                let size = format!("{scale:.6}");
                let pixels = Precision::HUNDREDTHS;
                out.push_str("<g");
                attributes(&mut out, Some(*fill), None);
                put(
                    &mut out,
                    format_args!(
                        " transform=\"matrix({size} 0 0 -{size} {} {})\">",
                        pixels.written(pixels.rounded(*x)),
                        pixels.written(pixels.rounded(*y)),
                    ),
                );
                for Glyph { name, start, .. } in glyphs {
                    put(&mut out, format_args!("<use xlink:href=\"#{name}\" x=\"{}\"/>", Precision::WHOLE.rounded(*start)));
                }
                out.push_str("</g>\n");
            }
        }
    }
    out.push_str("</svg>\n");
    out
}

/// Every outline of a glyph once, under its name; the texts refer to it.
///
/// The reference is written in the old form, `xlink:href`, which every viewer knows.
fn outlines(out: &mut String, scene: &Scene) {
    let mut distinct = BTreeMap::new();
    for shape in &scene.shapes {
        if let Shape::Text { glyphs, .. } = shape {
            distinct.extend(glyphs.iter().map(|glyph| (&glyph.name, &glyph.outline)));
        }
    }
    out.push_str("<defs>\n");
    for (name, outline) in distinct {
        put(out, format_args!("<path id=\"{name}\" d=\"{}\"/>\n", steps(outline, Precision::WHOLE)));
    }
    out.push_str("</defs>\n");
}

/// Writing to a string in memory cannot fail.
fn put(out: &mut String, arguments: std::fmt::Arguments) {
    out.write_fmt(arguments).expect("a string in memory takes every write");
}

fn attributes(out: &mut String, fill: Option<Colour>, stroke: Option<&Stroke>) {
    match fill {
        Some(colour) => colour_attributes(out, "fill", colour),
        None => out.push_str(" fill=\"none\""),
    }
    let Some(stroke) = stroke else { return };
    colour_attributes(out, "stroke", stroke.colour);
    put(out, format_args!(" stroke-width=\"{}\" stroke-linejoin=\"round\"", stroke.width));
    if !stroke.dash.is_empty() {
        let lengths: Vec<String> = stroke.dash.iter().map(f64::to_string).collect();
        put(out, format_args!(" stroke-dasharray=\"{}\"", lengths.join(" ")));
    }
}

fn colour_attributes(out: &mut String, name: &str, Colour(red, green, blue, alpha): Colour) {
    put(out, format_args!(" {name}=\"#{red:02x}{green:02x}{blue:02x}\""));
    if alpha < 255 {
        put(out, format_args!(" {name}-opacity=\"{:.2}\"", f64::from(alpha) / 255.0));
    }
}

/// How finely coordinates are written: parts of a unit.
#[derive(Clone, Copy)]
struct Precision(f64);

impl Precision {
    /// For units of the font, 2,048 of which make an em.
    const WHOLE: Self = Self(1.0);
    /// For pixels. Finer digits would differ between mathematical libraries and nobody can see them.
    const HUNDREDTHS: Self = Self(100.0);

    fn rounded(self, value: f64) -> i64 {
        (value * self.0).round() as i64
    }

    fn written(self, parts: i64) -> String {
        (parts as f64 / self.0).to_string()
    }
}

/// The path in the format's short form: relative steps, no blank where a sign separates.
fn steps(path: &Path, precision: Precision) -> String {
    let mut out = String::new();
    let (mut here, mut put_down) = ((0, 0), (0, 0));
    for step in &path.steps {
        let (letter, points): (char, &[(f64, f64)]) = match *step {
            Step::Move(x, y) => ('m', &[(x, y)]),
            Step::Line(x, y) => ('l', &[(x, y)]),
            Step::Quad(x1, y1, x, y) => ('q', &[(x1, y1), (x, y)]),
            Step::Cubic(x1, y1, x2, y2, x, y) => ('c', &[(x1, y1), (x2, y2), (x, y)]),
            Step::Close => {
                out.push('z');
                here = put_down;
                continue;
            }
        };
        out.push(letter);
        let mut end = here;
        for (index, &(x, y)) in points.iter().enumerate() {
            // Rounded before the difference is taken, so that errors do not add up along the path.
            end = (precision.rounded(x), precision.rounded(y));
            for (place, parts) in [end.0 - here.0, end.1 - here.1].into_iter().enumerate() {
                if parts >= 0 && index + place > 0 {
                    out.push(' ');
                }
                out.push_str(&precision.written(parts));
            }
        }
        here = end;
        if letter == 'm' {
            put_down = here;
        }
    }
    out
}

/// `text` as character data: markup escaped, what XML 1.0 forbids left out.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\n' | '\t' => out.push(character),
            '\u{fffe}' | '\u{ffff}' => {}
            other if other.is_control() => {}
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_written_in_relative_steps() {
        let path = Path::polygon(&[(10.0, 10.0), (20.5, 10.0), (15.25, 5.0)]);
        assert_eq!(steps(&path, Precision::HUNDREDTHS), "m10 10l10.5 0l-5.25-5z");
    }

    #[test]
    fn after_closing_the_pen_is_back_where_it_was_put_down() {
        let mut path = Path::rectangle(0.0, 0.0, 2.0, 2.0);
        path.steps.push(Step::Move(1.0, 1.0));
        assert!(steps(&path, Precision::WHOLE).ends_with("zm1 1"));
    }

    #[test]
    fn rounding_does_not_add_up_along_a_path() {
        let points: Vec<(f64, f64)> = (0..1000).map(|i| (f64::from(i) * 0.004, 0.0)).collect();
        let written = steps(&Path::line(&points), Precision::HUNDREDTHS);
        let sum: f64 = written
            .trim_start_matches("m0 0")
            .split('l')
            .filter(|step| !step.is_empty())
            .map(|step| step.split(' ').next().unwrap().parse::<f64>().unwrap())
            .sum();
        assert!((sum - 3.996).abs() <= 0.01, "{sum}");
    }

    #[test]
    fn words_from_outside_cannot_break_the_file() {
        assert_eq!(escaped("a<b>&\u{0}\u{8}c"), "a&lt;b&gt;&amp;c");
    }
}
