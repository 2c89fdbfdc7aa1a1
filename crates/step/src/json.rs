//! Values out of JSON: JSONPath, what is calculated at its end, and JMESPath.
//!
//! RFC 9535 finds values and calculates nothing outside of filters. Other load testers end a path with `.length()` or `.sum()`, and hold
//! numbers against regular expressions, so that both are taken here too: the first as an end of its own, the second as the function
//! `like()`, which stands beside the RFC's `match()`.
//!
//! JMESPath is the crate `jmespath`, the language's own implementation in Rust, held to its compliance tests.

use std::fmt;
use std::ops::ControlFlow;

use plan::template::Mistake;
use serde_json::Value;
use serde_json_path::JsonPath;
use serde_json_path::functions::{LogicalType, ValueType};

use crate::extract::{self, Match};
use crate::pattern;

/// What a path may end with.
const ENDS: [(&str, End); 10] = [
    ("length", End::Length),
    ("size", End::Length),
    ("sum", End::Sum),
    ("min", End::Least),
    ("max", End::Greatest),
    ("avg", End::Mean),
    ("stddev", End::Deviation),
    ("keys", End::Keys),
    ("first", End::First),
    ("last", End::Last),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Length,
    Sum,
    Least,
    Greatest,
    Mean,
    Deviation,
    Keys,
    First,
    Last,
}

/// A JSONPath, and what is calculated of what it finds.
#[derive(Debug, Clone)]
pub(crate) struct JsonQuery {
    path: JsonPath,
    end: Option<End>,
}

impl JsonQuery {
    /// Understands a path: `$.items[0].id`, `$.items.length()`.
    pub(crate) fn parse(text: &str) -> Result<Self, Mistake> {
        let plain = text.trim_end();
        let called = plain.strip_suffix("()").and_then(|inner| inner.rsplit_once('.'));
        let end = called.and_then(|(path, name)| Some((path, ENDS.iter().find(|(known, _)| *known == name)?.1)));
        let (path, end) = end.map_or((text, None), |(path, end)| (path, Some(end)));
        Ok(Self { path: extract::json_path(path)?, end })
    }

    /// Calls `found` with each value until it breaks.
    pub(crate) fn each(&self, json: &Value, found: &mut dyn FnMut(Match<'_>) -> ControlFlow<()>) {
        let nodes = self.path.query(json);
        let Some(end) = self.end else {
            for value in nodes {
                if found(Match::Json(value)).is_break() {
                    break;
                }
            }
            return;
        };
        let nodes = nodes.all();
        // Of a single list its members are meant.
        let members: Vec<&Value> = match nodes.as_slice() {
            [Value::Array(list)] => list.iter().collect(),
            _ => nodes.clone(),
        };
        let calculated = match end {
            End::First => members.first().copied().map(Match::Json),
            End::Last => members.last().copied().map(Match::Json),
            End::Length => match nodes.as_slice() {
                [] => None,
                [Value::Object(members)] => Some(members.len()),
                [Value::String(text)] => Some(text.chars().count()),
                _ => Some(members.len()),
            }
            .map(|length| Match::Plain(length.into())),
            End::Keys => match nodes.as_slice() {
                [Value::Object(members)] => Some(Match::Plain(members.keys().cloned().collect())),
                _ => None,
            },
            End::Sum | End::Least | End::Greatest | End::Mean | End::Deviation => {
                let numbers: Vec<f64> = members.iter().filter_map(|value| value.as_f64()).collect();
                end.of_numbers(&numbers).and_then(serde_json::Number::from_f64).map(|number| Match::Plain(Value::Number(number)))
            }
        };
        if let Some(calculated) = calculated {
            let _ = found(calculated);
        }
    }
}

impl End {
    fn of_numbers(self, numbers: &[f64]) -> Option<f64> {
        let count = numbers.len() as f64;
        if numbers.is_empty() {
            return None;
        }
        let mean = numbers.iter().sum::<f64>() / count;
        Some(match self {
            Self::Sum => numbers.iter().sum(),
            Self::Least => numbers.iter().copied().fold(f64::INFINITY, f64::min),
            Self::Greatest => numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            Self::Deviation => (numbers.iter().map(|number| (number - mean).powi(2)).sum::<f64>() / count).sqrt(),
            _ => mean,
        })
    }
}

/// Whether a regular expression matches the whole of a text, a number or a truth: `$.items[?like(@.id, '2.*')]`.
#[serde_json_path::function(name = "like")]
fn like(value: ValueType, pattern: ValueType) -> LogicalType {
    let (Some(value), Some(pattern)) = (value.as_value().and_then(plain), pattern.as_value().and_then(Value::as_str)) else {
        return LogicalType::False;
    };
    let matches = pattern::lately(&format!("\\A(?:{pattern})\\z")).is_some_and(|pattern| pattern.is_in(value.as_bytes()) == Ok(true));
    if matches { LogicalType::True } else { LogicalType::False }
}

/// What a value is in letters, unless it holds others.
fn plain(value: &Value) -> Option<String> {
    (!matches!(value, Value::Null | Value::Array(_) | Value::Object(_))).then(|| extract::text_of(value).into_owned())
}

/// Signs in a JMESPath that open something: each is a step down when it is read.
const OPENINGS_MAX: usize = 64;

/// A JMESPath.
#[derive(Clone)]
pub(crate) struct JmesQuery(jmespath::Expression<'static>);

impl fmt::Debug for JmesQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JmesQuery").field(&self.0.as_str()).finish()
    }
}

