//! Expressions, compiled once and evaluated for a user: texts, and numbers where a text is one.
//!
//! A variable is text, because templates write it and answers gave it; so a number is decimal text again when it was computed. Whole
//! numbers stay whole as long as they fit, since identifiers of nineteen digits are counted up too; others are binary fractions whose last
//! digits are not shown, so that 0.1 + 0.2 is 0.3.
//!
//! Invariant: nothing panics, whatever a server answered. What cannot be computed has no value, and who asked for it decides what
//! follows.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::io::Write as _;
use std::sync::Arc;

use plan::work::{Function, Operator};
use regex::bytes::Regex;
use template::{Text, Writing};

use crate::buffers::{lend, take_back};
use crate::counts::Count;
use crate::search::Search;

/// An expression.
pub(crate) enum Expression {
    Text(Text),
    Not(Box<Expression>),
    Negative(Box<Expression>),
    Two(Operator, Box<(Expression, Expression)>),
    Matches(Box<Expression>, Regex),
    Call(Function, Vec<Expression>),
    Next(Arc<Count>),
    Find(Box<Search>),
}

/// What a value is computed with.
pub(crate) struct Evaluation<'a, 'w> {
    pub(crate) writing: &'a mut Writing<'w>,
    /// Buffers that are not in use.
    pub(crate) buffers: &'a RefCell<Vec<Vec<u8>>>,
}

/// Something to compute of has no such value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoValue;

/// A number.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Number {
    Whole(i64),
    Real(f64),
}

impl Expression {
    /// Writes its value at the end of `out`.
    pub(crate) fn write(&self, evaluation: &mut Evaluation<'_, '_>, out: &mut Vec<u8>) -> Result<(), NoValue> {
        match self {
            Self::Text(text) => text.write(out, evaluation.writing),
            Self::Call(function, values) => return call(*function, values, evaluation, out),
            Self::Next(count) => write!(out, "{}", count.next()).expect("memory takes it"),
            Self::Find(search) => return search.write(evaluation, out),
            _ if self.decides() => out.extend_from_slice(if self.holds(evaluation)? { b"true" } else { b"false" }),
            _ => self.number(evaluation)?.write(out),
        }
        Ok(())
    }

    /// Whether it holds: a text does unless it is empty, 0, false, null or [].
    pub(crate) fn holds(&self, evaluation: &mut Evaluation<'_, '_>) -> Result<bool, NoValue> {
        match self {
            Self::Not(inner) => Ok(!inner.holds(evaluation)?),
            Self::Matches(left, pattern) => left.with(evaluation, |text, _| Ok(pattern.is_match(text))),
            Self::Two(Operator::And, sides) => Ok(sides.0.holds(evaluation)? && sides.1.holds(evaluation)?),
            Self::Two(Operator::Or, sides) => Ok(sides.0.holds(evaluation)? || sides.1.holds(evaluation)?),
            Self::Two(operator, sides) if self.decides() => sides.0.with(evaluation, |left, evaluation| {
                sides.1.with(evaluation, |right, _| {
                    // A blank may be what is looked for.
                    let is_whole = *operator == Operator::Contains;
                    Ok(if is_whole { compares(left, *operator, right) } else { compares(left.trim_ascii(), *operator, right.trim_ascii()) })
                })
            }),
            _ => self.with(evaluation, |text, _| Ok(!matches!(text.trim_ascii(), b"" | b"0" | b"false" | b"null" | b"[]"))),
        }
    }

    /// Whether it is true or false.
    const fn decides(&self) -> bool {
        match self {
            Self::Not(_) | Self::Matches(..) => true,
            Self::Two(operator, _) => {
                !matches!(operator, Operator::Plus | Operator::Minus | Operator::Times | Operator::Over | Operator::Modulo)
            }
            Self::Text(_) | Self::Negative(_) | Self::Call(..) | Self::Next(_) | Self::Find(_) => false,
        }
    }

    fn number(&self, evaluation: &mut Evaluation<'_, '_>) -> Result<Number, NoValue> {
        match self {
            Self::Negative(inner) => Number::Whole(0).computed(Operator::Minus, inner.number(evaluation)?),
            Self::Two(operator, sides) if !self.decides() => {
                let left = sides.0.number(evaluation)?;
                left.computed(*operator, sides.1.number(evaluation)?)
            }
            _ => self.with(evaluation, |text, _| Number::read(text).ok_or(NoValue)),
        }
    }

