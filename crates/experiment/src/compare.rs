//! Pairs of runs of two sides, in random order, until enough of them count.
//!
//! Runs of one build differ by several percent, and who measures all of A and then all of B measures the afternoon too. So the two runs
//! of a pair follow each other and have the same arrivals. How many pairs it takes, the noise of the first ones says.

use std::fmt;
use std::num::NonZeroU32;

use analysis::compare::{Need, PAIRS_MIN};
use analysis::comparison::{Comparison, Pair, ProfiledSide, Side};
use measure::{Ending, Summary};
use plan::{Nanos, Plan, Random};
use trial::RunError;

use crate::bench::{Bench, Load, Role, to_its_end};

/// After so many pairs that all say nothing about the server, more would not either.
const HOPELESS: usize = 3;
/// The stream of chance that orders pairs.
const ORDER_STREAM: u64 = 0x0DE2;

/// What is measured in pairs.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    /// Both plans of every pair, some pairs in reserve for those that will say nothing about the server.
    pub plans: &'a [[Plan; 2]],
    /// How many pairs are to count; `None`: as many as the noise of the first ones asks for.
    pub pairs: Option<NonZeroU32>,
    /// The rest between two runs.
    pub cooldown: Nanos,
    /// What the order of each pair is drawn from.
    pub seed: u64,
    /// Of which sides a profile is taken, after the pairs.
    pub is_profiled: [bool; 2],
}

/// What happens in a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event {
    /// The pairs begin.
    Begin,
    /// A pair was measured: the last one.
    Measured,
    /// The first pairs say how many it takes.
    Needed(Need),
    /// Profiles will be taken.
    Profiles,
}

/// Measures pair by pair, each side on its own bench; what was measured is in `comparison` after each pair, and why it ended if it did
/// before its end. Tells whether the user, or a condition of the user, ended it.
///
/// # Errors
/// If a run cannot be carried out.
pub fn carry_out<'a>(
    settings: &'a Settings<'a>,
    comparison: &mut Comparison,
    benches: [&'a mut dyn Bench; 2],
    tell: &mut dyn FnMut(&mut Comparison, Event),
) -> Result<Ending, RunError> {
    let mut pairing = Pairing { settings, benches };
    tell(comparison, Event::Begin);
    let mut order = Order::new(settings.seed);
    let mut pairs = settings.pairs.map_or(PAIRS_MIN, |pairs| pairs.get() as usize);
    let mut need_known = settings.pairs.is_some();
    for (number, plans) in settings.plans.iter().enumerate() {
        match pairing.pair((number, pairs), order.draw(), plans) {
            Ok(Ok(pair)) => comparison.pairs.push(pair),
            Ok(Err(end)) => {
                comparison.stopped = Some(end.to_string());
                return Ok(if end == End::Interrupted { Ending::Interrupted } else { Ending::Aborted });
            }
            Err(error) => {
                comparison.stopped = Some("a run could not be carried out".to_owned());
                return Err(error);
            }
        }
        tell(comparison, Event::Measured);
        let sound = comparison.sound().count();
        if !need_known && sound == PAIRS_MIN {
            need_known = true;
            if let Some(need) = comparison.need() {
                (pairs, comparison.pairs_planned) = (need.pairs, need.pairs as u32);
                tell(comparison, Event::Needed(need));
            }
        }
        if sound >= pairs {
            break;
        }
        if sound == 0 && comparison.pairs.len() >= HOPELESS {
            comparison.stopped = Some(format!("none of the first {HOPELESS} pairs says anything about the server"));
            break;
        }
    }
    pairing.profile(comparison, tell)?;
    Ok(Ending::Finished)
}

/// Why no more is measured.
#[derive(Debug, PartialEq)]
enum End {
    /// The user ended it.
    Interrupted,
    /// This condition of the user came true in that run.
    Aborted(String, String),
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => f.write_str("interrupted"),
            Self::Aborted(rule, run) => write!(f, "'{rule}' came true in {run}"),
        }
    }
}

