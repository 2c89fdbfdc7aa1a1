//! CSS selectors: `form#login input[name=csrf]::attr(value)`.
//!
//! Understood is what Selectors Level 4 says of elements in a page at rest: types, ids, classes, attributes, the four combinators,
//! positions among siblings, `:not()`, `:is()`, `:empty`, `:root`, `:checked`. What depends on a mouse or a visited link is refused
//! before the run. Beside it stand what jsoup and jQuery have: `:contains()`, `:matches()`, `:has()`, `:eq()`, `:lt()`, `:gt()`, `[a!=b]`,
//! `[^data-]`. After the selector, `::text` or `::attr(name)` says what of the element is taken, as in Scrapy;
//! `::line` takes the text as a reader sees it in one line.
//!
//! Matching goes from right to left and remembers, as browsers do, how far it is worth going back, so that the nearest ancestor
//! that fits is the only one tried.

mod content;

use std::borrow::Cow;
use std::ops::ControlFlow;

use plan::template::Mistake;

use super::{Budget, Document, Element, Id, ROOT, is_called, trimmed};
use content::Content;

/// Longer selectors are no selectors.
const SELECTOR_BYTES_MAX: usize = 4096;
/// `:not(:is(…))`, so deep.
const DEPTH_MAX: usize = 8;
/// Elements in a row, `a b > c`.
const COMPOUNDS_MAX: usize = 128;

/// A selector and what is taken of the elements it finds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Selector {
    list: List,
    taken: Taken,
}

/// What of an element is taken.
#[derive(Debug, Clone, PartialEq)]
enum Taken {
    /// Its text as it stands there, without the white space around it.
    Text,
    /// Its text [in one line](Document::line).
    Line,
    Attribute(Box<str>),
}

/// Alternatives.
type List = Vec<Complex>;

/// Compounds, the rightmost first, each with what joins it to the next.
#[derive(Debug, Clone, PartialEq)]
struct Complex(Vec<(Vec<Test>, Combinator)>);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Combinator {
    Descendant,
    Child,
    /// `+`
    Next,
    /// `~`
    Later,
}

#[derive(Debug, Clone, PartialEq)]
enum Test {
    Type(Box<str>),
    Id(Box<str>),
    Class(Box<str>),
    Attribute {
        name: Box<str>,
        comparison: Comparison,
        value: Box<str>,
        folds: bool,
    },
    /// Position `a·n + b` among siblings.
    Nth {
        a: i64,
        b: i64,
        count: Count,
    },
    /// An attribute whose name begins so.
    AttributePrefix(Box<str>),
    Empty,
    Root,
    Checked,
    Not(List),
    Is(List),
    /// One of these stands in it.
    Has(List),
    /// One of these stands in it at once.
    HasChild(List),
    Content(Content),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Comparison {
    Present,
    Equal,
    Word,
    Dash,
    Prefix,
    Suffix,
    Within,
}

/// Which siblings are counted, and from where.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Count {
    from_end: bool,
    of_type: bool,
}

/// The same, in the words of the pseudo-classes.
const NTH: [(&str, Count); 4] = [
    ("nth-child", Count { from_end: false, of_type: false }),
    ("nth-last-child", Count { from_end: true, of_type: false }),
    ("nth-of-type", Count { from_end: false, of_type: true }),
    ("nth-last-of-type", Count { from_end: true, of_type: true }),
];

impl Selector {
    /// Understands a selector.
    pub(crate) fn parse(text: &str) -> Result<Self, Mistake> {
        if text.len() > SELECTOR_BYTES_MAX {
            let message = format!("the selector has {} bytes; {SELECTOR_BYTES_MAX} are allowed", text.len());
            return Err(Mistake { at: 0, length: text.len(), message, help: "shorten it".into() });
        }
        let mut reader = Reader { text, at: 0, depth: 0 };
        let list = reader.list()?;
        let taken = reader.taken()?;
        reader.blanks();
        if reader.at < text.len() {
            return Err(reader.wrong("this is no part of a selector", "`::text`, `::line` and `::attr(name)` come last"));
        }
        Ok(Self { list, taken })
    }

