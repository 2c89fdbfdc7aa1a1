//! Rates and numbers of users over time, in stages, and the moments that follow: when the k-th arrival falls due, from when to when
//! the k-th user is there.
//!
//! A ticker that sleeps between sends loses whatever its sleeping is late, and a per-second budget sends in bursts.
//! Instead the timetable is a function: the expected number of arrivals until a time, Λ(t), and its inverse. In a
//! stage that goes from rate a to b over T,
//!
//! ```text
//! Λ(t) = a·t + (b − a)·t²/(2T)        t(x) = 2x / (a + √(a² + 2·(b − a)·x/T))
//! ```
//!
//! the second form being the stable solution of the quadratic. Users likewise are no list of starts and ends: of n(t) users at a
//! time, the k-th (from 0) is there while n(t) > k, so the one that came last goes first. No clock is known here.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use crate::carets::carets_under;
use crate::units::NOT_A_RATE;
use crate::{Nanos, Rate};

/// A rate or a number of users that goes evenly from one value to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage<V = Rate> {
    /// The value at the beginning.
    pub from: V,
    /// The value at the end; the same for a constant stage.
    pub to: V,
    /// How long it takes. `None` only in stages as typed, and of constant users: as long as the run.
    pub length: Option<Nanos>,
}

/// What stages are of: rates, or numbers of users.
pub trait Amount: Copy + PartialEq + PartialOrd + fmt::Display {
    /// What is said of a text that is none, with examples of one and of stages.
    const NOT_ONE: &str;
    /// What is said of a value within stages that is none.
    const NOT_A_VALUE: &str;
    /// A stage with its length, as an example.
    const STAGE: &str;

    /// Reads one.
    fn read(text: &str) -> Option<Self>;

    /// Reads one that stands alone, for the whole run.
    ///
    /// # Errors
    /// If it is none, in words that follow the text.
    fn read_alone(text: &str) -> Result<Self, String> {
        Self::read(text).ok_or_else(|| format!("{}{}", Self::NOT_A_VALUE, carets_under(text, text)))
    }

    /// As a number: arrivals a second, or users.
    fn number(self) -> f64;

    /// The nearest to a number that is not below 0.
    fn nearest(number: f64) -> Self;
}

impl Amount for Rate {
    const NOT_ONE: &str = "is not a rate such as '500/s' or stages such as '0/s to 500/s for 1m, 500/s for 5m'";
    const NOT_A_VALUE: &str = NOT_A_RATE;
    const STAGE: &str = "500/s for 1m";

    fn read(text: &str) -> Option<Self> {
        Self::read(text)
    }

    fn number(self) -> f64 {
        self.as_per_second()
    }

    fn nearest(number: f64) -> Self {
        Self::per_second(number).unwrap_or(Self::per_second(0.0).expect("0 is a rate"))
    }
}

impl Amount for u32 {
    const NOT_ONE: &str = "is not a number of users such as 50 or stages such as '0 to 50 for 1m, 50 for 5m'";
    const NOT_A_VALUE: &str = "is not a number of users such as 50";
    const STAGE: &str = "50 for 1m";

    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn read_alone(text: &str) -> Result<Self, String> {
        text.parse::<NonZeroU32>().map(NonZeroU32::get).map_err(|why| why.to_string())
    }

    fn number(self) -> f64 {
        self.into()
    }

    fn nearest(number: f64) -> Self {
        number.round() as Self
    }
}

impl<V: Amount> Stage<V> {
    /// A constant value.
    #[must_use]
    pub const fn constant(value: V, length: Option<Nanos>) -> Self {
        Self { from: value, to: value, length }
    }
}

impl Stage {
    /// How many arrivals it holds.
    #[must_use]
    pub fn arrivals(&self) -> f64 {
        (self.from.as_per_second() + self.to.as_per_second()) / 2.0 * self.length.unwrap_or(Nanos::NEVER).as_secs_f64()
    }

    fn arrivals_until(&self, secs: f64) -> f64 {
        let (from, to) = (self.from.as_per_second(), self.to.as_per_second());
        let length = self.length.unwrap_or(Nanos::NEVER).as_secs_f64();
        from * secs + (to - from) * secs * secs / (2.0 * length)
    }

