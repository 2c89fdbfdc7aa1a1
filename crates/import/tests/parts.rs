//! Parts of a survey: put together they are the survey of all logs, whatever is in which part and whichever comes first.

use std::fmt::Write as _;

use import::{FormChoice, Key, PartError, Personal, Survey, SurveyPart, Traffic};
use proptest::prelude::*;

const KEY: Key = Key::new([9; 16]);

/// One line of a log.
#[derive(Debug, Clone)]
struct Logged {
    at_s: i64,
    user: u8,
    what: u16,
    status: u16,
    took_ms: u32,
    /// Which of the files has it.
    file: usize,
}

/// What is asked for, with what is personal in some of it; up to `names` names stand below one path.
fn target(what: u16, names: u16) -> String {
    let name = |number: u16| {
        format!("{}{}", ["red", "blue", "green"][usize::from(number % 3)], "abcdefghij".repeat(2).split_at(usize::from(number / 3 % 20)).0)
    };
    match what % 8 {
        0 => "/".to_owned(),
        1 => format!("/users/{}", what / 8),
        2 => format!("/search?q=x{}&page={}", what % 40, what % 3),
        3 => format!("/reset?token=s3cr3t{}", what / 8 % 20),
        4 => format!("/mail/me{}@x.example/read", what / 8 % 10),
        5 => format!("/js/app.a{}.js", what / 8 % 7),
        // One of the names is asked for by half of all.
        6 if (what / 8).is_multiple_of(2) => "/shop/cart".to_owned(),
        _ => format!(
            "/shop/{}/{}{}",
            name(what / 16 % names),
            "x".repeat(usize::from(what / 16 % names / 60)),
            ["", "reviews"][usize::from(what % 2)]
        ),
    }
}

fn line(it: &Logged, names: u16) -> String {
    let agent = ["Mozilla/5.0 (X11)", "curl/8.5", "Mozilla/5.0 (compatible; somebot/2.1)", "-"][usize::from(it.what % 4)];
    let referer = ["-", "https://shop.example/x", "http://192.0.2.7/"][usize::from(it.what % 3)];
    if it.what.is_multiple_of(29) {
        return format!("noise {} from 198.51.100.{}\n", it.what, it.user);
    }
    let mut text = String::new();
    let _ = writeln!(
        text,
        "192.0.2.{}|{}.250|GET {} HTTP/1.1|{}|{}|{}.{:03}|{referer}|{agent}",
        it.user,
        1_700_000_000 + it.at_s,
        target(it.what, names),
        it.status,
        u32::from(it.what) * 10,
        it.took_ms / 1000,
        it.took_ms % 1000
    );
    text
}

fn form() -> FormChoice {
    FormChoice::named("$remote_addr|$msec|$request|$status|$body_bytes_sent|$request_time|$http_referer|$http_user_agent").unwrap()
}

fn survey(personal: Personal, files: &[(String, String)]) -> Survey {
    read(Survey::with_key(form(), personal, KEY).with_targets(), files)
}

fn read(mut survey: Survey, files: &[(String, String)]) -> Survey {
    for (name, text) in files {
        survey.read(name, text.as_bytes()).unwrap();
    }
    survey
}

/// The part as it was written and read.
fn sent(part: &SurveyPart) -> SurveyPart {
    SurveyPart::read(&part.written()).unwrap()
}

/// Each group of files by itself, written, read and put together in this order.
fn merged(personal: Personal, groups: &[Vec<(String, String)>]) -> Traffic {
    let mut parts = groups.iter().map(|files| sent(&survey(personal, files).part()));
    let mut whole = parts.next().unwrap();
    parts.for_each(|part| whole.merge(part).unwrap());
    sent(&whole).traffic()
}

fn files(logged: &[Logged], names: u16) -> Vec<(String, String)> {
    let mut files: Vec<(String, String)> = (0..6).map(|file| (format!("web{file}/access.log"), String::new())).collect();
    logged.iter().for_each(|it| files[it.file].1 += &line(it, names));
    files
}

