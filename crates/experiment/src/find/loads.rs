//! The loads of a search: trials at a rate, and requests one by one between them.

use std::num::{NonZeroU32, NonZeroU64};

use analysis::search::{Purpose, Settings};
use plan::{Draft, Nanos, Plan, PlanErrors, PopulationDraft, Rate, Setting, Stage, Timetable, Warmup};

/// Makes the plan of a load from its settings; a population that is given goes in the place of all that a scenario has.
pub type Decide<'a> = &'a dyn Fn(Draft, Option<PopulationDraft>) -> Result<Plan, PlanErrors>;

/// The share of a ramp trial that opens connections before it measures: these would be late requests of a server that is not.
const WARMUP_OF_RAMP: f64 = 0.1;
/// Requests of journeys one by one; their steps take unlike times.
const JOURNEY_REQUESTS: NonZeroU64 = NonZeroU64::new(30).unwrap();
/// Probes of journeys draw with seeds from here on.
const PROBE_SEEDS: u64 = 1 << 40;
/// A probe that is not answered by then has shown that the server is not well.
const PROBE_TIMEOUT: Nanos = Nanos::from_secs(5);
/// A probe of journeys has answered by then, or ends.
const JOURNEY_PROBE_MAX: Nanos = Nanos(PROBE_TIMEOUT.0 * JOURNEY_REQUESTS.get());

/// What all loads of a search have in common, from which each is made.
pub struct Loads<'a> {
    draft: Draft,
    decide: Decide<'a>,
    /// Whether its rates begin journeys.
    is_scenario: bool,
    /// For how long a journey pauses in all: so long it takes until the load of a trial is steady.
    thinking: Nanos,
    first: Plan,
    probes: u64,
}

impl<'a> Loads<'a> {
    /// Looks at everything that is the same in every trial, by the first of them; `thinking` tells how long a journey of a plan pauses.
    ///
    /// # Errors
    /// With every mistake.
    pub fn new(
        draft: Draft,
        decide: Decide<'a>,
        is_scenario: bool,
        thinking: &dyn Fn(&Plan) -> Nanos,
        settings: &Settings,
    ) -> Result<Self, PlanErrors> {
        let ramp = (settings.first_rate, settings.ramp_s, Purpose::Ramp);
        let first = decide(at_rate(&draft, ramp, is_scenario, Nanos::ZERO, settings, settings.seed), None)?;
        let thinking = thinking(&first);
        Ok(Self { draft, decide, is_scenario, thinking, first, probes: 0 })
    }

    /// The first trial, for whatever is the same in all of them.
    #[must_use]
    pub const fn first(&self) -> &Plan {
        &self.first
    }

    /// For how long a journey pauses in all.
    #[must_use]
    pub const fn thinking(&self) -> Nanos {
        self.thinking
    }

    /// One trial, with a seed of its own, which its result records.
    ///
    /// # Errors
    /// With every mistake.
    ///
    /// # Panics
    /// If the rate is negative or no number: that is our mistake.
    pub fn trial(&self, rate: f64, seconds: f64, purpose: Purpose, settings: &Settings, seed: u64) -> Result<Plan, PlanErrors> {
        (self.decide)(at_rate(&self.draft, (rate, seconds, purpose), self.is_scenario, self.thinking, settings, seed), None)
    }

