//! A search for the highest rate that keeps a promise: what to try next is decided in [`analysis::search`], and here it is tried.
//!
//! Between trials the server is watched until it has recovered: a few requests one by one are to take about as long as they did before
//! the search. A fixed rest, the alternative, is too short for a server with a long queue and wasted on one without.

mod loads;
mod recovery;

use std::ops::ControlFlow;

use analysis::ceiling::SHARE_MAX;
use analysis::found::{CapacityReport, CapacityTrial, RateUnit, learnt, lost};
use analysis::gate::Slo;
use analysis::quantity::four_digits;
use analysis::search::{Cap, Early, Purpose, Search, Step};
use analysis::{Level, StopReason, Trial};
use measure::{Summary, Tick};
use plan::{Nanos, Plan, PlanErrors, Rate, Spelling};
use trial::RunError;

use crate::below;
use crate::bench::{Bench, Load, Role, to_its_end};

pub use loads::Loads;
use recovery::UnloadedServer;

/// A trial is not ended early before this (docs/measurement.md §2.5).
const EARLY_FROM: Nanos = Nanos::from_secs(3);
/// A run with a profile takes so many seconds, of which eight tenths are the profile's; with `--quick`, half of them.
const PROFILED_S: f64 = 10.0;
/// The seeds of these runs begin so far beyond those of the trials.
const PROFILED_SEED: u64 = 1 << 32;

/// What happens in a search.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Higher rates than this are not tried: this machine was not seen to send them.
    BelowTheCeiling(f64),
    /// The trials begin.
    Begin,
    /// A trial was measured: the last of them.
    Measured,
    /// The server was given time to recover.
    Rested,
    /// Profiles will be taken at these loads, the last one at the rate found.
    Profiles(Vec<Level>),
    /// None will be, since no rate was found.
    NoProfile,
    /// A load was measured with a profile: the last of those.
    Profiled,
}

/// A search under way.
pub struct OngoingSearch<'a> {
    loads: Loads<'a>,
    slos: Vec<Slo>,
    search: Search,
    unloaded: UnloadedServer,
    is_profiled: bool,
}

impl<'a> OngoingSearch<'a> {
    /// Looks at the server before it is loaded, by a few requests one by one. Where the ceiling of this machine is known, by the plan and
    /// an answer of the server, rates that it cannot be trusted with will not be tried.
    ///
    /// # Errors
    /// If these requests cannot be sent.
    pub fn begin(
        mut loads: Loads<'a>,
        slos: Vec<Slo>,
        (search, found): (Search, &mut CapacityReport),
        ceiling: &dyn Fn(&Plan, &Summary) -> Option<f64>,
        is_profiled: bool,
        bench: &mut dyn Bench,
        tell: &mut dyn FnMut(&CapacityReport, Event),
    ) -> Result<Self, RunError> {
        let run = recovery::look(&mut loads, bench)?;
        let mut course = Self { unloaded: UnloadedServer::of(run), loads, slos, search, is_profiled };
        found.unloaded_median = course.unloaded.median();
        if let Some(rate_max) = course.keep_below_the_ceiling(found, ceiling) {
            tell(found, Event::BelowTheCeiling(rate_max));
        }
        Ok(course)
    }

    /// Where this machine's ceiling is known, higher rates than it can be trusted with are not tried.
    fn keep_below_the_ceiling(&mut self, found: &mut CapacityReport, ceiling: &dyn Fn(&Plan, &Summary) -> Option<f64>) -> Option<f64> {
        // What was measured is requests of one kind, and what is searched is journeys.
        let first = Some(self.loads.first()).filter(|plan| plan.scenario().is_none())?;
        let rate_max = ceiling(first, self.unloaded.run())? * SHARE_MAX;
        if rate_max >= found.settings.rate_max || rate_max < found.settings.first_rate {
            return None;
        }
        found.settings.rate_max = rate_max;
        found.settings.rate_max_by = Cap::Generator;
        self.search = Search::new(found.settings.clone()).ok()?;
        Some(rate_max)
    }

