//! Populations: loads side by side in one run, each with users or arrivals of its own.
//!
//! A shop has customers who browse and an office that writes a report every minute; a run with one of them shows a server that does not
//! exist. Two runs at the same time were the alternative: they start apart, end apart, and nobody can say what the server had to carry
//! in all. So one plan holds several loads, which share the target, the clock and the measured span.
//!
//! A population that starts later or ends earlier than the run is one whose number of users, or rate, is 0 until then and from then on:
//! [`Population::load_in_run`]. So whoever sends a population's share needs to know nothing of the others.

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use crate::{Given, Load, Nanos, Pause, Plan, Share, Spacing, Stage, Stages, Timetable, Users};

/// A population as the user wrote it: every setting optional, nothing checked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PopulationDraft {
    /// What reports call it.
    pub name: String,
    /// The journeys that its users go through, by name; empty: all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub journeys: Vec<String>,
    /// How many users, or in open load the most connections at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub connections: Option<Given<Users>>,
    /// How many journeys begin a second, answered or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Given<Timetable>>,
    /// How journeys stand within the rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Given<Spacing>>,
    /// What a user waits after every answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause: Option<Given<Pause>>,
    /// How long after the start of the run it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_after: Option<Given<Nanos>>,
    /// How long it is there; otherwise until the end of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Given<Nanos>>,
    /// How many requests it sends at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<Given<NonZeroU64>>,
}

/// One of several loads that run side by side.
#[derive(Debug, Clone, PartialEq)]
pub struct Population {
    /// What reports call it.
    pub name: String,
    /// The journeys that its users go through, by name; empty: all.
    pub journeys: Vec<String>,
    /// Its load, from when it begins.
    pub load: Load,
    /// How many requests it sends at most.
    pub requests: Option<NonZeroU64>,
    /// How long after the start of the run it begins, warm-up not included.
    pub start_after: Nanos,
    /// How long it is there.
    pub duration: Nanos,
}

impl Population {
    /// The load as it is from the start of the run: nothing before the population begins, nothing after its end.
    #[must_use]
    pub fn load_in_run(&self) -> Load {
        match &self.load {
            Load::Closed { users, pause } => Load::Closed { users: self.shifted(users), pause: *pause },
            Load::Open { timetable, spacing, connections_max } => {
                Load::Open { timetable: self.shifted(timetable), spacing: *spacing, connections_max: *connections_max }
            }
            Load::Mixed(_) => unreachable!("a population has one load"),
        }
    }

    fn shifted<V: crate::Amount>(&self, stages: &Stages<V>) -> Stages<V> {
        let before = (self.start_after > Nanos::ZERO).then(|| Stage::constant(V::nearest(0.0), Some(self.start_after)));
        let own = stages.stages().iter().map(|stage| Stage { length: stage.length.or(Some(self.duration)), ..*stage });
        Stages::new(before.into_iter().chain(own).collect())
    }

    /// When it ends, from the start of the run, warm-up not included.
    #[must_use]
    pub fn end(&self) -> Nanos {
        self.start_after.plus(self.duration)
    }

    /// Whether its load is the same from the start of a run of this length to its end.
    #[must_use]
    pub fn is_constant(&self, run: Nanos) -> bool {
        self.start_after == Nanos::ZERO
            && self.duration >= run
            && match &self.load {
                Load::Closed { users, .. } => users.is_constant(),
                Load::Open { timetable, .. } => timetable.is_constant(),
                Load::Mixed(_) => false,
            }
    }
}

/// One source's part of a plan: a share of one population's load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The place of the population; 0 where there is one load.
    pub population: u32,
    /// The share of its load.
    pub share: Share,
    /// The share of all that the whole run counts: requests, journeys, rows of data, dials.
    pub of_run: Share,
    /// The number of the population's first user; those of the populations before it have lower ones.
    pub first_user: u64,
}

/// Of a plan with one load.
impl From<Share> for Part {
    fn from(share: Share) -> Self {
        Self { population: 0, share, of_run: share, first_user: 0 }
    }
}

