//! What goes wrong in other load generators, and which test of ours shows that it does not here.
//!
//! A list of other tools' mistakes is worth something only as a list of tests. So each row names its tests by path and name,
//! and the tests of the pages look that they are there.

use std::fmt::Write as _;

/// A defect seen elsewhere.
#[derive(Debug, Clone, Copy)]
pub struct Defect {
    /// What happens to the user.
    pub what: &'static str,
    /// Where it was read.
    pub seen_in: &'static str,
    /// Tests that would fail if it happened here: path in this repository, `::`, name.
    pub tests: &'static [&'static str],
}

/// All of them.
pub const DEFECTS: &[Defect] = &[
    Defect {
        what: "Samples nobody measured are added to the percentiles, to make up for requests that were not sent",
        seen_in: "wrk, autocannon (with an interval a thousand times too short), Goose",
        tests: &["crates/cli/tests/end_to_end/proofs.rs::a_frozen_server_shows_in_the_response_time_and_nothing_is_left_out_or_invented"],
    },
    Defect {
        what: "Answers slower than the timeout are taken out of the percentiles",
        seen_in: "wrk",
        tests: &[
            "crates/engine/tests/truth.rs::a_server_that_never_answers_is_all_timeouts_at_their_limit",
            "crates/measure/src/collector.rs::a_timeout_is_in_the_histogram_at_its_limit_and_a_refusal_is_not",
        ],
    },
    Defect {
        what: "Requests that are never answered are counted nowhere: no requests, no errors",
        seen_in: "wrk",
        tests: &[
            "crates/cli/tests/end_to_end/proofs.rs::a_server_that_never_answers_is_all_timeouts_and_the_run_ends",
            "crates/engine/src/simulation/load.rs::a_server_that_never_answers_is_all_timeouts_at_their_limit_and_the_run_ends",
        ],
    },
    Defect {
        what: "Times come from the wall clock, and a step of it corrupts them",
        seen_in: "wrk, wrk2",
        tests: &["crates/engine/src/clock.rs::no_time_of_a_request_comes_from_a_clock_that_may_step"],
    },
    Defect {
        what: "Connections that do not divide by the number of threads are not opened: 96 instead of 100",
        seen_in: "wrk, wrk2",
        tests: &["crates/engine/tests/truth.rs::as_many_connections_are_opened_as_asked_for_on_any_number_of_threads"],
    },
    Defect {
        what: "A connection that fails at once is given up for the whole run, silently",
        seen_in: "wrk",
        tests: &["crates/engine/src/simulation/load.rs::a_refused_connection_is_tried_again_for_the_whole_run_but_not_without_rest"],
    },
    Defect {
        what: "Latency leaves the warm-up out and throughput does not: two headline figures of two spans",
        seen_in: "wrk2",
        tests: &[
            "crates/engine/src/simulation/load.rs::warm_up_is_excluded_and_shown_as_excluded",
            "crates/measure/src/collector.rs::throughput_counts_what_was_answered_in_the_measured_span",
        ],
    },
    Defect {
        what: "The schedule belongs to a connection and is caught up with at double speed after a stall",
        seen_in: "wrk2",
        tests: &[
            "crates/plan/src/arrivals.rs::all_shares_together_are_the_whole",
            "crates/engine/src/simulation/load.rs::a_server_that_stalls_one_second_shows_it_in_response_time_and_not_in_service_time",
        ],
    },
    Defect {
        what: "A rate below the number of threads, or one that does not divide by it, becomes some other rate",
        seen_in: "wrk2, hey, h2load (a rate per client)",
        tests: &["crates/engine/tests/truth.rs::a_rate_below_the_number_of_threads_is_kept"],
    },
    Defect {
        what: "The time a request waited to be sent is in no latency: for a free worker, a timer, a place in the line",
        seen_in: "Vegeta, oha, k6, Fortio",
        tests: &[
            "crates/engine/src/simulation/load.rs::a_stalled_server_shows_in_response_time_as_arithmetic_says",
            "crates/engine/tests/truth_time.rs::a_stalled_server_shows_in_response_time",
        ],
    },
    Defect {
        what: "Requests that could not be sent in time are dropped, and no latency knows of them",
        seen_in: "k6",
        tests: &[
            "crates/engine/src/simulation/load.rs::arrivals_wait_no_longer_than_their_timeout",
            "crates/analysis/src/gate.rs::a_share_counts_all_that_fell_due",
        ],
    },
    Defect {
        what: "Beyond a million answers the mean is wrong, or percentiles are those of the first million",
        seen_in: "hey, h2load",
        tests: &[
            "crates/measure/src/collector.rs::ten_hours_and_ten_million_requests_take_no_more_memory_than_an_hour",
            "crates/measure/src/histogram.rs::mean_and_deviation_are_exact",
        ],
    },
    Defect {
        what: "Requests that do not divide by the number of users are not sent",
        seen_in: "hey",
        tests: &["crates/engine/tests/truth.rs::a_number_of_requests_is_that_number_on_any_threads"],
    },
    Defect {
        what: "Certificates are not verified, so that another TLS is measured than users have",
        seen_in: "wrk, hey",
        tests: &["crates/engine/src/net/tests.rs::a_self_signed_certificate_is_not_trusted_unless_it_is_given"],
    },
    Defect {
        what: "Failures that come quickly make percentiles better",
        seen_in: "bombardier",
        tests: &[
            "crates/analysis/src/gate.rs::a_fast_failure_does_not_improve_a_percentile",
            "crates/measure/src/collector.rs::a_fast_error_does_not_count_as_success_nor_lose_its_time",
        ],
    },
    Defect {
        what: "Requests in flight at the end are cut off: the slowest are those that are missing",
        seen_in: "oha, wrk2",
        tests: &["crates/engine/src/simulation/load.rs::a_late_answer_after_the_end_of_the_load_is_waited_for_and_counted"],
    },
    Defect {
        what: "Memory grows with the number of requests",
        seen_in: "oha, k6",
        tests: &["crates/measure/src/collector.rs::ten_hours_and_ten_million_requests_take_no_more_memory_than_an_hour"],
    },
    Defect {
        what: "All requests of a second are sent at its beginning",
        seen_in: "autocannon",
        tests: &[
            "crates/plan/src/arrivals.rs::even_arrivals_stand_where_arithmetic_puts_them",
            "crates/engine/tests/truth_time.rs::arrivals_are_sent_as_arithmetic_says",
        ],
    },
    Defect {
        what: "Times are rounded to two digits, or to a millisecond and never less",
        seen_in: "Locust, Gatling",
        tests: &["crates/measure/src/histogram.rs::a_quantile_is_within_a_thousandth"],
    },
    Defect {
        what: "A share of answers that is slow by design is not the share reported",
        seen_in: "tools that add, drop or round samples",
        tests: &["crates/engine/tests/truth_time.rs::a_tenth_that_takes_longer_is_a_tenth_in_the_report"],
    },
    Defect {
        what: "With threads and a rate together the correction is lost, or the program ends",
        seen_in: "autocannon",
        tests: &["crates/engine/tests/truth.rs::a_rate_below_the_number_of_threads_is_kept"],
    },
    Defect {
        what: "The time to the first byte is taken once for each connection, not for each request",
        seen_in: "h2load",
        tests: &["crates/engine/tests/truth.rs::the_first_byte_of_every_answer_is_timed_and_not_only_of_every_connection"],
    },
    Defect {
        what: "HTTP/1.0 is spoken, and an answer of another length than the first counts as a failure",
        seen_in: "ab",
        tests: &["crates/engine/tests/truth.rs::answers_of_different_lengths_are_no_failures"],
    },
    Defect {
        what: "One figure without an interval; or one that takes the requests of a run for independent",
        seen_in: "nearly all",
        tests: &[
            "crates/analysis/src/interval.rs::intervals_cover_the_truth_as_often_as_they_say",
            "crates/analysis/src/interval.rs::intervals_that_took_requests_for_independent_would_be_far_too_narrow",
        ],
    },
    Defect {
        what: "A generator at its own limit is reported as a slow server",
        seen_in: "nearly all",
        tests: &[
            "crates/cli/tests/end_to_end/proofs.rs::a_generator_with_a_tenth_of_a_core_says_invalid_and_judges_nothing",
            "crates/analysis/src/validity.rs::a_starved_generator_is_invalid_even_beside_the_server",
        ],
    },
    Defect {
        what: "More connections than this machine can open become fewer, without a word",
        seen_in: "wrk",
        tests: &["crates/engine/src/net/tests.rs::too_few_open_files_are_said_with_what_would_do"],
    },
];

/// The table.
#[must_use]
pub fn table() -> String {
    let mut table = String::from("| defect | seen in | tests |\n|---|---|---|\n");
    for Defect { what, seen_in, tests } in DEFECTS {
        let tests: Vec<String> = tests.iter().map(|test| format!("`{test}`")).collect();
        let _ = writeln!(table, "| {what} | {seen_in} | {} |", tests.join(", "));
    }
    table.truncate(table.trim_end().len());
    table
}

/// The table between the marks by which the tests of the pages keep it true.
#[must_use]
pub fn marked() -> String {
    format!("<!-- defects: made by make pages -->\n{}\n<!-- end of defects -->\n", table())
}