    /// Searches until the answer is known, or something ends it, and takes profiles; `found` holds what is known after each step.
    ///
    /// # Errors
    /// If a trial cannot be carried out.
    pub fn carry_out(
        mut self,
        found: &mut CapacityReport,
        bench: &mut dyn Bench,
        tell: &mut dyn FnMut(&CapacityReport, Event),
    ) -> Result<(), RunError> {
        tell(found, Event::Begin);
        let ended = self.search(found, bench, tell);
        found.answer = self.search.answer();
        ended?;
        match found.stopped {
            None => self.profile(found, bench, tell),
            Some(_) => Ok(()),
        }
    }

    fn search(
        &mut self,
        found: &mut CapacityReport,
        bench: &mut dyn Bench,
        tell: &mut dyn FnMut(&CapacityReport, Event),
    ) -> Result<(), RunError> {
        while found.stopped.is_none() {
            if bench.is_interrupted() {
                found.stopped = Some(StopReason::interrupted());
                break;
            }
            if let Some(why) = bench.has_run_out() {
                found.stopped = Some(cut_short(why));
                break;
            }
            let event = match self.search.next() {
                Step::Done(_) => break,
                Step::Rest { seconds_min, seconds_max } => {
                    self.rest(found, [seconds_min, seconds_max], bench);
                    Event::Rested
                }
                Step::Trial { rate, seconds, purpose, seed } => match self.trial((rate, seconds, purpose, seed), found, bench) {
                    Ok(true) => Event::Measured,
                    Ok(false) => continue,
                    Err(error) => {
                        found.stopped = Some(cut_short(&error.message.spelt(Spelling::Flags)));
                        return Err(error);
                    }
                },
            };
            found.answer = self.search.answer();
            tell(found, event);
        }
        Ok(())
    }