impl JmesQuery {
    pub(crate) fn parse(text: &str) -> Result<Self, Mistake> {
        let help = "such as items[0].id or items[?price > `10`].id";
        let wrong = |at: usize, message: String| {
            let mut at = at.min(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            let length = text[at..].chars().next().map_or(0, char::len_utf8);
            Mistake { at, length, message, help: help.into() }
        };
        if text.trim().is_empty() {
            return Err(Mistake { at: 0, length: text.len(), message: "the JMESPath is missing".into(), help: help.into() });
        }
        if text.matches(['(', '[', '{', '!', '&', '|']).count() > OPENINGS_MAX {
            return Err(wrong(0, "this is too deep in brackets".to_owned()));
        }
        jmespath::compile(text.trim()).map(Self).map_err(|error| {
            let before = text.len() - text.trim_start().len();
            let at = text.trim().char_indices().nth(error.offset).map_or(text.len(), |(at, _)| before + at);
            wrong(at, "this is no JMESPath from here on".to_owned())
        })
    }

    /// Calls `found` with each value until it breaks: those in a list one by one, unless it is taken as a whole, and nothing of null.
    ///
    /// # Errors
    /// If it calculates with what is none of its values, in words.
    pub(crate) fn each(&self, json: &Value, whole: bool, found: &mut dyn FnMut(Match<'_>) -> ControlFlow<()>) -> Result<(), String> {
        let given = self.0.search(json).map_err(|error| error.reason.to_string().replace('\n', " "))?;
        match serde_json::to_value(&*given) {
            Ok(Value::Array(list)) if !whole => {
                for value in list {
                    if found(Match::Plain(value)).is_break() {
                        break;
                    }
                }
            }
            Ok(Value::Null) => {}
            Ok(value) => _ = found(Match::Plain(value)),
            Err(error) => return Err(error.to_string()),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn shop() -> Value {
        json!({"user": {"id": 7, "name": "Ann"}, "items": [{"id": 1, "price": 1.5}, {"id": 22, "price": 20}], "none": null, "empty": []})
    }

    fn texts(each: impl FnOnce(&mut dyn FnMut(Match<'_>) -> ControlFlow<()>)) -> Vec<String> {
        let mut found = Vec::new();
        each(&mut |one| {
            found.push(extract::text_of(&one.into_value()).into_owned());
            ControlFlow::Continue(())
        });
        found
    }

    #[test]
    fn what_a_path_ends_with_is_calculated() {
        let shop = shop();
        for (path, expected) in [
            ("$.items.length()", &["2"][..]),
            ("$.items[*].price.length()", &["2"]),
            ("$.user.size()", &["2"]),
            ("$.user.name.length()", &["3"]),
            ("$..price.sum()", &["21.5"]),
            ("$.items[*].id.min()", &["1.0"]),
            ("$..price.max()", &["20.0"]),
            ("$..price.avg()", &["10.75"]),
            ("$..price.stddev()", &["9.25"]),
            ("$.user.keys()", &["[\"id\",\"name\"]"]),
            ("$.items.first()", &["{\"id\":1,\"price\":1.5}"]),
            ("$.items[*].id.last()", &["22"]),
            ("$.empty.length()", &["0"]),
            ("$.empty.sum()", &[]),
            ("$.nothing.length()", &[]),
            ("$.items[?like(@.id, '2+')].price", &["20"]),
            ("$.items[?like(@.id, '2')].price", &[]),
            ("$[?like(@.name, '(?i)a.*')].id", &["7"]),
            ("$.items[?like(@.id, '(')].id", &[]),
        ] {
            let query = JsonQuery::parse(path).unwrap_or_else(|mistake| panic!("{path}: {mistake:?}"));
            assert_eq!(texts(|found| query.each(&shop, found)), expected, "{path}");
        }
        assert!(JsonQuery::parse("$.items.count()").is_err() && JsonQuery::parse("items.length()").is_err());
    }

    #[test]
    fn a_jmespath_finds_values_one_by_one() {
        let shop = shop();
        for (path, expected) in [
            ("items[1].price", &["20"][..]),
            ("items[].id", &["1", "22"]),
            ("items[?price > `10`].id", &["22"]),
            ("user.{n: name}", &["{\"n\":\"Ann\"}"]),
            ("length(items)", &["2"]),
            ("none", &[]),
            ("nothing.at.all", &[]),
            ("max_by(items, &price).id", &["22"]),
        ] {
            let query = JmesQuery::parse(path).unwrap_or_else(|mistake| panic!("{path}: {mistake:?}"));
            assert_eq!(texts(|found| query.each(&shop, false, found).unwrap()), expected, "{path}");
        }
        let query = JmesQuery::parse("abs(user.name)").unwrap();
        assert!(query.each(&shop, true, &mut |_| ControlFlow::Continue(())).is_err());
        let query = JmesQuery::parse("items[].id").unwrap();
        assert_eq!(texts(|found| query.each(&shop, true, found).unwrap()), ["[1,22]"]);
        assert_eq!(JmesQuery::parse("items[").unwrap_err().message, "this is no JMESPath from here on");
    }

    proptest! {
        #[test]
        fn any_text_is_a_query_or_a_mistake_inside_it(text in "\\PC{0,20}|[$a.\\[\\]{}()|&!`'*@?:0-9,-]{0,20}|(\\$|)\\.a\\.(length|sum|keys)\\(\\)") {
            let mistakes = [JmesQuery::parse(&text).err(), JsonQuery::parse(&text).err()];
            for mistake in mistakes.into_iter().flatten() {
                prop_assert!(text.is_char_boundary(mistake.at) && text.is_char_boundary(mistake.at + mistake.length), "{:?}", mistake);
            }
            if let Ok(query) = JmesQuery::parse(&text) {
                let _ = query.each(&shop(), false, &mut |_| ControlFlow::Continue(()));
            }
        }
    }
}
