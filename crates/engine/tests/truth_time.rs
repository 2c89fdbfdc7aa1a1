//! Times against a server whose times are known.
//!
//! The machine these tests run on is shared and late now and then, and what is late by tens of milliseconds cannot
//! measure tens of milliseconds. The generator says so itself: a run whose own lag was above a few milliseconds is
//! repeated, three times at most, and the lag is part of the message if that does not help. Each test has the
//! generator for itself.

use std::sync::{Mutex, PoisonError};

use engine::{Stop, run};
use measure::Summary;
use plan::{Draft, Plan, Setting};
use testbed::{Config, Testbed};

/// One load at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// A run is believed if it sent 99 % of its requests within so many milliseconds of when it could.
const LAG_MS_MAX: f64 = 4.0;

/// A setting as typed.
fn given<T: std::str::FromStr>(text: &str) -> Option<Setting<T>>
where
    T::Err: std::fmt::Display,
{
    text.parse().ok()
}

fn load(path: &str, settings: impl Fn(&mut Draft)) -> (Summary, u64) {
    let server = Testbed::start(Config::new()).expect("a server");
    let mut draft = Draft { url: Some(server.url(path)), ..Draft::default() };
    settings(&mut draft);
    let plan = Plan::try_from(draft).unwrap_or_else(|errors| panic!("{errors:?}"));
    let summary = run(&plan, &mut |_| (), &Stop::new()).unwrap_or_else(|error| panic!("{error:?}"));
    (summary, server.stop().received)
}

fn lag_ms(summary: &Summary) -> f64 {
    summary.lag.quantile(0.99).map_or(0.0, |lag| lag.as_millis_f64())
}

/// Runs until `wrong` finds nothing, and again only if the machine was late.
fn believed(path: &str, settings: impl Fn(&mut Draft), wrong: impl Fn(&Summary, u64) -> Option<String>) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for attempt in 1..=3 {
        let (summary, received) = load(path, &settings);
        let Some(wrong) = wrong(&summary, received) else { return };
        let lag = lag_ms(&summary);
        assert!(lag > LAG_MS_MAX && attempt < 3, "{wrong} (lag p99 {lag:.2} ms, attempt {attempt})");
    }
}

#[test]
fn a_stalled_server_shows_in_response_time() {
    // A tenth of the requests fall into a stall, spread evenly over 0 to 200 ms.
    let settings = |draft: &mut Draft| {
        (draft.rate, draft.duration, draft.connections) = (given("1000/s"), given("8s"), given("400"));
        draft.arrivals = given("even");
    };
    believed("/behave?stall=2s:200ms", settings, |summary, received| {
        assert_eq!((summary.requests.succeeded, received), (8000, 8000), "{:?}", summary.failures);
        let p = |q| summary.response_time.known_quantile(q).expect("enough samples").as_millis_f64();
        let (p95, p99) = (p(0.95), p(0.99));
        let right = (p95 - 100.0).abs() <= 10.0 && (p99 - 180.0).abs() <= 10.0;
        (!right).then(|| format!("p95 {p95:.1} ms of 100, p99 {p99:.1} ms of 180"))
    });
}

#[test]
fn a_pool_of_known_capacity_is_used_up_and_not_exceeded() {
    // Four workers with 10 ms each: 400 a second, whatever the number of users.
    for connections in ["4", "16"] {
        let settings = |draft: &mut Draft| (draft.connections, draft.duration) = (given(connections), given("2s"));
        believed("/behave?pool=4:10ms", settings, |summary, received| {
            assert_eq!(received, summary.requests.due);
            let ratio = summary.qps / 400.0;
            assert!(ratio < 1.02, "{ratio}");
            (ratio < 0.8).then(|| format!("{ratio:.3} of the capacity"))
        });
    }
}

#[test]
fn arrivals_are_sent_as_arithmetic_says() {
    let settings = |draft: &mut Draft| {
        (draft.rate, draft.duration, draft.connections) = (given("2000/s"), given("3s"), given("200"));
        draft.arrivals = given("even");
    };
    believed("/healthz", settings, |summary, received| {
        assert_eq!((summary.requests.due, summary.requests.succeeded, received), (6000, 6000, 6000), "{:?}", summary.failures);
        let share = summary.achieved_share().expect("open load");
        (!(0.99..=1.01).contains(&share)).then(|| format!("{share:.4} of the rate"))
    });
}

#[test]
fn a_tenth_that_takes_longer_is_a_tenth_in_the_report() {
    let settings = |draft: &mut Draft| {
        (draft.rate, draft.duration, draft.connections) = (given("1000/s"), given("4s"), given("200"));
        draft.arrivals = given("even");
    };
    believed("/behave?delay=two:2ms:80ms:0.1&seed=5", settings, |summary, received| {
        assert_eq!((summary.requests.succeeded, received, summary.response_time.count()), (4000, 4000, 4000), "{:?}", summary.failures);
        let slow = summary.response_time.count_where(|time| time.as_millis_f64() >= 79.9);
        // Drawn by the server, one in ten: 400 ± 4 deviations of 19.
        let share = slow as f64 / 4000.0;
        let p = |q| summary.response_time.known_quantile(q).expect("enough samples").as_millis_f64();
        let right = (0.081..=0.119).contains(&share) && p(0.5) < 40.0 && (79.9..160.0).contains(&p(0.95));
        (!right).then(|| format!("{share:.3} above 80 ms, p50 {:.1} ms, p95 {:.1} ms", p(0.5), p(0.95)))
    });
}
