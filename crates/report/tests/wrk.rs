//! The reports of wrk and wrk2, to the character: every unit, every rounding, every line that may be missing.

use measure::{Failure, FailureCount, Histogram, Rates, Summary, fixtures};
use plan::Nanos;
use report::wrk::{Facts, Formulas, Latency, SocketErrors, banner, report};
use report::wrk2::{self, Distributions};

fn facts() -> Facts {
    Facts {
        url: "http://127.0.0.1:8080/index.html".to_owned(),
        threads: 12,
        connections: 400,
        duration_s: 30,
        timeout: Nanos::from_secs(2),
        latency: Latency::Percentiles,
        formulas: Formulas::True,
    }
}

/// A run with these service times in microseconds, so many answers in ten seconds, and so many bytes.
fn run(times_us: &[(u64, u64)], rates: &[u64], completed: u64, received: u64) -> Summary {
    let (_, mut run) = fixtures::summaries().swap_remove(0);
    run.edit_for_test().service_time = histogram(times_us);
    run.edit_for_test().response_time = run.service_time.clone();
    run.edit_for_test().worker_rates = Rates::default();
    rates.iter().for_each(|rate| run.edit_for_test().worker_rates.record(*rate));
    run.edit_for_test().duration_s = 10.0;
    run.edit_for_test().qps = completed as f64 / 10.0;
    run.edit_for_test().bytes.received = received;
    // All of them within the span that is measured.
    run.edit_for_test().timeline.iter_mut().for_each(|tick| (tick.answered, tick.bytes_received) = (0, 0));
    let first = run.edit_for_test().timeline.first_mut().expect("the run has seconds");
    (first.answered, first.bytes_received) = (completed, received);
    run.edit_for_test().status = [(200, completed)].into();
    run.edit_for_test().failures = Vec::new();
    run
}

fn histogram(times_us: &[(u64, u64)]) -> Histogram {
    let mut histogram = Histogram::new();
    times_us.iter().for_each(|(us, count)| histogram.record_many(Nanos::from_micros(*us), *count));
    histogram
}

fn failed(run: &mut Summary, failures: &[(Failure, u64)]) {
    run.edit_for_test().failures =
        failures.iter().map(|(class, count)| FailureCount { class: *class, side: class.side(), count: *count, example: None }).collect();
}

#[test]
fn a_good_run_has_neither_errors_nor_bad_statuses() {
    let run = run(&[(250, 60), (491, 25), (700, 13), (5_800, 2)], &[49_000, 56_200, 62_000], 22_464_657, 19_069_657_252);
    insta::assert_snapshot!("wrk_good", banner(&facts()) + &report(&run, &facts()));
}

#[test]
fn without_latency_the_percentiles_are_left_out() {
    let run = run(&[(250, 60)], &[100], 10, 100);
    let brief = report(&run, &Facts { latency: Latency::Brief, ..facts() });
    assert!(!brief.contains("Distribution"));
    assert_eq!(brief.lines().count(), 6);
}

#[test]
fn every_unit_has_its_columns() {
    let mut all = String::new();
    // Either side of each switch: 850 µs, 1 s, 51 s; 850 and 850,000 a second; 870.4 B, KB, MB, GB.
    for (us, rate, received) in [
        (849, 849, 870),
        (850, 850, 871),
        (12_920, 84_900, 890_000),
        (999_000, 849_900, 900_000),
        (1_000_000, 850_000, 912_680_550),
        (50_900_000, 9_000_000, 930_000_000),
        (52_000_000, 900_000_000, 990_000_000_000),
        (7_200_000_000, 0, 1_990_000_000_000_000),
    ] {
        all += &report(&run(&[(us, 3)], &[rate], rate * 10, received), &facts());
        all.push('\n');
    }
    insta::assert_snapshot!("wrk_units", all);
}