impl Plan {
    /// The parts of all sources, in the order of their numbers.
    #[must_use]
    pub fn parts(&self) -> Vec<Part> {
        let populations = u32::try_from(self.populations().len()).unwrap_or(u32::MAX).max(1);
        let loads: Vec<Self> = (0..populations).map(|place| self.of_population(place)).collect();
        let sources = loads.iter().fold(0, |sum, load| sum + load.threads().get());
        let mut of_run = Share::all(sources.try_into().unwrap_or(std::num::NonZeroU32::MIN));
        let mut parts = Vec::with_capacity(sources as usize);
        let mut first_user = 0;
        for (population, load) in (0..).zip(&loads) {
            let shares = Share::all(load.threads()).zip(&mut of_run);
            parts.extend(shares.map(|(share, of_run)| Part { population, share, of_run, first_user }));
            first_user += u64::from(load.connections_max().get());
        }
        parts
    }
}

/// As it would be typed, everything that was decided with it.
impl From<&Population> for PopulationDraft {
    fn from(population: &Population) -> Self {
        let Population { name, journeys, load, requests, start_after, duration } = population.clone();
        let (connections, rate, arrivals, pause) = match load {
            Load::Closed { users, pause } => (Some(users), None, None, pause),
            Load::Open { timetable, spacing, connections_max } => (Some(connections_max.into()), Some(timetable), Some(spacing), None),
            Load::Mixed(_) => (None, None, None, None),
        };
        Self {
            name,
            journeys,
            connections: connections.map(Given::Value),
            rate: rate.map(Given::Value),
            arrivals: arrivals.map(Given::Value),
            pause: pause.map(Given::Value),
            start_after: (start_after > Nanos::ZERO).then_some(Given::Value(start_after)),
            duration: Some(Given::Value(duration)),
            requests: requests.map(Given::Value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn population(load: Load, start_after: u64, duration: u64) -> Population {
        Population {
            name: "p".to_owned(),
            journeys: Vec::new(),
            load,
            requests: None,
            start_after: Nanos::from_secs(start_after),
            duration: Nanos::from_secs(duration),
        }
    }

    #[test]
    fn users_that_come_later_are_none_before_and_none_afterwards() {
        let users: Users = "5".parse().unwrap();
        let Load::Closed { users, .. } = population(Load::Closed { users, pause: None }, 10, 20).load_in_run() else { panic!() };
        assert_eq!(users.to_string(), "0 for 10s, 5 for 20s");
        assert_eq!(users.presence(4), [(Nanos::from_secs(10), Nanos::from_secs(30))]);
    }

    #[test]
    fn parts_of_several_populations_share_the_numbers_of_the_run() {
        let of = |name: &str, users: &str| PopulationDraft { name: name.to_owned(), connections: users.parse().ok(), ..Default::default() };
        let draft = crate::Draft {
            url: Some("http://a.test/".to_owned()),
            scenario: Some("s.yaml".to_owned()),
            threads: "2".parse().ok(),
            populations: vec![of("many", "5"), of("one", "1"), of("few", "3")],
            ..crate::Draft::default()
        };
        let plan = Plan::try_from(draft).unwrap();
        let parts: Vec<_> =
            plan.parts().into_iter().map(|part| (part.population, part.share.index(), part.share.of(), part.of_run.index(), part.first_user)).collect();
        assert_eq!(parts, [(0, 0, 2, 0, 0), (0, 1, 2, 1, 0), (1, 0, 1, 2, 5), (2, 0, 2, 3, 6), (2, 1, 2, 4, 6)]);
        assert_eq!(plan.connections_max().get(), 9);
        let again = Plan::try_from(crate::Draft::from(plan.clone())).unwrap();
        assert_eq!(again, plan);
    }

    #[test]
    fn arrivals_that_begin_later_keep_their_stages() {
        let timetable: Timetable = "0/s to 10/s for 5s, 10/s for 5s".parse().unwrap();
        let load = Load::Open { timetable, spacing: Spacing::Even, connections_max: std::num::NonZeroU32::MIN };
        let Load::Open { timetable, .. } = population(load, 3, 10).load_in_run() else { panic!() };
        assert_eq!(timetable.to_string(), "0/s for 3s, 0/s to 10/s for 5s, 10/s for 5s");
    }
}
