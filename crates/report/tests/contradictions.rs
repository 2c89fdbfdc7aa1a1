//! No report says two things that cannot both be true: every fixture in every format for people, and sweeps over every shape of curve.

use std::num::NonZeroU32;

use analysis::{Level, Reading, Sweep, Trial, contradictions};
use measure::{Histogram, Requests, ServerObservation, Summary, fixtures};
use plan::Nanos;
use report::{FORMATS, Style, closing, short};

fn fixture(name: &str) -> Summary {
    fixtures::summaries().into_iter().find(|(other, _)| *other == name).unwrap().1
}

/// Open load of which so many requests found no connection; `is_all`: and nothing was answered.
fn with_unsent(unsent: u64, is_all: bool) -> Summary {
    let mut run = fixture("open_with_a_stall");
    if is_all {
        run.edit_for_test().requests = Requests { due: 0, succeeded: 0, failed: 0, unsent: 0 };
        run.edit_for_test().failures.clear();
        run.edit_for_test().status.clear();
        let record = run.edit_for_test();
        (record.qps, record.qps_succeeded) = (0.0, 0.0);
    }
    run.edit_for_test().requests.unsent = unsent;
    run.edit_for_test().requests.due += unsent;
    run
}

/// What one report says of how many requests failed of how many: `N of M requests failed`, `All M requests failed`, and beside `failed`.
fn failed(report: &str) -> Vec<(String, String)> {
    // Without what is bold in Markdown.
    let report = report.replace('*', "");
    let words: Vec<&str> = report.split_whitespace().collect();
    let bare = |word: &str| word.trim_matches(|letter: char| !letter.is_ascii_digit()).to_owned();
    let is_number = |word: &str| bare(word).chars().all(|letter| letter.is_ascii_digit() || letter == ',') && !bare(word).is_empty();
    let of = words.windows(6).filter_map(|it| match it {
        [_, n, "of", m, "requests", next] if is_number(n) && is_number(m) && next.starts_with("failed") => Some((bare(n), bare(m))),
        ["failed", n, "of", m, next, _] if is_number(n) && is_number(m) && next.starts_with("request") => Some((bare(n), bare(m))),
        ["All", m, "requests", next, ..] if is_number(m) && next.starts_with("failed") => Some((bare(m), bare(m))),
        ["failed", "none", ..] => Some(("0".to_owned(), "0".to_owned())),
        _ => None,
    });
    of.collect()
}

#[test]
fn no_run_is_told_in_sentences_that_contradict_each_other() {
    let unsent = [("some_unsent", with_unsent(700, false)), ("all_unsent", with_unsent(700, true))];
    for (name, run) in fixtures::summaries().into_iter().chain(unsent) {
        let reading = Reading::new(&run, &[]);
        let mut told: Vec<(&str, String)> = [60, 80, 100]
            .map(|width| Style { width, ..Style::PLAIN })
            .map(|style| ("short", short(&reading, &style) + &closing(&reading, &style)))
            .to_vec();
        for format in FORMATS.iter().filter(|format| ["text", "markdown", "html"].contains(&format.name)) {
            let mut bytes = Vec::new();
            (format.render)(&reading, &Style::PLAIN, &mut bytes).unwrap();
            told.push((format.name, String::from_utf8_lossy(&bytes).into_owned()));
        }
        for (format, report) in told {
            assert_eq!(contradictions(&report), [], "{name} as {format}");
            let said = failed(&report);
            assert!(said.windows(2).all(|pair| pair[0] == pair[1]), "{name} as {format}: {said:?}");
            let bad = run.requests.failed + run.requests.unsent;
            // A page is words only once a browser has drawn it.
            let is_said = format == "html" || !said.is_empty();
            assert!(bad == 0 || run.requests.due == 1 || is_said, "{name} as {format}:\n{report}");
        }
    }
}

/// The server's side of a machine with next to nothing to do.
fn idle(threads: f64) -> Vec<ServerObservation> {
    let mut seen = fixture("a_server_that_was_watched").observed.clone();
    for series in seen.iter_mut().flat_map(|one| &mut one.series) {
        let scale = match series.name.as_str() {
            "threads" => threads / 6.0,
            name if name.contains("overflow") || name.contains("drops") || name == "accept_queue" => 0.0,
            name if name.contains("cpu") || name == "run_queue_wait" => 0.05,
            _ => 1.0,
        };
        series.values.iter_mut().flatten().for_each(|value| *value *= scale);
    }
    seen
}

/// Three rounds over levels that carry so much, of a server that is watched.
fn swept(levels: &[u32], threads: f64, carried: impl Fn(f64) -> f64) -> Sweep {
    let users = |users: u32| Level::Users(NonZeroU32::new(users).unwrap());
    let mut sweep = Sweep::new("made up".to_owned(), String::new(), levels.iter().map(|it| users(*it)).collect());
    for repetition in 1..=3 {
        for (at, level) in levels.iter().enumerate() {
            let mut summary = fixture("closed_all_well");
            let wobble = [0.003, -0.004, 0.001, 0.005, -0.002][(at * 2 + repetition as usize) % 5];
            summary.edit_for_test().qps = carried(f64::from(*level)) * (1.0 + wobble);
            summary.edit_for_test().qps_succeeded = summary.qps;
            let mut times = Histogram::new();
            let answers = (summary.qps * summary.duration_s).round() as u64;
            times.record_many(Nanos((f64::from(*level) / summary.qps * 1e9) as u64), answers);
            let record = summary.edit_for_test();
            (record.service_time, record.response_time) = (times.clone(), times);
            let record = summary.edit_for_test();
            (record.in_flight_mean, record.concurrency) = (f64::from(*level), u64::from(*level));
            summary.edit_for_test().service_drained = None;
            summary.edit_for_test().observed = idle(threads);
            sweep.trials.push(Trial { level: users(*level), repetition, summary });
        }
    }
    sweep
}

#[test]
fn no_sweep_is_told_in_sentences_that_contradict_each_other() {
    type Carried = fn(f64) -> f64;
    let curves: [(&str, Carried); 6] = [
        ("a straight line", |n| 100.0 * n),
        ("Amdahl's law", |n| 1_000.0 * n / (1.0 + 0.1 * (n - 1.0))),
        ("the scalability law", |n| 1_000.0 * n / (1.0 + 0.05 * (n - 1.0) + 0.001 * n * (n - 1.0))),
        ("a pool", |n| 200.0 * n.min(8.0)),
        ("one at a time", |n| 500.0 + 0.01 * n),
        ("a pool that suffers from a crowd", |n| 200.0 * n.min(8.0) * if n > 32.0 { 0.5 } else { 1.0 }),
    ];
    for levels in [&[1, 2, 4, 8, 16, 32, 64, 128][..], &[1, 4, 16, 64]] {
        for (name, carried) in curves {
            for threads in [3.0, 9.0, 200.0] {
                let sweep = swept(levels, threads, carried);
                let files = report::sweep::files(&sweep).unwrap();
                let told = files.iter().find(|file| file.ending == ".md").unwrap();
                let text = String::from_utf8_lossy(&told.bytes);
                assert_eq!(contradictions(&text), [], "{name} with {threads} threads at {levels:?}:\n{text}");
                let findings = analysis::limits::of_sweep(&sweep);
                let pool = findings.iter().any(|finding| finding.kind == analysis::bottleneck::Kind::WorkerPool);
                assert!(!pool || ["a pool", "one at a time"].contains(&name), "{name} with {threads} threads at {levels:?}: {findings:#?}");
            }
        }
    }
}
