//! A pace that users keep together: each takes the next of its times, in the order in which they come.
//!
//! A rate over all users could be divided among them beforehand; then what a slow user leaves of its part is lost. And a lock around a
//! schedule would be held by every user that passes. So what is shared is one number, the time that was taken last, and
//! each takes the next by an exchange of it. Chance is drawn from that number too: the same seed gives the same times, whoever takes them.
//! Of a rate that changes over the load it is how many of its times were taken.
//!
//! Several processes each keep their share of the rate, one behind the other.
//!
//! Invariant: no two users of a process take the same time, and who comes later takes a later one.

use std::sync::atomic::{AtomicU64, Ordering};

use engine::{Client, End, Transport};
use plan::setting::SCENARIO;
use plan::work::{PacedUsers, Pacing, Think};
use plan::{Nanos, Part, Plan, PlanError, Random, Timetable};

use crate::behaviour::Journeys;
use crate::compiled::Op;
use crate::order::{Order, Role};
use crate::user::User;

/// Streams of chance from here on belong to paces.
const PACES: u64 = 5 << 48;
/// Nobody has come yet.
const NOBODY: u64 = u64::MAX;
/// Times are no closer, so that a loop in which nothing is sent waits for some of them.
const GAP_MIN: Nanos = Nanos::from_micros(1);

/// Which part of a rate is kept here: so many of so many workers, and the first of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kept {
    workers: u64,
    of: u64,
    first: u64,
}

/// A pace that users of the process keep together.
pub(crate) struct SharedPace {
    /// The time that was taken last, from the start of the run.
    last: AtomicU64,
    /// Whether several go on at a time: then `last` is that in microseconds, and in its last bits how many have taken it besides the first.
    has_batches: bool,
    /// A rate that changes over the load: then `last` is how many of its times were taken.
    rates: Option<Timetable>,
    seed: u64,
    kept: Kept,
}

/// Bits for those who take a time together.
const BATCH_BITS: u32 = 10;
const _: () = assert!(Pacing::TOGETHER_MAX as u64 <= 1 << BATCH_BITS);
/// Times in microseconds that leave these bits, the last of them for nobody.
const BATCH_TIME_MAX: u64 = (1 << (u64::BITS - BATCH_BITS)) - 2;

impl SharedPace {
    /// One that is kept by this process alone. `number` tells it from others of the same seed.
    pub(crate) fn new(seed: u64, number: usize) -> Self {
        let seed = Random::new(seed, PACES + number as u64).bits();
        Self { last: AtomicU64::new(NOBODY), has_batches: false, rates: None, seed, kept: Kept { workers: 1, of: 1, first: 0 } }
    }

    /// When whoever comes now goes on; so many go on at the same time.
    pub(crate) fn next(&self, now: Nanos, pace: Think, catches_up: bool, together: u16) -> Nanos {
        if let Some(rates) = &self.rates {
            return self.next_of(rates, now, catches_up);
        }
        let Kept { workers, of, first } = self.kept;
        let after = |last: u64| {
            let gap = pace.span(Random::new(self.seed + first, last).unit()).max(GAP_MIN);
            let gap = u128::from(gap.0) * u128::from(of) / u128::from(workers);
            let within = |time: u128| time.min(u128::from(NOBODY - 1)) as u64;
            match last {
                // Of several processes each begins a part of the gap behind the one before.
                NOBODY => within(u128::from(now.0) + gap * u128::from(first) / u128::from(of)),
                last if catches_up => within(u128::from(last) + gap),
                last => within(u128::from(last) + gap).max(now.0),
            }
        };
        if !self.has_batches {
            let before = self.last.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |last| Some(after(last)));
            return Nanos(after(before.unwrap_or_else(|last| last)));
        }
        let time_of = |state: u64| (state >> BATCH_BITS) * 1_000;
        let following = |state: u64| {
            let others = state & ((1 << BATCH_BITS) - 1);
            if state != NOBODY && others + 1 < u64::from(together) {
                return state + 1;
            }
            let time = after(if state == NOBODY { NOBODY } else { time_of(state) });
            (time / 1_000).min(BATCH_TIME_MAX) << BATCH_BITS
        };
        let before = self.last.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |state| Some(following(state)));
        Nanos(time_of(following(before.unwrap_or_else(|state| state))))
    }

    /// When whoever comes now goes on at a rate that changes; never when that is over.
    fn next_of(&self, rates: &Timetable, now: Nanos, catches_up: bool) -> Nanos {
        let Kept { workers, of, first } = self.kept;
        // Who is late takes the time that is just over; those before it are lost.
        let over = rates.expected_until(now) * workers as f64 / of as f64;
        let taken = |state: u64| if catches_up { state } else { state.max(over as u64) };
        let following = |state: u64| taken(if state == NOBODY { 0 } else { state });
        let before = self.last.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |state| Some(following(state) + 1));
        let number = following(before.unwrap_or_else(|state| state));
        let number_of_all = number / workers * of + first + number % workers;
        rates.reached_at(number_of_all as f64).unwrap_or(Nanos::NEVER)
    }
}

