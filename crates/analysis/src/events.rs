//! Answers that stream, over the levels of a sweep: how many events a second each level carries, and where they stop growing.
//!
//! A server that streams is full when its events are, not when its requests are: with every user more, each answer takes longer and just as
//! many are there in the end. So events a second are judged as requests a second are: the same rule for the best level ([`best`]), the same
//! model with its interval ([`curve::read`]), and the same levels left out. Where tokens are counted that are not events, they are judged.

use measure::{Histogram, Summary};
use plan::{Nanos, Plan};
use serde::Serialize;

use crate::curve::{self, Estimate, Model, Point};
use crate::knee::{Best, LevelFigures, PromiseState, best};
use crate::quantity::{capitalised, decimal, figure, nanos};
use crate::{Level, LevelRow, Standing, Sweep, scaling};

/// The events of a level, all repetitions together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LevelEvents {
    /// Events a second of all answers: the mean of the repetitions.
    pub events_per_second: f64,
    /// The 95th percentile of the time from when a request was due to its first event; `None` with too few.
    #[serde(rename = "first_event_p95_ns")]
    pub first_event_p95: Option<Nanos>,
    /// The 99th percentile of the time between two events of an answer; `None` with too few.
    #[serde(rename = "between_events_p99_ns")]
    pub between_events_p99: Option<Nanos>,
    /// Tokens a second of all answers, where they are not events: the mean of the repetitions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_per_second: Option<f64>,
    /// The 99th percentile, over answers, of the time for each token behind the first; `None` with too few, and where tokens are events.
    #[serde(rename = "time_per_token_p99_ns", skip_serializing_if = "Option::is_none")]
    pub time_per_token_p99: Option<Nanos>,
}

/// What a server that streams is full of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamUnit {
    /// Events.
    Events,
    /// Tokens that are not events.
    Tokens,
}

impl StreamUnit {
    /// Several of them.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Tokens => "tokens",
        }
    }

    /// What a plan says to count; `None` where its answers are not looked through.
    #[must_use]
    pub fn of_plan(plan: &Plan) -> Option<Self> {
        plan.stream().map(|_| if plan.tokens().is_some() { Self::Tokens } else { Self::Events })
    }
}

impl LevelEvents {
    /// What is judged.
    #[must_use]
    pub const fn unit(&self) -> StreamUnit {
        if self.tokens_per_second.is_some() { StreamUnit::Tokens } else { StreamUnit::Events }
    }

    /// So many of these a second.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        self.tokens_per_second.unwrap_or(self.events_per_second)
    }

    /// How long the next of these took (p99): between two events, or for each token.
    #[must_use]
    pub const fn next_p99(&self) -> Option<Nanos> {
        match self.unit() {
            StreamUnit::Events => self.between_events_p99,
            StreamUnit::Tokens => self.time_per_token_p99,
        }
    }

    /// Of the repetitions of a level; `None` where nobody looked for events.
    pub(crate) fn of(runs: &[&Summary]) -> Option<Self> {
        runs.iter().any(|run| run.plan.stream().is_some() || run.streams.is_some()).then(|| {
            let streams = || runs.iter().filter_map(|run| run.streams.as_deref());
            let tokens = || streams().filter_map(|row| row.tokens.as_ref());
            let [mut first, mut between, mut each] = [(); 3].map(|()| Histogram::new());
            for row in streams() {
                first.add(&row.first_event);
                between.add(&row.between_events);
            }
            tokens().for_each(|row| each.add(&row.time_per_token));
            let mean = |all: f64| all / runs.len().max(1) as f64;
            let counts_tokens =
                runs.iter().any(|run| StreamUnit::of_plan(&run.plan) == Some(StreamUnit::Tokens)) || tokens().next().is_some();
            Self {
                events_per_second: mean(streams().map(|row| row.events_per_second).sum()),
                first_event_p95: first.known_quantile(0.95),
                between_events_p99: between.known_quantile(0.99),
                tokens_per_second: counts_tokens.then(|| mean(tokens().map(|row| row.tokens_per_second).sum())),
                time_per_token_p99: each.known_quantile(0.99),
            }
        })
    }
}

/// What the levels say of events.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EventScaling {
    /// Every level, ascending.
    pub levels: Vec<EventLevel>,
    /// The least level that carries nearly all of the events.
    pub best: Best,
    /// Where the model of a ceiling has its kink; `None` where it is not the model of these levels.
    pub ceiling: Option<Estimate>,
    /// How often the level measured most often was measured.
    pub repetitions: u32,
    /// The same in sentences.
    pub words: Vec<String>,
}

/// A level and its events.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EventLevel {
    /// As a number: users, or arrivals a second.
    pub level: f64,
    /// Its events.
    #[serde(flatten)]
    pub events: LevelEvents,
}