    /// Does something with its text, which is gone afterwards.
    pub(crate) fn with<'w, T>(
        &self,
        evaluation: &mut Evaluation<'_, 'w>,
        act: impl FnOnce(&[u8], &mut Evaluation<'_, 'w>) -> Result<T, NoValue>,
    ) -> Result<T, NoValue> {
        let buffers = evaluation.buffers;
        let mut text = lend(buffers);
        let acted = self.write(evaluation, &mut text).and_then(|()| act(&text, evaluation));
        take_back(buffers, text);
        acted
    }
}

fn call(function: Function, values: &[Expression], evaluation: &mut Evaluation<'_, '_>, out: &mut Vec<u8>) -> Result<(), NoValue> {
    let number = |place: usize, evaluation: &mut Evaluation<'_, '_>| values[place].number(evaluation);
    let one = &values[0];
    match function {
        Function::Length => one.with(evaluation, |text, _| {
            Number::Whole(letters(text).chars().count() as i64).write(out);
            Ok(())
        }),
        Function::Lower => one.with(evaluation, |text, _| {
            letters(text).chars().flat_map(char::to_lowercase).for_each(|letter| push(letter, out));
            Ok(())
        }),
        Function::Upper => one.with(evaluation, |text, _| {
            letters(text).chars().flat_map(char::to_uppercase).for_each(|letter| push(letter, out));
            Ok(())
        }),
        Function::Capitalize => one.with(evaluation, |text, _| {
            let text = letters(text);
            let mut rest = text.chars();
            rest.next().into_iter().flat_map(char::to_uppercase).for_each(|letter| push(letter, out));
            out.extend_from_slice(rest.as_str().as_bytes());
            Ok(())
        }),
        Function::Encode | Function::Decode | Function::Digest => one.with(evaluation, |text, evaluation| {
            values[1].with(evaluation, |word, _| {
                let word = letters(word);
                let written = match function {
                    Function::Encode => step::coding::encode(&word, &letters(text), out),
                    Function::Decode => step::coding::decode(&word, &letters(text), out),
                    _ => step::coding::digest(&word, text, out),
                };
                written.ok_or(NoValue)
            })
        }),
        Function::Trim => one.with(evaluation, |text, _| {
            out.extend_from_slice(letters(text).trim().as_bytes());
            Ok(())
        }),
        Function::Substring => {
            let from = number(1, evaluation)?.place();
            let to = if values.len() > 2 { number(2, evaluation)?.place() } else { usize::MAX };
            one.with(evaluation, |text, _| {
                letters(text).chars().take(to).skip(from).for_each(|letter| push(letter, out));
                Ok(())
            })
        }
        Function::Replace => one.with(evaluation, |text, evaluation| {
            values[1].with(evaluation, |what, evaluation| {
                values[2].with(evaluation, |by, _| {
                    out.extend_from_slice(letters(text).replace(&*letters(what), &letters(by)).as_bytes());
                    Ok(())
                })
            })
        }),
        Function::Split => one.with(evaluation, |text, evaluation| {
            values[1].with(evaluation, |separator, _| {
                let (text, separator) = (letters(text), letters(separator));
                let parts: Vec<&str> = match &*separator {
                    _ if text.is_empty() => Vec::new(),
                    "" => text.split_terminator("").skip(1).collect(),
                    separator => text.split(separator).collect(),
                };
                serde_json::to_writer(out, &parts).map_err(|_| NoValue)
            })
        }),
        Function::Join => one.with(evaluation, |list, evaluation| {
            values[1].with(evaluation, |separator, _| {
                for (place, item) in items(list)?.iter().enumerate() {
                    out.extend_from_slice(if place > 0 { separator } else { b"" });
                    out.extend_from_slice(item);
                }
                Ok(())
            })
        }),
        Function::Item => {
            let Number::Whole(place) = number(1, evaluation)?.cut() else { return Err(NoValue) };
            one.with(evaluation, |list, _| {
                let items = items(list)?;
                let place = if place < 0 { place.saturating_add(items.len() as i64) } else { place };
                let item = usize::try_from(place).ok().and_then(|place| items.get(place));
                out.extend_from_slice(item.ok_or(NoValue)?);
                Ok(())
            })
        }
        Function::Count => one.with(evaluation, |list, _| {
            Number::Whole(items(list)?.len() as i64).write(out);
            Ok(())
        }),
        Function::Min | Function::Max => {
            let wanted = if function == Function::Min { Ordering::Less } else { Ordering::Greater };
            let mut best = number(0, evaluation)?;
            for place in 1..values.len() {
                let other = number(place, evaluation)?;
                best = if other.compared(best) == Some(wanted) { other } else { best };
            }
            best.write(out);
            Ok(())
        }
        Function::Round => {
            let decimals = if values.len() > 1 { number(1, evaluation)?.place() } else { 0 };
            number(0, evaluation)?.rounded(decimals).write(out);
            Ok(())
        }
        Function::Int => {
            number(0, evaluation)?.cut().write(out);
            Ok(())
        }
        Function::Abs => {
            let value = number(0, evaluation)?;
            let is_below = value.compared(Number::Whole(0)) == Some(Ordering::Less);
            (if is_below { Number::Whole(0).computed(Operator::Minus, value)? } else { value }).write(out);
            Ok(())
        }
        Function::If => {
            let chosen = if one.holds(evaluation)? { 1 } else { 2 };
            values[chosen].write(evaluation, out)
        }
        // It is a counter, or what is looked for, when it is compiled.
        Function::Next | Function::Find | Function::Rewrite | Function::Select => Err(NoValue),
    }
}

