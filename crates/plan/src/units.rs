//! Units that live in types: a span of time in nanoseconds, a rate in events a second.
//!
//! `10`, `10s` and `10ms` differ by factors of a thousand, and a bare number in code does not say which it is. So
//! time is [`Nanos`] and load is [`Rate`] everywhere, and what they print they also read.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::carets::carets_under;

/// Nanoseconds: a span, or a moment counted from the start of a run. Serialises as a whole number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// One second.
    pub const SECOND: Self = Self(1_000_000_000);
    /// Longer than any run: some 292 years.
    pub const NEVER: Self = Self(u64::MAX / 2);

    /// That many milliseconds.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// That many microseconds.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(1_000))
    }

    /// That many seconds.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000_000_000))
    }

    /// Whether it is no time at all.
    #[must_use]
    pub const fn is_zero(&self) -> bool {
        self.0 == 0
    }

    /// In seconds, with a fraction.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// In milliseconds, with a fraction.
    #[must_use]
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The span from `earlier` until this moment; nothing if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// This moment and `span` later, or [`Nanos::NEVER`] if that lies beyond it.
    #[must_use]
    pub const fn plus(self, span: Self) -> Self {
        let sum = self.0.saturating_add(span.0);
        if sum > Self::NEVER.0 { Self::NEVER } else { Self(sum) }
    }
}

impl From<Duration> for Nanos {
    fn from(span: Duration) -> Self {
        Self(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Nanos> for Duration {
    fn from(span: Nanos) -> Self {
        Self::from_nanos(span.0)
    }
}

impl Add for Nanos {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

const TIME_UNITS: [(&str, u64); 7] =
    [("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("µs", 1_000), ("ns", 1)];

/// Reads `10s`, `1.5s`, `250ms`, `1m30s`, `2h`; a bare number is seconds, as in curl.
impl FromStr for Nanos {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = || "a time such as 10s, 250ms or 1m30s".to_owned();
        let mut rest = text.trim();
        if rest.is_empty() {
            return Err(format!("is empty; give {}", wanted()));
        }
        let mut total = 0f64;
        let mut whole = 0u64;
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            let (number, after) = rest.split_at(digits);
            let letters = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
            let (unit, after) = after.split_at(letters);
            let unit = unit.trim();
            let factor = match unit {
                "" if total == 0.0 && after.is_empty() => 1_000_000_000,
                _ => TIME_UNITS
                    .iter()
                    .find(|(name, _)| *name == unit)
                    .map(|(_, factor)| *factor)
                    .ok_or_else(|| format!("is not {}", wanted()))?,
            };
            // Whole numbers stay exact; only a fraction passes through floating point.
            if let Ok(count) = number.parse::<u64>() {
                whole = count.checked_mul(factor).and_then(|part| whole.checked_add(part)).ok_or("is longer than loadline can count")?;
            } else {
                let count = number.parse::<f64>().map_err(|_| format!("is not {}", wanted()))?;
                whole = whole.checked_add((count * factor as f64).round() as u64).ok_or("is longer than loadline can count")?;
            }
            total += 1.0;
            rest = after;
        }
        if whole > Self::NEVER.0 {
            return Err("is longer than loadline can count".to_owned());
        }
        Ok(Self(whole))
    }
}

impl Nanos {
    /// Whether a text is a bare number other than 0, which may be of any unit.
    #[must_use]
    pub fn lacks_unit(text: &str) -> bool {
        text.trim().parse::<f64>().is_ok_and(|number| number > 0.0)
    }

    /// Reads a time that has to name its unit, unless it is 0: a bare number is seconds to one tool and milliseconds to the next.
    ///
    /// # Errors
    /// What is wrong with it, as a sentence.
    pub fn with_unit(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if Self::lacks_unit(text) {
            let example = if text.chars().all(|letter| letter.is_ascii_digit() || letter == '.') { text } else { "500" };
            return Err(format!("'{text}' of what? give a time with its unit, such as {example}ms"));
        }
        text.parse().map_err(|why| format!("'{}' {why}", text.escape_debug()))
    }
}

/// Prints whole units, largest first: `1m30s`, `250ms`, `1s500ms`. Reading it back gives the same span.
impl fmt::Display for Nanos {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("0s");
        }
        let mut rest = self.0;
        for (unit, factor) in TIME_UNITS.iter().filter(|(unit, _)| *unit != "µs") {
            let count = rest / factor;
            rest %= factor;
            if count > 0 {
                write!(f, "{count}{unit}")?;
            }
        }
        Ok(())
    }
}

/// Events a second. Finite and not negative. Serialises as a number.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rate(f64);

impl Rate {
    /// That many a second; `None` if negative or not finite.
    #[must_use]
    pub fn per_second(value: f64) -> Option<Self> {
        (value.is_finite() && value >= 0.0).then_some(Self(value))
    }

    /// Events a second.
    #[must_use]
    pub const fn as_per_second(self) -> f64 {
        self.0
    }
}

/// Reads `500/s`, `30/m`, `2.5k/s`, `100/h`; a bare number is a second's.
impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::read(text).ok_or_else(|| format!("{NOT_A_RATE}{}", carets_under(text, text.trim())))
    }
}

