//! The rules of the search, one by one, and all of them together against ten servers of known capacity.

use std::collections::BTreeMap;

use proptest::prelude::*;

use plan::Random;

use super::model::{Server, Service, TIMEOUT_S, Temper, miss, promises, search};
use super::*;

/// Late requests come in clumps of thousands: of 300,000 requests some capacities come out a whole per cent off.
const TRUTH_REQUESTS: f64 = 1_000_000.0;

fn servers() -> Vec<Server> {
    use Service::{Exponential, Fixed};
    use Temper::{Brittle, Limited, Plain};
    vec![
        Server::new("1 worker, 2 ms", 1, Fixed(0.002), Plain, 0.05),
        Server::new("1 worker, 5 ms exponential", 1, Exponential(0.005), Plain, 0.1),
        Server::new("1 worker, 20 ms exponential", 1, Exponential(0.02), Plain, 0.2),
        Server::new("8 workers, 20 ms", 8, Fixed(0.02), Plain, 0.1),
        Server::new("8 workers, 5 ms exponential", 8, Exponential(0.005), Plain, 0.05),
        Server::new("8 workers, 10 ms exponential", 8, Exponential(0.01), Plain, 0.2),
        Server::new("64 workers, 10 ms", 64, Fixed(0.01), Plain, 0.05),
        Server::new("64 workers, 20 ms exponential", 64, Exponential(0.02), Plain, 0.2),
        Server::new("1000/s and no more", 64, Fixed(0.002), Limited { rate: 1000.0, burst: 50.0 }, 0.05),
        Server::new("breaks for 5 s", 8, Exponential(0.005), Brittle, 0.1),
    ]
}

#[test]
fn the_interval_contains_the_capacity_of_ten_known_servers_nine_times_in_ten() {
    const SEEDS: u64 = 3;
    let mut misses = BTreeMap::new();
    let mut widths = Vec::new();
    let mut outside = 0;
    let mut table = String::new();
    for server in servers() {
        let promises = promises(server.limit_s);
        let truth = server.true_capacity(&promises, TRUTH_REQUESTS);
        for seed in 1..=SEEDS {
            let (answer, trials) = search(&mut server.seeded(seed), Settings::new(promises.clone(), 1e5, seed));
            let off = miss(&answer, truth);
            let (low, high) = (answer.capacity.low, answer.capacity.high.unwrap_or(f64::INFINITY));
            table += &format!(
                "{:<30} truth {truth:>7.0}  carries {:>7.0} ({low:.0}–{high:.0}), {:.1} % wide, misses by {:.1} %, {:.0} s, {} trials, {:?}\n",
                server.name,
                answer.carries.unwrap_or(0.0),
                (high / low - 1.0) * 100.0,
                off * 100.0,
                answer.spent_s,
                trials.len(),
                answer.limited_by,
            );
            assert!(answer.spent_s <= 180.0 + TIMEOUT_S + 30.0, "{table}");
            widths.push(high / low);
            outside += u64::from(off > 0.0);
            *misses.entry(server.name).or_insert(0u64) += u64::from(off > 0.03);
        }
    }
    let missed: u64 = misses.values().sum();
    widths.sort_by(f64::total_cmp);
    assert!(missed * 10 <= SEEDS * misses.len() as u64, "{missed} missed by more than 3 %: {misses:?}\n{table}");
    // Of 550 searches 2 % were outside; three standard errors of 30 at 5 % allow four more than one and a half.
    assert!(outside <= 5, "{outside} outside\n{table}");
    // An interval that contains everything proves nothing.
    assert!(widths[widths.len() / 2] < 1.1 && widths[widths.len() * 9 / 10] < 1.7, "{widths:?}\n{table}");
}