fn letters(text: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(text)
}

fn push(letter: char, out: &mut Vec<u8>) {
    out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
}

/// What is in a JSON array; nothing in a text that is empty, as one that was never extracted.
fn items(list: &[u8]) -> Result<Vec<Vec<u8>>, NoValue> {
    if list.is_empty() { Ok(Vec::new()) } else { crate::json::items(list).ok_or(NoValue) }
}

impl Number {
    fn read(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?.trim();
        match text.parse() {
            Ok(whole) => Some(Self::Whole(whole)),
            // "infinity" is a word.
            Err(_) => text.parse().ok().filter(|real: &f64| real.is_finite()).map(Self::Real),
        }
    }

    const fn real(self) -> f64 {
        match self {
            Self::Whole(whole) => whole as f64,
            Self::Real(real) => real,
        }
    }

    fn compared(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Whole(one), Self::Whole(other)) => Some(one.cmp(&other)),
            _ => self.real().partial_cmp(&other.real()),
        }
    }

    fn computed(self, operator: Operator, other: Self) -> Result<Self, NoValue> {
        if let (Self::Whole(one), Self::Whole(other)) = (self, other) {
            let whole = match operator {
                Operator::Plus => one.checked_add(other),
                Operator::Minus => one.checked_sub(other),
                Operator::Times => one.checked_mul(other),
                Operator::Over => one.checked_rem(other).filter(|rest| *rest == 0).and_then(|_| one.checked_div(other)),
                Operator::Modulo => one.checked_rem(other),
                _ => None,
            };
            if let Some(whole) = whole {
                return Ok(Self::Whole(whole));
            }
        }
        let (one, other) = (self.real(), other.real());
        let real = match operator {
            Operator::Plus => one + other,
            Operator::Minus => one - other,
            Operator::Times => one * other,
            Operator::Over => one / other,
            Operator::Modulo => one % other,
            _ => f64::NAN,
        };
        if real.is_finite() { Ok(Self::Real(real)) } else { Err(NoValue) }
    }

    /// Without decimals.
    fn cut(self) -> Self {
        match self {
            Self::Real(real) => Self::Real(real.trunc()).rounded(0),
            whole @ Self::Whole(_) => whole,
        }
    }

    fn rounded(self, decimals: usize) -> Self {
        const DECIMALS_MAX: i32 = 15;
        let Self::Real(real) = self else { return self };
        let factor = 10_f64.powi(i32::try_from(decimals).unwrap_or(DECIMALS_MAX).min(DECIMALS_MAX));
        let rounded = (real * factor).round() / factor;
        if !rounded.is_finite() {
            // So large that it has no decimals.
            return self;
        }
        let is_whole = decimals == 0 && rounded.abs() < 2_f64.powi(63);
        if is_whole { Self::Whole(rounded as i64) } else { Self::Real(rounded) }
    }

    /// As a number of letters or decimals: none below 0.
    fn place(self) -> usize {
        self.real().max(0.0) as usize
    }

    /// In decimal digits, of which 15 count.
    fn write(self, out: &mut Vec<u8>) {
        let written = match self {
            Self::Whole(whole) => write!(out, "{whole}"),
            Self::Real(real) => {
                let mut digits = [0; 32];
                let mut room = &mut digits[..];
                let rounded = match write!(room, "{real:.14e}") {
                    Ok(()) => {
                        let length = 32 - room.len();
                        std::str::from_utf8(&digits[..length])
                            .ok()
                            .and_then(|text| text.parse().ok())
                            .filter(|rounded: &f64| rounded.is_finite())
                            .unwrap_or(real)
                    }
                    Err(_) => real,
                };
                // No zero has a sign.
                write!(out, "{}", rounded + 0.0)
            }
        };
        written.expect("memory takes it");
    }
}

