//! What the user gave for a setting: a value, or text that is none.
//!
//! A parser of arguments stops at the first value it cannot read, and the user mends a command line one error at a
//! time. So reading a setting never fails: the mistake is kept beside the text, and making the
//! [`Plan`](crate::Plan) reports all of them together.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A setting as typed: readable or not.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting<T> {
    /// It could be read.
    Value(T),
    /// It could not: the text, and why, in words that follow the text.
    Wrong {
        /// What was typed.
        text: String,
        /// What is wrong with it, such as `is not a time such as 10s`.
        why: String,
    },
}

impl<T: FromStr> FromStr for Setting<T>
where
    T::Err: fmt::Display,
{
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text.parse() {
            Ok(value) => Self::Value(value),
            Err(why) => Self::Wrong { text: text.to_owned(), why: worded(why.to_string()) },
        })
    }
}

/// The standard library's words for numbers are terse; these go on from the text.
fn worded(why: String) -> String {
    match why.as_str() {
        "number would be zero for non-zero type" => "is zero".to_owned(),
        "invalid digit found in string" => "is not a whole number".to_owned(),
        "number too large to fit in target type" => "is too large".to_owned(),
        "cannot parse integer from empty string" => "is empty".to_owned(),
        "invalid IP address syntax" => "is not an IP address".to_owned(),
        _ => why,
    }
}

impl<T: fmt::Display> fmt::Display for Setting<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => value.fmt(f),
            Self::Wrong { text, .. } => f.write_str(text),
        }
    }
}

/// Whole numbers as numbers, everything else as the text a user would type.
impl<T: fmt::Display> Serialize for Setting<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.to_string();
        match text.parse::<u64>() {
            Ok(number) if number.to_string() == text => serializer.serialize_u64(number),
            _ => serializer.serialize_str(&text),
        }
    }
}

impl<'de, T: FromStr> Deserialize<'de> for Setting<T>
where
    T::Err: fmt::Display,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Scalar {
            Whole(u64),
            Number(f64),
            Text(String),
        }
        let text = match Scalar::deserialize(deserializer)? {
            Scalar::Whole(number) => number.to_string(),
            Scalar::Number(number) => number.to_string(),
            Scalar::Text(text) => text,
        };
        let Ok(given) = text.parse();
        Ok(given)
    }
}
