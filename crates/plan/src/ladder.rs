//! The loads of a sweep: a ladder of concurrency levels, or of rates.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use clap::{ArgAction, Args};
use serde::{Deserialize, Serialize};

use crate::setting::*;
use crate::{Nanos, PlanError, PlanErrors, Rate, Setting};

/// Every setting of a sweep besides those of one load, as typed.
#[derive(Debug, Clone, Default, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LadderDraft {
    /// Concurrency levels, such as 1,10,100; 'wrktest' is 200 to 50,000 as in that script [default: 1 2 5 … 5000]
    #[arg(long, value_name = "N,N,…", help_heading = "Sweep")]
    pub levels: Option<Setting<Levels>>,

    /// Climb over rates instead, in open load, such as 100/s,200/s,500/s
    #[arg(long, value_name = "RATE,…", help_heading = "Sweep")]
    pub rates: Option<Setting<Rates>>,

    /// Choose the levels of users while measuring, where they say most; at most N of them [default N: 12]
    #[arg(
        long,
        value_name = "N",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = ADAPTIVE_DEFAULT,
        help_heading = "Sweep"
    )]
    pub adaptive: Option<Setting<NonZeroU32>>,

    /// Measure every level N times, in random order after the first [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Sweep")]
    pub repeat: Option<Setting<NonZeroU32>>,

    /// Rest for this long between levels [default: 500ms]
    #[arg(long, value_name = "TIME", help_heading = "Sweep")]
    pub cooldown: Option<Setting<Nanos>>,

    /// Measure every level, even when nothing is gained any more
    #[arg(long, action = ArgAction::SetTrue, help_heading = "Sweep")]
    pub all_levels: bool,
}

/// A list of concurrency levels.
#[derive(Debug, Clone, PartialEq)]
pub struct Levels(Vec<NonZeroU32>);

/// A list of rates.
#[derive(Debug, Clone, PartialEq)]
pub struct Rates(Vec<Rate>);

/// What is varied, and one value of it.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub enum Level {
    /// So many users at once (closed load).
    Users(NonZeroU32),
    /// So many arrivals a second (open load).
    Offered(Rate),
}

impl Level {
    /// As a number: users, or arrivals a second.
    #[must_use]
    pub fn value(self) -> f64 {
        match self {
            Self::Users(users) => users.get().into(),
            Self::Offered(rate) => rate.as_per_second(),
        }
    }
}

/// Whether the sweep ends when nothing is gained any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rung {
    /// It ends as soon as a stop rule holds.
    WhileItPays,
    /// Every level is measured.
    Every,
}

/// Who chooses the levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// They are measured as they stand.
    Listed,
    /// The measurements: the levels only say how far the search may go.
    Adaptive {
        /// At most so many.
        levels_max: NonZeroU32,
    },
}

/// The sweep, decided.
#[derive(Debug, Clone, PartialEq)]
pub struct Ladder {
    /// Ascending, without repetition.
    pub levels: Vec<Level>,
    /// Who chooses among them.
    pub choice: Choice,
    /// How often each is measured.
    pub repeat: NonZeroU32,
    /// The rest between two measurements.
    pub cooldown: Nanos,
    /// When it ends.
    pub climb: Rung,
}

/// The default levels: 1-2-5 steps, as far as most servers go.
const LEVELS_DEFAULT: [u32; 12] = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];
/// The levels of the well-known sweep script around wrk.
const WRKTEST_LEVELS: [u32; 10] = [200, 500, 1000, 3000, 5000, 10_000, 15_000, 20_000, 25_000, 50_000];
/// The highest number of users that an adaptive sweep tries: about as far as the default levels go.
const ADAPTIVE_USERS_MAX: u32 = 4096;
/// What `--adaptive` alone means: eight doublings to see the whole curve, and four levels where it bends.
const ADAPTIVE_DEFAULT: &str = "12";
/// A model of the curve takes six levels (docs/measurement.md §2.1).
const ADAPTIVE_MIN: u32 = 6;
const COOLDOWN_DEFAULT: Nanos = Nanos::from_millis(500);

/// As typed, with commas between.
impl fmt::Display for Levels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        listed(&self.0, f)
    }
}

/// As typed, with commas between.
impl fmt::Display for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        listed(&self.0, f)
    }
}

