//! What becomes of a file: the run, and its report.

use analysis::Reading;
use insta::assert_snapshot;
use jtl::{Form, HEADER, JtlRun, Sample, write_csv};
use measure::{Failure, Summary};
use plan::Nanos;
use report::{Style, format};

/// Half a minute of a shop: two requests and a transaction each, failures of several kinds.
fn shop() -> Vec<Sample<'static>> {
    let mut samples = Vec::new();
    for k in 0..3_000u64 {
        let is_order = k % 3 == 0;
        let (label, url) = if is_order { ("order", "http://shop.test:8080/order") } else { ("home", "http://shop.test:8080/") };
        let at = 1_767_607_200_000 + k * 10;
        let well = Sample {
            time_stamp_ms: at,
            elapsed_ms: if is_order { 20 + k % 17 } else { 5 + k % 4 },
            label: label.into(),
            response_code: "200".into(),
            response_message: "OK".into(),
            thread_name: format!("shop 1-{}", k % 20 + 1).into(),
            data_type: "text".into(),
            success: true,
            bytes: 900,
            sent_bytes: 120,
            group_threads: 20,
            all_threads: 20.min(1 + k as u32 / 10),
            url: url.into(),
            latency_ms: 3 + k % 2,
            ..Sample::default()
        };
        let exception =
            |class: &str, message: &str| (format!("Non HTTP response code: {class}"), format!("Non HTTP response message: {message}"));
        samples.push(match k % 300 {
            7 => Sample { success: false, response_code: "503".into(), response_message: "Service Unavailable".into(), ..well },
            11 => Sample { success: false, failure_message: "Test failed: text expected to contain /id/".into(), ..well },
            17 => {
                let (code, message) = exception("java.net.SocketTimeoutException", "Read timed out");
                Sample {
                    success: false,
                    elapsed_ms: 2_000,
                    response_code: code.into(),
                    response_message: message.into(),
                    latency_ms: 0,
                    ..well
                }
            }
            19 => {
                let (code, message) = exception("org.apache.http.NoHttpResponseException", "shop.test:8080 failed to respond");
                Sample { success: false, response_code: code.into(), response_message: message.into(), latency_ms: 0, ..well }
            }
            _ => well,
        });
        if is_order {
            let message = "Number of samples in transaction : 3, number of failing samples : 0";
            samples.push(Sample {
                time_stamp_ms: at,
                elapsed_ms: 60,
                label: "checkout".into(),
                response_code: "200".into(),
                response_message: message.into(),
                success: true,
                ..Sample::default()
            });
        }
    }
    samples
}

fn csv(samples: &[Sample<'_>]) -> Vec<u8> {
    let mut text = format!("{HEADER}\n").into_bytes();
    samples.iter().for_each(|sample| write_csv(sample, &mut text).unwrap());
    text
}

fn run_of(files: &[&[u8]]) -> Summary {
    let mut run = JtlRun::default();
    for (number, file) in files.iter().enumerate() {
        run.add(&format!("{number}.jtl"), *file, Form::of(file).unwrap()).unwrap();
    }
    run.finish().unwrap()
}

fn rendered(name: &str, run: &Summary) -> String {
    let mut bytes = Vec::new();
    (format(name).unwrap().render)(&Reading::new(run, &[]), &Style::PLAIN, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_file_becomes_a_report_that_says_what_it_cannot_know() {
    let run = run_of(&[&csv(&shop())]);
    assert_snapshot!("text", rendered("text", &run));
    assert_snapshot!("markdown", rendered("markdown", &run));
    for name in ["html", "json"] {
        let page = rendered(name, &run);
        assert!(
            page.contains("coordinated omission") && !page.contains("loadline was not the limit") && !page.contains("--follow"),
            "{name}"
        );
    }
}

#[test]
fn counts_are_those_of_the_samples_and_transactions_are_none() {
    let run = run_of(&[&csv(&shop())]);
    let of = |class| run.failures.iter().find(|failure| failure.class == class).map_or(0, |failure| failure.count);
    assert_eq!((run.requests.due, run.requests.failed, run.concurrency), (3_000, 40, 20));
    let classes = [Failure::CheckStatus, Failure::CheckFailed, Failure::RecvIdleTimeout, Failure::RecvEofBeforeResponse];
    assert_eq!(classes.map(of), [10; 4]);
    assert_eq!((run.status[&200], run.status[&503]), (2_970, 10));
    let rows: Vec<_> = run.urls.iter().map(|row| (row.name.as_str(), row.due)).collect();
    assert_eq!(rows, [("order", 1_000), ("home", 2_000)]);
    assert_eq!((run.started.as_str(), run.measured_by.as_deref()), ("2026-01-05T10:00:00Z", Some("JMeter")));
    assert_eq!((run.plan.target().to_string().as_str(), run.resolution.name.as_str()), ("http://shop.test:8080/", "shop.test:8080"));
    // A timeout counts at its time; what was answered has a first byte.
    assert_eq!((run.response_time.max(), run.ttfb.count()), (Some(Nanos::from_secs(2)), 2_980));
    assert!(run.warnings.iter().any(|warning| warning.starts_with("1000 samples are transactions: ")), "{:?}", run.warnings);
}

#[test]
fn files_of_several_machines_are_one_run() {
    let samples = shop();
    let (even, odd): (Vec<_>, Vec<_>) = samples.iter().cloned().partition(|sample| sample.time_stamp_ms / 10 % 2 == 0);
    let (one, two) = (run_of(&[&csv(&samples)]), run_of(&[&csv(&odd), &csv(&even)]));
    assert_eq!((&one.requests, &one.response_time, one.duration_s), (&two.requests, &two.response_time, two.duration_s));
    assert_eq!(two.concurrency, 40, "at the same time there are the users of both");
    // One after the other there are not.
    let later: Vec<_> =
        samples.iter().cloned().map(|sample| Sample { time_stamp_ms: sample.time_stamp_ms + 3_600_000, ..sample }).collect();
    let both = run_of(&[&csv(&later), &csv(&samples)]);
    assert_eq!((both.concurrency, both.requests.due), (20, 6_000));
}

#[test]
fn transactions_alone_are_the_requests() {
    let alone: Vec<_> = shop().into_iter().filter(|sample| sample.label == "checkout").collect();
    let run = run_of(&[&csv(&alone)]);
    assert_eq!((run.requests.due, run.urls[0].name.as_str()), (1_000, "checkout"));
    assert!(run.warnings[0].starts_with("there are transactions alone"), "{:?}", run.warnings);
    assert!(rendered("text", &run).contains("requests that JMeter sent"));
}

#[test]
fn a_file_without_samples_is_no_run_and_one_that_breaks_off_says_so() {
    let mut run = JtlRun::default();
    run.add("empty.jtl", format!("{HEADER}\n").as_bytes(), Form::Csv).unwrap();
    assert!(run.finish().is_none());
    let whole = csv(&shop());
    let run = run_of(&[&whole[..whole.len() - 30]]);
    assert!(run.warnings[0].starts_with("'0.jtl' breaks off in line 4001: "), "{:?}", run.warnings);
}