#[test]
fn bytes_that_come_after_the_end_are_not_told() {
    let mut run = run(&[(250, 60)], &[100], 10, 1_000);
    let mut drain = run.timeline[0].clone();
    (drain.from, drain.to) = (run.ended.load_until, run.ended.load_until.plus(Nanos::SECOND));
    (drain.answered, drain.bytes_received) = (90, 9_000);
    run.edit_for_test().timeline.push(drain);
    run.edit_for_test().bytes.received = 10_000;
    assert!(report(&run, &facts()).contains(" requests in 10.00s, 0.98KB read\n"), "{}", report(&run, &facts()));
    // Nor those of the interval in which it ended, but for the share of its answers.
    run.edit_for_test().ended.load_until = Nanos(run.timeline[0].to.0 / 2);
    assert!(report(&run, &facts()).contains(" requests in 10.00s, 0.98KB read\n"), "all ten answers of that interval count");
}

#[test]
fn durations_in_the_banner_are_rounded_to_whole_minutes_from_51_seconds_on() {
    let shown = |duration_s| banner(&Facts { duration_s, ..facts() }).lines().next().unwrap().to_owned();
    let durations: Vec<String> = [1, 50, 51, 90, 7_200].map(shown).iter().map(|line| line.split(' ').nth(1).unwrap().to_owned()).collect();
    assert_eq!(durations, ["1s", "50s", "1m", "2m", "120m"]);
}

#[test]
fn the_length_of_the_run_is_told_in_seconds_and_from_51_of_them_on_in_minutes() {
    let shown = |seconds: f64| {
        let mut run = run(&[(250, 60)], &[100], 10, 100);
        run.edit_for_test().duration_s = seconds;
        let report = report(&run, &facts());
        let line = report.lines().find(|line| line.contains(" requests in ")).unwrap().to_owned();
        line.split_once(" requests in ").unwrap().1.trim_end_matches(", 100.00B read").to_owned()
    };
    let shown = [0.000_849, 0.0123, 0.999_999, 1.0, 10.004, 50.994, 51.0, 90.06, 7_200.0].map(shown);
    assert_eq!(shown, ["849.00us", "12.30ms", "1000.00ms", "1.00s", "10.00s", "50.99s", "0.85m", "1.50m", "120.00m"]);
}

#[test]
fn wrk2_s_percentiles_change_units_as_the_rest_does() {
    let times = [(700, 500), (900, 250), (950_000, 150), (2_000_000, 90), (45_000_000, 9), (120_000_000, 1)];
    let run = run(&times, &[849, 850], 1_000, 871);
    let text = wrk2::report(&run, &facts(), Distributions::Recorded);
    let rows: Vec<String> = (text.lines().skip_while(|line| !line.contains("Recorded Latency")).skip(1).take(8))
        .map(|row| {
            // A histogram is within 0.1 %, so the last digits are not held.
            let (percentile, time) = row.split_once('%').unwrap();
            let unit = time.trim_start_matches(|letter: char| letter == ' ' || letter == '.' || letter.is_ascii_digit());
            let figure: f64 = time.trim().trim_end_matches(char::is_alphabetic).parse().unwrap();
            assert_eq!(time.trim_end_matches([' ', 'u', 'm', 's']).split('.').nth(1).map(str::len), Some(2), "{row}");
            format!("{percentile}% {figure:.1e}{unit}")
        })
        .collect();
    let expected = [
        "50.000% 7.0e2us",
        "75.000% 9.0e-1ms",
        "90.000% 9.5e2ms",
        "99.000% 2.0e0s ",
        "99.900% 4.5e1s ",
        "99.990% 2.0e0m ",
        "99.999% 2.0e0m ",
        "100.000% 2.0e0m ",
    ];
    assert_eq!(rows.iter().map(|row| row.trim_start()).collect::<Vec<_>>(), expected, "{text}");
}