    /// Calls `found` with each element's text or attribute, in the order of the page, until it breaks; elements without the attribute
    /// are passed over. Fails if that takes too long.
    pub(crate) fn each<'d>(
        &self,
        document: &'d Document,
        found: &mut dyn FnMut(Cow<'d, str>) -> ControlFlow<()>,
    ) -> Result<(), &'static str> {
        let budget = Budget::new();
        let matcher = Matcher { document, budget: &budget };
        for id in document.descendants(ROOT) {
            let Some(element) = document.element(id) else { continue };
            if !matcher.fits(&self.list, id, element) {
                if budget.is_spent() {
                    return Err(super::TOO_LONG);
                }
                continue;
            }
            let value = match &self.taken {
                Taken::Attribute(name) => element.attribute(name).map(Cow::Borrowed),
                way => {
                    let is_line = *way == Taken::Line;
                    let text = if is_line { document.line(id).into() } else { document.text(id) };
                    budget.steps(u32::try_from(text.len() / 16).unwrap_or(u32::MAX));
                    Some(if is_line { text } else { trimmed(text) })
                }
            };
            if value.is_some_and(|value| found(value).is_break()) {
                return Ok(());
            }
        }
        Ok(())
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn wrong(&self, message: &str, help: &str) -> Mistake {
        let length = self.rest().chars().next().map_or(0, char::len_utf8);
        Mistake { at: self.at, length, message: message.to_owned(), help: help.into() }
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// Whether there were any.
    fn blanks(&mut self) -> bool {
        let before = self.at;
        self.at = self.text.len() - self.rest().trim_start().len();
        self.at > before
    }

    fn list(&mut self) -> Result<List, Mistake> {
        let mut list = vec![self.complex()?];
        while self.eat(",") {
            list.push(self.complex()?);
        }
        Ok(list)
    }

    fn complex(&mut self) -> Result<Complex, Mistake> {
        self.blanks();
        let mut parts = vec![(self.compound()?, Combinator::Descendant)];
        loop {
            let apart = self.blanks();
            let combinator = if self.eat(">") {
                Combinator::Child
            } else if self.eat("+") {
                Combinator::Next
            } else if self.eat("~") {
                Combinator::Later
            } else if apart && !self.rest().is_empty() && !self.rest().starts_with([',', ')']) && !self.rest().starts_with("::") {
                Combinator::Descendant
            } else {
                parts.reverse();
                return Ok(Complex(parts));
            };
            self.blanks();
            if parts.len() == COMPOUNDS_MAX {
                return Err(self.wrong("these are more elements in a row than are looked for", "write it in another way"));
            }
            // Each compound says how it is joined to the one on its left.
            parts.push((self.compound()?, combinator));
        }
    }

    fn compound(&mut self) -> Result<Vec<Test>, Mistake> {
        let from = self.at;
        let mut tests = Vec::new();
        if self.eat("*") {
        } else if let Some(name) = self.identifier() {
            tests.push(Test::Type(name));
        }
        loop {
            if self.eat("#") {
                let name = self.identifier();
                tests.push(Test::Id(name.ok_or_else(|| self.wrong("an id is missing after #", "such as #login"))?));
            } else if self.eat(".") {
                let name = self.identifier();
                tests.push(Test::Class(name.ok_or_else(|| self.wrong("a class is missing after the dot", "such as .price"))?));
            } else if self.eat("[") {
                tests.push(self.attribute()?);
            } else if self.rest().starts_with(':') && !self.rest().starts_with("::") {
                tests.push(self.pseudo()?);
            } else if self.at == from {
                return Err(self.wrong("here an element is missing", "a selector is such as form#login input[name=csrf]"));
            } else {
                return Ok(tests);
            }
        }
    }

    /// Letters, digits, `-` and `_`, and anything after a backslash.
    fn identifier(&mut self) -> Option<Box<str>> {
        let mut name = String::new();
        let mut letters = self.rest().char_indices().peekable();
        let mut end = 0;
        while let Some((at, letter)) = letters.next() {
            if letter == '\\' {
                let Some((escaped_at, escaped)) = letters.next() else { break };
                name.push(escaped);
                end = escaped_at + escaped.len_utf8();
            } else if letter.is_alphanumeric() || matches!(letter, '-' | '_') || (!letter.is_ascii() && !letter.is_whitespace()) {
                if at == 0 && letter.is_ascii_digit() {
                    return None;
                }
                name.push(letter);
                end = at + letter.len_utf8();
            } else {
                break;
            }
        }
        self.at += end;
        (!name.is_empty()).then(|| name.into_boxed_str())
    }

    fn attribute(&mut self) -> Result<Test, Mistake> {
        self.blanks();
        let is_prefix = self.eat("^");
        let name = self.identifier().ok_or_else(|| self.wrong("an attribute's name is missing", "such as [name=csrf]"))?;
        self.blanks();
        if is_prefix {
            self.closed("]")?;
            return Ok(Test::AttributePrefix(name.to_ascii_lowercase().into()));
        }
        let is_other = self.rest().starts_with("!=");
        self.at += usize::from(is_other);
        const COMPARISONS: [(&str, Comparison); 6] = [
            ("=", Comparison::Equal),
            ("~=", Comparison::Word),
            ("|=", Comparison::Dash),
            ("^=", Comparison::Prefix),
            ("$=", Comparison::Suffix),
            ("*=", Comparison::Within),
        ];
        let comparison = COMPARISONS.iter().find(|(sign, _)| self.rest().starts_with(sign));
        let Some((sign, comparison)) = comparison else {
            self.closed("]")?;
            return Ok(Test::Attribute { name, comparison: Comparison::Present, value: "".into(), folds: false });
        };
        self.at += sign.len();
        self.blanks();
        let value = if self.rest().starts_with(['"', '\'']) { self.quoted()? } else { self.bare_value()? };
        let folds = self.blanks() && (self.eat("i") || self.eat("I"));
        self.closed("]")?;
        let test = Test::Attribute { name, comparison: *comparison, value, folds };
        Ok(if is_other { Test::Not(vec![Complex(vec![(vec![test], Combinator::Descendant)])]) } else { test })
    }

    /// More than an identifier: `[data-id=7]` is written everywhere, and means one thing.
    fn bare_value(&mut self) -> Result<Box<str>, Mistake> {
        let end = self.rest().find([']', ' ', '\t', '\n', '"', '\'']).unwrap_or(self.rest().len());
        if end == 0 {
            return Err(self.wrong("a value is missing", "such as [name=csrf]"));
        }
        let value = &self.rest()[..end];
        self.at += end;
        Ok(value.into())
    }

    fn quoted(&mut self) -> Result<Box<str>, Mistake> {
        let from = self.at;
        let mut letters = self.rest().char_indices();
        let Some((_, quote)) = letters.next() else { return Ok("".into()) };
        let mut value = String::new();
        while let Some((at, letter)) = letters.next() {
            if letter == quote {
                self.at += at + quote.len_utf8();
                return Ok(value.into_boxed_str());
            }
            value.push(if letter == '\\' { letters.next().map_or(letter, |(_, escaped)| escaped) } else { letter });
        }
        let message = "this quote does not end".to_owned();
        Err(Mistake { at: from, length: self.text.len() - from, message, help: "end it with the quote it begins with".into() })
    }

    fn closed(&mut self, by: &str) -> Result<(), Mistake> {
        self.blanks();
        if self.eat(by) { Ok(()) } else { Err(self.wrong(&format!("here a {by} is missing"), "close what was opened")) }
    }

    fn pseudo(&mut self) -> Result<Test, Mistake> {
        let from = self.at;
        self.at += 1;
        let name = self.identifier().unwrap_or_default().to_ascii_lowercase();
        let nth = |a, b, from_end, of_type| Ok(Test::Nth { a, b, count: Count { from_end, of_type } });
        match name.as_str() {
            "first-child" => nth(0, 1, false, false),
            "last-child" => nth(0, 1, true, false),
            "first-of-type" => nth(0, 1, false, true),
            "last-of-type" => nth(0, 1, true, true),
            "only-child" => Ok(Test::Is(vec![Complex(vec![(
                vec![
                    Test::Nth { a: 0, b: 1, count: Count { from_end: false, of_type: false } },
                    Test::Nth { a: 0, b: 1, count: Count { from_end: true, of_type: false } },
                ],
                Combinator::Descendant,
            )])])),
            "only-of-type" => Ok(Test::Is(vec![Complex(vec![(
                vec![
                    Test::Nth { a: 0, b: 1, count: Count { from_end: false, of_type: true } },
                    Test::Nth { a: 0, b: 1, count: Count { from_end: true, of_type: true } },
                ],
                Combinator::Descendant,
            )])])),
            "empty" => Ok(Test::Empty),
            "root" => Ok(Test::Root),
            "checked" => Ok(Test::Checked),
            "not" | "is" | "where" | "has" => {
                if self.depth >= DEPTH_MAX {
                    return Err(self.wrong("this is too deep in parentheses", "write it in another way"));
                }
                self.depth += 1;
                self.closed("(")?;
                self.blanks();
                let of_children = name == "has" && self.eat(">");
                let list = self.list()?;
                self.closed(")")?;
                self.depth -= 1;
                Ok(match name.as_str() {
                    "not" => Test::Not(list),
                    "has" if of_children => Test::HasChild(list),
                    "has" => Test::Has(list),
                    _ => Test::Is(list),
                })
            }
            "eq" | "lt" | "gt" => {
                let number = self.position_argument()?;
                match name.as_str() {
                    "eq" => nth(0, number + 1, false, false),
                    "lt" => nth(-1, number, false, false),
                    _ => nth(1, number + 2, false, false),
                }
            }
            "contains" | "containsown" | "matches" | "matchesown" => self.content(&name),
            other => {
                let Some((_, count)) = NTH.iter().find(|(known, _)| *known == other) else {
                    return Err(Mistake {
                        at: from,
                        length: self.at - from,
                        message: format!("`:{other}` is not understood here"),
                        help: "there are :first-child, :last-child, :only-child, :nth-child(2n+1), :nth-last-child(), the same -of-type, \
                               :not(), :is(), :where(), :has(), :contains(), :matches(), :eq(), :lt(), :gt(), :empty, :root and :checked"
                            .into(),
                    });
                };
                self.closed("(")?;
                let inside = self.rest().find(')').map_or(self.rest(), |end| &self.rest()[..end]);
                let Some((a, b)) = steps(inside) else {
                    let length = inside.len();
                    let message = "this is no position".to_owned();
                    return Err(Mistake { at: self.at, length, message, help: "write 3, odd, even or 2n+1".into() });
                };
                self.at += inside.len();
                self.closed(")")?;
                Ok(Test::Nth { a, b, count: *count })
            }
        }
    }

    /// A place among siblings, from 0.
    fn position_argument(&mut self) -> Result<i64, Mistake> {
        self.closed("(")?;
        let inside = self.rest().find(')').map_or(self.rest(), |end| &self.rest()[..end]);
        let Ok(number) = inside.trim().parse::<u32>() else {
            let message = "this is no position".to_owned();
            return Err(Mistake { at: self.at, length: inside.len(), message, help: "write a number from 0".into() });
        };
        self.at += inside.len();
        self.closed(")")?;
        Ok(number.into())
    }

    /// A text in parentheses, with others in it that are closed.
    fn content(&mut self, name: &str) -> Result<Test, Mistake> {
        self.closed("(")?;
        let (from, mut depth, mut escaped) = (self.at, 0_usize, false);
        let end = self.rest().char_indices().find(|(_, letter)| {
            let is_plain = !escaped;
            escaped = *letter == '\\' && is_plain;
            let ends = is_plain && *letter == ')' && depth == 0;
            match letter {
                '(' if is_plain => depth += 1,
                ')' if is_plain => depth = depth.saturating_sub(1),
                _ => {}
            }
            ends
        });
        let Some((length, _)) = end else {
            return Err(self.wrong("here a ) is missing", "close what was opened"));
        };
        let argument = &self.rest()[..length];
        let content = Content::parse(name, argument).unwrap_or_else(|| Err(self.wrong("this is not understood here", "leave it out")));
        let content = content.map_err(|mistake| Mistake { at: from + mistake.at, ..mistake })?;
        self.at += length + 1;
        Ok(Test::Content(content))
    }

    /// `::text`, `::line` or `::attr(name)`.
    fn taken(&mut self) -> Result<Taken, Mistake> {
        self.blanks();
        if self.eat("::text") || !self.rest().starts_with("::") {
            return Ok(Taken::Text);
        }
        if self.eat("::line") {
            return Ok(Taken::Line);
        }
        if self.eat("::attr(") {
            self.blanks();
            let name = self.identifier().ok_or_else(|| self.wrong("an attribute's name is missing", "such as ::attr(value)"))?;
            self.closed(")")?;
            return Ok(Taken::Attribute(name));
        }
        Err(self.wrong("this is not understood here", "after a selector may stand ::text, ::line or ::attr(name)"))
    }
}

/// `3`, `odd`, `even`, `2n+1`, `-n+3`: the numbers a and b of `a·n + b`.
fn steps(text: &str) -> Option<(i64, i64)> {
    let text: String = text.chars().filter(|letter| !letter.is_whitespace()).collect::<String>().to_ascii_lowercase();
    // More cannot be counted, and sums of these do not overflow.
    let number = |text: &str| text.parse::<i32>().ok().map(i64::from);
    match text.as_str() {
        "odd" => Some((2, 1)),
        "even" => Some((2, 0)),
        _ => match text.split_once('n') {
            None => Some((0, number(&text)?)),
            Some((a, b)) => {
                let a = match a {
                    "" | "+" => 1,
                    "-" => -1,
                    a => number(a)?,
                };
                let b =
                    if b.is_empty() { 0 } else { number(b.strip_prefix('+').filter(|rest| !rest.starts_with(['+', '-'])).unwrap_or(b))? };
                Some((a, b))
            }
        },
    }
}

struct Matcher<'d, 'b> {
    document: &'d Document,
    budget: &'b Budget,
}

/// What a failed match says of others.
#[derive(PartialEq)]
enum Fit {
    Yes,
    /// Another sibling might fit.
    NotThisSibling,
    /// Another ancestor might fit.
    NotThisAncestor,
    /// Nothing will fit.
    No,
}

impl Matcher<'_, '_> {
    fn fits(&self, list: &List, id: Id, element: &Element) -> bool {
        list.iter().any(|complex| self.complex(&complex.0, id, element) == Fit::Yes)
    }

