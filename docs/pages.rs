//! Tests that hold the pages true: a page nobody can trust is worse than none.
//!
//! Tables that repeat what the code says (failure classes, formats, oddities of answers) are made from the code and
//! compared with the pages; `make pages` writes them anew. Names that a page must explain (flags, keys of the result,
//! dependencies) are looked up in it, and every link must lead somewhere. What pages say in sentences is the author's.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use measure::observed::{SERIES, Unit};
use measure::{Collector, Failure, Histogram, Quirk, Side, Snapshot, SourceId, fixtures};
use plan::{Nanos, Spelling};
use report::FORMATS;
use serde_json::Value;

/// Set to rewrite stale tables instead of failing.
const WRITE: &str = "LOADLINE_WRITE_PAGES";

#[test]
fn the_page_of_failures_lists_every_class() {
    let mut table = String::new();
    for (side, title, words) in [
        (Side::Server, "The server", "It broke the protocol, closed, stalled, or answered with an error status."),
        (Side::Network, "The network", "Something between here and there: routes, name servers, lost packets."),
        (Side::ThisMachine, "This machine", "It ran out of ports, files or time, so the figure says nothing about the server."),
        (
            Side::ServerOrPlan,
            "The server or the scenario",
            "What a step takes out of the answer is not in it: the server answered something else, or the scenario looks in the wrong place.",
        ),
        (Side::Plan, "The plan", "What was asked for makes success impossible."),
    ] {
        table += &format!("### {title}\n\n{words}\n\n| class | what happened | what to do |\n|---|---|---|\n");
        for class in Failure::ALL.iter().filter(|class| class.side() == side) {
            table += &format!("| `{}` | {} | {} |\n", class.code(), class.about(), class.remedy().spelt(Spelling::Flags));
        }
        table.push('\n');
    }
    holds("docs/guide/failures.md", "classes", table.trim_end());
}

#[test]
fn the_page_of_failures_lists_every_oddity() {
    let rows: String = Quirk::ALL.iter().map(|quirk| format!("| `{}` | {} |\n", quirk.code(), quirk.about())).collect();
    holds("docs/guide/failures.md", "quirks", &format!("| oddity | what the server did |\n|---|---|\n{}", rows.trim_end()));
}

#[test]
fn the_page_of_the_report_lists_every_format() {
    let rows: String = FORMATS.iter().map(|format| format!("| `{}` | {} | .{} |\n", format.name, format.about, format.extension)).collect();
    holds("docs/guide/reading-a-report.md", "formats", &format!("| format | is | usual ending |\n|---|---|---|\n{}", rows.trim_end()));
}

#[test]
fn the_page_of_the_servers_side_lists_every_figure() {
    let unit = |unit: &Unit| serde_json::to_value(unit).expect("a unit is a word").as_str().unwrap_or_default().replace('_', " ");
    let rows: String = SERIES.iter().map(|known| format!("| `{}` | {} | {} |\n", known.name, unit(&known.unit), known.about)).collect();
    holds("docs/guide/server-side.md", "series", &format!("| series | unit | is |\n|---|---|---|\n{}", rows.trim_end()));
}

/// Response times of three sites of a fleet: how many requests, the shortest, and what the rest is longer on average.
const SITES: [(&str, u32, f64, f64); 3] = [("near", 9000, 8.0, 2.0), ("far", 900, 80.0, 15.0), ("starved", 100, 20.0, 300.0)];

#[test]
fn percentiles_of_a_fleet_stand_beside_those_of_all_values_in_order() {
    // Exponential times, as the quantiles of their distribution: no chance in it.
    let times = |(_, count, least, mean): (&str, u32, f64, f64)| -> Vec<Nanos> {
        let part = |number: u32| (f64::from(number) + 0.5) / f64::from(count);
        (0..count).map(|number| Nanos(((least - mean * (1.0 - part(number)).ln()) * 1e6) as u64)).collect()
    };
    let histogram = |times: &[Nanos]| {
        let mut histogram = Histogram::new();
        times.iter().for_each(|time| histogram.record(*time));
        histogram
    };
    let sites: Vec<Histogram> = SITES.map(|site| histogram(&times(site))).into();
    let mut collector = Collector::new(fixtures::plan("http://api.test/"), 3, Nanos::SECOND);
    for (source, times) in (0..).zip(&sites) {
        let count = times.count();
        let mut counts = Snapshot::empty(0);
        (counts.due, counts.succeeded, counts.response_succeeded) = (count, count, times.clone());
        // As it comes from another machine.
        let told = serde_json::to_string(&counts).expect("counts can be written");
        collector.absorb(SourceId(source), serde_json::from_str(&told).expect("what was written can be read"));
    }
    while collector.tick().is_some() {}
    let fleet = &collector.totals().response_succeeded;
    let mut all: Vec<Nanos> = SITES.into_iter().flat_map(times).collect();
    all.sort_unstable();

    let mut table = "| percentile | all times in order | of the fleet | average of the three |\n|---|---|---|---|\n".to_owned();
    let mut apart_most = 0.0_f64;
    for (name, q) in [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999)] {
        let by_hand = all[(q * all.len() as f64).ceil() as usize - 1].0 as f64 / 1e6;
        let of_fleet = fleet.quantile(q).expect("there are times").0 as f64 / 1e6;
        let of_sites: f64 = sites.iter().map(|site| site.quantile(q).expect("there are times").0 as f64 / 1e6).sum();
        let average = of_sites / sites.len() as f64;
        assert!((of_fleet / by_hand - 1.0).abs() <= 0.001, "{name}: {of_fleet} of the fleet, {by_hand} by hand");
        apart_most = apart_most.max((average / by_hand - 1.0).abs());
        table += &format!("| {name} | {by_hand:.2} ms | {of_fleet:.2} ms | {average:.2} ms |\n");
    }
    assert!(apart_most > 0.5, "averages that are as good show nothing");
    holds("docs/guide/machines.md", "percentiles", table.trim_end());
}

