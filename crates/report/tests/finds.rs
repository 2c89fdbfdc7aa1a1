//! What a reader can rely on in the files of a capacity search: they read back, and table, page and chart tell the same.

use analysis::found::{CapacityReport, CapacityTrial, learnt};
use analysis::gate::{Check, Slo};
use analysis::search::{Capacity, Early, Search, Settings, Standing, Step, TrialResult};
use analysis::{Level, Trial};
use measure::{Summary, fixtures};
use report::chart::find::{FoundLine, LoadCurve, LoadPoint, offered_load};
use report::chart::{Chart, Fill, Marks, Note};
use report::find::{curve, files, markdown, table};
use report::{DIFF_FORMATS, Document, ReadError, Style, Two, diff, page};

fn read(text: &str) -> Result<Box<CapacityReport>, ReadError> {
    Document::read(text).map(|document| match document {
        Document::Find(found) => found,
        other => panic!("read as a {}", other.noun()),
    })
}

fn run(name: &str) -> Summary {
    let mut run = fixtures::summaries().into_iter().find(|(known, _)| *known == name).unwrap().1;
    run.edit_for_test().generator.cpu_share_busiest = 0.1;
    run
}

/// A search of two promises that ended after three trials: one that held, one that did not count, one that broke.
fn found() -> CapacityReport {
    let slos: Vec<Slo> = ["failed < 0.1%", "p99 < 50ms"].map(|text| Slo::try_from(text.parse::<Check>().unwrap()).unwrap()).to_vec();
    let settings = Settings::new(slos.iter().map(Slo::promise).collect(), 1e6, 1);
    let mut search = Search::new(settings.clone()).unwrap();
    let mut found = CapacityReport::new("checkout".to_owned(), &slos, settings, search.answer());
    for (name, standing, early) in [
        ("closed_all_well", Standing::Valid, None),
        ("closed_all_well", Standing::Invalid, None),
        ("open_with_a_stall", Standing::Valid, Some(Early::Fail)),
    ] {
        while let Step::Rest { .. } = search.next() {
            search.rested(analysis::search::Pause { seconds: 1.0, recovered: true });
        }
        let run = run(name);
        let (result, _) = learnt(&slos, &run, 2.0, early);
        search.learn(TrialResult { standing, seconds: 2.0, ..result });
        let doubt = (standing == Standing::Invalid).then(|| "loadline sent 3 of 90 requests late".to_owned());
        found.trials.push(CapacityTrial::new(search.trials().last().unwrap(), doubt, run));
    }
    found.answer = search.answer();
    found
}

#[test]
fn every_file_is_there_and_the_result_reads_back() {
    let found = found();
    let files = files(&found).unwrap();
    assert_eq!(files.iter().map(|file| file.ending).collect::<Vec<_>>(), [".find.json", "_find.svg", "_find.png", ".find.md"]);
    let text = String::from_utf8(files[0].bytes.clone()).unwrap();
    let again = read(&text).unwrap();
    assert!(markdown::markdown(&again) == markdown::markdown(&found), "the page of a file that was read is that of the search");
    assert_eq!((again.trials.len(), &again.sentences()), (3, &found.sentences()));
    for (text, part) in [
        ("{\"schema\":\"loadline.find/9\"}", "written as 'loadline.find/9', and this loadline reads 'loadline.find/1'"),
        ("{}", "not a result of loadline"),
        ("{\"schema\":", "line 1"),
        ("{\"schema\":\"loadline.find/1\"}", "missing field"),
    ] {
        assert!(read(text).unwrap_err().to_string().contains(part), "{text}");
    }
}

#[test]
fn what_was_profiled_reads_back_and_stands_on_the_page() {
    let mut found = found();
    let profiled = fixtures::summaries().into_iter().find(|(name, _)| *name == "a_server_that_was_profiled").unwrap().1;
    let at = |rate: f64| Level::Offered(plan::Rate::per_second(rate).unwrap());
    found.profiled = [80.0, 400.0].map(|rate| Trial { level: at(rate), repetition: 1, summary: profiled.clone() }).to_vec();
    let text = String::from_utf8(files(&found).unwrap()[0].bytes.clone()).unwrap();
    let again = read(&text).unwrap();
    assert_eq!(again.profiled, found.profiled);
    let page = markdown::markdown(&again);
    assert!(page.contains("## What grew from 80/s to 400/s: processor time") && page.contains("| cum at 80/s | at 400/s |"), "{page}");
    assert_eq!(again.trials.len(), 3, "they are no trials of the search");
}