/// What is said of what is no rate, after what was typed.
pub(crate) const NOT_A_RATE: &str = "is not a rate such as 500/s or 30/m";

impl Rate {
    /// As typed; `None` if it is no rate.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let (number, per) = match text.split_once('/') {
            None => (text, 1.0),
            Some((number, unit)) => (
                number.trim(),
                match unit.trim() {
                    "s" | "sec" | "second" => 1.0,
                    "m" | "min" | "minute" => 60.0,
                    "h" | "hour" => 3600.0,
                    _ => return None,
                },
            ),
        };
        let (number, factor) = match number.char_indices().last() {
            Some((at, 'k' | 'K')) => (&number[..at], 1e3),
            Some((at, 'M')) => (&number[..at], 1e6),
            _ => (number, 1.0),
        };
        if !number.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return None;
        }
        let value: f64 = number.parse().ok()?;
        Self::per_second(value * factor / per)
    }
}

/// Prints a second's count, `500/s`.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_are_read_as_people_write_them() {
        for (text, nanos) in [
            ("10s", 10_000_000_000),
            ("10", 10_000_000_000),
            ("1.5s", 1_500_000_000),
            ("0.5", 500_000_000),
            ("250ms", 250_000_000),
            ("1m30s", 90_000_000_000),
            ("2h", 7_200_000_000_000),
            ("7us", 7_000),
            ("7µs", 7_000),
            ("3ns", 3),
            (" 4s ", 4_000_000_000),
        ] {
            assert_eq!(text.parse(), Ok(Nanos(nanos)), "{text}");
        }
        for text in ["", "s", "10x", "-1s", "1s2", "ten", "1..5s", "99999999999999h", "10 parsecs", "1e3s"] {
            assert!(text.parse::<Nanos>().is_err(), "{text}");
            assert!(Nanos::with_unit(text).is_err(), "{text}");
        }
    }

    #[test]
    fn rates_are_read_as_people_write_them() {
        for (text, rate) in [("500/s", 500.0), ("30/m", 0.5), ("2.5k/s", 2500.0), ("1M/s", 1e6), ("7", 7.0), ("36/h", 0.01), ("0/s", 0.0)] {
            assert_eq!(text.parse::<Rate>().unwrap().as_per_second(), rate, "{text}");
        }
        for text in ["", "-5/s", "5/x", "inf", "nan", "/s", "1e400"] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_printed_time_reads_back(nanos in 0..u64::MAX / 2) {
            prop_assert_eq!(Nanos(nanos).to_string().parse(), Ok(Nanos(nanos)));
        }

        #[test]
        fn a_printed_rate_reads_back(value in 0.0..1e9f64) {
            let rate = Rate::per_second(value).unwrap();
            prop_assert_eq!(rate.to_string().parse(), Ok(rate));
        }
    }
}