    /// One trial, learnt and kept; false of one that the user, or a condition of the user, ended: nothing is learnt of it.
    fn trial(
        &mut self,
        (rate, seconds, purpose, seed): (f64, f64, Purpose, u64),
        found: &mut CapacityReport,
        bench: &mut dyn Bench,
    ) -> Result<bool, RunError> {
        let plan = self.loads.trial(rate, seconds, purpose, &found.settings, seed).map_err(|mistakes| undecided(&mistakes))?;
        let load = Load { plan: &plan, title: format!("{}, {}", in_words(rate, found.rated), purpose.name()), role: Role::Trial };
        let expected = requests_expected(found, rate * seconds);
        let mut seen: Vec<Tick> = Vec::new();
        let mut early = None;
        let begun = bench.now();
        let slos = &self.slos;
        let measured = bench.measure(&load, &mut |tick| {
            seen.push(tick.clone());
            let may_end = tick.to >= EARLY_FROM && tick.to < plan.end() && early.is_none();
            if may_end && lost(slos, &seen, expected, purpose) {
                early = Some(Early::Fail);
            }
            if early.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if let Some(rule) = &measured.aborted_by {
            found.stopped = Some(StopReason::aborted(rule, &in_words(rate, found.rated)));
            return Ok(false);
        }
        if bench.is_interrupted() {
            return Ok(false);
        }
        if found.started.is_empty() {
            found.started.clone_from(&measured.run.started);
        }
        let took = bench.now().since(begun);
        let (result, doubt) = learnt(&self.slos, &measured.run, took.as_secs_f64(), early);
        self.search.learn(result);
        let trial = self.search.trials().last().expect("one was learnt just now");
        found.trials.push(CapacityTrial::new(trial, doubt, measured.run));
        Ok(true)
    }

    /// Probes until the server answers as it did before the search.
    fn rest(&mut self, found: &mut CapacityReport, seconds: [f64; 2], bench: &mut dyn Bench) {
        if let Some(rested) = recovery::wait(&mut self.loads, &self.unloaded, seconds, bench) {
            self.search.rested(rested);
            found.rests.push(rested);
        }
    }

    /// Two runs more with a profile of each, once the rate is known: at a part of it, where nothing is in short supply yet, and at it.
    /// They are no part of the search, whose figures a profile would change, nor of its budget.
    fn profile(
        &mut self,
        found: &mut CapacityReport,
        bench: &mut dyn Bench,
        tell: &mut dyn FnMut(&CapacityReport, Event),
    ) -> Result<(), RunError> {
        if !self.is_profiled || found.trials.is_empty() || bench.is_interrupted() {
            return Ok(());
        }
        let level = match found.rated {
            RateUnit::Requests => Level::Offered as fn(Rate) -> Level,
            RateUnit::Journeys => Level::Journeys,
        };
        let Some(best) = found.answer.carries.and_then(Rate::per_second).map(level) else {
            tell(found, Event::NoProfile);
            return Ok(());
        };
        let levels: Vec<Level> = below(best).into_iter().chain([best]).collect();
        tell(found, Event::Profiles(levels.clone()));
        // A short search has short trials.
        let seconds = if found.settings.prove_s < PROFILED_S { PROFILED_S / 2.0 } else { PROFILED_S };
        for (level, seed) in levels.into_iter().zip(found.settings.seed.wrapping_add(PROFILED_SEED)..) {
            recovery::wait(&mut self.loads, &self.unloaded, [0.0, found.settings.rest_max_s], bench);
            if bench.is_interrupted() {
                return Ok(());
            }
            let plan =
                self.loads.trial(level.value(), seconds, Purpose::Soak, &found.settings, seed).map_err(|mistakes| undecided(&mistakes))?;
            let rate = four_digits(level.value());
            let load =
                Load { plan: &plan, title: format!("{rate}/s, with a profile"), role: Role::Profile(format!("at {rate} a second ")) };
            let run = bench.measure(&load, &mut to_its_end)?.run;
            if run.requests.due > 0 {
                found.profiled.push(Trial { level, repetition: 1, summary: run });
                tell(found, Event::Profiled);
            }
        }
        Ok(())
    }
}

/// A rate with what it begins.
fn in_words(rate: f64, rated: RateUnit) -> String {
    let rate = four_digits(rate);
    match rated {
        RateUnit::Requests => format!("{rate}/s"),
        RateUnit::Journeys => format!("{rate} journeys/s"),
    }
}

/// How many requests so many arrivals come to: those of journeys as in the trial in which they came to most, and before there was one it
/// cannot be told.
fn requests_expected(found: &CapacityReport, arrivals: f64) -> f64 {
    if found.rated == RateUnit::Requests {
        return arrivals;
    }
    let each = found.trials.iter().map(|trial| trial.summary.requests.due as f64 / (trial.rate * trial.summary.duration_s).max(1.0));
    each.reduce(f64::max).map_or(f64::INFINITY, |each| arrivals * each)
}

/// A trial could not be measured, for the reason given.
fn cut_short(reason: &str) -> StopReason {
    StopReason { words: format!("the next trial could not be measured: {reason}"), ..StopReason::cut_short("") }
}

fn undecided(mistakes: &PlanErrors) -> RunError {
    RunError::run(mistakes.wording(), "repeat the search")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::time::Duration;

    use analysis::StopRule;
    use analysis::gate::Check;
    use analysis::search::{LimitedBy, Settings};
    use plan::Draft;

    use crate::simulated::{Pool, SimulatedBench, decide};

    struct Searched {
        found: CapacityReport,
        events: Vec<Event>,
        ended: Result<(), RunError>,
    }

    /// Searches on this bench for the rate that keeps `p99 < 50ms`, up to a ceiling of this machine if one is known.
    fn searched(bench: &mut SimulatedBench, ceiling: Option<f64>, is_profiled: bool) -> Searched {
        let slos = vec![Slo::try_from("p99 < 50ms".parse::<Check>().unwrap()).unwrap()];
        let settings = Settings::new(slos.iter().map(Slo::promise).collect(), 100_000.0, 1).quick();
        let search = Search::new(settings.clone()).unwrap();
        let mut found = CapacityReport::new("pool".to_owned(), &slos, settings.clone(), search.answer());
        let draft = Draft { timeout: "10s".parse().ok(), ..Draft::default() };
        let loads = Loads::new(draft, &|draft, _| decide(draft), false, &|_| Nanos::ZERO, &settings).unwrap();
        let events = RefCell::new(Vec::new());
        let mut tell = |_: &CapacityReport, event| events.borrow_mut().push(event);
        let ended = OngoingSearch::begin(loads, slos, (search, &mut found), &|_, _| ceiling, is_profiled, bench, &mut tell)
            .and_then(|course| course.carry_out(&mut found, bench, &mut tell));
        Searched { found, events: events.into_inner(), ended }
    }

    /// Carries 1,000 a second: ten workers, each with a request in hand for 10 ms.
    fn bench() -> SimulatedBench {
        SimulatedBench::new(Pool::new(10, Duration::from_millis(10)))
    }

    #[test]
    fn the_rate_that_a_pool_carries_is_found_and_profiled() {
        let mut bench = bench();
        let Searched { found, events, ended } = searched(&mut bench, None, true);
        ended.unwrap();
        let carries = found.answer.carries.unwrap();
        assert!((700.0..=1_000.0).contains(&carries), "{carries}");
        assert_eq!((found.answer.limited_by, found.stopped), (LimitedBy::Promise(0), None));
        assert_eq!(found.unloaded_median.map(|it| it.0 / 1_000_000), Some(10));
        let trials = events.iter().filter(|event| **event == Event::Measured).count();
        assert_eq!((trials, found.profiled.len()), (found.trials.len(), 2));
        assert!(bench.count(|role| *role == Role::Probe) > 1, "the server is watched between trials");
    }

    #[test]
    fn no_rate_beyond_the_ceiling_of_the_machine_is_tried() {
        let Searched { found, events, ended } = searched(&mut bench(), Some(500.0), false);
        ended.unwrap();
        let rate_max = 500.0 * SHARE_MAX;
        assert_eq!(events[0], Event::BelowTheCeiling(rate_max));
        assert!(found.trials.iter().all(|trial| trial.rate <= rate_max * 1.001));
        assert_eq!(found.answer.limited_by, LimitedBy::Generator);
    }

    #[test]
    fn a_server_that_does_not_recover_is_waited_for_and_no_longer() {
        let pool = Pool::new(10, Duration::from_millis(10));
        let mut bench = SimulatedBench::new(pool.clone());
        let draft = Draft { timeout: "10s".parse().ok(), ..Draft::default() };
        let settings = Settings::new(Vec::new(), 100.0, 1).quick();
        let mut loads = Loads::new(draft, &|draft, _| decide(draft), false, &|_| Nanos::ZERO, &settings).unwrap();
        let unloaded = UnloadedServer::of(recovery::look(&mut loads, &mut bench).unwrap());
        let rested = recovery::wait(&mut loads, &unloaded, [0.0, 20.0], &mut bench).unwrap();
        assert!(rested.recovered && rested.seconds < 1.0, "{rested:?}");
        pool.slow_down(Duration::from_millis(100));
        let rested = recovery::wait(&mut loads, &unloaded, [0.0, 20.0], &mut bench).unwrap();
        assert!(!rested.recovered && (20.0..22.0).contains(&rested.seconds), "{rested:?}");
    }

    #[test]
    fn a_search_that_is_ended_or_breaks_off_keeps_its_trials_and_says_why() {
        let mut ended = bench();
        ended.interrupted_in = Some(6);
        let searched_ = searched(&mut ended, None, true);
        searched_.ended.unwrap();
        assert_eq!(searched_.found.stopped.map(|it| it.rule), Some(StopRule::Interrupted));
        assert!(!searched_.found.trials.is_empty() && searched_.found.profiled.is_empty());
        let mut broken = bench();
        broken.fails_in = Some(2);
        let broken = searched(&mut broken, None, true);
        assert_eq!(broken.ended.unwrap_err().message, "connection refused".into());
        assert_eq!(broken.found.stopped.map(|it| it.rule), Some(StopRule::CutShort));
    }
}
