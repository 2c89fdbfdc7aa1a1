//! Expressions: what is computed and what is compared, in `set`, `if`, `while` and `switch`.
//!
//! Templates write, and have no control; journeys also count, compare and decide. A language of its own (JavaScript, Lua) would need
//! an interpreter in every step and a reader who runs programs in the head. So there are operators and a dozen functions over texts,
//! and nothing that names, loops or calls: a value is a text, and a number where one is wanted.
//!
//! A value is `{{…}}` as templates have it, a number, a text in quotation marks, or a bare text: conditions were written as
//! `{{name}} == salt and pepper` before there was more than one comparison, and still are. So between blanks `+` computes, and `2024-01-02`,
//! `/a/{{id}}` and `Rock - Paper` are texts; what could be either is a mistake that says how to write both.
//!
//! Invariant: printing what was read and reading it again gives the same expression.

mod read;

use std::fmt;

use super::Kind;
use crate::template::{Mistake, Piece, Template};
use read::{Reading, number};

/// What is computed or compared.
#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    /// A text; a number where one is wanted.
    Text(Template),
    /// Whether it does not hold.
    Not(Box<Expression>),
    /// The number with the other sign.
    Negative(Box<Expression>),
    /// Two, computed or compared.
    Two(Operator, Box<(Expression, Expression)>),
    /// A function of these, as many as it takes.
    Call(Function, Vec<Expression>),
}

/// What stands between two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `or`
    Or,
    /// `and`
    And,
    /// `==`; compared as numbers where both are, as all that follow but `contains` and `matches`.
    Is,
    /// `!=`
    IsNot,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    More,
    /// `>=`
    AtLeast,
    /// `contains`
    Contains,
    /// `matches`: a regular expression, which is found somewhere in the text.
    Matches,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Times,
    /// `/`
    Over,
    /// `%`: what is left of a division, with the sign of what was divided.
    Modulo,
}

/// As they are written; `&&` and `||` are read for `and` and `or` too.
const OPERATORS: [(&str, Operator); 15] = [
    ("or", Operator::Or),
    ("and", Operator::And),
    ("==", Operator::Is),
    ("!=", Operator::IsNot),
    ("<", Operator::Less),
    ("<=", Operator::AtMost),
    (">", Operator::More),
    (">=", Operator::AtLeast),
    ("contains", Operator::Contains),
    ("matches", Operator::Matches),
    ("+", Operator::Plus),
    ("-", Operator::Minus),
    ("*", Operator::Times),
    ("/", Operator::Over),
    ("%", Operator::Modulo),
];

/// How close something binds what stands beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Or,
    And,
    Not,
    Comparison,
    Sum,
    Product,
    Value,
}

impl Operator {
    const fn level(self) -> Level {
        match self {
            Self::Or => Level::Or,
            Self::And => Level::And,
            Self::Is | Self::IsNot | Self::Less | Self::AtMost | Self::More | Self::AtLeast | Self::Contains | Self::Matches => {
                Level::Comparison
            }
            Self::Plus | Self::Minus => Level::Sum,
            Self::Times | Self::Over | Self::Modulo => Level::Product,
        }
    }

    /// What its right side is read as: closer, so that `a - b - c` is `(a - b) - c`.
    const fn right_level(self) -> Level {
        match self.level() {
            Level::Or => Level::And,
            Level::And => Level::Not,
            Level::Not | Level::Comparison => Level::Sum,
            Level::Sum => Level::Product,
            Level::Product | Level::Value => Level::Value,
        }
    }

    fn word(self) -> &'static str {
        OPERATORS.iter().find(|(_, known)| *known == self).map_or("", |(word, _)| word)
    }
}

