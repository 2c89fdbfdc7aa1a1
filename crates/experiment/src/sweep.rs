//! A ladder of loads: level after level while it pays, rounds in random order, levels that are doubted once more, profiles at the end.

use std::num::NonZeroU32;

use analysis::adaptive::{Reach, next_levels};
use analysis::knee::Best;
use analysis::{Level, StopReason, Sweep, Trial, climb, curve, doubt, scaling};
use measure::Ending;
use plan::{Choice, Draft, Ladder, Plan, PlanErrors, Random, Rung, Setting, Spelling, Stage, Timetable};
use trial::RunError;

use crate::below;
use crate::bench::{Bench, Decide, Load, Role, to_its_end};

/// The first of the streams of the seed that the orders of rounds are drawn from.
const ROUNDS: u64 = 1 << 40;

/// What a sweep climbs over.
pub struct Settings<'a> {
    /// Its levels, and how they are gone through.
    pub ladder: &'a Ladder,
    /// What every level is made from.
    pub draft: &'a Draft,
    /// Makes the plan of a level.
    pub decide: Decide<'a>,
    /// Whether profiles of the server are taken when the best level is known.
    pub is_profiled: bool,
}

/// What happens in a sweep.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Every level is measured in turn.
    Begin,
    /// A level was measured: the last of the trials.
    Measured,
    /// Another round through the levels, in random order; so many rounds are there.
    Round(u32, u32),
    /// All rounds are over.
    Together,
    /// Levels that disagree with those beside them are measured again.
    Again,
    /// Profiles will be taken at these levels.
    Profiles(Vec<Level>),
    /// None will be, since no level is the best one.
    NoProfile,
    /// A level was measured with a profile: the last of those.
    Profiled,
}

/// The draft of one level.
#[must_use]
pub fn at(draft: &Draft, level: plan::Level) -> Draft {
    let mut draft = draft.clone();
    match level {
        plan::Level::Users(users) => draft.connections = Some(Setting::Value(users.into())),
        plan::Level::Offered(rate) => draft.rate = Some(Setting::Value(Timetable::new(vec![Stage::constant(rate, None)]))),
    }
    draft
}

/// Measures level by level; what was measured is in `sweep` after each, and why it ended if it did before its end. `tell` hears of
/// everything that happens.
///
/// # Errors
/// If a level cannot be carried out.
pub fn carry_out(
    settings: &Settings<'_>,
    sweep: &mut Sweep,
    bench: &mut dyn Bench,
    tell: &mut dyn FnMut(&Sweep, Event),
) -> Result<(), RunError> {
    let mut ascent = Ascent { settings, sweep, bench, tell };
    ascent.tell(Event::Begin);
    let next = match settings.ladder.choice {
        Choice::Listed => ascent.climb()?,
        Choice::Adaptive { levels_max } => ascent.search(levels_max)?,
    };
    if next == Next::GoOn && ascent.doubt()? == Next::GoOn {
        ascent.profile()?;
    }
    Ok(())
}

/// A sweep on its way.
struct Ascent<'a> {
    settings: &'a Settings<'a>,
    sweep: &'a mut Sweep,
    bench: &'a mut dyn Bench,
    tell: &'a mut dyn FnMut(&Sweep, Event),
}

/// Whether measuring goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    GoOn,
    End,
}