/// Compares as numbers where both are, else as texts.
pub(crate) fn compares(left: &[u8], operator: Operator, right: &[u8]) -> bool {
    if operator == Operator::Contains {
        return right.is_empty() || left.windows(right.len()).any(|window| window == right);
    }
    let order = match (Number::read(left), Number::read(right)) {
        (Some(left), Some(right)) => left.compared(right),
        _ => Some(left.cmp(right)),
    };
    let Some(order) = order else { return false };
    match operator {
        Operator::Is => order.is_eq(),
        Operator::IsNot => order.is_ne(),
        Operator::Less => order.is_lt(),
        Operator::AtMost => order.is_le(),
        Operator::More => order.is_gt(),
        Operator::AtLeast => order.is_ge(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiled::expression;
    use crate::counts::Counts;
    use plan::{PlanErrors, Random};
    use template::Compiler;

    /// The value of an expression for a user with a few variables.
    fn value(text: &str) -> Result<String, NoValue> {
        let names: Vec<String> =
            ["status", "a", "b", "name", "list", "none", "json", "page", "one"].iter().map(|name| (*name).to_owned()).collect();
        let values: Vec<Vec<u8>> =
            ["200", "3", "2.5", " Ada Lovelace ", "[\"x\", 2, null]", "", "{\"ids\": [1, \"b\"]}", "<a href=\"/1\">One</a>", "1"]
                .iter()
                .map(|value| value.as_bytes().to_vec())
                .collect();
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        let read = plan::work::Expression::parse(text, &[], &known).unwrap_or_else(|why| panic!("{text}: {why:#?}"));
        let expression = expression(
            &mut Compiler::new(&[], Vec::new(), (&[], &plan::Contents::default()), &names),
            (&mut PlanErrors::default(), &mut Counts::default()),
            &read,
        );
        let (mut random, mut scratch, mut is_unsafe) = (Random::new(1, 1), Vec::new(), false);
        let mut writing = Writing::new(0, &mut random, &[], &values, &mut scratch, &mut is_unsafe);
        let mut out = Vec::new();
        let buffers = RefCell::default();
        expression.write(&mut Evaluation { writing: &mut writing, buffers: &buffers }, &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn values_are_computed_as_decimal_text() {
        for (written, expected) in [
            ("{{a}} * 2 + 1", "7"),
            ("{{b}} * 2 + 1", "6"),
            ("0.1 + 0.2 + {{a}} * 0", "0.3"),
            ("{{a}} / 2", "1.5"),
            ("{{a}} * 2 / 3", "2"),
            ("- {{a}} % 2", "-1"),
            ("9007199254740993 + {{a}}", "9007199254740996"),
            ("9223372036854775807 + {{a}}", "9223372036854780000"),
            ("1 / {{a}}", "0.333333333333333"),
            ("{{a}} - 3.0", "0"),
            ("{{a}} > 2 and {{b}} < 3", "true"),
            ("not ({{a}} > 2 or {{none}})", "false"),
            ("{{name}} matches 'L.*e'", "true"),
            ("{{name}} contains ada", "false"),
            ("length(trim({{name}}))", "12"),
            ("upper({{name}})", " ADA LOVELACE "),
            ("capitalize(lower(trim({{name}})))", "Ada lovelace"),
            ("encode({{name}}, form)", "+Ada+Lovelace+"),
            ("decode(encode({{name}}, base64), base64)", " Ada Lovelace "),
            ("digest({{a}} + 0, md5)", "eccbc87e4b5ce2fe28308fd9f2a7baf3"),
            ("lower(substring({{name}}, 1, 4))", "ada"),
            ("substring({{name}}, 5)", "Lovelace "),
            ("substring({{name}}, 50)", ""),
            ("replace(trim({{name}}), \" \", \"_\")", "Ada_Lovelace"),
            ("split(trim({{name}}), \" \")", "[\"Ada\",\"Lovelace\"]"),
            ("split({{none}}, \",\")", "[]"),
            ("split({{status}}, \"\")", "[\"2\",\"0\",\"0\"]"),
            ("join({{list}}, \"+\")", "x+2+null"),
            ("item({{list}}, 0)", "x"),
            ("item({{list}}, -2)", "2"),
            ("count({{list}}) + count({{none}})", "3"),
            ("min({{a}}, {{b}}, 9)", "2.5"),
            ("max({{a}}, {{b}})", "3"),
            ("round({{b}})", "3"),
            ("round({{b}} / 7, 2)", "0.36"),
            ("round({{a}} * 1e300, 15) == 3e300", "true"),
            ("{{a}} - {{a}} + 1.7976931348623157e308 > 1.7e308", "true"),
            ("{{a}} contains \" \"", "false"),
            ("{{name}} contains \" \"", "true"),
            ("int({{b}} * -1)", "-2"),
            ("abs({{b}} - {{a}})", "0.5"),
            ("if({{a}} == 3.0, three, \"not three\")", "three"),
            ("if({{none}}, {{a}}, {{b}}) * 2", "5"),
            ("Hello {{a}}", "Hello 3"),
            ("find({{name}}, \"[A-Z](.)\")", "[\"d\",\"o\"]"),
            ("find({{name}}, \"([A-Z])(.)\", \"$2-$1\")", "[\"d-A\",\"o-L\"]"),
            ("find({{name}}, \"(?<=A)d\")", "[\"d\"]"),
            ("find({{name}}, \"x{{a}}\")", "[]"),
            ("find({{status}}, \"{{a}}|2\")", "[\"2\"]"),
            ("count(find({{none}}, \"a\"))", "0"),
            ("rewrite({{name}}, \"([A-Z])(.)\", \"$2$1\")", " dAa oLvelace "),
            ("rewrite({{name}}, \"{{a}}\", \"x\")", " Ada Lovelace "),
            ("select({{json}}, json, \"$.ids[*]\")", "[1,\"b\"]"),
            ("item(select({{json}}, json, \"$.ids[?(@ == {{one}})]\"), 0)", "1"),
            ("select({{json}}, jmespath, \"ids[0]\")", "[1]"),
            ("select({{none}}, json, \"$.ids[*]\")", "[]"),
            ("select({{page}}, css, \"a::attr(href)\")", "[\"/1\"]"),
            ("select({{page}}, xpath, \"//a\")", "[\"One\"]"),
            ("rewrite({{status}}, \"{{a}}|2\", \"<{{a}}$0>\")", "<32>00"),
        ] {
            assert_eq!(value(written).as_deref(), Ok(expected), "{written}");
        }
    }

    #[test]
    fn what_cannot_be_computed_has_no_value() {
        for written in [
            "{{name}} + 1",
            "{{none}} * 2",
            "{{a}} / 0",
            "{{a}} % 0",
            "item({{list}}, 3)",
            "item({{name}}, 0)",
            "1e308 * {{a}} * 10",
            "round({{none}})",
            "decode({{name}}, base64)",
            "{{a}} > 1 and {{none}} + 1 > 2",
            "find({{name}}, \"({{a}}\")",
            "find({{name}}, \"A\", \"${{a}}\")",
            "rewrite({{name}}, \"({{a}}\", \"x\")",
            "rewrite({{name}}, \"A\", \"${{a}}\")",
            "select({{json}}, json, \"$.{{name}}[\")",
        ] {
            assert_eq!(value(written), Err(NoValue), "{written}");
        }
        assert_eq!(value("{{none}} or {{a}} > 1 or {{none}} + 1 > 2").as_deref(), Ok("true"), "what decides comes first");
    }

    #[test]
    fn numbers_are_compared_as_numbers_and_texts_as_texts() {
        for (left, operator, right, holds) in [
            ("9", Operator::Less, "10", true),
            ("9", Operator::Less, "10a", false),
            ("1.0", Operator::Is, "1", true),
            ("9007199254740993", Operator::Is, "9007199254740992", false),
            ("b", Operator::More, "a", true),
            ("", Operator::Is, "", true),
            ("infinity", Operator::Is, "inf", false),
            ("abc", Operator::Contains, "bc", true),
            ("abc", Operator::IsNot, "abc", false),
        ] {
            assert_eq!(compares(left.as_bytes(), operator, right.as_bytes()), holds, "{left} {operator:?} {right}");
        }
    }
}
