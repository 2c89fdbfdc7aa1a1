//! A generator that does not run for a while: the clock jumps, and everything that was to happen meanwhile happens at once.

use std::time::Duration;

use measure::{Failure, Summary};
use plan::{Draft, Nanos};
use tokio::time::{Instant, advance, sleep, sleep_until};

use super::{Simulation, answer, given, plan, read_request};

/// A server that takes so long, on a machine on which nothing runs for `gap` from each of these moments on.
fn frozen(took: Duration, at: &'static [u64], gap: Duration) -> Simulation {
    Simulation::of(move |mut stream, number| async move {
        if number == 0 {
            let begin = Instant::now();
            tokio::task::spawn_local(async move {
                for millis in at {
                    sleep_until(begin + Duration::from_millis(*millis)).await;
                    advance(gap).await;
                }
            });
        }
        while read_request(&mut stream).await.is_some() {
            sleep(took).await;
            answer(&mut stream, 200, "ok").await;
        }
    })
}

fn measured(simulation: &Simulation, settings: impl FnOnce(&mut Draft)) -> Summary {
    let summary = simulation.run(&plan(settings));
    let requests = summary.requests;
    assert_eq!(requests.due, requests.succeeded + requests.failed + requests.unsent);
    summary
}

fn shares(gaps: measure::Gaps) -> (u64, bool, bool) {
    let (total, longest) = (gaps.total.as_secs_f64(), gaps.longest.as_secs_f64());
    (gaps.count, (1.98..=2.0).contains(&total), (1.98..=2.0).contains(&longest))
}

#[test]
fn a_pause_of_two_seconds_is_a_gap_and_what_fell_due_in_it_is_lag() {
    let server = frozen(Duration::from_millis(1), &[3_000], Duration::from_secs(2));
    let summary = measured(&server, |draft| {
        draft.rate = given("300/s");
        draft.duration = given("10s");
        draft.connections = given("2");
    });
    assert_eq!(summary.requests.succeeded, 3_000);
    assert_eq!(shares(summary.generator.gaps), (1, true, true));
    // Two connections: nearly all of the 600 waited for one besides.
    let late = |times: &measure::Histogram| times.count_where(|time| time > Nanos::from_millis(500));
    assert!(late(&summary.lag) >= 440, "{} sends are late by ours", late(&summary.lag));
    assert_eq!(late(&summary.wait), 0, "what is left of the wait is the time the burst took");
    let (p99, without) = (summary.response_time.quantile(0.99).unwrap(), summary.quantile_without_own_delay(0.99).unwrap());
    assert!(p99 > Nanos::from_secs(1) && without < Nanos::from_millis(500), "{p99:?} {without:?}");
}

#[test]
fn in_closed_load_answers_that_lay_unread_are_told_from_slow_ones() {
    let server = frozen(Duration::from_millis(10), &[3_000], Duration::from_secs(2));
    let summary = measured(&server, |draft| {
        draft.connections = given("5");
        draft.duration = given("10s");
    });
    assert_eq!(shares(summary.generator.gaps), (1, true, true));
    assert_eq!(summary.response_time.count_where(|time| time > Nanos::SECOND), 5);
    assert_eq!(summary.own_delay.measured.count(), 5);
    assert!(summary.own_delay.without.max().unwrap() < Nanos::from_millis(40), "{:?}", summary.own_delay.without);
}

#[test]
fn freezes_of_twenty_milliseconds_are_each_found() {
    const AT: [u64; 20] = [
        107, 354, 601, 848, 1_095, 1_342, 1_589, 1_836, 2_083, 2_330, 2_577, 2_824, 3_071, 3_318, 3_565, 3_812, 4_059, 4_306, 4_553, 4_800,
    ];
    let server = frozen(Duration::from_millis(2), &AT, Duration::from_millis(20));
    let summary = measured(&server, |draft| {
        draft.connections = given("3");
        draft.duration = given("6s");
    });
    let gaps = summary.generator.gaps;
    assert_eq!(gaps.count, 20);
    assert!(gaps.total >= Nanos::from_millis(280) && gaps.total <= Nanos::from_millis(400), "{gaps:?}");
}

#[test]
fn a_server_that_stands_still_is_no_gap_of_ours() {
    let server = Simulation::of(|mut stream, _| async move {
        while read_request(&mut stream).await.is_some() {
            sleep(Duration::from_millis(700)).await;
            answer(&mut stream, 200, "ok").await;
        }
    });
    for rate in [None, given("50/s")] {
        let summary = measured(&server, |draft| {
            draft.rate = rate;
            draft.connections = given("4");
            draft.duration = given("5s");
            draft.timeout = given("2s");
        });
        assert!(summary.generator.gaps.is_empty() && summary.own_delay.is_empty(), "{:?}", summary.generator.gaps);
    }
}

#[test]
fn gaps_outside_of_what_is_measured_do_not_count() {
    let server = frozen(Duration::from_millis(10), &[500], Duration::from_millis(300));
    let summary = measured(&server, |draft| {
        draft.connections = given("2");
        draft.duration = given("4s");
        draft.warmup = given("1s");
    });
    assert!(summary.generator.gaps.is_empty(), "{:?}", summary.generator.gaps);
}

#[test]
fn an_answer_that_was_in_time_while_nobody_looked_is_a_timeout_at_its_limit() {
    // Whether it would have been read in time nobody knows; the gap says so.
    let server = frozen(Duration::from_millis(10), &[1_001], Duration::from_millis(900));
    let summary = measured(&server, |draft| {
        draft.connections = given("1");
        draft.duration = given("2s");
        draft.timeout = given("500ms");
    });
    assert_eq!(summary.generator.gaps.count, 1);
    let timeouts: u64 = summary.failures.iter().filter(|failure| failure.class == Failure::RecvIdleTimeout).map(|it| it.count).sum();
    assert_eq!(timeouts, 1);
}
