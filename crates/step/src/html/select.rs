//! CSS selectors: `form#login input[name=csrf]::attr(value)`.
//!
//! Understood is what Selectors Level 4 says of elements in a page at rest: types, ids, classes, attributes, the four combinators,
//! positions among siblings, `:not()`, `:is()`, `:empty`, `:root`, `:checked`. What depends on a mouse or a visited link is refused
//! before the run. After the selector, `::text` or `::attr(name)` says what of the element is taken, as in Scrapy;
//! `::line` takes the text as a reader sees it in one line.
//!
//! Matching goes from right to left and remembers, as browsers do, how far it is worth going back, so that the nearest ancestor
//! that fits is the only one tried.

use std::borrow::Cow;
use std::ops::ControlFlow;

use plan::template::Mistake;

use super::{Budget, Document, Element, Id, ROOT, is_called, trimmed};

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
    Empty,
    Root,
    Checked,
    Not(List),
    Is(List),
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
        let name = self.identifier().ok_or_else(|| self.wrong("an attribute's name is missing", "such as [name=csrf]"))?;
        self.blanks();
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
        Ok(Test::Attribute { name, comparison: *comparison, value, folds })
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
            "not" | "is" | "where" => {
                if self.depth >= DEPTH_MAX {
                    return Err(self.wrong("this is too deep in parentheses", "write it in another way"));
                }
                self.depth += 1;
                self.closed("(")?;
                let list = self.list()?;
                self.closed(")")?;
                self.depth -= 1;
                Ok(if name == "not" { Test::Not(list) } else { Test::Is(list) })
            }
            other => {
                let Some((_, count)) = NTH.iter().find(|(known, _)| *known == other) else {
                    return Err(Mistake {
                        at: from,
                        length: self.at - from,
                        message: format!("`:{other}` is not understood here"),
                        help: "there are :first-child, :last-child, :only-child, :nth-child(2n+1), :nth-last-child(), the same -of-type, \
                               :not(), :is(), :where(), :empty, :root and :checked"
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PAGE: &str = r#"<!doctype html><html><head><title> Shop </title><meta name=csrf content="m-1"></head><body>
        <form id=login class="box  wide" action="/login"><input type=hidden name=csrf value="t-42"><input name=user>
        <select name=lang><option value=de>German<option value=en selected>English</select></form>
        <ul class=items><li class="item first" data-id=7><a href="/p/7">Seven</a></li><li class=item data-id=8><a href="/p/8">Eight</a>
        <b>!</b></li><li data-id="9 a" lang="en-GB"><a href="https://x.test/p/9">Nine</a></li></ul><p></p><p>last</p></body></html>"#;

    fn all(page: &str, selector: &str) -> Vec<String> {
        let mut found = Vec::new();
        let document = Document::read(page.as_bytes());
        let done = Selector::parse(selector).unwrap_or_else(|mistake| panic!("{selector}: {mistake:?}")).each(&document, &mut |text| {
            found.push(text.into_owned());
            ControlFlow::Continue(())
        });
        done.unwrap();
        found
    }

    #[test]
    fn selectors_find_what_browsers_find() {
        let cases: [(&str, &[&str]); 46] = [
            ("title", &["Shop"]),
            ("TITLE::text", &["Shop"]),
            ("input[name=csrf]::attr(value)", &["t-42"]),
            ("form#login.box.wide > input[type='hidden'] ::attr(VALUE)", &["t-42"]),
            ("meta[name=\"csrf\"]::attr(content)", &["m-1"]),
            ("input::attr(value)", &["t-42"]),
            ("li a", &["Seven", "Eight", "Nine"]),
            ("ul>li>a", &["Seven", "Eight", "Nine"]),
            ("body > a", &[]),
            (".item", &["Seven", "Eight\n        !"]),
            (".item::line", &["Seven", "Eight !"]),
            ("body > ul::line", &["Seven Eight ! Nine"]),
            (".item.first", &["Seven"]),
            ("li:not(.item) a", &["Nine"]),
            ("li:not(.item, .other):not(#x)", &["Nine"]),
            ("li:first-child", &["Seven"]),
            ("li:last-child a::attr(href)", &["https://x.test/p/9"]),
            ("li:nth-child(2) b", &["!"]),
            ("li:nth-child(odd)", &["Seven", "Nine"]),
            ("li:nth-child(even) > a", &["Eight"]),
            ("li:nth-child(n+2) a", &["Eight", "Nine"]),
            ("li:nth-child(-n + 1)", &["Seven"]),
            ("li:nth-last-child(1)", &["Nine"]),
            ("p:nth-of-type(2)", &["last"]),
            ("p:last-of-type", &["last"]),
            ("p:first-of-type", &[""]),
            ("ul:only-of-type > li:first-of-type", &["Seven"]),
            ("a:only-child", &["Seven", "Nine"]),
            ("p:empty", &[""]),
            ("[data-id=7]::attr(class)", &["item first"]),
            ("[data-id~=a]", &["Nine"]),
            ("[lang|=en]", &["Nine"]),
            ("a[href^='/p/']::attr(href)", &["/p/7", "/p/8"]),
            ("a[href$=\"9\"]", &["Nine"]),
            ("a[href*='x.test']", &["Nine"]),
            ("a[href*='']", &[]),
            ("a[href*='X.TEST' i]", &["Nine"]),
            ("li + li a", &["Eight", "Nine"]),
            (".first ~ li:not([class])", &["Nine"]),
            ("form ~ p:last-child", &["last"]),
            ("a + b", &["!"]),
            ("option:checked", &["English"]),
            ("title, p:last-child", &["Shop", "last"]),
            (":root::attr(lang)", &[]),
            ("html:root > head > title", &["Shop"]),
            (":is(ul, ol) :where(a, b)", &["Seven", "Eight", "!", "Nine"]),
        ];
        for (selector, expected) in cases {
            assert_eq!(all(PAGE, selector), expected, "{selector}");
        }
    }

    #[test]
    fn going_back_finds_the_ancestor_that_fits() {
        let page = "<div class=a><div class=b><div class=c><div class=b><p>x</p></div></div></div></div>";
        assert_eq!(all(page, ".a > .b p"), ["x"]);
        assert_eq!(all(page, ".a > .b > .c p"), ["x"]);
        assert_eq!(all(page, ".a > .c p"), [""; 0]);
        assert_eq!(all("<i></i><b></b><i></i><u></u><p>x</p>", "b + i ~ p"), ["x"]);
        assert_eq!(all("<i></i><u></u><i></i><p>x</p>", "u + i + p"), ["x"]);
    }

    #[test]
    fn a_mistake_in_a_selector_is_shown_at_its_place() {
        let cases = [
            ("", 0, "here an element is missing"),
            ("ul >", 4, "here an element is missing"),
            ("a,,b", 2, "here an element is missing"),
            ("a:hover", 1, "`:hover` is not understood here"),
            ("a[href", 6, "here a ] is missing"),
            ("a[=x]", 2, "an attribute's name is missing"),
            ("a[b=]", 4, "a value is missing"),
            ("a[b='x]", 4, "this quote does not end"),
            ("a.", 2, "a class is missing after the dot"),
            ("a#", 2, "an id is missing after #"),
            ("li:nth-child(x)", 13, "this is no position"),
            ("li:nth-child(99999999999)", 13, "this is no position"),
            ("li:not(a", 8, "here a ) is missing"),
            ("a::before", 1, "this is not understood here"),
            ("a::attr()", 8, "an attribute's name is missing"),
            ("a::text b", 8, "this is no part of a selector"),
            ("a ! b", 2, "here an element is missing"),
        ];
        for (selector, at, message) in cases {
            let mistake = Selector::parse(selector).unwrap_err();
            assert_eq!((mistake.at, mistake.message.as_str()), (at, message), "{selector}");
        }
        let deep = format!("{}a{}", ":not(".repeat(500), ")".repeat(500));
        assert!(Selector::parse(&deep).unwrap_err().message.contains("deep"));
        assert!(Selector::parse(&"a ".repeat(500)).unwrap_err().message.contains("in a row"));
        assert!(Selector::parse(&"a ".repeat(5000)).unwrap_err().message.contains("bytes"));
    }

    #[test]
    fn a_search_that_would_take_for_ever_is_given_up() {
        let page = "<i></i>".repeat(100_000);
        let document = Document::read(page.as_bytes());
        let searched = Selector::parse("b ~ i").unwrap().each(&document, &mut |_| ControlFlow::Continue(()));
        assert_eq!(searched, Err(crate::html::TOO_LONG));
        let nested = format!("{}<p>x", "<div>".repeat(400));
        let selector = format!(".z {}p", "div ".repeat(100));
        assert_eq!(all(&nested, &selector), [""; 0], "and deep pages are not slow");
    }

    proptest! {
        #[test]
        fn any_text_is_a_selector_or_a_mistake_inside_it(text in prop_oneof![
            "\\PC*",
            "([a-z#.:>+~,()\\[\\]='\" ]|:not\\(|:nth-child\\(|::attr\\(|2n\\+1|\u{e4}){0,20}",
        ]) {
            match Selector::parse(&text) {
                Ok(selector) => {
                    let document = Document::read(PAGE.as_bytes());
                    let _ = selector.each(&document, &mut |_| ControlFlow::Continue(()));
                }
                Err(mistake) => {
                    prop_assert!(text.is_char_boundary(mistake.at) && text.is_char_boundary(mistake.at + mistake.length));
                    prop_assert!(!mistake.pointed_out(&text).is_empty());
                }
            }
        }
    }
}