/// Runs the search against `respond`, which sees each trial's rate, seconds and purpose.
fn follow(settings: Settings, mut respond: impl FnMut(f64, f64, Purpose) -> TrialResult) -> (Answer, Vec<Trial>) {
    let mut search = Search::new(settings).unwrap();
    for _ in 0..1_000 {
        match search.next() {
            Step::Trial { rate, seconds, purpose, .. } => search.learn(respond(rate, seconds, purpose)),
            Step::Rest { seconds_min, .. } => search.rested(Pause { seconds: seconds_min.max(1.0), recovered: true }),
            Step::Done(answer) => return (*answer, search.trials().to_vec()),
        }
    }
    panic!("the search did not end");
}

/// A trial of one promise (p99) with this share of bad requests.
fn result(rate: f64, seconds: f64, share: f64) -> TrialResult {
    let due = (rate * seconds) as u64;
    let bad = (due as f64 * share) as u64;
    let seen = vec![PromiseFigure { bad, of: None, value: if share > 0.01 { 0.2 } else { 0.02 }, stretches: Vec::new() }];
    TrialResult { seconds, elapsed_s: seconds, due, seen, standing: Standing::Valid, early: None }
}

/// Nothing bad up to a capacity, half beyond.
fn cliff(capacity: f64) -> impl Fn(f64, f64, Purpose) -> TrialResult {
    move |rate, seconds, _| result(rate, seconds, if rate > capacity { 0.5 } else { 0.0 })
}

fn settings() -> Settings {
    Settings::new(promises(0.05)[..1].to_vec(), 1e5, 1)
}

#[test]
fn a_cliff_is_found_within_the_width_with_every_phase_in_order() {
    for capacity in [7.0, 33.0, 812.0, 54_321.0] {
        let (answer, trials) = follow(settings(), cliff(capacity));
        let (low, high) = (answer.carries.unwrap(), answer.breaks_at.unwrap().rate);
        assert!(low <= capacity && capacity < high && high <= low * 1.021 && answer.regular, "{capacity}: {low} {high}");
        assert!(answer.capacity.low <= capacity && capacity <= answer.capacity.high.unwrap());
        assert_eq!(answer.limited_by, LimitedBy::Promise(0));
        assert_eq!(answer.soak.unwrap(), Confirmation { rate: low, seconds: 30.0, missed: None });
        assert_eq!(answer.from_above.unwrap().missed, None);
        assert_eq!(answer.wants_s, None);
        let purposes: Vec<Purpose> = trials.iter().map(|it| it.purpose).collect();
        let mut phases = purposes.clone();
        phases.dedup();
        // What is left of the budget after the soak narrows the interval, unless so many requests leave nothing to narrow.
        let refined: &[Purpose] = if capacity < 1e4 { &[Purpose::Prove] } else { &[] };
        let found = [Purpose::Ramp, Purpose::Narrow, Purpose::Prove, Purpose::Soak];
        assert_eq!(phases, [&found, refined, &[Purpose::Overload, Purpose::FromAbove]].concat());
    }
}

#[test]
fn a_rest_follows_every_trial_that_failed_except_the_overload() {
    let mut search = Search::new(settings()).unwrap();
    let respond = cliff(100.0);
    let mut failed = false;
    loop {
        match search.next() {
            Step::Trial { rate, seconds, purpose, .. } => {
                assert!(!failed, "{purpose:?} came without a rest");
                let result = respond(rate, seconds, purpose);
                failed = rate > 100.0 && purpose != Purpose::Overload;
                search.learn(result);
            }
            Step::Rest { seconds_min, seconds_max } => {
                assert!(failed && (seconds_min, seconds_max) == (0.0, 30.0));
                failed = false;
                search.rested(Pause { seconds: 1.0, recovered: true });
            }
            Step::Done(_) => break,
        }
    }
}

