//! A run as JUnit XML: what every build server shows, one test case for each check.
//!
//! Build servers know "failed" and "could not be run", and so do checks: a broken one is a `failure`, one that the run cannot
//! judge is an `error`, never a pass. The run's own validity is a case of its own, so that a result without checks is not an
//! empty file, which build servers refuse.

use std::io;

use analysis::gate::{Change, CheckFigure, Judgement, Verdict};
use analysis::{Reading, Standing, quantity};

use crate::{Format, Style, story, visible};

/// JUnit XML.
pub const FORMAT: Format = Format { name: "junit", about: "each check as a test case, for build servers", extension: "xml", render };

/// What a case comes to: nothing to say, or an element and its message.
struct Case {
    name: String,
    wrong: Option<(&'static str, String)>,
}

fn render(reading: &Reading<'_>, _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let cases = cases(reading);
    let number = |element: &str| cases.iter().filter(|case| case.wrong.as_ref().is_some_and(|(wrong, _)| *wrong == element)).count();
    let counts = format!("tests=\"{}\" failures=\"{}\" errors=\"{}\"", cases.len(), number("failure"), number("error"));
    let run = reading.run;
    let class = escaped(&story::requests_of(run));
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<testsuites name=\"loadline\" {counts} time=\"{:.3}\">", run.ended.drained_at.as_secs_f64())?;
    let timestamp = escaped(&run.started);
    writeln!(
        out,
        "  <testsuite name=\"{class}\" {counts} skipped=\"0\" time=\"{:.3}\" timestamp=\"{timestamp}\">",
        run.ended.drained_at.as_secs_f64()
    )?;
    for case in &cases {
        write!(out, "    <testcase classname=\"{class}\" name=\"{}\" time=\"{:.3}\"", escaped(&case.name), run.duration_s)?;
        match &case.wrong {
            None => writeln!(out, "/>")?,
            Some((element, message)) => {
                writeln!(out, ">")?;
                writeln!(out, "      <{element} message=\"{}\"/>", escaped(message))?;
                writeln!(out, "    </testcase>")?;
            }
        }
    }
    writeln!(out, "    <system-out>{}</system-out>", escaped(&format!("{}.", story::answer(reading))))?;
    writeln!(out, "  </testsuite>\n</testsuites>")
}

fn cases(reading: &Reading<'_>) -> Vec<Case> {
    let validity = &reading.validity;
    let valid = Case {
        name: "the run is valid".to_owned(),
        wrong: (validity.standing == Standing::Invalid).then(|| ("error", format!("INVALID: {}", validity.why()))),
    };
    let aborted = reading.aborted_by.as_ref().map(|rule| Case {
        name: format!("not aborted on {rule}"),
        wrong: Some(("failure", story::ending(reading).unwrap_or_else(|| format!("'{rule}' came true")))),
    });
    let checks = reading.checks.iter().map(|judgement| Case {
        name: judgement.check.to_string(),
        wrong: match judgement.verdict {
            Verdict::Held => None,
            Verdict::Broken => Some(("failure", broken(judgement))),
            Verdict::NotJudgeable { .. } => Some(("error", format!("not judgeable: {}", judgement.about()))),
        },
    });
    let against = reading.against.as_ref().map(|ruling| Case {
        name: format!("not worse than {} by more than {} %", ruling.reference, quantity::figure(ruling.allowed * 100.0)),
        wrong: match ruling.verdict {
            Change::Within => None,
            Change::Worse => Some(("failure", ruling.sentence())),
            Change::CannotTell => Some(("error", ruling.sentence())),
        },
    });
    std::iter::once(valid).chain(aborted).chain(checks).chain(against).collect()
}

/// What was measured of a promise that was broken; that requests failed is a sentence of its own.
fn broken(judgement: &Judgement) -> String {
    match judgement.measured {
        Some(CheckFigure::Never) => judgement.about(),
        _ => format!("it was {}", judgement.about()),
    }
}

/// Text as XML, in elements and in attributes. What no XML may hold was made visible before.
fn escaped(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for letter in visible(text).chars() {
        match letter {
            '&' => written.push_str("&amp;"),
            '<' => written.push_str("&lt;"),
            '>' => written.push_str("&gt;"),
            '"' => written.push_str("&quot;"),
            '\'' => written.push_str("&apos;"),
            // XML 1.0, §2.2: not even escaped.
            '\u{fffe}' | '\u{ffff}' => written.push('\u{fffd}'),
            letter => written.push(letter),
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_promise_that_failures_broke_is_told_in_a_sentence() {
        let (_, run) = measure::fixtures::summaries().into_iter().find(|(name, _)| *name == "nothing_answered").unwrap();
        let reading = Reading::new(&run, &["p99 < 10ms".parse().unwrap(), "qps >= 10".parse().unwrap()]);
        let told: Vec<String> = cases(&reading).into_iter().filter_map(|case| case.wrong).map(|(_, message)| message).collect();
        assert!(told.iter().any(|message| message.starts_with("more than 1 % of requests failed")), "{told:?}");
        assert!(told.iter().any(|message| message.starts_with("it was ") && message.ends_with("/s")), "{told:?}");
    }

    #[test]
    fn no_text_ends_an_attribute_or_begins_an_element() {
        assert_eq!(escaped("p99 < 'a' & \"b\">"), "p99 &lt; &apos;a&apos; &amp; &quot;b&quot;&gt;");
        assert!(!escaped("\0\u{1b}[2J\u{ffff}\r\n").chars().any(|letter| letter.is_control() || letter == '\u{ffff}'));
    }
}