    /// Seconds into the stage at which `x` arrivals are reached.
    fn reached_at(&self, x: f64) -> f64 {
        let (from, to) = (self.from.as_per_second(), self.to.as_per_second());
        let length = self.length.unwrap_or(Nanos::NEVER).as_secs_f64();
        let root = (from * from + 2.0 * (to - from) * x / length).max(0.0).sqrt();
        if from + root == 0.0 { 0.0 } else { 2.0 * x / (from + root) }
    }
}

/// Stages one after another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stages<V> {
    stages: Vec<Stage<V>>,
}

/// Rates over time.
pub type Timetable = Stages<Rate>;

/// How many users there are, over time.
pub type Users = Stages<u32>;

impl<V: Amount> Stages<V> {
    /// From its stages.
    #[must_use]
    pub const fn new(stages: Vec<Stage<V>>) -> Self {
        Self { stages }
    }

    /// Its stages.
    #[must_use]
    pub fn stages(&self) -> &[Stage<V>] {
        &self.stages
    }

    /// The same with every value multiplied; one that is above 0 stays at least `least`.
    #[must_use]
    pub fn scaled(&self, factor: f64, least: f64) -> Self {
        let value = |value: V| if value.number() > 0.0 { V::nearest((value.number() * factor).max(least)) } else { value };
        Self::new(self.stages.iter().map(|stage| Stage { from: value(stage.from), to: value(stage.to), ..*stage }).collect())
    }

    /// Whether its value never changes.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.stages.iter().all(|stage| stage.from == stage.to && stage.to == self.stages[0].to)
    }

    /// How long it takes; `None` if its last stage has no end of its own.
    #[must_use]
    pub fn length(&self) -> Option<Nanos> {
        self.stages.iter().try_fold(Nanos::ZERO, |sum, stage| stage.length.map(|length| sum.plus(length)))
    }

    /// The same without an end of its own where it ends with a value that does not change.
    #[must_use]
    pub fn open_ended(&self) -> Self {
        let mut stages = self.stages.clone();
        if let Some(last) = stages.last_mut().filter(|last| last.from == last.to) {
            last.length = None;
        }
        Self { stages }
    }

    /// As much of it as lies before a moment.
    #[must_use]
    pub fn until(&self, end: Nanos) -> Self {
        let mut left = end;
        let mut stages = Vec::new();
        for stage in &self.stages {
            let length = stage.length.unwrap_or(Nanos::NEVER);
            if left == Nanos::ZERO {
                break;
            }
            stages.push(if length <= left { *stage } else { Stage { to: self.at(end), length: Some(left), ..*stage } });
            left = left.since(length);
        }
        Self { stages }
    }

    /// The highest value in it.
    #[must_use]
    pub fn peak(&self) -> V {
        self.stages
            .iter()
            .flat_map(|stage| [stage.from, stage.to])
            .fold(V::nearest(0.0), |max, value| if value > max { value } else { max })
    }

    /// The value at a moment; the last one after the end.
    #[must_use]
    pub fn at(&self, at: Nanos) -> V {
        let mut begin = Nanos::ZERO;
        for stage in &self.stages {
            let length = stage.length.unwrap_or(Nanos::NEVER);
            if at.since(begin) < length {
                let part = at.since(begin).as_secs_f64() / length.as_secs_f64();
                let (from, to) = (stage.from.number(), stage.to.number());
                return V::nearest(from + (to - from) * part);
            }
            begin = begin.plus(length);
        }
        self.stages.last().map_or(self.peak(), |stage| stage.to)
    }

    /// The same with a time before it, in which its first value stands.
    #[must_use]
    pub fn after(&self, time: Nanos) -> Self {
        let first = (time > Nanos::ZERO).then(|| Stage::constant(self.at(Nanos::ZERO), Some(time)));
        Self { stages: first.into_iter().chain(self.stages.iter().copied()).collect() }
    }
}

impl From<NonZeroU32> for Users {
    fn from(users: NonZeroU32) -> Self {
        Self { stages: vec![Stage::constant(users.get(), None)] }
    }
}

