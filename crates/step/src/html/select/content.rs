//! What a selector asks of an element's text: `:contains(Buy now)`, `:matches(^\d+$)`.
//!
//! The standard asks nothing of texts. jsoup and jQuery do, and people who find elements for a load test have learnt their selectors there. A
//! text is that of the element in one line, or with `Own` its own alone, without that of the elements in it.

use plan::template::Mistake;

use super::super::{Budget, Document, Id};
use crate::pattern::Pattern;

/// A test of an element's text.
#[derive(Debug, Clone)]
pub(super) struct Content {
    wanted: Box<str>,
    /// Found in it; else the text holds what is wanted, in letters of either case.
    pattern: Option<Pattern>,
    is_own: bool,
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        let Self { wanted, pattern, is_own } = self;
        *wanted == other.wanted && pattern.is_some() == other.pattern.is_some() && *is_own == other.is_own
    }
}

impl Content {
    /// Reads what stands in the parentheses of a pseudo-class, if it is one of these, in small letters.
    pub(super) fn parse(name: &str, argument: &str) -> Option<Result<Self, Mistake>> {
        let (is_own, is_pattern) = match name {
            "contains" => (false, false),
            "containsown" => (true, false),
            "matches" => (false, true),
            "matchesown" => (true, true),
            _ => return None,
        };
        if argument.trim().is_empty() {
            let message = "the text is missing".to_owned();
            return Some(Err(Mistake { at: 0, length: argument.len(), message, help: "such as :contains(Buy now)".into() }));
        }
        if is_pattern {
            let of = |pattern| Self { wanted: argument.into(), pattern: Some(pattern), is_own };
            return Some(Pattern::new(argument).map(of));
        }
        let words: Vec<String> = argument.split_whitespace().map(str::to_lowercase).collect();
        Some(Ok(Self { wanted: words.join(" ").into(), pattern: None, is_own }))
    }

    pub(super) fn is_in(&self, document: &Document, id: Id, budget: &Budget) -> bool {
        let text = if self.is_own { own(document, id) } else { document.line(id) };
        if !budget.steps(u32::try_from(text.len() / 16).unwrap_or(u32::MAX)) {
            return false;
        }
        match &self.pattern {
            Some(pattern) => pattern.is_in(text.as_bytes()) == Ok(true),
            None => text.to_lowercase().contains(&*self.wanted),
        }
    }
}

/// The text of an element without that of the elements in it, in one line.
fn own(document: &Document, id: Id) -> String {
    let mut line = String::new();
    for child in document.children(id).filter(|child| document.is_text(*child)) {
        for word in document.text(child).split_whitespace() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    line
}
