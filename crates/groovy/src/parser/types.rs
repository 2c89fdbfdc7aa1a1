//! Types, as far as they are read: by their names, their parameters passed over.

use super::{KEYWORDS, PRIMITIVES, Parser};
use crate::lexer::Token;
use crate::tree::Type;

impl Parser {
    /// A type, if one stands here and a name behind it; else nothing is read.
    pub(super) fn type_before_name(&mut self) -> Option<Type> {
        let begin = self.at;
        let found = self.take_type();
        let named = !self.newline() && self.name_ahead(0).is_some_and(|name| !KEYWORDS.contains(&name));
        if found.is_none() || !(named || self.is_sign("...")) {
            self.at = begin;
            return None;
        }
        found
    }

    /// `int`, `Map<String, List<String>>`, `a.b.C[]`.
    pub(super) fn take_type(&mut self) -> Option<Type> {
        let first = self.name_ahead(0)?;
        if KEYWORDS.contains(&first) {
            return None;
        }
        let name = self.dotted().ok()?;
        let last = name.rsplit('.').next().unwrap_or_default();
        if !PRIMITIVES.contains(&name.as_str()) && !last.starts_with(|letter: char| letter.is_uppercase()) {
            return None;
        }
        if self.is_sign("<") && !self.pass_type_parameters() {
            return None;
        }
        let mut is_array = false;
        while self.is_sign("[") && self.sign_ahead(1, "]") {
            self.advance();
            self.advance();
            is_array = true;
        }
        Some(Type { name: last.to_owned(), is_array })
    }

    pub(super) fn pass_type_parameters(&mut self) -> bool {
        let mut open = 0_usize;
        loop {
            match self.token() {
                Token::Sign("<") => open += 1,
                Token::Sign(">") if open == 1 => {
                    self.advance();
                    return true;
                }
                Token::Sign(">") => open -= 1,
                Token::Sign("," | "." | "?" | "[" | "]" | "&") | Token::Name(_) => {}
                _ => return false,
            }
            self.advance();
        }
    }
}
