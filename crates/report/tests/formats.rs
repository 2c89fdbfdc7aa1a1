//! Every format of a run, for every fixture, kept as it reads.

use analysis::Reading;
use analysis::gate::{Change, Regression, Row};
use insta::assert_snapshot;
use measure::{Collector, End, Ending, Example, Summary, fixtures};
use plan::{Draft, Nanos, Plan, Setting};
use report::{Colour, FORMATS, LINES_MAX, Style, closing, format, short};

fn rendered(name: &str, summary: &Summary, style: &Style) -> String {
    let mut bytes = Vec::new();
    (format(name).unwrap().render)(&Reading::new(summary, &[]), style, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// The compressed buckets depend on the version of the compressing crate and tell a reader nothing.
fn without_buckets(text: &str) -> String {
    let lines = text.lines().map(|line| match line.split_once("\"hdr\": \"") {
        Some((before, _)) => format!("{before}\"hdr\": \"…\""),
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn every_format_of_every_fixture_reads_as_it_did() {
    // What is drawn in a browser is looked at in one: `make web-test`.
    for format in FORMATS.iter().filter(|format| format.name != "html") {
        for (name, summary) in fixtures::summaries() {
            let text = rendered(format.name, &summary, &Style::PLAIN);
            assert!(text.ends_with('\n') && !text.contains('\x1b') && !text.contains("NaN"), "{}: {name}", format.name);
            assert_snapshot!(format!("{}__{name}", format.name), without_buckets(&text));
        }
    }
}

#[test]
fn a_page_is_one_file_that_loads_nothing_with_or_without_its_charts() {
    for (name, summary) in fixtures::summaries() {
        let page = rendered("html", &summary, &Style::PLAIN);
        assert_eq!(page, rendered("html", &summary, &Style::PLAIN), "{name}");
        assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"), "{name}");
        for loads in [" src=", "@import", "url(http", "<link", "<iframe"] {
            assert!(!page.contains(loads), "{name}: {loads}");
        }
        assert!(page.contains("default-src 'none'") && !page.contains("unsafe-"), "{name}");
        // The server's own words are there, as text.
        assert!(!page.contains("<b>bold</b>"), "{name}");
        assert!(page.len() < 1 << 20, "{name}: {} bytes", page.len());
    }
}

fn fixture(name: &str) -> Summary {
    fixtures::summaries().into_iter().find(|(other, _)| *other == name).unwrap().1
}

fn given<T: std::str::FromStr>(text: &str) -> Option<Setting<T>>
where
    T::Err: std::fmt::Display,
{
    text.parse().ok()
}

/// Everything at once: a rate that was not reached, failures, unsent requests, a busy generator, warnings and checks.
fn not_kept_up_with() -> Summary {
    let mut summary = fixture("open_with_a_stall");
    summary.edit_for_test().plan = Plan::try_from(Draft {
        url: Some("http://api.test/orders".to_owned()),
        rate: given("0/s to 500/s for 1m, 500/s for 5m"),
        arrivals: given("even"),
        connections: given("40"),
        proxy: Some("http://10.0.0.9:3128".to_owned()),
        no_keepalive: true,
        threads: given("2"),
        ..Draft::default()
    })
    .unwrap();
    summary.edit_for_test().ended.how = Ending::CutShort;
    summary.edit_for_test().requests.unsent = 700;
    summary.edit_for_test().requests.due += 700;
    summary.edit_for_test().in_flight_mean *= summary.duration_s / 45.2;
    summary.edit_for_test().duration_s = 45.2;
    summary.edit_for_test().qps = 441.7;
    summary.edit_for_test().qps_succeeded = 440.2;
    summary.edit_for_test().qps_offered = Some(458.3);
    summary.edit_for_test().redirects = 12;
    summary.edit_for_test().generator.cpu_share_busiest = 0.91;
    summary.edit_for_test().generator.run_queue_share = Some(0.042);
    summary.edit_for_test().generator.steal_share = Some(0.03);
    for failure in &mut summary.edit_for_test().failures {
        failure.example = Some(Example { at: Nanos::from_millis(70), text: "x".repeat(400) });
    }
    summary
}

#[test]
fn a_rate_the_server_could_not_keep_up_with_is_told_in_full() {
    let summary = not_kept_up_with();
    assert_snapshot!("text__a_rate_not_kept_up_with", rendered("text", &summary, &Style::PLAIN));
    assert_snapshot!("markdown__a_rate_not_kept_up_with", rendered("markdown", &summary, &Style::PLAIN));
}

#[test]
fn checks_are_told_in_every_format_for_people_and_build_servers() {
    let summary = fixture("open_with_a_stall");
    let checks = ["p50 < 5ms", "p99 < 200ms", "failed < 0.1%", "tls.p99.9 < 3ms", "qps >= 990"].map(|text| text.parse().unwrap());
    let told = |name: &str, reading: &Reading<'_>| {
        let mut bytes = Vec::new();
        (format(name).unwrap().render)(reading, &Style::PLAIN, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    };
    for name in ["text", "markdown", "junit"] {
        assert_snapshot!(format!("{name}__checks"), told(name, &Reading::new(&summary, &checks)));
    }
    let json: serde_json::Value = serde_json::from_str(&told("json", &Reading::new(&summary, &checks))).unwrap();
    let verdicts: Vec<&str> = json["checks"].as_array().unwrap().iter().map(|check| check["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["held", "broken", "broken", "not_judgeable", "held"]);
}

#[test]
fn a_run_that_is_not_valid_says_so_first_and_judges_nothing() {
    let mut summary = fixture("closed_all_well");
    let late = Nanos::from_millis(30);
    (0..200_000).for_each(|_| summary.edit_for_test().lag.record(late));
    summary.edit_for_test().ended.how = Ending::Aborted;
    for name in ["text", "markdown", "junit"] {
        let mut bytes = Vec::new();
        let reading = Reading::new(&summary, &["p99 < 200ms".parse().unwrap()]);
        let reading = reading.aborted_by("failed > 50% for 5s".parse().ok());
        (format(name).unwrap().render)(&reading, &Style::PLAIN, &mut bytes).unwrap();
        assert_snapshot!(format!("{name}__not_valid"), String::from_utf8(bytes).unwrap());
    }
}

#[test]
fn a_run_that_was_killed_is_not_blamed_on_an_error() {
    let mut summary = fixture("closed_all_well");
    summary.edit_for_test().ended.how = Ending::Killed;
    summary.edit_for_test().ended.load_until = Nanos::from_secs(4);
    for name in ["text", "markdown"] {
        let told = rendered(name, &summary, &Style::PLAIN);
        assert!(told.contains("Cut short after 4 s of 10 s, as loadline was ended from outside"), "{told}");
        assert!(!told.contains("by an error"), "{told}");
    }
}

#[test]
fn a_run_that_ended_in_its_warmup_claims_nothing() {
    let plan = fixtures::plan("http://a.test/");
    let end = End { how: Ending::Interrupted, load_until: Nanos::from_millis(300), drained_at: Nanos::from_millis(300) };
    let mut summary = Collector::new(plan, 1, Nanos::SECOND).finish(end).0.close();
    let other = fixture("a_single_request");
    let record = summary.edit_for_test();
    (record.machine, record.started) = (other.machine.clone(), other.started.clone());
    for name in ["text", "markdown"] {
        assert_snapshot!(format!("{name}__nothing_measured"), rendered(name, &summary, &Style::PLAIN));
    }
}

#[test]
fn the_same_run_in_the_same_style_gives_the_same_bytes() {
    for format in FORMATS {
        for ((name, first), (_, second)) in fixtures::summaries().iter().zip(&fixtures::summaries()) {
            assert_eq!(rendered(format.name, first, &Style::PLAIN), rendered(format.name, second, &Style::PLAIN), "{name}");
        }
    }
}

#[test]
fn colour_changes_nothing_but_colour() {
    let ansi = Style { colour: Colour::Ansi, ..Style::PLAIN };
    for (name, summary) in fixtures::summaries() {
        let coloured = rendered("text", &summary, &ansi);
        assert!(coloured.contains('\x1b'), "{name}");
        let mut plain = String::new();
        let mut rest = coloured.as_str();
        while let Some((before, after)) = rest.split_once("\x1b[") {
            plain.push_str(before);
            rest = after.split_once('m').unwrap().1;
        }
        plain.push_str(rest);
        assert_eq!(plain, rendered("text", &summary, &Style::PLAIN), "{name}");
    }
}

/// A terminal of so many columns.
fn columns(width: u16) -> Style {
    Style { colour: Colour::Plain, width }
}

#[test]
fn the_text_keeps_to_its_width_and_breaks_no_figure() {
    for width in [60, 80, 100, 120, 200] {
        for (name, summary) in fixtures::summaries().into_iter().chain([("journeys", fixtures::journeys_of_a_shop())]) {
            let reading = Reading::new(&summary, &[]);
            let style = columns(width);
            for text in [rendered("text", &summary, &style), short(&reading, &style), closing(&reading, &style)] {
                for line in text.lines() {
                    assert!(line.chars().count() <= usize::from(width), "{name} at {width}: {line}");
                    assert!(!line.ends_with(' '), "{name}: {line:?}");
                }
                // A head or a sentence that is broken between a number and its unit leaves the unit at the beginning of a line.
                assert!(!text.lines().any(|line| line.trim_start().starts_with('%')), "{name} at {width}: {text}");
            }
        }
    }
}

/// Every plain run there is, and the worst of them with promises that did not hold.
fn plain_runs() -> Vec<(&'static str, Summary, Vec<&'static str>)> {
    let checks = vec!["p50 < 5ms", "p99 < 200ms", "failed < 0.1%", "tls.p99.9 < 3ms", "qps >= 990"];
    let mut all: Vec<_> = fixtures::summaries().into_iter().map(|(name, summary)| (name, summary, Vec::new())).collect();
    all.push(("checks", fixture("open_with_a_stall"), checks.clone()));
    all.push(("a_rate_not_kept_up_with", not_kept_up_with(), checks));
    all
}

#[test]
fn the_short_report_of_a_plain_run_fits_on_a_screen() {
    const SAVED: usize = 2;
    for (name, summary, checks) in plain_runs() {
        let checks: Vec<_> = checks.iter().map(|check| check.parse().unwrap()).collect();
        let reading = Reading::new(&summary, &checks);
        for width in [80, 100, 120] {
            let style = columns(width);
            let shown = short(&reading, &style).lines().count() + SAVED + closing(&reading, &style).lines().count();
            assert!(shown <= LINES_MAX, "{name}: {shown} lines at {width} columns:\n{}", short(&reading, &style));
        }
        let style = columns(80);
        assert_snapshot!(format!("short__{name}"), short(&reading, &style) + "…\n" + &closing(&reading, &style));
    }
}

#[test]
fn the_short_report_of_a_scenario_has_a_row_for_each_step() {
    let summary = fixtures::journeys_of_a_shop();
    let reading = Reading::new(&summary, &[]);
    for width in [60, 80] {
        assert_snapshot!(format!("short__journeys_at_{width}"), short(&reading, &columns(width)));
    }
}

#[test]
fn a_transaction_has_a_row_of_its_own_wherever_steps_have() {
    let summary = fixtures::journeys_of_a_shop();
    let told = |name: &str| rendered(name, &summary, &Style::PLAIN);
    for (format, row) in [("text", "checkout"), ("markdown", "| checkout | 3,000 | 2,980 |"), ("html", "checkout")] {
        assert!(told(format).contains(row), "{format}");
    }
    assert!(told("text").contains("A transaction's time is what its requests took together"));
    let json: serde_json::Value = serde_json::from_str(&told("json")).unwrap();
    let row = &json["scenario"]["transactions"][0];
    assert_eq!((row["name"].as_str(), row["started"].as_u64(), row["broke_off"].as_u64()), (Some("checkout"), Some(3_000), Some(20)));
    assert!(row["transaction_time"].is_object(), "{row}");
}

#[test]
fn no_broken_promise_is_left_out_for_want_of_room() {
    let summary = not_kept_up_with();
    let promises: Vec<String> = (1..=30).map(|ms| format!("p99 < {ms}ms")).collect();
    let checks: Vec<_> = promises.iter().map(|promise| promise.parse().unwrap()).collect();
    let text = short(&Reading::new(&summary, &checks), &columns(80));
    assert!(promises.iter().all(|promise| text.contains(promise.as_str())), "{text}");
    assert!(text.contains("503 Service Unavailable") && text.contains("--full"), "{text}");
}

#[test]
fn what_a_server_sends_cannot_steer_the_terminal() {
    let (_, mut summary) = fixtures::summaries().into_iter().find(|(name, _)| *name == "failures_of_every_side").unwrap();
    for failure in &mut summary.edit_for_test().failures {
        if let Some(example) = &mut failure.example {
            example.text = "\x1b[2J\x1b]0;owned\x07\r\n  failed           none\u{202e}".to_owned();
        }
    }
    summary.edit_for_test().warnings.push("\x1b[1A\u{9b}2K".to_owned());
    summary.edit_for_test().resolution.addresses.push("\x1bc".to_owned());
    let told = |name: &str| rendered(name, &summary, &Style::PLAIN);
    for (name, text) in
        [("text", told("text")), ("markdown", told("markdown")), ("short", short(&Reading::new(&summary, &[]), &Style::PLAIN))]
    {
        assert!(!text.chars().any(|letter| (letter.is_control() && letter != '\n') || letter == '\u{202e}'), "{name}: {text}");
        assert!(!text.lines().any(|line| line == "  failed           none"), "{name}");
    }
}

/// Open load that found no connection for some of its requests, and else went well.
fn unsent(number: u64) -> Summary {
    let mut summary = not_kept_up_with();
    let record = summary.edit_for_test();
    let requests = &mut record.requests;
    (requests.succeeded, requests.failed) = (requests.succeeded + requests.failed, 0);
    (requests.due, requests.unsent) = (requests.due - requests.unsent + number, number);
    record.failures.clear();
    record.status = [(200, requests.succeeded)].into();
    summary
}

#[test]
fn what_came_over_websocket_is_told_in_every_format_for_people() {
    let (_, mut run) = fixtures::summaries().remove(0);
    let counts = run.edit_for_test().websockets.get_or_insert_default();
    counts.unasked.messages = 3;
    counts.between_messages.record(Nanos::from_millis(250));
    for name in ["text", "markdown", "html"] {
        let told = rendered(name, &run, &Style::PLAIN);
        assert!(told.contains("3 messages that answered none of ours"), "{name}: {told}");
        assert_eq!(told.contains("between messages"), name != "markdown", "{name}: {told}");
    }
    let alone = rendered("text", &fixture("closed_all_well"), &Style::PLAIN);
    assert!(!alone.contains("between messages") && !alone.contains("unasked"), "{alone}");
}

#[test]
fn requests_that_were_never_sent_are_among_those_that_failed() {
    let text = rendered("text", &unsent(700), &Style::PLAIN);
    let said = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("700 of 20,700 requests failed (3.38 %)"), "{text}");
    assert!(text.contains("  failed           700 of 20,700 requests, 3.38 %\n") && !text.contains("to blame"), "{text}");
    let both = rendered("text", &not_kept_up_with(), &Style::PLAIN);
    assert!(both.contains("  failed           721 of 20,700 requests, 3.48 %; 700 of them never sent\n"), "{both}");
}

#[test]
fn a_check_that_cannot_be_judged_says_why_before_anything_else() {
    let summary = not_kept_up_with();
    let checks = ["p50 < 5ms", "p99 < 200ms", "tls.p99.9 < 3ms"].map(|check| check.parse().unwrap());
    let text = short(&Reading::new(&summary, &checks), &columns(80));
    let line = text.lines().find(|line| line.contains("not judgeable")).unwrap_or_else(|| panic!("{text}"));
    assert!(line.contains(" requests, where") && !line.contains(" ms"), "{line}");
}

#[test]
fn what_came_of_a_saved_run_stands_in_every_report() {
    let summary = fixture("closed_all_well");
    let row = |figure: &str, before: &str, now: &str, change: f64, verdict| Row {
        figure: figure.to_owned(),
        before: before.to_owned(),
        now: now.to_owned(),
        change,
        noise: Some(0.015),
        verdict,
    };
    let ruling = Regression {
        reference: "@baseline:api\x1b[2J".to_owned(),
        allowed: 0.05,
        rows: vec![row("QPS", "12,100/s", "12,000/s", -0.01, Change::Within), row("p99", "12.0 ms", "15.6 ms", 0.3, Change::Worse)],
        is_invalid: false,
        is_reference_invalid: false,
        is_other_machine: false,
        runs: 8,
        verdict: Change::Worse,
    };
    let written = serde_json::to_string(&ruling).unwrap();
    assert_eq!(serde_json::from_str::<Regression>(&written).unwrap(), ruling, "a saved result gives it back");
    let reading = Reading::new(&summary, &[]).against(Some(ruling));
    for width in [60, 80, 100] {
        let mut bytes = Vec::new();
        (format("text").unwrap().render)(&reading, &columns(width), &mut bytes).unwrap();
        let whole = String::from_utf8(bytes).unwrap();
        for text in [whole.clone(), short(&reading, &columns(width))] {
            assert!(text.contains("WORSE than @baseline:api\\x1b[2J"), "{text}");
            let said = text.replace('\u{a0}', " ").split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(said.contains("p99 12.0 ms → 15.6 ms (+30.0 %; runs differ by ± 1.5 %): WORSE"), "{said}");
            assert!(text.lines().all(|line| line.chars().count() <= usize::from(width)), "{text}");
        }
        assert!(whole.contains("12,100/s → 12,000/s"), "{whole}");
        assert!(closing(&reading, &columns(width)).contains("WORSE than @baseline:api"));
    }
}

#[test]
fn nothing_is_said_of_connections_but_what_is_known() {
    let said = |summary: &Summary| {
        let text = rendered("text", summary, &Style::PLAIN);
        text.lines().find(|line| line.starts_with("  connections ")).unwrap().split_whitespace().skip(1).collect::<Vec<_>>().join(" ")
    };
    let mut summary = fixture("closed_all_well");
    assert_eq!(said(&summary), "200 connections", "each was closed at the end");
    let record = summary.edit_for_test();
    (record.connections.opened, record.connections.closed_by_us) = (260, 260);
    assert_eq!(said(&summary), "260 connections: 0 closed by the server, 260 by loadline");
}

#[test]
fn a_headline_with_markup_is_shown_and_not_obeyed() {
    let mut summary = fixtures::journeys_of_a_shop();
    let scenario = summary.edit_for_test().scenario.as_mut().unwrap();
    for row in &mut scenario.journeys {
        (row.completed, row.broke_off) = (0, row.started);
    }
    let all: u64 = scenario.journeys.iter().map(|row| row.started).sum();
    scenario.steps.iter_mut().for_each(|step| step.failed = 0);
    (scenario.steps[0].name, scenario.steps[0].failed) = ("<img src=x>\x1b[2J".to_owned(), all);
    let text = rendered("markdown", &summary, &Style::PLAIN);
    assert!(!text.contains("<img") && !text.contains('\x1b') && text.contains("&lt;img src=x&gt;"), "{text}");
}

#[test]
fn a_run_without_a_success_is_not_asked_to_go_on_for_longer() {
    let summary = fixture("nothing_answered");
    let reading = Reading::new(&summary, &[]);
    let text = short(&reading, &columns(80)) + &rendered("text", &summary, &Style::PLAIN);
    assert!(!text.contains("For a firm"), "{text}");
    for (name, summary) in fixtures::summaries() {
        let text = short(&Reading::new(&summary, &[]), &columns(100));
        let dashes = text.lines().any(|line| line.contains("  –"));
        assert!(dashes || !text.contains("–: too few requests"), "{name}: {text}");
    }
}