/// What is computed of several values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// The letters of a text.
    Length,
    /// A text in small letters.
    Lower,
    /// A text in capital letters.
    Upper,
    /// A text with its first letter as a capital.
    Capitalize,
    /// A text without the blanks around it.
    Trim,
    /// Letters of a text, from a place, up to and without another or the end; places count from 0.
    Substring,
    /// A text with another in every place of a third.
    Replace,
    /// A text in one of the [`CODINGS`].
    Encode,
    /// What a text in one of them stands for.
    Decode,
    /// The digest of a text, one of the [`DIGESTS`], in hexadecimal digits.
    Digest,
    /// The parts of a text between separators, as a JSON array.
    Split,
    /// What is in a JSON array, with separators between.
    Join,
    /// What is in a JSON array at a place, from 0; from its end with places below 0.
    Item,
    /// How much is in a JSON array.
    Count,
    /// The least of numbers.
    Min,
    /// The greatest of numbers.
    Max,
    /// The nearest whole number, or the nearest with so many decimals.
    Round,
    /// A number without its decimals.
    Int,
    /// A number without its sign.
    Abs,
    /// The second if the first holds, else the third.
    If,
    /// The next number of a counter that all users have together, by its name; from 1.
    Next,
    /// What a regular expression finds in a text, as a JSON array: of each match its first group, or what a third value writes of it.
    Find,
    /// A text in which each match of a regular expression is written otherwise, with its groups as `$1`.
    Rewrite,
    /// What one of the [`SELECTORS`] finds in a text, as a JSON array.
    Select,
}

/// What is looked for in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// In which language.
    pub kind: Kind,
    /// How it is found.
    pub expression: String,
    /// What is written of a match of a regular expression.
    pub form: Option<String>,
}

impl Finding {
    /// That of a function of these values; nothing of another function, and of what is known only on the way.
    #[must_use]
    pub fn of(function: Function, values: &[Expression]) -> Option<Self> {
        let fixed = |place: usize| match values.get(place) {
            Some(Expression::Text(text)) if text.is_fixed() => Some(text.fixed_text()),
            _ => None,
        };
        let (kind, sought) = match function {
            Function::Find | Function::Rewrite => (Kind::Regex, 1),
            Function::Select => (Kind::of_word(fixed(1)?.trim())?, 2),
            _ => return None,
        };
        Some(Self { kind, expression: fixed(sought)?, form: if sought == 1 { fixed(2) } else { None } })
    }
}

/// Names, how many values they take, which of these are numbers, and an example.
const FUNCTIONS: [(&str, Function, usize, usize, Numbers, &str); 24] = [
    ("length", Function::Length, 1, 1, Numbers::None, "length({{name}})"),
    ("lower", Function::Lower, 1, 1, Numbers::None, "lower({{name}})"),
    ("upper", Function::Upper, 1, 1, Numbers::None, "upper({{name}})"),
    ("capitalize", Function::Capitalize, 1, 1, Numbers::None, "capitalize({{name}})"),
    ("trim", Function::Trim, 1, 1, Numbers::None, "trim({{name}})"),
    ("substring", Function::Substring, 2, 3, Numbers::AfterFirst, "substring({{name}}, 0, 3)"),
    ("replace", Function::Replace, 3, 3, Numbers::None, "replace({{name}}, \" \", \"_\")"),
    ("encode", Function::Encode, 2, 2, Numbers::None, "encode({{name}}, url)"),
    ("decode", Function::Decode, 2, 2, Numbers::None, "decode({{token}}, base64)"),
    ("digest", Function::Digest, 2, 2, Numbers::None, "digest({{name}}, sha256)"),
    ("split", Function::Split, 2, 2, Numbers::None, "split({{names}}, \",\")"),
    ("join", Function::Join, 2, 2, Numbers::None, "join({{list}}, \",\")"),
    ("item", Function::Item, 2, 2, Numbers::AfterFirst, "item({{list}}, 0)"),
    ("count", Function::Count, 1, 1, Numbers::None, "count({{list}})"),
    ("min", Function::Min, 1, ARGUMENTS_MAX, Numbers::All, "min({{a}}, {{b}})"),
    ("max", Function::Max, 1, ARGUMENTS_MAX, Numbers::All, "max({{a}}, {{b}})"),
    ("round", Function::Round, 1, 2, Numbers::All, "round({{price}}, 2)"),
    ("int", Function::Int, 1, 1, Numbers::All, "int({{price}})"),
    ("abs", Function::Abs, 1, 1, Numbers::All, "abs({{n}})"),
    ("if", Function::If, 3, 3, Numbers::None, "if({{n}} > 9, many, few)"),
    ("next", Function::Next, 1, 1, Numbers::None, "next(orders)"),
    ("find", Function::Find, 2, 3, Numbers::None, "find({{page}}, \"id=(\\d+)\")"),
    ("rewrite", Function::Rewrite, 3, 3, Numbers::None, "rewrite({{page}}, \"id=(\\d+)\", \"<$1>\")"),
    ("select", Function::Select, 3, 3, Numbers::None, "select({{page}}, json, \"$.items[*].id\")"),
];

