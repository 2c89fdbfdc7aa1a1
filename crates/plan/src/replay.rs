//! A log as load: which one, and how it is played.
//!
//! The requests of a log and their times are far too many for a plan. So a plan names the log and says what is sent of it and how
//! fast; its rate is the mean of what that comes to, and its duration how long it takes.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What is replayed, as typed but for the speed.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Replay {
    /// The logs, by their names.
    pub logs: Vec<String>,
    /// How many times as fast as it was.
    pub speed: Speed,
    /// From this moment of the log on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Up to this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Only these requests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// Not these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<String>,
    /// Only those that were asked of these hosts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub host: Vec<String>,
    /// What becomes of paths.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rewrite: Vec<String>,
    /// Whether requests that may change something are sent too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub writes: bool,
    /// Whether a client's request waits for the answer to its last.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub per_client_order: bool,
}

/// How many times as fast as it was: `2x`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Speed(f64);

impl Speed {
    /// As it was.
    pub const LOGGED: Self = Self(1.0);

    /// The factor.
    #[must_use]
    pub const fn factor(self) -> f64 {
        self.0
    }
}

impl Default for Speed {
    fn default() -> Self {
        Self::LOGGED
    }
}

/// Beyond these, a second of the log is a tenth of a millisecond or a quarter of an hour.
const SLOWEST: f64 = 0.001;
const FASTEST: f64 = 10_000.0;

impl FromStr for Speed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "max" {
            return Err("is no speed: requests sent as fast as they are answered keep no times, and theirs would say nothing".to_owned());
        }
        let number = text.trim().strip_suffix(['x', '×']).unwrap_or(text.trim()).trim_end();
        match number.parse::<f64>() {
            Ok(factor) if (SLOWEST..=FASTEST).contains(&factor) => Ok(Self(factor)),
            Ok(factor) if factor.is_finite() && factor > 0.0 => Err(format!("is not between {SLOWEST}x and {FASTEST}x")),
            _ => Err("is not a factor such as 2x or 0.5x".to_owned()),
        }
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x", self.0)
    }
}

impl TryFrom<String> for Speed {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse().map_err(|why| format!("the speed '{text}' {why}"))
    }
}

impl From<Speed> for String {
    fn from(speed: Speed) -> Self {
        speed.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_is_a_factor() {
        for (text, factor) in [("2x", 2.0), ("0.5x", 0.5), ("10", 10.0), (" 1.25 x", 1.25)] {
            let speed: Speed = text.parse().unwrap();
            assert_eq!(speed.factor(), factor, "{text}");
            assert_eq!(speed.to_string().parse(), Ok(speed));
        }
        for text in ["", "x", "fast", "0x", "-2x", "nan", "inf", "1e9x", "max", "2xx"] {
            assert!(text.parse::<Speed>().is_err(), "{text}");
        }
    }
}