impl Ascent<'_> {
    fn tell(&mut self, event: Event) {
        (self.tell)(self.sweep, event);
    }

    /// Every level once, ascending, while it pays; then those levels again, each round in a random order. Repetitions right
    /// after each other share whatever the machine was doing then, and an order that always ascends makes warming up look
    /// like contention.
    fn climb(&mut self) -> Result<Next, RunError> {
        let ladder = self.settings.ladder;
        let mut measured: Vec<plan::Level> = Vec::new();
        for (place, level) in ladder.levels.iter().enumerate() {
            let title = format!("level {} of {}", place + 1, ladder.levels.len());
            if self.measure(*level, 1, &title)? == Next::End {
                return Ok(Next::End);
            }
            measured.push(*level);
            if ladder.climb == Rung::WhileItPays && place + 1 < ladder.levels.len() {
                self.sweep.stopped = climb::stop(&self.sweep.rows());
                if self.sweep.stopped.is_some() {
                    break;
                }
            }
        }
        // A level at which the server gave up would hurt whatever happens to be measured after it.
        let failing: Vec<plan::Level> =
            self.sweep.rows().iter().filter(|row| scaling::is_failing(row)).map(|row| row.level.into()).collect();
        measured.retain(|level| !failing.contains(level));
        let rounds = ladder.repeat.get();
        for round in 2..=rounds {
            shuffle(&mut measured, &mut Random::new(self.seed(), ROUNDS + u64::from(round)));
            self.tell(Event::Round(round, rounds));
            for (place, level) in measured.iter().enumerate() {
                let title = format!("round {round}, level {} of {}", place + 1, measured.len());
                if self.measure(*level, round, &title)? == Next::End {
                    return Ok(Next::End);
                }
            }
        }
        if rounds > 1 {
            self.tell(Event::Together);
        }
        Ok(Next::GoOn)
    }

    /// One level after the other, each where it says most after those before it.
    fn search(&mut self, levels_max: NonZeroU32) -> Result<Next, RunError> {
        let ladder = self.settings.ladder;
        let Some(highest) = ladder.levels.last() else { return Ok(Next::End) };
        for place in 1..=levels_max.get() {
            let Some(users) = chosen(self.sweep, highest.value(), self.seed()) else { break };
            let title = format!("level {place} of at most {levels_max}");
            for repetition in 1..=ladder.repeat.get() {
                if self.measure(plan::Level::Users(users), repetition, &title)? == Next::End {
                    return Ok(Next::End);
                }
            }
        }
        Ok(Next::GoOn)
    }

    /// The seed that orders are drawn from: that of the first level.
    fn seed(&self) -> u64 {
        self.sweep.trials.first().map_or(0, |trial| trial.summary.plan.seed())
    }

    /// Levels that were measured once and disagree with their neighbours, once more.
    fn doubt(&mut self) -> Result<Next, RunError> {
        if self.bench.is_interrupted() || self.bench.has_run_out().is_some() {
            return Ok(Next::GoOn);
        }
        let rows = self.sweep.rows();
        let once = |level: &Level| rows.iter().any(|row| row.level == *level && row.repetitions == 1);
        let levels: Vec<Level> = doubt::doubtful(&rows).into_iter().filter(once).collect();
        if levels.is_empty() {
            return Ok(Next::GoOn);
        }
        self.tell(Event::Again);
        for level in levels {
            if self.measure(level.into(), 2, "measured again")? == Next::End {
                return Ok(Next::End);
            }
            doubt::settle(self.sweep, level);
        }
        Ok(Next::GoOn)
    }

    /// The plan of the next measurement at a level. What users of journeys draw by chance is new in each, as their rows are.
    fn plan_at(&self, level: plan::Level) -> Result<Plan, PlanErrors> {
        let draft = at(self.settings.draft, level);
        let plan = (self.settings.decide)(draft.clone())?;
        if plan.scenario().is_none() {
            return Ok(plan);
        }
        let seed = plan.seed().wrapping_add(self.sweep.trials.len() as u64);
        (self.settings.decide)(Draft { seed: Some(Setting::Value(seed)), ..draft })
    }

    /// Measures a level once.
    fn measure(&mut self, level: plan::Level, repetition: u32, title: &str) -> Result<Next, RunError> {
        if !self.sweep.trials.is_empty() {
            self.bench.rest(self.settings.ladder.cooldown);
        }
        if self.bench.is_interrupted() {
            return Ok(self.end(StopReason::interrupted()));
        }
        if let Some(why) = self.bench.has_run_out() {
            return Ok(self.end(StopReason::cut_short(why)));
        }
        // Every level was decided before the first request, or is as sound as the lowest.
        let plan = match self.plan_at(level) {
            Ok(plan) => plan,
            Err(mistakes) => return Ok(self.end(StopReason::cut_short(&mistakes.spelt(Spelling::Flags)))),
        };
        let level = Level::of(level, &plan);
        if !self.sweep.levels.contains(&level) {
            self.sweep.levels.push(level);
            self.sweep.levels.sort_by(|a, b| a.value().total_cmp(&b.value()));
        }
        let load = Load { plan: &plan, title: format!("{level}, {title}"), role: Role::Level(level, repetition) };
        let (run, next, ended) = match self.bench.measure(&load, &mut to_its_end) {
            Ok(measured) => {
                let stopped = match (&measured.aborted_by, measured.run.ended.how) {
                    (_, Ending::Interrupted) => Some(StopReason::interrupted()),
                    (Some(rule), _) => Some(StopReason::aborted(rule, &level.to_string())),
                    (None, _) => None,
                };
                let next = stopped.map_or(Next::GoOn, |stopped| self.end(stopped));
                (Some(measured.run), next, Ok(()))
            }
            Err(mut error) => {
                let run = error.measured.take().map(|run| *run);
                (run, self.end(StopReason::cut_short(&error.message.spelt(Spelling::Flags))), Err(error))
            }
        };
        if let Some(run) = run {
            if self.sweep.trials.is_empty() {
                self.sweep.started.clone_from(&run.started);
            }
            // Interrupted before anything fell due, it says nothing.
            if run.requests.due > 0 {
                self.sweep.trials.push(Trial { level, repetition, summary: run });
                self.tell(Event::Measured);
            }
        }
        ended.map(|()| next)
    }

    fn end(&mut self, why: StopReason) -> Next {
        self.sweep.stopped = Some(why);
        Next::End
    }

    /// Two runs more with a profile of each, once it is known where the knee is: at a part of it, where nothing is in short supply yet,
    /// and at it. They are no part of the ladder, whose figures a profile would change.
    fn profile(&mut self) -> Result<(), RunError> {
        if !self.settings.is_profiled || self.sweep.trials.is_empty() || self.bench.is_interrupted() {
            return Ok(());
        }
        let Best::At { level: knee, .. } = scaling(self.sweep).best else {
            self.tell(Event::NoProfile);
            return Ok(());
        };
        let Some(highest) = self.sweep.trials.iter().map(|trial| trial.level).find(|level| level.value() == knee) else { return Ok(()) };
        let levels: Vec<Level> = below(highest).into_iter().chain([highest]).collect();
        self.tell(Event::Profiles(levels.clone()));
        for level in levels {
            self.bench.rest(self.settings.ladder.cooldown);
            if self.bench.is_interrupted() {
                return Ok(());
            }
            let Ok(plan) = self.plan_at(level.into()) else { return Ok(()) };
            let load = Load { plan: &plan, title: format!("{level}, with a profile"), role: Role::Profile(format!("at {level} ")) };
            let run = self.bench.measure(&load, &mut to_its_end)?.run;
            if run.requests.due > 0 {
                self.sweep.profiled.push(Trial { level, repetition: 1, summary: run });
                self.tell(Event::Profiled);
            }
        }
        Ok(())
    }
}

