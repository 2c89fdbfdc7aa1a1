//! The table, files and comparison of sweeps, kept as they read.

use std::num::NonZeroU32;

use analysis::{Level, LevelRow, StopReason, Sweep, Trial, climb};
use insta::assert_snapshot;
use measure::{Histogram, Summary, TokenRow, fixtures};
use plan::{Nanos, Rate};
use proptest::prelude::*;
use report::chart::sweep::Ladder;
use report::sweep::table::CountUnit;
use report::{Colour, Document, Style, dat, diff, document, page, sweep};

fn fixture(name: &str) -> Summary {
    fixtures::summaries().into_iter().find(|(other, _)| *other == name).unwrap().1
}

fn read(text: &str) -> Option<Box<Sweep>> {
    match Document::read(text) {
        Ok(Document::Sweep(sweep)) => Some(sweep),
        _ => None,
    }
}

fn users(users: u32) -> Level {
    Level::Users(NonZeroU32::new(users).unwrap())
}

fn trial(level: Level, repetition: u32, fixture_name: &str, factor: f64) -> Trial {
    let mut summary = fixture(fixture_name);
    summary.edit_for_test().qps *= factor;
    summary.edit_for_test().qps_succeeded *= factor;
    Trial { level, repetition, summary }
}

/// A server that saturates, then fails, then is out of reach.
fn made_up() -> Sweep {
    let levels: Vec<Level> = [1, 50, 200, 1_000, 5_000].map(users).to_vec();
    let mut sweep = Sweep::new("health <check>".to_owned(), "2026-01-02T03:04:05Z".to_owned(), levels);
    sweep.trials = vec![
        trial(users(1), 1, "interrupted_with_warmup", 1.0),
        trial(users(50), 1, "closed_all_well", 0.98),
        trial(users(50), 2, "closed_all_well", 1.0),
        trial(users(200), 1, "closed_all_well", 1.01),
        trial(users(200), 2, "closed_all_well", 1.03),
        trial(users(1_000), 1, "failures_of_every_side", 10.0),
        trial(users(5_000), 1, "nothing_answered", 1.0),
    ];
    sweep.trials[4].summary.edit_for_test().generator.cpu_share_busiest = 0.93;
    sweep.stopped = climb::stop(&sweep.rows());
    sweep
}

fn offered() -> Sweep {
    let level = |rate| Level::Offered(Rate::per_second(rate).unwrap());
    let mut sweep = Sweep::new("orders".to_owned(), "2026-01-02T03:04:05Z".to_owned(), vec![level(500.0), level(1_000.0)]);
    sweep.trials = vec![trial(level(1_000.0), 1, "open_with_a_stall", 1.0)];
    sweep.stopped = Some(StopReason::interrupted());
    sweep
}

/// Levels that carry what `curve` says, give or take half a per cent, three times each.
fn explained(curve: impl Fn(f64) -> f64) -> Sweep {
    let levels = [1, 2, 4, 8, 16, 32, 64, 128];
    let mut sweep = Sweep::new("explained".to_owned(), "2026-01-02T03:04:05Z".to_owned(), levels.map(users).to_vec());
    for repetition in 1..=3 {
        for (at, level) in levels.into_iter().enumerate() {
            let mut summary = fixture("closed_all_well");
            let wobble = [0.003, -0.004, 0.001, 0.005, -0.002][(at * 2 + repetition as usize) % 5];
            summary.edit_for_test().qps_succeeded = curve(f64::from(level)) * (1.0 + wobble);
            summary.edit_for_test().qps = summary.qps_succeeded;
            sweep.trials.push(Trial { level: users(level), repetition, summary });
        }
    }
    sweep
}

fn pool(n: f64) -> f64 {
    n.min(8.0) * 200.0
}

fn contention(n: f64) -> f64 {
    1_000.0 * n / (1.0 + 0.04 * (n - 1.0) + 0.0004 * n * (n - 1.0))
}

fn cliff(n: f64) -> f64 {
    if n < 10.0 {
        100.0 * n
    } else if n < 40.0 {
        300.0
    } else {
        60.0 * n
    }
}

/// Figures to three digits: the last ones of a fit belong to the machine's mathematics.
fn rounded(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Number(number) if number.is_f64() => {
            let short: f64 = format!("{:.2e}", number.as_f64().unwrap()).parse().unwrap();
            *value = serde_json::json!(short);
        }
        serde_json::Value::Array(them) => them.iter_mut().for_each(rounded),
        serde_json::Value::Object(them) => them.values_mut().for_each(rounded),
        _ => {}
    }
}

