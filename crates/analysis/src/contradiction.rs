//! Statements that cannot both be true in one report.
//!
//! A report is put together from parts that each look at the same run: its validity, a model of its curve, what limits it, failures. Each
//! may be right by its own rules while two of them say the opposite, and then the reader believes neither. So the pairs stand here, and
//! tests hold every report of every fixture and of live servers against them.
//!
//! Rejected: to compare what the parts decided instead of what they say. Two enums agree sooner than two sentences.

/// Two phrases of which a report may hold one.
const PAIRS: &[(&str, &str)] = &[
    ("VALID: loadline was not the limit", "do not trust"),
    ("The load generator was not the limit", "loadline was held back"),
    ("The load generator was not the limit: ", "INVALID: do not use"),
    ("VALID: loadline was not the limit", "loadline was held back"),
    ("a pool of workers: ", "makes it slower"),
    ("a pool of workers: ", "throughput falls from"),
    ("a pool of workers: ", "throughput stays below"),
    ("a pool of workers: ", "for one request at a time"),
    ("a pool of workers: ", "there is no knee"),
    ("a pool of workers: ", "one load cannot show"),
    ("a pool of workers: ", "no limit was reached"),
    ("a pool of workers: ", "server's process ended"),
    ("a pool of workers: ", "were busy: at"),
    ("a lock: ", "there is no knee"),
    ("a lock: ", "one load cannot show"),
    ("a lock: ", "no limit was reached"),
    ("a lock: ", "TCP acknowledgement"),
    ("there is no knee", "throughput ends at"),
    ("there is no knee", "stays below"),
    ("no limit was reached", "throughput ends at"),
    ("No request failed at any level", "every request failed"),
    ("No request failed at any level", "turns requests away"),
    ("No request failed at any level", "turns away"),
    ("No request failed at any level", "requests failed there"),
    ("no request was answered", "one load cannot show"),
    ("the server froze", "--warmup"),
    ("a rate limit", "overload protection"),
    ("processors are not it", "candidate is its processors"),
];

/// Openings after which the same figure may not stand twice.
const FIGURES: &[(&str, &str)] = &[("carries ", "breaks at "), ("kept up to ", "broken from ")];

/// The pairs of phrases in a report that contradict each other.
#[must_use]
pub fn contradictions(report: &str) -> Vec<(String, String)> {
    // However it was broken into lines.
    let report = report.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let says = |phrase: &str| report.contains(&phrase.to_lowercase());
    let of_pairs = PAIRS.iter().filter(|(one, other)| says(one) && says(other));
    let mut found: Vec<(String, String)> = of_pairs.map(|(one, other)| ((*one).to_owned(), (*other).to_owned())).collect();
    let after = |opening: &str| -> Vec<String> {
        let figure = |rest: &str| rest.chars().take_while(|letter| letter.is_ascii_digit() || ",.".contains(*letter)).collect::<String>();
        report.match_indices(opening).map(|(at, _)| figure(&report[at + opening.len()..])).filter(|figure| !figure.is_empty()).collect()
    };
    for (one, other) in FIGURES {
        let others = after(other);
        let twice = after(one).into_iter().filter(|figure| others.contains(figure));
        found.extend(twice.map(|figure| (format!("{one}{figure}"), format!("{other}{figure}"))));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    #[test]
    fn phrases_that_exclude_each_other_are_found_across_lines() {
        assert!(contradictions("VALID: loadline was not the limit. Nothing failed.").is_empty());
        assert_eq!(contradictions("VALID: loadline was\n   not the limit … times were lost: do not\n trust them").len(), 1);
        assert_eq!(
            contradictions("It carries 349 req/s with p99 < 50ms; breaks at 349: p99 65 ms"),
            [("carries 349".into(), "breaks at 349".into())]
        );
        assert!(contradictions("It carries 349 req/s with p99 < 50ms; breaks at 361").is_empty());
    }

    #[test]
    fn no_phrase_excludes_itself() {
        assert!(PAIRS.iter().all(|(one, other)| !one.contains(other) && !other.contains(one)), "{PAIRS:?}");
    }

    #[test]
    fn each_phrase_is_one_that_some_report_says() {
        fn sources(dir: &Path, text: &mut String) {
            for entry in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
                if entry.is_dir() {
                    sources(&entry, text);
                } else if !entry.ends_with("contradiction.rs") {
                    *text += &fs::read_to_string(&entry).unwrap().to_lowercase();
                }
            }
        }
        let mut text = String::new();
        for part in ["src", "../report/src"] {
            sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(part), &mut text);
        }
        for phrase in PAIRS.iter().flat_map(|(one, other)| [one, other]).chain(FIGURES.iter().flat_map(|(one, other)| [one, other])) {
            assert!(text.contains(phrase.trim_end_matches([':', ' ']).to_lowercase().as_str()), "nothing says {phrase:?}");
        }
    }
}