/// How many users an adaptive sweep measures next, up to `highest`; `None` when no level says anything more.
fn chosen(sweep: &Sweep, highest: f64, seed: u64) -> Option<NonZeroU32> {
    let rows = sweep.rows();
    // What fails is not climbed beyond.
    let failing = rows.iter().find(|row| scaling::is_failing(row));
    let reach = Reach { from: 1.0, to: failing.map_or(highest, |row| highest.min(row.level.value() - 1.0)) };
    if reach.to < 1.0 {
        return None;
    }
    let points = scaling::points(sweep, &rows);
    let next = next_levels(&points, &curve::read(&points, seed), reach, 1).first()?.level;
    rows.iter().all(|row| row.level.value() != next).then(|| NonZeroU32::new(next as u32))?
}

/// Every order equally likely (Fisher and Yates).
fn shuffle<T>(them: &mut [T], random: &mut Random) {
    for last in (1..them.len()).rev() {
        them.swap(last, random.between(0, last as u64) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    use analysis::StopRule;
    use analysis::curve::Model;
    use measure::{Summary, fixtures};
    use plan::LadderDraft;

    use crate::simulated::{Pool, SimulatedBench, decide};

    fn ladder(draft: LadderDraft) -> Ladder {
        draft.decide(NonZeroU32::new(10_000).unwrap()).unwrap()
    }

    fn levels(levels: &str) -> LadderDraft {
        LadderDraft { levels: levels.parse().ok(), ..LadderDraft::default() }
    }

    /// A pool of four workers, each with a request in hand for 20 ms.
    fn bench() -> SimulatedBench {
        SimulatedBench::new(Pool::new(4, Duration::from_millis(20)))
    }

    fn swept(ladder: &Ladder, bench: &mut SimulatedBench, is_profiled: bool) -> (Sweep, Vec<Event>, Result<(), RunError>) {
        let draft = Draft { duration: "2s".parse().ok(), ..Draft::default() };
        let settings = Settings { ladder, draft: &draft, decide: &decide, is_profiled };
        let mut sweep = Sweep::new("pool".to_owned(), String::new(), Vec::new());
        let mut events = Vec::new();
        let ended = carry_out(&settings, &mut sweep, bench, &mut |_, event| events.push(event));
        (sweep, events, ended)
    }

    #[test]
    fn a_climb_ends_where_it_pays_no_more_and_the_knee_is_profiled() {
        let ladder = ladder(levels("1,2,4,8,16,32,64,128,256,512"));
        let mut bench = bench();
        let (sweep, events, ended) = swept(&ladder, &mut bench, true);
        ended.unwrap();
        assert_eq!(sweep.stopped.as_ref().map(|it| it.rule), Some(StopRule::NothingGained));
        assert!(sweep.trials.len() < 10, "{}", sweep.trials.len());
        let qps: Vec<f64> = sweep.trials.iter().take(4).map(|trial| trial.summary.qps.round()).collect();
        assert_eq!(qps, [50.0, 100.0, 200.0, 200.0]);
        assert_eq!(events.iter().filter(|event| **event == Event::Measured).count(), sweep.trials.len());
        assert_eq!(sweep.profiled.len(), 2, "{events:?}");
        assert_eq!(bench.count(|role| matches!(role, Role::Profile(_))), 2);
    }

    #[test]
    fn rounds_measure_the_same_levels_each_in_another_order() {
        let ladder = ladder(LadderDraft { repeat: "4".parse().ok(), ..levels("1,2,3,4") });
        let (sweep, events, ended) = swept(&ladder, &mut bench(), false);
        ended.unwrap();
        assert_eq!(sweep.rows().iter().map(|row| row.repetitions).collect::<Vec<_>>(), [4; 4]);
        let round = |number: u32| -> Vec<Level> {
            sweep.trials.iter().filter(|trial| trial.repetition == number).map(|trial| trial.level).collect()
        };
        assert!((2..=4).any(|number| round(number) != round(1)), "never shuffled");
        assert_eq!(events.iter().filter(|event| matches!(event, Event::Round(_, 4))).count(), 3);
        assert_eq!(events.last(), Some(&Event::Together));
    }

    #[test]
    fn levels_that_the_sweep_chooses_itself_show_a_pool() {
        let ladder = ladder(LadderDraft { adaptive: "9".parse().ok(), ..LadderDraft::default() });
        let (sweep, _, ended) = swept(&ladder, &mut bench(), false);
        ended.unwrap();
        let order: Vec<f64> = sweep.trials.iter().map(|trial| trial.level.value()).collect();
        assert_eq!(order[..4], [1.0, 2.0, 4.0, 8.0], "it begins with a ladder");
        let found = scaling(&sweep);
        assert!(
            matches!(found.curve.as_ref().and_then(|curve| curve.reading.model.as_ref()), Some(Model::Pool { .. })),
            "{order:?} {:?}",
            found.curve
        );
    }

    #[test]
    fn a_level_that_disagrees_with_its_neighbours_is_measured_again_and_set_aside() {
        // The server is slow while the fifth level is measured, as beside another program.
        let pool = Pool::new(64, Duration::from_millis(20));
        let ladder = ladder(levels("1,2,4,8,16,32"));
        let draft = Draft { duration: "2s".parse().ok(), ..Draft::default() };
        let (slow, seen) = (pool.clone(), std::cell::Cell::new(false));
        let disturbed = move |draft: Draft| {
            let users = draft.connections.as_ref().map(ToString::to_string);
            let plan = decide(draft);
            let is_disturbed = users.as_deref() == Some("16") && !seen.replace(true);
            slow.slow_down(Duration::from_millis(if is_disturbed { 60 } else { 20 }));
            plan
        };
        let settings = Settings { ladder: &ladder, draft: &draft, decide: &disturbed, is_profiled: false };
        let mut sweep = Sweep::new("disturbed".to_owned(), String::new(), Vec::new());
        let mut events = Vec::new();
        carry_out(&settings, &mut sweep, &mut SimulatedBench::new(pool), &mut |_, event| events.push(event)).unwrap();
        assert!(events.contains(&Event::Again), "{events:?}");
        assert_eq!(sweep.set_aside.iter().map(|trial| trial.level.value()).collect::<Vec<_>>(), [16.0]);
        assert_eq!(sweep.rows().len(), 6);
    }

    #[test]
    fn a_sweep_that_is_ended_or_breaks_off_keeps_its_levels_and_says_why() {
        let ladder = ladder(levels("1,2,4,8"));
        let mut ended = bench();
        ended.interrupted_in = Some(3);
        let (sweep, _, outcome) = swept(&ladder, &mut ended, true);
        outcome.unwrap();
        assert_eq!((sweep.stopped.map(|it| it.rule), sweep.profiled.len()), (Some(StopRule::Interrupted), 0));
        assert_eq!(ended.loads.len(), 3);
        let mut broken = bench();
        broken.fails_in = Some(3);
        let (sweep, _, outcome) = swept(&ladder, &mut broken, true);
        assert_eq!(outcome.unwrap_err().message, "connection refused".into());
        assert_eq!((sweep.trials.len(), sweep.stopped.map(|it| it.rule)), (2, Some(StopRule::CutShort)));
        assert_eq!(broken.loads.len(), 3, "and no profiles");
    }

    /// A run of so many users that carried so many requests a second, give or take a little, as clocks do.
    fn trial(users: u32, qps: f64) -> Trial {
        let mut summary: Summary = fixtures::summaries().into_iter().find(|(name, _)| *name == "closed_all_well").unwrap().1;
        let wobble = [0.003, -0.004, 0.001, 0.005, -0.002][(users + 1) as usize % 5];
        summary.edit_for_test().qps_succeeded = qps * (1.0 + wobble);
        summary.edit_for_test().qps = summary.qps_succeeded;
        Trial { level: Level::Users(NonZeroU32::new(users).unwrap()), repetition: 1, summary }
    }

    #[test]
    fn contention_is_found_by_levels_the_sweep_chooses_itself() {
        // Throughput peaks at √(0.95 / 0.01), near 10 users.
        let throughput = |users: f64| 100.0 * users / (1.0 + 0.05 * (users - 1.0) + 0.01 * users * (users - 1.0));
        let mut sweep = Sweep::new("usl".to_owned(), String::new(), Vec::new());
        let mut order = Vec::new();
        while let Some(users) = chosen(&sweep, 4096.0, 1).filter(|_| order.len() < 9) {
            order.push(users.get());
            sweep.levels.push(Level::Users(users));
            sweep.trials.push(trial(users.get(), throughput(users.get().into())));
        }
        sweep.levels.sort_by(|a, b| a.value().total_cmp(&b.value()));
        assert_eq!(order[..4], [1, 2, 4, 8], "it begins with a ladder");
        assert!(order.iter().all(|users| *users <= 64), "no reason to go far beyond the peak: {order:?}");
        let said = analysis::conclusion(&sweep.rows(), &scaling(&sweep), None).join(" ");
        assert!(said.contains("waits for something shared"), "{order:?} {said}");
    }

    #[test]
    fn levels_that_fail_end_the_search_for_higher_ones() {
        let mut sweep = Sweep::new("failing".to_owned(), String::new(), Vec::new());
        for users in [1, 2, 4] {
            sweep.trials.push(trial(users, 100.0 * f64::from(users)));
        }
        let last = sweep.trials[2].summary.edit_for_test();
        (last.requests.failed, last.requests.succeeded) = (last.requests.due, 0);
        assert!(chosen(&sweep, 4096.0, 1).is_none_or(|users| users.get() < 4));
        assert_eq!(chosen(&sweep, 0.0, 1), None);
    }

    #[test]
    fn a_shuffle_loses_nothing_and_follows_its_seed() {
        let shuffled = |seed| {
            let mut them: Vec<u32> = (0..20).collect();
            shuffle(&mut them, &mut Random::new(seed, ROUNDS));
            them
        };
        assert_eq!(shuffled(1), shuffled(1));
        assert_ne!(shuffled(1), shuffled(2));
        let mut sorted = shuffled(1);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..20).collect::<Vec<_>>());
    }
}