#[test]
fn failures_are_told_in_wrk_s_four_counters_and_statuses_apart() {
    let mut run = run(&[(1_000, 90), (2_500_000, 7), (3_000_000, 3)], &[10], 100, 1_000);
    run.edit_for_test().status = [(200, 60), (399, 3), (404, 30), (503, 7)].into();
    failed(
        &mut run,
        &[
            (Failure::CheckStatus, 37),
            (Failure::ConnectRefused, 5),
            (Failure::TlsCertExpired, 1),
            (Failure::RecvReset, 2),
            (Failure::ProtoHeader, 1),
            (Failure::RecvIdleTimeout, 3),
            (Failure::SendReset, 4),
        ],
    );
    assert_eq!(SocketErrors::of(&run, facts().timeout), SocketErrors { connect: 6, read: 3, write: 4, timeout: 10 });
    insta::assert_snapshot!("wrk_errors", report(&run, &facts()));
}

#[test]
fn of_nothing_shares_are_no_number_as_the_c_library_prints_it() {
    let nothing = run(&[], &[], 0, 0);
    insta::assert_snapshot!("wrk_nothing", report(&nothing, &facts()));
}

#[test]
fn the_original_s_formulas_leave_slow_answers_out_and_invent_others() {
    // 400 connections and 4,000 answers in ten seconds: a connection's next answer is expected after a second.
    let slow = run(&[(500_000, 3_990), (2_900_000, 10)], &[], 4_000, 0);
    let facts = Facts { timeout: Nanos::from_secs(3), ..facts() };
    let truth = report(&slow, &facts);
    let original = report(&slow, &Facts { formulas: Formulas::Original, ..facts.clone() });
    assert!(truth.contains("    Latency   506.00ms  119.86ms   2.90s    99.75%\n"), "{truth}");
    // Invented: ten of 1.9 s.
    assert!(original.contains("    Latency   509."), "{original}");
    let cut = report(&slow, &Facts { formulas: Formulas::Original, timeout: Nanos::from_secs(1), ..facts });
    assert!(cut.contains("   0.00us") && cut.contains("100.00%"), "{cut}");
}

#[test]
fn wrk2_prints_the_distribution_as_hdr_histogram_does() {
    let times: Vec<(u64, u64)> = (1..=1_000).map(|step| (step * 10, 1)).collect();
    let run = run(&times, &[100, 110], 1_000, 123_456);
    insta::assert_snapshot!("wrk2_recorded", banner(&facts()) + &wrk2::report(&run, &facts(), Distributions::Recorded));
}

#[test]
fn wrk2_prints_both_distributions_or_none() {
    let mut run = run(&[(1_000, 10)], &[100], 10, 1_000);
    run.edit_for_test().response_time = histogram(&[(5_000, 10)]);
    let both = wrk2::report(&run, &facts(), Distributions::RecordedAndUncorrected);
    assert_eq!(both.matches(&("-".repeat(58) + "\n")).count(), 2);
    assert!(both.contains("----\n\n  Latency Distribution (HdrHistogram - Uncorrected Latency (measured without taking delayed starts into account))\n 50.000%    1.00ms\n"), "{both}");
    assert!(both.contains("    Latency     5.00ms"), "the row is of the recorded one: {both}");
    assert!(!wrk2::report(&run, &facts(), Distributions::None).contains("Distribution"));
}

#[test]
fn wrk2_s_own_formula_forgets_the_first_ten_seconds() {
    let (_, run) = fixtures::summaries().into_iter().find(|(name, _)| *name == "open_with_a_stall").unwrap();
    let long = run.ended.load_until > Nanos::from_secs(10);
    let count = |formulas| {
        let text = wrk2::report(&run, &Facts { formulas, ..facts() }, Distributions::Recorded);
        let (_, rest) = text.split_once("Total count    =").unwrap();
        rest.split(']').next().unwrap().trim().parse::<u64>().unwrap()
    };
    let (all, kept) = (count(Formulas::True), count(Formulas::Original));
    assert_eq!(all, run.response_time.count());
    assert_eq!(kept < all, long, "{kept} of {all}");
}
