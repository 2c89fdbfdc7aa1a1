//! Functions of XPath 2.0 that people use: `string-join(//item, '+')`, `//a[matches(., '^\d+$')]`.
//!
//! The newer language has sequences, types and loops, which nobody writes to find a value in an answer. What is used of it are its functions
//! of texts, and those fit into the older one. Sets of values, such as `tokenize()` and `distinct-values()` give, do not.
//!
//! Source: W3C, XQuery and XPath Functions and Operators 2.0; sections are named where they are implemented.

use std::borrow::Cow;
use std::ops::ControlFlow;

use super::{Context, Evaluation, Expression, Value, number_of};
use crate::pattern::{self, Form};

/// One of these functions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Newer {
    StringJoin,
    Matches,
    Replace,
    LowerCase,
    UpperCase,
    EndsWith,
    Exists,
    Empty,
    Absolute,
    Least,
    Greatest,
    Mean,
}

/// Name, function, and how many arguments it takes at least and at most.
pub(super) const FUNCTIONS: [(&str, Newer, usize, usize); 12] = [
    ("string-join", Newer::StringJoin, 1, 2),
    ("matches", Newer::Matches, 2, 3),
    ("replace", Newer::Replace, 3, 4),
    ("lower-case", Newer::LowerCase, 1, 1),
    ("upper-case", Newer::UpperCase, 1, 1),
    ("ends-with", Newer::EndsWith, 2, 2),
    ("exists", Newer::Exists, 1, 1),
    ("empty", Newer::Empty, 1, 1),
    ("abs", Newer::Absolute, 1, 1),
    ("min", Newer::Least, 1, 1),
    ("max", Newer::Greatest, 1, 1),
    ("avg", Newer::Mean, 1, 1),
];

impl Newer {
    /// Whether it gives a truth.
    pub(super) const fn gives_truth(self) -> bool {
        matches!(self, Self::Matches | Self::EndsWith | Self::Exists | Self::Empty)
    }
}

impl<'d> Evaluation<'d, '_> {
    pub(super) fn call_newer(&self, function: Newer, arguments: &[Expression], context: Context) -> Value<'d> {
        let given = |index: usize| arguments.get(index).map_or_else(|| Value::Text(Cow::Borrowed("")), |it| self.value(it, context));
        let text = |index: usize| self.text(&given(index)).into_owned();
        let each = || -> Vec<Cow<'d, str>> {
            match given(0) {
                Value::Nodes(nodes) => nodes.into_iter().map(|node| self.text_of(node)).collect(),
                value => vec![self.text(&value)],
            }
        };
        let numbers = || each().iter().map(|text| number_of(text)).collect::<Vec<f64>>();
        let is_there = || match given(0) {
            Value::Nodes(nodes) => !nodes.is_empty(),
            _ => true,
        };
        match function {
            // §7.4.2
            Newer::StringJoin => Value::Text(Cow::Owned(each().join(&text(1)))),
            Newer::Matches => Value::Truth(self.matches(&text(0), &text(1), &text(2))),
            Newer::Replace => Value::Text(Cow::Owned(self.replaced(&text(0), (&text(1), &text(3)), &text(2)))),
            Newer::LowerCase => Value::Text(Cow::Owned(text(0).to_lowercase())),
            Newer::UpperCase => Value::Text(Cow::Owned(text(0).to_uppercase())),
            Newer::EndsWith => Value::Truth(text(0).ends_with(&text(1))),
            Newer::Exists => Value::Truth(is_there()),
            Newer::Empty => Value::Truth(!is_there()),
            Newer::Absolute => Value::Number(self.number(&given(0)).abs()),
            // §15.4
            Newer::Least => of_numbers(&numbers(), |one, other| if other < one { other } else { one }),
            Newer::Greatest => of_numbers(&numbers(), |one, other| if other > one { other } else { one }),
            Newer::Mean => {
                let numbers = numbers();
                if numbers.is_empty() { nothing() } else { Value::Number(numbers.iter().sum::<f64>() / numbers.len() as f64) }
            }
        }
    }

    /// §7.6.2: found anywhere.
    fn matches(&self, text: &str, expression: &str, flags: &str) -> bool {
        self.budget.steps(u32::try_from(text.len() / 16).unwrap_or(u32::MAX))
            && pattern::lately(&flagged(expression, flags)).is_some_and(|pattern| pattern.is_in(text.as_bytes()) == Ok(true))
    }

    /// §7.6.3. What cannot be carried out leaves the text as it is.
    fn replaced(&self, text: &str, (expression, flags): (&str, &str), with: &str) -> String {
        if !self.budget.steps(u32::try_from(text.len() / 16).unwrap_or(u32::MAX)) {
            return String::new();
        }
        let pattern = pattern::lately(&flagged(expression, flags));
        let form = pattern.as_ref().and_then(|pattern| Form::parse(&with.replace("\\$", "$$"), pattern.groups_count()).ok());
        let (Some(pattern), Some(form)) = (pattern, form) else { return text.to_owned() };
        let (mut written, mut at) = (String::with_capacity(text.len()), 0);
        let searched = pattern.each(text.as_bytes(), &mut |groups| {
            if let Some((from, to)) = groups(0) {
                written.push_str(text.get(at..from).unwrap_or_default());
                written.push_str(&form.of(text.as_bytes(), groups));
                at = to;
            }
            ControlFlow::Continue(())
        });
        if searched.is_err() {
            return text.to_owned();
        }
        written.push_str(text.get(at..).unwrap_or_default());
        written
    }
}

/// A regular expression with its flags (§7.6.1.1), of which the same mean the same.
fn flagged(expression: &str, flags: &str) -> String {
    let known: String = flags.chars().filter(|flag| "imsx".contains(*flag)).collect();
    if known.is_empty() { expression.to_owned() } else { format!("(?{known}){expression}") }
}

fn of_numbers<'d>(numbers: &[f64], chosen: fn(f64, f64) -> f64) -> Value<'d> {
    numbers.iter().copied().reduce(chosen).map_or_else(nothing, Value::Number)
}

fn nothing<'d>() -> Value<'d> {
    Value::Nodes(Vec::new())
}

#[cfg(test)]
mod tests {
    use super::super::tests::shown;

    #[test]
    fn functions_of_the_newer_language_give_what_it_says() {
        let page = "<shop><item id=1>One</item><item id=22>Two</item></shop>";
        for (path, expected) in [
            ("string-join(//item, '+')", "text One+Two"),
            ("string-join(//item)", "text OneTwo"),
            ("//item[matches(., '^T')]", "Two"),
            ("//item[matches(., '^t', 'i')]/@id", "22"),
            ("//item[matches(., '(')]", ""),
            ("replace(//item[2], '(T)(w)', '$2\\$$1')", "text w$To"),
            ("lower-case(//item)", "text one"),
            ("upper-case(//item)", "text ONE"),
            ("//item[ends-with(., 'o')]", "Two"),
            ("exists(//item)", "true"),
            ("empty(//item)", "false"),
            ("max(//item/@id)", "number 22"),
            ("min(//item/@id)", "number 1"),
            ("avg(//item/@id)", "number 11.5"),
            ("max(//no)", ""),
            ("abs(-2)", "number 2"),
        ] {
            assert_eq!(shown(page, path), expected, "{path}");
        }
    }
}
