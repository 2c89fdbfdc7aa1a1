//! The typeface of every chart: how wide a text is, and the outlines of its glyphs.
//!
//! A picture that names a font looks different wherever that font is missing, and its labels collide because nobody knew
//! how wide they would be. So the typeface travels with the program: Noto Sans in two weights, whose digits are all
//! equally wide, with Latin, Greek and Cyrillic. Shaping of other scripts was weighed against its price (two megabytes of
//! program and forty crates) and left out: a character the typeface lacks shows as a box, and the words in full are in
//! the description of the picture.

use super::scene::{Colour, Glyph, Path, Shape, Step};
use std::rc::Rc;
use ttf_parser::gpos::{PairAdjustment, PositioningSubtable};
use ttf_parser::{Face, GlyphId, OutlineBuilder, Tag};

/// How heavy the strokes of a text are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// For nearly everything.
    Regular,
    /// For the title.
    Bold,
}

/// The two weights, ready to measure and to draw.
pub struct Typeface {
    regular: Face<'static>,
    bold: Face<'static>,
}

impl Typeface {
    /// The typeface that is part of the program.
    pub(crate) fn built_in() -> Self {
        let face = |bytes| Face::parse(bytes, 0).expect("the built-in font can be read");
        Self { regular: face(notosans::REGULAR_TTF), bold: face(notosans::BOLD_TTF) }
    }

    /// The width of `text` in pixels at `size` pixels to the em.
    pub fn width(&self, text: &str, weight: Weight, size: f64) -> f64 {
        let face = self.face(weight);
        advances(face, text).last().map_or(0.0, |&(_, start, advance)| (start + advance) * size / f64::from(face.units_per_em()))
    }

    /// The outlines of `text`, starting at `x` on the base line `y`, in pixels.
    pub fn text(&self, text: &str, weight: Weight, size: f64, (x, y): (f64, f64), fill: Colour) -> Shape {
        let face = self.face(weight);
        let initial = match weight {
            Weight::Regular => 'r',
            Weight::Bold => 'b',
        };
        let glyphs = advances(face, text)
            .into_iter()
            .filter_map(|(glyph, start, _)| {
                let mut pen = Pen::default();
                face.outline_glyph(glyph, &mut pen)?;
                Some(Glyph { name: format!("{initial}{}", glyph.0), outline: Rc::new(pen.path), start })
            })
            .collect();
        Shape::Text { glyphs, x, y, scale: size / f64::from(face.units_per_em()), fill }
    }

    /// `text` as it is when every character the typeface lacks shows as the same box.
    ///
    /// Two names for which this is equal cannot be told apart in a picture.
    pub(crate) fn as_seen(&self, text: &str) -> String {
        text.chars()
            .map(|character| if self.regular.glyph_index(drawn(character)).is_some() { drawn(character) } else { '\u{25a1}' })
            .collect()
    }

    /// `text` with its middle left out, so that it is at most `room` pixels wide.
    ///
    /// The ends of an address say most: the host at its start, the page at its end.
    pub fn shortened(&self, text: &str, weight: Weight, size: f64, room: f64) -> String {
        if self.width(text, weight, size) <= room {
            return text.to_owned();
        }
        let characters: Vec<char> = text.chars().collect();
        let with_kept = |kept: usize| -> String {
            // Three fifths of what is kept stands at the start.
            let head = (kept * 3).div_ceil(5);
            let tail = kept - head;
            characters[..head].iter().chain(std::iter::once(&'…')).chain(&characters[characters.len() - tail..]).collect()
        };
        let mut fits = 0;
        let mut too_many = characters.len();
        while fits + 1 < too_many {
            let middle = fits.midpoint(too_many);
            if self.width(&with_kept(middle), weight, size) <= room {
                fits = middle;
            } else {
                too_many = middle;
            }
        }
        with_kept(fits)
    }

    fn face(&self, weight: Weight) -> &Face<'static> {
        match weight {
            Weight::Regular => &self.regular,
            Weight::Bold => &self.bold,
        }
    }
}

/// The character that is drawn for this one: whatever moves a line or has no shape becomes a space.
fn drawn(character: char) -> char {
    if character.is_control() || character.is_whitespace() { ' ' } else { character }
}

/// Every glyph of `text` with its start and its advance, in units of the font.
fn advances(face: &Face, text: &str) -> Vec<(GlyphId, f64, f64)> {
    let kerning = kerning(face);
    let mut placed: Vec<(GlyphId, f64, f64)> = Vec::new();
    let mut start = 0.0;
    for character in text.chars() {
        // Glyph 0 is the box every font draws for what it lacks.
        let glyph = face.glyph_index(drawn(character)).unwrap_or(GlyphId(0));
        if let Some(&mut (before, _, ref mut advance)) = placed.last_mut() {
            let closer = kern(&kerning, before, glyph);
            *advance += closer;
            start += closer;
        }
        let advance = f64::from(face.glyph_hor_advance(glyph).unwrap_or(0));
        placed.push((glyph, start, advance));
        start += advance;
    }
    placed
}