impl Users {
    /// Whether they are so many for the whole run, whatever ends it.
    #[must_use]
    pub fn is_one_number(&self) -> bool {
        matches!(self.stages.as_slice(), [only] if only.from == only.to && only.length.is_none())
    }

    /// The most users there are at once, of stages that have some.
    #[must_use]
    pub fn most(&self) -> NonZeroU32 {
        NonZeroU32::new(self.peak()).unwrap_or(NonZeroU32::MIN)
    }

    /// From when to when the `k`-th user (from 0) is there, in order: more than once if it goes and comes again.
    #[must_use]
    pub fn presence(&self, k: u64) -> Vec<(Nanos, Nanos)> {
        let mut spans: Vec<(Nanos, Nanos)> = Vec::new();
        let mut begin = Nanos::ZERO;
        let k = k as f64;
        for stage in &self.stages {
            let length = stage.length.unwrap_or(Nanos::NEVER);
            let end = begin.plus(length);
            let (from, to) = (stage.from.number(), stage.to.number());
            let crossing = || begin.plus(Nanos((length.0 as f64 * (k - from) / (to - from)).round() as u64));
            let (first, last) = match (from > k, to > k) {
                (true, true) => (begin, end),
                (false, true) => (crossing(), end),
                (true, false) => (begin, crossing()),
                (false, false) => (begin, begin),
            };
            match spans.last_mut() {
                Some((_, until)) if *until == first => *until = (*until).max(last),
                _ if first < last => spans.push((first, last)),
                _ => {}
            }
            begin = end;
        }
        spans
    }
}

impl Timetable {
    /// A constant rate for that long.
    #[must_use]
    pub fn constant(rate: Rate, length: Nanos) -> Self {
        Self { stages: vec![Stage::constant(rate, Some(length))] }
    }

    /// Λ(t): how many arrivals are expected until a moment.
    #[must_use]
    pub fn expected_until(&self, at: Nanos) -> f64 {
        let mut begin = Nanos::ZERO;
        let mut sum = 0.0;
        for stage in &self.stages {
            let length = stage.length.unwrap_or(Nanos::NEVER);
            let inside = at.since(begin).min(length);
            sum += stage.arrivals_until(inside.as_secs_f64());
            begin = begin.plus(length);
            if at < begin {
                break;
            }
        }
        sum
    }

    /// The inverse of [`Timetable::expected_until`]: when `x` arrivals are reached; `None` after the end.
    #[must_use]
    pub fn reached_at(&self, mut x: f64) -> Option<Nanos> {
        let mut begin = Nanos::ZERO;
        for stage in &self.stages {
            let held = stage.arrivals();
            // Half a nanosecond's worth of rounding must not push an arrival out of its stage, nor in twice:
            // an arrival exactly on the border belongs to the next stage.
            if x < held - held.max(1.0) * 1e-12 {
                let secs = stage.reached_at(x);
                return Some(begin.plus(Nanos((secs * 1e9).round() as u64)));
            }
            x = (x - held).max(0.0);
            begin = begin.plus(stage.length?);
        }
        None
    }
}

