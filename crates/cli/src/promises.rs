//! Checks and conditions to abort on, as typed.
//!
//! They are not part of the plan: a plan says what is sent, and the same load may be held against other promises tomorrow. They
//! are in the result all the same, and `--from` takes them up again, so that a gate that is run again is the same gate.

use std::fmt::Display;
use std::str::FromStr;

use analysis::gate::{AbortRule, AbortWatch, Check, LoadPart};
use clap::{ArgAction, Args};
use measure::Tick;
use plan::setting::{ABORT_ON, CHECK, SettingName};
use plan::{PlanError, PlanErrors};
use scenario::Scenario;

/// What a run must keep to.
#[derive(Debug, Clone, Default, Args)]
pub struct Promises {
    /// Fail unless this holds, such as 'p99 < 200ms', 'failed < 0.1%', 'qps > 5000', 'first_byte p95 < 50ms', 'status 5xx == 0', 'step login p95 < 100ms', 'journey buy failed < 1%', 'transaction checkout p99 < 1s', 'url /a p95 < 50ms' (repeatable)
    #[arg(long, value_name = "CHECK", action = ArgAction::Append, help_heading = "Checks")]
    check: Vec<String>,
}

/// When to give up early.
#[derive(Debug, Clone, Default, Args)]
pub struct Aborts {
    /// End the load, and fail, once this was true for that time: 'failed > 50% for 5s', 'p99 > 2s for 10s' (repeatable)
    #[arg(long, value_name = "CONDITION", action = ArgAction::Append, help_heading = "Checks")]
    abort_on: Vec<String>,
}

impl Promises {
    /// As typed elsewhere than on the command line.
    pub const fn of(check: Vec<String>) -> Self {
        Self { check }
    }

    /// Takes up the checks of a saved result, unless others are given.
    pub fn take_up(&mut self, saved: Vec<String>) {
        if self.check.is_empty() {
            self.check = saved;
        }
    }

    /// Every check: those that a scenario's file holds, then those that were typed. Every mistake goes to `errors`, with its place.
    pub fn read(&self, scenario: Option<&Scenario>, errors: &mut PlanErrors) -> Vec<Check> {
        let mut checks: Vec<Check> = scenario.map_or_else(Vec::new, |scenario| scenario.checks.clone());
        let help = format!("write it as a figure, a comparison and a limit, such as {CHECK:#} 'p99 < 200ms'");
        for check in read::<Check>(CHECK, &self.check, &help, errors) {
            let unknown = match (scenario, check.part()) {
                (Some(scenario), _) => scenario.unknown_part(&check),
                (None, Some(part)) if errors.is_empty() && !matches!(part, LoadPart::Url(_)) => {
                    let kind = part.kind();
                    Some((
                        format!("there is no {kind} '{}': this load has no scenario", part.name().escape_debug()),
                        format!("give a scenario, or leave '{kind} …' out"),
                    ))
                }
                _ => None,
            };
            match unknown {
                Some((message, help)) => errors.push(PlanError::new(CHECK, format!("{CHECK:#} '{check}': {message}"), help)),
                // Those of a saved result hold those of its file.
                None if checks.contains(&check) => {}
                None => checks.push(check),
            }
        }
        checks
    }
}

impl Aborts {
    /// As typed elsewhere than on the command line.
    pub const fn of(abort_on: Vec<String>) -> Self {
        Self { abort_on }
    }

    /// Every condition. Every mistake goes to `errors`, with its place.
    pub fn read(&self, errors: &mut PlanErrors) -> Guard {
        let help = format!("write it as a check and a time, such as {ABORT_ON:#} 'failed > 50% for 5s'");
        let rules: Vec<AbortRule> = read(ABORT_ON, &self.abort_on, &help, errors);
        Guard { watches: rules.into_iter().map(|rule| (rule.clone(), AbortWatch::new(rule))).collect(), came_true: None }
    }
}

fn read<T: FromStr<Err: Display>>(setting: SettingName, texts: &[String], help: &str, errors: &mut PlanErrors) -> Vec<T> {
    let mut all = Vec::new();
    for text in texts {
        match text.parse() {
            Ok(read) => all.push(read),
            Err(why) => errors.push(PlanError::new(setting, format!("{setting}: {why}"), help)),
        }
    }
    all
}

/// Watches a run for the conditions to abort on.
#[derive(Debug, Clone)]
pub struct Guard {
    watches: Vec<(AbortRule, AbortWatch)>,
    came_true: Option<AbortRule>,
}

impl Guard {
    /// Without any condition.
    pub const NONE: Self = Self { watches: Vec::new(), came_true: None };

    /// Takes the next tick. True once, when the first of the conditions comes true.
    pub fn tick(&mut self, tick: &Tick) -> bool {
        if self.came_true.is_some() {
            return false;
        }
        for (rule, watch) in &mut self.watches {
            // Every watch has to see every tick.
            if watch.tick(tick) && self.came_true.is_none() {
                self.came_true = Some(rule.clone());
            }
        }
        self.came_true.is_some()
    }

    /// The condition that came true.
    pub fn came_true(&self) -> Option<AbortRule> {
        self.came_true.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_shown_with_its_place_beside_all_others() {
        let mut errors = PlanErrors::default();
        let promises = Promises { check: vec!["p99 < 5".to_owned(), "p50 < 1ms".to_owned(), "rps > 3".to_owned()] };
        assert_eq!(promises.read(None, &mut errors).len(), 1);
        Aborts { abort_on: vec!["failed > 50% for ever".to_owned()] }.read(&mut errors);
        let text = errors.spelt(plan::Spelling::Flags);
        assert_eq!(errors.0.len(), 3);
        assert!(text.contains("error: --check: '5' of what?") && text.contains("\n  p99 < 5\n        ^\n  help: write it as"), "{text}");
        assert!(text.contains("\n  rps > 3\n  ^^^\n"), "{text}");
        assert!(text.contains("error: --abort-on: 'ever' is not a time") && text.contains("\n                   ^^^^\n"), "{text}");
    }

    #[test]
    fn checks_given_again_take_the_place_of_the_saved_ones() {
        let saved = vec!["p99 < 1s".to_owned()];
        for (given, held) in [(Vec::new(), saved.clone()), (vec!["qps > 1".to_owned()], vec!["qps > 1".to_owned()])] {
            let mut promises = Promises { check: given };
            promises.take_up(saved.clone());
            assert_eq!(promises.check, held);
        }
    }
}