struct Pairing<'a> {
    settings: &'a Settings<'a>,
    benches: [&'a mut dyn Bench; 2],
}

impl Pairing<'_> {
    fn is_interrupted(&self) -> bool {
        self.benches[0].is_interrupted()
    }

    /// Both runs of a pair.
    fn pair(&mut self, (number, wanted): (usize, usize), first: Side, plans: &[Plan; 2]) -> Result<Result<Pair, End>, RunError> {
        let mut runs: [Option<Summary>; 2] = [None, None];
        let order = if first == Side::A { [0, 1] } else { [1, 0] };
        for (turn, side) in order.into_iter().enumerate() {
            if number > 0 || turn > 0 {
                self.benches[side].rest(self.settings.cooldown);
            }
            let title = format!("pair {} of {wanted}, {}", number + 1, ["A", "B"][side]);
            match self.run(side, &plans[side], title, Role::Trial)? {
                Ok(run) => runs[side] = Some(run),
                Err(end) => return Ok(Err(end)),
            }
        }
        let [a, b] = runs.map(|run| run.expect("both sides were measured"));
        Ok(Ok(Pair::new(first, a, b)))
    }

    /// A run more of each side, with a profile. They are no part of the comparison, whose figures a profile would change.
    fn profile(&mut self, comparison: &mut Comparison, tell: &mut dyn FnMut(&mut Comparison, Event)) -> Result<(), RunError> {
        let Some(plans) = self.settings.plans.first().filter(|_| !comparison.pairs.is_empty()) else { return Ok(()) };
        if self.settings.is_profiled == [false; 2] || self.is_interrupted() {
            return Ok(());
        }
        tell(comparison, Event::Profiles);
        for (place, side) in [Side::A, Side::B].into_iter().enumerate().filter(|(place, _)| self.settings.is_profiled[*place]) {
            self.benches[place].rest(self.settings.cooldown);
            let (letter, files) = [("A", "a "), ("B", "b ")][place];
            match self.run(place, &plans[place], format!("{letter}, with a profile"), Role::Profile(files.to_owned()))? {
                Ok(summary) => comparison.profiled.push(ProfiledSide { side, summary }),
                Err(_) => return Ok(()),
            }
        }
        Ok(())
    }

    /// One run of a side.
    fn run(&mut self, side: usize, plan: &Plan, title: String, role: Role) -> Result<Result<Summary, End>, RunError> {
        let interrupted = || Ok(Err(End::Interrupted));
        if self.is_interrupted() {
            return interrupted();
        }
        let load = Load { plan, title, role };
        let measured = match self.benches[side].measure(&load, &mut to_its_end) {
            Ok(measured) => measured,
            // What was not begun since the user wants to end is no run that failed.
            Err(error) if error.measured.is_none() && self.is_interrupted() => return interrupted(),
            Err(error) => return Err(error),
        };
        if let Some(rule) = &measured.aborted_by {
            return Ok(Err(End::Aborted(rule.to_string(), load.title)));
        }
        if measured.run.ended.how == Ending::Interrupted { interrupted() } else { Ok(Ok(measured.run)) }
    }
}

/// Which side comes first: drawn for every second pair, and the other way round in the next, so that what drifts steadily
/// meets both sides alike (ABBA or BAAB).
struct Order {
    random: Random,
    next: Option<Side>,
}

impl Order {
    fn new(seed: u64) -> Self {
        Self { random: Random::new(seed, ORDER_STREAM), next: None }
    }