#[test]
fn a_search_taken_up_again_goes_on_where_it_was() {
    let mut search = Search::new(settings()).unwrap();
    let respond = cliff(300.0);
    for _ in 0..9 {
        match search.next() {
            Step::Trial { rate, seconds, purpose, .. } => search.learn(respond(rate, seconds, purpose)),
            _ => search.rested(Pause { seconds: 1.0, recovered: true }),
        }
    }
    let saved = serde_json::to_string(&search).unwrap();
    let again: Search = serde_json::from_str(&saved).unwrap();
    assert_eq!(again.next(), search.next());
    assert_eq!(again, search);
}

#[test]
fn a_generator_at_its_limit_gives_a_lower_bound_only() {
    let (answer, _) = follow(settings(), |rate, seconds, _| {
        let standing = if rate > 700.0 { Standing::GeneratorLimited } else { Standing::Valid };
        TrialResult { standing, ..result(rate, seconds, 0.0) }
    });
    assert_eq!(answer.limited_by, LimitedBy::Generator);
    assert!(answer.carries.is_some_and(|it| (600.0..=700.0).contains(&it)), "{:?}", answer.carries);
    assert_eq!((answer.capacity.high, answer.breaks_at, answer.regular), (None, None, false));
    assert_eq!(answer.soak.unwrap().missed, None);
}

#[test]
fn a_server_that_carries_the_cap_is_not_loaded_beyond_it() {
    let mut most = 0.0f64;
    let (answer, _) = follow(Settings { rate_max: 500.0, ..settings() }, |rate, seconds, _| {
        most = most.max(rate);
        result(rate, seconds, 0.0)
    });
    assert_eq!((answer.carries, answer.limited_by, answer.capacity.high), (Some(500.0), LimitedBy::RateMax, None));
    assert_eq!(most, 500.0);
    let calibrated = Settings { rate_max: 500.0, rate_max_by: Cap::Generator, ..settings() };
    let (answer, _) = follow(calibrated, |rate, seconds, _| result(rate, seconds, 0.0));
    assert_eq!((answer.carries, answer.limited_by), (Some(500.0), LimitedBy::Generator));
}

#[test]
fn a_server_that_never_keeps_the_promise_is_left_alone_soon() {
    let (answer, trials) = follow(settings(), |rate, seconds, _| result(rate, seconds, 0.9));
    assert_eq!((answer.carries, answer.capacity.low, answer.limited_by), (None, 0.0, LimitedBy::Promise(0)));
    assert!(trials.len() <= 6, "{}", trials.len());
}

#[test]
fn invalid_trials_are_repeated_and_many_in_a_row_end_the_search() {
    let mut nth = 0;
    let (answer, _) = follow(settings(), |rate, seconds, purpose| {
        nth += 1;
        // Every fourth trial claims the opposite of the truth, and is invalid.
        if nth % 4 == 0 {
            let wrong = if rate > 812.0 { 0.0 } else { 0.9 };
            return TrialResult { standing: Standing::Invalid, ..result(rate, seconds, wrong) };
        }
        cliff(812.0)(rate, seconds, purpose)
    });
    assert!(answer.carries.unwrap() <= 812.0 && answer.breaks_at.unwrap().rate > 812.0);
    let (answer, trials) = follow(settings(), |rate, seconds, _| TrialResult { standing: Standing::Invalid, ..result(rate, seconds, 0.0) });
    assert_eq!((answer.limited_by, answer.carries), (LimitedBy::Invalid, None));
    let budget_s = settings().budget_s;
    assert!(
        trials.len() > INVALID_MAX && (INVALID_SHARE..0.65).contains(&(answer.spent_s / budget_s)),
        "{} s of {budget_s}",
        answer.spent_s
    );
}