fn table(sweep: &Sweep, style: &Style) -> String {
    let rows = sweep.rows();
    let mut lines = vec![sweep::table::header(sweep.levels[0], CountUnit::default(), style)];
    lines.extend(rows.iter().map(|row| sweep::table::row(row, style)));
    lines.push(String::new());
    lines.push(sweep::table::legend(&rows));
    lines.extend(analysis::conclusion(&rows, &analysis::scaling(sweep), sweep.stopped.as_ref()));
    lines.join("\n") + "\n"
}

#[test]
fn the_table_of_a_sweep_reads_as_it_did() {
    assert_snapshot!("table_users", table(&made_up(), &Style::PLAIN));
    assert_snapshot!("table_offered", table(&offered(), &Style::PLAIN));
}

#[test]
fn tables_fit_a_terminal_of_sixty_columns() {
    let style = Style { width: 60, ..Style::PLAIN };
    for sweep in [made_up(), offered(), journeys(users)] {
        let rows = sweep.rows();
        let curve = sweep::curve(&sweep);
        let mut lines = vec![sweep::table::header(sweep.levels[0], CountUnit::of(&rows[0]), &style)];
        lines.extend(rows.iter().map(|row| sweep::table::row(row, &style)));
        lines.push(sweep::table::failed_parts_text(&rows, &style));
        lines.push(diff::table(&curve, &curve, &style));
        lines.push(diff::judged(Some(&sweep), Some(&sweep), &style).to_string());
        let lines: Vec<&str> = lines.iter().flat_map(|text| text.lines()).collect();
        assert!(lines.iter().all(|line| line.chars().count() <= 60), "{lines:#?}");
        assert!(lines[0].contains("QPS") && lines[0].contains("latency"), "{lines:#?}");
    }
}

#[test]
fn rows_stand_under_their_heads_with_and_without_colour() {
    let sweep = made_up();
    let wide = sweep::table::header(sweep.levels[0], CountUnit::default(), &Style::PLAIN).chars().count();
    for row in sweep.rows() {
        let alone = LevelRow { failed: 0, generator_limit: None, standing: analysis::Standing::Valid, ..row.clone() };
        assert_eq!(sweep::table::row(&alone, &Style::PLAIN).chars().count(), wide);
        let plain = sweep::table::row(&row, &Style::PLAIN);
        let coloured = sweep::table::row(&row, &Style { colour: Colour::Ansi, ..Style::PLAIN });
        assert_eq!(coloured.replace("\x1b[31m", "").replace("\x1b[33m", "").replace("\x1b[0m", ""), plain);
    }
}

#[test]
fn the_page_of_a_sweep_reads_as_it_did() {
    assert_snapshot!("markdown_users", sweep::markdown::markdown(&made_up(), &analysis::scaling(&made_up())));
    assert_snapshot!("markdown_offered", sweep::markdown::markdown(&offered(), &analysis::scaling(&offered())));
}

#[test]
fn the_page_says_of_each_level_how_far_it_is_valid() {
    let mut sweep = made_up();
    sweep.trials.truncate(5);
    let standing = |sweep: &Sweep| {
        let page: serde_json::Value = serde_json::from_str(page::sweep(sweep).json()).unwrap();
        format!("{} {}", page["standing"]["word"].as_str().unwrap(), page["standing"]["why"].as_str().unwrap())
    };
    assert_eq!(standing(&sweep), "DEGRADED at 200 users");
    for trial in &mut sweep.trials[1..3] {
        trial.summary.edit_for_test().generator.run_queue_share = Some(0.5);
    }
    assert_eq!(standing(&sweep), "INVALID at 50 users; DEGRADED at 200 users");
    sweep.trials.truncate(1);
    assert_eq!(standing(&sweep), "VALID loadline was not the limit");
}

