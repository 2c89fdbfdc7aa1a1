//! The tables of formats: of a run, a sweep, a capacity search, a comparison, and two of them side by side.
//!
//! Help, completions, documentation and golden tests iterate them, so a format that is not in its table does not exist and one that is
//! cannot be forgotten. A run is rendered from a reading and in a style, everything else from the result alone, so that a saved one is
//! rendered again as it was.

use std::io;

use analysis::comparison::Comparison;
use analysis::found::CapacityReport;
use analysis::{Sweep, scaling};
use measure::Summary;

use crate::chart::sweep::SweepCurve;
use crate::compare;
use crate::traffic::TrafficReport;
use crate::{Format, Style, csv, dat, diff, find, hdr, json, junit, markdown, page, sweep, text, traffic};

/// Every format of a run.
pub const FORMATS: &[Format] = &[text::FORMAT, json::FORMAT, csv::FORMAT, hdr::FORMAT, markdown::FORMAT, junit::FORMAT, page::FORMAT];

/// The format of that name, if there is one.
#[must_use]
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// One way to write down a result.
#[derive(Debug)]
pub struct Rendering<T: 'static> {
    /// What stands before the equals sign in `--out html=FILE`.
    pub name: &'static str,
    /// What it is for, in words that follow the name.
    pub about: &'static str,
    /// The usual ending of its files, without the dot.
    pub extension: &'static str,
    /// The whole file. Fails only where writing JSON to memory does.
    pub render: fn(&T) -> io::Result<Vec<u8>>,
}

const TEXT: &str = "the table and what follows from it, for people";
const JSON: &str = "every figure, for scripts and to render again";
const MARKDOWN: &str = "a page for a pull request or a ticket";
const HTML: &str = page::FORMAT.about;

/// Every format of a sweep.
pub const SWEEP_FORMATS: &[Rendering<Sweep>] = &[
    Rendering { name: "text", about: TEXT, extension: "txt", render: |it| Ok(page::sweep_text(it).into_bytes()) },
    Rendering { name: "json", about: JSON, extension: "json", render: |it| Ok(sweep::json(it)?.bytes) },
    Rendering {
        name: "dat",
        about: "four columns for scripts that draw",
        extension: "dat",
        render: |it| Ok(dat::write(&sweep::dat_rows(&it.rows())).into_bytes()),
    },
    Rendering {
        name: "markdown",
        about: MARKDOWN,
        extension: "md",
        render: |it| Ok(sweep::markdown::markdown(it, &scaling(it)).into_bytes()),
    },
    Rendering { name: "html", about: HTML, extension: "html", render: |it| Ok(page::sweep(it).document()) },
];

/// Every format of a capacity search.
pub const FIND_FORMATS: &[Rendering<CapacityReport>] = &[
    Rendering { name: "text", about: TEXT, extension: "txt", render: |it| Ok(page::find_text(it).into_bytes()) },
    Rendering { name: "json", about: JSON, extension: "json", render: |it| Ok(find::json(it)?.bytes) },
    Rendering { name: "markdown", about: MARKDOWN, extension: "md", render: |it| Ok(find::markdown::markdown(it).into_bytes()) },
    Rendering { name: "html", about: HTML, extension: "html", render: |it| Ok(page::find(it).document()) },
];

/// Every format of a comparison.
pub const COMPARE_FORMATS: &[Rendering<Comparison>] = &[
    Rendering { name: "text", about: TEXT, extension: "txt", render: |it| Ok(compare::text(it, &Style::PLAIN).into_bytes()) },
    Rendering {
        name: "json",
        about: JSON,
        extension: "json",
        render: |it| {
            let mut bytes = Vec::new();
            json::write_json(it, &mut bytes)?;
            Ok(bytes)
        },
    },
    Rendering { name: "markdown", about: MARKDOWN, extension: "md", render: |it| Ok(compare::markdown(it).into_bytes()) },
    Rendering { name: "html", about: HTML, extension: "html", render: |it| Ok(page::compare(it).document()) },
];

/// Two results side by side, A first.
#[derive(Debug)]
pub enum Two {
    /// Two sweeps.
    Sweeps {
        /// What both charts draw.
        curves: Box<[SweepCurve; 2]>,
        /// The same with all runs; a side without is a file that holds no single runs.
        sweeps: Box<[Option<Sweep>; 2]>,
    },
    /// Two runs, each with what the user calls it.
    Runs([(String, Box<Summary>); 2]),
    /// Two searches, each with what the user calls it.
    Searches([(String, Box<CapacityReport>); 2]),
}

/// Every format of two results side by side.
pub const DIFF_FORMATS: &[Rendering<Two>] = &[
    Rendering {
        name: "text",
        about: TEXT,
        extension: "txt",
        render: |it| {
            let text = match it {
                Two::Sweeps { curves, sweeps } => {
                    diff::table(&curves[0], &curves[1], &Style::PLAIN)
                        + &diff::judged(sweeps[0].as_ref(), sweeps[1].as_ref(), &Style::PLAIN).to_string()
                }
                Two::Runs([a, b]) => diff::runs((&a.0, &a.1), (&b.0, &b.1), &Style::PLAIN),
                Two::Searches([a, b]) => diff::searches((&a.0, &a.1), (&b.0, &b.1), &Style::PLAIN),
            };
            Ok(text.into_bytes())
        },
    },
    Rendering {
        name: "json",
        about: "every figure of both and its change, for scripts",
        extension: "json",
        render: |it| {
            let mut bytes = Vec::new();
            match it {
                Two::Sweeps { curves, sweeps } => diff::json::sweeps(curves, sweeps.each_ref().map(Option::as_ref), &mut bytes)?,
                Two::Runs([a, b]) => diff::json::runs((&a.0, &a.1), (&b.0, &b.1), &mut bytes)?,
                Two::Searches([a, b]) => diff::json::searches((&a.0, &a.1), (&b.0, &b.1), &mut bytes)?,
            }
            Ok(bytes)
        },
    },
    Rendering {
        name: "html",
        about: HTML,
        extension: "html",
        render: |it| {
            let shown = match it {
                Two::Sweeps { curves, sweeps } => page::diff(&curves[0], &curves[1], sweeps.each_ref().map(Option::as_ref)),
                Two::Runs([a, b]) => page::two_runs((&a.0, &a.1), (&b.0, &b.1)),
                Two::Searches([a, b]) => page::two_searches((&a.0, &a.1), (&b.0, &b.1)),
            };
            Ok(shown.document())
        },
    },
];

/// Every format of a log's traffic.
pub const TRAFFIC_FORMATS: &[Rendering<TrafficReport>] = &[
    Rendering { name: "text", about: TEXT, extension: "txt", render: |it| Ok(traffic::text(&it.traffic, &Style::PLAIN).into_bytes()) },
    Rendering { name: "json", about: "every figure, for scripts", extension: "json", render: |it| traffic::json(&it.traffic) },
    Rendering {
        name: "urls",
        about: "the routes with their weights, for --urls",
        extension: "txt",
        render: |it| Ok(traffic::urls::urls(&it.traffic).into_bytes()),
    },
    Rendering {
        name: "scenario",
        about: "routes, visits and the busiest hour as a scenario, for run",
        extension: "yaml",
        render: |it| Ok(it.scenario.clone().into_bytes()),
    },
    Rendering {
        name: "paths",
        about: "what routes were asked for and how often, for the scenario",
        extension: "csv",
        render: |it| Ok(it.paths.clone().unwrap_or_default().into_bytes()),
    },
    Rendering { name: "html", about: HTML, extension: "html", render: |it| Ok(page::traffic(&it.traffic).document()) },
];