#[test]
fn a_machine_that_is_busy_for_half_a_minute_does_not_end_the_search() {
    for begins in [0.0, 20.0] {
        let mut search = Search::new(settings()).unwrap();
        let respond = cliff(812.0);
        let answer = loop {
            let busy = (begins..begins + 30.0).contains(&search.spent_s());
            match search.next() {
                Step::Trial { rate, seconds, purpose, .. } => {
                    let result = respond(rate, seconds, purpose);
                    search.learn(TrialResult { standing: if busy { Standing::Invalid } else { result.standing }, ..result });
                }
                Step::Rest { seconds_min, .. } => search.rested(Pause { seconds: seconds_min.max(0.1), recovered: true }),
                Step::Done(answer) => break answer,
            }
        };
        let invalid = search.trials().iter().filter(|it| it.result.standing == Standing::Invalid).count();
        assert!(invalid >= 4, "{invalid}");
        assert!((730.0..=812.0).contains(&answer.carries.unwrap()) && answer.limited_by == LimitedBy::Promise(0), "{answer:?}");
    }
}

#[test]
fn where_a_higher_rate_passed_the_lower_that_failed_wins() {
    // Fails between 400 and 450 only: a resonance, or luck. It is found when the ramp steps on it.
    let (answer, _) = follow(Settings { first_rate: 105.0, ..settings() }, |rate, seconds, _| {
        let bad = (400.0..450.0).contains(&rate) || rate > 1500.0;
        result(rate, seconds, if bad { 0.5 } else { 0.0 })
    });
    assert!(answer.carries.unwrap() < 400.0 && answer.breaks_at.unwrap().rate < 450.0);
    // A bound proven above a failure is told, and not believed.
    let mut search = Search::new(settings()).unwrap();
    let trial = |rate, missed| Trial {
        rate,
        seconds: 30.0,
        purpose: Purpose::Prove,
        result: result(rate, 30.0, if missed { 0.5 } else { 0.0 }),
        missed: missed.then_some(0),
    };
    search.trials = vec![trial(380.0, false), trial(420.0, true), trial(500.0, false)];
    let answer = search.answer();
    assert_eq!(answer.carries, Some(380.0));
    assert_eq!(answer.inversion, Some(Inversion { failed: 420.0, passed: 500.0 }));
}

#[test]
fn a_rate_that_fails_its_soak_is_not_the_answer() {
    let (answer, _) = follow(settings(), |rate, seconds, purpose| {
        // Short trials are carried up to 812; only the soak shows the leak above 780.
        let limit = if purpose == Purpose::Soak { 780.0 } else { 812.0 };
        cliff(limit)(rate, seconds, purpose)
    });
    assert!(answer.carries.is_none_or(|it| it <= 780.0), "{:?}", answer.carries);
    assert!(answer.breaks_at.unwrap().rate <= 812.0);
}

#[test]
fn one_bad_moment_in_a_soak_does_not_refute_a_rate_and_two_bad_soaks_do() {
    let soaks_failed = |times: usize| {
        let mut failed = 0;
        follow(settings(), |rate, seconds, purpose| {
            let well = cliff(812.0)(rate, seconds, purpose);
            if purpose != Purpose::Soak || failed >= times {
                return well;
            }
            failed += 1;
            // All requests of the third second of thirty are bad.
            let due = rate as u64;
            let stretches = (0..30).map(|at| (due, if at == 2 { due } else { 0 })).collect();
            let seen = vec![PromiseFigure { bad: due, of: None, value: 0.2, stretches }];
            TrialResult { due: due * 30, seen, ..well }
        })
    };
    let proven = follow(settings(), cliff(812.0)).0.carries;
    let (once, trials) = soaks_failed(1);
    assert_eq!((once.carries, once.soak.unwrap().missed), (proven, None), "repeated, and then it held");
    assert_eq!(trials.iter().filter(|it| it.purpose == Purpose::Soak).count(), 2);
    let (twice, _) = soaks_failed(2);
    assert!(twice.carries < proven && twice.breaks_at.unwrap().rate <= proven.unwrap(), "{twice:?}");
}