#[test]
fn every_key_of_a_result_is_explained() {
    let page = read("docs/guide/reading-a-report.md");
    let mut keys = BTreeSet::new();
    for (_, summary) in fixtures::summaries() {
        let mut value = serde_json::to_value(&summary).expect("a summary can be written");
        // A plan is written as the settings it was made from: the guide to each is `loadline run --help`.
        value["plan"] = Value::Null;
        collect(&value, &mut keys);
    }
    let missing: Vec<&String> = keys.iter().filter(|key| !page.contains(&format!("`{key}`"))).collect();
    assert!(missing.is_empty(), "docs/guide/reading-a-report.md does not explain: {missing:?}");
}

#[test]
fn every_key_of_traffic_is_explained() {
    let page = read("docs/guide/traffic.md");
    let mut survey = import::Survey::new(import::FormChoice::default(), import::Personal::LeftOut);
    let line = |second: u32| {
        format!("{{\"time\":\"2024-01-01T00:00:{second:02}Z\",\"path\":\"/\",\"status\":200,\"ip\":\"::1\",\"duration_ms\":1}}\n")
    };
    survey.read("access.log", (line(1) + "x\n" + &line(59)).as_bytes()).expect("memory can be read");
    let mut keys = BTreeSet::new();
    collect(&serde_json::to_value(survey.finish()).expect("traffic can be written"), &mut keys);
    assert!(keys.len() > 40, "{keys:?}");
    let missing: Vec<&String> = keys.iter().filter(|key| !page.contains(&format!("`{key}`"))).collect();
    assert!(missing.is_empty(), "docs/guide/traffic.md does not explain: {missing:?}");
    let unnamed: Vec<&str> = import::KNOWN.iter().map(|known| known.name).filter(|name| !page.contains(&format!("`{name}`"))).collect();
    assert!(unnamed.is_empty(), "docs/guide/traffic.md does not name: {unnamed:?}");
}

#[test]
fn the_page_of_scenarios_lists_every_key() {
    let mut text = String::new();
    for shape in scenario::keys::SHAPES {
        text += &format!("### {}\n\n{}\n\n| key | is |\n|---|---|\n", shape.name, shape.about);
        for key in shape.keys {
            text += &format!("| `{}` | {} |\n", key.name, key.about.replace('|', "\\|"));
        }
        text.push('\n');
    }
    holds("docs/guide/scenarios.md", "keys", text.trim_end());
}

#[test]
fn the_schema_of_scenarios_is_that_of_the_reader() {
    let path = "docs/api/scenario.schema.json";
    let made = serde_json::to_string_pretty(&scenario::schema::schema()).expect("a schema can be written") + "\n";
    if fs::read_to_string(root().join(path)).is_ok_and(|kept| kept == made) {
        return;
    }
    assert!(std::env::var_os(WRITE).is_some(), "{path} is stale: make pages");
    fs::write(root().join(path), made).unwrap_or_else(|why| panic!("{path}: {why}"));
}

/// Every name of a field; keys that are data are left out: a status and a quantile begin with a digit, classes of failures
/// have a page of their own.
fn collect(value: &Value, keys: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, inner) in fields {
                if !key.starts_with(|letter: char| letter.is_ascii_digit()) && Failure::from_code(key).is_none() {
                    keys.insert(key.clone());
                }
                collect(inner, keys);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, keys)),
        _ => {}
    }
}