    fn any_fits(&self, list: &List, mut among: impl Iterator<Item = Id>) -> bool {
        among.any(|id| self.budget.step() && self.document.element(id).is_some_and(|element| self.fits(list, id, element)))
    }

    fn complex(&self, parts: &[(Vec<Test>, Combinator)], id: Id, element: &Element) -> Fit {
        if !self.budget.step() {
            return Fit::No;
        }
        let Some(((tests, combinator), left)) = parts.split_first() else { return Fit::Yes };
        if !tests.iter().all(|test| self.holds(test, id, element)) {
            return Fit::NotThisSibling;
        }
        if left.is_empty() {
            return Fit::Yes;
        }
        let next = |id: Id| match combinator {
            Combinator::Descendant | Combinator::Child => self.document.parent_element(id),
            Combinator::Next | Combinator::Later => self.document.element_before(id),
        };
        let mut candidate = next(id);
        loop {
            let found = candidate.and_then(|id| Some((id, self.document.element(id)?)));
            let Some((id, element)) = found else {
                return match combinator {
                    Combinator::Descendant | Combinator::Child => Fit::No,
                    Combinator::Next | Combinator::Later => Fit::NotThisAncestor,
                };
            };
            match (self.complex(left, id, element), combinator) {
                (Fit::Yes, _) => return Fit::Yes,
                (Fit::No, _) => return Fit::No,
                (fit, Combinator::Next) => return fit,
                (_, Combinator::Child) => return Fit::NotThisAncestor,
                (Fit::NotThisAncestor, Combinator::Later) => return Fit::NotThisAncestor,
                (_, Combinator::Descendant | Combinator::Later) => candidate = next(id),
            }
        }
    }