impl Order {
    /// Where a pace is kept: its place among those of each user, or among those that are kept together.
    ///
    /// # Errors
    /// If another place with its name is kept at another rate that changes.
    pub(crate) fn pace(&mut self, pacing: &Pacing, plan: &Plan) -> Result<usize, PlanError> {
        let Pacing { of, name, together, .. } = pacing;
        let populations = plan.populations().len().max(1);
        let count = if *of == PacedUsers::Population { populations } else { 1 };
        let known = self.named_paces.iter().find(|(known_of, known, _)| known_of == of && Some(known) == name.as_ref());
        if let Some((.., place)) = known {
            let place = *place;
            if *of != PacedUsers::Each && self.shared_paces[place].1.rates != pacing.rates {
                let message = format!("places of the pace '{}' have rates that change in other ways", name.as_deref().unwrap_or_default());
                return Err(PlanError::new(SCENARIO, message, "give them different names, or the same rate"));
            }
            if *together > 1 {
                self.shared_paces[place..place + count].iter_mut().for_each(|(_, pace)| pace.has_batches = true);
            }
            return Ok(place);
        }
        let place = if *of == PacedUsers::Each { self.paces } else { self.shared_paces.len() };
        let mut share = |population: Option<u32>| {
            let (has_batches, rates) = (*together > 1, pacing.rates.clone());
            let pace = SharedPace { has_batches, rates, ..SharedPace::new(plan.seed(), self.shared_paces.len()) };
            self.shared_paces.push((population, pace));
        };
        match of {
            PacedUsers::Each => self.paces += 1,
            PacedUsers::Population => (0..populations as u32).for_each(|population| share(Some(population))),
            PacedUsers::All => share(None),
        }
        self.named_paces.extend(name.iter().map(|name| (*of, name.clone(), place)));
        Ok(place)
    }

    /// Of all parts of the run, only these are carried out in this process.
    pub(crate) fn keeps_paces_for(&mut self, here: &[Part], all: &[Part]) {
        for (population, pace) in &mut self.shared_paces {
            let population = *population;
            let is_of = |part: &&Part| population.is_none_or(|place| part.population == place);
            let of = all.iter().filter(is_of);
            let is_here = |part: &Part| here.iter().any(|known| known.of_run == part.of_run);
            let Some(first) = of.clone().position(is_here) else { continue };
            let workers = of.clone().filter(|part| is_here(part)).count() as u64;
            pace.kept = Kept { workers, of: of.count() as u64, first: first as u64 };
        }
    }
}