#[test]
fn every_setting_is_in_the_guide() {
    let pages: String = guide().iter().map(|path| fs::read_to_string(path).expect("a page can be read")).collect();
    let draft = read("crates/plan/src/draft.rs") + &read("crates/plan/src/ladder.rs");
    let mut wanted = false;
    let mut settings = Vec::new();
    for line in draft.lines().map(str::trim) {
        if line.starts_with("#[arg(") {
            wanted = line.contains("long");
        } else if let Some(field) = line.strip_prefix("pub ").and_then(|rest| rest.split(':').next())
            && wanted
        {
            settings.push(format!("--{}", field.replace('_', "-")));
            wanted = false;
        }
    }
    assert!(settings.len() > 30, "the settings were not found: {settings:?}");
    let missing: Vec<&String> = settings.iter().filter(|setting| !mentions(&pages, setting)).collect();
    assert!(missing.is_empty(), "docs/guide/ does not mention: {missing:?}");
}

/// Whether the flag stands there, and not only as the beginning of another one.
fn mentions(text: &str, flag: &str) -> bool {
    text.match_indices(flag).any(|(at, _)| !text[at + flag.len()..].starts_with(|next: char| next == '-' || next.is_ascii_alphanumeric()))
}

#[test]
fn the_page_of_proofs_lists_every_defect() {
    holds("docs/validation.md", "defects", &validate::defects::table());
}

#[test]
fn every_test_that_the_page_of_proofs_names_is_there() {
    let page = read("docs/validation.md");
    let named: Vec<(&str, &str)> = page.split('`').filter_map(|code| code.split_once(".rs::")).collect();
    assert!(named.len() > 25, "the tests were not found: {named:?}");
    let missing: Vec<String> = named
        .iter()
        .filter(|(file, test)| {
            let source = read(&format!("{file}.rs"));
            // A test, not a function that happens to have the name.
            !source.split("#[test]").skip(1).any(|after| after.trim_start().starts_with(&format!("fn {test}(")))
                && !source.split("#[tokio::test").skip(1).any(|after| after.contains(&format!("async fn {test}(")))
        })
        .map(|(file, test)| format!("{file}.rs::{test}"))
        .collect();
    assert!(missing.is_empty(), "docs/validation.md names tests that are not there: {missing:?}");
}

/// Figures on seeds that constants were chosen with would flatter.
#[test]
fn nobody_but_the_proofs_uses_their_seeds() {
    let first = validate::seeds::FIRST;
    let mut places = vec![root().join("crates"), root().join("bench")];
    while let Some(place) = places.pop() {
        if place.is_dir() {
            let inner = fs::read_dir(&place).expect("a directory of ours can be read");
            places.extend(inner.map(|entry| entry.expect("an entry of it can be read").path()));
        } else if place.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&place).expect("a source can be read").replace('_', "");
            let words = text.split(|letter: char| !letter.is_ascii_digit()).filter_map(|word| word.parse::<u64>().ok());
            let taken: Vec<u64> = words.filter(|number| (first..first + 100_000).contains(number)).collect();
            assert!(taken.is_empty(), "{} has {taken:?}, which may be a seed of the proofs", place.display());
        }
    }
}

/// Golden texts in other tools' words, and formats that are no prose.
const NOT_OUR_WORDS: [&str; 9] = ["wrk", "ab__", "hey", "siege", "vegeta", "webbench", "__json__", "__csv__", "__hdr__"];

#[test]
fn golden_texts_and_pages_keep_to_the_list_of_words() {
    let list = between(&read("CONTRIBUTING.md"), "<!-- words -->", "<!-- end of words -->");
    let unwanted: Vec<String> = list
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split_once(" | ").map(|(unwanted, _)| unwanted.to_owned()))
        .filter(|unwanted| unwanted != "do not say")
        .collect();
    assert!(unwanted.len() > 10, "the list was not found: {unwanted:?}");
    let mut found = Vec::new();
    let mut look = |name: &str, text: &str| {
        // Where a line was broken does not matter.
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        found.extend(unwanted.iter().filter(|words| text.contains(words.as_str())).map(|words| format!("{name}: {words}")));
    };
    for file in ["crates/report/tests", "crates/cli/tests"].into_iter().flat_map(|place| files_below(&root().join(place))) {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with(".snap") && !NOT_OUR_WORDS.iter().any(|not| name.contains(not)) {
            // Behind the head of the file.
            look(&name, read(&file.to_string_lossy()).splitn(3, "---\n").last().unwrap_or_default());
        }
    }
    // No golden text has what stands on pages in a browser, so their sources are read, without comments and tests.
    for file in ["crates/report/src/page", "web/src"].into_iter().flat_map(|place| files_below(&root().join(place))) {
        let source = read(&file.to_string_lossy());
        let source = source.split("#[cfg(test)]").next().unwrap_or_default();
        let is_comment = |line: &&str| ["//", "/*", "*"].iter().any(|mark| line.trim_start().starts_with(mark));
        let lines: Vec<&str> = source.lines().filter(|line| !is_comment(line)).map(|line| line.trim_end_matches('\\')).collect();
        look(&file.to_string_lossy(), &lines.join("\n"));
    }
    assert!(found.is_empty(), "say it in the words of CONTRIBUTING.md: {found:#?}");
}

