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

use crate::setting::{CONNECTIONS, RATE};
use crate::{Load, Nanos, Pause, Plan, PlanError, Setting, Share, Spacing, Stage, Stages, Timetable, Users};

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
    pub connections: Option<Setting<Users>>,
    /// How many journeys begin a second, answered or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<Setting<Timetable>>,
    /// How journeys stand within the rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<Setting<Spacing>>,
    /// What a user waits after every answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pause: Option<Setting<Pause>>,
    /// How long after the start of the run it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_after: Option<Setting<Nanos>>,
    /// How long it is there; otherwise until the end of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration: Option<Setting<Nanos>>,
    /// How many requests it sends at most; with a rate, how many journeys begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<Setting<NonZeroU64>>,
    /// How many journeys its users begin at most, all together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<Setting<NonZeroU64>>,
    /// How many journeys each of its users begins at most, and goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations_per_user: Option<Setting<NonZeroU64>>,
    /// The population whose users have all gone when it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
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
    /// How many requests it sends at most; with a rate, how many journeys begin.
    pub requests: Option<NonZeroU64>,
    /// How many journeys its users begin at most, all together.
    pub iterations: Option<NonZeroU64>,
    /// How many journeys each of its users begins at most, and goes.
    pub iterations_per_user: Option<NonZeroU64>,
    /// The population whose users have all gone when it begins.
    pub after: Option<String>,
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
            && self.after.is_none()
            && self.duration >= run
            && match &self.load {
                Load::Closed { users, .. } => users.is_constant(),
                Load::Open { timetable, .. } => timetable.is_constant(),
                Load::Mixed(_) => false,
            }
    }
}

/// Makes the populations larger or smaller, all by one factor, so that they have so many users in all, or so high a rate. Numbers of users
/// are rounded; of constant ones the sum is as asked.
///
/// # Errors
/// If no population has users, or none a rate; and if there are fewer users than populations of users.
pub(crate) fn scale(populations: &mut [Population], users: Option<&Users>, rate: Option<&Timetable>) -> Result<(), PlanError> {
    let peak = |population: &Population| match &population.load {
        Load::Closed { users, .. } => f64::from(users.peak()),
        Load::Open { timetable, .. } => timetable.peak().as_per_second(),
        Load::Mixed(_) => 0.0,
    };
    let (setting, asked, is_constant) = match (users, rate) {
        (None, None) => return Ok(()),
        // With a rate, a number of connections is the most at once, which each population says for itself.
        (_, Some(rate)) => (RATE, rate.peak().as_per_second(), rate.is_constant()),
        (Some(users), None) => (CONNECTIONS, f64::from(users.peak()), users.is_constant()),
    };
    let is_scaled_by = |population: &Population| population.load.is_open() == (setting == RATE);
    let sum: f64 = populations.iter().filter(|population| is_scaled_by(population)).map(peak).sum();
    let wrong = |message: String, help: String| Err(PlanError::new(setting, message, help));
    if !is_constant {
        let message = format!("{setting} has stages, and the populations of the scenario have their own");
        return wrong(message, "give one number, which is divided among the populations".to_owned());
    }
    if sum <= 0.0 {
        return match setting {
            RATE => wrong(
                format!("{RATE} is divided among the populations of the scenario, and none of them has a rate"),
                format!("give {CONNECTIONS}, or a population a rate"),
            ),
            _ => wrong(
                format!("{CONNECTIONS} is divided among the populations of the scenario, and all of them have rates"),
                format!("give {RATE}, or a population users"),
            ),
        };
    }
    let closed = populations.iter().filter(|population| population.load.is_closed()).count();
    if setting == CONNECTIONS && asked < closed as f64 {
        let message = format!("{CONNECTIONS:#} {asked} is fewer than the {closed} populations that have users");
        return wrong(message, "give each population at least one user".to_owned());
    }
    let factor = asked / sum;
    for population in populations.iter_mut() {
        match &mut population.load {
            Load::Closed { users, .. } => *users = users.scaled(factor, 1.0),
            Load::Open { timetable, .. } => *timetable = timetable.scaled(factor, 0.0),
            Load::Mixed(_) => {}
        }
    }
    if setting == CONNECTIONS {
        round_to(populations, asked as i64);
    }
    Ok(())
}

