//! How dates and times are written, and days of the calendar.
//!
//! Servers want `01.03.2026`, `Mar 1, 2026` or `20260301123005`, and nobody lists all of them. So a form is written letter by letter, with
//! the letters that `strftime` has in most languages; those of one language alone (Java's `dd.MM.yyyy`) mean something else elsewhere.
//! A shift says how long before or after. Times are UTC.
//!
//! Invariant: a form that was read can be written for every moment, and printing what was read and reading it again gives the same.

use std::fmt;
use std::str::FromStr;

use super::Moment;

/// Letters that a form may have behind `%`; those of numbers also behind `%-`, which leaves the zeros before a number out.
const LETTERS: &str = "YymdejHIMSpaAbBuszFT";
const NUMBERS: &str = "mdejHIMSy";

/// How a moment is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimeForm {
    /// In one of the forms that have a name.
    Usual(Moment),
    /// In this one.
    Written(Form),
}

/// A form of dates and times, such as `%d.%m.%Y %H:%M`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form(String);

impl Form {
    /// Days as `2026-03-01`.
    #[must_use]
    pub fn of_days() -> Self {
        Self("%Y-%m-%d".to_owned())
    }

    /// As it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl FromStr for Form {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.split('%');
        parts.next();
        let mut has_part = false;
        // Behind each sign the next part begins; two of them are one that is meant.
        while let Some(part) = parts.next() {
            let mut letters = part.chars();
            let is_known = match letters.next() {
                None => {
                    let is_sign = parts.next().is_some();
                    if is_sign {
                        continue;
                    }
                    false
                }
                Some('-') => letters.next().is_some_and(|letter| NUMBERS.contains(letter)),
                Some('3' | '6' | '9') => letters.next() == Some('f'),
                Some(letter) => LETTERS.contains(letter),
            };
            if !is_known {
                let shown: String = part.chars().take(2).collect();
                return Err(format!("'%{shown}' means nothing in a form of times"));
            }
            has_part = true;
        }
        if has_part { Ok(Self(text.to_owned())) } else { Err("it has no part of a time, such as %Y".to_owned()) }
    }
}

/// A day of the Gregorian calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day {
    /// From 1 to 9999.
    pub year: i16,
    /// From 1 to 12.
    pub month: i8,
    /// From 1 to what the month has.
    pub day: i8,
}

impl FromStr for Day {
    type Err = String;

    /// Reads `2026-03-01`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{}' is no day such as 2026-03-01", text.escape_debug());
        let mut parts =
            text.split('-').map(|part| part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse::<i16>().ok()).flatten());
        let [Some(Some(year)), Some(Some(month)), Some(Some(day)), None] = std::array::from_fn(|_| parts.next()) else {
            return Err(wrong());
        };
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = match month {
            4 | 6 | 9 | 11 => 30,
            2 if is_leap => 29,
            2 => 28,
            _ => 31,
        };
        if !(1..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=days).contains(&day) {
            return Err(wrong());
        }
        Ok(Self { year, month: month as i8, day: day as i8 })
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// Units of a shift, and how many seconds they have.
const UNITS: [(&str, i64); 5] = [("w", 604_800), ("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)];
/// A hundred years.
const SHIFT_SECONDS_MAX: i64 = 3_155_760_000;

/// The seconds of a shift such as `+1d` or `-90m`; nothing if it is none.
pub(super) fn shift_seconds(text: &str) -> Option<i64> {
    let (number, seconds) = UNITS.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, seconds)))?;
    let digits = number.strip_prefix(['+', '-'])?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let shift = number.parse::<i64>().ok().filter(|_| is_number)?.checked_mul(*seconds)?;
    (shift.abs() <= SHIFT_SECONDS_MAX).then_some(shift)
}

/// A shift as it would be typed, in the largest unit of which it is a whole number.
pub(super) fn shift_text(seconds: i64) -> String {
    let (unit, of) = UNITS.into_iter().find(|(_, of)| seconds % of == 0).unwrap_or(("s", 1));
    format!("{:+}{unit}", seconds / of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read_letter_by_letter() {
        for form in ["%Y-%m-%d", "%d.%m.%y %H:%M:%S.%3f", "100%% %-d/%-m", "%s", "%%%Y"] {
            assert_eq!(form.parse::<Form>().map(|form| form.text().to_owned()), Ok(form.to_owned()));
        }
        for (form, told) in [
            ("%Q", "'%Q' means nothing"),
            ("%Y%", "'%' means nothing"),
            ("%-a", "'%-a'"),
            ("%3S", "'%3S'"),
            ("", "no part"),
            ("a%%b", "no part"),
        ] {
            assert!(form.parse::<Form>().unwrap_err().contains(told), "{form}: {:?}", form.parse::<Form>());
        }
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        for day in ["2024-02-29", "1999-12-31", "0001-01-01"] {
            assert_eq!(day.parse::<Day>().unwrap().to_string(), day);
        }
        for none in [
            "2023-02-29",
            "1900-02-29",
            "2024-04-31",
            "2024-13-01",
            "2024-1",
            "2024-01-01-01",
            "a-b-c",
            "-2024-01-01",
            "0000-01-01",
            "2024-+1-01",
        ] {
            assert!(none.parse::<Day>().is_err(), "{none}");
        }
        assert!("2024-02-01".parse::<Day>().unwrap() < "2024-10-01".parse::<Day>().unwrap());
    }

    #[test]
    fn shifts_read_back() {
        for (text, seconds, printed) in
            [("+1d", 86_400, "+1d"), ("-90m", -5400, "-90m"), ("+24h", 86_400, "+1d"), ("-7d", -604_800, "-1w"), ("+5s", 5, "+5s")]
        {
            assert_eq!(shift_seconds(text), Some(seconds), "{text}");
            assert_eq!(shift_text(seconds), printed);
        }
        for none in ["1d", "+d", "+1", "+1y", "+-1d", "+99999999999999w", "+1.5h", "-5300w0"] {
            assert_eq!(shift_seconds(none), None, "{none}");
        }
    }
}
