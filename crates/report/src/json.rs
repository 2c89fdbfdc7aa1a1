//! The result as JSON: everything that was measured, for scripts, for history, and to run the same plan again.
//!
//! It is the Summary itself, so that nothing is lost between a run and its file, and beside it what follows from it, so that
//! a script need not find it again. Reading takes the Summary alone: what follows is found anew. It refuses another version by name
//! before it looks at anything else: a file of a later loadline is not "missing a field".

use std::io;

use analysis::bottleneck::Finding;
use analysis::drift::Stability;
use analysis::gate::{AbortRule, Judgement, Regression};
use analysis::interval::Uncertainty;
use analysis::littles_law::LittlesLaw;
use analysis::peaks::Peak;
use analysis::{Reading, Validity};
use measure::Summary;
use serde::Serialize;
use thiserror::Error;

use crate::{Format, Style, visible};

/// JSON, pretty-printed.
pub const FORMAT: Format = Format {
    name: "json",
    about: "everything that was measured, for scripts and for running the same plan again",
    extension: "json",
    render,
};

/// The keys of a result: those of the Summary, then these.
#[derive(Serialize)]
struct Written<'a> {
    #[serde(flatten)]
    run: &'a Summary,
    /// Of a run that another tool measured it is not known.
    validity: Option<&'a Validity>,
    intervals: Option<&'a Uncertainty>,
    checks: &'a [Judgement],
    #[serde(skip_serializing_if = "Option::is_none")]
    aborted_by: Option<AbortRule>,
    #[serde(skip_serializing_if = "Option::is_none")]
    against: Option<&'a Regression>,
    littles_law: Option<LittlesLaw>,
    stability: Option<&'a Stability>,
    peaks: &'a [Peak],
    noticed: Vec<String>,
    bottleneck: &'a [Finding],
}

fn render(reading: &Reading<'_>, _: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let written = Written {
        run: reading.run,
        validity: reading.run.measured_by.is_none().then_some(&reading.validity),
        intervals: reading.uncertainty.as_ref(),
        checks: &reading.checks,
        aborted_by: reading.aborted_by.clone(),
        against: reading.against.as_ref(),
        littles_law: reading.littles_law,
        stability: reading.stability.as_ref(),
        peaks: &reading.peaks,
        noticed: reading.noticed(),
        bottleneck: &reading.bottleneck,
    };
    write_json(&written, out)
}

pub(crate) fn write_json<T: Serialize>(value: &T, out: &mut dyn io::Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    out.write_all(b"\n")
}

/// Why a result file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReadError {
    /// It is not JSON, or not all of a result.
    #[error("it is damaged, or no result: line {line}, column {column}: {why}")]
    Damaged {
        /// From 1.
        line: usize,
        /// From 1; 0 for an empty line.
        column: usize,
        /// What is wrong there.
        why: String,
    },
    /// It is of another version, or something else.
    #[error("{0}")]
    Schema(String),
}

impl From<serde_json::Error> for ReadError {
    fn from(error: serde_json::Error) -> Self {
        let place = format!(" at line {} column {}", error.line(), error.column());
        let why = error.to_string();
        Self::Damaged { line: error.line(), column: error.column(), why: visible(why.strip_suffix(&place).unwrap_or(&why)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Document;
    use measure::fixtures;
    use proptest::prelude::*;

    fn read(text: &str) -> Result<Summary, ReadError> {
        Document::read(text).map(|document| match document {
            Document::Run(run, _) => *run,
            other => panic!("read as a {}", other.noun()),
        })
    }

    fn written(summary: &Summary) -> String {
        let mut bytes = Vec::new();
        (FORMAT.render)(&Reading::new(summary, &[]), &Style::PLAIN, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn what_is_written_reads_back() {
        for (name, summary) in fixtures::summaries() {
            let text = written(&summary);
            let read = read(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(written(&read), text, "{name}");
        }
    }

    #[test]
    fn the_promised_keys_are_there() {
        let (_, summary) = fixtures::summaries().into_iter().find(|(name, _)| *name == "failures_of_every_side").unwrap();
        let value: serde_json::Value = serde_json::from_str(&written(&summary)).unwrap();
        for key in ["schema", "plan", "machine", "started", "duration_s", "concurrency", "qps", "timeline"] {
            assert!(value.get(key).is_some(), "{key}");
        }
        for pointer in [
            "/requests/due",
            "/requests/succeeded",
            "/requests/failed",
            "/requests/unsent",
            "/status/200",
            "/failures/0/class",
            "/failures/0/side",
            "/failures/0/count",
            "/failures/0/example",
            "/bytes/sent",
            "/bytes/received",
            "/generator/cpu_share",
            "/generator/threads",
            "/timeline/0",
        ] {
            assert!(value.pointer(pointer).is_some(), "{pointer}");
        }
        for histogram in ["response_time", "service_time", "ttfb", "connect", "tls", "wait", "lag"] {
            for key in ["count", "mean_ns", "stdev_ns", "min_ns", "max_ns", "quantiles"] {
                assert!(value[histogram].get(key).is_some(), "{histogram}.{key}");
            }
            assert!(value[histogram]["quantiles"].get("0.5").is_some(), "{histogram}");
        }
    }

    #[test]
    fn another_version_is_refused_by_name() {
        let error = read("{\"schema\": \"loadline.run/9\", \"later\": true}").unwrap_err();
        assert_eq!(error.to_string(), "it is written as 'loadline.run/9', and this loadline reads 'loadline.run/1'");
        assert_eq!(read("{}").unwrap_err().to_string(), "it is not a result of loadline");
    }

    #[test]
    fn damage_is_told_with_its_place() {
        let text = written(&fixtures::summaries()[3].1);
        let cut = &text[..text.len() / 2];
        let ReadError::Damaged { line, .. } = read(cut).unwrap_err() else { panic!("not told as damage") };
        assert_eq!(line, cut.lines().count());
        let wrong = text.replace("\"duration_s\": ", "\"duration_s\": \"long\", \"x\": ");
        let ReadError::Damaged { line, why, .. } = read(&wrong).unwrap_err() else { panic!("not told as damage") };
        let at = text.lines().position(|line| line.contains("duration_s")).unwrap() + 1;
        assert_eq!((line, why.contains("long")), (at, true), "{why}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn no_text_makes_reading_panic(cut in 0.0..1.0f64, put in "[\\[\\]{}\",:0-9a-z]{0,3}") {
            let text = written(&fixtures::summaries()[3].1);
            let at = (text.len() as f64 * cut) as usize;
            let at = (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
            let mut damaged = text[..at].to_owned();
            damaged.push_str(&put);
            let _ = read(&damaged);
            damaged.push_str(&text[at..]);
            let _ = read(&damaged);
        }
    }
}