fn listed(all: &[impl fmt::Display], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let all: Vec<String> = all.iter().map(ToString::to_string).collect();
    f.write_str(&all.join(","))
}

impl FromStr for Levels {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "wrktest" {
            return Ok(Self(WRKTEST_LEVELS.into_iter().filter_map(NonZeroU32::new).collect()));
        }
        let mut levels = text
            .split([',', ' '])
            .filter(|part| !part.is_empty())
            .map(|part| part.parse().map_err(|_| format!("holds '{part}', which is not a number of users above 0")))
            .collect::<Result<Vec<NonZeroU32>, String>>()?;
        levels.sort_unstable();
        levels.dedup();
        if levels.is_empty() { Err("names no level".to_owned()) } else { Ok(Self(levels)) }
    }
}

impl FromStr for Rates {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut rates = text
            .split(',')
            .map(|part| {
                part.trim()
                    .parse()
                    .ok()
                    .filter(|rate: &Rate| rate.as_per_second() > 0.0)
                    .ok_or_else(|| format!("holds '{part}', which is not a rate above 0 such as 500/s"))
            })
            .collect::<Result<Vec<Rate>, String>>()?;
        rates.sort_by(|a, b| a.as_per_second().total_cmp(&b.as_per_second()));
        rates.dedup();
        Ok(Self(rates))
    }
}