#[test]
fn a_warning_of_the_whole_search_is_kept_and_told_wherever_those_of_its_trials_are() {
    let mut found = found();
    found.warnings.push("the teardown failed: status 500".to_owned());
    let text = String::from_utf8(files(&found).unwrap()[0].bytes.clone()).unwrap();
    let again = read(&text).unwrap();
    assert_eq!(again.warnings, found.warnings);
    assert!(markdown::markdown(&again).contains("- warning: the teardown failed: status 500\n"));
    assert!(page::find(&again).json().contains("the teardown failed: status 500"));
}

#[test]
fn a_check_that_was_broken_opens_the_page_and_its_table() {
    let mut found = found();
    found.answer.carries = Some(found.trials[0].rate);
    let read = |found: &CapacityReport| -> serde_json::Value { serde_json::from_str(page::find(found).json()).unwrap() };
    let asked = |page: &serde_json::Value| -> Vec<String> {
        page["answers"].as_array().unwrap().iter().map(|answer| answer["question"].as_str().unwrap().to_owned()).collect()
    };
    let kept = read(&found);
    assert_eq!(asked(&kept), ["carries", "knee", "holds", "limits"]);
    assert_eq!(kept["tables"][0]["id"], "trials");
    found.checks = ["p50 < 1h", "p50 < 1ns"].map(|text| text.parse().unwrap()).to_vec();
    let broken = read(&found);
    assert_eq!(asked(&broken), ["checks", "carries", "knee", "holds", "limits"]);
    let (first, table) = (&broken["answers"][0], &broken["tables"][0]);
    assert_eq!((first["tone"].as_str(), first["evidence"].as_str(), table["id"].as_str()), (Some("bad"), Some("checks"), Some("checks")));
    assert!(first["sentence"].as_str().unwrap().starts_with("FAILED: p50 < 1ns; measured: "), "{first}");
    assert_eq!((&table["rows"][0][0], &table["rows"][1][0]), (&"held".into(), &"FAILED".into()));
    assert!(table["note"].as_str().unwrap().starts_with("Judged by the trial at "), "{table}");
}

#[test]
fn the_table_fits_a_terminal_of_sixty_columns() {
    let (found, style) = (found(), Style { width: 60, ..Style::PLAIN });
    let lines: Vec<String> =
        [table::header(&found, &style)].into_iter().chain(found.trials.iter().map(|it| table::row(&found, it, &style))).collect();
    let lines: Vec<&str> = lines.iter().flat_map(|row| row.lines()).collect();
    assert!(lines.iter().all(|line| line.chars().count() <= 60), "{lines:#?}");
    assert!(lines[0].contains("rate/s") && lines[0].contains("p99") && lines.iter().any(|line| line.contains("823 ms")), "{lines:#?}");
}

#[test]
fn two_runs_and_two_searches_fit_every_terminal_from_sixty_columns() {
    let found = found();
    let runs = fixtures::summaries();
    for width in [60, 80, 100, 140] {
        let style = Style { width, ..Style::PLAIN };
        let mut texts = vec![diff::searches(("before", &found), ("after", &found), &style)];
        texts.extend(runs.iter().map(|(name, run)| diff::runs(("before", run), (name, &runs[1].1), &style)));
        for text in texts {
            assert!(text.lines().all(|line| line.chars().count() <= usize::from(width)), "{width}:\n{text}");
            assert!(text.lines().any(|line| line.trim_start().starts_with("A ")), "{text}");
        }
    }
    // Prose has the terminal's room, and not that of a file.
    let at = |width| diff::runs(("a", &runs[0].1), ("b", &runs[1].1), &Style { width, ..Style::PLAIN }).lines().count();
    assert!(at(140) < at(60));
}

