//! How much: so many users, or a timetable of arrivals.
//!
//! *Closed* load is a number of users (fixed, or in stages), each sending when its last answer came (and its pause is over): it finds
//! the highest throughput, and slows down with the server. *Open* load arrives at its own rate, whether the server keeps
//! up or not: it shows what independent users feel. Mixing the two up is the most common error of load tests, so they
//! are two cases of one type, never a flag.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use crate::{Nanos, Population, Random, Timetable, Users};

/// How much load, and of which kind.
#[derive(Debug, Clone, PartialEq)]
pub enum Load {
    /// So many users, each sends when its last answer came.
    Closed {
        /// How many users, warm-up not included; each keeps one connection. A constant number has no length.
        users: Users,
        /// What a user waits between an answer and its next request.
        pause: Option<Pause>,
    },
    /// Requests arrive by a timetable, answered or not.
    Open {
        /// The rates, warm-up not included. Its length is the run's, or without end if a number of requests ends it.
        timetable: Timetable,
        /// How arrivals stand within the rate.
        spacing: Spacing,
        /// At most so many connections; a request that finds none free waits, and the wait counts.
        connections_max: NonZeroU32,
    },
    /// Several loads side by side.
    Mixed(Vec<Population>),
}

impl Load {
    /// Whether requests of it, or of one of its populations, arrive by a timetable.
    #[must_use]
    pub fn is_open(&self) -> bool {
        match self {
            Self::Closed { .. } => false,
            Self::Open { .. } => true,
            Self::Mixed(populations) => populations.iter().any(|population| population.load.is_open()),
        }
    }

    /// Whether all of it is users who wait for their answers.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        !self.is_open()
    }

    /// How many connections it opens at once at most.
    #[must_use]
    pub fn connections_max(&self) -> NonZeroU32 {
        match self {
            Self::Closed { users, .. } => users.most(),
            Self::Open { connections_max, .. } => *connections_max,
            Self::Mixed(populations) => {
                let sum = populations.iter().fold(0, |sum: u32, population| sum.saturating_add(population.load.connections_max().get()));
                NonZeroU32::new(sum).unwrap_or(NonZeroU32::MIN)
            }
        }
    }
}

/// What is loaded but not measured, at the beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warmup {
    /// So long, before the measured span.
    Lasting(Nanos),
    /// Whatever turns out not to be like the rest of the run: cut from the measured span when that is over.
    Found,
}

impl FromStr for Warmup {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "auto" => Ok(Self::Found),
            time => {
                time.parse().map(Self::Lasting).map_err(|why: String| why.replace("a time such as 10s", "auto, nor a time such as 10s"))
            }
        }
    }
}

impl fmt::Display for Warmup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lasting(time) => time.fmt(f),
            Self::Found => f.write_str("auto"),
        }
    }
}

/// How arrivals stand within their rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spacing {
    /// As independent users arrive: exponential gaps.
    Poisson,
    /// At equal distances, which flatters the server.
    Even,
}

impl FromStr for Spacing {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "poisson" => Ok(Self::Poisson),
            "even" => Ok(Self::Even),
            _ => Err("is neither 'poisson' nor 'even'".to_owned()),
        }
    }
}

impl fmt::Display for Spacing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Poisson => "poisson",
            Self::Even => "even",
        })
    }
}

/// What a user waits between an answer and its next request: fixed, or uniform in a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    low: Nanos,
    high: Nanos,
}

impl Pause {
    /// One pause.
    pub fn draw(self, random: &mut Random) -> Nanos {
        Nanos(random.between(self.low.0, self.high.0))
    }

    /// The mean pause.
    #[must_use]
    pub const fn mean(self) -> Nanos {
        Nanos(self.low.0 / 2 + self.high.0 / 2)
    }
}

/// Reads `200ms`, or a range `100ms..300ms`.
impl FromStr for Pause {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read =
            |part: &str| part.parse::<Nanos>().map_err(|_| "is neither a time such as 200ms nor a range such as 100ms..300ms".to_owned());
        let (low, high) = match text.split_once("..") {
            Some((low, high)) => (read(low)?, read(high)?),
            None => (read(text)?, read(text)?),
        };
        if low > high {
            return Err("is a range that ends before it begins".to_owned());
        }
        Ok(Self { low, high })
    }
}

impl fmt::Display for Pause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.low)?;
        if self.low != self.high { write!(f, "..{}", self.high) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_a_time_or_a_range() {
        let pause: Pause = "100ms..300ms".parse().unwrap();
        let mut random = Random::new(3, 3);
        for _ in 0..1000 {
            let drawn = pause.draw(&mut random);
            assert!(Nanos::from_millis(100) <= drawn && drawn <= Nanos::from_millis(300));
        }
        assert_eq!("50ms".parse::<Pause>().unwrap().draw(&mut random), Nanos::from_millis(50));
        assert_eq!(pause.to_string().parse(), Ok(pause));
        assert!("300ms..100ms".parse::<Pause>().is_err());
        assert!("long".parse::<Pause>().is_err());
    }
}