impl Journeys {
    /// Waits until the user goes on at the pace that it stands behind the instruction of.
    pub(crate) async fn keep_pace<T: Transport>(&self, user: &mut User, client: &mut Client<'_, T>, role: impl Role) -> Result<(), End> {
        let Op::SharedPacing { place, each_population, span, catches_up, together } =
            &self.compiled.journeys[user.journey].ops[user.at - 1]
        else {
            unreachable!("a user comes here from such an instruction")
        };
        let since = client.due();
        client.rest(std::mem::take(&mut user.pause)).await?;
        let pace = role.whole(user, |user| self.paced(span, user));
        let now = client.due();
        let place = place + if *each_population { self.part.population as usize } else { 0 };
        let next = self.compiled.order.shared_paces[place].1.next(now, pace, *catches_up, *together);
        if next == Nanos::NEVER {
            // The rate is over.
            return Err(End::Over);
        }
        client.rest(next.since(now)).await?;
        user.has_waited(since, client.due());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::Share;
    use std::num::NonZeroU32;

    const FIXED: Think = Think::Fixed(Nanos::from_millis(100));

    /// When so many users who come at a time go on, in milliseconds.
    fn taken(pace: &SharedPace, at_ms: u64, users: usize, of: Think, catches_up: bool) -> Vec<u64> {
        (0..users).map(|_| pace.next(Nanos::from_millis(at_ms), of, catches_up, 1).0 / 1_000_000).collect()
    }

    #[test]
    fn whoever_comes_first_goes_first_and_what_is_late_is_made_up_for_or_not() {
        let pace = SharedPace::new(1, 0);
        assert_eq!(taken(&pace, 30, 3, FIXED, false), [30, 130, 230]);
        assert_eq!(taken(&pace, 700, 2, FIXED, false), [700, 800]);
        let pace = SharedPace::new(1, 0);
        assert_eq!(taken(&pace, 30, 1, FIXED, true), [30]);
        // Who is late goes at once, until what was missed is made up for.
        assert_eq!(taken(&pace, 350, 5, FIXED, true), [130, 230, 330, 430, 530]);
    }

    #[test]
    fn several_go_on_at_the_same_time_where_they_are_to() {
        let pace = SharedPace { has_batches: true, ..SharedPace::new(1, 0) };
        let taken = |at_ms: u64, users: usize, together: u16| -> Vec<u64> {
            (0..users).map(|_| pace.next(Nanos::from_millis(at_ms), FIXED, false, together).0 / 1_000_000).collect()
        };
        assert_eq!(taken(30, 7, 3), [30, 30, 30, 130, 130, 130, 230]);
        // Who comes late goes on with those who are still expected, and the next ones a pace later.
        assert_eq!(taken(700, 4, 3), [230, 230, 700, 700]);
        assert_eq!(taken(700, 2, 1), [800, 900], "another place of the same pace lets one go on at a time");
        let all = SharedPace { has_batches: true, ..SharedPace::new(1, 0) };
        let times: Vec<u64> = (0..2_000).map(|_| all.next(Nanos::ZERO, FIXED, true, 1000).0).collect();
        assert_eq!((times[999], times[1_000]), (0, 100_000_000));
    }

    #[test]
    fn a_rate_that_changes_is_kept_as_it_changes_and_ends() {
        let pace = |rates: &str| SharedPace { rates: Some(rates.parse().unwrap()), ..SharedPace::new(1, 0) };
        let kept = pace("2/s for 1s, 10/s for 500ms");
        assert_eq!(taken(&kept, 0, 8, FIXED, false)[..7], [0, 500, 1000, 1100, 1200, 1300, 1400]);
        assert!(kept.next(Nanos::from_secs(2), FIXED, false, 1) == Nanos::NEVER, "it is over");
        // Who comes late goes at once, and what was missed is made up for or not.
        let late = pace("10/s for 10s");
        assert_eq!(taken(&late, 1_050, 3, FIXED, false), [1000, 1100, 1200]);
        let late = pace("10/s for 10s");
        assert_eq!(taken(&late, 1_050, 3, FIXED, true), [0, 100, 200]);
    }

    #[test]
    fn a_rate_that_changes_is_divided_among_processes() {
        let mut all: Vec<u64> = Vec::new();
        for first in [0, 2] {
            let kept = Kept { workers: if first == 0 { 2 } else { 1 }, of: 3, first };
            let pace = SharedPace { rates: Some("0/s to 30/s for 2s".parse().unwrap()), kept, ..SharedPace::new(1, 0) };
            all.extend(
                std::iter::from_fn(|| Some(pace.next(Nanos::ZERO, FIXED, false, 1))).take_while(|at| *at < Nanos::NEVER).map(|at| at.0),
            );
        }
        all.sort_unstable();
        let one = SharedPace { rates: Some("0/s to 30/s for 2s".parse().unwrap()), ..SharedPace::new(1, 0) };
        let whole: Vec<u64> = std::iter::from_fn(|| Some(one.next(Nanos::ZERO, FIXED, false, 1)))
            .take_while(|at| *at < Nanos::NEVER)
            .map(|at| at.0)
            .collect();
        assert_eq!((whole.len(), all), (30, whole));
    }

    #[test]
    fn random_times_are_those_of_their_seed_and_come_at_their_rate() {
        let random = Think::Exponential(Nanos::from_millis(10));
        let times = |seed: u64, number: usize| taken(&SharedPace::new(seed, number), 0, 10_000, random, true);
        let first = times(7, 0);
        assert_eq!(first, times(7, 0));
        assert_ne!(first, times(8, 0));
        assert_ne!(first, times(7, 1));
        // Five standard deviations of the sum of 10,000 exponential gaps: 5 %.
        assert!((95_000..105_000).contains(first.last().unwrap()), "{:?}", first.last());
        let mut gaps: Vec<u64> = first.windows(2).map(|pair| pair[1] - pair[0]).collect();
        gaps.sort_unstable();
        // The median of an exponential distribution is ln 2 of its mean.
        assert!((6..=8).contains(&gaps[gaps.len() / 2]), "{}", gaps[gaps.len() / 2]);
    }

    #[test]
    fn processes_keep_a_rate_together() {
        let all: Vec<Part> = Share::all(NonZeroU32::new(3).unwrap()).map(Part::from).collect();
        let of = |here: &[Part]| {
            let mut order = Order { shared_paces: vec![(None, SharedPace::new(1, 0))], ..Order::default() };
            order.keeps_paces_for(here, &all);
            taken(&order.shared_paces[0].1, 0, 30, FIXED, false)
        };
        assert_eq!(of(&all)[..3], [0, 100, 200]);
        let (mut together, two) = (of(&all[..2]), of(&all[2..]));
        assert_eq!((&together[..3], &two[..3]), (&[0, 150, 300][..], &[200, 500, 800][..]));
        together.extend(two);
        let within = together.iter().filter(|at| **at < 3_000).count();
        assert!((29..=31).contains(&within), "30 in three seconds: {within}");
        // Each of three begins behind the one before.
        assert_eq!([0, 1, 2].map(|place| of(&all[place..=place])[1]), [300, 400, 500]);
    }

    #[test]
    fn a_pace_of_nothing_goes_on_all_the_same() {
        let pace = SharedPace::new(1, 0);
        let nothing = Think::Fixed(Nanos::ZERO);
        let times: Vec<u64> = (0..3).map(|_| pace.next(Nanos::ZERO, nothing, false, 1).0).collect();
        assert_eq!(times, [0, 1_000, 2_000]);
    }
}