/// Reads `500/s` or stages: `0/s to 500/s for 1m, 500/s for 5m`, or the same of users: `50`. Only the last stage may lack its length.
impl<V: Amount> FromStr for Stages<V> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if !text.contains([' ', ',', '\t']) {
            return V::read_alone(text).map(|value| Self { stages: vec![Stage::constant(value, None)] });
        }
        let parts: Vec<&str> = text.split(',').collect();
        let mut stages = Vec::with_capacity(parts.len());
        for (place, part) in parts.iter().enumerate() {
            let words: Vec<&str> = part.split_whitespace().collect();
            let trouble = |what: String, at: &str| {
                let stage = if parts.len() > 1 { format!("is wrong in stage {}: ", place + 1) } else { String::new() };
                format!("{stage}{what}{}", carets_under(text, at))
            };
            let (rates, length) = match words.as_slice() {
                [rates @ .., "for", length] => (rates, Some(length.parse().map_err(|why| trouble(format!("'{length}' {why}"), length))?)),
                rates => (rates, None),
            };
            if length.is_none() && place + 1 < parts.len() {
                return Err(trouble(format!("it needs its length, as in '{}'", V::STAGE), part.trim()));
            }
            let (from, to): (&str, &str) = match rates {
                [rate] => (rate, rate),
                [from, "to", to] => (from, to),
                _ => {
                    // From the first word on that does not belong there.
                    let odd = words.iter().find(|word| V::read(word).is_none() && !["to", "for"].contains(word));
                    let at = odd.map_or(part.trim(), |word| &part[word.as_ptr() as usize - part.as_ptr() as usize..]);
                    return Err(trouble(V::NOT_ONE.to_owned(), at.trim_end()));
                }
            };
            let read = |rate: &str| {
                let what = || if rate == text { V::NOT_A_VALUE.to_owned() } else { format!("'{rate}' {}", V::NOT_A_VALUE) };
                V::read(rate).ok_or_else(|| trouble(what(), rate))
            };
            stages.push(Stage { from: read(from)?, to: read(to)?, length });
        }
        Ok(Self { stages })
    }
}

