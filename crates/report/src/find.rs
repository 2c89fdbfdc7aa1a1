//! A capacity search as files: JSON with every trial, a chart, and Markdown.

pub mod markdown;
pub mod table;

use std::io;

use analysis::bottleneck::Finding;
use analysis::found::CapacityReport;
use analysis::gate::Judgement;
use analysis::limits;
use analysis::search::LimitedBy;
use serde::Serialize;

use crate::chart::find::{FoundLine, LoadCurve, LoadPoint, offered_load};
use crate::json::write_json;
use crate::png::Density;
use crate::{ResultFile, profiles, prose, server_side};

/// Every file of a search: `.find.json`, the chart as SVG and PNG, and `.find.md`.
///
/// # Errors
/// Only where writing JSON to memory fails.
pub fn files(found: &CapacityReport) -> io::Result<Vec<ResultFile>> {
    let chart = offered_load(&curve(found));
    let file = |ending, about, bytes| ResultFile { ending, about, bytes };
    Ok(vec![
        json(found)?,
        file("_find.svg", "chart", chart.svg().into_bytes()),
        file("_find.png", "chart", chart.png(Density::DOCUMENT)),
        file(".find.md", "report", markdown::markdown(found).into_bytes()),
    ])
}

/// What stands below the table: what was found, and what limits the server.
#[must_use]
pub fn conclusion(found: &CapacityReport, width: u16) -> String {
    let said: String = found.sentences().iter().map(|said| prose(said, width)).collect();
    format!("\n{said}\n{}", prose(&table::legend(found), width))
        + &server_side::of_search(found, width.into())
        + &crate::limits::text(&limits::of_search(found), width)
        + &profiles::text(&profiles::of_search(found), width)
}

/// The file with everything in it.
///
/// # Errors
/// Only where writing to memory fails.
pub fn json(found: &CapacityReport) -> io::Result<ResultFile> {
    let mut bytes = Vec::new();
    write_json(&Written { found, judged: found.judged(), bottleneck: limits::of_search(found) }, &mut bytes)?;
    Ok(ResultFile { ending: ".find.json", about: "every figure", bytes })
}

/// A search as it stands in its file: what became of the checks follows from the trials, and is not read again.
#[derive(Serialize)]
struct Written<'a> {
    #[serde(flatten)]
    found: &'a CapacityReport,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    judged: Vec<Judgement>,
    bottleneck: Vec<Finding>,
}

/// What the chart draws.
#[must_use]
pub fn curve(found: &CapacityReport) -> LoadCurve {
    let promises: Vec<String> = found.slo.iter().map(|promise| promise.text.clone()).collect();
    LoadCurve {
        name: found.name.clone(),
        target: found.trials.first().map(|trial| trial.summary.plan.target().to_string()),
        promise: promises.join(" and "),
        quantile: found.quantile,
        limit_ms: found.good_within.map(|limit| limit.as_millis_f64()),
        found: FoundLine {
            rate: found.answer.carries,
            low: found.answer.capacity.low,
            high: found.answer.capacity.high,
            by_generator: found.answer.limited_by == LimitedBy::Generator,
        },
        rated: found.rated,
        points: found
            .rows()
            .iter()
            .map(|row| LoadPoint {
                rate: row.rate,
                throughput: row.throughput,
                goodput: row.goodput,
                quantile_ms: row.quantile.map(|time| time.as_millis_f64()),
                generator_limited: row.generator_limited,
            })
            .collect(),
    }
}