/// Takes what rounding added from the largest population of constant users, or gives it what rounding took.
fn round_to(populations: &mut [Population], asked: i64) {
    let mut missing = asked;
    let mut largest: Option<&mut Users> = None;
    for population in populations {
        let Load::Closed { users, .. } = &mut population.load else { continue };
        missing -= i64::from(users.peak());
        if users.is_constant() && largest.as_ref().is_none_or(|largest| largest.peak() < users.peak()) {
            largest = Some(users);
        }
    }
    if let Some(users) = largest
        && let Ok(peak) = u32::try_from(i64::from(users.peak()) + missing)
        && peak > 0
    {
        *users = Stages::new(users.stages().iter().map(|stage| Stage { from: peak, to: peak, ..*stage }).collect());
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
        let Population { name, journeys, load, requests, iterations, iterations_per_user, after, start_after, duration } =
            population.clone();
        let (connections, rate, arrivals, pause) = match load {
            Load::Closed { users, pause } => (Some(users), None, None, pause),
            Load::Open { timetable, spacing, connections_max } => (Some(connections_max.into()), Some(timetable), Some(spacing), None),
            Load::Mixed(_) => (None, None, None, None),
        };
        Self {
            name,
            journeys,
            connections: connections.map(Setting::Value),
            rate: rate.map(Setting::Value),
            arrivals: arrivals.map(Setting::Value),
            pause: pause.map(Setting::Value),
            start_after: (start_after > Nanos::ZERO).then_some(Setting::Value(start_after)),
            duration: Some(Setting::Value(duration)),
            requests: requests.map(Setting::Value),
            iterations: iterations.map(Setting::Value),
            iterations_per_user: iterations_per_user.map(Setting::Value),
            after,
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
            iterations: None,
            iterations_per_user: None,
            after: None,
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
            ..crate::Draft::default()
        };
        let sources = crate::Sources { populations: vec![of("many", "5"), of("one", "1"), of("few", "3")], ..Default::default() };
        let plan = Plan::try_from(crate::LoadRecord { draft, sources }).unwrap();
        let parts: Vec<_> = plan
            .parts()
            .into_iter()
            .map(|part| (part.population, part.share.index(), part.share.of(), part.of_run.index(), part.first_user))
            .collect();
        assert_eq!(parts, [(0, 0, 2, 0, 0), (0, 1, 2, 1, 0), (1, 0, 1, 2, 5), (2, 0, 2, 3, 6), (2, 1, 2, 4, 6)]);
        assert_eq!((plan.connections_max().get(), plan.threads().get()), (9, 5));
        let again = Plan::try_from(crate::LoadRecord::from(plan.clone())).unwrap();
        assert_eq!(again, plan);
    }

    #[test]
    fn a_number_for_all_is_divided_as_the_populations_are() {
        let plan = |connections: Option<&str>, rate: Option<&str>| {
            let of = |name: &str, users: Option<&str>, rate: Option<&str>| PopulationDraft {
                name: name.to_owned(),
                connections: users.and_then(|text| text.parse().ok()),
                rate: rate.and_then(|text| text.parse().ok()),
                ..Default::default()
            };
            let draft = crate::Draft {
                url: Some("http://a.test/".to_owned()),
                scenario: Some("s.yaml".to_owned()),
                connections: connections.and_then(|text| text.parse().ok()),
                rate: rate.and_then(|text| text.parse().ok()),
                ..crate::Draft::default()
            };
            let populations = vec![of("many", Some("6"), None), of("few", Some("3"), None), of("office", None, Some("2/s"))];
            Plan::try_from(crate::LoadRecord { draft, sources: crate::Sources { populations, ..Default::default() } })
        };
        let loads = |plan: Plan| -> Vec<String> {
            let words = |population: &Population| match &population.load {
                Load::Closed { users, .. } => users.peak().to_string(),
                Load::Open { timetable, .. } => timetable.peak().to_string(),
                Load::Mixed(_) => String::new(),
            };
            plan.populations().iter().map(words).collect()
        };
        assert_eq!(loads(plan(None, None).unwrap()), ["6", "3", "2/s"]);
        assert_eq!(loads(plan(Some("90"), None).unwrap()), ["60", "30", "20/s"]);
        // 10 of 9 would be 6.67 and 3.33.
        assert_eq!(loads(plan(Some("10"), None).unwrap())[..2], ["7", "3"]);
        assert_eq!(loads(plan(Some("2"), None).unwrap())[..2], ["1", "1"]);
        assert_eq!(loads(plan(None, Some("1/s")).unwrap()), ["3", "2", "1/s"]);
        let message = |plan: Result<Plan, crate::PlanErrors>| plan.unwrap_err().0[0].message.spelt(crate::Spelling::Flags);
        assert!(message(plan(Some("1"), None)).contains("fewer than the 2 populations"));
        assert!(message(plan(Some("0 to 50 for 1m"), None)).contains("has stages"));
        // What one makes larger is larger than any machine, whichever was given.
        assert!(message(plan(None, Some("1000000000000/s"))).contains("users in all"));
        let told = plan(None, Some("1000000000000/s")).unwrap_err();
        assert_eq!(told.0.iter().map(|error| error.setting).collect::<Vec<_>>(), ["connections", "rate"]);
        assert!(message(plan(Some("20000000"), None)).contains("20000000 users in all"));
        assert!(message(plan(Some("90"), Some("1/s"))).contains("--connections 90 and --rate contradict"));
    }

    #[test]
    fn mistakes_of_a_population_are_told_in_the_words_of_its_file() {
        let errors = |edit: &dyn Fn(&mut PopulationDraft)| {
            let mut population = PopulationDraft { name: "p".to_owned(), ..PopulationDraft::default() };
            edit(&mut population);
            let draft =
                crate::Draft { url: Some("http://a.test/".to_owned()), scenario: Some("s.yaml".to_owned()), ..crate::Draft::default() };
            let sources = crate::Sources { populations: vec![population], ..crate::Sources::default() };
            Plan::try_from(crate::LoadRecord { draft, sources }).unwrap_err().spelt(crate::Spelling::Flags)
        };
        let told = errors(&|population| (population.connections, population.requests) = ("10".parse().ok(), "5".parse().ok()));
        assert!(told.contains("population 'p': requests: 5 is fewer than users: 10"), "{told}");
        let told = errors(&|population| (population.connections, population.iterations) = ("10".parse().ok(), "5".parse().ok()));
        assert!(told.contains("population 'p': iterations 5 is fewer than users 10") && told.contains("at least 10"), "{told}");
        let told = errors(&|population| population.iterations = "0".parse().ok());
        assert!(told.contains("population 'p': iterations"), "{told}");
        let told = errors(&|population| population.iterations_per_user = "0".parse().ok());
        assert!(told.contains("population 'p': iterations_per_user '0'"), "{told}");
        let told = errors(&|population| (population.rate, population.iterations_per_user) = ("5/s".parse().ok(), "2".parse().ok()));
        assert!(told.contains("population 'p': iterations_per_user and rate contradict"), "{told}");
        let told = errors(&|population| (population.rate, population.pause) = ("0/s".parse().ok(), "1s".parse().ok()));
        assert!(told.contains("population 'p': pause: 1s is between") && told.contains("such as rate: 100/s"), "{told}");
        assert!(!told.contains("--"), "{told}");
    }

    #[test]
    fn arrivals_that_begin_later_keep_their_stages() {
        let timetable: Timetable = "0/s to 10/s for 5s, 10/s for 5s".parse().unwrap();
        let load = Load::Open { timetable, spacing: Spacing::Even, connections_max: std::num::NonZeroU32::MIN };
        let Load::Open { timetable, .. } = population(load, 3, 10).load_in_run() else { panic!() };
        assert_eq!(timetable.to_string(), "0/s for 3s, 0/s to 10/s for 5s, 10/s for 5s");
    }
}