#[test]
fn the_table_shows_each_promise_and_says_why_a_trial_broke_or_does_not_count() {
    let found = found();
    insta::assert_snapshot!(
        "find_table",
        [table::header(&found, &Style::PLAIN)]
            .into_iter()
            .chain(found.trials.iter().map(|trial| table::row(&found, trial, &Style::PLAIN)))
            .chain([table::legend(&found)])
            .collect::<Vec<_>>()
            .join("\n")
    );
    let page = markdown::markdown(&found);
    assert!(page.contains("(checkout_find.svg)") && page.contains("| does not count: loadline sent 3 of 90 requests late |"), "{page}");
    assert_eq!(page.lines().filter(|line| line.starts_with("| ")).count(), 4);
}

#[test]
fn two_searches_tell_a_change_where_their_intervals_lie_apart() {
    let with = |low: f64, high: f64| {
        let mut found = found();
        found.answer.carries = Some(low);
        found.answer.capacity = Capacity { low, high: Some(high) };
        found
    };
    let (before, after) = (with(800.0, 820.0), with(700.0, 720.0));
    insta::assert_snapshot!("two_searches", diff::searches(("before", &before), ("after", &after), &Style::PLAIN));
    assert!(diff::searches(("a", &after), ("b", &before), &Style::PLAIN).contains("B carries at least 11.1 % more than A: better."));
    assert!(diff::searches(("a", &before), ("b", &with(790.0, 830.0)), &Style::PLAIN).contains("cannot be told"));
    assert!(diff::searches(("a", &with(800.0, 803.0)), ("b", &with(800.0, 803.0)), &Style::PLAIN).contains("within 2 %: the same."));
    let mut other = with(700.0, 720.0);
    other.slo[1].text = "p99 < 60ms".to_owned();
    let unlike = diff::searches_unlike(&before, &other);
    assert_eq!(unlike, ["the promise is failed < 0.1% and p99 < 50ms in A and failed < 0.1% and p99 < 60ms in B"]);
    assert!(diff::searches(("a", &before), ("b", &other), &Style::PLAIN).contains("Not measured alike: the promise is"));
    assert_eq!(diff::search_is_invalid(&before), None);
    let mut doubted = before.clone();
    doubted.trials.iter_mut().for_each(|trial| trial.result.standing = Standing::Invalid);
    assert!(diff::search_is_invalid(&doubted).is_some());
}

#[test]
fn two_searches_stand_side_by_side_for_scripts_and_on_a_page() {
    let mut side = found();
    side.answer.carries = Some(800.0);
    let both = Two::Searches([("before".to_owned(), Box::new(side.clone())), ("after".to_owned(), Box::new(side))]);
    let rendered = |name: &str| {
        let format = DIFF_FORMATS.iter().find(|format| format.name == name).unwrap();
        String::from_utf8((format.render)(&both).unwrap()).unwrap()
    };
    let told: serde_json::Value = serde_json::from_str(&rendered("json")).unwrap();
    assert_eq!((&told["kind"], &told["carries"]["change"]), (&"searches".into(), &0.0.into()));
    assert_eq!(told["capacity"]["a"], told["capacity"]["b"]);
    assert_eq!(told["capacity_change"]["margin"], 0.02);
    assert!(rendered("html").contains("\"kind\":\"searches\""));
}

fn load(rates: &[(f64, f64, f64, Option<f64>)], line: FoundLine) -> LoadCurve {
    LoadCurve {
        rated: analysis::found::RateUnit::Requests,
        name: "checkout".to_owned(),
        target: Some("http://127.0.0.1:8080/get_result".to_owned()),
        promise: "p99 < 50ms".to_owned(),
        quantile: 0.99,
        limit_ms: Some(50.0),
        found: line,
        points: rates
            .iter()
            .map(|&(rate, throughput, goodput, quantile_ms)| LoadPoint { rate, throughput, goodput, quantile_ms, generator_limited: false })
            .collect(),
    }
}

fn note(chart: &Chart) -> Option<(f64, &str)> {
    chart.notes.iter().find_map(|note| match note {
        Note::Place { x, text, .. } => Some((*x, text.as_str())),
        Note::Value { .. } => None,
    })
}

