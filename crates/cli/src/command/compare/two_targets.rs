//! Two addresses under one load: what a browser may compare.
//!
//! No files and no commands, which the command line compares too: whoever is at the other end did not log in to this machine.

use analysis::comparison::{Comparison, Subject};
use analysis::gate::Check;
use experiment::compare::{Event, Settings};
use plan::{ComparisonDraft, Draft, LoadRecord, Plan, PlanErrors};
use resolve::Scenarios;
use trial::RunError;

use super::{Design, PAIRS_LAST, PreparedSide, lasting, plans, seed_of, suggested, unmeasured};
use crate::bench::ServerBench;

/// Two addresses under one load, decided.
pub struct TwoTargets {
    sides: [PreparedSide; 2],
    plans: Vec<[Plan; 2]>,
    design: Design,
    seed: u64,
}

impl TwoTargets {
    /// Decides every pair; the load is that of A. Every mistake goes to `errors`.
    pub fn decide(
        mut load: LoadRecord,
        other: String,
        comparison: ComparisonDraft,
        scenarios: &Scenarios,
        errors: &mut PlanErrors,
    ) -> Option<Self> {
        let design = Design::decide(comparison, errors);
        lasting(&mut load, scenarios);
        let a = load.draft.url.clone().or_else(|| scenarios.own_load(&load).draft.url).unwrap_or_default();
        let sides = [a, other].map(|url| PreparedSide {
            // Written down as every URL is: without its secrets.
            subject: Subject { name: url.parse::<plan::Target>().map_or_else(|_| url.clone(), |target| target.to_string()), command: None },
            load: LoadRecord { draft: Draft { url: Some(url), ..load.draft.clone() }, ..load.clone() },
            scenarios: scenarios.clone(),
            left_out: Vec::new(),
            from_file: false,
            invalid: None,
            machines: Vec::new(),
        });
        let seed = seed_of(&sides);
        let plans = plans(&sides, design.pairs.unwrap_or(PAIRS_LAST), seed, errors);
        (!plans.is_empty()).then_some(Self { sides, plans, design, seed })
    }

    /// The first plan of each side.
    pub fn first(&self) -> [&Plan; 2] {
        let [a, b] = &self.plans[0];
        [a, b]
    }

    /// What it is called, where it was not given a name.
    pub fn suggested(&self) -> String {
        suggested(&self.sides)
    }

    /// A comparison of which nothing is measured yet.
    pub fn unmeasured(&self, name: &str, promises: Vec<Check>) -> Comparison {
        Comparison { promises, ..unmeasured(name.to_owned(), &self.sides, self.first(), &self.design) }
    }

    /// Measures pair by pair, each side on its bench.
    ///
    /// # Errors
    /// If a run cannot be carried out; what was measured is in `comparison`.
    pub fn measure(
        &self,
        comparison: &mut Comparison,
        [mut a, mut b]: [ServerBench<'_>; 2],
        tell: &mut dyn FnMut(&mut Comparison, Event),
    ) -> Result<(), RunError> {
        let Design { pairs, cooldown, .. } = self.design;
        let is_profiled = [&a, &b].map(|bench| !bench.probes.is_empty());
        let settings = Settings { plans: &self.plans, pairs, cooldown, seed: self.seed, is_profiled };
        experiment::compare::carry_out(&settings, comparison, [&mut a, &mut b], tell).map(drop)
    }
}