impl EventScaling {
    /// Of a sweep with these rows; `None` where no level looked for events.
    pub(crate) fn of(sweep: &Sweep, rows: &[LevelRow]) -> Option<Self> {
        let known: Vec<(&LevelRow, LevelEvents)> = rows.iter().filter_map(|row| Some((row, row.events?))).collect();
        known.first()?;
        // As with requests: where they fail it is another system, and where loadline was the limit it is not the server.
        let counts = || known.iter().filter(|(row, _)| !scaling::is_failing(row) && row.standing != Standing::Invalid);
        let loaded: Vec<LevelFigures> = counts()
            .map(|(row, events)| LevelFigures {
                level: row.level.value(),
                throughput: events.per_second(),
                response_s: events.first_event_p95.map(Nanos::as_secs_f64),
                kept: PromiseState::Yes,
                generator_limited: row.generator_limit.is_some(),
            })
            .collect();
        let best = best(&loaded);
        let is_curve = scaling::is_curve(sweep);
        let points: Vec<Point> = counts().filter(|_| is_curve).flat_map(|(row, _)| points(sweep, row)).collect();
        let seed = sweep.trials.first().map_or(0, |trial| trial.summary.plan.seed());
        let ceiling = match curve::read(&points, seed).model {
            Some(Model::Pool { knee, .. }) => Some(knee),
            _ => None,
        };
        let levels = known.iter().map(|(row, events)| EventLevel { level: row.level.value(), events: *events }).collect();
        let repetitions = rows.iter().map(|row| row.repetitions).max().unwrap_or(0);
        let mut all = Self { levels, best, ceiling, repetitions, words: Vec::new() };
        all.words = all.sentences(&known);
        Some(all)
    }

    fn sentences(&self, known: &[(&LevelRow, LevelEvents)]) -> Vec<String> {
        let unit =
            if known.iter().any(|(_, events)| events.unit() == StreamUnit::Tokens) { StreamUnit::Tokens } else { StreamUnit::Events };
        let units = unit.name();
        if known.iter().all(|(_, events)| events.per_second() <= 0.0) {
            return vec![format!("No {} came at any level.", units.trim_end_matches('s'))];
        }
        let Best::At { level, throughput, peak, edge, .. } = self.best else {
            return vec![format!("Nothing can be said of {units} a second: no level at which they came is valid.")];
        };
        let Some((row, events)) = known.iter().find(|(row, _)| row.level.value() == level) else { return Vec::new() };
        let (first, next) = (events.first_event_p95, events.next_p99());
        let times = match (unit, first, next) {
            (_, None, None) => String::new(),
            (StreamUnit::Events, ..) => {
                format!(", with the first of an answer within {} (p95) and the next within {} (p99)", nanos(first), nanos(next))
            }
            (StreamUnit::Tokens, ..) => {
                format!(", with the first event of an answer within {} (p95) and {} for each token (p99)", nanos(first), nanos(next))
            }
        };
        let a_second = figure(throughput);
        if known.len() == 1 {
            return vec![format!("It carries {a_second} {units} a second, at {}{times}.", row.level)];
        }
        if edge {
            return vec![format!(
                "{} a second still grow up to the last level that counts, {}: {a_second}{times}. More may be possible beyond it.",
                capitalised(units),
                row.level
            )];
        }
        let of = Some(figure(peak)).filter(|peak| *peak != a_second).map_or_else(String::new, |peak| format!(" of {peak} at most"));
        let mut said = vec![format!(
            "{} a second stop growing at {}: {a_second}{of}{times}. Beyond it answers only wait.",
            capitalised(units),
            row.level
        )];
        match self.ceiling {
            Some(knee) if matches!(row.level, Level::Users(_)) => {
                let [at, low, high] = [knee.value, knee.low, knee.high].map(|users| decimal(users, 1));
                let sure = if low == high { String::new() } else { format!(", between {low} and {high} with 95 % confidence") };
                said.push(format!("The model of a ceiling has the end of that growth at {at} users{sure}."));
            }
            _ if self.repetitions == 1 => {
                said.push("Every level was measured once, so a few percent between them may be noise: --repeat 3 would tell.".to_owned());
            }
            _ => {}
        }
        said
    }
}