    fn holds(&self, test: &Test, id: Id, element: &Element) -> bool {
        match test {
            Test::Type(name) => is_called(element, name),
            Test::Id(wanted) => element.attribute("id") == Some(wanted),
            Test::Class(wanted) => {
                element.attribute("class").is_some_and(|given| given.split_ascii_whitespace().any(|class| class == &**wanted))
            }
            Test::Attribute { name, comparison, value, folds } => {
                element.attribute(name).is_some_and(|given| compares(*comparison, given, value, *folds))
            }
            Test::Nth { a, b, count } => {
                let Some(position) = self.position(id, element, *count) else { return false };
                if *a == 0 { position == *b } else { (position - b) % a == 0 && (position - b) / a >= 0 }
            }
            Test::Empty => {
                self.document.children(id).all(|child| self.document.element(child).is_none() && self.document.text(child).is_empty())
            }
            Test::Root => self.document.parent_element(id).is_none(),
            Test::Checked => element.attribute(if element.name() == "option" { "selected" } else { "checked" }).is_some(),
            Test::Not(list) => !self.fits(list, id, element),
            Test::Is(list) => self.fits(list, id, element),
            Test::AttributePrefix(prefix) => element.has_attribute_beginning(prefix),
            Test::Has(list) => self.any_fits(list, self.document.descendants(id)),
            Test::HasChild(list) => self.any_fits(list, self.document.children(id)),
            Test::Content(content) => content.is_in(self.document, id, self.budget),
        }
    }