    fn draw(&mut self) -> Side {
        if let Some(side) = self.next.take() {
            return side;
        }
        let (first, second) = if self.random.unit() < 0.5 { (Side::A, Side::B) } else { (Side::B, Side::A) };
        self.next = Some(second);
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    use analysis::compare::{Margins, Verdict};
    use analysis::comparison::Subject;
    use plan::Draft;

    use crate::simulated::{Pool, SimulatedBench, decide};

    fn comparison() -> Comparison {
        let subject = |name: &str| Subject { name: name.to_owned(), command: None };
        Comparison::new("a_b".to_owned(), subject("a"), subject("b"), 5, Margins::default(), None)
    }

    fn plans(pairs: u32) -> Vec<[Plan; 2]> {
        let plan = |seed: u32| {
            let draft = Draft { connections: "4".parse().ok(), duration: "2s".parse().ok(), ..Draft::default() };
            decide(Draft { seed: seed.to_string().parse().ok(), ..draft }).unwrap()
        };
        (1..=pairs).map(|seed| [plan(seed), plan(seed)]).collect()
    }

    fn settings(plans: &[[Plan; 2]], pairs: Option<u32>) -> Settings<'_> {
        let pairs = pairs.and_then(NonZeroU32::new);
        Settings { plans, pairs, cooldown: Nanos::from_millis(500), seed: 1, is_profiled: [false, true] }
    }

    fn bench(takes_ms: u64) -> SimulatedBench {
        SimulatedBench::new(Pool::new(4, Duration::from_millis(takes_ms)))
    }

    #[test]
    fn a_slower_side_is_called_worse_after_as_many_pairs_as_the_noise_asks_for() {
        let (mut comparison, mut a, mut b) = (comparison(), bench(10), bench(13));
        let plans = plans(30);
        let mut seen = Vec::new();
        carry_out(&settings(&plans, None), &mut comparison, [&mut a, &mut b], &mut |_, event| seen.push(event)).unwrap();
        comparison.judge();
        // Simulated runs have no noise, so the first pairs are enough.
        assert_eq!((comparison.pairs.len(), comparison.verdict()), (PAIRS_MIN, Some(Verdict::Worse)));
        assert_eq!((comparison.profiled.len(), comparison.profiled[0].side, comparison.stopped), (1, Side::B, None));
        assert_eq!(seen.iter().filter(|event| **event == Event::Measured).count(), PAIRS_MIN);
        assert!(matches!(seen[..], [Event::Begin, .., Event::Needed(_), Event::Profiles]), "{seen:?}");
        assert_eq!((a.loads.len(), b.loads.len()), (PAIRS_MIN, PAIRS_MIN + 1));
    }

    #[test]
    fn a_comparison_that_is_ended_or_breaks_off_keeps_its_pairs_and_says_why() {
        let plans = plans(10);
        let (mut comparison_, mut a, mut b) = (comparison(), bench(10), bench(10));
        a.interrupted_in = Some(3);
        carry_out(&settings(&plans, Some(8)), &mut comparison_, [&mut a, &mut b], &mut |_, _| ()).unwrap();
        assert_eq!((comparison_.pairs.len(), comparison_.stopped.as_deref()), (2, Some("interrupted")));
        let (mut comparison, mut a, mut b) = (comparison(), bench(10), bench(10));
        b.fails_in = Some(2);
        let failed = carry_out(&settings(&plans, Some(8)), &mut comparison, [&mut a, &mut b], &mut |_, _| ()).unwrap_err();
        assert_eq!(failed.message, "connection refused".into());
        assert_eq!((comparison.pairs.len(), comparison.stopped.as_deref()), (1, Some("a run could not be carried out")));
        assert!(comparison.profiled.is_empty());
    }

    #[test]
    fn a_drift_meets_both_sides_alike() {
        for seed in 0..20 {
            let mut order = Order::new(seed);
            let drawn: Vec<Side> = (0..20).map(|_| order.draw()).collect();
            assert_eq!(drawn.iter().filter(|side| **side == Side::A).count(), 10);
            assert!(drawn.chunks(2).all(|two| two[0] != two[1]));
        }
        let orders: Vec<Vec<bool>> = (0..20)
            .map(|seed| {
                let mut order = Order::new(seed);
                (0..6).map(|_| order.draw() == Side::A).collect()
            })
            .collect();
        assert!(orders.iter().any(|order| *order != orders[0]), "another seed gives another order");
    }
}