/// One point for every repetition of a level.
fn points(sweep: &Sweep, row: &LevelRow) -> impl Iterator<Item = Point> {
    let (level, generator_limited) = (row.level, row.generator_limit.is_some());
    sweep.trials.iter().filter(move |trial| trial.level == level).map(move |trial| Point {
        level: level.value(),
        throughput: LevelEvents::of(&[&trial.summary]).map_or(0.0, |events| events.per_second()),
        generator_limited,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Topic, Trial, by_topic};
    use measure::fixtures;
    use std::num::NonZeroU32;

    fn streamed() -> Summary {
        fixtures::summaries().into_iter().find(|(name, _)| *name == "answers_that_streamed").unwrap().1
    }

    /// A sweep whose levels carry so many events a second, each measured so often.
    fn swept(levels: &[(u32, f64)], repetitions: u32) -> Sweep {
        let users = |users: u32| Level::Users(NonZeroU32::new(users).unwrap());
        let mut sweep = Sweep::new("made up".to_owned(), String::new(), levels.iter().map(|(level, _)| users(*level)).collect());
        for repetition in 1..=repetitions {
            for (at, (level, events)) in levels.iter().enumerate() {
                let mut summary = streamed();
                let wobble = [0.003, -0.004, 0.001, 0.005, -0.002][(at * 2 + repetition as usize) % 5];
                let streams = summary.edit_for_test().streams.as_mut().unwrap();
                streams.events_per_second = events * (1.0 + wobble);
                sweep.trials.push(Trial { level: users(*level), repetition, summary });
            }
        }
        sweep
    }

    fn said(sweep: &Sweep) -> Vec<String> {
        EventScaling::of(sweep, &sweep.rows()).unwrap().words
    }

    const FULL_AT_EIGHT: [(u32, f64); 7] = [(1, 50.0), (2, 100.0), (4, 200.0), (8, 400.0), (16, 400.0), (32, 401.0), (64, 400.0)];

    #[test]
    fn a_level_is_all_its_repetitions_together() {
        let run = streamed();
        let mut other = run.clone();
        let row = run.streams.as_deref().unwrap();
        other.edit_for_test().streams.as_mut().unwrap().events_per_second *= 3.0;
        let events = LevelEvents::of(&[&run, &other]).unwrap();
        assert!((events.events_per_second - 2.0 * row.events_per_second).abs() < 1e-9);
        let mut both = row.first_event.clone();
        both.add(&row.first_event);
        assert_eq!((events.first_event_p95, events.first_event_p95.is_some()), (both.known_quantile(0.95), true));
        let plain = fixtures::summaries().remove(0).1;
        assert_eq!(LevelEvents::of(&[&plain]), None, "nobody looked for events");
        other.edit_for_test().streams = None;
        let halved = LevelEvents::of(&[&run, &other]).unwrap();
        assert!((halved.events_per_second - row.events_per_second / 2.0).abs() < 1e-9, "a run without an event carried none");
    }

    #[test]
    fn the_level_at_which_events_stop_growing_is_said_and_how_sure_that_is() {
        let said = said(&swept(&FULL_AT_EIGHT, 3));
        assert!(said[0].starts_with("Events a second stop growing at 8 users: 401, with the first of an answer within "), "{said:?}");
        assert!(said[0].ends_with("Beyond it answers only wait."), "{said:?}");
        assert_eq!(said[1..], ["The model of a ceiling has the end of that growth at 8.0 users."]);
        let noisy = FULL_AT_EIGHT.map(|(users, events)| (users, if users == 4 { 190.0 } else { events }));
        let unsure = self::said(&swept(&noisy, 3));
        assert!(unsure[1].contains(" users, between ") && unsure[1].ends_with(" with 95 % confidence."), "{unsure:?}");
    }

    #[test]
    fn what_was_measured_once_or_still_grows_is_said_so() {
        let few = said(&swept(&FULL_AT_EIGHT[2..6], 1));
        assert!(few[1].starts_with("Every level was measured once"), "{few:?}");
        let grows = said(&swept(&FULL_AT_EIGHT[..4], 1));
        assert!(
            grows.len() == 1 && grows[0].starts_with("Events a second still grow up to the last level that counts, 8 users: 40"),
            "{grows:?}"
        );
        let alone = said(&swept(&FULL_AT_EIGHT[..1], 1));
        assert!(alone[0].starts_with("It carries 49.8 events a second") && alone[0].contains("at 1 user"), "{alone:?}");
    }

    #[test]
    fn levels_at_which_loadline_was_the_limit_do_not_count() {
        let mut sweep = swept(&FULL_AT_EIGHT, 1);
        let limited = |sweep: &mut Sweep, from: f64| {
            for trial in sweep.trials.iter_mut().filter(|trial| trial.level.value() >= from) {
                trial.summary.edit_for_test().generator.cpu_share_busiest = 0.97;
            }
        };
        limited(&mut sweep, 8.0);
        assert!(said(&sweep)[0].contains("up to the last level that counts, 4 users"), "{:?}", said(&sweep));
        limited(&mut sweep, 1.0);
        assert!(said(&sweep)[0].starts_with("Nothing can be said of events"), "{:?}", said(&sweep));
    }

    #[test]
    fn the_conclusion_of_a_sweep_says_it_only_where_answers_stream() {
        let about = |sweep: &Sweep| {
            let said = by_topic(&sweep.rows(), &scaling(sweep), None);
            said.into_iter().filter(|(topic, _)| *topic == Topic::Events).count()
        };
        assert_eq!(about(&swept(&FULL_AT_EIGHT, 3)), 2);
        let mut plain = swept(&FULL_AT_EIGHT, 1);
        let (_, unstreamed) = fixtures::summaries().remove(0);
        plain.trials.iter_mut().for_each(|trial| trial.summary = unstreamed.clone());
        assert_eq!((about(&plain), scaling(&plain).events), (0, None));
        let mut silent = swept(&FULL_AT_EIGHT, 1);
        silent.trials.iter_mut().for_each(|trial| trial.summary.edit_for_test().streams = None);
        assert_eq!(said(&silent), ["No event came at any level."]);
    }
}