#[test]
fn a_promise_of_seconds_gets_longer_rests_and_refuses_trials_that_cannot_show_it() {
    let promising = |limit_s| Settings::new(promises(limit_s), 1e5, 1);
    assert_eq!((promising(0.05).rest_max_s, promising(4.0).rest_max_s), (30.0, 40.0));
    let Err(mistakes) = Search::new(promising(12.0)) else { panic!("ten seconds show a queue of twelve?") };
    let [Mistake::BudgetTooShort { needed_s, .. }] = mistakes[..] else { panic!("{mistakes:?}") };
    assert!(Search::new(promising(12.0).within(needed_s)).is_ok(), "{needed_s}");
}

#[test]
fn a_server_that_does_not_recover_is_a_finding_and_ends_the_search() {
    let mortal = Server::new("dies of overload", 8, Service::Exponential(0.005), Temper::Mortal, 0.1);
    let (answer, trials) = search(&mut mortal.seeded(1), Settings::new(promises(0.1), 1e5, 1));
    assert_eq!(answer.unrecovered_after, trials.last().map(|it| it.rate));
    assert!(answer.unrecovered_after.is_some_and(|it| it > 1600.0), "{:?}", answer.unrecovered_after);
    assert!(answer.capacity.low >= 640.0, "what was kept before is still said: {:?}", answer.capacity);
}

#[test]
fn a_server_that_remembers_an_overload_shows_it_from_above() {
    let brittle = Server::new("breaks for 5 s", 8, Service::Exponential(0.005), Temper::Brittle, 0.1);
    let mut plain = brittle.clone();
    plain.temper = Temper::Plain;
    let remembers = |server: &Server| {
        (1..=6)
            .filter(|&seed| {
                search(&mut server.seeded(seed), Settings::new(promises(0.1), 1e5, seed)).0.from_above.is_some_and(|it| it.missed.is_some())
            })
            .count()
    };
    let (brittle, plain) = (remembers(&brittle), remembers(&plain));
    assert!(brittle >= 4 && plain == 0, "{brittle} {plain}");
}

#[test]
fn early_decisions_count_as_the_whole_trial() {
    let mut search = Search::new(Settings { first_rate: 100.0, rate_max: 100.0, ..settings() }).unwrap();
    let early = |seconds: f64, early| TrialResult { seconds: seconds / 3.0, early: Some(early), ..result(100.0, seconds / 3.0, 0.0) };
    while let Step::Trial { seconds, purpose, .. } = search.next() {
        search.learn(early(seconds, Early::Pass));
        if purpose == Purpose::Prove {
            break;
        }
    }
    assert_eq!(search.answer().carries, Some(100.0), "one early pass stands for a full-length trial");
}

#[test]
fn a_budget_too_short_is_refused_with_what_it_would_take() {
    let Err(mistakes) = Search::new(Settings { budget_s: 30.0, ..settings() }) else { panic!("30 s are enough?") };
    let [Mistake::BudgetTooShort { budget_s: 30.0, needed_s }] = mistakes[..] else { panic!("{mistakes:?}") };
    assert!(Search::new(Settings { budget_s: needed_s, ..settings() }).is_ok());
    let Err(mistakes) = Search::new(settings().within(20.0)) else { panic!("trials of 0.2 s say something?") };
    let [Mistake::BudgetTooShort { needed_s, .. }] = mistakes[..] else { panic!("{mistakes:?}") };
    assert!(Search::new(settings().within(needed_s)).is_ok(), "{needed_s}");
}

#[test]
fn every_preset_fits_its_budget_and_finds_a_cliff_in_it() {
    for settings in [settings().quick(), settings(), settings().publish(), settings().within(90.0), settings().within(600.0)] {
        let (width, budget) = (settings.width, settings.budget_s);
        let (answer, _) = follow(settings, cliff(812.0));
        let (low, high) = (answer.carries.unwrap(), answer.breaks_at.unwrap().rate);
        assert!(low <= 812.0 && 812.0 < high && answer.spent_s <= budget, "{low} {high} {}", answer.spent_s);
        assert!(answer.regular == (high <= low * (1.0 + width) * 1.0005) && answer.regular, "{low} {high} in {budget}");
    }
}