    /// From 1, among the siblings that count.
    fn position(&self, id: Id, element: &Element, count: Count) -> Option<i64> {
        let mut position = 1;
        let mut sibling = id;
        loop {
            let next = if count.from_end { self.document.element_after(sibling) } else { self.document.element_before(sibling) };
            let Some(next) = next else { return Some(position) };
            if !self.budget.step() {
                return None;
            }
            if !count.of_type || self.document.element(next).is_some_and(|other| other.name == element.name) {
                position += 1;
            }
            sibling = next;
        }
    }
}

fn compares(comparison: Comparison, given: &str, wanted: &str, folds: bool) -> bool {
    if folds {
        return compares(comparison, &given.to_ascii_lowercase(), &wanted.to_ascii_lowercase(), false);
    }
    match comparison {
        Comparison::Present => true,
        Comparison::Equal => given == wanted,
        Comparison::Word => given.split_ascii_whitespace().any(|word| word == wanted),
        Comparison::Dash => given.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('-')),
        // An empty value would be at the beginning of everything, and the standard says of nothing.
        Comparison::Prefix => !wanted.is_empty() && given.starts_with(wanted),
        Comparison::Suffix => !wanted.is_empty() && given.ends_with(wanted),
        Comparison::Within => !wanted.is_empty() && given.contains(wanted),
    }
}

#[cfg(test)]
mod tests;
