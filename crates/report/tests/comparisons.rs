//! What a comparison looks like as text, files and a picture.

use analysis::compare::Margins;
use analysis::comparison::{Comparison, Pair, ProfiledSide, Side, Subject};
use measure::{Summary, fixtures};
use report::Experiment as _;
use report::compare::{conclusion, files, header, row, text};
use report::{Style, page};

fn read(text: &str) -> Result<Box<Comparison>, report::ReadError> {
    report::Document::read(text).map(|document| match document {
        report::Document::Compare(compared) => compared,
        other => panic!("read as a {}", other.noun()),
    })
}

fn run(qps: f64) -> Summary {
    let (_, mut summary) = fixtures::summaries().into_iter().find(|(name, _)| *name == "closed_all_well").unwrap();
    summary.edit_for_test().qps = qps;
    summary.edit_for_test().qps_succeeded = qps;
    summary
}

/// So many pairs in which B carries `factor` times as much.
fn compared(pairs: usize, factor: f64) -> Comparison {
    let subject = |name: &str| Subject { name: name.to_owned(), command: None };
    let (a, b) = (subject("http://old.test/"), subject("http://new.test/"));
    let mut compared = Comparison::new("old_new".to_owned(), a, b, pairs as u32, Margins::default(), None);
    for number in 0..pairs {
        let base = 1_000.0 + 3.0 * number as f64;
        let first = if number % 2 == 0 { Side::A } else { Side::B };
        compared.pairs.push(Pair::new(first, run(base), run(base * (factor + 0.001 * (number % 3) as f64))));
    }
    compared.judge();
    compared
}

#[test]
fn fewer_answers_are_worse_and_stand_in_capitals() {
    let text = conclusion(&compared(10, 0.9), &Style::PLAIN);
    for part in ["10 pairs of 10 s", "WORSE", "B is worse: goodput −9.9 %.", "same within 2 %", "none"] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    assert!(conclusion(&compared(10, 1.1), &Style::PLAIN).contains("B is better: goodput +"));
    assert!(conclusion(&compared(10, 1.0), &Style::PLAIN).contains("B is the same as A, to within 5 %"));
}

#[test]
fn a_check_that_b_broke_opens_the_page_and_its_table() {
    let mut compared = compared(10, 1.0);
    compared.promises = ["p50 < 1h", "p50 < 1ns"].map(|text| text.parse().unwrap()).to_vec();
    compared.judge();
    let page: serde_json::Value = serde_json::from_str(page::compare(&compared).json()).unwrap();
    let asked: Vec<&str> = page["answers"].as_array().unwrap().iter().map(|answer| answer["question"].as_str().unwrap()).collect();
    assert_eq!(asked, ["checks", "carries", "knee", "changed", "limits"]);
    let (first, table) = (&page["answers"][0], &page["tables"][0]);
    assert_eq!((first["tone"].as_str(), first["evidence"].as_str(), table["id"].as_str()), (Some("bad"), Some("checks"), Some("checks")));
    assert!(first["sentence"].as_str().unwrap().starts_with("FAILED: p50 < 1ns; measured: "), "{first}");
    assert_eq!(table["rows"].as_array().unwrap().len(), 2);
}

#[test]
fn what_one_side_does_more_of_is_told_and_reads_back() {
    let mut compared = compared(6, 1.0);
    let profiled = fixtures::summaries().into_iter().find(|(name, _)| *name == "a_server_that_was_profiled").unwrap().1;
    let mut more = profiled.clone();
    more.edit_for_test().profiles[0].total *= 2;
    for (side, summary) in [(Side::A, profiled), (Side::B, more)] {
        compared.profiled.push(ProfiledSide { side, summary });
    }
    let text = conclusion(&compared, &Style::PLAIN);
    assert!(text.contains("What grew from A to B: processor time. A request took ") && text.contains("−"), "{text}");
    let all = files(&compared).unwrap();
    let of = |ending: &str| String::from_utf8(all.iter().find(|file| file.ending == ending).unwrap().bytes.clone()).unwrap();
    assert!(of(".compare.md").contains("| cum in A | in B | grew by |"));
    let again = read(&of(".compare.json")).unwrap();
    assert_eq!(again.profiled.iter().map(|one| one.side).collect::<Vec<_>>(), [Side::A, Side::B]);
    assert_eq!(conclusion(&again, &Style::PLAIN), text);
}

#[test]
fn four_pairs_give_no_verdict_and_eight_of_nothing_but_limits_neither() {
    let few = compared(4, 0.5);
    assert!(few.verdict().is_none() && conclusion(&few, &Style::PLAIN).contains("No verdict"));
    let mut limited = compared(8, 0.5);
    for pair in &mut limited.pairs {
        pair.b.edit_for_test().generator.cpu_share_busiest = 0.97;
        *pair = Pair::new(pair.first, pair.a.clone(), pair.b.clone());
    }
    limited.judge();
    let text = conclusion(&limited, &Style::PLAIN).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(limited.verdict().is_none() && text.contains("because the load generator was the limit of B"), "{text}");
    assert!(row(1, &limited.pairs[0], &Style::PLAIN).contains("left out"));
}

#[test]
fn sides_that_do_not_answer_alike_are_told() {
    let mut unlike = compared(6, 1.0);
    for pair in &mut unlike.pairs {
        pair.b.edit_for_test().bytes.received *= 2;
    }
    unlike.judge();
    assert!(conclusion(&unlike, &Style::PLAIN).contains("The two do not answer alike: an answer of A has"));
    assert!(!conclusion(&compared(6, 1.0), &Style::PLAIN).contains("alike"));
}

