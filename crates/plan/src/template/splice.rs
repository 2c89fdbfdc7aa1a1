//! Templates taken apart and put together, so that their values stay values.
//!
//! Files of other tools hold texts with places in them, and are cut at `?`, `&`, `:` and blanks before anybody knows what is sent. A string
//! in which everybody replaces a little would sooner or later take a user's `{{` for a template; so it is parts that are cut.
//!
//! Invariant: what is a text stays one, whatever is in it, and a value is never cut.

use super::{Piece, Template, Value, push};

impl From<&str> for Template {
    fn from(text: &str) -> Self {
        Self::fixed(text)
    }
}

impl From<String> for Template {
    fn from(text: String) -> Self {
        Self::fixed(text)
    }
}

impl From<Value> for Template {
    fn from(value: Value) -> Self {
        Self::of([Piece::Value(value)])
    }
}

impl Template {
    /// Whether it writes nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The text, if there is no value in it.
    #[must_use]
    pub fn plain(&self) -> Option<&str> {
        match self.pieces.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The text it begins with, if it does not begin with a value.
    #[must_use]
    pub fn beginning(&self) -> Option<&str> {
        match self.pieces.first() {
            Some(Piece::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The variables among its values.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.values().filter_map(|value| if let Value::Variable(name) = value { Some(name.as_str()) } else { None })
    }

    /// Whether a letter stands in its fixed text.
    #[must_use]
    pub fn contains(&self, letter: char) -> bool {
        self.pieces.iter().any(|piece| matches!(piece, Piece::Text(text) if text.contains(letter)))
    }

    /// Writes a text at its end.
    pub fn push(&mut self, text: &str) {
        self.push_piece(Piece::Text(text.to_owned()));
    }

    /// Puts a part at its end.
    pub fn push_piece(&mut self, piece: Piece) {
        push(&mut self.pieces, piece);
    }

    /// Puts another at its end.
    pub fn append(&mut self, other: Self) {
        other.pieces.into_iter().for_each(|piece| self.push_piece(piece));
    }

    /// What stands before and behind the first of these letters.
    #[must_use]
    pub fn split_once(&self, letter: char) -> Option<(Self, Self)> {
        let place = self.pieces.iter().position(|piece| matches!(piece, Piece::Text(text) if text.contains(letter)))?;
        let Piece::Text(text) = &self.pieces[place] else { return None };
        let (before, after) = text.split_once(letter)?;
        let mut first = Self::of(self.pieces[..place].iter().cloned());
        first.push(before);
        let mut second = Self::fixed(after);
        self.pieces[place + 1..].iter().for_each(|piece| second.push_piece(piece.clone()));
        Some((first, second))
    }

    /// The pieces between these letters; at least one.
    #[must_use]
    pub fn split(&self, letter: char) -> Vec<Self> {
        let mut parts = vec![Self::default()];
        for piece in &self.pieces {
            let Piece::Text(text) = piece else {
                parts.last_mut().expect("there is one").push_piece(piece.clone());
                continue;
            };
            for (place, part) in text.split(letter).enumerate() {
                if place > 0 {
                    parts.push(Self::default());
                }
                parts.last_mut().expect("there is one").push(part);
            }
        }
        parts
    }

    /// Without blanks at both ends.
    #[must_use]
    pub fn trimmed(mut self) -> Self {
        if let Some(Piece::Text(first)) = self.pieces.first_mut() {
            *first = first.trim_start().to_owned();
        }
        if let Some(Piece::Text(last)) = self.pieces.last_mut() {
            *last = last.trim_end().to_owned();
        }
        Self::of(self.pieces)
    }

    /// With its fixed text changed, its values as they are.
    #[must_use]
    pub fn map_text(&self, change: impl Fn(&str) -> String) -> Self {
        Self::of(self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) => Piece::Text(change(text)),
            value @ Piece::Value(_) => value.clone(),
        }))
    }

    /// As it would be typed where a text that begins with '@' names a file.
    #[must_use]
    pub fn typed(&self) -> String {
        let typed = self.to_string();
        match typed.strip_prefix('@') {
            Some(rest) => format!("{{{{\"@\"}}}}{rest}"),
            None => typed,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn template() -> impl Strategy<Value = Template> {
        let piece = prop_oneof!["[a/ ]{0,4}".prop_map(Piece::Text), Just(Piece::Value(Value::Variable("x".to_owned())))];
        proptest::collection::vec(piece, 0..6).prop_map(Template::of)
    }

    proptest! {
        #[test]
        fn what_was_split_can_be_joined(template in template()) {
            let mut joined = Template::default();
            for (place, part) in template.split('/').into_iter().enumerate() {
                joined.push(if place > 0 { "/" } else { "" });
                joined.append(part);
            }
            prop_assert_eq!(&joined, &template);
            if let Some((mut before, after)) = template.split_once('/') {
                prop_assert!(!before.contains('/'));
                before.push("/");
                before.append(after);
                prop_assert_eq!(before, template);
            }
        }

        #[test]
        fn a_text_is_sent_as_it_stands(text in "[{}a\"@ \\\\é]{0,24}") {
            for typed in [Template::fixed(text.clone()).to_string(), Template::fixed(text.clone()).typed()] {
                let template = Template::parse(&typed, &[]).unwrap();
                prop_assert!(template.is_fixed());
                prop_assert_eq!(template.fixed_text(), text.clone());
            }
        }
    }
}
