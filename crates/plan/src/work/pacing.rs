//! A pace: how often users go on at a place, each for itself or together.
//!
//! The rate of a load says how often journeys begin. A pace holds somewhere in them: before one request, or before several that are to come
//! at a rate together, whoever sends them.
//!
//! Invariant: a pace that was read lets at least somebody go on some day.

use std::fmt;
use std::str::FromStr;

use super::{Duration, Think};
use crate::units::{NOT_A_RATE, Rate};
use crate::{Nanos, Timetable};

/// How often users go on at a place.
#[derive(Debug, Clone, PartialEq)]
pub struct Pacing {
    /// From one time to the next, as a [`Pace`].
    pub pace: Duration,
    /// In its place a rate that changes over the load, which users keep together. When it is over, nobody goes on.
    pub rates: Option<Timetable>,
    /// Who keeps it together.
    pub of: PacedUsers,
    /// Whether times that passed while nobody came are made up for; else the next is a pace after whoever came late.
    pub catches_up: bool,
    /// So many users go on at each of its times, where they keep it together.
    pub together: u16,
    /// Places with the same name, and the same users, keep one pace; without a name it is that of its place alone.
    pub name: Option<String>,
}

impl Pacing {
    /// No more users go on at the same time of a pace.
    pub const TOGETHER_MAX: u16 = 1000;

    /// At this rate, which these users keep together.
    #[must_use]
    pub fn at(rates: Timetable, of: PacedUsers) -> Self {
        Self { rates: Some(rates), of, ..Self::each(Duration::Drawn(Think::Fixed(Nanos::ZERO))) }
    }

    /// Of each user for itself, at one place.
    #[must_use]
    pub const fn each(pace: Duration) -> Self {
        Self { pace, rates: None, of: PacedUsers::Each, catches_up: false, together: 1, name: None }
    }
}

/// Who keeps a pace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PacedUsers {
    /// Each user one of its own.
    Each,
    /// The users of a population together.
    Population,
    /// All users of the run together.
    All,
}

impl PacedUsers {
    const ALL: [(Self, &str); 3] = [(Self::Each, "each user"), (Self::Population, "population"), (Self::All, "all users")];
}

/// Reads `each user`, `population` and `all users`.
impl FromStr for PacedUsers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|(_, name)| *name == text.trim());
        found.map(|(users, _)| users).ok_or_else(|| format!("'{}' is neither each user, population nor all users", text.escape_debug()))
    }
}

/// Prints what reads back as the same.
impl fmt::Display for PacedUsers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Self::ALL.into_iter().filter(|(users, _)| users == self).try_for_each(|(_, name)| f.write_str(name))
    }
}

/// The time from one to the next, which may be written as a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace(pub Think);

/// Reads what a [`Think`] is, `120/m`, and `exponential 120/m` for random times at that rate.
impl FromStr for Pace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !text.contains('/') {
            return text.parse().map(Self);
        }
        let text = text.trim();
        let (rate, of): (&str, fn(Nanos) -> Think) = match text.strip_prefix("exponential ") {
            Some(rate) => (rate, Think::Exponential),
            None => (text, Think::Fixed),
        };
        let rate = Rate::read(rate).ok_or_else(|| format!("'{}' {NOT_A_RATE}", text.escape_debug()))?;
        let between = (1e9 / rate.as_per_second()).round();
        if between >= u64::MAX as f64 {
            return Err(format!("'{}' lets nobody go on", text.escape_debug()));
        }
        Ok(Self(of(Nanos(between as u64))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_the_time_from_one_to_the_next() {
        let read = |text: &str| text.parse::<Pace>().map(|pace| pace.0);
        assert_eq!(read("120/min"), Ok(Think::Fixed(Nanos::from_millis(500))));
        assert_eq!(read("exponential 4/s"), Ok(Think::Exponential(Nanos::from_millis(250))));
        assert_eq!(read("1s..3s"), Ok(Think::Uniform(Nanos::SECOND, Nanos::from_secs(3))));
        assert!(read("0/s").unwrap_err().contains("lets nobody go on"));
        assert!(read("2/week").unwrap_err().contains("is not a rate such as"));
        assert!(read("10").is_err());
    }

    #[test]
    fn users_are_read_as_they_are_printed() {
        for (users, name) in PacedUsers::ALL {
            assert_eq!((name.parse(), users.to_string().as_str()), (Ok(users), name));
        }
        assert!("all".parse::<PacedUsers>().is_err());
    }
}