impl LadderDraft {
    /// Decides the sweep. `users_max` is how many connections this machine can open: it shortens the default levels only.
    ///
    /// # Errors
    /// Every mistake, together.
    pub fn decide(self, users_max: NonZeroU32) -> Result<Ladder, PlanErrors> {
        let Self { levels, rates, adaptive, repeat, cooldown, all_levels } = self;
        let mut errors = PlanErrors::default();
        if levels.is_some() && rates.is_some() {
            errors.push(PlanError::new(LEVELS, format!("{LEVELS} and {RATES} are two ladders"), "keep one of them"));
        }
        let chosen_twice = [
            (levels.is_some(), format!("{LEVELS} chooses them beforehand")),
            (rates.is_some(), format!("{RATES} climbs over rates instead of users")),
            (all_levels, format!("{ALL_LEVELS} measures a ladder to its end")),
        ];
        let choice = match adaptive {
            None => Choice::Listed,
            Some(given) => {
                for (_, other) in chosen_twice.iter().filter(|(is_given, _)| *is_given) {
                    errors.push(PlanError::new(
                        ADAPTIVE,
                        format!("{ADAPTIVE} chooses the levels while measuring, and {other}"),
                        "keep one of them",
                    ));
                }
                match given {
                    Setting::Value(levels_max) if levels_max.get() >= ADAPTIVE_MIN => Choice::Adaptive { levels_max },
                    Setting::Value(few) => {
                        errors.push(PlanError::new(
                            ADAPTIVE,
                            format!("{ADAPTIVE:#}={few} is too few levels: a model of the curve takes {ADAPTIVE_MIN}"),
                            format!("give {ADAPTIVE:#}={ADAPTIVE_MIN} or more, or {ADAPTIVE} for {ADAPTIVE_DEFAULT}"),
                        ));
                        Choice::Listed
                    }
                    Setting::Wrong { text, .. } => {
                        errors.push(PlanError::new(
                            ADAPTIVE,
                            format!("{ADAPTIVE:#}={text} is not a number of levels"),
                            format!("give a whole number such as {ADAPTIVE:#}=15, or {ADAPTIVE} for {ADAPTIVE_DEFAULT}"),
                        ));
                        Choice::Listed
                    }
                }
            }
        };
        let mut wrong = |setting: SettingName, given: String, why: &str, help: String| {
            errors.push(PlanError::new(setting, format!("{setting:#} '{given}' {why}"), help));
        };
        let climbed = match (levels, rates) {
            (_, Some(Setting::Value(Rates(rates)))) => rates.into_iter().map(Level::Offered).collect(),
            (_, Some(Setting::Wrong { text, why })) => {
                wrong(RATES, text, &why, format!("give rates such as {RATES:#} 100/s,200/s,500/s"));
                Vec::new()
            }
            (Some(Setting::Value(Levels(levels))), None) => levels.into_iter().map(Level::Users).collect(),
            (Some(Setting::Wrong { text, why }), None) => {
                wrong(LEVELS, text, &why, format!("give numbers such as {LEVELS:#} 1,10,100, or {LEVELS:#} wrktest"));
                Vec::new()
            }
            (None, None) if choice != Choice::Listed => std::iter::successors(NonZeroU32::new(1), |it| it.checked_mul(NonZeroU32::new(2)?))
                .take_while(|level| *level <= users_max && level.get() <= ADAPTIVE_USERS_MAX)
                .map(Level::Users)
                .collect(),
            (None, None) => {
                LEVELS_DEFAULT.into_iter().filter_map(NonZeroU32::new).filter(|level| *level <= users_max).map(Level::Users).collect()
            }
        };
        let repeat = match repeat {
            None => NonZeroU32::MIN,
            Some(Setting::Value(repeat)) => repeat,
            Some(Setting::Wrong { text, .. }) => {
                wrong(REPEAT, text, "is not a number above 0", format!("give a whole number, such as {REPEAT:#} 3"));
                NonZeroU32::MIN
            }
        };
        let cooldown = match cooldown {
            None => COOLDOWN_DEFAULT,
            Some(Setting::Value(cooldown)) => cooldown,
            Some(Setting::Wrong { text, why }) => {
                wrong(COOLDOWN, text, &why, format!("give a time, such as {COOLDOWN:#} 1s"));
                COOLDOWN_DEFAULT
            }
        };
        if errors.is_empty() {
            Ok(Ladder { levels: climbed, choice, repeat, cooldown, climb: if all_levels { Rung::Every } else { Rung::WhileItPays } })
        } else {
            Err(errors)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spelling;

    fn given<T: FromStr>(text: &str) -> Option<Setting<T>>
    where
        T::Err: fmt::Display,
    {
        text.parse().ok()
    }

    #[test]
    fn the_default_ladder_goes_as_far_as_the_machine() {
        let ladder = LadderDraft::default().decide(NonZeroU32::new(1000).unwrap()).unwrap();
        assert_eq!(ladder.levels.last(), Some(&Level::Users(NonZeroU32::new(1000).unwrap())));
        assert_eq!(ladder.levels.len(), 10);
    }

    #[test]
    fn levels_are_sorted_and_said_once() {
        let ladder = LadderDraft { levels: given("50, 1,10,10"), ..LadderDraft::default() }.decide(NonZeroU32::MAX).unwrap();
        assert_eq!(ladder.levels.iter().map(|level| level.value()).collect::<Vec<_>>(), [1.0, 10.0, 50.0]);
        let wrktest = LadderDraft { levels: given("wrktest"), ..LadderDraft::default() }.decide(NonZeroU32::MIN).unwrap();
        assert_eq!(wrktest.levels.len(), 10);
    }

    #[test]
    fn an_adaptive_sweep_may_go_as_far_as_the_machine() {
        let ladder = LadderDraft { adaptive: given("12"), ..LadderDraft::default() }.decide(NonZeroU32::new(100).unwrap()).unwrap();
        assert_eq!(ladder.choice, Choice::Adaptive { levels_max: NonZeroU32::new(12).unwrap() });
        assert_eq!(ladder.levels.iter().map(|level| level.value()).collect::<Vec<_>>(), [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]);
    }

    #[test]
    fn levels_are_chosen_once() {
        let draft =
            LadderDraft { adaptive: given("3"), levels: given("1,2"), rates: given("5/s"), all_levels: true, ..LadderDraft::default() };
        let said = draft.decide(NonZeroU32::MAX).unwrap_err().spelt(Spelling::Flags);
        for part in ["--adaptive=3 is too few levels", "and --levels chooses", "and --rates climbs", "and --all-levels measures"] {
            assert!(said.contains(part), "{part}:\n{said}");
        }
    }

    #[test]
    fn mistakes_come_together() {
        let draft = LadderDraft { levels: given("1,0"), repeat: "0".parse().ok(), cooldown: given("x"), ..LadderDraft::default() };
        let settings: Vec<_> = draft.decide(NonZeroU32::MAX).unwrap_err().0.into_iter().map(|error| error.setting).collect();
        assert_eq!(settings, ["levels", "repeat", "cooldown"]);
    }
}