prop_compose! {
    fn logged()(at_s in 0i64..200_000, near in 0i64..300, is_near in any::<bool>(), user in 0u8..40, what in 0u16..4_000,
        status in prop::sample::select(vec![200u16, 204, 301, 404, 500]), took_ms in 0u32..90_000, file in 0usize..6) -> Logged {
        Logged { at_s: if is_near { near } else { at_s }, user, what, status, took_ms, file }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn parts_add_up_to_the_survey_of_all_logs(
        logged in prop::collection::vec(logged(), 1..600),
        (group_of, places) in (prop::collection::vec(0usize..4, 6), Just((0..6).collect::<Vec<usize>>()).prop_shuffle()),
        is_kept in any::<bool>(),
        names in prop::sample::select(vec![20u16, 60, 180]),
    ) {
        let personal = if is_kept { Personal::Kept } else { Personal::LeftOut };
        let files = files(&logged, names);
        let one = survey(personal, &files).finish();
        let mut groups: Vec<Vec<(String, String)>> = vec![Vec::new(); 4];
        for place in places {
            groups[group_of[place]].push(files[place].clone());
        }
        let together = merged(personal, &groups);
        prop_assert_eq!(serde_json::to_value(&together).unwrap(), serde_json::to_value(&one).unwrap());
        // With what stands in no report: what was asked for, and visits.
        prop_assert_eq!(&together, &one);
        groups.reverse();
        prop_assert_eq!(&merged(personal, &groups), &one);
    }

    #[test]
    fn nothing_personal_is_in_a_part(logged in prop::collection::vec(logged(), 1..300)) {
        let text = String::from_utf8(survey(Personal::LeftOut, &files(&logged, 20)).part().written()).unwrap();
        for personal in ["192.0.2.", "198.51.100.", "s3cr3t", "x.example"] {
            prop_assert!(!text.contains(personal), "{}: {}", personal, text);
        }
        // By another key everybody is somebody else.
        let other = read(Survey::with_key(form(), Personal::LeftOut, Key::new([8; 16])), &files(&logged, 20));
        let whole = &mut SurveyPart::read(text.as_bytes()).unwrap();
        prop_assert_eq!(whole.merge(other.part()), Err(PartError::Key));
        prop_assert_eq!(whole.merge(survey(Personal::Kept, &[]).part()), Err(PartError::Personal));
    }

    #[test]
    fn no_document_makes_it_panic(logged in prop::collection::vec(logged(), 1..40), wrong in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let good = survey(Personal::LeftOut, &files(&logged, 20)).part().written();
        let mut document = good.clone();
        for (at, byte) in wrong {
            // Digits into digits, so that some are documents still.
            let place = at.index(document.len());
            document[place] = if document[place].is_ascii_digit() { b'0' + byte % 10 } else { byte };
        }
        if let Ok(part) = SurveyPart::read(&document) {
            let mut whole = SurveyPart::read(&good).unwrap();
            if whole.merge(part).is_ok() {
                let traffic = whole.traffic();
                let _ = import::workload::Workload::of(&traffic, import::workload::Beside::default());
            }
        }
    }
}

/// Names that one report folds are in no part of it, and are counted all the same; those that it would tell are told.
#[test]
fn names_that_are_folded_are_numbers_in_a_part() {
    let user = |at: u32| (0..4).map(|place| char::from(b'k' + (at / 10u32.pow(place) % 10) as u8)).collect::<String>();
    let log = |from: u32, until: u32| {
        let lines = (from..until).flat_map(|at| {
            let path = format!("/u/{}/orders", user(at));
            [path, "/u/team/orders".to_owned()]
        });
        lines.fold(String::new(), |log, path| log + &format!("192.0.2.1|1700000000.250|GET {path} HTTP/1.1|200|1|0.1|-|-\n"))
    };
    let groups = [log(0, 250), log(200, 400), log(400, 430)].map(|log| vec![("access.log".to_owned(), log)]);
    let parts = groups.each_ref().map(|files| read(Survey::with_key(form(), Personal::LeftOut, KEY), files).part());
    let written = parts.each_ref().map(|part| String::from_utf8(part.written()).unwrap());
    assert!(!written[0].contains(&user(17)) && !written[1].contains(&user(317)) && written[0].contains("team"));
    assert!(written[2].contains(&user(417)), "its own report would name so few");
    let mut whole = sent(&parts[0]);
    parts[1..].iter().for_each(|part| whole.merge(sent(part)).unwrap());
    assert!(!whole.has_targets());
    let told: Vec<(String, u64)> = whole.traffic().routes.into_iter().map(|route| (route.path, route.requests)).collect();
    assert_eq!(told, [("/u/team/orders".to_owned(), 480), ("/u/{name}/orders".to_owned(), 480)]);
}

/// Where a route is asked for more paths than are kept, the parts add up to a sample like that of the whole.
#[test]
fn samples_of_parts_are_a_sample_of_all() {
    let log = |from: u32| {
        let lines =
            (0..6_000u32).map(|at| if at % 3 == 0 { "/items/7".to_owned() } else { format!("/items/{}?token=a{}", from + at, at % 5) });
        lines.fold(String::new(), |log, path| log + &format!("192.0.2.1|1700000000.250|GET {path} HTTP/1.1|200|1|0.1|-|-\n"))
    };
    let groups = [log(1_000), log(4_000), log(90_000)].map(|log| vec![("access.log".to_owned(), log)]);
    let targets = |traffic: Traffic| traffic.routes[0].targets.clone().unwrap();
    let one = targets(survey(Personal::LeftOut, &groups.concat()).finish());
    let together = targets(merged(Personal::LeftOut, &groups));
    assert_eq!(together.distinct, one.distinct, "registers add up exactly");
    assert!((together.distinct as f64 / 10_001.0 - 1.0).abs() < 0.2, "{}", together.distinct);
    for targets in [&one, &together] {
        let all: u64 = targets.listed.iter().map(|it| it.requests).sum();
        assert!(targets.listed.len() <= 500 && (14_000..22_000).contains(&all), "{all}");
        let often = targets.listed[0].requests as f64 / all as f64;
        assert!(targets.listed[0].path == "/items/7" && (0.25..0.42).contains(&often), "{often}");
        assert!(targets.listed.iter().skip(1).all(|it| it.is_altered && !it.path.contains("token=a")));
    }
}

/// Members of an object with these numbers as names.
fn of_each(numbers: std::ops::Range<u32>, value: &str) -> String {
    numbers.map(|number| format!("\"M{number}\":{value}")).collect::<Vec<_>>().join(",")
}

#[test]
fn a_part_that_is_none_says_why() {
    const COUNTED: &str = r#"{"routes":{"GET":{"requests":0,"statuses":[],"bytes":0,"took":[0,[]]}}}"#;
    let damaged = |text: &str| SurveyPart::read(text.as_bytes()).unwrap_err().to_string();
    assert!(damaged("{").contains("damaged, or no part"), "{}", damaged("{"));
    assert!(
        damaged("{\"schema\":\"loadline.traffic/1\"}")
            .contains("version 'loadline.traffic/1', and this loadline reads loadline.traffic-part/1")
    );
    let part = survey(Personal::LeftOut, &files(&[Logged { at_s: 0, user: 1, what: 1, status: 200, took_ms: 5, file: 0 }], 20)).part();
    let text = String::from_utf8(part.written()).unwrap();
    for (was, is, why) in [
        ("\"time_of_day\":[", "\"time_of_day\":[7,", "trailing characters"),
        ("[[200,1]]", "[[200,2]]", "its statuses are not those of its requests"),
        ("\"pause_halvings\":0", "\"pause_halvings\":60", "its samples of users are none"),
        ("\"routes\":{\"GET\":", "\"routes\":{\"G T\":", "a method is none"),
        ("\"paths\":{\"/users/0\":1}", "\"paths\":{\"/users/0 \":1}", "a path is none that could be asked for"),
        ("\"below\":{", &format!("\"below\":{{{},", of_each(0..100_000, "{}")), "more places than are kept"),
        ("\"below\":{", &format!("\"below\":{{{},", of_each(0..4_000, COUNTED)), "more routes than are kept"),
    ] {
        assert!(text.contains(was), "{was}: {text}");
        let why_not = damaged(&text.replacen(was, is, 1));
        assert!(why_not.contains(why), "{why_not}");
    }
}