#[test]
fn rows_stand_under_their_heads() {
    let compared = compared(6, 0.9);
    let header = header(&compared, &Style::PLAIN);
    let head = header.lines().last().unwrap().chars().count();
    assert!(compared.pairs.iter().all(|pair| row(1, pair, &Style::PLAIN).chars().count() == head), "{header}");
}

#[test]
fn the_same_comparison_gives_the_same_files() {
    let [one, two] = [(), ()].map(|()| files(&compared(6, 0.9)).unwrap());
    assert_eq!(one, two);
    let endings: Vec<&str> = one.iter().map(|file| file.ending).collect();
    assert_eq!(endings, Comparison::ENDINGS);
    let json: serde_json::Value = serde_json::from_slice(&one[0].bytes).unwrap();
    assert_eq!(json["schema"], "loadline.compare/1");
    assert_eq!(json["pairs"][5]["b"]["schema"], "loadline.run/1");
    let page = String::from_utf8(one[1].bytes.clone()).unwrap();
    assert!(page.contains("| goodput | ") && page.contains("| 6 | B A | "), "{page}");
    assert!(one[2].bytes.starts_with(b"\x89PNG") && String::from_utf8_lossy(&one[3].bytes).contains("</svg>"));
}

#[test]
fn a_comparison_reads_back_and_says_the_same() {
    let compared = compared(8, 0.9);
    let written = files(&compared).unwrap();
    let text = String::from_utf8(written[0].bytes.clone()).unwrap();
    let again = read(&text).unwrap();
    assert_eq!(conclusion(&again, &Style::PLAIN), conclusion(&compared, &Style::PLAIN));
    assert_eq!(files(&again).unwrap()[0].bytes, written[0].bytes);
    for (text, part) in [
        ("{\"schema\":\"loadline.compare/9\"}", "written as 'loadline.compare/9'"),
        ("{}", "not a result of loadline"),
        ("{\"schema\":\"loadline.compare/1\"}", "missing field"),
    ] {
        assert!(read(text).unwrap_err().to_string().contains(part), "{text}");
    }
}

#[test]
fn a_comparison_fits_every_terminal_from_sixty_columns() {
    let mut compared = compared(6, 0.9);
    let shop = fixtures::journeys_of_a_shop().scenario.clone();
    for pair in &mut compared.pairs {
        pair.a.edit_for_test().scenario.clone_from(&shop);
        pair.b.edit_for_test().scenario.clone_from(&shop);
    }
    compared.judge();
    for width in [60, 70, 80, 100, 120] {
        let style = Style { width, ..Style::PLAIN };
        let text = text(&compared, &style);
        assert!(text.lines().all(|line| line.chars().count() <= usize::from(width)), "{width}:\n{text}");
        assert!(text.contains("p99 A") && text.contains("buy · order") && text.contains("WORSE"), "{width}:\n{text}");
        // Of both sides, or of neither.
        assert_eq!(text.matches("p50 A").count(), text.matches("p50 B").count(), "{width}:\n{text}");
    }
}

#[test]
fn the_steps_of_both_sides_stand_beside_each_other() {
    let mut compared = compared(6, 1.0);
    let shop = fixtures::journeys_of_a_shop().scenario.clone();
    for pair in &mut compared.pairs {
        pair.a.edit_for_test().scenario.clone_from(&shop);
        pair.b.edit_for_test().scenario.clone_from(&shop);
        pair.b.edit_for_test().scenario.as_mut().unwrap().steps[1].failed += 5;
    }
    compared.judge();
    let text = conclusion(&compared, &Style::PLAIN);
    let line = text.lines().find(|line| line.contains("buy · order")).unwrap_or_else(|| panic!("{text}"));
    let failed = shop.as_ref().unwrap().steps[1].failed * 6;
    assert!(line.ends_with(&format!("{failed}, {}", failed + 30)), "{line}");
    assert!(text.contains("Journeys finished a second (TPS)") && text.contains("look · GET /"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let page = String::from_utf8(files(&compared).unwrap()[1].bytes.clone()).unwrap();
    assert!(page.contains("| step | p50 A | p50 B | p99 A | p99 B | failed A, B |") && page.contains("buy · order |"), "{page}");
    assert!(!conclusion(&self::compared(6, 1.0), &Style::PLAIN).contains("TPS"));
}

#[test]
fn events_of_both_sides_stand_beside_each_other_without_a_verdict() {
    let mut compared = compared(6, 1.0);
    assert!(!text(&compared, &Style::PLAIN).contains("first event"), "nothing streamed");
    let streamed = fixtures::summaries().into_iter().find(|(name, _)| *name == "answers_that_streamed").unwrap().1;
    for pair in &mut compared.pairs {
        let mut slower = streamed.clone();
        slower.edit_for_test().streams.as_mut().unwrap().events_per_second /= 2.0;
        (pair.a, pair.b) = (streamed.clone(), slower);
    }
    compared.judge();
    let said = text(&compared, &Style::PLAIN);
    let line = said.lines().find(|line| line.contains("events a second")).unwrap_or_else(|| panic!("{said}"));
    assert!(line.ends_with("−50 %") && said.contains("  first event 95 %") && said.contains("no verdict on them"), "{said}");
    let all = files(&compared).unwrap();
    let markdown = String::from_utf8(all.iter().find(|file| file.ending == ".compare.md").unwrap().bytes.clone()).unwrap();
    assert!(markdown.contains("| between events 99 % |"), "{markdown}");
    let page: serde_json::Value = serde_json::from_str(page::compare(&compared).json()).unwrap();
    assert!(page["tables"].as_array().unwrap().iter().any(|table| table["id"] == "events"), "{page}");
}