/// The pair tables of the font's `kern` feature.
fn kerning<'a>(face: &Face<'a>) -> Vec<PairAdjustment<'a>> {
    let Some(positioning) = face.tables().gpos else {
        return Vec::new();
    };
    let Some(feature) = positioning.features.find(Tag::from_bytes(b"kern")) else {
        return Vec::new();
    };
    feature
        .lookup_indices
        .into_iter()
        .filter_map(|index| positioning.lookups.get(index))
        .flat_map(|lookup| lookup.subtables.into_iter::<PositioningSubtable>())
        .filter_map(|subtable| match subtable {
            PositioningSubtable::Pair(pairs) => Some(pairs),
            _ => None,
        })
        .collect()
}

/// How much further (below zero: closer) `second` stands after `first`, in units of the font.
fn kern(tables: &[PairAdjustment], first: GlyphId, second: GlyphId) -> f64 {
    for table in tables {
        let Some(covered) = table.coverage().get(first) else {
            continue;
        };
        let adjustment = match table {
            PairAdjustment::Format1 { sets, .. } => sets.get(covered).and_then(|set| set.get(second)),
            PairAdjustment::Format2 { classes, matrix, .. } => matrix.get((classes.0.get(first), classes.1.get(second))),
        };
        // The first table that names the pair decides, as in OpenType's rule for subtables.
        if let Some((adjustment, _)) = adjustment {
            return f64::from(adjustment.x_advance);
        }
    }
    0.0
}

/// Writes the outline of a glyph down.
#[derive(Default)]
struct Pen {
    path: Path,
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.steps.push(Step::Move(x.into(), y.into()));
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.path.steps.push(Step::Line(x.into(), y.into()));
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let step = Step::Quad(x1.into(), y1.into(), x.into(), y.into());
        self.path.steps.push(step);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let step = Step::Cubic(x1.into(), y1.into(), x2.into(), y2.into(), x.into(), y.into());
        self.path.steps.push(step);
    }

    fn close(&mut self) {
        self.path.steps.push(Step::Close);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn all_digits_are_equally_wide() {
        let typeface = Typeface::built_in();
        for weight in [Weight::Regular, Weight::Bold] {
            let one = typeface.width("1111", weight, 16.0);
            assert!(one > 30.0 && one < 45.0);
            for digits in ["0000", "4747", "8888"] {
                assert_eq!(typeface.width(digits, weight, 16.0), one);
            }
        }
    }

    #[test]
    fn pairs_that_leave_a_hole_are_set_closer() {
        let typeface = Typeface::built_in();
        let apart = typeface.width("A", Weight::Regular, 100.0) + typeface.width("V", Weight::Regular, 100.0);
        assert!(typeface.width("AV", Weight::Regular, 100.0) < apart);
    }

    #[test]
    fn a_long_address_keeps_its_host_and_its_end() {
        let typeface = Typeface::built_in();
        let address = format!("http://example.com/{}/orders?page=2", "deep/".repeat(60));
        let short = typeface.shortened(&address, Weight::Regular, 16.0, 400.0);
        assert!(short.starts_with("http://example.com/deep/"), "{short}");
        assert!(short.contains('…') && short.ends_with("/orders?page=2"), "{short}");
        assert!(typeface.width(&short, Weight::Regular, 16.0) <= 400.0);
    }

    #[test]
    fn what_the_typeface_lacks_is_seen_as_a_box() {
        let typeface = Typeface::built_in();
        assert_eq!(typeface.as_seen("Größe Ωmega Жук"), "Größe Ωmega Жук");
        assert_eq!(typeface.as_seen("価格"), "□□");
        assert!(typeface.width("価格", Weight::Regular, 16.0) > 10.0);
    }

    proptest! {
        #[test]
        fn any_text_can_be_measured_shortened_and_drawn(text in "\\PC{0,80}", room in 1.0f64..500.0) {
            let typeface = Typeface::built_in();
            let short = typeface.shortened(&text, Weight::Regular, 16.0, room);
            let width = typeface.width(&short, Weight::Regular, 16.0);
            prop_assert!(width <= room || short == "…", "{} is {} wide", short, width);
            typeface.text(&text, Weight::Bold, 16.0, (0.0, 0.0), Colour::WHITE);
        }
    }
}