impl<V: Amount> fmt::Display for Stages<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, stage) in self.stages.iter().enumerate() {
            if place > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{}", stage.from)?;
            if stage.from != stage.to {
                write!(f, " to {}", stage.to)?;
            }
            if let Some(length) = stage.length {
                write!(f, " for {length}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn table(text: &str) -> Timetable {
        text.parse().unwrap()
    }

    #[test]
    fn a_constant_rate_is_reached_evenly() {
        let table = table("1000/s for 10s");
        assert_eq!(table.reached_at(0.0), Some(Nanos::ZERO));
        assert_eq!(table.reached_at(1.0), Some(Nanos::from_millis(1)));
        assert_eq!(table.reached_at(9_999.0), Some(Nanos::from_millis(9_999)));
        assert_eq!(table.reached_at(10_000.0), None);
    }

    #[test]
    fn a_ramp_holds_half_of_its_end_rate() {
        let table = table("0/s to 500/s for 1m, 500/s for 5m");
        assert_eq!(table.length(), Some(Nanos::from_secs(360)));
        assert!((table.expected_until(Nanos::from_secs(60)) - 15_000.0).abs() < 1e-6);
        assert!((table.expected_until(Nanos::from_secs(360)) - 165_000.0).abs() < 1e-6);
        assert_eq!(table.reached_at(15_000.0), Some(Nanos::from_secs(60)));
        assert_eq!(table.at(Nanos::from_secs(30)).as_per_second(), 250.0);
    }

    #[test]
    fn a_pause_in_the_timetable_is_skipped_over() {
        let table = table("10/s for 1s, 0/s for 5s, 10/s for 1s");
        assert_eq!(table.reached_at(9.0), Some(Nanos::from_millis(900)));
        assert_eq!(table.reached_at(10.0), Some(Nanos::from_secs(6)));
        assert_eq!(table.reached_at(20.0), None);
    }

    #[test]
    fn a_mistake_has_a_caret_under_it() {
        for (text, shown) in [
            ("fast", "is not a rate such as 500/s or 30/m\n  fast\n  ^^^^"),
            (
                "10/s for 1m, 5x/s for 1m",
                "is wrong in stage 2: '5x/s' is not a rate such as 500/s or 30/m\n  10/s for 1m, 5x/s for 1m\n               ^^^^",
            ),
            ("1/s for soon", "'soon' is not a time such as 10s, 250ms or 1m30s\n  1/s for soon\n          ^^^^"),
            (
                "1/s until 1m",
                "is not a rate such as '500/s' or stages such as '0/s to 500/s for 1m, 500/s for 5m'\n  1/s until 1m\n      ^^^^^^^^",
            ),
            ("5/s, 6/s for 1m", "is wrong in stage 1: it needs its length, as in '500/s for 1m'\n  5/s, 6/s for 1m\n  ^^^"),
        ] {
            assert_eq!(text.parse::<Timetable>().unwrap_err(), shown);
        }
        assert!("1/s for 1m,".parse::<Timetable>().unwrap_err().ends_with("\n  1/s for 1m,\n             ^"));
    }

    #[test]
    fn users_come_one_by_one_and_the_last_goes_first() {
        let users: Users = "0 to 4 for 8s, 4 for 2s, 4 to 2 for 2s, 2 for 8s".parse().unwrap();
        let secs = |from, until| (Nanos::from_secs(from), Nanos::from_secs(until));
        let spans: Vec<_> = (0..5).map(|k| users.presence(k)).collect();
        assert_eq!(spans, [vec![secs(0, 20)], vec![secs(2, 20)], vec![secs(4, 12)], vec![secs(6, 11)], vec![]]);
        let again: Users = "2 for 1s, 1 for 1s, 2 for 1s".parse().unwrap();
        assert_eq!(again.presence(1), [secs(0, 1), secs(2, 3)]);
        assert_eq!(Users::from(NonZeroU32::MIN).presence(0), [(Nanos::ZERO, Nanos::NEVER)]);
    }

    #[test]
    fn mistakes_about_users_are_told_as_such() {
        for (text, shown) in [
            ("many", "invalid digit found in string"),
            (
                "0 to 5 for 1m, 5/s for 1m",
                "is wrong in stage 2: '5/s' is not a number of users such as 50\n  0 to 5 for 1m, 5/s for 1m\n                 ^^^",
            ),
            ("0 to 5, 5 for 1m", "is wrong in stage 1: it needs its length, as in '50 for 1m'\n  0 to 5, 5 for 1m\n  ^^^^^^"),
        ] {
            assert_eq!(text.parse::<Users>().unwrap_err(), shown);
        }
    }

    #[test]
    fn mistakes_name_the_stage() {
        for (text, part) in [
            ("500/s, 600/s for 1m", "stage 1: it needs its length"),
            ("0/s to 500/s for soon", "'soon' is not a time"),
            ("500/s for 1m, many/s for 1m", "stage 2: 'many/s' is not a rate"),
            ("500/s until 1m", "is not a rate such as"),
            ("fast", "is not a rate such as"),
        ] {
            let why = text.parse::<Timetable>().unwrap_err();
            assert!(why.contains(part), "{text}: {why}");
        }
    }

    proptest! {
        #[test]
        fn a_printed_timetable_reads_back(stages in prop::collection::vec((0u32..5000, 0u32..5000, 1u64..10_000), 1..5)) {
            let table = Timetable::new(stages.into_iter().map(|(from, to, millis)| Stage {
                from: Rate::per_second(from.into()).unwrap(),
                to: Rate::per_second(to.into()).unwrap(),
                length: Some(Nanos::from_millis(millis)),
            }).collect());
            prop_assert_eq!(table.to_string().parse(), Ok(table));
        }

        #[test]
        fn as_many_users_are_there_as_the_stages_say(stages in prop::collection::vec((0u32..9, 0u32..9, 1u64..10_000), 1..5), at in 0..40_000u64) {
            let users = Users::new(stages.into_iter().map(|(from, to, millis)| Stage { from, to, length: Some(Nanos::from_millis(millis)) }).collect());
            let at = Nanos::from_millis(at);
            prop_assume!(users.length().is_some_and(|length| at < length));
            let there = (0..9).filter(|k| users.presence(*k).iter().any(|(from, until)| *from <= at && at < *until)).count();
            prop_assert!((there as f64 - f64::from(users.at(at))).abs() <= 1.0, "{} of {}", there, users);
        }

        #[test]
        fn reaching_is_the_inverse_of_expecting(from in 0u32..5000, to in 1u32..5000, part in 0.0..0.999f64) {
            let table = Timetable::new(vec![Stage {
                from: Rate::per_second(from.into()).unwrap(), to: Rate::per_second(to.into()).unwrap(), length: Some(Nanos::from_secs(60)),
            }]);
            let x = part * table.expected_until(Nanos::from_secs(60));
            let back = table.expected_until(table.reached_at(x).unwrap());
            prop_assert!((back - x).abs() < 1e-3, "{} against {}", back, x);
        }
    }
}