    /// So many requests one by one; of journeys so many that each step comes up.
    ///
    /// # Errors
    /// With every mistake.
    pub fn probe(&mut self, requests: NonZeroU64) -> Result<Plan, PlanErrors> {
        // The warm-up of a scenario is for its load.
        let warmup = self.is_scenario.then_some(Setting::Value(Warmup::Lasting(Nanos::ZERO)));
        let duration = self.is_scenario.then_some(Setting::Value(JOURNEY_PROBE_MAX));
        let mut draft = Draft { rate: None, duration, warmup, arrivals: None, ..self.draft.clone() };
        draft.connections = Some(Setting::Value(NonZeroU32::MIN.into()));
        draft.requests = Some(Setting::Value(if self.is_scenario { JOURNEY_REQUESTS } else { requests }));
        if self.is_scenario && !matches!(draft.seed, Some(Setting::Wrong { .. })) {
            // Who signs up twice with the same name is refused: no two probes draw alike, and none as a trial does.
            draft.seed = Some(Setting::Value(PROBE_SEEDS + self.probes));
            self.probes += 1;
        }
        if let Some(Setting::Value(timeout)) = draft.timeout {
            draft.timeout = Some(Setting::Value(timeout.min(PROBE_TIMEOUT)));
        }
        // One population in the place of all of them: it goes through every journey.
        let alone = (!self.first.populations().is_empty()).then(|| {
            let (connections, requests) = (draft.connections.take(), draft.requests.take());
            PopulationDraft { name: "one by one".to_owned(), connections, requests, ..PopulationDraft::default() }
        });
        (self.decide)(draft, alone)
    }
}

/// The settings of one trial.
fn at_rate(
    common: &Draft,
    (rate, seconds, purpose): (f64, f64, Purpose),
    is_scenario: bool,
    thinking: Nanos,
    settings: &Settings,
    seed: u64,
) -> Draft {
    let mut draft = common.clone();
    let rate = Rate::per_second(rate).expect("a search tries rates above zero");
    draft.rate = Some(Setting::Value(Timetable::new(vec![Stage::constant(rate, None)])));
    draft.duration = Some(Setting::Value(Nanos((seconds * 1e9) as u64)));
    draft.seed = match draft.seed {
        Some(wrong @ Setting::Wrong { .. }) => Some(wrong),
        _ => Some(Setting::Value(seed)),
    };
    if purpose == Purpose::FromAbove {
        // The time straight after the overload is what this trial is about.
        draft.warmup = is_scenario.then_some(Setting::Value(Warmup::Lasting(Nanos::ZERO)));
    } else if draft.warmup.is_none() {
        let opening = Nanos((settings.ramp_s * WARMUP_OF_RAMP * 1e9) as u64);
        draft.warmup = Some(Setting::Value(Warmup::Lasting(opening.max(thinking))));
    }
    // Whether the server is there at all was seen before the search; if it goes away, that is a result.
    draft.no_preflight |= seed != settings.seed;
    draft
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::{Load, LoadRecord, Sources};

    /// Plans of a scenario with populations of its own, under what is typed.
    fn decide(draft: Draft, alone: Option<PopulationDraft>) -> Result<Plan, PlanErrors> {
        let of = |name: &str, users: Option<&str>, rate: Option<&str>| PopulationDraft {
            name: name.to_owned(),
            connections: users.and_then(|text| text.parse().ok()),
            rate: rate.and_then(|text| text.parse().ok()),
            ..PopulationDraft::default()
        };
        let own = Draft { url: Some("http://a.test/".to_owned()), scenario: Some("s.yaml".to_owned()), ..Draft::default() };
        let populations = alone.map_or_else(|| vec![of("visitors", Some("10"), None), of("partners", None, Some("5/s"))], |one| vec![one]);
        Plan::try_from(LoadRecord { draft: own.overlaid(draft), sources: Sources { populations, ..Sources::default() } })
    }

    #[test]
    fn a_scenario_with_populations_is_probed_by_one_user_and_searched_by_all_of_them() {
        let settings = Settings::new(Vec::new(), 100.0, 1).quick();
        let mut loads = Loads::new(Draft::default(), &decide, true, &|_| Nanos::ZERO, &settings).unwrap();
        let trial = loads.trial(50.0, 10.0, Purpose::Ramp, &settings, 7).unwrap();
        assert_eq!(trial.populations().len(), 2);
        let probe = loads.probe(NonZeroU64::MIN).unwrap();
        let [population] = probe.populations() else { panic!("{:?}", probe.populations()) };
        assert_eq!((probe.connections_max().get(), population.requests), (1, Some(JOURNEY_REQUESTS)));
        assert!(matches!(population.load, Load::Closed { .. }) && population.journeys.is_empty());
        assert_eq!(probe.duration(), Some(Nanos::from_secs(150)), "who waits for somebody does not wait for ever");
    }
}