/// How a text may be written for others: in a URL (RFC 3986), as forms write it, in base64, in a page, in XML, in a regular expression that
/// finds it.
pub const CODINGS: [&str; 6] = ["url", "form", "base64", "html", "xml", "regex"];
/// Those of them that can be read again.
const READABLE: [&str; 5] = ["url", "form", "base64", "html", "xml"];
/// Languages in which something is looked for in JSON and in pages, by their words: [`Kind::word`].
pub const SELECTORS: [&str; 4] = ["json", "jmespath", "css", "xpath"];
/// Digests that a text may have.
pub const DIGESTS: [&str; 5] = ["md5", "sha1", "sha256", "sha384", "sha512"];

/// Which values of a function are numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Numbers {
    None,
    All,
    AfterFirst,
}

const ARGUMENTS_MAX: usize = 100;

impl Function {
    /// The words of which its second value is one, if it must be.
    const fn words(self) -> Option<&'static [&'static str]> {
        match self {
            Self::Encode => Some(&CODINGS),
            Self::Decode => Some(&READABLE),
            Self::Digest => Some(&DIGESTS),
            Self::Select => Some(&SELECTORS),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        FUNCTIONS.iter().find(|(_, known, ..)| *known == self).map_or("", |(name, ..)| name)
    }
}

impl Expression {
    /// Reads an expression. `files` are the names of the data files, `variables` those of the user's variables.
    ///
    /// # Errors
    /// All mistakes that could be found, in their order.
    pub fn parse(text: &str, files: &[&str], variables: &[&str]) -> Result<Self, Vec<Mistake>> {
        Reading::new(text, files, variables).whole(false)
    }

    /// Reads a condition: an expression that is not always the same.
    ///
    /// # Errors
    /// All mistakes that could be found, in their order.
    pub fn parse_condition(text: &str, files: &[&str], variables: &[&str]) -> Result<Self, Vec<Mistake>> {
        Reading::new(text, files, variables).whole(true)
    }

    /// Calls `seen` with every template in it.
    pub fn each_template<'a>(&'a self, seen: &mut dyn FnMut(&'a Template)) {
        match self {
            Self::Text(text) => seen(text),
            Self::Not(inner) | Self::Negative(inner) => inner.each_template(seen),
            Self::Two(_, sides) => {
                sides.0.each_template(seen);
                sides.1.each_template(seen);
            }
            Self::Call(_, values) => values.iter().for_each(|value| value.each_template(seen)),
        }
    }

    /// The same with the files of weighted rows elsewhere, by what `place` makes of their paths.
    #[must_use]
    pub fn with_weighted_at(self, place: &dyn Fn(&str) -> String) -> Self {
        match self {
            Self::Text(text) => Self::Text(text.with_weighted_at(place)),
            Self::Not(inner) => Self::Not(Box::new(inner.with_weighted_at(place))),
            Self::Negative(inner) => Self::Negative(Box::new(inner.with_weighted_at(place))),
            Self::Two(operator, sides) => Self::Two(operator, Box::new((sides.0.with_weighted_at(place), sides.1.with_weighted_at(place)))),
            Self::Call(function, values) => Self::Call(function, values.into_iter().map(|value| value.with_weighted_at(place)).collect()),
        }
    }

    /// Whether it is the same each time.
    #[must_use]
    pub fn is_fixed(&self) -> bool {
        let mut fixed = !self.counts();
        self.each_template(&mut |template| fixed &= template.is_fixed());
        fixed
    }

    /// Whether it is one more each time, or is made of what is.
    fn counts(&self) -> bool {
        match self {
            Self::Text(_) => false,
            Self::Not(inner) | Self::Negative(inner) => inner.counts(),
            Self::Two(_, sides) => sides.0.counts() || sides.1.counts(),
            Self::Call(function, values) => *function == Function::Next || values.iter().any(Self::counts),
        }
    }