#[test]
fn the_line_stands_at_the_rate_found_within_its_interval() {
    let points = [(200.0, 200.0, 200.0, Some(12.0)), (400.0, 398.0, 397.0, Some(44.0)), (800.0, 410.0, 20.0, Some(900.0))];
    let chart = offered_load(&load(&points, FoundLine { rate: Some(400.0), low: 390.0, high: Some(407.0), by_generator: false }));
    assert_eq!(note(&chart), Some((400.0, "carries 400/s (390–407)")));
    let Marks::Band { points } = &chart.series[0].marks else { panic!("the interval is a band behind everything") };
    assert_eq!((points[0].0, points[1].0), (390.0, 407.0));
    let names: Vec<&str> = chart.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names, ["where the capacity lies (95 %)", "Throughput", "Goodput", "p99", "limit of 50 ms"]);
    assert!(chart.description.contains("At 800 requests a second offered: 410 answered a second, 20 good, p99 900 ms."));
}

#[test]
fn a_generator_at_its_limit_is_named_and_its_points_are_hollow() {
    let mut curve = load(
        &[(200.0, 200.0, 200.0, Some(12.0)), (400.0, 310.0, 300.0, Some(80.0))],
        FoundLine { rate: Some(200.0), low: 200.0, high: None, by_generator: true },
    );
    curve.points[1].generator_limited = true;
    let chart = offered_load(&curve);
    assert_eq!(note(&chart), Some((200.0, "carries at least 200/s: the generator is the limit")));
    let Marks::Points { points, .. } = &chart.series[0].marks else { panic!("throughput is measured") };
    assert_eq!(points.iter().map(|point| point.fill).collect::<Vec<_>>(), [Fill::Solid, Fill::Hollow]);
}

#[test]
fn a_percentile_among_failures_is_a_gap_and_no_value() {
    let line = FoundLine { rate: None, low: 0.0, high: Some(10.0), by_generator: false };
    let chart = offered_load(&load(&[(10.0, 10.0, 0.0, None), (20.0, 20.0, 0.0, None)], line));
    assert!(chart.y2.is_none() && note(&chart).is_none());
    assert!(chart.series.iter().any(|series| series.name == "p99 (none where requests failed)"));
    assert!(chart.description.ends_with("No rate kept the promise."));
    let empty = offered_load(&load(&[], line));
    assert_eq!(empty.empty.as_deref(), Some("Nothing was measured"));
    empty.svg();
    let broken =
        offered_load(&load(&[(f64::NAN, 1.0, 1.0, Some(1.0)), (-1.0, 1.0, 1.0, None), (5.0, f64::INFINITY, -3.0, Some(f64::NAN))], line));
    assert!(!broken.svg().contains("NaN"));
}

#[test]
fn the_chart_holds_a_point_for_every_rate_that_was_tried() {
    let found = found();
    let rates: Vec<f64> = curve(&found).points.iter().map(|point| point.rate).collect();
    assert_eq!(rates, [10.0, 20.0], "the trial that does not count was repeated at its rate");
}

#[test]
fn a_search_of_journeys_counts_them_beside_requests() {
    let mut found = found();
    found.rated = analysis::found::RateUnit::Journeys;
    for trial in &mut found.trials {
        trial.summary.edit_for_test().scenario = fixtures::journeys_of_a_shop().scenario.clone();
    }
    let head = table::header(&found, &Style::PLAIN);
    assert!(head.starts_with("   begun/s      QPS      TPS"), "{head}");
    let rows: Vec<String> = found.trials.iter().map(|trial| table::row(&found, trial, &Style::PLAIN)).collect();
    let wide = |line: &str| line.find("holds").or(line.find("does not")).or(line.find("breaks")).or(line.find("verdict"));
    assert!(rows.iter().all(|row| wide(row).is_some()), "{rows:#?}");
    // A verdict that does not fit behind its row stands below it.
    let beside = rows.iter().chain([&head]).filter(|row| !row.contains('\n'));
    let places: Vec<usize> = beside.filter_map(|row| Some(row[..wide(row)?].chars().count())).collect();
    assert!(places.iter().all(|place| *place == places[0]), "{places:?}\n{head}\n{rows:#?}");
    let page = markdown::markdown(&found);
    assert!(page.contains("| begun/s | QPS | TPS | s | for | good |") && page.contains("journeys begin at the offered rate"), "{page}");
    let again = read(std::str::from_utf8(&files(&found).unwrap()[0].bytes).unwrap()).unwrap();
    assert_eq!(again.rated, found.rated);
    assert!(again.sentences().iter().any(|said| said.contains("journeys/s")), "{:#?}", again.sentences());
}