#[test]
fn when_the_budget_ends_first_the_answer_says_what_it_would_take() {
    // Slow drains eat the budget: each trial costs three times its length.
    let (answer, _) =
        follow(settings(), |rate, seconds, purpose| TrialResult { elapsed_s: seconds * 3.0, ..cliff(5_000.0)(rate, seconds, purpose) });
    assert!(!answer.regular && answer.wants_s.is_some_and(|it| it > 180.0), "{:?}", answer.wants_s);
    assert!(answer.capacity.low <= 5_000.0 && answer.capacity.high.is_some_and(|it| it >= 5_000.0), "{:?}", answer.capacity);
}

#[test]
fn contradictory_settings_are_all_named() {
    let wrong = Settings { promises: Vec::new(), first_rate: 20.0, rate_max: 10.0, width: 0.0, ..settings() };
    assert_eq!(
        Search::new(wrong).unwrap_err(),
        [Mistake::NoPromise, Mistake::Rates { first: 20.0, max: 10.0 }, Mistake::Ratios { width: 0.0, exceed: 0.5 }]
    );
}

proptest! {
    #[test]
    fn whatever_the_trials_say_the_search_ends_in_time_and_does_not_contradict_itself(seed: u64, capacity in 0.5f64..2e5, noise in 0.0f64..0.5, slow in 0.0f64..3.0) {
        let mut random = Random::new(seed, 0);
        let mut search = Search::new(Settings { rate_max: 1e5, ..settings() }).unwrap();
        let mut steps = 0;
        let answer = loop {
            steps += 1;
            prop_assert!(steps < 1_000);
            match search.next() {
                Step::Trial { rate, seconds, .. } => {
                    prop_assert!(rate > 0.0 && rate <= 1e5 && seconds > 0.0);
                    prop_assert!(search.spent_s() < 180.0, "a trial was begun after the budget");
                    let wrong = random.unit() < noise;
                    let share = if (rate > capacity) != wrong { random.unit() } else { random.unit() * 0.009 };
                    let standing = match random.unit() {
                        x if x < noise * 0.2 => Standing::Invalid,
                        x if x < noise * 0.25 => Standing::GeneratorLimited,
                        _ => Standing::Valid,
                    };
                    let cut = if random.unit() < noise { random.unit() } else { 1.0 };
                    let early = match random.unit() {
                        x if x < noise * 0.2 => Some(Early::Pass),
                        x if x < noise * 0.4 => Some(Early::Fail),
                        _ => None,
                    };
                    let mut trial = result(rate, seconds * cut, share);
                    if early == Some(Early::Fail) {
                        trial.seen[0].bad = trial.due;
                    }
                    search.learn(TrialResult { elapsed_s: seconds * cut * slow, standing, early, ..trial });
                }
                Step::Rest { seconds_min, seconds_max } => search.rested(Pause { seconds: seconds_min.max(seconds_max * random.unit() * 0.3), recovered: random.unit() > noise * 0.05 }),
                Step::Done(answer) => break *answer,
            }
        };
        let upper = answer.capacity.high.unwrap_or(f64::INFINITY);
        prop_assert!(answer.capacity.low >= 0.0 && answer.capacity.low <= upper, "{:?}", answer.capacity);
        if let Some(rate) = answer.carries {
            prop_assert!(answer.capacity.low <= rate && rate <= upper, "{rate} {:?}", answer.capacity);
            prop_assert!(answer.breaks_at.is_none_or(|it| it.rate > rate), "{rate} {:?}", answer.breaks_at);
        }
        prop_assert!(answer.wants_s.is_none_or(|it| it >= answer.spent_s));
        prop_assert!(!crate::search_words::sentences(&answer, &search.settings.promises, crate::found::RateUnit::Requests).iter().any(|it| it.contains("NaN") || it.contains("inf")));
        prop_assert_eq!(search.answer(), answer);
    }
}