    /// Every regular expression in it.
    #[must_use]
    pub fn patterns(&self) -> Vec<String> {
        match self {
            Self::Text(_) => Vec::new(),
            Self::Not(inner) | Self::Negative(inner) => inner.patterns(),
            Self::Two(Operator::Matches, sides) => {
                let mut patterns = sides.0.patterns();
                if let Self::Text(pattern) = &sides.1 {
                    patterns.push(pattern.fixed_text());
                }
                patterns
            }
            Self::Two(_, sides) => sides.0.patterns().into_iter().chain(sides.1.patterns()).collect(),
            Self::Call(_, values) => values.iter().flat_map(Self::patterns).collect(),
        }
    }

    /// Everything that is [looked for](Function::Find) in a text, [rewritten](Function::Rewrite) or [selected](Function::Select) in it, where
    /// that is always the same.
    #[must_use]
    pub fn finds(&self) -> Vec<Finding> {
        match self {
            Self::Text(_) => Vec::new(),
            Self::Not(inner) | Self::Negative(inner) => inner.finds(),
            Self::Two(_, sides) => sides.0.finds().into_iter().chain(sides.1.finds()).collect(),
            Self::Call(function, values) => values.iter().flat_map(Self::finds).chain(Finding::of(*function, values)).collect(),
        }
    }

    const fn level(&self) -> Level {
        match self {
            Self::Text(_) | Self::Call(..) => Level::Value,
            Self::Not(_) => Level::Not,
            Self::Negative(_) => Level::Value,
            Self::Two(operator, _) => operator.level(),
        }
    }
}

/// As it would be typed.
impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(&operand(text)),
            Self::Not(inner) => write!(f, "not {}", Within(Level::Not, inner)),
            Self::Negative(inner) => write!(f, "- {}", Within(Level::Value, inner)),
            Self::Two(operator, sides) => {
                // A comparison is compared in parentheses alone.
                let left = if operator.level() == Level::Comparison { Level::Sum } else { operator.level() };
                write!(f, "{} {} ", Within(left, &sides.0), operator.word())?;
                match (&sides.1, operator) {
                    (Self::Text(pattern), Operator::Matches) => f.write_str(&quoted(pattern)),
                    (right, _) => write!(f, "{}", Within(operator.right_level(), right)),
                }
            }
            Self::Call(function, values) => {
                write!(f, "{}(", function.name())?;
                for (place, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if place > 0 { ", " } else { "" })?;
                }
                f.write_str(")")
            }
        }
    }
}

/// In parentheses, if it binds less closely than where it stands.
struct Within<'a>(Level, &'a Expression);

impl fmt::Display for Within<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.1.level() < self.0 { write!(f, "({})", self.1) } else { write!(f, "{}", self.1) }
    }
}

/// A text as a value: bare where that means the same.
fn operand(text: &Template) -> String {
    match text.pieces() {
        [Piece::Value(value)] => format!("{{{{{value}}}}}"),
        [Piece::Text(fixed)] if is_bare(fixed) => fixed.clone(),
        _ => quoted(text),
    }
}

fn is_bare(text: &str) -> bool {
    let is_word = text.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && !["and", "or", "not", "contains", "matches"].contains(&text);
    is_word || !text.is_empty() && text.chars().all(|letter| letter.is_ascii_digit() || letter == '.') && number(text).is_some()
}

fn quoted(text: &Template) -> String {
    let fixed = text.fixed_text();
    let mark = if fixed.contains('"') && !fixed.contains('\'') { '\'' } else { '"' };
    let inside: String = text
        .pieces()
        .iter()
        .map(|piece| match piece {
            Piece::Text(fixed) => {
                let parts: Vec<String> = fixed.split("{{").map(|part| part.replace(mark, "{{\"\\\"\"}}")).collect();
                parts.join("{{\"{{\"}}")
            }
            Piece::Value(value) => format!("{{{{{value}}}}}"),
        })
        .collect();
    format!("{mark}{inside}{mark}")
}

#[cfg(test)]
mod tests;