#[test]
fn a_check_that_a_level_broke_opens_the_page() {
    let mut sweep = made_up();
    // At the others most requests fail, and a failed request counts as infinitely slow.
    sweep.trials.truncate(4);
    let read = |sweep: &Sweep| -> serde_json::Value { serde_json::from_str(page::sweep(sweep).json()).unwrap() };
    let asked = |page: &serde_json::Value| -> Vec<String> {
        page["answers"].as_array().unwrap().iter().map(|answer| answer["question"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(asked(&read(&sweep)), ["carries", "knee", "fails", "limits"]);
    sweep.checks = ["p50 < 1h", "p50 < 1ns"].map(|text| text.parse().unwrap()).to_vec();
    let broken = read(&sweep);
    assert_eq!(asked(&broken), ["checks", "carries", "knee", "fails", "limits"]);
    let first = &broken["answers"][0];
    assert_eq!((first["tone"].as_str(), first["evidence"].as_str()), (Some("bad"), Some("levels")));
    let said = first["sentence"].as_str().unwrap();
    assert!(said.starts_with("FAILED: 'p50 < 1ns' was broken ") && !said.contains("1h"), "{said}");
}

#[test]
fn a_sweep_explains_its_curve_on_its_page_and_in_its_file() {
    for (name, mut sweep) in [("pool", explained(pool)), ("contention", explained(contention)), ("neither", explained(cliff))] {
        sweep.slo = vec!["p99 < 1s".parse().unwrap()];
        assert_snapshot!(format!("explained_page_{name}"), sweep::markdown::markdown(&sweep, &analysis::scaling(&sweep)));
        let bytes = sweep::json(&sweep).unwrap().bytes;
        let mut whole: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        whole.as_object_mut().unwrap().remove("trials");
        rounded(&mut whole);
        assert_snapshot!(format!("explained_file_{name}"), serde_json::to_string_pretty(&whole).unwrap());
        let read = read(std::str::from_utf8(&bytes).unwrap()).unwrap();
        assert_eq!((&read.slo, analysis::scaling(&read)), (&sweep.slo, analysis::scaling(&sweep)));
    }
}

#[test]
fn only_an_accepted_model_is_drawn() {
    let drawn = |curve: fn(f64) -> f64| sweep::fit(&analysis::scaling(&explained(curve))).map(|fit| fit.name);
    assert_eq!(drawn(pool).unwrap(), "ceiling at about 8 requests at once");
    assert_eq!(drawn(contention).unwrap(), "Universal Scalability Law");
    assert_eq!(drawn(cliff), None);
    assert_eq!(sweep::fit(&analysis::scaling(&offered())), None);
    if let Some(dir) = std::env::var_os("LOADLINE_TEST_CHARTS") {
        for (name, curve) in [("pool", pool as fn(f64) -> f64), ("contention", contention), ("cliff", cliff)] {
            let file = sweep::files(&explained(curve)).unwrap().remove(3);
            std::fs::write(std::path::Path::new(&dir).join(format!("{name}.png")), file.bytes).unwrap();
        }
    }
}

#[test]
fn a_sweep_has_all_its_files() {
    let files = sweep::files(&made_up()).unwrap();
    let endings: Vec<&str> = files.iter().map(|file| file.ending).collect();
    assert_eq!(endings, [".dat", ".json", "_qps_ttlb.svg", "_qps_ttlb.png", "_successrate.svg", "_successrate.png", ".md"]);
    let bytes = |ending: &str| files.iter().find(|file| file.ending == ending).unwrap().bytes.clone();
    let page = String::from_utf8(bytes(".md")).unwrap();
    assert!(page.contains("(health%20%3Ccheck%3E_qps_ttlb.svg)") && page.contains("_successrate.svg)"), "{page}");
    assert!(bytes("_qps_ttlb.png").starts_with(b"\x89PNG") && bytes("_successrate.svg").starts_with(b"<"));
    assert_snapshot!("dat_users", String::from_utf8(bytes(".dat")).unwrap());
}

#[test]
fn a_written_sweep_reads_back() {
    for made in [made_up(), offered()] {
        let bytes = sweep::json(&made).unwrap().bytes;
        let text = String::from_utf8(bytes).unwrap();
        let read = read(&text).unwrap();
        let again = sweep::json(&read).unwrap().bytes;
        assert_eq!(String::from_utf8(again).unwrap(), text);
        assert_eq!(read.rows(), made.rows());
        assert_eq!(read.stopped, made.stopped);
    }
}

#[test]
fn a_warning_of_the_whole_sweep_is_kept_and_told_wherever_those_of_its_trials_are() {
    let mut made = made_up();
    made.warnings.push("the teardown failed: status 500".to_owned());
    let bytes = sweep::json(&made).unwrap().bytes;
    let read = read(std::str::from_utf8(&bytes).unwrap()).unwrap();
    assert_eq!(read.warnings, made.warnings);
    let markdown = sweep::markdown::markdown(&read, &analysis::scaling(&read));
    assert!(markdown.contains("- warning: the teardown failed: status 500\n"), "{markdown}");
    assert!(page::sweep(&read).json().contains("the teardown failed: status 500"));
}

#[test]
fn what_is_no_sweep_is_refused_by_name() {
    let said = |text: &str| Document::read(text).unwrap_err().to_string();
    assert_eq!(
        said("{\"schema\":\"loadline.sweep/2\"}"),
        "it is written as 'loadline.sweep/2', and this loadline reads 'loadline.sweep/1'"
    );
    assert_eq!(said("{}"), "it is not a result of loadline");
    assert_eq!(said("{\n  \"schema\": ,"), "it is damaged, or no result: line 2, column 13: expected value");
}

#[test]
fn two_sweeps_stand_side_by_side_with_the_levels_of_both() {
    let bytes = sweep::json(&made_up()).unwrap().bytes;
    let a = document::read_curve("new", std::str::from_utf8(&bytes).unwrap()).unwrap();
    let b = document::read_curve("old.dat", "50 9000.00 5.1 100.00\n200 9100.50 21.7 99.90\n1000 8800.00  98.00\n10000 12.00 9000 -4.00\n")
        .unwrap();
    assert_snapshot!("diff", diff::table(&a, &b, &Style::PLAIN));
    let rates = report::chart::sweep::SweepCurve { ladder: Ladder::OfferedRate, ..b.clone() };
    assert_snapshot!("diff_of_different_ladders", diff::table(&b, &rates, &Style::PLAIN));
    let endings: Vec<&str> = diff::charts(&a, &b).iter().map(|file| file.ending).collect();
    assert_eq!(endings, [".qps.ttlb.diff.svg", ".qps.ttlb.diff.png", ".successrate.diff.svg", ".successrate.diff.png"]);
}

#[test]
fn a_file_that_is_no_sweep_is_told_as_such() {
    let said = |text: &str| document::read_curve("x", text).unwrap_err().to_string();
    assert_eq!(said(""), "it holds no level");
    assert_eq!(said("Running 30s test"), "line 1 has 'Running' in column 1 instead of a concurrency above 0: 'Running 30s test'");
    assert_eq!(said("{\"schema\": \"x\"}"), "it is written as 'x', and this loadline reads 'loadline.run/1'");
    let mut run = Vec::new();
    let json = report::format("json").unwrap();
    (json.render)(&analysis::Reading::new(&fixture("closed_all_well"), &[]), &Style::PLAIN, &mut run).unwrap();
    assert_eq!(said(std::str::from_utf8(&run).unwrap()), "it is the result of a run, not of a sweep");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn any_sweep_reads_as_it_was_written(
        drawn in prop::collection::vec((1u32..50_000, 1u32..4, 0usize..6, 0.1..3.0f64), 0..4), interrupted: bool, name in "\\PC{0,12}"
    ) {
        let all = fixtures::summaries();
        let mut made = Sweep::new(name, String::new(), drawn.iter().map(|(level, ..)| users(*level)).collect());
        made.trials = drawn.iter().map(|(level, repetition, at, factor)| trial(users(*level), *repetition, all[*at].0, *factor)).collect();
        made.stopped = interrupted.then(StopReason::interrupted);
        let bytes = sweep::json(&made).unwrap().bytes;
        let read = read(std::str::from_utf8(&bytes).unwrap()).unwrap();
        let again = sweep::json(&read).unwrap().bytes;
        prop_assert_eq!(again, bytes);
        let rows = sweep::dat_rows(&made.rows());
        prop_assert_eq!(dat::read(&dat::write(&rows)).unwrap().len(), rows.len());
    }
}

/// Users on the journeys of a shop, and a level at which its orders fail.
fn journeys(level: impl Fn(u32) -> Level) -> Sweep {
    let levels = [5, 20].map(level);
    let mut sweep = Sweep::new("shop".to_owned(), "2026-01-02T03:04:05Z".to_owned(), levels.to_vec());
    for level in levels {
        let mut summary = fixtures::journeys_of_a_shop();
        if level == levels[0] {
            summary.edit_for_test().requests.succeeded = summary.requests.due;
            summary.edit_for_test().requests.failed = 0;
            summary.edit_for_test().failures.clear();
            for step in &mut summary.edit_for_test().scenario.as_mut().unwrap().steps {
                (step.succeeded, step.failed) = (step.due, 0);
                step.failures.clear();
            }
            for transaction in &mut summary.edit_for_test().scenario.as_mut().unwrap().transactions {
                (transaction.completed, transaction.succeeded) = (transaction.started, transaction.started);
                (transaction.broke_off, transaction.unfinished) = (0, 0);
            }
        }
        sweep.trials.push(Trial { level, repetition: 1, summary });
    }
    sweep
}

#[test]
fn journeys_stand_beside_requests_and_failures_are_told_by_step() {
    let sweep = journeys(users);
    let rows = sweep.rows();
    let header = sweep::table::header(sweep.levels[0], CountUnit::of(&rows[0]), &Style::PLAIN);
    assert!(header.contains("    QPS       TPS       ±"), "{header}");
    for row in &rows {
        let alone = LevelRow { failed: 0, standing: analysis::Standing::Valid, generator_limit: None, ..row.clone() };
        let line = sweep::table::row(&alone, &Style::PLAIN);
        let figures = line.split("   ").count();
        assert!(figures > 3 && line.starts_with(&format!(" {:>9}", row.level.value())), "{line}");
    }
    let failed = sweep::table::failed_parts_text(&rows, &Style::PLAIN);
    assert!(!failed.contains("5 users"), "nothing failed there: {failed}");
    let lines: Vec<&str> = failed.lines().filter(|line| line.contains("20 users")).collect();
    let named = ["transaction checkout", "step buy · POST /login", "step buy · order"];
    assert!(lines.len() == 3 && lines.iter().zip(named).all(|(line, name)| line.contains(name)), "{failed}");
    assert!(sweep::table::legend(&rows).contains("TPS: journeys finished a second."));
    let curve = sweep::curve(&sweep);
    for (point, row) in curve.points.iter().zip(&rows) {
        let (drawn, counted) = (point.journeys.unwrap(), row.journeys.as_ref().unwrap());
        assert_eq!((drawn.tps, drawn.requests_each), (counted.tps, counted.requests_per_journey));
    }
    let shown: serde_json::Value = serde_json::from_str(page::sweep(&sweep).json()).unwrap();
    let tps = shown["data"]["points"][0]["tps"].as_f64().unwrap();
    assert!((tps / rows[0].journeys.as_ref().unwrap().tps - 1.0).abs() < 1e-9, "{tps}");
    let figures: Vec<&str> = shown["figures"].as_array().unwrap().iter().filter_map(|figure| figure["name"].as_str()).collect();
    assert_eq!(figures[..2], ["highest QPS", "highest TPS"]);
    let plain = page::sweep(&made_up()).json().to_owned();
    assert!(!plain.contains("\"tps\"") && !plain.contains("highest TPS") && !plain.contains("requests_per_journey"), "{plain}");
    let page = sweep::markdown::without_charts(&sweep);
    for part in ["| users | QPS | TPS | ± |", "| level | where | number | failed | most often |", "each user goes on when"] {
        assert!(page.contains(part), "{part}:\n{page}");
    }
    let text = sweep::json(&sweep).unwrap().bytes;
    assert_eq!(read(std::str::from_utf8(&text).unwrap()).unwrap().rows(), rows);
    let (_, other) = made_up().rows().into_iter().enumerate().next().unwrap();
    assert_eq!(CountUnit::of(&other), CountUnit::default());
}

#[test]
fn journeys_that_all_broke_off_are_not_asked_to_take_longer() {
    let mut row = journeys(users).rows().remove(1);
    let counts = row.journeys.as_mut().unwrap();
    (counts.completed, counts.broke_off) = (0, 300);
    let said = |row: &LevelRow| sweep::table::row(row, &Style { width: 200, ..Style::PLAIN });
    assert!(said(&row).contains("no journey finished, 300 journeys broke off") && !said(&row).contains("measure longer"), "{}", said(&row));
    row.journeys.as_mut().unwrap().broke_off = 0;
    assert!(said(&row).contains("no journey finished: measure longer"), "{}", said(&row));
}

#[test]
fn a_ladder_of_journey_rates_says_so_everywhere() {
    let rate = |rate: u32| Level::Journeys(Rate::per_second(rate.into()).unwrap());
    let sweep = journeys(rate);
    let rows = sweep.rows();
    assert!(sweep::table::header(sweep.levels[0], CountUnit { journeys: true, events: None }, &Style::PLAIN).contains("begun/s"));
    assert_eq!(rows[1].level.to_string(), "20 journeys/s");
    let curve = sweep::curve(&sweep);
    assert_eq!(curve.ladder, Ladder::JourneyRate);
    assert!(diff::table(&curve, &curve, &Style::PLAIN).contains("begun/s"), "{}", diff::table(&curve, &curve, &Style::PLAIN));
    // Journeys stand beside requests where either side has some, and a side without them has none.
    let both = diff::table(&curve, &sweep::curve(&offered()), &Style::PLAIN);
    let head = both.lines().find(|line| line.contains("QPS A")).unwrap();
    let heads: Vec<&str> = head.split_whitespace().collect();
    assert_eq!(heads[..11], ["level", "QPS", "A", "QPS", "B", "B/A", "TPS", "A", "TPS", "B", "B/A"], "{both}");
    assert!(both.contains("TPS: journeys finished a second."), "{both}");
    assert!(!diff::table(&sweep::curve(&offered()), &sweep::curve(&offered()), &Style::PLAIN).contains("TPS"));
    let mut bytes = Vec::new();
    diff::json::sweeps(&[curve.clone(), sweep::curve(&offered())], [None, None], &mut bytes).unwrap();
    let told: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let with_journeys = told["levels"].as_array().unwrap().iter().find(|row| row["tps"]["a"].is_number()).expect("a level of journeys");
    assert!(with_journeys["tps"]["b"].is_null() && with_journeys["qps"]["a"].as_f64() > with_journeys["tps"]["a"].as_f64());
    assert!(
        diff::table(&curve, &sweep::curve(&offered()), &Style::PLAIN)
            .contains("A counts journeys begun a second, B requests offered a second")
    );
    let text = page::sweep(&sweep).json().to_owned();
    assert!(text.contains("\"levels\":\"journeys\"") && text.contains("20 journeys/s"), "{text}");
}

/// A sweep of a server that streams, full at four users.
fn streamed() -> Sweep {
    let run = fixtures::summaries().into_iter().find(|(name, _)| *name == "answers_that_streamed").unwrap().1;
    let level = |users: u32| Level::Users(NonZeroU32::new(users).unwrap());
    let all = [1, 2, 4, 8, 16];
    let mut sweep = Sweep::new("model".to_owned(), "2026-01-02T03:04:05Z".to_owned(), all.map(level).to_vec());
    for users in all {
        let mut summary = run.clone();
        let record = summary.edit_for_test();
        let full = f64::from(users.min(4));
        (record.qps, record.qps_succeeded) = (full, full);
        record.streams.as_mut().unwrap().events_per_second = 40.0 * full;
        sweep.trials.push(Trial { level: level(users), repetition: 1, summary });
    }
    sweep
}

#[test]
fn events_stand_in_every_form_of_a_sweep_of_answers_that_stream() {
    let sweep = streamed();
    let rows = sweep.rows();
    assert_snapshot!("table_streamed", {
        let mut lines = vec![sweep::table::header(sweep.levels[0], CountUnit::of(&rows[0]), &Style::PLAIN)];
        lines.extend(rows.iter().map(|row| sweep::table::row(row, &Style::PLAIN)));
        lines.join("\n") + "\n\n" + &sweep::conclusion(&sweep, Style::PLAIN.width)
    });
    let narrow = Style { width: 60, ..Style::PLAIN };
    let header = sweep::table::header(sweep.levels[0], CountUnit::of(&rows[0]), &narrow);
    assert!(header.contains("events/s") && header.contains("between p99") && header.chars().count() <= 60, "{header}");
    let markdown = sweep::markdown::without_charts(&sweep);
    assert!(markdown.contains("| events/s | first p95 | between p99 |") && markdown.contains("stop growing at 4 users"), "{markdown}");
    let text = String::from_utf8(sweep::json(&sweep).unwrap().bytes).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&json["events"]["best"]["level"], json["events"]["levels"].as_array().unwrap().len()), (&4.0.into(), 5));
    assert_eq!(json["events"]["levels"][2]["events_per_second"], 160.0);
    assert!(json["events"]["levels"][2]["first_event_p95_ns"].as_u64().unwrap() > 250_000_000, "{}", json["events"]);
    assert_eq!(read(&text).unwrap().rows(), rows);
    let shown: serde_json::Value = serde_json::from_str(page::sweep(&sweep).json()).unwrap();
    let point = &shown["data"]["points"][4];
    assert_eq!((&point["events_per_second"], point["between_events_p99_ns"].is_u64()), (&160.0.into(), true));
    let figures = shown["figures"].as_array().unwrap();
    assert!(figures.iter().any(|figure| figure["name"] == "most events a second" && figure["note"] == "at 4 users"), "{figures:?}");
    let plain = page::sweep(&made_up()).json().to_owned();
    assert!(!plain.contains("events_per_second") && !table(&made_up(), &Style::PLAIN).contains("events"));
}

/// The same sweep, where tokens are no events: three of them in each.
fn tokens() -> Sweep {
    let mut sweep = streamed();
    for trial in &mut sweep.trials {
        let streams = trial.summary.edit_for_test().streams.as_mut().unwrap();
        let mut time_per_token = Histogram::new();
        (0..2_000).for_each(|_| time_per_token.record(Nanos::from_millis(9)));
        streams.tokens = Some(TokenRow { tokens: 3 * streams.events, tokens_per_second: 3.0 * streams.events_per_second, time_per_token });
    }
    sweep
}

#[test]
fn tokens_stand_in_the_place_of_events_where_they_are_counted() {
    let sweep = tokens();
    let header = sweep::table::header(sweep.levels[0], CountUnit::of(&sweep.rows()[0]), &Style::PLAIN);
    assert!(header.contains("tokens/s first p95   token p99"), "{header}");
    let text = table(&sweep, &Style::PLAIN);
    assert!(text.contains("480") && text.contains("tokens/s: tokens of all answers a second."), "{text}");
    let markdown = sweep::markdown::without_charts(&sweep);
    assert!(markdown.contains("| tokens/s | first p95 | token p99 |"), "{markdown}");
    assert!(markdown.contains("Tokens a second stop growing at 4 users: 480, with the first event of an answer within"), "{markdown}");
    let json: serde_json::Value = serde_json::from_slice(&sweep::json(&sweep).unwrap().bytes).unwrap();
    assert_eq!((&json["events"]["levels"][2]["tokens_per_second"], &json["events"]["best"]["throughput"]), (&480.0.into(), &480.0.into()));
    let shown: serde_json::Value = serde_json::from_str(page::sweep(&sweep).json()).unwrap();
    assert_eq!(shown["data"]["points"][4]["tokens_per_second"], 480.0);
    assert!(shown["figures"].as_array().unwrap().iter().any(|figure| figure["name"] == "most tokens a second"), "{}", shown["figures"]);
    // Two sweeps are compared by tokens where both have them.
    let (of_tokens, of_events) = (sweep::curve(&sweep), sweep::curve(&streamed()));
    assert!(diff::table(&of_tokens, &of_tokens, &Style::PLAIN).contains("tokens/s A"));
    let mixed = diff::table(&of_tokens, &of_events, &Style::PLAIN);
    assert!(mixed.contains("events/s A") && !mixed.contains("tokens/s"), "{mixed}");
}

#[test]
fn two_sweeps_of_answers_that_stream_have_their_events_side_by_side() {
    let curve = sweep::curve(&streamed());
    let text = diff::table(&curve, &curve, &Style::PLAIN);
    let head = text.lines().find(|line| line.contains("events/s A")).unwrap_or_else(|| panic!("{text}"));
    assert!(head.contains("first B") && head.contains("next B") && head.chars().count() <= 80, "{head}");
    assert!(text.contains("events/s: events of all answers a second."), "{text}");
    let page = page::diff(&curve, &curve, [None, None]).json().to_owned();
    assert!(page.contains("\"id\":\"events\"") && page.contains("first_event_p95_ns"), "{page}");
    let plain = sweep::curve(&made_up());
    assert!(!diff::table(&plain, &plain, &Style::PLAIN).contains("events"));
    let mut bytes = Vec::new();
    diff::json::sweeps(&[curve.clone(), plain], [None, None], &mut bytes).unwrap();
    let told: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let row = told["levels"].as_array().unwrap().iter().find(|row| row["events_per_second"]["a"] == 160.0).expect("a level of A");
    assert!(row["events_per_second"]["b"].is_null() && row["first_event_p95_ns"]["a"].is_number(), "{row}");
}