/// Every file in this folder and those within it.
fn files_below(place: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(place).expect("a directory of ours can be read");
    let paths = entries.map(|entry| entry.expect("an entry of it can be read").path());
    paths.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// What stands between two marks of a page.
fn between(page: &str, from: &str, to: &str) -> String {
    let after = page.split_once(from).map_or("", |(_, after)| after);
    after.split_once(to).map_or("", |(inside, _)| inside).to_owned()
}

#[test]
fn every_direct_dependency_has_its_reason() {
    let page = read("docs/decisions/dependencies.md");
    let manifest = read("Cargo.toml");
    let (_, after) = manifest.split_once("[workspace.dependencies]").expect("dependencies are declared once");
    let names: Vec<&str> = after
        .lines()
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.contains("{ path = "))
        .filter_map(|line| line.split_once(" = ").map(|(name, _)| name))
        .collect();
    assert!(names.len() > 20, "the dependencies were not found: {names:?}");
    let missing: Vec<&&str> = names.iter().filter(|name| !page.contains(&format!("| `{name}` |"))).collect();
    assert!(missing.is_empty(), "docs/decisions/dependencies.md gives no reason for: {missing:?}");
    let listed = page.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let gone: Vec<&str> = listed.filter(|name| !names.contains(name)).collect();
    assert!(gone.is_empty(), "docs/decisions/dependencies.md lists what is no dependency any more: {gone:?}");
}

#[test]
fn every_link_leads_somewhere() {
    let mut broken = Vec::new();
    for path in pages() {
        let text = fs::read_to_string(&path).expect("a page can be read");
        for target in links(&text) {
            if target.contains("://") || target.starts_with('#') {
                continue;
            }
            let file = target.split('#').next().unwrap_or_default();
            if !path.parent().expect("a page lies in a folder").join(file).exists() {
                broken.push(format!("{}: {target}", path.display()));
            }
        }
    }
    assert!(broken.is_empty(), "links that lead nowhere:\n{}", broken.join("\n"));
}

/// What stands in round brackets after square ones.
fn links(text: &str) -> Vec<&str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect()
}

#[test]
fn every_target_that_a_page_names_is_in_the_makefile() {
    let makefile = read("Makefile");
    let mut unknown = Vec::new();
    for path in pages() {
        let text = fs::read_to_string(&path).expect("a page can be read");
        for rest in text.split("`make ").skip(1) {
            let target: String = rest.chars().take_while(|letter| letter.is_ascii_lowercase() || *letter == '-').collect();
            if !target.is_empty() && !makefile.lines().any(|line| line.starts_with(&format!("{target}:"))) {
                unknown.push(format!("{}: make {target}", path.display()));
            }
        }
    }
    assert!(unknown.is_empty(), "{unknown:?}");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies in the workspace").to_owned()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|why| panic!("{path}: {why}"))
}

fn guide() -> Vec<PathBuf> {
    markdown(&root().join("docs/guide"))
}

fn pages() -> Vec<PathBuf> {
    let folders = ["", "docs", "docs/guide", "docs/guide/case-studies", "docs/decisions", "examples/targets"];
    folders.iter().flat_map(|dir| markdown(&root().join(dir))).collect()
}

fn markdown(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap_or_else(|why| panic!("{}: {why}", dir.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a folder can be listed").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.sort();
    paths
}

/// That the page holds the text between the markers of that name; or puts it there, when asked to.
fn holds(path: &str, name: &str, text: &str) {
    let page = read(path);
    let (begin, end) = (format!("<!-- {name}: made by make pages -->\n"), format!("\n<!-- end of {name} -->"));
    let marked = page.split_once(&begin).and_then(|(before, rest)| rest.split_once(&end).map(|(inside, after)| (before, inside, after)));
    let (before, inside, after) = marked.unwrap_or_else(|| panic!("{path} has no markers of {name}"));
    if inside == text {
        return;
    }
    assert!(std::env::var_os(WRITE).is_some(), "the table of {name} in {path} is stale: make pages");
    fs::write(root().join(path), format!("{before}{begin}{text}{end}{after}")).unwrap_or_else(|why| panic!("{path}: {why}"));
}
